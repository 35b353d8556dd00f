"""Speed and memory of indexing one repository.

    bench/index_speed.py ROOT [--workers N] [--edits N]

Prints files, lines and nodes per second, the time as a ratio to plain tree-sitter parsing of the same files in as
many processes, the peak memory of the whole process tree, and how long one changed file takes to be current in
facts, graph and catalog. ROOT is copied nowhere and changed never: the edits are made in a scratch copy of it.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import resource
import shutil
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil

from ctxsearch.graph.catalog import Catalog
from ctxsearch.graph.git import Git
from ctxsearch.graph.model import CALLABLE_KINDS
from ctxsearch.indexer.files import Limits, list_files
from ctxsearch.indexer.index import RefreshReport, RepositoryIndexer
from ctxsearch.indexer.languages import detect
from ctxsearch.indexer.languages.builder import parse_tree


class PeakMemory:
    """The largest sum of resident memory over this process and its children, sampled."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self.total = 0
        self.own = 0
        self._thread = threading.Thread(target=self._sample, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _sample(self) -> None:
        me = psutil.Process()
        while not self._stop.wait(0.2):
            own = me.memory_info().rss
            total = own
            for child in me.children(recursive=True):
                try:
                    total += child.memory_info().rss
                except psutil.NoSuchProcess:
                    continue
            self.own = max(self.own, own)
            self.total = max(self.total, total)


def cpu_seconds() -> float:
    """Of this process and its children, ended or not: what the work costs, however busy the machine is."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = time.process_time() + ended.ru_utime + ended.ru_stime
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            times = child.cpu_times()
            total += times.user + times.system
    return total


def parse_plainly(job: tuple[str, list[str]]) -> int:
    """What any indexer has to do at least: read and parse. The number of files that have a grammar."""
    root, paths = job
    parsed = 0
    for path in paths:
        data = (Path(root) / path).read_bytes()
        spec = detect(path, data[:200])
        if spec is not None and spec.grammar:
            parse_tree(spec.language(), data)
            parsed += 1
    return parsed


def plain_seconds(root: Path, paths: list[str], workers: int) -> tuple[float, float, int]:
    """Plain tree-sitter over the same files in the same number of processes: elapsed, of processors, files."""
    batches = [(str(root), paths[start : start + 50]) for start in range(0, len(paths), 50)]
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        pool.map(parse_plainly, [(str(root), [])] * workers)  # processes are started before the clock is
        began, spent = time.perf_counter(), cpu_seconds()
        parsed = sum(pool.map(parse_plainly, batches, chunksize=1))
        return time.perf_counter() - began, cpu_seconds() - spent, parsed


def edit_seconds(indexer: RepositoryIndexer, root: Path, paths: list[str], edits: int) -> list[float]:
    """One function added to a file and taken away again: until the catalog has it."""
    taken = []
    step = max(1, len(paths) // edits)
    for path in paths[::step][:edits]:
        target = root / path
        original = target.read_bytes()
        for content in (original + b"\n\ndef added_by_the_benchmark(value):\n    return str(value)\n", original):
            target.write_bytes(content)
            began = time.perf_counter()
            indexer.refresh_paths([path])
            taken.append(time.perf_counter() - began)
    return taken


def show(report: RefreshReport, seconds: float) -> None:
    counts = report.counts
    assert counts is not None
    lines, nodes = sum(counts.lines.values()), sum(counts.nodes.values())
    functions = sum(count for kind, count in counts.nodes.items() if kind in CALLABLE_KINDS)
    print(f"files      {report.changed:>9}   {report.changed / seconds:>9.0f} /s")
    print(f"lines      {lines:>9}   {lines / seconds:>9.0f} /s")
    print(f"nodes      {nodes:>9}   {nodes / seconds:>9.0f} /s   functions {functions}")
    print(f"edges      {sum(counts.edges.values()):>9}")
    for language, calls in sorted(counts.calls.items(), key=lambda item: -item[1]):
        sites = calls + counts.unresolved.get(language, 0)
        if sites:
            print(f"  {language:<12} calls {calls:>8}   unresolved {1 - calls / sites:.1%}")
    print("skipped   ", ", ".join(f"{count} {reason}" for reason, count in report.skipped.items()))
    print("phases    ", ", ".join(f"{phase} {took:.1f} s" for phase, took in report.seconds.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--edits", type=int, default=10)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / arguments.root.name
        shutil.copytree(arguments.root, root, symlinks=True)
        measure(root, Path(scratch) / "catalog.db", arguments.workers, arguments.edits)


def measure(root: Path, catalog_path: Path, workers: int, edits: int) -> None:
    git = Git.open(root)
    listed = [entry.path for entry in list_files(root, Limits(), git).files]
    plain, plain_cpu, parsed = plain_seconds(root, listed, workers)
    with Catalog.open(catalog_path) as catalog, PeakMemory() as memory:
        with RepositoryIndexer(root, catalog, workers=workers, git=git) as indexer:
            began, spent = time.perf_counter(), cpu_seconds()
            report = indexer.refresh()
            seconds, cpu = time.perf_counter() - began, cpu_seconds() - spent
            show(report, seconds)
            print(f"total      {seconds:9.1f} s, {cpu:.1f} s of processors")
            print(f"plain      {plain:9.1f} s, {plain_cpu:.1f} s of processors for parsing {parsed} files")
            print(f"ratio      {seconds / plain:9.2f}, {cpu / plain_cpu:.2f} of processors", flush=True)
            began = time.perf_counter()
            indexer.refresh()
            print(f"nothing new{time.perf_counter() - began:9.2f} s", flush=True)
            python = [path for path in listed if path.endswith(".py")]
            if python and edits:
                taken = edit_seconds(indexer, root, python, edits)
                print(f"one edit   median {statistics.median(taken) * 1000:.0f} ms, worst {max(taken) * 1000:.0f} ms")
        with RepositoryIndexer(root, catalog, workers=workers, git=git) as indexer:
            began = time.perf_counter()
            indexer.prepare()
            print(f"restore    {time.perf_counter() - began:9.1f} s after a restart")
    print(f"memory     {memory.total / 1e6:9.0f} MB peak of all processes, {memory.own / 1e6:.0f} MB of this one")
    print(f"catalog    {catalog_path.stat().st_size / 1e6:9.0f} MB")


if __name__ == "__main__":
    sys.exit(main())
