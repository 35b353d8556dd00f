"""What one file says, in language-neutral records: the contract between `indexer` and `graph.resolve`.

A file's facts depend on its bytes and path alone, never on another file; they are cached by content hash.
Expressions live in one flat table per file and refer to one another by index, so that a call inside an
assignment is written once and an evaluator can memoise by (file, index).
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Mapping

import msgspec

from ctxsearch.graph.model import NodeFlag, NodeKind

ONLY = "only"  # name of an ELEMENT: the one variable of a loop, which may be a key
ARROW = "->"  # text of a MEMBER in C++: of what a pointer points at
MAKERS = frozenset({"make_unique", "make_shared"})  # C++ calls that say what they make: the type is with the CALL
METHOD = "("  # text of a MEMBER in Rust: it is called, and no field can be meant
EXPLICIT = "_"  # name of the type of a C++ CALL that writes type arguments: f<A, B>(...) has them as its arguments
CASE = "case"  # text of a MEMBER in Java: a constant of what a switch is about, where that is an enum
LONE_NAME = ";"  # text of a C call that is a name alone, `NAME;`: it calls only a macro
MODULE_SCOPE = -1  # the scope index of code outside every definition


class Op(enum.IntEnum):
    """Expression operators. Unused fields of an `Expr` keep their defaults."""

    UNKNOWN = 0  # nothing can be said (arithmetic, unsupported syntax); stops evaluation
    NAME = 1  # name; C, C++, Java, Kotlin, C#: text = further lines where its scope names the same (`all_lines`)
    MEMBER = 2  # base.name, base->name, base::name, base?.name
    CALL = 3  # base(args...)            every CALL and NEW is a call site
    NEW = 4  # new type(args...): `type` or `base` names the class
    INDEX = 5  # base[args[0]]
    LITERAL = 6  # name = "str" "int" "float" "bool" "none" "bytes" "regex"; text = value of a short string or int
    SEQUENCE = 7  # name = "list" "tuple" "set" "array"; args = items
    MAPPING = 8  # args = KEYWORD entries (constant keys), or values under UNKNOWN keys as KEYWORD with name ""
    FUNCTION = 9  # base = index of a definition: lambda, function expression, method reference to it
    CLASS = 10  # base = index of a definition: class expression
    CHOICE = 11  # one of args: ternary, a or b, if/match expression
    AWAIT = 12  # base, awaited
    ELEMENT = 13  # one item of base when iterated: for x in base, comprehensions, foreach
    CAST = 14  # base seen as `type`
    THIS = 15  # self, this: the instance of the enclosing class
    SUPER = 16  # super: the enclosing class's parents
    KEYWORD = 17  # an argument or entry: name = key, base = value
    SPREAD = 18  # *base, ...base; name "**" for the entries of a mapping
    ENTER = 19  # the value a context manager yields for base: with base as x
    YIELDED = 20  # what a generator yields, seen from inside: yield base
    RECEIVER_CLASS = 21  # the class itself, inside a class method: cls, Self, static
    CALLABLE = 22  # a function taken as a value where the syntax says so: base::name, ::name (base -1); name "new"
    TEMPLATE = 23  # a string made at run time: name = "str", text = what is known of it, "*" for each other part


class Type(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A type as written. Pointers, references, const, nullability and lifetimes are stripped.

    name: dotted as written ("pkg.Foo", "Foo", "a::B" becomes "a.B"); "|" for a union with its members in args;
    "&" for an intersection; "[]" for arrays, slices and lists-by-syntax (args[0] the element);
    "->" for function types (args[0] the result, then parameters); "()" for tuples;
    "{}" for an anonymous object or map type (args: value types); "" unknown.
    """

    name: str
    args: tuple[Type, ...] = ()


