"""Identifiers as people read them: `getHTTPResponse`, `get_http_response` and `get http response` are the
same words.

Pure text. Every index and every query goes through here, so that they always agree on what a word is.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterable

# One run of letters, digits, underscores or dollar signs (JavaScript, PHP, Java inner classes), in any
# script.
_IDENTIFIER = re.compile(r"[\w$]+")
# Blanks for whatever ends an identifier: for plain ASCII, splitting at them is three times as fast.
_ONLY_IDENTIFIERS = {code: " " for code in range(128) if not _IDENTIFIER.match(chr(code))}
_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^\W\d_A-Za-z]+")
# Scripts that put no blanks between words: Thai, kana, Han, Hangul (whose particles cling to their words).
_UNSPACED = re.compile(
    "[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]{2,}"
)
# Longer words are hashes, encoded data or generated names: nobody types them, and they bloat the dictionary.
MAX_WORD = 64
_CACHE_LIMIT = 400_000
_QUERIES_KEPT = 64  # those being answered: every signal and step asks for their words

_parts_cache: dict[str, tuple[str, ...]] = {}


def split_identifier(identifier: str) -> tuple[str, ...]:
    """Lower-case parts of one identifier: `HTTPServer2` -> http, server, 2. Never longer than MAX_WORD
    each."""
    parts = _parts_cache.get(identifier)
    if parts is None:
        parts = _split(identifier)
        if len(_parts_cache) >= _CACHE_LIMIT:
            _parts_cache.clear()
        _parts_cache[identifier] = parts
    return parts


def _split(identifier: str) -> tuple[str, ...]:
    if identifier.isascii():
        return tuple(part.lower()[:MAX_WORD] for part in _PARTS.findall(identifier))
    return tuple(word[:MAX_WORD] for part in _PARTS.findall(fold(identifier)) for word in _spaced(part.lower()))


def _spaced(part: str) -> list[str]:
    """What is written without blanks, as overlapping pairs of letters: `数据库` is found in `数据库连接`."""
    if not is_unspaced(part):
        return [part]
    return [part[place : place + 2] for place in range(len(part) - 1)]


def is_unspaced(word: str) -> bool:
    """Whether a word is of a script that puts no blanks between words."""
    return not word.isascii() and _UNSPACED.fullmatch(word) is not None


# Latin letters that are no others with a mark.
_LATIN = str.maketrans(
    {"ß": "ss", "ẞ": "SS", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D", "ı": "i"}
    | {"æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ð": "d", "Ð": "D", "þ": "th", "Þ": "TH"}
)


def fold(text: str) -> str:
    """Accents removed and compatibility forms unified, so that `café` and `cafe` meet, `straße` and `strasse`.

    Only combining marks go; letters of other scripts stay as they are.
    """
    decomposed = unicodedata.normalize("NFKD", text.translate(_LATIN))
    return unicodedata.normalize("NFC", "".join(char for char in decomposed if not unicodedata.combining(char)))


# Of one verb: `validate`, `validating`, `validation`; `tokenize`, `tokenizer`.
_VERBAL = ("ization", "ation", "ating", "ated", "ator", "ate", "izing", "ized", "izer", "ize")
_FORMS = ("ing", "ied", "ed", "er", "or")
_VOWELS = frozenset("aeiouy")
_MIN_STEM = 3
_MIN_VERBAL_STEM = 4  # `create` and `creation` keep their `at`
_MIN_MENT_STEM = 6  # `statement` is no `state`


def stem(word: str) -> str:
    """A word without its English endings: `serialization`, `serializer` and `serializes` share one stem.

    Light on purpose: it never looks inside a word, and a short word stays as it is.
    """
    known = _stems.get(word)
    if known is None:
        known = _stemmed(word)
        if len(_stems) >= _CACHE_LIMIT:
            _stems.clear()
        _stems[word] = known
    return known


def _stemmed(word: str) -> str:
    if not word.isascii():
        return word
    shorter = _singular(word)
    while (before := shorter) != (shorter := _shortened(before)):
        pass
    return shorter


def form_beginnings(common: str) -> tuple[str, ...]:
    """What the words of one stem begin with: the stem; `tries`, whose stem is `try`, is the exception."""
    return (common, f"{common[:-1]}ies") if common.endswith("y") else (common,)


# Words on -as whose s is their own; most others are several of something: `schemas`, `lambdas`, `replicas`.
_NO_PLURAL = frozenset(["alias", "atlas", "bias", "canvas"])


def _singular(word: str) -> str:
    """`queries` -> query; the s of `class`, `status` and `axis` is their own."""
    if len(word) <= _MIN_STEM or not word.endswith("s") or word.endswith(("ss", "us", "is")) or word in _NO_PLURAL:
        return word
    return f"{word[:-3]}y" if word.endswith("ies") and len(word) > _MIN_STEM + 1 else word[:-1]


def _shortened(word: str) -> str:
    """A word without its last ending; itself when it has none."""
    for ending in _VERBAL:
        if word.endswith(ending) and len(word) - len(ending) >= _MIN_VERBAL_STEM:
            return word.removesuffix(ending)
    for ending in _FORMS:
        if word.endswith(ending) and _is_stem(rest := word.removesuffix(ending)):
            return rest[:-1] if _is_doubled(rest) else rest  # `stopping` -> stop
    if word.endswith(("tion", "sion")) and _is_stem(word[:-3]):
        return word[:-3]
    if word.endswith("ment") and len(word) - len("ment") >= _MIN_MENT_STEM:
        return word.removesuffix("ment")
    if word.endswith("ie") and _is_stem(word[:-2]):  # `cookies` may be of a cooky
        return word[:-2]
    return word[:-1] if word.endswith(("e", "y")) and _is_stem(word[:-1]) else word


def _is_stem(rest: str) -> bool:
    return len(rest) >= _MIN_STEM and not _VOWELS.isdisjoint(rest)


def _is_doubled(rest: str) -> bool:
    """A consonant that an ending doubled; `calling`, `passing` and `buzzing` had two before."""
    return len(rest) > _MIN_STEM and rest[-1] == rest[-2] and rest[-1] not in "lsz" and rest[-1] not in _VOWELS


_stems: dict[str, str] = {}

# Words of a question that say nothing about what is looked for.
_QUESTION = frozenset(
    [
        "how",
        "what",
        "where",
        "when",
        "which",
        "why",
        "who",
        "does",
        "do",
        "did",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "the",
        "a",
        "an",
        "of",
        "to",
        "in",
        "and",
        "or",
        "for",
        "with",
        "by",
        "on",
        "from",
        "that",
        "this",
        "these",
        "those",
        "it",
        "its",
        "into",
        "as",
        "at",
        "via",
        "using",
        "used",
        "use",
        "uses",
        "between",
        "can",
        "could",
        "should",
        "would",
        "there",
        "here",
        "if",
        "handled",
        "handle",
        "handles",
        "implementation",
        "implements",
        "implement",
        "implemented",
        "works",
        "work",
        "working",
    ]
)


@functools.lru_cache(maxsize=_QUERIES_KEPT)
def content_words(text: str) -> tuple[str, ...]:
    """The words of a query that say what is looked for, as stems; all of them when nothing else is there."""
    found = query_words(text)
    return tuple(map(stem, _telling(found) or found))


def _telling(found: Iterable[str]) -> list[str]:
    return [word for word in found if word not in _QUESTION]


_POSSESSED = re.compile(r"[\w$]+(?:['’]s\b)?")


def without_name(text: str, name: str) -> str:
    """A question without the name of what it is asked of: in ripgrep, "ripgrep" tells no place from another.

    As it is when fewer than two telling words would be left: then the name is what is looked for.
    """
    form = whole_form(name)
    if form not in "".join(words(text)):
        return text
    left = _POSSESSED.sub(lambda one: "" if whole_form(re.split("['’]", one[0])[0]) == form else one[0], text)
    return left if left != text and len(set(_telling(words(left)))) > 1 else text


@functools.lru_cache(maxsize=_QUERIES_KEPT)
def query_words(text: str) -> tuple[str, ...]:
    """The same `words`, kept: of one query they are asked for again and again."""
    return tuple(words(text))


def words(text: str) -> list[str]:
    """All lower-case parts of all identifiers in a text, in order, with repeats."""
    found: list[str] = []
    for identifier in identifiers(text):
        found.extend(split_identifier(identifier))
    return found


@functools.lru_cache(maxsize=_CACHE_LIMIT)
def whole_form(identifier: str) -> str:
    """The one spelling under which all styles of an identifier meet: its parts joined, `get_http` ->
    `gethttp`."""
    return "".join(split_identifier(identifier))[:MAX_WORD]


def identifiers(text: str) -> list[str]:
    """The identifiers of a text as written, in order."""
    return text.translate(_ONLY_IDENTIFIERS).split() if text.isascii() else _IDENTIFIER.findall(text)
