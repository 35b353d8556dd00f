"""Python's containers, iterators and generators: what is in them, and what a function returns or yields."""

from __future__ import annotations

from collections.abc import Iterable

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Expr, ParamKind, Type
from ctxsearch.graph.model import NodeFlag
from ctxsearch.graph.resolve.python_additions import PythonAdditions, constant_key
from ctxsearch.graph.resolve.python_library import CONTAINERS, HOLDERS
from ctxsearch.graph.resolve.values import (
    EXTERNAL,
    SYMBOLIC,
    UNKNOWN,
    Arg,
    Box,
    Class,
    Coll,
    Ext,
    Func,
    Gen,
    Inst,
    Sym,
    Value,
    Values,
)

NONE = Ext("none")
ITERATION = ("__iter__", "__next__")
ASYNCHRONOUS = ("__aiter__", "__anext__")


class PythonContainers(PythonAdditions):
    """Items of lists, dictionaries and the like, as far as the code shows what it puts in."""

    def eval_index(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        facts = self.table(path).facts
        stored, certain = self._stored(path, expr)
        if certain:
            return stored
        key = facts.exprs[expr.args[0]] if expr.args else None
        constant = constant_key(key) if key is not None and key.op is ops.LITERAL else None
        bases = self.value(path, expr.base)
        if bases and all(isinstance(base, Class) for base in bases):
            return self.subscripted(path, bases, expr)
        added = UNKNOWN if any(isinstance(base, Box) for base in bases) else self._added(path, expr.base)
        return (*stored, *self._each(bases, lambda base: self.item(base, constant)), *added)

    def eval_element(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        bases = self.value(path, expr.base)
        found = self._each(bases, self._awaited_element if expr.name == "async" else self.element)
        if any(isinstance(base, Box) for base in bases):
            return found  # with what was put into it
        return (*found, *self._added(path, expr.base))

    # -- results

    def result_for(self, callee: Func, receiver: Inst) -> Values:
        """What a method without arguments returns for a receiver."""
        generic = self.generic_result(callee, receiver)
        if generic:
            return generic
        owner = self.table(callee.path).class_of[callee.index]
        return tuple(
            receiver if isinstance(value, Inst) and (value.path, value.index) == (callee.path, owner) else value
            for value in self.returned(callee.path, callee.index)
        )

    def returned(self, path: str, index: int) -> Values:
        definition = self.definition(path, index)
        typed = self.typed(path, index, definition.result)
        if typed and not (definition.returns and _may_be_function(definition.result)):
            return typed
        return self._guarded(
            path,
            ("r", path, index),
            lambda: _without_none(
                value
                for expr in definition.returns
                if self.table(path).facts.exprs[expr].op is not ops.YIELDED
                for value in self.value(path, expr)
            ),
        )

    def _yielded(self, generator: Gen) -> Values:
        definition = self.definition(generator.path, generator.index)
        exprs = self.table(generator.path).facts.exprs
        return self._guarded(
            generator.path,
            ("y", generator.path, generator.index),
            lambda: tuple(
                value
                for expr in definition.returns
                if exprs[expr].op is ops.YIELDED
                for value in self.value(generator.path, expr)
            ),
        )

    # -- items

    def item(self, base: Value, key: str | None) -> Values:
        if isinstance(base, Arg):
            return self._part(base)
        if isinstance(base, Sym):
            return SYMBOLIC
        if isinstance(base, Coll):
            return self._typed_item(base, key)
        if isinstance(base, Inst):
            getters = self.class_member(base.path, base.index, "__getitem__")
            return tuple(v for f in getters if isinstance(f, Func) for v in self.returned(f.path, f.index))
        if isinstance(base, Class):
            return (base,)  # a generic class with its arguments
        return UNKNOWN if _holds(base) else super().item(base, key)

    def _typed_item(self, base: Coll, key: str | None) -> Values:
        if base.name == "tuple":
            place = key.removeprefix("int:") if key else ""
            if place.isdigit() and int(place) < len(base.args):
                return base.args[int(place)]
            return tuple(value for arg in base.args for value in arg)
        return base.args[-1] if base.args else EXTERNAL

    def _part(self, arg: Arg) -> Values:
        """One of the values that a `*args` or `**kwargs` parameter collects."""
        if not self._collects(arg):
            return SYMBOLIC
        return self.expand(arg) if self.follow_args else (arg,)

    def _collects(self, arg: Arg) -> bool:
        """Whether the parameter is `*args` or `**kwargs`."""
        definition = self.table(arg.path).facts.definitions[arg.index]
        return definition.params[arg.position].kind in (ParamKind.VARIADIC, ParamKind.KEYWORDS)

    def expand(self, arg: Arg) -> Values:
        """What tests pass in is followed within tests only."""
        found = super().expand(arg)
        if self.world.flags(arg.path) & NodeFlag.TEST:
            return found
        return tuple(
            value
            for value in found
            if not isinstance(value, (Func, Class, Inst)) or not self.world.flags(value.path) & NodeFlag.TEST
        )

    def box_items(self, box: Box, key: str | None) -> Values:
        return self._guarded(box.path, ("items", box.path, box.expr, key), lambda: self._box_items(box, key))

    def _box_items(self, box: Box, key: str | None) -> Values:
        facts = self.table(box.path).facts
        expr = facts.exprs[box.expr]
        if expr.op is ops.CALL:
            return self.put_in(box, key)
        found: list[Value] = []
        exact = [
            value
            for place, arg in enumerate(expr.args)
            for name, value in [_entry(facts.exprs, place, arg)]
            if key is not None and name == key
        ]
        if exact:
            return self.value(box.path, exact[-1])
        for place, arg in enumerate(expr.args):
            name, value = _entry(facts.exprs, place, arg)
            if facts.exprs[arg].op is ops.SPREAD:
                inner = self.value(box.path, facts.exprs[arg].base)
                found += self._each(inner, lambda base: self.item(base, key) or UNKNOWN)
            elif key is None or not name or expr.op is ops.SEQUENCE:
                found += self.value(box.path, value)
        return (*found, *self.put_in(box, key))

    def element(self, base: Value) -> Values:
        if isinstance(base, Arg):
            return self._part(base)
        if isinstance(base, Sym):
            return SYMBOLIC
        if isinstance(base, Gen):
            return self._yielded(base)
        if isinstance(base, Coll):
            if base.name in ("dict", "mapping", "defaultdict", "ordereddict"):
                return base.args[0] if len(base.args) > 1 else EXTERNAL
            if base.name == "tuple":
                return tuple(value for arg in base.args for value in arg)
            return base.args[0] if base.args else EXTERNAL
        if isinstance(base, Box) and self.is_mapping(base):
            return EXTERNAL  # iterating a dictionary gives its keys
        if isinstance(base, Inst):
            key = ("iterated", base.path, base.index)
            return self._guarded(base.path, key, lambda: self._iteration_items(base))
        if isinstance(base, Class):
            return (Inst(base.path, base.index),)  # an enumeration
        return UNKNOWN if _holds(base) else super().element(base)

    def is_mapping(self, box: Box) -> bool:
        """Whether a container is a dictionary, by a literal or by a call like `dict()`."""
        exprs = self.table(box.path).facts.exprs
        made = exprs[box.expr]
        if made.op is ops.CALL:
            return CONTAINERS.get(exprs[made.base].name) == "mapping"
        return made.op is ops.MAPPING

    def _awaited_element(self, base: Value) -> Values:
        """One item of what `async for` goes through: an instance is asked for `__aiter__`, never for `__iter__`."""
        if not isinstance(base, Inst):
            return self.element(base)
        key = ("awaited", base.path, base.index)
        return self._guarded(base.path, key, lambda: self._iteration_items(base, ASYNCHRONOUS))

    def _iteration_items(self, base: Inst, names: tuple[str, str] = ITERATION) -> Values:
        """What `__next__` of its iterator gives; of itself when it is its own iterator."""
        iterators = self._iterator(base, names[0])
        own = tuple(value for item in self._iteration(base, names[1]) for value in self.returned(item.path, item.index))
        return own or tuple(value for item in iterators if item != base for value in self.element(item))

    def _iterator(self, base: Inst, name: str) -> Values:
        found: list[Value] = []
        for item in self._iteration(base, name):
            definition = self.definition(item.path, item.index)
            if definition.flags & NodeFlag.GENERATOR and not self.typed(item.path, item.index, definition.result):
                found.append(Gen(item.path, item.index))
            else:
                found += self.result_for(item, base)
        return tuple(found)

    def _iteration(self, base: Inst, name: str) -> list[Func]:
        return [item for item in self.class_member(base.path, base.index, name) if isinstance(item, Func)]


def _holds(value: Value) -> bool:
    """An instance of a library's container type of which no more is known."""
    return isinstance(value, Ext) and value.name.rpartition(".")[2].lower() in HOLDERS


def _entry(exprs: tuple[Expr, ...], place: int, arg: int) -> tuple[str, int]:
    """Key and value of one item of a literal."""
    entry = exprs[arg]
    if entry.op is ops.KEYWORD:
        return (f"int:{entry.name}" if entry.text == "int" else entry.name), entry.base
    return f"int:{place}", arg


def _may_be_function(declared: Type | None) -> bool:
    """A result like `Command | Callable[..., Command]`: which one depends on the call."""
    return (
        declared is not None and declared.name == "|" and any(arg.name in ("->", "Callable") for arg in declared.args)
    )


def _without_none(values: Iterable[Value]) -> Values:
    found = tuple(values)
    return tuple(value for value in found if value != NONE) or found
