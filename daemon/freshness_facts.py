"""The facts behind the freshness of every node of one generation, worked out by the follower and kept in one file.

The file holds facts in columns, not classes: these depend on a clock and on thresholds, and are worked out where
questions are answered (`daemon/freshness.py`). Only this side runs git and the parser.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ctxsearch.daemon.freshness_memory import Calls, FileMemory
from ctxsearch.daemon.registry import write_atomically
from ctxsearch.graph.attribution import Ints
from ctxsearch.graph.catalog import Snapshot
from ctxsearch.graph.facts import Definition, ParamKind
from ctxsearch.graph.freshness import (
    DEPENDING_KINDS,
    GraphEdges,
    NodeFacts,
    Thresholds,
    depending_on,
    left_alone,
    suspects,
    with_signatures,
    with_unchecked,
    with_vanished,
)
from ctxsearch.graph.git import Git, GitError
from ctxsearch.graph.history import History, HistoryStore, NodeRanges
from ctxsearch.graph.model import CodeNode, EdgeKind, NodeFlag, NodeId, NodeKind
from ctxsearch.graph.node_history import NodeHistories
from ctxsearch.graph.signatures import Parameter, Signature, SignedNode, last_changes
from ctxsearch.graph.vanished import Dangling, Vanished, find_vanished

Columns = dict[str, Any]  # arrays by name, as they lie in the file

FORMAT = 5
MAX_SUBJECT = 120  # characters kept of a commit's subject
_NAMED_ARGUMENTS = frozenset({"python", "kotlin", "csharp", "php"})  # where a caller may name any parameter
_SIGNED_FLAGS = NodeFlag.STATIC | NodeFlag.ASYNC | NodeFlag.PROPERTY | NodeFlag.CLASS_METHOD | NodeFlag.PRIVATE


@dataclass(frozen=True, slots=True)
class Told:
    """What one git repository tells: that of the indexed root, or a submodule's."""

    folder: str  # where its files begin beneath the root, ending in '/'; '' for the root's own
    history: History  # by paths beneath that folder
    store: HistoryStore | None = None  # None: there is no git
    git: Git | None = None


@dataclass(frozen=True, slots=True)
class _World:
    """What the catalog says of a generation."""

    nodes: Sequence[CodeNode]  # those with a file
    edges: GraphEdges
    limits: Thresholds
    calls_of: Callable[[str], Calls]  # by path


@dataclass(frozen=True, slots=True)
class _Part:
    """The nodes that one repository tells about."""

    told: Told
    rows: Ints  # among all nodes
    ranges: NodeRanges  # by paths beneath the repository's folder
    histories: NodeHistories


def store_freshness(
    file: Path,
    snapshot: Snapshot,
    told: Sequence[Told],
    thresholds: Thresholds | None = None,
    memory: FileMemory | None = None,
) -> tuple[str, ...]:
    """Works out the facts of every node of a generation and keeps them in `file`; returns what could not be found out.

    The thresholds say which nodes are old, whose dependencies are then looked at closely. A memory that was used for
    an earlier generation of the same catalog only spares reading files again.
    """
    memory = memory or FileMemory()
    memory.follow(snapshot)
    everything = snapshot.load_nodes()
    nodes = [node for node in everything if node.path]
    parts = _parts(nodes, memory.lines(snapshot, nodes), told)
    limits = thresholds or Thresholds()
    libraries = {node.id: node.qualified_name for node in everything if node.kind is NodeKind.EXTERNAL}
    calls_of = partial(memory.calls, snapshot, libraries, limits.confidence)
    edges = _edges_between(snapshot, everything, nodes)
    world = _World(nodes, edges, limits, calls_of)
    blank = np.array([not filled for filled in _has_lines(snapshot, nodes)], np.bool_)
    told_of = (NodeFacts.of(each.told.history, each.ranges.paths, each.histories, blank[each.rows]) for each in parts)
    facts = _gathered(list(told_of), parts)
    vanished: list[Vanished] = []
    problems: list[str] = []
    for part in parts:
        facts = with_confirmed_signatures(part.told, part.rows, part.ranges, nodes, facts, edges, limits)
        found, unsure = _vanished_of(part, world, facts)
        facts = with_unchecked(facts, unsure)
        vanished += found
        if count := int(facts.unchecked[part.rows].sum()):
            problems.append(_unchecked(part.told.folder, count))
    facts = with_vanished(facts, ((each.row, each.time) for each in vanished))
    columns = {f"facts_{each.name}": getattr(facts, each.name) for each in fields(NodeFacts)}
    columns |= {f"edges_{each.name}": getattr(edges, each.name) for each in fields(GraphEdges)}
    columns |= _commit_columns(parts, len(nodes)) | _vanished_columns(vanished)
    columns["ids"] = np.array([int(node.id, 16) for node in nodes], np.uint64)
    columns["header"] = np.array([FORMAT, snapshot.generation], np.int64)
    columns["head"] = np.array([snapshot.meta("commit") or ""], np.str_)
    _save(file, columns)
    return tuple(problems)


def _unchecked(folder: str, count: int) -> str:
    where = folder or "the repository"
    return f"git cannot show old versions of files of {where}: {count} old nodes not checked for risks; run `git fsck`"


