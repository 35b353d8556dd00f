"""A full-text index whose files are not what was written is never opened."""

from __future__ import annotations

from pathlib import Path

import pytest
from search_project import Project

from ctxsearch.search.errors import IndexCorrupt
from ctxsearch.search.lexical.index import TantivyIndex
from ctxsearch.search.lexical.schema import FORMAT
from ctxsearch.search.segments import check_segments

FILES = {f"m{number}.py": f"def function_{number}(x):\n    return x + {number}\n" for number in range(20)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An index of several segments, some of whose documents are deleted."""
    project = Project(tmp_path / "work", tmp_path / "state")
    project.index(FILES)
    project.index({"m3.py": "def other():\n    return 3\n"})
    return next(path for path in (tmp_path / "state").rglob(FORMAT))


def segment_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix in (".fast", ".term", ".idx", ".store", ".del"))


def test_what_was_written_passes(folder: Path) -> None:
    assert any(path.suffix == ".del" for path in segment_files(folder))
    check_segments(folder)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.7, 0.999])
def test_a_flipped_bit_of_the_content_is_noticed(folder: Path, share: float) -> None:
    for path in segment_files(folder):
        whole = path.read_bytes()
        data = bytearray(whole)
        content = len(data) - 8 - int.from_bytes(data[-8:-4], "little")  # before the footer
        data[int(content * share)] ^= 4
        path.write_bytes(data)
        with pytest.raises(IndexCorrupt, match=path.name):
            check_segments(folder)
        with pytest.raises(IndexCorrupt):
            TantivyIndex(folder.parent)
        path.write_bytes(whole)
    check_segments(folder)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_a_truncated_file_is_noticed(folder: Path, share: float) -> None:
    for path in (*segment_files(folder), folder / "meta.json"):
        whole = path.read_bytes()
        path.write_bytes(whole[: int(len(whole) * share)])
        with pytest.raises(IndexCorrupt):
            TantivyIndex(folder.parent)
        path.write_bytes(whole)


def test_files_that_no_commit_names_are_not_looked_at(folder: Path) -> None:
    (folder / "0123456789abcdef0123456789abcdef.term").write_bytes(b"half of what a writer")
    check_segments(folder)
