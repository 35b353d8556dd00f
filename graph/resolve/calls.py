"""From a file's call expressions to call edges: what each site calls, by which rule, and what it passes on.

Pure: reads facts through an Evaluator, returns records that name definitions by (path, index).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Expr, Param, ParamKind
from ctxsearch.graph.model import Rule
from ctxsearch.graph.resolve.evaluate import Evaluator
from ctxsearch.graph.resolve.hierarchy import is_virtual_site, override_notes, overrides
from ctxsearch.graph.resolve.tables import FileTable
from ctxsearch.graph.resolve.values import (
    Arg,
    Class,
    Coll,
    Ext,
    Func,
    Gen,
    Inst,
    Method,
    Module,
    Package,
    Sym,
    Values,
    is_external,
)
from ctxsearch.graph.resolve.world import Key

MAX_CANDIDATES = 3  # more possible targets than this say nothing: the call is unresolved
MAX_NAME = 80
_SYMBOLS = frozenset({Arg, Sym})


@dataclass(slots=True)
class Calls:
    """What one file calls. Targets are (path, definition index)."""

    edges: list[tuple[int, tuple[str, int], Rule, int]] = field(default_factory=list)  # scope, target, rule, line
    external: list[tuple[int, str, int]] = field(default_factory=list)  # scope, dotted name, line
    unresolved: list[tuple[int, str, int]] = field(default_factory=list)  # scope, callee as written, line
    flows: dict[Key, list[str]] = field(default_factory=dict)  # argument key -> encoded values
    pending: list[int] = field(default_factory=list)  # call expressions whose target is a parameter's value
    virtual: list[tuple[int, tuple[str, int]]] = field(
        default_factory=list
    )  # call expression, target that may be overridden
    overrides: list[tuple[int, list[tuple[str, int]]]] = field(default_factory=list)  # method, what it overrides


def find_calls(evaluator: Evaluator, path: str) -> Calls:
    """First phase: every call site, without looking through parameters."""
    found = Calls()
    table = evaluator.table(path)
    for index in table.sites(ops.CALL, ops.NEW):
        find_site(evaluator, table, index, table.facts.exprs[index], found)
    for scope, target, rule, line in evaluator.implicit_calls(path):
        found.edges.append((scope, target, rule, line))
    for target, position, values in evaluator.implicit_flows(path):
        _pass_on(evaluator, target, position, values, found)
    found.pending += evaluator.implicit_pending(path)
    found.overrides = list(overrides(evaluator, path))
    for key, method in override_notes(evaluator, path, found.overrides):
        found.flows.setdefault(key, []).append(method)
    return found


def find_flow_calls(evaluator: Evaluator, path: str, pending: Iterable[int]) -> Calls:
    """Second phase: the sites that call what a parameter holds, with what callers pass."""
    found = Calls()
    table = evaluator.table(path)
    evaluator.follow_args = True
    try:
        for index in pending:
            expr = table.facts.exprs[index]
            if expr.op is not ops.CALL and expr.op is not ops.NEW:
                targets = evaluator.implicit_targets(path, expr)
                found.edges += [(expr.scope, target, Rule.FLOW, expr.line) for target in targets]
                continue
            values = _callee(evaluator, path, expr)
            targets, rule = _distinct_targets(evaluator, values), Rule.FLOW
            if not values and evaluator.guesses_after_flow:
                targets, rule = evaluator.guess(path, index, expr), Rule.UNIQUE_NAME
            elif len(targets) == 1 and evaluator.is_only(path, expr, targets[0]):
                rule = Rule.UNIQUE_NAME
            for target in targets:
                found.edges.append((expr.scope, target, rule, expr.line))
            if not targets and not is_external(values):
                found.unresolved.append((expr.scope, written(table, index), expr.line))
    finally:
        evaluator.follow_args = False
    return found


def find_site(evaluator: Evaluator, table: FileTable, index: int, expr: Expr, found: Calls) -> None:
    """First phase for one call expression, added to `found`."""
    path = table.path
    values = _callee(evaluator, path, expr)
    symbolic = any(type(value) in _SYMBOLS for value in values) if values else False
    targets = _distinct_targets(evaluator, values) if values else []
    targets = evaluator.select(path, index, targets)
    rule = evaluator.rule(path, expr, values) if targets else Rule.CANDIDATES
    if not targets and not symbolic and not values:
        symbolic = _depends_on_param(evaluator, table, expr)
        if not symbolic:
            targets = evaluator.guess(path, index, expr)
            rule = Rule.UNIQUE_NAME if len(targets) == 1 else Rule.CANDIDATES
    if len(targets) > 1 and evaluator.undecided(targets):
        rule = Rule.CANDIDATES
    if len(targets) > MAX_CANDIDATES and not evaluator.keeps_all(values):
        targets = []
        found.unresolved.append((expr.scope, written(table, index), expr.line))
    for target in targets:
        found.edges.append((expr.scope, target, rule, expr.line))
        _flows(evaluator, table, index, target, found)
        if is_virtual_site(evaluator, table, expr, rule, target):
            found.virtual.append((index, target))
    if symbolic:
        found.pending.append(index)
        _flows_via(evaluator, table, index, values, found)
    elif not targets:
        _without_target(table, index, expr, values, found)


def _without_target(table: FileTable, index: int, expr: Expr, values: Values, found: Calls) -> None:
    names = [value.name for value in values if isinstance(value, (Ext, Package))]
    if names:
        if names[0] and "()" not in names[0]:
            found.external.append((expr.scope, names[0], expr.line))
    elif not any(isinstance(value, (Class, Func, Inst, Module, Coll, Method, Gen)) for value in values):
        found.unresolved.append((expr.scope, written(table, index), expr.line))


def _callee(evaluator: Evaluator, path: str, expr: Expr) -> Values:
    if expr.op is ops.NEW:
        return evaluator.ask_new(path, expr)
    return evaluator.called(evaluator.ask(path, expr.base))


def _distinct_targets(evaluator: Evaluator, values: Values) -> list[tuple[str, int]]:
    if len(values) == 1 and isinstance(only := values[0], (Func, Ext)):  # nearly always
        return [(only.path, only.index)] if isinstance(only, Func) else []
    return list(dict.fromkeys(_targets(evaluator, values)))


def _targets(evaluator: Evaluator, values: Values) -> Iterator[tuple[str, int]]:
    """The definitions that run when the values are called."""
    for value in values:
        if isinstance(value, Func):
            yield value.path, value.index
        elif isinstance(value, Class):
            constructors = evaluator.constructors(value)
            for item in constructors:
                if isinstance(item, Func):
                    yield item.path, item.index
            if not constructors and evaluator.classes_are_called:
                yield value.path, value.index
        elif isinstance(value, Inst):
            for item in evaluator.called_instance(value):
                if isinstance(item, Func):
                    yield item.path, item.index


def _depends_on_param(evaluator: Evaluator, table: FileTable, expr: Expr) -> bool:
    """Whether the receiver of an unknown callee is (a part of) what some parameter holds."""
    exprs = table.facts.exprs
    base = expr.base
    while base >= 0 and exprs[base].op in (ops.MEMBER, ops.INDEX, ops.CALL, ops.AWAIT, ops.ELEMENT):
        base = exprs[base].base
        if base >= 0 and any(isinstance(value, Arg) for value in evaluator.ask(table.path, base)):
            return True
    return False


def _flows(evaluator: Evaluator, table: FileTable, index: int, target: tuple[str, int], found: Calls) -> None:
    """Record the functions, classes and instances that a call passes, if the callee does something with them."""
    taken = evaluator.takes(target) if table.facts.exprs[index].args else frozenset()
    for position, arg in _arguments(evaluator, table, index, target) if taken else ():
        if position in taken:
            _hand_over(evaluator, target, position, evaluator.ask(table.path, arg), found)


def _flows_via(evaluator: Evaluator, table: FileTable, index: int, values: Values, found: Calls) -> None:
    """What a call of a parameter's value passes on: to whatever function callers hand in for that parameter."""
    exprs = table.facts.exprs
    holders = [value for value in values if isinstance(value, Arg)]
    rank = 0
    for arg in exprs[index].args if holders else ():
        item = exprs[arg]
        if item.op is ops.SPREAD:
            return
        slot = f"={item.name}" if item.op is ops.KEYWORD else str(rank)
        rank += item.op is not ops.KEYWORD
        encoded = [evaluator.encode_value(value) for value in evaluator.ask(table.path, arg)]
        kept = [value for value in encoded if value is not None]
        for holder in holders if kept else ():
            stable = evaluator.table(holder.path).stable_name(holder.index)
            key = ("via", holder.path, stable, str(holder.position), slot)
            found.flows.setdefault(key, []).extend(kept)


