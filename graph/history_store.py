"""The durable memory of history: commits, patches, and the lines of each work tree's files. One SQLite file.

Commits and patches are facts that never change, shared by all work trees and branches of a repository; lines
are derived from them for one work tree at one HEAD. All of it can be read from git again, so a file that is
damaged, or of another version, is thrown away and said so in `rebuilt`. Runs no git; computes no attribution.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ctxsearch.graph.attribution import FileLines, Ints
from ctxsearch.graph.errors import CtxsearchError
from ctxsearch.graph.node_history import CommitColumns, CommitFlag
from ctxsearch.graph.patches import Change, Commit, Patch

SCHEMA_VERSION = 6
_HEAD_LAYER, _WORK_TREE_LAYER = 0, 1
_BATCH = 500  # parameters per statement; SQLite's smallest limit is 999

_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE authors (n INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE);
CREATE TABLE commits (
    n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, time INTEGER NOT NULL, author INTEGER NOT NULL,
    name TEXT NOT NULL, subject TEXT NOT NULL, takes_back TEXT, flags INTEGER NOT NULL,
    has_patches INTEGER NOT NULL
);
CREATE INDEX commits_subject ON commits (subject);
CREATE INDEX commits_takes_back ON commits (takes_back) WHERE takes_back IS NOT NULL;
CREATE INDEX commits_unread ON commits (n) WHERE NOT has_patches;
CREATE TABLE paths (n INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE);
CREATE TABLE patches (
    commit_n INTEGER NOT NULL, path_n INTEGER NOT NULL, source_n INTEGER, change INTEGER NOT NULL,
    hunks BLOB NOT NULL
);
CREATE INDEX patches_commit ON patches (commit_n);
CREATE INDEX patches_path ON patches (path_n);
CREATE INDEX patches_source ON patches (source_n) WHERE source_n IS NOT NULL;
CREATE INDEX patches_deleting ON patches (change) WHERE change = 3;
CREATE TABLE signatures (
    commit_n INTEGER NOT NULL, path BLOB NOT NULL, name TEXT NOT NULL, verdict INTEGER,
    PRIMARY KEY (commit_n, path, name)
) WITHOUT ROWID;
CREATE TABLE definitions (
    commit_n INTEGER NOT NULL, path BLOB NOT NULL, before INTEGER NOT NULL, names TEXT NOT NULL,
    PRIMARY KEY (commit_n, path, before)
) WITHOUT ROWID;
CREATE TABLE views (
    n INTEGER PRIMARY KEY, git_dir BLOB NOT NULL UNIQUE, head TEXT NOT NULL, chain BLOB NOT NULL,
    horizon TEXT NOT NULL, visible INTEGER NOT NULL, is_cut INTEGER NOT NULL, ignored TEXT NOT NULL,
    version INTEGER NOT NULL, looked_at TEXT NOT NULL
);
CREATE TABLE lines (
    view_n INTEGER NOT NULL, path_n INTEGER NOT NULL, layer INTEGER NOT NULL,
    owners BLOB NOT NULL, touches BLOB NOT NULL, rest INTEGER NOT NULL,
    PRIMARY KEY (view_n, path_n, layer)
) WITHOUT ROWID;
CREATE INDEX lines_work_tree ON lines (view_n, path_n) WHERE layer = 1;
"""

_SELECT_LINES = "SELECT path, owners, touches, rest FROM lines JOIN paths ON paths.n = path_n"

_FIX = re.compile(r"\b(fix(e[sd]|ing)?|(bug|hot)-?fix(es)?|bugs?|regressions?|crash(e[sd])?)\b", re.IGNORECASE)
_TICKET = re.compile(r"^\s*(fix(e[sd])?|close[sd]?|refs?)\s+#\d+\s*(--|:|,)\s*", re.IGNORECASE)
_REVERT = re.compile(r'^Revert(?:ed)? "(.+)"(?: \(#\d+\))?$')


