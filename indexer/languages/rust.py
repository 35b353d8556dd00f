"""Rust: modules, structs, enums, traits, methods of impl blocks, macros, typed bindings and call sites.

An impl block is no definition: its methods carry the type as `receiver` and the trait in `implements`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import msgspec
from tree_sitter import Node

from ctxsearch.graph.facts import METHOD, Import, Op, Param, ParamKind, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages.builder import MAX_DEPTH, Draft
from ctxsearch.indexer.languages.rust_macros import TEMPLATES
from ctxsearch.indexer.languages.rust_references import RustReferences

_COMMENTS = frozenset({"line_comment", "block_comment", "attribute_item"})
_LITERALS = {
    "integer_literal": "i32",
    "float_literal": "f64",
    "string_literal": "str",
    "raw_string_literal": "str",
    "char_literal": "char",
    "boolean_literal": "bool",
}
_TRANSPARENT = frozenset({"parenthesized_expression", "reference_expression", "unary_expression", "unsafe_block"})
_STRIPPED = frozenset({"reference_type", "pointer_type", "dynamic_type", "abstract_type", "bounded_type"})
_MARGIN = re.compile(r"^[ \t]*\*? ?", re.MULTILINE)
# A test, also tokio::test(...), rstest, test_case(...) and cfg(test); not cfg(not(test)) or a text that says "latest".
_TEST_ATTRIBUTE = re.compile(
    r"#\[\s*(?:(?:\w+\s*::\s*)*(?:\w+_)?r?s?tests?(?:_\w+)?\s*[\](]|cfg\(\s*(?:all\(\s*)?test\b)"
)
_PATH_ATTRIBUTE = re.compile(r'^#\[\s*(?:cfg_attr\s*\(.*,\s*)?path\s*=\s*"([^"]+\.rs)"', re.DOTALL)
HEAD_BYTES = 16_384  # where a file's own doc comment is looked for
MAX_TOKENS = 400  # tokens of one macro invocation that are looked at


@dataclass(frozen=True, slots=True)
class _Impl:
    """An impl block: what it says of the methods inside."""

    start: int  # byte offsets
    end: int
    owner: Type
    trait: Type | None
    params: tuple[Param, ...]
    scope: int
    types: dict[str, Type] = field(default_factory=dict)  # its associated types: `type Target = Inner;`


class RustExtractor(RustReferences):
    """One Rust file."""

    language = "rust"

    def __init__(self, path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> None:
        super().__init__(path, source, flags)
        self._impls: list[_Impl] = []
        self._test_macros: list[tuple[int, int]] = []  # byte offsets of macros whose items are all for tests

    # -- definitions

    def define(self, node: Node, capture: str) -> Draft | None:
        if capture == "def.closure":
            return self.anonymous("closure", node)
        if capture == "def.impl":
            trait = node.child_by_field_name("trait")
            params = tuple(self._type_params(node))
            owner = self._type(node.child_by_field_name("type"))
            implemented = self._type(trait) if trait is not None else None
            self._impls.append(_Impl(node.start_byte, node.end_byte, owner, implemented, params, self.scope))
            return None
        name = node.child_by_field_name("name")
        if name is None:
            return None
        if capture in ("def.constant", "def.alias") and self._inside_body():
            return None
        around = self._impl_around(node) if capture == "def.alias" else None
        if around is not None:
            around.types[self.text(name)] = self._type(node.child_by_field_name("type"))
            return None
        draft = self.draft(_KINDS[capture], self.text(name), node)
        draft.name_line = self.line(name.start_byte)
        draft.doc = self._doc(node)
        draft.signature = self.signature(node, node.child_by_field_name("body"))
        self._flags(draft, node)
        if capture in ("def.function", "def.constant"):
            self._place_in_impl(draft)
        elif capture == "def.mod" and draft.name in ("tests", "test"):
            draft.flags |= NodeFlag.TEST
        return draft

    def _inside_body(self) -> bool:
        return self.scope >= 0 and self.drafts[self.scope].kind not in (NodeKind.MODULE, NodeKind.INTERFACE)

    def _impl_around(self, node: Node) -> _Impl | None:
        at = node.start_byte
        return next((item for item in reversed(self._impls) if item.start <= at < item.end), None)

    def _flags(self, draft: Draft, node: Node) -> None:
        for child in node.children:
            if child.type == "visibility_modifier":
                draft.flags |= NodeFlag.EXPORTED
            elif child.type == "function_modifiers" and "async" in self.text(child):
                draft.flags |= NodeFlag.ASYNC
        for text in self._attributes(node):
            if _TEST_ATTRIBUTE.match(text):
                draft.flags |= NodeFlag.TEST
            if "deprecated" in text:
                draft.flags |= NodeFlag.DEPRECATED
        if any(start <= draft.start < end for start, end in self._test_macros):
            draft.flags |= NodeFlag.TEST
        if node.type == "function_signature_item":
            draft.flags |= NodeFlag.ABSTRACT | NodeFlag.DECLARATION
        if draft.parent >= 0 and self.drafts[draft.parent].flags & NodeFlag.TEST:
            draft.flags |= NodeFlag.TEST

    def _attributes(self, node: Node) -> Iterator[str]:
        """The attributes before an item, the nearest first."""
        previous = node.prev_sibling
        while previous is not None and previous.type in _COMMENTS:
            if previous.type == "attribute_item":
                yield self.text(previous)
            previous = previous.prev_sibling

    def open(self, macro: Node) -> None:
        super().open(macro)
        if any(_TEST_ATTRIBUTE.match(text) for text in self._attributes(macro)):
            self._test_macros.append((macro.start_byte, macro.end_byte))

    def _place_in_impl(self, draft: Draft) -> None:
        """A function directly in an impl block or trait is a method of its type; a constant belongs to it, too."""
        kind = NodeKind.METHOD if draft.kind is NodeKind.FUNCTION else draft.kind
        if draft.parent >= 0 and self.drafts[draft.parent].kind is NodeKind.INTERFACE:
            draft.kind = kind
            return
        for item in reversed(self._impls):
            if item.start <= draft.start and draft.end <= item.end and item.scope == draft.parent:
                draft.kind = kind
                draft.receiver = item.owner
                draft.implements = [item.trait] if item.trait is not None else []
                draft.type_params = list(item.params)
                prefix = draft.qualified_name.removesuffix(draft.name)
                draft.qualified_name = f"{prefix}{item.owner.name.rsplit('.', 1)[-1]}.{draft.name}"
                return

    def complete(self, draft: Draft) -> None:
        node = draft.node
        kind = node.type
        if kind in ("function_item", "function_signature_item", "closure_expression"):
            self._complete_function(draft, node)
        elif kind == "trait_item":
            draft.type_params = list(self._type_params(node))
            draft.bases += self._bounds(node.child_by_field_name("bounds"))
        elif kind in ("struct_item", "enum_item", "union_item"):
            draft.type_params = list(self._type_params(node))
            self._tuple_fields(draft, node.child_by_field_name("body"))
        elif kind == "type_item":
            draft.result = self._type(node.child_by_field_name("type"))
        elif kind in ("const_item", "static_item"):
            draft.result = self._type(node.child_by_field_name("type"))
            draft.value = self.expr(node.child_by_field_name("value"))
        elif kind == "macro_definition":
            self._macro_rules(draft, node)

    def _complete_function(self, draft: Draft, node: Node) -> None:
        outer, self.scope = self.scope, draft.index
        draft.type_params += list(self._type_params(node))
        parameters = node.child_by_field_name("parameters")
        for item in parameters.named_children if parameters is not None else ():
            self._param(draft, item)
        result = node.child_by_field_name("return_type")
        if result is not None:
            draft.result = self._type(result)
        body = node.child_by_field_name("body")
        last = self._tail(body)
        if last is not None:
            draft.returns.append(self.expr(last))
        self.scope = outer

    def _param(self, draft: Draft, item: Node) -> None:
        if item.type == "self_parameter":
            draft.params.append(Param("self", kind=ParamKind.RECEIVER))
            return
        if item.type == "attribute_item":
            return
        pattern = item.child_by_field_name("pattern") if item.type == "parameter" else item
        declared = self._type(item.child_by_field_name("type")) if item.type == "parameter" else None
        if pattern is not None and pattern.type == "self":
            draft.params.append(Param("self", kind=ParamKind.RECEIVER))
            return
        inner = pattern
        while inner is not None and inner.type in ("mut_pattern", "reference_pattern", "ref_pattern"):
            inner = inner.named_children[-1] if inner.named_children else None
        if inner is not None and inner.type == "identifier":
            draft.params.append(Param(self.text(inner), declared))
        else:
            draft.params.append(Param("", declared))
            if inner is not None and declared is not None:
                self._bind(inner, self.add(item, Op.CAST, base=-1, type=declared), item.end_byte, whole=draft)

    def _tail(self, body: Node | None) -> Node | None:
        """The expression a body ends with: its value."""
        if body is None:
            return None
        if body.type != "block":
            return body
        last = body.named_children[-1] if body.named_children else None
        if last is None or last.type in ("expression_statement", "let_declaration") or last.type.endswith("_item"):
            inner = last.named_child(0) if last is not None and last.type == "expression_statement" else None
            ends = inner is not None and inner.type in ("match_expression", "if_expression", "return_expression")
            has_semicolon = last is not None and any(child.type == ";" for child in last.children)
            return inner if ends and not has_semicolon else None
        return last

    def _type_params(self, node: Node) -> Iterator[Param]:
        found: dict[str, Type | None] = {}
        parameters = node.child_by_field_name("type_parameters")
        for item in parameters.named_children if parameters is not None else ():
            name = item.child_by_field_name("name")
            if (
                item.type in ("type_parameter", "constrained_type_parameter", "optional_type_parameter")
                and name is not None
            ):
                bounds = self._bounds(item.child_by_field_name("bounds"))
                found[self.text(name)] = bounds[0] if bounds else None
            elif item.type == "const_parameter" and name is not None:
                found[self.text(name)] = None
        for child in node.children:
            if child.type == "where_clause":
                for predicate in child.named_children:
                    left = predicate.child_by_field_name("left")
                    bounds = self._bounds(predicate.child_by_field_name("bounds"))
                    if left is not None and bounds and self.text(left) in found:
                        found[self.text(left)] = bounds[0]
        for letter, bound in found.items():
            yield Param(letter, bound)

    def _bounds(self, node: Node | None) -> list[Type]:
        if node is None:
            return []
        return [
            self._type(item) for item in node.named_children if item.type not in ("lifetime", "removed_trait_bound")
        ]

    def _tuple_fields(self, draft: Draft, body: Node | None) -> None:
        if body is None or body.type != "ordered_field_declaration_list":
            return
        for place, item in enumerate(body.children_by_field_name("type")):
            self._field(draft.index, item, str(place), self._type(item))

    def on_field(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is not None and self.scope >= 0 and self.drafts[self.scope].kind is NodeKind.CLASS:
            self._field(self.scope, node, self.text(name), self._type(node.child_by_field_name("type")))

    def _field(self, owner: int, node: Node, name: str, declared: Type) -> None:
        outer, self.scope = self.scope, owner
        draft = self.draft(NodeKind.VARIABLE, name, node)
        draft.signature = self.signature(node, None)
        draft.doc = self._doc(node)
        draft.result = declared
        self.scope = outer

    def on_variant(self, node: Node) -> None:
        """An enum's variant: a member that makes an instance of the enum; its payload types are its parameters."""
        name = node.child_by_field_name("name")
        if name is None or self.scope < 0:
            return
        draft = self.draft(NodeKind.VARIABLE, self.text(name), node, flags=NodeFlag.STATIC)
        draft.signature = self.signature(node, None)
        draft.doc = self._doc(node)
        draft.result = Type("Self")
        body = node.child_by_field_name("body")
        if body is not None and body.type == "ordered_field_declaration_list":
            draft.params = [Param("", self._type(item)) for item in body.children_by_field_name("type")]

    def finish(self) -> None:
        """The file's own doc comment; a type of this file implements the traits of this file's impl blocks."""
        super().finish()
        self.doc = "\n".join(_inner_lines(self.source[:HEAD_BYTES]))
        for item in self._impls:
            if item.trait is None:
                continue
            for draft in self.drafts:
                if draft.kind is NodeKind.CLASS and draft.name == item.owner.name and draft.parent == item.scope:
                    draft.implements.append(item.trait)

    # -- sites

    def on_use(self, node: Node) -> None:
        argument = node.child_by_field_name("argument")
        kind = "reexport" if any(child.type == "visibility_modifier" for child in node.children) else "use"
        if argument is not None:
            self._use(argument, "", kind)

    def _use(self, node: Node, prefix: str, kind: str) -> None:
        at = node.start_byte
        if node.type == "scoped_use_list":
            path = node.child_by_field_name("path")
            inner = _joined(prefix, self.text(path)) if path is not None else prefix
            items = node.child_by_field_name("list")
            for item in items.named_children if items is not None else ():
                self._use(item, inner, kind)
        elif node.type == "use_list":
            for item in node.named_children:
                self._use(item, prefix, kind)
        elif node.type == "use_wildcard":
            path = node.named_child(0)
            module = _joined(prefix, self.text(path)) if path is not None else prefix
            self.imports.append(Import(self.scope, self.line(at), at, module, "*", kind=kind))
        elif node.type == "use_as_clause":
            path, alias = node.child_by_field_name("path"), node.child_by_field_name("alias")
            if path is not None and alias is not None:
                self._import(_joined(prefix, self.text(path)), self.text(alias), at, kind)
        elif node.type == "self":
            self._import(prefix, prefix.rsplit("::", 1)[-1], at, kind)
        elif node.type in ("identifier", "scoped_identifier", "crate", "super"):
            path_text = _joined(prefix, self.text(node))
            self._import(path_text, path_text.rsplit("::", 1)[-1], at, kind)

    def _import(self, path: str, alias: str, at: int, kind: str) -> None:
        module, _, name = path.rpartition("::")
        self.imports.append(Import(self.scope, self.line(at), at, module, name, alias, kind=kind))

    def on_mod(self, node: Node) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            text, at = self.text(name), node.start_byte
            for place in self._written_paths(node) or [text]:
                self.imports.append(Import(self.scope, self.line(at), at, place, "", text, kind="mod"))

    def _written_paths(self, node: Node) -> list[str]:
        """The files of `#[path = "..."] mod name;`: one, or one for each configuration that `cfg_attr` names."""
        found = [place for text in self._attributes(node) for place in _PATH_ATTRIBUTE.findall(text)]
        return found[::-1]

    def on_call(self, node: Node) -> None:
        self.expr(node)

    def on_macro(self, node: Node) -> None:
        self.expr(node)

    def on_literal(self, node: Node) -> None:
        self.expr(node)

    def on_let(self, node: Node) -> None:
        pattern = node.child_by_field_name("pattern")
        declared = node.child_by_field_name("type")
        value = self.expr(node.child_by_field_name("value"))
        if pattern is not None:
            kind = self._type(declared) if declared is not None else None
            self._bind_after(node.end_byte, pattern, value, self.block_end(node.start_byte), kind)

    def on_local(self, node: Node) -> None:
        """A constant inside a function: known in the whole of its block, also before it."""
        name = node.child_by_field_name("name")
        if name is None or node.id in self.by_node or self.scope < 0:
            return
        declared = self._type(node.child_by_field_name("type"))
        target = self.add(self.drafts[self.scope].node, Op.NAME, self.text(name))
        value = self.expr(node.child_by_field_name("value"))
        self.assign(target, value, type=declared, declares=True, until=self.block_end(node.start_byte))

    def on_letif(self, node: Node) -> None:
        pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
        if pattern is not None and value is not None:
            self._bind_after(node.end_byte, pattern, self.expr(value), self.block_end(node.start_byte))

    def on_match(self, node: Node) -> None:
        value, body = node.child_by_field_name("value"), node.child_by_field_name("body")
        whole = self.expr(value)
        for arm in body.named_children if body is not None else ():
            pattern = arm.child_by_field_name("pattern") if arm.type == "match_arm" else None
            if pattern is not None and pattern.named_child_count:
                self._bind(pattern.named_children[0], whole, arm.end_byte)

    def on_for(self, node: Node) -> None:
        pattern, value = node.child_by_field_name("pattern"), node.child_by_field_name("value")
        if pattern is not None and value is not None:
            item = self.add(node, Op.ELEMENT, base=self.expr(value))
            self._bind_after(value.end_byte, pattern, item, node.end_byte)

    def on_assignment(self, node: Node) -> None:
        left = node.child_by_field_name("left")
        if left is not None and left.type in ("identifier", "field_expression"):
            self.assign(self.expr(left), self.expr(node.child_by_field_name("right")))

    def on_return(self, node: Node) -> None:
        if self.scope >= 0 and node.named_child_count:
            self.drafts[self.scope].returns.append(self.expr(node.named_child(0)))

    def _bind_after(self, at: int, pattern: Node, value: int, until: int, declared: Type | None = None) -> None:
        """Names that are there from `at` on: `let x = x.next()` and `if let Some(x) = x` read another x."""
        first = len(self.assigns)
        self._bind(pattern, value, until, declared)
        for assign in self.assigns[first:]:
            self.exprs[assign.target] = msgspec.structs.replace(self.exprs[assign.target], at=at)

    def _bind(
        self, pattern: Node, value: int, until: int, declared: Type | None = None, whole: Draft | None = None
    ) -> None:
        """Names of a pattern, each with the part of the value that it takes."""
        kind = pattern.type
        if kind == "identifier":
            if self.source[pattern.start_byte : pattern.start_byte + 1].isupper():
                return  # a constant or a variant that the value is compared with
            self.assign(self.name(pattern), value, type=declared, declares=True, until=-1 if whole else until)
        elif kind in ("mut_pattern", "ref_pattern", "reference_pattern", "captured_pattern", "match_pattern"):
            for child in pattern.named_children:
                if child.type != "mutable_specifier":
                    self._bind(child, value, until, declared, whole)
        elif kind == "tuple_pattern":
            for place, child in enumerate(pattern.named_children):
                key = self.add(child, Op.LITERAL, "i32", text=str(place))
                part = self.add(child, Op.INDEX, "()", base=value, args=(key,))
                self._bind(child, part, until, whole=whole)
        elif kind == "tuple_struct_pattern":
            self._bind_variant(pattern, value, until, whole)
        elif kind == "struct_pattern":
            self._bind_struct(pattern, until, whole)

    def _bind_variant(self, pattern: Node, value: int, until: int, whole: Draft | None) -> None:
        name = pattern.child_by_field_name("type")
        parts = [child for child in pattern.named_children if name is None or child.id != name.id]
        text = self.text(name) if name is not None else ""
        for place, child in enumerate(parts):
            if text in ("Some", "Ok", "Err"):
                part = self.add(child, Op.ENTER, text, base=value)
            elif name is not None:
                part = self.add(child, Op.INDEX, "variant", base=self.expr(name), text=str(place))
            else:
                part = -1
            self._bind(child, part, until, whole=whole)

    def _bind_struct(self, pattern: Node, until: int, whole: Draft | None) -> None:
        name = pattern.child_by_field_name("type")
        owner = self.add(pattern, Op.CAST, base=-1, type=self._type(name))
        for child in pattern.named_children:
            if child.type == "field_pattern":
                field = child.child_by_field_name("name")
                inner = child.child_by_field_name("pattern")
                if field is not None:
                    value = self.add(child, Op.MEMBER, self.text(field), base=owner)
                    target = inner if inner is not None else field
                    if target.type == "shorthand_field_identifier":
                        self.assign(self.name(target), value, declares=True, until=until)
                    else:
                        self._bind(target, value, until, whole=whole)

    # -- expressions

    def expression(self, node: Node) -> int:
        kind = node.type
        if kind == "identifier":
            return self.name(node)
        if kind == "self":
            return self.add(node, Op.NAME, "self")
        if kind == "call_expression":
            return self._call(node)
        if kind == "field_expression":
            return self._member(node, "")
        if kind in ("scoped_identifier", "scoped_type_identifier", "type_identifier", "crate", "super", "metavariable"):
            return self._path(node)
        if kind == "generic_function":
            return self.expr(node.child_by_field_name("function"))
        if kind in _LITERALS:
            return self.add(node, Op.LITERAL, _LITERALS[kind])
        if kind in _TRANSPARENT:
            children = [child for child in node.named_children if child.type != "mutable_specifier"]
            return self.expr(children[-1]) if children else self.add(node, Op.UNKNOWN)
        if kind == "try_expression":
            return self.add(node, Op.ENTER, "?", base=self.expr(node.named_child(0)))
        if kind == "await_expression":
            return self.add(node, Op.AWAIT, base=self.expr(node.named_child(0)))
        if kind == "struct_expression":
            return self.add(node, Op.CAST, base=-1, type=self._type(node.child_by_field_name("name")))
        if kind == "closure_expression":
            return self.add(node, Op.FUNCTION, base=self.by_node[node.id])
        if kind == "index_expression":
            children = node.named_children
            return self.add(node, Op.INDEX, base=self.expr(children[0]), args=(self.expr(children[-1]),))
        if kind == "type_cast_expression":
            declared = self._type(node.child_by_field_name("type"))
            return self.add(node, Op.CAST, base=self.expr(node.child_by_field_name("value")), type=declared)
        if kind == "macro_invocation":
            return self._macro(node)
        if kind == "block":
            return self.expr(self._tail(node)) if self._tail(node) is not None else self.add(node, Op.UNKNOWN)
        if kind == "if_expression":
            branches = [self._tail(node.child_by_field_name("consequence"))]
            alternative = node.child_by_field_name("alternative")
            branches.append(self._tail(alternative.named_child(0)) if alternative is not None else None)
            return self.add(node, Op.CHOICE, args=tuple(self.expr(item) for item in branches if item is not None))
        if kind == "match_expression":
            body = node.child_by_field_name("body")
            arms = [arm.child_by_field_name("value") for arm in body.named_children] if body is not None else []
            values = [self._tail(arm) for arm in arms if arm is not None]
            return self.add(node, Op.CHOICE, args=tuple(self.expr(item) for item in values if item is not None))
        if kind in ("tuple_expression", "array_expression"):
            name = "tuple" if kind == "tuple_expression" else "list"
            return self.add(node, Op.SEQUENCE, name, args=tuple(self.expr(item) for item in node.named_children))
        return self.add(node, Op.UNKNOWN)

    def _call(self, node: Node) -> int:
        arguments = node.child_by_field_name("arguments")
        items = arguments.named_children if arguments is not None else ()
        args = tuple(self.expr(item) for item in items if item.type not in _COMMENTS)
        function = node.child_by_field_name("function")
        if function is not None and function.type == "field_expression" and self._depth < MAX_DEPTH:
            base = self._memo[function.id] = self._member(function, METHOD)
        else:
            base = self.expr(function)
        return self.add(node, Op.CALL, base=base, args=args)

    def _member(self, node: Node, called: str) -> int:
        name = node.child_by_field_name("field")
        base = self.expr(node.child_by_field_name("value"))
        return self.add(node, Op.MEMBER, self.text(name) if name is not None else "", base=base, text=called)

    def _path(self, node: Node) -> int:
        """a::b::c as members of members; generic arguments are left out."""
        parts = [part for part in self._type(node).name.split(".") if part]
        if not parts:
            return self.add(node, Op.UNKNOWN)
        found = self.add(node, Op.NAME, parts[0])
        for part in parts[1:]:
            found = self.add(node, Op.MEMBER, part, base=found)
        return found

    def _macro(self, node: Node) -> int:
        """name!(...): a call of the macro; calls spelled inside its tokens are calls too, if they are not items."""
        name = node.child_by_field_name("macro")
        spelled = self.text(name) if name is not None else ""
        tokens = next((child for child in node.children if child.type == "token_tree"), None)
        items: list[int] = []
        if tokens is not None and node.id not in self.opened and spelled.rsplit("::", 1)[-1] not in TEMPLATES:
            items = self._token_calls(tokens)
        args = tuple(items) if spelled == "vec" else ()
        return self.add(node, Op.CALL, "!", base=self.add(node, Op.NAME, f"{spelled}!"), args=args)

    def _macro_rules(self, draft: Draft, node: Node) -> None:
        outer, self.scope = self.scope, draft.index
        for rule in node.named_children:
            right = rule.child_by_field_name("right") if rule.type == "macro_rule" else None
            if right is not None:
                self._token_calls(right)
        self.scope = outer

    def _token_calls(self, tokens: Node) -> list[int]:
        """The calls in a macro's tokens, which the parser leaves as they are; gives its plain arguments."""
        items = self._token_chains(tokens.children)
        pending, seen = [child for child in tokens.children if child.type == "token_tree"], tokens.child_count
        while pending and seen < MAX_TOKENS:
            children = pending.pop().children
            seen += len(children)
            self._token_chains(children)
            pending += [child for child in children if child.type == "token_tree"]
        return items

    def _token_chains(self, children: list[Node]) -> list[int]:
        """Chains like a::b(...).c[0].d(...)?.e() among tokens; gives those that are all there is between two commas."""
        items: list[int] = []
        chain: list[Node] = []
        alone = True  # nothing but the chain stands since the last comma
        for child in children[1:]:  # the first opens them
            if self._continues(chain, child):
                chain.append(child)
                continue
            last = self._chain(chain, whole=alone and child.type in _ENDS_ITEM)
            if child.type in _ENDS_ITEM and alone and last >= 0:
                items.append(last)
            alone = child.type in _ENDS_ITEM or (alone and not chain and child.type in _BEGINS_ITEM)
            chain = [child] if child.type in _PATH_TOKENS else []
        return items

    def _continues(self, chain: list[Node], token: Node) -> bool:
        """Whether a token is the next one of a chain."""
        if not chain:
            return False
        before, kind = chain[-1].type, token.type
        if before in ("::", "."):
            return kind in _PATH_TOKENS or (before == "." and kind in ("integer_literal", "await"))
        if kind == "token_tree":
            return token.child_count > 0 and token.children[0].type in ("(", "[")
        return kind in ("::", ".", "?")

    def _chain(self, chain: list[Node], *, whole: bool) -> int:
        """A chain as an expression, up to its last call unless the whole is asked for; -1 when there is none."""
        opening = [place for place, token in enumerate(chain) if _is_arguments(token)]
        end = len(chain) if whole else (opening[-1] + 1 if opening else 0)
        if not end or self._is_no_call(chain):
            return -1
        last = self.add(chain[0], Op.NAME, self.text(chain[0]))
        called = chain[0]
        for place, token in enumerate(chain[1:end], 1):
            if _is_arguments(token):
                last = self.add(called, Op.CALL, base=last)
            elif token.type == "token_tree":
                last = self.add(token, Op.INDEX, base=last, args=())
            elif token.type == "?":
                last = self.add(token, Op.ENTER, "?", base=last)
            elif token.type == "await":
                last = self.add(token, Op.AWAIT, base=last)
            elif token.type not in ("::", "."):
                is_method = chain[place - 1].type == "." and place + 1 < end and _is_arguments(chain[place + 1])
                last = self.add(token, Op.MEMBER, self.text(token), base=last, text=METHOD if is_method else "")
                called = token
        return last

    def _is_no_call(self, chain: list[Node]) -> bool:
        """`fn name(...)` declares, `cfg(...)` is an attribute."""
        before = chain[0].prev_sibling
        if before is not None and before.type in ("fn", ".", "::", "$"):
            return True
        return len(chain) > 1 and _is_arguments(chain[1]) and self.text(chain[0]) in _ATTRIBUTES

    # -- types

    def _type(self, node: Node | None) -> Type:
        if node is None:
            return Type("")
        kind = node.type
        if kind in _STRIPPED:
            inner = node.child_by_field_name("type") or node.child_by_field_name("trait")
            if inner is None:
                inner = node.named_children[0] if node.named_children else None
            return self._type(inner)
        if kind == "generic_type":
            owner = self._type(node.child_by_field_name("type"))
            arguments = node.child_by_field_name("type_arguments")
            items = arguments.named_children if arguments is not None else ()
            return Type(owner.name, tuple(self._type(item) for item in items if item.type != "lifetime"))
        if kind in ("scoped_type_identifier", "scoped_identifier", "scoped_type_identifier_in_expression_position"):
            path, name = node.child_by_field_name("path"), node.child_by_field_name("name")
            left = self._type(path).name if path is not None else ""
            right = self.text(name) if name is not None else ""
            around = self._impl_around(node) if left == "Self" else None
            if around is not None and right in around.types:
                return around.types[right]
            return Type(f"{left}.{right}" if left else right)
        if kind == "bracketed_type":
            return self._type(node.named_child(0))
        if kind == "qualified_type":
            return self._type(node.child_by_field_name("type"))
        if kind in ("array_type", "slice_type"):
            return Type("[]", (self._type(node.child_by_field_name("element")),))
        if kind == "tuple_type":
            return Type("()", tuple(self._type(item) for item in node.named_children))
        if kind in ("function_type", "closure_type"):
            return Type("->", (self._type(node.child_by_field_name("return_type")),))
        if kind == "generic_type_with_turbofish":
            return self._type(node.child_by_field_name("type"))
        if node.child_count == 0 or kind in ("crate", "super", "self"):
            return Type(self.text(node))
        return Type("")

    def _doc(self, node: Node) -> str:
        """Doc comments before the item; attributes in between do not end the run."""
        return self.comment_before(node, _COMMENTS, _clean)


