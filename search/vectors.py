"""The hot path of semantic search: all vectors of one generation in memory. numpy and numkong only.

Blocks are immutable; an update makes a new matrix that shares the old blocks, marks rows dead and adds a
small block. A search scans one byte per number, in whole numbers and hence alike on every processor, and takes
the true cosines of the best rows. bench/vectors.py prints the times and the recall of the scan beside the plain one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numkong
import numpy as np
from numpy.typing import NDArray

from ctxsearch.graph.columns import Numbers, numbers_of
from ctxsearch.graph.model import NodeId, NodeKind
from ctxsearch.search.ports import NO_HITS, Floats, Hits, Selection
from ctxsearch.search.scope import Scope

Mask = NDArray[np.bool_]
Halves = NDArray[np.float16]

_STEPS: Final = 127  # of a byte, either side of zero
_SPARE_ROWS: Final = 100  # more than wanted that the scan hands on: its rounding errs by a few places
_ROWS_AT_ONCE: Final = 8_192  # made into bytes together: widening a whole table would double its memory
_GROUPED: Final = 32  # at most so many scores of which only the best is looked at first
_SIDE_BY_SIDE: Final = 8
_SCANS_KEPT: Final = 4  # as many as are likely to be under way
_MAX_BLOCKS: Final = 12
_MAX_DEAD: Final = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class VectorBlock:
    """Rows that were written together. All columns have the same length."""

    nodes: Numbers
    hashes: Numbers  # of the passages, to find a vector again
    vectors: Halves  # as stored
    codes: numkong.PackedMatrix  # the vectors as bytes, in steps of the block's largest number; see _packed
    paths: tuple[str, ...]  # distinct
    path_codes: NDArray[np.int32]
    languages: tuple[str, ...]  # distinct
    language_codes: NDArray[np.int32]
    kinds: NDArray[np.uint8]
    qualified_names: tuple[str, ...]
    _scans: dict[bytes, NDArray[np.int32]] = field(default_factory=dict, init=False, repr=False)  # of the last vectors

    def __len__(self) -> int:
        """Rows."""
        return len(self.nodes)

    def rows_of(self, paths: Collection[str]) -> Mask:
        """Which rows belong to any of the paths."""
        codes = [code for code, path in enumerate(self.paths) if path in paths]
        return np.isin(self.path_codes, np.asarray(codes, dtype=np.int32))

    def rows_in(self, scope: Scope) -> Mask:
        """Which rows are in scope."""
        mask = np.ones(len(self), dtype=np.bool_)
        if scope.paths or scope.exclude_paths:
            mask &= np.array([scope.accepts_path(path) for path in self.paths], dtype=np.bool_)[self.path_codes]
        if scope.languages or scope.exclude_languages:
            accepted = [scope.accepts_language(language) for language in self.languages]
            mask &= np.array(accepted, dtype=np.bool_)[self.language_codes]
        if scope.kinds or scope.exclude_kinds:
            accepted = [scope.accepts_kind(NodeKind(kind)) for kind in range(1, max(NodeKind) + 1)]
            mask &= np.array([False, *accepted], dtype=np.bool_)[self.kinds]
        if scope.packages or scope.exclude_packages:
            mask &= np.fromiter(map(scope.accepts_package, self.qualified_names), np.bool_, len(self))
        return mask

    def best(self, vector: Floats, mask: Mask | None, limit: int) -> tuple[NDArray[np.int64], Floats]:
        """Row numbers and cosines of at least the `limit` best rows that the mask lets through."""
        wanted = limit + _SPARE_ROWS
        if mask is None and len(self) > wanted:
            rows = _best(self._scan(vector), wanted)
        else:
            rows = np.arange(len(self)) if mask is None else np.flatnonzero(mask)
            if len(rows) > wanted:
                rows = rows[_best(self._scan(vector)[rows], wanted)]
        return _top(rows, self.cosines(rows, vector), limit)

    def _scan(self, vector: Floats) -> NDArray[np.int32]:
        """Every row's product with the vector, both in bytes; kept, since a search that looks deeper asks again."""
        key = vector.tobytes()
        products = self._scans.get(key)
        if products is None:
            products = np.asarray(numkong.dots_packed(_codes(vector[np.newaxis]), self.codes))[0, : len(self)]
            if len(self._scans) >= _SCANS_KEPT:
                self._scans.clear()
            self._scans[key] = products
        return products

    def cosines(self, rows: NDArray[np.int64], vector: Floats) -> Floats:
        """Exact, and summed in a fixed order whatever the number of threads."""
        halves = self.vectors.take(rows, axis=0)
        wide = np.asarray(numkong.astype(halves, "float32"))  # exact, and many times faster than numpy's
        return np.asarray(np.einsum("ij,j->i", wide, vector), dtype=np.float32)


