"""What the path of a file says, whatever is asked, and how much of it a query asks for. Pure.

In columns, since ranking steps ask the same of every file of a list.
"""

from __future__ import annotations

import math
import threading
import weakref
from collections.abc import Iterable
from typing import Final

import msgspec
import numpy as np

from ctxsearch.graph.columns import NO_FILE, NodeColumns, Rows
from ctxsearch.search.identifiers import stem, words
from ctxsearch.search.ports import Scores

DATA_SUFFIXES: Final = (
    *(".json", ".md", ".yml", ".yaml", ".toml", ".txt", ".cfg", ".tt", ".lock", ".rst", ".csv", ".xml", ".svg", ".ini"),
    *(".1", ".2", ".3", ".4", ".5", ".6", ".7", ".8", ".9"),  # manual pages
)
_SIDE_WORDS: Final = frozenset(
    {"legacy", "compat", "deprecated", "example", "examples", "sample", "samples", "demo", "demos", "doc", "docs"}
    | {"test", "tests", "testing", "testdata", "fixture", "fixtures", "bench", "benches", "benchmark", "benchmarks"}
    | {"mock", "mocks"}
)
_SIDE_FILES: Final = frozenset({"mock", "mocks"})
_SIDE_BITS: Final = {one: 1 << bit for bit, one in enumerate(sorted(set(map(stem, _SIDE_WORDS | _SIDE_FILES))))}
_PAGES: Final = (".html", ".htm")  # prose among documents, elsewhere part of a program
_PROSE_WORDS: Final = frozenset({"doc", "docs"})
_MANY_LINES: Final = 2000  # beyond this, more lines make a file no more central
_DOUBLINGS: Final = np.array([math.log2(1 + lines) for lines in range(_MANY_LINES + 1)])


class FileTraits(msgspec.Struct, frozen=True, gc=False):
    """What a file's path says, whatever is asked."""

    own: frozenset[str]  # stems of its name
    parent: frozenset[str]  # stems of its directory's name
    depth: int  # how many directories it is in
    is_data: bool  # holds data or prose
    side: frozenset[str]  # the stems that say that it is side code


class _TraitsByPath(dict[str, FileTraits]):
    """Of the files of earlier lists: every step of every request asks."""

    def __missing__(self, path: str) -> FileTraits:
        directory, _, name = path.rpartition("/")
        side = _SIDE_WORDS.intersection(words(directory)) | _SIDE_FILES.intersection(words(name))
        if len(self) >= _TRAITS_KEPT:
            self.clear()
        own = frozenset(map(stem, words(_file_stem(path))))
        parent = frozenset(map(stem, words(directory.rpartition("/")[2])))
        traits = self[path] = FileTraits(
            own,
            parent,
            depth=path.count("/"),
            is_data=path.endswith(DATA_SUFFIXES) or (path.endswith(_PAGES) and not _PROSE_WORDS.isdisjoint(side)),
            side=frozenset(map(stem, side)),
        )
        return traits


_TRAITS_KEPT: Final = 100_000
file_traits: Final = _TraitsByPath()


