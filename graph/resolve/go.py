"""Go: packages are directories, methods hang on their receiver's type, embedded types lend their members."""

from __future__ import annotations

from ctxsearch.graph import ops
from ctxsearch.graph.facts import MODULE_SCOPE, ONLY, Definition, Expr, Import, Param, Type
from ctxsearch.graph.model import NodeKind
from ctxsearch.graph.resolve.evaluate import MAX_DISPATCH
from ctxsearch.graph.resolve.go_generics import GoGenerics
from ctxsearch.graph.resolve.surface import MODULE_STARS
from ctxsearch.graph.resolve.values import (
    EXTERNAL,
    UNKNOWN,
    Class,
    Ext,
    Func,
    Inst,
    Package,
    Value,
    Values,
)

MAX_LIKE_NAMED = 200  # methods of one name that are compared with an interface; String and Close have no end
HELD = ("[]", "{}", "<-")  # a list, a map, a channel: what they hold comes first
BUILTINS = frozenset(
    [
        "append",
        "cap",
        "clear",
        "close",
        "complex",
        "copy",
        "delete",
        "imag",
        "len",
        "make",
        "max",
        "min",
        "new",
        "panic",
        "print",
        "println",
        "real",
        "recover",
        "any",
        "bool",
        "byte",
        "comparable",
        "complex64",
        "complex128",
        "error",
        "float32",
        "float64",
        "int",
        "int8",
        "int16",
        "int32",
        "int64",
        "rune",
        "string",
        "uint",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "uintptr",
        "true",
        "false",
        "iota",
        "nil",
    ]
)
STANDARD = frozenset(
    [
        "archive",
        "arena",
        "bufio",
        "builtin",
        "bytes",
        "cmp",
        "compress",
        "container",
        "context",
        "crypto",
        "database",
        "debug",
        "embed",
        "encoding",
        "errors",
        "expvar",
        "flag",
        "fmt",
        "go",
        "hash",
        "html",
        "image",
        "index",
        "io",
        "iter",
        "log",
        "maps",
        "math",
        "mime",
        "net",
        "os",
        "path",
        "plugin",
        "reflect",
        "regexp",
        "runtime",
        "slices",
        "sort",
        "strconv",
        "strings",
        "structs",
        "sync",
        "syscall",
        "testing",
        "text",
        "time",
        "unicode",
        "unique",
        "unsafe",
        "weak",
        "C",
    ]
)


