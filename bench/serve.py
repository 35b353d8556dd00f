"""Figures of the daemon: real process, real socket, a made-up repository of 100,000 nodes.

    bench/serve.py [--nodes 100000] [--files 0] [--seconds 60] [--queries 1000] [--edits 50] [--flat] [--keep DIR]

Prints one line per figure with its target. The machine's load is printed first: compare ratios when it is high.
`--flat` prints nothing but the daemon's memory over 10,000 queries with 500 edits between them.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tempfile
import threading
import time
from pathlib import Path

import psutil
from daemon_corpus import function_name, git, queries, write_corpus

from ctxsearch.daemon.cli_repositories import follow
from ctxsearch.daemon.client import stop
from ctxsearch.daemon.session import Session
from ctxsearch.daemon.settings import Settings, load_settings
from ctxsearch.v1 import repository_pb2, search_pb2

SECONDS = 1000.0  # milliseconds in one
QUIET_SECONDS = 0.05  # of processor time within a second: less is nothing
QUIET_LOOKS = 4  # in a row: on a busy machine a process may be kept waiting for a second
FLAT_QUERIES, FLAT_EDITS = 10_000, 500


def figure(name: str, value: str, target: str = "") -> None:
    print(f"{name:<58} {value:>24}   {f'target {target}' if target else ''}", flush=True)


def percentile(times: list[float], share: int) -> float:
    ordered = sorted(times)
    return ordered[min(len(ordered) - 1, len(ordered) * share // 100)]


def spread(times: list[float]) -> str:
    return " / ".join(f"{percentile(times, share):.1f}" for share in (50, 95, 99)) + " ms"


def request_for(text: str, name: str) -> search_pb2.ContextSearchRequest:
    """Hybrid with expansion, as the figures ask for."""
    request = search_pb2.ContextSearchRequest(text=text)
    request.callers.depth = 2
    request.scope.include.repositories.append(name)
    return request


def ask(session: Session, name: str, texts: list[str]) -> list[float]:
    times = []
    for text in texts:
        start = time.perf_counter()
        session.search(request_for(text, name))
        times.append((time.perf_counter() - start) * SECONDS)
    return times


def add(session: Session, root: Path) -> str:
    request = repository_pb2.AddRepositoryRequest(path=str(root))
    return str(session.repository("AddRepository", request).repository.name)


def until(session: Session, name: str, done: str) -> tuple[float, int]:
    """Waits until a repository can be searched (`first`), has its `graph` or is `whole`; seconds, peak worker bytes."""
    start, peak = time.perf_counter(), 0
    for progress in follow(session, name):
        peak = max(peak, indexing_bytes(session))
        if progress.phase == repository_pb2.INDEX_PHASE_FAILED:
            raise SystemExit(f"indexing failed: {list(progress.errors)}")
        whole = progress.phase == repository_pb2.INDEX_PHASE_IDLE and progress.vectors_ready and progress.history_ready
        there = {"first": progress.generation > 0, "graph": progress.graph_ready, "whole": whole}
        if there[done] or whole:
            break
    return time.perf_counter() - start, peak


def indexing_bytes(session: Session) -> int:
    total = 0
    for child in psutil.Process(session.connection.info.pid).children(recursive=True):
        try:
            total += child.memory_info().rss
        except psutil.NoSuchProcess:
            continue
    return total


def processor_seconds(session: Session) -> float:
    """Of the daemon and everything it started: what wall time would be on a machine without other load, at most."""
    daemon = psutil.Process(session.connection.info.pid)
    total = 0.0
    for process in (daemon, *daemon.children(recursive=True)):
        try:
            total += sum(process.cpu_times()[:2])
        except psutil.NoSuchProcess:
            continue
    return total


def daemon_times(session: Session) -> tuple[float, float]:
    times = psutil.Process(session.connection.info.pid).cpu_times()
    return times.user, times.system


def own_megabytes(session: Session) -> str:
    """All of the daemon's resident memory, and of it what is not just pages of index files."""
    found = psutil.Process(session.connection.info.pid).memory_info()
    return f"{found.rss >> 20} ({(found.rss - getattr(found, 'shared', 0)) >> 20})"


