"""The search contract, sentence by sentence, over real engines: tantivy, LanceDB, the bundled model, the graph."""

from __future__ import annotations

import dataclasses
import math
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest
from search_project import Ages, Project

from ctxsearch.graph.columns import NodeColumns
from ctxsearch.graph.freshness import PENALTY, Freshness
from ctxsearch.graph.graph import CodeGraph
from ctxsearch.graph.model import CodeNode, NodeId, NodeKind
from ctxsearch.search.embed import bundled_embedder
from ctxsearch.search.errors import FailedPrecondition, InvalidArgument, NotFound, Unavailable
from ctxsearch.search.ports import (
    SELECT_ALL,
    Corpus,
    Floats,
    Hit,
    IndexState,
    NodeContent,
    OnDisk,
    Passage,
    Selection,
    VectorReader,
)
from ctxsearch.search.query import (
    Content,
    Expansion,
    ExpansionKind,
    Mode,
    SearchQuery,
    Signal,
    Weights,
)
from ctxsearch.search.results import Label, SearchResponse, SearchResult, SignalReport
from ctxsearch.search.run import Member, Run
from ctxsearch.search.scope import Scope
from ctxsearch.search.service import ContextSearchService
from ctxsearch.search.steps import RankingPolicy


def names(response: SearchResponse) -> list[str]:
    return [result.node.name for result in response.results]


def result(response: SearchResponse, name: str) -> SearchResult:
    return next(one for one in response.results if one.node.name == name)


@pytest.fixture
def temporary(corpus: Corpus) -> Iterator[ContextSearchService]:
    """A service of its own for tests that change what is published."""
    made = ContextSearchService(bundled_embedder())
    made.publish(corpus)
    yield made
    made.close()


class Broken:
    """A reader that fails, as a damaged index would."""

    generation = 1
    model_id = bundled_embedder().model_id
    dimension = bundled_embedder().dimension

    def search(self, *_: object) -> list[Hit]:
        raise OSError("disk on fire")

    def fuzzy(self, *_: object) -> list[Hit]:
        raise OSError("disk on fire")

    def has_name(self, *_: object) -> bool:
        return False

    def near_names(self, *_: object) -> list[str]:
        return []

    def count(self) -> int:
        return 0


class Fixed:
    """A reader that always answers the same, whatever it is asked: for ids and orders that tests choose."""

    generation = 1
    model_id = bundled_embedder().model_id
    dimension = bundled_embedder().dimension

    def __init__(self, *ids: NodeId) -> None:
        self.hits = [Hit(node_id, 1.0 / (place + 1)) for place, node_id in enumerate(ids)]
        self.asked: list[tuple[Selection, int]] = []

    def search(self, _query: object, selection: Selection, limit: int, _nodes: object = None) -> list[Hit]:
        self.asked.append((selection, limit))
        return self.hits

    fuzzy = search

    def has_name(self, *_: object) -> bool:
        return False

    def near_names(self, *_: object) -> list[str]:
        return []

    def count(self) -> int:
        return len(self.hits)


# Each signal alone


def test_keyword_alone_finds_by_words(service: ContextSearchService) -> None:
    response = service.search(SearchQuery(text="transaction", mode=Mode.KEYWORD))
    assert names(response)[0] == "begin_transaction"
    assert {one.label for one in response.results} == {Label.EXACT}
    assert [report.signal for report in response.signals] == [Signal.BM25]


def test_semantic_alone_finds_by_meaning_without_a_shared_word(service: ContextSearchService) -> None:
    response = service.search(SearchQuery(text="download website content", mode=Mode.SEMANTIC))
    assert "getHTTPResponse" in names(response)[:3]
    assert result(response, "getHTTPResponse").label is Label.SEMANTIC
    assert "download" not in result(response, "getHTTPResponse").content.text


def test_fuzzy_alone_finds_through_typos(service: ContextSearchService) -> None:
    response = service.search(SearchQuery(text="begin_transcation", mode=Mode.FUZZY))
    assert names(response)[0] == "begin_transaction"
    assert response.results[0].label is Label.FUZZY
    assert response.results[0].matched(Signal.FUZZY)


@pytest.mark.parametrize(
    ("kind", "depth", "expected"),
    [
        (ExpansionKind.CALLERS, 1, {"lookup_price"}),
        (ExpansionKind.CALLERS, 2, {"lookup_price", "place_order"}),
        (ExpansionKind.DEPENDENCIES, 1, {"open_socket", "read_all"}),
        (ExpansionKind.RELATED, 1, {"lookup_price", "open_socket", "read_all"}),
    ],
)
def test_the_graph_brings_what_text_did_not_find(
    corpus: Corpus, project: Project, kind: ExpansionKind, depth: int, expected: set[str]
) -> None:
    lone = Fixed(project.id_of("getHTTPResponse"))
    service = ContextSearchService(bundled_embedder())
    service.publish(dataclasses.replace(corpus, full_text=lone))
    response = service.search(SearchQuery(text="x", mode=Mode.KEYWORD, expansion=Expansion(kind, depth)))
    found = {one.node.name: one for one in response.results}
    assert found.keys() - {"getHTTPResponse"} == expected
    assert all(found[name].label is Label.GRAPH for name in expected)
    assert found["lookup_price" if "lookup_price" in expected else "read_all"].distance_in_graph == 1
    service.close()


# Request


def test_an_unknown_repository_is_not_found(service: ContextSearchService) -> None:
    with pytest.raises(NotFound, match="no repository named 'nope'; known: app"):
        service.search(SearchQuery(text="x", scope=Scope(repositories=("nope",))))


def test_nothing_published_is_a_failed_precondition_that_names_the_command() -> None:
    with pytest.raises(FailedPrecondition, match="ctxsearch add"):
        ContextSearchService(bundled_embedder()).search(SearchQuery(text="x"))


def test_a_ready_vector_wins_over_the_text(service: ContextSearchService) -> None:
    vector = bundled_embedder().embed_query("start a database transaction")
    response = service.search(
        SearchQuery(text="price", embedding=tuple(float(x) * 3 for x in vector), mode=Mode.SEMANTIC)
    )
    plain = service.search(SearchQuery(text="start a database transaction", mode=Mode.SEMANTIC))
    assert names(response) == names(plain)
    assert response.results[0].signal(Signal.SEMANTIC).raw <= 1.0


def test_a_vector_of_another_dimension_is_refused(service: ContextSearchService) -> None:
    with pytest.raises(InvalidArgument, match="exactly 256 numbers"):
        service.search(SearchQuery(embedding=(1.0, 2.0)))


def test_k_limits_and_fills_the_page(service: ContextSearchService) -> None:
    assert len(service.search(SearchQuery(text="order price record", k=2)).results) == 2
    assert len(service.search(SearchQuery(text="order price record", k=200)).results) > 5