class DamagedHistoryError(CtxsearchError):
    """What is stored cannot be read; git can tell it again."""


@contextlib.contextmanager
def damage_noticed() -> Iterator[None]:
    """Tell damage to what is stored from a full disk or a lock, which come out as they are."""
    try:
        yield
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError as error:
        raise DamagedHistoryError(str(error)) from error


@dataclass(frozen=True, slots=True)
class View:
    """How far one work tree's lines have been derived."""

    n: int
    head: str
    chain: Ints  # commit numbers, newest first, as deep as patches were read
    horizon: str  # the horizon that `visible` was counted by
    visible: int  # how many of the chain lie within the horizon
    is_cut: bool  # the chain ends where the repository's history was cut off
    ignored: tuple[str, ...]  # commits that the repository wants ignored, sorted
    version: int = 0  # raised whenever the view or its lines change
    looked_at: str = ""  # the state of the files, as its watcher calls it, that the work tree's lines are of


@dataclass(frozen=True, slots=True)
class StoredPatch:
    """A patch with its place in a chain."""

    position: int
    commit: int
    patch: Patch


class HistoryStore:
    """One repository's history file. Used by one thread at a time; other processes may read meanwhile."""

    def __init__(self, file: Path, connection: sqlite3.Connection, rebuilt: str | None) -> None:
        self._file = file
        self._db = connection
        self.rebuilt = rebuilt  # why an older file was thrown away; None when it was not
        self._columns: CommitColumns | None = None  # as last read, while nobody else has written
        self._data_version = -1  # SQLite's count of what others wrote, when last looked at

    @classmethod
    def open(cls, file: Path) -> HistoryStore:
        """Open or create it; a damaged file is replaced by an empty one."""
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            connection, problem = _connect(file), None
            problem = _problem(connection)
        except sqlite3.DatabaseError as error:
            connection, problem = None, f"damaged: {error}"
        if problem is None and connection is not None:
            return cls(file, connection, None)
        if connection is not None:
            connection.close()
        return cls(file, _create(file), problem if problem != "new" else None)

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def start_over(self, reason: str) -> None:
        """Throw everything away, as after damage that was met while reading."""
        self._db.close()
        self._db = _create(self._file)
        self._columns, self._data_version = None, -1
        self.rebuilt = reason

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """All of it or nothing, also across a crash."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._columns = None
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def keep_selection(self, selection: str) -> None:
        """Patches are of the selected files alone: another selection makes them worthless."""
        found = self._db.execute("SELECT value FROM meta WHERE key = 'selection'").fetchone()
        if found == (selection,):
            return
        with self.transaction():
            for table in ("patches", "views", "lines"):
                self._db.execute(f"DELETE FROM {table}")  # noqa: S608 names from this line
            self._db.execute("UPDATE commits SET has_patches = 0")
            self._db.execute("INSERT OR REPLACE INTO meta VALUES ('selection', ?)", (selection,))

    # commits and patches

    def add_commits(self, commits: Iterable[Commit]) -> list[int]:
        """Their numbers, new or known."""
        return [self._add_commit(commit) for commit in commits]

    def number(self, commit_id: str) -> int | None:
        """The number of a commit, None when it is not known."""
        row = self._db.execute("SELECT n FROM commits WHERE id = ?", (commit_id,)).fetchone()
        return row[0] if row else None

    def numbers(self, commit_ids: Iterable[str]) -> set[int]:
        """The numbers of those that are known."""
        return {number for number in map(self.number, commit_ids) if number is not None}

    def commit(self, number: int) -> tuple[Commit, CommitFlag]:
        """A commit by its number."""
        id_, time, email, name, subject, flags = self._db.execute(
            "SELECT id, time, email, name, subject, flags FROM commits JOIN authors ON authors.n = author "
            "WHERE commits.n = ?",
            (number,),
        ).fetchone()
        return Commit(id_, None, time, email, name, subject), CommitFlag(flags)

    def look_again(self) -> None:
        """Another process may have written since: then trust nothing that was read before."""
        (version,) = self._db.execute("PRAGMA data_version").fetchone()
        if version != self._data_version:
            self._columns, self._data_version = None, version

    def columns(self) -> CommitColumns:
        """The facts of all commits, by number."""
        known = self._columns or CommitColumns(np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.uint8))
        query = "SELECT n, time, author, flags FROM commits WHERE n >= ? ORDER BY n"
        rows = self._db.execute(query, (len(known.times),)).fetchall()
        table = np.array(rows, np.int64).reshape(-1, 4)
        # Numbers have no gaps: commits are only ever added.
        self._columns = CommitColumns(
            np.concatenate((known.times, table[:, 1])),
            np.concatenate((known.authors, table[:, 2].astype(np.int32))),
            np.concatenate((known.flags, table[:, 3].astype(np.uint8))),
        )
        return replace(self._columns, flags=self._columns.flags.copy())  # callers mark what they find out

    def reverts(self) -> list[tuple[int, int]]:
        """Pairs (revert, what it may have taken back), by subject."""
        return self._db.execute(
            "SELECT r.n, c.n FROM commits r JOIN commits c ON c.subject = r.takes_back "
            "WHERE r.takes_back IS NOT NULL ORDER BY r.n, c.n"
        ).fetchall()

    def without_patches(self, numbers: Ints) -> set[int]:
        """Those of the commits whose patches have not been read."""
        lacking = {row[0] for row in self._db.execute("SELECT n FROM commits WHERE NOT has_patches")}
        return lacking.intersection(numbers.tolist()) if lacking else lacking

    def add_patches(self, commit: int, patches: Sequence[Patch], flags: CommitFlag) -> None:
        """What a commit changed, and what that says about it."""
        rows = [
            (
                commit,
                self._path(patch.path),
                None if patch.source is None else self._path(patch.source),
                int(patch.change),
                patch.hunks.tobytes(),
            )
            for patch in patches
        ]
        self._db.execute("DELETE FROM patches WHERE commit_n = ?", (commit,))
        self._db.executemany("INSERT INTO patches VALUES (?, ?, ?, ?, ?)", rows)
        if flags:
            self._columns = None
            self._db.execute("UPDATE commits SET flags = flags | ? WHERE n = ?", (int(flags), commit))

    def mark_read(self, numbers: Iterable[int]) -> None:
        """The patches of these commits are complete."""
        self._db.executemany("UPDATE commits SET has_patches = 1 WHERE n = ?", [(n,) for n in numbers])

    def all_patches(self, positions: Ints) -> list[StoredPatch]:
        """All patches of a chain, in its order; `positions` is by commit number, negative when not in it."""
        rows = self._db.execute("SELECT commit_n, path_n, source_n, change, hunks FROM patches ORDER BY rowid")
        return self._stored(rows, positions, self._all_paths())

    def patches_of(self, paths: Iterable[bytes], positions: Ints) -> list[StoredPatch]:
        """The patches of a chain that these paths' lines come from, with all that renames lead to."""
        find = "SELECT n FROM paths WHERE path = ?"
        wanted = {row[0] for path in paths for row in self._db.execute(find, (path,))}
        found: dict[int, tuple[int, int, int | None, int, bytes]] = {}
        done: set[int] = set()
        while wanted:
            done |= wanted
            rows = [row for batch in _batches(sorted(wanted)) for row in self._touching(batch)]
            found.update({row[0]: row[1:] for row in rows})
            sources = {row[3] for row in rows if row[3] is not None and row[2] in wanted}
            wanted = sources - done
        names = self._names({number for row in found.values() for number in row[1:3] if number is not None})
        return self._stored((found[rowid] for rowid in sorted(found)), positions, names)

    def deletions(self, positions: Ints) -> list[StoredPatch]:
        """The patches of a chain that delete a file, newest first."""
        rows = self._db.execute(
            "SELECT commit_n, path_n, source_n, change, hunks FROM patches WHERE change = 3 ORDER BY rowid"  # DELETED
        )
        return self._stored(rows, positions, self._all_paths())

    def paths_touched_by(self, numbers: Iterable[int]) -> set[bytes]:
        """The paths in these commits' patches, and all names that a rename ever gave to these files."""
        found: set[int] = set()
        for batch in _batches(sorted(numbers)):
            marks = ",".join("?" * len(batch))
            rows = self._db.execute(
                f"SELECT path_n FROM patches WHERE commit_n IN ({marks})"  # noqa: S608 marks only
                f" UNION SELECT source_n FROM patches WHERE commit_n IN ({marks}) AND source_n IS NOT NULL",
                (*batch, *batch),
            )
            found.update(row[0] for row in rows)
        fresh = found
        while fresh := self._renamed_from(fresh) - found:
            found |= fresh
        return set(self._names(found).values())

    def _renamed_from(self, paths: Iterable[int]) -> set[int]:
        rows: list[tuple[int]] = []
        for batch in _batches(sorted(paths)):
            marks = ",".join("?" * len(batch))
            rows += self._db.execute(f"SELECT DISTINCT path_n FROM patches WHERE source_n IN ({marks})", batch)  # noqa: S608
        return {row[0] for row in rows}

    # signatures

    def signature_verdict(self, commit: int, path: str, name: str) -> tuple[bool | None] | None:
        """What was kept for it, in a tuple; None when nothing was."""
        row = self._db.execute(
            "SELECT verdict FROM signatures WHERE commit_n = ? AND path = ? AND name = ?",
            (commit, _bytes(path), name),
        ).fetchone()
        return None if row is None else (None if row[0] is None else bool(row[0]),)

    def keep_signature_verdict(self, commit: int, path: str, name: str, verdict: bool | None) -> None:
        """Whether a commit changed the signature of a name in a file; None when it brought the name there."""
        self._db.execute("INSERT OR REPLACE INTO signatures VALUES (?, ?, ?, ?)", (commit, _bytes(path), name, verdict))

    def definitions(self, commit: int, path: bytes, *, before: bool) -> frozenset[str] | None:
        """The names that a file defined after a commit, or before it; None when that was not kept."""
        row = self._db.execute(
            "SELECT names FROM definitions WHERE commit_n = ? AND path = ? AND before = ?", (commit, path, before)
        ).fetchone()
        return None if row is None else frozenset(row[0].split())

    def keep_definitions(self, commit: int, path: bytes, names: Iterable[str], *, before: bool) -> None:
        """Remember what a version of a file defines."""
        row = (commit, path, before, " ".join(sorted(names)))
        self._db.execute("INSERT OR REPLACE INTO definitions VALUES (?, ?, ?, ?)", row)

    # views and lines

    def view(self, git_dir: Path) -> View | None:
        """How far a work tree's lines have been derived; None when they have not."""
        row = self._db.execute(
            "SELECT n, head, chain, horizon, visible, is_cut, ignored, version, looked_at FROM views WHERE git_dir = ?",
            (_path_bytes(git_dir),),
        ).fetchone()
        if row is None:
            return None
        n, head, chain, horizon, visible, is_cut, ignored, version, looked_at = row
        numbers = np.frombuffer(chain, np.int32)
        return View(n, head, numbers, horizon, visible, bool(is_cut), tuple(ignored.split()), version, looked_at)

    def keep_view(self, git_dir: Path, view: View, lines: dict[bytes, FileLines], gone: Iterable[bytes] | None) -> None:
        """Replace what was derived: all of it when `gone` is None, else `gone` and the paths of `lines`.

        The work tree's lines are of another HEAD from here on: whoever stops now must look at all of it next time.
        """
        self._db.execute(
            "INSERT INTO views (git_dir, head, chain, horizon, visible, is_cut, ignored, version, looked_at) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, 1, '') ON CONFLICT (git_dir) DO UPDATE SET head = excluded.head, "
            "chain = excluded.chain, horizon = excluded.horizon, visible = excluded.visible, "
            "is_cut = excluded.is_cut, ignored = excluded.ignored, version = version + 1, looked_at = ''",
            (
                _path_bytes(git_dir),
                view.head,
                view.chain.astype(np.int32).tobytes(),
                view.horizon,
                view.visible,
                view.is_cut,
                " ".join(view.ignored),
            ),
        )
        (number,) = self._db.execute("SELECT n FROM views WHERE git_dir = ?", (_path_bytes(git_dir),)).fetchone()
        self._replace_lines(number, _HEAD_LAYER, lines, gone)

    def keep_work_tree(self, view_n: int, lines: dict[bytes, FileLines]) -> None:
        """Replace the lines of files that differ from HEAD."""
        self._replace_lines(view_n, _WORK_TREE_LAYER, lines, None)
        self._db.execute("UPDATE views SET version = version + 1 WHERE n = ?", (view_n,))

    def keep_looked_at(self, view_n: int, state: str) -> None:
        """Note of which state of the files the work tree's lines are; '' when nobody can tell."""
        self._db.execute("UPDATE views SET looked_at = ? WHERE n = ?", (state, view_n))

    def lines(self, view_n: int) -> dict[str, FileLines]:
        """The lines of all files about which something is known; the work tree's where it differs."""
        rows = self._db.execute(f"{_SELECT_LINES} WHERE view_n = ? ORDER BY layer", (view_n,))
        return {path.decode("utf-8", "surrogateescape"): _decoded(*file) for path, *file in rows}

    def lines_of(self, view_n: int, paths: Iterable[bytes]) -> dict[str, FileLines]:
        """The same for some paths."""
        found = {}
        for path in paths:
            row = self._db.execute(
                f"{_SELECT_LINES} WHERE view_n = ? AND path = ? ORDER BY layer DESC LIMIT 1", (view_n, path)
            ).fetchone()
            if row is not None:
                found[path.decode("utf-8", "surrogateescape")] = _decoded(*row[1:])
        return found

    def work_tree_paths(self, view_n: int) -> set[bytes]:
        """Files that differed from HEAD when last looked at."""
        rows = self._db.execute(
            "SELECT path FROM lines JOIN paths ON paths.n = path_n WHERE view_n = ? AND layer = 1",  # _WORK_TREE_LAYER
            (view_n,),
        )
        return {row[0] for row in rows}

    def _replace_lines(
        self, view_n: int, layer: int, lines: dict[bytes, FileLines], gone: Iterable[bytes] | None
    ) -> None:
        if gone is None:
            self._db.execute("DELETE FROM lines WHERE view_n = ? AND layer = ?", (view_n, layer))
        else:
            self._db.executemany(
                "DELETE FROM lines WHERE view_n = ? AND layer = ? AND path_n = ?",
                [(view_n, layer, self._path(path)) for path in sorted(gone)],
            )
        self._db.executemany(
            "INSERT OR REPLACE INTO lines VALUES (?, ?, ?, ?, ?, ?)",
            [(view_n, self._path(path), layer, *_encoded(file), file.rest) for path, file in sorted(lines.items())],
        )

    def _add_commit(self, commit: Commit) -> int:
        if (known := self.number(commit.id)) is not None:
            return known
        takes_back = _REVERT.match(commit.subject)
        cursor = self._db.execute(
            "INSERT INTO commits (id, time, author, name, subject, takes_back, flags, has_patches) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, 0)",
            (
                commit.id,
                commit.time,
                self._author(commit.email),
                commit.name,
                commit.subject,
                takes_back[1] if takes_back else None,
                int(_flags(commit.subject)),
            ),
        )
        assert cursor.lastrowid is not None
        return cursor.lastrowid

    def _author(self, email: str) -> int:
        self._db.execute("INSERT OR IGNORE INTO authors (email) VALUES (?)", (email,))
        number: int = self._db.execute("SELECT n FROM authors WHERE email = ?", (email,)).fetchone()[0]
        return number

    def _path(self, path: bytes) -> int:
        row = self._db.execute("SELECT n FROM paths WHERE path = ?", (path,)).fetchone()
        if row is None:
            row = (self._db.execute("INSERT INTO paths (path) VALUES (?)", (path,)).lastrowid,)
        number: int = row[0]
        return number

    def _all_paths(self) -> dict[int, bytes]:
        return dict(self._db.execute("SELECT n, path FROM paths"))

    def _names(self, numbers: Iterable[int]) -> dict[int, bytes]:
        """Some paths by their numbers."""
        names: dict[int, bytes] = {}
        for batch in _batches(sorted(numbers)):
            marks = ",".join("?" * len(batch))
            names.update(self._db.execute(f"SELECT n, path FROM paths WHERE n IN ({marks})", batch))  # noqa: S608
        return names

    def _touching(self, paths: Sequence[int]) -> list[tuple[int, int, int, int | None, int, bytes]]:
        marks = ",".join("?" * len(paths))
        return self._db.execute(
            f"SELECT rowid, commit_n, path_n, source_n, change, hunks FROM patches WHERE path_n IN ({marks}) "  # noqa: S608 marks only
            "UNION SELECT rowid, commit_n, path_n, source_n, change, hunks FROM patches "
            f"WHERE source_n IN ({marks})",
            (*paths, *paths),
        ).fetchall()

    def _stored(
        self,
        rows: Iterable[tuple[int, int, int | None, int, bytes]],
        positions: Ints,
        names: dict[int, bytes],
    ) -> list[StoredPatch]:
        found = []
        place = positions.tolist()
        for commit, path, source, change, hunks in rows:
            if place[commit] >= 0:
                old = None if source is None else names[source]
                patch = Patch(names[path], old, Change(change), array("i", hunks))
                found.append(StoredPatch(place[commit], commit, patch))
        found.sort(key=lambda stored: stored.position)  # stable: a commit's patches stay in git's order
        return found


