"""One contract for every embedder: the bundled model, an ONNX session, an OpenAI-compatible endpoint, a fake."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from embedding_endpoint import KEY, Endpoint, HashEmbedder, running_endpoint

from ctxsearch.search.embed import StaticEmbedder, bundled_embedder
from ctxsearch.search.embed_onnx import open_directory
from ctxsearch.search.embed_remote import Clock, RemoteEmbedder
from ctxsearch.search.errors import FailedPrecondition, NotFound, Unavailable
from ctxsearch.search.kept_vectors import KeptVectors
from ctxsearch.search.ports import Embedder, Floats, Passage
from ctxsearch.search.providers import DEFAULT_PROVIDERS, ModelOptions, Providers

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.fixture
def onnx_directory(tmp_path: Path) -> Path:
    """A real model of the kind that is exported from sentence transformers, only tiny: 26 words, 16 numbers each."""
    return Path(shutil.copytree(FIXTURES / "onnx", tmp_path / "tiny"))


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with running_endpoint() as made:
        yield made


def remote(url: str, model: str = "m", key: str = KEY, clock: Clock | None = None) -> RemoteEmbedder:
    return RemoteEmbedder(ModelOptions(url=url, model=model, dimension=32, key=key), clock)


@pytest.fixture(params=["bundled", "onnx", "remote", "hash", "kept"])
def embedder(request: pytest.FixtureRequest, tmp_path: Path) -> Embedder:
    if request.param == "bundled":
        return bundled_embedder()
    if request.param == "onnx":
        return open_directory(request.getfixturevalue("onnx_directory"))
    if request.param == "remote":
        return remote(request.getfixturevalue("endpoint").url)
    return KeptVectors(HashEmbedder(), tmp_path / "kept.sqlite") if request.param == "kept" else HashEmbedder()


PASSAGES = [Passage("read_file", "open the path and read"), Passage("sort_list", "order the items of a list")]


def test_it_satisfies_the_port(embedder: Embedder) -> None:
    assert isinstance(embedder, Embedder)
    assert embedder.model_id
    assert embedder.dimension > 0


def test_rows_are_unit_vectors_of_the_model_s_dimension(embedder: Embedder) -> None:
    rows = embedder.embed_documents(PASSAGES)
    assert rows.shape == (2, embedder.dimension)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-3)  # halves are what an index stores
    query = embedder.embed_query("read the path")
    assert query.shape == (embedder.dimension,)
    assert np.isclose(np.linalg.norm(query), 1.0, atol=1e-5)


def test_no_passages_give_no_rows(embedder: Embedder) -> None:
    assert embedder.embed_documents([]).shape == (0, embedder.dimension)


def test_the_same_text_gives_the_same_vector_whatever_is_beside_it(embedder: Embedder) -> None:
    together = embedder.embed_documents(PASSAGES)
    alone = embedder.embed_documents(PASSAGES[1:])
    assert np.allclose(together[1], alone[0], atol=1e-6)


def test_likeness_follows_the_words(embedder: Embedder) -> None:
    scores = embedder.embed_documents(PASSAGES) @ embedder.embed_query("open path and read")
    assert scores[0] > scores[1]


# The bundled model


def test_the_bundled_model_knows_meaning_beyond_words() -> None:
    documents = [
        Passage("fetch_page", "def fetch_page(url): return requests.get(url).text"),
        Passage("bubble", "def bubble(xs): swap neighbours until the list is in order"),
        Passage("connect_db", "def connect_db(dsn): return psycopg2.connect(dsn)"),
    ]
    rows = bundled_embedder().embed_documents(documents)
    for text, best in (("download a web site", 0), ("sorting algorithm", 1), ("open a postgres database", 2)):
        assert int(np.argmax(rows @ bundled_embedder().embed_query(text))) == best, text


def test_identifiers_are_read_in_every_style() -> None:
    embed = bundled_embedder().embed_query
    assert np.allclose(embed("getHTTPResponse"), embed("get_http_response"), atol=1e-6)


def test_a_text_without_a_known_piece_is_zero() -> None:
    assert not bundled_embedder().embed_query("!!! ()").any()
    assert not bundled_embedder().embed_documents([Passage("", "日本")]).any()
    assert bundled_embedder().embed_query("日本 file").any(), "unknown words are skipped, not fatal"


def test_the_model_s_id_names_its_weights(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "weights.npz",
        E=np.ones((3, 4), np.int8),
        scale=np.ones(3, np.float32),
        wq=np.zeros(3, np.float32),
        wd=np.zeros(3, np.float32),
    )
    (tmp_path / "vocab.json").write_text('["ab", "##c", "a"]')
    small = StaticEmbedder(tmp_path / "weights.npz", tmp_path / "vocab.json")
    assert small.dimension == 4
    assert small.model_id.startswith("static-4-")
    assert small.model_id != bundled_embedder().model_id
    assert small._pieces.identifier("abc") == (0, 1), "the longest known piece first, then a continuation"
    assert small._pieces.identifier("azc") == (2, 1), "a character that no piece covers is skipped"


def test_another_process_computes_the_same_bytes() -> None:
    code = (
        "from ctxsearch.search.embed import bundled_embedder as b; import sys;"
        "sys.stdout.write(b().embed_query('parse the config file').tobytes().hex())"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert run.stdout == bundled_embedder().embed_query("parse the config file").tobytes().hex()


def test_the_embedder_never_needs_the_vector_store() -> None:
    code = (
        "import sys; from ctxsearch.search.embed import bundled_embedder; bundled_embedder().embed_query('x');"
        "import ctxsearch.search.semantic, ctxsearch.search.service;"
        "print(sorted(m for m in ('lancedb', 'pyarrow', 'torch', 'onnxruntime') if m in sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    assert run.stdout.strip() == "[]"


# Providers that are off by default


def test_an_onnx_directory_without_its_files_is_refused_by_name(tmp_path: Path, onnx_directory: Path) -> None:
    with pytest.raises(FailedPrecondition, match=r"no model\.onnx"):
        open_directory(tmp_path)
    (onnx_directory / "tokenizer.json").unlink()
    with pytest.raises(FailedPrecondition, match=r"no tokenizer\.json"):
        open_directory(onnx_directory)


def test_missing_onnx_packages_are_named(onnx_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(FailedPrecondition, match="onnxruntime is not installed"):
        open_directory(onnx_directory)


def test_a_long_text_is_cut_to_the_model_s_window(onnx_directory: Path) -> None:
    embedder = open_directory(onnx_directory)
    cut = embedder.embed_query("word " * 256 + "list " * 5_000)
    assert np.allclose(cut, embedder.embed_query("word"), atol=1e-6)
    assert not np.allclose(embedder.embed_query("word list"), embedder.embed_query("word"), atol=1e-2)


def test_padding_beside_a_longer_text_does_not_count(onnx_directory: Path) -> None:
    embedder = open_directory(onnx_directory)
    beside = embedder.embed_documents([Passage("file", "open"), Passage("list", "order the items of a list " * 20)])
    assert np.allclose(beside[0], embedder.embed_documents([Passage("file", "open")])[0], atol=1e-6)


def test_an_onnx_model_has_the_id_of_its_files(onnx_directory: Path) -> None:
    before = open_directory(onnx_directory).model_id
    tokenizer = onnx_directory / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text().replace('"user"', '"users"'))
    assert open_directory(onnx_directory).model_id != before


def test_a_file_that_is_no_model_is_refused_by_name(onnx_directory: Path) -> None:
    (onnx_directory / "model.onnx").write_bytes(b"no model")
    with pytest.raises(FailedPrecondition, match="cannot be used as an embedding model"):
        open_directory(onnx_directory)


def test_passages_of_different_length_come_back_in_their_order(onnx_directory: Path) -> None:
    embedder = open_directory(onnx_directory)
    passages = [Passage("list", "order the items of a list " * count) for count in (9, 1, 30, 4) * 6]
    together = embedder.embed_documents(passages)
    alone = np.concatenate([embedder.embed_documents([passage]) for passage in passages])
    assert np.allclose(together, alone, atol=1e-5)


def test_a_text_that_is_no_utf8_can_be_embedded(embedder: Embedder) -> None:
    passage = Passage("read\udcff", "open the path \udcfe and read")
    assert embedder.embed_documents([passage]).shape == (1, embedder.dimension)
    assert embedder.embed_query("open \udcfe and read").shape == (embedder.dimension,)


@pytest.mark.parametrize(
    ("model", "key", "message"),
    [("m", "wrong", "status 401"), ("broken", "secret", "answered")],
)
def test_an_endpoint_that_misbehaves_is_unavailable_and_the_key_stays_secret(
    endpoint: Endpoint, model: str, key: str, message: str
) -> None:
    with pytest.raises(Unavailable, match=message) as caught:
        remote(endpoint.url, model, key).embed_query("x")
    assert key not in str(caught.value)
    assert key not in repr(ModelOptions(key=key))


class Waits:
    """A clock that only moves when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    @property
    def clock(self) -> Clock:
        return Clock(lambda: self.now, self.sleep)


