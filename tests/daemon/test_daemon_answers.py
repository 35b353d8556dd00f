"""What the daemon answers, over a real socket from a real process, about a real index."""

from __future__ import annotations

from pathlib import Path

import grpc
import pytest
from daemon_project import Served, add_and_wait, cli, make_project, names, search
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc

from ctxsearch.daemon.client import DaemonError, connect
from ctxsearch.daemon.session import Session
from ctxsearch.v1 import graph_pb2, node_pb2, repository_pb2, search_pb2


def symbol(served: Served, text: str) -> node_pb2.NodeSelector:
    return node_pb2.NodeSelector(repository=served.name, symbol=text)


def reached(response: object) -> list[str]:
    return [item.node.name for item in response.reached]  # type: ignore[attr-defined]


def test_a_hybrid_search_finds_code_by_meaning_and_words(served: Served) -> None:
    response = search(served.session, "wait longer after each failure", served.name)
    assert "retry_with_backoff" in names(response)[:3]
    assert {report.signal for report in response.signals if not report.failure} >= {
        search_pb2.SIGNAL_BM25,
        search_pb2.SIGNAL_SEMANTIC,
    }
    assert not response.degraded


@pytest.mark.parametrize("mode", ["KEYWORD", "SEMANTIC", "FUZZY"])
def test_every_signal_alone_contributes_a_result(served: Served, mode: str) -> None:
    text = "aply_discout" if mode == "FUZZY" else "apply discount"
    response = search(served.session, text, served.name, mode=f"SEARCH_MODE_{mode}")
    assert "apply_discount" in names(response)
    flag = {"KEYWORD": "matched_bm25", "SEMANTIC": "matched_semantic", "FUZZY": "matched_fuzzy"}[mode]
    assert all(getattr(result, flag) for result in response.results)


def test_graph_expansion_brings_callers_with_their_distance(served: Served) -> None:
    request = search_pb2.ContextSearchRequest(text="apply_discount", mode=search_pb2.SEARCH_MODE_KEYWORD, k=50)
    request.callers.depth = 2
    request.scope.include.repositories.append(served.name)
    by_name = {result.node.name: result for result in served.session.search(request).results}
    assert by_name["total_price"].distance_in_graph == 1
    far = by_name["place_order"]  # its text does not say apply_discount
    assert far.matched_graph_expansion
    assert not far.matched_bm25
    assert far.label == search_pb2.MATCH_LABEL_GRAPH
    assert len(far.graph_path) == far.distance_in_graph + 1


def test_results_carry_everything_that_the_contract_names(served: Served) -> None:
    response = search(served.session, "apply_discount", served.name, explain=True)
    best = response.results[0]
    assert (best.node.name, best.node.path, best.node.start_line) == ("apply_discount", "shop/pricing.py", 4)
    assert best.node.signature.startswith("def apply_discount")
    assert best.freshness == node_pb2.FRESHNESS_FRESH
    assert best.freshness_source == node_pb2.FRESHNESS_SOURCE_GIT
    assert len(best.last_commit_id) == 40
    assert best.freshness_reasons
    assert 0 < best.score <= 1
    assert {score.signal for score in best.signals if score.rank} >= {search_pb2.SIGNAL_BM25}
    assert "apply_discount" in best.snippet.text
    assert best.snippet.highlights
    assert response.generation > 0
    assert len(response.commit) == 40
    assert response.indexes[0].vectors_ready
    assert response.indexes[0].history_ready


def test_an_explained_answer_adds_up_and_says_what_was_done(served: Served) -> None:
    request = search_pb2.ContextSearchRequest(text="price discount", explain=True, min_score=0.5)
    request.scope.include.repositories.append(served.name)
    request.scope.include.paths.append("shop")
    request.callers.depth = 2
    response = served.session.search(request)
    for one in response.results:
        before = sum(score.contribution for score in one.signals) + sum(step.value for step in one.steps)
        assert before * one.freshness_penalty == pytest.approx(one.score, abs=1e-9)
    assert any(step.name == "file_coherence" for one in response.results for step in one.steps)
    assert "definition" in response.explanation.steps
    assert response.explanation.seeds
    assert [stage.name for stage in response.explanation.stages] == ["signals", "expansion", "fusion", "content"]
    assert response.dropped_by_scope > 0
    assert response.dropped_by_score > 0
    request.explain = False
    assert not served.session.search(request).HasField("explanation")


