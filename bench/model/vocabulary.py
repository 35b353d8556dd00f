"""The pieces of the model: frequent words, and what continues the words that are not frequent enough. Pure."""

from __future__ import annotations

import string
from collections import Counter
from collections.abc import Iterable, Mapping

from ctxsearch.search.identifiers import words
from ctxsearch.search.pieces import CONTINUATION

MAX_PIECE = 20
MIN_PACKAGES = 3  # a word of fewer packages is a name that no question contains
MIN_STEM = 3
_CHARACTERS = string.ascii_lowercase + string.digits


def count_words(texts: Iterable[tuple[str, str]]) -> Counter[str]:
    """In how many texts each word occurs, of words that several packages use; takes (package, text)."""
    counts: Counter[str] = Counter()
    users: dict[str, set[str]] = {}
    for package, text in texts:
        for word in set(words(text)):
            counts[word] += 1
            known = users.setdefault(word, set())
            if len(known) < MIN_PACKAGES:
                known.add(package)
    return Counter({word: count for word, count in counts.items() if len(users[word]) >= MIN_PACKAGES})


def make_vocabulary(counts: Mapping[str, int], size: int, continuations: int) -> list[str]:
    """At most `size` pieces, most frequent words first; every ASCII word can be spelt with them."""
    ranked = sorted(counts, key=lambda word: (-counts[word], word))
    frequent = [word for word in ranked if len(word) <= MAX_PIECE]
    kept = frequent[: size - continuations - len(_CHARACTERS)]
    kept += sorted(set(_CHARACTERS) - set(kept))
    return [*kept, *(CONTINUATION + piece for piece in _continuations(counts, set(kept), continuations))]


def _continuations(counts: Mapping[str, int], known: set[str], wanted: int) -> list[str]:
    """Single characters, and what most often remains of a word after its longest known beginning."""
    remains: Counter[str] = Counter()
    for word, count in counts.items():
        if word not in known:
            stem = next((word[:end] for end in range(len(word) - 1, MIN_STEM - 1, -1) if word[:end] in known), "")
            if stem and len(word) - len(stem) <= MAX_PIECE:
                remains[word[len(stem) :]] += count
    ranked = sorted(remains, key=lambda piece: (-remains[piece], piece))
    chosen = dict.fromkeys([*_CHARACTERS, *ranked])
    return list(chosen)[:wanted]
