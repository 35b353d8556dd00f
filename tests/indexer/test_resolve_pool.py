"""A repository resolved in several processes has the graph of one that was resolved in this one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from scratch_repository import ScratchRepository

from ctxsearch.graph.catalog import Catalog
from ctxsearch.graph.git import Git
from ctxsearch.graph.records import RESOLVED_META, FileGraph
from ctxsearch.indexer import index, resolve_pool
from ctxsearch.indexer.index import RepositoryIndexer
from ctxsearch.indexer.pipeline import ParsePool
from ctxsearch.indexer.resolve_pool import ResolveError, split

GRAPHS = Path(__file__).parents[2] / "fixtures" / "graph"


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> ScratchRepository:
    """Every golden case of four languages as one repository, and a case where values flow between files."""
    made = ScratchRepository.create(tmp_path_factory.mktemp("pool") / "root")
    for language in ("python", "java", "go", "typescript"):
        shutil.copytree(GRAPHS / language, made.root / language)
    for number in range(12):
        made.write(f"app/m{number}.py", f"from app.m{(number + 1) % 12} import each\n\n\n{FLOW}\n\neach(own)\n")
    return made


FLOW = """
def own():
    return 1

def each(action):
    action()
"""


@pytest.fixture(scope="module")
def pool() -> Iterator[ParsePool]:
    with ParsePool(1) as shared:
        yield shared


def graphs(catalog: Catalog) -> dict[str, FileGraph | None]:
    with catalog.read() as snapshot:
        return {path: snapshot.graph_of(path) for path in snapshot.changes_since(0).changed}


def indexed(repository: ScratchRepository, place: Path, pool: ParsePool, workers: int) -> dict[str, FileGraph | None]:
    root = repository.root
    with Catalog.open(place) as catalog:
        RepositoryIndexer(root, catalog, workers=workers, git=Git.open(root), pool=pool).refresh()
        return graphs(catalog)


@pytest.mark.parametrize("workers", [2, 3])
def test_the_graph_is_the_same_in_any_number_of_processes(
    repository: ScratchRepository, tmp_path: Path, pool: ParsePool, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    alone = indexed(repository, tmp_path / "one.db", pool, 1)
    monkeypatch.setattr(index, "_PARALLEL_FILES", 1)
    assert indexed(repository, tmp_path / "many.db", pool, workers) == alone
    assert len(alone) > 100


def test_nodes_come_first_and_an_edit_goes_on_from_what_the_processes_found(
    repository: ScratchRepository, tmp_path: Path, pool: ParsePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index, "_PARALLEL_FILES", 1)
    root = tmp_path / "root"
    shutil.copytree(repository.root, root)
    seen: list[str | None] = []
    with Catalog.open(tmp_path / "catalog.db") as catalog:

        def look() -> None:
            with catalog.read() as snapshot:
                seen.append(snapshot.meta(RESOLVED_META))

        indexer = RepositoryIndexer(root, catalog, workers=2, git=Git.open(root), pool=pool)
        assert indexer.refresh(nodes_known=look).generation == 2
        (root / "app" / "m3.py").write_text("def each(action):\n    return action\n")
        indexer.refresh_paths(["app/m3.py"])
        edited = graphs(catalog)
    assert seen == [None]
    assert edited == indexed(ScratchRepository(root), tmp_path / "again.db", pool, 1)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("exit 3", id="ends"),
        pytest.param(r"printf '\001\000\000\000\301'; exec cat > /dev/null", id="says what is no message, and stays"),
    ],
)
def test_a_process_that_goes_wrong_is_an_error_and_the_next_refresh_heals(
    repository: ScratchRepository, tmp_path: Path, pool: ParsePool, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    monkeypatch.setattr(index, "_PARALLEL_FILES", 1)
    monkeypatch.setattr(resolve_pool, "_ENDING_SECONDS", 0.1)
    root = repository.root
    with Catalog.open(tmp_path / "catalog.db") as catalog:
        indexer = RepositoryIndexer(root, catalog, workers=2, git=Git.open(root), pool=pool)
        with monkeypatch.context() as broken:
            broken.setattr(resolve_pool, "_COMMAND", ("/bin/sh", "-c", script))
            with pytest.raises(ResolveError):
                indexer.refresh()
        assert catalog.generation == 0
        indexer.refresh()
        assert catalog.generation == 1


def test_a_process_may_be_done_long_before_the_others(
    repository: ScratchRepository, tmp_path: Path, pool: ParsePool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unequal(weights: Mapping[str, int], parts: int) -> list[tuple[str, ...]]:
        paths = sorted(weights)
        return [tuple(paths[place : place + 1]) for place in range(parts - 1)] + [tuple(paths[parts - 1 :])]

    alone = indexed(repository, tmp_path / "one.db", pool, 1)
    monkeypatch.setattr(index, "_PARALLEL_FILES", 1)
    monkeypatch.setattr(resolve_pool, "split", unequal)
    assert indexed(repository, tmp_path / "many.db", pool, 3) == alone


def test_shares_cover_every_path_once() -> None:
    weights = {f"p{number}": number % 7 for number in range(100)}
    shares = split(weights, 3)
    assert sorted(path for share in shares for path in share) == sorted(weights)
    assert all(shares)
