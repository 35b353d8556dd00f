"""What an overriding method has from the methods that it overrides: declared types, and what callers pass."""

from __future__ import annotations

from collections.abc import Iterator

from ctxsearch.graph.facts import ParamKind
from ctxsearch.graph.model import NodeKind
from ctxsearch.graph.resolve.python_names import PythonNames
from ctxsearch.graph.resolve.tables import CLASS_LIKE
from ctxsearch.graph.resolve.values import UNKNOWN, Arg, Class, Func, Values

_NAMED = frozenset({ParamKind.NORMAL, ParamKind.KEYWORD_ONLY})


class PythonOverrides(PythonNames):
    """A method takes what the method takes in whose place it runs."""

    def overridden(self, path: str, index: int) -> list[Func]:
        """The methods of the same name in the ancestors of a method's class, nearest first."""
        definition = self.table(path).facts.definitions[index]
        owner = definition.parent
        if definition.kind is not NodeKind.METHOD or owner < 0:
            return []
        if self.table(path).facts.definitions[owner].kind not in CLASS_LIKE:
            return []
        found: list[Func] = []
        for ancestor in self.ancestry(path, owner)[1:]:
            if isinstance(ancestor, Class):
                self.touch(ancestor.path, ancestor.index)
                table = self.table(ancestor.path)
                named = table.defs[ancestor.index].get(definition.name, ()) if ancestor.index in table.defs else ()
                methods = [item for item in named if table.facts.definitions[item].kind is NodeKind.METHOD]
                found += [Func(ancestor.path, item) for item in methods[-1:]]
        return found

    def param(self, path: str, index: int, place: int) -> Values:
        """Without a type of its own, a parameter has the one that an overridden method declares."""
        definition = self.table(path).facts.definitions[index]
        param = definition.params[place]
        if param.type is None and definition.kind is NodeKind.METHOD and param.kind in _NAMED:
            for method in self.overridden(path, index):
                declared = self._declared_param(method, param.name, place)
                if declared:
                    return declared
        return super().param(path, index, place)

    def _declared_param(self, method: Func, name: str, place: int) -> Values:
        position = self._counterpart(method, name, place)
        if position < 0:
            return UNKNOWN
        declared = self.definition(method.path, method.index).params[position].type
        return self.typed(method.path, method.index, declared)

    def _counterpart(self, method: Func, name: str, place: int) -> int:
        """The parameter of an overridden method that takes the same: so called, else in the same place; -1 for none."""
        params = self.definition(method.path, method.index).params
        for position, param in enumerate(params):
            if param.name == name and param.kind in _NAMED:
                return position
        return place if place < len(params) and params[place].kind is ParamKind.NORMAL else -1

    def returned(self, path: str, index: int) -> Values:
        """What it returns; where that says nothing, what an overridden method promises."""
        found = super().returned(path, index)
        definition = self.table(path).facts.definitions[index]
        if found or definition.result is not None or not definition.returns:
            return found
        for method in self.overridden(path, index):
            promised = self.typed(method.path, method.index, self.definition(method.path, method.index).result)
            if promised:
                return promised
        return found

    def _reaching(self, arg: Arg, stable: str) -> Iterator[str]:
        """Also what callers of the overridden methods pass."""
        yield from super()._reaching(arg, stable)
        definition = self.table(arg.path).facts.definitions[arg.index]
        if definition.kind is not NodeKind.METHOD:
            return
        param = definition.params[arg.position]
        for method in self.overridden(arg.path, arg.index) if param.kind in _NAMED else ():
            position = self._counterpart(method, param.name, arg.position)
            if position >= 0:
                stable = self.table(method.path).stable_name(method.index)
                yield from self.world.passed(method.path, stable, position)

    def takes(self, target: tuple[str, int]) -> frozenset[int]:
        """A method that does nothing with what it is given leaves that to those that override it."""
        used = super().takes(target)
        definition = self.definition(*target)
        if used or definition.kind is not NodeKind.METHOD:
            return used
        return frozenset(range(len(definition.params)))
