"""The text behind nodes, and whether their files still are what was indexed. Reads the catalog and the work tree."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ctxsearch.graph.catalog import Pinned
from ctxsearch.graph.model import CodeNode
from ctxsearch.graph.records import FileRecord
from ctxsearch.indexer.beneath import NotRegularError, UnsafePathError, open_beneath, read_up_to
from ctxsearch.indexer.files import content_hash
from ctxsearch.search.ports import NodeContent, OnDisk

# Of all repositories together. The pages of 600 searches in 100,000 nodes take 47 MB.
BYTES_KEPT = 56_000_000


class Text(NamedTuple):
    """A file's text, and where its lines end: only the lines that are shown are ever decoded."""

    source: bytes
    ends: NDArray[np.int32]  # of all lines but the last

    @staticmethod
    def of(source: bytes | None) -> Text:
        """A file's own."""
        source = source or b""
        return Text(source, (np.frombuffer(source, np.uint8) == _NEWLINE).nonzero()[0].astype(np.int32))

    def between(self, first: int, last: int) -> str:
        """Lines `first` to `last`, 1-based inclusive, as far as there are any; none of what is in no file (0 to 0)."""
        ends = self.ends
        if max(first, 1) > min(last, len(ends) + 1):
            return ""
        start = int(ends[first - 2]) + 1 if first > 1 else 0
        end = int(ends[last - 1]) if last <= len(ends) else len(self.source)
        return self.source[start:end].decode("utf-8", "surrogatepass")

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return len(self.source) + self.ends.nbytes


_NO_TEXT = Text(b"", np.empty(0, np.int32))
_NEWLINE = ord("\n")
Version = tuple[str, str, str]  # of a file: root of its repository, path, hash of its content


class KeptTexts:
    """Texts that were read lately, by what they are of: after an edit, what did not change is not read again."""

    def __init__(self, most: int = BYTES_KEPT) -> None:
        self._most = most
        self._lock = threading.Lock()  # guards the two below
        self._texts: OrderedDict[Version, Text] = OrderedDict()  # least recently used first
        self._bytes = 0

    def find(self, versions: Sequence[Version]) -> dict[Version, Text]:
        """Those that are there."""
        texts = self._texts
        with self._lock:
            found = {version: texts[version] for version in versions if version in texts}
            for version in found:
                texts.move_to_end(version)
        return found

    def keep(self, texts: Mapping[Version, Text]) -> None:
        """Have these for the next ones who ask."""
        with self._lock:
            for version, text in texts.items():
                before = self._texts.pop(version, None)
                self._texts[version] = text
                self._bytes += text.size - (before.size if before is not None else 0)
            while self._bytes > self._most:
                self._bytes -= self._texts.popitem(last=False)[1].size

    def forget(self, root: Path) -> None:
        """Keep nothing of a repository."""
        with self._lock:
            for version in [version for version in self._texts if version[0] == str(root)]:
                self._bytes -= self._texts.pop(version).size


class Texts:
    """The text behind nodes, from the pinned generation; and whether the files still are what was indexed."""

    def __init__(self, root: Path, catalog: Pinned, kept: KeptTexts) -> None:
        self._root = root
        self._prefix = f"{root}/"
        self._name = str(root)  # quicker to compare than a path
        self._catalog = catalog
        self._kept = kept
        self._lock = threading.Lock()  # guards the records
        self._records: dict[str, FileRecord | None] = {}  # a generation never changes: each is read once

    def contents(self, nodes: Sequence[CodeNode], /, *, bodies: bool = True) -> list[NodeContent]:
        """One per node, in order; a file is looked at once."""
        paths = list(dict.fromkeys([node.path for node in nodes if node.path]))
        records = self._records_of(paths)
        checked = dict(zip(paths, map(self._on_disk, paths, records), strict=True))
        checked[""] = OnDisk.UNCHECKED
        if not bodies:
            return [NodeContent("", checked[node.path]) for node in nodes]
        texts = dict(zip(paths, self._texts_of(records), strict=True))
        texts[""] = _NO_TEXT
        return [
            NodeContent(texts[node.path].between(node.start_line, node.end_line), checked[node.path]) for node in nodes
        ]

    def changed(self, nodes: Sequence[CodeNode], /) -> frozenset[str]:
        """The files of these nodes that changed or vanished since they were indexed; each is looked at once."""
        found = zip(nodes, self.contents(nodes, bodies=False), strict=True)
        return frozenset(node.path for node, each in found if each.on_disk in (OnDisk.CHANGED, OnDisk.VANISHED))

    def lines(self, places: Sequence[tuple[str, int]], /) -> list[str]:
        """One line of text per path and 1-based line, in order."""
        paths = list(dict.fromkeys(path for path, _ in places))
        texts = dict(zip(paths, self._texts_of(self._records_of(paths)), strict=True))
        return [texts[path].between(line, line) for path, line in places]

    def _records_of(self, paths: Sequence[str]) -> list[FileRecord | None]:
        missing = [path for path in paths if path not in self._records]
        if missing:
            with self._catalog.use() as snapshot:
                found = {path: snapshot.file(path) for path in missing}
            with self._lock:
                self._records.update(found)
        return [self._records[path] for path in paths]

    def _texts_of(self, records: Sequence[FileRecord | None]) -> list[Text]:
        versions = [self._version(record) for record in records]
        found = self._kept.find(versions)
        missing = [version for version in dict.fromkeys(versions) if version not in found and version != _NO_FILE]
        if missing:
            with self._catalog.use() as snapshot:
                read = {version: Text.of(snapshot.source(version[1])) for version in missing}
            self._kept.keep(read)
            found |= read
        return [found.get(version, _NO_TEXT) for version in versions]

    def _version(self, record: FileRecord | None) -> Version:
        return _NO_FILE if record is None else (self._name, record.path, record.content_hash)

    def _on_disk(self, path: str, record: FileRecord | None) -> OnDisk:
        """Whether the file still is what was indexed: by its stat, and by its bytes when that differs."""
        if record is None:
            return OnDisk.UNCHECKED
        # The quick look. Whatever is different gets the careful one, also what cannot be looked at quickly: a path that
        # is longer than the system takes is opened piece by piece.
        try:
            found = os.lstat(self._prefix + path)
            if found.st_mtime_ns == record.mtime_ns and found.st_size == record.size and found.st_ino == record.inode:
                return OnDisk.UNCHANGED
        except OSError:
            pass
        try:
            descriptor = open_beneath(self._root, path)
        except (OSError, UnsafePathError, NotRegularError):
            return OnDisk.VANISHED
        try:
            found = os.fstat(descriptor)
            if found.st_size != record.size:
                return OnDisk.CHANGED
            same = content_hash(read_up_to(descriptor, record.size + 1)) == record.content_hash
            return OnDisk.UNCHANGED if same else OnDisk.CHANGED
        finally:
            os.close(descriptor)


_NO_FILE: Version = ("", "", "")
