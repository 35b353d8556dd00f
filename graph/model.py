"""The nouns of the graph: nodes, edges and their kinds. Values only; nothing here reads or computes."""

from __future__ import annotations

import enum
import hashlib
from itertools import combinations
from typing import NewType

import msgspec

NodeId = NewType("NodeId", str)


class NodeKind(enum.IntEnum):
    """What a node is. The numbers are stored: append, never renumber."""

    REPOSITORY = 1
    PACKAGE = 2
    MODULE = 3  # a file
    CLASS = 4  # also struct, enum, record, object
    INTERFACE = 5  # also trait, protocol
    FUNCTION = 6
    METHOD = 7
    CONSTRUCTOR = 8
    VARIABLE = 9  # module- or class-level constants and fields worth finding
    TYPE_ALIAS = 10
    MACRO = 11
    SECTION = 12  # a heading of a document, or a piece of a text file
    EXTERNAL = 13  # a library symbol that the code calls; no body


CALLABLE_KINDS = frozenset({NodeKind.FUNCTION, NodeKind.METHOD, NodeKind.CONSTRUCTOR, NodeKind.MACRO})
TYPE_KINDS = frozenset({NodeKind.CLASS, NodeKind.INTERFACE, NodeKind.TYPE_ALIAS})


class NodeFlag(enum.IntFlag):
    """Facts about a node that ranking and display use. Stored as one integer."""

    NONE = 0
    TEST = 1
    GENERATED = 2
    VENDORED = 4
    DEPRECATED = 8
    EXPORTED = 16
    ANONYMOUS = 32  # a lambda or function expression without a name; never a graph node of its own
    STATIC = 64
    ABSTRACT = 128
    ASYNC = 256
    GENERATOR = 512
    PROPERTY = 1024  # read like a field, runs like a method
    DECLARATION = 2048  # a prototype without a body (C header, abstract method, overload signature)
    CLASS_METHOD = 4096  # first parameter is the class itself
    EXTENSION = 8192  # a function that adds to a type defined elsewhere
    PRIVATE = 16384  # visible in its file (C static) or its class only

    # enum's own operators make the result anew each time, ten times slower; resolution asks a million times

    def __and__(self, other: int) -> NodeFlag:
        return _FLAGS[_and(self, other)]

    def __or__(self, other: int) -> NodeFlag:
        return _FLAGS[_or(self, other)]

    @classmethod
    def _missing_(cls, value: object) -> NodeFlag:
        """Decoding comes here for every combination of flags, however often it has seen it."""
        known = _FLAGS.get(value) if isinstance(value, int) else None
        return cls(super()._missing_(value)) if known is None else known


class _Flags(dict[int, NodeFlag]):
    """Flags by their number, each made once."""

    def __missing__(self, value: int) -> NodeFlag:
        found = self[value] = NodeFlag(value)
        return found


_FLAGS = _Flags()
_and, _or = int.__and__, int.__or__
for _pair in combinations(NodeFlag, 2):
    # The first decoder that is made knows the combinations that exist then, and asks Python for every other each time.
    NodeFlag(_pair[0] | _pair[1] | NodeFlag.TEST)


class EdgeKind(enum.IntEnum):
    """What an edge says. The numbers are stored: append, never renumber."""

    CONTAINS = 1
    CALLS = 2
    MAY_DISPATCH = 3  # a virtual call's possible target; never counted as a call
    IMPORTS = 4
    EXTENDS = 5
    IMPLEMENTS = 6
    OVERRIDES = 7
    USES = 8  # a type or constant reference
    DECORATES = 9
    TESTS = 10  # a test and what it exercises
    DOCUMENTS = 11  # a document section that names a symbol


class Rule(enum.IntEnum):
    """Which rule made an edge; its confidence is calibrated from measured precision (docs/graph.md)."""

    STRUCTURE = 1  # containment, written in the source
    LEXICAL = 2  # found in an enclosing scope of the same file
    IMPORT = 3  # through an import that leads to a file of the repository
    SELF = 4  # self, this or super through the class hierarchy
    TYPED = 5  # receiver's type known from annotation, constructor, field or return
    UNIQUE_NAME = 6  # the only definition of that name that could be meant
    FLOW = 7  # a value passed as argument or stored in a container
    HIERARCHY = 8  # class-hierarchy override
    CANDIDATES = 9  # two or three candidates; hidden by default
    NAMING = 10  # test naming convention, or a document that names a symbol


CONFIDENCE: dict[Rule, float] = {
    Rule.STRUCTURE: 1.0,
    Rule.LEXICAL: 0.95,
    Rule.IMPORT: 0.95,
    Rule.SELF: 0.9,
    Rule.TYPED: 0.9,
    Rule.UNIQUE_NAME: 0.85,
    Rule.FLOW: 0.6,
    Rule.HIERARCHY: 0.55,
    Rule.CANDIDATES: 0.3,
    Rule.NAMING: 0.8,
}


class CodeNode(msgspec.Struct, frozen=True, gc=False):
    """One symbol, file or document section. Doc comment and body live in the catalog, not here."""

    id: NodeId
    kind: NodeKind
    name: str
    qualified_name: str  # dotted path inside the repository, in the language's own separators
    path: str  # relative to the repository root, '/' separated; '' for EXTERNAL and REPOSITORY
    start_line: int  # 1-based inclusive
    end_line: int  # 1-based inclusive
    language: str
    signature: str
    content_hash: str  # of the node's own source text
    flags: NodeFlag
    parent: NodeId | None  # the node that contains it


class NodeDocument(msgspec.Struct, frozen=True, gc=False):
    """A node with its text: what the search indexes are built from."""

    node: CodeNode
    doc: str  # doc comment or docstring, markers removed
    body: str  # the node's source lines as indexed; "" for nodes without a file


class Edge(msgspec.Struct, frozen=True, gc=False):
    """One directed relation between two nodes."""

    source: NodeId
    target: NodeId
    kind: EdgeKind
    confidence: float  # 0..1
    rule: Rule
    lines: tuple[int, ...] = ()  # 1-based lines of its sites, in the source node's file


class Unresolved(msgspec.Struct, frozen=True, gc=False):
    """A call whose target is not known, kept with its caller rather than guessed."""

    source: NodeId
    name: str  # the callee as written, shortened
    lines: tuple[int, ...]


def node_id(path: str, kind: NodeKind, qualified_name: str, ordinal: int = 0) -> NodeId:
    """Stable while path, kind and qualified name are; the ordinal tells redefinitions in one file apart."""
    text = f"{path}\0{int(kind)}\0{qualified_name}\0{ordinal}"
    return NodeId(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest())


def module_node_id(path: str) -> NodeId:
    """The id of a file's own node."""
    return node_id(path, NodeKind.MODULE, path)
