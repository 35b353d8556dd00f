"""The verbs about repositories: add, remove, list, status, watch, refresh, and the demo."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from ctxsearch.daemon import show
from ctxsearch.daemon.cli import FOUND, NOTHING, SECONDS, open_session
from ctxsearch.daemon.client import DaemonError
from ctxsearch.daemon.session import NotInRepositoryError, Session, around, working_tree_root
from ctxsearch.v1 import repository_pb2, search_pb2

_BUSY = frozenset(
    {
        repository_pb2.INDEX_PHASE_QUEUED,
        repository_pb2.INDEX_PHASE_LISTING,
        repository_pb2.INDEX_PHASE_PARSING,
        repository_pb2.INDEX_PHASE_RESOLVING,
        repository_pb2.INDEX_PHASE_WRITING,
        repository_pb2.INDEX_PHASE_EMBEDDING,
        repository_pb2.INDEX_PHASE_HISTORY,
    }
)


def ensure_repository(
    session: Session, entries: Sequence[repository_pb2.RepositoryEntry], yes: bool
) -> repository_pb2.Repository | None:
    """The repository around the current directory, added if it is new; None = search all that were added."""
    here = around(session.cwd, [entry.repository for entry in entries])
    if here is not None:
        return here
    root = working_tree_root(session.cwd)
    if root is None and entries:
        return None
    if root is None and not yes:
        raise NotInRepositoryError(f"{session.cwd} is in no repository; run `ctxsearch add PATH`")
    if not yes and not _agreed(root or session.cwd):
        raise NotInRepositoryError(f"{root} was not added; run `ctxsearch add {root}` or pass --yes")
    answer = _add(session, root or session.cwd, "", dry_run=False)
    return answer.repository


def _agreed(root: Path) -> bool:
    if not sys.stdin.isatty():
        return False
    return click.confirm(f"{root} is not indexed yet. Add it?", default=True, err=True)


def _add(session: Session, path: Path, name: str, *, dry_run: bool) -> repository_pb2.AddRepositoryResponse:
    place = str(path.absolute())
    if place != place.encode(errors="replace").decode():
        raise NotInRepositoryError(f"{os.fsencode(place)!r} is not UTF-8, so that no answer could name it; rename it")
    request = repository_pb2.AddRepositoryRequest(path=place, name=name, dry_run=dry_run)
    answer: repository_pb2.AddRepositoryResponse = session.repository("AddRepository", request, timeout=600.0)
    return answer


def wait_for_index(session: Session, name: str, *, complete: bool = False) -> repository_pb2.IndexProgress:
    """Shows progress until the repository can be searched, or until vectors and history are there too."""
    last = repository_pb2.IndexProgress(repository=name)
    with _progress_display() as display:
        for progress in follow(session, name):
            display(progress)
            last = progress
            if _is_settled(progress, complete):
                break
    if not last.generation:
        _refuse_failed(last)
    return last


def _refuse_failed(progress: repository_pb2.IndexProgress) -> None:
    if progress.phase == repository_pb2.INDEX_PHASE_FAILED:
        reason = "; ".join(progress.errors) or "see `ctxsearch daemon logs`"
        raise DaemonError(f"{progress.repository} could not be indexed: {reason}", "FAILED_PRECONDITION")


def _is_settled(progress: repository_pb2.IndexProgress, complete: bool) -> bool:
    if progress.phase in (repository_pb2.INDEX_PHASE_IDLE, repository_pb2.INDEX_PHASE_FAILED):
        return True
    return not complete and progress.generation > 0


def follow(session: Session, name: str) -> Iterator[repository_pb2.IndexProgress]:
    """Every state of one repository's indexing, or of all for an empty name."""
    request = repository_pb2.WatchIndexingRequest(repository=name)
    for message in session.stream(session.repository_stub().WatchIndexing, request):
        yield from message.progress


class _PlainProgress:
    """A line on standard error whenever the phase changes."""

    def __init__(self) -> None:
        self._shown = -1

    def __enter__(self) -> _PlainProgress:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __call__(self, progress: repository_pb2.IndexProgress) -> None:
        if progress.phase != self._shown:
            self._shown = progress.phase
            click.echo(show.progress_line(progress), err=True)


