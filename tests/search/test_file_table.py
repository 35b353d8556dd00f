"""What paths say, in columns: the same as asked of one file after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxsearch.graph.columns import NO_FILE, NodeColumns
from ctxsearch.graph.model import CodeNode, NodeFlag, NodeId, NodeKind
from ctxsearch.search.file_table import FileTable, asked_share, file_traits, side_bits
from ctxsearch.search.identifiers import stem
from ctxsearch.search.query import SearchQuery, Signal
from ctxsearch.search.steps import DEFAULT_STEPS, Steps, reordered

WORDS = ("parse", "token", "tree", "walk", "node", "graph", "edge", "store", "test", "docs", "mock", "cache")
NAME = st.lists(st.sampled_from(WORDS), min_size=1, max_size=12).map("_".join)  # some have more words than fit
PATHS = st.lists(st.tuples(NAME, NAME).map(lambda parts: f"{parts[0]}/{parts[1]}.py"), min_size=1, unique=True)


def columns_of(paths: list[str]) -> NodeColumns:
    return NodeColumns.of(
        CodeNode(
            id=NodeId(f"{number:016x}"),
            kind=NodeKind.FUNCTION,
            name="f",
            qualified_name="f",
            path=path,
            start_line=1,
            end_line=2,
            language="python",
            signature="",
            content_hash="",
            flags=NodeFlag.NONE,
            parent=None,
        )
        for number, path in enumerate(paths, start=1)
    )


@given(PATHS, st.frozensets(st.sampled_from([*map(stem, WORDS), "other"])))
def test_what_is_asked_of_all_files_is_what_is_asked_of_each(paths: list[str], asked: frozenset[str]) -> None:
    table = FileTable(columns_of(paths))
    files = np.arange(len(paths))
    table.fill(files)
    traits = [file_traits[path] for path in paths]
    for weights in ((1.0, 0.0), (0.0, 1.0), (0.5, 2.0)):
        found = table.asked(files, asked, weights)
        shares = [(asked_share(one.own, asked), asked_share(one.parent, asked)) for one in traits]
        expected = [own * weights[0] + parent * weights[1] for own, parent in shares]
        assert (np.zeros(len(paths)) if found is None else found).tolist() == pytest.approx(expected)
    assert table.side[files].tolist() == [side_bits(one.side) for one in traits]
    assert table.depths[files].tolist() == [1.0] * len(paths)


def test_files_are_known_as_lists_have_them() -> None:
    table = FileTable(columns_of(["tests/parse.py", "lib/token.py"]))
    table.fill(np.array([1, NO_FILE]))
    assert table.side[0] == 0, "the first file was not asked about"
    table.fill(np.array([0]))
    assert table.side[0] > 0


class Alone:
    """One node that stands in no file."""

    columns = columns_of([""])

    def node(self, _node_id: NodeId, /) -> CodeNode | None:
        return None


def test_nodes_may_stand_in_no_file_at_all() -> None:
    nodes = Alone()
    for signal in (Signal.BM25, Signal.SEMANTIC):
        steps = Steps.of(DEFAULT_STEPS, signal)
        rows, scores = reordered(steps, np.array([0]), np.array([0.5]), SearchQuery(text="parse a file"), nodes)
        assert rows.tolist() == [0]
        assert len(scores) == 1
