"""What the serving process and its indexing processes say to one another: length-prefixed msgpack on a pipe."""

from __future__ import annotations

import enum
from typing import BinaryIO

import msgspec

from ctxsearch.search.providers import DEFAULT_PROVIDERS, Providers

_LENGTH_BYTES = 4


class Phase(enum.IntEnum):
    """What indexing is doing; the numbers are those of `ctxsearch.v1.IndexPhase`."""

    IDLE = 1
    QUEUED = 2
    LISTING = 3
    PARSING = 4
    RESOLVING = 5
    WRITING = 6
    EMBEDDING = 7
    HISTORY = 8
    FAILED = 9


class Job(msgspec.Struct, frozen=True, tag=True):
    """First to a worker: what it works on."""

    role: str  # "index": files to catalog and full text; "follow": history and vectors
    root: str
    directory: str  # the repository's own data directory
    history_dir: str  # shared by all work trees of one git repository
    max_file_bytes: int
    parse_workers: int
    niceness: int
    thresholds: dict[str, int | float] = {}  # of freshness, where they are not the default
    lenders: tuple[str, ...] = ()  # catalogs of other work trees of the same git repository
    providers: Providers = DEFAULT_PROVIDERS


class Refresh(msgspec.Struct, frozen=True, tag=True):
    """To a worker: bring your stores up to date."""

    paths: tuple[str, ...] | None = None  # changed, relative to the root; None = look at everything
    full: bool = False  # start over


class Prepare(msgspec.Struct, frozen=True, tag=True):
    """To an indexing process: have at hand what the next edit needs."""


class Progress(msgspec.Struct, frozen=True, tag=True):
    """From a worker: where it stands."""

    phase: Phase
    done: int = 0
    total: int = 0


class Committed(msgspec.Struct, frozen=True, tag=True):
    """From a worker: a store is durable at this generation of the catalog."""

    store: str  # "text", "vectors" or "history"
    generation: int


class Done(msgspec.Struct, frozen=True, tag=True):
    """From a worker: the refresh is over."""

    problems: tuple[str, ...] = ()  # what went wrong without stopping it, in sentences


class Failed(msgspec.Struct, frozen=True, tag=True):
    """From a worker: the refresh was given up; the last committed generation stands."""

    reason: str


Order = Job | Refresh | Prepare
Report = Progress | Committed | Done | Failed

_encoder = msgspec.msgpack.Encoder()
_orders: msgspec.msgpack.Decoder[Order] = msgspec.msgpack.Decoder(Order)
_reports: msgspec.msgpack.Decoder[Report] = msgspec.msgpack.Decoder(Report)


def write_message(stream: BinaryIO, message: Order | Report) -> None:
    """Sends one message; raises OSError when the other side is gone."""
    data = _encoder.encode(message)
    stream.write(len(data).to_bytes(_LENGTH_BYTES, "little") + data)
    stream.flush()


def read_order(stream: BinaryIO) -> Order | None:
    """The next order; None when the serving process is gone."""
    data = _read_frame(stream)
    return None if data is None else _orders.decode(data)


def read_report(stream: BinaryIO) -> Report | None:
    """The next report; None when the worker is gone."""
    data = _read_frame(stream)
    return None if data is None else _reports.decode(data)


def _read_frame(stream: BinaryIO) -> bytes | None:
    head = stream.read(_LENGTH_BYTES)
    if len(head) < _LENGTH_BYTES:
        return None
    size = int.from_bytes(head, "little")
    data = stream.read(size)
    return data if len(data) == size else None
