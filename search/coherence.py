"""File coherence: signals that point at different nodes of one file agree about the file. Pure.

Reciprocal rank fusion adds votes for the same node only. A question about a subject is answered by a file, of which
full text may like one function and the vectors another; so the text signals' votes are added per file, by the rank of
the file's first node in each list, and the file's nodes share the sum: its best node whole, the next ones less.
A query that spells a symbol means that symbol: its files come first for every text signal, and in
them the symbol.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Final, TypeVar

from ctxsearch.search.query import Signal
from ctxsearch.search.ranking import Fusion, RankedList, added, exact_keys, worth_of_places
from ctxsearch.search.steps import EXACT_SCORE

TEXT_SIGNALS: Final = frozenset({Signal.BM25, Signal.SEMANTIC})
NEXT_NODE: Final = 0.8  # what the next node of a file keeps: about fifteen places

Key = TypeVar("Key", bound=Hashable)


def cohere(
    fusion: Fusion[Key], file_of: Callable[[Key], Hashable | None], id_of: Callable[[Key], str] = str
) -> Fusion[Key]:
    """The same nodes with their text votes replaced by their file's; other votes stay the node's own.

    `file_of` is None for nodes without a file; `id_of` decides between equals. With fewer than two text signals there
    is nothing to agree on.
    """
    text = [ballot for ballot in fusion.ballots if ballot.ranked.signal in TEXT_SIGNALS]
    if len(text) < 2:
        return fusion
    exact = {key: place for place, key in enumerate(exact_keys(text, EXACT_SCORE))}
    by_file: dict[Hashable | None, float] = {}
    for ballot in text:
        files = _files(exact, ballot.ranked, file_of)
        for file, worth in zip(files, worth_of_places(ballot.share, len(files)), strict=True):
            by_file[file] = by_file.get(file, 0.0) + worth
    fused = fusion.scores
    own = added(text) if len(text) < len(fusion.ballots) else fused
    scores = dict(fused)
    for file, keys in _members(own, file_of).items():
        left = by_file[file]
        for key in keys if len(keys) == 1 else _best_first(keys, own, exact, id_of):
            rest = fused[key] - own[key]
            score = rest + left if rest > 0.0 else left
            scores[key] = min(1.0, score)
            left *= NEXT_NODE
    return Fusion(scores, fusion.ballots)


def _members(keys: Iterable[Key], file_of: Callable[[Key], Hashable | None]) -> dict[Hashable | None, list[Key]]:
    """The nodes of every file; those without one are left out."""
    found: dict[Hashable | None, list[Key]] = {}
    for key in keys:
        found.setdefault(file_of(key), []).append(key)
    found.pop(None, None)
    return found


def _best_first(
    keys: list[Key], own: Mapping[Key, float], exact: Mapping[Key, int], id_of: Callable[[Key], str]
) -> list[Key]:
    """Exact symbols in their order, then by votes, then by id; sorting keeps the order of equals."""
    keys.sort(key=id_of)
    keys.sort(key=own.__getitem__, reverse=True)
    if exact:
        keys.sort(key=lambda key: exact.get(key, len(exact)))
    return keys


def _files(exact: Iterable[Key], ranked: RankedList[Key], file_of: Callable[[Key], Hashable | None]) -> list[Hashable]:
    """The files of a list in the order of their first node, those of exact symbols before all."""
    found = dict.fromkeys(map(file_of, exact))
    found |= dict.fromkeys(map(file_of, ranked.keys))
    found.pop(None, None)
    return list(found)
