"""MCP for coding agents: few tools with descriptions that help an agent choose, answers within a token budget.

Talks to the daemon like any other client. Over stdio, or over streamable HTTP on loopback with a bearer token and
checks of Host and Origin.
"""

from __future__ import annotations

import bisect
import hmac
import itertools
from collections.abc import Callable, Iterable
from typing import Annotated, Any, Literal

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import Field
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from ctxsearch.daemon import show
from ctxsearch.daemon.cli_graph import outlined, selector
from ctxsearch.daemon.cli_repositories import ensure_repository, wait_for_index
from ctxsearch.daemon.client import DaemonError
from ctxsearch.daemon.errors import UnknownRepositoryError
from ctxsearch.daemon.session import Session
from ctxsearch.daemon.version import VERSION
from ctxsearch.graph.errors import CtxsearchError
from ctxsearch.v1 import graph_pb2, node_pb2, search_pb2

CHARS_PER_TOKEN = 3.5  # of code, on the safe side
DEFAULT_TOKENS = 4000
MAX_TOKENS = 50_000

INSTRUCTIONS = """Code search over the user's repositories: full text, meaning and a call graph, kept up to date.
Start with search_context for any question about where or how something is done; it beats grep when you do not know
the exact name. Use callers before you change a function, impact before you change an interface, dependencies to see
what a symbol relies on, get_node to read one symbol whole. Symbols are names (`parse_config`), qualified names
(`app.Config.load`), `path:line`, or ids from earlier answers."""

Symbol = Annotated[str, Field(description="Name, qualified name, path:line, or node id.")]
Repository = Annotated[str, Field(description="Repository name; empty = the one around the working directory.")]
Tokens = Annotated[int, Field(description="Budget for the answer, in tokens.", ge=100, le=MAX_TOKENS)]
Depth = Annotated[int, Field(description="How many edges to walk.", ge=1, le=8)]


