"""JavaScript and TypeScript: scopes, `this`, prototypes, object literals, contextual types, built-in collections.

Values and types have separate name spaces. A definition that is the value of an expression is known by the variable
that holds it. Classes are classes or constructor functions; members come from the class body, fields, prototype
writes and mixins, then from the ancestors. What the language or the host provides is external.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from ctxsearch.graph.facts import MODULE_SCOPE, Assign, Definition, Expr, Op, ParamKind, Type
from ctxsearch.graph.model import CALLABLE_KINDS, NodeFlag, NodeKind, Rule
from ctxsearch.graph.resolve.ecma_index import ANY_MEMBER, EcmaIndex, Write
from ctxsearch.graph.resolve.ecma_types import CONSTRUCTOR, FUNCTION, LIST, MAP, OBJECT, Env, TypeReader
from ctxsearch.graph.resolve.surface import MODULE_STARS
from ctxsearch.graph.resolve.tables import CLASS_LIKE, FileTable
from ctxsearch.graph.resolve.values import (
    EXTERNAL,
    UNKNOWN,
    Arg,
    Box,
    Class,
    Coll,
    Ext,
    Func,
    Inst,
    Module,
    Package,
    Shape,
    Value,
    Values,
    is_external,
)
from ctxsearch.graph.resolve.world import World

GENERATOR = "<generator>"  # the name of a Shape's type: what a generator function gives, to be iterated
INSTANCE = "instanceof"  # the text of a CAST to an instance of the class that its base is
TYPE = "type"  # the text of a reference that names a type
_ITERATOR = "[Symbol.iterator]"
_ELEMENT_RESULTS = frozenset({"at", "find", "findLast", "pop", "shift"})
_SAME_RESULTS = frozenset({"filter", "slice", "concat", "reverse", "sort", "toSorted", "toReversed", "splice", "fill"})
_ITERATIONS = frozenset({"values", "keys", "entries"})
_FIRST_IS_ELEMENT = frozenset(
    {"map", "forEach", "filter", "find", "findIndex", "findLast", "findLastIndex", "some", "every", "flatMap", "sort"}
)
_SECOND_IS_ELEMENT = frozenset({"reduce", "reduceRight", "sort"})
_PROMISE_METHODS = frozenset({"then", "catch", "finally"})
_OBJECT_METHODS = frozenset(
    {"toString", "hasOwnProperty", "valueOf", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString"}
)
_MAX_CONSTANT_STEPS = 6
MIN_PARTICULAR = 8  # letters of a method name that can be unique on purpose


class JavaScriptEvaluator(TypeReader):
    """Evaluates JavaScript, TypeScript and TSX."""

    language = "javascript"

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
        kept = _implementations(definitions, kept)
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
        literals = [exprs[arg].base for arg in call.args if exprs[arg].op is Op.FUNCTION] if call.op is Op.CALL else []
        definitions = self.table(path).facts.definitions
        return tuple(Func(path, index) for index in literals if definitions[index].name == name)

    def _declared_or_held(self, path: str, typed: Values, value: int) -> Values:
        """A declared type, except that a function type says less than the function that the variable holds."""
        if typed and not all(self._is_function_type(item) for item in typed):
            return typed
        if typed and self.table(path).facts.exprs[value].op is Op.CALL:
            return typed  # what a call gives back is known by its type
        held = self.value(path, value)
        functions = tuple(item for item in held if isinstance(item, Func | Class))
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
        return (Class(path, index),) if self.table(path).facts.definitions[index].name == name else None

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
            if target.op is Op.MEMBER and target.name == "prototype":
                return self._each(self.value(path, target.base), self.instance_of)
        return (Box(path, mapping),)

    def _assigned_this(self, path: str, scope: int) -> Values:
        js = self.js(path)
        holder = js.holders.get(js.function_expr.get(scope, -1))
        if holder is None or holder.kind != "assign":
            return UNKNOWN
        facts = self.table(path).facts
        target = facts.exprs[facts.assigns[holder.owner].target]
        return self.value(path, target.base) if target.op in (Op.MEMBER, Op.INDEX) else UNKNOWN

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
        return isinstance(value, Ext | Func)

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
        return (value,) if isinstance(value, Class | Ext) else UNKNOWN

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
                return (Func(owner.path, _implementations(table.facts.definitions, kept)[-1]),)
        return UNKNOWN

    # -- members

    def eval_member(self, path: str, index: int, expr: Expr) -> Values:
        base = self.table(path).facts.exprs[expr.base] if expr.base >= 0 else expr
        if base.op is Op.SUPER:
            return self.members(self._super_side(path, base), expr.name)
        written, only = self._written(path, index, expr)
        if only:
            return written
        found = (*written, *self._of_new(path, expr.base, self.members(self.value(path, expr.base), expr.name)))
        return found if found and not is_external(found) else self._written_anyhow(path, index, expr) or found

    def eval_index(self, path: str, index: int, expr: Expr) -> Values:
        written, only = self._written(path, index, expr)
        if only:
            return written
        bases = self.value(path, expr.base)
        key = self._constant(path, expr.args[0], _MAX_CONSTANT_STEPS) if expr.args else None
        if expr.args and self.table(path).facts.exprs[expr.args[0]].name == "slice":
            return (*written, *self._each(bases, self._part))
        if key is not None and not key.isdigit():
            found = (*written, *self.members(bases, key))
        else:
            found = (*written, *self._each(bases, lambda base: self.item(base, key)))
        return found if found and not is_external(found) else self._written_anyhow(path, index, expr) or found

    def _written(self, path: str, index: int, expr: Expr) -> tuple[Values, bool]:
        """What writes in the same file put under the same name path, and whether nothing else can be meant."""
        js = self.js(path)
        place = js.member_path(index)
        if place is None or place[0] not in js.writes:
            return UNKNOWN, False
        root, names = place
        scope = js.binding_scope(expr.scope, root)
        matching = [
            write for write in js.writes[root] if write.names == names and js.binding_scope(write.scope, root) == scope
        ]
        before = [write for write in matching if write.scope == expr.scope and write.at < expr.at]
        elsewhere = [write for write in matching if write.scope != expr.scope]
        for start in range(len(before) - 1, -1, -1):
            if not before[start].conditional:
                return self._written_values(path, before[start:], names[-1]), not elsewhere
        return self._written_values(path, [*before, *elsewhere], names[-1]), False

    def _written_anyhow(self, path: str, index: int, expr: Expr) -> Values:
        """What writes under keys that are not constant may have put there: asked when nothing else is known."""
        js = self.js(path)
        place = js.member_path(index)
        if place is None or place[0] not in js.writes:
            return UNKNOWN
        root, names = place
        scope = js.binding_scope(expr.scope, root)
        writes = [
            write
            for write in js.writes[root]
            if write.names != names and _covers(write.names, names) and js.binding_scope(write.scope, root) == scope
        ]
        return self._written_values(path, writes, names[-1])

    def _written_values(self, path: str, writes: list[Write], name: str) -> Values:
        found: list[Value] = []
        for write in writes:
            values = self.value(path, write.value)
            if write.getter:
                values = self._each(values, lambda value: self.call_result(value, path, -1))
            found += self.members(values, name) if write.spread else values
        return tuple(found)

    def _of_new(self, path: str, base: int, values: Values) -> Values:
        """Fields that hold constructor arguments are what the `new` expression at hand passes, not the defaults."""
        if not any(isinstance(value, Arg) for value in values):
            return values
        made = self._made_at(path, base)
        if made < 0:
            return values
        given: list[Value] = []
        replaced: set[Value] = set()
        for value in values:
            argument = self._passed_to(value, path, made) if isinstance(value, Arg) else -1
            if isinstance(value, Arg) and argument >= 0:
                params = self.definition(value.path, value.index).params
                replaced |= {value, *self.value(value.path, params[value.position].default)}
                given += self.value(path, argument)
        return (*given, *(value for value in values if value not in replaced))

    def _passed_to(self, arg: Arg, path: str, made: int) -> int:
        """The expression that a NEW passes for a constructor's parameter; -1 when none."""
        if self.definition(arg.path, arg.index).kind not in (NodeKind.CONSTRUCTOR, NodeKind.FUNCTION):
            return -1
        return self.argument(Func(arg.path, arg.index), arg.position, path, made)

    def _made_at(self, path: str, expr: int) -> int:
        """The only NEW expression that an expression can come from in this file; -1 when that is not certain."""
        table = self.table(path)
        facts = table.facts
        for _ in range(_MAX_CONSTANT_STEPS):
            if expr < 0:
                return -1
            item = facts.exprs[expr]
            if item.op is Op.NEW:
                return expr
            if item.op is not Op.NAME:
                return -1
            scope = self.js(path).binding_scope(item.scope, item.name)
            assigns = table.binds[scope].get(item.name, ()) if scope in table.binds else ()
            if len(assigns) != 1:
                return -1
            expr = facts.assigns[assigns[0]].value
        return -1

    def _constant(self, path: str, expr: int, steps: int) -> str | None:
        """The text of a constant key: a literal, or a name that is bound once to one."""
        facts = self.table(path).facts
        item = facts.exprs[expr]
        if item.op is Op.LITERAL:
            return item.text or None
        if item.op is not Op.NAME or steps == 0:
            return None
        scope = self.js(path).binding_scope(item.scope, item.name)
        return self._constant_of(path, scope, item.name, steps - 1)

    def _constant_of(self, path: str, scope: int, name: str, steps: int) -> str | None:
        table = self.table(path)
        if path != self.home:
            self.world.record("name", path, name)
        assigns = table.binds[scope].get(name, ()) if scope in table.binds else ()
        if len(assigns) == 1 and table.facts.assigns[assigns[0]].value >= 0:
            return self._constant(path, table.facts.assigns[assigns[0]].value, steps)
        imports = table.imports[scope].get(name, ()) if scope in table.imports else ()
        if len(imports) == 1 and steps:
            item = table.facts.imports[imports[0]]
            for module in self.module(path, item.module):
                if isinstance(module, Module):
                    exports = self.table(module.path).exports.get(item.name, ())
                    if len(exports) == 1:
                        local = self.table(module.path).facts.exports[exports[0]].local
                        return self._constant_of(module.path, MODULE_SCOPE, local, steps - 1) if local else None
        return None

    def member(self, base: Value, name: str) -> Values:
        if isinstance(base, Shape):
            return self._shape_member(base, name)
        if isinstance(base, Coll):
            return (Ext(f"Array.{name}"),)
        if isinstance(base, Class) and name == "prototype":
            return self.instance_of(base)
        if isinstance(base, Func) and name == "prototype":
            return (Inst(base.path, base.index),)
        if isinstance(base, Module) and name == "default":
            found = super().member(base, name)
            return found or (base,)
        found = super().member(base, name)
        if not found and isinstance(base, Inst) and (name in _OBJECT_METHODS or name in _PROMISE_METHODS):
            return EXTERNAL
        return found

    def own_member(self, path: str, index: int, name: str, seen_as: Inst | Class | None) -> Values | None:
        self.touch(path, index)
        table = self.table(path)
        definition = table.facts.definitions[index]
        if definition.kind is NodeKind.FUNCTION:
            return self._constructed_member(path, index, name)
        found: list[Value] = []
        defs = self._members_named(table, index, name, seen_as)
        for item in defs:
            found += self.member_value(path, item, seen_as)
        if found:
            return tuple(found)
        fields = table.fields[index].get(name, ()) if index in table.fields else ()
        if fields and not defs:
            declared = self._inherited_type(path, index, name)
            if declared:
                return declared
        if fields:
            env = self.env_of(seen_as) if seen_as is not None else ()
            key = ("field", path, index, name, env)
            found += self._guarded(
                path, key, lambda: tuple(v for f in fields for v in self._field(path, index, f, env))
            )
        if not found or not defs:
            found += self._outside_writes(path, index, name, seen_as)
        return tuple(found) if found or defs or fields else None

    def _field(self, path: str, index: int, assign: int, env: Env) -> Values:
        """What an assignment to a field gives it, with the type arguments of the instance at hand."""
        declared = self.table(path).facts.assigns[assign].type
        return (env and self.typed_in(path, index, declared, env)) or self.assigned(path, assign)

    def _inherited_type(self, path: str, index: int, name: str) -> Values:
        """The type that an ancestor declares for a field which this class only assigns."""
        for owner in self.ancestry(path, index)[1:]:
            if isinstance(owner, Class):
                table = self.table(owner.path)
                for item in table.defs[owner.index].get(name, ()) if owner.index in table.defs else ():
                    definition = self.definition(owner.path, item)
                    if definition.kind is NodeKind.VARIABLE and definition.result is not None:
                        return self.typed(owner.path, owner.index, definition.result)
        return UNKNOWN

    def _members_named(self, table: FileTable, index: int, name: str, seen_as: Inst | Class | None) -> list[int]:
        """The member that a class body defines under a name: on its side (static or not), implementations first."""
        defs = table.defs[index].get(name) if index in table.defs else None
        if not defs:
            return []
        definitions = table.facts.definitions
        if definitions[index].kind is NodeKind.PACKAGE:
            return _implementations(definitions, [item for item in defs if definitions[item].kind in _VALUE_KINDS])
        if seen_as is not None:
            static = isinstance(seen_as, Class)
            sided = [
                item
                for item in defs
                if bool(definitions[item].flags & NodeFlag.STATIC) == static or definitions[item].kind is NodeKind.CLASS
            ]
            defs = sided
        readable = [
            item
            for item in defs
            if not (definitions[item].flags & NodeFlag.PROPERTY and definitions[item].params)
            and definitions[item].kind is not NodeKind.CONSTRUCTOR
        ]
        return _implementations(definitions, readable)

    def member_value(self, path: str, index: int, seen_as: Inst | Class | None) -> Values:
        definition = self.definition(path, index)
        env = self.env_of(seen_as) if seen_as is not None else ()
        if env and definition.result is not None and not self._is_method(definition):
            found = self.typed_in(path, definition.parent, definition.result, env)
            if found:
                return found
        return super().member_value(path, index, seen_as)

    def package_member(self, package: Package, name: str) -> Values:
        """A member of a namespace, which is a value that is never called."""
        path, _, index = package.name.partition("\0")
        return self.own_member(path, int(index), name, None) or UNKNOWN

    def _is_method(self, definition: Definition) -> bool:
        return definition.kind in CALLABLE_KINDS and not definition.flags & NodeFlag.PROPERTY

    def _outside_writes(self, path: str, index: int, name: str, seen_as: Inst | Class | None) -> Values:
        """Members that are written from outside the class body: `C.m = f`, `C.prototype.m = f`, mixins."""
        js = self.js(path)
        if self.table(path).facts.definitions[index].name not in js.writes:
            return UNKNOWN
        static = isinstance(seen_as, Class)
        key = ("writes", path, index, name, static)
        return self._guarded(path, key, lambda: self._find_writes(path, index, name, static))

    def _find_writes(self, path: str, index: int, name: str, static: bool) -> Values:
        js = self.js(path)
        prefix = () if static else ("prototype",)
        found: list[Value] = []
        for write in (*js.writes_to(index, *prefix, name), *js.writes_to(index, *prefix, ANY_MEMBER)):
            found += self._written_values(path, [write], name)
        if not static:
            for write in js.writes_to(index, "prototype"):
                found += self.members(self.value(path, write.value), name)
        return tuple(found)

    def _constructed_member(self, path: str, index: int, name: str) -> Values | None:
        """A member of what a constructor function makes."""
        js = self.js(path)
        found: list[Value] = []
        for owner in self._this_owners(path, index):
            for assign in js.this_fields.get(owner, {}).get(name, ()):
                found += self.assigned(path, assign)
        found += self._outside_writes(path, index, name, None)
        return tuple(found) or None

    def _this_owners(self, path: str, index: int) -> list[int]:
        """The function itself and the methods of its prototype: where its fields are set."""
        table, js = self.table(path), self.js(path)
        name = table.facts.definitions[index].name
        owners = [index]
        for owner in js.this_fields:
            if owner >= 0 and owner != index:
                receiver = table.facts.definitions[owner].receiver
                if receiver is not None and receiver.name == name:
                    self.world.record("name", path, table.facts.definitions[owner].name)
                    owners.append(owner)
        return owners

    def function_member(self, func: Func, name: str) -> Values:
        js = self.js(func.path)
        definition = self.definition(func.path, func.index)
        if definition.name in js.writes:
            found = [
                value
                for write in (*js.writes_to(func.index, name), *js.writes_to(func.index, ANY_MEMBER))
                for value in self._written_values(func.path, [write], name)
            ]
            if found:
                return tuple(found)
        return (func,) if name in ("call", "apply") else EXTERNAL

    def box_member(self, box: Box, name: str) -> Values:
        return self._guarded(box.path, ("box", box.path, box.expr, name), lambda: self._box_member(box, name))

    def _box_member(self, box: Box, name: str) -> Values:
        facts = self.table(box.path).facts
        expr = facts.exprs[box.expr]
        if expr.op is Op.SEQUENCE:
            return EXTERNAL
        found = self._entries(box, name)
        written = self._put_into(box, name)
        if found is not None or written:
            return (*written, *(found or ()))
        spread = [facts.exprs[arg].base for arg in expr.args if facts.exprs[arg].op is Op.SPREAD]
        copied = tuple(value for base in spread for value in self.members(self.value(box.path, base), name))
        unknown_keys = self.box_items(box, None) if any(self._unnamed(box.path, arg) for arg in expr.args) else ()
        return copied or unknown_keys or (EXTERNAL if name in _OBJECT_METHODS else UNKNOWN)

    def _put_into(self, box: Box, name: str) -> Values:
        """What writes through the variable that holds an object literal put there."""
        js = self.js(box.path)
        holder = js.holders.get(box.expr)
        if holder is None or holder.kind != "assign":
            return UNKNOWN
        facts = self.table(box.path).facts
        target = facts.exprs[facts.assigns[holder.owner].target]
        if target.op is not Op.NAME or target.name not in js.writes:
            return UNKNOWN
        self.world.record("name", box.path, target.name)
        scope = js.binding_scope(target.scope, target.name)
        writes = [
            write
            for write in js.writes[target.name]
            if write.names == (name,) and js.binding_scope(write.scope, target.name) == scope
        ]
        return self._written_values(box.path, writes, name)

    def _unnamed(self, path: str, arg: int) -> bool:
        entry = self.table(path).facts.exprs[arg]
        return entry.op is Op.KEYWORD and not entry.name

    def _entries(self, box: Box, name: str) -> Values | None:
        """The last entry of an object literal under a name; None when it has none."""
        facts = self.table(box.path).facts
        for arg in reversed(facts.exprs[box.expr].args):
            entry = facts.exprs[arg]
            if entry.op is not Op.KEYWORD:
                continue
            key = entry.name
            if not key and entry.args:
                key = self._constant(box.path, entry.args[0], _MAX_CONSTANT_STEPS) or ""
            if key == name:
                return self._entry_value(box.path, entry)
        return None

    def _entry_value(self, path: str, entry: Expr) -> Values:
        """An object's entry when it is read: a getter gives what it returns."""
        value = self.table(path).facts.exprs[entry.base] if entry.base >= 0 else None
        if value is not None and value.op is Op.FUNCTION:
            definition = self.definition(path, value.base)
            if definition.flags & NodeFlag.PROPERTY:
                return self.returned(path, value.base)
        return self.value(path, entry.base)

    def item(self, base: Value, key: str | None) -> Values:
        if isinstance(base, Box):
            return self._box_item(base, key)
        if isinstance(base, Shape):
            if base.type.name == "()" and key is not None and key.isdigit() and int(key) < len(base.type.args):
                return self.typed_in(base.path, base.scope, base.type.args[int(key)], base.env)
            return self.element(base) if base.type.name != MAP else self._argument_of(base, 1)
        return self.element(base) if isinstance(base, Coll) else super().item(base, key)

    def _box_item(self, box: Box, key: str | None) -> Values:
        facts = self.table(box.path).facts
        expr = facts.exprs[box.expr]
        if expr.op is Op.MAPPING:
            return self.box_items(box, None) if key is None else self.box_member(box, key)
        if key is None or any(facts.exprs[arg].op is Op.SPREAD for arg in expr.args):
            return self.element(box)
        place = int(key)
        return self.value(box.path, expr.args[place]) if place < len(expr.args) else UNKNOWN

    def _part(self, base: Value) -> Values:
        """Some of a list's elements: which of them is not followed."""
        if isinstance(base, Box):
            return (Coll("list", (self.element(base),)),)
        return (base,) if isinstance(base, Shape | Coll) else EXTERNAL if isinstance(base, Ext) else UNKNOWN

    def element(self, base: Value) -> Values:
        if isinstance(base, Shape):
            return self._shape_element(base)
        if isinstance(base, Coll):
            return base.args[0]
        if isinstance(base, Inst):
            return self._iterated(base)
        if isinstance(base, Box):
            return self._guarded(base.path, ("items", base.path, base.expr), lambda: self._box_elements(base))
        return super().element(base)

    def _box_elements(self, box: Box) -> Values:
        facts = self.table(box.path).facts
        expr = facts.exprs[box.expr]
        if expr.op is Op.MAPPING:
            return EXTERNAL
        found: list[Value] = []
        for arg in expr.args:
            item = facts.exprs[arg]
            values = self.value(box.path, item.base if item.op is Op.SPREAD else arg)
            found += self._each(values, self.element) if item.op is Op.SPREAD else values
        return tuple(found)

    def _iterated(self, base: Inst) -> Values:
        """What `for (x of instance)` gives: through [Symbol.iterator], next and value."""
        found: list[Value] = []
        for method in self.member(base, _ITERATOR):
            if isinstance(method, Func):
                made = self.call_result(method, method.path, -1)
                if any(isinstance(value, Shape) for value in made):
                    found += self._each(made, self.element)
                else:
                    steps = self._each(self.members(made, "next"), lambda step: self.call_result(step, "", -1))
                    found += self.members(steps, "value")
        return tuple(found)

    # -- shapes

    def _shape_member(self, shape: Shape, name: str) -> Values:
        if shape.type.name == OBJECT:
            for member in shape.type.args:
                if member.name == f":{name}":
                    return self.typed_in(shape.path, shape.scope, member.args[0], shape.env)
            return UNKNOWN
        if shape.type.name == MAP and name not in _MAP_METHODS:
            return self._argument_of(shape, 1)
        return (Ext(f"{_LIBRARY_NAMES.get(shape.type.name, 'Object')}.{name}"),)

    def _argument_of(self, shape: Shape, place: int) -> Values:
        args = shape.type.args
        return self.typed_in(shape.path, shape.scope, args[place], shape.env) if place < len(args) else UNKNOWN

    def _shape_element(self, shape: Shape) -> Values:
        name = shape.type.name
        if name == GENERATOR:
            return self.returned(shape.path, shape.scope)
        if name == LIST:
            return self._argument_of(shape, 0)
        if name == "()":
            return tuple(value for place in range(len(shape.type.args)) for value in self._argument_of(shape, place))
        if name == MAP:
            return (Shape(shape.path, shape.scope, Type("()", shape.type.args), shape.env),)
        return UNKNOWN

    # -- calls

    def eval_call(self, path: str, index: int, expr: Expr) -> Values:
        callee = self.table(path).facts.exprs[expr.base]
        if callee.op is Op.NAME and callee.name in ("require", "import"):
            loaded = self._loaded(path, expr, callee)
            if loaded is not None:
                return loaded
        if callee.op is Op.MEMBER:
            found = self._method_result(path, index, expr, callee)
            if found is not None:
                return found
        return self._each(self.value(path, expr.base), lambda value: self.call_result(value, path, index))

    def _loaded(self, path: str, expr: Expr, callee: Expr) -> Values | None:
        """require("x") and import("x"); None when `require` is something else here."""
        argument = self.table(path).facts.exprs[expr.args[0]] if expr.args else None
        if argument is None or argument.op is not Op.LITERAL or not argument.text:
            return None
        if callee.name == "import":
            return self.module(path, argument.text)
        known = self.lookup(path, callee.scope, "require", callee.at)
        if any(not isinstance(value, Ext) for value in known):
            return None
        return self.required(path, argument.text)

    def _method_result(self, path: str, index: int, expr: Expr, callee: Expr) -> Values | None:
        """Results of methods whose receiver decides: collections, promises, Function.prototype, generic classes."""
        name = callee.name
        receivers = self.value(path, callee.base)
        found: list[Value] = []
        handled = False
        for receiver in receivers:
            result = self._library_result(path, expr, receiver, name)
            if result is None and isinstance(receiver, Inst) and receiver.args:
                result = self._generic_result(path, index, receiver, name)
            if result is None:
                result = self._each(self.member(receiver, name), lambda value: self.call_result(value, path, index))
            else:
                handled = True
            found += result
        return tuple(found) if handled else None

    def _library_result(self, path: str, expr: Expr, receiver: Value, name: str) -> Values | None:
        if isinstance(receiver, Func):
            if name == "bind":
                return (receiver,)
            return self.returned(receiver.path, receiver.index) if name in ("call", "apply") else None
        if isinstance(receiver, Ext) and receiver.name == "Object":
            if name in ("create", "freeze", "seal", "assign") and expr.args:
                return self.value(path, expr.args[0])
            if name == "values" and expr.args:
                return self._object_values(self.value(path, expr.args[0]))
        if isinstance(receiver, Ext) and receiver.name == "Promise" and name in ("resolve", "all") and expr.args:
            return self.value(path, expr.args[0])
        if name in _PROMISE_METHODS and isinstance(receiver, Inst | Box | Class | Func | Module):
            return self._chained(path, expr, receiver, name)
        if not self._is_collection(receiver):
            return None
        if name in ("map", "flatMap") and expr.args:
            made = self._each(self.value(path, expr.args[0]), lambda value: self.call_result(value, path, -1))
            return (Coll("list", (made,)),) if made else EXTERNAL
        return self._collection_result(receiver, name)

    def _is_collection(self, value: Value) -> bool:
        if isinstance(value, Box):
            return self.table(value.path).facts.exprs[value.expr].op is Op.SEQUENCE
        if isinstance(value, Shape):
            return value.type.name in (LIST, "()", MAP, GENERATOR)
        return isinstance(value, Coll)

    def _object_values(self, values: Values) -> Values:
        """Object.values(o), as something whose elements are o's values: o's own entries where it is a literal."""
        return tuple(
            Shape(value.path, value.scope, Type(LIST, value.type.args[1:2]), value.env)
            for value in values
            if isinstance(value, Shape) and value.type.name == MAP
        )

    def _chained(self, path: str, expr: Expr, receiver: Value, name: str) -> Values | None:
        """promise.then(f): what f returns."""
        if not isinstance(receiver, Module) and self.member(receiver, name) not in (EXTERNAL, UNKNOWN):
            return None
        if name != "then" or not expr.args:
            return (receiver,)
        results = self._each(self.value(path, expr.args[0]), lambda value: self.call_result(value, path, -1))
        return results or EXTERNAL

    def _collection_result(self, receiver: Value, name: str) -> Values:
        if isinstance(receiver, Shape) and receiver.type.name == MAP:
            if name == "get":
                return self._argument_of(receiver, 1)
            if name in ("values", "keys"):
                place = 1 if name == "values" else 0
                return (
                    Shape(
                        receiver.path, receiver.scope, Type(LIST, receiver.type.args[place : place + 1]), receiver.env
                    ),
                )
            return (receiver,) if name in ("entries", "set") else EXTERNAL
        if name in _ELEMENT_RESULTS:
            return self.element(receiver)
        if name in _SAME_RESULTS or name in ("values", "add"):
            return self._part(receiver)
        return EXTERNAL

    def _generic_result(self, path: str, index: int, receiver: Inst, name: str) -> Values | None:
        """A method's declared result where it names type parameters of the receiver's class."""
        env = self.env_of(receiver)
        methods = [value for value in self.member(receiver, name) if isinstance(value, Func)]
        if not env or not methods:
            return None
        found: list[Value] = []
        for method in methods:
            definition = self.definition(method.path, method.index)
            typed = self.result_in(method.path, definition, method.index, env)
            found += typed or self.call_result(method, path, index)
        return tuple(found)

    def call_result(self, callee: Value, path: str, index: int) -> Values:
        if isinstance(callee, Func):
            return self._function_result(callee, path, index)
        if isinstance(callee, Shape) and callee.type.name == FUNCTION and callee.type.args:
            return self.typed_in(callee.path, callee.scope, callee.type.args[0], callee.env)
        if isinstance(callee, Inst):
            return self._made_by(callee)
        if isinstance(callee, Class) or index < 0:
            return UNKNOWN if not isinstance(callee, Ext) else EXTERNAL
        return super().call_result(callee, path, index)

    def _function_result(self, callee: Func, path: str, index: int) -> Values:
        definition = self.definition(callee.path, callee.index)
        if definition.flags & NodeFlag.GENERATOR and definition.result is None:
            return (Shape(callee.path, callee.index, Type(GENERATOR)),)
        if definition.type_params and definition.result is not None and index >= 0:
            env = self._inferred(callee, definition, path, index)
            found = self.typed_in(callee.path, callee.index, definition.result, env)
            if found:
                return found
        values = self.returned(callee.path, callee.index)
        return values if index < 0 else self.substitute(values, callee, path, index)

    def returned(self, path: str, index: int) -> Values:
        definition = self.definition(path, index)
        if definition.result is None and index in self.js(path).function_expr:
            expected = self._expected_result(path, index)
            if expected:
                return expected
        return super().returned(path, index)

    def _inferred(self, callee: Func, definition: Definition, path: str, call: int) -> Env:
        """A generic function's type parameters: written at the call, or the type of the argument that has them."""
        facts = self.table(path).facts
        site = facts.exprs[call]
        given = site.type.args if site.type is not None and site.type.name == "<>" else ()
        found: list[tuple[str, Values]] = []
        for place, param in enumerate(definition.type_params):
            values = self.typed(path, site.scope, given[place]) if place < len(given) else UNKNOWN
            values = values or self._from_arguments(callee, definition, param.name, path, call)
            if values:
                found.append((param.name, values))
        return tuple(found)

    def _from_arguments(self, callee: Func, definition: Definition, name: str, path: str, call: int) -> Values:
        for place, param in enumerate(definition.params):
            declared = param.type
            if declared is None:
                continue
            argument = self.argument(callee, place, path, call)
            if argument < 0:
                continue
            if declared.name == name:
                return self.value(path, argument)
            if declared.name == LIST and declared.args[:1] == (Type(name),):
                return self._each(self.value(path, argument), self.element)
            if declared.name == CONSTRUCTOR and declared.args[:1] == (Type(name),):
                return self._each(self.value(path, argument), self.instance_of)
        return UNKNOWN

    def new_classes(self, path: str, expr: Expr) -> Values:
        found = self.value(path, expr.base)
        if expr.type is None:
            return found
        args = tuple(self.typed(path, expr.scope, arg) for arg in expr.type.args)
        return tuple(Class(value.path, value.index, args) if isinstance(value, Class) else value for value in found)

    def eval_new(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        classes = self.new_classes(path, expr)
        if expr.type is not None and any(isinstance(value, Ext) for value in classes):
            return self.typed(path, expr.scope, expr.type) or EXTERNAL
        if classes == (Ext("Set"),) and expr.args:
            return self.value(path, expr.args[0])  # iterated, it gives the same elements
        return self._each(classes, self.instance_of)

    def eval_cast(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        if expr.text == INSTANCE:
            return self._each(self.value(path, expr.base), self.instance_of)
        typed = self.typed(path, expr.scope, expr.type)
        return typed or self.value(path, expr.base)

    # -- parameters by the type that is expected of the function

    def param(self, path: str, index: int, place: int) -> Values:
        definition = self.table(path).facts.definitions[index]
        param = definition.params[place]
        if param.type is None and param.kind is not ParamKind.RECEIVER:
            expected = self._guarded(
                path, ("expected", path, index, place), lambda: self._expected_param(path, index, place)
            )
            if expected:
                return expected
            if param.kind is ParamKind.VARIADIC:
                return UNKNOWN
        return super().param(path, index, place)

    def param_as_seen(self, typed: Values, param: object) -> Values:  # noqa: ARG002  a rest parameter's type is a list
        return typed

    def _expected_param(self, path: str, index: int, place: int) -> Values:
        js = self.js(path)
        expr = js.function_expr.get(index, -1)
        if expr < 0:
            return UNKNOWN
        holder = js.holders.get(expr)
        if holder is not None and holder.kind == "arg":
            given = self._callback_param(path, holder.owner, holder.place, place)
            if given is not None:
                return given
        found: list[Value] = []
        for value in self._expected(path, expr):
            if isinstance(value, Shape) and value.type.name == FUNCTION and place + 1 < len(value.type.args):
                found += self.typed_in(value.path, value.scope, value.type.args[place + 1], value.env)
            elif isinstance(value, Inst):
                signature = self.call_signature(value, place)
                if signature is not None and place < len(signature[1].params):
                    declared = signature[1].params[place].type
                    found += self.typed_in(value.path, signature[0], declared, self.env_of(value))
        return tuple(found)

    def _callback_param(self, path: str, call: int, position: int, place: int) -> Values | None:
        """What a built-in passes to its callback; None when the callee is not a built-in."""
        exprs = self.table(path).facts.exprs
        callee = exprs[exprs[call].base] if exprs[call].op is Op.CALL else None
        if callee is None or callee.op is not Op.MEMBER or position != 0:
            return None
        receivers = self.value(path, callee.base)
        if callee.name == "then" and place == 0:
            awaited = tuple(value for value in receivers if isinstance(value, Inst | Box | Module | Shape))
            return awaited or None
        lists = tuple(value for value in receivers if self._is_collection(value))
        if not lists:
            return None
        first = callee.name in _FIRST_IS_ELEMENT and place == 0
        if not first and not (callee.name in _SECOND_IS_ELEMENT and place == 1):
            return None
        return self._each(lists, self._visited)

    def _visited(self, value: Value) -> Values:
        if isinstance(value, Shape) and value.type.name == MAP:
            return self._argument_of(value, 1)
        return self.element(value)

    def _expected(self, path: str, expr: int) -> Values:
        """The values of the type that an expression is expected to have where it stands."""
        return self._guarded(path, ("x", path, expr), lambda: self._expected_by(path, expr))

    def _expected_by(self, path: str, expr: int) -> Values:
        holder = self.js(path).holders.get(expr)
        if holder is None:
            return UNKNOWN
        facts = self.table(path).facts
        if holder.kind == "assign":
            assign = facts.assigns[holder.owner]
            target = facts.exprs[assign.target]
            if assign.type is not None:
                return self.typed(path, target.scope, assign.type)
            return self._expected_member(path, target)
        if holder.kind == "return":
            return self._expected_result(path, holder.owner)
        if holder.kind == "arg":
            return self._expected_argument(path, holder.owner, holder.place)
        if holder.kind == "entry":
            return self.members(self._expected(path, holder.owner), holder.key)
        if holder.kind == "item":
            return self._each(self._expected(path, holder.owner), self.element)
        if holder.kind == "same":
            return self._expected(path, holder.owner)
        definition = facts.definitions[holder.owner]
        if holder.kind == "default":
            return self.typed(path, holder.owner, definition.params[holder.place].type)
        return self.typed(path, definition.parent, definition.result)

    def _expected_member(self, path: str, target: Expr) -> Values:
        """The declared type of a field that is assigned to."""
        if target.op is not Op.MEMBER or target.base < 0:
            return UNKNOWN
        found: list[Value] = []
        for owner in self.value(path, target.base):
            if isinstance(owner, Inst):
                table = self.table(owner.path)
                for index in table.defs[owner.index].get(target.name, ()) if owner.index in table.defs else ():
                    definition = self.definition(owner.path, index)
                    if definition.kind is NodeKind.VARIABLE:
                        found += self.typed(owner.path, owner.index, definition.result)
        return tuple(found)

    def _expected_result(self, path: str, index: int) -> Values:
        definition = self.table(path).facts.definitions[index]
        if definition.result is not None:
            return self.typed(path, index, definition.result)
        expr = self.js(path).function_expr.get(index, -1)
        return self._each(self._expected(path, expr), self._made_by) if expr >= 0 else UNKNOWN

    def _expected_argument(self, path: str, call: int, position: int) -> Values:
        site = self.table(path).facts.exprs[call]
        callees = self.new_classes(path, site) if site.op is Op.NEW else self.value(path, site.base)
        found: list[Value] = []
        for callee in callees:
            functions = self.constructors(callee) if isinstance(callee, Class) else (callee,)
            for function in functions:
                if isinstance(function, Func):
                    found += self._declared_param(function, position)
                elif isinstance(function, Shape) and function.type.name == FUNCTION:
                    declared = next(iter(function.type.args[position + 1 : position + 2]), None)
                    found += self.typed_in(function.path, function.scope, declared, function.env)
        return tuple(found)

    def _declared_param(self, function: Func, position: int) -> Values:
        definition = self.definition(function.path, function.index)
        params = [param for param in definition.params if param.kind is not ParamKind.RECEIVER]
        if not params:
            return UNKNOWN
        param = params[min(position, len(params) - 1)]
        if position >= len(params) and param.kind is not ParamKind.VARIADIC:
            return UNKNOWN
        typed = self.typed(function.path, function.index, param.type)
        return self._each(typed, self.element) if param.kind is ParamKind.VARIADIC else typed

    # -- calls without a call expression

    def implicit_calls(self, path: str) -> Iterator[tuple[int, tuple[str, int], Rule, int]]:
        facts = self.table(path).facts
        for index in self.js(path).reflections:
            call = facts.exprs[index]
            for value in self.ask(path, call.args[0]):
                if isinstance(value, Func):
                    yield call.scope, (value.path, value.index), Rule.FLOW, call.line
                elif isinstance(value, Class):
                    made = self.constructors(value) or (value,)
                    for item in made:
                        if isinstance(item, Func | Class):
                            yield call.scope, (item.path, item.index), Rule.FLOW, call.line
        for expr in facts.exprs:
            if expr.op is Op.ELEMENT and expr.base >= 0:
                for value in self.ask(path, expr.base):
                    if isinstance(value, Inst):
                        for method in self.member(value, _ITERATOR):
                            if isinstance(method, Func):
                                yield expr.scope, (method.path, method.index), Rule.TYPED, expr.line

    # -- references

    def reference(self, path: str, expr: int) -> Values:
        item = self.table(path).facts.exprs[expr]
        if item.text == TYPE:
            found = self._type_reference(path, expr)
        elif item.op is Op.MEMBER:
            found = self._each(self.ask(path, item.base), lambda owner: self.defined(owner, item.name))
        elif self.js(path).binding_scope(item.scope, item.name) == MODULE_SCOPE:
            found = self._symbol(path, item.name)
        else:
            return UNKNOWN  # a local variable is no symbol
        return tuple(value for value in found if self._is_visible(path, value, item.at))

    def _type_reference(self, path: str, expr: int) -> Values:
        item = self.table(path).facts.exprs[expr]
        if item.op is Op.NAME:
            return tuple(value for value in self.type_name(path, item.scope, item.name) if isinstance(value, Class))
        owners = self._type_owners(path, item.base)
        return self._each(owners, lambda owner: self.type_member(owner, item.name))

    def _type_owners(self, path: str, expr: int) -> Values:
        """What stands before the dot of a type's name: a module or a namespace."""
        item = self.table(path).facts.exprs[expr]
        if item.op is Op.NAME:
            return self.type_name(path, item.scope, item.name)
        return self._each(self._type_owners(path, item.base), lambda owner: self.type_member(owner, item.name))

    def _is_visible(self, path: str, value: Value, at: int) -> bool:
        if not isinstance(value, Class | Func) or value.path != path:
            return True
        start, end = self.js(path).blocks.get(value.index, (0, at + 1))
        return start <= at < end

    def defined(self, owner: Value, name: str) -> Values:
        if isinstance(owner, Module):
            self.world.record("name", owner.path, name)
            return self._guarded(owner.path, ("sym", owner.path, name), lambda: self._exported_symbol(owner.path, name))
        if isinstance(owner, Class | Inst):
            self.touch(owner.path, owner.index)
            table = self.table(owner.path)
            found = self._members_named(table, owner.index, name, None)
            return (Class(owner.path, found[-1]),) if found else UNKNOWN
        if isinstance(owner, Package):
            path, _, index = owner.name.partition("\0")
            return self.defined(Class(path, int(index)), name)
        return UNKNOWN

    def _symbol(self, path: str, name: str) -> Values:
        """The definition behind a top-level name of a file, as seen inside it: not its value."""
        table = self.table(path)
        defs = table.defs[MODULE_SCOPE].get(name, ()) if MODULE_SCOPE in table.defs else ()
        definitions = table.facts.definitions
        kept = [index for index in defs if definitions[index].kind in _VALUE_KINDS]
        kept = [index for index in kept if definitions[index].kind is not NodeKind.METHOD]
        if kept:
            return (Class(path, _implementations(definitions, kept)[-1]),)
        imports = table.imports[MODULE_SCOPE].get(name, ()) if MODULE_SCOPE in table.imports else ()
        return tuple(value for index in imports for value in self.imported_symbol(path, table.facts.imports[index]))

    def _exported_symbol(self, path: str, name: str) -> Values:
        table = self.table(path)
        self.world.record("name", path, MODULE_STARS)
        found: list[Value] = []
        for index in table.exports.get(name, ()):
            export = table.facts.exports[index]
            if export.module:
                modules = self.module(path, export.module)
                local = export.local or name
                found += modules if local == "*" else [v for m in modules for v in self.defined(m, local)]
            elif export.local:
                self.world.record("name", path, export.local)
                found += self._symbol(path, export.local) or self._types_in(path, MODULE_SCOPE, export.local)
            else:
                held = self.value(path, export.value)
                found += [Class(v.path, v.index) for v in held if isinstance(v, Func | Class)]
        if not found:
            for index in table.exports.get("*", ()):
                modules = self.module(path, table.facts.exports[index].module)
                found += [value for module in modules for value in self.defined(module, name)]
        return tuple(found)

    # -- the last resort

    def guess(self, path: str, index: int, expr: Expr) -> list[tuple[str, int]]:  # noqa: ARG002
        """The only class that has a method of that name, where the name is no ordinary word and no host's.

        In TypeScript a receiver of unknown type is one that a library made: nothing is guessed.
        """
        if self.world.language(path) != "javascript":
            return []
        callee = self.table(path).facts.exprs[expr.base] if expr.op is Op.CALL and expr.base >= 0 else None
        if callee is None or callee.op is not Op.MEMBER or not _is_particular(callee.name):
            return []
        found = self.world.named(self.language, callee.name)
        owned = len(found) == 1 and self.js(found[0][0]).method_owner(found[0][1]) >= 0
        return found if owned else []

    # -- objects that are passed on

    def encode_value(self, value: Value) -> str | None:
        if isinstance(value, Box):
            return self._encode_box(value)
        return super().encode_value(value)

    def _encode_box(self, box: Box) -> str | None:
        """An object literal of the file at hand, with a digest of what it holds, so that a change of it is a change."""
        if box.path != self.home:
            return None
        held: list[str] = []
        facts = self.table(box.path).facts
        for arg in facts.exprs[box.expr].args:
            entry = facts.exprs[arg]
            values = self.value(box.path, entry.base if entry.op is Op.KEYWORD else arg)
            known = [super(JavaScriptEvaluator, self).encode_value(value) or type(value).__name__ for value in values]
            held.append(f"{entry.name}={','.join(known)}")
        digest = hashlib.blake2b("\n".join(held).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        return f"Box\0{box.path}\0{box.expr}\0{digest}"

    def decode_value(self, encoded: str) -> Value | None:
        tag, path, place, *_ = encoded.split("\0")
        if tag != "Box":
            return super().decode_value(encoded)
        if not self.world.exists(path) or int(place) >= len(self.table(path).facts.exprs):
            return None
        return Box(path, int(place))

    def module_name(self, path: str) -> str:
        stem = path.removesuffix(".d.ts")
        if stem == path:
            stem = path.rpartition(".")[0] or path
        return stem.removesuffix("/index")


def _implementations(definitions: tuple[Definition, ...], found: list[int]) -> list[int]:
    """Overload signatures stand for their implementation; signatures alone for the first of them."""
    bodies = [index for index in found if not definitions[index].flags & NodeFlag.DECLARATION]
    if bodies or not found:
        return bodies
    return found[:1]


def _is_particular(name: str) -> bool:
    """A compound name that no browser or Node.js interface is known to have."""
    return len(name) >= MIN_PARTICULAR and any(map(str.isupper, name[1:])) and name not in HOST_METHODS


def _covers(written: tuple[str, ...], names: tuple[str, ...]) -> bool:
    return len(written) == len(names) and all(
        one in (other, ANY_MEMBER) or other == ANY_MEMBER for one, other in zip(written, names, strict=True)
    )


_VALUE_KINDS = CALLABLE_KINDS | {NodeKind.CLASS, NodeKind.VARIABLE, NodeKind.PACKAGE}
_MAP_METHODS = frozenset({"get", "set", "has", "delete", "clear", "forEach", "values", "keys", "entries", "size"})
_LIBRARY_NAMES = {LIST: "Array", "()": "Array", MAP: "Map", FUNCTION: "Function", CONSTRUCTOR: "Function"}
GLOBAL_NAMES = """
    Array ArrayBuffer BigInt Boolean DataView Date Error Function Infinity Intl JSON Map Math NaN Number Object Promise
    Proxy Reflect RegExp Set String Symbol TypeError WeakMap WeakSet globalThis undefined arguments
    console process require module exports window document navigator self global location history localStorage
    sessionStorage fetch alert confirm prompt atob btoa escape unescape eval isNaN isFinite parseInt parseFloat
    encodeURI encodeURIComponent decodeURI decodeURIComponent setTimeout setInterval setImmediate clearTimeout
    clearInterval clearImmediate queueMicrotask requestAnimationFrame cancelAnimationFrame requestIdleCallback
    structuredClone crypto performance caches addEventListener removeEventListener dispatchEvent postMessage
    getComputedStyle matchMedia importScripts describe it test expect beforeEach afterEach beforeAll afterAll before
    after suite vi jest jasmine cy chai sinon assert $ jQuery __dirname __filename import print define
"""
GLOBALS = frozenset(GLOBAL_NAMES.split())
HOST_METHOD_NAMES = """
    addEventListener appendChild attachEvent attachShadow charCodeAt cloneNode codePointAt compareDocumentPosition
    createElement createReadStream createServer createTextNode createWriteStream disconnectedCallback dispatchEvent
    elementFromPoint endsWith findIndex findLast findLastIndex flatMap forEach fromEntries getAllResponseHeaders
    getAttribute getBoundingClientRect getComputedStyle getContext getDate getElementById getElementsByClassName
    getElementsByTagName getFullYear getHeader getHours getItem getMinutes getMonth getOwnPropertyDescriptor
    getOwnPropertyNames getPrototypeOf getReader getSeconds getTime getTimezoneOffset getUTCDate getWriter
    hasAttribute hasOwnProperty importKey includes indexOf insertAdjacentHTML insertBefore isPrototypeOf lastIndexOf
    localeCompare matchAll objectStore padStart parseFromString pipeThrough pipeTo preventDefault propertyIsEnumerable
    querySelector querySelectorAll readAsText readFile readFileSync reduceRight releaseLock removeAttribute
    removeChild removeEventListener removeItem replaceAll replaceChild replaceWith requestAnimationFrame
    respondWith scrollIntoView setAttribute setHeader setItem setRequestHeader setTimeout startsWith
    stopImmediatePropagation stopPropagation subscribe toBeDefined toDateString toFixed toHaveBeenCalled
    toISOString toLocaleDateString toLocaleString toLowerCase toPrecision toString toUpperCase toUTCString
    trimEnd trimStart waitUntil writeFile writeFileSync writeHead
"""
HOST_METHODS = frozenset(HOST_METHOD_NAMES.split())

EVALUATOR = JavaScriptEvaluator
