"""The graph signal: from the best text hits to what calls them, what they need, or what is near. Pure but for the
graph.

Scope and freshness floor are applied to what the walk reached before it is ranked, never to the walk itself: a way
may lead through code that is not asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from ctxsearch.graph.graph import Hit, Traversal
from ctxsearch.graph.model import CodeNode, NodeId
from ctxsearch.graph.walk import Limits
from ctxsearch.search.ports import GraphTraversal
from ctxsearch.search.query import Expansion, ExpansionKind
from ctxsearch.search.results import Reach

SEEDS: Final = 10
# Reached nodes per walk, before scope and floor: enough for the deepest pool, far below what a hub could bring.
_REACHED: Final = 2_000


class Walk(NamedTuple):
    """What one expansion brought."""

    kept: Sequence[Hit]  # by distance, best seed, confidence, id
    refused: int  # reached, but not accepted
    truncated: bool


def expand(
    graph: GraphTraversal,
    seeds: Sequence[NodeId],
    expansion: Expansion,
    wanted: int,
    accepts: Callable[[CodeNode], bool] | None,
) -> Walk:
    """Walk from seeds in rank order; keep what is accepted, at least the best `wanted` of it.

    Where everything is accepted (None) the walk may stop as soon as it has that many: the next ones are no better.
    """
    traversal = _walk(graph, seeds, expansion, wanted if accepts is None else _REACHED)
    kept = traversal.hits if accepts is None else [hit for hit in traversal.hits if accepts(hit.node)]
    return Walk(kept, len(traversal.hits) - len(kept), traversal.truncated)


def _walk(graph: GraphTraversal, seeds: Sequence[NodeId], expansion: Expansion, results: int) -> Traversal:
    limits = Limits(results=results)
    match expansion.kind:
        case ExpansionKind.CALLERS:
            return graph.callers(seeds, expansion.depth, limits)
        case ExpansionKind.DEPENDENCIES:
            return graph.dependencies(seeds, expansion.depth, limits)
        case ExpansionKind.RELATED:
            return graph.related(seeds, expansion.depth, limits)


def expansion_order(hit: Hit, seed_rank: int) -> tuple[int, int, float, str]:
    """Distance, then the best seed's rank, then confidence, then id."""
    return hit.distance, seed_rank, -hit.confidence, hit.node.id


def raw_score(hit: Hit) -> float:
    """Nearer and surer is more; for display and nothing else."""
    return hit.confidence / hit.distance


def reach_of(hit: Hit | None) -> Reach | None:
    """How a walk came to a node."""
    return None if hit is None else Reach(hit.distance, hit.path, hit.confidence)
