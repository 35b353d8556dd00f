"""Do the freshness classes foretell anything? Classes some time ago, against what happened since.

    python bench/freshness_study.py REPO [--days 180] [--json]

The repository is indexed as it was DAYS before HEAD, and every node is classified with the history up to then. Then
the commits since are read: a node was *edited* when one of them touched its lines, *fixed* when a fix did, and
*needed* as context when a node that was edited depends on it (edges of confidence >= 0.8). Printed per class, and per
rule that makes up the classes: how many nodes, and how much likelier than the average node each outcome was (lift);
and for several thresholds how well the penalty orders nodes by "edited or needed" (AUC, 0.5 is chance). REPO is
never written to: the old state is checked out in a scratch clone that shares its objects.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
from array import array
from dataclasses import replace
from itertools import groupby, product
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ctxsearch.daemon.freshness_facts import Told, with_confirmed_signatures
from ctxsearch.daemon.freshness_memory import signature_lines
from ctxsearch.graph.attribution import Replay
from ctxsearch.graph.catalog import Catalog
from ctxsearch.graph.chain import DAY
from ctxsearch.graph.freshness import (
    DEPENDING_KINDS,
    LABELS,
    Classified,
    Freshness,
    GraphEdges,
    NodeFacts,
    Thresholds,
    classify,
)
from ctxsearch.graph.git import Git
from ctxsearch.graph.history import History, HistoryStore, NodeRanges, Selection, refresh
from ctxsearch.graph.model import CALLABLE_KINDS, TYPE_KINDS, CodeNode
from ctxsearch.graph.node_history import BEYOND, CommitFlag
from ctxsearch.graph.patches import Change, Patch, read_chain
from ctxsearch.indexer.index import RepositoryIndexer
from ctxsearch.indexer.languages import LANGUAGES

Bools = npt.NDArray[np.bool_]
STUDIED_KINDS = CALLABLE_KINDS | TYPE_KINDS


def selection() -> Selection:
    return Selection(tuple(sorted({suffix for spec in LANGUAGES for suffix in spec.suffixes})))


def commit_before(git: Git, days: int) -> str:
    """The newest commit of the first-parent chain that is that many days older than HEAD."""
    head = git.head()
    assert head is not None
    chain = read_chain(git, head)
    newest = next(chain).time
    return next(commit.id for commit in chain if newest - commit.time > days * DAY)


def check_out(source: Path, commit: str, target: Path) -> Git:
    quiet = ["git", "-c", "advice.detachedHead=false"]
    subprocess.run([*quiet, "clone", "-q", "--shared", "--no-checkout", str(source), str(target)], check=True)
    subprocess.run([*quiet, "checkout", "-q", commit], cwd=target, check=True)
    git = Git.open(target)
    assert git is not None
    return git


def index(root: Path, git: Git, file: Path) -> tuple[list[CodeNode], GraphEdges, NodeRanges]:
    """The nodes with a file, their edges, and their lines."""
    with Catalog.open(file) as catalog:
        with RepositoryIndexer(root, catalog, workers=2, git=git) as indexer:
            indexer.refresh()
        with catalog.read() as snapshot:
            everything, table = snapshot.load_nodes(), snapshot.load_edges()
            kept = [node for node in everything if node.path]
            place = {node.id: row for row, node in enumerate(kept)}
            moved = np.array([place.get(node.id, -1) for node in everything], np.int32)
            sources, targets = moved[table.source], moved[table.target]
            both = (sources >= 0) & (targets >= 0)
            edges = GraphEdges(sources[both], targets[both], table.kind[both], table.confidence[both])
            rows = []
            for path, nodes in groupby(kept, key=lambda node: node.path):
                lines = (snapshot.text(path) or "").split("\n")
                rows += [(path, n.start_line, n.end_line, *signature_lines(n, lines)) for n in nodes]
    return kept, edges, NodeRanges.of(rows)


def backwards(patch: Patch) -> Patch:
    """The patch that undoes it: what replaying towards the future needs."""
    hunks = array("i")
    for at in range(0, len(patch.hunks), 4):
        old_start, old_count, new_start, new_count = patch.hunks[at : at + 4]
        hunks.extend((new_start, new_count, old_start, old_count))
    change = {Change.ADDED: Change.DELETED, Change.DELETED: Change.ADDED}.get(patch.change, patch.change)
    if patch.source is None:
        return Patch(patch.path, None, change, hunks)
    return Patch(patch.source, patch.path, change, hunks)


def touched_since(then: History, now: History, store: HistoryStore, ranges: NodeRanges) -> tuple[Bools, Bools]:
    """Which nodes of then were edited, and which fixed, by the commits that came after; bulk ones left out."""
    since = now.chain[~np.isin(now.chain, then.chain)][::-1]  # oldest first
    places = np.full(len(then.commits.times), -1, np.int32)  # `then` was read last: it knows more commits
    places[since] = np.arange(len(since))
    replay = Replay()
    for number, group in groupby(store.all_patches(places), key=lambda stored: stored.commit):
        bulk = bool(now.commits.flags[number] & CommitFlag.BULK)
        replay.apply(number, [backwards(stored.patch) for stored in group], passes_through=bulk)
    edited, fixed = np.zeros(len(ranges), np.bool_), np.zeros(len(ranges), np.bool_)
    found = {path.decode("utf-8", "surrogateescape"): lines for path, lines in replay.finish().items()}
    for path, indices in ranges.by_path().items():
        if path in found and len(touches := found[path].touches):
            hit = (touches[:, 1, None] <= ranges.ends[indices]) & (touches[:, 2, None] >= ranges.starts[indices])
            edited[indices] = hit.any(0)
            fixed[indices] = hit[now.commits.flags[touches[:, 0]] & CommitFlag.FIX > 0].any(0)
    return edited, fixed


def needed_by(edited: Bools, edges: GraphEdges) -> Bools:
    sources, targets = edges.among(DEPENDING_KINDS, Thresholds().confidence)
    needed = np.zeros(len(edited), np.bool_)
    needed[targets[edited[sources]]] = True
    return needed


def auc(scores: npt.NDArray[np.float32], outcome: Bools) -> float:
    """The chance that a node with the outcome scores above one without; ties count half."""
    values, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    positive = int(outcome.sum())
    negative = len(outcome) - positive
    if not positive or not negative or len(values) < 2:
        return 0.5
    total = float(ranks[inverse][outcome].sum())
    return (total - positive * (positive + 1) / 2) / (positive * negative)


Outcomes = dict[str, Bools]


def row_of(chosen: Bools, outcomes: Outcomes, among: Bools) -> dict[str, float]:
    """How many nodes a rule picks, and the lift of each outcome among them."""
    picked = chosen & among
    row: dict[str, float] = {"nodes": int(picked.sum()), "share": float(picked.sum() / max(among.sum(), 1))}
    for name, outcome in outcomes.items():
        base = outcome[among].mean()
        rate = outcome[picked].mean() if picked.any() else 0.0
        row[f"{name}_rate"] = float(rate)
        row[f"{name}_lift"] = float(rate / base) if base else 0.0
    return row


def rules(classified: Classified, lines_only: Classified) -> dict[str, Bools]:
    """The classes, and the single rules that they are made of."""
    facts, ages = classified.facts, classified.ages
    found: dict[str, Bools] = {LABELS[kind]: classified.classes == kind for kind in sorted(Freshness, reverse=True)}
    old = ((ages > 365 * DAY) & (facts.positions > 500)) | (facts.positions == BEYOND)
    found["old"] = old
    found["old, living code refers to it"] = old & classified.referenced
    found["old, nothing living does"] = old & ~classified.referenced
    found["old, a dependency's signature changed"] = old & classified.moved_on
    found["old, none did"] = old & ~classified.moved_on
    found["old, only lines of one changed"] = old & lines_only.moved_on & ~classified.moved_on
    found["old, two fixes"] = old & (facts.fixes >= 2)
    found["old, three fixes"] = old & (facts.fixes >= 3)
    found["old, last touch reverting or reverted"] = old & (
        facts.flags & int(CommitFlag.REVERT | CommitFlag.REVERTED) > 0
    )
    return found


def grid(facts: NodeFacts, edges: GraphEdges, useful: Bools, among: Bools) -> list[dict[str, object]]:
    """AUC of the penalty for several thresholds; without the exemption of referenced code first."""
    no_edges = GraphEdges.of([])
    results: list[dict[str, object]] = []
    age_alone = classify(facts, no_edges).penalties()
    results.append({"thresholds": "defaults, age alone", "auc": auc(age_alone[among], useful[among])})
    for fresh, old, quiet in product((7, 30, 90), (180, 365, 540), (0, 365, 700)):
        limits = replace(Thresholds(), fresh_days=fresh, old_days=old, quiet_days=quiet)
        penalties = classify(facts, edges, thresholds=limits).penalties()
        label = f"fresh {fresh}, old {old}, quiet {quiet}"
        results.append({"thresholds": label, "auc": auc(penalties[among], useful[among])})
    return results


def study(repository: Path, days: int) -> dict[str, object]:
    source = Git.open(repository)
    if source is None:
        raise SystemExit(f"{repository}: not a git repository")
    with tempfile.TemporaryDirectory() as folder:
        commit = commit_before(source, days)
        git = check_out(repository, commit, Path(folder) / "then")
        nodes, edges, ranges = index(git.work_tree, git, Path(folder) / "catalog")
        with_store = HistoryStore.open(Path(folder) / "history.sqlite")
        now = refresh(source, with_store, selection()).history
        then = refresh(git, with_store, selection(), at=commit).history
        by_lines = NodeFacts.of(then, ranges.paths, then.nodes(ranges))
        told, everything = Told("", then, with_store, git), np.arange(len(nodes), dtype=np.int32)
        facts = with_confirmed_signatures(told, everything, ranges, nodes, by_lines, edges, Thresholds())
        edited, fixed = touched_since(then, now, with_store, ranges)
        with_store.close()
    classified = classify(facts, edges)
    lines_only = classify(by_lines, edges)
    needed = needed_by(edited, edges)
    outcomes = {"edited": edited, "needed": needed & ~edited, "fixed": fixed}
    among = np.array([node.kind in STUDIED_KINDS for node in nodes])
    useful = edited | needed
    return {
        "repository": repository.name,
        "then": commit,
        "days": days,
        "nodes": int(among.sum()),
        "rates": {name: float(outcome[among].mean()) for name, outcome in outcomes.items()},
        "rules": {name: row_of(chosen, outcomes, among) for name, chosen in rules(classified, lines_only).items()},
        "grid": grid(facts, edges, useful, among),
    }


def show(result: dict[str, object]) -> None:
    print(f"{result['repository']}: {result['nodes']} nodes, {result['days']} days; average rates {result['rates']}")
    print(f"{'rule':40} {'nodes':>7} {'share':>6} {'edited':>7} {'needed':>7} {'fixed':>7}   (lift)")
    rows: dict[str, dict[str, float]] = result["rules"]  # type: ignore[assignment]
    for name, row in rows.items():
        lifts = " ".join(f"{row[f'{key}_lift']:7.2f}" for key in ("edited", "needed", "fixed"))
        print(f"{name:40} {row['nodes']:7.0f} {row['share']:6.1%} {lifts}")
    trials: list[dict[str, object]] = result["grid"]  # type: ignore[assignment]
    for trial in trials:
        print(f"AUC {trial['auc']:.3f}  {trial['thresholds']}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--days", type=int, default=180)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = study(options.repository.resolve(), options.days)
    if options.json:
        print(json.dumps(result, indent=2))
    else:
        show(result)


if __name__ == "__main__":
    main()
