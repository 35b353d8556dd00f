"""Indexing beside serving: edits, branches, crashes, removal; always by generation, never by waiting blindly."""

from __future__ import annotations

import os
import shutil
import signal
import time
from pathlib import Path

import psutil
import pytest
from daemon_project import add_and_wait, cli, git, make_project, names, refresh, search, wait_until_free

from ctxsearch.daemon.cli_repositories import follow, wait_for_index
from ctxsearch.daemon.client import DaemonError, stop
from ctxsearch.daemon.session import Session
from ctxsearch.daemon.settings import Settings
from ctxsearch.v1 import graph_pb2, node_pb2, repository_pb2, search_pb2


def status(session: Session, name: str) -> repository_pb2.GetStatusResponse:
    answer: repository_pb2.GetStatusResponse = session.repository(
        "GetStatus", repository_pb2.GetStatusRequest(repository=name)
    )
    return answer


def catalog_of(settings: Settings) -> Path:
    return next(settings.repositories_dir.glob("*/catalog.sqlite"))


def killed(session: Session) -> None:
    """kill -9 of the daemon; no process of its is left."""
    pid = session.connection.info.pid
    children = psutil.Process(pid).children(recursive=True)
    os.kill(pid, signal.SIGKILL)
    session.close()
    wait_until_free(session.settings)
    _, alive = psutil.wait_procs(children, timeout=30)
    assert not alive


def test_an_edit_is_found_by_the_watcher_and_read_by_its_generation(session: Session, project: Path) -> None:
    name = add_and_wait(session, project, complete=False)
    before = search(session, "apply_discount", name).generation
    (project / "shop" / "shipping.py").write_text("def shipping_costs(weight):\n    return weight * 3\n")
    response = search(session, "shipping_costs", name, min_generation=before + 1, max_wait={"seconds": 120})
    assert response.generation > before
    assert names(response)[0] == "shipping_costs"


@pytest.mark.parametrize("rules", [".gitignore", ".git/info/exclude"])
def test_rules_of_what_is_ignored_are_followed(session: Session, project: Path, rules: str) -> None:
    (project / "scratch.py").write_text("def scratched_out():\n    return 1\n")
    name = add_and_wait(session, project, complete=False)
    found = search(session, "scratched_out", name, mode="SEARCH_MODE_KEYWORD")
    assert names(found)[0] == "scratched_out"
    with (project / rules).open("a") as file:
        file.write("\nscratch.py\n")
    later = {"min_generation": found.generation + 1, "max_wait": {"seconds": 120}}
    while "scratched_out" in names(found):  # the rules themselves may be a generation of their own
        found = search(session, "scratched_out", name, mode="SEARCH_MODE_KEYWORD", **later)
        later["min_generation"] = found.generation + 1


def test_an_edit_under_a_lock_that_git_never_lets_go_of_is_found(session: Session, project: Path) -> None:
    name = add_and_wait(session, project, complete=False)
    before = search(session, "apply_discount", name).generation
    (project / ".git" / "index.lock").touch()
    (project / "shop" / "later.py").write_text("def written_later():\n    return 1\n")
    response = search(session, "written_later", name, min_generation=before + 1, max_wait={"seconds": 120})
    assert names(response)[0] == "written_later"


def test_a_refresh_reads_changes_deletions_and_renames(session: Session, project: Path) -> None:
    name = add_and_wait(session, project, complete=False)
    (project / "shop" / "retry.py").unlink()
    (project / "web" / "format.js").rename(project / "web" / "money.js")
    (project / "shop" / "pricing.py").write_text("def lower_price(x):\n    return x - 1\n")
    refresh(session, name)
    found = search(session, "price currency retry_with_backoff apply_discount", name, mode="SEARCH_MODE_KEYWORD", k=50)
    assert {"lower_price", "formatCurrency"} <= set(names(found))
    assert {"retry_with_backoff", "apply_discount"}.isdisjoint(names(found))
    assert {result.node.path for result in found.results if result.node.name == "formatCurrency"} == {"web/money.js"}


