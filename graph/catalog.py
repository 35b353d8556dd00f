"""The durable truth of one repository: files, nodes, edges, facts and generations in one SQLite file.

The only module that reads and writes the tables (`graph/catalog_file.py` makes them). It never parses, resolves or
searches; everything else that is stored on disk (full text, vectors) or held in memory (CodeGraph) is derived from a
generation of this file.

How it is laid out. A file's graph is always replaced as a whole, so it is stored as a few blobs per file rather
than as a row per node and edge: 100k nodes and 500k edges are a few thousand rows, written in a second and read
as arrays. Every blob carries a CRC-32, because SQLite itself does not notice a flipped bit inside a value.

How it survives. WAL with synchronous=FULL: kill -9 loses nothing committed, and neither does power loss. NORMAL
would be as safe against corruption but may forget the last commits when power fails; a search index that already
carries generation 8 would then meet a catalog that makes another generation 8. One fsync per commit buys that off.
One process writes (flock, dies with it); any number read, each in its own WAL snapshot.

Edges may name a node that does not exist (yet). They are stored as given; `load_edges` leaves those whose target
is missing out and counts them in `EdgeTable.dangling`, `verify` names them. An error at commit would make one
resolver slip stop a whole index; a silent edge to nowhere would be worse.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import weakref
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np

from ctxsearch.graph.blobs import (
    DamagedError,
    GraphBlobs,
    decode_edges,
    decode_graph,
    decode_nodes,
    decode_record,
    decode_sites,
    decode_summary,
    edge_table,
    encode_graph,
    encode_record,
    id_numbers,
    node_order,
    path_key,
    path_of,
    seal,
    unseal,
)
from ctxsearch.graph.catalog_file import (
    BUSY_SECONDS,
    LONG_LOG,
    CatalogBusyError,
    CatalogCorruptError,
    CatalogError,
    CatalogFullError,
    CatalogMissingError,
    CatalogVersionError,
    UnknownGenerationError,
    check,
    check_header,
    checkpoint,
    connect,
    create_if_empty,
    find_meta,
    last_generation,
    log_size,
    meta,
    opening,
    put_meta,
    take_lock,
    translated,
)
from ctxsearch.graph.edges import EdgeTable
from ctxsearch.graph.model import CodeNode, Edge, EdgeKind, NodeDocument, NodeFlag, NodeId, NodeKind, Unresolved
from ctxsearch.graph.records import (
    Changes,
    Counts,
    EdgeSites,
    FactsKey,
    FileGraph,
    FileRecord,
    NodeRecord,
    is_shard,
    owner_of,
)

__all__ = [
    "Catalog",
    "CatalogBusyError",
    "CatalogCorruptError",
    "CatalogError",
    "CatalogFullError",
    "CatalogMissingError",
    "CatalogVersionError",
    "Pinned",
    "Snapshot",
    "UnknownGenerationError",
    "Writer",
]

# Said so that a path which damage has made into something else than bytes is still found, and refused.
_NO_SHARDS = " WHERE NOT (path >= x'00' AND path < x'01')"
_PER_FILE_TABLES = ("text", "graph", "detail", "reads")


def _row_checksum(path: bytes, changed: int, documents: int, record: bytes) -> int:
    return zlib.crc32(record, zlib.crc32(f"{changed} {documents} ".encode() + path))


def _checked_record(path: bytes, changed: int, documents: int, record: bytes, checksum: int) -> FileRecord:
    if _row_checksum(path, changed, documents, record) != checksum:
        raise DamagedError
    return decode_record(path_of(path), record)


class Catalog:
    """One repository's catalog file. Thread-safe; the writing side belongs to one process at a time."""

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: IO[bytes] | None) -> None:
        self.path = path
        self._connection = connection  # the writer's; used under _guard only
        self._lock = lock  # None: read-only
        self._guard = threading.Lock()
        self._shards: Mapping[str, FileGraph] = {}  # what this process committed last
        with translated(path):
            self.identity = meta(connection, "identity")  # differs after every rebuild
            self._generation = int(meta(connection, "generation"))

    @staticmethod
    def open(path: Path, *, read_only: bool = False, after: int = 0) -> Catalog:
        """Open or create. On CatalogCorruptError or CatalogVersionError, `rebuild` is the next step.

        A catalog that is created counts its generations on from `after`: whoever waits for a generation that an
        earlier catalog promised must not be answered by an older one of the same number.
        """
        if read_only and not path.exists():
            raise CatalogMissingError(path, "no such file; index the repository first")
        lock = None if read_only else take_lock(path)
        try:
            with opening(path):
                check_header(path)
                connection = connect(path, read_only=read_only)
                try:
                    if not read_only:
                        create_if_empty(connection, after)
                    check(path, connection, read_only=read_only)
                    if not read_only:
                        put_meta(connection, "state", "open")
                    return Catalog(path, connection, lock)
                except BaseException:
                    connection.close()
                    raise
        except BaseException:
            if lock is not None:
                lock.close()
            raise

    @staticmethod
    def rebuild(path: Path, after: int = 0) -> Path | None:
        """Set the file aside as `NAME.broken` (replacing an older one) and create an empty catalog in its place.

        Generations count on from the old file's, or from `after` if that is more or the file cannot be read.
        Returns where the old file went, None if there was none.
        """
        lock = take_lock(path)
        try:
            after = max(after, last_generation(path)) if path.exists() else after
            aside = path.with_name(path.name + ".broken") if path.exists() else None
            if aside is not None:
                path.replace(aside)
            for suffix in ("-wal", "-shm"):
                path.with_name(path.name + suffix).unlink(missing_ok=True)
        finally:
            lock.close()
        Catalog.open(path, after=after).close()
        return aside

    @property
    def generation(self) -> int:
        """The newest committed generation; 0, or the last one of the catalog before, while nothing was indexed."""
        if self._lock is not None:
            return self._generation
        with self._guard, translated(self.path):
            return int(meta(self._connection, "generation"))

    @contextlib.contextmanager
    def write(self) -> Iterator[Writer]:
        """One transaction, which becomes the next generation, or nothing at all if the block raises."""
        if self._lock is None:
            raise CatalogError(self.path, "opened read-only")
        if not self._guard.acquire(timeout=BUSY_SECONDS):
            raise CatalogBusyError(self.path, "another thread is writing")
        try:
            with translated(self.path):
                self._connection.execute("BEGIN IMMEDIATE")
                try:
                    writer = Writer(self._connection, self._generation, self._shards)
                    yield writer
                    generation = writer.finish()
                    self._connection.execute("COMMIT")
                except BaseException:
                    if self._connection.in_transaction:
                        self._connection.execute("ROLLBACK")
                    raise
                self._generation, self._shards = generation, writer.shards
        finally:
            self._guard.release()

    @contextlib.contextmanager
    def read(self) -> Iterator[Snapshot]:
        """A view of one generation that stays while writers commit. Use it in the thread that opened it."""
        with opening(self.path):
            connection, snapshot = _begin_snapshot(self.path)
        try:
            with translated(self.path):
                yield snapshot
        finally:
            connection.close()

    def pin(self) -> Pinned:
        """A view of one generation for as long as it is needed, shared by threads."""
        with opening(self.path):
            return Pinned(self.path, *_begin_snapshot(self.path))

    def verify(self) -> tuple[str, ...]:
        """Read everything; one sentence per problem. Slow: for `doctor`."""
        try:
            with self.read() as snapshot:
                return snapshot.problems()
        except CatalogCorruptError as error:
            return (error.reason,)

    def close(self) -> None:
        """Note a clean end and release the file. Closing twice is allowed."""
        with self._guard:
            if self._lock is not None and not self._lock.closed:
                # An unclean mark only costs the next open a check; a full disk must not keep us from closing.
                with contextlib.suppress(sqlite3.Error):
                    put_meta(self._connection, "state", "closed")
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            if self._lock is not None:
                self._lock.close()

    def __enter__(self) -> Catalog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Writer:
    """The open transaction. Valid inside its `with` block only."""

    def __init__(self, connection: sqlite3.Connection, generation: int, shards: Mapping[str, FileGraph]) -> None:
        self._db = connection
        self.shards = shards  # as last put, where known
        self._base = generation
        self._visible = False
        self._bare: set[str] = set()  # files that have no part of the graph yet
        self.generation = generation + 1  # what this transaction becomes, if it changes anything visible

    def put_file(self, record: FileRecord, text: str) -> None:
        """Add or update a file. A new stat of unchanged content is noted without making a change."""
        if not record.path or is_shard(record.path):
            raise ValueError(f"{record.path!r} is not a path")
        key = path_key(record.path)
        old = self._file(key)
        same = old is not None and _content(decode_record(record.path, old[3])) == _content(record)
        if old is None:
            self._bare.add(record.path)
        if not same:
            self._visible = True
        changed, documents = (old[1], old[2]) if old is not None and same else (self.generation,) * 2
        self._store_file(old[0] if old else None, key, changed, documents, encode_record(record))
        if not same:
            self._db.execute(
                "INSERT OR REPLACE INTO text SELECT key, ? FROM file WHERE path = ?",
                (seal(text.encode("utf-8", "surrogatepass"), key, compress=True), key),
            )
        self._db.execute("DELETE FROM skipped WHERE path = ?", (key,))
        self._db.execute("DELETE FROM removed WHERE path = ?", (key,))

    def put_facts(self, content_hash: str, language: str, extractor_version: str, data: bytes) -> None:
        """Remember what a content parses to. Not visible: a transaction of facts alone makes no generation."""
        key = (content_hash, language, extractor_version)
        self._db.execute(
            "INSERT OR REPLACE INTO facts VALUES (?, ?, ?, ?, ?)",
            (*key, self.generation, seal(data, _facts_owner(key), compress=True)),
        )

    def facts(self, content_hash: str, language: str, extractor_version: str) -> bytes | None:
        """What `put_facts` remembered, in this transaction or before; damaged ones count as absent."""
        return _find_facts(self._db, (content_hash, language, extractor_version))

    def drop_facts(self, content_hash: str, language: str, extractor_version: str) -> None:
        """Forget what `put_facts` remembered; not visible either."""
        self._db.execute(
            "DELETE FROM facts WHERE content_hash = ? AND language = ? AND extractor_version = ?",
            (content_hash, language, extractor_version),
        )

    def replace(self, path: str, graph: FileGraph) -> None:
        """Give a file (put before, now or earlier) its part of the graph, in place of what it had."""
        self._replace(path, graph)

    def replace_sealed(self, path: str, blobs: GraphBlobs, reads: bytes) -> None:
        """The same for a graph that another process has encoded and sealed."""
        self._put_blobs(path, self._known(path), blobs, reads)

    def put_shared(self, nodes: Iterable[NodeRecord], edges: Iterable[Edge]) -> None:
        """Replace the whole set of nodes without a file, and the edges that start at them."""
        shards = _shards(nodes, edges)
        for owner in sorted(self._shard_owners() - shards.keys()):
            self.remove(owner)
        for owner, graph in sorted(shards.items()):
            if self.shards.get(owner) != graph:  # comparing is far cheaper than encoding
                self._put_shard(owner, graph)
        self.shards = shards

    def remove(self, path: str) -> None:
        """Forget a file, or a skipped path. Unknown paths are no error: removing is idempotent."""
        key = path_key(path)
        if self._db.execute("DELETE FROM skipped WHERE path = ?", (key,)).rowcount:
            self._visible = True
        self._bare.discard(path)
        row = self._file(key)
        if row is None:
            return
        for table in _PER_FILE_TABLES:
            self._db.execute(f"DELETE FROM {table} WHERE file = ?", (row[0],))  # noqa: S608
        self._db.execute("DELETE FROM file WHERE key = ?", (row[0],))
        self._db.execute("INSERT OR REPLACE INTO removed VALUES (?, ?)", (key, _sealed_text(str(self.generation), key)))
        self._visible = True

    def put_skipped(self, path: str, reason: str) -> None:
        """Note that a path is not indexed, and why. A file that was indexed before must be removed first."""
        key = path_key(path)
        old = self._db.execute("SELECT reason FROM skipped WHERE path = ?", (key,)).fetchone()
        sealed = _sealed_text(reason, key)
        if old != (sealed,):
            self._db.execute("INSERT OR REPLACE INTO skipped VALUES (?, ?)", (key, sealed))
            self._visible = True

    def set_meta(self, key: str, value: str) -> None:
        """Note a fact about the generation itself, such as the commit it was made from."""
        name = f"user.{key}"
        if find_meta(self._db, name) != value:
            put_meta(self._db, name, value)
            self._visible = True

    def collect_facts(self, older_than: int) -> int:
        """Drop facts that no present file uses and that were stored before a generation; how many went."""
        rows = self._db.execute("SELECT path, record FROM file").fetchall()
        used = {decode_record(path_of(key), record).content_hash for key, record in rows if not is_shard(path_of(key))}
        stale = [
            (rowid,)
            for rowid, content_hash in self._db.execute(
                "SELECT rowid, content_hash FROM facts WHERE generation < ?", (older_than,)
            )
            if content_hash not in used
        ]
        self._db.executemany("DELETE FROM facts WHERE rowid = ?", stale)
        return len(stale)

    def finish(self) -> int:
        """Called by `Catalog.write` before the commit: the generation that the transaction leaves."""
        for path in sorted(self._bare):
            self._replace(path, FileGraph())
        if not self._visible:
            return self._base
        put_meta(self._db, "generation", str(self.generation))
        return self.generation

    def _shard_owners(self) -> set[str]:
        rows = self._db.execute("SELECT path FROM file WHERE path >= ? AND path < ?", (b"\x00", b"\x01"))
        return {path_of(key) for (key,) in rows}

    def _put_shard(self, owner: str, graph: FileGraph) -> None:
        key = path_key(owner)
        if self._file(key) is None:
            nothing = FileRecord(owner, language="", size=0, mtime_ns=0, inode=0, content_hash="")
            self._store_file(None, key, self.generation, self.generation, encode_record(nothing))
            self._db.execute("DELETE FROM removed WHERE path = ?", (key,))
        self._replace(owner, graph)

    def _file(self, key: bytes) -> tuple[int, int, int, bytes] | None:
        row: tuple[int, int, int, bytes] | None = self._db.execute(
            "SELECT key, changed, documents, record FROM file WHERE path = ?", (key,)
        ).fetchone()
        return row

    def _store_file(self, rowid: int | None, key: bytes, changed: int, documents: int, record: bytes) -> None:
        self._db.execute(
            "INSERT OR REPLACE INTO file VALUES (?, ?, ?, ?, ?, ?)",
            (rowid, key, changed, documents, record, _row_checksum(key, changed, documents, record)),
        )

    def _replace(self, path: str, graph: FileGraph) -> None:
        file = self._known(path)
        blobs = encode_graph(path, decode_record(path, file[3]).language, graph)
        self._put_blobs(path, file, blobs, seal(graph.reads, path_key(path), compress=True))

    def _known(self, path: str) -> tuple[int, int, int, bytes]:
        file = self._file(path_key(path))
        if file is None:
            raise ValueError(f"{path}: no such file in the catalog; put_file comes first")
        return file

    def _put_blobs(self, path: str, file: tuple[int, int, int, bytes], blobs: GraphBlobs, reads: bytes) -> None:
        self._bare.discard(path)
        rowid, changed, documents, record = file
        old = self._blobs(rowid)
        if old is None or old.document_part() != blobs.document_part():
            changed = documents = self.generation
        elif old != blobs:
            changed = self.generation
        if old != blobs:
            self._visible = True
            self._db.execute(
                "INSERT OR REPLACE INTO graph VALUES (?, ?, ?, ?)",
                (rowid, blobs.summary, blobs.nodes, blobs.edges),
            )
            self._db.execute(
                "INSERT OR REPLACE INTO detail VALUES (?, ?, ?, ?)",
                (rowid, blobs.docs, blobs.sites, blobs.unresolved),
            )
        if (changed, documents) != file[1:3]:
            self._store_file(rowid, path_key(path), changed, documents, record)
        self._db.execute("INSERT OR REPLACE INTO reads VALUES (?, ?)", (rowid, reads))

    def _blobs(self, rowid: int) -> GraphBlobs | None:
        row = self._db.execute(
            "SELECT summary, nodes, edges, docs, sites, unresolved FROM graph JOIN detail USING (file) WHERE file = ?",
            (rowid,),
        ).fetchone()
        return GraphBlobs(*row) if row else None


