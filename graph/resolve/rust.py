"""Rust: paths through crates and modules, methods of impl blocks, traits, and the types that std wraps around ours."""

from __future__ import annotations

from posixpath import normpath

from ctxsearch.graph import ops
from ctxsearch.graph.facts import METHOD, MODULE_SCOPE, Definition, Expr, Import, ParamKind, Type
from ctxsearch.graph.model import CALLABLE_KINDS, NodeFlag, NodeKind, Rule
from ctxsearch.graph.resolve.rust_closures import FLATTENING, RustClosures
from ctxsearch.graph.resolve.rust_library import STD_MACROS, STD_METHODS
from ctxsearch.graph.resolve.surface import MODULE_STARS
from ctxsearch.graph.resolve.tables import CLASS_LIKE
from ctxsearch.graph.resolve.values import (
    EXTERNAL,
    UNKNOWN,
    Box,
    Class,
    Ext,
    Func,
    Inst,
    Module,
    Package,
    Value,
    Values,
    is_external,
)

Place = tuple[str, int]
_MACROS = frozenset({NodeKind.MACRO})
_KEYWORDS = frozenset({"self", "crate", "super"})
DEREF = frozenset({"Box", "Rc", "Arc", "Ref", "RefMut", "Cow", "Pin", "MutexGuard", "RwLockReadGuard", "ManuallyDrop"})
_DEREF_TRAIT = frozenset({"Deref", "ops.Deref", "std.ops.Deref", "core.ops.Deref"})
MAX_DEREF = 4  # types that dereference to one another, at most
SAME = frozenset(
    [
        "as_ref",
        "as_mut",
        "as_deref",
        "as_deref_mut",
        "iter",
        "iter_mut",
        "into_iter",
        "clone",
        "cloned",
        "copied",
        "to_owned",
        "borrow",
        "borrow_mut",
        "by_ref",
        "take",
        "or",
        "or_else",
        "filter",
        "skip",
        "rev",
        "chain",
        "peekable",
        "as_slice",
        "to_vec",
        "drain",
        "inspect",
        "map_err",
        "ok",
        "ok_or",
        "ok_or_else",
        "lock",
        "read",
        "write",
        "get",
        "get_mut",
        "first",
        "last",
        "next",
        "pop",
        "pop_front",
        "pop_back",
        "peek",
        "values",
        "entry",
        "collect",
        "into",
        "as_pin_mut",
    ]
)
INNER = frozenset(
    [
        "unwrap",
        "expect",
        "unwrap_or",
        "unwrap_or_default",
        "unwrap_or_else",
        "into_inner",
        "get_or_insert_with",
        "or_insert",
    ]
)
PRIMITIVES = frozenset(
    [
        "i8",
        "i16",
        "i32",
        "i64",
        "i128",
        "isize",
        "u8",
        "u16",
        "u32",
        "u64",
        "u128",
        "usize",
        "f32",
        "f64",
        "bool",
        "char",
        "str",
        "String",
        "Vec",
        "Option",
        "Result",
        "Some",
        "None",
        "Ok",
        "Err",
        "Box",
        "Default",
        "Clone",
        "Copy",
        "Drop",
        "Fn",
        "FnMut",
        "FnOnce",
        "Iterator",
        "From",
        "Into",
        "ToString",
        "Send",
        "Sync",
        "Sized",
        "drop",
        "std",
        "core",
        "alloc",
    ]
)


