"""What a caller asks for. Validated here, once, when the value is made; everything later may rely on it."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, field
from typing import Final, TypeVar

from ctxsearch.graph.freshness import Freshness
from ctxsearch.search.errors import InvalidArgument
from ctxsearch.search.scope import EVERYTHING, Scope

MAX_TEXT_BYTES: Final = 8 * 1024
MAX_K: Final = 200
DEFAULT_K: Final = 20
MAX_DEPTH: Final = 4
MIN_POOL: Final = 100
POOL_PER_RESULT: Final = 5


class Signal(enum.StrEnum):
    """The ranked lists that are fused, in the fixed order in which they are summed and shown."""

    BM25 = "bm25"
    SEMANTIC = "semantic"
    FUZZY = "fuzzy"
    GRAPH = "graph"


class Mode(enum.StrEnum):
    """Which text signals run."""

    HYBRID = "hybrid"
    KEYWORD = "keyword"
    SEMANTIC = "semantic"
    FUZZY = "fuzzy"


class Content(enum.StrEnum):
    """How much text comes with each result."""

    NONE = "none"
    SNIPPET = "snippet"
    FULL = "full"


class ExpansionKind(enum.StrEnum):
    """Which way the graph is walked from the best text hits."""

    CALLERS = "callers"  # who calls them: CALLS backwards
    DEPENDENCIES = "dependencies"  # what they need: CALLS, IMPORTS, EXTENDS, IMPLEMENTS, USES forwards
    RELATED = "related"  # any edge, either way


@dataclass(frozen=True, slots=True)
class Expansion:
    """A walk and how far it goes."""

    kind: ExpansionKind
    depth: int = 1  # the radius, for RELATED

    def __post_init__(self) -> None:
        """Refuse unknown kinds and depths out of bounds."""
        _check_member("expansion.kind", self.kind, ExpansionKind)
        name = "radius" if self.kind is ExpansionKind.RELATED else "depth"
        _check_whole(f"expansion.{self.kind}.{name}", self.depth, 1, MAX_DEPTH)


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each signal counts; None keeps the signal's default. The order is scale-free: no cap on the
    sum."""

    bm25: float | None = None
    semantic: float | None = None
    graph: float | None = None
    fuzzy: float | None = None

    def __post_init__(self) -> None:
        """Refuse negative and non-finite weights."""
        for signal in Signal:
            weight = getattr(self, signal.value)
            if weight is not None and not (_is_number(weight) and math.isfinite(weight) and weight >= 0):
                raise InvalidArgument(f"weights.{signal}", weight, "a finite number >= 0")