def test_min_score_is_a_floor_on_the_shown_score(service: ContextSearchService) -> None:
    every = service.search(SearchQuery(text="order price record"))
    floor = every.results[2].score
    some = service.search(SearchQuery(text="order price record", min_score=floor))
    assert [one.score for one in some.results] == [one.score for one in every.results if one.score >= floor]
    assert len(some.results) < len(every.results)


def test_weights_change_the_order(service: ContextSearchService, project: Project, corpus: Corpus) -> None:
    first, second = project.id_of("open_socket"), project.id_of("parse_amount")
    own = ContextSearchService(bundled_embedder())
    own.publish(dataclasses.replace(corpus, full_text=Fixed(first, second), vectors=Fixed(second, first)))
    keyword = own.search(SearchQuery(text="x", weights=Weights(bm25=2.0, semantic=1.0)))
    meaning = own.search(SearchQuery(text="x", weights=Weights(bm25=1.0, semantic=2.0)))
    assert names(keyword) == ["open_socket", "parse_amount"]
    assert names(meaning) == ["parse_amount", "open_socket"]
    own.close()


# Scope and floor


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.KEYWORD, Mode.SEMANTIC])
@pytest.mark.parametrize(
    ("scope", "check"),
    [
        (Scope(paths=("shop/storage.py",)), lambda node: node.path == "shop/storage.py"),
        (Scope(paths=("shop/*.py",)), lambda node: node.path.startswith("shop/")),
        (Scope(exclude_paths=("shop",)), lambda node: not node.path.startswith("shop/")),
        (Scope(kinds=(NodeKind.METHOD,)), lambda node: node.kind is NodeKind.METHOD),
        (Scope(exclude_kinds=(NodeKind.FUNCTION,)), lambda node: node.kind is not NodeKind.FUNCTION),
        (Scope(packages=("shop.orders.OrderBook",)), lambda node: "OrderBook" in node.qualified_name),
        (Scope(languages=("python",)), lambda node: True),
    ],
)
def test_scope_holds_in_every_mode_and_the_page_is_still_full(
    service: ContextSearchService, mode: Mode, scope: Scope, check: object
) -> None:
    assert callable(check)
    response = service.search(SearchQuery(text="order customer price record amount", mode=mode, scope=scope))
    assert response.results
    assert all(check(one.node) for one in response.results)
    assert response.dropped_by_scope == 0, "pushed down: nothing is left to drop after the merge"


def test_a_language_that_is_not_there_gives_guidance_about_the_scope(service: ContextSearchService) -> None:
    response = service.search(SearchQuery(text="price", scope=Scope(languages=("go",))))
    assert response.results == ()
    assert response.guidance is not None
    assert response.guidance.outside_scope > 0
    assert not response.guidance.at_least, "all were counted"


def test_guidance_of_a_list_that_was_full_is_a_bound(tmp_path: Path) -> None:
    functions = "\n\n".join(f'def worker_{n:03d}():\n    """Common words here."""\n    return {n}' for n in range(150))
    project = Project(tmp_path / "work", tmp_path / "state")
    service = ContextSearchService(bundled_embedder())
    service.publish(project.index({"pool.py": functions}))
    query = SearchQuery(text="common words", mode=Mode.KEYWORD, scope=Scope(languages=("go",)))
    guidance = service.search(query).guidance
    assert guidance is not None
    assert (guidance.outside_scope, guidance.at_least) == (query.pool, True)
    service.close()
    project.close()


def test_scope_is_checked_once_more_after_the_merge(project: Project, corpus: Corpus) -> None:
    sloppy = Fixed(project.id_of("begin_transaction"), project.id_of("getHTTPResponse"))
    service = ContextSearchService(bundled_embedder())
    service.publish(dataclasses.replace(corpus, full_text=sloppy))
    response = service.search(SearchQuery(text="x", mode=Mode.KEYWORD, scope=Scope(paths=("shop/http.py",))))
    assert names(response) == ["getHTTPResponse"]
    assert response.dropped_by_scope == 1
    assert sloppy.asked[0][0].scope == Scope(paths=("shop/http.py",)), "and it was pushed down as well"
    service.close()


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.KEYWORD, Mode.SEMANTIC])
@pytest.mark.parametrize("floor", list(Freshness))
def test_the_freshness_floor_holds_in_every_mode(service: ContextSearchService, mode: Mode, floor: Freshness) -> None:
    response = service.search(SearchQuery(text="copy database stream record", mode=mode, freshness_floor=floor))
    assert all(one.freshness.freshness >= floor for one in response.results)
    assert ("old_backup" in names(response)) is (floor <= Freshness.STALE_WITH_RISK)


def test_the_page_is_full_although_most_matches_are_below_the_floor(tmp_path: Path) -> None:
    functions = "\n\n".join(f'def worker_{n:03d}():\n    """Common words here."""\n    return {n}' for n in range(150))
    ages = {f"worker_{n:03d}": Freshness.STALE for n in range(145)}
    project = Project(tmp_path / "work", tmp_path / "state", ages=ages)
    service = ContextSearchService(bundled_embedder())
    service.publish(project.index({"pool.py": functions}))
    for mode in (Mode.KEYWORD, Mode.SEMANTIC, Mode.HYBRID):
        scope = Scope(kinds=(NodeKind.FUNCTION,))
        query = SearchQuery(text="common words", mode=mode, freshness_floor=Freshness.FRESH, k=5, scope=scope)
        assert sorted(names(service.search(query))) == [f"worker_{n:03d}" for n in range(145, 150)]
    service.close()
    project.close()


def test_the_steps_of_full_text_see_as_many_nodes_however_few_are_asked_for(tmp_path: Path) -> None:
    functions = "\n\n".join(f"def refund_{n:03d}():\n    return {n}" for n in range(150))
    project = Project(tmp_path / "work", tmp_path / "state")
    corpus = project.index({"shop/parts.py": functions, "billing/refund.py": "def settle():\n    return 0\n"})
    last = Fixed(*[project.id_of(f"refund_{n:03d}") for n in range(150)], project.id_of("settle"))
    service = ContextSearchService(bundled_embedder())
    service.publish(dataclasses.replace(corpus, full_text=last))
    found = {k: service.search(SearchQuery(text="refund billing", mode=Mode.KEYWORD, k=k)) for k in (1, 20, 30)}
    assert {limit for _, limit in last.asked} == {100, 150}, "a page of one asks as much as one of twenty"
    assert [one.signals[0].count for one in found.values()] == [100, 100, 150], "the list is cut after the steps"
    service.close()
    project.close()


class Noted:
    """A reader that notes which thread asks it."""

    def __init__(self, reader: VectorReader) -> None:
        self._reader = reader
        self.generation = reader.generation
        self.model_id = reader.model_id
        self.dimension = reader.dimension
        self.count = reader.count
        self.threads: list[str] = []

    def search(self, vector: Floats, selection: Selection, limit: int) -> Sequence[Hit]:
        self.threads.append(threading.current_thread().name)
        return self._reader.search(vector, selection, limit)


