"""What matches of full text are worth: their own score, what their files say, and what kinds of nodes they are. Pure.

In columns: hundreds of nodes match, and the same is asked of all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ctxsearch.graph.columns import NO_FILE, NodeColumns, Rows
from ctxsearch.graph.model import NodeKind
from ctxsearch.search.long_texts import Emphasis
from ctxsearch.search.ports import Scores
from ctxsearch.search.sorting import best_first, in_order
from ctxsearch.search.steps import EXACT_BONUS

_VARIABLE: Final = int(NodeKind.VARIABLE)
_EXTERNAL: Final = int(NodeKind.EXTERNAL)


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
    """What one question to the index found."""

    rows: Rows
    scores: Scores  # falling, except those of files


class Answers(NamedTuple):
    """What was asked of the index for one query."""

    exact: Matches  # nodes that have the name that was typed
    words: Matches  # nodes that have its words
    files: Matches  # the files' own nodes, each once, with the evidence for the file
    shown: NDArray[np.bool_] | None  # which of those may be results themselves; None: all


def best_matches(nodes: NodeColumns, answers: Answers, demoted: int, policy: LexicalPolicy) -> Matches:
    """Every node once, best first; of equals the one with the lower id."""
    files = answers.files
    evidence = np.zeros(len(nodes.paths) + 1)  # by number of the file; the last is of no file
    evidence[nodes.files[files.rows]] = files.scores
    evidence[NO_FILE] = 0.0
    found = []
    for matches, factor in ((answers.exact, EXACT_BONUS), (answers.words, 1.0)):
        if len(matches.rows):
            found.append(Matches(matches.rows, _scores(nodes, matches, evidence, demoted, policy) * factor))
    if answers.shown is not None:
        files = Matches(files.rows[answers.shown], files.scores[answers.shown])
    if len(files.rows):
        lower = (nodes.flags[files.rows] & demoted) != 0
        found.append(Matches(files.rows, np.where(lower, files.scores * policy.demotion, files.scores)))
    return _merged(found)


def _scores(nodes: NodeColumns, matches: Matches, evidence: Scores, demoted: int, policy: LexicalPolicy) -> Scores:
    """A node's own match relative to the best, its file's evidence and next best node, then what its kind costs."""
    rows, scores = matches
    own = scores * (policy.node_match / scores[0] if scores[0] > 0 else 0.0)
    files, kinds = nodes.files[rows], nodes.kinds[rows]
    seconds = _seconds(files)
    with_seconds = files[seconds]  # each once
    before = evidence[with_seconds]
    evidence[with_seconds] += own[seconds] * policy.second_match
    own[kinds == _VARIABLE] *= policy.variable
    own += evidence[files]
    evidence[with_seconds] = before
    own[kinds == _EXTERNAL] *= policy.external
    if demoted:
        own[(nodes.flags[rows] & demoted) != 0] *= policy.demotion
    return own


def _seconds(files: NDArray[np.int32]) -> Rows:
    """The place of every file's second node in a list, for those that have one."""
    ordered, places = in_order(files)
    is_next = ordered[1:] == ordered[:-1]  # of the file that the node before it is of
    is_second = is_next.copy()
    is_second[1:] &= ~is_next[:-1]
    seconds: Rows = places[1:][is_second]
    return seconds


def _merged(found: Sequence[Matches]) -> Matches:
    """One list of them all. What is in several counts as it does in the first."""
    if not found:
        return NO_MATCHES
    rows, scores = map(np.concatenate, zip(*found, strict=True)) if len(found) > 1 else found[0]
    rows, places = in_order(rows)
    first = np.empty(len(rows), np.bool_)
    first[:1] = True
    np.not_equal(rows[1:], rows[:-1], out=first[1:])
    return Matches(*best_first(rows[first], scores[places[first]]))


NO_MATCHES: Final = Matches(np.empty(0, np.int64), np.empty(0))
