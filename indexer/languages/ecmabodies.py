"""What the definitions of a JavaScript or TypeScript file say: parameters, types, bases, decorators."""

from __future__ import annotations

import msgspec
from tree_sitter import Node

from ctxsearch.graph.facts import Op, Param, ParamKind, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages.builder import Draft
from ctxsearch.indexer.languages.ecmaexprs import (
    FUNCTION_NODES,
    first,
)
from ctxsearch.indexer.languages.ecmascopes import Scopes

FUNCTION_KINDS = frozenset({NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.CONSTRUCTOR})
_DECORATED = frozenset({NodeKind.CLASS, NodeKind.METHOD, NodeKind.VARIABLE, NodeKind.CONSTRUCTOR})
_DECLARATIONS = frozenset(
    {
        "function_declaration",
        "generator_function_declaration",
        "class_declaration",
        "abstract_class_declaration",
        "interface_declaration",
        "enum_declaration",
        "type_alias_declaration",
    }
)


class Bodies(Scopes):
    """Second look at every definition."""

    def __init__(self, path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> None:
        super().__init__(path, source, flags)
        self._decorators: list[int] = []  # that stand before the next definition

    def complete(self, draft: Draft) -> None:
        node = draft.node
        self._widen(draft)
        self._document(draft)
        if draft.kind in _DECORATED:
            self._take_decorators(draft)
        body = node.child_by_field_name("body")
        draft.signature = self._signature(draft, body)
        kind = draft.kind
        if kind in FUNCTION_KINDS:
            self._complete_function(draft, body)
        elif kind is NodeKind.VARIABLE:
            self._complete_variable(draft)
        elif kind in {NodeKind.CLASS, NodeKind.INTERFACE}:
            self._complete_class(draft)
        elif kind is NodeKind.TYPE_ALIAS:
            self._type_parameters(draft)
            draft.result = self.type(node.child_by_field_name("value"))
        if node.type in _DECLARATIONS:
            self._bind_in_block(draft)
        if self.flags & NodeFlag.TEST:
            draft.flags |= NodeFlag.TEST

    def _widen(self, draft: Draft) -> None:
        statement = self._exported.get(draft.node.id)
        if statement is not None:
            draft.flags |= NodeFlag.EXPORTED
            draft.start = statement.start_byte
            draft.start_line = self.line(draft.start)

    def _take_decorators(self, draft: Draft) -> None:
        decorated = self.source[draft.node.start_byte : draft.node.start_byte + 1] == b"@"
        inner = [child for child in draft.node.children if child.type == "decorator"] if decorated else []
        draft.decorators = [*self._decorators, *(self.expr(first(child)) for child in inner)]
        self._decorators = []

    def _signature(self, draft: Draft, body: Node | None) -> str:
        if draft.kind in {NodeKind.VARIABLE, NodeKind.TYPE_ALIAS}:
            return self.signature(draft.node, None)
        text = self.signature(draft.node, body)
        if draft.node.type in FUNCTION_NODES and not draft.flags & NodeFlag.ANONYMOUS:
            return f"{draft.name} = {text}"
        return text

    def _complete_function(self, draft: Draft, body: Node | None) -> None:
        node = draft.node
        around, self.scope = self.scope, draft.index
        self._type_parameters(draft)
        parameters = node.child_by_field_name("parameters")
        if parameters is not None:
            for child in parameters.named_children:
                if child.type not in {"comment", "decorator"}:
                    self._parameter(draft, child)
        else:
            single = node.child_by_field_name("parameter")
            if single is not None:
                draft.params.append(Param(self.text(single)))
        draft.result = self.type(node.child_by_field_name("return_type")) or self._documented.get("@returns")
        if self._documented:
            draft.params = [
                msgspec.structs.replace(param, type=param.type or self._documented.get(param.name))
                for param in draft.params
            ]
        if body is not None and body.type != "statement_block":
            draft.returns.append(self.expr(body))
        own = node.child_by_field_name("name")
        if own is not None and node.type in FUNCTION_NODES:  # its own name, visible inside only
            self.assign(self.name(own), self.add(own, Op.FUNCTION, base=draft.index), declares=True)
        self.scope = around

    def _parameter(self, draft: Draft, node: Node) -> None:
        pattern, default = node, None
        declared: Type | None = None
        if node.type in {"required_parameter", "optional_parameter"}:
            pattern = node.child_by_field_name("pattern") or node
            default = node.child_by_field_name("value")
            declared = self.type(node.child_by_field_name("type"))
        elif node.type == "assignment_pattern":
            pattern = node.child_by_field_name("left") or node
            default = node.child_by_field_name("right")
        kind = ParamKind.NORMAL
        if pattern.type == "rest_pattern":
            kind, pattern = ParamKind.VARIADIC, first(pattern) or pattern
        value = self.expr(default)
        if pattern.type == "this":
            draft.params.append(Param("this", declared, value, ParamKind.RECEIVER))
            return
        if pattern.type in {"object_pattern", "array_pattern"}:
            name = f"<{len(draft.params)}>"
            draft.params.append(Param(name, declared, value, kind))
            self._unpack(pattern, self.add(pattern, Op.NAME, name), pattern.end_byte, declares=True)
            return
        self._names.add(pattern.id)
        name = self.text(pattern)
        draft.params.append(Param(name, declared, value, kind))
        if draft.kind is NodeKind.CONSTRUCTOR and any(
            child.type in {"accessibility_modifier", "readonly", "override_modifier"} for child in node.children
        ):
            field = self.member(pattern, self.add(pattern, Op.THIS), name)
            self.assign(field, self.add(pattern, Op.NAME, name), type=declared)

    def _type_parameters(self, draft: Draft) -> None:
        parameters = draft.node.child_by_field_name("type_parameters")
        if parameters is None:
            return
        for child in parameters.named_children:
            name = child.child_by_field_name("name")
            if name is not None:
                bound = child.child_by_field_name("constraint") or child.child_by_field_name("value")
                draft.type_params.append(Param(self._introduce(name), self.type(bound)))

    def _complete_variable(self, draft: Draft) -> None:
        draft.result = self.type(draft.node.child_by_field_name("type")) or self._documented.get("@type")
        value = draft.node.child_by_field_name("value")
        if value is not None:
            draft.value = self.expr(value)

    def _complete_class(self, draft: Draft) -> None:
        node = draft.node
        self._type_parameters(draft)
        if node.type == "interface_declaration":
            clause = next((child for child in node.named_children if child.type == "extends_type_clause"), None)
            if clause is not None:
                draft.bases = [
                    self.type(child) or Type("") for child in clause.named_children if child.type != "comment"
                ]
            return
        own = node.child_by_field_name("name")
        if own is not None and node.type == "class" and self.text(own) != draft.name:  # visible inside only
            around, self.scope = self.scope, draft.index
            self.assign(self.name(own), self.add(own, Op.CLASS, base=draft.index), declares=True)
            self.scope = around
        heritage = next((child for child in node.named_children if child.type == "class_heritage"), None)
        for clause in [] if heritage is None else heritage.named_children:
            if clause.type == "implements_clause":
                draft.implements = [
                    self.type(child) or Type("") for child in clause.named_children if child.type != "comment"
                ]
            elif clause.type == "extends_clause":
                value = clause.child_by_field_name("value")
                if value is not None:
                    draft.bases.append(self._base(value, clause))
            elif clause.type != "comment":  # JavaScript: the expression itself
                draft.bases.append(self._base(clause, None))

    def _base(self, value: Node, clause: Node | None) -> Type:
        """A base class: a name with its type arguments, or a hidden variable that holds the expression's value."""
        text = self.text(value)
        if value.type in {"identifier", "member_expression"} and text.replace(".", "").isidentifier():
            arguments = None if clause is None else clause.child_by_field_name("type_arguments")
            given = (
                () if arguments is None else tuple(self.type(child) or Type("") for child in arguments.named_children)
            )
            return Type(text, given)
        name = f"<extends{value.start_byte}>"
        self.assign(self.add(value, Op.NAME, name), self.expr(value), declares=True)
        return Type(name)
