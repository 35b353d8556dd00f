"""The gRPC services: from wire, call, to wire. A few lines per method; what they mean is in workspace.py."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import grpc

from ctxsearch.daemon import wire
from ctxsearch.daemon.boundary import Activity
from ctxsearch.daemon.errors import InvalidRequestError
from ctxsearch.daemon.life import MAX_GRACE_SECONDS, Life
from ctxsearch.daemon.memory import resident_bytes
from ctxsearch.daemon.registry import RepositoryRecord
from ctxsearch.daemon.repository import Patience, Repository
from ctxsearch.daemon.sites import Direction
from ctxsearch.daemon.snapshot import Snapshot
from ctxsearch.daemon.version import API_VERSION
from ctxsearch.daemon.workspace import Located, Workspace
from ctxsearch.graph.freshness import LABELS, Freshness
from ctxsearch.graph.graph import Traversal
from ctxsearch.graph.model import CodeNode, NodeId
from ctxsearch.graph.walk import THROUGH_HUBS, Limits
from ctxsearch.indexer.files import Listing
from ctxsearch.search.errors import SearchError
from ctxsearch.search.results import Indexed
from ctxsearch.v1 import (
    admin_pb2,
    admin_pb2_grpc,
    graph_pb2,
    graph_pb2_grpc,
    node_pb2,
    repository_pb2,
    repository_pb2_grpc,
    search_pb2,
    search_pb2_grpc,
)

MAX_PAGE = 1000
MAX_NODES = 10_000
EXAMPLES_SHOWN = 20
DEFAULT_DEADLINE_SECONDS = 60.0  # of a caller that set none

Item = TypeVar("Item")


class Admin(admin_pb2_grpc.AdminServiceServicer):
    """AdminService."""

    def __init__(self, life: Life, activity: Activity, workspace: Workspace) -> None:
        self._life = life
        self._activity = activity
        self._workspace = workspace

    def GetServerInfo(
        self, request: admin_pb2.GetServerInfoRequest, context: grpc.ServicerContext
    ) -> admin_pb2.GetServerInfoResponse:
        """Who answers."""
        life = self._life
        response = admin_pb2.GetServerInfoResponse(
            version=life.version,
            api_versions=[API_VERSION],
            pid=os.getpid(),
            data_dir=str(life.settings.data_dir),
            log_file=str(life.settings.log_path),
            addresses=life.addresses,
            repository_count=len(self._workspace.repositories()),
            memory_bytes=resident_bytes(),
            requests_in_flight=self._activity.in_flight,
        )
        with contextlib.suppress(SearchError):  # one that cannot be opened; `ctxsearch doctor` says why
            response.embedding_model = self._workspace.embedder.model_id
            response.embedding_dimension = self._workspace.embedder.dimension
        response.started_time.FromDatetime(life.started)
        if life.idle_timeout_seconds:
            response.idle_timeout.CopyFrom(wire.duration(life.idle_timeout_seconds))
        return response

    def Shutdown(self, request: admin_pb2.ShutdownRequest, context: grpc.ServicerContext) -> admin_pb2.ShutdownResponse:
        """Asks the main thread to stop; the answer is sent before it does."""
        if request.HasField("grace"):
            self._life.grace_seconds = min(max(wire.seconds(request.grace), 0.0), MAX_GRACE_SECONDS)
        self._life.stop.set()
        return admin_pb2.ShutdownResponse(pid=os.getpid())


class Search(search_pb2_grpc.ContextSearchServiceServicer):
    """ContextSearchService."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def ContextSearch(
        self, request: search_pb2.ContextSearchRequest, context: grpc.ServicerContext
    ) -> search_pb2.ContextSearchResponse:
        """One search."""
        query = wire.query_from_wire(request, Freshness)
        response = self._workspace.search(query, patience_of(context))
        message = wire.response_to_wire(response)
        message.indexes.extend(self._index_state(index) for index in response.indexed)
        for result in message.results if query.explain else ():
            result.freshness_reasons.extend(self._workspace.reasons(result.node.repository, result.node.id))
        return message

    def _index_state(self, index: Indexed) -> search_pb2.IndexState:
        snapshot = self._workspace.repository(index.repository).snapshot
        return search_pb2.IndexState(
            repository=index.repository,
            generation=index.generation,
            commit=index.commit,
            trailing_files=index.pending_files,
            vectors_ready=snapshot is not None and snapshot.vectors_ready,
            history_ready=snapshot is not None and snapshot.history_ready,
            graph_ready=snapshot is not None and snapshot.graph_ready,
        )


