"""The pure parts: identifiers, edit distance, what of a node is indexed, snippets and their budget."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_samples import document

from ctxsearch.graph.model import NodeKind
from ctxsearch.search.documents import MAX_PIECES, PIECE_LINES, node_texts, passage_hash, passages
from ctxsearch.search.fuzzy import allowed_edits, edit_distance
from ctxsearch.search.identifiers import (
    MAX_WORD,
    fold,
    form_beginnings,
    identifiers,
    split_identifier,
    stem,
    whole_form,
    without_name,
    words,
)
from ctxsearch.search.ports import Passage
from ctxsearch.search.results import ResultContent
from ctxsearch.search.snippets import SNIPPET_LINES, Snippets, count_tokens, within_budget


@pytest.mark.parametrize(
    ("identifier", "parts"),
    [
        ("getHTTPResponse", ("get", "http", "response")),
        ("get_http_response", ("get", "http", "response")),
        ("HTTPServer2", ("http", "server", "2")),
        ("SCREAMING_SNAKE", ("screaming", "snake")),
        ("__init__", ("init",)),
        ("$el", ("el",)),
        ("utf8Decoder", ("utf", "8", "decoder")),
        ("café", ("cafe",)),
        ("großeStraße", ("grosse", "strasse")),
        ("数据", ("数据",)),
        ("数据库连接", ("数据", "据库", "库连", "连接")),
        ("load数据库", ("load", "数据", "据库")),
        ("한국어", ("한국", "국어")),
        ("Привет", ("привет",)),
        ("_", ()),
    ],
)
def test_identifiers_split_as_people_read_them(identifier: str, parts: tuple[str, ...]) -> None:
    assert split_identifier(identifier) == parts


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("how does ripgrep walk directories", "how does  walk directories"),
        ("ripgrep's line buffer", " line buffer"),
        ("how does rip_grep walk directories", "how does  walk directories"),
        ("what is ripgrep", "what is ripgrep"),
        ("ripgrep config", "ripgrep config"),
        ("grep a line", "grep a line"),
    ],
)
def test_a_question_without_the_name_of_what_it_is_asked_of(text: str, left: str) -> None:
    assert without_name(text, "ripgrep") == left


@pytest.mark.parametrize(
    "forms",
    [
        "serialize serializes serialized serializing serializer serializers serialization",
        "validate validates validated validating validator validation validations",
        "migrate migrates migrating migration migrations",
        "create creates created creating creator creation",
        "connect connects connected connecting connector connection connections",
        "compress compresses compressing compressor compression",
        "process processes processed processing processor processors",
        "manage manages managing manager management",
        "stop stops stopped stopping stopper",
        "call calls called calling caller",
        "query queries querying queried",
        "class classes",
        "status statuses",
        "match matches matching matcher",
        "cache caches cached caching",
        "cookie cookies",
        "alias aliases aliased aliasing",
        "schema schemas",
    ],
)
def test_the_forms_of_a_word_share_one_stem(forms: str) -> None:
    assert len({stem(word) for word in forms.split()}) == 1


@pytest.mark.parametrize(
    ("word", "other"),
    [
        ("statement", "state"),
        ("string", "str"),
        ("need", "ne"),
        ("user", "use"),
        ("bus", "bu"),
        ("update", "upd"),
        ("alias", "alia"),
    ],
)
def test_words_that_are_no_forms_of_one_another_keep_their_stems(word: str, other: str) -> None:
    assert stem(word) != stem(other)


@given(st.text(alphabet="abdeginorstyz", max_size=12))
def test_a_stem_begins_its_word_and_is_not_too_short(word: str) -> None:
    found = stem(word)
    assert word.startswith(form_beginnings(found))  # `tries` is a form of `try`
    assert len(found) >= min(len(word), 3)


def test_all_spellings_meet_in_one_form() -> None:
    assert len({whole_form(name) for name in ("getHTTPResponse", "get_http_response", "GetHttpResponse")}) == 1


@given(st.text())
def test_words_are_lower_case_bounded_and_without_blanks(text: str) -> None:
    for word in words(text):
        assert word
        assert word == word.lower()
        assert len(word) <= MAX_WORD
        assert not any(char.isspace() for char in word)


def test_identifiers_keep_their_spelling_and_order() -> None:
    assert list(identifiers("a.fooBar(_x)")) == ["a", "fooBar", "_x"]


def slow_distance(left: str, right: str) -> int:
    """The definition, without bounds."""
    table = [[max(i, j) if not (i and j) else 0 for j in range(len(right) + 1)] for i in range(len(left) + 1)]
    for i in range(1, len(left) + 1):
        for j in range(1, len(right) + 1):
            table[i][j] = min(
                table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (left[i - 1] != right[j - 1])
            )
            if i > 1 and j > 1 and left[i - 1] == right[j - 2] and left[i - 2] == right[j - 1]:
                table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]


SHORT = st.text(alphabet="abc", max_size=7)


@given(SHORT, SHORT)
def test_the_bounded_distance_is_the_distance(left: str, right: str) -> None:
    true = slow_distance(left, right)
    assert edit_distance(left, right) == (true if true <= 2 else None)


def test_short_words_may_hide_no_typo_and_long_ones_two() -> None:
    assert [allowed_edits("x" * length) for length in (3, 4, 7, 8)] == [0, 1, 1, 2]


def test_a_file_s_text_is_indexed_once() -> None:
    module = document("m", "import os\n\ndef f():\n    inside_f\n", kind=NodeKind.MODULE, qualified="m")
    function = document("f", "def f():\n    inside_f", line=3, parent=module.node.id, signature="def f()")
    texts = {text.document.node.name: text.body for text in node_texts([module, function])}
    assert "inside_f" in texts["f"]
    assert "inside_f" not in texts["m"]
    assert "import os" in texts["m"]
    assert "def f()" in texts["m"], "the outline names the members"


def test_a_long_node_becomes_pieces_that_all_say_whose_they_are() -> None:
    body = "\n".join(f"line_{n}" for n in range(10_000))
    found = list(passages(node_texts([document("long_one", body, doc="What it does.")])[0]))
    assert 1 < len(found) <= MAX_PIECES
    assert all("long_one" in one.text and one.name == "long_one" for one in found)
    assert "What it does." in found[0].text
    assert "What it does." not in found[1].text
    assert f"line_{PIECE_LINES - 1}\n" in found[0].text + "\n"


def test_passages_hash_by_name_and_text() -> None:
    same = {passage_hash(Passage("a", "b")), passage_hash(Passage("a", "b"))}
    assert len(same) == 1
    assert len({passage_hash(Passage(*pair)) for pair in (("a", "b"), ("ab", ""), ("", "ab"))}) == 3


def test_a_match_is_a_word_not_a_piece_of_one() -> None:
    content = Snippets("get").snippet("target = getUser(get_item)\nwidget = 1", 10)
    first = "target = getUser(get_item)"
    marks = [(mark.line, first[mark.start : mark.end], mark.start) for mark in content.highlights]
    assert marks == [(10, "get", 9), (10, "get", 17)]


def highlighted(query: str, body: str) -> list[str]:
    content = Snippets(query).snippet(body, 1)
    lines = content.text.split("\n")
    return [lines[mark.line - content.start_line][mark.start : mark.end] for mark in content.highlights]


@pytest.mark.parametrize(
    ("query", "line", "marked"),
    [
        ("validating the configuration", "def validate_config(x):  # no validation", ["validate", "validation"]),
        ("validate", "Validator.isValidated(VALIDATORS)", ["Validator", "Validated", "VALIDATORS"]),
        ("validation", "VALIDATIONError VALIDATE_ALL invalidate", ["VALIDATION", "VALIDATE"]),
        ("responses", "getHTTPResponse HTTP_RESPONSE", ["Response", "RESPONSE"]),
        ("query", "queries queried QueryPlan querulous", ["queries", "queried", "Query"]),
        ("retry", "tries retries retried", ["retries", "retried"]),
        ("try", "tries try trying tribe", ["tries", "try", "trying"]),
        ("stop", "stopping stopped stopper stopwatch", ["stopping", "stopped", "stopper"]),
        ("get", "target getter gets GETS budget getuser", ["getter", "gets", "GETS"]),
        ("state", "statement states static", ["states"]),
        ("config", "configuration config configs", ["config", "configs"]),
        ("getuser", "getUser getUsers get_user", ["getUser", "getUsers"]),
        ("wait", "waitß waiting", ["waiting"]),
    ],
)
def test_a_match_is_any_form_of_a_word_that_full_text_finds(query: str, line: str, marked: list[str]) -> None:
    assert highlighted(query, line) == marked


def test_the_lines_are_those_with_the_forms() -> None:
    body = "\n".join(["head"] * 20 + ["def validate_all():", "    configurations"] + ["other"] * 20)
    content = Snippets("validating the configuration").snippet(body, 1)
    assert content.start_line == 20
    assert "configurations" in content.text


PIECES = (
    *("validate", "Validation", "VALIDATORS", "validity", "get", "GET", "gets", "target", "tries", "Try", "HTTP"),
    *("Stop", "stopping", "_", ".", "1", " "),
)


@given(
    st.lists(st.sampled_from(PIECES), max_size=20).map("".join),
    st.sets(st.sampled_from(["validating", "get", "trying", "stopped", "http", "how"]), min_size=1).map(" ".join),
)
def test_what_is_highlighted_are_the_words_with_the_stem_of_a_wanted_one(line: str, query: str) -> None:
    wanted = {stem(word) for word in words(query) if word != "how" or query == "how"}
    assert [mark.lower() for mark in highlighted(query, line)] == [word for word in words(line) if stem(word) in wanted]


LETTERS = st.text(alphabet="deginrstyEINSTY_ \né据")


@given(LETTERS, LETTERS)
def test_whatever_is_highlighted_has_the_stem_of_a_word_of_the_query(query: str, body: str) -> None:
    wanted = {stem(word) for word in words(query)}
    for mark in highlighted(query, body):
        assert stem(fold(mark).lower()) in wanted or {stem(word) for word in words(mark)} <= wanted, mark


def test_matches_behind_those_that_choose_the_lines_are_highlighted() -> None:
    body = "\n".join(["zebra"] * 30 + ["zebra apple"] * 2)
    assert highlighted("zebras apples", body).count("apple") == 2
    assert highlighted("zebras apples", body).count("zebra") == SNIPPET_LINES


def test_a_match_may_stand_between_letters_where_words_have_no_blanks() -> None:
    assert highlighted("数据库", "说明：管理数据库连接池") == ["数据库"], "what overlaps is one match"


@pytest.mark.parametrize(
    ("query", "line", "marked"),
    [
        ("resume naive", "def résumé(naïve): RÉSUMÉ", ["résumé", "naïve", "RÉSUMÉ"]),
        ("menü", "self.menü = MENÜ = menu", ["menü", "MENÜ", "menu"]),
        ("bosphorus bridge", "İ = BosphorusBridge", ["Bosphorus", "Bridge"]),
        ("sha 256", "sha256 = 2560 + 1256 + x256y", ["sha", "256", "256"]),
    ],
)
def test_letters_and_numbers_are_those_that_full_text_knows(query: str, line: str, marked: list[str]) -> None:
    assert highlighted(query, line) == marked


def test_what_is_far_down_in_a_long_node_is_found_where_nothing_nearer_says_it() -> None:
    body = "\n".join(["price = 1"] * 4_000 + ["quasar = price"] + ["price = 2"] * 4_000)
    content = Snippets("quasar").snippet(body, 11)
    assert content.start_line <= 4_011 <= content.end_line
    assert "quasar" in {
        content.text.split("\n")[one.line - content.start_line][one.start : one.end] for one in content.highlights
    }
    assert Snippets("price quasar").snippet(body, 11).start_line == 11


def test_a_long_line_is_shown_up_to_its_first_match() -> None:
    line = f"x = '{'abc ' * 100}pulsar {'abc ' * 100}pulsar {'abc ' * 900}'"
    assert highlighted("pulsar", line) == ["pulsar"]
    assert len(Snippets("pulsar").snippet(line, 1).text) < 500
    assert Snippets("zebra").snippet(line, 1).text == f"{line[:240]} …", "it says that it goes on"
    assert Snippets("zebra").snippet(line[:240], 1).text == line[:240]
    far = Snippets("zebra").snippet(f"{line} zebra", 1)
    assert (len(far.text), far.highlights) == (1_002, ())


def test_the_whole_text_is_the_whole_text() -> None:
    body = "\n".join(["def f():", f"    return '{'z' * 300} apple'", ""])
    content = Snippets("apple").full(body, 5)
    assert content.text == body
    assert (content.start_line, content.end_line) == (5, 7)
    assert [(one.line, one.end - one.start) for one in content.highlights] == [(6, 5)]
    assert not content.trimmed


def test_noise_words_do_not_choose_the_lines() -> None:
    body = "the the the\nto of and\n" + "\n" * 20 + "zebra = 1"
    assert "zebra" in Snippets("the zebra to of and").snippet(body, 1).text
    assert Snippets("the of").snippet("the thing", 1).highlights, "unless there is nothing else"


def test_words_of_a_question_that_full_text_does_not_look_for_do_not_choose_the_lines() -> None:
    body = "use handle\nworks" + "\n" * 20 + "zebra = 1"
    assert "zebra" in Snippets("how are zebras handled, and where is it used").snippet(body, 1).text


def test_the_window_with_most_different_words_wins() -> None:
    body = "alpha\nalpha\nalpha\n" + "\n" * 20 + "alpha beta gamma\n" + "\n" * 20 + "beta"
    assert "gamma" in Snippets("alpha beta gamma").snippet(body, 1).text


def test_without_a_shared_word_the_nearest_window_is_shown() -> None:
    lines = [f"line {n}" for n in range(40)]
    lines[20] = "MARK"
    snippets = Snippets("nothing", lambda pieces: [1.0 if "MARK" in piece else 0.0 for piece in pieces])
    content = snippets.snippet("\n".join(lines), 100)
    assert "MARK" in content.text
    assert content.start_line == 116
    assert len(content.text.split("\n")) == SNIPPET_LINES


def test_an_empty_body_has_no_content() -> None:
    assert Snippets("x").snippet("", 1) == ResultContent()
    assert Snippets("x").snippet("\n  \n", 1) == ResultContent()


def test_a_line_of_a_megabyte_is_cut() -> None:
    assert len(Snippets("x").snippet("x" * 1_000_000, 1).text) < 1_000


def test_a_letter_that_grows_in_lower_case_shifts_no_highlight() -> None:
    line = "İİİ = zebra"
    (mark,) = Snippets("zebra").snippet(line, 1).highlights
    assert line[mark.start : mark.end] == "zebra"


@given(st.lists(st.text(alphabet="ab \n", max_size=60), max_size=8), st.integers(1, 60))
def test_the_budget_is_kept_and_the_best_come_first(texts: list[str], budget: int) -> None:
    contents = [ResultContent(text, 1, 1 + text.count("\n")) for text in texts]
    kept = within_budget(contents, budget)
    assert sum(count_tokens(one.text) for one in kept) <= budget
    for before, after in zip(contents, kept, strict=True):
        assert before.text.startswith(after.text)
        assert after.trimmed == (after.text != before.text)


def test_tokens_are_rather_overcounted() -> None:
    assert count_tokens("") == 0
    assert count_tokens("def f(x): return x") == 9
