"""The Python grammar's fields by number, which a node gives without making a string."""

from __future__ import annotations

from tree_sitter import Node

from ctxsearch.indexer.languages import BY_NAME

_field = BY_NAME["python"].language().field_id_for_name


def _field_id(name: str) -> int:
    found = _field(name)
    if found is None:
        raise LookupError(f"the Python grammar has no field {name!r}")
    return found


ALIAS, ARGUMENTS, ATTRIBUTE = _field_id("alias"), _field_id("arguments"), _field_id("attribute")
BODY, CONDITION, CONSEQUENCE = _field_id("body"), _field_id("condition"), _field_id("consequence")
DEFINITION, FUNCTION, KEY = _field_id("definition"), _field_id("function"), _field_id("key")
LEFT, NAME, OBJECT = _field_id("left"), _field_id("name"), _field_id("object")
PARAMETERS, RETURN_TYPE, RIGHT = _field_id("parameters"), _field_id("return_type"), _field_id("right")
SUBSCRIPT, SUPERCLASSES, TYPE = _field_id("subscript"), _field_id("superclasses"), _field_id("type")
TYPE_PARAMETERS, VALUE = _field_id("type_parameters"), _field_id("value")
MODULE_NAME, ARGUMENT = _field_id("module_name"), _field_id("argument")


def first_child(node: Node) -> Node | None:
    children = node.named_children
    return children[0] if children else None
