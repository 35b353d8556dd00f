"""A whole repository resolved from nothing in several processes: the same graph as in one, sooner.

Which process resolves which file is fixed by the paths and the number of processes. A process that ends early ends
the whole resolution with an error: nothing was stored, and the next refresh begins anew.
"""

from __future__ import annotations

import contextlib
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import IO

import msgspec

from ctxsearch.graph.errors import CtxsearchError
from ctxsearch.indexer.resolve_worker import Answer, Done, Entries, Passed, Request, Stored, Task
from ctxsearch.indexer.spool import Spool
from ctxsearch.indexer.worker import LENGTH_BYTES, frame

Progress = Callable[[int, int], None]  # files done, files in all

_COMMAND = (sys.executable, "-P", "-m", "ctxsearch.indexer.resolve_worker")
_PIECES = 8  # per process: neighbours stay together, and one costly directory does not keep the others waiting
_WAITING = 64  # answers that are not stored yet
_PIPE_BYTES = 1 << 20
_ENDING_SECONDS = 5.0  # from a process's last answer to its end

_encoder = msgspec.msgpack.Encoder()
_answers: msgspec.msgpack.Decoder[Answer] = msgspec.msgpack.Decoder(Answer)


class ResolveError(CtxsearchError):
    """A process that resolves files ended before it was done."""


class ResolvePool:
    """One resolution. Steps are called once each, in the order in which they stand here."""

    def __init__(self, facts: Spool, workers: int, *, outlines: bool = False) -> None:
        """`facts` are those of all files."""
        self._total = len(facts)
        self._early: deque[tuple[int, Answer]] = deque()  # of processes that are a step ahead
        self._finished: set[int] = set()  # processes that have nothing more to say
        self._inbox: queue.Queue[tuple[int, Answer | None]] = queue.Queue(_WAITING)
        self._processes: list[_Process] = []
        descriptor, places = facts.on_disk()
        shares = split({path: length for path, (_, length) in places.items()}, workers)
        for number, share in enumerate(shares):
            process = _Process(number, descriptor, self._inbox)
            self._processes.append(process)
            process.send(Task(descriptor, places, share, outlines))

    def exchange_entries(self) -> None:
        """Tell every process what all files offer."""
        by_process: dict[int, Entries] = {}
        while len(by_process) < len(self._processes):
            number, answer = self._next()
            if isinstance(answer, Entries):
                by_process[number] = answer
        parts = [part for number in sorted(by_process) for part in by_process[number].parts]
        for process in self._processes:
            process.send(Entries(tuple(parts)))

    def outlines(self) -> Iterator[Stored]:
        """Nodes and containment of every file, if they were asked for."""
        return self._stored()

    def exchange_flows(self) -> None:
        """Tell every process what the files of the others pass on."""
        found: list[tuple[int, Passed]] = []
        open_ends = len(self._processes)
        while open_ends:
            number, answer = self._next()
            if not isinstance(answer, Passed):
                raise ResolveError(f"a process that resolves files said {type(answer).__name__}")
            open_ends -= not answer.flows
            found.append((number, answer))
        for process in self._processes:
            for number, answer in found:
                if number != process.number and answer.flows:
                    process.send(answer)
            process.send(Passed(b""))

    def graphs(self, progress: Progress) -> Iterator[Stored]:
        """Every file's graph, as it comes."""
        for done, stored in enumerate(self._stored(last=True), 1):
            progress(done, self._total)
            yield stored

    def close(self) -> None:
        """End all processes."""
        for process in self._processes:
            process.close()

    def __enter__(self) -> ResolvePool:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _stored(self, *, last: bool = False) -> Iterator[Stored]:
        open_ends = len(self._processes)
        early: list[tuple[int, Answer]] = []
        while open_ends:
            number, answer = self._next()
            if isinstance(answer, Stored):
                yield answer
            elif isinstance(answer, Done):
                open_ends -= 1
                if last:
                    self._finished.add(number)
            else:
                early.append((number, answer))
        self._early.extend(early)

    def _next(self) -> tuple[int, Answer]:
        if self._early:
            return self._early.popleft()
        number, answer = self._inbox.get()
        while answer is None and number in self._finished:
            number, answer = self._inbox.get()
        if answer is None:
            raise ResolveError(f"a process that resolves files ended early ({self._processes[number].status()})")
        return number, answer


class _Process:
    """One process and the thread that takes its answers."""

    def __init__(self, number: int, descriptor: int, inbox: queue.Queue[tuple[int, Answer | None]]) -> None:
        self.number = number
        self._inbox = inbox
        self._closing = threading.Event()
        self._process = subprocess.Popen(
            _COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd="/",
            pipesize=_PIPE_BYTES,
            pass_fds=(descriptor,),
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests: IO[bytes] = self._process.stdin
        self._output: IO[bytes] = self._process.stdout
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()

    def send(self, request: Request) -> None:
        try:
            self._requests.write(frame(_encoder.encode(request)))
            self._requests.flush()
        except BrokenPipeError as error:
            raise ResolveError(f"a process that resolves files ended early ({self.status()})") from error

    def status(self) -> int:
        """Its exit status; it is ending, or ended here: what answers nonsense would wait for an answer forever."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(_ENDING_SECONDS)
        self._process.kill()
        return self._process.wait()

    def close(self) -> None:
        self._closing.set()
        self._process.kill()
        self._process.wait()
        self._thread.join()
        self._requests.close()
        self._output.close()

    def _listen(self) -> None:
        while header := self._output.read(LENGTH_BYTES):
            data = self._output.read(int.from_bytes(header, "little"))
            try:
                self._put(_answers.decode(data))
            except msgspec.DecodeError:  # cut off in the middle
                break
        self._put(None)

    def _put(self, answer: Answer | None) -> None:
        """Wait for room, unless nobody will make any."""
        while not self._closing.is_set():
            try:
                self._inbox.put((self.number, answer), timeout=0.1)
            except queue.Full:
                continue
            return


def split(weights: Mapping[str, int], parts: int) -> list[tuple[str, ...]]:
    """Paths in order, cut into pieces of like weight that are dealt out in turn."""
    shares: list[list[str]] = [[] for _ in range(parts)]
    piece = max(1, sum(weights.values()) // (parts * _PIECES) + 1)
    before = 0
    for path in sorted(weights):
        shares[(before // piece) % parts].append(path)
        before += weights[path]
    return [tuple(share) for share in shares]
