"""Line history: equal to `git blame --first-parent`, equal to itself however it was reached, and bounded."""

from __future__ import annotations

import random
import shutil
import sqlite3
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scratch_repository import DAY, EPOCH, ScratchRepository

from ctxsearch.graph.attribution import UNATTRIBUTED
from ctxsearch.graph.git import Git
from ctxsearch.graph.history import (
    BulkRule,
    History,
    HistoryStore,
    Horizon,
    NodeHistories,
    NodeHistory,
    NodeRanges,
    Refreshed,
    Selection,
    Source,
    Watched,
    describe,
    refresh,
    without_git,
)
from ctxsearch.graph.node_history import WORK_TREE, CommitFlag

ALL = Horizon(days=None)
PYTHON = Selection((".py",))


class Reader:
    """A repository with its store, and questions about single nodes."""

    def __init__(self, root: Path, store_file: Path, horizon: Horizon = ALL, bulk: BulkRule | None = None):
        git = Git.open(root)
        assert git is not None
        self.git, self.horizon, self.bulk = git, horizon, bulk
        self.store = HistoryStore.open(store_file)
        self.refreshed: Refreshed | None = None

    def refresh(self) -> Refreshed:
        previous = self.refreshed.history if self.refreshed else None
        self.refreshed = refresh(self.git, self.store, PYTHON, self.horizon, previous, bulk=self.bulk)
        return self.refreshed

    @property
    def history(self) -> History:
        return (self.refreshed or self.refresh()).history

    def node(self, path: str, start: int, end: int, signature: tuple[int, int] = (0, 0)) -> NodeHistory:
        nodes = self.history.nodes(NodeRanges.of([(path, start, end, *signature)]))
        return describe(self.history, self.store, nodes, 0, path)

    def owners(self, path: str, count: int) -> list[str]:
        lines = self.history.files.get(path, self.history.default).owners_of(count)
        return [self.name(int(number)) for number in lines]

    def name(self, number: int) -> str:
        if number in (WORK_TREE, UNATTRIBUTED):
            return {WORK_TREE: "work tree", UNATTRIBUTED: "older"}[number]
        return self.store.commit(number)[0].id


@pytest.fixture
def repository(tmp_path: Path) -> ScratchRepository:
    return ScratchRepository.create(tmp_path / "repo")


@pytest.fixture
def reader(repository: ScratchRepository, tmp_path: Path) -> Reader:
    return Reader(repository.root, tmp_path / "history.sqlite")


def blame(repository: ScratchRepository, path: str) -> list[str]:
    text = repository.git("blame", "--first-parent", "-l", "-s", "--root", "HEAD", "--", path)
    return [line.split(" ")[0] for line in text.splitlines()]


def test_a_node_has_the_last_commit_that_wrote_one_of_its_lines(repository: ScratchRepository, reader: Reader) -> None:
    repository.write("a.py", ["def f():", "    one", "", "def g():", "    two"])
    first = repository.commit("first")
    repository.author = "grace"
    repository.write("a.py", ["def f():", "    ONE", "", "def g():", "    two"])
    second = repository.commit("Fix the one")
    touched, untouched = reader.node("a.py", 1, 2, (1, 1)), reader.node("a.py", 4, 5, (4, 4))
    assert (touched.commit, touched.author, touched.subject) == (second, "grace", "Fix the one")
    assert (touched.time, touched.position, touched.source) == (EPOCH + 2 * DAY, 0, Source.GIT)
    assert (touched.commits, touched.authors, touched.fixes) == (2, 2, 1)
    assert (touched.signature_commit, touched.signature_time) == (first, EPOCH + DAY)
    assert (untouched.commit, untouched.position, untouched.commits) == (first, 1, 1)
    assert (untouched.authors, untouched.fixes) == (1, 0)


def test_deleting_a_line_touches_the_node_but_owns_no_line(repository: ScratchRepository, reader: Reader) -> None:
    repository.write("a.py", ["def f():", "    one", "    two", "", "x = 1"])
    first = repository.commit()
    repository.write("a.py", ["def f():", "    two", "", "x = 1"])
    repository.commit()
    node = reader.node("a.py", 1, 2)
    assert (node.commit, node.commits) == (first, 2)
    assert reader.node("a.py", 4, 4).commits == 1


def test_several_hunks_of_one_commit_count_once(repository: ScratchRepository, reader: Reader) -> None:
    repository.write("a.py", [f"line {n}" for n in range(20)])
    repository.commit()
    repository.write("a.py", [f"line {n}" if n % 5 else f"LINE {n}" for n in range(20)])
    repository.commit()
    assert reader.node("a.py", 1, 20).commits == 2


