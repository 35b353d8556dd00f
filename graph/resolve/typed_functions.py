"""Functions of declared-type languages: overloads, type inference at calls, function types, library results."""

from __future__ import annotations

from dataclasses import dataclass, field

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Definition, Expr, FileFacts, ParamKind, Type
from ctxsearch.graph.model import CALLABLE_KINDS, NodeFlag, NodeKind
from ctxsearch.graph.resolve.library import ANY_TYPE, Library
from ctxsearch.graph.resolve.overloads import arithmetic, is_text, simple
from ctxsearch.graph.resolve.typed_overloads import MAX_TIED, OverloadRules, Signature
from ctxsearch.graph.resolve.typed_types import MAX_NESTED_TYPES, Env, has_var, mentions
from ctxsearch.graph.resolve.values import EXTERNAL, UNKNOWN, Class, Ext, Func, Inst, Value, Values, Var
from ctxsearch.graph.resolve.world import World


@dataclass(slots=True)
class Sites:
    """Where a file's expressions stand: what is called, and what a function literal is given to."""

    facts: FileFacts
    calls: dict[int, int] = field(default_factory=dict)  # callee expression -> its call
    parents: dict[int, tuple[str, int, int]] = field(default_factory=dict)  # expression -> role, owner, position
    literals: dict[int, int] = field(default_factory=dict)  # function definition -> its FUNCTION expression


