"""The verb mcp: serve agents over stdio or loopback HTTP, and install that into their configuration."""

from __future__ import annotations

import secrets
from typing import Any

import click

from ctxsearch.daemon.agents import AGENTS, install
from ctxsearch.daemon.cli import PORT, open_session
from ctxsearch.daemon.settings import agent_home


@click.group(
    invoke_without_command=True,
    epilog="Examples:  ctxsearch mcp   |   ctxsearch mcp --http 0   |   ctxsearch mcp install cursor",
)
@click.option("--yes", is_flag=True, help="Add the repository around the working directory if it is new.")
@click.option("--http", "port", type=PORT, default=None, metavar="PORT", help="Streamable HTTP on 127.0.0.1; 0 = any.")
@click.pass_context
def mcp(ctx: click.Context, yes: bool, port: int | None) -> None:
    """Serve coding agents over MCP: stdio, or HTTP on loopback with a token."""
    if ctx.invoked_subcommand is not None:
        return
    from ctxsearch.daemon.mcp import build_server, serve_http

    session = open_session(ctx)
    server = build_server(session, add_new=yes)
    if port is None:
        server.run("stdio")
        return
    token = session.settings.token or secrets.token_urlsafe(32)
    given = bool(session.settings.token)

    def announce(chosen: int) -> None:
        click.echo(f"url: http://127.0.0.1:{chosen}/mcp")
        click.echo("token: the one configured" if given else f"token: {token}")

    serve_http(server, token, port, announce)


@mcp.command("install", epilog="Examples:  ctxsearch mcp install claude-code   |   ctxsearch mcp install --list")
@click.argument("agents", nargs=-1, type=click.Choice([agent.name for agent in AGENTS]))
@click.option("--list", "only_list", is_flag=True, help="Show the agents and their files.")
@click.pass_context
def install_(ctx: click.Context, /, agents: tuple[str, ...], **options: Any) -> None:
    """Add ctxsearch to the configuration of AGENTS. What else is configured stays; the old file is kept beside."""
    from ctxsearch.daemon.agents import config_path
    from ctxsearch.daemon.session import working_tree_root

    session = open_session(ctx)
    project = working_tree_root(session.cwd) or session.cwd
    if options["only_list"] or not agents:
        for agent in AGENTS:
            click.echo(f"{agent.name:<18}{agent.title:<24}{config_path(agent, agent_home(), project)}")
        return
    for agent in AGENTS:
        if agent.name in agents:
            path, changed = install(agent, agent_home(), project)
            click.echo(f"{agent.title}: {'written to' if changed else 'already in'} {path}")


VERBS: dict[str, click.Command] = {"mcp": mcp}