def make_block(
    nodes: Numbers,
    hashes: Numbers,
    vectors: Floats | Halves,
    paths: Sequence[str],
    languages: Sequence[str],
    kinds: NDArray[np.uint8],
    qualified_names: Sequence[str],
) -> VectorBlock:
    """A block from one value per row."""
    distinct_paths, path_codes = _coded(paths)
    distinct_languages, language_codes = _coded(languages)
    return VectorBlock(
        nodes=nodes,
        hashes=hashes,
        vectors=np.asarray(vectors, dtype=np.float16),
        codes=_packed(vectors),
        paths=distinct_paths,
        path_codes=path_codes,
        languages=distinct_languages,
        language_codes=language_codes,
        kinds=kinds,
        qualified_names=tuple(qualified_names),
    )


@dataclass(frozen=True, slots=True, eq=False)
class VectorMatrix:
    """All live rows of one generation. A value: updating makes another one."""

    blocks: tuple[VectorBlock, ...] = ()
    alive: tuple[Mask, ...] = ()
    _masks: dict[Selection, list[Mask | None]] = field(default_factory=dict)  # made from the above; bounded

    def __len__(self) -> int:
        """Live rows."""
        return sum(int(np.count_nonzero(mask)) for mask in self.alive)

    @property
    def node_count(self) -> int:
        """Distinct live nodes."""
        live = [block.nodes[mask] for block, mask in zip(self.blocks, self.alive, strict=True)]
        return len(np.unique(np.concatenate(live))) if live else 0

    def lacking(self, ids: Collection[NodeId]) -> int:
        """How many of these nodes have no live row."""
        wanted = numbers_of(set(ids))
        known = np.zeros(len(wanted), dtype=np.bool_)
        for block, mask in zip(self.blocks, self.alive, strict=True):
            known |= np.isin(wanted, block.nodes[mask])
        return int(np.count_nonzero(~known))

    def search(self, vector: Floats, selection: Selection, limit: int) -> Hits:
        """Nearest nodes first; pieces folded to their node; nothing that points away from the query."""
        masks = self._selected(selection)
        rows = limit + limit // 3  # some of the best ones are pieces of one node: 99 queries of 100 need no more
        while True:
            found = [
                (block.nodes[best], cosines)
                for block, mask in zip(self.blocks, masks, strict=True)
                for best, cosines in [block.best(vector, mask, rows)]
            ]
            best, is_whole = _folded(found, rows, limit)
            if is_whole:
                return best
            rows *= 4

    def replaced(self, paths: Collection[str], block: VectorBlock | None) -> VectorMatrix:
        """Without the rows of some paths, with those of a new block."""
        return self._marked([one.rows_of(paths) for one in self.blocks], block)

    def without(self, ids: Iterable[NodeId]) -> VectorMatrix:
        """Without the rows of some nodes."""
        numbers = numbers_of(ids)
        return self._marked([np.isin(one.nodes, numbers) for one in self.blocks], None)

    def unknown_rows(self, nodes: Numbers, hashes: Numbers) -> Mask:
        """Which of these rows (node and passage) are not live here."""
        live = [
            _row_keys(block.nodes[mask], block.hashes[mask])
            for block, mask in zip(self.blocks, self.alive, strict=True)
        ]
        known = np.concatenate(live) if live else np.empty(0, dtype=np.uint64)
        return np.isin(_row_keys(nodes, hashes), known, invert=True)

    def following(self, nodes: Numbers, hashes: Numbers, block: VectorBlock | None) -> VectorMatrix:
        """With exactly these rows: what is not among them is dead, what is new comes in `block`."""
        wanted = _row_keys(nodes, hashes)
        dead = [np.isin(_row_keys(one.nodes, one.hashes), wanted, invert=True) for one in self.blocks]
        return self._marked(dead, block)

    def vectors_of(self, hashes: Numbers) -> dict[int, Floats]:
        """The vectors of those passages that are in memory already, dead rows included."""
        found: dict[int, Floats] = {}
        for block in self.blocks:
            for row in np.flatnonzero(np.isin(block.hashes, hashes)).tolist():
                found[int(block.hashes[row])] = block.vectors[row].astype(np.float32)
        return found

    def _marked(self, dead: list[Mask], block: VectorBlock | None) -> VectorMatrix:
        alive = [mask & ~gone if gone.any() else mask for mask, gone in zip(self.alive, dead, strict=True)]
        blocks = list(self.blocks)
        if block is not None and len(block):
            blocks.append(block)
            alive.append(np.ones(len(block), dtype=np.bool_))
        return _tidied(blocks, alive)

    def _selected(self, selection: Selection) -> list[Mask | None]:
        masks = self._masks.get(selection)
        if masks is None:
            masks = [self._mask(block, mask, selection) for block, mask in zip(self.blocks, self.alive, strict=True)]
            if len(self._masks) >= 16:
                self._masks.clear()
            self._masks[selection] = masks
        return masks

    @staticmethod
    def _mask(block: VectorBlock, alive: Mask, selection: Selection) -> Mask | None:
        mask = alive
        if not selection.scope.is_everything:
            mask = mask & block.rows_in(selection.scope)
        if selection.denied:
            mask = mask & ~selection.denied.among(block.nodes)
        return None if mask.all() else mask


