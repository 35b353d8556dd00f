"""From git and a catalog to classes with reasons: the follower's facts, and the table that answers read."""

from __future__ import annotations

import random
import sqlite3
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from scratch_repository import DAY, ScratchRepository

from ctxsearch.daemon.freshness import NO_HISTORY, FreshnessRules, FreshnessTable, load_freshness
from ctxsearch.daemon.layout import Layout
from ctxsearch.daemon.messages import Job, Report
from ctxsearch.daemon.show import freshness_line
from ctxsearch.daemon.worker import FollowWorker
from ctxsearch.graph.catalog import Catalog
from ctxsearch.graph.columns import number_of, numbers_of
from ctxsearch.graph.freshness import Freshness, Thresholds
from ctxsearch.graph.git import Git
from ctxsearch.graph.model import CodeNode, NodeId, NodeKind
from ctxsearch.indexer.index import RepositoryIndexer
from ctxsearch.v1 import node_pb2

# Old after a week and two commits: histories of tests are short.
SHORT = Thresholds(
    fresh_days=3,
    fresh_commits=0,
    old_days=7,
    old_commits=2,
    living_days=7,
    quiet_days=9,
    quiet_files=3,
    risky_fixes=9,
)


def unheard(report: Report) -> None:
    """Nobody watches."""


@dataclass
class World:
    """A repository, its catalog, and what is told of its freshness."""

    repository: ScratchRepository
    directory: Path
    rules: FreshnessRules = field(default_factory=lambda: FreshnessRules(SHORT))
    problems: list[str] = field(default_factory=list)
    follower: FollowWorker | None = None  # lives on from one look to the next

    def look(self) -> Looked:
        """Index, work out the facts, and read them as a daemon would."""
        root, layout = self.repository.root, Layout(self.directory)
        history = self.directory / "history"
        history.mkdir(parents=True, exist_ok=True)
        job = Job("follow", str(root), str(self.directory), str(history), 1 << 20, 1, 0, self.rules.looking_closely())
        with Catalog.open(layout.catalog) as catalog:
            with RepositoryIndexer(root, catalog, workers=1, git=Git.open(root)) as indexer:
                indexer.refresh()
            self.follower = self.follower or FollowWorker(job, unheard)
            self.follower.read_history(catalog, self.problems)
            with catalog.read() as snapshot:
                nodes = {node.id: node for node in snapshot.load_nodes()}
            table = load_freshness(layout.freshness(catalog.identity), nodes.get, self.rules)
        assert table is not None
        return Looked(nodes, table)


@dataclass
class Looked:
    """One generation's nodes and their freshness."""

    nodes: dict[NodeId, CodeNode]
    table: FreshnessTable

    def id(self, name: str) -> NodeId:
        return next(node.id for node in self.nodes.values() if node.qualified_name == name)

    def of(self, name: str) -> Freshness:
        return self.table.fact(self.id(name)).freshness

    def why(self, name: str) -> str:
        return "; ".join(self.table.reasons(self.id(name)))


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(ScratchRepository.create(tmp_path / "repo"), tmp_path / "data")


def grow_older(repository: ScratchRepository, days: int = 10) -> None:
    """Commits elsewhere, a day apart."""
    for number in range(days):
        repository.write("elsewhere/log.py", f"LINE = {number}\n")
        repository.commit(f"day {number}")


UTIL = "def kept():\n    return 1\n\n\ndef gone():\n    return 2\n"
USER = "from pkg.util import gone, kept\n\n\ndef caller():\n    return gone() + kept()\n"


def test_a_call_of_something_that_vanished_is_a_risk_and_says_what_and_when(world: World) -> None:
    repository = world.repository
    repository.write("pkg/util.py", UTIL)
    repository.write("pkg/user.py", USER)
    repository.commit("begin")
    grow_older(repository)
    assert world.look().of("pkg.user.caller") is Freshness.ACCEPTABLE
    repository.write("pkg/util.py", "def kept():\n    return 1\n")
    taken = repository.commit("take gone away")
    repository.write("pkg/util.py", "def kept():\n    return 3\n")
    repository.commit("later")
    grow_older(repository, 3)
    looked = world.look()
    assert looked.of("pkg.user.caller") is Freshness.STALE_WITH_RISK
    assert "gone, which it calls, vanished from pkg/util.py on 2023-11-26" in looked.why("pkg.user.caller")
    assert taken[:12] in looked.why("pkg.user.caller")


