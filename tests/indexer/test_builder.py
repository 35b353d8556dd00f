"""What holds for every extractor."""

from __future__ import annotations

from pathlib import Path

import ctxsearch.indexer.languages


def test_no_extractor_reads_points() -> None:
    """tree-sitter 0.26 frees a point's row while handing it out: rows above 256 crash the process."""
    folder = Path(ctxsearch.indexer.languages.__file__).parent
    readers = [
        path.name
        for path in sorted(folder.glob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if (".start_point" in line or ".end_point" in line) and "never" not in line
    ]
    assert readers == []