DEFAULT_WEIGHTS: Final = {Signal.BM25: 1.0, Signal.SEMANTIC: 0.8, Signal.GRAPH: 0.6, Signal.FUZZY: 0.0}
_MODE_SIGNALS: Final = {
    Mode.HYBRID: (Signal.BM25, Signal.SEMANTIC, Signal.FUZZY),
    Mode.KEYWORD: (Signal.BM25,),
    Mode.SEMANTIC: (Signal.SEMANTIC,),
    Mode.FUZZY: (Signal.FUZZY,),
}


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """One request. Every field but the text (or the embedding) has a default."""

    text: str = ""
    embedding: tuple[float, ...] | None = None
    mode: Mode = Mode.HYBRID
    weights: Weights = field(default_factory=Weights)
    expansion: Expansion | None = None
    scope: Scope = EVERYTHING
    freshness_floor: Freshness | None = None  # None, like the lowest class: nothing is filtered
    k: int = DEFAULT_K
    min_score: float = 0.0
    content: Content = Content.SNIPPET
    max_tokens: int | None = None
    explain: bool = False
    min_generation: int | None = None  # None: whatever is newest
    max_wait: float = 0.0  # seconds

    def __post_init__(self) -> None:
        """Refuse everything that is wrong whatever the index holds."""
        self._check_enums()
        self._check_text()
        self._check_embedding()
        _check_whole("k", self.k, 1, MAX_K)
        _check_real("min_score", self.min_score, 0.0, 1.0)
        _check_real("max_wait", self.max_wait, 0.0, 3600.0)
        if self.max_tokens is not None:
            _check_whole("max_tokens", self.max_tokens, 1, 10_000_000)
        if self.min_generation is not None:
            _check_whole("min_generation", self.min_generation, 0, 2**63 - 1)
        weights = self.signal_weights()
        if not any(weight for signal, weight in weights.items() if signal is not Signal.GRAPH):
            shown = {signal.value: weight for signal, weight in weights.items()}
            allowed = f"at least one weight > 0 of what {self.mode} mode runs, the graph aside, which starts from them"
            raise InvalidArgument("weights", shown, allowed)

    @property
    def pool(self) -> int:
        """How deep each signal's list may be: deep enough that penalties cannot starve the page."""
        return max(MIN_POOL, POOL_PER_RESULT * self.k)

    @property
    def has_text(self) -> bool:
        """Whether there is any text to search by."""
        return bool(self.text.strip())

    def signal_weights(self) -> dict[Signal, float]:
        """The signals that this request runs, with their weights; GRAPH only when expansion is asked for."""
        signals = [s for s in _MODE_SIGNALS[self.mode] if self._can_run(s)]
        weights = {signal: self._weight(signal, alone=len(signals) == 1) for signal in signals}
        if self.expansion is not None:
            weights[Signal.GRAPH] = self._weight(Signal.GRAPH, alone=False)
        return weights

    def _can_run(self, signal: Signal) -> bool:
        return self.has_text or (signal is Signal.SEMANTIC and self.embedding is not None)

    def _weight(self, signal: Signal, *, alone: bool) -> float:
        given: float | None = getattr(self.weights, signal.value)
        if given is not None:
            return float(given)
        default = DEFAULT_WEIGHTS[signal]
        return default if default or not alone else 1.0  # fuzzy mode needs no weight to be spelled out

    def _check_enums(self) -> None:
        _check_member("mode", self.mode, Mode)
        _check_member("content", self.content, Content)
        if self.freshness_floor is not None:
            _check_member("freshness_floor", self.freshness_floor, Freshness)
        if self.expansion is not None and not isinstance(self.expansion, Expansion):
            raise InvalidArgument("expansion", self.expansion, "an Expansion or None")
        if not isinstance(self.scope, Scope):
            raise InvalidArgument("scope", self.scope, "a Scope")
        if not isinstance(self.weights, Weights):
            raise InvalidArgument("weights", self.weights, "Weights")

    def _check_text(self) -> None:
        if not isinstance(self.text, str):
            raise InvalidArgument("text", self.text, "a string")
        size = len(self.text.encode("utf-8", "surrogatepass"))
        if size > MAX_TEXT_BYTES:
            raise InvalidArgument("text", f"{size} bytes", f"at most {MAX_TEXT_BYTES} bytes of UTF-8")
        if not self.has_text:
            if self.mode in (Mode.KEYWORD, Mode.FUZZY):
                raise InvalidArgument("text", self.text, f"a text that is not blank, in {self.mode} mode")
            if self.embedding is None:
                raise InvalidArgument("text", self.text, "a text that is not blank, or an embedding")

    def _check_embedding(self) -> None:
        if self.embedding is None:
            return
        if not self.embedding or not all(_is_number(x) and math.isfinite(x) for x in self.embedding):
            raise InvalidArgument("embedding", self.embedding, "finite numbers, as many as the model has")

    def check_dimension(self, dimension: int) -> None:
        """Refuse an embedding of another model's dimension; the service knows the model."""
        if self.embedding is not None and len(self.embedding) != dimension:
            raise InvalidArgument("embedding", f"{len(self.embedding)} numbers", f"exactly {dimension} numbers")


_Member = TypeVar("_Member", bound=enum.Enum)


def parse_member(name: str, value: str, members: type[_Member]) -> _Member:
    """An enum member from what a user typed, any case; the error lists what there is."""
    for member in members:
        if value.lower() == member.name.lower():
            return member
    raise InvalidArgument(name, value, ", ".join(member.name for member in members))


def _check_member(name: str, value: object, members: type[enum.Enum]) -> None:
    if not isinstance(value, members):
        raise InvalidArgument(name, value, ", ".join(member.name for member in members))


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _check_whole(name: str, value: object, low: int, high: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise InvalidArgument(name, value, f"a whole number from {low} to {high}")


def _check_real(name: str, value: float, low: float, high: float) -> None:
    if not _is_number(value) or not low <= value <= high:  # a NaN fails the comparison
        raise InvalidArgument(name, value, f"a number from {low:g} to {high:g}")
