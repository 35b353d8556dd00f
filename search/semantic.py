"""Vectors in LanceDB: the only module that imports lancedb and pyarrow, and only when an index is opened.

One row per passage. A generation is a tag on a table version: rows are deleted and added first, the tag is
set last
and is the commit. What a crash leaves behind it has no tag and is undone by the next writer. Tables that
fit are searched in memory (vectors.py); larger ones by LanceDB's own index.
"""

from __future__ import annotations

import datetime as dt
import functools
import itertools
import math
import re
import threading
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ctxsearch.graph.columns import Numbers
from ctxsearch.graph.model import CodeNode, NodeDocument, NodeId
from ctxsearch.search.checksums import TableChecksums
from ctxsearch.search.documents import encodable, node_texts, passage_hash, passages
from ctxsearch.search.errors import IndexCorrupt
from ctxsearch.search.ports import NO_HITS, Embedder, Floats, Hit, Hits, Passage, Selection
from ctxsearch.search.scope import Scope, dotted, path_regex
from ctxsearch.search.vectors import Halves, VectorBlock, VectorMatrix, make_block

FORMAT: Final = "vectors-1"
_BATCH: Final = 4_096  # passages embedded and written at a time
_SLOW_BATCH: Final = 256  # where that takes minutes: somebody watches how far it is
_TAG: Final = re.compile(r"g(\d+)")


@dataclass(frozen=True, slots=True)
class SemanticPolicy:
    """When to search in memory and when to compact, with the reasons (bench/vectors.py measures)."""

    rows_in_memory: int = 400_000  # about 0.8 KB each; above, LanceDB's IVF index lives on disk
    updates_before_compaction: int = 32  # after 48 small updates LanceDB reads 3.4 times slower
    keep_versions: dt.timedelta = dt.timedelta(minutes=10)  # for readers in other processes
    # Of the index's partitions: at 100k rows half find .975 of the true 100, a quarter .910, 20 of them .712.
    probed: float = 0.5


class _Row(NamedTuple):
    node: CodeNode
    passage: Passage
    hash: int


