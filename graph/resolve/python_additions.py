"""What statements put into Python's containers: `items[key] = value`, `items.append(value)` and the like."""

from __future__ import annotations

from ctxsearch.graph import ops
from ctxsearch.graph.facts import MODULE_SCOPE, Expr
from ctxsearch.graph.resolve.python_generics import PythonGenerics
from ctxsearch.graph.resolve.python_library import ADDERS, COPIES
from ctxsearch.graph.resolve.tables import FileTable
from ctxsearch.graph.resolve.values import EXTERNAL, UNKNOWN, Box, Coll, Value, Values


class PythonAdditions(PythonGenerics):
    """Values that are put into a container after it was made, by the code that is seen doing so."""

    def _stored(self, path: str, expr: Expr) -> tuple[Values, bool]:
        """What `base[key] = value` statements of the same function (or module) stored; and whether that is all."""
        table = self.table(path)
        facts = table.facts
        wanted = facts.exprs[expr.args[0]] if expr.args else None
        constant = constant_key(wanted) if wanted is not None and wanted.op is ops.LITERAL else None
        found: list[Value] = []
        certain = False
        root = table.root_name(expr.base)
        self.record_name(path, root)
        for assign in table.attributes.get(root, ()):
            item = facts.assigns[assign]
            target = facts.exprs[item.target]
            if target.op is not ops.INDEX or not _same(table, target.base, expr.base):
                continue
            key = facts.exprs[target.args[0]] if target.args else None
            written = constant_key(key) if key is not None and key.op is ops.LITERAL else None
            if written is not None and constant is not None and written != constant:
                continue
            replaces = target.scope == expr.scope and target.at < expr.at and not item.conditional
            if replaces and written is not None and written == constant:
                found, certain = [], True
            found += self.value(path, item.value)
        return tuple(found), certain

    def _added(self, path: str, container: int) -> Values:
        """What `container.append(x)` and the like put in, in the file being resolved."""
        table = self.table(path)
        exprs = table.facts.exprs
        chain = _copied(exprs, container)
        if exprs[chain].op not in (ops.NAME, ops.MEMBER) or path != self.home or self._abroad:
            return UNKNOWN
        return self._appended(table, chain)

    def put_in(self, box: Box, key: str | None) -> Values:
        """What statements put into a container that a variable or a field holds, wherever it has got to since."""
        table = self.table(box.path)
        holder = table.holder(box.expr)
        if holder < 0:
            return UNKNOWN  # a literal that is used where it stands
        self.record_name(box.path, table.root_name(holder))
        return (*self._appended(table, holder), *self._set(table, holder, key), *self._grouped(table, holder))

    def _grouped(self, table: FileTable, holder: int) -> Values:
        """What code puts into the containers inside a container: `groups[key].append(x)`, `tables[key][name] = x`."""
        facts = table.facts
        listed: list[Value] = []
        for call in table.additions.get(f"{facts.exprs[holder].name}[]", ()):
            callee = facts.exprs[facts.exprs[call].base]
            if _same(table, table.container_of(callee.base), holder):
                given = self.value(table.path, facts.exprs[call].args[-1])
                listed += self._each(given, self.element) if ADDERS[callee.name] == "all" else given
        mapped: list[Value] = []
        for assign in table.attributes.get(table.root_name(holder), ()):
            target = facts.exprs[facts.assigns[assign].target]
            if target.op is ops.INDEX:
                outer = table.container_of(target.base)
                if outer >= 0 and _same(table, outer, holder):
                    mapped += self.value(table.path, facts.assigns[assign].value)
        lists = (Coll("list", (tuple(listed),)),) if listed else ()
        return (*lists, Coll("dict", (EXTERNAL, tuple(mapped)))) if mapped else lists

    def _appended(self, table: FileTable, holder: int) -> Values:
        exprs = table.facts.exprs
        found: list[Value] = []
        for call in table.additions.get(exprs[holder].name, ()):
            callee = exprs[exprs[call].base]
            if _same(table, callee.base, holder):
                given = self.value(table.path, exprs[call].args[-1])
                found += self._each(given, self.element) if ADDERS[callee.name] == "all" else given
        return tuple(found)

    def _set(self, table: FileTable, holder: int, key: str | None) -> Values:
        facts = table.facts
        found: list[Value] = []
        for assign in table.attributes.get(table.root_name(holder), ()):
            item = facts.assigns[assign]
            target = facts.exprs[item.target]
            if target.op is ops.INDEX and _same(table, target.base, holder):
                written = facts.exprs[target.args[0]] if target.args else None
                constant = constant_key(written) if written is not None and written.op is ops.LITERAL else None
                if key is None or constant is None or constant == key:
                    found += self.value(table.path, item.value)
        return tuple(found)


def _same(table: FileTable, first: int, second: int) -> bool:
    """Whether two expressions name the same container: the same chain of names, on the same class's instances."""
    exprs = table.facts.exprs
    while True:
        one, two = exprs[first], exprs[second]
        if one.op is not two.op or one.name != two.name or one.op not in _CHAIN:
            return False
        if one.op is ops.INDEX and [exprs[arg].text for arg in one.args] != [exprs[arg].text for arg in two.args]:
            return False
        if one.op in (ops.THIS, ops.RECEIVER_CLASS):
            return table.enclosing_class(one.scope) == table.enclosing_class(two.scope)
        if one.op is ops.NAME:
            return _binder(table, one) == _binder(table, two)
        first, second = one.base, two.base


def _binder(table: FileTable, name: Expr) -> int:
    """The scope whose variable a name is."""
    scope = name.scope
    while scope >= 0:
        definition = table.facts.definitions[scope]
        if scope in table.binds and name.name in table.binds[scope]:
            return scope
        if any(param.name == name.name for param in definition.params):
            return scope
        scope = definition.parent
    return MODULE_SCOPE


def constant_key(expr: Expr) -> str | None:
    """A constant key: integers are told from strings."""
    if not expr.text:
        return None
    return f"int:{expr.text}" if expr.name == "int" else expr.text


def _copied(exprs: tuple[Expr, ...], container: int) -> int:
    """The container behind `list(container)`, `container.copy()` and the like."""
    while container >= 0 and exprs[container].op is ops.CALL:
        call = exprs[container]
        callee = exprs[call.base] if call.base >= 0 else call
        if callee.op is ops.NAME and callee.name in COPIES and len(call.args) == 1:
            container = call.args[0]
        elif callee.op is ops.MEMBER and callee.name in COPIES and not call.args:
            container = callee.base
        else:
            break
    return container


_CHAIN = frozenset({ops.NAME, ops.MEMBER, ops.INDEX, ops.THIS, ops.RECEIVER_CLASS})
