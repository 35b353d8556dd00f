"""An exclusive lock on a file that the kernel drops when its holder dies, and the private directories beside it.

Never a pid file: what the file says is for people, what counts is the flock.
"""

from __future__ import annotations

import fcntl
import os
import stat
import time
from pathlib import Path
from types import TracebackType

from ctxsearch.graph.errors import CtxsearchError

POLL_SECONDS = 0.01  # flock has no timeout of its own


class LockedError(CtxsearchError):
    """Another live process holds the lock."""


_ELSEWHERE = "choose another directory by CTXSEARCH_DATA_DIR, or CTXSEARCH_RUNTIME_DIR for the socket's"


class UnsafeDirectoryError(CtxsearchError):
    """A directory that must be private is not."""


class FileLock:
    """Holds `path` exclusively between `acquire` and `release`; children never inherit it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._fd: int | None = None

    def acquire(self, timeout_seconds: float = 0.0) -> None:
        """Takes the lock; raises LockedError when somebody else still has it after the timeout."""
        fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        deadline = time.monotonic() + timeout_seconds
        while not _try_flock(fd):
            if time.monotonic() >= deadline:
                holder = os.pread(fd, 64, 0).decode("ascii", "replace").strip()
                os.close(fd)
                raise LockedError(f"{self._path} is held by process {holder or 'unknown'}")
            time.sleep(POLL_SECONDS)
        os.ftruncate(fd, 0)
        os.pwrite(fd, f"{os.getpid()}\n".encode(), 0)
        self._fd = fd

    def release(self) -> None:
        """Gives the lock back; a second call does nothing."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def __enter__(self) -> FileLock:
        if self._fd is None:
            self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def is_locked(path: Path) -> bool:
    """True while a live process holds the lock; looking does not disturb it."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        return not _try_flock(fd)
    finally:
        os.close(fd)


def make_private_directory(path: Path) -> None:
    """Creates `path` with mode 0700, or proves that it is ours, can be written and is closed to others."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UnsafeDirectoryError(f"{path} cannot be made: {error.strerror}; {_ELSEWHERE}") from error
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise UnsafeDirectoryError(f"{path} is not a directory of this user; remove it, or {_ELSEWHERE}")
    if not os.access(path, os.W_OK):
        raise UnsafeDirectoryError(f"{path} cannot be written; {_ELSEWHERE}")
    if found.st_mode & 0o077:
        path.chmod(0o700)


def _try_flock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
