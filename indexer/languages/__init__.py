"""The languages ctxsearch reads: one table line each. Grammars load on first use.

A full language has a module with an `Extractor`; a basic one needs only its `.scm` query (see `basic.py`).
"""

from __future__ import annotations

import functools
import importlib
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from typing import cast

from tree_sitter import Language, Query

from ctxsearch.indexer.languages.builder import Extractor

EXTRACTOR_VERSION = 14  # part of the key of cached facts: raise it when any extractor's output changes


@dataclass(frozen=True, slots=True)
class LanguageSpec:
    """Where a language's grammar, query and extractor are."""

    name: str
    suffixes: tuple[str, ...]
    grammar: str  # "module:function" of the grammar wheel; "" = a document, read without one
    module: str = ""  # module here with `EXTRACTOR`; "" = basic
    query: str = ""  # query file stem; "" = the language's name
    filenames: tuple[str, ...] = ()
    interpreters: tuple[str, ...] = ()  # names on a #! line

    def language(self) -> Language:
        return _language(self.grammar)

    def compiled(self) -> Query:
        return _query(self.grammar, self.query or self.name)

    def extractor(self) -> type[Extractor]:
        return _extractor(self.module or "basic")


LANGUAGES: tuple[LanguageSpec, ...] = (
    LanguageSpec(
        "python",
        (".py", ".pyi", ".pyw"),
        "tree_sitter_python:language",
        module="python",
        filenames=("SConstruct", "SConscript", "wscript"),
        interpreters=("python", "python2", "python3"),
    ),
    LanguageSpec(
        "javascript",
        (".js", ".jsx", ".mjs", ".cjs"),
        "tree_sitter_javascript:language",
        module="javascript",
        interpreters=("node", "deno", "bun"),
    ),
    LanguageSpec(
        "typescript",
        (".ts", ".mts", ".cts"),
        "tree_sitter_typescript:language_typescript",
        module="javascript",
    ),
    LanguageSpec("tsx", (".tsx",), "tree_sitter_typescript:language_tsx", module="javascript"),
    LanguageSpec("go", (".go",), "tree_sitter_go:language", module="go"),
    LanguageSpec("rust", (".rs",), "tree_sitter_rust:language", module="rust"),
    LanguageSpec("java", (".java",), "tree_sitter_java:language", module="java"),
    LanguageSpec("kotlin", (".kt", ".kts"), "tree_sitter_kotlin:language", module="kotlin"),
    LanguageSpec("csharp", (".cs",), "tree_sitter_c_sharp:language", module="csharp"),
    LanguageSpec("c", (".c", ".h"), "tree_sitter_c:language", module="c"),
    LanguageSpec(
        "cpp",
        (".cc", ".cpp", ".cxx", ".c++", ".hpp", ".hh", ".hxx", ".h++", ".ipp", ".inl", ".tpp", ".cu", ".cuh"),
        "tree_sitter_cpp:language",
        module="cpp",
    ),
    LanguageSpec(
        "ruby",
        (".rb", ".rake", ".gemspec", ".ru"),
        "tree_sitter_ruby:language",
        module="ruby",
        filenames=("Rakefile", "Gemfile"),
        interpreters=("ruby",),
    ),
    LanguageSpec(
        "php", (".php", ".phtml", ".inc"), "tree_sitter_php:language_php", module="php", interpreters=("php",)
    ),
    LanguageSpec("swift", (".swift",), "tree_sitter_swift:language"),
    LanguageSpec("scala", (".scala", ".sc"), "tree_sitter_scala:language"),
    LanguageSpec("lua", (".lua",), "tree_sitter_lua:language", interpreters=("lua", "luajit")),
    LanguageSpec("elixir", (".ex", ".exs"), "tree_sitter_elixir:language"),
    LanguageSpec("haskell", (".hs",), "tree_sitter_haskell:language"),
    LanguageSpec("zig", (".zig",), "tree_sitter_zig:language"),
    LanguageSpec(
        "bash",
        (".sh", ".bash", ".zsh", ".bats"),
        "tree_sitter_bash:language",
        filenames=(".bashrc", ".bash_profile", ".profile"),
        interpreters=("sh", "bash", "zsh", "dash", "ksh"),
    ),
    LanguageSpec("sql", (".sql",), "tree_sitter_sql:language"),
    LanguageSpec("dart", (".dart",), "tree_sitter_dart:language"),
    LanguageSpec("hcl", (".tf", ".hcl", ".tfvars"), "tree_sitter_hcl:language"),
    LanguageSpec("julia", (".jl",), "tree_sitter_julia:language", interpreters=("julia",)),
    LanguageSpec("objc", (".m", ".mm"), "tree_sitter_objc:language"),
    LanguageSpec("ocaml", (".ml",), "tree_sitter_ocaml:language_ocaml"),
    LanguageSpec("powershell", (".ps1", ".psm1", ".psd1"), "tree_sitter_powershell:language", interpreters=("pwsh",)),
    LanguageSpec("solidity", (".sol",), "tree_sitter_solidity:language"),
    LanguageSpec("markdown", (".md", ".markdown", ".mdx"), "", module="documents"),
    LanguageSpec("rst", (".rst", ".rest"), "", module="documents"),
)

