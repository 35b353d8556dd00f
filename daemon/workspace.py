"""THE DATA PATH. Repositories come in by `add`, changes by `refresh`, questions by `search` and the graph queries.

    refresh   watcher or caller -> Repository.wish -> worker process: list, parse, resolve, commit
              -> Stores.advance: pin the committed generation -> one assignment publishes it
    search    validated query -> the snapshots in scope, each one generation -> ContextSearchService -> answer

No protocol in here: `server.py` speaks for it.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from ctxsearch.daemon.errors import (
    AbandonedError,
    AmbiguousSymbolError,
    InvalidRequestError,
    NoIndexError,
    StoppingError,
    TooBusyError,
    UnknownNodeError,
)
from ctxsearch.daemon.freshness import FreshnessRules, NodePast, OldHot
from ctxsearch.daemon.guidance import unmatched
from ctxsearch.daemon.layout import Layout
from ctxsearch.daemon.logs import get_logger
from ctxsearch.daemon.memory import Sparing, release_memory
from ctxsearch.daemon.messages import Job, Phase
from ctxsearch.daemon.metrics import Metrics, RepositoryFigures
from ctxsearch.daemon.model import IdleEmbedder
from ctxsearch.daemon.registry import Registry, RepositoryRecord
from ctxsearch.daemon.repository import Patience, Repository
from ctxsearch.daemon.session import working_tree_root
from ctxsearch.daemon.settings import Settings
from ctxsearch.daemon.sites import Direction, Placed, placed
from ctxsearch.daemon.snapshot import Snapshot
from ctxsearch.daemon.stores import Stores
from ctxsearch.daemon.texts import KeptTexts
from ctxsearch.daemon.tracing import note_signal
from ctxsearch.daemon.watch import Touched, Watcher, git_directories
from ctxsearch.graph.catalog import CatalogCorruptError, CatalogError
from ctxsearch.graph.freshness import Freshness
from ctxsearch.graph.git import Git, GitError
from ctxsearch.graph.graph import DEPENDENCY_KINDS, Traversal
from ctxsearch.graph.model import CodeNode, Edge, NodeFlag, NodeId, NodeKind, Unresolved
from ctxsearch.graph.records import Counts, owner_of
from ctxsearch.graph.walk import THROUGH_HUBS, Limits
from ctxsearch.indexer.beneath import UnsafePathError, path_parts
from ctxsearch.indexer.files import Limits as FileLimits
from ctxsearch.indexer.files import Listing, Skipped, list_files, read_source
from ctxsearch.search.errors import FailedPrecondition
from ctxsearch.search.ports import FreshnessFact, OnDisk
from ctxsearch.search.query import Mode, SearchQuery, Signal
from ctxsearch.search.results import Guidance, Indexed, SearchResponse
from ctxsearch.search.service import ContextSearchService

_log = get_logger("ctxsearch.workspace")
LOADING_SECONDS = 30.0  # a question waits this long for an index that is being loaded
MAX_WATCHERS = 8  # streams of progress; each holds a thread of the server
CANDIDATES_SHOWN = 8
PLACE = re.compile(r".+:\d+", re.DOTALL)
HOUSEKEEPING_SECONDS = 1.0
FOLLOWS_NICER = 5
READY_AT_ONCE = 4  # repositories; with more, those that nobody asks about have no process that waits for edits
LOWEST_PRIORITY = 19  # of nice


@dataclass(frozen=True, slots=True)
class Located:
    """A node and the snapshot that it was found in."""

    snapshot: Snapshot
    node: CodeNode


@dataclass(frozen=True, slots=True)
class NodeDetail:
    """Everything about one node."""

    located: Located
    doc: str
    body: str
    freshness: FreshnessFact
    past: NodePast
    reasons: tuple[str, ...]
    callers: int
    dependencies: int
    unresolved: tuple[Unresolved, ...]


@dataclass(frozen=True, slots=True)
class FreshnessSummary:
    """How fresh a repository is: nodes per class, and the oldest code that living code relies on."""

    snapshot: Snapshot
    counts: dict[Freshness, int]
    oldest_hot: tuple[tuple[OldHot, CodeNode], ...]
    changed: frozenset[str]  # of their files, those that are no longer what was indexed


class Workspace:
    """All repositories of one data directory. Its cells are guarded by `_changed`."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._settings = settings
        self._metrics = metrics
        metrics.tell_of(self._figures)
        self._registry = Registry(settings.data_dir / "repositories.json")
        self.embedder = IdleEmbedder(settings.providers.open_embedder)
        self._service = ContextSearchService(self.embedder)
        self._freshness_rules = FreshnessRules.of(settings, time.time)
        self._kept_texts = KeptTexts()
        self._turn = threading.Semaphore(1)
        self._changed = threading.Condition()
        self._repositories: dict[str, Repository] = {}
        self._watchers: dict[str, Watcher] = {}
        self._versions: Counter[str] = Counter()  # per repository, one more with every change of its progress
        self._streams = 0
        self._stopping = threading.Event()
        self._housekeeper = threading.Thread(target=self._keep_house, name="housekeeping", daemon=True)

    # Life

    def open(self) -> None:
        """Starts every repository that was added: loads what was committed, then looks for what changed."""
        for record in self._registry.all():
            self._start(record)
        self._housekeeper.start()

    def close(self) -> None:
        """Abandons indexing safely and waits for it; answers in flight keep their snapshots."""
        self._stopping.set()
        with self._changed:
            self._changed.notify_all()
        for watcher in list(self._watchers.values()):
            watcher.close()
        for repository in list(self._repositories.values()):
            repository.close()
        self._service.close()
        if self._housekeeper.is_alive():
            self._housekeeper.join()

    @property
    def is_busy(self) -> bool:
        """True while any repository is being indexed."""
        return any(repository.is_busy for repository in self.repositories())

    # Repositories

    def repositories(self) -> tuple[Repository, ...]:
        """All, by name."""
        with self._changed:
            return tuple(self._repositories[name] for name in sorted(self._repositories))

    def repository(self, name: str) -> Repository:
        """One by its name."""
        self._registry.get(name)
        with self._changed:
            found = self._repositories.get(name)
        if found is None:
            raise StoppingError(f"{name} is being added or removed; try again")
        return found

    def add(self, path: str, name: str) -> tuple[RepositoryRecord, bool]:
        """Adds the working tree around a directory; True if it was there already."""
        root = repository_root(path)
        self._refuse_own_data(root)
        with self._changed:
            known = self._registry.at(root)
            if known is not None:
                return known, True
            record = self._registry.add(root, name, time.time())
            self._start(record)
            self._changed.notify_all()
        _log.info("repository added", repository=record.name)
        return record, False

    def preview(self, path: str, name: str, is_gone: Callable[[], bool]) -> tuple[RepositoryRecord, bool, Listing]:
        """What `add` would index, by name and content, and whether it is there already."""
        root, limits = repository_root(path), FileLimits(max_bytes=self._settings.max_file_bytes)
        known = self._registry.at(root)
        record = known or self._registry.proposed(root, name, time.time())
        return record, known is not None, _read(root, list_files(root, limits, _git(root)), limits, is_gone)

    def remove(self, name: str) -> int:
        """Forgets a repository and deletes its index; how many bytes that freed."""
        record = self._registry.remove(name)
        with self._changed:
            repository = self._repositories.pop(name, None)
            watcher = self._watchers.pop(name, None)
            self._changed.notify_all()
        if watcher is not None:
            watcher.close()
        if repository is not None:
            repository.close()
        self._service.withdraw(name)
        self._kept_texts.forget(Path(record.root))
        directory = self._directory(record)
        freed = sum(file.stat().st_size for file in directory.rglob("*") if file.is_file())
        shutil.rmtree(directory, ignore_errors=True)
        _log.info("repository removed", repository=name, freed=freed)
        return freed

    def refresh(self, name: str, *, full: bool, patience: Patience) -> tuple[int, bool]:
        """Brings an index up to date; the generation that answers, and whether it has everything."""
        repository = self.repository(name)
        number = repository.wish(None, full=full)
        completed = repository.wait_granted(number, patience)
        snapshot = repository.snapshot
        return (snapshot.generation if snapshot else 0), completed

    def follow(self, name: str, is_gone: Callable[[], bool]) -> Iterator[tuple[Repository, ...]]:
        """First every repository that was asked for, then those whose progress changed, without end."""
        if name:
            self.repository(name)
        with self._changed:
            if self._streams >= MAX_WATCHERS:
                raise TooBusyError(f"{MAX_WATCHERS} clients follow indexing already; close one")
            self._streams += 1
        try:
            yield from self._changes(name, is_gone)
        finally:
            with self._changed:
                self._streams -= 1

    def counts(self, snapshot: Snapshot) -> Counts:
        """How much there is, per language, kind and skip reason."""
        with snapshot.catalog.use() as catalog:
            return catalog.counts()

    def _figures(self) -> Iterator[RepositoryFigures]:
        """What the page of metrics shows of every repository."""
        for each in self.repositories():
            snapshot, skipped = each.snapshot, Counter[str]()
            if snapshot is not None:
                with contextlib.suppress(CatalogError), snapshot.catalog.use() as catalog:  # who reads it heals it
                    skipped.update(reason for _, reason in catalog.skipped())
            generation = snapshot.generation if snapshot is not None else 0
            waits = each.state.phase is Phase.QUEUED
            yield RepositoryFigures(each.record.name, generation, waits, each.worker_memory(), skipped)

    def sizes(self, record: RepositoryRecord) -> list[tuple[str, int]]:
        """Bytes on disk per part of an index."""
        sizes: Counter[str] = Counter()
        directory = self._directory(record)
        for file in directory.rglob("*"):
            with contextlib.suppress(FileNotFoundError):  # stores replace their files while we look
                if file.is_file():
                    part = file.relative_to(directory).parts
                    sizes[part[1] if len(part) > 2 else "catalog"] += file.stat().st_size
        return sorted(sizes.items())

    def freshness_counts(self, snapshot: Snapshot) -> dict[Freshness, int]:
        """Nodes with a file per freshness class, the freshest first."""
        found = snapshot.freshness
        counts = Counter(found.fact(node.id).freshness for node in snapshot.graph.nodes() if node.path)
        return {kind: counts[kind] for kind in sorted(Freshness, reverse=True)}

    def freshness_summary(self, name: str, most: int) -> FreshnessSummary:
        """How fresh a repository is as a whole."""
        snapshot = self._only_snapshot(name)
        hot = ((each, snapshot.graph.node(each.id)) for each in snapshot.freshness.oldest_hot(most))
        oldest = tuple((each, node) for each, node in hot if node is not None)
        changed = self.changed_on_disk(snapshot, [node for _, node in oldest])
        return FreshnessSummary(snapshot, self.freshness_counts(snapshot), oldest, changed)

    def is_watching(self, name: str) -> bool:
        """True while file events of a repository are being received."""
        watcher = self._watchers.get(name)
        return watcher is not None and watcher.watching.is_set()

    def layout(self, record: RepositoryRecord) -> Layout:
        """Where a repository's stores lie."""
        return Layout(self._directory(record))

    # Search

    def search(self, query: SearchQuery, patience: Patience) -> SearchResponse:
        """Answers from one generation of every repository in scope."""
        chosen = self._in_scope(query)
        if not chosen:
            return _nothing_searched(query, self.repositories())
        ready = [each for each in chosen if self._is_ready(each, query, patience)]
        if not ready:
            raise NoIndexError(_nothing_indexed(chosen))
        if len(ready) == 1:
            ready[0].expect_edits()
        trailing = {each.record.name: each.trailing_files for each in chosen}
        snapshots = [(each, each.snapshot) for each in ready]
        try:
            with self._healing(ready):
                response = self._service.search(self._of_what_is_there(query))
        except FailedPrecondition as error:
            reasons = _not_embedded(ready) if query.mode is Mode.SEMANTIC else []
            raise FailedPrecondition("; ".join((str(error), *reasons))) from error
        for report in response.signals:
            if report.ran:
                self._metrics.signal_latency.labels(report.signal.value).observe(report.milliseconds / 1000)
                note_signal(report.signal.value, report.milliseconds)
            elif len(ready) == 1 and _has_store(ready[0], report.signal):
                ready[0].distrust(report.error)
        response = self._with_vectors_behind(response, snapshots)
        if response.guidance is not None:
            graphs = [snapshot.graph for _, snapshot in snapshots if snapshot is not None]
            guidance = replace(response.guidance, unmatched=unmatched(query.scope, graphs))
            response = replace(response, guidance=guidance)
        changed = _shown_changed(response)
        self._tell_of_changed(changed)
        return self._with_missing(_with_trailing(response, chosen, trailing, changed), chosen, ready)

    @contextlib.contextmanager
    def _healing(self, asked: Sequence[Repository]) -> Iterator[None]:
        """Damage that a reader meets is made good by indexing again; the reader is told to come back."""
        try:
            yield
        except CatalogCorruptError as error:
            for repository in asked:
                if self.layout(repository.record).catalog == error.path:
                    repository.distrust(error.reason)
            raise StoppingError(f"an index is damaged and is being made again: {error.reason}") from error

    def _in_scope(self, query: SearchQuery) -> list[Repository]:
        for name in (*query.scope.repositories, *query.scope.exclude_repositories):
            self._registry.get(name)
        added = self.repositories()
        if not added:
            raise NoIndexError("no repository was added; run `ctxsearch add PATH`")
        chosen = [each for each in added if query.scope.accepts_repository(each.record.name)]
        if query.min_generation and len(chosen) > 1:
            raise InvalidRequestError("min_generation: needs exactly one repository in scope")
        return chosen

    def _of_what_is_there(self, query: SearchQuery) -> SearchQuery:
        """The query as it is asked of what was published: nobody has to wait, and what has no index is not named."""
        there, scope = self._service.repositories(), query.scope
        named = tuple(name for name in scope.repositories if name in there) or scope.repositories
        left_out = tuple(name for name in scope.exclude_repositories if name in there)
        if (named, left_out) != (scope.repositories, scope.exclude_repositories):
            query = replace(query, scope=replace(scope, repositories=named, exclude_repositories=left_out))
        return query if query.min_generation is None else replace(query, min_generation=None)

    def _is_ready(self, repository: Repository, query: SearchQuery, patience: Patience) -> bool:
        """Waits for the generation that was asked for, or for an index that is just being loaded."""
        if query.min_generation:
            wait = Patience(min(patience.deadline, time.monotonic() + query.max_wait), patience.is_gone)
            repository.wait_generation(query.min_generation, wait)
        else:
            repository.wait_first(_loading(patience))
        return repository.snapshot is not None

    def _with_vectors_behind(
        self, response: SearchResponse, before: Sequence[tuple[Repository, Snapshot | None]]
    ) -> SearchResponse:
        """Says where what was edited last has words and calls already, and no vectors yet."""
        if not any(report.signal is Signal.SEMANTIC and report.ran for report in response.signals):
            return response
        answered = {index.repository: index.generation for index in response.indexed}
        warnings = []
        for repository, snapshot in before:
            name = repository.record.name
            if snapshot is None or snapshot.generation != answered.get(name):
                snapshot = repository.snapshot  # published while the question was on its way
            count = repository.unembedded(snapshot) if snapshot is not None else 0
            if count:
                warnings.append(
                    f"semantic is behind: no vectors yet of {count} new {'node' if count == 1 else 'nodes'} of {name}"
                )
        return replace(response, degraded=True, warnings=(*response.warnings, *warnings)) if warnings else response

    def _with_missing(
        self, response: SearchResponse, chosen: Sequence[Repository], ready: Sequence[Repository]
    ) -> SearchResponse:
        """Says which repositories could not answer yet, and why others know no meaning."""
        missing = [each for each in chosen if each not in ready]
        asks_meaning = any(report.signal is Signal.SEMANTIC for report in response.signals)
        not_embedded = _not_embedded(ready) if asks_meaning else []
        if not missing and not not_embedded:
            return response
        failed = [each.record.name for each in missing if each.state.phase is Phase.FAILED]
        coming = [each.record.name for each in missing if each.record.name not in failed]
        warnings = [*response.warnings]
        if coming:
            warnings.append(f"not indexed yet: {', '.join(coming)}; follow it with `ctxsearch watch`")
        if failed:
            warnings.append(f"could not be indexed: {', '.join(failed)}; `ctxsearch list` says why")
        warnings += not_embedded
        return replace(response, degraded=True, warnings=tuple(warnings))

    # Graph

    def locate(self, name: str, symbol: str) -> Located:
        """The one node that an id, a name, a qualified name or `path:line` means."""
        found: list[Located] = []
        near: list[str] = []
        for snapshot in self._snapshots(name):
            answer = snapshot.graph.find(symbol)
            found += [Located(snapshot, node) for node in answer.matches]
            near += answer.near
        if not found:
            file = symbol.rpartition(":")[0] if PLACE.fullmatch(symbol) else symbol
            reasons = filter(None, (self.left_out_because(each, file) for each in self._snapshots(name)))
            raise UnknownNodeError(symbol, near[:CANDIDATES_SHOWN], next(reasons, ""))
        # What the repository defines is meant before what it merely calls.
        found = [each for each in found if each.node.kind is not NodeKind.EXTERNAL] or found
        # What is defined is meant before what is declared of it: in a header, by `@overload`.
        defined = {_defined_as(each) for each in found if not each.node.flags & NodeFlag.DECLARATION}
        found = [
            each for each in found if not each.node.flags & NodeFlag.DECLARATION or _defined_as(each) not in defined
        ]
        if len(found) > 1:
            shown = [describe(each) for each in found[:CANDIDATES_SHOWN]]
            raise AmbiguousSymbolError(symbol, shown, len(found))
        return found[0]

    def locate_id(self, name: str, node_id: str) -> Located:
        """The node of an id."""
        for snapshot in self._snapshots(name):
            node = snapshot.graph.node(NodeId(node_id))
            if node is not None:
                return Located(snapshot, node)
        raise UnknownNodeError(node_id, ())

    def walkable(self, located: Located) -> Located:
        """The same node where its edges are resolved; waits while a first index is at that."""
        if located.snapshot.graph_ready:
            return located
        name = located.snapshot.repository
        snapshot = self.repository(name).wait_graph(Patience(time.monotonic() + LOADING_SECONDS))
        if snapshot is None or not snapshot.graph_ready:
            raise NoIndexError(f"the calls of {name} are not resolved yet; follow it with `ctxsearch watch`")
        return self.locate_id(name, located.node.id)

    def detail(self, located: Located, *, with_text: bool) -> NodeDetail:
        """Everything about a node."""
        snapshot, node = located.snapshot, located.node
        with self._healing(self.repositories()):
            content = snapshot.texts.contents([node])[0] if with_text else None
            with snapshot.catalog.use() as catalog:
                unresolved = catalog.unresolved(node)
                documents = dict(catalog.documents([node.path])) if with_text else {}
        doc = next((d.doc for d in documents.get(node.path, ()) if d.node.id == node.id), "")
        return NodeDetail(
            located=located,
            doc=doc,
            body=content.body if content is not None else "",
            freshness=snapshot.freshness.fact(node.id),
            past=snapshot.freshness.past(node.id),
            reasons=snapshot.freshness.reasons(node.id),
            callers=snapshot.graph.callers([node.id], 1).reached,
            dependencies=snapshot.graph.dependencies([node.id], 1).reached,
            unresolved=unresolved,
        )

    def changed_on_disk(self, snapshot: Snapshot, nodes: Iterable[CodeNode]) -> frozenset[str]:
        """The files of these nodes that are no longer what was indexed: where a node is shown, its place is marked.

        Its repository counts them among those that changed.
        """
        with self._healing(self.repositories()):
            changed = snapshot.texts.changed(list(nodes))
        self._tell_of_changed({snapshot.repository: changed})
        return changed

    def _tell_of_changed(self, found: Mapping[str, Collection[str]]) -> None:
        for name, paths in found.items():
            repository = self._repositories.get(name) if paths else None
            if repository is not None:  # else it was removed meanwhile
                repository.note_changed(paths)

    def reasons(self, name: str, node_id: str) -> tuple[str, ...]:
        """Why a node has its freshness class."""
        snapshot = self.repository(name).snapshot
        return snapshot.freshness.reasons(NodeId(node_id)) if snapshot is not None else ()

    def callers(self, located: Located, depth: int, limits: Limits) -> Traversal:
        """Who calls a node."""
        return located.snapshot.graph.callers([located.node.id], depth, limits)

    def dependencies(self, located: Located, depth: int, limits: Limits) -> Traversal:
        """What a node depends on."""
        return located.snapshot.graph.dependencies([located.node.id], depth, limits)

    def related(self, located: Located, radius: int, limits: Limits) -> Traversal:
        """What is near a node."""
        return located.snapshot.graph.related([located.node.id], radius, limits)

    def impact(self, located: Located, depth: int, limits: Limits) -> Traversal:
        """Who is affected if a node changes."""
        return located.snapshot.graph.impact(located.node.id, depth, limits)

    def path(
        self, start: Located, end: Located, max_depth: int, min_confidence: float
    ) -> tuple[list[CodeNode], list[Edge]]:
        """The shortest way by which one node depends on another; empty if there is none."""
        snapshot = start.snapshot
        if end.snapshot is not snapshot:
            raise InvalidRequestError("to: is in another repository; a path stays in one")
        limits = replace(THROUGH_HUBS, min_confidence=min_confidence)
        found = snapshot.graph.path(start.node.id, end.node.id, limits)
        if len(found.nodes) > max_depth + 1:
            return [], []
        steps = [self._edge(snapshot, a, b, min_confidence) for a, b in pairwise(found.nodes)]
        return list(found.nodes), steps

    def placed(self, located: Located, found: Traversal, direction: Direction) -> list[Placed]:
        """What a walk from a node reached, with the lines that say so."""
        with self._healing(self.repositories()):
            return placed(located.snapshot, found, direction)

    def unresolved(self, located: Located) -> tuple[Unresolved, ...]:
        """Calls in a node whose target is not known."""
        with located.snapshot.catalog.use() as catalog:
            return catalog.unresolved(located.node)

    def _edge(self, snapshot: Snapshot, source: CodeNode, target: CodeNode, min_confidence: float) -> Edge:
        """The surest edge between two neighbours of a path, with the lines of its sites."""
        links = [
            link
            for link in snapshot.graph.links_from(source.id)
            if link.node == target.id and link.kind in DEPENDENCY_KINDS and link.confidence >= min_confidence
        ]
        best = min(links, key=lambda link: (-link.confidence, link.kind, link.rule))
        with snapshot.catalog.use() as catalog:
            lines = catalog.sites(owner_of(source)).get((source.id, target.id, best.kind), ())
        return Edge(source.id, target.id, best.kind, best.confidence, best.rule, lines)

    def find(self, name: str, text: str, limit: int) -> tuple[list[Located], list[str]]:
        """Nodes by name, and near names when there are none."""
        found: list[Located] = []
        near: list[str] = []
        for snapshot in self._snapshots(name):
            answer = snapshot.graph.find(text, limit)
            found += [Located(snapshot, node) for node in answer.matches]
            near += answer.near
        return found, near

    def find_prefix(self, name: str, prefix: str) -> list[Located]:
        """Nodes whose name or qualified name starts so, in order of repository, path and line."""
        return [
            Located(snapshot, node)
            for snapshot in self._snapshots(name)
            for node in sorted(snapshot.graph.nodes(), key=lambda n: (n.path, n.start_line, n.id))
            if node.name.startswith(prefix) or node.qualified_name.startswith(prefix)
        ]

    def outline(self, name: str, path: str) -> tuple[Snapshot, list[CodeNode]]:
        """The nodes of a file, or of all files of a directory, in order of path and line."""
        snapshot = self._only_snapshot(name)
        wanted = inside(path)
        own = snapshot.graph.outline(wanted)
        if own:
            return snapshot, list(own)
        beneath = [n for n in snapshot.graph.nodes() if not wanted or n.path.startswith(wanted + "/")]
        return snapshot, sorted((n for n in beneath if n.path), key=lambda n: (n.path, n.start_line, -n.end_line, n.id))

    def left_out_because(self, snapshot: Snapshot, path: str) -> str:
        """Why a file of this path is not indexed; "" if it is, or if no rule lets it be seen."""
        with self._healing(self.repositories()), snapshot.catalog.use() as catalog:
            return catalog.skip_reason(path.removeprefix("./")) or ""

    def _only_snapshot(self, name: str) -> Snapshot:
        snapshots = self._snapshots(name)
        if len(snapshots) != 1:
            raise InvalidRequestError(f"repository: say which: {', '.join(each.repository for each in snapshots)}")
        return snapshots[0]

    def _snapshots(self, name: str) -> list[Snapshot]:
        chosen = [self.repository(name)] if name else list(self.repositories())
        loading = Patience(time.monotonic() + LOADING_SECONDS)
        found = [each.snapshot or each.wait_first(loading) for each in chosen]
        snapshots = [snapshot for snapshot in found if snapshot is not None]
        if not snapshots:
            raise NoIndexError(_nothing_indexed(chosen))
        if len(chosen) == 1:
            chosen[0].expect_edits()
        return snapshots

    # What happens by itself

    def _start(self, record: RepositoryRecord) -> None:
        layout = self.layout(record)
        layout.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        repository = Repository(
            record,
            Stores(
                record.name,
                Path(record.root),
                layout,
                self.embedder,
                self._freshness_rules,
                self._kept_texts,
                self._settings.providers,
            ),
            (self._job("index", record, layout), self._job("follow", record, layout)),
            self._turn,
            self._settings.worker_idle_seconds,
            len(self._registry.all()) <= READY_AT_ONCE,
            self._note_change,
            self._publish,
        )
        self._repositories[record.name] = repository
        repository.start()
        if self._settings.watch:
            watcher = Watcher(
                Path(record.root),
                self._settings.data_dir,
                lambda touched: self._on_touched(repository, touched),
                debounce_ms=self._settings.debounce_ms,
                reconcile_seconds=self._settings.reconcile_seconds,
            )
            self._watchers[record.name] = watcher
            watcher.start()

    def _job(self, role: str, record: RepositoryRecord, layout: Layout) -> Job:
        settings = self._settings
        return Job(
            role=role,
            root=record.root,
            directory=str(layout.directory),
            history_dir=str(settings.data_dir / "history"),
            max_file_bytes=settings.max_file_bytes,
            parse_workers=settings.effective_parse_workers,
            niceness=_niceness(role, settings.indexing_niceness),
            thresholds=self._freshness_rules.looking_closely(),
            lenders=self._lenders(record),
            providers=settings.providers,
        )

    def _lenders(self, record: RepositoryRecord) -> tuple[str, ...]:
        """Catalogs of the other work trees of a git repository: what they have parsed need not be parsed again."""
        own = git_directories(Path(record.root))
        return tuple(
            str(self.layout(other).catalog)
            for other in self._registry.all()
            if own and other.id != record.id and git_directories(Path(other.root))[-1:] == own[-1:]
        )

    def _directory(self, record: RepositoryRecord) -> Path:
        return self._settings.repositories_dir / record.id

    def _on_touched(self, repository: Repository, touched: Touched) -> None:
        repository.wish(touched.paths)

    def _publish(self, repository: Repository, snapshot: Snapshot) -> None:
        self._service.publish(snapshot.corpus(repository.repair))

    def _note_change(self, repository: Repository) -> None:
        with self._changed:
            self._versions[repository.record.name] += 1
            self._changed.notify_all()

    def _changes(self, name: str, is_gone: Callable[[], bool]) -> Iterator[tuple[Repository, ...]]:
        seen: dict[str, int] = {}
        first = True
        while not is_gone() and not self._stopping.is_set():
            with self._changed:
                wanted = {key: each for key, each in self._repositories.items() if name in ("", key)}
                news = [each for key, each in sorted(wanted.items()) if seen.get(key) != self._versions[key]]
                seen = {key: self._versions[key] for key in wanted}
                if not news and not first:
                    self._changed.wait(0.5)
                    continue
            first = False
            yield tuple(news)

    def _keep_house(self) -> None:
        """Ends indexing processes that outgrow the budget, replaces lost ones, and lets an idle model go."""
        budget, sparing = self._settings.memory_budget_mb << 20, Sparing()
        while not self._stopping.wait(HOUSEKEEPING_SECONDS):
            for repository in self.repositories():
                repository.notice_lost_process()
                used = repository.worker_memory()
                if used > budget:
                    _log.error("over the memory budget", repository=repository.record.name, bytes=used)
                    repository.kill_workers(f"indexing took {used >> 20} MB; raise memory_budget_mb")
            if self.embedder.unload_after(self._settings.model_idle_seconds):
                _log.info("model unloaded")
                release_memory()
            sparing.look((len(sys.modules), tuple(each.record.name for each in self.repositories())))

    def _refuse_own_data(self, root: Path) -> None:
        if root.is_relative_to(self._settings.data_dir.resolve()):
            raise InvalidRequestError(f"path: {root} is ctxsearch's own data directory")