class _BarProgress:
    """A bar on the terminal."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._progress.add_task("starting", total=None)

    def __enter__(self) -> _BarProgress:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()

    def __call__(self, progress: repository_pb2.IndexProgress) -> None:
        phase = show.word(repository_pb2.IndexPhase, progress.phase)
        self._progress.update(self._task, description=phase, completed=progress.done, total=progress.total or None)


def _progress_display() -> Any:
    return _BarProgress() if sys.stderr.isatty() else _PlainProgress()


@click.command(
    epilog="Examples:  ctxsearch add .   |   ctxsearch add ~/src/app --name app   |   ctxsearch add . --dry-run"
)
@click.argument("path", type=click.Path(exists=True, file_okay=False, path_type=Path), default=".")
@click.option("--name", default="", help="Name to give it; default: the directory's.")
@click.option("--dry-run", is_flag=True, help="Only show what would be indexed.")
@click.option("--no-wait", is_flag=True, help="Return at once; index in the background.")
@click.option("--json", "as_json", is_flag=True, help="The response message as JSON.")
@click.pass_context
def add(ctx: click.Context, path: Path, name: str, dry_run: bool, no_wait: bool, as_json: bool) -> None:
    """Add a repository (or a plain directory) and index it."""
    session = open_session(ctx)
    answer = _add(session, path, name, dry_run=dry_run)
    kept = answer.repository.name
    if answer.existed and name not in ("", kept):
        said = f"{show.safe(answer.repository.root)} was added as {kept} and keeps that name"
        click.echo(f"{said}; for another, run `ctxsearch remove {kept}` and add it again", err=True)
    if not dry_run and not no_wait:
        wait_for_index(session, answer.repository.name)
    if as_json:
        click.echo(show.as_json(answer))
    elif dry_run:
        click.echo("\n".join(_preview(answer)))
    else:
        state = "was there already" if answer.existed else "added"
        click.echo(f"{answer.repository.name}: {state}, {show.safe(answer.repository.root)}")


def _preview(answer: repository_pb2.AddRepositoryResponse) -> Iterator[str]:
    preview = answer.preview
    yield f"{answer.repository.name}: {preview.files} files, {show.size(preview.bytes)} would be indexed"
    yield from show.counts("languages", preview.languages)
    yield from show.counts("skipped", preview.skipped)
    for skipped in preview.skipped_examples:
        yield f"  {show.safe(skipped.path)}: {show.safe(skipped.reason)}"


@click.command(epilog="Example:  ctxsearch remove app")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.pass_context
def remove(ctx: click.Context, name: str, yes: bool) -> None:
    """Forget a repository and delete its index; the repository itself is not touched."""
    session = open_session(ctx)
    if not yes and sys.stdin.isatty():
        click.confirm(f"Delete the index of {name}?", abort=True, err=True)
    answer = session.repository("RemoveRepository", repository_pb2.RemoveRepositoryRequest(repository=name))
    click.echo(f"{name}: removed, {show.size(answer.freed_bytes)} freed")


@click.command("list", epilog="Example:  ctxsearch list --json")
@click.option("--json", "as_json", is_flag=True, help="The response message as JSON.")
@click.pass_context
def list_(ctx: click.Context, as_json: bool) -> None:
    """The repositories that were added, and where their indexing stands."""
    session = open_session(ctx)
    entries = session.repositories()
    if as_json:
        click.echo(show.as_json(repository_pb2.ListRepositoriesResponse(repositories=entries)))
    for entry in entries if not as_json else ():
        click.echo(show.progress_line(entry.progress, entry.repository.root))
    if not entries and not as_json:
        click.echo("no repository was added; run `ctxsearch add PATH`", err=True)
    ctx.exit(FOUND if entries else NOTHING)


def _named_or_here(session: Session, name: str | None) -> str:
    if name:
        return name
    here = session.here()
    if here is None:
        raise NotInRepositoryError(
            f"{session.cwd} is in no repository that was added; run `ctxsearch add {session.cwd}`"
        )
    return here.name


@click.command(epilog="Examples:  ctxsearch status   |   ctxsearch status app --json")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="The response message as JSON.")
@click.pass_context
def status(ctx: click.Context, name: str | None, as_json: bool) -> None:
    """How an index stands: generation, freshness, counts, sizes, memory."""
    session = open_session(ctx)
    request = repository_pb2.GetStatusRequest(repository=_named_or_here(session, name))
    answer = session.repository("GetStatus", request)
    click.echo(show.as_json(answer) if as_json else "\n".join(_status_lines(answer)))


def _status_lines(answer: repository_pb2.GetStatusResponse) -> Iterator[str]:
    yield f"{show.progress_line(answer.progress)}"
    yield f"root: {show.safe(answer.repository.root)}"
    when = answer.indexed_time.ToDatetime().isoformat(" ", "seconds") if answer.HasField("indexed_time") else "never"
    since = f"{answer.trailing_files} {'file' if answer.trailing_files == 1 else 'files'} known to have changed since"
    yield f"indexed: {when} UTC, commit {answer.commit[:12] or '-'}, {since}"
    yield f"files {answer.files}, nodes {answer.nodes}, edges {answer.edges}, vectors {answer.embedded_nodes}"
    yield from show.counts("languages", answer.languages)
    yield from show.counts("kinds", answer.kinds)
    yield from show.counts("skipped", answer.skipped)
    yield from show.counts("freshness", answer.freshness)
    if answer.sizes:
        yield "on disk: " + ", ".join(f"{part.name} {show.size(part.bytes)}" for part in answer.sizes)
    if answer.worker_memory_bytes:
        yield f"indexing process: {show.size(answer.worker_memory_bytes)}"
    yield f"watching: {'yes' if answer.watching else 'no'}"


@click.command(epilog="Example:  ctxsearch watch app")
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="One message as JSON per line.")
@click.pass_context
def watch(ctx: click.Context, name: str | None, as_json: bool) -> None:
    """Follow indexing until interrupted: first where everything stands, then every change."""
    session = open_session(ctx)
    for progress in follow(session, name or ""):
        click.echo(show.as_json(progress).replace("\n", "") if as_json else show.progress_line(progress))


@click.command(epilog="Examples:  ctxsearch refresh   |   ctxsearch refresh app --full")
@click.argument("name", required=False)
@click.option("--full", is_flag=True, help="Index everything again, not only what changed.")
@click.option("--json", "as_json", is_flag=True, help="The response message as JSON.")
@click.option("--max-wait", type=SECONDS, default=600.0, metavar="SECONDS", help="How long to wait for it.")
@click.pass_context
def refresh(ctx: click.Context, name: str | None, full: bool, as_json: bool, max_wait: float) -> None:
    """Bring an index up to date with the working tree now, and wait for it."""
    session = open_session(ctx)
    request = repository_pb2.RefreshRequest(repository=_named_or_here(session, name), full=full)
    request.max_wait.FromMilliseconds(int(max_wait * 1000))
    answer = session.repository("Refresh", request, timeout=max_wait + 30)
    if not answer.completed:
        for entry in session.repositories():
            if entry.repository.name == request.repository:
                _refuse_failed(entry.progress)
    state = "current" if answer.completed else "still indexing"
    click.echo(show.as_json(answer) if as_json else f"{request.repository}: {state}, generation {answer.generation}")


@click.command(epilog="Example:  ctxsearch demo .")
@click.argument("path", type=click.Path(exists=True, file_okay=False, path_type=Path), default=".")
@click.option("--query", default="parse a file into a graph", help="What to ask.")
@click.pass_context
def demo(ctx: click.Context, path: Path, query: str) -> None:
    """Start the daemon, index a directory, answer a query, show what to try next."""
    session = open_session(ctx)
    info = session.connection.info
    click.echo(f"daemon {info.version} is up: process {info.pid}, data in {info.data_dir}")
    repository = _add(session, path, "", dry_run=False).repository
    wait_for_index(session, repository.name, complete=True)
    answer = session.repository("GetStatus", repository_pb2.GetStatusRequest(repository=repository.name))
    click.echo("\n".join(_status_lines(answer)))
    request = search_pb2.ContextSearchRequest(text=query, k=5)
    request.scope.include.repositories.append(repository.name)
    click.echo(f"\n$ ctxsearch {query!r}")
    click.echo("\n".join(show.results(session.search(request), explain=False, here=True)))
    click.echo(
        "\nNext:\n"
        "  ctxsearch 'your question'             search from anywhere in the repository\n"
        "  ctxsearch callers NAME                who calls it; also: dependencies, impact, path, outline\n"
        "  ctxsearch status                      how the index stands; it follows your edits\n"
        "  ctxsearch mcp install                 give it to your coding agent\n"
        "  ctxsearch daemon stop                 stop the daemon"
    )


VERBS: dict[str, click.Command] = {
    "add": add,
    "remove": remove,
    "list": list_,
    "status": status,
    "watch": watch,
    "refresh": refresh,
    "demo": demo,
}
