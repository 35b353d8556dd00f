"""The verbs that search: search, compare, bench."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from ctxsearch.daemon import show
from ctxsearch.daemon.cli import FOUND, INT32, NOTHING, SECONDS, open_session
from ctxsearch.daemon.cli_repositories import ensure_repository, wait_for_index
from ctxsearch.daemon.session import Session
from ctxsearch.daemon.settings import editor_command
from ctxsearch.graph.errors import CtxsearchError
from ctxsearch.v1 import node_pb2, repository_pb2, search_pb2

_SCOPE_TOKEN = re.compile(r"[-!]?(path|lang|kind|repo|module):.+", re.DOTALL)
_BETWEEN_TOKENS = re.compile(r"\s+(?=[-!]?[a-z]+:)")  # a blank before anything else is part of a name
_MODES = ("hybrid", "keyword", "semantic", "fuzzy")
PIPED_COLUMNS = 141  # of a table that no terminal shows
LEAST_CELL, MOST_CELL = 28, 60  # columns of a result of `compare`
LEAST_PLACE = 8  # characters of a place that still tell something
_NUMBER = "{:>3}  "
_PATH_STARTS = ("./", "../", "~/")  # of what can only be meant as a path; `/users/:id` may be a route
_FLOORS = ("fresh", "acceptable", "stale", "stale-with-risk")

Answers = dict[str, search_pb2.ContextSearchResponse | None]  # by mode; None: it cannot answer


class EditorError(CtxsearchError):
    """The user's editor cannot be started."""


def search_options(command: Any) -> Any:
    """Options of every verb that makes a search request."""
    options = (
        click.option("-k", type=INT32, default=None, help="Results wanted, 1..200 (20)."),
        click.option("--weights", default="", help="Such as bm25=1,semantic=0.5,graph=0.6,fuzzy=0."),
        click.option("--callers", type=INT32, default=None, metavar="N", help="Add callers of the best, N deep."),
        click.option("--dependencies", type=INT32, default=None, metavar="N", help="Add dependencies, N deep."),
        click.option("--related", type=INT32, default=None, metavar="N", help="Add related nodes within N edges."),
        click.option(
            "--scope",
            multiple=True,
            metavar="TOKENS",
            help="path:src/ lang:python kind:function repo:NAME module:pkg; a leading ! excludes. A path may have "
            "blanks and be a glob (* ** ? {a,b} [a-z]); [[] is a literal [, as in 'path:app/[[]id]/**'.",
        ),
        click.option("--floor", type=click.Choice(_FLOORS), default=None, help="Lowest freshness to return."),
        click.option("--min-score", type=float, default=0.0, help="Floor on the score, 0..1."),
        click.option("--all", "everywhere", is_flag=True, help="Search every repository that was added."),
        click.option("--yes", is_flag=True, help="Add a new repository without asking."),
    )
    for option in reversed(options):
        command = option(command)
    return command


@click.command(
    epilog="Examples:  ctxsearch 'retry with backoff'   |   ctxsearch search parse_config --mode keyword -k 5   |   "
    "ctxsearch 'http client' --callers 2 --scope path:src/ lang:python kind:function   |   ctxsearch foo --json"
)
@click.argument("words", nargs=-1, required=True, metavar="QUERY [PATH]")
@search_options
@click.option("--mode", type=click.Choice(_MODES), default="hybrid", help="Which signals run.")
@click.option("--content", type=click.Choice(("none", "snippet", "full")), default="snippet", help="Text shown.")
@click.option("--max-tokens", type=INT32, default=None, help="Budget for all text together.")
@click.option("--min-generation", type=INT32, default=0, help="Answer from this generation or later.")
@click.option("--max-wait", type=SECONDS, default=None, metavar="SECONDS", help="How long to wait for it.")
@click.option("--explain", is_flag=True, help="Show every signal's rank, score and contribution.")
@click.option("--json", "as_json", is_flag=True, help="The response message as JSON.")
@click.option("--open", "open_best", is_flag=True, help="Open the best result in $EDITOR.")
@click.pass_context
def search(ctx: click.Context, /, words: tuple[str, ...], as_json: bool, open_best: bool, **options: Any) -> None:
    """Search the code around the current directory, or in PATH.

    QUERY is natural language, an identifier or a piece of code. PATH is a directory or a file spelled with a slash, or
    as dots: `.`, `./src`, `src/app.py`, `/srv/project`.
    """
    session, words, named = _standing(ctx, words)
    request = search_request(words, options)
    settle_scope(session, request, options["everywhere"], options["yes"], named)
    response = session.search(request)
    if as_json:
        click.echo(show.as_json(response))
    else:
        here = len(request.scope.include.repositories) == 1
        click.echo("\n".join(show.results(response, options["explain"], here=here)))
    if open_best and response.results:
        open_in_editor(session, response.results[0].node)
    ctx.exit(FOUND if response.results else NOTHING)


