"""Freshness while answering: the follower's facts of one generation, classified by a clock and thresholds.

Classifying takes milliseconds for all nodes, so it happens here, where it can also say why. Never runs git.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from ctxsearch.daemon.freshness_facts import FORMAT, Columns
from ctxsearch.graph.columns import id_of, number_of
from ctxsearch.graph.freshness import (
    DAY,
    PENALTY,
    Classified,
    Freshness,
    FreshnessFlag,
    GraphEdges,
    NodeFacts,
    Reason,
    ReasonKind,
    Thresholds,
    classify,
    summarise,
    with_unreadable,
)
from ctxsearch.graph.model import CodeNode, NodeFlag, NodeId
from ctxsearch.graph.node_history import BEYOND, Source
from ctxsearch.graph.vanished import Vanished
from ctxsearch.search.ports import NOTHING_DENIED, Denied, FreshnessFact

if TYPE_CHECKING:
    from ctxsearch.daemon.settings import Settings

DEFAULT_THRESHOLDS = Thresholds()
Clock = Callable[[], float]  # seconds since the epoch


@dataclass(frozen=True, slots=True)
class FreshnessRules:
    """By which the stored facts become classes."""

    thresholds: Thresholds = DEFAULT_THRESHOLDS
    clock: Clock | None = None  # None: each repository's own, HEAD's committer time

    @staticmethod
    def of(settings: Settings, wall: Clock) -> FreshnessRules:
        """As the user chose; `wall` is the time of day, for those who want to count from it."""
        names = (each.name for each in fields(Thresholds))
        chosen = Thresholds(**{name: getattr(settings, f"freshness_{name}") for name in names})
        return FreshnessRules(chosen, wall if settings.freshness_clock == "wall" else None)

    def looking_closely(self) -> dict[str, int | float]:
        """The thresholds for the follower, who looks closely at what old nodes depend on.

        By the wall clock every node grows old some day: then there is no age at which not to look.
        """
        by_day = {"old_days": 0, "old_commits": 0} if self.clock is not None else {}
        return {**asdict(self.thresholds), **by_day}


DEFAULT_RULES = FreshnessRules()


@dataclass(frozen=True, slots=True)
class NodePast:
    """What is known of a node's past beyond its last commit."""

    author: str = ""  # of the last commit
    subject: str = ""  # of the last commit
    commits: int = 0  # within the horizon
    authors: int = 0  # of those
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OldHot:
    """Old code that living code relies on."""

    id: NodeId
    age_days: int
    older_than_horizon: bool
    living_references: int


NOTHING_PAST = NodePast()
UNKNOWN = FreshnessFact(Freshness.ACCEPTABLE, PENALTY[Freshness.ACCEPTABLE])
NEWER_THAN_HISTORY = FreshnessFact(Freshness.FRESH, PENALTY[Freshness.FRESH], source="worktree")
_UNKNOWN = {
    Source.NONE: "git tells nothing of it",
    Source.SHALLOW: "the clone is shallow: its last change lies before the cut",
}
# By their numbers: an enum takes longer to find a member than the rest of a look-up, and a page asks for dozens.
_CLASSES = {int(freshness): (freshness, penalty) for freshness, penalty in PENALTY.items()}
_SOURCE_NAMES = {int(source): source.name.lower() for source in Source}
_FLAGS = {FreshnessFlag.DOCUMENT_BEHIND: "document behind", FreshnessFlag.TEST_BEHIND: "test behind"}


@dataclass(frozen=True, slots=True)
class NoHistory:
    """Before history is there: nothing is known, so everything is acceptable."""

    generation: int = 0

    def fact(self, _node_id: NodeId, /) -> FreshnessFact:
        """Always the same."""
        return UNKNOWN

    def penalties(self, numbers: Sequence[int], /) -> list[float]:
        """Always the same."""
        return [UNKNOWN.penalty] * len(numbers)

    def below(self, floor: Any, numbers: NDArray[np.uint64], /) -> Denied:
        """Everything, where what is not known to be fresh is not wanted."""
        return Denied(numbers) if UNKNOWN.freshness < floor else NOTHING_DENIED

    def reasons(self, _node_id: NodeId, /) -> tuple[str, ...]:
        """Why."""
        return ("history is not read yet",)

    def past(self, _node_id: NodeId, /) -> NodePast:
        """Nothing."""
        return NOTHING_PAST

    def oldest_hot(self, _most: int, /) -> tuple[OldHot, ...]:
        """Nothing."""
        return ()

    def distrusting(self, _paths: frozenset[str], /) -> NoHistory:
        """The same: there is nothing to mark."""
        return self

    def at(self, _commit: str, /) -> NoHistory:
        """The same."""
        return self


NO_HISTORY = NoHistory()


@dataclass(frozen=True, slots=True)
class _Answers:
    """The classes on one day, and what was already asked about them."""

    classified: Classified
    day: int | None  # None: the repository's own clock, which stands still
    facts: dict[NodeId, FreshnessFact] = field(default_factory=dict)
    below: dict[int, tuple[NDArray[np.uint64], Denied]] = field(default_factory=dict)  # by floor, for these nodes