def _parts(nodes: Sequence[CodeNode], lines: Ints, told: Sequence[Told]) -> list[_Part]:
    """The nodes by the repository that tells about them: the one whose folder is deepest."""
    deepest_first = sorted(told, key=lambda each: (-len(each.folder), each.folder))
    chosen: dict[str, list[int]] = {each.folder: [] for each in told}
    folders: dict[str, str] = {}  # by path
    for number, node in enumerate(nodes):
        path = node.path
        if path not in folders:
            folders[path] = next(each.folder for each in deepest_first if path.startswith(each.folder))
        chosen[folders[path]].append(number)
    parts = []
    for each in told:
        cut, rows = len(each.folder), np.array(chosen[each.folder], np.int32)
        ranges = NodeRanges(tuple(nodes[n].path[cut:] for n in chosen[each.folder]), *lines[rows].T)
        parts.append(_Part(each, rows, ranges, each.history.nodes(ranges)))
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


def _vanished_of(part: _Part, world: _World, facts: NodeFacts) -> tuple[list[Vanished], set[int]]:
    """What the old nodes of one repository called and is gone, and the nodes of which git cannot tell."""
    told = part.told
    if told.git is None or told.store is None:
        return [], set()
    calls = list(_dangling_calls(part, world, facts))
    try:
        found, unsure = find_vanished(told.git, told.store, told.history, calls, read_names)
    except GitError:
        return [], {call.row for call in calls}
    return [replace(each, path=told.folder + each.path) for each in found], unsure


def _dangling_calls(part: _Part, world: _World, facts: NodeFacts) -> Iterator[Dangling]:
    """The calls of old nodes whose callee's name no node of today has."""
    nodes, edges, limits = world.nodes, world.edges, world.limits
    alone = np.zeros(len(nodes), np.bool_)
    alone[left_alone(facts, edges, limits)] = True
    rows = part.rows[alone[part.rows]].tolist()
    existing = {node.name for node in nodes}
    near = _near_files(nodes, edges, limits, part.told.folder)
    by_path: dict[str, list[int]] = {}
    for row in rows:
        by_path.setdefault(nodes[row].path, []).append(row)
    cut = len(part.told.folder)
    for path, own in sorted(by_path.items()):
        row_of = {nodes[row].id: row for row in own}
        for source, (*qualifiers, name) in world.calls_of(path):
            if source in row_of and name not in existing:
                row = row_of[source]
                neighbours = near.get(path, frozenset())
                yield Dangling(row, path[cut:], int(facts.positions[row]), name, frozenset(qualifiers), neighbours)


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


def _has_lines(snapshot: Snapshot, nodes: Sequence[CodeNode]) -> list[bool]:
    """Per node, whether its file has any line: one without has no history, which must not pass for old age."""
    filled = {record.path: record.size > 0 for record in snapshot.files()}
    return [filled.get(node.path, False) for node in nodes]


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

    Of the nodes in rows `among`, whose lines `ranges` are. Where old versions cannot be read, what the lines say
    stands, and the old nodes that depend on it are unchecked.
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
    old = np.intersect1d(left_alone(facts, edges, limits), among)
    try:
        numbers, unsure = last_changes(told.git, told.store, told.history, signed, read_signatures)
    except GitError:
        return with_unchecked(facts, depending_on(edges, rows, old, limits))
    checked = with_signatures(facts, told.history, rows, numbers)
    return with_unchecked(checked, depending_on(edges, rows[sorted(unsure)], old, limits)) if unsure else checked


def read_signatures(path: str, source: bytes) -> dict[str, Signature]:
    """The signatures of a file's definitions, by their names within it."""
    from ctxsearch.indexer.languages import detect
    from ctxsearch.indexer.parse import parse

    spec = detect(path, source[:200])
    language = spec.name if spec is not None and spec.module != "" else ""
    return {each.qualified_name: _signature(each, language) for each in parse(path, source).definitions}


def read_names(path: str, source: bytes) -> list[str]:
    """The names of a file's functions, types and the like."""
    from ctxsearch.indexer.parse import outline

    return [each.qualified_name for each in outline(path, source)]


def _signature(definition: Definition, language: str) -> Signature:
    """What is relied on: no comments, layout, types or values of defaults; where only the text is known, that."""
    kind, flags = definition.kind, definition.flags & _SIGNED_FLAGS
    if not language:
        return Signature(kind, flags, text="".join(definition.signature.split()))
    nameable = language in _NAMED_ARGUMENTS
    parameters = (
        Parameter(each.name if nameable or each.kind is ParamKind.KEYWORD_ONLY else "", each.kind, each.default >= 0)
        for each in definition.params
    )
    bases = frozenset(each.name for each in (*definition.bases, *definition.implements))
    return Signature(kind, flags, tuple(parameters), bases)


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


def _edges_between(snapshot: Snapshot, everything: Sequence[CodeNode], nodes: Sequence[CodeNode]) -> GraphEdges:
    """The edges among the nodes that have a file, by their positions there."""
    table = snapshot.load_edges()
    position = {node.id: row for row, node in enumerate(nodes)}
    moved = np.array([position.get(node.id, -1) for node in everything], np.int32)
    sources, targets = moved[table.source], moved[table.target]
    kept = (sources >= 0) & (targets >= 0)
    return GraphEdges(sources[kept], targets[kept], table.kind[kept], table.confidence[kept])
