"""Go: which names of a file may be variables or constants of a package.

Such a name need not be declared in the file: any other file of the package may have it. So what counts is what no
function around it declares. What that leaves (some are functions of other files) the resolver tells apart. A variable
of another file is taken to be hidden in the whole of a function that declares its name somewhere; nearly always it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter

from tree_sitter import Node, Query

from ctxsearch.graph import ops
from ctxsearch.graph.facts import MODULE_SCOPE, Import
from ctxsearch.graph.model import CALLABLE_KINDS, NodeFlag, NodeKind
from ctxsearch.graph.resolve.go import BUILTINS, STANDARD
from ctxsearch.indexer.languages.blocks import BlockExtractor

Hidden = list[frozenset[str]]  # per definition the names that code in it does not find in the package; last: none

_NONE: frozenset[str] = frozenset()
_START = attrgetter("start_byte")


class GoReferences(BlockExtractor):
    """Fills `references`. Most names are expressions already; the query's `@read` has those of conditions and such."""

    def __init__(self, path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> None:
        super().__init__(path, source, flags)
        self.names: list[int] = []  # expressions that are a name, in order
        self.called: set[int] = set()  # expressions that are called
        self.reads: list[Node] = []  # identifiers that may be part of no expression
        self._packages: frozenset[str] = _NONE  # imported packages that may be the repository's own
        self._elsewhere: frozenset[str] = _NONE  # what surely is no variable of a package, wherever it stands

    def captured(self, root: Node, query: Query) -> dict[str, list[Node]]:
        found = super().captured(root, query)
        self.reads = sorted(found.pop("read", []), key=_START)  # a query gives them in no order
        return found

    def on_read(self, node: Node) -> None:
        """Never called: `captured` keeps them."""

    def note_read(self, node: Node) -> None:
        """A value that goes where no expression keeps it."""
        inner = node.child_by_field_name("operand") if node.type == "selector_expression" else node
        if inner is not None and inner.type == "identifier":
            self.reads.append(inner)

    def finish(self) -> None:
        self._packages = frozenset(item.alias for item in self.imports if item.alias and not _is_standard(item))
        standard = {item.alias for item in self.imports if _is_standard(item)}
        others = {draft.name for draft in self.drafts if draft.parent < 0 and draft.kind is not NodeKind.VARIABLE}
        self._elsewhere = frozenset({"", "_"} | others | standard | BUILTINS)
        hidden = self._hidden_names()
        self.references += self._known_reads(hidden)
        self.references += self._other_reads(hidden)

    def _hidden_names(self) -> Hidden:
        own = {draft.name for draft in self.drafts if draft.parent < 0 and draft.kind is NodeKind.VARIABLE}
        declared = self._declared_names()
        found: Hidden = []
        for draft in self.drafts:
            around = found[draft.parent] if draft.parent >= 0 else _NONE
            if draft.kind in CALLABLE_KINDS:
                names = declared.get(draft.index, set())
                names.update([param.name for param in draft.params])
                if draft.type_params:
                    names.update([param.name for param in draft.type_params])
                # where a block hides a variable of this file, the resolver looks at which part of the function it does
                around = around.union(names - own)
            found.append(around)
        return [*found, _NONE]

    def _declared_names(self) -> dict[int, set[str]]:
        """Variables, constants and types inside functions, by function."""
        declared: dict[int, set[str]] = {}
        for assign in self.assigns:
            if assign.declares:
                target = self.exprs[assign.target]
                declared.setdefault(target.scope, set()).add(target.name)
        for draft in self.drafts:
            if draft.parent >= 0:
                declared.setdefault(draft.parent, set()).add(draft.name)
        return declared

    def _known_reads(self, hidden: Hidden) -> Iterator[int]:
        exprs, packages, called = self.exprs, self._packages, self.called
        declaring = {assign.target for assign in self.assigns if assign.declares}
        elsewhere = self._elsewhere
        for index in self.names:
            expr = exprs[index]
            if expr.name in hidden[expr.scope] or expr.name in elsewhere:
                continue
            if expr.name not in packages:
                if index not in called and index not in declaring:
                    yield index
            elif index + 1 not in called and index + 1 < len(exprs):
                member = exprs[index + 1]  # made right after what stands before its dot
                if member.op is ops.MEMBER and member.base == index:
                    yield index + 1

    def _other_reads(self, hidden: Hidden) -> Iterator[int]:
        memo = self._memo
        for node in self.reads:
            if node.id in memo:
                continue
            self.scope = self.scope_at(node.start_byte)
            name = self.text(node)
            if name in hidden[self.scope] or name in self._elsewhere:
                continue
            if name not in self._packages:
                yield self.expr(node)
            elif (member := node.parent) is not None and member.type == "selector_expression":
                yield self.expr(member)
        self.scope = MODULE_SCOPE


def _is_standard(item: Import) -> bool:
    return item.module.partition("/")[0] in STANDARD
