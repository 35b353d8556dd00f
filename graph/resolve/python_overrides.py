"""What an overriding method has from the methods that it overrides: declared types, and what callers pass."""

from __future__ import annotations

from collections.abc import Iterator

from ctxsearch.graph.facts import ParamKind
from ctxsearch.graph.model import NodeKind
from ctxsearch.graph.resolve.python_names import PythonNames
from ctxsearch.graph.resolve.values import UNKNOWN, Arg, Class, Func, Values

_NAMED = frozenset({ParamKind.NORMAL, ParamKind.KEYWORD_ONLY})


class PythonOverrides(PythonNames):
    """A method takes what the method takes in whose place it runs."""

    def overridden(self, path: str, index: int) -> list[Func]:
        """The methods of the same name in the ancestors of a method's class, nearest first."""
        definitions = self.table(path).facts.definitions
        owner = definitions[index].parent
        if definitions[index].kind is not NodeKind.METHOD or owner < 0 or not definitions[owner].bases:
            return []
        found = self._once(
            ("overridden", path, index), lambda: tuple(self._above(path, owner, definitions[index].name))
        )
        return [item for item in found if isinstance(item, Func)]

    def _above(self, path: str, owner: int, name: str) -> Iterator[Func]:
        for ancestor in self.ancestry(path, owner)[1:]:
            if isinstance(ancestor, Class):
                self.touch(ancestor.path, ancestor.index)
                table = self.table(ancestor.path)
                named = table.defs[ancestor.index].get(name, ()) if ancestor.index in table.defs else ()
                methods = [item for item in named if table.facts.definitions[item].kind is NodeKind.METHOD]
                yield from (Func(ancestor.path, item) for item in methods[-1:])

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

    def _reaching(self, arg: Arg, stable: str) -> Iterator[str]:
        """Where nobody is seen passing anything: what callers of the overridden methods pass to these.

        Not what other overrides hand up with `super()`: that never comes down again.
        """
        nobody = True
        for encoded in super()._reaching(arg, stable):
            nobody = False
            yield encoded
        definition = self.table(arg.path).facts.definitions[arg.index]
        if not nobody or definition.kind is not NodeKind.METHOD:
            return
        param = definition.params[arg.position]
        for method in self.overridden(arg.path, arg.index) if param.kind in _NAMED else ():
            position = self._counterpart(method, param.name, arg.position)
            if position >= 0:
                stable = self.table(method.path).stable_name(method.index)
                for encoded in self.world.passed(method.path, stable, position):
                    if not _is_handed_up(encoded, definition.name):
                        yield encoded

    def takes(self, target: tuple[str, int]) -> frozenset[int]:
        """A method that does nothing with what it is given leaves that to those that override it."""
        used = super().takes(target)
        if used:
            return used
        definition = self.table(target[0]).facts.definitions[target[1]]
        return frozenset(range(len(definition.params))) if definition.kind is NodeKind.METHOD else used


def _is_handed_up(encoded: str, name: str) -> bool:
    """Whether an encoded value is a parameter of a method of that name."""
    if not encoded.startswith("Arg\0"):
        return False
    qualified = encoded.split("\0", 3)[2].rpartition("#")[0]
    return qualified.endswith(f".{name}")
