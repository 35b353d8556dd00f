"""Rust: where a file names a constant, a static or a variant of an enum.

All of these begin with a capital letter, and a name that stands alone must be declared or imported in the file: what
is left of all identifiers is little more than what the resolver then finds.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter

from tree_sitter import Node, Query

from ctxsearch.graph.facts import MODULE_SCOPE, Import, Op
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.graph.resolve.rust import PRIMITIVES
from ctxsearch.indexer.languages.rust_macros import TEMPLATES, ItemMacros

_START = attrgetter("start_byte")
_CAPITALS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_LIBRARY = frozenset({"std", "core", "alloc"})  # crates of the standard library
_USES = frozenset({"use_declaration", "use_list", "scoped_use_list", "use_as_clause", "use_wildcard"})
_DECLARING = frozenset(
    {"const_item", "static_item", "enum_variant", "const_parameter", "function_item", "macro_definition", "mod_item"}
)


class RustReferences(ItemMacros):
    """Fills `references` from the query's `@mention`, every identifier of the file."""

    def __init__(self, path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> None:
        super().__init__(path, source, flags)
        self._mentions: list[Node] = []
        self._library: frozenset[str] = PRIMITIVES  # names that are known to be of std

    def captured(self, root: Node, query: Query) -> dict[str, list[Node]]:
        found = super().captured(root, query)
        source = self.source
        mentions = [node for node in found.pop("mention", ()) if source[node.start_byte] in _CAPITALS]
        self._mentions = sorted(mentions, key=_START)  # a query gives them in no order
        return found

    def on_mention(self, node: Node) -> None:
        """Never called: `captured` keeps them."""

    def on_variant_of(self, node: Node) -> None:
        """`Kind::Variant { .. }`, made or matched; `module::Type { .. }` is no variant."""
        path = node.child_by_field_name("path")
        last = path.child_by_field_name("name") if path is not None and path.type.startswith("scoped") else path
        if last is not None and self.source[last.start_byte] in _CAPITALS and not self._is_outside(node):
            self.references.append(self.expr(node))

    def finish(self) -> None:
        super().finish()
        source = self.source
        may_be = self._lone_names()
        for node in self._mentions:
            start, end = node.start_byte, node.end_byte
            following = source[end : end + 2]
            if following == b"::" or following[:1] == b"!":
                continue
            if source[start - 2 : start] == b"::":
                self.scope = self.scope_at(start)
                self._path_mention(node)
            elif may_be(source[start:end]):
                self.scope = self.scope_at(start)
                self._lone_mention(node)
        self.scope = MODULE_SCOPE

    def _lone_names(self) -> Callable[[bytes], bool]:
        """What tells whether a name that stands alone may be a constant: by what the file declares and imports."""
        declared = {draft.name for draft in self.drafts if draft.kind is NodeKind.VARIABLE}
        types = {draft.name for draft in self.drafts if draft.kind is not NodeKind.VARIABLE}
        self._library = frozenset(item.alias for item in self.imports if _is_library(item)) | PRIMITIVES - {"Self"}
        if any(item.name == "*" and (item.scope < 0 or item.module != "super") for item in self.imports):
            others = frozenset(name.encode() for name in (types - declared) | self._library)
            return lambda name: name not in others  # a glob import, unless of the module around, may have any name
        imported = {item.alias for item in self.imports}
        return frozenset(name.encode() for name in declared | imported - self._library).__contains__

    def _lone_mention(self, node: Node) -> None:
        parent = node.parent
        if parent is None or parent.type in _USES or self._declares(parent, node):
            return
        if parent.type != "token_tree" or self._is_code(parent):
            self.references.append(self.expr(node))

    def _path_mention(self, node: Node) -> None:
        parent = node.parent
        if parent is None:
            return
        if parent.type == "scoped_identifier":
            around = parent.parent
            if (around is None or around.type not in _USES) and not self._is_outside(parent):
                self.references.append(self.expr(parent))
        elif parent.type == "token_tree" and self._is_code(parent):
            self._token_path(node)

    def _declares(self, parent: Node, node: Node) -> bool:
        if parent.type not in _DECLARING:
            return False
        name = parent.child_by_field_name("name")
        return name is not None and name.start_byte == node.start_byte

    def _is_outside(self, path: Node) -> bool:
        """Whether a path begins with what std is known to have."""
        first = self.source[path.start_byte : path.end_byte].partition(b"::")[0].decode("utf-8", "replace")
        return first in self._library

    def _is_code(self, tokens: Node) -> bool:
        """Whether tokens are of a macro's code, rather than of an attribute or a template."""
        around: Node | None = tokens
        while around is not None and around.type == "token_tree":
            around = around.parent
        if around is None or around.type == "attribute":
            return False
        name = around.child_by_field_name("macro")
        return name is None or self.text(name).rsplit("::", 1)[-1] not in TEMPLATES

    def _token_path(self, node: Node) -> None:
        """`a::b::C` among a macro's tokens."""
        parts = [node]
        before = node.prev_sibling
        while before is not None and before.type == "::":
            segment = before.prev_sibling
            if segment is None or segment.type not in _SEGMENTS:
                return
            parts.append(segment)
            before = segment.prev_sibling
        first = self.text(parts[-1])
        if (before is not None and before.type == "$") or first in self._library:
            return
        found = self.add(node, Op.NAME, first)
        for part in reversed(parts[:-1]):
            found = self.add(node, Op.MEMBER, self.text(part), base=found)
        self.references.append(found)


_SEGMENTS = frozenset({"identifier", "self", "super", "crate"})


def _is_library(item: Import) -> bool:
    return item.module.partition("::")[0] in _LIBRARY
