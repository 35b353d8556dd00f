"""How exact and how costly the history of nodes is: against `git blame --first-parent` and `git log`.

    python bench/freshness.py REPO --sample 300 [--json]
    python bench/freshness.py REPO --walk 200 [--check 5] [--json]

`agreement`: share of sampled nodes whose last-touching commit is the one that blame gives (a node older than
the horizon agrees when blame puts it there too). Plain blame knows no bulk commits, so for this comparison
attribution does not pass through them. `cost_ratio`: CPU time of a first pass into an empty store
to that of `git log --first-parent -m -p -U0` over the same commits and files, printing to nothing. Nearly all time
goes to blame, a process per file: in a large repository `git commit-graph write --reachable --changed-paths` first
makes it forty times as fast (and changes no answer).

With `--walk` the last commits of HEAD's first-parent chain are followed one by one, each in its own update; at CHECK
points, the last commit among them, every line's owner and every touch is compared with a history read from nothing.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TypeVar

import numpy as np

from ctxsearch.graph.attribution import Replay
from ctxsearch.graph.git import Git, GitError
from ctxsearch.graph.history import History, HistoryStore, Horizon, NodeRanges, Refreshed, Selection, Watched, refresh
from ctxsearch.graph.node_history import WORK_TREE
from ctxsearch.indexer.languages import LANGUAGES
from ctxsearch.indexer.parse import parse

Value = TypeVar("Value")
SHOWN_DISAGREEMENTS = 20
QUICK_S = 5.0


@dataclass(frozen=True)
class Disagreement:
    """A node where blame says otherwise."""

    path: str
    start_line: int
    end_line: int
    ours: str
    blame: str


@dataclass(frozen=True)
class Cost:
    """What a step took, this process and its children."""

    wall_s: float
    python_s: float
    git_s: float

    @property
    def cpu_s(self) -> float:
        return self.python_s + self.git_s


def cpu(who: int) -> float:
    usage = resource.getrusage(who)
    return usage.ru_utime + usage.ru_stime


def measured(step: Callable[[], Value]) -> tuple[Value, Cost]:
    wall, python, git = time.perf_counter(), cpu(resource.RUSAGE_SELF), cpu(resource.RUSAGE_CHILDREN)
    value = step()
    return value, Cost(
        time.perf_counter() - wall,
        cpu(resource.RUSAGE_SELF) - python,
        cpu(resource.RUSAGE_CHILDREN) - git,
    )


def selection() -> Selection:
    return Selection(tuple(sorted({suffix for spec in LANGUAGES for suffix in spec.suffixes})))


def node_ranges(git: Git, paths: list[str]) -> NodeRanges:
    """The definitions of committed files, as the parser sees them."""
    rows = []
    for path in paths:
        facts = parse(path, git.run("cat-file", "blob", f"HEAD:{path}"))
        rows.extend((path, definition.start_line, definition.end_line, 0, 0) for definition in facts.definitions)
    return NodeRanges.of(rows)


def blame(git: Git, path: str, boundary: str | None) -> list[str | None]:
    """The commit of every line of HEAD's version; None when it is the boundary or older."""
    scope = f"{boundary}..HEAD" if boundary else "HEAD"
    text = git.run("blame", "--first-parent", "--porcelain", scope, "--", path, timeout=600)
    owners: list[str | None] = []
    excluded: set[str] = set()
    current = ""
    for line in text.split(b"\n"):
        if line.startswith(b"\t"):
            owners.append(None if current in excluded else current)
        elif line == b"boundary" and boundary:
            excluded.add(current)
        elif line[:1] != b"\t" and len(words := line.split(b" ")) >= 3 and len(words[0]) in (40, 64):
            current = words[0].decode()
    return owners


def disagreements(git: Git, history: History, store: HistoryStore, nodes: NodeRanges) -> Iterator[Disagreement]:
    boundary = boundary_of(git, history, store)
    last = history.nodes(nodes).last  # of committed text: the work tree's lines are not in `files`
    places = {store.commit(n)[0].id: position for position, n in enumerate(history.chain.tolist())}
    for path, indices in nodes.by_path().items():
        owners = blame(git, path, boundary)
        for index in indices.tolist():
            start, end = int(nodes.starts[index]), int(nodes.ends[index])
            found = min((places[id_] for id_ in owners[start - 1 : end] if id_ is not None), default=None)
            theirs = None if found is None else int(history.chain[found])
            ours = int(last[index]) if last[index] > WORK_TREE else None
            if ours != theirs:
                yield Disagreement(path, start, end, named(store, ours), named(store, theirs))


