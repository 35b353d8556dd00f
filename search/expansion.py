"""The graph signal: from the best text hits to what calls them, what they need, or what is near. Pure but for the
graph.

Scope and freshness floor decide what the walk lists, counts and, where it has to cut, prefers; never where it goes: a
way may lead through code that is not asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from ctxsearch.graph.graph import Accepts, Hit, Traversal
from ctxsearch.graph.model import NodeId
from ctxsearch.graph.walk import Limits
from ctxsearch.search.ports import GraphTraversal
from ctxsearch.search.query import Expansion, ExpansionKind
from ctxsearch.search.results import Reach

SEEDS: Final = 10


class Walk(NamedTuple):
    """What one expansion brought."""

    kept: Sequence[Hit]  # by distance, best seed, confidence, id
    refused: frozenset[NodeId]  # reached, but not accepted
    truncated: bool  # a hub, or too many edges: something is missing that is no farther than the last one kept


def expand(
    graph: GraphTraversal,
    seeds: Sequence[NodeId],
    expansion: Expansion,
    wanted: int,
    accepts: Accepts | None,
) -> Walk:
    """Walk from seeds in rank order; keep the best `wanted` of what is accepted (None: of everything)."""
    traversal = _walk(graph, seeds, expansion, Limits(results=wanted), accepts)
    is_short = len(traversal.hits) < wanted  # a list that is as long as lists may be ends there without more ado
    return Walk(traversal.hits, traversal.refused, bool(traversal.hubs) or (traversal.truncated and is_short))


def _walk(
    graph: GraphTraversal, seeds: Sequence[NodeId], expansion: Expansion, limits: Limits, accepts: Accepts | None
) -> Traversal:
    match expansion.kind:
        case ExpansionKind.CALLERS:
            return graph.callers(seeds, expansion.depth, limits, accepts)
        case ExpansionKind.DEPENDENCIES:
            return graph.dependencies(seeds, expansion.depth, limits, accepts)
        case ExpansionKind.RELATED:
            return graph.related(seeds, expansion.depth, limits, accepts)


def expansion_order(hit: Hit, seed_rank: int) -> tuple[int, int, float, str]:
    """Distance, then the best seed's rank, then confidence, then id."""
    return hit.distance, seed_rank, -hit.confidence, hit.node.id


def raw_score(hit: Hit) -> float:
    """Nearer and surer is more; for display and nothing else."""
    return hit.confidence / hit.distance


def reach_of(hit: Hit | None) -> Reach | None:
    """How a walk came to a node."""
    return None if hit is None else Reach(hit.distance, hit.path, hit.confidence)
