"""What the preprocessor would do and a grammar cannot read, made readable.

Comments inside a macro of several lines end it for the grammar: they are left out. Conditional compilation may cut
through a block:

    #if A
      for (;;) {
    #else
      while (more) {
    #endif

A grammar that knows `#if ... #endif` as a node of its own loses the whole function here. Of such a group the first
branch is read as if it stood there alone. Groups whose branches are whole are left as they are.

Between the values of a list (`int a[] = { 1, #ifdef B 2, #endif 3 }`) a grammar knows no directives, and loses the
function around it: they are left out, and all values stay.
"""

from __future__ import annotations

import re
from itertools import pairwise

_DIRECTIVE = re.compile(
    rb"^[ \t]*#[ \t]*(if|ifdef|ifndef|elif|elifdef|elifndef|else|endif)\b(?:\\\n|[^\n])*", re.MULTILINE
)
_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define\b(?:\\\r?\n|[^\n])*", re.MULTILINE)
_COMMENT = re.compile(rb"/\*[^\n]*?\*/")
_NO_CODE = re.compile(rb"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)
_SHOWN = re.compile(rb"[^\n]")
_IN_LIST = re.compile(rb"[{,][ \t]*(?:/[/*][^\n]*)?\n\s*#[ \t]*if")  # may be a condition between values
_STRUCTURE = re.compile(rb"[{}()]|" + _DIRECTIVE.pattern, re.MULTILINE)


def whole_macros(source: bytes) -> bytes:
    """The source, as long as before, without the comments inside macros of several lines."""
    if b"\\\n" not in source or b"/*" not in source:
        return source
    return _DEFINE.sub(_without_comments, source)


def _without_comments(macro: re.Match[bytes]) -> bytes:
    text = macro.group()
    return _COMMENT.sub(_blank, text) if b"\n" in text else text


def _blank(found: re.Match[bytes]) -> bytes:
    return b" " * len(found.group())


def first_branches(source: bytes) -> bytes:
    """The source, as long as before, without the directives and later branches of groups that cut through a block."""
    text = bytearray(source)
    groups: list[list[tuple[int, int]]] = []  # open groups: the spans of their directives
    for found in _DIRECTIVE.finditer(source):
        kind = found.group(1)
        if kind.startswith(b"if"):
            groups.append([found.span()])
        elif groups:
            groups[-1].append(found.span())
            if kind == b"endif":
                _read_first(text, groups.pop())
    return bytes(text)


def whole_lists(source: bytes) -> bytes:
    """The source, as long as before, without the directives between the values of a list."""
    if not _IN_LIST.search(source):
        return source
    text, code = bytearray(source), _NO_CODE.sub(_unseen, source)
    lists: list[bool] = []  # of the braces and parentheses around: whether values are in them
    groups: list[bool] = []  # of the conditions around: the same
    for found in _STRUCTURE.finditer(code):
        start, end = found.span()
        kind = found.group(1)
        if kind is None and found.group() in (b"{", b"("):
            before = code[max(0, start - 200) : start].rstrip()[-1:]
            inner = before in (b"{", b",") and bool(lists) and lists[-1]
            lists.append(found.group() == b"{" and (before == b"=" or inner))
        elif kind is None:
            del lists[-1:]
        else:
            if kind.startswith(b"if"):
                groups.append(bool(lists) and lists[-1])
            if groups and groups[-1]:
                text[start:end] = _SHOWN.sub(b" ", source[start:end])
            if kind == b"endif":
                del groups[-1:]
    return bytes(text)


def _unseen(found: re.Match[bytes]) -> bytes:
    return _SHOWN.sub(b" ", found.group())


def _read_first(text: bytearray, directives: list[tuple[int, int]]) -> None:
    branches = [(end, start) for (_, end), (start, _) in pairwise(directives)]
    opened = {_opened(text, *branch) for branch in branches}
    if len(opened) != 1 or opened == {0} or b"__cplusplus" in text[slice(*directives[0])]:
        return  # whole branches, nothing that one branch could stand for, or the braces of extern "C"
    for start, end in (*directives, *branches[1:]):
        text[start:end] = _SHOWN.sub(b" ", bytes(text[start:end]))


def _opened(text: bytearray, start: int, end: int) -> int:
    """How many more braces a stretch opens than it closes."""
    code = bytes(text[start:end])
    if b"{" not in code and b"}" not in code:
        return 0
    code = _NO_CODE.sub(b"", code)
    return code.count(b"{") - code.count(b"}")
