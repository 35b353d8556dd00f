"""Python's names: scopes, the bindings that reach a place, parameters, and the fixtures that pytest passes for them."""

from __future__ import annotations

import sys

from ctxsearch.graph import ops
from ctxsearch.graph.facts import MODULE_SCOPE, Assign, ParamKind
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.graph.resolve.python_classes import PythonClasses
from ctxsearch.graph.resolve.python_containers import NONE
from ctxsearch.graph.resolve.python_library import BUILTINS
from ctxsearch.graph.resolve.python_modules import join_path
from ctxsearch.graph.resolve.tables import CLASS_LIKE, FileTable
from ctxsearch.graph.resolve.values import UNKNOWN, Arg, Box, Coll, Ext, Gen, Value, Values

END = sys.maxsize  # a place after every statement of a scope
_Place = tuple[int, int, int]


class PythonNames(PythonClasses):
    """What a name means at a place."""

    def lookup(self, path: str, scope: int, name: str, at: int) -> Values:
        """Function scopes outwards; a class body is seen from itself alone; then the module and the built-ins."""
        definitions = self.table(path).facts.definitions
        place, inner, lambdas = at, scope, True
        while inner >= 0:
            definition = definitions[inner]
            lambdas = lambdas and definition.name.startswith("<")
            if definition.kind not in CLASS_LIKE:
                found = self.in_function(path, inner, name, place)
                if found is not None:
                    return found
            elif inner == scope:
                found = self.bound(path, inner, name, place)
                if found is not None:
                    return found
            # seen from nested code: any time after its definition, but block-wise where that stands
            place = -2 - definition.start
            inner = definition.parent
        if lambdas:  # module code, or a lambda in it, which sees the variables of a comprehension around
            return self._top_level(path, name, place)
        return self._guarded(path, ("n", path, name), lambda: self._top_level(path, name, -1))

    def is_fixed(self, path: str, scope: int, name: str) -> bool:
        """A parameter, or a module's name as functions see it, that nothing on the way to it binds."""
        table = self.table(path)
        inner, lambdas = scope, True
        while inner >= 0:
            definition = table.facts.definitions[inner]
            lambdas = lambdas and definition.name.startswith("<")
            function = definition.kind not in CLASS_LIKE
            if (function or inner == scope) and table.places(inner, name):
                return False
            if function and any(param.name == name for param in definition.params):
                return True
            inner = definition.parent
        return not lambdas

    def _top_level(self, path: str, name: str, place: int) -> Values:
        found = self.in_module(path, name, place)
        return found if found is not None else self.global_name(path, name)

    def bound(self, path: str, scope: int, name: str, at: int) -> Values | None:
        if at >= 0 and self._reads_outer(path, scope, name, at):
            return None
        found = super().bound(path, scope, name, at)
        if found is None or at < 0 or any(value != NONE for value in found):
            return found
        # nothing but None so far: a loop or another method binds it later
        later = super().bound(path, scope, name, -1)
        return found if later is None else later

    def _reads_outer(self, path: str, scope: int, name: str, at: int) -> bool:
        """`str = str` in a module or class body: what is not yet bound there is looked up further out."""
        table = self.table(path)
        if scope >= 0 and table.facts.definitions[scope].kind not in CLASS_LIKE:
            return False
        if scope < 0 and name not in BUILTINS:
            return False
        assigns = table.binds[scope].get(name, ()) if scope in table.binds else ()
        if not assigns or (scope >= 0 and _defines(table, scope, name)):
            return False
        exprs = table.facts.exprs
        return all(exprs[table.facts.assigns[item].target].at >= at for item in assigns)

    def choose(self, table: FileTable, places: list[_Place], at: int) -> list[_Place]:
        """The bindings that reach `at`: back to the last one that certainly happened."""
        facts = table.facts
        places = [
            place
            for place in places
            if place[1] != 1 or facts.definitions[place[2]].kind not in (NodeKind.VARIABLE, NodeKind.TYPE_ALIAS)
        ] or places
        reaching, _ = _reaching(table, places, at)
        return reaching or [place for place in places if _extent(table, place)[0] < 0]

    def in_function(self, path: str, index: int, name: str, at: int) -> Values | None:
        """A local; also the parameter of that name, where no assignment has certainly replaced it."""
        table = self.table(path)
        places = table.places(index, name)
        reaching, certain = _reaching(table, places, at) if places else (places, False)
        if certain or not places:
            return super().in_function(path, index, name, at)
        params = table.facts.definitions[index].params
        position = next((i for i, param in enumerate(params) if param.name == name), -1)
        if position < 0:
            return super().in_function(path, index, name, at)
        given = self.param(path, index, position)
        if not reaching:
            return given
        replaced = self._replaced(path, table, places, reaching)
        assigned = self.bound(path, index, name, at) or UNKNOWN
        return (*(value for value in given if value not in replaced), *assigned)

    def _replaced(self, path: str, table: FileTable, places: list[_Place], reaching: list[_Place]) -> set[Value]:
        """What a name no longer is after `if isinstance(x, A): x = ...`: an A."""
        tests = [
            place
            for place in places
            if any(place[0] <= item[0] <= _extent(table, place)[0] for item in reaching if item is not place)
        ]
        return {value for place in tests for value in self.assigned(path, place[2])}

    def assigned_value(self, path: str, scope: int, assign: Assign) -> Values:
        """A literal says more than a declared container of which nothing tells the items: `x: dict[str, Callable]`."""
        found = super().assigned_value(path, scope, assign)
        if assign.type is None or assign.value < 0 or not all(_holds_anything(value) for value in found):
            return found
        written = self.value(path, assign.value)
        return written if written and all(isinstance(value, Box) for value in written) else found

    # -- parameters

    def param(self, path: str, index: int, place: int) -> Values:
        definition = self.table(path).facts.definitions[index]
        param = definition.params[place]
        if param.kind in (ParamKind.VARIADIC, ParamKind.KEYWORDS):
            typed = self.typed(path, index, param.type)
            if typed:
                return (Coll("list" if param.kind is ParamKind.VARIADIC else "dict", (typed,)),)
            return (Arg(path, index, place),)
        fixture = self._fixture(path, index, param.name) if param.type is None else UNKNOWN
        found = fixture or super().param(path, index, place)
        if NONE not in found:
            return found
        return tuple(value for value in found if value != NONE)  # that default says nothing of what callers pass

    def _fixture(self, path: str, index: int, name: str) -> Values:
        """What pytest passes to a test (or fixture) for a parameter: the result of the fixture of that name."""
        table = self.table(path)
        definition = table.facts.definitions[index]
        if not table.facts.flags & NodeFlag.TEST or not (
            definition.name.startswith("test") or self._is_fixture(table, index)
        ):
            return UNKNOWN
        places = [(path, scope) for scope in (definition.parent, MODULE_SCOPE)]
        directory = path.rpartition("/")[0]
        while True:
            places.append((join_path(directory, "conftest.py"), MODULE_SCOPE))
            if not directory:
                break
            directory = directory.rpartition("/")[0]
        for place, scope in dict.fromkeys(places):
            found = self._fixture_in(place, scope, name, index if place == path else -1)
            if found:
                return found
        return UNKNOWN

    def _fixture_in(self, path: str, scope: int, name: str, asking: int) -> Values:
        if not self.world.exists(path):
            return UNKNOWN
        self.world.record("name", path, name)
        table = self.table(path)
        for index in table.defs[scope].get(name, ()) if scope in table.defs else ():
            if index != asking and self._is_fixture(table, index):
                flags = self.definition(path, index).flags
                return self._yielded(Gen(path, index)) if flags & NodeFlag.GENERATOR else self.returned(path, index)
        return UNKNOWN

    def _is_fixture(self, table: FileTable, index: int) -> bool:
        exprs = table.facts.exprs
        for decorator in table.facts.definitions[index].decorators:
            expr = exprs[exprs[decorator].base] if exprs[decorator].op is ops.CALL else exprs[decorator]
            if expr.name == "fixture":
                return True
        return False


