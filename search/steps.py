"""Named ranking steps: each reorders one signal's list before fusion, and can be switched off. Pure.

A step that gains nothing on bench/relevance.py does not belong here.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol, runtime_checkable

import numpy as np

from ctxsearch.graph.columns import NO_FILE, Rows
from ctxsearch.graph.model import TYPE_KINDS, CodeNode, NodeFlag, NodeKind
from ctxsearch.search.file_table import FileTable, asked_share, file_traits, side_bits, table_of
from ctxsearch.search.identifiers import content_words, query_words, stem
from ctxsearch.search.long_texts import subject
from ctxsearch.search.ports import NodeLookup, Scores
from ctxsearch.search.query import SearchQuery, Signal
from ctxsearch.search.scope import dotted
from ctxsearch.search.sorting import best_first, in_order
from ctxsearch.search.spelled import spelled_symbol

DEMOTED_FLAGS: Final = NodeFlag.TEST | NodeFlag.GENERATED | NodeFlag.VENDORED
_ASKED_FLAGS: Final = {
    **dict.fromkeys(("test", "tests", "testing", "spec", "specs"), NodeFlag.TEST),
    **dict.fromkeys(("fixture", "fixtures", "mock", "mocks"), NodeFlag.TEST),
    "generated": NodeFlag.GENERATED,
    **dict.fromkeys(("vendor", "vendored"), NodeFlag.VENDORED),
}


@functools.lru_cache(maxsize=64)  # two signals ask the same of every query
def demoted_flags(text: str, paths: tuple[str, ...]) -> int:
    """Which of tests, generated and vendored code rank lower: not what the query's words or its scope ask for.

    A word asks for its own kind: who asks how dependencies are vendored is not looking for tests. A number, since enum
    members answer `&` in Python, and every candidate is asked.
    """
    asked = [word for part in (subject(text), *paths) for word in query_words(part) if word in _ASKED_FLAGS]
    left = DEMOTED_FLAGS
    for word in asked:
        left &= ~_ASKED_FLAGS[word]
    return int(left)


@functools.lru_cache(maxsize=64)
def _asked_for(text: str) -> frozenset[str]:
    """What a query is about, as stems."""
    return frozenset(content_words(subject(text)))


@functools.lru_cache(maxsize=64)
def _asked_side(text: str) -> int:
    """The side code that any word of a query names."""
    return side_bits([stem(word) for word in query_words(subject(text))])


class Found(NamedTuple):
    """A signal's nodes with their scores, in columns and no order."""

    rows: Rows
    scores: Scores
    nodes: NodeLookup


@dataclass(slots=True)
class Listed:
    """A signal's list in columns, file by file and best first in each; of equals the lower id first.

    Steps change its scores: mostly what a file gains, alike for all of its nodes, so that their order stays.
    """

    rows: Rows
    own: Scores  # of the nodes, without what their files gain
    gains: Scores  # of the files
    nodes: NodeLookup
    groups: Groups  # one for each file
    files: Rows  # the number of each group's file; NO_FILE, which is first, where nodes stand in none
    table: FileTable  # what the paths of the files say
    has_exact: bool  # whether there are exact symbols

    @property
    def scores(self) -> Scores:
        """Of the nodes."""
        return self.own + self.gains.take(self.groups.run)

    def gain(self, gains: Scores) -> None:
        """Files gain."""
        if self.files[0] == NO_FILE:
            gains[0] = 0.0
        self.gains += gains

    def best_of_files(self) -> Scores:
        """The best score of each file but for exact symbols; minus infinity where there is none, or no file."""
        starts = self.groups.starts
        if self.has_exact:
            best = np.maximum.reduceat(np.where(self.own < EXACT_SCORE, self.own, -math.inf), starts) + self.gains
        else:
            best = self.own.take(starts)
            best += self.gains
        if self.files[0] == NO_FILE:
            best[0] = -math.inf
        return best


class Groups(NamedTuple):
    """Runs of equal keys, seen from each of their members."""

    run: Rows  # the number of the run
    first: Rows  # where the run begins
    place: Rows  # of the member in its run, from 0
    starts: Rows  # of all runs

    @staticmethod
    def of(keys: Rows) -> Groups:
        """The runs of keys that are in order."""
        begins = np.zeros(len(keys), np.bool_)
        np.not_equal(keys[1:], keys[:-1], out=begins[1:])
        run = begins.cumsum()
        begins[:1] = True
        starts = begins.nonzero()[0]
        first = starts.take(run)
        return Groups(run, first, np.arange(len(keys)) - first, starts)


