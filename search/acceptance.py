"""Which nodes of one generation a request may show, asked of many at once: a hub has tens of thousands of neighbours.

The same meaning as `Scope.accepts`, in columns, and remembered: the next request often asks the same.
"""

from __future__ import annotations

import functools
import operator
import weakref
from collections.abc import Callable, Collection
from itertools import compress
from typing import Final

import numpy as np
from numpy.typing import NDArray

from ctxsearch.graph.columns import NO_FILE, NodeColumns, Numbers, Rows, id_of, numbers_of
from ctxsearch.graph.model import CodeNode, NodeId, NodeKind
from ctxsearch.search.ports import NodeLookup, Selection
from ctxsearch.search.scope import Scope

Mask = NDArray[np.bool_]


class Acceptance:
    """What a selection lets through of one corpus."""

    def __init__(self, nodes: NodeLookup, selection: Selection) -> None:
        """Of all nodes that the look-up knows."""
        self._nodes = nodes
        self._verdicts = _verdicts_of(selection, nodes.columns)

    def __call__(self, numbers: Numbers) -> Mask:
        """Which nodes, by the numbers of their ids, are in scope and not below the floor."""
        accepted: Mask = self._of(numbers) == _ACCEPTED
        return accepted

    def told_apart(self, refused: Collection[NodeId]) -> tuple[list[NodeId], list[NodeId]]:
        """Of nodes that were refused those out of scope, and the others: those below the floor."""
        is_below = (self._of(numbers_of(refused)) == _BELOW).tolist()
        return list(compress(refused, map(operator.not_, is_below))), list(compress(refused, is_below))

    def _of(self, numbers: Numbers) -> NDArray[np.int8]:
        return self._verdicts.of(self._nodes.columns.rows(numbers), self._nodes)


class _Verdicts:
    """On the nodes of one generation, for one selection: found as they are asked for. Holds no columns."""

    def __init__(self, selection: Selection, size: int) -> None:
        self._selection = selection
        # By row; the last one is of what is not there: row -1. Threads may find the same at once, and write the same.
        self._by_row = np.full(size + 1, _UNKNOWN)
        self._by_row[-1] = _OUTSIDE

    def of(self, rows: Rows, nodes: NodeLookup) -> NDArray[np.int8]:
        """The verdicts on some rows."""
        verdicts = self._by_row[rows]
        unknown = rows[verdicts == _UNKNOWN]
        if len(unknown):
            self._by_row[unknown] = self._found(unknown, nodes)
            verdicts = self._by_row[rows]
        return verdicts

    def _found(self, rows: Rows, nodes: NodeLookup) -> NDArray[np.int8]:
        found = np.where(_in_scope(self._selection.scope, rows, nodes), _ACCEPTED, _OUTSIDE)
        found[(found == _ACCEPTED) & self._selection.denied.among(nodes.columns.numbers[rows])] = _BELOW
        return found


def _in_scope(scope: Scope, rows: Rows, nodes: NodeLookup) -> Mask:
    """Which rows are in scope. The cheap conditions first: each is asked only of what meets those before it."""
    columns = nodes.columns
    inside = np.ones(len(rows), np.bool_)
    if scope.kinds or scope.exclude_kinds:
        inside &= np.isin(columns.kinds[rows], [int(kind) for kind in NodeKind if scope.accepts_kind(kind)])
    if scope.paths or scope.exclude_paths:
        files, which = np.unique(columns.files[rows[inside]], return_inverse=True)
        paths = [columns.paths[file] if file != NO_FILE else "" for file in files.tolist()]
        inside[inside] = np.array([scope.accepts_path(path) for path in paths], np.bool_)[which]
    if scope.languages or scope.exclude_languages:
        accepts_language = functools.cache(scope.accepts_language)
        inside[inside] = _each(rows[inside], nodes, lambda node: accepts_language(node.language))
    if scope.packages or scope.exclude_packages:
        inside[inside] = _each(rows[inside], nodes, lambda node: scope.accepts_package(node.qualified_name))
    return inside


_UNKNOWN: Final = np.int8(-1)
_OUTSIDE: Final = np.int8(0)
_BELOW: Final = np.int8(1)
_ACCEPTED: Final = np.int8(2)
_KEPT: Final = 16  # selections of each generation, a byte for each node

_verdicts: Final[weakref.WeakKeyDictionary[NodeColumns, dict[Selection, _Verdicts]]] = weakref.WeakKeyDictionary()


def _verdicts_of(selection: Selection, columns: NodeColumns) -> _Verdicts:
    by_selection = _verdicts.setdefault(columns, {})
    known = by_selection.get(selection)
    if known is None:
        if len(by_selection) >= _KEPT:
            by_selection.clear()
        known = by_selection[selection] = _Verdicts(selection, len(columns.numbers))
    return known


def _each(rows: Rows, nodes: NodeLookup, accepts: Callable[[CodeNode], bool]) -> Mask:
    """What only the nodes themselves tell."""
    found = map(nodes.node, map(id_of, nodes.columns.numbers[rows].tolist()))
    return np.fromiter((node is not None and accepts(node) for node in found), np.bool_, len(rows))
