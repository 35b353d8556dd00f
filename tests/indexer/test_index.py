"""One repository kept current: what a refresh does, and that it equals an index made from nothing."""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scratch_repository import ScratchRepository

from ctxsearch.graph.catalog import Catalog, CatalogFullError, Writer
from ctxsearch.graph.git import Git
from ctxsearch.graph.model import EdgeKind
from ctxsearch.graph.records import RESOLVED_META
from ctxsearch.indexer import index
from ctxsearch.indexer.files import NothingToIndexError, Skipped, SkipReason
from ctxsearch.indexer.index import RepositoryIndexer
from ctxsearch.indexer.pipeline import ParsePool
from ctxsearch.indexer.worker import Parsed

FAULTY = (sys.executable, "-P", str(Path(__file__).with_name("faulty_worker.py")))
OLD_NS = 1_600_000_000_000_000_000  # long before any test runs


@pytest.fixture(scope="module")
def pool() -> Iterator[ParsePool]:
    """Parser processes have no state: one pool does for all tests."""
    with ParsePool(1) as shared:
        yield shared


class Repo:
    """A repository, its catalog and its indexer."""

    def __init__(self, base: Path, pool: ParsePool) -> None:
        self.pool = pool
        self.scratch = ScratchRepository.create(base / "root")
        self.root = self.scratch.root
        self.catalog = Catalog.open(base / "catalog.db")
        self.restart()

    def restart(self, pool: ParsePool | None = None) -> None:
        """As a new process would: nothing remembered but the catalog."""
        self.indexer = RepositoryIndexer(
            self.root, self.catalog, workers=1, git=Git.open(self.root), pool=pool or self.pool
        )

    def write(self, path: str, text: str | bytes, mtime_ns: int | None = OLD_NS) -> None:
        self.scratch.write(path, text)
        if mtime_ns is not None:
            os.utime(self.root / path, ns=(mtime_ns, mtime_ns))

    def graph(self) -> object:
        return everything(self.catalog)

    def calls(self) -> set[tuple[str, str]]:
        with self.catalog.read() as snapshot:
            nodes = snapshot.load_nodes()
            edges = snapshot.load_edges()
        return {
            (nodes[source].name, nodes[target].name)
            for source, target, kind in zip(edges.source, edges.target, edges.kind, strict=True)
            if kind == EdgeKind.CALLS
        }


def everything(catalog: Catalog) -> object:
    """What of a catalog its readers can see, generations and stat apart."""
    with catalog.read() as snapshot:
        files = [(r.path, r.language, r.content_hash, r.flags, r.line_count) for r in snapshot.files()]
        graphs = [snapshot.graph_of(path) for path in ["", *(each[0] for each in files)]]
        visible = [(g.nodes, g.edges, g.unresolved) if g else None for g in graphs]
        texts = [snapshot.text(each[0]) for each in files]
        return files, visible, texts, snapshot.skipped()


def from_scratch(root: Path, pool: ParsePool) -> object:
    with tempfile.TemporaryDirectory() as place, Catalog.open(Path(place) / "catalog.db") as catalog:
        RepositoryIndexer(root, catalog, workers=1, git=Git.open(root), pool=pool).refresh()
        return everything(catalog)


@pytest.fixture
def repo(tmp_path: Path, pool: ParsePool) -> Iterator[Repo]:
    made = Repo(tmp_path, pool)
    made.write("a.py", "from b import helper\n\n\ndef run():\n    helper()\n")
    made.write("b.py", "def helper():\n    return 1\n")
    yield made
    made.catalog.close()


def test_first_refresh_makes_a_generation_with_nodes_edges_and_counts(repo: Repo) -> None:
    report = repo.indexer.refresh()
    assert (report.generation, report.changed, report.removed) == (1, 2, 0)
    assert report.counts is not None
    assert report.counts.files == {"python": 2}
    assert ("run", "helper") in repo.calls()
    assert {"list", "compare", "parse", "resolve", "store", "commit"} <= report.seconds.keys()


def test_an_edit_after_preparing_equals_an_index_from_scratch(repo: Repo) -> None:
    repo.indexer.refresh()
    repo.restart()
    repo.indexer.prepare()
    repo.write("b.py", "def helper():\n    return other()\n\n\ndef other():\n    return 2\n", None)
    assert repo.indexer.refresh_paths(["b.py"]).changed == 1
    assert repo.graph() == from_scratch(repo.root, repo.pool)