def test_names_are_suggested_beside_what_meaning_found(served: Served) -> None:
    response = search(served.session, "retrywithbakcoff", served.name)
    assert not response.results[0].matched_bm25
    assert "retry_with_backoff" in response.suggestions
    assert "did you mean: 'retry_with_backoff'" in cli(served.settings, served.root, "retrywithbakcoff").stdout


def test_scope_is_kept_to(served: Served) -> None:
    request = search_pb2.ContextSearchRequest(text="price")
    request.scope.include.repositories.append(served.name)
    request.scope.include.languages.append("javascript")
    found = served.session.search(request)
    assert {result.node.path for result in found.results} == {"web/format.js"}
    request.scope.include.Clear()
    request.scope.exclude.paths.append("shop/")
    assert not any(result.node.path.startswith("shop/") for result in served.session.search(request).results)


def test_the_same_question_has_the_same_answer_byte_for_byte(served: Served) -> None:
    def answer() -> bytes:
        response = search(served.session, "price", served.name)
        response.ClearField("elapsed")
        for report in response.signals:
            report.ClearField("elapsed")
        return response.SerializeToString(deterministic=True)

    assert answer() == answer()


def test_nothing_found_carries_guidance(served: Served) -> None:
    response = search(served.session, "zzyzxqq", served.name, mode="SEARCH_MODE_KEYWORD")
    assert not response.results
    assert response.guidance


@pytest.mark.parametrize(
    ("scope", "said"),
    [
        ("lang:pyhton", "no indexed file is in the language 'pyhton'; near: 'python'"),
        ("lang:go", "no indexed file is in the language 'go'; indexed: 'javascript', 'markdown', 'python', 'text'"),
        ("path:shopp/", "no indexed file has the path 'shopp/'; near: 'shop/'"),
        ("path:shop/pricng.py", "no indexed file has the path 'shop/pricng.py'; near: 'shop/pricing.py'"),
        ("path:**/*.go", "no indexed file has the path '**/*.go'"),
    ],
)
def test_a_scope_that_no_file_can_be_in_is_named(served: Served, scope: str, said: str) -> None:
    shown = cli(served.settings, served.root, "search", "apply_discount", "--scope", scope).stdout.splitlines()
    assert f"  {said}" in shown
    assert not any("did you mean" in line for line in shown), "the word is there, though out of scope"


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"text": ""}, "text"),
        ({"text": "x", "k": 0}, "k"),
        ({"text": "x", "k": 201}, "k"),
        ({"text": "x" * 9000}, "text"),
        ({"text": "x", "min_score": float("nan")}, "min_score"),
        ({"text": "x", "embedding": [1.0, 2.0]}, "embedding"),
        ({"text": "x", "mode": 77}, "mode"),
        ({"text": "x", "content": 9}, "content"),
        ({"text": "x", "freshness_floor": 9}, "freshness_floor"),
        ({"text": "x", "weights": search_pb2.SignalWeights(bm25=-1)}, "weights.bm25"),
        ({"text": "x", "callers": search_pb2.CallersExpansion(depth=5)}, "depth"),
        ({"text": "x", "related": search_pb2.RelatedExpansion(radius=0)}, "radius"),
    ],
)
def test_a_wrong_request_names_the_field(served: Served, fields: dict[str, object], named: str) -> None:
    with pytest.raises(DaemonError, match=named) as caught:
        search(served.session, **fields)  # type: ignore[arg-type]
    assert caught.value.code == "INVALID_ARGUMENT"
    assert caught.value.reason == "INVALID_REQUEST"


def test_an_unknown_repository_is_not_found(served: Served) -> None:
    with pytest.raises(DaemonError, match="no repository 'nowhere'") as caught:
        search(served.session, "x", "nowhere")
    assert (caught.value.code, caught.value.reason) == ("NOT_FOUND", "UNKNOWN_REPOSITORY")


def test_a_generation_of_the_future_is_out_of_range(served: Served) -> None:
    with pytest.raises(DaemonError, match="generation 999 is not indexed yet") as caught:
        search(served.session, "x", served.name, min_generation=999)
    assert caught.value.code == "OUT_OF_RANGE"


