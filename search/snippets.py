"""The lines of a node that answer the query best, with what matched in them, within a budget of tokens. Pure."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from itertools import accumulate, repeat
from typing import Final, NamedTuple

from ctxsearch.search.identifiers import is_unspaced, words
from ctxsearch.search.results import NO_CONTENT, Highlight, ResultContent

SNIPPET_LINES: Final = 8
_MAX_CHARS: Final = 20_000  # of one node that are looked at
_MAX_MATCHES: Final = 200  # of a word that are highlighted
_TELLING_MATCHES: Final = 8  # of a word that choose the lines: where a word is everywhere, the next ones tell no more
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


class _Word(NamedTuple):
    """A word to look for."""

    text: str
    size: int
    is_inside: bool  # stands between letters of other words


class _Searched(NamedTuple):
    """A text to look for words in. All three have the same places."""

    text: str
    lowered: str
    ended: str  # so that every place has a character behind it, and the first one, counting from the end, before


class Snippets:
    """Cuts snippets for one query. `similarity` ranks pieces of text when no word of the query is in a node."""

    def __init__(self, text: str, similarity: Callable[[list[str]], list[float]] | None = None) -> None:
        """Prepare for a query text."""
        self._words = _telling_words(text)
        self._similarity = similarity

    def snippet(self, body: str, first_line: int) -> ResultContent:
        """The best lines of a body that starts at `first_line` of its file."""
        searched = _searched(body[:_MAX_CHARS])
        text = searched.text
        places, is_all = _places(searched, self._words, 0, len(text), _TELLING_MATCHES)
        start = _best_window(text, places) if places else self._most_similar(text.split("\n"))
        end = start + SNIPPET_LINES
        lines = text.split("\n", end)[:end]  # what follows is not looked at
        begin = sum(map(len, lines[:start])) + start
        return self._content(searched, lines[start:], begin, first_line + start, places if is_all else None)

    def full(self, body: str, first_line: int) -> ResultContent:
        """The whole body, with what matched in its first part."""
        return self._content(_searched(body[:_MAX_CHARS]), body.split("\n"), 0, first_line)

    def _content(
        self,
        searched: _Searched,
        lines: list[str],
        begin: int,
        first_line: int,
        known: list[tuple[int, int, int]] | None = None,
    ) -> ResultContent:
        """Lines that stand at `begin` of a text, cut where they are long; `known` are all places of words in it."""
        text = "\n".join([line[:_MAX_LINE] for line in lines])
        if not text.strip():
            return NO_CONTENT
        end = begin + sum(map(len, lines)) + len(lines) - 1
        if known is None:
            places, _ = _places(searched, self._words, begin, end, _MAX_MATCHES)
        else:
            places = [place for place in known if begin <= place[0] and place[1] <= end]
        highlights = _highlights(searched.text, places[:_MAX_MATCHES], begin, first_line)
        return ResultContent(text, first_line, first_line + len(lines) - 1, highlights)

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
def _telling_words(text: str) -> tuple[_Word, ...]:
    """The words to look for, in a fixed order; words that say little only when there is nothing else."""
    wanted = {word for word in words(text) if len(word) > 1}
    return tuple(_Word(word, len(word), is_unspaced(word)) for word in sorted(wanted - _NOISE or wanted))


def _searched(text: str) -> _Searched:
    lowered = text.lower()
    # A letter whose lower case is longer would shift every place after it.
    return _Searched(text, lowered if len(lowered) == len(text) else text, f"{text} ")


def _places(
    searched: _Searched, wanted: tuple[_Word, ...], begin: int, end: int, most: int
) -> tuple[list[tuple[int, int, int]], bool]:
    """Where words of identifiers are what is wanted, in order, with the word's number; of each word the first ones,
    and whether those are all.

    `get` in getUser and get_user, not in target. Plain `find` per word: ten times faster here than one regular
    expression over all of them.
    """
    find, ended = searched.lowered.find, searched.ended
    places: list[tuple[int, int, int]] = []
    is_all = True
    for number, (word, size, is_inside) in enumerate(wanted):
        start = find(word, begin, end)
        enough = len(places) + most
        while start >= 0 and len(places) < enough:
            after = start + size
            if not ended[after].islower():
                before = ended[start - 1]
                if not before.isalpha() or (ended[start].isupper() and not before.isupper()) or is_inside:
                    places.append((start, after, number))
            start = find(word, after, end)
        is_all &= start < 0
    places.sort()
    return places, is_all


def _best_window(text: str, places: list[tuple[int, int, int]]) -> int:
    """Where the window starts that has the most different words, rare ones counting more; then most matches.

    The window moves down the matches, always with one line of context above the first.
    """
    line_count = text.count("\n") + 1
    if line_count <= SNIPPET_LINES:
        return 0
    starts, _, words = zip(*places, strict=True)
    lines = list(accumulate(map(text.count, repeat("\n"), (0, *starts), starts)))
    last_start = line_count - SNIPPET_LINES
    first_start = min(max(lines[0] - 1, 0), last_start)
    if lines[-1] < first_start + SNIPPET_LINES:  # all of them
        return first_start
    rarity = {word: words.count(word) ** -0.5 for word in set(words)}
    weights: dict[frozenset[int], float] = {}  # of the sets of words seen so far
    count = len(lines)
    first = end = best_start = best_size = 0
    best_weight = -1.0
    for line in dict.fromkeys(lines):
        start = line - 1 if line else 0
        if start > last_start:
            start = last_start
        while end < count and lines[end] < start + SNIPPET_LINES:
            end += 1
        while lines[first] < start:
            first += 1
        inside = frozenset(words[first:end])
        weight = weights.get(inside)
        if weight is None:
            weight = weights[inside] = round(math.fsum([rarity[word] for word in inside]), 9)
        if weight > best_weight or (weight == best_weight and end - first > best_size):
            best_weight, best_size, best_start = weight, end - first, start
        if start == last_start:  # every further one is the same
            break
    return best_start


def _highlights(text: str, places: list[tuple[int, int, int]], begin: int, first_line: int) -> tuple[Highlight, ...]:
    """What matched in lines that stand at `begin` of the text, as far as they are shown."""
    found = []
    line, line_start = first_line, begin
    for start, end, _ in places:
        passed = text.count("\n", line_start, start)
        if passed:
            line += passed
            line_start = text.rfind("\n", line_start, start) + 1
        if end - line_start <= _MAX_LINE:
            found.append(Highlight(line, start - line_start, end - line_start))
    return tuple(found)
