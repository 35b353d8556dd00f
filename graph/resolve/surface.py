"""What other files can see of a file, per top-level name, without positions: two equal surfaces resolve alike.

The surface of a symbol is everything evaluation reads once it has reached that symbol: the definitions below it
(signatures, types, bases, decorators), the values that they return, the fields and members assigned, and, closed
over local names, whatever those values are made of. Calls in a body that feed none of these are not part of it, so
that most edits of a function body change no surface.

Expressions stand in it by digest: a variable that is assigned again and again from itself makes a graph of values in
which everything is shared, and comparing two such graphs node by node would take forever.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from typing import Any

import msgspec

from ctxsearch.graph import ops
from ctxsearch.graph.facts import FileFacts
from ctxsearch.graph.resolve.tables import CLASS_LIKE, FileTable

MODULE_STARS = "*"  # the pseudo-name under which star imports, star exports and the package are seen


def surface(facts: FileFacts) -> dict[str, Any]:
    """Top-level name -> comparable value. Values too deep to compare are never equal: the safe side."""
    table = FileTable(facts)
    try:
        return _Surface(table).collect()
    except RecursionError:
        return {name: object() for name in visible_names(table)}


def visible_names(table: FileTable) -> set[str]:
    """Every name that `surface` may have an entry for."""
    aliases = {item.alias for item in table.facts.imports}
    roots = {table.root_name(table.facts.exprs[call].base) for calls in table.additions.values() for call in calls}
    return {"", *table.top, *table.binds[-1], *aliases, *table.exports, *table.attributes, *roots, MODULE_STARS}


class _Surface:
    """Works over one file; collects for each definition and name what is visible of it."""

    def __init__(self, table: FileTable) -> None:
        self.table = table
        self.facts = table.facts
        self.parts: dict[str, list[Any]] = defaultdict(list)
        self._exprs: dict[int, bytes] = {}

    def collect(self) -> dict[str, Any]:
        facts, table = self.facts, self.table
        for index in range(len(facts.definitions)):
            self.parts[table.top[index]].append(self._definition(index))
        for index in range(len(facts.assigns)):
            name = self._seen_under(index)
            if name is not None:
                self.parts[name].append(self._assign(index))
        for call in sorted(call for calls in table.additions.values() for call in calls):
            name = self._changed_by(call)
            self.parts[name].append(self._expr(call))
        for item in facts.imports:
            value: Any = (item.scope >= 0, item.module, item.name, item.alias, item.level, item.kind, item.block >= 0)
            name = table.top[item.scope] if item.scope >= 0 else item.alias or MODULE_STARS
            self.parts[name].append(value)
        for export in facts.exports:
            value = (export.name, export.local, export.module, self._expr(export.value))
            self.parts[MODULE_STARS if export.name == "*" else export.name].append(value)
        self._orders()
        self.parts[MODULE_STARS].append((facts.language, facts.package, int(facts.flags)))
        return dict(self.parts)

    def _orders(self) -> None:
        """Where definitions, assignments and imports bind the same name, which comes when: the last may win."""
        facts, table = self.facts, self.table
        for scope in sorted({*table.defs, *table.binds, *table.imports}):
            if scope >= 0 and facts.definitions[scope].kind not in CLASS_LIKE:
                continue
            names = table.defs.get(scope, {}), table.binds.get(scope, {}), table.imports.get(scope, {})
            for name in sorted({name for family in names for name in family}):
                places = [(facts.definitions[item].start, 0) for item in names[0].get(name, ())]
                places += [(facts.exprs[facts.assigns[item].target].at, 1) for item in names[1].get(name, ())]
                places += [(facts.imports[item].at, 2) for item in names[2].get(name, ())]
                if len(places) > 1:
                    order = tuple(kind for _, kind in sorted(places))
                    self.parts[table.top_name(scope) or name].append((name, order))

    def _seen_under(self, assign: int) -> str | None:
        """The top-level name whose readers see this assignment; None for a local of a function."""
        target = self.facts.exprs[self.facts.assigns[assign].target]
        table = self.table
        if target.op is ops.NAME:
            if target.scope < 0:
                return target.name
            inside_function = self.facts.definitions[target.scope].params or table.enclosing_class(target.scope) != (
                target.scope
            )
            return None if inside_function else table.top[target.scope]
        root = table.root_name(target.base)
        if not root and target.scope >= 0:
            return table.top[target.scope]
        return root

    def _changed_by(self, call: int) -> str:
        """The name whose readers see what a call adds to a container."""
        item = self.facts.exprs[call]
        return self.table.root_name(item.base) or self.table.top_name(item.scope)

    def _definition(self, index: int) -> Any:
        definition = self.facts.definitions[index]
        return (
            int(definition.kind),
            definition.qualified_name,
            int(definition.flags),
            tuple((param.name, param.type, int(param.kind), self._expr(param.default)) for param in definition.params),
            definition.result,
            tuple(self._expr(value) for value in definition.returns),
            definition.bases,
            definition.implements,
            tuple(self._expr(value) for value in definition.decorators),
            definition.type_params,
            definition.receiver,
            self._expr(definition.value),
            definition.block >= 0,
            self.table.used_params(index),
        )

    def _assign(self, index: int) -> Any:
        assign = self.facts.assigns[index]
        return (
            self._expr(assign.target),
            self._expr(assign.value),
            assign.type,
            assign.declares,
            assign.conditional,
        )

    def _expr(self, index: int) -> bytes | None:
        """The digest of an expression, local names followed to their assignments."""
        if index < 0:
            return None
        known = self._exprs.get(index)
        if known is not None:
            return known
        self._exprs[index] = b"..."  # a cycle refers to itself
        item = self.facts.exprs[index]
        if item.op in (ops.FUNCTION, ops.CLASS):
            base: Any = self.table.stable_name(item.base)
        else:
            base = self._expr(item.base)
        around = self.table.stable_name(item.scope) if item.scope >= 0 and item.op in _SCOPED else ""
        value = (
            int(item.op),
            around,
            item.name,
            base,
            tuple(self._expr(arg) for arg in item.args),
            item.text,
            item.type,
            self._local(item.scope, item.name, item.at) if item.op is ops.NAME else (),
        )
        digest = self._exprs[index] = hashlib.blake2b(_encoder.encode(value), digest_size=16).digest()
        return digest

    def _local(self, scope: int, name: str, at: int) -> Any:
        """The assignments of a local variable, from the innermost function scope that has it, and which reach `at`."""
        facts = self.facts
        if scope < 0:
            return self._bound_before(name, at)
        while scope >= 0:
            found = self.table.binds[scope].get(name) if scope in self.table.binds else None
            if found:
                return tuple(
                    (self._assign(index), facts.exprs[facts.assigns[index].target].at < at, *_covers(facts, index, at))
                    for index in found
                )
            scope = facts.definitions[scope].parent
        return ()

    def _bound_before(self, name: str, at: int) -> int:
        """How many of a module's own bindings of a name stand before `at`: which one a statement there reads."""
        facts, table = self.facts, self.table
        return (
            sum(facts.exprs[facts.assigns[index].target].at < at for index in table.binds.get(-1, {}).get(name, ()))
            + sum(facts.definitions[index].start < at for index in table.defs.get(-1, {}).get(name, ()))
            + sum(facts.imports[index].at < at for index in table.imports.get(-1, {}).get(name, ()))
        )


def _covers(facts: FileFacts, assign: int, at: int) -> tuple[bool, bool]:
    item = facts.assigns[assign]
    return item.until < 0 or at < item.until, at < item.block


_encoder = msgspec.msgpack.Encoder()
_SCOPED = frozenset({ops.NAME, ops.THIS, ops.SUPER, ops.RECEIVER_CLASS})
