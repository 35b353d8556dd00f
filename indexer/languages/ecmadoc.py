"""Types in JSDoc comments: what plain JavaScript says about parameters, results and variables. Never raises."""

from __future__ import annotations

import re

from ctxsearch.graph.facts import Type

MAX_TYPE = 300  # characters of a type; longer ones are not read
MAX_NESTING = 12
_TAG = re.compile(r"@(param|arg|argument|returns?|type|this)\s*\{")
_PARAM_NAME = re.compile(r"\s*\[?\s*([\w$]+)(?![\w$]*\.)")
_IMPORT = re.compile(r"import\(\s*['\"]([^'\"]+)['\"]\s*\)(?:\.([\w$.]+))?$")
_NAME = re.compile(r"[\w$][\w$.]*$")
_OPEN, _CLOSE = "<({[", ">)}]"


def documented_types(comment: str) -> dict[str, Type]:
    """Types by parameter name; "@returns" is the result's, "@type" a variable's, "@this" the receiver's."""
    found: dict[str, Type] = {}
    for match in _TAG.finditer(comment):
        end = _closing(comment, match.end())
        if end < 0:
            continue
        tag = match.group(1)
        read = read_doc_type(comment[match.end() : end])
        if tag in {"param", "arg", "argument"}:
            name = _PARAM_NAME.match(comment, end + 1)
            if name is not None:
                found.setdefault(name.group(1), read)
        else:
            found.setdefault("@returns" if tag.startswith("return") else f"@{tag}", read)
    return {name: kind for name, kind in found.items() if kind.name}


def _closing(text: str, start: int) -> int:
    depth = 1
    for place in range(start, min(len(text), start + MAX_TYPE)):
        if text[place] == "{":
            depth += 1
        elif text[place] == "}":
            depth -= 1
            if depth == 0:
                return place
    return -1


def read_doc_type(text: str, depth: int = 0) -> Type:
    """A JSDoc or TypeScript type expression; Type("") for what is not understood."""
    text = text.strip().lstrip("?!").rstrip("=").strip()
    if depth > MAX_NESTING or not text or text == "*":
        return Type("")
    members = [part for part in _split(text, "|") if part.strip() not in {"null", "undefined", "void"}]
    if len(members) != 1 or members[0] != text:
        kinds = tuple(read_doc_type(part, depth + 1) for part in members)
        return kinds[0] if len(kinds) == 1 else Type("|", kinds)
    if text.startswith("..."):
        return Type("[]", (read_doc_type(text[3:], depth + 1),))
    if text.endswith("[]"):
        return Type("[]", (read_doc_type(text[:-2], depth + 1),))
    if text.startswith("(") and text.endswith(")"):
        return read_doc_type(text[1:-1], depth + 1)
    imported = _IMPORT.match(text)
    if imported is not None:
        return Type("import", (Type(imported.group(1)), Type(imported.group(2) or "default")))
    return _named(text, depth)


def _named(text: str, depth: int) -> Type:
    if text.endswith(">"):
        name, _, inner = text[:-1].partition("<")
        name = name.rstrip(".")
        if _NAME.match(name):
            return Type(name, tuple(read_doc_type(part, depth + 1) for part in _split(inner, ",")))
    return Type(text) if _NAME.match(text) and not text[0].isdigit() else Type("")


def _split(text: str, sign: str) -> list[str]:
    """The parts between top-level occurrences of a sign."""
    parts, level, start = [], 0, 0
    for place, letter in enumerate(text):
        if letter in _OPEN:
            level += 1
        elif letter in _CLOSE and not (letter == ">" and text[place - 1 : place] == "="):
            level -= 1
        elif letter == sign and level == 0:
            parts.append(text[start:place])
            start = place + 1
    return [*parts, text[start:]]
