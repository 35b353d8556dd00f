"""Providers by name, through Python entry points: a third party adds one without a change here."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final, cast

from ctxsearch.search.errors import NotFound
from ctxsearch.search.ports import Embedder, FullTextIndex, VectorIndex

FULL_TEXT_GROUP: Final = "ctxsearch.full_text"  # callables of the index directory
VECTOR_GROUP: Final = "ctxsearch.vector"  # callables of the index directory and an Embedder
EMBEDDER_GROUP: Final = "ctxsearch.embedder"  # callables without arguments


def load_full_text(name: str = "tantivy") -> Callable[[Path], FullTextIndex]:
    """What opens the full-text index of that name."""
    return cast("Callable[[Path], FullTextIndex]", _load(FULL_TEXT_GROUP, name))


def load_vectors(name: str = "lancedb") -> Callable[[Path, Embedder], VectorIndex]:
    """What opens the vector index of that name."""
    return cast("Callable[[Path, Embedder], VectorIndex]", _load(VECTOR_GROUP, name))


def load_embedder(name: str = "bundled") -> Embedder:
    """The embedder of that name."""
    make = cast("Callable[[], Embedder]", _load(EMBEDDER_GROUP, name))
    return make()


def _load(group: str, name: str) -> Any:
    found = {point.name: point for point in entry_points(group=group)}
    if name not in found:
        raise NotFound(f"{group} provider", name, tuple(sorted(found)))
    return found[name].load()
