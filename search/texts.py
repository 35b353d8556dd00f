"""The text behind results: as it was indexed, from the catalog; compared with what is on disk now."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ctxsearch.graph.catalog import Catalog, Snapshot
from ctxsearch.graph.model import CodeNode
from ctxsearch.graph.records import FileRecord
from ctxsearch.search.ports import NodeContent, OnDisk

_CACHED_CHARS: Final = 32_000_000


class _File(NamedTuple):
    """One file as indexed."""

    record: FileRecord | None
    lines: list[str]
    size: int


class CatalogTexts:
    """Texts of one repository at one generation. Thread-safe; remembers recently shown files."""

    def __init__(self, catalog: Catalog, root: Path) -> None:
        """Read from a catalog; compare with the work tree at `root`."""
        self._catalog = catalog
        self._root = root
        self._lock = threading.Lock()  # guards the two cells below
        self._files: OrderedDict[str, _File] = OrderedDict()
        self._cached = 0

    def contents(self, nodes: Sequence[CodeNode], /) -> list[NodeContent]:
        """The body of each node, and whether its file still is what was indexed."""
        files = self._files_of({node.path for node in nodes if node.path})
        states = {path: self._on_disk(path, file) for path, file in files.items()}
        found = []
        for node in nodes:
            file = files.get(node.path)
            if file is None:
                found.append(NodeContent("", OnDisk.UNCHECKED))
            else:
                body = "\n".join(file.lines[node.start_line - 1 : node.end_line])
                found.append(NodeContent(body, states[node.path]))
        return found

    def _files_of(self, paths: set[str]) -> dict[str, _File]:
        with self._lock:
            files = {path: self._files[path] for path in paths if path in self._files}
            for path in files:
                self._files.move_to_end(path)
        missing = sorted(paths - files.keys())
        if missing:
            with self._catalog.read() as snapshot:
                read = {path: _read(snapshot, path) for path in missing}
            self._remember(read)
            files.update(read)
        return files

    def _remember(self, files: dict[str, _File]) -> None:
        with self._lock:
            for path, file in files.items():
                if path not in self._files:
                    self._cached += file.size
                self._files[path] = file
            while self._cached > _CACHED_CHARS:
                _, dropped = self._files.popitem(last=False)
                self._cached -= dropped.size

    def _on_disk(self, path: str, file: _File) -> OnDisk:
        """By size and time first; by content where these differ, for a checkout touches files without change."""
        on_disk = self._root / path
        if file.record is None:
            return OnDisk.UNCHECKED
        try:
            stat = on_disk.stat()
            if (stat.st_size, stat.st_mtime_ns) == (file.record.size, file.record.mtime_ns):
                return OnDisk.UNCHANGED
            text = on_disk.read_bytes().decode("utf-8", "replace")
        except FileNotFoundError:
            return OnDisk.VANISHED
        except OSError:
            return OnDisk.UNCHECKED
        same = text.splitlines() == "\n".join(file.lines).splitlines()
        return OnDisk.UNCHANGED if same else OnDisk.CHANGED


def _read(snapshot: Snapshot, path: str) -> _File:
    text = snapshot.text(path) or ""
    return _File(snapshot.file(path), text.split("\n"), len(text))
