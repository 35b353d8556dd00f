"""Domain values to and from `ctxsearch.v1`, and the one table from error to status. Pure: no state, no engine calls."""

from __future__ import annotations

import enum
import functools
from collections.abc import Container, Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import grpc
from google.protobuf import any_pb2, duration_pb2, timestamp_pb2
from google.rpc import error_details_pb2, status_pb2

from ctxsearch.daemon import errors
from ctxsearch.daemon.version import API_VERSION
from ctxsearch.graph.catalog import CatalogError
from ctxsearch.graph.errors import CtxsearchError
from ctxsearch.graph.model import CodeNode, Edge, EdgeKind, NodeFlag, NodeId, NodeKind, Rule, Unresolved
from ctxsearch.search import errors as search_errors
from ctxsearch.search.ports import FreshnessFact, OnDisk
from ctxsearch.search.query import Content, Expansion, ExpansionKind, Mode, SearchQuery, Signal, Weights
from ctxsearch.search.ranking import Vote
from ctxsearch.search.results import (
    Explanation,
    Guidance,
    Label,
    ResultContent,
    SearchResponse,
    SearchResult,
    SignalReport,
)
from ctxsearch.search.scope import Scope
from ctxsearch.v1 import graph_pb2, node_pb2, search_pb2

if TYPE_CHECKING:
    from ctxsearch.daemon.freshness import NodePast
    from ctxsearch.daemon.sites import Placed
    from ctxsearch.daemon.workspace import FreshnessSummary

