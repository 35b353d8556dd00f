"""The catalog: one transaction is one generation, readers see exactly one, and what is stored comes back."""

from __future__ import annotations

import random
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxsearch.graph.catalog import (
    Catalog,
    CatalogBusyError,
    CatalogCorruptError,
    CatalogError,
    CatalogFullError,
    CatalogMissingError,
    CatalogVersionError,
    UnknownGenerationError,
)
from ctxsearch.graph.model import (
    CodeNode,
    Edge,
    EdgeKind,
    NodeDocument,
    NodeFlag,
    NodeId,
    NodeKind,
    Rule,
    Unresolved,
    node_id,
)
from ctxsearch.graph.records import FileGraph, FileRecord, NodeRecord, owner_of


def make_node(
    path: str,
    name: str,
    line: int = 1,
    end: int | None = None,
    kind: NodeKind = NodeKind.FUNCTION,
    flags: NodeFlag = NodeFlag.NONE,
    parent: NodeId | None = None,
) -> CodeNode:
    return CodeNode(
        id=node_id(path, kind, name),
        kind=kind,
        name=name.rpartition(".")[2],
        qualified_name=name,
        path=path,
        start_line=line,
        end_line=end or line,
        language="python",
        signature=f"def {name}()",
        content_hash=f"{line:032x}",
        flags=flags,
        parent=parent,
    )


def calls(source: CodeNode, target: CodeNode, *lines: int, confidence: float = 0.95) -> Edge:
    return Edge(source.id, target.id, EdgeKind.CALLS, confidence, Rule.IMPORT, lines)


def file_record(path: str, text: str, language: str = "python") -> FileRecord:
    return FileRecord(
        path=path,
        language=language,
        size=len(text),
        mtime_ns=1_700_000_000_123_456_789,
        inode=2**64 - 1,
        content_hash=f"{hash_of(text):032x}",
        line_count=text.count("\n"),
    )


def hash_of(text: str) -> int:
    return int.from_bytes(text.encode("utf-8", "surrogatepass")[:12].ljust(12), "big")


def graph_of(*nodes: CodeNode, edges: tuple[Edge, ...] = (), unresolved: tuple[Unresolved, ...] = ()) -> FileGraph:
    return FileGraph(tuple(NodeRecord(node, f"doc of {node.name}") for node in nodes), edges, unresolved, b"reads")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "repository" / "catalog.sqlite"


@pytest.fixture
def catalog(path: Path) -> Iterator[Catalog]:
    with Catalog.open(path) as opened:
        yield opened


MAIN = make_node("a.py", "main", 1, 2)
HELPER = make_node("b.py", "helper", 1, 2)
LAMBDA = make_node("b.py", "helper.<lambda1>", 2, flags=NodeFlag.ANONYMOUS)
PRINT = make_node("", "print", 0, kind=NodeKind.EXTERNAL)
A_TEXT = "def main():\n    helper(); helper()\n"
B_TEXT = "def helper():\n    return lambda: 1\n"


def fill(catalog: Catalog) -> None:
    with catalog.write() as w:
        w.put_file(file_record("a.py", A_TEXT), A_TEXT)
        lost = Unresolved(MAIN.id, "obj.run", (2,))
        edges = (calls(MAIN, HELPER, 2, 2), calls(MAIN, PRINT, 2, confidence=0.3))
        w.replace("a.py", graph_of(MAIN, edges=edges, unresolved=(lost,)))
        w.put_file(file_record("b.py", B_TEXT), B_TEXT)
        w.replace("b.py", graph_of(HELPER, LAMBDA))
        w.put_shared([NodeRecord(PRINT)], [])
        w.put_skipped("logo.png", "binary")
        w.set_meta("commit", "abc")


def test_what_is_written_is_read_back(catalog: Catalog) -> None:
    fill(catalog)
    with catalog.read() as r:
        assert r.generation == catalog.generation == 1
        assert r.files() == [file_record("a.py", A_TEXT), file_record("b.py", B_TEXT)]
        assert r.file("a.py") == file_record("a.py", A_TEXT)
        assert r.file("c.py") is None
        assert r.text("a.py") == A_TEXT
        assert r.load_nodes() == sorted([PRINT, MAIN, HELPER, LAMBDA], key=lambda n: (n.path, n.start_line, n.id))
        assert r.skipped() == [("logo.png", "binary")]
        assert (r.skip_reason("logo.png"), r.skip_reason("logo")) == ("binary", None)
        assert r.meta("commit") == "abc"
        assert list(r.reads()) == [("a.py", b"reads"), ("b.py", b"reads")]
        assert r.graph_of("b.py") == graph_of(HELPER, LAMBDA)
        assert r.sites("a.py")[MAIN.id, HELPER.id, EdgeKind.CALLS] == (2,)
        assert (MAIN.id, HELPER.id, EdgeKind.USES) not in r.sites("a.py")
        assert r.sites("nowhere.py") == {}
        assert [call.name for call in r.unresolved(MAIN)] == ["obj.run"]


