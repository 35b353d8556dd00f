"""parse(path, source) -> FileFacts: never raises on bad source, never looks at another file."""

from __future__ import annotations

from ctxsearch.graph.facts import FileFacts
from ctxsearch.graph.model import NodeFlag
from ctxsearch.indexer.languages import detect
from ctxsearch.indexer.languages.builder import parse_tree

UNKNOWN_LANGUAGE = "text"


def parse(path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> FileFacts:
    """The facts of one file. `source` is UTF-8 (as `files.read_source` gives it); invalid bytes are tolerated."""
    spec = detect(path, source[:200])
    if spec is None or not spec.ready():
        return FileFacts(path=path, language=UNKNOWN_LANGUAGE, line_count=source.count(b"\n") + 1, flags=flags)
    root = parse_tree(spec.language(), source)
    return spec.extractor()(path, source, flags).extract(root, spec.compiled())
