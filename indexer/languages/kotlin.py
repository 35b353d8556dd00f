"""Kotlin: syntax tree to facts. Names, extensions and scope functions are the resolver's work.

An `object` is a class with the STATIC flag (its name is its only instance); a companion has EXTENSION as well.
A primary constructor is no definition of its own: its parameters are the class's `params`.
"""

from __future__ import annotations

from collections.abc import Callable

from tree_sitter import Node

from ctxsearch.graph.facts import Import, Op, Param, ParamKind, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages.builder import Draft
from ctxsearch.indexer.languages.kotlin_lines import members_on_lines
from ctxsearch.indexer.languages.typed import BOOLEAN, COMPARISONS, STRING, TypedExtractor
from ctxsearch.indexer.languages.typenames import read_type

OBJECT = NodeFlag.STATIC
COMPANION = NodeFlag.STATIC | NodeFlag.EXTENSION
INITIALIZER = "<init>"
COMPONENT = "component"  # the name of an INDEX that takes a value apart by position

_TYPES = frozenset(
    {"user_type", "nullable_type", "function_type", "non_nullable_type", "parenthesized_type", "type_modifiers"}
)
_COMMENTS = frozenset({"line_comment", "block_comment", "multiline_comment"})
_TEST_ANNOTATIONS = frozenset({"Test", "ParameterizedTest", "RepeatedTest", "TestFactory"})
_STATEMENTS = frozenset({"property_declaration", "assignment", "for_statement", "while_statement", "lambda_parameters"})
_OPERATORS = {"+": "plus", "-": "minus", "*": "times", "/": "div", "%": "rem"}  # functions that operators call
_OWN_NAMES = frozenset({"it", "field"})
_CLASS_LIKE = frozenset({NodeKind.CLASS, NodeKind.INTERFACE})


