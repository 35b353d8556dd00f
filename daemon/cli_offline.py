"""`ctxsearch graph`: index a directory and ask its graph in this process, without a daemon.

Uses the same catalog in the data directory as the daemon does; while the daemon indexes a repository, it alone writes.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ctxsearch.daemon import show
from ctxsearch.daemon.cli import FOUND, NOTHING
from ctxsearch.daemon.errors import AmbiguousSymbolError, NoIndexError, UnknownNodeError
from ctxsearch.daemon.registry import identity
from ctxsearch.daemon.session import working_tree_root
from ctxsearch.daemon.settings import Settings, load_settings

if TYPE_CHECKING:
    from ctxsearch.daemon.layout import Layout
    from ctxsearch.daemon.texts import Texts
    from ctxsearch.graph.catalog import Catalog, Snapshot
    from ctxsearch.graph.graph import CodeGraph, Traversal
    from ctxsearch.graph.model import CodeNode, Edge, EdgeKind
    from ctxsearch.graph.walk import Limits

CANDIDATES_SHOWN = 8


@click.group(
    epilog="Examples:  ctxsearch graph index .   |   ctxsearch graph callers parse_config   |   ctxsearch graph export"
)
def graph() -> None:
    """Index and query a graph without the daemon."""


def root_option(command: Any) -> Any:
    """Which index is meant."""
    return click.option(
        "--root",
        type=click.Path(exists=True, file_okay=False, path_type=Path),
        default=".",
        help="A directory of the repository; default: the current one.",
    )(command)


def way_options(command: Any) -> Any:
    """Options of whatever walks the graph."""
    for option in (
        click.option("--json", "as_json", is_flag=True, help="One JSON object per line."),
        click.option("--min-confidence", type=click.FloatRange(0, 1), default=0.5, help="Weaker edges are not walked."),
        root_option,
    ):
        command = option(command)
    return command


def walk_options(command: Any) -> Any:
    """Options of every traversal."""
    return click.option("--limit", type=click.IntRange(1), default=200, help="Most nodes to show.")(
        way_options(command)
    )


@graph.command(epilog="Example:  ctxsearch graph index ~/src/app")
@click.argument("path", type=click.Path(exists=True, file_okay=False, path_type=Path), default=".")
@click.option("--workers", type=click.IntRange(1), default=None, help="Parser processes.")
@click.option("--json", "as_json", is_flag=True, help="The report as JSON.")
@click.pass_context
def index(ctx: click.Context, path: Path, workers: int | None, as_json: bool) -> None:
    """Index PATH, or bring its index up to date."""
    import msgspec

    from ctxsearch.daemon.worker import open_catalog, open_git
    from ctxsearch.indexer.files import Limits as FileLimits
    from ctxsearch.indexer.index import RepositoryIndexer

    settings = _settings(ctx)
    root = _root(path)
    problems: list[str] = []
    with (
        open_catalog(_layout(settings, root), problems) as catalog,
        RepositoryIndexer(
            root,
            catalog,
            workers=workers or settings.effective_parse_workers,
            limits=FileLimits(max_bytes=settings.max_file_bytes),
            git=open_git(root, problems),
        ) as indexer,
    ):
        report = indexer.refresh(_Phases())
        with catalog.read() as snapshot:
            counts = snapshot.counts()
    for problem in problems:
        click.echo(f"warning: {problem}", err=True)
    if as_json:
        click.echo(msgspec.json.encode(report).decode())
        return
    click.echo(f"{root}: generation {report.generation}, {report.changed} changed, {report.unchanged} unchanged")
    click.echo(f"nodes {sum(counts.nodes.values())}, edges {sum(counts.edges.values())}")
    for title, items in (("languages", counts.files), ("skipped", counts.skipped)):
        if items:
            click.echo(f"{title}: " + ", ".join(f"{name} {count}" for name, count in sorted(items.items())))


class _Phases:
    """A line on standard error whenever the phase changes."""

    def __init__(self) -> None:
        self._shown = ""

    def __call__(self, phase: str, _done: int, total: int) -> None:
        if phase != self._shown:
            self._shown = phase
            click.echo(f"{phase}{f' {total}' if total else ''}", err=True)


@graph.command(epilog="Example:  ctxsearch graph callers parse_config --depth 2")
@click.argument("symbol")
@click.option("--depth", type=click.IntRange(1, 16), default=1, help="Calls to walk backwards.")
@walk_options
@click.pass_context
def callers(ctx: click.Context, /, symbol: str, depth: int, **options: Any) -> None:
    """Who calls SYMBOL."""
    _walk(ctx, symbol, options, lambda code, node, limits: code.callers([node.id], depth, limits))


@graph.command(epilog="Example:  ctxsearch graph dependencies Parser.parse")
@click.argument("symbol")
@click.option("--depth", type=click.IntRange(1, 16), default=1, help="Edges to walk forwards.")
@walk_options
@click.pass_context
def dependencies(ctx: click.Context, /, symbol: str, depth: int, **options: Any) -> None:
    """What SYMBOL depends on."""
    _walk(ctx, symbol, options, lambda code, node, limits: code.dependencies([node.id], depth, limits))


@graph.command(epilog="Example:  ctxsearch graph related Parser --radius 2")
@click.argument("symbol")
@click.option("--radius", type=click.IntRange(1, 4), default=1, help="Edges to walk in any direction.")
@walk_options
@click.pass_context
def related(ctx: click.Context, /, symbol: str, radius: int, **options: Any) -> None:
    """What is near SYMBOL in the graph."""
    _walk(ctx, symbol, options, lambda code, node, limits: code.related([node.id], radius, limits))


@graph.command(epilog="Example:  ctxsearch graph impact Settings.load")
@click.argument("symbol")
@click.option("--depth", type=click.IntRange(1, 16), default=4, help="Edges to walk.")
@walk_options
@click.pass_context
def impact(ctx: click.Context, /, symbol: str, depth: int, **options: Any) -> None:
    """Who is affected if SYMBOL changes."""
    _walk(ctx, symbol, options, lambda code, node, limits: code.impact(node.id, depth, limits))


@graph.command(epilog="Example:  ctxsearch graph path main write_file")
@click.argument("start")
@click.argument("end")
@click.option("--max-depth", type=click.IntRange(1, 32), default=12, help="Most edges.")
@way_options
@click.pass_context
def path(ctx: click.Context, /, start: str, end: str, max_depth: int, **options: Any) -> None:
    """How START reaches END: the shortest way over calls and other dependencies."""
    from ctxsearch.graph.walk import THROUGH_HUBS

    code, texts = _loaded(ctx, options["root"])
    limits = replace(THROUGH_HUBS, min_confidence=options["min_confidence"])
    found = code.path(only_match(code, start).id, only_match(code, end).id, limits)
    nodes = found.nodes if len(found.nodes) <= max_depth + 1 else ()
    steps = (None, *zip(found.kinds, found.confidences, strict=True))
    changed = texts.changed(nodes)
    for distance, (node, step) in enumerate(zip(nodes, steps, strict=False)):
        click.echo(_reached(node, distance, step, options["as_json"], changed, indent=distance))
    if not nodes:
        doubt = "; the search gave up, there may be one" if found.truncated else ""
        click.echo(f"no way from {show.safe(start)} to {show.safe(end)}{doubt}", err=True)
    ctx.exit(FOUND if nodes else NOTHING)


@graph.command(epilog="Example:  ctxsearch graph export > graph.jsonl")
@root_option
@click.option("--json", "_as_json", is_flag=True, help="One JSON object per line (the only format).")
@click.pass_context
def export(ctx: click.Context, root: Path, _as_json: bool) -> None:
    """All nodes, then all edges, one JSON object per line, in a stable order."""
    with _reading(_settings(ctx), _root(root)) as (_, snapshot):
        for line in _exported(snapshot):
            click.echo(line)


def _exported(snapshot: Snapshot) -> Iterator[str]:
    nodes = snapshot.load_nodes()
    for node in nodes:
        yield json.dumps({"type": "node", **_node_fields(node)}, ensure_ascii=False)
    for owner in sorted({_owner(node) for node in nodes}):
        part = snapshot.graph_of(owner)
        for edge in sorted(part.edges, key=lambda e: (e.source, e.kind, e.target)) if part is not None else ():
            yield json.dumps({"type": "edge", **_edge_fields(edge)})


def _owner(node: CodeNode) -> str:
    from ctxsearch.graph.records import owner_of

    return owner_of(node)


def _node_fields(node: CodeNode) -> dict[str, Any]:
    return {
        "id": node.id,
        "kind": node.kind.name.lower(),
        "name": node.name,
        "qualified_name": node.qualified_name,
        "path": node.path,
        "start_line": node.start_line,
        "end_line": node.end_line,
        "language": node.language,
        "signature": node.signature,
        "flags": [flag.name.lower() for flag in node.flags if flag.name],
        "parent": node.parent,
    }


def _edge_fields(edge: Edge) -> dict[str, Any]:
    return {
        "source": edge.source,
        "target": edge.target,
        "kind": edge.kind.name.lower(),
        "confidence": round(edge.confidence, 4),
        "rule": edge.rule.name.lower(),
        "lines": list(edge.lines),
    }


def _walk(ctx: click.Context, symbol: str, options: dict[str, Any], walk: Any) -> None:
    from ctxsearch.graph.walk import Limits

    code, texts = _loaded(ctx, options["root"])
    node = only_match(code, symbol)
    limits: Limits = Limits(min_confidence=options["min_confidence"], results=options["limit"])
    found: Traversal = walk(code, node, limits)
    changed = texts.changed([hit.node for hit in found.hits])
    for hit in found.hits:
        step = hit.via, hit.confidence
        click.echo(_reached(hit.node, hit.distance, step, options["as_json"], changed, indent=hit.distance - 1))
    if found.truncated:
        click.echo("... more; raise --limit", err=True)
    ctx.exit(FOUND if found.hits else NOTHING)


def _reached(
    node: CodeNode,
    distance: int,
    step: tuple[EdgeKind, float] | None,
    as_json: bool,
    changed: frozenset[str],
    *,
    indent: int,
) -> str:
    """One line: a node, how far it is, and the edge that leads to it; without one it is where a way begins."""
    via, confidence = (step[0].name.lower(), step[1]) if step is not None else ("", 1.0)
    if as_json:
        fields = {"distance": distance, "via": via, "confidence": round(confidence, 4)}
        fields["changed_on_disk"] = node.path in changed
        return json.dumps(_node_fields(node) | fields, ensure_ascii=False)
    place = f"{node.path}:{node.start_line}" if node.path else "(external)"
    name = show.safe(node.qualified_name or node.name)
    edge = f"  {via} {confidence:.2f}" if via else ""
    return f"{'  ' * indent}{show.safe(place)}  {name}{edge}{'  changed on disk' if node.path in changed else ''}"


def _loaded(ctx: click.Context, directory: Path) -> tuple[CodeGraph, Texts]:
    """The graph, and what tells whether files still are what was indexed."""
    from ctxsearch.daemon.texts import KeptTexts, Texts
    from ctxsearch.graph.graph import CodeGraph

    settings, root = _settings(ctx), _root(directory)
    with _reading(settings, root) as (catalog, snapshot):
        code = CodeGraph.build(snapshot.load_nodes(), snapshot.load_edges(), snapshot.generation)
        return code, Texts(root, catalog.pin(), KeptTexts())


def only_match(code: CodeGraph, symbol: str) -> CodeNode:
    """The one node that a symbol means; raises with near names, or with the candidates."""
    from ctxsearch.graph.model import NodeKind

    found = code.find(symbol)
    if not found.matches:
        raise UnknownNodeError(symbol, found.near)
    matches = [node for node in found.matches if node.kind is not NodeKind.EXTERNAL] or list(found.matches)
    if len(matches) > 1:
        shown = [f"{node.qualified_name} ({node.path}:{node.start_line}, {node.id})" for node in matches]
        raise AmbiguousSymbolError(symbol, shown[:CANDIDATES_SHOWN], len(matches))
    return matches[0]


def _settings(ctx: click.Context) -> Settings:
    return load_settings({"data_dir": ctx.obj.get("data_dir")})


def _root(path: Path) -> Path:
    resolved = path.resolve()
    return working_tree_root(resolved) or resolved


def _layout(settings: Settings, root: Path) -> Layout:
    from ctxsearch.daemon.layout import Layout

    return Layout(settings.repositories_dir / identity(root))


@contextlib.contextmanager
def _reading(settings: Settings, root: Path) -> Iterator[tuple[Catalog, Snapshot]]:
    from ctxsearch.graph.catalog import Catalog, CatalogMissingError

    try:
        catalog = Catalog.open(_layout(settings, root).catalog, read_only=True)
    except CatalogMissingError as error:
        raise NoIndexError(f"no index for {root}; run `ctxsearch graph index {root}`") from error
    with catalog, catalog.read() as snapshot:
        if not snapshot.file_count():  # there was none to index, or indexing never came to its end
            raise NoIndexError(f"nothing is indexed in {root}; `ctxsearch graph index {root}` says why, or indexes it")
        yield catalog, snapshot


VERBS: dict[str, click.Command] = {"graph": graph}
