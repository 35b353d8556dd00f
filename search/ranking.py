"""Fusion of ranked lists, freshness penalties and the final order. Pure: no index, no clock, no I/O."""

from __future__ import annotations

import bisect
import functools
import math
import operator
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, NamedTuple, TypeVar

import msgspec

from ctxsearch.search.query import Signal

_JUST_BELOW: Final = 0.999  # of the exact symbol's score: what an equal could otherwise win by its place
RRF_CONSTANT: Final = 60  # ranks near the top count, the exact position far down does not

_SIGNALS: Final = tuple(Signal)

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


@dataclass(frozen=True, slots=True)
class RankedList(Generic[Key]):
    """One signal's answer, best first. An id twice counts once, at its best rank."""

    signal: Signal
    keys: Sequence[Key]
    raws: Sequence[float]  # the signal's own score of each
    places: dict[Key, int] = field(init=False, repr=False, compare=False)  # where each key stands first, from 0

    def __post_init__(self) -> None:
        """Look the places up once: fusion, coherence and the page all ask."""
        count = len(self.keys)
        places = dict(zip(self.keys, range(count), strict=True))
        if len(places) < count:  # of several places the first is written last
            places = dict(zip(reversed(self.keys), range(count - 1, -1, -1), strict=True))
        object.__setattr__(self, "places", places)

    @staticmethod
    def of(signal: Signal, hits: Iterable[tuple[Key, float]]) -> RankedList[Key]:
        """The list of some keys with their scores."""
        pairs = list(hits)
        return RankedList(signal, [key for key, _ in pairs], [raw for _, raw in pairs])


class Ballot(NamedTuple, Generic[Key]):
    """A list that votes: what each of its places is worth."""

    ranked: RankedList[Key]
    share: float  # of the score before the penalty that its first place gives, 0..1
    worth: Sequence[float]  # what each of its places gives


@dataclass(frozen=True, slots=True)
class Fusion(Generic[Key]):
    """The votes of all signals, added up per node. Who voted how is told of the few that are shown."""

    scores: Mapping[Key, float]  # 0..1, before the penalty
    ballots: tuple[Ballot[Key], ...]  # in the order of Signal

    def votes(self, key: Key) -> dict[Signal, Vote]:
        """What every signal that found the node said about it."""
        found: dict[Signal, Vote] = {}
        for ranked, _, worth in self.ballots:
            place = ranked.places.get(key)
            if place is not None:
                found[ranked.signal] = Vote(place + 1, ranked.raws[place], worth[place])
        return found


def rank_score(rank: int) -> float:
    """61/(60+rank): 1 for rank 1; 0 for rank 0, which means absent."""
    return (RRF_CONSTANT + 1) / (RRF_CONSTANT + rank) if rank else 0.0


def fuse(
    lists: Iterable[RankedList[Key]], weights: Mapping[Signal, float], room_for: Signal | None = None
) -> Fusion[Key]:
    """Weighted reciprocal rank fusion over the lists of the signals that ran; the order of lists does not
    matter.

    `score = sum of weight/(60+rank) / (sum of weights / 61)`: 1 for a node that is first in every list. With room for
    a signal that will be `joined`, its weight is among them.
    """
    by_signal = {ranked.signal: ranked for ranked in lists}
    ran = [by_signal[signal] for signal in _SIGNALS if weights.get(signal, 0.0) > 0 and signal in by_signal]
    voting = [ranked.signal for ranked in ran] + ([room_for] if room_for is not None else [])
    shares = _shares(weights, voting)
    ballots = tuple(_ballot(one, shares[one.signal]) for one in ran)
    scores = added(ballots)
    if len(ballots) > 1 and max(scores.values(), default=0.0) > 1.0:  # at most 1, whatever the last bit says
        scores = {key: min(1.0, score) for key, score in scores.items()}
    return Fusion(scores, ballots)


