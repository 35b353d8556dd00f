"""Value flow through parameters: what callers anywhere pass, and how values are noted between files."""

from __future__ import annotations

from collections.abc import Iterator

from ctxsearch.graph.model import NodeKind
from ctxsearch.graph.resolve.memo import MAX_FLOW, Memo
from ctxsearch.graph.resolve.tables import positional_params
from ctxsearch.graph.resolve.values import Arg, Class, Func, Inst, Value, Values

MAX_HOLDERS = 20  # parameters that one function is followed through


class Flow(Memo):
    """Parameters expanded by what reaches them (second phase)."""

    def expand(self, arg: Arg) -> Values:
        """What callers anywhere pass for a parameter (second phase only)."""
        table = self.table(arg.path)
        stable = table.stable_name(arg.index)

        def compute() -> Values:
            found: dict[Value, None] = {}
            for encoded in self._reaching(arg, stable):
                value = self.decode_value(encoded)
                if isinstance(value, Arg):
                    found.update(dict.fromkeys(self.expand(value)))
                elif value is not None:
                    found[value] = None
                if len(found) > MAX_FLOW:
                    break  # unknown whatever else is passed: what every file calls is handed things by every file
            return tuple(found)

        return self._guarded(arg.path, ("a", arg.path, stable, arg.position), compute)

    def _reaching(self, arg: Arg, stable: str) -> Iterator[str]:
        yield from self.world.passed(arg.path, stable, arg.position)
        yield from self._passed_via(arg)

    def _passed_via(self, arg: Arg) -> list[str]:
        """What reaches a parameter when its function is itself called as what another parameter holds."""
        table = self.table(arg.path)
        definition = self.definition(arg.path, arg.index)
        holders = self._holders(("held", arg.path, table.stable_name(arg.index)))
        if definition.kind is NodeKind.CONSTRUCTOR and definition.parent >= 0:
            holders += self._holders(("held", arg.path, table.stable_name(definition.parent)))
        places = positional_params(definition)
        slots = [f"={definition.params[arg.position].name}"]
        if arg.position in places:
            slots.append(str(places.index(arg.position)))
        return [
            encoded
            for holder in holders
            for slot in slots
            for encoded in self.world.flowed(
                "via", holder.path, self.table(holder.path).stable_name(holder.index), str(holder.position), slot
            )
        ]

    def _holders(self, key: tuple[str, ...]) -> list[Arg]:
        """The parameters that may hold a function: those it is passed to, and those that these are passed on to."""
        found: list[Arg] = []
        pending, seen = [key], {key}
        while pending and len(found) < MAX_HOLDERS:
            for encoded in self.world.flowed(*pending.pop()):
                value = self.decode_value(encoded)
                if isinstance(value, Arg) and value not in found:
                    found.append(value)
                    onward = ("held", value.path, self.table(value.path).stable_name(value.index), str(value.position))
                    if onward not in seen:
                        seen.add(onward)
                        pending.append(onward)
        return found

    def encode_value(self, value: Value) -> str | None:
        """A value in a form that survives edits of other definitions; None for what does not travel."""
        if isinstance(value, (Func, Class, Inst, Arg)):
            table = self.table(value.path)
            position = f"\0{value.position}" if isinstance(value, Arg) else ""
            names = f"{table.stable_name(value.index)}\0{table.top_name(value.index)}"
            return f"{type(value).__name__}\0{value.path}\0{names}{position}"
        return None

    def decode_value(self, encoded: str) -> Value | None:
        tag, path, stable, top, *rest = encoded.split("\0")
        if not self.world.exists(path):
            return None
        self.world.record("name", path, top)
        index = self.world.with_stable_name(path, stable)
        if index < 0:
            return None
        if tag == "Arg":
            return Arg(path, index, int(rest[0]))
        if tag == "Func":
            return Func(path, index)
        return Class(path, index) if tag == "Class" else Inst(path, index)
