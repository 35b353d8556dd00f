"""History, graph and a clock to a freshness class per node. Pure and vectorised: no git, no store, no time of day.

Fresh, Acceptable, Stale, StaleWithRisk, each with the penalty that ranking applies. Age alone makes nothing
stale: old code that living code calls is what people need, and a file says more than a node. Old code whose dependency
has moved on is a risk.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import compress
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ctxsearch.graph.attribution import Ints
from ctxsearch.graph.model import EdgeKind
from ctxsearch.graph.node_history import (
    BEYOND,
    WORK_TREE_POSITION,
    Bools,
    Bytes,
    CommitFlag,
    History,
    Longs,
    NodeHistories,
    Source,
)

Floats = npt.NDArray[np.float32]

DAY = 86_400
NEVER = 0  # a time that no commit has: the epoch itself


class Freshness(enum.IntEnum):
    """How far a reader may trust a node to be current; more is better. The numbers are stored."""

    STALE_WITH_RISK = 1
    STALE = 2
    ACCEPTABLE = 3
    FRESH = 4


PENALTY: Mapping[Freshness, float] = {
    Freshness.FRESH: 1.0,
    Freshness.ACCEPTABLE: 0.9,
    Freshness.STALE: 0.7,
    Freshness.STALE_WITH_RISK: 0.5,
}


class FreshnessFlag(enum.IntFlag):
    """Said beside the class; costs nothing."""

    NONE = 0
    DOCUMENT_BEHIND = 1  # a document older than the code it names
    TEST_BEHIND = 2  # a test older than what it tests


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Where the classes begin. Chosen by what they do to ranking (docs/freshness.md) and `bench/freshness_study.py`.

    At rank fusion's constant 60 a factor of 0.9 costs about seven places and 0.7 about 27, so a class that is not the
    common one must be rare and sure: Fresh lies in a new file, Stale where nobody works any more.
    """

    fresh_days: int = 1  # since the oldest line of its file was written: the file is new as a whole
    fresh_commits: int = 1  # or that many newest commits wrote all of it; 1 is HEAD alone
    old_days: int = 365  # old is past both
    old_commits: int = 500
    living_days: int = 365  # who refers to old code must have been touched within
    quiet_days: int = 700  # where nothing was touched for so long it was given up; less than the horizon
    quiet_files: int = 2  # if so many lie there: one file alone is finished as often as it is given up
    confidence: float = 0.8  # edges of less say nothing here
    risky_fixes: int = 3


REFERRING_KINDS = (EdgeKind.CALLS, EdgeKind.IMPORTS, EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS)
DEPENDING_KINDS = (*REFERRING_KINDS, EdgeKind.OVERRIDES, EdgeKind.DECORATES)


