"""Evaluation of expressions to values, on demand, across files: the base that each language refines.

`memo` remembers, `flow` follows parameters, `hooks` has what a language may refine, `lookups` what names mean; each
builds on the one before.
"""

from __future__ import annotations

from ctxsearch.graph import ops
from ctxsearch.graph.facts import MODULE_SCOPE, Expr, Import, Op, ParamKind
from ctxsearch.graph.model import Rule
from ctxsearch.graph.resolve.lookups import Lookups
from ctxsearch.graph.resolve.memo import MAX_FLOW, MAX_WIDTH, Operator, distinct
from ctxsearch.graph.resolve.tables import CLASS_LIKE, positional_params
from ctxsearch.graph.resolve.values import (
    UNKNOWN,
    Arg,
    Box,
    Class,
    Ext,
    Func,
    Inst,
    Module,
    Package,
    Sym,
    Value,
    Values,
)
from ctxsearch.graph.resolve.world import World

MAX_DISPATCH = 20  # a method with more overrides than this says nothing about one call


class Evaluator(Lookups):
    """Evaluates one language's expressions. `begin(path)` names the file being resolved, its home."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._operators = [self._operator(op) for op in sorted(Op)]
        # remembering what these give costs more than asking again
        self._plain = frozenset(op for op in Op if getattr(self._operators[op], "__func__", None) in _PLAIN)

    # -- expressions

    def _operator(self, op: Op) -> Operator:
        """`eval_<operator>`, so that a language refines one by overriding it; an operator without one is unknown."""
        own = getattr(self, f"eval_{op.name.lower()}", None)
        found: Operator = own or getattr(self, _ALIKE.get(op, "eval_unknown"))
        return found

    def eval_unknown(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        return UNKNOWN

    def eval_name(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        if self._abroad or path != self.home or not self.is_fixed(path, expr.scope, expr.name):
            return self.lookup(path, expr.scope, expr.name, expr.at)
        return self._once(
            ("name", expr.scope, expr.name),
            lambda: distinct(
                self.lookup(path, expr.scope, expr.name, expr.at), MAX_FLOW if self.follow_args else MAX_WIDTH
            ),
        )

    def eval_member(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        return self.members(self.value(path, expr.base), expr.name)

    def eval_call(self, path: str, index: int, expr: Expr) -> Values:
        return self._each(self.value(path, expr.base), lambda callee: self.call_result(callee, path, index))

    def eval_new(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        return self._each(self.new_classes(path, expr), self.instance_of)

    def eval_index(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        key = self.table(path).facts.exprs[expr.args[0]] if expr.args else None
        constant = key.text if key is not None and key.op is ops.LITERAL else None
        return self._each(self.value(path, expr.base), lambda base: self.item(base, constant))

    def eval_literal(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        return (Ext(expr.name),)

    def eval_box(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        return (Box(path, index),)

    def eval_function(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        return (Func(path, expr.base),)

    def eval_class(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        return (Class(path, expr.base),)

    def eval_choice(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        return tuple(value for arg in expr.args for value in self.value(path, arg))

    def eval_same(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        return self.value(path, expr.base)

    def eval_element(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        return self._each(self.value(path, expr.base), self.element)

    def eval_cast(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        return self.typed(path, expr.scope, expr.type) or self.value(path, expr.base)

    def eval_this(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        owner = self.table(path).enclosing_class(expr.scope)
        return (Inst(path, owner),) if owner >= 0 else UNKNOWN

    def eval_callable(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        """A function taken as a value."""
        return self.members(self.value(path, expr.base), expr.name)

    def eval_receiver_class(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        owner = self.table(path).enclosing_class(expr.scope)
        return (Class(path, owner),) if owner >= 0 else UNKNOWN

    def eval_super(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        """The parents as instances; members are looked up from the first that has them."""
        owner = self.table(path).enclosing_class(expr.scope)
        if owner < 0:
            return UNKNOWN
        return self._each(self.bases(path, owner), self.instance_of)

    # -- calls

    def call_result(self, callee: Value, path: str, index: int) -> Values:
        """What calling `callee` at the call expression `index` of `path` gives."""
        if isinstance(callee, Func):
            return self.substitute(self.returned_to_callers(callee), callee, path, index)
        if isinstance(callee, Class):
            return self.instance_of(callee)
        if isinstance(callee, Ext):
            return self.external_result(callee)
        return UNKNOWN

    def returned_to_callers(self, callee: Func) -> Values:
        """What a function returns, a parameter that it hands back left as such: each call knows what it passed."""
        found = self.returned(callee.path, callee.index)
        if not self.follow_args or not found:
            return found
        self.follow_args = False
        try:
            symbolic = self.returned(callee.path, callee.index)
        finally:
            self.follow_args = True
        own = any(
            isinstance(value, Arg) and (value.path, value.index) == (callee.path, callee.index) for value in symbolic
        )
        if not own or any(isinstance(value, Sym) for value in symbolic):
            return found
        return self._each(symbolic, lambda value: self._followed(value, callee))

    def _followed(self, value: Value, callee: Func) -> Values:
        if isinstance(value, Arg) and (value.path, value.index) != (callee.path, callee.index):
            return self.expand(value)
        return (value,)

    def substitute(self, values: Values, callee: Func, path: str, call: int) -> Values:
        """Replace the callee's own parameters in `values` by what this call passes for them."""
        if not any(isinstance(value, Arg) for value in values):
            return values
        found: list[Value] = []
        for value in values:
            if isinstance(value, Arg) and _is_param_of(value, callee):
                argument = self.argument(callee, value.position, path, call)
                found += self.value(path, argument) if argument >= 0 else ()
            else:
                found.append(value)
        return tuple(found)

    def argument(self, callee: Func, position: int, path: str, call: int) -> int:
        """The expression a call passes for one of the callee's parameters; -1 when none or not certain."""
        facts = self.table(path).facts
        definition = self.definition(callee.path, callee.index)
        name = definition.params[position].name
        positional: list[int] = []
        for arg in self.given(path, call, callee):
            item = facts.exprs[arg]
            if item.op is ops.KEYWORD:
                if item.name == name and name:
                    return item.base
            elif item.op is ops.SPREAD:
                return -1
            else:
                positional.append(arg)
        places = positional_params(definition)
        if position in places:
            rank = places.index(position)
            if rank < len(positional) and definition.params[position].kind is ParamKind.NORMAL:
                return positional[rank]
        return -1

    def new_classes(self, path: str, expr: Expr) -> Values:
        """The classes that a NEW expression names."""
        if expr.type is not None:
            return self.type_classes(path, expr.scope, expr.type)
        return self.value(path, expr.base)

    def instance_of(self, value: Value) -> Values:
        if isinstance(value, Class):
            return (Inst(value.path, value.index, value.args),)
        return (value,) if isinstance(value, (Ext, Inst)) else UNKNOWN

    def ask_new(self, path: str, expr: Expr) -> Values:
        """Entry point: the classes that a NEW expression instantiates."""
        self._steps = 0
        return self.new_classes(path, expr)

    def constructors(self, value: Class) -> Values:
        """The functions that run when the class is instantiated."""
        for name in self.constructor_names(value):
            found = tuple(item for item in self.class_member(value.path, value.index, name) if isinstance(item, Func))
            if found:
                return found
        return UNKNOWN

    # -- symbols

    def decorator(self, path: str, expr: int) -> Values:
        """The symbol that a decorator expression names, its arguments aside."""
        item = self.table(path).facts.exprs[expr]
        return self.ask(path, item.base if item.op is ops.CALL else expr)

    def reference(self, path: str, expr: int) -> Values:
        """The symbol that a constant or type reference names: the definition, not its value."""
        item = self.table(path).facts.exprs[expr]
        if item.op is ops.MEMBER:
            owners = self.ask(path, item.base)
            return self._each(owners, lambda owner: self.defined(owner, item.name))
        return self.defined(Module(path), item.name)

    def defined(self, owner: Value, name: str) -> Values:
        """A constant or type that a module or class defines under a name."""
        if isinstance(owner, Module):
            self.world.record("name", owner.path, name)
            path, scope = owner.path, MODULE_SCOPE
        elif isinstance(owner, (Class, Inst)):
            self.touch(owner.path, owner.index)
            path, scope = owner.path, owner.index
        else:
            return UNKNOWN
        table = self.table(path)
        found = table.defs[scope].get(name) if scope in table.defs else None
        if found:
            return (Class(path, found[-1]),)
        imports = table.imports[scope].get(name, ()) if scope in table.imports else ()
        return tuple(value for index in imports for value in self.imported_symbol(path, table.facts.imports[index]))

    def imported_symbol(self, path: str, item: Import) -> Values:
        """The symbol behind an import, not its value."""
        if not item.name:
            return self.import_modules(path, item)
        return self._guarded(
            path,
            ("s", path, item.at, item.alias),
            lambda: self._each(self.import_modules(path, item), lambda owner: self.defined(owner, item.name)),
        )

    # -- overrides

    def overridden_in(self, path: str, index: int) -> list[Class]:
        """The types whose methods of the same name a method overrides, nearest first."""
        definitions = self.table(path).facts.definitions
        owner = definitions[index].parent
        if owner < 0 or definitions[owner].kind not in CLASS_LIKE:
            return []
        return [item for item in self.ancestry(path, owner)[1:] if isinstance(item, Class)]

    def may_dispatch(self, path: str, stable_name: str) -> bool:
        """Whether `dispatch` can find anything for that method of a file."""
        return bool(self.world.flowed("over", path, stable_name))

    def dispatch(self, target: tuple[str, int]) -> list[Func]:
        """The methods that may run in the target's place; none when they are too many (hierarchy.py notes them)."""
        noted = self.world.flowed("over", target[0], self.table(target[0]).stable_name(target[1]))
        values = [self.decode_value(item) for item in noted] if len(noted) <= MAX_DISPATCH else []
        return [value for value in values if isinstance(value, Func)]

    def receivers(self, path: str, callee: Expr) -> Values:
        """What a member that is called is a member of."""
        return self.ask(path, callee.base)

    def descends(self, place: tuple[str, int], owners: set[tuple[str, int]]) -> bool:
        """Whether a method's class is one of the classes or inherits from one."""
        path, index = place
        owner = self.definition(path, index).parent
        lineage = self.ancestry(path, owner) if owner >= 0 else []
        return any(isinstance(item, Class) and (item.path, item.index) in owners for item in lineage)

    # -- rules

    def rule(self, path: str, expr: Expr, values: Values) -> Rule:
        """Which rule found the values of a call's callee."""
        if expr.op is ops.NEW or expr.base < 0:
            return Rule.TYPED
        callee = self.table(path).facts.exprs[expr.base]
        if callee.op is ops.NAME:
            local = any(isinstance(value, (Func, Class)) and value.path == path for value in values)
            return Rule.LEXICAL if local else Rule.IMPORT
        if callee.op is ops.MEMBER:
            base = self.table(path).facts.exprs[callee.base]
            if base.op in (ops.THIS, ops.SUPER, ops.RECEIVER_CLASS):
                return Rule.SELF
            receivers = self.value(path, callee.base)
            if receivers and all(isinstance(value, (Module, Package, Class)) for value in receivers):
                return Rule.IMPORT
            return Rule.TYPED
        return Rule.FLOW


def _is_param_of(value: Value, callee: Func) -> bool:
    return isinstance(value, Arg) and (value.path, value.index) == (callee.path, callee.index)


_PLAIN = frozenset(
    {
        Evaluator.eval_unknown,
        Evaluator.eval_literal,
        Evaluator.eval_box,
        Evaluator.eval_function,
        Evaluator.eval_class,
        Evaluator.eval_this,
        Evaluator.eval_receiver_class,
    }
)
_ALIKE = {
    ops.SEQUENCE: "eval_box",
    ops.MAPPING: "eval_box",
    ops.TEMPLATE: "eval_literal",
    ops.AWAIT: "eval_same",
    ops.KEYWORD: "eval_same",
    ops.SPREAD: "eval_same",
    ops.ENTER: "eval_same",
    ops.YIELDED: "eval_same",
}
