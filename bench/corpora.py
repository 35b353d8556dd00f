"""A repository indexed by the real engines, for the benchmarks: catalog, graph, full text, vectors, freshness."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ctxsearch.graph.catalog import Catalog
from ctxsearch.graph.git import Git
from ctxsearch.graph.graph import CodeGraph
from ctxsearch.graph.model import NodeId
from ctxsearch.indexer.index import RepositoryIndexer
from ctxsearch.search.ports import Corpus, Embedder, FreshnessFact
from ctxsearch.search.stores import IndexStores, pinned_corpus
from ctxsearch.search.texts import CatalogTexts


class Freshness(enum.IntEnum):
    """The one class of a repository without history."""

    ACCEPTABLE = 2


class Unaged:
    """No history: every node Acceptable, as the contract says."""

    def fact(self, node_id: NodeId) -> FreshnessFact:  # noqa: ARG002
        return FreshnessFact(Freshness.ACCEPTABLE, 0.9, "", 0, "none")

    def below(self, floor: Freshness) -> frozenset[NodeId]:  # noqa: ARG002
        return frozenset()


@contextmanager
def open_corpus(name: str, root: Path, state: Path, embedder: Embedder | None) -> Iterator[Corpus]:
    """Index `root` into `state`, or bring what is there up to date, and pin it."""
    state.mkdir(parents=True, exist_ok=True)
    with Catalog.open(state / "catalog.db") as catalog:
        with RepositoryIndexer(root, catalog, workers=2, git=Git.open(root)) as indexer:
            indexer.refresh()
        stores = IndexStores(state, embedder)
        try:
            with catalog.read() as snapshot:
                stores.heal(snapshot)
                graph = CodeGraph.build(snapshot.load_nodes(), snapshot.load_edges(), snapshot.generation)
            yield pinned_corpus(name, graph, stores, CatalogTexts(catalog, root), Unaged())
        finally:
            stores.close()
