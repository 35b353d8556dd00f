"""After any sequence of edits the graph equals a fresh one: random small projects in several languages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxsearch.graph.facts import encode_facts
from ctxsearch.graph.records import FileGraph
from ctxsearch.graph.resolve.resolver import Resolver
from ctxsearch.indexer.parse import parse

MODULES = ("alpha", "beta", "gamma")
NAMES = ("run", "load", "save")
CLASSES = ("Base", "Store")


@dataclass(frozen=True)
class Function:
    """A function or method that returns, calls and passes on things by name."""

    name: str
    calls: tuple[str, ...]
    passes: str
    returns: str
    param: str


@dataclass(frozen=True)
class File:
    """What a random file contains, before a language gives it a form."""

    imports: tuple[tuple[str, str], ...]  # module, name
    functions: tuple[Function, ...]
    classes: tuple[tuple[str, str, tuple[Function, ...]], ...]  # name, base, methods


def python(file: File) -> str:
    lines = [f"from {module} import {name}" for module, name in file.imports]
    for function in file.functions:
        lines += _python_function(function, "", "")
    for name, base, methods in file.classes:
        lines.append(f"class {name}({base}):" if base else f"class {name}:")
        lines.append("    kind = 1")
        for method in methods:
            lines += _python_function(method, "    ", "self, ")
        lines += [f"{name}.hook = {method.returns}" for method in methods]
    return "\n".join([*lines, ""])


def _python_function(function: Function, indent: str, receiver: str) -> list[str]:
    body = [f"{call}()" for call in function.calls]
    body += [f"{function.param}()", f"{function.passes}({function.returns})", f"item = {function.returns}()"]
    body += [f"item.{function.name}()", f"self.made = {function.returns}()" if receiver else "pass"]
    body += [f"self.made.{function.name}()" if receiver else "pass"]
    if receiver:
        body += ["self.hook()", "self.made = None", "self.held = {}", f"self.held[1].append({function.returns}())"]
        body += [f"for one in self.held[2]: one.{function.name}()"]
    body += [f"isinstance({function.param}, {function.returns}) and {function.param}.{function.name}()"]
    body += [f"with {function.passes}() as entered: entered.{function.name}()"]
    body += ["items = []", f"items.append({function.returns}())", f"{function.passes}(*[item], items)"]
    body += [f"for one in {function.param}: one.{function.name}()", f"for one in {function.passes}(): one.run()"]
    body += ["if items: return items", f"return {function.returns}"]
    return [f"{indent}def {function.name}({receiver}{function.param}):", *(f"{indent}    {line}" for line in body)]


def javascript(file: File) -> str:
    lines = [f"import {{ {name} }} from './{module}'" for module, name in file.imports]
    lines += [f"export function {f.name}({f.param}) {{ {_javascript_body(f)} }}" for f in file.functions]
    for name, base, methods in file.classes:
        parts = [f"{method.name}({method.param}) {{ {_javascript_body(method)} }}" for method in methods]
        lines.append(f"export class {name} {f'extends {base} ' if base else ''}{{ {' '.join(parts)} }}")
    return "\n".join([*lines, ""])


def _javascript_body(function: Function) -> str:
    calls = "; ".join(f"{call}()" for call in function.calls)
    return (
        f"{calls}; {function.param}(); {function.passes}({function.returns}); const item = new {function.returns}(); "
        f"item.{function.name}(); return {function.returns}"
    )


def go(file: File) -> str:
    lines = ["package p"]
    lines += [f"const limit_{f.name} = 1" for f in file.functions]
    lines += [f"func {f.name}({f.param} func()) {{ {_go_body(f)} }}" for f in file.functions]
    for name, base, methods in file.classes:
        lines.append(f"type {name} struct {{ {base if base != name else ''} }}")
        lines += [f"func (s *{name}) {m.name}({m.param} func()) {{ {_go_body(m)} }}" for m in methods]
    return "\n".join([*lines, ""])


def _go_body(function: Function) -> str:
    calls = "; ".join(f"{call}()" for call in function.calls)
    read = f"if limit_{function.returns} > 1 {{ limit_{function.param} := limit_{function.passes} }}"
    made = f"x := Store{{}}; x.{function.name}()"
    return f"{calls}; {function.param}(); {function.passes}({function.returns}); {read}; {made}"


def rust(file: File) -> str:
    lines = [f"mod {module};" for module in sorted({module for module, _ in file.imports})]
    lines += [f"use {module}::{name};" for module, name in file.imports]
    lines += [f"use {module}::*;" for module, name in file.imports if name == "run"]
    for f in file.functions:
        lines += [
            f"pub const LIMIT_{f.name.upper()}: u8 = 1;",
            f"pub fn {f.name}({f.param}: Store) {{ {_rust_body(f)} }}",
        ]
    for name, base, methods in file.classes:
        body = "{ Run, Load }" if name == "Base" else "{ inner: Base }"
        lines.append(f"pub {'enum' if name == 'Base' else 'struct'} {name} {body}")
        parts = [f"pub const {m.name.upper()}: u8 = 2; fn {m.name}(&self) {{ {_rust_body(m)} }}" for m in methods]
        lines.append(f"impl {name} {{ {' '.join(parts)} }}")
        if base == "Base" and name == "Store":
            lines.append("impl Deref for Store { type Target = Base; fn deref(&self) -> &Base { &self.inner } }")
    return "\n".join([*lines, ""])


def _rust_body(function: Function) -> str:
    calls = " ".join(f"{call}();" for call in function.calls)
    reads = f"LIMIT_{function.returns.upper()}; Base::{function.passes.upper()}; Base::{function.name.capitalize()};"
    return f"{calls} {reads} {function.param}.{function.name}(); Store {{ inner: 1 }}.{function.passes}();"


def java(file: File) -> str:
    lines = ["package p;"]
    for name, base, methods in file.classes:
        parts = [
            f"Store {m.name}(Base {m.param}) {{ {m.param}.{m.name}(null); new {m.returns}(); {m.passes}({m.param}); "
            f"{' '.join(f'{call}(null);' for call in m.calls)} return null; }}"
            for m in methods
        ]
        lines.append(f"class {name} {f'extends {base} ' if base and base != name else ''}{{ {' '.join(parts)} }}")
    return "\n".join([*lines, ""])


def php(file: File) -> str:
    lines = ["<?php", "namespace App;"]
    lines += [f"use function Lib\\{module}\\{name};" for module, name in file.imports if name in NAMES]
    lines += [f"function {f.name}(${f.param}) {{ {_php_body(f)} }}" for f in file.functions]
    for name, base, methods in file.classes:
        parts = [f"function {m.name}(${m.param}) {{ $this->made = new {m.returns}; {_php_body(m)} }}" for m in methods]
        lines.append(f"class {name} {f'extends {base} ' if base else ''}{{ private $made; {' '.join(parts)} }}")
    return "\n".join([*lines, ""])


def _php_body(function: Function) -> str:
    calls = " ".join(f"{call}();" for call in function.calls)
    return (
        f"{calls} ${function.param}(); {function.passes}({function.returns}::class); $item = new {function.returns}; "
        f"$item->{function.name}($item); $this->made->{function.name}(1); ${function.param}->{function.name}(2); "
        f"return $item;"
    )


def ruby(file: File) -> str:
    lines = [f"require_relative '{module}'" for module, _ in file.imports]
    for function in file.functions:
        lines += _ruby_method(function, "", "")
    for name, base, methods in file.classes:
        lines.append(f"class {name} < {base}" if base else f"class {name}")
        for method in methods:
            lines += _ruby_method(method, "  ", "self." if method.param == "run" else "")
        lines.append("end")
    return "\n".join([*lines, ""])


def _ruby_method(function: Function, indent: str, owner: str) -> list[str]:
    body = [f"{call}" if call in NAMES else f"{call}.new" for call in function.calls]
    body += [f"{function.param}.{function.name}", f"{function.passes}({function.returns})", f"@made = {CLASSES[0]}.new"]
    body += [f"item = {CLASSES[1]}.new", f"item.{function.name}", f"@made.{function.name}(1)", "item"]
    head = f"{indent}def {owner}{function.name}({function.param})"
    return [head, *(f"{indent}  {line}" for line in body), f"{indent}end"]


def lua(file: File) -> str:
    lines = [f'local {name} = require("{module}")' for module, name in file.imports]
    lines += [f"function {f.name}({f.param}) {_lua_body(f)} end" for f in file.functions]
    for name, base, methods in file.classes:
        lines.append(f"local {name} = {base or '{}'}")
        lines += [f"function {name}:{m.name}({m.param}) {_lua_body(m)} self:{m.name}() end" for m in methods]
    return "\n".join([*lines, ""])


def _lua_body(function: Function) -> str:
    calls = " ".join(f"{call}();" for call in function.calls)
    return f"{calls} {function.param}(); {function.passes}({function.returns}); {function.returns}.{function.name}();"


def scala(file: File) -> str:
    lines = [f"import {module}.{name}" for module, name in file.imports]
    lines.append(f"object Tools {{ {' '.join(_scala_method(f) for f in file.functions)} }}")
    for name, base, methods in file.classes:
        parent = f" extends {base}" if base and base != name else ""
        lines.append(f"class {name}{parent} {{ {' '.join(_scala_method(m) for m in methods)} }}")
    return "\n".join([*lines, ""])


def _scala_method(function: Function) -> str:
    calls = "; ".join(f"{call}(1)" for call in function.calls)
    body = f"{calls}; {function.param}.{function.name}(1); {function.passes}(1); val item = new {function.returns}(1)"
    return f"def {function.name}({function.param}: Store): Base = {{ {body}; item.{function.name}(1) }};"


LANGUAGES: dict[str, tuple[str, Callable[[File], str]]] = {
    "python": (".py", python),
    "javascript": (".js", javascript),
    "typescript": (".ts", javascript),
    "go": (".go", go),
    "java": (".java", java),
    "lua": (".lua", lua),
    "scala": (".scala", scala),
    "php": (".php", php),
    "ruby": (".rb", ruby),
    "rust": (".rs", rust),
}

symbols = st.sampled_from((*NAMES, *CLASSES))
functions = st.builds(
    Function,
    name=st.sampled_from(NAMES),
    calls=st.lists(symbols, max_size=2).map(tuple),
    passes=st.sampled_from(NAMES),
    returns=symbols,
    param=st.sampled_from(("callback", "run")),
)
files = st.builds(
    File,
    imports=st.lists(st.tuples(st.sampled_from(MODULES), symbols), max_size=3).map(tuple),
    functions=st.lists(functions, max_size=3).map(tuple),
    classes=st.lists(
        st.tuples(
            st.sampled_from(CLASSES), st.sampled_from(("", *CLASSES)), st.lists(functions, max_size=2).map(tuple)
        ),
        max_size=2,
    ).map(tuple),
)
edits = st.lists(st.tuples(st.sampled_from(MODULES), st.one_of(st.none(), files)), min_size=2, max_size=5)


def normal(graph: FileGraph) -> tuple[object, ...]:
    """All that is visible of a file's graph; `reads` is the resolver's own note."""
    return graph.nodes, graph.edges, graph.unresolved


@pytest.mark.parametrize("language", sorted(LANGUAGES))
@settings(max_examples=60)
@given(edits=edits)
def test_incremental_equals_from_scratch(language: str, edits: list[tuple[str, File | None]]) -> None:
    suffix, render = LANGUAGES[language]
    resolver, graphs, texts = Resolver(), dict[str, FileGraph](), dict[str, bytes]()
    shared: object = None
    for module, file in edits:
        path = f"{module}{suffix}"
        if file is None:
            texts.pop(path, None)
            delta = resolver.update({}, [path])
            graphs.pop(path, None)
        else:
            texts[path] = render(file).encode()
            delta = resolver.update({path: parse(path, texts[path])})
        graphs.update(delta.graphs)
        shared = delta.shared or shared
        fresh = Resolver().update({name: parse(name, text) for name, text in texts.items()})
        assert {name: normal(graph) for name, graph in graphs.items()} == {
            name: normal(graph) for name, graph in fresh.graphs.items()
        }
        assert shared == fresh.shared


@settings(max_examples=25)
@given(edits=edits)
def test_a_restored_resolver_goes_on_where_the_first_stopped(edits: list[tuple[str, File | None]]) -> None:
    texts = {f"{module}.py": python(file).encode() for module, file in edits if file is not None}
    first = Resolver()
    graphs = dict(first.update({name: parse(name, text) for name, text in texts.items()}).graphs)
    second = Resolver(fetch=lambda name: encode_facts(parse(name, texts[name])))
    for name in texts:
        second.restore(name, graphs[name].reads)
    change = {"alpha.py": parse("alpha.py", b"def run():\n    return Store\n")}
    expected, got = first.update(change), second.update(change)
    assert {name: normal(graph) for name, graph in expected.graphs.items()}.items() <= {
        name: normal(graph) for name, graph in got.graphs.items()
    }.items()


@settings(max_examples=40)
@given(edits=edits, named=st.lists(st.sampled_from(("Base", "Store.load", "alpha.save", "beta.py")), max_size=4))
def test_what_a_document_names_follows_every_edit(edits: list[tuple[str, File | None]], named: list[str]) -> None:
    texts = {"README.md": "\n".join(["# Guide", *(f"`{name}`" for name in named)]).encode()}
    resolver = Resolver()
    graphs = dict(resolver.update({name: parse(name, text) for name, text in texts.items()}).graphs)
    for module, file in edits:
        path = f"{module}.py"
        if file is None:
            texts.pop(path, None)
            graphs.update(resolver.update({}, [path]).graphs)
            graphs.pop(path, None)
        else:
            texts[path] = python(file).encode()
            graphs.update(resolver.update({path: parse(path, texts[path])}).graphs)
        fresh = Resolver().update({name: parse(name, text) for name, text in texts.items()})
        assert normal(graphs["README.md"]) == normal(fresh.graphs["README.md"])