def test_edges_load_as_positions_among_the_loaded_nodes(catalog: Catalog) -> None:
    fill(catalog)
    with catalog.read() as r:
        nodes, edges = r.load_nodes(), r.load_edges()
    named = {
        (nodes[s].name, nodes[t].name, EdgeKind(k).name, round(float(c), 4), Rule(rule).name)
        for s, t, k, c, rule in zip(edges.source, edges.target, edges.kind, edges.confidence, edges.rule, strict=True)
    }
    assert named == {("main", "helper", "CALLS", 0.95, "IMPORT"), ("main", "print", "CALLS", 0.3, "IMPORT")}
    assert edges.dangling == 0


def test_documents_carry_the_indexed_text_and_leave_anonymous_nodes_out(catalog: Catalog) -> None:
    fill(catalog)
    with catalog.read() as r:
        assert list(r.documents()) == [
            (owner_of(PRINT), (NodeDocument(PRINT, "", ""),)),
            ("a.py", (NodeDocument(MAIN, "doc of main", "def main():\n    helper(); helper()"),)),
            ("b.py", (NodeDocument(HELPER, "doc of helper", "def helper():\n    return lambda: 1"),)),
        ]
        assert [p for p, _ in r.documents(["b.py", "gone.py"])] == ["b.py"]


def test_counts_by_language_kind_and_reason(catalog: Catalog) -> None:
    fill(catalog)
    with catalog.read() as r:
        counts = r.counts()
    assert counts.files == {"python": 2}
    assert counts.lines == {"python": 4}
    assert counts.nodes == {NodeKind.FUNCTION: 3, NodeKind.EXTERNAL: 1}
    assert counts.edges == {EdgeKind.CALLS: 2}
    assert counts.unresolved == {"python": 1}
    assert counts.skipped == {"binary": 1}


def test_an_exception_leaves_the_old_generation(catalog: Catalog) -> None:
    fill(catalog)

    def fail_after_writing() -> None:
        with catalog.write() as w:
            w.remove("a.py")
            w.set_meta("commit", "def")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail_after_writing()
    with catalog.read() as r:
        assert (r.generation, r.meta("commit"), r.text("a.py")) == (1, "abc", A_TEXT)


def test_a_reader_keeps_its_generation_while_a_writer_commits(catalog: Catalog, path: Path) -> None:
    fill(catalog)
    with Catalog.open(path, read_only=True) as other, other.read() as before:
        with catalog.write() as w:
            w.remove("b.py")
        assert (before.generation, before.text("b.py")) == (1, B_TEXT)
        assert other.generation == 2
        with other.read() as after:
            assert (after.generation, after.text("b.py")) == (2, None)


def test_a_pinned_generation_stays_and_is_shared_by_threads(catalog: Catalog) -> None:
    fill(catalog)
    pinned = catalog.pin()
    with catalog.write() as w:
        w.remove("b.py")
    texts: list[str | None] = []

    def read() -> None:
        with pinned.use() as r:
            texts.append(r.text("b.py"))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (pinned.generation, texts) == (1, [B_TEXT] * 4)
    assert catalog.pin().generation == 2