def test_an_endpoint_that_is_not_there_is_unavailable_and_questions_leave_it_alone_for_a_while() -> None:
    waits = Waits()
    embedder = remote("http://127.0.0.1:1", clock=waits.clock)
    with pytest.raises(Unavailable, match="embedding endpoint"):
        embedder.embed_query("x")
    with pytest.raises(Unavailable, match="did not answer a moment ago"):
        embedder.embed_query("x")
    waits.now += 60
    with pytest.raises(Unavailable, match="refused"):
        embedder.embed_query("x")
    assert waits.slept == [], "a question does not wait"


def test_passages_are_sent_again_to_an_endpoint_that_is_busy(endpoint: Endpoint) -> None:
    waits = Waits()
    endpoint.answers += [503, 429]
    assert remote(endpoint.url, clock=waits.clock).embed_documents(PASSAGES).shape == (2, 32)
    assert len(waits.slept) == 2
    endpoint.answers += [503] * 10
    with pytest.raises(Unavailable, match="status 503"):
        remote(endpoint.url, clock=waits.clock).embed_documents(PASSAGES)
    waits.slept.clear()
    with pytest.raises(Unavailable, match="status 401"):
        remote(endpoint.url, key="wrong", clock=waits.clock).embed_documents(PASSAGES)
    assert waits.slept == [], "what is wrong stays wrong"


