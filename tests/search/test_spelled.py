"""What a query spells: a symbol however it is said, a place in a file however tools write it, and nothing else."""

from __future__ import annotations

import pytest

from ctxsearch.search.spelled import Place, spelled_place, spelled_symbol


@pytest.mark.parametrize(
    ("text", "symbol"),
    [
        ("Session", "Session"),
        (" parse_args() ", "parse_args"),
        ("tokio::sync::Mutex", "tokio::sync::Mutex"),
        ("class Session", "Session"),
        ("Session class", "Session"),
        ("the parse_args function", "parse_args"),
        ("struct context", "context"),
        ("where is HTTPAdapter defined?", "HTTPAdapter"),
        ("where is the Session class", "Session"),
        ("what is the definition of Foo.bar", "Foo.bar"),
        ("find get_current_context", "get_current_context"),
    ],
)
def test_a_symbol_is_meant_however_it_is_said(text: str, symbol: str) -> None:
    assert spelled_symbol(text) == symbol


@pytest.mark.parametrize(
    ("line", "symbol"),
    [
        ("class Option(Parameter):", "Option"),
        ("async def main():", "main"),
        ("func (c *Context) ShouldBindJSON(obj any) error {", "ShouldBindJSON"),
        ("static int uv__fs_statfs(uv_fs_t* req) {", "uv__fs_statfs"),
        ("public static void main(String[] args) {", "main"),
        ("pub(crate) fn poll_read<T>(self: Pin<&mut Self>) -> Poll<()> {", "poll_read"),
        ("template <class T> void swap(T& a) {", "swap"),
        ("export default class Foo extends Bar {", "Foo"),
        ("const fetchPage = async (cursor) => {", "fetchPage"),
        ("type Engine struct {", "Engine"),
        ("char *strdup(const char *s);", "strdup"),
        ("std::vector<int> Foo::bar(int a)", "Foo::bar"),
        ("def parse(text):\n    return text.split()", "parse"),
    ],
)
def test_a_pasted_line_that_defines_means_what_it_defines(line: str, symbol: str) -> None:
    assert spelled_symbol(line) == symbol


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "class loader",
        "error type",
        "type inference",
        "function call",
        "method not allowed",
        "where is authentication handled",
        "where are the routes defined",
        "show me the parser",
        "how does parse(x) work",
        "get http response",
        "if (x == 3) {",
        "else if (ready) {",
        "return foo(x);",
        "foo = bar(x)",
        'raise ValueError("bad thing")',
        "self.assertEqual(a, b)",
        "SELECT * FROM t;",
        "[BUG] wrong number of type arguments; required 3",
        "Allow for loops with empty bodies (`PT012`, `PT031`)",
        "Support aggregation function pow(f1,f2) to cater for square",
        "Fix the method call `parse(x)`;",
        "Parser fails on class Foo\n\nSteps to reproduce:\nclass Foo(Bar): pass",
        "class " + "x" * 1_000,
        "(a " * 130,
    ],
)
def test_words_calls_and_reports_spell_no_symbol(text: str) -> None:
    assert spelled_symbol(text) == ""


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("core.py", Place("core.py", 0)),
        ("./src/click/core.py", Place("src/click/core.py", 0)),
        ("src/click/core.py:1219", Place("src/click/core.py", 1219)),
        ("src/click/core.py:1219:5", Place("src/click/core.py", 1219)),
        ("src/click/core.py:1219:5:", Place("src/click/core.py", 1219)),
        ('File "src/click/core.py", line 1219, in parse_args', Place("src/click/core.py", 1219)),
        ("src\\Main.cs(12,4)", Place("src/Main.cs", 12)),
        ("core.py#L12", Place("core.py", 12)),
    ],
)
def test_a_place_is_read_as_tools_write_it(text: str, place: Place) -> None:
    assert spelled_place(text) == place


@pytest.mark.parametrize(
    "text", ["", "1.5", "x.y()", "std::io", "Makefile", "see core.py", "a" * 9_000 + ". ", "/" * 9_000]
)
def test_other_texts_are_no_places(text: str) -> None:
    assert spelled_place(text) is None
