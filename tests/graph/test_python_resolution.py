"""Python resolution: single rules in memory, and the interpreter's own library as a corpus."""

from __future__ import annotations

import sysconfig
from pathlib import Path

import pytest

from ctxsearch.graph.model import EdgeKind
from ctxsearch.graph.records import FileGraph
from ctxsearch.graph.resolve.resolver import Resolver
from ctxsearch.indexer.parse import parse

PACKAGES = ("json", "logging", "concurrent", "importlib")


def resolve(files: dict[str, str]) -> dict[str, FileGraph]:
    return dict(Resolver().update({path: parse(path, text.encode()) for path, text in files.items()}).graphs)


def called(files: dict[str, str], path: str = "main.py") -> set[str]:
    """Qualified names of what a file calls in its own repository."""
    graphs = resolve(files)
    nodes = {record.node.id: record.node for graph in graphs.values() for record in graph.nodes}
    return {
        nodes[edge.target].qualified_name
        for edge in graphs[path].edges
        if edge.kind is EdgeKind.CALLS and edge.target in nodes
    }


@pytest.mark.parametrize(
    "statement",
    [
        "x = {**x}",
        "x = [*x]",
        "x = [x for x in x]",
        "x = x[0]",
        "x = x.y",
        "x = x()",
        "x: 'x' = x",
        "def x(): return x()",
        "def x(): yield from x()",
        "class x(x): pass",
        "class x:\n    def __iter__(self): return x()\n    def __next__(self): return self\nfor y in x(): y()",
        "class A(B): pass\nclass B(A):\n    def f(self): self.g()",
        "from main import *\nfrom main import x\nx()",
        "@x\ndef x(): pass",
        "x = lambda x=x: x(x)\nx(x)",
        "def f(g): return g(g)\nf(f)",
        "x = list(x)",
        "x.x = x",
        "x[x] = x",
    ],
)
def test_what_refers_to_itself_ends(statement: str) -> None:
    assert "main.py" in resolve({"main.py": f"{statement}\nx()\nx.y()\nx[0]()\nfor z in x: z()\n"})


def test_a_built_in_that_a_module_replaces_is_still_read_before() -> None:
    assert called({"main.py": "str = str\nclass A:\n    def lower(self): pass\nstr(1).lower()\n"}) == set()


def test_a_package_inside_a_package_is_no_top_level_module() -> None:
    files = {
        "app/__init__.py": "",
        "app/vendor/__init__.py": "",
        "app/vendor/requests/__init__.py": "def get(): pass\n",
        "main.py": "import requests\nrequests.get()\n",
    }
    assert called(files) == set()


def test_tests_do_not_make_a_name_ambiguous() -> None:
    files = {
        "app.py": "class A:\n    def compute_total(self): pass\n",
        "tests/test_app.py": "class Fake:\n    def compute_total(self): pass\n",
        "main.py": "import app\ndef f(x):\n    x.compute_total()\n",
    }
    assert called(files) == {"app.A.compute_total"}


def test_what_a_test_passes_in_is_not_called_by_the_library() -> None:
    files = {
        "main.py": "def run(callback):\n    callback()\n",
        "tests/test_main.py": "from main import run\ndef fake(): pass\ndef test_it():\n    run(fake)\n",
    }
    assert called(files) == set()


def test_a_function_called_as_a_parameter_receives_what_it_is_called_with() -> None:
    source = "def inner(): pass\ndef middle(f):\n    f()\ndef outer(g):\n    g(inner)\nouter(middle)\n"
    assert called({"main.py": source}) == {"main.inner", "main.middle", "main.outer"}


def test_a_sample_of_the_standard_library_passes_through_the_graph() -> None:
    root = Path(sysconfig.get_paths()["stdlib"])
    files = sorted(path for package in PACKAGES for path in (root / package).rglob("*.py"))
    files += sorted(root.glob("*.py"))[::16]
    facts = {}
    for path in files:
        name = path.relative_to(root).as_posix()
        facts[name] = parse(name, path.read_bytes())
    graphs = Resolver().update(facts).graphs
    assert set(graphs) == set(facts)
    calls = sum(len(edge.lines) for graph in graphs.values() for edge in graph.edges if edge.kind is EdgeKind.CALLS)
    unresolved = sum(len(item.lines) for graph in graphs.values() for item in graph.unresolved)
    assert calls > 1500
    assert unresolved < calls / 2


