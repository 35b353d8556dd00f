"""What stays is spared from searches for garbage, and nothing that became garbage is kept for it."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from ctxsearch.daemon.memory import Sparing, loading_what_stays, look_for_garbage_rarely


class Cycle:
    """Only a search for garbage finds it."""

    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    gc.unfreeze()
    gc.set_threshold(*thresholds)


def test_what_is_loaded_is_spared_once_it_stayed_the_same() -> None:
    sparing = Sparing()
    assert [sparing.look(loaded) for loaded in (1, 2, 2, 2, 3, 3)] == [False, False, True, False, False, True]
    assert gc.get_freeze_count() > 0


def test_what_became_garbage_before_or_after_goes() -> None:
    sparing = Sparing()
    before, later = Cycle(), Cycle()
    gone_before, gone_later = weakref.ref(before), weakref.ref(later)
    del before
    assert not sparing.look("one")
    assert sparing.look("one")
    assert gone_before() is None
    assert gone_later() is later
    del later
    assert not sparing.look("two")
    assert sparing.look("two")
    assert gone_later() is None


def test_what_is_loaded_to_stay_is_never_searched() -> None:
    gc.unfreeze()
    with loading_what_stays():
        assert not gc.isenabled()
    assert gc.isenabled()
    assert gc.get_freeze_count() > 0


def test_young_objects_are_looked_through_more_rarely_and_old_ones_as_before() -> None:
    before = gc.get_threshold()
    look_for_garbage_rarely()
    assert gc.get_threshold()[0] > before[0]
    assert gc.get_threshold()[1:] == before[1:]
