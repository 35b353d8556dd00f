"""One command's conversation with the daemon: connect when first needed, call, find the repository one stands in.

Shared by the command line and MCP. Imports no engine.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ctxsearch.graph.errors import CtxsearchError

if TYPE_CHECKING:
    import grpc

    from ctxsearch.daemon.client import Connection
    from ctxsearch.daemon.settings import Settings
    from ctxsearch.v1 import repository_pb2

Answer = TypeVar("Answer")
CALL_SECONDS = 60.0
PAGE_SIZE = 1000


class NotInRepositoryError(CtxsearchError):
    """The current directory belongs to no repository that was added."""


@dataclass(slots=True)
class Session:
    """Settings and, once needed, the connection. Owned by one command or one MCP server; safe to share by threads."""

    settings: Settings
    cwd: Path
    _connection: Connection | None = field(default=None, init=False)
    _connecting: threading.Lock = field(default_factory=threading.Lock, init=False)

    @property
    def connection(self) -> Connection:
        """The daemon, started if it was not there."""
        with self._connecting:
            if self._connection is None:
                from ctxsearch.daemon.client import connect

                self._connection = connect(self.settings)
            return self._connection

    @property
    def channel(self) -> grpc.Channel:
        """The channel to make stubs of."""
        return self.connection.channel

    def call(self, method: Any, request: Any, timeout: float = CALL_SECONDS) -> Any:
        """One unary call; raises DaemonError with what the daemon said."""
        import grpc

        from ctxsearch.daemon.client import as_daemon_error

        try:
            return method(request, timeout=timeout)
        except grpc.RpcError as error:
            raise as_daemon_error(error) from error

    def stream(self, method: Any, request: Any) -> Iterator[Any]:
        """One streaming call, without end."""
        import grpc

        from ctxsearch.daemon.client import as_daemon_error

        call = method(request)
        try:
            yield from call
        except grpc.RpcError as error:
            raise as_daemon_error(error) from error
        finally:
            call.cancel()

    def search(self, request: Any) -> Any:
        """ContextSearch."""
        from ctxsearch.v1 import search_pb2_grpc

        stub = search_pb2_grpc.ContextSearchServiceStub(self.channel)
        wait = request.max_wait.ToMilliseconds() / 1000 if request.HasField("max_wait") else 0.0
        return self.call(stub.ContextSearch, request, CALL_SECONDS + wait)

    def graph(self, method: str, request: Any) -> Any:
        """A call of GraphService by its name."""
        from ctxsearch.v1 import graph_pb2_grpc

        return self.call(getattr(graph_pb2_grpc.GraphServiceStub(self.channel), method), request)

    def repository(self, method: str, request: Any, timeout: float = CALL_SECONDS) -> Any:
        """A unary call of RepositoryService by its name."""
        return self.call(getattr(self.repository_stub(), method), request, timeout)

    def repository_stub(self) -> Any:
        """RepositoryService."""
        from ctxsearch.v1 import repository_pb2_grpc

        return repository_pb2_grpc.RepositoryServiceStub(self.channel)

    def repositories(self) -> list[repository_pb2.RepositoryEntry]:
        """All that were added."""
        from ctxsearch.v1 import repository_pb2

        return list(
            pages(
                lambda token: self.repository(
                    "ListRepositories",
                    repository_pb2.ListRepositoriesRequest(page_size=PAGE_SIZE, page_token=token),
                ),
                lambda page: page.repositories,
            )
        )

    def here(self) -> repository_pb2.Repository | None:
        """The repository that the current directory is in, if it was added."""
        return around(self.cwd, [entry.repository for entry in self.repositories()])

    def close(self) -> None:
        """Closes the connection; the daemon stays."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def pages(fetch: Callable[[str], Any], items: Callable[[Any], Any]) -> Iterator[Any]:
    """Every item of every page."""
    token = ""
    while True:
        page = fetch(token)
        yield from items(page)
        token = page.next_page_token
        if not token:
            return


def around(place: Path, added: Iterable[repository_pb2.Repository]) -> repository_pb2.Repository | None:
    """The innermost of the repositories that a place is in, and that indexes it."""
    found = max((one for one in added if place.is_relative_to(one.root)), key=lambda one: len(one.root), default=None)
    return None if found is None or _is_apart(place, Path(found.root)) else found


def _is_apart(place: Path, root: Path) -> bool:
    """Whether a place is in a clone or a linked work tree inside a work tree, which that leaves out."""
    inner = working_tree_root(place)
    if inner is None or inner == root or not inner.is_relative_to(root) or working_tree_root(root) != root:
        return False
    mark = inner / ".git"
    if mark.is_dir():
        return True
    with mark.open(errors="replace") as file:
        return "/worktrees/" in file.read(4096)  # a submodule's says /modules/, and is part of what it is in


def working_tree_root(start: Path) -> Path | None:
    """The nearest directory upwards with a `.git`, or None. Looks, and runs nothing."""
    return next((folder for folder in (start, *start.parents) if (folder / ".git").exists()), None)