class Tools:
    """The tools of one server; every public method is one tool, its docstring the description an agent sees."""

    def __init__(self, session: Session, add_new: bool) -> None:
        self._session = session
        self._add_new = add_new

    def search_context(
        self,
        query: Annotated[str, Field(description="Natural language, an identifier, or a piece of code.")],
        k: Annotated[int, Field(description="Results wanted.", ge=1, le=50)] = 8,
        mode: Annotated[
            Literal["hybrid", "keyword", "semantic", "fuzzy"],
            Field(description="hybrid for most; keyword for exact names; fuzzy for misspelt names."),
        ] = "hybrid",
        expand: Annotated[
            Literal["none", "callers", "dependencies", "related"],
            Field(description="Also return graph neighbours of the best matches."),
        ] = "none",
        depth: Annotated[int, Field(description="How far expand walks.", ge=1, le=4)] = 1,
        paths: Annotated[
            list[str], Field(description="Path prefixes or globs to stay in; `[[]` is a literal `[`.")
        ] = [],  # noqa: B006
        languages: Annotated[list[str], Field(description="Languages to stay in.")] = [],  # noqa: B006
        repository: Repository = "",
        max_tokens: Tokens = DEFAULT_TOKENS,
    ) -> str:
        """Find code by meaning, words or names, best first, with path:line, signature and the matching lines.

        Use it first for "where is", "how does", "what handles"; then get_node, callers or impact on what it finds.
        """
        request = search_pb2.ContextSearchRequest(text=query, k=k, max_tokens=max_tokens)
        request.mode = search_pb2.SearchMode.Value(f"SEARCH_MODE_{mode.upper()}")
        if expand == "related":
            request.related.radius = depth
        elif expand != "none":
            getattr(request, expand).depth = depth
        request.scope.include.paths.extend(paths)
        request.scope.include.languages.extend(languages)
        name = self._repository(repository)
        if name:
            request.scope.include.repositories.append(name)
        response = self._session.search(request)
        return within_budget(show.ranked(response, explain=False, here=bool(name)), max_tokens, show.notes(response))

    def get_node(self, symbol: Symbol, repository: Repository = "", max_tokens: Tokens = DEFAULT_TOKENS) -> str:
        """Read one symbol whole: its source, where it is, how fresh it is, how many callers and dependencies it has.

        Use it instead of opening a large file when you want one function or class.
        """
        request = graph_pb2.GetNodeRequest(selector=self._selector(symbol, repository))
        return within_budget(node_text(self._session.graph("GetNode", request)), max_tokens)

    def callers(
        self, symbol: Symbol, depth: Depth = 1, repository: Repository = "", max_tokens: Tokens = DEFAULT_TOKENS
    ) -> str:
        """Who calls this symbol, nearest first, with a confidence for every edge. Use it before changing a function."""
        request = graph_pb2.CallersRequest(selector=self._selector(symbol, repository), depth=depth)
        return self._reached("Callers", request, max_tokens)

    def dependencies(
        self, symbol: Symbol, depth: Depth = 1, repository: Repository = "", max_tokens: Tokens = DEFAULT_TOKENS
    ) -> str:
        """What this symbol calls, imports, extends or uses. Use it to understand a function without opening files."""
        request = graph_pb2.DependenciesRequest(selector=self._selector(symbol, repository), depth=depth)
        return self._reached("Dependencies", request, max_tokens)

    def impact(
        self, symbol: Symbol, depth: Depth = 3, repository: Repository = "", max_tokens: Tokens = DEFAULT_TOKENS
    ) -> str:
        """Everything affected if this symbol changes: callers of callers, overrides, tests, importers.

        Use it before changing a signature or an interface, and to choose which tests to run.
        """
        request = graph_pb2.ImpactRequest(selector=self._selector(symbol, repository), depth=depth)
        return self._reached("Impact", request, max_tokens)

    def index_status(self, repository: Repository = "") -> str:
        """Which repositories are indexed and whether the index is current. Use it when answers look out of date."""
        entries = [e for e in self._session.repositories() if repository in ("", e.repository.name)]
        lines = [show.progress_line(e.progress, e.repository.root) for e in entries]
        if repository and not lines:
            raise UnknownRepositoryError(repository, [e.repository.name for e in self._session.repositories()])
        return "\n".join(lines) or "no repository was added; run `ctxsearch add PATH`"

    def node_resource(self, repository: str, node_id: str) -> str:
        """One node's text by id."""
        request = graph_pb2.GetNodeRequest(selector=node_pb2.NodeSelector(repository=repository, node_id=node_id))
        return within_budget(node_text(self._session.graph("GetNode", request)), MAX_TOKENS)

    def file_resource(self, repository: str, path: str) -> str:
        """One indexed file's outline."""
        outline = outlined(self._session, path, repository, freshness=False)
        return within_budget(map(show.outline_line, outline.entries), MAX_TOKENS) or show.nothing_at(path, outline)

    def _reached(self, method: str, request: Any, max_tokens: int) -> str:
        return within_budget(show.reached(self._session.graph(method, request)), max_tokens)

    def _selector(self, symbol: str, repository: str) -> node_pb2.NodeSelector:
        return selector(self._session, symbol, self._repository(repository))

    def _repository(self, name: str) -> str:
        """The repository that is meant; a new one is added if this server may, and indexed before the answer."""
        if name:
            return name
        entries = self._session.repositories()
        here = ensure_repository(self._session, entries, self._add_new)
        if here is None:
            return ""
        known = {entry.repository.name: entry.progress.generation for entry in entries}
        if not known.get(here.name):
            wait_for_index(self._session, here.name)
        return here.name


def node_text(response: graph_pb2.GetNodeResponse) -> Iterable[str]:
    """One node for an agent."""
    yield f"{show.node_line(response.node)}  id {response.node.id}{show.mark(response.node)}"
    yield show.freshness_line(response.freshness)
    yield f"{response.caller_count} callers, {response.dependency_count} dependencies"
    for offset, line in enumerate(response.body.split("\n") if response.body else ()):
        yield f"{response.node.start_line + offset:>6} | {show.safe(line)}"


