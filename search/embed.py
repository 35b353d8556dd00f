"""The bundled embedding model: learned subword vectors, summed with learned weights. numpy only, offline.

The weights are data files beside this package (`search/model`); docs/search.md says what they are. This
module never trains, never downloads and keeps no state but caches.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctxsearch.search.identifiers import IDENTIFIER, split_identifier
from ctxsearch.search.ports import Passage

Floats = NDArray[np.float32]

_CONTINUATION = "##"
# How often more the name counts than a word of the body; flat between 0.5 and 3 on CoSQA dev.
NAME_EXTRA = 1.0
_CACHE_LIMIT = 400_000


class StaticEmbedder:
    """Bag of subword vectors. Documents and queries weigh the same pieces differently.

    Thread-safe: the caches are plain dicts whose entries never change once written.
    """

    def __init__(self, weights: Path | None = None, vocabulary: Path | None = None) -> None:
        """Load the given weight and vocabulary files, or the bundled ones."""
        model = resources.files("ctxsearch.search") / "model"
        weights_file = weights if weights is not None else Path(str(model / "weights.npz"))
        vocabulary_file = vocabulary if vocabulary is not None else Path(str(model / "vocab.json"))
        with np.load(weights_file) as arrays:
            self._vectors: Floats = arrays["E"].astype(np.float32) * arrays["scale"][:, None]
            self._query_weights: Floats = np.exp(arrays["wq"])
            self._document_weights: Floats = np.exp(arrays["wd"])
        pieces: list[str] = json.loads(vocabulary_file.read_text("utf-8"))
        self._rows = {piece: row for row, piece in enumerate(pieces)}
        self._longest = max(len(piece) for piece in pieces)
        self._identifier_rows: dict[str, tuple[int, ...]] = {}
        self._word_rows: dict[str, tuple[int, ...]] = {}
        self.dimension = int(self._vectors.shape[1])
        self.model_id = f"static-{self.dimension}-{_digest(weights_file, vocabulary_file)}"

    def embed_documents(self, passages: Sequence[Passage]) -> Floats:
        """One unit row per passage; a passage without a known piece gets the zero row."""
        out = np.zeros((len(passages), self.dimension), dtype=np.float32)
        for index, passage in enumerate(passages):
            rows, weights = self._document_terms(passage)
            if len(rows):
                out[index] = weights @ self._vectors[rows]
        return _normalised(out)

    def embed_query(self, text: str) -> Floats:
        """The unit vector of a query; zero when nothing in it is known."""
        rows: list[int] = []
        for identifier in IDENTIFIER.findall(text):
            rows.extend(self._pieces(identifier))
        total: Floats = np.zeros((1, self.dimension), dtype=np.float32)
        if rows:
            total[0] = self._query_weights[rows] @ self._vectors[rows]
        return np.asarray(_normalised(total)[0], dtype=np.float32)

    def _document_terms(self, passage: Passage) -> tuple[NDArray[np.int64], Floats]:
        counts: dict[int, float] = {}
        for identifier, count in Counter(IDENTIFIER.findall(passage.text)).items():
            for row in self._pieces(identifier):
                counts[row] = counts.get(row, 0.0) + count
        for row in self._pieces(passage.name):
            counts[row] = counts.get(row, 0.0) + NAME_EXTRA
        rows = np.fromiter(counts.keys(), dtype=np.int64, count=len(counts))
        frequencies = np.fromiter(counts.values(), dtype=np.float32, count=len(counts))
        weights = (1.0 + np.log(frequencies)) * self._document_weights[rows]
        return rows, np.asarray(weights, dtype=np.float32)

    def _pieces(self, identifier: str) -> tuple[int, ...]:
        rows = self._identifier_rows.get(identifier)
        if rows is None:
            rows = tuple(row for word in split_identifier(identifier) for row in self._word(word))
            if len(self._identifier_rows) >= _CACHE_LIMIT:
                self._identifier_rows.clear()
            self._identifier_rows[identifier] = rows
        return rows

    def _word(self, word: str) -> tuple[int, ...]:
        rows = self._word_rows.get(word)
        if rows is None:
            rows = tuple(self._greedy(word))
            if len(self._word_rows) >= _CACHE_LIMIT:
                self._word_rows.clear()
            self._word_rows[word] = rows
        return rows

    def _greedy(self, word: str) -> list[int]:
        """Longest known piece first; a character that no piece covers is skipped."""
        rows: list[int] = []
        start = 0
        while start < len(word):
            prefix = _CONTINUATION if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                row = self._rows.get(prefix + word[start:end])
                if row is not None:
                    rows.append(row)
                    start = end
                    break
            else:
                start += 1
        return rows


def _normalised(vectors: Floats) -> Floats:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    out: Floats = np.zeros(vectors.shape, dtype=np.float32)
    np.divide(vectors, norms, out=out, where=norms > 0)
    return out


def _digest(*files: Path) -> str:
    """Names the weights themselves, so that another training is another model."""
    digest = hashlib.blake2b(digest_size=6)
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


@functools.cache
def bundled_embedder() -> StaticEmbedder:
    """The model that ships with the project; loaded once per process (entry point `bundled`)."""
    return StaticEmbedder()
