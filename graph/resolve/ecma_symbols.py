"""References in JavaScript: the definition that a name stands for, not its value; types and values apart."""

from __future__ import annotations

from ctxsearch.graph import ops
from ctxsearch.graph.facts import MODULE_SCOPE
from ctxsearch.graph.model import NodeKind
from ctxsearch.graph.resolve.ecma_context import Context
from ctxsearch.graph.resolve.ecma_index import VALUE_KINDS, implementations
from ctxsearch.graph.resolve.ecma_library import TYPE
from ctxsearch.graph.resolve.surface import MODULE_STARS
from ctxsearch.graph.resolve.values import (
    UNKNOWN,
    Class,
    Func,
    Inst,
    Module,
    Package,
    Value,
    Values,
)


class Symbols(Context):
    """Finds the definitions behind references."""

    def reference(self, path: str, expr: int) -> Values:
        item = self.table(path).facts.exprs[expr]
        if item.text == TYPE:
            found = self._type_reference(path, expr)
        elif item.op is ops.MEMBER:
            found = self._each(self.ask(path, item.base), lambda owner: self.defined(owner, item.name))
        elif self.js(path).binding_scope(item.scope, item.name) == MODULE_SCOPE:
            found = self._symbol(path, item.name)
        else:
            return UNKNOWN  # a local variable is no symbol
        return tuple(value for value in found if self._is_visible(path, value, item.at))

    def _type_reference(self, path: str, expr: int) -> Values:
        item = self.table(path).facts.exprs[expr]
        if item.op is ops.NAME:
            return tuple(value for value in self.type_name(path, item.scope, item.name) if isinstance(value, Class))
        owners = self._type_owners(path, item.base)
        return self._each(owners, lambda owner: self.type_member(owner, item.name))

    def _type_owners(self, path: str, expr: int) -> Values:
        """What stands before the dot of a type's name: a module or a namespace."""
        item = self.table(path).facts.exprs[expr]
        if item.op is ops.NAME:
            return self.type_name(path, item.scope, item.name)
        return self._each(self._type_owners(path, item.base), lambda owner: self.type_member(owner, item.name))

    def _is_visible(self, path: str, value: Value, at: int) -> bool:
        if not isinstance(value, (Class, Func)) or value.path != path:
            return True
        start, end = self.js(path).blocks.get(value.index, (0, at + 1))
        return start <= at < end

    def defined(self, owner: Value, name: str) -> Values:
        if isinstance(owner, Module):
            self.world.record("name", owner.path, name)
            return self._guarded(owner.path, ("sym", owner.path, name), lambda: self._exported_symbol(owner.path, name))
        if isinstance(owner, (Class, Inst)):
            self.touch(owner.path, owner.index)
            table = self.table(owner.path)
            found = self._members_named(table, owner.index, name, None)
            return (Class(owner.path, found[-1]),) if found else UNKNOWN
        if isinstance(owner, Package):
            path, _, index = owner.name.partition("\0")
            return self.defined(Class(path, int(index)), name)
        return UNKNOWN

    def _symbol(self, path: str, name: str) -> Values:
        """The definition behind a top-level name of a file, as seen inside it: not its value."""
        table = self.table(path)
        defs = table.defs[MODULE_SCOPE].get(name, ()) if MODULE_SCOPE in table.defs else ()
        definitions = table.facts.definitions
        kept = [index for index in defs if definitions[index].kind in VALUE_KINDS]
        kept = [index for index in kept if definitions[index].kind is not NodeKind.METHOD]
        if kept:
            return (Class(path, implementations(definitions, kept)[-1]),)
        imports = table.imports[MODULE_SCOPE].get(name, ()) if MODULE_SCOPE in table.imports else ()
        return tuple(value for index in imports for value in self.imported_symbol(path, table.facts.imports[index]))

    def _exported_symbol(self, path: str, name: str) -> Values:
        table = self.table(path)
        self.world.record("name", path, MODULE_STARS)
        found: list[Value] = []
        for index in table.exports.get(name, ()):
            export = table.facts.exports[index]
            if export.module:
                modules = self.module(path, export.module)
                local = export.local or name
                found += modules if local == "*" else [v for m in modules for v in self.defined(m, local)]
            elif export.local:
                self.world.record("name", path, export.local)
                found += self._symbol(path, export.local) or self._types_in(path, MODULE_SCOPE, export.local)
            else:
                held = self.value(path, export.value)
                found += [Class(v.path, v.index) for v in held if isinstance(v, (Func, Class))]
        if not found:
            for index in table.exports.get("*", ()):
                modules = self.module(path, table.facts.exports[index].module)
                found += [value for module in modules for value in self.defined(module, name)]
        return tuple(found)
