"""Issues and error reports as queries: what of them counts, and what they find."""

from __future__ import annotations

from pathlib import Path

import pytest
from search_project import Project
from search_samples import UNKNOWN, by_path, columns, document

from ctxsearch.graph.model import NodeDocument, NodeFlag, NodeKind, module_node_id
from ctxsearch.search.embed import bundled_embedder
from ctxsearch.search.lexical.index import TantivyIndex
from ctxsearch.search.lexical.queries import fetch
from ctxsearch.search.long_texts import (
    NO_EMPHASIS,
    Emphasis,
    long_text,
    mentioned_files,
    subject,
    weighed_words,
)
from ctxsearch.search.matches import LexicalPolicy
from ctxsearch.search.ports import SELECT_ALL, Selection
from ctxsearch.search.query import Mode, SearchQuery, Signal
from ctxsearch.search.scope import Scope
from ctxsearch.search.service import ContextSearchService
from ctxsearch.search.steps import DEMOTED_FLAGS, RankingPolicy, demoted_flags

ISSUE = """Orders of a customer vanish after a restart
<!-- Please search the existing tickets before you file one. -->
### Environment
**Describe the bug**
The journal is truncated; see https://tracker.example/tickets/4711?tab=log and
https://forge.example/shop/app/blob/main/shop/journal/replay.py#L12 for the place.

```
# replaying
Traceback: File "/srv/app/shop/journal/segment.py", line 446, in truncate
journal: truncate, journal: truncate
```
"""


def test_a_question_is_taken_whole_and_an_issue_in_parts() -> None:
    assert long_text("how are orders stored") is None
    assert subject("how are orders stored") == "how are orders stored"
    assert subject(ISSUE) == "Orders of a customer vanish after a restart"
    assert long_text("word " * 25) is not None, "one line may be long too"


def test_comments_headings_and_addresses_say_nothing_but_a_linked_file_does() -> None:
    parts = long_text(ISSUE)
    assert parts is not None
    for noise in ("existing tickets", "Environment", "Describe", "tracker", "forge"):
        assert noise not in parts.telling
    assert "shop/journal/replay.py" in parts.telling
    assert "# replaying" in parts.body, "a comment of code is no heading"
    assert "Traceback" not in parts.prose
    assert "journal is truncated" in parts.prose


def test_a_comment_that_is_never_closed_ends_with_the_text() -> None:
    parts = long_text("Title\nbefore <!-- after\nmore")
    assert parts is not None
    assert parts.body == "before "


def test_words_of_the_title_and_repeated_ones_count_more() -> None:
    words = weighed_words(ISSUE, Emphasis(title=2.0, repetition=0.5, most=3.0))
    assert words["restart"] == 2.0
    assert words["traceback"] == 1.0
    assert words["journal"] > 1.5, "more than twice"
    assert max(words.values()) <= 6.0
    assert set(weighed_words(ISSUE, NO_EMPHASIS).values()) == {1.0}
    assert set(weighed_words("orders of orders", Emphasis()).values()) == {1.0}, (
        "every word of a question counts the same"
    )


@pytest.mark.parametrize(
    ("text", "name", "path"),
    [
        ("panic in tree.go:446 when calling it", "tree.go", "tree.go"),
        (r"at C:\work\src\Tree.cs:line 5", "Tree.cs", "work/src/Tree.cs"),
        ("at a.b.Trees$1.scan(Trees.java:1823)", "Trees.java", "Trees.java"),
        ("in lib/tree.rb, then in app/lib/tree.rb", "tree.rb", "app/lib/tree.rb"),
        ("it ends in lib/tree.rb.", "tree.rb", "lib/tree.rb"),
    ],
)
def test_files_that_a_text_spells(text: str, name: str, path: str) -> None:
    assert mentioned_files(text)[name] == path


def test_a_long_listing_of_files_is_read_to_a_bound() -> None:
    assert len(mentioned_files(" ".join(f"file{number}.py" for number in range(500)))) == 64


def test_an_issue_that_mentions_a_test_does_not_ask_for_tests() -> None:
    assert demoted_flags("Orders vanish\nI wrote a test that shows it.", ()) == int(DEMOTED_FLAGS)
    assert not demoted_flags("Tests of orders fail\nas said", ()) & int(NodeFlag.TEST)


def _documents(sources: dict[str, str]) -> list[NodeDocument]:
    return [
        document(path.rpartition("/")[2], body, path=path, kind=NodeKind.MODULE, qualified=path)
        for path, body in sources.items()
    ]


def _index(tmp_path: Path, sources: dict[str, str], policy: LexicalPolicy | None = None) -> TantivyIndex:
    index = TantivyIndex(tmp_path, policy)
    index.rebuild(1, sorted(by_path(*_documents(sources)).items()))
    return index


def _found(index: TantivyIndex, sources: dict[str, str], text: str, scope: Scope | None = None) -> list[str]:
    paths = {module_node_id(path): path for path in sources}
    selection = SELECT_ALL if scope is None else Selection(scope)
    return [paths[hit.id] for hit in index.reader().search(text, selection, 10, columns(*_documents(sources)))]


