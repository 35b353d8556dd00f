"""Building blocks for turning a syntax tree into FileFacts; the only module that touches tree_sitter nodes' plumbing.

How a language works: a `.scm` query names the interesting nodes; the builder runs it once, in the compiled
engine, and sweeps over the captures in document order, keeping track of the enclosing definition. Captures that
start with `def.` become definitions in a first sweep (so that expressions can refer to functions that stand later
in the file); all other captures go to the language's handler of that name in a second sweep. Python code only sees
captured nodes and the expressions below them, never the whole tree.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from tree_sitter import Language, Node, Parser, Query, QueryCursor, Range

from ctxsearch.graph import ops
from ctxsearch.graph.facts import (
    MODULE_SCOPE,
    Assign,
    Definition,
    Export,
    Expr,
    FileFacts,
    Import,
    Op,
    Param,
    Type,
)
from ctxsearch.graph.model import NodeFlag, NodeKind

MAX_DEPTH = 100  # deeper expressions are UNKNOWN: with some seven frames a level this stays inside the stack
MAX_TREE_DEPTH = 60_000  # the engine counts levels in 16 bits: a query that goes further down does not come to an end
MAX_SIGNATURE = 400
MAX_DOC = 4000
SCOPELESS = frozenset({NodeKind.VARIABLE, NodeKind.TYPE_ALIAS, NodeKind.MACRO})  # nothing is "inside" these
_BLANKS = re.compile(r"\s+")
_NEWLINE = re.compile(rb"\n")
_PLACE = itemgetter(0, 1, 2)
_end = re.Match.end
_Capture = tuple[int, int, int, Node]  # start, minus end, rank of its name in the query, node


@dataclass(slots=True)
class Draft:
    """A definition while its file is being read; frozen into `Definition` at the end."""

    index: int
    kind: NodeKind
    name: str
    parent: int
    node: Node  # the whole definition, decorators included
    start_line: int
    end_line: int
    start: int
    end: int
    name_line: int
    qualified_name: str = ""
    flags: NodeFlag = NodeFlag.NONE
    signature: str = ""
    doc: str = ""
    params: list[Param] = field(default_factory=list)
    result: Type | None = None
    returns: list[int] = field(default_factory=list)
    bases: list[Type] = field(default_factory=list)
    implements: list[Type] = field(default_factory=list)
    decorators: list[int] = field(default_factory=list)
    type_params: list[Param] = field(default_factory=list)
    receiver: Type | None = None
    value: int = -1
    lambdas: int = 0  # anonymous functions directly inside, for their names
    block: int = -1


def count_lines(source: bytes) -> int:
    """Lines as an editor counts them, the empty one after a last line end left out."""
    return source.count(b"\n") + (not source.endswith(b"\n") and bool(source))


class Extractor:
    """One language's way from tree to facts. Make one per file: it is the mutable state of that file's reading.

    Subclasses provide `define(node, capture) -> Draft | None` for captures named `def.*` (call `self.draft`),
    `on_<capture>(node)` for every other capture (dots become underscores), and `expression(node) -> int` for
    what an expression node means, built from the `name`, `member`, `call` ... makers below.
    """

    language = ""
    separator = "."
    scopeless = SCOPELESS  # kinds of definition that code is never "inside" of, in this language

    def __init__(self, path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> None:
        self.path = path
        self.source = source
        self.flags = flags
        self.scope = MODULE_SCOPE  # innermost definition at the current capture
        self.drafts: list[Draft] = []
        self.exprs: list[Expr] = []
        self.assigns: list[Assign] = []
        self.imports: list[Import] = []
        self.exports: list[Export] = []
        self.references: list[int] = []
        self.package = ""
        self.doc = ""
        self.module_lambdas = 0
        self.by_node: dict[int, int] = {}  # syntax node id -> definition index
        self._line_starts = [0, *map(_end, _NEWLINE.finditer(source))]
        self._memo: dict[int, int] = {}  # syntax node id -> expression index
        self._depth = 0

    # -- the two sweeps

    def define(self, node: Node, capture: str) -> Draft | None:
        """A draft for a `def.*` capture, or None when the node turns out not to define anything."""
        raise NotImplementedError

    @staticmethod
    def readable(source: bytes) -> bytes:
        """What the grammar is given to read: of the same length, all positions kept."""
        return source

    def expression(self, node: Node) -> int:
        """The index of the expression that `node` means; use `self.expr(node)` for children."""
        raise NotImplementedError

    def captured(self, root: Node, query: Query) -> dict[str, list[Node]]:
        """What the query finds, by capture; a language may take out what the sweeps need not go through one by one."""
        cursor = QueryCursor(query)
        cursor.set_max_start_depth(MAX_TREE_DEPTH)
        return cursor.captures(root)

    def finish(self) -> None:
        """Called once after both sweeps; for work that needs the whole file."""

    def extract(self, root: Node, query: Query) -> FileFacts:
        names = [query.capture_name(rank) for rank in range(query.capture_count)]
        captures = _document_order(names, self.captured(root, query))
        self._sweep_definitions(captures, names)
        self._sweep_sites(captures, names)
        self.finish()
        return self._facts(root)

    def outline(self, root: Node, query: Query) -> FileFacts:
        """Only the functions, types and the like, by name: a fraction of the work.

        What a call, an assignment or a macro defines is left out, and so is what definitions say of themselves.
        """
        names = [query.capture_name(rank) for rank in range(query.capture_count)]
        self._sweep_definitions(_document_order(names, self.captured(root, query)), names)
        return self._facts(root)

    def _sweep_definitions(self, captures: list[_Capture], names: list[str]) -> None:
        stack: list[Draft] = []
        defining = [name.startswith("def.") for name in names]
        for start, _, rank, node in captures:
            if not defining[rank]:
                continue
            while stack and stack[-1].end <= start:
                stack.pop()
            self.scope = stack[-1].index if stack else MODULE_SCOPE
            if node.id in self.by_node:
                continue  # two patterns matched the same node; the first in query order wins
            draft = self.define(node, names[rank])
            if draft is not None:
                self.by_node[node.id] = draft.index
                if draft.kind not in self.scopeless:
                    stack.append(draft)
        self.scope = MODULE_SCOPE

    def _sweep_sites(self, captures: list[_Capture], names: list[str]) -> None:
        stack: list[Draft] = []
        handlers = self._handlers(names)
        completed: set[int] = set()
        for start, _, rank, node in captures:
            while stack and stack[-1].end <= start:
                stack.pop()
            self.scope = stack[-1].index if stack else MODULE_SCOPE
            handler = handlers[rank]
            if handler is not None:
                handler(node)
                continue
            index = self.by_node.get(node.id)
            if index is None or index in completed:
                continue
            completed.add(index)
            draft = self.drafts[index]
            self.complete(draft)
            if draft.kind not in self.scopeless:
                stack.append(draft)

    def _handlers(self, names: list[str]) -> list[Callable[[Node], None] | None]:
        """The method for each capture; None for definitions."""
        return [None if name.startswith("def.") else getattr(self, "on_" + name.replace(".", "_")) for name in names]

    def complete(self, draft: Draft) -> None:
        """Second look at a definition, when every other definition is known: decorators, defaults, initial value.

        `self.scope` is the scope around the definition.
        """

    # -- makers

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode("utf-8", "replace")

    def line(self, offset: int) -> int:
        """The 1-based line of a byte offset.

        Use this, never `Node.start_point` or `end_point`: tree-sitter 0.26 hands out rows it has already freed, and
        a row above 256 then crashes the process.
        """
        return bisect_right(self._line_starts, offset)

    def last_line(self, node: Node) -> int:
        """The 1-based last line of a node; one that ends with its newline ends on the line before."""
        return self.line(max(node.end_byte - 1, node.start_byte))

    def draft(self, kind: NodeKind, name: str, node: Node, *, outer: Node | None = None, **more: Any) -> Draft:
        """Register a definition whose scope is `node`; `outer` widens the extent (decorators, export)."""
        whole = outer or node
        parent = self.scope
        around = self.drafts[parent].qualified_name if parent != MODULE_SCOPE else ""
        draft = Draft(
            index=len(self.drafts),
            kind=kind,
            name=name,
            parent=parent,
            node=node,
            start_line=self.line(whole.start_byte),
            end_line=self.last_line(whole),
            start=whole.start_byte,
            end=node.end_byte,
            name_line=self.line(node.start_byte),
            qualified_name=f"{around}{self.separator}{name}" if around else name,
            **more,
        )
        self.drafts.append(draft)
        return draft

    def anonymous(self, stem: str, node: Node, **more: Any) -> Draft:
        """A function without a name: `<stem1>`, `<stem2>` ... counted in its enclosing definition."""
        if self.scope == MODULE_SCOPE:
            self.module_lambdas += 1
            number = self.module_lambdas
        else:
            around = self.drafts[self.scope]
            around.lambdas += 1
            number = around.lambdas
        flags = more.pop("flags", NodeFlag.NONE) | NodeFlag.ANONYMOUS
        return self.draft(NodeKind.FUNCTION, f"<{stem}{number}>", node, flags=flags, **more)

    def expr(self, node: Node | None) -> int:
        """The expression for a syntax node, made once; -1 for None."""
        if node is None:
            return -1
        known = self._memo.get(node.id)
        if known is not None:
            return known
        if self._depth >= MAX_DEPTH:
            index = self.add(node, ops.UNKNOWN)
        else:
            self._depth += 1
            try:
                index = self.expression(node)
            finally:
                self._depth -= 1
        self._memo[node.id] = index
        return index

    def add(
        self,
        node: Node,
        op: Op,
        name: str = "",
        base: int = -1,
        args: tuple[int, ...] = (),
        text: str = "",
        type: Type | None = None,  # noqa: A002  the field's own name
    ) -> int:
        """Append an expression that stands at `node`."""
        at = node.start_byte
        self.exprs.append(Expr(op, self.scope, bisect_right(self._line_starts, at), at, name, base, args, text, type))
        return len(self.exprs) - 1

    def name(self, node: Node) -> int:
        return self.add(node, ops.NAME, self.text(node))

    def assign(self, target: int, value: int, **more: Any) -> None:
        self.assigns.append(Assign(target, value, **more))

    def signature(self, node: Node, body: Node | None) -> str:
        """The definition up to its body, on one line."""
        end = _head_end(body) if body is not None else min(node.end_byte, node.start_byte + MAX_SIGNATURE)
        text = self.source[node.start_byte : min(end, node.start_byte + 4 * MAX_SIGNATURE)]
        folded = _BLANKS.sub(" ", text.decode("utf-8", "replace")).strip().rstrip("{:=").rstrip()
        return folded[:MAX_SIGNATURE]

    def comment_before(self, node: Node, kinds: frozenset[str], clean: Callable[[str], str]) -> str:
        """The run of comment nodes that ends on the line before `node`, cleaned and joined."""
        lines: list[str] = []
        expected = self.line(node.start_byte)
        previous = node.prev_sibling
        while previous is not None and previous.type in kinds and self.last_line(previous) >= expected - 1:
            lines.append(clean(self.text(previous)))
            expected = self.line(previous.start_byte)
            previous = previous.prev_sibling
        return "\n".join(reversed(lines)).strip()[:MAX_DOC]

    def _facts(self, root: Node) -> FileFacts:
        return FileFacts(
            path=self.path,
            language=self.language,
            line_count=count_lines(self.source),
            definitions=tuple(_freeze(draft, self.source) for draft in self.drafts),
            exprs=tuple(self.exprs),
            assigns=tuple(self.assigns),
            imports=tuple(self.imports),
            exports=tuple(self.exports),
            references=tuple(self.references),
            package=self.package,
            doc=self.doc[:MAX_DOC],
            flags=self.flags,
            parse_errors=int(root.has_error),
            digest=digest(self.source),
        )


def parse_tree(language: Language, source: bytes) -> Node:
    """The root of the syntax tree; tree-sitter accepts any bytes."""
    return Parser(language).parse(source).root_node


def parse_part(language: Language, source: bytes | bytearray, start: int, end: int) -> Node:
    """The root of a syntax tree of the bytes between two offsets; its nodes stand where they stand in the source.

    Rows and columns are not kept (see `Extractor.line`).
    """
    part = Range((0, 0), (0, 0), start, end)
    return Parser(language, included_ranges=[part]).parse(source).root_node


def _document_order(names: list[str], found: dict[str, list[Node]]) -> list[_Capture]:
    """Captures by start, outermost first; of the same extent, in the order in which the query first names them."""
    order: list[_Capture] = []
    for rank, name in enumerate(names):
        order += [(node.start_byte, -node.end_byte, rank, node) for node in found.get(name, ())]
    order.sort(key=_PLACE)
    return order


def digest(source: bytes) -> str:
    """The content hash of a node's text."""
    return hashlib.blake2b(source, digest_size=8).hexdigest()


def _head_end(body: Node) -> int:
    """Where a definition's head ends: before its body, and before comments that stand between the two."""
    first = body
    while (previous := first.prev_sibling) is not None and "comment" in previous.type:
        first = previous
    return first.start_byte


def _freeze(draft: Draft, source: bytes) -> Definition:
    return Definition(
        kind=draft.kind,
        name=draft.name,
        qualified_name=draft.qualified_name,
        parent=draft.parent,
        start_line=draft.start_line,
        end_line=draft.end_line,
        start=draft.start,
        end=draft.end,
        name_line=draft.name_line,
        flags=draft.flags,
        signature=draft.signature,
        doc=draft.doc[:MAX_DOC],
        params=tuple(draft.params),
        result=draft.result,
        returns=tuple(draft.returns),
        bases=tuple(draft.bases),
        implements=tuple(draft.implements),
        decorators=tuple(draft.decorators),
        type_params=tuple(draft.type_params),
        receiver=draft.receiver,
        value=draft.value,
        digest=digest(source[draft.start : draft.end]),
        block=draft.block,
    )