class KotlinExtractor(TypedExtractor):
    """One Kotlin file."""

    language = "kotlin"

    def __init__(self, path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> None:
        super().__init__(path, source, flags)
        self._defaults: list[tuple[Draft, int, Node]] = []  # owner, parameter position, default value

    @staticmethod
    def readable(source: bytes) -> bytes:
        return members_on_lines(source)

    # -- definitions

    def define(self, node: Node, capture: str) -> Draft | None:
        return _DEFINERS[capture](self, node)

    def _named(self, kind: NodeKind, node: Node, name: Node, body: Node | None) -> Draft:
        draft = self.draft(kind, self._identifier(name), node)
        draft.name_line = self.line(name.start_byte)
        draft.flags |= NodeFlag.EXPORTED
        self._modifiers(draft, node)
        draft.signature = self.signature(node, body)
        self.document(draft, node)
        return draft

    def _identifier(self, node: Node) -> str:
        return self.text(node).strip("`")

    def _modifiers(self, draft: Draft, node: Node) -> None:
        first = self.child(node)
        if first is None or first.type != "modifiers":
            return
        for child in first.named_children:
            if child.type == "annotation":
                self._annotation(draft, child)
                continue
            word = self.text(child)
            if word in ("private", "internal"):
                draft.flags &= ~NodeFlag.EXPORTED
            if word == "private":
                draft.flags |= NodeFlag.PRIVATE
            elif word == "abstract":
                draft.flags |= NodeFlag.ABSTRACT
            elif word == "suspend":
                draft.flags |= NodeFlag.ASYNC

    def _annotation(self, draft: Draft, node: Node) -> None:
        name = self.text(node).lstrip("@").split("(")[0].rsplit(".", 1)[-1].strip()
        if name == "Deprecated":
            draft.flags |= NodeFlag.DEPRECATED
        elif name in _TEST_ANNOTATIONS:
            draft.flags |= NodeFlag.TEST

    def _class(self, node: Node) -> Draft | None:
        name = self.field(node, "name")
        if name is None:
            return None
        interface = any(child.type == "interface" for child in node.children)
        body = next((each for each in node.named_children if each.type in ("class_body", "enum_class_body")), None)
        draft = self._named(NodeKind.INTERFACE if interface else NodeKind.CLASS, node, name, body)
        draft.type_params = self._type_params(node)
        self._supertypes(draft, node)
        return draft

    def _supertypes(self, draft: Draft, node: Node) -> None:
        """A supertype with constructor arguments is the superclass; the others are interfaces."""
        listed = next((each for each in node.named_children if each.type == "delegation_specifiers"), None)
        for specifier in listed.named_children if listed is not None else ():
            inner = self.child(specifier)
            if inner is None:
                continue
            if inner.type in ("constructor_invocation", "explicit_delegation"):
                written = self.child(inner)
                if written is not None:
                    kinds = draft.bases if inner.type == "constructor_invocation" else draft.implements
                    kinds.append(read_type(self.text(written)))
            else:
                kinds = draft.bases if draft.kind == NodeKind.INTERFACE else draft.implements
                kinds.append(read_type(self.text(inner)))

    def _type_params(self, node: Node) -> list[Param]:
        declared = next((each for each in node.named_children if each.type == "type_parameters"), None)
        made: list[Param] = []
        for each in declared.named_children if declared is not None else ():
            if each.type == "type_parameter":
                name = next((part for part in each.named_children if part.type == "identifier"), None)
                bound = next((part for part in each.named_children if part.type in _TYPES), None)
                made.append(Param(self.text(name) if name is not None else "", self.type_of(bound)))
        return made

    def _object(self, node: Node) -> Draft | None:
        name = self.field(node, "name")
        if name is None:
            return None
        body = next((each for each in node.named_children if each.type == "class_body"), None)
        draft = self._named(NodeKind.CLASS, node, name, body)
        draft.flags |= OBJECT
        self._supertypes(draft, node)
        return draft

    def _companion(self, node: Node) -> Draft | None:
        name = self.field(node, "name")
        flags = COMPANION | NodeFlag.EXPORTED
        label = self._identifier(name) if name is not None else "Companion"
        draft = self.draft(NodeKind.CLASS, label, node, flags=flags, signature="companion object")
        self._supertypes(draft, node)
        return draft

    def _anonymous(self, node: Node) -> Draft | None:
        draft = self.anonymous_class(node)
        self._supertypes(draft, node)
        return draft

    def _enum_entry(self, node: Node) -> Draft | None:
        name = next((each for each in node.named_children if each.type == "identifier"), None)
        if name is None:
            return None
        draft = self._named(NodeKind.VARIABLE, node, name, None)
        draft.flags |= NodeFlag.STATIC
        draft.result = Type(self.drafts[self.scope].name) if self.scope >= 0 else None
        return draft

    def _enum_body(self, node: Node) -> Draft | None:
        draft = self.anonymous_class(node)
        result = self.drafts[draft.parent].result if draft.parent >= 0 else None
        if result is not None:
            draft.bases.append(result)
        return draft

    def _function(self, node: Node) -> Draft | None:
        name = self.field(node, "name")
        if name is None or not self.text(name):
            return None
        body = next((each for each in node.named_children if each.type == "function_body"), None)
        inside = self.scope >= 0 and self.drafts[self.scope].kind in _CLASS_LIKE
        draft = self._named(NodeKind.METHOD if inside else NodeKind.FUNCTION, node, name, body)
        draft.type_params = self._type_params(node)
        self._heading(draft, node, name.start_byte)
        if draft.receiver is not None:
            draft.flags |= NodeFlag.EXTENSION
        if body is None:
            draft.flags |= NodeFlag.ABSTRACT | NodeFlag.DECLARATION
        return draft

    def _heading(self, draft: Draft, node: Node, name_at: int) -> None:
        """Receiver type before the name, parameters, result type after them."""
        for child in node.named_children:
            kind = child.type
            if kind == "function_value_parameters":
                draft.params = self._params(draft, child)
            elif kind in _TYPES and child.start_byte < name_at:
                draft.receiver = read_type(self.text(child))
            elif kind in _TYPES:
                draft.result = read_type(self.text(child))

    def _params(self, draft: Draft, node: Node) -> list[Param]:
        made: list[Param] = []
        variadic = False
        for child in node.named_children:
            if child.type == "parameter_modifiers":
                variadic = "vararg" in self.text(child)
            elif child.type == "parameter":
                made.append(self._param(child, variadic))
                variadic = False
            elif made and child.type not in _COMMENTS:  # the default value follows its parameter
                self._defaults.append((draft, len(made) - 1, child))
        return made

    def _param(self, node: Node, variadic: bool) -> Param:
        name = next((each for each in node.named_children if each.type == "identifier"), None)
        declared = self.type_of(next((each for each in node.named_children if each.type in _TYPES), None))
        label = self._identifier(name) if name is not None else ""
        if variadic and declared is not None:
            return Param(label, Type("[]", (declared,)), kind=ParamKind.VARIADIC)
        return Param(label, declared)

    def _constructor(self, node: Node) -> Draft | None:
        draft = self.draft(NodeKind.CONSTRUCTOR, "constructor", node, flags=NodeFlag.EXPORTED)
        self._modifiers(draft, node)
        self._heading(draft, node, 0)
        draft.signature = self.signature(node, self.child(node, -1))
        self.document(draft, node)
        return draft

    def _initializer(self, node: Node) -> Draft | None:
        return self.draft(NodeKind.METHOD, INITIALIZER, node, flags=NodeFlag.PRIVATE, signature="init")

    def _class_parameter(self, node: Node) -> Draft | None:
        """A parameter of the primary constructor; with `val` or `var` it is a property too."""
        if self.scope < 0:
            return None
        name = next((each for each in node.named_children if each.type == "identifier"), None)
        if name is None:
            return None
        declared = self.type_of(next((each for each in node.named_children if each.type in _TYPES), None))
        kinds = [child.type for child in node.children]
        variadic = "vararg" in kinds
        kind = ParamKind.VARIADIC if variadic else ParamKind.NORMAL
        if variadic and declared is not None:
            declared = Type("[]", (declared,))
        owner = self.drafts[self.scope]
        value = self._after_equals(node)
        if value is not None:
            self._defaults.append((owner, len(owner.params), value))
        owner.params.append(Param(self._identifier(name), declared, kind=kind))
        if "val" not in kinds and "var" not in kinds:
            return None
        draft = self._named(NodeKind.VARIABLE, node, name, None)
        draft.result = declared
        return draft

    def _property(self, node: Node) -> Draft | None:
        declared = next((each for each in node.named_children if each.type == "variable_declaration"), None)
        name = self.child(declared) if declared is not None else None
        if declared is None or name is None or name.type != "identifier":
            return None
        body = next(
            (each for each in node.named_children if each.type in ("getter", "setter", "property_delegate")), None
        )
        draft = self._named(NodeKind.VARIABLE, node, name, body)
        draft.result = self.type_of(next((each for each in declared.named_children if each.type in _TYPES), None))
        receiver = next((each for each in node.named_children if each.type in _TYPES), None)
        if receiver is not None and receiver.start_byte < declared.start_byte:
            draft.receiver = read_type(self.text(receiver))
            draft.flags |= NodeFlag.EXTENSION
        if body is not None and body.type != "property_delegate":
            draft.flags |= NodeFlag.PROPERTY
        return draft

    def _alias(self, node: Node) -> Draft | None:
        name = self.field(node, "type")
        target = next((each for each in node.named_children if each.type in _TYPES), None)
        if name is None or target is None:
            return None
        draft = self._named(NodeKind.TYPE_ALIAS, node, name, None)
        draft.result = self.type_of(target)
        return draft

    def _lambda(self, node: Node) -> Draft | None:
        draft = self.anonymous("lambda", node)
        listed = next((each for each in node.named_children if each.type == "lambda_parameters"), None)
        for each in listed.named_children if listed is not None else ():
            if each.type == "variable_declaration":
                name = self.child(each)
                declared = self.type_of(next((part for part in each.named_children if part.type in _TYPES), None))
                draft.params.append(Param(self._identifier(name) if name is not None else "", declared))
            elif each.type == "multi_variable_declaration":
                draft.params.append(Param(""))
        return draft

    def _anonymous_function(self, node: Node) -> Draft | None:
        draft = self.anonymous("function", node)
        self._heading(draft, node, node.start_byte)
        return draft

    # -- second look

    def complete(self, draft: Draft) -> None:
        kind = draft.node.type
        if kind == "property_declaration":
            self._complete_property(draft)
        elif kind in ("function_declaration", "anonymous_function"):
            self._complete_function(draft)
        elif kind == "lambda_literal":
            self._complete_lambda(draft)
        elif kind == "enum_entry":
            self._complete_entry(draft)
        self._decorators(draft)

    def _complete_property(self, draft: Draft) -> None:
        for child in draft.node.children:
            if child.type == "property_delegate":
                draft.value = self.in_scope(draft, self.child(child))
            elif child.type == "getter":
                self._body_result(draft, child)
        draft.value = max(draft.value, self.in_scope(draft, self._after_equals(draft.node)))

    def _after_equals(self, node: Node) -> Node | None:
        equals = False
        for child in node.children:
            if equals:
                return child
            equals = child.type == "="
        return None

    def _body_result(self, draft: Draft, node: Node) -> None:
        """An expression body is what the function returns."""
        body = next((each for each in node.named_children if each.type == "function_body"), None)
        inner = self.child(body) if body is not None else None
        if inner is not None and inner.type != "block":
            draft.returns.append(self.in_scope(draft, inner))

    def _complete_function(self, draft: Draft) -> None:
        self._body_result(draft, draft.node)

    def _complete_lambda(self, draft: Draft) -> None:
        """The last expression is the result."""
        self.enter_block(draft.start, draft.end)
        last = self.child(draft.node, -1)
        if last is not None and last.type not in _STATEMENTS and last.type not in _COMMENTS:
            draft.returns.append(self.in_scope(draft, last))

    def _complete_entry(self, draft: Draft) -> None:
        body = next((each for each in draft.node.named_children if each.type == "class_body"), None)
        arguments = next((each for each in draft.node.named_children if each.type == "value_arguments"), None)
        around, self.scope = self.scope, draft.index
        base = -1
        if body is not None and body.id in self.by_node:
            base = self.add(body, Op.CLASS, base=self.by_node[body.id])
        draft.value = self.add(draft.node, Op.NEW, base=base, args=self._arguments(arguments), type=draft.result)
        self.scope = around

    def _decorators(self, draft: Draft) -> None:
        first = self.child(draft.node)
        if first is None or first.type != "modifiers":
            return
        for child in first.named_children:
            if child.type == "annotation":
                name = self.text(child).lstrip("@").split("(")[0].split(":")[-1].strip()
                draft.decorators.append(self.add(child, Op.NAME, name))

    def finish(self) -> None:
        for draft, place, node in self._defaults:
            param = draft.params[place]
            draft.params[place] = Param(param.name, param.type, self.in_scope(draft, node), param.kind)
        super().finish()

    def bare_name(self, node: Node) -> str:
        return self._identifier(node)

    def may_be_field(self, name: str) -> bool:
        """`Name` is a class or an object; `it` and `field` are the language's own."""
        return name not in _OWN_NAMES and (not name[:1].isupper() or name.isupper())

    # -- the file

    def on_package(self, node: Node) -> None:
        name = self.child(node)
        if name is not None:
            self.package = self.text(name)

    def on_import(self, node: Node) -> None:
        names = node.named_children
        if not names:
            return
        path = self.text(names[0]).replace("`", "")
        line, at = self.line(node.start_byte), node.start_byte
        if any(child.type == "*" for child in node.children):
            self.imports.append(Import(self.scope, line, at, path, "*"))
            return
        module, _, name = path.rpartition(".")
        alias = self._identifier(names[1]) if len(names) > 1 and names[1].type == "identifier" else name
        self.imports.append(Import(self.scope, line, at, module, name, alias))

    # -- local names

    def on_local(self, node: Node) -> None:
        until = self.block_end(node.start_byte)
        delegate = next((each for each in node.named_children if each.type == "property_delegate"), None)
        value = self.expr(self.child(delegate) if delegate is not None else self._after_equals(node))
        for child in node.named_children:
            if child.type in ("variable_declaration", "multi_variable_declaration"):
                self._declared_names(child, value, until)

    def _declared_names(self, node: Node, value: int, until: int) -> None:
        if node.type == "multi_variable_declaration":
            for position, each in enumerate(node.named_children):
                number = self.literal(each, "int", Type("Int"), str(position))
                self._declared_names(each, self.add(each, Op.INDEX, COMPONENT, base=value, args=(number,)), until)
            return
        name = self.child(node)
        if name is not None:
            declared = self.type_of(next((each for each in node.named_children if each.type in _TYPES), None))
            self.declare(name, value, declared, until)

    def on_foreach(self, node: Node) -> None:
        parts = [each for each in node.named_children if each.type not in _COMMENTS and each.type != "label"]
        if len(parts) < 2:
            return
        value = self.add(parts[1], Op.ELEMENT, base=self.expr(parts[1]))
        self._declared_names(parts[0], value, node.end_byte)

    def on_catch(self, node: Node) -> None:
        name = next((each for each in node.named_children if each.type == "identifier"), None)
        declared = next((each for each in node.named_children if each.type in _TYPES), None)
        if name is not None:
            self.declare(name, -1, self.type_of(declared), node.end_byte)

    def on_setter(self, node: Node) -> None:
        name = next((each for each in node.named_children if each.type in ("identifier", "parameter")), None)
        if name is not None and name.type == "parameter":
            name = self.child(name)
        if name is not None:
            self.declare(name, -1, None, node.end_byte)

    def on_lambda_parameters(self, node: Node) -> None:
        """A destructured parameter: its parts come from its position."""
        for position, each in enumerate(node.named_children):
            if each.type == "multi_variable_declaration":
                whole = self.add(each, Op.NAME, f"<parameter{position}>")
                self._declared_names(each, whole, self.block_end(node.start_byte))

    def on_when(self, node: Node) -> None:
        subject = self.child(node)
        if subject is None or subject.type != "when_subject":
            return
        name = self.child(subject)
        if name is not None and name.type == "variable_declaration":
            self._declared_names(name, self.expr(self.child(subject, 1)), node.end_byte)
            name = self.child(name)
        if name is None or name.type != "identifier":
            return
        for entry in node.named_children:
            test = self.field(entry, "condition") if entry.type == "when_entry" else None
            if test is not None and test.type == "type_test" and self.text(test).startswith("is"):
                self._narrow(name, self.child(test), test, entry.end_byte)

    def on_if(self, node: Node) -> None:
        """`if (x is T)` narrows x in the branch; `if (x !is T) return` in the rest of the block."""
        condition = self.field(node, "condition")
        branch = None
        for child in node.named_children:
            if condition is not None and child.start_byte >= condition.end_byte:
                branch = child
                break
        if condition is None or branch is None:
            return
        for test in self._conjuncts(condition):
            if test.type != "is_expression":
                continue
            name, written = self.child(test), self.child(test, 1)
            if name is None or written is None or name.type != "identifier":
                continue
            if test.children[1].type == "is":
                self._narrow(name, written, test, branch.end_byte)
            elif self._leaves(branch):
                self._narrow(name, written, node, self.block_end(node.start_byte), after=branch.end_byte)

    def _conjuncts(self, node: Node) -> list[Node]:
        found: list[Node] = []
        waiting = [node]
        while waiting and len(found) < 16:
            each = waiting.pop()
            if each.type == "binary_expression" and each.children[1].type == "&&":
                waiting.extend((each.children[0], each.children[2]))
            elif each.type == "parenthesized_expression" and each.named_child_count:
                waiting.append(each.named_children[0])
            else:
                found.append(each)
        return found

    def _leaves(self, node: Node) -> bool:
        inner = self.child(node, -1) if node.type == "block" and node.named_child_count else node
        return inner is not None and inner.type in ("return_expression", "throw_expression")

    def _narrow(self, name: Node, written: Node | None, at: Node, until: int, after: int = -1) -> None:
        """A smart cast is a new binding of the name with the tested type."""
        target = self.add(at, Op.NAME, self._identifier(name))
        if after >= 0:
            made = self.exprs[target]
            self.exprs[target] = type(made)(made.op, made.scope, made.line, after, made.name)
        self.assign(target, self.expr(name), type=self.type_of(written), declares=True, until=until)

    # -- code

    def on_call(self, node: Node) -> None:
        self.expr(node)

    def on_return(self, node: Node) -> None:
        value = self.child(node, -1)
        if value is None or self.field(node, "label") is not None:
            return
        scope = self.scope
        while scope >= 0 and self.drafts[scope].node.type == "lambda_literal":
            scope = self.drafts[scope].parent  # `return` leaves the named function, not the lambda
        if scope >= 0:
            self.drafts[scope].returns.append(self.expr(value))

    # -- expressions

    def expression(self, node: Node) -> int:
        make = _EXPRESSIONS.get(node.type)
        return make(self, node) if make is not None else self.add(node, Op.UNKNOWN)

    def _name(self, node: Node) -> int:
        text = self._identifier(node)
        if text == "null":
            return self.add(node, Op.LITERAL, "none")
        if text in ("true", "false"):
            return self.literal(node, "bool", BOOLEAN)
        return self.add(node, Op.NAME, text)

    def _call(self, node: Node) -> int:
        callee: Node | None = None
        arguments: Node | None = None
        trailing: Node | None = None
        explicit: Type | None = None
        for child in node.named_children:
            kind = child.type
            if kind == "value_arguments":
                arguments = child
            elif kind == "annotated_lambda":
                trailing = child
            elif kind == "type_arguments":
                explicit = read_type("_" + self.text(child))
            elif callee is None:
                callee = child
        if callee is None:
            return self.add(node, Op.UNKNOWN)
        if callee.type == "call_expression" and arguments is None and trailing is not None:
            return self._call_with_trailing(callee, trailing)
        base = self.expr(self._operand(callee))
        args = self._arguments(arguments)
        if trailing is not None:
            args += (self._trailing(trailing),)
        return self.add(node, Op.CALL, base=base, args=args, type=explicit)

    def _operand(self, node: Node) -> Node:
        """The grammar binds a prefix operator tighter than a call: `!f(x)` is a call of `!f` to it."""
        while node.type == "unary_expression":
            argument = self.field(node, "argument")
            if argument is None:
                break
            node = argument
        return node

    def _call_with_trailing(self, inner: Node, trailing: Node) -> int:
        """`f(x) { ... }` is one call: the lambda joins the arguments."""
        index = self.expr(inner)
        made = self.exprs[index]
        if made.op != Op.CALL:
            return index
        args = (*made.args, self._trailing(trailing))
        self.exprs[index] = type(made)(
            made.op, made.scope, made.line, made.at, made.name, made.base, args, made.text, made.type
        )
        return index

    def _trailing(self, node: Node) -> int:
        inner = self.child(node, -1)
        return self.expr(inner) if inner is not None else self.add(node, Op.UNKNOWN)

    def _arguments(self, node: Node | None) -> tuple[int, ...]:
        if node is None:
            return ()
        return tuple(self._argument(each) for each in node.named_children if each.type == "value_argument")

    def _argument(self, node: Node) -> int:
        children = node.children
        if len(children) >= 3 and children[1].type == "=":
            return self.add(node, Op.KEYWORD, self._identifier(children[0]), base=self.expr(children[2]))
        inner = self.child(node)
        return self.expr(inner) if inner is not None else self.add(node, Op.UNKNOWN)

    def _navigation(self, node: Node) -> int:
        children = node.children
        if len(children) < 3:
            return self.add(node, Op.UNKNOWN)
        base, sign, name = children[0], children[1].type, children[2]
        label = self._identifier(name)
        if sign != "::":
            return self.add(node, Op.MEMBER, label, base=self.expr(self._operand(base)))
        if label == "class":
            return self.literal(node, "class", Type("KClass", (read_type(self.text(base)),)))
        return self.add(node, Op.CALLABLE, label, base=self.expr(base))

    def _reference(self, node: Node) -> int:
        name = self.child(node, -1)
        return self.add(node, Op.CALLABLE, self._identifier(name) if name is not None else "")

    def _infix(self, node: Node) -> int:
        parts = node.named_children
        if len(parts) != 3:
            return self.add(node, Op.UNKNOWN)
        callee = self.add(parts[1], Op.MEMBER, self._identifier(parts[1]), base=self.expr(parts[0]))
        return self.add(node, Op.CALL, base=callee, args=(self.expr(parts[2]),))

    def _delegation(self, node: Node) -> int:
        op = Op.SUPER if node.children[0].type == "super" else Op.THIS
        arguments = next((each for each in node.named_children if each.type == "value_arguments"), None)
        base = self.add(node, op)
        return self.add(node, Op.CALL, base=base, args=self._arguments(arguments))

    def _index(self, node: Node) -> int:
        parts = node.named_children
        args = tuple(self.expr(each) for each in parts[1:])
        return self.add(node, Op.INDEX, base=self.expr(parts[0]) if parts else -1, args=args)

    def _inner(self, node: Node) -> int:
        inner = self.child(node)
        return self.expr(inner) if inner is not None else self.add(node, Op.UNKNOWN)

    def _binary(self, node: Node) -> int:
        sign = node.children[1].type if node.child_count > 2 else ""
        if sign == "?:":
            return self.add(node, Op.CHOICE, args=(self.expr(node.children[0]), self.expr(node.children[2])))
        if sign in COMPARISONS:
            return self._construction_with_type_arguments(node, sign)
        if sign == "+" and node.children[0].type == "string_literal":
            return self.literal(node, "str", STRING)
        operator = _OPERATORS.get(sign)
        if operator is None:
            return self.add(node, Op.UNKNOWN)
        left, right = self.expr(node.children[0]), self.expr(node.children[2])
        return self.add(node, Op.UNKNOWN, operator, base=left, args=(right,))

    def _construction_with_type_arguments(self, node: Node, sign: str) -> int:
        """The grammar reads `Foo<Int>(1)` as two comparisons."""
        left, right = node.children[0], node.children[2]
        if sign == ">" and left.type == "binary_expression" and right.type == "parenthesized_expression":
            name = left.children[0]
            if left.children[1].type == "<" and name.type == "identifier" and self.text(name)[:1].isupper():
                return self.add(node, Op.CALL, base=self.expr(name), args=tuple(map(self.expr, right.named_children)))
        return self.literal(node, "bool", BOOLEAN)

    def _unary(self, node: Node) -> int:
        operator = self.field(node, "operator")
        if operator is not None and operator.type == "!":
            return self.literal(node, "bool", BOOLEAN)
        argument = self.field(node, "argument")
        return self.expr(argument) if argument is not None else self._inner(node)

    def _if(self, node: Node) -> int:
        condition = self.field(node, "condition")
        end = condition.end_byte if condition is not None else node.start_byte
        return self._choice(node, [each for each in node.named_children if each.start_byte >= end])

    def _when(self, node: Node) -> int:
        entries = [each for each in node.named_children if each.type == "when_entry"]
        return self._choice(node, [each.named_children[-1] for each in entries if each.named_child_count])

    def _try(self, node: Node) -> int:
        return self._choice(node, [each for each in node.named_children if each.type == "block"][:1])

    def _choice(self, node: Node, branches: list[Node]) -> int:
        results = (self._branch_result(each) for each in branches if each.type not in _COMMENTS)
        return self.add(node, Op.CHOICE, args=tuple(each for each in results if each >= 0))

    def _branch_result(self, node: Node) -> int:
        """The last expression of a branch; -1 when it has none or leaves."""
        if node.type == "block":
            last = self.child(node, -1)
            if last is None:
                return -1
            node = last
        if node.type in _STATEMENTS or node.type in _COMMENTS or node.type in ("return_expression", "throw_expression"):
            return -1
        return self.expr(node)

    def _number(self, node: Node) -> int:
        text = self.text(node)
        name = "Long" if text.endswith("L") else "Int"
        return self.literal(node, "int", Type(name), text if len(text) < 20 else "")

    def _real(self, node: Node) -> int:
        return self.literal(node, "float", Type("Float" if self.text(node)[-1:] in "fF" else "Double"))

    def _character(self, node: Node) -> int:
        return self.literal(node, "str", Type("Char"))

    def _this(self, node: Node) -> int:
        label = self.child(node)
        return self.add(node, Op.THIS, type=Type(self._identifier(label)) if label is not None else None)

    def _super(self, node: Node) -> int:
        label = self.child(node)
        return self.add(node, Op.SUPER, type=self.type_of(label))

    def _object_literal(self, node: Node) -> int:
        index = self.by_node.get(node.id)
        if index is None:
            return self.add(node, Op.UNKNOWN)
        bases = [*self.drafts[index].bases, *self.drafts[index].implements]
        made = self.add(node, Op.CLASS, base=index)
        return self.add(node, Op.NEW, base=made, type=bases[0] if bases else None)


_Definer = Callable[[KotlinExtractor, Node], Draft | None]
_Maker = Callable[[KotlinExtractor, Node], int]

_DEFINERS: dict[str, _Definer] = {
    "def.class": KotlinExtractor._class,
    "def.object": KotlinExtractor._object,
    "def.companion": KotlinExtractor._companion,
    "def.anonymous": KotlinExtractor._anonymous,
    "def.enum_entry": KotlinExtractor._enum_entry,
    "def.enum_body": KotlinExtractor._enum_body,
    "def.function": KotlinExtractor._function,
    "def.constructor": KotlinExtractor._constructor,
    "def.initializer": KotlinExtractor._initializer,
    "def.class_parameter": KotlinExtractor._class_parameter,
    "def.property": KotlinExtractor._property,
    "def.alias": KotlinExtractor._alias,
    "def.lambda": KotlinExtractor._lambda,
    "def.anonymous_function": KotlinExtractor._anonymous_function,
}

_EXPRESSIONS: dict[str, _Maker] = {
    "identifier": KotlinExtractor._name,
    "call_expression": KotlinExtractor._call,
    "navigation_expression": KotlinExtractor._navigation,
    "callable_reference": KotlinExtractor._reference,
    "infix_expression": KotlinExtractor._infix,
    "constructor_delegation_call": KotlinExtractor._delegation,
    "index_expression": KotlinExtractor._index,
    "as_expression": KotlinExtractor.cast_to,
    "parenthesized_expression": KotlinExtractor._inner,
    "annotated_expression": KotlinExtractor._inner,
    "spread_expression": KotlinExtractor._inner,
    "binary_expression": KotlinExtractor._binary,
    "unary_expression": KotlinExtractor._unary,
    "if_expression": KotlinExtractor._if,
    "when_expression": KotlinExtractor._when,
    "try_expression": KotlinExtractor._try,
    "number_literal": KotlinExtractor._number,
    "float_literal": KotlinExtractor._real,
    "string_literal": KotlinExtractor.string,
    "multiline_string_literal": KotlinExtractor.string,
    "character_literal": KotlinExtractor._character,
    "is_expression": KotlinExtractor.boolean,
    "in_expression": KotlinExtractor.boolean,
    "this_expression": KotlinExtractor._this,
    "super_expression": KotlinExtractor._super,
    "lambda_literal": KotlinExtractor.function_literal,
    "anonymous_function": KotlinExtractor.function_literal,
    "object_literal": KotlinExtractor._object_literal,
}

EXTRACTOR = KotlinExtractor
