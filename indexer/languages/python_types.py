"""Python type annotations, as text, to `Type`. Names stay as written; nothing is looked up."""

from __future__ import annotations

import functools
import re

from ctxsearch.graph.facts import Type

MAX_NESTING = 30
_WORDS = re.compile(r"""[\w.]+|"[^"\n]*"|'[^'\n]*'|[\[\](),|]|\.\.\.""")
_TRANSPARENT = frozenset(
    {"Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired", "ReadOnly", "InitVar", "Unpack", "Union"}
)
UNKNOWN = Type("")


@functools.lru_cache(maxsize=8192)
def parse_type(text: str) -> Type:
    """The type that an annotation means; `Type("")` for what is not a type expression."""
    return _Reader(_WORDS.findall(text), 0).union()


class _Reader:
    """A cursor over the words of one annotation."""

    def __init__(self, words: list[str], depth: int) -> None:
        self.words = words
        self.place = 0
        self.depth = depth

    def peek(self) -> str:
        return self.words[self.place] if self.place < len(self.words) else ""

    def take(self) -> str:
        word = self.peek()
        self.place += 1
        return word

    def union(self) -> Type:
        members = [self.single()]
        while self.peek() == "|":
            self.take()
            members.append(self.single())
        return _join(members)

    def single(self) -> Type:
        word = self.take()
        self.depth += 1
        if not word or self.depth > MAX_NESTING:
            self.place = len(self.words)
            return UNKNOWN
        if word[0] in "\"'":
            return _Reader(_WORDS.findall(word[1:-1]), self.depth).union()
        if word == "(":
            inner = self.items(")")
            return inner[0] if len(inner) == 1 else Type("()", tuple(inner))
        if word == "[":
            return Type("[]", tuple(self.items("]")))
        name = word.strip(".")
        if not name or not (name[0].isalpha() or name[0] == "_"):
            return UNKNOWN
        if self.peek() != "[":
            return Type(name)
        self.take()
        return _subscripted(name, self.items("]"))

    def items(self, close: str) -> list[Type]:
        found: list[Type] = []
        while self.place < len(self.words) and self.peek() != close:
            if self.peek() == ",":
                self.take()
                continue
            before = self.place
            found.append(self.union())
            if self.place == before:
                break
        self.take()
        return found


def _join(members: list[Type]) -> Type:
    """One type for several: absence (None) says nothing about what can be called."""
    kept: list[Type] = []
    for member in members:
        for part in member.args if member.name == "|" else (member,):
            if part.name not in ("None", "") and part not in kept:
                kept.append(part)
    if not kept:
        return members[0]
    return kept[0] if len(kept) == 1 else Type("|", tuple(kept))


def _subscripted(name: str, args: list[Type]) -> Type:
    last = name.rpartition(".")[2]
    if last == "Literal":
        return Type(name)
    if last == "Callable":
        result = args[-1] if args else UNKNOWN
        taken = args[0].args if len(args) > 1 and args[0].name == "[]" else ()
        return Type("->", (result, *taken))
    if last in _TRANSPARENT and args:
        return _join(args) if last in ("Union", "Optional") else args[0]
    if last in ("tuple", "Tuple"):
        return Type("()", tuple(args))
    return Type(name, tuple(args))
