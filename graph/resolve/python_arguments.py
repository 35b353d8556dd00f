"""What Python's calls pass: spread arguments, receivers passed by hand, and containers by what is in them."""

from __future__ import annotations

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Expr, ParamKind
from ctxsearch.graph.model import NodeFlag
from ctxsearch.graph.resolve.python_overrides import PythonOverrides
from ctxsearch.graph.resolve.values import EXTERNAL, Arg, Box, Class, Coll, Func, Value, Values

MAX_PASSED = 24  # items of a literal that is passed on; longer ones are data
_RECEIVERS = frozenset({ops.THIS, ops.SUPER})
_MARKED = frozenset({ops.KEYWORD, ops.SPREAD})
_STAYING = frozenset({ops.LITERAL, ops.TEMPLATE, ops.SEQUENCE, ops.MAPPING, ops.UNKNOWN})


class PythonArguments(PythonOverrides):
    """Arguments as the callee's parameters get them."""

    # -- containers that are passed on

    def encode_value(self, value: Value) -> str | None:
        """Also a container, by what is known of its items: `run([Task()])`."""
        if isinstance(value, (Box, Coll)):
            return self._encode_container(value)
        return super().encode_value(value)

    def _encode_container(self, value: Box | Coll) -> str | None:
        name, parts = self._contents(value)
        encoded = [[super(PythonArguments, self).encode_value(item) for item in part] for part in parts]
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
        if len(made.args) > MAX_PASSED or (made.args and not any(_may_travel(exprs, arg) for arg in made.args)):
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
        exprs = self.table(path).facts.exprs
        args = exprs[call].args
        if not args:
            return args
        written = self._written_out(path, args)
        on_member = exprs[call].base >= 0 and exprs[exprs[call].base].op is ops.MEMBER
        return written[1:] if on_member and self._is_unbound(path, call, callee) else written

    def _is_unbound(self, path: str, call: int, callee: Func) -> bool:
        """`Base.method(self, x)`: called on the class, a method's receiver is the first argument."""
        exprs = self.table(path).facts.exprs
        base = exprs[exprs[call].base]
        if exprs[base.base].op in _RECEIVERS or exprs[exprs[call].args[0]].op in _MARKED:
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
        for arg in args:
            if exprs[arg].op is ops.SPREAD:
                break
        else:
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


def _may_travel(exprs: tuple[Expr, ...], item: int) -> bool:
    """Whether an item of a container can be a function, class or instance: no constant, no container of its own."""
    entry = exprs[item]
    if entry.op is ops.KEYWORD:
        entry = exprs[entry.base]
    return entry.op not in _STAYING
