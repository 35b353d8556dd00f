"""The nodes of one file with their text, as the index would hold them; without a catalog and without other files."""

from __future__ import annotations

from ctxsearch.graph.facts import FileFacts
from ctxsearch.graph.model import CodeNode, NodeDocument, NodeFlag, NodeId, NodeKind, module_node_id, node_id
from ctxsearch.indexer.parse import parse
from ctxsearch.search.documents import NodeText, node_texts


def nodes_of(facts: FileFacts) -> list[tuple[CodeNode, str]]:
    """The nodes of a file with their doc comments, named as the index names them."""
    path, module = facts.path, module_node_id(facts.path)
    stem = path.rpartition(".")[0] or path
    flags = NodeFlag.NONE
    whole = CodeNode(
        module, NodeKind.MODULE, path.rpartition("/")[2], stem, path, 1, max(facts.line_count, 1), facts.language,
        "", facts.digest, flags, None,
    )  # fmt: skip
    found = [(whole, facts.doc)]
    ids: list[NodeId] = []
    for index, item in enumerate(facts.definitions):
        parent = ids[item.parent] if item.parent >= 0 else module
        if item.flags & NodeFlag.ANONYMOUS:
            ids.append(parent)
            continue
        ids.append(node_id(path, item.kind, item.qualified_name, index))
        node = CodeNode(
            ids[-1], item.kind, item.name, f"{stem}.{item.qualified_name}", path, item.start_line, item.end_line,
            facts.language, item.signature, item.digest, item.flags, parent,
        )  # fmt: skip
        found.append((node, item.doc))
    return found


def file_texts(path: str, source: bytes) -> list[NodeText]:
    """Every node of a file with the text that is indexed for it."""
    lines = source.decode("utf-8", "replace").split("\n")
    found = nodes_of(parse(path, source))
    return node_texts(
        [NodeDocument(node, doc, "\n".join(lines[node.start_line - 1 : node.end_line])) for node, doc in found]
    )