def test_callers_dependencies_related_and_impact(served: Served) -> None:
    graph = served.session.graph
    callers = graph("Callers", graph_pb2.CallersRequest(selector=symbol(served, "apply_discount"), depth=2))
    assert {"total_price", "place_order"} <= set(reached(callers))
    assert [item.distance for item in callers.reached] == sorted(item.distance for item in callers.reached)
    needs = graph("Dependencies", graph_pb2.DependenciesRequest(selector=symbol(served, "place_order")))
    assert "total_price" in reached(needs)
    near = graph("Related", graph_pb2.RelatedRequest(selector=symbol(served, "total_price")))
    assert {"apply_discount", "place_order"} <= set(reached(near))
    hit = graph("Impact", graph_pb2.ImpactRequest(selector=symbol(served, "apply_discount")))
    assert {"total_price", "place_order", "test_apply_discount"} <= set(reached(hit))


def test_what_a_walk_reached_comes_with_the_lines_that_say_so(served: Served) -> None:
    graph = served.session.graph
    callers = graph("Callers", graph_pb2.CallersRequest(selector=symbol(served, "apply_discount"), depth=2)).reached
    assert [(one.node.name, list(one.lines), one.line_text) for one in callers] == [
        ("total_price", [11], "return apply_discount(sum(items), percent)"),
        ("test_apply_discount", [5], "assert apply_discount(100, 10) == 90"),  # tests after the code they test
        ("place_order", [14], "return total_price(self.items, 10)"),
    ]
    needs = graph("Dependencies", graph_pb2.DependenciesRequest(selector=symbol(served, "place_order"))).reached
    assert ("total_price", [14]) in [(one.node.name, list(one.lines)) for one in needs]
    near = graph("Related", graph_pb2.RelatedRequest(selector=symbol(served, "total_price"))).reached
    lines = {one.node.name: list(one.lines) for one in near}
    assert (lines["apply_discount"], lines["place_order"]) == ([11], [14])  # the one called, the other calls


def test_a_path_leads_from_node_to_node_with_its_sites(served: Served) -> None:
    request = graph_pb2.PathRequest(to=symbol(served, "apply_discount"))
    getattr(request, "from").CopyFrom(symbol(served, "place_order"))
    answer = served.session.graph("Path", request)
    assert [node.name for node in answer.nodes] == ["place_order", "total_price", "apply_discount"]
    assert [edge.kind for edge in answer.edges] == [node_pb2.EDGE_KIND_CALLS] * 2
    assert list(answer.edges[1].lines) == [11]


def test_a_node_comes_with_text_and_neighbourhood(served: Served) -> None:
    answer = served.session.graph("GetNode", graph_pb2.GetNodeRequest(selector=symbol(served, "shop/pricing.py:5")))
    assert answer.node.name == "apply_discount"
    assert answer.body.startswith("def apply_discount")
    assert "never below zero" in answer.doc
    assert answer.caller_count == 2
    by_id = node_pb2.NodeSelector(repository=served.name, node_id=answer.node.id)
    assert served.session.graph("GetNode", graph_pb2.GetNodeRequest(selector=by_id)).node == answer.node


def test_an_unknown_symbol_lists_near_names(served: Served) -> None:
    with pytest.raises(DaemonError, match="apply_discount") as caught:
        served.session.graph("Callers", graph_pb2.CallersRequest(selector=symbol(served, "aply_discount")))
    assert (caught.value.code, caught.value.reason) == ("NOT_FOUND", "UNKNOWN_NODE")


