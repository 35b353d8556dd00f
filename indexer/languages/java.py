"""Java: syntax tree to facts. Names and overloads are the resolver's work."""

from __future__ import annotations

import re
from collections.abc import Callable

from tree_sitter import Node

from ctxsearch.graph.facts import CASE, Import, Op, Param, ParamKind, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages.builder import Draft
from ctxsearch.indexer.languages.typed import (
    BOOLEAN,
    COMPARISONS,
    NUMERIC_LITERALS,
    STRING,
    TypedExtractor,
)
from ctxsearch.indexer.languages.typenames import read_type

INITIALIZER = "<init>"  # an instance initialiser block
STATIC_INITIALIZER = "<clinit>"
INNER = "inner"  # the name of a NEW whose base is the outer instance

_COMMENTS = frozenset({"block_comment", "line_comment"})
_ANNOTATIONS = frozenset({"annotation", "marker_annotation"})
_TEST_ANNOTATIONS = frozenset({"Test", "ParameterizedTest", "RepeatedTest", "TestFactory", "TestTemplate", "Theory"})
_LEADING_ANNOTATIONS = re.compile(r"^(?:@(?!interface\b)[\w.]+\s*(?:\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\))?\s*)+")
_INTERFACES = frozenset({"interface_declaration", "annotation_type_declaration"})
_TYPE_NODES = frozenset({"type_identifier", "scoped_type_identifier", "generic_type", "array_type"})
_MODIFIER_FLAGS = {
    "public": NodeFlag.EXPORTED,
    "protected": NodeFlag.EXPORTED,
    "private": NodeFlag.PRIVATE,
    "static": NodeFlag.STATIC,
    "abstract": NodeFlag.ABSTRACT,
}


