"""C#: syntax tree to facts. Namespaces, partial classes and extension methods are put together by the resolver.

A file's only namespace is its package; of several, each is a PACKAGE definition named by its full name.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tree_sitter import Node

from ctxsearch.graph.facts import Import, Op, Param, ParamKind, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages.builder import Draft
from ctxsearch.indexer.languages.typed import COMPARISONS, TypedExtractor
from ctxsearch.indexer.languages.typenames import read_type

STATIC_INITIALIZER = "<clinit>"

_COMMENTS = frozenset({"comment"})
_NAMESPACE = re.compile(rb"^[ \t]*namespace\s", re.MULTILINE)
_XML_TAG = re.compile(r"</?[a-zA-Z][^>]*>")
_LEADING_ATTRIBUTES = re.compile(r"^(?:\[(?:[^\[\]]|\[[^\]]*\])*\]\s*)+")
_TEST_ATTRIBUTES = frozenset({"Test", "Fact", "Theory", "TestMethod", "TestCase", "DataTestMethod", "TestCaseSource"})
_TYPE_PARTS = frozenset(
    {"identifier", "qualified_name", "generic_name", "predefined_type", "array_type", "nullable_type", "tuple_type"}
)
_MODIFIER_FLAGS = {
    "public": NodeFlag.EXPORTED,
    "protected": NodeFlag.EXPORTED,
    "private": NodeFlag.PRIVATE,
    "static": NodeFlag.STATIC,
    "const": NodeFlag.STATIC,
    "abstract": NodeFlag.ABSTRACT,
    "async": NodeFlag.ASYNC,
}
_INT = Type("int")
_STRING = Type("string")
_BOOL = Type("bool")


class CSharpExtractor(TypedExtractor):
    """One C# file."""

    language = "csharp"
    separator = "."
    string_type = _STRING
    boolean_type = _BOOL

    def __init__(self, path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> None:
        super().__init__(path, source, flags)
        self._namespaces: list[tuple[int, str]] = []  # end offset and full name of those around
        self._several_namespaces = len(_NAMESPACE.findall(source)) > 1
        self._bindings: list[int] = []  # what `?.` binds, innermost last
        self._wanted: dict[int, Type] = {}  # `new()` node -> the type its place declares
        self._defaults: dict[int, list[Node | None]] = {}  # definition -> default value per parameter

    # -- definitions

    def define(self, node: Node, capture: str) -> Draft | None:
        return _DEFINERS[capture](self, node)

    def _namespace(self, node: Node) -> Draft | None:
        name = self.field(node, "name")
        if name is None:
            return None
        while self._namespaces and self._namespaces[-1][0] <= node.start_byte:
            self._namespaces.pop()
        around = self._namespaces[-1][1] if self._namespaces else ""
        full = ".".join(part for part in (around, self.text(name).replace(" ", "")) if part)
        self._namespaces.append((node.end_byte, full))
        if not self._several_namespaces:
            self.package = full
            return None
        draft = self.draft(NodeKind.PACKAGE, full, node, signature=f"namespace {full}")
        draft.qualified_name = full
        return draft

    def _named(self, kind: NodeKind, node: Node, name: str, name_node: Node, body: Node | None = None) -> Draft:
        draft = self.draft(kind, name, node)
        draft.name_line = self.line(name_node.start_byte)
        self._modifiers(draft, node)
        if self._in_interface():
            draft.flags |= NodeFlag.EXPORTED
        draft.signature = self._signature(node, body or self.field(node, "body"))
        self._document(draft, node)
        return draft

    def _signature(self, node: Node, body: Node | None) -> str:
        return _LEADING_ATTRIBUTES.sub("", self.signature(node, body)).rstrip(";").rstrip()

    def _in_interface(self) -> bool:
        return self.scope >= 0 and self.drafts[self.scope].kind == NodeKind.INTERFACE

    def _document(self, draft: Draft, node: Node) -> None:
        lines: list[str] = []
        previous = node.prev_sibling
        while previous is not None and previous.type == "comment":
            text = self.text(previous)
            if not text.startswith("///"):
                break
            lines.append(_XML_TAG.sub("", text[3:]).strip())
            draft.start, draft.start_line = previous.start_byte, self.line(previous.start_byte)
            previous = previous.prev_sibling
        draft.doc = "\n".join(line for line in reversed(lines) if line)

    def _modifiers(self, draft: Draft, node: Node) -> None:
        for child in node.named_children:
            kind = child.type
            if kind == "modifier":
                draft.flags |= _MODIFIER_FLAGS.get(self.text(child), NodeFlag.NONE)
            elif kind == "attribute_list":
                for attribute in child.named_children:
                    self._attribute_flags(draft, attribute)
            else:
                return

    def _attribute_flags(self, draft: Draft, node: Node) -> None:
        name = self.field(node, "name")
        label = self.text(name).rsplit(".", 1)[-1].removesuffix("Attribute") if name is not None else ""
        if label == "Obsolete":
            draft.flags |= NodeFlag.DEPRECATED
        elif label in _TEST_ATTRIBUTES:
            draft.flags |= NodeFlag.TEST

    def _class(self, node: Node) -> Draft | None:
        return self._type(node, NodeKind.CLASS)

    def _interface(self, node: Node) -> Draft | None:
        return self._type(node, NodeKind.INTERFACE)

    def _type(self, node: Node, kind: NodeKind) -> Draft | None:
        name = self.field(node, "name")
        if name is None:
            return None
        draft = self._named(kind, node, self.text(name), name)
        draft.type_params = self._type_params(node)
        if node.type == "enum_declaration":
            draft.bases.append(Type("System.Enum"))
        for child in node.named_children:
            if child.type == "base_list" and node.type != "enum_declaration":
                draft.bases.extend(self._bases(child))
            elif child.type == "parameter_list":
                draft.params = self._params(draft, child)
        return draft

    def _bases(self, node: Node) -> list[Type]:
        found: list[Type] = []
        for child in node.named_children:
            if child.type == "primary_constructor_base_type":
                inner = self.field(child, "type") or self.child(child)
                found.append(read_type(self.text(inner)) if inner is not None else Type(""))
            elif child.type in _TYPE_PARTS or child.type == "alias_qualified_name":
                found.append(read_type(self.text(child)))
        return found

    def _type_params(self, node: Node) -> list[Param]:
        listed = next((each for each in node.named_children if each.type == "type_parameter_list"), None)
        if listed is None:
            return []
        bounds = self._constraints(node)
        names = [self.field(each, "name") for each in listed.named_children if each.type == "type_parameter"]
        return [Param(self.text(name), bounds.get(self.text(name))) for name in names if name is not None]

    def _constraints(self, node: Node) -> dict[str, Type]:
        found: dict[str, Type] = {}
        for clause in node.named_children:
            if clause.type != "type_parameter_constraints_clause":
                continue
            name = self.child(clause)
            types = [self.field(each, "type") for each in clause.named_children]
            made = tuple(read_type(self.text(each)) for each in types if each is not None)
            if name is not None and made:
                found[self.text(name)] = made[0] if len(made) == 1 else Type("&", made)
        return found

    def _delegate(self, node: Node) -> Draft | None:
        name = self.field(node, "name")
        if name is None:
            return None
        draft = self._named(NodeKind.TYPE_ALIAS, node, self.text(name), name)
        draft.type_params = self._type_params(node)
        parameters = self.field(node, "parameters")
        params = self._params(draft, parameters) if parameters is not None else []
        result = self.type_of(self.field(node, "type")) or Type("void")
        draft.result = Type("->", (result, *(param.type or Type("") for param in params)))
        return draft

    def _callable(self, node: Node, kind: NodeKind, name: str, name_node: Node) -> Draft:
        draft = self._named(kind, node, name, name_node)
        draft.type_params = self._type_params(node)
        parameters = self.field(node, "parameters")
        if parameters is not None:
            draft.params = self._params(draft, parameters)
        draft.result = self.type_of(self.field(node, "returns") or self.field(node, "type"))
        if self.field(node, "body") is None:
            draft.flags |= NodeFlag.ABSTRACT | NodeFlag.DECLARATION
        if draft.params and draft.params[0].kind == ParamKind.RECEIVER:
            draft.flags |= NodeFlag.EXTENSION
            draft.receiver = draft.params[0].type
        return draft

    def _method(self, node: Node) -> Draft | None:
        name = self.field(node, "name")
        return None if name is None else self._callable(node, NodeKind.METHOD, self.text(name), name)

    def _local_function(self, node: Node) -> Draft | None:
        name = self.field(node, "name")
        return None if name is None else self._callable(node, NodeKind.FUNCTION, self.text(name), name)

    def _constructor(self, node: Node) -> Draft | None:
        name = self.field(node, "name")
        if name is None:
            return None
        draft = self._callable(node, NodeKind.CONSTRUCTOR, self.text(name), name)
        draft.flags &= ~NodeFlag.DECLARATION
        if draft.flags & NodeFlag.STATIC:
            draft.kind, draft.name = NodeKind.METHOD, STATIC_INITIALIZER
            draft.qualified_name = f"{draft.qualified_name.rpartition('.')[0]}.{STATIC_INITIALIZER}".lstrip(".")
        return draft

    def _destructor(self, node: Node) -> Draft | None:
        name = self.field(node, "name")
        return None if name is None else self._callable(node, NodeKind.METHOD, f"~{self.text(name)}", name)

    def _operator(self, node: Node) -> Draft | None:
        sign = self.field(node, "operator") or self.field(node, "type")
        return None if sign is None else self._callable(node, NodeKind.METHOD, f"operator {self.text(sign)}", sign)

    def _indexer(self, node: Node) -> Draft | None:
        draft = self._callable(node, NodeKind.METHOD, "this[]", node)
        if self.field(node, "value") is not None:  # this[int i] => ...
            draft.flags &= ~(NodeFlag.ABSTRACT | NodeFlag.DECLARATION)
        return draft

    def _property(self, node: Node) -> Draft | None:
        name = self.field(node, "name")
        if name is None:
            return None
        body = self.field(node, "accessors") or self.field(node, "value")
        draft = self._named(NodeKind.VARIABLE, node, self.text(name), name, body)
        draft.flags |= NodeFlag.PROPERTY
        draft.result = self.type_of(self.field(node, "type"))
        return draft

    def _field(self, node: Node) -> Draft | None:
        name = self.field(node, "name")
        declaration = node.parent
        whole = declaration.parent if declaration is not None else None
        if name is None or declaration is None or whole is None:
            return None
        draft = self.draft(NodeKind.VARIABLE, self.text(name), node, outer=whole)
        draft.name_line = self.line(name.start_byte)
        self._modifiers(draft, whole)
        draft.result = self.type_of(self.field(declaration, "type"))
        draft.signature = self._signature(whole, None)
        self._document(draft, whole)
        return draft

    def _enum_member(self, node: Node) -> Draft | None:
        name = self.field(node, "name")
        if name is None or self.scope < 0:
            return None
        draft = self._named(NodeKind.VARIABLE, node, self.text(name), name)
        draft.flags |= NodeFlag.STATIC | NodeFlag.EXPORTED
        draft.result = Type(self.drafts[self.scope].name)
        return draft

    def _component(self, node: Node) -> Draft | None:
        """A positional record's parameter is a property."""
        name = self.field(node, "name")
        if name is None:
            return None
        draft = self._named(NodeKind.VARIABLE, node, self.text(name), name)
        draft.flags |= NodeFlag.PROPERTY | NodeFlag.EXPORTED
        draft.result = self.type_of(self.field(node, "type"))
        return draft

    def _lambda(self, node: Node) -> Draft | None:
        draft = self.anonymous("lambda", node)
        parameters = self.field(node, "parameters")
        if parameters is None:
            return draft
        if parameters.type == "parameter_list":
            draft.params = self._params(draft, parameters)
        else:
            draft.params = [Param(self.text(parameters))]
        return draft

    def _params(self, draft: Draft, node: Node) -> list[Param]:
        made: list[Param] = []
        defaults: list[Node | None] = []
        for child in node.named_children:
            if child.type == "parameter":
                made.append(self._param(child))
                defaults.append(_after_equals(child))
        name, declared = self.field(node, "name"), self.field(node, "type")
        if name is not None:  # `params T[] rest` stands in the list without a node of its own
            made.append(Param(self.text(name), self.type_of(declared), kind=ParamKind.VARIADIC))
            defaults.append(None)
        if any(each is not None for each in defaults):
            self._defaults[draft.index] = defaults
        return made

    def _param(self, node: Node) -> Param:
        name = self.field(node, "name")
        kind = ParamKind.NORMAL
        for child in node.children:
            if child.type == "modifier" or child.type in ("this", "params"):
                word = self.text(child)
                kind = {"this": ParamKind.RECEIVER, "params": ParamKind.VARIADIC}.get(word, kind)
        return Param(self.text(name) if name is not None else "", self.type_of(self.field(node, "type")), kind=kind)

    # -- second look

    def complete(self, draft: Draft) -> None:
        defaults = self._defaults.get(draft.index, ())
        for place, node in enumerate(defaults):
            if node is not None and place < len(draft.params):
                param = draft.params[place]
                draft.params[place] = Param(param.name, param.type, self.in_scope(draft, node), param.kind)
        if draft.kind == NodeKind.VARIABLE:
            self._complete_variable(draft)
        self._decorators(draft)

    def _complete_variable(self, draft: Draft) -> None:
        node = draft.node
        if node.type == "variable_declarator":
            value = _after_equals(node)
        else:
            value = self.field(node, "value")
        if value is None or value.type == "arrow_expression_clause":
            return
        if draft.result is not None:
            self._wanted[value.id] = draft.result
        draft.value = self.in_scope(draft, value)

    def _decorators(self, draft: Draft) -> None:
        for child in draft.node.named_children:
            if child.type != "attribute_list":
                return
            for attribute in child.named_children:
                name = self.field(attribute, "name")
                if name is not None:
                    draft.decorators.append(self.add(name, Op.NAME, self.text(name)))

    # -- the file

    def on_package(self, node: Node) -> None:
        name = self.field(node, "name")
        if name is not None:
            self.package = self.text(name)

    def on_import(self, node: Node) -> None:
        alias = self.field(node, "name")
        target = None
        for child in node.named_children:
            if alias is None or child.id != alias.id:
                target = child
        if target is None:
            return
        path = read_type(self.text(target)).name
        line, at = self.line(node.start_byte), node.start_byte
        kinds = {child.type for child in node.children}
        everywhere = int("global" in kinds)
        if alias is not None:
            module, _, name = path.rpartition(".")
            self.imports.append(Import(self.scope, line, at, module, name, self.text(alias), everywhere))
        else:
            kind = "static" if "static" in kinds else ""
            self.imports.append(Import(self.scope, line, at, path, "*", level=everywhere, kind=kind))

    # -- local names

    def on_local(self, node: Node) -> None:
        declared = self.type_of(self.field(node, "type"))
        until = self.block_end(node.start_byte)
        for declarator in node.named_children:
            if declarator.type != "variable_declarator":
                continue
            name, value = self.field(declarator, "name"), _after_equals(declarator)
            if value is not None and declared is not None:
                self._wanted[value.id] = declared
            if name is not None:
                self.declare(name, self.expr(value), declared, until)
            else:
                self._declare_tuple(self.child(declarator), self.expr(value), until)

    def _declare_tuple(self, node: Node | None, value: int, until: int) -> None:
        if node is None or node.type != "tuple_pattern":
            return
        for position, name in enumerate(node.children_by_field_name("name")):
            number = self.literal(name, "int", _INT, str(position))
            self.declare(name, self.add(name, Op.INDEX, base=value, args=(number,)), None, until)

    def on_foreach(self, node: Node) -> None:
        name, over = self.field(node, "left"), self.field(node, "right")
        if name is None or over is None:
            return
        value = self.add(over, Op.ELEMENT, base=self.expr(over))
        if name.type == "tuple_pattern":
            self._declare_tuple(name, value, node.end_byte)
        else:
            self.declare(name, value, self.type_of(self.field(node, "type")), node.end_byte)

    def on_catch(self, node: Node) -> None:
        for child in node.named_children:
            if child.type == "catch_declaration":
                name = self.field(child, "name")
                if name is not None:
                    self.declare(name, -1, self.type_of(self.field(child, "type")), node.end_byte)

    def on_pattern(self, node: Node) -> None:
        name = self.field(node, "name")
        if name is not None and name.type == "identifier":
            declared = self.type_of(self.field(node, "type"))
            self.declare(name, self._looked_up(node), declared, self.block_end(node.start_byte))

    def on_range_variable(self, node: Node) -> None:
        """The name that a clause of a query introduces, until the query ends."""
        query, parts = node.parent, node.named_children
        name = self.field(node, "name") or next((each for each in parts if each.type == "identifier"), None)
        following = [each for each in parts if name is not None and each.start_byte >= name.end_byte]
        if name is None or query is None or not following:
            return
        value = self.expr(following[0])
        if node.type != "let_clause":
            value = self.add(following[0], Op.ELEMENT, base=value, text="query")
        self.declare(name, value, self.type_of(self.field(node, "type")), query.end_byte)

    def _looked_up(self, node: Node) -> int:
        """What `map.TryGetValue(key, out var value)` hands out: an item of the map; -1 for anything else."""
        argument = node.parent if node.type == "declaration_expression" else None
        arguments = argument.parent if argument is not None and argument.type == "argument" else None
        call = arguments.parent if arguments is not None else None
        function = self.field(call, "function") if call is not None and call.type == "invocation_expression" else None
        if function is None or function.type != "member_access_expression":
            return -1
        receiver, name = self.field(function, "expression"), self.field(function, "name")
        if receiver is None or name is None or self.text(name) != "TryGetValue":
            return -1
        return self.add(node, Op.INDEX, base=self.expr(receiver))

    def on_assignment(self, node: Node) -> None:
        left, right = self.field(node, "left"), self.field(node, "right")
        if (
            left is not None
            and right is not None
            and right.type in ("lambda_expression", "anonymous_method_expression")
        ):
            self.assign(self.expr(left), self.expr(right), conditional=True)

    # -- code

    def on_call(self, node: Node) -> None:
        self.expr(node)

    def on_target(self, node: Node) -> None:
        """What is assigned to; `new T { Name = 1 }` names a member of T."""
        outer = node.parent.parent if node.parent is not None else None
        if outer is None or outer.type not in ("initializer_expression", "with_initializer", "with_expression"):
            self.on_value(node)

    def bare_name(self, node: Node) -> str:
        return self._simple(node)

    def on_return(self, node: Node) -> None:
        inside = self.by_node.get(node.id)
        if inside is not None:
            self.scope = self.drafts[inside].parent
        if self.scope >= 0 and node.type not in _COMMENTS:
            owner = self.drafts[self.scope]
            if owner.result is not None:
                self._wanted.setdefault(node.id, owner.result)
            owner.returns.append(self.expr(node))

    # -- expressions

    def expression(self, node: Node) -> int:
        make = _EXPRESSIONS.get(node.type)
        return make(self, node) if make is not None else self.add(node, Op.UNKNOWN)

    def _arguments(self, node: Node | None) -> tuple[int, ...]:
        if node is None:
            return ()
        return tuple(self._argument(each) for each in node.named_children if each.type == "argument")

    def _argument(self, node: Node) -> int:
        name = self.field(node, "name")
        value = self.child(node, -1)
        made = self.expr(value) if value is not None else self.add(node, Op.UNKNOWN)
        return made if name is None else self.add(node, Op.KEYWORD, self.text(name), base=made)

    def _invocation(self, node: Node) -> int:
        function = self.field(node, "function")
        if function is None:
            return self.add(node, Op.UNKNOWN)
        base = self.expr(function)
        if self.exprs[base].op == Op.CALL and function.type != "invocation_expression":
            return base  # `a?.B()`: the call is already part of what `?.` binds
        args = self._arguments(self.field(node, "arguments"))
        return self.add(node, Op.CALL, base=base, args=args, type=self._explicit(function))

    def _explicit(self, function: Node) -> Type | None:
        """The type arguments written at a call."""
        name = function if function.type == "generic_name" else self.field(function, "name")
        if name is None or name.type != "generic_name":
            return None
        given = self.child(name, -1)
        return read_type("_" + self.text(given)) if given is not None else None

    def _simple(self, node: Node) -> str:
        """A name without its type arguments."""
        if node.type == "generic_name":
            inner = self.child(node)
            return self.text(inner) if inner is not None else ""
        return self.text(node).lstrip("@")

    def _name(self, node: Node) -> int:
        return self.add(node, Op.NAME, self._simple(node))

    def _generic(self, node: Node) -> int:
        return self.add(node, Op.NAME, self._simple(node), type=read_type(self.text(node)))

    def _member(self, node: Node) -> int:
        target, name = self.field(node, "expression"), self.field(node, "name")
        if target is None or name is None:
            return self.add(node, Op.UNKNOWN)
        return self.add(name, Op.MEMBER, self._simple(name), base=self.expr(target))

    def _alias_qualified(self, node: Node) -> int:
        name = self.field(node, "name")
        return self._name(name) if name is not None else self.add(node, Op.UNKNOWN)

    def _qualified(self, node: Node) -> int:
        qualifier, name = self.field(node, "qualifier"), self.field(node, "name")
        if qualifier is None or name is None:
            return self.add(node, Op.UNKNOWN)
        return self.add(node, Op.MEMBER, self._simple(name), base=self.expr(qualifier))

    def _conditional_access(self, node: Node) -> int:
        condition = self.field(node, "condition")
        rest = self.child(node, -1)
        if condition is None or rest is None or rest.id == condition.id:
            return self.add(node, Op.UNKNOWN)
        self._bindings.append(self.expr(condition))
        try:
            return self.expr(rest)
        finally:
            self._bindings.pop()

    def _binding(self, node: Node) -> int:
        name = self.field(node, "name")
        if name is None or not self._bindings:
            return self.add(node, Op.UNKNOWN)
        return self.add(name, Op.MEMBER, self._simple(name), base=self._bindings[-1])

    def _element_binding(self, node: Node) -> int:
        return self.add(node, Op.INDEX, base=self._bindings[-1] if self._bindings else -1)

    def _creation(self, node: Node) -> int:
        made = self.type_of(self.field(node, "type"))
        if made is not None and made.name == "[]":
            return self.add(node, Op.SEQUENCE, "array", type=made)
        return self.add(node, Op.NEW, args=self._arguments(self.field(node, "arguments")), type=made)

    def _implicit_creation(self, node: Node) -> int:
        arguments = next((each for each in node.named_children if each.type == "argument_list"), None)
        return self.add(node, Op.NEW, args=self._arguments(arguments), type=self._wanted.get(node.id))

    def _array(self, node: Node) -> int:
        return self.add(node, Op.SEQUENCE, "array", type=self.type_of(self.field(node, "type")))

    def _constructor_call(self, node: Node) -> int:
        op = Op.SUPER if any(child.type == "base" for child in node.children) else Op.THIS
        arguments = next((each for each in node.named_children if each.type == "argument_list"), None)
        base = self.add(node, op)
        return self.add(node, Op.CALL, base=base, args=self._arguments(arguments))

    def _index(self, node: Node) -> int:
        subscript = self.field(node, "subscript")
        return self.add(node, Op.INDEX, base=self.expr(self.field(node, "expression")), args=self._arguments(subscript))

    def _cast(self, node: Node) -> int:
        value, made = self.field(node, "value"), self.field(node, "type")
        return self.add(node, Op.CAST, base=self.expr(value), type=self.type_of(made))

    def _switch(self, node: Node) -> int:
        arms = [each for each in node.named_children if each.type == "switch_expression_arm"]
        values = [self.child(each, -1) for each in arms]
        kept = tuple(self.expr(each) for each in values if each is not None and each.type != "throw_expression")
        return self.add(node, Op.CHOICE, args=kept)

    def _binary(self, node: Node) -> int:
        operator = self.field(node, "operator")
        sign = operator.type if operator is not None else ""
        left, right = self.field(node, "left"), self.field(node, "right")
        if sign == "??" and left is not None and right is not None:
            return self.add(node, Op.CHOICE, args=(self.expr(left), self.expr(right)))
        if sign in COMPARISONS:
            return self.literal(node, "bool", _BOOL)
        if sign == "+" and left is not None and left.type == "string_literal":
            return self.literal(node, "str", _STRING)
        return self.arithmetic(node, sign, left, right)

    def _inner(self, node: Node) -> int:
        inner = next((each for each in node.named_children if each.type not in _COMMENTS), None)
        return self.expr(inner) if inner is not None else self.add(node, Op.UNKNOWN)

    def _prefix(self, node: Node) -> int:
        if node.child_count and node.children[0].type == "!":
            return self.literal(node, "bool", _BOOL)
        return self._inner(node)

    def _await(self, node: Node) -> int:
        inner = self.child(node)
        return self.add(node, Op.AWAIT, base=self.expr(inner))

    def _declaration(self, node: Node) -> int:
        return self.add(node, Op.UNKNOWN)

    def _typeof(self, node: Node) -> int:
        inner = self.field(node, "type")
        return self.literal(node, "class", Type("Type", (read_type(self.text(inner)),) if inner is not None else ()))

    def _integer(self, node: Node) -> int:
        text = self.text(node)
        name = "long" if text[-1:] in "lL" else "int"
        return self.literal(node, "int", Type(name), text if len(text) < 20 else "")

    def _real(self, node: Node) -> int:
        suffix = self.text(node)[-1:].lower()
        return self.literal(node, "float", Type({"f": "float", "m": "decimal"}.get(suffix, "double")))

    def _character(self, node: Node) -> int:
        return self.literal(node, "str", Type("char"))

    def _this(self, node: Node) -> int:
        return self.add(node, Op.THIS)

    def _base(self, node: Node) -> int:
        return self.add(node, Op.SUPER)


def _after_equals(node: Node) -> Node | None:
    """The expression after `=`."""
    equals = False
    for child in node.children:
        if equals:
            return child
        equals = child.type == "="
    return None


_Definer = Callable[[CSharpExtractor, Node], Draft | None]
_Maker = Callable[[CSharpExtractor, Node], int]

_DEFINERS: dict[str, _Definer] = {
    "def.class": CSharpExtractor._class,
    "def.interface": CSharpExtractor._interface,
    "def.namespace": CSharpExtractor._namespace,
    "def.delegate": CSharpExtractor._delegate,
    "def.method": CSharpExtractor._method,
    "def.local_function": CSharpExtractor._local_function,
    "def.constructor": CSharpExtractor._constructor,
    "def.destructor": CSharpExtractor._destructor,
    "def.operator": CSharpExtractor._operator,
    "def.indexer": CSharpExtractor._indexer,
    "def.property": CSharpExtractor._property,
    "def.field": CSharpExtractor._field,
    "def.enum_member": CSharpExtractor._enum_member,
    "def.component": CSharpExtractor._component,
    "def.lambda": CSharpExtractor._lambda,
}

_EXPRESSIONS: dict[str, _Maker] = {
    "identifier": CSharpExtractor._name,
    "generic_name": CSharpExtractor._generic,
    "qualified_name": CSharpExtractor._qualified,
    "alias_qualified_name": CSharpExtractor._alias_qualified,
    "invocation_expression": CSharpExtractor._invocation,
    "member_access_expression": CSharpExtractor._member,
    "conditional_access_expression": CSharpExtractor._conditional_access,
    "member_binding_expression": CSharpExtractor._binding,
    "element_binding_expression": CSharpExtractor._element_binding,
    "object_creation_expression": CSharpExtractor._creation,
    "implicit_object_creation_expression": CSharpExtractor._implicit_creation,
    "array_creation_expression": CSharpExtractor._array,
    "implicit_array_creation_expression": CSharpExtractor._array,
    "constructor_initializer": CSharpExtractor._constructor_call,
    "lambda_expression": CSharpExtractor.function_literal,
    "anonymous_method_expression": CSharpExtractor.function_literal,
    "element_access_expression": CSharpExtractor._index,
    "cast_expression": CSharpExtractor._cast,
    "as_expression": CSharpExtractor.cast_to,
    "conditional_expression": CSharpExtractor.either,
    "switch_expression": CSharpExtractor._switch,
    "binary_expression": CSharpExtractor._binary,
    "parenthesized_expression": CSharpExtractor._inner,
    "postfix_unary_expression": CSharpExtractor._inner,
    "checked_expression": CSharpExtractor._inner,
    "ref_expression": CSharpExtractor._inner,
    "prefix_unary_expression": CSharpExtractor._prefix,
    "await_expression": CSharpExtractor._await,
    "assignment_expression": CSharpExtractor.assigned,
    "declaration_expression": CSharpExtractor._declaration,
    "is_pattern_expression": CSharpExtractor.boolean,
    "is_expression": CSharpExtractor.boolean,
    "typeof_expression": CSharpExtractor._typeof,
    "integer_literal": CSharpExtractor._integer,
    "real_literal": CSharpExtractor._real,
    "string_literal": CSharpExtractor.string,
    "verbatim_string_literal": CSharpExtractor.string,
    "raw_string_literal": CSharpExtractor.string,
    "interpolated_string_expression": CSharpExtractor.string,
    "character_literal": CSharpExtractor._character,
    "boolean_literal": CSharpExtractor.boolean,
    "null_literal": CSharpExtractor.null,
    "predefined_type": CSharpExtractor.type_name,
    "this": CSharpExtractor._this,
    "base": CSharpExtractor._base,
}

EXTRACTOR = CSharpExtractor
