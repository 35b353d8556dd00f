"""`ctxsearch`: the entry, its verbs by name, and how errors become one line and an exit code.

Exit codes: 0 found, 1 nothing found, 2 usage, 3 daemon or index problem. A verb's module is imported when the verb
is used: starting must be fast, and no client verb imports an engine.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

import click

from ctxsearch.daemon.errors import AmbiguousSymbolError, UnknownNodeError
from ctxsearch.daemon.session import Session
from ctxsearch.daemon.settings import keep_children_safe, load_settings, no_color
from ctxsearch.daemon.version import VERSION
from ctxsearch.graph.errors import CtxsearchError

FOUND, NOTHING, USAGE, PROBLEM = 0, 1, 2, 3

INT32 = click.IntRange(-(1 << 31), (1 << 31) - 1)  # what a message can carry; the daemon says what it allows
PORT = click.IntRange(0, 65535)


class Seconds(click.FloatRange):
    """A time to wait; not a number and forever are none."""

    name = "seconds"

    def __init__(self) -> None:
        super().__init__(0, 1_000_000)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """click's hook."""
        seconds = super().convert(value, param, ctx)
        if seconds != seconds:  # a NaN is in no range, which click does not see
            self.fail(f"{value} is not a number of seconds.", param, ctx)
        return seconds


SECONDS = Seconds()

_VERBS = {
    "search": "cli_search",
    "compare": "cli_search",
    "bench": "cli_search",
    "node": "cli_graph",
    "callers": "cli_graph",
    "dependencies": "cli_graph",
    "related": "cli_graph",
    "impact": "cli_graph",
    "path": "cli_graph",
    "outline": "cli_graph",
    "freshness": "cli_graph",
    "graph": "cli_offline",
    "add": "cli_repositories",
    "remove": "cli_repositories",
    "list": "cli_repositories",
    "status": "cli_repositories",
    "watch": "cli_repositories",
    "refresh": "cli_repositories",
    "demo": "cli_repositories",
    "daemon": "cli_daemon",
    "doctor": "cli_daemon",
    "completion": "cli_daemon",
    "mcp": "cli_mcp",
}
_SUMMARIES = {
    "search": "Search the code (the default verb).",
    "compare": "The same query in every mode, side by side.",
    "bench": "Time a query against the running daemon.",
    "node": "One node with its text.",
    "callers": "Who calls a symbol.",
    "dependencies": "What a symbol depends on.",
    "related": "What is near a symbol in the graph.",
    "impact": "Who is affected if a symbol changes.",
    "path": "How one symbol reaches another.",
    "outline": "The nodes of a file or directory.",
    "freshness": "How fresh a repository, a file or a symbol is, and why.",
    "graph": "Index and query a graph without the daemon.",
    "add": "Add a repository and index it.",
    "remove": "Forget a repository and delete its index.",
    "list": "The repositories that were added.",
    "status": "How an index stands.",
    "watch": "Follow indexing.",
    "refresh": "Bring an index up to date now.",
    "demo": "Start the daemon, index a directory, answer a query.",
    "daemon": "Run, start, stop and inspect the daemon.",
    "doctor": "Check everything and repair what can be repaired.",
    "completion": "Print a shell completion script.",
    "mcp": "Serve coding agents over MCP, or install that.",
}
_OWN_OPTIONS = frozenset({"--help", "-h", "--version", "--debug"})
_OWN_VALUE_OPTIONS = frozenset({"--data-dir"})


