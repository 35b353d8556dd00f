"""Texts of files: read once however many generations come, and never more of them kept than may be."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from ctxsearch.daemon.texts import KeptTexts, Text, Texts, Version
from ctxsearch.graph.catalog import Catalog, Snapshot
from ctxsearch.graph.model import CodeNode, NodeFlag, NodeKind, module_node_id
from ctxsearch.graph.records import FileGraph, FileRecord
from ctxsearch.indexer.files import content_hash

ROOT = Path("work")


def put(catalog: Catalog, path: str, source: str) -> None:
    record = FileRecord(path, "python", len(source), 0, 0, content_hash(source.encode()))
    with catalog.write() as writer:
        writer.put_file(record, source)
        writer.replace(path, FileGraph())


def node(path: str, last_line: int = 9) -> CodeNode:
    return CodeNode(
        module_node_id(path), NodeKind.MODULE, path, path, path, 1, last_line, "python", "", "", NodeFlag.NONE, None
    )


def bodies(texts: Texts, *paths: str) -> list[str]:
    return [content.body for content in texts.contents([node(path) for path in paths])]


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    counted: Counter[str] = Counter()
    source = Snapshot.source

    def counting(self: Snapshot, path: str) -> bytes | None:
        counted[path] += 1
        return source(self, path)

    monkeypatch.setattr(Snapshot, "source", counting)
    return counted


def test_what_is_in_no_file_has_no_text_and_costs_the_others_nothing(tmp_path: Path) -> None:
    catalog = Catalog.open(tmp_path / "catalog.db")
    put(catalog, "a.py", "one")
    package = CodeNode(module_node_id("a"), NodeKind.PACKAGE, "a", "a", "", 0, 0, "python", "", "", NodeFlag.NONE, None)
    found = Texts(ROOT, catalog.pin(), KeptTexts()).contents([package, node("a.py")])
    assert [content.body for content in found] == ["", "one"]
    catalog.close()


def test_after_an_edit_only_what_changed_is_read_again(tmp_path: Path, reads: Counter[str]) -> None:
    catalog, kept = Catalog.open(tmp_path / "catalog.db"), KeptTexts()
    put(catalog, "a.py", "one")
    put(catalog, "b.py", "two")
    before = Texts(ROOT, catalog.pin(), kept)
    assert bodies(before, "a.py", "b.py", "a.py") == ["one", "two", "one"]
    put(catalog, "b.py", "three")
    after = Texts(ROOT, catalog.pin(), kept)
    assert bodies(after, "a.py", "b.py") == ["one", "three"]
    assert bodies(before, "a.py", "b.py") == ["one", "two"], "who holds the generation before sees it as it was"
    assert reads == {"a.py": 1, "b.py": 2}
    catalog.close()


def test_the_same_path_of_two_repositories_is_two_files(tmp_path: Path, reads: Counter[str]) -> None:
    kept = KeptTexts()
    for name in ("here", "there"):
        catalog = Catalog.open(tmp_path / f"{name}.db")
        put(catalog, "a.py", name)
        assert bodies(Texts(Path(name), catalog.pin(), kept), "a.py") == [name]
        catalog.close()
    assert reads == {"a.py": 2}


def test_a_file_that_is_not_indexed_has_no_text(tmp_path: Path) -> None:
    catalog = Catalog.open(tmp_path / "catalog.db")
    put(catalog, "a.py", "one")
    assert bodies(Texts(ROOT, catalog.pin(), KeptTexts()), "gone.py", "a.py", "") == ["", "one", ""]
    catalog.close()


def versions(*names: str) -> list[Version]:
    return [(str(ROOT), name, "") for name in names]


def test_no_more_is_kept_than_may_be_and_what_was_asked_for_last_stays() -> None:
    text = Text.of(b"x" * 99 + b"\n")
    kept = KeptTexts(most=2 * text.size)
    kept.keep(dict.fromkeys(versions("a", "b"), text))
    assert kept.find(versions("a"))
    kept.keep(dict.fromkeys(versions("c"), text))
    assert list(kept.find(versions("a", "b", "c"))) == versions("a", "c")
    kept.keep(dict.fromkeys(versions("d"), Text.of(b"x" * 999)))
    assert kept.find(versions("a", "b", "c", "d")) == {}, "what is larger than all that may be kept is not kept"


def test_of_a_repository_that_is_forgotten_nothing_is_kept() -> None:
    kept, other = KeptTexts(), ("other", "a", "")
    kept.keep(dict.fromkeys([*versions("a", "b"), other], Text.of(b"x")))
    kept.forget(ROOT)
    assert list(kept.find([*versions("a", "b"), other])) == [other]


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [(1, 1, "a"), (2, 3, "b\nc"), (1, 9, "a\nb\nc"), (3, 3, "c"), (4, 9, ""), (3, 2, "")],
)
def test_lines_of_a_text(first: int, last: int, expected: str) -> None:
    assert Text.of(b"a\nb\nc").between(first, last) == expected
