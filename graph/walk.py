"""Breadth-first walks from ranked seeds, bounded and in a stable order. Pure: neighbours come as a function.

Strengths. A walk prefers the stronger of two equally short ways. A strength is one integer, larger is better: the
confidence of the weakest edge so far in its upper bits, the kind of the last edge in its lowest eight.
"""

from __future__ import annotations

import heapq
import operator
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Protocol, TypeVar

from ctxsearch.graph.model import EdgeKind, NodeId

CONFIDENCE_STEPS = 10_000  # confidences as integers, so that a floor of 0.95 keeps an edge of 0.95
UNBOUNDED = 1_000_000_000  # a depth or degree that nothing has

_Item = TypeVar("_Item")


@dataclass(frozen=True, slots=True)
class Limits:
    """What bounds a walk. Whatever is cut is said in the answer."""

    min_confidence: float = 0.5  # weaker edges are not there
    results: int = 1000  # of what is asked for
    hub_degree: int = 200  # a node with more neighbours is reached but not walked through, unless it is a seed
    passed: int = 2_000  # neighbours of a lone seed that are not asked for, but may lead to what is
    edges: int = 50_000  # looked at in one walk: well under 100 ms on a slow core (bench/graph_load.py)


DEFAULT_LIMITS = Limits()
THROUGH_HUBS = Limits(hub_degree=UNBOUNDED)


class Steps(Protocol):
    """The edges that a walk may take."""

    def __call__(self, position: int) -> list[tuple[int, int]]:
        """Neighbours with the strength of the edge to each, in any order; parallel edges one by one."""

    def cost(self, position: int) -> int:
        """How many edges a call looks at."""

    def degree(self, position: int) -> int:
        """How many edges of the walk's kinds there are, whatever their confidence: what makes a hub."""

    def id(self, position: int) -> NodeId:
        """The node at a position; ids decide where nothing else does."""


_KINDS = {int(kind): kind for kind in EdgeKind}  # an enum takes longer to find a member than the rest of a hit


def strength_of(confidence_steps: int, kind: int) -> int:
    """A single edge's strength; of two kinds with one confidence the earlier kind wins."""
    return confidence_steps << 8 | 0xFF - kind


def kind_of(strength: int) -> EdgeKind:
    """The kind of the last edge."""
    return _KINDS[0xFF - (strength & 0xFF)]


def confidence_of(strength: int) -> float:
    """The confidence of the weakest edge."""
    return (strength >> 8) / CONFIDENCE_STEPS


# How a node is reached from one seed: distance, the seed's rank, strength of the weakest edge on the way (with the
# kind of the last one), position of the node before it (-1 at a seed). A tuple: a walk makes many.
Label = tuple[int, int, int, int]

# Which of some positions are asked for; the others are walked through, not listed.
Accepted = Callable[[Sequence[int]], Sequence[bool]]


