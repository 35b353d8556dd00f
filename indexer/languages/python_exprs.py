"""Python expressions to `Expr`. What they mean is decided in `graph.resolve`."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Final

from tree_sitter import Node

from ctxsearch.graph import ops
from ctxsearch.graph.facts import MODULE_SCOPE, Expr, Op, ParamKind
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages import BY_NAME
from ctxsearch.indexer.languages.builder import MAX_DEPTH
from ctxsearch.indexer.languages.python_grammar import (
    ARGUMENTS,
    ATTRIBUTE,
    BODY,
    FUNCTION,
    KEY,
    LEFT,
    NAME,
    OBJECT,
    RIGHT,
    SUBSCRIPT,
    VALUE,
    first_child,
)
from ctxsearch.indexer.languages.python_scopes import PythonScopes

MAX_ITEMS = 512  # of one literal list or dictionary: data tables hold no functions worth following
MAX_SLICE = 8  # items of a slice followed one by one
MAX_LITERAL = 80  # characters of a string literal kept as its value

_FUNCTIONS: Final = frozenset({NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.CONSTRUCTOR})
_LITERALS = {
    "string": "str",
    "concatenated_string": "str",
    "integer": "int",
    "float": "float",
    "true": "bool",
    "false": "bool",
    "none": "none",
    "ellipsis": "none",
    "comparison_operator": "bool",
    "not_operator": "bool",
}
_MARKED = frozenset({"keyword_argument", "pair", "list_splat", "dictionary_splat"})  # items that are no plain value
STRING = re.compile(r"^[A-Za-z]*(\"\"\"|'''|\"|')(.*)\1$", re.DOTALL)
_TEXTS = frozenset({"string", "concatenated_string", "binary_operator"})
_TEMPLATE = re.compile(r"\w+\*\w*|\*\w+")  # one part that is not known, in a name
_PARTS = re.compile(r"\*\*+")
_PLACEHOLDER = re.compile(r"%[sdr]")
_QUOTES = frozenset(b"\"'")
_BOUNDS = re.compile(r"(\d{0,3}):(\d{1,3})")


class PythonExprs(PythonScopes):
    """Each expression once."""

    def expr(self, node: Node | None) -> int:
        """The base class's `expr` with its dispatch written out: this is where extraction spends its time."""
        if node is None:
            return -1
        key = node.id
        known = self._memo.get(key)
        if known is not None:
            return known
        maker = _MAKERS.get(node.kind_id)
        if maker is None or self._depth >= MAX_DEPTH:
            index = self._unknown(node)
        else:
            self._depth += 1
            index = maker(self, node)
            self._depth -= 1
        self._memo[key] = index
        return index

    def _value(self, node: Node) -> int:
        """An expression whose value goes somewhere: a constant or type in it is used there."""
        index = self.expr(node)
        expr = self.exprs[index]
        if (expr.op is ops.NAME or expr.op is ops.MEMBER) and expr.name[:1].isupper():
            self.references.append(index)
        return index

    def _unknown(self, node: Node) -> int:
        return self._literal(node, "", "")

    def _literal(self, node: Node, name: str, text: str) -> int:
        """Literals are shared within a scope: nobody asks where one stands. The empty name is UNKNOWN."""
        key = (self.scope, name, text)
        known = self._literals.get(key)
        if known is None:
            known = self.add(node, ops.LITERAL if name else ops.UNKNOWN, name, text=text)
            self._literals[key] = known
        return known

    def _string(self, node: Node) -> int:
        if self.source[node.start_byte] not in _QUOTES and node.named_child_count > 2:
            return self._template(node, self._interpolated(node))
        return self._literal(node, "str", self._string_value(node))

    def _interpolated(self, node: Node) -> str:
        """A formatted string with "*" for each interpolation."""
        parts = []
        for child in node.named_children:
            if child.type == "string_content":
                parts.append(self.text(child))
            elif child.type == "interpolation":
                parts.append("*")
        return "".join(parts)

    def _template(self, node: Node, text: str) -> int:
        """A string of which parts are known; one without such parts is any string."""
        text = _PARTS.sub("*", text)
        if len(text) > MAX_LITERAL or not _TEMPLATE.fullmatch(text):
            return self._literal(node, "str", "")
        return self.add(node, ops.TEMPLATE, "str", text=text)

    def _integer(self, node: Node) -> int:
        return self._literal(node, "int", self.text(node)[:MAX_LITERAL])

    def _constant(self, node: Node) -> int:
        return self._literal(node, _LITERALS[node.type], "")

    def _string_value(self, node: Node) -> str:
        start, end = node.start_byte, node.end_byte
        if end - start > MAX_LITERAL:
            return ""
        text = self.source[start:end].decode("utf-8", "replace")
        if "\\" in text:
            return ""
        quote = text[:1]
        if (quote == '"' or quote == "'") and text[1:2] != quote:  # the pattern's usual case, without its cost
            return text[1:-1] if text[-1] == quote and len(text) > 1 else ""
        found = STRING.match(text)
        return found[2] if found is not None and text[0] not in "fF" else ""

    def _identifier(self, node: Node) -> int:
        start = node.start_byte
        name = self.source[start : node.end_byte].decode("utf-8", "replace")
        op = self._receiver(name) if name in self._receivers else ops.NAME
        exprs = self.exprs
        exprs.append(Expr(op, self.scope, bisect_right(self._line_starts, start), start, name))
        return len(exprs) - 1

    def _receiver(self, name: str) -> Op:
        """THIS or RECEIVER_CLASS where `name` is the first parameter of the nearest function that has one so called."""
        scope = self.scope
        while scope != MODULE_SCOPE:
            draft = self.drafts[scope]
            if draft.kind in _FUNCTIONS:
                for param in draft.params:
                    if param.name == name:
                        if param.kind != ParamKind.RECEIVER:
                            return ops.NAME
                        return ops.RECEIVER_CLASS if draft.flags & NodeFlag.CLASS_METHOD else ops.THIS
            scope = draft.parent
        return ops.NAME

    def _attribute(self, node: Node) -> int:
        target, attribute = node.child_by_field_id(OBJECT), node.child_by_field_id(ATTRIBUTE)
        if target is None or attribute is None:
            return self._unknown(node)
        base = self.expr(target)
        at = attribute.start_byte  # the member's own place: a chain over several lines has one line per link
        name = self.source[at : attribute.end_byte].decode("utf-8", "replace")
        exprs = self.exprs
        exprs.append(Expr(ops.MEMBER, self.scope, bisect_right(self._line_starts, at), at, name, base))
        return len(exprs) - 1

    def _call(self, node: Node) -> int:
        function, arguments = node.child_by_field_id(FUNCTION), node.child_by_field_id(ARGUMENTS)
        if function is None:
            return self._unknown(node)
        callee = self.expr(function)
        args = self._arguments(arguments) if arguments is not None else ()
        at = self.exprs[callee]
        if at.op == ops.NAME and at.name == "super":
            return self.add(node, ops.SUPER, base=args[0] if args else -1)
        self.exprs.append(Expr(ops.CALL, self.scope, at.line, node.start_byte, "", callee, args))
        return len(self.exprs) - 1

    def _arguments(self, node: Node) -> tuple[int, ...]:
        if node.type == "generator_expression":
            return (self.expr(node),)
        return self._items(node.named_children)

    def _items(self, nodes: list[Node]) -> tuple[int, ...]:
        """The arguments of a call, or the elements of a literal."""
        found = []
        exprs, references = self.exprs, self.references
        for node in nodes:
            kind = node.kind_id
            if kind in _MARKED_IDS:
                found.append(self._item(node, node.type))
            elif kind not in _COMMENT_IDS:
                index = self.expr(node)
                found.append(index)
                expr = exprs[index]  # from here on as `_value`
                if (expr.op is ops.NAME or expr.op is ops.MEMBER) and expr.name[:1].isupper():
                    references.append(index)
        return tuple(found)

    def _item(self, node: Node, kind: str) -> int:
        if kind == "keyword_argument":
            value = node.child_by_field_id(VALUE)
            inner = self._value(value) if value is not None else -1
            return self.add(node, ops.KEYWORD, self._field_text(node, NAME), inner)
        if kind == "pair":
            return self._pair(node)
        if kind in ("list_splat", "dictionary_splat"):
            child = first_child(node)
            mark = "**" if kind == "dictionary_splat" else ""
            return self.add(node, ops.SPREAD, mark, self._value(child) if child is not None else -1)
        return self._value(node)

    def _pair(self, node: Node) -> int:
        key, value = node.child_by_field_id(KEY), node.child_by_field_id(VALUE)
        name = kind = ""
        if key is not None:
            if key.type == "string":
                name = self._string_value(key)
            elif key.type == "integer":
                name, kind = self.text(key), "int"
            else:
                self._value(key)
        return self.add(node, ops.KEYWORD, name, self._value(value) if value is not None else -1, text=kind)

    def _sequence(self, node: Node) -> int:
        kind = node.type if node.type in ("list", "set") else "tuple"
        return self.add(node, ops.SEQUENCE, kind, args=self._items(node.named_children[:MAX_ITEMS]))

    def _mapping(self, node: Node) -> int:
        return self.add(node, ops.MAPPING, args=self._items(node.named_children[:MAX_ITEMS]))

    def _comprehension(self, node: Node) -> int:
        body = node.child_by_field_id(BODY)
        if body is None:
            return self._unknown(node)
        item = self._item(body, body.type)
        if node.type == "dictionary_comprehension":
            return self.add(node, ops.MAPPING, args=(item,))
        return self.add(node, ops.SEQUENCE, "set" if node.type == "set_comprehension" else "list", args=(item,))

    def _subscript(self, node: Node) -> int:
        value, key = node.child_by_field_id(VALUE), node.child_by_field_id(SUBSCRIPT)
        if value is None or key is None:
            return self._unknown(node)
        base = self.expr(value)
        if key.type == "slice":
            return self._slice(node, base, self.text(key))
        return self.add(node, ops.INDEX, base=base, args=(self._value(key),))

    def _slice(self, node: Node, base: int, written: str) -> int:
        """A list of the items between constant bounds; otherwise of any item."""
        bounds = _BOUNDS.fullmatch(written)
        if bounds is None or not 0 < int(bounds[2]) - int(bounds[1] or 0) <= MAX_SLICE:
            return self.add(node, ops.SEQUENCE, "list", args=(self.add(node, ops.ELEMENT, "slice", base),))
        places = range(int(bounds[1] or 0), int(bounds[2]))
        keys = [self._literal(node, "int", str(place)) for place in places]
        return self.add(
            node, ops.SEQUENCE, "list", args=tuple(self.add(node, ops.INDEX, base=base, args=(key,)) for key in keys)
        )

    def _lambda(self, node: Node) -> int:
        index = self.by_node.get(node.id)
        return self.add(node, ops.FUNCTION, base=index) if index is not None else self._unknown(node)

    def _conditional(self, node: Node) -> int:
        parts = [child for child in node.named_children if child.type != "comment"]
        if len(parts) != 3:
            return self._unknown(node)
        return self.add(node, ops.CHOICE, args=(self._value(parts[0]), self._value(parts[2])))

    def _boolean(self, node: Node) -> int:
        sides = (node.child_by_field_id(LEFT), node.child_by_field_id(RIGHT))
        return self.add(node, ops.CHOICE, args=tuple(self._value(side) for side in sides if side is not None))

    def _binary(self, node: Node) -> int:
        """`"..." % x` is a string, and so is what is added to one; other arithmetic says nothing."""
        left, right = node.child_by_field_id(LEFT), node.child_by_field_id(RIGHT)
        if left is None or right is None or not (left.type in _TEXTS or right.type in _TEXTS):
            return self._unknown(node)
        known = self._text(left)
        added = node.children[1].type == "+"
        if known is None and not (added and right.type == "string"):
            return self._unknown(node)
        if added:
            return self._template(node, f"{known or '*'}{self._text(right) or '*'}")
        return self._template(node, _PLACEHOLDER.sub("*", known or ""))

    def _text(self, node: Node) -> str | None:
        """What is known of a string, "*" when nothing; None for what is not certainly one."""
        if node.type not in _TEXTS:
            return None
        expr = self.exprs[self.expr(node)]
        return (expr.text or "*") if expr.op in (ops.LITERAL, ops.TEMPLATE) and expr.name == "str" else None

    def _await(self, node: Node) -> int:
        inner = first_child(node)
        return self.add(node, ops.AWAIT, base=self.expr(inner)) if inner is not None else self._unknown(node)

    def _inner(self, node: Node) -> int:
        for child in node.named_children:
            if child.type != "comment":
                return self.expr(child)
        return self._unknown(node)

    def _named(self, node: Node) -> int:
        name, value = node.child_by_field_id(NAME), node.child_by_field_id(VALUE)
        if name is None or value is None:
            return self._unknown(node)
        inner = self._value(value)
        self._leave_branches(node.start_byte)
        self._bind(self._target(name, node.end_byte), inner)
        return inner


