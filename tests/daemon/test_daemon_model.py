"""The model leaves memory when nobody asks for long, and comes back with the same vectors."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from ctxsearch.daemon.model import IdleEmbedder
from ctxsearch.search.embed import StaticEmbedder, bundled_embedder
from ctxsearch.search.ports import Embedder


class Clock:
    """Seconds that only a test moves."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_an_idle_model_is_let_go_of_and_comes_back_the_same() -> None:
    loaded: list[weakref.ref[Embedder]] = []

    def load() -> Embedder:
        model = StaticEmbedder()
        loaded.append(weakref.ref(model))
        return model

    clock = Clock()
    model = IdleEmbedder(load, clock)
    assert not model.is_loaded
    before = model.embed_query("retry with backoff")
    named = model.model_id, model.dimension
    clock.now = 9.0
    assert not model.unload_after(10.0)
    clock.now = 11.0
    assert model.unload_after(10.0)
    gc.collect()
    assert loaded[0]() is None
    assert (model.model_id, model.dimension) == named  # known without the weights
    assert not model.is_loaded
    assert np.array_equal(model.embed_query("retry with backoff"), before)
    assert len(loaded) == 2


def test_the_bundled_model_is_shared_while_it_is_held_and_freed_after(monkeypatch: pytest.MonkeyPatch) -> None:
    # Other tests of this process may hold the one that they share.
    monkeypatch.setattr("ctxsearch.search.embed._bundled", weakref.WeakValueDictionary())
    first = bundled_embedder()
    assert bundled_embedder() is first
    gone = weakref.ref(first)
    del first
    gc.collect()
    assert gone() is None
