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
from ctxsearch.search.ranking import RRF_CONSTANT, Fused, RankedList
from ctxsearch.search.steps import EXACT_SCORE

TEXT_SIGNALS: Final = frozenset({Signal.BM25, Signal.SEMANTIC})
NEXT_NODE: Final = 0.8  # what the next node of a file keeps: about fifteen places

Key = TypeVar("Key", bound=Hashable)


def cohere(
    fused: Mapping[Key, Fused[Key]],
    lists: Iterable[RankedList[Key]],
    weights: Mapping[Signal, float],
    file_of: Callable[[Key], Hashable | None],
) -> dict[Key, Fused[Key]]:
    """The same nodes with their text votes replaced by their file's; other votes stay the node's own.

    `file_of` is None for nodes without a file. With fewer than two text signals there is nothing to agree on.
    """
    ran = [one for one in lists if weights.get(one.signal, 0.0) > 0]
    text = [one for one in ran if one.signal in TEXT_SIGNALS]
    if len(text) < 2:
        return dict(fused)
    total = sum(weights[one.signal] for one in ran)
    exact = [hit for one in text if one.signal is Signal.BM25 for hit in one.hits if hit[1] >= EXACT_SCORE]
    by_file: dict[Hashable, float] = {}
    for one in text:
        share = weights[one.signal] / total * (RRF_CONSTANT + 1)
        for rank, file in enumerate(_files([*exact, *one.hits], file_of), start=1):
            by_file[file] = by_file.get(file, 0.0) + share / (RRF_CONSTANT + rank)
    places = {key: place for place, (key, _) in enumerate(exact)}
    return {one.key: one for one in _shared(fused, by_file, file_of, places)}


def _files(hits: Iterable[tuple[Key, float]], file_of: Callable[[Key], Hashable | None]) -> list[Hashable]:
    """The files of a list in the order of their first node."""
    found: dict[Hashable, None] = {}
    for key, _ in hits:
        file = file_of(key)
        if file is not None:
            found.setdefault(file)
    return list(found)


def _shared(
    fused: Mapping[Key, Fused[Key]],
    by_file: Mapping[Hashable, float],
    file_of: Callable[[Key], Hashable | None],
    exact: Mapping[Key, int],
) -> Iterable[Fused[Key]]:
    members: dict[Hashable, list[tuple[float, Fused[Key]]]] = {}
    for one in fused.values():
        votes = one.votes
        words, meaning = votes.get(Signal.BM25), votes.get(Signal.SEMANTIC)
        own = (words.contribution if words else 0.0) + (meaning.contribution if meaning else 0.0)
        file = file_of(one.key)
        if file is None or not own:
            yield one
        else:
            members.setdefault(file, []).append((own, one))
    for file, nodes in members.items():
        keeps = 1.0
        if len(nodes) > 1:
            nodes.sort(key=lambda item: (exact.get(item[1].key, len(exact)), -item[0], str(item[1].key)))
        for own, one in nodes:
            shared = min(1.0, max(0.0, one.fused - own) + by_file[file] * keeps)
            yield Fused(one.key, shared, one.votes)
            keeps *= NEXT_NODE