def test_a_package_installed_under_another_name_is_found_through_pyproject() -> None:
    files = {
        "pyproject.toml": '[tool.setuptools.package-dir]\n"brand.graph" = "graph"\n',
        "graph/__init__.py": "",
        "graph/model.py": "def make():\n    pass\n",
        "main.py": "from brand.graph.model import make\nfrom brand.graph import model\n\nmake()\nmodel.make()\n",
    }
    assert called(files) == {"graph.model.make"}


ENTERED = """
import contextlib, io
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, closing, contextmanager, nullcontext
from typing import AsyncGenerator, ContextManager, Generator, Iterator, Self, TypeVar
T = TypeVar("T")
class Other:
    def put(self): pass
"""
STORE = "class Store{base}:\n    def put(self): pass\n"


@pytest.mark.parametrize("base", ["(AbstractContextManager)", "(ContextManager['Store'])", "(io.StringIO)"])
def test_an_instance_enters_as_itself_where_its_library_parent_says_so(base: str) -> None:
    source = f"{ENTERED}{STORE.format(base=base)}with Store() as s:\n    s.put()\n"
    assert "main.Store.put" in called({"main.py": source})


@pytest.mark.parametrize("base", ["", "(object)", "(somewhere.Base)", "(contextlib.suppress)"])
def test_what_enters_as_nobody_knows_what_calls_nothing(base: str) -> None:
    source = f"{ENTERED}import somewhere\n{STORE.format(base=base)}with Store() as s:\n    s.put()\n"
    assert called({"main.py": source}) == {"main.Store"}


@pytest.mark.parametrize(
    "result", ["", " -> Iterator[Store]", " -> Generator[Store]", " -> Generator[Store, None, None]"]
)
def test_a_generator_as_context_gives_what_it_yields(result: str) -> None:
    opened = f"@contextmanager\ndef opened(){result}:\n    yield Store()\nwith opened() as s:\n    s.put()\n"
    assert "main.Store.put" in called({"main.py": ENTERED + STORE.format(base="") + opened})


@pytest.mark.parametrize(
    "code",
    [
        "def opened() -> ContextManager[Store, None]: ...\nwith opened() as s:\n    s.put()\n",
        "with closing(Store()) as s:\n    s.put()\n",
        "with nullcontext(Store()) as s:\n    s.put()\n",
        (
            "@contextmanager\ndef opened():\n    yield Store()\nwith ExitStack() as all:\n"
            "    s = all.enter_context(opened())\n    s.put()\n"
        ),
        (
            "@asynccontextmanager\nasync def opened() -> AsyncGenerator[Store, None]:\n    yield Store()\n"
            "async def f():\n    async with opened() as s:\n        s.put()\n"
        ),
        "class Sub(Store):\n    def __enter__(self) -> Self: ...\nwith Sub() as s:\n    s.put()\n",
        "class Sub(Store):\n    def __enter__(self: T) -> T:\n        return self\nwith Sub() as s:\n    s.put()\n",
    ],
)
def test_contexts_of_the_library_give_what_they_are_given(code: str) -> None:
    assert "main.Store.put" in called({"main.py": ENTERED + STORE.format(base="") + code})


def test_a_field_that_a_subclass_clears_is_what_its_ancestors_keep() -> None:
    source = (
        "class Soup:\n    def data(self): pass\nclass Other:\n    def data(self): pass\n"
        "class Builder:\n    def start(self, soup: Soup):\n        self.soup = soup\n    def stop(self): pass\n"
        "class Quick(Builder):\n    stop = None\n    def __init__(self):\n        self.soup = None\n"
        "    def feed(self):\n        self.soup.data()\n        self.stop()\n"
    )
    assert called({"main.py": source}) == {"main.Soup.data"}


def test_an_attribute_set_on_the_class_counts_beside_what_its_body_says() -> None:
    source = (
        "class Parser:\n    literal = None\n    def plain(self): pass\n    def cached(self): pass\n    parse = plain\n"
        "    @classmethod\n    def speed_up(cls):\n        Parser.parse = Parser.cached\n"
        "    def run(self):\n        self.parse()\n        self.literal()\n"
        "class Literal(Parser):\n    def __init__(self): pass\nParser.literal = Literal\n"
    )
    assert called({"main.py": source}) == {"main.Parser.plain", "main.Parser.cached", "main.Literal.__init__"}


