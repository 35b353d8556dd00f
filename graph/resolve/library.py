"""What calls on well-known generic library types give back, for languages that declare their types.

Only shapes that carry a repository's own types through library code matter: the element of a list, the value of a
map, what a stream's function returns. Everything else of a library is simply external.

A specification is a type in which `0`, `1` ... are the receiver's type arguments, `A` is the first argument's type,
`E` its item if that is an array, `F` is what the function passed returns, `F0` the first type argument of that, and
`self` is the receiver's own type.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ctxsearch.graph.facts import Type

ANY_TYPE = "*"  # in `results`: what every object of the platform has
_TOKEN = re.compile(r"[\w.]+|[<>,\[\]]")


@dataclass(frozen=True, slots=True)
class Library:
    """Tables of one platform."""

    results: Mapping[str, Mapping[str, Type]]  # simple type name -> method or property -> result
    lambdas: Mapping[str, Mapping[str, tuple[Type, ...]]]  # ... -> method -> the passed function's parameters
    functions: Mapping[str, tuple[Type, ...]]  # functional type -> result, then parameters
    static: Mapping[str, Type]  # "Type.method" or a bare function name -> result
    common: frozenset[str] = frozenset()  # other names that library types share: never a sign of own code

    def knows(self, name: str) -> bool:
        """Whether some well-known library type has a member of that name."""
        return name in self.common or any(name in members for members in self.results.values())


Groups = Mapping[str, str]  # a name for many types at the start of a line


def read_results(text: str, groups: Groups) -> dict[str, dict[str, Type]]:
    """Lines `Type Type: method spec; method spec`. A later line adds to an earlier one."""
    tables: dict[str, dict[str, Type]] = {}
    for line in _lines(text):
        names, _, rest = line.partition(":")
        entries = {
            method: read_spec(spec)
            for entry in rest.split(";")
            for methods, _, spec in [entry.strip().rpartition(" ")]
            for method in methods.split()
        }
        for name in groups.get(names, names).split():
            tables.setdefault(name, {}).update(entries)
    return tables


def read_lambdas(text: str, groups: Groups) -> dict[str, dict[str, tuple[Type, ...]]]:
    """Lines `Type Type: method method (spec, spec); ...`; the method `*` stands for every other."""
    tables: dict[str, dict[str, tuple[Type, ...]]] = {}
    for line in _lines(text):
        names, _, rest = line.partition(":")
        entries: dict[str, tuple[Type, ...]] = {}
        for entry in rest.split(";"):
            methods, _, specs = entry.strip().rstrip(")").partition("(")
            params = tuple(read_spec(spec) for spec in specs.split(", ") if spec.strip())
            entries.update(dict.fromkeys(methods.split(), params))
        for name in groups.get(names, names).split():
            tables.setdefault(name, {}).update(entries)
    return tables


def read_functions(text: str) -> dict[str, tuple[Type, ...]]:
    """Lines `Type result, parameter, parameter`."""
    tables: dict[str, tuple[Type, ...]] = {}
    for line in _lines(text):
        name, _, specs = line.partition(" ")
        tables[name] = tuple(read_spec(spec) for spec in specs.split(", "))
    return tables


def read_subtypes(text: str) -> dict[str, frozenset[str]]:
    """Lines `Type: subtype subtype`. A later line adds to an earlier one."""
    tables: dict[str, frozenset[str]] = {}
    for line in _lines(text):
        name, _, names = line.partition(":")
        tables[name] = tables.get(name, frozenset()) | frozenset(names.split())
    return tables


def read_static(text: str) -> dict[str, Type]:
    """Lines `name name spec`."""
    return {name: read_spec(line.split()[-1]) for line in _lines(text) for name in line.split()[:-1]}


def read_spec(text: str) -> Type:
    """`Map<0,List<1>>` or `[0]` (an array) as a Type."""
    tokens = _TOKEN.findall(text)
    made, _ = _spec(tokens, 0)
    return made


def _spec(tokens: list[str], at: int) -> tuple[Type, int]:
    if tokens[at] == "[":
        element, at = _spec(tokens, at + 1)
        return Type("[]", (element,)), at + 1
    name = tokens[at]
    at += 1
    args: list[Type] = []
    if at < len(tokens) and tokens[at] == "<":
        while tokens[at] != ">":
            arg, at = _spec(tokens, at + 1)
            args.append(arg)
        at += 1
    return Type(name, tuple(args)), at


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines() if line.strip()]
