"""Fusion of ranked lists, freshness penalties and the final order. Pure: no index, no clock, no I/O."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import msgspec

from ctxsearch.search.query import Signal

RRF_CONSTANT: Final = 60  # ranks near the top count, the exact position far down does not

Key = TypeVar("Key", bound=Hashable)


class Vote(msgspec.Struct, frozen=True, gc=False):
    """What one signal said about one node."""

    rank: int  # 1-based
    raw: float  # the signal's own score; comparable inside that signal only
    contribution: float  # its share of the score before the penalty, 0..1

    @property
    def rank_score(self) -> float:
        """1 for the first, falling with the rank."""
        return rank_score(self.rank)


class Fused(msgspec.Struct, Generic[Key], frozen=True, gc=False):
    """A node with the votes that it got."""

    key: Key
    fused: float  # 0..1, before the penalty
    votes: Mapping[Signal, Vote]


@dataclass(frozen=True, slots=True)
class RankedList(Generic[Key]):
    """One signal's answer, best first. An id twice counts once, at its best rank."""

    signal: Signal
    hits: Sequence[tuple[Key, float]]  # key, raw score


def rank_score(rank: int) -> float:
    """61/(60+rank): 1 for rank 1; 0 for rank 0, which means absent."""
    return (RRF_CONSTANT + 1) / (RRF_CONSTANT + rank) if rank else 0.0


def fuse(lists: Iterable[RankedList[Key]], weights: Mapping[Signal, float]) -> dict[Key, Fused[Key]]:
    """Weighted reciprocal rank fusion over the lists of the signals that ran; the order of lists does not
    matter.

    `score = sum of weight/(60+rank) / (sum of weights / 61)`: 1 for a node that is first in every list.
    """
    by_signal = {ranked.signal: ranked for ranked in lists}
    signals = [signal for signal in Signal if weights.get(signal, 0.0) > 0 and signal in by_signal]
    total = math.fsum(weights[signal] for signal in signals)
    votes: dict[Key, dict[Signal, Vote]] = {}
    for signal in signals:
        share = weights[signal] / total * (RRF_CONSTANT + 1)
        for rank, (key, raw) in enumerate(by_signal[signal].hits, start=1):
            cast = votes.get(key)
            if cast is None:
                votes[key] = {signal: Vote(rank, raw, share / (RRF_CONSTANT + rank))}
            elif signal not in cast:  # of an id twice the first counts
                cast[signal] = Vote(rank, raw, share / (RRF_CONSTANT + rank))
    return {key: Fused(key, _sum(cast), cast) for key, cast in votes.items()}


def _sum(votes: Mapping[Signal, Vote]) -> float:
    """Exactly rounded, hence independent of the order; at most 1 whatever the last bit says."""
    total = math.fsum([vote.contribution for vote in votes.values()])
    return min(1.0, total)


# What decides between nodes whose votes do not: path, line and id.
Placed = tuple[str, int, str]


class Ranked(msgspec.Struct, Generic[Key], frozen=True, gc=False):
    """A node in the final order."""

    fused: Fused[Key]
    score: float


def order(
    candidates: Iterable[Fused[Key]],
    penalty: Callable[[Key], float] | None,
    place: Callable[[Key], Placed],
    min_score: float,
    limit: int,
) -> list[Ranked[Key]]:
    """Penalty, filter, sort, cut: in that order. Without a penalty every factor is 1.

    Only what may be among the first `limit` is asked for its place: nothing below the score of the last of them.
    """
    scores = [(one.fused if penalty is None else one.fused * penalty(one.key), one) for one in candidates]
    kept = [scored for scored in scores if scored[0] >= min_score]
    if len(kept) > limit:
        last = sorted([score for score, _ in kept], reverse=True)[limit - 1]
        kept = [scored for scored in kept if scored[0] >= last]
    ranked = [Ranked(one, score) for score, one in kept]
    ranked.sort(key=lambda one: _sort_key(one, place))
    return ranked[:limit]


def _sort_key(ranked: Ranked[Key], place: Callable[[Key], Placed]) -> tuple[float, int, float, Placed]:
    """Score, then how many signals agree, then raw bm25, then where it stands: total, hence reproducible."""
    votes = ranked.fused.votes
    bm25 = votes.get(Signal.BM25)
    return -ranked.score, -len(votes), -(bm25.raw if bm25 is not None else 0.0), place(ranked.fused.key)