def serving_bytes(session: Session) -> int:
    return int(psutil.Process(session.connection.info.pid).memory_info().rss)


def status(session: Session, name: str) -> repository_pb2.GetStatusResponse:
    answer: repository_pb2.GetStatusResponse = session.repository(
        "GetStatus", repository_pb2.GetStatusRequest(repository=name)
    )
    return answer


def clients_at_once(settings: Settings, name: str, files: int, count: int, seconds: float) -> tuple[list[float], int]:
    """Clients with a connection each, asking without pause; all times, and how many answers were errors."""
    times: list[float] = []
    errors = 0
    guard = threading.Lock()
    end = time.perf_counter() + seconds

    def work(seed: int) -> None:
        nonlocal errors
        session = Session(settings, Path("/"))
        texts = queries(seed, 500, files)
        own: list[float] = []
        failed = position = 0
        while time.perf_counter() < end:
            try:
                own += ask(session, name, [texts[position % len(texts)]])
            except Exception as error:
                print("error:", error)
                failed += 1
            position += 1
        session.close()
        with guard:
            times.extend(own)
            errors += failed

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times, errors


class Edits:
    """Edits of one file, watch on; restored in the end."""

    def __init__(self, session: Session, name: str, root: Path) -> None:
        self._session = session
        self._name = name
        self._path = root / "pkg000" / "mod00000.py"
        self._text = self._path.read_text()
        self._number = 0

    def one(self) -> float:
        """Milliseconds from writing the file to an answer of a later generation that has it."""
        self._number += 1
        word = f"edited_{self._number}_zebra"
        before = self._session.search(request_for("parse", self._name)).generation
        self._path.write_text(self._text + f"\n\ndef {word}(x):\n    return x\n")
        start = time.perf_counter()
        wanted = request_for(word, self._name)
        wanted.mode = search_pb2.SEARCH_MODE_KEYWORD
        wanted.ClearField("expansion")
        wanted.min_generation = before + 1
        wanted.max_wait.FromSeconds(60)
        response = self._session.search(wanted)
        taken = (time.perf_counter() - start) * SECONDS
        assert response.results[0].node.name == word, response.results[0].node.name
        return taken

    def close(self) -> None:
        self._path.write_text(self._text)


def edit_figures(session: Session, name: str, root: Path, count: int) -> None:
    edits = Edits(session, name, root)
    target = "300 at 10k files, 1000 at 100k"
    until_ready(session)
    figure("the first edit after a first index", f"{edits.one():.0f} ms", target)
    until(session, name, "whole")
    cpu = processor_seconds(session)
    times = [edits.one() for _ in range(count)]
    cpu = (processor_seconds(session) - cpu) / max(1, count) * SECONDS
    figure(f"edit to searchable, {count} edits, p50/95/99", spread(times), target)
    figure("processor time per edit, vectors and history included", f"{cpu:.0f} ms")
    until(session, name, "whole")
    figure("memory of idle indexing processes", f"{indexing_bytes(session) >> 20} MB")
    end_processes(session)
    session.search(request_for("parse", name))
    until_ready(session)
    figure("an edit after a question, indexing processes gone before", f"{edits.one():.0f} ms", target)
    edits.close()


def end_processes(session: Session) -> None:
    """As if they had left for want of work; until the daemon can see it."""
    children = psutil.Process(session.connection.info.pid).children()
    for child in children:
        child.kill()
    while any(child.is_running() and child.status() != psutil.STATUS_ZOMBIE for child in children):
        time.sleep(0.01)


