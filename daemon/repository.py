"""One repository in the serving process: its published snapshot, where indexing stands, and what moves it on.

Two threads, each with a process of its own behind it: `index` brings files into catalog and full text, `follow` brings
history and vectors after it. So an edit never waits for vectors. Queries read `snapshot` and wait for nobody.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ctxsearch.daemon.errors import AbandonedError, GenerationNotReachedError, IndexingFailedError, StoppingError
from ctxsearch.daemon.logs import get_logger
from ctxsearch.daemon.memory import release_memory, resident_bytes
from ctxsearch.daemon.messages import Committed, Done, Job, Phase, Prepare, Progress, Refresh
from ctxsearch.daemon.process import WorkerProcess
from ctxsearch.daemon.registry import RepositoryRecord
from ctxsearch.daemon.snapshot import Snapshot
from ctxsearch.daemon.stores import Stores
from ctxsearch.daemon.watch import git_is_writing
from ctxsearch.graph.catalog import CatalogCorruptError
from ctxsearch.graph.model import NodeId

_log = get_logger("ctxsearch.repository")
DISTRUST_SECONDS = 600.0
GIT_STEP_SECONDS = 0.02
TURN_STEP_SECONDS = 0.1
GIT_LAST_SECONDS = 0.15  # within which the watcher tells of what git wrote last
SHORT_IDLE_SECONDS = 120.0  # of a process that nobody waits for: the follower's, or an index's that is not in use
ATTEMPTS = 2  # of a refresh whose worker died: the first may have been killed from outside


@dataclass(frozen=True, slots=True)
class State:
    """Where indexing stands; replaced as a whole."""

    phase: Phase = Phase.QUEUED
    done: int = 0
    total: int = 0
    errors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a caller waits, and whether it still does."""

    deadline: float  # time.monotonic()
    is_gone: Callable[[], bool] = lambda: False

    def left(self) -> float:
        """Seconds; raises AbandonedError when nobody waits any more."""
        if self.is_gone():
            raise AbandonedError("the caller is gone")
        return self.deadline - time.monotonic()


