"""Types that are expected of an expression where it stands: they type the parameters of callbacks."""

from __future__ import annotations

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Expr, ParamKind
from ctxsearch.graph.model import NodeKind
from ctxsearch.graph.resolve.ecma_calls import CallResults
from ctxsearch.graph.resolve.ecma_library import FIRST_IS_ELEMENT, SECOND_IS_ELEMENT
from ctxsearch.graph.resolve.ecma_types import FUNCTION, MAP
from ctxsearch.graph.resolve.values import (
    UNKNOWN,
    Box,
    Class,
    Func,
    Inst,
    Module,
    Shape,
    Value,
    Values,
)


class Context(CallResults):
    """Contextual typing."""

    def param(self, path: str, index: int, place: int) -> Values:
        definition = self.table(path).facts.definitions[index]
        param = definition.params[place]
        if param.type is None and param.kind is not ParamKind.RECEIVER:
            expected = self._guarded(
                path, ("expected", path, index, place), lambda: self._expected_param(path, index, place)
            )
            if expected:
                return expected
            if param.kind is ParamKind.VARIADIC:
                return UNKNOWN
        return super().param(path, index, place)

    def returned(self, path: str, index: int) -> Values:
        definition = self.definition(path, index)
        if definition.result is None and index in self.js(path).function_expr:
            expected = self._expected_result(path, index)
            if expected:
                return expected
        return super().returned(path, index)

    def param_as_seen(self, typed: Values, param: object) -> Values:  # noqa: ARG002  a rest parameter's type is a list
        return typed

    def _expected_param(self, path: str, index: int, place: int) -> Values:
        js = self.js(path)
        expr = js.function_expr.get(index, -1)
        if expr < 0:
            return UNKNOWN
        holder = js.holders.get(expr)
        if holder is not None and holder.kind == "arg":
            given = self._callback_param(path, holder.owner, holder.place, place)
            if given is not None:
                return given
        found: list[Value] = []
        for value in self._expected(path, expr):
            if isinstance(value, Shape) and value.type.name == FUNCTION and place + 1 < len(value.type.args):
                found += self.typed_in(value.path, value.scope, value.type.args[place + 1], value.env)
            elif isinstance(value, Inst):
                signature = self.call_signature(value, place)
                if signature is not None and place < len(signature[1].params):
                    declared = signature[1].params[place].type
                    found += self.typed_in(value.path, signature[0], declared, self.env_of(value))
        return tuple(found)

    def _callback_param(self, path: str, call: int, position: int, place: int) -> Values | None:
        """What a built-in passes to its callback; None when the callee is not a built-in."""
        exprs = self.table(path).facts.exprs
        callee = exprs[exprs[call].base] if exprs[call].op is ops.CALL else None
        if callee is None or callee.op is not ops.MEMBER or position != 0:
            return None
        receivers = self.value(path, callee.base)
        if callee.name == "then" and place == 0:
            awaited = tuple(value for value in receivers if isinstance(value, (Inst, Box, Module, Shape)))
            return awaited or None
        lists = tuple(value for value in receivers if self._is_collection(value))
        if not lists:
            return None
        first = callee.name in FIRST_IS_ELEMENT and place == 0
        if not first and not (callee.name in SECOND_IS_ELEMENT and place == 1):
            return None
        return self._each(lists, self._visited)

    def _visited(self, value: Value) -> Values:
        if isinstance(value, Shape) and value.type.name == MAP:
            return self._argument_of(value, 1)
        return self.element(value)

    def _expected(self, path: str, expr: int) -> Values:
        """The values of the type that an expression is expected to have where it stands."""
        return self._guarded(path, ("x", path, expr), lambda: self._expected_by(path, expr))

    def _expected_by(self, path: str, expr: int) -> Values:
        holder = self.js(path).holders.get(expr)
        if holder is None:
            return UNKNOWN
        facts = self.table(path).facts
        if holder.kind == "assign":
            assign = facts.assigns[holder.owner]
            target = facts.exprs[assign.target]
            if assign.type is not None:
                return self.typed(path, target.scope, assign.type)
            return self._expected_member(path, target)
        if holder.kind == "return":
            return self._expected_result(path, holder.owner)
        if holder.kind == "arg":
            return self._expected_argument(path, holder.owner, holder.place)
        if holder.kind == "entry":
            return self.members(self._expected(path, holder.owner), holder.key)
        if holder.kind == "item":
            return self._each(self._expected(path, holder.owner), self.element)
        if holder.kind == "same":
            return self._expected(path, holder.owner)
        definition = facts.definitions[holder.owner]
        if holder.kind == "default":
            return self.typed(path, holder.owner, definition.params[holder.place].type)
        return self.typed(path, definition.parent, definition.result)

    def _expected_member(self, path: str, target: Expr) -> Values:
        """The declared type of a field that is assigned to."""
        if target.op is not ops.MEMBER or target.base < 0:
            return UNKNOWN
        found: list[Value] = []
        for owner in self.value(path, target.base):
            if isinstance(owner, Inst):
                table = self.table(owner.path)
                for index in table.defs[owner.index].get(target.name, ()) if owner.index in table.defs else ():
                    definition = self.definition(owner.path, index)
                    if definition.kind is NodeKind.VARIABLE:
                        found += self.typed(owner.path, owner.index, definition.result)
        return tuple(found)

    def _expected_result(self, path: str, index: int) -> Values:
        definition = self.table(path).facts.definitions[index]
        if definition.result is not None:
            return self.typed(path, index, definition.result)
        expr = self.js(path).function_expr.get(index, -1)
        return self._each(self._expected(path, expr), self._made_by) if expr >= 0 else UNKNOWN

    def _expected_argument(self, path: str, call: int, position: int) -> Values:
        site = self.table(path).facts.exprs[call]
        callees = self.new_classes(path, site) if site.op is ops.NEW else self.value(path, site.base)
        found: list[Value] = []
        for callee in callees:
            functions = self.constructors(callee) if isinstance(callee, Class) else (callee,)
            for function in functions:
                if isinstance(function, Func):
                    found += self._declared_param(function, position)
                elif isinstance(function, Shape) and function.type.name == FUNCTION:
                    declared = next(iter(function.type.args[position + 1 : position + 2]), None)
                    found += self.typed_in(function.path, function.scope, declared, function.env)
        return tuple(found)

    def _declared_param(self, function: Func, position: int) -> Values:
        definition = self.definition(function.path, function.index)
        params = [param for param in definition.params if param.kind is not ParamKind.RECEIVER]
        if not params:
            return UNKNOWN
        param = params[min(position, len(params) - 1)]
        if position >= len(params) and param.kind is not ParamKind.VARIADIC:
            return UNKNOWN
        typed = self.typed(function.path, function.index, param.type)
        return self._each(typed, self.element) if param.kind is ParamKind.VARIADIC else typed