def named(store: HistoryStore, number: int | None) -> str:
    return "older" if number is None else store.commit(number)[0].id[:12]


def boundary_of(git: Git, history: History, store: HistoryStore) -> str | None:
    """The first commit past the horizon."""
    oldest = store.commit(int(history.chain[-1]))[0].id
    try:
        return git.run("rev-parse", "--verify", "--quiet", f"{oldest}^1").decode().strip()
    except GitError:
        return None


def plain_log(git: Git, newest: str, boundary: str | None, chosen: Selection) -> Callable[[], None]:
    exclude = [f"^{boundary}"] if boundary else []
    args = ["git", "log", "--first-parent", "-m", "-p", "-U0", newest, *exclude, "--", *chosen.pathspecs()]

    def run() -> None:
        subprocess.run(args, cwd=git.work_tree, stdout=subprocess.DEVNULL, check=True)

    return run


def plainly_attributed(history: History, store: HistoryStore) -> History:
    """The same patches without looking through bulk commits."""
    places = np.full(len(history.commits.times), -1, np.int32)
    places[history.chain] = np.arange(len(history.chain))
    replay = Replay()
    for number, group in groupby(store.all_patches(places), key=lambda stored: stored.commit):
        replay.apply(number, (stored.patch for stored in group))
    files = {path.decode("utf-8", "surrogateescape"): lines for path, lines in replay.finish().items()}
    return replace(history, files=files)


def cheapest(step: Callable[[], Value]) -> tuple[Value, Cost]:
    """The best of three when it is quick: the machine has other things to do."""
    value, best = measured(step)
    for _ in range(2 if best.wall_s < QUICK_S else 0):
        again, cost = measured(step)
        if cost.cpu_s < best.cpu_s:
            value, best = again, cost
    return value, best


def peak_memory() -> dict[str, int]:
    return {
        "python_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "git_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024,
    }


def one_commit_later(
    git: Git, store: HistoryStore, chosen: Selection, horizon: Horizon, before: History
) -> tuple[Refreshed, Cost]:
    """The update from HEAD's parent to HEAD and the work tree, by one who watches the files as the catalog does."""
    names = git.run("diff-tree", "-r", "-z", "--name-only", "HEAD^1", "HEAD").decode("utf-8", "surrogateescape")
    looked_at = store.view(git.git_dir)
    assert looked_at is not None
    with store.transaction():
        store.keep_looked_at(looked_at.n, "parent")
    watched = Watched("head", lambda _: [name for name in names.split("\0") if name])
    return measured(lambda: refresh(git, store, chosen, horizon, before, watched=watched))


def measure(repository: Path, sample: int, seed: int, days: int | None) -> dict[str, object]:
    git = Git.open(repository)
    if git is None or git.head() is None:
        raise SystemExit(f"{repository}: not a repository with commits")
    chosen, horizon = selection(), Horizon(days)
    parent = git.run("rev-parse", "HEAD^1").decode().strip()
    with tempfile.TemporaryDirectory() as folder:

        def first_pass() -> tuple[HistoryStore, Refreshed]:
            store = HistoryStore.open(Path(tempfile.mkdtemp(dir=folder)) / "history.sqlite")
            return store, refresh(git, store, chosen, horizon, at=parent)

        (store, before), first_cost = cheapest(first_pass)
        memory = peak_memory()
        refreshed, one_commit = one_commit_later(git, store, chosen, horizon, before.history)
        boundary = boundary_of(git, before.history, store)
        _, log_cost = cheapest(plain_log(git, parent, boundary, chosen))
        print(f"first pass {first_cost}, git log {log_cost}, one commit {one_commit}", file=sys.stderr)
        listed = git.run("ls-tree", "-r", "-z", "--name-only", "HEAD").split(b"\0")
        texts = [path.decode("utf-8", "surrogateescape") for path in listed]
        paths = sorted(path for path in texts if path and chosen.holds(path))
        nodes = node_ranges(git, random.Random(seed).sample(paths, min(sample, len(paths))))
        wrong = list(disagreements(git, plainly_attributed(refreshed.history, store), store, nodes))
    return {
        "repository": repository.name,
        "commits": before.commits_read,
        "files": len(set(nodes.paths)),
        "nodes": len(nodes),
        "agreement": 1 - len(wrong) / max(len(nodes), 1),
        "cost_ratio": first_cost.cpu_s / log_cost.cpu_s,
        "first_pass": asdict(first_cost),
        "git_log": asdict(log_cost),
        "one_commit": asdict(one_commit),
        "memory": memory,
        "disagreements": [asdict(item) for item in wrong[:SHOWN_DISAGREEMENTS]],
    }


