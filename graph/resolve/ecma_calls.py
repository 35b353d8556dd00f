"""What calls and `new` give in JavaScript: results of functions, generic methods and built-in methods."""

from __future__ import annotations

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Definition, Expr, Type
from ctxsearch.graph.model import NodeFlag
from ctxsearch.graph.resolve.ecma_library import ELEMENT_RESULTS, GENERATOR, INSTANCE, PROMISE_METHODS, SAME_RESULTS
from ctxsearch.graph.resolve.ecma_objects import Objects
from ctxsearch.graph.resolve.ecma_types import CONSTRUCTOR, FUNCTION, LIST, MAP, Env
from ctxsearch.graph.resolve.values import (
    EXTERNAL,
    UNKNOWN,
    Box,
    Class,
    Coll,
    Ext,
    Func,
    Inst,
    Module,
    Shape,
    Value,
    Values,
)


class CallResults(Objects):
    """Evaluates calls."""

    def eval_call(self, path: str, index: int, expr: Expr) -> Values:
        callee = self.table(path).facts.exprs[expr.base]
        if callee.op is ops.NAME and callee.name in ("require", "import"):
            loaded = self._loaded(path, expr, callee)
            if loaded is not None:
                return loaded
        if callee.op is ops.MEMBER:
            found = self._method_result(path, index, expr, callee)
            if found is not None:
                return found
        return self._each(self.value(path, expr.base), lambda value: self.call_result(value, path, index))

    def _loaded(self, path: str, expr: Expr, callee: Expr) -> Values | None:
        """require("x") and import("x"); None when `require` is something else here."""
        argument = self.table(path).facts.exprs[expr.args[0]] if expr.args else None
        if argument is None or argument.op is not ops.LITERAL or not argument.text:
            return None
        if callee.name == "import":
            return self.module(path, argument.text)
        known = self.lookup(path, callee.scope, "require", callee.at)
        if any(not isinstance(value, Ext) for value in known):
            return None
        return self.required(path, argument.text)

    def _method_result(self, path: str, index: int, expr: Expr, callee: Expr) -> Values | None:
        """Results of methods whose receiver decides: collections, promises, Function.prototype, generic classes."""
        name = callee.name
        receivers = self.value(path, callee.base)
        found: list[Value] = []
        handled = False
        for receiver in receivers:
            result = self._library_result(path, expr, receiver, name)
            if result is None and isinstance(receiver, Inst) and receiver.args:
                result = self._generic_result(path, index, receiver, name)
            if result is None:
                result = self._each(self.member(receiver, name), lambda value: self.call_result(value, path, index))
            else:
                handled = True
            found += result
        return tuple(found) if handled else None

    def _library_result(self, path: str, expr: Expr, receiver: Value, name: str) -> Values | None:
        if isinstance(receiver, Func):
            if name == "bind":
                return (receiver,)
            return self.returned(receiver.path, receiver.index) if name in ("call", "apply") else None
        if isinstance(receiver, Ext) and receiver.name == "Object":
            if name in ("create", "freeze", "seal", "assign") and expr.args:
                return self.value(path, expr.args[0])
            if name == "values" and expr.args:
                return self._object_values(self.value(path, expr.args[0]))
        if isinstance(receiver, Ext) and receiver.name == "Promise" and name in ("resolve", "all") and expr.args:
            return self.value(path, expr.args[0])
        if name in PROMISE_METHODS and isinstance(receiver, (Inst, Box, Class, Func, Module)):
            return self._chained(path, expr, receiver, name)
        if not self._is_collection(receiver):
            return None
        if name in ("map", "flatMap") and expr.args:
            made = self._each(self.value(path, expr.args[0]), lambda value: self.call_result(value, path, -1))
            return (Coll("list", (made,)),) if made else EXTERNAL
        return self._collection_result(receiver, name)

    def _is_collection(self, value: Value) -> bool:
        if isinstance(value, Box):
            return self.table(value.path).facts.exprs[value.expr].op is ops.SEQUENCE
        if isinstance(value, Shape):
            return value.type.name in (LIST, "()", MAP, GENERATOR)
        return isinstance(value, Coll)

    def _object_values(self, values: Values) -> Values:
        """Object.values(o), as something whose elements are o's values: o's own entries where it is a literal."""
        return tuple(
            Shape(value.path, value.scope, Type(LIST, value.type.args[1:2]), value.env)
            for value in values
            if isinstance(value, Shape) and value.type.name == MAP
        )

    def _chained(self, path: str, expr: Expr, receiver: Value, name: str) -> Values | None:
        """promise.then(f): what f returns."""
        if not isinstance(receiver, Module) and self.member(receiver, name) not in (EXTERNAL, UNKNOWN):
            return None
        if name != "then" or not expr.args:
            return (receiver,)
        results = self._each(self.value(path, expr.args[0]), lambda value: self.call_result(value, path, -1))
        return results or EXTERNAL

    def _collection_result(self, receiver: Value, name: str) -> Values:
        if isinstance(receiver, Shape) and receiver.type.name == MAP:
            if name == "get":
                return self._argument_of(receiver, 1)
            if name in ("values", "keys"):
                place = 1 if name == "values" else 0
                return (
                    Shape(
                        receiver.path, receiver.scope, Type(LIST, receiver.type.args[place : place + 1]), receiver.env
                    ),
                )
            return (receiver,) if name in ("entries", "set") else EXTERNAL
        if name in ELEMENT_RESULTS:
            return self.element(receiver)
        if name in SAME_RESULTS or name in ("values", "add"):
            return self._part(receiver)
        return EXTERNAL

    def _generic_result(self, path: str, index: int, receiver: Inst, name: str) -> Values | None:
        """A method's declared result where it names type parameters of the receiver's class."""
        env = self.env_of(receiver)
        methods = [value for value in self.member(receiver, name) if isinstance(value, Func)]
        if not env or not methods:
            return None
        found: list[Value] = []
        for method in methods:
            definition = self.definition(method.path, method.index)
            typed = self.result_in(method.path, definition, method.index, env)
            found += typed or self.call_result(method, path, index)
        return tuple(found)

    def call_result(self, callee: Value, path: str, index: int) -> Values:
        if isinstance(callee, Func):
            return self._function_result(callee, path, index)
        if isinstance(callee, Shape) and callee.type.name == FUNCTION and callee.type.args:
            return self.typed_in(callee.path, callee.scope, callee.type.args[0], callee.env)
        if isinstance(callee, Inst):
            return self._made_by(callee)
        if isinstance(callee, Class) or index < 0:
            return UNKNOWN if not isinstance(callee, Ext) else EXTERNAL
        return super().call_result(callee, path, index)

    def _function_result(self, callee: Func, path: str, index: int) -> Values:
        definition = self.definition(callee.path, callee.index)
        if definition.flags & NodeFlag.GENERATOR and definition.result is None:
            return (Shape(callee.path, callee.index, Type(GENERATOR)),)
        if definition.type_params and definition.result is not None and index >= 0:
            env = self._inferred(callee, definition, path, index)
            found = self.typed_in(callee.path, callee.index, definition.result, env)
            if found:
                return found
        values = self.returned(callee.path, callee.index)
        return values if index < 0 else self.substitute(values, callee, path, index)

    def _inferred(self, callee: Func, definition: Definition, path: str, call: int) -> Env:
        """A generic function's type parameters: written at the call, or the type of the argument that has them."""
        facts = self.table(path).facts
        site = facts.exprs[call]
        given = site.type.args if site.type is not None and site.type.name == "<>" else ()
        found: list[tuple[str, Values]] = []
        for place, param in enumerate(definition.type_params):
            values = self.typed(path, site.scope, given[place]) if place < len(given) else UNKNOWN
            values = values or self._from_arguments(callee, definition, param.name, path, call)
            if values:
                found.append((param.name, values))
        return tuple(found)

    def _from_arguments(self, callee: Func, definition: Definition, name: str, path: str, call: int) -> Values:
        for place, param in enumerate(definition.params):
            declared = param.type
            if declared is None:
                continue
            argument = self.argument(callee, place, path, call)
            if argument < 0:
                continue
            if declared.name == name:
                return self.value(path, argument)
            if declared.name == LIST and declared.args[:1] == (Type(name),):
                return self._each(self.value(path, argument), self.element)
            if declared.name == CONSTRUCTOR and declared.args[:1] == (Type(name),):
                return self._each(self.value(path, argument), self.instance_of)
        return UNKNOWN

    def new_classes(self, path: str, expr: Expr) -> Values:
        found = self.value(path, expr.base)
        if expr.type is None:
            return found
        args = tuple(self.typed(path, expr.scope, arg) for arg in expr.type.args)
        return tuple(Class(value.path, value.index, args) if isinstance(value, Class) else value for value in found)

    def eval_new(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        classes = self.new_classes(path, expr)
        if expr.type is not None and any(isinstance(value, Ext) for value in classes):
            return self.typed(path, expr.scope, expr.type) or EXTERNAL
        if classes == (Ext("Set"),) and expr.args:
            return self.value(path, expr.args[0])  # iterated, it gives the same elements
        return self._each(classes, self.instance_of)

    def eval_cast(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        if expr.text == INSTANCE:
            return self._each(self.value(path, expr.base), self.instance_of)
        typed = self.typed(path, expr.scope, expr.type)
        return typed or self.value(path, expr.base)
