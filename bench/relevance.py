"""Ranked results for the relevance sets.

    bench/relevance.py --data DIR --checkouts DIR --out RUN.jsonl [--mode hybrid|keyword|semantic]
                       [--without STEP|SIGNAL|freshness ...] [--expansion callers1|related2|...]
                       [--cache DIR] [--repo NAME ...] [-k N] [--onnx DIR]

Indexes the `index_root` of each repository of DIR/*.json under --checkouts (kept in --cache, so that a second run
only searches) and writes one line per query for ../shared/bench/retrieval/eval.py. With --onnx another model than the
bundled one embeds, which wants a cache of its own.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from corpora import open_corpus

from ctxsearch.search.providers import DEFAULT_PROVIDERS, ModelOptions, Providers
from ctxsearch.search.query import Content, Expansion, ExpansionKind, Mode, SearchQuery, Signal, Weights
from ctxsearch.search.service import ContextSearchService
from ctxsearch.search.steps import RankingPolicy

MODES = {"hybrid": Mode.HYBRID, "keyword": Mode.KEYWORD, "semantic": Mode.SEMANTIC}
SIGNALS = [signal.value for signal in Signal]
EXPANSIONS = {f"{kind}{depth}": Expansion(kind, depth) for kind in ExpansionKind for depth in (1, 2)}


def repositories(data: Path, wanted: list[str]) -> Iterator[dict[str, Any]]:
    for file in sorted(data.glob("*.json")):
        repository = json.loads(file.read_text())
        if not wanted or repository["repo"] in wanted:
            yield repository


def answers(
    service: ContextSearchService, queries: list[dict[str, Any]], prefix: str, asked: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    for query in queries:
        response = service.search(SearchQuery(text=query["text"], **asked))
        if response.degraded:
            raise SystemExit(f"{query['id']}: {'; '.join(response.warnings)}")
        results = [
            {"path": prefix + one.node.path, "start_line": one.node.start_line, "end_line": one.node.end_line}
            for one in response.results
        ]
        yield {"id": query["id"], "results": results}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--checkouts", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--mode", choices=sorted(MODES), default="hybrid")
    switches = [*SIGNALS, *RankingPolicy().names]
    parser.add_argument("--without", action="append", default=[], choices=switches, metavar="NAME", help=str(switches))
    parser.add_argument("--expansion", choices=EXPANSIONS)
    parser.add_argument("--cache", type=Path, help="keep the indexes here")
    parser.add_argument("--repo", action="append", default=[])
    parser.add_argument("-k", type=int, default=20)
    parser.add_argument("--onnx", type=Path, help="a directory with a local sentence model")
    options = parser.parse_args()
    policy = RankingPolicy().without(*options.without)
    asked = {
        "mode": MODES[options.mode],
        "k": options.k,
        "content": Content.NONE,
        "weights": Weights(**{name: 0.0 for name in options.without if name in SIGNALS}),
        "expansion": EXPANSIONS.get(options.expansion),
    }
    local = Providers(embedder="onnx", options=ModelOptions(path=str(options.onnx)))
    providers = DEFAULT_PROVIDERS if options.onnx is None else local
    embedder = providers.open_embedder()
    with tempfile.TemporaryDirectory() as scratch, options.out.open("w") as out:
        cache = options.cache or Path(scratch)
        for repository in repositories(options.data, options.repo):
            started = time.perf_counter()
            index_root = "" if repository["index_root"] == "." else repository["index_root"]
            root = options.checkouts / repository["repo"].replace("/", "+") / index_root
            service = ContextSearchService(embedder, policy)
            state = cache / repository["repo"].replace("/", "+")
            with open_corpus(repository["repo"], root, state, embedder, providers) as corpus:
                service.publish(corpus)
                indexed = time.perf_counter()
                prefix = f"{index_root}/" if index_root else ""
                for line in answers(service, repository["queries"], prefix, asked):
                    out.write(json.dumps({"repo": repository["repo"], **line}) + "\n")
                print(
                    f"{repository['repo']:20} index {indexed - started:6.1f} s  "
                    f"{len(repository['queries'])} queries {time.perf_counter() - indexed:5.2f} s",
                    flush=True,
                )
            service.close()


if __name__ == "__main__":
    main()