class Walk:
    """A breadth-first walk from ranked seeds, one level at a time.

    Each node keeps its best label, and its best from a second seed. One would do for ordinary nodes; but a seed counts
    only as reached from *another* seed, and the way there may lead through nodes that the seed itself is nearer to.
    Two are enough: where a third seed would matter, two better ones have already arrived.
    """

    def __init__(self, seeds: dict[int, int], steps: Steps, limits: Limits, accepted: Accepted | None = None) -> None:
        self._accepted = accepted  # None: everything is
        self._seeds = seeds
        self._several = len(set(seeds.values())) > 1
        self._steps = steps
        self._limits = limits
        self._edges = 0
        self._ranks = max(seeds.values(), default=0) + 1
        self.labels: dict[int, Label] = {
            position: (0, rank, CONFIDENCE_STEPS << 8, -1) for position, rank in seeds.items()
        }
        self._second: dict[int, Label] = {}
        self._frontier = list(self.labels.items())
        self._levels: list[list[tuple[int, Label]]] = []  # nodes by distance, with the label that is shown
        self.distance = 0
        self.reached = 0
        self._counted: set[int] = set()  # reached at this level, but too weak to be listed
        self.hubs: list[int] = []
        self._passed_by: list[int] = []  # seeds of which only what is not asked for was cut: no loss at the last level
        self.refused: list[int] = []  # reached, but not asked for
        self.exhausted = False  # the allowance of edges is used up

    def advance(self) -> bool:
        """One level further; False when there is nothing more to reach."""
        self.hubs += self._passed_by
        self._passed_by.clear()
        found = self._candidates(self._affordable())
        self.distance += 1
        self._frontier = []
        level = []
        for key in sorted(found) if self._several else found:
            position, rank = divmod(key, self._ranks)
            strength, before = found[key]
            item = position, (self.distance, rank, strength, before)
            if position not in self.labels:
                self.labels[position] = item[1]
                level.append(item)
            elif position not in self._second:
                self._second[position] = item[1]
                if position in self._seeds:  # a seed's first label is its own
                    level.append(item)
            else:
                continue
            self._frontier.append(item)
        if self._accepted is not None:
            level, refused = _split(level, self._accepted([position for position, _ in level]))
            self.refused += [position for position, _ in refused]
        self._levels.append(level)
        self._counted.difference_update(position for position, _ in level)
        self.reached += len(level) + len(self._counted)
        self._counted.clear()
        return bool(self._frontier) and not self.exhausted

    def best(self, count: int) -> list[tuple[int, Label]]:
        """The first nodes in the order of a Traversal."""
        ordered: list[tuple[int, Label]] = []
        for level in self._levels:
            ordered += heapq.nsmallest(count - len(ordered), level, key=self._order)
        return ordered

    def path(self, position: int, label: Label) -> list[int]:
        """Positions from the seed to a node."""
        steps = [position]
        while label[3] >= 0:
            position = label[3]
            first = self.labels[position]
            label = first if first[1] == label[1] else self._second[position]
            steps.append(position)
        return steps[::-1]

    def _order(self, item: tuple[int, Label]) -> tuple[int, int, str]:
        position, (_, rank, strength, _) = item
        return rank, -(strength >> 8), self._steps.id(position)

    def _candidates(self, frontier: list[tuple[int, Label]]) -> dict[int, tuple[int, int]]:
        """Per node and seed rank the best last step: strongest, then the earliest in the frontier."""
        found: dict[int, tuple[int, int]] = {}  # by position * ranks + rank: strength, position before
        labels, second, ranks = self.labels, self._second, self._ranks
        for position, (_, rank, strength, _) in frontier:
            weakest = strength & ~0xFF
            for target, edge in self._onward(position):
                own = labels.get(target)
                if own is not None and (own[1] == rank or target in second):
                    continue
                step = edge if edge < weakest else weakest | edge & 0xFF
                key = target * ranks + rank
                known = found.get(key)
                if known is None or step > known[0]:
                    found[key] = (step, position)
        return found

    def _onward(self, position: int) -> list[tuple[int, int]]:
        """Steps from a node; of a hub only the strongest, and those to what is asked for before all others.

        Only seeds can be hubs here. One of several must not flood the list. One that was asked about alone shows all
        that the list will take: what is left out is as near, but weaker, and is only counted.
        """
        steps = self._steps(position)
        limits = self._limits
        if self._several:
            return steps if len(steps) <= limits.hub_degree else self._of_several(position, _best_steps(steps))
        most = limits.results if self._accepted is None else min(limits.results, limits.passed)
        if self.distance or len(steps) <= most:
            return steps
        fresh = _best_steps(step for step in steps if step[0] not in self.labels)
        wanted, others = self._asked_for(fresh)
        self._counted.update(wanted)
        return self._strongest(wanted, limits.results) + self._passed(position, others, limits.passed)

    def _of_several(self, position: int, steps: dict[int, int]) -> list[tuple[int, int]]:
        """What one hub of several seeds may bring."""
        bound = self._limits.hub_degree
        wanted, others = self._asked_for(steps)
        if self._accepted is None or len(wanted) > bound:
            self.hubs.append(position)
        chosen = self._strongest(wanted, bound)
        return chosen + self._passed(position, others, bound - len(chosen))

    def _asked_for(self, steps: dict[int, int]) -> tuple[dict[int, int], dict[int, int]]:
        """Steps to what is asked for, and those to what is not."""
        if self._accepted is None:
            return steps, {}
        wanted, others = _split(steps.items(), self._accepted(list(steps)))
        return dict(wanted), dict(others)

    def _passed(self, position: int, steps: dict[int, int], count: int) -> list[tuple[int, int]]:
        """Of what is not asked for, as much as is walked through."""
        if len(steps) > count:
            self._passed_by.append(position)
        return self._strongest(steps, count)

    def _strongest(self, steps: dict[int, int], count: int) -> list[tuple[int, int]]:
        """By confidence, then id; ids are only looked up where they decide."""
        equals: dict[int, list[int]] = {}
        for end, strength in steps.items():
            equals.setdefault(strength >> 8, []).append(end)
        chosen: list[int] = []
        for confidence in sorted(equals, reverse=True):
            chosen += heapq.nsmallest(count - len(chosen), equals[confidence], key=self._steps.id)
            if len(chosen) == count:
                break
        return [(end, steps[end]) for end in chosen]

    def _affordable(self) -> list[tuple[int, Label]]:
        """The frontier, best first, without hubs and as far as its edges may still be looked at."""
        affordable: list[tuple[int, Label]] = []
        steps, bound = self._steps, self._limits.hub_degree
        for position, label in sorted(self._frontier, key=self._order):
            if steps.degree(position) > bound and position not in self._seeds:
                self.hubs.append(position)
                continue
            self._edges += steps.cost(position)
            if self._edges > self._limits.edges and affordable:
                self.exhausted = True
                break
            affordable.append((position, label))
        return affordable

    def cost(self) -> int:
        """How many edges the next level would look at."""
        return sum(self._steps.cost(position) for position, _ in self._frontier)

    def strength(self, position: int) -> int:
        """Confidence of the weakest edge on the way to a node."""
        return self.labels[position][2] >> 8

    def order(self, position: int) -> NodeId:
        """What decides between nodes that are equally good."""
        return self._steps.id(position)


def meet(forth: Walk, back: Walk) -> int | None:
    """Advance whichever walk is cheaper until they share a node: the one on the strongest way, then by id."""
    more = True
    while more:
        more = (forth if forth.cost() <= back.cost() else back).advance()
        fewer, others = sorted((forth.labels, back.labels), key=len)
        shared = [position for position in fewer if position in others]
        if shared:
            return min(shared, key=lambda at: (-min(forth.strength(at), back.strength(at)), forth.order(at)))
    return None


def _split(items: Collection[_Item], chosen: Sequence[bool]) -> tuple[list[_Item], list[_Item]]:
    """The chosen ones, and the others."""
    return list(compress(items, chosen)), list(compress(items, map(operator.not_, chosen)))


def _best_steps(steps: Iterable[tuple[int, int]]) -> dict[int, int]:
    """Of parallel edges the strongest."""
    best: dict[int, int] = {}
    for end, strength in steps:
        if strength > best.get(end, -1):
            best[end] = strength
    return best
