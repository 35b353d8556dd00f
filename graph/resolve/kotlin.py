"""Kotlin: packages with top-level functions, companions and objects, extensions, function literals with receivers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Definition, Expr, Import, Param, Type
from ctxsearch.graph.model import CALLABLE_KINDS, NodeFlag, NodeKind, Rule
from ctxsearch.graph.resolve.functional import FunctionalEvaluator
from ctxsearch.graph.resolve.kotlin_library import (
    BUILDERS,
    KOTLIN,
    KOTLIN_SUBTYPES,
    SCOPE_FUNCTIONS,
    STANDARD_FUNCTIONS,
    WITH_RECEIVER,
)
from ctxsearch.graph.resolve.overloads import arithmetic, is_text, is_type_name, simple, takes
from ctxsearch.graph.resolve.surface import MODULE_STARS
from ctxsearch.graph.resolve.tables import CLASS_LIKE
from ctxsearch.graph.resolve.typed_overloads import Signature
from ctxsearch.graph.resolve.typed_types import TYPE_LIKE, WIDE
from ctxsearch.graph.resolve.values import EXTERNAL, UNKNOWN, Class, Ext, Func, Inst, Value, Values

INITIALIZER = "<init>"  # as the front end names an initialiser block
COMPONENT = "component"  # as the front end names an INDEX that takes a value apart
COMPANION = NodeFlag.STATIC | NodeFlag.EXTENSION  # as the front end marks companions
_CLOSED = {"Any": frozenset[str](), "Enum": frozenset({"name", "ordinal", "compareTo", "values", "valueOf", "entries"})}

_SMALLER_OR_LARGER = frozenset({"Long", "Short", "Byte"})


class KotlinEvaluator(FunctionalEvaluator):
    """Kotlin's file-level rules and its function literals."""

    language = "kotlin"
    library = KOTLIN
    subtypes = KOTLIN_SUBTYPES
    root_type = "kotlin.Any"
    root_members = frozenset({"toString", "equals", "hashCode"})
    closed_bases = _CLOSED
    iteration = ("iterator", "hasNext", "next")
    references_call = True

    def takes_whole_numbers(self, wanted: Values) -> bool:
        return any(isinstance(value, Ext) and simple(value.name) in _SMALLER_OR_LARGER for value in wanted)

    def library_result(self, callee: Ext, path: str, call: int) -> Values:
        """A library's class is called to make an instance of it; there is no `new`."""
        found = super().library_result(callee, path, call)
        made = len(found) == 1 and isinstance(found[0], Ext) and found[0].name == f"{callee.name}()"
        return (Ext(callee.name, callee.args),) if made and is_type_name(callee.name) else found

    def module_name(self, path: str) -> str:
        return self.table(path).facts.package

    # -- file level

    def file_type(self, path: str, name: str) -> Values:
        table = self.read_names(path, name)
        facts = table.facts
        for index in table.imports[-1].get(name, ()) if -1 in table.imports else ():
            found = self.imported(path, facts.imports[index])
            if found and not any(isinstance(value, Func) for value in found):
                return found
        for index in table.defs[-1].get(name, ()) if -1 in table.defs else ():
            if facts.definitions[index].kind in TYPE_LIKE:
                return self.as_type(path, index)
        packages = [facts.package, *(facts.imports[index].module for index in table.stars.get(-1, ()))]
        for package in packages:
            found = self.package_type(path, package, name)
            if found:
                return found
        return (Ext(name),)

    def file_variable(self, path: str, name: str) -> Values | None:
        for place, index in [*self._top_level(path, name), *self._properties(path, name)]:
            if self.definition(place, index).kind is NodeKind.VARIABLE:
                return self.variable_type(place, index)
        return None

    def _properties(self, path: str, name: str) -> list[tuple[str, int]]:
        """Top-level properties of other files that a plain name can mean."""
        table = self.read_names(path, name)
        facts = table.facts
        places = [(facts.imports[index].module, facts.imports[index].name) for index in table.imports[-1].get(name, ())]
        places += [(facts.imports[index].module, name) for index in table.stars.get(-1, ())]
        found: list[tuple[str, int]] = []
        for package, label in [*places, (facts.package, name)]:
            found += self._properties_of(package, label)
        return found

    def _properties_of(self, package: str, name: str) -> list[tuple[str, int]]:
        """A package's top-level properties of a name."""
        values = self._guarded("", ("pv", package, name), partial(self._package_properties, package, name), WIDE)
        return [(value.path, value.index) for value in values if isinstance(value, Func)]

    def _package_properties(self, package: str, name: str) -> Values:
        found: list[Value] = []
        for place in self.world.package_files(self.language, package):
            self.world.record("name", place, name)
            table = self.table(place)
            found += [
                Func(place, index)
                for index in table.defs[-1].get(name, ())
                if table.facts.definitions[index].kind is NodeKind.VARIABLE
            ]
        return tuple(found)

    def file_call(self, path: str, callee: Expr, call: int) -> Values:
        site = self.table(path).facts.exprs[call]
        candidates = self._top_level(path, callee.name)
        functions = [item for item in candidates if self.is_method(self.definition(*item))]
        plain = [item for item in functions if self.definition(*item).receiver is None]
        if plain:
            chosen = self.choose_overload(plain, path, site, strict=True)
            if chosen:
                return tuple(Func(*item) for item in chosen)
        made = self._construction(path, callee, site)
        if made:
            return made
        for item in candidates:
            if self.definition(*item).kind is NodeKind.VARIABLE:
                return self.called_variable(self.variable_type(*item), path, call) or UNKNOWN
        for receiver in self.enclosing_instances(path, callee.scope):
            found = self.extension_call(receiver, callee.name, path, call)
            if found:
                return found
        return self._standard(path, callee.name, site)

    def _construction(self, path: str, callee: Expr, site: Expr) -> Values:
        found: list[Value] = []
        for value in self.type_name(path, callee.scope, callee.name):
            if isinstance(value, Class):
                found += self.choose_constructor(value, path, site)
            elif isinstance(value, Ext) and ("." in value.name or callee.name[:1].isupper()):
                found.append(value)
        return tuple(found)

    def _standard(self, path: str, name: str, site: Expr) -> Values:
        """The functions of the standard library that need no import."""
        if name in WITH_RECEIVER and name == "with" and site.args:
            return (Ext("kotlin.with", (self.value(path, site.args[0]),)),)
        if name in STANDARD_FUNCTIONS or f"kotlin.{name}" in self.library.static:
            return (Ext(f"kotlin.{name}"),)
        return UNKNOWN

    def _top_level(self, path: str, name: str) -> list[tuple[str, int]]:
        """Top-level functions and properties that a plain name can mean in a file, nearest first."""
        table = self.read_names(path, name)
        facts = table.facts
        found = [(path, index) for index in table.defs[-1].get(name, ())] if -1 in table.defs else []
        for index in table.imports[-1].get(name, ()) if -1 in table.imports else ():
            item = facts.imports[index]
            found += self._package_functions(path, item.module, item.name)
            found += self._object_members(path, item)
        for package in [facts.package, *(facts.imports[index].module for index in table.stars.get(-1, ()))]:
            found += self._package_functions(path, package, name)
        return list(dict.fromkeys(found))

    def _object_members(self, path: str, item: Import) -> list[tuple[str, int]]:
        """`import a.Object.member`."""
        parts = item.module.split(".")
        owners = self.qualified_type(path, parts) if len(parts) > 1 and parts[-1][:1].isupper() else UNKNOWN
        return [
            member
            for owner in owners
            if isinstance(owner, Class)
            for holder in (owner, *self.companions(owner))
            for member in self.own_definitions(holder, item.name)
        ]

    def _package_functions(self, path: str, package: str, name: str) -> list[tuple[str, int]]:
        found: list[tuple[str, int]] = []
        for place, index in self.world.named(self.language, name, CALLABLE_KINDS):
            table = self.table(place)
            definition = table.facts.definitions[index]
            if definition.parent >= 0:
                continue
            self.world.record("name", place, MODULE_STARS)
            if table.facts.package == package and (place == path or not definition.flags & NodeFlag.PRIVATE):
                found.append((place, index))
        return found

    def import_values(self, path: str, item: Import) -> Values:
        if item.name == "*":
            return UNKNOWN
        found = self.qualified_type(path, [*item.module.split("."), item.name])
        if found:
            return found
        functions = self._package_functions(path, item.module, item.name)
        if functions:
            return tuple(Func(*function) for function in functions[:3])
        return (Ext(f"{item.module}.{item.name}"),)

    def is_part(self, definition: Definition) -> bool:
        """A multiplatform class: declared with `expect`, given with `actual`."""
        return not {"expect", "actual"}.isdisjoint(definition.signature.split("(")[0].split())

    # -- companions

    def companions(self, owner: Inst | Class) -> list[Class]:
        found: list[Class] = []
        for path, index in self.parts(owner.path, owner.index):
            self.touch(path, index)
            table = self.table(path)
            found += [
                Class(path, child)
                for child in table.children.get(index, ())
                if table.facts.definitions[child].kind is NodeKind.CLASS
                and table.facts.definitions[child].flags & COMPANION == COMPANION
            ]
        return found

    def called_member(self, base: Inst | Class, name: str, path: str, call: int) -> Values | None:
        found = super().called_member(base, name, path, call)
        if found is not None:
            return found
        for ancestor in self.linear(base.path, base.index):
            for companion in self.companions(ancestor) if isinstance(ancestor, Inst) else ():
                found = super().called_member(companion, name, path, call)
                if found is not None:
                    return found
        return None

    def field(self, base: Inst | Class, name: str) -> Values | None:
        found = super().field(base, name)
        if found is not None:
            return found
        for ancestor in self.linear(base.path, base.index):
            for companion in self.companions(ancestor) if isinstance(ancestor, Inst) else ():
                found = super().field(companion, name)
                if found is not None:
                    return found
        return None

    # -- bare names as definitions

    def own_field(self, path: str, index: int, name: str) -> Values:
        found = super().own_field(path, index, name)
        for companion in () if found else self._companions_around(path, index):
            found = super().own_field(companion.path, companion.index, name)
            if found:
                return found
        return found

    def defined(self, owner: Value, name: str) -> Values:
        found = super().defined(owner, name)
        if found or not isinstance(owner, Class):
            return found
        for companion in self.companions(owner):
            found = super().defined(companion, name)
            if found:
                return found
        return UNKNOWN

    def _companions_around(self, path: str, index: int) -> list[Class]:
        """Those of a class and its ancestors, whose members need no name before them."""
        lineage = [item for item in self.linear(path, index) if isinstance(item, Inst)]
        return [companion for item in lineage for companion in self.companions(item)]

    def binds_local(self, path: str, scope: int, name: str, at: int) -> bool:
        definition = self.table(path).facts.definitions[scope]
        if name == "it" and definition.flags & NodeFlag.ANONYMOUS and not definition.params:
            return True
        accessor = definition.kind is NodeKind.VARIABLE and definition.flags & NodeFlag.PROPERTY
        return (name == "field" and bool(accessor)) or super().binds_local(path, scope, name, at)

    def is_class_parameter(self, path: str, index: int, below: int, name: str) -> bool:
        """Initial values and initialiser blocks see the primary constructor's parameters, functions do not."""
        definitions = self.table(path).facts.definitions
        if not any(param.name == name for param in definitions[index].params):
            return False
        return definitions[below].kind is NodeKind.VARIABLE or definitions[below].name == INITIALIZER or below == index

    def is_parameter_too(self, field: Value) -> bool:
        """A property with an initial value is declared in the class's body."""
        return isinstance(field, Func) and self.definition(field.path, field.index).value < 0

    def file_field(self, path: str, name: str) -> Values:
        """A property of the file, of an import, of the package or of one whose names are all imported."""
        table = self.read_names(path, name)
        if name in table.imports.get(-1, {}):
            places = [
                place
                for index in table.imports[-1][name]
                for place in self._imported_properties(path, table.facts.imports[index])
            ]
        else:
            places = [(path, index) for index in table.defs.get(-1, {}).get(name, ())]
            packages = [table.facts.package, *(table.facts.imports[star].module for star in table.stars.get(-1, ()))]
            for package in packages:
                places += self._properties_of(package, name)
        for place in dict.fromkeys(places):
            definition = self.definition(*place)
            hidden = definition.flags & NodeFlag.PRIVATE and place[0] != path
            if definition.kind is NodeKind.VARIABLE and definition.receiver is None and not hidden:
                return (Func(*place),)
        return UNKNOWN

    def _imported_properties(self, path: str, item: Import) -> list[tuple[str, int]]:
        return [*self._properties_of(item.module, item.name), *self._object_members(path, item)]

    # -- calls

    def is_method(self, definition: Definition) -> bool:
        return super().is_method(definition) and not definition.name.startswith("<")

    def missing_method(self, base: Inst | Class, name: str, path: str, call: int) -> Values:
        site = self.table(path).facts.exprs[call]
        nested = self.member_type(base.path, base.index, name)
        if nested:
            return tuple(v for n in nested if isinstance(n, Class) for v in self.choose_constructor(n, path, site))
        held = self.called_variable(self.field(base, name), path, call)
        if held is not None:
            return held
        if name in SCOPE_FUNCTIONS:
            return self.extension_call(base, name, path, call) or (Ext(f"kotlin.{name}", ((base,),)),)
        if name == "copy" and self.definition(base.path, base.index).params:
            return (Ext("kotlin.apply", ((base,),)),)
        return super().missing_method(base, name, path, call)

    def eval_member(self, path: str, index: int, expr: Expr) -> Values:
        found = super().eval_member(path, index, expr)
        if not found and index in self.sites(path).calls and expr.name in self.library.common:
            return EXTERNAL if not self.value(path, expr.base) else found
        return found

    def method_call(self, base: Value, name: str, path: str, call: int) -> Values:
        if name in SCOPE_FUNCTIONS and not isinstance(base, (Inst, Class)):
            return (Ext(f"kotlin.{name}", ((base,),)),)
        return super().method_call(base, name, path, call)

    def choose_constructor(self, cls: Class, path: str, call: Expr) -> Values:
        """The class itself stands for its primary constructor: one of several where there are others."""
        definition = self.definition(cls.path, cls.index)
        if not definition.params or not takes(definition, len(call.args)):
            return super().choose_constructor(cls, path, call)
        others = super().choose_constructor(cls, path, call)
        candidates = [(cls.path, cls.index), *((v.path, v.index) for v in others if isinstance(v, Func))]
        chosen = self.choose_overload(candidates, path, call, strict=False)
        return tuple(cls if item == candidates[0] else Func(*item) for item in chosen)

    def param_for(self, definition: Definition, arg: Expr, position: int) -> Param | None:
        found = super().param_for(definition, arg, position)
        last = definition.params[-1] if definition.params else None
        if arg.op is ops.FUNCTION and last is not None and not _is_function(found) and _is_function(last):
            return last  # a trailing literal after defaulted parameters
        return found

    def literal_takes(self, literal: Definition, count: int) -> bool:
        return len(literal.params) == count or (not literal.params and count <= 1)

    # -- function literals

    def eval_this(self, path: str, index: int, expr: Expr) -> Values:
        if expr.type is None and index not in self.sites(path).calls:
            definitions = self.table(path).facts.definitions
            scope = expr.scope
            while scope >= 0 and definitions[scope].kind not in CLASS_LIKE:
                receivers = self.implicit_receiver(path, scope)
                if receivers:
                    return receivers
                scope = definitions[scope].parent
        return super().eval_this(path, index, expr)

    def implicit_receiver(self, path: str, scope: int) -> Values:
        definition = self.table(path).facts.definitions[scope]
        if definition.receiver is not None:
            return self.typed(path, scope, definition.receiver)
        if not definition.flags & NodeFlag.ANONYMOUS:
            return UNKNOWN
        return self._guarded(path, ("rcv", path, scope), lambda: self._literal_receiver(path, scope))

    def _literal_receiver(self, path: str, scope: int) -> Values:
        signature = self.expected_signature(path, scope)
        return signature.receiver if signature is not None else UNKNOWN

    def local(self, path: str, scope: int, name: str, at: int) -> Values | None:
        found = super().local(path, scope, name, at)
        if found is not None:
            return found
        definition = self.table(path).facts.definitions[scope]
        if not definition.flags & NodeFlag.ANONYMOUS:
            return None
        if name == "it" and not definition.params:
            return self._guarded(path, ("lp", path, scope, 0), lambda: self.literal_param(path, scope, 0)) or None
        if name.startswith("<parameter"):
            place = int(name.strip("<>").removeprefix("parameter"))
            return self._guarded(path, ("lp", path, scope, place), lambda: self.literal_param(path, scope, place))
        return None

    def signature_of(self, value: Value) -> Signature | None:
        if isinstance(value, Ext) and value.name == ".->" and len(value.args) > 1:
            return Signature(value.args[2:], value.args[0], value.args[1])
        return super().signature_of(value)

    def library_signature(self, callee: Ext, literal: Definition, path: str, call: int) -> Signature | None:
        owner, _, name = callee.name.rpartition(".")
        if owner == "kotlin" and name in SCOPE_FUNCTIONS | WITH_RECEIVER and callee.args:
            if name in WITH_RECEIVER:
                return Signature((), UNKNOWN, callee.args[0])
            return Signature((callee.args[0],), UNKNOWN)
        if owner == "kotlin" and name in BUILDERS:
            return Signature((), UNKNOWN, (Ext(BUILDERS[name]),))
        return super().library_signature(callee, literal, path, call)

    def receiver_call(self, receiver: Value, name: str, path: str, call: int) -> Values | None:
        """What a library's type is known to have is meant before what the class around has."""
        found = super().receiver_call(receiver, name, path, call)
        if found is None and isinstance(receiver, Ext) and name in self.library.common:
            return EXTERNAL
        return found

    # -- operators

    def eval_unknown(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        """An operator on one of the repository's own types is a call of its operator function."""
        if not expr.name:
            return UNKNOWN
        left = self.value(path, expr.base)
        if expr.name == "plus" and is_text(left):
            return left
        number = arithmetic(left, self.value(path, expr.args[0]))
        if number:
            return number
        return self._each(self._operator_functions(path, expr), self._operator_result)

    def _operator_result(self, value: Value) -> Values:
        return self.declared_result(value) if isinstance(value, Func) else EXTERNAL

    def _operator_functions(self, path: str, expr: Expr) -> Values:
        found: list[Value] = []
        for base in self.value(path, expr.base):
            if not isinstance(base, Inst):
                found += EXTERNAL
                continue
            for ancestor in self.linear(base.path, base.index):
                found += [
                    Func(*member)
                    for member in (self.own_definitions(ancestor, expr.name) if isinstance(ancestor, Inst) else ())
                    if self.is_method(self.definition(*member)) and takes(self.definition(*member), 1)
                ][:1]
            extensions = self.visible_extensions(path, expr.name)
            found += [Func(*item) for item in extensions if self.fits_receiver(base, item)][:1]
        return tuple(found[:1])

    def implicit_calls(self, path: str) -> Iterator[tuple[int, tuple[str, int], Rule, int]]:
        yield from super().implicit_calls(path)
        for expr in self.table(path).facts.exprs:
            if expr.op is ops.UNKNOWN and expr.name:
                for value in self._operator_functions(path, expr):
                    if isinstance(value, Func):
                        yield expr.scope, (value.path, value.index), Rule.TYPED, expr.line

    # -- values

    def external_member(self, base: Ext, name: str) -> Values:
        spec = self.library.results.get(simple(base.name), {}).get(name)
        if spec is not None:
            return self.from_spec(spec, base, "", -1) or EXTERNAL
        return super().external_member(base, name)

    def eval_index(self, path: str, index: int, expr: Expr) -> Values:
        if expr.name != COMPONENT:
            return super().eval_index(path, index, expr)
        place = int(self.table(path).facts.exprs[expr.args[0]].text)
        return self._each(self.value(path, expr.base), lambda base: self._component(base, place))

    def _component(self, base: Value, place: int) -> Values:
        """One part of a value that is taken apart: of a data class, a pair or an entry."""
        if isinstance(base, Inst):
            params = self.definition(base.path, base.index).params
            if place < len(params):
                return self.apply(self.typed(base.path, base.index, params[place].type), self.env_of(base))
        if isinstance(base, Ext) and "component" in self.library.results.get(simple(base.name), {}):
            return base.args[place] or EXTERNAL if place < len(base.args) else EXTERNAL
        return EXTERNAL if isinstance(base, Ext) else UNKNOWN

    def item(self, base: Value, key: str | None) -> Values:
        """`base[key]` calls `get`."""
        if isinstance(base, Inst):
            getters = [value for value in self.named_methods(base, "get") if isinstance(value, Func)]
            return tuple(v for value in getters[:1] for v in self.apply(self.declared_result(value), self.env_of(base)))
        if isinstance(base, Ext) and base.args:
            spec = self.library.results.get(simple(base.name), {}).get("get")
            if spec is not None:
                return self.from_spec(spec, base, "", -1) or EXTERNAL
        return super().item(base, key)

    def element(self, base: Value) -> Values:
        if isinstance(base, Ext) and simple(base.name) in ("Map", "MutableMap", "HashMap", "LinkedHashMap"):
            return (Ext("Entry", base.args),)
        return super().element(base)

    def referenced(self, path: str, expr: Expr) -> Values:
        if expr.base >= 0:
            return super().referenced(path, expr)
        table = self.table(path)
        scope = expr.scope
        while scope >= 0:
            definition = table.facts.definitions[scope]
            if definition.kind in CLASS_LIKE:
                found = self.named_methods(self.own_instance(path, scope), expr.name)
                if any(isinstance(value, Func) for value in found):
                    return found
            elif expr.name in table.defs.get(scope, {}):
                return (Func(path, table.defs[scope][expr.name][0]),)
            scope = definition.parent
        for item in self._top_level(path, expr.name):
            if self.is_method(self.definition(*item)):
                return (Func(*item),)
        return self.type_name(path, expr.scope, expr.name)

    def within_reach(self, extensions: list[tuple[str, int]], path: str, scope: int) -> list[tuple[str, int]]:
        """An extension that is a member of a class is there for that class, its subclasses and their receivers."""
        if all(self.definition(*item).parent < 0 for item in extensions):
            return extensions
        around = {owner: rank for rank, owner in enumerate(self._owners_around(path, scope))}
        ranked = [
            (around.get((place, parent), len(around)), place, index)
            for place, index in extensions
            if (parent := self.definition(place, index).parent) < 0 or (place, parent) in around
        ]
        return [(place, index) for _, place, index in sorted(ranked)]

    def _owners_around(self, path: str, scope: int) -> list[tuple[str, int]]:
        """The functions and classes whose definitions need no receiver at a place, nearest first."""
        definitions = self.table(path).facts.definitions
        found: list[tuple[str, int]] = []
        while scope >= 0:
            found.append((path, scope))
            if definitions[scope].kind in CLASS_LIKE:
                found += self._lineage(self.own_instance(path, scope))
            else:
                for receiver in self.implicit_receiver(path, scope):
                    found += self._lineage(receiver)
            scope = definitions[scope].parent
        return list(dict.fromkeys(found))

    def _lineage(self, value: Value) -> list[tuple[str, int]]:
        if not isinstance(value, (Inst, Class)):
            return []
        owners = [item for item in self.linear(value.path, value.index) if isinstance(item, Inst)]
        companions = [(other.path, other.index) for item in owners for other in self.companions(item)]
        return [*((item.path, item.index) for item in owners), *companions]

    def sees_extension(self, path: str, place: str, index: int) -> bool:
        definition = self.table(place).facts.definitions[index]
        if definition.parent >= 0:
            return True  # `within_reach` decides
        if definition.flags & NodeFlag.PRIVATE and place != path:
            return False
        table = self.read_names(path, definition.name)
        facts = table.facts
        package = self.table(place).facts.package
        if package == facts.package:
            return True
        if any(facts.imports[star].module == package for star in table.stars.get(-1, ())):
            return True
        return any(item.module == package and item.name == definition.name for item in facts.imports)


def _is_function(param: Param | None) -> bool:
    declared: Type | None = param.type if param is not None else None
    return declared is not None and declared.name in ("->", ".->")


EVALUATOR = KotlinEvaluator
