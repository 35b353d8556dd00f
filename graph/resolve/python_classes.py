"""Python's classes: ancestors, members, descriptors, decorated functions, and instances of declared types."""

from __future__ import annotations

from collections.abc import Iterable

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Definition, Expr, ParamKind, Type
from ctxsearch.graph.model import CALLABLE_KINDS, NodeFlag, NodeKind
from ctxsearch.graph.resolve.python_containers import NONE, PythonContainers
from ctxsearch.graph.resolve.python_library import TRANSPARENT_TYPES
from ctxsearch.graph.resolve.tables import FileTable
from ctxsearch.graph.resolve.values import (
    EXTERNAL,
    SYMBOLIC,
    UNKNOWN,
    Arg,
    Box,
    Class,
    Coll,
    Ext,
    Func,
    Gen,
    Inst,
    Method,
    Module,
    Sym,
    Value,
    Values,
)

MAX_ANCESTORS = 1000  # of one class


class PythonClasses(PythonContainers):
    """What classes and their instances have, in the order that the language looks for it."""

    def eval_member(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        base = self.table(path).facts.exprs[expr.base]
        if base.op is ops.SUPER:
            return self._super_member(path, base, expr.name)
        return self.members(self.value(path, expr.base), expr.name)

    def _super_member(self, path: str, expr: Expr, name: str) -> Values:
        """Through the ancestors after the class; `object` and unknown parents are outside."""
        owner = self.table(path).enclosing_class(expr.scope)
        named = self.value(path, expr.base) if expr.base >= 0 else UNKNOWN
        if named and isinstance(named[0], Class):
            start: tuple[str, int] = (named[0].path, named[0].index)
        elif owner >= 0:
            start = (path, owner)
        else:
            return UNKNOWN
        for ancestor in self.ancestry(*start)[1:]:
            if isinstance(ancestor, Class):
                found = self.own_member(ancestor.path, ancestor.index, name, None)
                if found is not None:
                    return found
        return EXTERNAL

    def new_classes(self, path: str, expr: Expr) -> Values:
        """`raise X`: X is a class, or an instance that exists already."""
        found = self.value(path, expr.base)
        return tuple(value for value in found if isinstance(value, Class)) or EXTERNAL

    # -- ancestors

    def ancestry(self, path: str, index: int) -> list[Class | Ext]:
        """The method resolution order (C3); depth first where a hierarchy has none."""
        found = self._guarded(path, ("mro", path, index), lambda: self._order(path, index), MAX_ANCESTORS)
        return [owner for owner in found if isinstance(owner, (Class, Ext))]

    def _order(self, path: str, index: int) -> Values:
        return tuple(self._linear(Class(path, index), ()) or super().ancestry(path, index))

    def _linear(self, owner: Class, below: tuple[Class, ...]) -> list[Class | Ext]:
        if owner in below or len(below) > 30:
            return []
        parents = [
            Class(base.path, base.index) if isinstance(base, Class) else base
            for base in self.bases(owner.path, owner.index)
            if isinstance(base, (Class, Ext))
        ]
        if not parents:
            return [owner]
        lists: list[list[Class | Ext]] = [
            self._linear(parent, (*below, owner)) if isinstance(parent, Class) else [parent] for parent in parents
        ]
        return [owner, *_merge([*lists, list(dict.fromkeys(parents))])]

    def type_classes(self, path: str, scope: int, declared: Type) -> Values:
        made_by = _made_by(declared)
        return self._called_base(path, scope, made_by) if made_by >= 0 else super().type_classes(path, scope, declared)

    def bases(self, path: str, index: int) -> Values:
        definition = self.definition(path, index)
        if all(_made_by(base) < 0 for base in definition.bases):
            return super().bases(path, index)

        def compute() -> Values:
            found: list[Value] = []
            for base in definition.bases:
                if _made_by(base) >= 0:
                    found += self._called_base(path, index, _made_by(base)) or EXTERNAL
                else:
                    found += self.type_classes(path, definition.parent, base) or EXTERNAL
            return tuple(found)

        return self._guarded(path, ("bases", path, index), compute)

    def _called_base(self, path: str, owner: int, decorator: int) -> Values:
        """A base made by a call: what the call returns, or what `with_metaclass(M, Base)` is given."""
        facts = self.table(path).facts
        decorators = facts.definitions[owner].decorators if owner >= 0 else ()
        if decorator >= len(decorators):
            return EXTERNAL
        call = facts.exprs[decorators[decorator]].base
        returned = tuple(value for value in self.value(path, call) if isinstance(value, Class))
        if returned:
            return returned
        args = facts.exprs[call].args[1:] if facts.exprs[call].op is ops.CALL else ()
        given = tuple(value for arg in args for value in self.value(path, arg) if isinstance(value, Class))
        return given or EXTERNAL

    # -- members

    def may_have_members(self, outside: Ext) -> bool:
        """`class A(object)` has what every class has, which `_class_member` knows."""
        return outside.name not in _PLAIN_BASES

    def _member(self, path: str, index: int, name: str, seen_as: Inst | Class | None) -> Values:
        """A field that a class only sets to None is what its ancestors keep in the same field of the same instance."""
        found = super()._member(path, index, name, seen_as)
        if not found or any(value != NONE for value in found):
            return found
        kept = (self._kept(owner, name) for owner in self.ancestry(path, index) if isinstance(owner, Class))
        return next((values for values in kept if any(value != NONE for value in values)), found)

    def _kept(self, owner: Class, name: str) -> Values:
        """What a class itself keeps under a name, unless that is a method, which a None of a subclass takes away."""
        self.touch(owner.path, owner.index)
        table = self.table(owner.path)
        if owner.index not in table.fields or name not in table.fields[owner.index]:
            return UNKNOWN
        return self.own_member(owner.path, owner.index, name, None) or UNKNOWN

    def own_member(self, path: str, index: int, name: str, seen_as: Inst | Class | None) -> Values | None:  # noqa: ARG002
        self.touch(path, index)
        table = self.table(path)
        if name not in table.member_names(index):
            return self._given_member(path, index, name) if name in table.given_names() else None
        definitions = table.facts.definitions
        methods = [
            item
            for item in (table.defs[index].get(name, ()) if index in table.defs else ())
            if definitions[item].kind not in (NodeKind.VARIABLE, NodeKind.TYPE_ALIAS)
        ]
        fields = list(table.fields[index].get(name, ())) if index in table.fields else []
        binds = list(table.binds[index].get(name, ())) if index in table.binds else []
        imports = table.imports[index].get(name, ()) if index in table.imports else ()
        if not (methods or fields or binds or imports):
            return self._given_member(path, index, name)

        def compute() -> Values:
            found = [value for item in self._effective(table, methods) for value in self.member_value(path, item, None)]
            found += [value for item in (*binds, *fields) for value in self.assigned(path, item)]
            found += [value for item in imports for value in self.imported(path, table.facts.imports[item])]
            if name in table.given_names():  # `Class.hook = f`, later, replaces what the class body says
                found += self._given_to(path, index, name, [table.top_name(index)])
            return tuple(value for value in found if value != NONE) or tuple(found)

        return self._guarded(path, ("own", path, index, name), compute)

    def _effective(self, table: FileTable, methods: list[int]) -> list[int]:
        """Of several definitions of one method: not the overload signatures, a property's reader, else the last."""
        definitions = table.facts.definitions
        real = [item for item in methods if not definitions[item].flags & NodeFlag.DECLARATION] or methods
        readers = [item for item in real if definitions[item].flags & NodeFlag.PROPERTY]
        if readers:
            return readers[:1]
        kept: list[int] = []
        for item in reversed(real):
            kept.append(item)
            if definitions[item].block < 0:
                break
        return kept[::-1]

    def _given_member(self, path: str, index: int, name: str) -> Values | None:
        """What the class's own file sets from outside: `Class.name = f`; at home also `instance.name = f`."""
        table = self.table(path)
        at_home = path == self.home and not self._abroad
        found = self._given_to(path, index, name, sorted(table.attributes) if at_home else [table.top_name(index)])
        return tuple(found) or None

    def _given_to(self, path: str, index: int, name: str, roots: list[str]) -> list[Value]:
        table = self.table(path)
        facts = table.facts
        found: list[Value] = []
        for root in roots:
            for assign in table.attributes.get(root, ()):
                target = facts.exprs[facts.assigns[assign].target]
                if target.op is not ops.MEMBER or target.name != name or target.base < 0:
                    continue
                owners = self.value(path, target.base)
                if any(isinstance(o, (Inst, Class)) and (o.path, o.index) == (path, index) for o in owners):
                    found += self.assigned(path, assign)
        return found

    def member(self, base: Value, name: str) -> Values:
        if base == NONE:
            return UNKNOWN  # there is something else when the code gets here
        kind = type(base)
        if kind in _CLASSES:
            return self._class_member(base, name)
        if kind in _CONTAINERS or (isinstance(base, Arg) and self._collects(base)):
            return (Method(base, name),)
        if kind in _SYMBOLS:
            return SYMBOLIC
        if kind is Method:
            return EXTERNAL
        if isinstance(base, Module) and name.startswith("__") and name.endswith("__"):
            return self.module_member(base.path, name) or EXTERNAL
        return super().member(base, name)

    def _class_member(self, base: Value, name: str) -> Values:
        assert isinstance(base, (Inst, Class))
        if name == "__class__":
            return (Class(base.path, base.index),)
        found = self.class_member(base.path, base.index, name, base)
        return EXTERNAL if not found and name in _OBJECT_MEMBERS else found

    def member_value(self, path: str, index: int, seen_as: Inst | Class | None) -> Values:
        """A method that a descriptor class decorates is read like a property: what `__get__` says, else its result."""
        found = super().member_value(path, index, seen_as)
        if self.table(path).facts.definitions[index].kind not in CALLABLE_KINDS:
            return found
        getters = [getter for value in found for getter in self._getters(value)]
        if not getters:
            return found
        read = tuple(value for item in getters for value in self.returned(item.path, item.index))
        known = tuple(value for value in read if type(value) in _READABLE and value not in found)  # read on the class
        return known or self.returned(path, index)

    def _getters(self, value: Value) -> list[Func]:
        if not isinstance(value, Inst):
            return []
        return [item for item in self.class_member(value.path, value.index, "__get__") if isinstance(item, Func)]

    # -- functions

    def function_value(self, path: str, index: int, definition: Definition) -> Values:
        """A function under its name is what its decorators make of it."""
        value: Values = (Func(path, index),)
        for decorator in reversed(definition.decorators):
            value = self._decorated(path, decorator, value) or value
        return value

    def _decorated(self, path: str, decorator: int, value: Values) -> Values:
        """decorator(value), where the decorator is known; an outside one is taken to keep what it is given."""
        found: list[Value] = []
        callees = self.value(path, decorator)
        promised = [callee for callee in callees if isinstance(callee, Coll) and callee.name == "->"]
        if promised:
            return promised[0].args[0]
        for callee in callees:
            if isinstance(callee, Func):
                found += self._applied(callee, value)
            elif isinstance(callee, Inst):
                for item in self.called_instance(callee):
                    found += self._applied(item, value) if isinstance(item, Func) else ()
            elif isinstance(callee, Class):
                found.append(Inst(callee.path, callee.index))
        return tuple(found)

    def _applied(self, callee: Func, value: Values) -> Values:
        """The result of calling a function with one value."""
        definition = self.definition(callee.path, callee.index)
        first = next((i for i, param in enumerate(definition.params) if param.kind is not ParamKind.RECEIVER), -1)
        found: list[Value] = []
        for item in self.returned_to_callers(callee):
            if isinstance(item, Arg) and (item.path, item.index) == (callee.path, callee.index):
                found += value if item.position == first else ()
            else:
                found.append(item)
        return tuple(item for item in found if not isinstance(item, Ext) or item.name)

    def constructor_names(self, value: Class) -> Iterable[str]:  # noqa: ARG002
        return ("__init__",)

    def called_instance(self, value: Inst) -> Values:
        return self.class_member(value.path, value.index, "__call__")

    # -- types

    def type_instances(self, path: str, scope: int, declared: Type) -> Values:
        name = declared.name
        if name == "|":
            return tuple(value for arg in declared.args for value in self.typed(path, scope, arg))
        if name == "()":
            args = tuple(self.typed(path, scope, arg) for arg in declared.args if arg.name)
            return (Coll("tuple", args),) if any(args) else (Ext("tuple"),)
        if name in ("->", "[]", "Any", "object"):
            return UNKNOWN
        found: list[Value] = []
        for value in self.type_classes(path, scope, declared):
            found += self._as_instance(path, scope, declared, value)
        return tuple(found)

    def _as_instance(self, path: str, scope: int, declared: Type, value: Value) -> Values:
        if isinstance(value, Class):
            given = tuple(self.typed(path, scope, arg) for arg in declared.args)
            return (Inst(value.path, value.index, given if any(given) else value.args),)
        if isinstance(value, (Inst, Coll)):
            return (value,)
        if not isinstance(value, Ext):
            return UNKNOWN
        last = value.name.rpartition(".")[2]
        if last in TRANSPARENT_TYPES:
            return UNKNOWN
        if last == "Self":
            owner = self.table(path).enclosing_class(scope)
            return (Inst(path, owner),) if owner >= 0 else UNKNOWN
        if last.endswith("()"):
            return UNKNOWN if "TypeVar" in last or "NewType" in last else EXTERNAL
        if last in ("type", "Type"):
            classes = self.typed(path, scope, declared.args[0]) if declared.args else UNKNOWN
            return tuple(Class(item.path, item.index) for item in classes if isinstance(item, Inst))
        args = tuple(self.typed(path, scope, arg) for arg in declared.args)
        return (Coll(last.lower(), args),) if any(args) else (value,)


def _merge(lists: list[list[Class | Ext]]) -> list[Class | Ext]:
    """C3's merge; what cannot be ordered is taken as it comes."""
    merged: list[Class | Ext] = []
    rest = [list(items) for items in lists if items]
    while rest:
        head = next(
            (items[0] for items in rest if not any(items[0] in other[1:] for other in rest)),
            rest[0][0],
        )
        merged.append(head)
        rest = [[item for item in items if item != head] for items in rest]
        rest = [items for items in rest if items]
    return merged


def _made_by(base: Type) -> int:
    """For a base class that a call makes: which of the class's decorators holds the call; -1 for any other type."""
    written = base.args[0].name if base.name == "()" and len(base.args) == 1 else ""
    return int(written) if written.isdigit() else -1


_MARKERS = ("Generic", "Protocol")
_PLAIN_BASES = frozenset(
    {"object", "builtins.object", "abc.ABC", *(f"{m}.{n}" for m in ("typing", "typing_extensions") for n in _MARKERS)}
)
_READABLE = frozenset({Func, Class, Inst, Coll, Box, Gen})
_CLASSES = frozenset({Inst, Class})
_CONTAINERS = frozenset({Box, Coll, Gen})
_SYMBOLS = frozenset({Arg, Sym})
_OBJECT_MEMBERS = frozenset(dir(object)) | {
    "__dict__",
    "__name__",
    "__qualname__",
    "__module__",
    "__mro__",
    "__subclasses__",
    "mro",
}
