"""What the Rust front end says about items inside macros: those that are items, and what only looks like them."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxsearch.graph.facts import Definition, FileFacts, Op
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages.rust_macros import MAX_NESTING
from ctxsearch.indexer.parse import outline, parse


def facts(source: str) -> FileFacts:
    return parse("src/lib.rs", source.encode())


def definition(found: FileFacts, qualified_name: str) -> Definition:
    return next(each for each in found.definitions if each.qualified_name == qualified_name)


def names(found: FileFacts) -> list[str]:
    return sorted(each.qualified_name for each in found.definitions)


def called(found: FileFacts) -> list[str]:
    """Names of what is called, in the order of their calls."""
    return [found.exprs[each.base].name for each in found.exprs if each.op is Op.CALL]


def test_an_item_in_a_macro_is_read_as_if_it_stood_alone() -> None:
    item = "/// A stream.\n#[deprecated]\npub async fn open<T: Read>(from: T) -> Stream {\n    made()\n}\n"
    inside, alone = definition(facts(f"cfg_net! {{\n{item}}}\n"), "open"), definition(facts(f"\n{item}"), "open")
    for what in ("kind", "signature", "doc", "flags", "params", "result", "type_params", "start_line", "end_line"):
        assert getattr(inside, what) == getattr(alone, what), what
    assert inside.doc == "A stream."
    assert inside.flags == NodeFlag.EXPORTED | NodeFlag.ASYNC | NodeFlag.DEPRECATED


def test_every_place_of_an_item_may_hold_a_macro_of_items() -> None:
    found = facts(
        "mod m { cfg_a! { fn f() {} } }\nimpl S { cfg_a! { pub fn g(&self) {} const C: u8 = 1; } }\n"
        'trait T { cfg_a! { fn h(&self); type O; } }\nextern "C" { cfg_a! { fn i(); } }\n'
        "cfg_a! { cfg_b! { struct S; } impl S { cfg_c! { fn j(&self) {} } } }\n"
    )
    assert names(found) == ["S", "S.C", "S.g", "S.j", "T", "T.h", "i", "m", "m.f"]
    assert definition(found, "S.j").receiver == definition(found, "S.g").receiver
    assert definition(found, "T.h").kind is NodeKind.METHOD


def test_modules_and_imports_in_a_macro_are_the_file_s() -> None:
    found = facts("cfg_net! { pub mod net; pub use a::B; mod m { use c::D; } }\n")
    assert [(each.module, each.name, each.kind) for each in found.imports] == [
        ("net", "", "mod"),
        ("a", "B", "reexport"),
        ("c", "D", "use"),
    ]


def test_calls_in_a_macro_belong_to_the_function_and_are_there_once() -> None:
    found = facts("cfg_a! { fn f() { step(LIMIT); } }\nconst LIMIT: u8 = 1;\n")
    assert called(found) == ["cfg_a!", "step"]
    assert [found.exprs[each].name for each in found.references] == ["LIMIT"]
    assert found.exprs[found.references[0]].scope == 0


def test_tests_in_a_macro_are_tests() -> None:
    found = facts("cfg_rt! { #[cfg(test)] mod tests { fn a() {} } }\n#[cfg(test)]\ncfg_rt! { fn b() {} }\nfn c() {}\n")
    assert {each.name for each in found.definitions if each.flags & NodeFlag.TEST} == {"tests", "a", "b"}


def test_statics_of_a_macro() -> None:
    found = facts("lazy_static! { static ref A: Table = Table::new(); }\nthread_local! { static B: Cell<u8> = x() }\n")
    assert [(each.name, each.result.name) for each in found.definitions if each.result] == [
        ("A", "Table"),
        ("B", "Cell"),
    ]
    assert found.parse_errors == 0


def test_all_branches_of_cfg_if() -> None:
    found = facts(
        "cfg_if::cfg_if! { if #[cfg(unix)] { mod u; fn f() {} } else if #[cfg(a)] { fn f() {} } else { use x::y; } }\n"
    )
    assert [each.name for each in found.definitions] == ["f", "f"]
    assert [each.alias for each in found.imports] == ["u", "y"]


def test_flags_of_bitflags_are_constants_of_a_type() -> None:
    found = facts(
        "bitflags! {\n/// Access.\n#[derive(Clone)]\npub struct Mode: u8 {\n/// To read.\nconst READ = 1;\n"
        "const ALL = Self::READ.bits() | 2;\n}\nstruct Other: u8 { const X = 1; }\n}\n"
    )
    assert names(found) == ["Mode", "Mode.ALL", "Mode.READ", "Other", "Other.X"]
    mode, read = definition(found, "Mode"), definition(found, "Mode.READ")
    assert (mode.kind, mode.signature, mode.doc) == (NodeKind.CLASS, "pub struct Mode: u8", "Access.")
    assert (read.kind, read.signature, read.doc, read.start_line) == (NodeKind.VARIABLE, "READ = 1", "To read.", 6)


@pytest.mark.parametrize(
    "source",
    [
        "html! { <div class={f()}>{ text }</div> }",
        'json! { { "fn": { "struct": 1 } } }',
        "quote! { fn f() {} }",
        "macro_rules! m { () => { fn f() {} } }",
        "table! { users (id) { id -> Integer, } }",
        "mock! { pub Foo {} impl Clone for Foo { fn clone(&self) -> Self; } }",
        "service! { fn add(a: u8) -> u8; }",
        "service! { impl A { fn add(a: u8) -> u8; } }",
        "each! { fn $name() {} }",
        "proptest! { fn f(x in 0..10) {} }",
        "run! { let x = 1; fn f() {} }",
        "run! { fn f() {} 1 + 1 }",
        "cfg_a! { fn f() {} struct }",
        "cfg_if! { if #[cfg(a)] { fn f() {} } else { 1 + } }",
        "cfg_if! { if x { fn f() {} } }",
        "bitflags! { impl A: u8 { const B = 1; } }",
        "fn_like!(fn f() {});",
        "fn g() { cfg_a! { fn f() {} } }",
    ],
)
def test_what_is_no_item_defines_nothing(source: str) -> None:
    assert set(names(facts(source))) <= {"m", "g"}


def test_the_tokens_of_such_a_macro_are_read_as_before() -> None:
    assert called(facts("html! { <div>{ f(1) }</div> }")) == ["f", "html!"]


def test_macros_in_macros_are_read_to_a_depth() -> None:
    def nested(depth: int) -> list[str]:
        return names(facts("a! { " * depth + "fn f() {}" + " }" * depth))

    assert nested(MAX_NESTING) == ["f"]
    assert nested(MAX_NESTING + 1) == []


@pytest.mark.parametrize(
    "source",
    [
        b"a!{" * 80_000 + b"}" * 80_000,
        b"a!{" * 100_000,
        b"a!{fn f(){}" * 20_000 + b"}" * 20_000,
        b"a!{fn f(){}}\n" * 20_000,
        b"bitflags!{struct A:u8{const A=1;}}\n" * 8_000,
        b"a!{struct A; " + b'=> $x ( @ ) 1 "a" ; ' * 12_000 + b"}",
        b"cfg_if!{" + b"if #[a]{fn f(){}} " * 14_000 + b"}",
    ],
    ids=["deep", "open", "deep with items", "many", "many flags", "no items", "no branches"],
)
def test_a_hostile_file_is_read_in_time(source: bytes) -> None:
    started = time.process_time()
    assert parse("src/lib.rs", source).line_count
    assert time.process_time() - started < 30  # a second or two; hours where each level is read again


def test_the_same_file_gives_the_same_facts() -> None:
    source = "".join(
        f"cfg_a! {{ pub fn f{n}() {{ g(A{n}, crate::B{n}); }} }}\nconst A{n}: u8 = 1;\n" for n in range(200)
    )
    first = facts(source)
    assert [first.exprs[each].at for each in first.references] == sorted(
        first.exprs[each].at for each in first.references
    )
    assert all(facts(source) == first for _ in range(5))


def test_an_outline_has_what_macros_hold() -> None:
    assert [each.name for each in outline("src/lib.rs", b"cfg_a! { fn f() {} cfg_b! { struct S; } }")] == ["f", "S"]


TOKENS = "a! cfg_if! bitflags! { } ( ) [ ] fn struct f A : ; , # if else const = $ 1 // mod"


@given(st.lists(st.sampled_from(TOKENS.split())))
def test_any_tokens_are_read(tokens: list[str]) -> None:
    found = facts(" ".join(tokens))
    assert found == facts(" ".join(tokens))
