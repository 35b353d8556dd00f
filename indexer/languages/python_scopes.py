"""Scopes and bindings of a Python file: whose variable a name is, and in which branch it is bound."""

from __future__ import annotations

import re

from tree_sitter import Node

from ctxsearch.graph import ops
from ctxsearch.graph.facts import MODULE_SCOPE, Assign, Expr, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages.builder import Extractor
from ctxsearch.indexer.languages.python_grammar import first_child

_TEST_FILE = re.compile(r"(^|/)(tests?/|conftest\.py$|test_[^/]*\.py$|[^/]*_tests?\.py$|tests\.py$)")


class PythonScopes(Extractor):
    """What is known of the scope at hand."""

    language = "python"

    def __init__(self, path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> None:
        if _TEST_FILE.search(path):
            flags |= NodeFlag.TEST
        super().__init__(path, source, flags)
        self._outer: dict[int, Node] = {}  # definition node id -> its decorated_definition
        self._bound: dict[int, str] = {}  # lambda node id -> the name it is assigned to
        self._receivers: set[str] = set()  # names of first parameters of methods
        self._body_calls: dict[int, frozenset[str]] = {}  # class -> names of functions that its body calls
        self._declared: dict[tuple[int, str], int] = {}  # (scope, name) -> scope that `global`/`nonlocal` chose
        self._variables: set[tuple[int, str]] = set()  # module- and class-level names that have a node
        self._branches: list[tuple[int, int]] = []  # (scope, end) of the branches around the current place
        self._literals: dict[tuple[int, str, str], int] = {}
        self._public: set[str] | None = None  # __all__, when it is written out

    def on_global(self, node: Node) -> None:
        for child in node.named_children:
            self._declared[self.scope, self.text(child)] = MODULE_SCOPE

    def on_nonlocal(self, node: Node) -> None:
        owner = self._function_around(self.scope)
        for child in node.named_children:
            name = self.text(child)
            self._declared[self.scope, name] = self._declared.get((owner, name), owner)

    def _function_around(self, scope: int) -> int:
        """The nearest function that contains `scope` and is not it."""
        scope = self.drafts[scope].parent if scope != MODULE_SCOPE else MODULE_SCOPE
        while scope != MODULE_SCOPE and self.drafts[scope].kind == NodeKind.CLASS:
            scope = self.drafts[scope].parent
        return scope

    def on_branch(self, node: Node) -> None:
        self._leave_branches(node.start_byte)
        self._branches.append((self.scope, node.end_byte))

    def _block(self) -> int:
        """Where the branch ends that the current place stands in, within its scope; -1 for none."""
        return self._branches[-1][1] if self._branches and self._branches[-1][0] == self.scope else -1

    def _leave_branches(self, at: int) -> None:
        while self._branches and self._branches[-1][1] <= at:
            self._branches.pop()

    def _bind(
        self,
        target: int,
        value: int,
        *,
        declared: Type | None = None,
        until: int = -1,
        conditional: bool = False,
    ) -> None:
        """Record an assignment of the statement at hand, whose start `_leave_branches` has been told."""
        expr = self.exprs[target]
        block = self._block()
        if expr.scope != self.scope:
            conditional, block = True, -1  # bound from another function, at a time nobody knows
        elif block >= 0:
            conditional = True
        self.assigns.append(Assign(target, value, declared, expr.op == ops.NAME, until, conditional, block))

    def _owner(self, name: str) -> int:
        return self._declared.get((self.scope, name), self.scope)

    def _target(self, node: Node, at: int) -> int:
        """The NAME that a statement binds. Bound from `at`, the statement's end: `x = f(x)` reads the older x."""
        name = self.text(node)
        self.exprs.append(Expr(ops.NAME, self._owner(name), self.line(node.start_byte), at, name))
        return len(self.exprs) - 1

    # -- text

    def _field_text(self, node: Node, field: int) -> str:
        child = node.child_by_field_id(field)
        return self.text(child) if child is not None else ""

    def _first_text(self, node: Node) -> str:
        child = first_child(node)
        return self.text(child) if child is not None else ""