def told(history: History, store: HistoryStore) -> dict[str, tuple[list[str], list[tuple[str, int, int]]]]:
    """Per file who wrote each line and who touched what, with commits named: comparable between stores."""
    names = {number: store.commit(number)[0].id for number in history.chain.tolist()}
    return {
        path: (
            [names.get(owner, "older") for owner in lines.owners.tolist()],
            [(names[commit], first, last) for commit, first, last in lines.touches.tolist() if commit in names],
        )
        for path, lines in history.files.items()
    }


def significant(files: dict[str, tuple[list[str], list[tuple[str, int, int]]]]) -> dict[str, object]:
    """Without files and trailing lines of which nothing is known: these may or may not have been looked at."""
    kept: dict[str, object] = {}
    for path, (owners, touches) in files.items():
        while owners and owners[-1] == "older":
            owners.pop()
        if owners or touches:
            kept[path] = (owners, touches)
    return kept


def walk(repository: Path, commits: int, checks: int, days: int | None) -> dict[str, object]:
    """Follow real history commit by commit; how long each step took, and whether it equals reading from nothing."""
    git = Git.open(repository)
    if git is None or git.head() is None:
        raise SystemExit(f"{repository}: not a repository with commits")
    chosen, horizon = selection(), Horizon(days)
    chain = git.run("rev-list", "--first-parent", f"--max-count={commits + 1}", "HEAD").decode().split()[::-1]
    points = {len(chain) - 1 - (len(chain) - 1) * part // checks for part in range(checks)}
    steps: list[float] = []
    differing: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        store = HistoryStore.open(Path(folder) / "kept.sqlite")
        known = refresh(git, store, chosen, horizon, at=chain[0]).history
        for number, commit in enumerate(chain[1:], start=1):
            refreshed, cost = measured(partial(refresh, git, store, chosen, horizon, known, at=commit))
            known = refreshed.history
            steps.append(cost.cpu_s)
            if number in points:
                other = HistoryStore.open(Path(folder) / f"fresh{number}.sqlite")
                fresh = refresh(git, other, chosen, horizon, at=commit).history
                one, two = significant(told(known, store)), significant(told(fresh, other))
                differing += [f"{commit[:12]} {path}" for path in sorted(one | two) if one.get(path) != two.get(path)]
                other.close()
                print(f"{number} of {len(chain) - 1}: {len(two)} files, {len(differing)} differ", file=sys.stderr)
        store.close()
    return {
        "repository": repository.name,
        "commits": len(steps),
        "checked": len(points),
        "differing_files": differing[:SHOWN_DISAGREEMENTS],
        "step_cpu_ms_median": float(np.median(steps) * 1e3),
        "step_cpu_ms_p95": float(np.quantile(steps, 0.95) * 1e3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--sample", type=int, default=300, help="files to compare with blame")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--days", type=int, default=730, help="horizon; 0 is all of history")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--walk", type=int, default=0, help="follow that many commits one by one instead")
    parser.add_argument("--check", type=int, default=5, help="points at which --walk compares")
    options = parser.parse_args()
    if options.walk:
        result = walk(options.repository, options.walk, options.check, options.days or None)
    else:
        result = measure(options.repository, options.sample, options.seed, options.days or None)
    if options.json:
        print(json.dumps(result, indent=2))
        return
    for key, value in result.items():
        print(f"{key:18} {value}")
    if result.get("differing_files"):
        raise SystemExit(1)


if __name__ == "__main__":
    main()
