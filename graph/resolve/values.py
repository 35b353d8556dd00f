"""What an expression can be: the values of the evaluator. An empty tuple of values means unknown."""

from __future__ import annotations

import msgspec

from ctxsearch.graph.facts import Type


class Func(msgspec.Struct, frozen=True, gc=False):
    """A function or method, as an object."""

    path: str
    index: int  # of its definition


class Class(msgspec.Struct, frozen=True):
    """A class, interface or type, as an object."""

    path: str
    index: int
    args: tuple[Values, ...] = ()  # type arguments, each as the instance it stands for


class Inst(msgspec.Struct, frozen=True):
    """An instance of a class."""

    path: str
    index: int
    args: tuple[Values, ...] = ()


class Module(msgspec.Struct, frozen=True, gc=False):
    """A file, as a namespace."""

    path: str


class Package(msgspec.Struct, frozen=True, gc=False):
    """A package or namespace made of several files, or a directory."""

    name: str


class Ext(msgspec.Struct, frozen=True):
    """Something outside the repository: a library, a built-in, an instance of a library type. Stops all guessing."""

    name: str  # dotted; "" when nothing more is known than that it is external
    args: tuple[Values, ...] = ()  # type arguments where the language declares them: the Foo of List<Foo>


class Var(msgspec.Struct, frozen=True, gc=False):
    """A type parameter, as an instance of whatever it will stand for (declared-type languages only)."""

    path: str
    index: int  # of the definition that declares it
    position: int


class Box(msgspec.Struct, frozen=True, gc=False):
    """A container or object literal: SEQUENCE or MAPPING expression, looked into on demand."""

    path: str
    expr: int


class Arg(msgspec.Struct, frozen=True, gc=False):
    """Whatever callers pass for a parameter; symbolic until value flow expands it."""

    path: str
    index: int  # of the function's definition
    position: int


class Gen(msgspec.Struct, frozen=True, gc=False):
    """What a call of a generator function gives: iterating it gives what the function yields."""

    path: str
    index: int


class Coll(msgspec.Struct, frozen=True):
    """An instance of a library's generic type (list, dict, Iterator ...) whose type arguments are known."""

    name: str  # the type's own name, in lower case: "list", "dict", "iterator"
    args: tuple[Values, ...]  # each as the instances it stands for


class Method(msgspec.Struct, frozen=True):
    """A method of a built-in container: external to call, but its result comes from the container."""

    owner: Value
    name: str


class Shape(msgspec.Struct, frozen=True):
    """A value known by a written type that is no class: object, function, array or a library's generic type."""

    path: str  # where the type is written
    scope: int
    type: Type
    env: tuple[tuple[str, Values], ...] = ()  # type parameters that are known, as the instances they stand for


class Sym(msgspec.Struct, frozen=True, gc=False):
    """Some part of what a parameter holds: known only once value flow says what callers pass."""


Value = Func | Class | Inst | Module | Package | Ext | Box | Arg | Var | Gen | Coll | Method | Shape | Sym
Values = tuple[Value, ...]

OUTSIDE = (Ext, Coll, Method, Gen)  # calling these runs nothing of the repository
UNKNOWN: Values = ()
EXTERNAL: Values = (Ext(""),)
SYMBOLIC: Values = (Sym(),)


def is_external(values: Values) -> bool:
    """True when everything known points outside the repository."""
    return bool(values) and all(isinstance(value, OUTSIDE) for value in values)
