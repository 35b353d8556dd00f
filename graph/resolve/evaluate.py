"""Evaluation of expressions to values, on demand, across files: the base that each language refines.

The result for an expression depends on facts alone, never on what was asked before: results are memoised only when
they did not depend on an evaluation still under way (a cycle) or on the depth limit, and what heads a cycle is not
taken from the memo inside that cycle. That is what makes incremental resolution equal a fresh one. What an
evaluation read of other files is recorded with its memo entry.

A language overrides the hooks at the end of the class. All access to other files' facts goes through
`touch`/`definition`/`module_member`/`World`'s recorded look-ups.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from ctxsearch.graph import ops
from ctxsearch.graph.facts import MODULE_SCOPE, Assign, Definition, Expr, Import, Op, Param, ParamKind, Type
from ctxsearch.graph.model import CALLABLE_KINDS, EdgeKind, NodeFlag, NodeKind, Rule
from ctxsearch.graph.resolve.surface import MODULE_STARS
from ctxsearch.graph.resolve.tables import CLASS_LIKE, FileTable, positional_params
from ctxsearch.graph.resolve.values import (
    EXTERNAL,
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

MAX_DEPTH = 40  # nested evaluations; a deeper chain is unknown
MAX_WIDTH = 8  # values of one expression; more is unknown
MAX_FLOW = 64  # values that callers pass for one parameter; more is unknown
MAX_BASES = 64  # parents of one class: interfaces and mixins can be many
MAX_STEPS = 20_000  # evaluations for one call site: a safety net against pathological code
MAX_HOLDERS = 20  # parameters that one function is followed through
MAX_DISPATCH = 20  # a method with more overrides than this says nothing about one call
MAX_REMEMBERED = 150_000  # evaluations in other files; some hundred bytes each
_FREE = 1 << 30

_Key = tuple[object, ...]
_Memo = dict[_Key, tuple[Values, frozenset[int], frozenset[_Key]]]  # values, keys read abroad, the cycle it heads
_Local = dict[tuple[bool, _Key], tuple[Values, frozenset[int], int]]  # the last: lowest evaluation depended on
_NOTHING: frozenset[int] = frozenset()
_NO_CYCLE: frozenset[_Key] = frozenset()
_Compute = Callable[[], Values]
_Step = Callable[[Value], Values]
_Operator = Callable[[str, int, Expr], Values]


class Evaluator:
    """Evaluates one language's expressions. `begin(path)` names the file being resolved, its home."""

    language = ""
    class_scope_visible = False  # members are in scope inside methods without a receiver (Java, C++, C#)
    guesses_after_flow = False  # try `guess` also for a receiver that is a parameter nobody is known to fill
    classes_are_called = True  # T(...) runs something of T; False where it only converts (Go)
    overloads = False  # methods of one name are told apart by their parameters
    reference_kind = EdgeKind.USES  # what an entry of FileFacts.references says
    reference_rule = Rule.LEXICAL
    width = MAX_WIDTH
    flow_sensitive = True  # a later unconditional assignment in the same scope replaces earlier ones

    def __init__(self, world: World) -> None:
        self.world = world
        self._tables = world.tables
        self.home = ""
        self._home_table: FileTable | None = None
        self._home_exprs: tuple[Expr, ...] = ()
        self.follow_args = False  # expand Arg values by what callers pass (second phase)
        self._memo: _Memo = {}  # foreign evaluations, valid until any file changes
        self._home_memo: _Memo = {}
        self._settled: dict[_Key, Values] = {}  # of the home file, see `_once`
        self._cyclic = False  # the evaluation under way met a cycle
        self._local: _Local = {}  # results that depend on an evaluation still under way; gone when it ends
        self._local_order: list[tuple[bool, _Key]] = []
        self._running: dict[_Key, int] = {}
        self._low = _FREE
        self._steps = 0
        self._abroad = 0  # nested evaluations in other files
        self._operators: list[_Operator] = [self._operator(op) for op in sorted(Op)]
        # operators that give one value at once, without evaluating anything: remembering it costs more
        self._plain = frozenset(op for op in Op if getattr(self._operators[op], "__func__", None) in _PLAIN)

    # -- life

    def begin(self, path: str) -> None:
        """Start resolving `path`: fresh home memo."""
        self.home = path
        self._home_memo = {}
        self._settled = {}
        self._home_table = self.world.table(path)
        self._home_exprs = self._home_table.facts.exprs
        if len(self._memo) > MAX_REMEMBERED:
            self._memo.clear()

    def forget(self) -> None:
        """Facts changed: nothing remembered is valid."""
        self._memo.clear()
        self._home_memo = {}
        self._settled = {}
        self.home, self._home_table = "", None

    def ask(self, path: str, expr: int) -> Values:
        """Entry point: the values of an expression, with a fresh budget. Never raises: what is too deep is unknown."""
        self._steps = 0
        try:
            return self.value(path, expr)
        except RecursionError:
            self._running.clear()
            self._local.clear()
            self._local_order.clear()
            self._low, self._abroad = _FREE, 0
            return UNKNOWN

    def ask_new(self, path: str, expr: Expr) -> Values:
        """Entry point: the classes that a NEW expression instantiates."""
        self._steps = 0
        return self.new_classes(path, expr)

    # -- the memoised core

    def value(self, path: str, expr: int) -> Values:
        if expr < 0:
            return UNKNOWN
        if path == self.home and not self._abroad:
            item = self._home_exprs[expr]
            if item.op is ops.NAME:
                fixed = ("name", item.scope, item.name)
                found = self._settled.get((*fixed, "flow") if self.follow_args else fixed)
                if found is not None:
                    return found
            elif item.op in self._plain:
                return self._operators[item.op](path, expr, item)
        key = ("e", path, expr, "flow") if self.follow_args else ("e", path, expr)
        known = (self._memo if self._abroad or path != self.home else self._home_memo).get(key)
        if known is None or (known[2] and not self._may_recall(known[2])):
            return self._find(path, key, lambda: self._expression(path, expr), self._width())
        if known[1]:
            self.world.reads |= known[1]
        return known[0]

    def _guarded(self, path: str, key: _Key, compute: _Compute, width: int = 0) -> Values:
        """compute(), memoised and safe against cycles, depth and width. `key` must name all its inputs."""
        if self.follow_args:
            key = (*key, "flow")
        width = max(width, self._width())
        known = (self._memo if self._abroad or path != self.home else self._home_memo).get(key)
        if known is None or (known[2] and not self._may_recall(known[2])):
            return self._find(path, key, compute, width)
        if known[1]:
            self.world.reads |= known[1]
        return known[0]

    def _width(self) -> int:
        """How many values still mean something: what callers pass is known one by one."""
        return MAX_FLOW if self.follow_args else self.width

    def _may_recall(self, cycle: frozenset[_Key]) -> bool:
        """Whether the result of what heads a cycle holds here: not inside that cycle."""
        self._cyclic = True
        return cycle.isdisjoint(self._running)

    def _once(self, key: _Key, compute: _Compute) -> Values:
        """compute(), which is no evaluation of its own, asked once for the home file.

        Kept only if it met no cycle and no limit: then it is the same wherever it is asked. What it read is noted for
        the home file as a whole, so this is no use abroad, where every evaluation keeps its own account.
        """
        if self._abroad:
            return compute()
        if self.follow_args:
            key = (*key, "flow")
        known = self._settled.get(key)
        if known is not None:
            return known
        low, cyclic = self._low, self._cyclic
        self._low, self._cyclic = _FREE, False
        found = compute()
        if self._low == _FREE and not self._cyclic:
            self._settled[key] = found
        self._low, self._cyclic = min(low, self._low), cyclic or self._cyclic
        return found

    def _find(self, path: str, key: _Key, compute: _Compute, width: int) -> Values:
        """What is not in the memo: known for now, under way, or to be computed."""
        at_home = path == self.home and not self._abroad
        if self._local:
            known = self._local.get((at_home, key))
            if known is not None:
                self._low = min(self._low, known[2])
                if known[1]:
                    self.world.reads |= known[1]
                return known[0]
        depth = self._running.get(key)
        if depth is not None:
            self._low = min(self._low, depth)
            return UNKNOWN
        self._steps += 1
        if len(self._running) >= MAX_DEPTH or self._steps > MAX_STEPS:
            self._low = 0
            return UNKNOWN
        if at_home:
            return self._run(self._home_memo, key, compute, width)
        return self._run_abroad(self._memo, key, compute, width)

    def _run_abroad(self, memo: _Memo, key: _Key, compute: _Compute, width: int) -> Values:
        """Like _run, keeping what was read with the result: other files will ask for it too."""
        outer = self.world.reads
        reads: set[int] = set()
        self.world.reads = reads
        self._abroad += 1
        try:
            return self._run(memo, key, compute, width)
        finally:
            self._abroad -= 1
            outer |= reads
            self.world.reads = outer

    def _run(self, memo: _Memo, key: _Key, compute: _Compute, width: int) -> Values:
        running = self._running
        depth = len(running) + 1
        outer_low, mark = self._low, len(self._local_order)
        self._low = _FREE
        running[key] = depth
        try:
            found = compute()
            if len(found) > 1:
                found = _distinct(found, width)
        finally:
            del running[key]
            low, self._low = self._low, outer_low
        reads = frozenset(self.world.reads) if self._abroad else _NOTHING
        if low >= depth:
            cycle = _NO_CYCLE
            if len(self._local_order) > mark:
                cycle = frozenset(key for _, key in self._local_order[mark:])
                self._cyclic = True
                for stale in self._local_order[mark:]:
                    self._local.pop(stale, None)
                del self._local_order[mark:]
            memo[key] = (found, reads, cycle)
        else:
            self._low = min(outer_low, low)
            if low > 0:
                local = (not self._abroad, key)
                self._local[local] = (found, reads, low)
                self._local_order.append(local)
        if not running and self._local:
            self._local.clear()
            self._local_order.clear()
        return found

    # -- expressions

    def _expression(self, path: str, index: int) -> Values:
        expr = self.table(path).facts.exprs[index]
        return self._operators[expr.op](path, index, expr)

    def _operator(self, op: Op) -> _Operator:
        """`eval_<operator>`, so that a language refines one by overriding it; an operator without one is unknown."""
        own = getattr(self, f"eval_{op.name.lower()}", None)
        found: _Operator = own or getattr(self, _ALIKE.get(op, "eval_unknown"))
        return found

    def eval_unknown(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        return UNKNOWN

    def eval_name(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        if self._abroad or path != self.home or not self.is_fixed(path, expr.scope, expr.name):
            return self.lookup(path, expr.scope, expr.name, expr.at)
        return self._once(
            ("name", expr.scope, expr.name),
            lambda: _distinct(
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

    # -- names

    def lookup(self, path: str, scope: int, name: str, at: int) -> Values:
        """A name as seen at byte `at` of a scope: enclosing scopes, then the module, then the language's globals."""
        table = self.table(path)
        inner, innermost = scope, True
        while inner >= 0:
            definition = table.facts.definitions[inner]
            if definition.kind in CLASS_LIKE:
                if innermost or self.class_scope_visible:
                    found = self.in_class_scope(path, inner, name)
                    if found is not None:
                        return found
            else:
                found = self.in_function(path, inner, name, at if innermost else -1)
                if found is not None:
                    return found
                innermost = innermost and definition.kind not in CALLABLE_KINDS
            inner = definition.parent
        found = self.in_module(path, name, at if scope < 0 else -1)
        return found if found is not None else self.global_name(path, name)

    def is_fixed(self, path: str, scope: int, name: str) -> bool:  # noqa: ARG002
        """Whether a name means the same everywhere in a scope (for those who know; the others may say no)."""
        return False

    def in_function(self, path: str, index: int, name: str, at: int) -> Values | None:
        """A parameter or local of a function; None when it has no such name."""
        table = self.table(path)
        definition = table.facts.definitions[index]
        bound = self.bound(path, index, name, at)
        if bound is not None:
            return bound
        for place, param in enumerate(definition.params):
            if param.name == name:
                return self.param(path, index, place)
        return None

    def bound(self, path: str, scope: int, name: str, at: int) -> Values | None:
        """What assignments, definitions and imports of one scope give a name; None when it has none."""
        table = self.table(path)
        places = table.places(scope, name)
        if not places:
            return None
        chosen = self.choose(table, places, at)
        if not chosen:
            return None  # the name's blocks lie elsewhere
        return tuple(value for _, kind, index in chosen for value in self._binding(path, kind, index))

    def choose(self, table: FileTable, places: list[tuple[int, int, int]], at: int) -> list[tuple[int, int, int]]:
        """Which of a name's bindings in one scope can be meant at `at` (-1: from outside, any of them)."""
        if at < 0:
            return places
        assigns = table.facts.assigns
        inside = [
            place
            for place in places
            if place[1] != 0 or assigns[place[2]].until < 0 or place[0] <= at < assigns[place[2]].until
        ]
        if any(place[1] == 0 and assigns[place[2]].until >= 0 for place in inside):
            # block scoping: the innermost declaration around `at`, and later assignments to it
            blocks = [place for place in inside if place[1] == 0 and assigns[place[2]].declares and place[0] <= at]
            if blocks:
                inside = [place for place in inside if place[0] >= blocks[-1][0]]
                return inside if self.flow_sensitive else _declared(table, inside)
        if not self.flow_sensitive:
            return _declared(table, inside)
        before = [place for place in inside if place[0] < at]
        for start in range(len(before) - 1, -1, -1):
            _, kind, index = before[start]
            if kind != 0 or not assigns[index].conditional or at < assigns[index].block:
                return before[start:]
        return before or inside

    def _binding(self, path: str, kind: int, index: int) -> Values:
        if kind == 0:
            return self.assigned(path, index)
        if kind == 1:
            return self.definition_value(path, index)
        return self.imported(path, self.table(path).facts.imports[index])

    def assigned(self, path: str, index: int) -> Values:
        """What an assignment gives its target: the declared type if that says something, else the value."""
        assign = self.table(path).facts.assigns[index]
        return self.assigned_value(path, self.table(path).facts.exprs[assign.target].scope, assign)

    def assigned_value(self, path: str, scope: int, assign: Assign) -> Values:
        if assign.type is not None:
            typed = self.typed(path, scope, assign.type)
            if typed:
                return typed
        return self.value(path, assign.value)

    def defined_value(self, path: str, index: int) -> Values:
        """`definition_value`, memoised."""
        return self._guarded(path, ("d", path, index), lambda: self.definition_value(path, index))

    def definition_value(self, path: str, index: int) -> Values:
        """A definition as a value: function, class, or a variable's own value."""
        definition = self.definition(path, index)
        if definition.kind in CLASS_LIKE:
            return (Class(path, index),)
        if definition.kind in CALLABLE_KINDS:
            return self.function_value(path, index, definition)
        if definition.kind is NodeKind.TYPE_ALIAS:
            return self.typed(path, definition.parent, definition.result)
        typed = self.typed(path, definition.parent, definition.result) if definition.result else UNKNOWN
        return typed or self.value(path, definition.value)

    def function_value(self, path: str, index: int, definition: Definition) -> Values:  # noqa: ARG002
        return (Func(path, index),)

    def param(self, path: str, index: int, place: int) -> Values:
        """A parameter inside its function: declared type, else whatever callers pass, with the default."""
        definition = self.table(path).facts.definitions[index]
        param = definition.params[place]
        if param.kind is ParamKind.RECEIVER:
            return self.receiver(path, index)
        typed = self.typed(path, index, param.type) if param.type is not None else UNKNOWN
        if typed:
            return self.param_as_seen(typed, param)
        passed = self.expand(Arg(path, index, place)) if self.follow_args else (Arg(path, index, place),)
        return (*passed, *self.value(path, param.default))

    def param_as_seen(self, typed: Values, param: Param) -> Values:
        """A variadic parameter is a container of its type."""
        return UNKNOWN if param.kind in (ParamKind.VARIADIC, ParamKind.KEYWORDS) else typed

    def receiver(self, path: str, index: int) -> Values:
        """self or this as a parameter."""
        table = self.table(path)
        definition = table.facts.definitions[index]
        if definition.receiver is not None:
            return self.typed(path, definition.parent, definition.receiver)
        owner = table.enclosing_class(definition.parent)
        if owner < 0:
            return UNKNOWN
        return (Class(path, owner),) if definition.flags & NodeFlag.CLASS_METHOD else (Inst(path, owner),)

    def in_class_scope(self, path: str, index: int, name: str) -> Values | None:
        """A bare name inside a class body (or, where the language allows, inside its methods)."""
        bound = self.bound(path, index, name, -1)
        if bound is not None or not self.class_scope_visible:
            return bound
        found = self.class_member(path, index, name)
        return found or None

    def in_module(self, path: str, name: str, at: int) -> Values | None:
        """A top-level name of a file seen from inside it; star imports come last."""
        self.record_name(path, name)
        bound = self.bound(path, MODULE_SCOPE, name, at)
        if bound is not None:
            return bound
        self.record_name(path, MODULE_STARS)
        return self.from_stars(path, name)

    def from_stars(self, path: str, name: str) -> Values | None:
        """What a file's star imports give a name; None when they say nothing of it."""
        table = self.table(path)
        for scope_stars in table.stars.values():
            for index in scope_stars:
                found = self.star_member(path, table.facts.imports[index], name)
                if found:
                    return found
        return None

    # -- members

    def members(self, bases: Values, name: str) -> Values:
        if len(bases) == 1:
            return self.member(bases[0], name)
        return self._each(bases, lambda base: self.member(base, name))

    def member(self, base: Value, name: str) -> Values:
        """base.name for one value."""
        if isinstance(base, (Inst, Class)):
            return self.class_member(base.path, base.index, name, base)
        if isinstance(base, Module):
            return self.module_member(base.path, name)
        if isinstance(base, Package):
            return self.package_member(base, name)
        if isinstance(base, Ext):
            return (Ext(f"{base.name}.{name}" if base.name else ""),)
        if isinstance(base, Box):
            return self.box_member(base, name)
        if isinstance(base, Func):
            return self.function_member(base, name)
        return UNKNOWN

    def class_member(self, path: str, index: int, name: str, seen_as: Inst | Class | None = None) -> Values:
        """A member through the class and its ancestors; external when only an outside ancestor can have it."""
        return self._once(("member", path, index, name, seen_as), lambda: self._member(path, index, name, seen_as))

    def _member(self, path: str, index: int, name: str, seen_as: Inst | Class | None) -> Values:
        outside = False
        for owner in self.ancestry(path, index):
            if isinstance(owner, Ext):
                outside = outside or self.may_have_members(owner)
                continue
            found = self.own_member(owner.path, owner.index, name, seen_as)
            if found is not None:
                return found
        return EXTERNAL if outside else UNKNOWN

    def may_have_members(self, outside: Ext) -> bool:  # noqa: ARG002
        """Whether an ancestor from a library may define what a class of the repository is asked for."""
        return True

    def own_member(self, path: str, index: int, name: str, seen_as: Inst | Class | None) -> Values | None:
        """A member that the class itself has; None when it has none of that name."""
        self.touch(path, index)
        table = self.table(path)
        defs = table.defs[index].get(name) if index in table.defs else None
        if defs:
            return tuple(value for item in defs for value in self.member_value(path, item, seen_as))
        fields = list(table.fields[index].get(name, ())) if index in table.fields else []
        fields += table.binds[index].get(name, ()) if index in table.binds else ()
        if fields:
            return self._guarded(
                path, ("field", path, index, name), lambda: tuple(v for f in fields for v in self.assigned(path, f))
            )
        return None

    def member_value(self, path: str, index: int, seen_as: Inst | Class | None) -> Values:  # noqa: ARG002
        """A member definition as a value: a property is what it returns."""
        definition = self.definition(path, index)
        if definition.flags & NodeFlag.PROPERTY and definition.kind in CALLABLE_KINDS:
            return self.returned(path, index)
        return self.defined_value(path, index)

    def ancestry(self, path: str, index: int) -> list[Class | Ext]:
        """The class and its ancestors in look-up order, each once (depth first, left to right)."""
        order: dict[Class | Ext, None] = {}
        pending: list[tuple[Class | Ext, int]] = [(Class(path, index), 0)]
        while pending:
            owner, depth = pending.pop()
            if owner in order or depth > MAX_DEPTH:
                continue
            order[owner] = None
            if isinstance(owner, Class):
                above = [
                    Class(base.path, base.index) if isinstance(base, Class) else base
                    for base in self.bases(owner.path, owner.index)
                    if isinstance(base, (Class, Ext))
                ]
                pending += [(base, depth + 1) for base in reversed(above)]
        return list(order)

    def bases(self, path: str, index: int) -> Values:
        """The direct parents of a class, as classes; an unknown parent is external (it may define anything)."""
        self.touch(path, index)
        definition = self.table(path).facts.definitions[index]
        if not (definition.bases or definition.implements):
            return UNKNOWN

        def compute() -> Values:
            found: list[Value] = []
            for base in (*definition.bases, *definition.implements):
                classes = self.type_classes(path, definition.parent, base)
                found += classes or EXTERNAL
            return tuple(found)

        return self._guarded(path, ("bases", path, index), compute, MAX_BASES)

    # -- modules

    def module_member(self, path: str, name: str) -> Values:
        """What `name` means to those who import it from the file."""
        self.world.record("name", path, name)
        return self._guarded(path, ("m", path, name), lambda: self.exported(path, name))

    def exported(self, path: str, name: str) -> Values:
        """Default: every top-level name is exported."""
        found = self.in_module(path, name, -1)
        self.world.record("name", path, MODULE_STARS)
        return found if found is not None else UNKNOWN

    def star_member(self, path: str, item: Import, name: str) -> Values:
        """`name` through a star import of the file at `path`."""
        return self.members(self.import_modules(path, item), name)

    def imported(self, path: str, item: Import) -> Values:
        """What an import statement binds."""
        return self._guarded(path, ("i", path, item.at, item.alias, item.name), lambda: self.import_values(path, item))

    def import_values(self, path: str, item: Import) -> Values:
        modules = self.import_modules(path, item)
        if not item.name:
            return modules
        return self.members(modules, item.name)

    # -- types

    def typed(self, path: str, scope: int, declared: Type | None) -> Values:
        """An instance of a declared type; () when the type says nothing."""
        if declared is None or not declared.name:
            return UNKNOWN
        return self._guarded(path, ("t", path, scope, declared), lambda: self.type_instances(path, scope, declared))

    def type_instances(self, path: str, scope: int, declared: Type) -> Values:
        if declared.name in ("|", "&"):
            return tuple(value for arg in declared.args for value in self.typed(path, scope, arg))
        args = tuple(self.typed(path, scope, arg) for arg in declared.args)
        found: list[Value] = []
        for value in self.type_classes(path, scope, declared):
            if isinstance(value, Class):
                found.append(Inst(value.path, value.index, args or value.args))
            elif isinstance(value, (Ext, Inst)):
                found.append(value)
        return tuple(found)

    def type_classes(self, path: str, scope: int, declared: Type) -> Values:
        """The classes a type's name means, as seen in a scope."""
        parts = declared.name.split(".")
        found = self.type_name(path, scope, parts[0])
        for part in parts[1:]:
            found = self.members(found, part)
        return found

    def type_name(self, path: str, scope: int, name: str) -> Values:
        if path != self.home:
            return self.lookup(path, scope, name, -1)
        return self._once(("type", scope, name), lambda: self.lookup(path, scope, name, -1))

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

    def returned(self, path: str, index: int) -> Values:
        """What a function returns: its declared result, else its return expressions."""
        definition = self.definition(path, index)
        typed = self.typed(path, index, definition.result)
        if typed:
            return typed
        return self._guarded(
            path,
            ("r", path, index),
            lambda: tuple(value for expr in definition.returns for value in self.value(path, expr)),
        )

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

    def given(self, path: str, call: int, callee: Func) -> tuple[int, ...]:  # noqa: ARG002
        """The arguments that a call passes for the callee's parameters, its receiver left out."""
        return self.table(path).facts.exprs[call].args

    def new_classes(self, path: str, expr: Expr) -> Values:
        """The classes that a NEW expression names."""
        if expr.type is not None:
            return self.type_classes(path, expr.scope, expr.type)
        return self.value(path, expr.base)

    def instance_of(self, value: Value) -> Values:
        if isinstance(value, Class):
            return (Inst(value.path, value.index, value.args),)
        return (value,) if isinstance(value, (Ext, Inst)) else UNKNOWN

    # -- value flow through parameters

    def expand(self, arg: Arg) -> Values:
        """What callers anywhere pass for a parameter (second phase only)."""
        table = self.table(arg.path)
        stable = table.stable_name(arg.index)

        def compute() -> Values:
            found: dict[Value, None] = {}
            for encoded in self._reaching(arg, stable):
                value = self.decode_value(encoded)
                if isinstance(value, Arg):
                    found.update(dict.fromkeys(self.expand(value)))
                elif value is not None:
                    found[value] = None
                if len(found) > MAX_FLOW:
                    break  # unknown whatever else is passed: what every file calls is handed things by every file
            return tuple(found)

        return self._guarded(arg.path, ("a", arg.path, stable, arg.position), compute)

    def _reaching(self, arg: Arg, stable: str) -> Iterator[str]:
        yield from self.world.passed(arg.path, stable, arg.position)
        yield from self._passed_via(arg)

    def _passed_via(self, arg: Arg) -> list[str]:
        """What reaches a parameter when its function is itself called as what another parameter holds."""
        table = self.table(arg.path)
        definition = self.definition(arg.path, arg.index)
        holders = self._holders(("held", arg.path, table.stable_name(arg.index)))
        if definition.kind is NodeKind.CONSTRUCTOR and definition.parent >= 0:
            holders += self._holders(("held", arg.path, table.stable_name(definition.parent)))
        places = positional_params(definition)
        slots = [f"={definition.params[arg.position].name}"]
        if arg.position in places:
            slots.append(str(places.index(arg.position)))
        return [
            encoded
            for holder in holders
            for slot in slots
            for encoded in self.world.flowed(
                "via", holder.path, self.table(holder.path).stable_name(holder.index), str(holder.position), slot
            )
        ]

    def _holders(self, key: tuple[str, ...]) -> list[Arg]:
        """The parameters that may hold a function: those it is passed to, and those that these are passed on to."""
        found: list[Arg] = []
        pending, seen = [key], {key}
        while pending and len(found) < MAX_HOLDERS:
            for encoded in self.world.flowed(*pending.pop()):
                value = self.decode_value(encoded)
                if isinstance(value, Arg) and value not in found:
                    found.append(value)
                    onward = ("held", value.path, self.table(value.path).stable_name(value.index), str(value.position))
                    if onward not in seen:
                        seen.add(onward)
                        pending.append(onward)
        return found

    def encode_value(self, value: Value) -> str | None:
        """A value in a form that survives edits of other definitions; None for what does not travel."""
        if isinstance(value, (Func, Class, Inst, Arg)):
            table = self.table(value.path)
            position = f"\0{value.position}" if isinstance(value, Arg) else ""
            names = f"{table.stable_name(value.index)}\0{table.top_name(value.index)}"
            return f"{type(value).__name__}\0{value.path}\0{names}{position}"
        return None

    def decode_value(self, encoded: str) -> Value | None:
        tag, path, stable, top, *rest = encoded.split("\0")
        if not self.world.exists(path):
            return None
        table = self.table(path)
        self.world.record("name", path, top)
        index = table.with_stable_name(stable)
        if index < 0:
            return None
        if tag == "Arg":
            return Arg(path, index, int(rest[0]))
        if tag == "Func":
            return Func(path, index)
        return Class(path, index) if tag == "Class" else Inst(path, index)

    # -- access to facts, recorded

    def table(self, path: str) -> FileTable:
        if path == self.home and self._home_table is not None:
            return self._home_table
        table = self._tables.get(path)
        return self.world.table(path) if table is None else table

    def touch(self, path: str, index: int) -> None:
        """Record that what is visible of a definition was read; what a file reads of itself needs no record."""
        if self._abroad or path != self.home:
            table = self.table(path)
            keys = table.top_keys
            if keys is None:
                names = {name: self.world.key_id(("name", path, name)) for name in {"", *table.top}}
                keys = table.top_keys = [*(names[name] for name in table.top), names[""]]  # -1: the file itself
            self.world.reads.add(keys[index])

    def record_name(self, path: str, name: str) -> None:
        """Record that a top-level name of a file was looked up; what a file reads of itself needs no record."""
        if self._abroad or path != self.home:
            self.world.record("name", path, name)

    def definition(self, path: str, index: int) -> Definition:
        table = self.table(path)
        if self._abroad or path != self.home:
            if table.top_keys is None:
                self.touch(path, index)
            else:
                self.world.reads.add(table.top_keys[index])
        return table.facts.definitions[index]

    # -- hooks for languages

    def import_modules(self, path: str, item: Import) -> Values:  # noqa: ARG002
        """The module (or package, or external) that an import names, before `item.name` is looked up in it."""
        return EXTERNAL

    def package_member(self, package: Package, name: str) -> Values:  # noqa: ARG002
        return UNKNOWN

    def box_member(self, box: Box, name: str) -> Values:
        """A member of an object literal, where the language has such; else a built-in container's method."""
        found = self.item(box, name)
        return found or EXTERNAL

    def function_member(self, func: Func, name: str) -> Values:  # noqa: ARG002
        return EXTERNAL

    def item(self, base: Value, key: str | None) -> Values:
        """base[key]; key None when it is not a constant."""
        if isinstance(base, Box):
            return self.box_items(base, key)
        return EXTERNAL if isinstance(base, Ext) else UNKNOWN

    def box_items(self, box: Box, key: str | None) -> Values:
        facts = self.table(box.path).facts
        expr = facts.exprs[box.expr]
        found: list[Value] = []
        for place, arg in enumerate(expr.args):
            entry = facts.exprs[arg]
            name, value = (entry.name, entry.base) if entry.op is ops.KEYWORD else (str(place), arg)
            if key is None or name == key or (entry.op is ops.KEYWORD and not name):
                found += self.value(box.path, value)
        return tuple(found)

    def element(self, base: Value) -> Values:
        """One item of a value when it is iterated."""
        if isinstance(base, Box):
            return self.box_items(base, None)
        return EXTERNAL if isinstance(base, Ext) else UNKNOWN

    def external_result(self, callee: Ext) -> Values:
        return (Ext(f"{callee.name}()" if callee.name else ""),)

    def global_name(self, path: str, name: str) -> Values:  # noqa: ARG002
        """A name that no scope and no import has: built-ins are external, anything else is unknown."""
        return UNKNOWN

    def constructors(self, value: Class) -> Values:
        """The functions that run when the class is instantiated."""
        for name in self.constructor_names(value):
            found = tuple(item for item in self.class_member(value.path, value.index, name) if isinstance(item, Func))
            if found:
                return found
        return UNKNOWN

    def constructor_names(self, value: Class) -> Iterable[str]:  # noqa: ARG002
        return ()

    def module_name(self, path: str) -> str:
        """A file's own qualified name."""
        return path.rpartition(".")[0] or path

    def qualified(self, module: str, definition: Definition) -> str:
        """A definition's qualified name in the repository."""
        return f"{module}.{definition.qualified_name}" if module else definition.qualified_name

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

    def called_instance(self, value: Inst) -> Values:  # noqa: ARG002
        """The functions that run when an instance is called like a function."""
        return UNKNOWN

    def implicit_calls(self, path: str) -> Iterator[tuple[int, tuple[str, int], Rule, int]]:  # noqa: ARG002
        """Calls without a call expression: decorators, implicit super constructors ... (scope, target, rule, line)."""
        return iter(())

    def implicit_pending(self, path: str) -> list[int]:  # noqa: ARG002
        """Expressions that run something of what a parameter holds, without being calls."""
        return []

    def implicit_targets(self, path: str, expr: Expr) -> list[tuple[str, int]]:  # noqa: ARG002
        """What such an expression runs (second phase)."""
        return []

    def implicit_flows(self, path: str) -> Iterator[tuple[tuple[str, int], int, Values]]:  # noqa: ARG002
        """What calls without a call expression pass: (target, parameter position, values)."""
        return iter(())

    def overridden_in(self, path: str, index: int) -> list[Class]:
        """The types whose methods of the same name a method overrides, nearest first."""
        definitions = self.table(path).facts.definitions
        owner = definitions[index].parent
        if owner < 0 or definitions[owner].kind not in CLASS_LIKE:
            return []
        return [item for item in self.ancestry(path, owner)[1:] if isinstance(item, Class)]

    def is_virtual(self, method: tuple[str, int], override: tuple[str, int]) -> bool:  # noqa: ARG002
        """Whether a call of `method` runs `override` for an instance that has it, rather than being hidden by it."""
        return True

    def bodies(self, path: str, index: int) -> list[Func]:
        """The definitions that run for a method: itself, or where it is written out."""
        return [Func(path, index)]

    def may_dispatch(self, path: str, stable_name: str) -> bool:
        """Whether `dispatch` can find anything for that method of a file."""
        return bool(self.world.flowed("over", path, stable_name))

    def dispatch(self, target: tuple[str, int]) -> list[Func]:
        """The methods that may run in the target's place; none when they are too many (hierarchy.py notes them)."""
        noted = self.world.flowed("over", target[0], self.table(target[0]).stable_name(target[1]))
        values = [self.decode_value(item) for item in noted] if len(noted) <= MAX_DISPATCH else []
        return [value for value in values if isinstance(value, Func)]

    def descends(self, place: tuple[str, int], owners: set[tuple[str, int]]) -> bool:
        """Whether a method's class is one of the classes or inherits from one."""
        path, index = place
        owner = self.definition(path, index).parent
        lineage = self.ancestry(path, owner) if owner >= 0 else []
        return any(isinstance(item, Class) and (item.path, item.index) in owners for item in lineage)

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

    def guess(self, path: str, index: int, expr: Expr) -> list[tuple[str, int]]:  # noqa: ARG002
        """The last resort for a callee of which nothing is known: the only definition it could mean, or nothing."""
        return []

    def is_only(self, path: str, expr: Expr, target: tuple[str, int]) -> bool:  # noqa: ARG002
        """Whether a target that value flow found for a call is also the only one that `guess` would know."""
        return False

    def select(self, path: str, index: int, targets: list[tuple[str, int]]) -> list[tuple[str, int]]:  # noqa: ARG002
        """Which of several targets the call at `index` can mean: overloads by their arguments."""
        return targets

    def undecided(self, targets: list[tuple[str, int]]) -> bool:  # noqa: ARG002
        """Whether several targets are alternatives of which a call means one (then they are only candidates)."""
        return False

    def keeps_all(self, values: Values) -> bool:  # noqa: ARG002
        """Whether many targets are all meant (a union type) rather than a sign of not knowing."""
        return False

    # -- plumbing

    def _each(self, values: Values, step: _Step) -> Values:
        if len(values) == 1:
            return step(values[0])
        return tuple(found for value in values for found in step(value))


def _declared(table: FileTable, places: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Where a variable keeps its type: what a declaration says; without one the name belongs to a scope further out."""
    assigns = table.facts.assigns
    declaring = [place for place in places if place[1] != 0 or assigns[place[2]].declares]
    typed = [place for place in declaring if place[1] != 0 or assigns[place[2]].type is not None]
    return typed or (places if declaring else [])


def _is_param_of(value: Value, callee: Func) -> bool:
    return isinstance(value, Arg) and (value.path, value.index) == (callee.path, callee.index)


def _distinct(values: Values, width: int) -> Values:
    """Each value once, in order; too many to mean anything are unknown."""
    unique = tuple(dict.fromkeys(values))
    return unique if len(unique) <= width else UNKNOWN


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
