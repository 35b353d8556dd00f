"""Python: scopes, classes and value flow as the language defines them. Imports are linked in `python_modules`."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import islice

from ctxsearch.graph import ops
from ctxsearch.graph.facts import MODULE_SCOPE, Assign, Definition, Expr, Import, ParamKind, Type
from ctxsearch.graph.model import CALLABLE_KINDS, NodeFlag, NodeKind, Rule
from ctxsearch.graph.resolve.python_generics import PythonGenerics
from ctxsearch.graph.resolve.python_library import (
    ADDERS,
    BUILTINS,
    CALLERS,
    COPIES,
    LIBRARY_METHODS,
    PASS_THROUGH,
    TRANSPARENT_TYPES,
)
from ctxsearch.graph.resolve.python_modules import join_path
from ctxsearch.graph.resolve.tables import CLASS_LIKE, FileTable
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
    Module,
    Sym,
    Value,
    Values,
)

MIN_UNIQUE_LENGTH = 4  # shorter method names are unique by accident
MAX_ANCESTORS = 1000  # of one class
MAX_SUBCLASSES = 3  # that define what their parent leaves open; more say nothing
MAX_HELD = 24  # values of one expression: tables of handlers and registries of classes are that large
SURE = 3  # a call of one of more values than this is as sure as any value flow
END = sys.maxsize  # a place after every statement of a scope
_NONE = Ext("none")
_Place = tuple[int, int, int]


class PythonEvaluator(PythonGenerics):
    """The rules of Python."""

    language = "python"
    guesses_after_flow = True
    width = MAX_HELD
    _adding: dict[str, list[int]] | None = None  # of the home file, see `_additions`

    # -- names

    def lookup(self, path: str, scope: int, name: str, at: int) -> Values:
        """Function scopes outwards; a class body is seen from itself alone; then the module and the built-ins."""
        definitions = self.table(path).facts.definitions
        place, inner, lambdas = at, scope, True
        while inner >= 0:
            definition = definitions[inner]
            lambdas = lambdas and definition.name.startswith("<")
            if definition.kind not in CLASS_LIKE:
                found = self.in_function(path, inner, name, place)
                if found is not None:
                    return found
            elif inner == scope:
                found = self.bound(path, inner, name, place)
                if found is not None:
                    return found
            # seen from nested code: any time after its definition, but block-wise where that stands
            place = -2 - definition.start
            inner = definition.parent
        if lambdas:  # module code, or a lambda in it, which sees the variables of a comprehension around
            return self._top_level(path, name, place)
        return self._guarded(path, ("n", path, name), lambda: self._top_level(path, name, -1))

    def is_fixed(self, path: str, scope: int, name: str) -> bool:
        """A parameter, or a module's name as functions see it, that nothing on the way to it binds."""
        table = self.table(path)
        inner, lambdas = scope, True
        while inner >= 0:
            definition = table.facts.definitions[inner]
            lambdas = lambdas and definition.name.startswith("<")
            function = definition.kind not in CLASS_LIKE
            if (function or inner == scope) and table.places(inner, name):
                return False
            if function and any(param.name == name for param in definition.params):
                return True
            inner = definition.parent
        return not lambdas

    def _top_level(self, path: str, name: str, place: int) -> Values:
        found = self.in_module(path, name, place)
        return found if found is not None else self.global_name(path, name)

    def bound(self, path: str, scope: int, name: str, at: int) -> Values | None:
        if at >= 0 and self._reads_outer(path, scope, name, at):
            return None
        found = super().bound(path, scope, name, at)
        if found is None or at < 0 or any(value != _NONE for value in found):
            return found
        # nothing but None so far: a loop or another method binds it later
        return super().bound(path, scope, name, -1)

    def _reads_outer(self, path: str, scope: int, name: str, at: int) -> bool:
        """`str = str` in a module or class body: what is not yet bound there is looked up further out."""
        table = self.table(path)
        if scope >= 0 and table.facts.definitions[scope].kind not in CLASS_LIKE:
            return False
        if scope < 0 and name not in BUILTINS:
            return False
        assigns = table.binds[scope].get(name, ()) if scope in table.binds else ()
        if not assigns or (scope in table.defs and name in table.defs[scope] and scope >= 0):
            return False
        exprs = table.facts.exprs
        return all(exprs[table.facts.assigns[item].target].at >= at for item in assigns)

    def choose(self, table: FileTable, places: list[_Place], at: int) -> list[_Place]:
        """The bindings that reach `at`: back to the last one that certainly happened."""
        facts = table.facts
        places = [
            place
            for place in places
            if place[1] != 1 or facts.definitions[place[2]].kind not in (NodeKind.VARIABLE, NodeKind.TYPE_ALIAS)
        ] or places
        reaching, _ = _reaching(table, places, at)
        return reaching or [place for place in places if _extent(table, place)[0] < 0]

    def in_function(self, path: str, index: int, name: str, at: int) -> Values | None:
        """A local; also the parameter of that name, where no assignment has certainly replaced it."""
        table = self.table(path)
        places = table.places(index, name)
        reaching, certain = _reaching(table, places, at) if places else (places, False)
        if certain or not places:
            return super().in_function(path, index, name, at)
        params = table.facts.definitions[index].params
        position = next((i for i, param in enumerate(params) if param.name == name), -1)
        if position < 0:
            return super().in_function(path, index, name, at)
        given = self.param(path, index, position)
        if not reaching:
            return given
        replaced = self._replaced(path, table, places, reaching)
        assigned = self.bound(path, index, name, at) or UNKNOWN
        return (*(value for value in given if value not in replaced), *assigned)

    def _replaced(self, path: str, table: FileTable, places: list[_Place], reaching: list[_Place]) -> set[Value]:
        """What a name no longer is after `if isinstance(x, A): x = ...`: an A."""
        tests = [
            place
            for place in places
            if any(place[0] <= item[0] <= _extent(table, place)[0] for item in reaching if item is not place)
        ]
        return {value for place in tests for value in self.assigned(path, place[2])}

    def assigned_value(self, path: str, scope: int, assign: Assign) -> Values:
        """A literal says more than a declared container of which nothing tells the items: `x: dict[str, Callable]`."""
        found = super().assigned_value(path, scope, assign)
        if assign.type is None or assign.value < 0 or not all(_holds_anything(value) for value in found):
            return found
        written = self.value(path, assign.value)
        return written if written and all(isinstance(value, Box) for value in written) else found

    def param(self, path: str, index: int, place: int) -> Values:
        definition = self.table(path).facts.definitions[index]
        param = definition.params[place]
        if param.kind in (ParamKind.VARIADIC, ParamKind.KEYWORDS):
            typed = self.typed(path, index, param.type)
            if typed:
                return (Coll("list" if param.kind is ParamKind.VARIADIC else "dict", (typed,)),)
            return (Arg(path, index, place),)
        fixture = self._fixture(path, index, param.name) if param.type is None else UNKNOWN
        return fixture or super().param(path, index, place)

    def _fixture(self, path: str, index: int, name: str) -> Values:
        """What pytest passes to a test (or fixture) for a parameter: the result of the fixture of that name."""
        table = self.table(path)
        definition = table.facts.definitions[index]
        if not table.facts.flags & NodeFlag.TEST or not (
            definition.name.startswith("test") or self._is_fixture(table, index)
        ):
            return UNKNOWN
        places = [(path, scope) for scope in (definition.parent, MODULE_SCOPE)]
        directory = path.rpartition("/")[0]
        while True:
            places.append((join_path(directory, "conftest.py"), MODULE_SCOPE))
            if not directory:
                break
            directory = directory.rpartition("/")[0]
        for place, scope in dict.fromkeys(places):
            found = self._fixture_in(place, scope, name, index if place == path else -1)
            if found:
                return found
        return UNKNOWN

    def _fixture_in(self, path: str, scope: int, name: str, asking: int) -> Values:
        if not self.world.exists(path):
            return UNKNOWN
        self.world.record("name", path, name)
        table = self.table(path)
        for index in table.defs[scope].get(name, ()) if scope in table.defs else ():
            if index != asking and self._is_fixture(table, index):
                flags = self.definition(path, index).flags
                return self._yielded(Gen(path, index)) if flags & NodeFlag.GENERATOR else self.returned(path, index)
        return UNKNOWN

    def _is_fixture(self, table: FileTable, index: int) -> bool:
        exprs = table.facts.exprs
        for decorator in table.facts.definitions[index].decorators:
            expr = exprs[exprs[decorator].base] if exprs[decorator].op is ops.CALL else exprs[decorator]
            if expr.name == "fixture":
                return True
        return False

    # -- expressions

    def eval_member(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        base = self.table(path).facts.exprs[expr.base]
        if base.op is ops.SUPER:
            return self._super_member(path, base, expr.name)
        return self.members(self.value(path, expr.base), expr.name)

    def _super_member(self, path: str, expr: Expr, name: str) -> Values:
        """Through the ancestors after the class; `object` and unknown parents are outside."""
        owner = self.table(path).enclosing_class(expr.scope)
        named = self.value(path, expr.base) if expr.base >= 0 else UNKNOWN
        if named and isinstance(named[0], Class):
            start: tuple[str, int] = (named[0].path, named[0].index)
        elif owner >= 0:
            start = (path, owner)
        else:
            return UNKNOWN
        for ancestor in self.ancestry(*start)[1:]:
            if isinstance(ancestor, Class):
                found = self.own_member(ancestor.path, ancestor.index, name, None)
                if found is not None:
                    return found
        return EXTERNAL

    def new_classes(self, path: str, expr: Expr) -> Values:
        """`raise X`: X is a class, or an instance that exists already."""
        found = self.value(path, expr.base)
        return tuple(value for value in found if isinstance(value, Class)) or EXTERNAL

    def eval_index(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        facts = self.table(path).facts
        stored, certain = self._stored(path, expr)
        if certain:
            return stored
        key = facts.exprs[expr.args[0]] if expr.args else None
        constant = _key(key) if key is not None and key.op is ops.LITERAL else None
        bases = self.value(path, expr.base)
        if bases and all(isinstance(base, Class) for base in bases):
            return self.subscripted(path, bases, expr)
        added = self._added(path, expr.base)
        return (*stored, *self._each(bases, lambda base: self.item(base, constant)), *added)

    def _stored(self, path: str, expr: Expr) -> tuple[Values, bool]:
        """What `base[key] = value` statements of the same function (or module) stored; and whether that is all."""
        table = self.table(path)
        facts = table.facts
        wanted = facts.exprs[expr.args[0]] if expr.args else None
        constant = _key(wanted) if wanted is not None and wanted.op is ops.LITERAL else None
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
            written = _key(key) if key is not None and key.op is ops.LITERAL else None
            if written is not None and constant is not None and written != constant:
                continue
            replaces = target.scope == expr.scope and target.at < expr.at and not item.conditional
            if replaces and written is not None and written == constant:
                found, certain = [], True
            found += self.value(path, item.value)
        return tuple(found), certain

    def eval_element(self, path: str, index: int, expr: Expr) -> Values:
        return (*super().eval_element(path, index, expr), *self._added(path, expr.base))

    def _added(self, path: str, container: int) -> Values:
        """What `container.append(x)` and the like put in, in the file being resolved."""
        table = self.table(path)
        exprs = table.facts.exprs
        chain = _copied(exprs, container)
        if exprs[chain].op not in (ops.NAME, ops.MEMBER) or path != self.home or self._abroad:
            return UNKNOWN
        found: list[Value] = []
        for call in self._additions(table).get(exprs[chain].name, ()):
            callee = exprs[exprs[call].base]
            if _same(table, callee.base, chain):
                given = self.value(path, exprs[call].args[-1])
                found += self._each(given, self.element) if ADDERS[callee.name] == "all" else given
        return tuple(found)

    def _additions(self, table: FileTable) -> dict[str, list[int]]:
        """The calls in the home file that add to a container, by the container's own name."""
        if self._adding is None:
            self._adding = {}
            exprs = table.facts.exprs
            for index in table.sites(ops.CALL):
                expr = exprs[index]
                if expr.args and expr.base >= 0:
                    callee = exprs[expr.base]
                    if callee.op is ops.MEMBER and callee.name in ADDERS and exprs[callee.base].name:
                        self._adding.setdefault(exprs[callee.base].name, []).append(index)
        return self._adding

    def begin(self, path: str) -> None:
        super().begin(path)
        self._adding = None

    def eval_choice(self, path: str, index: int, expr: Expr) -> Values:
        found = super().eval_choice(path, index, expr)
        return tuple(value for value in found if value != _NONE) or found

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

    # -- classes

    def ancestry(self, path: str, index: int) -> list[Class | Ext]:
        """The method resolution order (C3); depth first where a hierarchy has none."""
        found = self._guarded(path, ("mro", path, index), lambda: self._order(path, index), MAX_ANCESTORS)
        return [owner for owner in found if isinstance(owner, (Class, Ext))]

    def _order(self, path: str, index: int) -> Values:
        return tuple(self._linear(Class(path, index), ()) or super().ancestry(path, index))

    def _linear(self, owner: Class, below: tuple[Class, ...]) -> list[Class | Ext]:
        if owner in below or len(below) > 30:
            return []
        parents = [
            Class(base.path, base.index) if isinstance(base, Class) else base
            for base in self.bases(owner.path, owner.index)
            if isinstance(base, (Class, Ext))
        ]
        if not parents:
            return [owner]
        lists: list[list[Class | Ext]] = [
            self._linear(parent, (*below, owner)) if isinstance(parent, Class) else [parent] for parent in parents
        ]
        return [owner, *_merge([*lists, list(dict.fromkeys(parents))])]

    def type_classes(self, path: str, scope: int, declared: Type) -> Values:
        made_by = _made_by(declared)
        return self._called_base(path, scope, made_by) if made_by >= 0 else super().type_classes(path, scope, declared)

    def bases(self, path: str, index: int) -> Values:
        definition = self.definition(path, index)
        if all(_made_by(base) < 0 for base in definition.bases):
            return super().bases(path, index)

        def compute() -> Values:
            found: list[Value] = []
            for base in definition.bases:
                if _made_by(base) >= 0:
                    found += self._called_base(path, index, _made_by(base)) or EXTERNAL
                else:
                    found += self.type_classes(path, definition.parent, base) or EXTERNAL
            return tuple(found)

        return self._guarded(path, ("bases", path, index), compute)

    def _called_base(self, path: str, owner: int, decorator: int) -> Values:
        """A base made by a call: what the call returns, or what `with_metaclass(M, Base)` is given."""
        facts = self.table(path).facts
        decorators = facts.definitions[owner].decorators if owner >= 0 else ()
        if decorator >= len(decorators):
            return EXTERNAL
        call = facts.exprs[decorators[decorator]].base
        returned = tuple(value for value in self.value(path, call) if isinstance(value, Class))
        if returned:
            return returned
        args = facts.exprs[call].args[1:] if facts.exprs[call].op is ops.CALL else ()
        given = tuple(value for arg in args for value in self.value(path, arg) if isinstance(value, Class))
        return given or EXTERNAL

    def own_member(self, path: str, index: int, name: str, seen_as: Inst | Class | None) -> Values | None:  # noqa: ARG002
        self.touch(path, index)
        table = self.table(path)
        if name not in table.member_names(index):
            return self._given_member(path, index, name) if name in table.given_names() else None
        definitions = table.facts.definitions
        methods = [
            item
            for item in (table.defs[index].get(name, ()) if index in table.defs else ())
            if definitions[item].kind not in (NodeKind.VARIABLE, NodeKind.TYPE_ALIAS)
        ]
        fields = list(table.fields[index].get(name, ())) if index in table.fields else []
        binds = list(table.binds[index].get(name, ())) if index in table.binds else []
        imports = table.imports[index].get(name, ()) if index in table.imports else ()
        if not (methods or fields or binds or imports):
            return self._given_member(path, index, name)

        def compute() -> Values:
            found = [value for item in self._effective(table, methods) for value in self.member_value(path, item, None)]
            found += [value for item in (*binds, *fields) for value in self.assigned(path, item)]
            found += [value for item in imports for value in self.imported(path, table.facts.imports[item])]
            return tuple(value for value in found if value != _NONE) or tuple(found)

        return self._guarded(path, ("own", path, index, name), compute)

    def _effective(self, table: FileTable, methods: list[int]) -> list[int]:
        """Of several definitions of one method: not the overload signatures, a property's reader, else the last."""
        definitions = table.facts.definitions
        real = [item for item in methods if not definitions[item].flags & NodeFlag.DECLARATION] or methods
        readers = [item for item in real if definitions[item].flags & NodeFlag.PROPERTY]
        if readers:
            return readers[:1]
        kept: list[int] = []
        for item in reversed(real):
            kept.append(item)
            if definitions[item].block < 0:
                break
        return kept[::-1]

    def _given_member(self, path: str, index: int, name: str) -> Values | None:
        """What the class's own file sets from outside: `Class.name = f`; at home also `instance.name = f`."""
        table = self.table(path)
        facts = table.facts
        at_home = path == self.home and not self._abroad
        found: list[Value] = []
        for root in sorted(table.attributes) if at_home else [table.top_name(index)]:
            for assign in table.attributes.get(root, ()):
                target = facts.exprs[facts.assigns[assign].target]
                if target.op is not ops.MEMBER or target.name != name or target.base < 0:
                    continue
                owners = self.value(path, target.base)
                if any(isinstance(o, (Inst, Class)) and (o.path, o.index) == (path, index) for o in owners):
                    found += self.assigned(path, assign)
        return tuple(found) or None

    def member(self, base: Value, name: str) -> Values:
        kind = type(base)
        if kind in _CLASSES:
            return self._class_member(base, name)
        if kind in _CONTAINERS or (isinstance(base, Arg) and self._collects(base)):
            return (Method(base, name),)
        if kind in _SYMBOLS:
            return SYMBOLIC
        if kind is Method:
            return EXTERNAL
        if isinstance(base, Module) and name.startswith("__") and name.endswith("__"):
            return self.module_member(base.path, name) or EXTERNAL
        return super().member(base, name)

    def _class_member(self, base: Value, name: str) -> Values:
        assert isinstance(base, (Inst, Class))
        if name == "__class__":
            return (Class(base.path, base.index),)
        found = self.class_member(base.path, base.index, name, base)
        return EXTERNAL if not found and name in _OBJECT_MEMBERS else found

    def member_value(self, path: str, index: int, seen_as: Inst | Class | None) -> Values:
        """A method that a descriptor class decorates is read like a property: what `__get__` says, else its result."""
        found = super().member_value(path, index, seen_as)
        if self.table(path).facts.definitions[index].kind not in CALLABLE_KINDS:
            return found
        getters = [getter for value in found for getter in self._getters(value)]
        if not getters:
            return found
        read = tuple(value for item in getters for value in self.returned(item.path, item.index))
        known = tuple(value for value in read if type(value) in _READABLE and value not in found)  # read on the class
        return known or self.returned(path, index)

    def _getters(self, value: Value) -> list[Func]:
        if not isinstance(value, Inst):
            return []
        return [item for item in self.class_member(value.path, value.index, "__get__") if isinstance(item, Func)]

    def function_value(self, path: str, index: int, definition: Definition) -> Values:
        """A function under its name is what its decorators make of it."""
        value: Values = (Func(path, index),)
        for decorator in reversed(definition.decorators):
            value = self._decorated(path, decorator, value) or value
        return value

    def _decorated(self, path: str, decorator: int, value: Values) -> Values:
        """decorator(value), where the decorator is known; an outside one is taken to keep what it is given."""
        found: list[Value] = []
        callees = self.value(path, decorator)
        promised = [callee for callee in callees if isinstance(callee, Coll) and callee.name == "->"]
        if promised:
            return promised[0].args[0]
        for callee in callees:
            if isinstance(callee, Func):
                found += self._applied(callee, value)
            elif isinstance(callee, Inst):
                for item in self.called_instance(callee):
                    found += self._applied(item, value) if isinstance(item, Func) else ()
            elif isinstance(callee, Class):
                found.append(Inst(callee.path, callee.index))
        return tuple(found)

    def _applied(self, callee: Func, value: Values) -> Values:
        """The result of calling a function with one value."""
        definition = self.definition(callee.path, callee.index)
        first = next((i for i, param in enumerate(definition.params) if param.kind is not ParamKind.RECEIVER), -1)
        found: list[Value] = []
        for item in self.returned_to_callers(callee):
            if isinstance(item, Arg) and (item.path, item.index) == (callee.path, callee.index):
                found += value if item.position == first else ()
            else:
                found.append(item)
        return tuple(item for item in found if not isinstance(item, Ext) or item.name)

    def constructor_names(self, value: Class) -> Iterable[str]:  # noqa: ARG002
        return ("__init__",)

    def called_instance(self, value: Inst) -> Values:
        return self.class_member(value.path, value.index, "__call__")

    # -- types

    def type_instances(self, path: str, scope: int, declared: Type) -> Values:
        name = declared.name
        if name == "|":
            return tuple(value for arg in declared.args for value in self.typed(path, scope, arg))
        if name == "()":
            args = tuple(self.typed(path, scope, arg) for arg in declared.args if arg.name)
            return (Coll("tuple", args),) if any(args) else (Ext("tuple"),)
        if name in ("->", "[]", "Any", "object"):
            return UNKNOWN
        found: list[Value] = []
        for value in self.type_classes(path, scope, declared):
            found += self._as_instance(path, scope, declared, value)
        return tuple(found)

    def _as_instance(self, path: str, scope: int, declared: Type, value: Value) -> Values:
        if isinstance(value, Class):
            given = tuple(self.typed(path, scope, arg) for arg in declared.args)
            return (Inst(value.path, value.index, given if any(given) else value.args),)
        if isinstance(value, (Inst, Coll)):
            return (value,)
        if not isinstance(value, Ext):
            return UNKNOWN
        last = value.name.rpartition(".")[2]
        if last in TRANSPARENT_TYPES:
            return UNKNOWN
        if last == "Self":
            owner = self.table(path).enclosing_class(scope)
            return (Inst(path, owner),) if owner >= 0 else UNKNOWN
        if last.endswith("()"):
            return UNKNOWN if "TypeVar" in last or "NewType" in last else EXTERNAL
        if last in ("type", "Type") and declared.args:
            return tuple(
                Class(item.path, item.index)
                for item in self.typed(path, scope, declared.args[0])
                if isinstance(item, Inst)
            )
        args = tuple(self.typed(path, scope, arg) for arg in declared.args)
        return (Coll(last.lower(), args),) if any(args) else (value,)

    # -- calls

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

    def result_for(self, callee: Func, receiver: Inst) -> Values:
        """What a method without arguments returns for a receiver."""
        generic = self.generic_result(callee, receiver)
        if generic:
            return generic
        owner = self.table(callee.path).class_of[callee.index]
        return tuple(
            receiver if isinstance(value, Inst) and (value.path, value.index) == (callee.path, owner) else value
            for value in self.returned(callee.path, callee.index)
        )

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
        if last not in PASS_THROUGH or not args or "()" in callee.name:
            return self.external_result(callee)
        kind = PASS_THROUGH[last]
        exprs = self.table(path).facts.exprs
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
            name = exprs[args[1]]
            if name.op is ops.LITERAL and name.text:
                return self.members(self.value(path, args[0]), name.text)
            return UNKNOWN
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
            key = _key(first) if first is not None and first.op is ops.LITERAL else None
            default = self.value(path, expr.args[1]) if len(expr.args) > 1 else UNKNOWN
            found = (*self.item(owner, key), *default)
            return tuple(value for value in found if value != _NONE) or EXTERNAL
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

    def returned(self, path: str, index: int) -> Values:
        definition = self.definition(path, index)
        typed = self.typed(path, index, definition.result)
        if typed and not (definition.returns and _may_be_function(definition.result)):
            return typed
        return self._guarded(
            path,
            ("r", path, index),
            lambda: _without_none(
                value
                for expr in definition.returns
                if self.table(path).facts.exprs[expr].op is not ops.YIELDED
                for value in self.value(path, expr)
            ),
        )

    def _yielded(self, generator: Gen) -> Values:
        definition = self.definition(generator.path, generator.index)
        exprs = self.table(generator.path).facts.exprs
        return self._guarded(
            generator.path,
            ("y", generator.path, generator.index),
            lambda: tuple(
                value
                for expr in definition.returns
                if exprs[expr].op is ops.YIELDED
                for value in self.value(generator.path, expr)
            ),
        )

    # -- containers

    def item(self, base: Value, key: str | None) -> Values:
        if isinstance(base, Arg):
            return self._part(base)
        if isinstance(base, Sym):
            return SYMBOLIC
        if isinstance(base, Coll):
            return self._typed_item(base, key)
        if isinstance(base, Inst):
            getters = self.class_member(base.path, base.index, "__getitem__")
            return tuple(v for f in getters if isinstance(f, Func) for v in self.returned(f.path, f.index))
        if isinstance(base, Class):
            return (base,)  # a generic class with its arguments
        return super().item(base, key)

    def _typed_item(self, base: Coll, key: str | None) -> Values:
        if base.name == "tuple":
            place = key.removeprefix("int:") if key else ""
            if place.isdigit() and int(place) < len(base.args):
                return base.args[int(place)]
            return tuple(value for arg in base.args for value in arg)
        return base.args[-1] if base.args else EXTERNAL

    def _part(self, arg: Arg) -> Values:
        """One of the values that a `*args` or `**kwargs` parameter collects."""
        if not self._collects(arg):
            return SYMBOLIC
        return self.expand(arg) if self.follow_args else (arg,)

    def _collects(self, arg: Arg) -> bool:
        """Whether the parameter is `*args` or `**kwargs`."""
        definition = self.table(arg.path).facts.definitions[arg.index]
        return definition.params[arg.position].kind in (ParamKind.VARIADIC, ParamKind.KEYWORDS)

    def expand(self, arg: Arg) -> Values:
        """What tests pass in is followed within tests only."""
        found = super().expand(arg)
        if self.world.flags(arg.path) & NodeFlag.TEST:
            return found
        return tuple(
            value
            for value in found
            if not isinstance(value, (Func, Class, Inst)) or not self.world.flags(value.path) & NodeFlag.TEST
        )

    def box_items(self, box: Box, key: str | None) -> Values:
        return self._guarded(box.path, ("items", box.path, box.expr, key), lambda: self._box_items(box, key))

    def _box_items(self, box: Box, key: str | None) -> Values:
        facts = self.table(box.path).facts
        expr = facts.exprs[box.expr]
        found: list[Value] = []
        exact = [
            value
            for place, arg in enumerate(expr.args)
            for name, value in [_entry(facts.exprs, place, arg)]
            if key is not None and name == key
        ]
        if exact:
            return self.value(box.path, exact[-1])
        for place, arg in enumerate(expr.args):
            name, value = _entry(facts.exprs, place, arg)
            if facts.exprs[arg].op is ops.SPREAD:
                inner = self.value(box.path, facts.exprs[arg].base)
                found += self._each(inner, lambda base: self.item(base, key) or UNKNOWN)
            elif key is None or not name or expr.op is ops.SEQUENCE:
                found += self.value(box.path, value)
        return tuple(found)

    def element(self, base: Value) -> Values:
        if isinstance(base, Arg):
            return self._part(base)
        if isinstance(base, Sym):
            return SYMBOLIC
        if isinstance(base, Gen):
            return self._yielded(base)
        if isinstance(base, Coll):
            if base.name in ("dict", "mapping", "defaultdict", "ordereddict"):
                return base.args[0] if len(base.args) > 1 else EXTERNAL
            if base.name == "tuple":
                return tuple(value for arg in base.args for value in arg)
            return base.args[0] if base.args else EXTERNAL
        if isinstance(base, Box) and self.table(base.path).facts.exprs[base.expr].op is ops.MAPPING:
            return EXTERNAL  # iterating a dictionary gives its keys
        if isinstance(base, Inst):
            key = ("iterated", base.path, base.index)
            return self._guarded(base.path, key, lambda: self._iteration_items(base))
        if isinstance(base, Class):
            return (Inst(base.path, base.index),)  # an enumeration
        return super().element(base)

    def _iteration_items(self, base: Inst) -> Values:
        """What `__next__` of its iterator gives; of itself when it is its own iterator."""
        iterators = self._iterator(base)
        own = tuple(
            value for item in self._iteration(base, "__next__") for value in self.returned(item.path, item.index)
        )
        return own or tuple(value for item in iterators if item != base for value in self.element(item))

    def _iterator(self, base: Inst) -> Values:
        found: list[Value] = []
        for item in self._iteration(base, "__iter__"):
            definition = self.definition(item.path, item.index)
            if definition.flags & NodeFlag.GENERATOR and not self.typed(item.path, item.index, definition.result):
                found.append(Gen(item.path, item.index))
            else:
                found += self.result_for(item, base)
        return tuple(found)

    def _iteration(self, base: Inst, name: str) -> list[Func]:
        return [item for item in self.class_member(base.path, base.index, name) if isinstance(item, Func)]

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
                        for target in self._iterated(value):
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
        return [target for value in values for target in self._iterated(value)]

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

    def _iterated(self, value: Inst) -> Iterator[tuple[str, int]]:
        """`for x in value` runs `__iter__`, and `__next__` of what that returns."""
        for item in self._iteration(value, "__iter__"):
            yield item.path, item.index
        for iterator in self._iterator(value):
            if isinstance(iterator, Inst):
                for item in self._iteration(iterator, "__next__"):
                    yield item.path, item.index

    def implicit_flows(self, path: str) -> Iterator[tuple[tuple[str, int], int, Values]]:
        """A decorator is given what it decorates."""
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
        may_be_unique = len(name) >= MIN_UNIQUE_LENGTH and name not in LIBRARY_METHODS
        most = MAX_SUBCLASSES if receiver.op is ops.THIS else int(may_be_unique)
        if not most:
            return []
        if receiver.op not in (ops.THIS, ops.RECEIVER_CLASS) and self.ask(path, callee.base):
            return []  # known, and without such a member
        named: Iterable[tuple[str, int]] = self.world.named(self.world.language(path), name)
        if not facts.flags & NodeFlag.TEST:
            named = (item for item in named if not self.world.flags(item[0]) & NodeFlag.TEST)
        found = list(islice(named, most + 1))  # one too many is as good as all, of which a common name has thousands
        if len(found) != 1:
            return self._in_subclasses(path, receiver, found)
        if not may_be_unique:
            return []
        return found if self._related(path, found[0][0]) and self._is_method(*found[0]) else []

    def _is_method(self, path: str, index: int) -> bool:
        definition = self.definition(path, index)
        return definition.kind is NodeKind.METHOD and self.table(path).class_of[index] >= 0

    def _in_subclasses(self, path: str, receiver: Expr, found: list[tuple[str, int]]) -> list[tuple[str, int]]:
        """`self.step()` in a class that leaves `step` to its subclasses: theirs, when these are the only ones."""
        owner = self.table(path).enclosing_class(receiver.scope)
        if receiver.op is not ops.THIS or owner < 0 or not 1 < len(found) <= MAX_SUBCLASSES:
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


def _reaching(table: FileTable, places: list[_Place], at: int) -> tuple[list[_Place], bool]:
    """The bindings that can hold at `at`, and whether the first of them certainly happened."""
    stands, until = (at, at) if at >= 0 else (END, -2 - at)
    found: list[_Place] = []
    for place in reversed(places):
        limit, conditional, block = _extent(table, place)
        if place[0] >= stands or (limit >= 0 and not place[0] <= until < limit):
            continue
        found.append(place)
        if limit >= 0 or not conditional or stands < block:
            return found[::-1], True
    return found[::-1], False


def _extent(table: FileTable, place: _Place) -> tuple[int, bool, int]:
    """A binding's block end (-1: whole scope), whether it may not have happened, and where its branch ends."""
    _, kind, index = place
    if kind == 0:
        assign = table.facts.assigns[index]
        return assign.until, assign.conditional, assign.block
    block = table.facts.definitions[index].block if kind == 1 else table.facts.imports[index].block
    return -1, block >= 0, block


def _merge(lists: list[list[Class | Ext]]) -> list[Class | Ext]:
    """C3's merge; what cannot be ordered is taken as it comes."""
    merged: list[Class | Ext] = []
    rest = [list(items) for items in lists if items]
    while rest:
        head = next(
            (items[0] for items in rest if not any(items[0] in other[1:] for other in rest)),
            rest[0][0],
        )
        merged.append(head)
        rest = [[item for item in items if item != head] for items in rest]
        rest = [items for items in rest if items]
    return merged


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


def _key(expr: Expr) -> str | None:
    """A constant key: integers are told from strings."""
    if not expr.text:
        return None
    return f"int:{expr.text}" if expr.name == "int" else expr.text


def _entry(exprs: tuple[Expr, ...], place: int, arg: int) -> tuple[str, int]:
    """Key and value of one item of a literal."""
    entry = exprs[arg]
    if entry.op is ops.KEYWORD:
        return (f"int:{entry.name}" if entry.text == "int" else entry.name), entry.base
    return f"int:{place}", arg


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


def _is_receiver(exprs: tuple[Expr, ...], index: int) -> bool:
    """`return self`, or `return cls(...)`."""
    expr = exprs[index]
    if expr.op is ops.CALL and expr.base >= 0:
        callee = exprs[expr.base]
        if callee.op is ops.RECEIVER_CLASS:
            return True
        return callee.op is ops.MEMBER and callee.name == "__class__" and exprs[callee.base].op is ops.THIS
    return expr.op is ops.THIS


def _made_by(base: Type) -> int:
    """For a base class that a call makes: which of the class's decorators holds the call; -1 for any other type."""
    written = base.args[0].name if base.name == "()" and len(base.args) == 1 else ""
    return int(written) if written.isdigit() else -1


def _may_be_function(declared: Type | None) -> bool:
    """A result like `Command | Callable[..., Command]`: which one depends on the call."""
    return (
        declared is not None and declared.name == "|" and any(arg.name in ("->", "Callable") for arg in declared.args)
    )


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


def _holds_anything(value: Value) -> bool:
    """A library's container, as far as declared: without its items' type."""
    return isinstance(value, Ext) or (isinstance(value, Coll) and bool(value.args) and not value.args[-1])


def _is_caller(values: Values) -> bool:
    """A built-in function of functools or of a list, not a namesake."""
    return any(
        (isinstance(value, Ext) and value.name.removeprefix("functools.") in CALLERS) or isinstance(value, Method)
        for value in values
    )


def _without_none(values: Iterable[Value]) -> Values:
    found = tuple(values)
    return tuple(value for value in found if value != _NONE) or found


_READABLE = frozenset({Func, Class, Inst, Coll, Box, Gen})
_CLASSES = frozenset({Inst, Class})
_CONTAINERS = frozenset({Box, Coll, Gen})
_SYMBOLS = frozenset({Arg, Sym})
_CHAIN = frozenset({ops.NAME, ops.MEMBER, ops.INDEX, ops.THIS, ops.RECEIVER_CLASS})
_OBJECT_MEMBERS = frozenset(dir(object)) | {
    "__dict__",
    "__name__",
    "__qualname__",
    "__module__",
    "__mro__",
    "__subclasses__",
    "mro",
}

EVALUATOR = PythonEvaluator
