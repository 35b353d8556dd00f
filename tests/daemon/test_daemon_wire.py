"""Domain values cross the wire and come back; every error has its row."""

from __future__ import annotations

import inspect
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2
from hypothesis import given
from hypothesis import strategies as st

from ctxsearch.daemon import errors, show, wire
from ctxsearch.graph.errors import CtxsearchError
from ctxsearch.graph.freshness import Freshness
from ctxsearch.graph.model import CodeNode, NodeFlag, NodeId, NodeKind
from ctxsearch.search import errors as search_errors
from ctxsearch.search.query import Content, Expansion, ExpansionKind, Mode, SearchQuery, Signal, Weights
from ctxsearch.search.results import Guidance, SearchResponse, SignalReport
from ctxsearch.search.scope import Scope
from ctxsearch.v1 import node_pb2, search_pb2

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20).filter(str.strip)
weights = st.none() | st.floats(0, 100)
names = st.lists(words, max_size=3).map(tuple)
paths = st.lists(st.sampled_from(["src/", "a/b.py", "**/*.go", "*_test.py"]), max_size=3).map(tuple)
kinds = st.lists(st.sampled_from(NodeKind), max_size=3).map(tuple)

scopes = st.builds(
    Scope,
    repositories=names,
    paths=paths,
    languages=names,
    kinds=kinds,
    packages=names,
    exclude_repositories=names,
    exclude_paths=paths,
    exclude_languages=names,
    exclude_kinds=kinds,
    exclude_packages=names,
)
queries = st.builds(
    SearchQuery,
    text=words,
    embedding=st.none(),
    mode=st.sampled_from([Mode.HYBRID, Mode.KEYWORD]),
    weights=st.builds(Weights, bm25=st.none() | st.floats(0.1, 10), semantic=weights, graph=weights, fuzzy=weights),
    expansion=st.none() | st.builds(Expansion, st.sampled_from(ExpansionKind), st.integers(1, 4)),
    scope=scopes,
    freshness_floor=st.none() | st.sampled_from(Freshness),
    k=st.integers(1, 200),
    min_score=st.floats(0, 1),
    content=st.sampled_from(Content),
    max_tokens=st.none() | st.integers(1, 10_000),
    explain=st.booleans(),
    min_generation=st.none() | st.integers(1, 2**31 - 1),
    max_wait=st.integers(0, 3600_000).map(lambda ms: ms / 1000),
)
nodes = st.builds(
    CodeNode,
    id=st.integers(0, 2**64 - 1).map(lambda n: NodeId(f"{n:016x}")),
    kind=st.sampled_from(NodeKind),
    name=words,
    qualified_name=words,
    path=words,
    start_line=st.integers(0, 2**31 - 1),
    end_line=st.integers(0, 2**31 - 1),
    language=words,
    signature=words,
    content_hash=words,
    flags=st.integers(0, 2**15 - 1).map(NodeFlag),
    parent=st.none() | st.just(NodeId("0" * 16)),
)


@given(queries)
def test_a_query_comes_back_as_it_went(query: SearchQuery) -> None:
    message = search_pb2.ContextSearchRequest.FromString(wire.query_to_wire(query).SerializeToString())
    assert wire.query_from_wire(message, Freshness) == query


@given(nodes)
def test_a_node_comes_back_as_it_went(node: CodeNode) -> None:
    message = node_pb2.Node.FromString(wire.node_to_wire(node, "shop").SerializeToString())
    assert wire.node_from_wire(message) == node
    assert message.repository == "shop"


@given(st.floats(0, 10**9))
def test_a_duration_keeps_its_nanoseconds(value: float) -> None:
    assert wire.seconds(wire.duration(value)) == pytest.approx(value, abs=1e-8, rel=1e-12)


@given(st.text())
def test_any_text_can_be_sent(text: str) -> None:
    wire.clean(text).encode()


def test_an_empty_request_has_the_defaults_of_the_contract() -> None:
    query = wire.query_from_wire(search_pb2.ContextSearchRequest(text="x"), Freshness)
    assert query == SearchQuery(text="x")


@pytest.mark.parametrize("enum", [NodeKind, NodeFlag])
def test_every_kind_and_flag_has_its_number_on_the_wire(enum: type) -> None:
    if enum is NodeKind:
        assert {kind.name: int(kind) for kind in NodeKind} == {
            name.removeprefix("NODE_KIND_"): value for name, value in node_pb2.NodeKind.items() if value
        }
    else:
        assert {flag.name for flag in NodeFlag if flag} == {
            name.removeprefix("NODE_FLAG_") for name, value in node_pb2.NodeFlag.items() if value
        }


def listed_errors() -> list[type[CtxsearchError]]:
    modules = (errors, search_errors)
    found = [c for module in modules for _, c in inspect.getmembers(module, inspect.isclass)]
    internal = {search_errors.SearchError, search_errors.IndexCorrupt}
    return [c for c in found if issubclass(c, CtxsearchError) and c is not CtxsearchError and c not in internal]


