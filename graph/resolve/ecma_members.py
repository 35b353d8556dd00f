"""Members in JavaScript: class bodies, fields, prototypes, mixins, and writes through variables."""

from __future__ import annotations

from ctxsearch.graph import ops
from ctxsearch.graph.facts import MODULE_SCOPE, Definition, Expr
from ctxsearch.graph.model import CALLABLE_KINDS, NodeFlag, NodeKind
from ctxsearch.graph.resolve.ecma_index import ANY_MEMBER, VALUE_KINDS, Write, implementations
from ctxsearch.graph.resolve.ecma_library import OBJECT_METHODS, PROMISE_METHODS
from ctxsearch.graph.resolve.ecma_names import Names
from ctxsearch.graph.resolve.ecma_types import Env
from ctxsearch.graph.resolve.tables import FileTable
from ctxsearch.graph.resolve.values import (
    EXTERNAL,
    UNKNOWN,
    Arg,
    Class,
    Func,
    Inst,
    Module,
    Package,
    Value,
    Values,
    is_external,
)

MAX_CONSTANT_STEPS = 6  # names between a key and the literal that it is


class Members(Names):
    """Looks members up."""

    def eval_member(self, path: str, index: int, expr: Expr) -> Values:
        base = self.table(path).facts.exprs[expr.base] if expr.base >= 0 else expr
        if base.op is ops.SUPER:
            return self.members(self._super_side(path, base), expr.name)
        written, only = self._written(path, index, expr)
        if only:
            return written
        found = (*written, *self._of_new(path, expr.base, self.members(self.value(path, expr.base), expr.name)))
        return found if found and not is_external(found) else self._written_anyhow(path, index, expr) or found

    def _written(self, path: str, index: int, expr: Expr) -> tuple[Values, bool]:
        """What writes in the same file put under the same name path, and whether nothing else can be meant."""
        js = self.js(path)
        place = js.member_path(index)
        if place is None or place[0] not in js.writes:
            return UNKNOWN, False
        root, names = place
        scope = js.binding_scope(expr.scope, root)
        matching = [
            write for write in js.writes[root] if write.names == names and js.binding_scope(write.scope, root) == scope
        ]
        before = [write for write in matching if write.scope == expr.scope and write.at < expr.at]
        elsewhere = [write for write in matching if write.scope != expr.scope]
        for start in range(len(before) - 1, -1, -1):
            if not before[start].conditional:
                return self._written_values(path, before[start:], names[-1]), not elsewhere
        return self._written_values(path, [*before, *elsewhere], names[-1]), False

    def _written_anyhow(self, path: str, index: int, expr: Expr) -> Values:
        """What writes under keys that are not constant may have put there: asked when nothing else is known."""
        js = self.js(path)
        place = js.member_path(index)
        if place is None or place[0] not in js.writes:
            return UNKNOWN
        root, names = place
        scope = js.binding_scope(expr.scope, root)
        writes = [
            write
            for write in js.writes[root]
            if write.names != names and _covers(write.names, names) and js.binding_scope(write.scope, root) == scope
        ]
        return self._written_values(path, writes, names[-1])

    def _written_values(self, path: str, writes: list[Write], name: str) -> Values:
        found: list[Value] = []
        for write in writes:
            values = self.value(path, write.value)
            if write.getter:
                values = self._each(values, lambda value: self.call_result(value, path, -1))
            found += self.members(values, name) if write.spread else values
        return tuple(found)

    def _of_new(self, path: str, base: int, values: Values) -> Values:
        """Fields that hold constructor arguments are what the `new` expression at hand passes, not the defaults."""
        if not any(isinstance(value, Arg) for value in values):
            return values
        made = self._made_at(path, base)
        if made < 0:
            return values
        given: list[Value] = []
        replaced: set[Value] = set()
        for value in values:
            argument = self._passed_to(value, path, made) if isinstance(value, Arg) else -1
            if isinstance(value, Arg) and argument >= 0:
                params = self.definition(value.path, value.index).params
                replaced |= {value, *self.value(value.path, params[value.position].default)}
                given += self.value(path, argument)
        return (*given, *(value for value in values if value not in replaced))

    def _passed_to(self, arg: Arg, path: str, made: int) -> int:
        """The expression that a NEW passes for a constructor's parameter; -1 when none."""
        if self.definition(arg.path, arg.index).kind not in (NodeKind.CONSTRUCTOR, NodeKind.FUNCTION):
            return -1
        return self.argument(Func(arg.path, arg.index), arg.position, path, made)

    def _made_at(self, path: str, expr: int) -> int:
        """The only NEW expression that an expression can come from in this file; -1 when that is not certain."""
        table = self.table(path)
        facts = table.facts
        for _ in range(MAX_CONSTANT_STEPS):
            if expr < 0:
                return -1
            item = facts.exprs[expr]
            if item.op is ops.NEW:
                return expr
            if item.op is not ops.NAME:
                return -1
            scope = self.js(path).binding_scope(item.scope, item.name)
            assigns = table.binds[scope].get(item.name, ()) if scope in table.binds else ()
            if len(assigns) != 1:
                return -1
            expr = facts.assigns[assigns[0]].value
        return -1

    def _constant(self, path: str, expr: int, steps: int) -> str | None:
        """The text of a constant key: a literal, or a name that is bound once to one."""
        facts = self.table(path).facts
        item = facts.exprs[expr]
        if item.op is ops.LITERAL:
            return item.text or None
        if item.op is not ops.NAME or steps == 0:
            return None
        scope = self.js(path).binding_scope(item.scope, item.name)
        return self._constant_of(path, scope, item.name, steps - 1)

    def _constant_of(self, path: str, scope: int, name: str, steps: int) -> str | None:
        table = self.table(path)
        if path != self.home:
            self.world.record("name", path, name)
        assigns = table.binds[scope].get(name, ()) if scope in table.binds else ()
        if len(assigns) == 1 and table.facts.assigns[assigns[0]].value >= 0:
            return self._constant(path, table.facts.assigns[assigns[0]].value, steps)
        imports = table.imports[scope].get(name, ()) if scope in table.imports else ()
        if len(imports) == 1 and steps:
            item = table.facts.imports[imports[0]]
            for module in self.module(path, item.module):
                if isinstance(module, Module):
                    exports = self.table(module.path).exports.get(item.name, ())
                    if len(exports) == 1:
                        local = self.table(module.path).facts.exports[exports[0]].local
                        return self._constant_of(module.path, MODULE_SCOPE, local, steps - 1) if local else None
        return None

    def member(self, base: Value, name: str) -> Values:
        if isinstance(base, Class) and name == "prototype":
            return self.instance_of(base)
        if isinstance(base, Func) and name == "prototype":
            return (Inst(base.path, base.index),)
        if isinstance(base, Module) and name == "default":
            found = super().member(base, name)
            return found or (base,)
        found = super().member(base, name)
        if not found and isinstance(base, Inst) and (name in OBJECT_METHODS or name in PROMISE_METHODS):
            return EXTERNAL
        return found

    def own_member(self, path: str, index: int, name: str, seen_as: Inst | Class | None) -> Values | None:
        self.touch(path, index)
        table = self.table(path)
        definition = table.facts.definitions[index]
        if definition.kind is NodeKind.FUNCTION:
            return self._constructed_member(path, index, name)
        found: list[Value] = []
        defs = self._members_named(table, index, name, seen_as)
        for item in defs:
            found += self.member_value(path, item, seen_as)
        if found:
            return tuple(found)
        fields = table.fields[index].get(name, ()) if index in table.fields else ()
        if fields and not defs:
            declared = self._inherited_type(path, index, name)
            if declared:
                return declared
        if fields:
            env = self.env_of(seen_as) if seen_as is not None else ()
            key = ("field", path, index, name, env)
            found += self._guarded(
                path, key, lambda: tuple(v for f in fields for v in self._field(path, index, f, env))
            )
        if not found or not defs:
            found += self._outside_writes(path, index, name, seen_as)
        return tuple(found) if found or defs or fields else None

    def _field(self, path: str, index: int, assign: int, env: Env) -> Values:
        """What an assignment to a field gives it, with the type arguments of the instance at hand."""
        declared = self.table(path).facts.assigns[assign].type
        return (env and self.typed_in(path, index, declared, env)) or self.assigned(path, assign)

    def _inherited_type(self, path: str, index: int, name: str) -> Values:
        """The type that an ancestor declares for a field which this class only assigns."""
        for owner in self.ancestry(path, index)[1:]:
            if isinstance(owner, Class):
                table = self.table(owner.path)
                for item in table.defs[owner.index].get(name, ()) if owner.index in table.defs else ():
                    definition = self.definition(owner.path, item)
                    if definition.kind is NodeKind.VARIABLE and definition.result is not None:
                        return self.typed(owner.path, owner.index, definition.result)
        return UNKNOWN

    def _members_named(self, table: FileTable, index: int, name: str, seen_as: Inst | Class | None) -> list[int]:
        """The member that a class body defines under a name: on its side (static or not), implementations first."""
        defs = table.defs[index].get(name) if index in table.defs else None
        if not defs:
            return []
        definitions = table.facts.definitions
        if definitions[index].kind is NodeKind.PACKAGE:
            return implementations(definitions, [item for item in defs if definitions[item].kind in VALUE_KINDS])
        if seen_as is not None:
            static = isinstance(seen_as, Class)
            sided = [
                item
                for item in defs
                if bool(definitions[item].flags & NodeFlag.STATIC) == static or definitions[item].kind is NodeKind.CLASS
            ]
            defs = sided
        readable = [
            item
            for item in defs
            if not (definitions[item].flags & NodeFlag.PROPERTY and definitions[item].params)
            and definitions[item].kind is not NodeKind.CONSTRUCTOR
        ]
        return implementations(definitions, readable)

    def member_value(self, path: str, index: int, seen_as: Inst | Class | None) -> Values:
        definition = self.definition(path, index)
        env = self.env_of(seen_as) if seen_as is not None else ()
        if env and definition.result is not None and not self._is_method(definition):
            found = self.typed_in(path, definition.parent, definition.result, env)
            if found:
                return found
        return super().member_value(path, index, seen_as)

    def package_member(self, package: Package, name: str) -> Values:
        """A member of a namespace, which is a value that is never called."""
        path, _, index = package.name.partition("\0")
        return self.own_member(path, int(index), name, None) or UNKNOWN

    def _is_method(self, definition: Definition) -> bool:
        return definition.kind in CALLABLE_KINDS and not definition.flags & NodeFlag.PROPERTY

    def _outside_writes(self, path: str, index: int, name: str, seen_as: Inst | Class | None) -> Values:
        """Members that are written from outside the class body: `C.m = f`, `C.prototype.m = f`, mixins."""
        js = self.js(path)
        if self.table(path).facts.definitions[index].name not in js.writes:
            return UNKNOWN
        static = isinstance(seen_as, Class)
        key = ("writes", path, index, name, static)
        return self._guarded(path, key, lambda: self._find_writes(path, index, name, static))

    def _find_writes(self, path: str, index: int, name: str, static: bool) -> Values:
        js = self.js(path)
        prefix = () if static else ("prototype",)
        found: list[Value] = []
        for write in (*js.writes_to(index, *prefix, name), *js.writes_to(index, *prefix, ANY_MEMBER)):
            found += self._written_values(path, [write], name)
        if not static:
            for write in js.writes_to(index, "prototype"):
                found += self.members(self.value(path, write.value), name)
        return tuple(found)

    def _constructed_member(self, path: str, index: int, name: str) -> Values | None:
        """A member of what a constructor function makes."""
        js = self.js(path)
        found: list[Value] = []
        for owner in self._this_owners(path, index):
            for assign in js.this_fields.get(owner, {}).get(name, ()):
                found += self.assigned(path, assign)
        found += self._outside_writes(path, index, name, None)
        return tuple(found) or None

    def _this_owners(self, path: str, index: int) -> list[int]:
        """The function itself and the methods of its prototype: where its fields are set."""
        table, js = self.table(path), self.js(path)
        name = table.facts.definitions[index].name
        owners = [index]
        for owner in js.this_fields:
            if owner >= 0 and owner != index:
                receiver = table.facts.definitions[owner].receiver
                if receiver is not None and receiver.name == name:
                    self.world.record("name", path, table.facts.definitions[owner].name)
                    owners.append(owner)
        return owners

    def function_member(self, func: Func, name: str) -> Values:
        js = self.js(func.path)
        definition = self.definition(func.path, func.index)
        if definition.name in js.writes:
            found = [
                value
                for write in (*js.writes_to(func.index, name), *js.writes_to(func.index, ANY_MEMBER))
                for value in self._written_values(func.path, [write], name)
            ]
            if found:
                return tuple(found)
        return (func,) if name in ("call", "apply") else EXTERNAL


def _covers(written: tuple[str, ...], names: tuple[str, ...]) -> bool:
    return len(written) == len(names) and all(
        one in (other, ANY_MEMBER) or other == ANY_MEMBER for one, other in zip(written, names, strict=True)
    )