class Graph(graph_pb2_grpc.GraphServiceServicer):
    """GraphService."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def GetNode(self, request: graph_pb2.GetNodeRequest, context: grpc.ServicerContext) -> graph_pb2.GetNodeResponse:
        """One node, whole."""
        detail = self._workspace.detail(self._located(request.selector), with_text=not request.omit_text)
        snapshot = detail.located.snapshot
        changed = self._workspace.changed_on_disk(snapshot, [detail.located.node])
        node = wire.node_to_wire(detail.located.node, snapshot.repository, changed)
        return graph_pb2.GetNodeResponse(
            node=node,
            doc=wire.clean(detail.doc),
            body=wire.clean(detail.body),
            freshness=wire.freshness_to_wire(detail.freshness, detail.past, detail.reasons),
            caller_count=detail.callers,
            dependency_count=detail.dependencies,
            unresolved=map(wire.unresolved_to_wire, detail.unresolved),
            generation=snapshot.generation,
            changed_on_disk=node.changed_on_disk,
            graph_ready=snapshot.graph_ready,
        )

    def FindNodes(
        self, request: graph_pb2.FindNodesRequest, context: grpc.ServicerContext
    ) -> graph_pb2.FindNodesResponse:
        """Nodes by name."""
        if not request.name.strip():
            raise InvalidRequestError("name: must not be empty")
        if request.match not in graph_pb2.NameMatch.values():
            raise InvalidRequestError(f"match: {request.match} is not allowed; allowed: EXACT, PREFIX")
        kinds = wire.kinds_from_wire(request.kinds)
        near: list[str] = []
        if request.match == graph_pb2.NAME_MATCH_PREFIX:
            found = self._workspace.find_prefix(request.repository, request.name)
        else:
            found, near = self._workspace.find(request.repository, request.name, MAX_NODES)
        found = [each for each in found if not kinds or each.node.kind in kinds]
        page, token = paged(found, request.page_size, request.page_token, 100)
        return graph_pb2.FindNodesResponse(
            nodes=self._nodes_to_wire(page),
            next_page_token=token,
            near_names=map(wire.clean, near if not found else ()),
        )

    def Callers(self, request: graph_pb2.CallersRequest, context: grpc.ServicerContext) -> graph_pb2.CallersResponse:
        """Who calls a node."""
        located = self._walkable(request.selector)
        found = self._workspace.callers(located, bounded("depth", request.depth, 1, 16, 1), limits_of(request))
        return graph_pb2.CallersResponse(**self._reached(located, found, Direction.BACKWARDS))

    def Dependencies(
        self, request: graph_pb2.DependenciesRequest, context: grpc.ServicerContext
    ) -> graph_pb2.DependenciesResponse:
        """What a node depends on."""
        located = self._walkable(request.selector)
        depth = bounded("depth", request.depth, 1, 16, 1)
        found = self._workspace.dependencies(located, depth, limits_of(request))
        unresolved = self._workspace.unresolved(located)
        return graph_pb2.DependenciesResponse(
            **self._reached(located, found, Direction.FORWARDS),
            unresolved=map(wire.unresolved_to_wire, unresolved),
        )

    def Related(self, request: graph_pb2.RelatedRequest, context: grpc.ServicerContext) -> graph_pb2.RelatedResponse:
        """What is near a node."""
        located = self._walkable(request.selector)
        found = self._workspace.related(located, bounded("radius", request.radius, 1, 4, 1), limits_of(request))
        return graph_pb2.RelatedResponse(**self._reached(located, found, Direction.EITHER))

    def Impact(self, request: graph_pb2.ImpactRequest, context: grpc.ServicerContext) -> graph_pb2.ImpactResponse:
        """Who is affected if a node changes."""
        located = self._walkable(request.selector)
        found = self._workspace.impact(located, bounded("depth", request.depth, 1, 16, 4), limits_of(request))
        return graph_pb2.ImpactResponse(**self._reached(located, found, Direction.BACKWARDS))

    def Path(self, request: graph_pb2.PathRequest, context: grpc.ServicerContext) -> graph_pb2.PathResponse:
        """How one node reaches another."""
        start = self._walkable(getattr(request, "from"))
        end = self._walkable(request.to)
        depth = bounded("max_depth", request.max_depth, 1, 32, 12)
        nodes, edges = self._workspace.path(start, end, depth, confidence_of(request))
        return graph_pb2.PathResponse(
            nodes=self._nodes_to_wire([Located(start.snapshot, node) for node in nodes]),
            edges=map(wire.edge_to_wire, edges),
            generation=start.snapshot.generation,
        )

    def Outline(self, request: graph_pb2.OutlineRequest, context: grpc.ServicerContext) -> graph_pb2.OutlineResponse:
        """The nodes of a file or directory."""
        snapshot, nodes = self._workspace.outline(request.repository, request.path)
        depths = depths_of(nodes)
        page, token = paged(nodes, request.page_size, request.page_token, 200)
        response = graph_pb2.OutlineResponse(next_page_token=token, generation=snapshot.generation)
        if not nodes:
            response.left_out_because = self._workspace.left_out_because(snapshot, request.path)
        changed = self._workspace.changed_on_disk(snapshot, page)
        for node in page:
            shown = wire.node_to_wire(node, snapshot.repository, changed)
            entry = response.entries.add(node=shown, depth=depths[node.id])
            if request.include_freshness:
                found = snapshot.freshness
                told = wire.freshness_to_wire(found.fact(node.id), found.past(node.id), found.reasons(node.id))
                entry.freshness.CopyFrom(told)
        return response

    def SummarizeFreshness(
        self, request: graph_pb2.SummarizeFreshnessRequest, context: grpc.ServicerContext
    ) -> graph_pb2.SummarizeFreshnessResponse:
        """How fresh a repository is."""
        most = bounded("limit", request.limit, 1, 100, 10)
        return wire.summary_to_wire(self._workspace.freshness_summary(request.repository, most))

    def _reached(self, located: Located, found: Traversal, direction: Direction) -> dict[str, Any]:
        repository = located.snapshot.repository
        shown = [located.node, *(hit.node for hit in found.hits)]
        changed = self._workspace.changed_on_disk(located.snapshot, shown)
        return {
            "node": wire.node_to_wire(located.node, repository, changed),
            "reached": [
                wire.reached_to_wire(one, repository, changed)
                for one in self._workspace.placed(located, found, direction)
            ],
            "truncated": found.truncated,
            "generation": located.snapshot.generation,
        }

    def _nodes_to_wire(self, nodes: Sequence[Located]) -> Iterator[node_pb2.Node]:
        """Nodes, perhaps of several repositories, in their order."""
        snapshots = {each.snapshot.repository: each.snapshot for each in nodes}
        changed = {
            name: self._workspace.changed_on_disk(snapshot, [each.node for each in nodes if each.snapshot is snapshot])
            for name, snapshot in snapshots.items()
        }
        for each in nodes:
            name = each.snapshot.repository
            yield wire.node_to_wire(each.node, name, changed[name])

    def _walkable(self, selector: node_pb2.NodeSelector) -> Located:
        return self._workspace.walkable(self._located(selector))

    def _located(self, selector: node_pb2.NodeSelector) -> Located:
        chosen = selector.WhichOneof("node")
        if chosen == "node_id":
            return self._workspace.locate_id(selector.repository, selector.node_id)
        if chosen == "symbol" and selector.symbol.strip():
            return self._workspace.locate(selector.repository, selector.symbol)
        raise InvalidRequestError("selector: needs a node_id or a symbol")


class Repositories(repository_pb2_grpc.RepositoryServiceServicer):
    """RepositoryService."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def AddRepository(
        self, request: repository_pb2.AddRepositoryRequest, context: grpc.ServicerContext
    ) -> repository_pb2.AddRepositoryResponse:
        """Adds a repository, or says what would be indexed."""
        if request.dry_run:
            record, existed, listing = self._workspace.preview(
                request.path, request.name, lambda: not context.is_active()
            )
            return repository_pb2.AddRepositoryResponse(
                repository=record_to_wire(record), existed=existed, preview=preview_to_wire(listing)
            )
        record, existed = self._workspace.add(request.path, request.name)
        return repository_pb2.AddRepositoryResponse(repository=record_to_wire(record), existed=existed)

    def RemoveRepository(
        self, request: repository_pb2.RemoveRepositoryRequest, context: grpc.ServicerContext
    ) -> repository_pb2.RemoveRepositoryResponse:
        """Forgets a repository."""
        return repository_pb2.RemoveRepositoryResponse(freed_bytes=self._workspace.remove(request.repository))

    def ListRepositories(
        self, request: repository_pb2.ListRepositoriesRequest, context: grpc.ServicerContext
    ) -> repository_pb2.ListRepositoriesResponse:
        """All repositories."""
        page, token = paged(self._workspace.repositories(), request.page_size, request.page_token, 100)
        entries = [
            repository_pb2.RepositoryEntry(repository=record_to_wire(each.record), progress=progress_to_wire(each))
            for each in page
        ]
        return repository_pb2.ListRepositoriesResponse(repositories=entries, next_page_token=token)

    def Refresh(
        self, request: repository_pb2.RefreshRequest, context: grpc.ServicerContext
    ) -> repository_pb2.RefreshResponse:
        """Brings an index up to date."""
        wait = patience_of(context, wire.seconds(request.max_wait))
        generation, completed = self._workspace.refresh(request.repository, full=request.full, patience=wait)
        return repository_pb2.RefreshResponse(generation=generation, completed=completed)

    def WatchIndexing(
        self, request: repository_pb2.WatchIndexingRequest, context: grpc.ServicerContext
    ) -> Iterator[repository_pb2.WatchIndexingResponse]:
        """Follows indexing."""
        for changed in self._workspace.follow(request.repository, lambda: not context.is_active()):
            yield repository_pb2.WatchIndexingResponse(progress=map(progress_to_wire, changed))

    def GetStatus(
        self, request: repository_pb2.GetStatusRequest, context: grpc.ServicerContext
    ) -> repository_pb2.GetStatusResponse:
        """How an index stands."""
        repository = self._workspace.repository(request.repository)
        response = repository_pb2.GetStatusResponse(
            repository=record_to_wire(repository.record),
            progress=progress_to_wire(repository),
            trailing_files=repository.changed_files(),
            sizes=[repository_pb2.PartSize(name=n, bytes=b) for n, b in self._workspace.sizes(repository.record)],
            watching=self._workspace.is_watching(request.repository),
            worker_memory_bytes=repository.worker_memory(),
        )
        if repository.snapshot is not None:
            self._describe(response, repository.snapshot)
        return response

    def _describe(self, response: repository_pb2.GetStatusResponse, snapshot: Snapshot) -> None:
        counts = self._workspace.counts(snapshot)
        response.commit = snapshot.commit
        response.indexed_time.CopyFrom(wire.timestamp(snapshot.indexed))
        response.files = sum(counts.files.values())
        response.nodes = len(snapshot.graph)
        response.edges = snapshot.graph.edge_count
        response.languages.extend(counts_to_wire(counts.files))
        response.kinds.extend(counts_to_wire({kind.name.lower(): n for kind, n in counts.nodes.items()}))
        response.skipped.extend(counts_to_wire(counts.skipped))
        classes = self._workspace.freshness_counts(snapshot)
        response.freshness.extend(counts_to_wire({LABELS[kind]: n for kind, n in classes.items() if n}))
        if snapshot.vectors is not None:
            response.embedding_model = snapshot.vectors.model_id
            response.embedded_nodes = snapshot.vectors.count()


