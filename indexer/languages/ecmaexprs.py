"""JavaScript and TypeScript expressions to the flat expression table. Defines nothing and looks nothing up."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from tree_sitter import Node

from ctxsearch.graph.facts import MODULE_SCOPE, Expr, Op, Type
from ctxsearch.graph.model import NodeKind
from ctxsearch.indexer.languages.builder import MAX_DEPTH, Extractor
from ctxsearch.indexer.languages.ecmatypes import read_type, type_arguments

MAX_ITEMS = 256  # of an array or object literal: longer ones are data
MAX_TEXT = 80  # longer string literals are not keys or module names
FUNCTION_NODES = frozenset({"arrow_function", "function_expression", "generator_function"})
VALUE_WRAPPERS = frozenset({"as_expression", "satisfies_expression", "parenthesized_expression", "non_null_expression"})
LOGICAL_ASSIGNMENTS = frozenset({"||=", "&&=", "??="})
_CHOICES = frozenset({"||", "??"})
_CLASS_LIKE = frozenset({NodeKind.CLASS, NodeKind.INTERFACE})


class Expressions(Extractor):
    """The expression half of the extractor; `arrows` is filled by the definition half."""

    arrows: set[int]  # definitions that do not bind `this`

    def expr(self, node: Node | None) -> int:
        """As in the builder, in one frame a level: most of the time of extraction is spent here."""
        if node is None:
            return -1
        memo, key = self._memo, node.id
        known = memo.get(key)
        if known is not None:
            return known
        reader = _READERS.get(node.type)
        if reader is None or self._depth >= MAX_DEPTH:
            index = self.add(node, Op.UNKNOWN)
        else:
            self._depth += 1
            try:
                index = reader(self, node)
            finally:
                self._depth -= 1
        memo[key] = index
        return index

    def expression(self, node: Node) -> int:
        return self.expr(node)

    def this_scope(self) -> int:
        """The definition that binds `this` here: arrow functions pass it through."""
        scope = self.scope
        while scope != MODULE_SCOPE and (scope in self.arrows or self.drafts[scope].kind is NodeKind.VARIABLE):
            parent = self.drafts[scope].parent
            if parent != MODULE_SCOPE and self.drafts[parent].kind in _CLASS_LIKE:
                return scope
            scope = parent
        return scope

    def string(self, node: Node) -> str:
        """The text between the quotes of a string node."""
        return self.source[node.start_byte + 1 : node.end_byte - 1].decode("utf-8", "replace")

    def key(self, node: Node) -> str:
        """A property's name; "[expression]" for a computed one."""
        if node.type == "string":
            return self.string(node)
        if node.type == "computed_property_name":
            inner = first(node)
            if inner is not None and inner.type == "string":
                return self.string(inner)
        return self.text(node)

    def type(self, node: Node | None) -> Type | None:
        return read_type(node, self.source)

    def literal(self, node: Node, name: str, text: str = "") -> int:
        return self.add(node, Op.LITERAL, name, text=text)

    def member(self, node: Node, base: int, name: str) -> int:
        return self.add(node, Op.MEMBER, name, base)

    def arguments(self, node: Node | None) -> tuple[int, ...]:
        if node is None:
            return ()
        if node.type == "template_string":
            return (self.literal(node, "str"), *self._substitutions(node))
        return tuple(self.expr(child) for child in node.named_children if child.type != "comment")

    def _substitutions(self, node: Node) -> list[int]:
        parts = (first(child) for child in node.named_children if child.type == "template_substitution")
        return [self.expr(part) for part in parts if part is not None]

    def function(self, node: Node) -> int:
        """A FUNCTION or CLASS expression for the definition that stands at `node`."""
        index = self.by_node.get(node.id)
        if index is None:
            return self.add(node, Op.UNKNOWN)
        return self.add(node, Op.CLASS if self.drafts[index].kind is NodeKind.CLASS else Op.FUNCTION, base=index)

    # -- one reader per kind of syntax node

    def _read_name(self, node: Node) -> int:
        at = node.start_byte
        name = self.source[at : node.end_byte].decode("utf-8", "replace")
        self.exprs.append(Expr(Op.NAME, self.scope, bisect_right(self._line_starts, at), at, name))
        return len(self.exprs) - 1

    def _read_undefined(self, node: Node) -> int:
        return self.literal(node, "none")

    def _read_this(self, node: Node) -> int:
        around, self.scope = self.scope, self.this_scope()
        index = self.add(node, Op.THIS)
        self.scope = around
        return index

    def _read_super(self, node: Node) -> int:
        around, self.scope = self.scope, self.this_scope()
        index = self.add(node, Op.SUPER)
        self.scope = around
        return index

    def _read_member(self, node: Node) -> int:
        base = self.expr(node.child_by_field_name("object"))
        property_node = node.child_by_field_name("property")
        if property_node is None:
            return self.add(node, Op.UNKNOWN)
        at = node.start_byte
        name = self.source[property_node.start_byte : property_node.end_byte].decode("utf-8", "replace")
        self.exprs.append(Expr(Op.MEMBER, self.scope, bisect_right(self._line_starts, at), at, name, base))
        return len(self.exprs) - 1

    def _read_subscript(self, node: Node) -> int:
        base = self.expr(node.child_by_field_name("object"))
        index = node.child_by_field_name("index")
        if index is not None and index.type == "string":
            return self.member(node, base, self.string(index))
        return self.add(node, Op.INDEX, base=base, args=(self.expr(index),) if index is not None else ())

    def _read_call(self, node: Node) -> int:
        callee = node.child_by_field_name("function")
        if callee is None:
            return self.add(node, Op.UNKNOWN)
        base = self.add(callee, Op.NAME, "import") if callee.type == "import" else self.expr(callee)
        given = type_arguments(node, self.source)
        arguments = self.arguments(node.child_by_field_name("arguments"))
        return self.add(node, Op.CALL, base=base, args=arguments, type=Type("<>", given) if given else None)

    def _read_new(self, node: Node) -> int:
        name = node.child_by_field_name("constructor")
        if name is None:
            return self.add(node, Op.UNKNOWN)
        given = type_arguments(node, self.source)
        arguments = self.arguments(node.child_by_field_name("arguments"))
        made = Type(self.text(name), given) if given else None
        return self.add(node, Op.NEW, base=self.expr(name), args=arguments, type=made)

    def _read_string(self, node: Node) -> int:
        size = node.end_byte - node.start_byte
        return self.literal(node, "str", self.string(node) if size <= MAX_TEXT else "")

    def _read_template(self, node: Node) -> int:
        plain = all(child.type == "string_fragment" for child in node.named_children)
        return self._read_string(node) if plain else self.literal(node, "str")

    def _read_number(self, node: Node) -> int:
        text = self.text(node)
        return self.literal(node, "int" if text.isdigit() else "float", text[:MAX_TEXT])

    def _read_bool(self, node: Node) -> int:
        return self.literal(node, "bool")

    def _read_regex(self, node: Node) -> int:
        return self.literal(node, "regex")

    def _read_array(self, node: Node) -> int:
        items = tuple(self.expr(child) for child in node.named_children[:MAX_ITEMS] if child.type != "comment")
        return self.add(node, Op.SEQUENCE, "array", args=items)

    def _read_object(self, node: Node) -> int:
        entries = (self._entry(child) for child in node.named_children[:MAX_ITEMS])
        return self.add(node, Op.MAPPING, args=tuple(entry for entry in entries if entry >= 0))

    def _entry(self, node: Node) -> int:
        kind = node.type
        if kind == "pair":
            name, value = node.child_by_field_name("key"), node.child_by_field_name("value")
            if name is None or value is None:
                return -1
            key = self.key(name)
            if name.type == "computed_property_name" and key.startswith("["):
                inner = first(name)
                return self.add(node, Op.KEYWORD, "", self.expr(value), (self.expr(inner),) if inner else (), key)
            return self.add(node, Op.KEYWORD, key, self.expr(value))
        if kind == "shorthand_property_identifier":
            return self.add(node, Op.KEYWORD, self.text(node), self.add(node, Op.NAME, self.text(node)))
        if kind == "method_definition":
            name = node.child_by_field_name("name")
            return -1 if name is None else self.add(node, Op.KEYWORD, self.key(name), self.function(node))
        return self.expr(node) if kind == "spread_element" else -1

    def _read_spread(self, node: Node) -> int:
        return self.add(node, Op.SPREAD, base=self.expr(first(node)))

    def _read_ternary(self, node: Node) -> int:
        sides = (node.child_by_field_name("consequence"), node.child_by_field_name("alternative"))
        return self.add(node, Op.CHOICE, args=tuple(self.expr(side) for side in sides if side is not None))

    def _read_binary(self, node: Node) -> int:
        operator = node.child_by_field_name("operator")
        sign = "" if operator is None else operator.type
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if sign in _CHOICES:
            return self.add(node, Op.CHOICE, args=(self.expr(left), self.expr(right)))
        if sign == "&&":
            return self.expr(right)  # the left side is given back only when it is falsy: never a callee
        return self.add(node, Op.UNKNOWN, sign)

    def _read_unary(self, node: Node) -> int:
        operator = node.child_by_field_name("operator")
        sign = "" if operator is None else operator.type
        if sign in {"typeof", "!"}:
            return self.literal(node, "str" if sign == "typeof" else "bool")
        return self.add(node, Op.UNKNOWN, sign)

    def _read_await(self, node: Node) -> int:
        return self.add(node, Op.AWAIT, base=self.expr(first(node)))

    def _read_inner(self, node: Node) -> int:
        inner = first(node)
        return self.add(node, Op.UNKNOWN) if inner is None else self.expr(inner)

    def _read_sequence(self, node: Node) -> int:
        parts = [child for child in node.named_children if child.type != "comment"]
        return self.expr(parts[-1]) if parts else self.add(node, Op.UNKNOWN)

    def _read_cast(self, node: Node) -> int:
        parts = [child for child in node.named_children if child.type != "comment"]
        if len(parts) < 2:  # `x as const`
            return self._read_inner(node)
        value, kind = (parts[1], parts[0]) if node.type == "type_assertion" else (parts[0], parts[1])
        if kind.type == "type_arguments":  # <T>value
            return self.add(node, Op.CAST, base=self.expr(value), type=self.type(first(kind)))
        return self.add(node, Op.CAST, base=self.expr(value), type=self.type(kind))

    def _read_satisfies(self, node: Node) -> int:
        return self._read_inner(node)  # checks the value's type and leaves it as it is

    def _read_assignment(self, node: Node) -> int:
        return self.expr(node.child_by_field_name("right"))

    def _read_augmented(self, node: Node) -> int:
        operator = node.child_by_field_name("operator")
        sides = (node.child_by_field_name("left"), node.child_by_field_name("right"))
        if operator is None or operator.type not in LOGICAL_ASSIGNMENTS:
            return self.add(node, Op.UNKNOWN)
        return self.add(node, Op.CHOICE, args=tuple(self.expr(side) for side in sides if side is not None))

    def _read_element(self, node: Node) -> int:
        return self.add(node, Op.UNKNOWN, "jsx")