class FreshnessTable:
    """The classes of one generation's nodes.

    A node that it does not know was written since, hence is fresh, unless it has no file (a library's symbol, a
    package), no git is there to tell, or HEAD is another commit by now.
    """

    def __init__(
        self,
        columns: Columns,
        rules: FreshnessRules,
        node_of: Callable[[NodeId], CodeNode | None],
        unreadable: Sequence[int] = (),
    ) -> None:
        self.generation = int(columns["header"][1])
        self._ids: NDArray[np.uint64] = columns["ids"]
        self._rows = {number: row for row, number in enumerate(self._ids.tolist())}
        self._columns = columns
        self._rules = rules
        self._node_of = node_of
        facts = NodeFacts(**{each.name: columns[f"facts_{each.name}"] for each in fields(NodeFacts)})
        self._facts = with_unreadable(facts, unreadable)
        self._edges = GraphEdges(**{each.name: columns[f"edges_{each.name}"] for each in fields(GraphEdges)})
        self._vanished = _vanished(columns)
        self._last: NDArray[np.int32] = columns["last"]  # per node, its position among the commits; -1 unknown
        self._commits: Sequence[str] = columns["commits"].tolist()
        self._has_git = bool((self._facts.sources != Source.NONE).any())
        self._head = str(columns["head"][0])  # the commit that history was read at
        self._head_moved = False
        self._now = self._classify()  # replaced as a whole when the wall clock's day is over

    def fact(self, node_id: NodeId) -> FreshnessFact:
        """The class and the facts behind it."""
        answers = self._current()
        known = answers.facts.get(node_id)
        if known is None:
            known = answers.facts[node_id] = self._look_up(node_id, answers.classified)
        return known

    def penalties(self, numbers: Sequence[int]) -> list[float]:
        """What the class of each node costs."""
        rows = list(map(self._rows.get, numbers))
        classes = self._current().classified.classes
        return [
            _CLASSES[classes.item(row)][1] if row is not None else self._stranger(number).penalty
            for number, row in zip(numbers, rows, strict=True)
        ]

    def below(self, floor: Any, numbers: NDArray[np.uint64]) -> Denied:
        """Those of the nodes whose class is lower; remembered, for a page asks for it again and again."""
        answers = self._current()
        known = answers.below.get(int(floor))
        if known is None or known[0] is not numbers:
            lower = Denied(np.sort(self._ids[answers.classified.classes < int(floor)])).among(numbers)
            if floor > UNKNOWN.freshness:  # which is the lowest that a stranger can have
                strangers = np.flatnonzero(~Denied(np.sort(self._ids)).among(numbers))
                lower[strangers] = [self._stranger(one).freshness < floor for one in numbers[strangers].tolist()]
            known = answers.below[int(floor)] = numbers, Denied(numbers[lower])
        return known[1]

    def reasons(self, node_id: NodeId) -> tuple[str, ...]:
        """Why a node has its class, the weightiest reason first."""
        number = number_of(node_id)
        row = self._rows.get(number)
        if row is None:
            if self._stranger(number) is NEWER_THAN_HISTORY:
                return ("written since history was last read",)
            return ("HEAD moved since history was last read" if self._head_moved else "its history is not known",)
        return tuple(self._sentence(reason, row) for reason in self._current().classified.explain(row).reasons)

    def past(self, node_id: NodeId) -> NodePast:
        """What else is known of it."""
        row = self._rows.get(number_of(node_id))
        if row is None:
            return NOTHING_PAST
        last, columns = int(self._last[row]), self._columns
        flags = int(self._current().classified.flags[row])
        return NodePast(
            author=str(columns["commit_authors"][last]) if last >= 0 else "",
            subject=str(columns["commit_subjects"][last]) if last >= 0 else "",
            commits=int(columns["commit_counts"][row]),
            authors=int(columns["author_counts"][row]),
            flags=(*(word for flag, word in _FLAGS.items() if flags & flag), *self._marks(node_id)),
        )

    def _marks(self, node_id: NodeId) -> tuple[str, ...]:
        """What the source itself says of it."""
        node = self._node_of(node_id)
        return ("deprecated",) if node is not None and node.flags & NodeFlag.DEPRECATED else ()

    def oldest_hot(self, most: int) -> tuple[OldHot, ...]:
        """The oldest code that living code relies on."""
        return tuple(
            OldHot(
                id_of(int(self._ids[hot.node])),
                hot.age_days,
                bool(self._facts.positions[hot.node] == BEYOND),
                hot.living_references,
            )
            for hot in summarise(self._current().classified, most).oldest_hot
        )

    def distrusting(self, paths: frozenset[str]) -> FreshnessTable:
        """The same where these files changed and could not be indexed again; itself when nothing is different."""
        rows = [row for number, row in self._rows.items() if self._path(id_of(number)) in paths] if paths else []
        if rows == np.flatnonzero(self._facts.unreadable).tolist():
            return self
        made = FreshnessTable(self._columns, self._rules, self._node_of, rows)
        made._head_moved = self._head_moved
        return made

    def at(self, commit: str) -> FreshnessTable:
        """The same at another HEAD: a node that it does not know may then be old, and waits to be read."""
        if (commit != self._head) == self._head_moved:
            return self
        made = copy.copy(self)
        made._head_moved = not self._head_moved
        made._now = replace(self._now, facts={}, below={})
        return made

    def _path(self, node_id: NodeId) -> str:
        node = self._node_of(node_id)
        return node.path if node is not None else ""

    def _current(self) -> _Answers:
        clock, now = self._rules.clock, self._now
        if clock is not None and int(clock()) // DAY != now.day:
            self._now = now = self._classify()
        return now

    def _classify(self) -> _Answers:
        clock = self._rules.clock
        time = None if clock is None else int(clock())
        classified = classify(self._facts, self._edges, time, self._rules.thresholds)
        return _Answers(classified, None if time is None else time // DAY)

    def _look_up(self, node_id: NodeId, classified: Classified) -> FreshnessFact:
        number = number_of(node_id)
        row = self._rows.get(number)
        if row is None:
            return self._stranger(number)
        freshness, penalty = _CLASSES[classified.classes.item(row)]
        source = _SOURCE_NAMES[self._facts.sources.item(row)]
        last = self._last.item(row)
        if last < 0:
            return FreshnessFact(freshness, penalty, source=source)
        return FreshnessFact(freshness, penalty, self._commits[last], self._facts.times.item(row), source)

    def _stranger(self, number: int) -> FreshnessFact:
        node = self._node_of(id_of(number))
        is_known_to_be_new = self._has_git and not self._head_moved and (node is None or node.path)
        return NEWER_THAN_HISTORY if is_known_to_be_new else UNKNOWN

    def _name(self, row: int) -> str:
        node = self._node_of(id_of(int(self._ids[row])))
        return node.qualified_name or node.name if node is not None else "something"

    def _since(self, row: int) -> str:
        day = np.datetime64(int(self._facts.times[row]), "s").astype("datetime64[D]")
        beyond = self._facts.positions[row] == BEYOND
        return f"not touched since before {day}" if beyond else f"not touched since {day}"

    def _sentence(self, reason: Reason, row: int) -> str:
        day = np.datetime64(reason.time, "s").astype("datetime64[D]") if reason.time else "unknown day"
        who = self._name(reason.node) if reason.node is not None else "something"
        if reason.kind is ReasonKind.DEPENDENCY_VANISHED:
            return "; ".join(_vanishing(each) for each in self._vanished.get(row, ()))
        return {
            ReasonKind.UNCOMMITTED: "has uncommitted lines",
            ReasonKind.NEW: f"all of its file was written since {day}",
            ReasonKind.NOT_OLD: f"touched on {day}",
            ReasonKind.LIVING_REFERENCE: f"old, but {who} refers to it, touched on {day}",
            ReasonKind.LIVING_FOLDER: f"{self._since(row)}, but something in or beside its folder was on {day}",
            ReasonKind.ALONE: f"{self._since(row)}, but too few files lie there to say that it was given up",
            ReasonKind.UNKNOWN_HISTORY: _UNKNOWN.get(Source(int(self._facts.sources[row])), "its history is not known"),
            ReasonKind.OLD: f"{self._since(row)}, and nothing living refers to it",
            ReasonKind.QUIET: "nothing in or beside its folder was touched for long",
            ReasonKind.SIGNATURE_CHANGED: f"the signature of {who} changed on {day}",
            ReasonKind.FIXES: f"fixed {reason.count} times",
            ReasonKind.REVERT: f"its last change, on {day}, was a revert",
            ReasonKind.REVERTED: f"its last change, on {day}, was reverted",
            ReasonKind.UNREADABLE: "the file changed and could not be indexed again",
            ReasonKind.UNCHECKED: "what became of the things it depends on is not known: git cannot show old versions",
        }[reason.kind]


def load_freshness(
    file: Path, node_of: Callable[[NodeId], CodeNode | None], rules: FreshnessRules = DEFAULT_RULES
) -> FreshnessTable | None:
    """The table of a file; None when there is none or it cannot be read: the follower will write it again."""
    try:
        with np.load(file, allow_pickle=False) as stored:
            columns = {name: stored[name] for name in stored.files}
        return FreshnessTable(columns, rules, node_of) if columns["header"][0] == FORMAT else None
    except (OSError, ValueError, KeyError, IndexError, EOFError, BadZipFile):
        return None


def _vanished(columns: Columns) -> dict[int, list[Vanished]]:
    """Per node what it called that is gone."""
    found: dict[int, list[Vanished]] = {}
    names = ("rows", "names", "paths", "times", "commits")
    for row, name, path, time, commit in zip(*(columns[f"vanished_{each}"].tolist() for each in names), strict=True):
        found.setdefault(row, []).append(Vanished(row, name, path, time, commit))
    return found


def _vanishing(gone: Vanished) -> str:
    day = np.datetime64(gone.time, "s").astype("datetime64[D]")
    commit = f" ({gone.commit[:12]})" if gone.commit else ", uncommitted"
    return f"{gone.name}, which it calls, vanished from {gone.path} on {day}{commit}"