_KINDS = {
    "def.mod": NodeKind.MODULE,
    "def.function": NodeKind.FUNCTION,
    "def.class": NodeKind.CLASS,
    "def.trait": NodeKind.INTERFACE,
    "def.alias": NodeKind.TYPE_ALIAS,
    "def.constant": NodeKind.VARIABLE,
    "def.macro": NodeKind.MACRO,
}
_ATTRIBUTES = frozenset({"cfg", "cfg_attr", "derive", "doc", "allow", "feature", "inline", "repr", "not", "all", "any"})
_PATH_TOKENS = frozenset({"identifier", "self", "super", "crate", "type_identifier"})
_BEGINS_ITEM = _PATH_TOKENS | {"&", "mutable_specifier"}
_ENDS_ITEM = frozenset({",", ";", ")", "]", "}"})


def _is_arguments(token: Node) -> bool:
    return token.type == "token_tree" and token.child_count > 0 and token.children[0].type == "("


def _joined(prefix: str, path: str) -> str:
    return f"{prefix}::{path}" if prefix else path


def _inner_lines(source: bytes) -> Iterator[str]:
    """The `//!` lines that a file begins with."""
    for line in source.split(b"\n"):
        text = line.strip()
        if text.startswith(b"//!"):
            yield text[3:].strip().decode("utf-8", "replace")
        elif text and not text.startswith((b"//", b"#!")):
            return


def _clean(comment: str) -> str:
    if comment.startswith(("#", "//!", "/*!")):
        return ""  # an attribute, or about what is around
    if comment.startswith("//"):
        return comment.lstrip("/!").strip()
    return _MARGIN.sub("", comment.removeprefix("/*").removesuffix("*/").lstrip("*!")).strip()


EXTRACTOR = RustExtractor
