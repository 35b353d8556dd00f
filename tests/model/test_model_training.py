"""The bundled model's training command: the gradient is the loss's, the files are what search reads, seeds decide."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from train import Bags, Model, Recipe, _bags, _contrast, is_held_out, load, make_example, save, train
from vocabulary import count_words, make_vocabulary

from ctxsearch.search.embed import StaticEmbedder
from ctxsearch.search.pieces import Pieces
from ctxsearch.search.ports import Passage

TOPICS = ("open socket", "parse header", "close window", "sort array", "hash password", "draw circle", "read archive")


def _pairs() -> list[dict[str, str]]:
    """Code that shares no word with what is said about it."""
    code = ("accept listen bind", "colon field split", "destroy widget pane", "swap pivot partition")
    code += ("salt digest rounds", "radius arc stroke", "inflate entry zip")
    return [
        {
            "name": f"fn{index}",
            "sentence": f"{topic} {extra}",
            "doc": f"{topic} {extra}. Slowly.",
            "text": f"{body} {extra}",
        }
        for index, (topic, body) in enumerate(zip(TOPICS, code, strict=True))
        for extra in ("now", "later", "twice", "never")
    ]


def _trained(seed: int, steps: int = 60) -> tuple[Model, list[str]]:
    pairs = _pairs()
    texts = [(str(at), f"{pair['doc']} {pair['text']}") for at, pair in enumerate(pairs)]
    vocabulary = make_vocabulary(count_words(texts), 300, 60)
    examples = [make_example(Pieces(vocabulary), pair) for pair in pairs]
    return train(examples, Model(len(vocabulary), seed), Recipe(steps=steps, batch=14, seed=seed)), vocabulary


def test_training_teaches_that_different_words_mean_the_same(tmp_path: Path) -> None:
    model, vocabulary = _trained(seed=3)
    save(model, vocabulary, tmp_path)
    embedder = StaticEmbedder(tmp_path / "weights.npz", tmp_path / "vocab.json")
    documents = embedder.embed_documents([Passage("f", "accept listen bind"), Passage("f", "radius arc stroke")])
    for question, right in (("open socket", 0), ("draw circle", 1)):
        assert int(np.argmax(documents @ embedder.embed_query(question))) == right


def test_training_goes_on_from_a_saved_model(tmp_path: Path) -> None:
    model, vocabulary = _trained(seed=3, steps=5)
    save(model, vocabulary, tmp_path)
    loaded, pieces = load(tmp_path)
    assert pieces == vocabulary
    assert np.allclose(loaded.vectors, model.vectors, atol=np.abs(model.vectors).max() / 127)
    assert np.array_equal(loaded.query_weights, model.query_weights)


def test_the_same_seed_makes_the_same_model_and_another_seed_another() -> None:
    first, again, other = (_trained(seed, steps=5)[0] for seed in (1, 1, 2))
    assert np.array_equal(first.vectors, again.vectors)
    assert np.array_equal(first.document_weights, again.document_weights)
    assert not np.array_equal(first.vectors, other.vectors)


def _loss(model: Model, queries: Bags, documents: Bags) -> float:
    def units(bags: Bags, weights: np.ndarray) -> np.ndarray:
        sums = model._sums(bags, bags.values * np.exp(weights[bags.rows]))
        return sums / np.linalg.norm(sums, axis=1, keepdims=True)

    cosines = units(queries, model.query_weights) @ units(documents, model.document_weights).T
    return _contrast(cosines, float(np.exp(model.log_scale)))[0]


@pytest.mark.parametrize("parameter", ["vectors", "query_weights", "document_weights"])
def test_a_step_goes_down_the_slope_of_the_loss(parameter: str) -> None:
    random = np.random.default_rng(5)

    def bags() -> Bags:
        texts = [np.unique(random.integers(0, 30, 6)).astype(np.int32) for _ in range(8)]
        return _bags([(rows, random.uniform(1, 2, len(rows)).astype(np.float32)) for rows in texts])

    queries, documents = bags(), bags()
    before, moved = Model(30, 1), Model(30, 1)
    moved.step(queries, documents, rate=1e-3)
    change = getattr(moved, parameter) - getattr(before, parameter)
    probe = Model(30, 1)
    # Adagrad's first step has the sign of the slope: following it alone must lower the loss, against it raise it.
    setattr(probe, parameter, getattr(before, parameter) + change)
    down = _loss(probe, queries, documents)
    setattr(probe, parameter, getattr(before, parameter) - change)
    up = _loss(probe, queries, documents)
    assert down < _loss(before, queries, documents) < up


def test_contrast_slopes_agree_with_finite_differences() -> None:
    random = np.random.default_rng(2)
    cosines = random.uniform(-1, 1, (5, 5)).astype(np.float32)
    _, slope, _ = _contrast(cosines, 3.0)
    for at in ((0, 0), (1, 3), (4, 4)):
        moved = cosines.copy()
        moved[at] += 1e-2
        higher = _contrast(moved, 3.0)[0]
        moved[at] -= 2e-2
        assert (higher - _contrast(moved, 3.0)[0]) / 2e-2 == pytest.approx(slope[at], abs=2e-3)


def test_vocabulary_spells_every_ascii_word_and_prefers_frequent_ones() -> None:
    counts = count_words((str(package), "connection connections socket") for package in range(3))
    vocabulary = make_vocabulary(counts | {"socketpair": 1}, 99, 60)
    pieces = Pieces(vocabulary)
    assert [vocabulary[row] for row in pieces.identifier("socketpair")] == ["socket", "##pair"]
    assert "".join(vocabulary[row].removeprefix("##") for row in pieces.identifier("zqx")) == "zqx"
    assert len(set(vocabulary)) == len(vocabulary) <= 99


def test_words_of_few_packages_are_no_pieces() -> None:
    assert not count_words([("one", "frobnicate"), ("two", "frobnicate")])


def test_held_out_packages_are_a_few_and_always_the_same() -> None:
    names = [f"pypi/package{number}" for number in range(4_000)]
    held = [name for name in names if is_held_out(name)]
    assert 60 < len(held) < 140
    assert held == [name for name in names if is_held_out(name)]


def test_pairs_file_is_read_back(tmp_path: Path) -> None:
    from train import read_pairs

    file = tmp_path / "pairs.jsonl.gz"
    with gzip.open(file, "wt") as out:
        out.writelines(json.dumps(pair) + "\n" for pair in _pairs())
    assert list(read_pairs(file)) == _pairs()
