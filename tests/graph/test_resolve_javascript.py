"""JavaScript and TypeScript resolution: linking through configuration, hostile input, and edits of every construct."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from resolved_calls import resolved

from ctxsearch.graph.model import EdgeKind
from ctxsearch.graph.records import FileGraph
from ctxsearch.graph.resolve.resolver import Resolver
from ctxsearch.indexer.parse import parse


def calls(resolver: Resolver, path: str) -> set[str]:
    """Where a file's calls lead: "path:qualified name"."""
    return {
        f"{target_path}:{resolver.world.table(target_path).facts.definitions[target].qualified_name}"
        for _, (target_path, target), _, _ in resolver.call_sites(path)
    }


@pytest.mark.parametrize(
    ("specifier", "target"),
    [
        ("./lib", "src/lib.ts"),
        ("./lib.js", "src/lib.ts"),
        ("./view.jsx", "src/view.tsx"),
        ("./deep", "src/deep/index.ts"),
        ("./deep/index.js", "src/deep/index.ts"),
        ("..", "index.ts"),
        ("../other.mjs", "other.mts"),
        ("./types", "src/types.d.ts"),
        ("./lib?raw", "src/lib.ts"),
    ],
)
def test_relative_imports_find_files_by_extension_and_index(specifier: str, target: str) -> None:
    sources = {"src/lib.ts", "src/view.tsx", "src/deep/index.ts", "index.ts", "other.mts", "src/types.d.ts"}
    files = dict.fromkeys(sources, "export function f() {}")
    files["src/main.ts"] = f"import {{ f }} from '{specifier}'; f();"
    assert calls(resolved(files), "src/main.ts") == {f"{target}:f"}


@pytest.mark.parametrize("specifier", ["./gone", "../../outside", "lodash", "@scope/none", "#none", "./data.json"])
def test_an_import_that_leads_to_no_file_is_external(specifier: str) -> None:
    files = {"src/main.ts": f"import {{ f }} from '{specifier}'; f();", "other.ts": "export function f() {}"}
    resolver = resolved(files)
    assert calls(resolver, "src/main.ts") == set()
    graph = Resolver().update({path: parse(path, text.encode()) for path, text in files.items()}).graphs["src/main.ts"]
    assert graph.unresolved == ()


def test_a_workspace_package_is_found_by_its_manifest() -> None:
    files = {
        "packages/a/package.json": '{"name": "@w/a", "exports": {".": "./dist/main.js", "./sub/*": "./lib/*.js"}}',
        "packages/a/src/main.ts": "export function main() {}",
        "packages/a/lib/x.js": "export function x() {}",
        "packages/b/package.json": '{"name": "b", "main": "entry.js", "imports": {"#in": "./inner.js"}}',
        "packages/b/entry.js": "import { f } from '#in'; export function entry() { f(); }",
        "packages/b/inner.js": "export function f() {}",
        "app.ts": "import { main } from '@w/a'; import { x } from '@w/a/sub/x'; import { entry } from 'b';"
        "main(); x(); entry();",
    }
    resolver = resolved(files)
    assert calls(resolver, "app.ts") == {
        "packages/a/src/main.ts:main", "packages/a/lib/x.js:x", "packages/b/entry.js:entry",
    }  # fmt: skip
    assert calls(resolver, "packages/b/entry.js") == {"packages/b/inner.js:f"}


def test_a_change_of_the_configuration_moves_the_calls() -> None:
    files = {
        "tsconfig.json": '{"compilerOptions": {"paths": {"lib": ["./one.ts"]}}}',
        "one.ts": "export function f() {}",
        "two.ts": "export function f() {}",
        "main.ts": "import { f } from 'lib'; f();",
    }
    resolver = resolved(files)
    assert calls(resolver, "main.ts") == {"one.ts:f"}
    changed = '{"compilerOptions": {"paths": {"lib": ["./two.ts"]}}} // moved'
    delta = resolver.update({"tsconfig.json": parse("tsconfig.json", changed.encode())})
    assert "main.ts" in delta.graphs
    assert calls(resolver, "main.ts") == {"two.ts:f"}


def test_barrels_that_import_one_another_end() -> None:
    files = {
        "a.ts": "export * from './b'; export { g } from './b';",
        "b.ts": "export * from './a'; export { g } from './a'; export function f() {}",
        "main.ts": "import { f, g, h } from './a'; f(); g(); h();",
    }
    assert calls(resolved(files), "main.ts") == {"b.ts:f"}