def patience_of(context: grpc.ServicerContext, most: float = DEFAULT_DEADLINE_SECONDS) -> Patience:
    """How long the caller waits: its deadline, and no longer than it said."""
    return Patience(time.monotonic() + min(context.time_remaining(), most), lambda: not context.is_active())


def bounded(field: str, value: int, low: int, high: int, default: int) -> int:
    """A number of a request within its bounds; 0 is the default."""
    if value == 0:
        return default
    if not low <= value <= high:
        raise InvalidRequestError(f"{field}: {value} is not allowed; allowed: {low} to {high}")
    return value


def confidence_of(request: Any) -> float:
    """The least confidence of edges to walk."""
    if not request.HasField("min_confidence"):
        return Limits().min_confidence
    value: float = request.min_confidence
    if not 0.0 <= value <= 1.0:  # a NaN fails the comparison
        raise InvalidRequestError(f"min_confidence: {value} is not allowed; allowed: 0 to 1")
    return value


def limits_of(request: Any) -> Limits:
    """What bounds a traversal."""
    through_hubs = isinstance(request, graph_pb2.ImpactRequest)
    return Limits(
        min_confidence=confidence_of(request),
        results=bounded("limit", request.limit, 1, MAX_NODES, 200),
        hub_degree=THROUGH_HUBS.hub_degree if through_hubs else Limits().hub_degree,
    )