def test_a_branch_switch_is_followed_and_the_commit_is_named(session: Session, project: Path) -> None:
    name = add_and_wait(session, project, complete=False)
    main = git(project, "rev-parse", "HEAD")
    git(project, "checkout", "-q", "-b", "other")
    (project / "shop" / "voucher.py").write_text("def redeem_voucher(code):\n    return code\n")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "vouchers")
    refresh(session, name)
    there = search(session, "redeem_voucher", name)
    assert names(there)[0] == "redeem_voucher"
    assert there.commit == git(project, "rev-parse", "HEAD")
    git(project, "checkout", "-q", "main")
    refresh(session, name)
    back = search(session, "redeem_voucher", name, mode="SEARCH_MODE_KEYWORD")
    assert "redeem_voucher" not in names(back)
    assert back.commit == main


def test_uncommitted_lines_make_a_node_fresh_by_work_tree(session: Session, project: Path) -> None:
    name = add_and_wait(session, project)
    file = project / "shop" / "pricing.py"
    file.write_text(file.read_text().replace("never below zero", "never below nothing"))
    refresh(session, name)
    wait_for_index(session, name, complete=True)
    request = graph_pb2.GetNodeRequest(selector=node_pb2.NodeSelector(repository=name, symbol="apply_discount"))
    facts = session.graph("GetNode", request).freshness
    assert facts.freshness == node_pb2.FRESHNESS_FRESH
    assert facts.freshness_source == node_pb2.FRESHNESS_SOURCE_WORKTREE


def test_vectors_follow_an_edit(session: Session, project: Path) -> None:
    name = add_and_wait(session, project)
    (project / "shop" / "pricing.py").write_text("def sharpen_pencil(x):\n    return x\n")
    (project / "shop" / "retry.py").unlink()
    refresh(session, name)
    wait_for_index(session, name, complete=True)
    found = names(search(session, "sharpen_pencil", name, mode="SEARCH_MODE_SEMANTIC", k=50))
    assert found[0] == "sharpen_pencil"
    assert {"apply_discount", "retry_with_backoff"}.isdisjoint(found)
    assert "formatCurrency" in names(search(session, "formatCurrency", name, mode="SEARCH_MODE_SEMANTIC", k=50))


def test_keyword_search_answers_before_vectors_and_says_so(session: Session, project: Path) -> None:
    name = add_and_wait(session, project, complete=False)
    response = search(session, "apply_discount", name)
    if not response.indexes[0].vectors_ready:
        assert response.degraded
        assert any("semantic" in warning for warning in response.warnings)
    assert names(response)[0] == "apply_discount"
    wait_for_index(session, name, complete=True)
    assert not search(session, "apply_discount", name).degraded