@pytest.mark.parametrize(
    ("put", "read"),
    [
        ("self.held[key].append(go)", "for f in self.held[key]: f()"),
        ("self.held.setdefault(key, []).append(go)", "for f in self.held.get(key, ()): f()"),
        ("self.held[key].extend([go])", "for fs in self.held.values():\n            for f in fs: f()"),
        ("self.held[key]['x'] = go", "self.held[key]['x']()"),
    ],
)
def test_what_containers_inside_a_container_hold_is_called(put: str, read: str) -> None:
    source = (
        "from collections import defaultdict\ndef go(): pass\nclass R:\n    def __init__(self):\n"
        f"        self.held = defaultdict(list)\n        self.other = {{}}\n    def on(self, key):\n        {put}\n"
        f"    def fire(self, key):\n        {read}\n        self.other[key]()\n"
    )
    assert called({"main.py": source}) == {"main.go"}


KINDS = "".join(f"class {name}:\n    def go(self): pass\n" for name in ("A", "B", "C"))


@pytest.mark.parametrize(
    ("expression", "meant"),
    [
        ("isinstance(x, A) and x.go()", {"main.A.go"}),
        ("not x or (x and isinstance(x, A) and not x.go())", {"main.A.go"}),
        ("x.go() if isinstance(x, (A, B)) else None", {"main.A.go", "main.B.go"}),
        ("[y.go() for y in x if isinstance(y, A)]", {"main.A.go"}),
        ("None if isinstance(x, A) else x.go()", set()),
        ("isinstance(x, A) or x.go()", set()),
        ("(isinstance(x, A) and x.size, x.go())", set()),
    ],
)
def test_a_type_test_inside_an_expression_tells_what_is_called(expression: str, meant: set[str]) -> None:
    assert called({"main.py": f"{KINDS}def f(x):\n    return {expression}\n"}) == meant


def test_the_function_for_all_others_is_called_where_getattr_finds_nothing() -> None:
    source = (
        "class Visitor:\n    def visit(self, node):\n        method = getattr(self, 'visit_' + node, self.generic)\n"
        "        return method(node)\n    def generic(self, node): pass\n"
    )
    assert called({"main.py": source}) == {"main.Visitor.generic"}


def test_a_function_that_decorates_in_its_class_body_has_no_instance_but_its_wrapper_has() -> None:
    source = (
        "class V:\n    def noted(method):\n        def run(self, node):\n            method(self, node)\n"
        "            self.note()\n        return run\n    @noted\n    def visit(self, node): pass\n"
        "    def note(self): pass\n"
        "class W:\n    def note(self): pass\n"
    )
    graphs = resolve({"main.py": source})
    nodes = {record.node.id: record.node.qualified_name for record in graphs["main.py"].nodes}
    calls = {
        (nodes[edge.source], nodes[edge.target])
        for edge in graphs["main.py"].edges
        if edge.kind is EdgeKind.CALLS and edge.target in nodes
    }
    assert {("main.V.noted.run", "main.V.visit"), ("main.V.noted.run", "main.V.note")} <= calls
    assert not any(target == "main.W.note" for _, target in calls)


def test_async_for_runs_the_asynchronous_iterator() -> None:
    source = (
        "class Part:\n    def send(self): pass\nclass Other:\n    def send(self): pass\n"
        "class Reply:\n    def __iter__(self):\n        return iter([Other()])\n"
        "    def __aiter__(self):\n        return self\n    async def __anext__(self):\n        return Part()\n"
        "class Plain:\n    def __iter__(self):\n        return iter([Other()])\n"
        "async def f(reply: Reply, plain: Plain):\n    async for part in reply:\n        part.send()\n"
        "    async for part in plain:\n        part.send()\n"
        "    return [part.send() async for part in plain]\n"
    )
    found = called({"main.py": source})
    assert {"main.Reply.__aiter__", "main.Reply.__anext__", "main.Part.send"} <= found
    assert found.isdisjoint({"main.Reply.__iter__", "main.Plain.__iter__", "main.Other.send"})
