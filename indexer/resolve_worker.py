"""A process that resolves its portion of a repository's files; requests on standard input, answers on standard output.

It reads the file of facts that it was handed and nothing else. It ends with its input or when nobody takes its
answers any more. Frames are those of `indexer/worker.py`.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
from collections.abc import Callable, Iterable
from typing import BinaryIO

import msgspec

from ctxsearch.graph.blobs import GraphBlobs, encode_graph, path_key, seal
from ctxsearch.graph.records import FileGraph
from ctxsearch.graph.resolve.portion import Flows, Portion
from ctxsearch.graph.resolve.world import Entry, Key
from ctxsearch.indexer.spool import Spool
from ctxsearch.indexer.worker import LENGTH_BYTES, frame

_FLOWS_AT_ONCE = 200  # files


class Task(msgspec.Struct, frozen=True, tag=True):
    """What to resolve. Facts lie in the file of that descriptor, one after another."""

    descriptor: int
    files: dict[str, tuple[int, int]]  # by path: offset and length of the facts, of all files
    share: tuple[str, ...]  # the paths to resolve
    outlines: bool  # nodes are wanted ahead


class Entries(msgspec.Struct, frozen=True, tag=True):
    """What files offer; both ways. Encoded: whoever hands it on does not look into it."""

    parts: tuple[bytes, ...]  # `Offered` each


class Passed(msgspec.Struct, frozen=True, tag=True):
    """What files pass on; both ways, encoded likewise."""

    flows: bytes  # `Handed`; an empty one is the last


class Stored(msgspec.Struct, frozen=True, tag=True):
    """A file's graph (its outline, if nothing else is there yet) as the catalog keeps it."""

    path: str
    blobs: GraphBlobs
    reads: bytes
    externals: tuple[str, ...] = ()


class Done(msgspec.Struct, frozen=True, tag=True):
    """The end of a step that answers file by file."""


Offered = list[tuple[str, Entry]]
Handed = list[tuple[str, tuple[tuple[Key, tuple[str, ...]], ...]]]
Request = Task | Entries | Passed
Answer = Entries | Passed | Stored | Done
_requests: msgspec.msgpack.Decoder[Request] = msgspec.msgpack.Decoder(Request)
_offered = msgspec.msgpack.Decoder(Offered)
_handed = msgspec.msgpack.Decoder(Handed)
_encoder = msgspec.msgpack.Encoder()
Tell = Callable[[Answer], None]


def _stored(path: str, language: str, graph: FileGraph, externals: tuple[str, ...] = ()) -> Stored:
    reads = seal(graph.reads, path_key(path), compress=True)
    return Stored(path, encode_graph(path, language, graph), reads, externals)


def work(task: Task, receive: Callable[[], Request], tell: Tell) -> None:
    """All steps of one portion."""

    def fetch(path: str) -> bytes:
        offset, length = task.files[path]
        return os.pread(task.descriptor, length, offset)

    portion = Portion(task.share, fetch, Spool())
    tell(Entries((_encoder.encode(portion.entries()),)))
    everything = receive()
    assert isinstance(everything, Entries)
    for part in everything.parts:
        portion.know(_offered.decode(part))
    languages = {path: portion.language(path) for path in task.share}
    if task.outlines:
        for path, graph in portion.outlines():
            tell(_stored(path, languages[path], graph))
        tell(Done())
    _tell_flows(portion.first_phase(), tell)
    while isinstance(passed := receive(), Passed) and passed.flows:
        portion.learn((path, dict(flows)) for path, flows in _handed.decode(passed.flows))
    for found in portion.second_phase():
        tell(_stored(found.path, languages[found.path], found.graph, found.externals))
    tell(Done())


def _tell_flows(flows: Iterable[tuple[str, Flows]], tell: Tell) -> None:
    batch: Handed = []
    for path, own in flows:
        batch.append((path, tuple(own.items())))
        if len(batch) == _FLOWS_AT_ONCE:
            tell(Passed(_encoder.encode(batch)))
            batch = []
    if batch:
        tell(Passed(_encoder.encode(batch)))
    tell(Passed(b""))


def main() -> None:
    """The process's life."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends this process
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    gc.disable()  # no value is part of a cycle (tests/indexer/test_no_cycles.py); searching for them is a twentieth
    answers = os.dup(1)
    os.dup2(2, 1)  # whatever a library prints must not get between the answers

    def tell(answer: Answer) -> None:
        data = memoryview(frame(_encoder.encode(answer)))
        while data:
            data = data[os.write(answers, data) :]

    with open(0, "rb", closefd=False) as requests:
        task = _receive(requests)
        assert isinstance(task, Task)
        work(task, lambda: _receive(requests), tell)


def _receive(requests: BinaryIO) -> Request:
    header = requests.read(LENGTH_BYTES)
    if len(header) < LENGTH_BYTES:
        raise SystemExit(0)
    return _requests.decode(requests.read(int.from_bytes(header, "little")))


if __name__ == "__main__":
    main()
