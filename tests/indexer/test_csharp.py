"""What the C# front end says about small sources."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ctxsearch.graph.facts import Definition, FileFacts, Op, ParamKind, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.parse import parse


def facts(source: str) -> FileFacts:
    return parse("P/A.cs", source.encode())


def definition(found: FileFacts, qualified_name: str) -> Definition:
    return next(each for each in found.definitions if each.qualified_name == qualified_name)


def test_a_single_namespace_is_the_package() -> None:
    assert facts("namespace A.B;\nclass C { }\n").package == "A.B"
    found = facts("namespace A.B\n{\n    class C { }\n}\n")
    assert found.package == "A.B"
    assert [each.qualified_name for each in found.definitions] == ["C"]


def test_several_namespaces_are_definitions_with_full_names() -> None:
    found = facts("namespace A\n{\n    namespace B\n    {\n        class C { }\n    }\n}\nnamespace D\n{\n}\n")
    assert found.package == ""
    assert [each.qualified_name for each in found.definitions] == ["A", "A.B", "A.B.C", "D"]


def test_class_header_gives_bases_bounds_and_doc() -> None:
    found = facts("/// <summary>Says so.</summary>\n[Obsolete] public class A<T> : B<T>, IC where T : D, new() { }\n")
    made = definition(found, "A")
    assert made.bases == (Type("B", (Type("T"),)), Type("IC"))
    assert made.type_params[0].type == Type("D")
    assert made.doc == "Says so."
    assert made.flags & NodeFlag.DEPRECATED
    assert made.signature.startswith("public class A<T>")


def test_usings_tell_namespace_static_and_alias_apart() -> None:
    found = facts("using A.B;\nusing static A.C;\nusing D = A.E;\n")
    assert [(each.module, each.name, each.alias, each.kind) for each in found.imports] == [
        ("A.B", "*", "", ""),
        ("A.C", "*", "", "static"),
        ("A", "E", "D", ""),
    ]


def test_extension_method_has_a_receiver() -> None:
    made = definition(facts("static class E { static int F(this A a, int n = 1, params B[] rest) => n; }"), "E.F")
    assert [each.kind for each in made.params] == [ParamKind.RECEIVER, ParamKind.NORMAL, ParamKind.VARIADIC]
    assert made.params[1].default >= 0
    assert made.receiver == Type("A")


def test_properties_are_the_scope_of_their_code() -> None:
    found = facts("class A { int P { get => f(); } = g(); int Q => h(); static A() { s(); } }")
    scopes = {
        found.exprs[each.base].name: found.definitions[each.scope].qualified_name
        for each in found.exprs
        if each.op == Op.CALL
    }
    assert scopes == {"f": "A.P", "g": "A.P", "h": "A.Q", "s": "A.<clinit>"}


def test_conditional_access_is_a_member_of_its_condition() -> None:
    found = facts("class A { void M(B b) { b?.C()?.D.E(); } }")
    chain = [each.name for each in found.exprs if each.op == Op.MEMBER]
    assert chain == ["C", "D", "E"]
    assert len([each for each in found.exprs if each.op == Op.CALL]) == 2


def test_target_typed_new_takes_the_declared_type() -> None:
    found = facts("class A { B b = new(); C M() { D d = new(1); return new(); } }")
    assert [each.type for each in found.exprs if each.op == Op.NEW] == [Type("B"), Type("D"), Type("C")]


def test_an_indexer_with_an_expression_has_a_body() -> None:
    found = facts(
        "class A { public int this[int i] => 1; } abstract class B { public abstract int this[int i] { get; } }"
    )
    assert not definition(found, "A.this[]").flags & NodeFlag.DECLARATION
    assert definition(found, "B.this[]").flags & NodeFlag.DECLARATION


def test_record_parameters_are_properties() -> None:
    found = facts("public record R(int A, B C);")
    assert definition(found, "R.C").kind == NodeKind.VARIABLE
    assert [each.name for each in definition(found, "R").params] == ["A", "C"]


@given(
    st.lists(st.sampled_from(["class A {", "}", "new()", "=>", "f(", ")", ";", "?.", "namespace B", "using", "is C c"]))
)
def test_broken_source_is_data(pieces: list[str]) -> None:
    assert facts(" ".join(pieces)).language == "csharp"
