"""Facts of small Python sources."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxsearch.graph.facts import MODULE_SCOPE, Assign, Definition, Expr, FileFacts, Op, ParamKind, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages.python_types import parse_type
from ctxsearch.indexer.parse import parse


def facts(source: str, path: str = "main.py") -> FileFacts:
    return parse(path, source.encode())


def named(found: FileFacts, qualified_name: str) -> Definition:
    return next(item for item in found.definitions if item.qualified_name == qualified_name)


def show(found: FileFacts, index: int) -> str:
    """An expression as compact text, so that tests read like source."""
    if index < 0:
        return "-"
    expr = found.exprs[index]
    inner = [show(found, arg) for arg in expr.args]
    match expr.op:
        case Op.NAME:
            return expr.name
        case Op.THIS | Op.RECEIVER_CLASS | Op.UNKNOWN:
            return expr.op.name
        case Op.MEMBER:
            return f"{show(found, expr.base)}.{expr.name}"
        case Op.CALL:
            return f"{show(found, expr.base)}({', '.join(inner)})"
        case Op.INDEX:
            return f"{show(found, expr.base)}[{inner[0]}]"
        case Op.LITERAL:
            return f"{expr.name}:{expr.text}" if expr.text else expr.name
        case Op.KEYWORD:
            return f"{expr.name}={show(found, expr.base)}"
        case Op.FUNCTION:
            return found.definitions[expr.base].qualified_name
        case Op.SEQUENCE:
            return f"{expr.name}[{', '.join(inner)}]"
        case Op.MAPPING:
            return "{" + ", ".join(inner) + "}"
        case Op.CAST:
            return f"CAST({expr.type.name if expr.type else ''})"
        case _:
            parts = inner or [show(found, expr.base)]
            return f"{expr.op.name}{expr.name}({', '.join(parts)})"


def assigned(found: FileFacts) -> dict[str, str]:
    return {show(found, item.target): show(found, item.value) for item in found.assigns}


def binding(found: FileFacts, name: str) -> tuple[Assign, Expr]:
    return next((item, found.exprs[item.target]) for item in found.assigns if found.exprs[item.target].name == name)


def test_definitions_have_kind_name_lines_and_signature() -> None:
    found = facts(
        '''"""Module doc."""
LIMIT: int = 3

@register
class Shape(Base, pkg.Mixin, metaclass=Meta):
    """A shape.

    first
      second
    """
    sides = 4

    def __init__(self, size: "Size", *rest, scale=1.0, **more) -> None: ...

    @property
    async def area(self): return self.size

def outer():
    def inner(): pass
'''
    )
    assert found.doc == "Module doc."
    assert [(item.kind, item.qualified_name) for item in found.definitions] == [
        (NodeKind.CLASS, "Shape"),
        (NodeKind.CONSTRUCTOR, "Shape.__init__"),
        (NodeKind.METHOD, "Shape.area"),
        (NodeKind.FUNCTION, "outer"),
        (NodeKind.FUNCTION, "outer.inner"),
        (NodeKind.VARIABLE, "LIMIT"),
        (NodeKind.VARIABLE, "Shape.sides"),
    ]
    shape, init = named(found, "Shape"), named(found, "Shape.__init__")
    assert (shape.start_line, shape.end_line, shape.name_line) == (4, 16, 5)
    assert shape.doc == "A shape.\n\nfirst\n  second"
    assert shape.bases == (Type("Base"), Type("pkg.Mixin"))
    assert init.signature == 'def __init__(self, size: "Size", *rest, scale=1.0, **more) -> None'
    assert [(item.name, item.kind) for item in init.params] == [
        ("self", ParamKind.RECEIVER),
        ("size", ParamKind.NORMAL),
        ("rest", ParamKind.VARIADIC),
        ("scale", ParamKind.KEYWORD_ONLY),
        ("more", ParamKind.KEYWORDS),
    ]
    assert init.params[1].type == Type("Size")
    area = named(found, "Shape.area")
    assert area.flags & NodeFlag.PROPERTY
    assert area.flags & NodeFlag.ASYNC
    assert named(found, "LIMIT").result == Type("int")


def test_names_are_exported_unless_private_or_local() -> None:
    found = facts(
        "def a(): \n def b(): pass\ndef _c(): pass\nclass _D:\n def e(self): pass\nclass F:\n def g(self): pass\n"
    )
    exported = {item.qualified_name for item in found.definitions if item.flags & NodeFlag.EXPORTED}
    assert exported == {"a", "F", "F.g"}


def test_tests_are_flagged_in_test_files_only() -> None:
    source = "def test_a(): pass\ndef helper(): pass\n"
    assert named(facts(source, "tests/test_x.py"), "test_a").flags & NodeFlag.TEST
    assert not named(facts(source, "tests/test_x.py"), "helper").flags & NodeFlag.TEST
    assert not named(facts(source, "app/x.py"), "test_a").flags & NodeFlag.TEST


@pytest.mark.parametrize(
    ("decorator", "flag"),
    [
        ("staticmethod", NodeFlag.STATIC),
        ("classmethod", NodeFlag.CLASS_METHOD),
        ("functools.cached_property", NodeFlag.PROPERTY),
        ("x.setter", NodeFlag.PROPERTY),
        ("abc.abstractmethod", NodeFlag.ABSTRACT),
        ("typing.overload", NodeFlag.DECLARATION),
        ("deprecated('use y')", NodeFlag.DEPRECATED),
    ],
)
def test_decorators_set_flags(decorator: str, flag: NodeFlag) -> None:
    assert named(facts(f"class A:\n @{decorator}\n def f(s): pass\n"), "A.f").flags & flag


@pytest.mark.parametrize(
    ("owner", "body", "left_open"),
    [
        ("A", "raise NotImplementedError", True),
        ("A", "'''What it is for.'''; raise NotImplementedError('of subclasses')", True),
        ("A", "raise ValueError", False),
        ("A", "self.g(); raise NotImplementedError", False),
        ("A", "pass", False),
        ("A(Protocol)", "...", True),
        ("A(typing.Protocol[T])", "pass", True),
        ("A(Protocol)", "return 1", False),
    ],
)
def test_a_method_without_anything_of_its_own_is_abstract(owner: str, body: str, *, left_open: bool) -> None:
    found = named(facts(f"class {owner}:\n def f(self): {body}\n"), "A.f")
    assert bool(found.flags & NodeFlag.ABSTRACT) is left_open


def test_the_receiver_is_known_by_position_and_hidden_by_a_parameter() -> None:
    found = facts(
        """class A:
    def f(me):
        me.x = 1
        def inner(): return me
        def other(me): return me
    @classmethod
    def g(cls): return cls
    @staticmethod
    def h(me): return me