def _defines(table: FileTable, scope: int, name: str) -> bool:
    """Whether a scope has a function or class of that name, not a variable alone."""
    found = table.defs[scope].get(name, ()) if scope in table.defs else ()
    return any(table.facts.definitions[index].kind is not NodeKind.VARIABLE for index in found)


def _reaching(table: FileTable, places: list[_Place], at: int) -> tuple[list[_Place], bool]:
    """The bindings that can hold at `at`, and whether the first of them certainly happened."""
    stands, until = (at, at) if at >= 0 else (END, -2 - at)
    found: list[_Place] = []
    for place in reversed(places):
        limit, conditional, block = _extent(table, place)
        if place[0] >= stands or (limit >= 0 and not place[0] <= until < limit):
            continue
        found.append(place)
        if limit >= 0 or not conditional or stands < block:
            return found[::-1], True
    return found[::-1], False


def _extent(table: FileTable, place: _Place) -> tuple[int, bool, int]:
    """A binding's block end (-1: whole scope), whether it may not have happened, and where its branch ends."""
    _, kind, index = place
    if kind == 0:
        assign = table.facts.assigns[index]
        return assign.until, assign.conditional, assign.block
    block = table.facts.definitions[index].block if kind == 1 else table.facts.imports[index].block
    return -1, block >= 0, block


def _holds_anything(value: Value) -> bool:
    """A library's container, as far as declared: without its items' type, or that of some part of them."""
    return isinstance(value, Ext) or (isinstance(value, Coll) and bool(value.args) and _is_open(value))


def _is_open(value: Coll) -> bool:
    parts = value.args if value.name == "tuple" else value.args[-1:]
    return any(not part or any(isinstance(item, Coll) and _is_open(item) for item in part) for part in parts)