def _standing(ctx: click.Context, words: tuple[str, ...]) -> tuple[Session, tuple[str, ...], Path | None]:
    """The session, the query's words, and the directory or file at their end: where to search, as with grep."""
    session = open_session(ctx)
    *query, last = words
    if not query or not (last in (".", "..") or "/" in last):
        return session, words, None
    named = _place(last)
    if named is None:
        if last.startswith(_PATH_STARTS):
            raise click.UsageError(
                f"there is no file or directory {last!r}; if it is to be searched for, write the query as one word: "
                f"ctxsearch {shlex.quote(' '.join(words))}"
            )
        return session, words, None
    session.cwd = named if named.is_dir() else named.parent
    return session, tuple(query), named


def _place(spelled: str) -> Path | None:
    """The directory or file that somebody spelled; None: there is none."""
    try:
        return (Path.home() / spelled[2:] if spelled.startswith("~/") else Path(spelled)).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):  # not there, too long, with a NUL, or in a loop of links
        return None


def search_request(words: Sequence[str], options: dict[str, Any]) -> search_pb2.ContextSearchRequest:
    """The request that the command line means; raises UsageError for what it cannot mean."""
    text, scope = split_scope(words, options["scope"])
    request = search_pb2.ContextSearchRequest(text=text, min_score=options["min_score"])
    request.mode = search_pb2.SearchMode.Value(f"SEARCH_MODE_{options.get('mode', 'hybrid').upper()}")
    request.content = search_pb2.ContentLevel.Value(f"CONTENT_LEVEL_{options.get('content', 'snippet').upper()}")
    request.explain = options.get("explain", False)
    request.min_generation = options.get("min_generation", 0)
    if options["k"] is not None:
        request.k = options["k"]
    if options.get("max_tokens") is not None:
        request.max_tokens = options["max_tokens"]
    if options.get("max_wait") is not None:
        request.max_wait.FromMilliseconds(int(options["max_wait"] * 1000))
    if options["floor"]:
        name = options["floor"].upper().replace("-", "_")
        request.freshness_floor = node_pb2.Freshness.Value(f"FRESHNESS_{name}")
    _set_weights(request, options["weights"])
    _set_expansion(request, options)
    for token in scope:
        _add_scope(request.scope, token)
    return request


def split_scope(words: Sequence[str], scopes: Sequence[str]) -> tuple[str, list[str]]:
    """Query text and scope tokens; with --scope, tokens among the words belong to it."""
    if not scopes:
        return " ".join(words), []
    spelled = [*scopes, *(each for each in words if _SCOPE_TOKEN.match(each))]
    tokens = [token for each in spelled for token in _BETWEEN_TOKENS.split(each.strip()) if token]
    return " ".join(each for each in words if not _SCOPE_TOKEN.match(each)), tokens


def _add_scope(scope: search_pb2.Scope, token: str) -> None:
    key, _, value = token.lstrip("-!").partition(":")
    _, _, astray = value.partition(" ") if key in ("lang", "kind") else ("", "", "")
    if astray or not _SCOPE_TOKEN.match(token):
        raise click.UsageError(f"--scope: {(astray or token)!r} is not one of path: lang: kind: repo: module:")
    part = scope.exclude if token[0] in "-!" else scope.include
    if key == "kind":
        part.kinds.append(_kind(value))
        return
    lists = {"path": part.paths, "lang": part.languages, "repo": part.repositories, "module": part.modules}
    lists[key].append(value)


