"""PHP: full names to classes and functions, traits and parents, declared and documented types, fluent results."""

from __future__ import annotations

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Definition, Expr, Import, Param, ParamKind, Type
from ctxsearch.graph.model import CALLABLE_KINDS, NodeFlag, NodeKind
from ctxsearch.graph.resolve.evaluate import Evaluator
from ctxsearch.graph.resolve.php_names import COMMON_METHODS
from ctxsearch.graph.resolve.surface import MODULE_STARS
from ctxsearch.graph.resolve.tables import CLASS_LIKE
from ctxsearch.graph.resolve.values import EXTERNAL, UNKNOWN, Class, Ext, Func, Inst, Method, Module, Value, Values

_WIDE = 1000  # definitions of one name: what is too many is decided where one is needed
_SCALARS = frozenset({"int", "float", "string", "bool"})
_ENUM_MAKERS = frozenset({"from", "tryFrom"})
_SUFFIXES = (".php", ".phtml", ".inc")
_MIN_GUESS = 4  # shorter names are unique by accident
_FUNCTIONS = frozenset({NodeKind.FUNCTION})


class PhpEvaluator(Evaluator):
    """PHP's rules. Names in facts are full names already (see the extractor)."""

    language = "php"
    guesses_after_flow = True

    # -- names

    def eval_name(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        if expr.name.startswith("$"):
            return self._variable(path, expr)
        kind, falls_back = expr.text.rstrip("?"), expr.text.endswith("?")
        if kind == "class":
            return self.class_named(path, expr.name)
        found = self._functions(path, expr.name) if kind == "function" else UNKNOWN
        if not found and falls_back:
            found = self._functions(path, expr.name.rsplit(".", 1)[-1]) if kind == "function" else UNKNOWN
        return found or (Ext(expr.name.rsplit(".", 1)[-1] if falls_back else expr.name),)

    def _variable(self, path: str, expr: Expr) -> Values:
        """A variable lives in its function; closures see those of the function around them."""
        definitions = self.table(path).facts.definitions
        scope, at = expr.scope, expr.at
        while scope >= 0:
            definition = definitions[scope]
            if definition.kind in CALLABLE_KINDS:
                found = self.in_function(path, scope, expr.name, at)
                if found is not None:
                    return found
                if not definition.flags & NodeFlag.ANONYMOUS:
                    return UNKNOWN
                at = definition.start
            scope = definition.parent
        return self.bound(path, -1, expr.name, at) or UNKNOWN

    def class_named(self, path: str, full: str) -> Values:
        """The class of a full name; external when the repository has none."""
        return self._nearest(path, self._defined(full, types=True)) or (Ext(full),)

    def _functions(self, path: str, full: str) -> Values:
        found = self._nearest(path, self._defined(full, types=False))
        return tuple(Func(item.path, item.index) for item in found if isinstance(item, Class))

    def _defined(self, full: str, *, types: bool) -> Values:
        """Top-level types or functions of a full name, as (path, index) carriers."""
        namespace, _, name = full.rpartition(".")

        def compute() -> Values:
            found: list[Value] = []
            for place, index in self.world.named(self.language, name, CLASS_LIKE if types else _FUNCTIONS):
                if self._namespace(place, self.table(place).facts.definitions[index]) == namespace:
                    found.append(Class(place, index))
            return tuple(found)

        return self._guarded("", ("full", full, types), compute, _WIDE)

    def _namespace(self, path: str, definition: Definition) -> str | None:
        """The namespace that a definition stands directly in; None inside a class or function."""
        facts = self.table(path).facts
        if definition.parent >= 0:
            around = facts.definitions[definition.parent]
            return around.name.replace("\\", ".") if around.kind is NodeKind.PACKAGE else None
        self.world.record("name", path, MODULE_STARS)
        return facts.package

    def _nearest(self, path: str, found: Values) -> Values:
        """Of several definitions of one name: this file's, else the only one that is no test's; else nobody knows."""
        if len(found) < 2:
            return found
        own = [item for item in found if isinstance(item, Class) and item.path == path]
        if own:
            return (own[0],)
        code = [item for item in found if isinstance(item, Class) and not self._is_test(item.path)]
        return (code[0],) if len(code) == 1 else EXTERNAL

    def _is_test(self, path: str) -> bool:
        self.record_name(path, MODULE_STARS)
        return bool(int(self.table(path).facts.flags) & int(NodeFlag.TEST))

    # -- this, parents, types

    def eval_super(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        """parent: the class extended, never a trait."""
        owner = self.table(path).enclosing_class(expr.scope)
        return self._each(self._parents(path, owner), self.instance_of) if owner >= 0 else UNKNOWN

    def _parents(self, path: str, owner: int) -> Values:
        found = self.bases(path, owner)
        classes = tuple(item for item in found if isinstance(item, Class) and self._kind(item) is NodeKind.CLASS)
        return classes or tuple(item for item in found if isinstance(item, Ext))

    def _kind(self, item: Class | Inst) -> NodeKind:
        return self.definition(item.path, item.index).kind

    def type_classes(self, path: str, scope: int, declared: Type) -> Values:
        name = declared.name
        if name in ("self", "static", "parent"):
            owner = self.table(path).enclosing_class(scope)
            if owner < 0:
                return UNKNOWN
            return self._parents(path, owner) if name == "parent" else (Class(path, owner),)
        if name in _SCALARS or name == "[]":
            return (Ext(name),)
        return self.class_named(path, name) if name else UNKNOWN

    def type_instances(self, path: str, scope: int, declared: Type) -> Values:
        if declared.name == "[]":
            return (Ext("[]", (self.typed(path, scope, declared.args[0]),)),)
        return super().type_instances(path, scope, declared)

    def bases(self, path: str, index: int) -> Values:
        self.touch(path, index)
        if self.table(path).facts.definitions[index].kind not in CLASS_LIKE:
            return UNKNOWN
        return super().bases(path, index)

    def param_as_seen(self, typed: Values, param: Param) -> Values:
        return (Ext("[]", (typed,)),) if param.kind is ParamKind.VARIADIC else typed

    # -- members

    def own_member(self, path: str, index: int, name: str, seen_as: Inst | Class | None) -> Values | None:
        found = super().own_member(path, index, name, seen_as)
        if found or not name.startswith("$"):
            return found
        fields = self.table(path).fields.get(index, {}).get(name, ())
        if not fields:
            return found
        return self._guarded(
            path, ("field", path, index, name), lambda: tuple(v for f in fields for v in self.assigned(path, f))
        )

    def class_member(self, path: str, index: int, name: str, seen_as: Inst | Class | None = None) -> Values:
        found = super().class_member(path, index, name, seen_as)
        if not found and name in _ENUM_MAKERS and self.definition(path, index).signature.startswith("enum"):
            return (Method(Inst(path, index), name),)
        return found

    def element(self, base: Value) -> Values:
        return self.item(base, None) if isinstance(base, Ext) else super().element(base)

    def item(self, base: Value, key: str | None) -> Values:
        if isinstance(base, Ext) and base.name == "[]":
            return base.args[0] if base.args else UNKNOWN
        return super().item(base, key)

    # -- calls

    def call_result(self, callee: Value, path: str, index: int) -> Values:
        if isinstance(callee, Method):
            return (callee.owner,)
        if isinstance(callee, Func) and self._is_fluent(callee):
            receivers = self._receivers(path, index)
            if receivers:
                return receivers
        if isinstance(callee, Inst):
            return tuple(
                value for item in self.called_instance(callee) for value in self.call_result(item, path, index)
            )
        return super().call_result(callee, path, index)

    def _is_fluent(self, callee: Func) -> bool:
        """Whether a method gives back the object that it was called on, or another of its class."""
        definition = self.definition(callee.path, callee.index)
        if definition.result is not None:
            return definition.result.name == "static"
        exprs = self.table(callee.path).facts.exprs
        return bool(definition.returns) and all(exprs[item].op is ops.THIS for item in definition.returns)

    def _receivers(self, path: str, call: int) -> Values:
        exprs = self.table(path).facts.exprs
        callee = exprs[exprs[call].base]
        if callee.op is not ops.MEMBER:
            return UNKNOWN
        if exprs[callee.base].op is ops.SUPER:
            return self.eval_this(path, call, exprs[call])
        values = self.value(path, callee.base)
        return tuple(Inst(item.path, item.index) for item in values if isinstance(item, (Inst, Class)))

    def constructor_names(self, value: Class) -> tuple[str, ...]:  # noqa: ARG002
        return ("__construct",)

    def called_instance(self, value: Inst) -> Values:
        return tuple(
            item for item in self.class_member(value.path, value.index, "__invoke", value) if isinstance(item, Func)
        )

    def guess(self, path: str, index: int, expr: Expr) -> list[tuple[str, int]]:  # noqa: ARG002
        """A method of an unknown receiver: the only one of that name, unless libraries have such a name too."""
        if expr.op is not ops.CALL or expr.base < 0:
            return []
        callee = self.table(path).facts.exprs[expr.base]
        name = callee.name
        if callee.op is not ops.MEMBER or name.startswith(("$", "__")) or len(name) < _MIN_GUESS:
            return []
        if name.lower() in COMMON_METHODS:
            return []
        found = self.world.named(self.language, name, CALLABLE_KINDS)
        if len(found) != 1 or not self._fits(path, found[0], expr):
            return []
        return found if all(self._may_have(value, found[0]) for value in self.value(path, callee.base)) else []

    def _may_have(self, receiver: Value, method: tuple[str, int]) -> bool:
        """A receiver of a known class has no other methods; one of a trait has those of the classes that use it."""
        if not isinstance(receiver, Inst):
            return False
        if not self.definition(receiver.path, receiver.index).signature.startswith("trait"):
            return False
        owner = self.definition(*method).parent
        if self.definition(method[0], owner).signature.startswith("trait"):
            return True
        return Class(receiver.path, receiver.index) in self.ancestry(method[0], owner)

    def _fits(self, path: str, item: tuple[str, int], expr: Expr) -> bool:
        definition = self.definition(*item)
        if definition.kind is not NodeKind.METHOD or (self._is_test(item[0]) and not self._is_test(path)):
            return False
        return _takes(definition, self.table(path).facts.exprs, expr)

    def reference(self, path: str, expr: int) -> Values:
        item = self.table(path).facts.exprs[expr]
        if item.op is ops.MEMBER:
            return super().reference(path, expr)
        return tuple(value for value in self.ask(path, expr) if isinstance(value, Class))

    # -- files

    def import_modules(self, path: str, item: Import) -> Values:
        if item.kind == "require":
            directory = path.rpartition("/")[0]
            for start in (directory,) if item.level else (directory, ""):
                place = _normal(f"{start}/{item.module}")
                if self.world.exists(place):
                    return (Module(place),)
            return EXTERNAL
        if item.kind == "function":
            return self._functions(path, item.module) or (Ext(item.module),)
        return self.class_named(path, item.module) if not item.kind else EXTERNAL

    def module_name(self, path: str) -> str:
        return self.table(path).facts.package or path

    def qualified(self, module: str, definition: Definition) -> str:
        """Namespace and name; a file without a namespace adds nothing."""
        named = not module.endswith(_SUFFIXES)
        return f"{module}.{definition.qualified_name}" if named else definition.qualified_name


def _takes(definition: Definition, exprs: tuple[Expr, ...], call: Expr) -> bool:
    """Whether a call passes no more and no fewer arguments than a function can take."""
    given = [exprs[arg] for arg in call.args]
    if any(item.op is ops.SPREAD for item in given):
        return True
    params = definition.params
    variadic = any(param.kind is ParamKind.VARIADIC for param in params)
    required = sum(param.default < 0 and param.kind is ParamKind.NORMAL for param in params)
    return required <= len(given) and (len(given) <= len(params) or variadic)


def _normal(path: str) -> str:
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            if parts:
                parts.pop()
        elif part not in ("", "."):
            parts.append(part)
    return "/".join(parts)


EVALUATOR = PhpEvaluator
