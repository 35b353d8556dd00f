"""Which commit last wrote each line of a file, and which commits touched which lines: by replaying patches.

Patches come newest first. Every file keeps a map from the lines of the version being read to the lines of
the newest version, so that each hunk says what it wrote (lines that are still there) and where it touched
(lines that are not). The map and the answers know nothing of nodes, parsers or languages. Pure: no git here.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ctxsearch.graph.patches import Change, Patch

Ints = npt.NDArray[np.int32]

UNATTRIBUTED = -1  # written before the oldest patch that was replayed

_FEW_LINES = 48  # a loop is faster than numpy up to about here
_VIRTUAL = 1 << 28  # slots from here on stand for lines of an older version; see `_FileMap.pass_through`


@dataclass(frozen=True, slots=True)
class FileLines:
    """The history of one file's lines. Commits are numbers of the caller's choosing."""

    owners: Ints  # per line, from line 1, the commit that wrote it
    touches: Ints  # rows (commit, first line, last line), newest first; line 0 is before the first line
    rest: int = UNATTRIBUTED  # the owner of all lines past the end of `owners`

    def owners_of(self, line_count: int) -> Ints:
        """The owner of every line of a file with that many lines."""
        known = self.owners[:line_count]
        padding = np.full(line_count - len(known), self.rest, np.int32)
        return np.concatenate((known, padding))


NO_LINES: Ints = np.empty(0, np.int32)
NO_TOUCHES: Ints = np.empty((0, 3), np.int32)
NOTHING_KNOWN = FileLines(NO_LINES, NO_TOUCHES)


class _FileMap:
    """One file while its patches are replayed.

    `positions` maps lines of the version being read to slots: 2 * slot for a line that still exists in the
    newest version, 2 * slot + 1 for one that is gone and whose place is now that slot. A slot is a line number
    of the newest version, or a virtual one. Both arrays reach only as far as patches did; further lines are
    unchanged, and `next_line` is the newest version's number of the first of them. An int32 array that is cut
    in place, since most hunks are a line or two: building arrays anew costs more than the hunk.
    """

    __slots__ = ("_anchors", "_members", "_virtual_owners", "next_line", "owners", "positions", "touches")

    def __init__(self) -> None:
        self.positions = array("i")
        self.owners = array("i", [UNATTRIBUTED])  # index 0 is no line
        self.next_line = 1
        self.touches = array("i")
        self._anchors: list[int] = []  # per virtual slot: the line it is shown at
        self._members: list[list[int]] = []  # per virtual slot: the slots that share its owner
        self._virtual_owners = array("i")

    def apply(self, commit: int, hunks: Sequence[int]) -> None:
        """Go back over one patch, from its last hunk to its first: earlier line numbers stay valid."""
        self._reach(hunks)
        positions = self.positions
        for at in range(len(hunks) - 4, -1, -4):
            old_count, new_start, new_count = hunks[at + 1], hunks[at + 2], hunks[at + 3]
            if new_count == 0:
                place = positions[new_start - 1] | 1 if new_start else 1
                self._touch(commit, place, place)
                positions[new_start:new_start] = array("i", [place]) * old_count
                continue
            begin, end = new_start - 1, new_start - 1 + new_count
            written = positions[begin:end]
            self._claim(written, commit)
            self._touch(commit, written[0], written[-1])
            positions[begin:end] = _replaced(written, old_count)

    def pass_through(self, commit: int, hunks: Sequence[int]) -> None:
        """Like `apply` for a commit that only reshaped lines: they keep the owner they had before it.

        Lines that it purely adds are its own. Where it turned m lines into n, each new line shares the owner of
        the old line at the same height, by a virtual slot for that old line.
        """
        self._reach(hunks)
        for at in range(len(hunks) - 4, -1, -4):
            old_count, new_start, new_count = hunks[at + 1], hunks[at + 2], hunks[at + 3]
            begin, end = new_start - 1, new_start - 1 + new_count
            if old_count == 0 or new_count == 0:
                self.apply(commit, hunks[at : at + 4])
            elif old_count != new_count:
                self.positions[begin:end] = self._reshaped(self.positions[begin:end], old_count)

    def finish(self) -> FileLines:
        """What was found. The map is used up."""
        for virtual in range(len(self._members) - 1, -1, -1):  # later slots are older: they decide
            for slot in self._members[virtual]:
                self._own(slot, self._virtual_owners[virtual])
        owners = np.array(self.owners, np.int32)[1:]
        return FileLines(owners, np.array(self.touches, np.int32).reshape(-1, 3))

    def _reach(self, hunks: Sequence[int]) -> None:
        last = hunks[-2] + max(hunks[-1] - 1, 0)
        missing = last - len(self.positions)
        if missing > 0:
            first, self.next_line = self.next_line, self.next_line + missing
            self.positions.extend(range(2 * first, 2 * self.next_line, 2))
            self.owners.extend([UNATTRIBUTED] * missing)

    def _claim(self, written: array[int], commit: int) -> None:
        if self._anchors:
            for position in written:
                if not position & 1:
                    self._own(position >> 1, commit)
        elif len(written) <= _FEW_LINES:
            owners = self.owners
            for position in written:
                if not position & 1:
                    owners[position >> 1] = commit
        else:
            slots = np.frombuffer(written, np.int32)
            np.frombuffer(self.owners, np.int32)[slots[slots & 1 == 0] >> 1] = commit

    def _own(self, slot: int, commit: int) -> None:
        if slot < _VIRTUAL:
            self.owners[slot] = commit
        else:
            self._virtual_owners[slot - _VIRTUAL] = commit

    def _touch(self, commit: int, first: int, last: int) -> None:
        self.touches.extend((commit, self._line(first), self._line(last)))

    def _line(self, position: int) -> int:
        slot = position >> 1
        return slot if slot < _VIRTUAL else self._anchors[slot - _VIRTUAL]

    def _reshaped(self, new: array[int], old_count: int) -> array[int]:
        groups: dict[int, list[int]] = {}
        for index, position in enumerate(new):
            groups.setdefault(index * old_count // len(new), []).append(position)
        old = _replaced(new, old_count)
        for line, group in groups.items():
            old[line] = 2 * self._new_slot(group)
        return old

    def _new_slot(self, group: list[int]) -> int:
        self._anchors.append(self._line(group[0]))
        self._members.append([position >> 1 for position in group if not position & 1])
        self._virtual_owners.append(UNATTRIBUTED)
        return _VIRTUAL + len(self._anchors) - 1


def _replaced(new: array[int], old_count: int) -> array[int]:
    """Old lines that a hunk replaced: gone, placed where the new ones at the same height are."""
    new_count = len(new)
    if old_count == new_count:
        return array("i", [position | 1 for position in new])
    return array("i", [new[line * new_count // old_count] | 1 for line in range(old_count)])


@dataclass
class Replay:
    """Many files at once, over one first-parent chain, newest commit first; renames are followed."""

    _current: dict[bytes, _FileMap | None] = field(default_factory=dict)  # by path at the commit being read
    _files: dict[bytes, _FileMap] = field(default_factory=dict)  # by path in the newest version

    def apply(self, commit: int, patches: Iterable[Patch], *, passes_through: bool = False) -> None:
        """Go back over one commit. A path is None from the patch that created or deleted it on."""
        moved: list[tuple[bytes, _FileMap | None]] = []
        for patch in patches:
            file = self._file(patch)
            if file is not None and patch.hunks:
                step = file.pass_through if passes_through else file.apply
                step(commit, patch.hunks)
            if patch.change is not Change.MODIFIED:
                self._current[patch.path] = None
            if patch.source is not None:
                moved.append((patch.source, file))
        self._current.update(moved)  # after the loop: the old name may be a new file's in the same commit

    def finish(self) -> dict[bytes, FileLines]:
        """Every file of the newest version that a patch touched."""
        return {path: file.finish() for path, file in self._files.items()}

    def _file(self, patch: Patch) -> _FileMap | None:
        try:
            return self._current[patch.path]
        except KeyError:
            pass
        if patch.change is Change.DELETED:
            return None
        file = self._files[patch.path] = self._current[patch.path] = _FileMap()
        return file