class RustEvaluator(RustClosures):
    """Rust's rules. An inline module is a Package named "path\\0definition index"."""

    language = "rust"
    classes_are_called = False
    flow_sensitive = False

    # -- names

    def lookup(self, path: str, scope: int, name: str, at: int) -> Values:
        if name.endswith("!"):
            return self._macro(path, name[:-1])
        if name in ("Self", "self", "crate", "super"):
            found = self._keyword(path, scope, name)
            if found is not None:
                return found
        definitions = self.table(path).facts.definitions
        inner = scope
        while inner >= 0 and definitions[inner].kind is not NodeKind.MODULE:
            found = self.in_function(path, inner, name, at if inner == scope else -1)
            if found is not None:
                return found
            found = self._type_parameter(path, definitions[inner], name)
            if found is not None:
                return found
            inner = definitions[inner].parent
        found = self.in_mod(path, inner, name)
        return found if found is not None else self.global_name(path, name)

    def _keyword(self, path: str, scope: int, name: str) -> Values | None:
        if name == "self":
            found = self._receiver_param(path, scope)
            return found if found is not None else self._module_value(path, self._mod_of(path, scope))
        if name == "Self":
            return self._self_class(path, scope)
        if name == "crate":
            root = self._crate_root(path)
            return (Module(root),) if root is not None else EXTERNAL
        return self._parent(path, self._mod_of(path, scope))

    def _receiver_param(self, path: str, scope: int) -> Values | None:
        definitions = self.table(path).facts.definitions
        while scope >= 0:
            if any(param.kind is ParamKind.RECEIVER for param in definitions[scope].params):
                return self._each(self._self_class(path, scope), self.instance_of)
            scope = definitions[scope].parent
        return None

    def _self_class(self, path: str, scope: int) -> Values:
        """The type of the impl block or trait around a scope."""
        table = self.table(path)
        while scope >= 0:
            definition = table.facts.definitions[scope]
            if definition.receiver is not None:
                return self.type_classes(path, definition.parent, definition.receiver)
            if definition.kind in CLASS_LIKE:
                return (Class(path, scope),)
            scope = definition.parent
        return UNKNOWN

    def _type_parameter(self, path: str, definition: Definition, name: str) -> Values | None:
        for param in definition.type_params:
            if param.name == name:
                found = self.type_classes(path, definition.parent, param.type) if param.type is not None else UNKNOWN
                return found or EXTERNAL
        return None

    def in_mod(self, path: str, scope: int, name: str) -> Values | None:
        """A name of a module: its items, what it imports, then its glob imports."""
        bound = self._items(path, scope, name)
        if bound is not None:
            return bound
        return self.from_scope_stars(path, scope, name)

    def _items(self, path: str, scope: int, name: str) -> Values | None:
        table = self.table(path)
        defs = [
            index
            for index in table.defs.get(scope, {}).get(name, ())
            if table.facts.definitions[index].receiver is None
            and table.facts.definitions[index].kind is not NodeKind.MACRO
        ]
        imports = table.imports.get(scope, {}).get(name, ())
        if not defs and not imports:
            return None
        found: list[Value] = []
        for index in defs:
            found += self.defined_value(path, index)
        if not found:
            for index in imports:
                found += self.imported(path, table.facts.imports[index])
        return tuple(found)

    def definition_value(self, path: str, index: int) -> Values:
        definition = self.definition(path, index)
        if definition.kind is NodeKind.MODULE:
            return (Package(f"{path}\0{index}"),)
        if definition.kind is NodeKind.VARIABLE and definition.flags & NodeFlag.STATIC:
            return (Class(path, definition.parent),)  # a variant makes an instance of its enum
        if definition.kind is NodeKind.VARIABLE and definition.receiver is not None:
            return self.typed(path, index, definition.result)  # a constant of an impl block knows Self
        return super().definition_value(path, index)

    def global_name(self, path: str, name: str) -> Values:
        if name in PRIMITIVES:
            return (Ext(name),)
        crate = self._crate(path, name)
        if crate is not None:
            return crate
        return UNKNOWN if name[:1].islower() and "_" not in name and len(name) < 3 else self._unknown(path, name)

    def _unknown(self, path: str, name: str) -> Values:  # noqa: ARG002
        """A name that nothing here declares comes from a macro or a prelude: external for types, unknown for values."""
        return (Ext(name),) if name[:1].isupper() else UNKNOWN

    def _macro(self, path: str, spelled: str) -> Values:
        """A macro of the crate; else the only one of the workspace, unless a path or an import names another crate."""
        crate, _, name = spelled.rpartition("::")
        found = self.world.named("rust", name, _MACROS)
        same = [place for place in found if _crate_directory(place[0]) == _crate_directory(path)]
        if not same and not self._is_foreign(path, crate, name):
            same = found
        if len(same) == 1 and (not crate or not self._is_foreign(path, crate, name)):
            return (Func(*same[0]),)
        return (Ext(f"{name}!"),)

    def _is_foreign(self, path: str, crate: str, name: str) -> bool:
        """Whether a macro's path, or the import of its name, leads out of the workspace."""
        self.record_name(path, name)
        if not crate:
            imports = self.table(path).imports.get(MODULE_SCOPE, {}).get(name, ())
            crate = next((self.table(path).facts.imports[index].module for index in imports), "")
        first = crate.lstrip(":").partition("::")[0].strip()
        if first in ("", "crate", "self", "super", "$crate"):
            return not first and name in STD_MACROS
        return is_external(self._crate(path, first) or EXTERNAL) and not self._items(path, MODULE_SCOPE, first)

    # -- crates and modules

    def _crate_root(self, path: str) -> str | None:
        """lib.rs or main.rs of the crate that a file belongs to."""
        directory = path.rpartition("/")[0]
        while True:
            for name in ("lib.rs", "main.rs"):
                candidate = f"{directory}/{name}" if directory else name
                if self.world.exists(candidate):
                    return candidate
            if not directory:
                return path if self.world.exists(path) else None
            if directory.rsplit("/", 1)[-1] in ("tests", "examples", "benches", "bin"):
                return path
            directory = directory.rpartition("/")[0]

    def _crate(self, path: str, name: str) -> Values | None:
        """What a crate's name means in a file: the root of a library of the workspace; None when it is none of it.

        A dependency that the crate's manifest renames hides a crate of that name.
        """
        manifest = self._manifest(path)
        renamed = self._dependency(manifest, f"dependency:{name}") if manifest is not None else ""
        if manifest is not None and renamed == "workspace":
            manifest, renamed = self._of_workspace(manifest, name)
        if manifest is None or not renamed:
            return self._library_named(name)
        kind, _, value = renamed.partition(":")
        if kind == "crate":
            return self._library_named(value) or (Ext(value),)
        root = self._library(normpath(f"{manifest.rpartition('/')[0]}/{value}/Cargo.toml").lstrip("/"))
        return (Module(root),) if root is not None else (Ext(name),)

    def _manifest(self, path: str) -> str | None:
        """The nearest Cargo.toml around a file."""
        directory = path.rpartition("/")[0]

        def compute() -> Values:
            return tuple(Module(place) for place in _manifests_around(directory) if self.world.exists(place))[:1]

        found = self._guarded(path, ("manifest", directory), compute)
        return found[0].path if found and isinstance(found[0], Module) else None

    def _dependency(self, manifest: str, key: str) -> str:
        """What a manifest says of a dependency that goes by another name here; "" for nothing."""
        self.world.record("name", manifest, key)
        table = self.table(manifest)
        return next((table.facts.exports[index].local for index in table.exports.get(key, ())), "")

    def _of_workspace(self, manifest: str, name: str) -> tuple[str | None, str]:
        """The manifest of the workspace around a member, and what it says of a dependency."""
        for place in _manifests_around(manifest.rpartition("/")[0]):
            if self.world.exists(place) and self._dependency(place, "workspace"):
                return place, self._dependency(place, f"workspace-dependency:{name}")
        return None, ""

    def _library_named(self, name: str) -> Values | None:
        roots = (self._library(manifest) for manifest in self.world.package_files("toml", name))
        return next(((Module(root),) for root in roots if root is not None), None)

    def _library(self, manifest: str) -> str | None:
        """The root of the library that a manifest describes."""
        if not self.world.exists(manifest):
            return None
        directory = manifest.rpartition("/")[0]
        for candidate in (self._dependency(manifest, "lib"), "src/lib.rs", "lib.rs"):
            root = normpath(f"{directory}/{candidate}").lstrip("/") if candidate else ""
            if root and self.world.exists(root):
                return root
        return None

    def _mod_of(self, path: str, scope: int) -> int:
        """The inline module around a scope, or MODULE_SCOPE."""
        definitions = self.table(path).facts.definitions
        while scope >= 0 and definitions[scope].kind is not NodeKind.MODULE:
            scope = definitions[scope].parent
        return scope

    def _module_value(self, path: str, scope: int) -> Values:
        return (Module(path),) if scope < 0 else (Package(f"{path}\0{scope}"),)

    def _parent(self, path: str, scope: int) -> Values:
        """The module around a module."""
        if scope >= 0:
            return self._module_value(path, self._mod_of(path, self.table(path).facts.definitions[scope].parent))
        directory, _, filename = path.rpartition("/")
        if filename == "mod.rs":
            directory = directory.rpartition("/")[0]
        elif filename in ("lib.rs", "main.rs"):
            return UNKNOWN
        for candidate in (f"{directory}/mod.rs", f"{directory}.rs", f"{directory}/lib.rs", f"{directory}/main.rs"):
            if self.world.exists(candidate.lstrip("/")) and candidate.lstrip("/") != path:
                return (Module(candidate.lstrip("/")),)
        return UNKNOWN

    def _child(self, path: str, scope: int, name: str) -> Values:
        """The file of `mod name;`, or of the path that an attribute gives instead of the name."""
        directory, _, filename = path.rpartition("/")
        stem = filename.removesuffix(".rs")
        base = directory if stem in ("mod", "lib", "main") else f"{directory}/{stem}".lstrip("/")
        if scope >= 0:
            base = f"{base}/{self.table(path).facts.definitions[scope].name}"
        if name.endswith(".rs"):
            place = normpath(f"{directory if scope < 0 else base}/{name}").lstrip("/")
            return (Module(place),) if self.world.exists(place) else UNKNOWN
        for candidate in (f"{base}/{name}.rs", f"{base}/{name}/mod.rs", f"{directory}/{name}.rs"):
            if self.world.exists(candidate.lstrip("/")):
                return (Module(candidate.lstrip("/")),)
        return UNKNOWN

    def import_modules(self, path: str, item: Import) -> Values:
        if item.kind == "mod":
            return self._child(path, item.scope, item.module) or EXTERNAL
        if not item.module:
            return UNKNOWN
        first, *rest = item.module.split("::")
        found = self._first_segment(path, item.scope, first, item)
        for segment in rest:
            found = self._parents(found) if segment == "super" else self.members(found, segment)
        return found or EXTERNAL

    def _first_segment(self, path: str, scope: int, name: str, item: Import) -> Values:
        if name in ("crate", "self", "super"):
            return self._keyword(path, self._mod_of(path, scope), name) or UNKNOWN
        inner = self._mod_of(path, scope)
        if item.alias != name:
            found = self._items(path, inner, name)
            if found:
                return found
        else:
            table = self.table(path)
            mods = [i for i in table.imports.get(inner, {}).get(name, ()) if table.facts.imports[i].kind == "mod"]
            defs = table.defs.get(inner, {}).get(name, ())
            if mods:
                return self.imported(path, table.facts.imports[mods[0]])
            if defs:
                return self.definition_value(path, defs[0])
        crate = self._crate(path, name)
        return crate if crate is not None else (Ext(name),)

    def _parents(self, values: Values) -> Values:
        found: list[Value] = []
        for value in values:
            if isinstance(value, Module):
                found += self._parent(value.path, MODULE_SCOPE)
            elif isinstance(value, Package):
                path, scope = _inline(value)
                found += self._parent(path, scope)
        return tuple(found)

    def import_values(self, path: str, item: Import) -> Values:
        if item.kind == "mod":
            return self.import_modules(path, item)
        if not item.module:  # use name;
            return self._first_segment(path, item.scope, item.name, item)
        if item.name == "super":
            return self._parents(self.import_modules(path, item))
        found = self.members(self.import_modules(path, item), item.name)
        return found or EXTERNAL

    def exported(self, path: str, name: str) -> Values:
        self.world.record("name", path, "*")
        if name == "super":
            return self._parent(path, MODULE_SCOPE)
        if name == "self":
            return (Module(path),)
        found = self.in_mod(path, MODULE_SCOPE, name)
        return found if found is not None else UNKNOWN

    def package_member(self, package: Package, name: str) -> Values:
        path, scope = _inline(package)
        if name == "super":
            return self._parent(path, scope)
        self.touch(path, scope)
        return self._guarded(path, ("inline", path, scope, name), lambda: self.in_mod(path, scope, name) or UNKNOWN)

    # -- references

    def reference(self, path: str, expr: int) -> Values:
        """The constant, static or variant that a path means; what a function around it declares hides it."""
        item = self.table(path).facts.exprs[expr]
        if item.op is ops.MEMBER:
            return self._each(self.ask(path, item.base), lambda owner: self.defined(owner, item.name))
        definitions = self.table(path).facts.definitions
        scope = item.scope
        while scope >= 0 and definitions[scope].kind is not NodeKind.MODULE:
            if self._hides(path, scope, item):
                return UNKNOWN
            found = self._symbol(path, scope, item.name)
            if found:
                return found
            scope = definitions[scope].parent
        return self._once(("symbol", scope, item.name), lambda: self._symbol(path, scope, item.name))

    def _hides(self, path: str, scope: int, item: Expr) -> bool:
        table = self.table(path)
        definition = table.facts.definitions[scope]
        if any(param.name == item.name for param in (*definition.params, *definition.type_params)):
            return True
        assigns = [place for place in table.places(scope, item.name) if place[1] == 0]
        return bool(assigns and self.choose(table, assigns, item.at))

    def _symbol(self, path: str, scope: int, name: str) -> Values:
        """What a module or block itself calls by a name: its own items, what it imports, then its glob imports."""
        table = self.table(path)
        own = tuple(
            Func(path, index)
            for index in table.defs.get(scope, {}).get(name, ())
            if table.facts.definitions[index].kind is NodeKind.VARIABLE
            and table.facts.definitions[index].receiver is None
        )
        if own:
            return own
        imports = (table.facts.imports[index] for index in table.imports.get(scope, {}).get(name, ()))
        found = tuple(value for item in imports if item.name for value in self.imported_symbol(path, item))
        if found:
            return found
        for index in table.stars.get(scope, ()):
            owners = self.import_modules(path, table.facts.imports[index])
            found = self._each(owners, lambda owner: self.defined(owner, name))
            if found:
                return found
        return UNKNOWN

    def defined(self, owner: Value, name: str) -> Values:
        if isinstance(owner, Module):
            self.world.record("name", owner.path, name)
            self.world.record("name", owner.path, MODULE_STARS)
            path, scope = owner.path, MODULE_SCOPE
        elif isinstance(owner, Package):
            path, scope = _inline(owner)
            self.touch(path, scope)
        elif isinstance(owner, (Class, Inst)):
            return self._guarded(
                owner.path, ("const", owner.path, owner.index, name), lambda: self._constant_of(owner, name)
            )
        else:
            return UNKNOWN
        return self._guarded(path, ("sym", path, scope, name), lambda: self._symbol(path, scope, name))

    def _constant_of(self, owner: Class | Inst, name: str) -> Values:
        """A variant of an enum, a constant of a type's impl blocks or of a trait that it implements."""
        for item in self.ancestry(owner.path, owner.index):
            assert isinstance(item, Class)
            self.touch(item.path, item.index)
            table = self.table(item.path)
            inside = [
                (item.path, index)
                for index in table.defs.get(item.index, {}).get(name, ())
                if table.facts.definitions[index].kind is NodeKind.VARIABLE
                and (
                    table.facts.definitions[index].flags & NodeFlag.STATIC
                    or table.facts.definitions[item.index].kind is NodeKind.INTERFACE
                )
            ]
            found = inside or self._constants(item.path, item.index, name)
            if found:
                return tuple(Func(*place) for place in found)
        return UNKNOWN

    # -- members

    def eval_member(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        bases = self.value(path, expr.base)
        if expr.text != METHOD:
            return self.members(bases, expr.name)
        return self._each(bases, lambda base: self._called_member(base, expr.name))

    def _called_member(self, base: Value, name: str) -> Values:
        """`base.name()`: a method, also where a field has the name."""
        found = self.member(base, name)
        if isinstance(base, Inst) and found and not any(isinstance(value, Func) for value in found):
            return tuple(Func(*place) for place in self._methods(base.path, base.index, name)) or found
        return found

    def own_member(self, path: str, index: int, name: str, seen_as: Inst | Class | None) -> Values | None:
        found = super().own_member(path, index, name, seen_as)
        if found is not None:
            return found
        methods = tuple(Func(*place) for place in self._methods(path, index, name))
        if methods:
            return methods
        constants = tuple(v for place in self._constants(path, index, name) for v in self.defined_value(*place))
        return constants or None

    def _methods(self, path: str, index: int, name: str) -> list[Place]:
        """Methods of that name in impl blocks of the type, wherever they stand; inherent ones first."""
        owner = self.table(path).facts.definitions[index].name
        found = [
            place
            for place in self.world.named_in("rust", owner, name)  # a method's qualified name has its receiver's
            if self._receiver_name(place) == owner
            and self.table(place[0]).facts.definitions[place[1]].kind is not NodeKind.VARIABLE
            and self._belongs(place, path, index)
        ]
        inherent = [place for place in found if not self.table(place[0]).facts.definitions[place[1]].implements]
        return inherent or found

    def _constants(self, path: str, index: int, name: str) -> list[Place]:
        """Constants of that name in impl blocks of the type: of its own file, else of any."""
        table = self.table(path)
        owner = table.facts.definitions[index]
        beside = [(path, place) for place in table.defs.get(owner.parent, {}).get(name, ())]
        for places in (beside, self.world.named_in("rust", owner.name, name)):
            found = [
                place
                for place in places
                if self.table(place[0]).facts.definitions[place[1]].kind is NodeKind.VARIABLE
                and self._receiver_name(place) == owner.name
                and self._belongs(place, path, index)
            ]
            if found:
                return found
        return []

    def _receiver_name(self, place: Place) -> str:
        receiver = self.table(place[0]).facts.definitions[place[1]].receiver
        return receiver.name.rsplit(".", 1)[-1] if receiver is not None else ""

    def _belongs(self, place: Place, path: str, index: int) -> bool:
        definition = self.definition(*place)
        receiver = definition.receiver
        assert receiver is not None
        classes = self._guarded(
            place[0], ("impl", *place), lambda: self.type_classes(place[0], definition.parent, receiver)
        )
        return any(isinstance(value, Class) and (value.path, value.index) == (path, index) for value in classes)

    def member(self, base: Value, name: str) -> Values:
        if isinstance(base, Ext):
            last = base.name.rsplit(".", 1)[-1]
            if last in DEREF and base.args and base.args[0] and not is_own(base, name):
                return self.members(base.args[0], name)
            return (Ext(f"{base.name}.{name}" if base.name else "", base.args),)
        found = super().member(base, name)
        for _ in range(MAX_DEREF):
            if found or not isinstance(base, Inst):
                break
            targets = self._dereferenced(base)
            if len(targets) != 1:
                break
            base = targets[0]
            found = super().member(base, name) if isinstance(base, Inst) else self.member(base, name)
        return found

    def _dereferenced(self, base: Inst) -> Values:
        """What an instance stands for by its type's `impl Deref`; () when there is none."""
        return self._guarded(base.path, ("deref", base.path, base.index, base.args), lambda: self._deref_target(base))

    def _deref_target(self, base: Inst) -> Values:
        for place in self._methods(base.path, base.index, "deref"):
            definition = self.definition(*place)
            if definition.receiver is None or not any(item.name in _DEREF_TRAIT for item in definition.implements):
                continue
            if definition.result in definition.receiver.args:  # impl<T> Deref for Guard<T> { type Target = T; }
                given = zip(definition.receiver.args, base.args, strict=False)
                found = next((value for param, value in given if param == definition.result), UNKNOWN)
                return found if found != EXTERNAL else UNKNOWN  # a type parameter of which nothing is known
            return tuple(value for value in self.returned(*place) if value != base)
        return UNKNOWN

    def ancestry(self, path: str, index: int) -> list[Class | Ext]:
        """Traits the type implements in its own file lend their default methods; derives add nothing of ours."""
        return [owner for owner in super().ancestry(path, index) if isinstance(owner, Class)]

    def overridden_in(self, path: str, index: int) -> list[Class]:
        """The trait of the impl block around a method."""
        definition = self.table(path).facts.definitions[index]
        traits = [self.type_classes(path, definition.parent, trait) for trait in definition.implements]
        return [value for values in traits for value in values if isinstance(value, Class)]

    def descends(self, place: Place, owners: set[Place]) -> bool:  # noqa: ARG002
        """Whoever implements a trait's method may stand behind the trait."""
        return True

    # -- values of std's wrappers

    def type_instances(self, path: str, scope: int, declared: Type) -> Values:
        if declared.name in ("[]", "()", "->"):
            return (Ext(declared.name, tuple(self.typed(path, scope, arg) for arg in declared.args)),)
        if declared.args:
            classes = self.type_classes(path, scope, declared)
            if classes and all(isinstance(value, Ext) for value in classes):
                args = tuple(self.typed(path, scope, arg) for arg in declared.args)
                return args[0] or EXTERNAL if declared.name in DEREF else (Ext(declared.name, args),)
        return super().type_instances(path, scope, declared)

    def type_classes(self, path: str, scope: int, declared: Type) -> Values:
        """A path begins with a module, whatever fields and locals are called; or with a crate, be it none of these."""
        found = super().type_classes(path, scope, declared)
        first, *rest = declared.name.split(".")
        if found or not rest or not first[:1].islower() or first in _KEYWORDS:
            return found
        inner = self.in_mod(path, self._mod_of(path, scope), first)
        around = inner if inner is not None else self._crate(path, first)
        if around is None:
            return (Ext(declared.name),)
        for part in rest:
            around = self.members(around, part)
        return around

    def call_result(self, callee: Value, path: str, index: int) -> Values:
        if isinstance(callee, Ext):
            name = callee.name.rsplit(".", 1)[-1]
            if name in INNER and callee.args:
                return callee.args[0] or EXTERNAL
            if callee.args and callee.name.endswith(("RefCell.borrow", "RefCell.borrow_mut")):
                return callee.args[0] or EXTERNAL
            if name in SAME and callee.args:
                return (Ext(callee.name.rpartition(".")[0], callee.args),)
            if (name == "map" or name in FLATTENING) and callee.args:
                container = Ext(callee.name.rpartition(".")[0], callee.args)
                return self.mapped(container, name, path, self.table(path).facts.exprs[index]) or EXTERNAL
            if callee.name in (
                "Some",
                "Ok",
                "Box.new",
                "Rc.new",
                "Arc.new",
                "Pin.new",
                "RefCell.new",
                "Mutex.new",
                "Box.pin",
            ):
                return self._wrapped(callee, path, index)
            if callee.name == "->" and callee.args:
                return callee.args[0]
            if callee.name == "vec!":
                items = self.table(path).facts.exprs[index].args
                return (Ext("Vec", (tuple(value for item in items for value in self.value(path, item)),)),)
        return super().call_result(callee, path, index)

    def _wrapped(self, callee: Ext, path: str, index: int) -> Values:
        args = self.table(path).facts.exprs[index].args
        inner = self.value(path, args[0]) if args else UNKNOWN
        owner = callee.name.split(".")[0]
        if owner in DEREF:
            return inner or EXTERNAL
        return (Ext({"Some": "Option", "Ok": "Result"}.get(owner, owner), (inner,)),)

    def eval_enter(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        """value? and the x of Some(x), Ok(x): what is inside."""

        def inside(value: Value) -> Values:
            if isinstance(value, Ext):
                place = 1 if expr.name == "Err" else 0
                return value.args[place] if len(value.args) > place and value.args[place] else EXTERNAL
            return (value,)

        return self._each(self.value(path, expr.base), inside)

    def eval_index(self, path: str, index: int, expr: Expr) -> Values:
        if expr.name == "variant":
            return self._payload(path, expr)
        return super().eval_index(path, index, expr)

    def _payload(self, path: str, expr: Expr) -> Values:
        """The place-th value inside a variant that a pattern names."""
        facts = self.table(path).facts
        item = facts.exprs[expr.base]
        owners = self.value(path, item.base) if item.op is ops.MEMBER else UNKNOWN
        for owner in owners:
            if isinstance(owner, Class):
                table = self.table(owner.path)
                self.touch(owner.path, owner.index)
                for variant in table.defs.get(owner.index, {}).get(item.name, ()):
                    params = table.facts.definitions[variant].params
                    place = int(expr.text or 0)
                    if place < len(params):
                        return self.typed(owner.path, owner.index, params[place].type)
        return UNKNOWN

    def item(self, base: Value, key: str | None) -> Values:
        if isinstance(base, Ext) and base.args:
            if base.name == "()":
                place = int(key) if key is not None and key.isdigit() else len(base.args)
                return base.args[place] if place < len(base.args) else UNKNOWN
            return base.args[-1] or EXTERNAL
        if isinstance(base, Box):
            return super().item(base, key)
        return super().item(base, key)

    def element(self, base: Value) -> Values:
        if isinstance(base, Ext) and base.args:
            return base.args[-1] or EXTERNAL
        return super().element(base)

    # -- the last resort

    def guess(self, path: str, index: int, expr: Expr) -> list[Place]:  # noqa: ARG002
        """A method that only one type of the crate has, and std has not."""
        callee = self.table(path).facts.exprs[expr.base] if expr.op is ops.CALL and expr.base >= 0 else None
        if callee is None or callee.op is not ops.MEMBER or callee.name in STD_METHODS or len(callee.name) < 4:
            return []
        if not self._has_receiver(path, callee):
            return []
        found = self.world.named("rust", callee.name, CALLABLE_KINDS)
        only = found[0] if len(found) == 1 else None
        if only is None or self.table(only[0]).facts.definitions[only[1]].kind is not NodeKind.METHOD:
            return []
        if _crate_directory(only[0]) != _crate_directory(path) or self._is_of_another(path, callee.base, only):
            return []
        return [only]

    def _is_of_another(self, path: str, receiver: int, method: Place) -> bool:
        """Whether one type's method is looked for on a field that is known to be of another type."""
        if self.table(path).facts.exprs[receiver].op is not ops.MEMBER:
            return False
        definition = self.definition(*method)
        owners = self.type_classes(method[0], definition.parent, definition.receiver) if definition.receiver else ()
        known = [value for value in self.value(path, receiver) if isinstance(value, Inst)]
        return bool(owners) and any(
            Class(value.path, value.index) not in owners and not self._methods(value.path, value.index, "deref")
            for value in known
        )

    def _has_receiver(self, path: str, callee: Expr) -> bool:
        """A method of a value, rather than a function at the end of a path that leads outside."""
        table = self.table(path)
        root = table.root_name(callee.base)
        scope = callee.scope
        while root and root != "self" and scope >= 0:
            if self.in_function(path, scope, root, -1) is not None:
                return True
            scope = table.facts.definitions[scope].parent
        return root in ("", "self")

    def rule(self, path: str, expr: Expr, values: Values) -> Rule:
        if expr.op is ops.CALL and expr.base >= 0:
            callee = self.table(path).facts.exprs[expr.base]
            if callee.op is ops.MEMBER and callee.base >= 0:
                base = self.table(path).facts.exprs[callee.base]
                if base.op is ops.NAME and base.name in ("self", "Self"):
                    return Rule.SELF
        return super().rule(path, expr, values)

    def module_name(self, path: str) -> str:
        return path.removesuffix(".rs").removesuffix("/mod").replace("/", "::")


def is_own(base: Ext, name: str) -> bool:
    """Whether the wrapper itself has the method, before it is dereferenced."""
    return name in ("clone", "as_ref", "as_mut", "new") and bool(base.name)


def _inline(package: Package) -> tuple[str, int]:
    path, _, index = package.name.rpartition("\0")
    return path, int(index)


def _manifests_around(directory: str) -> list[str]:
    """Where a Cargo.toml of a directory or of one around it would be, the nearest first."""
    parts = directory.split("/") if directory else []
    return ["/".join([*parts[:length], "Cargo.toml"]) for length in range(len(parts), -1, -1)]


def _crate_directory(path: str) -> str:
    """The directory of the crate: what stands before src, tests, examples or benches."""
    parts = path.split("/")
    for place in range(len(parts) - 1, -1, -1):
        if parts[place] in ("src", "tests", "examples", "benches"):
            return "/".join(parts[:place])
    return "/".join(parts[:-1])


EVALUATOR = RustEvaluator
