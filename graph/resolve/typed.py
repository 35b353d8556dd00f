"""Evaluation for class-based languages that declare their types: Java, Kotlin, C#.

A value is the static type of an expression: an instance of a class with its type arguments, a class, a type
parameter, or something external. Names resolve outwards through scopes and the members of enclosing classes, as the
languages define it; a call picks one function among overloads and inherited ones. What a library class may define is
external, never guessed.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Expr, FileFacts, Type, all_lines
from ctxsearch.graph.model import CALLABLE_KINDS, NodeFlag, NodeKind, Rule
from ctxsearch.graph.resolve.overloads import simple
from ctxsearch.graph.resolve.tables import CLASS_LIKE
from ctxsearch.graph.resolve.typed_functions import FunctionRules
from ctxsearch.graph.resolve.typed_overloads import MAX_TIED
from ctxsearch.graph.resolve.typed_types import TYPE_LIKE
from ctxsearch.graph.resolve.values import EXTERNAL, UNKNOWN, Class, Ext, Func, Inst, Package, Value, Values, Var

MIN_UNIQUE_LENGTH = 4  # shorter method names are unique by accident


class TypedEvaluator(FunctionRules):
    """The shared rules. A language provides file-level name look-up, its library and its extras."""

    iteration: tuple[str, ...] = ()  # what a loop calls: on the collection, then on its iterator
    release: tuple[str, ...] = ()  # what the end of a resource block calls
    overloads = True
    references_call = False  # a function reference counts as a call of it (by flow); else it is a use

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
        made = self.typed(path, expr.scope, expr.type)
        return self._each(
            made, lambda value: self._completed(value, path, expr) if isinstance(value, Inst) else (value,)
        )

    def _completed(self, value: Inst, path: str, expr: Expr) -> Values:
        """`new Box<>(item)`: type arguments from what the constructor is given."""
        params = self.definition(value.path, value.index).type_params
        if not params or value.args:
            return (value,)
        for target in self.choose_constructor(Class(value.path, value.index), path, expr):
            if isinstance(target, (Func, Class)):
                env = self.unified_arguments(target.path, target.index, path, expr)
                args = tuple(env.get((value.path, value.index, place), UNKNOWN) for place in range(len(params)))
                return (Inst(value.path, value.index, args),) if any(args) else (value,)
        return (value,)

    def eval_choice(self, path: str, index: int, expr: Expr) -> Values:
        """One of several: the nearest common class when all are the repository's own."""
        found = tuple(dict.fromkeys(super().eval_choice(path, index, expr)))
        own = [value for value in found if isinstance(value, (Inst, Class))]  # an object's name is its only instance
        if len(own) < 2 or len(own) != len(found):
            return found
        others = [
            {(item.path, item.index) for item in self.linear(value.path, value.index) if isinstance(item, Inst)}
            for value in own[1:]
        ]
        for ancestor in self.linear(own[0].path, own[0].index):
            if isinstance(ancestor, Inst) and all((ancestor.path, ancestor.index) in known for known in others):
                return self.apply((ancestor,), self.env_of(own[0]))
        return found

    def eval_box(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        return self.typed(path, expr.scope, expr.type) or EXTERNAL

    def eval_callable(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        """A method reference: the functions it may stand for."""
        return self.referenced(path, expr)

    def ask_new(self, path: str, expr: Expr) -> Values:
        self._steps = 0
        return self._each(self.new_classes(path, expr), lambda value: self.constructed(value, path, expr))

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
        return EXTERNAL if inherited else self.unknown_name(path, scope, name, types)

    def _receiver_field(self, path: str, scope: int, name: str) -> Values | None:
        for receiver in self.implicit_receiver(path, scope):
            if isinstance(receiver, (Inst, Class)):
                found = self.field(receiver, name)
                if found is not None:
                    return found
        return None

    def implicit_receiver(self, path: str, scope: int) -> Values:  # noqa: ARG002
        """What `this` is inside a function, where the function itself says so (an extension)."""
        return UNKNOWN

    def unknown_name(self, path: str, scope: int, name: str, types: Values) -> Values:  # noqa: ARG002
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
                if self.inherits(path, inner, callee.name):
                    return self.missing_method(own, callee.name, path, call)
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
        if isinstance(base, (Inst, Class)):
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
        """The member function of that name that fits the call best; None when there is none that does."""
        candidates: list[tuple[str, int]] = []
        for ancestor in self.linear(base.path, base.index):
            if isinstance(ancestor, Inst):
                candidates += [
                    member
                    for member in self.own_definitions(ancestor, name)
                    if self.is_method(self.definition(*member)) and self.is_inherited(ancestor, base, member)
                ]
        if not candidates:
            return None
        candidates = self._accessible(candidates, path, call) or candidates
        open_ended = self.open_ended(base.path, base.index, name)
        chosen = self.choose_overload(candidates, path, self.table(path).facts.exprs[call], strict=open_ended)
        return tuple(Func(*item) for item in chosen) or None

    def _accessible(self, candidates: list[tuple[str, int]], path: str, call: int) -> list[tuple[str, int]]:
        """Without what is private to another class."""
        if len(candidates) == 1 or not any(self.definition(*item).flags & NodeFlag.PRIVATE for item in candidates):
            return candidates
        here = self._outermost(path, self.table(path).facts.exprs[call].scope)
        return [
            item
            for item in candidates
            if not self.definition(*item).flags & NodeFlag.PRIVATE or self._outermost(*item) == here
        ]

    def _outermost(self, path: str, index: int) -> tuple[str, int]:
        """The class around all others around a definition, by its first part."""
        owner, table = -1, self.table(path)
        inner = table.enclosing_class(index)
        while inner >= 0:
            owner, inner = inner, table.class_of[inner]
        first = self.own_instance(path, owner) if owner >= 0 else None
        return (first.path, first.index) if first is not None else (path, -1)

    def is_inherited(self, owner: Inst, base: Inst | Class, member: tuple[str, int]) -> bool:  # noqa: ARG002
        """Whether a class has what its ancestor defines."""
        return True

    def constructor_call(self, cls: Class, path: str, call: int) -> Values:
        return self.choose_constructor(cls, path, self.table(path).facts.exprs[call])

    # -- rules and guesses

    def rule(self, path: str, expr: Expr, values: Values) -> Rule:
        if (
            expr.op is ops.CALL
            and expr.base >= 0
            and self.table(path).facts.exprs[expr.base].op in (ops.THIS, ops.SUPER)
        ):
            return Rule.SELF
        return super().rule(path, expr, values)

    def guess(self, path: str, index: int, expr: Expr) -> list[tuple[str, int]]:  # noqa: ARG002
        """An unknown receiver: the only class that has such a method, if no library type is known to have one."""
        callee = self.table(path).facts.exprs[expr.base] if expr.op is ops.CALL and expr.base >= 0 else None
        if callee is None or callee.op is not ops.MEMBER or len(callee.name) < MIN_UNIQUE_LENGTH:
            return []
        if self.library.knows(callee.name) or callee.name in self.root_members or self.value(path, callee.base):
            return []
        found = [
            item
            for item in self.world.named(self.language, callee.name, CALLABLE_KINDS)
            if self.is_method(self.definition(*item))
        ]
        owners = {(place, self.table(place).facts.definitions[item].parent) for place, item in found}
        if len(owners) != 1:
            return []
        return self.choose_overload(found, path, expr, strict=True)

    # -- function values

    def referenced(self, path: str, expr: Expr) -> Values:
        """The functions that `base::name` may stand for: all of that name in the nearest class that has one."""
        if expr.base < 0:
            return UNKNOWN
        return self._each(self.value(path, expr.base), lambda base: self.named_methods(base, expr.name))

    def named_methods(self, base: Value, name: str) -> Values:
        if isinstance(base, Var):
            return self._each(self.bounds(base), lambda bound: self.named_methods(bound, name))
        if not isinstance(base, (Inst, Class)):
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
            if expr.op is ops.CALLABLE and (self.references_call or self._through_super(facts, expr)):
                for value in self.ask(path, index):
                    yield from self._reference_targets(value, expr)
            elif expr.op is ops.NEW and expr.base >= 0 and facts.exprs[expr.base].op is ops.CLASS:
                yield from self._anonymous_super(path, expr)
            elif expr.op is ops.ELEMENT and not expr.text:  # a query hands its source on, a loop asks it
                yield from self._protocol(path, expr, self.iteration)
            elif expr.op is ops.ENTER:
                yield from self._protocol(path, expr, self.release)

    def _protocol(
        self, path: str, expr: Expr, names: tuple[str, ...]
    ) -> Iterator[tuple[int, tuple[str, int], Rule, int]]:
        """The calls that a loop or a resource block makes: the first on the value, the others on what it returns."""
        values = self.typed(path, expr.scope, expr.type) or self.ask(path, expr.base)
        for name in names[:1]:
            for target in self._own_protocol(values, name):
                yield expr.scope, (target.path, target.index), Rule.TYPED, expr.line
                results = self.declared_result(target)
                for following in names[1:]:
                    for step in self._own_protocol(results, following):
                        yield expr.scope, (step.path, step.index), Rule.TYPED, expr.line

    def _own_protocol(self, values: Values, name: str) -> list[Func]:
        bases = [value for value in self.widened(values) if isinstance(value, Inst)]
        for base in bases[:1]:
            for ancestor in self.linear(base.path, base.index):
                for member in self.own_definitions(ancestor, name) if isinstance(ancestor, Inst) else ():
                    definition = self.definition(*member)
                    if self.is_method(definition) and not definition.params:
                        return [Func(*member)]
        return []

    def _through_super(self, facts: FileFacts, expr: Expr) -> bool:
        """`super::m` is code that calls m: no other object can."""
        return expr.base >= 0 and facts.exprs[expr.base].op is ops.SUPER

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
                targets = self.choose_constructor(value, path, expr)
                rule = Rule.TYPED if len(targets) == 1 else Rule.CANDIDATES
                for target in targets if len(targets) < MAX_TIED else ():
                    if isinstance(target, Func) or (isinstance(target, Class) and expr.args):
                        yield owner, (target.path, target.index), rule, expr.line

    # -- references

    def reference(self, path: str, expr: int) -> Values:
        item = self.table(path).facts.exprs[expr]
        if item.op is ops.CALLABLE:
            return tuple(value for value in self.ask(path, expr) if isinstance(value, (Func, Class)))
        if item.op is ops.LITERAL and item.type is not None and item.type.args:
            return tuple(v for arg in item.type.args for v in self.type_classes(path, item.scope, arg))
        if item.op is ops.NAME:
            return self.named(path, item)
        if item.op is ops.MEMBER:
            return self._each(self.ask(path, item.base), lambda owner: self.defined(owner, item.name))
        return UNKNOWN

    def defined(self, owner: Value, name: str) -> Values:
        """A constant or nested type as a definition, for USES edges."""
        if not isinstance(owner, (Class, Inst)):
            return UNKNOWN
        for ancestor in self.linear(owner.path, owner.index):
            if isinstance(ancestor, Inst):
                for path, index in self.own_definitions(ancestor, name):
                    kind = self.definition(path, index).kind
                    if kind is NodeKind.VARIABLE and self.is_inherited(ancestor, owner, (path, index)):
                        return (Func(path, index),)
                    if kind in TYPE_LIKE:
                        return (Class(path, index),)
        return UNKNOWN

    def reference_lines(self, site: Expr) -> list[int]:
        return all_lines(site) if site.op is ops.NAME else [site.line]

    # -- bare names as definitions

    def named(self, path: str, item: Expr) -> Values:
        """The field or constant that a bare name means; nothing where it is a local name, a type or a library's."""
        definitions = self.table(path).facts.definitions
        inner, below = item.scope, item.scope
        while inner >= 0:
            definition = definitions[inner]
            if definition.kind in CLASS_LIKE:
                found = self._once(("field", inner, item.name), partial(self.own_field, path, inner, item.name))
                if self.is_class_parameter(path, inner, below, item.name):
                    return found if found and self.is_parameter_too(found[0]) else UNKNOWN
            else:
                seen = self._seen_in_function(path, inner, item)
                if seen is None:
                    return UNKNOWN
                found = seen
            if found:
                return found
            inner, below = definition.parent, inner
        return self._once(("file field", item.name), partial(self.file_field, path, item.name))

    def _seen_in_function(self, path: str, scope: int, item: Expr) -> Values | None:
        """A field that a function itself lets see by a bare name; None where the name has another meaning there."""
        if self.binds_local(path, scope, item.name, item.at):
            return None
        return self._receiver_definition(path, scope, item.name)

    def own_field(self, path: str, index: int, name: str) -> Values:
        """A field that a class has, or inherits from one that does not keep it to itself."""
        own = self.own_instance(path, index)
        for ancestor in self.linear(path, index):
            if isinstance(ancestor, Inst):
                for member in self.own_definitions(ancestor, name):
                    definition = self.definition(*member)
                    if definition.kind is not NodeKind.VARIABLE and not definition.flags & NodeFlag.PROPERTY:
                        continue
                    inherited = (ancestor.path, ancestor.index) != (own.path, own.index)
                    if not inherited or not definition.flags & NodeFlag.PRIVATE:
                        return (Func(*member),)
        return UNKNOWN

    def binds_local(self, path: str, scope: int, name: str, at: int) -> bool:
        """Whether a function itself gives a name a meaning: a parameter, a local variable or definition."""
        table = self.table(path)
        facts = table.facts
        for index in table.binds[scope].get(name, ()) if scope in table.binds else ():
            assign = facts.assigns[index]
            if assign.declares and facts.exprs[assign.target].at <= at and (assign.until < 0 or at < assign.until):
                value = facts.exprs[assign.value] if assign.value >= 0 else None
                narrows = assign.type is not None and value is not None and value.op is ops.NAME and value.name == name
                if not narrows:  # a test of its type gives a name no other meaning
                    return True
        if any(param.name == name for param in facts.definitions[scope].params):
            return True
        return scope in table.defs and name in table.defs[scope]

    def is_class_parameter(self, path: str, index: int, below: int, name: str) -> bool:  # noqa: ARG002
        """Whether code in `below` sees a parameter of the class's own constructor under a name."""
        return False

    def is_parameter_too(self, field: Value) -> bool:  # noqa: ARG002
        """Whether a field is a parameter of its class's own constructor."""
        return False

    def _receiver_definition(self, path: str, scope: int, name: str) -> Values | None:
        """A field of what a function itself has for `this`; None when a library's class may have it."""
        for receiver in self.implicit_receiver(path, scope):
            if isinstance(receiver, (Inst, Class)):
                found = self.own_field(receiver.path, receiver.index, name)
                if found:
                    return found
            elif isinstance(receiver, Ext):
                return None
        return UNKNOWN

    def file_field(self, path: str, name: str) -> Values:  # noqa: ARG002
        """The variable that a name means at file level: through imports, or of the package."""
        return UNKNOWN

    def decorator(self, path: str, expr: int) -> Values:
        item = self.table(path).facts.exprs[expr]
        if item.op is ops.NAME:
            return self.type_name(path, item.scope, item.name)
        return UNKNOWN

    # -- hooks for languages

    def file_variable(self, path: str, name: str) -> Values | None:  # noqa: ARG002
        """A variable at file level: static imports, top-level properties."""
        return None

    def file_call(self, path: str, callee: Expr, call: int) -> Values:  # noqa: ARG002
        """A function at file level: static imports, top-level functions."""
        return UNKNOWN
