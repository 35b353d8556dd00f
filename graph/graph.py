"""The graph of one generation in memory, and every walk over it. The only module that imports rustworkx.

A `CodeGraph` never changes once made: readers need no lock, and `apply` returns the next one. It holds no text
(that is the catalog's) and knows nothing of ranking or protocols.

Answers depend on nodes and edges alone, never on the order in which they arrived: a graph that grew by `apply`
answers like one that was built afresh.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import rustworkx

from ctxsearch.graph.edges import EdgeTable
from ctxsearch.graph.model import CodeNode, Edge, EdgeKind, NodeId, Rule
from ctxsearch.graph.names import Found, NameIndex
from ctxsearch.graph.records import FileGraph, owner_of

CALLER_KINDS = frozenset({EdgeKind.CALLS})
DEPENDENCY_KINDS = frozenset({EdgeKind.CALLS, EdgeKind.IMPORTS, EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS, EdgeKind.USES})
# Overriding is a class matter too: a subclass is affected by its base as an override is by what it overrides.
IMPACT_KINDS = frozenset(
    {
        EdgeKind.CALLS,
        EdgeKind.OVERRIDES,
        EdgeKind.EXTENDS,
        EdgeKind.IMPLEMENTS,
        EdgeKind.TESTS,
        EdgeKind.IMPORTS,
    }
)
ALL_KINDS = frozenset(EdgeKind)
UNBOUNDED = 1_000_000  # a depth that no path has

_STEPS = 10_000  # confidences as integers, so that a floor of 0.95 keeps an edge of 0.95


@dataclass(frozen=True, slots=True)
class Limits:
    """What bounds a walk. Whatever is cut is said in the answer."""

    min_confidence: float = 0.5  # weaker edges are not there
    results: int = 1000
    hub_degree: int = 200  # a node with more neighbours is reached but not walked through, unless it is a seed
    edges: int = 150_000  # looked at in one walk: under 100 ms on a slow core (bench/graph_load.py)


DEFAULT_LIMITS = Limits()
THROUGH_HUBS = Limits(hub_degree=UNBOUNDED)


@dataclass(frozen=True, slots=True)
class Hit:
    """A node that a walk reached."""

    node: CodeNode
    distance: int  # fewest edges from any seed, at least 1
    seed_rank: int  # 0-based rank of the best seed at that distance
    confidence: float  # of the weakest edge on `path`
    via: EdgeKind  # the last edge of `path`
    path: tuple[NodeId, ...]  # from the seed to the node, both included


@dataclass(frozen=True, slots=True)
class Traversal:
    """What a walk reached: by distance, then best seed's rank, then confidence, then id."""

    hits: tuple[Hit, ...]
    reached: int  # how many nodes, before the cap on results
    truncated: bool  # something was cut: results, hubs, or edges looked at
    hubs: tuple[NodeId, ...] = ()  # reached, but not walked through


@dataclass(frozen=True, slots=True)
class Link:
    """One edge seen from one of its ends."""

    kind: EdgeKind
    node: NodeId  # the other end
    confidence: float
    rule: Rule


@dataclass(frozen=True, slots=True)
class _Label:
    """How a node is reached from one seed."""

    distance: int
    rank: int
    steps: int  # confidence of the weakest edge so far
    before: int  # index of the node before it; -1 at a seed
    via: int