class Verbs(click.Group):
    """Loads a verb when it is used; a first word that is no verb begins a search."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All verbs, in the order of the table."""
        return list(_VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The verb, from its module."""
        if cmd_name not in _VERBS:
            return None
        module = importlib.import_module(f"ctxsearch.daemon.{_VERBS[cmd_name]}")
        command: click.Command = module.VERBS[cmd_name]
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """The verb. A reader that leaves before the end, such as `head`, is no error; click would exit with 1."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # for what is still buffered: no complaint at exit
            ctx.exit(FOUND)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The verbs with one line each, without importing them."""
        with formatter.section("Verbs"):
            formatter.write_dl([(name, _SUMMARIES[name]) for name in _VERBS])

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Puts `search` before the first word or option that belongs to no verb and not to the group."""
        return super().parse_args(ctx, with_default_verb(args))


def with_default_verb(args: list[str]) -> list[str]:
    """`ctxsearch retry loop` -> `ctxsearch search retry loop`; the group's own options stay in front."""
    at = 0
    while at < len(args):
        if args[at] in _OWN_VALUE_OPTIONS:
            at += 2
        elif args[at] in _OWN_OPTIONS or args[at].split("=")[0] in _OWN_VALUE_OPTIONS:
            at += 1
        else:
            break
    if at >= len(args) or args[at] in _VERBS:
        return args
    return [*args[:at], "search", *args[at:]]


@click.command(
    cls=Verbs,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Examples:  ctxsearch 'retry with backoff'   |   ctxsearch callers parse_config   |   ctxsearch status",
)
@click.version_option(VERSION, message="ctxsearch %(version)s")
@click.option("--data-dir", type=click.Path(path_type=Path), help="Where indexes are kept (CTXSEARCH_DATA_DIR).")
@click.option("--debug", is_flag=True, help="Show a traceback with an error.")
@click.pass_context
def ctxsearch(ctx: click.Context, data_dir: Path | None, debug: bool) -> None:
    """Search code by words, meaning and call graph.

    QUERY WORDS without a verb are a search in the repository around the current directory.
    """
    ctx.ensure_object(dict)["debug"] = debug
    ctx.obj["data_dir"] = data_dir


def open_session(ctx: click.Context, **overrides: Any) -> Session:
    """The session of this command; closed when the command ends."""
    settings = load_settings({"data_dir": ctx.obj.get("data_dir"), **overrides})
    session = Session(settings, Path.cwd())
    ctx.call_on_close(session.close)
    return session


def exit_code(error: CtxsearchError) -> int:
    """What an error means to a script."""
    if isinstance(error, UnknownNodeError):
        return NOTHING
    if isinstance(error, AmbiguousSymbolError):
        return USAGE
    by_reason = {"UNKNOWN_NODE": NOTHING, "AMBIGUOUS_SYMBOL": USAGE}
    reason, code = getattr(error, "reason", ""), getattr(error, "code", "")
    return by_reason.get(reason, USAGE if code == "INVALID_ARGUMENT" else PROBLEM)


def main(arguments: list[str] | None = None) -> int:
    """The console script."""
    keep_children_safe()
    state: dict[str, Any] = {}
    arguments = sys.argv[1:] if arguments is None else arguments
    try:
        _require_text(arguments)
        code = ctxsearch.main(
            arguments, prog_name="ctxsearch", standalone_mode=False, obj=state, color=False if no_color() else None
        )
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.Abort:
        click.echo("aborted", err=True)
        return USAGE
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except CtxsearchError as error:
        return _complain(error, exit_code(error), state)
    except OSError as error:
        said = "the working directory is gone; change to one that is there" if _stands_nowhere() else ""
        return _complain(error, PROBLEM, state, said)
    except Exception as error:  # a bug of ours: one line like any other problem, and never the code of "nothing found"
        return _complain(error, PROBLEM, state, f"unexpected {type(error).__name__}: {error}; see it with --debug")
    return code if isinstance(code, int) else FOUND  # what ctx.exit was given, if a verb called it


def _stands_nowhere() -> bool:
    """Whether the working directory was deleted: the system's error would name nothing."""
    try:
        Path.cwd()
    except OSError:
        return True
    return False


def _require_text(arguments: list[str]) -> None:
    for argument in arguments:
        try:
            argument.encode()
        except UnicodeEncodeError:  # bytes of a name that no message and no answer can carry
            raise click.UsageError(f"{os.fsencode(argument)!r} is not UTF-8") from None


def _complain(error: Exception, code: int, state: dict[str, Any], message: str = "") -> int:
    from ctxsearch.daemon.show import safe

    if state.get("debug"):
        import traceback

        traceback.print_exception(error)
    click.echo(f"ctxsearch: {safe(message or str(error))}", err=True)  # it may name what a hostile file is called
    return code


if __name__ == "__main__":
    sys.exit(main())
