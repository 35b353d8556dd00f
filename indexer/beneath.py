"""Opening files strictly beneath a root: the one place where the indexer turns a path into bytes.

No symbolic link is ever followed, neither as the file nor as a directory on the way, so nothing outside the
root can be read whatever a repository contains or however it changes meanwhile. Nothing but regular files is
opened: a fifo or a device could block or act on open.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ctxsearch.graph.errors import CtxsearchError

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY


class UnsafePathError(CtxsearchError):
    """A path that is absolute, empty, or climbs out of its root."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path!r} is not a path inside the repository; give it relative to the root")
        self.path = path


class NotRegularError(CtxsearchError):
    """A directory, symbolic link, fifo, socket or device where a regular file was expected."""

    def __init__(self, path: str, mode: int) -> None:
        super().__init__(f"{path} is not a regular file")
        self.path = path
        self.mode = mode


def path_parts(path: str) -> list[str]:
    """The components of a relative, '/' separated path; refuses anything that could leave the root."""
    parts = path.split("/")
    if "\0" in path or any(part in ("", ".", "..") for part in parts):
        raise UnsafePathError(path)
    return parts


def open_beneath(root: Path, path: str) -> int:
    """A read-only descriptor of the regular file root/path. Raises OSError, UnsafePathError, NotRegularError."""
    *directories, name = path_parts(path)
    current = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for directory in directories:
            deeper = os.open(directory, _DIRECTORY, dir_fd=current)
            os.close(current)
            current = deeper
        _refuse_irregular(path, os.stat(name, dir_fd=current, follow_symlinks=False).st_mode)
        return _open_regular(path, name, current)
    finally:
        os.close(current)


def _open_regular(path: str, name: str, directory: int) -> int:
    descriptor = os.open(name, _FILE, dir_fd=directory)
    try:
        # Checked again on the descriptor: the name may have been replaced since it was looked at.
        _refuse_irregular(path, os.fstat(descriptor).st_mode)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _refuse_irregular(path: str, mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise NotRegularError(path, mode)


def read_up_to(descriptor: int, size: int) -> bytes:
    """At most `size` bytes from the current position; fewer only at the end of the file."""
    chunks = []
    while size > 0:
        chunk = os.read(descriptor, min(size, 1 << 20))
        if not chunk:
            break
        chunks.append(chunk)
        size -= len(chunk)
    return b"".join(chunks)
