"""Documents: a section documents the symbol or file that it names, when exactly one can be meant.

Symbols of any language count; a name alone must say enough (long, unique, none that libraries share), a dotted name
must fit the end of the symbol's qualified name.
"""

from __future__ import annotations

from collections.abc import Iterator

from ctxsearch.graph.facts import Definition
from ctxsearch.graph.model import EdgeKind, NodeFlag, Rule
from ctxsearch.graph.resolve.evaluate import Evaluator
from ctxsearch.graph.resolve.plain import COMMON_NAMES
from ctxsearch.graph.resolve.values import UNKNOWN, Class, Module, Values
from ctxsearch.graph.resolve.world import World

MIN_NAME_LENGTH = 4  # shorter words in backticks are options, keys, types of other systems
_BODILESS = NodeFlag.DECLARATION | NodeFlag.TEST
_Known = tuple[str, int, str, bool]  # path, definition, qualified name, whether it counts as the one with a body


class DocumentEvaluator(Evaluator):
    """Markdown and reStructuredText."""

    reference_kind = EdgeKind.DOCUMENTS
    reference_rule = Rule.NAMING

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._known: dict[str, list[_Known]] = {}  # by last name, as far as somebody wanted to know

    def reference(self, path: str, expr: int) -> Values:
        name = self.table(path).facts.exprs[expr].name
        return self._file(path, name) or self._symbol(name)

    def _file(self, path: str, name: str) -> Values:
        if "." not in name:
            return UNKNOWN
        directory = path.rpartition("/")[0]
        for candidate in (f"{directory}/{name}" if directory else name, name):
            if candidate != path and self.world.exists(candidate):
                return (Module(candidate),)
        return UNKNOWN

    def _symbol(self, name: str) -> Values:
        last = name.rsplit(".", 1)[-1]
        alone = last == name
        if "/" in name or (alone and (len(name) < MIN_NAME_LENGTH or name in COMMON_NAMES)):
            return UNKNOWN
        return self._guarded("", ("symbol", name), lambda: self._only(name, last))

    def _only(self, name: str, last: str) -> Values:
        """The only symbol that a name can mean: with a body, if others have none; no more are read than that takes."""
        seen: set[tuple[str, str]] = set()
        bodies: list[Class] = []
        others: list[Class] = []
        for place, index, qualified_name, is_body in self._known_as(last):
            if (place, qualified_name) in seen or not (last == name or _fits(place, qualified_name, name)):
                continue
            seen.add((place, qualified_name))
            (bodies if is_body else others).append(Class(place, index))
            if len(bodies) > 1:
                return UNKNOWN
        found = bodies or others
        return (found[0],) if len(found) == 1 else UNKNOWN

    def _known_as(self, last: str) -> Iterator[_Known]:
        """Every symbol of a last name. What was read of them is kept: documents name the same ones again and again."""
        places = self.world.named_anywhere(last)
        known = self._known.setdefault(last, [])
        for number, (place, index) in enumerate(places):
            if number == len(known):
                definition = self.world.table(place).facts.definitions[index]
                known.append((place, index, definition.qualified_name, not definition.flags & _BODILESS))
            yield known[number]

    def forget(self) -> None:
        super().forget()
        self._known.clear()

    def module_name(self, path: str) -> str:
        return path

    def qualified(self, module: str, definition: Definition) -> str:
        return f"{module} > {definition.qualified_name}"


def _fits(path: str, qualified_name: str, name: str) -> bool:
    """Whether a dotted name is the end of the symbol's qualified name, its file's path counted in."""
    whole = f".{path.rpartition('.')[0].replace('/', '.')}.{qualified_name}"
    return whole.endswith(f".{name}")


EVALUATOR = DocumentEvaluator
