"""C and C++: a name is what the include closure shows of it, then the one definition the linker would find.

A prototype stands for the definition with a body; `static` stays in its file; a name that nothing in the repository
defines is external (a library's or the compiler's).
"""

from __future__ import annotations

from ctxsearch.graph import ops
from ctxsearch.graph.facts import ARROW, EXPLICIT, LONE_NAME, MODULE_SCOPE, Definition, Expr, Import, ParamKind, Type
from ctxsearch.graph.model import CALLABLE_KINDS, NodeFlag, NodeKind
from ctxsearch.graph.resolve.c_library import C_LIBRARY
from ctxsearch.graph.resolve.evaluate import Evaluator
from ctxsearch.graph.resolve.tables import CLASS_LIKE
from ctxsearch.graph.resolve.values import EXTERNAL, UNKNOWN, Class, Ext, Func, Inst, Module, Package, Value, Values

Place = tuple[str, int]
MAX_CLOSURE = 2000  # files of one include closure
SMART_POINTERS = frozenset({"unique_ptr", "shared_ptr", "weak_ptr", "optional", "reference_wrapper", "iterator"})
_MAPS = frozenset({"map", "unordered_map", "multimap", "unordered_multimap"})
_OPENING = frozenset({"get", "value", "value_or"})  # of a smart pointer: what it points at
_HELD = frozenset({"at", "front", "back", "top", "emplace_back"})  # of a container: one of its items
_PLACES = frozenset({"begin", "cbegin", "end", "cend", "rbegin", "find", "lower_bound", "upper_bound"})


_LITERAL_TYPES = {
    **dict.fromkeys(
        ("int", "long", "short", "unsigned", "size_t", "int32_t", "int64_t", "uint32_t", "uint64_t"), "int"
    ),
    **dict.fromkeys(("char", "string", "string_view"), "str"),
    **dict.fromkeys(("double", "float"), "float"),
    "bool": "bool",
}


