"""What the catalog takes and gives: files, a file's part of the graph, changes and counts. Values only."""

from __future__ import annotations

import msgspec

from ctxsearch.graph.model import CodeNode, Edge, EdgeKind, NodeFlag, NodeId, NodeKind, Unresolved

# Nodes without a file are kept in shards, so that one more external symbol does not rewrite them all. A shard stands
# where a path would (Changes, documents, graph_of); it begins with a character that no path has.
SHARD_MARK = "\0"
SHARED_KINDS = frozenset({NodeKind.REPOSITORY, NodeKind.PACKAGE, NodeKind.EXTERNAL})
# Noted in the catalog's meta by the first generation whose edges are resolved. Without it there are nodes and what
# contains what: enough to search, not enough to walk.
RESOLVED_META = "graph version"
FactsKey = tuple[str, str, str]  # content hash, language, extractor version
# By source, target and kind of an edge: its lines in the file of its source, 1-based, rising.
EdgeSites = dict[tuple[NodeId, NodeId, EdgeKind], tuple[int, ...]]


class FileRecord(msgspec.Struct, frozen=True, gc=False):
    """One indexed file as it was when its text was read."""

    path: str  # relative to the repository root, '/' separated
    language: str
    size: int  # bytes
    mtime_ns: int
    inode: int
    content_hash: str  # of the file's bytes
    flags: NodeFlag = NodeFlag.NONE
    line_count: int = 0
    parse_errors: int = 0


class NodeRecord(msgspec.Struct, frozen=True, gc=False):
    """A node and its doc comment, as the resolver hands them over."""

    node: CodeNode
    doc: str = ""


class FileGraph(msgspec.Struct, frozen=True):
    """What one file contributes to the graph. Every edge starts at one of `nodes`."""

    nodes: tuple[NodeRecord, ...] = ()
    edges: tuple[Edge, ...] = ()
    unresolved: tuple[Unresolved, ...] = ()
    reads: bytes = b""  # the resolver's own note of what it looked up; opaque here


class Changes(msgspec.Struct, frozen=True):
    """What differs from an earlier generation: paths of files, and shards of nodes without a file."""

    changed: tuple[str, ...]  # paths whose nodes, edges, text or unresolved calls differ
    removed: tuple[str, ...]
    documents: tuple[str, ...]  # those of `changed` whose documents differ: what search must index again


class Counts(msgspec.Struct, frozen=True):
    """How much there is, by what it is."""

    files: dict[str, int]  # by language
    lines: dict[str, int]  # by language
    parse_errors: dict[str, int]  # files with errors, by language
    nodes: dict[NodeKind, int]
    edges: dict[EdgeKind, int]
    unresolved: dict[str, int]  # call sites, by language
    calls: dict[str, int]  # resolved call edges, by language
    skipped: dict[str, int]  # files, by reason


def owner_of(node: CodeNode) -> str:
    """The path that a node is stored under: its file's, or a shard."""
    return SHARD_MARK + node.id[:2] if node.kind in SHARED_KINDS else node.path


def is_shard(owner: str) -> bool:
    """Whether an owner is not a file."""
    return owner.startswith(SHARD_MARK)
