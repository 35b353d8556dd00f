"""Documents and text without definitions: sections, names in backticks, pieces of long files."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.graph.resolve.resolver import Resolver
from ctxsearch.indexer.chunks import LONG_STRETCH, LONG_TEXT, MAX_LINES
from ctxsearch.indexer.parse import parse

MARKDOWN = b"""---
title: not a heading
---
Intro names `Thing`.
# One `code`
Text with `a::b()` and `two words`.
```sh
# a comment, no heading
```
Underlined
----------
### Deep
## Last ##
"""
RST = b"""=====
Title
=====

Calls ``run_all()`` and :func:`~pkg.mod.fn`.

Part
----

Body.

Detail
~~~~~~

Other
-----
"""


def outline(path: str, source: bytes) -> list[tuple[str, int, int]]:
    return [(item.qualified_name, item.start_line, item.end_line) for item in parse(path, source).definitions]


def test_markdown_headings_become_nested_sections() -> None:
    assert outline("README.md", MARKDOWN) == [
        ("One code", 5, 13),
        ("One code > Underlined", 10, 12),
        ("One code > Underlined > Deep", 12, 12),
        ("One code > Last", 13, 13),
    ]


def test_rst_levels_follow_the_order_of_the_styles() -> None:
    assert outline("doc/index.rst", RST) == [
        ("Title", 1, 16),
        ("Title > Part", 7, 14),
        ("Title > Part > Detail", 12, 14),
        ("Title > Other", 15, 16),
    ]


def test_names_in_backticks_are_references_of_their_section() -> None:
    facts = parse("README.md", MARKDOWN)
    assert [(facts.exprs[index].name, facts.exprs[index].scope) for index in facts.references] == [
        ("Thing", -1),
        ("code", 0),
        ("a.b", 0),
    ]
    assert [item.name for item in parse("a.rst", RST).exprs] == ["run_all", "pkg.mod.fn"]


def numbered(count: int, blank_every: int = 10) -> bytes:
    return b"".join(b"\n" if line % blank_every == 0 else b"line %d\n" % line for line in range(1, count + 1))


def test_a_long_file_of_an_unknown_language_is_cut_at_blank_lines() -> None:
    facts = parse("data.unknown", numbered(200))
    assert facts.language == "text"
    assert [(item.name, item.kind, item.signature) for item in facts.definitions] == [
        ("lines 1-79", NodeKind.SECTION, "line 1"),
        ("lines 81-159", NodeKind.SECTION, "line 81"),
        ("lines 161-199", NodeKind.SECTION, "line 161"),
    ]


def test_a_short_file_is_its_own_piece() -> None:
    assert parse("notes", numbered(LONG_TEXT)).definitions == ()


def test_a_long_stretch_between_definitions_is_cut_and_a_short_one_is_not() -> None:
    filler = b"".join(b"call(%d)\n" % line for line in range(LONG_STRETCH + 1))
    source = b"def first(): pass\n" + filler + b"def second(): pass\ncall(1)\n"
    named = [item for item in parse("script.py", source).definitions if not item.flags & NodeFlag.ANONYMOUS]
    assert [item.name for item in named] == ["first", "second", "lines 2-81", "lines 82-122"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from((b"", b"text", b"  ", b"# x")), max_size=400))
def test_pieces_cover_every_line_of_text_once(lines: list[bytes]) -> None:
    source = b"\n".join(lines)
    pieces = parse("notes.unknown", source).definitions
    covered = [line for item in pieces for line in range(item.start_line, item.end_line + 1)]
    assert len(covered) == len(set(covered))
    assert all(item.end_line - item.start_line < MAX_LINES for item in pieces)
    if pieces:
        assert {number for number, line in enumerate(lines, 1) if line.strip()} <= set(covered)


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="#=-~`' \nab.:()", max_size=200))
def test_any_document_can_be_read(text: str) -> None:
    for name in ("a.md", "a.rst"):
        facts = parse(name, text.encode())
        assert facts.parse_errors == 0
        for item in facts.definitions:
            assert 1 <= item.start_line <= item.end_line <= facts.line_count
            assert item.parent < facts.definitions.index(item)


@pytest.mark.parametrize("path", ["notes.txt", "weird.xyz", "go.mod", "a.py", "a.go", "guide.md"])
def test_a_last_line_end_begins_no_line(path: str) -> None:
    assert parse(path, b"module one\nmodule two\n").line_count == 2
    assert parse(path, b"module one\nmodule two").line_count == 2


def test_a_file_whose_name_begins_with_a_dot_keeps_its_name() -> None:
    names = {path: resolver_name(path) for path in ("sub/.gitignore", ".gitignore", "sub/notes.txt")}
    assert names == {"sub/.gitignore": "sub/.gitignore", ".gitignore": ".gitignore", "sub/notes.txt": "sub/notes"}


def resolver_name(path: str) -> str:
    """The qualified name of a file's own node."""
    resolver = Resolver()
    graph = resolver.update({path: parse(path, b"x\n")}).graphs[path]
    return next(record.node.qualified_name for record in graph.nodes if record.node.path == path)
