"""C#: namespaces and usings, partial classes, extension methods, delegates, tasks."""

from __future__ import annotations

from collections.abc import Iterator

from ctxsearch.graph import ops
from ctxsearch.graph.facts import MODULE_SCOPE, Definition, Expr, Import, ParamKind, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.graph.resolve.dotnet import DOTNET, DOTNET_SUBTYPES
from ctxsearch.graph.resolve.functional import FunctionalEvaluator
from ctxsearch.graph.resolve.overloads import simple, takes
from ctxsearch.graph.resolve.surface import MODULE_STARS
from ctxsearch.graph.resolve.tables import FileTable
from ctxsearch.graph.resolve.typed_overloads import MAX_TIED, NOTHING, Signature
from ctxsearch.graph.resolve.typed_types import TYPE_LIKE, WIDE
from ctxsearch.graph.resolve.values import EXTERNAL, UNKNOWN, Class, Ext, Func, Inst, Package, Value, Values, Var

_OBJECT = frozenset({"ToString", "Equals", "GetHashCode", "GetType", "MemberwiseClone", "ReferenceEquals", "Finalize"})
_ENUM = frozenset({"HasFlag", "CompareTo", "GetTypeCode"})
ARITY = "`"  # in a type's name: before the number of its type arguments, as the platform itself writes it
RELATIVE = ">"  # in a Package's name: after the namespace in which the rest was written
_PRIMITIVES = (
    "int uint long ulong short ushort byte sbyte char bool float double decimal string object void dynamic nint nuint"
)
_DELEGATES = frozenset({"Func", "Action", "Predicate", "Comparison", "EventHandler"})  # nothing derives from them
_WHOLE = frozenset({"uint", "long", "ulong", "short", "ushort", "byte", "sbyte", "decimal", "nint", "nuint"})
_CLOSED = {"Enum": _ENUM, "Object": frozenset[str](), "object": frozenset[str]()}

GLOBAL_USINGS = ("GlobalUsings.cs", "GlobalUsing.cs", "Usings.cs")  # as project templates call them


