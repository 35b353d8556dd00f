"""Python definitions: classes, functions and lambdas with their parameters, decorators and docstrings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from ctxsearch.graph import ops
from ctxsearch.graph.facts import MODULE_SCOPE, Param, ParamKind, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages.builder import Draft
from ctxsearch.indexer.languages.python_exprs import STRING, PythonExprs
from ctxsearch.indexer.languages.python_grammar import (
    BODY,
    DEFINITION,
    FUNCTION,
    LEFT,
    NAME,
    PARAMETERS,
    RETURN_TYPE,
    RIGHT,
    SUPERCLASSES,
    TYPE,
    TYPE_PARAMETERS,
    VALUE,
    first_child,
)
from ctxsearch.indexer.languages.python_types import parse_type

_IMPLICIT_CLASS_METHODS = frozenset({"__new__", "__init_subclass__", "__class_getitem__"})
_RECEIVERS = frozenset({"self", "cls"})  # by convention; a method that has another name for its instance is rare
_TYPE_FIELDS = frozenset({"typed_parameter", "typed_default_parameter"})
_DECORATOR_FLAGS = {
    "staticmethod": NodeFlag.STATIC,
    "classmethod": NodeFlag.CLASS_METHOD,
    "property": NodeFlag.PROPERTY,
    "cached_property": NodeFlag.PROPERTY,
    "lazyproperty": NodeFlag.PROPERTY,
    "hybrid_property": NodeFlag.PROPERTY,
    "getter": NodeFlag.PROPERTY,
    "setter": NodeFlag.PROPERTY,
    "deleter": NodeFlag.PROPERTY,
    "abstractmethod": NodeFlag.ABSTRACT,
    "abstractproperty": NodeFlag.ABSTRACT | NodeFlag.PROPERTY,
    "abstractclassmethod": NodeFlag.ABSTRACT | NodeFlag.CLASS_METHOD,
    "abstractstaticmethod": NodeFlag.ABSTRACT | NodeFlag.STATIC,
    "overload": NodeFlag.DECLARATION,
    "deprecated": NodeFlag.DEPRECATED,
}
_DEPRECATED_DOC = re.compile(r"^\s*\.\. deprecated::|^\s*deprecated\b", re.IGNORECASE | re.MULTILINE)

MAX_STUB = 4  # statements and comments of a method that does nothing itself


class PythonDefinitions(PythonExprs):
    """What becomes a node."""

    def define(self, node: Node, capture: str) -> Draft | None:
        if capture == "def.function":
            return self._define_function(node)
        if capture == "def.class":
            name = self._field_text(node, NAME)
            return self.draft(NodeKind.CLASS, name, node, outer=self._outer.get(node.id)) if name else None
        if capture == "def.lambda":
            return self._define_lambda(node)
        if capture == "def.decorated":
            definition = node.child_by_field_id(DEFINITION)
            if definition is not None:
                self._outer[definition.id] = node
        elif (right := node.child_by_field_id(RIGHT)) is not None:
            self._bound[right.id] = self._field_text(node, LEFT)
        return None

    def _define_function(self, node: Node) -> Draft | None:
        name_node = node.child_by_field_id(NAME)
        if name_node is None:
            return None
        name = self.text(name_node)
        if not name:
            return None
        draft = self.draft(self._function_kind(name), name, node, outer=self._outer.get(node.id))
        draft.name_line = self.line(name_node.start_byte)
        return draft

    def _function_kind(self, name: str) -> NodeKind:
        if self.scope == MODULE_SCOPE or self.drafts[self.scope].kind != NodeKind.CLASS:
            return NodeKind.FUNCTION
        return NodeKind.CONSTRUCTOR if name == "__init__" else NodeKind.METHOD

    def _define_lambda(self, node: Node) -> Draft:
        name = self._bound.get(node.id)
        if name:
            return self.draft(self._function_kind(name), name, node)
        return self.anonymous("lambda", node)

    def complete(self, draft: Draft) -> None:
        node = draft.node
        self._leave_branches(draft.start)
        draft.block = self._block()
        if draft.kind == NodeKind.CLASS:
            self._complete_class(draft, node)
        elif node.type == "lambda":
            self._complete_lambda(draft, node)
        else:
            self._complete_function(draft, node)

    def _complete_class(self, draft: Draft, node: Node) -> None:
        self._decorate(draft, node)
        body = node.child_by_field_id(BODY)
        draft.name_line = self.line(node.start_byte)
        draft.signature = self.signature(node, body)
        draft.doc = self._docstring(body)
        draft.type_params.extend(self._type_params(node))
        draft.flags |= self._visibility(draft)
        if draft.flags & NodeFlag.EXPORTED and self.flags & NodeFlag.TEST and draft.name.startswith("Test"):
            draft.flags |= NodeFlag.TEST
        superclasses = node.child_by_field_id(SUPERCLASSES)
        if superclasses is not None:
            self._bases(draft, superclasses)

    def _bases(self, draft: Draft, superclasses: Node) -> None:
        """Bases by name. Metaclass and bases that a call makes stand among the decorators, as keywords."""
        for child in superclasses.named_children:
            if child.type == "keyword_argument":
                value = child.child_by_field_id(VALUE)
                if value is not None and self._field_text(child, NAME) == "metaclass":
                    draft.decorators.append(self.add(child, ops.KEYWORD, "metaclass", self._value(value)))
            elif child.type in ("identifier", "attribute", "subscript"):
                draft.bases.append(parse_type(self.text(child)))
            elif child.type == "call":
                # `with_metaclass(M, Base)`, `namedtuple(...)`
                draft.bases.append(Type("()", (Type(str(len(draft.decorators))),)))
                draft.decorators.append(self.add(child, ops.KEYWORD, "base", self._value(child)))

    def _complete_lambda(self, draft: Draft, node: Node) -> None:
        self._parameters(draft, node.child_by_field_id(PARAMETERS))
        draft.signature = self.signature(node, None)
        if draft.kind == NodeKind.METHOD:
            self._take_receiver(draft)
        body = node.child_by_field_id(BODY)
        if body is not None:
            around, self.scope = self.scope, draft.index
            draft.returns.append(self._value(body))
            self.scope = around

    def _complete_function(self, draft: Draft, node: Node) -> None:
        self._decorate(draft, node)
        self._parameters(draft, node.child_by_field_id(PARAMETERS))
        body = node.child_by_field_id(BODY)
        draft.signature = self.signature(node, body)
        draft.doc = self._docstring(body)
        draft.type_params.extend(self._type_params(node))
        result = node.child_by_field_id(RETURN_TYPE)
        if result is not None:
            draft.result = parse_type(self.text(result))
        if node.children[0].type == "async":
            draft.flags |= NodeFlag.ASYNC
        draft.flags |= self._visibility(draft)
        if draft.kind != NodeKind.FUNCTION:
            if draft.name in _IMPLICIT_CLASS_METHODS:
                draft.flags |= NodeFlag.CLASS_METHOD
            self._take_receiver(draft)
            if body is not None and self._is_left_open(draft, body):
                draft.flags |= NodeFlag.ABSTRACT
        if self.flags & NodeFlag.TEST and draft.name.startswith("test"):
            draft.flags |= NodeFlag.TEST
        if draft.doc and _DEPRECATED_DOC.search(draft.doc):
            draft.flags |= NodeFlag.DEPRECATED

    def _is_left_open(self, draft: Draft, body: Node) -> bool:
        """A method that only raises NotImplementedError; in a protocol also one that does nothing."""
        if body.named_child_count > MAX_STUB:
            return False
        statements = [child for child in body.named_children if not _says_nothing(child)]
        if not statements:
            return any(base.name.rpartition(".")[2] == "Protocol" for base in self.drafts[draft.parent].bases)
        raised = first_child(statements[0]) if statements[0].type == "raise_statement" else None
        return len(statements) == 1 and raised is not None and self.text(raised).startswith("NotImplementedError")

    def _visibility(self, draft: Draft) -> NodeFlag:
        """Exported: reachable from the module without a leading underscore on the way."""
        if draft.name.startswith("_") and not draft.name.endswith("__"):
            return NodeFlag.NONE
        if draft.parent == MODULE_SCOPE:
            return NodeFlag.EXPORTED
        around = self.drafts[draft.parent]
        return around.flags & NodeFlag.EXPORTED if around.kind == NodeKind.CLASS else NodeFlag.NONE

    def _take_receiver(self, draft: Draft) -> None:
        """The first parameter of a method is its instance, or its class."""
        if draft.flags & NodeFlag.STATIC or not draft.params or draft.params[0].kind != ParamKind.NORMAL:
            return
        first = draft.params[0]
        if first.name not in _RECEIVERS and draft.name in self._used_in_body(draft.parent):
            return
        draft.params[0] = Param(first.name, first.type, first.default, ParamKind.RECEIVER)
        self._receivers.add(first.name)

    def _used_in_body(self, owner: int) -> frozenset[str]:
        """The functions that a class's body itself calls, as decorators or for a value: there they have no instance."""
        known = self._body_calls.get(owner)
        if known is None:
            body = self.drafts[owner].node.child_by_field_id(BODY)
            statements = body.named_children if body is not None else []
            known = self._body_calls[owner] = frozenset(name for child in statements for name in self._called_by(child))
        return known

    def _called_by(self, statement: Node) -> Iterator[str]:
        """The bare names that decorate a definition, or whose call is assigned."""
        inner = first_child(statement) if statement.type == "expression_statement" else None
        if statement.type == "decorated_definition":
            called = [first_child(child) for child in statement.named_children if child.type == "decorator"]
        elif inner is not None and inner.type == "assignment":
            value = inner.child_by_field_id(RIGHT)
            called = [value] if value is not None and value.type == "call" else []
        else:
            called = []
        for node in called:
            callee = node.child_by_field_id(FUNCTION) if node is not None and node.type == "call" else node
            if callee is not None and callee.type == "identifier":
                yield self.text(callee)

    def _decorate(self, draft: Draft, node: Node) -> None:
        outer = self._outer.get(node.id)
        if outer is None:
            return
        for child in outer.named_children:
            if child.type != "decorator":
                continue
            value = first_child(child)
            if value is None:
                continue
            draft.decorators.append(self._value(value))
            callee = value.child_by_field_id(FUNCTION) if value.type == "call" else value
            if callee is not None:
                last = self.text(callee).rpartition(".")[2]
                draft.flags |= _DECORATOR_FLAGS.get(last, NodeFlag.NONE)

    def _parameters(self, draft: Draft, parameters: Node | None) -> None:
        if parameters is None:
            return
        kind = ParamKind.NORMAL
        for child in parameters.named_children:
            child_type = child.type
            if child_type == "identifier":
                draft.params.append(Param(self.text(child), None, -1, kind))
            elif child_type == "keyword_separator":
                kind = ParamKind.KEYWORD_ONLY
            elif child_type == "default_parameter":
                draft.params.append(Param(self._field_text(child, NAME), None, self._default(child), kind))
            elif child_type in _TYPE_FIELDS:
                draft.params.append(self._typed_parameter(child, kind))
            elif child_type == "list_splat_pattern":
                draft.params.append(Param(self._first_text(child), None, -1, ParamKind.VARIADIC))
            elif child_type == "dictionary_splat_pattern":
                draft.params.append(Param(self._first_text(child), None, -1, ParamKind.KEYWORDS))
            elif child_type == "tuple_pattern":
                draft.params.append(Param(""))
            if draft.params and draft.params[-1].kind == ParamKind.VARIADIC:
                kind = ParamKind.KEYWORD_ONLY

    def _typed_parameter(self, node: Node, kind: ParamKind) -> Param:
        written = node.child_by_field_id(TYPE)
        declared = parse_type(self.text(written)) if written is not None else None
        if node.type == "typed_default_parameter":
            return Param(self._field_text(node, NAME), declared, self._default(node), kind)
        inner = first_child(node)
        if inner is None:
            return Param("", declared, -1, kind)
        if inner.type == "list_splat_pattern":
            return Param(self._first_text(inner), declared, -1, ParamKind.VARIADIC)
        if inner.type == "dictionary_splat_pattern":
            return Param(self._first_text(inner), declared, -1, ParamKind.KEYWORDS)
        return Param(self.text(inner), declared, -1, kind)

    def _default(self, node: Node) -> int:
        value = node.child_by_field_id(VALUE)
        return self._value(value) if value is not None else -1

    def _type_params(self, node: Node) -> list[Param]:
        listed = node.child_by_field_id(TYPE_PARAMETERS)
        if listed is None:
            return []
        params = []
        for child in listed.named_children:
            name, _, bound = self.text(child).partition(":")
            params.append(Param(name.partition("=")[0].strip().lstrip("*"), parse_type(bound) if bound else None))
        return params

    def _docstring(self, body: Node | None) -> str:
        first = first_child(body) if body is not None else None
        if first is None or first.type != "expression_statement":
            return ""
        string = first_child(first)
        return self._clean(string) if string is not None and string.type == "string" else ""

    def _clean(self, string: Node) -> str:
        found = STRING.match(self.text(string))
        if found is None:
            return ""
        first, *rest = found[2].expandtabs().split("\n")
        indent = min((len(line) - len(line.lstrip()) for line in rest if line.strip()), default=0)
        return "\n".join([first.strip(), *(line[indent:].rstrip() for line in rest)]).strip()


def _says_nothing(statement: Node) -> bool:
    """A docstring, comment, `pass` or `...`."""
    if statement.type == "expression_statement":
        inner = first_child(statement)
        return inner is not None and inner.type in ("string", "ellipsis")
    return statement.type in ("comment", "pass_statement")
