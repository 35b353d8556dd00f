"""Ruby: constants by nesting and ancestors, classes opened in many files, mixins, methods of objects and of classes.

A class is one thing however often it is opened. A `Class` or `Inst` value names one of its openings; look-ups go
through all of them. Code of tests opens classes for tests only.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxsearch.graph import ops
from ctxsearch.graph.facts import MODULE_SCOPE, Definition, Expr, Import, ParamKind, Type
from ctxsearch.graph.model import CALLABLE_KINDS, NodeFlag, NodeKind
from ctxsearch.graph.resolve.evaluate import Evaluator
from ctxsearch.graph.resolve.ruby_names import CLASS_METHODS, COMMON_METHODS, CORE_CLASSES, KERNEL, OBJECT_METHODS
from ctxsearch.graph.resolve.surface import MODULE_STARS
from ctxsearch.graph.resolve.tables import CLASS_LIKE
from ctxsearch.graph.resolve.values import EXTERNAL, UNKNOWN, Class, Ext, Func, Inst, Module, Value, Values

_WIDE = 100_000  # openings and ancestors: as many as there are
_TEST = int(NodeFlag.TEST)
_MIN_GUESS = 4  # shorter names are unique by accident
_METHODS = frozenset({NodeKind.METHOD, NodeKind.CONSTRUCTOR})
_FUNCTIONS = frozenset({NodeKind.FUNCTION})
_VARIABLES = frozenset({NodeKind.VARIABLE})


class RubyEvaluator(Evaluator):
    """Ruby's rules."""

    language = "ruby"
    guesses_after_flow = True

    # -- names

    def eval_name(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        if expr.text == "const":
            return self.constant(path, expr.scope, expr.name)
        if expr.text == "call":
            return self.own_method(path, expr.scope, expr.name, expr.at)
        scope = expr.scope
        if scope < 0:
            return self.bound(path, scope, expr.name, expr.at) or UNKNOWN
        return self.in_function(path, scope, expr.name, expr.at) or UNKNOWN

    def own_method(self, path: str, scope: int, name: str, at: int) -> Values:
        """A call without a receiver: a method of self, else one defined outside every class."""
        this = self._self(path, scope)
        found = self.member(this, name) if this is not None else UNKNOWN
        if found and not all(isinstance(value, Ext) for value in found):
            return found
        if name in KERNEL:
            return (Ext(name),)
        return self._in_block(path, name, at) or self._top_level(path, name, near=bool(found)) or found

    def _in_block(self, path: str, name: str, at: int) -> Values:
        """Of several methods that blocks of a file define under one name, as test groups do, the innermost around."""
        table = self.table(path)
        own = table.defs[MODULE_SCOPE].get(name, ()) if MODULE_SCOPE in table.defs else ()
        if len(own) < 2:
            return UNKNOWN
        definitions = table.facts.definitions
        around = [index for index in own if definitions[index].start <= at < definitions[index].block]
        if not around:
            return UNKNOWN
        return (Func(path, min(around, key=lambda index: (definitions[index].block, -index))),)

    def _top_level(self, path: str, name: str, *, near: bool) -> Values:
        """A method defined outside every class: this file's, else the only one that this file can see."""
        return self._guarded(path, ("top", path, name, near), lambda: self._find_top_level(path, name, near=near))

    def _find_top_level(self, path: str, name: str, *, near: bool) -> Values:
        found = self.world.named(self.language, name, _FUNCTIONS)
        own = [item for item in found if item[0] == path]
        free = [item for item in own if self.definition(*item).block < 0]
        if len(own) > 1 and not free:
            return UNKNOWN  # each belongs to a block of its own, and the call stands in none of them
        if own or near:
            return tuple(Func(*item) for item in (free or own)[-1:])
        seen = [item for item in found if self.definition(*item).block < 0]  # in a block: a test group's own
        required = self._required(path) if any(self._is_test(place) for place, _ in seen) or len(seen) > 1 else set()
        seen = [item for item in seen if item[0] in required] or [item for item in seen if not self._is_test(item[0])]
        return (Func(*seen[0]),) if len(seen) == 1 else UNKNOWN

    def _required(self, path: str) -> set[str]:
        """The files that a file requires itself."""
        return {
            value.path
            for item in self.table(path).facts.imports
            if item.kind.startswith("require")
            for value in self.import_modules(path, item)
            if isinstance(value, Module)
        }

    def _is_test(self, path: str) -> bool:
        self.record_name(path, MODULE_STARS)
        return bool(self.world.flags(path) & _TEST)

    def _sees(self, path: str, other: str) -> bool:
        """What a test defines is there for tests only."""
        return path == other or not self._is_test(other) or self._is_test(path)

    # -- constants

    def constant(self, path: str, scope: int, name: str, *, inherited: bool = True) -> Values:
        """A constant as seen in a scope; external when the repository has none."""
        key = ("const", path, self.table(path).enclosing_class(scope), name, inherited)
        return self._guarded(path, key, lambda: self._constant(path, scope, name, inherited=inherited))

    def _constant(self, path: str, scope: int, name: str, *, inherited: bool) -> Values:
        found = self._constant_places(path, scope, name, inherited=inherited)
        if not found:
            return (Ext(name.lstrip(".")),)
        place, index = found
        definition = self.definition(place, index)
        if definition.kind in CLASS_LIKE:
            return (Class(place, index),)
        return self.value(place, definition.value)

    def _constant_places(self, path: str, scope: int, name: str, *, inherited: bool) -> tuple[str, int] | None:
        """The definition that a constant's name means: nesting, then ancestors, then the top level."""
        head, *rest = name.lstrip(".").split(".")
        found = None
        if not name.startswith("."):
            found = self._nested(path, scope, head, inherited=inherited)
        found = found or self._defined_as(path, head)
        for part in rest:
            if found is None or self.definition(*found).kind not in CLASS_LIKE:
                return None
            found = self._within(path, found, part, inherited=True)
        return found

    def _nested(self, path: str, scope: int, head: str, *, inherited: bool) -> tuple[str, int] | None:
        table = self.table(path)
        owner = innermost = table.enclosing_class(scope)
        while owner >= 0:
            found = self._within(path, (path, owner), head, inherited=False)
            if found is not None:
                return found
            owner = table.enclosing_class(table.facts.definitions[owner].parent)
        if innermost >= 0 and inherited:
            return self._within(path, (path, innermost), head, inherited=True)
        return None

    def _within(self, path: str, owner: tuple[str, int], name: str, *, inherited: bool) -> tuple[str, int] | None:
        """A constant of a class or module, or of what it inherits from."""
        found = self._defined_as(path, f"{self.definition(*owner).qualified_name}.{name}")
        if found is not None or not inherited:
            return found
        for ancestor in self.ancestry(*owner):
            if isinstance(ancestor, Class):
                full = self.definition(ancestor.path, ancestor.index).qualified_name
                found = self._defined_as(path, f"{full}.{name}")
                if found is not None:
                    return found
        return None

    def _defined_as(self, path: str, full: str) -> tuple[str, int] | None:
        """The definition of a full name that counts for a file: a class's main opening, or a constant's value."""
        found = self._guarded(path, ("as", path, full), lambda: self._find_defined(path, full))
        return (found[0].path, found[0].index) if found and isinstance(found[0], Class) else None

    def _find_defined(self, path: str, full: str) -> Values:
        openings = self._openings(path, full)
        if openings:
            return (openings[0],)
        owner, _, name = full.rpartition(".")
        if owner:
            return self._constant_of(path, owner, name)
        values = [
            (place, index)
            for place, index in self.world.named(self.language, name, _VARIABLES)
            if self._sees(path, place)
        ]
        own = [item for item in values if item[0] == path]
        chosen = own[0] if own else values[0] if len(values) == 1 else None
        return (Class(*chosen),) if chosen is not None else UNKNOWN

    def _constant_of(self, path: str, owner: str, name: str) -> Values:
        for opening in self._openings(path, owner):
            self.touch(opening.path, opening.index)
            table = self.table(opening.path)
            for index in table.defs.get(opening.index, {}).get(name, ()):
                if table.facts.definitions[index].kind is NodeKind.VARIABLE:
                    return (Class(opening.path, index),)
        return UNKNOWN

    def _openings(self, path: str, full: str) -> list[Class]:
        """All openings of a class that a file can see; the first is this file's own, else the one that says most."""
        tests = self._is_test(path)
        found = self._guarded("", ("open", full, tests), lambda: self._all_openings(full, tests=tests), _WIDE)
        seen = [item for item in found if isinstance(item, Class)]
        if len(seen) > 1 and seen[0].path != path:
            seen.sort(key=lambda item: item.path != path)
        return seen

    def _all_openings(self, full: str, *, tests: bool) -> Values:
        found: list[tuple[bool, bool, int, Class]] = []
        for place, index in self._opened(full):
            in_test = self._is_test(place)
            if tests or not in_test:
                definition = self.definition(place, index)
                size = len(self.table(place).children.get(index, ()))
                found.append((in_test, not definition.bases, -size, Class(place, index)))
        ordered = sorted(found, key=lambda item: (*item[:3], item[3].path, item[3].index))
        return tuple(item for _, _, _, item in ordered)

    def _opened(self, full: str) -> list[tuple[str, int]]:
        """Where classes of a full name are opened."""
        around, _, name = full.rpartition(".")
        found = []
        for place, index in self.world.named_in(self.language, around.rpartition(".")[2], name):
            definition = self.table(place).facts.definitions[index]
            if definition.kind in CLASS_LIKE and definition.qualified_name == full:
                found.append((place, index))
        return found

    def type_classes(self, path: str, scope: int, declared: Type) -> Values:
        if declared.name in ("self", ""):
            return UNKNOWN
        found = self.constant(path, scope, declared.name, inherited=False)
        return tuple(value for value in found if isinstance(value, (Class, Ext)))

    def reference(self, path: str, expr: int) -> Values:
        item = self.table(path).facts.exprs[expr]
        if item.text != "const":
            return UNKNOWN
        found = self._constant_places(path, item.scope, item.name, inherited=True)
        return (Class(*found),) if found is not None else UNKNOWN

    # -- self

    def _self(self, path: str, scope: int) -> Inst | Class | None:
        """What self is: an object in a method, the class in its body and its own methods."""
        table = self.table(path)
        owner = table.enclosing_class(scope)
        if owner < 0:
            return None
        definition = table.facts.definitions[scope]
        if definition.kind in CALLABLE_KINDS and not definition.flags & NodeFlag.STATIC:
            return Inst(path, owner)
        return Class(path, owner)

    def eval_this(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        this = self._self(path, expr.scope)
        return (this,) if this is not None else UNKNOWN

    def eval_literal(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        """A string, number ...: of the core class, which the repository may have opened."""
        opened = self._defined_as(path, expr.name) if expr.name in CORE_CLASSES else None
        return (Inst(*opened),) if opened is not None else (Ext(expr.name),)

    def eval_receiver_class(self, path: str, index: int, expr: Expr) -> Values:
        if expr.base < 0:
            return super().eval_receiver_class(path, index, expr)
        values = self.value(path, expr.base)
        return tuple(
            Class(value.path, value.index) if isinstance(value, Inst) else Ext("Class")
            for value in values
            if isinstance(value, (Inst, Class, Ext))
        )

    def eval_callable(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        """The method that an alias stands for."""
        owner = self.table(path).enclosing_class(expr.scope)
        return self.class_member(path, owner, expr.name, Inst(path, owner)) if owner >= 0 else UNKNOWN

    def eval_member(self, path: str, index: int, expr: Expr) -> Values:
        base = self.table(path).facts.exprs[expr.base] if expr.base >= 0 else None
        if base is not None and base.op is ops.SUPER:
            return self._super_method(path, expr)
        return super().eval_member(path, index, expr)

    def _super_method(self, path: str, expr: Expr) -> Values:
        this = self._self(path, expr.scope)
        if this is None:
            return UNKNOWN
        own = self.definition(this.path, this.index).qualified_name
        order = self._class_side(this) if isinstance(this, Class) else self._object_side(this)
        past, outside = False, False
        for owner, as_class in order:
            if isinstance(owner, Ext):
                outside = True
            elif self.definition(owner.path, owner.index).qualified_name == own and not (
                isinstance(this, Class) and not as_class
            ):
                past = True
            elif past:
                found = self._own_methods(owner, expr.name, as_class=as_class)
                if found:
                    return found
        return EXTERNAL if outside or not self._is_module(this) else UNKNOWN

    def _is_module(self, this: Inst | Class) -> bool:
        return self.definition(this.path, this.index).kind is NodeKind.INTERFACE

    # -- members

    def class_member(self, path: str, index: int, name: str, seen_as: Inst | Class | None = None) -> Values:
        this = seen_as if seen_as is not None else Inst(path, index)
        key = ("cm", path, index, name, isinstance(this, Class))
        return self._guarded(path, key, lambda: self._find_member(path, index, name, this))

    def _find_member(self, path: str, index: int, name: str, this: Inst | Class) -> Values:
        if name[:1].isupper() and isinstance(this, Class):
            found = self._within(path, (path, index), name, inherited=True)
            if found is not None:
                place = self.definition(*found)
                return (Class(*found),) if place.kind in CLASS_LIKE else self.value(found[0], place.value)
        order = self._class_side(this) if isinstance(this, Class) else self._object_side(this)
        outside = False
        for owner, as_class in order:
            if isinstance(owner, Ext):
                outside = True
                continue
            found_here = self._own_methods(owner, name, as_class=as_class)
            if found_here:
                return found_here
        if name in OBJECT_METHODS or (isinstance(this, Class) and name in CLASS_METHODS):
            return (Ext(f"Object.{name}"),)
        return EXTERNAL if outside else UNKNOWN

    def _own_methods(self, owner: Class, name: str, *, as_class: bool) -> Values:
        """A method or field that one opening defines, for objects or for the class itself."""
        self.touch(owner.path, owner.index)
        table = self.table(owner.path)
        defs = table.defs.get(owner.index, {}).get(name, ())
        definitions = table.facts.definitions
        found = [
            index
            for index in defs
            if definitions[index].kind in _METHODS and _on_side(definitions[index], as_class=as_class)
        ]
        if found:
            return (Func(owner.path, found[-1]),)
        fields = table.fields.get(owner.index, {}).get(name, ())
        if not fields or (as_class and not name.startswith("@")):
            return UNKNOWN
        path = owner.path
        return self._guarded(
            path, ("field", path, owner.index, name), lambda: tuple(v for f in fields for v in self.assigned(path, f))
        )

    def _object_side(self, this: Inst | Class) -> Iterator[tuple[Class | Ext, bool]]:
        for owner in self.ancestry(this.path, this.index):
            yield owner, False

    def _class_side(self, this: Class) -> Iterator[tuple[Class | Ext, bool]]:
        """Where a class's own methods are: its singleton methods, what it is extended by, then its parents'."""
        for owner in self.ancestry(this.path, this.index):
            if isinstance(owner, Ext):
                yield owner, True
                continue
            definition = self.definition(owner.path, owner.index)
            is_self = definition.qualified_name == self.definition(this.path, this.index).qualified_name
            if definition.kind is NodeKind.CLASS or is_self:
                yield owner, True
                yield from self._extended(owner)
            else:
                concern = self._defined_as(owner.path, f"{definition.qualified_name}.ClassMethods")
                if concern is not None:
                    for inner in self.ancestry(*concern):
                        yield inner, False

    def _extended(self, owner: Class) -> Iterator[tuple[Class | Ext, bool]]:
        for item in reversed(self.table(owner.path).facts.imports):
            if item.scope != owner.index or item.kind != "extend":
                continue
            if item.module == "self":
                yield owner, False
                continue
            for value in self.constant(owner.path, item.scope, item.module, inherited=False):
                if isinstance(value, Class):
                    for inner in self.ancestry(value.path, value.index):
                        yield inner, False
                elif isinstance(value, Ext) and not _adds_nothing(value):
                    yield value, False

    def ancestry(self, path: str, index: int) -> list[Class | Ext]:
        found = self._guarded(path, ("mro", path, index), lambda: tuple(self._ancestors(path, index)), _WIDE)
        return [item for item in found if isinstance(item, (Class, Ext))] or [Class(path, index)]

    def _ancestors(self, path: str, index: int) -> list[Class | Ext]:
        """Prepended modules, the openings, included modules from the last, then the parent's ancestors."""
        openings = self._openings(path, self.definition(path, index).qualified_name) or [Class(path, index)]
        before: list[Class | Ext] = []
        mixed: list[Class | Ext] = []
        parents: list[Class | Ext] = []
        for opening in openings:
            place, scope = opening.path, opening.index
            for item in self.table(place).facts.imports:
                if item.scope == scope and item.kind == "prepend":
                    before += self._lineage(self.constant(place, scope, item.module, inherited=False))
            definition = self.definition(place, scope)
            for module in reversed(definition.implements):
                mixed += self._lineage(self.constant(place, scope, module.name, inherited=False))
            for base in definition.bases:
                parents += self._lineage(self.constant(place, definition.parent, base.name, inherited=False))
        name = self.definition(path, index).qualified_name
        core: list[Class | Ext] = [Ext(name)] if name in CORE_CLASSES else []
        return list(dict.fromkeys([*before, *openings, *mixed, *parents, *core]))

    def _lineage(self, values: Values) -> list[Class | Ext]:
        found: list[Class | Ext] = []
        for value in values:
            if isinstance(value, Class):
                found += self.ancestry(value.path, value.index)
            elif isinstance(value, Ext) and not _adds_nothing(value):
                found.append(value)
        return found

    # -- calls

    def call_result(self, callee: Value, path: str, index: int) -> Values:
        if isinstance(callee, Func):
            exprs = self.table(callee.path).facts.exprs
            returns = self.definition(callee.path, callee.index).returns
            if returns and all(exprs[item].op is ops.THIS for item in returns):
                return self._receivers(path, index)
        return super().call_result(callee, path, index)

    def _receivers(self, path: str, call: int) -> Values:
        exprs = self.table(path).facts.exprs
        callee = exprs[exprs[call].base]
        if callee.op is ops.MEMBER and exprs[callee.base].op is not ops.SUPER:
            return tuple(item for item in self.value(path, callee.base) if isinstance(item, (Inst, Class)))
        this = self._self(path, exprs[call].scope)
        return (this,) if this is not None else UNKNOWN

    def constructors(self, value: Class) -> Values:
        own = self.class_member(value.path, value.index, "new", value)
        made = tuple(item for item in own if isinstance(item, Func))
        if made:
            return made
        found = self.class_member(value.path, value.index, "initialize", Inst(value.path, value.index))
        return tuple(item for item in found if isinstance(item, Func))

    def element(self, base: Value) -> Values:
        return UNKNOWN if isinstance(base, Inst) else super().element(base)

    # -- guesses

    def guess(self, path: str, index: int, expr: Expr) -> list[tuple[str, int]]:  # noqa: ARG002
        """A method of an unknown receiver: the only one of that name, unless libraries have such a name too."""
        if expr.op is not ops.CALL or expr.base < 0:
            return []
        callee = self.table(path).facts.exprs[expr.base]
        name = callee.name
        if len(name) < _MIN_GUESS or name in COMMON_METHODS or name.rstrip("=") in COMMON_METHODS:
            return []
        if callee.op is ops.MEMBER and not name.startswith("@"):
            receivers = self.value(path, callee.base)
        elif callee.op is ops.NAME and callee.text == "call":
            this = self._self(path, callee.scope)
            receivers = (this,) if this is not None else UNKNOWN
            if this is None:
                return []
        else:
            return []
        found = self.world.named(self.language, name, _METHODS)
        if len(found) != 1 or not self._fits(path, found[0], expr):
            return []
        if not receivers and self.definition(*found[0]).flags & NodeFlag.STATIC:
            return []  # whoever calls a class's own method nearly always names the class
        return found if all(self._may_have(value, found[0]) for value in receivers) else []

    def _may_have(self, receiver: Value, method: tuple[str, int]) -> bool:
        """A known receiver has a method of a subclass at most, a module those of its hosts and their other modules."""
        if not isinstance(receiver, (Inst, Class)):
            return False
        static = bool(self.definition(*method).flags & NodeFlag.STATIC)
        if static != isinstance(receiver, Class):
            return False
        owner = self.definition(*method).parent
        if self._is_module(receiver) and self.definition(method[0], owner).kind is NodeKind.INTERFACE:
            return not self._extends_itself(method[0], owner)
        own = self.definition(receiver.path, receiver.index).qualified_name
        return any(
            isinstance(item, Class) and self.definition(item.path, item.index).qualified_name == own
            for item in self.ancestry(method[0], owner)
        )

    def _extends_itself(self, path: str, owner: int) -> bool:
        """A module whose methods are called on itself is a tool box, hardly a part of somebody's self."""
        self.touch(path, owner)
        imports = self.table(path).facts.imports
        return any(item.scope == owner and item.module == "self" and item.kind == "extend" for item in imports)

    def _fits(self, path: str, method: tuple[str, int], expr: Expr) -> bool:
        definition = self.definition(*method)
        return self._sees(path, method[0]) and _takes(definition, self.table(path).facts.exprs, expr)

    # -- files

    def import_modules(self, path: str, item: Import) -> Values:
        if item.kind in ("extend", "prepend"):
            return UNKNOWN if item.module == "self" else self.constant(path, item.scope, item.module, inherited=False)
        name = item.module if item.module.endswith(".rb") else f"{item.module}.rb"
        if item.kind == "require_relative":
            place = _normal(f"{path.rpartition('/')[0]}/{name}")
            return (Module(place),) if self.world.exists(place) else EXTERNAL
        wanted = _normal(name)
        found = [
            place
            for place in self.world.with_basename(wanted.rpartition("/")[2])
            if place == wanted or place.endswith(f"/lib/{wanted}") or place == f"lib/{wanted}"
        ]
        return (Module(found[0]),) if len(found) == 1 else EXTERNAL

    def module_name(self, path: str) -> str:
        return path.removesuffix(".rb")

    def qualified(self, module: str, definition: Definition) -> str:  # noqa: ARG002
        return definition.qualified_name


def _on_side(definition: Definition, *, as_class: bool) -> bool:
    static = bool(definition.flags & NodeFlag.STATIC)
    return static == as_class or (static and bool(definition.flags & NodeFlag.PROPERTY))


_NOTHING_NEW = frozenset({"Object", "BasicObject", "Kernel", "Comparable", "ActiveSupport.Concern", "StandardError"})


def _adds_nothing(value: Ext) -> bool:
    """Libraries' modules and classes whose methods are known by name: a class stays closed with them."""
    return value.name in _NOTHING_NEW


def _takes(definition: Definition, exprs: tuple[Expr, ...], call: Expr) -> bool:
    """Whether a call passes as many arguments as a method can take."""
    given = [exprs[arg] for arg in call.args]
    if any(item.op is ops.SPREAD for item in given):
        return True
    params = definition.params
    if definition.flags & NodeFlag.PROPERTY:
        return "delegat" in definition.signature or len(given) == int(definition.name.endswith("="))
    positional = [param for param in params if param.kind is ParamKind.NORMAL]
    required = sum(param.default < 0 for param in positional)
    open_ended = any(param.kind is ParamKind.VARIADIC for param in params)
    plain = sum(item.op is not ops.KEYWORD for item in given)
    braceless = int(plain < len(given))  # keywords may fill a last positional parameter as a hash
    return required <= plain + braceless and (plain <= len(positional) or open_ended)


def _normal(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


EVALUATOR = RubyEvaluator
