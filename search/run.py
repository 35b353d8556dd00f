"""One request under way: what it has gathered so far, and what came of asking each signal. Decides no order.

Nodes are numbers while a request runs: ranking asks the same of hundreds of them, and shows twenty.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Concatenate, Final, Generic, NamedTuple, ParamSpec, TypeVar, cast

import numpy as np

from ctxsearch.graph.columns import NO_FILE, Numbers, Rows
from ctxsearch.graph.graph import Hit as Walked
from ctxsearch.graph.model import CodeNode, NodeId
from ctxsearch.search.identifiers import identifiers, split_identifier
from ctxsearch.search.ports import Corpus, Floats, Hit, Hits, Scores, Selection, node_ids
from ctxsearch.search.query import SearchQuery, Signal
from ctxsearch.search.ranking import Fusion, Placed, RankedList
from ctxsearch.search.results import NO_STEPS, SignalReport
from ctxsearch.search.spelled import spelled_symbol
from ctxsearch.search.steps import EXACT_SCORE

# How many nodes of a signal the ranking steps see, however few are asked for: they lift some far up, the farther the
# more there are (docs/relevance.md).
_MOST_SEEN: Final = 250
_NODES_FOR_EACH: Final = 80  # that is seen

# A node that a signal found, as one number of a request: its row among the nodes of its corpus, after all rows of the
# corpora before it. So what is alike in every request is looked up by number, and an id is spelled only if it is shown.
Key = int


class Found(NamedTuple):
    """One signal's list."""

    keys: list[Key]
    scores: list[float]
    files: list[int]  # as a number of the request; negative where a node stands in none
    unknown: Sequence[tuple[int, NodeId]] = ()  # what an index knows and the graph of its corpus does not
    truncated: bool = False  # see SignalReport


class IndexHits(NamedTuple):
    """What an index of one corpus answered."""

    numbers: Numbers  # of the nodes' ids
    rows: Rows  # where they are among the nodes; -1 where the graph does not know them
    scores: Scores


class Member(NamedTuple):
    """A corpus of a request."""

    corpus: Corpus
    selection: Selection
    first_key: Key
    first_file: int

    def hits(self, found: Sequence[Hit]) -> IndexHits:
        """An answer of an index, with the rows of what it found."""
        hits = Hits.of(found)
        rows = hits.rows if hits.rows is not None else self.corpus.nodes.columns.rows(hits.numbers)
        return IndexHits(hits.numbers, rows, hits.scores)

    def placed(self, rows: Rows) -> tuple[Rows, Rows]:
        """Nodes as keys, and their files."""
        files = self.corpus.nodes.columns.files[rows].astype(np.int64)
        files[files != NO_FILE] += self.first_file
        return rows + self.first_key, files


