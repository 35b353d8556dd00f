"""The edge of the server: what happens to every request before and after its method.

Checks the token of TCP peers, decodes the message, gives the request an id, counts, times and logs it, and turns
every exception into a status by `wire.py`'s table. The only broad catch of the daemon is here.
"""

from __future__ import annotations

import hmac
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from typing import Any

import grpc
import structlog
from google.protobuf.message import DecodeError
from grpc_status import rpc_status

from ctxsearch.daemon.errors import InvalidRequestError, UnauthenticatedError
from ctxsearch.daemon.logs import get_logger
from ctxsearch.daemon.metrics import Metrics
from ctxsearch.daemon.tracing import Tracing
from ctxsearch.daemon.wire import error_to_status

_log = get_logger("ctxsearch.request")


class Activity:
    """Requests in flight, and when the daemon was last busy. Written by the boundary alone."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._in_flight = 0
        self._last = clock()

    @property
    def in_flight(self) -> int:
        """Requests being answered now."""
        return self._in_flight

    def idle_seconds(self) -> float:
        """How long nothing has been asked; 0 while something is being answered."""
        with self._lock:
            return 0.0 if self._in_flight else self._clock() - self._last

    def touch(self) -> None:
        """Something other than a request keeps the daemon busy."""
        with self._lock:
            self._last = self._clock()

    def __enter__(self) -> None:
        with self._lock:
            self._in_flight += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._in_flight -= 1
            self._last = self._clock()


class Boundary(grpc.ServerInterceptor):
    """Wraps every method of every service, health and reflection included."""

    def __init__(self, token: str, activity: Activity, metrics: Metrics, tracing: Tracing) -> None:
        self._token = token.encode()
        self._activity = activity
        self._metrics = metrics
        self._tracing = tracing

    def intercept_service(self, continuation: Any, handler_call_details: Any) -> Any:
        """gRPC's hook: the handler of one call, wrapped."""
        handler = continuation(handler_call_details)
        if handler is None:
            return None
        method = handler_call_details.method
        metadata = dict(handler_call_details.invocation_metadata or ())
        if handler.unary_unary:
            return grpc.unary_unary_rpc_method_handler(
                self._unary(handler, method, metadata), response_serializer=handler.response_serializer
            )
        if handler.unary_stream:
            return grpc.unary_stream_rpc_method_handler(
                self._stream(handler, method, metadata), response_serializer=handler.response_serializer
            )
        return grpc.stream_stream_rpc_method_handler(
            self._guarded(handler.stream_stream, metadata),
            request_deserializer=handler.request_deserializer,
            response_serializer=handler.response_serializer,
        )

    def _unary(self, handler: Any, method: str, metadata: dict[str, Any]) -> Callable[[bytes, Any], Any]:
        def answer(data: bytes, context: grpc.ServicerContext) -> Any:
            with self._activity, self._request(method, data, context, metadata) as request:
                self._authenticate(context, metadata)
                response = handler.unary_unary(_decode(handler, data), context)
                request.finished()
                return response

        return answer

    def _stream(self, handler: Any, method: str, metadata: dict[str, Any]) -> Callable[[bytes, Any], Iterator[Any]]:
        def answer(data: bytes, context: grpc.ServicerContext) -> Iterator[Any]:
            with self._activity, self._request(method, data, context, metadata) as request:
                self._authenticate(context, metadata)
                yield from handler.unary_stream(_decode(handler, data), context)
                request.finished()

        return answer

    def _guarded(self, behaviour: Any, metadata: dict[str, Any]) -> Any:
        def answer(requests: Any, context: grpc.ServicerContext) -> Any:
            try:
                self._authenticate(context, metadata)
            except UnauthenticatedError as error:
                context.abort_with_status(rpc_status.to_status(error_to_status(error, "")))
            return behaviour(requests, context)

        return answer

    def _request(self, method: str, data: bytes, context: grpc.ServicerContext, metadata: dict[str, Any]) -> _Request:
        return _Request(method, len(data), context, metadata, self._metrics, self._tracing)

    def _authenticate(self, context: grpc.ServicerContext, metadata: dict[str, Any]) -> None:
        """The socket is guarded by the file system; any other peer needs the token, if there is one."""
        if not self._token or context.peer().startswith("unix:"):
            return
        sent = metadata.get("authorization", "")
        if not hmac.compare_digest(str(sent).encode(), b"Bearer " + self._token):
            raise UnauthenticatedError


class _Request:
    """One request being answered: its id, its log line, its metrics, its errors."""

    def __init__(
        self,
        method: str,
        size: int,
        context: grpc.ServicerContext,
        metadata: dict[str, Any],
        metrics: Metrics,
        tracing: Tracing,
    ) -> None:
        self._method = method.rsplit("/", 1)[-1]
        self._size = size
        self._context = context
        self._metrics = metrics
        self._tracing = tracing
        self._span = tracing.begin(method, metadata)
        self._id = uuid.uuid4().hex[:12]
        self._code = grpc.StatusCode.CANCELLED
        self._start = time.perf_counter()

    def finished(self) -> None:
        """The method returned."""
        self._code = grpc.StatusCode.OK

    def __enter__(self) -> _Request:
        structlog.contextvars.bind_contextvars(request=self._id)
        self._metrics.in_flight.inc()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        try:
            if isinstance(error, Exception):
                self._abort(error)
        finally:
            elapsed = time.perf_counter() - self._start
            self._metrics.in_flight.dec()
            self._metrics.requests.labels(self._method, self._code.name).inc()
            self._metrics.latency.labels(self._method).observe(elapsed)
            _log.info(
                "request", method=self._method, code=self._code.name, ms=round(elapsed * 1000, 2), bytes=self._size
            )
            self._tracing.end(self._span, self._code, self._id, self._size)
            structlog.contextvars.unbind_contextvars("request")

    def _abort(self, error: Exception) -> None:
        status = error_to_status(error, self._id)
        code = next(code for code in grpc.StatusCode if code.value[0] == status.code)
        self._code = code
        if code is grpc.StatusCode.INTERNAL:
            _log.error("internal error", method=self._method, exc_info=error)
        self._context.abort_with_status(rpc_status.to_status(status))


def _decode(handler: Any, data: bytes) -> Any:
    try:
        return handler.request_deserializer(data)
    except DecodeError as error:
        raise InvalidRequestError("the request is not a valid message of this method") from error
