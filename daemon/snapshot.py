"""What one repository answers from: one generation of catalog, graph, full text, vectors and freshness, together.

A `Snapshot` never changes; the next one is made beside it and put in its place by one assignment. Everything in it is
read-only, and nothing here writes to a store or runs git.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ctxsearch.daemon.freshness import FreshnessTable, NoHistory
from ctxsearch.daemon.texts import Texts
from ctxsearch.graph.catalog import Pinned
from ctxsearch.graph.graph import CodeGraph
from ctxsearch.graph.model import NodeId
from ctxsearch.graph.records import FileGraph
from ctxsearch.search.ports import (
    Corpus,
    FullTextReader,
    IndexState,
    VectorReader,
)

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

    def unembedded(self) -> int:
        """How many of its nodes have no vector yet, where vectors are there and behind; an edit may well add none."""
        vectors = self.vectors
        if vectors is None or self.vectors_ready:
            return 0
        with self.catalog.use() as catalog:
            since = vectors.generation if vectors.generation <= self.generation else 0
            changed = catalog.changes_since(since).documents
        return vectors.lacking([node.id for path in changed for node in self.graph.outline(path)])

    @property
    def history_ready(self) -> bool:
        """True if freshness was computed for this generation."""
        return self.history_generation >= self.generation

    def corpus(self, repair: Callable[[Sequence[NodeId]], None]) -> Corpus:
        """What the search service reads. How many files trail it is no part of it: that changes with every event."""
        return Corpus(
            repository=self.repository,
            generation=self.generation,
            nodes=self.graph,
            freshness=self.freshness,
            texts=self.texts,
            full_text=self.full_text,
            vectors=self.vectors,
            graph=self.graph if self.graph_ready else None,
            state=IndexState(self.commit),
            repair=repair,
        )


def load_graph(catalog: Pinned, before: CodeGraph | None) -> CodeGraph:
    """The graph of the pinned generation, from the one before it when little changed."""
    with catalog.use() as snapshot:
        if before is not None and 0 < before.generation <= snapshot.generation:
            changes = snapshot.changes_since(before.generation)
            if len(changes.changed) + len(changes.removed) <= MAX_STEPS:
                parts = {path: snapshot.graph_of(path) or FileGraph() for path in changes.changed}
                return before.apply(parts, changes.removed, snapshot.generation)
        return CodeGraph.build(snapshot.load_nodes(), snapshot.load_edges(), snapshot.generation)
