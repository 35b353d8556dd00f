"""Many files through parser processes that can be killed: a stream of results in the order of the paths.

A file that hangs is cut off after its timeout and one that crashes its worker twice is given up; both are
answers (`Skipped`) like any other, and all other files go on. Memory is bounded: no more than a window of files
is under way, and a worker whose answers are not wanted yet waits. Nothing here parses, and the process that
runs it never forks itself.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType

import msgspec

from ctxsearch.graph.errors import CtxsearchError
from ctxsearch.indexer.files import Limits, Skipped, SkipReason
from ctxsearch.indexer.worker import LENGTH_BYTES, Answer, Batch, Job, Parsed, frame

Progress = Callable[[int, int], None]  # files done, files in all

TIMEOUT_SECONDS = 20.0  # a megabyte of source takes well under a second; a busy machine may stretch that
_START_SECONDS = 60.0
_BATCH_FILES = 16
_BATCH_BYTES = 16_000  # of paths: all that is ever under way fits the pipe, so sending never waits
_AHEAD_BATCHES = 2  # under way per worker, so that it need not wait for us
_FILES_PER_WORKER = 8  # fewer are not worth starting another process
_WINDOW_FILES = 512  # between the next result and the last file handed out
_BUFFER_BYTES = 64 << 20  # of results that wait for an earlier one
_PIPE_BYTES = 1 << 20
_ATTEMPTS = 2  # of a file whose worker died: the first may have been killed from outside
_COMMAND = (sys.executable, "-P", "-m", "ctxsearch.indexer.worker")

_encoder = msgspec.msgpack.Encoder()
_answers: msgspec.msgpack.Decoder[Answer] = msgspec.msgpack.Decoder(Answer)


class WorkerError(CtxsearchError):
    """A parser process could not be started."""


class _Task:
    """One file on its way."""

    __slots__ = ("deaths", "index", "path")

    def __init__(self, index: int, path: str) -> None:
        self.index = index
        self.path = path
        self.deaths = 0  # of workers that had it in hand


class _Worker:
    """One parser process and what it has in hand. Written by its pool alone."""

    def __init__(self, command: Sequence[str]) -> None:
        try:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd="/",
                bufsize=0,
                pipesize=_PIPE_BYTES,
            )
        except OSError as error:
            raise WorkerError(f"cannot start a parser process: {error}") from error
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.requests = self.process.stdin
        self.answers = self.process.stdout
        os.set_blocking(self.answers.fileno(), False)
        self.received = bytearray()
        self.ready = False
        self.tasks: deque[_Task] = deque()  # in the order in which they will be answered
        self.deadline = time.monotonic() + _START_SECONDS

    def send(self, request: Job | Batch) -> None:
        data = memoryview(frame(_encoder.encode(request)))
        while data:
            data = data[self.requests.write(data) :]

    def receive(self) -> Iterator[bytes] | None:
        """The frames that have arrived; None at the end of the stream."""
        with contextlib.suppress(BlockingIOError):
            data = os.read(self.answers.fileno(), _PIPE_BYTES)
            if not data:
                return None
            self.received += data
        return self._frames()

    def _frames(self) -> Iterator[bytes]:
        start = 0
        while len(self.received) - start >= LENGTH_BYTES:
            end = start + LENGTH_BYTES + int.from_bytes(self.received[start : start + LENGTH_BYTES], "little")
            if end > len(self.received):
                break
            yield bytes(self.received[start + LENGTH_BYTES : end])
            start = end
        del self.received[:start]

    def kill(self) -> int:
        """End the process now; its exit status. What it answered before can still be received."""
        self.process.kill()
        return self.process.wait()

    def close(self) -> None:
        self.kill()
        self.requests.close()
        self.answers.close()


class ParsePool:
    """Parser processes, kept warm between runs. One run at a time; not for use by several threads at once."""

    def __init__(self, workers: int, *, timeout: float = TIMEOUT_SECONDS, command: Sequence[str] = _COMMAND) -> None:
        self._size = max(1, workers)
        self._timeout = timeout
        self._command = tuple(command)
        self._workers: list[_Worker] = []

    def __enter__(self) -> ParsePool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def warm(self) -> None:
        """Start one process ahead of need: a changed file then waits for its parse alone."""
        if not self._workers:
            self._start()

    def close(self) -> None:
        """End all processes. The pool may be used again."""
        for worker in self._workers:
            worker.close()
        self._workers.clear()

    def run(
        self,
        root: Path,
        paths: Sequence[str],
        *,
        limits: Limits,
        known: Mapping[str, frozenset[str]] | None = None,
        progress: Progress | None = None,
    ) -> Iterator[Answer]:
        """One answer per path, in the order of the paths. Leaving early ends what is under way."""
        known = {path: known[path] for path in paths if path in known} if known else {}
        job = Job(str(root.resolve()), limits, 2 * self._timeout, known)
        run = _Run(self, job, paths)
        try:
            for done, answer in enumerate(run.answers(), 1):
                if progress is not None:
                    progress(done, len(paths))
                yield answer
        finally:
            run.abandon()

    # -- for _Run

    @property
    def timeout(self) -> float:
        return self._timeout

    def hire(self, files: int) -> list[_Worker]:
        """The processes for a run of so many files: those there are, and new ones if it pays."""
        wanted = min(self._size, -(-files // _FILES_PER_WORKER))
        while len(self._workers) < wanted:
            self._start()
        return self._workers[:wanted]

    def hire_one(self) -> _Worker:
        return self._start()

    def dismiss(self, worker: _Worker) -> None:
        self._workers.remove(worker)
        worker.close()

    def _start(self) -> _Worker:
        worker = _Worker(self._command)
        self._workers.append(worker)
        return worker


class _Run:
    """One pass over some paths."""

    def __init__(self, pool: ParsePool, job: Job, paths: Sequence[str]) -> None:
        self._pool = pool
        self._job = job
        self._queue = deque(_Task(index, path) for index, path in enumerate(paths))
        self._total = len(paths)
        self._results: dict[int, Answer] = {}
        self._buffered = 0  # bytes of results
        self._next = 0  # index of the next result to hand out
        self._workers = list(pool.hire(len(paths))) if paths else []

    def answers(self) -> Iterator[Answer]:
        for worker in list(self._workers):
            self._introduce(worker)
        while self._next < self._total:
            self._hand_out()
            if self._next in self._results:
                answer = self._results.pop(self._next)
                self._next += 1
                self._buffered -= _weight(answer)
                yield answer
            else:
                self._wait()

    def abandon(self) -> None:
        """Processes with work in hand would answer into the next run."""
        for worker in self._workers:
            if worker.tasks:
                self._pool.dismiss(worker)

    def _introduce(self, worker: _Worker) -> None:
        try:
            worker.send(self._job)
        except BrokenPipeError:
            self._bury(worker)

    def _hand_out(self) -> None:
        for worker in list(self._workers):
            while self._queue and len(worker.tasks) <= (_AHEAD_BATCHES - 1) * _BATCH_FILES:
                if self._queue[0].index >= self._next + _WINDOW_FILES:
                    return
                if not worker.tasks and worker.ready:
                    worker.deadline = time.monotonic() + self._pool.timeout
                tasks = self._take_batch()
                worker.tasks.extend(tasks)
                try:
                    worker.send(Batch(tuple(task.path for task in tasks)))
                except BrokenPipeError:
                    self._bury(worker)
                    break

    def _take_batch(self) -> list[_Task]:
        tasks = [self._queue.popleft()]
        if tasks[0].deaths:
            return tasks  # alone, so that nothing else goes down with it
        size = len(tasks[0].path)
        while self._queue and len(tasks) < _BATCH_FILES and not self._queue[0].deaths:
            size += len(self._queue[0].path)
            if size > _BATCH_BYTES:
                break
            tasks.append(self._queue.popleft())
        return tasks

    def _wait(self) -> None:
        """Until something arrives or somebody is overdue."""
        watched = self._watched()
        with selectors.DefaultSelector() as selector:
            for worker in watched:
                selector.register(worker.answers, selectors.EVENT_READ, worker)
            first = min(worker.deadline for worker in watched)
            ready = selector.select(max(0.0, first - time.monotonic()))
        for key, _ in ready:
            if not self._receive(key.data):
                self._bury(key.data)
        now = time.monotonic()
        for worker in watched:
            if worker in self._workers and worker.deadline < now and (worker.tasks or not worker.ready):
                self._bury(worker, overdue=True)

    def _watched(self) -> list[_Worker]:
        """Those with work in hand; when too much waits already, only whoever holds the next result."""
        busy = [worker for worker in self._workers if worker.tasks]
        if self._buffered > _BUFFER_BYTES:
            return [worker for worker in busy if any(task.index == self._next for task in worker.tasks)] or busy
        return busy

    def _receive(self, worker: _Worker) -> bool:
        """Take in what has arrived; False at the end of the stream."""
        frames = worker.receive()
        if frames is None:
            return False
        for message in frames:
            worker.deadline = time.monotonic() + self._pool.timeout
            if not worker.ready:
                worker.ready = True
            else:
                self._settle(worker.tasks.popleft(), _answers.decode(message))
        return True

    def _settle(self, task: _Task, answer: Answer) -> None:
        self._results[task.index] = answer
        self._buffered += _weight(answer)

    def _bury(self, worker: _Worker, *, overdue: bool = False) -> None:
        """A worker is dead or has to be: blame the file in its hands, save the others, hire another."""
        suspect = worker.tasks[0] if worker.tasks else None
        status = worker.kill()
        while self._receive(worker):
            pass
        self._workers.remove(worker)
        self._pool.dismiss(worker)
        if not worker.ready:
            raise WorkerError(f"a parser process ended before it was ready ({_describe(status)})")
        # One that was only late has answered meanwhile: then nobody is to blame.
        if worker.tasks and not (overdue and worker.tasks[0] is not suspect):
            self._blame(worker.tasks, status, overdue=overdue or status == -signal.SIGALRM)
        self._queue.extendleft(reversed(worker.tasks))
        if self._queue:
            replacement = self._pool.hire_one()
            self._workers.append(replacement)
            self._introduce(replacement)

    def _blame(self, tasks: deque[_Task], status: int, *, overdue: bool) -> None:
        culprit = tasks[0]
        culprit.deaths += 1
        if overdue:
            self._settle(culprit, Skipped(culprit.path, SkipReason.TIMEOUT, f"{self._pool.timeout:g} s"))
        elif culprit.deaths >= _ATTEMPTS:
            self._settle(culprit, Skipped(culprit.path, SkipReason.CRASHED, _describe(status)))
        else:
            return
        tasks.popleft()


def _weight(answer: Answer) -> int:
    return len(answer.text) + len(answer.facts or b"") if isinstance(answer, Parsed) else 0


def _describe(status: int) -> str:
    return signal.Signals(-status).name if status < 0 else f"exit status {status}"


def parse_files(
    root: Path,
    paths: Sequence[str],
    *,
    workers: int,
    limits: Limits,
    timeout: float = TIMEOUT_SECONDS,
    progress: Progress | None = None,
) -> Iterator[Answer]:
    """One pass with processes of its own."""
    with ParsePool(workers, timeout=timeout) as pool:
        yield from pool.run(root, paths, limits=limits, progress=progress)
