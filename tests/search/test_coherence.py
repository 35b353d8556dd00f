"""File coherence: votes for different nodes of one file add up, and nothing is lost or made up."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ctxsearch.search.coherence import cohere
from ctxsearch.search.query import Signal
from ctxsearch.search.ranking import RankedList, fuse
from ctxsearch.search.steps import EXACT_SCORE

WEIGHTS = {Signal.BM25: 1.0, Signal.SEMANTIC: 0.8}


def file_of(key: str) -> str | None:
    return key.split(":", maxsplit=1)[0] or None


def ranked(bm25: list[str], semantic: list[str]) -> dict[str, float]:
    lists = [
        RankedList.of(Signal.BM25, [(key, 1.0) for key in bm25]),
        RankedList.of(Signal.SEMANTIC, [(key, 1.0) for key in semantic]),
    ]
    found = cohere(fuse(lists, WEIGHTS), file_of).scores
    return dict(found)


def test_signals_that_agree_on_a_file_lift_it_over_one_that_a_single_signal_likes() -> None:
    scores = ranked(["a:1", "b:1"], ["c:1", "b:2"])
    assert max(scores, key=lambda key: scores[key]) in ("b:1", "b:2")


def test_a_file_far_ahead_in_one_list_is_before_one_that_both_put_far_down() -> None:
    rest = [(f"{name}:1", 0.3) for name in "defghijklm"]
    lists = [
        RankedList.of(Signal.BM25, [("a:1", 3.0), *rest, ("b:1", 0.2), ("z:1", 0.1)]),
        RankedList.of(Signal.SEMANTIC, [(key.upper(), score) for key, score in rest] + [("b:2", 0.2), ("z:2", 0.1)]),
    ]
    fused = fuse(lists, WEIGHTS)
    found = cohere(fused, file_of).scores
    assert found["a:1"] > found["b:1"]
    assert max(found.values()) < 1.0, "the best file of a query is not forced to one"


def test_the_next_node_of_a_file_stands_behind_its_best() -> None:
    scores = ranked(["a:1", "a:2"], ["a:1", "a:2"])
    assert scores["a:1"] > scores["a:2"] > 0


def test_an_exact_symbol_is_what_its_file_shows_first() -> None:
    lists = [
        RankedList.of(Signal.BM25, [("a:symbol", 2 * EXACT_SCORE), ("a:other", 1.0)]),
        RankedList.of(Signal.SEMANTIC, [("b:1", 1.0), ("a:other", 0.9)]),
    ]
    found = cohere(fuse(lists, WEIGHTS), file_of).scores
    assert max(found, key=lambda key: found[key]) == "a:symbol"


def test_exact_symbols_of_a_file_keep_the_order_of_full_text_whatever_the_vectors_say() -> None:
    lists = [
        RankedList.of(Signal.BM25, [("a:class", 3 * EXACT_SCORE), ("a:constructor", 2 * EXACT_SCORE)]),
        RankedList.of(Signal.SEMANTIC, [("a:constructor", 1.0), ("b:1", 0.9), ("a:class", 0.1)]),
    ]
    found = cohere(fuse(lists, WEIGHTS), file_of).scores
    assert found["a:class"] > found["a:constructor"]


def test_other_definitions_of_the_spelled_symbol_stand_before_what_is_only_near() -> None:
    exact = [(f"a:{number}", (9 - number) * EXACT_SCORE) for number in range(5)]
    lists = [
        RankedList.of(Signal.BM25, [*exact, ("b:1", 1.0), ("a:other", 0.5)]),
        RankedList.of(Signal.SEMANTIC, [("c:1", 1.0), ("a:other", 0.9), ("d:1", 0.1)]),
    ]
    found = cohere(fuse(lists, WEIGHTS), file_of).scores
    assert sorted(found, key=lambda key: -found[key])[:5] == [key for key, _ in exact]


def test_a_file_first_in_both_lists_scores_one() -> None:
    assert ranked(["a:1"], ["a:2"])["a:1"] == 1.0


def test_one_text_signal_alone_is_left_as_it_is() -> None:
    lists = [RankedList.of(Signal.BM25, [("a:1", 1.0), ("a:2", 1.0)])]
    fused = fuse(lists, WEIGHTS)
    assert cohere(fused, file_of) == fused


keys = st.lists(st.tuples(st.sampled_from(["a", "b", "c", ""]), st.integers(0, 4)).map(lambda x: f"{x[0]}:{x[1]}"))


@given(bm25=keys, semantic=keys)
def test_no_node_appears_or_disappears_and_scores_stay_in_bounds(bm25: list[str], semantic: list[str]) -> None:
    scores = ranked(bm25, semantic)
    assert set(scores) == {*bm25, *semantic}
    assert all(0.0 <= score <= 1.0 for score in scores.values())
