"""Bytes by path read the same from memory and from the file."""

from __future__ import annotations

import os

import pytest

from ctxsearch.indexer.spool import Spool


@pytest.mark.parametrize("in_memory", [0, 4, 1000])
def test_what_was_put_last_is_read_wherever_it_lies(in_memory: int) -> None:
    spool = Spool(in_memory)
    for path, content in (("a", b"first"), ("b", b"second"), ("a", b"third, longer")):
        spool.put(path, content)
    assert dict(spool) == {"a": b"third, longer", "b": b"second"}
    assert len(spool) == 2
    spool.close()


def test_the_file_holds_everything_and_goes_with_close() -> None:
    spool = Spool()
    spool.put("b", b"two")
    spool.put("a", b"one")
    descriptor, places = spool.on_disk()
    assert list(places) == ["a", "b"]
    assert {path: os.pread(descriptor, length, at) for path, (at, length) in places.items()} == {
        "a": b"one",
        "b": b"two",
    }
    spool.close()
    assert set(spool) == {"a", "b"}
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(descriptor)
