"""Documents: a section documents the symbol or file that it names, when exactly one can be meant.

Symbols of any language count; a name alone must say enough (long, unique, none that libraries share), a dotted name
must fit the end of the symbol's qualified name.
"""

from __future__ import annotations

from ctxsearch.graph.facts import Definition
from ctxsearch.graph.model import EdgeKind, NodeFlag, Rule
from ctxsearch.graph.resolve.evaluate import Evaluator
from ctxsearch.graph.resolve.plain import COMMON_NAMES
from ctxsearch.graph.resolve.values import UNKNOWN, Class, Module, Values

MIN_NAME_LENGTH = 4  # shorter words in backticks are options, keys, types of other systems


class DocumentEvaluator(Evaluator):
    """Markdown and reStructuredText."""

    reference_kind = EdgeKind.DOCUMENTS
    reference_rule = Rule.NAMING

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
        found: dict[tuple[str, str], tuple[int, Definition]] = {}
        for place, index in self.world.named_anywhere(last):
            definition = self.world.table(place).facts.definitions[index]
            if alone or _fits(place, definition, name):
                found.setdefault((place, definition.qualified_name), (index, definition))
        if len(found) > 1:
            bodies = {
                key: item for key, item in found.items() if not item[1].flags & (NodeFlag.DECLARATION | NodeFlag.TEST)
            }
            found = bodies or found
        if len(found) != 1:
            return UNKNOWN
        ((place, _), (index, _)) = next(iter(found.items()))
        return (Class(place, index),)

    def module_name(self, path: str) -> str:
        return path

    def qualified(self, module: str, definition: Definition) -> str:
        return f"{module} > {definition.qualified_name}"


def _fits(path: str, definition: Definition, name: str) -> bool:
    """Whether a dotted name is the end of the symbol's qualified name, its file's path counted in."""
    whole = f".{path.rpartition('.')[0].replace('/', '.')}.{definition.qualified_name}"
    return whole.endswith(f".{name}")


EVALUATOR = DocumentEvaluator
