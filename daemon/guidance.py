"""What is wrong with a scope that nothing can be in: languages and paths that no indexed file has. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches

from ctxsearch.graph.graph import CodeGraph
from ctxsearch.graph.model import NodeKind
from ctxsearch.search.scope import Scope

MOST_NEAR = 3
_GLOB_CHARS = frozenset("*?[{")


def unmatched(scope: Scope, graphs: Sequence[CodeGraph]) -> tuple[str, ...]:
    """A sentence for every language and path that a scope asks for and no indexed file has."""
    if not scope.languages and not scope.paths:
        return ()
    files = [node for graph in graphs for node in graph.nodes() if node.kind is NodeKind.MODULE]
    languages = sorted({file.language for file in files})
    paths = sorted({file.path for file in files})
    return (*_languages(scope.languages, languages), *_paths(scope.paths, paths))


def _languages(wanted: Iterable[str], indexed: Sequence[str]) -> Iterator[str]:
    for language in wanted:
        if not any(map(Scope(languages=(language,)).accepts_language, indexed)):
            near = get_close_matches(language.lower(), indexed, MOST_NEAR)
            told = _named("near", near) if near else _named("indexed", indexed)
            yield f"no indexed file is in the language {language!r}; {told}"


def _paths(wanted: Iterable[str], indexed: Sequence[str]) -> Iterator[str]:
    for path in wanted:
        if not any(map(Scope(paths=(path,)).accepts_path, indexed)):
            near = _near_paths(path, indexed)
            yield f"no indexed file has the path {path!r}" + (f"; {_named('near', near)}" if near else "")


def _named(what: str, names: Sequence[str]) -> str:
    return f"{what}: {', '.join(map(repr, names))}"


def _near_paths(path: str, indexed: Sequence[str]) -> list[str]:
    """What lies where a path leaves what is indexed, and is called nearly the same."""
    if _GLOB_CHARS & set(path):
        return []
    before = ""
    for segment in path.strip("/").split("/"):
        beside = {one[len(before) :].partition("/")[0:2] for one in indexed if one.startswith(before)}
        if (segment, "/") not in beside:
            names = [name + slash for name, slash in sorted(beside)]
            return [before + name for name in get_close_matches(segment, names, MOST_NEAR)]
        before += f"{segment}/"
    return []
