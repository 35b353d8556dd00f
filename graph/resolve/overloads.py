"""Which of several functions of one name a call means: by number of arguments, then by their types.

Pure over values: an argument's type may be unknown, and then it decides nothing.
"""

from __future__ import annotations

from collections.abc import Callable

from ctxsearch.graph.facts import Definition, ParamKind
from ctxsearch.graph.resolve.values import Ext, Inst, Package, Value, Values, Var

NO_MATCH = -1
WEAK = 1  # possible, nothing known against it
RELATED = 3
EXACT = 4

_NUMBERS = ("byte", "short", "char", "int", "long", "float", "double")
_VALUE_TYPES = frozenset({*_NUMBERS, "boolean", "bool", "decimal", "uint", "ulong", "ushort", "sbyte"})
_BOXES = {
    "Byte": "byte",
    "Short": "short",
    "Character": "char",
    "Char": "char",
    "Integer": "int",
    "Int": "int",
    "Long": "long",
    "Float": "float",
    "Double": "double",
    "Boolean": "boolean",
    "bool": "boolean",
    "string": "String",
    "object": "Object",
    "Any": "Object",
}
_NUMBER_LIKE = frozenset({"Number", "Comparable", "decimal", "uint", "ulong", "nint", "IComparable", "IConvertible"})
_OPEN = frozenset({"", "Object", "Serializable", "Cloneable"})  # types that almost anything may be
_TEXTS = frozenset({"CharSequence", "Comparable", "Constable", "IEnumerable", "IComparable"})

Ancestors = Callable[[Inst], Values]


def takes(definition: Definition, count: int) -> bool:
    """Whether a function can be called with so many arguments."""
    params = [param for param in definition.params if param.kind is not ParamKind.RECEIVER]
    required = sum(1 for param in params if param.default < 0 and param.kind is ParamKind.NORMAL)
    if count < required:
        return False
    return count <= len(params) or any(param.kind is ParamKind.VARIADIC for param in params)


def fit(argument: Value, parameter: Value, ancestors: Ancestors) -> int:
    """How well a value of one type fits a parameter of another."""
    if isinstance(parameter, Var):
        return WEAK
    if isinstance(argument, Var):
        return NO_MATCH if isinstance(parameter, Ext) and _is_final(parameter.name) else WEAK
    if isinstance(parameter, Ext):
        if isinstance(argument, Package):  # what nothing in the repository declares
            return _fit_constant(argument.name, simple(parameter.name))
        if isinstance(argument, Ext):
            return _fit_external(argument, parameter, ancestors)
        return _fit_own_to_external(argument, parameter, ancestors)
    if isinstance(parameter, Inst):
        return _fit_to_own(argument, parameter, ancestors)
    return WEAK


def _fit_to_own(argument: Value, parameter: Inst, ancestors: Ancestors) -> int:
    if isinstance(argument, Ext):
        return NO_MATCH if is_type_name(argument.name) else WEAK
    if not isinstance(argument, Inst):
        return WEAK
    if (argument.path, argument.index) == (parameter.path, parameter.index):
        return EXACT
    for ancestor in ancestors(argument):
        if isinstance(ancestor, Inst) and (ancestor.path, ancestor.index) == (parameter.path, parameter.index):
            return RELATED
    return NO_MATCH


def _fit_own_to_external(argument: Value, parameter: Ext, ancestors: Ancestors) -> int:
    name = simple(parameter.name)
    if is_open(parameter) or not isinstance(argument, Inst):
        return WEAK
    if name in _BOXES.values() or name in _NUMBERS or name == "[]":
        return NO_MATCH
    outside = [simple(item.name) for item in ancestors(argument) if isinstance(item, Ext)]
    if name in outside:
        return RELATED
    return WEAK if any(item not in ("Enum", "Record", "Object") for item in outside) else NO_MATCH


def _is_final(name: str) -> bool:
    """A type that no type parameter stands for: a plain value, a string or an array."""
    return name in _VALUE_TYPES or name == "[]" or _BOXES.get(name, name) == "String"


