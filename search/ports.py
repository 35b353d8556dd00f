"""What the search service needs from others, as Protocols: the indexes, the embedder, the graph, the lookups.

Third parties implement these and register through the entry points named beside each; nothing here knows a
provider. A list of `Hit` is any sequence; `Hits`, in columns, is the quickest.
"""

from __future__ import annotations

import enum
import functools
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, cast, overload, runtime_checkable

import msgspec
import numpy as np
from numpy.typing import NDArray

from ctxsearch.graph.columns import NodeColumns, Numbers, Rows, number_of, numbers_of
from ctxsearch.graph.freshness import Freshness
from ctxsearch.graph.graph import Accepts, Traversal
from ctxsearch.graph.model import CodeNode, NodeDocument, NodeId
from ctxsearch.graph.walk import Limits
from ctxsearch.search.scope import EVERYTHING, Scope

Floats = NDArray[np.float32]
Scores = NDArray[np.float64]


class Hit(msgspec.Struct, frozen=True, gc=False):
    """One entry of a ranked list; only the order counts for fusion, the score is for ties and `explain`."""

    id: NodeId
    score: float


class Hits(Sequence[Hit]):
    """A ranked list in columns: ranking asks the same of all of its entries."""

    __slots__ = ("numbers", "rows", "scores")

    def __init__(self, numbers: Numbers, scores: Scores, rows: Rows | None = None) -> None:
        """The numbers of ids, with their scores, in the order of the list; and their rows, where those are known."""
        self.numbers = numbers
        self.scores = scores
        self.rows = rows

    @staticmethod
    def of(hits: Sequence[Hit]) -> Hits:
        """The same list in columns, whatever a provider answers with."""
        if isinstance(hits, Hits):
            return hits
        return Hits(numbers_of(hit.id for hit in hits), np.array([hit.score for hit in hits], np.float64))

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Iterator[Hit]:
        return map(Hit, node_ids(self.numbers.tolist()), self.scores.tolist())

    @overload
    def __getitem__(self, place: int) -> Hit: ...
    @overload
    def __getitem__(self, place: slice | NDArray[np.bool_]) -> Hits: ...
    def __getitem__(self, place: int | slice | NDArray[np.bool_]) -> Hit | Hits:
        if not isinstance(place, int):
            return Hits(self.numbers[place], self.scores[place], None if self.rows is None else self.rows[place])
        return Hit(node_ids([int(self.numbers[place])])[0], float(self.scores[place]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # arrays have none

    def __repr__(self) -> str:
        return f"Hits({list(self)})"


NO_HITS = Hits(np.empty(0, np.uint64), np.empty(0, np.float64))


def node_ids(numbers: Sequence[int]) -> list[NodeId]:
    """Ids of their numbers, by which the engines know them; numbers are in the same order as the spellings."""
    digits = struct.pack(f">{len(numbers)}Q", *numbers).hex()
    ids = [digits[start : start + _DIGITS] for start in range(0, len(digits), _DIGITS)]
    return cast("list[NodeId]", ids)


_DIGITS = 16


@dataclass(frozen=True, eq=False)
class Denied:
    """Nodes below the freshness floor. The same only as itself, so that indexes can keep what they made of it."""

    numbers: Numbers  # of their ids, ascending

    @staticmethod
    def of(ids: Iterable[NodeId]) -> Denied:
        """These nodes."""
        return Denied(np.sort(numbers_of(ids)))

    def __len__(self) -> int:
        return len(self.numbers)

    def __contains__(self, node_id: NodeId) -> bool:
        return number_of(node_id) in self._members

    def among(self, numbers: Numbers) -> NDArray[np.bool_]:
        """Which nodes are denied."""
        if not len(self.numbers):
            return np.zeros(len(numbers), np.bool_)
        is_denied: NDArray[np.bool_] = self.numbers.take(self.numbers.searchsorted(numbers), mode="clip") == numbers
        return is_denied

    @functools.cached_property
    def _members(self) -> frozenset[int]:
        return frozenset(self.numbers.tolist())


NOTHING_DENIED = Denied(np.empty(0, np.uint64))


@dataclass(frozen=True, slots=True)
class Selection:
    """What a signal may return at all. Pushed into every index before it ranks."""

    scope: Scope = EVERYTHING
    denied: Denied = NOTHING_DENIED

    @property
    def is_everything(self) -> bool:
        """Nothing to filter."""
        return not self.denied and self.scope.is_everything


SELECT_ALL = Selection()


class Passage(msgspec.Struct, frozen=True, gc=False):
    """One text to embed: a node, or a piece of a long one."""

    name: str  # the node's name; what it is called says more than what it contains
    text: str


@runtime_checkable
class Embedder(Protocol):
    """Texts to unit vectors (`ctxsearch.embedder`: a callable of `providers.ModelOptions` that returns one).

    The same text gives the same vector in every process. A text without a known word gives the zero vector.
    """

    @property
    def model_id(self) -> str:
        """Another id means other vectors: an index made with one is never searched with another."""
        ...

    @property
    def dimension(self) -> int:
        """Numbers per vector."""
        ...

    @property
    def is_quick(self) -> bool:
        """Whether thousands of passages a second are embedded. Of one that is not, every vector is kept for good, and
        no answer waits for more than the vector of its question."""
        ...

    def embed_documents(self, passages: Sequence[Passage]) -> Floats:
        """One row per passage."""
        ...

    def embed_query(self, text: str) -> Floats:
        """One vector."""
        ...


@runtime_checkable
class FullTextReader(Protocol):
    """One generation of a full-text index. Pinned: later writes never change what it answers. Thread-safe."""

    generation: int

    def search(self, text: str, selection: Selection, limit: int, nodes: NodeColumns) -> Sequence[Hit]:
        """Best matches first, scores positive; never an id twice; equal scores in a stable order.

        `nodes` are what is known of the nodes beside their text, for rankings that look at it.
        """
        ...

    def fuzzy(self, text: str, selection: Selection, limit: int) -> Sequence[Hit]:
        """Nodes whose names are within a few edits of the identifiers in the text, nearest first."""
        ...

    def has_name(self, name: str) -> bool:
        """Whether any node, in whatever scope, is named so, however it is spelled."""
        ...

    def near_names(self, text: str, limit: int) -> list[str]:
        """Names that exist and look like the text, for `did you mean`."""
        ...

    def count(self) -> int:
        """Nodes that can be found."""
        ...


class DerivedIndex(Protocol):
    """What full text and vectors have in common: derived data that follows the catalog's generations."""

    @property
    def generation(self) -> int:
        """The newest generation that is durable here; 0 when empty."""
        ...

    def apply(self, generation: int, replaced: Mapping[str, Sequence[NodeDocument]], removed: Sequence[str]) -> None:
        """Replace all nodes of some paths, drop those of others, and commit as `generation`: all or nothing.

        Nodes without a file come under the path "". Applying the same change again changes nothing but the generation.
        """
        ...

    def rebuild(self, generation: int, documents: Iterable[tuple[str, Sequence[NodeDocument]]]) -> None:
        """Start over from these paths and nodes, and commit as `generation`; readers keep what they had."""
        ...

    def discard(self, ids: Sequence[NodeId]) -> None:
        """Forget nodes that the catalog does not know; the generation stays."""
        ...

    def close(self) -> None:
        """Release files and locks; readers already open stay usable."""
        ...


@runtime_checkable
class FullTextIndex(DerivedIndex, Protocol):
    """A durable full-text index of one repository (`ctxsearch.full_text`: a callable that takes its
    directory)."""

    @property
    def worn(self) -> float:
        """How much of what words are weighed by is gone, 0..1: what was replaced may count until `rebuild`."""
        ...

    def reader(self) -> FullTextReader:
        """The newest committed generation."""
        ...


@runtime_checkable
class VectorReader(Protocol):
    """One generation of a vector index. Pinned and thread-safe."""

    generation: int
    model_id: str
    dimension: int

    def search(self, vector: Floats, selection: Selection, limit: int) -> Sequence[Hit]:
        """Nearest nodes first by cosine; a node of several pieces counts once, by its best piece."""
        ...

    def count(self) -> int:
        """Nodes that can be found."""
        ...

    def lacking(self, ids: Collection[NodeId]) -> int:
        """How many of these nodes cannot be found."""
        ...


@runtime_checkable
class VectorIndex(DerivedIndex, Protocol):
    """A durable vector index of one repository (`ctxsearch.vector`: a callable of directory and embedder)."""

    def reader(self) -> VectorReader:
        """The newest committed generation."""
        ...

    def maintain(self) -> None:
        """Compact when due; never breaks an open reader."""
        ...


@runtime_checkable
class GraphTraversal(Protocol):
    """Walks from ranked seeds, bounded in depth, width and number; hubs are not walked through.

    Every hit once at its minimum distance; a seed only if another seed reaches it; seeds that the graph does not
    know are ignored. Only what is accepted is a hit, and counts; ways may lead through the rest, of which a walk that
    has to cut takes what room is left. `ctxsearch.graph.graph.CodeGraph` is one.
    """

    def callers(
        self, seeds: Sequence[NodeId], depth: int, limits: Limits = ..., accepts: Accepts | None = ..., /
    ) -> Traversal:
        """Who calls the seeds: CALLS backwards."""
        ...

    def dependencies(
        self, seeds: Sequence[NodeId], depth: int, limits: Limits = ..., accepts: Accepts | None = ..., /
    ) -> Traversal:
        """What the seeds need: CALLS, IMPORTS, EXTENDS, IMPLEMENTS, USES forwards."""
        ...

    def related(
        self, seeds: Sequence[NodeId], radius: int, limits: Limits = ..., accepts: Accepts | None = ..., /
    ) -> Traversal:
        """What is near the seeds, over every kind of edge in either direction."""
        ...


@runtime_checkable
class NodeLookup(Protocol):
    """Ids to nodes, and the same nodes in columns; `CodeGraph` is one."""

    columns: NodeColumns

    def node(self, node_id: NodeId, /) -> CodeNode | None:
        """The node, or None when the graph does not know the id."""
        ...


class FreshnessFact(NamedTuple):
    """What is known about a node's age, and what it costs in ranking."""

    freshness: Freshness
    penalty: float  # the factor on the score, 0..1
    commit_id: str = ""  # of the last change; "" unknown
    commit_time: int = 0  # seconds since the epoch; 0 unknown
    source: str = "none"  # git, worktree, shallow, none


@runtime_checkable
class FreshnessLookup(Protocol):
    """Ids to freshness. Computed before the search: answering is a look-up."""

    def fact(self, node_id: NodeId, /) -> FreshnessFact:
        """The class and the facts behind it."""
        ...

    def penalties(self, numbers: Sequence[int], /) -> list[float]:
        """The factors of many nodes, by the numbers of their ids: those of their facts."""
        ...

    def below(self, floor: Freshness, numbers: Numbers, /) -> Denied:
        """Those of a corpus's nodes, by the numbers of their ids, whose class is lower than the floor; the same answer
        for the same array, which is asked about again and again."""
        ...


class OnDisk(enum.StrEnum):
    """How a result's file compares with what was indexed."""

    UNCHANGED = "unchanged"
    CHANGED = "changed"
    VANISHED = "vanished"
    UNCHECKED = "unchecked"


class NodeContent(NamedTuple):
    """A node's text, and whether the file still says so."""

    body: str  # the source lines as indexed; "" for nodes without a file
    on_disk: OnDisk


@runtime_checkable
class TextLookup(Protocol):
    """The text behind results."""

    def contents(self, nodes: Sequence[CodeNode], /, *, bodies: bool = True) -> list[NodeContent]:
        """One per node, in order; without bodies only what is on disk is looked at."""
        ...


@dataclass(frozen=True, slots=True)
class IndexState:
    """What an answer says about the index it came from."""

    commit: str = ""  # the commit indexed; "" when there is none
    pending_files: int = 0  # changed in the working tree and not indexed yet


@dataclass(frozen=True, slots=True)
class Corpus:
    """One repository at one generation: everything that a search reads, pinned together."""

    repository: str
    generation: int
    nodes: NodeLookup
    freshness: FreshnessLookup
    texts: TextLookup
    full_text: FullTextReader | None
    vectors: VectorReader | None
    graph: GraphTraversal | None
    state: IndexState = field(default_factory=IndexState)
    # Called with ids that an index knows and the graph does not; repairs the index, after the answer.
    repair: Callable[[Sequence[NodeId]], None] | None = None