def test_what_is_defined_is_meant_before_what_is_declared_of_it(session: Session, tmp_path: Path) -> None:
    files = {
        "app.py": "from typing import overload\n\n\n@overload\ndef parse(text: str) -> str: ...\n\n\n"
        "@overload\ndef parse(text: bytes) -> bytes: ...\n\n\ndef parse(text):\n    return text\n\n\n"
        "def run():\n    return parse('')\n",
        "include/app.h": "int size_of(int a);\nint open_it(void);\n",
        "src/app.c": '#include "app.h"\nint size_of(int a) { return a; }\n',
        "src/unix.c": "int open_it(void) { return 1; }\n",
        "src/win.c": "int open_it(void) { return 2; }\n",
    }
    name = add_and_wait(session, make_project(tmp_path / "typed", files))
    selector = node_pb2.NodeSelector(repository=name, symbol="parse")
    answer = session.graph("Callers", graph_pb2.CallersRequest(selector=selector))
    assert (answer.node.start_line, reached(answer)) == (12, ["run"])
    selector.symbol = "size_of"
    assert session.graph("GetNode", graph_pb2.GetNodeRequest(selector=selector)).node.path == "src/app.c"
    selector.symbol = "open_it"
    with pytest.raises(DaemonError, match="names 2 nodes"):
        session.graph("GetNode", graph_pb2.GetNodeRequest(selector=selector))


def test_find_nodes_pages_in_a_stable_order(served: Served) -> None:
    request = graph_pb2.FindNodesRequest(
        name="", match=graph_pb2.NAME_MATCH_PREFIX, repository=served.name, page_size=3
    )
    with pytest.raises(DaemonError, match="name"):
        served.session.graph("FindNodes", request)
    request.name = "shop"
    seen: list[str] = []
    while True:
        page = served.session.graph("FindNodes", request)
        seen += [node.id for node in page.nodes]
        if not page.next_page_token:
            break
        request.page_token = page.next_page_token
    assert len(seen) == len(set(seen)) > 3
    request.page_token = "x"
    with pytest.raises(DaemonError, match="page_token"):
        served.session.graph("FindNodes", request)


def test_an_outline_nests_in_source_order(served: Served) -> None:
    request = graph_pb2.OutlineRequest(repository=served.name, path="shop/checkout.py", include_freshness=True)
    entries = served.session.graph("Outline", request).entries
    assert [(entry.node.name, entry.depth) for entry in entries if entry.node.kind != node_pb2.NODE_KIND_VARIABLE][
        -3:
    ] == [
        ("Checkout", 1),
        ("__init__", 2),
        ("place_order", 2),
    ]
    assert all(entry.freshness.freshness == node_pb2.FRESHNESS_FRESH for entry in entries)


def test_a_file_that_is_left_out_is_named_with_the_reason(served: Served) -> None:
    request = graph_pb2.OutlineRequest(repository=served.name, path=".env")
    assert served.session.graph("Outline", request).left_out_because == "secret"
    for verb, said in (
        (("outline", ".env"), "nothing indexed at .env: it is left out (secret)"),
        (("outline", "ignored/plan.py"), "nothing indexed at ignored/plan.py: it is not there, or ignored"),
        (("node", ".env"), "no node '.env': that file is left out of the index (secret)"),
        (("node", ".env:1"), "no node '.env:1': that file is left out of the index (secret)"),
        (("freshness", "./.env"), "no node './.env': that file is left out of the index (secret)"),
    ):
        done = cli(served.settings, served.root, *verb)
        assert (done.returncode, done.stdout) == (1, "")
        assert said in done.stderr


def test_status_counts_what_is_indexed_and_what_is_not(served: Served) -> None:
    status = served.session.repository("GetStatus", repository_pb2.GetStatusRequest(repository=served.name))
    languages = {item.name: item.count for item in status.languages}
    assert languages["python"] == 5
    assert {item.name: item.count for item in status.skipped} == {"secret": 1}
    assert status.nodes > 10
    assert status.embedded_nodes > 10
    assert {part.name for part in status.sizes} >= {"catalog", "text", "vectors"}
    assert {item.name for item in status.freshness} == {"fresh", "acceptable"}  # an empty file is not stale


def test_a_dry_run_adds_nothing(served: Served) -> None:
    request = repository_pb2.AddRepositoryRequest(path=str(served.root), dry_run=True)
    answer = served.session.repository("AddRepository", request)
    assert answer.preview.files == 8
    assert [(item.path, item.reason) for item in answer.preview.skipped_examples] == [(".env", "secret")]
    assert len(served.session.repositories()) == 1