def test_a_file_that_is_edited_all_day_does_not_fill_the_catalog(repo: Repo) -> None:
    repo.indexer.refresh()
    for number in range(60):
        repo.write("b.py", f"def helper():\n    return {number}\n", None)
        repo.indexer.refresh_paths(["b.py"])
        if number % 25 == 0:
            repo.restart()
    with repo.catalog.read() as snapshot:
        assert len(snapshot.known_facts()) <= 2 + index._KEPT_CONTENTS
    assert repo.graph() == from_scratch(repo.root, repo.pool)


class EndedError(Exception):
    """Stands for whatever ends a process between two generations."""


def test_nodes_of_the_first_index_are_committed_before_its_edges(repo: Repo) -> None:
    seen: list[object] = []

    def look() -> None:
        with repo.catalog.read() as snapshot:
            seen.extend((snapshot.meta(RESOLVED_META), list(snapshot.documents()), repo.calls()))

    report = repo.indexer.refresh(nodes_known=look)
    with repo.catalog.read() as snapshot:
        documents = list(snapshot.documents())
        assert snapshot.changes_since(1).documents == ()  # nothing has to be indexed for search again
        assert snapshot.meta(RESOLVED_META) is not None
    assert seen == [None, documents, set()]
    assert report.generation == 2
    assert repo.graph() == from_scratch(repo.root, repo.pool)


def test_an_index_that_ended_before_its_edges_is_resolved_by_the_next_refresh(repo: Repo) -> None:
    def end() -> None:
        raise EndedError

    with pytest.raises(EndedError):
        repo.indexer.refresh(nodes_known=end)
    repo.restart()
    again: list[str] = []
    report = repo.indexer.refresh(nodes_known=lambda: again.append("nodes"))
    assert (report.resolved, again) == (2, [])  # one generation does: the nodes are there
    assert ("run", "helper") in repo.calls()
    assert repo.graph() == from_scratch(repo.root, repo.pool)


class RecordingPool(ParsePool):
    """Notes of every file whether it was parsed, or only read."""

    def __init__(self) -> None:
        super().__init__(1)
        self.parsed: dict[str, bool] = {}

    def run(self, *arguments: Any, **options: Any) -> Iterator[Parsed | Skipped]:
        for answer in super().run(*arguments, **options):
            self.parsed[answer.path] = isinstance(answer, Parsed) and answer.facts is not None
            yield answer


def test_what_another_work_tree_parsed_is_not_parsed_again(repo: Repo, tmp_path: Path) -> None:
    repo.indexer.refresh()
    (tmp_path / "other").mkdir()
    other = Repo(tmp_path / "other", repo.pool)
    other.write("a.py", (repo.root / "a.py").read_text())
    other.write("b.py", "def helper():\n    return 2\n")  # the same path, another content
    with RecordingPool() as pool:
        RepositoryIndexer(
            other.root, other.catalog, workers=1, git=Git.open(other.root), pool=pool, lenders=[repo.catalog.path]
        ).refresh()
        assert pool.parsed == {"a.py": False, "b.py": True}
    assert other.graph() == from_scratch(other.root, repo.pool)
    other.catalog.close()


def test_a_lender_that_cannot_be_read_lends_nothing(repo: Repo, tmp_path: Path) -> None:
    (tmp_path / "broken.db").write_bytes(b"no catalog at all")
    lenders = [tmp_path / "broken.db", tmp_path / "absent.db"]
    repo.indexer = RepositoryIndexer(
        repo.root, repo.catalog, workers=1, git=Git.open(repo.root), pool=repo.pool, lenders=lenders
    )
    repo.indexer.refresh()
    assert repo.graph() == from_scratch(repo.root, repo.pool)


def test_a_tree_in_which_nothing_is_left_keeps_what_was_indexed(repo: Repo) -> None:
    repo.indexer.refresh()
    before = repo.graph()
    away = repo.root.rename(repo.root.with_name("away"))
    with pytest.raises(NothingToIndexError):
        repo.indexer.refresh()
    away.rename(repo.root)
    assert repo.graph() == before
    assert repo.indexer.refresh().changed == 0


def test_nothing_new_makes_no_generation(repo: Repo) -> None:
    repo.indexer.refresh()
    for _ in range(2):
        again = repo.indexer.refresh()
        assert (again.generation, again.changed, again.unchanged) == (1, 0, 2)
        repo.restart()


