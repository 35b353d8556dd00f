"""A name that many files define does not have every one of them decoded for each file that uses it.

Decoding is what resolution of a large repository would otherwise spend its time on: rails' tests all have a `setup`,
every type of a Rust workspace has a `new`. Counted in files that are fetched, not in seconds.
"""

from __future__ import annotations

from collections import Counter

import pytest

from ctxsearch.graph.facts import encode_facts
from ctxsearch.graph.model import EdgeKind
from ctxsearch.graph.records import FileGraph
from ctxsearch.graph.resolve.portion import Portion
from ctxsearch.indexer.parse import parse
from ctxsearch.indexer.spool import Spool

MANY = 60  # files that define the same name
FEW = 4  # files that one small file may have to look into, itself included

CASES = {
    "ruby methods": (
        "test/one.rb",
        "class One < Unknown\n  def run(thing)\n    setup\n    thing.prepare_all\n    frobnicate\n  end\nend\n",
        "test/t{n}.rb",
        "class T{n}\n  def setup\n  end\n  def prepare_all\n  end\n  def frobnicate\n  end\nend\n",
    ),
    "ruby classes": (
        "lib/one.rb",
        "class One\n  def run\n    M7::Base.new\n  end\nend\n",
        "lib/m{n}.rb",
        "module M{n}\n  class Base\n    def initialize\n    end\n  end\nend\n",
    ),
    "rust methods": (
        "src/lib.rs",
        "mod t7;\nuse crate::t7::T7;\npub fn run() {\n    T7::new();\n}\n",
        "src/t{n}.rs",
        "pub struct T{n};\nimpl T{n} {\n    pub fn new() -> Self {\n        T{n}\n    }\n}\n",
    ),
    "php methods": (
        "src/One.php",
        "<?php\nclass One {\n    function run($thing) {\n        $thing->prepareAll();\n    }\n}\n",
        "src/T{n}.php",
        "<?php\nclass T{n} {\n    function prepareAll() {\n    }\n}\n",
    ),
    "lua functions": (
        "one.lua",
        "local function run()\n  frobnicate()\nend\n",
        "t{n}.lua",
        "function frobnicate()\n  return 1\nend\n",
    ),
    "documents": (
        "docs/one.md",
        "# One\n\nCalls `frobnicate` and again `frobnicate`.\n",
        "pkg/t{n}.py",
        "def frobnicate():\n    return 1\n",
    ),
}


def resolved(case: str) -> tuple[Counter[str], FileGraph, dict[str, str]]:
    """How often each file was decoded for the asking one, its graph, and names by node id of all files."""
    asking, source, place, other = CASES[case]
    texts = {asking: source} | {place.replace("{n}", str(n)): other.replace("{n}", str(n)) for n in range(MANY)}
    encoded = {path: encode_facts(parse(path, text.encode())) for path, text in sorted(texts.items())}
    fetched: Counter[str] = Counter()

    def fetch(path: str) -> bytes:
        fetched[path] += 1
        return encoded[path]

    everything = Portion(sorted(encoded), fetch, Spool())
    entries = everything.entries()
    everything.know(entries)
    names = {
        record.node.id: f"{path} {record.node.name}" for path, graph in everything.outlines() for record in graph.nodes
    }
    portion = Portion([asking], fetch, Spool())
    portion.know(entries)
    fetched.clear()
    list(portion.first_phase())
    (found,) = portion.second_phase()
    return fetched, found.graph, names


@pytest.mark.parametrize("case", CASES)
def test_few_files_are_decoded_for_a_common_name(case: str) -> None:
    fetched, _, _ = resolved(case)
    assert sum(fetched.values()) <= FEW, fetched


@pytest.mark.parametrize(
    ("case", "target"), [("ruby classes", "lib/m7.rb initialize"), ("rust methods", "src/t7.rs new")]
)
def test_the_one_that_is_meant_is_found(case: str, target: str) -> None:
    _, graph, names = resolved(case)
    assert [names[edge.target] for edge in graph.edges if edge.kind is EdgeKind.CALLS] == [target]
