"""JavaScript scopes, `this` and classes: what a name, `this` or `super` means where it stands."""

from __future__ import annotations

from collections.abc import Iterable

from ctxsearch.graph import ops
from ctxsearch.graph.facts import MODULE_SCOPE, Assign, Expr, ParamKind
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.graph.resolve.ecma_index import EcmaIndex, implementations
from ctxsearch.graph.resolve.ecma_library import GLOBALS
from ctxsearch.graph.resolve.ecma_types import CONSTRUCTOR, FUNCTION, OBJECT, TypeReader
from ctxsearch.graph.resolve.surface import MODULE_STARS
from ctxsearch.graph.resolve.tables import CLASS_LIKE, FileTable
from ctxsearch.graph.resolve.values import (
    EXTERNAL,
    UNKNOWN,
    Box,
    Class,
    Ext,
    Func,
    Inst,
    Package,
    Shape,
    Value,
    Values,
    is_external,
)
from ctxsearch.graph.resolve.world import World


class Names(TypeReader):
    """Names, `this`, and the classes behind them."""

    class_scope_visible = True  # for the name of a class expression alone, see `in_class_scope`

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._indexes: dict[str, EcmaIndex] = {}

    def forget(self) -> None:
        super().forget()
        self._indexes.clear()

    def js(self, path: str) -> EcmaIndex:
        found = self._indexes.get(path)
        if found is None:
            found = self._indexes[path] = EcmaIndex(self.table(path))
        return found

    # -- names

    def bound(self, path: str, scope: int, name: str, at: int) -> Values | None:
        table = self.table(path)
        if scope == MODULE_SCOPE and path != self.home:
            self.world.record("name", path, name)
        assigns = table.binds[scope].get(name, ()) if scope in table.binds else ()
        defs = self._declared(table, scope, name, bool(assigns))
        imports = table.imports[scope].get(name, ()) if scope in table.imports else ()
        if not (assigns or defs or imports):
            return None
        facts = table.facts
        places = [(facts.exprs[facts.assigns[index].target].at, 0, index) for index in assigns]
        places += [(-1, 1, index) for index in defs]  # declarations are hoisted
        places += [(-1, 2, index) for index in imports]
        chosen = self.choose(table, sorted(places), at)
        if at < 0:
            chosen = self._from_outside(table, chosen)
        if not chosen:
            return None  # the name's blocks lie elsewhere
        if any(kind == 1 for _, kind, _ in chosen):
            chosen = [place for place in places if place[1] == 1] + [place for place in chosen if place[1] != 1]
        return tuple(value for _, kind, index in chosen for value in self._binding(path, kind, index))

    def _from_outside(self, table: FileTable, places: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
        """Seen from a closure: block-scoped names of other blocks are not meant when the scope itself has the name."""
        assigns = table.facts.assigns
        whole = [place for place in places if place[1] != 0 or assigns[place[2]].until < 0]
        return whole or [place for place in places if not assigns[place[2]].conditional]  # tests decide only inside

    def _declared(self, table: FileTable, scope: int, name: str, assigned: bool) -> list[int]:
        """Definitions that a scope binds under a name: declarations, not values and not members."""
        defs = table.defs[scope].get(name) if scope in table.defs else None
        if not defs:
            return []
        values = self.js(table.path).expressions
        definitions = table.facts.definitions
        kept = [
            index
            for index in defs
            if index not in values
            and definitions[index].kind not in (NodeKind.METHOD, NodeKind.CONSTRUCTOR)
            and not (assigned and definitions[index].kind is NodeKind.VARIABLE)
        ]
        kept = implementations(definitions, kept)
        spaces = [index for index in kept if definitions[index].kind is NodeKind.PACKAGE]
        return [*[index for index in kept if index not in spaces][-1:], *spaces]  # the last declaration counts

    def definition_value(self, path: str, index: int) -> Values:
        kind = self.definition(path, index).kind
        if kind is NodeKind.PACKAGE:
            return (Package(f"{path}\0{index}"),)
        if kind in (NodeKind.INTERFACE, NodeKind.TYPE_ALIAS):
            return UNKNOWN  # no value
        definition = self.definition(path, index)
        if kind is NodeKind.VARIABLE and definition.result is not None and definition.value >= 0:
            return self._declared_or_held(
                path, self.typed(path, definition.parent, definition.result), definition.value
            )
        return super().definition_value(path, index)

    def assigned_value(self, path: str, scope: int, assign: Assign) -> Values:
        if assign.type is None or assign.value < 0:
            found = super().assigned_value(path, scope, assign)
            return self._wrapped(path, assign) or found if is_external(found) else found
        return self._declared_or_held(path, self.typed(path, scope, assign.type), assign.value)

    def _wrapped(self, path: str, assign: Assign) -> Values:
        """`const f = memo(() => ...)`: what a library wraps is taken for the function that it wraps."""
        exprs = self.table(path).facts.exprs
        call, name = exprs[assign.value], exprs[assign.target].name
        literals = (
            [exprs[arg].base for arg in call.args if exprs[arg].op is ops.FUNCTION] if call.op is ops.CALL else []
        )
        definitions = self.table(path).facts.definitions
        return tuple(Func(path, index) for index in literals if definitions[index].name == name)

    def _declared_or_held(self, path: str, typed: Values, value: int) -> Values:
        """A declared type, except that a function type says less than the function that the variable holds."""
        if typed and not all(self._is_function_type(item) for item in typed):
            return typed
        if typed and self.table(path).facts.exprs[value].op is ops.CALL:
            return typed  # what a call gives back is known by its type
        held = self.value(path, value)
        functions = tuple(item for item in held if isinstance(item, (Func, Class)))
        return functions or typed or held

    def _is_function_type(self, value: Value) -> bool:
        if isinstance(value, Inst):
            return self.definition(value.path, value.index).kind is NodeKind.INTERFACE
        return isinstance(value, Shape) and value.type.name in (FUNCTION, CONSTRUCTOR, OBJECT)

    def global_name(self, path: str, name: str) -> Values:
        """A name that nothing in the file binds: the language's and the host's, or what a script puts there."""
        if name in ("module", "exports"):
            return UNKNOWN
        if name in GLOBALS:
            return (Ext(name),)
        found = [place for place in self.world.named(self.language, name) if self._is_global(*place)]
        if not found:
            return (Ext(name),)
        return self.definition_value(*found[0]) if len(found) == 1 and found[0][0] != path else UNKNOWN

    def _is_global(self, path: str, index: int) -> bool:
        """Whether a definition stands at the top of a script: a file that is no module."""
        facts = self.table(path).facts
        self.world.record("name", path, MODULE_STARS)
        return facts.definitions[index].parent == MODULE_SCOPE and not facts.imports and not facts.exports

    def in_class_scope(self, path: str, index: int, name: str) -> Values | None:
        """Members are never in scope; a class expression's own name is."""
        table = self.table(path)
        if table.facts.definitions[index].name == name:
            return (Class(path, index),)
        own = table.binds[index].get(name, ()) if index in table.binds else ()
        values = [table.facts.exprs[table.facts.assigns[assign].value] for assign in own]
        return (Class(path, index),) if any(item.op is ops.CLASS and item.base == index for item in values) else None

    # -- this

    def eval_this(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        return self._this(path, expr.scope)

    def _this(self, path: str, scope: int) -> Values:
        """`this` where `scope` is the definition that binds it."""
        if scope < 0:
            return UNKNOWN
        definition = self.table(path).facts.definitions[scope]
        if definition.kind in CLASS_LIKE:
            return (Inst(path, scope),)
        for param in definition.params:
            if param.kind is ParamKind.RECEIVER:
                return self.typed(path, scope, param.type)
        js = self.js(path)
        owner = js.method_owner(scope)
        if owner >= 0:
            return (Class(path, owner),) if definition.flags & NodeFlag.STATIC else (Inst(path, owner),)
        if scope in js.object_of:
            return self._this_object(path, js.object_of[scope])
        if definition.receiver is not None:
            return self._each(self._named_value(path, definition.parent, definition.receiver.name), self.instance_of)
        if js.is_constructor_function(scope) and definition.name[:1].isupper():
            return (Inst(path, scope),)
        assigned = self._assigned_this(path, scope)  # this.f = function () {}, C.f = function () {}
        return assigned or ((Inst(path, scope),) if js.is_constructor_function(scope) else UNKNOWN)

    def _this_object(self, path: str, mapping: int) -> Values:
        """`this` in a method of an object literal: the object, or the instances that it is the prototype of."""
        holder = self.js(path).holders.get(mapping)
        if holder is not None and holder.kind == "assign":
            facts = self.table(path).facts
            target = facts.exprs[facts.assigns[holder.owner].target]
            if target.op is ops.MEMBER and target.name == "prototype":
                return self._each(self.value(path, target.base), self.instance_of)
        return (Box(path, mapping),)

    def _assigned_this(self, path: str, scope: int) -> Values:
        js = self.js(path)
        holder = js.holders.get(js.function_expr.get(scope, -1))
        if holder is None or holder.kind != "assign":
            return UNKNOWN
        facts = self.table(path).facts
        target = facts.exprs[facts.assigns[holder.owner].target]
        return self.value(path, target.base) if target.op in (ops.MEMBER, ops.INDEX) else UNKNOWN

    def eval_super(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        """`super` as the callee of `super(...)`: the parent whose constructor runs."""
        parents = self._parents(path, expr)
        return tuple(value for value in parents if not isinstance(value, Class) or self.constructors(value))

    def _parents(self, path: str, expr: Expr) -> Values:
        owner = self.table(path).enclosing_class(expr.scope)
        if owner < 0:
            return UNKNOWN
        return tuple(value for value in self.bases(path, owner) if self._is_class(value))

    def _super_side(self, path: str, expr: Expr) -> Values:
        """What `super.x` looks into: instances of the parents, or in a static method the parents themselves."""
        parents = self._parents(path, expr)
        static = expr.scope >= 0 and self.table(path).facts.definitions[expr.scope].flags & NodeFlag.STATIC
        return parents if static else self._each(parents, self.instance_of)

    def _is_class(self, value: Value) -> bool:
        if isinstance(value, Class):
            return self.table(value.path).facts.definitions[value.index].kind is not NodeKind.INTERFACE
        return isinstance(value, (Ext, Func))

    # -- classes

    def bases(self, path: str, index: int) -> Values:
        self.touch(path, index)
        return self._guarded(path, ("bases", path, index), lambda: self._find_bases(path, index))

    def _find_bases(self, path: str, index: int) -> Values:
        definition = self.table(path).facts.definitions[index]
        if definition.kind is NodeKind.FUNCTION:
            return self._prototype_bases(path, index)
        found: list[Value] = []
        for base in definition.bases:
            if definition.kind is NodeKind.CLASS:
                values = self._named_value(path, definition.parent, base.name)
                found += self._each(values, self._as_base) or EXTERNAL
            else:
                found += self.type_classes(path, definition.parent, base) or EXTERNAL
        for base in definition.implements:
            found += self.type_classes(path, definition.parent, base)
        return tuple(found)

    def _as_base(self, value: Value) -> Values:
        if isinstance(value, Func):
            return (Class(value.path, value.index),)
        return (value,) if isinstance(value, (Class, Ext)) else UNKNOWN

    def _prototype_bases(self, path: str, index: int) -> Values:
        """`C.prototype = Object.create(B.prototype)` and `C.prototype = new B()`."""
        found: list[Value] = []
        for write in self.js(path).writes_to(index, "prototype"):
            values = self.value(path, write.value)
            found += [Class(value.path, value.index) for value in values if isinstance(value, Inst)]
        return tuple(found)

    def instance_of(self, value: Value) -> Values:
        if isinstance(value, Func):
            return (Inst(value.path, value.index),)
        if isinstance(value, Shape) and value.type.name == CONSTRUCTOR and value.type.args:
            return self.typed_in(value.path, value.scope, value.type.args[0], value.env)
        return super().instance_of(value)

    def constructor_names(self, value: Class) -> Iterable[str]:  # noqa: ARG002
        return ("constructor",)

    def constructors(self, value: Class) -> Values:
        for owner in self.ancestry(value.path, value.index):
            if isinstance(owner, Ext):
                return UNKNOWN
            definition = self.definition(owner.path, owner.index)
            if definition.kind is NodeKind.FUNCTION:
                return (Func(owner.path, owner.index),)
            table = self.table(owner.path)
            found = table.defs[owner.index].get("constructor", ()) if owner.index in table.defs else ()
            kept = [index for index in found if table.facts.definitions[index].kind is NodeKind.CONSTRUCTOR]
            if kept:
                return (Func(owner.path, implementations(table.facts.definitions, kept)[-1]),)
        return UNKNOWN
