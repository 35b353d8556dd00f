"""One contract for every full-text provider: tantivy, and a small fake that shows the port is enough to write one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from search_samples import UNKNOWN, by_path, columns, document

from ctxsearch.graph.columns import NodeColumns
from ctxsearch.graph.model import NodeDocument, NodeId, NodeKind, module_node_id
from ctxsearch.search.fuzzy import allowed_edits, edit_distance
from ctxsearch.search.identifiers import whole_form, words
from ctxsearch.search.lexical.documents import _symbols
from ctxsearch.search.lexical.files import _lightest
from ctxsearch.search.lexical.index import TantivyIndex
from ctxsearch.search.lexical.queries import fetch
from ctxsearch.search.matches import LexicalPolicy
from ctxsearch.search.ports import SELECT_ALL, Denied, FullTextIndex, FullTextReader, Hit, Selection
from ctxsearch.search.scope import Scope
from ctxsearch.search.steps import EXACT_SCORE


class PlainReader:
    """Counts words in a dict."""

    def __init__(self, generation: int, documents: dict[str, tuple[NodeDocument, ...]]) -> None:
        self.generation = generation
        self._documents = [one for own in documents.values() for one in own]

    def search(self, text: str, selection: Selection, limit: int, nodes: NodeColumns) -> list[Hit]:
        wanted = set(words(text))
        scored = []
        for one in self._allowed(selection):
            found = words(f"{one.node.name} {one.doc} {one.body}")
            score = sum(found.count(word) for word in wanted) + 10 * (whole_form(text) == whole_form(one.node.name))
            scored.append(Hit(one.node.id, float(score)))
        return _best(scored, limit)

    def fuzzy(self, text: str, selection: Selection, limit: int) -> list[Hit]:
        form = whole_form(text)
        scored = []
        for one in self._allowed(selection):
            edits = edit_distance(form, whole_form(one.node.name), allowed_edits(form))
            scored.append(Hit(one.node.id, 0.0 if edits is None else 1.0 / (1 + edits)))
        return _best(scored, limit)

    def has_name(self, name: str) -> bool:
        return any(whole_form(one.node.name) == whole_form(name) for one in self._documents)

    def near_names(self, text: str, limit: int) -> list[str]:
        names = {one.node.id: one.node.name for one in self._documents}
        return sorted({names[hit.id] for hit in self.fuzzy(text, SELECT_ALL, limit)})

    def count(self) -> int:
        return len(self._documents)

    def _allowed(self, selection: Selection) -> Iterable[NodeDocument]:
        return (
            one for one in self._documents if selection.scope.accepts(one.node) and one.node.id not in selection.denied
        )


def _best(hits: list[Hit], limit: int) -> list[Hit]:
    return sorted((hit for hit in hits if hit.score > 0), key=lambda hit: (-hit.score, hit.id))[:limit]


class PlainIndex:
    """Keeps documents by path in memory."""

    def __init__(self) -> None:
        self._documents: dict[str, tuple[NodeDocument, ...]] = {}
        self._generation = 0

    @property
    def generation(self) -> int:
        return self._generation

    @property
    def worn(self) -> float:
        return 0.0

    def reader(self) -> FullTextReader:
        return PlainReader(self._generation, dict(self._documents))

    def apply(self, generation: int, replaced: Mapping[str, Sequence[NodeDocument]], removed: Sequence[str]) -> None:
        kept = {path: own for path, own in self._documents.items() if path not in removed}
        self._documents = {**kept, **{path: tuple(own) for path, own in replaced.items()}}
        self._generation = generation

    def rebuild(self, generation: int, documents: Iterable[tuple[str, Sequence[NodeDocument]]]) -> None:
        self._documents = {path: tuple(own) for path, own in documents}
        self._generation = generation

    def discard(self, ids: Sequence[NodeId]) -> None:
        self._documents = {
            path: tuple(one for one in own if one.node.id not in ids) for path, own in self._documents.items()
        }

    def close(self) -> None:
        pass


Make = Callable[[], FullTextIndex]


@pytest.fixture(params=["tantivy", "plain"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> FullTextIndex:
    return TantivyIndex(tmp_path) if request.param == "tantivy" else PlainIndex()


def found(reader: FullTextReader, text: str, selection: Selection = SELECT_ALL, limit: int = 50) -> set[NodeId]:
    return {hit.id for hit in reader.search(text, selection, limit, UNKNOWN)}


APPLE = document("apple_pie", "def apple_pie():\n    return bake(apple)", path="food/pie.py")
PEAR = document("pear_tart", "def pear_tart():\n    return bake(pear)", path="food/tart.py")
LOG = document("write_log", "def write_log():\n    return bake", path="core/log.go", language="go")


def file_document(path: str, body: str, *, qualified: str, language: str = "python") -> NodeDocument:
    """A file's own node, known by its path."""
    made = document(path, body, path=path, kind=NodeKind.MODULE, qualified=qualified, language=language)
    return replace(made, node=replace(made.node, id=module_node_id(path)))