class LanceIndex:
    """The vector index of one repository for one embedding model. One writer process; readers are values."""

    def __init__(self, directory: Path, embedder: Embedder, policy: SemanticPolicy | None = None) -> None:
        """Open the model's table under `directory`; nothing is made before the first write."""
        self._directory = directory / FORMAT
        self._embedder = embedder
        self._policy = policy if policy is not None else SemanticPolicy()
        self._name = re.sub(r"[^A-Za-z0-9_.-]", "_", embedder.model_id)
        self._directory.mkdir(parents=True, exist_ok=True)
        self._database = _lancedb().connect(str(self._directory))
        # Guards the cells below: the writer's table, its committed state and the matrix made from it.
        self._lock = threading.RLock()
        self._matrix: VectorMatrix | None = None
        self._updates = self._updates_left_over()
        self._readers: weakref.WeakSet[LanceReader] = weakref.WeakSet()
        self._checksums = TableChecksums(self._directory / f"{self._name}.lance")
        self._checksums.check()
        self._table: Any = self._open_table()
        self._generation, self._version = self._newest_tag()

    @property
    def generation(self) -> int:
        """The newest committed generation; 0 when there is none for this model."""
        return self._generation

    def reader(self) -> MatrixReader | LanceReader:
        """The newest committed generation, pinned."""
        with self._lock:
            self._notice_other_writers()
            if self._is_large():
                return self._lance_reader()
            return MatrixReader(self._loaded(), self._generation, self._embedder)

    def apply(self, generation: int, replaced: Mapping[str, Sequence[NodeDocument]], removed: Sequence[str]) -> None:
        """Replace and remove by path; the tag at the end is the commit."""
        with self._lock:
            if self._table is None:
                self.rebuild(generation, sorted(replaced.items()))
                return
            self._undo_uncommitted()
            rows = list(_rows(sorted(replaced.items())))
            batch = self._record_batch(rows)
            gone = sorted({*replaced, *removed})
            for some in _chunks(gone, 500):
                self._table.delete(f"path IN ({', '.join(map(_quoted, some))})")
            if rows:
                self._table.add(_pyarrow().Table.from_batches([batch]))
            self._commit(generation)
            if self._matrix is not None:
                self._matrix = self._matrix.replaced(frozenset(gone), _block(batch))
            self._updates += 1

    def rebuild(self, generation: int, documents: Iterable[tuple[str, Sequence[NodeDocument]]]) -> None:
        """Start over; vectors of passages that did not change are taken from what was there."""
        with self._lock:
            if self._table is not None:
                self._undo_uncommitted()
            size = _BATCH if self._embedder.is_quick else _SLOW_BATCH
            batches = _Batches(self._record_batch(rows) for rows in _chunks(_rows(documents), size))
            schema = self._schema()
            self._checksums.forget()
            try:
                self._table = self._database.create_table(
                    self._name,
                    _pyarrow().RecordBatchReader.from_batches(schema, batches),
                    schema=schema,
                    mode="overwrite",
                )
            except Exception:
                if batches.error is not None:
                    raise batches.error from None
                raise
            self._commit(generation)
            self._matrix = None
            self._updates = 0
            if self._is_large():
                self._build_index()
            for name in self._table_names():
                if name != self._name:  # another model's vectors: never searched again
                    self._database.drop_table(name)

    def discard(self, ids: Sequence[NodeId]) -> None:
        """Forget nodes; the generation stays."""
        with self._lock:
            if self._table is None or not ids:
                return
            self._undo_uncommitted()
            for some in _chunks(sorted(ids), 500):
                self._table.delete(f"node IN ({', '.join(str(int(node_id, 16)) for node_id in some)})")
            self._commit(self._generation)
            if self._matrix is not None:
                self._matrix = self._matrix.without(ids)

    def maintain(self) -> None:
        """Compact after enough updates. Old versions go only when no reader and no tag holds them."""
        with self._lock:
            if self._table is None or self._updates < self._policy.updates_before_compaction:
                return
            self._undo_uncommitted()
            pinned = any(reader.version != self._version for reader in self._readers)
            # Cleaning up refuses while an old tag stands; ours is old as soon as compaction makes a version.
            self._table.optimize(cleanup_older_than=dt.timedelta(days=3650))
            self._commit(self._generation)
            if not pinned and not any(reader.version != self._version for reader in self._readers):
                self._table.optimize(cleanup_older_than=self._policy.keep_versions)
                self._commit(self._generation)
            self._updates = 0

    def close(self) -> None:
        """Drop what is held in memory; readers keep theirs."""
        with self._lock:
            self._matrix = None
            self._table = None

    def _open_table(self) -> Any:
        if self._name not in self._table_names():
            return None
        try:
            table = self._database.open_table(self._name)
            dimension = table.schema.field("vector").type.list_size
        except (ValueError, RuntimeError, OSError, KeyError) as error:
            raise IndexCorrupt(f"vector index {self._directory}: {error}") from error
        return table if dimension == self._embedder.dimension else None

    def _updates_left_over(self) -> int:
        """Updates by processes that ended before it was time to compact: each has made two versions."""
        versions = self._directory / f"{self._name}.lance" / "_versions"
        return sum(1 for _ in versions.glob("*.manifest")) // 2

    def _table_names(self) -> list[str]:
        return sorted(path.stem for path in self._directory.glob("*.lance"))

    def _newest_tag(self) -> tuple[int, int]:
        if self._table is None:
            return 0, 0
        tags = self._table.tags.list()
        numbered = [(int(match[1]), tag["version"]) for name, tag in tags.items() if (match := _TAG.fullmatch(name))]
        return max(numbered, default=(0, 0))

    def _notice_other_writers(self) -> None:
        """Follow a writer in another process: only rows that are new are read."""
        if self._table is None:
            self._table = self._open_table()
        if self._table is None:
            return
        self._table.checkout_latest()
        generation, version = self._newest_tag()
        if (generation, version) == (self._generation, self._version):
            return
        self._generation, self._version = generation, version
        if self._matrix is not None:
            self._matrix = None if self._is_large() else self._followed(self._matrix)

    def _followed(self, matrix: VectorMatrix) -> VectorMatrix:
        table = self._pinned_table()
        keys = table.search().select(["node", "hash"]).limit(table.count_rows()).with_row_id(True).to_arrow()
        nodes, hashes = _numbers(keys, "node"), _numbers(keys, "hash")
        new = matrix.unknown_rows(nodes, hashes)
        block = None
        if new.any():
            ids = keys["_rowid"].to_numpy()[new].tolist()
            block = _block(table.take_row_ids(ids).to_arrow())
        return matrix.following(nodes, hashes, block)

    def _undo_uncommitted(self) -> None:
        """Back to the tagged version when a crash or an error left changes after it."""
        if self._version and self._table.version != self._version:
            self._table.checkout(self._version)
            self._table.restore()

    def _commit(self, generation: int) -> None:
        """Name the newest version; older names go, except where a reader still stands on them."""
        version = self._table.version
        tags = self._table.tags.list()
        name = f"g{generation}"
        if name in tags:
            self._table.tags.update(name, version)
        else:
            self._table.tags.create(name, version)
        self._generation, self._version = generation, version
        held = {reader.version for reader in self._readers}
        for old, tag in tags.items():
            if old != name and tag["version"] not in held:
                self._table.tags.delete(old)
        self._checksums.note()

    def _is_large(self) -> bool:
        return self._table is not None and self._table.count_rows() > self._policy.rows_in_memory

    def _loaded(self) -> VectorMatrix:
        if self._matrix is None:
            self._matrix = VectorMatrix() if self._table is None else self._load()
        return self._matrix

    def _load(self) -> VectorMatrix:
        table = self._pinned_table()
        try:
            block = _block(table.to_arrow())
        except (ValueError, RuntimeError, OSError) as error:
            raise IndexCorrupt(f"vector index {self._directory}: {error}") from error
        return VectorMatrix().replaced((), block)

    def _pinned_table(self) -> Any:
        table = self._database.open_table(self._name)
        table.checkout(self._version)
        return table

    def _lance_reader(self) -> LanceReader:
        reader = LanceReader(
            self._pinned_table(),
            self._generation,
            self._version,
            self._embedder,
            max(1, round(self._policy.probed * self._partitions())),
        )
        self._readers.add(reader)
        return reader

    def _partitions(self) -> int:
        return max(1, math.isqrt(int(self._table.count_rows())))

    def _build_index(self) -> None:
        if self._table.count_rows() < 4_096:
            return  # too few rows to train on; the plain scan is exact and quick
        self._table.create_index(
            metric="cosine", vector_column_name="vector", index_type="IVF_FLAT", num_partitions=self._partitions()
        )
        self._commit(self._generation)

    def _schema(self) -> Any:
        arrow = _pyarrow()
        fields = [
            ("node", arrow.uint64()),
            ("hash", arrow.uint64()),
            ("path", arrow.string()),
            ("language", arrow.string()),
            ("kind", arrow.uint8()),
            ("qualified", arrow.string()),
            ("vector", arrow.list_(arrow.float16(), self._embedder.dimension)),
        ]
        return arrow.schema(fields, metadata={"model": self._embedder.model_id})

    def _record_batch(self, rows: Sequence[_Row]) -> Any:
        arrow = _pyarrow()
        vectors = self._vectors(rows)
        nodes = [row.node for row in rows]
        columns = [
            arrow.array(np.array([int(node.id, 16) for node in nodes], dtype=np.uint64)),
            arrow.array(np.array([row.hash for row in rows], dtype=np.uint64)),
            arrow.array([encodable(node.path) for node in nodes], arrow.string()),
            arrow.array([node.language for node in nodes], arrow.string()),
            arrow.array(np.array([int(node.kind) for node in nodes], dtype=np.uint8)),
            arrow.array([encodable(node.qualified_name) for node in nodes], arrow.string()),
            arrow.FixedSizeListArray.from_arrays(arrow.array(vectors.ravel()), self._embedder.dimension),
        ]
        return arrow.RecordBatch.from_arrays(columns, schema=self._schema())

    def _vectors(self, rows: Sequence[_Row]) -> NDArray[np.float16]:
        """From what is stored under the same passage hash, else from the model."""
        out = np.zeros((len(rows), self._embedder.dimension), dtype=np.float16)
        known = self._known([row.hash for row in rows])
        missing = [index for index, row in enumerate(rows) if row.hash not in known]
        for index, row in enumerate(rows):
            if row.hash in known:
                out[index] = known[row.hash]
        if missing:
            out[missing] = self._embedder.embed_documents([rows[index].passage for index in missing])
        return out

    def _known(self, hashes: list[int]) -> dict[int, Floats]:
        if self._table is None or not hashes:
            return {}
        if not self._is_large():
            return self._loaded().vectors_of(np.array(hashes, dtype=np.uint64))
        known: dict[int, Floats] = {}
        for some in _chunks(sorted(set(hashes)), 1_000):
            found = self._table.search().where(f"hash IN ({', '.join(map(str, some))})").select(["hash", "vector"])
            table = found.limit(len(hashes) * 4).to_arrow()
            known.update(zip(table["hash"].to_pylist(), _vectors_of(table), strict=True))
        return known