class CodeGraph:
    """Nodes and edges of one generation. Made by `build` and `apply` only."""

    def __init__(
        self,
        graph: rustworkx.PyDiGraph,
        index: dict[NodeId, int],
        owners: dict[str, tuple[int, ...]],
        names: NameIndex,
        palette: dict[int, int],
        generation: int,
        dangling: int,
    ) -> None:
        self._graph = graph  # node payload: CodeNode; edge payload: one integer of `palette`
        self._index = index  # never persisted: rustworkx uses indices again
        self._owners = owners
        self._names = names
        self._palette = palette  # every edge payload in use, once
        self._degrees: dict[int, int] = {}  # remembered answers of `in_degree`
        self.generation = generation
        self.dangling = dangling  # edges that `build` or this `apply` left out: their target is missing

    @staticmethod
    def build(nodes: Sequence[CodeNode], edges: EdgeTable, generation: int = 0) -> CodeGraph:
        """The graph of `Snapshot.load_nodes` and `Snapshot.load_edges`."""
        graph = rustworkx.PyDiGraph(multigraph=True, node_count_hint=len(nodes), edge_count_hint=len(edges))
        positions = list(graph.add_nodes_from(nodes))
        payloads, which = np.unique(_payloads(edges), return_inverse=True)
        shared = payloads.tolist()  # one object per distinct payload, not one per edge
        kinds = [shared[i] for i in which.tolist()]
        graph.add_edges_from(list(zip(edges.source.tolist(), edges.target.tolist(), kinds, strict=True)))
        owners: dict[str, list[int]] = {}
        for position, node in zip(positions, nodes, strict=True):
            owners.setdefault(owner_of(node), []).append(position)
        return CodeGraph(
            graph,
            {node.id: position for position, node in zip(positions, nodes, strict=True)},
            {owner: tuple(own) for owner, own in owners.items()},
            NameIndex.build(nodes),
            {payload: payload for payload in shared},
            generation,
            edges.dangling,
        )

    def apply(
        self, changed: Mapping[str, FileGraph], removed: Collection[str] = (), generation: int | None = None
    ) -> CodeGraph:
        """The next graph: each changed owner's nodes and outgoing edges replaced, removed owners gone.

        Edges from elsewhere to a node that stays are kept; to one that goes they go with it, so whoever resolved
        them must be among the changed ones, as the catalog demands too.
        """
        graph, index, owners = self._graph.copy(), self._index.copy(), self._owners.copy()
        nodes = {owner: [record.node for record in part.nodes] for owner, part in changed.items()}
        new = {node.id: node for own in nodes.values() for node in own}
        old = [position for owner in {*changed, *removed} for position in owners.pop(owner, ())]
        names = self._names.replaced([graph[position] for position in old], new.values())
        for position in old:
            node = graph[position]
            if node.id in new:
                graph[position] = new[node.id]
                for edge in graph.out_edge_indices(position):
                    graph.remove_edge_from_index(edge)
        gone = [position for position in old if graph[position].id not in new]
        for position in gone:
            del index[graph[position].id]
        graph.remove_nodes_from(gone)
        fresh = [node for node in new.values() if node.id not in index]
        index.update(zip((node.id for node in fresh), graph.add_nodes_from(fresh), strict=True))
        for owner, own in nodes.items():
            if own:
                owners[owner] = tuple(index[node.id] for node in own)
        palette = self._palette.copy()
        rows, dangling = _edge_rows(index, palette, (e for part in changed.values() for e in part.edges))
        graph.add_edges_from(rows)
        return CodeGraph(
            graph,
            index,
            owners,
            names,
            palette,
            self.generation + 1 if generation is None else generation,
            dangling,
        )

    # Looking

    def __len__(self) -> int:
        return len(self._index)

    def __contains__(self, node: object) -> bool:
        return node in self._index

    @property
    def edge_count(self) -> int:
        """How many edges there are, of every kind."""
        return int(self._graph.num_edges())

    def node(self, node: NodeId) -> CodeNode | None:
        """The node of an id."""
        position = self._index.get(node)
        return None if position is None else self._at(position)

    def nodes(self) -> Iterator[CodeNode]:
        """Every node, in no particular order."""
        return (self._at(position) for position in self._index.values())

    def outline(self, path: str) -> tuple[CodeNode, ...]:
        """A file's nodes in line order."""
        own = [self._at(position) for position in self._owners.get(path, ())]
        return tuple(sorted(own, key=lambda node: (node.start_line, -node.end_line, node.id)))

    def links_from(self, node: NodeId) -> tuple[Link, ...]:
        """Outgoing edges, by kind and target."""
        edges = self._graph.out_edges(self._index[node]) if node in self._index else ()
        return self._links((target, payload) for _, target, payload in edges)

    def links_to(self, node: NodeId) -> tuple[Link, ...]:
        """Incoming edges, by kind and source."""
        edges = self._graph.in_edges(self._index[node]) if node in self._index else ()
        return self._links((source, payload) for source, _, payload in edges)

    def in_degree(self, node: NodeId) -> int:
        """How many other nodes depend on a node: its weight in ranking."""
        position = self._index.get(node)
        if position is None:
            return 0
        if position not in self._degrees:
            allowed = self._allowed(DEPENDENCY_KINDS, DEFAULT_LIMITS)
            sources = {s for s, _, payload in self._graph.in_edges(position) if payload in allowed}
            self._degrees[position] = len(sources - {position})
        return self._degrees[position]

    def find(self, text: str, limit: int = 50) -> Found:
        """Nodes by id, name, qualified name, a suffix of it, or `path:line`; near names when there are none."""
        return self._names.find(text, limit, self.node, self.outline)

    # Walking

    def callers(self, seeds: Sequence[NodeId], depth: int, limits: Limits = DEFAULT_LIMITS) -> Traversal:
        """Who calls the seeds, directly or through up to `depth` calls."""
        return self._traverse(self._ranked(seeds), depth, self._backwards(CALLER_KINDS, limits), limits)

    def dependencies(self, seeds: Sequence[NodeId], depth: int, limits: Limits = DEFAULT_LIMITS) -> Traversal:
        """What the seeds need: calls, imports, bases, interfaces and uses, forwards."""
        return self._traverse(self._ranked(seeds), depth, self._forwards(DEPENDENCY_KINDS, limits), limits)

    def related(self, seeds: Sequence[NodeId], radius: int, limits: Limits = DEFAULT_LIMITS) -> Traversal:
        """What is near the seeds, over every kind of edge in either direction."""
        return self._traverse(self._ranked(seeds), radius, self._around(ALL_KINDS, limits), limits)

    def impact(self, node: NodeId, depth: int = UNBOUNDED, limits: Limits = THROUGH_HUBS) -> Traversal:
        """Who is affected if a node, with all that it contains, changes: callers, overrides, tests, importers.

        Hubs are walked through: a change to a logger does reach everybody.
        """
        return self._traverse(self._with_members(node), depth, self._backwards(IMPACT_KINDS, limits), limits)

    def path(self, start: NodeId, end: NodeId, limits: Limits = THROUGH_HUBS) -> Hit | None:
        """The shortest way by which `start` depends on `end`, None if there is none within the limits."""
        if start not in self._index or end not in self._index or start == end:
            return None
        goal = self._index[end]
        walk = _Walk(self._graph, {self._index[start]: 0}, self._forwards(DEPENDENCY_KINDS, limits), limits)
        while goal not in walk.labels and walk.advance():
            pass
        return self._hit(walk, goal, walk.labels[goal][0]) if goal in walk.labels else None

    def _traverse(self, seeds: dict[int, int], depth: int, steps: _Steps, limits: Limits) -> Traversal:
        walk = _Walk(self._graph, seeds, steps, limits)
        for _ in range(depth):
            if not walk.advance():
                break
        reached = [(label, position) for position, label in walk.reached()]
        order = sorted(reached, key=lambda item: (item[0].distance, item[0].rank, -item[0].steps, self._at(item[1]).id))
        hubs = sorted({self._at(position).id for position in walk.hubs})
        return Traversal(
            hits=tuple(self._hit(walk, position, label) for label, position in order[: limits.results]),
            reached=len(reached),
            truncated=walk.exhausted or bool(hubs) or len(reached) > limits.results,
            hubs=tuple(hubs),
        )

    def _hit(self, walk: _Walk, position: int, label: _Label) -> Hit:
        path = [self._at(step).id for step in walk.path(position, label)]
        return Hit(
            self._at(position),
            label.distance,
            label.rank,
            label.steps / _STEPS,
            EdgeKind(label.via),
            tuple(path),
        )

    def _ranked(self, seeds: Sequence[NodeId]) -> dict[int, int]:
        """Positions with ranks; ids that are not there keep their rank but are not walked from."""
        ranked: dict[int, int] = {}
        for rank, seed in enumerate(seeds):
            if seed in self._index:
                ranked.setdefault(self._index[seed], rank)
        return ranked

    def _with_members(self, node: NodeId) -> dict[int, int]:
        if node not in self._index:
            return {}
        contains = self._forwards(frozenset({EdgeKind.CONTAINS}), DEFAULT_LIMITS)
        members = [self._index[node]]
        seen = set(members)
        for member in members:
            fresh = [target for target, _ in contains(member) if target not in seen]
            seen.update(fresh)
            members.extend(fresh)
        return dict.fromkeys(members, 0)

    def _allowed(self, kinds: frozenset[EdgeKind], limits: Limits) -> frozenset[int]:
        floor = round(limits.min_confidence * _STEPS)
        return frozenset(p for p in self._palette if _kind(p) in kinds and p >> 16 >= floor)

    def _forwards(self, kinds: frozenset[EdgeKind], limits: Limits) -> _Steps:
        allowed, out_edges = self._allowed(kinds, limits), self._graph.out_edges
        return lambda position: [(t, payload) for _, t, payload in out_edges(position) if payload in allowed]

    def _backwards(self, kinds: frozenset[EdgeKind], limits: Limits) -> _Steps:
        allowed, in_edges = self._allowed(kinds, limits), self._graph.in_edges
        return lambda position: [(s, payload) for s, _, payload in in_edges(position) if payload in allowed]

    def _around(self, kinds: frozenset[EdgeKind], limits: Limits) -> _Steps:
        forwards, backwards = self._forwards(kinds, limits), self._backwards(kinds, limits)
        return lambda position: forwards(position) + backwards(position)

    def _links(self, ends: Iterable[tuple[int, int]]) -> tuple[Link, ...]:
        links = [
            Link(_kind(payload), self._at(end).id, (payload >> 16) / _STEPS, Rule(payload & 0xFF))
            for end, payload in ends
        ]
        return tuple(sorted(links, key=lambda link: (link.kind, link.node, -link.confidence, link.rule)))

    def _at(self, position: int) -> CodeNode:
        node: CodeNode = self._graph[position]
        return node


