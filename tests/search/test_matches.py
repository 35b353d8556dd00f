"""What matches of full text are worth: in columns, and the same as one node after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from search_samples import columns, document

from ctxsearch.graph.model import NodeDocument, NodeFlag, NodeKind
from ctxsearch.search.matches import Answers, LexicalPolicy, best_matches
from ctxsearch.search.steps import EXACT_BONUS

POLICY = LexicalPolicy()
KINDS = (NodeKind.FUNCTION, NodeKind.VARIABLE, NodeKind.EXTERNAL)


def _node(number: int, file: int) -> NodeDocument:
    """Every third a test; nodes of file 0 stand in none."""
    flags = NodeFlag.TEST if number % 3 == 0 else NodeFlag.NONE
    return document(f"n{number}", path=f"{file}.py" if file else "", kind=KINDS[number % len(KINDS)], flags=flags)


def _files(count: int) -> list[NodeDocument]:
    return [document(f"{file}.py", path=f"{file}.py", kind=NodeKind.MODULE) for file in range(1, count + 1)]


def _one_by_one(
    nodes: list[NodeDocument], words: dict[int, float], files: dict[int, float], exact: dict[int, float], demoted: int
) -> dict[int, float]:
    """The worth of every node by its number among `nodes`, as the policy says it."""
    own_files = {one.node.path: place for place, one in enumerate(nodes) if one.node.kind is NodeKind.MODULE}
    found: dict[int, float] = {}
    for matches, factor in ((exact, EXACT_BONUS), (words, 1.0)):
        by_file: dict[str, list[float]] = {}
        for place, score in matches.items():
            by_file.setdefault(nodes[place].node.path, []).append(score)
        for place, score in matches.items():
            node = nodes[place].node
            share = POLICY.node_match / max(matches.values())
            second = by_file[node.path][1] * share if len(by_file[node.path]) > 1 else 0.0
            around = second * POLICY.second_match + files.get(own_files.get(node.path, -1), 0.0)
            worth = score * share * (POLICY.variable if node.kind is NodeKind.VARIABLE else 1.0) + around
            worth *= POLICY.external if node.kind is NodeKind.EXTERNAL else 1.0
            worth *= POLICY.demotion if node.flags & demoted else 1.0
            found.setdefault(place, worth * factor)
    for place, score in files.items():
        found.setdefault(place, score * (POLICY.demotion if nodes[place].node.flags & demoted else 1.0))
    return found


@st.composite
def _queries(draw: st.DrawFn) -> tuple[list[NodeDocument], dict[int, float], dict[int, float], dict[int, float], int]:
    files = draw(st.integers(1, 4))
    nodes = [_node(number, draw(st.integers(0, files))) for number in range(draw(st.integers(1, 20)))] + _files(files)
    scores = st.floats(0.5, 9.0).map(lambda score: round(score, 1))  # some of them the same

    def matches(places: range) -> dict[int, float]:
        found = draw(st.dictionaries(st.sampled_from(places), scores, max_size=len(places)))
        return dict(sorted(found.items(), key=lambda item: -item[1]))

    return (
        nodes,
        matches(range(len(nodes))),
        matches(range(len(nodes) - files, len(nodes))),
        matches(range(len(nodes) - files)),
        draw(st.sampled_from((0, int(NodeFlag.TEST)))),
    )


@settings(max_examples=200, deadline=None)
@given(_queries())
def test_in_columns_everything_is_worth_what_it_is_worth_one_by_one(
    query: tuple[list[NodeDocument], dict[int, float], dict[int, float], dict[int, float], int],
) -> None:
    nodes, words, files, exact, demoted = query
    known = columns(*nodes)
    rows = known.rows(np.array([int(one.node.id, 16) for one in nodes], np.uint64))

    places = [*exact, *words, *files]
    scores = np.array([*exact.values(), *words.values(), *files.values()], np.float64)
    answers = Answers(rows[np.array(places, np.int64)], scores, len(exact), len(words))
    best = best_matches(known, answers, demoted, POLICY)
    expected = {int(rows[place]): worth for place, worth in _one_by_one(nodes, words, files, exact, demoted).items()}
    assert dict(zip(best.rows.tolist(), best.scores.tolist(), strict=True)) == pytest.approx(expected)
    assert len(best.rows) == len(expected), "every node once"
    falling = list(zip((-best.scores).tolist(), best.rows.tolist(), strict=True))
    assert falling == sorted(falling), "best first, of equals the lower id"


def test_files_that_may_not_be_shown_still_speak_for_their_nodes() -> None:
    one, file = document("alpha", path="1.py"), _files(1)[0]
    known = columns(one, file)
    rows = known.rows(np.array([int(each.node.id, 16) for each in (one, file)], np.uint64))
    answers = Answers(rows, np.array([2.0, 0.7]), exact=0, words=1, shown=np.zeros(1, np.bool_))
    best = best_matches(known, answers, 0, POLICY)
    assert best.rows.tolist() == rows[:1].tolist()
    assert best.scores.tolist() == pytest.approx([POLICY.node_match + 0.7])
