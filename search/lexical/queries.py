"""Asking the engine: a term, a query inside of conditions, and what comes back."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import tantivy

Clauses = list[tuple[Any, Any]]  # conditions, and how they are joined to a query
Match = tuple[float, Any]  # the score and the address of a document

score_of: Final[Callable[[Match], float]] = operator.itemgetter(0)
address_of: Final[Callable[[Match], Any]] = operator.itemgetter(1)


class Fetched(NamedTuple):
    """What the engine answered."""

    matches: Sequence[Match]  # best first
    factor: float = 1.0  # on the scores


NOTHING: Final = Fetched(())


def term(schema: Any, field_name: str, value: object) -> Any:
    """What has a value in a field, scored by how often."""
    return tantivy.Query.term_query(schema, field_name, value, "freq")


def within(query: Any, inside: Clauses) -> Any:
    """A query of what meets all conditions."""
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, query), *inside]) if inside else query


def fetch(searcher: Any, query: Any, limit: int) -> Fetched:
    """The best documents for a query."""
    return Fetched(searcher.search(query, limit, count=False).hits)
