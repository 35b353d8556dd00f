"""Go and Rust: whatever versions of a few files that depend on one another follow, the graph equals a fresh one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxsearch.graph.records import FileGraph
from ctxsearch.graph.resolve.resolver import Resolver
from ctxsearch.indexer.parse import parse

# By project: for each file the texts that it can have.
PROJECTS: dict[str, dict[str, tuple[str, ...]]] = {
    "go generics and constants": {
        "go.mod": ("module ex.com/a\n",),
        "box/box.go": (
            (
                "package box\ntype Box[T any] struct { V T }\nfunc New[T any]() *Box[T] { return nil }\n"
                "func (b *Box[T]) Get() T { return b.V }\nconst Max = 1\n"
            ),
            (
                "package box\ntype Box[K, T any] struct { V T }\nfunc New[T any]() *Box[int, T] { return nil }\n"
                "func (b *Box[A, B]) Get() B { return b.V }\nvar Max = 2\n"
            ),
            "package box\ntype Box struct { V int }\nfunc New[T any](v T) T { return v }\nfunc Max() {}\n",
        ),
        "more.go": (
            "package a\nconst limit = 1\ntype Dog struct{}\nfunc (d *Dog) Bark() {}\n",
            "package a\nfunc limit() {}\ntype Dog struct{ box.Box[int] }\n",
            "package b\nconst limit = 1\ntype Dog struct{}\nfunc (d *Dog) Bark() {}\n",
        ),
        "main.go": (
            (
                'package a\nimport "ex.com/a/box"\nfunc run() { b := box.New[*Dog](); b.Get().Bark(); b.V.Bark()\n'
                "if limit > box.Max { limit := 1; _ = limit } }\n"
            ),
            'package a\nimport "ex.com/a/box"\nfunc run(limit int) { box.New(&Dog{}).Bark(); use(limit, box.Max) }\n',
        ),
    },
    "rust crates": {
        "Cargo.toml": (
            '[workspace]\n[workspace.dependencies]\nshared = { package = "one", path = "one" }\n',
            '[workspace]\n[workspace.dependencies]\nshared = { package = "two" }\n',
            "[workspace]\n",
        ),
        "app/Cargo.toml": (
            '[package]\nname = "app"\n[dependencies]\nshared = { workspace = true }\n',
            '[package]\nname = "app"\n[dependencies]\nshared = { package = "two", path = "../two" }\n',
            '[package]\nname = "app"\n',
        ),
        "one/Cargo.toml": ('[package]\nname = "one"\n', '[package]\nname = "shared"\n'),
        "two/Cargo.toml": ('[package]\nname = "two"\n', '[package]\nname = "two"\n[lib]\npath = "src/other.rs"\n'),
        "one/src/lib.rs": (
            (
                "pub const LIMIT: u8 = 1;\npub struct Store { pub inner: Inner }\npub struct Inner;\n"
                "impl Inner { pub const MAX: u8 = 1; pub fn open(&self) {} }\n"
                "impl Deref for Store { type Target = Inner; fn deref(&self) -> &Self::Target { &self.inner } }\n"
            ),
            "pub static LIMIT: u8 = 1;\npub struct Store { open: u8 }\nimpl Store { pub fn open(&self) {} }\n",
        ),
        "two/src/lib.rs": ("pub struct Store;\nimpl Store { pub const MAX: u8 = 2; pub fn open(&self) {} }\n", ""),
        "two/src/other.rs": ("pub enum Store { LIMIT, MAX }\nimpl Store { fn open(&self) {} }\n",),
        "app/src/main.rs": (
            "use shared::Store;\nfn run(store: Store) { store.open(); shared::LIMIT; Store::MAX; Store::LIMIT; }\n",
            '#[path = "sys/unix.rs"]\nmod sys;\nuse sys::*;\nfn run(store: Store) { store.open(); LIMIT; }\n',
        ),
        "app/src/sys/unix.rs": ("pub use shared::{Store, LIMIT};\n", "pub const LIMIT: u8 = 3;\npub struct Store;\n"),
    },
}


def normal(graph: FileGraph) -> tuple[object, ...]:
    return graph.nodes, graph.edges, graph.unresolved


@pytest.mark.parametrize("project", sorted(PROJECTS))
@settings(max_examples=60)
@given(data=st.data())
def test_incremental_equals_from_scratch(project: str, data: st.DataObject) -> None:
    versions = PROJECTS[project]
    texts = {path: choices[0].encode() for path, choices in versions.items()}
    resolver = Resolver()
    graphs = dict(resolver.update({path: parse(path, text) for path, text in texts.items()}).graphs)
    for _ in range(4):
        path = data.draw(st.sampled_from(sorted(versions)))
        choice = data.draw(st.one_of(st.none(), st.sampled_from(versions[path])))
        if choice is None:
            texts.pop(path, None)
            graphs.update(resolver.update({}, [path]).graphs)
            graphs.pop(path, None)
        else:
            texts[path] = choice.encode()
            graphs.update(resolver.update({path: parse(path, texts[path])}).graphs)
        fresh = Resolver().update({name: parse(name, text) for name, text in texts.items()}).graphs
        assert {name: normal(graph) for name, graph in graphs.items()} == {
            name: normal(graph) for name, graph in fresh.items()
        }
