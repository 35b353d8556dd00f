"""What the Java front end says about small sources."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxsearch.graph.facts import Definition, Expr, FileFacts, Op, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages.typenames import read_type
from ctxsearch.indexer.parse import parse


def facts(source: str) -> FileFacts:
    return parse("p/A.java", source.encode())


def definition(found: FileFacts, qualified_name: str) -> Definition:
    return next(each for each in found.definitions if each.qualified_name == qualified_name)


def exprs(found: FileFacts, op: Op) -> list[Expr]:
    return [each for each in found.exprs if each.op == op]


def test_class_header_gives_supertypes_type_parameters_and_doc() -> None:
    found = facts(
        "package p;\n/** Says so. */\n@X public class A<T extends B & C> extends D<T> implements E, F<G> {}\n"
    )
    made = definition(found, "A")
    assert found.package == "p"
    assert made.bases == (Type("D", (Type("T"),)),)
    assert made.implements == (Type("E"), Type("F", (Type("G"),)))
    assert made.type_params[0].type == Type("&", (Type("B"), Type("C")))
    assert made.doc == "Says so."
    assert made.start_line == 2
    assert made.signature.startswith("public class A<T")
    assert made.flags & NodeFlag.EXPORTED


def test_imports_tell_static_and_wildcard_apart() -> None:
    found = facts("import a.b.C;\nimport a.*;\nimport static a.C.m;\nimport static a.C.*;\n")
    assert [(each.module, each.name, each.kind) for each in found.imports] == [
        ("a.b", "C", ""),
        ("a", "*", ""),
        ("a.C", "m", "static"),
        ("a.C", "*", "static"),
    ]


def test_field_initialisers_and_blocks_are_the_scope_of_their_calls() -> None:
    found = facts("class A { int x = f(); static { g(); } { h(); } }")
    scopes = {
        found.exprs[call.base].name: found.definitions[call.scope].qualified_name for call in exprs(found, Op.CALL)
    }
    assert scopes == {"f": "A.x", "g": "A.<clinit>", "h": "A.<init>"}


def test_local_names_live_to_the_end_of_their_block() -> None:
    source = "class A { void m(Object o) { for (B b : bs) { b.x(); } try (C c = c()) { } catch (D | E d) { } } }"
    found = facts(source)
    lives = {found.exprs[each.target].name: (each.type, each.until) for each in found.assigns}
    assert lives["b"][0] == Type("B")
    assert source[: lives["b"][1]].endswith("b.x(); }")
    assert lives["d"][0] == Type("|", (Type("D"), Type("E")))
    assert lives["c"][0] == Type("C")


def test_var_has_no_declared_type() -> None:
    found = facts("class A { void m() { var x = new B(); } }")
    assert found.assigns[0].type is None
    assert found.exprs[found.assigns[0].value].op == Op.NEW


def test_patterns_declare_names() -> None:
    found = facts("class A { void m(Object o) { if (o instanceof B b) b.x(); switch (o) { case C c -> c.y(); } } }")
    assert {found.exprs[each.target].name: each.type for each in found.assigns} == {"b": Type("B"), "c": Type("C")}


def test_anonymous_classes_and_enum_bodies_are_classes_with_their_base() -> None:
    found = facts("enum A { X { void f() {} }; Object o = new B() { void g() {} }; }")
    assert definition(found, "A.X.<anonymous1>").bases == (Type("A"),)
    assert definition(found, "A.o.<anonymous1>").bases == (Type("B"),)
    assert definition(found, "A.o.<anonymous1>.g").kind == NodeKind.METHOD
    assert [each.op for each in found.exprs if each.op == Op.NEW] == [Op.NEW, Op.NEW]


def test_record_components_are_callable_properties_and_constructor_parameters() -> None:
    found = facts("record R(int a, String... b) { R { check(a); } }")
    assert definition(found, "R.a").flags & NodeFlag.PROPERTY
    assert [each.name for each in definition(found, "R.R").params] == ["a", "b"]


def test_lambda_is_an_anonymous_function_with_its_result() -> None:
    found = facts("class A { void m() { run((x, y) -> x.go()); } }")
    made = definition(found, "A.m.<lambda1>")
    assert made.flags & NodeFlag.ANONYMOUS
    assert [each.name for each in made.params] == ["x", "y"]
    assert found.exprs[made.returns[0]].op == Op.CALL


def test_qualified_this_super_and_method_references() -> None:
    found = facts("class A { void m() { B.this.x(); C.super.y(); f(D::z, E::new, super::q); } }")
    assert exprs(found, Op.THIS)[0].type == Type("B")
    assert exprs(found, Op.SUPER)[0].type == Type("C")
    assert [each.name for each in exprs(found, Op.CALLABLE)] == ["z", "new", "q"]


def test_constructor_without_constructor_call_calls_super() -> None:
    found = facts("class A extends B { A() { f(); } A(int x) { this(); } }")
    targets = [found.exprs[call.base].op for call in exprs(found, Op.CALL)]
    assert targets == [Op.SUPER, Op.NAME, Op.THIS]


def test_annotations_set_flags() -> None:
    found = facts("class A { @Test void a() {} @Deprecated void b() {} abstract void c(); }")
    assert definition(found, "A.a").flags & NodeFlag.TEST
    assert definition(found, "A.b").flags & NodeFlag.DEPRECATED
    assert definition(found, "A.c").flags & NodeFlag.DECLARATION


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("? super T", Type("T")),
        ("List<?>", Type("List", (Type(""),))),
        ("Map.Entry<K, V>[]", Type("[]", (Type("Map.Entry", (Type("K"), Type("V"))),))),
        ("Outer<A>.Inner<B>", Type("Outer.Inner", (Type("B"),))),
        ("(A, B) -> C?", Type("->", (Type("C"), Type("A"), Type("B")))),
        ("A.(B) -> C", Type(".->", (Type("C"), Type("A"), Type("B")))),
        ("global::A.B", Type("A.B")),
        ("(int a, B b)", Type("()", (Type("int"), Type("B")))),
        ("@Nullable final Foo", Type("Foo")),
    ],
)
def test_types_are_read_from_text(text: str, expected: Type) -> None:
    assert read_type(text) == expected


@given(st.text(alphabet="A<>,.?[]()&|*@:-> x", max_size=40))
def test_any_text_is_a_type_or_unknown(text: str) -> None:
    assert isinstance(read_type(text), Type)


@given(
    st.lists(st.sampled_from(["class A {", "}", "new B() {", "x -> y", "f(", ")", ";", "int x =", "@A", "::", "case"]))
)
def test_broken_source_is_data(pieces: list[str]) -> None:
    assert facts(" ".join(pieces)).language == "java"
