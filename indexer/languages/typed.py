"""What the front ends of Java, Kotlin and C# share: blocks, types, parameters, doc comments, anonymous classes."""

from __future__ import annotations

import re

from tree_sitter import Node

from ctxsearch.graph.facts import Op, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages.blocks import BlockExtractor
from ctxsearch.indexer.languages.builder import Draft
from ctxsearch.indexer.languages.free_names import FreeNames, add_lines, uncalled_names
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
    string_type = STRING
    boolean_type = BOOLEAN

    def __init__(self, path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> None:
        super().__init__(path, source, flags)
        self._anonymous_classes: dict[int, int] = {}  # scope -> how many so far
        self._free: dict[tuple[int, str], bool] = {}  # whether a bare name of a scope may be a field
        self._values: list[tuple[int, Node]] = []  # bare names that stand for values, with their scopes

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

    # -- code

    def on_assignment(self, node: Node) -> None:
        left, right = self.field(node, "left"), self.field(node, "right")
        if left is not None and right is not None:
            self.assign(self.expr(left), self.expr(right), conditional=True)

    def on_constant(self, node: Node) -> None:
        self.references.append(self.expr(node))

    def on_value(self, node: Node) -> None:
        """A bare name where a value stands; that place is part of no expression that others ask for."""
        self._values.append((self.scope, node))

    def finish(self) -> None:
        self._refer_to_fields()

    # -- bare names that may be fields

    def may_be_field(self, name: str) -> bool:  # noqa: ARG002
        """Whether the language's own way of writing names lets a field of another file be called so."""
        return True

    def _refer_to_fields(self) -> None:
        """A bare name that no scope around it binds is a field of a class around, an inherited or an imported one."""
        names = FreeNames(self.drafts, self.exprs, self.assigns)
        self._make_values(names)
        passed_over = {item.target for item in self.assigns if item.declares}
        passed_over.update(item for draft in self.drafts for item in draft.decorators)
        self.references += [
            index
            for index, item in uncalled_names(self.exprs)
            if item.type is None and self._is_free(names, item.scope, item.name) and index not in passed_over
        ]

    def _make_values(self, names: FreeNames) -> None:
        """Expressions for the names that have none yet: one for all the lines of a scope that does not bind them."""
        lines: dict[tuple[int, str], list[int]] = {}
        made: list[tuple[tuple[int, str], int]] = []
        for scope, node in self._values:
            if node.id in self._memo:
                continue
            use = (scope, self.bare_name(node))
            if use in lines:
                lines[use].append(self.line(node.start_byte))
            elif self._is_free(names, *use):
                self.scope = scope
                made.append((use, self.expr(node)))
                if names.is_free(*use):
                    lines[use] = []
        for use, index in made:
            add_lines(self.exprs, index, lines.get(use, []))

    def bare_name(self, node: Node) -> str:
        return self.text(node)

    def _is_free(self, names: FreeNames, scope: int, name: str) -> bool:
        known = self._free.get((scope, name))
        if known is None:
            known = name in names.fields or (self.may_be_field(name) and names.is_free(scope, name))
            self._free[scope, name] = known
        return known

    # -- expressions

    def type_name(self, node: Node) -> int:
        """A type where an expression could stand: `List<String>::size`, `int.Parse`."""
        written = read_type(self.text(node))
        return self.add(node, Op.NAME, written.name, type=written)

    def function_literal(self, node: Node) -> int:
        index = self.by_node.get(node.id)
        return self.add(node, Op.UNKNOWN) if index is None else self.add(node, Op.FUNCTION, base=index)

    def either(self, node: Node) -> int:
        """`a ? b : c`."""
        options = (self.field(node, "consequence"), self.field(node, "alternative"))
        return self.add(node, Op.CHOICE, args=tuple(self.expr(each) for each in options if each is not None))

    def assigned(self, node: Node) -> int:
        """An assignment as a value."""
        left = self.field(node, "left")
        return self.expr(left) if left is not None else self.add(node, Op.UNKNOWN)

    def cast_to(self, node: Node) -> int:
        """`a as B`."""
        declared = self.type_of(self.field(node, "right"))
        return self.add(node, Op.CAST, base=self.expr(self.field(node, "left")), type=declared)

    def string(self, node: Node) -> int:
        text = self.text(node)
        return self.literal(node, "str", self.string_type, text.strip('"') if len(text) < 80 else "")

    def boolean(self, node: Node) -> int:
        return self.literal(node, "bool", self.boolean_type)

    def null(self, node: Node) -> int:
        return self.add(node, Op.LITERAL, "none")

    # -- definitions

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
