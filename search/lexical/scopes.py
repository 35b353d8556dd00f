"""A scope in the engine's own terms: paths, kinds, languages and packages, inside and outside."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import tantivy

from ctxsearch.search.documents import encodable
from ctxsearch.search.errors import InvalidArgument
from ctxsearch.search.lexical.queries import Clauses
from ctxsearch.search.scope import Beneath, Scope, dotted, path_regex, plain_path, simple_glob


def scope_clauses(schema: Any, scope: Scope) -> Clauses:
    """The conditions that mean a scope; none of them adds to the score."""
    must = _groups(schema, scope, "")
    must_not = _groups(schema, scope, "exclude_")
    return [
        *((tantivy.Occur.Must, tantivy.Query.const_score_query(_any_of(group), 0.0)) for group in must if group),
        *((tantivy.Occur.MustNot, query) for group in must_not for query in group),
    ]


@functools.lru_cache(maxsize=64)
def of_files(scope: Scope) -> Scope:
    """As much of a scope as files can be asked about."""
    return Scope(
        paths=scope.paths,
        languages=scope.languages,
        exclude_paths=scope.exclude_paths,
        exclude_languages=scope.exclude_languages,
    )


def _groups(schema: Any, scope: Scope, prefix: str) -> list[list[Any]]:
    """For each condition the queries of which a node has to meet any; none: all nodes do."""
    paths, kinds, languages, packages = (
        getattr(scope, prefix + name) for name in ("paths", "kinds", "languages", "packages")
    )
    return [
        [_path_query(schema, one, f"scope.{prefix}paths") for one in paths],
        [tantivy.Query.term_query(schema, "kind", int(one)) for one in kinds],
        [_named(schema, "language", one.lower()) for one in languages],
        [_named(schema, "package", dotted(one)) for one in packages],
    ]


def _path_query(schema: Any, pattern: str, field: str) -> Any:
    """Files that a path or glob means.

    Folders and suffixes have lists of their own: an expression gathers the lists of all files that it meets, in every
    search anew. The engine bounds how large the automaton of one may be.
    """
    plain, simple = plain_path(pattern), simple_glob(pattern)
    if plain is not None:
        return _any_of([_named(schema, "file", plain), _named(schema, "folder", plain)])
    if simple:
        return _any_of([_all_of([_named(schema, *one) for one in _conditions(beneath)]) for beneath in simple])
    try:
        return tantivy.Query.regex_query(schema, "file", path_regex(pattern))
    except ValueError as error:
        raise InvalidArgument(field, pattern, "a glob with fewer wildcards") from error


def _conditions(beneath: Beneath) -> list[tuple[str, str]]:
    return [(name, value) for name, value in beneath._asdict().items() if value]


def _named(schema: Any, field_name: str, value: str) -> Any:
    return tantivy.Query.term_query(schema, field_name, encodable(value), "basic")


def _any_of(queries: Sequence[Any]) -> Any:
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])


def _all_of(queries: Sequence[Any]) -> Any:
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, query) for query in queries])
