"""A span of every request for whoever traces across programs: OpenTelemetry over OTLP, off unless asked for.

A span says method, status, size, the request's id in the log and the time of each search signal; never a query, a
path or a repository. A client's trace goes on here if it sends `traceparent`. The only module that imports
OpenTelemetry, whose SDK is an extra: `pip install 'ctxsearch[otel]'`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import grpc

from ctxsearch.daemon.settings import BadSettingError, Settings
from ctxsearch.daemon.version import VERSION

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span

EXPORT_SECONDS = 2.0  # a collector that is gone must not hold up the daemon's end

_current: ContextVar[Span | None] = ContextVar("ctxsearch_span", default=None)


def note_signal(signal: str, milliseconds: float) -> None:
    """Tells the span of the request that this thread answers, if any, how long a search signal took."""
    span = _current.get()
    if span is not None:
        span.set_attribute(f"ctxsearch.signal.{signal}_ms", milliseconds)


class Tracing:
    """The spans of one daemon; without a provider there are none."""

    def __init__(self, provider: TracerProvider | None = None) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("ctxsearch", VERSION) if provider is not None else None

    def begin(self, service_method: str, metadata: Mapping[str, Any]) -> Span | None:
        """This thread begins to answer `/package.Service/Method`."""
        if self._tracer is None:
            return None
        from opentelemetry.trace import SpanKind
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        service, _, method = service_method.lstrip("/").partition("/")
        span = self._tracer.start_span(
            f"{service}/{method}",
            context=TraceContextTextMapPropagator().extract(metadata),
            kind=SpanKind.SERVER,
            attributes={"rpc.system": "grpc", "rpc.service": service, "rpc.method": method},
        )
        _current.set(span)
        return span

    def end(self, span: Span | None, code: grpc.StatusCode, request_id: str, request_bytes: int) -> None:
        """The request was answered, or failed with this status."""
        if span is None:
            return
        from opentelemetry.trace import StatusCode

        number = code.value[0]
        span.set_attributes(
            {
                "rpc.grpc.status_code": number,
                "ctxsearch.request_id": request_id,
                "ctxsearch.request_bytes": request_bytes,
            }
        )
        if number:
            span.set_status(StatusCode.ERROR, code.name)
        span.end()
        _current.set(None)

    def close(self) -> None:
        """Sends what is left, within `EXPORT_SECONDS`."""
        if self._provider is not None:
            self._provider.shutdown()


def open_tracing(settings: Settings) -> Tracing:
    """Tracing to the collector of `otlp_endpoint`, or none."""
    if not settings.otlp_endpoint:
        return Tracing()
    try:
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
    except ImportError as error:
        raise BadSettingError("otlp_endpoint needs OpenTelemetry; run `pip install 'ctxsearch[otel]'`") from error
    insecure = settings.otlp_endpoint.startswith("http://")
    return traced_to(OTLPSpanExporter(settings.otlp_endpoint, insecure=insecure, timeout=EXPORT_SECONDS))


def traced_to(exporter: SpanExporter) -> Tracing:
    """Tracing to an exporter, in batches off the request's path."""
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    # Not Resource.create, which would add what it finds out about the machine and the process.
    provider = TracerProvider(resource=Resource({"service.name": "ctxsearch", "service.version": VERSION}))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return Tracing(provider)
