"""Types of declared-type languages: what a type's name means, a class's ancestors, and its type arguments.

A type is a value: an instance of a class with its type arguments, a type parameter (Var), or something external.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from ctxsearch.graph.facts import Definition, Import, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.graph.resolve.evaluate import Evaluator
from ctxsearch.graph.resolve.overloads import simple
from ctxsearch.graph.resolve.surface import MODULE_STARS
from ctxsearch.graph.resolve.tables import CLASS_LIKE, FileTable
from ctxsearch.graph.resolve.values import EXTERNAL, UNKNOWN, Class, Ext, Inst, Package, Value, Values, Var

MAX_ANCESTORS = 400
MAX_NESTED_TYPES = 6  # levels of type arguments that are followed; recursive types are unbounded
WIDE = 10_000  # no limit on how many values a table-like result may have

TypeKey = tuple[str, int, int]  # a type parameter: path, declaring definition, position
Env = dict[TypeKey, Values]
TYPE_LIKE = CLASS_LIKE | {NodeKind.TYPE_ALIAS}


class TypeRules(Evaluator):
    """What types are. A language provides the look-up of names at file level."""

    class_scope_visible = True
    flow_sensitive = False
    root_type = "Object"
    root_members: frozenset[str] = frozenset()  # methods that every object has
    closed_bases: Mapping[str, frozenset[str]] = {}  # library supertypes whose members are all known
    primitives: frozenset[str] = frozenset()

    # -- variables

    def variable_type(self, path: str, index: int) -> Values:
        """A field's or property's type: declared, else that of its initial value."""
        definition = self.definition(path, index)
        if definition.result is not None:
            return self.typed(path, definition.parent, definition.result)

        def compute() -> Values:
            if definition.value >= 0:
                return self.initial(path, definition)
            return tuple(value for expr in definition.returns for value in self.value(path, expr))

        return self._guarded(path, ("v", path, index), compute)

    def initial(self, path: str, definition: Definition) -> Values:
        return self.value(path, definition.value)

    # -- types

    def type_instances(self, path: str, scope: int, declared: Type) -> Values:
        return self._instances(path, scope, declared, 0, self.type_classes)

    def _instances(
        self, path: str, scope: int, declared: Type, level: int, classes: Callable[[str, int, Type], Values]
    ) -> Values:
        if not declared.name or level > MAX_NESTED_TYPES:
            return UNKNOWN
        if declared.name in ("|", "&"):
            return tuple(v for arg in declared.args for v in self._instances(path, scope, arg, level + 1, classes))
        args = tuple(self._instances(path, scope, arg, level + 1, classes) for arg in declared.args)
        if not declared.name[0].isalpha() and declared.name[0] not in "_$":
            return (Ext(declared.name, args),)
        found: list[Value] = []
        for value in classes(path, scope, declared):
            if isinstance(value, Class):
                found.append(Inst(value.path, value.index, args or value.args))
            elif isinstance(value, Ext):
                found.append(Ext(value.name, args or value.args))
            else:
                found.append(value)
        return tuple(found)

    def type_classes(self, path: str, scope: int, declared: Type) -> Values:
        name = declared.name
        if name in self.primitives:
            return (Ext(name),)
        if "." not in name:
            return self.type_name(path, scope, name)
        parts = name.split(".")
        found = self.type_name(path, scope, parts[0])
        if all(isinstance(value, Ext) and "." not in value.name for value in found):
            return self.qualified_type(path, parts) or (Ext(name),)
        return self.nested_types(found, parts[1:])

    def nested_types(self, found: Values, parts: list[str]) -> Values:
        for part in parts:
            found = self._each(found, lambda value, part=part: self.nested_type(value, part))  # type: ignore[misc]
        return found

    def nested_type(self, value: Value, name: str) -> Values:
        if isinstance(value, (Class, Inst)):
            return self.member_type(value.path, value.index, name) or UNKNOWN
        return (Ext(f"{value.name}.{name}"),) if isinstance(value, Ext) else UNKNOWN

    def qualified_type(self, path: str, parts: list[str]) -> Values:
        """A type written with its package."""
        for split in range(len(parts) - 1, 0, -1):
            found = self.package_type(path, ".".join(parts[:split]), parts[split])
            if found:
                return self.nested_types(found, parts[split + 1 :])
        return UNKNOWN

    def type_name(self, path: str, scope: int, name: str) -> Values:
        """A simple type name: type parameters and member types of what is around, then the file's own rules."""
        if scope < 0:
            return self._guarded(path, ("ft", path, name), lambda: self.file_type(path, name))
        return self._guarded(path, ("tn", path, scope, name), lambda: self._type_in(path, scope, name))

    def _type_in(self, path: str, scope: int, name: str) -> Values:
        table = self.table(path)
        definition = table.facts.definitions[scope]
        for place, param in enumerate(definition.type_params):
            if param.name == name:
                return (Var(path, scope, place),)
        if definition.kind in CLASS_LIKE:
            if definition.name == name:
                return (Class(path, scope),)
            found = self.member_type(path, scope, name)
            if found is not None:
                return found
        else:
            for index in table.defs[scope].get(name, ()) if scope in table.defs else ():
                if table.facts.definitions[index].kind in TYPE_LIKE:
                    return self.as_type(path, index)
        return self.type_name(path, definition.parent, name)

    def as_type(self, path: str, index: int) -> Values:
        """A type definition as a class value; an alias is what it stands for."""
        definition = self.definition(path, index)
        if definition.kind is NodeKind.TYPE_ALIAS:
            if definition.result is None:
                return EXTERNAL
            found = self.typed(path, index, definition.result)
            return tuple(Class(v.path, v.index, v.args) if isinstance(v, Inst) else v for v in found)
        return (Class(path, index),)

    def member_type(self, path: str, index: int, name: str) -> Values | None:
        """A type nested in a class or inherited from an ancestor."""
        for ancestor in self.linear(path, index):
            if isinstance(ancestor, Inst):
                for member in self.own_definitions(ancestor, name):
                    if self.definition(*member).kind in TYPE_LIKE:
                        return self.as_type(*member)
        return None

    def own_definitions(self, owner: Inst | Class, name: str) -> Iterator[tuple[str, int]]:
        """A class's own definitions of a name, in all its parts."""
        for path, index in self.parts(owner.path, owner.index):
            self.touch(path, index)
            table = self.table(path)
            for member in table.defs[index].get(name, ()) if index in table.defs else ():
                yield path, member

    def parts(self, path: str, index: int) -> list[tuple[str, int]]:
        """The definitions that make up one class."""
        return [(path, index)]

    def package_type(self, path: str, package: str, name: str) -> Values:
        """A top-level type by its package; of several (modules of one build) the nearest to the asking file."""

        def compute() -> Values:
            found: list[Value] = []
            for place, index in self.world.named(self.language, name, TYPE_LIKE):
                table = self.table(place)
                if table.facts.definitions[index].parent < 0:
                    self.world.record("name", place, MODULE_STARS)
                    if table.facts.package == package:
                        found += self.as_type(place, index)
            return tuple(found)

        return _nearest(self._guarded("", ("pt", package, name), compute, WIDE), path)

    # -- ancestors

    def own_instance(self, path: str, index: int) -> Inst:
        """`this`: an instance whose type arguments are the class's own parameters."""
        params = self.table(path).facts.definitions[index].type_params
        return Inst(path, index, tuple((Var(path, index, place),) for place in range(len(params))))

    def parents(self, path: str, index: int) -> Values:
        """Direct supertypes in terms of the class's own type parameters; an unknown one is external."""

        def compute() -> Values:
            found: list[Value] = []
            for place, part in self.parts(path, index):
                definition = self.definition(place, part)
                for base in (*definition.bases, *definition.implements):
                    found += self._instances(place, part, base, 0, self._header_classes) or EXTERNAL
            return tuple(found)

        return self._guarded(path, ("up", path, index), compute, WIDE)

    def _header_classes(self, path: str, index: int, declared: Type) -> Values:
        """Types in a class's header see its type parameters but not its members."""
        definition = self.table(path).facts.definitions[index]
        for place, param in enumerate(definition.type_params):
            if param.name == declared.name:
                return (Var(path, index, place),)
        return self.type_classes(path, definition.parent, declared)

    def linear(self, path: str, index: int) -> Values:
        """A class and its ancestors in look-up order: the chain of classes, then interfaces, derived before base."""
        return self._guarded(path, ("lin", path, index), lambda: self._linearize(path, index), WIDE)

    def _linearize(self, path: str, index: int) -> Values:
        current = self.own_instance(path, index)
        chain: list[Value] = [current]
        seen: set[object] = {(path, index)}
        roots: list[Value] = []
        while len(chain) < MAX_ANCESTORS:
            above: Value | None = None
            for parent in self.parents_of(current):
                if above is None and self.is_class(parent, current):
                    above = parent
                else:
                    roots.append(parent)
            if above is None or _identity(above) in seen:
                break
            seen.add(_identity(above))
            chain.append(above)
            if not isinstance(above, Inst):
                break
            current = above
        after: list[Value] = []
        for root in reversed(roots):
            self._visit(root, seen, after)
        return (*chain, *reversed(after))

    def _visit(self, value: Value, seen: set[object], after: list[Value]) -> None:
        """Add a type to `after` when its parents are there."""
        if _identity(value) in seen or len(seen) > MAX_ANCESTORS:
            return
        seen.add(_identity(value))
        if isinstance(value, Inst):
            for parent in reversed(self.parents_of(value)):
                self._visit(parent, seen, after)
        after.append(value)

    def is_class(self, parent: Value, child: Inst) -> bool:
        """Whether a supertype is the superclass rather than an interface."""
        if isinstance(parent, Inst):
            return self.definition(parent.path, parent.index).kind is NodeKind.CLASS
        return bool(self.definition(child.path, child.index).bases) and isinstance(parent, Ext)

    def parents_of(self, value: Inst) -> Values:
        return self.apply(self.parents(value.path, value.index), self.env_of(value))

    def superclass(self, path: str, index: int) -> Value:
        found = self.linear(path, index)
        own = self.own_instance(path, index)
        if len(found) > 1 and self.is_class(found[1], own):
            return found[1]
        return Ext(self.root_type)

    def ancestry(self, path: str, index: int) -> list[Class | Ext]:
        return [
            Class(item.path, item.index) if isinstance(item, Inst) else item
            for item in self.linear(path, index)
            if isinstance(item, (Inst, Ext))
        ]

    def bases(self, path: str, index: int) -> Values:
        return tuple(Class(v.path, v.index, v.args) if isinstance(v, Inst) else v for v in self.parents(path, index))

    # -- type arguments

    def env_of(self, value: Inst | Class) -> Env:
        params = self.table(value.path).facts.definitions[value.index].type_params
        if not params or not value.args:
            return {}
        return {(value.path, value.index, place): arg for place, arg in enumerate(value.args[: len(params)])}

    def apply(self, values: Values, env: Env, level: int = 0) -> Values:
        """Values with type parameters replaced by what they stand for."""
        if not env or level > MAX_NESTED_TYPES or not has_var(values):
            return values
        found: list[Value] = []
        for value in values:
            if isinstance(value, Var):
                key = (value.path, value.index, value.position)
                found += env.get(key) or (value,)  # an unknown argument leaves the parameter's bound
            elif isinstance(value, (Inst, Class, Ext)) and value.args:
                args = tuple(self.apply(arg, env, level + 1) for arg in value.args)
                if isinstance(value, Ext):
                    found.append(Ext(value.name, args))
                else:
                    found.append(type(value)(value.path, value.index, args))
            else:
                found.append(value)
        return tuple(found)

    def seen_as(self, value: Inst | Class, path: str, index: int) -> Env:
        """The type arguments of an ancestor class, as an instance's type gives them."""
        if (value.path, value.index) == (path, index):
            return self.env_of(value)
        for ancestor in self.linear(value.path, value.index):
            if isinstance(ancestor, Inst) and (ancestor.path, ancestor.index) == (path, index):
                bound = self.apply((ancestor,), self.env_of(value))
                return self.env_of(bound[0]) if bound and isinstance(bound[0], Inst) else {}
        return {}

    def bounds(self, var: Var) -> Values:
        """What a type parameter is at least; external when nothing is said."""
        definition = self.definition(var.path, var.index)
        param = definition.type_params[var.position]
        if param.type is None:
            return (Ext(self.root_type),)
        return self.typed(var.path, var.index, param.type) or EXTERNAL

    # -- fields

    def member(self, base: Value, name: str) -> Values:
        """base.name that is not called."""
        if isinstance(base, (Inst, Class)):
            found = self.field(base, name)
            if found is not None:
                return found
            nested = self.member_type(base.path, base.index, name) if isinstance(base, Class) else None
            if nested is not None:
                return nested
            return EXTERNAL if self.open_ended(base.path, base.index, name) else UNKNOWN
        if isinstance(base, Var):
            return self._each(self.bounds(base), lambda bound: self.member(bound, name))
        if isinstance(base, Package):
            return self.package_member(base, name)
        if isinstance(base, Ext):
            return self.external_member(base, name)
        return UNKNOWN

    def external_member(self, base: Ext, name: str) -> Values:
        if base.name == "[]" and name in ("length", "Length", "size"):
            return (Ext("int"),)
        return (Ext(f"{base.name}.{name}" if base.name else "", base.args),)

    def package_member(self, package: Package, name: str) -> Values:
        found = self.package_type("", package.name, name)
        if found:
            return found
        full = f"{package.name}.{name}"
        return (Ext(full),) if name[:1].isupper() else (Package(full),)

    def field(self, base: Inst | Class, name: str) -> Values | None:
        """A field or property through the ancestors; None when none of them is known to have it."""
        for ancestor in self.linear(base.path, base.index):
            if not isinstance(ancestor, Inst):
                continue
            for path, index in self.own_definitions(ancestor, name):
                definition = self.definition(path, index)
                if definition.kind is NodeKind.VARIABLE or definition.flags & NodeFlag.PROPERTY:
                    env = self.seen_as(base, ancestor.path, ancestor.index)
                    return self.apply(self.variable_type(path, index), env)
        return None

    def inherits(self, path: str, index: int, name: str) -> bool:
        """Whether a library ancestor of a class is known to define a member."""
        return any(
            name in self.closed_bases.get(simple(ancestor.name), ())
            for ancestor in self.linear(path, index)
            if isinstance(ancestor, Ext)
        )

    def open_ended(self, path: str, index: int, name: str) -> bool:
        """Whether a library ancestor of a class may define a member."""
        for ancestor in self.linear(path, index):
            if isinstance(ancestor, Ext):
                known = self.closed_bases.get(simple(ancestor.name))
                if known is None or name in known:
                    return True
        return False

    # -- items

    def element(self, base: Value) -> Values:
        """One item of an array or of something iterable."""
        if isinstance(base, Ext):
            if base.name == "[]" or (len(base.args) == 1):
                return base.args[0] if base.args else EXTERNAL
            return EXTERNAL
        if isinstance(base, Inst):
            for ancestor in self.linear(base.path, base.index):
                if isinstance(ancestor, Ext) and len(ancestor.args) == 1:
                    bound = self.apply((ancestor,), self.env_of(base))[0]
                    if isinstance(bound, Ext):
                        return bound.args[0] or EXTERNAL
        if isinstance(base, Var):
            return self._each(self.bounds(base), self.element)
        return UNKNOWN

    def item(self, base: Value, key: str | None) -> Values:  # noqa: ARG002
        if isinstance(base, Ext) and base.name == "[]":
            return base.args[0] if base.args else EXTERNAL
        return EXTERNAL if isinstance(base, Ext) else UNKNOWN

    # -- hooks for languages

    def file_type(self, path: str, name: str) -> Values:
        """A simple type name at file level: imports, the file, its package, the library."""
        raise NotImplementedError

    def read_names(self, path: str, name: str) -> FileTable:
        """A file's table, with the record that its imports and top-level names were read."""
        self.world.record("name", path, name)
        self.world.record("name", path, MODULE_STARS)
        return self.table(path)

    def imported_type(self, path: str, item: Import) -> Values:
        """The type a single import names; external when it is not in the repository."""
        found = self.qualified_type(path, [*item.module.split("."), item.name])
        return found or (Ext(f"{item.module}.{item.name}"),)

    def import_values(self, path: str, item: Import) -> Values:
        return UNKNOWN if item.name == "*" else self.imported_type(path, item)

    def import_modules(self, path: str, item: Import) -> Values:  # noqa: ARG002
        return UNKNOWN


def _nearest(values: Values, path: str) -> Values:
    """The class whose file shares most of its folders with `path`; the first of equals."""
    if len(values) < 2:
        return values
    folders = path.split("/")[:-1]

    def shared(value: Value) -> int:
        count = 0
        for mine, theirs in zip(folders, value.path.split("/") if isinstance(value, Class) else (), strict=False):
            if mine != theirs:
                break
            count += 1
        return count

    return (max(values, key=shared),)


def _identity(value: Value) -> object:
    return (value.path, value.index) if isinstance(value, Inst) else value


def has_var(values: Values) -> bool:
    for value in values:
        if isinstance(value, Var):
            return True
        if isinstance(value, (Inst, Class, Ext)) and any(has_var(arg) for arg in value.args):
            return True
    return False


def mentions(values: Values, path: str, index: int) -> bool:
    """Whether a definition's own type parameters occur in the values."""
    for value in values:
        if isinstance(value, Var):
            if value.path == path and value.index == index:
                return True
        elif isinstance(value, (Inst, Class, Ext)) and any(mentions(arg, path, index) for arg in value.args):
            return True
    return False
