"""Trains the bundled embedding model on pairs.py's pairs; numpy only, the same weights for the same seed and pairs.

    bench/model/train.py PAIRS.jsonl.gz --out DIR [--steps N] [--rate R] [--seed N] [--from MODEL]

Every piece has one vector and two log-weights, one for questions and one for documents; a text is the weighted sum
over its pieces, scaled to length one (search/embed.py). Symmetric InfoNCE over the other pairs of a batch, row-wise
Adagrad. One package in `HELD_OUT` is not trained on: evaluate.py asks about those. --from goes on with a trained
model's vectors and vocabulary rather than begin with random ones.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import itertools
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from vocabulary import count_words, make_vocabulary

from ctxsearch.search.pieces import Pieces
from ctxsearch.search.ports import Passage

Floats = NDArray[np.float32]
Rows = NDArray[np.int32]

HELD_OUT = 40  # one package in so many
VOCABULARY, CONTINUATIONS = 32_000, 5_000
DIMENSION = 256
FIRST_TEMPERATURE = 0.05
TEMPERATURE_SHARE = 0.04  # of the rate: it follows the vectors, it does not lead them


@dataclass(frozen=True)
class Recipe:
    """How questions and documents are varied while training; each share by measurement (docs/model.md)."""

    steps: int = 1_000
    batch: int = 2_048
    seed: int = 1
    name_queries: float = 0.10  # questions that are the name, whose pieces the document then lacks
    doc_queries: float = 0.25  # questions that are the whole comment
    rate: float = 0.05
    with_doc: float = 0.30  # documents that keep the rest of the comment
    drop_query: float = 0.15
    drop_document: float = 0.10


class Example(NamedTuple):
    """A pair as rows of the vocabulary."""

    sentence: Rows
    doc: Rows  # the whole comment
    rest: Rows  # the comment without its first sentence
    name: Rows
    rows: Rows  # of the document, each once
    counts: Floats


class Bags(NamedTuple):
    """Texts of a batch: pieces of all, weights of all, and where each begins."""

    rows: Rows
    values: Floats
    starts: NDArray[np.int64]  # one more than texts


def is_held_out(package: str) -> bool:
    """The same packages in every run, whatever else is downloaded."""
    return int(hashlib.blake2b(package.encode(), digest_size=4).hexdigest(), 16) % HELD_OUT == 0


def read_pairs(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def make_example(pieces: Pieces, pair: dict[str, Any]) -> Example:
    counts = pieces.document(Passage(name=pair["name"], text=pair["text"]))
    sentence, doc = pieces.query(pair["sentence"]), pieces.query(pair["doc"])
    return Example(
        sentence=np.array(sentence, np.int32),
        doc=np.array(doc, np.int32),
        rest=np.array(doc[len(sentence) :], np.int32),
        name=np.array(sorted(set(pieces.identifier(pair["name"]))), np.int32),
        rows=np.fromiter(counts, np.int32, len(counts)),
        counts=np.fromiter(counts.values(), np.float32, len(counts)),
    )


class Model:
    """The parameters and their optimiser; `step` is the only thing that changes them."""

    def __init__(self, size: int, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.vectors: Floats = random.normal(0, DIMENSION**-0.5, (size, DIMENSION)).astype(np.float32)
        self.query_weights: Floats = np.zeros(size, np.float32)
        self.document_weights: Floats = np.zeros(size, np.float32)
        self.log_scale = float(np.log(1 / FIRST_TEMPERATURE))
        self._vector_squares = np.zeros(size, np.float32)
        self._query_squares = np.zeros(size, np.float32)
        self._document_squares = np.zeros(size, np.float32)
        self._scale_square = 0.0

    def step(self, queries: Bags, documents: Bags, rate: float) -> float:
        """One update; the loss before it."""
        query_coefficients = queries.values * np.exp(self.query_weights[queries.rows])
        document_coefficients = documents.values * np.exp(self.document_weights[documents.rows])
        query_sums = self._sums(queries, query_coefficients)
        document_sums = self._sums(documents, document_coefficients)
        query_units, query_norms = _units(query_sums)
        document_units, document_norms = _units(document_sums)
        loss, slope, scale_slope = _contrast(query_units @ document_units.T, np.exp(self.log_scale))
        query_slopes = _through_units(slope @ document_units, query_units, query_norms)
        document_slopes = _through_units(slope.T @ query_units, document_units, document_norms)
        self._update(queries, query_coefficients, query_slopes, self.query_weights, self._query_squares, rate)
        self._update(
            documents, document_coefficients, document_slopes, self.document_weights, self._document_squares, rate
        )
        self._scale_square += scale_slope**2
        self.log_scale -= TEMPERATURE_SHARE * rate * scale_slope / (self._scale_square**0.5 + 1e-12)
        return loss

    def _sums(self, bags: Bags, coefficients: Floats) -> Floats:
        out = np.zeros((len(bags.starts) - 1, DIMENSION), np.float32)
        starts = bags.starts.tolist()
        for text, (first, last) in enumerate(itertools.pairwise(starts)):
            out[text] = coefficients[first:last] @ self.vectors[bags.rows[first:last]]
        return out

    def _update(
        self, bags: Bags, coefficients: Floats, slopes: Floats, weights: Floats, squares: Floats, rate: float
    ) -> None:
        """The slope of a vector is the weighted sum of its texts' slopes; that of its log-weight is its product
        with the vector."""
        texts = np.repeat(np.arange(len(bags.starts) - 1), np.diff(bags.starts))
        order = np.argsort(bags.rows, kind="stable")
        rows, starts = np.unique(bags.rows[order], return_index=True)
        sorted_texts, sorted_coefficients = texts[order], coefficients[order]
        bounds = [*starts.tolist(), len(order)]
        found = np.empty((len(rows), DIMENSION), np.float32)
        for index, (first, last) in enumerate(itertools.pairwise(bounds)):
            found[index] = sorted_coefficients[first:last] @ slopes[sorted_texts[first:last]]
        weight_slopes = np.einsum("ij,ij->i", found, self.vectors[rows])
        squares[rows] += weight_slopes**2
        weights[rows] -= rate * weight_slopes / (np.sqrt(squares[rows]) + 1e-12)
        self._vector_squares[rows] += np.einsum("ij,ij->i", found, found) / DIMENSION
        self.vectors[rows] -= (rate / (np.sqrt(self._vector_squares[rows]) + 1e-12))[:, None] * found


def _units(sums: Floats) -> tuple[Floats, Floats]:
    norms = np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-6).astype(np.float32)
    return sums / norms, norms


def _through_units(slopes: Floats, units: Floats, norms: Floats) -> Floats:
    """Slopes before scaling to length one."""
    along = np.einsum("ij,ij->i", slopes, units)[:, None]
    return np.asarray((slopes - along * units) / norms, np.float32)


def _contrast(cosines: Floats, scale: float) -> tuple[float, Floats, float]:
    """Symmetric InfoNCE: the loss, its slopes by cosine, and by the logarithm of the scale."""
    logits = cosines * np.float32(scale)
    by_query = np.exp(logits - logits.max(1, keepdims=True))
    by_document = np.exp(logits - logits.max(0, keepdims=True))
    by_query /= by_query.sum(1, keepdims=True)
    by_document /= by_document.sum(0, keepdims=True)
    size = len(cosines)
    loss = -0.5 * float(np.log(by_query.diagonal() + 1e-12).mean() + np.log(by_document.diagonal() + 1e-12).mean())
    slope = by_query + by_document
    slope[np.diag_indices(size)] -= 2
    slope *= np.float32(scale / (2 * size))
    return loss, slope, float((slope * cosines).sum())


class Batches:
    """Endless batches, every pair once an epoch, questions and documents varied by the recipe."""

    def __init__(self, examples: Sequence[Example], recipe: Recipe) -> None:
        self._examples = examples
        self._recipe = recipe
        self._random = np.random.default_rng(recipe.seed)

    def __iter__(self) -> Iterator[tuple[Bags, Bags]]:
        while True:
            order = self._random.permutation(len(self._examples))
            for first in range(0, len(order) - self._recipe.batch + 1, self._recipe.batch):
                made = [self._vary(self._examples[at]) for at in order[first : first + self._recipe.batch]]
                queries, documents = zip(*made, strict=True)
                yield _bags([(rows, np.ones(len(rows), np.float32)) for rows in queries]), _bags(documents)

    def _vary(self, example: Example) -> tuple[Rows, tuple[Rows, Floats]]:
        recipe, random = self._recipe, self._random
        query, rows, counts = example.sentence, example.rows, example.counts
        kind, keeps = random.random(2)
        if kind < recipe.name_queries:
            kept = ~np.isin(rows, example.name)
            if kept.sum() >= len(rows) / 2 and len(example.name):
                query, rows, counts = example.name, rows[kept], counts[kept]
        elif kind < recipe.name_queries + recipe.doc_queries:
            query = example.doc
            keeps = 1.0
        if keeps < recipe.with_doc and len(example.rest):
            rows, counts = _with_rest(rows, counts, example.rest)
        query = query[self._kept(len(query), recipe.drop_query)]
        kept = self._kept(len(rows), recipe.drop_document)
        return query, (rows[kept], 1 + np.log(counts[kept]))

    def _kept(self, size: int, dropped: float) -> NDArray[np.bool_]:
        kept = self._random.random(size) >= dropped
        if not kept.any():
            kept[:] = True
        return kept


def _with_rest(rows: Rows, counts: Floats, rest: Rows) -> tuple[Rows, Floats]:
    found, where = np.unique(np.concatenate((rows, rest)), return_inverse=True)
    ones = np.ones(len(rest), np.float32)
    summed = np.bincount(where, np.concatenate((counts, ones)), len(found))
    return found.astype(np.int32), summed.astype(np.float32)


def _bags(texts: Sequence[tuple[Rows, Floats]]) -> Bags:
    starts = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(rows) for rows, _ in texts], out=starts[1:])
    return Bags(np.concatenate([rows for rows, _ in texts]), np.concatenate([values for _, values in texts]), starts)


def train(examples: Sequence[Example], model: Model, recipe: Recipe) -> Model:
    """The model after all steps, the rate falling to nothing."""
    started, losses = time.perf_counter(), []
    for step, (queries, documents) in zip(range(recipe.steps), Batches(examples, recipe), strict=False):
        losses.append(model.step(queries, documents, recipe.rate * (1 - step / recipe.steps)))
        if (step + 1) % 50 == 0:
            spent = time.perf_counter() - started
            scale, loss = np.exp(model.log_scale), np.mean(losses[-50:])
            print(f"step {step + 1}: loss {loss:.4f}, scale {scale:.1f}, {spent:.0f} s", flush=True)
    return model


def load(directory: Path) -> tuple[Model, list[str]]:
    """A model as `save` wrote it, ready to be trained further, and its vocabulary."""
    vocabulary = json.loads((directory / "vocab.json").read_text("utf-8"))
    model = Model(len(vocabulary), seed=0)
    with np.load(directory / "weights.npz") as arrays:
        model.vectors = arrays["E"].astype(np.float32) * arrays["scale"][:, None]
        model.query_weights, model.document_weights = arrays["wq"].copy(), arrays["wd"].copy()
    return model, vocabulary


def save(model: Model, vocabulary: Sequence[str], out: Path) -> None:
    """The files that search/embed.py reads: vectors as bytes with a scale per row."""
    out.mkdir(parents=True, exist_ok=True)
    scale = np.maximum(np.abs(model.vectors).max(1), 1e-12) / 127
    np.savez_compressed(
        out / "weights.npz",
        E=np.rint(model.vectors / scale[:, None]).astype(np.int8),
        scale=scale.astype(np.float32),
        wq=model.query_weights,
        wd=model.document_weights,
    )
    (out / "vocab.json").write_text(json.dumps(list(vocabulary), ensure_ascii=False), "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pairs", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=Recipe.steps)
    parser.add_argument("--rate", type=float, default=Recipe.rate)
    parser.add_argument("--seed", type=int, default=Recipe.seed)
    parser.add_argument("--from", type=Path, dest="start")
    options = parser.parse_args()
    recipe = Recipe(options.steps, seed=options.seed, rate=options.rate)
    pairs = [pair for pair in read_pairs(options.pairs) if not is_held_out(pair["package"])]
    if options.start:
        model, vocabulary = load(options.start)
    else:
        texts = ((pair["package"], f"{pair['doc']}\n{pair['text']}") for pair in pairs)
        vocabulary = make_vocabulary(count_words(texts), VOCABULARY, CONTINUATIONS)
        model = Model(len(vocabulary), recipe.seed)
    pieces = Pieces(vocabulary)
    examples = [make_example(pieces, pair) for pair in pairs]
    print(f"{len(examples)} pairs, {len(vocabulary)} pieces", flush=True)
    save(train(examples, model, recipe), vocabulary, options.out)


if __name__ == "__main__":
    main()