def _kind(value: str) -> node_pb2.NodeKind.ValueType:
    known = {name.removeprefix("NODE_KIND_").lower(): kind for name, kind in node_pb2.NodeKind.items() if kind}
    name = value.lower().replace("-", "_")
    if name not in known:
        raise click.UsageError(f"--scope: no kind {value!r}; one of {', '.join(known)}")
    return known[name]


def _set_weights(request: search_pb2.ContextSearchRequest, text: str) -> None:
    for part in filter(None, text.split(",")):
        name, _, value = part.partition("=")
        if name.strip() not in ("bm25", "semantic", "graph", "fuzzy"):
            raise click.UsageError(f"--weights: no signal {name!r}; one of bm25, semantic, graph, fuzzy")
        try:
            setattr(request.weights, name.strip(), float(value))
        except ValueError:
            raise click.UsageError(f"--weights: {name} needs a number, not {value!r}") from None


def _set_expansion(request: search_pb2.ContextSearchRequest, options: dict[str, Any]) -> None:
    asked = [name for name in ("callers", "dependencies", "related") if options[name] is not None]
    if len(asked) > 1:
        raise click.UsageError(f"only one of --{' and --'.join(asked)} at a time")
    if "callers" in asked:
        request.callers.depth = options["callers"]
    if "dependencies" in asked:
        request.dependencies.depth = options["dependencies"]
    if "related" in asked:
        request.related.radius = options["related"]


def settle_scope(session: Session, request: Any, everywhere: bool, yes: bool, named: Path | None) -> None:
    """Without a repository in the scope, the one around the session's directory is meant; a new one is added.

    A directory that was named narrows the search to what is below it, a file to itself; standing somewhere does not.
    Whoever stands in a repository and leaves it out means the others.
    """
    if everywhere or request.scope.include.repositories:
        return
    entries = session.repositories()
    here = ensure_repository(session, entries, yes)
    if here is None:
        names = ", ".join(entry.repository.name for entry in entries)
        click.echo(f"{session.cwd} is in no repository; searching all that were added: {names}", err=True)
        return
    is_named = named is not None and named != Path.cwd()
    if here.name in request.scope.exclude.repositories and not is_named:
        return
    request.scope.include.repositories.append(here.name)
    if named is not None and is_named:
        from ctxsearch.search.scope import literal_folder  # brings a part of the engine along

        below = named.relative_to(here.root).as_posix()
        request.scope.include.paths.extend([literal_folder(below)] if below != "." else [])
    known = {entry.repository.name: entry.progress for entry in entries}
    if here.name not in known or known[here.name].generation == 0:
        wait_for_index(session, here.name)


def open_in_editor(session: Session, node: node_pb2.Node) -> None:
    """Opens the node's file at its line; the path was indexed inside the repository's root."""
    status = session.repository("GetStatus", repository_pb2.GetStatusRequest(repository=node.repository))
    file = Path(status.repository.root) / node.path
    try:
        command = shlex.split(editor_command())
    except ValueError as error:
        raise EditorError(f"the editor {editor_command()!r} cannot be read: {error}; set EDITOR") from error
    takes_goto = Path(command[0]).name in {"code", "code-insiders", "codium", "cursor"}
    place = ["--goto", f"{file}:{node.start_line}"] if takes_goto else [f"+{node.start_line}", str(file)]
    try:
        subprocess.run([*command, *place], check=False)
    except OSError as error:
        raise EditorError(f"the editor {command[0]!r} cannot be run: {error.strerror}; set EDITOR") from error


@click.command(epilog="Example:  ctxsearch compare 'parse configuration file' -k 5")
@click.argument("words", nargs=-1, required=True, metavar="QUERY [PATH]")
@search_options
@click.pass_context
def compare(ctx: click.Context, /, words: tuple[str, ...], **options: Any) -> None:
    """The same query in every mode, side by side: results, mean score, time, overlap with hybrid."""
    session, words, named = _standing(ctx, words)
    request = search_request(words, options | {"content": "none"})
    settle_scope(session, request, options["everywhere"], options["yes"], named)
    answers = {mode: _answer_in_mode(session, request, mode) for mode in _MODES}
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else PIPED_COLUMNS
    click.echo("\n".join([*_figures(answers), *side_by_side(answers, width)]))
    ctx.exit(FOUND if any(answer and answer.results for answer in answers.values()) else NOTHING)