def test_lines_that_were_overwritten_since_still_count_as_touches(
    repository: ScratchRepository, reader: Reader
) -> None:
    for value in range(4):
        repository.write("a.py", ["def f():", f"    return {value}", "", "def g():", "    pass"])
        repository.commit(f"value {value}")
    assert reader.node("a.py", 1, 2).commits == 4
    assert reader.node("a.py", 4, 5).commits == 1


def test_renames_are_followed(repository: ScratchRepository, reader: Reader) -> None:
    repository.write("old.py", [f"line {n}" for n in range(10)])
    first = repository.commit()
    repository.git("mv", "old.py", "new.py")
    repository.write("new.py", ["changed", *(f"line {n}" for n in range(1, 10))])
    second = repository.commit("rename")
    assert reader.owners("new.py", 10) == [second] + [first] * 9
    assert "old.py" not in reader.history.files


def test_a_name_used_twice_has_two_lives(repository: ScratchRepository, reader: Reader) -> None:
    repository.write("a.py", [f"first life {n}" for n in range(10)])
    first = repository.commit()
    repository.git("mv", "a.py", "b.py")
    repository.commit("move away")
    repository.write("a.py", [f"second life {n}" for n in range(5)])
    second = repository.commit("again")
    assert reader.owners("a.py", 5) == [second] * 5
    assert reader.owners("b.py", 10) == [first] * 10


def test_merges_count_as_one_commit_of_the_first_parent(repository: ScratchRepository, reader: Reader) -> None:
    repository.write("a.py", ["one", "two", "three"])
    first = repository.commit()
    repository.git("switch", "-q", "-c", "side")
    repository.write("a.py", ["one", "two", "THREE"])
    repository.commit("on the side")
    repository.git("switch", "-q", "main")
    repository.write("b.py", ["main"])
    repository.commit("on main")
    repository.now += DAY
    repository.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    assert reader.owners("a.py", 3) == [first, first, repository.head()]


def test_an_octopus_merge_is_one_commit(repository: ScratchRepository, reader: Reader) -> None:
    repository.write("a.py", ["base"])
    repository.commit()
    for name in ("x", "y", "z"):
        repository.git("switch", "-q", "-c", name, "main")
        repository.write(f"{name}.py", [name])
        repository.commit(name)
    repository.git("switch", "-q", "main")
    repository.git("merge", "-q", "--no-ff", "-m", "octopus", "x", "y", "z")
    assert [reader.owners(f"{name}.py", 1) for name in "xyz"] == [[repository.head()]] * 3


def test_listed_commits_are_looked_through(repository: ScratchRepository, reader: Reader) -> None:
    repository.write("a.py", ["def f(a,b):", "  return a", "x=1"])
    first = repository.commit()
    repository.write("a.py", ["def f(", "    a, b", "):", "    return a", "x=1", "added = 2"])
    reformat = repository.commit("reformat")
    repository.write(".git-blame-ignore-revs", ["# style", f"{reformat}  # black"])
    repository.commit("ignore it")
    assert reader.owners("a.py", 6) == [first] * 5 + [reformat]
    assert reader.node("a.py", 1, 4).commits == 1


def test_a_list_that_changes_changes_old_answers(repository: ScratchRepository, reader: Reader) -> None:
    repository.write("a.py", ["x=1"])
    first = repository.commit()
    repository.write("a.py", ["x = 1"])
    reformat = repository.commit("reformat")
    reader.refresh()
    assert reader.owners("a.py", 1) == [reformat]
    repository.write(".git-blame-ignore-revs", [reformat])
    repository.commit("ignore it")
    assert reader.refresh().changed is None
    assert reader.owners("a.py", 1) == [first]


def test_bulk_commits_are_recognised_by_their_size(repository: ScratchRepository, tmp_path: Path) -> None:
    names = [f"m{n}.py" for n in range(12)]
    for name in names:
        repository.write(name, ["x=1", "y=2"])
    first = repository.commit()
    for name in names:
        repository.write(name, ["x = 1", "y=2"])
    bulk = repository.commit("spaces")
    looking_through = Reader(repository.root, tmp_path / "a.sqlite", bulk=BulkRule(files=10))
    plain = Reader(repository.root, tmp_path / "b.sqlite", bulk=BulkRule.never())
    assert looking_through.owners("m0.py", 2) == [first, first]
    assert looking_through.history.commits.flags[looking_through.history.chain].tolist() == [
        CommitFlag.BULK,
        CommitFlag.NONE,
    ]
    assert plain.owners("m0.py", 2) == [bulk, first]


