"""A request is refused at once, with its field, its value and what is allowed, or it is valid for good."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from ctxsearch.search.errors import InvalidArgument
from ctxsearch.search.query import (
    Content,
    Expansion,
    ExpansionKind,
    Mode,
    SearchQuery,
    Signal,
    Weights,
    parse_member,
)
from ctxsearch.search.scope import Scope


def refused(field: str, **request: Any) -> InvalidArgument:
    """The error that a request raises; it must name the field."""
    with pytest.raises(InvalidArgument) as caught:
        SearchQuery(**request)
    assert caught.value.field == field
    assert caught.value.allowed in str(caught.value)
    assert field in str(caught.value)
    return caught.value


def test_defaults_are_those_of_the_contract() -> None:
    query = SearchQuery(text="x")
    assert (query.mode, query.k, query.min_score, query.content) == (Mode.HYBRID, 20, 0.0, Content.SNIPPET)
    assert query.signal_weights() == {Signal.BM25: 1.0, Signal.SEMANTIC: 0.8, Signal.FUZZY: 0.0}
    assert query.freshness_floor is None
    assert (query.max_tokens, query.min_generation, query.max_wait) == (None, None, 0)
    assert not query.explain


def test_graph_is_weighed_only_when_expansion_is_asked_for() -> None:
    query = SearchQuery(text="x", expansion=Expansion(ExpansionKind.CALLERS))
    assert query.signal_weights()[Signal.GRAPH] == 0.6


def test_a_weight_left_out_keeps_its_default() -> None:
    weights = SearchQuery(text="x", weights=Weights(semantic=3)).signal_weights()
    assert weights == {Signal.BM25: 1.0, Signal.SEMANTIC: 3.0, Signal.FUZZY: 0.0}


def test_weights_have_no_cap_on_their_sum() -> None:
    assert SearchQuery(text="x", weights=Weights(bm25=1e6, semantic=1e6)).signal_weights()[Signal.BM25] == 1e6


def test_fuzzy_mode_needs_no_weight_spelled_out() -> None:
    assert SearchQuery(text="x", mode=Mode.FUZZY).signal_weights() == {Signal.FUZZY: 1.0}


@pytest.mark.parametrize("text", ["", "   ", "\n\t"])
def test_neither_text_nor_embedding_is_refused(text: str) -> None:
    refused("text", text=text)


@pytest.mark.parametrize("mode", [Mode.KEYWORD, Mode.FUZZY])
def test_keyword_and_fuzzy_need_text_even_with_an_embedding(mode: Mode) -> None:
    assert str(mode) in refused("text", mode=mode, embedding=(1.0,)).allowed


def test_an_embedding_alone_is_enough_for_hybrid_and_semantic() -> None:
    assert SearchQuery(embedding=(1.0, 0.0)).signal_weights() == {Signal.SEMANTIC: 0.8}
    assert SearchQuery(embedding=(1.0,), mode=Mode.SEMANTIC).signal_weights() == {Signal.SEMANTIC: 0.8}


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf"), "1", True])
def test_an_embedding_of_anything_but_finite_numbers_is_refused(bad: Any) -> None:
    refused("embedding", text="x", embedding=(0.5, bad))


def test_an_empty_embedding_is_refused() -> None:
    refused("embedding", embedding=())


def test_an_embedding_of_another_dimension_is_refused_with_both_numbers() -> None:
    with pytest.raises(InvalidArgument, match=r"embedding: '3 numbers'.*exactly 256"):
        SearchQuery(embedding=(1.0, 2.0, 3.0)).check_dimension(256)
    SearchQuery(text="no embedding").check_dimension(256)


@pytest.mark.parametrize("bad", [-0.1, float("nan"), float("inf"), "1", True])
@pytest.mark.parametrize("signal", list(Signal))
def test_a_negative_or_infinite_weight_is_refused(signal: Signal, bad: Any) -> None:
    with pytest.raises(InvalidArgument, match=rf"weights\.{signal}"):
        Weights(**{signal.value: bad})


@pytest.mark.parametrize(
    ("mode", "weights"),
    [
        (Mode.HYBRID, Weights(bm25=0, semantic=0)),
        (Mode.KEYWORD, Weights(bm25=0)),
        (Mode.SEMANTIC, Weights(semantic=0)),
        (Mode.FUZZY, Weights(fuzzy=0)),
    ],
)
def test_all_weights_of_the_mode_zero_is_refused(mode: Mode, weights: Weights) -> None:
    refused("weights", text="x", mode=mode, weights=weights)


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.KEYWORD])
def test_the_graph_alone_cannot_vote_since_it_starts_from_the_others(mode: Mode) -> None:
    with pytest.raises(InvalidArgument, match="weights"):
        SearchQuery(
            text="x",
            mode=mode,
            weights=Weights(bm25=0.0, semantic=0.0, graph=1.0),
            expansion=Expansion(ExpansionKind.CALLERS),
        )


def test_a_zero_weight_of_a_signal_that_does_not_run_is_fine() -> None:
    SearchQuery(text="x", mode=Mode.KEYWORD, weights=Weights(semantic=0, graph=0, fuzzy=0))


@pytest.mark.parametrize("k", [0, -1, 201, 1.5, True, "20"])
def test_k_out_of_bounds_is_refused(k: Any) -> None:
    assert refused("k", text="x", k=k).allowed == "a whole number from 1 to 200"


@pytest.mark.parametrize("depth", [0, 5, -1, 1.0])
@pytest.mark.parametrize("kind", list(ExpansionKind))
def test_depth_and_radius_out_of_bounds_are_refused(kind: ExpansionKind, depth: Any) -> None:
    name = "radius" if kind is ExpansionKind.RELATED else "depth"
    with pytest.raises(InvalidArgument, match=rf"expansion\.{kind}\.{name}: .* from 1 to 4"):
        Expansion(kind, depth)


def test_text_is_limited_in_bytes_not_characters() -> None:
    SearchQuery(text="é" * 4096)
    assert "8194 bytes" in str(refused("text", text="é" * 4097))


@pytest.mark.parametrize(
    ("field", "request_fields"),
    [
        ("mode", {"mode": "HYBRID"}),
        ("content", {"content": "ALL"}),
        ("freshness_floor", {"freshness_floor": 3}),
        ("expansion", {"expansion": "callers"}),
        ("scope", {"scope": "src"}),
        ("weights", {"weights": {"bm25": 1}}),
        ("text", {"text": b"x"}),
        ("min_score", {"min_score": 1.5}),
        ("min_score", {"min_score": float("nan")}),
        ("max_tokens", {"max_tokens": 0}),
        ("min_generation", {"min_generation": -1}),
        ("max_wait", {"max_wait": -1.0}),
    ],
)
def test_an_unknown_value_is_refused(field: str, request_fields: dict[str, Any]) -> None:
    refused(field, **{"text": "x", **request_fields})


def test_an_unknown_expansion_kind_is_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"expansion\.kind.*CALLERS, DEPENDENCIES, RELATED"):
        Expansion("callers")  # type: ignore[arg-type]


def test_members_are_parsed_in_any_case_and_unknown_ones_listed() -> None:
    assert parse_member("mode", "Keyword", Mode) is Mode.KEYWORD
    with pytest.raises(InvalidArgument, match="HYBRID, KEYWORD, SEMANTIC, FUZZY"):
        parse_member("mode", "regex", Mode)


def test_a_request_cannot_be_changed_after_it_was_checked() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        SearchQuery(text="x").k = 10**6  # type: ignore[misc]


@pytest.mark.parametrize(("k", "pool"), [(1, 100), (20, 100), (21, 105), (200, 1000)])
def test_pools_are_deep(k: int, pool: int) -> None:
    assert SearchQuery(text="x", k=k).pool == pool


def test_a_long_value_is_shortened_in_the_message() -> None:
    with pytest.raises(InvalidArgument) as caught:
        Scope(paths=("[" * 500,))
    assert len(str(caught.value)) < 250
