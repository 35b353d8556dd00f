"""The verbs about the daemon itself: daemon run|start|stop|status|logs, doctor, completion."""

from __future__ import annotations

import itertools
import os
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import click

from ctxsearch.daemon import show
from ctxsearch.daemon.cli import FOUND, PORT, PROBLEM, SECONDS, open_session
from ctxsearch.v1 import admin_pb2

_FOLLOW_SECONDS = 0.2


@click.group(epilog="Examples:  ctxsearch daemon status --json   |   ctxsearch daemon logs -f")
def daemon() -> None:
    """Run, start, stop and inspect the daemon. Other verbs start it when needed."""


@daemon.command(epilog="Example:  ctxsearch daemon run --metrics-port 9464")
@click.option("--listen", default=None, metavar="HOST:PORT", help="Serve on TCP as well; loopback unless allowed.")
@click.option(
    "--allow-remote", is_flag=True, default=None, help="Allow --listen beyond loopback (TLS and token needed)."
)
@click.option("--tls-certificate", default=None, help="PEM file.")
@click.option("--tls-key", default=None, help="PEM file.")
@click.option("--metrics-port", type=PORT, default=None, help="Prometheus metrics on 127.0.0.1.")
@click.pass_context
def run(ctx: click.Context, /, **options: Any) -> None:
    """Run in the foreground, for systemd and containers. The token comes from CTXSEARCH_TOKEN(_FILE)."""
    from ctxsearch.daemon.main import ReadyPipe, run_daemon
    from ctxsearch.daemon.settings import load_settings

    settings = load_settings({"data_dir": ctx.obj.get("data_dir"), **options})
    ctx.exit(run_daemon(settings, auto_started=False, ready=ReadyPipe(None)))


@daemon.command(epilog="Example:  ctxsearch daemon start")
@click.pass_context
def start(ctx: click.Context) -> None:
    """Start it in the background, unless it runs."""
    info = open_session(ctx).connection.info
    click.echo(f"daemon {info.version} serves, process {info.pid}")


@daemon.command(epilog="Examples:  ctxsearch daemon stop   |   ctxsearch daemon stop --grace 30")
@click.option("--grace", type=SECONDS, default=5.0, metavar="SECONDS", help="Time for requests in flight.")
@click.pass_context
def stop(ctx: click.Context, grace: float) -> None:
    """Stop it, and wait until its process is gone."""
    from ctxsearch.daemon import client

    pid = client.stop(open_session(ctx).settings, grace)
    click.echo("no daemon was running" if pid is None else f"stopped process {pid}")


@daemon.command(epilog="Example:  ctxsearch daemon status --json")
@click.option("--json", "as_json", is_flag=True, help="The response message as JSON.")
@click.pass_context
def status(ctx: click.Context, as_json: bool) -> None:
    """Whether it runs, and how it is. Never starts it."""
    from ctxsearch.daemon import client

    settings = open_session(ctx).settings
    found = client.probe(settings)
    if found is None:
        starting = client.is_running(settings)
        click.echo("starting or stopping" if starting else "not running; any search starts it", err=True)
        ctx.exit(PROBLEM)
    with found:
        click.echo(show.as_json(found.info) if as_json else "\n".join(_info_lines(found.info)))


def _info_lines(info: admin_pb2.GetServerInfoResponse) -> Iterator[str]:
    yield f"daemon {info.version}, process {info.pid}, since {info.started_time.ToDatetime():%Y-%m-%d %H:%M:%S} UTC"
    yield f"addresses: {', '.join(info.addresses)}"
    yield f"data: {info.data_dir}, log: {info.log_file}"
    yield f"repositories: {info.repository_count}, memory: {show.size(info.memory_bytes)}"
    if info.embedding_model:
        yield f"model: {info.embedding_model}, {info.embedding_dimension} dimensions"


@daemon.command(epilog="Example:  ctxsearch daemon logs -n 50 -f")
@click.option("-n", "--lines", type=click.IntRange(0, 1_000_000), default=20, help="Lines to show.")
@click.option("-f", "--follow", is_flag=True, help="Wait for more.")
@click.pass_context
def logs(ctx: click.Context, lines: int, follow: bool) -> None:
    """The end of the log: one JSON object per line."""
    path = open_session(ctx).settings.log_path
    if not path.exists():
        click.echo(f"no log at {path}; the daemon has never run", err=True)
        ctx.exit(PROBLEM)
    file = path.open(encoding="utf-8", errors="replace")
    for line in itertools.chain(deque(file, lines), _appended(path, file) if follow else ()):
        click.echo(show.safe(line.rstrip("\n")))


def _appended(path: Path, file: TextIO) -> Iterator[str]:
    """Lines as they are written, without end; when the log is rotated, those of the new file."""
    while True:
        line = file.readline()
        if line:
            yield line
        elif _is_another(path, file):
            file.close()
            file = path.open(encoding="utf-8", errors="replace")
        else:
            time.sleep(_FOLLOW_SECONDS)


def _is_another(path: Path, file: TextIO) -> bool:
    try:
        return not os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:  # between two names
        return False


@click.command(epilog="Example:  ctxsearch doctor")
@click.option("--no-repair", is_flag=True, help="Only look.")
@click.pass_context
def doctor(ctx: click.Context, no_repair: bool) -> None:
    """Check data directory, socket, daemon and every index; repair what can be; exit 3 if something is wrong."""
    from ctxsearch.daemon.doctor import examine

    wrong = 0
    for finding in examine(open_session(ctx).settings, repair=not no_repair):
        mark = click.style("ok", fg="green") if finding.ok else click.style("!!", fg="red")
        wrong += not finding.ok
        click.echo(f"{mark}  {finding.subject}: {finding.state}" + (f"; {finding.step}" if finding.step else ""))
    ctx.exit(PROBLEM if wrong else FOUND)


@click.command(epilog="Example:  ctxsearch completion bash > ~/.local/share/bash-completion/completions/ctxsearch")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> None:
    """Print a completion script for SHELL."""
    from click.shell_completion import get_completion_class

    from ctxsearch.daemon.cli import ctxsearch

    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"no completion for {shell}")
    click.echo(kind(ctxsearch, {}, "ctxsearch", "_CTXSEARCH_COMPLETE").source())


VERBS: dict[str, click.Command] = {"daemon": daemon, "doctor": doctor, "completion": completion}
