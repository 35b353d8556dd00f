"""What calling, awaiting and entering something gives in Python."""

from __future__ import annotations

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Definition, Expr, ParamKind
from ctxsearch.graph.model import NodeFlag
from ctxsearch.graph.resolve.python_additions import constant_key
from ctxsearch.graph.resolve.python_computed import PythonComputedNames
from ctxsearch.graph.resolve.python_containers import NONE
from ctxsearch.graph.resolve.python_library import CONTAINERS, ENTERING, PASS_THROUGH, SELF_ENTERING
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
    Sym,
    Value,
    Values,
)


class PythonCalls(PythonComputedNames):
    """Results by declared overloads, for the receiver, and of library functions that hand on what they are given."""

    def eval_choice(self, path: str, index: int, expr: Expr) -> Values:
        found = super().eval_choice(path, index, expr)
        return tuple(value for value in found if value != NONE) or found

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

    def called(self, values: Values) -> Values:
        """None is not called: something else is there by then."""
        return tuple(value for value in values if value != NONE) if NONE in values else values

    def eval_enter(self, path: str, index: int, expr: Expr) -> Values:  # noqa: ARG002
        return self._each(self.value(path, expr.base), self._entered)

    def _entered(self, value: Value) -> Values:
        """What `with value as x` binds."""
        if isinstance(value, Gen):
            return self._yielded(value)
        if isinstance(value, Inst):
            return self._entered_instance(value)
        if isinstance(value, Coll):
            return value.args[0] if value.args else EXTERNAL  # `Generator[T, None, None]`, `ContextManager[T, bool]`
        if isinstance(value, (Arg, Sym)):
            return SYMBOLIC
        if isinstance(value, Ext) and value.name.removesuffix("()") in SELF_ENTERING:
            return (value,)
        return EXTERNAL if isinstance(value, OUTSIDE) else UNKNOWN

    def _entered_instance(self, value: Inst) -> Values:
        """What `__enter__` says; a library's class as parent gives the instance where it is known to do so.

        Without either the statement fails, or another library decides: nothing is known.
        """
        for name in ("__enter__", "__aenter__"):
            methods = self.class_member(value.path, value.index, name)
            functions = [item for item in methods if isinstance(item, Func)]
            if functions:
                return tuple(found for item in functions for found in self.result_for(item, value))
        outside = [
            item
            for item in self.ancestry(value.path, value.index)
            if isinstance(item, Ext) and self.may_have_members(item)
        ]
        return (value,) if outside and outside[0].name in SELF_ENTERING else UNKNOWN

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
            return UNKNOWN if callee == NONE else self._library_result(callee, path, index)
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
        if last in CONTAINERS and (not args or last == "defaultdict"):
            return (Box(path, index),)
        if last in ENTERING and args:
            return self._each(self.value(path, args[0]), self._entered)
        if last not in PASS_THROUGH or not args or "()" in callee.name:
            return self.external_result(callee)
        kind = PASS_THROUGH[last]
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
            return self.attribute(path, args)
        given = self.value(path, args[0])
        if kind == "same":
            return given or UNKNOWN
        if kind == "context":
            return (Coll("contextmanager", (given,)),) if given else self.external_result(callee)
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
            key = constant_key(first) if first is not None and first.op is ops.LITERAL else None
            default = self.value(path, expr.args[1]) if len(expr.args) > 1 else UNKNOWN
            found = (*self.item(owner, key), *default)
            return tuple(value for value in found if value != NONE)
        if name == "values":
            items = self.item(owner, None)
            return (Coll("list", (items,)),)
        if name == "items":
            items = self.item(owner, None)
            return (Coll("list", ((Coll("tuple", (EXTERNAL, items)),),)),)
        if name == "copy":
            return (owner,)
        if name in ("__next__", "send", "__anext__"):
            return self.element(owner)
        return EXTERNAL


def _is_receiver(exprs: tuple[Expr, ...], index: int) -> bool:
    """`return self`, or `return cls(...)`."""
    expr = exprs[index]
    if expr.op is ops.CALL and expr.base >= 0:
        callee = exprs[expr.base]
        if callee.op is ops.RECEIVER_CLASS:
            return True
        return callee.op is ops.MEMBER and callee.name == "__class__" and exprs[callee.base].op is ops.THIS
    return expr.op is ops.THIS


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
