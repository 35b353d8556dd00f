"""The graph of one generation in memory, and every walk over it. The only module that imports rustworkx.

A `CodeGraph` never changes once made: readers need no lock, and `apply` returns the next one. It holds no text
(that is the catalog's) and knows nothing of ranking or protocols.

Answers depend on nodes and edges alone, never on the order in which they arrived: a graph that grew by `apply`
answers like one that was built afresh.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import msgspec
import numpy as np
import rustworkx

from ctxsearch.graph.columns import NodeColumns, Numbers, numbers_of
from ctxsearch.graph.edges import EdgeTable
from ctxsearch.graph.model import CodeNode, Edge, EdgeKind, NodeId, Rule
from ctxsearch.graph.names import Found, NameIndex
from ctxsearch.graph.records import FileGraph, owner_of
from ctxsearch.graph.walk import (
    CONFIDENCE_STEPS,
    DEFAULT_LIMITS,
    THROUGH_HUBS,
    UNBOUNDED,
    Accepted,
    Label,
    Limits,
    Walk,
    confidence_of,
    kind_of,
    meet,
    strength_of,
)

__all__ = ["DEFAULT_LIMITS", "Accepts", "CodeGraph", "Found", "Hit", "Limits", "Link", "Path", "Traversal"]

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
# Which nodes are asked for, by the numbers of their ids: of a hub, which may have very many neighbours, all at once.
Accepts = Callable[[Numbers], np.ndarray[Any, np.dtype[np.bool_]]]

_ALLOWANCES_KEPT = 64  # of walks that ask for other kinds or another confidence


class Hit(msgspec.Struct, frozen=True, gc=False):
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
    reached: int  # nodes seen that are asked for, before the cap on results; more exist if truncated
    truncated: bool  # something was cut: results, hubs, or edges looked at
    hubs: tuple[NodeId, ...] = ()  # reached, but not walked through; or seeds of which only the strongest edges were
    refused: frozenset[NodeId] = frozenset()  # reached, but not asked for


@dataclass(frozen=True, slots=True)
class Path:
    """A shortest way from one node to another."""

    nodes: tuple[CodeNode, ...] = ()  # empty: no way was found
    kinds: tuple[EdgeKind, ...] = ()  # of the edges between them
    confidences: tuple[float, ...] = ()  # of the same edges
    confidence: float = 0.0  # of the weakest edge
    truncated: bool = False  # the search gave up: there may be a way after all


@dataclass(frozen=True, slots=True)
class Link:
    """One edge seen from one of its ends."""

    kind: EdgeKind
    node: NodeId  # the other end
    confidence: float
    rule: Rule


class CodeGraph:
    """Nodes and edges of one generation. Made by `build` and `apply` only."""

    def __init__(
        self,
        graph: rustworkx.PyDiGraph,
        index: dict[NodeId, int],
        nodes: dict[NodeId, CodeNode],
        owners: dict[str, tuple[int, ...]],
        columns: NodeColumns,
        names: NameIndex | None,
        palette: dict[int, int],
        degrees: _Degrees,
        numbers: Numbers,
        generation: int,
        dangling: int,
    ) -> None:
        self._graph = graph  # node payload: CodeNode; edge payload: one integer of `palette`
        self._index = index  # never persisted: rustworkx uses indices again
        self._nodes = nodes  # the same nodes by id
        # The node of an id, or None. No method: a search asks hundreds of times, and a call costs more than the look.
        self.node: Callable[[NodeId], CodeNode | None] = nodes.get
        self._owners = owners
        self.columns = columns  # the same nodes again, for whoever asks of many at once
        self._names = names  # made when somebody first asks by name: a search never does
        self._palette = palette  # every edge payload in use, once
        self._allowances: dict[tuple[frozenset[EdgeKind], int], dict[int, int]] = {}  # made from it
        self._degrees = degrees
        self._numbers = numbers  # of the ids, by position; anything where no node is
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
            {node.id: node for node in nodes},
            {owner: tuple(own) for owner, own in owners.items()},
            NodeColumns.of(nodes),
            None,
            {payload: payload for payload in shared},
            _Degrees.of(len(nodes), edges),
            _placed(np.empty(0, np.uint64), positions, (node.id for node in nodes)),
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
        own_nodes = {owner: [record.node for record in part.nodes] for owner, part in changed.items()}
        new = {node.id: node for own in own_nodes.values() for node in own}
        old = [position for owner in {*changed, *removed} for position in owners.pop(owner, ())]
        known = self._names
        names = None if known is None else known.replaced([graph[position] for position in old], new.values())
        gone, lost = _replace_nodes(graph, old, new)
        nodes = self._nodes | new
        gone_ids = [graph[position].id for position in gone]
        for gone_id in gone_ids:
            del index[gone_id], nodes[gone_id]
        graph.remove_nodes_from(gone)
        fresh = [node for node in new.values() if node.id not in index]
        index.update(zip((node.id for node in fresh), graph.add_nodes_from(fresh), strict=True))
        owners |= {owner: tuple(index[node.id] for node in own) for owner, own in own_nodes.items() if own}
        palette = self._palette.copy()
        rows, dangling = _edge_rows(index, palette, (e for part in changed.values() for e in part.edges))
        graph.add_edges_from(rows)
        positions = [index[node.id] for node in fresh]
        return CodeGraph(
            graph,
            index,
            nodes,
            owners,
            self.columns.replaced(gone_ids, new.values()),
            names,
            palette,
            self._degrees.changed(positions, lost, rows),
            _placed(self._numbers, positions, (node.id for node in fresh)),
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

    def nodes(self) -> Iterator[CodeNode]:
        """Every node, in no particular order."""
        return iter(self._nodes.values())

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
        """How many edges say that something depends on a node: its weight in ranking."""
        position = self._index.get(node)
        return 0 if position is None else self._degrees.incoming(DEPENDENCY_KINDS)[position]

    def find(self, text: str, limit: int = 50) -> Found:
        """Nodes by id, name, qualified name, a suffix of it, or `path:line`; near names when there are none."""
        names = self._names
        if names is None:
            names = self._names = NameIndex.build(self.nodes())
        return names.find(text, limit, self.node, self.outline)

    # Walking. What is not accepted is walked through, but neither listed nor counted; where a walk has to cut, it goes
    # before what is.

    def callers(
        self, seeds: Sequence[NodeId], depth: int, limits: Limits = DEFAULT_LIMITS, accepts: Accepts | None = None
    ) -> Traversal:
        """Who calls the seeds, directly or through up to `depth` calls."""
        steps = self._steps(CALLER_KINDS, limits, incoming=True)
        return self._traverse(self._ranked(seeds), depth, steps, limits, accepts)

    def dependencies(
        self, seeds: Sequence[NodeId], depth: int, limits: Limits = DEFAULT_LIMITS, accepts: Accepts | None = None
    ) -> Traversal:
        """What the seeds need: calls, imports, bases, interfaces and uses, forwards."""
        steps = self._steps(DEPENDENCY_KINDS, limits, outgoing=True)
        return self._traverse(self._ranked(seeds), depth, steps, limits, accepts)

    def related(
        self, seeds: Sequence[NodeId], radius: int, limits: Limits = DEFAULT_LIMITS, accepts: Accepts | None = None
    ) -> Traversal:
        """What is near the seeds, over every kind of edge in either direction."""
        steps = self._steps(ALL_KINDS, limits, outgoing=True, incoming=True)
        return self._traverse(self._ranked(seeds), radius, steps, limits, accepts)

    def impact(self, node: NodeId, depth: int = UNBOUNDED, limits: Limits = THROUGH_HUBS) -> Traversal:
        """Who is affected if a node, with all that it contains, changes: callers, overrides, tests, importers.

        Hubs are walked through: a change to a logger does reach everybody.
        """
        return self._traverse(self._with_members(node), depth, self._steps(IMPACT_KINDS, limits, incoming=True), limits)

    def path(self, start: NodeId, end: NodeId, limits: Limits = THROUGH_HUBS) -> Path:
        """The shortest way by which `start` depends on `end`; of several the strongest."""
        if start not in self._index or end not in self._index or start == end:
            return Path()
        limits = replace(limits, results=UNBOUNDED)  # nothing is listed
        first, last = self._index[start], self._index[end]
        forth = Walk({first: 0}, self._steps(DEPENDENCY_KINDS, limits, outgoing=True), limits)
        back = Walk({last: 0}, self._steps(DEPENDENCY_KINDS, limits, incoming=True), limits)
        meeting = meet(forth, back)
        if meeting is None:
            return Path(truncated=forth.exhausted or back.exhausted or bool(forth.hubs or back.hubs))
        way = forth.path(meeting, forth.labels[meeting])
        way += back.path(meeting, back.labels[meeting])[-2::-1]
        return self._path(way, limits)

    def _path(self, way: list[int], limits: Limits) -> Path:
        allowed = self._allowed(DEPENDENCY_KINDS, limits)
        hops = [max(allowed[p] for p in self._graph.get_all_edge_data(a, b) if p in allowed) for a, b in pairwise(way)]
        return Path(
            tuple(self._at(position) for position in way),
            tuple(kind_of(hop) for hop in hops),
            tuple(confidence_of(hop) for hop in hops),
            confidence_of(min(hops)),
        )

    def _traverse(
        self, seeds: dict[int, int], depth: int, steps: _Steps, limits: Limits, accepts: Accepts | None = None
    ) -> Traversal:
        walk = Walk(seeds, steps, limits, None if accepts is None else self._accepted(accepts))
        more = True
        while more and walk.distance < depth and walk.reached < limits.results:
            more = walk.advance()
        cut = walk.exhausted or (more and walk.distance < depth) or walk.reached > limits.results
        hubs = sorted({self._at(position).id for position in walk.hubs})
        return Traversal(
            hits=tuple(self._hit(walk, position, label) for position, label in walk.best(limits.results)),
            reached=walk.reached,
            truncated=cut or bool(hubs),
            hubs=tuple(hubs),
            refused=frozenset([self._at(position).id for position in walk.refused]),
        )

    def _accepted(self, accepts: Accepts) -> Accepted:
        def accepted(positions: Sequence[int]) -> Sequence[bool]:
            found: list[bool] = accepts(self._numbers[np.array(positions, np.int64)]).tolist()
            return found

        return accepted

    def _hit(self, walk: Walk, position: int, label: Label) -> Hit:
        distance, rank, strength, _ = label
        nodes = [self._graph[step] for step in walk.path(position, label)]
        path = tuple([node.id for node in nodes])
        return Hit(nodes[-1], distance, rank, confidence_of(strength), kind_of(strength), path)

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
        contains = self._steps(frozenset({EdgeKind.CONTAINS}), DEFAULT_LIMITS, outgoing=True)
        members = [self._index[node]]
        seen = set(members)
        for member in members:
            fresh = [target for target, _ in contains(member) if target not in seen]
            seen.update(fresh)
            members.extend(fresh)
        return dict.fromkeys(members, 0)

    def _allowed(self, kinds: frozenset[EdgeKind], limits: Limits) -> dict[int, int]:
        """Payloads of the edges that a walk may take, with their strengths."""
        floor = round(limits.min_confidence * CONFIDENCE_STEPS)
        allowed = self._allowances.get((kinds, floor))
        if allowed is None:
            palette = [p for p in self._palette if _kind(p) in kinds and p >> 16 >= floor]
            allowed = {p: strength_of(p >> 16, p >> 8 & 0xFF) for p in palette}
            if len(self._allowances) >= _ALLOWANCES_KEPT:
                self._allowances.clear()
            self._allowances[kinds, floor] = allowed
        return allowed

    def _steps(
        self, kinds: frozenset[EdgeKind], limits: Limits, *, outgoing: bool = False, incoming: bool = False
    ) -> _Steps:
        return _Steps(self._graph, self._allowed(kinds, limits), self._degrees, kinds, outgoing, incoming)

    def _links(self, ends: Iterable[tuple[int, int]]) -> tuple[Link, ...]:
        links = [
            Link(_kind(payload), self._at(end).id, (payload >> 16) / CONFIDENCE_STEPS, Rule(payload & 0xFF))
            for end, payload in ends
        ]
        return tuple(sorted(links, key=lambda link: (link.kind, link.node, -link.confidence, link.rule)))

    def _at(self, position: int) -> CodeNode:
        node: CodeNode = self._graph[position]
        return node


class _Steps:
    """The edges that one walk may take (walk.Steps)."""

    def __init__(
        self,
        graph: rustworkx.PyDiGraph,
        allowed: dict[int, int],
        degrees: _Degrees,
        kinds: frozenset[EdgeKind],
        outgoing: bool,
        incoming: bool,
    ) -> None:
        self._graph = graph
        self._allowed = allowed
        self._outgoing = outgoing
        self._incoming = incoming
        ways = [degrees.outgoing] * outgoing + [degrees.incoming] * incoming
        self._degrees = [way(kinds) for way in ways]
        self._costs = [way(ALL_KINDS) for way in ways]

    def degree(self, position: int) -> int:
        return sum([column[position] for column in self._degrees])

    def cost(self, position: int) -> int:
        return sum([column[position] for column in self._costs])

    def id(self, position: int) -> NodeId:
        node: CodeNode = self._graph[position]
        return node.id

    def __call__(self, position: int) -> list[tuple[int, int]]:
        allowed, graph = self._allowed, self._graph
        steps: list[tuple[int, int]] = []
        if self._outgoing:
            steps += [(end, allowed[p]) for _, end, p in graph.out_edges(position) if p in allowed]
        if self._incoming:
            steps += [(end, allowed[p]) for end, _, p in graph.in_edges(position) if p in allowed]
        return steps


class _Degrees:
    """How many edges of each kind leave and enter each position.

    rustworkx counts by walking a list, which takes milliseconds at a hub and would be paid by every walk.
    """

    def __init__(self, leaving: _Counts, entering: _Counts) -> None:
        self._leaving = leaving  # [kind, position]
        self._entering = entering
        self._columns: dict[tuple[bool, frozenset[EdgeKind]], list[int]] = {}  # sums, made when first asked for

    @staticmethod
    def of(size: int, edges: EdgeTable) -> _Degrees:
        return _Degrees(_counted(edges.kind, edges.source, size), _counted(edges.kind, edges.target, size))

    def changed(self, positions: Sequence[int], lost: Sequence[_Row], gained: Sequence[_Row]) -> _Degrees:
        """After adding nodes at positions, dropping and adding edges."""
        more = max((*positions, 0)) + 1 - self._leaving.shape[1]
        widths = ((0, 0), (0, max(0, more)))
        leaving, entering = np.pad(self._leaving, widths), np.pad(self._entering, widths)
        for rows, step in ((lost, -1), (gained, 1)):
            source, target, payload = np.array(rows, dtype=np.int64).reshape(-1, 3).T
            np.add.at(leaving, (payload >> 8 & 0xFF, source), step)
            np.add.at(entering, (payload >> 8 & 0xFF, target), step)
        return _Degrees(leaving, entering)

    def outgoing(self, kinds: frozenset[EdgeKind]) -> list[int]:
        return self._column(self._leaving, False, kinds)

    def incoming(self, kinds: frozenset[EdgeKind]) -> list[int]:
        return self._column(self._entering, True, kinds)

    def _column(self, counts: _Counts, entering: bool, kinds: frozenset[EdgeKind]) -> list[int]:
        known = self._columns.get((entering, kinds))
        if known is None:
            known = self._columns[entering, kinds] = counts[sorted(kinds)].sum(axis=0).tolist()
        return known


_Counts = np.ndarray[Any, np.dtype[np.int32]]
_Row = tuple[int, int, int]  # source, target, payload


def _counted(kind: np.ndarray[Any, Any], position: np.ndarray[Any, Any], size: int) -> _Counts:
    kinds = max(EdgeKind) + 1
    cells = kind.astype(np.int64) * size + position
    return np.bincount(cells, minlength=kinds * size).astype(np.int32).reshape(kinds, size)


def _payloads(edges: EdgeTable) -> np.ndarray[Any, np.dtype[np.int64]]:
    """`_payload` of every edge."""
    steps = np.rint(edges.confidence.astype(np.float64) * CONFIDENCE_STEPS).astype(np.int64)
    return steps << 16 | edges.kind.astype(np.int64) << 8 | edges.rule


def _payload(confidence: float, kind: int, rule: int) -> int:
    return round(confidence * CONFIDENCE_STEPS) << 16 | kind << 8 | rule


def _placed(numbers: Numbers, positions: Sequence[int], ids: Iterable[NodeId]) -> Numbers:
    """The numbers of nodes by position, with those of more nodes."""
    more = max(positions, default=-1) + 1 - len(numbers)
    placed = np.pad(numbers, (0, max(0, more)))
    placed[np.array(positions, np.int64)] = numbers_of(ids)
    return placed


def _kind(payload: int) -> EdgeKind:
    return EdgeKind(payload >> 8 & 0xFF)


def _replace_nodes(
    graph: rustworkx.PyDiGraph, old: list[int], new: Mapping[NodeId, CodeNode]
) -> tuple[list[int], list[_Row]]:
    """Nodes that stay get their new payload and lose their outgoing edges.

    Returns the positions of those that do not stay, and every edge that goes.
    """
    gone: list[int] = []
    lost: list[_Row] = [edge for position in old for edge in graph.out_edges(position)]
    replaced = set(old)
    for position in old:
        node = new.get(graph[position].id)
        if node is None:
            gone.append(position)
            lost += [edge for edge in graph.in_edges(position) if edge[0] not in replaced]
            continue
        graph[position] = node
        for edge in graph.out_edge_indices(position):
            graph.remove_edge_from_index(edge)
    return gone, lost


def _edge_rows(index: Mapping[NodeId, int], palette: dict[int, int], edges: Iterable[Edge]) -> tuple[list[_Row], int]:
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
