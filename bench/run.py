"""The quick figures in one table, and where the slow ones come from: what `make bench` runs.

    bench/run.py [--shared DIR] [--checkouts DIR] [--nodes N] [--list]

Call edges against the ground-truth sets of SHARED/bench/callgraph, catalog and graph at N nodes, and indexing of this
repository. A set that names the files of a checkout is run when --checkouts holds it as OWNER+NAME; what is not there
is said and left out. Exits 1 when a command fails. Every figure is made by another program of this folder, in a
process of its own; --list prints the commands without running any.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

BENCH = Path(__file__).resolve().parent
ROOT = BENCH.parent
TIMEOUT_SECONDS = 900
SLOW = (
    ("bench/corpus.py [DIR]", "share of resolved calls per language; no exception on any file"),
    ("bench/history_walk.py REPO", "incremental equals from scratch, along real history"),
    ("bench/index_profile.py DIR", "what the time of indexing goes to, in multiples of parsing"),
    ("bench/relevance.py --data DIR --checkouts DIR --out RUN.jsonl", "ranked answers for the relevance sets"),
    (
        "bench/issue_sets.py SET --mirrors DIR --work DIR --out DIR",
        "where issues and commits lead: files and functions of real changes",
    ),
    (
        "bench/penalty.py SET --scoring DIR --mirrors DIR --work DIR",
        "what the freshness penalty costs and gains on the relevance sets",
    ),
    ("bench/search_latency.py --source DIR", "search in process, beside bare tantivy and a bare scan"),
    ("bench/vectors.py --source DIR [--lance]", "which vector search at which size"),
    ("bench/freshness.py REPO", "node history against git blame, and its cost"),
    ("bench/freshness_study.py REPO", "what the freshness classes foretell"),
    ("bench/serve.py", "the daemon: latency, throughput, edits, restart, memory"),
    ("bench/soak.py", "the daemon under faults"),
)
GRAPH_FIGURES = ("write everything", "load nodes, edges and graph", "commit one changed file", "verify everything")
INDEX_FIGURES = ("files", "nodes", "total", "plain", "one edit", "memory")


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    command: str
    figure: str
    value: str
    failed: bool = False


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shared", type=Path, default=ROOT.parent / "shared", help="where bench/callgraph is")
    parser.add_argument("--checkouts", type=Path, help="checkouts that the real sets name, as OWNER+NAME")
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    if options.list:
        return show_commands()
    print("load " + " ".join(f"{load:.1f}" for load in os.getloadavg()) + f" on {os.cpu_count()} processors")
    failures = 0
    for row in figures(options):
        print(f"{row.command:<12} {row.figure:<40} {row.value}", flush=True)
        failures += row.failed
    show_commands()
    return 1 if failures else 0


def show_commands() -> int:
    print("\nslower, by themselves:")
    for command, meaning in SLOW:
        print(f"  {command:<64} {meaning}")
    return 0


def figures(options: argparse.Namespace) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as scratch:
        yield from callgraph_rows(options.shared / "bench" / "callgraph", options.checkouts, Path(scratch))
        yield from graph_load_rows(options.nodes)
        yield from index_speed_rows(Path(scratch))


def callgraph_rows(sets: Path, checkouts: Path | None, scratch: Path) -> Iterator[Row]:
    truths = sorted((sets / "gt").glob("*.json"))
    if not truths:
        yield Row("callgraph", "skipped", f"no sets under {sets}; give --shared DIR")
    for truth in truths:
        source = source_arguments(truth, checkouts)
        if isinstance(source, str):
            yield Row("callgraph", truth.stem, f"skipped: {source}")
            continue
        yield score_row(sets / "score.py", truth, source, scratch / f"{truth.stem}.json")


def source_arguments(truth: Path, checkouts: Path | None) -> list[str] | str:
    """The arguments that say where the sources are, or what is missing."""
    case: dict[str, Any] = json.loads(truth.read_text())[0]
    if isinstance(case["files"], dict):
        return []
    wanted = str(case["repository"]).replace("/", "+")
    if checkouts is None or not (checkouts / wanted).is_dir():
        return f"names a checkout of {case['repository']} at {case['commit'][:12]}; give --checkouts DIR with {wanted}"
    return ["--source", str(checkouts / wanted)]


def score_row(score: Path, truth: Path, source: list[str], predicted: Path) -> Row:
    made = run([str(BENCH / "callgraph.py"), str(truth), *source, "--out", str(predicted)])
    scored = run([str(score), str(truth), str(predicted)]) if made.returncode == 0 else made
    found = re.search(r"P=.*", scored.stdout)
    if scored.returncode or found is None:
        return failed("callgraph", truth.stem, scored)
    return Row("callgraph", truth.stem, found[0])


def graph_load_rows(nodes: int) -> Iterator[Row]:
    outcome = run([str(BENCH / "graph_load.py"), "--nodes", str(nodes), "--edges", str(nodes * 5), "--json"])
    yield from labelled("graph_load", f"{nodes} nodes", outcome, GRAPH_FIGURES)


def index_speed_rows(scratch: Path) -> Iterator[Row]:
    """On a clone: what is not committed (an environment, build products) is no part of the repository."""
    clone = scratch / "ctxsearch"
    cloned = subprocess.run(
        ["git", "clone", "-q", "--shared", "--", str(ROOT), str(clone)], capture_output=True, text=True, check=False
    )
    if cloned.returncode:
        yield Row("index_speed", "skipped", f"{ROOT} cannot be cloned: {cloned.stderr.strip()}")
        return
    outcome = run([str(BENCH / "index_speed.py"), str(clone), "--edits", "5"])
    yield from labelled("index_speed", "this repository", outcome, INDEX_FIGURES)


def labelled(command: str, subject: str, outcome: subprocess.CompletedProcess[str], wanted: Iterable[str]) -> list[Row]:
    """The lines of an output that begin with a wanted label."""
    if outcome.returncode:
        return [failed(command, subject, outcome)]
    rows = []
    for label in wanted:
        lines = [line for line in outcome.stdout.splitlines() if line.startswith(label)]
        value = " ".join(lines[0].removeprefix(label).split()) if lines else "not printed"
        rows.append(Row(command, f"{subject}: {label}", value, failed=not lines))
    return rows


def failed(command: str, figure: str, outcome: subprocess.CompletedProcess[str]) -> Row:
    last = (outcome.stderr.strip() or outcome.stdout.strip() or f"exit {outcome.returncode}").splitlines()[-1]
    return Row(command, figure, f"FAILED: {last}", failed=True)


def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """One program of this folder, in a process of its own."""
    command = [sys.executable, *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=TIMEOUT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", f"more than {TIMEOUT_SECONDS} s")


if __name__ == "__main__":
    sys.exit(main())
