"""Ranked results for the issue, commit and large-repository sets, where every query has its own base commit.

    bench/issue_sets.py SET.json --mirrors DIR --work DIR --out DIR [--variant NAME ...] [--repo OWNER/NAME ...]

Each repository of the set is cloned from its mirror (DIR/owner+name/repo) under --work, each base commit is checked out
there, oldest first, and the one index follows it as it would follow a user's branch switches. Without a variant that
needs edges or history, neither is made (words.py), so that whole sets can be run. Every variant is asked at
every commit and written to OUT/<variant>.jsonl for ../shared/bench/retrieval/eval_swe.py --only-run. A repository
without a mirror is named and left out.

What expansion adds is printed at the end: of the gold hunks that no result of the plain answer covers, how many does
the answer with the expansion cover, within the same number of results.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from pathlib import Path
from typing import IO, Any

from corpora import open_corpus
from words import open_words

from ctxsearch.search.embed import bundled_embedder
from ctxsearch.search.ports import Corpus, Embedder
from ctxsearch.search.query import MAX_TEXT_BYTES, Content, Expansion, ExpansionKind, Mode, SearchQuery
from ctxsearch.search.results import SearchResult
from ctxsearch.search.service import ContextSearchService
from ctxsearch.search.steps import RankingPolicy

PLAIN = "hybrid"
EXPANSIONS: dict[str, Expansion] = {
    f"{kind}{depth}": Expansion(kind, depth) for kind in ExpansionKind for depth in (1, 2)
}
MODES = {PLAIN: Mode.HYBRID, "keyword": Mode.KEYWORD, "semantic": Mode.SEMANTIC}
FRESHNESS = "freshness"  # hybrid with the penalty; every other variant goes without
VARIANTS = (*MODES, FRESHNESS, *EXPANSIONS)
SHOWN = 20  # results in which expansion has to prove itself


def git(root: Path, *arguments: str) -> str:
    command = ["git", "-c", "advice.detachedHead=false", "-c", "core.hooksPath=", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=True, timeout=900).stdout


def clone(mirror: Path, target: Path) -> None:
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        git(target.parent, "clone", "--quiet", "--shared", "--no-checkout", str(mirror.resolve()), target.name)


def checkout(root: Path, commit: str) -> None:
    """The files of a commit; a mirror may lack its largest ones, and those are left out."""
    rows = [row.partition("\t") for row in git(root, "ls-tree", "-r", "-l", "-z", commit).split("\0")]
    missing = [path for about, _, path in rows if about.endswith("BAD")]
    if missing:
        git(root, "sparse-checkout", "set", "--no-cone", "/*", *(f"!/{path}" for path in missing))
    git(root, "checkout", "--quiet", "--force", commit)


def asked(text: str, variant: str) -> SearchQuery:
    """The text of an issue may be longer than a query: its beginning then."""
    shortened = text.encode()[:MAX_TEXT_BYTES].decode("utf-8", "ignore")
    mode = MODES.get(variant, Mode.HYBRID)
    return SearchQuery(
        text=shortened, mode=mode, k=50, content=Content.NONE, max_wait=0.0, expansion=EXPANSIONS.get(variant)
    )


def answers(
    corpus: Corpus, embedder: Embedder, queries: Sequence[dict[str, Any]], variants: Sequence[str]
) -> Iterator[tuple[str, dict[str, Any], Sequence[SearchResult]]]:
    plain = ContextSearchService(embedder, RankingPolicy().without("freshness"))
    aged = ContextSearchService(embedder, RankingPolicy())
    try:
        for service in (plain, aged):
            service.publish(corpus)
        for query in queries:
            for variant in variants:
                service = aged if variant == FRESHNESS else plain
                yield variant, query, service.search(asked(query["text"], variant)).results
    finally:
        plain.close()
        aged.close()


def covers(results: Sequence[SearchResult], path: str, hunk: Sequence[int]) -> bool:
    return any(
        one.node.path == path and one.node.start_line <= hunk[1] and one.node.end_line >= hunk[0] for one in results
    )


class Gains:
    """Gold hunks that the plain answer misses, and which variant covers them."""

    def __init__(self) -> None:
        self.hunks = 0
        self.covered: Counter[str] = Counter()  # by variant
        self.new: Counter[str] = Counter()  # and not by the plain answer

    def add(self, query: dict[str, Any], answered: dict[str, Sequence[SearchResult]]) -> None:
        for target in query["relevant"]:
            for hunk in target.get("hunks", ()):
                self.hunks += 1
                plain = covers(answered[PLAIN][:SHOWN], target["path"], hunk)
                for variant, results in answered.items():
                    found = covers(results[:SHOWN], target["path"], hunk)
                    self.covered[variant] += found
                    self.new[variant] += found and not plain

    def show(self) -> None:
        if not self.hunks:
            return
        print(f"{self.hunks} gold hunks; covered by the first {SHOWN} results, and of those not by plain hybrid")
        for variant, count in self.covered.items():
            print(f"  {variant:14} {count / self.hunks:6.1%}   new {self.new[variant] / self.hunks:6.1%}")


def by_commit(queries: Sequence[dict[str, Any]]) -> list[tuple[str, list[dict[str, Any]]]]:
    """Oldest first where the set says when, so that the index follows history."""
    commits: dict[str, list[dict[str, Any]]] = {}
    for query in sorted(queries, key=lambda one: (one.get("created_at", ""), one["commit"], one["id"])):
        commits.setdefault(query["commit"], []).append(query)
    return list(commits.items())


def run_repository(
    repository: dict[str, Any], options: argparse.Namespace, embedder: Embedder, outs: dict[str, IO[str]], gains: Gains
) -> None:
    name = repository["repo"].replace("/", "+")
    mirror = options.mirrors / name / "repo"
    if not mirror.exists():
        print(f"{repository['repo']:28} no mirror: left out", flush=True)
        return
    root = options.work / "src" / name
    clone(mirror, root)
    with ExitStack() as stack:
        follow = follower(repository["repo"].rpartition("/")[2], root, options, embedder, stack)
        for commit, queries in by_commit(repository["queries"]):
            try:
                checkout(root, commit)
            except subprocess.CalledProcessError as error:  # a mirror without the commit
                print(f"{repository['repo']:28} {commit[:10]} left out: {error.stderr.strip()[:80]}", flush=True)
                continue
            started = time.perf_counter()
            with follow() as corpus:
                indexed = time.perf_counter()
                ask(corpus, embedder, queries, options.variant, outs, gains)
            print(
                f"{repository['repo']:28} {commit[:10]} index {indexed - started:6.1f} s  "
                f"{len(queries)} queries x {len(options.variant)} in {time.perf_counter() - indexed:5.1f} s",
                flush=True,
            )


def follower(
    name: str, root: Path, options: argparse.Namespace, embedder: Embedder, stack: ExitStack
) -> Callable[[], AbstractContextManager[Corpus]]:
    """Indexes what is checked out under `root`, as far as the variants need it; `stack` closes what it opened."""
    if all(variant in MODES for variant in options.variant):
        words = stack.enter_context(open_words(name, root, options.work / "words" / root.name, embedder))
        return lambda: nullcontext(words.corpus())
    return lambda: open_corpus(name, root, options.work / "state" / root.name, embedder)


def ask(
    corpus: Corpus,
    embedder: Embedder,
    queries: Sequence[dict[str, Any]],
    variants: Sequence[str],
    outs: dict[str, IO[str]],
    gains: Gains,
) -> None:
    answered: dict[str, dict[str, Sequence[SearchResult]]] = {}
    for variant, query, results in answers(corpus, embedder, queries, variants):
        answered.setdefault(query["id"], {})[variant] = results
        places = [(one.node.path, one.node.start_line, one.node.end_line) for one in results]
        outs[variant].write(json.dumps({"id": query["id"], "results": places}) + "\n")
    for query in queries:
        gains.add(query, answered[query["id"]])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", type=Path)
    parser.add_argument("--mirrors", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--variant", action="append", choices=VARIANTS)
    parser.add_argument("--repo", action="append", default=[])
    options = parser.parse_args()
    options.variant = list(dict.fromkeys([PLAIN, *(options.variant or VARIANTS)]))
    options.out.mkdir(parents=True, exist_ok=True)
    embedder = bundled_embedder()
    gains = Gains()
    with ExitStack() as stack:
        outs = {
            variant: stack.enter_context((options.out / f"{variant}.jsonl").open("w", buffering=1))
            for variant in options.variant
        }
        for repository in json.loads(options.set.read_text()):
            if not options.repo or repository["repo"] in options.repo:
                run_repository(repository, options, embedder, outs, gains)
    gains.show()


if __name__ == "__main__":
    main()