_HEAD = b"HTTP/1.0 200 OK\r\n\r\n"


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.0 200 OK\r\nContent-Length: 1000\r\n\r\n{",  # breaks off
        b"no protocol at all\r\n\r\n",
        _HEAD + b"garbage",
        _HEAD + b"null",
        _HEAD + b"[" * 200_000,
        _HEAD + b'{"data": [{"index": 0, "embedding": [1' + b"0" * 400 + b".0]}]}",
        _HEAD + b" " * 3_000_000,
    ],
)
def test_whatever_an_endpoint_answers_it_is_unavailable_and_left_alone(endpoint: Endpoint, answer: bytes) -> None:
    embedder = remote(endpoint.url, clock=Waits().clock)
    endpoint.raw += [answer]
    with pytest.raises(Unavailable, match="embedding endpoint") as caught:
        embedder.embed_query("x")
    assert len(str(caught.value)) < 400
    with pytest.raises(Unavailable, match="a moment ago"):
        embedder.embed_query("x")


def test_an_answer_that_trickles_in_is_given_up(endpoint: Endpoint) -> None:
    ticks = iter(range(0, 10_000, 2))  # two seconds at every look
    embedder = remote(endpoint.url, clock=Clock(lambda: float(next(ticks)), lambda _seconds: None))
    endpoint.raw += [_HEAD + b" " * 1_000_000]
    with pytest.raises(Unavailable, match="took more than 3 seconds"):
        embedder.embed_query("x")


def test_no_proxy_of_the_environment_sees_code_or_key(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    assert remote(endpoint.url).embed_query("x").shape == (32,)


def test_a_key_that_no_header_can_hold_is_refused_and_not_shown() -> None:
    for key in ("abc\n", "a\rb", "schlüssel"):
        with pytest.raises(FailedPrecondition, match="its key has characters") as caught:
            remote("http://127.0.0.1:1", key=key)
        assert key.strip() not in str(caught.value)


def test_models_of_one_name_at_two_endpoints_are_two() -> None:
    assert remote("http://127.0.0.1:1/v1").model_id != remote("http://127.0.0.1:2/v1").model_id


def test_code_and_key_are_not_sent_where_an_endpoint_points(endpoint: Endpoint) -> None:
    endpoint.answers += [307]
    with pytest.raises(Unavailable, match="status 307"):
        remote(endpoint.url).embed_query("x")
    assert endpoint.asked == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (ModelOptions(url="file:///etc/passwd", model="m", dimension=32), "only http and https"),
        (ModelOptions(url="http://127.0.0.1", dimension=32), "its model and its dimension"),
        (ModelOptions(url="http://127.0.0.1", model="m"), "its model and its dimension"),
    ],
)
def test_an_endpoint_that_could_never_be_asked_is_refused(options: ModelOptions, message: str) -> None:
    with pytest.raises(FailedPrecondition, match=message):
        RemoteEmbedder(options)


