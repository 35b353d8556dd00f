"""What the Ruby front end says about small sources."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ctxsearch.graph.facts import Definition, Expr, FileFacts, Op, ParamKind, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages import BY_NAME
from ctxsearch.indexer.languages.builder import parse_tree
from ctxsearch.indexer.parse import parse


def facts(source: str, path: str = "lib/a.rb") -> FileFacts:
    return parse(path, source.encode())


def definition(found: FileFacts, qualified_name: str) -> Definition:
    return next(each for each in found.definitions if each.qualified_name == qualified_name)


def called(found: FileFacts) -> list[str]:
    """Names of the methods that are called, in the order of their calls."""
    calls: list[Expr] = [each for each in found.exprs if each.op is Op.CALL]
    return [found.exprs[each.base].name for each in calls]


def test_a_class_named_by_its_path_is_known_by_it() -> None:
    found = facts("module A\n  class B::C < ::D::E\n    include F, G::H\n  end\nend\n")
    made = definition(found, "A.B.C")
    assert made.name == "C"
    assert made.bases == (Type(".D.E"),)
    assert made.implements == (Type("F"), Type("G.H"))


def test_methods_of_the_class_are_static() -> None:
    found = facts("class A\n def self.x; end\n class << self\n  def y; end\n end\n def z; end\nend\n")
    static = {each.name for each in found.definitions if each.flags & NodeFlag.STATIC}
    assert static == {"x", "y"}


def test_parameters_of_every_kind() -> None:
    found = facts("def f(a, b = 1, *c, d:, e: 2, **g, &h); end\n")
    assert [(param.name, param.kind) for param in definition(found, "f").params] == [
        ("a", ParamKind.NORMAL),
        ("b", ParamKind.NORMAL),
        ("c", ParamKind.VARIADIC),
        ("d", ParamKind.KEYWORD_ONLY),
        ("e", ParamKind.KEYWORD_ONLY),
        ("g", ParamKind.KEYWORDS),
        ("h", ParamKind.KEYWORD_ONLY),
    ]


def test_accessors_are_methods() -> None:
    found = facts("class A\n attr_accessor :a\n attr_reader :b\n attr_writer :c\nend\n")
    made = [each.name for each in found.definitions if each.flags & NodeFlag.PROPERTY]
    assert made == ["a", "a=", "b", "c="]


def test_a_struct_is_a_class_with_accessors() -> None:
    found = facts("P = Struct.new(:x) do\n def y; end\nend\n")
    assert [(each.qualified_name, each.kind) for each in found.definitions] == [
        ("P", NodeKind.CLASS),
        ("P.x", NodeKind.METHOD),
        ("P.x=", NodeKind.METHOD),
        ("P.y", NodeKind.METHOD),
    ]


def test_a_name_is_a_call_until_it_is_assigned() -> None:
    assert called(facts("def f(a)\n x\n a\n x = 1\n x\n y { |z| z }\nend\n")) == ["x", "y"]


def test_the_last_statement_is_returned() -> None:
    found = facts("def f\n x = 1\n return 2 if g\n x\nend\n")
    returns = [found.exprs[each] for each in definition(found, "f").returns]
    assert [(each.op, each.name) for each in returns] == [(Op.LITERAL, "Integer"), (Op.NAME, "x")]


def test_literal_sends_are_calls_of_what_they_name() -> None:
    assert called(facts("a.send(:b, 1)\na.send(c)\n")) == ["a", "b", "a", "c", "send"]


def test_assigning_to_an_attribute_calls_its_writer() -> None:
    assert called(facts("def f(a)\n a.b = 1\n a.c ||= 2\nend\n")) == ["b=", "c", "c="]


def test_requires_are_imports_with_their_kind() -> None:
    found = facts("require 'a/b'\nrequire_relative '../c'\nautoload :D, 'd'\nrequire name\n")
    assert [(item.kind, item.module) for item in found.imports] == [
        ("require", "a/b"),
        ("require_relative", "../c"),
        ("autoload", "d"),
    ]


def test_comments_before_a_method_are_its_doc() -> None:
    found = facts("# Says so.\n#\n# @return [Foo::Bar] it\ndef f; end\n")
    assert definition(found, "f").doc.startswith("Says so.")
    assert definition(found, "f").result == Type("Foo.Bar")


def test_test_methods_are_marked_in_test_files() -> None:
    found = facts("class ATest\n def test_x; end\n def help; end\nend\n", "test/a_test.rb")
    assert [each.name for each in found.definitions if each.flags & NodeFlag.TEST] == ["test_x"]


@given(st.text(alphabet="defclassmodule end{}|&:@x=<>.()[]#\"'\n,*?!", max_size=80))
def test_any_text_is_read(text: str) -> None:
    """Straight through the extractor: `parse` would hide an exception."""
    spec, source = BY_NAME["ruby"], text.encode()
    made = spec.extractor()("a.rb", source).extract(parse_tree(spec.language(), source), spec.compiled())
    assert made.line_count == source.count(b"\n") + (not source.endswith(b"\n") and bool(source))
