"""What of a node goes into the indexes: its own text, an outline of its members, passages to embed. Pure.

A file's text is indexed once: a class or file keeps the lines that no member covers and the signatures of its
members, so that a method's body does not also count as its class's and its file's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ctxsearch.graph.model import NodeDocument, NodeId, NodeKind
from ctxsearch.graph.records import SHARED_KINDS
from ctxsearch.search.ports import Passage

_CONTAINERS = frozenset({NodeKind.MODULE, NodeKind.CLASS, NodeKind.INTERFACE, NodeKind.PACKAGE, NodeKind.SECTION})
# One node may not drown the index: a data file of a megabyte says little that its first part does not. No function that
# people write is longer.
MAX_BODY_CHARS = 200_000
# A bag of words blurs beyond a screenful (spec: 50-line pieces measured best); pieces overlap nothing.
PIECE_LINES = 50
PIECE_CHARS = 3_000
MAX_PIECES = 24


class NodeText(NamedTuple):
    """A node and the text that is indexed for it."""

    document: NodeDocument
    body: str  # own lines, then the signatures of members


def node_texts(documents: Sequence[NodeDocument]) -> list[NodeText]:
    """The nodes of one path with their own text."""
    members = _members(documents)
    return [NodeText(document, _indexed_body(document, members)) for document in documents]


def _members(documents: Sequence[NodeDocument]) -> dict[NodeId, list[NodeDocument]]:
    found: dict[NodeId, list[NodeDocument]] = {}
    for document in documents:
        parent = document.node.parent
        if parent is not None:
            found.setdefault(parent, []).append(document)
    return found


def _indexed_body(document: NodeDocument, members: dict[NodeId, list[NodeDocument]]) -> str:
    node = document.node
    inside = members.get(node.id)
    if node.kind not in _CONTAINERS or not inside:
        return document.body[:MAX_BODY_CHARS]
    lines = document.body.splitlines()
    for member in inside:
        first = max(member.node.start_line - node.start_line, 0)
        last = min(member.node.end_line - node.start_line, len(lines) - 1)
        lines[first : last + 1] = [""] * (last + 1 - first)
    own = "\n".join(line for line in lines if line)
    outline = "\n".join(member.node.signature or member.node.name for member in inside)
    return f"{own}\n{outline}"[:MAX_BODY_CHARS]


def passages(text: NodeText) -> Iterator[Passage]:
    """The texts to embed for a node: one, or several for a long one; each says whose it is.

    Packages and library symbols have no text of their own: none.
    """
    node, doc = text.document.node, text.document.doc
    if node.kind in SHARED_KINDS:
        return
    header = f"{node.qualified_name} {node.path}\n{node.signature}"
    for index, piece in enumerate(_pieces(text.body)):
        parts = (header, doc, piece) if index == 0 else (header, piece)
        yield Passage(name=node.name, text="\n".join(part for part in parts if part))


def _pieces(body: str) -> Iterator[str]:
    if len(body) <= PIECE_CHARS and body.count("\n") < PIECE_LINES:
        yield body
        return
    made = 0
    taken: list[str] = []
    size = 0
    for line in body.splitlines():
        if taken and (len(taken) >= PIECE_LINES or size + len(line) > PIECE_CHARS):
            yield "\n".join(taken)
            made += 1
            if made == MAX_PIECES:
                return
            taken, size = [], 0
        taken.append(line[:PIECE_CHARS])
        size += len(line)
    yield "\n".join(taken)


def passage_hash(passage: Passage) -> int:
    """64 bits that stand for a passage; with the model's id, the key under which its vector is kept."""
    digest = hashlib.blake2b(digest_size=8)
    digest.update(passage.name.encode("utf-8", "surrogatepass"))
    digest.update(b"\0")
    digest.update(passage.text.encode("utf-8", "surrogatepass"))
    return int.from_bytes(digest.digest(), "big")


def encodable(text: str) -> str:
    """File names that are no UTF-8 arrive as lone surrogates, which nothing outside of Python can hold."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")
