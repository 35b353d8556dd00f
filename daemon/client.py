"""Finds the daemon of a data directory, starts it when it is not there, and speaks to it.

Used by every door (cli, mcp). Imports no engine: a client must start fast. Two clients that start a daemon at once
get one: the second waits for the first one's start lock and then finds it serving.
"""

from __future__ import annotations

import os
import select
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import grpc

from ctxsearch.daemon.lock import FileLock, LockedError, is_locked, make_private_directory
from ctxsearch.daemon.settings import Settings, child_environment
from ctxsearch.daemon.version import API_VERSION, VERSION, version_key
from ctxsearch.graph.errors import CtxsearchError
from ctxsearch.v1 import admin_pb2, admin_pb2_grpc

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

PROBE_SECONDS = 5.0  # a live daemon answers in milliseconds; a machine under load may need longer
START_SECONDS = 60.0
STOP_SECONDS = 30.0


_NO_ANSWER = {
    grpc.StatusCode.DEADLINE_EXCEEDED: "the daemon did not answer in time; see `ctxsearch daemon logs`, or try again",
    grpc.StatusCode.UNAVAILABLE: "the daemon went away; try again, which starts one, or see `ctxsearch daemon logs`",
}


class DaemonError(CtxsearchError):
    """The daemon answered with an error, or does not answer."""

    def __init__(self, message: str, code: str = "UNAVAILABLE", reason: str = "") -> None:
        super().__init__(message)
        self.code = code  # name of the gRPC status
        self.reason = reason  # ErrorInfo.reason, if the daemon sent one


@dataclass(frozen=True, slots=True)
class Connection:
    """An open channel to a daemon that answered the version handshake."""

    channel: grpc.Channel
    info: admin_pb2.GetServerInfoResponse

    def close(self) -> None:
        """Closes the channel; the daemon stays."""
        self.channel.close()

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def connect(settings: Settings) -> Connection:
    """A connection to a daemon of at least this version; starts or replaces one if needed."""
    found = probe(settings)
    if found is not None and not _is_older(found):
        return _checked(found)
    make_private_directory(settings.data_dir)
    with _starting(settings):
        found = probe(settings)
        if found is not None and _is_older(found):
            _replace(settings, found)
            found = None
        return _checked(found if found is not None else _start_and_probe(settings))


def probe(settings: Settings) -> Connection | None:
    """A connection to the daemon if one serves now; never starts one."""
    if not settings.socket_path.exists():
        return None
    channel = open_channel(settings)
    try:
        return Connection(channel, _server_info(channel, PROBE_SECONDS, wait=False))
    except grpc.RpcError as error:
        channel.close()
        if error.code() == grpc.StatusCode.UNAVAILABLE:
            return None
        raise as_daemon_error(error) from error


def stop(settings: Settings, grace_seconds: float = 5.0) -> int | None:
    """Stops the daemon politely and waits until its process is gone; its pid, or None if there was none."""
    found = probe(settings)
    if found is None:
        return None
    with found:
        _shutdown(found, grace_seconds)
    _wait_for_exit(settings, grace_seconds + STOP_SECONDS)
    return found.info.pid


def is_running(settings: Settings) -> bool:
    """True while a daemon process lives, serving or not."""
    return is_locked(settings.lock_path)


def open_channel(settings: Settings) -> grpc.Channel:
    """A channel to the daemon's socket, with limits on both directions."""
    options = [
        ("grpc.max_receive_message_length", settings.max_response_bytes),
        ("grpc.max_send_message_length", settings.max_request_bytes),
        ("grpc.enable_http_proxy", 0),
        ("grpc.default_authority", "localhost"),
    ]
    return grpc.insecure_channel(settings.address, options=options)


def as_daemon_error(error: grpc.RpcError) -> DaemonError:
    """What went wrong, with the reason that the daemon gave."""
    from google.rpc import error_details_pb2
    from grpc_status import rpc_status

    code: grpc.StatusCode = error.code()
    status = rpc_status.from_call(cast("grpc.Call", error))
    reason = ""
    for detail in status.details if status is not None else ():
        info = error_details_pb2.ErrorInfo()
        if detail.Unpack(info):
            reason = info.reason
    said = error.details() or code.name
    if not reason and code in _NO_ANSWER:  # gRPC's own words, which tell a user nothing
        said = _NO_ANSWER[code]
    return DaemonError(said, code.name, reason)


