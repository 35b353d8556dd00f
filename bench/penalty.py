"""What the freshness penalty does to relevance: the ranking without it and with it, side by side.

    bench/penalty.py SET ... --scoring DIR --mirrors DIR --work DIR [--repo NAME ...]

SET is one of the query sets (a file of DIR/data, one repository) or of the commit and issue sets (DIR/swebench, many);
DIR also holds the sets' own `eval.py` and `eval_swe.py`, which score. Repositories are cloned from their mirrors and
indexed with edges and history under --work, which is kept: a second run only follows. Every query is asked twice.

Per repository and for each set: NDCG@10, Acc@5 (all files among the first five) and the share of gold hunks among the
first ten results, without / with, and the difference in NDCG@10 with its 95 % interval (paired bootstrap over queries).
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from corpora import open_corpus
from issue_sets import by_commit, checkout, clone

from ctxsearch.graph.freshness import Freshness
from ctxsearch.search.embed import bundled_embedder
from ctxsearch.search.ports import Corpus, Embedder
from ctxsearch.search.query import MAX_TEXT_BYTES, Content, SearchQuery
from ctxsearch.search.service import ContextSearchService
from ctxsearch.search.steps import RankingPolicy

Place = tuple[str, int, int]  # path, first and last line
Scorer = Callable[[list[Place], list[dict[str, Any]]], dict[str, float]]

METRICS = ("ndcg10", "acc5", "hunk10")
SAMPLES = 2000


@dataclass(frozen=True)
class Repository:
    """Queries on one repository; each names its commit."""

    name: str
    mirror: str
    folder: str  # only this one is indexed; "" is the whole
    queries: Sequence[dict[str, Any]]
    results: int  # that are asked for
    is_query_set: bool


@dataclass(frozen=True)
class Pair:
    """One query's scores."""

    without: dict[str, float]
    with_penalty: dict[str, float]
    classes: tuple[int, ...]  # of the first ten results without the penalty


def repositories(file: Path) -> Iterator[Repository]:
    content = json.loads(file.read_text())
    if isinstance(content, dict):
        queries = [{**query, "commit": content["commit"]} for query in content["queries"]]
        mirror = content["github"].removeprefix("https://github.com/").replace("/", "+")
        folder = "" if content["index_root"] == "." else content["index_root"]
        yield Repository(content["repo"], mirror, folder, queries, 20, is_query_set=True)
        return
    for one in content:
        yield Repository(one["repo"], one["repo"].replace("/", "+"), "", one["queries"], 50, is_query_set=False)


def scorers(folder: Path) -> dict[bool, Scorer]:
    """The sets' own, by whether it is a query set."""
    sys.path.insert(0, str(folder))
    return {True: importlib.import_module("eval").score, False: importlib.import_module("eval_swe").score}


def asked(
    corpus: Corpus, embedder: Embedder, one: Repository, queries: Sequence[dict[str, Any]], score: Scorer
) -> Iterator[Pair]:
    services = [ContextSearchService(embedder, RankingPolicy().without(*left)) for left in (("freshness",), ())]
    prefix = f"{one.folder}/" if one.folder else ""
    try:
        for service in services:
            service.publish(corpus)
        for query in queries:
            text = query["text"].encode()[:MAX_TEXT_BYTES].decode("utf-8", "ignore")
            request = SearchQuery(text=text, k=one.results, content=Content.NONE)
            answers = [service.search(request).results for service in services]
            scores = [
                score(
                    [(prefix + each.node.path, each.node.start_line, each.node.end_line) for each in answer],
                    query["relevant"],
                )
                for answer in answers
            ]
            yield Pair(scores[0], scores[1], tuple(int(each.freshness.freshness) for each in answers[0][:10]))
    finally:
        for service in services:
            service.close()


def measured(one: Repository, options: argparse.Namespace, embedder: Embedder, score: Scorer) -> list[Pair]:
    mirror, root = options.mirrors / one.mirror / "repo", options.work / "src" / one.mirror
    state = options.work / "state" / f"{one.mirror}+{one.folder.replace('/', '+')}"
    if not mirror.exists():
        print(f"{one.name:28} no mirror: left out", flush=True)
        return []
    clone(mirror, root)
    pairs: list[Pair] = []
    for commit, queries in by_commit(one.queries):
        try:
            checkout(root, commit)
        except subprocess.CalledProcessError as error:  # a mirror without the commit
            print(f"{one.name:28} {commit[:10]} left out: {error.stderr.strip()[:80]}", flush=True)
            continue
        with open_corpus(one.mirror.rpartition("+")[2], root / one.folder, state, embedder) as corpus:
            pairs += asked(corpus, embedder, one, queries, score)
    return pairs


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def interval(differences: Sequence[float]) -> tuple[float, float]:
    """The middle 95 % of the means of samples drawn again; one seed, one answer."""
    draw = random.Random(1)
    means = sorted(mean(draw.choices(differences, k=len(differences))) for _ in range(SAMPLES))
    return means[SAMPLES * 25 // 1000], means[SAMPLES * 975 // 1000 - 1]


def row(name: str, pairs: Sequence[Pair]) -> str:
    columns = []
    for metric in METRICS:
        if metric in pairs[0].without:
            both = [pair.without[metric] for pair in pairs], [pair.with_penalty[metric] for pair in pairs]
            columns.append(f"{mean(both[0]):.4f} {mean(both[1]):.4f}")
    differences = [pair.with_penalty["ndcg10"] - pair.without["ndcg10"] for pair in pairs]
    low, high = interval(differences)
    changed = sum(difference != 0 for difference in differences)
    columns.append(f"{mean(differences):+.4f} [{low:+.4f}, {high:+.4f}], {changed} queries differ")
    return f"{name:28} {len(pairs):4}  " + "  ".join(columns)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", type=Path, nargs="+")
    parser.add_argument("--scoring", type=Path, required=True, help="where eval.py and eval_swe.py are")
    parser.add_argument("--mirrors", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--repo", action="append", default=[])
    options = parser.parse_args()
    embedder, score = bundled_embedder(), scorers(options.scoring)
    found: dict[str, list[Pair]] = {}
    print(f"{'':28} {'n':>4}  NDCG@10 without, with; where known Acc@5 and hunks@10; difference in NDCG@10")
    for file in options.sets:
        for one in repositories(file):
            if options.repo and one.name not in options.repo:
                continue
            pairs = measured(one, options, embedder, score[one.is_query_set])
            if pairs:
                print(row(one.name, pairs), flush=True)
                found.setdefault("query sets" if one.is_query_set else file.stem, []).extend(pairs)
    for name, pairs in found.items():
        print(row(name, pairs))
        classes = [each for pair in pairs for each in pair.classes]
        shares = ", ".join(
            f"{kind.name.lower()} {classes.count(kind) / max(len(classes), 1):.2%}" for kind in Freshness
        )
        print(f"{'':28} of the first ten results: {shares}")


if __name__ == "__main__":
    main()