def until_ready(session: Session) -> None:
    """Waits until the processes beside the daemon have nothing to do, as before an edit that a person makes."""
    before, quiet = 0.0, 0
    while quiet < QUIET_LOOKS:
        now = processor_seconds(session)
        quiet = quiet + 1 if abs(now - before) < QUIET_SECONDS else 0
        before = now
        time.sleep(1.0)


def memory_over_time(session: Session, name: str, root: Path, files: int) -> None:
    """10,000 queries and 500 edits: the daemon's memory after every tenth of them."""
    edits = Edits(session, name, root)
    texts = queries(5, FLAT_QUERIES, files)
    ask(session, name, texts[:200])
    figure("memory before (of it no index files)", f"{own_megabytes(session)} MB")
    tenth = FLAT_EDITS // 10
    for number in range(FLAT_EDITS):
        edits.one()
        each = FLAT_QUERIES // FLAT_EDITS
        ask(session, name, texts[number * each : (number + 1) * each])
        if (number + 1) % tenth == 0:
            counted = f"{(number + 1) * each} queries, {number + 1} edits"
            beside = indexing_bytes(session) >> 20
            figure(f"memory after {counted}; beside", f"{own_megabytes(session)}, {beside} MB", "flat")
    edits.close()
    size = sum(file.stat().st_size for file in session.settings.repositories_dir.rglob("*") if file.is_file())
    figure("index on disk in the end", f"{size >> 20} MB")


def branch_switch(session: Session, name: str, root: Path, files: int) -> float:
    """Seconds from `git checkout` of a branch that differs in 200 files until its own name is found."""
    changed = min(200, files)
    git(root, "checkout", "-q", "-b", "other")
    for number in range(changed):
        path = root / f"pkg{number // 100:03}" / f"mod{number:05}.py"
        path.write_text(path.read_text() + f"\n\ndef on_branch_{number}(x):\n    return x\n")
    git(root, "commit", "-q", "-a", "-m", "other")
    refresh(session, name)
    git(root, "checkout", "-q", "main")
    refresh(session, name)
    git(root, "checkout", "-q", "other")
    start = time.perf_counter()
    wanted = search_pb2.ContextSearchRequest(text=f"on_branch_{changed - 1}", mode=search_pb2.SEARCH_MODE_KEYWORD)
    wanted.scope.include.repositories.append(name)
    generation = 0
    while True:
        wanted.min_generation = generation
        wanted.max_wait.FromSeconds(60)
        response = session.search(wanted)
        if response.results and response.results[0].node.name == f"on_branch_{changed - 1}":
            return time.perf_counter() - start
        generation = response.generation + 1


def refresh(session: Session, name: str) -> None:
    request = repository_pb2.RefreshRequest(repository=name)
    request.max_wait.FromSeconds(600)
    assert session.repository("Refresh", request, timeout=630).completed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--files", type=int, default=0, help="over how many files; 0: of a usual size")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--edits", type=int, default=50)
    parser.add_argument("--flat", action="store_true", help="memory over 10,000 queries and 500 edits alone")
    parser.add_argument("--keep", type=Path, default=None, help="use and keep this directory")
    options = parser.parse_args()
    folder = options.keep or Path(tempfile.mkdtemp(prefix="serve"))
    folder.mkdir(exist_ok=True)
    os.environ |= {"CTXSEARCH_DATA_DIR": str(folder / "data"), "CTXSEARCH_RUNTIME_DIR": str(folder)}
    session = Session(load_settings(), folder)
    try:
        measure(session, folder, options)
    finally:
        session.close()
        stop(session.settings)
        if options.keep is None:
            shutil.rmtree(folder, ignore_errors=True)


