"""What the front ends of Java, Kotlin and C# share: blocks, types, parameters, doc comments, anonymous classes."""

from __future__ import annotations

import re

from tree_sitter import Node

from ctxsearch.graph.facts import Op, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages.blocks import BlockExtractor
from ctxsearch.indexer.languages.builder import Draft
from ctxsearch.indexer.languages.typenames import read_type

STRING = Type("String")
BOOLEAN = Type("boolean")
NUMERIC_LITERALS = {
    "hex_integer_literal": "int",
    "octal_integer_literal": "int",
    "binary_integer_literal": "int",
    "decimal_integer_literal": "int",
    "decimal_floating_point_literal": "double",
    "hex_floating_point_literal": "double",
}
ARITHMETIC = frozenset({"+", "-", "*", "/", "%", "&", "|", "^"})
COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||", "===", "!==", "in", "!in", "is", "!is"})

_DOC_MARGIN = re.compile(r"^[ \t]*\*? ?", re.MULTILINE)


class TypedExtractor(BlockExtractor):
    """A class-based, declared-type language. Fields with an initial value are scopes: the code runs for the field."""

    scopeless = frozenset({NodeKind.TYPE_ALIAS, NodeKind.MACRO})

    def __init__(self, path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> None:
        super().__init__(path, source, flags)
        self._anonymous_classes: dict[int, int] = {}  # scope -> how many so far

    def declare(self, name: Node, value: int, declared: Type | None, until: int) -> None:
        """A typed local name, visible from here to `until`."""
        self.assign(self.name(name), value, type=declared, declares=True, until=until)

    # -- pieces

    def type_of(self, node: Node | None) -> Type | None:
        """The declared type; None where the language infers it."""
        if node is None:
            return None
        text = self.text(node)
        return None if text == "var" else read_type(text)

    def field(self, node: Node, name: str) -> Node | None:
        return node.child_by_field_name(name)

    def child(self, node: Node, position: int = 0) -> Node | None:
        """A named child by position, from the end when negative; None when there is none."""
        children = node.named_children
        return children[position] if -len(children) <= position < len(children) else None

    def literal(self, node: Node, name: str, declared: Type, text: str = "") -> int:
        return self.add(node, Op.LITERAL, name, text=text, type=declared)

    def arithmetic(self, node: Node, sign: str, left: Node | None, right: Node | None) -> int:
        """An operator: its operands say what type it gives."""
        if sign not in ARITHMETIC or left is None or right is None:
            return self.add(node, Op.UNKNOWN)
        return self.add(node, Op.UNKNOWN, sign, base=self.expr(left), args=(self.expr(right),))

    def document(self, draft: Draft, node: Node) -> None:
        """Attach the doc comment that stands before `node`, and widen the definition over it."""
        previous = node.prev_sibling
        if previous is None or not previous.type.endswith("comment"):
            return
        text = self.text(previous)
        if text.startswith("/**"):
            draft.doc = _DOC_MARGIN.sub("", text[3:].removesuffix("*/")).strip()
            draft.start = previous.start_byte
            draft.start_line = self.line(draft.start)

    def anonymous_class(self, node: Node) -> Draft:
        """A class body without a name; its extent is the body."""
        number = self._anonymous_classes.get(self.scope, 0) + 1
        self._anonymous_classes[self.scope] = number
        return self.draft(NodeKind.CLASS, f"<anonymous{number}>", node)

    def in_scope(self, draft: Draft, node: Node | None) -> int:
        """The expression for `node` as code of `draft`."""
        around, self.scope = self.scope, draft.index
        try:
            return self.expr(node)
        finally:
            self.scope = around