@pytest.mark.parametrize(
    "source",
    [
        "let x = {}; x = { ...x, a: x }; x.a.b.c();",
        "let l = []; l = [...l]; for (const f of l) f();",
        "class A {} Object.assign(A.prototype, A.prototype); new A().m();",
        "class A extends B {} class B extends A {} new A().m(); super.x();",
        "function f() { return f; } f()()()(); const g = () => g; g()().h();",
        "type A = B; type B = A; type C<T> = C<T[]>; let a: A, c: C<A>; a.m(); c[0].n();",
        "interface I extends I { m(): this } let i: I; i.m().m().m();",
        "const o = { get a() { return this.a; } }; o.a.a();",
        "C.prototype = C.prototype; function C() { this.c = new C().c; } new C().c();",
        "a.b = a; a.b.b = a.b; a.b.b.b(); x[x] = x; x[x]();",
        "export * from './main'; import * as m from './main'; m.m.m(); export { m };",
        "const f = f; f(); var { g } = g; g(); for (const h of h) h();",
    ],
)
def test_definitions_that_refer_to_themselves_end(source: str) -> None:
    graph = Resolver().update({"main.ts": parse("main.ts", source.encode())}).graphs["main.ts"]
    assert all(edge.source for edge in graph.edges)


def test_a_long_chain_of_calls_stays_inside_the_stack() -> None:
    source = "class B { add() { return this; } }\nnew B()" + ".add()" * 300 + ";\n" + "x" + ".y" * 3000 + "();"
    graph = Resolver().update({"main.ts": parse("main.ts", source.encode())}).graphs["main.ts"]
    assert any(edge.kind is EdgeKind.CALLS for edge in graph.edges)


STATEMENTS = (
    "import { run, Store } from './b';",
    "import Whole, * as all from './b';",
    "import { run as other } from 'lib';",
    "export * from './b';",
    "export { run as save } from './c';",
    "export function run(cb) { cb(); return Store; }",
    "export function save(cb: Store) { cb.load(); return run(cb); }",
    "export class Store { item = new Base(); load() { this.item.load(); return this; } }",
    "export class Store extends Base { constructor(private base: Base) { super(); } load() { this.base.load(); } }",
    "export class Base { load(): Store { return save(); } static make() { return new this(); } }",
    "export interface Base { load(): void; run: (s: Store) => void }",
    "export type Store = { load(): Base };",
    "export default class Base { load() {} }",
    "export const table = { run, save() { this.run(); }, deep: { load: () => run(save) } };",
    "table.deep.load(); table.save();",
    "function Store() { this.load = run; } Store.prototype.save = function () { this.load(); };",
    "module.exports = { run, save: () => run() };",
    "exports.run = (x) => x.load();",
    "const lib = require('./c'); lib.run(); lib.save().load();",
    "run(save); save(new Store()); new Store().load().load();",
    "const handler: (s: Store) => void = (s) => s.load(); handler(null);",
    "all.run(); all.Store.make().load(); Whole.load();",
    "Object.assign(Store.prototype, table); new Store().run();",
    "for (const f of [run, save]) f(); for (const s of new Store()) s.load();",
    "run({ done: save }); export function done(o) { o.done(); }",
    "globalThing(); unknown.load(); console.log(run);",
    "const [one, ...rest] = [run, save]; one(); rest[0]();",
    "namespace Space { export function run() { save(); } } Space.run();",
)  # fmt: skip
CONFIGS = (
    '{"compilerOptions": {"paths": {"lib": ["./a.ts"]}}}',
    '{"compilerOptions": {"baseUrl": ".", "paths": {"lib": ["c"]}}}',
    "{broken",
)
bodies = st.lists(st.sampled_from(STATEMENTS), max_size=5).map("\n".join)
edits = st.lists(
    st.one_of(
        st.tuples(st.sampled_from(("a.ts", "b.ts", "c.ts", "d.js")), st.one_of(st.none(), bodies, bodies, bodies)),
        st.tuples(st.just("tsconfig.json"), st.sampled_from((None, *CONFIGS))),
    ),
    min_size=2,
    max_size=6,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(edits=edits)
def test_after_any_edits_the_graph_equals_a_fresh_one(edits: list[tuple[str, str | None]]) -> None:
    resolver, graphs, texts = Resolver(), dict[str, FileGraph](), dict[str, bytes]()
    for path, text in edits:
        if text is None:
            texts.pop(path, None)
            graphs.pop(path, None)
            delta = resolver.update({}, [path])
        else:
            texts[path] = text.encode()
            delta = resolver.update({path: parse(path, texts[path])})
        graphs.update(delta.graphs)
    fresh = Resolver().update({name: parse(name, text) for name, text in texts.items()}).graphs
    assert {name: visible(graph) for name, graph in graphs.items()} == {
        name: visible(graph) for name, graph in fresh.items()
    }


def visible(graph: FileGraph) -> tuple[object, ...]:
    return graph.nodes, graph.edges, graph.unresolved
