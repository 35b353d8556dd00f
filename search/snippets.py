"""The lines of a node that answer the query best, with what matched in them, within a budget of tokens. Pure."""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import msgspec

from ctxsearch.search.identifiers import words
from ctxsearch.search.results import NO_CONTENT, Highlight, ResultContent

SNIPPET_LINES: Final = 8
_MAX_CHARS: Final = 20_000  # of one node that are looked at
_MAX_MATCHES: Final = 200
_MAX_WINDOWS: Final = 12  # compared by meaning: embedding a whole file would cost more than the search
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


class _Match(msgspec.Struct, frozen=True, gc=False):
    line: int  # 0-based, in the body
    start: int  # column
    end: int
    word: str


class Snippets:
    """Cuts snippets for one query. `similarity` ranks pieces of text when no word of the query is in a node."""

    def __init__(self, text: str, similarity: Callable[[list[str]], list[float]] | None = None) -> None:
        """Prepare for a query text."""
        self._words = _telling_words(text)
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
        """Where the query's words stand, line by line."""
        found = []
        line = line_start = 0
        for start, end, word in _word_places(text, self._words):
            passed = text.count("\n", line_start, start)
            if passed:
                line += passed
                line_start = text.rindex("\n", 0, start) + 1
            found.append(_Match(line, start - line_start, end - line_start, word))
        return found

    def _most_similar(self, lines: list[str]) -> int:
        """The window nearest in meaning; the head when there is nothing to compare or one window only."""
        starts = range(0, len(lines), SNIPPET_LINES)[:_MAX_WINDOWS]
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
def _telling_words(text: str) -> tuple[str, ...]:
    """The words to look for, in a fixed order; words that say little only when there is nothing else."""
    wanted = {word for word in words(text) if len(word) > 1}
    return tuple(sorted(wanted - _NOISE or wanted))


def _word_places(text: str, wanted: tuple[str, ...]) -> list[tuple[int, int, str]]:
    """Where words of identifiers are what is wanted: `get` in getUser and get_user, not in target.

    Plain `find` per word: ten times faster here than one regular expression over all of them.
    """
    lowered = text.lower()
    if len(lowered) != len(text):  # a letter whose lower case is longer would shift every place after it
        lowered = text
    places: list[tuple[int, int, str]] = []
    for word in wanted:
        start = lowered.find(word)
        while start >= 0 and len(places) < _MAX_MATCHES:
            end = start + len(word)
            before, after = text[start - 1 : start], text[end : end + 1]  # "" at either end of the text
            starts = not before.isalpha() or (text[start].isupper() and not before.isupper())
            if starts and not after.islower():
                places.append((start, end, word))
            start = lowered.find(word, end)
    places.sort()
    return places


def _best_window(matches: list[_Match], line_count: int) -> int:
    """Where the window starts that has the most different words, rare ones counting more; then most matches.

    The window moves down the matches, which are in order; what words a window has is one integer, a bit for each.
    """
    if line_count <= SNIPPET_LINES:
        return 0
    frequency = Counter(match.word for match in matches)
    bits = {word: 1 << number for number, word in enumerate(frequency)}
    weight_of: dict[int, float] = {}
    inside = dict.fromkeys(frequency, 0)  # how often each word is in the window
    words_inside = first = end = 0
    best = (-1.0, 0, 0)
    before = -1
    for match in matches:
        start = max(0, min(match.line - 1, line_count - SNIPPET_LINES))  # one line of context above
        if start == before:
            continue
        before = start
        while end < len(matches) and matches[end].line < start + SNIPPET_LINES:
            word = matches[end].word
            inside[word] += 1
            words_inside |= bits[word]
            end += 1
        while matches[first].line < start:
            word = matches[first].word
            inside[word] -= 1
            if not inside[word]:
                words_inside &= ~bits[word]
            first += 1
        weight = weight_of.get(words_inside)
        if weight is None:
            present = (count**-0.5 for word, count in frequency.items() if words_inside & bits[word])
            weight = weight_of[words_inside] = round(math.fsum(present), 9)
        best = max(best, (weight, end - first, -start))
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
