"""Object literals, arrays and library collections in JavaScript: their members, items and elements."""

from __future__ import annotations

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Expr, Type
from ctxsearch.graph.model import NodeFlag
from ctxsearch.graph.resolve.ecma_library import GENERATOR, ITERATOR, MAP_METHODS, OBJECT_METHODS
from ctxsearch.graph.resolve.ecma_members import MAX_CONSTANT_STEPS, Members
from ctxsearch.graph.resolve.ecma_types import CONSTRUCTOR, FUNCTION, LIST, MAP, OBJECT
from ctxsearch.graph.resolve.values import (
    EXTERNAL,
    UNKNOWN,
    Box,
    Coll,
    Ext,
    Func,
    Inst,
    Shape,
    Value,
    Values,
    is_external,
)

_LIBRARY_NAMES = {LIST: "Array", "()": "Array", MAP: "Map", FUNCTION: "Function", CONSTRUCTOR: "Function"}


class Objects(Members):
    """Looks into objects and collections."""

    def member(self, base: Value, name: str) -> Values:
        if isinstance(base, Shape):
            return self._shape_member(base, name)
        return (Ext(f"Array.{name}"),) if isinstance(base, Coll) else super().member(base, name)

    def eval_index(self, path: str, index: int, expr: Expr) -> Values:
        written, only = self._written(path, index, expr)
        if only:
            return written
        bases = self.value(path, expr.base)
        key = self._constant(path, expr.args[0], MAX_CONSTANT_STEPS) if expr.args else None
        if expr.args and self.table(path).facts.exprs[expr.args[0]].name == "slice":
            return (*written, *self._each(bases, self._part))
        if key is not None and not key.isdigit():
            found = (*written, *self.members(bases, key))
        else:
            found = (*written, *self._each(bases, lambda base: self.item(base, key)))
        return found if found and not is_external(found) else self._written_anyhow(path, index, expr) or found

    def box_member(self, box: Box, name: str) -> Values:
        return self._guarded(box.path, ("box", box.path, box.expr, name), lambda: self._box_member(box, name))

    def _box_member(self, box: Box, name: str) -> Values:
        facts = self.table(box.path).facts
        expr = facts.exprs[box.expr]
        if expr.op is ops.SEQUENCE:
            return EXTERNAL
        found = self._entries(box, name)
        written = self._put_into(box, name)
        if found is not None or written:
            return (*written, *(found or ()))
        spread = [facts.exprs[arg].base for arg in expr.args if facts.exprs[arg].op is ops.SPREAD]
        copied = tuple(value for base in spread for value in self.members(self.value(box.path, base), name))
        unknown_keys = self.box_items(box, None) if any(self._unnamed(box.path, arg) for arg in expr.args) else ()
        return copied or unknown_keys or (EXTERNAL if name in OBJECT_METHODS else UNKNOWN)

    def _put_into(self, box: Box, name: str) -> Values:
        """What writes through the variable that holds an object literal put there."""
        js = self.js(box.path)
        holder = js.holders.get(box.expr)
        if holder is None or holder.kind != "assign":
            return UNKNOWN
        facts = self.table(box.path).facts
        target = facts.exprs[facts.assigns[holder.owner].target]
        if target.op is not ops.NAME or target.name not in js.writes:
            return UNKNOWN
        self.world.record("name", box.path, target.name)
        scope = js.binding_scope(target.scope, target.name)
        writes = [
            write
            for write in js.writes[target.name]
            if write.names == (name,) and js.binding_scope(write.scope, target.name) == scope
        ]
        return self._written_values(box.path, writes, name)

    def _unnamed(self, path: str, arg: int) -> bool:
        entry = self.table(path).facts.exprs[arg]
        return entry.op is ops.KEYWORD and not entry.name

    def _entries(self, box: Box, name: str) -> Values | None:
        """The last entry of an object literal under a name; None when it has none."""
        facts = self.table(box.path).facts
        for arg in reversed(facts.exprs[box.expr].args):
            entry = facts.exprs[arg]
            if entry.op is not ops.KEYWORD:
                continue
            key = entry.name
            if not key and entry.args:
                key = self._constant(box.path, entry.args[0], MAX_CONSTANT_STEPS) or ""
            if key == name:
                return self._entry_value(box.path, entry)
        return None

    def _entry_value(self, path: str, entry: Expr) -> Values:
        """An object's entry when it is read: a getter gives what it returns."""
        value = self.table(path).facts.exprs[entry.base] if entry.base >= 0 else None
        if value is not None and value.op is ops.FUNCTION:
            definition = self.definition(path, value.base)
            if definition.flags & NodeFlag.PROPERTY:
                return self.returned(path, value.base)
        return self.value(path, entry.base)

    def item(self, base: Value, key: str | None) -> Values:
        if isinstance(base, Box):
            return self._box_item(base, key)
        if isinstance(base, Shape):
            if base.type.name == "()" and key is not None and key.isdigit() and int(key) < len(base.type.args):
                return self.typed_in(base.path, base.scope, base.type.args[int(key)], base.env)
            return self.element(base) if base.type.name != MAP else self._argument_of(base, 1)
        return self.element(base) if isinstance(base, Coll) else super().item(base, key)

    def _box_item(self, box: Box, key: str | None) -> Values:
        facts = self.table(box.path).facts
        expr = facts.exprs[box.expr]
        if expr.op is ops.MAPPING:
            return self.box_items(box, None) if key is None else self.box_member(box, key)
        if key is None or any(facts.exprs[arg].op is ops.SPREAD for arg in expr.args):
            return self.element(box)
        place = int(key)
        return self.value(box.path, expr.args[place]) if place < len(expr.args) else UNKNOWN

    def _part(self, base: Value) -> Values:
        """Some of a list's elements: which of them is not followed."""
        if isinstance(base, Box):
            return (Coll("list", (self.element(base),)),)
        return (base,) if isinstance(base, (Shape, Coll)) else EXTERNAL if isinstance(base, Ext) else UNKNOWN

    def element(self, base: Value) -> Values:
        if isinstance(base, Shape):
            return self._shape_element(base)
        if isinstance(base, Coll):
            return base.args[0]
        if isinstance(base, Inst):
            return self._iterated(base)
        if isinstance(base, Box):
            return self._guarded(base.path, ("items", base.path, base.expr), lambda: self._box_elements(base))
        return super().element(base)

    def _box_elements(self, box: Box) -> Values:
        facts = self.table(box.path).facts
        expr = facts.exprs[box.expr]
        if expr.op is ops.MAPPING:
            return EXTERNAL
        found: list[Value] = []
        for arg in expr.args:
            item = facts.exprs[arg]
            values = self.value(box.path, item.base if item.op is ops.SPREAD else arg)
            found += self._each(values, self.element) if item.op is ops.SPREAD else values
        return tuple(found)

    def _iterated(self, base: Inst) -> Values:
        """What `for (x of instance)` gives: through [Symbol.iterator], next and value."""
        found: list[Value] = []
        for method in self.member(base, ITERATOR):
            if isinstance(method, Func):
                made = self.call_result(method, method.path, -1)
                if any(isinstance(value, Shape) for value in made):
                    found += self._each(made, self.element)
                else:
                    steps = self._each(self.members(made, "next"), lambda step: self.call_result(step, "", -1))
                    found += self.members(steps, "value")
        return tuple(found)

    # -- shapes

    def _shape_member(self, shape: Shape, name: str) -> Values:
        if shape.type.name == OBJECT:
            for member in shape.type.args:
                if member.name == f":{name}":
                    return self.typed_in(shape.path, shape.scope, member.args[0], shape.env)
            return UNKNOWN
        if shape.type.name == MAP and name not in MAP_METHODS:
            return self._argument_of(shape, 1)
        return (Ext(f"{_LIBRARY_NAMES.get(shape.type.name, 'Object')}.{name}"),)

    def _argument_of(self, shape: Shape, place: int) -> Values:
        args = shape.type.args
        return self.typed_in(shape.path, shape.scope, args[place], shape.env) if place < len(args) else UNKNOWN

    def _shape_element(self, shape: Shape) -> Values:
        name = shape.type.name
        if name == GENERATOR:
            return self.returned(shape.path, shape.scope)
        if name == LIST:
            return self._argument_of(shape, 0)
        if name == "()":
            return tuple(value for place in range(len(shape.type.args)) for value in self._argument_of(shape, place))
        if name == MAP:
            return (Shape(shape.path, shape.scope, Type("()", shape.type.args), shape.env),)
        return UNKNOWN
