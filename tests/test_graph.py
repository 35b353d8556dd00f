"""Walks over the graph: against a plain breadth-first search, and their laws one by one."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxsearch.graph.columns import numbers_of
from ctxsearch.graph.edges import EdgeTable
from ctxsearch.graph.graph import (
    ALL_KINDS,
    CALLER_KINDS,
    DEPENDENCY_KINDS,
    IMPACT_KINDS,
    Accepts,
    CodeGraph,
    Hit,
    Limits,
    Traversal,
)
from ctxsearch.graph.model import CodeNode, Edge, EdgeKind, NodeFlag, NodeId, NodeKind, Rule, node_id
from ctxsearch.graph.records import FileGraph, NodeRecord, owner_of
from ctxsearch.graph.walk import UNBOUNDED


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


def only(nodes: Iterable[CodeNode]) -> Accepts:
    """What a walk takes to list these and no others."""
    numbers = numbers_of(node.id for node in nodes)
    return lambda asked: np.isin(asked, numbers)


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


def test_dependencies_walk_forwards_over_their_kinds_and_containing_is_no_call() -> None:
    kinds = [EdgeKind.CALLS, EdgeKind.IMPORTS, EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS, EdgeKind.USES]
    others = [kind for kind in EdgeKind if kind not in kinds]
    targets = {kind: make_node(kind.name) for kind in EdgeKind}
    graph = build([A, *targets.values()], [edge(A, target, kind) for kind, target in targets.items()])
    assert sorted(names(graph.dependencies([A.id], 1))) == sorted(kind.name for kind in kinds)
    for kind in others:
        assert names(graph.callers([targets[kind].id], 4)) == []
    assert len(graph.related([A.id], 1).hits) == len(EdgeKind)


def test_weak_edges_are_hidden_unless_asked_for() -> None:
    graph = build([A, B, C], [edge(A, B, confidence=0.3), edge(C, B, confidence=0.95)])
    assert names(graph.callers([B.id], 1)) == ["c"]
    assert names(graph.callers([B.id], 1, Limits(min_confidence=0.0))) == ["c", "a"]
    assert names(graph.callers([B.id], 1, Limits(min_confidence=0.95))) == ["c"]
    assert names(graph.callers([B.id], 1, Limits(min_confidence=0.951))) == []


def test_order_is_distance_then_seed_rank_then_confidence_then_id() -> None:
    near = sorted((make_node(name) for name in "pqrs"), key=lambda node: node.id)
    edges = [
        edge(near[0], B, confidence=0.6),
        edge(near[1], A, confidence=0.6),
        edge(near[2], B, confidence=0.9),
        edge(near[3], B, confidence=0.6),
        edge(C, near[1], confidence=0.95),
    ]
    found = build([A, B, C, *near], edges).callers([A.id, B.id], 2)
    assert names(found) == [near[1].name, near[2].name, near[0].name, near[3].name, "c"]


def test_a_seed_is_listed_only_if_another_seed_reaches_it() -> None:
    recursive = build([A], [edge(A, A)])
    assert names(recursive.callers([A.id], 3)) == []
    cycle = build([A, B], [edge(A, B), edge(B, A)])
    assert names(cycle.callers([A.id], 4)) == ["b"], "it must not vote for itself"
    assert [(h.node.name, h.seed_rank) for h in cycle.callers([A.id, B.id], 4).hits] == [("b", 0), ("a", 1)]


def test_a_seed_is_reached_from_another_even_through_its_own_neighbourhood() -> None:
    # B calls A, and so does C through D through B: from seed C's side, A is three calls away.
    graph = build([A, B, C, D], [edge(A, B), edge(B, A), edge(B, D), edge(D, C)])
    found = {h.node.name: (h.distance, h.seed_rank) for h in graph.callers([A.id, C.id], 4).hits}
    assert found == {"b": (1, 0), "d": (1, 1), "a": (3, 1)}


def test_unknown_seeds_are_passed_over_and_keep_the_ranks_of_the_others() -> None:
    graph = build([A, B], [edge(B, A)])
    found = graph.callers([NodeId("0" * 16), A.id], 1)
    assert [(h.node.name, h.seed_rank) for h in found.hits] == [("b", 1)]
    assert graph.callers([], 3).hits == ()
    assert graph.callers([NodeId("0" * 16)], 3).hits == ()


# Bounds


def star(count: int) -> tuple[list[CodeNode], list[Edge]]:
    """A hub that `count` nodes call; one of them is called by A, and the hub is called through B by C."""
    leaves = [make_node(f"leaf{number:03}", path="leaves.py") for number in range(count)]
    return leaves, [edge(leaf, D) for leaf in leaves]


def test_a_hub_is_reached_but_not_walked_through() -> None:
    leaves, edges = star(20)
    graph = build([A, D, *leaves], [edge(D, A), *edges])
    free = graph.callers([A.id], 2, Limits(hub_degree=20))
    assert (len(free.hits), free.truncated, free.hubs) == (21, False, ())
    bounded = graph.callers([A.id], 2, Limits(hub_degree=19))
    assert names(bounded) == ["d"]
    assert (bounded.truncated, bounded.hubs) == (True, (D.id,))
    at_the_end = graph.callers([A.id], 1, Limits(hub_degree=19))
    assert not at_the_end.truncated, "nothing was cut: the depth ends there"


def test_a_lone_hub_shows_its_neighbours_but_one_of_several_seeds_does_not_flood_the_list() -> None:
    leaves, edges = star(20)
    graph = build([A, B, D, *leaves], [edge(B, A), *edges, edge(leaves[7], D, EdgeKind.USES, 0.95)])
    assert len(graph.callers([D.id], 1, Limits(hub_degree=5)).hits) == 20
    several = graph.callers([D.id, A.id], 1, Limits(hub_degree=5))
    assert (len(several.hits), several.truncated, several.hubs) == (6, True, (D.id,))
    assert names(several)[-1] == "b"
    strongest = graph.related([D.id, A.id], 1, Limits(hub_degree=1))
    assert names(strongest) == ["leaf007", "b"]


def test_results_are_capped_in_order_and_said_to_be() -> None:
    leaves, edges = star(20)
    graph = build([D, *leaves], edges)
    everything = graph.callers([D.id], 1)
    capped = graph.callers([D.id], 1, Limits(results=7))
    assert capped.hits == everything.hits[:7]
    assert (capped.truncated, capped.reached, everything.truncated) == (True, 20, False)
    exact = graph.callers([D.id], 4, Limits(results=20))
    assert (len(exact.hits), exact.truncated) == (20, True), "it stopped before it could know that nothing follows"


def test_a_capped_list_is_the_beginning_of_the_whole_one_for_a_hub_with_members_and_parallel_edges() -> None:
    cls, method = make_node("Cls", kind=NodeKind.CLASS), make_node("Cls.run", kind=NodeKind.METHOD)
    leaves = [make_node(f"leaf{number:03}", path="leaves.py") for number in range(40)]
    edges = [edge(cls, method, EdgeKind.CONTAINS), edge(method, cls), edge(cls, cls)]
    for number, leaf in enumerate(leaves):
        edges.append(edge(leaf, cls, confidence=(0.95, 0.9, 0.6)[number % 3]))
        edges.append(edge(leaf, method, EdgeKind.TESTS, (0.6, 0.95)[number % 2]))
        edges.append(edge(leaf, method, confidence=0.85))
    graph = build([cls, method, *leaves], edges)
    whole = graph.impact(cls.id)
    assert (len(whole.hits), whole.reached) == (40, 40)
    for cap in (1, 5, 13, 39):
        capped = graph.impact(cls.id, limits=Limits(results=cap, hub_degree=1000))
        assert [(h.node.name, h.confidence) for h in capped.hits] == [
            (h.node.name, h.confidence) for h in whole.hits[:cap]
        ]
        assert (capped.reached, capped.truncated) == (40, True)


def test_the_allowance_of_edges_ends_a_walk_at_the_same_place_whatever_the_order_of_edges() -> None:
    leaves, edges = star(30)
    chain = [edge(leaf, other) for leaf in leaves for other in leaves if leaf.name < other.name]
    limits = Limits(edges=100, hub_degree=1000)
    one = build([D, *leaves], [*edges, *chain]).related([D.id], 4, limits)
    other = build([D, *reversed(leaves)], [*chain, *edges]).related([D.id], 4, limits)
    assert one == other
    assert one.truncated
    assert {h.distance for h in one.hits} == {1}


# Only some nodes asked for


def by_id(nodes: Iterable[CodeNode]) -> list[CodeNode]:
    return sorted(nodes, key=lambda node: node.id)


def test_a_way_may_lead_through_what_is_not_asked_for() -> None:
    graph = build([A, B, C, D], [edge(B, A), edge(C, B), edge(D, C)])
    found = graph.callers([A.id], 3, Limits(), only([B, D]))
    assert [(hit.node.name, hit.path) for hit in found.hits] == [
        ("b", (A.id, B.id)),
        ("d", (A.id, B.id, C.id, D.id)),
    ]
    assert (found.reached, found.refused, found.truncated) == (2, {C.id}, False)
    assert graph.callers([A.id], 3, Limits(results=1), only([D])).hits == found.hits[1:], "only hits fill the list"


def test_of_a_hub_what_is_asked_for_comes_first() -> None:
    leaves, edges = star(40)
    *_, weak = last = by_id(leaves)[-6:]
    edges = [edge(leaf, D, confidence=0.5 if leaf is weak else 0.95) for leaf in leaves]
    graph = build([A, D, *leaves], edges)
    wanted = set(last)
    found = graph.callers([D.id, A.id], 1, Limits(hub_degree=6), only(wanted))
    assert {hit.node for hit in found.hits} == wanted
    assert not found.truncated, "all that was asked for is there"
    cut = graph.callers([D.id, A.id], 1, Limits(hub_degree=5), only(wanted))
    assert {hit.node for hit in cut.hits} == wanted - {weak}
    assert (cut.truncated, cut.hubs) == (True, (D.id,))


def test_that_a_hub_was_not_walked_through_to_all_that_is_not_asked_for_is_said_where_it_matters() -> None:
    leaves, edges = star(40)
    first, last = by_id(leaves)[0], by_id(leaves)[-1]
    behind, hidden = make_node("behind"), make_node("hidden")
    graph = build([A, D, behind, hidden, *leaves], [*edges, edge(behind, first), edge(hidden, last)])
    near = graph.callers([D.id, A.id], 1, Limits(hub_degree=5), only([behind, hidden]))
    assert (near.hits, near.truncated) == ((), False), "the depth ends before them"
    far = graph.callers([D.id, A.id], 2, Limits(hub_degree=5), only([behind, hidden]))
    assert (names(far), far.truncated, far.hubs) == (["behind"], True, (D.id,))
    assert len(far.refused) == 5


def test_of_a_lone_hub_all_that_is_asked_for_is_listed_up_to_the_cap() -> None:
    leaves, edges = star(40)
    behind = make_node("behind")
    wanted = by_id(leaves)[-5:]
    graph = build([D, behind, *leaves], [*edges, edge(behind, by_id(leaves)[0])])
    found = graph.callers([D.id], 1, Limits(results=5, passed=10), only(wanted))
    assert ([hit.node for hit in found.hits], found.reached, found.truncated) == (wanted, 5, False)
    capped = graph.callers([D.id], 1, Limits(results=3), only(wanted))
    assert ([hit.node for hit in capped.hits], capped.reached, capped.truncated) == (wanted[:3], 5, True)
    through = graph.callers([D.id], 2, Limits(results=6, passed=10), only([*wanted, behind]))
    assert ([hit.node for hit in through.hits], through.truncated) == ([*wanted, behind], True)
    everything = graph.callers([D.id], 2, Limits(results=7), only([*wanted, behind]))
    assert (len(everything.hits), everything.truncated) == (6, False)


def test_a_filter_knows_nodes_that_came_and_went() -> None:
    nodes = [make_node(f"n{number}", path=f"{number}.py") for number in range(6)]
    graph = build(nodes[:4], [edge(node, nodes[0]) for node in nodes[1:4]])
    for number, node in ((4, nodes[4]), (5, nodes[5])):
        part = FileGraph((NodeRecord(node),), (edge(node, nodes[0]),))
        graph = graph.apply({node.path: part}, [nodes[number - 3].path])
    found = graph.callers([nodes[0].id], 1, Limits(), only(nodes[3:5]))
    assert ({hit.node for hit in found.hits}, found.refused) == ({nodes[3], nodes[4]}, {nodes[5].id})


# Impact and path


def test_impact_is_callers_overrides_tests_and_importers_of_a_node_and_its_members() -> None:
    cls = make_node("Cls", kind=NodeKind.CLASS)
    method = make_node("Cls.run", kind=NodeKind.METHOD)
    sibling = make_node("Cls.helper", kind=NodeKind.METHOD)
    caller, test, importer = make_node("caller"), make_node("test_run"), make_node("mod", kind=NodeKind.MODULE)
    override, sub, far = make_node("Sub.run"), make_node("Sub", kind=NodeKind.CLASS), make_node("far")
    callee, maybe = make_node("callee"), make_node("maybe")
    nodes = [cls, method, sibling, caller, test, importer, override, sub, far, callee, maybe]
    graph = build(
        nodes,
        [
            edge(cls, method, EdgeKind.CONTAINS),
            edge(cls, sibling, EdgeKind.CONTAINS),
            edge(sibling, method),
            edge(method, callee),
            edge(caller, method),
            edge(far, caller),
            edge(test, method, EdgeKind.TESTS),
            edge(importer, cls, EdgeKind.IMPORTS),
            edge(override, method, EdgeKind.OVERRIDES),
            edge(sub, cls, EdgeKind.EXTENDS),
            edge(maybe, method, EdgeKind.MAY_DISPATCH),
        ],
    )
    found = {hit.node.name: (hit.distance, hit.via) for hit in graph.impact(cls.id).hits}
    assert found == {
        "caller": (1, EdgeKind.CALLS),
        "far": (2, EdgeKind.CALLS),
        "test_run": (1, EdgeKind.TESTS),
        "mod": (1, EdgeKind.IMPORTS),
        "Sub.run": (1, EdgeKind.OVERRIDES),
        "Sub": (1, EdgeKind.EXTENDS),
    }
    assert "Cls.helper" in names(graph.impact(method.id)), "a sibling is not part of the method"


def test_a_path_is_shortest_strongest_and_names_its_edges() -> None:
    graph = build(
        [A, B, C, D, E],
        [
            edge(A, B, confidence=0.6),
            edge(B, D),
            edge(A, C, EdgeKind.USES),
            edge(C, D),
            edge(D, E, EdgeKind.EXTENDS, 0.85),
            edge(A, E, confidence=0.2),
        ],
    )
    found = graph.path(A.id, E.id)
    assert [node.name for node in found.nodes] == ["a", "c", "d", "e"]
    assert found.kinds == (EdgeKind.USES, EdgeKind.CALLS, EdgeKind.EXTENDS)
    assert found.confidence == pytest.approx(0.85)
    assert graph.path(E.id, A.id).nodes == (), "dependencies have a direction"
    assert graph.path(A.id, A.id).nodes == ()


def test_a_search_for_a_path_that_gives_up_says_so() -> None:
    nodes = [make_node(f"n{number:02}") for number in range(40)]
    edges = [edge(a, b) for a in nodes[:20] for b in nodes[:20]] + [edge(a, b) for a in nodes[20:] for b in nodes[20:]]
    graph = build(nodes, edges)
    assert not graph.path(nodes[0].id, nodes[39].id).truncated
    assert graph.path(nodes[0].id, nodes[39].id, Limits(edges=30)).truncated


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


@settings(max_examples=100, deadline=None)
@given(edges=_EDGES, start=st.sampled_from(_NODES), end=st.sampled_from(_NODES))
def test_a_path_is_as_short_as_a_plain_search_finds(edges: list[Edge], start: CodeNode, end: CodeNode) -> None:
    found = build(_NODES, edges).path(start.id, end.id)
    expected = distances(edges, start.id, 20, DEPENDENCY_KINDS, "forwards").get(end.id)
    assert len(found.nodes) == (expected + 1 if expected else 0)
    if found.nodes:
        ids = tuple(node.id for node in found.nodes)
        assert (ids[0], ids[-1]) == (start.id, end.id)
        check_path(ids, found.confidence, len(found.kinds), edges, DEPENDENCY_KINDS, "forwards")


@settings(max_examples=60, deadline=None)
@given(edges=_EDGES, node=st.sampled_from(_NODES))
def test_impact_equals_a_plain_search_from_the_node_and_its_members(edges: list[Edge], node: CodeNode) -> None:
    members = distances(edges, node.id, 20, frozenset({EdgeKind.CONTAINS}), "forwards")
    expected: dict[NodeId, int] = {}
    for member in members:
        for other, distance in distances(edges, member, 20, IMPACT_KINDS, "backwards").items():
            if other not in members:
                expected[other] = min(distance, expected.get(other, 99))
    found = build(_NODES, edges).impact(node.id)
    assert {hit.node.id: hit.distance for hit in found.hits} == expected


_FILE_GRAPHS = st.dictionaries(
    st.sampled_from(["0.py", "1.py", "2.py", "3.py", ""]), st.sets(st.integers(0, 3)), max_size=5
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
    nodes: dict[str, list[CodeNode]] = {path: [] for path in state if path}
    for path, numbers in state.items():
        for number in sorted(numbers):
            node = make_node(f"f{number}", path, NodeKind.FUNCTION if path else NodeKind.EXTERNAL, number + 1)
            nodes.setdefault(owner_of(node), []).append(node)
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


_ACCEPTED = st.sets(st.sampled_from(_NODES)).map(frozenset)
FilteredWalk = Callable[[CodeGraph, list[NodeId], int, Limits, Accepts | None], Traversal]
FILTERED: list[FilteredWalk] = [CodeGraph.callers, CodeGraph.dependencies, CodeGraph.related]


@settings(max_examples=150, deadline=None)
@given(
    edges=_EDGES,
    seeds=_SEEDS,
    accepted=_ACCEPTED,
    depth=st.integers(1, 4),
    walk=st.sampled_from(FILTERED),
    cap=st.integers(1, 12),
)
def test_a_filtered_walk_lists_the_first_of_what_an_unbounded_one_reaches_and_the_filter_accepts(
    edges: list[Edge],
    seeds: list[NodeId],
    accepted: frozenset[CodeNode],
    depth: int,
    walk: FilteredWalk,
    cap: int,
) -> None:
    graph = build(_NODES, edges)
    whole = walk(graph, seeds, depth, Limits(), None)
    wanted = [hit for hit in whole.hits if hit.node in accepted]
    free = walk(graph, seeds, depth, Limits(), only(accepted))
    assert list(free.hits) == wanted
    assert free.refused == {hit.node.id for hit in whole.hits if hit.node not in accepted}
    assert (free.reached, free.truncated) == (len(wanted), False)
    capped = walk(graph, seeds, depth, Limits(results=cap, hub_degree=UNBOUNDED), only(accepted))
    assert list(capped.hits) == wanted[:cap]
    assert capped.truncated or len(wanted) <= cap


@settings(max_examples=150, deadline=None)
@given(edges=_EDGES, seeds=_SEEDS, accepted=_ACCEPTED, walk=st.sampled_from(FILTERED), bound=st.integers(1, 4))
def test_of_each_hub_among_several_seeds_the_strongest_that_are_accepted_are_listed(
    edges: list[Edge], seeds: list[NodeId], accepted: frozenset[CodeNode], walk: FilteredWalk, bound: int
) -> None:
    seeds = [*seeds, make_node("elsewhere").id]  # counts as a seed even where there is one other
    graph = build([*_NODES, make_node("elsewhere")], edges)
    limits = Limits(hub_degree=bound)
    expected: set[NodeId] = set()
    is_cut = False
    for seed in seeds:
        near = [hit for hit in walk(graph, [seed], 1, Limits(), None).hits if hit.node in accepted]
        calls_itself = any(item.source == item.target == seed for item in edges)
        assert [hit.node.id for hit in near] == [hit.node.id for hit in sorted(near, key=_strongest_first)]
        expected.update(hit.node.id for hit in near[: bound - calls_itself])
        is_cut |= len(near) > bound
    found = walk(graph, seeds, 1, limits, only(accepted))
    assert expected <= {hit.node.id for hit in found.hits} <= {node.id for node in accepted}
    assert found.truncated or not is_cut
    again = walk(build([make_node("elsewhere"), *reversed(_NODES)], edges[::-1]), seeds, 1, limits, only(accepted))
    assert again == found


def _strongest_first(hit: Hit) -> tuple[float, NodeId]:
    return -hit.confidence, hit.node.id
