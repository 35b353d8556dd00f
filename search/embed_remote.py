"""An OpenAI-compatible `/embeddings` endpoint as an embedder. Off by default: nothing leaves the machine unasked.

Standard library only. Who turns it on says where, which model and which key; nothing is read from the environment.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ctxsearch.search.documents import encodable
from ctxsearch.search.errors import FailedPrecondition, Unavailable
from ctxsearch.search.ports import Floats, Passage
from ctxsearch.search.providers import ModelOptions

_BATCH: Final = 64
_MAX_CHARS: Final = 8_000  # of one text; endpoints refuse longer ones
_QUESTION_SECONDS: Final = 3.0  # somebody waits for the answer, which other signals could give
_PASSAGES_SECONDS: Final = 60.0
_SILENCE_SECONDS: Final = 15.0  # after a question that was not answered the next ones are not asked
_PAUSES: Final = (1.0, 4.0, 16.0)  # before passages are sent again to an endpoint that has too much to do
_BUSY: Final = frozenset({408, 429, 500, 502, 503, 504})
_BYTES_PER_NUMBER: Final = 64  # of an answer, generously; and so many more for what is around them:
_BYTES_AROUND: Final = 1 << 20
_CHUNK: Final = 1 << 16


@dataclass(frozen=True, slots=True)
class Clock:
    """Time, as far as waiting for an endpoint needs it."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


class RemoteEmbedder:
    """Asks an endpoint. Raises Unavailable when it does not answer as it should."""

    is_quick = False

    def __init__(self, options: ModelOptions, clock: Clock | None = None) -> None:
        """Nothing is asked before the first text; raises FailedPrecondition for what can never be asked."""
        if not options.url.startswith(("http://", "https://")):
            raise FailedPrecondition(f"embedding endpoint {options.url!r}: only http and https are supported")
        if not options.model or options.dimension < 1:
            raise FailedPrecondition(f"embedding endpoint {options.url}: its model and its dimension must be said")
        if not (options.key.isascii() and options.key.isprintable()):
            raise FailedPrecondition(f"embedding endpoint {options.url}: its key has characters that no key has")
        self._options = options
        self._url = options.url.rstrip("/") + "/embeddings"
        # Nowhere but where the user said: to no proxy that the environment names, and not where an answer points.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirect)
        self._clock = clock if clock is not None else Clock()
        self._silent_until = float("-inf")  # one float, replaced as a whole
        self.dimension = options.dimension
        # Two endpoints may call different models the same.
        place = hashlib.blake2b(self._url.encode(), digest_size=4).hexdigest()
        self.model_id = f"remote-{options.model}-{options.dimension}-{place}"

    def embed_documents(self, passages: Sequence[Passage]) -> Floats:
        """One unit row per passage; an endpoint that is busy is asked again a few times."""
        texts = [encodable(f"{passage.name}\n{passage.text}"[:_MAX_CHARS]) for passage in passages]
        out = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            out[start : start + _BATCH] = self._patiently(texts[start : start + _BATCH])
        return out

    def embed_query(self, text: str) -> Floats:
        """One unit vector, or Unavailable before long."""
        if self._clock.now() < self._silent_until:
            raise Unavailable(f"embedding endpoint {self._url}: did not answer a moment ago")
        try:
            return np.asarray(self._asked([encodable(text[:_MAX_CHARS])], _QUESTION_SECONDS)[0], dtype=np.float32)
        except Unavailable:
            self._silent_until = self._clock.now() + _SILENCE_SECONDS
            raise

    def _patiently(self, texts: list[str]) -> Floats:
        for pause in _PAUSES:
            try:
                return self._asked(texts, _PASSAGES_SECONDS)
            except _BusyError:
                self._clock.sleep(pause)
        return self._asked(texts, _PASSAGES_SECONDS)

    def _asked(self, texts: list[str], seconds: float) -> Floats:
        body = json.dumps({"model": self._options.model, "input": texts}).encode()
        headers = {"Content-Type": "application/json"}
        if self._options.key:
            headers["Authorization"] = f"Bearer {self._options.key}"
        request = urllib.request.Request(self._url, body, headers)  # noqa: S310 - the scheme is checked at the start
        try:
            with self._opener.open(request, timeout=seconds) as answer:
                return self._vectors(json.loads(self._read(answer, len(texts), seconds)), len(texts))
        except urllib.error.HTTPError as error:
            kind = _BusyError if error.code in _BUSY else Unavailable
            raise kind(f"embedding endpoint {self._url}: status {error.code}") from error
        except (OSError, http.client.HTTPException) as error:  # no connection, or an answer that breaks off
            raise _BusyError(f"embedding endpoint {self._url}: {_reason(error)}") from error
        except Exception as error:  # whatever an answer holds, it is the endpoint's fault
            raise Unavailable(f"embedding endpoint {self._url}: {_reason(error)}") from error

    def _read(self, answer: http.client.HTTPResponse, count: int, seconds: float) -> bytes:
        """A whole answer, if it comes in time and is no larger than vectors are."""
        deadline = self._clock.now() + seconds
        most = count * self.dimension * _BYTES_PER_NUMBER + _BYTES_AROUND
        data = bytearray()
        while chunk := answer.read1(_CHUNK):
            data += chunk
            if len(data) > most:
                raise ValueError(f"answered more than {most} bytes")
            if self._clock.now() > deadline:
                raise TimeoutError(f"took more than {seconds:g} seconds")
        return bytes(data)

    def _vectors(self, answer: dict[str, list[dict[str, object]]], count: int) -> Floats:
        rows = sorted(answer["data"], key=lambda row: int(str(row["index"])))
        vectors = np.array([row["embedding"] for row in rows], dtype=np.float32)
        if vectors.shape != (count, self.dimension) or not np.isfinite(vectors).all():
            raise ValueError(f"answered {vectors.shape} numbers, wanted {(count, self.dimension)}, all finite")
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / np.maximum(norms, 1e-12), dtype=np.float32)


def _reason(error: Exception) -> str:
    """What went wrong, in a line."""
    said = " ".join(str(error).split())[:200]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


class _BusyError(Unavailable):
    """It may answer later."""


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Code and key go where the user said, and nowhere else."""

    def redirect_request(self, *_: object, **__: object) -> None:
        """None: the answer is the error that it is."""


def open_endpoint(options: ModelOptions) -> RemoteEmbedder:
    """The chosen endpoint (entry point `openai`)."""
    return RemoteEmbedder(options)
