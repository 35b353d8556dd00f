"""C++ templates: what their parameters stand for, followed through members, parents and calls.

A parameter is a `Var` in the types that declarations give. Where a value is asked for, a parameter is what the
receiver's type, the written or the passed arguments say; one that nothing is known of is external.
"""

from __future__ import annotations

from ctxsearch.graph import ops
from ctxsearch.graph.facts import EXPLICIT, Definition, Expr, Type
from ctxsearch.graph.resolve.c_rules import SMART_POINTERS, CEvaluator
from ctxsearch.graph.resolve.typed_types import Env, has_var
from ctxsearch.graph.resolve.values import EXTERNAL, UNKNOWN, Class, Ext, Func, Inst, Value, Values, Var

MAX_NESTED = 6  # of type arguments inside one another, and of templates that are parents of templates


class TemplateEvaluator(CEvaluator):
    """C's rules with type arguments."""

    # -- parameters as types

    def type_parameter(self, path: str, index: int, name: str) -> Values | None:
        for place, param in enumerate(self.table(path).facts.definitions[index].type_params):
            if param.name == name:
                return (Var(path, index, place),)
        return None

    def type_instances(self, path: str, scope: int, declared: Type) -> Values:
        found = super().type_instances(path, scope, declared)
        if found or declared.args or "." in declared.name:
            return found
        return tuple(value for value in self.type_classes(path, scope, declared) if isinstance(value, Var))

    def base_classes(self, path: str, index: int, base: Type) -> Values:
        return _closed(super().base_classes(path, index, base))

    def new_classes(self, path: str, expr: Expr) -> Values:
        return _closed(super().new_classes(path, expr))

    # -- parameters as values

    def eval_name(self, path: str, index: int, expr: Expr) -> Values:
        found = super().eval_name(path, index, expr)
        if not has_var(found):
            return found
        owner = self.table(path).enclosing_class(expr.scope)
        return self._applied(found, self._arguments_of(Inst(path, owner)) if owner >= 0 else {})

    def member(self, base: Value, name: str) -> Values:
        if isinstance(base, Var):
            return EXTERNAL
        found = super().member(base, name)
        if not has_var(found) or not isinstance(base, (Inst, Class)):
            return found
        return self._applied(found, self._arguments_of(base))

    def library_member(self, base: Value, name: str, *, arrow: bool) -> Values:
        """`p->name` of an own class that has no such member is of what its `operator->` gives."""
        found = super().library_member(base, name, arrow=arrow)
        if found or not arrow or not isinstance(base, Inst):
            return found
        return self._each(self._operated(base, "operator->"), lambda held: self.member(held, name))

    def _operated(self, base: Inst, operator: str) -> Values:
        """What an operator without arguments gives for an instance."""
        functions = [item for item in self.class_member(base.path, base.index, operator) if isinstance(item, Func)]
        results = tuple(value for item in functions[:1] for value in self.returned(item.path, item.index))
        if not has_var(results):
            return results
        return self._applied(results, self._callee_arguments(functions[0], (base,)))

    def item(self, base: Value, key: str | None) -> Values:
        found = EXTERNAL if isinstance(base, Var) else super().item(base, key)
        if not has_var(found) or not isinstance(base, Inst):
            return found
        return self._applied(found, self._arguments_of(base))

    def element(self, base: Value) -> Values:
        """An own collection is what its `begin` gives: a pointer, or an iterator with `operator*`."""
        if isinstance(base, Var):
            return EXTERNAL
        if not isinstance(base, Inst):
            return super().element(base)
        return self._each(self._operated(base, "begin"), self._pointed_at)

    def _pointed_at(self, value: Value) -> Values:
        if isinstance(value, Inst):
            return self._operated(value, "operator*") or (value,)
        if isinstance(value, Ext) and value.args and value.name.rsplit(".", 1)[-1] in SMART_POINTERS:
            return value.args[0] or EXTERNAL
        return EXTERNAL

    # -- calls

    def call_result(self, callee: Value, path: str, index: int) -> Values:
        if isinstance(callee, Var):
            return EXTERNAL
        found = super().call_result(callee, path, index)
        if isinstance(callee, Class):
            return self._made(found, path, index)
        if not isinstance(callee, Func) or not has_var(found):
            return found
        env = self._callee_arguments(callee, self._receivers_of(path, index))
        env.update(self._given_arguments(callee, path, index))
        return self._applied(found, env)

    def _made(self, found: Values, path: str, index: int) -> Values:
        """Box<Foo>(...)."""
        expr = self.table(path).facts.exprs[index]
        if expr.type is None or expr.type.name != EXPLICIT:
            return found
        args = tuple(self.typed(path, expr.scope, arg) for arg in expr.type.args)
        return tuple(Inst(item.path, item.index, args) if isinstance(item, Inst) else item for item in found)

    def eval_new(self, path: str, index: int, expr: Expr) -> Values:
        """new Box<Foo>(...), Box<Foo> box(...)."""
        if expr.type is None or not expr.type.args:
            return super().eval_new(path, index, expr)
        return _closed(self.typed(path, expr.scope, expr.type))

    def _receivers_of(self, path: str, index: int) -> Values:
        """What a call's function is a member of: the object before it, or the one around."""
        facts = self.table(path).facts
        call = facts.exprs[index]
        callee = facts.exprs[call.base] if call.base >= 0 else None
        if callee is not None and callee.op is ops.MEMBER:
            return self.receivers(path, callee)
        owner = self.table(path).enclosing_class(call.scope)
        return (Inst(path, owner),) if owner >= 0 else UNKNOWN

    def _callee_arguments(self, callee: Func, receivers: Values) -> Env:
        """What the parameters of a method's class are for a receiver; outside its class it names them again."""
        env: Env = {}
        for receiver in receivers:
            if isinstance(receiver, (Inst, Class)):
                env.update(self._arguments_of(receiver))
        definition = self.definition(callee.path, callee.index)
        if definition.receiver is not None:
            for owner in self.receiver_classes(callee.path, definition):
                for place in range(len(definition.type_params)):
                    known = env.get((owner.path, owner.index, place))
                    if known is not None:
                        env[callee.path, callee.index, place] = known
        return env

    def _arguments_of(self, base: Inst | Class, level: int = 0) -> Env:
        """The type arguments of an instance's class and of its parents."""
        definition = self.definition(base.path, base.index)
        if _is_special(definition) or level > MAX_NESTED:
            return {}
        count = len(definition.type_params)
        env: Env = {(base.path, base.index, place): arg for place, arg in enumerate(base.args[:count])}
        for parent in definition.bases:
            args = tuple(self.typed(base.path, base.index, arg) for arg in parent.args)
            for value in self.base_classes(base.path, base.index, parent):
                if isinstance(value, Class):
                    bound = tuple(self._applied(arg, env) for arg in args)
                    env.update(self._arguments_of(Class(value.path, value.index, bound), level + 1))
        return env

    def _given_arguments(self, callee: Func, path: str, index: int) -> Env:
        """What a function's own parameters stand for: as written at the call, else by what is passed."""
        definition = self.definition(callee.path, callee.index)
        if not definition.type_params or definition.receiver is not None:
            return {}
        call = self.table(path).facts.exprs[index]
        env: Env = {}
        for param, arg in zip(definition.params, call.args, strict=False):
            if param.type is not None:
                self._match(callee, param.type, self.value(path, arg), env)
        written = call.type.args if call.type is not None and call.type.name == EXPLICIT else ()
        for place, declared in enumerate(written[: len(definition.type_params)]):
            env[callee.path, callee.index, place] = self.typed(path, call.scope, declared)
        return env

    def _match(self, callee: Func, declared: Type, values: Values, env: Env, level: int = 0) -> None:
        """Note what type parameters a parameter's type mentions are for the values that are passed."""
        params = self.definition(callee.path, callee.index).type_params
        for place, param in enumerate(params):
            if param.name == declared.name and values:
                env.setdefault((callee.path, callee.index, place), values)
        if len(values) == 1 and isinstance(only := values[0], (Inst, Ext)) and level < MAX_NESTED:
            for inner, args in zip(declared.args, only.args, strict=False):
                self._match(callee, inner, args, env, level + 1)

    def _applied(self, values: Values, env: Env, level: int = 0) -> Values:
        """Values with template parameters replaced by what they stand for; what nothing is known of is external."""
        found: list[Value] = []
        for value in values:
            if isinstance(value, Var):
                found += env.get((value.path, value.index, value.position)) or EXTERNAL
            elif isinstance(value, (Inst, Class, Ext)) and value.args and level < MAX_NESTED:
                args = tuple(self._applied(arg, env, level + 1) for arg in value.args)
                made = Ext(value.name, args) if isinstance(value, Ext) else type(value)(value.path, value.index, args)
                found.append(made)
            else:
                found.append(value)
        return tuple(found)


def _closed(values: Values) -> Values:
    """Without template parameters: where a class is meant, nothing is known of them."""
    return tuple(Ext("") if isinstance(value, Var) else value for value in values)


def _is_special(definition: Definition) -> bool:
    """A specialisation: its parameters are others than those of its template."""
    return f"{definition.name}<" in definition.signature.replace(" ", "")
