"""Calls that once led somewhere: what an old node calls, and some commit since took away.

The graph of today cannot tell a call of something gone from one that was never understood: both lead nowhere. So the
versions that the called file had when the caller was last touched are asked for their definitions. A name counts only
if nothing of that name exists any more (what moved has not vanished), and if it was in reach: in the caller's own file,
in one that it imports, or in a deleted one that it names. The parser comes in as an argument.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ctxsearch.graph.git import Git
from ctxsearch.graph.history_store import HistoryStore, StoredPatch
from ctxsearch.graph.node_history import WORK_TREE, History
from ctxsearch.graph.patches import Change
from ctxsearch.graph.signatures import life, read_blobs

NameReader = Callable[[str, bytes], Iterable[str]]  # path, source -> what is defined, by name within the file

_PARTS = re.compile(r"[^\w$]+")
_SELVES = frozenset({"self", "this", "super", "cls"})
_FOLDER_STEMS = frozenset({"__init__", "index", "mod", "init"})  # files that go by their folder's name


@dataclass(frozen=True, slots=True)
class Dangling:
    """A call of a node that leads to nothing in the repository."""

    row: int  # of the caller
    path: str  # the caller's file
    position: int  # of the caller's last touch, in first-parent commits
    name: str  # the last part of what is written
    qualifiers: frozenset[str]  # the parts before it: modules, types, or the object itself
    near: frozenset[str]  # the files that the caller's file refers to


def call_parts(written: str) -> tuple[str, ...]:
    """A callee as the source or the resolver writes it, by its parts; the last is its name, '' if it has none."""
    return tuple(part for part in _PARTS.split(written.partition("(")[0]) if part) or ("",)


@dataclass(frozen=True, slots=True)
class Vanished:
    """What a node calls and is gone."""

    row: int  # of the caller
    name: str  # qualified, within its file
    path: str  # of the file that it was last in
    time: int  # of the commit that took it away
    commit: str  # its id; "" when the work tree did


@dataclass(frozen=True, slots=True)
class _Version:
    """A file as one commit left it, or as it was before that commit."""

    commit: int
    path: bytes
    before: bool


class _Chance(NamedTuple):
    """A file that may have had what is called when the caller was last touched. There are many: kept small."""

    call: Dangling
    first: _Version  # as the caller last saw the file
    life: Sequence[StoredPatch]  # the file's patches, newest first
    begin: int
    end: int  # those of them since the caller's last touch

    def steps(self) -> Sequence[StoredPatch]:
        """The patches since then, oldest first; none when only the work tree changed the file."""
        return self.life[self.begin : self.end][::-1]


@dataclass(eq=False)
class _Search:
    """For one call and one file: which commit took the name away, by halving the commits that touched the file."""

    call: Dangling
    first: _Version
    steps: Sequence[StoredPatch]  # oldest first
    qualified: str  # the name
    low: int = -1  # after this step the name is there; -1 is before the first one
    high: int = field(default=-1)  # after this step it is not

    def __post_init__(self) -> None:
        self.high = len(self.steps)  # one past the last is the work tree, where the name is known to be gone

    def next(self) -> _Version | None:
        """The version to look at, None when the commit is found."""
        while self.high - self.low > 1:
            step = self.steps[self._middle()]
            if step.patch.change is not Change.DELETED:
                return _Version(step.commit, step.patch.path, before=False)
            self.high = self._middle()  # there is no version: nothing is in it
        return None

    def learn(self, names: frozenset[str]) -> None:
        """What that version defines."""
        if self.qualified in names:
            self.low = self._middle()
        else:
            self.high = self._middle()

    def _middle(self) -> int:
        return (self.low + self.high) // 2


def find_vanished(
    git: Git, store: HistoryStore, history: History, calls: Iterable[Dangling], read: NameReader
) -> tuple[list[Vanished], set[int]]:
    """What is gone of the things called, with the commit that took each away; within the horizon.

    The second value is the callers of which none can tell: git has lost a version of a file that they may have called.
    """
    lives = _Lives(store, history, calls := list(calls))
    chances = [chance for call in calls for chance in lives.chances(call)]
    names = _definitions(git, store, dict.fromkeys(chance.first for chance in chances), read)
    defined = {version: _by_last_part(each) for version, each in names.items()}
    unsure = {chance.call.row for chance in chances if chance.first not in names}
    open_searches = []
    for chance in chances:
        fitting = defined.get(chance.first, {}).get(chance.call.name, ())
        if fitting and (qualified := _matching(chance, fitting, history.folder)):
            open_searches.append(_Search(chance.call, chance.first, chance.steps(), qualified))
    lost = _halve(git, store, open_searches, read)
    unsure |= {search.call.row for search in lost}
    told = (_told(store, history, search) for search in open_searches if search not in lost)
    found = {(each.row, each.name, each.path): each for each in told}
    return [found[key] for key in sorted(found)], unsure


def _halve(git: Git, store: HistoryStore, searches: Sequence[_Search], read: NameReader) -> list[_Search]:
    """Bring the searches to their end; those that need a version which git has lost come back."""
    lost: list[_Search] = []
    asked = [(search, version) for search in searches if (version := search.next())]
    while asked:
        names = _definitions(git, store, dict.fromkeys(version for _, version in asked), read)
        lost += [search for search, version in asked if version not in names]
        read_on = [(search, names[version]) for search, version in asked if version in names]
        for search, defined in read_on:
            search.learn(defined)
        asked = [(search, version) for search, _ in read_on if (version := search.next())]
    return lost


def _told(store: HistoryStore, history: History, search: _Search) -> Vanished:
    row, name, folder = search.call.row, search.qualified, history.folder
    if search.high == len(search.steps):
        path = search.steps[-1].patch.path if search.steps else search.first.path
        return Vanished(row, name, _text(path).removeprefix(folder), history.clock + 1, "")
    step = search.steps[search.high]
    time = int(history.times_of(np.array([step.position], np.int32))[0])
    return Vanished(row, name, _text(step.patch.path).removeprefix(folder), time, store.commit(step.commit)[0].id)


class _Lives:
    """The patches of the files that calls may have led to."""

    def __init__(self, store: HistoryStore, history: History, calls: Sequence[Dangling]) -> None:
        self._history = history
        self._folder = history.folder
        places = np.full(len(history.commits.times), -1, np.int32)
        places[history.chain] = np.arange(len(history.chain))
        near = {_bytes(self._folder + path) for call in calls for path in (call.path, *call.near)}
        self._patches: dict[bytes, list[StoredPatch]] = {}
        for stored in store.patches_of(sorted(near), places) if near else ():
            self._patches.setdefault(stored.patch.path, []).append(stored)
        self._known: dict[str, tuple[list[StoredPatch], list[int]]] = {}
        self._deleted: dict[tuple[str, str], list[StoredPatch]] = {}  # by what a call may name it by, and suffix
        for stored in store.deletions(places) if calls else ():
            for key in _keys(_text(stored.patch.path)):
                self._deleted.setdefault(key, []).append(stored)

    def chances(self, call: Dangling) -> Iterator[_Chance]:
        """One per file that may have had what is called when the caller was last touched."""
        if not call.name:
            return
        for path in sorted(_in_reach(call)):
            life, positions = self._life(path)
            end = bisect_left(positions, call.position)
            if end and life[end - 1].patch.change is not Change.ADDED:
                yield _Chance(call, _before(life[end - 1]), life, 0, end)
            elif not end and self._is_dirty(path):
                now = _Version(int(self._history.chain[0]), _bytes(self._folder + path), before=False)
                yield _Chance(call, now, (), 0, 0)
        suffix = _suffix(call.path)
        names = call.qualifiers or {_folder(self._folder + call.path)}
        for name in sorted(names):
            deleted = self._deleted.get((name, suffix), ())
            for at, stored in enumerate(deleted):
                if stored.position < call.position:
                    yield _Chance(call, _before(stored), deleted, at, at + 1)

    def _is_dirty(self, path: str) -> bool:
        lines = self._history.files.get(path)
        return lines is not None and bool((lines.touches[:, 0] == WORK_TREE).any())

    def _life(self, path: str) -> tuple[list[StoredPatch], list[int]]:
        """A file's patches, newest first, and their positions."""
        if path not in self._known:
            found = list(life(self._patches, _bytes(self._folder + path)))
            self._known[path] = found, [stored.position for stored in found]
        return self._known[path]


