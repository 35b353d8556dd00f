"""Signature changes by text: what changes a signature, what only touches its lines, and what is remembered."""

from __future__ import annotations

from pathlib import Path

import pytest
from scratch_repository import ScratchRepository

from ctxsearch.daemon.freshness_facts import read_signatures
from ctxsearch.graph.attribution import UNATTRIBUTED
from ctxsearch.graph.git import Git
from ctxsearch.graph.history import HistoryStore, Horizon, refresh
from ctxsearch.graph.node_history import WORK_TREE
from ctxsearch.graph.signatures import SignedNode, last_changes


class World:
    """A repository in which one function's signature is asked about."""

    def __init__(self, root: Path):
        self.repository = ScratchRepository.create(root / "repo")
        self.store = HistoryStore.open(root / "history.sqlite")
        self.reads = 0
        self.path, self.folder = "a.py", ""
        self.unsure: set[int] = set()

    def commit(self, text: str) -> str:
        self.repository.write(self.path, text)
        return self.repository.commit()

    def read(self, path: str, source: bytes) -> dict[str, str]:
        self.reads += 1
        return read_signatures(path, source)

    def changed_by(self, name: str = "f", lines: tuple[int, int] = (1, 1)) -> str | int:
        git = Git.open(self.repository.root)
        assert git is not None
        history = refresh(git, self.store, horizon=Horizon(days=None)).history
        history = history.beneath(self.folder)
        node = SignedNode(self.path, name, *lines)
        numbers, self.unsure = last_changes(git, self.store, history, [node], self.read)
        number = int(numbers[0])
        return self.store.commit(number)[0].id if number > 0 else number


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.commit("def f(a):\n    return a\n")
    return made


def test_a_new_parameter_changes_a_signature(world: World) -> None:
    changed = world.commit("def f(a, b):\n    return a\n")
    world.commit("def f(a, b):\n    return b\n")
    assert world.changed_by() == changed


@pytest.mark.parametrize(
    "text",
    [
        "def f(a):  # a comment\n    return a\n",
        "def f( a ):\n    return a\n",
        "def f(\n    a,  # the thing\n):\n    return a\n",
        "def f(a):\n    return a + 1\n",
        "\n\ndef f(a):\n    return a\n",
    ],
    ids=["comment", "space", "layout", "body", "moved down"],
)
def test_what_does_not_change_a_signature(world: World, text: str) -> None:
    world.commit(text)
    line = text[: text.index("def")].count("\n") + 1
    assert world.changed_by(lines=(line, line)) == UNATTRIBUTED


@pytest.mark.parametrize(
    ("before", "after", "harms"),
    [
        ("def f(a)", "def f(a, b=1)", False),
        ("def f(a)", "def f(a, *, b=1)", False),
        ("def f(a)", "def f(a, *more, **named)", False),
        ("def f(a)", "def f(a: int) -> str", False),
        ("def f(a, b)", "def f(a, *rest)", False),
        ("def f(a, *, b)", "def f(a, b)", False),
        ("def f(a, *, b)", "def f(a, **named)", False),
        ("def f(a)", "def f(a, *, b)", True),
        ("def f(a, b)", "def f(a)", True),
        ("def f(a, b)", "def f(b, a)", True),
        ("def f(a)", "def f(x)", True),
        ("def f(a, b=1)", "def f(a, b)", True),
        ("def f(a, b=1)", "def f(a, *, b=1)", True),
        ("def f(a, *, b=1)", "def f(a, *, b)", True),
        ("def f(a, *, b)", "def f(a)", True),
        ("def f(*rest)", "def f(a)", True),
        ("def f(**named)", "def f()", True),
        ("def f(a)", "async def f(a)", True),
        ("class f(A)", "class f(A, B)", False),
        ("class f(A, B)", "class f(A)", True),
        ("class f", "def f()", True),
    ],
)
def test_a_change_counts_if_what_fitted_may_not_fit_any_more(
    world: World, before: str, after: str, harms: bool
) -> None:
    world.commit(f"{before}:\n    pass\n")
    changed = world.commit(f"{after}:\n    pass\n")
    assert (world.changed_by() == changed) is harms
    versions = [read_signatures("a.py", f"{each}:\n    pass\n".encode())["f"] for each in (before, after)]
    assert versions[1].serves_as(versions[0]) is not harms