def measure(session: Session, folder: Path, options: argparse.Namespace) -> None:
    figure("load of the machine, cores", f"{os.getloadavg()[0]:.1f}, {os.cpu_count()}")
    root = folder / "corpus"
    files = write_corpus(root, options.nodes, 1, options.files) if not root.exists() else len(list(root.rglob("*.py")))
    name = add(session, root)
    first, first_peak = until(session, name, "first")
    figure("first index: searchable by keyword after", f"{first:.1f} s")
    graph, graph_peak = until(session, name, "graph")
    figure("first index: calls resolved after", f"{first + graph:.1f} s")
    whole, peak = until(session, name, "whole")
    figure("first index: whole (vectors, history) after", f"{first + graph + whole:.1f} s")
    first_peak = max(first_peak, graph_peak)
    figure("memory while indexing (its processes)", f"{max(first_peak, peak) >> 20} MB", "<= 1536 MB")
    state = status(session, name)
    figure("files, nodes, edges", f"{state.files}, {state.nodes}, {state.edges}")
    if options.flat:
        memory_over_time(session, name, root, files)
        return
    texts = queries(2, options.queries, files)
    ask(session, name, texts[:50])
    process = psutil.Process(session.connection.info.pid)
    cpu = sum(process.cpu_times()[:2])
    idle = ask(session, name, texts)
    cpu = (sum(process.cpu_times()[:2]) - cpu) / len(texts) * SECONDS
    figure("processor time of the daemon per query", f"{cpu:.1f} ms")
    figure(f"hybrid + expansion over gRPC, {options.queries} queries, p50/95/99", spread(idle), "10 / 25")
    figure("memory while serving", f"{serving_bytes(session) >> 20} MB", "<= 600 MB")
    before = serving_bytes(session)
    times, errors = clients_at_once(session.settings, name, files, 8, options.seconds)
    figure("8 clients at once: p50/95/99", spread(times))
    figure("8 clients at once: per second, errors", f"{len(times) / options.seconds:.0f}, {errors}", "0 errors")
    edit_figures(session, name, root, options.edits)
    figure("branch switch over 200 files", f"{branch_switch(session, name, root, files):.2f} s", "< 3 s")
    until(session, name, "whole")
    figure("memory after queries and edits, before", f"{serving_bytes(session) >> 20}, {before >> 20} MB", "flat")
    busy_while_indexing(session, folder, name, files, options, percentile(idle, 95))
    first, whole = restart(session, name)
    figure("restart until the first answer", f"{first:.2f} s", "< 3 s")
    figure("restart until every signal answers", f"{whole:.2f} s", "< 3 s")
    figure("processor time of the daemon by then", f"{sum(daemon_times(session)):.2f} s")


def busy_while_indexing(
    session: Session, folder: Path, name: str, files: int, options: argparse.Namespace, idle_p95: float
) -> None:
    second = folder / "second"
    if not second.exists():
        write_corpus(second, options.nodes, 3)
    other = add(session, second)
    times: list[float] = []
    texts = queries(4, 500, files)
    end = time.perf_counter() + options.seconds
    while time.perf_counter() < end:
        times += ask(session, name, texts[:20])
        entries = {entry.repository.name: entry.progress for entry in session.repositories()}
        if entries[other].phase == repository_pb2.INDEX_PHASE_IDLE:
            break
    figure("one client while another repository is indexed: p50/95/99", spread(times))
    figure("its p95 against idle", f"{percentile(times, 95) / idle_p95:.1f} x", "<= 3 x")
    session.repository("RemoveRepository", repository_pb2.RemoveRepositoryRequest(repository=other))


def restart(session: Session, name: str) -> tuple[float, float]:
    """Seconds until words answer, and until meaning and freshness do too."""
    session.close()
    stop(session.settings)
    start = time.perf_counter()
    wanted = request_for(function_name(3, 0), name)
    wanted.ClearField("expansion")
    response = session.search(wanted)
    assert response.results[0].node.name == function_name(3, 0)
    first = time.perf_counter() - start
    for progress in follow(session, name):
        if progress.vectors_ready and progress.history_ready:
            break
    assert not session.search(wanted).degraded
    return first, time.perf_counter() - start


if __name__ == "__main__":
    main()
