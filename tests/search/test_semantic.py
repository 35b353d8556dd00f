"""LanceDB: durable generations, crashes between its steps, compaction, vectors kept by passage and model."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from pathlib import Path

import numkong
import numpy as np
import pytest
from search_samples import by_path, document

from ctxsearch.search.embed import bundled_embedder
from ctxsearch.search.errors import IndexCorrupt
from ctxsearch.search.ports import SELECT_ALL, Floats, Passage, Selection
from ctxsearch.search.scope import Scope
from ctxsearch.search.semantic import LanceIndex, SemanticPolicy
from ctxsearch.search.vectors import VectorMatrix, make_block

A = document("alpha", path="a.py")
B = document("beta", path="b.py")


class Counting:
    """Counts what it embeds; vectors depend on the text alone."""

    dimension = 256
    is_quick = True

    def __init__(self, model_id: str = "counting") -> None:
        self.model_id = model_id
        self.embedded = 0

    def embed_documents(self, passages: Sequence[Passage]) -> Floats:
        self.embedded += len(passages)
        return bundled_embedder().embed_documents(passages)

    def embed_query(self, text: str) -> Floats:
        return bundled_embedder().embed_query(text)


def test_a_generation_survives_reopening(tmp_path: Path) -> None:
    index = LanceIndex(tmp_path, bundled_embedder())
    index.apply(1, by_path(A), [])
    index.apply(2, by_path(B), [])
    index.close()
    again = LanceIndex(tmp_path, bundled_embedder())
    assert again.generation == 2
    assert again.reader().count() == 2


@pytest.mark.parametrize("point", ["delete", "add", "tag"])
def test_a_crash_inside_an_update_leaves_the_generation_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    index = LanceIndex(tmp_path, bundled_embedder())
    index.apply(1, by_path(A, B), [])

    def crash(*_: object, **__: object) -> None:
        raise RuntimeError("pulled the plug")

    if point == "tag":
        monkeypatch.setattr(index, "_commit", crash)
    else:
        monkeypatch.setattr(index._table, point, crash)
    with pytest.raises(RuntimeError):
        index.apply(2, by_path(document("alpha_two", path="a.py")), ["b.py"])
    monkeypatch.undo()

    again = LanceIndex(tmp_path, bundled_embedder())
    assert again.generation == 1
    found = {hit.id for hit in again.reader().search(bundled_embedder().embed_query("alpha beta"), SELECT_ALL, 9)}
    assert found == {A.node.id, B.node.id}
    again.apply(2, by_path(document("alpha_two", path="a.py")), ["b.py"])
    assert again.reader().count() == 1
    assert LanceIndex(tmp_path, bundled_embedder()).reader().count() == 1, "what the crash left behind is gone"


def test_the_same_index_goes_on_after_a_failed_update(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = LanceIndex(tmp_path, bundled_embedder())
    index.apply(1, by_path(A), [])
    with monkeypatch.context() as broken:
        broken.setattr(index._table, "add", lambda *_: (_ for _ in ()).throw(OSError("disk full")))
        with pytest.raises(OSError, match="disk full"):
            index.apply(2, by_path(document("other", path="a.py")), [])
    assert index.generation == 1
    assert index.reader().count() == 1
    index.apply(2, by_path(B), [])
    assert index.reader().count() == 2


def test_an_unchanged_node_is_not_embedded_again(tmp_path: Path) -> None:
    embedder = Counting()
    index = LanceIndex(tmp_path, embedder)
    index.apply(1, by_path(A, B), [])
    assert embedder.embedded == 2
    index.apply(2, {"a.py": [A, document("gamma", path="a.py", line=9)]}, [])
    assert embedder.embedded == 3, "only the new node"
    index.rebuild(3, sorted(by_path(A, B).items()))
    assert embedder.embedded == 3, "a rebuild takes over what it can"


def test_a_large_table_keeps_vectors_too(tmp_path: Path) -> None:
    embedder = Counting()
    index = LanceIndex(tmp_path, embedder, SemanticPolicy(rows_in_memory=0))
    index.apply(1, by_path(A, B), [])
    index.apply(2, by_path(A), [])
    assert embedder.embedded == 2


def test_another_model_means_an_empty_index_and_never_a_mix(tmp_path: Path) -> None:
    first = LanceIndex(tmp_path, Counting("one"))
    first.apply(5, by_path(A), [])
    second = LanceIndex(tmp_path, Counting("two"))
    assert second.generation == 0
    assert second.reader().count() == 0
    second.rebuild(5, sorted(by_path(A).items()))
    assert second.reader().model_id == "two"
    assert LanceIndex(tmp_path, Counting("one")).generation == 0, "the old model's vectors are dropped"


def test_another_dimension_under_the_same_name_is_not_read(tmp_path: Path) -> None:
    LanceIndex(tmp_path, Counting("same")).apply(1, by_path(A), [])

    class Narrow(Counting):
        dimension = 8

        def embed_documents(self, passages: Sequence[Passage]) -> Floats:
            return np.ones((len(passages), 8), dtype=np.float32)

    index = LanceIndex(tmp_path, Narrow("same"))
    assert index.generation == 0
    index.rebuild(1, sorted(by_path(A).items()))
    assert index.reader().dimension == 8


def test_compaction_keeps_answers_generation_and_pinned_readers(tmp_path: Path) -> None:
    policy = SemanticPolicy(rows_in_memory=0, updates_before_compaction=5)
    index = LanceIndex(tmp_path, bundled_embedder(), policy)
    index.apply(1, by_path(A), [])
    pinned = index.reader()
    for generation in range(2, 9):
        index.apply(generation, by_path(document(f"step_{generation}", path="a.py")), [])
    fragments = index._table.stats()["fragment_stats"]["num_fragments"]
    index.maintain()
    assert index._table.stats()["fragment_stats"]["num_fragments"] <= fragments
    assert index.generation == 8
    query = bundled_embedder().embed_query("alpha step")
    assert [hit.id for hit in pinned.search(query, SELECT_ALL, 5)] == [A.node.id]
    assert index.reader().count() == 1
    del pinned
    for generation in range(9, 16):
        index.apply(generation, by_path(B), [])
    index.maintain()
    assert LanceIndex(tmp_path, bundled_embedder(), policy).generation == 15


def test_maintenance_waits_until_it_is_due(tmp_path: Path) -> None:
    index = LanceIndex(tmp_path, bundled_embedder())
    index.maintain()
    index.apply(1, by_path(A), [])
    version = index._table.version
    index.maintain()
    assert index._table.version == version


def test_a_file_name_that_is_no_utf8_is_stored_and_replaced(tmp_path: Path) -> None:
    odd = document("odd", path="b\udcff'ad.py")
    index = LanceIndex(tmp_path, bundled_embedder())
    index.apply(1, by_path(odd), [])
    index.apply(2, by_path(odd), [])
    assert index.reader().count() == 1


def rows(count: int, seed: int) -> Floats:
    """Vectors that spread along few directions more than along others, as real ones do."""
    random = np.random.default_rng(seed)
    spread = 0.97 ** np.arange(256)
    vectors = (random.standard_normal((count, 256)) * spread).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


def matrix_of(vectors: Floats) -> VectorMatrix:
    count = len(vectors)
    numbers = np.arange(1, count + 1, dtype=np.uint64)
    paths = [f"p{n % 50}.py" for n in range(count)]
    block = make_block(numbers, numbers, vectors, paths, ["python"] * count, np.full(count, 6, np.uint8), ["a"] * count)
    return VectorMatrix().replaced((), block)


@pytest.mark.parametrize("count", [24_016, 24_017])
def test_the_scan_in_bytes_finds_what_the_plain_scan_finds(count: int) -> None:
    vectors = rows(count, 1).astype(np.float16).astype(np.float32)
    matrix = matrix_of(vectors)
    for query in rows(20, 2):
        exact = np.argsort(-np.einsum("ij,j->i", vectors, query), kind="stable")[:20] + 1
        assert [int(hit.id, 16) for hit in matrix.search(query, SELECT_ALL, 20)] == exact.tolist()


@pytest.mark.parametrize("blocks", [1, 3])
def test_a_long_node_near_the_query_takes_one_place_however_many_pieces_it_has(blocks: int) -> None:
    query, far = rows(1, 2)[0], rows(300, 3)
    near = query + 0.01 * rows(200, 4)
    vectors = np.concatenate([near / np.linalg.norm(near, axis=1, keepdims=True), far]).astype(np.float32)
    nodes = np.concatenate([np.ones(200, dtype=np.uint64), np.arange(2, 302, dtype=np.uint64)])
    matrix = VectorMatrix()
    for part in np.array_split(np.arange(len(vectors)), blocks):
        count = len(part)
        kinds = np.full(count, 6, np.uint8)
        own, names = nodes[part], ["a"] * count
        block = make_block(own, part.astype(np.uint64), vectors[part], names, ["python"] * count, kinds, names)
        matrix = matrix.replaced((), block)
    hits = [int(hit.id, 16) for hit in matrix.search(query, SELECT_ALL, 20)]
    products = np.einsum("ij,j->i", far.astype(np.float16).astype(np.float32), query)
    assert hits == [1, *(np.argsort(-products, kind="stable")[:19] + 2).tolist()]


@pytest.mark.parametrize("count", [7, 8, 9, 4_096])
def test_rows_are_never_packed_as_a_multiple_of_eight(count: int) -> None:
    block = matrix_of(rows(count, 1)).blocks[0]
    assert len(block) == count
    assert block.codes.width % 8, "numkong takes twice as long for these when they are in no cache"


def test_a_deeper_look_scans_no_second_time(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix = matrix_of(rows(4_000, 1))
    scans: list[object] = []
    scan = numkong.dots_packed
    monkeypatch.setattr(numkong, "dots_packed", lambda *both: (scans.append(both), scan(*both))[1])
    first, second = rows(2, 2)
    near = matrix.search(first, SELECT_ALL, 20)
    assert matrix.search(first, SELECT_ALL, 80)[:20] == near
    assert len(scans) == 1
    assert matrix.search(second, SELECT_ALL, 20) != near
    assert len(scans) == 2


def test_a_narrow_scope_is_searched_exactly() -> None:
    vectors = rows(24_000, 3)
    matrix = matrix_of(vectors)
    query = rows(1, 4)[0]
    inside = np.arange(24_000) % 50 == 7
    best = np.flatnonzero(inside)[np.argsort(-(vectors[inside] @ query))[:10]] + 1
    found = matrix.search(query, Selection(Scope(paths=("p7.py",))), 10)
    assert [int(hit.id, 16) for hit in found] == best.tolist()


def test_many_small_updates_are_merged_and_dead_rows_collected() -> None:
    matrix = matrix_of(rows(3_000, 5))
    for n in range(40):
        extra = make_block(
            np.array([10_000 + n], dtype=np.uint64),
            np.array([n], dtype=np.uint64),
            rows(1, 100 + n),
            [f"p{n}.py"],
            ["python"],
            np.array([6], dtype=np.uint8),
            ["a"],
        )
        matrix = matrix.replaced({f"p{n}.py"}, extra)
        assert len(matrix.blocks) <= 13
    assert len(matrix) == 3_000 - 40 * 60 + 40
    assert sum(len(block) for block in matrix.blocks) < 2_000, "dead rows do not pile up"
    found = matrix.search(rows(1, 139)[0], SELECT_ALL, 1)
    assert int(found[0].id, 16) == 10_039


def stored_files(tmp_path: Path) -> list[Path]:
    """Those that LanceDB never writes again."""
    patterns = ("data/*.lance", "_deletions/*", "_versions/*.manifest")
    return sorted(path for pattern in patterns for path in tmp_path.rglob(pattern))


@pytest.mark.parametrize("share", [0.0, 0.4, 0.999])
def test_a_flipped_bit_is_noticed_before_anything_is_read(tmp_path: Path, share: float) -> None:
    index = LanceIndex(tmp_path, bundled_embedder())
    index.apply(1, by_path(A, B, document("gamma", path="c.py")), [])
    index.apply(2, by_path(A), ["b.py"])
    index.close()
    assert {path.parent.name for path in stored_files(tmp_path)} == {"data", "_deletions", "_versions"}
    for path in stored_files(tmp_path):
        whole = path.read_bytes()
        data = bytearray(whole)
        data[int(len(data) * share)] ^= 4
        path.write_bytes(data)
        with pytest.raises(IndexCorrupt, match=path.name):
            LanceIndex(tmp_path, bundled_embedder())
        path.write_bytes(whole)
    assert LanceIndex(tmp_path, bundled_embedder()).reader().count() == 2


def test_damaged_checksums_count_as_damage_and_missing_ones_do_not(tmp_path: Path) -> None:
    LanceIndex(tmp_path, bundled_embedder()).apply(1, by_path(A), [])
    (sums,) = tmp_path.rglob("*.sums")
    sums.write_bytes(sums.read_bytes()[:-3])
    with pytest.raises(IndexCorrupt, match="sums"):
        LanceIndex(tmp_path, bundled_embedder())
    sums.unlink()
    assert LanceIndex(tmp_path, bundled_embedder()).reader().count() == 1


def test_a_table_that_starts_over_is_not_held_against_its_old_checksums(tmp_path: Path) -> None:
    first, second = Counting("first"), Counting("second")
    LanceIndex(tmp_path, first).rebuild(1, by_path(A).items())
    LanceIndex(tmp_path, second).rebuild(2, by_path(A, B).items())  # drops the other model's table
    LanceIndex(tmp_path, first).rebuild(3, by_path(B).items())
    assert LanceIndex(tmp_path, first).reader().count() == 1


def test_compaction_leaves_checksums_that_hold(tmp_path: Path) -> None:
    policy = SemanticPolicy(updates_before_compaction=2, keep_versions=dt.timedelta(0))
    index = LanceIndex(tmp_path, bundled_embedder(), policy)
    for generation in range(1, 6):
        index.apply(generation, by_path(A if generation % 2 else B), [])
        index.maintain()
    assert LanceIndex(tmp_path, bundled_embedder()).reader().count() == 2


def test_processes_that_end_early_leave_their_updates_to_be_compacted_by_a_later_one(tmp_path: Path) -> None:
    policy = SemanticPolicy(updates_before_compaction=4, keep_versions=dt.timedelta(0))
    for generation in range(1, 20):
        index = LanceIndex(tmp_path, bundled_embedder(), policy)
        index.apply(generation, by_path(document(f"name_{generation}", path=f"{generation}.py")), [])
        index.maintain()
        index.close()
    assert len(list(tmp_path.rglob("data/*.lance"))) <= 4
    assert LanceIndex(tmp_path, bundled_embedder()).reader().count() == 19