@pytest.mark.parametrize(
    ("path", "before", "after", "harms"),
    [
        ("a.js", "function f(a) {}", "function f(x) {}", False),  # nobody can name it
        ("a.js", "function f(a) {}", "function f(a, b) {}", True),
        ("a.rb", "def f(a)\nend", "def f(b, c = 1)\nend", False),
        ("a.rb", "def f(a, b:)\nend", "def f(a, c:)\nend", True),
        ("a.kt", "fun f(a: Int) {}", "fun f(b: Int) {}", True),
        ("a.lua", "function f(a) end", "function f(b) end", True),  # only its text is known
    ],
)
def test_other_languages_name_their_arguments_or_do_not(path: str, before: str, after: str, harms: bool) -> None:
    versions = [read_signatures(path, f"{each}\n".encode())["f"] for each in (before, after)]
    assert versions[1].serves_as(versions[0]) is not harms
    assert all(each.serves_as(each) for each in versions)


def test_the_body_of_a_one_line_function_is_no_signature(world: World) -> None:
    world.commit("f = lambda: 0\ndef g(a): return a\n")
    world.commit("f = lambda: 0\ndef g(a): return -a\n")
    assert world.changed_by("g", (2, 2)) == UNATTRIBUTED


def test_a_real_change_behind_a_cosmetic_one_is_found(world: World) -> None:
    changed = world.commit("def f(a, *, b):\n    return a\n")
    world.commit("def f(a, *, b):  # why\n    return a\n")
    assert world.changed_by() == changed


def test_the_commit_that_brought_the_name_changed_nothing(world: World) -> None:
    world.commit("def g(x):\n    return x\n")
    assert world.changed_by("g") == UNATTRIBUTED


def test_changes_are_followed_through_renames(world: World) -> None:
    changed = world.commit("def f(a, b):\n    return a\n" + "x = 1\n" * 10)
    world.repository.git("mv", "a.py", "b.py")
    world.path = "b.py"
    world.repository.commit("rename")
    assert world.changed_by() == changed


def test_a_folder_of_a_repository_is_asked_by_its_own_paths(world: World) -> None:
    world.path = "src/a.py"
    world.commit("def f(a):\n    return a\n")
    changed = world.commit("def f(a, b):\n    return a\n")
    world.path, world.folder = "a.py", "src"
    assert world.changed_by() == changed


def test_an_uncommitted_change_counts(world: World) -> None:
    world.repository.write("a.py", "def f(a, b):\n    return a\n")
    assert world.changed_by() == WORK_TREE


def test_verdicts_are_remembered(world: World) -> None:
    changed = world.commit("def f(a, b):\n    return a\n")
    world.commit("def f(a, b):  # c\n    return a\n")
    assert world.changed_by() == changed
    asked = world.reads
    assert asked > 0
    assert world.changed_by() == changed
    assert world.reads == asked


def test_a_version_that_git_has_lost_is_said_and_not_remembered(world: World) -> None:
    commented = world.commit("def f(a):  # now with a comment\n    return a\n")
    history_alone = world.changed_by("no such function")
    blob = world.repository.git("rev-parse", "HEAD~1:a.py").strip()
    file = world.repository.root / ".git" / "objects" / blob[:2] / blob[2:]
    lost = file.rename(file.with_name("lost"))
    assert history_alone == UNATTRIBUTED
    assert (world.changed_by(), world.unsure) == (commented, {0})  # as the lines say, but not for sure
    lost.rename(file)
    assert (world.changed_by(), world.unsure) == (UNATTRIBUTED, set())