# Errors travel in headers, of which a client takes 8 kB; escaped, text can grow to three times its size.
MAX_MESSAGE_BYTES = 1000
MAX_NAMES_BYTES = 1500
# The first row whose class fits wins; what is not listed is INTERNAL and shows only a log id.
ERROR_TABLE: tuple[tuple[type[CtxsearchError], grpc.StatusCode, str], ...] = (
    (errors.InvalidRequestError, grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST"),
    (search_errors.InvalidArgument, grpc.StatusCode.INVALID_ARGUMENT, "INVALID_REQUEST"),
    (errors.UnknownRepositoryError, grpc.StatusCode.NOT_FOUND, "UNKNOWN_REPOSITORY"),
    (search_errors.NotFound, grpc.StatusCode.NOT_FOUND, "UNKNOWN_REPOSITORY"),
    (errors.UnknownNodeError, grpc.StatusCode.NOT_FOUND, "UNKNOWN_NODE"),
    (errors.AmbiguousSymbolError, grpc.StatusCode.FAILED_PRECONDITION, "AMBIGUOUS_SYMBOL"),
    (errors.NoIndexError, grpc.StatusCode.FAILED_PRECONDITION, "NO_INDEX"),
    (errors.NothingToIndexError, grpc.StatusCode.FAILED_PRECONDITION, "NOTHING_TO_INDEX"),
    (errors.IndexingFailedError, grpc.StatusCode.FAILED_PRECONDITION, "INDEXING_FAILED"),
    (search_errors.FailedPrecondition, grpc.StatusCode.FAILED_PRECONDITION, "SIGNAL_MISSING"),
    (errors.GenerationNotReachedError, grpc.StatusCode.OUT_OF_RANGE, "GENERATION_NOT_REACHED"),
    (errors.StoppingError, grpc.StatusCode.UNAVAILABLE, "STOPPING"),
    (search_errors.Unavailable, grpc.StatusCode.UNAVAILABLE, "ALL_SIGNALS_FAILED"),
    (CatalogError, grpc.StatusCode.UNAVAILABLE, "INDEX_UNREADABLE"),
    (errors.TooBusyError, grpc.StatusCode.RESOURCE_EXHAUSTED, "TOO_BUSY"),
    (errors.AbandonedError, grpc.StatusCode.CANCELLED, "ABANDONED"),
    (errors.UnauthenticatedError, grpc.StatusCode.UNAUTHENTICATED, "UNAUTHENTICATED"),
)
# What errors of the domain call a field that is called otherwise in a request.
REQUEST_FIELDS = {
    "scope.repositories": "scope.include.repositories",
    "scope.paths": "scope.include.paths",
    "scope.languages": "scope.include.languages",
    "scope.kinds": "scope.include.kinds",
    "scope.packages": "scope.include.modules",
    "scope.exclude_repositories": "scope.exclude.repositories",
    "scope.exclude_paths": "scope.exclude.paths",
    "scope.exclude_languages": "scope.exclude.languages",
    "scope.exclude_kinds": "scope.exclude.kinds",
    "scope.exclude_packages": "scope.exclude.modules",
    "expansion.callers.depth": "callers.depth",
    "expansion.dependencies.depth": "dependencies.depth",
    "expansion.related.radius": "related.radius",
}

_FLAGS = tuple(NodeFlag(1 << bit) for bit in range(15))
_WIRE_FLAGS = tuple((int(flag), node_pb2.NodeFlag.Value(f"NODE_FLAG_{flag.name}")) for flag in _FLAGS)
_KINDS = {kind: node_pb2.NodeKind.Value(f"NODE_KIND_{kind.name}") for kind in NodeKind}
_EDGE_KINDS = {kind: node_pb2.EdgeKind.Value(f"EDGE_KIND_{kind.name}") for kind in EdgeKind}
_FRESHNESS = {name.removeprefix("FRESHNESS_"): value for name, value in node_pb2.Freshness.items()}
_SIGNALS = {signal: search_pb2.Signal.Value(f"SIGNAL_{signal.name}") for signal in Signal}
_LABELS = {label: search_pb2.MatchLabel.Value(f"MATCH_LABEL_{label.name}") for label in Label}
_RULES = {rule: node_pb2.EdgeRule.Value(f"EDGE_RULE_{rule.name}") for rule in Rule}
_NODE_KINDS = {int(kind): kind for kind in NodeKind}
_SOURCES = {name.removeprefix("FRESHNESS_SOURCE_").lower(): value for name, value in node_pb2.FreshnessSource.items()}


# Requests


def query_from_wire(request: search_pb2.ContextSearchRequest, floors: type[enum.IntEnum]) -> SearchQuery:
    """A validated query; raises InvalidArgument naming the field, its value and what is allowed."""
    return SearchQuery(
        text=request.text,
        embedding=tuple(request.embedding) or None,
        mode=_member("mode", search_pb2.SearchMode, "SEARCH_MODE_", request.mode, Mode, Mode.HYBRID),
        weights=_weights(request.weights),
        expansion=_expansion(request),
        scope=scope_from_wire(request.scope),
        freshness_floor=_member(
            "freshness_floor", node_pb2.Freshness, "FRESHNESS_", request.freshness_floor, floors, None
        ),
        **({"k": request.k} if request.HasField("k") else {}),
        min_score=request.min_score,
        content=_member(
            "content", search_pb2.ContentLevel, "CONTENT_LEVEL_", request.content, Content, Content.SNIPPET
        ),
        max_tokens=request.max_tokens if request.HasField("max_tokens") else None,
        explain=request.explain,
        min_generation=request.min_generation or None,
        max_wait=seconds(request.max_wait),
    )


def query_to_wire(query: SearchQuery) -> search_pb2.ContextSearchRequest:
    """Inverse of query_from_wire."""
    request = search_pb2.ContextSearchRequest(
        text=query.text,
        embedding=query.embedding or (),
        mode=search_pb2.SearchMode.Value(f"SEARCH_MODE_{query.mode.name}"),
        weights=search_pb2.SignalWeights(
            bm25=query.weights.bm25,
            semantic=query.weights.semantic,
            graph=query.weights.graph,
            fuzzy=query.weights.fuzzy,
        ),
        scope=scope_to_wire(query.scope),
        k=query.k,
        min_score=query.min_score,
        content=search_pb2.ContentLevel.Value(f"CONTENT_LEVEL_{query.content.name}"),
        max_tokens=query.max_tokens,
        explain=query.explain,
        min_generation=query.min_generation or 0,
        max_wait=duration(query.max_wait),
    )
    if query.freshness_floor is not None:
        request.freshness_floor = node_pb2.Freshness.Value(f"FRESHNESS_{query.freshness_floor.name}")
    if query.expansion is not None and query.expansion.kind is ExpansionKind.RELATED:
        request.related.radius = query.expansion.depth
    elif query.expansion is not None:
        getattr(request, query.expansion.kind.value).depth = query.expansion.depth
    return request


def scope_from_wire(scope: search_pb2.Scope) -> Scope:
    """What may be returned."""
    inc, exc = scope.include, scope.exclude
    return Scope(
        repositories=tuple(inc.repositories),
        paths=tuple(inc.paths),
        languages=tuple(inc.languages),
        kinds=_kinds("scope.include.kinds", inc.kinds),
        packages=tuple(inc.modules),
        exclude_repositories=tuple(exc.repositories),
        exclude_paths=tuple(exc.paths),
        exclude_languages=tuple(exc.languages),
        exclude_kinds=_kinds("scope.exclude.kinds", exc.kinds),
        exclude_packages=tuple(exc.modules),
    )


def scope_to_wire(scope: Scope) -> search_pb2.Scope:
    """Inverse of scope_from_wire."""
    return search_pb2.Scope(
        include=search_pb2.ScopeFilter(
            repositories=scope.repositories,
            paths=scope.paths,
            languages=scope.languages,
            kinds=[_kind_to_wire(kind) for kind in scope.kinds],
            modules=scope.packages,
        ),
        exclude=search_pb2.ScopeFilter(
            repositories=scope.exclude_repositories,
            paths=scope.exclude_paths,
            languages=scope.exclude_languages,
            kinds=[_kind_to_wire(kind) for kind in scope.exclude_kinds],
            modules=scope.exclude_packages,
        ),
    )


def _weights(weights: search_pb2.SignalWeights) -> Weights:
    given = {name: getattr(weights, name) for name in ("bm25", "semantic", "graph", "fuzzy") if weights.HasField(name)}
    return Weights(**given)


def _expansion(request: search_pb2.ContextSearchRequest) -> Expansion | None:
    chosen = request.WhichOneof("expansion")
    if chosen is None:
        return None
    value = getattr(request, chosen)
    return Expansion(ExpansionKind(chosen), value.radius if chosen == "related" else value.depth)


def _member(field: str, wire: Any, prefix: str, value: int, members: Any, default: Any) -> Any:
    """An enum member by its name; 0 is the default, an unknown number is refused."""
    if value == 0:
        return default
    names = {number: name.removeprefix(prefix) for name, number in wire.items()}
    allowed = ", ".join(member.name for member in members)
    if value not in names:
        raise search_errors.InvalidArgument(field, value, allowed)
    return members[names[value]]


def _kinds(field: str, kinds: Sequence[int]) -> tuple[NodeKind, ...]:
    for kind in kinds:
        if kind not in _NODE_KINDS:
            raise search_errors.InvalidArgument(field, kind, ", ".join(each.name for each in NodeKind))
    return tuple(_NODE_KINDS[kind] for kind in kinds)


def kinds_from_wire(kinds: Sequence[int]) -> tuple[NodeKind, ...]:
    """Kinds asked for."""
    return _kinds("kinds", kinds)


# Answers


def node_to_wire(node: CodeNode, repository: str, changed: Container[str] = ()) -> node_pb2.Node:
    """A node; `changed` are the paths that are no longer what was indexed."""
    message = node_pb2.Node(changed_on_disk=node.path in changed)
    _put_node(message, node, repository)
    return message


def _put_node(message: node_pb2.Node, node: CodeNode, repository: str) -> None:
    """Field by field: a message that is made apart and put into another is copied, which costs as much again."""
    message.id = node.id
    message.kind = _kind_to_wire(node.kind)
    message.name = clean(node.name)
    message.qualified_name = clean(node.qualified_name)
    message.repository = repository
    message.path = clean(node.path)
    message.start_line = node.start_line
    message.end_line = node.end_line
    message.language = node.language
    message.signature = clean(node.signature)
    message.flags.extend(_flags_to_wire(int(node.flags)))
    message.content_hash = node.content_hash
    message.parent_id = node.parent or ""


@functools.cache  # few combinations exist
def _flags_to_wire(flags: int) -> tuple[node_pb2.NodeFlag.ValueType, ...]:
    return tuple(number for flag, number in _WIRE_FLAGS if flags & flag)


def node_from_wire(message: node_pb2.Node) -> CodeNode:
    """Inverse of node_to_wire; the repository is not part of a node."""
    flags = NodeFlag.NONE
    for flag in message.flags:
        flags |= _FLAGS[flag - 1]
    return CodeNode(
        id=NodeId(message.id),
        kind=NodeKind(message.kind),
        name=message.name,
        qualified_name=message.qualified_name,
        path=message.path,
        start_line=message.start_line,
        end_line=message.end_line,
        language=message.language,
        signature=message.signature,
        content_hash=message.content_hash,
        flags=flags,
        parent=NodeId(message.parent_id) if message.parent_id else None,
    )


def edge_to_wire(edge: Edge) -> node_pb2.Edge:
    """An edge."""
    return node_pb2.Edge(
        source_id=edge.source,
        target_id=edge.target,
        kind=_edge_kind(edge.kind),
        confidence=edge.confidence,
        rule=_RULES[edge.rule],
        lines=edge.lines,
    )


def freshness_to_wire(fact: FreshnessFact, past: NodePast, reasons: Sequence[str]) -> node_pb2.NodeFreshness:
    """A freshness class and the facts behind it."""
    message = node_pb2.NodeFreshness(
        freshness=_freshness(fact),
        freshness_penalty=fact.penalty,
        last_commit_id=fact.commit_id,
        freshness_source=_source(fact),
        reasons=map(clean, reasons),
        last_author=clean(past.author),
        last_subject=clean(past.subject),
        commit_count=past.commits,
        author_count=past.authors,
        flags=past.flags,
    )
    if fact.commit_time:
        message.last_commit_time.CopyFrom(timestamp(fact.commit_time))
    return message


def summary_to_wire(summary: FreshnessSummary) -> graph_pb2.SummarizeFreshnessResponse:
    """How fresh a repository is."""
    total, snapshot = sum(summary.counts.values()), summary.snapshot
    response = graph_pb2.SummarizeFreshnessResponse(
        nodes=total, history_ready=snapshot.history_ready, generation=snapshot.generation
    )
    for kind, count in summary.counts.items():
        response.shares.add(freshness=_FRESHNESS[kind.name], nodes=count, share=count / total if total else 0.0)
    for hot, node in summary.oldest_hot:
        response.oldest_hot.add(
            node=node_to_wire(node, snapshot.repository, summary.changed),
            age_days=hot.age_days,
            older_than_horizon=hot.older_than_horizon,
            living_references=hot.living_references,
        )
    return response


def reached_to_wire(one: Placed, repository: str, changed: Container[str]) -> graph_pb2.ReachedNode:
    """A node that a walk reached."""
    hit = one.hit
    return graph_pb2.ReachedNode(
        node=node_to_wire(hit.node, repository, changed),
        distance=hit.distance,
        confidence=hit.confidence,
        via=_edge_kind(hit.via),
        from_id=hit.path[-2] if len(hit.path) > 1 else "",
        lines=one.lines,
        line_text=clean(one.text),
    )


def unresolved_to_wire(call: Unresolved) -> graph_pb2.UnresolvedCall:
    """A call whose target is not known."""
    return graph_pb2.UnresolvedCall(name=clean(call.name), lines=call.lines)


def response_to_wire(response: SearchResponse) -> search_pb2.ContextSearchResponse:
    """The answer to a search; index states are added by whoever knows the snapshots."""
    one = response.indexed[0] if len(response.indexed) == 1 else None
    trailing = sum(index.pending_files for index in response.indexed)
    message = search_pb2.ContextSearchResponse(
        signals=[_report_to_wire(report) for report in response.signals],
        degraded=response.degraded,
        warnings=[clean(warning) for warning in response.warnings],
        generation=one.generation if one else 0,
        commit=one.commit if one else "",
        trails_working_tree=trailing > 0,
        trailing_files=trailing,
        dropped_by_scope=response.dropped_by_scope,
        dropped_by_floor=response.dropped_by_floor,
        dropped_by_score=response.dropped_by_score,
        dropped_unknown=response.unknown_ids,
        trimmed_results=response.trimmed_results,
        elapsed=duration(response.milliseconds / 1000),
    )
    ran = [report.signal for report in response.signals if report.ran]
    for result in response.results:
        _put_result(message.results.add(), result, ran)
    message.suggestions.extend(map(clean, response.near_names))
    if response.guidance is not None:
        message.guidance.extend(guidance_lines(response.guidance))
    if response.explanation is not None:
        _put_explanation(message.explanation, response.explanation)
    return message


def _put_explanation(message: search_pb2.Explanation, explanation: Explanation) -> None:
    message.pool = explanation.pool
    message.steps.extend(explanation.steps)
    message.seeds.extend(explanation.seeds)
    message.fused = explanation.fused
    for name, milliseconds in explanation.milliseconds.items():
        message.stages.add(name=name, elapsed=duration(milliseconds / 1000))


def guidance_lines(guidance: Guidance) -> list[str]:
    """What was searched and what was left out, in sentences."""
    lines = [f"searched: {clean(guidance.searched)}", *map(clean, guidance.unmatched)]
    left_out = (
        (guidance.outside_scope, guidance.at_least, "outside the scope; widen --scope"),
        (guidance.below_floor, guidance.at_least, "below the freshness floor; lower --floor"),
        (guidance.below_min_score, False, "below the score floor; lower --min-score"),
    )
    return lines + [f"{_matches(count, at_least)} {why}" for count, at_least, why in left_out if count]


def _matches(count: int, at_least: bool) -> str:
    if at_least:
        return f"at least {count} {'match is' if count == 1 else 'matches are'}"
    return "1 match is" if count == 1 else f"{count} matches are"


def _put_result(message: search_pb2.SearchResult, result: SearchResult, ran: Iterable[Signal]) -> None:
    """One ranked node, with what every signal that ran said about it."""
    fact, votes = result.freshness, result.votes
    _put_node(message.node, result.node, result.repository)
    message.score = result.score
    for signal in ran:
        _put_score(message.signals.add(), signal, votes.get(signal))
    message.freshness = _freshness(fact)
    message.freshness_penalty = fact.penalty
    message.last_commit_id = fact.commit_id
    message.freshness_source = _source(fact)
    message.matched_bm25 = Signal.BM25 in votes
    message.matched_semantic = Signal.SEMANTIC in votes
    message.matched_fuzzy = Signal.FUZZY in votes
    message.matched_graph_expansion = result.reach is not None
    message.label = _LABELS[result.label]
    message.changed_on_disk = message.node.changed_on_disk = result.on_disk in (OnDisk.CHANGED, OnDisk.VANISHED)
    if fact.commit_time:
        message.last_commit_time.seconds = fact.commit_time
    if result.reach is not None:
        message.distance_in_graph = result.reach.distance
        message.graph_path.extend(result.reach.path)
    for step, value in result.steps.items():
        message.steps.add(name=step, value=value)
    if result.content.start_line or result.content.trimmed:
        _put_content(message.snippet, result.content)


def _put_score(message: search_pb2.SignalScore, signal: Signal, vote: Vote | None) -> None:
    message.signal = _SIGNALS[signal]
    if vote is not None:
        message.rank = vote.rank
        message.rank_score = vote.rank_score
        message.raw_score = vote.raw
        message.contribution = vote.contribution


def _put_content(message: search_pb2.Snippet, content: ResultContent) -> None:
    message.text = clean(content.text)
    message.start_line = content.start_line
    message.end_line = content.end_line
    message.trimmed = content.trimmed
    add = message.highlights.add
    for highlight in content.highlights:
        add(line=highlight.line, start=highlight.start, end=highlight.end)


def _report_to_wire(report: SignalReport) -> search_pb2.SignalReport:
    return search_pb2.SignalReport(
        signal=_SIGNALS[report.signal],
        candidates=report.count,
        elapsed=duration(report.milliseconds / 1000),
        weight=report.weight,
        failure=clean(report.error) if not report.ran else "",
        truncated=report.truncated,
    )


# Small things


def clean(text: str) -> str:
    """Text that protobuf can carry: lone surrogates, which stand for bytes that are not UTF-8, are replaced."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def seconds(message: duration_pb2.Duration) -> float:
    """A duration in seconds."""
    return (message.seconds * 10**9 + message.nanos) / 1e9  # one division: what was sent comes back exactly


def duration(value: float) -> duration_pb2.Duration:
    """Seconds as a duration."""
    whole = round(value * 1e9)
    return duration_pb2.Duration(seconds=whole // 10**9, nanos=whole % 10**9)


def timestamp(epoch: float) -> timestamp_pb2.Timestamp:
    """Seconds since the epoch as a timestamp."""
    message = timestamp_pb2.Timestamp()
    message.FromDatetime(datetime.fromtimestamp(epoch, UTC))
    return message


def _kind_to_wire(kind: NodeKind) -> node_pb2.NodeKind.ValueType:
    return _KINDS[kind]


def _edge_kind(kind: EdgeKind) -> node_pb2.EdgeKind.ValueType:
    return _EDGE_KINDS[kind]


def _freshness(fact: FreshnessFact) -> node_pb2.Freshness.ValueType:
    return _FRESHNESS[fact.freshness.name]


def _source(fact: FreshnessFact) -> node_pb2.FreshnessSource.ValueType:
    return _SOURCES[fact.source]


# Errors


def error_to_status(error: Exception, request_id: str) -> status_pb2.Status:
    """The status of an error; one that nobody expected shows only where to look in the log."""
    code, reason, message = _row(_of_the_request(error), request_id)
    info = error_details_pb2.ErrorInfo(reason=reason, domain=API_VERSION)
    for name in ("candidates", "near"):
        if getattr(error, name, ()):
            info.metadata[name] = _short("\n".join(getattr(error, name)), MAX_NAMES_BYTES)
    detail = any_pb2.Any()
    detail.Pack(info)
    return status_pb2.Status(code=code.value[0], message=_short(message, MAX_MESSAGE_BYTES), details=[detail])


def _of_the_request(error: Exception) -> Exception:
    """The error with the field named as in the request."""
    if not isinstance(error, search_errors.InvalidArgument) or error.field not in REQUEST_FIELDS:
        return error
    return search_errors.InvalidArgument(REQUEST_FIELDS[error.field], error.value, error.allowed)


def _short(text: str, most: int) -> str:
    """Text that the headers of an answer can carry, whatever a caller or a file's name brought into it."""
    data = clean(text).encode()
    return clean(text) if len(data) <= most else data[: most - 3].decode(errors="ignore") + "..."


def _row(error: Exception, request_id: str) -> tuple[grpc.StatusCode, str, str]:
    for kind, code, reason in ERROR_TABLE:
        if isinstance(error, kind):
            return code, reason, str(error)
    return grpc.StatusCode.INTERNAL, "INTERNAL", f"internal error; see request {request_id} in `ctxsearch daemon logs`"
