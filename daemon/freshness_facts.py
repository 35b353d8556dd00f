"""The facts behind the freshness of every node of one generation, worked out by the follower and kept in one file.

The file holds facts in columns, not classes: these depend on a clock and on thresholds, and are worked out where
questions are answered (`daemon/freshness.py`). Only this side runs git and the parser.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from ctxsearch.daemon.registry import write_atomically
from ctxsearch.graph.attribution import Ints
from ctxsearch.graph.catalog import Snapshot
from ctxsearch.graph.facts import Definition
from ctxsearch.graph.freshness import (
    DEPENDING_KINDS,
    GraphEdges,
    NodeFacts,
    Thresholds,
    left_alone,
    suspects,
    with_signatures,
    with_vanished,
)
from ctxsearch.graph.git import Git, GitError
from ctxsearch.graph.history import History, HistoryStore, NodeRanges
from ctxsearch.graph.model import CALLABLE_KINDS, TYPE_KINDS, CodeNode, EdgeKind, NodeFlag, NodeId, NodeKind
from ctxsearch.graph.node_history import NodeHistories, Source
from ctxsearch.graph.signatures import SignedNode, last_changes
from ctxsearch.graph.vanished import Dangling, Vanished, find_vanished

Columns = dict[str, Any]  # arrays by name, as they lie in the file
Row = tuple[str, int, int, int, int]  # path, first and last line, first and last line of the signature

FORMAT = 2
MAX_SIGNATURE_LINES = 12
MAX_SUBJECT = 120  # characters kept of a commit's subject
_SIGNED_KINDS = CALLABLE_KINDS | TYPE_KINDS
_SIGNED_FLAGS = NodeFlag.STATIC | NodeFlag.ASYNC | NodeFlag.PROPERTY | NodeFlag.CLASS_METHOD | NodeFlag.PRIVATE
_OPENING, _CLOSING = "([{", ")]}"


@dataclass(frozen=True, slots=True)
class Told:
    """What one git repository tells: that of the indexed root, or a submodule's."""

    folder: str  # where its files begin beneath the root, ending in '/'; '' for the root's own
    history: History  # by paths beneath that folder
    store: HistoryStore | None = None  # None: there is no git
    git: Git | None = None


@dataclass(frozen=True, slots=True)
class _Part:
    """The nodes that one repository tells about."""

    told: Told
    rows: Ints  # among all nodes
    ranges: NodeRanges  # by paths beneath the repository's folder
    histories: NodeHistories


def store_freshness(file: Path, snapshot: Snapshot, told: Sequence[Told], thresholds: Thresholds | None = None) -> None:
    """Works out the facts of every node of a generation and keeps them in `file`.

    The thresholds say which nodes are old, whose dependencies are then looked at closely.
    """
    nodes = [node for node in snapshot.load_nodes() if node.path]
    parts = _parts(_ranges(snapshot, nodes), told)
    edges = _edges_between(snapshot, nodes)
    facts = _gathered([NodeFacts.of(each.told.history, each.ranges.paths, each.histories) for each in parts], parts)
    blank = np.array([not filled for filled in _has_lines(snapshot, nodes)], np.bool_)
    facts = replace(facts, sources=np.where(blank, Source.NONE, facts.sources).astype(np.uint8))
    limits = thresholds or Thresholds()
    vanished: list[Vanished] = []
    for part in parts:
        facts = with_confirmed_signatures(part.told, part.rows, part.ranges, nodes, facts, edges, limits)
        vanished += _vanished_of(snapshot, part, nodes, facts, edges, limits)
    facts = with_vanished(facts, ((each.row, each.time) for each in vanished))
    columns = {f"facts_{each.name}": getattr(facts, each.name) for each in fields(NodeFacts)}
    columns |= {f"edges_{each.name}": getattr(edges, each.name) for each in fields(GraphEdges)}
    columns |= _commit_columns(parts, len(nodes)) | _vanished_columns(vanished)
    columns["ids"] = np.array([int(node.id, 16) for node in nodes], np.uint64)
    columns["header"] = np.array([FORMAT, snapshot.generation], np.int64)
    _save(file, columns)


def _parts(rows: Sequence[Row], told: Sequence[Told]) -> list[_Part]:
    """The nodes by the repository that tells about them: the one whose folder is deepest."""
    deepest_first = sorted(told, key=lambda each: (-len(each.folder), each.folder))
    chosen: dict[str, list[int]] = {each.folder: [] for each in told}
    folders: dict[str, str] = {}  # by path
    for number, (path, *_) in enumerate(rows):
        if path not in folders:
            folders[path] = next(each.folder for each in deepest_first if path.startswith(each.folder))
        chosen[folders[path]].append(number)
    parts = []
    for each in told:
        cut = len(each.folder)
        ranges = NodeRanges.of((rows[n][0][cut:], *rows[n][1:]) for n in chosen[each.folder])
        parts.append(_Part(each, np.array(chosen[each.folder], np.int32), ranges, each.history.nodes(ranges)))
    return parts