def joined(fusion: Fusion[Key], ranked: RankedList[Key], weights: Mapping[Signal, float]) -> Fusion[Key]:
    """The same with the list that room was left for."""
    voting = [ballot.ranked.signal for ballot in fusion.ballots] + [ranked.signal]
    new = _ballot(ranked, _shares(weights, voting)[ranked.signal])
    scores = dict(fusion.scores)
    for key, place in ranked.places.items():
        scores[key] = min(1.0, scores.get(key, 0.0) + new.worth[place])
    ballots = sorted((*fusion.ballots, new), key=lambda ballot: _SIGNALS.index(ballot.ranked.signal))
    return Fusion(scores, tuple(ballots))


def _shares(weights: Mapping[Signal, float], voting: Collection[Signal]) -> dict[Signal, float]:
    """What each of some signals has of their weights together, which may be too large for a number."""
    largest = max((weights[signal] for signal in voting), default=1.0)
    parts = {signal: weights[signal] / largest for signal in voting}
    total = math.fsum(parts.values())
    return {signal: part / total for signal, part in parts.items()}


def _ballot(ranked: RankedList[Key], share: float) -> Ballot[Key]:
    return Ballot(ranked, share, worth_of_places(share, len(ranked.keys)))


@functools.lru_cache(maxsize=256)  # of the caller's weights; at most 8 MB, for lists of a thousand places
def worth_of_places(share: float, count: int) -> Sequence[float]:
    """What the first, the second ... of `count` places add to a score."""
    whole = share * (RRF_CONSTANT + 1)
    return tuple(whole / rank for rank in range(RRF_CONSTANT + 1, RRF_CONSTANT + 1 + count))


def added(ballots: Iterable[Ballot[Key]]) -> dict[Key, float]:
    """The sum of what the ballots say of every node; always added in their order, hence reproducible."""
    scores: dict[Key, float] = {}
    for ranked, _, worth in ballots:
        places = ranked.places
        if not scores:
            # Where no key is there twice, they are in the order of their places.
            worths = worth if len(places) == len(worth) else map(worth.__getitem__, places.values())
            scores = dict(zip(places, worths, strict=True))
            continue
        for key, place in places.items():
            scores[key] = scores.get(key, 0.0) + worth[place]
    return scores


Penalties = Callable[[Sequence[Key]], Sequence[float]]  # a factor for each, none more than 1


def no_penalties(keys: Sequence[Key]) -> Sequence[float]:
    """Where age costs nothing."""
    return [1.0] * len(keys)


# What decides between nodes whose votes do not: path, line and id.
Placed = tuple[str, int, str]


class Ranked(msgspec.Struct, Generic[Key], frozen=True, gc=False):
    """A node in the final order, with the votes that it got."""

    key: Key
    score: float
    votes: Mapping[Signal, Vote]


def order(
    fusion: Fusion[Key],
    candidates: Collection[Key],
    penalties: Penalties[Key] | None,
    place: Callable[[Key], Placed],
    min_score: float,
    limit: int,
) -> list[Ranked[Key]]:
    """Penalties, filter, sort, cut: in that order. Without penalties every factor is 1.

    Candidates are of what was fused, each once. Only what may be among the first `limit` is asked for its penalty,
    votes and place: nothing below the score of the last.
    """
    fused = fusion.scores
    kept = list(fused.items()) if len(candidates) == len(fused) else [(key, fused[key]) for key in candidates]
    kept.sort(key=_score, reverse=True)
    if penalties is not None:
        # Penalties only lower: what is below all of the first ones after theirs cannot be before them.
        first = _penalised(kept[:limit], penalties)
        lowest = -min(map(_score, first), default=0.0)
        end = bisect.bisect_right(kept, lowest, lo=min(limit, len(kept)), key=_below)
        kept = sorted(first + _penalised(kept[limit:end], penalties), key=_score, reverse=True)
    last = max(kept[limit - 1][1], min_score) if len(kept) > limit else min_score
    ranked = [Ranked(key, score, fusion.votes(key)) for key, score in kept if score >= last]
    merits = list(map(_merit, ranked))
    numbers = sorted(range(len(ranked)), key=merits.__getitem__)
    if len(set(merits)) < len(merits):  # where nothing else decides, the place does
        numbers.sort(key=lambda number: (merits[number], place(ranked[number].key)))
    return [ranked[number] for number in numbers[:limit]]