def _pass_on(evaluator: Evaluator, target: tuple[str, int], position: int, values: Values, found: Calls) -> None:
    if position in evaluator.takes(target):
        _hand_over(evaluator, target, position, values, found)


def _hand_over(evaluator: Evaluator, target: tuple[str, int], position: int, values: Values, found: Calls) -> None:
    encoded = [evaluator.encode_value(value) for value in values]
    kept = [value for value in encoded if value is not None]
    if kept:
        stable = evaluator.table(target[0]).stable_name(target[1])
        found.flows.setdefault(("args", target[0], stable, str(position)), []).extend(kept)
        holder = evaluator.encode_value(Arg(*target, position))
        for value in values:
            if holder is not None and isinstance(value, (Func, Class, Arg)):
                held = evaluator.table(value.path).stable_name(value.index)
                place = (str(value.position),) if isinstance(value, Arg) else ()
                found.flows.setdefault(("held", value.path, held, *place), []).append(holder)


def _arguments(
    evaluator: Evaluator, table: FileTable, index: int, target: tuple[str, int]
) -> Iterator[tuple[int, int]]:
    """(parameter position, argument expression) pairs of a call."""
    exprs = table.facts.exprs
    params = evaluator.definition(*target).params
    places = evaluator.table(target[0]).positional(target[1])
    rank = 0
    for arg in evaluator.given(table.path, index, Func(*target)):
        item = exprs[arg]
        if item.op is ops.KEYWORD:
            position = _keyword_position(params, item.name)
            if position >= 0:
                yield position, item.base
        elif item.op is ops.SPREAD:
            return
        else:
            if rank < len(places):
                yield places[rank], arg
                if params[places[rank]].kind is not ParamKind.VARIADIC:
                    rank += 1