class Steps(NamedTuple):
    """The steps of one signal: those over nodes come before those over files."""

    over_nodes: tuple[NodeStep, ...]
    over_files: tuple[FileStep, ...]

    @staticmethod
    def of(steps: tuple[RankingStep, ...], signal: Signal) -> Steps:
        """Those of a signal, in their order."""
        own = [step for step in steps if step.signal is signal]
        over_nodes = tuple(step for step in own if isinstance(step, NodeStep))
        return Steps(over_nodes, tuple(step for step in own if not isinstance(step, NodeStep)))


def reordered(steps: Steps, rows: Rows, scores: Scores, query: SearchQuery, nodes: NodeLookup) -> tuple[Rows, Scores]:
    """The nodes of some rows after all steps, best first, with their new scores; the given ones are falling."""
    given = scores
    for step in steps.over_nodes:
        scores = step.over_nodes(Found(rows, scores, nodes), query)
    if scores is not given:
        rows, scores = best_first(rows, scores)
    of_nodes, order = in_order(nodes.columns.files.take(rows))
    rows, own = rows.take(order), scores.take(order)
    groups = Groups.of(of_nodes)
    files = of_nodes.take(groups.starts)
    table = table_of(nodes.columns)
    table.fill(files)
    listed = Listed(rows, own, np.zeros(len(files)), nodes, groups, files, table, bool(scores[0] >= EXACT_SCORE))
    for file_step in steps.over_files:
        file_step.over_files(listed, query)
    return best_first(rows, listed.scores)


class _Step(Protocol):
    @property
    def name(self) -> str:
        """What `explain` calls it and what switches it off."""
        ...

    @property
    def signal(self) -> Signal:
        """Whose list it scores."""
        ...


@runtime_checkable
class NodeStep(_Step, Protocol):
    """Scores nodes anew, each by itself. Depends on its arguments alone."""

    def over_nodes(self, found: Found, query: SearchQuery, /) -> Scores:
        """A score for every node, in the order of the list."""
        ...


class FileStep(_Step, Protocol):
    """Scores nodes anew by what is known of their files. Depends on its arguments alone."""

    def over_files(self, listed: Listed, query: SearchQuery, /) -> None:
        """Change the scores of a list; the order inside of a file stays."""
        ...


RankingStep = NodeStep | FileStep


@dataclass(frozen=True, slots=True)
class Demotion:
    """Tests, generated and vendored code are near to what they test or copy, in meaning and in name: rank them below
    it, and a variable below the code that uses it."""

    signal: Signal
    name: str
    factor: float
    variable: float = 1.0

    def over_nodes(self, found: Found, query: SearchQuery, /) -> Scores:
        """Scores of demoted nodes shrink by their factor."""
        columns = found.nodes.columns
        below = demoted_flags(query.text, query.scope.paths)
        factors = np.where(columns.flags[found.rows] & below, self.factor, 1.0)
        factors[columns.kinds[found.rows] == _VARIABLE] *= self.variable
        return found.scores * factors


@dataclass(frozen=True, slots=True)
class Definition:
    """A query that spells a symbol means its definition: the spelling that was typed before others that differ in case
    or underscores, the one with the most code before those that merely declare, forward or reopen it, the one in a
    file or directory of its name before others, side code last. Where a type has the name, the type is meant: members
    of that name are matches like any other."""

    spelling: float = 1.5  # factor on a name spelled as typed
    type: float = 1.5  # factor on types, which others of the same name are about
    size: float = 0.1  # what each doubling of its lines adds
    file: float = 1.0  # what a file named after it adds
    parent: float = 0.5  # what a directory named after it adds
    side: float = 0.5  # factor on side code
    head: float = 4.0  # what a signature adds that says all that the query says beside the name, and no more
    name: str = "definition"
    signal: Signal = Signal.BM25

    def over_nodes(self, found: Found, query: SearchQuery, /) -> Scores:
        """Reorders exact symbols among themselves; the rest stays below them."""
        if not len(found.scores) or np.maximum.reduce(found.scores) < EXACT_SCORE:
            return found.scores
        places = (found.scores >= EXACT_SCORE).nonzero()[0].tolist()
        nodes = found.nodes
        exact = [nodes.node(nodes.columns.node_id(row)) for row in found.rows[places].tolist()]
        symbol = spelled_symbol(query.text)
        typed = dotted(symbol).rpartition(".")[2]
        words = frozenset(query_words(query.text)) if len(query.text) > 2 * len(symbol) else frozenset()
        is_type = any(one.kind in TYPE_KINDS and one.name == typed for one in exact if one is not None)
        scores = found.scores.copy()
        for place, node in zip(places, exact, strict=True):
            if node is None:
                continue
            if is_type and node.kind not in TYPE_KINDS:
                scores[place] /= EXACT_BONUS
            else:
                scores[place] *= self._factor(node, typed) * (1.0 + self.head * _alike(node.signature, words))
        return scores

    def _factor(self, found: CodeNode, typed: str) -> float:
        asked = frozenset(content_words(typed))
        file = file_traits[found.path]
        return (
            (self.spelling if found.name == typed else 1.0)
            * (self.type if found.kind in TYPE_KINDS else 1.0)
            * (self.side if file.side and file.side.isdisjoint(asked) else 1.0)
            * (1.0 + self.size * math.log2(found.end_line - found.start_line + 1))
            * (1.0 + self.file * asked_share(file.own, asked))
            * (1.0 + self.parent * asked_share(file.parent, asked))
        )