def _has_store(repository: Repository, signal: Signal) -> bool:
    """True if a signal had what it needs and failed nevertheless."""
    snapshot = repository.snapshot
    if snapshot is None:
        return False
    if signal is Signal.GRAPH:
        return snapshot.graph_ready
    return (snapshot.vectors if signal is Signal.SEMANTIC else snapshot.full_text) is not None


def _not_embedded(ready: Sequence[Repository]) -> list[str]:
    """Why repositories that answer have no vectors, where something went wrong."""
    reasons = [(each.record.name, each.no_vectors_because) for each in ready]
    return [f"{name} was not embedded: {reason}; run `ctxsearch doctor`" for name, reason in reasons if reason]


def _niceness(role: str, chosen: int) -> int:
    """History and vectors yield to files: an edit must not wait for the vectors of the one before. 0: nobody yields."""
    return min(chosen + FOLLOWS_NICER, LOWEST_PRIORITY) if role == "follow" and chosen else chosen


def _nothing_searched(query: SearchQuery, added: Sequence[Repository]) -> SearchResponse:
    """The answer where the scope leaves out every repository, or every one that it names."""
    excluded = set(query.scope.exclude_repositories)
    named = [each.record.name for each in added if each.record.name in excluded]
    searched = f"no repository; the scope leaves out {', '.join(named)}"
    return SearchResponse(results=(), signals=(), indexed=(), guidance=Guidance(searched))


