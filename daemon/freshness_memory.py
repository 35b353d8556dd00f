"""What freshness needs of each file's nodes, remembered from one generation to the next.

Lines of nodes and of their signatures, and the calls that lead out of the repository or nowhere. Reading these takes
most of the time that freshness takes, so that only files which changed are read again. Never runs git.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import attrgetter

import numpy as np

from ctxsearch.graph.attribution import Ints
from ctxsearch.graph.catalog import Snapshot
from ctxsearch.graph.model import CALLABLE_KINDS, TYPE_KINDS, CodeNode, EdgeKind, NodeId
from ctxsearch.graph.vanished import call_parts

Calls = tuple[tuple[NodeId, tuple[str, ...]], ...]  # who calls, and the parts of what is written

MAX_SIGNATURE_LINES = 12
_SIGNED_KINDS = CALLABLE_KINDS | TYPE_KINDS
_OPENING, _CLOSING = "([{", ")]}"


class FileMemory:
    """Per file what was read of it. Belongs to one catalog and one thread; `follow` comes before every use."""

    def __init__(self) -> None:
        self._generation = 0
        self._lines: dict[str, Ints] = {}
        self._calls: dict[str, tuple[float, Calls]] = {}  # with the confidence that they were read for

    def follow(self, snapshot: Snapshot) -> None:
        """Forget what has changed since the last generation that was followed."""
        changes = snapshot.changes_since(self._generation)
        for path in (*changes.changed, *changes.removed):
            self._lines.pop(path, None)
            self._calls.pop(path, None)
        self._generation = snapshot.generation

    def lines(self, snapshot: Snapshot, nodes: Sequence[CodeNode]) -> Ints:
        """A row per node: first and last line, first and last line of the signature. Nodes come file by file."""
        rows: list[Ints] = []
        for path, group in groupby(nodes, key=attrgetter("path")):
            own = list(group)
            known = self._lines.get(path)
            if known is None:
                text = (snapshot.text(path) or "").split("\n")
                found = [(node.start_line, node.end_line, *signature_lines(node, text)) for node in own]
                known = self._lines[path] = np.array(found, np.int32)
            rows.append(known)
        return np.concatenate(rows) if rows else np.empty((0, 4), np.int32)

    def calls(self, snapshot: Snapshot, libraries: Mapping[NodeId, str], confidence: float, path: str) -> Calls:
        """The calls of a file's nodes that lead to a library, surely enough, or to nothing; not to the language itself.

        `libraries` are the names of the nodes that stand for libraries' symbols.
        """
        known = self._calls.get(path)
        if known is None or known[0] != confidence:
            known = self._calls[path] = confidence, _read_calls(snapshot, path, libraries, confidence)
        return known[1]


def _read_calls(snapshot: Snapshot, path: str, libraries: Mapping[NodeId, str], confidence: float) -> Calls:
    graph = snapshot.graph_of(path)
    if graph is None:
        return ()
    from ctxsearch.graph.resolve.builtins import is_builtin

    written = {(call.source, call.name) for call in graph.unresolved}
    language = next((record.node.language for record in graph.nodes if record.node.language), "")
    written |= {
        (edge.source, libraries[edge.target])
        for edge in graph.edges
        if edge.kind is EdgeKind.CALLS
        and edge.confidence >= confidence
        and edge.target in libraries
        and not is_builtin(language, libraries[edge.target])  # that leads somewhere: nothing is missing
    }
    return tuple((source, call_parts(name)) for source, name in sorted(written))


def signature_lines(node: CodeNode, lines: Sequence[str]) -> tuple[int, int]:
    """The lines of a node's signature, 1-based inclusive: from its name until brackets close; 0, 0 without one."""
    if node.kind not in _SIGNED_KINDS:
        return 0, 0
    for number in range(node.start_line, min(node.end_line, len(lines)) + 1):
        text = lines[number - 1]
        if _has_word(text, node.name) and not text.lstrip().startswith(("#", "//", "*", "@")):
            return number, _closing_line(lines, number, min(node.end_line, len(lines)))
    return 0, 0


def _has_word(text: str, word: str) -> bool:
    """By hand: a pattern per name would take longer to compile than to look for."""
    at = text.find(word)
    while at >= 0:
        if not _is_letter(text[at - 1 : at]) and not _is_letter(text[at + len(word) : at + len(word) + 1]):
            return True
        at = text.find(word, at + 1)
    return False


def _is_letter(char: str) -> bool:
    return char.isalnum() or char == "_"


def _closing_line(lines: Sequence[str], first: int, last: int) -> int:
    depth = 0
    for number in range(first, min(last, first + MAX_SIGNATURE_LINES - 1) + 1):
        text = lines[number - 1]
        depth += sum(text.count(char) for char in _OPENING) - sum(text.count(char) for char in _CLOSING)
        if depth <= 0 or text.rstrip().endswith("{"):
            return number
    return first
