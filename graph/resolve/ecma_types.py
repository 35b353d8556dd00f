"""TypeScript's written types to values: what an annotation lets one call. No inference beyond what is written.

`Promise<T>` is T (awaiting is transparent), utility types are what they wrap, arrays and library collections are
`Shape`s whose elements are known. A type parameter is what the receiver's type arguments or the call say, else its
bound, else unknown.
"""

from __future__ import annotations

from ctxsearch.graph.facts import MODULE_SCOPE, Definition, Type
from ctxsearch.graph.model import NodeKind
from ctxsearch.graph.resolve.ecma_index import EcmaIndex
from ctxsearch.graph.resolve.ecma_modules import ModuleLinks
from ctxsearch.graph.resolve.values import EXTERNAL, UNKNOWN, Class, Ext, Func, Inst, Module, Shape, Value, Values

Env = tuple[tuple[str, Values], ...]

_PRIMITIVES = frozenset({"string", "number", "boolean", "symbol", "bigint", "object", "void", "null", "undefined"})
_SAYS_NOTHING = frozenset({"", "any", "unknown", "never"})
_WRAPPERS = frozenset(
    {"Promise", "PromiseLike", "Partial", "Required", "Readonly", "NonNullable", "Awaited", "Pick", "Omit", "Extract",
     "Exclude", "NoInfer"}
)  # fmt: skip
_LISTS = frozenset(
    {"Array", "ReadonlyArray", "Set", "ReadonlySet", "Iterable", "Iterator", "IterableIterator", "AsyncIterable",
     "Generator", "AsyncGenerator", "AsyncIterator", "ArrayLike", "WeakSet"}
)  # fmt: skip
_MAPS = frozenset({"Map", "ReadonlyMap", "WeakMap", "Record"})
_TYPE_KINDS = frozenset({NodeKind.CLASS, NodeKind.INTERFACE, NodeKind.TYPE_ALIAS, NodeKind.PACKAGE})
LIST, MAP, FUNCTION, CONSTRUCTOR, OBJECT = "[]", "Map", "->", "new", "{}"


