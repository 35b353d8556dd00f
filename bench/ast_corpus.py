"""Real Python code as nodes, files and call edges, by `ast` alone: a corpus for the search benchmarks.

Not the indexer: names are resolved only where they are unique. Good enough to measure speed with, on any checkout.
"""

from __future__ import annotations

import ast
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ctxsearch.graph.catalog import Catalog
from ctxsearch.graph.model import CodeNode, Edge, EdgeKind, NodeFlag, NodeId, NodeKind, Rule, module_node_id, node_id
from ctxsearch.graph.records import FileGraph, FileRecord, NodeRecord


class SourceFile(NamedTuple):
    """One parsed file."""

    root: Path
    path: str  # what it is indexed as
    text: str
    records: list[NodeRecord]
    calls: dict[NodeId, set[str]]


def parse_files(roots: Iterable[Path], wanted: int) -> list[SourceFile]:
    """Files of the roots, in turn, until there are `wanted` nodes."""
    files: list[SourceFile] = []
    count = 0
    for root in roots:
        for file in sorted(root.rglob("*.py")):
            parsed = _parse(root, file)
            if parsed is None:
                continue
            files.append(parsed)
            count += len(parsed.records)
            if count >= wanted:
                return files
    return files


def write_catalog(catalog: Catalog, files: list[SourceFile]) -> None:
    """All files as one generation."""
    names = Counter(record.node.name for file in files for record in file.records)
    targets = {
        record.node.name: record.node.id
        for file in files
        for record in file.records
        if names[record.node.name] == 1 and record.node.kind is not NodeKind.MODULE
    }
    with catalog.write() as writer:
        for file in files:
            stat = (file.root / file.path.split("/", 1)[1]).stat()
            digest = hashlib.blake2b(file.text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
            record = FileRecord(file.path, "python", stat.st_size, stat.st_mtime_ns, stat.st_ino, digest)
            writer.put_file(record, file.text)
            edges = tuple(
                Edge(source, targets[name], EdgeKind.CALLS, 0.95, Rule.UNIQUE_NAME)
                for source, called in file.calls.items()
                for name in sorted(called & targets.keys())
                if targets[name] != source
            )
            writer.replace(file.path, FileGraph(nodes=tuple(file.records), edges=edges))


def _parse(root: Path, file: Path) -> SourceFile | None:
    try:
        text = file.read_text("utf-8")
        tree = ast.parse(text)
    except (SyntaxError, ValueError, OSError, RecursionError):
        return None
    path = f"{root.name}/{file.relative_to(root).as_posix()}"
    records: list[NodeRecord] = []
    calls: dict[NodeId, set[str]] = {}
    for record, one in _nodes(path, text, tree):
        records.append(record)
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
            calls[record.node.id] = {
                call.func.id if isinstance(call.func, ast.Name) else call.func.attr
                for call in ast.walk(one)
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name | ast.Attribute)
            }
    return SourceFile(root, path, text, records, calls)


def _nodes(path: str, text: str, tree: ast.Module) -> Iterator[tuple[NodeRecord, ast.AST]]:
    lines = text.split("\n")
    module = path.removesuffix(".py").replace("/", ".")
    flags = NodeFlag.TEST if "test" in path else NodeFlag.NONE
    seen: Counter[tuple[NodeKind, str]] = Counter()

    def node(kind: NodeKind, name: str, qualified: str, start: int, end: int, parent: NodeId | None) -> CodeNode:
        is_file = kind is NodeKind.MODULE
        identity = module_node_id(path) if is_file else node_id(path, kind, qualified, seen[kind, qualified])
        seen[kind, qualified] += 1
        body = "\n".join(lines[start - 1 : end]).encode("utf-8", "surrogatepass")
        digest = hashlib.blake2b(body, digest_size=8).hexdigest()
        head = "" if is_file else lines[start - 1].strip()
        return CodeNode(identity, kind, name, qualified, path, start, end, "python", head, digest, flags, parent)

    file = node(NodeKind.MODULE, module.rsplit(".", 1)[-1], module, 1, len(lines), None)
    yield NodeRecord(file, ast.get_docstring(tree) or ""), tree
    stack: list[tuple[ast.AST, str, NodeId, bool]] = [(tree, module, file.id, False)]
    while stack:
        outer, prefix, parent, in_class = stack.pop()
        for one in ast.iter_child_nodes(outer):
            if not isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            is_class = isinstance(one, ast.ClassDef)
            kind = NodeKind.CLASS if is_class else NodeKind.METHOD if in_class else NodeKind.FUNCTION
            qualified = f"{prefix}.{one.name}"
            made = node(kind, one.name, qualified, one.lineno, one.end_lineno or one.lineno, parent)
            yield NodeRecord(made, ast.get_docstring(one) or ""), one
            stack.append((one, qualified, made.id, is_class))
