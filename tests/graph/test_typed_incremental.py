"""Incremental equals from scratch where typed languages look across files: packages, inferred results, partial
classes, extensions, type arguments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxsearch.graph.records import FileGraph
from ctxsearch.graph.resolve.resolver import Resolver
from ctxsearch.indexer.parse import parse

FILES = ("one", "sub/two", "three")
PACKAGES = ("p", "q")
TYPES = ("Base", "Store", "Box")
METHODS = ("run", "load")


@dataclass(frozen=True)
class Method:
    """A method that calls another on what its parameter's type gives."""

    name: str
    param: str
    result: str
    calls: str


@dataclass(frozen=True)
class Source:
    """What a random file contains, before a language gives it a form."""

    package: str
    imports: tuple[tuple[str, str], ...]
    classes: tuple[tuple[str, str, tuple[Method, ...]], ...]
    functions: tuple[Method, ...]


def java(source: Source) -> str:
    lines = [f"package {source.package};"]
    lines += [f"import {package}.{name};" for package, name in source.imports]
    for name, base, methods in source.classes:
        parts = [
            f"static {m.result} {m.name}({m.param} x) {{ var y = x.{m.calls}(null); y.{m.name}(null); "
            f"{m.calls}(x); new {m.result}(); each(z -> z.{m.calls}(null)); return null; }}"
            for m in methods
        ]
        parts += ["T held; void each(Fun<T> f) { held.run(null); }"]
        parts += [f"static final int {m.name.upper()} = {m.calls.upper()} + made;" for m in methods]
        parts += [f"protected int made; int used() {{ return {METHODS[0].upper()} > 1 ? made : kept; }}"]
        extends = f" extends {base}<Store>" if base and base != name else ""
        lines.append(f"class {name}<T extends Base>{extends} {{ {' '.join(parts)} }}")
    return "\n".join([*lines, "interface Fun<T> { void go(T t); }", ""])


def kotlin(source: Source) -> str:
    lines = [f"package {source.package}"]
    lines += [f"import {package}.{name}" for package, name in source.imports]
    for name, base, methods in source.classes:
        parts = [f"  fun {m.name}(x: {m.param}) = x.{m.calls}({m.result}())" for m in methods]
        extends = f" : {base}()" if base and base != name else ""
        lines += [
            f"open class {name}{extends} {{",
            *parts,
            "  val made = load(Store())",
            f"  fun used() = {METHODS[0]}s.toString() + {METHODS[1].upper()} + made",
            "  companion object {",
            *(f"    const val {m.name.upper()} = 1" for m in methods),
            "  }",
            "}",
        ]
    for f in source.functions:
        lines += [f"fun {f.param}.{f.name}(y: {f.result}) = y.{f.calls}(this)", f"val {f.name}s = {f.result}()"]
        lines += [f"fun {f.calls}(x: {f.param}) = x.let {{ it.{f.name}(x) }}"]
    return "\n".join([*lines, ""])


def csharp(source: Source) -> str:
    lines = [f"using {package};" for package, _ in source.imports]
    lines.append(f"namespace {source.package} {{")
    for name, base, methods in source.classes:
        parts = [
            f"public {m.result} {m.name}({m.param} x) {{ var y = x.{m.calls}(null); y.{m.name}(null); return new(); }}"
            for m in methods
        ]
        parts += [f"protected const int {m.name.upper()} = {m.calls.upper()};" for m in methods]
        parts += [f"int Used => {METHODS[0].upper()} + {METHODS[1].upper()};"]
        extends = f" : {base}" if base and base != name else ""
        lines.append(f"public partial class {name}{extends} {{ {' '.join(parts)} }}")
    for place, f in enumerate(source.functions):
        lines.append(f"static class E{place} {{ public static {f.result} {f.name}(this {f.param} x, int n) => null; ")
        lines.append(f"static void Use({f.result} r) {{ r.{f.name}(1).{f.calls}(2); }} }}")
    return "\n".join([*lines, "}", ""])


LANGUAGES: dict[str, tuple[str, Callable[[Source], str]]] = {
    "java": (".java", java),
    "kotlin": (".kt", kotlin),
    "csharp": (".cs", csharp),
}

types = st.sampled_from(TYPES)
names = st.sampled_from(METHODS)
methods = st.builds(Method, name=names, param=types, result=types, calls=names)
sources = st.builds(
    Source,
    package=st.sampled_from(PACKAGES),
    imports=st.lists(st.tuples(st.sampled_from(PACKAGES), st.sampled_from((*TYPES, *METHODS))), max_size=2).map(tuple),
    classes=st.lists(
        st.tuples(types, st.sampled_from(("", *TYPES)), st.lists(methods, max_size=2).map(tuple)), max_size=2
    ).map(tuple),
    functions=st.lists(methods, max_size=2).map(tuple),
)
edits = st.lists(st.tuples(st.sampled_from(FILES), st.one_of(st.none(), sources)), min_size=2, max_size=5)


def visible(graphs: dict[str, FileGraph]) -> dict[str, tuple[object, ...]]:
    return {path: (graph.nodes, graph.edges, graph.unresolved) for path, graph in graphs.items()}


@pytest.mark.parametrize("language", sorted(LANGUAGES))
@settings(max_examples=40)
@given(edits=edits)
def test_incremental_equals_from_scratch(language: str, edits: list[tuple[str, Source | None]]) -> None:
    suffix, render = LANGUAGES[language]
    resolver, graphs, texts = Resolver(), dict[str, FileGraph](), dict[str, bytes]()
    for stem, source in edits:
        path = f"{stem}{suffix}"
        if source is None:
            texts.pop(path, None)
            graphs.pop(path, None)
            graphs.update(resolver.update({}, [path]).graphs)
        else:
            texts[path] = render(source).encode()
            graphs.update(resolver.update({path: parse(path, texts[path])}).graphs)
        fresh = Resolver().update({name: parse(name, text) for name, text in texts.items()})
        assert visible(graphs) == visible(dict(fresh.graphs))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "global using Lib;\n"),
        ("global using Lib;\n", ""),
        ("global using S = Other.Thing;\n", "global using S = Lib.Thing;\n"),
    ],
)
def test_a_changed_global_using_is_seen_by_the_files_below_it(before: str, after: str) -> None:
    files = {
        "App/GlobalUsings.cs": before,
        "App/Main.cs": "namespace App;\nclass Main { void Run(Thing one, S two) { one.Go(); two.Go(); } }\n",
        "Lib.cs": "namespace Lib { public class Thing { public void Go() {} } }\n",
        "Other.cs": "namespace Other { public class Thing { public void Go() {} } }\n",
    }
    facts = {path: parse(path, text.encode()) for path, text in files.items()}
    resolver = Resolver()
    graphs = dict(resolver.update(facts).graphs)
    changed = {"App/GlobalUsings.cs": parse("App/GlobalUsings.cs", after.encode())}
    graphs.update(resolver.update(changed).graphs)
    assert graphs == dict(Resolver().update(facts | changed).graphs)
