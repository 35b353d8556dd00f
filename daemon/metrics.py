"""Prometheus metrics of the daemon, on a loopback port when asked for. Counts and times only: no query, no path."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server

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
        self.queue = Gauge("ctxsearch_index_queue", "Repositories waiting to be indexed", registry=self.registry)
        self.generation = Gauge(
            "ctxsearch_generation", "Generation that answers", ["repository"], registry=self.registry
        )
        self.skipped = Gauge(
            "ctxsearch_skipped_files", "Files left out, by reason", ["repository", "reason"], registry=self.registry
        )
        self.memory = Gauge("ctxsearch_memory_bytes", "Resident memory", ["process"], registry=self.registry)
        self.memory.labels("serving").set_function(lambda: float(resident_bytes()))

    def serve(self, port: int) -> Callable[[], None]:
        """Serves the registry on 127.0.0.1; returns what stops it."""
        server, thread = start_http_server(port, addr="127.0.0.1", registry=self.registry)

        def stop() -> None:
            server.shutdown()
            server.server_close()
            thread.join()

        return stop

    def publish(self, repository: str, generation: int, skipped: Iterable[tuple[str, int]]) -> None:
        """What a newly published generation says about itself."""
        self.generation.labels(repository).set(generation)
        for reason, count in skipped:
            self.skipped.labels(repository, reason).set(count)