def test_a_dry_run_promises_what_indexing_keeps(session: Session, tmp_path: Path) -> None:
    files = {
        "shop/till.py": "def settle():\n    return 0\n",
        "shop/till_pb2.py": "# Code generated by protoc. DO NOT EDIT.\nx = 1\n",
        "notes/key.txt": f"-----BEGIN RSA PRIVATE KEY-----\n{'MIIEpAIBAAKCAQEA7' * 4}\n-----END RSA PRIVATE KEY-----\n",
        "web/bundle.js": f"var a={'1+' * 3000}1;\n",
        "blob.dat": "a\0b\0c",
    }
    root = make_project(tmp_path / "mixed", files)
    request = repository_pb2.AddRepositoryRequest(path=str(root), dry_run=True)
    foretold = session.repository("AddRepository", request)
    assert not foretold.existed
    name = add_and_wait(session, root, complete=False)
    status = session.repository("GetStatus", repository_pb2.GetStatusRequest(repository=name))
    assert foretold.preview.files == status.files
    assert {one.name: one.count for one in foretold.preview.skipped} == {one.name: one.count for one in status.skipped}
    assert [one.path for one in foretold.preview.skipped_examples if one.reason == "generated"] == ["shop/till_pb2.py"]
    outline = graph_pb2.OutlineRequest(repository=name, path="shop/till_pb2.py")
    assert session.graph("Outline", outline).left_out_because == "generated"
    assert "shop/till.py" not in [one.path for one in foretold.preview.skipped_examples]


def test_watching_begins_with_the_full_state(served: Served) -> None:
    stub = served.session.repository_stub()
    first = next(iter(served.session.stream(stub.WatchIndexing, repository_pb2.WatchIndexingRequest())))
    assert [progress.repository for progress in first.progress] == [served.name]
    assert first.progress[0].generation > 0


def test_health_and_reflection_are_served(served: Served) -> None:
    channel = served.session.channel
    health = health_pb2_grpc.HealthStub(channel)
    for service in ("", "ctxsearch.v1.ContextSearchService"):
        answer = health.Check(health_pb2.HealthCheckRequest(service=service), timeout=30)
        assert answer.status == health_pb2.HealthCheckResponse.SERVING
    stub = reflection_pb2_grpc.ServerReflectionStub(channel)
    asked = reflection_pb2.ServerReflectionRequest(list_services="")
    listed = next(iter(stub.ServerReflectionInfo(iter([asked]), timeout=30)))
    services = {service.name for service in listed.list_services_response.service}
    assert {f"ctxsearch.v1.{n}Service" for n in ("Admin", "ContextSearch", "Graph", "Repository")} <= services


def test_the_server_says_who_it_is(served: Served) -> None:
    with connect(served.settings) as connection:
        info = connection.info
    assert info.repository_count == 1
    assert info.embedding_dimension == 256
    assert info.pid == int(served.settings.lock_path.read_text())


def test_malformed_bytes_are_an_invalid_argument(served: Served) -> None:
    call = served.session.channel.unary_unary("/ctxsearch.v1.ContextSearchService/ContextSearch")
    with pytest.raises(grpc.RpcError) as caught:
        call(b"\xff\xff\xff\xff", timeout=30)
    assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT


def test_an_oversized_request_is_refused(served: Served) -> None:
    with grpc.insecure_channel(served.settings.address) as channel:
        call = channel.unary_unary("/ctxsearch.v1.ContextSearchService/ContextSearch")
        with pytest.raises(grpc.RpcError) as caught:
            call(b"x" * (served.settings.max_request_bytes + 1), timeout=30)
    assert caught.value.code() == grpc.StatusCode.RESOURCE_EXHAUSTED


def test_an_unknown_method_is_unimplemented(served: Served) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        served.session.channel.unary_unary("/ctxsearch.v1.MemoryService/Remember")(b"", timeout=30)
    assert caught.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_a_deadline_ends_a_wait(served: Served) -> None:
    request = search_pb2.ContextSearchRequest(text="x", min_generation=999)
    request.max_wait.FromSeconds(600)
    request.scope.include.repositories.append(served.name)
    call = served.session.channel.unary_unary(
        "/ctxsearch.v1.ContextSearchService/ContextSearch",
        request_serializer=search_pb2.ContextSearchRequest.SerializeToString,
    )
    with pytest.raises(grpc.RpcError) as caught:
        call(request, timeout=0.5)
    assert caught.value.code() in (grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.OUT_OF_RANGE)
