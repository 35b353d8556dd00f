"""Block scoping for front ends: where the block around a capture ends. Captures arrive in document order."""

from __future__ import annotations

from bisect import bisect_right

from tree_sitter import Node

from ctxsearch.graph.facts import MODULE_SCOPE
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.indexer.languages.builder import Extractor


class BlockExtractor(Extractor):
    """A language whose names end with the block that declares them; its query captures blocks as `@block`."""

    def __init__(self, path: str, source: bytes, flags: NodeFlag = NodeFlag.NONE) -> None:
        super().__init__(path, source, flags)
        self._blocks: list[int] = []  # end offsets of the blocks around the current capture
        self._around: tuple[list[int], list[int]] | None = None  # starts of the definitions that are scopes; which

    def on_block(self, node: Node) -> None:
        self.enter_block(node.start_byte, node.end_byte)

    def enter_block(self, start: int, end: int) -> None:
        self.leave_blocks(start)
        self._blocks.append(end)

    def leave_blocks(self, at: int) -> None:
        blocks = self._blocks
        while blocks and blocks[-1] <= at:
            blocks.pop()

    def block_end(self, at: int) -> int:
        """Where the innermost block around an offset ends; -1 outside every block."""
        self.leave_blocks(at)
        return self._blocks[-1] if self._blocks else -1

    def scope_at(self, offset: int) -> int:
        """The definition that code at an offset is inside of, once all are known; a macro counts as one."""
        if self._around is None:
            scopes = [item for item in self.drafts if item.kind not in self.scopeless or item.kind is NodeKind.MACRO]
            self._around = [item.start for item in scopes], [item.index for item in scopes]
        starts, indexes = self._around
        place = bisect_right(starts, offset) - 1
        scope = indexes[place] if place >= 0 else MODULE_SCOPE
        while scope >= 0 and self.drafts[scope].end <= offset:
            scope = self.drafts[scope].parent
        return scope