def _folded(found: list[tuple[Numbers, Floats]], rows: int, limit: int) -> tuple[Hits, bool]:
    """The best nodes of the best rows, nearest first; and whether the rows were enough for all that are wanted."""
    if not found:
        return NO_HITS, True
    nodes, cosines = found[0] if len(found) == 1 else map(np.concatenate, zip(*found, strict=True))
    is_all = len(nodes) < rows
    order = np.lexsort((nodes, -cosines))[:rows]  # below these, another block's rows might be missing
    nodes, cosines = nodes[order], cosines[order]
    near = int(np.count_nonzero(cosines > 0.0))
    first = _first_places(nodes[:near])[:limit]
    best = Hits(nodes[first], cosines[first].astype(np.float64))
    return best, is_all or near < len(nodes) or len(first) == limit


def _first_places(numbers: Numbers) -> NDArray[np.int64]:
    """Where each number stands first, ascending."""
    order = numbers.argsort(kind="stable")
    ordered = numbers[order]
    is_first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=is_first[1:])
    places = order[is_first]
    places.sort()
    return places


def _row_keys(nodes: Numbers, hashes: Numbers) -> Numbers:
    """One number per row; a passage's hash covers its node's name and text, not its path's other nodes."""
    return nodes ^ (hashes * np.uint64(0x9E3779B97F4A7C15))


def _tidied(blocks: list[VectorBlock], alive: list[Mask]) -> VectorMatrix:
    """Merge small blocks when there are many of them, everything when a quarter of the rows is dead."""
    rows = sum(len(block) for block in blocks)
    dead = rows - sum(int(np.count_nonzero(mask)) for mask in alive)
    if dead > max(1_000, _MAX_DEAD * rows):
        return _merged([], [], blocks, alive)
    if len(blocks) > _MAX_BLOCKS:
        return _merged(blocks[:1], alive[:1], blocks[1:], alive[1:])
    return VectorMatrix(tuple(blocks), tuple(alive))


def _merged(
    kept: list[VectorBlock], kept_alive: list[Mask], blocks: list[VectorBlock], alive: list[Mask]
) -> VectorMatrix:
    live = [np.flatnonzero(mask) for mask in alive]
    pairs = list(zip(blocks, live, strict=True))
    block = make_block(
        np.concatenate([b.nodes[rows] for b, rows in pairs]),
        np.concatenate([b.hashes[rows] for b, rows in pairs]),
        np.concatenate([b.vectors[rows] for b, rows in pairs]),
        [b.paths[code] for b, rows in pairs for code in b.path_codes[rows].tolist()],
        [b.languages[code] for b, rows in pairs for code in b.language_codes[rows].tolist()],
        np.concatenate([b.kinds[rows] for b, rows in pairs]),
        [b.qualified_names[row] for b, rows in pairs for row in rows.tolist()],
    )
    ones = np.ones(len(block), dtype=np.bool_)
    return VectorMatrix((*kept, block), (*kept_alive, ones))


def _coded(values: Sequence[str]) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    codes: dict[str, int] = {}
    numbers = np.fromiter((codes.setdefault(value, len(codes)) for value in values), np.int32, len(values))
    return tuple(codes), numbers


def _codes(vectors: Floats | Halves) -> NDArray[np.int8]:
    """Numbers as signed bytes: the largest is 127, whichever it is, and products compare as cosines do."""
    largest = float(np.abs(vectors).max(initial=0.0)) or 1.0
    codes = np.empty(vectors.shape, dtype=np.int8)
    for start in range(0, len(vectors), _ROWS_AT_ONCE):
        some = vectors[start : start + _ROWS_AT_ONCE].astype(np.float32)
        codes[start : start + _ROWS_AT_ONCE] = np.rint(some * (_STEPS / largest))
    return codes


def _packed(vectors: Floats | Halves) -> numkong.PackedMatrix:
    """The rows as bytes, and one more where they are a multiple of eight.

    Of such a number numkong reads eight rows side by side, which takes twice as long once they are in no cache.
    """
    codes = _codes(vectors)
    return numkong.dots_pack(codes if len(codes) % _SIDE_BY_SIDE else np.concatenate([codes, codes[:1]]))


def _top(rows: NDArray[np.int64], scores: Floats, limit: int) -> tuple[NDArray[np.int64], Floats]:
    if len(rows) <= limit:
        return rows, scores
    best = _best(scores, limit)
    return rows[best], scores[best]


def _best(scores: NDArray[Any], limit: int) -> NDArray[np.int64]:
    """Where the `limit` highest scores are, in no order; everywhere when there are not more."""
    if len(scores) <= limit:
        return np.arange(len(scores))
    rows = _promising(scores, limit)
    return rows[scores[rows].argpartition(-limit)[-limit:]]


def _promising(scores: NDArray[Any], limit: int) -> NDArray[np.int64]:
    """Where the scores are that may be among the `limit` highest: ten times cheaper than dividing all of them.

    As many groups as are wanted have a best score of at least the floor, hence so have as many rows.
    """
    size = min(_GROUPED, len(scores) // (2 * limit))
    if size < 2:
        return np.arange(len(scores))
    groups = len(scores) // size
    best = scores[: groups * size].reshape(size, groups).max(axis=0)
    floor = np.partition(best, -limit)[-limit]
    return np.flatnonzero(scores >= floor)
