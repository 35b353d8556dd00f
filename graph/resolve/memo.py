"""Remembered evaluation: the core that every language's evaluator shares.

The result for an expression depends on facts alone, never on what was asked before: results are memoised only when
they did not depend on an evaluation still under way (a cycle) or on the depth limit, and what heads a cycle is not
taken from the memo inside that cycle. That is what makes incremental resolution equal a fresh one. What an
evaluation read of other files is recorded with its memo entry.

All access to other files' facts goes through `touch`/`definition`/`module_member`/`World`'s recorded look-ups.
"""

from __future__ import annotations

from collections.abc import Callable

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Definition, Expr, Op
from ctxsearch.graph.resolve.tables import FileTable
from ctxsearch.graph.resolve.values import UNKNOWN, Value, Values
from ctxsearch.graph.resolve.world import World

MAX_DEPTH = 40  # nested evaluations; a deeper chain is unknown
MAX_WIDTH = 8  # values of one expression; more is unknown
MAX_FLOW = 64  # values that callers pass for one parameter; more is unknown
MAX_STEPS = 20_000  # evaluations for one call site: a safety net against pathological code
MAX_REMEMBERED = 150_000  # evaluations in other files; some hundred bytes each
_FREE = 1 << 30

Operator = Callable[[str, int, Expr], Values]
_Key = tuple[object, ...]
_Memo = dict[_Key, tuple[Values, frozenset[int], frozenset[_Key]]]  # values, keys read abroad, the cycle it heads
_Local = dict[tuple[bool, _Key], tuple[Values, frozenset[int], int]]  # the last: lowest evaluation depended on
_NOTHING: frozenset[int] = frozenset()
_NO_CYCLE: frozenset[_Key] = frozenset()
_Compute = Callable[[], Values]
_Step = Callable[[Value], Values]


