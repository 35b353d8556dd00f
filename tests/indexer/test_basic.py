"""Basic languages: what one query file gives for each, and that no source breaks the reading."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxsearch.graph.facts import FileFacts, Op
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages import LANGUAGES
from ctxsearch.indexer.parse import parse

BASIC = [spec for spec in LANGUAGES if not spec.module]

# language -> path, source, definitions as "KIND qualified_name", callees as written
CASES: dict[str, tuple[str, str, list[str], list[str]]] = {
    "bash": (
        "a.sh",
        'source ./lib.sh\nLIMIT=3\n# greets\ngreet() {\n  shout "$(who_is x)" | tee log\n}\n',
        ["VARIABLE LIMIT", "FUNCTION greet"],
        ["shout", "who_is", "tee"],
    ),
    "dart": (
        "a.dart",
        "class Store {\n  final Repo repo;\n  User find(String id) {\n    return repo.load(id);\n  }\n}\n",
        ["CLASS Store", "VARIABLE Store.repo", "METHOD Store.find"],
        ["load"],
    ),
    "elixir": (
        "a.ex",
        (
            "defmodule App.Store do\n  def get(0), do: nil\n"
            "  def get(id) when id > 1 do\n    App.Repo.load(id)\n  end\nend\n"
        ),
        ["CLASS App.Store", "METHOD App.Store.get"],
        ["load"],
    ),
    "haskell": (
        "A.hs",
        "module A where\ndata Shape = Dot\narea :: Shape -> Int\narea Dot = scale 1\narea _ = M.other 2\n",
        ["CLASS Shape", "FUNCTION area"],
        ["scale", "other"],
    ),
    "hcl": (
        "main.tf",
        'resource "aws_vpc" "main" {\n  cidr = 1\n}\nvariable "x" {}\n',
        ["CLASS resource aws_vpc main", "CLASS variable x"],
        [],
    ),
    "julia": (
        "a.jl",
        "module Store\nstruct Item\n  id::Int\nend\nfunction load(x)\n  parse_item(x)\nend\nshort(x) = load(x)\nend\n",
        ["CLASS Store", "CLASS Store.Item", "METHOD Store.load", "METHOD Store.short"],
        ["parse_item", "load"],
    ),
    "lua": (
        "a.lua",
        "local M = {}\nfunction M.save(x) return check(x) end\nfunction M:load() return self:save(1) end\nreturn M\n",
        ["VARIABLE M", "METHOD M.save", "METHOD M.load"],
        ["check", "save"],
    ),
    "objc": (
        "a.m",
        "@implementation Store\n- (void)save:(Item *)item as:(int)name {\n  [self check:item];\n}\n@end\n",
        ["CLASS Store", "METHOD Store.save:as:"],
        ["check:"],
    ),
    "ocaml": (
        "a.ml",
        "let limit = 3\nlet check x = x > limit\nlet save x = Repo.store (check x)\n",
        ["VARIABLE limit", "FUNCTION check", "FUNCTION save"],
        ["store", "check"],
    ),
    "powershell": (
        "a.ps1",
        "function Get-Thing {\n  Invoke-Other -x 1\n}\n",
        ["FUNCTION Get-Thing"],
        ["Invoke-Other"],
    ),
    "scala": (
        "A.scala",
        "trait Shape { def area: Int }\nobject Geometry {\n  def total(s: Shape): Int = combine(s.scale(2))\n}\n",
        ["INTERFACE Shape", "METHOD Shape.area", "CLASS Geometry", "METHOD Geometry.total"],
        ["combine", "scale"],
    ),
    "solidity": (
        "a.sol",
        "contract Store {\n  uint limit;\n  function save(uint x) public { check(x); repo.put(x); }\n}\n",
        ["CLASS Store", "VARIABLE Store.limit", "METHOD Store.save"],
        ["check", "put"],
    ),
    "sql": (
        "a.sql",
        "CREATE TABLE users (id INT);\nCREATE VIEW names AS SELECT shorten(id) FROM users;\n",
        ["CLASS users", "VARIABLE users.id", "CLASS names"],
        ["shorten"],
    ),
    "swift": (
        "a.swift",
        (
            "class Store {\n  let repo: Repo\n  init(repo: Repo) { }\n  func save() { repo.put(1) }\n}\n"
            "extension Store { func more() {} }\n"
        ),
        [
            "CLASS Store",
            "VARIABLE Store.repo",
            "CONSTRUCTOR Store.init",
            "METHOD Store.save",
            "CLASS Store",
            "METHOD Store.more",
        ],
        ["put"],
    ),
    "zig": (
        "a.zig",
        (
            'const std = @import("std");\npub const Store = struct {\n    n: u32,\n'
            '    fn save(self: *Store) void { check(self.n); }\n};\ntest "saves" { try save(1); }\n'
        ),
        ["CLASS Store", "VARIABLE Store.n", "METHOD Store.save", "FUNCTION saves"],
        ["check", "save"],
    ),
}


def definitions(facts: FileFacts) -> list[str]:
    return [f"{item.kind.name} {item.qualified_name}" for item in facts.definitions]


def callees(facts: FileFacts) -> list[str]:
    return [facts.exprs[item.base].name for item in facts.exprs if item.op is Op.CALL]


def test_every_basic_language_has_a_case() -> None:
    assert sorted(CASES) == sorted(spec.name for spec in BASIC)


@pytest.mark.parametrize("language", sorted(CASES))
def test_definitions_and_calls(language: str) -> None:
    path, source, expected, called = CASES[language]
    facts = parse(path, source.encode())
    assert facts.language == language
    assert definitions(facts) == expected
    assert sorted(callees(facts)) == sorted(called)


@pytest.mark.parametrize("spec", BASIC, ids=lambda spec: spec.name)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_no_source_breaks_the_reading(spec: object, data: st.DataObject) -> None:
    name = str(getattr(spec, "name", ""))
    path, source, _, _ = CASES[name]
    text = source.encode()
    first = data.draw(st.integers(0, len(text)))
    last = data.draw(st.integers(first, len(text)))
    junk = data.draw(st.binary(max_size=8))
    facts = parse(path, text[:first] + junk + text[last:])
    assert all(item.parent < index for index, item in enumerate(facts.definitions))
    assert all(1 <= item.start_line <= item.end_line for item in facts.definitions)


def test_a_run_of_comments_documents_the_definition_after_it() -> None:
    facts = parse("a.sh", b"#!/bin/sh\n# Greets.\n# Politely.\ngreet() { :; }\nx=1 # not\nother() { :; }\n")
    assert [(item.doc, item.start_line) for item in facts.definitions] == [("Greets.\nPolitely.", 2), ("", 6)]


def test_clauses_of_one_function_are_one_definition() -> None:
    facts = parse("A.hs", b"-- | Doc\nf :: Int -> Int\nf 0 = 1\nf n = g n\n\ng = f\n")
    assert [(item.name, item.start_line, item.end_line, item.signature, item.doc) for item in facts.definitions] == [
        ("f", 1, 4, "f :: Int -> Int", "Doc"),
        ("g", 6, 6, "g", ""),
    ]


def test_a_documentation_string_goes_to_the_definition_it_stands_before_or_in() -> None:
    source = b'defmodule A do\n  @moduledoc "All of A"\n  @doc "Runs"\n  def run, do: 1\n  def stop, do: 2\nend\n'
    assert [(item.name, item.doc) for item in parse("a.ex", source).definitions] == [
        ("A", "All of A"),
        ("run", "Runs"),
        ("stop", ""),
    ]


def test_test_blocks_are_tests() -> None:
    for path, source in (("a.zig", b'test "adds" { f(); }\n'), ("a.exs", b'test "adds" do\n  f()\nend\n')):
        (definition,) = parse(path, source).definitions
        assert definition.kind is NodeKind.FUNCTION
        assert definition.flags & NodeFlag.TEST
