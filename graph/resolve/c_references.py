"""C and C++: the constants, variables, macros and functions that names mean where they are not called."""

from __future__ import annotations

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Definition, Expr, all_lines
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.graph.resolve.c_rules import Place, ends, is_macro
from ctxsearch.graph.resolve.c_templates import TemplateEvaluator
from ctxsearch.graph.resolve.tables import CLASS_LIKE
from ctxsearch.graph.resolve.values import UNKNOWN, Class, Inst, Package, Value, Values

_SHARED = frozenset({"extern", "static", "const", "constexpr", "inline", "thread_local"})  # of variables in headers


class ReferenceEvaluator(TemplateEvaluator):
    """Uses lead to definitions, not to what these hold."""

    def __init__(self, world: object) -> None:
        super().__init__(world)
        self._spaces: dict[tuple[str, int], tuple[str, ...]] = {}  # namespaces around the scopes of the home file

    def begin(self, path: str) -> None:
        super().begin(path)
        self._spaces = {}

    def reference(self, path: str, expr: int) -> Values:
        """The constant, variable, macro or function that a name means where it is not called."""
        item = self.table(path).facts.exprs[expr]
        if item.op is ops.NAME:
            return self._once(("use", item.scope, item.name), lambda: self._named(path, item.scope, item.name))
        found = self._each(self.ask(path, item.base), lambda owner: self._qualified(path, owner, item.name))
        return self._nearest(path, found)

    def _nearest(self, path: str, found: Values) -> Values:
        """Of what other programs of the repository call the same what a file sees; nothing when it sees several."""
        closure = self.closure(path) if found else frozenset()
        places = [(value.path, value.index) for value in found if isinstance(value, Class)]
        seen = [place for place in places if place[0] == path] or [place for place in places if place[0] in closure]
        seen = seen or [place for place in places if self._has_no_namesake(place)]
        return tuple(Class(*place) for place in seen) if len({place[0] for place in seen}) == 1 else UNKNOWN

    def _has_no_namesake(self, place: Place) -> bool:
        """Whether one file alone has a type of the name that the type around a member has."""
        owner = self.table(place[0]).facts.definitions[self.definition_at(place).parent].name
        return len({path for path, _ in self.world.named(self.language, owner, CLASS_LIKE)}) == 1

    def reference_lines(self, site: Expr) -> list[int]:
        return all_lines(site)

    def _named(self, path: str, scope: int, name: str) -> Values:
        """A bare name, as `lookup` goes outwards; the front end has left out what functions bind."""
        definitions = self.table(path).facts.definitions
        inner = scope
        while inner >= 0:
            definition = definitions[inner]
            found = self._constant_in(path, inner, name)
            if not found and definition.receiver is not None:
                for owner in self.receiver_classes(path, definition):
                    found = self._constant_in(owner.path, owner.index, name)
            if found:
                return found
            if self.type_parameter(path, inner, name):
                return UNKNOWN
            inner = definition.parent
        prefixes = self._spaces.get((path, scope))
        if prefixes is None:
            prefixes = self._spaces[path, scope] = tuple(self.namespaces(path, scope))
        found = self._once(("global use", prefixes, name), lambda: self._global_use(path, prefixes, name))
        return found if found or scope >= 0 else self._beside(path, name)

    def _beside(self, path: str, name: str) -> Values:
        """A name outside of all definitions, whose namespace is not known: the only one that the file itself has."""
        places = [place for place in self.world.named(self.language, name) if place[0] == path]
        seen = [place for place in places if self._namespace_of(place) is not None and self._has_body(place)]
        return (Class(*seen[0]),) if len(seen) == 1 else UNKNOWN

    def _constant_in(self, path: str, index: int, name: str) -> Values:
        """A field or constant of a class or what it inherits, or of an enum inside of a class or function."""
        table = self.table(path)
        if table.facts.definitions[index].kind not in CLASS_LIKE:
            return self._own_constant(path, index, name) if index in table.children else UNKNOWN
        for owner in self.ancestry(path, index):
            found = self._own_constant(owner.path, owner.index, name) if isinstance(owner, Class) else UNKNOWN
            if found:
                return found
        return UNKNOWN

    def _own_constant(self, path: str, index: int, name: str) -> Values:
        self.touch(path, index)
        table = self.table(path)
        definitions = table.facts.definitions
        own = table.defs[index].get(name, ()) if index in table.defs else ()
        found = [item for item in own if definitions[item].kind is NodeKind.VARIABLE]
        for child in () if found else table.children.get(index, ()):
            if definitions[child].kind is NodeKind.CLASS and child in table.defs:
                inside = table.defs[child].get(name, ())
                found += [item for item in inside if definitions[item].flags & NodeFlag.STATIC]
        return tuple(Class(path, item) for item in found[:1])

    def _global_use(self, path: str, prefixes: tuple[str, ...], name: str) -> Values:
        candidates = self.world.named(self.language, name)
        for prefix in prefixes if candidates else ():
            found = self._used(path, [place for place in candidates if self._namespace_of(place) == prefix])
            if found:
                return found
        return UNKNOWN

    def _qualified(self, path: str, owner: Value, name: str) -> Values:
        """a::name."""
        if isinstance(owner, (Class, Inst)):
            return self._constant_in(owner.path, owner.index, name)
        if not isinstance(owner, Package):
            return UNKNOWN
        spaces = [(place, self._namespace_of(place)) for place in self.world.named(self.language, name)]
        return self._used(path, [place for place, space in spaces if space is not None and ends(space, owner.name)])

    def _namespace_of(self, place: Place) -> str | None:
        """The namespace that a definition is in scope in; None when that is a class or a function."""
        definition = self.definition_at(place)
        if definition.parent >= 0:
            if definition.kind is not NodeKind.VARIABLE:
                return None
            definition = self.table(place[0]).facts.definitions[definition.parent]  # the constant's enum
            if definition.parent >= 0:
                return None
        elif definition.receiver is not None:
            return None
        return definition.qualified_name.rpartition(".")[0]

    def _used(self, path: str, candidates: list[Place]) -> Values:
        """What a use means of the definitions of its name: of one file, rather where it is than where it is said."""
        closure = self.closure(path) if candidates else frozenset()
        if not any(place[0] in closure for place in candidates):
            return UNKNOWN
        chosen = [place for place in self.visible(path, candidates) if place[0] == path or not self._is_lost(place)]
        if len({place[0] for place in chosen}) > 1:
            return UNKNOWN
        chosen = [place for place in chosen if self.definition_at(place).kind not in CLASS_LIKE] or chosen
        if any(_is_said_only(self.definition_at(place)) for place in chosen):
            there = [place for place in candidates if self._is_the_variable(place)]
            chosen = there if len(there) == 1 else chosen
        return tuple(Class(*place) for place in chosen)

    def _is_lost(self, place: Place) -> bool:
        """A C++ variable that other files may not see so is left of a class that could not be read."""
        definition = self.definition_at(place)
        if definition.kind is not NodeKind.VARIABLE or definition.parent >= 0 or is_macro(definition):
            return False
        return self.world.language(place[0]) == "cpp" and _SHARED.isdisjoint(definition.signature.split())

    def _is_the_variable(self, place: Place) -> bool:
        definition = self.definition_at(place)
        kept = definition.flags & NodeFlag.PRIVATE or is_macro(definition) or _is_said_only(definition)
        return definition.kind is NodeKind.VARIABLE and definition.parent < 0 and not kept


def _is_said_only(definition: Definition) -> bool:
    """`extern int x;` is defined elsewhere."""
    return definition.kind is NodeKind.VARIABLE and definition.signature.startswith("extern ")