def _server_info(channel: grpc.Channel, timeout: float, *, wait: bool) -> admin_pb2.GetServerInfoResponse:
    stub = admin_pb2_grpc.AdminServiceStub(channel)
    return stub.GetServerInfo(admin_pb2.GetServerInfoRequest(), timeout=timeout, wait_for_ready=wait)


def _is_older(found: Connection) -> bool:
    return version_key(found.info.version) < version_key(VERSION)


def _checked(found: Connection) -> Connection:
    if API_VERSION in found.info.api_versions:
        return found
    found.close()
    raise DaemonError(
        f"the running daemon {found.info.version} does not serve {API_VERSION}; "
        "upgrade this client, or run `ctxsearch daemon stop`",
        "FAILED_PRECONDITION",
    )


def _starting(settings: Settings) -> AbstractContextManager[FileLock]:
    lock = FileLock(settings.start_lock_path)
    try:
        lock.acquire(START_SECONDS)
    except LockedError as error:
        raise DaemonError(f"another client is still starting the daemon; see {settings.log_path}") from error
    return lock


def _replace(settings: Settings, old: Connection) -> None:
    with old:
        _shutdown(old, grace_seconds=5.0)
    _wait_for_exit(settings, STOP_SECONDS)


def _shutdown(found: Connection, grace_seconds: float) -> None:
    request = admin_pb2.ShutdownRequest()
    request.grace.FromMilliseconds(int(grace_seconds * 1000))
    try:
        admin_pb2_grpc.AdminServiceStub(found.channel).Shutdown(request, timeout=PROBE_SECONDS)
    except grpc.RpcError as error:
        if error.code() != grpc.StatusCode.UNAVAILABLE:  # already on its way out
            raise as_daemon_error(error) from error


def _wait_for_exit(settings: Settings, timeout: float) -> None:
    """The daemon's lock is free exactly when its process is gone."""
    lock = FileLock(settings.lock_path)
    try:
        lock.acquire(timeout)
    except LockedError as error:
        raise DaemonError(f"the daemon does not stop: {error}; see {settings.log_path}") from error
    lock.release()


def _start_and_probe(settings: Settings) -> Connection:
    failure = _start(settings)
    if failure is not None and not is_running(settings):
        raise DaemonError(f"the daemon did not start: {failure}; see {settings.log_path.parent}")
    channel = open_channel(settings)  # on failure somebody else's daemon, started by hand, is on its way up
    try:
        return Connection(channel, _server_info(channel, START_SECONDS, wait=True))
    except grpc.RpcError as error:
        channel.close()
        raise as_daemon_error(error) from error


def _start(settings: Settings) -> str | None:
    """Starts a daemon in a session of its own and waits for its word; None if it serves, else why not."""
    read_end, write_end = os.pipe()
    log_dir = settings.log_path.parent
    log_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    # -P and the working directory keep modules of the user's current directory out of the daemon.
    command = [sys.executable, "-P", "-m", "ctxsearch.daemon.main", "--auto", "--ready-fd", str(write_end)]
    try:
        with (log_dir / "startup.log").open("wb") as output:
            subprocess.run(
                command,
                check=False,  # the verdict comes by the pipe: the command itself leaves its daemon behind at once
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(write_end,),
                cwd="/",
                env=child_environment(settings),
                timeout=START_SECONDS,
            )
    finally:
        os.close(write_end)
    try:
        return _read_verdict(read_end, START_SECONDS)
    finally:
        os.close(read_end)


def _read_verdict(read_end: int, timeout: float) -> str | None:
    """The daemon writes `ready`, or its error; it closes the pipe by dying without a word."""
    said = b"".join(_chunks(read_end, timeout)).decode("utf-8", "replace").strip()
    if said == "ready":
        return None
    return said or "it ended without a word"


def _chunks(read_end: int, timeout: float) -> Iterator[bytes]:
    while select.select([read_end], [], [], timeout)[0]:
        chunk = os.read(read_end, 4096)
        if not chunk:
            return
        yield chunk
    yield b"it is still starting"