class MatrixReader:
    """One generation, in memory."""

    def __init__(self, matrix: VectorMatrix, generation: int, embedder: Embedder) -> None:
        """Pin a matrix."""
        self._matrix = matrix
        self.generation = generation
        self.model_id = embedder.model_id
        self.dimension = embedder.dimension

    def count(self) -> int:
        """Nodes that can be found."""
        return self._matrix.node_count

    def lacking(self, ids: Collection[NodeId]) -> int:
        """How many of these nodes cannot be found."""
        return self._matrix.lacking(ids)

    def search(self, vector: Floats, selection: Selection, limit: int) -> Hits:
        """Nearest nodes first."""
        return self._matrix.search(vector, selection, limit) if np.any(vector) else NO_HITS


class LanceReader:
    """One version of a large table, searched by LanceDB with the scope as its prefilter."""

    def __init__(self, table: Any, generation: int, version: int, embedder: Embedder, nprobes: int) -> None:
        """Pin a table that is checked out at `version`."""
        self._table = table
        self._nprobes = nprobes
        self.version = version
        self.generation = generation
        self.model_id = embedder.model_id
        self.dimension = embedder.dimension

    def count(self) -> int:
        """Nodes that can be found."""
        return len(np.unique(self._table.search().select(["node"]).limit(2**31 - 1).to_arrow()["node"].to_numpy()))

    def lacking(self, ids: Collection[NodeId]) -> int:
        """How many of these nodes cannot be found."""
        found: set[int] = set()
        for some in _chunks(sorted(set(ids)), 1_000):
            condition = f"node IN ({', '.join(str(int(node_id, 16)) for node_id in some)})"
            rows = self._table.search().where(condition).select(["node"]).limit(2**31 - 1).to_arrow()
            found.update(rows["node"].to_pylist())
        return len(set(ids)) - len(found)

    def search(self, vector: Floats, selection: Selection, limit: int) -> Sequence[Hit]:
        """Nearest nodes first; looks deeper until enough are left after folding and the freshness floor."""
        if not np.any(vector):
            return []
        fetch = 4 * limit
        while True:
            nodes, scores = self._nearest(vector, selection.scope, fetch)
            best: dict[NodeId, float] = {}
            for node, score in zip(nodes, scores, strict=True):
                node_id = NodeId(f"{node:016x}")
                if score > 0.0 and node_id not in selection.denied and score > best.get(node_id, 0.0):
                    best[node_id] = score
            if len(best) >= limit or len(nodes) < fetch:
                ranked = sorted(best.items(), key=lambda item: (-item[1], item[0]))
                return [Hit(node_id, score) for node_id, score in ranked[:limit]]
            fetch *= 8

    def _nearest(self, vector: Floats, scope: Scope, limit: int) -> tuple[list[int], list[float]]:
        query = self._table.search(vector).distance_type("cosine").nprobes(self._nprobes)
        condition = _sql(scope)
        if condition:
            query = query.where(condition, prefilter=True)
        table = query.select(["node", "_distance"]).limit(limit).to_arrow()
        return table["node"].to_pylist(), (1.0 - table["_distance"].to_numpy()).tolist()


