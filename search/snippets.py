"""The lines of a node that answer the query best, with what matched in them, within a budget of tokens. Pure."""

from __future__ import annotations

import functools
import math
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable
from itertools import accumulate, repeat
from typing import Final, NamedTuple

from ctxsearch.search.identifiers import is_unspaced, words
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


class _Matches(NamedTuple):
    """Where the query's words stand in a text, in order. Columns: most matches are only counted."""

    starts: tuple[int, ...] = ()  # offsets in the text
    ends: tuple[int, ...] = ()
    words: tuple[int, ...] = ()  # which of the query's words, by number
    lines: tuple[int, ...] = ()  # 0-based


class Snippets:
    """Cuts snippets for one query. `similarity` ranks pieces of text when no word of the query is in a node."""

    def __init__(self, text: str, similarity: Callable[[list[str]], list[float]] | None = None) -> None:
        """Prepare for a query text."""
        self._words = _telling_words(text)
        self._similarity = similarity

    def snippet(self, body: str, first_line: int) -> ResultContent:
        """The best lines of a body that starts at `first_line` of its file."""
        text = body[:_MAX_CHARS]
        count = text.count("\n") + 1
        matches = _matches(text, self._words)
        start = _best_window(matches, count) if matches.starts else self._most_similar(text.split("\n"))
        end = min(start + SNIPPET_LINES, count)
        lines = text.split("\n", end)[start:end]  # what follows is not looked at
        return _content(lines, first_line + start, _highlights(text, matches, start, end, first_line))

    def full(self, body: str, first_line: int) -> ResultContent:
        """The whole body, with what matched in its first part."""
        text, lines = body[:_MAX_CHARS], body.split("\n")
        highlights = _highlights(text, _matches(text, self._words), 0, len(lines), first_line)
        return _content(lines, first_line, highlights)

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
        return ResultContent(trimmed=True)
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


def _matches(text: str, wanted: tuple[str, ...]) -> _Matches:
    """Where words of identifiers are what is wanted: `get` in getUser and get_user, not in target.

    Plain `find` per word: ten times faster here than one regular expression over all of them.
    """
    lowered = text.lower()
    if len(lowered) != len(text):  # a letter whose lower case is longer would shift every place after it
        lowered = text
    ended = (
        f"{text} "  # so that every place has a character behind it, and the first one, counting from the end, before
    )
    places: list[tuple[int, int, int]] = []
    find = lowered.find
    for number, word in enumerate(wanted):
        start, size = find(word), len(word)
        inside = is_unspaced(word)  # stands between letters of other words
        while start >= 0 and len(places) < _MAX_MATCHES:
            end = start + size
            if not ended[end].islower():
                before = ended[start - 1]
                if not before.isalpha() or (ended[start].isupper() and not before.isupper()) or inside:
                    places.append((start, end, number))
            start = find(word, end)
    if not places:
        return _Matches()
    places.sort()
    starts_at, ends_at, numbers = zip(*places, strict=True)
    gaps = map(text.count, repeat("\n"), (0, *starts_at), starts_at)
    return _Matches(starts_at, ends_at, numbers, tuple(accumulate(gaps)))


def _best_window(matches: _Matches, line_count: int) -> int:
    """Where the window starts that has the most different words, rare ones counting more; then most matches.

    The window moves down the matches; which words are in it is one integer, a bit for each.
    """
    if line_count <= SNIPPET_LINES:
        return 0
    words, lines = matches.words, matches.lines
    last_start = line_count - SNIPPET_LINES
    first_start = min(max(lines[0] - 1, 0), last_start)  # one line of context above
    if lines[-1] < first_start + SNIPPET_LINES:  # all of them
        return first_start
    frequency = Counter(words)
    inside = dict.fromkeys(frequency, 0)  # how often each word is in the window
    weights: dict[int, float] = {}  # of the sets of words seen so far
    count = len(lines)
    present = first = end = best_start = best_size = 0
    best_weight = -1.0
    for line in dict.fromkeys(lines):
        start = line - 1 if line else 0
        if start > last_start:
            start = last_start
        while end < count and lines[end] < start + SNIPPET_LINES:
            word = words[end]
            inside[word] += 1
            present |= 1 << word
            end += 1
        while lines[first] < start:
            word = words[first]
            inside[word] -= 1
            if not inside[word]:
                present ^= 1 << word
            first += 1
        weight = weights.get(present)
        if weight is None:
            rare = [count**-0.5 for word, count in frequency.items() if present >> word & 1]
            weight = weights[present] = round(math.fsum(rare), 9)
        if weight > best_weight or (weight == best_weight and end - first > best_size):
            best_weight, best_size, best_start = weight, end - first, start
        if start == last_start:  # every further one is the same
            break
    return best_start


def _highlights(text: str, matches: _Matches, start: int, end: int, first_line: int) -> tuple[Highlight, ...]:
    """The matches in the lines `start` to `end` of the text, as far as those lines are shown."""
    found = []
    for place in range(bisect_left(matches.lines, start), bisect_left(matches.lines, end)):
        line_start = text.rfind("\n", 0, matches.starts[place]) + 1
        if matches.ends[place] - line_start <= _MAX_LINE:
            line = first_line + matches.lines[place]
            found.append(Highlight(line, matches.starts[place] - line_start, matches.ends[place] - line_start))
    return tuple(found)


def _content(lines: list[str], first_line: int, highlights: tuple[Highlight, ...]) -> ResultContent:
    text = "\n".join([line[:_MAX_LINE] for line in lines])
    if not text.strip():
        return NO_CONTENT
    return ResultContent(text, first_line, first_line + len(lines) - 1, highlights)
