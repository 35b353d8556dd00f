"""Evaluation for class-based languages that declare their types: Java, Kotlin, C#.

A value is the static type of an expression: an instance of a class with its type arguments, a class, a type
parameter, or something external. Names resolve outwards through scopes and the members of enclosing classes, as the
languages define it; a call picks one function among overloads and inherited ones. What a library class may define is
external, never guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from ctxsearch.graph.facts import Definition, Expr, FileFacts, Import, Op, Param, ParamKind, Type
from ctxsearch.graph.model import CALLABLE_KINDS, NodeFlag, NodeKind, Rule
from ctxsearch.graph.resolve.evaluate import Evaluator
from ctxsearch.graph.resolve.library import Library
from ctxsearch.graph.resolve.overloads import NO_MATCH, WEAK, fit, simple, takes
from ctxsearch.graph.resolve.surface import MODULE_STARS
from ctxsearch.graph.resolve.tables import CLASS_LIKE, FileTable
from ctxsearch.graph.resolve.values import EXTERNAL, UNKNOWN, Class, Ext, Func, Inst, Package, Value, Values, Var
from ctxsearch.graph.resolve.world import World

MAX_ANCESTORS = 400
MAX_NESTED_TYPES = 6  # levels of type arguments that are followed; recursive types are unbounded
MIN_UNIQUE_LENGTH = 4  # shorter method names are unique by accident
WIDE = 10_000  # no limit on how many values a table-like result may have

TypeKey = tuple[str, int, int]  # a type parameter: path, declaring definition, position
Env = dict[TypeKey, Values]
TYPE_LIKE = CLASS_LIKE | {NodeKind.TYPE_ALIAS}


@dataclass(slots=True)
class Sites:
    """Where a file's expressions stand: what is called, and what a function literal is given to."""

    facts: FileFacts
    calls: dict[int, int] = field(default_factory=dict)  # callee expression -> its call
    parents: dict[int, tuple[str, int, int]] = field(default_factory=dict)  # expression -> role, owner, position
    literals: dict[int, int] = field(default_factory=dict)  # function definition -> its FUNCTION expression


@dataclass(frozen=True, slots=True)
class Signature:
    """A function type: what it takes and gives."""

    params: tuple[Values, ...]
    result: Values
    receiver: Values = UNKNOWN  # `this` inside a function with receiver


