"""Ranking steps: each keeps its list a permutation and reorders it for the reason it names."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ctxsearch.graph.columns import NodeColumns
from ctxsearch.graph.model import CodeNode, NodeFlag, NodeId, NodeKind, module_node_id
from ctxsearch.search.ports import Hit, Hits
from ctxsearch.search.query import SearchQuery, Signal
from ctxsearch.search.steps import (
    DEFAULT_STEPS,
    EXACT_BONUS,
    EXACT_SCORE,
    Definition,
    Demotion,
    DirectoryCoherence,
    FilePrior,
    PathMatch,
    RankingStep,
    SemanticCoherence,
    Spread,
    Steps,
    reordered,
)

_DEMOTION = Demotion(Signal.SEMANTIC, "demotion", 0.6, variable=0.8)


def node(number: int, name: str, kind: NodeKind, path: str = "a.py", lines: int = 1) -> CodeNode:
    return CodeNode(
        id=NodeId(f"{number:016x}"),
        kind=kind,
        name=name,
        qualified_name=name,
        path=path,
        start_line=number,
        end_line=number + lines - 1,
        language="python",
        signature=name,
        content_hash="",
        flags=NodeFlag.NONE,
        parent=None,
    )


class Nodes:
    """Nodes as a graph has them."""

    def __init__(self, nodes: dict[NodeId, CodeNode]) -> None:
        self.node = nodes.get
        self.columns = NodeColumns.of(nodes.values())


def after(step: RankingStep, hits: list[Hit], text: str, nodes: dict[NodeId, CodeNode]) -> list[Hit]:
    """The list as one step reorders it."""
    known, columns = Nodes(nodes), Hits.of(hits)
    rows, scores = reordered(
        Steps.of((step,), step.signal),
        known.columns.rows(columns.numbers),
        columns.scores,
        SearchQuery(text=text),
        known,
    )
    return list(Hits(known.columns.numbers[rows], scores))


def names(hits: Sequence[Hit], nodes: dict[NodeId, CodeNode]) -> list[str]:
    return [f"{nodes[hit.id].name}:{nodes[hit.id].kind.name}" for hit in hits]


def listed(*found: tuple[CodeNode, float]) -> tuple[list[Hit], dict[NodeId, CodeNode]]:
    return [Hit(one.id, score) for one, score in found], {one.id: one for one, _ in found}


def test_a_symbol_means_its_type_and_members_of_that_name_are_matches_like_others() -> None:
    hits, nodes = listed(
        (node(1, "engine", NodeKind.VARIABLE), 3.0 * EXACT_BONUS),
        (node(2, "Engine", NodeKind.METHOD), 2.9 * EXACT_BONUS),
        (node(3, "Engine", NodeKind.CLASS), 2.8 * EXACT_BONUS),
        (node(4, "EngineRoom", NodeKind.CLASS), 2.95),
    )
    ordered = after(Definition(), hits, "gin.Engine", nodes)
    assert names(ordered, nodes) == ["Engine:CLASS", "engine:VARIABLE", "EngineRoom:CLASS", "Engine:METHOD"]
    assert ordered[2] == Hit(hits[-1].id, 2.95), "what is no exact symbol keeps its score"


def test_the_spelling_that_was_typed_comes_first() -> None:
    hits, nodes = listed(
        (node(1, "engine", NodeKind.FUNCTION), 3.0 * EXACT_BONUS),
        (node(2, "Engine", NodeKind.FUNCTION), 2.9 * EXACT_BONUS),
    )
    assert names(after(Definition(), hits, "Engine", nodes), nodes) == [
        "Engine:FUNCTION",
        "engine:FUNCTION",
    ]


def test_of_several_definitions_the_one_in_a_file_or_directory_of_its_name_comes_first_and_side_code_last() -> None:
    places = ("cloud/misc.py", "examples/misc.py", "states/misc.py", "cloud/state.py")
    hits, nodes = listed(
        *((node(number, "State", NodeKind.CLASS, path), 2.0 * EXACT_BONUS) for number, path in enumerate(places, 1))
    )
    ordered = after(Definition(), hits, "State", nodes)
    assert [nodes[hit.id].path for hit in ordered] == [places[3], places[2], places[0], places[1]]


def test_of_several_definitions_a_pasted_line_means_the_one_with_its_signature() -> None:
    kinds = ("JSON", "XML", "YAML", "ProtoBuf")
    made = [
        msgspec.structs.replace(
            node(number, "Render", NodeKind.METHOD, f"{number}.go", lines=200 // number),
            signature=f"func (r {kind}) Render(w http.ResponseWriter) error",
        )
        for number, kind in enumerate(kinds, 1)
    ]
    hits, nodes = listed(*((one, 2.0 * EXACT_BONUS) for one in made))
    for one in made:
        assert after(Definition(), hits, f"{one.signature} {{", nodes)[0].id == one.id
    assert after(Definition(), hits, "Render", nodes)[0].id == made[0].id, "a name alone means the one with most code"


def test_a_symbol_that_names_side_code_is_looked_for_there() -> None:
    mock, code = (
        node(number, "MockStore", NodeKind.CLASS, path) for number, path in ((1, "mocks/a.py"), (2, "b/a.py"))
    )
    hits, nodes = listed((mock, 2.0 * EXACT_BONUS), (code, 1.9 * EXACT_BONUS))
    assert [hit.id for hit in after(Definition(), hits, "MockStore", nodes)] == [
        mock.id,
        code.id,
    ]


def test_of_several_definitions_the_one_with_the_code_comes_before_those_that_reopen_it() -> None:
    reopened = node(1, "Application", NodeKind.CLASS)
    defined = node(2, "Application", NodeKind.CLASS, "b.py", lines=300)
    hits, nodes = listed((reopened, 2.0 * EXACT_SCORE), (defined, 1.9 * EXACT_SCORE))
    ordered = after(Definition(), hits, "Application", nodes)
    assert [hit.id for hit in ordered] == [defined.id, reopened.id]


def test_a_variable_gives_way_to_code_that_is_as_near_in_meaning() -> None:
    hits, nodes = listed((node(1, "rules", NodeKind.VARIABLE), 0.72), (node(2, "validate", NodeKind.FUNCTION), 0.7))
    for text in ("validation rules", "tests of the rules"):
        ordered = after(_DEMOTION, hits, text, nodes)
        assert names(ordered, nodes) == ["validate:FUNCTION", "rules:VARIABLE"]


def test_of_names_that_are_equally_near_a_copy_comes_last() -> None:
    copy = msgspec.structs.replace(node(1, "Widget", NodeKind.CLASS, "vendor/w.py"), flags=NodeFlag.VENDORED)
    own, farther = node(2, "Widget", NodeKind.CLASS, "w.py"), node(3, "Wedge", NodeKind.CLASS, "e.py")
    hits, nodes = listed((copy, 0.75), (own, 0.75), (farther, 0.5))
    (step,) = [one for one in DEFAULT_STEPS if one.signal is Signal.FUZZY]
    for text, first in (("widgte", own), ("vendored widgte", copy)):
        ordered = after(step, hits, text, nodes)
        assert (ordered[0].id, ordered[-1].id) == (first.id, farther.id)


def test_a_file_named_after_the_subject_gains_and_its_directory_counts_too() -> None:
    hits, nodes = listed(
        (node(1, "x", NodeKind.FUNCTION, "core/misc.py"), 1.2),
        (node(2, "y", NodeKind.FUNCTION, "core/routing.py"), 1.0),
        (node(3, "z", NodeKind.FUNCTION, "requests/misc.py"), 0.9),
    )
    ordered = after(PathMatch(Signal.BM25), hits, "how are requests routed", nodes)
    assert names(ordered, nodes) == ["y:FUNCTION", "z:FUNCTION", "x:FUNCTION"]


def prior_order(text: str, *found: tuple[CodeNode, float]) -> list[str]:
    hits, nodes = listed(*found)
    return [name.partition(":")[0] for name in names(after(FilePrior(Signal.BM25), hits, text, nodes), nodes)]


def test_a_word_asks_for_its_own_kind_of_lower_code_alone() -> None:
    kinds = {"tests": NodeFlag.TEST, "vendored": NodeFlag.VENDORED, "generated": NodeFlag.GENERATED}
    nodes = [
        msgspec.structs.replace(node(number, name, NodeKind.FUNCTION, f"{name}.py"), flags=flags)
        for number, (name, flags) in enumerate(kinds.items(), 1)
    ]
    hits, by_id = listed(*((one, 0.9) for one in nodes))
    for text, asked in (("how are crates vendored", "vendored"), ("tests of orders", "tests")):
        ordered = after(_DEMOTION, hits, text, by_id)
        assert {by_id[hit.id].name: hit.score for hit in ordered} == {
            name: 0.9 if name == asked else 0.9 * _DEMOTION.factor for name in kinds
        }


def test_a_page_is_prose_among_documents_and_code_elsewhere() -> None:
    hits, nodes = listed(
        (node(1, "manual", NodeKind.MODULE, "docs/design.html"), 1.0),
        (node(2, "template", NodeKind.MODULE, "views/design.html"), 1.0),
    )
    prior = FilePrior(Signal.BM25, side_penalty=0.0)
    scores = {nodes[hit.id].name: hit.score for hit in after(prior, hits, "x", nodes)}
    assert scores["template"] - scores["manual"] == prior.data_penalty


def test_data_prose_and_deep_files_lose() -> None:
    assert prior_order(
        "routes",
        (node(1, "data", NodeKind.SECTION, "routing.json"), 1.3),
        (node(2, "manual", NodeKind.SECTION, "app.1"), 1.2),
        (node(3, "deep", NodeKind.FUNCTION, "a/b/c/d/routing.py"), 1.1),
        (node(4, "code", NodeKind.FUNCTION, "routing.py"), 1.0),
    ) == ["code", "deep", "data", "manual"]


def test_code_beside_the_code_loses_unless_it_is_asked_for() -> None:
    beside = (node(1, "beside", NodeKind.FUNCTION, "legacy/routing.py"), 1.1)
    code = (node(2, "code", NodeKind.FUNCTION, "core/routing.py"), 1.0)
    assert prior_order("routes", beside, code) == ["code", "beside"]
    assert prior_order("legacy routes", beside, code) == ["beside", "code"]
    tested = (node(3, "tested", NodeKind.FUNCTION, "tests/routing.py"), 1.1)
    assert prior_order("routes", tested, code) == ["code", "tested"]
    assert prior_order("how to test routes", tested, code) == ["tested", "code"]


def test_a_node_of_a_long_file_comes_before_one_of_a_short_file() -> None:
    short = node(1, "short", NodeKind.FUNCTION, "short.py")
    long = node(2, "long", NodeKind.FUNCTION, "long.py")
    own = [
        msgspec.structs.replace(node(1, path, NodeKind.MODULE, path, lines), id=module_node_id(path))
        for path, lines in (("short.py", 10), ("long.py", 900))
    ]
    hits, nodes = listed((short, 1.1), (long, 1.0))
    ordered = after(FilePrior(Signal.BM25), hits, "routes", nodes | {one.id: one for one in own})
    assert [hit.id for hit in ordered] == [long.id, short.id]


def test_a_file_gains_by_others_of_its_directory_that_match() -> None:
    hits, nodes = listed(
        (node(1, "alone", NodeKind.FUNCTION, "a/one.py"), 1.05),
        (node(2, "first", NodeKind.FUNCTION, "b/one.py"), 1.0),
        (node(3, "second", NodeKind.FUNCTION, "b/two.py"), 0.9),
        (node(4, "last", NodeKind.FUNCTION, "c/one.py"), 0.1),
    )
    ordered = after(DirectoryCoherence(Signal.BM25), hits, "anything", nodes)
    assert names(ordered, nodes)[:2] == ["first:FUNCTION", "alone:FUNCTION"]
    again, _ = listed(*((nodes[hit.id], hit.score + 7.0) for hit in hits))
    assert [hit.id for hit in after(DirectoryCoherence(Signal.BM25), again, "x", nodes)] == [
        hit.id for hit in ordered
    ], "only differences count"


def test_a_files_own_node_is_no_second_match_of_its_only_function() -> None:
    alone = node(1, "alone", NodeKind.FUNCTION, "alone.py")
    first, second = (node(number, name, NodeKind.FUNCTION, "b.py") for number, name in ((2, "first"), (3, "second")))
    own = node(4, "alone.py", NodeKind.MODULE, "alone.py")
    hits, nodes = listed((alone, 0.6), (first, 0.6), (own, 0.59), (second, 0.5))
    scores = {hit.id: hit.score for hit in after(SemanticCoherence(), hits, "x", nodes)}
    lonely = {hit.id: hit.score for hit in after(SemanticCoherence(), hits[:1], "x", nodes)}
    assert scores[alone.id] == lonely[alone.id]
    assert scores[first.id] > scores[alone.id]


def test_the_next_node_of_a_file_gives_way_to_another_file() -> None:
    hits, nodes = listed(
        (node(1, "first", NodeKind.FUNCTION, "a.py"), 2.0),
        (node(2, "second", NodeKind.FUNCTION, "a.py"), 1.9),
        (node(3, "third", NodeKind.FUNCTION, "b.py"), 1.0),
    )
    ordered = after(Spread(Signal.BM25), hits, "anything", nodes)
    assert names(ordered, nodes) == ["first:FUNCTION", "third:FUNCTION", "second:FUNCTION"]


def test_every_step_returns_the_hits_it_was_given() -> None:
    hits, nodes = listed(
        *((node(one, f"n{one}", NodeKind.FUNCTION, f"d/{one % 3}.py"), 1.0 / one) for one in range(1, 12))
    )
    for step in DEFAULT_STEPS:
        assert sorted(hit.id for hit in after(step, hits, "n3", nodes)) == sorted(nodes)
