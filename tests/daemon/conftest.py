"""A daemon of its own for every test that wants one; none is left behind."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxsearch.daemon.client import is_running
from ctxsearch.daemon.lock import FileLock
from ctxsearch.daemon.settings import Settings, read_settings


@pytest.fixture
def environ(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Environment of a user with nothing set but the two directories; the socket's path stays short."""
    runtime = tempfile.mkdtemp(prefix="cs")
    yield {
        "CTXSEARCH_CONFIG": str(tmp_path / "config.toml"),
        "CTXSEARCH_DATA_DIR": str(tmp_path / "data"),
        "CTXSEARCH_RUNTIME_DIR": runtime,
    }
    shutil.rmtree(runtime, ignore_errors=True)


@pytest.fixture
def settings(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Settings]:
    """Settings of a data directory of its own; whatever daemon it got is gone afterwards."""
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    made = read_settings(environ, {})
    yield made
    kill_daemon(made)


def kill_daemon(settings: Settings) -> None:
    """kill -9 of the process that holds the data directory, and the proof that it is gone."""
    if not settings.lock_path.exists() or not is_running(settings):
        return
    os.kill(int(settings.lock_path.read_text()), signal.SIGKILL)
    lock = FileLock(settings.lock_path)
    lock.acquire(timeout_seconds=30)
    lock.release()
