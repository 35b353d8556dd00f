"""Rust: modules and crates, impl blocks anywhere, traits, wrappers of std, macros, and what must not resolve."""

from __future__ import annotations

import pytest
from resolved_calls import calls

from ctxsearch.graph.model import NodeFlag
from ctxsearch.indexer.parse import parse


def test_use_paths_lead_through_mod_declarations() -> None:
    files = {
        "src/main.rs": "mod store;\nuse crate::store::disk::save;\nfn main() { save(); store::open(); }\n",
        "src/store/mod.rs": "pub mod disk;\npub fn open() { self::disk::save(); }\n",
        "src/store/disk.rs": "pub fn save() { super::open(); }\n",
    }
    assert calls(files, "src/main.rs") == {
        ("main", "src/store/disk.rs:save"),
        ("main", "src/store/mod.rs:open"),
    }
    assert calls(files, "src/store/mod.rs") == {("open", "src/store/disk.rs:save")}
    assert calls(files, "src/store/disk.rs") == {("save", "src/store/mod.rs:open")}


def test_reexports_and_other_crates_of_the_workspace() -> None:
    files = {
        "a/Cargo.toml": '[package]\nname = "my-core"\n',
        "a/src/lib.rs": "mod inner;\npub use inner::go;\n",
        "a/src/inner.rs": "pub fn go() {}\n",
        "b/src/main.rs": "use my_core::go;\nfn main() { go(); my_core::go(); }\n",
    }
    assert calls(files, "b/src/main.rs") == {("main", "a/src/inner.rs:go")}


def test_methods_are_found_in_impl_blocks_of_other_files() -> None:
    files = {
        "src/lib.rs": "mod s;\nmod more;\npub fn f() { let x = s::S::new(); x.extra(); }\n",
        "src/s.rs": "pub struct S { n: u8 }\nimpl S { pub fn new() -> Self { Self { n: 1 } } }\n",
        "src/more.rs": "use crate::s::S;\nimpl S { pub fn extra(&self) { self.more(); } fn more(&self) {} }\n",
    }
    assert calls(files, "src/lib.rs") == {("f", "src/s.rs:S.new"), ("f", "src/more.rs:S.extra")}
    assert calls(files, "src/more.rs") == {("S.extra", "src/more.rs:S.more")}


def test_option_result_box_and_question_mark_give_what_is_inside() -> None:
    text = (
        "struct S;\nimpl S { fn m(&self) {} }\n"
        "fn get() -> Result<Option<Box<S>>, E> { Ok(None) }\n"
        "fn f() -> Result<(), E> { let s = get()?.unwrap(); s.m(); if let Some(t) = get()? { t.m(); } Ok(()) }\n"
        "fn g(v: Vec<S>) { for s in v.iter() { s.m(); } v[0].m(); }\n"
    )
    assert {(a, b) for a, b in calls({"src/lib.rs": text}, "src/lib.rs") if b.endswith("S.m")} == {
        ("f", "src/lib.rs:S.m"),
        ("g", "src/lib.rs:S.m"),
    }


def test_bounds_and_dyn_lead_to_the_trait() -> None:
    text = (
        "trait T { fn m(&self); fn d(&self) { self.m(); } }\nstruct S;\nimpl T for S { fn m(&self) {} }\n"
        "fn f<X: T>(x: X, y: &dyn T) { x.m(); y.d(); }\nfn g(s: S) { s.m(); s.d(); }\n"
    )
    found = calls({"src/lib.rs": text}, "src/lib.rs")
    assert ("f", "src/lib.rs:T.m") in found
    assert ("f", "src/lib.rs:T.d") in found
    assert ("g", "src/lib.rs:S.m") in found
    assert ("g", "src/lib.rs:T.d") in found


def test_match_arms_type_the_payload_of_a_variant() -> None:
    text = (
        "struct A;\nimpl A { fn m(&self) {} }\nstruct B;\nimpl B { fn m(&self) {} }\nenum E { One(A), Two(B) }\n"
        "fn f(e: E) { match e { E::One(x) => x.m(), E::Two(y) => {} } }\n"
    )
    assert calls({"src/lib.rs": text}, "src/lib.rs") == {("f", "src/lib.rs:A.m")}