class TypeReader(ModuleLinks):
    """Evaluates types."""

    def js(self, path: str) -> EcmaIndex:
        raise NotImplementedError

    # -- from a type to the values it stands for

    def type_instances(self, path: str, scope: int, declared: Type) -> Values:
        return self._instances(path, scope, declared, ())

    def typed_in(self, path: str, scope: int, declared: Type | None, env: Env) -> Values:
        """An instance of a declared type, with type parameters that are known."""
        if declared is None or declared.name in _SAYS_NOTHING:
            return UNKNOWN
        if not env:
            return self.typed(path, scope, declared)
        return self._guarded(
            path, ("te", path, scope, declared, env), lambda: self._instances(path, scope, declared, env)
        )

    def _instances(self, path: str, scope: int, declared: Type, env: Env) -> Values:
        name, args = declared.name, declared.args
        if name in _SAYS_NOTHING:
            return UNKNOWN
        if name in ("|", "&"):
            return tuple(value for arg in args for value in self.typed_in(path, scope, arg, env))
        if name in (LIST, "()", FUNCTION, CONSTRUCTOR, OBJECT):
            return (Shape(path, scope, declared, env),)
        if name == "this":
            owner = self.table(path).enclosing_class(scope)
            return (Inst(path, owner),) if owner >= 0 else UNKNOWN
        if name == "typeof":
            return self._named_value(path, scope, args[0].name) if args else UNKNOWN
        if name == "[k]":
            return self._indexed(path, scope, args, env)
        if name == "import":
            return self._imported_type(path, args)
        if name[0] in "'\"" or name in _PRIMITIVES:
            return (Ext(name if name[0] not in "'\"" else "string"),)
        return self._named_instances(path, scope, declared, env)

    def _named_instances(self, path: str, scope: int, declared: Type, env: Env) -> Values:
        for known, values in env:
            if known == declared.name:
                return values
        found: list[Value] = []
        for value in self.type_classes(path, scope, declared):
            if isinstance(value, Class):
                found += self._of_class(value, path, scope, declared, env)
            elif isinstance(value, Ext):
                found += self._of_library(value, path, scope, declared, env)
            else:
                found.append(value)
        return tuple(found)

    def _of_class(self, value: Class, path: str, scope: int, declared: Type, env: Env) -> Values:
        definition = self.definition(value.path, value.index)
        args = tuple(self.typed_in(path, scope, arg, env) for arg in declared.args)
        if definition.kind is not NodeKind.TYPE_ALIAS:
            return (Inst(value.path, value.index, args),)
        names = tuple(param.name for param in definition.type_params)
        known = tuple((name, arg) for name, arg in zip(names, args, strict=False) if arg)
        return self.typed_in(value.path, value.index, definition.result, known)

    def _of_library(self, value: Ext, path: str, scope: int, declared: Type, env: Env) -> Values:
        name, args = value.name, declared.args
        if name in _WRAPPERS:
            return self.typed_in(path, scope, args[0], env) if args else EXTERNAL
        if name in _LISTS:
            return (Shape(path, scope, Type(LIST, args[:1]), env),)
        if name in _MAPS:
            return (Shape(path, scope, Type(MAP, args[:2]), env),)
        if name in ("ReturnType", "InstanceType") and args:
            made = self.typed_in(path, scope, args[0], env)
            return self._each(made, self._made_by)
        return (value,)

    def _made_by(self, value: Value) -> Values:
        if isinstance(value, Func):
            return self.returned(value.path, value.index)
        if isinstance(value, Class):
            return (Inst(value.path, value.index, value.args),)
        if isinstance(value, Inst):
            signature = self.call_signature(value, 0)
            return (
                UNKNOWN
                if signature is None
                else self.typed_in(value.path, signature[0], signature[1].result, self.env_of(value))
            )
        if isinstance(value, Shape) and value.type.name in (FUNCTION, CONSTRUCTOR) and value.type.args:
            return self.typed_in(value.path, value.scope, value.type.args[0], value.env)
        return UNKNOWN

    def _named_value(self, path: str, scope: int, dotted: str) -> Values:
        first, *rest = dotted.split(".")
        found = self.lookup(path, scope, first, -1)
        for name in rest:
            found = self.members(found, name)
        return found

    def _indexed(self, path: str, scope: int, args: tuple[Type, ...], env: Env) -> Values:
        if len(args) < 2:
            return UNKNOWN
        owners = self.typed_in(path, scope, args[0], env)
        key = args[1].name
        if key[:1] == "'":
            return self.members(owners, key[1:-1])
        return self._each(owners, self.element) if key == "number" else UNKNOWN

    def _imported_type(self, path: str, args: tuple[Type, ...]) -> Values:
        found = self.module(path, args[0].name)
        classes = self._each(found, lambda module: self.type_member(module, args[1].name))
        return tuple(Inst(value.path, value.index) if isinstance(value, Class) else value for value in classes)

    # -- from a type's name to classes

    def type_classes(self, path: str, scope: int, declared: Type) -> Values:
        first, *rest = declared.name.split(".")
        if not first.replace("$", "_").isidentifier():
            return UNKNOWN
        found = self.type_name(path, scope, first)
        for name in rest:
            found = self._each(found, lambda owner, name=name: self.type_member(owner, name))  # type: ignore[misc]
        return found

    def type_name(self, path: str, scope: int, name: str) -> Values:
        return self._guarded(path, ("tn", path, scope, name), lambda: self._find_type(path, scope, name))

    def _find_type(self, path: str, scope: int, name: str) -> Values:
        definitions = self.table(path).facts.definitions
        inner = scope
        while inner >= 0:
            definition = definitions[inner]
            for param in definition.type_params:
                if param.name == name:
                    return self._bound_classes(path, inner, param.type)
            found = self._types_in(path, inner, name)
            if found:
                return found
            inner = definition.parent
        return self._types_in(path, MODULE_SCOPE, name) or self.global_type(path, name)

    def _bound_classes(self, path: str, scope: int, bound: Type | None) -> Values:
        """A type parameter stands for its bound when that is a type of the repository."""
        if bound is None or bound.name in _SAYS_NOTHING or bound.name in _PRIMITIVES:
            return UNKNOWN
        values = self.typed(path, self.table(path).facts.definitions[scope].parent, bound)
        return tuple(value for value in values if not isinstance(value, Ext))

    def _types_in(self, path: str, scope: int, name: str) -> Values:
        table = self.table(path)
        defs = table.defs[scope].get(name, ()) if scope in table.defs else ()
        kept = [index for index in defs if table.facts.definitions[index].kind in _TYPE_KINDS]
        if kept:
            classes = [index for index in kept if table.facts.definitions[index].kind is NodeKind.CLASS]
            index = (classes or kept)[0]
            self.touch(path, index)
            return (Class(path, index),)
        imports = table.imports[scope].get(name, ()) if scope in table.imports else ()
        found = [value for index in imports for value in self._imported_types(path, index)]
        return tuple(found)

    def _imported_types(self, path: str, index: int) -> Values:
        item = self.table(path).facts.imports[index]
        module = self.module(path, item.module)
        if not item.name:
            return module
        return self._each(module, lambda value: self.type_member(value, item.name))

    def type_member(self, owner: Value, name: str) -> Values:
        """A type that a module, namespace or class offers under a name."""
        if isinstance(owner, Module):
            self.world.record("name", owner.path, name)
            return self._guarded(owner.path, ("tm", owner.path, name), lambda: self._exported_type(owner.path, name))
        if isinstance(owner, Class):
            self.touch(owner.path, owner.index)
            return self._types_in(owner.path, owner.index, name)
        return (owner,) if isinstance(owner, Ext) else UNKNOWN

    def _exported_type(self, path: str, name: str) -> Values:
        table = self.table(path)
        self.world.record("name", path, "*")
        for index in table.exports.get(name, ()):
            export = table.facts.exports[index]
            if export.module:
                module = self.module(path, export.module)
                inner = export.local or export.name
                found = (
                    module
                    if inner == "*"
                    else self._each(
                        module,
                        lambda value, inner=inner: self.type_member(value, inner),  # type: ignore[misc]
                    )
                )
            elif export.local:
                self.world.record("name", path, export.local)
                found = self._types_in(path, MODULE_SCOPE, export.local)
            else:
                found = tuple(value for value in self.value(path, export.value) if isinstance(value, Class))
            if found:
                return found
        for index in table.exports.get("*", ()):
            module = self.module(path, table.facts.exports[index].module)
            found = self._each(module, lambda value: self.type_member(value, name))
            if found:
                return found
        return self._types_in(path, MODULE_SCOPE, name) if path.endswith(".d.ts") else UNKNOWN

    def global_type(self, path: str, name: str) -> Values:  # noqa: ARG002
        """A type that nothing in the file declares or imports: the library's."""
        return (Ext(name),)

    # -- environments

    def call_signature(self, value: Inst, count: int) -> tuple[int, Definition] | None:
        """How an interface says that its objects are called: the first signature that takes so many arguments."""
        self.touch(value.path, value.index)
        table = self.table(value.path)
        found = table.defs[value.index].get("<call>", ()) if value.index in table.defs else ()
        definitions = table.facts.definitions
        fitting = [index for index in found if len(definitions[index].params) >= count] or found
        return (fitting[0], definitions[fitting[0]]) if fitting else None

    def env_of(self, value: Value) -> Env:
        """What the receiver's type arguments say about its class's type parameters."""
        if not isinstance(value, Inst) or not value.args:
            return ()
        params = self.table(value.path).facts.definitions[value.index].type_params
        return tuple((param.name, arg) for param, arg in zip(params, value.args, strict=False) if arg)

    def result_in(self, path: str, definition: Definition, index: int, env: Env) -> Values:
        """A function's declared result with known type parameters."""
        return self.typed_in(path, index, definition.result, env) if definition.result is not None else UNKNOWN
