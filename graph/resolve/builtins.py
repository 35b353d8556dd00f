"""The names that a language itself gives to every file."""

from __future__ import annotations

from collections.abc import Mapping

from ctxsearch.graph.resolve import go, python_library

_BY_LANGUAGE: Mapping[str, frozenset[str]] = {"go": go.BUILTINS, "python": python_library.BUILTINS}


def is_builtin(language: str, name: str) -> bool:
    """Whether a bare name that a language's resolver led out of the repository leads to the language itself."""
    return name in _BY_LANGUAGE.get(language, ())