def test_signals_run_beside_each_other_in_a_large_repository_and_answer_the_same(
    temporary: ContextSearchService, corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert corpus.vectors is not None
    noted = Noted(corpus.vectors)
    temporary.publish(dataclasses.replace(corpus, vectors=noted))
    query = SearchQuery(text="refund a payment", expansion=Expansion(ExpansionKind.CALLERS, 1))
    small = temporary.search(query)
    monkeypatch.setattr("ctxsearch.search.service._SMALL", 0)
    large = temporary.search(query)
    assert small.results == large.results
    assert small.results
    here, beside = noted.threads
    assert here == threading.current_thread().name
    assert beside.startswith("ctxsearch-signal")


@pytest.mark.parametrize(("nodes", "seen"), [(100, 100), (10_000, 125), (16_000, 200), (20_000, 250), (300_000, 250)])
def test_the_larger_a_repository_the_more_nodes_the_steps_see(corpus: Corpus, nodes: int, seen: int) -> None:
    columns = dataclasses.replace(corpus.nodes.columns, numbers=np.arange(nodes, dtype=np.uint64))
    members = (Member(dataclasses.replace(corpus, nodes=Columns(columns)), SELECT_ALL, 0, 0),)
    assert Run(SearchQuery(text="refund"), members, {}).depth == seen
    assert Run(SearchQuery(text="refund", k=100), members, {}).depth == 500, "never fewer than the list is long"
    beside = (*members, members[0]._replace(first_key=nodes))
    assert Run(SearchQuery(text="refund"), beside, {}).size == 2 * nodes


class Columns:
    """So many nodes that nobody looks at."""

    def __init__(self, columns: NodeColumns) -> None:
        self.columns = columns

    def node(self, _node_id: NodeId, /) -> CodeNode | None:
        return None


def test_the_floor_is_checked_once_more_after_the_merge(project: Project, corpus: Corpus) -> None:
    sloppy = Fixed(project.id_of("old_backup"), project.id_of("save_record"))
    service = ContextSearchService(bundled_embedder())
    service.publish(dataclasses.replace(corpus, full_text=sloppy))
    response = service.search(SearchQuery(text="x", mode=Mode.KEYWORD, freshness_floor=Freshness.STALE))
    assert names(response) == ["save_record"]
    assert response.dropped_by_floor == 1
    service.close()


def test_penalties_are_applied_and_shown(service: ContextSearchService) -> None:
    response = service.search(SearchQuery(text="database", mode=Mode.KEYWORD))
    stale = result(response, "old_backup")
    assert stale.freshness.penalty == PENALTY[Freshness.STALE_WITH_RISK]
    assert stale.score == pytest.approx(stale.signal(Signal.BM25).contribution * 0.5)
    assert (stale.freshness.commit_id, stale.freshness.commit_time, stale.freshness.source) == (
        "c0ffee",
        1_700_000_000,
        "git",
    )


def test_a_penalty_moves_a_result_below_fresher_ones(project: Project, corpus: Corpus) -> None:
    ids = [project.id_of(name) for name in ("old_backup", "save_record", "parse_amount")]
    service = ContextSearchService(bundled_embedder(), RankingPolicy(steps=()))
    service.publish(dataclasses.replace(corpus, full_text=Fixed(*ids)))
    query = SearchQuery(text="x", mode=Mode.KEYWORD, k=2)
    assert names(service.search(query)) == ["save_record", "parse_amount"]
    plain = ContextSearchService(bundled_embedder(), RankingPolicy(steps=()).without("freshness"))
    plain.publish(dataclasses.replace(corpus, full_text=Fixed(*ids)))
    assert names(plain.search(query)) == ["old_backup", "save_record"]
    service.close()
    plain.close()


# Expansion


def seeded(corpus: Corpus, *ids: NodeId) -> ContextSearchService:
    service = ContextSearchService(bundled_embedder())
    service.publish(dataclasses.replace(corpus, full_text=Fixed(*ids)))
    return service


def test_expansion_reports_distance_and_the_path_of_nodes(corpus: Corpus, project: Project) -> None:
    seed = project.id_of("open_socket")
    service = seeded(corpus, seed)
    query = SearchQuery(text="x", mode=Mode.KEYWORD, expansion=Expansion(ExpansionKind.CALLERS, 3))
    found = result(service.search(query), "place_order")
    assert found.distance_in_graph == 3
    assert found.reach is not None
    chain = ["open_socket", "getHTTPResponse", "lookup_price", "place_order"]
    assert found.reach.path == tuple(project.id_of(name) for name in chain)
    assert found.reach.confidence == pytest.approx(0.95)
    service.close()


def test_expansion_is_ordered_by_distance_then_seed_rank(corpus: Corpus, project: Project) -> None:
    service = seeded(corpus, project.id_of("parse_amount"), project.id_of("open_socket"))
    query = SearchQuery(text="x", mode=Mode.KEYWORD, expansion=Expansion(ExpansionKind.CALLERS, 2))
    response = service.search(query)
    ranks = {one.node.name: one.signal(Signal.GRAPH).rank for one in response.results if one.reach}
    first = [name for name in ranks if name in ("lookup_price", "test_parse_amount")]
    assert {ranks[name] for name in first} == {1, 2}, "callers of the best seed come first"
    assert ranks["getHTTPResponse"] == 3, "then those of the second, at the same distance"
    assert ranks["place_order"] == 4, "then what is farther away"
    service.close()


def test_a_seed_does_not_vote_for_itself(corpus: Corpus, project: Project) -> None:
    service = seeded(corpus, project.id_of("open_socket"))
    query = SearchQuery(text="x", mode=Mode.KEYWORD, expansion=Expansion(ExpansionKind.RELATED, 4))
    assert not result(service.search(query), "open_socket").matched(Signal.GRAPH)
    service.close()


def test_a_seed_that_another_seed_reaches_is_voted_for(corpus: Corpus, project: Project) -> None:
    service = seeded(corpus, project.id_of("open_socket"), project.id_of("getHTTPResponse"))
    query = SearchQuery(text="x", mode=Mode.KEYWORD, expansion=Expansion(ExpansionKind.DEPENDENCIES, 1))
    found = result(service.search(query), "open_socket")
    assert found.matched(Signal.GRAPH)
    assert found.distance_in_graph == 1
    service.close()


def test_only_the_ten_best_are_seeds(tmp_path: Path) -> None:
    functions = [f"def leaf_{n:02d}():\n    return {n}" for n in range(12)]
    functions += [f"def caller_{n:02d}():\n    return leaf_{n:02d}()" for n in range(12)]
    project = Project(tmp_path / "work", tmp_path / "state")
    corpus = project.index({"a.py": "\n\n\n".join(functions)})
    service = seeded(corpus, *(project.id_of(f"leaf_{n:02d}") for n in range(12)))
    query = SearchQuery(text="x", mode=Mode.KEYWORD, expansion=Expansion(ExpansionKind.CALLERS), explain=True, k=50)
    response = service.search(query)
    callers = {one.node.name for one in response.results if one.node.name.startswith("caller")}
    assert callers == {f"caller_{n:02d}" for n in range(10)}
    assert response.explanation is not None
    assert len(response.explanation.seeds) == 10
    service.close()
    project.close()


def test_expansion_obeys_scope_and_floor_and_counts_what_it_refused(corpus: Corpus, project: Project) -> None:
    service = seeded(corpus, project.id_of("save_record"))
    expansion = Expansion(ExpansionKind.CALLERS)
    scope = Scope(paths=("shop/storage.py",))
    scoped = service.search(SearchQuery(text="x", mode=Mode.KEYWORD, expansion=expansion, scope=scope))
    assert sorted(names(scoped)) == ["old_backup", "save_record"]
    assert scoped.dropped_by_scope == 2
    fresh = service.search(
        SearchQuery(text="x", mode=Mode.KEYWORD, expansion=expansion, freshness_floor=Freshness.STALE)
    )
    assert sorted(names(fresh)) == ["cancel_order", "place_order", "save_record"]
    assert fresh.dropped_by_floor == 1
    service.close()


def test_a_hub_neither_floods_nor_is_walked_through(tmp_path: Path) -> None:
    functions = ["def log():\n    return 0", "def target():\n    return log()"]
    functions += [f"def noisy_{n:03d}():\n    return log()" for n in range(250)]
    project = Project(tmp_path / "work", tmp_path / "state", embedder=None)
    corpus = project.index({"a.py": "\n\n\n".join(functions)})
    service = ContextSearchService()
    service.publish(dataclasses.replace(corpus, full_text=Fixed(project.id_of("target"))))
    query = SearchQuery(text="x", mode=Mode.KEYWORD, expansion=Expansion(ExpansionKind.RELATED, 2), k=200)
    assert sorted(names(service.search(query))) == ["log", "target"]
    service.close()
    project.close()


NOISY = 300  # more callers than one of several seeds may bring


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Project, Corpus]]:
    """A function that very many call in one folder, of which half are old, and a few in another."""
    callers = {"pk": NOISY, "qq": 20}
    ages = {f"pk_{n:03d}": Freshness.STALE for n in range(0, NOISY, 2)}
    path = tmp_path_factory.mktemp("hub")
    project = Project(path / "work", path / "state", embedder=None, ages=ages)
    sources = {"log/log.py": "def hub_log():\n    return 0\n\n\ndef quiet():\n    return 1"}
    for folder, count in callers.items():
        functions = [f"def {folder}_{n:03d}():\n    return hub_log()" for n in range(count)]
        sources[f"{folder}/code.py"] = "\n\n\n".join(functions)
    yield project, project.index(sources)
    project.close()


