"""Python's generic classes: what a type variable stands for when a method is called on an instance."""

from __future__ import annotations

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Expr, Type
from ctxsearch.graph.resolve.python_modules import PythonModules
from ctxsearch.graph.resolve.values import Class, Coll, Ext, Func, Inst, Values

MAX_STEPS_UP = 6  # classes between an instance's own and the one that declares the type variable
_DECLARING = frozenset({"Generic", "Protocol"})

Environment = dict[str, Values]  # type variable -> the instances it stands for
_NONE_KNOWN: Environment = {}


class PythonGenerics(PythonModules):
    """Type variables of classes; those of functions stay unknown."""

    def generic_result(self, callee: Func, receiver: Inst) -> Values:
        """A method's declared result for a receiver, where it names type variables of the class; else ()."""
        table = self.table(callee.path)
        declared = self.definition(callee.path, callee.index).result
        owner = table.class_of[callee.index]
        if declared is None or owner < 0 or not self._variables(callee.path, owner):
            return ()
        known = self._environment(receiver, (callee.path, owner))
        return self._typed_in(callee.path, callee.index, declared, known) if known else ()

    def subscripted(self, path: str, classes: Values, expr: Expr) -> Values:
        """Class[argument] as a value: the class with its type arguments."""
        exprs = self.table(path).facts.exprs
        first = exprs[expr.args[0]] if expr.args else None
        written = first.args if first is not None and first.op is ops.SEQUENCE else expr.args
        args = tuple(self._each(self.value(path, arg), self.instance_of) for arg in written)
        known = args if any(args) else ()
        return tuple(Class(value.path, value.index, known) for value in classes if isinstance(value, Class))

    def _typed_in(self, path: str, scope: int, declared: Type, known: Environment) -> Values:
        """An instance of a declared type that may name type variables."""
        if declared.name in known:
            return known[declared.name]
        if declared.name == "|":
            return tuple(value for arg in declared.args for value in self._typed_in(path, scope, arg, known))
        found = self.typed(path, scope, declared)
        if not declared.args or not _mentions(declared, known):
            return found
        args = tuple(self._typed_in(path, scope, arg, known) for arg in declared.args)
        classes = self.type_classes(path, scope, declared)
        if classes and isinstance(classes[0], Class):
            return (Inst(classes[0].path, classes[0].index, args),)
        return (Coll(declared.name.rpartition(".")[2].lower(), args),)

    def _environment(self, receiver: Inst, owner: tuple[str, int]) -> Environment:
        found = self._arguments(Class(receiver.path, receiver.index), receiver.args, owner, 0)
        names = self._variables(*owner)
        return {name: values for name, values in zip(names, found, strict=False) if values}

    def _arguments(self, at: Class, args: tuple[Values, ...], owner: tuple[str, int], depth: int) -> tuple[Values, ...]:
        """The type arguments that a class gives one of its ancestors."""
        if (at.path, at.index) == owner or depth > MAX_STEPS_UP:
            return args
        definition = self.definition(at.path, at.index)
        own = dict(zip(self._variables(at.path, at.index), args, strict=False)) if args else _NONE_KNOWN
        for base in definition.bases:
            for value in self.type_classes(at.path, definition.parent, base):
                if isinstance(value, Class):
                    given = tuple(self._typed_in(at.path, definition.parent, arg, own) for arg in base.args)
                    found = self._arguments(value, given, owner, depth + 1)
                    if found:
                        return found
        return ()

    def _variables(self, path: str, index: int) -> tuple[str, ...]:
        """The names of a class's type variables, in the order in which arguments fill them."""
        definition = self.definition(path, index)
        if definition.type_params:
            return tuple(param.name for param in definition.type_params)
        for base in definition.bases:
            if base.args and base.name.rpartition(".")[2] in _DECLARING:
                return tuple(arg.name for arg in base.args)
        named = [arg.name for base in definition.bases for arg in base.args]
        return tuple(name for name in dict.fromkeys(named) if self._is_variable(path, definition.parent, name))

    def _is_variable(self, path: str, scope: int, name: str) -> bool:
        found = self.type_classes(path, scope, Type(name)) if name.isidentifier() else ()
        return len(found) == 1 and isinstance(found[0], Ext) and "TypeVar" in found[0].name


def _mentions(declared: Type, known: Environment) -> bool:
    return declared.name in known or any(_mentions(arg, known) for arg in declared.args)
