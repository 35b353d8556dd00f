"""One indexing process seen from the serving process: start it, order, listen, end it.

The worker ends when its standard input does, so it cannot outlive us; on Linux the kernel kills it besides. Start it
from a thread that lives as long as it: the kernel's promise is tied to that thread.
"""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import BinaryIO, cast

from ctxsearch.daemon.errors import IndexingFailedError
from ctxsearch.daemon.messages import (
    Committed,
    Done,
    Failed,
    Job,
    Order,
    Prepare,
    Progress,
    Refresh,
    read_report,
    write_message,
)

COMMAND = (sys.executable, "-P", "-m", "ctxsearch.daemon.worker")
CLOSE_SECONDS = 10.0


class WorkerProcess:
    """A running worker. Orders and reports belong to one thread; `end` may be called from any."""

    def __init__(self, job: Job) -> None:
        self._process = subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd="/", close_fds=True
        )
        self._orders = cast("BinaryIO", self._process.stdin)
        self._reports = cast("BinaryIO", self._process.stdout)
        self._ending = threading.Lock()
        self._send(job)

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """False once it is gone."""
        return self._process.poll() is None

    def carry_out(self, order: Refresh | Prepare) -> Iterator[Progress | Committed | Done]:
        """Gives the order and yields the reports, `Done` last; raises IndexingFailedError if it fails or dies."""
        self._send(order)
        while True:
            report = read_report(self._reports)
            if report is None:
                raise IndexingFailedError(f"the indexing process ended with status {self._process.wait()}")
            if isinstance(report, Failed):
                raise IndexingFailedError(report.reason)
            yield report
            if isinstance(report, Done):
                return

    def close(self) -> None:
        """Lets an idle worker leave by itself, then makes sure."""
        with self._ending:
            _close(self._orders)
            try:
                self._process.wait(CLOSE_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
            self._process.wait()
            _close(self._reports)

    def end(self) -> None:
        """Kills it at once; its stores are made for that."""
        self._process.kill()

    def _send(self, order: Order) -> None:
        try:
            write_message(self._orders, order)
        except OSError as error:
            raise IndexingFailedError(f"the indexing process is gone: {error}") from error


def _close(stream: BinaryIO) -> None:
    try:
        stream.close()
    except BrokenPipeError:
        stream.close()  # what was buffered for a dead process is lost, the descriptor is closed now
