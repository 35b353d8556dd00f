"""The resolver on small Python sources: edges, flow through parameters, and what a change touches."""

from __future__ import annotations

import msgspec

from ctxsearch.graph.facts import decode_facts, encode_facts
from ctxsearch.graph.model import EdgeKind, NodeFlag, NodeKind, node_id
from ctxsearch.graph.records import FileGraph
from ctxsearch.graph.resolve.evaluate import MAX_DISPATCH
from ctxsearch.graph.resolve.memo import MAX_FLOW
from ctxsearch.graph.resolve.resolver import Resolver
from ctxsearch.graph.resolve.world import entry_of, read_entry
from ctxsearch.indexer.parse import parse


def resolve(**files: str) -> Resolver:
    resolver = Resolver()
    resolver.update({path(name): parse(path(name), text.encode()) for name, text in files.items()})
    return resolver


def path(name: str) -> str:
    return f"{name}.py"


def calls(resolver: Resolver, name: str) -> set[tuple[str, str]]:
    found = set()
    table = resolver.world.table(path(name))
    for scope, (target_path, target), _, _ in resolver.call_sites(path(name)):
        caller = table.facts.definitions[scope].qualified_name if scope >= 0 else ""
        found.add((caller, resolver.world.table(target_path).facts.definitions[target].qualified_name))
    return found


def test_a_call_is_found_in_the_enclosing_scopes() -> None:
    resolver = resolve(a="def f():\n    pass\n\ndef g():\n    f()\n")
    assert calls(resolver, "a") == {("g", "f")}


def test_a_function_passed_as_argument_is_called_by_the_callee() -> None:
    resolver = resolve(a="def f():\n    pass\n\ndef g(callback):\n    callback()\n\ng(f)\n")
    assert calls(resolver, "a") == {("", "g"), ("g", "f")}


def test_a_returned_parameter_is_what_this_call_passes() -> None:
    resolver = resolve(a="def same(x):\n    return x\n\ndef f():\n    pass\n\nsame(f)()\n")
    assert calls(resolver, "a") == {("", "same"), ("", "f")}


def test_an_unknown_callee_is_kept_as_unresolved_with_its_lines() -> None:
    resolver = Resolver()
    graph = resolver.update({"a.py": parse("a.py", b"def g(x):\n    x.nothing_known()\n")}).graphs["a.py"]
    assert [(item.name, item.lines) for item in graph.unresolved] == [("x.nothing_known", (2,))]
    assert not [edge for edge in graph.edges if edge.kind is EdgeKind.CALLS]


def test_an_edit_of_a_body_resolves_only_its_own_file_again() -> None:
    files = {"a.py": b"def f():\n    return 1\n", "b.py": b"from a import f\n\ndef g():\n    f()\n"}
    resolver = Resolver()
    resolver.update({name: parse(name, text) for name, text in files.items()})
    delta = resolver.update({"a.py": parse("a.py", b"def f():\n    print(2)\n    return 1\n")})
    assert delta.resolved == 1


def test_node_ids_do_not_move_when_something_is_inserted_before() -> None:
    before = Resolver().update({"a.py": parse("a.py", b"def f():\n    pass\n")}).graphs["a.py"]
    after = Resolver().update({"a.py": parse("a.py", b"import os\n\ndef e():\n    pass\n\ndef f():\n    pass\n")})
    ids = {record.node.name: record.node.id for record in after.graphs["a.py"].nodes}
    assert {record.node.name: record.node.id for record in before.nodes}["f"] == ids["f"]
    assert len(node_id("a.py", before.nodes[0].node.kind, "a.py")) == 16


def test_what_a_function_of_another_file_returns_is_followed_through_its_module() -> None:
    files = {
        "a.py": b"def one(): pass\ndef two(): pass\nchosen = one\ndef f():\n    return chosen\n",
        "b.py": b"from a import f\nf()()\n",
    }
    resolver = Resolver()
    resolver.update({name: parse(name, text) for name, text in files.items()})
    assert calls(resolver, "b") == {("", "f"), ("", "one")}
    changed = files["a.py"].replace(b"chosen = one", b"chosen = two")
    assert "b.py" in resolver.update({"a.py": parse("a.py", changed)}).graphs
    assert calls(resolver, "b") == {("", "f"), ("", "two")}


def test_a_statement_that_moves_before_another_is_read_again() -> None:
    before = b"def one(): pass\ndef two(): pass\na = one\nb = a\na = two\n"
    after = b"def one(): pass\ndef two(): pass\na = one\na = two\nb = a\n"
    resolver = Resolver()
    resolver.update({"a.py": parse("a.py", before), "b.py": parse("b.py", b"from a import b\nb()\n")})
    assert calls(resolver, "b") == {("", "one")}
    assert "b.py" in resolver.update({"a.py": parse("a.py", after)}).graphs


