"""One contract for every vector provider: LanceDB in memory, LanceDB on disk, and a small fake."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from search_samples import by_path, document

from ctxsearch.graph.model import NodeDocument, NodeId, NodeKind
from ctxsearch.search.documents import node_texts, passages
from ctxsearch.search.embed import bundled_embedder
from ctxsearch.search.ports import SELECT_ALL, Denied, Embedder, Floats, Hit, Selection, VectorIndex, VectorReader
from ctxsearch.search.scope import Scope
from ctxsearch.search.semantic import LanceIndex, LanceReader, SemanticPolicy


class PlainReader:
    """Compares with every vector."""

    def __init__(self, generation: int, embedder: Embedder, rows: list[tuple[NodeDocument, Floats]]) -> None:
        self.generation = generation
        self.model_id, self.dimension = embedder.model_id, embedder.dimension
        self._rows = rows

    def search(self, vector: Floats, selection: Selection, limit: int) -> list[Hit]:
        best: dict[NodeId, float] = {}
        for one, row in self._rows:
            if selection.scope.accepts(one.node) and one.node.id not in selection.denied:
                best[one.node.id] = max(best.get(one.node.id, 0.0), float(row @ vector))
        hits = [Hit(node_id, score) for node_id, score in best.items() if score > 0]
        return sorted(hits, key=lambda hit: (-hit.score, hit.id))[:limit]

    def count(self) -> int:
        return len({one.node.id for one, _ in self._rows})

    def lacking(self, ids: Collection[NodeId]) -> int:
        return len(set(ids) - {one.node.id for one, _ in self._rows})


class PlainIndex:
    """Keeps vectors by path in memory."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._rows: dict[str, list[tuple[NodeDocument, Floats]]] = {}
        self._generation = 0

    @property
    def generation(self) -> int:
        return self._generation

    def reader(self) -> VectorReader:
        return PlainReader(self._generation, self._embedder, [row for own in self._rows.values() for row in own])

    def apply(self, generation: int, replaced: Mapping[str, Sequence[NodeDocument]], removed: Sequence[str]) -> None:
        kept = {path: own for path, own in self._rows.items() if path not in removed}
        self._rows = {**kept, **{path: self._embedded(own) for path, own in replaced.items()}}
        self._generation = generation

    def rebuild(self, generation: int, documents: Iterable[tuple[str, Sequence[NodeDocument]]]) -> None:
        self._rows = {path: self._embedded(own) for path, own in documents}
        self._generation = generation

    def discard(self, ids: Sequence[NodeId]) -> None:
        self._rows = {path: [row for row in own if row[0].node.id not in ids] for path, own in self._rows.items()}

    def maintain(self) -> None:
        pass

    def close(self) -> None:
        pass

    def _embedded(self, documents: Sequence[NodeDocument]) -> list[tuple[NodeDocument, Floats]]:
        texts = [(text.document, passage) for text in node_texts(documents) for passage in passages(text)]
        vectors = self._embedder.embed_documents([passage for _, passage in texts])
        return [(one, vector) for (one, _), vector in zip(texts, vectors, strict=True)]


