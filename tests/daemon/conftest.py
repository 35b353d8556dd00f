"""A daemon of its own for every test that wants one, and one that many tests only read; none is left behind."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from daemon_project import Served, add_and_wait, make_project, wait_until_free

from ctxsearch.daemon.client import is_running
from ctxsearch.daemon.session import Session
from ctxsearch.daemon.settings import Settings, read_settings


@pytest.fixture
def environ(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Environment of a user with nothing set but the two directories; the socket's path stays short."""
    runtime = tempfile.mkdtemp(prefix="cs")
    yield made_environ(tmp_path, runtime)
    shutil.rmtree(runtime, ignore_errors=True)


def made_environ(folder: Path, runtime: str) -> dict[str, str]:
    return {
        "CTXSEARCH_CONFIG": str(folder / "config.toml"),
        "CTXSEARCH_DATA_DIR": str(folder / "data"),
        "CTXSEARCH_RUNTIME_DIR": runtime,
        "CTXSEARCH_INDEXING_NICENESS": "0",  # a busy test machine would starve the index
    }


@pytest.fixture
def settings(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """Settings of a data directory of its own; whatever daemon it got is gone afterwards."""
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    made = read_settings(environ, {})
    yield made
    kill_daemon(made)


@pytest.fixture
def session(settings: Settings, tmp_path: Path) -> Iterator[Session]:
    """A session with a daemon of its own."""
    made = Session(settings, tmp_path)
    yield made
    made.close()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of its own."""
    return make_project(tmp_path / "shop")


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One daemon and one project, whole with vectors and history, for tests that change nothing."""
    folder = tmp_path_factory.mktemp("served")
    runtime = tempfile.mkdtemp(prefix="cs")
    environ = made_environ(folder, runtime)
    made = read_settings(environ, {})
    before = {name: os.environ.get(name) for name in environ}
    os.environ |= environ
    root = make_project(folder / "shop")
    session = Session(made, root)
    try:
        name = add_and_wait(session, root)
    finally:
        for key, value in before.items():
            os.environ.pop(key) if value is None else os.environ.update({key: value})
    yield Served(made, session, root, name)
    session.close()
    kill_daemon(made)
    shutil.rmtree(runtime, ignore_errors=True)


def kill_daemon(settings: Settings) -> None:
    """kill -9 of the process that holds the data directory, and the proof that it is gone."""
    if not settings.lock_path.exists() or not is_running(settings):
        return
    os.kill(int(settings.lock_path.read_text()), signal.SIGKILL)
    wait_until_free(settings)