def _gathered(found: Sequence[NodeFacts], parts: Sequence[_Part]) -> NodeFacts:
    """The parts' facts in the order of all nodes."""
    if len(parts) == 1:
        return found[0]
    order = np.argsort(np.concatenate([part.rows for part in parts]), kind="stable")
    joined = NodeFacts.joined(found)
    return NodeFacts(**{each.name: getattr(joined, each.name)[order] for each in fields(NodeFacts)})


def _commit_columns(parts: Sequence[_Part], count: int) -> Columns:
    """Every commit that touched a node last, once, and which one that is for each node."""
    last = np.full(count, -1, np.int32)
    commit_counts, author_counts = np.zeros(count, np.int32), np.zeros(count, np.int32)
    ids: list[str] = []
    authors: list[str] = []
    subjects: list[str] = []
    for part in parts:
        found, rows, store = part.histories, part.rows, part.told.store
        commit_counts[rows], author_counts[rows] = found.commits, found.authors
        numbers = np.unique(found.last[found.last > 0]) if store is not None else np.empty(0, np.int32)
        known = np.isin(found.last, numbers)
        last[rows[known]] = len(ids) + np.searchsorted(numbers, found.last[known])
        for commit in (store.commit(int(number))[0] for number in numbers) if store is not None else ():
            ids.append(commit.id)
            authors.append(commit.name)
            subjects.append(commit.subject[:MAX_SUBJECT])
    return {
        "last": last,
        "commits": np.array(ids, "U64"),
        "commit_authors": np.array(authors, np.str_),
        "commit_subjects": np.array(subjects, np.str_),
        "commit_counts": commit_counts,
        "author_counts": author_counts,
    }


def _vanished_columns(vanished: Sequence[Vanished]) -> Columns:
    return {
        "vanished_rows": np.array([each.row for each in vanished], np.int32),
        "vanished_names": np.array([each.name for each in vanished], np.str_),
        "vanished_paths": np.array([each.path for each in vanished], np.str_),
        "vanished_times": np.array([each.time for each in vanished], np.int64),
        "vanished_commits": np.array([each.commit for each in vanished], "U64"),
    }


def _save(file: Path, columns: Columns) -> None:
    buffer = io.BytesIO()
    np.savez(buffer, **columns)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, buffer.getvalue())


# what old nodes called and is gone


def _vanished_of(
    snapshot: Snapshot,
    part: _Part,
    nodes: Sequence[CodeNode],
    facts: NodeFacts,
    edges: GraphEdges,
    limits: Thresholds,
) -> list[Vanished]:
    """What the old nodes of one repository called and is gone; nothing where old versions cannot be read."""
    told = part.told
    if told.git is None or told.store is None:
        return []
    calls = _dangling_calls(snapshot, part, nodes, facts, edges, limits)
    try:
        found = find_vanished(told.git, told.store, told.history, calls, read_signatures)
    except GitError:
        return []
    return [replace(each, path=told.folder + each.path) for each in found]


def _dangling_calls(
    snapshot: Snapshot,
    part: _Part,
    nodes: Sequence[CodeNode],
    facts: NodeFacts,
    edges: GraphEdges,
    limits: Thresholds,
) -> Iterator[Dangling]:
    """The calls of old nodes whose callee's name no node of today has."""
    alone = np.zeros(len(nodes), np.bool_)
    alone[left_alone(facts, edges, limits)] = True
    rows = part.rows[alone[part.rows]].tolist()
    existing = {node.name for node in nodes}
    near = _near_files(nodes, edges, limits, part.told.folder)
    by_path: dict[str, list[int]] = {}
    for row in rows:
        by_path.setdefault(nodes[row].path, []).append(row)
    libraries = {node.id: node.qualified_name for node in snapshot.load_nodes() if node.kind is NodeKind.EXTERNAL}
    cut = len(part.told.folder)
    for path, own in sorted(by_path.items()):
        graph = snapshot.graph_of(path)
        if graph is None:
            continue
        row_of = {nodes[row].id: row for row in own}
        written = {(call.source, call.name) for call in graph.unresolved}
        written |= {
            (edge.source, libraries[edge.target])
            for edge in graph.edges
            if edge.kind is EdgeKind.CALLS and edge.confidence >= limits.confidence and edge.target in libraries
        }
        for source, name in sorted(written):
            if source in row_of:
                row = row_of[source]
                call = Dangling(row, path[cut:], int(facts.positions[row]), name, near.get(path, frozenset()))
                if call.name not in existing:
                    yield call


def _near_files(
    nodes: Sequence[CodeNode], edges: GraphEdges, limits: Thresholds, folder: str
) -> dict[str, frozenset[str]]:
    """Per file the files of its repository that it refers to, by their paths in there."""
    found: dict[str, set[str]] = {}
    sources, targets = edges.among((*DEPENDING_KINDS, EdgeKind.USES), limits.confidence)
    for source, target in zip(sources.tolist(), targets.tolist(), strict=True):
        path, other = nodes[source].path, nodes[target].path
        if path != other and other.startswith(folder):
            found.setdefault(path, set()).add(other[len(folder) :])
    return {path: frozenset(others) for path, others in found.items()}