@pytest.fixture(params=["memory", "disk", "plain"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> VectorIndex:
    if request.param == "plain":
        return PlainIndex(bundled_embedder())
    policy = SemanticPolicy(rows_in_memory=0 if request.param == "disk" else 400_000)
    return LanceIndex(tmp_path, bundled_embedder(), policy)


READ = document("read_file", "def read_file(path):\n    return open(path).read()", path="io/files.py")
SEND = document("send_mail", "def send_mail(to):\n    smtp.send(to)", path="net/mail.go", language="go")
SORT = document("sort_items", "def sort_items(xs):\n    return sorted(xs)", path="algo/sort.py")


def ask(reader: VectorReader, text: str, selection: Selection = SELECT_ALL, limit: int = 10) -> list[NodeId]:
    return [hit.id for hit in reader.search(bundled_embedder().embed_query(text), selection, limit)]


def test_it_satisfies_the_port(index: VectorIndex) -> None:
    assert isinstance(index, VectorIndex)
    reader = index.reader()
    assert isinstance(reader, VectorReader)
    assert (reader.model_id, reader.dimension) == (bundled_embedder().model_id, 256)


def test_an_empty_index_is_at_generation_zero_and_finds_nothing(index: VectorIndex) -> None:
    assert index.generation == 0
    assert index.reader().generation == 0
    assert index.reader().count() == 0
    assert ask(index.reader(), "open a file") == []


def test_what_was_applied_is_found_by_meaning(index: VectorIndex) -> None:
    index.apply(3, by_path(READ, SEND, SORT), [])
    reader = index.reader()
    assert (index.generation, reader.generation, reader.count()) == (3, 3, 3)
    assert ask(reader, "load contents of a document from disk")[0] == READ.node.id
    assert ask(reader, "deliver an email message")[0] == SEND.node.id


def test_replacing_and_removing_paths(index: VectorIndex) -> None:
    index.apply(1, by_path(READ, SEND), [])
    index.apply(2, by_path(SORT), ["io/files.py"])
    assert set(ask(index.reader(), "file mail sort")) == {SEND.node.id, SORT.node.id}
    index.apply(3, {"algo/sort.py": []}, ["it's/not there.py"])
    assert set(ask(index.reader(), "file mail sort")) == {SEND.node.id}
    assert index.generation == 3


def test_a_reader_is_pinned_through_updates_rebuilds_and_maintenance(index: VectorIndex) -> None:
    index.apply(1, by_path(READ), [])
    before = index.reader()
    index.apply(2, by_path(SEND), ["io/files.py"])
    for generation in range(3, 40):
        index.apply(generation, by_path(SORT), [])
    index.maintain()
    index.rebuild(40, [])
    assert ask(before, "file") == [READ.node.id]
    assert before.generation == 1
    assert ask(index.reader(), "file mail sort") == []


def test_discarded_nodes_are_gone_and_the_generation_stays(index: VectorIndex) -> None:
    index.apply(4, by_path(READ, SEND), [])
    index.discard([READ.node.id])
    assert ask(index.reader(), "file mail") == [SEND.node.id]
    assert index.generation == 4


def test_scope_and_denied_ids_are_pushed_down(index: VectorIndex) -> None:
    index.apply(1, by_path(READ, SEND, SORT), [])
    reader = index.reader()
    everything = "file mail sort"
    assert ask(reader, everything, Selection(Scope(paths=("net",)))) == [SEND.node.id]
    assert ask(reader, everything, Selection(Scope(paths=("**/*.go",)))) == [SEND.node.id]
    assert set(ask(reader, everything, Selection(Scope(exclude_paths=("net",))))) == {READ.node.id, SORT.node.id}
    assert ask(reader, everything, Selection(Scope(languages=("GO",)))) == [SEND.node.id]
    assert ask(reader, everything, Selection(Scope(packages=("algo.sort",)))) == [SORT.node.id]
    assert ask(reader, everything, Selection(Scope(kinds=(NodeKind.CLASS,)))) == []
    denied = Selection(denied=Denied.of({READ.node.id, SEND.node.id}))
    assert ask(reader, everything, denied, limit=1) == [SORT.node.id]


def test_a_long_node_counts_once_by_its_best_piece(index: VectorIndex) -> None:
    filler = [f"    value_{n} = compute(value_{n - 1})" for n in range(1, 120)]
    filler[100] = "    telescope = observe(galaxy, nebula, star)"
    long = document("long_one", "def long_one():\n" + "\n".join(filler), path="big.py")
    index.apply(1, by_path(long, SORT), [])
    reader = index.reader()
    assert reader.count() == 2
    assert ask(reader, "telescope observe galaxy nebula star")[0] == long.node.id
    assert len(ask(reader, "telescope compute value")) == len(set(ask(reader, "telescope compute value")))


def test_nodes_that_cannot_be_found_are_counted(index: VectorIndex) -> None:
    assert index.reader().lacking([READ.node.id]) == 1
    index.apply(1, by_path(READ, SORT), [])
    reader = index.reader()
    assert reader.lacking([READ.node.id, SORT.node.id]) == 0
    assert reader.lacking([READ.node.id, SEND.node.id, SEND.node.id]) == 1
    index.apply(2, by_path(SEND), [SORT.node.path])
    assert index.reader().lacking([READ.node.id, SEND.node.id, SORT.node.id]) == 1
    assert reader.lacking([SEND.node.id]) == 1


def test_a_zero_vector_finds_nothing(index: VectorIndex) -> None:
    index.apply(1, by_path(READ), [])
    assert index.reader().search(np.zeros(256, dtype=np.float32), SELECT_ALL, 5) == []


def test_packages_and_library_symbols_have_no_vector(index: VectorIndex) -> None:
    index.apply(1, {"": [document("urlopen", path="", kind=NodeKind.EXTERNAL)], **by_path(READ)}, [])
    assert index.reader().count() == 1


def test_memory_and_disk_give_the_same_order(tmp_path: Path) -> None:
    documents = [
        document(f"item_{n}", f"def item_{n}():\n    return shape_{n % 7} + colour_{n % 5}", path=f"{n}.py")
        for n in range(60)
    ]
    memory = LanceIndex(tmp_path / "m", bundled_embedder())
    disk = LanceIndex(tmp_path / "d", bundled_embedder(), SemanticPolicy(rows_in_memory=0))
    for index in (memory, disk):
        index.rebuild(1, sorted(by_path(*documents).items()))
    assert isinstance(disk.reader(), LanceReader)
    assert ask(memory.reader(), "shape and colour") == ask(disk.reader(), "shape and colour")
