"""Nodes in columns: the same by steps as at once, and every node found where it is."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ctxsearch.graph.columns import NO_FILE, NodeColumns, numbers_of
from ctxsearch.graph.model import CodeNode, NodeFlag, NodeId, NodeKind, module_node_id


def node(path: str, name: str, kind: NodeKind, lines: int) -> CodeNode:
    own = kind is NodeKind.MODULE and path != ""
    return CodeNode(
        id=module_node_id(path) if own else NodeId(f"{hash_of(path + name):016x}"),
        kind=kind,
        name=name,
        qualified_name=name,
        path=path,
        start_line=1,
        end_line=lines,
        language="python",
        signature="",
        content_hash="",
        flags=NodeFlag.TEST if lines % 2 else NodeFlag.NONE,
        parent=None,
    )


def hash_of(text: str) -> int:
    return int.from_bytes(text.encode().ljust(8, b"\0")[:8])


def seen(columns: NodeColumns) -> dict[int, tuple[object, ...]]:
    """What the columns say of each node, whatever the numbers of files are."""
    told: dict[int, tuple[object, ...]] = {}
    rows = zip(columns.numbers, columns.files, columns.kinds, columns.flags, strict=True)
    for number, file, kind, flags in rows:
        known = file != NO_FILE
        told[int(number)] = (
            columns.paths[file] if known else "",
            int(columns.lines[file]) if known else 0,
            {columns.paths[one] for one in np.flatnonzero(columns.directories == columns.directories[file])}
            if known
            else set(),
            int(kind),
            int(flags),
        )
    return told


paths = st.sampled_from(["", "a.py", "b.py", "d/a.py", "d/e/c.py"])
nodes = st.builds(
    node,
    paths,
    st.sampled_from("xyz"),
    st.sampled_from([NodeKind.FUNCTION, NodeKind.MODULE, NodeKind.VARIABLE]),
    st.integers(1, 9),
)


@given(st.lists(st.tuples(st.lists(nodes), st.lists(st.integers(0, 20)))))
def test_columns_that_were_changed_are_those_of_the_nodes_that_are_left(
    changes: list[tuple[list[CodeNode], list[int]]],
) -> None:
    columns = NodeColumns.of(())
    left: dict[NodeId, CodeNode] = {}
    for new, places in changes:
        gone = [one for place, one in enumerate(left) if place in places]
        columns = columns.replaced(gone, {one.id: one for one in new}.values())
        left = {one: kept for one, kept in left.items() if one not in gone} | {one.id: one for one in new}
    fresh = NodeColumns.of(left.values())
    assert (columns.numbers == fresh.numbers).all()
    for number, (path, _, beside, *rest) in seen(fresh).items():
        found_path, _, found_beside, *found_rest = seen(columns)[number]
        assert (found_path, found_rest) == (path, rest)
        assert beside <= found_beside, "files of one directory stay together; files that are gone keep their number"


def test_a_files_length_is_that_of_its_own_node_and_follows_it() -> None:
    short, long = node("a.py", "a", NodeKind.MODULE, 3), node("a.py", "a", NodeKind.MODULE, 8)
    columns = NodeColumns.of([short, node("b.py", "x", NodeKind.FUNCTION, 5)])
    assert dict(zip(columns.paths, columns.lines.tolist(), strict=True)) == {"a.py": 3, "b.py": 0}
    changed = columns.replaced([short.id], [long])
    assert dict(zip(changed.paths, changed.lines.tolist(), strict=True)) == {"a.py": 8, "b.py": 0}
    assert dict(zip(columns.paths, columns.lines.tolist(), strict=True)) == {"a.py": 3, "b.py": 0}, "a value"


def test_rows_are_where_nodes_are_and_minus_one_where_there_is_none() -> None:
    known = [node("a.py", name, NodeKind.FUNCTION, 1) for name in "xyz"]
    columns = NodeColumns.of(known)
    strangers = numbers_of([NodeId("0" * 16), NodeId("f" * 16)])
    rows = columns.rows(np.concatenate([numbers_of(one.id for one in known), strangers]))
    assert [columns.node_id(row) for row in rows[:3].tolist()] == [one.id for one in known]
    assert rows[3:].tolist() == [-1, -1]
    assert NodeColumns.of(()).rows(strangers).tolist() == [-1, -1]


anywhere = st.integers(0, 2**64 - 1)
side_by_side = st.builds(int.__add__, st.sampled_from([0, 2**63, 2**64 - 60]), st.integers(0, 59))


@given(st.sets(anywhere | side_by_side, max_size=80), st.lists(anywhere | side_by_side, max_size=20))
def test_every_number_is_found_whether_numbers_lie_apart_or_side_by_side(known: set[int], wanted: list[int]) -> None:
    columns = NodeColumns.of(()).with_unknown(np.array(sorted(known), np.uint64))
    asked = [*known, *wanted]
    places = {number: row for row, number in enumerate(sorted(known))}
    assert columns.rows(np.array(asked, np.uint64)).tolist() == [places.get(number, -1) for number in asked]


@given(st.lists(nodes, max_size=6, unique_by=lambda one: one.id), st.lists(st.integers(0, 2**64 - 1), max_size=4))
def test_of_unknown_nodes_nothing_is_said_and_the_others_stay(known: list[CodeNode], numbers: list[int]) -> None:
    columns = NodeColumns.of(known)
    more = columns.with_unknown(np.array([one for one in numbers if one not in columns.numbers], np.uint64))
    nothing = ("", 0, set(), 0, 0)
    assert seen(more) == {**dict.fromkeys(numbers, nothing), **seen(columns)}
    assert (more.numbers[1:] > more.numbers[:-1]).all(), "ascending, each once"