def test_it_satisfies_the_port(index: FullTextIndex) -> None:
    assert isinstance(index, FullTextIndex)
    assert isinstance(index.reader(), FullTextReader)


def test_an_empty_index_is_at_generation_zero_and_finds_nothing(index: FullTextIndex) -> None:
    reader = index.reader()
    assert (index.generation, reader.generation, reader.count()) == (0, 0, 0)
    assert reader.search("apple", SELECT_ALL, 10, UNKNOWN) == []
    assert reader.fuzzy("apple", SELECT_ALL, 10) == []
    assert reader.near_names("apple", 5) == []


def test_what_was_applied_is_found_and_the_generation_is_carried(index: FullTextIndex) -> None:
    index.apply(7, by_path(APPLE, PEAR), [])
    reader = index.reader()
    assert (index.generation, reader.generation, reader.count()) == (7, 7, 2)
    assert found(reader, "apple") == {APPLE.node.id}
    assert found(reader, "bake") == {APPLE.node.id, PEAR.node.id}


def test_replacing_a_path_replaces_all_of_it(index: FullTextIndex) -> None:
    index.apply(1, by_path(APPLE, PEAR), [])
    cherry = document("cherry_pie", path="food/pie.py")
    index.apply(2, by_path(cherry), [])
    reader = index.reader()
    assert found(reader, "apple") == set()
    assert found(reader, "cherry") == {cherry.node.id}
    assert reader.count() == 2


def test_removing_a_path_removes_its_nodes(index: FullTextIndex) -> None:
    index.apply(1, by_path(APPLE, PEAR), [])
    index.apply(2, {}, ["food/pie.py", "never/there.py"])
    assert index.reader().count() == 1
    assert found(index.reader(), "apple") == set()


def test_a_reader_is_pinned(index: FullTextIndex) -> None:
    index.apply(1, by_path(APPLE), [])
    before = index.reader()
    index.apply(2, by_path(PEAR), ["food/pie.py"])
    index.rebuild(3, [])
    assert found(before, "apple") == {APPLE.node.id}
    assert before.generation == 1
    assert found(index.reader(), "apple") == set()


def test_rebuild_starts_over(index: FullTextIndex) -> None:
    index.apply(1, by_path(APPLE), [])
    index.rebuild(5, sorted(by_path(PEAR).items()))
    assert index.generation == 5
    assert found(index.reader(), "apple pear") == {PEAR.node.id}


def test_applying_the_same_again_changes_nothing(index: FullTextIndex) -> None:
    index.apply(1, by_path(APPLE, PEAR), [])
    first = index.reader().search("bake apple", SELECT_ALL, 10, UNKNOWN)
    index.apply(1, by_path(APPLE, PEAR), [])
    assert [hit.id for hit in index.reader().search("bake apple", SELECT_ALL, 10, UNKNOWN)] == [hit.id for hit in first]
    assert index.reader().count() == 2


