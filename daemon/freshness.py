"""Freshness of every node of one generation: computed by the follower, kept in one file, looked up while answering.

The file holds the facts in columns, not the classes: classifying is quick, and so the serving process can also say why.
Only the follower runs git.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxsearch.daemon.registry import write_atomically
from ctxsearch.graph.catalog import Snapshot
from ctxsearch.graph.facts import Definition
from ctxsearch.graph.freshness import (
    PENALTY,
    Classified,
    Freshness,
    GraphEdges,
    NodeFacts,
    Reason,
    ReasonKind,
    classify,
    suspects,
    with_signatures,
)
from ctxsearch.graph.git import Git, GitError
from ctxsearch.graph.history import History, HistoryStore, NodeRanges
from ctxsearch.graph.model import CALLABLE_KINDS, TYPE_KINDS, CodeNode, NodeFlag, NodeId, NodeKind
from ctxsearch.graph.node_history import Source
from ctxsearch.graph.signatures import SignedNode, last_changes
from ctxsearch.search.ports import FreshnessFact

FORMAT = 1
MAX_SIGNATURE_LINES = 12
_SIGNED_KINDS = CALLABLE_KINDS | TYPE_KINDS
_SIGNED_FLAGS = NodeFlag.STATIC | NodeFlag.ASYNC | NodeFlag.PROPERTY | NodeFlag.CLASS_METHOD | NodeFlag.PRIVATE
_OPENING, _CLOSING = "([{", ")]}"


@dataclass(frozen=True, slots=True)
class NoHistory:
    """Before history is there: nothing is known, so everything is acceptable."""

    generation: int = 0

    def fact(self, _node_id: NodeId, /) -> FreshnessFact:
        """Always the same."""
        return FreshnessFact(Freshness.ACCEPTABLE, PENALTY[Freshness.ACCEPTABLE])

    def below(self, _floor: Any, /) -> frozenset[NodeId]:
        """Nothing: an unknown node is not filtered away by a floor that it might pass."""
        return frozenset()

    def reasons(self, _node_id: NodeId, /) -> tuple[str, ...]:
        """Why."""
        return ("history is not read yet",)


NO_HISTORY = NoHistory()
NEWER_THAN_HISTORY = FreshnessFact(Freshness.FRESH, PENALTY[Freshness.FRESH], source="worktree")


class FreshnessTable:
    """The classes of one generation's nodes. Nodes that it does not know are newer than it, hence fresh."""

    def __init__(
        self,
        generation: int,
        ids: NDArray[np.uint64],
        classified: Classified,
        commits: Sequence[str],
        last: NDArray[np.int32],
        name_of: Callable[[NodeId], str],
    ) -> None:
        self.generation = generation
        self._rows = {f"{number:016x}": row for row, number in enumerate(ids.tolist())}
        self._ids = ids
        self._classified = classified
        self._commits = commits  # every commit once
        self._last = last  # per node, its position in `commits`; -1 unknown
        self._name_of = name_of
        self._below: dict[int, frozenset[NodeId]] = {}  # remembered answers, as are the facts
        self._facts: dict[NodeId, FreshnessFact] = {}

    def fact(self, node_id: NodeId) -> FreshnessFact:
        """The class and the facts behind it."""
        known = self._facts.get(node_id)
        if known is None:
            known = self._facts[node_id] = self._look_up(node_id)
        return known

    def _look_up(self, node_id: NodeId) -> FreshnessFact:
        row = self._rows.get(node_id)
        if row is None:
            return NEWER_THAN_HISTORY
        freshness = Freshness(int(self._classified.classes[row]))
        last = int(self._last[row])
        return FreshnessFact(
            freshness,
            PENALTY[freshness],
            self._commits[last] if last >= 0 else "",
            int(self._classified.facts.times[row]) if last >= 0 else 0,
            Source(int(self._classified.facts.sources[row])).name.lower(),
        )

    def below(self, floor: Any) -> frozenset[NodeId]:
        """All nodes whose class is lower; remembered, for a page asks for it again and again."""
        if int(floor) not in self._below:
            lower = self._ids[self._classified.classes < int(floor)]
            self._below[int(floor)] = frozenset(NodeId(f"{number:016x}") for number in lower.tolist())
        return self._below[int(floor)]

    def reasons(self, node_id: NodeId) -> tuple[str, ...]:
        """Why a node has its class, the weightiest reason first."""
        row = self._rows.get(node_id)
        if row is None:
            return ("written since history was last read",)
        return tuple(self._sentence(reason) for reason in self._classified.explain(row).reasons)

    def _sentence(self, reason: Reason) -> str:
        day = np.datetime64(reason.time, "s").astype("datetime64[D]") if reason.time else "unknown day"
        who = self._name_of(NodeId(f"{int(self._ids[reason.node]):016x}")) if reason.node is not None else "something"
        return {
            ReasonKind.UNCOMMITTED: "has uncommitted lines",
            ReasonKind.RECENT: f"touched on {day}",
            ReasonKind.NOT_OLD: f"touched on {day}",
            ReasonKind.LIVING_REFERENCE: f"old, but {who} refers to it, touched on {day}",
            ReasonKind.UNKNOWN_HISTORY: "its history is not known",
            ReasonKind.OLD: "not touched for long, and nothing living refers to it",
            ReasonKind.SIGNATURE_CHANGED: f"the signature of {who} changed on {day}",
            ReasonKind.DEPENDENCY_VANISHED: f"something it depends on vanished on {day}",
            ReasonKind.FIXES: f"fixed {reason.count} times",
            ReasonKind.REVERT: f"its last change, on {day}, was a revert",
            ReasonKind.REVERTED: f"its last change, on {day}, was reverted",
            ReasonKind.UNREADABLE: "the file changed and could not be indexed again",
        }[reason.kind]


