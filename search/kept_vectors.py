"""Vectors of passages on disk, by model and content: of an embedder that is not quick no passage is asked twice.

A first index that takes an hour is committed at its end; what ends it before that must not cost the hour. One SQLite
file per repository, which outlives its catalog; all of it can be made again, so a damaged one is thrown away.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ctxsearch.search.documents import passage_hash
from ctxsearch.search.ports import Embedder, Floats, Passage

_BATCH: Final = 256  # passages between two commits
_BYTES_KEPT: Final = 1 << 30  # the oldest vectors go first
_SIGN: Final = 1 << 63  # SQLite's whole numbers have one, hashes have not
_SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS vectors (
    n INTEGER PRIMARY KEY, model TEXT NOT NULL, passage INTEGER NOT NULL, vector BLOB NOT NULL, UNIQUE (model, passage)
)
"""


class KeptVectors:
    """An `Embedder` that asks another one for what it has not kept. One process uses a file at a time."""

    is_quick = False

    def __init__(self, embedder: Embedder, file: Path, bytes_kept: int = _BYTES_KEPT) -> None:
        """Keep what the embedder says in a file."""
        self._embedder = embedder
        self._file = file
        self._rows_kept = bytes_kept // (2 * embedder.dimension)
        self.model_id = embedder.model_id
        self.dimension = embedder.dimension

    def embed_query(self, text: str) -> Floats:
        """One unit vector; questions are not kept."""
        return self._embedder.embed_query(text)

    def embed_documents(self, passages: Sequence[Passage]) -> Floats:
        """One unit row per passage, in half precision; what was asked for is durable before the next is."""
        try:
            return self._embedded(passages)
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):  # a full disk, say: what is there is good
                raise
            for file in (self._file, self._file.with_name(f"{self._file.name}-journal")):
                file.unlink(missing_ok=True)
            return self._embedded(passages)

    def _embedded(self, passages: Sequence[Passage]) -> Floats:
        out = np.zeros((len(passages), self.dimension), dtype=np.float32)
        with contextlib.closing(sqlite3.connect(self._file)) as connection:
            connection.execute(_SCHEMA)
            for start in range(0, len(passages), _BATCH):
                out[start : start + _BATCH] = self._some(connection, passages[start : start + _BATCH])
        return out

    def _some(self, connection: sqlite3.Connection, passages: Sequence[Passage]) -> NDArray[np.float16]:
        keys = [passage_hash(passage) - _SIGN for passage in passages]
        marks = ",".join("?" * len(keys))
        rows = connection.execute(
            f"SELECT passage, vector FROM vectors WHERE model = ? AND passage IN ({marks})",  # noqa: S608 - marks alone
            (self.model_id, *keys),
        )
        known = {key: np.frombuffer(vector, np.float16) for key, vector in rows}
        missing = {key: passage for key, passage in zip(keys, passages, strict=True) if key not in known}
        if missing:
            made = self._embedder.embed_documents(list(missing.values())).astype(np.float16)
            known |= zip(missing, made, strict=True)
            self._keep(connection, {key: known[key].tobytes() for key in missing})
        return np.array([known[key] for key in keys], np.float16)

    def _keep(self, connection: sqlite3.Connection, vectors: dict[int, bytes]) -> None:
        with connection:
            connection.executemany(
                "INSERT INTO vectors (model, passage, vector) VALUES (?, ?, ?)",
                [(self.model_id, key, vector) for key, vector in vectors.items()],
            )
            connection.execute("DELETE FROM vectors WHERE n <= (SELECT max(n) FROM vectors) - ?", (self._rows_kept,))
