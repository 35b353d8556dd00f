"""Spans that a daemon sends to a real OTLP collector, and what it refuses to send where."""

from __future__ import annotations

import queue
import socket
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest
from daemon_project import add_and_wait, git, search
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2 as collector_pb2
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2_grpc as collector_grpc

from ctxsearch.daemon.session import Session
from ctxsearch.daemon.settings import BadSettingError, Settings, read_settings
from ctxsearch.v1 import repository_pb2

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = "b7ad6b7169203331"
SECRET = "very_private_question"


class Collector(collector_grpc.TraceServiceServicer):
    """Keeps every span that arrives, by its name."""

    def __init__(self) -> None:
        self._spans: queue.Queue[Any] = queue.Queue()
        self.text = ""

    def Export(self, request: Any, context: grpc.ServicerContext) -> Any:  # noqa: N802
        self.text += str(request)
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                for span in scope.spans:
                    self._spans.put(span)
        return collector_pb2.ExportTraceServiceResponse()

    def wait_for(self, method: str) -> Any:
        """The next span of a method."""
        while True:
            span = self._spans.get(timeout=120)
            if span.name.endswith(f"/{method}"):
                return span


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    made = Collector()
    server = grpc.server(ThreadPoolExecutor(2))
    collector_grpc.add_TraceServiceServicer_to_server(made, server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    monkeypatch.setenv("CTXSEARCH_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
    yield made
    server.stop(0).wait()


def facts(span: Any) -> Mapping[str, Any]:
    return {
        each.key: each.value.int_value or each.value.double_value or each.value.string_value for each in span.attributes
    }


def test_a_request_is_a_span_with_its_signals_and_says_nothing_about_the_query(
    collector: Collector, settings: Settings, project: Path
) -> None:
    session = Session(settings, project)
    name = add_and_wait(session, project)
    search(session, SECRET, name)
    span = collector.wait_for("ContextSearch")
    assert span.name == "ctxsearch.v1.ContextSearchService/ContextSearch"
    known = facts(span)
    assert known["ctxsearch.signal.bm25_ms"] > 0
    assert known["ctxsearch.signal.semantic_ms"] > 0
    assert known["ctxsearch.request_id"] in settings.log_path.read_text()
    assert span.end_time_unix_nano > span.start_time_unix_nano
    session.close()
    for private in (SECRET, name, str(project), git(project, "rev-parse", "HEAD").strip()):
        assert private not in collector.text


def test_a_clients_trace_goes_on_and_a_failed_request_says_how(
    collector: Collector, settings: Settings, project: Path
) -> None:
    session = Session(settings, project)
    with pytest.raises(grpc.RpcError):
        session.repository_stub().GetStatus(
            repository_pb2.GetStatusRequest(repository="nowhere"),
            metadata=(("traceparent", f"00-{TRACE}-{PARENT}-01"),),
        )
    span = collector.wait_for("GetStatus")
    assert (span.trace_id.hex(), span.parent_span_id.hex()) == (TRACE, PARENT)
    assert facts(span)["rpc.grpc.status_code"] == grpc.StatusCode.NOT_FOUND.value[0]
    assert span.status.message == "NOT_FOUND"
    session.close()


def test_a_collector_that_is_gone_is_no_trouble(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, project: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    monkeypatch.setenv("CTXSEARCH_OTLP_ENDPOINT", f"http://127.0.0.1:{port}")
    session = Session(settings, project)
    name = add_and_wait(session, project, complete=False)
    assert search(session, "apply_discount", name).results
    session.close()


@pytest.mark.parametrize(
    ("endpoint", "remote", "why"),
    [
        ("127.0.0.1:4317", "true", "must be http"),
        ("http://", "true", "must be http"),
        ("https://traces.example.org:4317", "false", "allow_remote"),
        ("http://traces.example.org:4317", "true", "https"),
    ],
)
def test_where_spans_may_not_go(environ: dict[str, str], endpoint: str, remote: str, why: str) -> None:
    asked = {**environ, "CTXSEARCH_OTLP_ENDPOINT": endpoint, "CTXSEARCH_ALLOW_REMOTE": remote}
    with pytest.raises(BadSettingError, match=why):
        read_settings(asked, {})


def test_where_spans_may_go(environ: dict[str, str]) -> None:
    for endpoint, remote in (("http://localhost:4317", "false"), ("https://traces.example.org", "true")):
        asked = {**environ, "CTXSEARCH_OTLP_ENDPOINT": endpoint, "CTXSEARCH_ALLOW_REMOTE": remote}
        assert read_settings(asked, {}).otlp_endpoint == endpoint