@pytest.mark.parametrize("error", listed_errors())
def test_every_error_of_the_daemon_has_a_row(error: type[CtxsearchError]) -> None:
    assert any(issubclass(error, kind) for kind, _, _ in wire.ERROR_TABLE)


def test_every_field_that_an_error_is_translated_to_is_one_of_the_request() -> None:
    for field in wire.REQUEST_FIELDS.values():
        message = search_pb2.ContextSearchRequest.DESCRIPTOR
        *messages, last = field.split(".")
        for name in messages:
            inner = message.fields_by_name[name].message_type
            assert inner is not None
            message = inner
        assert last in message.fields_by_name, field


@pytest.mark.parametrize(
    ("request_fields", "named"),
    [
        *(
            ({"scope": {side: {field: [""]}}}, f"scope.{side}.{field}")
            for side in ("include", "exclude")
            for field in ("repositories", "paths", "languages", "modules")
        ),
        ({"scope": {"include": {"kinds": [99]}}}, "scope.include.kinds"),
        ({"scope": {"exclude": {"kinds": [1] * 101}}}, "scope.exclude.kinds"),
        ({"scope": {"exclude": {"paths": ["[a"]}}}, "scope.exclude.paths"),
        ({"callers": {"depth": 5}}, "callers.depth"),
        ({"dependencies": {"depth": 0}}, "dependencies.depth"),
        ({"related": {"radius": 9}}, "related.radius"),
        ({"weights": {"bm25": -1}}, "weights.bm25"),
        ({"k": 0}, "k"),
    ],
)
def test_an_error_names_the_field_as_the_request_does(request_fields: dict[str, Any], named: str) -> None:
    request = search_pb2.ContextSearchRequest(text="x", **request_fields)
    with pytest.raises(search_errors.InvalidArgument) as caught:
        wire.query_from_wire(request, Freshness)
    assert wire.error_to_status(caught.value, "id").message.startswith(f"{named}: ")


def test_an_error_carries_its_reason_and_its_facts() -> None:
    status = wire.error_to_status(errors.AmbiguousSymbolError("f", ["a.f (a.py:1, 00)", "b.f (b.py:2, 01)"], 2), "id")
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    assert (info.reason, info.domain) == ("AMBIGUOUS_SYMBOL", "ctxsearch.v1")
    assert info.metadata["candidates"].split("\n") == ["a.f (a.py:1, 00)", "b.f (b.py:2, 01)"]


def test_an_error_fits_into_headers_whatever_a_caller_or_a_file_name_brought() -> None:
    error = errors.AmbiguousSymbolError("x" * 900_000, ["a (caf\udce9.py:1, 0123)"] * 500, 500)
    status = wire.error_to_status(error, "id")
    assert status.message.startswith("'xxx")
    assert status.message.endswith("...")
    assert status.ByteSize() < 3000


def test_an_unexpected_error_shows_only_where_to_look() -> None:
    status = wire.error_to_status(RuntimeError("/home/ada/secret went wrong"), "abc123")
    assert status.code == grpc.StatusCode.INTERNAL.value[0]
    assert "secret" not in status.message
    assert "abc123" in status.message


@pytest.mark.parametrize(
    ("guidance", "said"),
    [
        (
            Guidance("app", outside_scope=100, at_least=True),
            "at least 100 matches are outside the scope; widen --scope",
        ),
        (Guidance("app", outside_scope=7), "7 matches are outside the scope; widen --scope"),
        (Guidance("app", below_floor=1), "1 match is below the freshness floor; lower --floor"),
        (Guidance("app", below_min_score=2, at_least=True), "2 matches are below the score floor; lower --min-score"),
    ],
)
def test_guidance_says_whether_a_number_is_a_count_or_a_bound(guidance: Guidance, said: str) -> None:
    assert wire.guidance_lines(guidance) == ["searched: app", said]


def test_names_that_have_commas_are_told_apart() -> None:
    heading = "Install, run, test"
    message = search_pb2.ContextSearchResponse(suggestions=[heading, "install"])
    assert list(show.notes(message)) == ["  did you mean: 'Install, run, test', 'install'"]
    error = errors.UnknownNodeError("instal", [heading, "install"])
    assert str(error) == "no node 'instal'; did you mean 'Install, run, test', 'install'?"


@pytest.mark.parametrize("truncated", [False, True])
def test_a_list_of_the_graph_that_was_cut_at_hubs_says_so_when_explained(truncated: bool) -> None:
    report = SignalReport(Signal.GRAPH, 0.6, True, 200, 1.5, truncated=truncated)
    message = wire.response_to_wire(SearchResponse(results=(), signals=(report,), indexed=()))
    assert [one.truncated for one in message.signals] == [truncated]
    assert not message.degraded
    (line,) = (line for line in show.results(message, explain=True) if line.startswith("graph"))
    assert ("200 candidates, cut short" in line) is truncated
    assert not any("cut short" in line for line in show.results(message, explain=False))
