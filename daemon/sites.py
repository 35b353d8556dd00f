"""Where the edges of a walk are written: what a reader of callers or dependencies wants to see beside each node.

Reads the pinned generation; for the nodes that are shown, not for all that a walk met.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ctxsearch.daemon.snapshot import Snapshot
from ctxsearch.graph.graph import CodeGraph, Hit, Traversal
from ctxsearch.graph.model import CodeNode, NodeFlag, NodeId
from ctxsearch.graph.records import EdgeSites, owner_of

MAX_LINE = 200  # characters of a line that are shown


class Direction(enum.Enum):
    """Which end of its last edge a walk reached."""

    FORWARDS = enum.auto()  # the target
    BACKWARDS = enum.auto()  # the source
    EITHER = enum.auto()


class Placed(NamedTuple):
    """A node that a walk reached, and where the last edge to it is written."""

    hit: Hit
    lines: tuple[int, ...] = ()  # in the file of the edge's source, 1-based
    text: str = ""  # of the first of them


def placed(snapshot: Snapshot, found: Traversal, direction: Direction) -> list[Placed]:
    """What a walk reached, in a reader's order: nearest first, tests after other code, the surest, then by place."""
    with snapshot.catalog.use() as catalog:
        sites = functools.cache(catalog.sites)
        edges = [_written(snapshot.graph, sites, hit, direction) for hit in found.hits]
    texts = snapshot.texts.lines([(source.path, lines[0]) for source, lines in edges if source is not None and lines])
    shown = iter(texts)
    rows = [
        Placed(hit, lines, next(shown).strip()[:MAX_LINE] if source is not None and lines else "")
        for hit, (source, lines) in zip(found.hits, edges, strict=True)
    ]
    return sorted(rows, key=_reading_order)


def _written(
    graph: CodeGraph, sites: Callable[[str], EdgeSites], hit: Hit, direction: Direction
) -> tuple[CodeNode | None, tuple[int, ...]]:
    """The node in whose file the edge is written, and its lines there."""
    for source_id, target_id in _ends(hit, direction):
        source = graph.node(source_id)
        if source is not None:
            lines = sites(owner_of(source)).get((source_id, target_id, hit.via), ())
            if lines:
                return source, lines
    return None, ()


def _ends(hit: Hit, direction: Direction) -> Iterator[tuple[NodeId, NodeId]]:
    """Source and target of the last edge, or of the two that may have been taken."""
    before, node = hit.path[-2], hit.path[-1]
    if direction is not Direction.BACKWARDS:
        yield before, node
    if direction is not Direction.FORWARDS:
        yield node, before


def _reading_order(one: Placed) -> tuple[int, bool, float, str, int, str]:
    node = one.hit.node
    is_test = bool(node.flags & NodeFlag.TEST)
    return one.hit.distance, is_test, -one.hit.confidence, node.path, node.start_line, node.id