def _connect(file: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(file, timeout=30, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA cache_size = -32000")
    return connection


def _problem(connection: sqlite3.Connection) -> str | None:
    """Why the file cannot be used; "new" for one that was just made."""
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == 0 and not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
        return "new"
    if version != SCHEMA_VERSION:
        return f"of format {version}, not {SCHEMA_VERSION}"
    verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
    return None if verdict == "ok" else f"damaged: {verdict}"


def _create(file: Path) -> sqlite3.Connection:
    for suffix in ("", "-wal", "-shm"):
        file.with_name(file.name + suffix).unlink(missing_ok=True)
    connection = _connect(file)
    connection.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")
    return connection


def _flags(subject: str) -> CommitFlag:
    flags = CommitFlag.NONE
    if _FIX.search(_TICKET.sub("", subject)):  # "Fixed #1 -- Added x" closes a ticket: no fix by that alone
        flags |= CommitFlag.FIX
    if subject.startswith("Revert"):
        flags |= CommitFlag.REVERT
    return flags


def _encoded(file: FileLines) -> tuple[bytes, bytes]:
    """Owners as runs (owner, length); touches as they are."""
    owners = file.owners
    begins = np.flatnonzero(np.concatenate(([True], owners[1:] != owners[:-1]))) if len(owners) else owners
    lengths = np.diff(np.append(begins, len(owners)))
    runs = np.column_stack((owners[begins], lengths)).astype(np.int32)
    return runs.tobytes(), file.touches.tobytes()


def _decoded(owners: bytes, touches: bytes, rest: int) -> FileLines:
    runs = np.frombuffer(owners, np.int32).reshape(-1, 2)
    return FileLines(np.repeat(runs[:, 0], runs[:, 1]), np.frombuffer(touches, np.int32).reshape(-1, 3), rest)


def _batches(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    for begin in range(0, len(numbers), _BATCH):
        yield numbers[begin : begin + _BATCH]


def _path_bytes(path: Path) -> bytes:
    return _bytes(str(path))


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")
