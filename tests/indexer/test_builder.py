"""What holds for every extractor."""

from __future__ import annotations

from pathlib import Path

import ctxsearch.indexer.languages
from ctxsearch.graph.model import CALLABLE_KINDS, TYPE_KINDS
from ctxsearch.indexer.languages import detect
from ctxsearch.indexer.parse import outline, parse


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


def test_an_outline_has_the_names_of_all_functions_and_types() -> None:
    folder = Path(__file__).parents[2] / "fixtures" / "graph"
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and detect(path.name, b"") is not None]
    signed = CALLABLE_KINDS | TYPE_KINDS
    found = 0
    for path in files:
        source = path.read_bytes()
        known = {each.qualified_name for each in outline(path.name, source)}
        definitions = parse(path.name, source).definitions
        named = {each.qualified_name for each in definitions if each.kind in signed and "<" not in each.qualified_name}
        assert named <= known, path
        assert known <= {each.qualified_name for each in definitions}, path
        found += len(named)
    assert found > 1000
