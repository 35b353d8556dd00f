"""Checksums of files that never change once written, kept beside them: LanceDB has none of its own.

A flipped bit in a stored vector would otherwise show as a wrong order of results, and nobody would know. Files that
are not noted yet (a writer died before it could) pass unchecked and are noted by the next commit.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from ctxsearch.search.errors import IndexCorrupt

_PARTS: Final = ("data", "_deletions", "_indices", "_versions")  # of a table; what else there is may be rewritten
_REWRITTEN: Final = ".json"  # a hint at the latest version, beside the versions
_CHUNK: Final = 1 << 20

_Sums = dict[str, int]  # by path inside the table
_decoder = msgspec.json.Decoder(_Sums)


class TableChecksums:
    """Of one table's files. `note` belongs to the writer."""

    def __init__(self, table: Path) -> None:
        """`table` is its directory."""
        self._table = table
        self._file = table.with_name(f"{table.name}.sums")

    def check(self) -> None:
        """Reads every file that is noted; raises IndexCorrupt for one that is not what was written.

        A file that is gone is no damage: its writer compacts, and opening the table decides about the rest.
        """
        for name, expected in self._noted().items():
            try:
                found = _checksum(self._table / name)
            except FileNotFoundError:
                continue
            if found != expected:
                raise IndexCorrupt(f"vector index: {self._table / name} is damaged")

    def note(self) -> None:
        """Takes down the files that came since, and forgets those that went."""
        noted = self._noted()
        now = {name: noted[name] if name in noted else _checksum(self._table / name) for name in self._names()}
        if now != noted:
            fresh = self._file.with_name(f"{self._file.name}.new")
            fresh.write_bytes(msgspec.json.encode(now))
            fresh.replace(self._file)

    def forget(self) -> None:
        """The table starts over: files may come by names that were used before."""
        self._file.unlink(missing_ok=True)

    def _noted(self) -> _Sums:
        try:
            return _decoder.decode(self._file.read_bytes())
        except FileNotFoundError:
            return {}
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise IndexCorrupt(f"vector index: {self._file} is damaged") from error

    def _names(self) -> Iterator[str]:
        for part in _PARTS:
            for file in (self._table / part).rglob("*"):
                if file.is_file() and file.suffix != _REWRITTEN:
                    yield file.relative_to(self._table).as_posix()


def _checksum(file: Path) -> int:
    checksum = 0
    with file.open("rb") as stream:
        while data := stream.read(_CHUNK):
            checksum = zlib.crc32(data, checksum)
    return checksum