def _keyword_position(params: tuple[Param, ...], name: str) -> int:
    """The parameter that takes a keyword argument: the one so called, else the one that collects the rest."""
    rest = -1
    for position, param in enumerate(params):
        if param.name == name and name:
            return position
        if param.kind is ParamKind.KEYWORDS:
            rest = position
    return rest


def written(table: FileTable, index: int) -> str:
    """A callee as a reader would write it, shortened."""
    exprs = table.facts.exprs
    expr = exprs[index]
    if expr.op is ops.NEW and expr.type is not None:
        return f"new {expr.type.name}"[:MAX_NAME]
    return _written(exprs, expr.base, 0)[:MAX_NAME]


def _written(exprs: tuple[Expr, ...], index: int, depth: int) -> str:
    if index < 0 or depth > 12:
        return "…"
    expr = exprs[index]
    if expr.op is ops.NAME:
        return expr.name
    if expr.op is ops.MEMBER:
        return f"{_written(exprs, expr.base, depth + 1)}.{expr.name}"
    if expr.op is ops.CALL:
        return f"{_written(exprs, expr.base, depth + 1)}()"
    if expr.op is ops.INDEX:
        return f"{_written(exprs, expr.base, depth + 1)}[]"
    return {ops.THIS: "this", ops.SUPER: "super"}.get(expr.op, "…")
