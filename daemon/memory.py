"""How much memory a process has, giving back what it does not need, and not searching what stays for garbage.

Knows nothing of what is in it.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import resource
import sys
from collections.abc import Iterator
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


@contextlib.contextmanager
def loading_what_stays() -> Iterator[None]:
    """Leaves what is loaded within out of searches for garbage, now and later: they took as long as loading itself."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def look_for_garbage_rarely() -> None:
    """Lets a search hold all that it needs without its being looked through, by default at every 700 objects.

    What a search makes is freed without being looked for: it leaves no garbage.
    """
    gc.set_threshold(_YOUNG_OBJECTS, *gc.get_threshold()[1:])


_YOUNG_OBJECTS = 20_000


class Sparing:
    """Spares what stays from every further search for garbage. One thread looks.

    Most of what a full search goes through are modules: 128,000 objects, 90 ms in which nobody is answered.
    """

    def __init__(self) -> None:
        self._seen: object = None
        self._spared: object = None

    def look(self, loaded: object) -> bool:
        """Told what is loaded; searches once more and spares the rest when that is new and stayed since the last look.

        What was spared before is searched too: of what was loaded then, something may have become garbage.
        """
        is_new = loaded == self._seen != self._spared
        self._seen = loaded
        if is_new:
            self._spared = loaded
            gc.unfreeze()
            gc.collect()
            gc.freeze()
        return is_new


def _peak_bytes() -> int:
    """Where there is no /proc: the most it ever was, in bytes on macOS and in KiB elsewhere."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
