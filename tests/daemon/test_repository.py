"""Which snapshot answers while another is on its way."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import pytest

from ctxsearch.daemon.repository import _says_less
from ctxsearch.daemon.snapshot import Snapshot


@dataclass(frozen=True)
class Shape:
    """What decides of a snapshot."""

    graph_ready: bool
    can_answer: bool


@pytest.mark.parametrize(
    ("before", "after", "less"),
    [
        (Shape(True, True), Shape(True, True), False),
        (Shape(True, True), Shape(False, True), True),  # nodes alone, of everything indexed again
        (Shape(True, True), Shape(True, False), True),  # the catalog is ahead of its full text
        (Shape(False, True), Shape(True, False), True),
        (Shape(True, False), Shape(True, False), False),
        (Shape(False, False), Shape(False, True), False),
    ],
)
def test_an_index_that_is_made_anew_takes_over_when_it_is_whole(before: Shape, after: Shape, less: bool) -> None:
    assert _says_less(cast("Snapshot", before), cast("Snapshot", after)) is less