def graph_report(response: SearchResponse) -> SignalReport:
    return next(report for report in response.signals if report.signal is Signal.GRAPH)


def reached(response: SearchResponse) -> list[str]:
    return sorted(one.node.name for one in response.results if one.reach is not None)


@pytest.mark.parametrize("kind", list(ExpansionKind)[::2])
@pytest.mark.parametrize("seeds", [("hub_log", "quiet"), ("hub_log",)])
def test_a_hub_shows_all_callers_in_scope_however_many_there_are_outside(
    hub: tuple[Project, Corpus], kind: ExpansionKind, seeds: tuple[str, ...]
) -> None:
    project, corpus = hub
    service = seeded(corpus, *map(project.id_of, seeds))
    scope = Scope(paths=("qq/", "log/"), kinds=(NodeKind.FUNCTION,), languages=("Python",))
    response = service.search(SearchQuery(text="x", mode=Mode.KEYWORD, expansion=Expansion(kind), k=50, scope=scope))
    assert reached(response) == [f"qq_{n:03d}" for n in range(20)]
    assert graph_report(response).truncated is False
    assert response.dropped_by_scope > 0
    service.close()


@pytest.mark.parametrize(
    "scope",
    [
        Scope(packages=("qq", "log")),
        Scope(exclude_paths=("pk/",), exclude_kinds=(NodeKind.MODULE,)),
        Scope(exclude_packages=("pk.code",), exclude_languages=("go",)),
    ],
)
def test_a_hub_shows_all_callers_that_any_condition_of_a_scope_lets_through(
    hub: tuple[Project, Corpus], scope: Scope
) -> None:
    project, corpus = hub
    service = seeded(corpus, project.id_of("hub_log"), project.id_of("quiet"))
    query = SearchQuery(text="x", mode=Mode.KEYWORD, expansion=Expansion(ExpansionKind.CALLERS), k=50, scope=scope)
    assert reached(service.search(query)) == [f"qq_{n:03d}" for n in range(20)]
    assert reached(service.search(query)) == [f"qq_{n:03d}" for n in range(20)], "what is remembered says the same"
    nothing = dataclasses.replace(query, scope=Scope(languages=("rust",)))
    assert reached(service.search(nothing)) == []
    service.close()


def test_a_hub_shows_all_callers_above_the_floor_however_many_there_are_below(hub: tuple[Project, Corpus]) -> None:
    project, corpus = hub
    service = seeded(corpus, project.id_of("hub_log"), project.id_of("quiet"))
    query = SearchQuery(
        text="x",
        mode=Mode.KEYWORD,
        expansion=Expansion(ExpansionKind.CALLERS),
        freshness_floor=Freshness.ACCEPTABLE,
        k=200,
    )
    response = service.search(query)
    young = [f"pk_{n:03d}" for n in range(1, NOISY, 2)] + [f"qq_{n:03d}" for n in range(20)]
    assert reached(response) == young
    assert graph_report(response).truncated is False
    assert response.dropped_by_scope == 0
    assert response.dropped_by_floor > 0
    service.close()


def test_that_a_hub_was_cut_is_said_and_degrades_nothing(hub: tuple[Project, Corpus]) -> None:
    project, corpus = hub
    service = seeded(corpus, project.id_of("hub_log"), project.id_of("quiet"))
    query = SearchQuery(text="x", mode=Mode.KEYWORD, expansion=Expansion(ExpansionKind.CALLERS), k=200)
    response = service.search(query)
    assert len(reached(response)) < NOISY
    assert graph_report(response).truncated
    assert (response.degraded, response.warnings) == (False, ())
    alone = seeded(corpus, project.id_of("hub_log"))
    few = dataclasses.replace(query, k=20)
    full = alone.search(few)
    assert graph_report(full).count == few.pool
    assert not graph_report(full).truncated, "it is as long as lists may be"
    service.close()
    alone.close()


