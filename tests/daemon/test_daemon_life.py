"""The life of the daemon, with real processes: start, find, replace, stop, die."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tomllib
from pathlib import Path

import psutil
import pytest

from ctxsearch.daemon.client import DaemonError, connect, is_running, probe, stop
from ctxsearch.daemon.lock import FileLock, LockedError, UnsafeDirectoryError, make_private_directory
from ctxsearch.daemon.settings import Settings
from ctxsearch.daemon.version import VERSION, version_key

CONNECT = """
from ctxsearch.daemon.client import connect
from ctxsearch.daemon.settings import load_settings
with connect(load_settings()) as daemon:
    print(daemon.info.pid)
"""
RUN_AS_VERSION = """
import sys
from ctxsearch.daemon.main import ReadyPipe, run_daemon
from ctxsearch.daemon.settings import load_settings
sys.exit(run_daemon(load_settings(), auto_started=False, ready=ReadyPipe(1), version=sys.argv[1]))
"""


def start_version(version: str) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-c", RUN_AS_VERSION, version], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert process.stdout is not None
    assert process.stdout.read() == b"ready"
    process.stdout.close()
    return process


def wait_until_free(settings: Settings) -> None:
    """Waits for the daemon's end, which is when the kernel drops its lock."""
    lock = FileLock(settings.lock_path)
    lock.acquire(timeout_seconds=60)
    lock.release()


def test_version_is_the_one_of_the_distribution() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert project["project"]["version"] == VERSION


def test_versions_are_compared_by_number() -> None:
    assert version_key("0.9.1") < version_key("0.10.0") < version_key("1.0")


def test_a_lock_is_free_again_when_its_holder_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    code = (
        "import sys, pathlib, signal; from ctxsearch.daemon.lock import FileLock\n"
        "lock = FileLock(pathlib.Path(sys.argv[1])); lock.acquire(); print('held', flush=True); signal.pause()"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(LockedError, match=f"process {holder.pid}"):
            FileLock(path).acquire()
        holder.kill()
        holder.wait()
        with FileLock(path):
            pass


def test_a_private_directory_of_somebody_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafeDirectoryError):
        make_private_directory(tmp_path / "link")


@pytest.mark.parametrize("name", ["file", "file/beneath"])
def test_a_directory_that_cannot_be_made_is_named_with_the_reason(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UnsafeDirectoryError, match=f"{name} cannot be made: .*; choose another directory"):
        make_private_directory(tmp_path / name)


def test_a_read_only_directory_is_refused_with_the_next_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)  # nothing is read-only to root
    with pytest.raises(UnsafeDirectoryError, match=f"{tmp_path} cannot be written; choose .* CTXSEARCH_DATA_DIR"):
        make_private_directory(tmp_path)


def test_an_open_directory_is_closed_to_others(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    make_private_directory(tmp_path / "open")
    assert stat.S_IMODE((tmp_path / "open").stat().st_mode) == 0o700


def test_a_client_starts_a_daemon_and_the_next_one_finds_it(settings: Settings) -> None:
    assert probe(settings) is None
    with connect(settings) as first, connect(settings) as second:
        assert first.info.pid == second.info.pid
        assert first.info.version == VERSION
        assert os.getpid() not in {p.pid for p in psutil.Process(first.info.pid).parents()}
    assert stop(settings) == first.info.pid
    assert not is_running(settings)
    assert not settings.socket_path.exists()
    assert stop(settings) is None


def test_clients_starting_at_once_get_one_daemon(settings: Settings) -> None:
    clients = [subprocess.Popen([sys.executable, "-c", CONNECT], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    answers = {client.communicate(timeout=120)[0].strip() for client in clients}
    assert len(answers) == 1
    assert all(client.returncode == 0 for client in clients)


def test_after_kill_nine_the_next_client_gets_a_new_daemon(settings: Settings) -> None:
    with connect(settings) as first:
        os.kill(first.info.pid, signal.SIGKILL)
    wait_until_free(settings)
    assert settings.socket_path.exists()  # the stale socket is no obstacle
    with connect(settings) as second:
        assert second.info.pid != first.info.pid


def test_an_older_daemon_is_replaced(settings: Settings) -> None:
    with start_version("0.0.1") as old:
        with connect(settings) as daemon:
            assert daemon.info.version == VERSION
            assert daemon.info.pid != old.pid
        assert old.wait(timeout=60) == 0


def test_a_newer_daemon_is_used_as_it_is(settings: Settings) -> None:
    with start_version("99.0.0") as newer:
        with connect(settings) as daemon:
            assert daemon.info.pid == newer.pid
        newer.send_signal(signal.SIGTERM)
        assert newer.wait(timeout=60) == 0
    assert not is_running(settings)


def test_a_second_daemon_on_one_data_directory_is_refused(settings: Settings) -> None:
    with start_version(VERSION) as first:
        second = subprocess.run(
            [sys.executable, "-c", RUN_AS_VERSION, VERSION], capture_output=True, text=True, timeout=60, check=False
        )
        assert second.returncode == 3
        assert f"held by process {first.pid}" in second.stderr
        first.terminate()
        assert first.wait(timeout=60) == 0


def test_an_auto_started_daemon_leaves_when_idle(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXSEARCH_IDLE_TIMEOUT_SECONDS", "0.1")
    connect(settings).close()
    wait_until_free(settings)
    assert not settings.socket_path.exists()


def test_a_daemon_that_cannot_start_says_why(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CTXSEARCH_LISTEN", "0.0.0.0:0")
    with pytest.raises(
        DaemonError, match=r"beyond loopback on .* needs: allow_remote, tls_certificate, tls_key, token"
    ):
        connect(settings)
    assert not is_running(settings)