def test_a_new_subclass_brings_the_callers_of_its_base_up_to_date() -> None:
    base = b"class Shape:\n    def area(self):\n        return 0\n"
    use = b"from base import Shape\n\ndef measure(shape: Shape):\n    shape.area()\n"
    override = b"from base import Shape\n\nclass Square(Shape):\n    def area(self):\n        return 1\n"
    resolver = Resolver()
    resolver.update({"base.py": parse("base.py", base), "use.py": parse("use.py", use)})

    added = resolver.update({"square.py": parse("square.py", override)}).graphs
    assert dispatched(added["use.py"]) == [(node_id("square.py", NodeKind.METHOD, "Square.area"), (4,))]

    removed = resolver.update({}, ["square.py"]).graphs
    assert dispatched(removed["use.py"]) == []


def test_a_method_with_more_overrides_than_say_something_dispatches_to_none() -> None:
    subclasses = "".join(f"class S{n}(Shape):\n    def area(self): pass\n" for n in range(MAX_DISPATCH + 1))
    source = f"class Shape:\n    def area(self): pass\n{subclasses}def measure(shape: Shape):\n    shape.area()\n"
    graph = Resolver().update({"a.py": parse("a.py", source.encode())}).graphs["a.py"]
    assert dispatched(graph) == []
    assert [edge.target for edge in graph.edges if edge.kind is EdgeKind.CALLS] == [
        node_id("a.py", NodeKind.METHOD, "Shape.area")
    ]


def dispatched(graph: FileGraph) -> list[tuple[str, tuple[int, ...]]]:
    return [(edge.target, edge.lines) for edge in graph.edges if edge.kind is EdgeKind.MAY_DISPATCH]


def restored(resolver: Resolver, graphs: dict[str, FileGraph], texts: dict[str, bytes], fetched: list[str]) -> Resolver:
    """A resolver that has no facts at hand, and notes which it fetches."""

    def fetch(name: str) -> bytes:
        fetched.append(name)
        return encode_facts(parse(name, texts[name]))

    again = Resolver(fetch=fetch)
    for name in resolver.world.paths():
        again.restore(name, graphs[name].reads)
    return again


def test_what_everybody_passes_is_not_looked_up_one_by_one() -> None:
    texts = {"hub.py": b"def run(action):\n    action()\n"}
    for number in range(5 * MAX_FLOW):
        texts[f"user{number:03}.py"] = b"from hub import run\n\ndef own():\n    pass\n\nrun(own)\n"
    resolver = Resolver()
    graphs = dict(resolver.update({name: parse(name, text) for name, text in texts.items()}).graphs)
    fetched: list[str] = []
    again = restored(resolver, graphs, texts, fetched)
    edited = again.update({"hub.py": parse("hub.py", texts["hub.py"] + b"\n\ndef more():\n    pass\n")})
    assert [item.name for item in edited.graphs["hub.py"].unresolved] == ["action"]
    assert len(fetched) <= MAX_FLOW + 2


def test_a_file_with_nothing_left_for_the_second_phase_is_not_read_again() -> None:
    texts = {"a.py": b"def f():\n    pass\n", "b.py": b"from a import f\n\ndef g():\n    f()\n"}
    resolver = resolve(**{name.removesuffix(".py"): text.decode() for name, text in texts.items()})
    begun, _ = resolver.first_phase("b.py")
    resolver.world.tables.clear()
    graph = resolver.second_phase("b.py", begun)
    assert not resolver.world.tables
    assert graph.edges == begun.edges


def test_an_entry_is_the_same_read_from_bytes() -> None:
    for name, text in {
        "a.py": b"class A:\n    def f(self):\n        return lambda: 1\n\nX = 1\n",
        "tests/test_a.py": b"def test_a():\n    pass\n",
        "b/b.go": b"package b\n\nvar Shared = 1\n\nfunc F() {}\n",
        "C.java": b"package a.b;\nclass C { void f() { Runnable r = () -> {}; } }\n",
    }.items():
        encoded = encode_facts(parse(name, text))
        assert read_entry(encoded) == entry_of(decode_facts(encoded))


def test_combined_flags_are_one_object_however_they_come_about() -> None:
    both = NodeFlag.TEST | NodeFlag.ASYNC
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(both), type=NodeFlag) is both
    assert NodeFlag(257) == both
    assert both & NodeFlag.ASYNC is NodeFlag.ASYNC
