"""Extension functions and called variables: what Kotlin and C# add to the shared rules of typed languages."""

from __future__ import annotations

from collections.abc import Mapping

from ctxsearch.graph.facts import Definition, Expr
from ctxsearch.graph.model import CALLABLE_KINDS, NodeFlag
from ctxsearch.graph.resolve.overloads import EXACT, NO_MATCH, WEAK, fit, is_open, simple
from ctxsearch.graph.resolve.surface import MODULE_STARS
from ctxsearch.graph.resolve.tables import CLASS_LIKE, FileTable
from ctxsearch.graph.resolve.typed import TypedEvaluator
from ctxsearch.graph.resolve.typed_types import WIDE
from ctxsearch.graph.resolve.values import EXTERNAL, UNKNOWN, Class, Ext, Func, Inst, Value, Values, Var


class FunctionalEvaluator(TypedEvaluator):
    """Functions as values and functions added to types from outside."""

    subtypes: Mapping[str, frozenset[str]] = {}  # of well-known library types, whose extensions they have too

    # -- classes in several parts

    def is_part(self, definition: Definition) -> bool:
        """Whether a class may have more parts elsewhere."""
        raise NotImplementedError

    def namespace(self, table: FileTable, index: int) -> str:  # noqa: ARG002
        """The namespace that a definition stands in."""
        return table.facts.package

    def parts(self, path: str, index: int) -> list[tuple[str, int]]:
        if not self.is_part(self.table(path).facts.definitions[index]):
            return [(path, index)]
        found = self._guarded("", ("parts", path, index), lambda: self._parts(path, index), WIDE)
        return [(value.path, value.index) for value in found if isinstance(value, Class)] or [(path, index)]

    def _parts(self, path: str, index: int) -> Values:
        table = self.table(path)
        mine = table.facts.definitions[index]
        space = self.namespace(table, index)
        found: list[Value] = []
        for place, other in self.world.named(self.language, mine.name, frozenset({mine.kind})):
            theirs = self.table(place)
            definition = theirs.facts.definitions[other]
            self.world.record("name", place, MODULE_STARS)
            if (
                self.is_part(definition)
                and definition.qualified_name == mine.qualified_name
                and len(definition.type_params) == len(mine.type_params)
                and self.namespace(theirs, other) == space
            ):
                found.append(Class(place, other))
        return tuple(found)

    def own_instance(self, path: str, index: int) -> Inst:
        return super().own_instance(*self.parts(path, index)[0])

    def as_type(self, path: str, index: int) -> Values:
        if self.definition(path, index).kind in CLASS_LIKE:
            return (Class(*self.parts(path, index)[0]),)
        return super().as_type(path, index)

    # -- called variables

    def called_variable(self, values: Values | None, path: str, call: int) -> Values | None:
        if values is None:
            return None
        found: list[Value] = []
        for value in values:
            if isinstance(value, Func):
                found.append(value)
            elif isinstance(value, Inst):
                found += self.called_member(value, "invoke", path, call) or ()
        return tuple(found) or EXTERNAL

    def local_call(self, path: str, scope: int, callee: Expr, call: int) -> Values | None:
        found = self.called_variable(self.local(path, scope, callee.name, callee.at), path, call)
        if found is not None:
            return found
        for receiver in self.implicit_receiver(path, scope):
            found = self.receiver_call(receiver, callee.name, path, call)
            if found is not None:
                return found
        return None

    def receiver_call(self, receiver: Value, name: str, path: str, call: int) -> Values | None:
        """A plain call inside a function whose `this` is `receiver`."""
        if isinstance(receiver, (Inst, Class)):
            found = self.called_member(receiver, name, path, call)
            if found is not None:
                return found
        return self.extension_call(receiver, name, path, call) or None

    # -- extensions

    def method_call(self, base: Value, name: str, path: str, call: int) -> Values:
        if isinstance(base, Ext):
            found = self.extension_call(base, name, path, call)
            if found:
                return found
        elif isinstance(base, Var):
            bound = super().method_call(base, name, path, call)
            if any(not isinstance(value, Ext) for value in bound):
                return bound
            return self.extension_call(base, name, path, call) or bound
        return super().method_call(base, name, path, call)

    def missing_method(self, base: Inst | Class, name: str, path: str, call: int) -> Values:
        found = self.extension_call(base, name, path, call)
        return found or super().missing_method(base, name, path, call)

    def extension_call(self, base: Value, name: str, path: str, call: int) -> Values:
        """The extension of that name, visible in the file, whose receiver the value fits best."""
        if isinstance(base, Ext) and (not base.name or "()" in base.name):
            return UNKNOWN
        scored: list[tuple[int, tuple[str, int]]] = []
        site = self.table(path).facts.exprs[call]
        for item in self.within_reach(self.visible_extensions(path, name), path, site.scope):
            score = self.receiver_fitness(base, item)
            if score != NO_MATCH:
                scored.append((score, item))
        if not scored:
            return UNKNOWN
        best = max(score for score, _ in scored)
        nearest = [item for score, item in scored if score == best]
        known = isinstance(base, Ext) and self.library.knows(name)  # the type's own function may be meant
        chosen = self.choose_overload(nearest, path, site, strict=known)
        return tuple(Func(*item) for item in chosen)

    def fits_receiver(self, base: Value, extension: tuple[str, int]) -> bool:
        return self.receiver_fitness(base, extension) != NO_MATCH

    def receiver_fitness(self, base: Value, extension: tuple[str, int]) -> int:
        """How well a value fits what an extension extends."""
        receiver = self.definition(*extension).receiver
        return NO_MATCH if receiver is None else self._receiver_fit(base, self.typed(*extension, receiver))

    def _receiver_fit(self, base: Value, wanted: Values) -> int:
        if not wanted:
            return WEAK
        best = NO_MATCH
        for target in self.widened(wanted):
            score = fit(base, target, self._ancestors)
            if isinstance(base, Ext) and isinstance(target, Ext):
                score = self._library_fit(base, target) if score == WEAK else score
            same = score == EXACT or isinstance(base, Ext)
            if same and isinstance(target, (Ext, Inst)) and isinstance(base, type(target)):
                score = NO_MATCH if self._args_differ(base.args, target.args) else score
            best = max(best, score)
        return best

    def _library_fit(self, base: Ext, target: Ext) -> int:
        """Library types that may be related: only well-known ones and everything's root are worth believing."""
        given, wanted = simple(base.name), simple(target.name)
        raised = given.endswith(("Exception", "Error")) and wanted in ("Exception", "Throwable")
        return WEAK if raised or is_open(target) or given in self.subtypes.get(wanted, ()) else NO_MATCH

    def _args_differ(self, ours: tuple[Values, ...], theirs: tuple[Values, ...]) -> bool:
        """Whether type arguments are known that cannot be the same: an extension of List<A> is none of List<B>."""
        return len(ours) == len(theirs) and any(
            given
            and wanted
            and all(fit(mine, other, self._ancestors) == NO_MATCH for mine in given for other in self.widened(wanted))
            for given, wanted in zip(ours, theirs, strict=True)
        )

    def visible_extensions(self, path: str, name: str) -> list[tuple[str, int]]:
        """Extensions of a name that a file sees."""

        def compute() -> Values:
            found: list[Value] = []
            for place, index in self.world.named(self.language, name, CALLABLE_KINDS):
                if self.table(place).facts.definitions[index].flags & NodeFlag.EXTENSION:
                    self.world.record("name", place, MODULE_STARS)
                    if self.sees_extension(path, place, index):
                        found.append(Func(place, index))
            return tuple(found)

        found = self._guarded(path, ("ext", path, name), compute, WIDE)
        return [(value.path, value.index) for value in found if isinstance(value, Func)]

    def within_reach(self, extensions: list[tuple[str, int]], path: str, scope: int) -> list[tuple[str, int]]:  # noqa: ARG002
        """Of the extensions that a file sees those that one place in it does."""
        return extensions

    def sees_extension(self, path: str, place: str, index: int) -> bool:
        raise NotImplementedError