def _alike(signature: str, words: frozenset[str]) -> float:
    """How much of the words of a signature and of a query both have; 0 where the query is a name alone."""
    own = frozenset(query_words(signature)) if words else words
    return len(own & words) / len(own | words) if own else 0.0


@dataclass(frozen=True, slots=True)
class PathMatch:
    """A file named after what is asked for is where it lives: its nodes gain, by how much of the file's and of its
    directory's name is asked for."""

    signal: Signal
    stem_weight: float = 0.8  # the file's name is wholly made of words of the query
    parent_weight: float = 0.7  # its directory's name is
    name: str = "path_match"

    def over_files(self, listed: Listed, query: SearchQuery, /) -> None:
        """Files gain by what their paths say."""
        gains = listed.table.asked(listed.files, _asked_for(query.text), (self.stem_weight, self.parent_weight))
        if gains is not None:
            listed.gain(gains)


@dataclass(frozen=True, slots=True)
class FilePrior:
    """What a file is, whatever is asked: the code that others are about is long and near the root; data, prose and
    what stands beside the code (examples, mocks, legacy) tell about it."""

    signal: Signal
    size_weight: float = 0.05  # per doubling of its lines
    depth_penalty: float = 0.04  # per directory: what is general lies near the root
    data_penalty: float = 1.5  # data and prose tell about the code; what was asked for is the code
    side_penalty: float = 0.5  # in a directory of side code that the query does not name
    name: str = "file_prior"

    def over_files(self, listed: Listed, query: SearchQuery, /) -> None:
        """Files gain by what is known of them."""
        table, files = listed.table, listed.files
        weights = self.size_weight, -self.depth_penalty, -self.data_penalty, -self.side_penalty
        gains = table.weighed(files, weights)
        asked = _asked_side(query.text)
        if asked:
            gains[(table.side.take(files) & asked) != 0] += self.side_penalty
        listed.gain(gains)


@dataclass(frozen=True, slots=True)
class DirectoryCoherence:
    """Files of one directory that match together say that the subject lives there: each gains by the best others."""

    signal: Signal
    weight: float = 0.1
    fading: float = 0.5  # each further file of the directory counts this much of the one before
    others: int = 3  # how many of them count
    name: str = "directory_coherence"

    def over_files(self, listed: Listed, query: SearchQuery, /) -> None:  # noqa: ARG002
        """Files gain their directory's share, counted from the lowest score of the list; exact symbols do not count."""
        above = _above_lowest(listed.best_of_files())
        falling = (-above).argsort()  # of equals any one first: they count the same
        directories, order = in_order(listed.table.directories.take(listed.files.take(falling)))
        order = falling.take(order)
        group = Groups.of(directories)
        place = np.minimum(group.place, self.others)
        place *= len(group.starts)
        place += group.run
        first = np.zeros((self.others + 1, len(group.starts)))  # the best files of each directory, and one more
        first.ravel()[place[::-1]] = above.take(order)[::-1]  # of several in one place the last written stays
        shares = self.weight * _shares_of_others(self.fading, self.others) @ first
        gains = np.empty(len(above))
        gains[order] = shares.take(place)
        listed.gain(gains)


def _above_lowest(best: Scores) -> Scores:
    """Scores counted from the lowest one; 0 of what has none, which is minus infinity."""
    lowest = np.minimum.reduce(best)
    if lowest > -math.inf:
        above: Scores = best - lowest
        return above
    lowest = np.minimum.reduce(np.where(best > -math.inf, best, math.inf))
    return np.maximum(best, lowest) - lowest if lowest < math.inf else np.zeros(len(best))


@functools.lru_cache(maxsize=8)
def _shares_of_others(fading: float, others: int) -> Scores:
    """How much the first files of a directory count for the first of them, the second ... and all behind those."""
    shares = np.zeros((others + 1, others + 1))
    for place in range(others + 1):
        for rank, other in enumerate([one for one in range(others + 1) if one != place]):
            shares[place, other] = fading**rank
    return shares


