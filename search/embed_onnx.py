"""A local ONNX sentence model as an embedder: a directory with `model.onnx` and `tokenizer.json`. Off by default.

Needs the packages onnxruntime and tokenizers (the extra `onnx`); both are imported only when a model is opened. Nothing
is ever downloaded.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from ctxsearch.search.documents import encodable
from ctxsearch.search.errors import FailedPrecondition
from ctxsearch.search.ports import Floats, Passage
from ctxsearch.search.providers import ModelOptions

_MAX_TOKENS: Final = 256  # sentence models are trained on no more, and time grows with the square
_BATCH: Final = 16


class OnnxEmbedder:
    """Mean over the last hidden states of real tokens, scaled to length one."""

    is_quick = False

    def __init__(self, directory: Path, session: Any, tokenizer: Any) -> None:
        """Wrap a session and a tokenizer; `open_directory` makes them from files."""
        tokenizer.no_padding()
        tokenizer.enable_truncation(max_length=_MAX_TOKENS)
        self._session = session
        self._tokenizer = tokenizer
        self._inputs = {one.name for one in session.get_inputs()}
        self.dimension = int(self._embedded([tokenizer.encode("dimension").ids]).shape[1])
        self.model_id = f"onnx-{directory.name}-{_digest(directory)}"

    def embed_documents(self, passages: Sequence[Passage]) -> Floats:
        """One unit row per passage."""
        texts = [encodable(f"{passage.name}\n{passage.text}") for passage in passages]
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(texts)]
        # A batch takes as long as its longest text times how many there are: like beside like.
        by_length = sorted(range(len(tokens)), key=lambda index: len(tokens[index]))
        out = np.zeros((len(tokens), self.dimension), dtype=np.float32)
        for start in range(0, len(tokens), _BATCH):
            some = by_length[start : start + _BATCH]
            out[some] = self._embedded([tokens[index] for index in some])
        return out

    def embed_query(self, text: str) -> Floats:
        """One unit vector."""
        return np.asarray(self._embedded([self._tokenizer.encode(encodable(text)).ids])[0], dtype=np.float32)

    def _embedded(self, tokens: list[list[int]]) -> Floats:
        width = max(1, *map(len, tokens))
        ids = np.zeros((len(tokens), width), dtype=np.int64)
        mask = np.zeros((len(tokens), width), dtype=np.int64)
        for row, own in enumerate(tokens):
            ids[row, : len(own)] = own
            mask[row, : len(own)] = 1
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self._session.run(None, {name: feeds[name] for name in feeds if name in self._inputs})[0]
        weights = mask[:, :, None].astype(np.float32)
        mean = (hidden * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)
        norms = np.linalg.norm(mean, axis=1, keepdims=True)
        return np.asarray(mean / np.maximum(norms, 1e-12), dtype=np.float32)


def open_onnx(options: ModelOptions) -> OnnxEmbedder:
    """The model in the chosen directory (entry point `onnx`)."""
    return open_directory(Path(options.path))


def open_directory(directory: Path) -> OnnxEmbedder:
    """The model in a directory; raises FailedPrecondition saying what is missing or wrong."""
    for name in ("model.onnx", "tokenizer.json"):
        if not (directory / name).is_file():
            raise FailedPrecondition(f"no {name} in {directory}; an ONNX model directory needs it")
    try:
        onnxruntime: Any = importlib.import_module("onnxruntime")
        tokenizers: Any = importlib.import_module("tokenizers")
    except ImportError as error:
        raise FailedPrecondition(
            f"{error.name} is not installed; an ONNX model needs it: pip install 'ctxsearch[onnx]'"
        ) from error
    try:
        session = onnxruntime.InferenceSession(str(directory / "model.onnx"), providers=["CPUExecutionProvider"])
        return OnnxEmbedder(directory, session, tokenizers.Tokenizer.from_file(str(directory / "tokenizer.json")))
    except Exception as error:  # both libraries raise what they like about a file
        raise FailedPrecondition(f"{directory} cannot be used as an embedding model: {error}") from error


def _digest(directory: Path) -> str:
    digest = hashlib.blake2b(digest_size=6)
    for name in ("model.onnx", "tokenizer.json"):
        digest.update((directory / name).read_bytes())
    return digest.hexdigest()
