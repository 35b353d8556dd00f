"""Incremental equals from scratch, along real history.

    bench/history_walk.py REPO [--commits 200] [--check 10] [--workers 2]

Checks out the last COMMITS commits of the first-parent chain one after another in a scratch clone, and refreshes one
catalog after each: in turn by the paths that git names, as the watcher does, and by a full listing. At CHECK points,
evenly spread and the last commit among them, the catalog is compared with one made from nothing: files, nodes, edges,
unresolved calls and skipped paths, value for value. After each such point the indexer is started again from its
catalog, as after a restart. Prints what differs and exits 1 if anything does. REPO is never written to.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ctxsearch.graph.catalog import Catalog
from ctxsearch.graph.git import Git
from ctxsearch.indexer.index import RepositoryIndexer

SHOWN = 12  # differing items per kind and point
Export = dict[str, frozenset[str]]  # kind -> items, each as its own text


def git(root: Path, *arguments: str) -> str:
    command = ["git", "-c", "advice.detachedHead=false", "-c", "core.hooksPath=", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True, timeout=600).stdout


def export(catalog: Catalog) -> Export:
    """Everything of a generation that a reader can see, apart from when files were looked at."""
    found: dict[str, set[str]] = {"files": set(), "nodes": set(), "edges": set(), "unresolved": set()}
    with catalog.read() as snapshot:
        for file in snapshot.files():
            seen = (file.path, file.language, file.content_hash, file.flags, file.line_count, file.parse_errors)
            found["files"].add(repr(seen))
        for owner in snapshot.changes_since(0).changed:
            graph = snapshot.graph_of(owner)
            assert graph is not None, owner
            found["nodes"] |= {f"{owner!r} {record}" for record in graph.nodes}
            found["edges"] |= {f"{owner!r} {edge}" for edge in graph.edges}
            found["unresolved"] |= {f"{owner!r} {call}" for call in graph.unresolved}
        found["skipped"] = {repr(entry) for entry in snapshot.skipped()}
    return {kind: frozenset(items) for kind, items in found.items()}


@contextmanager
def indexing(root: Path, catalog: Path, workers: int) -> Iterator[tuple[Catalog, RepositoryIndexer]]:
    with (
        Catalog.open(catalog) as opened,
        RepositoryIndexer(root, opened, workers=workers, git=Git.open(root)) as indexer,
    ):
        yield opened, indexer


def from_scratch(root: Path, catalog: Path, workers: int) -> Export:
    with indexing(root, catalog, workers) as (opened, indexer):
        indexer.refresh()
        return export(opened)


def differences(kept: Export, fresh: Export) -> list[str]:
    """One line per item that only one side has, few per kind."""
    lines = []
    for kind in sorted(fresh):
        for label, items in (("stale", kept[kind] - fresh[kind]), ("missing", fresh[kind] - kept[kind])):
            lines += [f"    {label} {kind}: {item}" for item in sorted(items)[:SHOWN]]
            if len(items) > SHOWN:
                lines.append(f"    {label} {kind}: {len(items) - SHOWN} more")
    return lines


def follow(root: Path, indexer: RepositoryIndexer, commit: str, *, by_paths: bool) -> int:
    """Check a commit out and bring the catalog up to it; how many files were resolved."""
    changed = git(root, "diff", "--name-only", "--no-renames", "-z", "HEAD", commit).split("\0")
    git(root, "checkout", "-q", "--detach", commit)
    if by_paths:
        return indexer.refresh_paths([path for path in changed if path]).resolved
    return indexer.refresh().resolved


def check_points(count: int, wanted: int) -> set[int]:
    """Evenly spread positions of 1..count, the last always among them."""
    return {max(1, round(count * part / wanted)) for part in range(1, wanted + 1)} if count else set()


def walk(root: Path, scratch: Path, chain: list[str], points: set[int], workers: int) -> Counter[str]:
    """Follow the chain from its first commit; `equal` and `different` points, and what it took."""
    counts: Counter[str] = Counter()
    git(root, "checkout", "-q", "--detach", chain[0])
    from_scratch(root, scratch / "kept.db", workers)
    steps = list(enumerate(chain[1:], start=1))
    while steps:
        length = next((place for place, (number, _) in enumerate(steps, start=1) if number in points), len(steps))
        leg, steps = steps[:length], steps[length:]
        with indexing(root, scratch / "kept.db", workers) as (opened, indexer):
            for number, commit in leg:
                counts["resolved"] += follow(root, indexer, commit, by_paths=number % 2 == 1)
                counts["commits"] += 1
            compare(root, scratch, opened, leg[-1], workers, counts)
    return counts


def compare(
    root: Path, scratch: Path, kept: Catalog, step: tuple[int, str], workers: int, counts: Counter[str]
) -> None:
    number, commit = step
    began = time.perf_counter()
    fresh = from_scratch(root, scratch / f"fresh{number}.db", workers)
    found = differences(export(kept), fresh)
    counts["different" if found else "equal"] += 1
    sizes = ", ".join(f"{len(items)} {kind}" for kind, items in fresh.items())
    verdict = "DIFFERENT" if found else "equal"
    print(f"commit {number:>4} {commit[:12]} {verdict}: {sizes}; {time.perf_counter() - began:.1f} s", flush=True)
    for line in found:
        print(line, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--commits", type=int, default=200)
    parser.add_argument("--check", type=int, default=10)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        root = scratch / "clone"
        git(scratch, "clone", "-q", "--shared", "--no-checkout", "--", str(options.repository.resolve()), str(root))
        newest_first = git(root, "rev-list", "--first-parent", f"--max-count={options.commits + 1}", "HEAD").split()
        chain = newest_first[::-1]
        counts = walk(root, scratch, chain, check_points(len(chain) - 1, options.check), options.workers)
    print(
        f"{counts['commits']} commits, {counts['resolved']} files resolved on the way;"
        f" {counts['equal']} points equal, {counts['different']} different"
    )
    return 1 if counts["different"] else 0


if __name__ == "__main__":
    sys.exit(main())