def test_discarded_nodes_are_gone_and_the_generation_stays(index: FullTextIndex) -> None:
    index.apply(4, by_path(APPLE, PEAR), [])
    index.discard([APPLE.node.id])
    assert found(index.reader(), "bake") == {PEAR.node.id}
    assert index.generation == 4


def test_scope_and_denied_ids_are_pushed_down(index: FullTextIndex) -> None:
    index.apply(1, by_path(APPLE, PEAR, LOG), [])
    reader = index.reader()
    assert found(reader, "bake", Selection(Scope(paths=("food",)))) == {APPLE.node.id, PEAR.node.id}
    assert found(reader, "bake", Selection(Scope(languages=("go",)))) == {LOG.node.id}
    assert found(reader, "bake", Selection(Scope(exclude_languages=("go",)))) == {APPLE.node.id, PEAR.node.id}
    assert found(reader, "bake", Selection(Scope(packages=("food.pie",)))) == {APPLE.node.id}
    assert found(reader, "bake", Selection(Scope(kinds=(NodeKind.CLASS,)))) == set()
    denied = Selection(denied=Denied.of({APPLE.node.id}))
    assert found(reader, "bake", denied) == {PEAR.node.id, LOG.node.id}
    assert APPLE.node.id not in {hit.id for hit in reader.fuzzy("apple_pie", denied, 10)}


@pytest.mark.parametrize("text", ["数据库", "连接池", "管理数据库连接", "데이터"])
def test_text_without_blanks_is_found_by_a_part_of_it(index: FullTextIndex, text: str) -> None:
    said = document("pool", "def pool():\n    return '管理数据库连接池 데이터베이스'", path="pool.py")
    index.apply(1, by_path(APPLE, said), [])
    assert found(index.reader(), text) == {said.node.id}


@pytest.mark.parametrize(
    "scope",
    [
        Scope(exclude_languages=("go",)),
        Scope(packages=("food.pie",)),
        Scope(exclude_packages=("tools",)),
        Scope(paths=("food",)),
        Scope(exclude_paths=("tools",)),
    ],
)
def test_files_that_a_query_is_about_are_in_scope_themselves(index: FullTextIndex, scope: Scope) -> None:
    food = file_document("food/pie.py", "bake apple", qualified="food.pie")
    tool = file_document("tools/log.go", "bake log", qualified="tools", language="go")
    index.apply(1, by_path(APPLE, PEAR, LOG, food, tool), [])
    nodes = {one.node.id: one.node for one in (APPLE, PEAR, LOG, food, tool)}
    hits = found(index.reader(), "bake", Selection(scope))
    assert food.node.id in hits
    assert all(scope.accepts(nodes[one]) for one in hits)


def test_a_filter_never_makes_the_list_short(index: FullTextIndex) -> None:
    many = [document(f"cake_{n:03d}", path=f"many/{n:03d}.py") for n in range(120)]
    index.apply(1, by_path(*many), [])
    allowed = {one.node.id for one in many[:3]}
    denied = Denied.of(one.node.id for one in many[3:])
    assert found(index.reader(), "cake", Selection(denied=denied), limit=3) == allowed


@pytest.mark.parametrize("left", [0, 1, 3, 50, 110])
def test_above_a_floor_the_same_is_found_however_few_are_left(index: FullTextIndex, left: int) -> None:
    many = [document(f"cake_{n % 7}", "bake " * (n % 5), path=f"many/{n // 2:03d}.py", line=1 + n) for n in range(120)]
    index.apply(1, by_path(*many), [])
    allowed = {one.node.id for one in many[:left]}
    selection = Selection(denied=Denied.of(one.node.id for one in many[left:]))
    known = columns(*many)
    reader = index.reader()
    assert {hit.id for hit in reader.search("bake cake", selection, 120, known)} == allowed
    assert len(reader.search("bake cake", selection, 3, known)) == min(3, left)
    assert {hit.id for hit in reader.search("cake_3", selection, 120, known)} <= allowed


