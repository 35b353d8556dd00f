"""Go's generics: what a type parameter stands for in the result of a call, in a field, in what a named type is made of.

Inside a generic function its parameters are their constraints; from outside they are the type arguments, written at the
call or found by comparing the types of parameters with the arguments.
"""

from __future__ import annotations

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Definition, Expr, ParamKind, Type
from ctxsearch.graph.model import NodeKind
from ctxsearch.graph.resolve.evaluate import Evaluator
from ctxsearch.graph.resolve.tables import CLASS_LIKE
from ctxsearch.graph.resolve.values import EXTERNAL, UNKNOWN, Class, Ext, Func, Inst, Value, Values

CONTAINERS = frozenset({"[]", "{}", "<-", "()", "->"})
MAX_STEPS_UP = 4  # embedded structs between an instance's own type and the one that declares a type parameter
MAX_NESTED = 6  # type arguments within one another: Tree[Tree[T]] called on itself has no end

Environment = dict[str, Values]  # type parameter -> the instances it stands for


class GoGenerics(Evaluator):
    """Type parameters of functions and types."""

    def type_instances(self, path: str, scope: int, declared: Type) -> Values:
        if declared.name in CONTAINERS:
            return (Ext(declared.name, tuple(self.typed(path, scope, arg) for arg in declared.args)),)
        return super().type_instances(path, scope, declared)

    def underlying(self, value: Value) -> Value:
        """What a named type is made of, when it is no struct or interface."""
        if isinstance(value, Inst):
            definition = self.definition(value.path, value.index)
            known = _environment(definition, value.args)
            made_of = self._typed_in(value.path, value.index, definition.result, known)
            if made_of and isinstance(made_of[0], Ext):
                return made_of[0]
        return value

    # -- fields and results

    def member_value(self, path: str, index: int, seen_as: Inst | Class | None) -> Values:
        """A field of a generic struct, as the instance's type arguments say."""
        definition = self.definition(path, index)
        if definition.kind is NodeKind.VARIABLE and isinstance(seen_as, Inst) and definition.parent >= 0:
            owner = self.definition(path, definition.parent)
            given = self._arguments(seen_as, Class(path, definition.parent), 0) if owner.type_params else ()
            known = _environment(owner, given)
            if known and _mentions(definition.result, known):
                return self._typed_in(path, definition.parent, definition.result, known)
        return super().member_value(path, index, seen_as)

    def generic_result(self, callee: Func, path: str, index: int) -> Values:
        """What a call gives when the result names type parameters; () when it names none that is known."""
        definition = self.definition(callee.path, callee.index)
        if definition.result is None:
            return UNKNOWN
        call = self.table(path).facts.exprs[index]
        if definition.receiver is not None or definition.parent >= 0:
            known = self._of_receiver(callee, definition, path, call)
        else:
            known = self._of_call(callee, definition, path, index, call) if definition.type_params else {}
        if not known or not _mentions(definition.result, known):
            return UNKNOWN
        return self._typed_in(callee.path, callee.index, definition.result, known)

    def _of_receiver(self, callee: Func, definition: Definition, path: str, call: Expr) -> Environment:
        """The type parameters of a method's type, by the names that the method gives them."""
        owner = self._owner(callee, definition)
        names = definition.type_params
        if owner is not None and not names and definition.receiver is None:
            names = self.definition(owner.path, owner.index).type_params  # of an interface
        member = self.table(path).facts.exprs[call.base] if call.base >= 0 else None
        if owner is None or not names or member is None or member.op is not ops.MEMBER:
            return {}
        for value in self.value(path, member.base):
            args = self._arguments(value, owner, 0) if isinstance(value, Inst) else ()
            if args:
                return {param.name: found for param, found in zip(names, args, strict=False) if found}
        return {}

    def _owner(self, callee: Func, definition: Definition) -> Class | None:
        if definition.receiver is None:
            inside = definition.parent >= 0 and self.definition(callee.path, definition.parent).kind in CLASS_LIKE
            return Class(callee.path, definition.parent) if inside else None
        types = self.type_classes(callee.path, definition.parent, definition.receiver)
        return next((Class(value.path, value.index) for value in types if isinstance(value, Class)), None)

    def _arguments(self, value: Inst, owner: Class, depth: int) -> tuple[Values, ...]:
        """The type arguments that an instance gives the type itself, or one that it embeds."""
        if (value.path, value.index) == (owner.path, owner.index):
            return value.args
        definition = self.definition(value.path, value.index)
        known = _environment(definition, value.args)
        for base in definition.bases if depth < MAX_STEPS_UP else ():
            for embedded in self._typed_in(value.path, definition.parent, base, known):
                found = self._arguments(embedded, owner, depth + 1) if isinstance(embedded, Inst) else ()
                if found:
                    return found
        return ()

    # -- what a call says

    def _of_call(self, callee: Func, definition: Definition, path: str, index: int, call: Expr) -> Environment:
        written = call.type.args if call.type is not None else ()
        known = _environment(definition, tuple(self.typed(path, call.scope, arg) for arg in written))
        names = frozenset(param.name for param in definition.type_params) - known.keys()
        if names:
            self._infer(callee, definition, path, index, names, known)
        return known

    def _infer(
        self, callee: Func, definition: Definition, path: str, index: int, names: frozenset[str], known: Environment
    ) -> None:
        exprs = self.table(path).facts.exprs
        places = self.table(callee.path).positional(callee.index)
        rank = 0
        for arg in self.given(path, index, callee):
            if rank >= len(places):
                return
            param = definition.params[places[rank]]
            declared = param.type
            if param.kind is not ParamKind.VARIADIC:
                rank += 1
            elif declared is not None and exprs[arg].op is not ops.SPREAD:
                declared = declared.args[0]
            if declared is not None and _mentions(declared, names):
                self._compare(declared, self.value(path, arg), names, known, 0)

    def _compare(self, declared: Type, values: Values, names: frozenset[str], known: Environment, depth: int) -> None:
        """Note what type parameters in a declared type stand for when these are its values."""
        if declared.name in names:
            if values and values != EXTERNAL:
                known.setdefault(declared.name, values)
            return
        for value in values if declared.args and depth < MAX_NESTED else ():
            for arg, found in zip(declared.args, self._parts(declared, value), strict=False):
                self._compare(arg, found, names, known, depth + 1)

    def _parts(self, declared: Type, value: Value) -> tuple[Values, ...]:
        """What a value has for the arguments of a declared type."""
        if declared.name == "->" and isinstance(value, Func):
            function = self.definition(value.path, value.index)
            types = (function.result, *(param.type for param in function.params if param.kind is ParamKind.NORMAL))
            return tuple(self.typed(value.path, value.index, item) for item in types)
        if declared.name in CONTAINERS:
            value = self.underlying(value)
            return value.args if isinstance(value, Ext) and value.name == declared.name else ()
        if isinstance(value, Inst):
            named = self.definition(value.path, value.index).name == declared.name.rpartition(".")[2]
            return value.args if named else ()
        return ()

    def _typed_in(self, path: str, scope: int, declared: Type | None, known: Environment, depth: int = 0) -> Values:
        """An instance of a declared type that may name type parameters."""
        if declared is not None and declared.name in known:
            return known[declared.name]
        if declared is None or depth > MAX_NESTED or not known or not _mentions(declared, known):
            return self.typed(path, scope, declared)
        args = tuple(self._typed_in(path, scope, arg, known, depth + 1) for arg in declared.args)
        if declared.name in CONTAINERS:
            return (Ext(declared.name, args),)
        if max(map(_nesting, args)) >= MAX_NESTED:
            args = ()
        classes = self.type_classes(path, scope, declared)
        return tuple(Inst(value.path, value.index, args) if isinstance(value, Class) else value for value in classes)


def _environment(definition: Definition, args: tuple[Values, ...]) -> Environment:
    return {param.name: found for param, found in zip(definition.type_params, args, strict=False) if found}


def _mentions(declared: Type | None, names: Environment | frozenset[str]) -> bool:
    return declared is not None and (declared.name in names or any(_mentions(arg, names) for arg in declared.args))


def _nesting(values: Values) -> int:
    """How deep type arguments stand within one another."""
    inner = [_nesting(arg) for value in values if isinstance(value, (Inst, Ext)) for arg in value.args]
    return 1 + max(inner, default=0)