def store_freshness(
    file: Path, snapshot: Snapshot, history: History, store: HistoryStore | None, git: Git | None = None
) -> None:
    """Works out the facts of every node of a generation and keeps them in `file`."""
    nodes = [node for node in snapshot.load_nodes() if node.path]
    ranges = NodeRanges.of(_ranges(snapshot, nodes))
    histories = history.nodes(ranges)
    facts = NodeFacts.of(history, ranges.paths, histories)
    blank = np.array([not filled for filled in _has_lines(snapshot, ranges.paths)], np.bool_)
    facts = replace(facts, sources=np.where(blank, Source.NONE, facts.sources).astype(np.uint8))
    edges = _edges_between(snapshot, nodes)
    if store is not None and git is not None:
        facts = with_confirmed_signatures(git, store, history, nodes, ranges, facts, edges)
    columns = {f"facts_{field.name}": getattr(facts, field.name) for field in fields(NodeFacts)}
    columns |= {f"edges_{field.name}": getattr(edges, field.name) for field in fields(GraphEdges)}
    numbers = np.unique(histories.last[histories.last > 0]) if store is not None else np.empty(0, np.int32)
    commits = [store.commit(int(number))[0].id for number in numbers] if store is not None else []
    columns["commits"] = np.array(commits, dtype="U64")
    places = np.searchsorted(numbers, histories.last).clip(max=max(len(numbers) - 1, 0))
    known = numbers[places] == histories.last if len(numbers) else np.zeros(len(nodes), np.bool_)
    columns["last"] = np.where(known, places, -1).astype(np.int32)
    columns["ids"] = np.array([int(node.id, 16) for node in nodes], np.uint64)
    columns["header"] = np.array([FORMAT, snapshot.generation], np.int64)
    _save(file, columns)


def load_freshness(file: Path, name_of: Callable[[NodeId], str]) -> FreshnessTable | None:
    """The table of a file; None when there is none or it cannot be read: the follower will write it again."""
    try:
        with np.load(file, allow_pickle=False) as stored:
            columns = {name: stored[name] for name in stored.files}
        if columns["header"][0] != FORMAT:
            return None
        facts = NodeFacts(**{field.name: columns[f"facts_{field.name}"] for field in fields(NodeFacts)})
        edges = GraphEdges(**{field.name: columns[f"edges_{field.name}"] for field in fields(GraphEdges)})
        ids = columns["ids"]
        commits, last = columns["commits"].tolist(), columns["last"]
        return FreshnessTable(int(columns["header"][1]), ids, classify(facts, edges), commits, last, name_of)
    except (OSError, ValueError, KeyError, IndexError, EOFError):
        return None


def _save(file: Path, columns: dict[str, Any]) -> None:
    import io

    buffer = io.BytesIO()
    np.savez(buffer, **columns)
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, buffer.getvalue())


def _ranges(snapshot: Snapshot, nodes: Sequence[CodeNode]) -> list[tuple[str, int, int, int, int]]:
    """Path, lines and signature's lines of every node; nodes come file by file."""
    rows: list[tuple[str, int, int, int, int]] = []
    path, lines = "", []
    for node in nodes:
        if node.path != path:
            path = node.path
            lines = (snapshot.text(path) or "").split("\n")
        rows.append((path, node.start_line, node.end_line, *signature_lines(node, lines)))
    return rows


def _has_lines(snapshot: Snapshot, paths: Sequence[str]) -> list[bool]:
    """Per node, whether its file has any line: one without has no history, which must not pass for old age."""
    filled = {record.path: record.size > 0 for record in snapshot.files()}
    return [filled.get(path, False) for path in paths]


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
    git: Git,
    store: HistoryStore,
    history: History,
    nodes: Sequence[CodeNode],
    ranges: NodeRanges,
    facts: NodeFacts,
    edges: GraphEdges,
) -> NodeFacts:
    """The facts with the signature changes that matter confirmed by text: lines are touched for less.

    Where old versions cannot be read (a partial clone), what the lines say stands.
    """
    rows = suspects(facts, edges)
    names = names_within_files(nodes)
    signed = [
        SignedNode(
            nodes[row].path,
            names[nodes[row].id],
            int(ranges.signature_starts[row]),
            int(ranges.signature_ends[row]),
        )
        for row in rows.tolist()
    ]
    try:
        numbers = last_changes(git, store, history, signed, read_signatures)
    except GitError:
        return facts
    return with_signatures(facts, history, rows, numbers)


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
