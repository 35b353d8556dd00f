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

from ctxsearch.search.errors import FailedPrecondition
from ctxsearch.search.ports import Floats, Passage

_MAX_TOKENS: Final = 256  # sentence models are trained on no more, and time grows with the square
_BATCH: Final = 16


class OnnxEmbedder:
    """Mean over the last hidden states of real tokens, scaled to length one."""

    def __init__(self, directory: Path, session: Any, tokenizer: Any) -> None:
        """Wrap a session and a tokenizer; `open_onnx` makes them from a directory."""
        self._session = session
        self._tokenizer = tokenizer
        self._inputs = {one.name for one in session.get_inputs()}
        self.dimension = int(self._embedded(["dimension"]).shape[1])
        self.model_id = f"onnx-{directory.name}-{_digest(directory)}"

    def embed_documents(self, passages: Sequence[Passage]) -> Floats:
        """One unit row per passage."""
        if not passages:
            return np.zeros((0, self.dimension), dtype=np.float32)
        texts = [f"{passage.name}\n{passage.text}" for passage in passages]
        parts = [self._embedded(texts[start : start + _BATCH]) for start in range(0, len(texts), _BATCH)]
        return np.concatenate(parts)

    def embed_query(self, text: str) -> Floats:
        """One unit vector."""
        return np.asarray(self._embedded([text])[0], dtype=np.float32)

    def _embedded(self, texts: list[str]) -> Floats:
        encodings = [self._tokenizer.encode(text) for text in texts]
        width = max(1, min(_MAX_TOKENS, max(len(one.ids) for one in encodings)))
        ids = np.zeros((len(texts), width), dtype=np.int64)
        mask = np.zeros((len(texts), width), dtype=np.int64)
        for row, encoding in enumerate(encodings):
            tokens = encoding.ids[:width]
            ids[row, : len(tokens)] = tokens
            mask[row, : len(tokens)] = 1
        feeds = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        hidden = self._session.run(None, {name: feeds[name] for name in feeds if name in self._inputs})[0]
        weights = mask[:, :, None].astype(np.float32)
        mean = (hidden * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)
        norms = np.linalg.norm(mean, axis=1, keepdims=True)
        return np.asarray(mean / np.maximum(norms, 1e-12), dtype=np.float32)


def open_onnx(directory: Path) -> OnnxEmbedder:
    """The model in a directory; raises FailedPrecondition saying what is missing."""
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
    session = onnxruntime.InferenceSession(str(directory / "model.onnx"), providers=["CPUExecutionProvider"])
    return OnnxEmbedder(directory, session, tokenizers.Tokenizer.from_file(str(directory / "tokenizer.json")))


def _digest(directory: Path) -> str:
    digest = hashlib.blake2b(digest_size=6)
    for name in ("model.onnx", "tokenizer.json"):
        digest.update((directory / name).read_bytes())
    return digest.hexdigest()
