"""An OpenAI-compatible `/embeddings` endpoint as an embedder. Off by default: nothing leaves the machine unasked.

Standard library only. Who turns it on says where, which model and which key; nothing is read from the environment.
"""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ctxsearch.search.errors import FailedPrecondition, Unavailable
from ctxsearch.search.ports import Floats, Passage

_BATCH: Final = 64
_MAX_CHARS: Final = 8_000  # of one text; endpoints refuse longer ones


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where and as whom to ask."""

    url: str  # up to and without `/embeddings`
    model: str
    dimension: int
    key: str = ""
    timeout: float = 30.0  # seconds


class RemoteEmbedder:
    """Asks an endpoint. Raises Unavailable when it does not answer as it should."""

    def __init__(self, endpoint: Endpoint) -> None:
        """Nothing is asked before the first text; the scheme must be http or https."""
        if not endpoint.url.startswith(("http://", "https://")):
            raise FailedPrecondition(f"embedding endpoint {endpoint.url!r}: only http and https are supported")
        self._endpoint = endpoint
        self.dimension = endpoint.dimension
        self.model_id = f"remote-{endpoint.model}-{endpoint.dimension}"

    def embed_documents(self, passages: Sequence[Passage]) -> Floats:
        """One unit row per passage."""
        texts = [f"{passage.name}\n{passage.text}"[:_MAX_CHARS] for passage in passages]
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            out[start : start + _BATCH] = self._asked(texts[start : start + _BATCH])
        return out

    def embed_query(self, text: str) -> Floats:
        """One unit vector."""
        return np.asarray(self._asked([text[:_MAX_CHARS]])[0], dtype=np.float32)

    def _asked(self, texts: list[str]) -> Floats:
        body = json.dumps({"model": self._endpoint.model, "input": texts}).encode()
        headers = {"Content-Type": "application/json"}
        if self._endpoint.key:
            headers["Authorization"] = f"Bearer {self._endpoint.key}"
        url = self._endpoint.url.rstrip("/") + "/embeddings"
        request = urllib.request.Request(url, body, headers)  # noqa: S310 - the scheme is checked at the start
        try:
            with urllib.request.urlopen(request, timeout=self._endpoint.timeout) as answer:  # noqa: S310
                return self._vectors(json.load(answer), len(texts))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise Unavailable(f"embedding endpoint {url}: {_reason(error)}") from error

    def _vectors(self, answer: dict[str, list[dict[str, object]]], count: int) -> Floats:
        rows = sorted(answer["data"], key=lambda row: int(str(row["index"])))
        vectors = np.array([row["embedding"] for row in rows], dtype=np.float32)
        if vectors.shape != (count, self.dimension) or not np.isfinite(vectors).all():
            raise ValueError(f"answered {vectors.shape} numbers, wanted {(count, self.dimension)}, all finite")
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(norms, 1e-12), dtype=np.float32)


def _reason(error: Exception) -> str:
    """What went wrong, without the key that the request carried."""
    if isinstance(error, urllib.error.HTTPError):
        return f"status {error.code}"
    return f"{type(error).__name__}: {error}"
