"""How a file's part of the graph becomes bytes and comes back: compact, and checked against flipped bits.

Knows nothing of SQLite; raises DamagedError when bytes are not what was written.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

import msgspec
import numpy as np

from ctxsearch.graph.edges import EdgeTable
from ctxsearch.graph.model import CodeNode, Edge, EdgeKind, NodeFlag, NodeId, NodeKind, Rule, Unresolved
from ctxsearch.graph.records import EdgeSites, FileGraph, FileRecord, NodeRecord


class _NodeRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    id: NodeId
    kind: NodeKind
    name: str
    qualified_name: str
    start_line: int
    end_line: int
    signature: str
    content_hash: str
    flags: NodeFlag
    parent: NodeId | None
    path: str | None  # None: the owning file's
    language: str | None  # None: the owning file's


class _FileRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    language: str
    size: int
    mtime_ns: int
    inode: int
    content_hash: str
    flags: NodeFlag
    line_count: int
    parse_errors: int


class Summary(msgspec.Struct, frozen=True, array_like=True):
    """What a file contributes, counted."""

    nodes: dict[NodeKind, int]
    edges: dict[EdgeKind, int]
    unresolved: int


class _UnresolvedRow(msgspec.Struct, frozen=True, array_like=True, gc=False):
    source: NodeId
    name: str
    lines: tuple[int, ...]


CONFIDENCE_STEPS = 10_000  # confidences are stored in these, so that 0.95 comes back as 0.95
EDGE = np.dtype(
    [
        ("source", "<u4"),  # position among the owner's nodes
        ("target", "<u8"),  # the target's id as a number: it may be any file's
        ("confidence", "<u2"),
        ("kind", "u1"),
        ("rule", "u1"),
    ]
)


# Blobs: one byte of flags, CRC-32 of the content, content.

_COMPRESSED = 1
_WORTH_COMPRESSING = 100  # bytes; setting up for fewer takes longer than writing them
_SHIELDED = 2  # strings with lone surrogates (file names that are not UTF-8) are stored as Latin-1 of their bytes
_T = TypeVar("_T")


class DamagedError(Exception):
    """A blob does not have the content that was written."""


def seal(content: bytes, owner: bytes, *, compress: bool = False, flags: int = 0) -> bytes:
    """Content with its checksum, which covers the owner's name too: a blob under another name is damage."""
    crc = zlib.crc32(content, zlib.crc32(owner))
    if compress and len(content) >= _WORTH_COMPRESSING:
        flags |= _COMPRESSED
        content = zlib.compress(content, 1)
    return bytes((flags,)) + crc.to_bytes(4, "little") + content


def unseal(blob: bytes, owner: bytes) -> tuple[int, bytes]:
    """Flags and content; raises DamagedError."""
    if not isinstance(blob, bytes) or len(blob) < 5:
        raise DamagedError
    flags, crc, content = blob[0], int.from_bytes(blob[1:5], "little"), blob[5:]
    if flags & _COMPRESSED:
        try:
            content = zlib.decompress(content)
        except zlib.error as error:
            raise DamagedError from error
    if zlib.crc32(content, zlib.crc32(owner)) != crc:
        raise DamagedError
    return flags, content


def pack(value: object, owner: bytes, *, compress: bool = False) -> bytes:
    """A value as checked bytes."""
    try:
        return seal(msgspec.msgpack.encode(value), owner, compress=compress)
    except UnicodeEncodeError:
        shielded = _shield(msgspec.to_builtins(value, builtin_types=()))
        return seal(msgspec.msgpack.encode(shielded), owner, compress=compress, flags=_SHIELDED)


def unpack(blob: bytes, owner: bytes, decoder: msgspec.msgpack.Decoder[_T]) -> _T:
    """Inverse of pack."""
    flags, content = unseal(blob, owner)
    try:
        if not flags & _SHIELDED:
            return decoder.decode(content)
        value: _T = msgspec.convert(_unshield(msgspec.msgpack.decode(content)), decoder.type)
        return value
    except msgspec.MsgspecError as error:
        raise DamagedError from error


def path_key(path: str) -> bytes:
    """A path as the bytes that the file system knows it by."""
    return path.encode("utf-8", "surrogateescape")


def path_of(key: bytes) -> str:
    """Inverse of path_key."""
    if not isinstance(key, bytes):
        raise DamagedError
    return key.decode("utf-8", "surrogateescape")