def first(node: Node) -> Node | None:
    """The first named child that is not a comment."""
    return next((child for child in node.named_children if child.type != "comment"), None)


_Reader = Callable[[Expressions, Node], int]
_READERS: dict[str, _Reader] = {
    "identifier": Expressions._read_name,
    "shorthand_property_identifier": Expressions._read_name,
    "shorthand_property_identifier_pattern": Expressions._read_name,
    "undefined": Expressions._read_undefined,
    "null": Expressions._read_undefined,
    "this": Expressions._read_this,
    "super": Expressions._read_super,
    "member_expression": Expressions._read_member,
    "nested_identifier": Expressions._read_member,
    "subscript_expression": Expressions._read_subscript,
    "call_expression": Expressions._read_call,
    "new_expression": Expressions._read_new,
    "string": Expressions._read_string,
    "template_string": Expressions._read_template,
    "number": Expressions._read_number,
    "true": Expressions._read_bool,
    "false": Expressions._read_bool,
    "regex": Expressions._read_regex,
    "array": Expressions._read_array,
    "object": Expressions._read_object,
    "spread_element": Expressions._read_spread,
    "ternary_expression": Expressions._read_ternary,
    "binary_expression": Expressions._read_binary,
    "unary_expression": Expressions._read_unary,
    "await_expression": Expressions._read_await,
    "parenthesized_expression": Expressions._read_inner,
    "non_null_expression": Expressions._read_inner,
    "instantiation_expression": Expressions._read_inner,
    "jsx_expression": Expressions._read_inner,
    "sequence_expression": Expressions._read_sequence,
    "as_expression": Expressions._read_cast,
    "type_assertion": Expressions._read_cast,
    "satisfies_expression": Expressions._read_satisfies,
    "assignment_expression": Expressions._read_assignment,
    "augmented_assignment_expression": Expressions._read_augmented,
    "jsx_element": Expressions._read_element,
    "jsx_self_closing_element": Expressions._read_element,
    "arrow_function": Expressions.function,
    "function_expression": Expressions.function,
    "generator_function": Expressions.function,
    "class": Expressions.function,
}