class CEvaluator(Evaluator):
    """C's rules, and those of C++ that need classes and namespaces."""

    language = "c"
    class_scope_visible = True
    flow_sensitive = False  # a variable keeps its type
    overloads = True

    def __init__(self, world: object) -> None:
        super().__init__(world)  # type: ignore[arg-type]
        self._closures: dict[str, tuple[frozenset[str], frozenset[int]]] = {}

    def forget(self) -> None:
        super().forget()
        self._closures = {}

    # -- includes

    def closure(self, path: str) -> frozenset[str]:
        """The files that a translation unit starting at `path` sees, itself included."""
        known = self._closures.get(path)
        if known is None:
            outer, self.world.reads = self.world.reads, set()
            seen: dict[str, None] = {path: None}
            pending = [path]
            while pending and len(seen) < MAX_CLOSURE:
                current = pending.pop()
                self.world.record("name", current, "*")
                for item in self.table(current).facts.imports:
                    found = self.included(current, item) if item.kind == "include" else None
                    if found is not None and found not in seen:
                        seen[found] = None
                        pending.append(found)
            known = frozenset(seen), frozenset(self.world.reads)
            self._closures[path] = known
            self.world.reads = outer
        self.world.reads |= known[1]
        return known[0]

    def included(self, path: str, item: Import) -> str | None:
        """The file an include names: beside the includer, else the only or nearest one whose path ends so."""
        directory = path.rpartition("/")[0]
        beside = _normal(f"{directory}/{item.module}" if directory else item.module)
        if item.level and beside is not None and self.world.exists(beside):
            return beside
        wanted = _normal(item.module.lstrip("./"))
        if wanted is None:
            return None
        found = [
            place
            for place in self.world.with_basename(wanted.rsplit("/", 1)[-1])
            if place == wanted or place.endswith(f"/{wanted}")
        ]
        if len(found) <= 1 or not item.level:
            return found[0] if len(found) == 1 else None
        return max(found, key=lambda place: (_shared(place, path), -len(place), place))

    def import_modules(self, path: str, item: Import) -> Values:
        if item.kind == "include":
            found = self.included(path, item)
            return (Module(found),) if found is not None else (Ext(item.module),)
        return (Package(item.module),) if item.module else UNKNOWN

    # -- names

    def in_module(self, path: str, name: str, at: int) -> Values | None:  # noqa: ARG002
        """A global name: namespaces around the use are tried by `lookup` through the qualified names."""
        return self.global_symbol(path, name, "")

    def lookup(self, path: str, scope: int, name: str, at: int) -> Values:
        table = self.table(path)
        inner = scope
        while inner >= 0:
            definition = table.facts.definitions[inner]
            if definition.kind in CLASS_LIKE:
                found = self.in_class_scope(path, inner, name)
            else:
                found = self.in_function(path, inner, name, at if inner == scope else -1)
                if found is None and definition.receiver is not None:
                    found = self._in_receiver(path, definition, name)
            if found is not None:
                return found
            found = self.type_parameter(path, inner, name)
            if found is not None:
                return found
            inner = definition.parent
        return self._in_namespaces(path, scope, name)

    def _in_namespaces(self, path: str, scope: int, name: str) -> Values:
        """A name outside of all functions and classes."""
        for prefix in self.namespaces(path, scope):
            found = self.global_symbol(path, name, prefix)
            if found is not None:
                return found
        return self.global_name(path, name)

    def type_parameter(self, path: str, index: int, name: str) -> Values | None:
        """A template's parameter as a type; None when a definition has none of that name."""
        raise NotImplementedError

    def _in_receiver(self, path: str, definition: Definition, name: str) -> Values | None:
        """A bare name inside a method that stands outside its class."""
        for owner in self.receiver_classes(path, definition):
            found = self.class_member(owner.path, owner.index, name)
            if found:
                return found
        return None

    def namespaces(self, path: str, scope: int) -> list[str]:
        """Qualified prefixes to try, innermost first: enclosing namespaces, using directives, the global one."""
        table = self.table(path)
        prefixes: list[str] = []
        if scope >= 0:
            outermost = scope
            while table.facts.definitions[outermost].parent >= 0:
                outermost = table.facts.definitions[outermost].parent
            parts = table.facts.definitions[outermost].qualified_name.split(".")[:-1]
            prefixes += [".".join(parts[:length]) for length in range(len(parts), 0, -1)]
        prefixes += [item.module for item in table.facts.imports if item.kind == "using" and item.name == "*"]
        return [*dict.fromkeys(prefixes), ""]

    def global_symbol(self, path: str, name: str, prefix: str) -> Values | None:
        """A name of one namespace ("" the global one) as the file sees it; None when it has none."""
        wanted = f"{prefix}.{name}" if prefix else name
        candidates = [
            place
            for place in self.world.named(self.language, name)
            if self.definition_at(place).qualified_name == wanted and self.definition_at(place).parent < 0
        ]
        chosen = self.visible(path, candidates)
        if chosen:
            return tuple(v for place in chosen for v in self.defined_value(*place))
        if any(self.definition_at(place).flags & NodeFlag.DECLARATION for place in candidates):
            return (Ext(name),)
        aliases = self.table(path).imports.get(MODULE_SCOPE, {}).get(name, ()) if not prefix else ()
        for index in aliases:
            item = self.table(path).facts.imports[index]
            found = self.global_symbol(path, item.name, item.module)
            if found is not None:
                return found
        return None

    def visible(self, path: str, candidates: list[Place]) -> list[Place]:
        """Which definitions of one name a use in `path` means."""
        if not candidates:
            return []
        own = [place for place in candidates if place[0] == path and self._has_body(place)]
        if own:
            return self._one_macro(own)
        candidates = [place for place in candidates if not _is_lost_member(self.definition_at(place))]
        closure = self.closure(path)
        shown = [place for place in candidates if place[0] in closure and self._has_body(place)]
        if shown:
            return self._one_macro(shown)
        linked = [
            place
            for place in candidates
            if self._has_body(place)
            and not self.definition_at(place).flags & NodeFlag.PRIVATE
            and self.definition_at(place).kind in CALLABLE_KINDS
            and self.definition_at(place).kind is not NodeKind.MACRO
        ]
        if not linked:
            return []
        declared = any(place[0] in closure for place in candidates)
        if not declared and self.definition_at(linked[0]).name in C_LIBRARY:
            return []  # a system header declares it; a replacement in the repository is for other systems
        paths = {place[0] for place in linked}
        if len(paths) == 1:
            return linked if declared or self._undeclared_is_meant(path, linked) else []
        near = [place for place in linked if place[0].rpartition("/")[0] == path.rpartition("/")[0]]
        return near if declared and len({place[0] for place in near}) == 1 else []

    def _one_macro(self, places: list[Place]) -> list[Place]:
        """A macro with several definitions depends on the configuration: none of them can be named."""
        macros = [place for place in places if is_macro(self.definition_at(place))]
        return [place for place in places if place not in macros] if len(macros) > 1 else places

    def _undeclared_is_meant(self, path: str, linked: list[Place]) -> bool:
        """Without a visible prototype: a header that could not be found may have one; accept a unique definition."""
        return self.world.language(path) == self.world.language(linked[0][0])

    def _has_body(self, place: Place) -> bool:
        return not self.definition_at(place).flags & NodeFlag.DECLARATION

    def definition_at(self, place: Place) -> Definition:
        return self.table(place[0]).facts.definitions[place[1]]

    def global_name(self, path: str, name: str) -> Values:  # noqa: ARG002
        """What nothing in the repository declares is a library's: external, or a namespace."""
        return (Package(name),)

    def package_member(self, package: Package, name: str) -> Values:
        """ns::name; an unknown namespace is a library's."""
        wanted = f"{package.name}.{name}"
        found = [
            place
            for place in self.world.named(self.language, name)
            if ends(self.definition_at(place).qualified_name, wanted) and self.definition_at(place).parent < 0
        ]
        bodies = [place for place in found if self._has_body(place)] or found
        if bodies:
            return tuple(v for place in bodies for v in self.defined_value(*place))
        return (Package(wanted),)

    def definition_value(self, path: str, index: int) -> Values:
        definition = self.definition(path, index)
        scope = definition.parent if definition.parent >= 0 else index  # its name tells the namespace it stands in
        if definition.kind is NodeKind.TYPE_ALIAS:
            return self.typed(path, scope, definition.result)
        if definition.kind is NodeKind.VARIABLE:
            return self.typed(path, scope, definition.result) or self.value(path, definition.value)
        return super().definition_value(path, index)

    # -- calls

    def eval_name(self, path: str, index: int, expr: Expr) -> Values:
        return _concrete(super().eval_name(path, index, expr), keep_packages=True)

    # -- what the standard library holds

    def eval_member(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        arrow = expr.text == ARROW
        return self._each(self.value(path, expr.base), lambda base: self.library_member(base, expr.name, arrow=arrow))

    def library_member(self, base: Value, name: str, *, arrow: bool) -> Values:
        """`p->name` is of what p points at, `p.name` of a smart pointer itself."""
        if not isinstance(base, Ext) or not base.args:
            return self.member(base, name)
        owner = base.name.rsplit(".", 1)[-1]
        if owner in SMART_POINTERS and arrow:
            return self._each(base.args[0], lambda held: self.library_member(held, name, arrow=False)) or EXTERNAL
        if owner == "pair" and name in ("first", "second"):
            return base.args[-1 if name == "second" else 0] or EXTERNAL
        return (Ext(f"{base.name}.{name}", base.args),)

    def _library_result(self, callee: Ext) -> Values | None:
        owner, _, name = callee.name.rpartition(".")
        owner = owner.rsplit(".", 1)[-1]
        if owner in SMART_POINTERS:
            if name == "lock":
                return (Ext("shared_ptr", callee.args),)
            return callee.args[0] or EXTERNAL if name in _OPENING else EXTERNAL
        if name in _HELD:
            return callee.args[-1] or EXTERNAL
        return (Ext("iterator", (self.element(Ext(owner, callee.args)),)),) if name in _PLACES else None

    def eval_enter(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        """*p: what a smart pointer points at; a plain pointer is taken for what it points at anyway."""
        return self._each(self.value(path, expr.base), lambda value: self._opened(value))

    def _opened(self, value: Value) -> Values:
        if isinstance(value, Ext) and value.args and value.name.rsplit(".", 1)[-1] in SMART_POINTERS:
            return value.args[0] or EXTERNAL
        return (value,)

    def receivers(self, path: str, callee: Expr) -> Values:
        found = super().receivers(path, callee)
        return self._each(found, self._opened) if callee.text == ARROW else found

    def call_result(self, callee: Value, path: str, index: int) -> Values:
        if isinstance(callee, Ext) and callee.args:
            held = self._library_result(callee)
            if held is not None:
                return held
        if isinstance(callee, Package):
            name = callee.name.rsplit(".", 1)[-1]
            made = self.table(path).facts.exprs[index].type
            if made is not None and made.name != EXPLICIT:
                scope = self.table(path).facts.exprs[index].scope
                return (Ext(name.replace("make_", "") + "_ptr", (self.typed(path, scope, made),)),)
            args = self.table(path).facts.exprs[index].args
            if name in ("move", "forward", "ref", "cref", "get") and len(args) == 1:
                return self.value(path, args[0])
            return EXTERNAL
        if isinstance(callee, Inst):
            return self._each(self.called_instance(callee), lambda target: self.call_result(target, path, index))
        if isinstance(callee, Ext) and callee.name == "->" and callee.args:
            return callee.args[0]
        return super().call_result(callee, path, index)

    def called_instance(self, value: Inst) -> Values:
        return tuple(
            item for item in self.class_member(value.path, value.index, "operator()") if isinstance(item, Func)
        )

    def constructors(self, value: Class) -> Values:
        definition = self.definition(value.path, value.index)
        found = self._member_values(value.path, value.index, definition.name, None) or ()
        return tuple(item for item in found if isinstance(item, Func))

    def select(self, path: str, index: int, targets: list[Place]) -> list[Place]:
        """Overloads by the number of arguments; a constructor that only a declaration implies is no call."""
        expr = self.table(path).facts.exprs[index]
        if expr.op is ops.CALL and expr.text == LONE_NAME:
            return [place for place in targets if self.definition_at(place).kind is NodeKind.MACRO]
        kinds = {self.definition_at(place).kind for place in targets}
        if expr.op is ops.NEW and expr.text and not kinds & {NodeKind.CONSTRUCTOR}:
            return []
        targets = [place for place in targets if not self._is_overfull(place, len(expr.args))]
        if len(targets) < 2:
            return targets
        fitting = [place for place in targets if _takes(self.definition_at(place), len(expr.args))]
        bodies = [place for place in fitting or targets if self._has_body(place)]
        return self._best_suited(path, expr, bodies or fitting or targets)

    def _is_overfull(self, place: Place, count: int) -> bool:
        """Whether a call gives a C++ function more than it has parameters for: then another is meant."""
        definition = self.definition_at(place)
        if definition.kind not in (NodeKind.METHOD, NodeKind.FUNCTION) or definition.name.startswith("<"):
            return False
        return self.world.language(place[0]) == "cpp" and not _takes(definition, count)

    def undecided(self, targets: list[Place]) -> bool:
        """Overloads, rather than one function written for several configurations; templates choose by conditions."""
        owners = {(path, self.definition_at((path, index)).parent) for path, index in targets}
        templates = [*targets, *(owner for owner in owners if len(owners) > 1 and owner[1] >= 0)]
        if any(self.definition_at(place).type_params for place in templates):
            return True
        return len({tuple(param.type for param in self.definition_at(place).params) for place in targets}) > 1

    def _best_suited(self, path: str, expr: Expr, targets: list[Place]) -> list[Place]:
        """Of overloads those whose parameters suit the arguments best, as far as their types are known."""
        if len(targets) < 2 or not self.undecided(targets):
            return targets
        scores = [self._suits(path, expr, place) for place in targets]
        return [place for place, score in zip(targets, scores, strict=True) if score == max(scores)]

    def _suits(self, path: str, expr: Expr, place: Place) -> int:
        params = self.definition_at(place).params
        score = -abs(len(params) - len(expr.args))
        for arg, param in zip(expr.args, params, strict=False):
            given = self.value(path, arg)
            item = self.table(path).facts.exprs[arg]
            if item.op is ops.LITERAL and param.type is not None:
                score += _LITERAL_TYPES.get(param.type.name.rsplit(".", 1)[-1]) == item.name
            elif len(given) == 1 and isinstance(given[0], Inst):
                wanted = self.typed(*place, param.type)
                lineage = {_at(owner) for owner in self.ancestry(*_at(given[0])) if isinstance(owner, Class)}
                own = [_at(value) for value in wanted if isinstance(value, Inst)]
                score += 2 * (_at(given[0]) in own) + any(value in lineage for value in own)
        return score

    # -- classes

    def eval_this(self, path: str, index: int, expr: Expr) -> Values:
        found = super().eval_this(path, index, expr)
        if found:
            return found
        definitions = self.table(path).facts.definitions
        scope = expr.scope
        while scope >= 0:
            if definitions[scope].receiver is not None:
                return tuple(Inst(owner.path, owner.index) for owner in self.receiver_classes(path, definitions[scope]))
            scope = definitions[scope].parent
        return UNKNOWN

    def receiver_classes(self, path: str, definition: Definition) -> list[Class]:
        """The class that a method written outside of it belongs to."""
        assert definition.receiver is not None
        name = definition.receiver.name
        full = definition.qualified_name.rpartition(".")[0]
        found = [
            place
            for place in self.world.named(self.language, name.rsplit(".", 1)[-1], CLASS_LIKE)
            if ends(full, self.definition_at(place).qualified_name)
        ]
        closure = self.closure(path)
        near = [place for place in found if place[0] in closure] or found
        return [Class(*place) for place in near[:1]]

    def base_classes(self, path: str, index: int, base: Type) -> Values:
        """A namespace is no scope of its own: the qualified name of the class tells in which it stands."""
        definition = self.definition_at((path, index))
        if definition.parent >= 0:
            return super().base_classes(path, index, base)
        first, *rest = base.name.split(".")
        found = self.type_parameter(path, index, first) or self._in_namespaces(path, index, first)
        for part in rest:
            found = self.members(found, part)
        return _concrete(found, keep_packages=False)

    def own_member(self, path: str, index: int, name: str, seen_as: Inst | Class | None) -> Values | None:
        """A member; inside a class its own name is the class, of a specialised template any of them."""
        if name == self.definition(path, index).name:
            return (Class(path, index),) if self._is_only_class(path, index) else None
        return self._member_values(path, index, name, seen_as)

    def _is_only_class(self, path: str, index: int) -> bool:
        """Whether no other class has the qualified name: a specialisation, or another program's."""
        definition = self.definition_at((path, index))
        alike = [
            place
            for place in self.world.named(self.language, definition.name, CLASS_LIKE)
            if self.definition_at(place).qualified_name == definition.qualified_name and self._has_body(place)
        ]
        return len(alike) <= 1

    def _member_values(self, path: str, index: int, name: str, seen_as: Inst | Class | None) -> Values | None:
        """A method that is only declared in the class is its definition outside."""
        self.touch(path, index)
        table = self.table(path)
        inside = table.defs.get(index, {}).get(name, ())
        if not inside:
            return super().own_member(path, index, name, seen_as)
        found: list[Value] = []
        for item in inside:
            definition = table.facts.definitions[item]
            if definition.kind in CALLABLE_KINDS:
                found += self._defined_outside(path, index, name) if definition.flags & NodeFlag.DECLARATION else ()
                if not definition.flags & NodeFlag.DECLARATION or not found:
                    found.append(Func(path, item))
            else:
                found += self.member_value(path, item, seen_as)
        return tuple(dict.fromkeys(found))

    def _defined_outside(self, path: str, index: int, name: str) -> list[Func]:
        owner = self.table(path).facts.definitions[index].qualified_name
        return [
            Func(*place)
            for place in self.world.named(self.language, name)
            if self.definition_at(place).receiver is not None
            and self._has_body(place)
            and ends(owner, self.definition_at(place).receiver.name)  # type: ignore[union-attr]
        ]

    def is_virtual(self, method: Place, override: Place) -> bool:
        """Without `virtual` here, there or further up a method of the same name only hides the other."""
        if any(_says_virtual(self.definition(*place)) for place in (method, override)):
            return True
        name = self.definition(*method).name
        return any(
            _says_virtual(self.definition(owner.path, index))
            for owner in self.overridden_in(*method)
            for index in self.table(owner.path).defs.get(owner.index, {}).get(name, ())
        )

    def bodies(self, path: str, index: int) -> list[Func]:
        definition = self.definition(path, index)
        if definition.flags & NodeFlag.DECLARATION and definition.parent >= 0:
            outside = self._defined_outside(path, definition.parent, definition.name)
            count = len(definition.params)
            found = [item for item in outside if len(self.definition(item.path, item.index).params) == count]
            if found:
                return found
        return super().bodies(path, index)

    def descends(self, place: Place, owners: set[Place]) -> bool:
        definition = self.definition(*place)
        if definition.parent >= 0 or definition.receiver is None:
            return super().descends(place, owners)
        lineage = [item for owner in self.receiver_classes(place[0], definition) for item in self.ancestry(*_at(owner))]
        return any(isinstance(item, Class) and _at(item) in owners for item in lineage)

    # -- types

    def type_classes(self, path: str, scope: int, declared: Type) -> Values:
        return _concrete(super().type_classes(path, scope, declared), keep_packages=False)

    def type_instances(self, path: str, scope: int, declared: Type) -> Values:
        if declared.name in ("[]", "->"):
            return (Ext(declared.name, tuple(self.typed(path, scope, arg) for arg in declared.args)),)
        if declared.name.rsplit(".", 1)[-1] in SMART_POINTERS and declared.args:
            return (Ext(declared.name, (self.typed(path, scope, declared.args[0]),)),)
        if declared.args:
            classes = self.type_classes(path, scope, declared)
            if classes and isinstance(classes[0], Ext):
                if classes[0].args:
                    return classes  # another name for a library's type
                return (Ext(declared.name, tuple(self.typed(path, scope, arg) for arg in declared.args)),)
        return super().type_instances(path, scope, declared)

    def item(self, base: Value, key: str | None) -> Values:
        if isinstance(base, Ext) and base.name == "pair" and key in ("0", "1"):
            return base.args[-int(key)] or EXTERNAL
        if isinstance(base, Ext) and base.args and base.name != "->":
            return base.args[-1] or EXTERNAL
        if isinstance(base, Inst):
            operators = self.class_member(base.path, base.index, "operator[]")
            found = tuple(v for f in operators if isinstance(f, Func) for v in self.returned(f.path, f.index))
            return found or (base,)  # p[0] of a pointer to T is a T
        return super().item(base, key)

    def element(self, base: Value) -> Values:
        if isinstance(base, Ext) and base.name.rsplit(".", 1)[-1] in _MAPS and len(base.args) > 1:
            return (Ext("pair", base.args[:2]),)
        if isinstance(base, Ext) and base.args and base.name != "->":
            return base.args[-1] or EXTERNAL
        return super().element(base)

    def module_name(self, path: str) -> str:
        return path


def _concrete(values: Values, *, keep_packages: bool) -> Values:
    """A name that turned out to be nothing but a name is external when it stands for a type or a function."""
    if keep_packages:
        return values
    return tuple(Ext(value.name) if isinstance(value, Package) else value for value in values)


def _takes(definition: Definition, count: int) -> bool:
    """Whether a function can be called with that many arguments; default values are not told apart from none."""
    if any(param.kind is ParamKind.VARIADIC for param in definition.params):
        return count >= len(definition.params) - 1
    return count <= len(definition.params)


def is_macro(definition: Definition) -> bool:
    """A macro, also one that is only another name."""
    return definition.kind is NodeKind.MACRO or definition.signature.startswith("#")


def _is_lost_member(definition: Definition) -> bool:
    """Only a member can be const: one outside of any class is left of a class that could not be read."""
    if definition.kind is not NodeKind.FUNCTION or definition.parent >= 0 or definition.receiver is not None:
        return False
    return "const" in definition.signature.rpartition(")")[2].split()


def _says_virtual(definition: Definition) -> bool:
    before, _, after = definition.signature.partition("(")
    return "virtual" in before.split() or not {"override", "final"}.isdisjoint(after.rpartition(")")[2].split())


def _at(value: Class | Inst) -> Place:
    return value.path, value.index


def ends(qualified: str, suffix: str) -> bool:
    return qualified == suffix or qualified.endswith(f".{suffix}")


def _normal(path: str) -> str | None:
    """A relative path without . and ..; None when it leaves the repository."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


def _shared(first: str, second: str) -> int:
    """How many leading directories two paths have in common."""
    count = 0
    for left, right in zip(first.split("/")[:-1], second.split("/")[:-1], strict=False):
        if left != right:
            break
        count += 1
    return count