def open_vectors(directory: Path, embedder: Embedder) -> LanceIndex:
    """The default vector index (entry point `lancedb`)."""
    return LanceIndex(directory, embedder)


@functools.cache
def _lancedb() -> Any:
    """Costs seconds and more than 100 MB: a client that only talks to the daemon must never pay."""
    import lancedb

    return lancedb


@functools.cache
def _pyarrow() -> Any:
    import pyarrow as pa

    return pa


def _rows(documents: Iterable[tuple[str, Sequence[NodeDocument]]]) -> Iterator[_Row]:
    for _path, nodes in documents:
        for text in node_texts(nodes):
            for passage in passages(text):
                yield _Row(text.document.node, passage, passage_hash(passage))


class _Batches:
    """Batches for the engine, which makes a traceback of what goes wrong in them: so the error itself is kept."""

    def __init__(self, batches: Iterator[Any]) -> None:
        self._batches = batches
        self.error: Exception | None = None

    def __iter__(self) -> Iterator[Any]:
        try:
            yield from self._batches
        except Exception as error:
            self.error = error
            raise


def _chunks(items: Iterable[Any], size: int) -> Iterator[list[Any]]:
    iterator = iter(items)
    while chunk := list(itertools.islice(iterator, size)):
        yield chunk


def _block(table: Any) -> VectorBlock:
    """An arrow table or record batch as a block in memory."""
    return make_block(
        _numbers(table, "node"),
        _numbers(table, "hash"),
        _vectors_of(table),
        table["path"].to_pylist(),
        table["language"].to_pylist(),
        np.asarray(table["kind"].to_numpy(zero_copy_only=False), dtype=np.uint8),
        table["qualified"].to_pylist(),
    )