_Steps = Callable[[int], list[tuple[int, int]]]  # a position to its neighbours, with the payload of each edge


class _Walk:
    """A breadth-first walk from ranked seeds, one level at a time.

    Each node keeps its two best labels from different seeds. One would do for ordinary nodes; but a seed counts
    only as reached from *another* seed, and the way there may lead through nodes that the seed itself is nearer to.
    Two are enough: where a third seed would matter, two better ones have already arrived.
    """

    def __init__(self, graph: rustworkx.PyDiGraph, seeds: dict[int, int], steps: _Steps, limits: Limits) -> None:
        self._graph = graph
        self._seeds = seeds
        self._steps = steps
        self._limits = limits
        self._edges = 0
        self._distance = 0
        self.labels: dict[int, list[_Label]] = {
            position: [_Label(0, rank, _STEPS, -1, 0)] for position, rank in seeds.items()
        }
        self._frontier = [(position, own[0]) for position, own in self.labels.items()]
        self.hubs: list[int] = []
        self.exhausted = False  # the allowance of edges is used up

    def advance(self) -> bool:
        """One level further; False when there is nothing more to reach."""
        candidates = self._candidates(self._affordable())
        self._distance += 1
        self._frontier = []
        for position, ranks in candidates.items():
            own = self.labels.setdefault(position, [])
            for rank in sorted(ranks)[: 2 - len(own)]:
                weakness, _, via, before = ranks[rank]
                label = _Label(self._distance, rank, -weakness, before, via)
                own.append(label)
                self._frontier.append((position, label))
        return bool(self._frontier) and not self.exhausted

    def reached(self) -> Iterator[tuple[int, _Label]]:
        """Nodes with their best label, seeds only where another seed reached them."""
        for position, own in self.labels.items():
            label = next((label for label in own if label.distance), None)
            if label is not None:
                yield position, label

    def path(self, position: int, label: _Label) -> list[int]:
        """Positions from the seed to a node."""
        steps = [position]
        while label.before >= 0:
            position = label.before
            label = next(earlier for earlier in self.labels[position] if earlier.rank == label.rank)
            steps.append(position)
        return steps[::-1]

    def _candidates(self, frontier: list[tuple[int, _Label]]) -> dict[int, dict[int, tuple[int, str, int, int]]]:
        """Per node and seed rank the best last step: strongest, then by the id before it, then by kind."""
        candidates: dict[int, dict[int, tuple[int, str, int, int]]] = {}
        labels = self.labels
        for position, label in frontier:
            steps = self._steps(position)
            if len(steps) > self._limits.hub_degree and position not in self._seeds:
                self.hubs.append(position)
                continue
            before = self._graph[position].id
            rank, strength = label.rank, label.steps
            for target, payload in steps:
                own = labels.get(target)
                if own is not None and (len(own) > 1 or own[0].rank == rank):
                    continue
                step = (-min(strength, payload >> 16), before, payload >> 8 & 0xFF, position)
                ranks = candidates.get(target)
                if ranks is None:
                    candidates[target] = {rank: step}
                elif rank not in ranks or step < ranks[rank]:
                    ranks[rank] = step
        return candidates

    def _affordable(self) -> list[tuple[int, _Label]]:
        """The part of the frontier whose edges may still be looked at, the best first when it is not all."""
        degrees = {p: self._graph.in_degree(p) + self._graph.out_degree(p) for p, _ in self._frontier}
        wanted = sum(degrees[position] for position, _ in self._frontier)
        if self._edges + wanted <= self._limits.edges:
            self._edges += wanted
            return self._frontier
        self.exhausted = True
        affordable: list[tuple[int, _Label]] = []
        for position, label in sorted(
            self._frontier, key=lambda item: (item[1].rank, -item[1].steps, self._graph[item[0]].id)
        ):
            self._edges += degrees[position]
            if self._edges > self._limits.edges and affordable:
                break
            affordable.append((position, label))
        return affordable


def _payloads(edges: EdgeTable) -> np.ndarray[Any, np.dtype[np.int64]]:
    """`_payload` of every edge."""
    steps = np.rint(edges.confidence.astype(np.float64) * _STEPS).astype(np.int64)
    return steps << 16 | edges.kind.astype(np.int64) << 8 | edges.rule


def _payload(confidence: float, kind: int, rule: int) -> int:
    return round(confidence * _STEPS) << 16 | kind << 8 | rule


def _kind(payload: int) -> EdgeKind:
    return EdgeKind(payload >> 8 & 0xFF)


def _edge_rows(
    index: Mapping[NodeId, int], palette: dict[int, int], edges: Iterable[Edge]
) -> tuple[list[tuple[int, int, int]], int]:
    rows = []
    dangling = 0
    for edge in edges:
        source, target = index.get(edge.source), index.get(edge.target)
        if source is None or target is None:
            dangling += 1
        else:
            payload = _payload(edge.confidence, edge.kind, edge.rule)
            rows.append((source, target, palette.setdefault(payload, payload)))
    return rows, dangling
