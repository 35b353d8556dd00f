"""What the Kotlin front end says about small sources."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxsearch.graph.facts import Definition, FileFacts, Op, ParamKind, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.parse import parse


def facts(source: str) -> FileFacts:
    return parse("p/A.kt", source.encode())


def definition(found: FileFacts, qualified_name: str) -> Definition:
    return next(each for each in found.definitions if each.qualified_name == qualified_name)


def test_primary_constructor_is_the_parameters_of_the_class() -> None:
    found = facts("package p\n/** Doc. */\ndata class A<T : B>(val x: Int, y: T = make()) : C(x), D\n")
    made = definition(found, "A")
    assert [(each.name, each.default >= 0) for each in made.params] == [("x", False), ("y", True)]
    assert made.bases == (Type("C"),)
    assert made.implements == (Type("D"),)
    assert made.doc == "Doc."
    assert definition(found, "A.x").kind == NodeKind.VARIABLE
    assert all(each.qualified_name != "A.y" for each in found.definitions)


def test_objects_and_companions_are_marked() -> None:
    found = facts("class A {\n  companion object {\n    fun f() {}\n  }\n}\nobject B {\n  val x = 1\n}\n")
    assert definition(found, "A.Companion").flags & NodeFlag.EXTENSION
    assert definition(found, "B").flags & NodeFlag.STATIC
    assert definition(found, "A.Companion.f").kind == NodeKind.METHOD


def test_extension_has_a_receiver_type() -> None:
    made = definition(facts("fun <T> List<T>.second(n: Int, vararg rest: A): T? = get(n)\n"), "second")
    assert made.receiver == Type("List", (Type("T"),))
    assert made.result == Type("T")
    assert made.params[1].kind == ParamKind.VARIADIC
    assert made.flags & NodeFlag.EXTENSION


def test_a_trailing_lambda_joins_the_call() -> None:
    found = facts("fun f() {\n  run(1) { it.go() }\n}\n")
    calls = [each for each in found.exprs if each.op == Op.CALL]
    assert [len(each.args) for each in calls] == [2, 0]


def test_a_prefix_operator_does_not_hide_the_call() -> None:
    found = facts("fun f() {\n  if (!check(1) && !a.ok()) return\n}\n")
    callees = {found.exprs[each.base].name for each in found.exprs if each.op == Op.CALL}
    assert callees == {"check", "ok"}


def test_smart_casts_bind_the_name_again() -> None:
    found = facts("fun f(x: Any) {\n  when (x) {\n    is A -> x.a()\n  }\n  if (x !is B) return\n  x.b()\n}\n")
    assert [(found.exprs[each.target].name, each.type) for each in found.assigns] == [
        ("x", Type("A")),
        ("x", Type("B")),
    ]


def test_imports_with_alias_and_star() -> None:
    found = facts("package a.b\nimport c.D\nimport c.E as F\nimport g.*\n")
    assert [(each.module, each.name, each.alias) for each in found.imports] == [
        ("c", "D", "D"),
        ("c", "E", "F"),
        ("g", "*", ""),
    ]


def test_return_in_a_lambda_belongs_to_the_function() -> None:
    found = facts("fun f(): A {\n  xs.forEach { return it }\n  return a\n}\n")
    assert len(definition(found, "f").returns) == 2


@given(
    st.lists(st.sampled_from(["class A {", "}", "fun f(", ")", "{ it", "object :", "val x =", "by", "::", "is", "->"]))
)
def test_broken_source_is_data(pieces: list[str]) -> None:
    assert facts(" ".join(pieces)).language == "kotlin"


ONE_LINE_CLASSES = {
    "class A { fun f() = 1 }": ["A", "A.f"],
    "class A { val x = 1 }": ["A", "A.x"],
    "class A { fun f(): Int { return 1 } fun g() = 1 }": ["A", "A.f", "A.g"],
    "class A { companion object { const val X = 1 } }": ["A", "A.Companion", "A.Companion.X"],
    "interface I { fun f(): Int }\nclass B : I { override fun f() = 2 }": ["I", "I.f", "B", "B.f"],
    "sealed class R { class Ok(val v: Int) : R(); object Err : R() }": ["R", "R.Ok", "R.Ok.v", "R.Err"],
    'class A { val s = "a } b ${x } class" } // class B { fun f() = 1 }': ["A", "A.s"],
    "class A { val l = listOf(1).map { it } }\nfun z() = 1": ["A", "A.l", "z"],
    "enum class E { A, B; fun f() = 1 }": ["E", "E.A", "E.B", "E.f"],
}


@pytest.mark.parametrize("source", ONE_LINE_CLASSES)
def test_the_members_of_a_class_on_one_line_are_read(source: str) -> None:
    found = facts(source + "\n")
    named = [item for item in found.definitions if not item.flags & NodeFlag.ANONYMOUS]
    assert [item.qualified_name for item in named] == ONE_LINE_CLASSES[source]
    assert found.parse_errors == 0
    assert {item.start_line for item in named} <= set(range(1, source.count("\n") + 2))