def paged(items: Sequence[Item], size: int, token: str, default: int) -> tuple[Sequence[Item], str]:
    """One page and the token of the next; a token is the position to go on from."""
    count = bounded("page_size", size, 1, MAX_PAGE, default)
    if token and not (token.isascii() and token.isdecimal() and len(token) < 10):
        raise InvalidRequestError(f"page_token: {token!r} is not one that this server gave")
    start = int(token or 0)
    end = start + count
    return items[start:end], str(end) if end < len(items) else ""


def depths_of(nodes: Sequence[CodeNode]) -> dict[NodeId, int]:
    """How deeply each node is nested among the others."""
    parents = {node.id: node.parent for node in nodes}
    depths: dict[NodeId, int] = {}
    for node in nodes:
        depth, parent = 0, node.parent
        while parent is not None and parent in parents and depth < len(parents):
            depth, parent = depth + 1, parents[parent]
        depths[node.id] = depth
    return depths


def record_to_wire(record: RepositoryRecord) -> repository_pb2.Repository:
    """A repository that was added."""
    return repository_pb2.Repository(
        name=record.name,
        root=wire.clean(record.root),
        id=record.id,
        added_time=wire.timestamp(record.added),
    )


def progress_to_wire(repository: Repository) -> repository_pb2.IndexProgress:
    """Where indexing stands."""
    state, snapshot = repository.state, repository.snapshot
    return repository_pb2.IndexProgress(
        repository=repository.record.name,
        phase=repository_pb2.IndexPhase.Value(f"INDEX_PHASE_{state.phase.name}"),
        done=state.done,
        total=state.total,
        generation=snapshot.generation if snapshot else 0,
        errors=map(wire.clean, state.errors),
        vectors_ready=snapshot is not None and snapshot.vectors_ready,
        history_ready=snapshot is not None and snapshot.history_ready,
        graph_ready=snapshot is not None and snapshot.graph_ready,
    )


def counts_to_wire(counts: Mapping[str, int]) -> list[repository_pb2.Count]:
    """Counts, most first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [repository_pb2.Count(name=name, count=count) for name, count in ordered if count]


def preview_to_wire(listing: Listing) -> repository_pb2.IndexPreview:
    """What would be indexed."""
    from ctxsearch.indexer.languages import detect  # brings the parsers along: not before somebody asks

    languages: dict[str, int] = {}
    reasons: dict[str, int] = {}
    for entry in listing.files:
        spec = detect(entry.path)
        name = spec.name if spec is not None else "text"
        languages[name] = languages.get(name, 0) + 1
    for skipped in listing.skipped:
        reasons[skipped.reason.value] = reasons.get(skipped.reason.value, 0) + 1
    return repository_pb2.IndexPreview(
        files=len(listing.files),
        bytes=sum(entry.stat.size for entry in listing.files),
        languages=counts_to_wire(languages),
        skipped=counts_to_wire(reasons),
        skipped_examples=[
            repository_pb2.SkippedFile(path=wire.clean(each.path), reason=each.reason.value)
            for each in listing.skipped[:EXAMPLES_SHOWN]
        ],
    )
