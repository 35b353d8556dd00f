"""The evaluator of JavaScript, TypeScript and TSX, put together from its parts (`ecma_*`).

Values and types have separate name spaces. A definition that is the value of an expression is known by the variable
that holds it. Classes are classes or constructor functions; members come from the class body, fields, prototype
writes and mixins, then from the ancestors. What the language or the host provides is external.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from ctxsearch.graph import ops
from ctxsearch.graph.facts import Expr
from ctxsearch.graph.model import Rule
from ctxsearch.graph.resolve.ecma_library import HOST_METHODS, ITERATOR
from ctxsearch.graph.resolve.ecma_symbols import Symbols
from ctxsearch.graph.resolve.values import (
    Box,
    Class,
    Func,
    Inst,
    Value,
)

MIN_PARTICULAR = 8  # letters of a method name that can be unique on purpose


class JavaScriptEvaluator(Symbols):
    """Evaluates JavaScript, TypeScript and TSX."""

    language = "javascript"

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
                        if isinstance(item, (Func, Class)):
                            yield call.scope, (item.path, item.index), Rule.FLOW, call.line
        for expr in facts.exprs:
            if expr.op is ops.ELEMENT and expr.base >= 0:
                for value in self.ask(path, expr.base):
                    if isinstance(value, Inst):
                        for method in self.member(value, ITERATOR):
                            if isinstance(method, Func):
                                yield expr.scope, (method.path, method.index), Rule.TYPED, expr.line

    # -- the last resort

    def guess(self, path: str, index: int, expr: Expr) -> list[tuple[str, int]]:  # noqa: ARG002
        """The only class that has a method of that name, where the name is no ordinary word and no host's.

        In TypeScript a receiver of unknown type is one that a library made: nothing is guessed.
        """
        if self.world.language(path) != "javascript":
            return []
        callee = self.table(path).facts.exprs[expr.base] if expr.op is ops.CALL and expr.base >= 0 else None
        if callee is None or callee.op is not ops.MEMBER or not _is_particular(callee.name):
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
            values = self.value(box.path, entry.base if entry.op is ops.KEYWORD else arg)
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


def _is_particular(name: str) -> bool:
    """A compound name that no browser or Node.js interface is known to have."""
    return len(name) >= MIN_PARTICULAR and any(map(str.isupper, name[1:])) and name not in HOST_METHODS


EVALUATOR = JavaScriptEvaluator