def test_without_expansion_the_graph_is_silent(service: ContextSearchService) -> None:
    response = service.search(SearchQuery(text="price"))
    assert Signal.GRAPH not in {report.signal for report in response.signals}
    assert all(one.distance_in_graph is None for one in response.results)


# Fusion and results


def test_a_node_that_both_signals_find_is_hybrid_and_shows_both(service: ContextSearchService) -> None:
    response = service.search(SearchQuery(text="start transaction"))
    best = response.results[0]
    assert best.node.name == "begin_transaction"
    assert best.label is Label.HYBRID
    for signal in (Signal.BM25, Signal.SEMANTIC):
        score = best.signal(signal)
        assert score.rank >= 1
        assert score.rank_score == 61 / (60 + score.rank)
        assert score.contribution > 0
    absent = best.signal(Signal.FUZZY)
    assert (absent.rank, absent.rank_score, absent.contribution) == (0, 0.0, 0.0)


def test_the_score_is_the_formula_of_the_contract(corpus: Corpus) -> None:
    service = ContextSearchService(bundled_embedder(), RankingPolicy().without("file_coherence"))
    service.publish(corpus)
    response = service.search(SearchQuery(text="order price record", expansion=Expansion(ExpansionKind.RELATED)))
    weights = {Signal.BM25: 1.0, Signal.SEMANTIC: 0.8, Signal.GRAPH: 0.6}
    for one in response.results:
        votes = math.fsum(
            weight / (60 + one.signal(signal).rank) for signal, weight in weights.items() if one.matched(signal)
        )
        assert one.score == pytest.approx(votes / (2.4 / 61) * one.freshness.penalty)
    scores = [one.score for one in response.results]
    assert scores == sorted(scores, reverse=True)


def test_with_one_signal_its_order_comes_back(corpus: Corpus, project: Project) -> None:
    wanted = ["parse_amount", "getHTTPResponse", "save_record", "lookup_price"]
    service = seeded(corpus, *(project.id_of(name) for name in wanted))
    assert names(service.search(SearchQuery(text="x", mode=Mode.KEYWORD))) == wanted
    service.close()


def test_results_say_where_they_are(service: ContextSearchService) -> None:
    best = service.search(SearchQuery(text="parse_amount", mode=Mode.KEYWORD)).results[0]
    assert (best.repository, best.node.path, best.node.language) == ("app", "shop/orders.py", "python")
    assert (best.node.start_line, best.node.end_line) == (23, 26)
    assert best.node.qualified_name == "shop.orders.parse_amount"
    assert best.node.signature == "def parse_amount(page):"


def test_an_exact_symbol_is_first_and_beats_its_mentions_and_its_test(service: ContextSearchService) -> None:
    for text in ("parse_amount", "parseAmount", "parse amount", "orders.parse_amount"):
        assert names(service.search(SearchQuery(text=text)))[0] == "parse_amount", text


@pytest.mark.parametrize("kind", list(ExpansionKind))
@pytest.mark.parametrize("name", ["lookup_price", "getHTTPResponse", "open_socket"])
def test_an_exact_symbol_is_first_whatever_is_asked_for_around_it(
    service: ContextSearchService, kind: ExpansionKind, name: str
) -> None:
    for mode in (Mode.HYBRID, Mode.KEYWORD):
        response = service.search(SearchQuery(text=name, mode=mode, expansion=Expansion(kind, 2)))
        assert names(response)[0] == name
        assert any(one.reach is not None for one in response.results)


def test_spellings_of_an_identifier_find_each_other(service: ContextSearchService) -> None:
    for text in ("getHTTPResponse", "get_http_response", "get http response", "GetHttpResponse"):
        assert names(service.search(SearchQuery(text=text, mode=Mode.KEYWORD)))[0] == "getHTTPResponse", text


def test_tests_rank_below_what_they_test_unless_asked_for(service: ContextSearchService) -> None:
    text = "turn text such as into cents"
    for mode in (Mode.KEYWORD, Mode.SEMANTIC, Mode.HYBRID):
        plain = names(service.search(SearchQuery(text=text, mode=mode)))
        assert plain.index("parse_amount") < plain.index("test_parse_amount"), mode
    scoped = SearchQuery(text=text, scope=Scope(paths=("tests",)), mode=Mode.KEYWORD)
    assert names(service.search(scoped))[0] == "test_parse_amount"
    assert names(service.search(SearchQuery(text="test parse amount", mode=Mode.KEYWORD)))[0] == "test_parse_amount"


def test_the_same_request_gives_the_same_answer(service: ContextSearchService, corpus: Corpus) -> None:
    other = ContextSearchService(bundled_embedder())
    other.publish(corpus)
    query = SearchQuery(text="order price record", expansion=Expansion(ExpansionKind.RELATED, 2))
    first, second = service.search(query).results, other.search(query).results
    assert first == second
    assert repr(first) == repr(second)
    other.close()


def test_explain_changes_nothing_and_tells_everything(service: ContextSearchService) -> None:
    query = SearchQuery(
        text="price",
        expansion=Expansion(ExpansionKind.CALLERS),
        scope=Scope(paths=("shop",)),
        freshness_floor=Freshness.STALE,
    )
    plain = service.search(query)
    told = service.search(dataclasses.replace(query, explain=True))
    assert plain.results == tuple(msgspec.structs.replace(one, steps={}) for one in told.results)
    assert plain.explanation is None
    explanation = told.explanation
    assert explanation is not None
    assert explanation.weights == query.signal_weights()
    assert explanation.pool == 100
    assert explanation.steps == (
        *("definition", "path_match", "file_prior", "directory_coherence", "spread"),
        *("semantic_demotion", "semantic_coherence", "fuzzy_demotion"),
        *("own_name", "title_vector", "past_demoted", "exact_on_top", "file_coherence", "freshness"),
    )
    assert explanation.seeds
    assert told.dropped_by_scope > 0
    assert explanation.fused >= len(told.results)
    assert set(explanation.milliseconds) == {"signals", "expansion", "fusion", "content"}


def test_contributions_and_steps_add_up_to_the_score(corpus: Corpus) -> None:
    assert isinstance(corpus.nodes, CodeGraph)
    nodes = sorted(corpus.nodes.nodes(), key=lambda node: node.id)
    old = {node.id: Freshness.STALE for node in nodes[::2]} | {
        node.id: Freshness.STALE_WITH_RISK for node in nodes if node.name == "lookup_price"
    }
    service = ContextSearchService(bundled_embedder())
    service.publish(dataclasses.replace(corpus, freshness=Ages(old)))
    seen: set[str] = set()
    for text in ("lookup_price", "price of an order", "retry http"):
        for expansion in (None, Expansion(ExpansionKind.CALLERS), Expansion(ExpansionKind.RELATED, 2)):
            response = service.search(SearchQuery(text=text, expansion=expansion, explain=True))
            for one in response.results:
                contributions = sum(one.signal(signal).contribution for signal in Signal)
                before = contributions + sum(one.steps.values())
                assert before * one.freshness.penalty == pytest.approx(one.score, abs=1e-9), one
                seen |= set(one.steps)
    assert seen == {"file_coherence", "exact_on_top"}
    service.close()


