"""Rust: items in the braces of a macro that itself stands where an item may stand.

`cfg_net! { pub struct TcpStream { .. } }` is a name and tokens for the grammar. Where the tokens are items, and nothing
but items, they are read as such at their place in the file, as if the macro were not there; of `cfg_if!` each branch
is. `bitflags!` is read as the enum that its flags make. What does not read as items without any error is left as
tokens: no definition comes of another language inside a macro.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from operator import attrgetter

from tree_sitter import Node, Query

from ctxsearch.graph.model import NodeFlag
from ctxsearch.indexer.languages import BY_NAME
from ctxsearch.indexer.languages.blocks import BlockExtractor
from ctxsearch.indexer.languages.builder import parse_part

TEMPLATES = frozenset({"quote", "quote_spanned", "parse_quote", "parse_quote_spanned", "stringify"})  # code as data
MAX_NESTING = 6  # macros inside macros that are read; each level reads what is in it once more
_START = attrgetter("start_byte")
_ITEMS = frozenset(
    {
        "associated_type",
        "attribute_item",
        "block_comment",
        "const_item",
        "empty_statement",
        "enum_item",
        "extern_crate_declaration",
        "foreign_mod_item",
        "function_item",
        "function_signature_item",
        "impl_item",
        "inner_attribute_item",
        "line_comment",
        "macro_definition",
        "macro_invocation",
        "mod_item",
        "static_item",
        "struct_item",
        "trait_item",
        "type_item",
        "union_item",
        "use_declaration",
    }
)
_HOLDS_SIGNATURES = frozenset({"trait_item", "foreign_mod_item"})  # where a function may lack its body
# What a body of items can begin with, so that the grammar is not asked to recover from every table and template.
_BEGINS = re.compile(
    rb"(?:\s|//[^\n]*\n)*"
    rb"(?:\#|/\*|[A-Za-z_][\w:]*\s*!|(?:pub|fn|struct|enum|union|trait|impl|mod|use|const|static|type|extern|unsafe|async"
    rb"|default|auto|safe)\b)"
)
_BRANCHES = re.compile(r"if#\[\{(?:elseif#\[\{)*(?:else\{)?")  # the tokens of cfg_if!, groups by their opening
_AS_IN_ENUM = {"const": b"     ", ";": b","}


class ItemMacros(BlockExtractor):
    """Adds what the query finds in such macros to what it finds in the file; it captures them as `@item_macro`."""

    def __init__(self, path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> None:
        super().__init__(path, source, flags)
        self.opened: set[int] = set()  # syntax nodes of the macros that are read as items
        self._readable: bytes | bytearray = source  # what the grammar is given, of the same length
        self._parts: list[Node] = []  # roots of what is read in addition: a node's id is its own while its tree lives

    def on_item_macro(self, node: Node) -> None:
        """Never called: `captured` takes them out."""

    def captured(self, root: Node, query: Query) -> dict[str, list[Node]]:
        return self._with_items(super().captured(root, query), query, 0)

    def _with_items(self, found: dict[str, list[Node]], query: Query, depth: int) -> dict[str, list[Node]]:
        macros = sorted(found.pop("item_macro", []), key=_START)
        if depth == MAX_NESTING:
            return found
        bodies: list[tuple[int, int]] = []
        parts: list[dict[str, list[Node]]] = []
        for macro in macros:
            read = [(body, self._items(macro, body, query)) for body in self._bodies(macro)]
            inside = [items for _, items in read if items is not None]
            if inside and len(inside) == len(read):
                self.open(macro)
                bodies += [(body.start_byte, body.end_byte) for body, _ in read]
                parts += [self._with_items(items, query, depth + 1) for items in inside]
        if parts:
            found["mention"] = list(_outside(found.get("mention", []), bodies))  # tokens: the items' names come now
            for part in parts:
                for name, nodes in part.items():
                    found.setdefault(name, []).extend(nodes)
        return found

    def open(self, macro: Node) -> None:
        """Takes note of a macro that is read as items."""
        self.opened.add(macro.id)

    def _bodies(self, macro: Node) -> list[Node]:
        """The groups of tokens in which items may stand."""
        tokens = macro.children[-1]
        if tokens.type != "token_tree" or self._macro_name(macro) in TEMPLATES:
            return []
        at, end = tokens.start_byte + 1, tokens.end_byte - 1
        if _BEGINS.match(self.source, at, end):
            return [tokens]
        if self.source[at:end].lstrip().startswith(b"if"):
            inner = [child for child in tokens.children[1:-1] if "comment" not in child.type]
            if _BRANCHES.fullmatch("".join(self._shape(child) for child in inner)):
                return [child for child in inner if child.type == "token_tree" and self._shape(child) == "{"]
        return []

    def _macro_name(self, macro: Node) -> str:
        name = macro.child_by_field_name("macro")
        return self.text(name).rpartition("::")[2] if name is not None else ""

    def _shape(self, token: Node) -> str:
        return self.text(token.children[0] if token.type == "token_tree" else token)

    def _items(self, macro: Node, body: Node, query: Query) -> dict[str, list[Node]] | None:
        """What the query finds in a body that holds items alone; None for any other."""
        if self._macro_name(macro) == "bitflags":
            self._write_as_enums(body)
        root = parse_part(BY_NAME["rust"].language(), self._readable, body.start_byte + 1, body.end_byte - 1)
        if not _is_whole(root) or not _is_items(root):
            return None
        found = super().captured(root, query)
        around = macro.parent.parent if macro.parent is not None else None
        if not _is_sound(found, may_lack_bodies=around is not None and around.type in _HOLDS_SIGNATURES):
            return None
        self._parts.append(root)
        return found

    def _write_as_enums(self, body: Node) -> None:
        """Has `struct A: u8 { const B = 1; }` read as `enum A { B = 1, }`, all in its place."""
        text = self._readable = bytearray(self.source) if isinstance(self._readable, bytes) else self._readable
        colon = -1
        for token in body.children:
            if token.type == "struct":
                text[token.start_byte : token.end_byte] = b"enum  "
            elif token.type == ":":
                colon = token.start_byte
            elif token.type == "token_tree" and colon >= 0:
                text[colon : token.start_byte] = b" " * (token.start_byte - colon)
                colon = -1
                for inner in token.children:
                    if inner.type in _AS_IN_ENUM:
                        text[inner.start_byte : inner.end_byte] = _AS_IN_ENUM[inner.type]


def _is_whole(root: Node) -> bool:
    """Whether all of it could be read; `thread_local!` lets its last static do without a semicolon."""
    if not root.has_error:
        return True
    *items, last = root.children
    if any(item.has_error for item in items) or last.type not in ("static_item", "const_item"):
        return False
    *parts, end = last.children
    return end.is_missing and not any(part.has_error for part in parts)


def _is_items(root: Node) -> bool:
    return all(_kind(child) in _ITEMS for child in root.named_children)


def _kind(node: Node) -> str:
    """`name!(..);` is a macro where it may be an item, too."""
    inner = node.named_child(0) if node.type == "expression_statement" else None
    return inner.type if inner is not None and inner.type == "macro_invocation" else node.type


def _is_sound(found: dict[str, list[Node]], *, may_lack_bodies: bool) -> bool:
    """Whether definitions have names, and functions bodies where Rust asks for them: else it is only alike."""
    for node in found.get("def.function", ()):
        if node.type == "function_signature_item":
            parent = node.parent
            around = parent.parent if parent is not None else None
            if not (may_lack_bodies if around is None else around.type in _HOLDS_SIGNATURES):
                return False
    definitions = (node for name, nodes in found.items() if name.startswith("def.") for node in nodes)
    names = (node.child_by_field_name("name") for node in definitions)
    return all(name is None or name.type != "metavariable" for name in names)


def _outside(nodes: list[Node], bodies: list[tuple[int, int]]) -> Iterator[Node]:
    """The nodes that are in none of the bodies, which are in order."""
    starts = [start for start, _ in bodies]
    for node in nodes:
        at = node.start_byte
        place = bisect_right(starts, at) - 1
        if place < 0 or at >= bodies[place][1]:
            yield node
