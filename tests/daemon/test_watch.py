"""What the watcher can tell without a daemon around it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ctxsearch.daemon.watch import git_is_writing, is_git_state

NOW = 1_700_000_000.0


def locked(folder: Path, seconds_ago: float) -> None:
    folder.mkdir(parents=True)
    (folder / "index.lock").touch()
    os.utime(folder / "index.lock", (NOW - seconds_ago, NOW - seconds_ago))


@pytest.mark.parametrize(("seconds_ago", "writing"), [(0.1, True), (60, False), (-60, False)])
def test_git_writes_while_its_lock_is_new(tmp_path: Path, seconds_ago: float, writing: bool) -> None:
    locked(tmp_path / ".git", seconds_ago)
    assert git_is_writing(tmp_path, NOW) is writing


def test_a_linked_work_tree_has_a_lock_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / ".git").write_text("gitdir: ../main/.git/worktrees/tree\n")
    locked(tmp_path / "main" / ".git" / "worktrees" / "tree", 0.1)
    assert git_is_writing(tmp_path / "tree", NOW)


def test_without_a_lock_or_without_git_nobody_writes(tmp_path: Path) -> None:
    assert not git_is_writing(tmp_path, NOW)
    (tmp_path / ".git").mkdir()
    assert not git_is_writing(tmp_path, NOW)


@pytest.mark.parametrize(
    ("name", "matters"),
    [
        ("HEAD", True),
        ("refs/heads/main", True),
        ("info/exclude", True),
        ("index.lock", False),
        ("info/refs", False),
        ("objects/info/packs", False),
    ],
)
def test_of_the_git_directory_only_what_moves_or_ignores_files_matters(name: str, matters: bool) -> None:
    assert is_git_state(name) is matters