def _numbers(table: Any, name: str) -> Numbers:
    return np.asarray(table[name].to_numpy(zero_copy_only=False), dtype=np.uint64)


def _vectors_of(table: Any) -> Halves:
    column = table["vector"]
    if hasattr(column, "combine_chunks"):
        column = column.combine_chunks()
    width = column.type.list_size
    flat = column.flatten().to_numpy(zero_copy_only=False)
    return np.ascontiguousarray(flat, dtype=np.float16).reshape(-1, width)


def _quoted(text: str) -> str:
    return "'" + encodable(text).replace("'", "''") + "'"


def _sql(scope: Scope) -> str:
    """The scope as a condition over the table's columns; "" for everything."""
    conditions = []
    for negate, paths, kinds, languages, packages in (
        ("", scope.paths, scope.kinds, scope.languages, scope.packages),
        (
            "NOT ",
            scope.exclude_paths,
            scope.exclude_kinds,
            scope.exclude_languages,
            scope.exclude_packages,
        ),
    ):
        groups = (
            [f"regexp_like(path, {_quoted(f'^({path_regex(one)})$')})" for one in paths],
            [f"kind = {int(one)}" for one in kinds],
            [f"lower(language) = {_quoted(one.lower())}" for one in languages],
            [_inside(one) for one in packages],
        )
        conditions += [f"{negate}({' OR '.join(group)})" for group in groups if group]
    return " AND ".join(conditions)


def _inside(package: str) -> str:
    separators = r"(::|[.#/\\:$])"
    name = separators.join(re.escape(part) for part in dotted(package).split("."))
    return f"regexp_like(qualified, {_quoted(f'^{name}({separators}.*)?$')})"