def test_the_title_decides_between_files_that_have_as_many_words(tmp_path: Path) -> None:
    sources = {"a/one.py": "alpha beta gamma", "b/two.py": "delta epsilon zeta", "c/three.py": "nothing"}
    text = "alpha beta gamma\ndelta epsilon zeta"
    assert _found(_index(tmp_path / "on", sources), sources, text)[0] == "a/one.py"
    assert _found(_index(tmp_path / "on", sources), sources, "delta epsilon zeta\nalpha beta gamma")[0] == "b/two.py"


def test_a_word_far_down_a_long_text_is_found_by_its_weight_not_by_its_place(tmp_path: Path) -> None:
    common = [f"common{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    usual = [f"usual{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]
    sources = {f"{place}.py": " ".join([*common, *usual]) for place in range(5)}
    sources["target.py"] = " ".join([*common, *usual, "zanzibar"])
    text = "\n".join(["It does not work", *common, *usual, "zanzibar zanzibar"])
    by_file_alone = LexicalPolicy(node_match=0.0)
    assert _found(_index(tmp_path, sources, by_file_alone), sources, text)[0] == "target.py"


def test_twice_as_many_matches_of_a_long_text_are_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    index = _index(tmp_path, {f"{number}.py": f"alpha beta gamma word{number}" for number in range(40)})
    reader = index.reader()
    fetched: list[int] = []
    monkeypatch.setattr(
        "ctxsearch.search.lexical.reader.fetch",
        lambda searcher, query, limit: (fetched.append(limit), fetch(searcher, query, limit))[1],
    )
    for text, wanted in (("alpha beta gamma", 7), ("alpha beta gamma\nalpha beta", 14)):
        fetched.clear()
        assert len(reader.search(text, SELECT_ALL, 7, UNKNOWN)) == 7
        assert wanted in fetched


def test_a_file_that_a_stack_trace_spells_is_found_the_one_in_the_spelled_directory_first(tmp_path: Path) -> None:
    sources = {"net/tree.go": "leaf", "app/router/tree.go": "leaf", "app/panic.go": "panic params handler context"}
    text = "panic in handler\ncontext params\n at /build/src/app/router/tree.go:446"
    index = _index(tmp_path / "on", sources, LexicalPolicy(mentioned_file=3.0))
    assert _found(index, sources, text) == ["app/router/tree.go", "app/panic.go", "net/tree.go"]
    assert _found(index, sources, text, Scope(paths=("net",))) == ["net/tree.go"], "scope comes first"
    off = _index(tmp_path / "off", sources, LexicalPolicy(mentioned_file=0.0))
    assert _found(off, sources, text)[0] == "app/panic.go"


def test_a_name_that_many_files_have_says_nothing(tmp_path: Path) -> None:
    sources = {f"{place:02}/index.js": "leaf" for place in range(11)} | {"panic.js": "panic params"}
    assert _found(_index(tmp_path, sources), sources, "panic params\nat index.js:3")[0] == "panic.js"


def _semantic(project: Project, text: str, policy: RankingPolicy | None = None, k: int = 20) -> list[str]:
    service = ContextSearchService(bundled_embedder(), policy)
    service.publish(project.heal())
    answer = service.search(SearchQuery(text=text, mode=Mode.SEMANTIC, k=k))
    service.close()
    assert all(Signal.SEMANTIC in one.votes for one in answer.results)
    return [one.node.path for one in answer.results]


def test_code_is_found_behind_a_list_full_of_tests(tmp_path: Path) -> None:
    checks = "\n\n".join(f"def parse_amount_{number}(text):\n    return parse(text, amount)" for number in range(300))
    project = Project(tmp_path / "work", tmp_path / "state")
    project.write(
        {"tests/test_amounts.py": checks, "shop/amounts.py": "def amount_of(line):\n    return parse(line)\n"}
    )
    assert "shop/amounts.py" in _semantic(project, "parse amount text")
    without = RankingPolicy().without("past_demoted")
    assert "shop/amounts.py" not in _semantic(project, "parse amount text", without)
    assert _semantic(project, "test parse amount text")[0] == "tests/test_amounts.py", "unless tests are asked for"
    project.close()


def test_the_vector_of_an_issue_leans_on_its_title(tmp_path: Path) -> None:
    project = Project(tmp_path / "work", tmp_path / "state")
    project.write(
        {
            "shop/journal.py": "def truncate_journal(segment):\n    return segment\n",
            "shop/mail.py": "def send_mail(address, subject):\n    return deliver(address, subject)\n",
        }
    )
    text = "Truncate journal segment\n" + "We send a mail to an address with a subject and deliver that mail.\n" * 4
    assert _semantic(project, text)[0] == "shop/journal.py"
    assert _semantic(project, text, RankingPolicy().without("title_vector"))[0] == "shop/mail.py"
    project.close()
