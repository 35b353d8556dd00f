"""What a search answers: values only, complete enough that a caller needs no other look-up."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import msgspec

from ctxsearch.graph.model import CodeNode, NodeId
from ctxsearch.search.ports import FreshnessFact, OnDisk
from ctxsearch.search.query import Signal
from ctxsearch.search.ranking import Vote, rank_score


class Label(enum.StrEnum):
    """In one word, how a result was found."""

    EXACT = "exact"  # by its words alone
    SEMANTIC = "semantic"  # by meaning alone
    HYBRID = "hybrid"  # by both
    FUZZY = "fuzzy"  # by a similar spelling
    GRAPH = "graph"  # by its relation to what was found


class SignalScore(msgspec.Struct, frozen=True, gc=False):
    """What one signal said about a result."""

    rank: int = 0  # 1-based; 0: absent
    raw: float = 0.0  # the signal's own scale
    contribution: float = 0.0  # share of the score before the penalty

    @property
    def rank_score(self) -> float:
        """61/(60+rank); 0 when absent."""
        return rank_score(self.rank)


class Reach(msgspec.Struct, frozen=True, gc=False):
    """How expansion came to a result."""

    distance: int  # edges from the nearest seed
    path: tuple[NodeId, ...]  # from the seed to the result, both included
    confidence: float  # of the weakest edge on the way


class Highlight(msgspec.Struct, frozen=True, gc=False):
    """Part of one line of the content that matched the query."""

    line: int  # 1-based, in the file
    start: int  # 0-based column, in characters
    end: int  # exclusive


class ResultContent(msgspec.Struct, frozen=True, gc=False):
    """Text that comes with a result."""

    text: str = ""
    start_line: int = 0  # 1-based, in the file; 0 when there is no text
    end_line: int = 0  # 1-based inclusive
    highlights: tuple[Highlight, ...] = ()
    trimmed: bool = False  # cut, or left out, to keep within max_tokens


NO_CONTENT = ResultContent()
NO_STEPS: Final[Mapping[str, float]] = MappingProxyType({})


class SearchResult(msgspec.Struct, frozen=True, gc=False):
    """One node with its score and the reasons for it."""

    repository: str
    node: CodeNode
    score: float  # 0..1; ordinal, not a probability
    votes: Mapping[Signal, Vote]
    freshness: FreshnessFact
    label: Label
    reach: Reach | None = None  # None: expansion did not come here
    content: ResultContent = NO_CONTENT
    on_disk: OnDisk = OnDisk.UNCHECKED
    # With `explain`, what ranking steps added to what the signals contribute; with it that is the score before the
    # penalty.
    steps: Mapping[str, float] = NO_STEPS

    def signal(self, signal: Signal) -> SignalScore:
        """What a signal said; rank 0 when it did not find the node."""
        vote = self.votes.get(signal)
        return SignalScore() if vote is None else SignalScore(vote.rank, vote.raw, vote.contribution)

    def matched(self, signal: Signal) -> bool:
        """Whether a signal found the node."""
        return signal in self.votes

    @property
    def distance_in_graph(self) -> int | None:
        """Edges from the nearest seed; None when expansion did not come here."""
        return None if self.reach is None else self.reach.distance


@dataclass(frozen=True, slots=True)
class SignalReport:
    """How one signal did."""

    signal: Signal
    weight: float
    ran: bool
    count: int = 0  # length of its list
    milliseconds: float = 0.0
    error: str = ""  # why it did not run
    truncated: bool = False  # of the graph: bounds on hubs and edges cut its list; a list that is just full is not cut


@dataclass(frozen=True, slots=True)
class Indexed:
    """What an answer says about one repository's index."""

    repository: str
    generation: int
    commit: str
    pending_files: int  # changed in the working tree, not indexed yet

    @property
    def trails(self) -> bool:
        """Whether the index is behind the working tree."""
        return self.pending_files > 0


@dataclass(frozen=True, slots=True)
class Guidance:
    """What to try when nothing was found."""

    searched: str  # what was looked at
    outside_scope: int = 0  # matches that the scope left out
    below_floor: int = 0  # matches that the freshness floor left out
    at_least: bool = False  # these two are of a list that was full: there may be more
    below_min_score: int = 0
    unmatched: tuple[str, ...] = ()  # what of the scope no indexed file has, in sentences


@dataclass(frozen=True, slots=True)
class Explanation:
    """How the order came about; never changes it."""

    weights: Mapping[Signal, float]
    pool: int
    steps: tuple[str, ...]  # the ranking steps that were on
    seeds: tuple[NodeId, ...]  # where expansion started
    fused: int  # candidates after the merge
    milliseconds: Mapping[str, float]  # per stage


@dataclass(frozen=True, slots=True)
class SearchResponse:
    """The answer to one request."""

    results: tuple[SearchResult, ...]
    signals: tuple[SignalReport, ...]
    indexed: tuple[Indexed, ...]
    degraded: bool = False
    warnings: tuple[str, ...] = ()
    # Candidates that were refused. Indexes never bring what a scope or floor leaves out; where an answer is empty or
    # explained, what full text would have brought is counted too.
    dropped_by_scope: int = 0
    dropped_by_floor: int = 0
    dropped_by_score: int = 0
    unknown_ids: int = 0  # in an index but not in the graph; repaired after the answer
    trimmed_results: int = 0  # whose content max_tokens cut or left out
    milliseconds: float = 0.0
    guidance: Guidance | None = None  # only with an empty answer
    near_names: tuple[str, ...] = ()  # where full text found nothing: names that look like the query
    explanation: Explanation | None = None

    @property
    def generation(self) -> int:
        """The oldest generation that contributed; with one repository, its generation."""
        return min((one.generation for one in self.indexed), default=0)
