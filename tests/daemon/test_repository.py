"""Which snapshot answers while another is on its way."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import cast

import pytest

from ctxsearch.daemon.messages import Job
from ctxsearch.daemon.registry import RepositoryRecord
from ctxsearch.daemon.repository import Repository, _says_less
from ctxsearch.daemon.snapshot import Snapshot
from ctxsearch.daemon.stores import Stores


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


class NothingStored(Stores):
    """Stores of a repository that was never indexed."""

    def __init__(self) -> None:
        pass

    def load(self) -> None:
        return None

    def close(self) -> None:
        pass


def test_a_repository_that_waits_for_its_turn_is_closed_at_once() -> None:
    turn = threading.Semaphore(0)  # another repository has it, for minutes perhaps
    job = cast("Job", None)
    record = RepositoryRecord("app", "/nowhere", "0", 0.0)
    repository = Repository(record, NothingStored(), (job, job), turn, 1.0, False, lambda _: None, lambda *_: None)
    repository.start()
    closing = threading.Thread(target=repository.close, daemon=True)
    closing.start()
    closing.join(20)
    assert not closing.is_alive()