class FunctionRules(OverloadRules):
    """Which function a call means and what it gives."""

    library = Library({}, {}, {}, {})

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._sites: dict[str, Sites] = {}

    # -- sites

    def sites(self, path: str) -> Sites:
        facts = self.table(path).facts
        known = self._sites.get(path)
        if known is None or known.facts is not facts:
            known = self._sites[path] = _find_sites(facts)
        return known

    def forget(self) -> None:
        super().forget()
        self._sites.clear()

    # -- constructors

    def constructed(self, value: Value, path: str, expr: Expr) -> Values:
        """What `new` on a type runs; a type parameter may stand for anything."""
        if isinstance(value, Class):
            return self.choose_constructor(value, path, expr)
        return EXTERNAL if isinstance(value, Var) else (value,)

    def new_classes(self, path: str, expr: Expr) -> Values:
        if expr.base >= 0:
            return self.value(path, expr.base)
        return self.type_classes(path, expr.scope, expr.type) if expr.type is not None else UNKNOWN

    def is_method(self, definition: Definition) -> bool:
        return definition.kind in CALLABLE_KINDS and definition.kind is not NodeKind.CONSTRUCTOR

    def choose_constructor(self, cls: Class, path: str, call: Expr) -> Values:
        """The constructor that a call means; the class itself when it declares none that fits."""
        found: list[tuple[str, int]] = []
        for place, index in self.parts(cls.path, cls.index):
            self.touch(place, index)
            table = self.table(place)
            found += [
                (place, child)
                for child in table.children.get(index, ())
                if table.facts.definitions[child].kind is NodeKind.CONSTRUCTOR
                and not table.facts.definitions[child].flags & NodeFlag.STATIC
            ]
        if not found:
            return (cls,)
        chosen = self.choose_overload(found, path, call, strict=True)
        if not chosen and self.definition(cls.path, cls.index).params:
            return (cls,)
        chosen = chosen or self.choose_overload(found, path, call, strict=False) or found[:MAX_TIED]
        return tuple(Func(*item) for item in chosen)

    # -- results

    def eval_unknown(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        """An operator on numbers gives a number, on strings a string."""
        if not expr.name or not expr.args:
            return UNKNOWN
        left, right = self.value(path, expr.base), self.value(path, expr.args[0])
        if expr.name == "+" and (is_text(left) or is_text(right)):
            return left if is_text(left) else right
        return arithmetic(left, right)

    def call_result(self, callee: Value, path: str, index: int) -> Values:
        if isinstance(callee, Func):
            return self.function_result(callee, path, index)
        if isinstance(callee, Class):
            return self.instance_of(callee)
        if isinstance(callee, Ext):
            return self.library_result(callee, path, index)
        return UNKNOWN

    def function_result(self, callee: Func, path: str, call: int) -> Values:
        """The declared result with type parameters replaced by what the receiver and the arguments say."""
        definition = self.definition(callee.path, callee.index)
        if definition.kind is NodeKind.CONSTRUCTOR:
            return (Inst(callee.path, definition.parent),)
        values = self.declared_result(callee)
        if not has_var(values):
            return values
        env = self.receiver_env(callee, path, call)
        values = self.apply(values, env)
        if definition.type_params and mentions(values, callee.path, callee.index):
            values = self.apply(values, self.inferred(callee, path, call, env, functions=True))
        return values

    def declared_result(self, callee: Func) -> Values:
        definition = self.definition(callee.path, callee.index)
        if definition.result is not None:
            return self.typed(callee.path, callee.index, definition.result)
        return self._guarded(
            callee.path,
            ("r", callee.path, callee.index),
            lambda: tuple(value for expr in definition.returns for value in self.value(callee.path, expr)),
        )

    def receiver_env(self, callee: Func, path: str, call: int) -> Env:
        """What the type parameters of the callee's class stand for at a call."""
        owner = self.table(callee.path).enclosing_class(callee.index)
        if owner < 0 or not self.definition(callee.path, owner).type_params:
            return {}
        facts = self.table(path).facts
        base = facts.exprs[call].base
        if base < 0:
            return {}
        expr = facts.exprs[base]
        if expr.op is ops.MEMBER:
            receivers = self.value(path, expr.base)
        else:
            receivers = self.enclosing_instances(path, expr.scope)
        for receiver in receivers:
            values = self.bounds(receiver) if isinstance(receiver, Var) else (receiver,)
            for value in values:
                if isinstance(value, (Inst, Class)):
                    env = self.seen_as(value, callee.path, owner)
                    if env:
                        return env
        return {}

    def enclosing_instances(self, path: str, scope: int) -> Values:
        found: list[Value] = []
        owner = self.table(path).enclosing_class(scope)
        while owner >= 0:
            found.append(self.own_instance(path, owner))
            owner = self.table(path).class_of[owner]
        return tuple(found)

    def inferred(self, callee: Func, path: str, call: int, env: Env, *, functions: bool) -> Env:
        """What the callee's own type parameters stand for, from explicit arguments, else from the values passed."""
        facts = self.table(path).facts
        site = facts.exprs[call]
        definition = self.definition(callee.path, callee.index)
        if site.type is not None and site.op is ops.CALL:
            given = (self.typed(path, site.scope, arg) for arg in site.type.args)
            return {(callee.path, callee.index, place): values for place, values in enumerate(given)}
        found: Env = {}
        callee_expr = facts.exprs[site.base] if site.op is ops.CALL and site.base >= 0 else None
        if definition.receiver is not None and callee_expr is not None and callee_expr.op is ops.MEMBER:
            wanted = self.typed(callee.path, callee.index, definition.receiver)
            self._unify(wanted, self.value(path, callee_expr.base), found, 0)
        for position, arg in enumerate(site.args):
            expr = facts.exprs[arg]
            param = self.param_for(definition, expr, position)
            if param is None or param.type is None:
                continue
            wanted = self.apply(self.typed(callee.path, callee.index, param.type), env)
            if not mentions(wanted, callee.path, callee.index):
                continue
            if param.kind is ParamKind.VARIADIC:
                wanted = self._each(wanted, self.element)
            if expr.op is ops.KEYWORD:
                arg, expr = expr.base, facts.exprs[expr.base]
            if expr.op in (ops.FUNCTION, ops.CALLABLE):
                if functions:
                    self._infer_from_function(wanted, path, arg, found)
            else:
                self._unify(wanted, self.value(path, arg), found, 0)
        return found

    def unified_arguments(self, place: str, index: int, path: str, site: Expr) -> Env:
        """What the type parameters in a function's parameters stand for, given plain arguments."""
        facts = self.table(path).facts
        definition = self.definition(place, index)
        found: Env = {}
        for position, arg in enumerate(site.args):
            param = self.param_for(definition, facts.exprs[arg], position)
            if param is not None and param.kind is ParamKind.NORMAL and facts.exprs[arg].op is not ops.KEYWORD:
                self._unify(self.typed(place, index, param.type), self.value(path, arg), found, 0)
        return found

    def _infer_from_function(self, wanted: Values, path: str, arg: int, found: Env) -> None:
        for value in wanted:
            signature = self.signature_of(value)
            if signature is not None and has_var(signature.result):
                self._unify(signature.result, self.literal_result(path, arg), found, 0)

    def literal_result(self, path: str, arg: int) -> Values:
        """What a function literal or reference gives when called."""
        facts = self.table(path).facts
        expr = facts.exprs[arg]
        if expr.op is ops.FUNCTION:
            returns = facts.definitions[expr.base].returns
            return self._guarded(
                path, ("lr", path, arg), lambda: tuple(v for item in returns for v in self.value(path, item))
            )
        found: list[Value] = []
        for value in self.value(path, arg):
            if isinstance(value, Func):
                found += self.declared_result(value)
            elif isinstance(value, Class):
                found += self.instance_of(value)
        return tuple(found)

    def _unify(self, wanted: Values, given: Values, found: Env, level: int) -> None:
        """Bind the type parameters in `wanted` so that it becomes `given`."""
        if not given or level > MAX_NESTED_TYPES:
            return
        for value in wanted:
            if isinstance(value, Var):
                found.setdefault((value.path, value.index, value.position), given)
            elif isinstance(value, Inst):
                self._unify_class(value, given, found, level)
            elif isinstance(value, Ext) and value.args:
                other = next(
                    (item for item in given if isinstance(item, Ext) and len(item.args) == len(value.args)), None
                )
                if other is None:
                    other = self._outside_view(given, value)
                for mine, theirs in zip(value.args, other.args if other is not None else (), strict=False):
                    self._unify(mine, theirs, found, level + 1)

    def _unify_class(self, value: Inst, given: Values, found: Env, level: int) -> None:
        for item in given:
            if isinstance(item, Inst) and value.args:
                env = self.seen_as(item, value.path, value.index)
                for place, arg in enumerate(value.args):
                    self._unify(arg, env.get((value.path, value.index, place), UNKNOWN), found, level + 1)

    def _outside_view(self, given: Values, wanted: Ext) -> Ext | None:
        """An instance of the repository's own class seen as the library type that it implements."""
        for item in given:
            if isinstance(item, Inst):
                for ancestor in self.linear(item.path, item.index):
                    if isinstance(ancestor, Ext) and simple(ancestor.name) == simple(wanted.name):
                        bound = self.apply((ancestor,), self.env_of(item))[0]
                        return bound if isinstance(bound, Ext) else None
        return None

    # -- function types

    def signature_of(self, value: Value) -> Signature | None:
        """What calling an instance of a functional type takes and gives; None when it is not one."""
        if isinstance(value, Ext):
            if value.name == "->" and value.args:
                return Signature(value.args[1:], value.args[0])
            specs = self.library.functions.get(simple(value.name))
            if specs is None:
                return None
            made = tuple(self.from_spec(spec, value, "", -1) for spec in specs)
            return Signature(made[1:], made[0])
        if isinstance(value, Inst):
            return self._interface_signature(value)
        return None

    def _interface_signature(self, value: Inst) -> Signature | None:
        if self.definition(value.path, value.index).kind is not NodeKind.INTERFACE:
            return None
        for ancestor in self.linear(value.path, value.index):
            if isinstance(ancestor, Ext):
                found = self.signature_of(self.apply((ancestor,), self.env_of(value))[0])
                if found is not None:
                    return found
                continue
            if not isinstance(ancestor, Inst):
                continue
            for path, index in self.abstract_methods(ancestor):
                definition = self.definition(path, index)
                env = self.seen_as(value, ancestor.path, ancestor.index)
                params = tuple(self.apply(self.typed(path, index, param.type), env) for param in definition.params)
                return Signature(params, self.apply(self.typed(path, index, definition.result), env))
        return None

    def abstract_methods(self, owner: Inst) -> list[tuple[str, int]]:
        table = self.table(owner.path)
        self.touch(owner.path, owner.index)
        return [
            (owner.path, child)
            for child in table.children.get(owner.index, ())
            if table.facts.definitions[child].kind is NodeKind.METHOD
            and table.facts.definitions[child].flags & NodeFlag.DECLARATION
            and table.facts.definitions[child].name not in self.root_members
        ]

    def expected_signature(self, path: str, literal: int) -> Signature | None:
        """The function type that a literal's surroundings ask of it."""
        expr = self.sites(path).literals.get(literal)
        if expr is None:
            return None
        facts = self.table(path).facts
        parent = self.sites(path).parents.get(expr)
        while parent is not None and parent[0] in ("choice", "keyword"):
            parent = self.sites(path).parents.get(parent[1])
        if parent is None:
            return None
        role, owner, position = parent
        if role == "arg":
            return self._argument_signature(path, owner, position, facts.definitions[literal])
        if role == "assign":
            assign = facts.assigns[owner]
            wanted = self.assigned(path, owner) if assign.type is not None else self.value(path, assign.target)
        elif role == "field":
            wanted = self.typed(path, facts.definitions[owner].parent, facts.definitions[owner].result)
        elif role == "return":
            wanted = self.expected_result(path, owner)
        else:
            wanted = self.typed(path, facts.exprs[owner].scope, facts.exprs[owner].type)
        return self._first_signature(wanted)

    def expected_result(self, path: str, owner: int) -> Values:
        definition = self.table(path).facts.definitions[owner]
        if definition.flags & NodeFlag.ANONYMOUS:
            around = self.expected_signature(path, owner)
            return around.result if around is not None else UNKNOWN
        return self.typed(path, owner, definition.result)

    def _first_signature(self, wanted: Values) -> Signature | None:
        for value in wanted:
            found = self.signature_of(value)
            if found is not None:
                return found
        return None

    def _argument_signature(self, path: str, call: int, position: int, literal: Definition) -> Signature | None:
        facts = self.table(path).facts
        site = facts.exprs[call]
        callees = self.ask_callee(path, call, site)
        found: list[Signature] = []
        for callee in callees:
            if isinstance(callee, Func):
                signature = self._own_signature(callee, path, call, position)
                found += [signature] if signature is not None else []
            elif isinstance(callee, Ext) and not found:
                return self.library_signature(callee, literal, path, call)
        same = len({(item.params, item.receiver) for item in found}) == 1
        return found[0] if same else None

    def _own_signature(self, callee: Func, path: str, call: int, position: int) -> Signature | None:
        """The function type of the parameter that takes an argument of a call."""
        facts = self.table(path).facts
        arg = facts.exprs[facts.exprs[call].args[position]]
        param = self.param_for(self.definition(callee.path, callee.index), arg, position)
        if param is None or param.type is None:
            return None
        wanted = self.typed(callee.path, callee.index, param.type)
        if param.kind is ParamKind.VARIADIC:
            wanted = self._each(wanted, self.element)
        env = self.receiver_env(callee, path, call)
        wanted = self.apply(wanted, env)
        if mentions(wanted, callee.path, callee.index):
            wanted = self.apply(wanted, self.inferred(callee, path, call, env, functions=False))
        return self._first_signature(wanted)

    def ask_callee(self, path: str, call: int, site: Expr) -> Values:  # noqa: ARG002
        if site.op is ops.NEW:
            return self._each(self.new_classes(path, site), lambda value: self.constructed(value, path, site))
        return self.value(path, site.base)

    # -- the library

    def library_result(self, callee: Ext, path: str, call: int) -> Values:
        """What a library call gives: known shapes carry the repository's types, anything else is external."""
        owner, _, method = callee.name.rpartition(".")
        spec = self.library.results.get(simple(owner), {}).get(method)
        if spec is None:
            spec = self.library.static.get(f"{simple(owner)}.{method}" if owner else method)
        if spec is None and owner:
            spec = self.library.results.get(ANY_TYPE, {}).get(method)
        if spec is None:
            return (Ext(f"{callee.name}()" if callee.name else ""),)
        return self.from_spec(spec, Ext(owner, callee.args), path, call) or EXTERNAL

    def from_spec(self, spec: Type, receiver: Ext, path: str, call: int) -> Values:
        name = spec.name
        if name.isdigit():
            place = int(name)
            return receiver.args[place] if place < len(receiver.args) else UNKNOWN
        if name == "self":
            return (receiver,)
        if name in ("A", "E", "F", "F0"):
            return self._from_argument(name, path, call)
        return (Ext(name, tuple(self.from_spec(arg, receiver, path, call) for arg in spec.args)),)

    def _from_argument(self, name: str, path: str, call: int) -> Values:
        facts = self.table(path).facts
        for arg in facts.exprs[call].args:
            function = facts.exprs[arg].op in (ops.FUNCTION, ops.CALLABLE)
            if name == "A" and not function:
                return self.value(path, arg)
            if name == "E" and not function:
                return self._each(self.value(path, arg), self._item_or_itself)
            if name in ("F", "F0") and function:
                found = self.literal_result(path, arg)
                if name == "F":
                    return found
                return tuple(v for value in found if isinstance(value, Ext) and value.args for v in value.args[0])
        return UNKNOWN

    def _item_or_itself(self, value: Value) -> Values:
        return self.element(value) if isinstance(value, Ext) and value.name == "[]" else (value,)

    def library_signature(self, callee: Ext, literal: Definition, path: str, call: int) -> Signature | None:
        owner, _, method = callee.name.rpartition(".")
        table = self.library.lambdas.get(simple(owner))
        if table is None:
            return None
        specs = table.get(method) or table.get("*")
        if specs is None:
            return None
        receiver = Ext(owner, callee.args)
        if len(specs) < len(literal.params):
            return None
        return Signature(tuple(self.from_spec(spec, receiver, path, call) for spec in specs), UNKNOWN)


def _find_sites(facts: FileFacts) -> Sites:
    made = Sites(facts)
    for index, expr in enumerate(facts.exprs):
        if expr.op is ops.CALL:
            made.calls[expr.base] = index
        if expr.op in (ops.CALL, ops.NEW):
            for position, arg in enumerate(expr.args):
                made.parents[arg] = ("arg", index, position)
        elif expr.op is ops.CHOICE:
            for position, arg in enumerate(expr.args):
                made.parents.setdefault(arg, ("choice", index, position))
        elif expr.op is ops.KEYWORD:
            made.parents[expr.base] = ("keyword", index, 0)
        elif expr.op is ops.CAST:
            made.parents[expr.base] = ("cast", index, 0)
        elif expr.op is ops.FUNCTION:
            made.literals[expr.base] = index
    for index, assign in enumerate(facts.assigns):
        made.parents.setdefault(assign.value, ("assign", index, 0))
    for index, definition in enumerate(facts.definitions):
        made.parents.setdefault(definition.value, ("field", index, 0))
        for expr_index in definition.returns:
            made.parents.setdefault(expr_index, ("return", index, 0))
    return made
