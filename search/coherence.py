"""File coherence: signals that point at different nodes of one file agree about the file. Pure.

Reciprocal rank fusion adds votes for the same node only. A question about a subject is answered by a file, of which
full text may like one function and the vectors another; so the text signals' votes are added per file, by the rank of
the file's first node in each list, and the file's nodes share the sum: its best node whole, the next ones less.
Which file gets which of the sums is decided by more than ranks: a file that one signal puts first, far before all
others, is not behind one that both signals put tenth.
A query that spells a symbol means that symbol: its files come first for every text signal, and in
them the symbol.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterable, Mapping
from typing import Final, TypeVar

from ctxsearch.search.query import Signal
from ctxsearch.search.ranking import Ballot, Fusion, RankedList, added, exact_keys, worth_of_places
from ctxsearch.search.steps import EXACT_SCORE

TEXT_SIGNALS: Final = frozenset({Signal.BM25, Signal.SEMANTIC})
NEXT_NODE: Final = 0.75  # what the next node of a file keeps: about twenty places
NEXT_NODE_OF_REPORT: Final = 0.8  # about fifteen: an issue wants the places in a file, a question the files
_NEXT_EXACT: Final = 0.97  # about two places: other definitions of the symbol that is spelled are meant as well
_STEEPNESS: Final = 3  # of the files' order: a fourth place is worth four sevenths of a first

Key = TypeVar("Key", int, str)  # of equals the lower one comes first


def cohere(fusion: Fusion[Key], file_of: Callable[[Key], Hashable | None], next_node: float = NEXT_NODE) -> Fusion[Key]:
    """The same nodes with their text votes replaced by their file's; other votes stay the node's own.

    `file_of` is None for nodes without a file; the next node of a file keeps `next_node` of what the one before it has,
    nearly all of it after an exact symbol; of equals the lower key comes first. With fewer than two text signals there
    is nothing to agree on.
    """
    text = [ballot for ballot in fusion.ballots if ballot.ranked.signal in TEXT_SIGNALS]
    if len(text) < 2:
        return fusion
    exact = exact_keys(text, EXACT_SCORE)
    left = _shares(text, exact, file_of)
    fused = fusion.scores
    own = added(text) if len(text) < len(fusion.ballots) else fused
    scores = dict(fused)
    spelled = frozenset(exact)
    for key in _best_first(own, exact):
        file = file_of(key)
        if file is not None:
            share = left[file]
            left[file] = share * (_NEXT_EXACT if key in spelled else next_node)
            rest = fused[key] - own[key]
            scores[key] = rest + share if rest > 0.0 else share
    if max(scores.values(), default=0.0) > 1.0:
        scores = {key: min(1.0, score) for key, score in scores.items()}
    return Fusion(scores, fusion.ballots)


def _best_first(own: Mapping[Key, float], exact: list[Key]) -> list[Key]:
    """Exact symbols in their order, then by votes, then by key; sorting keeps the order of equals."""
    voted = sorted(own)
    voted.sort(key=own.__getitem__, reverse=True)
    return list(dict.fromkeys(exact + voted)) if exact else voted


def _shares(
    text: Iterable[Ballot[Key]], exact: Iterable[Key], file_of: Callable[[Key], Hashable | None]
) -> dict[Hashable | None, float]:
    """What every file has to share: the sums of votes, the largest for the file that the signals like best."""
    sums: dict[Hashable | None, float] = {}
    liking: dict[Hashable | None, float] = {}
    of_exact = dict.fromkeys(map(file_of, exact), EXACT_SCORE)
    for ballot in text:
        best = _best_of_files(of_exact, ballot.ranked, file_of)
        share, worth = ballot.share, worth_of_places(ballot.share, len(best))
        likes = [share * (steep + near * near) for steep, near in zip(_steep(len(best)), _nearness(best), strict=True)]
        if not sums:
            sums, liking = dict(zip(best, worth, strict=True)), dict(zip(best, likes, strict=True))
            continue
        for file, value, like in zip(best, worth, likes, strict=True):
            sums[file] = sums.get(file, 0.0) + value
            liking[file] = liking.get(file, 0.0) + like
    files = sorted(sums, key=sums.__getitem__, reverse=True)  # sorting keeps the order of equals
    files.sort(key=liking.__getitem__, reverse=True)
    return dict(zip(files, sorted(sums.values(), reverse=True), strict=True))


@functools.lru_cache(maxsize=128)
def _steep(count: int) -> tuple[float, ...]:
    """How much the first, the second ... of the files is liked for its place."""
    return tuple((_STEEPNESS + 1) / (_STEEPNESS + 1 + place) for place in range(count))


def _nearness(best: Mapping[Hashable | None, float]) -> list[float]:
    """How near each file's score is to the best one of its list: from 0, the last, to 1; exact symbols are at 1."""
    scores = [score for score in best.values() if score < EXACT_SCORE]
    low = min(scores, default=0.0)
    span = max(scores, default=0.0) - low
    if not span:
        return [1.0] * len(best)
    return [(score - low) / span if score < EXACT_SCORE else 1.0 for score in best.values()]


def _best_of_files(
    of_exact: Mapping[Hashable | None, float], ranked: RankedList[Key], file_of: Callable[[Key], Hashable | None]
) -> dict[Hashable | None, float]:
    """The files of a list in the order of their first node, with its score; those of exact symbols before all."""
    files = list(map(file_of, ranked.keys))
    found: dict[Hashable | None, float] = {**of_exact, **dict.fromkeys(files, 0.0)}
    found.update(zip(reversed(files), reversed(ranked.raws), strict=True))  # what comes last stays
    found.update(of_exact)
    found.pop(None, None)
    return found
