"""Domain values to and from `ctxsearch.v1`, and the one table from error to status. Pure: no state, no engine calls."""

from __future__ import annotations

import grpc
from google.protobuf import any_pb2
from google.rpc import error_details_pb2, status_pb2

from ctxsearch.daemon import errors
from ctxsearch.daemon.version import API_VERSION
from ctxsearch.graph.model import CtxsearchError

# The first row whose class fits wins; what is not listed is INTERNAL and shows only a log id.
ERROR_TABLE: tuple[tuple[type[CtxsearchError], grpc.StatusCode, str], ...] = (
    (errors.InvalidRequestError, grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST"),
    (errors.UnknownRepositoryError, grpc.StatusCode.NOT_FOUND, "UNKNOWN_REPOSITORY"),
    (errors.UnknownNodeError, grpc.StatusCode.NOT_FOUND, "UNKNOWN_NODE"),
    (errors.AmbiguousSymbolError, grpc.StatusCode.FAILED_PRECONDITION, "AMBIGUOUS_SYMBOL"),
    (errors.NoIndexError, grpc.StatusCode.FAILED_PRECONDITION, "NO_INDEX"),
    (errors.NothingToIndexError, grpc.StatusCode.FAILED_PRECONDITION, "NOTHING_TO_INDEX"),
    (errors.IndexingFailedError, grpc.StatusCode.FAILED_PRECONDITION, "INDEXING_FAILED"),
    (errors.GenerationNotReachedError, grpc.StatusCode.OUT_OF_RANGE, "GENERATION_NOT_REACHED"),
    (errors.StoppingError, grpc.StatusCode.UNAVAILABLE, "STOPPING"),
    (errors.TooBusyError, grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_BUSY"),
    (errors.AbandonedError, grpc.StatusCode.CANCELLED, "ABANDONED"),
    (errors.UnauthenticatedError, grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED"),
)


def error_to_status(error: Exception, request_id: str) -> status_pb2.Status:
    """The status of an error; one that nobody expected shows only where to look in the log."""
    code, reason, message = _row(error, request_id)
    info = error_details_pb2.ErrorInfo(reason=reason, domain=API_VERSION)
    for name in ("candidates", "near"):
        if getattr(error, name, ()):
            info.metadata[name] = "\n".join(getattr(error, name))
    detail = any_pb2.Any()
    detail.Pack(info)
    return status_pb2.Status(code=code.value[0], message=message, details=[detail])


def _row(error: Exception, request_id: str) -> tuple[grpc.StatusCode, str, str]:
    for kind, code, reason in ERROR_TABLE:
        if isinstance(error, kind):
            return code, reason, str(error)
    return grpc.StatusCode.INTERNAL, "INTERNAL", f"internal error; see request {request_id} in `ctxsearch daemon logs`"
