"""The lines of a node that answer the query best, with what matched in them, within a budget of tokens. Pure."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate, islice, repeat
from typing import Final, NamedTuple

from ctxsearch.search.identifiers import content_words, fold, form_beginnings, is_unspaced, stem
from ctxsearch.search.results import NO_CONTENT, Highlight, ResultContent

SNIPPET_LINES: Final = 8
_MAX_CHARS: Final = 20_000  # of one node that are looked at
_MOST_CHARS: Final = 200_000  # where none of these matches
_MAX_MATCHES: Final = 200  # of a word that are highlighted
_TELLING_MATCHES: Final = 8  # of a word that choose the lines: where a word is everywhere, the next ones tell no more
_MAX_WINDOWS: Final = 12  # compared by meaning: embedding a whole file would cost more than the search
_CUT: Final = " …"  # where a line goes on
_MAX_LINE: Final = 240  # a longer line is cut behind its first match: minified code has lines of a megabyte
_BEHIND_MATCH: Final = 40  # characters that are shown of such a line
_LONGEST_LINE: Final = 1_000  # wherever it matches
_FOLDED_KEPT: Final = 10_000
_TOKEN: Final = re.compile(r"\w{1,5}|[^\w\s]")


def count_tokens(text: str) -> int:
    """About what a language model would count; rather too many than too few."""
    return sum(1 for _ in _TOKEN.finditer(text))


class _Word(NamedTuple):
    """A word to look for, in all its forms."""

    number: int  # among the words of the query
    beginning: str  # of its forms
    size: int  # of the beginning
    stem: str  # of its forms
    is_inside: bool  # stands between letters of other words


class _Searched(NamedTuple):
    """A text to look for words in. All three have the same places."""

    text: str
    lowered: str  # and without accents
    ended: str  # so that every place has a character behind it, and the first one, counting from the end, before


_Place = tuple[int, int, int]  # of a match: start, end, number of the word


class Snippets:
    """Cuts snippets for one query. `similarity` ranks pieces of text when no word of the query is in a node."""

    def __init__(self, text: str, similarity: Callable[[list[str]], list[float]] | None = None) -> None:
        """Prepare for a query text."""
        self._words = _wanted_words(text)
        self._similarity = similarity

    def snippet(self, body: str, first_line: int) -> ResultContent:
        """The best lines of a body that starts at `first_line` of its file."""
        searched = _searched(body[:_MAX_CHARS])
        places, known_to = _places(searched, self._words, 0, len(searched.text), _TELLING_MATCHES)
        if not places and len(body) > _MAX_CHARS:
            searched = _searched(body[:_MOST_CHARS])
            places, known_to = _places(searched, self._words, 0, len(searched.text), _TELLING_MATCHES)
        text = searched.text
        start, begin = _best_window(text, places) if places else self._most_similar(text.split("\n"))
        lines = text[begin:].split("\n", SNIPPET_LINES)[:SNIPPET_LINES]  # what follows is not looked at
        return self._content(searched, lines, begin, first_line + start, places, known_to)

    def full(self, body: str, first_line: int) -> ResultContent:
        """The whole body, with what matched in its first part."""
        if not body or body.isspace():
            return NO_CONTENT
        searched = _searched(body[:_MAX_CHARS])
        places, _ = _places(searched, self._words, 0, len(searched.text), _MAX_MATCHES)
        highlights = _highlights(searched.text, places[:_MAX_MATCHES], 0, first_line)
        return ResultContent(body, first_line, first_line + body.count("\n"), highlights)

    def _content(
        self,
        searched: _Searched,
        lines: list[str],
        begin: int,
        first_line: int,
        known: Sequence[_Place] = (),
        known_to: int = 0,
    ) -> ResultContent:
        """Lines that stand at `begin` of a text, cut where they are long; `known` are all places of words up to
        `known_to`."""
        text = "\n".join(lines)
        end = begin + len(text)
        if not text or text.isspace():
            return NO_CONTENT
        if end > known_to:
            places, _ = _places(searched, self._words, begin, end, _MAX_MATCHES)
        else:
            places = [place for place in known if begin <= place[0] < end]
        highlights = _highlights(searched.text, places[:_MAX_MATCHES], begin, first_line)
        if max(map(len, lines)) > _MAX_LINE:
            lines, highlights = _cut(lines, highlights, first_line)
            text = "\n".join(lines)
        return ResultContent(text, first_line, first_line + len(lines) - 1, highlights)

    def _most_similar(self, lines: list[str]) -> tuple[int, int]:
        """Where the window nearest in meaning starts, its line and place; the head when there is nothing to compare."""
        starts = range(0, len(lines), SNIPPET_LINES)[:_MAX_WINDOWS]
        if self._similarity is None or len(starts) < 2:
            best = next((index for index, line in enumerate(lines) if line.strip()), 0)
        else:
            scores = self._similarity(["\n".join(lines[start : start + SNIPPET_LINES]) for start in starts])
            best = starts[max(range(len(scores)), key=lambda index: (scores[index], -index))]
        return best, sum(map(len, lines[:best])) + best


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
def _wanted_words(text: str) -> tuple[_Word, ...]:
    """What full text looks for, in a fixed order."""
    stems = sorted({one for one in content_words(text) if len(one) > 1})
    return tuple(
        _Word(number, beginning, len(beginning), one, is_unspaced(one))
        for number, one in enumerate(stems)
        for beginning in form_beginnings(one)
    )


def _searched(text: str) -> _Searched:
    return _Searched(text, text.lower() if text.isascii() else text.translate(_folded), f"{text} ")


class _Folded(dict[int, str]):
    """Letters as full text knows them, in lower case and without accents: one for each, so that places stay."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        folded = fold(letter).lower()
        if len(folded) != 1:
            folded = letter
        if len(self) >= _FOLDED_KEPT:
            self.clear()
        self[code] = folded
        return folded


