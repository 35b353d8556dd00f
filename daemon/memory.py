"""How much memory a process has, and giving back what it does not need. Knows nothing of what is in it."""

from __future__ import annotations

import contextlib
import ctypes
import resource
import sys
from pathlib import Path


def resident_bytes(pid: int | None = None) -> int:
    """Resident memory of a process, this one by default; 0 if it is gone."""
    try:
        pages = int(Path(f"/proc/{pid or 'self'}/statm").read_text(encoding="ascii").split()[1])
        return pages * resource.getpagesize()
    except (OSError, ValueError):
        return 0 if pid is not None else _peak_bytes()


def release_memory() -> None:
    """Gives what was freed back to the system; glibc would keep it for ever."""
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError, OSError):
            ctypes.CDLL(None).malloc_trim(0)


def _peak_bytes() -> int:
    """Where there is no /proc: the most it ever was, in bytes on macOS and in KiB elsewhere."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
