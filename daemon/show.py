"""What the command line prints: plain text with colour where there is a terminal. Knows messages, not the daemon.

Everything that comes from indexed files passes `safe`: a hostile file must not steer the terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import click

from ctxsearch.v1 import graph_pb2, node_pb2, repository_pb2, search_pb2

_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
BAR_WIDTH = 40
_FRESHNESS_COLOURS = {1: "red", 2: "yellow", 3: "white", 4: "green"}


def safe(text: str) -> str:
    """One line without characters that move the cursor, change colours or reorder text."""
    return _CONTROL.sub("\ufffd", text)


def as_json(message: Any) -> str:
    """A message in proto JSON with its original field names; absent numbers and lists are shown."""
    from google.protobuf.json_format import MessageToJson

    return MessageToJson(
        message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True, ensure_ascii=False
    )


def word(enum: Any, value: int) -> str:
    """`FRESHNESS_STALE_WITH_RISK` -> `stale with risk`."""
    name: str = enum.Name(value)
    prefix = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", enum.DESCRIPTOR.name).upper() + "_"
    return name.removeprefix(prefix).replace("_", " ").lower()


def kind_word(node: node_pb2.Node) -> str:
    """What a node is, in lower case."""
    return word(node_pb2.NodeKind, node.kind)


def place(node: node_pb2.Node, with_repository: bool = False) -> str:
    """path:line, as an editor takes it."""
    if not node.path:
        return "(external)"
    prefix = f"{node.repository}:" if with_repository else ""
    return safe(f"{prefix}{node.path}:{node.start_line}")


def node_line(node: node_pb2.Node, with_repository: bool = False) -> str:
    """One node in one line."""
    where = click.style(place(node, with_repository), fg="cyan")
    return f"{where}  {click.style(safe(node.qualified_name or node.name), bold=True)}  {kind_word(node)}"


def mark(node: node_pb2.Node) -> str:
    """What follows a node in its line if its file is no longer what was indexed."""
    return click.style("  changed on disk", fg="yellow") if node.changed_on_disk else ""


def results(response: search_pb2.ContextSearchResponse, explain: bool, *, here: bool = False) -> Iterator[str]:
    """The answer to a search; `here`: in the one repository that the reader stands in, so that paths say enough."""
    yield from ranked(response, explain, here=here)
    yield from notes(response)
    if explain:
        yield from _summary(response)


def ranked(response: search_pb2.ContextSearchResponse, explain: bool, *, here: bool = False) -> Iterator[str]:
    """What was found, best first, or what to try instead."""
    several = not here or len({result.node.repository for result in response.results}) > 1
    for number, result in enumerate(response.results, 1):
        yield from _result(number, result, several)
        if explain:
            yield from _explanation(result)
    if not response.results:
        yield from _nothing(response)


def notes(response: search_pb2.ContextSearchResponse) -> Iterator[str]:
    """What a reader has to know of an answer as a whole: what did not work, is out of date, or was cut."""
    if response.suggestions:
        names = ", ".join(repr(safe(name)) for name in response.suggestions)  # a heading may well have commas
        yield f"{'' if response.results else '  '}did you mean: {names}"
    for warning in response.warnings:
        yield click.style(f"warning: {safe(warning)}", fg="yellow")
    for index in response.indexes:
        if index.trailing_files:
            yield click.style(f"{_trailing(index)} changed since it was indexed", fg="yellow")
    if response.trimmed_results:
        texts = "text was" if response.trimmed_results == 1 else "texts were"
        said = f"{response.trimmed_results} {texts} cut or left out to keep within max_tokens"
        yield click.style(said, fg="yellow")


def _trailing(index: search_pb2.IndexState) -> str:
    count = index.trailing_files
    return f"{count} {'file' if count == 1 else 'files'} of {safe(index.repository)}"


def _result(number: int, result: search_pb2.SearchResult, several: bool) -> Iterator[str]:
    freshness = word(node_pb2.Freshness, result.freshness)
    found_by = "+".join(word(search_pb2.Signal, s.signal) for s in result.signals if s.rank) or "-"
    yield (
        f"{number:>3}  {node_line(result.node, several)}  {result.score:.3f}  {found_by}  "
        f"{click.style(freshness, fg=_FRESHNESS_COLOURS.get(result.freshness, 'white'))}{mark(result.node)}"
    )
    if result.node.signature:
        yield f"     {safe(result.node.signature)}"
    yield from _snippet(result.snippet)


def _snippet(snippet: search_pb2.Snippet) -> Iterator[str]:
    for offset, line in enumerate(snippet.text.split("\n") if snippet.text else ()):
        number = snippet.start_line + offset
        marks = [(mark.start, mark.end) for mark in snippet.highlights if mark.line == number]
        yield f"     {click.style(f'{number:>5} |', dim=True)} {_highlighted(line, marks)}"
    if snippet.trimmed:
        yield "           | ..."


def _highlighted(line: str, marks: Iterable[tuple[int, int]]) -> str:
    parts, at = [], 0
    for start, end in sorted(marks):
        if start < at or end > len(line):
            continue
        parts += [safe(line[at:start]), click.style(safe(line[start:end]), fg="yellow", bold=True)]
        at = end
    return "".join([*parts, safe(line[at:])])


def _explanation(result: search_pb2.SearchResult) -> Iterator[str]:
    for score in result.signals:
        name = word(search_pb2.Signal, score.signal)
        if score.rank:
            yield (
                f"       {name:<9} rank {score.rank:<4} rank score {score.rank_score:.4f}  "
                f"raw {score.raw_score:.4f}  contributes {score.contribution:.4f}"
            )
        else:
            yield f"       {name:<9} absent"
    for step in result.steps:
        yield f"       {safe(step.name)} adds {step.value:+.4f}"
    reasons = "; ".join(map(safe, result.freshness_reasons))
    yield f"       penalty   {result.freshness_penalty:.2f}{f'  ({reasons})' if reasons else ''}"
    if result.HasField("distance_in_graph"):
        yield f"       distance  {result.distance_in_graph}  via {' > '.join(result.graph_path)}"


def _nothing(response: search_pb2.ContextSearchResponse) -> Iterator[str]:
    yield "nothing found"
    yield from (f"  {safe(line)}" for line in response.guidance)


def _summary(response: search_pb2.ContextSearchResponse) -> Iterator[str]:
    for report in response.signals:
        state = f"failed: {safe(report.failure)}" if report.failure else f"{report.candidates} candidates"
        state += ", cut short" if report.truncated else ""
        elapsed = report.elapsed.ToMicroseconds() / 1000
        yield f"{word(search_pb2.Signal, report.signal):<9} weight {report.weight:g}  {state}  {elapsed:.1f} ms"
    yield (
        f"dropped: {response.dropped_by_scope} by scope, {response.dropped_by_floor} by floor, "
        f"{response.dropped_by_score} by score, {response.dropped_unknown} unknown"
    )
    for index in response.indexes:
        yield (
            f"index: {safe(index.repository)} generation {index.generation} commit {index.commit[:12] or '-'} "
            f"trailing {index.trailing_files} files"
        )
    if response.HasField("explanation"):
        yield from _merge(response.explanation)
    yield f"total: {response.elapsed.ToMicroseconds() / 1000:.1f} ms"


def _merge(explanation: search_pb2.Explanation) -> Iterator[str]:
    yield f"steps: {', '.join(explanation.steps)}"
    stages = ", ".join(f"{stage.name} {stage.elapsed.ToMicroseconds() / 1000:.1f} ms" for stage in explanation.stages)
    yield f"merged: {explanation.fused} candidates of at most {explanation.pool} per signal; {stages}"


def reached(response: Any) -> Iterator[str]:
    """The answer of callers, dependencies, related or impact."""
    yield f"{node_line(response.node)}{mark(response.node)}"
    for item in response.reached:
        yield from _reached_lines(item)
    for call in getattr(response, "unresolved", ()):
        where = ", ".join(map(str, call.lines))
        yield click.style(f"  unresolved  {safe(call.name)}  line {where}", fg="yellow")
    if response.truncated:
        yield click.style("... more; raise --limit", fg="yellow")


def _reached_lines(item: graph_pb2.ReachedNode) -> Iterator[str]:
    """A node, the edge to it, and the line of code that makes the edge."""
    indent = "  " * item.distance
    edge = f"{word(node_pb2.EdgeKind, item.via)} {item.confidence:.2f}"
    yield f"{indent}{node_line(item.node)}  {edge}{mark(item.node)}"
    if item.lines and item.line_text:
        more = f"  (also {', '.join(map(str, item.lines[1:]))})" if len(item.lines) > 1 else ""
        yield f"{indent}{click.style(f'{item.lines[0]:>5} |', dim=True)} {safe(item.line_text)}{more}"


def outline_line(entry: graph_pb2.OutlineEntry) -> str:
    """One node of an outline."""
    return f"{'  ' * entry.depth}{node_line(entry.node)}{mark(entry.node)}"


def nothing_at(path: str, response: graph_pb2.OutlineResponse) -> str:
    """Why an outline is empty."""
    reason = response.left_out_because
    why = f"it is left out ({reason})" if reason else "it is not there, or ignored"
    return f"nothing indexed at {safe(path)}: {safe(why)}"


def path_lines(nodes: Sequence[node_pb2.Node], edges: Sequence[node_pb2.Edge]) -> Iterator[str]:
    """A way from node to node."""
    for position, node in enumerate(nodes):
        via = f"  {word(node_pb2.EdgeKind, edges[position - 1].kind)} -> " if position else ""
        yield f"{via}{node_line(node)}{mark(node)}"


def freshness_line(facts: node_pb2.NodeFreshness) -> str:
    """A class, its source and its last commit, in one line."""
    name = word(node_pb2.Freshness, facts.freshness)
    reasons = "; ".join(map(safe, facts.reasons))
    styled = click.style(name, fg=_FRESHNESS_COLOURS.get(facts.freshness, "white"))
    source = word(node_pb2.FreshnessSource, facts.freshness_source)
    commit = f"  {facts.last_commit_id[:12]} {_day(facts)}" if facts.last_commit_id else ""
    told = f"  ({reasons})" if reasons else ""
    return f"{styled}  penalty {facts.freshness_penalty:.1f}{commit}  {source}{told}"


def freshness_lines(facts: node_pb2.NodeFreshness) -> Iterator[str]:
    """A class and everything behind it."""
    name = word(node_pb2.Freshness, facts.freshness)
    styled = click.style(name, fg=_FRESHNESS_COLOURS.get(facts.freshness, "white"))
    yield f"  {styled}, penalty {facts.freshness_penalty:.1f}"
    for reason in facts.reasons:
        yield f"  why      {safe(reason)}"
    if facts.last_commit_id:
        told = f"{facts.last_commit_id[:12]} {_day(facts)} {safe(facts.last_author)}: {safe(facts.last_subject)}"
        yield f"  commit   {told}"
    if facts.commit_count:
        by = f"{facts.author_count} {'author' if facts.author_count == 1 else 'authors'}"
        yield f"  history  {facts.commit_count} {'commit' if facts.commit_count == 1 else 'commits'} by {by}"
    for flag in facts.flags:
        yield f"  note     {safe(flag)}"
    yield f"  source   {word(node_pb2.FreshnessSource, facts.freshness_source)}"


def freshness_chart(answer: graph_pb2.SummarizeFreshnessResponse) -> Iterator[str]:
    """Nodes per class as bars, then the oldest code that living code relies on."""
    for each in answer.shares:
        name = word(node_pb2.Freshness, each.freshness)
        bar = "█" * max(round(each.share * BAR_WIDTH), 1 if each.nodes else 0)
        styled = click.style(f"{bar:{BAR_WIDTH}}", fg=_FRESHNESS_COLOURS.get(each.freshness, "white"))
        yield f"{name:15} {styled} {each.share:6.1%} {each.nodes:8}"
    if not answer.history_ready:
        yield "history is not read yet"
    if answer.oldest_hot:
        yield ""
        yield "oldest code that living code relies on:"
    for hot in answer.oldest_hot:
        age = f"{'>' if hot.older_than_horizon else ''}{hot.age_days}"
        yield f"{age:>6} days {hot.living_references:5} references  {node_line(hot.node)}{mark(hot.node)}"


def _day(facts: node_pb2.NodeFreshness) -> str:
    return facts.last_commit_time.ToDatetime().date().isoformat() if facts.HasField("last_commit_time") else "-"


def progress_line(progress: repository_pb2.IndexProgress, root: str = "") -> str:
    """Where one repository's indexing stands, in one line, and a line for every problem."""
    phase = word(repository_pb2.IndexPhase, progress.phase)
    count = f" {progress.done}/{progress.total}" if progress.total else ""
    parts = {"calls": progress.graph_ready, "vectors": progress.vectors_ready, "history": progress.history_ready}
    later = [name for name, done in parts.items() if not done]
    pending = f", {' and '.join(later)} to follow" if later and progress.generation else ""
    problems = "".join(f"\n  {safe(error)}" for error in progress.errors)
    place = f"  {safe(root)}" if root else ""
    return f"{safe(progress.repository)}: {phase}{count}, generation {progress.generation}{pending}{place}{problems}"


def counts(title: str, items: Iterable[repository_pb2.Count]) -> Iterator[str]:
    """A short table; nothing when there is nothing."""
    rows = [(item.name, item.count) for item in items]
    if rows:
        yield f"{title}: " + ", ".join(f"{safe(name)} {count}" for name, count in rows)


def size(amount: int) -> str:
    """Bytes as a person reads them."""
    value = float(amount)
    for unit in ("B", "KB", "MB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} GB"
