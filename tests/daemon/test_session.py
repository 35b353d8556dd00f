"""Which repository somebody stands in."""

from __future__ import annotations

from pathlib import Path

from daemon_project import git, make_project

from ctxsearch.daemon.session import around
from ctxsearch.v1 import repository_pb2


def added(*roots: Path) -> list[repository_pb2.Repository]:
    return [repository_pb2.Repository(name=root.name, root=str(root)) for root in roots]


def found(place: Path, *roots: Path) -> str | None:
    repository = around(place, added(*roots))
    return repository.name if repository is not None else None


def test_the_innermost_repository_is_meant(project: Path) -> None:
    assert found(project / "shop", project) == project.name
    assert found(project / "shop", project, project / "shop") == "shop"
    assert found(project.parent, project) is None


def test_a_linked_work_tree_inside_a_repository_is_not_that_repository(project: Path) -> None:
    git(project, "worktree", "add", "-q", str(project / ".trees" / "topic"))
    topic = project / ".trees" / "topic"
    assert found(topic / "shop", project) is None
    assert found(topic / "shop", project, topic) == "topic"


def test_a_clone_inside_a_repository_is_not_that_repository(project: Path) -> None:
    git(project, "clone", "-q", str(project), "copy")
    assert found(project / "copy" / "shop", project) is None


def test_a_clone_inside_a_directory_of_repositories_is_part_of_it(project: Path) -> None:
    assert found(project / "shop", project.parent) == project.parent.name


def test_a_submodule_is_part_of_its_repository(project: Path, tmp_path: Path) -> None:
    library = make_project(tmp_path / "library", {"lib.py": "def helper():\n    pass\n"})
    git(project, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library), "library")
    assert found(project / "library", project) == project.name
