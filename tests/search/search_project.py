"""A small repository on disk, indexed for real: catalog, graph, tantivy, LanceDB and the bundled model.

Sources are Python; nodes come from `ast`, calls from names. That is enough of an indexer to test search with, and
keeps these tests independent of the real one.
"""

from __future__ import annotations

import ast
import enum
import hashlib
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from ctxsearch.graph.catalog import Catalog
from ctxsearch.graph.graph import CodeGraph
from ctxsearch.graph.model import CodeNode, Edge, EdgeKind, NodeFlag, NodeId, NodeKind, Rule, node_id
from ctxsearch.graph.records import FileGraph, FileRecord, NodeRecord
from ctxsearch.search.embed import bundled_embedder
from ctxsearch.search.ports import Corpus, Embedder, FreshnessFact
from ctxsearch.search.stores import IndexStores, pinned_corpus
from ctxsearch.search.texts import CatalogTexts


class Age(enum.IntEnum):
    """Stands for the freshness classes, in their order."""

    STALE_WITH_RISK = 0
    STALE = 1
    ACCEPTABLE = 2
    FRESH = 3


PENALTIES = {Age.FRESH: 1.0, Age.ACCEPTABLE: 0.9, Age.STALE: 0.7, Age.STALE_WITH_RISK: 0.5}


@dataclass(frozen=True)
class Ages:
    """Freshness by node, FRESH where nothing is said."""

    ages: dict[NodeId, Age] = field(default_factory=dict)

    def fact(self, node_id: NodeId) -> FreshnessFact:
        age = self.ages.get(node_id, Age.FRESH)
        return FreshnessFact(age, PENALTIES[age], "c0ffee", 1_700_000_000, "git")

    def below(self, floor: enum.IntEnum) -> frozenset[NodeId]:
        return frozenset(one for one, age in self.ages.items() if age < floor)


@dataclass
class Project:
    """Files, and the stores that follow them."""

    root: Path
    state: Path
    name: str = "app"
    embedder: Embedder | None = field(default_factory=bundled_embedder)
    ages: dict[str, Age] = field(default_factory=dict)  # by function name

    def __post_init__(self) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        self.state.mkdir(parents=True, exist_ok=True)
        self.catalog = Catalog.open(self.state / "catalog.db")
        self.sources: dict[str, str] = {}
        self.stores = self.open_stores()

    def open_stores(self) -> IndexStores:
        return IndexStores(self.state, self.embedder)

    def write(self, sources: dict[str, str], removed: Collection[str] = ()) -> int:
        """Change files on disk and commit a generation of the catalog; the indexes do not follow yet."""
        self.sources.update(sources)
        for path in removed:
            self.sources.pop(path, None)
            (self.root / path).unlink()
        for path, text in sources.items():
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, "utf-8")
        graphs = _graphs(self.sources)
        with self.catalog.write() as writer:
            for path in removed:
                writer.remove(path)
            for path, text in self.sources.items():
                writer.put_file(_record(self.root, path, text), text)
                writer.replace(path, graphs[path])
        return self.catalog.generation

    def heal(self) -> Corpus:
        """Bring the indexes to the catalog's generation and pin everything."""
        with self.catalog.read() as snapshot:
            self.stores.heal(snapshot)
            graph = CodeGraph.build(snapshot.load_nodes(), snapshot.load_edges(), snapshot.generation)
        return self.corpus(graph)

    def corpus(self, graph: CodeGraph) -> Corpus:
        ages = {node.id: self.ages[node.name] for node in graph.nodes() if node.name in self.ages}
        return pinned_corpus(self.name, graph, self.stores, CatalogTexts(self.catalog, self.root), Ages(ages))

    def index(self, sources: dict[str, str], removed: Collection[str] = ()) -> Corpus:
        self.write(sources, removed)
        return self.heal()

    def id_of(self, name: str) -> NodeId:
        """The id of the only function, class or method of that name."""
        with self.catalog.read() as snapshot:
            found = [node.id for node in snapshot.load_nodes() if node.name == name]
        assert len(found) == 1, f"{len(found)} nodes are called {name}"
        return found[0]

    def close(self) -> None:
        self.stores.close()
        self.catalog.close()


def _record(root: Path, path: str, text: str) -> FileRecord:
    stat = (root / path).stat()
    digest = hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
    return FileRecord(path, "python", stat.st_size, stat.st_mtime_ns, stat.st_ino, digest)


def _graphs(sources: dict[str, str]) -> dict[str, FileGraph]:
    records = {path: list(_nodes(path, text)) for path, text in sources.items()}
    targets = {record.node.name: record.node.id for own in records.values() for record, _ in own}
    return {
        path: FileGraph(
            nodes=tuple(record for record, _ in own),
            edges=tuple(edge for record, tree in own for edge in _edges(record.node, tree, targets)),
        )
        for path, own in records.items()
    }


def _nodes(path: str, text: str) -> Iterable[tuple[NodeRecord, ast.AST]]:
    lines = text.split("\n")
    module = path.removesuffix(".py").replace("/", ".")
    flags = NodeFlag.TEST if "test" in path else NodeFlag.NONE
    file = _node(path, NodeKind.MODULE, module.rsplit(".", 1)[-1], module, 1, len(lines), lines, flags, None)
    tree = ast.parse(text)
    yield NodeRecord(file, ast.get_docstring(tree) or ""), tree
    stack: list[tuple[ast.AST, str, NodeId, bool]] = [(tree, module, file.id, False)]
    while stack:
        outer, prefix, parent, in_class = stack.pop()
        for one in ast.iter_child_nodes(outer):
            if not isinstance(one, ast.FunctionDef | ast.ClassDef):
                continue
            kind = NodeKind.CLASS if isinstance(one, ast.ClassDef) else NodeKind.FUNCTION
            if in_class and kind is NodeKind.FUNCTION:
                kind = NodeKind.METHOD
            qualified = f"{prefix}.{one.name}"
            node = _node(path, kind, one.name, qualified, one.lineno, one.end_lineno or 0, lines, flags, parent)
            yield NodeRecord(node, ast.get_docstring(one) or ""), one
            stack.append((one, qualified, node.id, kind is NodeKind.CLASS))


def _node(
    path: str,
    kind: NodeKind,
    name: str,
    qualified: str,
    start: int,
    end: int,
    lines: list[str],
    flags: NodeFlag,
    parent: NodeId | None,
) -> CodeNode:
    body = "\n".join(lines[start - 1 : end])
    digest = hashlib.blake2b(body.encode(), digest_size=8).hexdigest()
    signature = "" if kind is NodeKind.MODULE else lines[start - 1].strip()
    identity = node_id(path, kind, qualified)
    return CodeNode(identity, kind, name, qualified, path, start, end, "python", signature, digest, flags, parent)


def _edges(node: CodeNode, tree: ast.AST, targets: dict[str, NodeId]) -> Iterable[Edge]:
    if node.kind in (NodeKind.MODULE, NodeKind.CLASS):
        return
    called = {
        call.func.id if isinstance(call.func, ast.Name) else call.func.attr
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name | ast.Attribute)
    }
    for name in sorted(called & targets.keys()):
        yield Edge(node.id, targets[name], EdgeKind.CALLS, 0.95, Rule.LEXICAL)
