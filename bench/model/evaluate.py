"""Models side by side, each by itself: NDCG@10 of cosine alone, no keyword, no graph, no ranking step.

    bench/model/evaluate.py [MODEL ...] [--pairs PAIRS.jsonl.gz] [--questions DATA --checkouts DIR [--cache DIR]] ...

MODEL is a directory as train.py writes it; `bundled` is the one that ships. --pairs asks about the packages that
training held out: a doc comment's first sentence should find its node among all of them. --questions asks the
relevance sets (bench/relevance.py) for files, ranked by their best passage; --checkouts goes with the --questions
before it, and --cache keeps what was parsed.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from nodes import file_texts
from numpy.typing import NDArray
from train import is_held_out, read_pairs

from ctxsearch.indexer.files import Limits, Source, list_files, read_source
from ctxsearch.search.documents import passages
from ctxsearch.search.embed import StaticEmbedder, bundled_embedder
from ctxsearch.search.ports import Passage

K = 10
Scores = dict[str, list[float]]  # a group's name to what each of its questions got


def load(model: str) -> StaticEmbedder:
    if model == "bundled":
        return bundled_embedder()
    return StaticEmbedder(Path(model) / "weights.npz", Path(model) / "vocab.json")


def gain(rank: int) -> float:
    """Of what stands at a rank, 0-based."""
    return 1 / float(np.log2(rank + 2)) if rank < K else 0.0


def ndcg(ranks: Iterable[int], targets: int) -> float:
    """Of the 0-based ranks at which targets were found."""
    return sum(map(gain, set(ranks))) / sum(gain(rank) for rank in range(min(targets, K)))


def held_out_scores(embedder: StaticEmbedder, pairs: Sequence[dict[str, Any]]) -> Scores:
    """By language: every sentence against every document."""
    documents = embedder.embed_documents([Passage(name=pair["name"], text=pair["text"]) for pair in pairs])
    scores: Scores = defaultdict(list)
    for index, pair in enumerate(pairs):
        cosines = documents @ embedder.embed_query(pair["sentence"])
        scores[pair["language"]].append(gain(int((cosines > cosines[index]).sum())))
    return scores


def read_passages(root: Path) -> Iterator[tuple[str, Passage]]:
    """Every passage of a work tree with its path."""
    limits = Limits()
    for entry in list_files(root, limits, None).files:
        source = read_source(root, entry.path, limits)
        if isinstance(source, Source):
            for text in file_texts(entry.path, source.text):
                yield from ((entry.path, passage) for passage in passages(text))


def cached_passages(root: Path, cache: Path | None, name: str) -> list[tuple[str, Passage]]:
    file = cache / f"{name}.jsonl.gz" if cache else None
    if file is not None and file.exists():
        with gzip.open(file, "rt", encoding="utf-8") as lines:
            return [(path, Passage(*passage)) for path, passage in map(json.loads, lines)]
    found = list(read_passages(root))
    if file is not None:
        file.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(file, "wt", encoding="utf-8", compresslevel=3) as out:
            out.writelines(json.dumps((path, [passage.name, passage.text])) + "\n" for path, passage in found)
    return found


def question_scores(
    embedder: StaticEmbedder, repository: dict[str, Any], found: Sequence[tuple[str, Passage]]
) -> dict[str, list[float]]:
    """By category: whether the files asked for are among the first."""
    paths = sorted({path for path, _ in found})
    places = {path: place for place, path in enumerate(paths)}
    owners = np.array([places[path] for path, _ in found])
    vectors = embedder.embed_documents([passage for _, passage in found])
    prefix = "" if repository["index_root"] == "." else repository["index_root"] + "/"
    scores: Scores = defaultdict(list)
    for question in repository["queries"]:
        wanted = {target["path"] for target in question["relevant"]}
        best = best_files(vectors @ embedder.embed_query(question["text"]), owners, len(paths))
        ranks = [rank for rank, place in enumerate(best) if prefix + paths[place] in wanted]
        scores[question["category"]].append(ndcg(ranks, len(wanted)))
    return scores


def best_files(cosines: NDArray[np.float32], owners: NDArray[np.int64], files: int) -> list[int]:
    best = np.full(files, -2, np.float32)
    np.maximum.at(best, owners, cosines)
    return [int(place) for place in np.argsort(-best, kind="stable")[:K]]


def show(title: str, rows: dict[str, list[float]], models: Sequence[str]) -> None:
    print(f"\n{title:24}", *(f"{model[-16:]:>17}" for model in models))
    for name, values in rows.items():
        print(f"{name:24}", *(f"{value:17.4f}" for value in values), flush=True)


def evaluate_pairs(models: Sequence[str], file: Path) -> None:
    pairs = [pair for pair in read_pairs(file) if is_held_out(pair["package"])]
    found = [held_out_scores(load(model), pairs) for model in models]
    rows = {f"all ({len(pairs)})": [_mean([one for group in scores.values() for one in group]) for scores in found]}
    for language in sorted(found[0], key=lambda name: (-len(found[0][name]), name)):
        rows[f"{language} ({len(found[0][language])})"] = [_mean(scores[language]) for scores in found]
    show("held-out packages", rows, models)


def evaluate_questions(models: Sequence[str], data: Path, checkouts: Path, cache: Path | None) -> None:
    """Mean over a repository's questions, then over repositories, as the relevance sets are scored."""
    rows: dict[str, list[float]] = {}
    categories: dict[str, list[list[float]]] = defaultdict(list)
    for file in [data] if data.is_file() else sorted(data.glob("*.json")):
        repository = json.loads(file.read_text("utf-8"))
        name = repository["repo"].replace("/", "+")
        found = cached_passages((checkouts / name / repository["index_root"]).resolve(), cache, name)
        scores = [question_scores(load(model), repository, found) for model in models]
        rows[name] = [_mean([one for group in by_model.values() for one in group]) for by_model in scores]
        for category in scores[0]:
            categories[category].append([_mean(by_model[category]) for by_model in scores])
    table = {"all": [_mean(column) for column in zip(*rows.values(), strict=True)]}
    table |= {
        name: [_mean(column) for column in zip(*found, strict=True)] for name, found in sorted(categories.items())
    }
    show(data.stem, table | (rows if len(rows) > 1 else {}), models)


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if values else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=["bundled"])
    parser.add_argument("--pairs", type=Path)
    parser.add_argument("--questions", type=Path, action="append", default=[])
    parser.add_argument("--checkouts", type=Path, action="append", default=[])
    parser.add_argument("--cache", type=Path)
    options = parser.parse_args()
    if options.pairs:
        evaluate_pairs(options.models, options.pairs)
    for data, checkouts in zip(options.questions, options.checkouts, strict=True):
        evaluate_questions(options.models, data, checkouts, options.cache)


if __name__ == "__main__":
    main()
