"""Edit distance between identifiers: a swap of neighbours counts as one edit. Pure."""

from __future__ import annotations

MAX_EDITS = 2
_SHORT = 4  # at one edit, half of a three-letter word is still right
_LONG = 8


def allowed_edits(word: str) -> int:
    """How many typos a word of this length may hide: none in very short words, two in long ones."""
    if len(word) < _SHORT:
        return 0
    return 1 if len(word) < _LONG else MAX_EDITS


def edit_distance(left: str, right: str, limit: int = MAX_EDITS) -> int | None:
    """Optimal-string-alignment distance, or None when it is more than `limit`."""
    if abs(len(left) - len(right)) > limit:
        return None
    if left == right:
        return 0
    before: list[int] = []
    above = list(range(len(right) + 1))
    for row, a in enumerate(left, start=1):
        current = [row]
        for column, b in enumerate(right, start=1):
            cost = min(above[column] + 1, current[column - 1] + 1, above[column - 1] + (a != b))
            if row > 1 and column > 1 and a == right[column - 2] and left[row - 2] == b:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        if min(current) > limit and min(above) > limit:
            return None
        before, above = above, current
    return above[-1] if above[-1] <= limit else None