"""
    )
    returned = {item.name: [show(found, index) for index in item.returns] for item in found.definitions}
    assert returned["inner"] == ["THIS"]
    assert returned["other"] == ["me"]
    assert returned["g"] == ["RECEIVER_CLASS"]
    assert returned["h"] == ["me"]
    assert assigned(found) == {"THIS.x": "int:1"}


def test_imports_are_kept_as_written() -> None:
    found = facts(
        "import a.b\nimport a.c as d\nfrom . import e\nfrom ..f.g import h as i, j\nfrom k import *\n"
        "def l():\n    import m\n"
    )
    assert [(i.module, i.name, i.alias, i.level, i.kind) for i in found.imports] == [
        ("a.b", "", "a", 0, "dotted"),
        ("a.c", "", "d", 0, ""),
        ("", "e", "e", 1, ""),
        ("f.g", "h", "i", 2, ""),
        ("f.g", "j", "j", 2, ""),
        ("k", "*", "", 0, ""),
        ("m", "", "m", 0, ""),
    ]
    assert found.imports[-1].scope == found.definitions.index(named(found, "l"))


def test_assignments_are_taken_apart() -> None:
    found = facts("a, (b, *c) = f()\nx = y = g\np, q = r, s\nobj.attr[0] = t\n")
    assert assigned(found) == {
        "a": "f()[int:0]",
        "b": "f()[int:1][int:0]",
        "c": "list[SPREAD(f()[int:1])]",
        "x": "g",
        "y": "g",
        "p": "r",
        "q": "s",
        "obj.attr[int:0]": "t",
    }


def test_loops_with_and_comprehensions_bind_their_variables() -> None:
    found = facts("for k, v in items: pass\nwith open(p) as f: pass\nz = [h(x) for x in xs]\n")
    got = assigned(found)
    assert got["k"] == "ELEMENT(items)[int:0]"
    assert got["f"] == "ENTER(open(p))"
    assert got["z"] == "list[h(x)]"
    inside, target = binding(found, "x")
    assert (target.at, inside.until) == (52, 70)
    assert show(found, inside.value) == "ELEMENT(xs)"


def test_a_name_is_bound_from_the_end_of_its_statement() -> None:
    found = facts("x = f(x)\n")
    use = next(item for item in found.exprs if item.op == Op.NAME and item.name == "x")
    assert use.at < binding(found, "x")[1].at


def test_branches_make_assignments_conditional_up_to_their_end() -> None:
    found = facts("a = 1\nif t:\n    b = 2\nelse:\n    def f():\n        c = 3\nwith u:\n    d = 4\n")
    state = {found.exprs[item.target].name: (item.conditional, item.block) for item in found.assigns}
    assert state == {"a": (False, -1), "b": (True, 21), "c": (False, -1), "d": (False, -1)}


def test_global_and_nonlocal_bind_in_the_named_scope() -> None:
    found = facts("def f():\n    global g\n    g = 1\n    n = 0\n    def h():\n        nonlocal n\n        n = 2\n")
    f = found.definitions.index(named(found, "f"))
    scopes = [(found.exprs[i.target].name, found.exprs[i.target].scope, i.conditional) for i in found.assigns]
    assert scopes == [("g", MODULE_SCOPE, True), ("n", f, False), ("n", f, True)]


def test_isinstance_narrows_inside_its_branch() -> None:
    found = facts(
        "def f(x, y):\n    if isinstance(x, A) and y:\n        x.m()\n"
        "    if not isinstance(y, (B, C)):\n        return\n"
    )
    first, inside, second = found.assigns
    assert show(found, first.value) == "CAST(A)"
    assert first.until == 57
    assert (show(found, inside.value), inside.until) == ("CAST(A)", 42)  # in the second part of the test
    assert show(found, second.value) == "CAST(|)"
    assert second.until == -1


def test_isinstance_narrows_inside_an_expression() -> None:
    found = facts("a = x.f() if isinstance(x, A) else 0\nb = [x.f() for x in y if isinstance(x, B)]\n")
    narrowed = [item for item in found.assigns if show(found, item.value).startswith("CAST")]
    spans = [(show(found, item.value), found.exprs[item.target].at, item.until) for item in narrowed]
    assert spans == [("CAST(A)", 3, 9), ("CAST(B)", 41, 59)]


def test_except_variables_have_the_caught_type() -> None:
    found = facts("try:\n    f()\nexcept (A, b.C) as e:\n    e.m()\n")
    bound, _ = binding(found, "e")
    assert bound.type == Type("|", (Type("A"), Type("b.C")))
    assert bound.until > 0


def test_calls_keep_the_receiver_as_an_expression() -> None:
    found = facts("d.setdefault(k, []).append(x, *a, y=1, **b)\n")
    calls = [index for index, item in enumerate(found.exprs) if item.op == Op.CALL]
    assert show(found, calls[-1]) == "d.setdefault(k, list[]).append(x, SPREAD(a), y=int:1, SPREAD**(b))"


def test_a_call_over_several_lines_stands_where_its_name_is() -> None:
    found = facts("(a\n  .b()\n  .c())\n")
    assert [item.line for item in found.exprs if item.op == Op.CALL] == [2, 3]


def test_calls_inside_lambdas_and_defaults_belong_to_the_right_scope() -> None:
    found = facts("def f(x=g()):\n    return lambda y: h(y)\nk = lambda: m()\n")
    owner = {}
    for item in found.exprs:
        if item.op == Op.CALL:
            around = found.definitions[item.scope].qualified_name if item.scope >= 0 else ""
            owner[found.exprs[item.base].name] = around
    assert owner == {"g": "", "h": "f.<lambda1>", "m": "k"}


def test_generators_return_what_they_yield() -> None:
    found = facts("def f():\n    yield a\n    yield from b\n")
    f = named(found, "f")
    assert f.flags & NodeFlag.GENERATOR
    assert [show(found, index) for index in f.returns] == ["YIELDED(a)", "YIELDED(ELEMENTfrom(b))"]


def test_literals_choices_and_containers() -> None:
    found = facts("a = {'k': f, 1: g, h: i, **j}\nb = u if v else w\nc = p or q\nd = 'x %s' % y\ne = 1 + z\n")
    assert assigned(found) == {
        "a": "{k=f, 1=g, =i, SPREAD**(j)}",
        "b": "CHOICE(u, w)",
        "c": "CHOICE(p, q)",
        "d": "str",
        "e": "UNKNOWN",
    }


def test_super_is_not_a_name() -> None:
    found = facts("class A(B):\n    def f(self):\n        super().f()\n        super(A, self).g()\n")
    shown = [show(found, index) for index, item in enumerate(found.exprs) if item.op == Op.CALL]
    assert shown == ["SUPER(-).f()", "SUPER(A).g()"]


def test_constants_and_types_that_are_read_are_references() -> None:
    found = facts("def f(x):\n    if x == LIMIT: raise Oops\n    return g(mod.Kind, lower)\n")
    assert [show(found, index) for index in found.references] == ["LIMIT", "Oops", "mod.Kind"]


def test_all_names_are_exports() -> None:
    found = facts("__all__ = ['a', 'b']\n__all__ += ['c']\n")
    assert [item.name for item in found.exports] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a.B", Type("a.B")),
        ("Optional[A]", Type("A")),
        ("t.Union[A, None, B]", Type("|", (Type("A"), Type("B")))),
        ("'A | None'", Type("A")),
        ("list['A']", Type("list", (Type("A"),))),
        ("Callable[[A, B], C]", Type("->", (Type("C"), Type("A"), Type("B")))),
        ("tuple[A, ...]", Type("()", (Type("A"), Type("")))),
        ("Annotated[A, Depends(f)]", Type("A")),
        ("Literal['a']", Type("Literal")),
        ("None", Type("None")),
        ("", Type("")),
        ("((((", Type("()")),
    ],
)
def test_annotations(written: str, meant: Type) -> None:
    assert parse_type(written) == meant


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="def class(x):\n  .=[]{},'\"*@lambda yield from import as if:", max_size=120))
def test_any_text_is_read_without_an_exception(source: str) -> None:
    found = facts(source)
    for index, item in enumerate(found.definitions):
        assert item.parent < index
        assert item.start_line <= item.end_line


@settings(max_examples=50, deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_without_an_exception(source: bytes) -> None:
    assert parse("x.py", source).path == "x.py"


def test_deep_nesting_is_read() -> None:
    for text in ("(" * 5000, "f(" * 3000 + ")" * 3000, "x" + ".a" * 3000 + "()", "[" * 2000 + "]" * 2000):
        assert facts(text).language == "python"


def test_a_sample_of_the_standard_library_is_read_without_an_exception() -> None:
    root = Path(sysconfig.get_paths()["stdlib"])
    files = sorted(path for path in root.rglob("*.py") if "site-packages" not in path.parts)
    assert len(files) > 200, sys.version
    for path in files[::23]:
        found = parse(path.relative_to(root).as_posix(), path.read_bytes())
        assert found.language == "python"
        for item in found.definitions:
            assert 1 <= item.start_line <= item.end_line <= max(found.line_count, 1)


def test_a_comment_between_head_and_body_is_no_part_of_the_signature() -> None:
    facts = parse(
        "a.py", b"class A(B):\n    # Behave like it.\n    def f(self):  # noqa\n        # why\n        return 1\n"
    )
    assert [definition.signature for definition in facts.definitions] == ["class A(B)", "def f(self)"]
