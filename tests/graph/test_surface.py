"""Surfaces stay small and comparable, however a function's variables are assigned from one another."""

from __future__ import annotations

from typing import Any

from ctxsearch.graph.resolve.surface import surface
from ctxsearch.indexer.parse import parse

ROUNDS = 20  # every one doubles the paths through the values
SOURCE = "\n".join(
    ["def spin(a, b):", *("    a, b = step(a, b), step(b, a)" for _ in range(ROUNDS)), "    return a or b", ""]
)


def size(value: Any, limit: int) -> int:
    """How many values a comparison would look at, up to a limit."""
    if not isinstance(value, tuple | list) or limit <= 0:
        return 1
    total = 1
    for item in value:
        total += size(item, limit - total)
        if total > limit:
            break
    return total


def test_values_made_of_one_another_are_compared_in_few_steps() -> None:
    parts = surface(parse("a.py", SOURCE.encode()))
    assert size(list(parts.values()), 100_000) < 10_000


def test_a_change_far_down_the_chain_is_seen() -> None:
    changed = SOURCE.replace("step(a, b)", "leap(a, b)", 1)
    before, after = surface(parse("a.py", SOURCE.encode())), surface(parse("a.py", changed.encode()))
    assert before["spin"] != after["spin"]
    assert before == surface(parse("a.py", SOURCE.encode()))
