"""Which bare names of a file stand for something that is declared outside of its functions."""

from __future__ import annotations

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Assign, Expr
from ctxsearch.graph.model import NodeKind
from ctxsearch.indexer.languages.builder import Draft

_CLASS_LIKE = frozenset({NodeKind.CLASS, NodeKind.INTERFACE})


class FreeNames:
    """Which bare names of a file no function around them binds: parameters and local variables, wherever they end."""

    def __init__(self, drafts: list[Draft], exprs: list[Expr], assigns: list[Assign]) -> None:
        self._drafts = drafts
        self._known: dict[tuple[int, str], bool] = {}
        self.fields = {draft.name for draft in drafts if draft.kind is NodeKind.VARIABLE}
        self._bound: list[set[str]] = [
            {param.name for param in draft.params} if draft.kind not in _CLASS_LIKE else set() for draft in drafts
        ]
        for assign in assigns:
            target = exprs[assign.target]
            if assign.declares:
                self.bind(target.scope, target.name)

    def bind(self, scope: int, name: str) -> None:
        """Another name that a scope has for itself; to be told before anything is asked."""
        if scope >= 0:
            self._bound[scope].add(name)

    def is_free(self, scope: int, name: str) -> bool:
        known = self._known.get((scope, name))
        if known is None:
            bound = scope >= 0 and name in self._bound[scope]
            known = not bound and (scope < 0 or self.is_free(self._drafts[scope].parent, name))
            self._known[scope, name] = known
        return known


def uncalled_names(exprs: list[Expr]) -> list[tuple[int, Expr]]:
    """The NAME expressions that are no callee, with their places."""
    names: list[tuple[int, Expr]] = []
    callees: set[int] = set()
    for index, item in enumerate(exprs):
        op = item.op
        if op is ops.NAME:
            names.append((index, item))
        elif op is ops.CALL:
            callees.add(item.base)
    return [name for name in names if name[0] not in callees]


def add_lines(exprs: list[Expr], index: int, lines: list[int]) -> None:
    """Let an expression that was made for its use alone stand for further lines of its scope, too."""
    item = exprs[index]
    others = dict.fromkeys(line for line in lines if line != item.line)
    if others:
        text = " ".join(map(str, others))
        exprs[index] = Expr(item.op, item.scope, item.line, item.at, item.name, item.base, item.args, text, item.type)