def test_a_shallow_clone_stops_before_its_graft(repository: ScratchRepository, tmp_path: Path) -> None:
    for value in range(4):
        repository.write("a.py", ["constant", f"value {value}"])
        repository.commit(f"value {value}")
    clone = tmp_path / "clone"
    repository.git("clone", "-q", "--depth", "2", f"file://{repository.root}", str(clone))
    reader = Reader(clone, tmp_path / "shallow.sqlite")
    assert reader.owners("a.py", 2) == ["older", repository.head()]
    assert reader.node("a.py", 1, 1).source is Source.SHALLOW
    assert not reader.node("a.py", 1, 1).older_than_horizon
    assert reader.node("a.py", 1, 2).source is Source.GIT


def test_unshallowing_finds_the_rest(repository: ScratchRepository, tmp_path: Path) -> None:
    repository.write("a.py", ["constant", "one"])
    first = repository.commit()
    repository.write("a.py", ["constant", "two"])
    second = repository.commit()
    clone = tmp_path / "clone"
    repository.git("clone", "-q", "--depth", "1", f"file://{repository.root}", str(clone))
    reader = Reader(clone, tmp_path / "shallow.sqlite")
    assert reader.owners("a.py", 2) == ["older", "older"]
    repository.git("fetch", "-q", "--unshallow", cwd=clone)
    reader.refresh()
    assert reader.owners("a.py", 2) == [first, second]


def test_a_partial_clone_keeps_what_could_be_read(repository: ScratchRepository, tmp_path: Path) -> None:
    repository.git("config", "uploadpack.allowFilter", "true")
    for value in range(3):
        repository.write("a.py", ["constant", f"value {value}"])
        repository.commit(f"value {value}")
    repository.write("b.py", ["new"])
    newest = repository.commit("new file")
    clone = tmp_path / "clone"
    repository.git("clone", "-q", "--filter=blob:none", f"file://{repository.root}", str(clone))
    repository.git("remote", "set-url", "origin", "file:///nonexistent", cwd=clone)
    reader = Reader(clone, tmp_path / "partial.sqlite")
    assert reader.owners("b.py", 1) == [newest]
    assert reader.node("a.py", 1, 2).source is Source.SHALLOW


def test_no_commits_is_all_work_tree(repository: ScratchRepository, reader: Reader) -> None:
    repository.write("a.py", ["one"])
    node = reader.node("a.py", 1, 1)
    assert (node.source, node.uncommitted, node.commit) == (Source.WORKTREE, True, None)


def test_no_git_is_none() -> None:
    history = without_git()
    nodes = history.nodes(NodeRanges.of([("a.py", 1, 5, 1, 1)]))
    assert history.sources_of(["a.py"], history.positions_of(nodes.last)).tolist() == [Source.NONE]


def test_submodules_are_somebody_elses(repository: ScratchRepository, reader: Reader, tmp_path: Path) -> None:
    inner = ScratchRepository.create(tmp_path / "inner")
    inner.write("in.py", ["inner"])
    inner.commit()
    repository.write("a.py", ["outer"])
    repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.root), "lib/sub")
    repository.commit()
    assert reader.node("lib/sub/in.py", 1, 1).source is Source.NONE
    assert reader.node("a.py", 1, 1).source is Source.GIT
    own = Reader(repository.root / "lib" / "sub", tmp_path / "sub.sqlite")
    assert own.owners("in.py", 1) == [inner.head()]


def test_worktrees_share_commits_and_differ_in_lines(repository: ScratchRepository, tmp_path: Path) -> None:
    repository.write("a.py", ["one", "two"])
    first = repository.commit()
    repository.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    repository.write("a.py", ["one", "TWO"])
    second = repository.commit()
    file = tmp_path / "shared.sqlite"
    main, side = Reader(repository.root, file), Reader(tmp_path / "side", file)
    assert main.refresh().commits_read == 2
    assert side.refresh().commits_read == 0
    assert main.owners("a.py", 2) == [first, second]
    assert side.owners("a.py", 2) == [first, first]


def test_times_never_run_backwards(repository: ScratchRepository, reader: Reader) -> None:
    repository.write("a.py", ["one"])
    repository.commit(after=1000 * DAY)  # from the future
    repository.write("b.py", ["two"])
    repository.commit(after=-999 * DAY)
    assert reader.history.clock == EPOCH + DAY
    assert reader.node("a.py", 1, 1).time == EPOCH + DAY


def test_the_horizon_needs_both_days_and_commits(repository: ScratchRepository, tmp_path: Path) -> None:
    for value in range(6):
        repository.write(f"m{value}.py", [str(value)])
        repository.commit(after=100 * DAY)

    def known(horizon: Horizon) -> int:
        reader = Reader(repository.root, tmp_path / f"{horizon}.sqlite", horizon)
        return sum(reader.node(f"m{n}.py", 1, 1).commit is not None for n in range(6))

    assert known(Horizon(days=250, commits=1)) == 3
    assert known(Horizon(days=250, commits=5)) == 5
    assert known(Horizon(days=None)) == 6
    beyond = Reader(repository.root, tmp_path / "x.sqlite", Horizon(days=250, commits=1)).node("m0.py", 1, 1)
    assert (beyond.source, beyond.older_than_horizon) == (Source.GIT, True)


