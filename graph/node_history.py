"""What git knows about each node: the lines of files, read for ranges of lines. Pure; made by `history`.

Commits are numbers here (`HistoryStore.commit` names them): they stay the same from one HEAD to the next,
so that a node's facts need computing again only when its file's lines changed.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ctxsearch.graph.attribution import NOTHING_KNOWN, UNATTRIBUTED, FileLines, Ints
from ctxsearch.graph.patches import EVERYTHING, Selection

Longs = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]

WORK_TREE = 0  # the number of the pseudo-commit newer than HEAD; real ones start at 1
WORK_TREE_POSITION = -1
BEYOND = 1 << 30  # the position of whatever is older than the horizon


class Source(enum.IntEnum):
    """Where the answer about a node comes from."""

    NONE = 0  # no git: nothing is known
    SHALLOW = 1  # history was cut off before it got to this node
    GIT = 2
    WORKTREE = 3  # uncommitted or untracked lines


class CommitFlag(enum.IntFlag):
    """What is known of a commit beyond its text. The numbers are stored: append, never renumber."""

    NONE = 0
    FIX = 1
    REVERT = 2
    BULK = 4  # reshapes many files a little: attribution passes through it
    REVERTED = 8  # a later commit of the chain took it back


@dataclass(frozen=True, slots=True)
class NodeRanges:
    """Line ranges of nodes, in columns; 1-based inclusive. A signature's range is 0, 0 where there is none."""

    paths: tuple[str, ...]
    starts: Ints
    ends: Ints
    signature_starts: Ints
    signature_ends: Ints

    @staticmethod
    def of(rows: Iterable[tuple[str, int, int, int, int]]) -> NodeRanges:
        """From rows (path, start, end, signature start, signature end)."""
        columns = tuple(zip(*rows, strict=True)) or ((), (), (), (), ())
        starts, ends, first, last = (np.array(column, np.int32) for column in columns[1:])
        return NodeRanges(columns[0], starts, ends, first, last)

    def __len__(self) -> int:
        return len(self.paths)

    def by_path(self) -> dict[str, Ints]:
        """The indices of each path's nodes."""
        found: dict[str, list[int]] = {}
        for index, path in enumerate(self.paths):
            found.setdefault(path, []).append(index)
        return {path: np.array(indices, np.int32) for path, indices in found.items()}


@dataclass(frozen=True, slots=True)
class NodeHistories:
    """One row per node, in columns. Counts are of commits within the horizon; the work tree is not one."""

    last: Ints  # number of the newest commit that wrote a line of it; WORK_TREE; UNATTRIBUTED
    oldest: Ints  # the oldest commit that one of its lines comes from: since then it is as a whole what it is
    signature: Ints  # as `last`, for the lines of its signature; UNATTRIBUTED where it has none
    commits: Ints
    authors: Ints
    fixes: Ints

    @staticmethod
    def empty(count: int) -> NodeHistories:
        """Columns of that many nodes about which nothing is known."""
        unknown, none = np.full(count, UNATTRIBUTED, np.int32), np.zeros(count, np.int32)
        return NodeHistories(unknown, unknown.copy(), unknown.copy(), none, none.copy(), none.copy())

    def __len__(self) -> int:
        return len(self.last)


@dataclass(frozen=True, slots=True)
class NodeHistory:
    """The facts of one node, as a user sees them."""

    source: Source
    commit: str | None  # of the last touch; None when uncommitted, unknown, or older than the horizon
    time: int | None  # seconds since 1970; never later than HEAD's
    author: str | None
    subject: str | None
    position: int | None  # first-parent commits since; 0 is HEAD
    commits: int
    authors: int
    fixes: int
    uncommitted: bool
    older_than_horizon: bool
    signature_commit: str | None
    signature_time: int | None


@dataclass(frozen=True, slots=True)
class CommitColumns:
    """Facts of all known commits, indexed by commit number; row 0 is the work tree's."""

    times: Longs  # committer's, not clamped
    authors: Ints  # numbers, equal for equal e-mail addresses
    flags: Bytes  # CommitFlag


