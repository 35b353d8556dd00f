"""Type syntax of the C-like typed languages (Java, Kotlin, C#) from text to `Type`; knows no names and no files.

Types repeat endlessly in such code, so they are read from their text and remembered, which costs a dictionary
lookup per use instead of a walk over syntax nodes.
"""

from __future__ import annotations

import functools
import re

from ctxsearch.graph.facts import Type

UNKNOWN_TYPE = Type("")
RECEIVER_FUNCTION = ".->"  # Kotlin `A.(B) -> C`: args are the result, the receiver, then the parameters

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_TOKEN = re.compile(r"[\w`$]+|->|::|\.\.\.|[<>,.?\[\]()&|*@:]")
_MODIFIERS = frozenset(
    {
        "final",
        "out",
        "in",
        "suspend",
        "ref",
        "readonly",
        "params",
        "this",
        "scoped",
        "vararg",
        "noinline",
        "crossinline",
    }
)
_MAX_DEPTH = 30  # deeper types are unknown: bounds recursion on hostile nesting


@functools.lru_cache(maxsize=16384)
def read_type(text: str) -> Type:
    """The type written as `text`; an unknown type when it is not one."""
    if text.isidentifier():
        return Type(text)
    if "/" in text:
        text = _COMMENT.sub(" ", text)
    return _Reader(_TOKEN.findall(text)).type()


class _Reader:
    """Recursive descent over the tokens of one type."""

    def __init__(self, tokens: list[str]) -> None:
        self.tokens = tokens
        self.at = 0
        self.depth = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def accept(self, sign: str) -> bool:
        if self.peek() == sign:
            self.at += 1
            return True
        return False

    def type(self) -> Type:
        if self.depth >= _MAX_DEPTH:
            self.at = len(self.tokens)
            return UNKNOWN_TYPE
        self.depth += 1
        first = self.suffixed()
        for sign in ("&", "|"):
            parts = [first]
            while self.accept(sign):
                parts.append(self.suffixed())
            if len(parts) > 1:
                first = Type(sign, tuple(parts))
        self.depth -= 1
        return first

    def suffixed(self) -> Type:
        self.prefixes()
        if self.accept("?"):
            if self.peek() in ("extends", "super"):
                self.at += 1
                return self.suffixed()
            return UNKNOWN_TYPE
        if self.accept("*"):
            return UNKNOWN_TYPE
        made = self.parenthesised() if self.peek() == "(" else self.named()
        while True:
            sign = self.peek()
            if sign in ("?", "*", "@"):
                self.at += 1
            elif sign == "[":
                while self.peek() not in ("]", ""):
                    self.at += 1
                self.at += 1
                made = Type("[]", (made,))
            elif sign == "...":
                self.at += 1
                made = Type("[]", (made,))
            else:
                return made

    def prefixes(self) -> None:
        """Annotations and modifiers say nothing about what the type is."""
        while True:
            sign = self.peek()
            if sign == "@":
                self.at += 2
                while self.accept("."):
                    self.at += 1
                if self.peek() == "(":
                    self.skip_group()
            elif sign in _MODIFIERS and self.at + 1 < len(self.tokens) and self.tokens[self.at + 1][0] not in "<>,.?)":
                self.at += 1
            else:
                return

    def skip_group(self) -> None:
        level = 0
        while self.at < len(self.tokens):
            level += {"(": 1, ")": -1}.get(self.tokens[self.at], 0)
            self.at += 1
            if level == 0:
                return

    def parenthesised(self) -> Type:
        items = self.group()
        if self.accept("->"):
            return Type("->", (self.type(), *items))
        if len(items) == 1:
            return items[0]
        return Type("()", tuple(items))

    def group(self) -> list[Type]:
        self.accept("(")
        items: list[Type] = []
        while self.peek() not in (")", ""):
            start = self.at
            if self.at + 1 < len(self.tokens) and self.tokens[self.at + 1] == ":":
                self.at += 2  # Kotlin: (name: Type)
            items.append(self.type())
            if self.peek() not in (",", ")"):
                self.at += 1  # C#: (Type name)
            self.accept(",")
            if self.at == start:
                self.at += 1
        self.accept(")")
        return items

    def named(self) -> Type:
        parts: list[str] = []
        args: tuple[Type, ...] = ()
        while True:
            sign = self.peek()
            if not sign or not (sign[0].isalnum() or sign[0] in "_`$"):
                break
            self.at += 1
            parts.append(sign.strip("`"))
            args = self.arguments()
            if self.accept("::"):
                if parts == ["global"]:
                    parts.clear()
                continue
            if not self.accept("."):
                break
            if self.peek() == "(":
                items = self.group()
                self.accept("->")
                return Type(RECEIVER_FUNCTION, (self.type(), Type(".".join(parts), args), *items))
            self.prefixes()
        return Type(".".join(parts), args) if parts else UNKNOWN_TYPE

    def arguments(self) -> tuple[Type, ...]:
        if not self.accept("<"):
            return ()
        args: list[Type] = []
        while self.peek() not in (">", ""):
            start = self.at
            args.append(self.type())
            self.accept(",")
            if self.at == start:
                self.at += 1
        self.accept(">")
        return tuple(args)