def test_what_min_score_left_out_is_counted_beside_what_it_kept(service: ContextSearchService) -> None:
    everything = service.search(SearchQuery(text="price", k=200))
    floor = everything.results[2].score
    response = service.search(SearchQuery(text="price", k=200, min_score=floor))
    assert [one.node.id for one in response.results] == [
        one.node.id for one in everything.results if one.score >= floor
    ]
    assert response.dropped_by_score == len(everything.results) - len(response.results)


def test_weights_may_be_as_large_or_small_as_numbers_are(service: ContextSearchService) -> None:
    plain = service.search(SearchQuery(text="price", weights=Weights(bm25=1.0, semantic=0.5)))
    for scale in (1e308, 1e-300):
        weights = Weights(bm25=scale, semantic=scale / 2)
        response = service.search(SearchQuery(text="price", weights=weights))
        assert [one.node.id for one in response.results] == [one.node.id for one in plain.results]
    assert service.search(
        SearchQuery(text="price", weights=Weights(bm25=1e308, graph=1e308), expansion=Expansion(ExpansionKind.RELATED))
    ).results


def test_the_vector_of_a_question_leaves_out_the_name_of_the_repository(corpus: Corpus) -> None:
    question = "how does price_list start a unit of work"

    def found(text: str, policy: RankingPolicy | None = None) -> list[tuple[str, float]]:
        service = ContextSearchService(bundled_embedder(), policy)
        service.publish(dataclasses.replace(corpus, repository="price-list"))
        answer = service.search(SearchQuery(text=text, mode=Mode.SEMANTIC))
        service.close()
        return [(one.node.name, one.votes[Signal.SEMANTIC].raw) for one in answer.results]

    without = found("how does start a unit of work")
    assert found(question) == without
    assert found(question, RankingPolicy().without("own_name")) != without
    assert found("price_list orders") == found("price_list orders", RankingPolicy().without("own_name"))


def test_the_response_reports_signals_counts_times_and_the_index(corpus: Corpus) -> None:
    service = ContextSearchService(bundled_embedder())
    service.publish(dataclasses.replace(corpus, state=IndexState("abc123", 2)))
    response = service.search(SearchQuery(text="price"))
    assert [(report.signal, report.ran) for report in response.signals] == [
        (Signal.BM25, True),
        (Signal.SEMANTIC, True),
    ]
    assert all(report.count > 0 and report.milliseconds > 0 for report in response.signals)
    (indexed,) = response.indexed
    assert (indexed.repository, indexed.generation, indexed.commit) == ("app", corpus.generation, "abc123")
    assert indexed.trails
    assert indexed.pending_files == 2
    assert response.generation == corpus.generation
    assert not response.degraded
    assert response.milliseconds > 0
    service.close()


# Content


def test_the_snippet_shows_the_best_lines_not_the_first(tmp_path: Path) -> None:
    filler = "\n".join(f"    step_{n} = {n}" for n in range(40))
    source = f"def long_one():\n{filler}\n    zebra_crossing = paint(stripes)\n{filler}"
    project = Project(tmp_path / "work", tmp_path / "state")
    service = ContextSearchService(bundled_embedder())
    service.publish(project.index({"a.py": source}))
    content = (
        service.search(SearchQuery(text="zebra stripes", scope=Scope(kinds=(NodeKind.FUNCTION,)))).results[0].content
    )
    assert "zebra_crossing = paint(stripes)" in content.text
    assert "def long_one" not in content.text
    lines = source.split("\n")
    assert content.text.split("\n") == lines[content.start_line - 1 : content.end_line]
    marked = {lines[mark.line - 1][mark.start : mark.end] for mark in content.highlights}
    assert marked == {"zebra", "stripes"}
    service.close()
    project.close()


def test_content_none_snippet_and_full(service: ContextSearchService) -> None:
    def best(content: Content) -> SearchResult:
        return service.search(SearchQuery(text="OrderBook", content=content, mode=Mode.KEYWORD)).results[0]

    assert best(Content.NONE).content.text == ""
    full, snippet = best(Content.FULL).content, best(Content.SNIPPET).content
    assert full.text.startswith("class OrderBook:")
    assert full.text.endswith("return save_record(customer, None)")
    assert (full.start_line, full.end_line) == (4, 14)
    assert len(snippet.text) < len(full.text)
    assert not full.trimmed


def test_max_tokens_feeds_the_best_first_and_says_what_it_trimmed(service: ContextSearchService) -> None:
    query = SearchQuery(text="order price record", content=Content.FULL, max_tokens=60)
    response = service.search(query)
    assert response.results[0].content.text
    assert response.results[-1].content.text == ""
    assert response.results[-1].content.trimmed
    trimmed = [one for one in response.results if one.content.trimmed]
    assert response.trimmed_results == len(trimmed) > 0
    free = service.search(dataclasses.replace(query, max_tokens=None))
    assert names(free) == names(response), "the budget trims text, not results"
    assert free.trimmed_results == 0


# Degradation and guidance


def test_a_failing_signal_degrades_in_the_open(corpus: Corpus) -> None:
    service = ContextSearchService(bundled_embedder())
    service.publish(dataclasses.replace(corpus, vectors=Broken()))
    response = service.search(SearchQuery(text="price"))
    assert response.results
    assert response.degraded
    assert response.warnings == ("semantic did not answer: OSError: disk on fire",)
    report = next(one for one in response.signals if one.signal is Signal.SEMANTIC)
    assert not report.ran
    assert "disk on fire" in report.error
    assert response.results[0].score > 0.9, "a signal that did not run is not in the norm"
    service.close()


def test_a_glob_that_the_engine_cannot_take_is_the_questions_fault(temporary: ContextSearchService) -> None:
    with pytest.raises(InvalidArgument, match="fewer wildcards"):
        temporary.search(SearchQuery(text="price", scope=Scope(paths=("*x" * 30,))))


def test_a_failing_graph_degrades_too(corpus: Corpus) -> None:
    service = ContextSearchService(bundled_embedder())
    service.publish(dataclasses.replace(corpus, graph=None))
    response = service.search(SearchQuery(text="price", expansion=Expansion(ExpansionKind.CALLERS)))
    assert response.results
    assert "graph did not answer: the calls of app are not resolved yet" in response.warnings
    service.close()


