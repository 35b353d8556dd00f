"""Which evaluator resolves which language. A language without one of its own is resolved by the plain rules."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from typing import cast

from ctxsearch.graph.resolve.evaluate import Evaluator

_MODULES = {
    "python": "python",
    "javascript": "javascript",
    "typescript": "javascript",
    "tsx": "javascript",
    "java": "java",
    "kotlin": "kotlin",
    "csharp": "csharp",
    "go": "go",
    "rust": "rust",
    "c": "c",
    "cpp": "cpp",
    "ruby": "ruby",
    "php": "php",
    "markdown": "documents",
    "rst": "documents",
}


@functools.cache
def evaluator_for(language: str) -> type[Evaluator]:
    """The evaluator class of a language: `EVALUATOR` of its module here."""
    name = f"{__package__}.{_MODULES.get(language, 'plain')}"
    if importlib.util.find_spec(name) is None:
        name = f"{__package__}.plain"
    return cast("type[Evaluator]", importlib.import_module(name).EVALUATOR)
