"""Calls that once led somewhere: what an old node calls, and some commit since took away.

The graph of today cannot tell a call of something gone from one that was never understood: both lead nowhere. So the
versions that the called file had when the caller was last touched are asked for their definitions. A name counts only
if nothing of that name exists any more (what moved has not vanished), and if it was in reach: in the caller's own file,
in one that it imports, or in a deleted one that it names. The parser comes in as an argument.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ctxsearch.graph.git import Git
from ctxsearch.graph.history_store import HistoryStore, StoredPatch
from ctxsearch.graph.node_history import WORK_TREE, History
from ctxsearch.graph.patches import Change
from ctxsearch.graph.signatures import SignatureReader, life, read_blobs

_PARTS = re.compile(r"[^\w$]+")
_SELVES = frozenset({"self", "this", "super", "cls"})
_FOLDER_STEMS = frozenset({"__init__", "index", "mod", "init"})  # files that go by their folder's name


@dataclass(frozen=True, slots=True)
class Dangling:
    """A call of a node that leads to nothing in the repository."""

    row: int  # of the caller
    path: str  # the caller's file
    position: int  # of the caller's last touch, in first-parent commits
    written: str  # the callee, as the source or the resolver writes it
    near: frozenset[str]  # the files that the caller's file refers to

    @property
    def name(self) -> str:
        """The last part of what is written."""
        return self._parts()[-1]

    @property
    def qualifiers(self) -> frozenset[str]:
        """The parts before it: modules, types, or the object itself."""
        return frozenset(self._parts()[:-1])

    def _parts(self) -> list[str]:
        return [part for part in _PARTS.split(self.written.partition("(")[0]) if part] or [""]


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


@dataclass
class _Search:
    """For one call and one file: which commit took the name away, by halving the commits that touched the file.

    `steps` are the file's patches since the caller's last touch, oldest first; none when only the work tree changed it.
    """

    call: Dangling
    first: _Version  # as the caller last saw the file
    steps: Sequence[StoredPatch]
    low: int = -1  # after this step the name is there; -1 is before the first one
    high: int = field(default=-1)  # after this step it is not
    qualified: str = ""

    def __post_init__(self) -> None:
        self.high = len(self.steps)  # one past the last is the work tree, where the name is known to be gone

    def next(self) -> _Version | None:
        """The version to look at, None when the commit is found."""
        if self.high - self.low <= 1:
            return None
        step = self.steps[self._middle()]
        return _Version(step.commit, step.patch.path, before=False)

    def learn(self, names: frozenset[str]) -> None:
        """What that version defines."""
        if self.qualified in names:
            self.low = self._middle()
        else:
            self.high = self._middle()

    def _middle(self) -> int:
        return (self.low + self.high) // 2


def find_vanished(
    git: Git, store: HistoryStore, history: History, calls: Iterable[Dangling], read: SignatureReader
) -> list[Vanished]:
    """What is gone of the things called, with the commit that took each away; within the horizon."""
    lives = _Lives(store, history, calls := list(calls))
    searches = [search for call in calls for search in lives.searches(call)]
    names = _definitions(git, store, dict.fromkeys(search.first for search in searches), read)
    open_searches = []
    for search in searches:
        search.qualified = _matching(search, names.get(search.first, frozenset()), history.folder)
        if search.qualified:
            open_searches.append(search)
    _halve(git, store, open_searches, read)
    found = {(each.row, each.name, each.path): each for each in (_told(store, history, s) for s in open_searches)}
    return [found[key] for key in sorted(found)]


def _halve(git: Git, store: HistoryStore, searches: Sequence[_Search], read: SignatureReader) -> None:
    asked = [(search, version) for search in searches if (version := search.next())]
    while asked:
        names = _definitions(git, store, dict.fromkeys(version for _, version in asked), read)
        for search, version in asked:
            search.learn(names.get(version, frozenset()))
        asked = [(search, version) for search, _ in asked if (version := search.next())]


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
        self._known: dict[str, list[StoredPatch]] = {}
        self._deleted: dict[tuple[str, str], list[StoredPatch]] = {}  # by what a call may name it by, and suffix
        for stored in store.deletions(places) if calls else ():
            for key in _keys(_text(stored.patch.path)):
                self._deleted.setdefault(key, []).append(stored)

    def searches(self, call: Dangling) -> Iterator[_Search]:
        """One per file that may have had what is called when the caller was last touched."""
        if not call.name:
            return
        for path in sorted(_in_reach(call)):
            steps = [step for step in self._life(path) if step.position < call.position]
            if steps and steps[-1].patch.change is not Change.ADDED:
                yield _Search(call, _before(steps[-1]), steps[::-1])
            elif not steps and self._is_dirty(path):
                yield _Search(
                    call, _Version(int(self._history.chain[0]), _bytes(self._folder + path), before=False), ()
                )
        suffix = _suffix(call.path)
        names = call.qualifiers or {_folder(self._folder + call.path)}
        for name in sorted(names):
            for stored in self._deleted.get((name, suffix), ()):
                if stored.position < call.position:
                    yield _Search(call, _before(stored), [stored])

    def _is_dirty(self, path: str) -> bool:
        lines = self._history.files.get(path)
        return lines is not None and bool((lines.touches[:, 0] == WORK_TREE).any())

    def _life(self, path: str) -> list[StoredPatch]:
        """A file's patches, newest first."""
        if path not in self._known:
            self._known[path] = list(life(self._patches, _bytes(self._folder + path)))
        return self._known[path]


def _in_reach(call: Dangling) -> frozenset[str]:
    """The files that a call may lead to: a bare name's are all that are imported; `a.b` needs a file called `a`."""
    if not call.qualifiers:
        return call.near | {call.path}
    if call.qualifiers <= _SELVES:
        return frozenset({call.path})
    return frozenset(path for path in call.near if _stem(path) in call.qualifiers)


def _matching(search: _Search, names: frozenset[str], folder: str) -> str:
    """The definition that the call may have meant, '' if there was none."""
    call = search.call
    own = _text(search.first.path) == folder + call.path
    fitting = [name for name in names if name.rpartition(".")[2] == call.name]
    for name in sorted(fitting, key=lambda name: (name.count("."), name)):
        container = name.rpartition(".")[0].rpartition(".")[2]
        if not container or own or container in call.qualifiers:
            return name
    return ""


def _before(step: StoredPatch) -> _Version:
    return _Version(step.commit, step.patch.source or step.patch.path, before=True)


def _definitions(
    git: Git, store: HistoryStore, versions: Mapping[_Version, None], read: SignatureReader
) -> dict[_Version, frozenset[str]]:
    """The names that versions of files define; what a version defines never changes and is remembered."""
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
