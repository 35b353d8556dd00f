"""The verbs that ask the daemon about the graph: node, callers, dependencies, related, impact, path and more."""

from __future__ import annotations

from typing import Any

import click

from ctxsearch.daemon import show
from ctxsearch.daemon.cli import FOUND, INT32, NOTHING, open_session
from ctxsearch.daemon.session import Session, pages
from ctxsearch.v1 import graph_pb2, node_pb2

_HEX_ID = 16  # characters of a node id


def selector(session: Session, symbol: str, repository: str) -> node_pb2.NodeSelector:
    """What the user named: an id, or a symbol in the repository given or around the current directory."""
    if not repository:
        here = session.here()
        repository = here.name if here is not None else ""
    chosen = node_pb2.NodeSelector(repository=repository)
    if len(symbol) == _HEX_ID and all(c in "0123456789abcdef" for c in symbol):
        chosen.node_id = symbol
    else:
        chosen.symbol = symbol
    return chosen


def graph_options(command: Any) -> Any:
    """Options of every traversal."""
    options = (
        click.option("--repo", "repository", default="", help="Repository; default: the one around here."),
        click.option("--min-confidence", type=float, default=None, help="Edges less sure are not walked (0.5)."),
        click.option("--limit", type=INT32, default=0, help="Most nodes to show (200)."),
        click.option("--json", "as_json", is_flag=True, help="The response message as JSON."),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _traverse(ctx: click.Context, method: str, request: Any, symbol: str, options: dict[str, Any]) -> None:
    session = open_session(ctx)
    request.selector.CopyFrom(selector(session, symbol, options["repository"]))
    request.limit = options["limit"]
    if options["min_confidence"] is not None:
        request.min_confidence = options["min_confidence"]
    response = session.graph(method, request)
    click.echo(show.as_json(response) if options["as_json"] else "\n".join(show.reached(response)))
    ctx.exit(FOUND if response.reached else NOTHING)


@click.command(epilog="Examples:  ctxsearch callers parse_config   |   ctxsearch callers src/app.py:42 --depth 2")
@click.argument("symbol")
@click.option("--depth", type=INT32, default=1, help="Calls to walk backwards.")
@graph_options
@click.pass_context
def callers(ctx: click.Context, /, symbol: str, depth: int, **options: Any) -> None:
    """Who calls SYMBOL: a name, a qualified name, path:line or an id."""
    _traverse(ctx, "Callers", graph_pb2.CallersRequest(depth=depth), symbol, options)


@click.command(epilog="Example:  ctxsearch dependencies Parser.parse --depth 2")
@click.argument("symbol")
@click.option("--depth", type=INT32, default=1, help="Edges to walk forwards.")
@graph_options
@click.pass_context
def dependencies(ctx: click.Context, /, symbol: str, depth: int, **options: Any) -> None:
    """What SYMBOL depends on: calls, imports, parents, types."""
    _traverse(ctx, "Dependencies", graph_pb2.DependenciesRequest(depth=depth), symbol, options)


@click.command(epilog="Example:  ctxsearch related Parser --radius 2")
@click.argument("symbol")
@click.option("--radius", type=INT32, default=1, help="Edges to walk in any direction.")
@graph_options
@click.pass_context
def related(ctx: click.Context, /, symbol: str, radius: int, **options: Any) -> None:
    """What is near SYMBOL in the graph."""
    _traverse(ctx, "Related", graph_pb2.RelatedRequest(radius=radius), symbol, options)


@click.command(epilog="Example:  ctxsearch impact Settings.load --depth 3")
@click.argument("symbol")
@click.option("--depth", type=INT32, default=0, help="Edges to walk (4).")
@graph_options
@click.pass_context
def impact(ctx: click.Context, /, symbol: str, depth: int, **options: Any) -> None:
    """Who is affected if SYMBOL changes: callers, overrides, tests, importers."""
    _traverse(ctx, "Impact", graph_pb2.ImpactRequest(depth=depth), symbol, options)


@click.command(epilog="Example:  ctxsearch path main write_file")
@click.argument("start")
@click.argument("end")
@click.option("--max-depth", type=INT32, default=0, help="Most edges (12).")
@click.option("--repo", "repository", default="", help="Repository; default: the one around here.")
@click.option("--json", "as_json", is_flag=True, help="The response message as JSON.")
@click.pass_context
def path(ctx: click.Context, start: str, end: str, max_depth: int, repository: str, as_json: bool) -> None:
    """How START reaches END: the shortest way over calls and other dependencies."""
    session = open_session(ctx)
    request = graph_pb2.PathRequest(to=selector(session, end, repository), max_depth=max_depth)
    getattr(request, "from").CopyFrom(selector(session, start, repository))
    response = session.graph("Path", request)
    lines = show.path_lines(response.nodes, response.edges) if response.nodes else ("no way",)
    click.echo(show.as_json(response) if as_json else "\n".join(lines))
    ctx.exit(FOUND if response.nodes else NOTHING)


@click.command(epilog="Examples:  ctxsearch node parse_config   |   ctxsearch node src/app.py:42 --json")
@click.argument("symbol")
@click.option("--repo", "repository", default="", help="Repository; default: the one around here.")
@click.option("--json", "as_json", is_flag=True, help="The response message as JSON.")
@click.pass_context
def node(ctx: click.Context, symbol: str, repository: str, as_json: bool) -> None:
    """One node: where it is, how fresh, who uses it, its text."""
    session = open_session(ctx)
    response = session.graph("GetNode", graph_pb2.GetNodeRequest(selector=selector(session, symbol, repository)))
    if as_json:
        click.echo(show.as_json(response))
        return
    click.echo(f"{show.node_line(response.node)}  id {response.node.id}{show.mark(response.node)}")
    click.echo(show.freshness_line(response.freshness))
    unresolved = f", {len(response.unresolved)} unresolved calls" if response.unresolved else ""
    click.echo(f"{response.caller_count} callers, {response.dependency_count} dependencies{unresolved}")
    for offset, line in enumerate(response.body.split("\n") if response.body else ()):
        click.echo(f"{response.node.start_line + offset:>6} | {show.safe(line)}")


@click.command(epilog="Example:  ctxsearch outline src/app.py")
@click.argument("target", metavar="PATH")
@click.option("--repo", "repository", default="", help="Repository; default: the one around here.")
@click.option("--json", "as_json", is_flag=True, help="The response message as JSON.")
@click.pass_context
def outline(ctx: click.Context, target: str, repository: str, as_json: bool) -> None:
    """The nodes of a file or directory (PATH relative to the repository's root), in source order."""
    session = open_session(ctx)
    response = outlined(session, target, repository, freshness=False)
    if as_json:
        click.echo(show.as_json(response))
    for entry in response.entries if not as_json else ():
        click.echo(show.outline_line(entry))
    if not response.entries:
        click.echo(show.nothing_at(target, response), err=True)
    ctx.exit(FOUND if response.entries else NOTHING)


def outlined(session: Session, target: str, repository: str, *, freshness: bool) -> graph_pb2.OutlineResponse:
    """Every node of a file or directory, of all pages."""
    if not repository:
        here = session.here()
        repository = here.name if here is not None else ""
    request = graph_pb2.OutlineRequest(repository=repository, path=target, page_size=1000, include_freshness=freshness)
    whole = graph_pb2.OutlineResponse()

    def fetch(token: str) -> graph_pb2.OutlineResponse:
        request.page_token = token
        page: graph_pb2.OutlineResponse = session.graph("Outline", request)
        whole.generation = page.generation
        whole.left_out_because = page.left_out_because
        return page

    whole.entries.extend(pages(fetch, lambda page: page.entries))
    return whole


@click.command(
    epilog="Examples:  ctxsearch freshness   |   ctxsearch freshness parse_config   |   ctxsearch freshness src/app.py"
)
@click.argument("target", metavar="[SYMBOL|PATH]", required=False)
@click.option("--repo", "repository", default="", help="Repository; default: the one around here.")
@click.option("--json", "as_json", is_flag=True, help="The response message as JSON.")
@click.pass_context
def freshness(ctx: click.Context, target: str | None, repository: str, as_json: bool) -> None:
    """How fresh a symbol is, or every node of a file, and why; without either, the repository as a whole."""
    session = open_session(ctx)
    if target is None:
        _show_summary(session, repository, as_json)
        return
    if "/" in target or "." in target.rpartition("/")[2]:
        listing = outlined(session, target, repository, freshness=True)
        if listing.entries:
            _show_outline_freshness(listing, as_json)
            return
    request = graph_pb2.GetNodeRequest(selector=selector(session, target, repository), omit_text=True)
    response = session.graph("GetNode", request)
    lines = (f"{show.node_line(response.node)}{show.mark(response.node)}", *show.freshness_lines(response.freshness))
    click.echo(show.as_json(response) if as_json else "\n".join(lines))


def _show_summary(session: Session, repository: str, as_json: bool) -> None:
    if not repository:
        here = session.here()
        repository = here.name if here is not None else ""
    response = session.graph("SummarizeFreshness", graph_pb2.SummarizeFreshnessRequest(repository=repository))
    click.echo(show.as_json(response) if as_json else "\n".join(show.freshness_chart(response)))


def _show_outline_freshness(listing: graph_pb2.OutlineResponse, as_json: bool) -> None:
    if as_json:
        click.echo(show.as_json(listing))
        return
    for entry in listing.entries:
        told = f"{show.node_line(entry.node)}  {show.freshness_line(entry.freshness)}"
        click.echo(f"{'  ' * entry.depth}{told}{show.mark(entry.node)}")


VERBS: dict[str, click.Command] = {
    "node": node,
    "callers": callers,
    "dependencies": dependencies,
    "related": related,
    "impact": impact,
    "path": path,
    "outline": outline,
    "freshness": freshness,
}
