"""Sorting by whole numbers, the quick way. Pure."""

from __future__ import annotations

from typing import Final

import numpy as np

from ctxsearch.graph.columns import Rows
from ctxsearch.search.ports import Scores

_PLACE_BITS: Final = 32
_PLACE: Final = (1 << _PLACE_BITS) - 1


def in_order(numbers: Rows) -> tuple[Rows, Rows]:
    """Numbers of at most 31 bits in order, and the place that each had, of equals the first one first.

    One plain sort of numbers that hold both: numpy does that without a branch for each comparison, which a processor
    guesses wrong half of the time. For 400 numbers it took 5 µs, a stable `argsort` 12.
    """
    keys = numbers << _PLACE_BITS
    keys |= np.arange(len(keys))
    keys.sort()
    return keys >> _PLACE_BITS, keys & _PLACE


def best_first(rows: Rows, scores: Scores) -> tuple[Rows, Scores]:
    """Rows of at most 31 bits by falling scores, of equals the lower one first.

    The quick sort of scores leaves equals in any order; numbers that hold the place among all different scores and the
    row put them in theirs. For 300 rows it took 9 µs, `lexsort` 19.
    """
    order = (-scores).argsort()
    scores = scores.take(order)
    rows = rows.take(order)
    is_lower = scores[1:] != scores[:-1]
    if np.count_nonzero(is_lower) + 1 < len(rows):
        rows[1:] |= is_lower.cumsum() << _PLACE_BITS
        rows.sort()
        rows &= _PLACE
    return rows, scores
