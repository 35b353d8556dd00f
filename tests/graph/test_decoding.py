"""What is known of encoded facts without decoding them is what decoding would say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxsearch.graph.facts import decode_facts, encode_facts
from ctxsearch.graph.model import NodeFlag
from ctxsearch.graph.resolve.reads import joined, packed
from ctxsearch.graph.resolve.tables import FileTable
from ctxsearch.graph.resolve.world import World, read_entry, read_stable_names
from ctxsearch.indexer.parse import parse

SOURCE = b"""
class A:
    def run(self):
        return lambda: self.run()

    def run(self, again):
        pass

def run():
    class A:
        def run(self): ...

if run:
    def run(): ...
"""


def test_stable_names_without_decoding() -> None:
    encoded = encode_facts(parse("a.py", SOURCE))
    table = FileTable(decode_facts(encoded))
    assert read_stable_names(encoded) == {table.stable_name(index): index for index in range(len(table.ordinals))}


def test_a_definition_is_found_by_its_stable_name_in_a_file_that_is_not_decoded() -> None:
    encoded = encode_facts(parse("a.py", SOURCE))
    world = World(lambda _: encoded)
    world.load("a.py", read_entry(encoded))
    table = FileTable(decode_facts(encoded))
    for index in range(len(table.ordinals)):
        assert world.with_stable_name("a.py", table.stable_name(index)) == index
    assert world.with_stable_name("a.py", "6:nobody#0") == -1
    assert not world.tables


def test_a_new_version_of_a_file_has_new_stable_names() -> None:
    old, new = parse("a.py", b"def first(): ...\n"), parse("a.py", b"def other(): ...\ndef first(): ...\n")
    world = World()
    world.replace({"a.py": old}, ())
    assert world.with_stable_name("a.py", "6:first#0") == 0
    world.replace({"a.py": new}, ())
    assert world.with_stable_name("a.py", "6:first#0") == 1


def test_packages_by_the_name_of_their_directory() -> None:
    paths = ["a/pkg/__init__.py", "pkg/__init__.py", "b/c/pkg/__init__.py", "a/pkg2/__init__.py", "__init__.py"]
    world = World()
    world.replace({path: parse(path, b"") for path in paths}, ())
    assert world.in_directory_called("pkg", "__init__.py") == ["a/pkg/__init__.py", "b/c/pkg/__init__.py"]
    world.replace({}, ["a/pkg/__init__.py"])
    assert world.in_directory_called("pkg", "__init__.py") == ["b/c/pkg/__init__.py"]


def test_decoding_flags_asks_python_for_few() -> None:
    facts = parse("test_a.py", b"class TestA:\n    async def test_x(self): ...\n")
    encoded = encode_facts(facts)
    asked: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NodeFlag, "_missing_", classmethod(lambda _, value: asked.append(value)))
        assert decode_facts(encoded) == facts
    assert {definition.flags for definition in facts.definitions} - set(NodeFlag)  # there are combinations
    assert asked == []


_keys = st.sets(st.integers(0, 2**64 - 1), max_size=20)


@given(_keys, _keys)
def test_reads_of_two_phases(first: set[int], second: set[int]) -> None:
    assert packed(first).tolist() == sorted(first)
    both = joined(packed(first), packed(second))
    assert both.tolist() == np.union1d(packed(first), packed(second)).tolist() == sorted(first | second)
