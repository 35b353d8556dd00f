"""The laws of fusion, as properties over random lists, and the order that follows."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxsearch.search.query import Signal
from ctxsearch.search.ranking import (
    Ballot,
    Fusion,
    Placed,
    RankedList,
    exact_on_top,
    fuse,
    joined,
    no_penalties,
    order,
    rank_score,
)

KEYS = st.sampled_from([f"n{number:02d}" for number in range(30)])
LISTS = st.lists(KEYS, max_size=25, unique=True)
WEIGHT = st.floats(0.01, 100.0)
WEIGHTS = st.fixed_dictionaries(dict.fromkeys(Signal, WEIGHT))


def ranked(signal: Signal, keys: list[str]) -> RankedList[str]:
    return RankedList.of(signal, [(key, 100.0 - position) for position, key in enumerate(keys)])


def anywhere(key: str) -> Placed:
    return "", 0, key


def ordered(lists: list[RankedList[str]], weights: Mapping[Signal, float]) -> list[str]:
    fusion = fuse(lists, weights)
    return [one.key for one in order(fusion, fusion.scores, None, anywhere, 0.0, 1000)]


@given(LISTS, WEIGHT, st.sampled_from(list(Signal)))
def test_one_list_comes_back_as_itself(keys: list[str], weight: float, signal: Signal) -> None:
    assert ordered([ranked(signal, keys)], {signal: weight}) == keys


@given(st.lists(LISTS, min_size=4, max_size=4), WEIGHTS)
def test_the_order_of_lists_does_not_matter(lists: list[list[str]], weights: dict[Signal, float]) -> None:
    made = [ranked(signal, keys) for signal, keys in zip(Signal, lists, strict=True)]
    answers = {tuple(sorted(fuse(some, weights).scores.items())) for some in itertools.permutations(made)}
    assert len(answers) == 1


@given(st.lists(LISTS, min_size=4, max_size=4), WEIGHTS)
def test_a_list_that_joins_later_counts_as_if_it_had_been_there(
    lists: list[list[str]], weights: dict[Signal, float]
) -> None:
    made = {signal: ranked(signal, keys) for signal, keys in zip(Signal, lists, strict=True)}
    together = fuse(made.values(), weights)
    late = made.pop(Signal.GRAPH)
    one_by_one = joined(fuse(made.values(), weights, room_for=Signal.GRAPH), late, weights)
    assert one_by_one.scores == pytest.approx(together.scores)
    assert one_by_one.ballots == together.ballots


@given(LISTS, LISTS, WEIGHTS, st.data())
def test_moving_up_in_one_list_never_moves_down_in_the_answer(
    first: list[str], second: list[str], weights: dict[Signal, float], data: st.DataObject
) -> None:
    if len(first) < 2:
        return
    position = data.draw(st.integers(1, len(first) - 1))
    moved = first[position]
    better = [*first]
    better.insert(position - 1, better.pop(position))
    other = ranked(Signal.SEMANTIC, second)
    before = ordered([ranked(Signal.BM25, first), other], weights).index(moved)
    after = ordered([ranked(Signal.BM25, better), other], weights).index(moved)
    assert after <= before


@given(st.lists(KEYS, max_size=40), LISTS, WEIGHTS)
def test_no_id_twice_and_a_repeat_counts_once_at_its_best_rank(
    repeated: list[str], other: list[str], weights: dict[Signal, float]
) -> None:
    answer = ordered([ranked(Signal.BM25, repeated), ranked(Signal.SEMANTIC, other)], weights)
    assert len(answer) == len(set(answer))
    votes = fuse([ranked(Signal.BM25, repeated)], {Signal.BM25: 1.0})
    assert all(votes.votes(key)[Signal.BM25].rank == repeated.index(key) + 1 for key in repeated)


@given(st.lists(LISTS, min_size=4, max_size=4), WEIGHTS)
def test_scores_are_between_zero_and_one(lists: list[list[str]], weights: dict[Signal, float]) -> None:
    made = [ranked(signal, keys) for signal, keys in zip(Signal, lists, strict=True)]
    assert all(0.0 < score <= 1.0 for score in fuse(made, weights).scores.values())


@given(LISTS, LISTS, WEIGHTS, st.floats(0.001, 1000.0))
def test_scaling_all_weights_changes_nothing(
    first: list[str], second: list[str], weights: dict[Signal, float], scale: float
) -> None:
    made = [ranked(Signal.BM25, first), ranked(Signal.SEMANTIC, second)]
    scaled = {signal: weight * scale for signal, weight in weights.items()}
    for key, score in fuse(made, weights).scores.items():
        assert math.isclose(score, fuse(made, scaled).scores[key], rel_tol=1e-9)


def test_the_formula_is_that_of_the_contract() -> None:
    weights = {Signal.BM25: 1.0, Signal.SEMANTIC: 0.8}
    made = [ranked(Signal.BM25, ["a", "b"]), ranked(Signal.SEMANTIC, ["b", "c"])]
    fused = fuse(made, weights)
    norm = 1.8 / 61
    assert fused.scores["a"] == pytest.approx((1.0 / 61) / norm)
    assert fused.scores["b"] == pytest.approx((1.0 / 62 + 0.8 / 61) / norm)
    assert fused.scores["c"] == pytest.approx((0.8 / 62) / norm)
    assert fused.votes("b")[Signal.SEMANTIC].contribution == pytest.approx(0.8 / 1.8)


def test_first_in_both_lists_beats_first_in_one_because_absence_gives_nothing() -> None:
    fused = fuse([ranked(Signal.BM25, ["a"]), ranked(Signal.SEMANTIC, ["a"])], {Signal.BM25: 1, Signal.SEMANTIC: 1})
    assert fused.scores["a"] == 1.0
    alone = fuse([ranked(Signal.BM25, ["a"]), ranked(Signal.SEMANTIC, ["b"])], {Signal.BM25: 1, Signal.SEMANTIC: 1})
    assert alone.scores["a"] == 0.5
    assert Signal.SEMANTIC not in alone.votes("a")


def test_the_best_result_is_not_forced_to_one_when_a_signal_ran_and_found_nothing() -> None:
    fused = fuse([ranked(Signal.BM25, ["a"]), ranked(Signal.SEMANTIC, [])], {Signal.BM25: 1.0, Signal.SEMANTIC: 1.0})
    assert fused.scores["a"] == 0.5


def test_a_signal_that_did_not_run_is_not_in_the_norm() -> None:
    fused = fuse([ranked(Signal.BM25, ["a"])], {Signal.BM25: 1.0, Signal.SEMANTIC: 1.0})
    assert fused.scores["a"] == 1.0


def test_a_signal_of_weight_zero_neither_votes_nor_dilutes() -> None:
    fused = fuse([ranked(Signal.BM25, ["a"]), ranked(Signal.FUZZY, ["b"])], {Signal.BM25: 1.0, Signal.FUZZY: 0.0})
    assert set(fused.scores) == {"a"}
    assert fused.scores["a"] == 1.0


def test_rank_scores() -> None:
    assert rank_score(1) == 1.0
    assert rank_score(62) == 61 / 122
    assert rank_score(0) == 0.0


def fusion_of(scores: Mapping[str, float], **raw: Mapping[str, float]) -> Fusion[str]:
    """Nodes with given scores; `raw` says which signals found which, and what they scored them."""
    lists = [RankedList.of(Signal(name), list(hits.items())) for name, hits in raw.items()]
    return Fusion(scores, tuple(Ballot(one, 0.0, [0.0] * len(one.keys)) for one in lists))


def each(penalty: Callable[[str], float]) -> Callable[[Sequence[str]], list[float]]:
    return lambda keys: [penalty(key) for key in keys]


def test_the_penalty_is_applied_before_the_sort_and_the_cut() -> None:
    penalties = {"old": 0.5, "new": 1.0, "newer": 1.0}
    fusion = fusion_of({"old": 0.9, "new": 0.6, "newer": 0.5})
    answer = order(fusion, fusion.scores, each(penalties.__getitem__), anywhere, 0.0, 2)
    assert [(one.key, one.score) for one in answer] == [("new", 0.6), ("newer", 0.5)]


def order_with_exact(penalties: Mapping[str, float], exact: set[str]) -> list[str]:
    hits = [(key, 1000.0 if key in exact else 1.0) for key in "abcdefghij"]
    fusion = fuse([RankedList.of(Signal.BM25, hits)], {Signal.BM25: 1.0})
    lowered = exact_on_top(fusion, fusion.scores, each(penalties.__getitem__), 100.0)
    return [one.key for one in order(lowered, fusion.scores, each(penalties.__getitem__), anywhere, 0.0, 10)]


def test_no_penalty_puts_another_node_before_the_symbol_that_the_query_spells() -> None:
    others = dict.fromkeys("bcdefghij", 1.0)
    for penalty in (1.0, 0.9, 0.7, 0.5):
        assert order_with_exact({"a": penalty, **others}, {"a"}) == list("abcdefghij")
        assert order_with_exact({"a": penalty, **others}, set())[0] == ("a" if penalty == 1.0 else "b")
    assert order_with_exact({"a": 0.5, "b": 0.9, **dict.fromkeys("cdefghij", 1.0)}, {"a", "b"})[:3] == [
        "b",
        "c",
        "d",
    ], "of two symbols so called the fresher one stays on top"


def test_what_was_before_an_exact_symbol_without_a_penalty_stays_there() -> None:
    assert order_with_exact(dict.fromkeys("abcdefghij", 0.9), {"c"}) == list("abcdefghij")
    assert order_with_exact({**dict.fromkeys("abdefghij", 1.0), "c": 0.5}, {"c"}) == list("abcdefghij")


def test_what_the_graph_adds_puts_no_other_node_before_the_symbol_that_the_query_spells() -> None:
    weights = {Signal.BM25: 1.0, Signal.GRAPH: 1.0}
    text = RankedList.of(Signal.BM25, [("before", 2000.0), ("a", 1000.0), ("b", 1.0), ("c", 0.5)])
    by_text = fuse([text], weights, room_for=Signal.GRAPH)
    fusion = joined(by_text, RankedList.of(Signal.GRAPH, [("c", 1.0), ("d", 1.0), ("b", 0.5)]), weights)
    assert max(fusion.scores, key=fusion.scores.__getitem__) != "a"
    known = {"a", "b", "c", "d"}
    topped = exact_on_top(fusion, known, no_penalties, 100.0, by_text)
    plain = order(fusion, known, None, anywhere, 0.0, 10)
    ranked = [one.key for one in order(topped, known, None, anywhere, 0.0, 10)]
    assert ranked == ["a", *(one.key for one in plain if one.key != "a")], "the others keep their order"


def test_few_nodes_are_asked_for_their_penalty_to_keep_a_symbol_on_top() -> None:
    keys = [f"n{number}" for number in range(100)]
    fusion = fuse(
        [RankedList.of(Signal.BM25, [(key, 1000.0 if key == "n0" else 1.0) for key in keys])], {Signal.BM25: 1.0}
    )
    asked: list[str] = []

    def penalty(key: str) -> float:
        asked.append(key)
        return 1.0

    assert exact_on_top(fusion, keys, each(penalty), 100.0) is fusion
    assert set(asked) == {"n0", "n1"}, "what is below the best of the others cannot be before it"


def test_min_score_filters_what_is_shown_before_the_cut() -> None:
    fusion = fusion_of({"old": 0.9, "new": 0.6})
    answer = order(fusion, fusion.scores, each(lambda key: 0.5 if key == "old" else 1.0), anywhere, 0.5, 1)
    assert [one.key for one in answer] == ["new"]


def test_ties_go_by_signals_then_bm25_then_path_then_line_then_id() -> None:
    expected = ["best", "two", "raw-3", "id-a", "id-b", "line-9", "path-z", "no-bm25"]
    bm25 = {"id-b": 2.0, "id-a": 2.0, "line-9": 2.0, "path-z": 2.0, "raw-3": 3.0, "two": 1.0}
    fusion = fusion_of(
        {key: 0.6 if key == "best" else 0.5 for key in expected}, bm25=bm25, semantic={"two": 1, "no-bm25": 9}
    )
    places = {"path-z": ("z", 1), "line-9": ("a", 9)}
    for candidates in itertools.islice(itertools.permutations(expected), 0, 40_320, 997):
        answer = order(fusion, candidates, None, lambda key: answer_place(key, places), 0.0, 100)
        assert [one.key for one in answer] == expected


@given(st.lists(st.tuples(st.sampled_from([0.2, 0.4, 0.5]), st.integers(0, 3)), max_size=20), st.integers(1, 20))
def test_a_cut_order_is_the_beginning_of_the_whole_one(scores: list[tuple[float, int]], limit: int) -> None:
    made = {f"{place:02}": score for place, (score, _) in enumerate(scores)}
    fusion = fusion_of(made, bm25={f"{place:02}": raw for place, (_, raw) in enumerate(scores)})
    whole = order(fusion, made, None, anywhere, 0.3, 100)
    assert order(fusion, made, None, anywhere, 0.3, limit) == whole[:limit]


@given(
    st.lists(st.tuples(st.sampled_from([0.2, 0.4, 0.5, 0.9]), st.sampled_from([0.5, 0.7, 0.9, 1.0])), max_size=20),
    st.integers(1, 20),
)
def test_a_cut_order_after_penalties_is_the_beginning_of_the_whole_one(
    made: list[tuple[float, float]], limit: int
) -> None:
    fusion = fusion_of({f"{place:02}": score for place, (score, _) in enumerate(made)})
    penalties = {f"{place:02}": penalty for place, (_, penalty) in enumerate(made)}
    whole = order(fusion, fusion.scores, each(penalties.__getitem__), anywhere, 0.2, 100)
    assert order(fusion, fusion.scores, each(penalties.__getitem__), anywhere, 0.2, limit) == whole[:limit]


def test_what_cannot_be_on_the_page_is_not_asked_for_its_penalty() -> None:
    asked: set[str] = set()

    def penalty(key: str) -> float:
        asked.add(key)
        return 0.5

    fusion = fusion_of({"first": 0.9, "second": 0.8, "near": 0.45, "far": 0.39})
    assert [one.key for one in order(fusion, fusion.scores, each(penalty), anywhere, 0.0, 2)] == ["first", "second"]
    assert asked == {"first", "second", "near"}


def answer_place(key: str, places: dict[str, tuple[str, int]]) -> Placed:
    path, line = places.get(key, ("a", 1))
    return path, line, key
