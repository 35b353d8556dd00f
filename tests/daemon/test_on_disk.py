"""Whether a result's file still is what was indexed, as the file system has it."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from ctxsearch.daemon.texts import KeptTexts, Texts
from ctxsearch.graph.catalog import Catalog
from ctxsearch.graph.model import CodeNode, NodeFlag, NodeKind, module_node_id
from ctxsearch.graph.records import FileGraph, FileRecord
from ctxsearch.indexer.files import content_hash
from ctxsearch.search.ports import OnDisk

SOURCE = b"def settle():\n    return 0\n"
LONG = "/".join(["d" * 200] * 25) + "/settle.py"  # more than the 4,096 bytes that one call takes


def write_beneath(root: Path, path: str, source: bytes) -> os.stat_result:
    """A file at a path that may be too long to be named in one call."""
    *directories, name = path.split("/")
    place = os.open(root, os.O_RDONLY)
    for directory in directories:
        with contextlib.suppress(FileExistsError):
            os.mkdir(directory, dir_fd=place)
        inner = os.open(directory, os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inner
    file = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600, dir_fd=place)
    os.write(file, source)
    found = os.fstat(file)
    os.close(file)
    os.close(place)
    return found


@pytest.mark.parametrize("path", ["shop/settle.py", LONG])
def test_a_file_is_unchanged_then_changed_then_vanished_however_long_its_path(tmp_path: Path, path: str) -> None:
    root = tmp_path / "work"
    root.mkdir()
    stat = write_beneath(root, path, SOURCE)
    catalog = Catalog.open(tmp_path / "catalog.db")
    record = FileRecord(path, "python", stat.st_size, stat.st_mtime_ns, stat.st_ino, content_hash(SOURCE))
    with catalog.write() as writer:
        writer.put_file(record, SOURCE.decode())
        writer.replace(path, FileGraph())
    node = CodeNode(
        module_node_id(path), NodeKind.MODULE, "settle", "settle", path, 1, 2, "python", "", "", NodeFlag.NONE, None
    )

    def looked_at() -> tuple[str, OnDisk]:
        (content,) = Texts(root, catalog.pin(), KeptTexts()).contents([node])
        return content.body, content.on_disk

    text = SOURCE.decode().rstrip("\n")
    assert looked_at() == (text, OnDisk.UNCHANGED)
    write_beneath(root, path, SOURCE + b"\n")
    assert looked_at() == (text, OnDisk.CHANGED)
    top = path.split("/", maxsplit=1)[0]
    (root / top).rename(root / "elsewhere")
    assert looked_at() == (text, OnDisk.VANISHED)
    catalog.close()
