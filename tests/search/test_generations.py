"""Catalog, tantivy and LanceDB agree on a generation, or heal: after a crash at each point, ahead, behind, damaged."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from search_project import Project

from ctxsearch.search.embed import bundled_embedder
from ctxsearch.search.lexical.index import TantivyIndex
from ctxsearch.search.lexical.schema import FORMAT
from ctxsearch.search.ports import SELECT_ALL
from ctxsearch.search.query import Mode, SearchQuery
from ctxsearch.search.scope import Scope
from ctxsearch.search.semantic import LanceIndex
from ctxsearch.search.service import ContextSearchService

FIRST = {"a.py": "def first_thing():\n    return 1\n", "b.py": "def stays_here():\n    return 2\n"}
SECOND = {"a.py": "def second_thing():\n    return 1\n"}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "work", tmp_path / "state")
    made.index(FIRST)
    return made


def answers(project: Project) -> dict[Mode, set[str]]:
    """What each signal alone finds, after catching up."""
    service = ContextSearchService(bundled_embedder())
    service.publish(project.heal())
    found = {}
    for mode in (Mode.KEYWORD, Mode.SEMANTIC):
        query = SearchQuery(text="first second thing stays here", mode=mode, scope=Scope(paths=("*.py",)))
        found[mode] = {one.node.name for one in service.search(query).results}
    service.close()
    return found


AFTER = {"second_thing", "stays_here", "a", "b"}


class Crash(BaseException):
    """Not an Exception: nothing may catch it on the way, as nothing catches a power cut."""


def crash(*_: object, **__: object) -> None:
    raise Crash


@pytest.mark.parametrize(
    "point",
    [
        "before full text",
        "inside full text",
        "before full text's commit",
        "between the two",
        "inside vectors: after delete",
        "before vectors' tag",
    ],
)
def test_a_crash_between_the_commits_repeats_work_and_mixes_nothing(
    project: Project, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    project.write(SECOND, removed=[])
    targets: dict[str, tuple[object, str]] = {
        "before full text": (TantivyIndex, "apply"),
        "inside full text": (TantivyIndex, "_commit"),
        "before full text's commit": (TantivyIndex, "_commit"),
        "between the two": (LanceIndex, "apply"),
        "inside vectors: after delete": (project.vectors._table if project.vectors else None, "add"),
        "before vectors' tag": (LanceIndex, "_commit"),
    }
    owner, name = targets[point]
    with monkeypatch.context() as broken:
        broken.setattr(owner, name, crash)
        with pytest.raises(Crash):
            project.catch_up()
    assert project.full_text is not None
    project.full_text.close()
    project.open_indexes()  # a new process
    assert answers(project) == {Mode.KEYWORD: AFTER, Mode.SEMANTIC: AFTER}


def test_an_index_that_is_behind_catches_up_with_all_that_it_missed(project: Project) -> None:
    project.write(SECOND)
    project.write({"c.py": "def third_thing():\n    return 3\n"})
    project.write({}, removed=["b.py"])
    expected = {"second_thing", "third_thing", "a", "c"}
    assert answers(project) == {Mode.KEYWORD: expected, Mode.SEMANTIC: expected}


def test_an_index_that_is_ahead_is_built_anew(project: Project) -> None:
    assert project.full_text is not None
    assert project.vectors is not None
    project.full_text.apply(99, {}, ["a.py"])
    project.vectors.apply(99, {}, ["a.py"])
    project.write(SECOND)
    assert answers(project) == {Mode.KEYWORD: AFTER, Mode.SEMANTIC: AFTER}
    assert project.full_text.generation == project.vectors.generation == project.catalog.generation


@pytest.mark.parametrize("part", ["text", "vectors"])
def test_a_lost_index_is_built_anew(project: Project, part: str) -> None:
    project.close()
    shutil.rmtree(project.state / part)
    again = Project(project.root, project.state)
    again.sources = dict(FIRST)
    again.write(SECOND)
    assert answers(again) == {Mode.KEYWORD: AFTER, Mode.SEMANTIC: AFTER}
    again.close()


@pytest.mark.parametrize("damaged", [f"text/{FORMAT}/meta.json", "vectors/vectors-1"])
def test_a_damaged_index_is_built_anew(project: Project, damaged: str) -> None:
    project.close()
    target = project.state / damaged
    if target.is_dir():
        for file in target.rglob("*"):
            if file.is_file():
                file.write_bytes(b"rubbish")
    else:
        target.write_text("rubbish")
    again = Project(project.root, project.state)
    again.sources = dict(FIRST)
    again.write(SECOND)
    assert answers(again) == {Mode.KEYWORD: AFTER, Mode.SEMANTIC: AFTER}
    again.close()


def test_incremental_equals_from_scratch(tmp_path: Path) -> None:
    edited = Project(tmp_path / "work", tmp_path / "state")
    edited.index(FIRST)
    edited.index(SECOND)
    edited.index({"c.py": "def third_thing():\n    return stays_here()\n"})
    edited.index({}, removed=["b.py"])
    fresh = Project(tmp_path / "other", tmp_path / "fresh")
    fresh.write(edited.sources)
    assert answers(edited) == answers(fresh)
    edited.close()
    fresh.close()


def test_a_reader_in_one_place_sees_what_is_written_in_another(tmp_path: Path) -> None:
    """The daemon reads in one process what its workers write in another."""
    project = Project(tmp_path / "work", tmp_path / "state")
    project.index(FIRST)
    text, vectors = TantivyIndex(tmp_path / "state/text"), LanceIndex(tmp_path / "state/vectors", bundled_embedder())
    before = vectors.reader()
    project.index(SECOND)
    project.index({}, removed=["b.py"])
    assert text.reader().generation == vectors.reader().generation == project.catalog.generation
    query = bundled_embedder().embed_query("second thing first stays")
    found = {hit.id for hit in vectors.reader().search(query, SELECT_ALL, 10)}
    assert found == {project.id_of("second_thing"), project.id_of("a")}
    assert before.generation == 1
    assert before.count() == 4
    project.close()