def _shown_changed(response: SearchResponse) -> dict[str, set[str]]:
    """The files of the results that are no longer what was indexed, by repository."""
    changed: defaultdict[str, set[str]] = defaultdict(set)
    for result in response.results:
        if result.on_disk in (OnDisk.CHANGED, OnDisk.VANISHED):
            changed[result.repository].add(result.node.path)
    return dict(changed)


def _with_trailing(
    response: SearchResponse,
    asked: Sequence[Repository],
    before: Mapping[str, int],
    changed: Mapping[str, Collection[str]],
) -> SearchResponse:
    """Says how many files changed since what answered was indexed: those known of, and no fewer than results show."""
    shown = {name: len(paths) for name, paths in changed.items()}
    repositories = {each.record.name: each for each in asked}

    def known(index: Indexed) -> int:
        if index.repository not in repositories:
            return 0
        repository = repositories[index.repository]
        now, snapshot = repository.trailing_files, repository.snapshot
        has_moved_on = snapshot is not None and snapshot.generation != index.generation
        return max(now, before[index.repository]) if has_moved_on else now

    return replace(
        response,
        indexed=tuple(
            replace(index, pending_files=max(known(index), shown.get(index.repository, 0)))
            for index in response.indexed
        ),
    )


def _loading(patience: Patience) -> Patience:
    return Patience(min(patience.deadline, time.monotonic() + LOADING_SECONDS), patience.is_gone)


