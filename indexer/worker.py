"""A parser process: requests on standard input, one answer per file on standard output, in order.

Native parsers can hang or crash, and cannot be interrupted inside one process: here they take down only
themselves. The process ends with its input, so it never outlives whoever started it; a file that keeps it from
noticing is cut off by an alarm. It reads files beneath the given root and does nothing else.

A frame is four bytes of length (little-endian) and a msgpack message. An empty frame says "ready".
"""

from __future__ import annotations

import gc
import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import msgspec

from ctxsearch.graph.facts import encode_facts
from ctxsearch.graph.model import NodeFlag
from ctxsearch.indexer.files import FileStat, Limits, Skipped, read_source
from ctxsearch.indexer.parse import parse

MAX_ADDRESS_SPACE = 4 << 30  # a parser that wants more has gone wrong
LENGTH_BYTES = 4
READY = b""


class Job(msgspec.Struct, frozen=True, tag=True):
    """What holds for the batches that follow."""

    root: str
    limits: Limits
    alarm_seconds: float  # a file that takes longer ends the process
    known: dict[str, frozenset[str]]  # by path: hashes of contents whose facts are not needed again


class Batch(msgspec.Struct, frozen=True, tag=True):
    """Files to read and parse, in this order."""

    paths: tuple[str, ...]


class Parsed(msgspec.Struct, frozen=True, gc=False, tag=True):
    """One file, read and parsed."""

    path: str
    content_hash: str
    stat: FileStat
    flags: NodeFlag
    text: bytes  # UTF-8
    facts: bytes | None  # encoded FileFacts; None when the content is one of Job.known
    language: str = ""  # of the facts, as is what follows
    line_count: int = 0
    parse_errors: int = 0


Request = Job | Batch
Answer = Parsed | Skipped
_requests: msgspec.msgpack.Decoder[Request] = msgspec.msgpack.Decoder(Request)
_encoder = msgspec.msgpack.Encoder()


def frame(message: bytes) -> bytes:
    """A message as it crosses the pipe."""
    return len(message).to_bytes(LENGTH_BYTES, "little") + message


def process(path: str, job: Job) -> Answer:
    """Read and parse one file."""
    source = read_source(Path(job.root), path, job.limits)
    if isinstance(source, Skipped):
        return source
    if source.content_hash in job.known.get(path, frozenset()):
        return Parsed(path, source.content_hash, source.stat, source.flags, source.text, None)
    facts = parse(path, source.text, source.flags)
    return Parsed(
        path=path,
        content_hash=source.content_hash,
        stat=source.stat,
        flags=facts.flags,
        text=source.text,
        facts=encode_facts(facts),
        language=facts.language,
        line_count=facts.line_count,
        parse_errors=facts.parse_errors,
    )


def serve(requests: BinaryIO, answer: Callable[[bytes], None]) -> None:
    """Answer until the input ends."""
    answer(READY)
    job = None
    while header := requests.read(LENGTH_BYTES):
        request = _requests.decode(requests.read(int.from_bytes(header, "little")))
        if isinstance(request, Job):
            job = request
        elif job is not None:
            for path in request.paths:
                signal.setitimer(signal.ITIMER_REAL, job.alarm_seconds)
                answer(_encoder.encode(process(path, job)))
            signal.setitimer(signal.ITIMER_REAL, 0)


def main() -> None:
    """The process's life."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends the input
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    gc.disable()  # facts form no cycles (tests/indexer/test_no_cycles.py); searching for them is a twentieth
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (MAX_ADDRESS_SPACE, MAX_ADDRESS_SPACE))
    answers = os.dup(1)
    os.dup2(2, 1)  # whatever a library prints must not get between the answers

    def answer(message: bytes) -> None:
        data = memoryview(frame(message))
        while data:
            data = data[os.write(answers, data) :]

    with open(0, "rb", closefd=False) as requests:
        serve(requests, answer)


if __name__ == "__main__":
    main()
