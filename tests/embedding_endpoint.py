"""An OpenAI-compatible endpoint on loopback, over a small real embedder: a bag of hashed words."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np

from ctxsearch.search.ports import Floats, Passage

KEY = "secret"


class HashEmbedder:
    """A bag of hashed words: small, and enough to satisfy the port."""

    model_id = "hash"
    dimension = 32
    is_quick = True

    def embed_documents(self, passages: Sequence[Passage]) -> Floats:
        rows = [self.embed_query(f"{passage.name} {passage.text}") for passage in passages]
        return np.array(rows, dtype=np.float32).reshape(-1, self.dimension)

    def embed_query(self, text: str) -> Floats:
        vector = np.zeros(self.dimension, dtype=np.float32)
        for word in text.split():
            vector[sum(word.encode("utf-8", "surrogatepass")) % self.dimension] += 1
        norm = float(np.linalg.norm(vector))
        return np.asarray(vector / norm if norm else vector, dtype=np.float32)


@dataclass
class Endpoint:
    """What a running endpoint was asked, and what it answers with."""

    url: str
    asked: list[str] = field(default_factory=list)  # every text, in order
    answers: list[int] = field(default_factory=list)  # status codes of the next answers; then 200
    raw: list[bytes] = field(default_factory=list)  # or what the next ones are, byte for byte

    def answer(self, model: str, texts: list[str]) -> tuple[int, dict[str, object]]:
        if self.answers:
            return self.answers.pop(0), {}
        self.asked += texts
        vectors = [HashEmbedder().embed_query(text) * 5 for text in texts]
        if model == "broken":
            vectors = [vector[:3] for vector in vectors]
        rows = [{"index": i, "embedding": [float(x) for x in vector]} for i, vector in enumerate(vectors)]
        return 200, {"data": rows[::-1]}  # in any order, as it may


@contextlib.contextmanager
def running_endpoint() -> Iterator[Endpoint]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, answer = 401, {}
            if endpoint.raw:
                self.wfile.write(endpoint.raw.pop(0))
                return
            if self.headers.get("Authorization") == f"Bearer {KEY}":
                status, answer = endpoint.answer(asked["model"], asked["input"])
            body = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Location", self.path)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    endpoint = Endpoint(f"http://127.0.0.1:{server.server_address[1]}/v1")
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