class JavaExtractor(TypedExtractor):
    """One Java file."""

    language = "java"

    # -- definitions

    def define(self, node: Node, capture: str) -> Draft | None:
        return _DEFINERS[capture](self, node)

    def _class(self, node: Node) -> Draft | None:
        return self._type(node, NodeKind.CLASS)

    def _interface(self, node: Node) -> Draft | None:
        return self._type(node, NodeKind.INTERFACE)

    def _type(self, node: Node, kind: NodeKind) -> Draft | None:
        name = self.field(node, "name")
        if name is None:
            return None
        draft = self._declared(kind, node, name)
        if node.type == "enum_declaration" or self._parent_is_interface(draft):
            draft.flags |= NodeFlag.STATIC
        if node.type in ("record_declaration", "enum_declaration") or kind == NodeKind.INTERFACE:
            draft.flags |= NodeFlag.STATIC
        if kind == NodeKind.INTERFACE:
            draft.flags |= NodeFlag.ABSTRACT
        draft.type_params = self._type_params(node)
        if node.type == "enum_declaration":
            draft.bases.append(Type("java.lang.Enum", (Type(draft.name),)))
        elif node.type == "record_declaration":
            draft.bases.append(Type("java.lang.Record"))
        self._supertypes(draft, node)
        return draft

    def _supertypes(self, draft: Draft, node: Node) -> None:
        for child in node.named_children:
            kind = child.type
            if kind == "superclass":
                draft.bases.extend(read_type(self.text(each)) for each in child.named_children)
            elif kind == "super_interfaces":
                draft.implements.extend(self._type_list(child))
            elif kind == "extends_interfaces":
                draft.bases.extend(self._type_list(child))

    def _type_list(self, node: Node) -> list[Type]:
        return [
            read_type(self.text(each))
            for child in node.named_children
            if child.type == "type_list"
            for each in child.named_children
            if each.type not in _COMMENTS
        ]

    def _type_params(self, node: Node) -> list[Param]:
        declared = self.field(node, "type_parameters")
        if declared is None:
            return []
        return [self._type_param(each) for each in declared.named_children if each.type == "type_parameter"]

    def _type_param(self, node: Node) -> Param:
        name = ""
        bound: Type | None = None
        for child in node.named_children:
            if child.type == "type_bound":
                bound = read_type(self.text(child).removeprefix("extends"))
            elif child.type in ("type_identifier", "identifier"):
                name = self.text(child)
        return Param(name, bound)

    def _declared(self, kind: NodeKind, node: Node, name: Node, body: Node | None = None) -> Draft:
        """A named definition with its modifiers, signature and doc comment."""
        draft = self.draft(kind, self.text(name), node)
        draft.name_line = self.line(name.start_byte)
        self._modifiers(draft, node)
        draft.signature = self._signature(node, body or self.field(node, "body"))
        self.document(draft, node)
        return draft

    def _signature(self, node: Node, body: Node | None) -> str:
        return _LEADING_ANNOTATIONS.sub("", self.signature(node, body)).rstrip(";")

    def _modifiers(self, draft: Draft, node: Node) -> None:
        first = self.child(node)
        if first is None or first.type != "modifiers":
            return
        for child in first.children:
            kind = child.type
            flag = _MODIFIER_FLAGS.get(kind)
            if flag is not None:
                draft.flags |= flag
            elif kind in _ANNOTATIONS:
                self._annotation_flags(draft, child)

    def _annotation_flags(self, draft: Draft, node: Node) -> None:
        name = self.text(node.named_children[0])
        if name == "Deprecated":
            draft.flags |= NodeFlag.DEPRECATED
        elif name.rsplit(".", 1)[-1] in _TEST_ANNOTATIONS:
            draft.flags |= NodeFlag.TEST

    def _parent_is_interface(self, draft: Draft) -> bool:
        return draft.parent >= 0 and self.drafts[draft.parent].kind == NodeKind.INTERFACE

    def _method(self, node: Node) -> Draft | None:
        name = self.field(node, "name")
        if name is None:
            return None
        draft = self._declared(NodeKind.METHOD, node, name)
        draft.type_params = self._type_params(node)
        draft.params = self._params(self.field(node, "parameters"))
        draft.result = self._with_dimensions(self.type_of(self.field(node, "type")), node)
        if self._parent_is_interface(draft) and not draft.flags & NodeFlag.PRIVATE:
            draft.flags |= NodeFlag.EXPORTED
        if self.field(node, "body") is None:
            draft.flags |= NodeFlag.ABSTRACT | NodeFlag.DECLARATION
        if self._is_junit3_test(draft):
            draft.flags |= NodeFlag.TEST
        return draft

    def _is_junit3_test(self, draft: Draft) -> bool:
        if not draft.name.startswith("test") or draft.parent < 0 or draft.params:
            return False
        return any(base.name.endswith("TestCase") for base in self.drafts[draft.parent].bases)

    def _constructor(self, node: Node) -> Draft | None:
        name = self.field(node, "name")
        if name is None:
            return None
        draft = self._declared(NodeKind.CONSTRUCTOR, node, name)
        draft.type_params = self._type_params(node)
        parameters = self.field(node, "parameters")
        if parameters is not None:
            draft.params = self._params(parameters)
        elif draft.parent >= 0:  # a record's compact constructor takes the components
            draft.params = list(self.drafts[draft.parent].params)
        return draft

    def _static_initializer(self, node: Node) -> Draft | None:
        flags = NodeFlag.STATIC | NodeFlag.PRIVATE
        return self.draft(NodeKind.METHOD, STATIC_INITIALIZER, node, flags=flags, signature="static")

    def _initializer(self, node: Node) -> Draft | None:
        return self.draft(NodeKind.METHOD, INITIALIZER, node, flags=NodeFlag.PRIVATE)

    def _field(self, node: Node) -> Draft | None:
        name = self.field(node, "name")
        whole = node.parent
        if name is None or whole is None:
            return None
        draft = self.draft(NodeKind.VARIABLE, self.text(name), node, outer=whole)
        draft.name_line = self.line(name.start_byte)
        self._modifiers(draft, whole)
        if whole.type == "constant_declaration":
            draft.flags |= NodeFlag.STATIC | NodeFlag.EXPORTED
        draft.result = self._with_dimensions(self.type_of(self.field(whole, "type")), node)
        draft.signature = self._signature(whole, None)
        self.document(draft, whole)
        return draft

    def _enum_constant(self, node: Node) -> Draft | None:
        name = self.field(node, "name")
        if name is None:
            return None
        draft = self._declared(NodeKind.VARIABLE, node, name)
        draft.flags |= NodeFlag.STATIC | NodeFlag.EXPORTED
        draft.result = self._enclosing_class_type()
        return draft

    def _enclosing_class_type(self) -> Type:
        return Type(self.drafts[self.scope].name) if self.scope >= 0 else Type("")

    def _enum_body(self, node: Node) -> Draft | None:
        draft = self.anonymous_class(node)
        constant = self.drafts[draft.parent]
        if constant.result is not None:
            draft.bases.append(constant.result)
        return draft

    def _anonymous(self, node: Node) -> Draft | None:
        draft = self.anonymous_class(node)
        creation = node.parent
        made = self.field(creation, "type") if creation is not None else None
        if made is not None:
            draft.bases.append(read_type(self.text(made)))
        return draft

    def _component(self, node: Node) -> Draft | None:
        """A record component: read like a field, and called like a method."""
        if node.type not in ("formal_parameter", "spread_parameter") or self.scope < 0:
            return None
        made = self._param(node)
        record = self.drafts[self.scope]
        record.params.append(made)
        flags = NodeFlag.EXPORTED | NodeFlag.PROPERTY
        draft = self.draft(NodeKind.METHOD, made.name, node, flags=flags, signature=self.text(node))
        draft.result = made.type
        return draft

    def _lambda(self, node: Node) -> Draft | None:
        draft = self.anonymous("lambda", node)
        parameters = self.field(node, "parameters")
        if parameters is None:
            return draft
        if parameters.type == "formal_parameters":
            draft.params = self._params(parameters)
        elif parameters.type == "identifier":
            draft.params = [Param(self.text(parameters))]
        else:
            draft.params = [Param(self.text(each)) for each in parameters.named_children if each.type == "identifier"]
        return draft

    def _params(self, node: Node | None) -> list[Param]:
        if node is None:
            return []
        made = (
            self._param(each) for each in node.named_children if each.type in ("formal_parameter", "spread_parameter")
        )
        return [param for param in made if param.name != "this"]

    def _param(self, node: Node) -> Param:
        if node.type == "spread_parameter":
            return self._spread_param(node)
        name = self.field(node, "name")
        declared = self._with_dimensions(self.type_of(self.field(node, "type")), node)
        return Param(self.text(name) if name is not None else "", declared)

    def _spread_param(self, node: Node) -> Param:
        name = ""
        element = Type("")
        for child in node.named_children:
            if child.type == "variable_declarator":
                declared = self.field(child, "name")
                name = self.text(declared) if declared is not None else ""
            elif child.type not in ("modifiers", "block_comment", "line_comment"):
                element = read_type(self.text(child))
        return Param(name, Type("[]", (element,)), kind=ParamKind.VARIADIC)

    def _with_dimensions(self, declared: Type | None, node: Node) -> Type | None:
        """`int x[]`: the brackets after a name belong to its type."""
        dimensions = self.field(node, "dimensions")
        if dimensions is None or declared is None:
            return declared
        for _ in range(self.text(dimensions).count("[")):
            declared = Type("[]", (declared,))
        return declared

    # -- second look

    def complete(self, draft: Draft) -> None:
        kind = draft.kind
        if kind == NodeKind.VARIABLE:
            self._complete_field(draft)
        elif kind == NodeKind.CONSTRUCTOR:
            self._complete_constructor(draft)
        elif draft.flags & NodeFlag.ANONYMOUS or draft.name.startswith("<"):
            self.enter_block(draft.start, draft.end)
            return
        self._annotations(draft)

    def _complete_field(self, draft: Draft) -> None:
        node = draft.node
        if node.type == "enum_constant":
            body = self.field(node, "body")
            draft.value = self._in(draft, lambda: self._creation_of(node, draft.result, body))
        else:
            value = self.field(node, "value")
            if value is not None:
                draft.value = self.in_scope(draft, value)

    def _complete_constructor(self, draft: Draft) -> None:
        """The compiler's own `super()`, where the first statement is no constructor call."""
        body = self.field(draft.node, "body")
        if body is None or draft.parent < 0 or not self.drafts[draft.parent].bases:
            return
        first = next((each for each in body.named_children if each.type not in _COMMENTS), None)
        if first is None or first.type != "explicit_constructor_invocation":
            self._in(draft, lambda: self.add(body, Op.CALL, base=self.add(body, Op.SUPER)))

    def _in(self, draft: Draft, make: Callable[[], int]) -> int:
        around, self.scope = self.scope, draft.index
        try:
            return make()
        finally:
            self.scope = around

    def _annotations(self, draft: Draft) -> None:
        node = draft.node
        if draft.kind == NodeKind.VARIABLE and node.type == "variable_declarator":
            return  # the declaration's modifiers were read for flags; annotations on fields decorate nothing
        first = self.child(node)
        if first is None or first.type != "modifiers":
            return
        for child in first.named_children:
            if child.type in _ANNOTATIONS:
                draft.decorators.append(self.expr(child.named_children[0]))

    # -- the file

    def on_package(self, node: Node) -> None:
        for child in node.named_children:
            if child.type in ("identifier", "scoped_identifier"):
                self.package = self.text(child).replace(" ", "")

    def on_import(self, node: Node) -> None:
        names = [child for child in node.children if child.type in ("identifier", "scoped_identifier")]
        if not names:
            return
        path = self.text(names[0])
        kinds = {child.type for child in node.children}
        kind = "static" if "static" in kinds else ""
        line, at = self.line(node.start_byte), node.start_byte
        if "asterisk" in kinds:
            self.imports.append(Import(self.scope, line, at, path, "*", kind=kind))
        else:
            module, _, name = path.rpartition(".")
            self.imports.append(Import(self.scope, line, at, module, name, name, kind=kind))

    # -- local names

    def on_local(self, node: Node) -> None:
        declared = self.type_of(self.field(node, "type"))
        until = self.block_end(node.start_byte)
        for declarator in node.children_by_field_name("declarator"):
            name = self.field(declarator, "name")
            if name is not None:
                value = self.expr(self.field(declarator, "value"))
                self.declare(name, value, self._with_dimensions(declared, declarator), until)

    def on_foreach(self, node: Node) -> None:
        name, over = self.field(node, "name"), self.field(node, "value")
        if name is None or over is None:
            return
        declared = self._with_dimensions(self.type_of(self.field(node, "type")), node)
        value = self.add(over, Op.ELEMENT, base=self.expr(over))
        self.declare(name, value, declared, node.end_byte)

    def on_resource(self, node: Node) -> None:
        name = self.field(node, "name")
        statement = node.parent.parent if node.parent is not None else None
        if name is None or statement is None:
            return
        declared = self.type_of(self.field(node, "type"))
        value = self.add(node, Op.ENTER, base=self.expr(self.field(node, "value")), type=declared)
        self.declare(name, value, declared, statement.end_byte)

    def on_held_resource(self, node: Node) -> None:
        """`try (handle)`: a resource that has a name already."""
        self.add(node, Op.ENTER, base=self.expr(node))

    def on_catch(self, node: Node) -> None:
        for child in node.named_children:
            if child.type == "catch_formal_parameter":
                name = self.field(child, "name")
                caught = next((each for each in child.named_children if each.type == "catch_type"), None)
                if name is not None:
                    self.declare(name, -1, self.type_of(caught), node.end_byte)

    def on_pattern(self, node: Node) -> None:
        name = self.field(node, "name")
        if name is not None:
            until = self.block_end(node.start_byte)
            self.declare(name, self.expr(self.field(node, "left")), self.type_of(self.field(node, "right")), until)

    def on_typed_pattern(self, node: Node) -> None:
        children = [child for child in node.named_children if child.type not in _COMMENTS and child.type != "modifiers"]
        if len(children) == 2 and children[1].type == "identifier":
            self.declare(children[1], -1, self.type_of(children[0]), self.block_end(node.start_byte))

    # -- code

    def on_call(self, node: Node) -> None:
        self.expr(node)

    def on_case(self, node: Node) -> None:
        """`case RED`: a constant of the enum that the switch is about, else a name as any other."""
        whole = node.parent
        while whole is not None and whole.type != "switch_expression":
            whole = whole.parent
        if whole is not None:
            subject = self.expr(self.field(whole, "condition"))
            self.references.append(self.add(node, Op.MEMBER, self.text(node), base=subject, text=CASE))

    def may_be_field(self, name: str) -> bool:
        """`Name` is a class."""
        return not name[:1].isupper() or name.isupper()

    def on_return(self, node: Node) -> None:
        inside = self.by_node.get(node.id)
        if inside is not None:  # a lambda that is returned is no code of its own
            self.scope = self.drafts[inside].parent
        if self.scope >= 0 and node.type not in _COMMENTS:
            self.drafts[self.scope].returns.append(self.expr(node))

    # -- expressions

    def expression(self, node: Node) -> int:
        make = _EXPRESSIONS.get(node.type)
        return make(self, node) if make is not None else self.add(node, Op.UNKNOWN)

    def _arguments(self, node: Node | None) -> tuple[int, ...]:
        if node is None:
            return ()
        return tuple(self.expr(each) for each in node.named_children if each.type not in _COMMENTS)

    def _invocation(self, node: Node) -> int:
        name = self.field(node, "name")
        if name is None:
            return self.add(node, Op.UNKNOWN)
        target = self.field(node, "object")
        explicit: Type | None = None
        if target is None:
            callee = self.name(name)
        else:
            callee = self.add(name, Op.MEMBER, self.text(name), base=self._receiver(node, target))
            given = self.field(node, "type_arguments")
            if given is not None:
                explicit = read_type("_" + self.text(given))
        return self.add(node, Op.CALL, base=callee, args=self._arguments(self.field(node, "arguments")), type=explicit)

    def _receiver(self, node: Node, target: Node) -> int:
        if target.type == "super" or node.named_child_count < 4:
            return self.expr(target)
        if any(child.type == "super" for child in node.children):  # Outer.super.m()
            return self.add(target, Op.SUPER, type=read_type(self.text(target)))
        return self.expr(target)

    def _creation(self, node: Node) -> int:
        made = self.type_of(self.field(node, "type"))
        body = next((child for child in node.named_children if child.type == "class_body"), None)
        outer = node.children[0]
        if body is None and outer.type != "new":  # outer.new Inner()
            args = self._arguments(self.field(node, "arguments"))
            return self.add(node, Op.NEW, INNER, base=self.expr(outer), args=args, type=made)
        return self._creation_of(node, made, body)

    def _creation_of(self, node: Node, made: Type | None, body: Node | None) -> int:
        base = -1
        if body is not None and body.id in self.by_node:
            base = self.add(body, Op.CLASS, base=self.by_node[body.id])
        return self.add(node, Op.NEW, base=base, args=self._arguments(self.field(node, "arguments")), type=made)

    def _constructor_call(self, node: Node) -> int:
        which = self.field(node, "constructor")
        op = Op.SUPER if which is not None and which.type == "super" else Op.THIS
        base = self.add(node, op)
        return self.add(node, Op.CALL, base=base, args=self._arguments(self.field(node, "arguments")))

    def _reference(self, node: Node) -> int:
        children = node.children
        base = children[0]
        last = children[-1]
        name = "new" if last.type == "new" else self.text(last)
        receiver = self.type_name(base) if base.type in _TYPE_NODES else self.expr(base)
        return self.add(node, Op.CALLABLE, name, base=receiver)

    def _member(self, node: Node) -> int:
        target, name = self.field(node, "object"), self.field(node, "field")
        if target is None or name is None:
            return self.add(node, Op.UNKNOWN)
        if name.type == "this":
            return self.add(node, Op.THIS, type=read_type(self.text(target)))
        return self.add(node, Op.MEMBER, self.text(name), base=self.expr(target))

    def _scoped(self, node: Node) -> int:
        scope, name = self.field(node, "scope"), self.field(node, "name")
        if scope is None or name is None:
            return self.add(node, Op.UNKNOWN)
        return self.add(node, Op.MEMBER, self.text(name), base=self.expr(scope))

    def _index(self, node: Node) -> int:
        return self.add(node, Op.INDEX, base=self.expr(self.field(node, "array")))

    def _cast(self, node: Node) -> int:
        return self.add(
            node, Op.CAST, base=self.expr(self.field(node, "value")), type=self.type_of(self.field(node, "type"))
        )

    def _inner(self, node: Node) -> int:
        for child in node.named_children:
            if child.type not in _COMMENTS:
                return self.expr(child)
        return self.add(node, Op.UNKNOWN)

    def _binary(self, node: Node) -> int:
        operator = self.field(node, "operator")
        sign = operator.type if operator is not None else ""
        if sign in COMPARISONS:
            return self.literal(node, "bool", BOOLEAN)
        if sign == "+" and self._concatenates(node):
            return self.literal(node, "str", STRING)
        return self.arithmetic(node, sign, self.field(node, "left"), self.field(node, "right"))

    def _concatenates(self, node: Node) -> bool:
        """Whether a chain of `+` has a string literal among its operands."""
        for _ in range(64):
            right, left = self.field(node, "right"), self.field(node, "left")
            if (right is not None and right.type == "string_literal") or left is None:
                return True
            if left.type != "binary_expression":
                return left.type == "string_literal"
            node = left
        return False

    def _unary(self, node: Node) -> int:
        operator = self.field(node, "operator")
        if operator is not None and operator.type == "!":
            return self.literal(node, "bool", BOOLEAN)
        operand = self.field(node, "operand")
        return self.expr(operand) if operand is not None else self.add(node, Op.UNKNOWN)

    def _switch(self, node: Node) -> int:
        """A switch as a value: one of the expressions after its arrows."""
        body = self.field(node, "body")
        rules = [each.named_children[-1] for each in body.named_children if each.type == "switch_rule"] if body else []
        options = tuple(self._inner(each) for each in rules if each.type == "expression_statement")
        return self.add(node, Op.CHOICE, args=options)

    def _array(self, node: Node) -> int:
        made = self.type_of(self.field(node, "type")) or Type("")
        dimensions = sum(self.text(each).count("[") for each in node.children_by_field_name("dimensions"))
        for _ in range(max(dimensions, 1)):
            made = Type("[]", (made,))
        return self.add(node, Op.SEQUENCE, "array", type=made)

    def _bare_array(self, node: Node) -> int:
        return self.add(node, Op.SEQUENCE, "array")

    def _number(self, node: Node) -> int:
        kind = NUMERIC_LITERALS[node.type]
        text = self.text(node)
        suffix = text[-1]
        if suffix in "lL":
            declared = Type("long")
        elif suffix in "fF" and kind == "double":
            declared = Type("float")
        else:
            declared = Type(kind)
        return self.literal(node, "int" if kind == "int" else "float", declared, text if len(text) < 20 else "")

    def _character(self, node: Node) -> int:
        return self.literal(node, "str", Type("char"))

    def _class_literal(self, node: Node) -> int:
        inner = self.child(node)
        argument = read_type(self.text(inner)) if inner is not None else Type("")
        return self.literal(node, "class", Type("Class", (argument,)))

    def _this(self, node: Node) -> int:
        return self.add(node, Op.THIS)

    def _super(self, node: Node) -> int:
        return self.add(node, Op.SUPER)


