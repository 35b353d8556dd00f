"""Who overrides whom, and what a virtual call may therefore run. Pure: reads facts through an Evaluator.

Overriding is noted by the file of the overriding method under the key of each method that it overrides, like a value
that is passed: a new subclass anywhere brings the callers of its base's methods up to date.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Definition, Expr, ParamKind
from ctxsearch.graph.model import NodeFlag, NodeKind, Rule
from ctxsearch.graph.resolve.evaluate import Evaluator
from ctxsearch.graph.resolve.tables import FileTable
from ctxsearch.graph.resolve.values import Class, Inst
from ctxsearch.graph.resolve.world import Key

_NO_BODY = NodeFlag.ABSTRACT | NodeFlag.DECLARATION
_GUESSES = frozenset({Rule.UNIQUE_NAME, Rule.CANDIDATES, Rule.FLOW})

Place = tuple[str, int]  # path, definition index


def overrides(evaluator: Evaluator, path: str) -> Iterator[tuple[int, list[Place]]]:
    """Every method of a file that overrides something, with what it overrides, the nearest first."""
    lineages: dict[object, list[Class]] = {}  # methods written in one place have one
    for index, definition in enumerate(evaluator.table(path).facts.definitions):
        if definition.kind is not NodeKind.METHOD or definition.flags & NodeFlag.ANONYMOUS:
            continue
        written_in = definition.parent, definition.receiver, definition.implements
        if written_in not in lineages:
            lineages[written_in] = evaluator.overridden_in(path, index)
        twins = [twin for owner in lineages[written_in] for twin in _twins(evaluator, owner, definition)]
        found = [twin for twin in twins if evaluator.is_virtual(twin, (path, index))]
        if found:
            yield index, found


def _twins(evaluator: Evaluator, owner: Class, method: Definition) -> list[Place]:
    """The methods of an ancestor that a method overrides; overloads are told apart by their parameters."""
    evaluator.touch(owner.path, owner.index)
    table = evaluator.table(owner.path)
    named = table.defs[owner.index].get(method.name, ()) if owner.index in table.defs else ()
    definitions = table.facts.definitions
    twins = [index for index in named if definitions[index].kind is NodeKind.METHOD]
    if evaluator.overloads:
        twins = [index for index in twins if _arity(definitions[index]) == _arity(method)]
        same = [index for index in twins if _written_types(definitions[index]) == _written_types(method)]
        twins = same or [index for index in twins if _may_be_overridden(definitions, index, method)][:1]
    return [(owner.path, index) for index in twins]


def _arity(definition: Definition) -> int:
    return sum(param.kind is not ParamKind.RECEIVER for param in definition.params)


def _written_types(definition: Definition) -> list[str]:
    return [param.type.name.rsplit(".", 1)[-1] if param.type else "" for param in definition.params]


def _may_be_overridden(definitions: tuple[Definition, ...], index: int, method: Definition) -> bool:
    """Whether other types are written for the same parameters: for type parameters, or where the method says so."""
    if "override" in method.signature.split():
        return True
    open_types, around = {""}, index
    while around >= 0:
        open_types.update(param.name for param in definitions[around].type_params)
        around = definitions[around].parent
    pairs = zip(_written_types(definitions[index]), _written_types(method), strict=False)
    return all(wanted == given or wanted in open_types or not given for wanted, given in pairs)


def override_notes(evaluator: Evaluator, path: str, found: list[tuple[int, list[Place]]]) -> Iterator[tuple[Key, str]]:
    """What a file says to those who call the methods that it overrides: (key, encoded method)."""
    definitions = evaluator.table(path).facts.definitions
    for index, twins in found:
        if definitions[index].flags & evaluator.fixed:
            continue
        bodies = [evaluator.encode_value(body) for body in evaluator.bodies(path, index)]
        for twin in twins:
            if evaluator.definition(*twin).flags & evaluator.fixed:
                continue
            for place in dict.fromkeys([twin, *((body.path, body.index) for body in evaluator.bodies(*twin))]):
                key = override_key(evaluator, place)
                yield from ((key, body) for body in bodies if body is not None)


def override_key(evaluator: Evaluator, place: Place) -> Key:
    """Where the overrides of a method are noted (Evaluator.dispatch reads it)."""
    return ("over", place[0], evaluator.table(place[0]).stable_name(place[1]))


def is_virtual_site(evaluator: Evaluator, table: FileTable, expr: Expr, rule: Rule, target: Place) -> bool:
    """Whether a call may run an override of its target: not through super, a class, or a guess."""
    if rule in _GUESSES or expr.op is not ops.CALL or expr.base < 0:
        return False
    definition = evaluator.definition(*target)
    if definition.kind is not NodeKind.METHOD or definition.flags & evaluator.fixed:
        return False
    callee = table.facts.exprs[expr.base]
    if callee.op is ops.NAME:
        return True  # a method by its bare name: of this
    return callee.op is ops.MEMBER and table.facts.exprs[callee.base].op is not ops.SUPER


def dispatched(evaluator: Evaluator, table: FileTable, expr: Expr, target: Place) -> list[Place]:
    """What a virtual call may run instead of its target: overrides in subclasses of the receiver's class."""
    found = [
        (value.path, value.index)
        for value in evaluator.dispatch(target)
        if not evaluator.definition(value.path, value.index).flags & _NO_BODY
    ]
    found = [place for place in dict.fromkeys(found) if place != target]
    if not found:
        return []
    callee = table.facts.exprs[expr.base]
    if callee.op is ops.MEMBER:
        receivers = evaluator.receivers(table.path, callee)
    else:
        receivers = evaluator.eval_this(table.path, -1, Expr(ops.THIS, expr.scope, expr.line, expr.at))
    owners = {(value.path, value.index) for value in receivers if isinstance(value, Inst)}
    if not owners:
        return []
    return [place for place in found if evaluator.descends(place, owners)]
