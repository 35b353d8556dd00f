"""Settings of package.json and tsconfig.json, as far as import linking needs them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxsearch.indexer.languages.ecmaconfig import package_json, tsconfig
from ctxsearch.indexer.parse import parse


def test_a_tsconfig_may_have_comments_and_trailing_commas() -> None:
    text = """
    { /* block */ "extends": ["./a.json", "./b.json"], // line
      "compilerOptions": { "baseUrl": "src", "paths": { "@/*": ["*", "gen/*"], "x": "no list", }, }, }
    """
    assert list(tsconfig(text)) == [
        ("extends", "./a.json"), ("extends", "./b.json"), ("baseUrl", "src"), ("paths", "@/* > *"),
        ("paths", "@/* > gen/*"),
    ]  # fmt: skip


def test_text_that_looks_like_a_comment_inside_a_string_is_kept() -> None:
    assert list(tsconfig('{"extends": "./a//b/*c*/.json"}')) == [("extends", "./a//b/*c*/.json")]


def test_entry_points_come_in_the_order_in_which_they_are_tried() -> None:
    text = """{ "name": "@a/b", "main": "m.js", "source": "src/s.ts",
      "exports": { ".": { "types": "./t.d.ts", "import": { "default": "./i.mjs" } }, "./x": ["./x.js"] },
      "imports": { "#y": "./y.js" } }"""
    assert list(package_json(text)) == [
        ("name", "@a/b"), ("entry", ". > ./i.mjs"), ("entry", ". > ./t.d.ts"), ("entry", "./x > ./x.js"),
        ("entry", ". > src/s.ts"), ("entry", ". > m.js"), ("entry", "#y > ./y.js"),
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["", "[]", "{", "null", '{"name": 1, "exports": 3}', "[" * 50_000])
def test_what_is_not_readable_says_nothing(text: str) -> None:
    assert list(package_json(text)) == []
    assert list(tsconfig(text)) == []


@given(st.text(max_size=60))
def test_any_text_can_be_read(text: str) -> None:
    assert isinstance(list(package_json(text)) + list(tsconfig(text)), list)


@pytest.mark.parametrize("path", ["tsconfig.json", "a/tsconfig.base.json", "jsconfig.json", "x/package.json"])
def test_configuration_files_have_facts(path: str) -> None:
    facts = parse(path, b'{"name": "n", "extends": "./x"}')
    assert facts.language == "json"
    assert facts.exports
