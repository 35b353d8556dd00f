"""Python source to FileFacts. Reads syntax alone: what a name means is decided in `graph.resolve.python`."""

from __future__ import annotations

import re

from tree_sitter import Node

from ctxsearch.graph import ops
from ctxsearch.graph.facts import MODULE_SCOPE, Assign, Export, Expr, Import, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages.python_definitions import PythonDefinitions
from ctxsearch.indexer.languages.python_grammar import (
    ALIAS,
    ARGUMENT,
    ARGUMENTS,
    ATTRIBUTE,
    CONDITION,
    CONSEQUENCE,
    FUNCTION,
    LEFT,
    MODULE_NAME,
    NAME,
    RIGHT,
    TYPE,
    VALUE,
    first_child,
)
from ctxsearch.indexer.languages.python_types import parse_type

_EXITS = frozenset({"return_statement", "raise_statement", "continue_statement", "break_statement"})
_CAPITALS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")


class Python(PythonDefinitions):
    """One Python file being read, statement by statement."""

    def on_docstring(self, node: Node) -> None:
        self.doc = self._clean(node)

    def on_import(self, node: Node) -> None:
        at = node.start_byte
        self._leave_branches(at)
        block = self._block()
        for child in node.named_children:
            if child.type == "aliased_import":
                module, alias = self._field_text(child, NAME), self._field_text(child, ALIAS)
                self.imports.append(Import(self.scope, self.line(at), at, _dotted(module), "", alias, block=block))
            elif child.type == "dotted_name":
                module = _dotted(self.text(child))
                first, dot, _ = module.partition(".")
                # `import a.b` binds `a`, not `a.b`
                kind = "dotted" if dot else ""
                self.imports.append(Import(self.scope, self.line(at), at, module, "", first, 0, kind, block))

    def on_from(self, node: Node) -> None:
        at = node.start_byte
        line = self.line(at)
        self._leave_branches(at)
        block = self._block()
        module_node = node.child_by_field_id(MODULE_NAME)
        written = self.text(module_node) if module_node is not None else "__future__"
        module = written.lstrip(". \t")
        level = written[: len(written) - len(module)].count(".")
        module = _dotted(module)
        for child in node.named_children:
            if module_node is not None and child.id == module_node.id:
                continue
            if child.type == "wildcard_import":
                self.imports.append(Import(self.scope, line, at, module, "*", "", level, "", block))
            elif child.type == "aliased_import":
                name, alias = _dotted(self._field_text(child, NAME)), self._field_text(child, ALIAS)
                self.imports.append(Import(self.scope, line, at, module, name, alias, level, "", block))
            elif child.type == "dotted_name":
                name = _dotted(self.text(child))
                self.imports.append(Import(self.scope, line, at, module, name, name, level, "", block))

    def on_test(self, node: Node) -> None:
        """`if isinstance(x, A):` x is an A in that branch; after `if not isinstance(x, A): return` too."""
        condition = node.child_by_field_id(CONDITION)
        consequence = node.child_by_field_id(CONSEQUENCE)
        if condition is None or consequence is None:
            return
        if condition.type == "not_operator":
            argument = condition.child_by_field_id(ARGUMENT)
            last = consequence.named_children[-1:]
            if argument is not None and last and last[0].type in _EXITS and node.child_count <= 4:
                self._leave_branches(node.start_byte)
                self._narrow(argument, node.end_byte, self._block())
            return
        self._narrow(condition, consequence.start_byte - 1, consequence.end_byte)

    def on_assert(self, node: Node) -> None:
        condition = first_child(node)
        if condition is not None:
            self._leave_branches(node.start_byte)
            self._narrow(condition, node.end_byte, self._block())

    def on_both(self, node: Node) -> None:
        """`isinstance(x, A) and x.f()`: x is an A in the second part."""
        left, right = node.child_by_field_id(LEFT), node.child_by_field_id(RIGHT)
        if left is not None and right is not None:
            self._narrow(left, right.start_byte - 1, right.end_byte)

    def on_choice(self, node: Node) -> None:
        """`x.f() if isinstance(x, A) else None`: x is an A in the first part."""
        if node.named_child_count == 3:
            chosen, condition, _ = node.named_children
            self._narrow(condition, chosen.start_byte - 1, chosen.end_byte)

    def _narrow(self, condition: Node, start: int, end: int) -> None:
        if condition.type == "boolean_operator":
            if condition.children[1].type == "and":
                for side in (LEFT, RIGHT):
                    part = condition.child_by_field_id(side)
                    if part is not None and part.type in ("call", "boolean_operator"):
                        self._narrow(part, start, end)
            return
        function, arguments = condition.child_by_field_id(FUNCTION), condition.child_by_field_id(ARGUMENTS)
        if function is None or arguments is None or function.type != "identifier":
            return
        if self.text(function) != "isinstance" or arguments.named_child_count != 2:
            return
        subject, classes = arguments.named_children
        if subject.type != "identifier":
            return
        name = self.text(subject)
        if name in self._receivers:
            return  # the receiver's class is known better than by the test
        declared = _class_test(self.text(classes))
        if declared is None:
            return
        line = self.line(start)
        value = self.add(condition, ops.CAST, base=self._value(subject), type=declared)
        self.exprs.append(Expr(ops.NAME, self._owner(name), line, start, name))
        self.assigns.append(Assign(len(self.exprs) - 1, value, None, True, end))

    def on_assign(self, node: Node) -> None:
        left = node.child_by_field_id(LEFT)
        if left is None:
            return
        right = node.child_by_field_id(RIGHT)
        while right is not None and right.type == "assignment":
            right = right.child_by_field_id(RIGHT)
        written = node.child_by_field_id(TYPE)
        declared = parse_type(self.text(written)) if written is not None else None
        value = self._value(right) if right is not None else -1
        self._leave_branches(node.start_byte)
        self._assign_to(left, value, node.end_byte, declared)
        if left.type == "identifier" and right is not None:
            self._exports(left, right)

    def _assign_to(self, left: Node, value: int, at: int, declared: Type | None = None, until: int = -1) -> None:
        """Bind a target; patterns are taken apart."""
        kind = left.type
        if kind == "identifier":
            target = self._target(left, at)
            self._bind(target, value, declared=declared, until=until)
            if until == -1:
                self._variable(left, target, value, declared)
        elif kind in ("attribute", "subscript"):
            self._bind(self._value(left), value, declared=declared)
        elif kind in ("pattern_list", "tuple_pattern", "list_pattern", "tuple", "list", "expression_list"):
            self._take_apart(left, value, at, until)
        elif kind in ("parenthesized_expression", "as_pattern_target"):
            inner = first_child(left)
            if inner is not None:
                self._assign_to(inner, value, at, declared, until)

    def _take_apart(self, pattern: Node, value: int, at: int, until: int) -> None:
        parts = pattern.named_children
        items = self._written_items(value)
        starred = False
        for position, part in enumerate(parts):
            if part.type in ("list_splat_pattern", "list_splat"):
                starred = True
                inner = first_child(part)
                if inner is not None:
                    rest = items[position : len(items) - (len(parts) - position - 1)]
                    args = rest or (self.add(part, ops.SPREAD, base=value),)
                    self._assign_to(inner, self.add(part, ops.SEQUENCE, "list", args=args), at, None, until)
            elif items and -len(items) <= (place := position - len(parts) if starred else position) < len(items):
                self._assign_to(part, items[place], at, None, until)
            else:
                index = position - len(parts) if starred else position
                key = self._literal(part, "int", str(index))
                item = self.add(part, ops.INDEX, base=value, args=(key,)) if value >= 0 else -1
                self._assign_to(part, item, at, None, until)

    def _written_items(self, value: int) -> tuple[int, ...]:
        """The items of a list or tuple that is written out; () for anything else."""
        if value < 0 or self.exprs[value].op != ops.SEQUENCE:
            return ()
        items = self.exprs[value].args
        return () if any(self.exprs[item].op == ops.SPREAD for item in items) else items

    def _variable(self, node: Node, target: int, value: int, declared: Type | None) -> None:
        """A node for a module- or class-level name, once."""
        scope = self.scope
        if scope != MODULE_SCOPE and self.drafts[scope].kind != NodeKind.CLASS:
            return
        name = self.exprs[target].name
        if (scope, name) in self._variables or name in ("_", "__all__", "__slots__"):
            return
        self._variables.add((scope, name))
        if value >= 0 and self.exprs[value].op == ops.FUNCTION and self.drafts[self.exprs[value].base].name == name:
            return
        draft = self.draft(NodeKind.VARIABLE, name, node, value=value, result=declared)
        draft.flags |= self._visibility(draft)
        statement = self.source[draft.start : draft.start + 200].split(b"\n", 1)[0]
        draft.signature = statement.decode("utf-8", "replace").strip()

    def _exports(self, left: Node, right: Node) -> None:
        if self.scope != MODULE_SCOPE or self.text(left) != "__all__":
            return
        for child in right.named_children:
            if child.type == "string":
                name = self._string_value(child)
                if name:
                    self.exports.append(Export(name, name))

    def on_augment(self, node: Node) -> None:
        left, right = node.child_by_field_id(LEFT), node.child_by_field_id(RIGHT)
        if left is None or right is None:
            return
        self._leave_branches(node.start_byte)
        if left.type == "identifier":
            self._bind(self._target(left, node.end_byte), self._value(right), conditional=True)
            self._exports(left, right)
        elif left.type in ("attribute", "subscript"):
            self._bind(self._value(left), self._value(right), conditional=True)

    def on_walrus(self, node: Node) -> None:
        self.expr(node)

    def on_alias(self, node: Node) -> None:
        left, right = node.child_by_field_id(LEFT), node.child_by_field_id(RIGHT)
        if left is None or right is None:
            return
        name = re.match(r"\w+", self.text(left))
        if name is not None:
            draft = self.draft(NodeKind.TYPE_ALIAS, name[0], node, result=parse_type(self.text(right)))
            draft.signature = self.signature(node, None)
            draft.flags |= self._visibility(draft)

    def on_for(self, node: Node) -> None:
        left, right = node.child_by_field_id(LEFT), node.child_by_field_id(RIGHT)
        if left is None or right is None:
            return
        mode = "async" if node.children[0].type == "async" else ""
        element = self.add(right, ops.ELEMENT, mode, self._value(right))
        self._leave_branches(node.start_byte)
        self._assign_to(left, element, right.end_byte)

    def on_comprehension(self, node: Node) -> None:
        """Its variables live inside it, from its start: the body stands before the clause that binds them."""
        start, end = node.start_byte, node.end_byte
        for child in node.named_children:
            if child.type == "for_in_clause":
                left, right = child.child_by_field_id(LEFT), child.child_by_field_id(RIGHT)
                if left is not None and right is not None:
                    mode = "async" if child.children[0].type == "async" else ""
                    element = self.add(right, ops.ELEMENT, mode, self._value(right))
                    self._bind_inside(left, element, start, end)
            elif child.type == "if_clause" and (condition := first_child(child)) is not None:
                self._narrow(condition, start, child.start_byte)  # what stands before its clauses

    def _bind_inside(self, left: Node, value: int, start: int, end: int) -> None:
        if left.type == "identifier":
            name = self.text(left)
            self.exprs.append(Expr(ops.NAME, self.scope, self.line(left.start_byte), start, name))
            self.assigns.append(Assign(len(self.exprs) - 1, value, None, True, end))
        elif left.type in ("pattern_list", "tuple_pattern", "list_pattern"):
            for position, part in enumerate(left.named_children):
                key = self._literal(part, "int", str(position))
                item = self.add(part, ops.INDEX, base=value, args=(key,))
                self._bind_inside(part, item, start, end)

    def on_with(self, node: Node) -> None:
        pattern = node.child_by_field_id(VALUE)
        if pattern is None:
            return
        value, target = first_child(pattern), pattern.child_by_field_id(ALIAS)
        if value is not None and target is not None:
            entered = self.add(value, ops.ENTER, "", self._value(value))
            self._leave_branches(node.start_byte)
            self._assign_to(target, entered, node.end_byte)

    def on_except(self, node: Node) -> None:
        value = node.child_by_field_id(VALUE)
        if value is None:
            return
        if value.type == "as_pattern":
            classes, target = first_child(value), value.child_by_field_id(ALIAS)
            name = first_child(target) if target is not None else None
            if classes is not None and name is not None:
                declared = _class_test(self.text(classes))
                index = self._target(name, classes.end_byte)
                self.assigns.append(Assign(index, -1, declared, True, node.end_byte))
            value = classes
        if value is not None:
            for part in value.named_children if value.type == "tuple" else [value]:
                self._refer(part)

    def on_case(self, node: Node) -> None:
        """Names bound by patterns hide outer ones; what they hold is not followed."""
        pattern = first_child(node)
        if pattern is None:
            return
        self._leave_branches(node.start_byte)
        for name in self._captured(pattern):
            self._bind(self._target(name, pattern.end_byte), self._unknown(name))

    def _captured(self, pattern: Node) -> list[Node]:
        found: list[Node] = []
        pending = [pattern]
        while pending:
            node = pending.pop()
            if node.type == "dotted_name":
                if node.named_child_count == 1 and self.text(node) != "_":
                    found.append(node)
            elif node.type in ("class_pattern", "keyword_pattern"):
                pending.extend(node.named_children[1:])
            elif node.type == "identifier":
                found.append(node)
            elif node.type in _PATTERNS:
                pending.extend(node.named_children)
        return found

    def on_return(self, node: Node) -> None:
        value = first_child(node)
        if value is None or self.scope == MODULE_SCOPE:
            return
        self.drafts[self.scope].returns.append(self._value(value))

    def on_yield(self, node: Node) -> None:
        if self.scope == MODULE_SCOPE:
            return
        draft = self.drafts[self.scope]
        draft.flags |= NodeFlag.GENERATOR
        value = first_child(node)
        if value is None:
            return
        inner = self._value(value)
        if len(node.children) > 1 and node.children[1].type == "from":
            inner = self.add(node, ops.ELEMENT, "from", inner)
        draft.returns.append(self.add(node, ops.YIELDED, base=inner))

    def on_call(self, node: Node) -> None:
        self.expr(node)

    def on_raise(self, node: Node) -> None:
        """`raise Oops` makes an instance."""
        self._refer(node)
        self.add(node, ops.NEW, base=self.expr(node))

    def on_reference(self, node: Node) -> None:
        self._refer(node)

    def _refer(self, node: Node) -> None:
        """Note a read of something that is named like a constant or a type."""
        if node.type == "identifier":
            name: Node | None = node
        else:
            name = node.child_by_field_id(ATTRIBUTE)
        if name is not None and self.source[name.start_byte] in _CAPITALS:
            self.references.append(self.expr(node))


_PATTERNS = frozenset(
    {
        "case_pattern",
        "as_pattern",
        "as_pattern_target",
        "list_pattern",
        "tuple_pattern",
        "splat_pattern",
        "union_pattern",
        "dict_pattern",
    }
)


def _dotted(text: str) -> str:
    return "".join(text.split()) if not text.isidentifier() else text


def _class_test(text: str) -> Type | None:
    """The type that `isinstance(x, text)` or `except text` proves; None when it is not written as names."""
    text = text.strip()
    if text.startswith("(") and text.endswith(")"):
        parts = [_class_test(part) for part in text[1:-1].split(",") if part.strip()]
        members = tuple(part for part in parts if part is not None)
        if not members or len(members) != len(parts):
            return None
        return members[0] if len(members) == 1 else Type("|", members)
    return parse_type(text) if re.fullmatch(r"[\w.]+( *\| *[\w.]+)*", text) else None


EXTRACTOR = Python
