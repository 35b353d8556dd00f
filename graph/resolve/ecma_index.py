"""What evaluation of JavaScript needs to know of one file beyond `FileTable`. Built once per file, on demand."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

from ctxsearch.graph import ops
from ctxsearch.graph.facts import MODULE_SCOPE, Definition, Expr
from ctxsearch.graph.model import CALLABLE_KINDS, NodeFlag, NodeKind
from ctxsearch.graph.resolve.tables import CLASS_LIKE, FileTable, Names

ANY_MEMBER = "*"  # a member written under a key that is not constant, or copied from another object
VALUE_KINDS = CALLABLE_KINDS | {NodeKind.CLASS, NodeKind.VARIABLE, NodeKind.PACKAGE}
_HELD = frozenset({ops.FUNCTION, ops.MAPPING, ops.SEQUENCE, ops.CHOICE})
_OBJECT_WRITERS = frozenset({"assign", "defineProperty", "defineProperties"})


class Write(NamedTuple):
    """A value put into a member of something named: `a.b = v`, `a[k] = v`, `Object.assign(a, v)`."""

    names: tuple[str, ...]  # members below the root name
    at: int
    scope: int
    conditional: bool
    value: int  # expression
    spread: bool = False  # the value's members are copied
    getter: bool = False  # reading the member calls the value


class Holder(NamedTuple):
    """What an expression is a part of; that decides the type it is expected to have."""

    kind: str  # "assign" "return" "arg" "entry" "item" "same" "default" "value"
    owner: int  # the assign, definition or expression around it
    place: int = 0
    key: str = ""


class EcmaIndex:
    """Indexes into one file's facts. Never looks at another file."""

    def __init__(self, table: FileTable) -> None:
        self.table = table
        self.expressions: set[int] = set()  # definitions that are values: bound by an assignment, not by their name
        self.function_expr: dict[int, int] = {}  # definition -> its FUNCTION expression
        self.object_of: dict[int, int] = {}  # definition -> the MAPPING expression that it is a member of
        self.this_fields: dict[int, Names] = defaultdict(dict)  # function that binds `this` -> name -> assigns
        self.writes: dict[str, list[Write]] = defaultdict(list)  # root name -> writes below it
        self.holders: dict[int, Holder] = {}  # expression -> what it is a part of
        self.blocks: dict[int, tuple[int, int]] = {}  # definition -> (start, end) of the block that it is visible in
        self.reflections: list[int] = []  # Reflect.apply and Reflect.construct calls
        self._scan_expressions()
        self._scan_assigns()
        self._scan_definitions()

    def _scan_expressions(self) -> None:
        exprs = self.table.facts.exprs
        for index, expr in enumerate(exprs):
            op = expr.op
            if op is ops.FUNCTION or op is ops.CLASS:
                self.expressions.add(expr.base)
                self.function_expr.setdefault(expr.base, index)
            elif op is ops.CALL or op is ops.NEW:
                for place, arg in enumerate(expr.args):
                    self._hold(arg, Holder("arg", index, place))
                if op is ops.CALL and exprs[expr.base].op is ops.MEMBER:
                    self._scan_call(index, expr, exprs[expr.base])
            elif op is ops.MAPPING:
                self._scan_object(index, expr)
            elif op is ops.SEQUENCE or op is ops.CHOICE:
                for place, arg in enumerate(expr.args):
                    self._hold(arg, Holder("item" if op is ops.SEQUENCE else "same", index, place))

    def _hold(self, expr: int, holder: Holder) -> None:
        if expr >= 0 and self.table.facts.exprs[expr].op in _HELD:
            self.holders.setdefault(expr, holder)

    def _scan_object(self, index: int, expr: Expr) -> None:
        exprs = self.table.facts.exprs
        for arg in expr.args:
            entry = exprs[arg]
            if entry.op is ops.KEYWORD and entry.base >= 0:
                self._hold(entry.base, Holder("entry", index, 0, entry.name))
                if exprs[entry.base].op is ops.FUNCTION:
                    self.object_of[exprs[entry.base].base] = index

    def _scan_call(self, index: int, expr: Expr, callee: Expr) -> None:
        exprs = self.table.facts.exprs
        owner = exprs[callee.base]
        if owner.op is not ops.NAME:
            return
        if owner.name == "Reflect" and callee.name in {"apply", "construct"} and expr.args:
            self.reflections.append(index)
        if owner.name != "Object" or callee.name not in _OBJECT_WRITERS or len(expr.args) < 2:
            return
        path = self.member_path(expr.args[0])
        if path is None:
            return
        root, names = path
        for name, value, spread, getter in self._written_by(callee.name, expr.args):
            inside = (*names, name) if not spread else (*names, ANY_MEMBER)
            self.writes[root].append(Write(inside, expr.at, expr.scope, False, value, spread, getter))

    def _written_by(self, how: str, args: tuple[int, ...]) -> list[tuple[str, int, bool, bool]]:
        """(member, value, copied, getter) for each member that Object.assign or defineProperty writes."""
        exprs = self.table.facts.exprs
        found = []
        if how == "assign":
            for source in args[1:]:
                if exprs[source].op is ops.MAPPING:
                    entries = [exprs[arg] for arg in exprs[source].args]
                    found += [(entry.name, entry.base, False, False) for entry in entries if entry.op is ops.KEYWORD]
                else:
                    found.append((ANY_MEMBER, source, True, False))
        elif how == "defineProperty" and len(args) > 2 and exprs[args[1]].text:
            found += self._described(exprs[args[1]].text, args[2])
        elif how == "defineProperties" and exprs[args[1]].op is ops.MAPPING:
            for arg in exprs[args[1]].args:
                if exprs[arg].op is ops.KEYWORD:
                    found += self._described(exprs[arg].name, exprs[arg].base)
        return found

    def _described(self, name: str, descriptor: int) -> list[tuple[str, int, bool, bool]]:
        exprs = self.table.facts.exprs
        if descriptor < 0 or exprs[descriptor].op is not ops.MAPPING:
            return []
        entries = [exprs[arg] for arg in exprs[descriptor].args]
        return [
            (name, entry.base, False, entry.name == "get")
            for entry in entries
            if entry.op is ops.KEYWORD and entry.name in {"value", "get"}
        ]

    def _scan_assigns(self) -> None:
        facts = self.table.facts
        for index, assign in enumerate(facts.assigns):
            self._hold(assign.value, Holder("assign", index))
            target = facts.exprs[assign.target]
            if target.op is ops.NAME:
                value = facts.exprs[assign.value] if assign.value >= 0 and assign.until >= 0 else None
                if value is not None and value.op in (ops.FUNCTION, ops.CLASS):
                    self.blocks[value.base] = (target.at, assign.until)
                continue
            if target.op is ops.MEMBER and facts.exprs[target.base].op is ops.THIS:
                self.this_fields[facts.exprs[target.base].scope].setdefault(target.name, []).append(index)
            path = self.member_path(assign.target)
            if path is not None and path[1]:
                self.writes[path[0]].append(Write(path[1], target.at, target.scope, assign.conditional, assign.value))

    def _scan_definitions(self) -> None:
        for index, definition in enumerate(self.table.facts.definitions):
            for value in definition.returns:
                self._hold(value, Holder("return", index))
            for place, param in enumerate(definition.params):
                self._hold(param.default, Holder("default", index, place))
            if definition.parent >= 0:
                self._hold(definition.value, Holder("value", index))

    def member_path(self, expr: int) -> tuple[str, tuple[str, ...]] | None:
        """(root name, members) of `a.b["c"][0]`; a computed key is ANY_MEMBER; None when the root is not a name."""
        exprs = self.table.facts.exprs
        names: list[str] = []
        while expr >= 0:
            item = exprs[expr]
            if item.op is ops.NAME:
                return item.name, tuple(reversed(names))
            if item.op is ops.MEMBER:
                names.append(item.name)
            elif item.op is ops.INDEX:
                names.append(self._key(item.args[0]) if item.args else ANY_MEMBER)
            else:
                return None
            expr = item.base
        return None

    def _key(self, expr: int) -> str:
        exprs = self.table.facts.exprs
        item = exprs[expr]
        if item.op is ops.LITERAL and item.text:
            return item.text
        if item.op is ops.MEMBER and exprs[item.base].op is ops.NAME and exprs[item.base].name == "Symbol":
            return f"[Symbol.{item.name}]"
        return ANY_MEMBER

    def binding_scope(self, scope: int, name: str) -> int:
        """The scope whose variable a name means; MODULE_SCOPE when no function around binds it."""
        table = self.table
        while scope >= 0:
            if name in table.binds.get(scope, ()) or name in table.defs.get(scope, ()):
                return scope
            definition = table.facts.definitions[scope]
            if any(param.name == name for param in definition.params):
                return scope
            scope = definition.parent
        return MODULE_SCOPE

    def writes_to(self, definition: int, *names: str) -> list[Write]:
        """Writes to members of a class or function, by the name that its own scope knows it by."""
        item = self.table.facts.definitions[definition]
        return [
            write
            for write in self.writes.get(item.name, ())
            if write.names == names and self.binding_scope(write.scope, item.name) in (item.parent, MODULE_SCOPE)
        ]

    def is_constructor_function(self, definition: int) -> bool:
        """Whether a function is used as a class: it sets fields of `this`, or has a prototype."""
        item = self.table.facts.definitions[definition]
        if item.kind is not NodeKind.FUNCTION:
            return False
        return definition in self.this_fields or any(
            write.names[0] == "prototype" for write in self.writes.get(item.name, ())
        )

    def method_owner(self, definition: int) -> int:
        """The class that a method is written in; -1 for a member of an object literal or a free function."""
        parent = self.table.facts.definitions[definition].parent
        return parent if parent >= 0 and self.table.facts.definitions[parent].kind in CLASS_LIKE else -1


def implementations(definitions: tuple[Definition, ...], found: list[int]) -> list[int]:
    """Overload signatures stand for their implementation; signatures alone for the first of them."""
    bodies = [index for index in found if not definitions[index].flags & NodeFlag.DECLARATION]
    if bodies or not found:
        return bodies
    return found[:1]
