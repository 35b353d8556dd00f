"""Which files read a key: an index over what every file's resolution looked up.

A repository of ten thousand files has read some millions of keys, and every edit asks for the readers of a few. One
array holds them all; files that were resolved since it was made stand beside it until there are many.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Reads = np.ndarray[Any, Any]  # sorted 64-bit key ids of one file
NO_READS: Reads = np.empty(0, dtype=np.uint64)
_MAX_BESIDE = 300  # files; looking at each costs some microseconds
_FILTER_BITS = 0xFFFF


def packed(keys: set[int]) -> Reads:
    """Key ids as an array."""
    found = np.fromiter(keys, np.uint64, len(keys))
    found.sort()
    return found


def joined(first: Reads, second: Reads) -> Reads:
    """What is in either of two such arrays: `np.union1d`, whose generality costs more than the work."""
    if not len(second) or not len(first):
        return first if len(first) else second
    both = np.concatenate((first, second))
    both.sort()
    new = np.empty(len(both), dtype=bool)
    new[0] = True
    np.not_equal(both[1:], both[:-1], out=new[1:])
    return both[new]


class ReadIndex:
    """Readers by key. Written by its Resolver alone."""

    def __init__(self) -> None:
        self._beside: dict[str, Reads] = {}  # newer than the big array
        self._paths: list[str] = []
        self._keys: Reads = NO_READS
        self._low: NDArray[np.uint16] = np.empty(0, dtype=np.uint16)  # the keys' low bits: most misses end there
        self._ends: NDArray[np.int64] = np.empty(0, dtype=np.int64)  # of each file's keys

    def put(self, path: str, reads: Reads) -> None:
        """What a file's latest resolution read."""
        self._beside[path] = reads

    def prepare(self) -> None:
        """Make the one array, when many files stand beside it."""
        if len(self._beside) > _MAX_BESIDE:
            self._merge()

    def readers(self, keys: set[int]) -> set[str]:
        """Files whose last resolution read one of the keys."""
        if not keys:
            return set()
        self.prepare()
        wanted = packed(keys)
        found = {path for path, reads in self._beside.items() if len(reads) and np.isin(wanted, reads).any()}
        return found | {path for path in self._among_all(wanted) if path not in self._beside}

    def _among_all(self, wanted: Reads) -> list[str]:
        possible = np.zeros(_FILTER_BITS + 1, dtype=bool)
        possible[(wanted & np.uint64(_FILTER_BITS)).astype(np.int64)] = True
        near = np.flatnonzero(possible[self._low])
        hits = near[np.isin(self._keys[near], wanted)]
        owners = np.unique(np.searchsorted(self._ends, hits, side="right"))
        return [self._paths[owner] for owner in owners.tolist()]

    def _merge(self) -> None:
        """One array of everything."""
        parts: dict[str, Reads] = {}
        start = 0
        for path, end in zip(self._paths, self._ends.tolist(), strict=True):
            parts[path] = self._keys[start:end]
            start = end
        parts.update(self._beside)
        kept = {path: reads for path, reads in parts.items() if len(reads)}
        self._paths = list(kept)
        self._keys = np.concatenate([NO_READS, *kept.values()]).astype(np.uint64, copy=False)
        self._low = (self._keys & np.uint64(_FILTER_BITS)).astype(np.uint16)
        self._ends = np.cumsum([len(reads) for reads in kept.values()], dtype=np.int64)
        self._beside = {}
