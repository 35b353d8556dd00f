"""Walks over the graph: against a plain breadth-first search, and their laws one by one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxsearch.graph.edges import EdgeTable
from ctxsearch.graph.graph import (
    ALL_KINDS,
    CALLER_KINDS,
    DEPENDENCY_KINDS,
    CodeGraph,
    Traversal,
)
from ctxsearch.graph.model import CodeNode, Edge, EdgeKind, NodeFlag, NodeId, NodeKind, Rule, node_id
from ctxsearch.graph.records import SHARED, FileGraph, NodeRecord


def make_node(name: str, path: str = "m.py", kind: NodeKind = NodeKind.FUNCTION, line: int = 1) -> CodeNode:
    return CodeNode(
        node_id(path, kind, name), kind, name, name, path, line, line, "python", "", "", NodeFlag.NONE, None
    )


def edge(source: CodeNode, target: CodeNode, kind: EdgeKind = EdgeKind.CALLS, confidence: float = 0.9) -> Edge:
    return Edge(source.id, target.id, kind, confidence, Rule.TYPED)


def build(nodes: Iterable[CodeNode], edges: Iterable[Edge]) -> CodeGraph:
    listed = list(nodes)
    return CodeGraph.build(listed, EdgeTable.of(listed, edges))


def names(traversal: Traversal) -> list[str]:
    return [hit.node.name for hit in traversal.hits]


A, B, C, D, E = (make_node(name, path=f"{name}.py") for name in "abcde")


def test_callers_walk_calls_backwards_only() -> None:
    graph = build([A, B, C, D], [edge(A, B), edge(B, C), edge(C, D), edge(D, C, EdgeKind.USES)])
    assert names(graph.callers([C.id], 1)) == ["b"]
    found = graph.callers([C.id], 2)
    assert [(h.node.name, h.distance, h.path) for h in found.hits] == [
        ("b", 1, (C.id, B.id)),
        ("a", 2, (C.id, B.id, A.id)),
    ]
    assert not found.truncated


# The reference: every walk's result by the definition, one seed at a time


@dataclass(frozen=True)
class Expected:
    distance: int
    rank: int


def reference(
    edges: Sequence[Edge], seeds: Sequence[NodeId], depth: int, kinds: frozenset[EdgeKind], direction: str
) -> dict[NodeId, Expected]:
    """Distance and rank of the best seed, other than the node itself, by one search per seed."""
    best: dict[NodeId, Expected] = {}
    for rank, seed in enumerate(seeds):
        for node, distance in distances(edges, seed, depth, kinds, direction).items():
            known = best.get(node)
            if node != seed and (known is None or (distance, rank) < (known.distance, known.rank)):
                best[node] = Expected(distance, rank)
    return best


def distances(
    edges: Sequence[Edge], seed: NodeId, depth: int, kinds: frozenset[EdgeKind], direction: str
) -> dict[NodeId, int]:
    found, level = {seed: 0}, [seed]
    for distance in range(1, depth + 1):
        fresh = []
        for at in level:
            for item in edges:
                if item.kind not in kinds or item.confidence < 0.5:
                    continue
                if direction in "forwards both" and item.source == at:
                    fresh.append(item.target)
                if direction in "backwards both" and item.target == at:
                    fresh.append(item.source)
        level = sorted({node for node in fresh if node not in found})
        found.update(dict.fromkeys(level, distance))
    return found


_NODES = [make_node(f"n{number}", path=f"{number % 4}.py") for number in range(12)]
_EDGES = st.lists(
    st.builds(
        edge,
        st.sampled_from(_NODES),
        st.sampled_from(_NODES),
        st.sampled_from([EdgeKind.CALLS, EdgeKind.CALLS, EdgeKind.USES, EdgeKind.CONTAINS, EdgeKind.TESTS]),
        st.sampled_from([0.95, 0.9, 0.5, 0.3]),
    ),
    max_size=40,
)
_SEEDS = st.lists(st.sampled_from([node.id for node in _NODES]), min_size=1, max_size=5, unique=True)

Walk = Callable[[CodeGraph, list[NodeId], int], Traversal]
WALKS: list[tuple[Walk, frozenset[EdgeKind], str]] = [
    (lambda graph, seeds, depth: graph.callers(seeds, depth), CALLER_KINDS, "backwards"),
    (lambda graph, seeds, depth: graph.dependencies(seeds, depth), DEPENDENCY_KINDS, "forwards"),
    (lambda graph, seeds, depth: graph.related(seeds, depth), ALL_KINDS, "both"),
]


@settings(max_examples=150, deadline=None)
@given(edges=_EDGES, seeds=_SEEDS, depth=st.integers(1, 4), which=st.integers(0, 2))
def test_every_walk_equals_one_plain_search_per_seed(
    edges: list[Edge], seeds: list[NodeId], depth: int, which: int
) -> None:
    walk, kinds, direction = WALKS[which]
    found = walk(build(_NODES, edges), seeds, depth)
    assert {h.node.id: Expected(h.distance, h.seed_rank) for h in found.hits} == reference(
        edges, seeds, depth, kinds, direction
    )
    assert not found.truncated
    assert found.reached == len(found.hits)
    order = [(h.distance, h.seed_rank, -h.confidence, h.node.id) for h in found.hits]
    assert order == sorted(order)
    for hit in found.hits:
        check_path(hit.path, hit.confidence, hit.distance, edges, kinds, direction)
        assert hit.path[0] == seeds[hit.seed_rank]
        assert hit.path[-1] == hit.node.id


def check_path(
    path: tuple[NodeId, ...],
    confidence: float,
    distance: int,
    edges: list[Edge],
    kinds: frozenset[EdgeKind],
    direction: str,
) -> None:
    assert len(path) == distance + 1
    weakest = 1.0
    for a, b in itertools.pairwise(path):
        ends = {
            "forwards": {(a, b)},
            "backwards": {(b, a)},
            "both": {(a, b), (b, a)},
        }[direction]
        steps = [e.confidence for e in edges if e.kind in kinds and (e.source, e.target) in ends]
        assert steps, "no such edge"
        weakest = min(weakest, max(steps))
    assert confidence == pytest.approx(weakest)


_FILE_GRAPHS = st.dictionaries(
    st.sampled_from(["0.py", "1.py", "2.py", "3.py", SHARED]), st.sets(st.integers(0, 3)), max_size=5
)


@settings(max_examples=80, deadline=None)
@given(states=st.lists(_FILE_GRAPHS, min_size=1, max_size=5), density=st.integers(1, 3))
def test_a_graph_grown_by_apply_answers_like_one_built_afresh(states: list[dict[str, set[int]]], density: int) -> None:
    grown = CodeGraph.build([], EdgeTable.of([], []))
    before: dict[str, FileGraph] = {}
    for state in states:
        now = file_graphs(state, density)
        changed = {path: graph for path, graph in now.items() if before.get(path) != graph}
        grown = grown.apply(changed, before.keys() - now.keys())
        before = now
    nodes = [record.node for graph in before.values() for record in graph.nodes]
    fresh = build(nodes, [e for graph in before.values() for e in graph.edges])
    assert sorted(grown.nodes(), key=lambda n: n.id) == sorted(fresh.nodes(), key=lambda n: n.id)
    assert grown.edge_count == fresh.edge_count
    for node in nodes:
        assert grown.links_from(node.id) == fresh.links_from(node.id)
        assert grown.links_to(node.id) == fresh.links_to(node.id)
        assert grown.in_degree(node.id) == fresh.in_degree(node.id)
        assert grown.related([node.id], 3) == fresh.related([node.id], 3)
        assert grown.impact(node.id) == fresh.impact(node.id)
        assert grown.find(node.name) == fresh.find(node.name)
        assert grown.outline(node.path) == fresh.outline(node.path)
    assert grown.find("f0x") == fresh.find("f0x")


def file_graphs(state: dict[str, set[int]], density: int) -> dict[str, FileGraph]:
    nodes = {
        path: [
            make_node(f"f{number}", path, NodeKind.FUNCTION if path else NodeKind.EXTERNAL, number + 1)
            for number in sorted(numbers)
        ]
        for path, numbers in state.items()
    }
    everything = [node for own in nodes.values() for node in own]
    return {
        path: FileGraph(
            tuple(NodeRecord(node) for node in own),
            tuple(
                edge(a, b, EdgeKind(1 + (a.start_line + b.start_line) % 11))
                for a in own
                for b in everything
                if (int(a.id[:4], 16) + int(b.id[:4], 16)) % 4 < density
            ),
        )
        for path, own in nodes.items()
    }
