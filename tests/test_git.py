"""The door to git: finds repositories, runs read-only commands, runs nothing that a repository names."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import psutil
import pytest
from scratch_repository import ScratchRepository

from ctxsearch.graph import git as door
from ctxsearch.graph.git import Git, GitError, GitMissingError, GitTimeoutError, GitUnsafeError
from ctxsearch.graph.history import HistoryStore, Watched, refresh


@pytest.fixture
def repository(tmp_path: Path) -> ScratchRepository:
    made = ScratchRepository.create(tmp_path / "repo")
    made.write("a.py", ["one", "two"])
    made.commit("first")
    return made


def opened(path: Path) -> Git:
    git = Git.open(path)
    assert git is not None
    return git


def test_finds_the_repository_around_a_directory_and_around_a_file(repository: ScratchRepository) -> None:
    (repository.root / "deep" / "er").mkdir(parents=True)
    for place in (repository.root, repository.root / "deep" / "er", repository.root / "a.py"):
        git = opened(place)
        assert git.work_tree == repository.root
        assert git.git_dir == git.common_dir == repository.root / ".git"
        assert git.head() == repository.head()


def test_no_repository_is_none_and_no_directory_is_an_error(tmp_path: Path) -> None:
    assert Git.open(tmp_path) is None
    with pytest.raises(GitError, match="no such directory"):
        Git.open(tmp_path / "gone" / "away")


def test_a_repository_without_commits_has_no_head(tmp_path: Path) -> None:
    ScratchRepository.create(tmp_path)
    assert opened(tmp_path).head() is None


def test_worktrees_share_their_common_directory(repository: ScratchRepository, tmp_path: Path) -> None:
    repository.git("worktree", "add", "-q", "-b", "side", str(tmp_path / "side"))
    side = opened(tmp_path / "side")
    assert side.work_tree == tmp_path / "side"
    assert side.git_dir != side.common_dir == opened(repository.root).common_dir


def test_a_submodule_is_a_repository_of_its_own(repository: ScratchRepository, tmp_path: Path) -> None:
    inner = ScratchRepository.create(tmp_path / "inner")
    inner.write("b.py", ["inner"])
    inner.commit()
    repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.root), "sub")
    git = opened(repository.root / "sub")
    assert git.work_tree == repository.root / "sub"
    assert git.head() == inner.head()


def test_a_bare_repository_needs_a_work_tree(repository: ScratchRepository, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    repository.git("clone", "-q", "--bare", str(repository.root), str(bare))
    with pytest.raises(GitError, match="bare repository"):
        Git.open(bare)
    repository.git("worktree", "add", "-q", str(tmp_path / "tree"), "main", cwd=bare)
    assert opened(tmp_path / "tree").common_dir == bare
    (tmp_path / "elsewhere").mkdir()
    repository.git("config", "core.bare", "false", cwd=bare)
    repository.git("config", "core.worktree", str(tmp_path / "elsewhere"), cwd=bare)
    assert opened(bare).work_tree == tmp_path / "elsewhere"


def test_a_work_tree_elsewhere_is_refused(repository: ScratchRepository, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    repository.git("config", "core.worktree", str(tmp_path / "secret"))
    with pytest.raises(GitError, match=r"core\.worktree"):
        Git.open(repository.root)


def test_a_shallow_clone_says_so(repository: ScratchRepository, tmp_path: Path) -> None:
    repository.commit("second")
    clone = tmp_path / "clone"
    repository.git("clone", "-q", "--depth", "1", f"file://{repository.root}", str(clone))
    assert opened(clone).is_shallow()
    assert not opened(repository.root).is_shallow()


def test_a_surrounding_git_cannot_redirect_us(
    repository: ScratchRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = ScratchRepository.create(tmp_path / "other")
    other.write("other.py", ["x"])
    other.commit()
    monkeypatch.setenv("GIT_DIR", str(other.root / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.root / ".git" / "index"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other.root))
    assert opened(repository.root).run("ls-files") == b"a.py\n"


def test_a_repository_of_another_user_names_the_next_step(
    repository: ScratchRepository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(GitUnsafeError, match=r"safe\.directory"):
        Git.open(repository.root)
    (tmp_path / ".gitconfig").write_text(f"[safe]\n\tdirectory = {repository.root}\n")
    assert opened(repository.root).head() == repository.head()


def test_git_missing_is_said(repository: ScratchRepository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    git = opened(repository.root)
    (tmp_path / "bin").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    for call in (lambda: git.run("ls-files"), lambda: Git.open(repository.root)):
        with pytest.raises(GitMissingError, match="install git"):
            call()
    (tmp_path / "bin" / "env").symlink_to("/usr/bin/env")
    with pytest.raises(GitMissingError, match="install git"):
        Git.open(repository.root)


def test_git_missing_when_the_runner_is_first_imported_is_said(
    repository: ScratchRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    git = opened(repository.root)
    monkeypatch.setitem(sys.modules, "git", None)
    with pytest.raises(GitMissingError, match="install git"):
        git.run("ls-files")


def test_run_passes_input_and_reports_failure(repository: ScratchRepository) -> None:
    git = opened(repository.root)
    assert git.run("cat-file", "--batch-check", input=b"HEAD:a.py\n").split()[1] == b"blob"
    with pytest.raises(GitError, match="no-such-revision") as caught:
        git.run("log", "no-such-revision", "--")
    assert caught.value.status == 128


def test_a_command_out_of_time_is_killed(repository: ScratchRepository) -> None:
    with pytest.raises(GitTimeoutError):
        opened(repository.root).run("log", timeout=0)


def test_only_commands_that_read_are_run(repository: ScratchRepository) -> None:
    git = opened(repository.root)
    for args in (
        ("gc",),
        ("fetch",),
        ("commit",),
        ("log", "--ext-diff"),
        ("cat-file", "--filters", "HEAD:a.py"),
    ):
        with pytest.raises(GitError):
            git.run(*args)


def test_a_stream_left_early_leaves_no_process(repository: ScratchRepository) -> None:
    repository.write("big.txt", "line\n" * 2_000_000)
    repository.commit("big")
    before = set(psutil.Process().children())  # other tests may have theirs
    with opened(repository.root).stream("show", "HEAD:big.txt") as reader:
        assert reader.readline() == b"line\n"
        assert set(psutil.Process().children()) - before
    assert not set(psutil.Process().children()) - before


def test_a_stream_that_fails_at_its_end_says_so(repository: ScratchRepository) -> None:
    with (
        pytest.raises(GitError, match="nowhere"),
        opened(repository.root).stream("log", "nowhere", "--") as reader,
    ):
        reader.read()


def _hostile_program(tmp_path: Path) -> tuple[Path, Path]:
    marker, program = tmp_path / "marker", tmp_path / "program.sh"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {marker}\ncat\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return marker, program


HOSTILE_KEYS = (
    "core.fsmonitor",
    "core.pager",
    "core.editor",
    "core.sshCommand",
    "core.askPass",
    "core.gitProxy",
    "core.alternateRefsCommand",
    "core.hooksPath",
    "pager.log",
    "pager.diff",
    "pager.status",
    "pager.ls-files",
    "sequence.editor",
    "credential.helper",
    "gpg.program",
    "gpg.ssh.program",
    "gpg.x509.program",
    "diff.external",
    "diff.evil.command",
    "diff.evil.textconv",
    "diff.e=q.textconv",
    "filter.evil.clean",
    "filter.evil.smudge",
    "filter.evil.process",
    "filter.e=q.clean",
    "merge.evil.driver",
    "interactive.diffFilter",
    "trailer.evil.command",
    "trailer.evil.cmd",
    "uploadpack.packObjectsHook",
    "remote.origin.uploadpack",
    "remote.origin.receivepack",
    "remote.origin.vcs",
    "difftool.evil.cmd",
    "mergetool.evil.cmd",
    "web.browser",
    "man.evil.cmd",
    "sendemail.sendmailCmd",
    "tar.evil.command",
)


def _make_hostile(repository: ScratchRepository, program: Path) -> None:
    repository.write("b.py", ["three"])
    repository.write("c.py", ["four"])
    repository.write(".gitattributes", ["*.py diff=evil filter=evil merge=evil", "c.py diff=e=q filter=e=q"])
    repository.commit("attributes")
    hooks = program.parent / "hooks"
    hooks.mkdir()
    for hook in ("post-index-change", "fsmonitor-watchman", "reference-transaction", "post-checkout"):
        for folder in (hooks, repository.root / ".git" / "hooks"):
            folder.mkdir(exist_ok=True)
            (folder / hook).write_bytes(program.read_bytes())
            (folder / hook).chmod(0o755)
    for key in HOSTILE_KEYS:
        repository.git("config", key, str(hooks if key == "core.hooksPath" else program))
    for key in ("log.showSignature", "filter.evil.required", "diff.evil.cachetextconv"):
        repository.git("config", key, "true")
    for command in sorted(door.READ_ONLY_COMMANDS):
        repository.git("config", f"alias.{command}", f"!{program}")
    included = program.parent / "included"
    included.write_text(f'[filter "late"]\n\tclean = {program}\n')
    repository.git("config", "includeIf.onbranch:main.path", str(included))
    (repository.root / ".git" / "info" / "attributes").write_text("d.py filter=late diff=evil\n")


def _read_everything(git: Git) -> None:
    git.run("ls-files", "-z", "-m", "-o", "--exclude-standard")
    git.run("status", "--porcelain=v2", "-z")
    git.run("diff", "HEAD")
    git.run("diff", "--cached")
    git.run("diff-index", "-p", "HEAD")
    git.run("diff-index", "--cached", "--name-only", "-z", "HEAD", "--")
    git.run("diff-index", "--cached", "-p", "HEAD", "--")
    git.run("status", "--porcelain=v2", "-z", "--untracked-files=all", "--", ":(literal)a.py", ":(literal)d.py")
    git.run("diff", "HEAD", "--", ":(literal)a.py", ":(literal)c.py")
    git.run("log", "-p", "-m", "--first-parent", "--format=%H")
    git.run("show", "HEAD")
    git.run("blame", "a.py")
    git.run("blame", "HEAD", "--", "a.py")
    git.run("cat-file", "--batch", input=b"HEAD:a.py\n")
    git.run("rev-list", "--all")
    git.run("for-each-ref")
    with git.stream("log", "-p") as reader:
        reader.read()


def test_a_hostile_repository_runs_nothing(repository: ScratchRepository, tmp_path: Path) -> None:
    marker, program = _hostile_program(tmp_path)
    _make_hostile(repository, program)
    for name in ("a.py", "b.py", "c.py", "d.py"):
        repository.write(name, ["changed", name])
    _read_everything(opened(repository.root))
    assert not marker.exists(), marker.read_text()


def test_reading_the_history_of_a_hostile_repository_runs_nothing(
    repository: ScratchRepository, tmp_path: Path
) -> None:
    marker, program = _hostile_program(tmp_path)
    _make_hostile(repository, program)
    store = HistoryStore.open(tmp_path / "history.sqlite")
    for number in range(3):
        for name in ("a.py", "b.py", "c.py", "d.py"):
            repository.write(name, ["changed", name, str(number)])
        watched = Watched(str(number), lambda _: ["a.py", "b.py", "c.py", "d.py"])
        history = refresh(opened(repository.root), store, watched=watched).history
        assert all(0 in history.files[name].owners_of(1).tolist() for name in ("a.py", "b.py", "c.py", "d.py"))
    assert not marker.exists(), marker.read_text()


@pytest.mark.parametrize("command", [("diff", "HEAD"), ("log", "-p"), ("status",), ("blame", "a.py")])
def test_the_hostile_repository_is_hostile(
    repository: ScratchRepository, tmp_path: Path, command: tuple[str, ...]
) -> None:
    """Plain git does run its programs: otherwise the test above would prove nothing."""
    marker, program = _hostile_program(tmp_path)
    _make_hostile(repository, program)
    repository.git("config", "--unset", "filter.evil.process")
    repository.write("a.py", ["changed"])
    repository.git(*command)
    assert marker.exists()


def test_a_hostile_submodule_runs_nothing(repository: ScratchRepository, tmp_path: Path) -> None:
    inner = ScratchRepository.create(tmp_path / "inner")
    inner.write("b.py", ["inner"])
    inner.write(".gitattributes", ["*.py filter=evil"])
    inner.commit()
    repository.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner.root), "sub")
    repository.commit("submodule")
    marker, program = _hostile_program(tmp_path)
    repository.git("config", "filter.evil.clean", str(program), cwd=repository.root / "sub")
    (repository.root / "sub" / "b.py").write_text("other\n")
    git = opened(repository.root)
    git.run("status", "--porcelain=v2", "-z")
    git.run("diff", "HEAD")
    git.run("diff", "--submodule=diff", "HEAD")
    assert not marker.exists()


def test_a_partial_clone_fetches_nothing(repository: ScratchRepository, tmp_path: Path) -> None:
    marker, program = _hostile_program(tmp_path)
    repository.git("config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "clone"
    url = f"file://{repository.root}"
    repository.git("clone", "-q", "--no-checkout", "--filter=blob:none", url, str(clone))
    repository.git("config", "remote.origin.uploadpack", str(program), cwd=clone)
    with pytest.raises(GitError):
        opened(clone).run("show", "HEAD:a.py")
    assert not marker.exists()