def test_calls_inside_macro_tokens_and_of_own_macros() -> None:
    text = (
        "macro_rules! twice { ($x:expr) => { step($x) }; }\nfn step(n: u8) {}\nfn name() -> u8 { 1 }\n"
        'fn f() { println!("{}", name()); twice!(3); assert_eq!(name(), 1); }\n'
    )
    assert calls({"src/lib.rs": text}, "src/lib.rs") == {
        ("f", "src/lib.rs:name"),
        ("f", "src/lib.rs:twice"),
        ("twice", "src/lib.rs:step"),
    }


def test_inline_test_modules_see_their_parent_through_super() -> None:
    text = "fn work() {}\n#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn works() { work(); }\n}\n"
    assert calls({"src/lib.rs": text}, "src/lib.rs") == {("tests.works", "src/lib.rs:work")}


def test_methods_of_std_types_are_not_ours() -> None:
    text = (
        "struct S;\nimpl S { fn push(&self) {} fn len(&self) {} }\n"
        "fn f(mut v: Vec<u8>, t: &str) { v.push(1); t.len(); }\n"
    )
    assert calls({"src/lib.rs": text}, "src/lib.rs") == set()


ITEM = (
    "struct Item;\nimpl Item { fn new() -> Item { Item } fn own(&self) -> u8 { 1 } fn next(&self) -> Item { Item } }\n"
)


@pytest.mark.parametrize(
    ("body", "called"),
    [
        ("if let Some(item) = maybe { item.own(); }", {"own"}),
        ("if let Some(maybe) = maybe { maybe.own(); }", {"own"}),
        ("while let Some(maybe) = maybe { maybe.own(); }", {"own"}),
        ("for list in list { list.own(); }", {"own"}),
        ("let v = vec![Item::new(), Item::new()]; v[0].own();", {"new", "own"}),
        ("let v = vec![Item::new(); 3]; for x in &v { x.own(); }", {"new", "own"}),
        ("let v = vec![1 + Item::new().own(), 2]; v[0].own();", {"new", "own"}),
        ("cell.borrow().own(); cell.borrow_mut().own();", {"own"}),
    ],
)
def test_what_a_pattern_or_container_holds(body: str, called: set[str]) -> None:
    head = "fn f(maybe: Option<Item>, list: Vec<Item>, cell: std::cell::RefCell<Item>)"
    found = calls({"src/lib.rs": f"{ITEM}{head} {{ {body} }}\n"}, "src/lib.rs")
    assert found == {("f", f"src/lib.rs:Item.{name}") for name in called}


@pytest.mark.parametrize(
    "tokens",
    [
        "Item::new().own()",
        "item.next().own(), !item.own()",
        "x = item.own()",
        '"{}", (item.own(), 1)',
        "&item.next().own()",
    ],
)
def test_chains_of_calls_in_the_tokens_of_a_macro(tokens: str) -> None:
    found = calls({"src/lib.rs": f"{ITEM}fn f(item: &Item) {{ println!({tokens}); }}\n"}, "src/lib.rs")
    assert ("f", "src/lib.rs:Item.own") in found


def test_a_macro_of_another_crate_or_of_std_is_no_macro_of_the_workspace() -> None:
    files = {
        "a/Cargo.toml": '[package]\nname = "a"\n',
        "a/src/lib.rs": "macro_rules! trace { () => {} }\nmacro_rules! matches { () => {} }\nfn own() { trace!(); }\n",
        "b/Cargo.toml": '[package]\nname = "b"\n',
        "b/src/lib.rs": "use tracing::trace;\nfn f() { trace!(); tracing::trace!(); matches!(1, 1); }\n",
        "c/Cargo.toml": '[package]\nname = "c"\n',
        "c/src/lib.rs": "fn f() { a::trace!(); }\n",
    }
    assert calls(files, "a/src/lib.rs") == {("own", "a/src/lib.rs:trace")}
    assert calls(files, "b/src/lib.rs") == set()
    assert calls(files, "c/src/lib.rs") == {("f", "a/src/lib.rs:trace")}


