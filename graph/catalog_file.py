"""The SQLite file under the catalog: opening, checking, locking, and its errors as ours.

Knows the schema; what is in the tables is `graph/catalog.py`'s matter.
"""

from __future__ import annotations

import contextlib
import fcntl
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ctxsearch.graph.blobs import DamagedError, seal, unseal
from ctxsearch.graph.errors import CtxsearchError

SCHEMA_VERSION = 1

_APPLICATION_ID = 0x63747873  # "ctxs"; tells the file from other SQLite databases
_SMALLEST_FILE = 512  # bytes: the smallest page there is
LONG_LOG = 16 << 20  # bytes of write-ahead log beyond which a pin moves out of it
BUSY_SECONDS = 10.0  # longest wait for another connection's lock: recovery or a checkpoint, never a whole write


class CatalogError(CtxsearchError):
    """The catalog cannot do what was asked."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"catalog {path}: {reason}")
        self.path = path
        self.reason = reason


class CatalogMissingError(CatalogError):
    """There is no catalog to read."""


class CatalogCorruptError(CatalogError):
    """The file is damaged; `Catalog.rebuild` sets it aside and starts empty."""


class CatalogVersionError(CatalogError):
    """The file was written by another version of the schema; `Catalog.rebuild` starts empty."""


class CatalogBusyError(CatalogError):
    """Another writer holds the catalog."""


class CatalogFullError(CatalogError):
    """The disk would not take the write; the last generation is intact."""


class UnknownGenerationError(CatalogError):
    """Asked for changes since a generation that this catalog never had: what was derived must be rebuilt."""


_SCHEMA = """
CREATE TABLE meta(key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE file(key INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE, changed INTEGER NOT NULL,
    documents INTEGER NOT NULL, record BLOB NOT NULL, checksum INTEGER NOT NULL);
CREATE INDEX file_changed ON file(changed);
CREATE TABLE text(file INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE graph(file INTEGER PRIMARY KEY, summary BLOB NOT NULL, nodes BLOB NOT NULL, edges BLOB NOT NULL);
CREATE TABLE detail(file INTEGER PRIMARY KEY, docs BLOB NOT NULL, sites BLOB NOT NULL, unresolved BLOB NOT NULL);
CREATE TABLE reads(file INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE facts(content_hash TEXT NOT NULL, language TEXT NOT NULL, extractor_version TEXT NOT NULL,
    generation INTEGER NOT NULL, data BLOB NOT NULL, UNIQUE(content_hash, language, extractor_version));
CREATE TABLE skipped(path BLOB PRIMARY KEY, reason BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE removed(path BLOB PRIMARY KEY, generation BLOB NOT NULL) WITHOUT ROWID;
"""
_TABLES = frozenset({"meta", "file", "text", "graph", "detail", "reads", "facts", "skipped", "removed"})


def connect(path: Path, *, read_only: bool) -> sqlite3.Connection:
    """A connection with our settings."""
    mode = "ro" if read_only else "rwc"
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=64,
    )
    # No mmap: a file that another program truncates would end the process with SIGBUS instead of an error.
    connection.execute("PRAGMA mmap_size = 0")
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cache_size = -16384")
    if not read_only:
        connection.execute("PRAGMA page_size = 8192")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute(f"PRAGMA journal_size_limit = {LONG_LOG // 2}")
    return connection


def checkpoint(path: Path) -> None:
    """Copy the log into the file as far as readers allow; never waits for a writer, nor makes one wait."""
    connection = connect(path, read_only=False)
    try:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    finally:
        connection.close()


def log_size(path: Path) -> int:
    """Bytes of write-ahead log beside the file."""
    try:
        return path.with_name(path.name + "-wal").stat().st_size
    except FileNotFoundError:
        return 0


def create_if_empty(connection: sqlite3.Connection, after: int) -> None:
    """Tables, identity and the generation to count on from, unless there is something already."""
    if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return
    connection.execute("BEGIN IMMEDIATE")
    for statement in _SCHEMA.split(";"):
        if statement.strip():
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {_APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    identity = connection.execute("SELECT lower(hex(randomblob(8)))").fetchone()[0]
    for key, value in (("identity", identity), ("generation", str(after)), ("base", str(after)), ("state", "closed")):
        put_meta(connection, key, value)
    connection.execute("COMMIT")


def check(path: Path, connection: sqlite3.Connection, *, read_only: bool) -> None:
    """Cheap on a cleanly closed file; SQLite's own check of the whole structure after an unclean end."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if application != _APPLICATION_ID:
        raise CatalogCorruptError(path, "not a ctxsearch catalog")
    if version != SCHEMA_VERSION:
        raise CatalogVersionError(path, f"schema {version}, this program writes {SCHEMA_VERSION}")
    tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables >= _TABLES:
        raise CatalogCorruptError(path, f"tables missing: {', '.join(sorted(_TABLES - tables))}")
    if read_only:
        return  # the mark says "open" while a healthy writer lives
    if meta(connection, "state") != "closed":
        verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        if verdict != "ok":
            raise CatalogCorruptError(path, str(verdict))
    else:
        _check_length(path, connection)


def check_header(path: Path) -> None:
    """SQLite would take the first bytes of a truncated file for an empty database, and start anew in silence.

    By its size alone: closing any descriptor of the file would take away the locks of every connection that this
    process has to it (POSIX), and the next writer to leave would remove the log under them.
    """
    if path.exists() and 0 < path.stat().st_size < _SMALLEST_FILE:
        raise CatalogCorruptError(path, "not a database, or only its first bytes")


def _check_length(path: Path, connection: sqlite3.Connection) -> None:
    """A truncated file is found here rather than when its last page is first read."""
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    size = connection.execute("PRAGMA page_size").fetchone()[0]
    if not log_size(path) and path.stat().st_size < pages * size:
        raise CatalogCorruptError(path, f"truncated to {path.stat().st_size} of {pages * size} bytes")


def take_lock(path: Path) -> IO[bytes]:
    """Held while the process lives, whatever ends it."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = path.with_name(path.name + ".lock").open("ab")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise CatalogBusyError(path, "another process is writing it") from error
    return lock


@contextlib.contextmanager
def translated(path: Path) -> Iterator[None]:
    """SQLite's errors as ours."""
    try:
        yield
    except DamagedError as error:
        raise CatalogCorruptError(path, "a stored value is damaged") from error
    except sqlite3.Error as error:
        raise _error(path, error) from error


@contextlib.contextmanager
def opening(path: Path) -> Iterator[None]:
    """The same while the schema is first read: a damaged one may not even give a readable message."""
    try:
        with translated(path):
            yield
    except UnicodeDecodeError as error:
        raise CatalogCorruptError(path, "the schema is damaged") from error


def _error(path: Path, error: sqlite3.Error) -> CatalogError:
    code = getattr(error, "sqlite_errorcode", 0)
    primary = code & 0xFF
    if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return CatalogCorruptError(path, str(error))
    if primary == sqlite3.SQLITE_FULL or code in (sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_FSYNC):
        return CatalogFullError(path, f"{error}; free space and refresh again")
    if primary in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return CatalogBusyError(path, str(error))
    if code == sqlite3.SQLITE_IOERR_SHORT_READ:
        return CatalogCorruptError(path, str(error))
    return CatalogError(path, str(error))


def find_meta(connection: sqlite3.Connection, key: str) -> str | None:
    """A note in the file, None if there is none."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return None if row is None else unseal(row[0], key.encode())[1].decode()


def meta(connection: sqlite3.Connection, key: str) -> str:
    """A note that every catalog has."""
    value = find_meta(connection, key)
    if value is None:
        raise DamagedError
    return value


def last_generation(path: Path) -> int:
    """The generation of a file that is to be replaced, as far as it can still be read; 0 otherwise."""
    try:
        with contextlib.closing(connect(path, read_only=True)) as connection:
            return int(meta(connection, "generation"))
    except (sqlite3.Error, DamagedError, UnicodeDecodeError, ValueError):
        return 0


def put_meta(connection: sqlite3.Connection, key: str, value: str) -> None:
    """Write a note."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, seal(value.encode(), key.encode())))
