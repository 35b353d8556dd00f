"""Where documents are among the nodes of a generation: looked up once for each, since every search finds hundreds."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from ctxsearch.graph.columns import NodeColumns, Numbers, Rows
from ctxsearch.search.lexical.queries import Match, address_of

_doc_of: Final = operator.attrgetter("doc")
_segment_of: Final = operator.attrgetter("segment_ord")


class Addresses:
    """The documents of one pinned searcher. Its one mutable cell keeps what was looked up."""

    def __init__(self, searcher: Any) -> None:
        """Of a reader's searcher."""
        self._searcher = searcher
        self._segments = int(searcher.num_segments)
        self._table: _Table | None = None  # of the generation that was asked last

    def numbers(self, matches: Sequence[Match]) -> Numbers:
        """The numbers of the ids of what matches."""
        return np.array(self._searcher.fast_field_values("id", list(map(address_of, matches))), np.uint64)

    def rows(self, matches: Sequence[Match], nodes: NodeColumns) -> Rows:
        """Where what matches is among the nodes; -1 where the graph does not know it."""
        documents = np.fromiter(map(_doc_of, map(address_of, matches)), np.int64, len(matches))
        if self._segments > 1:  # any number that no two have in common
            documents *= self._segments
            documents += np.fromiter(map(_segment_of, map(address_of, matches)), np.int64, len(matches))
        table = self._table
        if table is None or table.nodes is not nodes:
            table = self._table = _Table.of(nodes, len(nodes.numbers) * self._segments)
        rows = table.find(documents)
        if is_known(rows):
            return rows
        new = (rows < 0).nonzero()[0]
        rows[new] = nodes.rows(self.numbers([matches[place] for place in new.tolist()]))
        self._table = table.with_rows(documents[new], rows[new])
        return rows


def is_known(rows: Rows) -> bool:
    """Whether all rows are of nodes that are there."""
    return not len(rows) or bool(np.minimum.reduce(rows) >= 0)


class _Table(NamedTuple):
    """Rows by number of the document. Two threads may fill it: what is lost is looked up again."""

    nodes: NodeColumns
    by_document: Rows  # -1 where it was not looked up or is not known, as is always the last

    @staticmethod
    def of(nodes: NodeColumns, size: int) -> _Table:
        """One that knows nothing yet."""
        return _Table(nodes, np.full(size + 1, -1, np.int64))

    def find(self, documents: Rows) -> Rows:
        """Their rows; -1 where they are not there."""
        return self.by_document.take(documents, mode="clip")

    def with_rows(self, documents: Rows, rows: Rows) -> _Table:
        """Itself with more, or a larger one."""
        table, size = self, int(documents.max()) + 1
        if size >= len(self.by_document):
            table = _Table.of(self.nodes, 2 * size)
            table.by_document[: len(self.by_document)] = self.by_document
        table.by_document[documents] = rows
        return table
