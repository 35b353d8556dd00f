"""Where a repository's stores lie.

    DIRECTORY/catalog.sqlite        the truth
    DIRECTORY/generation            the last generation that was promised to anybody
    DIRECTORY/vectors.sqlite        vectors by content, of embedders that are not quick
    DIRECTORY/IDENTITY/text         full text, derived from the catalog of that identity
    DIRECTORY/IDENTITY/vectors      vectors, likewise
    DIRECTORY/IDENTITY/freshness    history per node, likewise

A catalog that had to start over has another identity, so nothing derived from the old one can be mistaken for current.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from pathlib import Path

CATALOG = "catalog.sqlite"
GENERATION = "generation"
KEPT_VECTORS = "vectors.sqlite"


@dataclass(frozen=True, slots=True)
class Layout:
    """Paths of one repository's stores."""

    directory: Path

    @property
    def catalog(self) -> Path:
        """The catalog's file."""
        return self.directory / CATALOG

    @property
    def last_generation(self) -> int:
        """The generation that a catalog which starts over counts on from; 0 if none was noted."""
        try:
            return int((self.directory / GENERATION).read_bytes())
        except (OSError, ValueError):
            return 0

    def note_generation(self, generation: int) -> None:
        """Notes it beside the catalog, for the day when that cannot be read. A hint: it is not synced."""
        if generation != self.last_generation:
            temporary = self.directory / f"{GENERATION}.new"
            with contextlib.suppress(OSError):  # a full disk: the catalog itself is what counts
                temporary.write_bytes(b"%d" % generation)
                temporary.replace(self.directory / GENERATION)

    @property
    def kept_vectors(self) -> Path:
        """Vectors by content, which any catalog's index can use."""
        return self.directory / KEPT_VECTORS

    def text(self, identity: str) -> Path:
        """Full text derived from the catalog of that identity."""
        return self.directory / identity / "text"

    def vectors(self, identity: str) -> Path:
        """Vectors, likewise."""
        return self.directory / identity / "vectors"

    def freshness(self, identity: str) -> Path:
        """History per node, likewise."""
        return self.directory / identity / "freshness"