@dataclass(frozen=True, slots=True)
class Spread:
    """The next node of a file already shown gives way to other files: a page shows places, not one file's lines."""

    signal: Signal
    step: float = 1.5  # what each earlier node of the same file costs, in scores relative to the best
    name: str = "spread"

    def over_files(self, listed: Listed, query: SearchQuery, /) -> None:  # noqa: ARG002
        """Exact symbols stay together, and what stands in no file is no file's next node."""
        costs = self.step * listed.groups.place
        if listed.has_exact:
            costs[listed.own >= EXACT_SCORE] = 0.0
        if listed.files[0] == NO_FILE:
            costs[listed.groups.run == 0] = 0.0
        listed.own -= costs


@dataclass(frozen=True, slots=True)
class SemanticCoherence:
    """Several near nodes of one file say more than one: each gains by what its file's best nodes score together."""

    weight: float = 1.0
    fading: float = 0.5  # each further node of the file counts this much of the one before
    name: str = "semantic_coherence"
    signal: Signal = Signal.SEMANTIC

    def over_files(self, listed: Listed, query: SearchQuery, /) -> None:  # noqa: ARG002
        """Cosine plus the file's share."""
        group, scores = listed.groups, listed.scores
        # A file's own node repeats the signatures of its members: no second match.
        counts = (listed.nodes.columns.kinds[listed.rows] != _MODULE) | (group.place == 0)
        before = counts.cumsum() - counts
        faded = np.where(counts, self.fading ** (before - before[group.first]), 0.0)
        together = np.add.reduceat(scores * faded, group.starts)
        whole = 1 + self.weight / (1 - self.fading)  # of which a node scores at most this: a cosine stays below one
        listed.own = (scores + self.weight * together[group.run]) / whole
        listed.gains = np.zeros(len(listed.files))


EXACT_BONUS: Final = 1_000.0  # factor that no other match can make up: an exact symbol is on top everywhere
EXACT_SCORE: Final = 100.0  # no match but an exact symbol reaches it
_VARIABLE: Final = int(NodeKind.VARIABLE)
_MODULE: Final = int(NodeKind.MODULE)

DEFAULT_STEPS: Final[tuple[RankingStep, ...]] = (
    Definition(),
    PathMatch(Signal.BM25),
    FilePrior(Signal.BM25),
    DirectoryCoherence(Signal.BM25),
    Spread(Signal.BM25),
    # A variable is all name: nearer than the code that answers the question.
    Demotion(Signal.SEMANTIC, "semantic_demotion", 0.6, variable=0.8),
    SemanticCoherence(),
    PathMatch(Signal.SEMANTIC, stem_weight=0.1, parent_weight=0.05),
    FilePrior(Signal.SEMANTIC, size_weight=0.005, depth_penalty=0.02, data_penalty=0.2, side_penalty=0.05),
    DirectoryCoherence(Signal.SEMANTIC, weight=0.05),
    Spread(Signal.SEMANTIC, step=0.3),
    Demotion(Signal.FUZZY, "fuzzy_demotion", 0.99),  # of equals alone: an edit costs more
)


@dataclass(frozen=True, slots=True)
class RankingPolicy:
    """Which steps are on. Weights belong to the request, field weights to the full-text index."""

    steps: tuple[RankingStep, ...] = DEFAULT_STEPS
    file_coherence: bool = True  # whether text signals that agree on a file count together (coherence.py)
    freshness: bool = True  # whether the class's penalty applies; off only to measure what it does
    own_name: bool = True  # whether the vector leaves out the repository's own name (see without_name)
    title_vector: bool = True  # whether the vector of a long text is that of its title and of its prose, half and half
    past_demoted: bool = True  # whether the semantic signal looks past tests that fill its list
    exact_on_top: bool = True  # whether no penalty puts another node before the symbol that the query spells

    def without(self, *names: str) -> RankingPolicy:
        """The same without some steps; the switches below are names too."""
        return RankingPolicy(
            steps=tuple(step for step in self.steps if step.name not in names),
            file_coherence=self.file_coherence and "file_coherence" not in names,
            freshness=self.freshness and "freshness" not in names,
            own_name=self.own_name and "own_name" not in names,
            title_vector=self.title_vector and "title_vector" not in names,
            past_demoted=self.past_demoted and "past_demoted" not in names,
            exact_on_top=self.exact_on_top and "exact_on_top" not in names,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """The steps that are on, for `explain`."""
        switches = (
            ("own_name", self.own_name),
            ("title_vector", self.title_vector),
            ("past_demoted", self.past_demoted),
            ("exact_on_top", self.exact_on_top),
            ("file_coherence", self.file_coherence),
            ("freshness", self.freshness),
        )
        return (*dict.fromkeys(step.name for step in self.steps), *(name for name, on in switches if on))
