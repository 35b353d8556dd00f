"""Each sentence of the security contract, tried by an attacker."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import grpc
import pytest
from daemon_project import Served, add_and_wait, git, names, search

from ctxsearch.daemon.boundary import Activity, Boundary
from ctxsearch.daemon.cli import ctxsearch, main
from ctxsearch.daemon.client import DaemonError, connect
from ctxsearch.daemon.errors import AmbiguousSymbolError, InvalidRequestError
from ctxsearch.daemon.server import bind_tcp
from ctxsearch.daemon.session import Session
from ctxsearch.daemon.settings import BadSettingError, Settings, is_loopback, read_settings
from ctxsearch.daemon.show import safe
from ctxsearch.daemon.tracing import Tracing
from ctxsearch.daemon.workspace import inside, repository_root
from ctxsearch.v1 import admin_pb2, admin_pb2_grpc, graph_pb2, repository_pb2, search_pb2, search_pb2_grpc

TOKEN = "correct horse battery staple"


def test_the_socket_is_private_in_a_private_directory(served: Served) -> None:
    assert stat.S_IMODE(served.settings.socket_path.stat().st_mode) == 0o600
    assert stat.S_IMODE(served.settings.runtime_dir.stat().st_mode) == 0o700
    assert stat.S_IMODE(served.settings.data_dir.stat().st_mode) == 0o700
    assert stat.S_ISSOCK(served.settings.socket_path.stat().st_mode)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can try as another user")
def test_another_user_cannot_connect(served: Served) -> None:
    code = (
        "import os, socket, sys\n"
        "os.setgid(65534); os.setuid(65534)\n"
        "try:\n"
        "    socket.socket(socket.AF_UNIX).connect(sys.argv[1])\n"
        "except PermissionError:\n"
        "    sys.exit(7)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(served.settings.socket_path)], timeout=60, check=False)
    assert done.returncode == 7


def test_no_tcp_port_is_open_unless_asked(served: Served) -> None:
    import psutil

    with connect(served.settings) as connection:
        process = psutil.Process(connection.info.pid)
        assert list(connection.info.addresses) == [served.settings.address]
    assert not [c for c in process.net_connections("inet") if c.status == psutil.CONN_LISTEN]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]", "127.8.8.8"])
def test_loopback_addresses_are_recognised(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "[::]", "192.168.1.1", "example.org", "localhost.example.org", ""])
def test_anything_else_is_not_loopback(host: str) -> None:
    assert not is_loopback(host)


def test_a_certificate_without_its_key_is_not_taken_for_plain_text(environ: dict[str, str]) -> None:
    settings = read_settings(environ, {"listen": "127.0.0.1:0", "tls_certificate": "a.pem"})
    with pytest.raises(BadSettingError, match="go together"):
        bind_tcp(grpc.server(None), settings)  # type: ignore[arg-type]


def test_beyond_loopback_every_guard_is_required(environ: dict[str, str]) -> None:
    guards: dict[str, object] = {"allow_remote": True, "tls_certificate": "c", "tls_key": "k", "token": TOKEN}
    for missing in guards:
        chosen = {name: value for name, value in guards.items() if name != missing}
        settings = read_settings(environ, {"listen": "0.0.0.0:0", **chosen})
        with pytest.raises(BadSettingError, match=missing):
            bind_tcp(grpc.server(None), settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("address", ["8080", "127.0.0.1:99999"])
def test_a_malformed_listen_address_is_refused(environ: dict[str, str], address: str) -> None:
    with pytest.raises(BadSettingError, match="HOST:PORT"):
        bind_tcp(grpc.server(None), read_settings(environ, {"listen": address}))  # type: ignore[arg-type]


def test_tcp_peers_need_the_token_and_it_is_never_logged(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("CTXSEARCH_LISTEN", "127.0.0.1:0")
    monkeypatch.setenv("CTXSEARCH_TOKEN", TOKEN)
    with connect(settings) as connection:
        address = connection.info.addresses[1]
    request = admin_pb2.GetServerInfoRequest()
    with grpc.insecure_channel(address) as channel:
        stub = admin_pb2_grpc.AdminServiceStub(channel)
        for metadata in ((), (("authorization", "Bearer wrong"),), (("authorization", TOKEN),)):
            with pytest.raises(grpc.RpcError) as caught:
                stub.GetServerInfo(request, timeout=30, metadata=metadata)
            assert caught.value.code() == grpc.StatusCode.UNAUTHENTICATED
        right = (("authorization", f"Bearer {TOKEN}"),)
        assert stub.GetServerInfo(request, timeout=30, metadata=right).pid
    logged = "".join(path.read_text() for path in settings.log_path.parent.iterdir())
    assert TOKEN not in logged
    assert "UNAUTHENTICATED" in logged


def test_tokens_are_compared_in_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from ctxsearch.daemon import boundary

    compared: list[tuple[bytes, bytes]] = []

    def spy(sent: bytes, expected: bytes) -> bool:
        compared.append((sent, expected))
        return sent == expected

    monkeypatch.setattr(boundary.hmac, "compare_digest", spy)

    class Peer:
        def peer(self) -> str:
            return "ipv4:127.0.0.1:1"

    guard = Boundary(TOKEN, Activity(), None, Tracing())  # type: ignore[arg-type]
    guard._authenticate(Peer(), {"authorization": f"Bearer {TOKEN}"})  # type: ignore[arg-type]
    assert compared == [(f"Bearer {TOKEN}".encode(), f"Bearer {TOKEN}".encode())]


def test_tls_is_spoken_and_plain_text_is_not(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    names = ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(key), "-out", str(certificate)]
    made = subprocess.run(
        [*command, *names],
        capture_output=True,
        timeout=60,
        check=False,
    )
    if made.returncode:
        pytest.skip("openssl is not installed")
    for name, value in {
        "LISTEN": "0.0.0.0:0",
        "ALLOW_REMOTE": "1",
        "TLS_CERTIFICATE": str(certificate),
        "TLS_KEY": str(key),
        "TOKEN": TOKEN,
    }.items():
        monkeypatch.setenv(f"CTXSEARCH_{name}", value)
    with connect(settings) as connection:
        port = connection.info.addresses[1].rpartition(":")[2]
    metadata = (("authorization", f"Bearer {TOKEN}"),)
    request = admin_pb2.GetServerInfoRequest()
    credentials = grpc.ssl_channel_credentials(certificate.read_bytes())
    with grpc.secure_channel(f"localhost:{port}", credentials) as channel:
        assert admin_pb2_grpc.AdminServiceStub(channel).GetServerInfo(request, timeout=30, metadata=metadata).pid
    with grpc.insecure_channel(f"localhost:{port}") as channel:
        with pytest.raises(grpc.RpcError) as caught:
            admin_pb2_grpc.AdminServiceStub(channel).GetServerInfo(request, timeout=10, metadata=metadata)
        assert caught.value.code() == grpc.StatusCode.UNAVAILABLE


@pytest.mark.parametrize(
    "path", ["../other", "/etc/passwd", "shop/../../x", "shop//x", "a\0b", "shop/./x", "..", "shop/.."]
)
def test_a_path_that_could_lead_out_is_refused(served: Served, path: str) -> None:
    with pytest.raises(InvalidRequestError, match="path"):
        inside(path)
    with pytest.raises(DaemonError, match="path") as caught:
        served.session.graph("Outline", graph_pb2.OutlineRequest(repository=served.name, path=path))
    assert caught.value.code == "INVALID_ARGUMENT"


@pytest.mark.parametrize("path", ["", "relative/path", "/does/not/exist", "/etc/hostname", "/a\0b"])
def test_only_a_directory_by_its_absolute_path_can_be_added(path: str) -> None:
    with pytest.raises(InvalidRequestError, match="path"):
        repository_root(path)


def test_our_own_data_directory_cannot_be_added(served: Served) -> None:
    with pytest.raises(DaemonError, match="own data directory"):
        served.session.repository(
            "AddRepository", repository_pb2.AddRepositoryRequest(path=str(served.settings.repositories_dir))
        )


def test_secrets_ignored_files_and_links_out_of_the_root_are_never_indexed(session: Session, project: Path) -> None:
    outside = project.parent / "outside.py"
    outside.write_text("def outsidezebra():\n    pass\n")
    (project / "link.py").symlink_to(outside)
    (project / "id_rsa").write_text("-----BEGIN OPENSSH PRIVATE KEY-----\nleakedzebra\n")
    git(project, "add", "-A")
    name = add_and_wait(session, project, complete=False)
    for word in ("hunterzebra", "plannedzebra", "outsidezebra", "leakedzebra"):
        assert not search(session, word, name, mode="SEARCH_MODE_KEYWORD").results, word
    stored = b"".join(p.read_bytes() for p in session.settings.repositories_dir.rglob("*") if p.is_file())
    assert b"hunterzebra" not in stored
    assert b"leakedzebra" not in stored


def test_a_symlink_put_in_place_of_an_indexed_file_is_not_followed(session: Session, project: Path) -> None:
    name = add_and_wait(session, project, complete=False)
    target = project / "shop" / "retry.py"
    outside = project.parent / "outside.py"
    outside.write_text("def outsidezebra():\n    pass\n")
    target.unlink()
    target.symlink_to(outside)
    response = search(session, "retry_with_backoff", name, content="CONTENT_LEVEL_FULL")
    assert all("outsidezebra" not in result.snippet.text for result in response.results)


def test_a_hostile_repository_executes_nothing(session: Session, project: Path) -> None:
    proof = project.parent / "executed"
    trap = project / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {proof}\ncat\n")
    trap.chmod(0o755)
    for hook in ("post-checkout", "pre-commit", "post-index-change", "fsmonitor-watchman"):
        file = project / ".git" / "hooks" / hook
        file.write_text(f"#!/bin/sh\ntouch {proof}\n")
        file.chmod(0o755)
    for key, value in {
        "core.fsmonitor": str(trap),
        "core.pager": str(trap),
        "core.sshCommand": str(trap),
        "core.editor": str(trap),
        "diff.external": str(trap),
        "diff.trap.textconv": str(trap),
        "filter.trap.clean": str(trap),
        "filter.trap.smudge": str(trap),
        "filter.trap.process": str(trap),
        "log.showSignature": "true",
        "gpg.program": str(trap),
    }.items():
        git(project, "config", key, value)
    (project / ".gitattributes").write_text("*.py filter=trap diff=trap\n")
    for module in ("grpc", "json", "multiprocessing", "ctxsearch", "sitecustomize", "msgspec"):
        (project / f"{module}.py").write_text(f"open({str(proof)!r}, 'w')\n")
    session.cwd = project
    name = add_and_wait(session, project)
    (project / "shop" / "retry.py").write_text("def another():\n    pass\n")
    request = repository_pb2.RefreshRequest(repository=name)
    request.max_wait.FromSeconds(120)
    session.repository("Refresh", request, timeout=150)
    assert names(search(session, "apply_discount", name))[0] == "apply_discount"
    assert not proof.exists()


def test_a_client_started_in_a_hostile_directory_imports_nothing_of_it(settings: Settings, tmp_path: Path) -> None:
    proof = tmp_path / "executed"
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    for module in ("grpc", "json", "structlog", "ctxsearch", "platformdirs"):
        (hostile / f"{module}.py").write_text(f"open({str(proof)!r}, 'w')\n")
    script = Path(sys.executable).parent / "ctxsearch"
    done = subprocess.run([str(script), "daemon", "start"], cwd=hostile, capture_output=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert not proof.exists()


def test_nothing_is_written_into_the_repository(session: Session, project: Path) -> None:
    def state() -> dict[str, tuple[int, int]]:
        return {str(p): (p.lstat().st_mtime_ns, p.lstat().st_size) for p in sorted(project.rglob("*"))}

    before = state()
    add_and_wait(session, project)
    assert state() == before


def test_an_error_that_names_a_hostile_file_is_one_harmless_line(capsys: pytest.CaptureFixture[str]) -> None:
    def raising(*_: object) -> None:
        raise AmbiguousSymbolError("f", ["f (esc\x1b[31m.py:1, 0)", "f (two\nlines.py:1, 1)"], 2)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ctxsearch, "invoke", raising)
        assert main(["callers", "f"]) == 2
    said = capsys.readouterr().err
    assert "\x1b" not in said
    assert said.count("\n") == 1


def test_text_of_indexed_files_cannot_steer_the_terminal() -> None:
    assert "\x1b" not in safe("\x1b]0;owned\x07\x1b[31mred")
    assert "\u202e" not in safe("abc\u202edef")
    assert safe("plain\ttext é 漢") == "plain\ttext é 漢"


def test_the_serving_process_opens_no_connection_to_anywhere(served: Served) -> None:
    import psutil

    search(served.session, "apply_discount", served.name)
    process = psutil.Process(int(served.settings.lock_path.read_text()))
    for each in (process, *process.children(recursive=True)):
        assert not each.net_connections("inet")


def test_metrics_are_on_loopback_only_and_say_nothing_about_queries(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, project: Path
) -> None:
    import urllib.request

    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    monkeypatch.setenv("CTXSEARCH_METRICS_PORT", str(port))
    session = Session(settings, project)
    name = add_and_wait(session, project, complete=False)
    search(session, "very_private_question", name)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as page:
        text = page.read().decode()
    assert 'ctxsearch_requests_total{code="OK",method="ContextSearch"} 1.0' in text
    assert f'ctxsearch_generation{{repository="{name}"}}' in text
    assert 'ctxsearch_signal_seconds_count{signal="bm25"} 1.0' in text
    assert "ctxsearch_memory_bytes" in text
    assert f'ctxsearch_skipped_files{{reason="secret",repository="{name}"}} 1.0' in text
    assert "ctxsearch_index_queue" in text
    assert "very_private_question" not in text
    assert "very_private_question" not in settings.log_path.read_text()
    session.repository("RemoveRepository", repository_pb2.RemoveRepositoryRequest(repository=name))
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as page:
        assert f'repository="{name}"' not in page.read().decode()
    session.close()


def test_requests_that_wait_keep_no_quick_one_waiting(served: Served) -> None:
    wait = search_pb2.ContextSearchRequest(text="price", min_generation=1_000_000)
    wait.max_wait.FromSeconds(30)
    stub = search_pb2_grpc.ContextSearchServiceStub(served.session.channel)
    waiting = [stub.ContextSearch.future(wait, timeout=60) for _ in range(50)]
    assert stub.ContextSearch(search_pb2.ContextSearchRequest(text="price"), timeout=20).results
    for each in waiting:
        each.cancel()


def test_too_many_requests_at_once_are_refused_not_queued(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, project: Path
) -> None:
    monkeypatch.setenv("CTXSEARCH_MAX_CONCURRENT_REQUESTS", "2")
    session = Session(settings, project)
    name = add_and_wait(session, project, complete=False)
    request = repository_pb2.WatchIndexingRequest(repository=name)
    streams = [session.repository_stub().WatchIndexing(request) for _ in range(5)]
    answers = []
    for stream in streams:
        try:
            answers.append(next(stream).progress[0].repository)
        except grpc.RpcError as error:
            answers.append(error.code().name)
    assert set(answers) == {name, "RESOURCE_EXHAUSTED"}
    for stream in streams:
        stream.cancel()
    session.close()
