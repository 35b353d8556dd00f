"""What a language may refine: how it differs from the others, with what most of them do as the default."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Definition, Expr, Import, Param, ParamKind
from ctxsearch.graph.model import CALLABLE_KINDS, EdgeKind, NodeFlag, Rule
from ctxsearch.graph.resolve.flow import Flow
from ctxsearch.graph.resolve.values import EXTERNAL, UNKNOWN, Box, Class, Ext, Func, Inst, Package, Value, Values


class Hooks(Flow):
    """The defaults."""

    language = ""
    class_scope_visible = False  # members are in scope inside methods without a receiver (Java, C++, C#)
    guesses_after_flow = False  # try `guess` also for a receiver that is a parameter nobody is known to fill
    classes_are_called = True  # T(...) runs something of T; False where it only converts (Go)
    fixed = NodeFlag.STATIC | NodeFlag.PRIVATE  # methods that are never dispatched
    overloads = False  # methods of one name are told apart by their parameters
    reference_kind = EdgeKind.USES  # what an entry of FileFacts.references says
    reference_rule = Rule.LEXICAL
    flow_sensitive = True  # a later unconditional assignment in the same scope replaces earlier ones

    # -- names and members

    def import_modules(self, path: str, item: Import) -> Values:  # noqa: ARG002
        """The module (or package, or external) that an import names, before `item.name` is looked up in it."""
        return EXTERNAL

    def package_member(self, package: Package, name: str) -> Values:  # noqa: ARG002
        return UNKNOWN

    def box_member(self, box: Box, name: str) -> Values:
        """A member of an object literal, where the language has such; else a built-in container's method."""
        found = self.item(box, name)
        return found or EXTERNAL

    def function_member(self, func: Func, name: str) -> Values:  # noqa: ARG002
        return EXTERNAL

    def item(self, base: Value, key: str | None) -> Values:
        """base[key]; key None when it is not a constant."""
        if isinstance(base, Box):
            return self.box_items(base, key)
        return EXTERNAL if isinstance(base, Ext) else UNKNOWN

    def box_items(self, box: Box, key: str | None) -> Values:
        facts = self.table(box.path).facts
        expr = facts.exprs[box.expr]
        found: list[Value] = []
        for place, arg in enumerate(expr.args):
            entry = facts.exprs[arg]
            name, value = (entry.name, entry.base) if entry.op is ops.KEYWORD else (str(place), arg)
            if key is None or name == key or (entry.op is ops.KEYWORD and not name):
                found += self.value(box.path, value)
        return tuple(found)

    def element(self, base: Value) -> Values:
        """One item of a value when it is iterated."""
        if isinstance(base, Box):
            return self.box_items(base, None)
        return EXTERNAL if isinstance(base, Ext) else UNKNOWN

    def external_result(self, callee: Ext) -> Values:
        return (Ext(f"{callee.name}()" if callee.name else ""),)

    def global_name(self, path: str, name: str) -> Values:  # noqa: ARG002
        """A name that no scope and no import has: built-ins are external, anything else is unknown."""
        return UNKNOWN

    def is_fixed(self, path: str, scope: int, name: str) -> bool:  # noqa: ARG002
        """Whether a name means the same everywhere in a scope (for those who know; the others may say no)."""
        return False

    def function_value(self, path: str, index: int, definition: Definition) -> Values:  # noqa: ARG002
        return (Func(path, index),)

    def param_as_seen(self, typed: Values, param: Param) -> Values:
        """A variadic parameter is a container of its type."""
        return UNKNOWN if param.kind in (ParamKind.VARIADIC, ParamKind.KEYWORDS) else typed

    def may_have_members(self, outside: Ext) -> bool:  # noqa: ARG002
        """Whether an ancestor from a library may define what a class of the repository is asked for."""
        return True

    def constructor_names(self, value: Class) -> Iterable[str]:  # noqa: ARG002
        return ()

    # -- symbols

    def module_name(self, path: str) -> str:
        """A file's own qualified name."""
        stem = path.rpartition(".")[0]
        return path if not stem or stem.endswith("/") else stem  # a name may begin with its only dot

    def qualified(self, module: str, definition: Definition) -> str:
        """A definition's qualified name in the repository."""
        return f"{module}.{definition.qualified_name}" if module else definition.qualified_name

    # -- calls

    def called_instance(self, value: Inst) -> Values:  # noqa: ARG002
        """The functions that run when an instance is called like a function."""
        return UNKNOWN

    def implicit_calls(self, path: str) -> Iterator[tuple[int, tuple[str, int], Rule, int]]:  # noqa: ARG002
        """Calls without a call expression: decorators, implicit super constructors ... (scope, target, rule, line)."""
        return iter(())

    def implicit_pending(self, path: str) -> list[int]:  # noqa: ARG002
        """Expressions that run something of what a parameter holds, without being calls."""
        return []

    def implicit_targets(self, path: str, expr: Expr) -> list[tuple[str, int]]:  # noqa: ARG002
        """What such an expression runs (second phase)."""
        return []

    def implicit_flows(self, path: str) -> Iterator[tuple[tuple[str, int], int, Values]]:  # noqa: ARG002
        """What calls without a call expression pass: (target, parameter position, values)."""
        return iter(())

    def given(self, path: str, call: int, callee: Func) -> tuple[int, ...]:  # noqa: ARG002
        """The arguments that a call passes for the callee's parameters, its receiver left out."""
        return self.table(path).facts.exprs[call].args

    def reference_lines(self, site: Expr) -> Iterable[int]:
        """The lines of an entry of FileFacts.references."""
        return (site.line,)

    def called(self, values: Values) -> Values:
        """Of what a callee can be, what a call can run."""
        return values

    def takes(self, target: tuple[str, int]) -> frozenset[int]:
        """Positions of the parameters that a call's target does something with."""
        if self.definition(*target).kind not in CALLABLE_KINDS:
            return frozenset()
        return self.table(target[0]).used_params(target[1])

    # -- overrides

    def is_virtual(self, method: tuple[str, int], override: tuple[str, int]) -> bool:  # noqa: ARG002
        """Whether a call of `method` runs `override` for an instance that has it, rather than being hidden by it."""
        return True

    def bodies(self, path: str, index: int) -> list[Func]:
        """The definitions that run for a method: itself, or where it is written out."""
        return [Func(path, index)]

    # -- the choice among targets

    def guess(self, path: str, index: int, expr: Expr) -> list[tuple[str, int]]:  # noqa: ARG002
        """The last resort for a callee of which nothing is known: the only definition it could mean, or nothing."""
        return []

    def is_only(self, path: str, expr: Expr, target: tuple[str, int]) -> bool:  # noqa: ARG002
        """Whether a target that value flow found for a call is also the only one that `guess` would know."""
        return False

    def select(self, path: str, index: int, targets: list[tuple[str, int]]) -> list[tuple[str, int]]:  # noqa: ARG002
        """Which of several targets the call at `index` can mean: overloads by their arguments."""
        return targets

    def undecided(self, targets: list[tuple[str, int]]) -> bool:  # noqa: ARG002
        """Whether several targets are alternatives of which a call means one (then they are only candidates)."""
        return False

    def keeps_all(self, values: Values) -> bool:  # noqa: ARG002
        """Whether many targets are all meant (a union type) rather than a sign of not knowing."""
        return False