def test_where_a_floor_denies_what_has_the_telling_word_others_are_looked_for(tmp_path: Path) -> None:
    telling = [document(f"plumbing_{n}", "plumbing setup", path=f"p{n}.py") for n in range(6)]
    common = [document(f"run_{n}", "setup", path=f"r{n}.py") for n in range(30)]
    index = TantivyIndex(tmp_path, LexicalPolicy(common_share=0.5, common_nodes=8))
    index.apply(1, by_path(*telling, *common), [])
    selection = Selection(denied=Denied.of(one.node.id for one in telling))
    for known in (columns(*telling, *common), UNKNOWN):
        hits = index.reader().search("plumbing setup", selection, 4, known)
        assert len(hits) == 4
        assert {hit.id for hit in hits} <= {one.node.id for one in common}
    index.close()


def test_the_limit_holds_and_no_id_comes_twice(index: FullTextIndex) -> None:
    many = [document(f"cake_{n:03d}", path=f"many/{n:03d}.py") for n in range(30)]
    index.apply(1, by_path(*many), [])
    hits = index.reader().search("cake", SELECT_ALL, 10, UNKNOWN)
    assert len(hits) == len({hit.id for hit in hits}) == 10
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(hit.score > 0 for hit in hits)


def test_a_name_is_known_however_it_is_spelled_until_its_node_is_gone(index: FullTextIndex) -> None:
    index.apply(1, by_path(APPLE, PEAR), [])
    reader = index.reader()
    assert all(map(reader.has_name, ("apple_pie", "applePie", "pear_tart")))
    assert not any(map(reader.has_name, ("apple", "pie_apple", "", "-")))
    index.apply(2, {}, ["food/pie.py"])
    assert [index.reader().has_name(name) for name in ("apple_pie", "pear_tart")] == [False, True]
    index.close()


def test_fuzzy_finds_names_with_typos_nearest_first(index: FullTextIndex) -> None:
    near, nearer = document("kubernetes_x", path="a.py"), document("kubernetes", path="b.py")
    index.apply(1, by_path(near, nearer, PEAR), [])
    hits = index.reader().fuzzy("kuberntes", SELECT_ALL, 10)
    assert hits[0].id == nearer.node.id
    assert PEAR.node.id not in {hit.id for hit in hits}
    assert "kubernetes" in index.reader().near_names("kuberntes", 3)


def test_nodes_without_a_file_come_under_the_empty_path(index: FullTextIndex) -> None:
    external = document("urlopen", path="", qualified="urllib.request.urlopen", kind=NodeKind.EXTERNAL)
    package = document("food", path="food", qualified="food", kind=NodeKind.PACKAGE)
    index.apply(1, {"": [external, package]}, [])
    assert found(index.reader(), "urlopen") == {external.node.id}
    index.apply(2, {}, [""])
    assert index.reader().count() == 0


def test_a_question_shows_the_code_before_a_variable_that_is_all_name(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path)
    variable = document("parse_errors", "parse_errors: int = 0", kind=NodeKind.VARIABLE, signature="parse_errors: int")
    body = "def collect_parse_errors_of_tree(tree):\n    return [one for one in tree.walk() if one.is_bad]"
    code = document("collect_parse_errors_of_tree", body, line=3)
    index.apply(1, by_path(variable, code), [])
    hits = index.reader().search("errors of a parse", SELECT_ALL, 10, columns(variable, code))
    assert [hit.id for hit in hits][:2] == [code.node.id, variable.node.id]
    named = index.reader().search("parse_errors", SELECT_ALL, 10, UNKNOWN)
    assert named[0].id == variable.node.id, "who spells it means it"
    index.close()


def test_of_two_equal_matches_the_one_with_another_beside_it_in_its_file_is_first(tmp_path: Path) -> None:
    index = TantivyIndex(tmp_path)
    alone = document("bake_pie", path="a.py")
    first = document("bake_pie", path="b.py")
    second = document("bake_tart", path="b.py", line=10)
    index.apply(1, by_path(alone, first, second), [])
    assert [hit.id for hit in index.reader().search("how to bake", SELECT_ALL, 10, columns(alone, first, second))][
        -1
    ] == alone.node.id
    index.close()


