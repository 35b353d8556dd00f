"""Finding nodes by what a person types."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxsearch.graph.edges import EdgeTable
from ctxsearch.graph.graph import CodeGraph
from ctxsearch.graph.model import CodeNode, NodeFlag, NodeId, NodeKind, node_id
from ctxsearch.graph.names import edit_distance


def make_node(
    path: str,
    qualified: str,
    name: str,
    kind: NodeKind = NodeKind.FUNCTION,
    lines: tuple[int, int] = (1, 1),
    parent: NodeId | None = None,
) -> CodeNode:
    return CodeNode(
        node_id(path, kind, qualified),
        kind,
        name,
        qualified,
        path,
        *lines,
        "python",
        "",
        "",
        NodeFlag.NONE,
        parent,
    )


MODULE = make_node("src/app/retry.py", "app.retry", "retry", NodeKind.MODULE, (1, 40))
CLASS = make_node("src/app/retry.py", "app.retry.Backoff", "Backoff", NodeKind.CLASS, (3, 30), MODULE.id)
METHOD = make_node("src/app/retry.py", "app.retry.Backoff.wait", "wait", NodeKind.METHOD, (5, 9), CLASS.id)
OTHER = make_node("src/lib/clock.rs", "lib::clock::Clock::wait", "wait", NodeKind.METHOD, (2, 4))
RUST = make_node("src/lib/clock.rs", "lib::clock", "clock.rs", NodeKind.MODULE, (1, 10))
TESTS = make_node("tests/app/retry.py", "tests.app.retry", "retry", NodeKind.MODULE, (1, 5))
EXTERNAL = make_node("", "time.wait", "wait", NodeKind.EXTERNAL, (0, 0))
NODES = [MODULE, CLASS, METHOD, OTHER, RUST, TESTS, EXTERNAL]
GRAPH = CodeGraph.build(NODES, EdgeTable.of(NODES, []))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Backoff", [CLASS]),
        ("Backoff()", [CLASS]),
        (" Backoff ", [CLASS]),
        ("wait", [METHOD, OTHER, EXTERNAL]),
        ("app.retry.Backoff.wait", [METHOD]),
        ("Backoff.wait", [METHOD]),
        ("Backoff#wait", [METHOD]),
        ("Backoff::wait", [METHOD]),
        ("Backoff->wait", [METHOD]),
        ("Clock::wait", [OTHER]),
        ("Clock.wait", [OTHER]),
        ("time.wait", [EXTERNAL]),
        ("src/app/retry.py::Backoff.wait", [METHOD]),
        ("app/retry.py::Backoff::wait", [METHOD]),
        ("retry.py:Backoff", [CLASS]),
        (METHOD.id, [METHOD]),
        ("src/app/retry.py", [MODULE]),
        ("retry.py", [MODULE, TESTS]),
        ("src/app/retry.py:6", [METHOD]),
        ("src/app/retry.py:6:13", [METHOD]),
        ("./src/app/retry.py:20", [CLASS]),
        ("retry.py:2", [MODULE, TESTS]),
        ("clock.rs:3", [OTHER]),
        ("clock", [RUST]),
    ],
)
def test_a_name_a_suffix_or_a_place_finds_the_nodes_that_it_means(text: str, expected: list[CodeNode]) -> None:
    found = GRAPH.find(text)
    assert list(found.matches) == expected
    assert found.near == ()


@pytest.mark.parametrize(
    "text", ["ackoff.wait", "Other.wait", "lib.Backoff.wait", "", "...", "retry.py:99", "nowhere.py:3", "0" * 16]
)
def test_what_only_looks_similar_is_no_match(text: str) -> None:
    assert GRAPH.find(text).matches == ()


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("Bakcoff", "Backoff"),
        ("backoff", "Backoff"),
        ("app.retry.Backof", "Backoff"),
        ("wiat", "wait"),
        ("back", "Backoff"),
    ],
)
def test_a_miss_names_what_was_probably_meant(text: str, near: str) -> None:
    found = GRAPH.find(text)
    assert found.matches == ()
    assert found.near[0] == near


def test_of_names_equally_near_the_one_of_the_same_length_comes_first() -> None:
    nodes = [make_node("a.py", name, name) for name in ("one", "open", "reopened")]
    assert CodeGraph.build(nodes, EdgeTable.of(nodes, [])).find("opne").near == ("open", "one")


def test_a_miss_without_anything_alike_names_nothing() -> None:
    assert GRAPH.find("zzzzzzzzzz").near == ()


def test_a_whole_address_comes_before_a_suffix_of_another() -> None:
    short = make_node("z.py", "Backoff.wait", "wait", NodeKind.METHOD)
    nodes = [*NODES, short]
    assert CodeGraph.build(nodes, EdgeTable.of(nodes, [])).find("Backoff.wait").matches == (short, METHOD)


def test_more_matches_than_asked_for_are_cut_and_said() -> None:
    found = GRAPH.find("wait", limit=2)
    assert (found.matches, found.truncated) == ((METHOD, OTHER), True)


_WORDS = st.text("abc", max_size=7)


@settings(max_examples=200)
@given(a=_WORDS, b=_WORDS, bound=st.integers(0, 8))
def test_the_bounded_distance_is_the_distance_up_to_its_bound(a: str, b: str, bound: int) -> None:
    assert edit_distance(a, b, bound) == min(plain_distance(a, b), bound + 1)
    assert edit_distance(a, b, bound) == edit_distance(b, a, bound)


def plain_distance(a: str, b: str) -> int:
    """By the definition: optimal string alignment, without bounds or early ends."""
    table = {(i, 0): i for i in range(len(a) + 1)} | {(0, j): j for j in range(len(b) + 1)}
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            table[i, j] = min(
                table[i - 1, j] + 1,
                table[i, j - 1] + 1,
                table[i - 1, j - 1] + (a[i - 1] != b[j - 1]),
                table[i - 2, j - 2] + 1 if i > 1 and j > 1 and a[i - 2 : i] == b[j - 1] + b[j - 2] else 99,
            )
    return table[len(a), len(b)]