_folded = _Folded()


def _places(
    searched: _Searched, wanted: tuple[_Word, ...], begin: int, end: int, most: int
) -> tuple[list[_Place], int]:
    """Where words of identifiers are forms of what is wanted, in order, with the word's number; of each word the first
    ones, and up to where those are all.

    `get` in getUser and get_user, not in target. Plain `find` per word, of what all of its forms begin with: ten times
    faster here than one regular expression over all of them.
    """
    lowered, ended = searched.lowered, searched.ended
    find = lowered.find
    places: list[_Place] = []
    known_to = end
    for number, beginning, size, common, is_inside in wanted:
        if beginning.isdigit():
            found = _numbers(lowered, beginning, number, begin, end)
            places += islice(found, most)
            known_to = min(known_to, next(found, (known_to,))[0])
            continue
        start = find(beginning, begin, end)
        enough = len(places) + most
        while start >= 0 and len(places) < enough:
            after = start + size
            before = ended[start - 1]
            if (
                not before.isalpha()
                or is_inside
                or (ended[start].isupper() and (not before.isupper() or ended[start + 1].islower()))
            ):
                if ended[after].islower():
                    after += 1
                    while ended[after].islower():
                        after += 1
                elif ended[after].isupper() and ended[after - 1].isupper():
                    after = _end_of_capitals(ended, after)
                if stem(lowered[start:after]) == common:
                    places.append((start, after, number))
            start = find(beginning, after, end)
        if 0 <= start < known_to:
            known_to = start
    places.sort()
    return places, known_to


def _numbers(text: str, digits: str, number: int, begin: int, end: int) -> Iterator[_Place]:
    """Where a number is: 256 in sha256, not in 2560."""
    for one in re.compile(rf"(?<!\d){digits}(?!\d)").finditer(text, begin, end):
        yield one.start(), one.end(), number


def _end_of_capitals(text: str, place: int) -> int:
    """Behind VALIDATION in VALIDATIONError."""
    while text[place].isupper():
        place += 1
    return place - text[place].islower()


def _best_window(text: str, places: list[_Place]) -> tuple[int, int]:
    """Where the window starts, its line and place, that has the most different words, rare ones counting more; then
    most matches.

    The window moves down the matches, always with one line of context above the first.
    """
    line_count = text.count("\n") + 1
    if line_count <= SNIPPET_LINES:
        return 0, 0
    starts, _, words = zip(*places, strict=True)
    lines = list(accumulate(map(text.count, repeat("\n"), (0, *starts), starts)))
    last_start = line_count - SNIPPET_LINES
    start = min(max(lines[0] - 1, 0), last_start)
    if lines[-1] < start + SNIPPET_LINES:  # all of them
        return start, _line_begin(text, starts[0], lines[0] - start)
    rarity = {word: words.count(word) ** -0.5 for word in set(words)}
    weights: dict[frozenset[int], int] = {}  # of the sets of words seen so far
    count = len(lines)
    first = end = best_start = best_size = best_first = 0
    best_weight = -1
    for line in dict.fromkeys(lines):
        start = line - 1 if line else 0
        if start > last_start:
            start = last_start
        reached = end
        while end < count and lines[end] < start + SNIPPET_LINES:
            end += 1
        if end == reached:  # a part of the one before
            continue
        while lines[first] < start:
            first += 1
        inside = frozenset(words[first:end])
        weight = weights.get(inside)
        if weight is None:
            # A whole number, so that sums that only differ by rounding are equal.
            weight = weights[inside] = int(sum([rarity[word] for word in inside]) * 1e9 + 0.5)
        if weight > best_weight or (weight == best_weight and end - first > best_size):
            best_weight, best_size, best_start, best_first = weight, end - first, start, first
        if end == count:  # every further one is a part of this one
            break
    return best_start, _line_begin(text, starts[best_first], lines[best_first] - best_start)


def _line_begin(text: str, place: int, above: int) -> int:
    """Where the line begins that is so many lines above a place."""
    begin = text.rfind("\n", 0, place) + 1
    for _ in range(above):
        begin = text.rfind("\n", 0, begin - 1) + 1
    return begin


def _highlights(text: str, places: list[_Place], begin: int, first_line: int) -> tuple[Highlight, ...]:
    """What matched in lines that stand at `begin` of the text; what overlaps is one."""
    found: list[Highlight] = []
    line, line_start, last_end = first_line, begin, -1
    for start, end, _ in places:
        if start < last_end:
            start = line_start + found.pop().start
            end = max(end, last_end)
        passed = text.count("\n", line_start, start)
        if passed:
            line += passed
            line_start = text.rfind("\n", line_start, start) + 1
        found.append(Highlight(line, start - line_start, end - line_start))
        last_end = end
    return tuple(found)


def _cut(
    lines: list[str], highlights: tuple[Highlight, ...], first_line: int
) -> tuple[list[str], tuple[Highlight, ...]]:
    """Lines no longer than wanted, but so that the first match of each is seen; and the matches that still are."""
    firsts = {one.line - first_line: one.end for one in reversed(highlights)}
    wanted = [firsts.get(number, 0) + _BEHIND_MATCH for number in range(len(lines))]
    ends = [min(max(one, _MAX_LINE), _LONGEST_LINE) for one in wanted]
    kept = tuple(one for one in highlights if one.end <= ends[one.line - first_line])
    return [f"{line[:end]}{_CUT}" if end < len(line) else line for line, end in zip(lines, ends, strict=True)], kept
