"""Providers by name, through Python entry points: a third party adds one without a change here.

What is chosen is a value that settings make and indexing processes are given; nothing is opened before it is needed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from ctxsearch.search.errors import NotFound

if TYPE_CHECKING:
    from ctxsearch.search.ports import Embedder, FullTextIndex, VectorIndex

FULL_TEXT_GROUP: Final = "ctxsearch.full_text"  # callables of the index directory
VECTOR_GROUP: Final = "ctxsearch.vector"  # callables of the index directory and an Embedder
EMBEDDER_GROUP: Final = "ctxsearch.embedder"  # callables of ModelOptions


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """What an embedder is opened with; each takes what it needs of it."""

    path: str = ""  # of a local model
    url: str = ""  # of an endpoint
    model: str = ""  # by which name the endpoint knows it
    dimension: int = 0  # numbers per vector, where nothing else tells
    key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Providers:
    """Who indexes and embeds, by name."""

    full_text: str = "tantivy"
    vector: str = "lancedb"
    embedder: str = "bundled"
    options: ModelOptions = field(default_factory=ModelOptions)  # of the embedder

    def open_full_text(self, directory: Path) -> FullTextIndex:
        """The full-text index in a directory."""
        return cast("FullTextIndex", _load(FULL_TEXT_GROUP, self.full_text)(directory))

    def open_vectors(self, directory: Path, embedder: Embedder) -> VectorIndex:
        """The vector index in a directory."""
        return cast("VectorIndex", _load(VECTOR_GROUP, self.vector)(directory, embedder))

    def open_embedder(self) -> Embedder:
        """The embedder; raises a SearchError that says what it lacks."""
        return cast("Embedder", _load(EMBEDDER_GROUP, self.embedder)(self.options))


DEFAULT_PROVIDERS: Final = Providers()


def known_providers(group: str) -> tuple[str, ...]:
    """The names that can be chosen."""
    return tuple(sorted(point.name for point in entry_points(group=group)))


def _load(group: str, name: str) -> Any:
    for point in entry_points(group=group, name=name):
        return point.load()
    raise NotFound(f"{group} provider", name, known_providers(group))
