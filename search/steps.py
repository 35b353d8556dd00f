"""Named ranking steps: each reorders one signal's list before fusion, and can be switched off. Pure.

A step that gains nothing on bench/relevance.py does not belong here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

from ctxsearch.graph.model import CodeNode, NodeFlag, NodeId
from ctxsearch.search.identifiers import words
from ctxsearch.search.ports import Hit
from ctxsearch.search.query import SearchQuery, Signal

DEMOTED_FLAGS: Final = NodeFlag.TEST | NodeFlag.GENERATED | NodeFlag.VENDORED
_ASKS_FOR_DEMOTED: Final = frozenset(
    {"test", "tests", "testing", "spec", "specs", "fixture", "fixtures", "mock", "mocks"}
    | {"generated", "vendor", "vendored"}
)


def asks_for_demoted(text: str, paths: tuple[str, ...]) -> bool:
    """Whether tests, generated or vendored code are what is looked for, by the query's words or its scope."""
    return any(word in _ASKS_FOR_DEMOTED for part in (text, *paths) for word in words(part))


class RankingStep(Protocol):
    """Reorders one list. Must keep it a permutation, and depend on its arguments alone."""

    @property
    def name(self) -> str:
        """What `explain` calls it and what switches it off."""
        ...

    @property
    def signal(self) -> Signal:
        """Whose list it reorders."""
        ...

    def __call__(self, hits: list[Hit], query: SearchQuery, node: Callable[[NodeId], CodeNode | None], /) -> list[Hit]:
        """The same hits in a better order."""
        ...


@dataclass(frozen=True, slots=True)
class SemanticDemotion:
    """Tests, generated and vendored code are near in meaning to what they test or copy: rank them below it."""

    factor: float = 0.85
    name: str = "semantic_demotion"
    signal: Signal = Signal.SEMANTIC

    def __call__(self, hits: list[Hit], query: SearchQuery, node: Callable[[NodeId], CodeNode | None], /) -> list[Hit]:
        """Cosines of demoted nodes shrink by the factor."""
        if asks_for_demoted(query.text, query.scope.paths):
            return hits
        scored = [Hit(hit.id, hit.score * self._factor(node(hit.id))) for hit in hits]
        return sorted(scored, key=lambda hit: (-hit.score, hit.id))

    def _factor(self, node: CodeNode | None) -> float:
        return self.factor if node is not None and node.flags & DEMOTED_FLAGS else 1.0


DEFAULT_STEPS: Final[tuple[RankingStep, ...]] = (SemanticDemotion(),)


@dataclass(frozen=True, slots=True)
class RankingPolicy:
    """Which steps are on. Weights belong to the request, field weights to the full-text index."""

    steps: tuple[RankingStep, ...] = DEFAULT_STEPS
    freshness: bool = True  # whether the class's penalty applies; off only to measure what it does

    def without(self, *names: str) -> RankingPolicy:
        """The same without some steps; `freshness` is one of the names."""
        kept = tuple(step for step in self.steps if step.name not in names)
        return RankingPolicy(kept, self.freshness and "freshness" not in names)

    @property
    def names(self) -> tuple[str, ...]:
        """The steps that are on, for `explain`."""
        return (*(step.name for step in self.steps), *(("freshness",) if self.freshness else ()))
