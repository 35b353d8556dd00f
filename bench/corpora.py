"""A repository indexed by the daemon's own workers, in this process: everything a search reads, pinned."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ctxsearch.daemon.layout import Layout
from ctxsearch.daemon.messages import Job, Refresh, Report
from ctxsearch.daemon.stores import Stores
from ctxsearch.daemon.worker import FollowWorker, IndexWorker
from ctxsearch.graph.model import NodeId
from ctxsearch.search.ports import Corpus, Embedder
from ctxsearch.search.providers import DEFAULT_PROVIDERS, Providers

MAX_FILE_BYTES = 1_000_000


@contextmanager
def open_corpus(
    name: str, root: Path, state: Path, embedder: Embedder, providers: Providers = DEFAULT_PROVIDERS
) -> Iterator[Corpus]:
    """Index `root` into `state`, or bring what is there up to date, with vectors and history, and pin it."""
    state.mkdir(parents=True, exist_ok=True)
    history = str(state.parent / "history")
    job = Job("index", str(root.resolve()), str(state), history, MAX_FILE_BYTES, 2, 0, providers=providers)
    Path(job.history_dir).mkdir(parents=True, exist_ok=True)
    for worker in (IndexWorker(job, _unheard), FollowWorker(job, _unheard)):
        try:
            for problem in worker.refresh(Refresh()):
                print(f"{name}: {problem}", flush=True)
        finally:
            worker.close()
    stores = Stores(name, root.resolve(), Layout(state), embedder)
    try:
        snapshot = stores.load()
        assert snapshot is not None, f"{name}: nothing was indexed"
        yield stores.with_history(stores.with_vectors(snapshot)).corpus(_unrepaired)
    finally:
        stores.close()


def _unheard(report: Report) -> None:
    """Nobody watches the progress."""


def _unrepaired(ids: Sequence[NodeId]) -> None:
    """A benchmark changes no index."""
