"""One contract for every embedder: the bundled model, an ONNX session, an OpenAI-compatible endpoint, a fake."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from ctxsearch.search.embed import StaticEmbedder, bundled_embedder
from ctxsearch.search.embed_onnx import open_onnx
from ctxsearch.search.embed_remote import Endpoint, RemoteEmbedder
from ctxsearch.search.errors import FailedPrecondition, NotFound, Unavailable
from ctxsearch.search.ports import Embedder, Floats, Passage
from ctxsearch.search.providers import load_embedder, load_full_text, load_vectors

FIXTURES = Path(__file__).parents[2] / "fixtures"


class HashEmbedder:
    """A bag of hashed words: small, and enough to satisfy the port."""

    model_id = "hash"
    dimension = 32

    def embed_documents(self, passages: Sequence[Passage]) -> Floats:
        rows = [self.embed_query(f"{passage.name} {passage.text}") for passage in passages]
        return np.array(rows, dtype=np.float32).reshape(-1, self.dimension)

    def embed_query(self, text: str) -> Floats:
        vector = np.zeros(self.dimension, dtype=np.float32)
        for word in text.split():
            vector[sum(word.encode()) % self.dimension] += 1
        norm = float(np.linalg.norm(vector))
        return np.asarray(vector / norm if norm else vector, dtype=np.float32)


@pytest.fixture
def onnx_directory(tmp_path: Path) -> Path:
    """A real model of the kind that is exported from sentence transformers, only tiny: 26 words, 16 numbers each."""
    return Path(shutil.copytree(FIXTURES / "onnx", tmp_path / "tiny"))


class _Handler(BaseHTTPRequestHandler):
    """An endpoint that embeds with HashEmbedder and answers rows in reverse order, as it may."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers.get("Authorization") != "Bearer secret":
            self.send_error(401)
            return
        vectors = [HashEmbedder().embed_query(text) * 5 for text in asked["input"]]
        if asked["model"] == "broken":
            vectors = [vector[:3] for vector in vectors]
        rows = [{"index": i, "embedding": [float(x) for x in vector]} for i, vector in enumerate(vectors)]
        body = json.dumps({"data": rows[::-1]}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def url() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(params=["bundled", "onnx", "remote", "hash"])
def embedder(request: pytest.FixtureRequest) -> Embedder:
    if request.param == "bundled":
        return bundled_embedder()
    if request.param == "onnx":
        return open_onnx(request.getfixturevalue("onnx_directory"))
    if request.param == "remote":
        return RemoteEmbedder(Endpoint(request.getfixturevalue("url"), "m", 32, "secret"))
    return HashEmbedder()


PASSAGES = [Passage("read_file", "open the path and read"), Passage("sort_list", "order the items of a list")]


def test_it_satisfies_the_port(embedder: Embedder) -> None:
    assert isinstance(embedder, Embedder)
    assert embedder.model_id
    assert embedder.dimension > 0


def test_rows_are_unit_vectors_of_the_model_s_dimension(embedder: Embedder) -> None:
    rows = embedder.embed_documents(PASSAGES)
    assert rows.shape == (2, embedder.dimension)
    assert rows.dtype == np.float32
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
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
        open_onnx(tmp_path)
    (onnx_directory / "tokenizer.json").unlink()
    with pytest.raises(FailedPrecondition, match=r"no tokenizer\.json"):
        open_onnx(onnx_directory)


def test_missing_onnx_packages_are_named(onnx_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(FailedPrecondition, match="onnxruntime is not installed"):
        open_onnx(onnx_directory)


def test_a_long_text_is_cut_to_the_model_s_window(onnx_directory: Path) -> None:
    embedder = open_onnx(onnx_directory)
    cut = embedder.embed_query("word " * 256 + "list " * 5_000)
    assert np.allclose(cut, embedder.embed_query("word"), atol=1e-6)
    assert not np.allclose(embedder.embed_query("word list"), embedder.embed_query("word"), atol=1e-2)


def test_padding_beside_a_longer_text_does_not_count(onnx_directory: Path) -> None:
    embedder = open_onnx(onnx_directory)
    beside = embedder.embed_documents([Passage("file", "open"), Passage("list", "order the items of a list " * 20)])
    assert np.allclose(beside[0], embedder.embed_documents([Passage("file", "open")])[0], atol=1e-6)


def test_an_onnx_model_has_the_id_of_its_files(onnx_directory: Path) -> None:
    before = open_onnx(onnx_directory).model_id
    tokenizer = onnx_directory / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text().replace('"user"', '"users"'))
    assert open_onnx(onnx_directory).model_id != before


@pytest.mark.parametrize(
    ("model", "key", "message"),
    [("m", "wrong", "status 401"), ("broken", "secret", "answered")],
)
def test_an_endpoint_that_misbehaves_is_unavailable_and_the_key_stays_secret(
    url: str, model: str, key: str, message: str
) -> None:
    with pytest.raises(Unavailable, match=message) as caught:
        RemoteEmbedder(Endpoint(url, model, 32, key)).embed_query("x")
    assert key not in str(caught.value)


def test_an_endpoint_that_is_not_there_is_unavailable() -> None:
    with pytest.raises(Unavailable, match="embedding endpoint"):
        RemoteEmbedder(Endpoint("http://127.0.0.1:1", "m", 32, timeout=2.0)).embed_query("x")


def test_only_web_addresses_are_endpoints() -> None:
    with pytest.raises(FailedPrecondition, match="only http and https"):
        RemoteEmbedder(Endpoint("file:///etc/passwd", "m", 32))


def test_defaults_come_through_the_entry_points(tmp_path: Path) -> None:
    embedder = load_embedder()
    assert embedder is bundled_embedder()
    assert load_full_text()(tmp_path / "text").generation == 0
    assert load_vectors()(tmp_path / "vectors", embedder).generation == 0
    with pytest.raises(NotFound, match=r"no ctxsearch\.embedder provider named 'nope'; known: bundled"):
        load_embedder("nope")