@dataclass(frozen=True, slots=True)
class History:
    """The history of one work tree at one HEAD. A value: it does not change when the repository does."""

    source: Source  # of nodes that are not in the work tree's own lines
    head: str | None
    chain: Ints  # commit numbers within the horizon, newest first
    times: Longs  # per position of the chain; never later than the commit before it
    commits: CommitColumns
    files: Mapping[str, FileLines] = field(repr=False)  # files without an entry have the default
    default: FileLines = NOTHING_KNOWN
    foreign: tuple[str, ...] = ()  # folders that are repositories of their own, ending in '/'
    selection: Selection = EVERYTHING  # files that are not selected have no history here
    folder: str = ""  # where paths begin in the work tree, ending in '/'; '' is its root
    version: int = -1  # of the stored lines that this was read from
    _positions: Ints = field(default_factory=lambda: np.empty(0, np.int32), repr=False)

    @property
    def clock(self) -> int:
        """HEAD's committer time; 0 without commits."""
        return int(self.times[0]) if len(self.times) else 0

    def positions_of(self, numbers: Ints) -> Ints:
        """Commit numbers to first-parent commits since: 0 is HEAD, WORK_TREE_POSITION, BEYOND."""
        return self._positions[numbers]  # UNATTRIBUTED is -1: the last entry

    def times_of(self, positions: Ints) -> Longs:
        """Clamped times; the work tree's is the clock, and BEYOND's the oldest time within the horizon."""
        if not len(self.times):
            return np.zeros(len(positions), np.int64)
        return self.times[np.clip(positions, 0, len(self.times) - 1)]

    def sources_of(self, paths: Iterable[str], positions: Ints) -> Bytes:
        """Where each node's answer comes from."""
        beyond = Source.SHALLOW if self.source is Source.SHALLOW else Source.GIT
        sources = np.where(positions == BEYOND, beyond, Source.GIT).astype(np.uint8)
        sources[positions == WORK_TREE_POSITION] = Source.WORKTREE
        if self.source is Source.NONE:
            sources[:] = Source.NONE
        elif self.foreign or self.selection != EVERYTHING:
            sources[[not self._covers(path) for path in paths]] = Source.NONE
        return sources

    def beneath(self, folder: str) -> History:
        """The history of a folder's files, by their paths inside it; '' is the whole work tree."""
        if not folder:
            return self
        prefix = folder.rstrip("/") + "/"
        files = {path.removeprefix(prefix): file for path, file in self.files.items() if path.startswith(prefix)}
        foreign = tuple(path.removeprefix(prefix) for path in self.foreign if path.startswith(prefix))
        return replace(self, files=files, foreign=foreign, folder=self.folder + prefix)

    def _covers(self, path: str) -> bool:
        return self.selection.holds(path) and not path.startswith(self.foreign)

    def nodes(self, ranges: NodeRanges) -> NodeHistories:
        """The history of every node, by its lines."""
        result = NodeHistories.empty(len(ranges))
        for path, indices in ranges.by_path().items():
            lines = self.files.get(path, self.default)
            if lines is not NOTHING_KNOWN:
                self._read_file(lines, ranges, indices, result)
        return result

    def _read_file(self, lines: FileLines, ranges: NodeRanges, indices: Ints, result: NodeHistories) -> None:
        starts, ends = ranges.starts[indices], ranges.ends[indices]
        owners = lines.owners_of(max(int(ends.max()), 1))
        positions = self._positions[owners]
        result.last[indices] = self._newest(positions, starts, ends)
        result.oldest[indices] = self._oldest(positions, starts, ends)
        first, last = ranges.signature_starts[indices], ranges.signature_ends[indices]
        signed = first > 0
        if signed.any():
            result.signature[indices[signed]] = self._newest(positions, first[signed], last[signed])
        if len(lines.touches):
            self._count_touches(lines.touches, starts, ends, indices, result)

    def _newest(self, positions: Ints, starts: Ints, ends: Ints) -> Ints:
        """The number of the newest commit in each range of lines."""
        padded = np.append(positions, np.int32(BEYOND))  # reduceat wants every edge inside
        newest: Ints = np.minimum.reduceat(padded, _edges(starts, ends))[0::2]
        return self._numbers(newest)

    def _oldest(self, positions: Ints, starts: Ints, ends: Ints) -> Ints:
        """The number of the oldest commit in each range of lines."""
        padded = np.append(positions, np.int32(WORK_TREE_POSITION))
        oldest: Ints = np.maximum.reduceat(padded, _edges(starts, ends))[0::2]
        return self._numbers(oldest)

    def _numbers(self, positions: Ints) -> Ints:
        numbers = np.full(len(positions), UNATTRIBUTED, np.int32)
        known = (positions >= 0) & (positions < len(self.chain))
        numbers[known] = self.chain[positions[known]]
        numbers[positions == WORK_TREE_POSITION] = WORK_TREE
        return numbers

    def _count_touches(self, touches: Ints, starts: Ints, ends: Ints, indices: Ints, result: NodeHistories) -> None:
        positions = self._positions[touches[:, 0]]
        visible = touches[(positions >= 0) & (positions < BEYOND)]
        if not len(visible):
            return
        hit = (visible[:, 1, None] <= ends) & (visible[:, 2, None] >= starts)
        numbers, by_commit = _merged(visible[:, 0], hit)  # one commit's touches are neighbours
        result.commits[indices] = by_commit.sum(0)
        result.fixes[indices] = by_commit[self.commits.flags[numbers] & CommitFlag.FIX > 0].sum(0)
        authors = self.commits.authors[numbers]
        order = np.argsort(authors, kind="stable")
        result.authors[indices] = _merged(authors[order], by_commit[order])[1].sum(0)


def positions_by_number(chain: Ints, commit_count: int) -> Ints:
    """Position of every commit number, BEYOND for those not in the chain, and for the last entry."""
    positions = np.full(commit_count + 2, BEYOND, np.int32)
    positions[WORK_TREE] = WORK_TREE_POSITION
    positions[chain] = np.arange(len(chain), dtype=np.int32)
    return positions


def _edges(starts: Ints, ends: Ints) -> npt.NDArray[np.intp]:
    """Ranges of lines as `reduceat` wants them: every other result is between two ranges."""
    edges = np.empty(2 * len(starts), np.intp)
    edges[0::2], edges[1::2] = starts - 1, ends
    return edges


def _merged(keys: Ints, rows: Bools) -> tuple[Ints, Bools]:
    """Rows with equal neighbouring keys, or-ed together."""
    begins = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1])))
    if len(begins) == len(keys):
        return keys, rows
    return keys[begins], np.logical_or.reduceat(rows, begins, axis=0)