@dataclass(frozen=True, slots=True)
class NodeFacts:
    """What classification needs of each node, in columns. Nodes of several repositories may be mixed."""

    times: Longs  # of the last touch; at BEYOND the oldest time it may still have
    positions: Ints  # first-parent commits since; WORK_TREE_POSITION, BEYOND
    file_times: Longs  # of the last touch of its file; the same for `file_positions`
    file_positions: Ints
    written_times: Longs  # of the oldest line of its file; the same for `written_positions`
    written_positions: Ints
    tree_times: Longs  # of the last touch of what lies around it (`_around`); the same for `tree_positions`
    tree_positions: Ints
    tree_files: Ints  # how many files lie there whose history is known
    clocks: Longs  # the clock of each node's repository
    signature_times: Longs  # last change of the signature; NEVER when unknown or older than the horizon
    fixes: Ints
    flags: Bytes  # CommitFlag of the last commit
    sources: Bytes  # Source
    vanished_times: Longs  # when something it calls was taken away; NEVER
    unreadable: Bools  # the file on disk differs from what is indexed, and indexing it again failed
    unchecked: Bools  # an old version of a file could not be read: what became of its dependencies is not known

    def __len__(self) -> int:
        return len(self.times)

    @staticmethod
    def of(history: History, paths: Sequence[str], nodes: NodeHistories, blank: Bools | None = None) -> NodeFacts:
        """From the history of one repository's nodes; of a blank file there is none to tell."""
        count, positions = len(nodes), history.positions_of(nodes.last)
        sources = history.sources_of(paths, positions)
        if blank is not None:
            sources[blank] = Source.NONE
        near = _surroundings(paths, positions, history.positions_of(nodes.oldest), _is_known(sources))
        return NodeFacts(
            times=history.times_of(positions),
            positions=positions,
            file_times=history.times_of(near.file),
            file_positions=near.file,
            written_times=history.times_of(near.written),
            written_positions=near.written,
            tree_times=history.times_of(near.tree),
            tree_positions=near.tree,
            tree_files=near.tree_files,
            clocks=np.full(count, history.clock, np.int64),
            signature_times=_signature_times(history, history.positions_of(nodes.signature)),
            fixes=nodes.fixes,
            flags=history.commits.flags[np.maximum(nodes.last, 0)],
            sources=sources,
            vanished_times=np.full(count, NEVER, np.int64),
            unreadable=np.zeros(count, np.bool_),
            unchecked=np.zeros(count, np.bool_),
        )

    @staticmethod
    def joined(parts: Sequence[NodeFacts]) -> NodeFacts:
        """The rows of all parts, one after another."""
        names = NodeFacts.__slots__
        return NodeFacts(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


class _Surroundings(NamedTuple):
    """Per node what is known of its file, and of all files around it: commits since."""

    file: Ints  # the newest touch of the file
    written: Ints  # the oldest line of the file
    tree: Ints  # the newest touch there
    tree_files: Ints


def _surroundings(paths: Sequence[str], positions: Ints, written: Ints, known: Bools) -> _Surroundings:
    numbers: dict[str, int] = {}
    files = np.array([numbers.setdefault(path, len(numbers)) for path in paths], np.int32)
    newest, oldest = np.full(len(numbers), BEYOND, np.int32), np.full(len(numbers), WORK_TREE_POSITION, np.int32)
    np.minimum.at(newest, files[known], positions[known])
    np.maximum.at(oldest, files, written)
    told = np.zeros(len(numbers), np.bool_)
    told[files[known]] = True
    trees: dict[str, tuple[int, int]] = {}
    for path, position in zip(compress(numbers, told), newest[told].tolist(), strict=True):
        for folder in _folders_above(path):
            touched, count = trees.get(folder, (BEYOND, 0))
            trees[folder] = min(touched, position), count + 1
    around = [trees.get(_around(path), (BEYOND, 0)) for path in numbers]
    tree = np.array(around, np.int32).reshape(-1, 2)[files]
    return _Surroundings(newest[files], oldest[files], tree[:, 0], tree[:, 1])


def _around(path: str) -> str:
    """The folder that, with all beneath, decides whether a file was given up: above its own, or its own at the top.

    Many a folder of a living package is finished; one whose neighbours are untouched too was left.
    """
    folder = path.rpartition("/")[0]
    return folder.rpartition("/")[0] or folder


def _folders_above(path: str) -> Iterator[str]:
    """The folder of a file and those above it, '' last."""
    while path:
        path = path.rpartition("/")[0]
        yield path


@dataclass(frozen=True, slots=True)
class GraphEdges:
    """Edges in columns; source and target are row numbers of NodeFacts."""

    sources: Ints
    targets: Ints
    kinds: Bytes  # EdgeKind
    confidences: Floats

    @staticmethod
    def of(rows: Sequence[tuple[int, int, EdgeKind, float]]) -> GraphEdges:
        """From rows (source, target, kind, confidence)."""
        columns = tuple(zip(*rows, strict=True)) or ((), (), (), ())
        return GraphEdges(
            np.array(columns[0], np.int32),
            np.array(columns[1], np.int32),
            np.array(columns[2], np.uint8),
            np.array(columns[3], np.float32),
        )

    def among(self, kinds: Sequence[EdgeKind], confidence: float) -> tuple[Ints, Ints]:
        """Sources and targets of the edges of these kinds that are sure enough; a node's own are left out."""
        # One part in a million less: confidences are stored as 32 bits, where 0.8 is a little more than 0.8.
        kept = np.isin(self.kinds, [int(kind) for kind in kinds]) & (self.confidences >= confidence - 1e-6)
        kept &= self.sources != self.targets
        return self.sources[kept], self.targets[kept]


class ReasonKind(enum.IntEnum):
    """Why a node has its class."""

    UNCOMMITTED = 1
    NEW = 2  # all of it was written since `time`
    NOT_OLD = 3
    LIVING_REFERENCE = 4  # `node` refers to it, last touched at `time`
    UNKNOWN_HISTORY = 5
    OLD = 6
    SIGNATURE_CHANGED = 7  # of `node`, a dependency, at `time`
    DEPENDENCY_VANISHED = 8  # at `time`
    FIXES = 9  # `count` within the horizon
    REVERT = 10  # its last touch was one
    REVERTED = 11  # its last touch was taken back
    UNREADABLE = 12
    QUIET = 13  # nothing around it was touched for long
    LIVING_FOLDER = 14  # something around it was touched, last at `time`
    UNCHECKED = 15  # what became of its dependencies is not known
    ALONE = 16  # too few files lie around it to tell given up from finished


@dataclass(frozen=True, slots=True)
class Reason:
    """One fact behind a class."""

    kind: ReasonKind
    node: int | None = None
    time: int | None = None
    count: int = 0


@dataclass(frozen=True, slots=True)
class Explanation:
    """A node's class and the facts behind it."""

    freshness: Freshness
    reasons: tuple[Reason, ...]
    age_days: int
    commits_since: int | None  # None: uncommitted, unknown, or older than the horizon


@dataclass(frozen=True, slots=True)
class Classified:
    """The classes of all nodes, able to say why."""

    classes: Bytes  # Freshness
    flags: Bytes  # FreshnessFlag
    facts: NodeFacts = field(repr=False)
    edges: GraphEdges = field(repr=False)
    thresholds: Thresholds
    now: Longs = field(repr=False)  # the clock of each node
    ages: Longs = field(repr=False)  # seconds, never negative
    referenced: Bools = field(repr=False)  # by living code
    moved_on: Bools = field(repr=False)  # a dependency's signature changed after the node's last touch

    def penalties(self) -> Floats:
        """The factor that ranking applies to each node."""
        table = np.zeros(max(Freshness) + 1, np.float32)
        for freshness, penalty in PENALTY.items():
            table[freshness] = penalty
        return table[self.classes]

    def explain(self, node: int) -> Explanation:
        """Why a node has its class, the weightiest reason first."""
        facts = self.facts
        position = int(facts.positions[node])
        in_chain = 0 <= position < BEYOND and facts.sources[node] != Source.NONE
        freshness = Freshness(int(self.classes[node]))
        return Explanation(
            freshness,
            tuple(self._reasons(node, freshness)),
            int(self.ages[node]) // DAY,
            position if in_chain else None,
        )

    def _reasons(self, node: int, freshness: Freshness) -> list[Reason]:
        facts, time = self.facts, int(self.facts.times[node])
        if facts.unreadable[node]:
            return [Reason(ReasonKind.UNREADABLE)]
        if freshness is Freshness.FRESH:
            uncommitted = facts.sources[node] == Source.WORKTREE
            written = int(facts.written_times[node])
            return [Reason(ReasonKind.UNCOMMITTED) if uncommitted else Reason(ReasonKind.NEW, time=written)]
        unchecked = [Reason(ReasonKind.UNCHECKED)] if facts.unchecked[node] else []
        if freshness is Freshness.ACCEPTABLE:
            return [self._why_acceptable(node), *unchecked]
        quiet = [Reason(ReasonKind.QUIET)] if freshness is Freshness.STALE else []
        return [*self._risks(node), *quiet, Reason(ReasonKind.OLD, time=time), *unchecked]

    def _why_acceptable(self, node: int) -> Reason:
        if _unknown(self.facts)[node]:
            return Reason(ReasonKind.UNKNOWN_HISTORY)
        if not _old(self.facts, self.ages, self.thresholds)[node]:
            return Reason(ReasonKind.NOT_OLD, time=int(self.facts.times[node]))
        if not self.referenced[node]:
            if _untouched_around(self.facts, self.now, self.thresholds)[node]:
                return Reason(ReasonKind.ALONE)
            return Reason(ReasonKind.LIVING_FOLDER, time=int(self.facts.tree_times[node]))
        sources, targets = self.edges.among(REFERRING_KINDS, self.thresholds.confidence)
        living = _living(self.facts, self.ages, self.thresholds)
        referring = [int(source) for source in sources[targets == node] if living[source]]
        newest = min(referring, key=lambda source: (-int(self.facts.times[source]), source))
        return Reason(ReasonKind.LIVING_REFERENCE, newest, int(self.facts.times[newest]), len(set(referring)))

    def _risks(self, node: int) -> list[Reason]:
        facts, found = self.facts, []
        if self.moved_on[node]:
            sources, targets = self.edges.among(DEPENDING_KINDS, self.thresholds.confidence)
            changed = _after(facts, sources, targets)
            for target in sorted(set(targets[changed & (sources == node)].tolist())):
                time = int(facts.signature_times[target])
                found.append(Reason(ReasonKind.SIGNATURE_CHANGED, target, time))
        if facts.vanished_times[node] > facts.times[node]:
            found.append(Reason(ReasonKind.DEPENDENCY_VANISHED, time=int(facts.vanished_times[node])))
        if facts.fixes[node] >= self.thresholds.risky_fixes:
            found.append(Reason(ReasonKind.FIXES, count=int(facts.fixes[node])))
        if facts.flags[node] & CommitFlag.REVERT:
            found.append(Reason(ReasonKind.REVERT, time=int(facts.times[node])))
        if facts.flags[node] & CommitFlag.REVERTED:
            found.append(Reason(ReasonKind.REVERTED, time=int(facts.times[node])))
        return found


def classify(
    facts: NodeFacts,
    edges: GraphEdges,
    clock: int | None = None,
    thresholds: Thresholds | None = None,
) -> Classified:
    """The class of every node. `clock` None is each repository's own: its HEAD's committer time."""
    limits = thresholds or Thresholds()
    now = facts.clocks if clock is None else np.full(len(facts), clock, np.int64)
    ages = np.maximum(now - facts.times, 0)
    referenced = _referenced(facts, edges, ages, limits)
    moved_on = _moved_on(facts, edges, limits)
    fresh = (facts.sources == Source.WORKTREE) | _new(facts, now, limits)
    left = _old(facts, ages, limits) & ~referenced & ~fresh
    stale = left & _in_quiet_folder(facts, now, limits)
    broken = moved_on | (facts.vanished_times > facts.times)
    broken |= facts.flags & int(CommitFlag.REVERT | CommitFlag.REVERTED) > 0
    forgotten = stale | left & _forgotten(facts, now, limits)
    risky = forgotten & broken | stale & (facts.fixes >= limits.risky_fixes)
    classes = np.full(len(facts), Freshness.ACCEPTABLE, np.uint8)
    classes[fresh] = Freshness.FRESH
    classes[stale] = Freshness.STALE
    classes[risky] = Freshness.STALE_WITH_RISK
    classes[_unknown(facts)] = Freshness.ACCEPTABLE
    classes[facts.unreadable] = Freshness.STALE_WITH_RISK
    flags = _behind(facts, edges, limits)
    return Classified(classes, flags, facts, edges, limits, now, ages, referenced, moved_on)


def suspects(facts: NodeFacts, edges: GraphEdges, thresholds: Thresholds | None = None) -> Ints:
    """The nodes whose signature's time decides whether an old node is at risk: worth looking at closely."""
    limits = thresholds or Thresholds()
    sources, targets = edges.among(DEPENDING_KINDS, limits.confidence)
    old = _old(facts, np.maximum(facts.clocks - facts.times, 0), limits) & _forgotten(facts, facts.clocks, limits)
    found: Ints = np.unique(targets[_after(facts, sources, targets) & old[sources]])
    return found


def with_signatures(facts: NodeFacts, history: History, nodes: Ints, numbers: Ints) -> NodeFacts:
    """The facts with other last changes of some nodes' signatures: those that closer looks have found."""
    times = facts.signature_times.copy()
    times[nodes] = _signature_times(history, history.positions_of(numbers))
    return replace(facts, signature_times=times)


def with_unchecked(facts: NodeFacts, rows: Iterable[int]) -> NodeFacts:
    """The facts with nodes whose dependencies' past cannot be read."""
    unchecked = facts.unchecked.copy()
    unchecked[list(rows)] = True
    return replace(facts, unchecked=unchecked)


def depending_on(edges: GraphEdges, targets: Iterable[int], among: Ints, limits: Thresholds) -> Ints:
    """Those of the nodes `among` that depend on one of the targets."""
    sources, found = edges.among(DEPENDING_KINDS, limits.confidence)
    depending: Ints = np.intersect1d(sources[np.isin(found, list(targets))], among)
    return depending


def with_vanished(facts: NodeFacts, gone: Iterable[tuple[int, int]]) -> NodeFacts:
    """The facts with when something that a node calls was taken away: rows (node, time)."""
    times = facts.vanished_times.copy()
    for node, time in gone:
        times[node] = max(times[node], time)
    return replace(facts, vanished_times=times)


def with_unreadable(facts: NodeFacts, rows: Sequence[int]) -> NodeFacts:
    """The facts with nodes whose file changed and could not be indexed again."""
    unreadable = facts.unreadable.copy()
    unreadable[list(rows)] = True
    return replace(facts, unreadable=unreadable)


def left_alone(facts: NodeFacts, edges: GraphEdges, thresholds: Thresholds | None = None) -> Ints:
    """The nodes that are old, in a quiet file, and that nothing living refers to: a risk would make a difference."""
    limits = thresholds or Thresholds()
    ages = np.maximum(facts.clocks - facts.times, 0)
    alone = _old(facts, ages, limits) & ~_referenced(facts, edges, ages, limits)
    alone &= _forgotten(facts, facts.clocks, limits)
    return np.flatnonzero(alone).astype(np.int32)


def _signature_times(history: History, positions: Ints) -> Longs:
    known = (positions >= 0) & (positions < BEYOND)
    times: Longs = np.where(known, history.times_of(positions), NEVER)
    # An uncommitted signature is newer than any commit, HEAD's included.
    times[positions == WORK_TREE_POSITION] = history.clock + 1
    return times


def _new(facts: NodeFacts, now: Longs, limits: Thresholds) -> Bools:
    """Whether all lines of a node's file are recent: neither a touched line nor a new function makes it new."""
    recent = (
        now - facts.written_times <= limits.fresh_days * DAY if limits.fresh_days else np.zeros(len(facts), np.bool_)
    )
    new: Bools = (recent | (facts.written_positions < limits.fresh_commits)) & (facts.written_positions < BEYOND)
    return new & ~_unknown(facts)


def _unknown(facts: NodeFacts) -> Bools:
    return ~_is_known(facts.sources)


def _is_known(sources: Bytes) -> Bools:
    known: Bools = (sources != Source.NONE) & (sources != Source.SHALLOW)
    return known


def _old(facts: NodeFacts, ages: Longs, limits: Thresholds) -> Bools:
    old = (ages > limits.old_days * DAY) & (facts.positions > limits.old_commits)
    beyond = facts.positions == BEYOND  # older than the horizon, which is further than any threshold
    past: Bools = (old | beyond) & ~_unknown(facts)
    return past


def _in_quiet_folder(facts: NodeFacts, now: Longs, limits: Thresholds) -> Bools:
    """Whether nobody works around a node any more: it was given up, not finished."""
    quiet: Bools = _untouched_around(facts, now, limits) & (facts.tree_files >= limits.quiet_files)
    return quiet


def _untouched_around(facts: NodeFacts, now: Longs, limits: Thresholds) -> Bools:
    return _quiet(now - facts.tree_times, facts.tree_positions, limits)


def _forgotten(facts: NodeFacts, now: Longs, limits: Thresholds) -> Bools:
    """Whether nothing in a node's file was touched for long. Who works in a file sees what no longer fits in it."""
    return _quiet(now - facts.file_times, facts.file_positions, limits)


def _quiet(ages: Longs, positions: Ints, limits: Thresholds) -> Bools:
    # In commits too: where few are made, nothing was touched for long and nothing was given up.
    quiet: Bools = (ages >= limits.quiet_days * DAY) & (positions > limits.old_commits) | (positions == BEYOND)
    return quiet


def _living(facts: NodeFacts, ages: Longs, limits: Thresholds) -> Bools:
    touched = (ages <= limits.living_days * DAY) & (facts.positions < BEYOND) & ~_unknown(facts)
    living: Bools = touched | (facts.sources == Source.WORKTREE)
    return living


def _referenced(facts: NodeFacts, edges: GraphEdges, ages: Longs, limits: Thresholds) -> Bools:
    sources, targets = edges.among(REFERRING_KINDS, limits.confidence)
    referenced = np.zeros(len(facts), np.bool_)
    referenced[targets[_living(facts, ages, limits)[sources]]] = True
    return referenced


def _moved_on(facts: NodeFacts, edges: GraphEdges, limits: Thresholds) -> Bools:
    sources, targets = edges.among(DEPENDING_KINDS, limits.confidence)
    moved = np.zeros(len(facts), np.bool_)
    moved[sources[_after(facts, sources, targets)]] = True
    return moved


def _after(facts: NodeFacts, sources: Ints, targets: Ints) -> Bools:
    """Whether the target's signature changed after the source was last touched."""
    changed: Bools = facts.signature_times[targets] > np.where(
        facts.positions[sources] == BEYOND, NEVER, facts.times[sources]
    )
    return changed & ~_unknown(facts)[sources]


def _behind(facts: NodeFacts, edges: GraphEdges, limits: Thresholds) -> Bytes:
    flags = np.zeros(len(facts), np.uint8)
    for kind, flag in (
        (EdgeKind.DOCUMENTS, FreshnessFlag.DOCUMENT_BEHIND),
        (EdgeKind.TESTS, FreshnessFlag.TEST_BEHIND),
    ):
        sources, targets = edges.among((kind,), limits.confidence)
        behind = (facts.times[targets] > facts.times[sources]) & ~_unknown(facts)[sources]
        flags[sources[behind & (facts.positions[targets] < BEYOND)]] |= int(flag)
    return flags


# the summary of a repository


@dataclass(frozen=True, slots=True)
class HotOldNode:
    """Old code that much living code relies on."""

    node: int
    age_days: int
    living_references: int


@dataclass(frozen=True, slots=True)
class Summary:
    """A repository's nodes by class, and its oldest hot code."""

    counts: Mapping[Freshness, int]
    total: int
    oldest_hot: tuple[HotOldNode, ...]

    def share(self, freshness: Freshness) -> float:
        """The part of all nodes in a class, 0..1."""
        return self.counts[freshness] / self.total if self.total else 0.0


HOT_REFERENCES = 3  # from living code: fewer is ordinary


def summarise(classified: Classified, most: int = 10, chosen: Bools | None = None) -> Summary:
    """Counts per class, and the oldest nodes among those with many living references."""
    facts, ages, limits = classified.facts, classified.ages, classified.thresholds
    mask = np.ones(len(facts), np.bool_) if chosen is None else chosen
    counts = np.bincount(classified.classes[mask], minlength=max(Freshness) + 1)
    sources, targets = classified.edges.among(REFERRING_KINDS, limits.confidence)
    pairs = np.unique(np.column_stack((targets, sources))[_living(facts, ages, limits)[sources]], axis=0)
    references = np.bincount(pairs[:, 0], minlength=len(facts))
    hot = np.flatnonzero(mask & _old(facts, ages, limits) & (references >= HOT_REFERENCES))
    order = np.lexsort((hot, -references[hot], -ages[hot]))
    oldest = tuple(HotOldNode(int(node), int(ages[node]) // DAY, int(references[node])) for node in hot[order[:most]])
    return Summary({kind: int(counts[kind]) for kind in Freshness}, int(mask.sum()), oldest)


LABELS: Mapping[Freshness, str] = {
    Freshness.FRESH: "fresh",
    Freshness.ACCEPTABLE: "acceptable",
    Freshness.STALE: "stale",
    Freshness.STALE_WITH_RISK: "stale with risk",
}
