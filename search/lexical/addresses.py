"""Where documents are among the nodes of a generation: looked up once for each, since every search finds hundreds."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ctxsearch.graph.columns import NodeColumns, Numbers, Rows

_doc_of: Final = operator.attrgetter("doc")
_segment_of: Final = operator.attrgetter("segment_ord")


class Addresses:
    """The documents of one pinned searcher. Its one mutable cell keeps what was looked up."""

    def __init__(self, searcher: Any) -> None:
        """Of a reader's searcher."""
        self._searcher = searcher
        self._segments = int(searcher.num_segments)
        self._table: _Table | None = None  # of the generation that was asked last

    def numbers(self, addresses: Sequence[Any]) -> Numbers:
        """The numbers of the ids of documents."""
        return np.array(self._searcher.fast_field_values("id", addresses), np.uint64)

    def rows(self, addresses: Sequence[Any], nodes: NodeColumns) -> Rows:
        """Where documents are among the nodes; -1 where the graph does not know them."""
        documents = np.fromiter(map(_doc_of, addresses), np.int64, len(addresses))
        if self._segments > 1:  # any number that no two have in common
            documents *= self._segments
            documents += np.fromiter(map(_segment_of, addresses), np.int64, len(addresses))
        table = self._table
        if table is None or table.nodes is not nodes:
            table = self._table = _Table.of(nodes, len(nodes.numbers) * self._segments)
        rows = table.find(documents)
        if np.minimum.reduce(rows, initial=0) >= 0:
            return rows
        new = (rows < 0).nonzero()[0]
        rows[new] = nodes.rows(self.numbers([addresses[place] for place in new.tolist()]))
        self._table = table.with_rows(documents[new], rows[new])
        return rows


class _Table(NamedTuple):
    """Rows by number of the document. Two threads may fill it: what is lost is looked up again."""

    nodes: NodeColumns
    following: NDArray[np.int32]  # the row and one more; 0 not looked up or not known, as is always the last

    @staticmethod
    def of(nodes: NodeColumns, size: int) -> _Table:
        """One that knows nothing yet."""
        return _Table(nodes, np.zeros(size + 1, np.int32))

    def find(self, documents: Rows) -> Rows:
        """Their rows; -1 where they are not there."""
        rows = self.following.take(documents, mode="clip").astype(np.int64)
        rows -= 1
        return rows

    def with_rows(self, documents: Rows, rows: Rows) -> _Table:
        """Itself with more, or a larger one."""
        table, size = self, int(documents.max()) + 1
        if size >= len(self.following):
            table = _Table.of(self.nodes, 2 * size)
            table.following[: len(self.following)] = self.following
        table.following[documents] = rows + 1
        return table
