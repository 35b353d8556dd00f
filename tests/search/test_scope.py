"""Scope: one meaning for paths, globs, languages, kinds and packages, the same for Python and for the
engines."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from search_samples import UNKNOWN, by_path, document

from ctxsearch.graph.model import NodeKind
from ctxsearch.search.embed import bundled_embedder
from ctxsearch.search.errors import InvalidArgument
from ctxsearch.search.lexical.index import TantivyIndex
from ctxsearch.search.ports import Selection
from ctxsearch.search.scope import (
    EVERYTHING,
    Beneath,
    Scope,
    folders_of,
    literal_folder,
    package_ancestors,
    path_regex,
    plain_path,
    simple_glob,
    suffixes_of,
)
from ctxsearch.search.semantic import LanceIndex, SemanticPolicy

MATCHES = [
    ("src", "src/a.py", True),
    ("src/", "src/deep/a.py", True),
    ("./src", "src/a.py", True),
    ("src", "src2/a.py", False),
    ("src/a.py", "src/a.py", True),
    ("src/a.py", "src/a.pyc", False),
    ("*.py", "src/deep/a.py", True),
    ("*.py", "a.py", True),
    ("*.py", "a.pyx", False),
    ("/*.py", "src/a.py", False),
    ("/*.py", "a.py", True),
    ("src/*.py", "src/a.py", True),
    ("src/*.py", "src/deep/a.py", False),
    ("src/**/*.py", "src/a.py", True),
    ("src/**/*.py", "src/x/y/a.py", True),
    ("**/test_*.py", "test_a.py", True),
    ("**/test_*.py", "x/test_a.py", True),
    ("src/**", "src/x/y", True),
    ("s?c/a.py", "src/a.py", True),
    ("s?c/a.py", "s/c/a.py", False),
    ("[ab].py", "b.py", True),
    ("[ab].py", "c.py", False),
    ("[!ab].py", "c.py", True),
    ("[!ab].py", "a.py", False),
    ("[a-c]x.py", "bx.py", True),
    ("[!-,a]x.py", "bx.py", True),
    ("[!-,a]x.py", "-x.py", False),
    ("[a-]x.py", "-x.py", True),
    ("*.{ts,tsx}", "web/app.tsx", True),
    ("*.{ts,tsx}", "web/app.js", False),
    ("web/**/*.{ts,tsx}", "web/app.tsx", True),
    ("**/tests/**", "src/tests/deep/a.py", True),
    ("**/tests/**", "tests/a.py", True),
    ("**/tests/**", "src/tests.py", False),
    ("*.test.ts", "web/app.test.ts", True),
    ("*.test.ts", "web/test.ts", False),
    ("**/*.ts", "web/app.test.ts", True),
    ("a+b (1)/x.py", "a+b (1)/x.py", True),
    ("weird.$name", "weirdx$name", False),
    (".", "a.py", True),
    ("./", "src/deep/a.py", True),
    ("/.", "src/a.py", True),
    ("src//deep", "src/deep/a.py", True),
    ("src/./deep", "src/deep/a.py", True),
    ("././src/.", "src/a.py", True),
    ("src/./*.py", "src/a.py", True),
    ("src//**//*.py", "src/x/y/a.py", True),
    (".//*.py", "src/a.py", False),
    ("s?c/", "src/deep/a.py", True),
    ("s?c/.", "x/src/a.py", True),
    ("/s?c/.", "x/src/a.py", False),
    ("s?c/", "x/src", False),
    (".hidden", "hidden/a.py", False),
    (".hidden", ".hidden/a.py", True),
    ("app/[id]/page.tsx", "app/i/page.tsx", True),
    ("app/[[]id]/page.tsx", "app/[id]/page.tsx", True),
    ("app/[[]id]/page.tsx", "app/i/page.tsx", False),
    ("a[*]b[?].py", "a*b?.py", True),
    ("a[*]b[?].py", "axbx.py", False),
    ("[{]a,b}", "{a,b}", True),
]


@pytest.mark.parametrize(("pattern", "path", "expected"), MATCHES)
def test_paths_and_globs(pattern: str, path: str, expected: bool) -> None:
    assert Scope(paths=(pattern,)).accepts_path(path) is expected
    assert Scope(exclude_paths=(pattern,)).accepts_path(path) is not expected


@pytest.mark.parametrize("pattern", ["[abc", "*.{py", "{a,{b}", "", "/", "  ", "[z-a]"])
@pytest.mark.parametrize("field", ["paths", "exclude_paths"])
def test_a_malformed_glob_is_refused_by_name(field: str, pattern: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Scope(**{field: (pattern,)})  # type: ignore[arg-type]
    assert caught.value.field == f"scope.{field}"
    assert caught.value.value == pattern


@given(st.text(alphabet="ab[]{}*?!,-+ ", min_size=1, max_size=8), st.text(alphabet="ab[]{}*?/", max_size=8))
def test_a_folder_is_taken_literally_whatever_its_name(name: str, other: str) -> None:
    assume(name.strip())
    scope = Scope(paths=(literal_folder(f"in/{name}"),))
    assert scope.accepts_path(f"in/{name}/a.py")
    assert scope.accepts_path(f"in/{name}/deep/a.py")
    assert scope.accepts_path(f"in/{other}/a.py") == (other == name or other.startswith(f"{name}/"))
    assert not scope.accepts_path(f"{name}/a.py")


def test_a_folder_without_wildcards_stays_a_plain_path() -> None:
    assert plain_path(literal_folder("src/a b+c")) == "src/a b+c"


@given(st.lists(st.sampled_from(["", ".", "src", "deep", "*", "**", "*.py", "s?c"]), min_size=1, max_size=6))
def test_empty_segments_and_dots_inside_of_a_pattern_mean_nothing(segments: list[str]) -> None:
    pattern = "/".join(["src", *segments, "a.py"])
    shorter = "/".join(["src", *(one for one in segments if one not in ("", ".")), "a.py"])
    assert path_regex(pattern) == path_regex(shorter)
    assert plain_path(pattern) == plain_path(shorter)
    assert simple_glob(pattern) == simple_glob(shorter)


@given(
    st.text(alphabet="ab/*?{},[]!-c.", min_size=1, max_size=10),
    st.lists(st.text(alphabet="abc/,-.", min_size=1, max_size=10), min_size=5, max_size=20),
)
def test_the_quick_way_to_match_means_what_the_regular_expression_says(pattern: str, paths: list[str]) -> None:
    try:
        scope = Scope(paths=(pattern,))
    except InvalidArgument:
        return
    plain = re.compile(path_regex(pattern), re.DOTALL)
    for path in paths:
        assert scope.accepts_path(path) == (plain.fullmatch(path) is not None), path


FOLDERS = st.sampled_from(
    ["", "**/src/", "**/a/", "**/src/a/", "src/", "src/a/", "./", "/", "a}b/", "s*/", ".//", "src//", "src/./", "s*/./"]
)
PATHS = st.lists(st.sampled_from(["src", "a", "a}b", "x.ts", "x.d.ts", ".ts", "x.1.2.3.4.ts", "xts", "d.ts", "x..ts"]))


@given(
    FOLDERS,
    st.sampled_from(["", "**/", "**"]),
    st.sampled_from(
        ["", ".", "*.ts", "*.d.ts", "*.{ts,d.ts}", "*..ts", "*.2.3.4.ts", "*.1.2.3.4.ts", "x.ts", "*ts", "*.ts/"]
    ),
    PATHS,
)
def test_what_a_pattern_asks_of_folders_and_suffixes_is_what_its_regular_expression_says(
    folder: str, across: str, name: str, parts: list[str]
) -> None:
    pattern, path = f"{folder}{across}{name}", "/".join(parts)
    try:
        expected = re.compile(path_regex(pattern), re.DOTALL).fullmatch(path) is not None
    except InvalidArgument:
        return
    plain, simple = plain_path(pattern), simple_glob(pattern)
    assert plain is None or not simple
    if plain is not None and path:
        assert (path == plain or plain in folders_of(path)) == expected
    if simple and path:
        held = [
            (not one.folder or one.folder in folders_of(path)) and (not one.suffix or one.suffix in suffixes_of(path))
            for one in simple
        ]
        assert any(held) == expected


def test_folders_and_suffixes_are_asked_for_without_an_expression() -> None:
    assert simple_glob("src/**") == (Beneath("src", ""),)
    assert simple_glob("**/tests/**") == (Beneath("**/tests", ""),)
    assert simple_glob("**/*.py") == simple_glob("*.py") == (Beneath("", ".py"),)
    assert simple_glob("src/a/**/*.{ts,tsx}") == (Beneath("src/a", ".ts"), Beneath("src/a", ".tsx"))
    for pattern in (
        "src",
        "**",
        "*",
        "src/*.py",
        "/*.py",
        "test_*.py",
        "s*/**",
        "*.p?",
        "*.[ab]",
        "*.{a,b}{c,d}",
        "*.{a,}",
    ):
        assert simple_glob(pattern) == (), pattern
    assert suffixes_of("a.b/c.test.ts") == (".test.ts", ".ts")
    assert suffixes_of("a.b/Makefile") == ()
    assert folders_of("a/b/c.py") == ("a", "a/b", "**/a", "**/b")
    assert folders_of("c.py") == ()


@pytest.mark.parametrize("pattern", ["*" * 200 + "x", "**/" * 60 + "x*" * 60, "?*" * 60 + "x", "**/*a*" * 80 + "b"])
def test_no_glob_keeps_a_reader_busy(pattern: str) -> None:
    scope, path = Scope(paths=(pattern,)), "/".join(("a" * 60, "a" * 60, "a" * 100))
    before = time.process_time()
    assert not any(scope.accepts_path(f"{path}{number}") for number in range(100))
    assert time.process_time() - before < 1, "Python's own engine would not come back"


def test_what_is_asked_of_every_path_is_bounded() -> None:
    with pytest.raises(InvalidArgument, match="at most 64 alternatives"):
        Scope(paths=("{a,b}" * 60,))
    with pytest.raises(InvalidArgument, match="at most 100"):
        Scope(exclude_packages=("a",) * 101)
    with pytest.raises(InvalidArgument, match="at most 1000"):
        Scope(paths=("a" * 1001,))


def test_kinds_languages_and_packages() -> None:
    node = document("run", kind=NodeKind.METHOD, qualified="app.server.Server.run", language="python").node
    assert Scope(kinds=(NodeKind.METHOD,)).accepts(node)
    assert not Scope(kinds=(NodeKind.CLASS,)).accepts(node)
    assert not Scope(exclude_kinds=(NodeKind.METHOD,)).accepts(node)
    assert Scope(languages=("Python",)).accepts(node)
    assert not Scope(exclude_languages=("PYTHON",)).accepts(node)
    assert Scope(packages=("app.server",)).accepts(node)
    assert Scope(packages=("app::server",)).accepts(node)
    assert not Scope(packages=("app.serv",)).accepts(node)
    assert not Scope(exclude_packages=("app",)).accepts(node)


def test_every_named_condition_must_hold() -> None:
    node = document("run", path="src/a.py").node
    assert Scope(paths=("src",), languages=("python",)).accepts(node)
    assert not Scope(paths=("src",), languages=("go",)).accepts(node)


def test_repositories() -> None:
    assert EVERYTHING.accepts_repository("a")
    assert not Scope(repositories=("b",)).accepts_repository("a")
    assert not Scope(exclude_repositories=("a",)).accepts_repository("a")
    assert Scope(repositories=("b",)).is_everything, "repositories are chosen before any index is asked"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kinds", ("METHOD",)),
        ("languages", ("",)),
        ("paths", ["src"]),
        ("packages", (1,)),
        ("repositories", ("",)),
    ],
)
def test_unknown_values_are_refused(field: str, value: object) -> None:
    with pytest.raises(InvalidArgument) as caught:
        Scope(**{field: value})  # type: ignore[arg-type]
    assert caught.value.field == f"scope.{field}"


def test_package_ancestors_in_any_separator() -> None:
    assert package_ancestors("a.b::C#d") == ("a", "a.b", "a.b.C", "a.b.C.d")


@pytest.fixture(scope="module")
def paths_index(tmp_path_factory: pytest.TempPathFactory) -> TantivyIndex:
    index = TantivyIndex(Path(tmp_path_factory.mktemp("scope")))
    paths = sorted({path for _, path, _ in MATCHES})
    index.rebuild(1, sorted(by_path(*(document("common", path=path) for path in paths)).items()))
    return index


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="abcsrc./*?{},[]!-tx+$", min_size=1, max_size=12))
def test_the_engine_and_python_agree_on_every_glob(paths_index: TantivyIndex, pattern: str) -> None:
    try:
        scope = Scope(paths=(pattern,))
    except InvalidArgument:
        return
    paths = sorted({path for _, path, _ in MATCHES})
    expected = {document("common", path=path).node.id for path in paths if scope.accepts_path(path)}
    found = {hit.id for hit in paths_index.reader().search("common", Selection(scope), 100, UNKNOWN)}
    assert found == expected


@pytest.mark.parametrize("pattern", sorted({pattern for pattern, _, _ in MATCHES}))
def test_the_engine_agrees_on_the_listed_globs(paths_index: TantivyIndex, pattern: str) -> None:
    scope = Scope(paths=(pattern,))
    paths = sorted({path for _, path, _ in MATCHES})
    expected = {document("common", path=path).node.id for path in paths if scope.accepts_path(path)}
    found = {hit.id for hit in paths_index.reader().search("common", Selection(scope), 100, UNKNOWN)}
    assert found == expected


def test_a_table_of_vectors_agrees_on_the_listed_globs(tmp_path: Path) -> None:
    paths = sorted({path for _, path, _ in MATCHES})
    index = LanceIndex(tmp_path, bundled_embedder(), SemanticPolicy(rows_in_memory=0))
    index.apply(1, by_path(*(document("common", path=path) for path in paths)), [])
    vector, reader = bundled_embedder().embed_query("common"), index.reader()
    for pattern in sorted({pattern for pattern, _, _ in MATCHES}):
        scope = Scope(paths=(pattern,))
        expected = {document("common", path=path).node.id for path in paths if scope.accepts_path(path)}
        assert {hit.id for hit in reader.search(vector, Selection(scope), 100)} == expected, pattern
    index.close()