class Snapshot:
    """One generation, read-only. Valid inside its `with` block only."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._path = path
        self._db = connection
        self._loaded: tuple[list[CodeNode], list[_Array], list[_Array]] | None = None
        self.generation = int(meta(connection, "generation"))
        self.identity = meta(connection, "identity")
        self.is_empty = self.generation == int(find_meta(connection, "base") or 0)  # nothing was ever committed

    def meta(self, key: str) -> str | None:
        """What `Writer.set_meta` noted."""
        return find_meta(self._db, f"user.{key}")

    def files(self) -> list[FileRecord]:
        """Every indexed file, by path."""
        rows = self._all("SELECT path, changed, documents, record, checksum FROM file" + _NO_SHARDS)  # noqa: S608
        with self._decoding("a record"):
            return sorted((_checked_record(*row) for row in rows), key=lambda record: record.path)

    def file(self, path: str) -> FileRecord | None:
        """One file's record."""
        row = self._one("SELECT path, changed, documents, record, checksum FROM file WHERE path = ?", path_key(path))
        return self._record(*row) if row and not is_shard(path) else None

    def file_count(self) -> int:
        """How many files are indexed."""
        count: int = self._one("SELECT count(*) FROM file WHERE path >= ?", b"\x01")[0]
        return count

    def skipped(self) -> list[tuple[str, str]]:
        """(path, reason) of what was left out, by path."""
        rows = self._all("SELECT path, reason FROM skipped")
        return sorted((self._path_of(key), self._text(key, sealed, "skipped")) for key, sealed in rows)

    def skip_reason(self, path: str) -> str | None:
        """Why one file was left out; None if it was not."""
        row = self._one("SELECT path, reason FROM skipped WHERE path = ?", path_key(path))
        return None if row is None else self._text(row[0], row[1], "skipped")

    def known_facts(self) -> set[FactsKey]:
        """The keys under which facts are stored."""
        return set(self._all("SELECT content_hash, language, extractor_version FROM facts"))

    def facts(self, content_hash: str, language: str, extractor_version: str) -> bytes | None:
        """Facts of a content. Damaged ones count as absent: parsing again is the repair."""
        with translated(self._path):
            return _find_facts(self._db, (content_hash, language, extractor_version))

    def file_facts(self, versions: Mapping[str, str]) -> Iterator[tuple[FileRecord, bytes | None]]:
        """Every file with its facts, by path; `versions` gives the extractor version of each language."""
        for record in self.files():
            version = versions.get(record.language)
            yield (
                record,
                None if version is None else self.facts(record.content_hash, record.language, version),
            )

    def reads(self) -> Iterator[tuple[str, bytes]]:
        """What each file's resolution looked up, by path."""
        rows = self._all("SELECT path, data FROM file LEFT JOIN reads ON file = key" + _NO_SHARDS)  # noqa: S608
        with self._decoding("what a file has read"):
            for key, data in sorted(rows):
                yield path_of(key), unseal(data, key)[1]

    def load_nodes(self) -> list[CodeNode]:
        """Every node, sorted by path, line and id."""
        return list(self._load()[0])

    def load_edges(self) -> EdgeTable:
        """Every edge whose target exists, as positions in `load_nodes`."""
        nodes, sources, columns = self._load()
        self._loaded = None  # nodes are asked for first, edges second; a pinned snapshot lives long
        return edge_table(nodes, sources, columns)

    def graph_of(self, path: str) -> FileGraph | None:
        """One file's part of the graph or a shard's, None if there is no such file."""
        row = self._one(
            "SELECT record, data, summary, nodes, edges, docs, sites, unresolved FROM file"
            " LEFT JOIN graph ON graph.file = key LEFT JOIN detail ON detail.file = key"
            " LEFT JOIN reads ON reads.file = key WHERE path = ?",
            path_key(path),
        )
        if row is None:
            return None
        with self._decoding(f"graph of {path}"):
            language = decode_record(path, row[0]).language
            return decode_graph(path, language, GraphBlobs(*row[2:]), unseal(row[1], path_key(path))[1])

    def sites(self, owner: str) -> EdgeSites:
        """The lines of every edge that starts in one file (or shard), in that file."""
        row = self._one(
            "SELECT nodes, edges, sites FROM file JOIN graph ON graph.file = key JOIN detail ON detail.file = key"
            " WHERE path = ?",
            path_key(owner),
        )
        if row is None:
            return {}
        with self._decoding(f"edges of {owner}"):
            return decode_sites(owner, *row)

    def unresolved(self, node: CodeNode) -> tuple[Unresolved, ...]:
        """Calls in a node whose target is not known."""
        graph = self.graph_of(owner_of(node))
        return tuple(call for call in graph.unresolved if call.source == node.id) if graph else ()

    def changes_since(self, generation: int) -> Changes:
        """What to do again for something that was derived from an earlier generation (0: everything)."""
        if not 0 <= generation <= self.generation:
            raise UnknownGenerationError(self._path, f"generation {generation} is not one of 0..{self.generation}")
        rows = self._all("SELECT path, changed, documents, record, checksum FROM file WHERE changed > ?", generation)
        for row in rows:
            self._record(*row)
        removed = self._all("SELECT path, generation FROM removed")
        return Changes(
            changed=tuple(sorted(self._path_of(row[0]) for row in rows)),
            removed=tuple(
                sorted(
                    self._path_of(key)
                    for key, sealed in removed
                    if int(self._text(key, sealed, "removal")) > generation
                )
            ),
            documents=tuple(sorted(self._path_of(row[0]) for row in rows if row[2] > generation)),
        )

    def text(self, path: str) -> str | None:
        """A file's text as it was indexed."""
        source = self.source(path)
        return None if source is None else source.decode("utf-8", "surrogatepass")

    def source(self, path: str) -> bytes | None:
        """A file's text as it was indexed, in UTF-8."""
        row = self._one("SELECT data FROM file LEFT JOIN text ON file = key WHERE path = ?", path_key(path))
        if row is None or is_shard(path):
            return None
        with self._decoding(f"text of {path}"):
            return unseal(row[0], path_key(path))[1]

    def documents(self, paths: Iterable[str] | None = None) -> Iterator[tuple[str, tuple[NodeDocument, ...]]]:
        """Nodes with their text, file by file in path order; shards first. Anonymous nodes are left out."""
        for path in sorted(set(paths)) if paths is not None else [path for path, _ in self._paths()]:
            graph = self.graph_of(path)
            if graph is None:
                continue
            lines = (self.text(path) or "").split("\n")
            yield (
                path,
                tuple(
                    NodeDocument(record.node, record.doc, "" if is_shard(path) else _body(record.node, lines))
                    for record in graph.nodes
                    if not record.node.flags & NodeFlag.ANONYMOUS
                ),
            )

    def counts(self) -> Counts:
        """How much there is, per language, kind and skip reason."""
        files, lines, errors = Counter[str](), Counter[str](), Counter[str]()
        for record in self.files():
            files[record.language] += 1
            lines[record.language] += record.line_count
            errors[record.language] += record.parse_errors > 0
        nodes, edges = Counter[NodeKind](), Counter[EdgeKind]()
        unresolved, calls = Counter[str](), Counter[str]()
        owners = self._owners()
        rows = self._all("SELECT file, summary FROM graph")
        self._check_complete(owners, (row[0] for row in rows))
        for rowid, blob in rows:
            path, language = owners[rowid]
            with self._decoding(f"summary of {path}"):
                summary = decode_summary(path, blob)
            nodes.update(summary.nodes)
            edges.update(summary.edges)
            if not is_shard(path):
                unresolved[language] += summary.unresolved
                calls[language] += summary.edges.get(EdgeKind.CALLS, 0)
        skipped = Counter(reason for _, reason in self.skipped())
        return Counts(
            files=dict(sorted(files.items())),
            lines=dict(sorted(lines.items())),
            parse_errors=dict(sorted(errors.items())),
            nodes=dict(sorted(nodes.items())),
            edges=dict(sorted(edges.items())),
            unresolved=dict(sorted(unresolved.items())),
            calls=dict(sorted(calls.items())),
            skipped=dict(sorted(skipped.items())),
        )

    def problems(self) -> tuple[str, ...]:
        """Everything that is wrong with this generation, read in full."""
        problems = [str(row[0]) for row in self._all("PRAGMA integrity_check") if row[0] != "ok"]
        if problems:
            return tuple(problems)
        self.files()
        for path, _ in self._paths():
            for read in (self.graph_of, self.text):
                try:
                    read(path)
                except CatalogCorruptError as error:
                    problems.append(error.reason)
        if not problems and self.load_edges().dangling:
            problems.extend(self._dangling())
        return tuple(problems)

    def _dangling(self) -> Iterator[str]:
        ids = {node.id for node in self.load_nodes()}
        for path, _ in self._paths():
            for edge in (self.graph_of(path) or FileGraph()).edges:
                if edge.target not in ids:
                    yield f"{path}: {edge.kind.name} edge from {edge.source} to the missing node {edge.target}"

    def _paths(self) -> list[tuple[str, int]]:
        return sorted((self._path_of(key), rowid) for key, rowid in self._all("SELECT path, key FROM file"))

    def _owners(self) -> dict[int, tuple[str, str]]:
        """Path and language by row."""
        owners = {}
        for rowid, key, record in self._all("SELECT key, path, record FROM file"):
            path = self._path_of(key)
            with self._decoding(f"record of {path}"):
                owners[rowid] = path, decode_record(path, record).language
        return owners

    def _load(self) -> tuple[list[CodeNode], list[_Array], list[_Array]]:
        """Nodes in order; per file with edges, the ids of their sources, and their rows."""
        if self._loaded is None:
            nodes, sources, columns = list[CodeNode](), list[_Array](), list[_Array]()
            owners = self._owners()
            rows = self._all("SELECT file, nodes, edges FROM graph")
            self._check_complete(owners, (row[0] for row in rows))
            for rowid, node_blob, edge_blob in rows:
                path, language = owners[rowid]
                with self._decoding(f"graph of {path}"):
                    own = decode_nodes(path, language, node_blob)
                    edges = decode_edges(path, edge_blob)
                    if len(edges):
                        sources.append(id_numbers(node.id for node in own)[edges["source"]])
                        columns.append(edges)
                nodes.extend(own)
            nodes.sort(key=node_order)
            self._loaded = nodes, sources, columns
        return self._loaded

    def _all(self, query: str, *values: object) -> list[Any]:
        with translated(self._path):
            return self._db.execute(query, values).fetchall()

    def _one(self, query: str, *values: object) -> Any:
        with translated(self._path):
            return self._db.execute(query, values).fetchone()

    def _path_of(self, key: bytes) -> str:
        with self._decoding("a path"):
            return path_of(key)

    def _check_complete(self, owners: Mapping[int, object], rows: Iterable[int]) -> None:
        """Every file has a part of the graph, if an empty one; a row that is missing was lost."""
        if set(rows) != owners.keys():
            raise CatalogCorruptError(self._path, "files and their graphs do not match")

    def _text(self, key: bytes, sealed: bytes, what: str) -> str:
        with self._decoding(f"{what} of {self._path_of(key)}"):
            return unseal(sealed, key)[1].decode()

    def _record(self, key: bytes, changed: int, documents: int, record: bytes, checksum: int) -> FileRecord:
        with self._decoding(f"record of {self._path_of(key)}"):
            return _checked_record(key, changed, documents, record, checksum)

    @contextlib.contextmanager
    def _decoding(self, what: str) -> Iterator[None]:
        try:
            yield
        except (DamagedError, ValueError, IndexError, TypeError) as error:
            raise CatalogCorruptError(self._path, f"{what} is damaged") from error


