"""Facts of small JavaScript, TypeScript and TSX sources."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxsearch.graph.facts import Definition, Export, FileFacts, Op, ParamKind, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.parse import parse


def facts(source: str, path: str = "main.ts") -> FileFacts:
    return parse(path, source.encode())


def named(found: FileFacts, qualified_name: str) -> Definition:
    return next(item for item in found.definitions if item.qualified_name == qualified_name)


def names(found: FileFacts) -> list[str]:
    return [f"{item.kind.name} {item.qualified_name}" for item in found.definitions]


def show(found: FileFacts, index: int) -> str:
    """An expression as compact text, so that tests read like source."""
    if index < 0:
        return "-"
    expr = found.exprs[index]
    inner = ", ".join(show(found, arg) for arg in expr.args)
    match expr.op:
        case Op.NAME:
            return expr.name
        case Op.THIS:
            return f"this@{found.definitions[expr.scope].qualified_name}" if expr.scope >= 0 else "this"
        case Op.MEMBER:
            return f"{show(found, expr.base)}.{expr.name}"
        case Op.CALL | Op.NEW:
            return f"{'new ' if expr.op is Op.NEW else ''}{show(found, expr.base)}({inner})"
        case Op.INDEX:
            return f"{show(found, expr.base)}[{inner}]"
        case Op.LITERAL:
            return f"{expr.name}:{expr.text}" if expr.text else expr.name
        case Op.KEYWORD:
            return f"{expr.name}: {show(found, expr.base)}"
        case Op.FUNCTION | Op.CLASS:
            return f"<{found.definitions[expr.base].qualified_name}>"
        case Op.AWAIT | Op.SPREAD | Op.ELEMENT | Op.CAST | Op.YIELDED:
            return f"{expr.op.name}({show(found, expr.base)})"
        case _:
            return f"{expr.op.name}({inner})"


def assigns(found: FileFacts) -> list[str]:
    return [f"{show(found, item.target)} = {show(found, item.value)}" for item in found.assigns]


def calls(found: FileFacts) -> list[str]:
    return [show(found, index) for index, item in enumerate(found.exprs) if item.op in (Op.CALL, Op.NEW)]


def test_every_kind_of_definition_is_found_with_its_qualified_name() -> None:
    found = facts(
        "export function f() {}\nclass A { m() {} static s = 1; h = () => 1 }\ninterface I { p: string; q(): void }\n"
        "enum E { X, Y = 2 }\ntype T = string;\nnamespace N { export function g() {} }\nconst c = 1, d = () => 2;\n"
    )
    assert names(found) == [
        "FUNCTION f", "CLASS A", "METHOD A.m", "VARIABLE A.s", "METHOD A.h", "INTERFACE I", "VARIABLE I.p",
        "METHOD I.q", "CLASS E", "VARIABLE E.X", "VARIABLE E.Y", "TYPE_ALIAS T", "PACKAGE N", "FUNCTION N.g",
        "VARIABLE c", "FUNCTION d",
    ]  # fmt: skip
    assert named(found, "f").flags & NodeFlag.EXPORTED
    assert named(found, "A.s").flags & NodeFlag.STATIC


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("const f = function g() {};", "FUNCTION f"),
        ("const f = memo(() => 1);", "FUNCTION f"),
        ("const f = xs.map(() => 1);", "VARIABLE f"),
        ("exports.f = () => {};", "FUNCTION f"),
        ("module.exports = function () {};", "FUNCTION exports"),
        ("export default () => 1;", "FUNCTION default"),
        ("export default class {}", "CLASS default"),
        ("C.prototype.m = function () {};", "METHOD C.m"),
        ("C.make = function () {};", "METHOD C.make"),
        ("C.prototype = { m() {} };", "METHOD C.m"),
        ("function C() { this.m = function () {}; }", "METHOD C.m"),
        ("class A { constructor() { this.m = () => 1; } }", "METHOD A.m"),
        ("const o = { a: { m() {} } };", "METHOD o.a.m"),
        ("function f() { const o = { m: () => 1 }; }", "METHOD f.o.m"),
        ("function f() { return { m() {} }; }", "METHOD f.m"),
        ("f(() => 1, function () {});", "FUNCTION <lambda2>"),
        ("class A { static B = class {} }", "CLASS A.B"),
    ],
)
def test_a_function_or_class_literal_is_named_by_what_it_is_bound_to(source: str, expected: str) -> None:
    assert expected in names(facts(source, "main.js"))


def test_an_object_literals_methods_belong_to_the_variable_that_holds_it() -> None:
    found = facts("export const o = { m() { return this.n(); }, n: () => 1 };")
    assert [found.definitions[item.parent].name for item in found.definitions[1:]] == ["o", "o"]
    assert show(found, named(found, "o.m").returns[0]) == "this@o.m.n()"


def test_this_is_bound_by_the_nearest_function_that_is_not_an_arrow() -> None:
    found = facts(
        "class A { m() { [1].map(() => this.x()); setTimeout(function () { this.y(); }); } f = () => this.z(); }"
    )
    assert {"this@A.m.x()", "this@A.m.<lambda2>.y()", "this@A.f.z()"} <= set(calls(found))


def test_parameters_have_types_defaults_and_kinds() -> None:
    found = facts("function f(this: X, a: Foo<B> | null, b = 1, { c, d: e }: O, ...r: string[]): Promise<R> {}")
    params = named(found, "f").params
    assert [(item.name, item.kind) for item in params] == [
        ("this", ParamKind.RECEIVER), ("a", ParamKind.NORMAL), ("b", ParamKind.NORMAL), ("<3>", ParamKind.NORMAL),
        ("r", ParamKind.VARIADIC),
    ]  # fmt: skip
    assert params[1].type == Type("Foo", (Type("B"),))
    assert named(found, "f").result == Type("Promise", (Type("R"),))
    assert assigns(found) == ["c = <3>.c", "e = <3>.d"]


def test_constructor_parameter_properties_are_fields() -> None:
    found = facts("class A { constructor(private readonly s: Service, plain: number) {} }")
    assert assigns(found) == ["this@A.constructor.s = s"]
    assert found.assigns[0].type == Type("Service")


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("A | undefined", Type("A")),
        ("A | B | C", Type("|", (Type("A"), Type("B"), Type("C")))),
        ("A[]", Type("[]", (Type("A"),))),
        ("readonly [A, B?]", Type("()", (Type("A"), Type("B")))),
        ("(a: A) => B", Type("->", (Type("B"), Type("A")))),
        ("{ a: A; m(): B }", Type("{}", (Type(":a", (Type("A"),)), Type(":m", (Type("->", (Type("B"),)),))))),
        ("N.A<B>", Type("N.A", (Type("B"),))),
        ("typeof v", Type("typeof", (Type("v"),))),
        ("T['k']", Type("[k]", (Type("T"), Type("'k'")))),
        ('import("./m").A', Type("import", (Type("./m"), Type("A")))),
    ],
)
def test_types_are_read_as_written(annotation: str, expected: Type) -> None:
    assert facts(f"let x: {annotation};").assigns[0].type == expected


def test_destructuring_is_split_into_members_and_items() -> None:
    found = facts("const { a, b: [c, ...d], e = 1, ...f } = v;\n[x, o.y] = [o.y, x];")
    assert assigns(found) == [
        "a = v.a", "c = v.b[int:0]", "d = v.b[slice:1]", "e = CHOICE(v.e, int:1)", "f = v",
        "x = SEQUENCE(o.y, x)[int:0]", "o.y = SEQUENCE(o.y, x)[int:1]",
    ]  # fmt: skip


def test_block_scoped_names_end_with_their_block_and_var_does_not() -> None:
    source = "function f() { let a = 1; if (a) { let b = 2; var c = 3; } for (const d of a) { d(); } }"
    found = facts(source)
    until = {found.exprs[item.target].name: item.until for item in found.assigns}
    assert until == {"a": -1, "b": source.index("}") + 1, "c": -1, "d": source.rindex("}") - 1}
    assert [found.exprs[item.target].name for item in found.assigns if item.conditional] == ["c"]


def test_imports_and_exports_are_recorded_as_written() -> None:
    found = facts(
        'import D, { a as b, type C } from "./x.js";\nimport * as N from "n";\n'
        'import "side";\nimport R = require("r");\n'
        'export { p as q, r } from "./y";\nexport * from "./z";\nexport * as ns from "./w";\nexport { b as default };\n'
        'export const { s, t: [u] } = v;\nconst m = require("./m"), l = import("./l");\n'
    )
    assert [(item.module, item.name, item.alias, item.kind) for item in found.imports] == [
        ("./x.js", "default", "D", ""), ("./x.js", "a", "b", ""), ("./x.js", "C", "C", ""), ("n", "", "N", ""),
        ("side", "", "", ""), ("r", "=", "R", "require"), ("./y", "", "", "reexport"), ("./z", "", "", "reexport"),
        ("./w", "", "", "reexport"), ("./m", "", "", "require"), ("./l", "", "", "dynamic"),
    ]  # fmt: skip
    assert found.exports == (
        Export("q", "p", "./y"), Export("r", "r", "./y"), Export("*", "", "./z"), Export("ns", "*", "./w"),
        Export("default", "b"), Export("s", "s"), Export("u", "u"),
    )  # fmt: skip


def test_commonjs_exports_carry_their_values() -> None:
    found = facts("exports.a = f;\nmodule.exports.b = g;\nmodule.exports = { a, b: c };", "main.cjs")
    assert [(item.name, show(found, item.value)) for item in found.exports] == [
        ("a", "f"), ("b", "g"), ("=", "MAPPING(a: a, b: c)"),
    ]  # fmt: skip


def test_call_sites_keep_their_receiver_as_a_tree() -> None:
    found = facts("a.b(c)?.d[e]!.f`x${g()}`;\nnew K<T>(...rest).go();\nawait (p ?? q)();")
    assert calls(found)[:1] == ["a.b(c)"]
    assert "new K(SPREAD(rest)).go()" in calls(found)
    assert "CHOICE(p, q)()" in calls(found)
    assert any(call.startswith("a.b(c).d[e].f(str, g())") for call in calls(found))


def test_components_in_jsx_are_called_and_elements_are_not() -> None:
    found = facts("const App = () => <div><Card title={t} {...rest} /><ui.Row /></div>;", "main.tsx")
    assert calls(found) == ["Card(MAPPING(title: t, SPREAD(rest)))", "ui.Row(MAPPING())"]


def test_doc_comments_decorators_and_flags_belong_to_the_definition() -> None:
    found = facts(
        "// The file.\n\n/**\n * Adds.\n * @deprecated use more\n */\n@Dec()\n"
        "export abstract class A<T extends B> extends C.D<T> implements I {\n"
        "  @Get('x') async *m() { yield this.n; }\n  private static get p() { return 1; }\n}\n"
    )
    owner = named(found, "A")
    assert owner.doc == "Adds.\n@deprecated use more"
    assert owner.flags & NodeFlag.DEPRECATED
    assert owner.flags & NodeFlag.ABSTRACT
    assert owner.bases == (Type("C.D", (Type("T"),)),)
    assert owner.implements == (Type("I"),)
    assert [show(found, item) for item in owner.decorators] == ["Dec()"]
    method = named(found, "A.m")
    assert [show(found, item) for item in method.decorators] == ["Get(str:x)"]
    assert method.flags & (NodeFlag.ASYNC | NodeFlag.GENERATOR) == NodeFlag.ASYNC | NodeFlag.GENERATOR
    assert [show(found, item) for item in method.returns] == ["YIELDED(this@A.m.n)"]
    assert named(found, "A.p").flags & NodeFlag.PROPERTY
    assert found.doc == "The file."


def test_references_name_types_and_constants_but_not_type_parameters() -> None:
    found = facts("function f<T>(a: Foo, b: N.Bar): T { return MAX_SIZE; }")
    assert [show(found, item) for item in found.references] == ["Foo", "N.Bar", "MAX_SIZE"]


@pytest.mark.parametrize(
    ("path", "is_test"),
    [("src/a.test.ts", True), ("src/__tests__/a.js", True), ("test/a.mjs", True), ("src/latest.ts", False)],
)
def test_files_of_tests_are_known_by_their_path(path: str, is_test: bool) -> None:
    assert bool(facts("f();", path).flags & NodeFlag.TEST) is is_test


def test_a_parameter_decorator_decorates_no_definition() -> None:
    found = facts("class A { constructor(@Inject() a: B) {} m() {} }")
    assert named(found, "A.m").decorators == ()
    assert calls(found) == ["Inject()"]


@pytest.mark.parametrize("source", ["[" * 20_000, "a?.b." * 20_000, "{" * 20_000, "x: " + "A | " * 3000 + "B", "class"])
def test_deep_or_broken_source_is_data(source: str) -> None:
    assert facts(source).language == "typescript"


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200), st.sampled_from(["a.js", "a.ts", "a.tsx", "a.mjs"]))
def test_any_bytes_can_be_read(source: bytes, path: str) -> None:
    assert parse(path, source).path == path


TOKENS = (
    "class A { } ( ) => = function async * get set static export default import from 'x' , ; : ? . ... [ ] ` ${ < > / "
    "extends this super new const let { a , b } for of in if else try catch return yield await @d interface I type T"
)
PIECES = st.sampled_from(TOKENS.split())


@settings(max_examples=80, deadline=None)
@given(st.lists(PIECES, max_size=40), st.sampled_from(["a.js", "a.ts", "a.tsx"]))
def test_any_sequence_of_tokens_gives_consistent_facts(tokens: list[str], path: str) -> None:
    found = parse(path, " ".join(tokens).encode())
    for index, item in enumerate(found.definitions):
        assert item.parent < index
        assert item.name
    assert all(item.base >= -1 and all(arg < len(found.exprs) for arg in item.args) for item in found.exprs)
    assert NodeKind.MODULE not in {item.kind for item in found.definitions}