def test_a_head_further_back_looks_further_back(repository: ScratchRepository, tmp_path: Path) -> None:
    for value in range(6):
        repository.write(f"m{value}.py", [str(value)])
        repository.commit(after=100 * DAY)
    horizon = Horizon(days=250, commits=1)
    reader = Reader(repository.root, tmp_path / "walk.sqlite", horizon)
    reader.refresh()
    repository.git("switch", "-q", "--detach", "HEAD~2")
    reader.refresh()
    assert [reader.node(f"m{n}.py", 1, 1).commit is not None for n in range(4)] == [False, True, True, True]
    assert_same(reader.history, Reader(repository.root, tmp_path / "new.sqlite", horizon).history)


def test_what_falls_behind_the_horizon_has_changed(repository: ScratchRepository, tmp_path: Path) -> None:
    for value in range(4):
        repository.write(f"m{value}.py", [str(value)])
        repository.commit(after=100 * DAY)
    reader = Reader(repository.root, tmp_path / "walk.sqlite", Horizon(days=250, commits=1))
    reader.refresh()
    assert reader.node("m1.py", 1, 1).commits == 1
    repository.write("m4.py", ["4"])
    repository.commit(after=100 * DAY)
    assert reader.refresh().changed == {"m1.py", "m4.py"}
    assert reader.node("m1.py", 1, 1).commits == 0


def test_a_name_that_moved_away_stays_away_when_a_newer_use_is_undone(
    repository: ScratchRepository, reader: Reader, tmp_path: Path
) -> None:
    repository.write("a.py", [f"line {n}" for n in range(10)])
    repository.commit()
    repository.git("mv", "a.py", "b.py")
    repository.commit("move")
    repository.write("a.py", ["something else"])
    repository.commit("use the name again")
    reader.refresh()
    repository.git("reset", "-q", "--hard", "HEAD~1")
    reader.refresh()
    assert "a.py" not in reader.history.files
    assert_same(reader.history, Reader(repository.root, tmp_path / "fresh.sqlite").history)


def test_a_commit_that_comes_within_the_horizon_changes_files_that_were_renamed_since(
    repository: ScratchRepository, tmp_path: Path
) -> None:
    repository.write("a.py", ["one"])
    first = repository.commit(after=300 * DAY)
    repository.git("mv", "a.py", "b.py")
    repository.commit("rename", after=200 * DAY)
    repository.write("c.py", ["two"])
    repository.commit(after=100 * DAY)
    reader = Reader(repository.root, tmp_path / "walk.sqlite", Horizon(days=250, commits=1))
    assert reader.owners("b.py", 1) == ["older"]
    repository.git("reset", "-q", "--hard", "HEAD~1")
    assert "b.py" in (reader.refresh().changed or ())
    assert reader.owners("b.py", 1) == [first]


def watched(state: str, *changed: str) -> Watched:
    return Watched(state, lambda since: changed if since != "unknown" else None)


def test_only_files_that_may_differ_are_looked_at(repository: ScratchRepository, tmp_path: Path) -> None:
    git, store = Git.open(repository.root), HistoryStore.open(tmp_path / "history.sqlite")
    assert git is not None

    def dirty(seen: Watched | None) -> set[str]:
        files = refresh(git, store, PYTHON, ALL, watched=seen).history.files
        return {path for path, lines in files.items() if WORK_TREE in lines.owners_of(1).tolist()}

    for name in ("a.py", "b.py", "c.py"):
        repository.write(name, [name])
    repository.commit()
    assert dirty(watched("1")) == set()
    for name in ("a.py", "b.py", "new.py"):
        repository.write(name, ["changed"])
    assert dirty(watched("2", "a.py")) == {"a.py"}  # nothing was said of the others
    repository.git("add", "b.py")
    assert dirty(watched("3")) == {"a.py", "b.py"}  # what is staged costs no look at files
    assert dirty(watched("unknown", "new.py")) == {"a.py", "b.py", "new.py"}
    repository.git("rm", "-q", "-f", "a.py")
    assert dirty(watched("4", "c.py")) == {"b.py", "new.py"}  # all is looked at after a state that nobody knows
    repository.write("c.py", ["changed"])
    assert dirty(None) == {"b.py", "c.py", "new.py"}
    repository.write("d.py", ["changed"])
    assert dirty(watched("5")) == {"b.py", "c.py", "d.py", "new.py"}  # and after a look that nobody watched