def test_changed_file_is_current_and_its_readers_too(repo: Repo) -> None:
    repo.indexer.refresh()
    repo.write("b.py", "def other():\n    return 1\n", OLD_NS + 1)
    report = repo.indexer.refresh()
    assert (report.generation, report.changed, report.unchanged) == (2, 1, 1)
    assert ("run", "helper") not in repo.calls()
    assert repo.graph() == from_scratch(repo.root, repo.pool)


def test_deleted_file_is_forgotten(repo: Repo) -> None:
    repo.indexer.refresh()
    (repo.root / "b.py").unlink()
    report = repo.indexer.refresh()
    assert (report.removed, report.changed) == (1, 0)
    assert repo.graph() == from_scratch(repo.root, repo.pool)


def test_touched_file_with_the_same_content_makes_no_generation(repo: Repo) -> None:
    repo.indexer.refresh()
    repo.write("b.py", "def helper():\n    return 1\n", OLD_NS + 5)
    assert repo.indexer.refresh().generation == 1
    repo.restart()
    assert repo.indexer.refresh().unchanged == 2


def test_edit_within_the_same_tick_and_size_is_found_by_the_next_refresh(repo: Repo) -> None:
    repo.write("b.py", "def helper():\n    return 1\n", None)  # written just now
    found = (repo.root / "b.py").stat()
    repo.indexer.refresh()
    (repo.root / "b.py").write_text("def helpex():\n    return 1\n")
    os.utime(repo.root / "b.py", ns=(found.st_mtime_ns, found.st_mtime_ns))
    assert repo.indexer.refresh().changed == 1
    assert ("run", "helper") not in repo.calls()


def test_file_that_becomes_binary_leaves_the_index_and_comes_back(repo: Repo) -> None:
    repo.indexer.refresh()
    text = (repo.root / "b.py").read_bytes()
    repo.write("b.py", b"\0\1\2", OLD_NS + 1)
    report = repo.indexer.refresh()
    assert (report.removed, report.skipped) == (1, {SkipReason.BINARY: 1})
    assert repo.graph() == from_scratch(repo.root, repo.pool)
    repo.write("b.py", text, OLD_NS + 2)
    assert repo.indexer.refresh().skipped == {}
    assert ("run", "helper") in repo.calls()
    assert repo.graph() == from_scratch(repo.root, repo.pool)


def test_skipped_files_make_no_generation_when_nothing_changes(repo: Repo) -> None:
    repo.write("logo.py", b"\0\0")
    repo.write(".env", "A=1\n")
    first = repo.indexer.refresh()
    assert first.skipped == {SkipReason.BINARY: 1, SkipReason.SECRET: 1}
    for _ in range(2):
        again = repo.indexer.refresh()
        assert (again.generation, again.skipped) == (first.generation, first.skipped)
        repo.restart()


def test_nothing_to_index_is_an_error_that_explains(tmp_path: Path, pool: ParsePool) -> None:
    repo = Repo(tmp_path, pool)
    repo.write("a.bin", b"\0\0")
    with pytest.raises(NothingToIndexError, match="1 binary"):
        repo.indexer.refresh()
    repo.catalog.close()


def test_hanging_file_is_counted_and_the_rest_indexed(tmp_path: Path) -> None:
    with ParsePool(1, timeout=0.5, command=FAULTY) as faulty:
        repo = Repo(tmp_path, faulty)
        repo.write("hang.py", "x = 1\n")
        repo.write("crash.py", "x = 1\n")
        repo.write("ok.py", "def f():\n    return 1\n")
        report = repo.indexer.refresh()
        assert report.skipped == {SkipReason.TIMEOUT: 1, SkipReason.CRASHED: 1}
        assert report.changed == 1
        # Not tried again until they change: a hang costs its timeout once.
        assert repo.indexer.refresh().skipped == report.skipped
        repo.catalog.close()


# --- some paths only --------------------------------------------------------------------------------------


def test_paths_changed_added_and_deleted_are_current(repo: Repo) -> None:
    repo.indexer.refresh()
    repo.write("b.py", "def helper():\n    return extra()\n\n\ndef extra():\n    return 2\n", None)
    repo.write("pkg/c.py", "from b import extra\n\n\ndef third():\n    extra()\n", None)
    repo.write("a.py", "", None)
    (repo.root / "a.py").unlink()
    report = repo.indexer.refresh_paths(["a.py", "b.py", "pkg/c.py"])
    assert (report.changed, report.removed) == (2, 1)
    assert ("third", "extra") in repo.calls()
    assert repo.graph() == from_scratch(repo.root, repo.pool)