_Definer = Callable[[JavaExtractor, Node], Draft | None]
_Maker = Callable[[JavaExtractor, Node], int]

_DEFINERS: dict[str, _Definer] = {
    "def.class": JavaExtractor._class,
    "def.interface": JavaExtractor._interface,
    "def.method": JavaExtractor._method,
    "def.constructor": JavaExtractor._constructor,
    "def.static_initializer": JavaExtractor._static_initializer,
    "def.initializer": JavaExtractor._initializer,
    "def.field": JavaExtractor._field,
    "def.enum_constant": JavaExtractor._enum_constant,
    "def.enum_body": JavaExtractor._enum_body,
    "def.component": JavaExtractor._component,
    "def.anonymous": JavaExtractor._anonymous,
    "def.lambda": JavaExtractor._lambda,
}

_EXPRESSIONS: dict[str, _Maker] = {
    "identifier": JavaExtractor.name,
    "method_invocation": JavaExtractor._invocation,
    "object_creation_expression": JavaExtractor._creation,
    "explicit_constructor_invocation": JavaExtractor._constructor_call,
    "method_reference": JavaExtractor._reference,
    "lambda_expression": JavaExtractor.function_literal,
    "field_access": JavaExtractor._member,
    "scoped_identifier": JavaExtractor._scoped,
    "array_access": JavaExtractor._index,
    "cast_expression": JavaExtractor._cast,
    "ternary_expression": JavaExtractor.either,
    "parenthesized_expression": JavaExtractor._inner,
    "expression_statement": JavaExtractor._inner,
    "update_expression": JavaExtractor._inner,
    "assignment_expression": JavaExtractor.assigned,
    "binary_expression": JavaExtractor._binary,
    "unary_expression": JavaExtractor._unary,
    "instanceof_expression": JavaExtractor.boolean,
    "switch_expression": JavaExtractor._switch,
    "array_creation_expression": JavaExtractor._array,
    "array_initializer": JavaExtractor._bare_array,
    "string_literal": JavaExtractor.string,
    "character_literal": JavaExtractor._character,
    "true": JavaExtractor.boolean,
    "false": JavaExtractor.boolean,
    "null_literal": JavaExtractor.null,
    "class_literal": JavaExtractor._class_literal,
    "this": JavaExtractor._this,
    "super": JavaExtractor._super,
    **dict.fromkeys(NUMERIC_LITERALS, JavaExtractor._number),
}

EXTRACTOR = JavaExtractor
