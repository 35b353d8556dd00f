"""The first index of a repository: words answer once files are parsed, and wherever it ends it is made whole."""

from __future__ import annotations

import contextlib
import dataclasses
from pathlib import Path

import pytest
from daemon_project import add_and_wait, names, refresh, search

from ctxsearch.daemon.cli_repositories import follow, wait_for_index
from ctxsearch.daemon.client import DaemonError, stop
from ctxsearch.daemon.layout import Layout
from ctxsearch.daemon.messages import Committed, Job, Phase, Progress, Refresh, Report
from ctxsearch.daemon.registry import Registry, RepositoryRecord
from ctxsearch.daemon.session import Session
from ctxsearch.daemon.settings import Settings
from ctxsearch.daemon.worker import WORN_SHARE, IndexWorker
from ctxsearch.graph.catalog import Snapshot
from ctxsearch.v1 import graph_pb2, node_pb2, repository_pb2, search_pb2


class Ended(BaseException):
    """Stands for kill -9 at a point that a test chooses."""


@dataclasses.dataclass
class EndsAt:
    """Hears a worker's reports and ends it at the one that was chosen, counted from 1."""

    wanted: Report
    times: int = 1

    def __call__(self, report: Report) -> None:
        same = type(report) is type(self.wanted) and getattr(report, "phase", 0) == getattr(self.wanted, "phase", 0)
        self.times -= same
        if same and not self.times:
            raise Ended


def indexed_until(settings: Settings, root: Path, point: EndsAt) -> str:
    """Adds a repository and indexes it in this process until the point; the name."""
    worker = IndexWorker(index_job(settings, root), point)
    with pytest.raises(Ended):
        worker.refresh(Refresh())
    worker.close()
    return root.name


def index_job(settings: Settings, root: Path) -> Job:
    """Of a repository that is added by this, if it was not."""
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    registry = Registry(settings.data_dir / "repositories.json")
    record: RepositoryRecord = registry.at(root) or registry.add(root, "", 0.0)
    directory = Layout(settings.repositories_dir / record.id).directory
    directory.mkdir(parents=True, exist_ok=True)
    return Job(
        role="index",
        root=str(root),
        directory=str(directory),
        history_dir=str(settings.data_dir / "history"),
        max_file_bytes=1 << 20,
        parse_workers=1,
        niceness=0,
    )