def test_vanished_is_told_the_same_from_scratch(world: World, tmp_path: Path) -> None:
    repository = world.repository
    repository.write("pkg/util.py", UTIL)
    repository.write("pkg/user.py", USER)
    repository.commit()
    grow_older(repository)
    world.look()
    repository.git("rm", "-q", "pkg/util.py")
    repository.commit("delete the file")
    kept, fresh = world.look(), World(repository, tmp_path / "other").look()
    assert kept.why("pkg.user.caller") == fresh.why("pkg.user.caller")
    assert "vanished from pkg/util.py" in kept.why("pkg.user.caller")


def test_what_git_cannot_show_is_not_known(world: World) -> None:
    repository = world.repository
    repository.write("pkg/util.py", UTIL)
    repository.write("pkg/user.py", USER)
    repository.commit("begin")
    old_version = repository.git("rev-parse", "HEAD:pkg/util.py").strip()
    grow_older(repository)
    repository.write("pkg/util.py", "def kept():\n    return 1\n")
    repository.commit("take gone away")
    grow_older(repository, 3)
    assert world.look().of("pkg.user.caller") is Freshness.STALE_WITH_RISK
    assert world.problems == []
    (file,) = (world.directory / "history").glob("*.sqlite")
    with sqlite3.connect(file) as store:
        store.execute("DELETE FROM definitions")
    store.close()
    (repository.root / ".git" / "objects" / old_version[:2] / old_version[2:]).unlink()
    looked = world.look()
    assert looked.of("pkg.user.caller") is Freshness.ACCEPTABLE
    assert looked.why("pkg.user.caller").endswith(
        "what became of the things it depends on is not known: git cannot show old versions"
    )
    assert "not known" not in looked.why("pkg.util.kept")
    told = "git cannot show old versions of files of the repository: 1 old nodes not checked for risks; run `git fsck`"
    assert world.problems == [told]


@pytest.mark.parametrize("is_touched", [True, False])
def test_an_uncommitted_deletion_counts(world: World, is_touched: bool) -> None:
    repository = world.repository
    repository.write("pkg/util.py", UTIL)
    repository.write("pkg/user.py", USER)
    repository.commit()
    grow_older(repository)
    if is_touched:
        repository.write("pkg/util.py", UTIL.replace("return 1", "return 4"))
        repository.commit()
    repository.write("pkg/util.py", "def kept():\n    return 4\n")
    assert "gone, which it calls, vanished from pkg/util.py" in world.look().why("pkg.user.caller")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("pkg/other.py", "def gone():\n    return 2\n"),  # it moved
        ("pkg/user.py", USER.replace("gone() + ", "")),  # the caller was changed with it
    ],
)
def test_what_moved_or_was_followed_has_not_vanished(world: World, path: str, text: str) -> None:
    repository = world.repository
    repository.write("pkg/util.py", UTIL)
    repository.write("pkg/user.py", USER)
    repository.commit()
    grow_older(repository)
    repository.write("pkg/util.py", "def kept():\n    return 1\n")
    repository.write(path, text)
    repository.commit()
    assert world.look().of("pkg.user.caller") is Freshness.ACCEPTABLE


def test_a_name_that_never_was_in_reach_has_not_vanished(world: World) -> None:
    repository = world.repository
    repository.write("far/util.py", "def gone():\n    return 2\n\n\ndef stays():\n    return 1\n")
    repository.write("pkg/user.py", "def caller(gone):\n    return gone()\n")
    repository.commit()
    grow_older(repository)
    repository.write("far/util.py", "def stays():\n    return 1\n")
    repository.commit()
    assert "vanished" not in world.look().why("pkg.user.caller")


def test_what_the_language_itself_offers_has_not_vanished(world: World) -> None:
    repository = world.repository
    repository.write("pkg/util.py", "def kept():\n    return 1\n\n\ndef len(of):\n    return 2\n")
    repository.write("pkg/user.py", "from pkg.util import kept\n\n\ndef caller(some):\n    return len(some) + kept()\n")
    repository.commit()
    grow_older(repository)
    repository.write("pkg/util.py", "def kept():\n    return 1\n")
    repository.commit()
    assert world.look().of("pkg.user.caller") is Freshness.ACCEPTABLE


