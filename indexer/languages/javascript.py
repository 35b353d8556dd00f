"""JavaScript, TypeScript and TSX to facts: one extractor for the three grammars, which share most node names.

Names of functions without one: a function literal takes the name that it is bound to (variable, property, field,
`exports.x`); only the rest are anonymous. Methods and object members are never visible by their bare name, and a
definition that is the value of a FUNCTION or CLASS expression is bound by the assignment around it, not by its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import msgspec
from tree_sitter import Node

from ctxsearch.graph.facts import MODULE_SCOPE, Assign, Export, Expr, Import, Op, Param, ParamKind, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages.builder import Draft
from ctxsearch.indexer.languages.ecmadoc import documented_types
from ctxsearch.indexer.languages.ecmaexprs import (
    FUNCTION_NODES,
    LOGICAL_ASSIGNMENTS,
    MAX_ITEMS,
    VALUE_WRAPPERS,
    Expressions,
    first,
)

_TEST_PATH = re.compile(
    r"(^|/)(__tests__|__mocks__|tests?|specs?|e2e)/|[._-](test|spec|e2e|cy)\.[cm]?[jt]sx?$|test-d\.ts$"
)
_COMMENT_MARKS = re.compile(r"^\s*(?:/\*\*?|\*/|\*(?!/)|///?)\s?|\s*\*/\s*$", re.MULTILINE)
_FLAG_WORDS = {
    b"static": NodeFlag.STATIC,
    b"async": NodeFlag.ASYNC,
    b"*": NodeFlag.GENERATOR,
    b"get": NodeFlag.PROPERTY,
    b"set": NodeFlag.PROPERTY,
    b"abstract": NodeFlag.ABSTRACT,
    b"private": NodeFlag.PRIVATE,
}
_FUNCTION_KINDS = frozenset({NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.CONSTRUCTOR})
_PASSED = frozenset({NodeKind.FUNCTION, NodeKind.CLASS})
_DECORATED = frozenset({NodeKind.CLASS, NodeKind.METHOD, NodeKind.VARIABLE, NodeKind.CONSTRUCTOR})
_LITERALS = FUNCTION_NODES | {"class", "object"}  # what takes the name that it is bound to
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
_SIGNATURES = frozenset({"function_signature", "method_signature", "abstract_method_signature"})
# Callers that run a function some other time: what they give back is not the function.
_NOT_WRAPPERS = frozenset(
    {"setTimeout", "setInterval", "setImmediate", "requestAnimationFrame", "queueMicrotask", "describe", "it", "test"}
)
INSTANCE = "instanceof"  # the text of a CAST to an instance of the class that its base is
MAX_CLIMB = 12  # operators around a test
TYPE = "type"  # the text of a reference that names a type


class _Bound(NamedTuple):
    """The name that a function, class or object literal is bound to."""

    name: str
    kind: NodeKind = NodeKind.FUNCTION
    qualified: str = ""  # when it is not the enclosing definition's name and `name`
    flags: NodeFlag = NodeFlag.NONE
    receiver: Type | None = None


class _Object(NamedTuple):
    """An object literal that the first sweep is inside of."""

    start: int
    end: int
    prefix: str  # qualified name of its members' owner; "" = that of the enclosing definition
    parent: int  # the variable that holds it, or -1


class JavaScript(Expressions):
    """Reads one file."""

    language = "javascript"

    def __init__(self, path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> None:
        if _TEST_PATH.search(path):
            flags |= NodeFlag.TEST
        super().__init__(path, source, flags)
        self.language = _language_of(path)
        self.arrows: set[int] = set()
        self._bound: dict[int, _Bound] = {}  # id of a literal's node -> its name
        self._wrapped: set[int] = set()  # ids of calls whose function argument takes the variable's name
        self._holders: dict[int, int] = {}  # id of an object's node -> definition of the variable that holds it
        self._objects: list[_Object] = []
        self._names: set[int] = set()  # ids of nodes that introduce a name: not references
        self._exported: dict[int, Node] = {}  # id of a declaration -> its export statement
        self._blocks: list[tuple[int, int, int]] = []  # (end, end of visibility or -1, start)
        self._branches: list[tuple[int, int]] = []  # (end, scope)
        self._decorators: list[int] = []
        self._passed: list[int] = []  # names that are arguments of calls
        self._documented: dict[str, Type] = {}  # types that the comment of the definition at hand says
        self._comment: list[str] = []
        self._comment_end = -1  # last line of the pending comment
        self._comment_first = False  # it opens the file

    # -- first sweep: definitions

    def define(self, node: Node, capture: str) -> Draft | None:
        return getattr(self, "_define_" + capture[4:])(node)  # type: ignore[no-any-return]

    def _define_function(self, node: Node) -> Draft | None:
        name = node.child_by_field_name("name")
        if name is None:
            return None
        flags = self._modifiers(node, name)
        if node.type in _SIGNATURES:
            flags |= NodeFlag.DECLARATION
        return self.draft(NodeKind.FUNCTION, self._introduce(name), node, flags=flags)

    def _define_lambda(self, node: Node) -> Draft | None:
        own = node.child_by_field_name("name")
        bound = self._bound.get(node.id)
        flags = NodeFlag.ASYNC if self.source.startswith(b"async", node.start_byte) else NodeFlag.NONE
        if node.type == "generator_function":
            flags |= NodeFlag.GENERATOR
        if bound is None and own is not None:
            bound = _Bound(self._introduce(own))
        if bound is None:
            draft = self.anonymous("arrow" if node.type == "arrow_function" else "lambda", node, flags=flags)
        else:
            draft = self._draft_bound(bound, node, flags)
        if node.type == "arrow_function":
            self.arrows.add(draft.index)
        return draft

    def _draft_bound(self, bound: _Bound, node: Node, flags: NodeFlag) -> Draft:
        draft = self.draft(bound.kind, bound.name, node, flags=flags | bound.flags, receiver=bound.receiver)
        if bound.qualified:
            draft.qualified_name = bound.qualified
        elif bound.kind is NodeKind.METHOD:
            self._own_by_object(draft, node)
        return draft

    def _own_by_object(self, draft: Draft, node: Node) -> None:
        """Give a member of an object literal the object's name and, where it is a definition, the object as parent."""
        around = self._object_around(node)
        if around is None:
            return
        if around.prefix:
            draft.qualified_name = f"{around.prefix}.{draft.name}"
        if around.parent >= 0:
            draft.parent = around.parent

    def _object_around(self, node: Node) -> _Object | None:
        """The object literal that `node` is directly in: inside the innermost definition."""
        start = node.start_byte
        while self._objects and self._objects[-1].end <= start:
            self._objects.pop()
        if not self._objects:
            return None
        top = self._objects[-1]
        inside = self.scope == MODULE_SCOPE or self.drafts[self.scope].node.start_byte <= top.start
        return top if inside else None

    def _define_class(self, node: Node) -> Draft | None:
        name = node.child_by_field_name("name")
        bound = self._bound.get(node.id)
        flags = NodeFlag.ABSTRACT if node.type == "abstract_class_declaration" else NodeFlag.NONE
        if name is not None and bound is None:
            return self.draft(NodeKind.CLASS, self._introduce(name), node, flags=flags)
        if name is not None:
            self._names.add(name.id)
        if bound is not None:
            return self._draft_bound(bound._replace(kind=NodeKind.CLASS), node, flags)
        draft = self.anonymous("class", node)
        draft.kind = NodeKind.CLASS
        return draft

    def _define_method(self, node: Node) -> Draft | None:
        name = node.child_by_field_name("name")
        if name is None:
            return None
        flags = self._modifiers(node, name)
        if node.type in _SIGNATURES:
            flags |= NodeFlag.DECLARATION
        key = self.key(name)
        if key.startswith("#"):
            flags |= NodeFlag.PRIVATE
        in_object = self._object_around(node) is not None
        constructor = key == "constructor" and not in_object and not flags & NodeFlag.STATIC
        draft = self.draft(NodeKind.CONSTRUCTOR if constructor else NodeKind.METHOD, key, node, flags=flags)
        if in_object:
            self._own_by_object(draft, node)
        return draft

    def _define_signature(self, node: Node) -> Draft | None:
        """What calling an object of an interface means; no symbol of its own."""
        return self.draft(NodeKind.METHOD, "<call>", node, flags=NodeFlag.ANONYMOUS | NodeFlag.DECLARATION)

    def _define_field(self, node: Node) -> Draft | None:
        name = node.child_by_field_name("name") or node.child_by_field_name("property")
        if name is None or self.scope == MODULE_SCOPE:
            return None
        flags = self._modifiers(node, name)
        key = self.key(name)
        if key.startswith("#"):
            flags |= NodeFlag.PRIVATE
        value = _unwrap(node.child_by_field_name("value"))
        if value is not None and value.type in FUNCTION_NODES:
            self._bound[value.id] = _Bound(
                key, NodeKind.METHOD, f"{self.drafts[self.scope].qualified_name}.{key}", flags
            )
            return None
        if value is not None and value.type == "class":
            self._bound[value.id] = _Bound(key, NodeKind.CLASS, flags=flags)
            return None
        return self.draft(NodeKind.VARIABLE, key, node, flags=flags)

    def _define_variable(self, node: Node) -> Draft | None:
        name, value = node.child_by_field_name("name"), _unwrap(node.child_by_field_name("value"))
        if name is None:
            return None
        self._names.add(name.id)
        self._define_binding(node)
        if value is not None and (value.id in self._wrapped or (value.id in self._bound and value.type != "object")):
            return None  # the function or class literal is the definition
        draft = self.draft(NodeKind.VARIABLE, self.text(name), node)
        if value is not None and value.type == "object":
            self._holders[value.id] = draft.index
        return draft

    def _define_member(self, node: Node) -> Draft | None:
        name = node.child_by_field_name("name") or node
        return self.draft(NodeKind.VARIABLE, self.key(name), node, flags=NodeFlag.STATIC)

    def _define_interface(self, node: Node) -> Draft | None:
        return self._define_type(node, NodeKind.INTERFACE)

    def _define_enum(self, node: Node) -> Draft | None:
        return self._define_type(node, NodeKind.CLASS)

    def _define_alias(self, node: Node) -> Draft | None:
        return self._define_type(node, NodeKind.TYPE_ALIAS)

    def _define_namespace(self, node: Node) -> Draft | None:
        """`namespace A.B {}` is B inside A."""
        name = node.child_by_field_name("name")
        if name is None:
            return None
        *around, last = (
            self._introduce(name).split(".") if name.type == "nested_identifier" else [self._introduce(name)]
        )
        for part in around:
            self.scope = self.draft(NodeKind.PACKAGE, part, node).index
        return self.draft(NodeKind.PACKAGE, last, node)

    def _define_type(self, node: Node, kind: NodeKind) -> Draft | None:
        name = node.child_by_field_name("name")
        return None if name is None else self.draft(kind, self._introduce(name), node)

    def _define_object(self, node: Node) -> None:
        if self._objects and self._objects[-1].start == node.start_byte:
            return  # the pattern matched more than one of its members
        bound = self._bound.get(node.id)
        holder = self._holders.get(node.id, -1)
        prefix = ""
        if bound is not None:
            prefix = bound.qualified or self._qualify(bound.name)
            if bound.kind is NodeKind.METHOD and not bound.qualified:
                outer = self._object_around(node)
                if outer is not None and outer.prefix:
                    prefix = f"{outer.prefix}.{bound.name}"
        self._object_around(node)  # drops objects that ended
        self._objects.append(_Object(node.start_byte, node.end_byte, prefix, holder))

    def _define_export(self, node: Node) -> None:
        value = _unwrap(node.child_by_field_name("value"))
        if value is not None and value.type in _LITERALS:
            own = value.child_by_field_name("name") if value.type != "object" else None
            if own is None:
                self._bound.setdefault(value.id, _Bound("default"))

    def _define_binding(self, node: Node) -> None:
        kind = node.type
        if kind == "variable_declarator":
            name, value = node.child_by_field_name("name"), _unwrap(node.child_by_field_name("value"))
            if name is not None and value is not None and name.type == "identifier":
                self._bind_variable(name, value)
        elif kind == "pair":
            name, value = node.child_by_field_name("key"), _unwrap(node.child_by_field_name("value"))
            if name is not None and value is not None:
                self._bound[value.id] = _Bound(self.key(name), NodeKind.METHOD)
        else:
            target, value = node.child_by_field_name("left"), _unwrap(node.child_by_field_name("right"))
            if target is not None and value is not None:
                bound = self._assigned_name(target)
                if bound is not None:
                    self._bound[value.id] = bound

    def _bind_variable(self, name: Node, value: Node) -> None:
        if value.type in _LITERALS:
            self._bound[value.id] = _Bound(self.text(name))
        if value.type != "call_expression" or self.scope != MODULE_SCOPE:
            return
        callee, arguments = value.child_by_field_name("function"), value.child_by_field_name("arguments")
        if callee is None or arguments is None or not self._may_wrap(callee):
            return
        literals = [child for child in arguments.named_children if child.type in FUNCTION_NODES]
        if len(literals) == 1 and literals[0].child_by_field_name("name") is None:
            self._bound[literals[0].id] = _Bound(self.text(name))
            self._wrapped.add(value.id)

    def _may_wrap(self, callee: Node) -> bool:
        """`const f = memo(() => ...)`: f is the function, wrapped; `xs.map(() => ...)` is not."""
        if callee.type == "identifier":
            return self.text(callee) not in _NOT_WRAPPERS
        if callee.type == "member_expression":
            base = callee.child_by_field_name("object")
            return base is not None and base.type == "identifier" and self.text(base)[:1].isupper()
        return callee.type == "call_expression"

    def _assigned_name(self, target: Node) -> _Bound | None:
        """How `target = function ...` names its function."""
        if target.type == "identifier":
            return _Bound(self.text(target))
        if target.type != "member_expression" or target.end_byte - target.start_byte > 200:
            return None
        parts = self.text(target).replace(" ", "").split(".")
        name = parts[-1]
        if not all(part.isidentifier() or part[:1] in "#$" for part in parts):
            return None
        if parts == ["module", "exports"]:
            return _Bound("exports")
        if parts[0] == "exports" or parts[:2] == ["module", "exports"]:
            return _Bound(name)
        if parts[0] == "this":
            return _Bound(name, NodeKind.METHOD, self._qualify_this(name)) if len(parts) == 2 else None
        if name == "prototype":
            return _Bound(parts[-2], NodeKind.METHOD, self._qualify(".".join(parts[:-1])))
        if len(parts) > 2 and parts[-2] == "prototype":
            owner = ".".join(parts[:-2])
            return _Bound(name, NodeKind.METHOD, self._qualify(f"{owner}.{name}"), receiver=Type(owner))
        return _Bound(name, NodeKind.METHOD, self._qualify(".".join(parts)), NodeFlag.STATIC)

    def _qualify_this(self, name: str) -> str:
        """`this.name` belongs to the class around, or to the constructor function itself."""
        owner = self.this_scope()
        if owner != MODULE_SCOPE and self.drafts[owner].kind in {NodeKind.METHOD, NodeKind.CONSTRUCTOR}:
            owner = self.drafts[owner].parent
        return name if owner == MODULE_SCOPE else f"{self.drafts[owner].qualified_name}.{name}"

    def _qualify(self, name: str) -> str:
        return name if self.scope == MODULE_SCOPE else f"{self.drafts[self.scope].qualified_name}.{name}"

    def _introduce(self, name: Node) -> str:
        self._names.add(name.id)
        return self.string(name) if name.type == "string" else self.text(name)

    def _modifiers(self, node: Node, until: Node | None) -> NodeFlag:
        """The flags that the words before the name say."""
        start = node.start_byte
        head = self.source[start : node.end_byte if until is None else until.start_byte]
        if head.startswith(b"@"):  # the decorators may say anything
            inner = [child for child in node.children if child.type != "decorator"]
            head = head[inner[0].start_byte - start :] if inner else b""
        flags = NodeFlag.NONE
        for word in head.replace(b"*", b" * ").split():
            flags |= _FLAG_WORDS.get(word, NodeFlag.NONE)
        return flags

    # -- second sweep: what a definition says

    def complete(self, draft: Draft) -> None:
        node = draft.node
        self._widen(draft)
        self._document(draft)
        if draft.kind in _DECORATED:
            self._take_decorators(draft)
        body = node.child_by_field_name("body")
        draft.signature = self._signature(draft, body)
        kind = draft.kind
        if kind in _FUNCTION_KINDS:
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

    def _doc_types(self) -> dict[str, Type]:
        """What the pending comment says about types; TypeScript says it in the code."""
        if self.language != "javascript" or "{" not in self._comment[0]:
            return {}
        return documented_types("\n".join(self._comment))

    def _doc_type(self, line: int) -> Type | None:
        """The `@type` of the comment that stands directly before a line."""
        if self._comment and line - 1 <= self._comment_end <= line:
            return self._doc_types().get("@type")
        return None

    def _document(self, draft: Draft) -> None:
        self._documented = {}
        if self._comment and draft.start_line - 1 <= self._comment_end <= draft.start_line:
            draft.doc = _clean(self._comment)
            self._documented = self._doc_types()
            self._comment = []
            if "@deprecated" in draft.doc:
                draft.flags |= NodeFlag.DEPRECATED

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

    # -- second sweep: sites

    def on_call(self, node: Node) -> None:
        call = self.exprs[self.expr(node)]
        if not call.args:
            return
        self._passed.extend(arg for arg in call.args if self.exprs[arg].op is Op.NAME)
        if call.op is Op.CALL and self.exprs[call.base].op is Op.NAME:
            callee, argument = self.exprs[call.base].name, self.exprs[call.args[0]]
            if callee in {"require", "import"} and argument.op is Op.LITERAL and argument.text:
                kind = "require" if callee == "require" else "dynamic"
                self.imports.append(Import(self.scope, call.line, call.at, argument.text, kind=kind))

    def on_jsx(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is None or (name.type == "identifier" and self.text(name)[:1].islower()):
            return  # an element of the document, or a fragment
        if name.type not in {"identifier", "member_expression"}:
            return
        entries = []
        for child in node.children_by_field_name("attribute")[:MAX_ITEMS]:
            if child.type == "jsx_attribute":
                parts = child.named_children
                if len(parts) == 2:
                    entries.append(self.add(child, Op.KEYWORD, self.text(parts[0]), self.expr(parts[1])))
            elif child.type == "jsx_expression":
                entries.append(self.expr(child))
        properties = self.add(node, Op.MAPPING, args=tuple(entries))
        self.add(node, Op.CALL, base=self.expr(name), args=(properties,), text="jsx")

    def on_return(self, node: Node) -> None:
        if self.scope != MODULE_SCOPE and self.drafts[self.scope].kind in _FUNCTION_KINDS:
            self.drafts[self.scope].returns.append(self.expr(first(node)))

    def on_yield(self, node: Node) -> None:
        if self.scope == MODULE_SCOPE or self.drafts[self.scope].kind not in _FUNCTION_KINDS:
            return
        value = self.expr(first(node))
        if any(child.type == "*" for child in node.children):
            value = self.add(node, Op.ELEMENT, base=value)
        self.drafts[self.scope].returns.append(self.add(node, Op.YIELDED, base=value))

    def on_declare_block(self, node: Node) -> None:
        self._declare_all(node, self._visible_until(node))

    def on_declare_var(self, node: Node) -> None:
        self._declare_all(node, -1)

    def _declare_all(self, node: Node, until: int) -> None:
        documented = self._doc_type(self.line(node.start_byte)) if self._comment else None
        for child in node.named_children:
            if child.type == "variable_declarator":
                self._declare(child, until, documented)

    def _declare(self, node: Node, until: int, documented: Type | None) -> None:
        pattern = node.child_by_field_name("name")
        if pattern is None:
            return
        value = self.expr(node.child_by_field_name("value"))
        declared = self.type(node.child_by_field_name("type")) or documented
        at = node.end_byte
        if pattern.type == "identifier":
            self._names.add(pattern.id)
            conditional = until < 0 and self._is_conditional(node)
            self.assigns.append(Assign(self._target(pattern, at), value, declared, True, until, conditional))
            return
        if declared is not None:
            value = self.add(node, Op.CAST, base=value, type=declared)
        conditional = until < 0 and self._is_conditional(node)
        self._unpack(pattern, value, at, declares=True, until=until, conditional=conditional)

    def on_assign(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        value = self.expr(right)
        if left.type == "member_expression":
            self._export_common(left, value)
        elif left.type == "identifier":
            self._names.add(left.id)
        documented = self._doc_type(self.line(node.start_byte)) if self._comment else None
        if documented is not None and left.type == "member_expression":
            self.assign(self.expr(left), value, type=documented, conditional=self._is_conditional(node))
            return
        self._unpack(left, value, node.end_byte, conditional=self._is_conditional(node))

    def on_augment(self, node: Node) -> None:
        operator = node.child_by_field_name("operator")
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if operator is not None and operator.type in LOGICAL_ASSIGNMENTS and left is not None and right is not None:
            self._unpack(left, self.expr(right), node.end_byte, conditional=True)

    def on_narrow(self, node: Node) -> None:
        """`x instanceof C`: where the test decides, x is an instance of C."""
        name, kind = node.child_by_field_name("left"), node.child_by_field_name("right")
        if name is None or kind is None or name.type != "identifier":
            return
        value = self.add(kind, Op.CAST, base=self.expr(kind), text=INSTANCE)
        for start, end in self._decided_by(node):
            self.exprs.append(Expr(Op.NAME, self.scope, self.line(name.start_byte), start, self.text(name)))
            self.assigns.append(Assign(len(self.exprs) - 1, value, None, True, end, True))

    def _decided_by(self, node: Node) -> Iterator[tuple[int, int]]:
        """The (start, end) of code that runs only when a test is true."""
        test, negated = node, False
        for _ in range(MAX_CLIMB):
            around = test.parent
            if around is None:
                return
            kind = around.type
            if kind == "unary_expression":
                negated = not negated
            elif kind == "binary_expression":
                operator, right = around.child_by_field_name("operator"), around.child_by_field_name("right")
                sign = "" if operator is None else operator.type
                if sign != ("||" if negated else "&&"):
                    return
                if right is not None and right.id != test.id:
                    yield right.start_byte, right.end_byte
            elif kind != "parenthesized_expression":
                yield from self._branches_of(around, test, negated)
                return
            test = around

    def _branches_of(self, statement: Node, test: Node, negated: bool) -> Iterator[tuple[int, int]]:
        condition = statement.child_by_field_name("condition")
        if condition is None or condition.id != test.id:
            return
        then = statement.child_by_field_name("consequence") or statement.child_by_field_name("body")
        other = statement.child_by_field_name("alternative")
        side = other if negated else then
        if side is not None:
            yield side.start_byte, side.end_byte
        if negated and then is not None and other is None and _leaves(then):
            until = self._visible_until(statement)
            if until < 0:
                until = self.drafts[self.scope].end if self.scope != MODULE_SCOPE else len(self.source)
            yield statement.end_byte, until

    def on_loop(self, node: Node) -> None:
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if left is None or right is None:
            return
        self._branches.append((node.end_byte, self.scope))
        operator, kind = node.child_by_field_name("operator"), node.child_by_field_name("kind")
        items = self.expr(right)
        each = operator is not None and operator.type == "of"
        value = self.add(right, Op.ELEMENT, base=items) if each else self.literal(left, "str")
        until = -1 if kind is None or kind.type == "var" else node.end_byte
        body = node.child_by_field_name("body")
        at = right.end_byte if body is None else body.start_byte
        self._unpack(left, value, at, declares=kind is not None, until=until, conditional=until < 0)

    def on_catch(self, node: Node) -> None:
        parameter = node.child_by_field_name("parameter")
        if parameter is not None:
            value = self.add(parameter, Op.UNKNOWN)
            self._unpack(parameter, value, parameter.end_byte, declares=True, until=node.end_byte)

    def on_block(self, node: Node) -> None:
        end = node.end_byte
        whole = self.scope != MODULE_SCOPE and self.drafts[self.scope].end == end
        self._blocks.append((end, -1 if whole else end, node.start_byte))

    def on_branch(self, node: Node) -> None:
        self._branches.append((node.end_byte, self.scope))

    def _visible_until(self, node: Node) -> int:
        return self._block_around(node)[0]

    def _block_around(self, node: Node) -> tuple[int, int]:
        """(end, start) of the block that bounds a declaration at `node`; the end is -1 for a whole function or file."""
        start = node.start_byte
        while self._blocks and self._blocks[-1][0] <= start:
            self._blocks.pop()
        return self._blocks[-1][1:] if self._blocks else (-1, -1)

    def _bind_in_block(self, draft: Draft) -> None:
        """A declaration inside a block is visible from the block's start to its end only."""
        until, start = self._block_around(draft.node)
        if until < 0:
            return
        is_type = draft.kind in {NodeKind.INTERFACE, NodeKind.TYPE_ALIAS}
        name = f"type {draft.name}" if is_type else draft.name  # a name that no value can have
        op = Op.FUNCTION if draft.kind is NodeKind.FUNCTION else Op.CLASS
        value = self.add(draft.node, op, base=draft.index)
        self.exprs.append(Expr(Op.NAME, self.scope, draft.name_line, start, name))
        self.assigns.append(Assign(len(self.exprs) - 1, value, None, True, until))

    def _is_conditional(self, node: Node) -> bool:
        start = node.start_byte
        while self._branches and self._branches[-1][0] <= start:
            self._branches.pop()
        return bool(self._branches) and self._branches[-1][1] == self.scope

    def _target(self, node: Node, at: int) -> int:
        """A name that takes effect at `at`: after its value has been computed, so that a swap reads the old values."""
        self.exprs.append(Expr(Op.NAME, self.scope, self.line(node.start_byte), at, self.text(node)))
        return len(self.exprs) - 1

    def _unpack(
        self,
        pattern: Node,
        value: int,
        at: int,
        *,
        declares: bool = False,
        until: int = -1,
        conditional: bool = False,
    ) -> None:
        """Assign `value` to a name, a member or the parts of a pattern."""
        pending = [(pattern, value)]
        while pending:
            node, got = pending.pop()
            kind = node.type
            if kind in {"identifier", "shorthand_property_identifier_pattern"}:
                self._names.add(node.id)
                self.assigns.append(Assign(self._target(node, at), got, None, declares, until, conditional))
            elif kind in {"member_expression", "subscript_expression"}:
                self.assigns.append(Assign(self.expr(node), got, None, False, -1, conditional))
            elif kind in {"assignment_pattern", "object_assignment_pattern"}:
                left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
                if left is not None:
                    pending.append((left, self.add(node, Op.CHOICE, args=(got, self.expr(right)))))
            elif kind == "object_pattern":
                pending.extend(reversed(self._object_parts(node, got)))
            elif kind == "array_pattern":
                pending.extend(reversed(self._array_parts(node, got)))
            elif kind in VALUE_WRAPPERS:
                inner = first(node)
                if inner is not None:
                    pending.append((inner, got))

    def _object_parts(self, pattern: Node, value: int) -> list[tuple[Node, int]]:
        parts = []
        for child in pattern.named_children:
            kind = child.type
            if kind == "shorthand_property_identifier_pattern":
                parts.append((child, self.member(child, value, self.text(child))))
            elif kind == "object_assignment_pattern":
                left, right = child.child_by_field_name("left"), child.child_by_field_name("right")
                if left is not None:
                    got = self.member(child, value, self.text(left))
                    parts.append((left, self.add(child, Op.CHOICE, args=(got, self.expr(right)))))
            elif kind == "pair_pattern":
                key, inner = child.child_by_field_name("key"), child.child_by_field_name("value")
                if key is not None and inner is not None:
                    parts.append((inner, self.member(child, value, self.key(key))))
            elif kind == "rest_pattern":
                inner = first(child)
                if inner is not None:
                    parts.append((inner, value))
        return parts

    def _array_parts(self, pattern: Node, value: int) -> list[tuple[Node, int]]:
        parts = []
        position = 0
        for child in pattern.children:
            kind = child.type
            if kind == ",":
                position += 1
            elif kind == "rest_pattern":
                inner = first(child)
                if inner is not None:
                    rest = self.literal(child, "slice", str(position))
                    parts.append((inner, self.add(child, Op.INDEX, base=value, args=(rest,))))
            elif child.is_named and kind != "comment":
                index = self.literal(child, "int", str(position))
                parts.append((child, self.add(child, Op.INDEX, base=value, args=(index,))))
        return parts

    # -- what comes in and what goes out

    def on_import(self, node: Node) -> None:
        at, line = node.start_byte, self.line(node.start_byte)
        source = node.child_by_field_name("source")
        kind = "type" if any(child.type == "type" for child in node.children) else ""
        clause = first(node)
        if clause is not None and clause.type == "import_require_clause":
            source, bound = clause.child_by_field_name("source"), first(clause)
            if source is not None and bound is not None:
                self._names.add(bound.id)
                module, alias = self.string(source), self.text(bound)
                self.imports.append(Import(self.scope, line, at, module, "=", alias, kind="require"))
            return
        if source is None:
            return
        module = self.string(source)
        if clause is None or clause.type != "import_clause":
            self.imports.append(Import(self.scope, line, at, module, kind=kind))
            return
        for name, alias in self._imported(clause):
            self.imports.append(Import(self.scope, line, at, module, name, alias, kind=kind))

    def _imported(self, clause: Node) -> list[tuple[str, str]]:
        """(imported name, local name) of an import clause; "" imports the module itself."""
        found = []
        for child in clause.named_children:
            if child.type == "identifier":
                self._names.add(child.id)
                found.append(("default", self.text(child)))
            elif child.type == "namespace_import":
                inner = first(child)
                if inner is not None:
                    self._names.add(inner.id)
                    found.append(("", self.text(inner)))
            elif child.type == "named_imports":
                found.extend(self._specifiers(child))
        return found

    def _specifiers(self, node: Node) -> list[tuple[str, str]]:
        """(name, alias or name) of each specifier of `{ a, b as c }`."""
        found = []
        for child in node.named_children:
            name, alias = child.child_by_field_name("name"), child.child_by_field_name("alias")
            if name is not None:
                self._names.update((name.id, (alias or name).id))
                found.append((self.key(name), self.key(alias or name)))
        return found

    def on_alias(self, node: Node) -> None:
        """`import A = B.C`: another name for a namespace member."""
        names = [child for child in node.named_children if child.type != "comment"]
        if len(names) == 2:
            self._names.add(names[0].id)
            self.assign(self._target(names[0], node.end_byte), self.expr(names[1]), declares=True)

    def on_export(self, node: Node) -> None:
        declaration = node.child_by_field_name("declaration")
        if declaration is not None:
            if declaration.type == "ambient_declaration":
                declaration = first(declaration) or declaration
            self._exported[declaration.id] = node
            for child in declaration.named_children if declaration.type.endswith("al_declaration") else ():
                self._exported[child.id] = node
        if self.scope != MODULE_SCOPE:
            return  # a namespace's own member
        words = {child.type for child in node.children}
        source = node.child_by_field_name("source")
        if source is not None:
            self._reexport(node, self.string(source), words)
        elif declaration is not None:
            self._export_declaration(declaration, "default" in words)
        elif "export_clause" in words:
            clause = next(child for child in node.children if child.type == "export_clause")
            self.exports.extend(Export(alias, name) for name, alias in self._specifiers(clause))
        elif "default" in words:
            self.exports.append(Export("default", value=self.expr(node.child_by_field_name("value"))))
        elif "=" in words:
            self.exports.append(Export("=", value=self.expr(first(node))))

    def _reexport(self, node: Node, module: str, words: set[str]) -> None:
        line, at = self.line(node.start_byte), node.start_byte
        self.imports.append(Import(self.scope, line, at, module, kind="reexport"))
        if "export_clause" in words:
            clause = next(child for child in node.children if child.type == "export_clause")
            self.exports.extend(Export(alias, name, module) for name, alias in self._specifiers(clause))
        elif "namespace_export" in words:
            inner = first(next(child for child in node.children if child.type == "namespace_export"))
            if inner is not None:
                self.exports.append(Export(self.key(inner), "*", module))
        else:
            self.exports.append(Export("*", "", module))

    def _export_declaration(self, declaration: Node, default: bool) -> None:
        name = declaration.child_by_field_name("name")
        if name is not None:
            local = self.text(name)
            self.exports.append(Export("default" if default else local, local))
            return
        for child in declaration.named_children:
            pattern = child.child_by_field_name("name") if child.type == "variable_declarator" else None
            if pattern is not None:
                self.exports.extend(Export(local, local) for local in self._pattern_names(pattern))
        if declaration.type == "import_alias":
            alias = first(declaration)
            if alias is not None:
                self.exports.append(Export(self.text(alias), self.text(alias)))

    def _pattern_names(self, pattern: Node) -> list[str]:
        names, pending = [], [pattern]
        while pending:
            node = pending.pop()
            if node.type in {"identifier", "shorthand_property_identifier_pattern"}:
                names.append(self.text(node))
            elif node.type in {"assignment_pattern", "object_assignment_pattern"}:
                left = node.child_by_field_name("left")
                pending.extend(() if left is None else (left,))
            elif node.type == "pair_pattern":
                inner = node.child_by_field_name("value")
                pending.extend(() if inner is None else (inner,))
            else:
                pending.extend(reversed(node.named_children))
        return names

    def _export_common(self, target: Node, value: int) -> None:
        """`module.exports = v`, `exports.x = v`, `module.exports.x = v`."""
        if target.end_byte - target.start_byte > 120:
            return
        parts = self.text(target).split(".")
        if parts == ["module", "exports"]:
            self.exports.append(Export("=", value=value))
        elif len(parts) == 2 and parts[0] == "exports":
            self.exports.append(Export(parts[1], value=value))
        elif len(parts) == 3 and parts[:2] == ["module", "exports"]:
            self.exports.append(Export(parts[2], value=value))

    # -- references, comments, decorators

    def on_type(self, node: Node) -> None:
        """A type's name in an annotation."""
        if node.id in self._names:
            return
        if node.type == "nested_type_identifier":
            self._names.update(child.id for child in node.named_children)
            parts = self.text(node).split(".")
            index = self.add(node, Op.NAME, parts[0], text=TYPE)
            for part in parts[1:]:
                index = self.add(node, Op.MEMBER, part, index, text=TYPE)
        else:
            name = self.text(node)
            if self._is_type_parameter(name):
                return
            index = self.add(node, Op.NAME, name, text=TYPE)
        self.references.append(index)

    def _is_type_parameter(self, name: str) -> bool:
        scope = self.scope
        while scope != MODULE_SCOPE:
            draft = self.drafts[scope]
            if any(parameter.name == name for parameter in draft.type_params):
                return True
            scope = draft.parent
        return False

    def on_constant(self, node: Node) -> None:
        if node.id not in self._names:
            self.references.append(self.expr(node))

    def on_decorator(self, node: Node) -> None:
        value = first(node)
        if value is None or value.id in self._memo:
            return
        index = self.expr(value)
        if self.scope == MODULE_SCOPE or self.drafts[self.scope].kind not in _FUNCTION_KINDS:
            self._decorators.append(index)  # on a parameter it decorates no definition

    def on_comment(self, node: Node) -> None:
        text = self.text(node)
        start = self.line(node.start_byte)
        joins = text.startswith("//") and self._comment and self._comment_end == start - 1
        if joins and self._comment[0].startswith("//"):
            self._comment.append(text)
        else:
            if self._comment_first:
                self.doc = _clean(self._comment)
            self._comment_first = start <= 2 and not self.doc
            self._comment = [text]
        self._comment_end = self.last_line(node)

    def finish(self) -> None:
        if self._comment_first and self._comment:
            self.doc = _clean(self._comment)
        self._refer_to_functions()
        locals_out = {export.local for export in self.exports if export.local and not export.module}
        values_out = {
            self.exprs[export.value].base
            for export in self.exports
            if export.value >= 0 and self.exprs[export.value].op in {Op.FUNCTION, Op.CLASS}
        }
        for draft in self.drafts:
            if (draft.parent == MODULE_SCOPE and draft.name in locals_out) or draft.index in values_out:
                draft.flags |= NodeFlag.EXPORTED

    def _refer_to_functions(self) -> None:
        """Functions and classes that are passed on by name are referred to, whoever calls them."""
        known = {item.alias for item in self.imports if item.alias}
        known |= {draft.name for draft in self.drafts if draft.parent == MODULE_SCOPE and draft.kind in _PASSED}
        self.references.extend(arg for arg in self._passed if self.exprs[arg].name in known)


def _leaves(body: Node) -> bool:
    """Whether a branch ends by leaving the code after it."""
    last = body
    if body.type == "statement_block":
        inner = [child for child in body.named_children if child.type != "comment"]
        if not inner:
            return False
        last = inner[-1]
    return last.type in {"return_statement", "throw_statement", "continue_statement", "break_statement"}


def _language_of(path: str) -> str:
    if path.endswith(".tsx"):
        return "tsx"
    return "typescript" if path.endswith((".ts", ".mts", ".cts")) else "javascript"


def _unwrap(node: Node | None) -> Node | None:
    """The value inside parentheses, `as`, `satisfies` and `!`."""
    while node is not None and node.type in VALUE_WRAPPERS:
        node = first(node)
    return node


def _clean(comment: list[str]) -> str:
    return "\n".join(line for line in _COMMENT_MARKS.sub("", "\n".join(comment)).splitlines() if line.strip()).strip()


EXTRACTOR = JavaScript
