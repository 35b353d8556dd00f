"""What one repository answers from: one generation of catalog, graph, full text, vectors and freshness, together.

A `Snapshot` never changes; the next one is made beside it and put in its place by one assignment. Everything in it is
read-only, and nothing here writes to a store or runs git.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ctxsearch.daemon.freshness import FreshnessTable, NoHistory
from ctxsearch.graph.catalog import Pinned
from ctxsearch.graph.graph import CodeGraph
from ctxsearch.graph.model import CodeNode, NodeId
from ctxsearch.graph.records import FileGraph, FileRecord
from ctxsearch.indexer.beneath import NotRegularError, UnsafePathError, open_beneath, read_up_to
from ctxsearch.indexer.files import content_hash
from ctxsearch.search.ports import (
    Corpus,
    FullTextReader,
    IndexState,
    NodeContent,
    OnDisk,
    VectorReader,
)

BYTES_KEPT = 32_000_000  # of text that stays read: about what a morning's pages show
MAX_STEPS = 400  # changed files beyond which building the graph anew is quicker than editing a copy


@dataclass(frozen=True, slots=True)
class Snapshot:
    """One generation, pinned."""

    repository: str
    root: Path
    generation: int
    commit: str  # "" without git
    indexed: float  # seconds since the epoch
    catalog: Pinned
    graph: CodeGraph
    graph_ready: bool  # False while the first index has nodes and what contains what, and no other edge
    full_text: FullTextReader | None
    vectors: VectorReader | None
    freshness: NoHistory | FreshnessTable
    history_generation: int  # 0 = history is not there yet
    texts: Texts = field(repr=False)

    @property
    def can_answer(self) -> bool:
        """True if there is anything to search in; full text may have to be made again first."""
        return self.full_text is not None or self.vectors is not None

    @property
    def vectors_ready(self) -> bool:
        """True if every node of this generation has its vector."""
        return self.vectors is not None and self.vectors.generation >= self.generation

    @property
    def history_ready(self) -> bool:
        """True if freshness was computed for this generation."""
        return self.history_generation >= self.generation

    def corpus(self, pending_files: int, repair: Callable[[Sequence[NodeId]], None]) -> Corpus:
        """What the search service reads."""
        return Corpus(
            repository=self.repository,
            generation=self.generation,
            nodes=self.graph,
            freshness=self.freshness,
            texts=self.texts,
            full_text=self.full_text,
            vectors=self.vectors,
            graph=self.graph if self.graph_ready else None,
            state=IndexState(self.commit, pending_files),
            repair=repair,
        )


class Texts:
    """The text behind nodes, from the pinned generation; and whether the files still are what was indexed.

    What was read stays: a generation never changes, so a page that was shown once costs no look at the catalog.
    """

    def __init__(self, root: Path, catalog: Pinned) -> None:
        self._root = root
        self._prefix = f"{root}/"
        self._catalog = catalog
        self._lock = threading.Lock()  # guards the two caches and the count below
        self._texts: OrderedDict[str, _Text] = OrderedDict()  # least recently used first
        self._bytes = 0  # of the texts kept
        self._records: dict[str, FileRecord | None] = {}

    def contents(self, nodes: Sequence[CodeNode], /, *, bodies: bool = True) -> list[NodeContent]:
        """One per node, in order; a file is looked at once."""
        paths = list(dict.fromkeys([node.path for node in nodes if node.path]))
        checked = dict(zip(paths, map(self._on_disk, paths, self._records_of(paths)), strict=True))
        checked[""] = OnDisk.UNCHECKED
        if not bodies:
            return [NodeContent("", checked[node.path]) for node in nodes]
        texts = dict(zip(paths, self._texts_of(paths), strict=True))
        texts[""] = _NO_TEXT
        return [
            NodeContent(texts[node.path].between(node.start_line, node.end_line), checked[node.path]) for node in nodes
        ]

    def lines(self, places: Sequence[tuple[str, int]], /) -> list[str]:
        """One line of text per path and 1-based line, in order."""
        paths = list(dict.fromkeys(path for path, _ in places))
        texts = dict(zip(paths, self._texts_of(paths), strict=True))
        return [texts[path].between(line, line) for path, line in places]

    def _records_of(self, paths: Sequence[str]) -> list[FileRecord | None]:
        missing = [path for path in paths if path not in self._records]
        if missing:
            with self._catalog.use() as snapshot:
                found = {path: snapshot.file(path) for path in missing}
            with self._lock:
                self._records.update(found)
        return [self._records[path] for path in paths]

    def _texts_of(self, paths: Sequence[str]) -> list[_Text]:
        with self._lock:
            found = {path: self._texts[path] for path in paths if path in self._texts}
            for path in found:
                self._texts.move_to_end(path)
        missing = [path for path in paths if path not in found]
        if missing:
            with self._catalog.use() as snapshot:
                read = {path: _text(snapshot.source(path)) for path in missing}
            self._keep(read)
            found |= read
        return [found[path] for path in paths]

    def _keep(self, texts: Mapping[str, _Text]) -> None:
        with self._lock:
            for path, text in texts.items():
                before = self._texts.pop(path, None)
                self._texts[path] = text
                self._bytes += len(text.source) - (len(before.source) if before is not None else 0)
            while self._bytes > BYTES_KEPT:
                self._bytes -= len(self._texts.popitem(last=False)[1].source)

    def _on_disk(self, path: str, record: FileRecord | None) -> OnDisk:
        """Whether the file still is what was indexed: by its stat, and by its bytes when that differs."""
        if record is None:
            return OnDisk.UNCHECKED
        # The quick look. Whatever is different gets the careful one, also what cannot be looked at quickly: a path that
        # is longer than the system takes is opened piece by piece.
        try:
            found = os.lstat(self._prefix + path)
            if found.st_mtime_ns == record.mtime_ns and found.st_size == record.size and found.st_ino == record.inode:
                return OnDisk.UNCHANGED
        except OSError:
            pass
        try:
            descriptor = open_beneath(self._root, path)
        except (OSError, UnsafePathError, NotRegularError):
            return OnDisk.VANISHED
        try:
            found = os.fstat(descriptor)
            if found.st_size != record.size:
                return OnDisk.CHANGED
            same = content_hash(read_up_to(descriptor, record.size + 1)) == record.content_hash
            return OnDisk.UNCHANGED if same else OnDisk.CHANGED
        finally:
            os.close(descriptor)


class _Text(NamedTuple):
    """A file's text, and where its lines end: only the lines that are shown are ever decoded."""

    source: bytes
    ends: NDArray[np.int64]  # of all lines but the last

    def between(self, first: int, last: int) -> str:
        """Lines `first` to `last`, 1-based inclusive, as far as there are any."""
        ends = self.ends
        if first > min(last, len(ends) + 1):
            return ""
        start = int(ends[first - 2]) + 1 if first > 1 else 0
        end = int(ends[last - 1]) if last <= len(ends) else len(self.source)
        return self.source[start:end].decode("utf-8", "surrogatepass")


_NO_TEXT = _Text(b"", np.empty(0, np.int64))
_NEWLINE = ord("\n")


def _text(source: bytes | None) -> _Text:
    source = source or b""
    return _Text(source, np.flatnonzero(np.frombuffer(source, dtype=np.uint8) == _NEWLINE))


def load_graph(catalog: Pinned, before: CodeGraph | None) -> CodeGraph:
    """The graph of the pinned generation, from the one before it when little changed."""
    with catalog.use() as snapshot:
        if before is not None and 0 < before.generation <= snapshot.generation:
            changes = snapshot.changes_since(before.generation)
            if len(changes.changed) + len(changes.removed) <= MAX_STEPS:
                parts = {path: snapshot.graph_of(path) or FileGraph() for path in changes.changed}
                return before.apply(parts, changes.removed, snapshot.generation)
        return CodeGraph.build(snapshot.load_nodes(), snapshot.load_edges(), snapshot.generation)
