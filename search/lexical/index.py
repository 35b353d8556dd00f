"""One index directory: written here, one commit for each generation, and opened for readers."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import tantivy

from ctxsearch.graph.model import NodeDocument, NodeId, NodeKind
from ctxsearch.search.documents import encodable
from ctxsearch.search.errors import IndexCorrupt
from ctxsearch.search.lexical.documents import add_nodes
from ctxsearch.search.lexical.reader import TantivyReader
from ctxsearch.search.lexical.schema import (
    FORMAT,
    generation_of,
    make_schema,
    node_count,
    put_generation,
)
from ctxsearch.search.matches import LexicalPolicy
from ctxsearch.search.segments import check_segments

_WRITER_HEAP: Final = 192_000_000  # 100,000 nodes in one segment: every further one costs each word's look-ups again


class TantivyIndex:
    """The full-text index of one repository. One writer process; readers are values."""

    def __init__(self, directory: Path, policy: LexicalPolicy | None = None) -> None:
        """Open the index under `directory`, or make an empty one. Raises IndexCorrupt when it cannot be read."""
        self._directory = directory / FORMAT
        self._policy = policy if policy is not None else LexicalPolicy()
        self._schema = make_schema()
        self._lock = threading.Lock()  # guards _writer, the one mutable cell: writes are one at a time
        self._writer: Any = None
        self._directory.mkdir(parents=True, exist_ok=True)
        check_segments(self._directory)
        try:
            self._index = tantivy.Index(self._schema, path=str(self._directory))
            self._index.config_reader(reload_policy="manual")
            self._index.reload()
        except (ValueError, OSError) as error:
            raise IndexCorrupt(f"full-text index {self._directory}: {error}") from error

    @property
    def generation(self) -> int:
        """The newest committed generation; 0 when empty."""
        self._index.reload()
        return generation_of(self._index.searcher(), self._schema)

    @property
    def worn(self) -> float:
        """How much of what words are weighed by is gone: the engine counts what was replaced until it is merged away,
        which the one large segment of a first index hardly ever is."""
        self._index.reload()
        searcher = self._index.searcher()
        counted = sum(int(searcher.doc_freq("kind", int(kind))) for kind in NodeKind)
        return 1.0 - node_count(searcher) / counted if counted else 0.0

    def reader(self) -> TantivyReader:
        """The newest committed generation, pinned."""
        self._index.reload()
        return TantivyReader(self._index.searcher(), self._schema, self._policy)

    def apply(self, generation: int, replaced: Mapping[str, Sequence[NodeDocument]], removed: Sequence[str]) -> None:
        """Replace and remove by path, in one commit."""
        with self._lock:
            writer = self._open_writer()
            try:
                for path in [*replaced, *removed]:
                    writer.delete_documents_by_term("owner", encodable(path))
                for path in sorted(replaced):
                    add_nodes(writer, path, replaced[path])
                self._commit(writer, generation)
            except BaseException:
                writer.rollback()
                raise

    def rebuild(self, generation: int, documents: Iterable[tuple[str, Sequence[NodeDocument]]]) -> None:
        """Start over, in one commit."""
        with self._lock:
            writer = self._open_writer()
            try:
                writer.delete_all_documents()
                for path, nodes in documents:
                    add_nodes(writer, path, nodes)
                self._commit(writer, generation)
            except BaseException:
                writer.rollback()
                raise
            self._drop_other_formats()

    def discard(self, ids: Sequence[NodeId]) -> None:
        """Forget nodes; the generation stays."""
        with self._lock:
            writer = self._open_writer()
            for node_id in ids:
                writer.delete_documents_by_query(_with_id(self._schema, int(node_id, 16)))
            writer.commit()

    def close(self) -> None:
        """Release the writer's lock, after its merges."""
        with self._lock:
            if self._writer is not None:
                self._writer.wait_merging_threads()
                self._writer = None

    def _drop_other_formats(self) -> None:
        """Free what an older or newer version left: it would never be read again."""
        for other in self._directory.parent.glob("text-[0-9]*"):
            if other != self._directory:
                shutil.rmtree(other, ignore_errors=True)

    def _open_writer(self) -> Any:
        if self._writer is None:
            try:
                self._writer = self._index.writer(_WRITER_HEAP, 1)
            except ValueError as error:
                raise IndexCorrupt(f"full-text index {self._directory}: {error}") from error
        return self._writer

    def _commit(self, writer: Any, generation: int) -> None:
        put_generation(writer, generation)
        writer.commit()


def open_full_text(directory: Path) -> TantivyIndex:
    """The default full-text index (entry point `tantivy`)."""
    return TantivyIndex(directory)


def _with_id(schema: Any, number: int) -> Any:
    return tantivy.Query.range_query(schema, "id", tantivy.FieldType.Unsigned, number, number)