class TypedEvaluator(Evaluator):
    """The shared rules. A language provides file-level name look-up, its library and its extras."""

    class_scope_visible = True
    flow_sensitive = False
    library = Library({}, {}, {}, {})
    root_type = "Object"
    root_members: frozenset[str] = frozenset()  # methods that every object has
    closed_bases: Mapping[str, frozenset[str]] = {}  # library supertypes whose members are all known
    primitives: frozenset[str] = frozenset()
    references_call = False  # a function reference counts as a call of it (by flow); else it is a use

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._sites: dict[str, Sites] = {}

    # -- sites

    def sites(self, path: str) -> Sites:
        facts = self.table(path).facts
        known = self._sites.get(path)
        if known is None or known.facts is not facts:
            known = self._sites[path] = _find_sites(facts)
        return known

    def forget(self) -> None:
        super().forget()
        self._sites.clear()

    # -- expressions

    def eval_name(self, path: str, index: int, expr: Expr) -> Values:
        call = self.sites(path).calls.get(index)
        if call is not None:
            return self.plain_call(path, call, expr)
        if expr.type is not None:
            return self.type_classes(path, expr.scope, expr.type)
        return self.variable(path, expr.scope, expr.name, expr.at)

    def eval_member(self, path: str, index: int, expr: Expr) -> Values:
        bases = self.value(path, expr.base)
        call = self.sites(path).calls.get(index)
        if call is None:
            return self._each(bases, lambda base: self.member(base, expr.name))
        return self._each(bases, lambda base: self.method_call(base, expr.name, path, call))

    def eval_this(self, path: str, index: int, expr: Expr) -> Values:
        owner = self.table(path).enclosing_class(expr.scope)
        if expr.type is not None:
            return self.outer_this(path, expr.scope, expr.type)
        if owner < 0:
            return UNKNOWN
        call = self.sites(path).calls.get(index)
        if call is not None:
            return self.constructor_call(Class(path, owner), path, call)
        return (self.own_instance(path, owner),)

    def outer_this(self, path: str, scope: int, named: Type) -> Values:
        return self._each(self.type_classes(path, scope, named), self.instance_of)

    def eval_super(self, path: str, index: int, expr: Expr) -> Values:
        owner = self.table(path).enclosing_class(expr.scope)
        if owner < 0:
            return UNKNOWN
        if expr.type is not None and expr.type.name:
            parents = self.typed(path, expr.scope, expr.type)
        else:
            parents = (self.superclass(path, owner),)
        call = self.sites(path).calls.get(index)
        if call is None:
            return parents
        return self._each(parents, lambda parent: self.super_constructor(parent, path, call))

    def super_constructor(self, parent: Value, path: str, call: int) -> Values:
        """The parent's constructor; one that nobody wrote does nothing worth an edge."""
        if not isinstance(parent, Inst):
            return (parent,)
        found = self.constructor_call(Class(parent.path, parent.index), path, call)
        written = any(isinstance(value, Func) for value in found) or self.table(path).facts.exprs[call].args
        return found if written else EXTERNAL

    def eval_literal(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        if expr.type is not None:
            return self.typed(path, expr.scope, expr.type)
        return UNKNOWN if expr.name == "none" else (Ext(expr.name),)

    def eval_new(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        if expr.base >= 0:
            return self._each(self.value(path, expr.base), self.instance_of)
        return self.typed(path, expr.scope, expr.type)

    def eval_box(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        return self.typed(path, expr.scope, expr.type) or EXTERNAL

    def eval_callable(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        """A method reference: the functions it may stand for."""
        return self.referenced(path, expr)

    def ask_new(self, path: str, expr: Expr) -> Values:
        self._steps = 0
        return self._each(self.new_classes(path, expr), lambda value: self.constructed(value, path, expr))

    def constructed(self, value: Value, path: str, expr: Expr) -> Values:
        """What `new` on a type runs; a type parameter may stand for anything."""
        if isinstance(value, Class):
            return self.choose_constructor(value, path, expr)
        return EXTERNAL if isinstance(value, Var) else (value,)

    def new_classes(self, path: str, expr: Expr) -> Values:
        if expr.base >= 0:
            return self.value(path, expr.base)
        return self.type_classes(path, expr.scope, expr.type) if expr.type is not None else UNKNOWN

    # -- names

    def variable(self, path: str, scope: int, name: str, at: int) -> Values:
        """A name as an expression: local, parameter, field of an enclosing class, import, else a type or package."""
        table = self.table(path)
        definitions = table.facts.definitions
        inner, outside = scope, False
        while inner >= 0:
            definition = definitions[inner]
            if definition.kind in CLASS_LIKE:
                found = self.field(self.own_instance(path, inner), name)
                outside = outside or self.open_ended(path, inner, name)
            else:
                found = self.local(path, inner, name, at)
                if found is None:
                    found = self._receiver_field(path, inner, name)
            if found is not None:
                return found
            inner = definition.parent
        found = self.file_variable(path, name)
        if found is not None:
            return found
        types = self.type_name(path, scope, name)
        if any(not isinstance(value, Ext) or "." in value.name for value in types):
            return types
        inherited = outside and not (name[:1].isupper() and any(letter.islower() for letter in name))
        return EXTERNAL if inherited else self.unknown_name(name, types)

    def _receiver_field(self, path: str, scope: int, name: str) -> Values | None:
        for receiver in self.implicit_receiver(path, scope):
            if isinstance(receiver, Inst | Class):
                found = self.field(receiver, name)
                if found is not None:
                    return found
        return None

    def implicit_receiver(self, path: str, scope: int) -> Values:  # noqa: ARG002
        """What `this` is inside a function, where the function itself says so (an extension)."""
        return UNKNOWN

    def unknown_name(self, name: str, types: Values) -> Values:
        """A name that is nothing visible: the start of a package's name, or an external type."""
        return types if name[:1].isupper() else (Package(name),)

    def local(self, path: str, scope: int, name: str, at: int) -> Values | None:
        """A local variable, parameter or local definition of one function."""
        table = self.table(path)
        facts = table.facts
        best = -1
        for index in table.binds[scope].get(name, ()) if scope in table.binds else ():
            assign = facts.assigns[index]
            start = facts.exprs[assign.target].at
            if assign.declares and start <= at and (assign.until < 0 or at < assign.until):
                best = index
        if best >= 0:
            return self.assigned(path, best)
        for place, param in enumerate(facts.definitions[scope].params):
            if param.name == name:
                return self.param(path, scope, place)
        for index in table.defs[scope].get(name, ()) if scope in table.defs else ():
            return self.definition_value(path, index)
        return None

    def assigned(self, path: str, index: int) -> Values:
        assign = self.table(path).facts.assigns[index]
        if assign.type is not None:
            return self.typed(path, self.table(path).facts.exprs[assign.target].scope, assign.type)
        return self.value(path, assign.value)

    def param(self, path: str, index: int, place: int) -> Values:
        param = self.table(path).facts.definitions[index].params[place]
        if param.type is not None:
            return self.typed(path, index, param.type)
        return self._guarded(path, ("lp", path, index, place), lambda: self.literal_param(path, index, place))

    def literal_param(self, path: str, index: int, place: int) -> Values:
        """A parameter of a function literal, from what the literal is given to."""
        signature = self.expected_signature(path, index)
        if signature is None or place >= len(signature.params):
            return UNKNOWN
        return signature.params[place]

    def definition_value(self, path: str, index: int) -> Values:
        definition = self.definition(path, index)
        if definition.kind in CLASS_LIKE:
            return (Class(path, index),)
        if definition.kind in CALLABLE_KINDS:
            return (Func(path, index),)
        return self.variable_type(path, index)

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
        if isinstance(value, Class | Inst):
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
            for place, index in self.world.named(self.language, name):
                table = self.table(place)
                definition = table.facts.definitions[index]
                if definition.parent < 0 and definition.kind in TYPE_LIKE:
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

        def visit(value: Value) -> None:
            if _identity(value) in seen or len(seen) > MAX_ANCESTORS:
                return
            seen.add(_identity(value))
            if isinstance(value, Inst):
                for parent in reversed(self.parents_of(value)):
                    visit(parent)
            after.append(value)

        for root in reversed(roots):
            visit(root)
        return (*chain, *reversed(after))

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
            if isinstance(item, Inst | Ext)
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
        if not env or level > MAX_NESTED_TYPES or not _has_var(values):
            return values
        found: list[Value] = []
        for value in values:
            if isinstance(value, Var):
                key = (value.path, value.index, value.position)
                found += env.get(key, (value,))
            elif isinstance(value, Inst | Class | Ext) and value.args:
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
        if isinstance(base, Inst | Class):
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
        return (Ext(f"{base.name}.{name}" if base.name else "", base.args),)

    def package_member(self, package: Package, name: str) -> Values:
        found = self.package_type(self.home, package.name, name)
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

    def open_ended(self, path: str, index: int, name: str) -> bool:
        """Whether a library ancestor of a class may define a member."""
        for ancestor in self.linear(path, index):
            if isinstance(ancestor, Ext):
                known = self.closed_bases.get(simple(ancestor.name))
                if known is None or name in known:
                    return True
        return False

    # -- calls

    def plain_call(self, path: str, call: int, callee: Expr) -> Values:
        """`name(...)`: a method of the innermost enclosing class that has one of that name, else an import."""
        table = self.table(path)
        definitions = table.facts.definitions
        inner, outside = callee.scope, False
        while inner >= 0:
            definition = definitions[inner]
            if definition.kind in CLASS_LIKE:
                own = self.own_instance(path, inner)
                found = self.called_member(own, callee.name, path, call)
                if found is None:
                    found = self.called_variable(self.field(own, callee.name), path, call)
                if found is not None:
                    return found
                outside = outside or self.open_ended(path, inner, callee.name)
            else:
                found = self.local_call(path, inner, callee, call)
                if found is not None:
                    return found
            inner = definition.parent
        found = self.file_call(path, callee, call)
        if found:
            return found
        return EXTERNAL if outside or callee.name in self.root_members else UNKNOWN

    def called_variable(self, values: Values | None, path: str, call: int) -> Values | None:  # noqa: ARG002
        """What calling a variable means; None where variables cannot be called."""
        return None

    def local_call(self, path: str, scope: int, callee: Expr, call: int) -> Values | None:  # noqa: ARG002
        """A local function, or a variable that holds one."""
        return None

    def method_call(self, base: Value, name: str, path: str, call: int) -> Values:
        """base.name(...): the function that the call means."""
        if isinstance(base, Inst | Class):
            found = self.called_member(base, name, path, call)
            if found is not None:
                return found
            return self.missing_method(base, name, path, call)
        if isinstance(base, Var):
            return self._each(self.bounds(base), lambda bound: self.method_call(bound, name, path, call))
        if isinstance(base, Ext):
            return (Ext(f"{base.name}.{name}" if base.name else "", base.args),)
        return UNKNOWN

    def missing_method(self, base: Inst | Class, name: str, path: str, call: int) -> Values:  # noqa: ARG002
        """No ancestor in the repository has it: a library ancestor may."""
        for ancestor in self.linear(base.path, base.index):
            if isinstance(ancestor, Ext):
                known = self.closed_bases.get(simple(ancestor.name))
                if known is None or name in known:
                    bound = self.apply((ancestor,), self.env_of(base))
                    args = bound[0].args if isinstance(bound[0], Ext) else ()
                    return (Ext(f"{ancestor.name}.{name}" if ancestor.name else "", args),)
        return EXTERNAL if name in self.root_members else UNKNOWN

    def called_member(self, base: Inst | Class, name: str, path: str, call: int) -> Values | None:
        """The member function of that name that fits the call best; None when there is none of that name."""
        candidates: list[tuple[str, int]] = []
        for ancestor in self.linear(base.path, base.index):
            if isinstance(ancestor, Inst):
                candidates += [
                    member
                    for member in self.own_definitions(ancestor, name)
                    if self.is_method(self.definition(*member))
                ]
        if not candidates:
            return None
        open_ended = self.open_ended(base.path, base.index, name)
        chosen = self.choose_overload(candidates, path, self.table(path).facts.exprs[call], strict=open_ended)
        if chosen is None:
            return None if open_ended else (Func(*candidates[0]),)
        return (Func(*chosen),)

    def is_method(self, definition: Definition) -> bool:
        return definition.kind in CALLABLE_KINDS and definition.kind is not NodeKind.CONSTRUCTOR

    def constructor_call(self, cls: Class, path: str, call: int) -> Values:
        return self.choose_constructor(cls, path, self.table(path).facts.exprs[call])

    def choose_constructor(self, cls: Class, path: str, call: Expr) -> Values:
        """The constructor that a call means; the class itself when it declares none that fits."""
        found: list[tuple[str, int]] = []
        for place, index in self.parts(cls.path, cls.index):
            self.touch(place, index)
            table = self.table(place)
            found += [
                (place, child)
                for child in table.children.get(index, ())
                if table.facts.definitions[child].kind is NodeKind.CONSTRUCTOR
                and not table.facts.definitions[child].flags & NodeFlag.STATIC
            ]
        if not found:
            return (cls,)
        chosen = self.choose_overload(found, path, call, strict=True)
        if chosen is not None:
            return (Func(*chosen),)
        return (cls,) if self.definition(cls.path, cls.index).params else (Func(*found[0]),)

    # -- overloads

    def choose_overload(
        self, candidates: list[tuple[str, int]], path: str, call: Expr, *, strict: bool
    ) -> tuple[str, int] | None:
        """The first best fit; None when nothing fits and that is telling (`strict`)."""
        fitting = [item for item in candidates if self.accepts(self.definition(*item), path, call)]
        if not fitting:
            return None
        if len(fitting) == 1 and not strict:
            return fitting[0]
        best, best_score = None, NO_MATCH
        for item in fitting:
            score = self.fitness(item, path, call)
            if score > best_score:
                best, best_score = item, score
        if best is None and not strict:
            return fitting[0]
        return best

    def accepts(self, definition: Definition, path: str, call: Expr) -> bool:  # noqa: ARG002
        return takes(definition, len(call.args))

    def fitness(self, candidate: tuple[str, int], path: str, call: Expr) -> int:
        """How well a call's arguments fit a function's parameters; NO_MATCH when one cannot."""
        definition = self.definition(*candidate)
        exprs = self.table(path).facts.exprs
        total = 0 if any(param.kind is ParamKind.VARIADIC for param in definition.params) else 1
        for position, arg in enumerate(call.args):
            param = self.param_for(definition, exprs[arg], position)
            if param is None or param.type is None:
                continue
            score = self._argument_fit(candidate, param, path, arg)
            if score == NO_MATCH:
                return NO_MATCH
            total += score
        return total

    def param_for(self, definition: Definition, arg: Expr, position: int) -> Param | None:
        params = [param for param in definition.params if param.kind is not ParamKind.RECEIVER]
        if arg.op is Op.KEYWORD:
            return next((param for param in params if param.name == arg.name), None)
        if position < len(params):
            return params[position]
        return params[-1] if params and params[-1].kind is ParamKind.VARIADIC else None

    def _argument_fit(self, candidate: tuple[str, int], param: Param, path: str, arg: int) -> int:
        facts = self.table(path).facts
        expr = facts.exprs[arg]
        while expr.op is Op.KEYWORD and expr.base >= 0:
            arg, expr = expr.base, facts.exprs[expr.base]
        wanted = self.typed(*candidate, param.type)
        if expr.op is Op.FUNCTION:
            return self._function_fit(wanted, facts.definitions[expr.base])
        if expr.op is Op.CALLABLE or not wanted:
            return WEAK
        given = self.value(path, arg)
        if not given:
            return WEAK
        score = max(fit(value, target, self._ancestors) for value in given[:3] for target in self.widened(wanted)[:3])
        if score == NO_MATCH and param.kind is ParamKind.VARIADIC:
            element = self._each(wanted, self.element)
            return max(
                (fit(value, target, self._ancestors) for value in given[:3] for target in self.widened(element)[:3]),
                default=WEAK,
            )
        return score

    def widened(self, wanted: Values) -> Values:
        """A bounded type parameter takes what its bound takes."""
        if not any(isinstance(value, Var) for value in wanted):
            return wanted
        found: list[Value] = []
        for value in wanted:
            bounds = self.bounds(value) if isinstance(value, Var) else UNKNOWN
            own = [bound for bound in bounds if isinstance(bound, Inst)]
            found += own or [value]
        return tuple(found)

    def _ancestors(self, value: Inst) -> Values:
        return self.linear(value.path, value.index)

    def _function_fit(self, wanted: Values, literal: Definition) -> int:
        for value in wanted:
            signature = self.signature_of(value)
            if signature is not None:
                return WEAK + 1 if self.literal_takes(literal, len(signature.params)) else NO_MATCH
            if isinstance(value, Ext) and (simple(value.name) in self.primitives or value.name in ("String", "[]")):
                return NO_MATCH
            if isinstance(value, Inst):
                return NO_MATCH
        return WEAK

    def literal_takes(self, literal: Definition, count: int) -> bool:
        return len(literal.params) == count

    def rule(self, path: str, expr: Expr, values: Values) -> Rule:
        if expr.op is Op.CALL and expr.base >= 0 and self.table(path).facts.exprs[expr.base].op in (Op.THIS, Op.SUPER):
            return Rule.SELF
        return super().rule(path, expr, values)

    def guess(self, path: str, index: int, expr: Expr) -> list[tuple[str, int]]:  # noqa: ARG002
        """An unknown receiver: the only class that has such a method, if no library type is known to have one."""
        callee = self.table(path).facts.exprs[expr.base] if expr.op is Op.CALL and expr.base >= 0 else None
        if callee is None or callee.op is not Op.MEMBER or len(callee.name) < MIN_UNIQUE_LENGTH:
            return []
        if self.library.knows(callee.name) or callee.name in self.root_members or self.value(path, callee.base):
            return []
        found = [
            item for item in self.world.named(self.language, callee.name) if self.is_method(self.definition(*item))
        ]
        owners = {(place, self.table(place).facts.definitions[item].parent) for place, item in found}
        if len(owners) != 1:
            return []
        chosen = self.choose_overload(found, path, expr, strict=True)
        return [chosen] if chosen is not None else []

    # -- results

    def call_result(self, callee: Value, path: str, index: int) -> Values:
        if isinstance(callee, Func):
            return self.function_result(callee, path, index)
        if isinstance(callee, Class):
            return self.instance_of(callee)
        if isinstance(callee, Ext):
            return self.library_result(callee, path, index)
        return UNKNOWN

    def function_result(self, callee: Func, path: str, call: int) -> Values:
        """The declared result with type parameters replaced by what the receiver and the arguments say."""
        definition = self.definition(callee.path, callee.index)
        if definition.kind is NodeKind.CONSTRUCTOR:
            return (Inst(callee.path, definition.parent),)
        values = self.declared_result(callee)
        if not _has_var(values):
            return values
        env = self.receiver_env(callee, path, call)
        values = self.apply(values, env)
        if definition.type_params and _mentions(values, callee.path, callee.index):
            values = self.apply(values, self.inferred(callee, path, call, env, functions=True))
        return values

    def declared_result(self, callee: Func) -> Values:
        definition = self.definition(callee.path, callee.index)
        if definition.result is not None:
            return self.typed(callee.path, callee.index, definition.result)
        return self._guarded(
            callee.path,
            ("r", callee.path, callee.index),
            lambda: tuple(value for expr in definition.returns for value in self.value(callee.path, expr)),
        )

    def receiver_env(self, callee: Func, path: str, call: int) -> Env:
        """What the type parameters of the callee's class stand for at a call."""
        owner = self.table(callee.path).enclosing_class(callee.index)
        if owner < 0 or not self.definition(callee.path, owner).type_params:
            return {}
        facts = self.table(path).facts
        base = facts.exprs[call].base
        if base < 0:
            return {}
        expr = facts.exprs[base]
        if expr.op is Op.MEMBER:
            receivers = self.value(path, expr.base)
        else:
            receivers = self.enclosing_instances(path, expr.scope)
        for receiver in receivers:
            values = self.bounds(receiver) if isinstance(receiver, Var) else (receiver,)
            for value in values:
                if isinstance(value, Inst | Class):
                    env = self.seen_as(value, callee.path, owner)
                    if env:
                        return env
        return {}

    def enclosing_instances(self, path: str, scope: int) -> Values:
        found: list[Value] = []
        owner = self.table(path).enclosing_class(scope)
        while owner >= 0:
            found.append(self.own_instance(path, owner))
            owner = self.table(path).class_of[owner]
        return tuple(found)

    def inferred(self, callee: Func, path: str, call: int, env: Env, *, functions: bool) -> Env:
        """What the callee's own type parameters stand for, from explicit arguments, else from the values passed."""
        facts = self.table(path).facts
        site = facts.exprs[call]
        definition = self.definition(callee.path, callee.index)
        if site.type is not None and site.op is Op.CALL:
            given = (self.typed(path, site.scope, arg) for arg in site.type.args)
            return {(callee.path, callee.index, place): values for place, values in enumerate(given)}
        found: Env = {}
        for position, arg in enumerate(site.args):
            expr = facts.exprs[arg]
            param = self.param_for(definition, expr, position)
            if param is None or param.type is None:
                continue
            wanted = self.apply(self.typed(callee.path, callee.index, param.type), env)
            if not _mentions(wanted, callee.path, callee.index):
                continue
            if param.kind is ParamKind.VARIADIC:
                wanted = self._each(wanted, self.element)
            if expr.op is Op.KEYWORD:
                arg, expr = expr.base, facts.exprs[expr.base]
            if expr.op in (Op.FUNCTION, Op.CALLABLE):
                if functions:
                    self._infer_from_function(wanted, path, arg, found)
            else:
                self._unify(wanted, self.value(path, arg), found, 0)
        return found

    def _infer_from_function(self, wanted: Values, path: str, arg: int, found: Env) -> None:
        for value in wanted:
            signature = self.signature_of(value)
            if signature is not None and _has_var(signature.result):
                self._unify(signature.result, self.literal_result(path, arg), found, 0)

    def literal_result(self, path: str, arg: int) -> Values:
        """What a function literal or reference gives when called."""
        facts = self.table(path).facts
        expr = facts.exprs[arg]
        if expr.op is Op.FUNCTION:
            returns = facts.definitions[expr.base].returns
            return self._guarded(
                path, ("lr", path, arg), lambda: tuple(v for item in returns for v in self.value(path, item))
            )
        found: list[Value] = []
        for value in self.value(path, arg):
            if isinstance(value, Func):
                found += self.declared_result(value)
            elif isinstance(value, Class):
                found += self.instance_of(value)
        return tuple(found)

    def _unify(self, wanted: Values, given: Values, found: Env, level: int) -> None:
        """Bind the type parameters in `wanted` so that it becomes `given`."""
        if not given or level > MAX_NESTED_TYPES:
            return
        for value in wanted:
            if isinstance(value, Var):
                found.setdefault((value.path, value.index, value.position), given)
            elif isinstance(value, Inst):
                self._unify_class(value, given, found, level)
            elif isinstance(value, Ext) and value.args:
                other = next(
                    (item for item in given if isinstance(item, Ext) and len(item.args) == len(value.args)), None
                )
                if other is None:
                    other = self._outside_view(given, value)
                for mine, theirs in zip(value.args, other.args if other is not None else (), strict=False):
                    self._unify(mine, theirs, found, level + 1)

    def _unify_class(self, value: Inst, given: Values, found: Env, level: int) -> None:
        for item in given:
            if isinstance(item, Inst) and value.args:
                env = self.seen_as(item, value.path, value.index)
                for place, arg in enumerate(value.args):
                    self._unify(arg, env.get((value.path, value.index, place), UNKNOWN), found, level + 1)

    def _outside_view(self, given: Values, wanted: Ext) -> Ext | None:
        """An instance of the repository's own class seen as the library type that it implements."""
        for item in given:
            if isinstance(item, Inst):
                for ancestor in self.linear(item.path, item.index):
                    if isinstance(ancestor, Ext) and simple(ancestor.name) == simple(wanted.name):
                        bound = self.apply((ancestor,), self.env_of(item))[0]
                        return bound if isinstance(bound, Ext) else None
        return None

    # -- function types

    def signature_of(self, value: Value) -> Signature | None:
        """What calling an instance of a functional type takes and gives; None when it is not one."""
        if isinstance(value, Ext):
            if value.name == "->" and value.args:
                return Signature(value.args[1:], value.args[0])
            specs = self.library.functions.get(simple(value.name))
            if specs is None:
                return None
            made = tuple(self.from_spec(spec, value, "", -1) for spec in specs)
            return Signature(made[1:], made[0])
        if isinstance(value, Inst):
            return self._interface_signature(value)
        return None

    def _interface_signature(self, value: Inst) -> Signature | None:
        if self.definition(value.path, value.index).kind is not NodeKind.INTERFACE:
            return None
        for ancestor in self.linear(value.path, value.index):
            if isinstance(ancestor, Ext):
                found = self.signature_of(self.apply((ancestor,), self.env_of(value))[0])
                if found is not None:
                    return found
                continue
            if not isinstance(ancestor, Inst):
                continue
            for path, index in self.abstract_methods(ancestor):
                definition = self.definition(path, index)
                env = self.seen_as(value, ancestor.path, ancestor.index)
                params = tuple(self.apply(self.typed(path, index, param.type), env) for param in definition.params)
                return Signature(params, self.apply(self.typed(path, index, definition.result), env))
        return None

    def abstract_methods(self, owner: Inst) -> list[tuple[str, int]]:
        table = self.table(owner.path)
        self.touch(owner.path, owner.index)
        return [
            (owner.path, child)
            for child in table.children.get(owner.index, ())
            if table.facts.definitions[child].kind is NodeKind.METHOD
            and table.facts.definitions[child].flags & NodeFlag.DECLARATION
            and table.facts.definitions[child].name not in self.root_members
        ]

    def expected_signature(self, path: str, literal: int) -> Signature | None:
        """The function type that a literal's surroundings ask of it."""
        expr = self.sites(path).literals.get(literal)
        if expr is None:
            return None
        facts = self.table(path).facts
        parent = self.sites(path).parents.get(expr)
        while parent is not None and parent[0] in ("choice", "keyword"):
            parent = self.sites(path).parents.get(parent[1])
        if parent is None:
            return None
        role, owner, position = parent
        if role == "arg":
            return self._argument_signature(path, owner, position, facts.definitions[literal])
        if role == "assign":
            assign = facts.assigns[owner]
            wanted = self.assigned(path, owner) if assign.type is not None else self.value(path, assign.target)
        elif role == "field":
            wanted = self.typed(path, facts.definitions[owner].parent, facts.definitions[owner].result)
        elif role == "return":
            wanted = self.expected_result(path, owner)
        else:
            wanted = self.typed(path, facts.exprs[owner].scope, facts.exprs[owner].type)
        return self._first_signature(wanted)

    def expected_result(self, path: str, owner: int) -> Values:
        definition = self.table(path).facts.definitions[owner]
        if definition.flags & NodeFlag.ANONYMOUS:
            around = self.expected_signature(path, owner)
            return around.result if around is not None else UNKNOWN
        return self.typed(path, owner, definition.result)

    def _first_signature(self, wanted: Values) -> Signature | None:
        for value in wanted:
            found = self.signature_of(value)
            if found is not None:
                return found
        return None

    def _argument_signature(self, path: str, call: int, position: int, literal: Definition) -> Signature | None:
        facts = self.table(path).facts
        site = facts.exprs[call]
        callees = self.ask_callee(path, call, site)
        for callee in callees:
            if isinstance(callee, Func):
                definition = self.definition(callee.path, callee.index)
                param = self.param_for(definition, facts.exprs[site.args[position]], position)
                if param is None or param.type is None:
                    continue
                wanted = self.typed(callee.path, callee.index, param.type)
                if param.kind is ParamKind.VARIADIC:
                    wanted = self._each(wanted, self.element)
                env = self.receiver_env(callee, path, call)
                wanted = self.apply(wanted, env)
                if _mentions(wanted, callee.path, callee.index):
                    wanted = self.apply(wanted, self.inferred(callee, path, call, env, functions=False))
                found = self._first_signature(wanted)
                if found is not None:
                    return found
            elif isinstance(callee, Ext):
                return self.library_signature(callee, literal, path, call)
        return None

    def ask_callee(self, path: str, call: int, site: Expr) -> Values:  # noqa: ARG002
        if site.op is Op.NEW:
            return self._each(self.new_classes(path, site), lambda value: self.constructed(value, path, site))
        return self.value(path, site.base)

    # -- the library

    def library_result(self, callee: Ext, path: str, call: int) -> Values:
        """What a library call gives: known shapes carry the repository's types, anything else is external."""
        owner, _, method = callee.name.rpartition(".")
        spec = self.library.results.get(simple(owner), {}).get(method)
        if spec is None:
            spec = self.library.static.get(f"{simple(owner)}.{method}" if owner else method)
        if spec is None:
            return (Ext(f"{callee.name}()" if callee.name else ""),)
        return self.from_spec(spec, Ext(owner, callee.args), path, call) or EXTERNAL

    def from_spec(self, spec: Type, receiver: Ext, path: str, call: int) -> Values:
        name = spec.name
        if name.isdigit():
            place = int(name)
            return receiver.args[place] if place < len(receiver.args) else UNKNOWN
        if name == "self":
            return (receiver,)
        if name in ("A", "F", "F0"):
            return self._from_argument(name, path, call)
        return (Ext(name, tuple(self.from_spec(arg, receiver, path, call) for arg in spec.args)),)

    def _from_argument(self, name: str, path: str, call: int) -> Values:
        facts = self.table(path).facts
        for arg in facts.exprs[call].args:
            function = facts.exprs[arg].op in (Op.FUNCTION, Op.CALLABLE)
            if name == "A" and not function:
                return self.value(path, arg)
            if name != "A" and function:
                found = self.literal_result(path, arg)
                if name == "F":
                    return found
                return tuple(v for value in found if isinstance(value, Ext) and value.args for v in value.args[0])
        return UNKNOWN

    def library_signature(self, callee: Ext, literal: Definition, path: str, call: int) -> Signature | None:
        owner, _, method = callee.name.rpartition(".")
        table = self.library.lambdas.get(simple(owner))
        if table is None:
            return None
        specs = table.get(method) or table.get("*")
        if specs is None:
            return None
        receiver = Ext(owner, callee.args)
        if len(specs) < len(literal.params):
            return None
        return Signature(tuple(self.from_spec(spec, receiver, path, call) for spec in specs), UNKNOWN)

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

    # -- function values

    def referenced(self, path: str, expr: Expr) -> Values:
        """The functions that `base::name` may stand for: all of that name in the nearest class that has one."""
        if expr.base < 0:
            return UNKNOWN
        return self._each(self.value(path, expr.base), lambda base: self.named_methods(base, expr.name))

    def named_methods(self, base: Value, name: str) -> Values:
        if isinstance(base, Var):
            return self._each(self.bounds(base), lambda bound: self.named_methods(bound, name))
        if not isinstance(base, Inst | Class):
            return EXTERNAL if isinstance(base, Ext) else UNKNOWN
        if name == "new":
            return (Class(base.path, base.index, base.args),)
        for ancestor in self.linear(base.path, base.index):
            if isinstance(ancestor, Inst):
                found = [m for m in self.own_definitions(ancestor, name) if self.is_method(self.definition(*m))]
                if found:
                    return (Func(*found[0]),)
        return EXTERNAL if name in self.root_members or self.open_ended(base.path, base.index, name) else UNKNOWN

    def implicit_calls(self, path: str) -> Iterator[tuple[int, tuple[str, int], Rule, int]]:
        """Method references, and the superclass constructors that anonymous classes run."""
        facts = self.table(path).facts
        for index, expr in enumerate(facts.exprs):
            if expr.op is Op.CALLABLE and self.references_call:
                for value in self.ask(path, index):
                    yield from self._reference_targets(value, expr)
            elif expr.op is Op.NEW and expr.base >= 0 and expr.type is not None:
                yield from self._anonymous_super(path, expr)

    def _reference_targets(self, value: Value, expr: Expr) -> Iterator[tuple[int, tuple[str, int], Rule, int]]:
        if isinstance(value, Func):
            yield expr.scope, (value.path, value.index), Rule.FLOW, expr.line
        elif isinstance(value, Class):
            table = self.table(value.path)
            made = [
                child
                for child in table.children.get(value.index, ())
                if table.facts.definitions[child].kind is NodeKind.CONSTRUCTOR
            ]
            yield expr.scope, (value.path, made[0] if len(made) == 1 else value.index), Rule.FLOW, expr.line

    def _anonymous_super(self, path: str, expr: Expr) -> Iterator[tuple[int, tuple[str, int], Rule, int]]:
        facts = self.table(path).facts
        owner = facts.exprs[expr.base].base
        for value in self.type_classes(path, expr.scope, expr.type) if expr.type is not None else ():
            if isinstance(value, Class) and self.definition(value.path, value.index).kind is NodeKind.CLASS:
                for target in self.choose_constructor(value, path, expr):
                    if isinstance(target, Func | Class):
                        yield owner, (target.path, target.index), Rule.TYPED, expr.line

    # -- references

    def reference(self, path: str, expr: int) -> Values:
        item = self.table(path).facts.exprs[expr]
        if item.op is Op.CALLABLE:
            return tuple(value for value in self.ask(path, expr) if isinstance(value, Func | Class))
        if item.op is Op.LITERAL and item.type is not None and item.type.args:
            return tuple(v for arg in item.type.args for v in self.type_classes(path, item.scope, arg))
        if item.op is Op.MEMBER:
            return self._each(self.ask(path, item.base), lambda owner: self.defined(owner, item.name))
        return UNKNOWN

    def defined(self, owner: Value, name: str) -> Values:
        """A constant or nested type as a definition, for USES edges."""
        if not isinstance(owner, Class | Inst):
            return UNKNOWN
        for ancestor in self.linear(owner.path, owner.index):
            if isinstance(ancestor, Inst):
                for path, index in self.own_definitions(ancestor, name):
                    kind = self.definition(path, index).kind
                    if kind is NodeKind.VARIABLE:
                        return (Func(path, index),)
                    if kind in TYPE_LIKE:
                        return (Class(path, index),)
        return UNKNOWN

    def decorator(self, path: str, expr: int) -> Values:
        item = self.table(path).facts.exprs[expr]
        if item.op is Op.NAME:
            return self.type_name(path, item.scope, item.name)
        return UNKNOWN

    # -- hooks for languages

    def file_type(self, path: str, name: str) -> Values:
        """A simple type name at file level: imports, the file, its package, the library."""
        raise NotImplementedError

    def file_variable(self, path: str, name: str) -> Values | None:  # noqa: ARG002
        """A variable at file level: static imports, top-level properties."""
        return None

    def file_call(self, path: str, callee: Expr, call: int) -> Values:  # noqa: ARG002
        """A function at file level: static imports, top-level functions."""
        return UNKNOWN

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


def _find_sites(facts: FileFacts) -> Sites:
    made = Sites(facts)
    for index, expr in enumerate(facts.exprs):
        if expr.op is Op.CALL:
            made.calls[expr.base] = index
        if expr.op in (Op.CALL, Op.NEW):
            for position, arg in enumerate(expr.args):
                made.parents[arg] = ("arg", index, position)
        elif expr.op is Op.CHOICE:
            for position, arg in enumerate(expr.args):
                made.parents.setdefault(arg, ("choice", index, position))
        elif expr.op is Op.KEYWORD:
            made.parents[expr.base] = ("keyword", index, 0)
        elif expr.op is Op.CAST:
            made.parents[expr.base] = ("cast", index, 0)
        elif expr.op is Op.FUNCTION:
            made.literals[expr.base] = index
    for index, assign in enumerate(facts.assigns):
        made.parents.setdefault(assign.value, ("assign", index, 0))
    for index, definition in enumerate(facts.definitions):
        made.parents.setdefault(definition.value, ("field", index, 0))
        for expr_index in definition.returns:
            made.parents.setdefault(expr_index, ("return", index, 0))
    return made


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


def _has_var(values: Values) -> bool:
    for value in values:
        if isinstance(value, Var):
            return True
        if isinstance(value, Inst | Class | Ext) and any(_has_var(arg) for arg in value.args):
            return True
    return False


def _mentions(values: Values, path: str, index: int) -> bool:
    """Whether a definition's own type parameters occur in the values."""
    for value in values:
        if isinstance(value, Var):
            if value.path == path and value.index == index:
                return True
        elif isinstance(value, Inst | Class | Ext) and any(_mentions(arg, path, index) for arg in value.args):
            return True
    return False
