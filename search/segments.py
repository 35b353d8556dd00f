"""The checksums that tantivy writes behind every file of a segment, checked: it does not look at them by itself.

A flipped bit would otherwise show as an odd answer, or as an error in the middle of one. Reads files only.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from ctxsearch.search.errors import IndexCorrupt

_MAGIC: Final = 1337
_TAIL: Final = 8  # bytes: length of the footer, magic number


def check_segments(directory: Path) -> None:
    """Reads every file of the committed segments; raises IndexCorrupt for one that is not what was written.

    A file that another process merged away meanwhile is no damage: opening the index decides about those.
    """
    for file in _committed(directory):
        try:
            data = file.read_bytes()
        except FileNotFoundError:
            continue
        if not _is_whole(data):
            raise IndexCorrupt(f"full-text index: {file} is damaged")


def _committed(directory: Path) -> Iterator[Path]:
    """Files of segments that the last commit names; others may be half written by a writer at work."""
    try:
        segments = json.loads((directory / "meta.json").read_bytes())["segments"]
        current = {one["segment_id"].replace("-", ""): (one.get("deletes") or {}).get("opstamp") for one in segments}
    except FileNotFoundError:
        return
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise IndexCorrupt(f"full-text index: {directory / 'meta.json'} is damaged") from error
    for file in sorted(directory.iterdir()):
        segment, _, rest = file.name.partition(".")
        if segment in current and (not rest.endswith("del") or rest == f"{current[segment]}.del"):
            yield file


def _is_whole(data: bytes) -> bool:
    length, magic = int.from_bytes(data[-_TAIL:-4], "little"), int.from_bytes(data[-4:], "little")
    end = len(data) - _TAIL - length
    if magic != _MAGIC or end < 0:
        return False
    try:
        crc = json.loads(data[end:-_TAIL])["crc"]
    except (ValueError, KeyError, TypeError):
        return False
    return bool(crc == zlib.crc32(memoryview(data)[:end]))