class GoEvaluator(GoGenerics):
    """Go's rules. A Package value is named by its directory and package clause: "dir\\0name"."""

    language = "go"
    classes_are_called = False
    flow_sensitive = False  # a variable keeps its type

    # -- packages

    def in_module(self, path: str, name: str, at: int) -> Values | None:
        """Imports belong to the file, everything else at top level to the package."""
        table = self.table(path)
        if name in table.imports.get(MODULE_SCOPE, {}):
            return self.bound(path, MODULE_SCOPE, name, at)
        found = self._top_level(_directory(path), table.facts.package, name)
        if found:
            return tuple(value for place, index in found for value in self.definition_value(place, index))
        for index in table.stars.get(MODULE_SCOPE, ()):
            values = self.star_member(path, table.facts.imports[index], name)
            if values:
                return values
        return None

    def _top_level(self, directory: str, package: str, name: str) -> list[tuple[str, int]]:
        """Top-level definitions of a package, methods left out."""
        return [
            (place, index)
            for place, index in self.world.named("go", name)
            if _directory(place) == directory
            and self._clause(place) == package
            and self.table(place).facts.definitions[index].parent < 0
            and self.table(place).facts.definitions[index].receiver is None
        ]

    def _clause(self, path: str) -> str:
        """The package that a file says it belongs to."""
        self.record_name(path, MODULE_STARS)
        return self.table(path).facts.package

    def import_modules(self, path: str, item: Import) -> Values:
        directory = self._import_directory(path, item.module)
        if directory is None:
            return (Ext(item.module),)
        return (Package(f"{directory}\0{self._package_name(directory, item.module)}"),)

    def _import_directory(self, path: str, module: str) -> str | None:
        """The directory of an import path, by the go.mod that claims the longest prefix of it."""
        parts = module.split("/")
        for length in range(len(parts), 0, -1):
            manifests = self.world.package_files("gomod", "/".join(parts[:length]))
            if manifests:
                return "/".join(part for part in (_directory(manifests[0]), *parts[length:]) if part)
        if parts[0] in STANDARD or not parts[0]:
            return None
        around = _outwards(_directory(path))
        for directory in around:
            vendored = "/".join(part for part in (directory, "vendor", module) if part)
            if self.world.in_directory(vendored):
                return vendored
        if any(self.world.exists(f"{directory}/go.mod" if directory else "go.mod") for directory in around):
            return None  # a module names all that it imports: no directory here is meant by the end of a path
        return self._by_suffix(parts)

    def _by_suffix(self, parts: list[str]) -> str | None:
        """Without a go.mod: the only directory of the last part's package that it ends with, or that ends so."""
        directories = {_directory(path) for path in self.world.package_files("go", parts[-1])}
        found = {directory for directory in directories if _end_alike(directory.split("/"), parts)}
        return found.pop() if len(found) == 1 else None

    def _package_name(self, directory: str, module: str) -> str:
        """The package clause of a directory: usually its last part; else whatever its files say."""
        last = module.rsplit("/", 1)[-1]
        if any(_directory(path) == directory for path in self.world.package_files("go", last)):
            return last
        for path in self.world.in_directory(directory):
            if path.endswith(".go") and not path.endswith("_test.go"):
                return self._clause(path)
        return last

    def package_member(self, package: Package, name: str) -> Values:
        directory, _, clause = package.name.partition("\0")
        return tuple(
            value
            for place, index in self._top_level(directory, clause, name)
            for value in self.defined_value(place, index)
        )

    def global_name(self, path: str, name: str) -> Values:
        if name in BUILTINS:
            return (Ext(name),)
        for item in self.table(path).facts.imports:
            # an import whose package clause is not what its path suggests
            modules = self.import_modules(path, item) if item.alias and item.alias != name else UNKNOWN
            if modules and isinstance(modules[0], Package) and modules[0].name.endswith(f"\0{name}"):
                return modules
        return UNKNOWN

    def in_class_scope(self, path: str, index: int, name: str) -> Values | None:  # noqa: ARG002
        """Fields are no scope: the type of an embedded field is not the field."""
        return None

    # -- references

    def reference(self, path: str, expr: int) -> Values:
        """The variable or constant of a package that a name means; a local of that name hides it."""
        item = self.table(path).facts.exprs[expr]
        if item.op is ops.MEMBER:
            return self._each(self.ask(path, item.base), lambda owner: self._variable_of(owner, item.name))
        if self._is_local(path, item):
            return UNKNOWN
        return self._once(("read", item.name), lambda: self._package_variable(path, item.name))

    def _is_local(self, path: str, item: Expr) -> bool:
        """Whether a function around a name declares it, as a parameter or in a block around it."""
        table = self.table(path)
        scope = item.scope
        while scope >= 0:
            definition = table.facts.definitions[scope]
            if any(param.name == item.name for param in definition.params):
                return True
            places = table.places(scope, item.name)
            if places and self.choose(table, places, item.at):
                return True
            scope = definition.parent
        return False

    def _package_variable(self, path: str, name: str) -> Values:
        """A variable that all files of the package see: of this file, else of another one, else of a dot import."""
        table = self.table(path)
        if name in table.imports.get(MODULE_SCOPE, {}):
            return UNKNOWN
        found = self._variables(_directory(path), table.facts.package, name)
        own = tuple(value for value in found if value.path == path)
        if found:
            return own or found
        for index in table.stars.get(MODULE_SCOPE, ()):
            owners = self.import_modules(path, table.facts.imports[index])
            values = self._each(owners, lambda owner: self._variable_of(owner, name))
            if values:
                return values
        return UNKNOWN

    def _variable_of(self, owner: Value, name: str) -> Values:
        if not isinstance(owner, Package):
            return UNKNOWN
        directory, _, clause = owner.name.partition("\0")
        return self._variables(directory, clause, name)

    def _variables(self, directory: str, package: str, name: str) -> tuple[Func, ...]:
        return tuple(
            Func(place, index)
            for place, index in self._top_level(directory, package, name)
            if self.table(place).facts.definitions[index].kind is NodeKind.VARIABLE
        )

    # -- types

    def type_name(self, path: str, scope: int, name: str) -> Values:
        bound = self._type_parameter(path, scope, name)
        if bound is not None:
            return bound
        found = self.lookup(path, scope, name, -1)
        if scope >= 0 and not (found and all(isinstance(value, (Class, Package)) for value in found)):
            # a local of the same name, made of the type: node := node{}
            outside = self.in_module(path, name, -1) or UNKNOWN
            return tuple(value for value in outside if isinstance(value, (Class, Package, Ext))) or found
        return found

    def param_as_seen(self, typed: Values, param: Param) -> Values:  # noqa: ARG002
        """A variadic parameter's type is written as the slice that it is."""
        return typed

    def _type_parameter(self, path: str, scope: int, name: str) -> Values | None:
        definitions = self.table(path).facts.definitions
        while scope >= 0:
            for place, param in enumerate(definitions[scope].type_params):
                if param.name == name:
                    return self._constraint(path, definitions[scope], place) or EXTERNAL
            scope = definitions[scope].parent
        return None

    def _constraint(self, path: str, definition: Definition, place: int) -> Values:
        """The constraint of a type parameter; that of a receiver's stands where its type is declared."""
        declared = definition.type_params[place].type
        if definition.receiver is None:
            return self.type_classes(path, definition.parent, declared) if declared is not None else UNKNOWN
        for owner in self.type_classes(path, definition.parent, definition.receiver):
            if isinstance(owner, Class):
                params = self.definition(owner.path, owner.index).type_params
                if place < len(params) and params[place].type is not None:
                    return self.type_classes(owner.path, MODULE_SCOPE, params[place].type or Type(""))
        return UNKNOWN

    # -- members

    def own_member(self, path: str, index: int, name: str, seen_as: Inst | Class | None) -> Values | None:
        found = super().own_member(path, index, name, seen_as)
        if found is not None:
            return found
        owner = self.table(path).facts.definitions[index]
        if owner.parent >= 0:
            return None  # a type inside a function has no methods
        package = self.table(path).facts.package
        methods = tuple(
            Func(place, method)
            for place, method in self.world.named("go", name)
            if _directory(place) == _directory(path) and self._is_method(place, method, owner.name, package)
        )
        return methods or None

    def _is_method(self, path: str, index: int, owner: str, package: str) -> bool:
        receiver = self.table(path).facts.definitions[index].receiver
        return receiver is not None and receiver.name == owner and self._clause(path) == package

    def may_dispatch(self, path: str, stable_name: str) -> bool:  # noqa: ARG002
        return True

    def dispatch(self, target: tuple[str, int]) -> list[Func]:
        """Methods of the types that have everything that the interface asks for; nothing declares that in Go."""
        path, index = target
        definition = self.definition(path, index)
        if definition.parent < 0 or self.definition(path, definition.parent).kind is not NodeKind.INTERFACE:
            return []
        found = self._guarded(
            path, ("dispatch", path, index), lambda: self._implementations(path, definition), MAX_DISPATCH
        )
        return [value for value in found if isinstance(value, Func)]

    def _implementations(self, path: str, method: Definition) -> Values:
        """Every type's method of that name, where the type has the interface's other methods too."""
        asked = self._asked(path, method.parent)
        places = [
            place
            for place in self.world.named("go", method.name)
            if len(self.definition(*place).params) - 1 == len(method.params)
            and self.definition(*place).receiver is not None
        ]
        if len(places) > MAX_LIKE_NAMED:
            return UNKNOWN
        return tuple(Func(*place) for place in places if self._has_all(place, asked))

    def _asked(self, path: str, interface: int) -> set[str]:
        """The names of an interface's methods, embedded interfaces' included."""
        names: set[str] = set()
        for owner in self.ancestry(path, interface):
            if isinstance(owner, Class):
                self.touch(owner.path, owner.index)
                table = self.table(owner.path)
                members = [table.facts.definitions[member] for member in table.children.get(owner.index, ())]
                names.update(member.name for member in members if member.kind is NodeKind.METHOD)
        return names

    def _has_all(self, method: tuple[str, int], names: set[str]) -> bool:
        path, index = method
        types = self.type_classes(path, MODULE_SCOPE, self.definition(path, index).receiver or Type(""))
        return any(
            isinstance(owner, Class)
            and all(
                any(isinstance(member, Func) for member in self.class_member(owner.path, owner.index, name))
                for name in sorted(names)
            )
            for owner in types
        )

    def descends(self, place: tuple[str, int], owners: set[tuple[str, int]]) -> bool:  # noqa: ARG002
        """Whoever has an interface's methods may stand behind the interface."""
        return True

    def receiver(self, path: str, index: int) -> Values:
        definition = self.table(path).facts.definitions[index]
        return self.typed(path, definition.parent, definition.receiver)

    def item(self, base: Value, key: str | None) -> Values:
        if isinstance(base, Func):
            return (base,)  # a generic function with its type arguments
        base = self.underlying(base)
        if isinstance(base, Ext):
            if base.name == "()":
                return (
                    base.args[int(key)] if key is not None and key.isdigit() and int(key) < len(base.args) else UNKNOWN
                )
            if base.name in HELD and base.args:
                return base.args[0] or EXTERNAL
        return super().item(base, key)

    def element(self, base: Value) -> Values:
        base = self.underlying(base)
        if isinstance(base, Ext) and base.name in HELD and base.args:
            return base.args[0] or EXTERNAL
        return super().element(base)

    def eval_element(self, path: str, index: int, expr: Expr) -> Values:
        """Of a loop's only variable nothing is known but what a channel sends."""
        if expr.name != ONLY:
            return super().eval_element(path, index, expr)
        channels = [value for value in map(self.underlying, self.value(path, expr.base)) if _is_channel(value)]
        return self._each(tuple(channels), self.element)

    def call_result(self, callee: Value, path: str, index: int) -> Values:
        callee = self.underlying(callee)
        if isinstance(callee, Ext) and callee.name == "->":
            return callee.args[0] if callee.args else UNKNOWN
        if isinstance(callee, Ext) and callee.name == "append":
            args = self.table(path).facts.exprs[index].args
            return self.value(path, args[0]) if args else UNKNOWN
        found = self.generic_result(callee, path, index) if isinstance(callee, Func) else UNKNOWN
        return found or super().call_result(callee, path, index)

    def module_name(self, path: str) -> str:
        return _directory(path).replace("/", ".") or self.table(path).facts.package


def _is_channel(value: Value) -> bool:
    return isinstance(value, Ext) and value.name == "<-"


def _end_alike(first: list[str], second: list[str]) -> bool:
    length = min(len(first), len(second))
    return first[-length:] == second[-length:]


def _outwards(directory: str) -> list[str]:
    """A directory and those around it, the root ("") last."""
    parts = directory.split("/") if directory else []
    return ["/".join(parts[:length]) for length in range(len(parts), -1, -1)]


def _directory(path: str) -> str:
    return path.rpartition("/")[0]


EVALUATOR = GoEvaluator
