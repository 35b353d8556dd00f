"""What a query spells: a symbol, or a place in a file. Pure.

Who types `Session`, `class Session`, `where is Session defined` or pastes the line that defines it means the same
thing. Words that are no names (`class loader`, `error type`) stay words.
"""

from __future__ import annotations

import functools
import re
from typing import Final, NamedTuple

from ctxsearch.search.long_texts import long_text

_TEXTS_KEPT: Final = 64  # those being answered: full text and a step ask
_LONGEST_LINE: Final = 400  # characters; a longer line defines nothing that was typed or pasted

_NAME: Final = r"[^\W\d][\w$]*[?!]?(?:(?:\.|::|->|#|\\)[^\W\d][\w$]*[?!]?)*"
# What introduces a definition in some language, and is no word of a question; what is both.
_KEYWORD: Final = r"def|defp|fn|func|fun|struct|enum|typedef|namespace|defmodule|defmacro"
_NOUN: Final = r"class|interface|trait|type|union|record|protocol|object|module|mixin|function|method|constructor|macro"

_NAMED: Final = re.compile(rf"(?:the )?(?P<kind>{_KEYWORD}|{_NOUN})\s+(?P<name>{_NAME})(?:\(\))?")
_NAME_FIRST: Final = re.compile(rf"(?:the )?(?P<name>{_NAME})(?:\(\))?\s+(?:{_KEYWORD}|{_NOUN})")
_ASKED: Final = re.compile(
    rf"(?:where (?:is|are)|(?:what is |what's )?(?:the )?(?:definition|declaration) of|find|show(?: me)?)\s+(?:the )?"
    rf"(?:(?:{_KEYWORD}|{_NOUN}) )?(?P<name>{_NAME})(?:\(\))?(?: (?:{_KEYWORD}|{_NOUN}))?"
    r"(?: (?:defined|declared|implemented|located))?\s*\??",
    re.IGNORECASE,
)
# A line of code: it has signs that no question has, and begins with what introduces a definition or with a type.
_SIGNS: Final = re.compile(r"[(){}\[\];=<>]|:\s*\Z")
_TEMPLATE: Final = re.compile(r"\btemplate\s*<[^>]*>")
_MODIFIER: Final = (
    r"abstract|async|case|const|constexpr|crate|data|declare|default|export|extern|final|implicit|inline|inner|internal"
    r"|local|open|override|partial|private|protected|pub|public|readonly|sealed|static|suspend|unsafe|virtual"
)
_DEFINING: Final = re.compile(
    rf"\s*(?:(?:{_MODIFIER})(?:\([^()]*\)|\[[^\[\]]*\])?\s+)*(?:{_KEYWORD}|{_NOUN}|const)\s+(?:\([^()]*\)\s*)?"
    rf"(?P<name>{_NAME})(?=\s*(?:[(){{}}\[\];=<>:,]|\Z)|\s+(?:extends|implements|struct|interface|for|where|with)\b)"
)
_CALLED: Final = re.compile(rf"(?P<name>{_NAME})\(")
_ENDS_HEAD: Final = re.compile(r"[{,;)]\s*\Z")
_TYPED: Final = re.compile(r"(?:[\w<>,.:\[\]~$]+[\s*&]+){1,6}~?")  # what stands before a name that C, Java or C# define
_NO_TYPES: Final = frozenset(
    ["await", "case", "delete", "else", "go", "defer", "in", "new", "not", "of", "raise", "return", "throw", "yield"]
)
_IS_NAME: Final = re.compile(r"[A-Z_$\d]")  # what tells a name from a word: `Session`, `parse_args`, `utf8`

_PLACE: Final = re.compile(
    r"(?:File\s+)?[\"'`]?(?P<path>[\w@.+/\\-]*[\w+-]\.[A-Za-z]\w{0,7})[\"'`]?"
    r"(?:(?::|#L|\(|,?\s+line\s+)(?P<line>\d{1,7})(?:[:,]\d+)?\)?)?(?:,\s+in\s+\S+)?:?"
)


class Place(NamedTuple):
    """A file as typed, and a line of it; 0 where none is."""

    path: str
    line: int


@functools.lru_cache(maxsize=_TEXTS_KEPT)
def spelled_symbol(text: str) -> str:
    """The symbol that a query means, as typed; "" where it is about more, or about no symbol."""
    typed = text.strip()
    if not typed:
        return ""
    if len(typed.split()) == 1:
        return typed.removesuffix("()")
    parts = long_text(text)
    line = typed if parts is None else typed.partition("\n")[0].strip()
    if len(line) > _LONGEST_LINE:
        return ""
    return _of_code(line) if _SIGNS.search(line.replace("()", "")) else "" if parts else _of_words(typed)


def _of_words(text: str) -> str:
    asked = _ASKED.fullmatch(text)
    if asked:
        return asked["name"] if _IS_NAME.search(asked["name"]) else ""
    named = _NAMED.fullmatch(text)
    if named:
        is_code = re.fullmatch(_KEYWORD, named["kind"])
        return named["name"] if is_code or _IS_NAME.search(named["name"]) else ""
    first = _NAME_FIRST.fullmatch(text)
    return first["name"] if first and _IS_NAME.search(first["name"]) else ""


def _of_code(line: str) -> str:
    line = _TEMPLATE.sub("", line)
    defining = _DEFINING.match(line)
    if defining:
        return defining["name"]
    called = _CALLED.search(line)
    before = line[: called.start()].lstrip() if called else ""
    if called is None or not _TYPED.fullmatch(before) or before.split()[-1] in _NO_TYPES or "`" in line:
        return ""
    return called["name"] if _ENDS_HEAD.search(line) else ""


@functools.lru_cache(maxsize=_TEXTS_KEPT)
def spelled_place(text: str) -> Place | None:
    """The file that the whole query spells, as editors, compilers and stack traces write it, with the line."""
    found = _PLACE.fullmatch(text.strip())
    if found is None:
        return None
    return Place(found["path"].replace("\\", "/").removeprefix("./").strip("/"), int(found["line"] or 0))