def test_a_file_s_own_comment_is_not_that_of_its_first_item() -> None:
    facts = parse("src/lib.rs", b"//! About the crate.\n//! More.\n\n/// About S.\npub struct S;\n")
    assert facts.doc == "About the crate.\nMore."
    assert facts.definitions[0].doc == "About S."


@pytest.mark.parametrize(
    ("attribute", "is_test"),
    [
        ("#[test]", True),
        ("#[tokio::test(flavor = 'multi_thread')]", True),
        ("#[rstest]", True),
        ("#[test_case(1)]", True),
        ("#[cfg(test)]", True),
        ("#[cfg(all(test, unix))]", True),
        ("#[cfg(not(test))]", False),
        ('#[doc(alias = "latest")]', False),
        ('#[cfg(feature = "test-util")]', False),
        ('#[deprecated(note = "use test")]', False),
    ],
)
def test_which_attributes_make_a_test(attribute: str, is_test: bool) -> None:
    facts = parse("src/lib.rs", f"{attribute}\nfn f() {{}}\n".encode())
    assert bool(facts.definitions[0].flags & NodeFlag.TEST) is is_test


def test_a_path_through_a_module_that_a_macro_declares() -> None:
    files = {
        "tokio/Cargo.toml": '[package]\nname = "tokio"\n',
        "tokio/src/lib.rs": (
            "#[macro_use]\nmod macros;\ncfg_net! { pub mod net; }\ncfg_rt! { pub use task::spawn; pub mod task; }\n"
        ),
        "tokio/src/macros.rs": "macro_rules! cfg_net { ($($i:item)*) => { $($i)* } }\n",
        "tokio/src/net.rs": (
            "cfg_net! { pub struct TcpStream { fd: u8 } }\n"
            "impl TcpStream { pub fn connect() -> Self { Self { fd: 1 } } }\n"
        ),
        "tokio/src/task.rs": "cfg_rt! { pub fn spawn() { step(); } }\nfn step() {}\n",
        "app/Cargo.toml": '[package]\nname = "app"\n',
        "app/src/main.rs": "use tokio::net::TcpStream;\nfn main() { tokio::spawn(); TcpStream::connect(); }\n",
    }
    assert calls(files, "app/src/main.rs") == {
        ("main", "tokio/src/net.rs:TcpStream.connect"),
        ("main", "tokio/src/task.rs:spawn"),
    }
    assert calls(files, "tokio/src/task.rs") == {("spawn", "tokio/src/task.rs:step")}
    assert ("", "tokio/src/macros.rs:cfg_net") in calls(files, "tokio/src/net.rs")


def test_a_field_of_a_library_s_type_has_no_methods_here() -> None:
    text = "struct S { inner: socket2::Socket }\nimpl S { fn set_linger(&self) { self.inner.set_linger(); } }\n"
    assert calls({"src/lib.rs": text}, "src/lib.rs") == set()


def test_a_field_of_another_type_is_not_asked_for_the_only_method_of_a_name() -> None:
    text = (
        "struct Batch { n: u8 }\nstruct Stats { batch: Batch }\n"
        "impl Stats { fn about_to_park(&self) { self.batch.about_to_park(); } }\n"
    )
    assert calls({"src/lib.rs": text}, "src/lib.rs") == set()


def test_a_field_may_be_called_like_the_module_of_its_type() -> None:
    files = {
        "src/lib.rs": "mod chan;\nstruct S { chan: chan::Tx }\nimpl S { fn f(&self) { self.chan.send(); } }\n",
        "src/chan.rs": "pub struct Tx;\nimpl Tx { pub fn send(&self) {} }\n",
    }
    assert calls(files, "src/lib.rs") == {("S.f", "src/chan.rs:Tx.send")}