def test_ignored_and_secret_paths_stay_out(repo: Repo) -> None:
    repo.write(".gitignore", "*.tmp.py\n")
    repo.indexer.refresh()
    repo.write("x.tmp.py", "def f():\n    return 1\n", None)
    repo.write(".env", "A=1\n", None)
    report = repo.indexer.refresh_paths(["x.tmp.py", ".env", "never/was.py"])
    assert (report.changed, report.skipped) == (0, {SkipReason.SECRET: 1})
    assert repo.graph() == from_scratch(repo.root, repo.pool)


def test_changed_ignore_file_looks_at_the_whole_tree(repo: Repo) -> None:
    repo.indexer.refresh()
    repo.write(".ctxsearchignore", "b.py\n", None)
    assert repo.indexer.refresh_paths([".ctxsearchignore"]).removed == 1
    assert repo.graph() == from_scratch(repo.root, repo.pool)


def test_moved_directory_is_followed(repo: Repo) -> None:
    repo.write("old/m.py", "def m():\n    return 1\n")
    repo.write("old/n.py", "def n():\n    return 1\n")
    repo.indexer.refresh()
    shutil.move(repo.root / "old", repo.root / "new")
    report = repo.indexer.refresh_paths(["old", "new"])
    assert (report.changed, report.removed) == (2, 2)
    assert repo.graph() == from_scratch(repo.root, repo.pool)


def test_file_in_a_submodule_is_refreshed_by_a_full_listing(repo: Repo, tmp_path: Path) -> None:
    library = ScratchRepository.create(tmp_path / "library")
    library.write("lib.py", "def lib():\n    return 1\n")
    library.commit()
    repo.scratch.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.root), "lib")
    repo.indexer.refresh()
    repo.write("lib/lib.py", "def changed():\n    return 1\n", None)
    repo.write("lib/new.py", "def new():\n    return 1\n", None)
    assert repo.indexer.refresh_paths(["lib/lib.py", "lib/new.py"]).changed == 2
    assert repo.graph() == from_scratch(repo.root, repo.pool)


def test_plain_directory_follows_the_rules_by_hand(tmp_path: Path, pool: ParsePool) -> None:
    root = tmp_path / "plain"
    root.mkdir()
    (root / ".gitignore").write_text("out/\n")
    (root / "a.py").write_text("def a():\n    return 1\n")
    with Catalog.open(tmp_path / "catalog.db") as catalog:
        indexer = RepositoryIndexer(root, catalog, workers=1, pool=pool)
        indexer.refresh()
        for path in ("out/x.py", "in/y.py", "in/deep/z.py"):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text("def f():\n    return 1\n")
        assert indexer.refresh_paths(["out/x.py", "out", "in"]).changed == 2
        assert everything(catalog) == from_scratch(root, pool)


# --- faults -----------------------------------------------------------------------------------------------


