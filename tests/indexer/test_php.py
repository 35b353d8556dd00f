"""What the PHP front end says about small sources."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ctxsearch.graph.facts import Definition, Expr, FileFacts, Op, Param, ParamKind, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages import BY_NAME
from ctxsearch.indexer.languages.builder import parse_tree
from ctxsearch.indexer.languages.php_types import read_doc_type
from ctxsearch.indexer.parse import parse


def facts(source: str, path: str = "src/a.php") -> FileFacts:
    return parse(path, f"<?php\n{source}".encode())


def definition(found: FileFacts, qualified_name: str) -> Definition:
    return next(each for each in found.definitions if each.qualified_name == qualified_name)


def exprs(found: FileFacts, op: Op) -> list[Expr]:
    return [each for each in found.exprs if each.op == op]


def doc_type(text: str) -> Type:
    return read_doc_type(text, lambda name: name.lstrip("\\").replace("\\", "."))[0]


def test_names_are_resolved_by_namespace_and_use() -> None:
    found = facts("namespace A\\B;\nuse C\\D as E;\nclass F extends E implements \\G, H {}\n")
    made = definition(found, "F")
    assert found.package == "A.B"
    assert made.bases == (Type("C.D"),)
    assert made.implements == (Type("G"), Type("A.B.H"))
    assert [(item.module, item.alias) for item in found.imports] == [("C.D", "E")]


def test_an_unqualified_function_may_be_a_global_one() -> None:
    found = facts("namespace A;\nf(); \\g(); B\\h();\n")
    assert [(item.name, item.text) for item in exprs(found, Op.NAME)] == [
        ("A.f", "function?"),
        ("g", "function"),
        ("A.B.h", "function"),
    ]


def test_traits_stand_before_the_parent() -> None:
    found = facts("class A extends P { use T, U; }\n")
    assert definition(found, "A").bases == (Type("T"), Type("U"), Type("P"))


def test_promoted_parameters_are_properties() -> None:
    found = facts("class A { function __construct(private ?B $b, int ...$rest) {} }\n")
    made = definition(found, "A.__construct")
    assert made.kind is NodeKind.CONSTRUCTOR
    assert made.params == (
        Param("$b", Type("B")),
        Param("$rest", Type("int"), kind=ParamKind.VARIADIC),
    )
    assert definition(found, "A.$b").result == Type("B")


def test_doc_comments_type_what_is_not_declared() -> None:
    found = facts(
        "/**\n * Adds.\n * @param B|null $b\n * @return C[]\n * @deprecated\n */\nfunction f($b, array $c) {}\n"
    )
    made = definition(found, "f")
    assert made.params[0].type == Type("B")
    assert made.params[1].type is None
    assert made.result == Type("[]", (Type("C"),))
    assert made.doc.startswith("Adds.")
    assert made.start_line == 2
    assert made.flags & NodeFlag.DEPRECATED


def test_template_names_are_no_classes() -> None:
    found = facts("/**\n * @template T\n * @param T $x\n */\nfunction f($x) {}\n")
    assert definition(found, "f").params[0].type is None


def test_doc_types_of_every_shape() -> None:
    assert doc_type("\\A\\B|null $x") == Type("A.B")
    assert doc_type("array<int, B>") == Type("[]", (Type("B"),))
    assert doc_type("(A|B)[] $x") == Type("[]", (Type("|", (Type("A"), Type("B"))),))
    assert doc_type("callable(int, A): B|C") == Type("")
    assert doc_type("array{a: int, b: string}|A") == Type("A")
    assert doc_type("$this") == Type("static")
    assert doc_type("'a'|'b'") == Type("")


def test_test_methods_are_marked_in_test_files() -> None:
    source = "class ATest { function testX() {} #[Test] function y() {} function helper() {} }\n"
    found = facts(source, "tests/ATest.php")
    marked = {each.name for each in found.definitions if each.flags & NodeFlag.TEST}
    assert marked == {"testX", "y"}


def test_a_first_class_callable_is_no_call() -> None:
    assert exprs(facts("$f = strlen(...);\n"), Op.CALL) == []


def test_several_namespaces_in_one_file_are_definitions() -> None:
    found = facts("namespace A;\nclass X {}\nnamespace B;\nclass X {}\n")
    assert [each.qualified_name for each in found.definitions] == ["A", "A.X", "B", "B.X"]
    assert found.package == ""


@given(st.text(alphabet="<?php $x->:(){}[];=new classfunction\\'\"\n,@|&*/", max_size=80))
def test_any_text_is_read(text: str) -> None:
    """Straight through the extractor: `parse` would hide an exception."""
    spec, source = BY_NAME["php"], f"<?php {text}".encode()
    made = spec.extractor()("a.php", source).extract(parse_tree(spec.language(), source), spec.compiled())
    assert made.line_count == source.count(b"\n") + (not source.endswith(b"\n") and bool(source))
