"""The classes: what makes a node fresh, acceptable, stale or a risk, and why."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxsearch.graph.attribution import UNATTRIBUTED
from ctxsearch.graph.freshness import (
    DAY,
    PENALTY,
    Classified,
    Freshness,
    FreshnessFlag,
    GraphEdges,
    NodeFacts,
    Reason,
    ReasonKind,
    Thresholds,
    classify,
    summarise,
)
from ctxsearch.graph.model import EdgeKind
from ctxsearch.graph.node_history import (
    BEYOND,
    WORK_TREE_POSITION,
    CommitColumns,
    CommitFlag,
    History,
    NodeHistories,
    Source,
    positions_by_number,
)

NOW = 2_000_000_000
NO_EDGES = GraphEdges.of([])


def facts(*rows: dict[str, int]) -> NodeFacts:
    """One node per row: `days` and `commits` since its last touch, and whatever else is special about it.

    Its file's oldest line, its file and what lies in its folder are as new as itself unless it says otherwise.
    """

    def column(name: str, default: int, kind: type[np.generic]) -> np.ndarray:
        return np.array([row.get(name, default) for row in rows], kind)

    def times(prefix: str) -> np.ndarray:
        return NOW - np.array([row.get(f"{prefix}days", row.get("days", 0)) for row in rows], np.int64) * DAY

    def positions(prefix: str) -> np.ndarray:
        return np.array([row.get(f"{prefix}commits", row.get("commits", 0)) for row in rows], np.int32)

    signature_days = column("signature_days", -1, np.int64)
    return NodeFacts(
        times=times(""),
        positions=positions(""),
        file_times=times("file_"),
        file_positions=positions("file_"),
        written_times=times("written_"),
        written_positions=positions("written_"),
        tree_times=times("tree_"),
        tree_positions=positions("tree_"),
        tree_files=column("tree_files", 2, np.int32),
        clocks=np.full(len(rows), NOW, np.int64),
        signature_times=np.where(signature_days < 0, 0, NOW - signature_days * DAY),
        fixes=column("fixes", 0, np.int32),
        flags=column("flags", 0, np.uint8),
        sources=column("source", Source.GIT, np.uint8),
        vanished_times=np.where(column("vanished_days", -1, np.int64) < 0, 0, NOW),
        unreadable=column("unreadable", 0, np.bool_),
        unchecked=column("unchecked", 0, np.bool_),
    )


OLD = {"days": 700, "commits": 4000}
ANCIENT = {"days": 730, "commits": BEYOND}
MIDDLE = {"days": 200, "commits": 200}
NEW = {"days": 1, "commits": 1}
TOUCHED = {**NEW, "written_days": 700, "written_commits": 4000}


def class_of(row: dict[str, int], **limits: int) -> Freshness:
    return Freshness(classify(facts(row), NO_EDGES, thresholds=Thresholds(**limits)).classes[0])


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (NEW, Freshness.FRESH),
        (TOUCHED, Freshness.ACCEPTABLE),  # a line is new, not the file
        ({"days": 1, "commits": 900}, Freshness.FRESH),
        ({"days": 2, "commits": 1}, Freshness.ACCEPTABLE),
        ({"days": 31, "commits": 0}, Freshness.FRESH),  # HEAD wrote it
        ({"days": 1, "commits": 1, "written_days": 1, "written_commits": BEYOND}, Freshness.ACCEPTABLE),
        ({"days": 700, "commits": 500}, Freshness.ACCEPTABLE),
        ({"days": 699, "commits": 501}, Freshness.ACCEPTABLE),  # old, but not so long quiet
        ({"days": 700, "commits": 501}, Freshness.STALE),
        ({"days": 700, "commits": 501, "vanished_days": 1}, Freshness.STALE_WITH_RISK),
        ({"days": 699, "commits": 501, "vanished_days": 1}, Freshness.ACCEPTABLE),
        ({"days": 699, "commits": 501, "fixes": 3}, Freshness.ACCEPTABLE),
        (ANCIENT, Freshness.STALE),
        ({**ANCIENT, "fixes": 3}, Freshness.STALE_WITH_RISK),
        ({"commits": WORK_TREE_POSITION, "source": Source.WORKTREE}, Freshness.FRESH),
        ({**TOUCHED, "commits": WORK_TREE_POSITION, "source": Source.WORKTREE}, Freshness.FRESH),
        ({**ANCIENT, "source": Source.SHALLOW}, Freshness.ACCEPTABLE),
        ({**ANCIENT, "source": Source.NONE}, Freshness.ACCEPTABLE),
        ({**OLD, "fixes": 2}, Freshness.STALE),
        ({**OLD, "fixes": 3}, Freshness.STALE_WITH_RISK),
        ({**OLD, "flags": CommitFlag.REVERT}, Freshness.STALE_WITH_RISK),
        ({**OLD, "flags": CommitFlag.REVERTED}, Freshness.STALE_WITH_RISK),
        ({**OLD, "flags": CommitFlag.FIX}, Freshness.STALE),
        ({**OLD, "vanished_days": 1}, Freshness.STALE_WITH_RISK),
        ({**MIDDLE, "fixes": 9, "flags": CommitFlag.REVERT}, Freshness.ACCEPTABLE),
        ({**NEW, "unreadable": 1}, Freshness.STALE_WITH_RISK),
    ],
)
def test_class_by_history_alone(row: dict[str, int], expected: Freshness) -> None:
    assert class_of(row) is expected


def test_thresholds_are_settings() -> None:
    assert class_of(OLD, old_days=800) is Freshness.ACCEPTABLE
    assert class_of(OLD, quiet_days=800) is Freshness.ACCEPTABLE
    assert class_of(MIDDLE, fresh_days=300) is Freshness.FRESH
    assert class_of(MIDDLE, fresh_commits=201) is Freshness.FRESH
    assert class_of({"days": 0, "commits": 0}, fresh_days=0, fresh_commits=0) is Freshness.ACCEPTABLE
    assert class_of({**OLD, "fixes": 3}, risky_fixes=4) is Freshness.STALE


def test_a_resting_repository_is_not_stale_until_the_wall_clock_is_asked() -> None:
    node = facts(NEW)
    assert classify(node, NO_EDGES).classes[0] == Freshness.FRESH
    later = classify(node, NO_EDGES, clock=NOW + 400 * DAY)
    assert later.classes[0] == Freshness.ACCEPTABLE
    assert later.explain(0).age_days == 401
    assert classify(node, NO_EDGES, clock=NOW - 100 * DAY).ages[0] == 0


def test_old_code_in_a_folder_where_somebody_works_is_acceptable_and_says_so() -> None:
    classified = classify(facts({**OLD, "tree_days": 9, "tree_commits": 501}), NO_EDGES)
    assert classified.classes[0] == Freshness.ACCEPTABLE
    assert classified.explain(0).reasons == (Reason(ReasonKind.LIVING_FOLDER, time=NOW - 9 * DAY),)


def test_a_folder_is_not_given_up_where_few_commits_are_made() -> None:
    assert class_of({**ANCIENT, "tree_days": 1500, "tree_commits": 500}) is Freshness.ACCEPTABLE
    assert class_of({**ANCIENT, "tree_days": 1500, "tree_commits": 501}) is Freshness.STALE


def test_a_single_file_is_as_likely_finished_as_given_up() -> None:
    classified = classify(facts({**OLD, "tree_files": 1}), NO_EDGES)
    assert classified.classes[0] == Freshness.ACCEPTABLE
    assert classified.explain(0).reasons == (Reason(ReasonKind.ALONE),)
    assert class_of({**OLD, "tree_files": 1}, quiet_files=1) is Freshness.STALE


LIVING_FOLDER = {"tree_days": 1, "tree_commits": 1}


def test_a_risk_is_one_even_where_somebody_works_nearby() -> None:
    assert class_of({**OLD, **LIVING_FOLDER, "vanished_days": 1}) is Freshness.STALE_WITH_RISK


def test_in_a_file_where_somebody_works_nothing_is_a_risk() -> None:
    node = {**OLD, **LIVING_FOLDER, "file_days": 699, "file_commits": 600}
    assert class_of({**node, "vanished_days": 1}) is Freshness.ACCEPTABLE
    assert class_of({**node, "flags": CommitFlag.REVERT}) is Freshness.ACCEPTABLE
    assert class_of({**node, "file_days": 700, "vanished_days": 1}) is Freshness.STALE_WITH_RISK
    assert class_of({**node, "file_days": 700, "fixes": 3}) is Freshness.ACCEPTABLE  # that tells of what is worked on


def facts_of(*rows: tuple[str, int, int], blank: tuple[int, ...] = ()) -> NodeFacts:
    """Nodes by path, the newest commit that touched them and the oldest that wrote a line, of a chain of ten."""
    chain = np.arange(1, 11, dtype=np.int32)
    columns = CommitColumns(np.zeros(11, np.int64), np.zeros(11, np.int32), np.zeros(11, np.uint8))
    times = NOW - np.arange(10, dtype=np.int64) * DAY
    history = History(Source.GIT, "head", chain, times, columns, {}, _positions=positions_by_number(chain, 10))
    nodes = NodeHistories.empty(len(rows))
    nodes.last[:], nodes.oldest[:] = [row[1] for row in rows], [row[2] for row in rows]
    hidden = np.array([number in blank for number in range(len(rows))], np.bool_)
    return NodeFacts.of(history, [row[0] for row in rows], nodes, hidden)


def test_what_is_told_of_a_nodes_file_and_of_what_lies_around_it() -> None:
    told = facts_of(
        ("a/x.py", 4, 9),
        ("a/x.py", 2, 3),
        ("a/b/z.py", 6, UNATTRIBUTED),
        ("a/b/c/d.py", 8, 8),
        ("e/f.py", 10, 10),
        ("g.py", 1, 1),
    )
    assert told.file_positions.tolist() == [1, 1, 5, 7, 9, 0]
    assert told.written_positions.tolist() == [8, 8, BEYOND, 7, 9, 0]
    # a and all beneath; the same, from beneath it; a/b and all beneath; e alone; everything.
    assert told.tree_positions.tolist() == [1, 1, 1, 5, 9, 0]
    assert told.tree_files.tolist() == [3, 3, 3, 2, 1, 5]
    assert told.tree_times.tolist() == [NOW - days * DAY for days in (1, 1, 1, 5, 9, 0)]


def test_a_blank_file_keeps_no_folder_alive_and_does_not_count() -> None:
    told = facts_of(("a/x.py", 4, 4), ("a/__init__.py", UNATTRIBUTED, UNATTRIBUTED), blank=(1,))
    assert told.sources.tolist() == [Source.GIT, Source.NONE]
    assert told.tree_positions.tolist() == [3, 3]
    assert told.tree_files.tolist() == [1, 1]


def referring(kind: EdgeKind, confidence: float, referrer: dict[str, int]) -> Classified:
    return classify(facts(OLD, referrer), GraphEdges.of([(1, 0, kind, confidence)]))


@pytest.mark.parametrize("kind", [EdgeKind.CALLS, EdgeKind.IMPORTS, EdgeKind.EXTENDS, EdgeKind.IMPLEMENTS])
def test_old_code_that_living_code_refers_to_is_acceptable(kind: EdgeKind) -> None:
    classified = referring(kind, 0.8, NEW)
    assert classified.classes[0] == Freshness.ACCEPTABLE
    assert classified.explain(0).reasons == (Reason(ReasonKind.LIVING_REFERENCE, 1, NOW - DAY, 1),)


@pytest.mark.parametrize(
    ("kind", "confidence", "referrer"),
    [
        (EdgeKind.CALLS, 0.79, NEW),
        (EdgeKind.CONTAINS, 1.0, NEW),
        (EdgeKind.MAY_DISPATCH, 1.0, NEW),
        (EdgeKind.CALLS, 1.0, OLD),
        (EdgeKind.CALLS, 1.0, ANCIENT),
        (EdgeKind.CALLS, 1.0, {**NEW, "source": Source.NONE}),
    ],
)
def test_what_is_no_living_reference(kind: EdgeKind, confidence: float, referrer: dict[str, int]) -> None:
    assert referring(kind, confidence, referrer).classes[0] == Freshness.STALE


def test_calling_oneself_is_no_reference() -> None:
    assert classify(facts(OLD), GraphEdges.of([(0, 0, EdgeKind.CALLS, 1.0)])).classes[0] == Freshness.STALE


def depending(dependency: dict[str, int], confidence: float = 0.9, node: dict[str, int] | None = None) -> Classified:
    return classify(facts(node or OLD, dependency), GraphEdges.of([(0, 1, EdgeKind.CALLS, confidence)]))


def test_a_dependency_whose_signature_moved_on_is_a_risk_and_says_when() -> None:
    classified = depending({**NEW, "signature_days": 100})
    assert classified.classes[0] == Freshness.STALE_WITH_RISK
    reason = classified.explain(0).reasons[0]
    assert reason == Reason(ReasonKind.SIGNATURE_CHANGED, 1, NOW - 100 * DAY)


def test_a_change_beneath_a_node_older_than_the_horizon_is_a_risk() -> None:
    assert depending({**NEW, "signature_days": 729}, node=ANCIENT).classes[0] == Freshness.STALE_WITH_RISK


@pytest.mark.parametrize(
    ("dependency", "confidence"),
    [
        (NEW, 0.9),  # its body changed, its signature did not
        ({**NEW, "signature_days": 701}, 0.9),  # before the node's last touch
        ({**NEW, "signature_days": 700}, 0.9),  # with it
        ({**NEW, "signature_days": 100}, 0.7),  # not sure enough
    ],
)
def test_what_is_no_risk(dependency: dict[str, int], confidence: float) -> None:
    assert depending(dependency, confidence).classes[0] == Freshness.STALE


def test_risk_is_for_stale_nodes_only() -> None:
    assert depending({**NEW, "signature_days": 1}, node=MIDDLE).classes[0] == Freshness.ACCEPTABLE


def test_documents_and_tests_behind_are_flagged_without_penalty() -> None:
    edges = GraphEdges.of([(0, 1, EdgeKind.DOCUMENTS, 0.8), (2, 1, EdgeKind.TESTS, 0.9)])
    classified = classify(facts(MIDDLE, NEW, MIDDLE), edges)
    assert classified.flags.tolist() == [FreshnessFlag.DOCUMENT_BEHIND, 0, FreshnessFlag.TEST_BEHIND]
    assert classified.classes.tolist() == [Freshness.ACCEPTABLE, Freshness.FRESH, Freshness.ACCEPTABLE]


def test_penalties_are_the_owners() -> None:
    rows = (NEW, MIDDLE, OLD, {**OLD, "fixes": 5})
    penalties = classify(facts(*rows), NO_EDGES).penalties()
    assert penalties.tolist() == pytest.approx([1.0, 0.9, 0.7, 0.5])
    assert [PENALTY[kind] for kind in sorted(Freshness)] == [0.5, 0.7, 0.9, 1.0]


@pytest.mark.parametrize(
    ("row", "kinds"),
    [
        (NEW, [ReasonKind.NEW]),
        ({"commits": WORK_TREE_POSITION, "source": Source.WORKTREE}, [ReasonKind.UNCOMMITTED]),
        (MIDDLE, [ReasonKind.NOT_OLD]),
        ({**ANCIENT, "source": Source.SHALLOW}, [ReasonKind.UNKNOWN_HISTORY]),
        (OLD, [ReasonKind.QUIET, ReasonKind.OLD]),
        ({**OLD, "fixes": 3, "flags": CommitFlag.REVERTED}, [ReasonKind.FIXES, ReasonKind.REVERTED, ReasonKind.OLD]),
        ({**OLD, "flags": CommitFlag.REVERT}, [ReasonKind.REVERT, ReasonKind.OLD]),
        ({**OLD, "vanished_days": 1}, [ReasonKind.DEPENDENCY_VANISHED, ReasonKind.OLD]),
        ({**NEW, "unreadable": 1}, [ReasonKind.UNREADABLE]),
    ],
)
def test_every_class_has_its_reasons(row: dict[str, int], kinds: list[ReasonKind]) -> None:
    assert [reason.kind for reason in classify(facts(row), NO_EDGES).explain(0).reasons] == kinds


def test_facts_of_several_repositories_keep_their_clocks() -> None:
    then = np.array([NOW - 2000 * DAY])
    resting = replace(facts(NEW), times=then, file_times=then, written_times=then, clocks=np.array([NOW - 1999 * DAY]))
    joined = NodeFacts.joined([facts(OLD), resting])
    assert classify(joined, NO_EDGES).classes.tolist() == [Freshness.STALE, Freshness.FRESH]


def test_the_summary_counts_and_finds_the_oldest_hot_code() -> None:
    rows = [OLD, ANCIENT, NEW, NEW, NEW, MIDDLE]
    edges = [(source, 0, EdgeKind.CALLS, 0.9) for source in (2, 3, 4, 4)]
    edges += [(source, 1, EdgeKind.CALLS, 0.9) for source in (2, 3)]
    classified = classify(facts(*rows), GraphEdges.of(edges))
    summary = summarise(classified)
    assert summary.counts == {
        Freshness.STALE_WITH_RISK: 0,
        Freshness.STALE: 0,
        Freshness.ACCEPTABLE: 3,
        Freshness.FRESH: 3,
    }
    assert [(hot.node, hot.age_days, hot.living_references) for hot in summary.oldest_hot] == [(0, 700, 3)]


def test_the_summary_of_nothing() -> None:
    summary = summarise(classify(facts(), NO_EDGES))
    assert (summary.total, summary.share(Freshness.FRESH), summary.oldest_hot) == (0, 0.0, ())


nodes = st.lists(
    st.fixed_dictionaries(
        {
            "days": st.integers(0, 1500),
            "commits": st.integers(-1, 2000) | st.just(BEYOND),
            "fixes": st.integers(0, 3),
            "flags": st.integers(0, 15),
            "source": st.sampled_from([*Source]),
            "signature_days": st.integers(-1, 1500),
            "vanished_days": st.integers(-1, 0),
            "file_days": st.integers(0, 1500),
            "file_commits": st.integers(-1, 2000) | st.just(BEYOND),
            "tree_days": st.integers(0, 1500),
            "tree_commits": st.integers(-1, 2000) | st.just(BEYOND),
            "tree_files": st.integers(0, 3),
        }
    ),
    min_size=1,
    max_size=6,
)


@given(rows=nodes, data=st.data())
def test_every_node_has_one_class_and_a_reason_for_it(rows: list[dict[str, int]], data: st.DataObject) -> None:
    index = st.integers(0, len(rows) - 1)
    edge = st.tuples(index, index, st.sampled_from([*EdgeKind]), st.sampled_from([0.5, 0.8, 1.0]))
    edges = data.draw(st.lists(edge, max_size=12))
    classified = classify(facts(*rows), GraphEdges.of(edges))
    for node in range(len(rows)):
        explained = classified.explain(node)
        assert explained.freshness == classified.classes[node]
        assert explained.reasons
        risky = any(
            ReasonKind.SIGNATURE_CHANGED <= reason.kind <= ReasonKind.UNREADABLE for reason in explained.reasons
        )
        assert risky == (explained.freshness is Freshness.STALE_WITH_RISK)
