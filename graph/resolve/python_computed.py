"""Python's `getattr`: attributes by a name that is written out, or made at run time of parts that are."""

from __future__ import annotations

import re

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Expr
from ctxsearch.graph.resolve.python_arguments import PythonArguments
from ctxsearch.graph.resolve.python_containers import NONE
from ctxsearch.graph.resolve.values import SYMBOLIC, UNKNOWN, Arg, Class, Func, Inst, Sym, Value, Values

MIN_PART = 3  # characters of a computed name that must be written out, with the mark of the rest: `"do_" + name`
_FIELD = re.compile(r"\{\w*\}")


class PythonComputedNames(PythonArguments):
    """Members whose name the code computes."""

    def attribute(self, path: str, args: tuple[int, ...]) -> Values:
        """`getattr(x, "name")`; of a name made at run time, `getattr(x, "visit_" + kind)`, every method so called."""
        owners, names = self.value(path, args[0]), self._names_written(path, args[1])
        found = [value for name in names for owner in owners for value in self._named_member(owner, name)]
        default = self.value(path, args[2]) if len(args) > 2 else UNKNOWN
        if not found:  # subclasses, or code elsewhere, have what is asked for; the function for the others is known
            return tuple(value for value in default if isinstance(value, Func))
        return (*found, *(value for value in default if value != NONE))

    def _names_written(self, path: str, index: int) -> list[str]:
        """What is known of a name that an expression gives, "*" for a part that is not; [] when nothing is."""
        table = self.table(path)
        expr = table.facts.exprs[index]
        if expr.op is ops.NAME:
            bound = self.choose(table, table.places(expr.scope, expr.name), expr.at)
            values = [table.facts.assigns[place].value for _, kind, place in bound if kind == 0]
            expressions = [table.facts.exprs[value] for value in values if value >= 0]
        else:
            expressions = [expr]
        written = [_written(table.facts.exprs, item) for item in expressions]
        return written if all(len(name) > MIN_PART or "*" not in name for name in written) and all(written) else []

    def _named_member(self, owner: Value, name: str) -> Values:
        if "*" not in name:
            return self.member(owner, name)
        start, _, end = name.partition("*")
        return self._methods_like(owner, start, end)

    def _methods_like(self, owner: Value, start: str, end: str) -> Values:
        if isinstance(owner, (Arg, Sym)):
            return SYMBOLIC
        if not isinstance(owner, (Inst, Class)):
            return UNKNOWN
        names = {
            name
            for ancestor in self.ancestry(owner.path, owner.index)
            if isinstance(ancestor, Class)
            for name in self._own_names(ancestor)
            if name.startswith(start) and name.endswith(end) and len(name) > len(start) + len(end)
        }
        if owner.path == self.home and not self._abroad:
            # `parse_` + keyword: what is called by its own name besides is a step of these, hardly one of them
            names -= self.table(owner.path).called_members
        found = [value for name in sorted(names) for value in self._class_member(owner, name)]
        return tuple(value for value in found if isinstance(value, Func))

    def _own_names(self, owner: Class) -> frozenset[str]:
        self.touch(owner.path, owner.index)
        return self.table(owner.path).member_names(owner.index)


def _written(exprs: tuple[Expr, ...], expr: Expr) -> str:
    """The text of a string expression, "*" for a part that is made at run time; "" for any other expression."""
    if expr.op in (ops.LITERAL, ops.TEMPLATE):
        return expr.text
    if expr.op is ops.CALL and expr.base >= 0 and exprs[expr.base].op is ops.MEMBER:
        callee = exprs[expr.base]
        text = exprs[callee.base].text if exprs[callee.base].op is ops.LITERAL else ""
        parts = _FIELD.split(text) if callee.name == "format" else []
        return "*".join(parts) if len(parts) == 2 else ""
    return ""
