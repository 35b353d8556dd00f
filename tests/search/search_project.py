"""A small repository on disk, indexed for real: catalog, graph, tantivy, LanceDB and the bundled model.

Sources are Python; nodes come from `ast`, calls from names. That is enough of an indexer to test search with, and
keeps these tests independent of the real one.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ctxsearch.daemon.texts import KeptTexts, Texts
from ctxsearch.daemon.worker import caught_up
from ctxsearch.graph.catalog import Catalog
from ctxsearch.graph.columns import Numbers, id_of
from ctxsearch.graph.freshness import PENALTY, Freshness
from ctxsearch.graph.graph import CodeGraph
from ctxsearch.graph.model import (
    CodeNode,
    Edge,
    EdgeKind,
    NodeDocument,
    NodeFlag,
    NodeId,
    NodeKind,
    Rule,
    node_id,
)
from ctxsearch.graph.records import FileGraph, FileRecord, NodeRecord
from ctxsearch.indexer.files import content_hash
from ctxsearch.search.embed import bundled_embedder
from ctxsearch.search.lexical.index import TantivyIndex
from ctxsearch.search.ports import Corpus, Denied, Embedder, FreshnessFact
from ctxsearch.search.semantic import LanceIndex

Documents = Iterator[tuple[str, Sequence[NodeDocument]]]


@dataclass(frozen=True)
class Ages:
    """Freshness by node as a test chooses it, FRESH where it says nothing."""

    ages: dict[NodeId, Freshness] = field(default_factory=dict)

    def fact(self, node_id: NodeId, /) -> FreshnessFact:
        age = self.ages.get(node_id, Freshness.FRESH)
        return FreshnessFact(age, PENALTY[age], "c0ffee", 1_700_000_000, "git")

    def penalties(self, numbers: Sequence[int], /) -> list[float]:
        return [self.fact(node_id).penalty for node_id in map(id_of, numbers)]

    def below(self, floor: Freshness, numbers: Numbers, /) -> Denied:
        return Denied.of(one for one in map(id_of, numbers.tolist()) if self.fact(one).freshness < floor)


@dataclass
class Project:
    """Files, and the stores that follow them."""

    root: Path
    state: Path
    name: str = "app"
    embedder: Embedder | None = field(default_factory=bundled_embedder)
    ages: dict[str, Freshness] = field(default_factory=dict)  # by function name

    def __post_init__(self) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        self.state.mkdir(parents=True, exist_ok=True)
        self.catalog = Catalog.open(self.state / "catalog.db")
        self.sources: dict[str, str] = {}
        self.open_indexes()

    def open_indexes(self) -> None:
        """As after a start of the process: one that cannot be read is removed and made again."""
        self.full_text: TantivyIndex | None = None
        self.vectors: LanceIndex | None = None

    def catch_up(self) -> list[str]:
        """Bring the indexes to the catalog's generation; what had to be thrown away."""
        problems: list[str] = []
        text = self.state / "text"
        self.full_text = caught_up(
            self.full_text, lambda: TantivyIndex(text), text, self.catalog, problems, _everything
        )
        embedder = self.embedder
        if embedder is not None:
            vectors = self.state / "vectors"
            self.vectors = caught_up(
                self.vectors, lambda: LanceIndex(vectors, embedder), vectors, self.catalog, problems, _everything
            )
        return problems

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
        self.catch_up()
        pinned = self.catalog.pin()
        with pinned.use() as snapshot:
            graph = CodeGraph.build(snapshot.load_nodes(), snapshot.load_edges(), snapshot.generation)
        ages = {node.id: self.ages[node.name] for node in graph.nodes() if node.name in self.ages}
        assert self.full_text is not None
        full_text = self.full_text.reader()
        vectors = self.vectors.reader() if self.vectors is not None else None
        assert full_text.generation == graph.generation
        assert vectors is None or vectors.generation == graph.generation
        return Corpus(
            repository=self.name,
            generation=graph.generation,
            nodes=graph,
            freshness=Ages(ages),
            texts=Texts(self.root, pinned, KeptTexts()),
            full_text=full_text,
            vectors=vectors,
            graph=graph,
        )

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
        for index in (self.full_text, self.vectors):
            if index is not None:
                index.close()
        self.catalog.close()


def _everything(documents: Documents, _total: int) -> Documents:
    return documents


def _record(root: Path, path: str, text: str) -> FileRecord:
    stat = (root / path).stat()
    return FileRecord(path, "python", stat.st_size, stat.st_mtime_ns, stat.st_ino, content_hash(text.encode()))


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
