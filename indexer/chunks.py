"""Pieces of a file that no definition covers: scripts, configuration, data, text of an unknown language. Pure.

A piece becomes a SECTION node named by its lines, so that long text is found by its part and not as one lump. A
short file needs none: its own node holds its text.
"""

from __future__ import annotations

from itertools import accumulate

import msgspec

from ctxsearch.graph.facts import MODULE_SCOPE, Definition, FileFacts
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages.builder import MAX_SIGNATURE, count_lines, digest

LONG_STRETCH = 120  # lines outside any definition that a reader would still take in at a glance
LONG_TEXT = 80  # the same, of a file without any definition
MIN_LINES = 50  # a piece has so many lines at least, unless it is the last
MAX_LINES = 80  # and so many at most; between the two it ends at a blank line


def with_chunks(facts: FileFacts, source: bytes) -> FileFacts:
    """The facts with a section for every piece of a long stretch that no named definition covers."""
    line_count = count_lines(source)
    if line_count <= LONG_TEXT:
        return facts
    covered = [item for item in facts.definitions if item.parent < 0 and not item.flags & NodeFlag.ANONYMOUS]
    limit = LONG_STRETCH if covered else LONG_TEXT
    gaps = [(begin, end) for begin, end in _gaps(covered, line_count) if end - begin + 1 > limit]
    if not gaps:
        return facts
    lines = source.split(b"\n")
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    pieces = [
        _section(first, last, starts, lines, source)
        for begin, end in gaps
        for first, last in _pieces(begin, end, lines)
    ]
    return msgspec.structs.replace(facts, definitions=(*facts.definitions, *pieces)) if pieces else facts


def _gaps(covered: list[Definition], line_count: int) -> list[tuple[int, int]]:
    """Stretches of lines (1-based, inclusive) outside the definitions."""
    gaps: list[tuple[int, int]] = []
    at = 1
    for item in sorted(covered, key=lambda item: item.start_line):
        if item.start_line > at:
            gaps.append((at, item.start_line - 1))
        at = max(at, item.end_line + 1)
    return [*gaps, (at, line_count)] if at <= line_count else gaps


def _pieces(begin: int, end: int, lines: list[bytes]) -> list[tuple[int, int]]:
    pieces: list[tuple[int, int]] = []
    while begin <= end:
        if not lines[begin - 1].strip():
            begin += 1
            continue
        last = end if end - begin < MAX_LINES else _cut(begin, lines)
        begin, piece = last + 1, (begin, last)
        while not lines[piece[1] - 1].strip():
            piece = piece[0], piece[1] - 1
        pieces.append(piece)
    return pieces


def _cut(begin: int, lines: list[bytes]) -> int:
    """The last blank line that leaves a piece of allowed length; without one, the longest piece."""
    for line in range(begin + MAX_LINES - 1, begin + MIN_LINES - 1, -1):
        if not lines[line - 1].strip():
            return line
    return begin + MAX_LINES - 1


def _section(first: int, last: int, starts: list[int], lines: list[bytes], source: bytes) -> Definition:
    name = f"lines {first}-{last}"
    start, end = starts[first - 1], min(starts[last], len(source))
    return Definition(
        kind=NodeKind.SECTION,
        name=name,
        qualified_name=name,
        parent=MODULE_SCOPE,
        start_line=first,
        end_line=last,
        start=start,
        end=end,
        name_line=first,
        signature=" ".join(lines[first - 1].decode("utf-8", "replace").split())[:MAX_SIGNATURE],
        digest=digest(source[start:end]),
    )