def repository_root(path: str) -> Path:
    """The top of the working tree around a directory, or the directory itself; refuses what is no directory."""
    if not path or not Path(path).is_absolute() or "\0" in path:
        raise InvalidRequestError(f"path: {path!r} is not an absolute path of a directory")
    folder = Path(path).resolve()
    if not folder.is_dir():
        raise InvalidRequestError(f"path: {path} is not a directory")
    return working_tree_root(folder) or folder


def inside(path: str) -> str:
    """A path of a request, relative to a repository's root; "" is the root. Refuses whatever could lead out."""
    cleaned = path.removeprefix("./").rstrip("/")
    if cleaned in ("", "."):
        return ""
    try:
        path_parts(cleaned)
    except UnsafePathError as error:
        raise InvalidRequestError(f"path: {error}") from error
    return cleaned


def _defined_as(located: Located) -> tuple[str, ...]:
    """The same for a declaration and its definition: of a function its name, of a member where it stands."""
    repository, node = located.snapshot.repository, located.node
    return (repository, node.name) if node.kind is NodeKind.FUNCTION else (repository, node.path, node.qualified_name)


def describe(located: Located) -> str:
    """A node so that it can be told from others of its name."""
    node = located.node
    place = f"{node.path}:{node.start_line}" if node.path else node.kind.name.lower()
    return f"{node.qualified_name or node.name} ({place}, {node.id})"


def _read(root: Path, listing: Listing, limits: FileLimits, is_gone: Callable[[], bool]) -> Listing:
    """The listing without the files that reading refuses."""
    files, refused = [], []
    for entry in listing.files:
        if is_gone():
            raise AbandonedError("the caller is gone")
        outcome = read_source(root, entry.path, limits)
        if isinstance(outcome, Skipped):
            refused.append(outcome)
        else:
            files.append(entry)
    return Listing(tuple(files), tuple(sorted((*listing.skipped, *refused), key=lambda each: each.path)))


def _git(root: Path) -> Git | None:
    try:
        return Git.open(root)
    except GitError:
        return None


def _nothing_indexed(chosen: Sequence[Repository]) -> str:
    failed = [each for each in chosen if each.state.phase is Phase.FAILED]
    if failed:
        name, state = failed[0].record.name, failed[0].state
        return f"{name} could not be indexed: {'; '.join(state.errors)}; run `ctxsearch doctor`"
    names = ", ".join(each.record.name for each in chosen)
    return f"{names or 'nothing'} is not indexed yet; follow it with `ctxsearch watch`, or run `ctxsearch add PATH`"