def _in_reach(call: Dangling) -> frozenset[str]:
    """The files that a call may lead to: a bare name's are all that are imported; `a.b` needs a file called `a`."""
    if not call.qualifiers:
        return call.near | {call.path}
    if call.qualifiers <= _SELVES:
        return frozenset({call.path})
    return frozenset(path for path in call.near if _stem(path) in call.qualifiers)


def _by_last_part(names: Iterable[str]) -> dict[str, list[str]]:
    """Qualified names by what a call may end in, the least nested first."""
    found: dict[str, list[str]] = {}
    for name in sorted(names, key=lambda name: (name.count("."), name)):
        found.setdefault(name.rpartition(".")[2], []).append(name)
    return found


def _matching(chance: _Chance, fitting: Sequence[str], folder: str) -> str:
    """The definition that the call may have meant, '' if there was none."""
    call = chance.call
    own = _text(chance.first.path) == folder + call.path
    for name in fitting:
        container = name.rpartition(".")[0].rpartition(".")[2]
        if not container or own or container in call.qualifiers:
            return name
    return ""


def _before(step: StoredPatch) -> _Version:
    return _Version(step.commit, step.patch.source or step.patch.path, before=True)


def _definitions(
    git: Git, store: HistoryStore, versions: Mapping[_Version, None], read: NameReader
) -> dict[_Version, frozenset[str]]:
    """The names that versions of files define; what a version defines never changes and is remembered.

    A version that git has lost is left out.
    """
    found: dict[_Version, frozenset[str]] = {}
    unread: dict[str, _Version] = {}
    for version in sorted(versions, key=lambda each: (each.path, each.commit, each.before)):
        kept = store.definitions(version.commit, version.path, before=version.before)
        if kept is not None:
            found[version] = kept
        else:
            id_ = store.commit(version.commit)[0].id
            unread[f"{id_}{'^1' if version.before else ''}:{_text(version.path)}"] = version
    with store.transaction():
        for name, blob in read_blobs(git, list(unread)):
            version = unread.pop(name)
            said = read(_text(version.path), blob)
            found[version] = frozenset(each for each in said if each.split() == [each])  # kept as words
            store.keep_definitions(version.commit, version.path, found[version], before=version.before)
    return found


def _keys(path: str) -> Iterator[tuple[str, str]]:
    """What a call may name a file by: its stem, and the folder that it shares with the caller."""
    yield _stem(path), _suffix(path)
    yield _folder(path), _suffix(path)


def _stem(path: str) -> str:
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return folder.rpartition("/")[2] if stem in _FOLDER_STEMS else stem


def _folder(path: str) -> str:
    return path.rpartition("/")[0] + "/"


def _suffix(path: str) -> str:
    return "." + path.rpartition("/")[2].rpartition(".")[2]


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