def test_what_an_undone_commit_had_changed_is_looked_at(repository: ScratchRepository, tmp_path: Path) -> None:
    git, store = Git.open(repository.root), HistoryStore.open(tmp_path / "history.sqlite")
    assert git is not None
    repository.write("a.py", ["one", "two"])
    first = repository.commit()
    repository.write("a.py", ["one", "TWO"])
    repository.commit()
    refresh(git, store, PYTHON, ALL, watched=watched("1"))
    repository.git("reset", "-q", "--mixed", "HEAD~1")
    history = refresh(git, store, PYTHON, ALL, watched=watched("2")).history
    owners = history.files["a.py"].owners_of(2)
    assert [store.commit(int(owners[0]))[0].id, owners[1]] == [first, WORK_TREE]


def test_reverts_are_known_on_both_sides(repository: ScratchRepository, reader: Reader) -> None:
    repository.write("a.py", ["one"])
    repository.commit("start")
    repository.write("a.py", ["two"])
    repository.commit("Add two (#7)")
    repository.write("b.py", ["kept by mistake"])
    repository.now += DAY
    repository.git("revert", "--no-edit", "HEAD")
    flags = reader.history.commits.flags[reader.history.chain].tolist()
    assert flags == [CommitFlag.REVERT, CommitFlag.REVERTED, CommitFlag.NONE]


@pytest.mark.parametrize(
    ("subject", "is_fix"),
    [
        ("Fix crash on empty input", True),
        ("fix(parser): handle tabs", True),
        ("Fixed #123 -- Added a feature.", False),
        ("Fixed #123 -- Fixed crash in admin.", True),
        ("Add prefix option", False),
        ("Prevent regression in sorting", True),
        ("Bump version", False),
    ],
)
def test_fixes_are_told_from_ticket_numbers(
    repository: ScratchRepository, reader: Reader, subject: str, is_fix: bool
) -> None:
    repository.write("a.py", ["x"])
    repository.commit(subject)
    assert bool(reader.history.commits.flags[reader.history.chain[0]] & CommitFlag.FIX) is is_fix


def test_the_work_tree_is_newer_than_head(repository: ScratchRepository, reader: Reader) -> None:
    repository.write("a.py", ["one", "two", "three"])
    repository.write("gone.py", ["x"])
    first = repository.commit()
    repository.write("a.py", ["zero", "one", "TWO", "three"])
    repository.write("new.py", ["untracked"])
    repository.write(".gitignore", ["ignored.py"])
    repository.write("ignored.py", ["x"])
    (repository.root / "gone.py").unlink()
    assert reader.owners("a.py", 4) == ["work tree", first, "work tree", first]
    assert reader.owners("new.py", 1) == ["work tree"]
    assert "ignored.py" not in reader.history.files
    node = reader.node("a.py", 1, 4)
    assert (node.source, node.uncommitted, node.commit, node.commits) == (Source.WORKTREE, True, None, 1)


def test_staged_renames_keep_their_lines(repository: ScratchRepository, reader: Reader) -> None:
    repository.write("a.py", [f"line {n}" for n in range(10)])
    first = repository.commit()
    repository.git("mv", "a.py", "b.py")
    repository.write("b.py", [*(f"line {n}" for n in range(10)), "more"])
    repository.git("add", "-A")
    assert reader.owners("b.py", 11) == [first] * 10 + ["work tree"]


def test_only_what_changed_is_read_again(repository: ScratchRepository, reader: Reader) -> None:
    for name in ("a.py", "b.py", "c.py"):
        repository.write(name, [name])
    repository.commit()
    assert reader.refresh().changed is None
    assert reader.refresh().changed == frozenset()
    repository.write("b.py", ["edited"])
    edited = reader.refresh()
    assert (edited.changed, edited.commits_read) == ({"b.py"}, 0)
    repository.commit()
    committed = reader.refresh()
    assert (committed.changed, committed.commits_read) == ({"b.py"}, 1)
    assert reader.refresh().changed == frozenset()


def test_a_force_push_leaves_nothing_of_the_old_branch(
    repository: ScratchRepository, reader: Reader, tmp_path: Path
) -> None:
    repository.write("a.py", ["one", "two"])
    repository.commit()
    repository.write("a.py", ["one", "lost"])
    repository.commit("lost")
    reader.refresh()
    repository.git("reset", "-q", "--hard", "HEAD~1")
    repository.write("a.py", ["kept", "two"])
    repository.commit("kept")
    reader.refresh()
    assert reader.owners("a.py", 2) == blame(repository, "a.py")
    assert_same(reader.history, Reader(repository.root, tmp_path / "fresh.sqlite").history)