def test_a_prepared_process_reads_nothing_of_other_files_for_an_edit(
    settings: Settings, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = index_job(settings, project)
    with contextlib.closing(IndexWorker(job, lambda _report: None)) as first:
        first.refresh(Refresh())
    looked = []
    reads = Snapshot.reads
    monkeypatch.setattr(Snapshot, "reads", lambda snapshot: looked.append("catalog") or reads(snapshot))
    monkeypatch.setattr("ctxsearch.search.lexical.index.check_segments", lambda folder: looked.append("text"))
    with contextlib.closing(IndexWorker(job, lambda _report: None)) as worker:
        assert worker.prepare() == ()
        assert {*looked} == {"catalog", "text"}
        looked.clear()
        (project / "shop" / "retry.py").write_text("def tried_again():\n    return 1\n")
        worker.refresh(Refresh(("shop/retry.py",)))
    assert looked == []


def test_full_text_that_weighs_words_by_much_that_is_gone_is_written_anew_in_a_quiet_moment(
    settings: Settings, project: Path
) -> None:
    job = index_job(settings, project)
    told: list[Report] = []
    with contextlib.closing(IndexWorker(job, told.append)) as worker:
        worker.refresh(Refresh())
        assert worker.prepare() == ()
        assert worker._text is not None
        nodes = worker._text.reader().count()
        told.clear()
        assert worker.prepare() == ()
        assert not told, "nothing is worn"
        for file in sorted(project.rglob("*.py")):  # each alone: all at once would be written anew at once
            file.write_text(file.read_text() + "\n# and so on\n")
            worker.refresh(Refresh((file.relative_to(project).as_posix(),)))
        generation = worker._text.generation
        assert worker._text.worn > WORN_SHARE
        told.clear()
        assert worker.prepare() == ()
        assert told == [Committed("text", generation + 1)], "other weights are another generation"
        assert worker._text.worn == 0.0
        assert (worker._text.generation, worker._text.reader().count()) == (generation + 1, nodes)


def callers_of(session: Session, name: str, symbol: str) -> set[str]:
    request = graph_pb2.CallersRequest(selector=node_pb2.NodeSelector(repository=name, symbol=symbol))
    return {hit.node.name for hit in session.graph("Callers", request).reached}


def with_callers(session: Session, name: str) -> search_pb2.ContextSearchResponse:
    request = search_pb2.ContextSearchRequest(text="apply_discount", mode=search_pb2.SEARCH_MODE_KEYWORD)
    request.scope.include.repositories.append(name)
    request.callers.depth = 1
    response: search_pb2.ContextSearchResponse = session.search(request)
    return response


def test_words_answer_before_calls_are_resolved_and_nothing_passes_for_a_graph(
    settings: Settings, session: Session, project: Path
) -> None:
    name = indexed_until(settings, project, EndsAt(Committed("text", 0)))
    away = project.rename(project.with_name("away"))  # so that the daemon cannot go on
    response = search(session, "apply_discount", name, mode="SEARCH_MODE_KEYWORD")
    assert names(response)[0] == "apply_discount"
    assert not response.indexes[0].graph_ready
    assert not response.degraded  # nothing that was asked for is missing
    expanded = with_callers(session, name)
    assert names(expanded)[0] == "apply_discount"
    assert expanded.degraded
    assert any("not resolved yet" in warning for warning in expanded.warnings)
    with pytest.raises(DaemonError, match="not resolved yet"):
        callers_of(session, name, "apply_discount")
    selector = node_pb2.NodeSelector(repository=name, symbol="apply_discount")
    assert not session.graph("GetNode", graph_pb2.GetNodeRequest(selector=selector)).graph_ready
    away.rename(project)
    assert refresh(session, name) > response.generation
    assert callers_of(session, name, "apply_discount") == {"total_price", "test_apply_discount"}
    whole = with_callers(session, name)
    assert whole.indexes[0].graph_ready
    assert not whole.degraded


@pytest.mark.parametrize(
    "point",
    [
        EndsAt(Progress(Phase.PARSING)),
        EndsAt(Progress(Phase.WRITING), 2),  # nodes are about to be committed
        EndsAt(Progress(Phase.WRITING), 3),  # nodes are committed, full text is not
        EndsAt(Committed("text", 0)),  # both are
        EndsAt(Progress(Phase.RESOLVING), 3),  # edges are being resolved
        EndsAt(Progress(Phase.WRITING), 6),  # edges are committed, full text is behind
    ],
    ids=lambda point: f"{type(point.wanted).__name__}-{getattr(point.wanted, 'phase', '')}-{point.times}",
)
def test_a_first_index_that_ended_anywhere_is_made_whole(
    settings: Settings, session: Session, project: Path, point: EndsAt
) -> None:
    name = indexed_until(settings, project, dataclasses.replace(point))
    wait_for_index(session, name, complete=True)
    assert callers_of(session, name, "apply_discount") == {"total_price", "test_apply_discount"}
    response = with_callers(session, name)
    assert {"apply_discount", "total_price"} <= set(names(response))
    assert response.indexes[0].graph_ready
    assert response.indexes[0].history_ready
    assert not response.degraded


def test_an_answer_says_how_many_nodes_have_no_vectors_after_an_edit(
    settings: Settings, session: Session, project: Path
) -> None:
    name = add_and_wait(session, project)
    stop(settings)
    session.close()

    def edited(text: str) -> search_pb2.ContextSearchResponse:
        """An answer after an edit that only files, words and calls followed: nothing brings the vectors after it."""
        (project / "shop" / "later.py").write_text(text)
        with contextlib.closing(IndexWorker(index_job(settings, project), lambda _report: None)) as worker:
            worker.refresh(Refresh())
        away = project.rename(project.with_name("away"))
        asked = repository_pb2.GetStatusRequest(repository=name)
        next(_ for _ in follow(session, name) if session.repository("GetStatus", asked).embedded_nodes)
        response = search(session, "written_later", name)
        stop(settings)
        session.close()
        away.rename(project)
        return response

    response = edited("def written_later():\n    return 1\n")
    assert names(response)[0] == "written_later"
    assert not response.indexes[0].vectors_ready
    assert response.degraded
    assert "semantic is behind: no vectors yet of 2 new nodes of shop" in response.warnings
    refresh(session, name)
    wait_for_index(session, name, complete=True)
    assert not search(session, "written_later", name).degraded
    stop(settings)
    session.close()
    unmoved = edited("def written_later():\n    return 2\n")
    assert not unmoved.indexes[0].vectors_ready
    assert (unmoved.degraded, list(unmoved.warnings)) == (False, []), "every node has a vector"
    named = search(session, "written_later", name, mode="SEARCH_MODE_KEYWORD")
    assert not named.degraded


def test_generations_count_on_when_everything_is_indexed_again(session: Session, project: Path) -> None:
    name = add_and_wait(session, project)
    before = search(session, "apply_discount", name).generation
    request = search_pb2.ContextSearchRequest(text="apply_discount", min_generation=before + 1)
    request.scope.include.repositories.append(name)
    request.max_wait.FromSeconds(120)
    session.repository("Refresh", repository_pb2.RefreshRequest(repository=name, full=True))
    after = session.search(request)
    assert after.generation > before
    assert after.indexes[0].graph_ready
    assert names(after)[0] == "apply_discount"