@pytest.mark.parametrize(
    ("lacking", "signal", "reason"),
    [
        ({"vectors": None}, Signal.SEMANTIC, "the vectors of other are not there yet"),
        ({"vectors": Broken()}, Signal.SEMANTIC, "OSError: disk on fire"),
        ({"full_text": None}, Signal.BM25, "other has no full-text index"),
        ({"full_text": Broken()}, Signal.BM25, "OSError: disk on fire"),
        ({"graph": None}, Signal.GRAPH, "its calls are not resolved yet"),
    ],
)
def test_what_one_repository_lacks_is_missing_there_alone(
    corpus: Corpus, lacking: dict[str, object], signal: Signal, reason: str
) -> None:
    service = ContextSearchService(bundled_embedder())
    service.publish(corpus)
    service.publish(dataclasses.replace(corpus, repository="other", **lacking))  # type: ignore[arg-type]
    response = service.search(SearchQuery(text="price of an item", expansion=Expansion(ExpansionKind.CALLERS)))
    assert response.warnings == (f"{signal} left out other: {reason}",)
    assert response.degraded
    assert all(report.ran for report in response.signals)
    found = {one.repository for one in response.results if one.matched(signal)}
    assert found == {"app"}, "the other one answers by what it has"
    assert {one.repository for one in response.results} == {"app", "other"}
    service.close()


def test_all_signals_failing_is_unavailable_with_the_reasons(corpus: Corpus) -> None:
    service = ContextSearchService(bundled_embedder())
    service.publish(dataclasses.replace(corpus, vectors=Broken(), full_text=Broken()))
    with pytest.raises(Unavailable, match=r"bm25 did not answer.*semantic did not answer"):
        service.search(SearchQuery(text="price"))
    service.close()


@pytest.mark.parametrize("vectors", [None, "embedder"])
def test_semantic_mode_without_a_backend_is_a_failed_precondition(corpus: Corpus, vectors: str | None) -> None:
    service = ContextSearchService(None if vectors else bundled_embedder())
    service.publish(corpus if vectors else dataclasses.replace(corpus, vectors=None))
    with pytest.raises(FailedPrecondition):
        service.search(SearchQuery(text="price", mode=Mode.SEMANTIC))
    hybrid = service.search(SearchQuery(text="price"))
    assert hybrid.results
    assert hybrid.degraded
    service.close()


class OtherModel:
    """An embedder of the same dimension and another id."""

    model_id = "other"
    dimension = 256
    is_quick = True

    def embed_documents(self, passages: Sequence[Passage]) -> Floats:
        return np.ones((len(passages), 256), dtype=np.float32)

    def embed_query(self, text: str) -> Floats:
        return np.ones(256, dtype=np.float32)


def test_vectors_of_another_model_are_never_mixed_in(corpus: Corpus) -> None:
    service = ContextSearchService(OtherModel())
    service.publish(corpus)
    response = service.search(SearchQuery(text="price"))
    assert response.degraded
    assert "were made by static-256" in response.warnings[0]
    with pytest.raises(FailedPrecondition, match="index again"):
        service.search(SearchQuery(text="price", mode=Mode.SEMANTIC))
    service.close()


def test_an_empty_answer_says_what_was_searched_and_suggests_names(service: ContextSearchService) -> None:
    response = service.search(SearchQuery(text="lokup_price", mode=Mode.KEYWORD, scope=Scope(paths=("shop/http.py",))))
    assert response.results == ()
    guidance = response.guidance
    assert guidance is not None
    assert "lookup_price" in response.near_names
    assert guidance.searched.startswith("app (")
    found = service.search(SearchQuery(text="price"))
    assert found.guidance is None
    assert found.near_names == ()


def test_no_name_is_suggested_for_a_word_that_is_there_and_out_of_scope(service: ContextSearchService) -> None:
    go = Scope(languages=("go",))
    for mode in (Mode.KEYWORD, Mode.HYBRID):
        for text in ("lookup_price", "price", "lookup_price price"):
            assert service.search(SearchQuery(text=text, mode=mode, scope=go)).near_names == ()
        both = service.search(SearchQuery(text="price lokup_price", mode=mode, scope=go))
        assert "lookup_price" in both.near_names


def test_names_are_suggested_where_words_found_nothing_whatever_meaning_found(service: ContextSearchService) -> None:
    response = service.search(SearchQuery(text="lokupprice"))
    assert response.results, "by meaning"
    assert response.guidance is None
    assert "lookup_price" in response.near_names


def test_names_are_suggested_where_a_symbol_of_several_words_was_not_found(service: ContextSearchService) -> None:
    response = service.search(SearchQuery(text="lokup_price"))
    assert result(response, "lookup_price").matched(Signal.BM25), "price is a word like any other"
    assert response.near_names[0] == "lookup_price"
    for text in ("lookup_price", "price of a lookup", "records"):
        assert service.search(SearchQuery(text=text)).near_names == ()
    assert service.search(SearchQuery(text="lokup_price", mode=Mode.SEMANTIC)).near_names == (), (
        "nobody asked full text"
    )


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.KEYWORD])
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("shop/orders.py:8", "place_order"),
        ("orders.py:5", "OrderBook"),
        ('File "shop/orders.py", line 14, in cancel_order', "cancel_order"),
        ("shop/orders.py", "orders"),
        ("shop/orders.py:9999", "orders"),
        ("class OrderBook", "OrderBook"),
        ("def lookup_price(item):", "lookup_price"),
    ],
)
def test_the_place_or_definition_that_a_query_spells_is_first(
    service: ContextSearchService, mode: Mode, text: str, name: str
) -> None:
    assert names(service.search(SearchQuery(text=text, mode=mode)))[0] == name


def test_a_line_outside_of_scope_and_floor_brings_nothing_in(service: ContextSearchService) -> None:
    methods = Scope(kinds=(NodeKind.FUNCTION,))
    assert "place_order" not in names(service.search(SearchQuery(text="shop/orders.py:8", scope=methods)))
    fresh = SearchQuery(text="shop/storage.py:18", freshness_floor=Freshness.FRESH)
    assert "old_backup" not in names(service.search(fresh))


def test_guidance_counts_what_the_floor_and_min_score_left_out(service: ContextSearchService) -> None:
    floor = service.search(
        SearchQuery(
            text="tape", mode=Mode.KEYWORD, freshness_floor=Freshness.FRESH, scope=Scope(kinds=(NodeKind.FUNCTION,))
        )
    )
    assert floor.guidance is not None
    assert floor.guidance.below_floor == 1
    score = service.search(
        SearchQuery(text="tape", mode=Mode.KEYWORD, min_score=1.0, scope=Scope(paths=("shop",)), k=5)
    )
    if not score.results:
        assert score.guidance is not None
        assert score.guidance.below_min_score > 0


def test_a_text_without_any_word_finds_nothing_and_raises_nothing(service: ContextSearchService) -> None:
    for text in ("()", "::", "-->", "\ud800", "🦀"):
        response = service.search(SearchQuery(text=text))
        assert response.results == ()
        assert response.guidance is not None


