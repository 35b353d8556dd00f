"""Small nodes with text, made from a few words: what the indexes are fed in these tests."""

from __future__ import annotations

import hashlib

from ctxsearch.graph.columns import NodeColumns
from ctxsearch.graph.model import CodeNode, NodeDocument, NodeFlag, NodeId, NodeKind, node_id


def document(
    name: str,
    body: str = "",
    *,
    path: str = "pkg/app.py",
    doc: str = "",
    kind: NodeKind = NodeKind.FUNCTION,
    qualified: str = "",
    language: str = "python",
    flags: NodeFlag = NodeFlag.NONE,
    line: int = 1,
    parent: NodeId | None = None,
    signature: str = "",
) -> NodeDocument:
    """One node; its id follows from path, kind and qualified name as everywhere."""
    qualified = qualified or f"{path.rsplit('.', 1)[0].replace('/', '.')}.{name}"
    text = body or f"def {name}():\n    pass"
    return NodeDocument(
        node=CodeNode(
            id=node_id(path, kind, qualified),
            kind=kind,
            name=name,
            qualified_name=qualified,
            path=path,
            start_line=line,
            end_line=line + text.count("\n"),
            language=language,
            signature=signature or f"def {name}()",
            content_hash=hashlib.blake2b(text.encode(), digest_size=8).hexdigest(),
            flags=flags,
            parent=parent,
        ),
        doc=doc,
        body=text,
    )


def columns(*documents: NodeDocument) -> NodeColumns:
    """What a graph of these would know of its nodes."""
    return NodeColumns.of(one.node for one in documents)


UNKNOWN = columns()  # nothing is known of any node


def by_path(*documents: NodeDocument) -> dict[str, list[NodeDocument]]:
    """Documents grouped by their path, as the writers take them."""
    grouped: dict[str, list[NodeDocument]] = {}
    for one in documents:
        grouped.setdefault(one.node.path, []).append(one)
    return grouped
