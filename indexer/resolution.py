"""The two ways from changed files to a catalog's graph: in this process, or a whole repository in several at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from ctxsearch.graph.catalog import Writer
from ctxsearch.graph.facts import EncodedFacts
from ctxsearch.graph.resolve.assemble import shared_graph
from ctxsearch.graph.resolve.resolver import Resolver
from ctxsearch.indexer.resolve_pool import ResolvePool
from ctxsearch.indexer.spool import Spool

Progress = Callable[[int, int], None]  # files done, files in all


class Resolution(Protocol):
    """Files that are known and not resolved yet. Callers may leave the outlines out, and close it in any case."""

    def write_outlines(self, writer: Writer) -> None:
        """Store nodes and containment alone."""

    def write_graphs(self, writer: Writer, progress: Progress) -> int:
        """Resolve and store; how many files were resolved."""

    def close(self) -> None:
        """Let go of whatever it holds."""


class OwnResolution:
    """By the resolver of this process, which knows the rest of the repository."""

    def __init__(self, resolver: Resolver, facts: Mapping[str, bytes], removed: Iterable[str]) -> None:
        self._resolver = resolver
        self._taken = resolver.take(EncodedFacts(facts), removed)

    def write_outlines(self, writer: Writer) -> None:
        for path in sorted(self._taken.changed):
            writer.replace(path, self._resolver.outline(path))
        writer.put_shared(*self._resolver.outline_shared())

    def write_graphs(self, writer: Writer, progress: Progress) -> int:  # noqa: ARG002
        delta = self._resolver.resolve(self._taken)
        for path in sorted(delta.graphs):
            writer.replace(path, delta.graphs[path])
        if delta.shared is not None:
            writer.put_shared(*delta.shared)
        return delta.resolved

    def close(self) -> None:
        """Nothing to let go of: the resolver is kept."""


class PooledResolution:
    """Everything anew, in several processes."""

    def __init__(self, repository: str, facts: Spool, workers: int, *, outlines: bool) -> None:
        self._repository = repository
        self._paths = sorted(facts)
        self._pool = ResolvePool(facts, workers, outlines=outlines)
        self._pool.exchange_entries()

    def write_outlines(self, writer: Writer) -> None:
        for stored in self._pool.outlines():
            writer.replace_sealed(stored.path, stored.blobs, stored.reads)
        writer.put_shared(*shared_graph(self._repository, self._paths, ()))

    def write_graphs(self, writer: Writer, progress: Progress) -> int:
        self._pool.exchange_flows()
        externals: set[str] = set()
        for stored in self._pool.graphs(progress):
            writer.replace_sealed(stored.path, stored.blobs, stored.reads)
            externals.update(stored.externals)
        writer.put_shared(*shared_graph(self._repository, self._paths, sorted(externals)))
        return len(self._paths)

    def close(self) -> None:
        self._pool.close()
