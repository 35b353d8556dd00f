"""parse(path, source) -> FileFacts: never raises on bad source, never looks at another file."""

from __future__ import annotations

from ctxsearch.graph.facts import Definition, FileFacts
from ctxsearch.graph.model import NodeFlag
from ctxsearch.indexer.chunks import with_chunks
from ctxsearch.indexer.languages import LanguageSpec, detect
from ctxsearch.indexer.languages.builder import Extractor, count_lines, digest, parse_tree
from ctxsearch.indexer.languages.documents import DocumentExtractor
from ctxsearch.indexer.languages.manifests import parse_manifest

UNKNOWN_LANGUAGE = "text"


def parse(path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> FileFacts:
    """The facts of one file. `source` is UTF-8 (as `files.read_source` gives it); invalid bytes are tolerated."""
    spec = detect(path, source)
    language = UNKNOWN_LANGUAGE if spec is None else spec.name
    try:
        found = _extract(path, source, flags, spec) or _bare_facts(path, language, source, flags)
        return with_chunks(found, source)
    except Exception:
        # The boundary of "parsing never fails": whatever a source does to an extractor costs that file's
        # definitions only, and the file shows as one with errors.
        return with_chunks(_bare_facts(path, language, source, flags, parse_errors=1), source)


def outline(path: str, source: bytes) -> tuple[Definition, ...]:
    """The functions, types and the like of one file, by name; () if it cannot be read."""
    spec = detect(path, source)
    if spec is None or not spec.grammar:
        return parse(path, source).definitions
    try:
        root = parse_tree(spec.language(), spec.extractor().readable(source))
        return _extractor(path, source, NodeFlag.NONE, spec).outline(root, spec.compiled()).definitions
    except Exception:  # as in `parse`
        return ()


def _extract(path: str, source: bytes, flags: NodeFlag, spec: LanguageSpec | None) -> FileFacts | None:
    manifest = parse_manifest(path, source, flags)
    if manifest is not None or spec is None:
        return manifest
    if not spec.grammar:
        return _scan(path, source, flags, spec)
    root = parse_tree(spec.language(), spec.extractor().readable(source))
    return _extractor(path, source, flags, spec).extract(root, spec.compiled())


def _extractor(path: str, source: bytes, flags: NodeFlag, spec: LanguageSpec) -> Extractor:
    extractor = spec.extractor()(path, source, flags)
    extractor.language = extractor.language or spec.name
    return extractor


def _scan(path: str, source: bytes, flags: NodeFlag, spec: LanguageSpec) -> FileFacts:
    """A document: read without a grammar."""
    document = DocumentExtractor(path, source, flags)
    document.language = spec.name
    return document.scan()


def _bare_facts(path: str, language: str, source: bytes, flags: NodeFlag, parse_errors: int = 0) -> FileFacts:
    """The file itself and nothing inside it."""
    return FileFacts(
        path=path,
        language=language,
        line_count=count_lines(source),
        flags=flags,
        parse_errors=parse_errors,
        digest=digest(source),
    )