def _answer_in_mode(session: Session, request: Any, mode: str) -> search_pb2.ContextSearchResponse | None:
    from ctxsearch.daemon.client import DaemonError

    copy = search_pb2.ContextSearchRequest()
    copy.CopyFrom(request)
    copy.mode = search_pb2.SearchMode.Value(f"SEARCH_MODE_{mode.upper()}")
    if mode != "hybrid":
        copy.ClearField("weights")
    try:
        answer: search_pb2.ContextSearchResponse = session.search(copy)
    except DaemonError as error:
        if error.code != "FAILED_PRECONDITION":
            raise
        click.echo(f"{mode}: {error}", err=True)
        return None
    return answer


def _figures(answers: Answers) -> list[str]:
    ids = {mode: [r.node.id for r in answer.results] if answer else [] for mode, answer in answers.items()}
    lines = [f"{'mode':<10}{'results':>8}{'mean score':>12}{'ms':>8}{'overlap':>9}"]
    for mode, answer in answers.items():
        if answer is None:
            lines.append(f"{mode:<10}{'-':>8}")
            continue
        scores = [result.score for result in answer.results]
        mean = sum(scores) / len(scores) if scores else 0.0
        elapsed = answer.elapsed.ToMicroseconds() / 1000
        shared = len(set(ids[mode]) & set(ids["hybrid"]))
        lines.append(f"{mode:<10}{len(scores):>8}{mean:>12.3f}{elapsed:>8.1f}{shared:>9}")
    return lines


def side_by_side(answers: Answers, width: int) -> Iterator[str]:
    """The results of all modes in a table no wider than that: all beside each other, or in pairs, or one by one."""
    room = width - len(_NUMBER.format(0))
    beside = next((count for count in (len(answers), 2) if room // count >= LEAST_CELL), 1)
    wide = min(room // beside, MOST_CELL)
    modes = list(answers)
    for start in range(0, len(modes), beside):
        shown = {mode: answers[mode] for mode in modes[start : start + beside]}
        depth = max(len(answer.results) if answer else 0 for answer in shown.values())
        yield ""
        yield ("  #  " + "".join(f"{mode:<{wide}}" for mode in shown)).rstrip()
        for row in range(depth):
            cells = (f"{_cell(answer, row, wide - 2):<{wide}}" for answer in shown.values())
            yield (_NUMBER.format(row + 1) + "".join(cells)).rstrip()


def _cell(answer: search_pb2.ContextSearchResponse | None, row: int, room: int) -> str:
    """Name and place of a result; of a place that is too long the end is what tells most."""
    if answer is None or row >= len(answer.results):
        return ""
    node = answer.results[row].node
    name, place = show.safe(node.name), show.place(node)
    left = room - len(name) - 2
    if len(place) <= left + 1:
        return f"{name} {place}"
    return f"{name} …{place[-left:]}" if left >= LEAST_PLACE else f"{name} {place}"[: max(room - 1, 0)] + "…"


@click.command(epilog="Example:  ctxsearch bench 'parse configuration file' -n 200")
@click.argument("words", nargs=-1, required=True, metavar="QUERY [PATH]")
@search_options
@click.option("-n", "--rounds", type=click.IntRange(1, 100_000), default=100, help="How often to ask.")
@click.option("--mode", type=click.Choice(_MODES), default="hybrid", help="Which signals run.")
@click.pass_context
def bench(ctx: click.Context, /, words: tuple[str, ...], rounds: int, **options: Any) -> None:
    """Time a query against the running daemon: whole round trips over the socket."""
    import time

    session, words, named = _standing(ctx, words)
    request = search_request(words, options)
    settle_scope(session, request, options["everywhere"], options["yes"], named)
    session.search(request)
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        session.search(request)
        times.append((time.perf_counter() - start) * 1000)
    times.sort()
    picks = ((50, "p50"), (95, "p95"), (99, "p99"))
    shown = "  ".join(f"{name} {times[min(rounds - 1, rounds * share // 100)]:.1f} ms" for share, name in picks)
    click.echo(f"{rounds} queries  {shown}  max {times[-1]:.1f} ms")


VERBS: dict[str, click.Command] = {"search": search, "compare": compare, "bench": bench}
