"""Go: functions, methods on receivers, structs with embedding, interfaces, typed bindings and call sites."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tree_sitter import Node

from ctxsearch.graph.facts import ONLY, Expr, Import, Op, Param, ParamKind, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages.builder import Draft
from ctxsearch.indexer.languages.go_references import GoReferences

_COMMENTS = frozenset({"comment"})
_TEST_NAME = re.compile(r"(Test|Benchmark|Fuzz|Example)([^a-z]|$)")
_LITERALS = {
    "int_literal": "int",
    "float_literal": "float64",
    "imaginary_literal": "complex128",
    "rune_literal": "rune",
    "true": "bool",
    "false": "bool",
    "interpreted_string_literal": "string",
    "raw_string_literal": "string",
}
_COMPARISONS = frozenset({"==", "!=", "<", ">", "<=", ">=", "&&", "||"})


class GoExtractor(GoReferences):
    """One Go file."""

    language = "go"

    def __init__(self, path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> None:
        if path.endswith("_test.go"):
            flags |= NodeFlag.TEST
        super().__init__(path, source, flags)

    # -- definitions

    def define(self, node: Node, capture: str) -> Draft | None:
        if capture == "def.literal":
            return self.anonymous("func", node)
        names = node.children_by_field_name("name")
        if not names:
            return None
        if capture in ("def.const", "def.var"):
            drafts = [self._variable(node, name) for name in names if self.text(name) != "_"]
            return drafts[0] if drafts else None
        draft = self.draft(self._kind(node, capture), self.text(names[0]), node, outer=_outer(node))
        draft.name_line = self.line(names[0].start_byte)
        draft.flags |= _exported(draft.name)
        draft.doc = self._doc(_outer(node) or node)
        body = node.child_by_field_name("body")
        draft.signature = self.signature(node, body)
        if capture in ("def.function", "def.method", "def.element"):
            if capture == "def.function" and self.flags & NodeFlag.TEST and _TEST_NAME.match(draft.name):
                draft.flags |= NodeFlag.TEST
            if capture == "def.element":
                draft.flags |= NodeFlag.ABSTRACT | NodeFlag.DECLARATION
            receiver = node.child_by_field_name("receiver")
            if receiver is not None and receiver.named_child_count:
                draft.receiver = _unparameterised(self._type(receiver.named_child(0).child_by_field_name("type")))  # type: ignore[union-attr]
                draft.qualified_name = f"{draft.receiver.name}.{draft.name}"
        if "Deprecated:" in draft.doc:
            draft.flags |= NodeFlag.DEPRECATED
        return draft

    def _kind(self, node: Node, capture: str) -> NodeKind:
        if capture == "def.function":
            return NodeKind.FUNCTION
        if capture in ("def.method", "def.element"):
            return NodeKind.METHOD
        if capture == "def.alias":
            return NodeKind.TYPE_ALIAS
        shape = node.child_by_field_name("type")
        return NodeKind.INTERFACE if shape is not None and shape.type == "interface_type" else NodeKind.CLASS

    def _variable(self, node: Node, name: Node) -> Draft:
        draft = self.draft(NodeKind.VARIABLE, self.text(name), node)
        draft.flags |= _exported(draft.name)
        draft.doc = self._doc(node) or self._doc(_outer(node) or node)
        draft.signature = self.signature(node, None)
        return draft

    def complete(self, draft: Draft) -> None:
        node = draft.node
        kind = node.type
        if kind in ("const_spec", "var_spec"):
            self._complete_variable(node)
        elif kind in ("type_spec", "type_alias"):
            self._complete_type(draft, node)
        else:
            self._complete_function(draft, node)

    def _complete_variable(self, node: Node) -> None:
        declared = self._type_or_none(node.child_by_field_name("type"))
        values = _items(node.child_by_field_name("value"))
        names = node.children_by_field_name("name")
        by_name = {draft.name: draft for draft in self.drafts if draft.node.id == node.id}
        for place, name in enumerate(names):
            draft = by_name.get(self.text(name))
            if draft is not None:
                draft.result = declared
                draft.value = self._part(values, place, len(names), node)

    def _complete_type(self, draft: Draft, node: Node) -> None:
        shape = node.child_by_field_name("type")
        draft.type_params = list(self._type_params(node.child_by_field_name("type_parameters")))
        if shape is None:
            return
        if node.type == "type_alias":
            draft.result = self._type(shape)
        elif shape.type == "interface_type":
            for element in shape.named_children:
                if element.type == "type_elem" and element.named_child_count == 1:
                    draft.bases.append(self._type(element.named_child(0)))
        elif shape.type != "struct_type":
            draft.result = self._type(shape)  # what a named slice, map, func or basic type is made of

    def _complete_function(self, draft: Draft, node: Node) -> None:
        outer, self.scope = self.scope, draft.index
        receiver = node.child_by_field_name("receiver")
        if receiver is not None:
            draft.params += list(self._params(receiver, ParamKind.RECEIVER))
        parameters = node.child_by_field_name("parameters")
        if parameters is not None:
            draft.params += list(self._params(parameters, ParamKind.NORMAL))
        draft.type_params = list(self._type_params(node.child_by_field_name("type_parameters")))
        if receiver is not None:
            draft.type_params += self._receiver_params(receiver)
        result = node.child_by_field_name("result")
        if result is not None:
            draft.result = self._result(result, node.child_by_field_name("body"))
        self.scope = outer

    def _result(self, result: Node, body: Node | None) -> Type:
        """A single type, or "()" of several; named results are locals of the function."""
        if result.type != "parameter_list":
            return self._type(result)
        types: list[Type] = []
        for item in result.named_children:
            if item.type != "parameter_declaration":
                continue
            declared = self._type(item.child_by_field_name("type"))
            names = item.children_by_field_name("name")
            types += [declared] * max(len(names), 1)
            if body is not None:
                for name in names:
                    self.assign(self.name(name), -1, type=declared, declares=True)
        return types[0] if len(types) == 1 else Type("()", tuple(types))

    def _params(self, parameters: Node, kind: ParamKind) -> Iterator[Param]:
        for item in parameters.named_children:
            if item.type not in ("parameter_declaration", "variadic_parameter_declaration"):
                continue
            declared = self._type(item.child_by_field_name("type"))
            role = kind
            if item.type == "variadic_parameter_declaration":
                role, declared = ParamKind.VARIADIC, Type("[]", (declared,))
            names = item.children_by_field_name("name")
            if not names:
                yield Param("", declared, kind=role)
            for name in names:
                yield Param(self.text(name), declared, kind=role)

    def _type_params(self, node: Node | None) -> Iterator[Param]:
        if node is None:
            return
        for item in node.named_children:
            bound = item.child_by_field_name("type")
            declared = self._type(bound.named_child(0)) if bound is not None and bound.named_child_count else None
            for name in item.children_by_field_name("name"):
                yield Param(self.text(name), declared)

    def _receiver_params(self, receiver: Node) -> list[Param]:
        """The names that a method gives the type parameters of its receiver's type."""
        item = receiver.named_child(0)
        declared = self._type(item.child_by_field_name("type")) if item is not None else Type("")
        return [Param(arg.name) for arg in declared.args]

    def on_field(self, node: Node) -> None:
        """A struct's field; an embedded type is a base (its members are promoted) and a field of its name."""
        if self.scope < 0 or self.drafts[self.scope].kind is not NodeKind.CLASS:
            return
        owner = self.drafts[self.scope]
        declared = self._type(node.child_by_field_name("type"))
        names = node.children_by_field_name("name")
        if not names:
            owner.bases.append(declared)
            self._field(owner, node, declared.name.rsplit(".", 1)[-1], declared)
        for name in names:
            self._field(owner, node, self.text(name), declared)

    def _field(self, owner: Draft, node: Node, name: str, declared: Type) -> None:
        outer, self.scope = self.scope, owner.index
        draft = self.draft(NodeKind.VARIABLE, name, node, flags=_exported(name))
        draft.signature = self.signature(node, None)
        draft.doc = self._doc(node)
        draft.result = declared
        self.scope = outer

    # -- sites

    def on_package(self, node: Node) -> None:
        child = node.named_child(0)
        if child is not None:
            self.package = self.text(child)
            self.doc = self._doc(node)

    def on_import(self, node: Node) -> None:
        path = node.child_by_field_name("path")
        if path is None:
            return
        module = self.text(path).strip('"`')
        name = node.child_by_field_name("name")
        alias = self.text(name) if name is not None else _default_name(module)
        if alias == ".":
            self.imports.append(Import(-1, self.line(node.start_byte), node.start_byte, module, "*"))
        else:
            alias = "" if alias == "_" else alias
            self.imports.append(Import(-1, self.line(node.start_byte), node.start_byte, module, "", alias))

    def on_call(self, node: Node) -> None:
        self.expr(node)

    def on_literal(self, node: Node) -> None:
        self.expr(node)

    def on_short(self, node: Node) -> None:
        self._bind(node, node.child_by_field_name("left"), node.child_by_field_name("right"), declares=True)

    def on_assignment(self, node: Node) -> None:
        self._bind(node, node.child_by_field_name("left"), node.child_by_field_name("right"), declares=False)

    def on_var(self, node: Node) -> None:
        if node.id in self.by_node:
            return
        declared = self._type_or_none(node.child_by_field_name("type"))
        names = node.children_by_field_name("name")
        values = _items(node.child_by_field_name("value"))
        for place, name in enumerate(names):
            value = self._part(values, place, len(names), node)
            target = self._bound_after(name, node)
            self.assign(target, value, type=declared, declares=True, until=self.block_end(node.start_byte))

    def on_receive(self, node: Node) -> None:
        self._bind(node, node.child_by_field_name("left"), node.child_by_field_name("right"), declares=True)

    def on_range(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        names = _items(left)
        if right is None or not names:
            return
        whole = self.expr(right)
        for place, name in enumerate(names):
            if name.type == "identifier" and self.text(name) != "_":
                is_element = place == 1 or len(names) == 1
                value = self.add(node, Op.ELEMENT, "" if place else ONLY, whole) if is_element else -1
                self.assign(self.name(name), value, declares=True, until=self.block_end(node.start_byte))

    def on_typeswitch(self, node: Node) -> None:
        """switch v := x.(type): in each case with one type, v has that type."""
        names, value = _items(node.child_by_field_name("alias")), node.child_by_field_name("value")
        if not names or value is None:
            return
        whole = self.expr(value)
        for case in node.named_children:
            if case.type not in ("type_case", "default_case"):
                continue
            types = case.children_by_field_name("type")
            declared = self._type(types[0]) if len(types) == 1 else None
            target = self.add(case, Op.NAME, self.text(names[0]))
            self.assign(target, whole, type=declared, declares=True, until=case.end_byte)

    def on_return(self, node: Node) -> None:
        values = _items(node.named_child(0)) if node.named_child_count else []
        if self.scope < 0 or not values:
            return
        exprs = [self.expr(value) for value in values]
        result = exprs[0] if len(exprs) == 1 else self.add(node, Op.SEQUENCE, "tuple", args=tuple(exprs))
        self.drafts[self.scope].returns.append(result)

    def _bind(self, node: Node, left: Node | None, right: Node | None, *, declares: bool) -> None:
        targets, values = _items(left), _items(right)
        for place, target in enumerate(targets):
            if target.type not in ("identifier", "selector_expression") or self.text(target) == "_":
                if len(values) == len(targets):
                    self.note_read(values[place])
                continue
            value = self._part(values, place, len(targets), node)
            if target.type == "identifier":
                self.assign(
                    self._bound_after(target, node) if declares else self.expr(target),
                    value,
                    declares=declares,
                    until=self.block_end(node.start_byte) if declares else -1,
                )
            else:
                self.assign(self.expr(target), value)

    def _bound_after(self, name: Node, statement: Node) -> int:
        """A declared name, known from the end of its statement on: `x := x` reads the x around it."""
        self.exprs.append(Expr(Op.NAME, self.scope, self.line(name.start_byte), statement.end_byte, self.text(name)))
        return len(self.exprs) - 1

    def _part(self, values: list[Node], place: int, count: int, node: Node) -> int:
        """The value for the place-th of `count` names: one each, or a part of a single call's results."""
        if len(values) == count:
            return self.expr(values[place])
        if len(values) != 1:
            return -1
        if values[0].type in ("call_expression", "type_conversion_expression"):
            key = self.add(node, Op.LITERAL, "int", text=str(place))
            return self.add(node, Op.INDEX, "()", base=self.expr(values[0]), args=(key,))
        return self.expr(values[0]) if place == 0 else -1  # v, ok := m[k], x.(T), <-c

    # -- expressions

    def expression(self, node: Node) -> int:
        kind = node.type
        if kind == "identifier":
            found = self.name(node)
            self.names.append(found)
            return found
        if kind == "call_expression":
            return self._call(node)
        if kind == "selector_expression":
            field = node.child_by_field_name("field")
            base = self.expr(node.child_by_field_name("operand"))
            return self.add(node, Op.MEMBER, self.text(field) if field is not None else "", base=base)
        if kind in _LITERALS:
            text = self.text(node)[1:-1] if kind == "interpreted_string_literal" and len(node.children) < 4 else ""
            return self.add(node, Op.LITERAL, _LITERALS[kind], text=text[:80])
        if kind == "unary_expression":
            return self._unary(node)
        if kind == "parenthesized_expression":
            return self.expr(node.named_child(0))
        if kind == "composite_literal":
            return self._composite(node)
        if kind == "func_literal":
            return self.add(node, Op.FUNCTION, base=self.by_node[node.id])
        if kind in ("type_assertion_expression", "type_conversion_expression"):
            base = self.expr(node.child_by_field_name("operand"))
            declared = self._type(node.child_by_field_name("type"))
            if kind == "type_conversion_expression" and _is_named(declared):
                return self.add(node, Op.CALL, base=self._type_expr(node, declared), args=(base,))
            return self.add(node, Op.CAST, base=base, type=declared)
        if kind == "index_expression":
            index = self.expr(node.child_by_field_name("index"))
            return self.add(node, Op.INDEX, base=self.expr(node.child_by_field_name("operand")), args=(index,))
        if kind == "slice_expression":
            return self.expr(node.child_by_field_name("operand"))
        if kind == "binary_expression":
            return self._binary(node)
        if kind == "type_instantiation_expression":
            return self.expr(node.child_by_field_name("type") or node.named_child(0))
        if kind in _TYPE_NODES:
            return self._type_expr(node, self._type(node))
        return self.add(node, Op.UNKNOWN)

    def _call(self, node: Node) -> int:
        function = node.child_by_field_name("function")
        arguments = node.child_by_field_name("arguments")
        items = [item for item in arguments.named_children if item.type != "comment"] if arguments is not None else []
        if function is not None and function.type == "identifier" and self.text(function) in ("new", "make") and items:
            base = self.name(function)
            for item in items[1:]:
                self.note_read(item)
            self.add(node, Op.CALL, base=base)
            return self.add(node, Op.CAST, base=-1, type=self._type(items[0]))
        base = self.expr(function)
        self.called.add(base)
        args: list[int] = []
        for item in items:
            if item.type == "variadic_argument":
                args.append(self.add(item, Op.SPREAD, base=self.expr(item.named_child(0))))
            else:
                args.append(self.expr(item))
        return self.add(node, Op.CALL, base=base, args=tuple(args), type=self._type_arguments(node, function))

    def _type_arguments(self, node: Node, function: Node | None) -> Type | None:
        """`f[A, B](x)`: the types in brackets, as arguments of a type without a name. `f[i](x)` looks the same."""
        written = node.child_by_field_name("type_arguments")
        if written is not None:
            return Type("", tuple(self._type(arg) for arg in written.named_children))
        if function is None or function.type != "index_expression":
            return None
        declared = self._type(function.child_by_field_name("index"))
        return Type("", (declared,)) if declared.name else None

    def _unary(self, node: Node) -> int:
        operand = node.child_by_field_name("operand")
        operator = node.child_by_field_name("operator")
        symbol = self.text(operator) if operator is not None else ""
        if symbol in ("&", "*"):
            return self.expr(operand)
        if symbol == "<-":
            return self.add(node, Op.ELEMENT, base=self.expr(operand))
        self.expr(operand)
        return self.add(node, Op.LITERAL, "bool" if symbol == "!" else "int")

    def _binary(self, node: Node) -> int:
        left = self.expr(node.child_by_field_name("left"))
        self.expr(node.child_by_field_name("right"))
        operator = node.child_by_field_name("operator")
        if operator is not None and self.text(operator) in _COMPARISONS:
            return self.add(node, Op.LITERAL, "bool")
        return left

    def _composite(self, node: Node) -> int:
        """T{...}: an instance of T; the values inside are expressions of their own."""
        declared = self._type(node.child_by_field_name("type"))
        body = node.child_by_field_name("body")
        args = tuple(self._elements(body)) if body is not None else ()
        return self.add(node, Op.CAST, "{}", base=-1, args=args, type=declared)

    def _elements(self, body: Node) -> Iterator[int]:
        for item in body.named_children:
            if item.type == "keyed_element":
                key, value = item.child_by_field_name("key"), item.child_by_field_name("value")
                inner = value.named_child(0) if value is not None else None
                if key is not None and inner is not None and inner.type != "literal_value":
                    yield self.add(item, Op.KEYWORD, self.text(key).strip('"'), base=self.expr(inner))
            elif item.type == "literal_element":
                inner = item.named_child(0)
                if inner is not None and inner.type != "literal_value":
                    yield self.expr(inner)

    # -- types

    def _type_or_none(self, node: Node | None) -> Type | None:
        return self._type(node) if node is not None else None

    def _type(self, node: Node | None) -> Type:
        if node is None:
            return Type("")
        kind = node.type
        if kind in ("type_identifier", "identifier", "package_identifier"):
            return Type(self.text(node))
        if kind in ("qualified_type", "selector_expression"):
            return Type(self.text(node))
        if kind in ("pointer_type", "parenthesized_type", "type_elem", "negated_type", "unary_expression"):
            return self._type(node.named_child(0))
        if kind == "index_expression":  # a type argument that could be a value: New[Box[int]]()
            inner = self._type(node.child_by_field_name("operand"))
            return Type(inner.name, (self._type(node.child_by_field_name("index")),))
        if kind == "generic_type":
            inner = self._type(node.child_by_field_name("type"))
            arguments = node.child_by_field_name("type_arguments")
            args = tuple(self._type(arg) for arg in arguments.named_children) if arguments is not None else ()
            return Type(inner.name, args)
        if kind in ("slice_type", "array_type", "implicit_length_array_type"):
            return Type("[]", (self._type(node.child_by_field_name("element")),))
        if kind == "map_type":
            return Type("{}", (self._type(node.child_by_field_name("value")),))
        if kind == "channel_type":
            return Type("<-", (self._type(node.child_by_field_name("value")),))
        if kind == "function_type":
            result = node.child_by_field_name("result")
            parameters = node.child_by_field_name("parameters")
            params = (
                tuple(param.type or Type("") for param in self._params(parameters, ParamKind.NORMAL))
                if parameters
                else ()
            )
            return Type("->", (self._result(result, None) if result is not None else Type("void"), *params))
        return Type("")

    def _type_expr(self, node: Node, declared: Type) -> int:
        """A type used as a value: conversion T(x), method expression T.M."""
        if not _is_named(declared):
            return self.add(node, Op.UNKNOWN)
        parts = declared.name.split(".")
        found = self.add(node, Op.NAME, parts[0])
        for part in parts[1:]:
            found = self.add(node, Op.MEMBER, part, base=found)
        return found

    def _doc(self, node: Node) -> str:
        return self.comment_before(node, _COMMENTS, _clean)


_TYPE_NODES = frozenset(
    {"type_identifier", "qualified_type", "pointer_type", "generic_type", "slice_type", "map_type", "array_type"}
)


def _is_named(declared: Type) -> bool:
    """A type with a name, unlike []byte or func()."""
    return declared.name[:1].isidentifier()


def _items(node: Node | None) -> list[Node]:
    if node is None:
        return []
    return (
        [item for item in node.named_children if item.type != "comment"] if node.type == "expression_list" else [node]
    )


def _outer(node: Node) -> Node | None:
    """The declaration around a lone spec, so that `type T struct` includes its keyword."""
    parent = node.parent
    if parent is not None and parent.type in ("type_declaration", "const_declaration", "var_declaration"):
        return parent if parent.named_child_count == 1 else None
    return None


def _exported(name: str) -> NodeFlag:
    return NodeFlag.EXPORTED if name[:1].isupper() else NodeFlag.NONE


def _unparameterised(declared: Type) -> Type:
    return Type(declared.name)


def _default_name(module: str) -> str:
    """The package name an import path usually has: its last part, without a version."""
    parts = module.split("/")
    last = parts[-1]
    if re.fullmatch(r"v\d+", last) and len(parts) > 1:
        last = parts[-2]
    return re.sub(r"\.v\d+$", "", last).removeprefix("go-").replace("-", "_")


def _clean(comment: str) -> str:
    if comment.startswith("//"):
        return comment[2:].strip()
    return comment.removeprefix("/*").removesuffix("*/").strip()


EXTRACTOR = GoExtractor