def test_full_disk_keeps_the_last_generation_and_the_next_refresh_heals(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo.indexer.refresh()
    before = repo.graph()
    repo.write("b.py", "def other():\n    return 1\n", OLD_NS + 1)

    def full(self: Writer, path: str, graph: object) -> None:
        raise CatalogFullError(repo.catalog.path, "disk full")

    with monkeypatch.context() as patch:
        patch.setattr(Writer, "replace", full)
        with pytest.raises(CatalogFullError):
            repo.indexer.refresh_paths(["b.py"])
    assert repo.graph() == before
    assert repo.catalog.generation == 1
    assert repo.indexer.refresh().generation == 2
    assert repo.graph() == from_scratch(repo.root, repo.pool)


@pytest.mark.parametrize("phase", ["list", "parse", "resolve", "commit"])
def test_refresh_cancelled_in_any_phase_leaves_the_last_generation(repo: Repo, phase: str) -> None:
    repo.indexer.refresh()
    before = repo.graph()
    repo.write("b.py", "def other():\n    return 1\n", OLD_NS + 1)

    def cancel(current: str, done: int, total: int) -> None:
        if current == phase:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        repo.indexer.refresh(cancel)
    assert (repo.catalog.generation, repo.graph()) == (1, before)
    repo.indexer.refresh()
    assert repo.graph() == from_scratch(repo.root, repo.pool)


def test_lost_facts_are_parsed_again(repo: Repo) -> None:
    repo.indexer.refresh()
    with sqlite3.connect(repo.catalog.path) as database:
        database.execute("DELETE FROM facts")
    database.close()
    repo.restart()
    repo.write("a.py", "from b import helper\n\n\ndef again():\n    helper()\n", OLD_NS + 1)
    repo.indexer.refresh_paths(["a.py"])
    assert ("again", "helper") in repo.calls()
    assert repo.graph() == from_scratch(repo.root, repo.pool)


def test_damaged_facts_are_parsed_again(repo: Repo) -> None:
    repo.indexer.refresh()
    with sqlite3.connect(repo.catalog.path) as database:
        database.execute("UPDATE facts SET data = zeroblob(length(data))")
    database.close()
    repo.restart()
    repo.write("a.py", "from b import helper\n\n\ndef again():\n    helper()\n", OLD_NS + 1)
    repo.indexer.refresh()
    assert repo.graph() == from_scratch(repo.root, repo.pool)


def test_other_extractor_version_reads_everything_again(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.indexer.refresh()
    monkeypatch.setattr(index, "EXTRACTOR_VERSION", index.EXTRACTOR_VERSION + 1)
    repo.restart()
    assert repo.indexer.refresh().changed == 2
    assert repo.indexer.refresh().changed == 0


def test_other_graph_version_resolves_everything_again(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    repo.indexer.refresh()
    monkeypatch.setattr(index, "_GRAPH_VERSION", "other")
    repo.restart()
    assert repo.indexer.refresh().resolved == 2
    assert repo.indexer.refresh().resolved == 0
    assert repo.graph() == from_scratch(repo.root, repo.pool)


def test_content_that_returns_is_not_parsed_again(repo: Repo) -> None:
    first = "def first():\n    return 1\n"
    repo.write("crash.py", first)
    repo.indexer.refresh()
    repo.write("crash.py", "def second():\n    return 1\n", OLD_NS + 1)
    repo.indexer.refresh()
    repo.write("crash.py", first, OLD_NS + 2)
    with ParsePool(1, command=FAULTY) as faulty:  # would crash if it had to parse that name
        repo.restart(faulty)
        report = repo.indexer.refresh()
    assert (report.changed, report.skipped) == (1, {})
    assert repo.graph() == from_scratch(repo.root, repo.pool)


# --- incremental equals from scratch ----------------------------------------------------------------------

NAMES = st.sampled_from(["f", "g", "h"])
MODULES = st.sampled_from(["m", "n", "pkg/o"])
BODIES = st.one_of(
    st.tuples(NAMES, NAMES).map(lambda n: f"def {n[0]}():\n    {n[1]}()\n"),
    st.tuples(MODULES, NAMES, NAMES).map(
        lambda n: f"from {n[0].replace('/', '.')} import {n[1]}\n\n\ndef {n[2]}():\n    {n[1]}()\n"
    ),
    st.tuples(NAMES, NAMES).map(
        lambda n: f"class A:\n    def {n[0]}(self):\n        self.{n[1]}()\n\n    def {n[1]}(self):\n        pass\n"
    ),
    st.just("def f(:\n"),
)
EDITS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), MODULES, BODIES),
        st.tuples(st.just("delete"), MODULES, st.just("")),
        st.tuples(st.just("binary"), MODULES, st.just("")),
        st.tuples(st.just("restart"), MODULES, st.just("")),
        st.tuples(st.just("refresh"), MODULES, st.just("")),
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=15, deadline=None)
@given(edits=EDITS)
def test_any_sequence_of_edits_equals_an_index_from_scratch(pool: ParsePool, edits: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as place:
        repo = Repo(Path(place), pool)
        repo.write("pkg/__init__.py", "", None)
        repo.indexer.refresh()
        for action, module, body in edits:
            target = repo.root / f"{module}.py"
            if action == "write":
                repo.write(f"{module}.py", body, None)
            elif action == "delete":
                target.unlink(missing_ok=True)
            elif action == "binary":
                repo.write(f"{module}.py", b"\0", None)
            if action == "restart":
                repo.restart()
            elif action == "refresh":
                repo.indexer.refresh()
            else:
                repo.indexer.refresh_paths([f"{module}.py"])
        assert repo.graph() == from_scratch(repo.root, pool)
        repo.catalog.close()
