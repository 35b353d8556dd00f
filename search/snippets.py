"""The lines of a node that answer the query best, with what matched in them, within a budget of tokens. Pure."""

from __future__ import annotations

import bisect
import functools
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from ctxsearch.search.identifiers import words
from ctxsearch.search.results import NO_CONTENT, Highlight, ResultContent

SNIPPET_LINES: Final = 8
_MAX_CHARS: Final = 20_000  # of one node that are looked at
_MAX_MATCHES: Final = 400
_MAX_LINE: Final = 240  # a longer line is cut: minified code has lines of a megabyte
_TOKEN: Final = re.compile(r"\w{1,5}|[^\w\s]")
# Words that say nothing about which line is meant.
_NOISE: Final = frozenset(
    re.findall(
        r"\w+",
        "a an and are as at be by can do does for from how if in into is it its of on or that the this to via "
        "what when where which who why with",
    )
)


def count_tokens(text: str) -> int:
    """About what a language model would count; rather too many than too few."""
    return sum(1 for _ in _TOKEN.finditer(text))


class _Match(NamedTuple):
    line: int  # 0-based, in the body
    start: int  # column
    end: int
    word: str


class Snippets:
    """Cuts snippets for one query. `similarity` ranks pieces of text when no word of the query is in a node."""

    def __init__(self, text: str, similarity: Callable[[list[str]], list[float]] | None = None) -> None:
        """Prepare for a query text."""
        self._pattern = _word_pattern(text)
        self._similarity = similarity

    def snippet(self, body: str, first_line: int) -> ResultContent:
        """The best lines of a body that starts at `first_line` of its file."""
        text = body[:_MAX_CHARS]
        lines = text.split("\n")
        matches = self._matches(text)
        start = _best_window(matches, len(lines)) if matches else self._most_similar(lines)
        return _content(lines, start, min(start + SNIPPET_LINES, len(lines)), matches, first_line)

    def full(self, body: str, first_line: int) -> ResultContent:
        """The whole body, with what matched in its first part."""
        lines = body.split("\n")
        return _content(lines, 0, len(lines), self._matches(body[:_MAX_CHARS]), first_line)

    def _matches(self, text: str) -> list[_Match]:
        if self._pattern is None:
            return []
        ends = [match.start() for match in re.finditer("\n", text)]
        found = []
        for start, end, word in _whole_words(self._pattern, text):
            line = bisect.bisect_left(ends, start)
            offset = ends[line - 1] + 1 if line else 0
            found.append(_Match(line, start - offset, end - offset, word))
            if len(found) == _MAX_MATCHES:
                break
        return found

    def _most_similar(self, lines: list[str]) -> int:
        """The window nearest in meaning; the head when there is nothing to compare or one window only."""
        starts = range(0, len(lines), SNIPPET_LINES)
        if self._similarity is None or len(starts) < 2:
            return next((index for index, line in enumerate(lines) if line.strip()), 0)
        scores = self._similarity(["\n".join(lines[start : start + SNIPPET_LINES]) for start in starts])
        return starts[max(range(len(scores)), key=lambda index: (scores[index], -index))]


def within_budget(contents: list[ResultContent], max_tokens: int) -> list[ResultContent]:
    """Best results first: whole lines while they last, the rest trimmed and marked."""
    left = max_tokens
    kept = []
    for content in contents:
        wanted = count_tokens(content.text)
        if wanted > left:
            content = _shortened(content, left)
            wanted = count_tokens(content.text)
        left -= wanted
        kept.append(content)
    return kept


def _shortened(content: ResultContent, budget: int) -> ResultContent:
    taken = []
    for line in content.text.split("\n"):
        budget -= count_tokens(line)
        if budget < 0:
            break
        taken.append(line)
    if not taken:
        return replace(NO_CONTENT, trimmed=True)
    last = content.start_line + len(taken) - 1
    return ResultContent(
        "\n".join(taken),
        content.start_line,
        last,
        tuple(one for one in content.highlights if one.line <= last),
        trimmed=True,
    )


@functools.lru_cache(maxsize=64)
def _word_pattern(text: str) -> re.Pattern[str] | None:
    wanted = {word for word in words(text) if len(word) > 1}
    telling = wanted - _NOISE or wanted
    if not telling:
        return None
    return re.compile("|".join(sorted(map(re.escape, telling), key=lambda word: (-len(word), word))), re.IGNORECASE)


def _whole_words(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int, str]]:
    """Matches that are a word of an identifier, not a piece of one: `get` in getUser and get_user, not in target."""
    for match in pattern.finditer(text):
        start, end = match.span()
        if _starts_word(text, start) and _ends_word(text, end):
            yield start, end, match.group().lower()


def _starts_word(text: str, start: int) -> bool:
    return start == 0 or not text[start - 1].isalpha() or (text[start].isupper() and not text[start - 1].isupper())


def _ends_word(text: str, end: int) -> bool:
    return end == len(text) or not text[end].islower()


def _best_window(matches: list[_Match], line_count: int) -> int:
    """Where the window starts that has the most different words, rare ones counting more; then most matches."""
    frequency: dict[str, int] = {}
    for match in matches:
        frequency[match.word] = frequency.get(match.word, 0) + 1
    best = (-1.0, 0, 0)
    for first in sorted({match.line for match in matches}):
        start = max(0, min(first - 1, line_count - SNIPPET_LINES))  # one line of context above
        inside = [match for match in matches if start <= match.line < start + SNIPPET_LINES]
        weight = math.fsum(1.0 / frequency[word] ** 0.5 for word in {match.word for match in inside})
        best = max(best, (round(weight, 9), len(inside), -start))
    return -best[2]


def _content(lines: list[str], start: int, end: int, matches: list[_Match], first_line: int) -> ResultContent:
    text = "\n".join(line[:_MAX_LINE] for line in lines[start:end])
    if not text.strip():
        return NO_CONTENT
    highlights = tuple(
        Highlight(first_line + match.line, match.start, match.end)
        for match in matches
        if start <= match.line < end and match.end <= _MAX_LINE
    )
    return ResultContent(text, first_line + start, first_line + end - 1, highlights)
