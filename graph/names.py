"""Finding nodes by what a person types: a name, part of a qualified name, `path:line`; near names on a miss.

Knows names, not edges. Immutable like the graph it belongs to.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from ctxsearch.graph.model import CodeNode, NodeId, NodeKind

_SEPARATORS = re.compile(r"(?:->|[.:#/\\\s])+")
_PLACE = re.compile(r"^(?P<path>.+?):(?P<line>[0-9]{1,9})(?::[0-9]+)?$")
_NEAR_NAMES = 8
_NEAR_CANDIDATES = 150  # compared exactly; the rest differ in too many letters
_LETTERS = 32  # buckets of the letter histogram

_NodeOf = Callable[[NodeId], CodeNode | None]
_Outline = Callable[[str], tuple[CodeNode, ...]]


@dataclass(frozen=True, slots=True)
class Found:
    """Exact matches, best first; names that look alike when there is none."""

    matches: tuple[CodeNode, ...]
    near: tuple[str, ...] = ()
    truncated: bool = False  # more nodes match than were asked for


class NameIndex:
    """Node ids by the words they can be found under."""

    def __init__(self, ids: dict[str, tuple[NodeId, ...]]) -> None:
        self._ids = ids

    @staticmethod
    def build(nodes: Iterable[CodeNode]) -> NameIndex:
        """From every node of a graph."""
        ids: dict[str, list[NodeId]] = {}
        for node in nodes:
            for word in _words(node):
                ids.setdefault(word, []).append(node.id)
        return NameIndex({word: tuple(own) for word, own in ids.items()})

    def replaced(self, old: Iterable[CodeNode], new: Iterable[CodeNode]) -> NameIndex:
        """Without the old nodes, with the new ones."""
        before = {(word, node.id) for node in old for word in _words(node)}
        after = {(word, node.id) for node in new for word in _words(node)}
        ids = self._ids.copy()
        for word, node in before - after:
            kept = tuple(other for other in ids[word] if other != node)
            if kept:
                ids[word] = kept
            else:
                del ids[word]
        for word, node in after - before:
            ids[word] = (*ids.get(word, ()), node)
        return NameIndex(ids)

    def find(self, text: str, limit: int, node_of: _NodeOf, outline: _Outline) -> Found:
        """See CodeGraph.find."""
        wanted = text.strip().removesuffix("()")
        place = _PLACE.match(wanted)
        if place:
            matches = self._at_line(place["path"], int(place["line"]), node_of, outline)
            if matches:
                return Found(matches[:limit], truncated=len(matches) > limit)
        ranked = []
        for candidate in self._candidates(wanted, node_of):
            tier = _tier(candidate, wanted, node_of)
            if tier is not None:
                external = candidate.kind is NodeKind.EXTERNAL
                ranked.append((tier, external, candidate.path, candidate.start_line, candidate.id, candidate))
        ranked.sort(key=lambda item: item[:5])
        if not ranked:
            return Found((), near=self._near(wanted))
        return Found(tuple(item[5] for item in ranked[:limit]), truncated=len(ranked) > limit)

    def _candidates(self, wanted: str, node_of: _NodeOf) -> list[CodeNode]:
        words = {wanted, _last_segment(wanted), wanted.rpartition("/")[2]}
        ids = {node for word in words for node in self._ids.get(word, ())} | {NodeId(wanted)}
        return [node for node in map(node_of, ids) if node is not None]

    def _at_line(self, path: str, line: int, node_of: _NodeOf, outline: _Outline) -> tuple[CodeNode, ...]:
        """The innermost node at a line, of each file whose path ends so."""
        modules = map(node_of, self._ids.get(path.rpartition("/")[2], ()))
        suffix = path.removeprefix("./")
        files = {n.path for n in modules if n is not None and f"/{n.path}".endswith(f"/{suffix}")}
        found = []
        for file in sorted(files):
            around = [node for node in outline(file) if node.start_line <= line <= node.end_line]
            if around:
                found.append(min(around, key=lambda n: (n.end_line - n.start_line, -n.start_line, n.id)))
        return tuple(found)

    def _near(self, wanted: str) -> tuple[str, ...]:
        """Names within a few edits of the last part of what was asked for, or that contain it."""
        word = _last_segment(wanted).lower()
        if not word:
            return ()
        bound = max(1, min(4, len(word) // 3))
        names = sorted(self._ids)
        scored: list[tuple[int, int, str]] = []  # edits, difference in length, name
        for name in _alike(word, names, bound):
            distance = edit_distance(word, name.lower(), bound)
            if distance <= bound:
                scored.append((distance, abs(len(name) - len(word)), name))
        if len(word) >= 3 and len(scored) < _NEAR_NAMES:
            close = {name for *_, name in scored}
            containing = (n for n in names if word in n.lower() and n not in close)
            scored.extend((bound + 1, len(name) - len(word), name) for name in containing)
        return tuple(name for *_, name in sorted(scored)[:_NEAR_NAMES])


def edit_distance(a: str, b: str, bound: int) -> int:
    """Insertions, deletions, substitutions and swaps of neighbours; `bound + 1` stands for anything larger."""
    if abs(len(a) - len(b)) > bound:
        return bound + 1
    before_last: list[int] = []
    last = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row = [i]
        for j, y in enumerate(b, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, before_last[j - 2] + 1)
            row.append(cost)
        if min(row) > bound:
            return bound + 1
        before_last, last = last, row
    return min(last[-1], bound + 1)


def _alike(word: str, names: list[str], bound: int) -> list[str]:
    """Names of similar length and letters: one edit changes a letter histogram by two at most."""
    lengths = np.fromiter(map(len, names), dtype=np.int64, count=len(names))
    similar = np.flatnonzero(np.abs(lengths - len(word)) <= bound)
    if not len(similar):
        return []
    chosen = [names[i] for i in similar.tolist()]
    distance = np.abs(_histograms([name.lower() for name in chosen]) - _histograms([word])).sum(axis=1)
    within = np.flatnonzero(distance <= 2 * bound)
    best = within[np.argsort(distance[within], kind="stable")][:_NEAR_CANDIDATES]
    return [chosen[i] for i in best.tolist()]


def _histograms(words: list[str]) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    letters = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), dtype="<u4")
    lengths = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
    bucket = np.repeat(np.arange(len(words)), lengths) * _LETTERS + letters % _LETTERS
    return np.bincount(bucket, minlength=len(words) * _LETTERS).reshape(len(words), _LETTERS)


def _words(node: CodeNode) -> set[str]:
    if node.kind is not NodeKind.MODULE and node.qualified_name.endswith(node.name):
        return {node.name}  # nearly every node; splitting the rest costs a third of a second at 100k nodes
    words = {node.name, _last_segment(node.qualified_name)}
    if node.kind is NodeKind.MODULE:
        words |= {node.path.rpartition("/")[2], _stem(node)}
    return words - {""}


def _stem(module: CodeNode) -> str:
    return module.path.rpartition("/")[2].partition(".")[0]


def _tier(node: CodeNode, wanted: str, node_of: _NodeOf) -> int | None:
    """0 for the whole address, 1 for the name, 2 for the end of the address; None for no match."""
    if wanted in (node.id, node.qualified_name) or (node.kind is NodeKind.MODULE and wanted == node.path):
        return 0
    if wanted == node.name or (node.kind is NodeKind.MODULE and wanted == _stem(node)):
        return 1
    segments = _segments(wanted)
    if segments and (_ends(_segments(node.qualified_name), segments) or _ends(_address(node, node_of), segments)):
        return 2
    return None


def _address(node: CodeNode, node_of: _NodeOf) -> list[str]:
    """The path's segments, then the names from the file down to the node: `a/b.py::Class.method`."""
    names: list[str] = []
    current: CodeNode | None = node
    while current is not None and current.kind is not NodeKind.MODULE and len(names) < 50:
        names.append(current.name)
        current = node_of(current.parent) if current.parent else None
    return _segments(node.path) + names[::-1]


def _segments(text: str) -> list[str]:
    return [segment for segment in _SEPARATORS.split(text) if segment]


def _last_segment(text: str) -> str:
    segments = _segments(text)
    return segments[-1] if segments else ""


def _ends(whole: list[str], end: list[str]) -> bool:
    return whole[-len(end) :] == end
