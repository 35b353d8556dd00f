"""Python: calls that no call expression shows, what names refer to, and the last resort.

What names and expressions mean is in `python_modules` (imports), `python_generics`, `python_additions`,
`python_containers`, `python_classes`, `python_names`, `python_arguments`, `python_computed` and `python_calls`, each
building on the one before.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Expr, Import, ParamKind
from ctxsearch.graph.model import NodeFlag, NodeKind, Rule
from ctxsearch.graph.resolve.python_calls import PythonCalls
from ctxsearch.graph.resolve.python_containers import ASYNCHRONOUS, ITERATION
from ctxsearch.graph.resolve.python_library import CALLERS, LIBRARY_METHODS
from ctxsearch.graph.resolve.tables import CLASS_LIKE
from ctxsearch.graph.resolve.values import UNKNOWN, Arg, Class, Ext, Func, Inst, Method, Module, Sym, Value, Values

MIN_UNIQUE_LENGTH = 4  # shorter method names are unique by accident
MAX_SUBCLASSES = 3  # that define what their parent leaves open; more say nothing
MAX_HELD = 64  # values of one expression: tables of handlers and registries of classes are that large
SURE = 3  # a call of one of more values than this is as sure as any value flow


class PythonEvaluator(PythonCalls):
    """The rules of Python."""

    language = "python"
    guesses_after_flow = True
    fixed = NodeFlag.PRIVATE  # `self.f()` runs a subclass's static method too
    width = MAX_HELD

    # -- sites without a call expression

    def implicit_calls(self, path: str) -> Iterator[tuple[int, tuple[str, int], Rule, int]]:
        table = self.table(path)
        facts = table.facts
        for definition in facts.definitions:
            for decorator in definition.decorators:
                expr = facts.exprs[decorator]
                if expr.op is not ops.KEYWORD:
                    for target in self._run_by(self.ask(path, decorator)):
                        yield definition.parent, target, Rule.LEXICAL if target[0] == path else Rule.IMPORT, expr.line
        for site in table.sites(ops.ELEMENT, ops.CALL):
            expr = facts.exprs[site]
            if expr.op is ops.CALL:
                if expr.args:
                    yield from self._called_back(path, expr)
            elif expr.name != "slice":
                for value in self.ask(path, expr.base):
                    if isinstance(value, Inst):
                        for target in self._iterated(value, expr):
                            yield expr.scope, target, Rule.TYPED, expr.line

    def implicit_pending(self, path: str) -> list[int]:
        table = self.table(path)
        exprs = table.facts.exprs
        return [
            index
            for index in table.sites(ops.ELEMENT)
            if exprs[index].name != "slice"
            and any(isinstance(value, (Arg, Sym)) for value in self.ask(path, exprs[index].base))
        ]

    def implicit_targets(self, path: str, expr: Expr) -> list[tuple[str, int]]:
        values = [value for value in self.ask(path, expr.base) if isinstance(value, Inst)]
        return [target for value in values for target in self._iterated(value, expr)]

    def _called_back(self, path: str, expr: Expr) -> Iterator[tuple[int, tuple[str, int], Rule, int]]:
        """Built-ins that call a function they are given: `map(f, items)`, `sorted(items, key=f)`."""
        exprs = self.table(path).facts.exprs
        name = exprs[expr.base].name
        if name not in CALLERS or not _is_caller(self.ask(path, expr.base)):
            return
        for arg in expr.args:
            if exprs[arg].op is ops.KEYWORD and exprs[arg].name != "key":
                continue
            if CALLERS[name] == "key" and exprs[arg].op is not ops.KEYWORD:
                continue
            for target in self._run_by(self.ask(path, arg)):
                yield expr.scope, target, Rule.FLOW, expr.line

    def _run_by(self, values: Values) -> Iterator[tuple[str, int]]:
        for value in values:
            if isinstance(value, Func):
                yield value.path, value.index
            elif isinstance(value, Class):
                found = [item for item in self.constructors(value) if isinstance(item, Func)]
                yield from ((item.path, item.index) for item in found)
            elif isinstance(value, Inst):
                found = [item for item in self.called_instance(value) if isinstance(item, Func)]
                yield from ((item.path, item.index) for item in found)

    def _iterated(self, value: Inst, element: Expr) -> Iterator[tuple[str, int]]:
        """`for x in value` runs `__iter__`, and `__next__` of what that returns; `async for` their counterparts."""
        begin, advance = ASYNCHRONOUS if element.name == "async" else ITERATION
        for item in self._iteration(value, begin):
            yield item.path, item.index
        for iterator in self._iterator(value, begin):
            if isinstance(iterator, Inst):
                for item in self._iteration(iterator, advance):
                    yield item.path, item.index

    def implicit_flows(self, path: str) -> Iterator[tuple[tuple[str, int], int, Values]]:
        """A decorator is given what it decorates; what it makes of a method is given the instance."""
        facts = self.table(path).facts
        for index, definition in enumerate(facts.definitions):
            value: Values = (Func(path, index),)
            if definition.kind in CLASS_LIKE:
                value = (Class(path, index),)
            for decorator in reversed(definition.decorators):
                if facts.exprs[decorator].op is ops.KEYWORD:
                    continue
                for target in self._run_by(self.ask(path, decorator)):
                    params = self.definition(*target).params
                    first = next((i for i, param in enumerate(params) if param.kind is not ParamKind.RECEIVER), -1)
                    if first >= 0:
                        yield target, first, value
                if definition.kind not in CLASS_LIKE:
                    value = self._decorated(path, decorator, value) or value
            for made in value if definition.decorators and definition.kind is NodeKind.METHOD else ():
                if isinstance(made, Func) and (made.path, made.index) != (path, index):
                    yield from self._bound_to(made, path, index)

    def _bound_to(self, made: Func, path: str, method: int) -> Iterator[tuple[tuple[str, int], int, Values]]:
        """The wrapper that a method's decorator returns takes the method's instance first."""
        flags, owner = self.definition(path, method).flags, self.table(path).class_of[method]
        params = self.definition(made.path, made.index).params
        if owner >= 0 and params and params[0].kind is ParamKind.NORMAL and not flags & NodeFlag.STATIC:
            instance: Value = Class(path, owner) if flags & NodeFlag.CLASS_METHOD else Inst(path, owner)
            yield (made.path, made.index), 0, (instance,)

    def decorator(self, path: str, expr: int) -> Values:
        if self.table(path).facts.exprs[expr].op is ops.KEYWORD:
            return UNKNOWN
        return super().decorator(path, expr)

    # -- symbols

    def reference(self, path: str, expr: int) -> Values:
        item = self.table(path).facts.exprs[expr]
        if item.op is ops.NAME:
            return self._symbol(path, item)
        return super().reference(path, expr)

    def _symbol(self, path: str, item: Expr) -> Values:
        """The definition that a name means; nothing for a parameter or a local variable."""
        table = self.table(path)
        scope = item.scope
        while scope >= 0:
            definition = table.facts.definitions[scope]
            if definition.kind not in CLASS_LIKE or scope == item.scope:
                if any(param.name == item.name for param in definition.params):
                    return UNKNOWN
                if scope in table.imports and item.name in table.imports[scope]:
                    imports = table.imports[scope][item.name]
                    return tuple(v for i in imports for v in self.imported_symbol(path, table.facts.imports[i]))
                if scope in table.defs and item.name in table.defs[scope]:
                    return (Class(path, table.defs[scope][item.name][-1]),)
                if scope in table.binds and item.name in table.binds[scope]:
                    return UNKNOWN
            scope = definition.parent
        return self.defined(Module(path), item.name)

    def defined(self, owner: Value, name: str) -> Values:
        """Through a class's ancestors, and through a module's star imports and submodules."""
        if isinstance(owner, (Class, Inst)):
            for ancestor in self.ancestry(owner.path, owner.index):
                found = super().defined(ancestor, name) if isinstance(ancestor, Class) else UNKNOWN
                if found:
                    return found
            return UNKNOWN
        found = super().defined(owner, name)
        if found or not isinstance(owner, Module):
            return found
        table = self.table(owner.path)
        for scope in sorted(table.stars):
            for index in reversed(table.stars[scope]):
                found = self._star_symbol(owner.path, table.facts.imports[index], name)
                if found:
                    return found
        return UNKNOWN

    def _star_symbol(self, path: str, item: Import, name: str) -> Values:
        def compute() -> Values:
            modules = [value for value in self.import_modules(path, item) if isinstance(value, Module)]
            return tuple(v for module in modules if module.path != path for v in self.defined(module, name))

        return self._guarded(path, ("star symbol", path, item.at, name), compute)

    # -- the last resort

    def rule(self, path: str, expr: Expr, values: Values) -> Rule:
        if len(values) > SURE:
            return Rule.FLOW
        if expr.op is ops.CALL and expr.base >= 0:
            callee = self.table(path).facts.exprs[expr.base]
            if callee.op in (ops.THIS, ops.RECEIVER_CLASS):
                return Rule.SELF
            if callee.op is ops.INDEX and all(isinstance(value, Class) for value in values):
                return Rule.LEXICAL  # a generic class with its arguments
        return super().rule(path, expr, values)

    def keeps_all(self, values: Values) -> bool:
        """What a table or a branch can hold is known one by one; only guesses know nothing."""
        return bool(values)

    def guess(self, path: str, index: int, expr: Expr) -> list[tuple[str, int]]:  # noqa: ARG002
        """The only method of that name, for a receiver of which nothing is known."""
        facts = self.table(path).facts
        if expr.op is not ops.CALL or expr.base < 0:
            return []
        callee = facts.exprs[expr.base]
        name = callee.name
        if callee.op is not ops.MEMBER:
            return []
        receiver = facts.exprs[callee.base]
        may_be_unique = _may_be_unique(name)
        most = MAX_SUBCLASSES if receiver.op is ops.THIS else int(may_be_unique)
        if not most:
            return []
        if receiver.op in (ops.THIS, ops.RECEIVER_CLASS):
            may_be_unique = may_be_unique and not self._is_field(path, receiver, name)
        elif self.called(self.ask(path, callee.base)):
            return []  # known, and without such a member
        found = self._named(path, name, most)
        if len(found) != 1 or not may_be_unique:
            return self._in_subclasses(path, receiver, found)
        return found if self._related(path, found[0][0]) and self._is_method(*found[0]) else []

    def _is_field(self, path: str, receiver: Expr, name: str) -> bool:
        """Whether the class keeps something under that name: then that is called, not a method of another class."""
        table = self.table(path)
        owner = table.enclosing_class(receiver.scope)
        return owner >= 0 and name in table.member_names(owner)

    def _named(self, path: str, name: str, most: int) -> list[tuple[str, int]]:
        """The definitions of a name that a file's code can mean, up to one more than `most`: as good as all of them."""
        named: Iterable[tuple[str, int]] = self.world.named(self.world.language(path), name)
        if not self.table(path).facts.flags & NodeFlag.TEST:
            named = (item for item in named if not self.world.flags(item[0]) & NodeFlag.TEST)
        return list(islice(named, most + 1))

    def is_only(self, path: str, expr: Expr, target: tuple[str, int]) -> bool:
        """Whether what value flow found is also the only method of that name."""
        if expr.op is not ops.CALL or expr.base < 0:
            return False
        callee = self.table(path).facts.exprs[expr.base]
        return callee.op is ops.MEMBER and _may_be_unique(callee.name) and self._named(path, callee.name, 1) == [target]

    def _is_method(self, path: str, index: int) -> bool:
        definition = self.definition(path, index)
        return definition.kind is NodeKind.METHOD and self.table(path).class_of[index] >= 0

    def _in_subclasses(self, path: str, receiver: Expr, found: list[tuple[str, int]]) -> list[tuple[str, int]]:
        """`self.step()` in a class that leaves `step` to its subclasses: theirs, when these are the only ones."""
        owner = self.table(path).enclosing_class(receiver.scope)
        if receiver.op is not ops.THIS or owner < 0 or not 0 < len(found) <= MAX_SUBCLASSES:
            return []
        for place, index in found:
            around = self.table(place).class_of[index]
            if not self._is_method(place, index) or Class(path, owner) not in self.ancestry(place, around):
                return []
        return found

    def _related(self, path: str, target: str) -> bool:
        """Whether a file can have to do with another: the same package, or an import that names it."""
        parts = self.module_name(target).split(".")
        if path == target or path.split("/")[:-1][:2] == target.split("/")[:-1][:2]:
            return True
        imported = {part for item in self.table(path).facts.imports for part in item.module.split(".")}
        return not imported.isdisjoint(parts) or path.partition("/")[0] == parts[0]


def _may_be_unique(name: str) -> bool:
    return len(name) >= MIN_UNIQUE_LENGTH and name not in LIBRARY_METHODS


def _is_caller(values: Values) -> bool:
    """A built-in function of functools or of a list, not a namesake."""
    return any(
        (isinstance(value, Ext) and value.name.removeprefix("functools.") in CALLERS) or isinstance(value, Method)
        for value in values
    )


EVALUATOR = PythonEvaluator