_EXPRESSIONS = {
    "identifier": PythonExprs._identifier,
    "attribute": PythonExprs._attribute,
    "call": PythonExprs._call,
    "subscript": PythonExprs._subscript,
    "list": PythonExprs._sequence,
    "tuple": PythonExprs._sequence,
    "set": PythonExprs._sequence,
    "expression_list": PythonExprs._sequence,
    "dictionary": PythonExprs._mapping,
    "list_comprehension": PythonExprs._comprehension,
    "set_comprehension": PythonExprs._comprehension,
    "generator_expression": PythonExprs._comprehension,
    "dictionary_comprehension": PythonExprs._comprehension,
    "lambda": PythonExprs._lambda,
    "conditional_expression": PythonExprs._conditional,
    "boolean_operator": PythonExprs._boolean,
    "binary_operator": PythonExprs._binary,
    "await": PythonExprs._await,
    "parenthesized_expression": PythonExprs._inner,
    "named_expression": PythonExprs._named,
    **dict.fromkeys(_LITERALS, PythonExprs._constant),
    "string": PythonExprs._string,
    "integer": PythonExprs._integer,
}

# by the grammar's number of the kind, which a node gives without making a string
_kind_of = BY_NAME["python"].language().node_kind_for_id
_KINDS = [(number, _kind_of(number)) for number in range(BY_NAME["python"].language().node_kind_count)]
_MAKERS = {number: _EXPRESSIONS[kind] for number, kind in _KINDS if kind in _EXPRESSIONS}
_MARKED_IDS = frozenset(number for number, kind in _KINDS if kind in _MARKED)
_COMMENT_IDS = frozenset(number for number, kind in _KINDS if kind == "comment")
