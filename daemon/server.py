"""The gRPC server: binds the socket, and TCP if asked for, and serves the services beside health and reflection."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

from ctxsearch.daemon.boundary import Activity, Boundary
from ctxsearch.daemon.life import Life
from ctxsearch.daemon.lock import make_private_directory
from ctxsearch.daemon.metrics import Metrics
from ctxsearch.daemon.services import Admin, Graph, Repositories, Search
from ctxsearch.daemon.settings import BadSettingError, Settings, is_loopback
from ctxsearch.daemon.tracing import Tracing
from ctxsearch.daemon.version import API_VERSION
from ctxsearch.daemon.workspace import Workspace
from ctxsearch.v1 import admin_pb2_grpc, graph_pb2_grpc, repository_pb2_grpc, search_pb2_grpc

MAX_PORT = 65535
SERVICES = tuple(
    f"{API_VERSION}.{name}" for name in ("AdminService", "ContextSearchService", "GraphService", "RepositoryService")
)


class Server:
    """A bound gRPC server with health and reflection."""

    def __init__(
        self, life: Life, activity: Activity, metrics: Metrics, tracing: Tracing, workspace: Workspace
    ) -> None:
        self._life = life
        self._health = health.HealthServicer()
        self._grpc = _new_server(life.settings, Boundary(life.settings.token, activity, metrics, tracing))
        admin_pb2_grpc.add_AdminServiceServicer_to_server(Admin(life, activity, workspace), self._grpc)
        search_pb2_grpc.add_ContextSearchServiceServicer_to_server(Search(workspace), self._grpc)
        graph_pb2_grpc.add_GraphServiceServicer_to_server(Graph(workspace), self._grpc)
        repository_pb2_grpc.add_RepositoryServiceServicer_to_server(Repositories(workspace), self._grpc)
        health_pb2_grpc.add_HealthServicer_to_server(self._health, self._grpc)
        reflection.enable_server_reflection((*SERVICES, health.SERVICE_NAME, reflection.SERVICE_NAME), self._grpc)

    def start(self) -> None:
        """Binds the socket, and TCP if asked for, and serves."""
        bind_socket(self._grpc, self._life.settings)
        addresses = [self._life.settings.address]
        if self._life.settings.listen:
            addresses.append(bind_tcp(self._grpc, self._life.settings))
        self._grpc.start()
        self._life.addresses = tuple(addresses)
        self._set_health(health_pb2.HealthCheckResponse.SERVING)

    def stop(self, grace_seconds: float) -> None:
        """Takes no new request, answers those in flight within the grace, removes the socket."""
        self._set_health(health_pb2.HealthCheckResponse.NOT_SERVING)
        self._grpc.stop(grace_seconds).wait()
        self._life.settings.socket_path.unlink(missing_ok=True)

    def _set_health(self, status: int) -> None:
        for service in ("", *SERVICES):
            self._health.set(service, status)


def _new_server(settings: Settings, boundary: Boundary) -> grpc.Server:
    options = [
        ("grpc.max_receive_message_length", settings.max_request_bytes),
        ("grpc.max_send_message_length", settings.max_response_bytes),
        ("grpc.so_reuseport", 0),
    ]
    return grpc.server(
        # A thread for each request that is let in: those that wait for a generation keep no quick one waiting.
        ThreadPoolExecutor(settings.max_concurrent_requests, thread_name_prefix="request"),
        interceptors=[boundary],
        options=options,
        maximum_concurrent_rpcs=settings.max_concurrent_requests,
    )


def bind_socket(server: grpc.Server, settings: Settings) -> None:
    """Binds the Unix socket, mode 0600 in a 0700 directory; the caller holds the lock, so a leftover is stale."""
    make_private_directory(settings.runtime_dir)
    settings.socket_path.unlink(missing_ok=True)
    before = os.umask(0o177)
    try:
        server.add_insecure_port(settings.address)
    finally:
        os.umask(before)
    settings.socket_path.chmod(0o600)


def bind_tcp(server: grpc.Server, settings: Settings) -> str:
    """Binds `listen`; beyond loopback only when allowed, with TLS and a token."""
    host, _, port_text = settings.listen.rpartition(":")
    if not host or not port_text.isdecimal() or int(port_text) > MAX_PORT:  # gRPC would take it modulo 65536
        raise BadSettingError(f"listen must be HOST:PORT, not {settings.listen!r}")
    if not is_loopback(host):
        _require_remote_guards(settings)
    credentials = _tls_credentials(settings)
    if credentials is None:
        port = server.add_insecure_port(settings.listen)
    else:
        port = server.add_secure_port(settings.listen, credentials)
    return f"{host}:{port}"


def _require_remote_guards(settings: Settings) -> None:
    missing = [
        name
        for name, value in (
            ("allow_remote", settings.allow_remote),
            ("tls_certificate", settings.tls_certificate),
            ("tls_key", settings.tls_key),
            ("token", settings.token),
        )
        if not value
    ]
    if missing:
        raise BadSettingError(f"listening beyond loopback on {settings.listen} needs: {', '.join(missing)}")


def _tls_credentials(settings: Settings) -> grpc.ServerCredentials | None:
    if not settings.tls_certificate and not settings.tls_key:
        return None
    if not settings.tls_certificate or not settings.tls_key:
        raise BadSettingError("tls_certificate and tls_key go together: set both, or neither")
    key = Path(settings.tls_key).read_bytes()
    certificate = Path(settings.tls_certificate).read_bytes()
    return grpc.ssl_server_credentials([(key, certificate)])
