"""What matches of full text are worth: their own score, what their files say, and what kinds of nodes they are. Pure.

In columns: hundreds of nodes match, and the same is asked of all of them.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ctxsearch.graph.columns import NO_FILE, NodeColumns, Rows, kinds_and_flags
from ctxsearch.graph.model import NodeKind
from ctxsearch.search.long_texts import Emphasis
from ctxsearch.search.ports import Scores
from ctxsearch.search.sorting import best_first, in_order
from ctxsearch.search.steps import EXACT_BONUS


@dataclass(frozen=True, slots=True)
class LexicalPolicy:
    """Every tuned number and switch of the keyword ranking, each with its reason (bench/relevance.py
    measures)."""

    fields: Mapping[str, float] = field(
        default_factory=lambda: {
            "name": 5.0,  # a definition beats its mentions
            "qualified": 2.0,
            "signature": 1.5,
            "doc": 2.0,
            "path": 2.0,
            "body": 1.0,
        }
    )
    # A file's own evidence, shared by its nodes: a query about a subject names the file's words, not one function's.
    file_coverage: float = 1.4  # share of the query's words, by rarity, that the file contains
    variable: float = 0.6  # factor on a variable's own match: all name, it matches better than the code that answers
    node_match: float = 1.5  # how well the node itself matches
    second_match: float = 0.4  # of the file's next best node's match: two that match say more than one
    files: int = 150  # how many files take part
    emphasis: Emphasis = field(default_factory=Emphasis)  # on words of a long text
    mentioned_file: float = 1.0  # what a file gains whose name the text spells, shared by the files of that name
    mentions: int = 10  # a name that more nodes have says nothing
    whole_identifier: float = 2.0  # a whole identifier beats its parts
    exact_symbol: bool = True  # a query that is a symbol puts that symbol first
    demotion: float = 0.6  # factor on tests, generated and vendored code; 1 switches it off
    external: float = 0.3  # factor on library symbols, which have a name and nothing else
    max_terms: int = 48  # the words of a long query that tell most
    long_text_matches: int = 2  # how many times the list's length is fetched for one: its many words match widely
    # A word is not asked of a field where it tells little and takes long: where it is in more nodes than both of these.
    common_share: float = 0.05  # of all nodes
    common_nodes: int = 3_000


class Matches(NamedTuple):
    """Nodes with what they are worth."""

    rows: Rows
    scores: Scores


class Answers(NamedTuple):
    """What was asked of the index for one query, one list after the other."""

    rows: Rows  # nodes that have the name that was typed, nodes that have its words, and the own nodes of files
    scores: Scores  # falling in the first two; of the files the evidence for each
    exact: int  # how many have the name
    words: int  # how many have the words
    shown: NDArray[np.bool_] | None = None  # which of the files may be results themselves; None: all


def best_matches(nodes: NodeColumns, answers: Answers, demoted: int, policy: LexicalPolicy) -> Matches:
    """Every node once, best first; of equals the one with the lower id. What is in several lists counts as it does in
    the first."""
    rows, scores, exact, words, shown = answers
    end = exact + words
    files, traits = nodes.files.take(rows), nodes.traits.take(rows)
    of_kind, of_side = _factors(policy.variable, policy.external, policy.demotion, demoted)
    kinds = of_kind.take(traits)
    evidence = np.zeros(len(nodes.paths) + 1)  # by number of the file; the last is of no file
    evidence[files[end:]] = scores[end:]
    evidence[NO_FILE] = 0.0
    worth = scores.copy()
    if exact:
        worth[:exact] = _worth(scores[:exact], files[:exact], kinds[:exact], evidence, policy) * EXACT_BONUS
    if words:
        worth[exact:end] = _worth(scores[exact:end], files[exact:end], kinds[exact:end], evidence, policy)
    worth *= of_side.take(traits)
    if shown is not None:
        is_shown = np.concatenate((np.ones(end, np.bool_), shown))
        rows, worth = rows[is_shown], worth[is_shown]
    return Matches(*best_first(*_once(rows, worth)))


@functools.lru_cache(maxsize=64)
def _factors(variable: float, external: float, demotion: float, demoted: int) -> tuple[Scores, Scores]:
    """By traits of a node: the factor on its own match, and the one on all that it is worth."""
    kinds, flags = kinds_and_flags(np.arange(256))
    lower = np.where(kinds == int(NodeKind.EXTERNAL), external, 1.0)
    return np.where(kinds == int(NodeKind.VARIABLE), variable, 1.0), np.where(flags & demoted, lower * demotion, lower)


def _worth(scores: Scores, files: Rows, factors: Scores, evidence: Scores, policy: LexicalPolicy) -> Scores:
    """A node's own match relative to the best, its file's evidence and next best node."""
    own = scores * (policy.node_match / scores[0] if scores[0] > 0 else 0.0)
    seconds = _seconds(files)
    with_seconds = files.take(seconds)  # each once
    before = evidence.take(with_seconds)
    evidence[with_seconds] = before + own.take(seconds) * policy.second_match
    own *= factors
    own += evidence.take(files)
    evidence[with_seconds] = before
    return own


def _seconds(files: Rows) -> Rows:
    """The place of every file's second node in a list, for those that have one."""
    ordered, places = in_order(files)
    is_next = ordered[1:] == ordered[:-1]  # of the file that the node before it is of
    is_second = is_next.copy()
    is_second[1:] &= ~is_next[:-1]
    seconds: Rows = places[1:][is_second]
    return seconds


def _once(rows: Rows, scores: Scores) -> tuple[Rows, Scores]:
    """Every row once, with its first score."""
    rows, places = in_order(rows)
    is_first = np.empty(len(rows), np.bool_)
    is_first[:1] = True
    np.not_equal(rows[1:], rows[:-1], out=is_first[1:])
    return rows[is_first], scores.take(places[is_first])
