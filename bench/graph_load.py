"""Catalog and graph at scale: write, load, traverse, apply one file, memory.

    python bench/graph_load.py [--nodes 100000] [--edges 500000]

The graph is synthetic and seeded: files of 40 nodes, three quarters of the edges are calls, targets follow a power
law (a few hubs are called from everywhere, as loggers are) or are near by.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import psutil

from ctxsearch.graph.catalog import Catalog
from ctxsearch.graph.graph import CodeGraph, Traversal
from ctxsearch.graph.model import CodeNode, Edge, EdgeKind, NodeFlag, NodeId, NodeKind, Rule, node_id
from ctxsearch.graph.records import FileGraph, FileRecord, NodeRecord

NODES_PER_FILE = 40
KINDS = [EdgeKind.CALLS] * 12 + [EdgeKind.USES, EdgeKind.IMPORTS, EdgeKind.EXTENDS, EdgeKind.OVERRIDES]


def make_files(nodes: int, edges: int, rnd: random.Random) -> dict[str, tuple[str, FileGraph]]:
    everything = [make_node(number) for number in range(nodes)]
    outgoing: dict[str, list[Edge]] = {}
    for number in range(edges):
        source = everything[number % nodes]
        target = everything[pick_target(number % nodes, nodes, rnd)]
        rule = rnd.choice([Rule.IMPORT, Rule.TYPED, Rule.UNIQUE_NAME])
        lines = (source.start_line + 1,)
        edge = Edge(source.id, target.id, rnd.choice(KINDS), rnd.choice([0.95, 0.9, 0.85, 0.6, 0.3]), rule, lines)
        outgoing.setdefault(source.path, []).append(edge)
    files: dict[str, tuple[str, FileGraph]] = {}
    for start in range(0, nodes, NODES_PER_FILE):
        own = everything[start : start + NODES_PER_FILE]
        module, members = own[0], own[1:]
        contains = [Edge(module.id, node.id, EdgeKind.CONTAINS, 1.0, Rule.STRUCTURE) for node in members]
        text = "".join(f"def {node.name}(request, options):\n" + "    work(request)\n" * 9 for node in own)
        graph = FileGraph(
            tuple(NodeRecord(node, "Does what its name says, and no more.") for node in own),
            (*contains, *outgoing.get(module.path, ())),
            reads=b"name\0" * 50,
        )
        files[module.path] = (text, graph)
    return files


def make_node(number: int) -> CodeNode:
    file, position = divmod(number, NODES_PER_FILE)
    path = f"src/package_{file % 97}/module_{file}.py"
    kind = NodeKind.FUNCTION if position else NodeKind.MODULE
    name = f"handle_{number % 50021}_event" if position else f"module_{file}.py"
    qualified = f"package_{file % 97}.module_{file}.{name}"
    line = position * 10 + 1
    parent = None if position == 0 else make_module_id(path)
    return CodeNode(
        node_id(path, kind, qualified),
        kind,
        name,
        qualified,
        path,
        line,
        line + 9,
        "python",
        f"def {name}(request, options)",
        f"{number:032x}",
        NodeFlag.NONE,
        parent,
    )


def make_module_id(path: str) -> NodeId:
    return node_id(
        path,
        NodeKind.MODULE,
        path.removeprefix("src/").removesuffix(".py").replace("/", ".") + "." + path.rpartition("/")[2],
    )


def pick_target(source: int, nodes: int, rnd: random.Random) -> int:
    if rnd.random() < 0.5:
        return min(nodes - 1, max(0, source + rnd.randint(-200, 200)))
    return min(nodes - 1, int(rnd.paretovariate(0.3)))


def timed(label: str, action: Callable[[], object], figures: dict[str, float]) -> object:
    wall, cpu, result = measured(action)
    figures[label] = round(wall, 4)
    print(f"{label:40} {wall * 1000:10.1f} ms {cpu * 1000:34.1f} ms CPU")
    return result


def write(catalog: Catalog, files: dict[str, tuple[str, FileGraph]]) -> None:
    with catalog.write() as w:
        for path, (text, graph) in files.items():
            w.put_file(FileRecord(path, "python", len(text), 1, 1, f"{hash(path):x}", line_count=400), text)
            w.replace(path, graph)


def load(catalog: Catalog) -> CodeGraph:
    with catalog.read() as r:
        return CodeGraph.build(r.load_nodes(), r.load_edges(), r.generation)


def change_one(catalog: Catalog, path: str, text: str, graph: FileGraph) -> FileGraph:
    changed = FileGraph(graph.nodes[:-1], tuple(e for e in graph.edges if e.source != graph.nodes[-1].node.id))
    with catalog.write() as w:
        w.put_file(FileRecord(path, "python", len(text), 2, 1, "changed", line_count=400), text)
        w.replace(path, changed)
    return changed


def walk_times(graph: CodeGraph, figures: dict[str, float], rnd: random.Random) -> None:
    ids = sorted(node.id for node in graph.nodes())
    groups = [rnd.sample(ids, 10) for _ in range(20)]
    hub = max(ids, key=graph.in_degree)
    print(f"{'largest hub, nodes that depend on it':40} {graph.in_degree(hub):10}")
    walks: dict[str, Callable[[list[NodeId]], Traversal]] = {
        "callers depth 2": lambda seeds: graph.callers(seeds, 2),
        "callers depth 4": lambda seeds: graph.callers(seeds, 4),
        "dependencies depth 1": lambda seeds: graph.dependencies(seeds, 1),
        "dependencies depth 4": lambda seeds: graph.dependencies(seeds, 4),
        "related radius 2": lambda seeds: graph.related(seeds, 2),
        "related radius 4": lambda seeds: graph.related(seeds, 4),
        "related radius 4, hub among the seeds": lambda seeds: graph.related([hub, *seeds], 4),
        "callers depth 4 of the hub": lambda _: graph.callers([hub], 4),
        "impact": lambda seeds: graph.impact(seeds[0]),
        "impact of the hub": lambda _: graph.impact(hub),
    }
    for label, walk in walks.items():
        report(label, [measured(walk, seeds) for seeds in groups], figures)
    report("path", [measured(graph.path, a, b) for a, b, *_ in groups], figures)
    for label, text in (("find a name", "handle_777_event"), ("find, miss, near names", "handel_777_evnet")):
        report(label, [measured(graph.find, text) for _ in range(5)], figures)


def measured(action: Callable[..., object], *arguments: object) -> tuple[float, float, object]:
    wall, cpu = time.perf_counter(), time.thread_time()
    result = action(*arguments)
    return time.perf_counter() - wall, time.thread_time() - cpu, result


def report(label: str, runs: list[tuple[float, float, object]], figures: dict[str, float]) -> None:
    """CPU time beside wall time: the machine may be busy with other things."""
    wall, cpu, results = zip(*runs, strict=True)
    figures[label] = round(max(wall), 4)
    reached = max((result.reached for result in results if isinstance(result, Traversal)), default=0)
    print(
        f"{label:40} {statistics.median(wall) * 1000:10.1f} ms p50 {max(wall) * 1000:8.1f} ms max"
        f" {max(cpu) * 1000:8.1f} ms CPU max" + (f"  reached <= {reached}" if reached else "")
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--edges", type=int, default=500_000)
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object at the end")
    options = parser.parse_args()
    rnd = random.Random(1)
    files = make_files(options.nodes, options.edges, rnd)
    figures: dict[str, float] = {}
    process = psutil.Process()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "catalog.sqlite"
        with Catalog.open(path) as catalog:
            timed("write everything", lambda: write(catalog, files), figures)
            print(f"{'catalog on disk':40} {path.stat().st_size / 1e6:10.1f} MB")
            before = process.memory_info().rss
            graph = timed("load nodes, edges and graph", lambda: load(catalog), figures)
            assert isinstance(graph, CodeGraph)
            figures["graph MB"] = round((process.memory_info().rss - before) / 1e6, 1)
            print(f"{'memory of nodes and graph':40} {figures['graph MB']:10.1f} MB")
            print(f"{'nodes, edges':40} {len(graph):10} {graph.edge_count}")
            walk_times(graph, figures, rnd)
            name, (text, part) = sorted(files.items())[len(files) // 2]
            changed = timed("commit one changed file", lambda: change_one(catalog, name, text, part), figures)
            assert isinstance(changed, FileGraph)
            for _ in range(3):
                timed("apply one changed file", lambda: graph.apply({name: changed}), figures)
        reopened = timed("open again after a clean close", lambda: Catalog.open(path), figures)
        assert isinstance(reopened, Catalog)
        timed("verify everything", reopened.verify, figures)
        reopened.close()
    if options.json:
        print(json.dumps(figures, sort_keys=True))


if __name__ == "__main__":
    main()
