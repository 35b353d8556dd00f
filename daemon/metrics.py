"""Prometheus metrics of the daemon, on a loopback port when asked for. Counts and times only: no query, no path."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Metric, start_http_server
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from ctxsearch.daemon.memory import resident_bytes

LATENCY_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class Metrics:
    """All metrics of one daemon, in a registry of their own."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "ctxsearch_requests", "Requests by method and status", ["method", "code"], registry=self.registry
        )
        self.latency = Histogram(
            "ctxsearch_request_seconds",
            "Time to answer, by method",
            ["method"],
            buckets=LATENCY_BUCKETS,
            registry=self.registry,
        )
        self.signal_latency = Histogram(
            "ctxsearch_signal_seconds",
            "Time of one search signal",
            ["signal"],
            buckets=LATENCY_BUCKETS,
            registry=self.registry,
        )
        self.in_flight = Gauge("ctxsearch_requests_in_flight", "Requests being answered", registry=self.registry)

    def tell_of(self, repositories: Callable[[], Iterable[RepositoryFigures]]) -> None:
        """From now on also shows the repositories, as they are when somebody looks."""
        self.registry.register(_Repositories(repositories))

    def serve(self, port: int) -> Callable[[], None]:
        """Serves the registry on 127.0.0.1; returns what stops it."""
        server, thread = start_http_server(port, addr="127.0.0.1", registry=self.registry)

        def stop() -> None:
            server.shutdown()
            server.server_close()
            thread.join()

        return stop


@dataclass(frozen=True, slots=True)
class RepositoryFigures:
    """What is shown of one repository."""

    name: str
    generation: int  # that answers; 0 before the first
    waits: bool  # to be indexed
    worker_bytes: int  # resident memory of its indexing processes
    skipped: Mapping[str, int]  # files left out, by reason


class _Repositories(Collector):
    """Asks when the page is asked for: what was removed is gone, and an edit costs nothing."""

    def __init__(self, repositories: Callable[[], Iterable[RepositoryFigures]]) -> None:
        self._repositories = repositories

    def collect(self) -> Iterator[Metric]:
        """prometheus_client's hook."""
        queue = GaugeMetricFamily("ctxsearch_index_queue", "Repositories waiting to be indexed")
        generation = GaugeMetricFamily("ctxsearch_generation", "Generation that answers", labels=["repository"])
        skipped = GaugeMetricFamily(
            "ctxsearch_skipped_files", "Files left out, by reason", labels=["repository", "reason"]
        )
        memory = GaugeMetricFamily("ctxsearch_memory_bytes", "Resident memory", labels=["process"])
        memory.add_metric(["serving"], resident_bytes())
        waiting = 0
        for each in self._repositories():
            waiting += each.waits
            generation.add_metric([each.name], each.generation)
            memory.add_metric([f"indexing {each.name}"], each.worker_bytes)
            for reason, count in each.skipped.items():
                skipped.add_metric([each.name, reason], count)
        queue.add_metric([], waiting)
        yield from (queue, generation, skipped, memory)
