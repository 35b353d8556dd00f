"""Which repositories were added: a small file in the data directory, replaced as a whole and synced.

Names are unique and safe to type; an identity is derived from the root and names the repository's data directory.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from pathlib import Path

import msgspec

from ctxsearch.daemon.errors import InvalidRequestError, UnknownRepositoryError
from ctxsearch.graph.errors import CtxsearchError

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


class RegistryCorruptError(CtxsearchError):
    """The list of repositories cannot be read."""


class RepositoryRecord(msgspec.Struct, frozen=True):
    """One repository that was added."""

    name: str
    root: str  # absolute, symlinks resolved
    id: str
    added: float  # seconds since the epoch


_decoder = msgspec.json.Decoder(list[RepositoryRecord])


class Registry:
    """The list and its file. One mutable cell, written under the lock by `add` and `remove` alone."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lock = threading.Lock()
        self._records = {record.name: record for record in _load(file)}

    def all(self) -> tuple[RepositoryRecord, ...]:
        """Every repository by name."""
        return tuple(self._records[name] for name in sorted(self._records))

    def get(self, name: str) -> RepositoryRecord:
        """The repository of that name."""
        record = self._records.get(name)
        if record is None:
            raise UnknownRepositoryError(name, sorted(self._records))
        return record

    def at(self, root: Path) -> RepositoryRecord | None:
        """The repository with that root."""
        return next((record for record in self._records.values() if record.root == str(root)), None)

    def add(self, root: Path, name: str, now: float) -> RepositoryRecord:
        """Adds a root that is not there yet under its name, or under its directory's name made unique."""
        with self._lock:
            record = self.proposed(root, name, now)
            self._store({**self._records, record.name: record})
            return record

    def proposed(self, root: Path, name: str, now: float) -> RepositoryRecord:
        """What `add` would add."""
        if name and not _NAME.fullmatch(name):
            raise InvalidRequestError(f"name: {name!r} is not allowed; use letters, digits, '_', '-' and '.'")
        if name in self._records:
            raise InvalidRequestError(f"name: {name!r} is taken by {self._records[name].root}; choose another")
        return RepositoryRecord(name or self._free_name(root), str(root), identity(root), now)

    def remove(self, name: str) -> RepositoryRecord:
        """Takes a repository off the list."""
        with self._lock:
            record = self.get(name)
            self._store({key: value for key, value in self._records.items() if key != name})
            return record

    def _free_name(self, root: Path) -> str:
        base = re.sub(r"[^A-Za-z0-9_.-]+", "-", root.name).lstrip(".-")[:80] or "root"
        name, number = base, 2
        while name in self._records:
            name, number = f"{base}-{number}", number + 1
        return name

    def _store(self, records: dict[str, RepositoryRecord]) -> None:
        data = msgspec.json.format(msgspec.json.encode([records[name] for name in sorted(records)]))
        write_atomically(self._file, data + b"\n")
        self._records = records


def identity(root: Path) -> str:
    """Names the data of one working tree."""
    return hashlib.blake2b(os.fsencode(root), digest_size=10).hexdigest()


def write_atomically(file: Path, data: bytes) -> None:
    """The old content or the new one, whatever happens in between."""
    temporary = file.with_name(file.name + ".new")
    with temporary.open("wb") as out:
        out.write(data)
        out.flush()
        os.fsync(out.fileno())
    temporary.replace(file)
    folder = os.open(file.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _load(file: Path) -> list[RepositoryRecord]:
    try:
        return _decoder.decode(file.read_bytes())
    except FileNotFoundError:
        return []
    except msgspec.DecodeError as error:
        raise RegistryCorruptError(f"{file} is damaged ({error}); run `ctxsearch doctor`") from error
