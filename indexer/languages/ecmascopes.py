"""Bindings of a JavaScript or TypeScript file: declarations, assignments, patterns, blocks and tests."""

from __future__ import annotations

from collections.abc import Iterator

from tree_sitter import Node

from ctxsearch.graph.facts import MODULE_SCOPE, Assign, Expr, Op, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages.builder import Draft
from ctxsearch.indexer.languages.ecmaexprs import (
    LOGICAL_ASSIGNMENTS,
    VALUE_WRAPPERS,
    first,
)
from ctxsearch.indexer.languages.ecmalinks import Links

INSTANCE = "instanceof"  # the text of a CAST to an instance of the class that its base is
MAX_CLIMB = 12  # operators around a test


class Scopes(Links):
    """What names are bound to, and where that holds."""

    def __init__(self, path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> None:
        super().__init__(path, source, flags)
        self._blocks: list[tuple[int, int, int]] = []  # (end, end of visibility or -1, start)
        self._branches: list[tuple[int, int]] = []  # (end, scope)

    def on_declare_block(self, node: Node) -> None:
        self._declare_all(node, self._visible_until(node))

    def on_declare_var(self, node: Node) -> None:
        self._declare_all(node, -1)

    def _declare_all(self, node: Node, until: int) -> None:
        documented = self._doc_type(self.line(node.start_byte)) if self._comment else None
        for child in node.named_children:
            if child.type == "variable_declarator":
                self._declare(child, until, documented)

    def _declare(self, node: Node, until: int, documented: Type | None) -> None:
        pattern = node.child_by_field_name("name")
        if pattern is None:
            return
        value = self.expr(node.child_by_field_name("value"))
        declared = self.type(node.child_by_field_name("type")) or documented
        at = node.end_byte
        if pattern.type == "identifier":
            self._names.add(pattern.id)
            conditional = until < 0 and self._is_conditional(node)
            self.assigns.append(Assign(self._target(pattern, at), value, declared, True, until, conditional))
            return
        if declared is not None:
            value = self.add(node, Op.CAST, base=value, type=declared)
        conditional = until < 0 and self._is_conditional(node)
        self._unpack(pattern, value, at, declares=True, until=until, conditional=conditional)

    def on_assign(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        value = self.expr(right)
        if left.type == "member_expression":
            self._export_common(left, value)
        elif left.type == "identifier":
            self._names.add(left.id)
        documented = self._doc_type(self.line(node.start_byte)) if self._comment else None
        if documented is not None and left.type == "member_expression":
            self.assign(self.expr(left), value, type=documented, conditional=self._is_conditional(node))
            return
        self._unpack(left, value, node.end_byte, conditional=self._is_conditional(node))

    def on_augment(self, node: Node) -> None:
        operator = node.child_by_field_name("operator")
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if operator is not None and operator.type in LOGICAL_ASSIGNMENTS and left is not None and right is not None:
            self._unpack(left, self.expr(right), node.end_byte, conditional=True)

    def on_alias(self, node: Node) -> None:
        """`import A = B.C`: another name for a namespace member."""
        names = [child for child in node.named_children if child.type != "comment"]
        if len(names) == 2:
            self._names.add(names[0].id)
            self.assign(self._target(names[0], node.end_byte), self.expr(names[1]), declares=True)

    def on_narrow(self, node: Node) -> None:
        """`x instanceof C`: where the test decides, x is an instance of C."""
        name, kind = node.child_by_field_name("left"), node.child_by_field_name("right")
        if name is None or kind is None or name.type != "identifier":
            return
        value = self.add(kind, Op.CAST, base=self.expr(kind), text=INSTANCE)
        for start, end in self._decided_by(node):
            self.exprs.append(Expr(Op.NAME, self.scope, self.line(name.start_byte), start, self.text(name)))
            self.assigns.append(Assign(len(self.exprs) - 1, value, None, True, end, True))

    def _decided_by(self, node: Node) -> Iterator[tuple[int, int]]:
        """The (start, end) of code that runs only when a test is true."""
        test, negated = node, False
        for _ in range(MAX_CLIMB):
            around = test.parent
            if around is None:
                return
            kind = around.type
            if kind == "unary_expression":
                negated = not negated
            elif kind == "binary_expression":
                operator, right = around.child_by_field_name("operator"), around.child_by_field_name("right")
                sign = "" if operator is None else operator.type
                if sign != ("||" if negated else "&&"):
                    return
                if right is not None and right.id != test.id:
                    yield right.start_byte, right.end_byte
            elif kind != "parenthesized_expression":
                yield from self._branches_of(around, test, negated)
                return
            test = around

    def _branches_of(self, statement: Node, test: Node, negated: bool) -> Iterator[tuple[int, int]]:
        condition = statement.child_by_field_name("condition")
        if condition is None or condition.id != test.id:
            return
        then = statement.child_by_field_name("consequence") or statement.child_by_field_name("body")
        other = statement.child_by_field_name("alternative")
        side = other if negated else then
        if side is not None:
            yield side.start_byte, side.end_byte
        if negated and then is not None and other is None and _leaves(then):
            until = self._visible_until(statement)
            if until < 0:
                until = self.drafts[self.scope].end if self.scope != MODULE_SCOPE else len(self.source)
            yield statement.end_byte, until

    def on_loop(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        self._branches.append((node.end_byte, self.scope))
        operator, kind = node.child_by_field_name("operator"), node.child_by_field_name("kind")
        items = self.expr(right)
        each = operator is not None and operator.type == "of"
        value = self.add(right, Op.ELEMENT, base=items) if each else self.literal(left, "str")
        until = -1 if kind is None or kind.type == "var" else node.end_byte
        body = node.child_by_field_name("body")
        at = right.end_byte if body is None else body.start_byte
        self._unpack(left, value, at, declares=kind is not None, until=until, conditional=until < 0)

    def on_catch(self, node: Node) -> None:
        parameter = node.child_by_field_name("parameter")
        if parameter is not None:
            value = self.add(parameter, Op.UNKNOWN)
            self._unpack(parameter, value, parameter.end_byte, declares=True, until=node.end_byte)

    def on_block(self, node: Node) -> None:
        end = node.end_byte
        whole = self.scope != MODULE_SCOPE and self.drafts[self.scope].end == end
        self._blocks.append((end, -1 if whole else end, node.start_byte))

    def on_branch(self, node: Node) -> None:
        self._branches.append((node.end_byte, self.scope))

    def _visible_until(self, node: Node) -> int:
        return self._block_around(node)[0]

    def _block_around(self, node: Node) -> tuple[int, int]:
        """(end, start) of the block that bounds a declaration at `node`; the end is -1 for a whole function or file."""
        start = node.start_byte
        while self._blocks and self._blocks[-1][0] <= start:
            self._blocks.pop()
        return self._blocks[-1][1:] if self._blocks else (-1, -1)

    def _bind_in_block(self, draft: Draft) -> None:
        """A declaration inside a block is visible from the block's start to its end only."""
        until, start = self._block_around(draft.node)
        if until < 0:
            return
        is_type = draft.kind in {NodeKind.INTERFACE, NodeKind.TYPE_ALIAS}
        name = f"type {draft.name}" if is_type else draft.name  # a name that no value can have
        op = Op.FUNCTION if draft.kind is NodeKind.FUNCTION else Op.CLASS
        value = self.add(draft.node, op, base=draft.index)
        self.exprs.append(Expr(Op.NAME, self.scope, draft.name_line, start, name))
        self.assigns.append(Assign(len(self.exprs) - 1, value, None, True, until))

    def _is_conditional(self, node: Node) -> bool:
        start = node.start_byte
        while self._branches and self._branches[-1][0] <= start:
            self._branches.pop()
        return bool(self._branches) and self._branches[-1][1] == self.scope

    def _target(self, node: Node, at: int) -> int:
        """A name that takes effect at `at`: after its value has been computed, so that a swap reads the old values."""
        self.exprs.append(Expr(Op.NAME, self.scope, self.line(node.start_byte), at, self.text(node)))
        return len(self.exprs) - 1

    def _unpack(
        self,
        pattern: Node,
        value: int,
        at: int,
        *,
        declares: bool = False,
        until: int = -1,
        conditional: bool = False,
    ) -> None:
        """Assign `value` to a name, a member or the parts of a pattern."""
        pending = [(pattern, value)]
        while pending:
            node, got = pending.pop()
            kind = node.type
            if kind in {"identifier", "shorthand_property_identifier_pattern"}:
                self._names.add(node.id)
                self.assigns.append(Assign(self._target(node, at), got, None, declares, until, conditional))
            elif kind in {"member_expression", "subscript_expression"}:
                self.assigns.append(Assign(self.expr(node), got, None, False, -1, conditional))
            elif kind in {"assignment_pattern", "object_assignment_pattern"}:
                left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
                if left is not None:
                    pending.append((left, self.add(node, Op.CHOICE, args=(got, self.expr(right)))))
            elif kind == "object_pattern":
                pending.extend(reversed(self._object_parts(node, got)))
            elif kind == "array_pattern":
                pending.extend(reversed(self._array_parts(node, got)))
            elif kind in VALUE_WRAPPERS:
                inner = first(node)
                if inner is not None:
                    pending.append((inner, got))

    def _object_parts(self, pattern: Node, value: int) -> list[tuple[Node, int]]:
        parts = []
        for child in pattern.named_children:
            kind = child.type
            if kind == "shorthand_property_identifier_pattern":
                parts.append((child, self.member(child, value, self.text(child))))
            elif kind == "object_assignment_pattern":
                left, right = child.child_by_field_name("left"), child.child_by_field_name("right")
                if left is not None:
                    got = self.member(child, value, self.text(left))
                    parts.append((left, self.add(child, Op.CHOICE, args=(got, self.expr(right)))))
            elif kind == "pair_pattern":
                key, inner = child.child_by_field_name("key"), child.child_by_field_name("value")
                if key is not None and inner is not None:
                    parts.append((inner, self.member(child, value, self.key(key))))
            elif kind == "rest_pattern":
                inner = first(child)
                if inner is not None:
                    parts.append((inner, value))
        return parts

    def _array_parts(self, pattern: Node, value: int) -> list[tuple[Node, int]]:
        parts = []
        position = 0
        for child in pattern.children:
            kind = child.type
            if kind == ",":
                position += 1
            elif kind == "rest_pattern":
                inner = first(child)
                if inner is not None:
                    rest = self.literal(child, "slice", str(position))
                    parts.append((inner, self.add(child, Op.INDEX, base=value, args=(rest,))))
            elif child.is_named and kind != "comment":
                index = self.literal(child, "int", str(position))
                parts.append((child, self.add(child, Op.INDEX, base=value, args=(index,))))
        return parts


def _leaves(body: Node) -> bool:
    """Whether a branch ends by leaving the code after it."""
    last = body
    if body.type == "statement_block":
        inner = [child for child in body.named_children if child.type != "comment"]
        if not inner:
            return False
        last = inner[-1]
    return last.type in {"return_statement", "throw_statement", "continue_statement", "break_statement"}