class Expr(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One expression. `scope` is the index of the innermost definition around it, or MODULE_SCOPE."""

    op: Op
    scope: int
    line: int  # 1-based
    at: int  # byte offset of its start, for order and block scoping
    name: str = ""
    base: int = -1  # index of an expression (of a definition for FUNCTION and CLASS)
    args: tuple[int, ...] = ()
    text: str = ""
    type: Type | None = None


def all_lines(expr: Expr) -> list[int]:
    """The lines of a NAME that stands for several sites of its scope; written once, they cost a fraction."""
    return [expr.line, *map(int, expr.text.split())]


class ParamKind(enum.IntEnum):
    """How a parameter takes arguments."""

    NORMAL = 0
    KEYWORD_ONLY = 1
    VARIADIC = 2  # *args, ...rest
    KEYWORDS = 3  # **kwargs, options hash
    RECEIVER = 4  # self, cls, this, Go receiver


class Param(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One parameter. A destructured one has name "" and its parts as assignments from its position."""

    name: str
    type: Type | None = None
    default: int = -1  # expression index
    kind: ParamKind = ParamKind.NORMAL


class Definition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A class, function, variable ...: what becomes a node, and what is a scope."""

    kind: NodeKind
    name: str  # "" never: anonymous functions are "<lambda1>", "<arrow2>" ... counted per enclosing scope
    qualified_name: str  # within the file: "Outer.Inner.method"
    parent: int  # index of the enclosing definition or MODULE_SCOPE; always smaller than its own index
    start_line: int  # 1-based inclusive; decorators and attached doc comment included
    end_line: int
    start: int  # byte offsets of the same extent
    end: int
    name_line: int  # line of the name itself
    flags: NodeFlag = NodeFlag.NONE
    signature: str = ""  # one line, white space folded, no body
    doc: str = ""  # doc comment or docstring, markers removed
    params: tuple[Param, ...] = ()
    result: Type | None = None  # declared result type; a variable's or field's declared type
    returns: tuple[int, ...] = ()  # expressions after `return` (and an expression body); yields as YIELDED
    bases: tuple[Type, ...] = ()  # extends, in order (Python: base expressions that are names)
    implements: tuple[Type, ...] = ()
    decorators: tuple[int, ...] = ()  # expressions: decorators, attributes, annotations
    type_params: tuple[Param, ...] = ()  # name and bound
    receiver: Type | None = None  # the type a method is attached to from outside: Go, Rust impl, C++ A::f, extensions
    value: int = -1  # a variable's initial expression
    digest: str = ""  # hash of its source text
    block: int = -1  # byte offset where the branch of its scope that it stands in ends; -1 = in none


class Assign(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """target = value. Destructuring is split: each name gets INDEX, MEMBER or ELEMENT of the whole value."""

    target: int  # NAME, MEMBER or INDEX expression
    value: int  # expression index, or -1 for a bare declaration
    type: Type | None = None  # declared type
    declares: bool = False  # introduces the name (let, :=, local, typed declaration); Python: any plain name
    until: int = -1  # byte offset where the binding's block ends; -1 = the whole scope
    conditional: bool = False  # inside a branch, loop or handler of its scope: does not replace earlier ones
    block: int = -1  # byte offset where that branch ends: until there it does replace them


class Import(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One imported name, as written; linking it to a file is the resolver's work."""

    scope: int
    line: int
    at: int
    module: str  # "a.b", "./x", "crate::m", "stdio.h"; relative Python imports without their dots
    name: str = ""  # imported name; "" = the module itself; "*" = everything
    alias: str = ""  # the local name bound; "" = none (side effect, re-export, star)
    level: int = 0  # Python: leading dots; C: 1 = quoted include; C#: 1 = global using
    kind: str = (
        ""  # language's own flavour: "static", "type", "require", "reexport", "include", "mod", "dynamic", "hiding a b"
    )
    block: int = -1  # byte offset where the branch of its scope that it stands in ends; -1 = in none


class Export(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A name offered to importers, where the language says so: JS/TS export, module.exports, pub use, __all__."""

    name: str  # exported name; "default"; "*" = everything of `module`; "=" = the module is this value
    local: str = ""  # local name it stands for
    module: str = ""  # re-export: where it comes from
    value: int = -1  # exported expression, when it has no name


class FileFacts(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Everything the graph needs to know about one file."""

    path: str
    language: str
    line_count: int
    definitions: tuple[Definition, ...] = ()
    exprs: tuple[Expr, ...] = ()
    assigns: tuple[Assign, ...] = ()
    imports: tuple[Import, ...] = ()
    exports: tuple[Export, ...] = ()
    references: tuple[int, ...] = ()  # NAME/MEMBER expressions that read a constant or type: USES edges
    package: str = ""  # declared package or namespace: Java, Kotlin, Go, C#, PHP
    doc: str = ""  # the file's own doc comment
    flags: NodeFlag = NodeFlag.NONE  # TEST, GENERATED, VENDORED for the whole file
    parse_errors: int = 0  # error nodes the parser reported
    digest: str = ""  # hash of the file's text


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(FileFacts)


def encode_facts(facts: FileFacts) -> bytes:
    """Compact bytes for the cache and for crossing processes."""
    return _encoder.encode(facts)


def decode_facts(data: bytes) -> FileFacts:
    """Inverse of encode_facts; raises msgspec.DecodeError on anything else."""
    return _decoder.decode(data)


class EncodedFacts(Mapping[str, FileFacts]):
    """Facts by path, decoded when asked for: those of a whole repository at once would not fit into memory."""

    def __init__(self, encoded: Mapping[str, bytes]) -> None:
        self.encoded = encoded

    def __getitem__(self, path: str) -> FileFacts:
        return decode_facts(self.encoded[path])

    def __iter__(self) -> Iterator[str]:
        return iter(self.encoded)

    def __len__(self) -> int:
        return len(self.encoded)
