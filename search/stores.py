"""The two search indexes of one repository, kept in step with its catalog.

The catalog's generation is the truth. An index that is behind catches up with what changed since; one that is ahead,
from another catalog, or unreadable is built anew. Each index commits by itself: a crash between the two leaves one
behind, and the next `heal` repeats its work. Nothing is published before both carry the generation.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol, TypeVar

from ctxsearch.graph.graph import CodeGraph
from ctxsearch.graph.model import NodeDocument, NodeId
from ctxsearch.graph.records import Changes
from ctxsearch.search.errors import IndexCorrupt, Unavailable
from ctxsearch.search.lexical import open_full_text
from ctxsearch.search.ports import (
    Corpus,
    DerivedIndex,
    Embedder,
    FreshnessLookup,
    FullTextIndex,
    FullTextReader,
    IndexState,
    TextLookup,
    VectorIndex,
    VectorReader,
)
from ctxsearch.search.semantic import open_vectors

_IDENTITY: Final = "catalog.json"
_FULL_TEXT: Final = "full_text"
_VECTORS: Final = "vectors"


_Index = TypeVar("_Index", bound=DerivedIndex)


class CatalogView(Protocol):
    """One generation of a catalog, as `ctxsearch.graph.catalog.Snapshot` offers it."""

    generation: int
    identity: str

    def changes_since(self, generation: int, /) -> Changes:
        """What differs from an earlier generation."""
        ...

    def documents(self, paths: Iterable[str] | None = None, /) -> Iterable[tuple[str, Sequence[NodeDocument]]]:
        """Nodes with their text, by path."""
        ...


@dataclass(frozen=True, slots=True)
class Healed:
    """What was done to one index."""

    index: str
    before: int  # its generation
    after: int
    rebuilt: bool
    files: int  # replaced or removed; 0 for a rebuild
    reason: str = ""


class IndexStores:
    """Opens the indexes under one directory. One process writes; `heal` is called by one thread at a time."""

    def __init__(
        self,
        directory: Path,
        embedder: Embedder | None,
        *,
        full_text: Callable[[Path], FullTextIndex] = open_full_text,
        vectors: Callable[[Path, Embedder], VectorIndex] = open_vectors,
    ) -> None:
        """Open what is there; what cannot be read is removed and built anew by `heal`."""
        self._directory = directory
        self._embedder = embedder
        self._reasons: dict[str, str] = {}
        self.full_text = self._opened(_FULL_TEXT, full_text)
        self.vectors: VectorIndex | None = None
        if embedder is not None:
            self.vectors = self._opened(_VECTORS, lambda path: vectors(path, embedder))

    def heal(self, catalog: CatalogView) -> tuple[Healed, ...]:
        """Bring every index to the catalog's generation."""
        foreign = self._identity() != catalog.identity  # also when a crash came before it was noted
        done = []
        for name, index in self._indexes():
            done.append(self._brought_to(name, index, catalog, foreign=foreign))
        self._set_identity(catalog.identity)
        return tuple(done)

    def readers(self) -> tuple[FullTextReader, VectorReader | None]:
        """Pinned readers of the newest generation of each."""
        return self.full_text.reader(), None if self.vectors is None else self.vectors.reader()

    def repair(self, ids: Sequence[NodeId]) -> None:
        """Forget nodes that the graph does not know."""
        for _, index in self._indexes():
            index.discard(ids)

    def maintain(self) -> None:
        """Housekeeping, when idle."""
        if self.vectors is not None:
            self.vectors.maintain()

    def close(self) -> None:
        """Release files and locks."""
        for _, index in self._indexes():
            index.close()

    def _indexes(self) -> list[tuple[str, DerivedIndex]]:
        indexes: list[tuple[str, DerivedIndex]] = [(_FULL_TEXT, self.full_text)]
        if self.vectors is not None:
            indexes.append((_VECTORS, self.vectors))
        return indexes

    def _opened(self, name: str, make: Callable[[Path], _Index]) -> _Index:
        path = self._directory / name
        try:
            return make(path)
        except IndexCorrupt as error:
            self._reasons[name] = str(error)
            shutil.rmtree(path)
            return make(path)

    def _brought_to(self, name: str, index: DerivedIndex, catalog: CatalogView, *, foreign: bool) -> Healed:
        before = index.generation
        reason = self._reasons.pop(name, "") or _reason(before, catalog.generation, foreign=foreign)
        if reason:
            index.rebuild(catalog.generation, catalog.documents())
            return Healed(name, before, catalog.generation, rebuilt=True, files=0, reason=reason)
        if before == catalog.generation:
            return Healed(name, before, before, rebuilt=False, files=0)
        changes = catalog.changes_since(before)
        replaced = dict(catalog.documents(changes.documents))
        # A path without documents any more must lose those it had.
        gone = sorted({*changes.removed, *changes.documents} - replaced.keys())
        index.apply(catalog.generation, replaced, gone)
        return Healed(name, before, catalog.generation, rebuilt=False, files=len(replaced) + len(gone))

    def _identity(self) -> str:
        try:
            return str(json.loads((self._directory / _IDENTITY).read_text("utf-8"))["identity"])
        except (OSError, ValueError, KeyError, TypeError):
            return ""

    def _set_identity(self, identity: str) -> None:
        if self._identity() != identity:
            temporary = self._directory / (_IDENTITY + ".new")
            temporary.write_text(json.dumps({"identity": identity}), "utf-8")
            temporary.replace(self._directory / _IDENTITY)


def _reason(index: int, catalog: int, *, foreign: bool) -> str:
    """Why an index must be built anew; "" when it can stay."""
    if index == 0:
        return "it is empty" if catalog else ""
    if foreign:
        return "it belongs to another catalog"
    if index > catalog:
        return f"it is ahead of the catalog ({index} > {catalog})"
    return ""


def pinned_corpus(
    repository: str,
    graph: CodeGraph,
    stores: IndexStores,
    texts: TextLookup,
    freshness: FreshnessLookup,
    state: IndexState | None = None,
) -> Corpus:
    """Everything that a search reads of one repository, at the graph's generation.

    Raises Unavailable when an index is not there yet: nothing may be published that mixes generations.
    """
    full_text, vectors = stores.readers()
    for name, reader in ((_FULL_TEXT, full_text), (_VECTORS, vectors)):
        if reader is not None and reader.generation != graph.generation:
            raise Unavailable(f"{repository}: {name} is at generation {reader.generation}, not {graph.generation}")
    return Corpus(
        repository=repository,
        generation=graph.generation,
        nodes=graph,
        freshness=freshness,
        texts=texts,
        full_text=full_text,
        vectors=vectors,
        graph=graph,
        state=state if state is not None else IndexState(),
        repair=stores.repair,
    )
