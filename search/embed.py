"""The bundled embedding model: learned subword vectors, summed with learned weights. numpy only, offline.

The weights are data files beside this package (`search/model`); docs/model.md says how they are made. This module
never trains, never downloads and keeps no state but caches.
"""

from __future__ import annotations

import hashlib
import json
import weakref
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctxsearch.search.pieces import Pieces
from ctxsearch.search.ports import Passage
from ctxsearch.search.providers import ModelOptions

Floats = NDArray[np.float32]


class StaticEmbedder:
    """Bag of subword vectors. Documents and queries weigh the same pieces differently.

    Thread-safe: nothing changes after loading but the caches of `Pieces`.
    """

    is_quick = True

    def __init__(self, weights: Path | None = None, vocabulary: Path | None = None) -> None:
        """Load the given weight and vocabulary files, or the bundled ones."""
        model = resources.files("ctxsearch.search") / "model"
        weights_file = weights if weights is not None else Path(str(model / "weights.npz"))
        vocabulary_file = vocabulary if vocabulary is not None else Path(str(model / "vocab.json"))
        with np.load(weights_file) as arrays:
            self._vectors: Floats = arrays["E"].astype(np.float32) * arrays["scale"][:, None]
            self._query_weights: Floats = np.exp(arrays["wq"])
            self._document_weights: Floats = np.exp(arrays["wd"])
        self._pieces = Pieces(json.loads(vocabulary_file.read_text("utf-8")))
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
        rows = self._pieces.query(text)
        total: Floats = np.zeros((1, self.dimension), dtype=np.float32)
        if rows:
            total[0] = self._query_weights[rows] @ self._vectors[rows]
        return np.asarray(_normalised(total)[0], dtype=np.float32)

    def _document_terms(self, passage: Passage) -> tuple[NDArray[np.int64], Floats]:
        counts = self._pieces.document(passage)
        rows = np.fromiter(counts.keys(), dtype=np.int64, count=len(counts))
        frequencies = np.fromiter(counts.values(), dtype=np.float32, count=len(counts))
        weights = (1.0 + np.log(frequencies)) * self._document_weights[rows]
        return rows, np.asarray(weights, dtype=np.float32)


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


_bundled: weakref.WeakValueDictionary[str, StaticEmbedder] = weakref.WeakValueDictionary()


def bundled_embedder() -> StaticEmbedder:
    """The model that ships with the project; one per process while anybody holds it."""
    model = _bundled.get("")
    if model is None:
        model = _bundled[""] = StaticEmbedder()
    return model


def open_bundled(_options: ModelOptions) -> StaticEmbedder:
    """The same (entry point `bundled`); there is nothing to choose."""
    return bundled_embedder()
