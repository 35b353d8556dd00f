"""Types as PHP writes them, in declarations and in doc comments; names are resolved by the file that they stand in."""

from __future__ import annotations

import re
from collections.abc import Callable

from ctxsearch.graph.facts import Type

Resolve = Callable[[str], str]  # a class name as written -> its full name, dotted

NOTHING = Type("")
_UNTYPED = frozenset(
    {
        *("mixed", "object", "array", "iterable", "callable", "closure", "callback", "resource", "void", "never"),
        *("null", "false", "true", "scalar", "array-key", "numeric", "list", "non-empty-array", "value"),
    }
)
_SCALARS = {
    "int": "int",
    "integer": "int",
    "float": "float",
    "double": "float",
    "string": "string",
    "bool": "bool",
    "boolean": "bool",
    "class-string": "string",
    "non-empty-string": "string",
    "literal-string": "string",
    "positive-int": "int",
}
_ITSELF = frozenset({"self", "static", "$this", "parent"})
_LISTS = frozenset({"array", "list", "iterable", "non-empty-array", "non-empty-list", "generator", "iterator"})
_NAME = re.compile(r"\\?[A-Za-z_][\w\\-]*|\$this")
_TAG = re.compile(r"@(?:phpstan-|psalm-)?(param|return|var)\s+(.*)")
_MARGIN = re.compile(r"^[ \t]*\*? ?", re.MULTILINE)
SCALARS = frozenset(_SCALARS.values())


def comment_text(comment: str) -> str:
    """A doc comment without its markers."""
    if comment.startswith("/*"):
        return _MARGIN.sub("", comment[2:].lstrip("*").removesuffix("*/")).strip()
    return comment.lstrip("#/").strip()


def named_type(name: str, resolve: Resolve, args: tuple[Type, ...] = ()) -> Type:
    """A single type by its written name; what says nothing about a receiver is nothing."""
    lowered = name.lower()
    if lowered in _ITSELF:
        return Type("static" if lowered == "$this" else lowered)
    if lowered in _SCALARS:
        return Type(_SCALARS[lowered])
    if lowered in _LISTS and args:
        return Type("[]", (args[-1],))
    if lowered in _UNTYPED or "-" in name:
        return NOTHING
    return Type(resolve(name), args)


def union(types: list[Type]) -> Type:
    """One of several; null and what says nothing left out."""
    known = [item for item in dict.fromkeys(types) if item.name]
    if len(known) < 2:
        return known[0] if known else NOTHING
    return Type("|", tuple(known))


def doc_tags(doc: str, resolve: Resolve) -> tuple[dict[str, Type], Type, Type]:
    """What a doc comment declares: parameters by name, the result, and what `@var` says."""
    params: dict[str, Type] = {}
    result = variable = NOTHING
    for tag, rest in _TAG.findall(doc):
        declared, after = read_doc_type(rest, resolve)
        if tag == "return":
            result = result if result.name else declared
        elif tag == "var":
            variable = declared
        else:
            name = re.match(r"\s*(?:&|\.\.\.)*(\$\w+)", after)
            if name is not None:
                params[name[1]] = declared
    return params, result, variable


def read_doc_type(text: str, resolve: Resolve) -> tuple[Type, str]:
    """The type at the start of `text`, and what stands after it."""
    types: list[Type] = []
    rest = text.strip()
    while True:
        item, rest = _single(rest.lstrip("?&( "), resolve)
        types.append(item)
        while rest.startswith("[]"):
            types[-1], rest = (Type("[]", (types[-1],)) if types[-1].name else NOTHING), rest[2:]
        closed = rest.lstrip(")")
        while closed.startswith("[]"):
            types, closed = [Type("[]", (union(types),))], closed[2:]
        rest = closed
        stripped = rest.lstrip()
        if stripped[:1] not in ("|", "&") or stripped[:2] == "&$":
            return union(types), rest
        rest = stripped[1:].lstrip()


def _single(text: str, resolve: Resolve) -> tuple[Type, str]:
    found = _NAME.match(text)
    if found is None:
        return NOTHING, text[1:] if text[:1] in ("'", '"') else text
    name, rest = found[0], text[found.end() :]
    if rest.startswith("{"):
        return NOTHING, _after_bracket(rest, "{", "}")
    if rest.startswith("("):
        return NOTHING, _after_result(_after_bracket(rest, "(", ")"), resolve)
    if not rest.startswith("<"):
        return named_type(name, resolve), rest
    args: list[Type] = []
    rest = rest[1:]
    while rest:
        item, rest = read_doc_type(rest, resolve)
        args.append(item)
        rest = rest.lstrip()
        if not rest.startswith(","):
            break
        rest = rest[1:]
    return named_type(name, resolve, tuple(args)), rest.removeprefix(">")


def _after_bracket(text: str, opening: str, closing: str) -> str:
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == opening) - (letter == closing)
        if depth == 0:
            return text[place + 1 :]
    return ""


def _after_result(text: str, resolve: Resolve) -> str:
    """Behind the `: result` of a callable type."""
    stripped = text.lstrip()
    return read_doc_type(stripped[1:], resolve)[1] if stripped.startswith(":") else text