def test_the_log_stays_short_although_some_generation_is_always_pinned(
    catalog: Catalog, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctxsearch.graph.catalog.LONG_LOG", 200_000)
    catalog._connection.execute("PRAGMA journal_size_limit = 100000")
    log = path.with_name(path.name + "-wal")
    sizes, pinned = [], catalog.pin()
    for number in range(60):
        with catalog.write() as w:
            w.put_file(file_record("a.py", f"{number}"), random.Random(number).randbytes(20_000).hex())
        pinned = catalog.pin()
        with pinned.use() as r:
            assert r.generation == number + 1
        sizes.append(log.stat().st_size)
    assert max(sizes) < 400_000, "sixty commits of some 30 kB each"


def test_an_older_pin_keeps_its_generation_when_the_log_is_long(
    catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctxsearch.graph.catalog.LONG_LOG", 1)
    fill(catalog)
    pinned = catalog.pin()
    with catalog.write() as w:
        w.remove("b.py")
    for _ in range(2):
        with pinned.use() as r:
            assert (r.generation, r.text("b.py")) == (1, B_TEXT)


def test_an_edge_to_a_removed_node_is_left_out_counted_and_named(catalog: Catalog) -> None:
    fill(catalog)
    assert catalog.verify() == ()
    with catalog.write() as w:
        w.remove("b.py")
    with catalog.read() as r:
        edges = r.load_edges()
        assert (len(edges), edges.dangling) == (1, 1)
    assert HELPER.id in catalog.verify()[0]
    assert MAIN.id in catalog.verify()[0]


def test_changes_name_what_differs_and_nothing_else(catalog: Catalog) -> None:
    fill(catalog)
    with catalog.write() as w:  # other edges, same documents
        w.replace("a.py", graph_of(MAIN))
    with catalog.write() as w:
        w.put_file(file_record("c.py", "x"), "x")
        w.remove("b.py")
    with catalog.read() as r:
        assert r.changes_since(0).changed == (owner_of(PRINT), "a.py", "c.py")
        since = r.changes_since(1)
        assert (since.changed, since.documents, since.removed) == (("a.py", "c.py"), ("c.py",), ("b.py",))
        assert r.changes_since(2).changed == ("c.py",)
        assert r.changes_since(3).changed == ()
        with pytest.raises(UnknownGenerationError):
            r.changes_since(4)


def test_writing_the_same_again_makes_no_generation(catalog: Catalog) -> None:
    fill(catalog)
    fill(catalog)
    assert catalog.generation == 1
    with catalog.read() as r:
        assert r.changes_since(1).changed == ()


def test_a_new_stat_of_the_same_content_is_stored_without_a_change(catalog: Catalog) -> None:
    fill(catalog)
    touched = FileRecord("a.py", "python", len(A_TEXT), 5, 6, file_record("a.py", A_TEXT).content_hash, line_count=2)
    with catalog.write() as w:
        w.put_file(touched, A_TEXT)
    with catalog.read() as r:
        assert (r.generation, r.file("a.py")) == (1, touched)


def test_a_file_that_returns_is_no_longer_removed(catalog: Catalog) -> None:
    fill(catalog)
    with catalog.write() as w:
        w.remove("b.py")
    with catalog.write() as w:
        w.put_file(file_record("b.py", B_TEXT), B_TEXT)
        w.replace("b.py", graph_of(HELPER))
    with catalog.read() as r:
        assert r.changes_since(1).removed == ()
        assert r.changes_since(1).changed == ("b.py",)


def test_facts_are_kept_by_content_and_collected_when_unused(catalog: Catalog) -> None:
    fill(catalog)
    used = file_record("a.py", A_TEXT).content_hash
    with catalog.write() as w:
        w.put_facts(used, "python", "v1", b"facts of a" * 100)
        w.put_facts("unused", "python", "v1", b"other")
    assert catalog.generation == 1, "facts alone are not visible"
    with catalog.read() as r:
        assert r.known_facts() == {(used, "python", "v1"), ("unused", "python", "v1")}
        assert r.facts(used, "python", "v1") == b"facts of a" * 100
        assert r.facts(used, "python", "v2") is None
        assert [(f.path, d) for f, d in r.file_facts({"python": "v1"})] == [
            ("a.py", b"facts of a" * 100),
            ("b.py", None),
        ]
    with catalog.write() as w:
        assert w.collect_facts(older_than=2) == 0, "stored for generation 2"
        assert w.collect_facts(older_than=3) == 1
    with catalog.read() as r:
        assert r.known_facts() == {(used, "python", "v1")}


def test_a_graph_that_is_not_the_files_own_is_refused(catalog: Catalog) -> None:
    fill(catalog)
    with pytest.raises(ValueError, match=HELPER.id), catalog.write() as w:
        w.replace("a.py", graph_of(MAIN, edges=(calls(HELPER, MAIN),)))
    with pytest.raises(ValueError, match="twice"), catalog.write() as w:
        w.replace("a.py", graph_of(MAIN, MAIN))
    with pytest.raises(ValueError, match="put_file"), catalog.write() as w:
        w.replace("never.py", graph_of())
    assert catalog.generation == 1


def test_names_that_are_not_unicode_survive(catalog: Catalog) -> None:
    path = "caf\udce9/m.py"
    node = make_node(path, "caf\udce9.m.f")
    with catalog.write() as w:
        w.put_file(file_record(path, "x\udc80"), "x\udc80")
        w.replace(path, graph_of(node, edges=(calls(node, node, 1),)))
        package = make_node(path, "caf\udce9", kind=NodeKind.PACKAGE)
        w.put_shared([NodeRecord(package)], [])
    with catalog.read() as r:
        assert r.graph_of(path) == graph_of(node, edges=(calls(node, node, 1),))
        assert r.text(path) == "x\udc80"
        assert [f.path for f in r.files()] == [path]
        assert len(r.load_edges()) == 1
        assert [p for p, _ in r.documents()] == [owner_of(package), path]


def external(name: str) -> NodeRecord:
    return NodeRecord(make_node("", name, 0, kind=NodeKind.EXTERNAL))


def test_putting_the_shared_nodes_again_changes_only_the_shards_that_differ(catalog: Catalog) -> None:
    many = [external(f"library.symbol{number}") for number in range(300)]
    contains = [Edge(many[0].node.id, many[1].node.id, EdgeKind.CONTAINS, 1.0, Rule.STRUCTURE)]
    for _ in range(2):
        with catalog.write() as w:
            w.put_shared(many, contains)
    assert catalog.generation == 1, "the same again is no change"
    with catalog.write() as w:
        w.put_shared([*many[:-1], external("library.other")], contains)
    with catalog.read() as r:
        changes = r.changes_since(1)
        touched = {owner_of(many[-1].node), owner_of(external("library.other").node)}
        assert {*changes.changed, *changes.removed} == touched
        assert {n.id for n in r.load_nodes()} == {x.node.id for x in [*many[:-1], external("library.other")]}
        assert len(r.load_edges()) == 1
        assert r.files() == []


def test_shared_nodes_are_right_after_a_failed_write_and_after_reopening(catalog: Catalog, path: Path) -> None:
    def fail() -> None:
        with catalog.write() as w:
            w.put_shared([external("b")], [])
            raise ZeroDivisionError

    with catalog.write() as w:
        w.put_shared([external("a")], [])
    with pytest.raises(ZeroDivisionError):
        fail()
    with catalog.write() as w:
        w.put_shared([external("a"), external("b")], [])
    catalog.close()
    with Catalog.open(path) as again:
        with again.write() as w:
            w.put_shared([external("b")], [])
        with again.read() as r:
            assert [node.name for node in r.load_nodes()] == ["b"]
            assert r.changes_since(2).removed == (owner_of(external("a").node),)
            assert r.changes_since(2).changed == ()


def test_shared_nodes_and_files_do_not_mix(catalog: Catalog) -> None:
    with pytest.raises(ValueError, match="belongs to a file"), catalog.write() as w:
        w.put_shared([NodeRecord(MAIN)], [])
    with pytest.raises(ValueError, match=MAIN.id), catalog.write() as w:
        w.put_shared([NodeRecord(PRINT)], [calls(MAIN, PRINT)])
    with pytest.raises(ValueError, match="not a path"), catalog.write() as w:
        w.put_file(file_record(owner_of(PRINT), ""), "")


# Who may open it


def test_one_writer_at_a_time(catalog: Catalog, path: Path) -> None:
    with pytest.raises(CatalogBusyError):
        Catalog.open(path)
    with pytest.raises(CatalogBusyError):
        Catalog.rebuild(path)
    catalog.close()
    Catalog.open(path).close()


def test_threads_write_one_after_the_other(catalog: Catalog) -> None:
    def add(name: str) -> None:
        with catalog.write() as w:
            w.put_file(file_record(name, name), name)

    threads = [threading.Thread(target=add, args=(f"{n}.py",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert catalog.generation == 8
    with catalog.read() as r:
        assert len(r.files()) == 8


def test_a_read_only_catalog_neither_creates_nor_writes(path: Path) -> None:
    with pytest.raises(CatalogMissingError):
        Catalog.open(path, read_only=True)
    Catalog.open(path).close()
    with (
        Catalog.open(path, read_only=True) as catalog,
        pytest.raises(CatalogError, match="read-only"),
        catalog.write(),
    ):
        pass


def test_another_schema_version_is_said(path: Path) -> None:
    Catalog.open(path).close()
    with sqlite3.connect(path) as raw:
        raw.execute("PRAGMA user_version = 99")
    raw.close()
    with pytest.raises(CatalogVersionError, match="99"):
        Catalog.open(path)


def test_rebuild_sets_the_old_file_aside_and_has_another_identity(path: Path) -> None:
    with Catalog.open(path) as catalog:
        fill(catalog)
        identity = catalog.identity
    aside = Catalog.rebuild(path)
    assert aside is not None
    with Catalog.open(path) as catalog, catalog.read() as snapshot:
        assert catalog.identity != identity
        assert snapshot.is_empty
        assert not snapshot.files()
    with Catalog.open(aside) as old:
        assert old.generation == 1


def test_generations_count_on_after_a_rebuild(path: Path) -> None:
    with Catalog.open(path) as catalog:
        fill(catalog)
    Catalog.rebuild(path)
    with Catalog.open(path) as catalog:
        fill(catalog)
        assert catalog.generation == 2
        with catalog.read() as snapshot:
            assert not snapshot.is_empty
            assert snapshot.changes_since(0).changed
    path.write_bytes(b"no database")
    Catalog.rebuild(path, after=7)
    with Catalog.open(path) as catalog:
        assert catalog.generation == 7


# A full disk


def test_a_full_disk_keeps_the_old_generation_and_heals(catalog: Catalog) -> None:
    fill(catalog)
    pages = catalog._connection.execute("PRAGMA page_count").fetchone()[0]
    catalog._connection.execute(f"PRAGMA max_page_count = {pages + 1}")
    noise = random.Random(1).randbytes(200_000).decode("latin-1")

    def write_too_much() -> None:
        with catalog.write() as w:
            w.remove("a.py")
            w.put_file(file_record("big.py", noise), noise)

    with pytest.raises(CatalogFullError):
        write_too_much()
    with catalog.read() as r:
        assert (r.generation, [f.path for f in r.files()]) == (1, ["a.py", "b.py"])
    catalog._connection.execute("PRAGMA max_page_count = 1000000")
    with catalog.write() as w:
        w.put_file(file_record("big.py", noise), noise)
    assert catalog.generation == 2
    assert [p for p in catalog.verify() if "missing node" not in p] == []


# Everything against a dictionary

_PATHS = st.sampled_from(["a.py", "b.py", "pkg/c.py"])
_FILES = st.dictionaries(_PATHS, st.lists(st.sampled_from("fghk"), max_size=4, unique=True))


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(generations=st.lists(_FILES, min_size=1, max_size=5))
def test_after_any_sequence_the_catalog_equals_a_fresh_one(
    generations: list[dict[str, list[str]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("sequence")
    with Catalog.open(folder / "grown.sqlite") as grown, Catalog.open(folder / "fresh.sqlite") as fresh:
        present: dict[str, list[str]] = {}
        for files in generations:
            write_state(grown, files, present)
            present = files
        write_state(fresh, generations[-1], {})
        assert contents(grown) == contents(fresh)


def write_state(catalog: Catalog, files: dict[str, list[str]], before: dict[str, list[str]]) -> None:
    everything = [make_node(p, name, i + 1) for p, names in files.items() for i, name in enumerate(names)]
    with catalog.write() as w:
        for gone in before.keys() - files.keys():
            w.remove(gone)
        for path, names in files.items():
            text = "\n".join(names)
            w.put_file(file_record(path, text), text)
            own = [node for node in everything if node.path == path]
            edges = tuple(calls(a, b, a.start_line) for a in own for b in everything if a.name < b.name)
            w.replace(path, graph_of(*own, edges=edges))


def contents(catalog: Catalog) -> object:
    with catalog.read() as r:
        edges = r.load_edges()
        columns = [a.tolist() for a in (edges.source, edges.target, edges.kind, edges.confidence, edges.rule)]
        return r.files(), r.load_nodes(), columns, edges.dangling, list(r.documents()), r.counts()


# Damage


def test_a_file_that_is_no_catalog_is_corrupt(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"this is not a database at all" * 100)
    with pytest.raises(CatalogCorruptError):
        Catalog.open(path)
    Catalog.rebuild(path)
    Catalog.open(path).close()
