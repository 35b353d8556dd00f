"""Which of several functions of one name a call means, where types are declared.

By number of arguments, then by their types, then the most specific one. Where the arguments do not decide, all that
remain are given: they are candidates, and none of them is picked at random.
"""

from __future__ import annotations

from dataclasses import dataclass

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Definition, Expr, Param, ParamKind
from ctxsearch.graph.model import NodeFlag
from ctxsearch.graph.resolve.overloads import NO_MATCH, RELATED, WEAK, fit, is_open, is_type_name, simple, takes
from ctxsearch.graph.resolve.tables import CLASS_LIKE
from ctxsearch.graph.resolve.typed_types import TypeRules, has_var
from ctxsearch.graph.resolve.values import UNKNOWN, Ext, Inst, Value, Values, Var

Place = tuple[str, int]  # path, index of a definition
MAX_TIED = 4  # one more than are worth naming: a call that may mean so many is unresolved
NOTHING: Values = (Ext("void"),)  # the result of a function that gives none


@dataclass(frozen=True, slots=True)
class Signature:
    """A function type: what it takes and gives."""

    params: tuple[Values, ...]
    result: Values
    receiver: Values = UNKNOWN  # `this` inside a function with receiver


class OverloadRules(TypeRules):
    """Candidates in, those that the call may mean out."""

    prefers_nearer = False  # what a class declares itself hides what its ancestors declare, if it fits

    def choose_overload(self, candidates: list[Place], path: str, call: Expr, *, strict: bool) -> list[Place]:
        """The functions that fit a call best: one, or several where nothing tells them apart.

        None at all when nothing fits and that is telling (`strict`). Candidates come nearest class first.
        """
        fitting = [item for item in candidates if self.accepts(self.definition(*item), path, call)]
        if call.op is ops.CALL and call.type is not None and call.type.args:
            count = len(call.type.args)  # type arguments written at the call
            fitting = [item for item in fitting if len(self.definition(*item).type_params) == count] or fitting
        if not fitting or (len(fitting) == 1 and not strict):
            return fitting
        scores = [self.fitness(item, path, call) for item in fitting]
        best = max(scores)
        if best == NO_MATCH and strict:
            return []
        tied = [item for item, score in zip(fitting, scores, strict=True) if score == best]
        return self._decided(tied, path, call)[:MAX_TIED]

    def accepts(self, definition: Definition, path: str, call: Expr) -> bool:  # noqa: ARG002
        return takes(definition, len(call.args))

    def undecided(self, targets: list[Place]) -> bool:
        """Overloads of one another, rather than what several receivers make of one call."""
        free, owners = 0, list[Inst]()
        for path, index in targets:
            definition = self.definition(path, index)
            if definition.kind in CLASS_LIKE:  # its primary constructor
                owners.append(self.own_instance(path, index))
            elif definition.parent < 0 or definition.flags & NodeFlag.EXTENSION:
                free += 1
            else:
                owners.append(self.own_instance(path, definition.parent))
        if free > 1:
            return True
        return any(
            (above.path, above.index) == (owner.path, owner.index)
            for place, owner in enumerate(owners)
            for other in owners[:place] + owners[place + 1 :]
            for above in self.linear(other.path, other.index)
            if isinstance(above, Inst)
        )

    # -- ties

    def _decided(self, tied: list[Place], path: str, call: Expr) -> list[Place]:
        """Of functions that fit a call equally well those that the language would still consider."""
        if len(tied) > 1:
            tied = self._not_overridden(tied)
        if len(tied) > 1:
            least = min(self._left_out(item, call) for item in tied)
            tied = [item for item in tied if self._left_out(item, call) == least]
        for item in tied if len(tied) > 1 else ():
            if all(other == item or self._more_specific(item, other, path, call) for other in tied):
                return [item]
        return tied

    def _left_out(self, item: Place, call: Expr) -> int:
        """How many parameters a call leaves to their default values."""
        return max(0, len(self.definition(*item).params) - len(call.args))

    def _not_overridden(self, tied: list[Place]) -> list[Place]:
        kept: list[Place] = []
        for item in tied:
            if not any(self._overridden_by(item, nearer) for nearer in kept):
                kept.append(item)
        return kept

    def _overridden_by(self, item: Place, nearer: Place) -> bool:
        """Whether a function nearer to the receiver's class stands for this one: its parameters may be the same."""
        if self.prefers_nearer and self._owner(item) != self._owner(nearer):
            return True
        theirs, ours = self._param_types(item), self._param_types(nearer)
        if len(theirs) != len(ours):
            return False
        return all(self._same(mine, other) for mine, other in zip(ours, theirs, strict=True))

    def _owner(self, item: Place) -> object:
        parent = self.definition(*item).parent
        return self.own_instance(item[0], parent) if parent >= 0 else item[0]

    def _param_types(self, item: Place) -> list[Values]:
        definition = self.definition(*item)
        return [self.typed(*item, param.type) for param in definition.params if param.kind is not ParamKind.RECEIVER]

    def _same(self, ours: Values, theirs: Values) -> bool:
        """An ancestor's type parameter may be what the nearer class has put in its place."""
        if ours == theirs or not ours or not theirs or any(isinstance(value, Var) for value in theirs):
            return True
        return has_var(theirs) and [_bare(value) for value in ours] == [_bare(value) for value in theirs]

    def _more_specific(self, item: Place, other: Place, path: str, call: Expr) -> bool:
        """Whether whatever one function takes for these arguments, the other takes too, and more."""
        exprs = self.table(path).facts.exprs
        strictly = False
        for position, arg in enumerate(call.args):
            first = self.param_for(self.definition(*item), exprs[arg], position)
            second = self.param_for(self.definition(*other), exprs[arg], position)
            if first is None or second is None:
                return False
            ours, theirs = self.typed(*item, first.type), self.typed(*other, second.type)
            if ours == theirs:
                continue
            if not self._is_known(path, arg) or not self._narrower(ours, theirs):
                return False
            strictly = True
        return strictly

    def _is_known(self, path: str, arg: int) -> bool:
        """Whether anything is known of an argument's type: else it cannot choose among types."""
        expr = self.table(path).facts.exprs[arg]
        if expr.op is ops.KEYWORD and expr.base >= 0:
            return self._is_known(path, expr.base)
        if expr.op in (ops.FUNCTION, ops.CALLABLE):
            return True
        given = self.value(path, arg)
        return bool(given) and not any(isinstance(value, Ext) and not is_type_name(value.name) for value in given)

    def _narrower(self, ours: Values, theirs: Values) -> bool:
        if len(ours) != 1 or len(theirs) != 1:
            return False
        mine, other = ours[0], theirs[0]
        if is_open(mine):
            return False
        if is_open(other):
            return True
        if isinstance(other, Var):
            return not isinstance(mine, Var)
        return isinstance(mine, Inst) and fit(mine, other, self._ancestors) == RELATED

    # -- how well arguments fit

    def fitness(self, candidate: tuple[str, int], path: str, call: Expr) -> int:
        """How well a call's arguments fit a function's parameters; NO_MATCH when one cannot."""
        definition = self.definition(*candidate)
        exprs = self.table(path).facts.exprs
        total = 0 if any(param.kind is ParamKind.VARIADIC for param in definition.params) else 1
        for position, arg in enumerate(call.args):
            param = self.param_for(definition, exprs[arg], position)
            if param is None or param.type is None:
                continue
            score = self._argument_fit(candidate, param, path, arg)
            if score == NO_MATCH:
                return NO_MATCH
            total += score
        return total

    def param_for(self, definition: Definition, arg: Expr, position: int) -> Param | None:
        params = [param for param in definition.params if param.kind is not ParamKind.RECEIVER]
        if arg.op is ops.KEYWORD:
            return next((param for param in params if param.name == arg.name), None)
        if position < len(params):
            return params[position]
        return params[-1] if params and params[-1].kind is ParamKind.VARIADIC else None

    def _argument_fit(self, candidate: tuple[str, int], param: Param, path: str, arg: int) -> int:
        facts = self.table(path).facts
        expr = facts.exprs[arg]
        while expr.op is ops.KEYWORD and expr.base >= 0:
            arg, expr = expr.base, facts.exprs[expr.base]
        wanted = self.typed(*candidate, param.type)
        if expr.op is ops.FUNCTION:
            return self._function_fit(wanted, path, facts.definitions[expr.base])
        if expr.op is ops.CALLABLE or not wanted:
            return WEAK
        given = self.value(path, arg)
        if not given:
            return WEAK
        if expr.op is ops.LITERAL and expr.name == "int" and self.takes_whole_numbers(wanted):
            return WEAK + 1
        if all(map(self.is_function_type, wanted)) and any(self._is_no_function(value) for value in given):
            return NO_MATCH
        score = max(fit(value, target, self._ancestors) for value in given[:3] for target in self.widened(wanted)[:3])
        if score == NO_MATCH and param.kind is ParamKind.VARIADIC:
            element = self._each(wanted, self.element)
            return max(
                (fit(value, target, self._ancestors) for value in given[:3] for target in self.widened(element)[:3]),
                default=WEAK,
            )
        return score

    def is_function_type(self, value: Value) -> bool:  # noqa: ARG002
        """Whether only functions are of a type: where no class can implement it."""
        return False

    def _is_no_function(self, value: Value) -> bool:
        if isinstance(value, Ext):
            return is_type_name(value.name) and self.signature_of(value) is None
        return isinstance(value, Inst)

    def takes_whole_numbers(self, wanted: Values) -> bool:  # noqa: ARG002
        """Whether a parameter of another number type takes an integer as it is written."""
        return False

    def widened(self, wanted: Values) -> Values:
        """A bounded type parameter takes what its bound takes."""
        if not any(isinstance(value, Var) for value in wanted):
            return wanted
        found: list[Value] = []
        for value in wanted:
            bounds = self.bounds(value) if isinstance(value, Var) else UNKNOWN
            own = [bound for bound in bounds if isinstance(bound, Inst)]
            found += own or [value]
        return tuple(found)

    def _ancestors(self, value: Inst) -> Values:
        return self.linear(value.path, value.index)

    def _function_fit(self, wanted: Values, path: str, literal: Definition) -> int:
        for value in wanted:
            signature = self.signature_of(value)
            if signature is not None:
                if not self.literal_takes(literal, len(signature.params)):
                    return NO_MATCH
                if self._takes_others(literal, path, signature):
                    return NO_MATCH
                return self._result_fit(signature, path, literal)
            if isinstance(value, Ext) and (simple(value.name) in self.primitives or value.name in ("String", "[]")):
                return NO_MATCH
            if isinstance(value, Inst):
                return NO_MATCH
        return WEAK

    def _takes_others(self, literal: Definition, path: str, signature: Signature) -> bool:
        """Whether a literal declares its parameters otherwise than a function type would give them."""
        index = literal.parent
        return any(
            given != wanted and bool(wanted) and not has_var(wanted)
            for param, wanted in zip(literal.params, signature.params, strict=False)
            if param.type is not None and (given := self.typed(path, index, param.type))
        )

    def _result_fit(self, signature: Signature, path: str, literal: Definition) -> int:
        """A literal with a value is rather meant for a function type that gives one, and the other way round."""
        nothing = signature.result == NOTHING
        if literal.flags & NodeFlag.ASYNC:
            return WEAK + 1 + (not nothing)
        exprs = self.table(path).facts.exprs
        values = [self.value(path, index) for index in literal.returns]
        if any(exprs[index].op is ops.CALL and not item for index, item in zip(literal.returns, values, strict=True)):
            return WEAK + 1  # a call may give nothing
        known = [value for item in values for value in item if value in NOTHING or _is_typed(value)]
        if len(known) < len(values):
            return WEAK + 1
        empty = not values or all(value in NOTHING for value in known)
        if empty != nothing or nothing:
            return WEAK + 1 + (empty == nothing)
        fits = any(fit(value, wanted, self._ancestors) != NO_MATCH for value in known for wanted in signature.result)
        return WEAK + 2 if fits or not signature.result else NO_MATCH

    def signature_of(self, value: Value) -> Signature | None:
        """What calling an instance of a functional type takes and gives; None when it is not one."""
        raise NotImplementedError

    def literal_takes(self, literal: Definition, count: int) -> bool:
        return len(literal.params) == count


def _bare(value: Value) -> object:
    """A type without its arguments."""
    return value.name if isinstance(value, Ext) else (value.path, value.index) if isinstance(value, Inst) else value


def _is_typed(value: Value) -> bool:
    return not isinstance(value, Ext) or is_type_name(value.name)