class Memo:
    """Evaluates each expression once. `begin(path)` names the file being resolved, its home."""

    width = MAX_WIDTH

    def __init__(self, world: World) -> None:
        self.world = world
        self._tables = world.tables
        self.home = ""
        self._home_table: FileTable | None = None
        self._home_exprs: tuple[Expr, ...] = ()
        self.follow_args = False  # expand Arg values by what callers pass (second phase)
        self._memo: _Memo = {}  # foreign evaluations, valid until any file changes
        self._home_memo: _Memo = {}
        self._settled: dict[_Key, Values] = {}  # of the home file, see `_once`
        self._cyclic = False  # the evaluation under way met a cycle
        self._local: _Local = {}  # results that depend on an evaluation still under way; gone when it ends
        self._local_order: list[tuple[bool, _Key]] = []
        self._running: dict[_Key, int] = {}
        self._low = _FREE
        self._steps = 0
        self._abroad = 0  # nested evaluations in other files
        self._operators: list[Operator] = []  # by Op; evaluate.py fills it
        self._plain: frozenset[Op] = frozenset()  # those that give one value at once, without evaluating anything

    # -- life

    def begin(self, path: str) -> None:
        """Start resolving `path`: fresh home memo."""
        self.home = path
        self._home_memo = {}
        self._settled = {}
        self._home_table = self.world.table(path)
        self._home_exprs = self._home_table.facts.exprs
        if len(self._memo) > MAX_REMEMBERED:
            self._memo.clear()

    def forget(self) -> None:
        """Facts changed: nothing remembered is valid."""
        self._memo.clear()
        self._home_memo = {}
        self._settled = {}
        self.home, self._home_table = "", None

    def ask(self, path: str, expr: int) -> Values:
        """Entry point: the values of an expression, with a fresh budget. Never raises: what is too deep is unknown."""
        self._steps = 0
        try:
            return self.value(path, expr)
        except RecursionError:
            self._running.clear()
            self._local.clear()
            self._local_order.clear()
            self._low, self._abroad = _FREE, 0
            return UNKNOWN

    # -- the memoised core

    def value(self, path: str, expr: int) -> Values:
        if expr < 0:
            return UNKNOWN
        if path == self.home and not self._abroad:
            item = self._home_exprs[expr]
            if item.op is ops.NAME:
                fixed = ("name", item.scope, item.name)
                found = self._settled.get((*fixed, "flow") if self.follow_args else fixed)
                if found is not None:
                    return found
            elif item.op in self._plain:
                return self._operators[item.op](path, expr, item)
        key = ("e", path, expr, "flow") if self.follow_args else ("e", path, expr)
        known = (self._memo if self._abroad or path != self.home else self._home_memo).get(key)
        if known is None or (known[2] and not self._may_recall(known[2])):
            return self._find(path, key, lambda: self._expression(path, expr), self._width())
        if known[1]:
            self.world.reads |= known[1]
        return known[0]

    def _guarded(self, path: str, key: _Key, compute: _Compute, width: int = 0) -> Values:
        """compute(), memoised and safe against cycles, depth and width. `key` must name all its inputs."""
        if self.follow_args:
            key = (*key, "flow")
        width = max(width, self._width())
        known = (self._memo if self._abroad or path != self.home else self._home_memo).get(key)
        if known is None or (known[2] and not self._may_recall(known[2])):
            return self._find(path, key, compute, width)
        if known[1]:
            self.world.reads |= known[1]
        return known[0]

    def _width(self) -> int:
        """How many values still mean something: what callers pass is known one by one."""
        return MAX_FLOW if self.follow_args else self.width

    def _may_recall(self, cycle: frozenset[_Key]) -> bool:
        """Whether the result of what heads a cycle holds here: not inside that cycle."""
        self._cyclic = True
        return cycle.isdisjoint(self._running)

    def _once(self, key: _Key, compute: _Compute) -> Values:
        """compute(), which is no evaluation of its own, asked once for the home file.

        Kept only if it met no cycle and no limit: then it is the same wherever it is asked. What it read is noted for
        the home file as a whole, so this is no use abroad, where every evaluation keeps its own account.
        """
        if self._abroad:
            return compute()
        if self.follow_args:
            key = (*key, "flow")
        known = self._settled.get(key)
        if known is not None:
            return known
        low, cyclic = self._low, self._cyclic
        self._low, self._cyclic = _FREE, False
        found = compute()
        if self._low == _FREE and not self._cyclic:
            self._settled[key] = found
        self._low, self._cyclic = min(low, self._low), cyclic or self._cyclic
        return found

    def _find(self, path: str, key: _Key, compute: _Compute, width: int) -> Values:
        """What is not in the memo: known for now, under way, or to be computed."""
        at_home = path == self.home and not self._abroad
        if self._local:
            known = self._local.get((at_home, key))
            if known is not None:
                self._low = min(self._low, known[2])
                if known[1]:
                    self.world.reads |= known[1]
                return known[0]
        depth = self._running.get(key)
        if depth is not None:
            self._low = min(self._low, depth)
            return UNKNOWN
        self._steps += 1
        if len(self._running) >= MAX_DEPTH or self._steps > MAX_STEPS:
            self._low = 0
            return UNKNOWN
        if at_home:
            return self._run(self._home_memo, key, compute, width)
        return self._run_abroad(self._memo, key, compute, width)

    def _run_abroad(self, memo: _Memo, key: _Key, compute: _Compute, width: int) -> Values:
        """Like _run, keeping what was read with the result: other files will ask for it too."""
        outer = self.world.reads
        reads: set[int] = set()
        self.world.reads = reads
        self._abroad += 1
        try:
            return self._run(memo, key, compute, width)
        finally:
            self._abroad -= 1
            outer |= reads
            self.world.reads = outer

    def _run(self, memo: _Memo, key: _Key, compute: _Compute, width: int) -> Values:
        running = self._running
        depth = len(running) + 1
        outer_low, mark = self._low, len(self._local_order)
        self._low = _FREE
        running[key] = depth
        try:
            found = compute()
            if len(found) > 1:
                found = distinct(found, width)
        finally:
            del running[key]
            low, self._low = self._low, outer_low
        reads = frozenset(self.world.reads) if self._abroad else _NOTHING
        if low >= depth:
            cycle = _NO_CYCLE
            if len(self._local_order) > mark:
                cycle = frozenset(key for _, key in self._local_order[mark:])
                self._cyclic = True
                for stale in self._local_order[mark:]:
                    self._local.pop(stale, None)
                del self._local_order[mark:]
            memo[key] = (found, reads, cycle)
        else:
            self._low = min(outer_low, low)
            if low > 0:
                local = (not self._abroad, key)
                self._local[local] = (found, reads, low)
                self._local_order.append(local)
        if not running and self._local:
            self._local.clear()
            self._local_order.clear()
        return found

    def _expression(self, path: str, index: int) -> Values:
        expr = self.table(path).facts.exprs[index]
        return self._operators[expr.op](path, index, expr)

    # -- access to facts, recorded

    def table(self, path: str) -> FileTable:
        if path == self.home and self._home_table is not None:
            return self._home_table
        table = self._tables.get(path)
        return self.world.table(path) if table is None else table

    def touch(self, path: str, index: int) -> None:
        """Record that what is visible of a definition was read; what a file reads of itself needs no record."""
        if self._abroad or path != self.home:
            table = self.table(path)
            keys = table.top_keys
            if keys is None:
                names = {name: self.world.key_id(("name", path, name)) for name in {"", *table.top}}
                keys = table.top_keys = [*(names[name] for name in table.top), names[""]]  # -1: the file itself
            self.world.reads.add(keys[index])

    def record_name(self, path: str, name: str) -> None:
        """Record that a top-level name of a file was looked up; what a file reads of itself needs no record."""
        if self._abroad or path != self.home:
            self.world.record("name", path, name)

    def definition(self, path: str, index: int) -> Definition:
        table = self.table(path)
        if self._abroad or path != self.home:
            if table.top_keys is None:
                self.touch(path, index)
            else:
                self.world.reads.add(table.top_keys[index])
        return table.facts.definitions[index]

    def _each(self, values: Values, step: _Step) -> Values:
        if len(values) == 1:
            return step(values[0])
        return tuple(found for value in values for found in step(value))


def distinct(values: Values, width: int) -> Values:
    """Each value once, in order; too many to mean anything are unknown."""
    unique = tuple(dict.fromkeys(values))
    return unique if len(unique) <= width else UNKNOWN