@dataclass(slots=True)
class Run:
    """What one request has gathered so far. Lives for one call; only its own thread writes it, but for `vectors`."""

    query: SearchQuery
    members: tuple[Member, ...]
    weights: Mapping[Signal, float]  # of the signals that this request runs
    nodes: dict[Key, CodeNode] = field(default_factory=dict)  # of those that were asked for
    vectors: dict[str, Floats] = field(default_factory=dict)  # of what was embedded; the semantic signal's own
    lists: dict[Signal, RankedList[Key]] = field(default_factory=dict)
    files: dict[Signal, list[int]] = field(default_factory=dict)  # of the nodes of each list, see `Found`
    by_text: Fusion[Key] | None = None  # all lists but the graph's, which starts from the best of them
    reports: dict[Signal, SignalReport] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    reached: dict[Key, Walked] = field(default_factory=dict)  # what expansion came to
    seeds: tuple[NodeId, ...] = ()
    # Candidates that scope or floor refused, by the first key of their corpus: two may have the same id.
    out_of_scope: set[tuple[Key, NodeId]] = field(default_factory=set)
    below_floor: set[tuple[Key, NodeId]] = field(default_factory=set)
    dropped_by_score: int = 0
    steps: dict[str, tuple[Mapping[Key, float], Mapping[Key, float]]] = field(default_factory=dict)  # see `changed`
    unknown: dict[tuple[int, NodeId], None] = field(default_factory=dict)  # number of the corpus, id; each once
    milliseconds: dict[str, float] = field(default_factory=dict)  # of the stages so far
    looked: float = field(default_factory=time.perf_counter)  # at the clock, last

    def done(self, stage: str) -> None:
        """Note how long a stage took."""
        now = time.perf_counter()
        self.milliseconds[stage] = (now - self.looked) * 1e3
        self.looked = now

    def changed(self, step: str, before: Fusion[Key], after: Fusion[Key]) -> Fusion[Key]:
        """What a ranking step made of the fused scores; kept where it is to be explained."""
        if self.query.explain and after is not before:
            self.steps[step] = before.scores, after.scores
        return after

    def added_by_steps(self, key: Key) -> Mapping[str, float]:
        """What each ranking step added to a node's score; nothing where it is not to be explained."""
        if not self.steps:
            return NO_STEPS
        added = {
            step: after.get(key, 0.0) - before.get(key, 0.0) for step, (before, after) in sorted(self.steps.items())
        }
        return {step: value for step, value in added.items() if value}

    def files_by_key(self) -> dict[Key, int | None]:
        """The file of every node that was found; None: it stands in none."""
        found: dict[Key, int] = {}
        for signal, files in self.files.items():
            found.update(zip(self.lists[signal].keys, files, strict=True))
        return {key: file if file >= 0 else None for key, file in found.items()}

    @property
    def found_words(self) -> bool:
        """Whether full text found anything, or was not asked."""
        ranked = self.lists.get(Signal.BM25)
        return ranked is None or len(ranked.keys) > 0

    @property
    def misses_symbol(self) -> bool:
        """Whether the query spells a symbol of several words that full text did not find: it may be mistyped."""
        ranked = self.lists.get(Signal.BM25)
        if ranked is None or max(ranked.raws, default=0.0) >= EXACT_SCORE:
            return False
        symbol = spelled_symbol(self.query.text)
        return any(len(split_identifier(one)) > 1 for one in identifiers(symbol))

    @property
    def size(self) -> int:
        """How many nodes are searched."""
        last = self.members[-1:]
        return sum(one.first_key + len(one.corpus.nodes.columns.numbers) for one in last)

    @property
    def depth(self) -> int:
        """How many nodes of a signal the ranking steps see."""
        return max(self.query.pool, min(_MOST_SEEN, self.size // _NODES_FOR_EACH))

    def member(self, key: Key) -> Member:
        """The corpus that a node belongs to."""
        members = self.members
        return members[0] if len(members) == 1 else next(one for one in reversed(members) if one.first_key <= key)

    def node_id(self, key: Key) -> NodeId:
        """The node's id."""
        member = self.member(key)
        return member.corpus.nodes.columns.node_id(key - member.first_key)

    def node(self, key: Key) -> CodeNode:
        """The node itself."""
        node = self.nodes.get(key)
        if node is None:
            node = self.member(key).corpus.nodes.node(self.node_id(key))
            assert node is not None, "columns and nodes are of one generation"
            self.nodes[key] = node
        return node

    def nodes_of(self, keys: Sequence[Key]) -> list[CodeNode]:
        """The nodes themselves."""
        if len(self.members) != 1:
            return list(map(self.node, keys))
        lookup = self.members[0].corpus.nodes
        nodes = list(map(lookup.node, node_ids(lookup.columns.numbers[keys].tolist())))
        assert None not in nodes, "columns and nodes are of one generation"
        return cast("list[CodeNode]", nodes)

    def penalties(self, keys: Sequence[Key]) -> list[float]:
        """What the age of each node costs."""
        if len(self.members) == 1:
            return _penalties(self.members[0], keys)
        found: dict[Key, float] = {}
        for member in self.members:
            own = [key for key in keys if self.member(key) is member]
            found.update(zip(own, _penalties(member, own), strict=True))
        return [found[key] for key in keys]

    def place(self, key: Key) -> Placed:
        """What decides between equals."""
        node = self.node(key)
        return node.path, node.start_line, node.id


def _penalties(member: Member, keys: Sequence[Key]) -> list[float]:
    rows = [key - member.first_key for key in keys] if member.first_key else keys
    return member.corpus.freshness.penalties(member.corpus.nodes.columns.numbers[rows].tolist())


_Given = ParamSpec("_Given")
_Value = TypeVar("_Value")
_Next = TypeVar("_Next")


class Outcome(NamedTuple, Generic[_Value]):
    """What came of asking one signal."""

    value: _Value | None
    error: Exception | None
    milliseconds: float

    def then(
        self, go_on: Callable[Concatenate[_Value, _Given], _Next], *args: _Given.args, **more: _Given.kwargs
    ) -> Outcome[_Next]:
        """What comes of going on with the value, if there is one."""
        if self.value is None:
            return Outcome(None, self.error, self.milliseconds)
        after = attempt(go_on, self.value, *args, **more)
        return after._replace(milliseconds=self.milliseconds + after.milliseconds)


def attempt(ask: Callable[_Given, _Value], *args: _Given.args, **more: _Given.kwargs) -> Outcome[_Value]:
    """Ask one signal; its failure is an answer too, and reported."""
    started = time.perf_counter()
    value, error = None, None
    try:
        value = ask(*args, **more)
    except Exception as caught:
        error = caught
    return Outcome(value, error, (time.perf_counter() - started) * 1e3)
