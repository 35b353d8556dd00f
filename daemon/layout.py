"""Where a repository's stores lie.

    DIRECTORY/catalog.sqlite        the truth
    DIRECTORY/IDENTITY/text         full text, derived from the catalog of that identity
    DIRECTORY/IDENTITY/vectors      vectors, likewise
    DIRECTORY/IDENTITY/freshness    history per node, likewise

A catalog that had to start over has another identity, so nothing derived from the old one can be mistaken for current.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

CATALOG = "catalog.sqlite"


@dataclass(frozen=True, slots=True)
class Layout:
    """Paths of one repository's stores."""

    directory: Path

    @property
    def catalog(self) -> Path:
        """The catalog's file."""
        return self.directory / CATALOG

    def text(self, identity: str) -> Path:
        """Full text derived from the catalog of that identity."""
        return self.directory / identity / "text"

    def vectors(self, identity: str) -> Path:
        """Vectors, likewise."""
        return self.directory / identity / "vectors"

    def freshness(self, identity: str) -> Path:
        """History per node, likewise."""
        return self.directory / identity / "freshness"