def within_budget(lines: Iterable[str], max_tokens: int, notes: Iterable[str] = ()) -> str:
    """As many whole lines as fit, without colour, and how many were left out, which counts too.

    Notes stay at the end as long as they leave half of the room to the lines: what is said of an answer as a whole
    must not be the first thing to go.
    """
    import click

    plain, ending = ([click.unstyle(line) for line in each] for each in (lines, notes))
    count, budget = len(plain) + len(ending), int(max_tokens * CHARS_PER_TOKEN)
    if len("\n".join([*plain, *ending])) <= budget:
        return "\n".join([*plain, *ending])
    room = budget - len(_left_out(count))
    ending = _fitting(ending, room // 2)
    taken = _fitting(plain, room - sum(len(line) + 1 for line in ending))
    return "\n".join([*taken, _left_out(count - len(taken) - len(ending)), *ending])


def _fitting(lines: list[str], room: int) -> list[str]:
    """The first lines, as many as fit with their line feeds."""
    ends = list(itertools.accumulate(len(line) + 1 for line in lines))
    return lines[: bisect.bisect_right(ends, room)]


def _left_out(lines: int) -> str:
    return f"... {lines} more lines; raise max_tokens or narrow the question"


class StrictServer(MCPServer[Any]):
    """Refuses arguments that a tool does not have: an agent must not believe in a limit that nobody kept to."""

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        """One call of a tool."""
        for tool in await self.list_tools():
            known = tool.input_schema["properties"]
            unknown = [repr(argument) for argument in arguments if argument not in known]
            if tool.name == name and unknown:
                raise ToolError(f"unknown argument {', '.join(unknown)}; {name} takes {', '.join(known)}")
        return await super().call_tool(name, arguments, context)


def build_server(session: Session, *, add_new: bool) -> MCPServer[Any]:
    """An MCP server over one session."""
    server = StrictServer("ctxsearch", instructions=INSTRUCTIONS, version=VERSION, log_level="WARNING")
    tools = Tools(session, add_new)
    for tool in (
        tools.search_context,
        tools.get_node,
        tools.callers,
        tools.dependencies,
        tools.impact,
        tools.index_status,
    ):
        server.add_tool(_answering(session, tool), name=tool.__name__, structured_output=False)
    for address, name, read in (
        ("ctxsearch://{repository}/node/{node_id}", "node", tools.node_resource),
        ("ctxsearch://{repository}/file/{+path}", "file", tools.file_resource),
    ):
        server.resource(address, name=name, mime_type="text/plain")(_answering(session, read, ResourceError))
    return server


def _answering(session: Session, tool: Callable[..., str], problem: type[Exception] = ToolError) -> Callable[..., str]:
    """The tool, trying once more with a new daemon if the old one is gone, and with errors as agents read them."""
    import functools

    @functools.wraps(tool)
    def answer(**arguments: Any) -> str:
        try:
            try:
                return tool(**arguments)
            except DaemonError as error:
                if error.code != "UNAVAILABLE":
                    raise
                session.close()
                return tool(**arguments)
        except CtxsearchError as error:
            raise problem(show.safe(str(error))) from error

    return answer


class TokenGuard:
    """Lets only requests with the bearer token through; compares in constant time."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = b"Bearer " + token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] == "http":
            sent = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(sent, self._expected):
                await PlainTextResponse("a valid bearer token is required", 401)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def http_app(server: MCPServer[Any], token: str, port: int) -> ASGIApp:
    """The streamable HTTP application at /mcp, for loopback."""
    names = ("127.0.0.1", "localhost")
    security = TransportSecuritySettings(
        allowed_hosts=[f"{name}:{port}" for name in names],
        allowed_origins=[f"http://{name}:{port}" for name in names],
    )
    return TokenGuard(server.streamable_http_app(transport_security=security), token)


def serve_http(server: MCPServer[Any], token: str, port: int, announce: Callable[[int], None]) -> None:
    """Serves on 127.0.0.1 until interrupted; port 0 takes a free one, and `announce` is told which."""
    import socket

    import uvicorn

    with socket.create_server(("127.0.0.1", port)) as listener:
        chosen = listener.getsockname()[1]
        announce(chosen)
        config = uvicorn.Config(http_app(server, token, chosen), log_level="warning", access_log=False)
        uvicorn.Server(config).run(sockets=[listener])
