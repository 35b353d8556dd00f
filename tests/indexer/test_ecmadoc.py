"""Types in JSDoc comments."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxsearch.graph.facts import Type
from ctxsearch.indexer.languages.ecmadoc import documented_types, read_doc_type


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Foo", Type("Foo")),
        ("?Foo", Type("Foo")),
        ("Foo=", Type("Foo")),
        ("a.b.Foo", Type("a.b.Foo")),
        ("Foo|null", Type("Foo")),
        ("Foo | Bar", Type("|", (Type("Foo"), Type("Bar")))),
        ("(Foo|undefined)", Type("Foo")),
        ("Foo[]", Type("[]", (Type("Foo"),))),
        ("...Foo", Type("[]", (Type("Foo"),))),
        ("Array.<Foo>", Type("Array", (Type("Foo"),))),
        ("Map<string, Foo|Bar>", Type("Map", (Type("string"), Type("|", (Type("Foo"), Type("Bar")))))),
        ("import('./x').Foo", Type("import", (Type("./x"), Type("Foo")))),
        ("*", Type("")),
        ("{a: Foo}", Type("")),
        ("(a: Foo) => Bar", Type("")),
        ("", Type("")),
    ],
)
def test_a_type_expression_is_read(text: str, expected: Type) -> None:
    assert read_doc_type(text) == expected


def test_tags_are_found_with_their_names() -> None:
    comment = """/**
     * @param {Foo} a the first
     * @param {import('./m').Bar} [b=1]
     * @param {string} options.name not a parameter
     * @returns {Promise<Foo>}
     */"""
    assert documented_types(comment) == {
        "a": Type("Foo"),
        "b": Type("import", (Type("./m"), Type("Bar"))),
        "@returns": Type("Promise", (Type("Foo"),)),
    }


@given(st.text(alphabet="@param{}<>()|[], Foo.*?=!\n\"'", max_size=80))
def test_any_comment_can_be_read(comment: str) -> None:
    assert isinstance(documented_types(comment), dict)
