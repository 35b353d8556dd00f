"""Names, members, imports and types: what they mean, across files."""

from __future__ import annotations

from ctxsearch.graph.facts import MODULE_SCOPE, Assign, Import, ParamKind, Type
from ctxsearch.graph.model import CALLABLE_KINDS, NodeFlag, NodeKind
from ctxsearch.graph.resolve.hooks import Hooks
from ctxsearch.graph.resolve.memo import MAX_DEPTH
from ctxsearch.graph.resolve.surface import MODULE_STARS
from ctxsearch.graph.resolve.tables import CLASS_LIKE, FileTable
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
    Value,
    Values,
)

MAX_BASES = 64  # parents of one class: interfaces and mixins can be many


class Lookups(Hooks):
    """Lexical scope, class hierarchies, modules and declared types."""

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
        for scope in self.table(path).stars:
            found = self.from_scope_stars(path, scope, name)
            if found is not None:
                return found
        return None

    def from_scope_stars(self, path: str, scope: int, name: str) -> Values | None:
        """The same for the star imports of one scope."""
        table = self.table(path)
        for index in table.stars.get(scope, ()):
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
                found += self.base_classes(path, index, base) or EXTERNAL
            return tuple(found)

        return self._guarded(path, ("bases", path, index), compute, MAX_BASES)

    def base_classes(self, path: str, index: int, base: Type) -> Values:
        """The classes that a parent's name means where the class is written."""
        return self.type_classes(path, self.table(path).facts.definitions[index].parent, base)

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


def _declared(table: FileTable, places: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Where a variable keeps its type: what a declaration says; without one the name belongs to a scope further out."""
    assigns = table.facts.assigns
    declaring = [place for place in places if place[1] != 0 or assigns[place[2]].declares]
    typed = [place for place in declaring if place[1] != 0 or assigns[place[2]].type is not None]
    return typed or (places if declaring else [])
