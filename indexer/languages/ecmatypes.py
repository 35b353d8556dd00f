"""TypeScript's type syntax to `Type`: what an annotation says, without looking anything up.

Beyond the names listed at `Type`, TypeScript needs: ":k" a named member of an anonymous object type (args[0] its type),
"new" a constructor type (args[0] the instance), "typeof" (args[0] names a value), "[k]" an indexed access (args: object
and key), "'k'" a string literal, "import" (args: module and member), "this".
"""

from __future__ import annotations

from collections.abc import Callable

from tree_sitter import Node

from ctxsearch.graph.facts import Type

MAX_TYPE_DEPTH = 40  # deeper types are unknown: bounds recursion on hostile nesting
MAX_MEMBERS = 64  # of an anonymous object type or a union

UNKNOWN = Type("")
_STRING = Type("string")
_NOTHING = frozenset({"null", "undefined", "void", "never"})
_TRANSPARENT = frozenset(
    {
        "type_annotation",
        "opting_type_annotation",
        "omitting_type_annotation",
        "adding_type_annotation",
        "parenthesized_type",
        "readonly_type",
        "optional_type",
        "rest_type",
        "constraint",
        "default_type",
    }
)
_NAMED = frozenset({"type_identifier", "identifier", "predefined_type", "nested_type_identifier", "nested_identifier"})


def read_type(node: Node | None, source: bytes, depth: int = 0) -> Type | None:
    """The type a node writes; None for no node."""
    return None if node is None else _read(node, source, depth)


def _read(node: Node, source: bytes, depth: int) -> Type:
    kind = node.type
    if kind in _NAMED:
        return Type(_text(node, source).replace(" ", "").replace("\n", ""))
    if depth > MAX_TYPE_DEPTH:
        return UNKNOWN
    if kind in _TRANSPARENT:
        inner = _first(node)
        return UNKNOWN if inner is None else _read(inner, source, depth + 1)
    reader = _READERS.get(kind)
    return UNKNOWN if reader is None else reader(node, source, depth + 1)


def _generic(node: Node, source: bytes, depth: int) -> Type:
    name = node.child_by_field_name("name")
    return Type("" if name is None else _text(name, source), type_arguments(node, source, depth))


def type_arguments(node: Node, source: bytes, depth: int = 0) -> tuple[Type, ...]:
    """The types in `<...>` of a generic type, a call or a `new`."""
    arguments = node.child_by_field_name("type_arguments")
    return () if arguments is None else _all(arguments, source, depth)


def _union(node: Node, source: bytes, depth: int) -> Type:
    members: list[Type] = []
    rest: Node | None = node
    while rest is not None and rest.type == "union_type" and len(members) < MAX_MEMBERS:  # left-nested: a | b | c
        sides = [side for side in rest.named_children if side.type != "comment"]
        rest = sides[0] if len(sides) > 1 else None
        members.extend(_read(side, source, depth) for side in reversed(sides[1:] if len(sides) > 1 else sides))
    if rest is not None:
        members.append(_read(rest, source, depth))
    present = tuple(member for member in reversed(members) if member.name not in _NOTHING)
    return present[0] if len(present) == 1 else Type("|", present)


def _intersection(node: Node, source: bytes, depth: int) -> Type:
    return Type("&", _all(node, source, depth))


def _array(node: Node, source: bytes, depth: int) -> Type:
    return Type("[]", _all(node, source, depth)[:1])


def _tuple(node: Node, source: bytes, depth: int) -> Type:
    return Type("()", _all(node, source, depth))


def _function(node: Node, source: bytes, depth: int) -> Type:
    result = node.child_by_field_name("return_type") or node.child_by_field_name("type")
    parameters = node.child_by_field_name("parameters")
    taken = () if parameters is None else tuple(_parameter(child, source, depth) for child in parameters.named_children)
    name = "new" if node.type == "constructor_type" else "->"
    return Type(name, (UNKNOWN if result is None else _read(result, source, depth), *taken))


def _parameter(node: Node, source: bytes, depth: int) -> Type:
    annotation = node.child_by_field_name("type")
    return UNKNOWN if annotation is None else _read(annotation, source, depth)


def _object(node: Node, source: bytes, depth: int) -> Type:
    members = []
    for child in node.named_children[:MAX_MEMBERS]:
        name = child.child_by_field_name("name")
        if child.type == "property_signature" and name is not None:
            kept = read_type(child.child_by_field_name("type"), source, depth) or UNKNOWN
        elif child.type == "method_signature" and name is not None:
            kept = _function(child, source, depth)
        elif child.type == "call_signature":
            members.append(_function(child, source, depth))
            continue
        else:
            continue
        members.append(Type(":" + _text(name, source).strip("'\""), (kept,)))
    return Type("{}", tuple(members))


def _literal(node: Node, source: bytes, _depth: int) -> Type:
    text = _text(node, source)
    if text[:1] in "'\"":
        return Type("'" + text[1:-1] + "'")
    if text in _NOTHING:
        return Type(text)
    return Type("boolean" if text in {"true", "false"} else "number")


def _query(node: Node, source: bytes, _depth: int) -> Type:
    value = _first(node)
    return UNKNOWN if value is None else Type("typeof", (Type(_text(value, source)),))


def _lookup(node: Node, source: bytes, depth: int) -> Type:
    return Type("[k]", _all(node, source, depth)[:2])


def _conditional(node: Node, source: bytes, depth: int) -> Type:
    sides = (node.child_by_field_name("consequence"), node.child_by_field_name("alternative"))
    return Type("|", tuple(_read(side, source, depth) for side in sides if side is not None))


def _imported(node: Node, source: bytes, _depth: int) -> Type:
    call = node.child_by_field_name("object")
    member = node.child_by_field_name("property")
    arguments = None if call is None else call.child_by_field_name("arguments")
    module = None if arguments is None else _first(arguments)
    if module is None or member is None or module.type != "string":
        return UNKNOWN
    return Type("import", (Type(_text(module, source)[1:-1]), Type(_text(member, source))))


def _first(node: Node) -> Node | None:
    return next((child for child in node.named_children if child.type != "comment"), None)


def _all(node: Node, source: bytes, depth: int) -> tuple[Type, ...]:
    return tuple(_read(child, source, depth) for child in node.named_children if child.type != "comment")


def _text(node: Node, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


_READERS: dict[str, Callable[[Node, bytes, int], Type]] = {
    "generic_type": _generic,
    "union_type": _union,
    "intersection_type": _intersection,
    "array_type": _array,
    "tuple_type": _tuple,
    "function_type": _function,
    "constructor_type": _function,
    "object_type": _object,
    "literal_type": _literal,
    "type_query": _query,
    "lookup_type": _lookup,
    "conditional_type": _conditional,
    "member_expression": _imported,
    "this_type": lambda _node, _source, _depth: Type("this"),
    "this": lambda _node, _source, _depth: Type("this"),
    "type_predicate": lambda _node, _source, _depth: Type("boolean"),
    "type_predicate_annotation": lambda _node, _source, _depth: Type("boolean"),
    "asserts": lambda _node, _source, _depth: Type("void"),
    "index_type_query": lambda _node, _source, _depth: _STRING,
    "template_literal_type": lambda _node, _source, _depth: _STRING,
}
