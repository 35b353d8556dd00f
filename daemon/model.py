"""The embedding model in the serving process: loaded when it is first needed, let go of when nobody asked for long."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from ctxsearch.search.ports import Embedder, Floats, Passage


class IdleEmbedder:
    """An `Embedder` whose weights come and go. Its cells are guarded by `_lock`; a use keeps the model that it got."""

    def __init__(self, load: Callable[[], Embedder], clock: Callable[[], float] = time.monotonic) -> None:
        self._load = load
        self._clock = clock
        self._lock = threading.Lock()
        self._model: Embedder | None = None
        self._traits: tuple[str, int, bool] | None = None  # id, dimension, is it quick; known once it was loaded
        self._used = 0.0

    @property
    def model_id(self) -> str:
        """Names the weights."""
        return self._known()[0]

    @property
    def dimension(self) -> int:
        """Numbers per vector."""
        return self._known()[1]

    @property
    def is_quick(self) -> bool:
        """Whether answers may have passages embedded."""
        return self._known()[2]

    @property
    def is_loaded(self) -> bool:
        """True while the weights are in memory."""
        return self._model is not None

    def embed_documents(self, passages: Sequence[Passage]) -> Floats:
        """One row per passage."""
        return self._loaded().embed_documents(passages)

    def embed_query(self, text: str) -> Floats:
        """The vector of a query."""
        return self._loaded().embed_query(text)

    def unload_after(self, idle_seconds: float) -> bool:
        """Lets the weights go if nothing was embedded for so long; True if it did."""
        with self._lock:
            if self._model is None or self._clock() - self._used < idle_seconds:
                return False
            self._model = None
            return True

    def _known(self) -> tuple[str, int, bool]:
        if self._traits is None:
            self._loaded()
        assert self._traits is not None
        return self._traits

    def _loaded(self) -> Embedder:
        with self._lock:
            if self._model is None:
                self._model = self._load()
                self._traits = self._model.model_id, self._model.dimension, self._model.is_quick
            self._used = self._clock()
            return self._model