# reading nodes


def _ranges(snapshot: Snapshot, nodes: Sequence[CodeNode]) -> list[Row]:
    """Path, lines and signature's lines of every node; nodes come file by file."""
    rows: list[Row] = []
    path, lines = "", []
    for node in nodes:
        if node.path != path:
            path = node.path
            lines = (snapshot.text(path) or "").split("\n")
        rows.append((path, node.start_line, node.end_line, *signature_lines(node, lines)))
    return rows


def _has_lines(snapshot: Snapshot, nodes: Sequence[CodeNode]) -> list[bool]:
    """Per node, whether its file has any line: one without has no history, which must not pass for old age."""
    filled = {record.path: record.size > 0 for record in snapshot.files()}
    return [filled.get(node.path, False) for node in nodes]


def signature_lines(node: CodeNode, lines: Sequence[str]) -> tuple[int, int]:
    """The lines of a node's signature, 1-based inclusive: from its name until brackets close; 0, 0 without one."""
    if node.kind not in _SIGNED_KINDS:
        return 0, 0
    name = re.compile(rf"(?<!\w){re.escape(node.name)}(?!\w)")
    for number in range(node.start_line, min(node.end_line, len(lines)) + 1):
        if name.search(lines[number - 1]) and not lines[number - 1].lstrip().startswith(("#", "//", "*", "@")):
            return number, _closing_line(lines, number, min(node.end_line, len(lines)))
    return 0, 0


def _closing_line(lines: Sequence[str], first: int, last: int) -> int:
    depth = 0
    for number in range(first, min(last, first + MAX_SIGNATURE_LINES - 1) + 1):
        text = lines[number - 1]
        depth += sum(text.count(char) for char in _OPENING) - sum(text.count(char) for char in _CLOSING)
        if depth <= 0 or text.rstrip().endswith("{"):
            return number
    return first


def with_confirmed_signatures(
    told: Told,
    among: Ints,
    ranges: NodeRanges,
    nodes: Sequence[CodeNode],
    facts: NodeFacts,
    edges: GraphEdges,
    limits: Thresholds,
) -> NodeFacts:
    """The facts with the signature changes that matter confirmed by text: lines are touched for less.

    Of the nodes in rows `among`, whose lines `ranges` are. Where old versions cannot be read (a partial clone), what
    the lines say stands.
    """
    if told.git is None or told.store is None:
        return facts
    rows = np.intersect1d(suspects(facts, edges, limits), among)
    places = np.searchsorted(among, rows)
    names = names_within_files(nodes)
    signed = [
        SignedNode(
            ranges.paths[place],
            names[nodes[row].id],
            int(ranges.signature_starts[place]),
            int(ranges.signature_ends[place]),
        )
        for row, place in zip(rows.tolist(), places.tolist(), strict=True)
    ]
    try:
        numbers = last_changes(told.git, told.store, told.history, signed, read_signatures)
    except GitError:
        return facts
    return with_signatures(facts, told.history, rows, numbers)


def read_signatures(path: str, source: bytes) -> dict[str, str]:
    """What the signatures of a file's definitions say, by their names within it."""
    from ctxsearch.indexer.languages import detect
    from ctxsearch.indexer.parse import parse

    spec = detect(path, source[:200])
    structured = spec is not None and spec.module != ""
    definitions = parse(path, source).definitions
    return {each.qualified_name: _said(each) if structured else _squeezed(each.signature) for each in definitions}


def _said(definition: Definition) -> str:
    """A signature's meaning, without comments, layout, or the values of defaults."""
    params = [(each.name, each.type, each.kind, each.default >= 0) for each in definition.params]
    kept = (definition.kind, params, definition.result, definition.bases, definition.implements)
    return repr((*kept, definition.type_params, definition.receiver, definition.flags & _SIGNED_FLAGS))


def _squeezed(signature: str) -> str:
    """For languages of which only the text is known."""
    return "".join(signature.split())


def names_within_files(nodes: Sequence[CodeNode]) -> dict[NodeId, str]:
    """Each node's name within its file, as the parser gives it: the names of what contains it, dotted."""
    names: dict[NodeId, str] = {}
    known = {node.id: node for node in nodes}
    for node in nodes:
        parts, at = [node.name], known.get(node.parent) if node.parent is not None else None
        while at is not None and at.kind is not NodeKind.MODULE:
            parts.append(at.name)
            at = known.get(at.parent) if at.parent is not None else None
        names[node.id] = ".".join(reversed(parts))
    return names


def _edges_between(snapshot: Snapshot, nodes: Sequence[CodeNode]) -> GraphEdges:
    """The edges among the nodes that have a file, by their positions there."""
    everything = snapshot.load_nodes()
    table = snapshot.load_edges()
    position = {node.id: row for row, node in enumerate(nodes)}
    moved = np.array([position.get(node.id, -1) for node in everything], np.int32)
    sources, targets = moved[table.source], moved[table.target]
    kept = (sources >= 0) & (targets >= 0)
    return GraphEdges(sources[kept], targets[kept], table.kind[kept], table.confidence[kept])
