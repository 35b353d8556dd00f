"""What one repository answers from: one generation of catalog, graph, full text, vectors and freshness, together.

A `Snapshot` never changes; the next one is made beside it and put in its place by one assignment. Everything in it is
read-only, and nothing here writes to a store or runs git.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ctxsearch.daemon.freshness import FreshnessTable, NoHistory
from ctxsearch.graph.catalog import Pinned
from ctxsearch.graph.graph import CodeGraph
from ctxsearch.graph.model import CodeNode, NodeId
from ctxsearch.graph.records import FileGraph
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

TEXTS_KEPT = 64  # files whose lines stay decoded: a page of results and its neighbours
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
    """The text behind nodes, from the pinned generation; and whether the files still are what was indexed."""

    def __init__(self, root: Path, catalog: Pinned) -> None:
        self._root = root
        self._catalog = catalog
        self._lock = threading.Lock()
        self._lines: OrderedDict[str, list[str]] = OrderedDict()  # a cache; guarded by _lock

    def contents(self, nodes: Sequence[CodeNode], /) -> list[NodeContent]:
        """One per node, in order; a file is looked at once."""
        checked: dict[str, OnDisk] = {}
        for node in nodes:
            if node.path not in checked:
                checked[node.path] = self.on_disk(node.path) if node.path else OnDisk.UNCHECKED
        return [NodeContent(self.body(node), checked[node.path]) for node in nodes]

    def body(self, node: CodeNode) -> str:
        """The node's source lines as indexed; "" for nodes without a file."""
        if not node.path:
            return ""
        return "\n".join(self.lines(node.path)[node.start_line - 1 : node.end_line])

    def lines(self, path: str) -> list[str]:
        """A file's lines as indexed."""
        with self._lock:
            if path in self._lines:
                self._lines.move_to_end(path)
                return self._lines[path]
        with self._catalog.use() as snapshot:
            text = snapshot.text(path)
        lines = text.split("\n") if text is not None else []
        with self._lock:
            self._lines[path] = lines
            while len(self._lines) > TEXTS_KEPT:
                self._lines.popitem(last=False)
        return lines

    def on_disk(self, path: str) -> OnDisk:
        """Whether the file still is what was indexed: by its stat, and by its bytes when that differs."""
        with self._catalog.use() as snapshot:
            record = snapshot.file(path)
        if record is None:
            return OnDisk.UNCHECKED
        seen = (record.size, record.mtime_ns, record.inode)
        with contextlib.suppress(OSError):  # the quick look; whatever is different gets the careful one
            found = os.lstat(f"{self._root}/{path}")
            if (found.st_size, found.st_mtime_ns, found.st_ino) == seen:
                return OnDisk.UNCHANGED
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


def load_graph(catalog: Pinned, before: CodeGraph | None) -> CodeGraph:
    """The graph of the pinned generation, from the one before it when little changed."""
    with catalog.use() as snapshot:
        if before is not None and 0 < before.generation <= snapshot.generation:
            changes = snapshot.changes_since(before.generation)
            if len(changes.changed) + len(changes.removed) <= MAX_STEPS:
                parts = {path: snapshot.graph_of(path) or FileGraph() for path in changes.changed}
                return before.apply(parts, changes.removed, snapshot.generation)
        return CodeGraph.build(snapshot.load_nodes(), snapshot.load_edges(), snapshot.generation)
