"""What calling, awaiting and entering something gives in Python."""

from __future__ import annotations

import re

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Definition, Expr, ParamKind
from ctxsearch.graph.model import NodeFlag
from ctxsearch.graph.resolve.python_additions import constant_key
from ctxsearch.graph.resolve.python_containers import NONE
from ctxsearch.graph.resolve.python_library import CONTAINERS, PASS_THROUGH
from ctxsearch.graph.resolve.python_names import PythonNames
from ctxsearch.graph.resolve.values import (
    EXTERNAL,
    OUTSIDE,
    SYMBOLIC,
    UNKNOWN,
    Arg,
    Box,
    Class,
    Coll,
    Ext,
    Func,
    Gen,
    Inst,
    Method,
    Sym,
    Value,
    Values,
)

MAX_PASSED = 24  # items of a literal that is passed on; longer ones are data

MIN_PART = 3  # characters of a computed name that must be written out, with the mark of the rest: `"do_" + name`


class PythonCalls(PythonNames):
    """Results by declared overloads, for the receiver, and of library functions that hand on what they are given."""

    def eval_choice(self, path: str, index: int, expr: Expr) -> Values:
        found = super().eval_choice(path, index, expr)
        return tuple(value for value in found if value != NONE) or found

    def eval_await(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        found = self.value(path, expr.base)
        base = self.table(path).facts.exprs[expr.base]
        if base.op is ops.CALL and self._is_coroutine(path, base):
            return self._each(found, _awaited)
        return self._each(found, self._await_of)

    def _is_coroutine(self, path: str, call: Expr) -> bool:
        """Whether a call runs an `async def`: what that returns is what awaiting gives."""
        callees = self.value(path, call.base)
        return any(
            isinstance(value, Func) and bool(self.definition(value.path, value.index).flags & NodeFlag.ASYNC)
            for value in callees
        )

    def _await_of(self, value: Value) -> Values:
        """What awaiting an object gives: what its class's __await__ says, not the object."""
        if isinstance(value, Inst):
            methods = self.class_member(value.path, value.index, "__await__")
            found = [item for item in methods if isinstance(item, Func)]
            if found:
                results = tuple(result for item in found for result in self.result_for(item, value))
                parts = [result.args[-1] for result in results if isinstance(result, Coll) and result.args]
                return tuple(part for values in parts for part in values)
        return _awaited(value)

    def eval_enter(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        return self._each(self.value(path, expr.base), self._entered)

    def _entered(self, value: Value) -> Values:
        """What `with value as x` binds."""
        if isinstance(value, Gen):
            return self._yielded(value)
        if isinstance(value, Inst):
            for name in ("__enter__", "__aenter__"):
                methods = self.class_member(value.path, value.index, name)
                functions = [item for item in methods if isinstance(item, Func)]
                if functions:
                    return tuple(found for item in functions for found in self.result_for(item, value))
            return UNKNOWN
        if isinstance(value, Coll):
            return value.args[-1] if value.args else EXTERNAL
        if isinstance(value, (Arg, Sym)):
            return SYMBOLIC
        return EXTERNAL if isinstance(value, OUTSIDE) else UNKNOWN

    def eval_call(self, path: str, index: int, expr: Expr) -> Values:
        base = self.table(path).facts.exprs[expr.base]
        if base.op is ops.MEMBER and base.name == "__new__" and expr.args:
            return self._each(self.value(path, expr.args[0]), self.instance_of) or EXTERNAL
        callees = self.value(path, expr.base)
        if len(callees) == 1 and isinstance(callees[0], Func):
            if base.op is ops.MEMBER and self._returns_receiver(callees[0]):
                found = self.call_result(callees[0], path, index)
                return self._seen_from(path, base, callees[0], found)
            if base.op is ops.MEMBER and base.base >= 0:
                receivers = self.value(path, base.base)
                if len(receivers) == 1 and isinstance(receivers[0], Inst):
                    generic = self.generic_result(callees[0], receivers[0])
                    if generic:
                        return generic
        return self._each(callees, lambda callee: self.call_result(callee, path, index))

    def _returns_receiver(self, callee: Func) -> bool:
        definition = self.definition(callee.path, callee.index)
        if definition.result is not None and definition.result.name.rpartition(".")[2] == "Self":
            return True
        exprs = self.table(callee.path).facts.exprs
        return any(_is_receiver(exprs, item) for item in definition.returns)

    def _seen_from(self, path: str, member: Expr, callee: Func, found: Values) -> Values:
        """A method that returns its receiver, called on a subclass's instance, gives that instance."""
        owner = self.table(callee.path).class_of[callee.index]
        base = self.table(path).facts.exprs[member.base]
        if base.op is ops.SUPER:
            enclosing = self.table(path).enclosing_class(base.scope)
            receivers: Values = (Inst(path, enclosing),) if enclosing >= 0 else UNKNOWN
        else:
            receivers = self.value(path, member.base)
        seen = [Inst(item.path, item.index) for item in receivers if isinstance(item, (Inst, Class))]
        result: list[Value] = []
        for value in found:
            if isinstance(value, Inst) and (value.path, value.index) == (callee.path, owner) and seen:
                result += seen
            else:
                result.append(value)
        return tuple(result)

    def call_result(self, callee: Value, path: str, index: int) -> Values:
        if isinstance(callee, Func):
            definition = self.definition(callee.path, callee.index)
            if definition.flags & NodeFlag.GENERATOR and definition.result is None:
                return (Gen(callee.path, callee.index),)
            signature = self._signature_for(callee, path, index)
            if signature >= 0:
                return self._by_signature(callee, signature, path, index)
        if isinstance(callee, Inst):
            methods = self.called_instance(callee)
            return self._each(
                tuple(item for item in methods if isinstance(item, Func)),
                lambda item: self.call_result(item, path, index),
            )
        if isinstance(callee, Method):
            return self._container_result(callee, path, index)
        if isinstance(callee, Coll) and callee.name == "->":
            return callee.args[0]
        if isinstance(callee, (Arg, Sym)):
            return SYMBOLIC
        if isinstance(callee, Ext):
            return self._library_result(callee, path, index)
        return super().call_result(callee, path, index)

    # -- containers that are passed on

    def encode_value(self, value: Value) -> str | None:
        """Also a container, by what is known of its items: `run([Task()])`."""
        if isinstance(value, (Box, Coll)):
            return self._encode_container(value)
        return super().encode_value(value)

    def _encode_container(self, value: Box | Coll) -> str | None:
        name, parts = self._contents(value)
        encoded = [[super(PythonCalls, self).encode_value(item) for item in part] for part in parts]
        if not any(item is not None for part in encoded for item in part):
            return None
        written = ["\2".join(item.replace("\0", "\1") for item in part if item is not None) for part in encoded]
        return "\0".join(["Coll", name, *written])

    def _contents(self, value: Box | Coll) -> tuple[str, tuple[Values, ...]]:
        """A container's name as an instance of a library's type, and its type arguments."""
        if isinstance(value, Coll):
            return value.name, value.args
        exprs = self.table(value.path).facts.exprs
        made = exprs[value.expr]
        if len(made.args) > MAX_PASSED:
            return "list", ()
        if made.op is ops.SEQUENCE and made.name == "tuple":
            return "tuple", tuple(self.value(value.path, arg) for arg in made.args)
        items = self.box_items(value, None)
        return ("dict", (EXTERNAL, items)) if self.is_mapping(value) else ("list", (items,))

    def decode_value(self, encoded: str) -> Value | None:
        tag, name, *parts = encoded.split("\0")
        if tag != "Coll":
            return super().decode_value(encoded)
        return Coll(name, tuple(self._decode_items(part) for part in parts))

    def _decode_items(self, part: str) -> Values:
        found: list[Value] = []
        for encoded in part.split("\2") if part else ():
            value = super().decode_value(encoded.replace("\1", "\0"))
            if isinstance(value, Arg) and self.follow_args:
                found += self.expand(value)
            elif value is not None:
                found.append(value)
        return tuple(found)

    # -- arguments

    def given(self, path: str, call: int, callee: Func) -> tuple[int, ...]:
        args = self.table(path).facts.exprs[call].args
        if not args:
            return args
        written = self._written_out(path, args)
        return written[1:] if self._is_unbound(path, call, callee) else written

    def _is_unbound(self, path: str, call: int, callee: Func) -> bool:
        """`Base.method(self, x)`: called on the class, a method's receiver is the first argument."""
        exprs = self.table(path).facts.exprs
        base = exprs[exprs[call].base] if exprs[call].base >= 0 else exprs[call]
        if base.op is not ops.MEMBER or exprs[base.base].op in _RECEIVERS or exprs[exprs[call].args[0]].op in _MARKED:
            return False
        definition = self.definition(callee.path, callee.index)
        takes = definition.params[0].kind if definition.params else ParamKind.NORMAL
        if takes is not ParamKind.RECEIVER or definition.flags & NodeFlag.CLASS_METHOD:
            return False
        owners = self.value(path, base.base)
        return bool(owners) and all(isinstance(owner, Class) for owner in owners)

    def _written_out(self, path: str, args: tuple[int, ...]) -> tuple[int, ...]:
        """`*items` and `**options` replaced by their items, where these are a literal of the same file."""
        exprs = self.table(path).facts.exprs
        if all(exprs[arg].op is not ops.SPREAD for arg in args):
            return args
        found: list[int] = []
        for arg in args:
            items = self._literal_items(path, exprs[arg].base) if exprs[arg].op is ops.SPREAD else ()
            found += items or (arg,)
        return tuple(found)

    def _literal_items(self, path: str, spread: int) -> tuple[int, ...]:
        exprs = self.table(path).facts.exprs
        values = self.value(path, spread)
        if len(values) != 1 or not isinstance(values[0], Box) or values[0].path != path:
            return ()
        items = exprs[values[0].expr].args
        return () if any(exprs[item].op is ops.SPREAD for item in items) else items

    def _signature_for(self, callee: Func, path: str, call: int) -> int:
        """The one overload signature of a function that a call can mean; -1 when there is none or more than one."""
        table = self.table(callee.path)
        definition = table.facts.definitions[callee.index]
        named = table.defs[definition.parent].get(definition.name, ()) if len(table.defs[definition.parent]) else ()
        if len(named) < 2:
            return -1
        exprs = self.table(path).facts.exprs
        fitting = [
            item
            for item in named
            if table.facts.definitions[item].flags & NodeFlag.DECLARATION
            and _accepts(table.facts.definitions[item], exprs, exprs[call].args)
        ]
        return fitting[0] if len(fitting) == 1 else -1

    def _by_signature(self, callee: Func, signature: int, path: str, call: int) -> Values:
        declared = self.table(callee.path).facts.definitions[signature].result
        typed = self.typed(callee.path, signature, declared)
        found = typed or super().call_result(callee, path, call)
        if typed or declared is None or declared.name != "->":
            return found
        results = self.typed(callee.path, signature, declared.args[0]) if declared.args else UNKNOWN
        functions = tuple(value for value in found if not isinstance(value, Inst))
        return (*functions, Coll("->", (results,))) if results else functions

    def _library_result(self, callee: Ext, path: str, index: int) -> Values:
        """Library functions that hand on what they are given."""
        last = callee.name.rpartition(".")[2]
        args = self.table(path).facts.exprs[index].args
        if last == "wraps()" and args:
            return self.value(path, args[0])
        if last in CONTAINERS and (not args or last == "defaultdict"):
            return (Box(path, index),)
        if last not in PASS_THROUGH or not args or "()" in callee.name:
            return self.external_result(callee)
        kind = PASS_THROUGH[last]
        if kind == "second" and len(args) > 1:
            return self.value(path, args[1])
        if kind == "cast" and len(args) > 1:
            classes = tuple(value for value in self.value(path, args[0]) if isinstance(value, Class))
            return self._each(classes, self.instance_of) or self.value(path, args[1])
        if kind == "class":
            return tuple(
                Class(item.path, item.index) for item in self.value(path, args[0]) if isinstance(item, Inst)
            ) or self.external_result(callee)
        if kind == "attribute" and len(args) > 1:
            return self._attribute(path, args)
        given = self.value(path, args[0])
        if kind == "same":
            return given or UNKNOWN
        if kind == "next":
            return self._each(given, self.element)
        if kind == "filter" and len(args) > 1:
            given = self.value(path, args[1])
        if kind in ("items", "filter"):
            items = self._each(given, self.element)
            return (Coll("list", (items,)),) if items else self.external_result(callee)
        if kind == "enumerate":
            items = self._each(given, self.element)
            return (Coll("list", ((Coll("tuple", (EXTERNAL, items)),),)),)
        if kind == "zip":
            parts = tuple(self._each(self.value(path, arg), self.element) for arg in args)
            return (Coll("list", ((Coll("tuple", parts),),)),)
        if kind == "map":
            results = self._map_results(path, args)
            return (Coll("list", (results,)),) if results else self.external_result(callee)
        return self.external_result(callee)

    def _attribute(self, path: str, args: tuple[int, ...]) -> Values:
        """`getattr(x, "name")`; of a name made at run time, `getattr(x, "visit_" + kind)`, every method so called."""
        owners, names = self.value(path, args[0]), self._names_written(path, args[1])
        found = [value for name in names for owner in owners for value in self._named_member(owner, name)]
        default = self.value(path, args[2]) if len(args) > 2 else UNKNOWN
        return (*found, *(value for value in default if value != NONE)) if found else UNKNOWN

    def _names_written(self, path: str, index: int) -> list[str]:
        """What is known of a name that an expression gives, "*" for a part that is not; [] when nothing is."""
        table = self.table(path)
        expr = table.facts.exprs[index]
        if expr.op is ops.NAME:
            bound = self.choose(table, table.places(expr.scope, expr.name), expr.at)
            values = [table.facts.assigns[place].value for _, kind, place in bound if kind == 0]
            expressions = [table.facts.exprs[value] for value in values if value >= 0]
        else:
            expressions = [expr]
        written = [_written(table.facts.exprs, item) for item in expressions]
        return written if all(len(name) > MIN_PART or "*" not in name for name in written) and all(written) else []

    def _named_member(self, owner: Value, name: str) -> Values:
        if "*" not in name:
            return self.member(owner, name)
        start, _, end = name.partition("*")
        return self._methods_like(owner, start, end)

    def _methods_like(self, owner: Value, start: str, end: str) -> Values:
        if isinstance(owner, (Arg, Sym)):
            return SYMBOLIC
        if not isinstance(owner, (Inst, Class)):
            return UNKNOWN
        names = {
            name
            for ancestor in self.ancestry(owner.path, owner.index)
            if isinstance(ancestor, Class)
            for name in self._own_names(ancestor)
            if name.startswith(start) and name.endswith(end) and len(name) > len(start) + len(end)
        }
        found = [value for name in sorted(names) for value in self._class_member(owner, name)]
        return tuple(value for value in found if isinstance(value, Func))

    def _own_names(self, owner: Class) -> frozenset[str]:
        self.touch(owner.path, owner.index)
        return self.table(owner.path).member_names(owner.index)

    def _map_results(self, path: str, args: tuple[int, ...]) -> Values:
        found: list[Value] = []
        for arg in args:
            for value in self.value(path, arg):
                if isinstance(value, Func):
                    found += self.returned(value.path, value.index)
                elif isinstance(value, Class):
                    found.append(Inst(value.path, value.index))
        return tuple(item for item in found if not isinstance(item, Arg))

    def _container_result(self, callee: Method, path: str, index: int) -> Values:
        """What a method of a list, dictionary ... gives."""
        owner, name = callee.owner, callee.name
        if name in ("get", "pop", "setdefault", "popleft", "popitem", "__getitem__"):
            expr = self.table(path).facts.exprs[index]
            first = self.table(path).facts.exprs[expr.args[0]] if expr.args else None
            key = constant_key(first) if first is not None and first.op is ops.LITERAL else None
            default = self.value(path, expr.args[1]) if len(expr.args) > 1 else UNKNOWN
            found = (*self.item(owner, key), *default)
            return tuple(value for value in found if value != NONE) or EXTERNAL
        if name == "values":
            items = self.item(owner, None)
            return (Coll("list", (items,)),) if items else EXTERNAL
        if name == "items":
            items = self.item(owner, None)
            return (Coll("list", ((Coll("tuple", (EXTERNAL, items)),),)),) if items else EXTERNAL
        if name == "copy":
            return (owner,)
        if name in ("__next__", "send", "__anext__"):
            return self.element(owner)
        return EXTERNAL


_FIELD = re.compile(r"\{\w*\}")
_RECEIVERS = frozenset({ops.THIS, ops.SUPER})
_MARKED = frozenset({ops.KEYWORD, ops.SPREAD})


def _written(exprs: tuple[Expr, ...], expr: Expr) -> str:
    """The text of a string expression, "*" for a part that is made at run time; "" for any other expression."""
    if expr.op in (ops.LITERAL, ops.TEMPLATE):
        return expr.text
    if expr.op is ops.CALL and expr.base >= 0 and exprs[expr.base].op is ops.MEMBER:
        callee = exprs[expr.base]
        text = exprs[callee.base].text if exprs[callee.base].op is ops.LITERAL else ""
        parts = _FIELD.split(text) if callee.name == "format" else []
        return "*".join(parts) if len(parts) == 2 else ""
    return ""


def _is_receiver(exprs: tuple[Expr, ...], index: int) -> bool:
    """`return self`, or `return cls(...)`."""
    expr = exprs[index]
    if expr.op is ops.CALL and expr.base >= 0:
        callee = exprs[expr.base]
        if callee.op is ops.RECEIVER_CLASS:
            return True
        return callee.op is ops.MEMBER and callee.name == "__class__" and exprs[callee.base].op is ops.THIS
    return expr.op is ops.THIS


def _accepts(signature: Definition, exprs: tuple[Expr, ...], args: tuple[int, ...]) -> bool:
    """Whether a signature can be called with so many positional arguments and these keywords."""
    items = [exprs[arg] for arg in args]
    if any(item.op is ops.SPREAD for item in items):
        return True
    keywords = {item.name for item in items if item.op is ops.KEYWORD}
    count = len(items) - len(keywords)
    params = [param for param in signature.params if param.kind is not ParamKind.RECEIVER]
    places = [param for param in params if param.kind is ParamKind.NORMAL]
    if count > len(places) and not any(param.kind is ParamKind.VARIADIC for param in params):
        return False
    names = {param.name for param in params}
    if not keywords <= names and not any(param.kind is ParamKind.KEYWORDS for param in params):
        return False
    filled = {param.name for param in places[:count]} | keywords
    required = (ParamKind.NORMAL, ParamKind.KEYWORD_ONLY)
    return all(param.name in filled or param.default >= 0 for param in params if param.kind in required)


def _awaited(value: Value) -> Values:
    if isinstance(value, Coll) and value.name in ("awaitable", "coroutine", "future", "task"):
        return value.args[-1]
    return (value,)
