"""Rust's closures: what std's methods pass to them, and what a mapped container then holds."""

from __future__ import annotations

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Expr
from ctxsearch.graph.model import NodeFlag
from ctxsearch.graph.resolve.evaluate import Evaluator
from ctxsearch.graph.resolve.values import UNKNOWN, Ext, Func, Values

# Methods of iterators, Option and Result that call their closure with an item.
GIVE_ITEM = frozenset(
    [
        "all",
        "and_then",
        "any",
        "filter",
        "filter_map",
        "find",
        "find_map",
        "flat_map",
        "for_each",
        "inspect",
        "is_some_and",
        "map",
        "map_or",
        "map_or_else",
        "map_while",
        "max_by_key",
        "min_by_key",
        "partition",
        "position",
        "retain",
        "skip_while",
        "sort_by_key",
        "take_while",
    ]
)
FLATTENING = frozenset({"and_then", "filter_map", "flat_map", "find_map", "map_while"})
_PAIRS = frozenset({"HashMap", "BTreeMap", "IndexMap"})  # their items are keys with values


class RustClosures(Evaluator):
    """Closures as arguments of std's methods."""

    def param(self, path: str, index: int, place: int) -> Values:
        definition = self.table(path).facts.definitions[index]
        if place == 0 and definition.flags & NodeFlag.ANONYMOUS and definition.params[place].type is None:
            found = self._given(path, index)
            if found:
                return found
        return super().param(path, index, place)

    def _given(self, path: str, closure: int) -> Values:
        """What the call that a closure is an argument of passes to it."""
        exprs = self.table(path).facts.exprs
        call = self.table(path).function_calls.get(closure, -1)
        callee = exprs[exprs[call].base] if call >= 0 and exprs[call].base >= 0 else None
        if callee is None or callee.op is not ops.MEMBER or callee.name not in GIVE_ITEM:
            return UNKNOWN
        items = [
            value.args[0]
            for value in self.value(path, callee.base)
            if isinstance(value, Ext) and value.args and value.name.rsplit(".", 1)[-1] not in _PAIRS
        ]
        return tuple(item for values in items for item in values)

    def mapped(self, container: Ext, name: str, path: str, call: Expr) -> Values:
        """container.map(closure) and its like: a container of what the closure returns."""
        exprs = self.table(path).facts.exprs
        given = [value for arg in call.args for value in self.value(path, arg) if exprs[arg].op is ops.FUNCTION]
        results = tuple(
            result for value in given if isinstance(value, Func) for result in self.returned(value.path, value.index)
        )
        if name in FLATTENING:
            inner = [result.args[0] for result in results if isinstance(result, Ext) and result.args]
            results = tuple(item for values in inner for item in values)
        return (Ext(container.name, (results,)),) if results else UNKNOWN