def exact_on_top(
    fusion: Fusion[Key],
    candidates: Iterable[Key],
    penalties: Penalties[Key],
    exact_score: float,
    by_text: Fusion[Key] | None = None,
) -> Fusion[Key]:
    """The same, with lower scores for others where the penalty, or what joined after the text signals, would put one of
    them before the exact symbol.

    A query that spells a symbol means it, however old it is and whoever calls it. Exact is what full text gives
    `exact_score` or more; what text alone puts before it stays there, and the others keep their order.
    """
    spelled = exact_keys(fusion.ballots, exact_score)
    if not spelled:
        return fusion
    known = frozenset(candidates)
    exact = [key for key in spelled if key in known]
    if not exact:
        return fusion
    fused = fusion.scores
    before = fused if by_text is None else by_text.scores
    factors = dict(zip(exact, penalties(exact), strict=True))
    best = max(exact, key=lambda key: (fused[key] * factors[key], fused[key]))
    behind = [key for key in known if key not in factors and before.get(key, 0.0) <= before[best]]
    top, next_best = fused[best] * factors[best], _best_penalised(fused, behind, penalties)
    if next_best < top:
        return fusion
    lowered = {key: fused[key] * (top / next_best) * _JUST_BELOW for key in behind}
    return Fusion({**fused, **lowered}, fusion.ballots)


def _best_penalised(fused: Mapping[Key, float], keys: Iterable[Key], penalties: Penalties[Key]) -> float:
    """The highest score after penalties, 0 of none; only what may have it is asked for its own, which lowers it."""
    highest = 0.0
    for key in sorted(keys, key=fused.__getitem__, reverse=True):
        if fused[key] <= highest:
            break
        highest = max(highest, fused[key] * penalties([key])[0])
    return highest


def exact_keys(ballots: Iterable[Ballot[Key]], exact_score: float) -> list[Key]:
    """The symbols that the query spells, in the order of full text, which gives them `exact_score` or more."""
    for ballot in ballots:
        if ballot.ranked.signal is Signal.BM25:
            ranked = ballot.ranked
            if max(ranked.raws, default=0.0) < exact_score:  # most queries spell no symbol
                return []
            return [key for key, raw in zip(ranked.keys, ranked.raws, strict=True) if raw >= exact_score]
    return []


def penalised(fusion: Fusion[Key], candidates: Iterable[Key], penalties: Penalties[Key] | None) -> Sequence[float]:
    """What some nodes score in the end."""
    kept = [(key, fusion.scores[key]) for key in candidates]
    return [score for _, score in (_penalised(kept, penalties) if penalties is not None else kept)]


def _penalised(scores: Sequence[tuple[Key, float]], penalties: Penalties[Key]) -> list[tuple[Key, float]]:
    keys = [key for key, _ in scores]
    return [(key, score * factor) for (key, score), factor in zip(scores, penalties(keys), strict=True)]


_score: Final[Callable[[tuple[object, float]], float]] = operator.itemgetter(1)


def _below(scored: tuple[object, float]) -> float:
    return -scored[1]


def _merit(ranked: Ranked[Key]) -> tuple[float, int, float]:
    """Score, then how many signals agree, then raw bm25; lower is better."""
    votes = ranked.votes
    bm25 = votes.get(Signal.BM25)
    return -ranked.score, -len(votes), -(bm25.raw if bm25 is not None else 0.0)