class FileTable:
    """What the paths of one generation's files say, in columns by number of the file; filled as lists have files."""

    def __init__(self, columns: NodeColumns) -> None:
        count = len(columns.paths) + 1  # the last one is no file: NO_FILE counts from the end
        self._paths = columns.paths
        self._known = np.zeros(count, np.bool_)
        self._known[NO_FILE] = True
        self._lock = threading.Lock()  # guards all that is filled
        self._stems: dict[str, int] = {}  # every stem of a name so far, from 1
        self._names = np.zeros((count, 2, _STEMS_OF_NAME), np.int32)  # of file and directory; 0 where there is no more
        self._sizes = np.ones((count, 2))  # how many stems a name has
        self._is_long = np.zeros(count, np.bool_)  # whether it has a name of more stems than fit
        self._has_long = False  # whether any has
        self.directories = np.append(columns.directories, -1)
        self.figures = np.zeros((4, count))  # what weighs in a file, whatever is asked: the next four
        self.doublings, self.depths, self.is_data, self.is_side = self.figures
        self.doublings[:] = _DOUBLINGS[np.minimum(np.append(columns.lines, 0), _MANY_LINES)]  # of its lines
        # depths: in how many directories it is; is_data: holds data or prose; is_side: 0 or 1, all of them
        self._weighed: dict[tuple[float, ...], Scores] = {}  # the figures of every file, added up by weights
        self.side = np.zeros(count, np.int64)  # the stems that say that it is side code, a bit for each

    def weighed(self, files: Rows, weights: tuple[float, float, float, float]) -> Scores:
        """What the figures of files weigh together."""
        sums = self._weighed.get(weights)
        if sums is None:
            with self._lock:
                sums = self._weighed[weights] = _weighed(self.figures, weights)
        return sums.take(files)

    def asked(self, files: Rows, asked: frozenset[str], weights: tuple[float, float]) -> Scores | None:
        """How much of the names of files, and of their directories, is asked for, added up by weights; None where
        nothing is of any file."""
        numbers = [number for one in asked if (number := self._stems.get(one))]
        if not numbers:
            return None
        is_asked = np.zeros(len(self._stems) + 1, np.uint8)
        is_asked[numbers] = 1
        found = is_asked.take(self._names.take(files, axis=0))
        counts = np.bitwise_count(found.view(np.uint64)[:, :, 0])  # a name's stems are eight bytes of 0 or 1
        shares = counts / self._sizes.take(files, axis=0)
        if self._has_long:
            for place in self._is_long.take(files).nonzero()[0].tolist():
                traits = file_traits[self._paths[files[place]]]
                shares[place] = asked_share(traits.own, asked), asked_share(traits.parent, asked)
        return shares @ weights

    def fill(self, files: Rows) -> None:
        """Know these files."""
        known = self._known.take(files)
        if np.logical_and.reduce(known):
            return
        with self._lock:
            new = files[~known]
            for file in new.tolist():
                self._read(file)
            for weights, sums in self._weighed.items():
                sums[new] = _weighed(self.figures[:, new], weights)
            self._known[new] = True  # last: another thread may look

    def _read(self, file: int) -> None:
        traits = file_traits[self._paths[file]]
        for which, name in enumerate((traits.own, traits.parent)):
            numbers = [self._stems.setdefault(one, len(self._stems) + 1) for one in name]
            if len(numbers) > _STEMS_OF_NAME:
                self._is_long[file] = self._has_long = True
            self._names[file, which, : len(numbers)] = numbers[:_STEMS_OF_NAME]
            self._sizes[file, which] = len(numbers) or 1
        self.depths[file] = traits.depth
        self.is_data[file] = traits.is_data
        self.side[file] = side_bits(traits.side)
        self.is_side[file] = self.side[file] != 0


def _weighed(figures: Scores, weights: tuple[float, ...]) -> Scores:
    sums: Scores = np.add.reduce(figures * np.array(weights)[:, None], axis=0)
    return sums


_STEMS_OF_NAME: Final = 8  # as many as a number has bytes

_tables: Final[weakref.WeakKeyDictionary[NodeColumns, FileTable]] = weakref.WeakKeyDictionary()


def table_of(columns: NodeColumns) -> FileTable:
    table = _tables.get(columns)
    if table is None:
        table = _tables[columns] = FileTable(columns)
    return table


def side_bits(stems: Iterable[str]) -> int:
    """Those stems that say that code is side code, a bit for each."""
    found = 0
    for one in stems:
        found |= _SIDE_BITS.get(one, 0)
    return found


def _file_stem(path: str) -> str:
    """A file's name without its directory and its last suffix."""
    name = path.rsplit("/", 1)[-1]
    return name.rpartition(".")[0] or name


def asked_share(name: frozenset[str], asked: frozenset[str]) -> float:
    """How much of a name is asked for."""
    return len(name & asked) / len(name) if name else 0.0
