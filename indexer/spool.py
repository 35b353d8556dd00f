"""Bytes by path: in memory while they are few, in a file without a name when they are many.

A first index of a large repository has hundreds of megabytes of facts, which nobody needs again before everything is
parsed; the processes that resolve it then read the same file.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterator, Mapping

IN_MEMORY_BYTES = 16 << 20  # a branch that changes a thousand files has less


class Spool(Mapping[str, bytes]):
    """For one writer. A path may be put again; the last one counts."""

    def __init__(self, in_memory: int = IN_MEMORY_BYTES) -> None:
        self._in_memory = in_memory
        self._held: dict[str, bytes] = {}
        self._weight = 0  # bytes held
        self._places: dict[str, tuple[int, int]] = {}  # of what is in the file: offset, length
        self._file: io.FileIO | None = None
        self._end = 0

    def put(self, path: str, content: bytes) -> None:
        self._places.pop(path, None)
        self._weight += len(content) - len(self._held.get(path, b""))
        self._held[path] = content
        if self._weight > self._in_memory:
            self._spill()

    def on_disk(self) -> tuple[int, dict[str, tuple[int, int]]]:
        """Everything in the file: its descriptor, and the place of each path, in the order of the paths."""
        return self._spill(), {path: self._places[path] for path in sorted(self._places)}

    def close(self) -> None:
        """Let go of the contents; paths stay."""
        self._places = dict.fromkeys(self, (0, 0))
        self._held.clear()
        if self._file is not None:
            self._file.close()
            self._file = None

    def __getitem__(self, path: str) -> bytes:
        held = self._held.get(path)
        if held is not None:
            return held
        offset, length = self._places[path]
        assert self._file is not None, "closed"
        return os.pread(self._file.fileno(), length, offset)

    def __contains__(self, path: object) -> bool:
        return path in self._held or path in self._places

    def __iter__(self) -> Iterator[str]:
        yield from self._held
        yield from self._places

    def __len__(self) -> int:
        return len(self._held) + len(self._places)

    def _spill(self) -> int:
        """Write out what is held; the file's descriptor."""
        if self._file is None:
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - until close
        for path, content in self._held.items():
            data = memoryview(content)
            while data:
                data = data[self._file.write(data) :]
            self._places[path] = self._end, len(content)
            self._end += len(content)
        self._held.clear()
        self._weight = 0
        return self._file.fileno()