def test_a_word_that_most_nodes_have_neither_decides_nor_hides_what_is_found(tmp_path: Path) -> None:
    everywhere = [document(f"setup_{number}", "def run(): setup()", path=f"{number}.py") for number in range(12)]
    rare = document("plumbing", "def plumbing(): pass", path="z.py")
    often = document("setup_of_setup", "def run(): setup() or setup() or setup()", path="y.py")
    index = TantivyIndex(tmp_path, LexicalPolicy(common_share=0.5, common_nodes=5))
    index.apply(1, by_path(*everywhere, rare, often), [])
    reader = index.reader()
    assert found(reader, "setup") == {one.node.id for one in (*everywhere, often)}, "all that is asked for"
    both = reader.search("setup plumbing", SELECT_ALL, 20, UNKNOWN)
    assert both[0].id == rare.node.id
    assert len(both) == 14, "the rest of the list is what has the common word"
    assert [hit.id for hit in reader.search("setup plumbing", SELECT_ALL, 1, UNKNOWN)] == [rare.node.id]
    index.close()


WORDS = st.sampled_from(["apple", "pear", "cherry", "plum", "fig"])
EDITS = st.lists(
    st.tuples(st.sampled_from(["a.py", "b.py", "c.py"]), st.one_of(st.none(), st.lists(WORDS, max_size=3))),
    min_size=1,
    max_size=6,
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(EDITS)
def test_after_any_edits_it_answers_like_a_dict(tmp_path_factory: pytest.TempPathFactory, edits: list) -> None:
    index = TantivyIndex(tmp_path_factory.mktemp("edits"))
    model: dict[str, list[NodeDocument]] = {}
    for generation, (path, names) in enumerate(edits, start=1):
        if names is None:
            index.apply(generation, {}, [path])
            model.pop(path, None)
        else:
            own = [document(f"{name}_{n}", path=path, line=1 + 3 * n) for n, name in enumerate(names)]
            index.apply(generation, {path: own}, [])
            model[path] = own
    reader = index.reader()
    for word in ("apple", "pear", "cherry", "plum", "fig"):
        expected = {one.node.id for own in model.values() for one in own if word in one.node.name}
        assert found(reader, word) == expected
    index.close()


FILE_WORDS = st.lists(
    st.sets(st.sampled_from(["everywhere", "often", "usual", "rare", "seldom", "once"]), min_size=1),
    min_size=8,
    max_size=30,
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(FILE_WORDS)
def test_looking_past_files_that_have_common_words_alone_finds_the_same_files(
    tmp_path_factory: pytest.TempPathFactory, files: list[set[str]]
) -> None:
    documents = [
        file_document(f"{number}.py", " ".join(sorted(own)) + " everywhere", qualified=f"m{number}")
        for number, own in enumerate(files)
    ]
    index = TantivyIndex(tmp_path_factory.mktemp("files"), LexicalPolicy(files=4))
    index.apply(1, by_path(*documents), [])
    reader = index.reader()
    known = columns(*documents)
    for text in ("everywhere rare", "often usual once everywhere", "seldom", "everywhere"):
        for selection in (SELECT_ALL, Selection(Scope(exclude_paths=("1*.py",)))):
            answers = []
            for rarity in (reader._files._rarity_of(4), -1.0):  # of no word is so little told: every file is looked at
                reader._files._rarity_of_many = rarity
                answers.append(
                    [(hit.id, pytest.approx(hit.score, rel=1e-5)) for hit in reader.search(text, selection, 40, known)]
                )
            assert answers[0] == answers[1]
    index.close()


def test_files_with_common_words_alone_are_looked_at_where_others_are_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    common = [file_document(f"{number}.py", "setup", qualified=f"m{number}") for number in range(20)]
    telling = [file_document(f"t{number}.py", "setup plumbing", qualified=f"t{number}") for number in range(3)]
    index = TantivyIndex(tmp_path, LexicalPolicy(files=3))
    index.apply(1, by_path(*common, *telling), [])
    files = index.reader()._files
    asked: list[object] = []
    monkeypatch.setattr("ctxsearch.search.lexical.files.fetch", lambda *query: (asked.append(query), fetch(*query))[1])
    weights = {"setup": files._rarity("setup"), "plumb": files._rarity("plumb")}
    assert len(files._with_words(weights, []).matches) == 3
    assert len(asked) == 1, "three files weigh more than the common word"
    asked.clear()
    index.apply(2, {}, ["t0.py"])
    assert len(index.reader()._files._with_words(weights, []).matches) == 3
    assert len(asked) == 2, "two are not enough: one with the common word is the third"
    index.close()


def test_what_was_replaced_counts_no_more_once_everything_is_written_anew(tmp_path: Path) -> None:
    documents = [document(f"pie_{number}", "bake(apple)", path=f"{number}.py") for number in range(20)]
    fresh, edited = TantivyIndex(tmp_path / "fresh"), TantivyIndex(tmp_path / "edited")
    assert fresh.worn == 0.0
    for index in (fresh, edited):
        index.rebuild(1, by_path(*documents).items())
    for one in documents[:10]:
        edited.apply(2, {one.node.path: [replace(one, body="bake(pear)")]}, [])
        edited.apply(3, {one.node.path: [one]}, [])
    assert edited.worn > fresh.worn == 0.0
    edited.rebuild(4, by_path(*documents).items())
    assert edited.worn == 0.0
    answers = [list(one.reader().search("bake apple pie", SELECT_ALL, 50, UNKNOWN)) for one in (fresh, edited)]
    assert answers[0] == answers[1]
    for index in (fresh, edited):
        index.close()


@given(st.dictionaries(WORDS, st.floats(0.01, 9.0), min_size=1), st.floats(0.0, 20.0))
def test_light_words_weigh_less_than_the_limit_together_and_are_never_all(
    weights: dict[str, float], limit: float
) -> None:
    light = _lightest(weights, limit)
    assert len(light) < len(weights)
    assert not light or sum(weights[word] for word in light) < limit
    assert all(weights[one] <= weights[other] for one in light for other in weights if other not in light)


@pytest.mark.parametrize("also", [[], ["app/other.py"]])
def test_the_one_symbol_of_a_name_is_found_first_and_only_inside_of_the_scope(tmp_path: Path, also: list[str]) -> None:
    named = [document("drain_pool", path=path) for path in ["app/pool.py", *also]]
    mention = document("close", path="app/close.py", body="drain_pool()")
    index = TantivyIndex(tmp_path)
    index.apply(1, by_path(*named, mention), [])
    reader, known = index.reader(), columns(*named, mention)
    hits = reader.search("drain_pool", SELECT_ALL, 10, known)
    assert {hit.id for hit in hits[: len(named)]} == {one.node.id for one in named}
    assert hits.scores[len(named) - 1] >= EXACT_SCORE > hits.scores[len(named)]
    elsewhere = Selection(Scope(exclude_paths=("app/pool.py", *also)))
    assert [hit.id for hit in reader.search("drain_pool", elsewhere, 10, known)] == [mention.node.id]
    index.apply(2, {}, ["app/pool.py", *also])
    assert [hit.id for hit in index.reader().search("drain_pool", SELECT_ALL, 10, known)] == [mention.node.id]
    index.close()


@pytest.mark.parametrize(
    ("name", "qualified", "expected"),
    [
        ("run", "app.jobs.run", ["app.jobs.run", "jobs.run", "run"]),
        ("e", "a.b.c.d.e", ["b.c.d.e", "c.d.e", "d.e", "e"]),
        ("_", "app.jobs._", ["app.jobs"]),
        ("run", "", ["run"]),
        ("", "", []),
        ("run", "." * 5_000, ["run"]),
        ("run", "app" + "._" * 5_000, ["run"]),
    ],
)
def test_what_can_be_typed_to_mean_a_node(name: str, qualified: str, expected: list[str]) -> None:
    assert _symbols(name, qualified) == expected


def test_what_another_version_wrote_is_freed_once_the_index_is_there(tmp_path: Path) -> None:
    older, other = tmp_path / "text-1", tmp_path / "text-of-somebody"
    for directory in (older, other):
        directory.mkdir()
        (directory / "data").write_text("x")
    index = TantivyIndex(tmp_path)
    assert older.exists(), "nothing is freed before there is something in its place"
    index.rebuild(1, sorted(by_path(APPLE).items()))
    assert not older.exists()
    assert (other / "data").exists(), "what is not ours stays"
    assert found(index.reader(), "apple") == {APPLE.node.id}
    index.close()


def _of_name(reader: FullTextReader, typed: str) -> set[NodeId]:
    """What is found as the symbol that was typed."""
    hits = reader.search(typed, SELECT_ALL, 50, UNKNOWN)
    return {hit.id for hit in hits if hit.score >= EXACT_SCORE}


def test_any_end_of_a_qualified_name_means_the_node_however_long_it_is(tmp_path: Path) -> None:
    qualified = "org.apache.commons.lang3.text.StringUtils.abbreviate"
    wanted = document("abbreviate", path="a/StringUtils.java", qualified=qualified)
    others = [
        document(
            "abbreviate", path="b/StringUtils.java", qualified="org.other.commons.lang3.text.StringUtils.abbreviate"
        ),
        document("abbreviate", path="c/Words.java", qualified="org.apache.commons.lang3.text.WordUtils.abbreviate"),
    ]
    index = TantivyIndex(tmp_path)
    index.apply(1, by_path(wanted, *others), [])
    reader = index.reader()
    parts = qualified.split(".")
    for start in range(len(parts)):
        typed = ".".join(parts[start:])
        found = _of_name(reader, typed)
        assert wanted.node.id in found, typed
        assert (found == {wanted.node.id}) == (start <= 1), typed
    for typed in (qualified.replace(".", "::"), f"{qualified}()", qualified.replace(".", "/")):
        assert _of_name(reader, typed) == {wanted.node.id}
    index.close()


def test_qualifiers_that_no_node_has_do_not_hide_the_symbol(tmp_path: Path) -> None:
    motor = document("Motor", path="src/engine.rs", qualified="engine::Motor", kind=NodeKind.CLASS)
    run = document("run", path="src/engine.rs", qualified="engine::Motor::run", kind=NodeKind.METHOD)
    index = TantivyIndex(tmp_path)
    index.apply(1, by_path(motor, run), [])
    reader = index.reader()
    assert _of_name(reader, "crate::engine::Motor") == {motor.node.id}
    assert _of_name(reader, "github.com/someone/engine.Motor.run") == {run.node.id}
    assert _of_name(reader, "other::run") == set(), "its last part alone is not what was typed"
    index.close()


def test_what_a_package_hands_on_is_found_by_the_name_that_it_is_imported_by(tmp_path: Path) -> None:
    context = document("Context", path="click/core.py", qualified="click.core.Context", kind=NodeKind.CLASS)
    member = document("Context", path="click/core.py", qualified="click.core.Group.Context", kind=NodeKind.METHOD)
    other = document("Context", path="flask/ctx.py", qualified="flask.ctx.Context", kind=NodeKind.CLASS)
    mocked = document("Context", path="mocks.py", qualified="mocks.core.Context", kind=NodeKind.CLASS)
    index = TantivyIndex(tmp_path)
    index.apply(1, by_path(context, member, other, mocked), [])
    reader = index.reader()
    assert _of_name(reader, "click.Context") == {context.node.id}, "no member, and nothing of another package"
    assert _of_name(reader, "django.Context") == set()
    assert _of_name(reader, "vendor.core.Context") == {context.node.id, mocked.node.id}, "else the most that some have"
    index.close()


def test_what_is_only_called_by_a_name_does_not_hide_what_is_handed_on_by_it(tmp_path: Path) -> None:
    spawn = document("spawn", path="tokio/src/task/spawn.rs", qualified="tokio::src::task::spawn.spawn")
    called = document("tokio::spawn", path="", qualified="tokio::spawn", kind=NodeKind.EXTERNAL)
    other = document("std::spawn", path="", qualified="std::spawn", kind=NodeKind.EXTERNAL)
    index = TantivyIndex(tmp_path)
    index.apply(1, by_path(spawn, called, other), [])
    assert _of_name(index.reader(), "tokio::spawn") == {spawn.node.id}
    assert _of_name(index.reader(), "std::spawn") == {other.node.id}, "there is nothing else"
    index.close()


@pytest.mark.parametrize("text", ["class Motor", "Motor class", "where is Motor defined", "class Motor(Engine):"])
def test_a_symbol_among_words_that_only_say_so_is_meant(tmp_path: Path, text: str) -> None:
    motor = document("Motor", path="src/engine.py", kind=NodeKind.CLASS)
    others = [document(f"motor_class_{number}", "class_of_motor()", path=f"{number}.py") for number in range(9)]
    index = TantivyIndex(tmp_path)
    index.apply(1, by_path(motor, *others), [])
    assert _of_name(index.reader(), text) == {motor.node.id}
    assert index.reader().search(text, SELECT_ALL, 5, UNKNOWN)[0].id == motor.node.id
    index.close()


def test_a_file_that_the_whole_query_spells_is_meant(tmp_path: Path) -> None:
    made = [file_document(path, "text", qualified=path) for path in ("src/core.py", "src/tests/core.py", "lib/tool.py")]
    files = [replace(one, node=replace(one.node, name=one.node.path.rpartition("/")[2])) for one in made]
    mention = document("load", "core_py = 'core.py'", path="load.py")
    index = TantivyIndex(tmp_path)
    index.apply(1, by_path(*files, mention), [])
    reader = index.reader()
    core, of_tests, tool = (one.node.id for one in files)
    assert _of_name(reader, "core.py") == {core, of_tests}
    for text in ("src/core.py", "src/core.py:12", 'File "src/core.py", line 3, in load'):
        assert _of_name(reader, text) == {core}
    assert _of_name(reader, "tests/core.py:7") == {of_tests}
    assert _of_name(reader, "tool.py") == {tool}
    assert _of_name(reader, "other.py") == set()
    inside = Selection(Scope(paths=("lib",)))
    assert not [hit for hit in reader.search("core.py", inside, 9, UNKNOWN) if hit.score >= EXACT_SCORE]
    index.close()


def test_an_identifier_that_no_node_is_named_after_means_the_few_nodes_that_say_it(tmp_path: Path) -> None:
    saying = document("tally", "x = np.unique(y, return_counts=True)", path="deep/down/in/data.py")
    named = [document("counts", "return counts", path=f"counts/return{number}.py") for number in range(30)]
    index = TantivyIndex(tmp_path)
    index.apply(1, by_path(saying, *named), [])
    reader = index.reader()
    for typed in ("return_counts", "returnCounts", "return_counts()"):
        assert reader.search(typed, SELECT_ALL, 10, UNKNOWN)[0].id == saying.node.id
        assert _of_name(reader, typed) == {saying.node.id}
    assert _of_name(reader, "counts") == {one.node.id for one in named}, "a name is a name"
    assert _of_name(reader, "return counts") == set(), "two words are no identifier"
    many = [document(f"use{number}", "f(return_counts)", path=f"{number}.py") for number in range(60)]
    index.apply(2, by_path(*many), [])
    assert _of_name(index.reader(), "return_counts") == set(), "what many say tells nothing apart"
    index.close()


def test_the_end_of_a_long_function_is_found(tmp_path: Path) -> None:
    long = document("long", "x = 1\n" * 10_000 + "deep_pearl()", path="long.py")
    index = TantivyIndex(tmp_path)
    index.apply(1, by_path(long), [])
    assert [hit.id for hit in index.reader().search("deep_pearl", SELECT_ALL, 10, UNKNOWN)] == [long.node.id]
    index.close()