# Vectors that are kept


class CountingEmbedder(HashEmbedder):
    """Notes what it was asked for, and fails when it has been asked for enough."""

    def __init__(self, enough: int = 1_000_000) -> None:
        self.asked: list[str] = []
        self._enough = enough

    def embed_documents(self, passages: Sequence[Passage]) -> Floats:
        if len(self.asked) >= self._enough:
            raise Unavailable("enough")
        self.asked += [passage.name for passage in passages]
        return super().embed_documents(passages)


def _many(count: int) -> list[Passage]:
    return [Passage(f"name{index}", f"text {index}") for index in range(count)]


def test_no_passage_is_asked_for_twice_and_what_was_is_durable_at_once(tmp_path: Path) -> None:
    file = tmp_path / "kept.sqlite"
    failing = CountingEmbedder(enough=500)
    with pytest.raises(Unavailable):
        KeptVectors(failing, file).embed_documents(_many(1_000))
    again = CountingEmbedder()
    rows = KeptVectors(again, file).embed_documents([*_many(1_000), *_many(3)])
    assert sorted(failing.asked + again.asked) == sorted(passage.name for passage in _many(1_000))
    assert np.array_equal(rows[:3], rows[1_000:])
    assert np.array_equal(KeptVectors(CountingEmbedder(enough=0), file).embed_documents(_many(1_000)), rows[:1_000])


def test_vectors_of_another_model_are_not_taken_for_its_own(tmp_path: Path) -> None:
    other = CountingEmbedder()
    other.model_id = "other"
    KeptVectors(other, tmp_path / "kept.sqlite").embed_documents(PASSAGES)
    own = CountingEmbedder()
    KeptVectors(own, tmp_path / "kept.sqlite").embed_documents(PASSAGES)
    assert len(own.asked) == len(other.asked) == 2


def test_the_oldest_vectors_go_when_there_are_too_many(tmp_path: Path) -> None:
    embedder = CountingEmbedder()
    kept = KeptVectors(embedder, tmp_path / "kept.sqlite", bytes_kept=2 * 32 * 10)
    kept.embed_documents(_many(15))
    embedder.asked.clear()
    kept.embed_documents(_many(15)[5:])
    assert embedder.asked == []
    kept.embed_documents(_many(5))
    assert len(embedder.asked) == 5


def test_a_damaged_file_costs_its_vectors_alone(tmp_path: Path) -> None:
    file = tmp_path / "kept.sqlite"
    kept = KeptVectors(CountingEmbedder(), file)
    rows = kept.embed_documents(_many(2_000))
    content = bytearray(file.read_bytes())
    content[len(content) // 4 : -4096] = b"\xff" * (len(content) - 4096 - len(content) // 4)
    for damaged in (b"no database at all" * 100, bytes(content)):
        file.write_bytes(damaged)
        assert np.array_equal(kept.embed_documents(_many(2_000)), rows)


# Choosing


def test_defaults_come_through_the_entry_points(tmp_path: Path) -> None:
    embedder = DEFAULT_PROVIDERS.open_embedder()
    assert embedder is bundled_embedder()
    assert DEFAULT_PROVIDERS.open_full_text(tmp_path / "text").generation == 0
    assert DEFAULT_PROVIDERS.open_vectors(tmp_path / "vectors", embedder).generation == 0
    with pytest.raises(NotFound, match=r"no ctxsearch\.embedder provider named 'nope'; known: bundled, onnx, openai"):
        Providers(embedder="nope").open_embedder()


def test_other_embedders_are_chosen_by_name(onnx_directory: Path, endpoint: Endpoint) -> None:
    local = Providers(embedder="onnx", options=ModelOptions(path=str(onnx_directory))).open_embedder()
    assert local.model_id == open_directory(onnx_directory).model_id
    options = ModelOptions(url=endpoint.url, model="m", dimension=32, key=KEY)
    assert Providers(embedder="openai", options=options).open_embedder().embed_query("x").shape == (32,)