def test_a_file_changed_since_it_was_indexed_is_marked(
    settings: Settings, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CTXSEARCH_WATCH", "0")
    session = Session(settings, project)
    name = add_and_wait(session, project, complete=False)
    (project / "shop" / "retry.py").write_text("# emptied\n")
    (project / "web" / "format.js").unlink()
    response = search(session, "retry_with_backoff formatCurrency apply_discount", name)
    by_name = {r.node.name: r for r in response.results}
    assert by_name["retry_with_backoff"].changed_on_disk
    assert by_name["formatCurrency"].changed_on_disk
    assert not by_name["apply_discount"].changed_on_disk
    assert trailing(response) == (True, 2, [2]), "nobody watches, but the answer itself shows them"
    assert "2 files of shop changed since it was indexed" in cli(settings, project, "formatCurrency retry").stdout
    assert trailing(search(session, "apply_discount", name, k=1)) == (False, 0, [0])
    session.close()


def trailing(response: search_pb2.ContextSearchResponse) -> tuple[bool, int, list[int]]:
    return (
        response.trails_working_tree,
        response.trailing_files,
        [index.trailing_files for index in response.indexes],
    )


def test_an_answer_says_how_many_files_changed_since_as_status_does(session: Session, project: Path) -> None:
    name = add_and_wait(session, project)
    indexing = psutil.Process(session.connection.info.pid).children(recursive=True)
    for process in indexing:
        process.suspend()
    try:
        for number in range(3):
            (project / "shop" / f"later{number}.py").write_text(f"def later{number}():\n    return {number}\n")
        for _ in follow(session, name):
            if status(session, name).trailing_files == 3:
                break
        assert trailing(search(session, "apply_discount", name)) == (True, 3, [3])
    finally:
        for process in indexing:
            process.resume()
    refresh(session, name)
    assert trailing(search(session, "apply_discount", name)) == (False, 0, [0])


def test_after_kill_nine_the_last_generation_answers_and_nothing_is_left_running(
    session: Session, project: Path
) -> None:
    name = add_and_wait(session, project)
    before = search(session, "apply_discount", name)
    killed(session)
    after = search(session, "apply_discount", name)
    assert after.generation >= before.generation
    assert names(after)[0] == names(before)[0] == "apply_discount"
    wait_for_index(session, name, complete=True)  # vectors and history are opened after the first answer
    assert names(search(session, "apply_discount", name)) == names(before)


def test_after_a_restart_meaning_and_history_answer_from_what_is_on_disk(session: Session, project: Path) -> None:
    name = add_and_wait(session, project)
    before = search(session, "apply_discount", name)
    stop(session.settings)
    session.close()
    project.rename(project.parent / "elsewhere")  # so that no worker can find anything to do
    for progress in follow(session, name):
        if progress.vectors_ready and progress.history_ready:
            break
    after = search(session, "apply_discount", name)
    assert not after.degraded
    assert names(after) == names(before)
    assert [one.freshness for one in after.results] == [one.freshness for one in before.results]


@pytest.mark.parametrize("phase", ["LISTING", "PARSING", "EMBEDDING"])
def test_kill_nine_while_indexing_loses_nothing(session: Session, project: Path, phase: str) -> None:
    request = repository_pb2.AddRepositoryRequest(path=str(project))
    name = session.repository("AddRepository", request).repository.name
    wanted = repository_pb2.IndexPhase.Value(f"INDEX_PHASE_{phase}")
    for progress in follow(session, name):
        if progress.phase == wanted or progress.phase == repository_pb2.INDEX_PHASE_IDLE:
            break
    killed(session)
    wait_for_index(session, name, complete=True)
    response = search(session, "apply_discount", name)
    assert names(response)[0] == "apply_discount"
    assert not response.degraded


def test_killed_workers_are_replaced(session: Session, project: Path) -> None:
    name = add_and_wait(session, project)
    daemon = psutil.Process(session.connection.info.pid)
    for child in daemon.children(recursive=True):
        child.kill()
    (project / "shop" / "later.py").write_text("def written_later():\n    return 1\n")
    refresh(session, name)
    assert names(search(session, "written_later", name))[0] == "written_later"


def test_edits_are_found_after_indexing_processes_left_for_want_of_work(
    session: Session, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CTXSEARCH_WORKER_IDLE_SECONDS", "0.05")  # read by the daemon that the session starts
    name = add_and_wait(session, project)
    daemon = psutil.Process(session.connection.info.pid)
    for number in range(3):
        _, alive = psutil.wait_procs(daemon.children(), timeout=120)
        assert not alive, "they have nothing to do"
        (project / "shop" / "later.py").write_text(f"def written_later_{number}():\n    return 1\n")
        refresh(session, name)
        assert names(search(session, f"written_later_{number}", name))[0] == f"written_later_{number}"


def test_a_killed_indexing_process_is_replaced_before_anybody_asks(session: Session, project: Path) -> None:
    add_and_wait(session, project)
    daemon = psutil.Process(session.connection.info.pid)
    gone = daemon.children()
    for child in gone:
        child.kill()
    deadline = time.monotonic() + 60
    while not set(daemon.children()) - set(gone):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_question_brings_back_the_process_that_the_next_edit_needs(session: Session, project: Path) -> None:
    name = add_and_wait(session, project)
    daemon = psutil.Process(session.connection.info.pid)
    gone = daemon.children()
    for child in gone:
        child.kill()
    while not set(daemon.children()) - set(gone):
        search(session, "apply_discount", name)


@pytest.mark.parametrize("damage", ["truncated", "flipped", "deleted"])
def test_a_damaged_store_is_made_again(session: Session, project: Path, damage: str) -> None:
    name = add_and_wait(session, project)
    stop(session.settings)
    session.close()
    directory = catalog_of(session.settings).parent
    victims = [
        catalog_of(session.settings),
        *sorted(directory.glob("*/text/**/*.store")),
        *sorted(directory.glob("*/freshness")),
    ]
    for victim in victims:
        data = bytearray(victim.read_bytes())
        if damage == "deleted":
            victim.unlink()
        else:
            middle = len(data) // 2
            data[middle] ^= 0xFF
            victim.write_bytes(data[:middle] if damage == "truncated" else data)
    refresh(session, name)
    wait_for_index(session, name, complete=True)
    response = search(session, "apply_discount", name)
    assert names(response)[0] == "apply_discount"


def test_the_first_answer_waits_for_full_text_that_must_be_made_again(session: Session, project: Path) -> None:
    name = add_and_wait(session, project, complete=False)
    stop(session.settings)
    session.close()
    for store in catalog_of(session.settings).parent.glob("*/*"):
        shutil.rmtree(store) if store.is_dir() else store.unlink()
    assert names(search(session, "apply_discount", name))[0] == "apply_discount"


def test_two_repositories_are_searched_together_and_apart(session: Session, tmp_path: Path) -> None:
    one = add_and_wait(session, make_project(tmp_path / "one"), complete=False)
    two = add_and_wait(
        session, make_project(tmp_path / "two", {"bank.py": "def apply_interest(x):\n    return x\n"}), complete=False
    )
    both = search(session, "apply", k=50)
    assert {result.node.repository for result in both.results} == {one, two}
    assert both.generation == 0
    assert {index.repository for index in both.indexes} == {one, two}
    assert {result.node.repository for result in search(session, "apply", two).results} == {two}
    with pytest.raises(DaemonError, match="min_generation"):
        search(session, "apply", min_generation=1)


def test_removing_a_repository_deletes_its_index_and_nothing_else(session: Session, project: Path) -> None:
    name = add_and_wait(session, project, complete=False)
    files = sorted(path for path in project.rglob("*"))
    answer = session.repository("RemoveRepository", repository_pb2.RemoveRepositoryRequest(repository=name))
    assert answer.freed_bytes > 0
    assert sorted(path for path in project.rglob("*")) == files
    assert not list(session.settings.repositories_dir.iterdir())
    with pytest.raises(DaemonError, match="no repository"):
        search(session, "apply_discount", name)
    with pytest.raises(DaemonError, match="no repository was added"):
        search(session, "apply_discount")


def test_adding_twice_is_adding_once_and_a_subdirectory_means_its_repository(session: Session, project: Path) -> None:
    name = add_and_wait(session, project, complete=False)
    again = session.repository("AddRepository", repository_pb2.AddRepositoryRequest(path=str(project / "shop")))
    assert again.existed
    assert again.repository.name == name


def test_a_directory_with_nothing_to_index_is_an_error_with_a_reason(session: Session, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "picture.bin").write_bytes(bytes(range(256)) * 10)
    with pytest.raises(DaemonError, match="could not be indexed"):
        add_and_wait(session, tmp_path / "empty")


def test_every_verb_of_the_graph_marks_what_changed_since_it_was_indexed(
    settings: Settings, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CTXSEARCH_WATCH", "0")
    session = Session(settings, project)
    add_and_wait(session, project)
    verbs = (
        ("node", "apply_discount"),
        ("callers", "apply_discount"),
        ("dependencies", "total_price"),
        ("related", "apply_discount"),
        ("impact", "apply_discount"),
        ("path", "place_order", "apply_discount"),
        ("outline", "shop"),
        ("freshness", "shop/pricing.py"),
        ("freshness", "apply_discount"),
    )

    def marked(*words: str) -> set[str]:
        lines = cli(settings, project, *words).stdout.splitlines()
        shown = [line.split() for line in lines if line.endswith("  changed on disk")]
        return {word.partition(":")[0] for words in shown for word in words if ".py:" in word}

    assert not any(marked(*words) for words in verbs)
    file = project / "shop" / "pricing.py"
    before = file.read_text()
    file.write_text(f"# moved\n# down\n{before}")
    for words in verbs:
        assert marked(*words) == {"shop/pricing.py"}, words
        told = cli(settings, project, *words, "--json").stdout
        assert '"changed_on_disk": true' in told, words
    found = session.graph("FindNodes", graph_pb2.FindNodesRequest(name="apply_discount"))
    assert [node.changed_on_disk for node in found.nodes] == [True]
    assert status(session, project.name).trailing_files == 1
    file.write_text(before)
    assert status(session, project.name).trailing_files == 0
    assert not marked("callers", "apply_discount")
    shutil.move(project, project.with_name("moved"))
    response = session.graph("Outline", graph_pb2.OutlineRequest(repository=project.name, path="web"))
    assert all(entry.node.changed_on_disk for entry in response.entries)


def test_a_plain_directory_without_git_is_indexed(session: Session, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "tool.py").write_text("def sharpen_pencil():\n    return 1\n")
    name = add_and_wait(session, folder)
    response = search(session, "sharpen_pencil", name)
    assert names(response)[0] == "sharpen_pencil"
    assert response.commit == ""
    assert response.results[0].freshness == node_pb2.FRESHNESS_ACCEPTABLE


def test_a_root_that_vanished_keeps_its_answers_and_says_so(session: Session, project: Path) -> None:
    name = add_and_wait(session, project, complete=False)
    shutil.rmtree(project)
    request = repository_pb2.RefreshRequest(repository=name)
    request.max_wait.FromSeconds(60)
    assert not session.repository("Refresh", request, timeout=90).completed
    response = search(session, "apply_discount", name)
    assert names(response)[0] == "apply_discount"
    assert response.results[0].changed_on_disk
    assert status(session, name).progress.phase == repository_pb2.INDEX_PHASE_FAILED
    assert list(status(session, name).progress.errors) == [
        f"{project} is gone; put it back, or let go of its index with `ctxsearch remove`"
    ]


def test_a_root_that_comes_back_as_another_directory_is_watched_again(session: Session, project: Path) -> None:
    name = add_and_wait(session, project, complete=False)
    before = search(session, "apply_discount", name).generation
    shutil.move(project, project.with_name("moved"))
    make_project(project, {"again.py": "def back_again():\n    return 1\n"})
    response = search(session, "back_again", name, min_generation=before + 1, max_wait={"seconds": 120})
    assert names(response)[0] == "back_again"
    refresh(session, name)  # the commit may come after the files, and as a generation of its own
    before = search(session, "back_again", name).generation
    (project / "later.py").write_text("def written_later():\n    return 1\n")
    response = search(session, "written_later", name, min_generation=before + 1, max_wait={"seconds": 120})
    assert names(response)[0] == "written_later"


def test_a_stop_while_indexing_is_quick_and_safe(session: Session, project: Path) -> None:
    request = repository_pb2.AddRepositoryRequest(path=str(project))
    name = session.repository("AddRepository", request).repository.name
    children = psutil.Process(session.connection.info.pid).children(recursive=True)
    assert stop(session.settings, grace_seconds=1) is not None
    session.close()
    assert not psutil.wait_procs(children, timeout=30)[1]
    wait_for_index(session, name)
    assert names(search(session, "apply_discount", name))[0] == "apply_discount"


def test_an_answer_in_flight_is_given_before_a_polite_stop(session: Session, project: Path) -> None:
    name = add_and_wait(session, project, complete=False)
    request = search_pb2.ContextSearchRequest(text="x", min_generation=999)
    request.max_wait.FromMilliseconds(1500)
    request.scope.include.repositories.append(name)
    call = session.channel.unary_unary(
        "/ctxsearch.v1.ContextSearchService/ContextSearch",
        request_serializer=search_pb2.ContextSearchRequest.SerializeToString,
    ).future(request, timeout=60)
    search(session, "apply_discount", name)  # the first request is in flight by the time this one is answered
    stop(session.settings, grace_seconds=30)
    assert call.code().name in ("OUT_OF_RANGE", "UNAVAILABLE")