def test_touched_and_reverted_keeps_the_blob_but_not_the_owner(repository: ScratchRepository, reader: Reader) -> None:
    repository.write("a.py", ["one"])
    repository.commit()
    reader.refresh()
    repository.write("a.py", ["two"])
    repository.commit()
    repository.write("a.py", ["one"])
    last = repository.commit()
    reader.refresh()
    assert reader.owners("a.py", 1) == [last]


def test_hostile_lines_in_hunks_are_not_headers(repository: ScratchRepository, reader: Reader) -> None:
    tricky = ["++ b/x.py", "-- a/x.py", "@@ -1,9 +1,9 @@", "diff --git a/x b/x", "\x01" + "0" * 40, "rename to q"]
    repository.write("a.py", tricky)
    first = repository.commit()
    repository.write("a.py", [*tricky[:3], "changed", *tricky[4:]])
    second = repository.commit("\x01 diff --git a/a.py b/a.py")
    assert reader.owners("a.py", 6) == [first] * 3 + [second] + [first] * 2


@pytest.mark.parametrize("name", ["with space.py", "tab\there.py", 'quo"te.py', "nön-ascii.py", "b\\slash.py", " b.py"])
def test_unusual_names(repository: ScratchRepository, reader: Reader, name: str) -> None:
    repository.write(name, ["one", "two"])
    first = repository.commit()
    repository.write(name, ["one", "TWO"])
    assert reader.owners(name, 2) == [first, "work tree"]
    second = repository.commit()
    repository.git("mv", name, f"moved {name}")
    repository.commit()
    reader.refresh()
    assert reader.owners(f"moved {name}", 2) == [first, second]


def test_files_that_git_calls_binary_have_lines(repository: ScratchRepository, reader: Reader) -> None:
    repository.write("a.py", "eins\nzwei\n".encode("utf-16"))
    first = repository.commit()
    repository.write("a.py", "eins\nZWEI\n".encode("utf-16"))
    repository.write(".gitattributes", ["*.py binary"])
    second = repository.commit()
    assert reader.owners("a.py", 2) == [first, second]


def test_a_file_without_a_last_newline(repository: ScratchRepository, reader: Reader) -> None:
    repository.write("a.py", "one\ntwo")
    first = repository.commit()
    repository.write("a.py", "one\ntwo\nthree")
    repository.commit()
    assert reader.owners("a.py", 3) == blame(repository, "a.py") == [first, repository.head(), repository.head()]


def test_a_damaged_store_is_rebuilt_and_said(repository: ScratchRepository, tmp_path: Path) -> None:
    repository.write("a.py", ["one"])
    first = repository.commit()
    file = tmp_path / "history.sqlite"
    reader = Reader(repository.root, file)
    reader.refresh()
    reader.store.close()
    file.write_bytes(b"not a database at all, sorry" * 100)
    again = Reader(repository.root, file)
    assert again.owners("a.py", 1) == [first]
    assert again.refreshed is not None
    assert "damaged" in str(again.refreshed.rebuilt)


def test_damage_met_while_reading_is_rebuilt_and_said(repository: ScratchRepository, reader: Reader) -> None:
    repository.write("a.py", ["one"])
    first = repository.commit()
    reader.refresh()
    repository.write("b.py", ["two"])
    repository.commit()
    real = reader.store.view

    def broken(git_dir: Path) -> None:
        reader.store.view = real  # type: ignore[method-assign]
        raise sqlite3.DatabaseError("database disk image is malformed")

    reader.store.view = broken  # type: ignore[assignment, method-assign]
    assert "malformed" in str(reader.refresh().rebuilt)
    assert reader.owners("a.py", 1) == [first]


def test_a_store_of_another_version_is_rebuilt_and_said(repository: ScratchRepository, tmp_path: Path) -> None:
    file = tmp_path / "history.sqlite"
    HistoryStore.open(file).close()
    with sqlite3.connect(file) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    assert "format 99" in str(HistoryStore.open(file).rebuilt)


def test_another_selection_is_another_history(repository: ScratchRepository, tmp_path: Path) -> None:
    repository.write("a.py", ["one"])
    repository.write("b.js", ["two"])
    repository.commit()
    store = HistoryStore.open(tmp_path / "history.sqlite")
    git = Git.open(repository.root)
    assert git is not None
    assert set(refresh(git, store, Selection((".py",))).history.files) == {"a.py"}
    both = refresh(git, store, Selection((".js",), ("a.py",))).history
    assert set(both.files) == {"a.py", "b.js"}
    last = both.positions_of(np.full(2, UNATTRIBUTED, np.int32))
    assert both.sources_of(["b.js", "c.rs"], last).tolist() == [Source.GIT, Source.NONE]


