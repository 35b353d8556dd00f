"""Golden graphs: every folder of fixtures/graph/<language>/ is a tiny repository with its expectations beside the code.

A comment line under a line of code says what that line's edges are, the caret points at the place for the reader:

    helper(1)
    # ^ calls: a.helper

`calls`, `may_dispatch`, `uses`, `extends`, `implements`, `overrides`, `decorates`, `imports` and `tests` name edge
kinds; targets are qualified names, separated by commas; `nothing` stands for none. Calls are complete: a line whose
calls lead to the repository's own code and has no marker fails. Of the other kinds only marked lines are compared.
`target/rule` also checks the rule that made the edge. Text after FIXME says what would be right where the golden
records what is wrong.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from ctxsearch.graph.model import EdgeKind, NodeKind, Rule
from ctxsearch.graph.resolve.resolver import Resolver
from ctxsearch.indexer.parse import parse

ROOT = Path(__file__).parents[2] / "fixtures" / "graph"
MARKER = re.compile(r"^\s*(?:#|//|--|;|%|/\*)\s*\^+\s*(?P<kind>\w+):\s*(?P<targets>.*?)\s*(?:\*/)?$")
COMPLETE = EdgeKind.CALLS

Edges = dict[tuple[str, int, EdgeKind], set[str]]  # (path, line, kind) -> qualified names of the targets


def folders() -> list[str]:
    return sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("*/*") if path.is_dir())


def read_sources(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def expected_edges(sources: dict[str, str]) -> Edges:
    """What the markers say. A marker belongs to the nearest line above it that is no marker."""
    found: Edges = {}
    for path, text in sources.items():
        code_line = 0
        for number, line in enumerate(text.splitlines(), 1):
            marker = MARKER.match(line)
            if marker is None:
                code_line = number
                continue
            kind = EdgeKind[marker["kind"].upper()]
            names = marker["targets"].partition("FIXME")[0]
            targets = {name.strip() for name in names.split(",")} - {"nothing", ""}
            found.setdefault((path, code_line, kind), set()).update(targets)
    return found


def actual_edges(sources: dict[str, str]) -> tuple[Edges, Edges]:
    """The graph's edges between symbols of the folder, by line: plain target names, and names with their rule."""
    resolver = Resolver()
    graphs = resolver.update({path: parse(path, text.encode()) for path, text in sources.items()}).graphs
    nodes = {record.node.id: record.node for graph in graphs.values() for record in graph.nodes}
    plain: Edges = defaultdict(set)
    ruled: Edges = defaultdict(set)
    for path, graph in graphs.items():
        for edge in graph.edges:
            target = nodes.get(edge.target)
            if target is None or target.kind is NodeKind.EXTERNAL:
                continue
            for line in edge.lines:
                plain[path, line, edge.kind].add(target.qualified_name)
                ruled[path, line, edge.kind].add(f"{target.qualified_name}/{edge.rule.name.lower()}")
    return plain, ruled


def target_of(name: str) -> str:
    """An expectation without its rule; names of files have slashes too."""
    target, _, rule = name.rpartition("/")
    return target if rule.upper() in Rule.__members__ else name


def difference(sources: dict[str, str]) -> list[str]:
    """What the graph has and the markers lack, and the other way round, as readable lines."""
    expected = expected_edges(sources)
    plain, ruled = actual_edges(sources)
    report = []
    for place in sorted(expected.keys() | {key for key in plain if key[2] is COMPLETE}):
        wanted = expected.get(place, set())
        names = {target_of(name) for name in wanted}
        got = plain.get(place, set())
        path, line, kind = place
        where = f"{path}:{line} {kind.name.lower()}"
        report += [f"{where}: missing {name}" for name in sorted(names - got)]
        report += [f"{where}: not expected {name}" for name in sorted(got - names)]
        with_rule = {name for name in wanted if target_of(name) != name and target_of(name) in got}
        report += [f"{where}: other rule than {name}" for name in sorted(with_rule - ruled.get(place, set()))]
    return report


@pytest.mark.parametrize("folder", folders())
def test_golden_graph(folder: str) -> None:
    sources = read_sources(ROOT / folder)
    assert expected_edges(sources), "a golden folder states something"
    assert difference(sources) == []


def test_a_wrong_expectation_is_reported() -> None:
    source = "def f(): pass\nf()\n#  ^ calls: a.g\n"
    assert difference({"a.py": source}) == ["a.py:2 calls: missing a.g", "a.py:2 calls: not expected a.f"]


def test_a_call_without_a_marker_is_reported() -> None:
    assert difference({"a.py": "def f(): pass\nf()\n"}) == ["a.py:2 calls: not expected a.f"]


def test_a_wrong_rule_is_reported() -> None:
    source = "def f(): pass\nf()\n# ^ calls: a.f/typed\n"
    assert difference({"a.py": source}) == ["a.py:2 calls: other rule than a.f/typed"]


@pytest.mark.parametrize("folder", folders())
def test_an_outline_has_the_nodes_that_resolution_gives(folder: str) -> None:
    sources = read_sources(ROOT / folder)
    resolver = Resolver()
    taken = resolver.take({path: parse(path, text.encode()) for path, text in sources.items()})
    outlines = {path: resolver.outline(path) for path in sources}
    graphs = resolver.resolve(taken).graphs
    assert {path: graph.nodes for path, graph in outlines.items()} == {p: graph.nodes for p, graph in graphs.items()}
    for path, graph in outlines.items():
        assert {edge.kind for edge in graph.edges} <= {EdgeKind.CONTAINS}
        assert set(graph.edges) <= set(graphs[path].edges)
