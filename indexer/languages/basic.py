"""Basic languages: one extractor driven by a query file alone (docs/add-a-language.md shows how to write one).

A pattern's head says what it found, its other captures are the parts:

    @def.<kind>   a definition: @name (several are joined), @owner (`M` of `function M.f`), @body, @type, @value
    @call         a call site: @callee, @receiver
    @member       a member access that is no call: @field, @receiver
    @instance     an expression whose @type is written in it: a literal of a struct
    @here         an expression that means the class around it
    @import       @module, @alias (the local name), @imported (one name of the module);
                  without the last two everything of the module is visible, @hidden aside
    @param        a parameter's name: @type
    @local        a local variable's name: @type, @value
    @base         a type that the definition around it extends
    @doc          a documentation string that belongs to the next definition, or with `(#set! doc "inner")` to the
                  one around it
    @ignore       nothing: keeps a later pattern from taking the node
    @comment      a comment: a run of them before a definition documents it
    @package      the package that the file declares

`(#set! merge)` joins a definition with the one before it of the same name (clauses of one function),
`(#set! flags "test static")` sets flags, `(#set! outer "n")` widens the extent by n parents, `(#set! join ":")` puts
a mark after each part of a name of several parts, `(#set! alias "last")` binds an import's last part and
`(#set! alias "text")` the importing expression itself.
Of two patterns for the same node the first wins. It never looks at node types of its own accord, except that
a leaf that reads like an identifier is a name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from tree_sitter import Node, Query, QueryCursor

from ctxsearch.graph.facts import MODULE_SCOPE, FileFacts, Import, Op, Param, ParamKind, Type
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages.builder import MAX_DOC, Draft, Extractor

KINDS = {
    "function": NodeKind.FUNCTION,
    "method": NodeKind.METHOD,
    "constructor": NodeKind.CONSTRUCTOR,
    "class": NodeKind.CLASS,
    "module": NodeKind.CLASS,
    "extension": NodeKind.CLASS,
    "interface": NodeKind.INTERFACE,
    "type": NodeKind.TYPE_ALIAS,
    "macro": NodeKind.MACRO,
    "constant": NodeKind.VARIABLE,
    "field": NodeKind.VARIABLE,
    "section": NodeKind.SECTION,
}
_CONTAINERS = frozenset({NodeKind.CLASS, NodeKind.INTERFACE})
_CALLABLE = frozenset({NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.CONSTRUCTOR})
_THIS = frozenset({"self", "this", "__MODULE__"})
_CONSTANTS = frozenset({"nil", "null", "true", "false", "True", "False", "undefined", "none", "None"})
_IDENTIFIER = re.compile(r"[^\W\d][\w.?!'-]*")
_TYPE_NAME = re.compile(
    r"[*?&!\s]*(?:const\s+|inout\s+|some\s+|any\s+)*([^\W\d][\w.]*)\s*[?!]*(?:[\[<(].*)?", re.DOTALL
)
_MARKERS = re.compile(r"^\s*(?:/\*+!?|<#|\{-+\s*\|?|\(\*+|///?!?|//|#+!?|---?\[*|--\s*\||;+|%+|\*(?!/))?\s?\|?\s?")
_ENDS = re.compile(r"\s*(?:\*+/|#>|-\}|\*+\)|\]\])\s*$")
_SITES = frozenset({"call", "import", "param", "local", "base", "package", "doc"})
_HEADS = _SITES | {"member", "instance", "here", "comment", "ignore"}
_EXPRESSIONS = frozenset({"call", "member", "instance", "here", "import"})
_KEYWORD = re.compile(r"^(?:import|include|open|use|using|require|library)\s+")
_QUOTES = "\"'`<>"

_Parts = dict[str, list[Node]]


class _Found(NamedTuple):
    """One match of one pattern."""

    start: int
    end: int
    pattern: int
    head: str
    node: Node
    parts: _Parts


class BasicExtractor(Extractor):
    """One file of a basic language."""

    def __init__(self, path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> None:
        super().__init__(path, source, flags)
        self._settings: list[dict[str, str | None]] = []
        self._meanings: dict[int, _Found] = {}  # syntax node id -> what the query says it is
        self._comments: dict[int, tuple[int, Node]] = {}  # last line -> first line, comment
        self._docs: list[_Found] = []
        self._spent_docs = 0
        self._by_name: dict[str, list[Draft]] = {}
        self._aliases: set[int] = set()  # name nodes that an import binds

    def extract(self, root: Node, query: Query) -> FileFacts:
        self._settings = [query.pattern_settings(index) for index in range(query.pattern_count)]
        found = self._matches(root, query)
        self._note(found)
        definitions = [item for item in found if item.head.startswith("def.")]
        self._sweep(definitions, self._define)
        self._sweep([item for item in found if item.head in _SITES or item.node.id in self.by_node], self._site)
        return self._facts(root)

    def outline(self, root: Node, query: Query) -> FileFacts:
        """All of it: there is little else than definitions."""
        return self.extract(root, query)

    # -- matches

    def _matches(self, root: Node, query: Query) -> list[_Found]:
        found = []
        heads: dict[int, str] = {}
        for pattern, parts in QueryCursor(query).matches(root):
            head = heads.get(pattern)
            if head is None:
                head = heads[pattern] = _head(parts)
            if head:
                node = parts[head][0]
                found.append(_Found(node.start_byte, node.end_byte, pattern, head, node, parts))
        found.sort(key=lambda item: (item.start, -item.end, item.pattern))
        return _first_patterns(found)

    def _note(self, found: list[_Found]) -> None:
        """What is needed before the sweeps: meanings of expressions, comments, names bound by imports."""
        for item in found:
            if item.head in _EXPRESSIONS:
                self._meanings.setdefault(item.node.id, item)
            if item.head == "comment":
                self._note_comment(item)
            elif item.head == "doc" and self._settings[item.pattern].get("doc") != "inner":
                self._docs.append(item)
            elif item.head == "import":
                self._aliases |= {node.id for node in item.parts.get("alias", ())}

    def _note_comment(self, item: _Found) -> None:
        first = self.line(item.start)
        before = self.source[self._line_starts[first - 1] : item.start]
        if not before.strip() and not (first == 1 and self.source.startswith(b"#!")):
            self._comments[self.last_line(item.node)] = (first, item.node)

    def _sweep(self, found: list[_Found], handle: Callable[[_Found], Draft | None]) -> None:
        """Call `handle` for each match in document order, `scope` being the innermost definition around it."""
        stack: list[Draft] = []
        for item in found:
            while stack and stack[-1].end <= item.start:
                stack.pop()
            self.scope = stack[-1].index if stack else MODULE_SCOPE
            opened = handle(item)
            if opened is not None and opened.kind not in self.scopeless:
                stack.append(opened)
        self.scope = MODULE_SCOPE

    # -- definitions

    def _define(self, item: _Found) -> Draft | None:
        if item.node.id in self.by_node or not item.parts.get("name"):
            return None
        settings = self._settings[item.pattern]
        kind = self._kind(item)
        name = self._joined(item, "name")
        if not name:
            return None
        outer = _ancestor(item.node, int(settings.get("outer") or 0))
        earlier = self._earlier_clause(kind, name) if "merge" in settings else None
        if earlier is not None:
            earlier.end, earlier.end_line = item.end, self.last_line(item.node)
            self.by_node[item.node.id] = earlier.index
            return earlier
        draft = self.draft(kind, name, item.node, outer=outer, flags=self._flags(item))
        draft.name_line = self.line(item.parts["name"][0].start_byte)
        self._own(draft, item)
        body = item.parts.get("body")
        draft.signature = self.signature(item.node, body[0] if body else None)
        if body and body[0].end_byte > draft.end:  # a grammar that puts the body beside the signature
            draft.end, draft.end_line = body[0].end_byte, self.last_line(body[0])
        draft.doc = self._doc(draft, outer or item.node)
        self.by_node[item.node.id] = draft.index
        self._by_name.setdefault(name, []).append(draft)
        return draft

    def _kind(self, item: _Found) -> NodeKind:
        kind = KINDS[item.head.removeprefix("def.")]
        inside = self.scope >= 0 and self.drafts[self.scope].kind in _CONTAINERS
        if kind is NodeKind.FUNCTION and (inside or "owner" in item.parts):
            return NodeKind.METHOD
        return kind

    def _own(self, draft: Draft, item: _Found) -> None:
        """A definition that is attached to an owner from outside is named after it."""
        owner = self._part(item, "owner")
        if owner:
            draft.receiver = Type(owner.replace(":", "."))
            around = draft.qualified_name.removesuffix(draft.name)
            draft.qualified_name = f"{around}{draft.receiver.name}{self.separator}{draft.name}"
        draft.result = self._type(item)

    def _flags(self, item: _Found) -> NodeFlag:
        flags = NodeFlag.NONE
        for word in (self._settings[item.pattern].get("flags") or "").split():
            flags |= NodeFlag[word.upper()]
        return flags | (NodeFlag.EXTENSION if item.head == "def.extension" else NodeFlag.NONE)

    def _earlier_clause(self, kind: NodeKind, name: str) -> Draft | None:
        """The definition just before in the same scope, when it is of the same name and kind."""
        for draft in reversed(self.drafts):
            if draft.parent == self.scope:
                return draft if draft.name == name and draft.kind is kind else None
        return None

    # -- comments

    def _doc(self, draft: Draft, node: Node) -> str:
        doc = self._doc_string(node.start_byte)
        if doc:
            return doc
        lines: list[str] = []
        last = self.line(node.start_byte) - 1
        while last in self._comments:
            first, comment = self._comments.pop(last)
            lines[:0] = self._comment_lines(comment)
            draft.start, draft.start_line = comment.start_byte, first
            last = first - 1
        return "\n".join(lines).strip()[:MAX_DOC]

    def _doc_string(self, start: int) -> str:
        """The last documentation string before the definition that no definition before it has taken."""
        doc = ""
        while self._spent_docs < len(self._docs) and self._docs[self._spent_docs].end <= start:
            doc = self._doc_text(self._docs[self._spent_docs])
            self._spent_docs += 1
        return doc

    def _doc_text(self, item: _Found) -> str:
        text = self.text(item.node).strip(_QUOTES + " \n\t")
        return "\n".join(line.strip() for line in text.splitlines())[:MAX_DOC]

    def _comment_lines(self, node: Node) -> list[str]:
        return [_ENDS.sub("", _MARKERS.sub("", line)).rstrip() for line in self.text(node).splitlines()]

    # -- sites

    def _site(self, item: _Found) -> Draft | None:
        if item.head.startswith("def."):
            return self._complete(item)
        if item.head in _SITES:
            getattr(self, f"_on_{item.head}")(item)
        return None

    def _complete(self, item: _Found) -> Draft:
        draft = self.drafts[self.by_node[item.node.id]]
        value = item.parts.get("value")
        if value and draft.value < 0:
            draft.value = self.expr(value[0])
        return draft

    def _on_call(self, item: _Found) -> None:
        self.expr(item.node)

    def _on_import(self, item: _Found) -> None:
        module = _KEYWORD.sub("", self._part(item, "module"))
        if not module:
            return
        imported, alias = self._part(item, "imported"), self._part(item, "alias")
        rule = self._settings[item.pattern].get("alias")
        if rule:
            alias = alias or (module.rsplit(".", 1)[-1] if rule == "last" else self._inline(item))
        name = imported or ("" if alias else "*")
        alias = alias or imported
        hidden = " ".join(["hiding", *map(self.text, item.parts["hidden"])]) if "hidden" in item.parts else ""
        self.imports.append(Import(self.scope, self.line(item.start), item.start, module, name, alias, kind=hidden))

    def _inline(self, item: _Found) -> str:
        """The name under which a module imported in the middle of an expression is known to that expression."""
        return self.text(item.node)

    def _on_param(self, item: _Found) -> None:
        if self.scope >= 0:
            name = self.text(item.node)
            self.drafts[self.scope].params.append(Param(name, self._type(item), kind=ParamKind.NORMAL))

    def _on_local(self, item: _Found) -> None:
        if item.node.id in self._aliases or (self.scope < 0 and self._is_defined(item)):
            return
        value = item.parts.get("value")
        target = self.add(item.node, Op.NAME, self.text(item.node))
        self.assign(target, self.expr(value[0]) if value else -1, type=self._type(item), declares=True)

    def _is_defined(self, item: _Found) -> bool:
        """Whether a top-level definition already stands for this name."""
        return any(draft.start <= item.start < draft.end for draft in self._by_name.get(self.text(item.node), ()))

    def _on_base(self, item: _Found) -> None:
        if self.scope >= 0 and self.drafts[self.scope].kind in _CONTAINERS:
            base = _type_of(self.text(item.node))
            if base is not None:
                self.drafts[self.scope].bases.append(base)

    def _on_package(self, item: _Found) -> None:
        self.package = self.text(item.node)
        self.doc = self.doc or self._doc_before(item.node)

    def _on_doc(self, item: _Found) -> None:
        """A documentation string inside what it documents."""
        if self._settings[item.pattern].get("doc") == "inner":
            doc = self._doc_text(item)
            if self.scope >= 0:
                self.drafts[self.scope].doc = doc
            else:
                self.doc = doc

    def _doc_before(self, node: Node) -> str:
        last = self.line(node.start_byte) - 1
        return "\n".join(self._comment_lines(self._comments[last][1])).strip() if last in self._comments else ""

    # -- expressions

    def expression(self, node: Node) -> int:
        meaning = self._meanings.get(node.id)
        if meaning is not None:
            return self._meant(node, meaning)
        if node.named_child_count == 0:
            return self._leaf(node)
        if node.named_child_count == 1:
            return self.expr(node.named_child(0))  # parentheses, await, try ...: the same value
        return self.add(node, Op.UNKNOWN)

    def _meant(self, node: Node, item: _Found) -> int:
        if item.head == "instance":
            return self.add(node, Op.CAST, type=self._type(item))
        if item.head == "here":
            return self.add(node, Op.RECEIVER_CLASS)
        if item.head == "import":
            return self.add(node, Op.NAME, self._inline(item))
        receiver = item.parts.get("receiver")
        base = self.expr(receiver[0]) if receiver else -1
        if item.head == "member":
            return self.add(node, Op.MEMBER, self._part(item, "field"), base)
        callee = item.parts["callee"][0]
        if receiver:
            called = self.add(callee, Op.MEMBER, self._joined(item, "callee"), base)
        else:
            called = self.expr(callee) if callee.id != node.id else self._leaf(callee)
        return self.add(node, Op.CALL, base=called)

    def _leaf(self, node: Node) -> int:
        text = self.text(node)
        if text in _THIS:
            return self.add(node, Op.THIS)
        if text == "super":
            return self.add(node, Op.SUPER)
        if text in _CONSTANTS:
            return self.add(node, Op.LITERAL, "bool")
        if _IDENTIFIER.fullmatch(text):
            return self.add(node, Op.NAME, text)
        return self.add(node, Op.LITERAL, "str" if text[:1] in "\"'`" else "int")

    # -- parts

    def _part(self, item: _Found, name: str) -> str:
        nodes = item.parts.get(name)
        return self._plain(nodes[0]) if nodes else ""

    def _joined(self, item: _Found, name: str) -> str:
        """A name of several parts: `f:g:` where the parts are joined by colons, "f g" otherwise."""
        parts = [self._plain(node) for node in item.parts[name]]
        mark = self._settings[item.pattern].get("join")
        return "".join(part + mark for part in parts) if mark else " ".join(parts)

    def _type(self, item: _Found) -> Type | None:
        nodes = item.parts.get("type")
        return _type_of(self.text(nodes[0])) if nodes else None

    def _plain(self, node: Node) -> str:
        """A name without the decorations that some grammars leave on it."""
        return " ".join(_unquoted(self.text(node)).rstrip("=").split())


def _head(parts: _Parts) -> str:
    return next((name for name in parts if name in _HEADS or name.startswith("def.")), "")


def _first_patterns(found: list[_Found]) -> list[_Found]:
    """Of several patterns for one node the first."""
    first: dict[int, int] = {}
    for item in found:
        first[item.node.id] = min(first.get(item.node.id, item.pattern), item.pattern)
    return [item for item in found if item.pattern == first[item.node.id]]


def _unquoted(text: str) -> str:
    return text.strip().strip(_QUOTES)


def _ancestor(node: Node, levels: int) -> Node | None:
    """The node so many levels up; None for the node itself."""
    found: Node | None = None
    for _ in range(levels):
        parent = (found or node).parent
        if parent is None:
            break
        found = parent
    return found


def _type_of(text: str) -> Type | None:
    """A written type: its name, or "[]" for anything that is no plain name; None when it says nothing."""
    plain = _TYPE_NAME.fullmatch(text.strip())
    if plain is not None:
        return Type(plain[1])
    return Type("[]") if text.strip() else None


EXTRACTOR = BasicExtractor
