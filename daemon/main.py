"""The daemon's process: takes the lock, wires settings to providers, serves until told to stop.

`python -P -m ctxsearch.daemon.main --auto --ready-fd N` is how a client starts it; `ctxsearch daemon run` calls
`run_daemon` in the foreground.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctxsearch.daemon.boundary import Activity
    from ctxsearch.daemon.life import Life
    from ctxsearch.daemon.settings import Settings
    from ctxsearch.daemon.workspace import Workspace

EXIT_PROBLEM = 3
IDLE_CHECK_SECONDS = 1.0


class ReadyPipe:
    """Tells the client that started us, once, that we serve or why not."""

    def __init__(self, fd: int | None) -> None:
        self._fd = fd

    def tell(self, word: str) -> None:
        """Sends the word and closes; a client that is gone does not matter."""
        if self._fd is None:
            return
        with contextlib.suppress(BrokenPipeError):
            os.write(self._fd, word.encode())
        os.close(self._fd)
        self._fd = None


def run_daemon(settings: Settings, *, auto_started: bool, ready: ReadyPipe, version: str = "") -> int:
    """Runs a daemon until it is stopped; returns the exit code."""
    from ctxsearch.daemon.settings import tame_native_libraries

    tame_native_libraries()
    from ctxsearch.daemon.lock import FileLock, LockedError, make_private_directory
    from ctxsearch.graph.errors import CtxsearchError

    lock = FileLock(settings.lock_path)
    try:
        make_private_directory(settings.data_dir)
        lock.acquire()
    except LockedError as error:
        return _refuse(ready, f"another daemon serves {settings.data_dir}: {error}")
    except (CtxsearchError, OSError) as error:
        return _refuse(ready, str(error))
    try:
        with lock:
            return _serve(settings, auto_started, ready, version)
    except (CtxsearchError, OSError, RuntimeError) as error:
        return _refuse(ready, str(error))  # the lock is free by now: the client must not wait for us


def _refuse(ready: ReadyPipe, why: str) -> int:
    print(f"ctxsearch daemon: {why}", file=sys.stderr)
    ready.tell(why)
    return EXIT_PROBLEM


def _serve(settings: Settings, auto_started: bool, ready: ReadyPipe, version: str) -> int:
    from ctxsearch.daemon.boundary import Activity
    from ctxsearch.daemon.life import Life
    from ctxsearch.daemon.logs import configure_logging, get_logger
    from ctxsearch.daemon.memory import look_for_garbage_rarely
    from ctxsearch.daemon.metrics import Metrics
    from ctxsearch.daemon.server import Server
    from ctxsearch.daemon.tracing import open_tracing
    from ctxsearch.daemon.version import VERSION
    from ctxsearch.daemon.workspace import Workspace

    look_for_garbage_rarely()
    configure_logging(settings.log_path, settings.log_level, to_stderr=not auto_started)
    log = get_logger("ctxsearch.daemon")
    life = Life(settings, version or VERSION, settings.idle_timeout_seconds if auto_started else 0.0)
    activity, metrics, tracing = Activity(), Metrics(), open_tracing(settings)
    _stop_on_signals(life)
    workspace = Workspace(settings, metrics)
    server = Server(life, activity, metrics, tracing, workspace)
    try:
        server.start()
        workspace.open()
        stop_metrics = metrics.serve(settings.metrics_port) if settings.metrics_port else None
        log.info("serving", version=life.version, addresses=life.addresses, pid=os.getpid())
        ready.tell("ready")
        _wait_for_the_end(life, activity, workspace)
        log.info("stopping", grace=life.grace_seconds)
        server.stop(life.grace_seconds)
        if stop_metrics is not None:
            stop_metrics()
    finally:
        workspace.close()
        tracing.close()
    log.info("stopped")
    return 0


def _stop_on_signals(life: Life) -> None:
    import signal

    def ask(_number: int, _frame: object) -> None:
        life.stop.set()

    signal.signal(signal.SIGTERM, ask)
    signal.signal(signal.SIGINT, ask)


def _wait_for_the_end(life: Life, activity: Activity, workspace: Workspace) -> None:
    while not life.stop.wait(IDLE_CHECK_SECONDS):
        if workspace.is_busy:
            activity.touch()
        if life.idle_timeout_seconds and activity.idle_seconds() > life.idle_timeout_seconds:
            return


def _leave_the_client() -> None:
    """A session of our own, and no parent that would have to reap us. Before any thread exists."""
    if os.fork():
        os._exit(0)
    os.setsid()


def main(arguments: list[str] | None = None) -> int:
    """Entry of an auto-started daemon."""
    import argparse

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--auto", action="store_true")
    parser.add_argument("--ready-fd", type=int, default=None)
    options = parser.parse_args(arguments)
    if options.auto:
        _leave_the_client()
    from ctxsearch.daemon.settings import load_settings

    return run_daemon(load_settings(), auto_started=options.auto, ready=ReadyPipe(options.ready_fd))


if __name__ == "__main__":
    sys.exit(main())
