"""Edges of a whole repository as columns: what the catalog loads and `CodeGraph.build` takes.

500k `Edge` objects cost a second and 100 MB to make; five arrays cost neither. Nothing here reads or stores.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctxsearch.graph.model import CodeNode, Edge


@dataclass(frozen=True, slots=True)
class EdgeTable:
    """Edges between the nodes of one list, sorted by source, then kind, then target."""

    source: NDArray[np.int32]  # index into the list of nodes
    target: NDArray[np.int32]
    kind: NDArray[np.uint8]  # EdgeKind
    confidence: NDArray[np.float32]  # 0..1, to four decimals
    rule: NDArray[np.uint8]  # Rule
    dangling: int = 0  # edges left out because their target is no node of the list

    def __len__(self) -> int:
        return len(self.source)

    @staticmethod
    def of(nodes: Sequence[CodeNode], edges: Iterable[Edge]) -> EdgeTable:
        """From edge values; for small graphs and tests. An edge without both of its nodes is dangling."""
        index = {node.id: position for position, node in enumerate(nodes)}
        rows = []
        dangling = 0
        for edge in edges:
            source, target = index.get(edge.source), index.get(edge.target)
            if source is None or target is None:
                dangling += 1
            else:
                rows.append((source, int(edge.kind), target, edge.confidence, int(edge.rule)))
        rows.sort()
        source_, kind, target_, confidence, rule = zip(*rows, strict=True) if rows else ((),) * 5
        return EdgeTable(
            source=np.array(source_, dtype=np.int32),
            target=np.array(target_, dtype=np.int32),
            kind=np.array(kind, dtype=np.uint8),
            confidence=np.array(confidence, dtype=np.float32),
            rule=np.array(rule, dtype=np.uint8),
            dangling=dangling,
        )
