"""Made-up projects, resolved from nothing, and the calls of one of their files."""

from __future__ import annotations

from ctxsearch.graph.resolve.resolver import Resolver
from ctxsearch.indexer.parse import parse


def resolved(files: dict[str, str]) -> Resolver:
    """A resolver that has seen these files, by path."""
    resolver = Resolver()
    resolver.update({path: parse(path, text.encode()) for path, text in files.items()})
    return resolver


def calls(files: dict[str, str], path: str) -> set[tuple[str, str]]:
    """(qualified name of the caller, "" outside of all; "path:qualified name" of what is called)."""
    resolver = resolved(files)
    world = resolver.world
    own = world.table(path).facts.definitions
    return {
        (
            own[scope].qualified_name if scope >= 0 else "",
            f"{place}:{world.table(place).facts.definitions[target].qualified_name}",
        )
        for scope, (place, target), _, _ in resolver.call_sites(path)
    }