class CSharpEvaluator(FunctionalEvaluator):
    """C#'s namespaces, and classes in several parts."""

    language = "csharp"
    library = DOTNET
    subtypes = DOTNET_SUBTYPES
    root_type = "object"
    root_members = _OBJECT
    closed_bases = _CLOSED
    iteration = ("GetEnumerator", "MoveNext")
    primitives = frozenset(_PRIMITIVES.split())
    prefers_nearer = True

    def module_name(self, path: str) -> str:
        return self.table(path).facts.package

    def qualified(self, module: str, definition: Definition) -> str:
        if definition.kind is NodeKind.PACKAGE or not module:
            return definition.qualified_name
        return f"{module}.{definition.qualified_name}"

    def is_virtual(self, method: tuple[str, int], override: tuple[str, int]) -> bool:
        """A namesake hides a class's method unless it says `override`; an interface's it implements."""
        path, index = method
        owner = self.definition(path, index).parent
        if owner >= 0 and self.definition(path, owner).kind is NodeKind.INTERFACE:
            return True
        return "override" in self.definition(*override).signature.partition("(")[0].split()

    # -- namespaces

    def namespace(self, table: FileTable, index: int) -> str:
        """The namespace that a definition stands in."""
        definitions = table.facts.definitions
        while index >= 0:
            index = definitions[index].parent
            if index >= 0 and definitions[index].kind is NodeKind.PACKAGE:
                return definitions[index].name
        return table.facts.package

    def package_type(self, path: str, package: str, name: str) -> Values:  # noqa: ARG002
        plain, _, arity = name.partition(ARITY)

        def compute() -> Values:
            found: list[Value] = []
            for place, index in self.world.named(self.language, plain, TYPE_LIKE):
                table = self.table(place)
                around = table.facts.definitions[index].parent
                if around >= 0 and table.facts.definitions[around].kind is not NodeKind.PACKAGE:
                    continue
                self.world.record("name", place, MODULE_STARS)
                if self.namespace(table, index) == package:
                    found += self.as_type(place, index)
            return tuple(found)

        return self._of_arity(self._guarded("", ("pt", package, plain), compute, WIDE), arity)

    def _of_arity(self, found: Values, arity: str) -> Values:
        """Types may share a name and differ in the number of type parameters."""
        if not arity and len(found) < 2:
            return found
        wanted = int(arity or 0)
        fitting = [
            value
            for value in found
            if not isinstance(value, Class) or len(self.definition(value.path, value.index).type_params) == wanted
        ]
        return tuple(fitting[:1]) if fitting or arity else found[:1]

    def type_classes(self, path: str, scope: int, declared: Type) -> Values:
        if declared.args and declared.name not in self.primitives:
            return super().type_classes(path, scope, Type(f"{declared.name}{ARITY}{len(declared.args)}"))
        return super().type_classes(path, scope, declared)

    def member_type(self, path: str, index: int, name: str) -> Values | None:
        return super().member_type(path, index, name.partition(ARITY)[0])

    def _type_in(self, path: str, scope: int, name: str) -> Values:
        definition = self.table(path).facts.definitions[scope]
        if definition.kind is not NodeKind.PACKAGE:
            plain, _, arity = name.partition(ARITY)
            if definition.name == plain and len(definition.type_params) != int(arity or 0) and definition.parent < 0:
                return self.type_name(path, definition.parent, name)
            return super()._type_in(path, scope, name)
        for package in _outwards(definition.name):
            found = self.package_type(path, package, name)
            if found:
                return found
        opened = self._through_usings(path, scope, definition.name, name)
        return opened or self.type_name(path, definition.parent, name)

    def file_type(self, path: str, name: str) -> Values:
        plain = name.partition(ARITY)[0]
        facts = self.read_names(path, plain).facts
        for package in _outwards(facts.package):
            found = self.package_type(path, package, name)
            if found:
                return found
        return self._through_usings(path, MODULE_SCOPE, facts.package, name) or (Ext(plain),)

    def _through_usings(self, path: str, scope: int, package: str, name: str) -> Values:
        """A type that the usings of a file, or those inside one of its namespaces, bring in."""
        plain = name.partition(ARITY)[0]
        self.touch(path, scope)
        own = [item for item in self.read_names(path, plain).facts.imports if item.scope == scope]
        if scope == MODULE_SCOPE:
            own += self._global_usings(path, plain)
        for item in own:
            if item.alias == plain:
                return self.imported(path, item)
        for item in own:
            found = self._opened_type(path, package, item, name) if item.name == "*" else UNKNOWN
            if found:
                return found
        return UNKNOWN

    def _global_usings(self, path: str, name: str) -> list[Import]:
        """What the project's file for that opens in every file beside and below it."""
        found: list[Import] = []
        for filename in GLOBAL_USINGS:
            for place in self.world.with_basename(filename):
                directory = place.rpartition("/")[0]
                if place != path and (not directory or path.startswith(f"{directory}/")):
                    found += [item for item in self.read_names(place, name).facts.imports if item.level]
        return found

    def _opened_type(self, path: str, package: str, item: Import, name: str) -> Values:
        """A type through `using`: of a namespace (also one relative to the file's own), or nested in a class."""
        if item.kind == "static":
            return self._each(self._static_class(path, item), lambda owner: self.nested_type(owner, name))
        for around in ("", *_outwards(package)):
            found = self.package_type(path, f"{around}.{item.module}" if around else item.module, name)
            if found:
                return found
        return UNKNOWN

    def _static_class(self, path: str, item: Import) -> Values:
        found = self.qualified_type(path, item.module.split("."))
        return tuple(value for value in found if isinstance(value, Class))

    def qualified_type(self, path: str, parts: list[str]) -> Values:
        if len(parts) == 1:
            return self.package_type(path, "", parts[0])
        package = self.table(path).facts.package if path else ""
        for around in ("", *_outwards(package)):
            found = super().qualified_type(path, [*around.split("."), *parts] if around else parts)
            if found:
                return found
        return UNKNOWN

    def unknown_name(self, path: str, scope: int, name: str, types: Values) -> Values:  # noqa: ARG002
        """The start of a namespace's name, which may be relative to the namespaces around."""
        return (Package(f"{self._space_of(path, scope)}{RELATIVE}{name}"),)

    def _space_of(self, path: str, scope: int) -> str:
        table = self.table(path)
        if scope >= 0 and table.facts.definitions[scope].kind is NodeKind.PACKAGE:
            return table.facts.definitions[scope].name
        return self.namespace(table, scope)

    def package_member(self, package: Package, name: str) -> Values:
        space, _, rest = package.name.partition(RELATIVE)
        for around in _outwards(space):
            found = self.package_type("", f"{around}.{rest}" if around else rest, name)
            if found:
                return found
        return (Package(f"{package.name}.{name}"),)

    def import_values(self, path: str, item: Import) -> Values:
        if item.name == "*":
            return self._static_class(path, item) if item.kind == "static" else UNKNOWN
        parts = [*item.module.split("."), item.name] if item.module else [item.name]
        return self.qualified_type(path, parts) or (Ext(".".join(parts)),)

    # -- partial classes

    def is_part(self, definition: Definition) -> bool:
        return "partial" in definition.signature.split()

    def is_class(self, parent: Value, child: Inst) -> bool:
        if isinstance(parent, Ext):
            name = simple(parent.name)
            return not (name[:1] == "I" and name[1:2].isupper())
        return super().is_class(parent, child)

    # -- calls

    def accepts(self, definition: Definition, path: str, call: Expr) -> bool:
        """Type arguments that are not written must follow from the arguments: the result's type says nothing."""
        if not super().accepts(definition, path, call):
            return False
        if not definition.type_params or call.op is not ops.CALL or (call.type is not None and call.type.args):
            return True
        taken = {name for param in definition.params for name in _names(param.type)}
        return all(param.name in taken for param in definition.type_params)

    def is_function_type(self, value: Value) -> bool:
        return isinstance(value, Ext) and simple(value.name) in _DELEGATES

    def takes_whole_numbers(self, wanted: Values) -> bool:
        return any(isinstance(value, Ext) and simple(value.name) in _WHOLE for value in wanted)

    def is_method(self, definition: Definition) -> bool:
        return super().is_method(definition) and not definition.name.startswith("<")

    def file_call(self, path: str, callee: Expr, call: int) -> Values:
        for item in self.read_names(path, callee.name).facts.imports:
            if item.kind == "static" and item.name == "*":
                for owner in self._static_class(path, item):
                    found = self.called_member(owner, callee.name, path, call) if isinstance(owner, Class) else None
                    if found is not None:
                        return found
        return EXTERNAL if callee.name == "nameof" else UNKNOWN

    def file_variable(self, path: str, name: str) -> Values | None:
        for item in self.read_names(path, name).facts.imports:
            if item.kind == "static" and item.name == "*":
                for owner in self._static_class(path, item):
                    found = self.field(owner, name) if isinstance(owner, Class) else None
                    if found is not None:
                        return found
        return None

    def file_field(self, path: str, name: str) -> Values:
        for item in self.read_names(path, name).facts.imports:
            if item.kind == "static" and item.name == "*":
                for owner in self._static_class(path, item):
                    found = self.defined(owner, name)
                    if found:
                        return found
        return UNKNOWN

    def binds_local(self, path: str, scope: int, name: str, at: int) -> bool:
        """What is assigned to a property is `value` in its accessor."""
        definition = self.table(path).facts.definitions[scope]
        accessor = name == "value" and (definition.flags & NodeFlag.PROPERTY or definition.name == "this[]")
        return bool(accessor) or super().binds_local(path, scope, name, at)

    def is_class_parameter(self, path: str, index: int, below: int, name: str) -> bool:  # noqa: ARG002
        """All code of a class sees the parameters of its primary constructor."""
        return any(param.name == name for param in self.table(path).facts.definitions[index].params)

    def is_parameter_too(self, field: Value) -> bool:
        """A record's parameters are its properties."""
        return isinstance(field, Func) and self.definition(field.path, field.index).value < 0

    def method_call(self, base: Value, name: str, path: str, call: int) -> Values:
        if isinstance(base, Package):
            return (Ext(f"{base.name.partition(RELATIVE)[2]}.{name}"),)
        if isinstance(base, (Inst, Class)) and self.called_member(base, name, path, call) is None:
            held = self.called_variable(self.field(base, name), path, call)
            if held is not None:
                return held
        return super().method_call(base, name, path, call)

    def called_member(self, base: Inst | Class, name: str, path: str, call: int) -> Values | None:
        found = super().called_member(base, name, path, call)
        if found is not None and not any(self._is_extension(value) for value in found):
            return found
        # `Extensions.Method(receiver, ...)`: the receiver is an ordinary argument
        count = len(self.table(path).facts.exprs[call].args)
        candidates = [
            Func(*member)
            for member in self.own_definitions(base, name)
            if self._is_extension(Func(*member)) and takes(self.definition(*member), count - 1)
        ]
        return tuple(candidates[:MAX_TIED]) or found

    def _is_extension(self, value: Value) -> bool:
        if not isinstance(value, Func):
            return False
        params = self.definition(value.path, value.index).params
        return bool(params) and params[0].kind is ParamKind.RECEIVER

    def sees_extension(self, path: str, place: str, index: int) -> bool:
        theirs = self.table(place)
        space = self.namespace(theirs, index)
        facts = self.read_names(path, theirs.facts.definitions[index].name).facts
        own = [facts.package, *(item.name for item in facts.definitions if item.kind is NodeKind.PACKAGE)]
        if any(space in _outwards(package) for package in own):
            return True
        return any(item.name == "*" and item.module == space for item in facts.imports)

    def new_classes(self, path: str, expr: Expr) -> Values:
        """`new(...)` as an argument makes what the parameter asks for."""
        if expr.type is not None or expr.base >= 0:
            return super().new_classes(path, expr)
        facts = self.table(path).facts
        role, call, position = self.sites(path).parents.get(facts.exprs.index(expr), ("", -1, -1))
        if role != "arg":
            return UNKNOWN
        site = facts.exprs[call]
        for callee in self.ask_callee(path, call, site):
            if isinstance(callee, Func):
                definition = self.definition(callee.path, callee.index)
                param = self.param_for(definition, site, position)
                wanted = self.typed(callee.path, callee.index, param.type) if param is not None else UNKNOWN
                return tuple(Class(v.path, v.index, v.args) if isinstance(v, Inst) else v for v in wanted)
        return EXTERNAL

    # -- values

    def eval_await(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        return self._each(self.value(path, expr.base), self._awaited)

    def _awaited(self, value: Value) -> Values:
        if isinstance(value, Ext) and simple(value.name) in ("Task", "ValueTask"):
            return value.args[0] if value.args else EXTERNAL
        return (value,)

    def eval_name(self, path: str, index: int, expr: Expr) -> Values:
        found = super().eval_name(path, index, expr)
        if found and not all(isinstance(value, Package) for value in found):
            return found
        if index in self.sites(path).calls:
            return found
        return self._method_group(path, expr) or found

    def _method_group(self, path: str, expr: Expr) -> Values:
        """A method named without being called."""
        for value in self.enclosing_instances(path, expr.scope):
            found = self.named_methods(value, expr.name)
            if any(isinstance(item, Func) for item in found):
                return found
        return UNKNOWN

    def signature_of(self, value: Value) -> Signature | None:
        if isinstance(value, Ext):
            name = simple(value.name)
            if name == "Func" and value.args:
                return Signature(value.args[:-1], value.args[-1])
            if name == "Action":
                return Signature(value.args, NOTHING)
            if name == "Expression" and value.args and value.args[0]:
                return self.signature_of(value.args[0][0])
        return super().signature_of(value)

    def _interface_signature(self, value: Inst) -> Signature | None:  # noqa: ARG002
        return None  # a function is no instance of an interface, whatever that declares

    def external_member(self, base: Ext, name: str) -> Values:
        spec = self.library.results.get(simple(base.name), {}).get(name)
        if spec is not None:
            return self.from_spec(spec, base, "", -1) or EXTERNAL
        return super().external_member(base, name)

    def item(self, base: Value, key: str | None) -> Values:
        if isinstance(base, Ext) and base.args:
            if base.name == "()" and key is not None and key.isdigit() and int(key) < len(base.args):
                return base.args[int(key)]
            spec = self.library.results.get(simple(base.name), {}).get("item")
            if spec is not None:
                return self.from_spec(spec, base, "", -1) or EXTERNAL
        if isinstance(base, Inst):
            for ancestor in self.linear(base.path, base.index):
                for member in self.own_definitions(ancestor, "this[]") if isinstance(ancestor, Inst) else ():
                    result: Type | None = self.definition(*member).result
                    env = self.seen_as(base, ancestor.path, ancestor.index) if isinstance(ancestor, Inst) else {}
                    return self.apply(self.typed(*member, result), env)
        return super().item(base, key)

    def element(self, base: Value) -> Values:
        if isinstance(base, Ext) and len(base.args) == 2:
            return (Ext("KeyValuePair", base.args),)
        if isinstance(base, Var):
            return self._each(self.bounds(base), self.element)
        return super().element(base)

    def reference(self, path: str, expr: int) -> Values:
        if self.table(path).facts.exprs[expr].op is ops.MEMBER and expr in self.sites(path).calls:
            return UNKNOWN
        return super().reference(path, expr)


def _names(declared: Type | None) -> Iterator[str]:
    """All names in a type."""
    if declared is not None:
        yield declared.name
        for arg in declared.args:
            yield from _names(arg)


def _outwards(package: str) -> list[str]:
    """A namespace and those around it: `a.b`, `a`, and the global one."""
    parts = package.split(".") if package else []
    return [".".join(parts[:count]) for count in range(len(parts), -1, -1)]


EVALUATOR = CSharpEvaluator