def test_a_signature_that_changed_says_which_and_when(world: World) -> None:
    repository = world.repository
    repository.write("pkg/util.py", UTIL)
    repository.write("pkg/user.py", USER)
    repository.commit()
    grow_older(repository)
    repository.write("pkg/util.py", UTIL.replace("def gone()", "def gone(more)"))
    repository.commit()
    looked = world.look()
    assert looked.of("pkg.user.caller") is Freshness.STALE_WITH_RISK
    assert "the signature of pkg.util.gone changed on 2023-11-26" in looked.why("pkg.user.caller")


def test_a_folder_that_was_given_up_is_stale(world: World) -> None:
    repository = world.repository
    repository.write("dead/old.py", "def forgotten():\n    return 1\n")
    repository.write("dead/beneath/older.py", "def lost():\n    return 1\n")
    repository.write("dead/beneath/deep/oldest.py", "def alone():\n    return 1\n")
    repository.commit()
    grow_older(repository, 25)
    looked = world.look()
    for name in ("dead.old.forgotten", "dead.beneath.older.lost"):
        assert looked.of(name) is Freshness.STALE
        assert looked.why(name) == (
            "nothing in or beside its folder was touched for long; "
            "not touched since 2023-11-15, and nothing living refers to it"
        )
    assert looked.of("dead.beneath.deep.oldest.alone") is Freshness.ACCEPTABLE
    assert looked.why("dead.beneath.deep.oldest.alone") == (
        "not touched since 2023-11-15, but too few files lie there to say that it was given up"
    )
    repository.write("dead/beneath/older.py", "def lost():\n    return 2\n")
    repository.commit()
    looked = world.look()
    assert looked.of("dead.old.forgotten") is Freshness.ACCEPTABLE
    assert looked.why("dead.old.forgotten") == (
        "not touched since 2023-11-15, but something in or beside its folder was on 2023-12-11"
    )


def test_what_no_longer_fits_is_no_risk_in_a_file_where_somebody_works(world: World) -> None:
    repository = world.repository
    repository.write("pkg/util.py", UTIL)
    repository.write("pkg/user.py", USER)
    repository.commit("begin")
    grow_older(repository)
    repository.write("pkg/util.py", "def kept():\n    return 1\n")
    repository.commit("take gone away")
    repository.write("pkg/user.py", USER + "\n\ndef other():\n    return kept()\n")
    repository.commit("work in the caller's file")
    looked = world.look()
    assert looked.of("pkg.user.caller") is Freshness.ACCEPTABLE
    assert "vanished" not in looked.why("pkg.user.caller")


def test_a_new_file_is_fresh_and_a_touched_one_is_not(world: World) -> None:
    repository = world.repository
    repository.write("pkg/a.py", "def old():\n    one = 1\n    return one\n")
    repository.commit()
    grow_older(repository, 5)
    text = "def old():\n    one = 2\n    return one\n\n\ndef brand_new():\n    return 1\n"
    repository.write("pkg/a.py", text)
    repository.write("pkg/b.py", "def brand_new():\n    return 1\n")
    repository.commit("work")
    looked = world.look()
    assert looked.of("pkg.b.brand_new") is Freshness.FRESH
    assert looked.why("pkg.b.brand_new") == "all of its file was written since 2023-11-21"
    assert looked.of("pkg.a.brand_new") is Freshness.ACCEPTABLE
    assert looked.why("pkg.a.brand_new") == "touched on 2023-11-21"
    assert looked.of("pkg.a.old") is Freshness.ACCEPTABLE
    past = looked.table.past(looked.id("pkg.a.old"))
    assert (past.author, past.subject, past.commits, past.authors) == ("ada", "work", 2, 1)


