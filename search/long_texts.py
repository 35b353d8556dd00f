"""Long texts as queries: issues, error reports, logs. What of them says what is looked for. Pure.

A question is one line, and every word of it counts. An issue is a title and pages of other things: steps, versions,
logs, the template's own words. Its title and what it repeats say what it is about; the rest is looked at for words
that are rare.
"""

from __future__ import annotations

import functools
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from ctxsearch.search.identifiers import content_words

SHORT_WORDS: Final = 24  # a question on one line is no longer
_LONGEST_SUFFIX: Final = 9  # characters, with the dot
_MENTIONS: Final = 64  # of a listing of files the first ones
_TEXTS_KEPT: Final = 64  # those being answered: every signal and step asks for their parts
_FENCE: Final = re.compile(r"\s*(?:```|~~~)")
_HEADING: Final = re.compile(r"\s*(?:#{1,6}\s.*|\*\*[^*]+\*\*:?)\s*")  # `### Steps`, `**Expected behavior**`
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)  # what a template tells the writer
_URL: Final = re.compile(r"\b[a-z][a-z0-9+.-]{0,20}://[^\s<>\"')\]]+", re.IGNORECASE)
_LINKED_FILE: Final = re.compile(r"/(?:blob|tree|raw|src)/[^/]+/([^#?]+)")  # how forges link a file of a repository
# One pass over the text, then one over each word: a pattern for both would try every place of a long word anew.
_WORD: Final = re.compile(r"[\w.@+/\\-]+")
_SUFFIX: Final = re.compile(r"\.[A-Za-z]\w{0,7}\Z")


class LongText(NamedTuple):
    """The parts of a text."""

    title: str  # its first line
    body: str  # the rest, without what a template says and without addresses
    prose: str  # of the body, what is no code

    @property
    def telling(self) -> str:
        """All that may say what is looked for."""
        return f"{self.title}\n{self.body}"


@dataclass(frozen=True, slots=True)
class Emphasis:
    """How much more some words of a long text count than others."""

    title: float = 2.0  # factor on words of the title
    repetition: float = 0.5  # what each doubling of how often it stands there adds to a word
    most: float = 3.0  # beyond which repetition says no more


NO_EMPHASIS: Final = Emphasis(title=1.0, repetition=0.0)


@functools.lru_cache(maxsize=_TEXTS_KEPT)
def long_text(text: str) -> LongText | None:
    """The parts of a text; None when it is a question, all of which counts."""
    title, _, rest = text.strip().partition("\n")
    if not rest and len(title.split()) <= SHORT_WORDS:
        return None
    body, prose = _without_headings(_COMMENT.sub("\n", rest))
    return LongText(_without_addresses(title), _without_addresses(body), _without_addresses(prose))


def _without_headings(text: str) -> tuple[str, str]:
    """The lines that are no headings, and of those the ones outside of code."""
    body: list[str] = []
    prose: list[str] = []
    in_code = False
    for line in text.splitlines():
        if _FENCE.match(line):
            in_code = not in_code
        elif in_code:
            body.append(line)
        elif not _HEADING.fullmatch(line):
            body.append(line)
            prose.append(line)
    return "\n".join(body), "\n".join(prose)


def _without_addresses(text: str) -> str:
    """Addresses in the web, but for the path of a linked file, are no words."""
    return _URL.sub(lambda url: " ".join(_LINKED_FILE.findall(url[0])), text)


def subject(text: str) -> str:
    """What a query is about: the title of a long text, a question as it is."""
    parts = long_text(text)
    return text if parts is None else parts.title


@functools.lru_cache(maxsize=_TEXTS_KEPT)
def weighed_words(text: str, emphasis: Emphasis) -> Mapping[str, float]:
    """The stems of a query's telling words, in order, and how much each counts: all the same in a question."""
    parts = long_text(text)
    if parts is None:
        return dict.fromkeys(content_words(text), 1.0)
    title = frozenset(content_words(parts.title))
    return {
        word: min(emphasis.most, 1.0 + emphasis.repetition * math.log2(count))
        * (emphasis.title if word in title else 1.0)
        for word, count in Counter(content_words(parts.telling)).items()
    }


@functools.lru_cache(maxsize=_TEXTS_KEPT)
def mentioned_files(text: str) -> Mapping[str, str]:
    """What a text spells like a file, by the file's name: `tree.go` of `at gin/tree.go:446`, with its longest path."""
    parts = long_text(text)
    found: dict[str, str] = {}
    for word in _WORD.findall(text if parts is None else parts.telling):
        path = word.replace("\\", "/").strip("/").rstrip(".-+@")
        name = path.rpartition("/")[2]
        if not _SUFFIX.search(name[-_LONGEST_SUFFIX:]):
            continue
        if len(path) > len(found.get(name, "")) and (name in found or len(found) < _MENTIONS):
            found[name] = path
    return found