def _fit_items(argument: Value, parameter: Value, ancestors: Ancestors) -> int:
    """Arrays, by their items: those of plain values are of exactly one type."""
    names = [simple(item.name) if isinstance(item, Ext) else "" for item in (argument, parameter)]
    if names[0] and names[0] == names[1]:
        return EXACT
    if any(name in _VALUE_TYPES for name in names):
        return NO_MATCH
    return fit(argument, parameter, ancestors)


def _fit_external(argument: Ext, parameter: Ext, ancestors: Ancestors) -> int:
    given, wanted = simple(argument.name), simple(parameter.name)
    if given == wanted:
        if given == "[]" and argument.args and parameter.args and argument.args[0] and parameter.args[0]:
            return _fit_items(argument.args[0][0], parameter.args[0][0], ancestors)
        return _fit_arguments(argument, parameter)
    if is_open(parameter):
        return WEAK
    if not is_type_name(argument.name):
        return _fit_constant(argument.name, wanted)
    if given == "[]" or wanted == "[]":
        return NO_MATCH
    plain_given, plain_wanted = _BOXES.get(given, given), _BOXES.get(wanted, wanted)
    if plain_given == plain_wanted:
        return RELATED
    return _fit_plain(plain_given, plain_wanted, given, wanted)


def _fit_arguments(argument: Ext, parameter: Ext) -> int:
    """A library's generic type: its type arguments may tell what its name does not."""
    known = [pair for pair in zip(argument.args, parameter.args, strict=False) if all(len(item) == 1 for item in pair)]
    if any(isinstance(value, Var) for pair in known for item in pair for value in item):
        return EXACT
    return EXACT if all(mine == other for mine, other in known) else RELATED


def _fit_constant(name: str, wanted: str) -> int:
    """TimeSpan.Zero, Color.RED: most constants of a type are of that type."""
    return RELATED if simple(name.rpartition(".")[0].lstrip(">")) == wanted else WEAK


def _fit_plain(plain_given: str, plain_wanted: str, given: str, wanted: str) -> int:
    if plain_given in _NUMBERS and plain_wanted in _NUMBERS:
        widens = _NUMBERS.index(plain_given) < _NUMBERS.index(plain_wanted) and given == plain_given
        return RELATED - 1 if widens and wanted == plain_wanted else NO_MATCH
    if plain_given in _NUMBERS or plain_given == "boolean":
        return WEAK if wanted in _NUMBER_LIKE and plain_given != "boolean" else NO_MATCH
    if plain_wanted in _NUMBERS or plain_wanted == "boolean":
        return NO_MATCH
    if plain_given == "String":
        return RELATED if wanted in _TEXTS else NO_MATCH
    if plain_wanted == "String":
        return NO_MATCH
    return WEAK


def arithmetic(left: Values, right: Values) -> Values:
    """The number type that an operator gives of two numbers; unknown when one of them is no number."""
    plain = [_plain(values) for values in (left, right)]
    if any(name not in _NUMBERS or name == "char" for name in plain):
        return ()
    return (Ext(max(*plain, "int", key=_NUMBERS.index)),)


def is_text(values: Values) -> bool:
    """Whether a value is a string."""
    return _plain(values) == "String"


def _plain(values: Values) -> str:
    """The name of a library type without its box; "" for anything else."""
    if len(values) != 1 or not isinstance(values[0], Ext):
        return ""
    name = simple(values[0].name)
    return _BOXES.get(name, name)


def is_open(value: Value) -> bool:
    """Whether a parameter of that type takes almost anything."""
    return isinstance(value, Ext) and _BOXES.get(simple(value.name), simple(value.name)) in _OPEN


def is_type_name(name: str) -> bool:
    """Whether an external's name is that of a type, rather than of a constant or of some call's result."""
    last = simple(name)
    if last in _VALUE_TYPES or last in ("[]", "->", "string", "object", "()", ".->"):
        return True
    return last[:1].isupper() and "()" not in name and (len(last) == 1 or any(letter.islower() for letter in last))


def simple(name: str) -> str:
    """The last part of a dotted name."""
    return name.rsplit(".", 1)[-1]