def _shield(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass").decode("latin-1")
    if isinstance(value, (list, tuple)):
        return [_shield(item) for item in value]
    return value


def _unshield(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("latin-1").decode("utf-8", "surrogatepass")
    if isinstance(value, list):
        return [_unshield(item) for item in value]
    return value


_node_rows = msgspec.msgpack.Decoder(list[_NodeRow])
_file_row = msgspec.msgpack.Decoder(_FileRow)
_strings = msgspec.msgpack.Decoder(list[str])
_line_lists = msgspec.msgpack.Decoder(list[tuple[int, ...]])
_unresolved_rows = msgspec.msgpack.Decoder(list[_UnresolvedRow])
_summary = msgspec.msgpack.Decoder(Summary)


class GraphBlobs(msgspec.Struct, frozen=True):
    """A file's part of the graph, in the pieces that are read separately."""

    summary: bytes
    nodes: bytes
    edges: bytes
    docs: bytes
    sites: bytes
    unresolved: bytes

    def document_part(self) -> tuple[bytes, bytes]:
        """What search sees of it."""
        return self.nodes, self.docs


def encode_graph(path: str, language: str, graph: FileGraph) -> GraphBlobs:
    """Sorted, checked and packed; raises ValueError for what is not a file's graph."""
    records = sorted(graph.nodes, key=lambda record: node_order(record.node))
    position = {record.node.id: index for index, record in enumerate(records)}
    if len(position) != len(records):
        twice = Counter(record.node.id for record in records).most_common(1)[0][0]
        raise ValueError(f"{path}: node {twice} is there twice")
    owner = path_key(path)
    edges, sites = _encode_edges(path, position, graph.edges)
    unresolved = sorted((call.source, call.lines, call.name) for call in graph.unresolved)
    summary = Summary(
        nodes=dict(sorted(Counter(record.node.kind for record in records).items())),
        edges=dict(sorted(Counter(edge.kind for edge in graph.edges).items())),
        unresolved=sum(len(call.lines) or 1 for call in graph.unresolved),
    )
    return GraphBlobs(
        summary=pack(summary, owner),
        nodes=pack([_node_row(record.node, path, language) for record in records], owner, compress=True),
        edges=edges,
        docs=pack([record.doc for record in records], owner, compress=True),
        sites=sites,
        unresolved=pack([(source, name, lines) for source, lines, name in unresolved], owner, compress=True),
    )


def _encode_edges(path: str, position: Mapping[NodeId, int], edges: tuple[Edge, ...]) -> tuple[bytes, bytes]:
    table = np.zeros(len(edges), dtype=EDGE)
    try:
        table["source"] = [position[edge.source] for edge in edges]
    except KeyError as error:
        raise ValueError(f"{path}: an edge starts at {error.args[0]}, which is no node of it") from None
    table["target"] = id_numbers(edge.target for edge in edges)
    table["confidence"] = [round(edge.confidence * CONFIDENCE_STEPS) for edge in edges]
    table["kind"] = [edge.kind for edge in edges]
    table["rule"] = [edge.rule for edge in edges]
    order = np.lexsort((table["rule"], table["confidence"], table["target"], table["kind"], table["source"]))
    sites = [edges[index].lines for index in order.tolist()]
    owner = path_key(path)
    return seal(table[order].tobytes(), owner), pack(sites, owner, compress=True)


def _node_row(node: CodeNode, path: str, language: str) -> _NodeRow:
    return _NodeRow(
        node.id,
        node.kind,
        node.name,
        node.qualified_name,
        node.start_line,
        node.end_line,
        node.signature,
        node.content_hash,
        node.flags,
        node.parent,
        None if node.path == path else node.path,
        None if node.language == language else node.language,
    )


def node_order(node: CodeNode) -> tuple[str, int, str]:
    """The order of nodes everywhere: path, line, id."""
    return node.path, node.start_line, node.id


def encode_record(record: FileRecord) -> bytes:
    """Everything but the path, which is the key."""
    return pack(
        _FileRow(
            record.language,
            record.size,
            record.mtime_ns,
            record.inode,
            record.content_hash,
            record.flags,
            record.line_count,
            record.parse_errors,
        ),
        path_key(record.path),
    )


def decode_record(path: str, blob: bytes) -> FileRecord:
    """Inverse of encode_record."""
    row = unpack(blob, path_key(path), _file_row)
    return FileRecord(
        path,
        row.language,
        row.size,
        row.mtime_ns,
        row.inode,
        row.content_hash,
        row.flags,
        row.line_count,
        row.parse_errors,
    )


def decode_nodes(path: str, language: str, blob: bytes) -> list[CodeNode]:
    """A file's nodes in line order."""
    rows = unpack(blob, path_key(path), _node_rows)
    own = {row.id: row.id for row in rows}  # parents are mostly nodes of the file: one string for both
    return [
        CodeNode(
            row.id,
            row.kind,
            row.name,
            row.qualified_name,
            path if row.path is None else row.path,
            row.start_line,
            row.end_line,
            language if row.language is None else row.language,
            row.signature,
            row.content_hash,
            row.flags,
            own.get(row.parent, row.parent) if row.parent is not None else None,
        )
        for row in rows
    ]


def decode_edges(path: str, blob: bytes) -> np.ndarray[Any, Any]:
    """Rows of EDGE, sorted by source, kind and target."""
    return np.frombuffer(unseal(blob, path_key(path))[1], dtype=EDGE)


def decode_sites(path: str, nodes: bytes, edges: bytes, sites: bytes) -> EdgeSites:
    """Where the edges of a file are written, without its nodes' texts; parallel edges of one kind together."""
    owner = path_key(path)
    ids = [row.id for row in unpack(nodes, owner, _node_rows)]
    found: EdgeSites = {}
    lines_of = unpack(sites, owner, _line_lists)
    for (source, target, _, kind, _), lines in zip(decode_edges(path, edges).tolist(), lines_of, strict=True):
        key = ids[source], NodeId(f"{target:016x}"), EdgeKind(kind)
        found[key] = tuple(sorted({*found.get(key, ()), *lines}))
    return found


def decode_summary(path: str, blob: bytes) -> Summary:
    """Counts alone, without reading what was counted."""
    return unpack(blob, path_key(path), _summary)


def decode_graph(path: str, language: str, blobs: GraphBlobs, reads: bytes) -> FileGraph:
    """Inverse of encode_graph, in the stored order."""
    nodes = decode_nodes(path, language, blobs.nodes)
    owner = path_key(path)
    docs = unpack(blobs.docs, owner, _strings)
    sites = unpack(blobs.sites, owner, _line_lists)
    unresolved = unpack(blobs.unresolved, owner, _unresolved_rows)
    return FileGraph(
        nodes=tuple(NodeRecord(node, doc) for node, doc in zip(nodes, docs, strict=True)),
        edges=tuple(
            _edge(nodes, row, lines) for row, lines in zip(decode_edges(path, blobs.edges).tolist(), sites, strict=True)
        ),
        unresolved=tuple(Unresolved(row.source, row.name, row.lines) for row in unresolved),
        reads=reads,
    )


def _edge(nodes: list[CodeNode], row: tuple[int, int, int, int, int], lines: tuple[int, ...]) -> Edge:
    source, target, confidence, kind, rule = row
    return Edge(
        nodes[source].id,
        NodeId(f"{target:016x}"),
        EdgeKind(kind),
        confidence / CONFIDENCE_STEPS,
        Rule(rule),
        lines,
    )


def id_numbers(ids: Iterable[NodeId]) -> np.ndarray[Any, np.dtype[np.uint64]]:
    """Ids (16 hexadecimal digits) as numbers."""
    listed = list(ids)
    data = bytes.fromhex("".join(listed))
    if any(len(node) != 16 for node in listed):
        raise ValueError("a node id is not 16 hexadecimal digits")
    return np.frombuffer(data, dtype=">u8").astype(np.uint64)


class _Positions:
    """Where each id is in a list of nodes."""

    def __init__(self, ids: list[NodeId]) -> None:
        numbers = id_numbers(ids)
        self._order = np.argsort(numbers)
        self._sorted = numbers[self._order]

    def __call__(self, numbers: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.int32]]:
        """Positions; -1 for what is not there."""
        if not len(self._sorted):
            return np.full(len(numbers), -1, dtype=np.int32)
        at = np.minimum(np.searchsorted(self._sorted, numbers), len(self._sorted) - 1)
        return np.where(self._sorted[at] == numbers, self._order[at], -1).astype(np.int32)


def edge_table(
    nodes: Iterable[CodeNode], sources: list[np.ndarray[Any, Any]], columns: list[np.ndarray[Any, Any]]
) -> EdgeTable:
    """Edges of many files together: per file the ids of the sources as numbers, and the rows."""
    position = _Positions([node.id for node in nodes])
    edges = np.concatenate(columns) if columns else np.zeros(0, dtype=EDGE)
    source = position(np.concatenate(sources) if sources else np.zeros(0, dtype=np.uint64))
    target = position(edges["target"])
    kept = np.flatnonzero((target >= 0) & (source >= 0))
    kept = kept[np.lexsort((target[kept], edges["kind"][kept], source[kept]))]
    return EdgeTable(
        source=source[kept],
        target=target[kept],
        kind=edges["kind"][kept].astype(np.uint8),
        confidence=(edges["confidence"][kept] / np.float32(CONFIDENCE_STEPS)).astype(np.float32),
        rule=edges["rule"][kept].astype(np.uint8),
        dangling=len(edges) - len(kept),
    )


# Opening, checking, locking
