"""Nodes in columns: what ranking asks of hundreds of them at once. numpy only; knows no text and no edge.

A row is a node's place by id. Rows and the numbers of files mean something inside one `NodeColumns` only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ctxsearch.graph.model import CodeNode, NodeFlag, NodeId, NodeKind, module_node_id

Numbers = NDArray[np.uint64]  # node ids as numbers, in the same order as their spellings
Rows = NDArray[np.int64]

NO_FILE: Final = -1
_SIDE_FLAGS: Final = int(NodeFlag.TEST | NodeFlag.GENERATED | NodeFlag.VENDORED)  # the lowest bits of the flags
_KIND_BITS: Final = max(NodeKind).bit_length()

_Value = TypeVar("_Value", bound=np.generic)


def number_of(node_id: NodeId) -> int:
    """The number that a node's id spells."""
    return int(node_id, 16)


def id_of(number: int) -> NodeId:
    """The id that a number spells."""
    return NodeId(f"{number:016x}")


def numbers_of(ids: Iterable[NodeId]) -> Numbers:
    """The numbers that ids spell."""
    return np.array([int(one, 16) for one in ids], dtype=np.uint64)


def kinds_and_flags(traits: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """What traits of nodes say: their kinds; their flags, as far as they tell code from what stands beside it."""
    return traits & (1 << _KIND_BITS) - 1, traits >> _KIND_BITS


class _Buckets(NamedTuple):
    """Ascending numbers by their first bits.

    Ids are hashes, so no bucket has many: 400 of 100,000 are found in a third of the time of a binary search.
    """

    starts: Rows  # where each bucket begins
    shift: np.uint64  # from a number to its bucket
    most: int  # numbers in one bucket

    @staticmethod
    def of(numbers: Numbers) -> _Buckets | None:
        """None where some bucket has so many that a binary search is quicker: they are no hashes, then."""
        bits = max(1, (2 * len(numbers) - 1).bit_length())
        shift = np.uint64(64 - bits)
        counts = np.bincount((numbers >> shift).astype(np.int64), minlength=1 << bits)
        most = int(counts.max())
        return _Buckets(counts.cumsum() - counts, shift, most) if most <= _CROWDED else None

    def places(self, numbers: Numbers, wanted: Numbers) -> Rows:
        """Where the first number is that is not below each wanted one, or earlier where that is in another bucket."""
        rows = self.starts[(wanted >> self.shift).astype(np.int64)]
        for _ in range(self.most - 1):
            rows += numbers.take(rows, mode="clip") < wanted
        return rows


_CROWDED: Final = 16


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class NodeColumns:
    """All nodes of one generation by number, and their files. A value: `replaced` makes the next one."""

    numbers: Numbers  # of the nodes, ascending
    files: Rows  # the number of each node's file; NO_FILE where it stands in none
    kinds: NDArray[np.uint8]
    flags: NDArray[np.int32]
    paths: tuple[str, ...]  # by number of the file; a file that is gone keeps its number
    directories: Rows  # by number of the file, alike for files of one directory
    lines: NDArray[np.int32]  # by number of the file, how long it is; 0 unknown
    _file_numbers: Mapping[str, int]  # by path
    _directory_numbers: Mapping[str, int]
    traits: NDArray[np.uint8] = field(init=False)  # of the nodes; `kinds_and_flags` takes them apart
    _buckets: _Buckets | None = field(init=False)  # of the numbers

    def __post_init__(self) -> None:
        """Make once what every search asks of hundreds."""
        object.__setattr__(self, "traits", (self.flags & _SIDE_FLAGS).astype(np.uint8) << _KIND_BITS | self.kinds)
        object.__setattr__(self, "_buckets", _Buckets.of(self.numbers))

    @staticmethod
    def of(nodes: Iterable[CodeNode]) -> NodeColumns:
        """The columns of some nodes."""
        empty = NodeColumns(
            numbers=np.empty(0, np.uint64),
            files=np.empty(0, np.int64),
            kinds=np.empty(0, np.uint8),
            flags=np.empty(0, np.int32),
            paths=(),
            directories=np.empty(0, np.int64),
            lines=np.empty(0, np.int32),
            _file_numbers={},
            _directory_numbers={},
        )
        return empty.replaced((), nodes)

    def rows(self, numbers: Numbers) -> Rows:
        """Where nodes are; -1 for those that are not there."""
        if not len(self.numbers):
            return np.full(len(numbers), -1)
        buckets = self._buckets
        rows = self.numbers.searchsorted(numbers) if buckets is None else buckets.places(self.numbers, numbers)
        rows[self.numbers.take(rows, mode="clip") != numbers] = -1
        return rows

    def with_unknown(self, numbers: Numbers) -> NodeColumns:
        """The same with nodes of which nothing is known but that they are there."""
        new = np.unique(numbers)
        places = self.numbers.searchsorted(new)
        return replace(
            self,
            numbers=np.insert(self.numbers, places, new),
            files=np.insert(self.files, places, NO_FILE),
            kinds=np.insert(self.kinds, places, 0),
            flags=np.insert(self.flags, places, 0),
        )

    def node_id(self, row: int) -> NodeId:
        """The id of the node in a row."""
        return id_of(int(self.numbers[row]))

    def replaced(self, gone: Iterable[NodeId], new: Iterable[CodeNode]) -> NodeColumns:
        """Without some nodes, with others; one of the same id takes the other's place."""
        nodes = list(new)
        added = numbers_of(node.id for node in nodes)
        kept = np.isin(self.numbers, np.concatenate([numbers_of(gone), added]), invert=True)
        numbers = np.concatenate([self.numbers[kept], added])
        order = np.argsort(numbers, kind="stable")  # quick where most are in order
        paths = [path for path in dict.fromkeys(node.path for node in nodes) if path and path not in self._file_numbers]
        file_numbers = _numbered(self._file_numbers, paths)
        parents = [path.rpartition("/")[0] for path in paths]
        directory_numbers = _numbered(self._directory_numbers, parents)

        def column(before: NDArray[_Value], values: list[int]) -> NDArray[_Value]:
            return np.concatenate([before[kept], np.array(values, before.dtype)])[order]

        return NodeColumns(
            numbers=numbers[order],
            files=column(self.files, [file_numbers.get(node.path, NO_FILE) for node in nodes]),
            kinds=column(self.kinds, [int(node.kind) for node in nodes]),
            flags=column(self.flags, [int(node.flags) for node in nodes]),
            paths=(*self.paths, *paths),
            directories=np.concatenate(
                [self.directories, np.array([directory_numbers[one] for one in parents], np.int64)]
            ),
            lines=self._lines(len(paths), file_numbers, nodes),
            _file_numbers=file_numbers,
            _directory_numbers=directory_numbers,
        )

    def _lines(self, more: int, file_numbers: Mapping[str, int], nodes: Iterable[CodeNode]) -> NDArray[np.int32]:
        """How long files are: as long as their own nodes."""
        lines = np.concatenate([self.lines, np.zeros(more, np.int32)])
        for node in nodes:
            if node.kind is NodeKind.MODULE and node.path and node.id == module_node_id(node.path):
                lines[file_numbers[node.path]] = node.end_line
        return lines


def _numbered(before: Mapping[str, int], more: Iterable[str]) -> Mapping[str, int]:
    """The same with numbers for what has none yet."""
    new = [one for one in dict.fromkeys(more) if one not in before]
    return {**before, **{one: number for number, one in enumerate(new, len(before))}} if new else before
