"""Definitions of a JavaScript or TypeScript file, and the names of those that are bound rather than declared."""

from __future__ import annotations

from typing import NamedTuple

from tree_sitter import Node

from ctxsearch.graph.facts import MODULE_SCOPE, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages.builder import Draft
from ctxsearch.indexer.languages.ecmaexprs import (
    FUNCTION_NODES,
    VALUE_WRAPPERS,
    Expressions,
    first,
)

_FLAG_WORDS = {
    b"static": NodeFlag.STATIC,
    b"async": NodeFlag.ASYNC,
    b"*": NodeFlag.GENERATOR,
    b"get": NodeFlag.PROPERTY,
    b"set": NodeFlag.PROPERTY,
    b"abstract": NodeFlag.ABSTRACT,
    b"private": NodeFlag.PRIVATE,
}
_LITERALS = FUNCTION_NODES | {"class", "object"}  # what takes the name that it is bound to
_SIGNATURES = frozenset({"function_signature", "method_signature", "abstract_method_signature"})
# Callers that run a function some other time: what they give back is not the function.
_NOT_WRAPPERS = frozenset(
    {"setTimeout", "setInterval", "setImmediate", "requestAnimationFrame", "queueMicrotask", "describe", "it", "test"}
)


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


class Naming(Expressions):
    """First sweep: every definition with its name."""

    def __init__(self, path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> None:
        super().__init__(path, source, flags)
        self.arrows: set[int] = set()
        self._bound: dict[int, _Bound] = {}  # id of a literal's node -> its name
        self._wrapped: set[int] = set()  # ids of calls whose function argument takes the variable's name
        self._holders: dict[int, int] = {}  # id of an object's node -> definition of the variable that holds it
        self._objects: list[_Object] = []
        self._names: set[int] = set()  # ids of nodes that introduce a name: not references

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


def _unwrap(node: Node | None) -> Node | None:
    """The value inside parentheses, `as`, `satisfies` and `!`."""
    while node is not None and node.type in VALUE_WRAPPERS:
        node = first(node)
    return node