def test_files_of_a_submodule_have_its_own_history(world: World, tmp_path: Path) -> None:
    inner = ScratchRepository.create(tmp_path / "inner")
    inner.author = "grace"
    inner.write("in.py", "def inner():\n    return 1\n")
    told = inner.commit("inside")
    repository = world.repository
    repository.write("a.py", "def outer():\n    return 1\n")
    repository.now = inner.now + 50 * DAY
    repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.root), "lib/sub")
    repository.commit()
    looked = world.look()
    node = looked.id("lib.sub.in.inner")
    fact = looked.table.fact(node)
    assert (fact.commit_id, fact.source) == (told, "git")
    assert looked.table.past(node).author == "grace"
    assert fact.freshness is Freshness.FRESH  # by the submodule's own clock
    assert looked.table.fact(looked.id("a.outer")).commit_id == repository.head()
    assert world.problems == []


def test_what_has_no_file_is_of_unknown_age_and_what_is_newer_than_the_table_is_fresh(world: World) -> None:
    repository = world.repository
    repository.write("a.py", "import json\n\n\ndef f(x):\n    return json.dumps(x)\n")
    repository.commit()
    looked = world.look()
    external = next(node.id for node in looked.nodes.values() if node.kind is NodeKind.EXTERNAL)
    assert looked.table.fact(external).freshness is Freshness.ACCEPTABLE
    assert looked.table.reasons(external) == ("its history is not known",)
    assert looked.table.fact(NodeId("f" * 16)).freshness is Freshness.FRESH
    assert looked.table.reasons(NodeId("f" * 16)) == ("written since history was last read",)
    moved = looked.table.at("another commit")
    everything = [looked.id("a.f"), external, NodeId("f" * 16)]
    for table in (looked.table, moved, NO_HISTORY):
        penalties = table.penalties([number_of(one) for one in everything])
        assert penalties == [table.fact(one).penalty for one in everything]
        numbers = numbers_of(sorted(everything))
        for floor in Freshness:
            denied = table.below(floor, numbers)
            assert [one in denied for one in everything] == [table.fact(one).freshness < floor for one in everything]
            assert denied.among(numbers).tolist() == [one in denied for one in sorted(everything)]
            assert not denied or denied is table.below(floor, numbers) or table is NO_HISTORY
    assert moved.fact(NodeId("f" * 16)).freshness is Freshness.ACCEPTABLE
    assert moved.fact(NodeId("f" * 16)).source == "none"
    assert moved.reasons(NodeId("f" * 16)) == ("HEAD moved since history was last read",)
    known = looked.id("a.f")
    assert moved.fact(known) == looked.table.fact(known)
    assert moved.at("").fact(NodeId("f" * 16)).freshness is Freshness.FRESH, "back where history was read"


def test_without_git_nothing_is_fresh(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "a.py").write_text("def f():\n    return 1\n")
    looked = World(ScratchRepository(tmp_path / "plain"), tmp_path / "data").look()
    assert looked.of("a.f") is Freshness.ACCEPTABLE
    assert looked.table.fact(NodeId("f" * 16)).freshness is Freshness.ACCEPTABLE


def test_the_wall_clock_is_asked_anew_every_day(world: World) -> None:
    repository = world.repository
    repository.write("a.py", "def f():\n    return 1\n")
    repository.commit()
    now = [float(repository.now)]
    world.rules = FreshnessRules(SHORT, lambda: now[0])
    looked = world.look()
    assert looked.of("a.f") is Freshness.FRESH
    now[0] += 5 * DAY
    assert looked.of("a.f") is Freshness.ACCEPTABLE


def test_the_oldest_hot_code_is_named(world: World) -> None:
    repository = world.repository
    repository.write("core/base.py", "def base():\n    return 1\n")
    repository.commit()
    grow_older(repository, 12)
    for name in ("one", "two", "three"):
        repository.write(f"app/{name}.py", f"from core.base import base\n\n\ndef {name}():\n    return base()\n")
    repository.commit()
    looked = world.look()
    (hot,) = [each for each in looked.table.oldest_hot(5) if each.id == looked.id("core.base.base")]
    assert (hot.age_days, hot.older_than_horizon) == (13, False)
    assert hot.living_references >= 3


