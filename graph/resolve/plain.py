"""Resolution for languages without rules of their own: same-file names, then a name that only one file defines."""

from __future__ import annotations

from ctxsearch.graph.facts import Expr, Op
from ctxsearch.graph.model import CALLABLE_KINDS
from ctxsearch.graph.resolve.evaluate import Evaluator

MIN_UNIQUE_LENGTH = 3  # shorter names are unique by accident


class PlainEvaluator(Evaluator):
    """Lexical scope, and a unique definition anywhere in the repository for plain calls."""

    def guess(self, path: str, index: int, expr: Expr) -> list[tuple[str, int]]:  # noqa: ARG002
        if expr.op is not Op.CALL or expr.base < 0:
            return []
        callee = self.table(path).facts.exprs[expr.base]
        if callee.op not in (Op.NAME, Op.MEMBER) or len(callee.name) < MIN_UNIQUE_LENGTH:
            return []
        return unique_callable(self, path, callee.name)


def unique_callable(evaluator: Evaluator, path: str, name: str) -> list[tuple[str, int]]:
    """The only callable of that name in the language's family; [] when there is none or more than one."""
    world = evaluator.world
    found = [
        (place, index)
        for place, index in world.named(world.language(path), name)
        if world.table(place).facts.definitions[index].kind in CALLABLE_KINDS
    ]
    return found if len(found) == 1 else []


EVALUATOR = PlainEvaluator