def test_a_folder_of_a_repository_has_its_own_paths(repository: ScratchRepository, reader: Reader) -> None:
    repository.write("a.py", ["one"])
    repository.write("src/pkg/a.py", ["two"])
    repository.commit()
    beneath = reader.history.beneath("src/pkg")
    assert list(beneath.files) == ["a.py"]
    assert beneath.files["a.py"] is reader.history.files["src/pkg/a.py"]
    assert reader.history.beneath("") is reader.history


# properties


PROBES = [(start, start + 5, start, start) for start in range(1, 30, 4)]


def told(history: History, paths: list[str]) -> dict[str, object]:
    """All that a history says, but for the numbers that its commits happen to have."""
    nodes = history.nodes(NodeRanges.of([(path, *probe) for path in paths for probe in PROBES]))
    owners = {path: history.files.get(path, history.default).owners_of(40) for path in paths}
    return {
        "head": (history.head, history.source, history.foreign),
        "times": history.times.tolist(),
        "flags": history.commits.flags[history.chain].tolist(),
        "owners": {path: history.positions_of(numbers).tolist() for path, numbers in owners.items()},
        "last": history.positions_of(nodes.last).tolist(),
        "oldest": history.positions_of(nodes.oldest).tolist(),
        "signature": history.positions_of(nodes.signature).tolist(),
        "counts": (nodes.commits.tolist(), nodes.authors.tolist(), nodes.fixes.tolist()),
    }


def assert_same(one: History, other: History) -> None:
    paths = sorted({*one.files, *other.files})
    assert told(one, paths) == told(other, paths)


STEPS = st.sampled_from(
    [
        *("edit", "edit", "commit", "rename", "delete", "merge", "revert", "switch", "rewrite", "move"),
        *("stage", "unstage", "uncommit", "leap", "refresh", "refresh", "refresh", "refresh"),
    ]
)
NAMES = ("a.py", "b.py", "pkg/c.py", "pkg/d.py")


class RandomWorld:
    """A random repository, changed step by step with real git."""

    def __init__(self, root: Path, seed: int):
        self.random = random.Random(seed)
        self.repository = ScratchRepository.create(root)
        for name in NAMES[:2]:
            self.repository.write(name, self._lines())
        self.repository.commit("start")

    def _lines(self) -> list[str]:
        return [f"line {self.random.randrange(8)}" for _ in range(self.random.randrange(1, 14))]

    def files(self) -> list[str]:
        return sorted(str(p.relative_to(self.repository.root)) for p in self.repository.root.rglob("*.py"))

    def edit(self) -> None:
        name = self.random.choice(NAMES)
        target = self.repository.root / name
        lines = target.read_text().splitlines() if target.exists() else []
        at = self.random.randrange(len(lines) + 1)
        lines[at : at + self.random.randrange(4)] = self._lines()[: self.random.randrange(5)]
        self.repository.write(name, lines)

    def commit(self) -> None:
        self.repository.author = self.random.choice(("ada", "grace"))
        days = self.random.choice((1, 1, 30, 200, -20))
        self.repository.commit(self.random.choice(("work", "Fix it", 'Revert "work"')), after=days * DAY)

    def rename(self) -> None:
        files = self.files()
        if files:
            source, target = self.random.choice(files), self.random.choice(NAMES)
            (self.repository.root / target).parent.mkdir(exist_ok=True)
            (self.repository.root / source).replace(self.repository.root / target)
            self.commit()

    def delete(self) -> None:
        files = self.files()
        if len(files) > 1:
            (self.repository.root / self.random.choice(files)).unlink()

    def merge(self) -> None:
        self.commit()
        start = self.repository.head()
        self.repository.git("switch", "-q", "--detach", "HEAD~1" if self._depth() > 1 else "HEAD")
        self.edit()
        self.commit()
        side = self.repository.head()
        self.repository.git("switch", "-q", "--detach", start)
        strategy = ("-X", "ours") if self._merges(start, side) else ("-s", "ours")
        self.repository.git("merge", "-q", "--no-ff", *strategy, "-m", "merge", side)

    def _merges(self, one: str, other: str) -> bool:
        try:
            self.repository.git("merge-tree", "--write-tree", one, other)
        except subprocess.CalledProcessError:
            return False
        return True

    def _depth(self) -> int:
        return int(self.repository.git("rev-list", "--count", "--first-parent", "HEAD"))

    def revert(self) -> None:
        self.commit()
        if self._depth() > 1:
            self.repository.git("checkout", "-q", "HEAD~1", "--", ".")
            self.commit()

    def switch(self) -> None:
        self.commit()
        if self._depth() > 2:
            back = self.random.randrange(1, min(self._depth(), 4))
            self.repository.git("switch", "-q", "--detach", f"HEAD~{back}")

    def move(self) -> None:
        files = self.files()
        if files:
            (self.repository.root / "pkg").mkdir(exist_ok=True)
            source, target = self.random.choice(files), self.random.choice(NAMES)
            (self.repository.root / source).replace(self.repository.root / target)

    def stage(self) -> None:
        names = self.random.sample(NAMES, 2)
        for name in names:
            if name in self.files() or self.repository.git("ls-files", "--", name):
                self.repository.git("add", "-A", "--", name)

    def unstage(self) -> None:
        self.repository.git("reset", "-q")

    def uncommit(self) -> None:
        if self._depth() > 2:
            self.repository.git("reset", "-q", self.random.choice(("--soft", "--mixed")), "HEAD~1")

    def leap(self) -> None:
        """To a history that has nothing in common with this one."""
        self.commit()
        self.repository.git("checkout", "-q", "--orphan", f"branch{self.random.randrange(1 << 30)}")
        self.edit()
        self.commit()

    def rewrite(self) -> None:
        self.commit()
        self.edit()
        self.repository.git("add", "-A")
        self.repository.git("commit", "-q", "--amend", "--allow-empty", "-m", "amended")