@pytest.mark.parametrize(
    "text", ["foo(bar:", 'a AND "b', "x:[1 TO", "^~*?", "+-!(){}[]", "a\0b", "é" * 3000, "DROP'; --", "/.*/"]
)
def test_no_text_breaks_a_search(service: ContextSearchService, text: str) -> None:
    for mode in Mode:
        assert not service.search(SearchQuery(text=text, mode=mode)).degraded


# Verify on read


def test_an_id_that_the_graph_does_not_know_is_skipped_counted_and_repaired(corpus: Corpus, project: Project) -> None:
    ghost = NodeId("00000000deadbeef")
    repaired: list[Sequence[NodeId]] = []
    done = threading.Event()

    def repair(ids: Sequence[NodeId]) -> None:
        repaired.append(ids)
        done.set()

    service = ContextSearchService(bundled_embedder())
    lone = Fixed(ghost, project.id_of("parse_amount"))
    service.publish(dataclasses.replace(corpus, full_text=lone, repair=repair))
    response = service.search(SearchQuery(text="x", mode=Mode.KEYWORD))
    assert names(response) == ["parse_amount"]
    assert response.unknown_ids == 1
    assert done.wait(10)
    assert repaired == [[ghost]]
    service.close()


def test_files_that_changed_or_vanished_are_answered_and_marked(tmp_path: Path) -> None:
    project = Project(tmp_path / "work", tmp_path / "state")
    corpus = project.index(
        {name: f"def {name[0]}_thing():\n    return 1\n" for name in ("a.py", "b.py", "c.py", "d.py")}
    )
    (tmp_path / "work/b.py").write_text("def b_thing():\n    return 22\n")
    (tmp_path / "work/c.py").unlink()
    touched = tmp_path / "work/d.py"
    touched.write_text(touched.read_text())
    service = ContextSearchService(bundled_embedder())
    service.publish(corpus)
    found = service.search(SearchQuery(text="thing", scope=Scope(kinds=(NodeKind.FUNCTION,))))
    states = {one.node.path: one.on_disk for one in found.results}
    assert states == {
        "a.py": OnDisk.UNCHANGED,
        "b.py": OnDisk.CHANGED,
        "c.py": OnDisk.VANISHED,
        "d.py": OnDisk.UNCHANGED,
    }
    assert all("return 1" in one.content.text for one in found.results), "the text is what was indexed"
    service.close()
    project.close()


def test_texts_that_cannot_be_read_cost_the_text_not_the_answer(corpus: Corpus) -> None:
    class Unreadable:
        def contents(self, nodes: Sequence[CodeNode], /, *, bodies: bool = True) -> list[NodeContent]:
            raise OSError("gone")

    service = ContextSearchService(bundled_embedder())
    service.publish(dataclasses.replace(corpus, texts=Unreadable()))
    response = service.search(SearchQuery(text="price"))
    assert response.results
    assert response.results[0].content.text == ""
    assert response.warnings == ("no text from app: OSError: gone",)
    service.close()


# Several repositories, generations


def test_several_repositories_are_searched_as_one_and_can_be_chosen(tmp_path: Path, corpus: Corpus) -> None:
    other = Project(tmp_path / "work", tmp_path / "state", name="billing")
    service = ContextSearchService(bundled_embedder())
    service.publish(corpus)
    service.publish(other.index({"money.py": "def parse_amount(text):\n    return compute_price(text)\n"}))
    assert service.repositories() == ("app", "billing")
    walked = service.search(SearchQuery(text="parse_amount", expansion=Expansion(ExpansionKind.CALLERS)))
    assert result(walked, "lookup_price").distance_in_graph == 1
    both = service.search(SearchQuery(text="parse_amount", mode=Mode.KEYWORD))
    assert {one.repository for one in both.results[:2]} == {"app", "billing"}
    one = service.search(SearchQuery(text="parse_amount", scope=Scope(repositories=("billing",))))
    assert {found.repository for found in one.results} == {"billing"}
    rest = service.search(SearchQuery(text="parse_amount", scope=Scope(exclude_repositories=("billing",))))
    assert {found.repository for found in rest.results} == {"app"}
    none = service.search(SearchQuery(text="price", scope=Scope(exclude_repositories=("billing", "app"))))
    assert none.guidance is not None
    assert none.guidance.searched == "no repository is in scope"
    service.withdraw("billing")
    assert service.repositories() == ("app",)
    service.close()
    other.close()


def test_every_node_of_several_repositories_pays_for_its_own_age(tmp_path: Path, corpus: Corpus) -> None:
    ages = {"parse_amount": Freshness.STALE_WITH_RISK}
    other = Project(tmp_path / "work", tmp_path / "state", name="billing", ages=ages)
    service = ContextSearchService(bundled_embedder())
    service.publish(corpus)
    service.publish(other.index({"money.py": "def parse_amount(text):\n    return text\n"}))
    answer = service.search(SearchQuery(text="parse_amount", mode=Mode.KEYWORD))
    amounts = {one.repository: one for one in answer.results if one.node.name == "parse_amount"}
    assert {name: one.freshness.penalty for name, one in amounts.items()} == {"app": 1.0, "billing": 0.5}
    for one in amounts.values():
        assert one.score == pytest.approx(one.votes[Signal.BM25].contribution * one.freshness.penalty)
    service.close()
    other.close()


def test_min_generation_waits_for_the_publication(temporary: ContextSearchService, corpus: Corpus) -> None:
    newer = dataclasses.replace(corpus, generation=corpus.generation + 1)
    answers: list[SearchResponse] = []
    query = SearchQuery(text="price", min_generation=newer.generation, max_wait=30.0)
    thread = threading.Thread(target=lambda: answers.append(temporary.search(query)))
    thread.start()
    temporary.publish(newer)
    thread.join(30)
    assert answers[0].generation == newer.generation


def test_a_generation_that_does_not_come_in_time_is_unavailable(temporary: ContextSearchService) -> None:
    with pytest.raises(Unavailable, match="generation 99 did not come within 0 s"):
        temporary.search(SearchQuery(text="price", min_generation=99))


def test_a_search_keeps_its_corpus_while_a_newer_one_is_published(tmp_path: Path) -> None:
    project = Project(tmp_path / "work", tmp_path / "state")
    first = project.index({"a.py": "def alpha_thing():\n    return 1\n"})
    second = project.index({"a.py": "def beta_thing():\n    return 1\n"})
    scope = Scope(kinds=(NodeKind.FUNCTION,))
    for corpus, expected in ((first, "alpha_thing"), (second, "beta_thing")):
        service = ContextSearchService(bundled_embedder())
        service.publish(corpus)
        for mode in (Mode.KEYWORD, Mode.SEMANTIC, Mode.HYBRID):
            assert names(service.search(SearchQuery(text="thing", mode=mode, scope=scope))) == [expected]
        service.close()
    project.close()