def test_a_file_that_changed_and_could_not_be_indexed_is_a_risk_until_it_is(world: World) -> None:
    repository = world.repository
    repository.write("a.py", "def f():\n    return 1\n")
    repository.write("b.py", "def g():\n    return 1\n")
    repository.commit()
    looked = world.look()
    trusted, looked.table = looked.table, looked.table.distrusting(frozenset({"a.py"}))
    assert looked.of("a.f") is Freshness.STALE_WITH_RISK
    assert looked.why("a.f") == "the file changed and could not be indexed again"
    assert looked.of("b.g") is Freshness.FRESH
    looked.table = looked.table.distrusting(frozenset())
    assert looked.of("a.f") is Freshness.FRESH
    assert trusted.distrusting(frozenset()) is trusted


class Wanderer:
    """Changes a small program at random, with real git."""

    def __init__(self, repository: ScratchRepository, seed: int):
        self.repository, self.random = repository, random.Random(seed)
        self.files = {f"pkg/m{number}.py": ["f0", "f1", "f2"] for number in range(4)}
        for path in self.files:
            self.write(path)
        repository.commit("start")

    def write(self, path: str) -> None:
        others = [other for other in sorted(self.files) if other != path]
        lines = [f"from pkg.{Path(other).stem} import *" for other in others]
        for name in self.files[path]:
            called, parameter = self.random.choice(("f0", "f1", "f2", "f3")), self.random.choice(("", "a", "a, b"))
            lines += [f"def {name}({parameter}):", f"    return {called}()", ""]
        self.repository.write(path, lines)

    def step(self) -> None:
        what = self.random.choice(("edit", "edit", "drop", "rename", "commit", "commit", "amend", "back", "stage"))
        path = self.random.choice(sorted(self.files))
        if what == "edit":
            self.write(path)
        elif what == "drop" and len(self.files[path]) > 1:
            self.files[path].pop(self.random.randrange(len(self.files[path])))
            self.write(path)
        elif what == "rename":
            new = f"pkg/n{self.random.randrange(1000)}.py"
            (self.repository.root / path).rename(self.repository.root / new)
            self.files[new] = self.files.pop(path)
        elif what == "stage":
            self.repository.git("add", "-A")
        elif what == "commit":
            self.repository.commit(self.random.choice(("work", "Fix it")), after=self.random.choice((1, 5)) * DAY)
        elif what == "amend":
            self.repository.git("commit", "-q", "-a", "--amend", "--allow-empty", "-m", "amended")
        elif what == "back":
            self.repository.git("reset", "-q", "HEAD~1" if self.repository.git("rev-list", "HEAD~1", "--") else "HEAD")


@pytest.mark.parametrize("seed", [1, 2])
def test_followed_facts_are_those_of_a_first_look(world: World, tmp_path: Path, seed: int) -> None:
    wanderer = Wanderer(world.repository, seed)
    grow_older(world.repository, 4)
    for number in range(4):
        for _ in range(5):
            wanderer.step()
        followed, fresh = world.look(), World(world.repository, tmp_path / f"fresh{number}").look()
        for id_ in sorted(fresh.nodes):
            tables = (followed.table, fresh.table)
            one, other = ((table.fact(id_), table.past(id_), table.reasons(id_)) for table in tables)
            assert one == other, fresh.nodes[id_].qualified_name
    assert world.problems == []


def test_a_line_names_the_last_commit_only_where_one_is_known() -> None:
    freshness, source = node_pb2.FRESHNESS_STALE, node_pb2.FRESHNESS_SOURCE_GIT
    unknown = node_pb2.NodeFreshness(freshness=freshness, freshness_penalty=0.7, freshness_source=source)
    assert freshness_line(unknown) == "\x1b[33mstale\x1b[0m  penalty 0.7  git"
    known = node_pb2.NodeFreshness(last_commit_id="1234567890abcdef", reasons=["touched"])
    known.MergeFrom(unknown)
    known.last_commit_time.FromSeconds(DAY)
    assert freshness_line(known).endswith("penalty 0.7  1234567890ab 1970-01-02  git  (touched)")


def test_what_the_source_calls_deprecated_is_told_beside_the_class(world: World) -> None:
    world.repository.write("a.py", 'def old():\n    """Deprecated: use new."""\n\n\ndef new():\n    return 1\n')
    world.repository.commit()
    looked = world.look()
    assert looked.table.past(looked.id("a.old")).flags == ("deprecated",)
    assert looked.table.past(looked.id("a.new")).flags == ()