class _Wishes:
    """Refreshes asked for and not begun, merged into one. Guarded by the repository's condition."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.everything = False
        self.full = False
        self.asked = 0  # number of the last wish
        self.granted = 0  # all wishes up to this number are on disk and published

    def add(self, paths: tuple[str, ...] | None, full: bool) -> int:
        if paths is None:
            self.everything = True
        else:
            self.paths.update(paths)
        self.full |= full
        self.asked += 1
        return self.asked

    def __bool__(self) -> bool:
        return bool(self.paths) or self.everything or self.full

    def take(self) -> tuple[Refresh, int] | None:
        """The order that grants all wishes so far; None without any."""
        if not self:
            return None
        whole = self.everything or self.full
        order = Refresh(None if whole else tuple(sorted(self.paths)), self.full)
        self.paths, self.everything, self.full = set(), False, False
        return order, self.asked


class Repository:
    """One repository. The mutable cells are guarded by `_changed`; `_snapshot` is written by `_put` alone."""

    def __init__(
        self,
        record: RepositoryRecord,
        stores: Stores,
        jobs: tuple[Job, Job],
        turn: threading.Semaphore,
        worker_idle_seconds: float,
        in_use: bool,
        on_change: Callable[[Repository], None],
        on_publish: Callable[[Repository, Snapshot], None],
    ) -> None:
        self.record = record
        self.stores = stores
        self._index_job, self._follow_job = jobs
        self._turn = turn  # first and full indexing take turns: they are what costs memory
        self._worker_idle_seconds = worker_idle_seconds
        self._short_idle_seconds = min(worker_idle_seconds, SHORT_IDLE_SECONDS)
        self._on_change = on_change
        self._on_publish = on_publish  # called before the snapshot can be seen, so that a waiter finds it everywhere
        self._changed = threading.Condition(threading.RLock())
        self._wishes = _Wishes()
        self._state = State()
        self._follow_state = State(Phase.IDLE)
        self._snapshot: Snapshot | None = None
        self._under_way: tuple[str, ...] = ()
        # As last counted, with what it was counted of: identity and generation of a catalog, generation of vectors.
        # Replaced as a whole; a snapshot itself would be kept in memory.
        self._unembedded: tuple[tuple[str, int, int], int] = (("", 0, 0), 0)
        self._found_changed: frozenset[str] = frozenset()  # files that an answer had to mark, whoever told of them
        self._unreadable: frozenset[str] = frozenset()  # changed, and could not be indexed; the indexing thread's own
        self._behind = False  # history or vectors have something to do
        self._unread = False  # history and vectors of before a restart are on disk, and not read yet
        self._stopping = False
        self._kill_reason = ""
        self._distrusted = -DISTRUST_SECONDS
        self._workers: dict[str, WorkerProcess] = {}
        self._in_use = in_use  # edits are expected: somebody asked about it, or changed it, not long ago
        self._unready = True  # the indexing process has not yet read what the next edit needs
        self._asked = 0.0  # time.monotonic() of the last question; written without the condition
        self._expect_after = 0.0  # time.monotonic() before which no process is started ahead of need
        self._threads = [
            threading.Thread(target=self._index_loop, name=f"index {record.name}", daemon=True),
            threading.Thread(target=self._follow_loop, name=f"follow {record.name}", daemon=True),
        ]

    # What others see

    @property
    def root(self) -> Path:
        """The working tree."""
        return Path(self.record.root)

    @property
    def snapshot(self) -> Snapshot | None:
        """What answers now; None before the first generation."""
        return self._snapshot

    @property
    def state(self) -> State:
        """Where indexing stands; history and vectors show once the files are done."""
        with self._changed:
            if self._state.phase is not Phase.IDLE:
                return self._state
            if self._behind and self._follow_state.phase is Phase.IDLE:
                return State(Phase.QUEUED, errors=self._state.errors)
            errors = (*self._state.errors, *self._follow_state.errors)
            return replace(self._follow_state, errors=errors)

    @property
    def no_vectors_because(self) -> str:
        """What went wrong where this answers without all vectors; "" where they are there, or still to come."""
        with self._changed:
            snapshot, follower = self._snapshot, self._follow_state
        is_without = snapshot is not None and not snapshot.vectors_ready
        return "; ".join(follower.errors) if is_without else ""

    def unembedded(self, snapshot: Snapshot) -> int:
        """How many nodes of a snapshot of its own have no vector yet; while that stays so it is counted once."""
        if snapshot.vectors is None or snapshot.vectors_ready:
            return 0
        wanted = (snapshot.catalog.identity, snapshot.generation, snapshot.vectors.generation)
        of, count = self._unembedded
        if of != wanted:
            count = snapshot.unembedded()
            self._unembedded = wanted, count
        return count

    @property
    def trailing_files(self) -> int:
        """Files known to have changed that the snapshot does not have."""
        with self._changed:
            return len(self._wishes.paths.union(self._under_way))

    def changed_files(self) -> int:
        """Files known to have changed: those told of, and those that an answer met and that still differ."""
        with self._changed:
            told, met, snapshot = self._wishes.paths.union(self._under_way), self._found_changed, self._snapshot
        still = _differing(snapshot, met) if snapshot is not None else met
        with self._changed:
            self._found_changed -= met - still
        return len(told | still)

    def note_changed(self, paths: Collection[str]) -> None:
        """An answer met files that are no longer what was indexed."""
        with self._changed:
            self._found_changed |= frozenset(paths)

    @property
    def is_busy(self) -> bool:
        """True while something is being indexed."""
        return self.state.phase not in (Phase.IDLE, Phase.FAILED)

    def worker_memory(self) -> int:
        """Resident memory of its processes."""
        return sum(resident_bytes(worker.pid) for worker in list(self._workers.values()))

    # What others ask

    def start(self) -> None:
        """Loads what was committed and looks for what changed since."""
        self.wish(None)
        for thread in self._threads:
            thread.start()

    def wish(self, paths: tuple[str, ...] | None, *, full: bool = False) -> int:
        """Asks for a refresh; returns the number to wait for."""
        with self._changed:
            number = self._wishes.add(paths, full)
            self._in_use |= paths is not None
            if self._state.phase in (Phase.IDLE, Phase.FAILED):
                self._state = State(Phase.QUEUED, errors=self._state.errors)
            self._changed.notify_all()
        self._on_change(self)
        return number

    def wait_granted(self, number: int, patience: Patience) -> bool:
        """Waits until a wish is on disk and published; False when patience ran out or indexing failed."""
        with self._changed:
            self._wait(lambda: self._wishes.granted >= number, patience)
            return self._wishes.granted >= number and self._state.phase is not Phase.FAILED

    def wait_generation(self, generation: int, patience: Patience) -> Snapshot:
        """The snapshot once it is of that generation or later."""
        with self._changed:
            self._wait(lambda: self._snapshot is not None and self._snapshot.generation >= generation, patience)
            found = self._snapshot
        if found is None or found.generation < generation:
            raise GenerationNotReachedError(generation, found.generation if found else 0)
        return found

    def wait_first(self, patience: Patience) -> Snapshot | None:
        """A snapshot that can answer, while one that was committed earlier is still being loaded or completed."""
        with self._changed:
            self._wait(self._is_as_ready_as_it_gets, patience)
            return self._snapshot

    def wait_graph(self, patience: Patience) -> Snapshot | None:
        """A snapshot whose edges are resolved, or the best there is when patience ran out or indexing is over."""
        with self._changed:
            self._wait(
                lambda: (self._snapshot is not None and self._snapshot.graph_ready) or not self.is_busy, patience
            )
            return self._snapshot

    def _is_as_ready_as_it_gets(self) -> bool:
        if self._snapshot is None:
            return self._state.phase is not Phase.QUEUED
        return self._snapshot.can_answer or self._state.phase in (Phase.IDLE, Phase.FAILED)

    def expect_edits(self) -> None:
        """Whoever asks about a repository is at work in it: its next edit should find an indexing process ready."""
        self._asked = time.monotonic()
        if self._in_use and self._has_process():
            return
        with self._changed:
            self._in_use = True
            self._changed.notify_all()

    def notice_lost_process(self) -> None:
        """Has another process made ready where the one for edits was killed: the next edit need not wait for it."""
        if self._in_use and "index" in self._workers and not self._has_process():
            with self._changed:
                self._changed.notify_all()

    def kill_workers(self, reason: str) -> None:
        """Ends its processes because of the reason; the refresh under way fails with it. None is made ready for now."""
        self._kill_reason = reason
        self._expect_after = time.monotonic() + DISTRUST_SECONDS
        for worker in list(self._workers.values()):
            worker.end()

    def distrust(self, reason: str) -> None:
        """A store failed a reader: index again from scratch, but not over and over."""
        now = time.monotonic()
        if now - self._distrusted < DISTRUST_SECONDS:
            return
        self._distrusted = now
        _log.error("a store failed; indexing again", repository=self.record.name, reason=reason)
        self.wish(None, full=True)

    def repair(self, unknown: Sequence[NodeId]) -> None:
        """An index knows ids that the graph does not: have it brought in line."""
        _log.warning("unknown ids in an index", repository=self.record.name, count=len(unknown))
        with self._changed:
            self._behind = True
            self._changed.notify_all()

    def close(self) -> None:
        """Abandons what is under way, safely, and waits for the threads."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
        while any(thread.is_alive() for thread in self._threads):
            for worker in list(self._workers.values()):
                worker.end()
            for thread in self._threads:
                thread.join(0.1)
        self.stores.close()

    def _wait(self, until: Callable[[], bool], patience: Patience) -> None:
        """Waits on the condition in steps, so that a caller who left is noticed."""
        while not until():
            if self._stopping:
                raise StoppingError("the daemon is stopping; try again")
            left = patience.left()
            if left <= 0:
                return
            self._changed.wait(min(left, 0.25))

    # Indexing: files to catalog and full text

    def _index_loop(self) -> None:
        self._load_committed()
        while (taken := self._next_wish()) is not None:
            if isinstance(taken, Prepare):
                self._prepare()
                continue
            order, number = taken
            first = self._snapshot is None or order.full
            with self._its_turn() if first else contextlib.nullcontext():
                succeeded = self._attempt("index", self._index_job, order, self._hear_index)
            self._note_unreadable(order, succeeded=succeeded)
            self._grant(number)
            self._unready |= succeeded and order.paths is None
        self._dismiss("index")

    @contextlib.contextmanager
    def _its_turn(self) -> Iterator[None]:
        """Waits for the turn, or until it is stopped: whoever closes it must not wait for another repository."""
        mine = False
        while not mine and not self._stopping:
            mine = self._turn.acquire(timeout=TURN_STEP_SECONDS)
        try:
            yield
        finally:
            if mine:
                self._turn.release()

    def _prepare(self) -> None:
        """Has the indexing process ready for an edit. If that fails, the edit will say so."""
        start = time.monotonic()
        try:
            for report in self._worker("index", self._index_job).carry_out(Prepare()):
                if isinstance(report, Committed):
                    self._advance()
            self._unready = False
            _log.info("ready for edits", repository=self.record.name, ms=round((time.monotonic() - start) * 1000))
        except Exception as error:  # this thread must live
            self._dismiss("index")
            self._expect_after = time.monotonic() + DISTRUST_SECONDS
            _log.warning("not ready for edits", repository=self.record.name, error=str(error))

    def _note_unreadable(self, order: Refresh, *, succeeded: bool) -> None:
        """Files that changed and could not be indexed are not to be trusted, until they are."""
        before = self._unreadable
        if not succeeded:
            self._unreadable |= frozenset(order.paths or ())
        else:
            self._unreadable = self._unreadable - frozenset(order.paths) if order.paths else frozenset()
        with self._changed:
            now = self._snapshot
            if now is not None and (before or self._unreadable):
                self._put(replace(now, freshness=now.freshness.distrusting(_differing(now, self._unreadable))))

    def _next_wish(self) -> tuple[Refresh, int] | Prepare | None:
        """The next order; an idle worker is sent away meanwhile. None when stopping."""
        with self._changed:
            idle_since = time.monotonic()
            while not self._stopping:
                if self._wishes:
                    self._let_git_finish()
                taken = self._wishes.take()
                if taken is not None:
                    self._under_way = taken[0].paths or ()
                    return taken
                if self._should_prepare():
                    return Prepare()
                patience = self._worker_idle_seconds if self._in_use else self._short_idle_seconds
                idle_left = max(idle_since, self._asked) + patience - time.monotonic()
                if idle_left <= 0 and "index" in self._workers:
                    self._dismiss("index")
                    self._in_use = False
                self._changed.wait(idle_left if "index" in self._workers else None)
        return None

    def _should_prepare(self) -> bool:
        if not self._in_use or self._snapshot is None or time.monotonic() < self._expect_after:
            return False
        return self._unready or not self._has_process()

    def _has_process(self) -> bool:
        worker = self._workers.get("index")
        return worker is not None and worker.is_alive

    def _let_git_finish(self) -> None:
        """Git changes files one after the other: one look when it is done, not one for every burst of events."""
        if not git_is_writing(self.root, time.time()):
            return
        while git_is_writing(self.root, time.time()) and not self._stopping:
            self._changed.wait(GIT_STEP_SECONDS)
        last = time.monotonic() + GIT_LAST_SECONDS
        while not (self._wishes.everything or self._stopping) and (left := last - time.monotonic()) > 0:
            self._changed.wait(left)

    def _hear_index(self, report: Progress | Committed | Done) -> None:
        if isinstance(report, Progress):
            self._set_state(State(report.phase, report.done, report.total))
        elif isinstance(report, Committed):
            self._advance()
        else:
            self._set_state(State(Phase.IDLE, errors=report.problems))

    def _advance(self) -> None:
        """Reads the committed generation and publishes it, with what the follower brought meanwhile."""
        before = self._snapshot
        after = self.stores.advance(before)
        if after is None or (before is not None and _says_less(before, after)):
            return
        with self._changed:
            now = self._snapshot
            if now is not None and now is not before and now.catalog.identity == after.catalog.identity:
                after = replace(
                    after,
                    vectors=now.vectors,
                    freshness=now.freshness.at(after.commit),
                    history_generation=now.history_generation,
                )
            self._behind = True
            self._under_way = ()
            self._put(after)
        release_memory()
        self._on_change(self)

    def _grant(self, number: int) -> None:
        with self._changed:
            self._wishes.granted = number
            self._under_way = ()
            self._changed.notify_all()

    def _load_committed(self) -> None:
        try:
            loaded = self.stores.load()
        except Exception as error:  # a store can be damaged in more ways than it has errors
            _log.warning("nothing usable on disk", repository=self.record.name, error=str(error))
            self.wish(None, full=isinstance(error, CatalogCorruptError))
            return
        if loaded is not None:
            with self._changed:
                self._unread = True
                self._follow_state = State(Phase.QUEUED)
                self._put(loaded)
            self._on_change(self)

    # History and vectors, which follow

    def _follow_loop(self) -> None:
        while (task := self._next_follow()) is not None:
            task()
        self._dismiss("follow")

    def _next_follow(self) -> Callable[[], object] | None:
        """What to do next; an idle worker is sent away meanwhile. None when stopping."""
        with self._changed:
            idle_since = time.monotonic()
            while not self._stopping:
                if self._unread:
                    self._unread = False
                    return self._recall
                if self._behind and self._snapshot is not None:
                    self._behind = False
                    self._follow_state = State(Phase.HISTORY)
                    return self._catch_up
                idle_left = idle_since + self._short_idle_seconds - time.monotonic()
                if idle_left <= 0 and "follow" in self._workers:
                    self._dismiss("follow")
                self._changed.wait(idle_left if "follow" in self._workers else None)
        return None

    def _recall(self) -> None:
        """Has what was there before a restart answer, before a worker has started and looked for what is new."""
        for change in (self.stores.with_history, self.stores.with_vectors):
            try:
                self._amend(change)
            except Exception as error:  # this thread must live; the worker makes good what is damaged
                _log.warning("a store cannot be read", repository=self.record.name, error=str(error))
        self._set_follow_state(State(Phase.IDLE))

    def _catch_up(self) -> None:
        self._attempt("follow", self._follow_job, Refresh(), self._hear_follow)

    def _hear_follow(self, report: Progress | Committed | Done) -> None:
        if isinstance(report, Progress):
            self._set_follow_state(State(report.phase, report.done, report.total))
        elif isinstance(report, Done):
            self._set_follow_state(State(Phase.IDLE, errors=report.problems))
        elif report.store == "vectors":
            self._amend(self.stores.with_vectors)
        else:
            self._amend(self.stores.with_history)

    def _amend(self, change: Callable[[Snapshot], Snapshot]) -> None:
        """Publishes the newest snapshot with a store added; again if another was published meanwhile."""
        while (before := self._snapshot) is not None:
            after = change(before)
            with self._changed:
                if self._snapshot is before:
                    self._put(after)
                    break
        release_memory()
        self._on_change(self)

    # Both

    def _attempt(
        self, role: str, job: Job, order: Refresh, hear: Callable[[Progress | Committed | Done], None]
    ) -> bool:
        """Has a worker carry out an order, with a new worker if it dies; False if that failed, and said so."""
        for attempt in range(ATTEMPTS):
            try:
                for report in self._worker(role, job).carry_out(order):
                    hear(report)
                return True
            except Exception as error:  # whatever it is: this thread must live, and the state must say so
                self._dismiss(role)
                if self._stopping:
                    return False
                if self._kill_reason:
                    failure, self._kill_reason = State(Phase.FAILED, errors=(self._kill_reason,)), ""
                    break
                if isinstance(error, CatalogCorruptError):
                    order = Refresh(full=True)  # what was committed cannot be read back: only starting over helps
                _log.warning(
                    "refresh failed", repository=self.record.name, role=role, attempt=attempt + 1, error=str(error)
                )
                failure = State(Phase.FAILED, errors=(str(error),))
        if role == "index":
            self._set_state(failure)
        else:
            self._set_follow_state(State(Phase.IDLE, errors=failure.errors))
        return False

    def _worker(self, role: str, job: Job) -> WorkerProcess:
        worker = self._workers.get(role)
        if worker is None or not worker.is_alive:
            if self._stopping:
                raise IndexingFailedError("the daemon is stopping")
            worker = self._workers[role] = WorkerProcess(job)
            self._unready |= role == "index"
        return worker

    def _dismiss(self, role: str) -> None:
        worker = self._workers.pop(role, None)
        if worker is not None:
            worker.close()

    def _put(self, snapshot: Snapshot) -> None:
        """The one act by which a generation becomes visible; the caller holds the condition."""
        self._on_publish(self, snapshot)
        self._snapshot = snapshot
        self._changed.notify_all()

    def _set_state(self, state: State) -> None:
        with self._changed:
            self._state = state
            self._changed.notify_all()
        self._on_change(self)

    def _set_follow_state(self, state: State) -> None:
        with self._changed:
            self._follow_state = state
            self._changed.notify_all()
        self._on_change(self)


def _says_less(before: Snapshot, after: Snapshot) -> bool:
    """While everything is indexed again the old index answers until the new one is whole.

    The new catalog may be a generation ahead of its full text: that is written, and told of, next.
    """
    return (before.graph_ready and not after.graph_ready) or (before.can_answer and not after.can_answer)


def _differing(snapshot: Snapshot, paths: frozenset[str]) -> frozenset[str]:
    """The files whose text is no longer what was indexed."""
    return snapshot.texts.changed([node for path in sorted(paths) for node in snapshot.graph.outline(path)[:1]])