class Pinned:
    """A `Snapshot` without a block around it: threads take turns, errors are the catalog's own.

    Whoever holds it keeps the generation; it is let go of when nobody does. While a snapshot that began in the
    write-ahead log is open, SQLite cannot start that log again, and a daemon always holds one. So when the log has
    grown, the pin copies it into the file and moves to a snapshot of the same generation that does not need it.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, snapshot: Snapshot) -> None:
        self._path = path
        self._guard = threading.Lock()
        self._log_seen = 0  # bytes
        self._hold(connection, snapshot)
        self.generation = snapshot.generation
        self.identity = snapshot.identity
        self.is_empty = snapshot.is_empty

    @contextlib.contextmanager
    def use(self) -> Iterator[Snapshot]:
        """The snapshot, for this thread alone until the block ends."""
        with self._guard:
            self._leave_long_log()
            with translated(self._path):
                yield self._snapshot

    def _hold(self, connection: sqlite3.Connection, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._release = weakref.finalize(self, connection.close)

    def _leave_long_log(self) -> None:
        size = log_size(self._path)
        if size - self._log_seen < LONG_LOG:
            return
        self._log_seen = size
        # What cannot be done now is tried again when the log has grown once more; reading goes on either way.
        with contextlib.suppress(sqlite3.Error, CatalogError):
            checkpoint(self._path)
            connection, snapshot = _begin_snapshot(self._path)
            if (snapshot.generation, snapshot.identity) == (self.generation, self.identity):
                self._release()
                self._hold(connection, snapshot)
            else:
                connection.close()


def _shards(nodes: Iterable[NodeRecord], edges: Iterable[Edge]) -> dict[str, FileGraph]:
    own: dict[str, tuple[list[NodeRecord], list[Edge]]] = {}
    owners: dict[NodeId, str] = {}
    for record in nodes:
        owner = owners[record.node.id] = owner_of(record.node)
        if not is_shard(owner):
            raise ValueError(f"{record.node.qualified_name}: a {record.node.kind.name} belongs to a file")
        own.setdefault(owner, ([], []))[0].append(record)
    for edge in edges:
        if edge.source not in owners:
            raise ValueError(f"an edge starts at {edge.source}, which is no node without a file")
        own[owners[edge.source]][1].append(edge)
    return {owner: FileGraph(tuple(records), tuple(links)) for owner, (records, links) in own.items()}


def _sealed_text(text: str, key: bytes) -> bytes:
    return seal(text.encode(), key)


def _find_facts(connection: sqlite3.Connection, key: FactsKey) -> bytes | None:
    row = connection.execute(
        "SELECT data FROM facts WHERE content_hash = ? AND language = ? AND extractor_version = ?", key
    ).fetchone()
    if row is None:
        return None
    try:
        return unseal(row[0], _facts_owner(key))[1]
    except DamagedError:
        return None


def _facts_owner(key: FactsKey) -> bytes:
    return "\0".join(key).encode()


def _content(record: FileRecord) -> tuple[object, ...]:
    """What of a file's record its readers can see; the rest only tells whether to look again."""
    return record.content_hash, record.language, record.flags, record.line_count, record.parse_errors


def _body(node: CodeNode, lines: list[str]) -> str:
    return "\n".join(lines[node.start_line - 1 : node.end_line])


_Array = np.ndarray[Any, Any]


def _begin_snapshot(path: Path) -> tuple[sqlite3.Connection, Snapshot]:
    connection = connect(path, read_only=True)
    try:
        connection.execute("BEGIN")
        return connection, Snapshot(path, connection)
    except BaseException:
        connection.close()
        raise
