"""A catalog in which everything says which generation it is from; written by tests and by the processes they kill."""

from __future__ import annotations

import os
import random
import signal

from ctxsearch.graph.catalog import Catalog
from ctxsearch.graph.model import CodeNode, Edge, EdgeKind, NodeFlag, NodeKind, Rule, node_id
from ctxsearch.graph.records import FileGraph, FileRecord, NodeRecord

FILES = 12


def write_generation(catalog: Catalog, marker: int, die_after: int | None = None, padding: int = 2000) -> None:
    """Every file says `marker` in its text, its node, its edge and its reads."""
    noise = random.Random(marker).randbytes(padding).hex()
    with catalog.write() as w:
        for number in range(FILES):
            if number == die_after:
                os.kill(os.getpid(), signal.SIGKILL)
            path = f"f{number}.py"
            node = marked_node(path, marker)
            text = f"{marker}\n{noise}"
            w.put_file(FileRecord(path, "python", len(text), marker, number, f"{marker}"), text)
            edge = Edge(node.id, marked_node(f"f{(number + 1) % FILES}.py", marker).id, EdgeKind.CALLS, 0.9, Rule.TYPED)
            w.replace(path, FileGraph((NodeRecord(node, f"{marker}"),), (edge,), reads=f"{marker}".encode()))
        w.set_meta("marker", f"{marker}")
        if die_after == FILES:
            os.kill(os.getpid(), signal.SIGKILL)


def marked_node(path: str, marker: int) -> CodeNode:
    name = f"f_{marker}"
    return CodeNode(
        node_id(path, NodeKind.FUNCTION, name),
        NodeKind.FUNCTION,
        name,
        name,
        path,
        1,
        1,
        "python",
        "",
        "",
        NodeFlag.NONE,
        None,
    )


def markers(catalog: Catalog) -> set[str]:
    """Everything that says which generation it is from; one element when nothing is mixed."""
    with catalog.read() as r:
        found = {r.meta("marker") or "", *(blob.decode() for _, blob in r.reads())}
        found |= {record.content_hash for record in r.files()}
        for path, documents in r.documents():
            found.add((r.text(path) or "").split("\n")[0])
            found |= {part for d in documents for part in (d.doc, d.node.name.removeprefix("f_"), d.body)}
        nodes, edges = r.load_nodes(), r.load_edges()
        assert len(nodes) == len(edges) == FILES
        assert edges.dangling == 0
        return found