BY_NAME = {spec.name: spec for spec in LANGUAGES}
_BY_SUFFIX = {suffix: spec for spec in LANGUAGES for suffix in spec.suffixes}
_BY_FILENAME = {name: spec for spec in LANGUAGES for name in spec.filenames}
_BY_INTERPRETER = {name: spec for spec in LANGUAGES for name in spec.interpreters}


_CPP_ONLY = re.compile(
    rb"^\s*(?:class\s+\w+[^;]*$|namespace\b|template\s*<|using\s+\w|public:|private:|protected:)|\bstd::|\bvirtual\b"
    rb"|\bconstexpr\b|\boperator\b|#include\s*<\w+>",
    re.MULTILINE,
)


def detect(path: str, head: bytes = b"") -> LanguageSpec | None:
    """The language of a file by its name, else by its #! line; None when unknown. A .h is C++ if its text says so."""
    filename = path.rsplit("/", 1)[-1]
    if filename in _BY_FILENAME:
        return _BY_FILENAME[filename]
    dot = filename.rfind(".")
    if dot > 0:
        spec = _BY_SUFFIX.get(filename[dot:]) or _BY_SUFFIX.get(filename[dot:].lower())
        if spec is not None:
            return BY_NAME["cpp"] if filename.endswith(".h") and _CPP_ONLY.search(head) else spec
    if head.startswith(b"#!"):
        words = head.split(b"\n", 1)[0][2:].decode("latin-1").replace("/", " ").split()
        for word in words:
            spec = _BY_INTERPRETER.get(word) or _BY_INTERPRETER.get(word.rstrip("0123456789."))
            if spec is not None:
                return spec
    return None


def missing_grammars() -> dict[str, str]:
    """Languages whose grammar cannot be loaded, and why: their files are indexed as text alone."""
    missing = {}
    for spec in LANGUAGES:
        try:
            if spec.grammar:
                spec.language()
        except (ImportError, AttributeError, ValueError, OSError) as error:
            missing[spec.name] = f"{spec.grammar.partition(':')[0].replace('_', '-')}: {error}"
    return missing


@functools.cache
def _language(grammar: str) -> Language:
    module, function = grammar.split(":")
    load = cast("Callable[[], object]", getattr(importlib.import_module(module), function))
    return Language(load())


@functools.cache
def _query(grammar: str, stem: str) -> Query:
    return Query(_language(grammar), _query_text(stem))


def _query_text(stem: str) -> str:
    """A query file; a first line `; inherits: other` puts another one's patterns before it."""
    text = resources.files(__package__).joinpath(f"{stem}.scm").read_text(encoding="utf-8")
    head, _, _ = text.partition("\n")
    inherited = head.removeprefix("; inherits: ") if head.startswith("; inherits: ") else ""
    return _query_text(inherited.strip()) + text if inherited else text


@functools.cache
def _extractor(module: str) -> type[Extractor]:
    return cast("type[Extractor]", importlib.import_module(f"{__package__}.{module}").EXTRACTOR)
