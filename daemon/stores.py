"""How the serving process reads a repository's stores into snapshots. Never writes a store."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from ctxsearch.daemon.freshness import DEFAULT_RULES, NO_HISTORY, FreshnessRules, load_freshness
from ctxsearch.daemon.layout import Layout
from ctxsearch.daemon.logs import get_logger
from ctxsearch.daemon.snapshot import Snapshot, load_graph
from ctxsearch.daemon.texts import KeptTexts, Texts
from ctxsearch.graph.catalog import Catalog, CatalogMissingError, Pinned
from ctxsearch.graph.records import RESOLVED_META
from ctxsearch.search.errors import IndexCorrupt, SearchError
from ctxsearch.search.ports import Embedder, FullTextIndex, FullTextReader, VectorIndex, VectorReader
from ctxsearch.search.providers import DEFAULT_PROVIDERS, Providers

_log = get_logger("ctxsearch.stores")


class Stores:
    """Reads one repository's stores. `load` and `advance` belong to its indexing thread, the rest to its follower."""

    def __init__(
        self,
        name: str,
        root: Path,
        layout: Layout,
        embedder: Embedder,
        freshness_rules: FreshnessRules = DEFAULT_RULES,
        kept_texts: KeptTexts | None = None,
        providers: Providers = DEFAULT_PROVIDERS,
    ) -> None:
        self._name = name
        self._root = root
        self.layout = layout
        self._embedder = embedder
        self._freshness_rules = freshness_rules
        self._providers = providers
        self._kept_texts = kept_texts if kept_texts is not None else KeptTexts()
        self._text: tuple[str, FullTextIndex] | None = None  # identity and index; written by the indexing thread
        # The same for vectors, written by the follower: kept open, so that only new rows are read after a change.
        self._vectors: tuple[str, VectorIndex] | None = None

    def load(self) -> Snapshot | None:
        """What was committed, None if nothing was; raises CatalogError when the catalog cannot be read.

        Vectors and history are left to the follower: opening them would keep the first answer waiting.
        """
        try:
            return self.advance(None)
        except CatalogMissingError:
            return None

    def advance(self, before: Snapshot | None) -> Snapshot | None:
        """The newest generation with its graph and full text; vectors and history stay as they were before."""
        pinned = self._pin()
        with pinned.use() as snapshot:
            if pinned.is_empty or not snapshot.file_count():  # nothing was found that can be indexed
                return None
        same = before is not None and before.catalog.identity == pinned.identity
        graph = load_graph(pinned, before.graph if before is not None and same else None)
        with pinned.use() as snapshot:
            commit = snapshot.meta("commit") or ""
            resolved = snapshot.meta(RESOLVED_META) is not None
        return Snapshot(
            repository=self._name,
            root=self._root,
            generation=pinned.generation,
            commit=commit,
            indexed=self.layout.catalog.stat().st_mtime if before is None else time.time(),
            catalog=pinned,
            graph=graph,
            graph_ready=resolved,
            full_text=self._text_reader(pinned),
            vectors=before.vectors if before is not None and same else None,
            freshness=before.freshness.at(commit) if before is not None and same else NO_HISTORY,
            history_generation=before.history_generation if before is not None and same else 0,
            texts=Texts(self._root, pinned, self._kept_texts),
        )

    def with_vectors(self, snapshot: Snapshot) -> Snapshot:
        """The same with the newest vectors."""
        return replace(snapshot, vectors=self._vector_reader(snapshot.catalog.identity))

    def with_history(self, snapshot: Snapshot) -> Snapshot:
        """The same with the newest freshness."""
        table = load_freshness(
            self.layout.freshness(snapshot.catalog.identity), snapshot.graph.node, self._freshness_rules
        )
        if table is None:
            return snapshot
        return replace(snapshot, freshness=table.at(snapshot.commit), history_generation=table.generation)

    def close(self) -> None:
        """Lets go of files; snapshots in use stay usable."""
        if self._text is not None:
            self._text[1].close()
            self._text = None

    def _pin(self) -> Pinned:
        with Catalog.open(self.layout.catalog, read_only=True) as catalog:
            return catalog.pin()

    def _text_reader(self, pinned: Pinned) -> FullTextReader | None:
        """The full text of exactly this generation; None while the worker still has to write it."""
        directory = self.layout.text(pinned.identity)
        if not directory.is_dir():
            return None
        try:
            if self._text is None or self._text[0] != pinned.identity:
                self._text = (pinned.identity, self._providers.open_full_text(directory))
            reader = self._text[1].reader()
        except (IndexCorrupt, ValueError, OSError) as error:
            _log.warning("full text cannot be read", repository=self._name, error=str(error))
            self._text = None
            return None
        return reader if reader.generation == pinned.generation else None

    def _vector_reader(self, identity: str) -> VectorReader | None:
        """Opened anew if what is open cannot be followed: the writer starts over where it finds damage."""
        directory = self.layout.vectors(identity)
        if not directory.is_dir():
            return None
        was_open = self._vectors is not None and self._vectors[0] == identity
        try:
            if self._vectors is None or not was_open:
                self._vectors = (identity, self._providers.open_vectors(directory, self._embedder))
            reader = self._vectors[1].reader()
        except (SearchError, ValueError, OSError, RuntimeError) as error:  # also of an embedder that cannot be opened
            _log.warning("vectors cannot be read", repository=self._name, error=str(error))
            self._vectors = None
            return self._vector_reader(identity) if was_open else None
        return reader if reader.generation else None