class Follower(Reader):
    """Keeps each path's nodes, and reads again only those that it is told have changed.

    It watches the files as the catalog does: what it knows of a state is what every file held.
    """

    def __init__(self, root: Path, store_file: Path, horizon: Horizon = ALL):
        super().__init__(root, store_file, horizon)
        self.kept: dict[str, NodeHistories] = {}
        self.states: list[dict[str, bytes]] = []

    def refresh(self) -> Refreshed:
        root, previous = self.git.work_tree, self.refreshed.history if self.refreshed else None
        self.states.append({str(p.relative_to(root)): p.read_bytes() for p in root.rglob("*.py")})
        watched = Watched(str(len(self.states) - 1), self.changed_since)
        self.refreshed = refresh(self.git, self.store, PYTHON, self.horizon, previous, watched=watched)
        return self.refreshed

    def changed_since(self, state: str) -> list[str]:
        then, now = self.states[int(state)], self.states[-1]
        return [path for path in {*then, *now} if then.get(path) != now.get(path)]

    def follow(self) -> None:
        changed = self.refresh().changed
        self.kept = {} if changed is None else {p: n for p, n in self.kept.items() if p not in changed}
        for path in NAMES:
            self.kept.setdefault(path, self.read(path))

    def read(self, path: str) -> NodeHistories:
        return self.history.nodes(NodeRanges.of([(path, *probe) for probe in PROBES]))

    def assert_current(self) -> None:
        for path in NAMES:
            kept, now = self.kept[path], self.read(path)
            # Beyond the horizon a number and no number say the same.
            assert self.history.positions_of(kept.last).tolist() == self.history.positions_of(now.last).tolist()
            for column in ("commits", "authors", "fixes"):
                assert getattr(kept, column).tolist() == getattr(now, column).tolist()


@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@example(steps=["edit", "commit", "edit", "commit", "refresh", "switch"], seed=1)
@example(steps=["edit", "commit", "refresh", "rename", "refresh"], seed=2)
@example(steps=["commit", "edit", "merge", "refresh", "revert", "refresh", "rewrite"], seed=3)
@example(steps=["edit", "commit", "edit", "commit", "refresh", "uncommit", "refresh", "leap"], seed=4)
@example(steps=["refresh", "move", "stage", "refresh", "refresh", "unstage", "refresh", "delete"], seed=5)
@given(steps=st.lists(STEPS, min_size=5, max_size=14), seed=st.integers(0, 2**32))
def test_incremental_equals_fresh_and_blame(
    tmp_path_factory: pytest.TempPathFactory, steps: list[str], seed: int
) -> None:
    folder = tmp_path_factory.mktemp("world")
    world = RandomWorld(folder / "repo", seed)
    horizon = Horizon(days=150, commits=3)
    walking = Follower(world.repository.root, folder / "walking.sqlite", horizon)
    for step in steps:
        walking.follow() if step == "refresh" else getattr(world, step)()
    walking.follow()
    walking.assert_current()
    fresh = Reader(world.repository.root, folder / "fresh.sqlite", horizon)
    assert_same(walking.history, fresh.history)
    world.commit()
    whole = Reader(world.repository.root, folder / "whole.sqlite", ALL, BulkRule.never())
    for name in world.files():
        assert whole.owners(name, len(blame(world.repository, name))) == blame(world.repository, name)
    shutil.rmtree(folder)
