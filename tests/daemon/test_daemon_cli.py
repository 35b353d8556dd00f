"""The command as a user meets it: words, options, exit codes, speed of its start."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import click
import pytest
from daemon_project import Served, cli, make_project

from ctxsearch.daemon.cli import _SUMMARIES, _VERBS, ctxsearch, main, with_default_verb
from ctxsearch.daemon.cli_daemon import _appended
from ctxsearch.daemon.cli_search import search_request, side_by_side, split_scope
from ctxsearch.daemon.doctor import examine
from ctxsearch.daemon.lock import FileLock
from ctxsearch.daemon.settings import Settings
from ctxsearch.indexer import languages
from ctxsearch.v1 import node_pb2, search_pb2

OPTIONS = {
    "scope": (),
    "min_score": 0.0,
    "k": None,
    "weights": "",
    "floor": None,
    "callers": None,
    "dependencies": None,
    "related": None,
}


def test_words_without_a_verb_are_a_search() -> None:
    assert with_default_verb(["retry", "loop"]) == ["search", "retry", "loop"]
    assert with_default_verb(["-k", "3", "x"]) == ["search", "-k", "3", "x"]
    assert with_default_verb(["--data-dir", "/x", "foo"]) == ["--data-dir", "/x", "search", "foo"]
    assert with_default_verb(["--debug", "status"]) == ["--debug", "status"]
    assert with_default_verb(["search", "watch"]) == ["search", "watch"]
    assert with_default_verb(["--help"]) == ["--help"]


def test_every_verb_exists_and_its_help_has_an_example() -> None:
    context = click.Context(ctxsearch)
    assert set(_VERBS) == set(_SUMMARIES)
    for name in _VERBS:
        command = ctxsearch.get_command(context, name)
        assert command is not None
        assert command.name == name
        assert "Example" in (command.epilog or ""), name
        for part in command.commands.values() if isinstance(command, click.Group) else ():
            assert "Example" in (part.epilog or ""), f"{name} {part.name}"


def test_scope_tokens_may_follow_the_option_unquoted() -> None:
    text, tokens = split_scope(["http", "client", "lang:python", "kind:function"], ["path:src/"])
    assert text == "http client"
    assert tokens == ["path:src/", "lang:python", "kind:function"]
    assert split_scope(["path:x", "y"], []) == ("path:x y", [])


def test_a_scope_is_split_where_the_next_part_begins() -> None:
    _, tokens = split_scope([], ["path:my dir/ !path:my dir/old  files/ lang:python", " kind:function\n", ""])
    assert tokens == ["path:my dir/", "!path:my dir/old  files/", "lang:python", "kind:function"]
    request = search_request(["a", "path:other dir/ lang:go"], OPTIONS | {"scope": ("path:my dir/",)})
    assert list(request.scope.include.paths) == ["my dir/", "other dir/"]
    assert list(request.scope.include.languages) == ["go"]


def test_options_become_the_request_that_they_mean() -> None:
    request = search_request(
        ["a"],
        OPTIONS
        | {
            "scope": ("path:src/ !lang:go kind:type-alias repo:x module:pkg",),
            "weights": "bm25=1,semantic=0.5",
            "floor": "stale-with-risk",
            "callers": 2,
            "k": 7,
            "mode": "fuzzy",
            "content": "full",
            "max_wait": 1.5,
        },
    )
    assert list(request.scope.include.paths) == ["src/"]
    assert list(request.scope.exclude.languages) == ["go"]
    assert list(request.scope.include.kinds) == [node_pb2.NODE_KIND_TYPE_ALIAS]
    assert (request.weights.bm25, request.weights.semantic) == (1, 0.5)
    assert not request.weights.HasField("graph")
    assert request.freshness_floor == node_pb2.FRESHNESS_STALE_WITH_RISK
    assert request.callers.depth == 2
    assert (request.k, request.mode) == (7, search_pb2.SEARCH_MODE_FUZZY)
    assert request.max_wait.ToMilliseconds() == 1500


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"scope": ("nonsense",)}, "nonsense"),
        ({"scope": ("path:src/ language:python",)}, "'language:python'"),
        ({"scope": ("lang:python nonsense",)}, "nonsense' is not one"),
        ({"scope": ("kind:banana",)}, "banana"),
        ({"weights": "bm26=1"}, "bm26"),
        ({"weights": "bm25=much"}, "much"),
        ({"callers": 1, "related": 1}, "only one"),
    ],
)
def test_wrong_options_are_usage_errors(options: dict[str, object], said: str) -> None:
    with pytest.raises(click.UsageError, match=said):
        search_request(["a"], OPTIONS | options)


def test_the_client_imports_no_engine() -> None:
    code = (
        "import sys\n"
        "from ctxsearch.daemon import cli, cli_search, cli_graph, cli_repositories, cli_daemon\n"
        "bad = {'lancedb', 'pyarrow', 'tantivy', 'rustworkx', 'numpy', 'msgspec', 'structlog', 'rich', 'mcp', 'git'}\n"
        "print(sorted(bad & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.strip() == "[]"


def test_a_search_prints_place_signature_and_text_plainly_when_piped(served: Served) -> None:
    done = cli(served.settings, served.root, "apply_discount")
    assert done.returncode == 0, done.stderr
    first = done.stdout.splitlines()[0]
    assert "shop/pricing.py:4" in first
    assert "apply_discount" in first
    assert "fresh" in first
    assert "def apply_discount(price: float, percent: float) -> float" in done.stdout
    assert "\x1b" not in done.stdout


def test_texts_that_the_budget_leaves_out_are_marked_and_counted(served: Served) -> None:
    words = ("apply_discount", "--mode", "keyword", "-k", "3", "--max-tokens", "15")
    answer = json.loads(cli(served.settings, served.root, *words, "--json").stdout)
    last = answer["results"][-1]["snippet"]
    assert (last["trimmed"], last["text"]) == (True, "")
    trimmed = answer["trimmed_results"]
    assert trimmed == sum(each["snippet"]["trimmed"] for each in answer["results"])
    shown = cli(served.settings, served.root, *words).stdout.splitlines()
    assert shown.count("           | ...") == trimmed
    assert shown[-1] == f"{trimmed} texts were cut or left out to keep within max_tokens"
    whole = cli(served.settings, served.root, *words[:-2]).stdout
    assert "max_tokens" not in whole


def test_json_is_the_response_message_with_its_field_names(served: Served) -> None:
    done = cli(served.settings, served.root, "apply_discount", "--json", "-k", "3")
    answer = json.loads(done.stdout)
    assert answer["results"][0]["node"]["qualified_name"] == "shop.pricing.apply_discount"
    assert answer["results"][0]["matched_bm25"] is True
    assert answer["generation"] > 0
    assert len(answer["results"]) == 3
    assert "dropped_by_scope" in answer


def test_explain_shows_every_signal(served: Served) -> None:
    shown = cli(served.settings, served.root, "apply_discount", "--explain", "--callers", "1").stdout
    for word in (
        "bm25",
        "semantic",
        "graph",
        "rank score",
        "contributes",
        "file_coherence adds",
        "penalty",
        "dropped:",
        "index: shop",
        "steps: definition",
        "merged: ",
        "total:",
    ):
        assert word in shown


def test_exit_codes(served: Served, tmp_path: Path) -> None:
    run = served.settings, served.root
    assert cli(*run, "zzyzxqq", "--mode", "keyword").returncode == 1
    assert cli(*run, "apply", "--mode", "psychic").returncode == 2
    assert cli(*run, "apply", "-k", "0").returncode == 2
    assert cli(*run, "callers", "no_such_symbol_zz").returncode == 1
    assert cli(*run, "apply", "--scope", "repo:nowhere").returncode == 3
    assert cli(*run).returncode in (0, 2)
    missing = cli(*run, "callers", "aply_discount")
    assert missing.returncode == 1
    assert "did you mean 'apply_discount'?" in missing.stderr
    assert "Traceback" not in missing.stderr
    assert len(missing.stderr.strip().splitlines()) == 1
    assert "Traceback" in cli(*run, "--debug", "callers", "aply_discount").stderr


def test_graph_verbs(served: Served) -> None:
    run = served.settings, served.root
    callers = cli(*run, "callers", "apply_discount").stdout
    assert "total_price" in callers
    assert "   11 | return apply_discount(sum(items), percent)" in callers
    assert "total_price" in cli(*run, "dependencies", "place_order").stdout
    assert "unresolved  action  line 10" in cli(*run, "dependencies", "retry_with_backoff").stdout
    assert "place_order" in cli(*run, "impact", "apply_discount").stdout
    assert "place_order" in cli(*run, "related", "total_price").stdout
    way = cli(*run, "path", "place_order", "apply_discount").stdout
    assert way.index("place_order") < way.index("total_price") < way.index("apply_discount")
    assert "never below zero" in cli(*run, "node", "apply_discount").stdout
    assert "Checkout" in cli(*run, "outline", "shop/checkout.py").stdout
    nowhere = cli(*run, "outline", "shop/nowhere.py")
    assert (nowhere.returncode, "nothing indexed at shop/nowhere.py" in nowhere.stderr) == (1, True)
    told = cli(*run, "freshness", "apply_discount").stdout
    assert "  fresh, penalty 1.0" in told
    assert "  why      all of its file was written since" in told
    assert "  history  1 commit by 1 author" in told
    chart = cli(*run, "freshness").stdout.splitlines()
    assert [line.split()[0] for line in chart[:4]] == ["fresh", "acceptable", "stale", "stale"]
    assert "█" in chart[0]
    assert "total_price" in cli(*run, "freshness", "shop/pricing.py").stdout
    assert json.loads(cli(*run, "callers", "apply_discount", "--json").stdout)["reached"]


def test_outside_of_any_repository_all_are_searched_and_named(served: Served, tmp_path: Path) -> None:
    found = cli(served.settings, tmp_path, "apply_discount")
    assert f"is in no repository; searching all that were added: {served.name}" in found.stderr
    assert f"{served.name}:shop/pricing.py:4" in found.stdout
    assert f"{served.name}:" not in cli(served.settings, served.root, "apply_discount").stdout


def test_a_directory_after_the_query_is_where_to_search(served: Served, tmp_path: Path) -> None:
    whole = cli(served.settings, tmp_path, "search", "apply_discount", str(served.root), "--json")
    paths = {result["node"]["path"] for result in json.loads(whole.stdout)["results"]}
    assert {"shop/pricing.py", "tests/test_pricing.py"} <= paths
    below = cli(served.settings, served.root, "search", "apply_discount", "./tests", "--json")
    assert {result["node"]["path"] for result in json.loads(below.stdout)["results"]} == {"tests/test_pricing.py"}


def test_a_file_after_the_query_is_searched_alone(served: Served, tmp_path: Path) -> None:
    for cwd, path in ((served.root, "./shop/pricing.py"), (served.root / "tests", "../shop/pricing.py")):
        found = cli(served.settings, cwd, "search", "apply_discount", path, "--json")
        assert {one["node"]["path"] for one in json.loads(found.stdout)["results"]} == {"shop/pricing.py"}
    far = cli(served.settings, tmp_path, "search", "apply_discount", f"{served.root}/shop/pricing.py", "-k", "1")
    assert "shop/pricing.py:4" in far.stdout


@pytest.mark.parametrize("path", ["./nowhere", "../nowhere/at.all", "~/nowhere", "./" + "a" * 300])
def test_a_path_after_the_query_that_is_not_there_is_named(served: Served, path: str) -> None:
    asked = cli(served.settings, served.root, "apply_discount", path)
    said = " ".join(asked.stderr.split())
    assert (asked.returncode, asked.stdout) == (2, "")
    assert "there is no file or directory" in said
    assert "write the query as one word" in said


def test_words_that_have_a_slash_are_words(served: Served) -> None:
    for words in (
        ("apply_discount", "and/or"),
        ("/api/discount",),
        ("discount", "/users/:id"),
        ("apply_discount", "// discount"),
    ):
        found = cli(served.settings, served.root, "search", *words, "--mode", "keyword")
        assert (found.returncode, "shop/pricing.py" in found.stdout) == (0, True)


def test_a_directory_is_searched_whatever_its_name_and_a_scope_may_name_it(settings: Settings, tmp_path: Path) -> None:
    folders = ("app/[id]", "app/i", "app/{a,b}", "app/a", "weird/a*b", "weird/a?b", "my dir")
    root = make_project(tmp_path / "site", {f"{one}/page.py": f"def page_of(): return {one!r}\n" for one in folders})

    def found(*arguments: str) -> set[str]:
        done = cli(settings, root, "search", "page_of", "--mode", "keyword", "--json", "--yes", *arguments)
        return {result["node"]["path"].removesuffix("/page.py") for result in json.loads(done.stdout)["results"]}

    for folder in folders:
        assert found(f"./{folder}") == {folder}
    assert found("--scope", "path:app/[[]id]/page.py") == {"app/[id]"}
    assert found("--scope", "path:app/[id]/page.py") == {"app/i"}, "what is typed as a scope is a glob"
    assert found("--scope", "path:my dir/ lang:python") == {"my dir"}
    assert found("--scope", "path:.") == set(folders)


def test_leaving_out_every_repository_is_an_empty_answer_that_names_them(served: Served) -> None:
    for words in (("--all", "--scope", f"!repo:{served.name}"), ("--scope", f"repo:{served.name} !repo:{served.name}")):
        found = cli(served.settings, served.root, "search", "apply_discount", *words)
        assert (found.returncode, found.stderr) == (1, "")
        said = f"nothing found\n  searched: no repository; the scope leaves out {served.name}\n"
        assert found.stdout == said
        explained = cli(served.settings, served.root, "search", "apply_discount", "--explain", *words).stdout
        assert explained.startswith(said)
        assert "merged" not in explained, "nothing was"


def test_whoever_leaves_out_the_repository_around_means_the_others(
    settings: Settings, project: Path, tmp_path: Path
) -> None:
    other = make_project(tmp_path / "other", {"discount.py": "def apply_discount(price): return price\n"})
    for folder in (project, other):
        assert cli(settings, tmp_path, "add", str(folder)).returncode == 0
    words = ("search", "apply_discount", "--mode", "keyword", "--json")

    def repositories(*arguments: str) -> set[str]:
        results = json.loads(cli(settings, project, *words, *arguments).stdout)["results"]
        return {result["node"]["repository"] for result in results}

    assert repositories() == {project.name}
    assert repositories("--scope", f"!repo:{project.name}") == {"other"}
    assert repositories("./shop", "--scope", f"!repo:{project.name}") == set(), "the directory named is left out"


def test_repository_and_daemon_verbs(served: Served) -> None:
    run = served.settings, served.root
    assert "shop: idle" in cli(*run, "list").stdout
    status = cli(*run, "status").stdout
    assert "skipped: secret 1" in status
    assert json.loads(cli(*run, "status", "--json").stdout)["nodes"] > 10
    assert ".env: secret" in cli(*run, "add", ".", "--dry-run").stdout
    assert "current" in cli(*run, "refresh").stdout
    assert json.loads(cli(*run, "daemon", "status", "--json").stdout)["pid"] > 0
    assert "serving" in cli(*run, "daemon", "logs", "-n", "1000").stdout
    compared = cli(*run, "compare", "apply_discount", "-k", "3").stdout
    header = compared.splitlines()[6]
    assert header.split() == ["#", "hybrid", "keyword", "semantic", "fuzzy"], "piped, all are beside each other"
    assert "p95" in cli(*run, "bench", "price", "-n", "5").stdout


@pytest.mark.parametrize(("columns", "tables"), [(141, 1), (120, 1), (116, 2), (80, 2), (60, 4), (40, 4), (8, 4)])
def test_a_comparison_is_no_wider_than_the_terminal(columns: int, tables: int) -> None:
    def found(path: str) -> search_pb2.ContextSearchResponse:
        node = node_pb2.Node(name="apply_discount", path=path, start_line=123)
        return search_pb2.ContextSearchResponse(results=[search_pb2.SearchResult(node=node)])

    places = {"hybrid": "shop/pricing.py", "keyword": f"{'deep/' * 40}pricing.py", "semantic": "a.py"}
    lines = list(side_by_side({mode: found(path) for mode, path in places.items()} | {"fuzzy": None}, columns))
    assert sum(line.startswith("  #  ") for line in lines) == tables
    assert max(map(len, lines)) <= max(columns, 14)  # the names of the modes are not cut
    if columns >= 40:
        assert any("apply_discount …" in line and line.count(".py:123") for line in lines)
        assert "apply_discount a.py:123" in " ".join(lines)


def test_doctor_finds_nothing_wrong_and_then_what_is(served: Served) -> None:
    healthy = cli(served.settings, served.root, "doctor")
    assert healthy.returncode == 0, healthy.stdout
    assert "index verified" in healthy.stdout
    served.settings.socket_path.chmod(0o666)
    try:
        sick = cli(served.settings, served.root, "doctor")
        assert sick.returncode == 3
        assert "mode 666" in sick.stdout
    finally:
        served.settings.socket_path.chmod(0o600)


def test_a_repository_that_is_known_keeps_its_name_and_says_so(served: Served) -> None:
    for more in ((), ("--dry-run",)):
        again = cli(served.settings, served.root, "add", ".", "--name", "other", *more)
        assert again.returncode == 0
        assert f"{served.root} was added as shop and keeps that name" in again.stderr
        assert "ctxsearch remove shop" in again.stderr
    assert "keeps" not in cli(served.settings, served.root, "add", ".", "--name", "shop").stderr
    assert "keeps" not in cli(served.settings, served.root, "add", ".").stderr


def test_refreshing_a_repository_that_is_gone_is_an_error_with_the_next_step(
    settings: Settings, project: Path, tmp_path: Path
) -> None:
    assert cli(settings, project, "add", ".").returncode == 0
    shutil.rmtree(project)
    refreshed = cli(settings, tmp_path, "refresh", project.name)
    assert refreshed.returncode == 3
    assert refreshed.stdout == ""
    assert f"{project} is gone; put it back, or let go of its index with `ctxsearch remove`" in refreshed.stderr
    assert len(refreshed.stderr.splitlines()) == 1


def test_a_search_names_the_repositories_that_failed_and_a_file_needs_one_of_several(
    settings: Settings, project: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    other = make_project(tmp_path / "other")
    for folder, code in ((project, 0), (other, 0), (tmp_path / "empty", 3)):
        assert cli(settings, tmp_path, "add", str(folder)).returncode == code
    found = cli(settings, tmp_path, "search", "apply_discount", "-k", "1", "--scope", "!repo:other")
    assert "warning: could not be indexed: empty; `ctxsearch list` says why" in found.stdout
    both = cli(settings, tmp_path, "search", "apply_discount", "-k", "1", "--scope", "repo:empty repo:other")
    assert (both.returncode, "warning: could not be indexed: empty" in both.stdout) == (0, True)
    without = cli(settings, project, "search", "apply_discount", "-k", "1", "--scope", "!repo:empty")
    assert (without.returncode, without.stderr) == (0, ""), "what has no index can be left out"
    listed = cli(settings, tmp_path, "list").stdout.splitlines()
    assert listed[0] == f"empty: failed, generation 0  {tmp_path / 'empty'}"
    outlined = cli(settings, tmp_path, "outline", "shop/pricing.py")
    assert outlined.returncode == 2
    assert outlined.stderr == f"ctxsearch: repository: say which: other, {project.name}\n"


def test_doctor_removes_what_dead_daemons_left(settings: Settings, tmp_path: Path) -> None:
    settings.data_dir.mkdir(mode=0o755)
    settings.runtime_dir.mkdir(exist_ok=True)
    settings.socket_path.write_text("")
    (settings.repositories_dir / "gone").mkdir(parents=True)
    done = cli(settings, tmp_path, "doctor")
    assert done.returncode == 0, done.stdout
    assert not settings.socket_path.exists()
    assert not (settings.repositories_dir / "gone").exists()
    assert settings.data_dir.stat().st_mode & 0o077 == 0


def test_doctor_names_a_grammar_that_is_missing(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    found = {finding.subject: finding for finding in examine(settings, repair=False)}
    assert found["grammars"].ok, found["grammars"].state
    absent = languages.LanguageSpec("cobol", (".cob",), "tree_sitter_cobol:language")
    monkeypatch.setattr(languages, "LANGUAGES", (*languages.LANGUAGES, absent))
    found = {finding.subject: finding for finding in examine(settings, repair=False)}
    assert not found["grammars"].ok
    assert "cobol" in found["grammars"].state
    assert found["grammars"].step == "run `pip install tree-sitter-cobol`"


def test_status_of_no_daemon_starts_none(settings: Settings, tmp_path: Path) -> None:
    done = cli(settings, tmp_path, "daemon", "status")
    assert done.returncode == 3
    assert "not running" in done.stderr
    assert not settings.lock_path.exists()
    assert "no daemon was running" in cli(settings, tmp_path, "daemon", "stop").stdout


def test_a_new_repository_is_added_with_yes_and_not_without(settings: Settings, project: Path, tmp_path: Path) -> None:
    refused = cli(settings, project / "shop", "apply_discount")
    assert refused.returncode == 3
    assert "ctxsearch add" in refused.stderr
    nowhere = cli(settings, tmp_path, "apply_discount")
    assert nowhere.returncode == 3
    assert "is in no repository" in nowhere.stderr
    found = cli(settings, project / "shop", "apply_discount", "--yes")
    assert found.returncode == 0, found.stderr
    assert "shop/pricing.py:4" in found.stdout


def test_the_best_result_opens_in_the_editor(served: Served, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text(f'#!/bin/sh\necho "$@" > {tmp_path}/opened\n')
    editor.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    cli(served.settings, served.root, "apply_discount", "--open")
    assert (tmp_path / "opened").read_text().strip() == f"+4 {served.root}/shop/pricing.py"
    for wrong in ("no-such-editor", "'unfinished"):
        monkeypatch.setenv("VISUAL", wrong)
        done = cli(served.settings, served.root, "apply_discount", "--open")
        assert (done.returncode, done.stderr.endswith("; set EDITOR\n")) == (3, True)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(settings: Settings, tmp_path: Path, shell: str) -> None:
    done = cli(settings, tmp_path, "completion", shell)
    assert done.returncode == 0
    assert "_CTXSEARCH_COMPLETE" in done.stdout


def test_the_graph_without_a_daemon(settings: Settings, project: Path) -> None:
    run = settings, project
    missing = cli(*run, "graph", "callers", "apply_discount")
    assert missing.returncode == 3
    assert "ctxsearch graph index" in missing.stderr
    assert "generation 1" in cli(*run, "graph", "index", ".").stdout
    assert "total_price" in cli(*run, "graph", "callers", "apply_discount").stdout
    assert "total_price" in cli(*run, "graph", "dependencies", "place_order").stdout
    assert "place_order" in cli(*run, "graph", "impact", "apply_discount").stdout
    near = cli(*run, "graph", "callers", "aply_discount")
    assert (near.returncode, "apply_discount" in near.stderr) == (1, True)
    (project / "shop" / "other.py").write_text("def apply_discount(x):\n    return x\n")
    assert "generation 2" in cli(*run, "graph", "index", ".").stdout
    ambiguous = cli(*run, "graph", "callers", "apply_discount")
    assert ambiguous.returncode == 2
    assert "shop/other.py:1" in ambiguous.stderr
    exported = cli(*run, "graph", "export").stdout
    assert exported == cli(*run, "graph", "export", "--json").stdout
    rows = [json.loads(line) for line in exported.splitlines()]
    assert {row["type"] for row in rows} == {"node", "edge"}
    ids = {row["id"] for row in rows if row["type"] == "node"}
    assert all(row["source"] in ids for row in rows if row["type"] == "edge")
    assert not settings.lock_path.exists()


def test_ways_and_neighbours_without_a_daemon(settings: Settings, project: Path) -> None:
    run = settings, project
    cli(*run, "graph", "index", ".")
    way = cli(*run, "graph", "path", "place_order", "apply_discount")
    assert way.returncode == 0, way.stderr
    assert way.stdout.splitlines() == [
        "shop/checkout.py:12  shop.checkout.Checkout.place_order",
        "  shop/pricing.py:9  shop.pricing.total_price  calls 0.95",
        "    shop/pricing.py:4  shop.pricing.apply_discount  calls 0.95",
    ]
    rows = [
        json.loads(line)
        for line in cli(*run, "graph", "path", "place_order", "apply_discount", "--json").stdout.splitlines()
    ]
    assert [(row["name"], row["distance"], row["via"], row["confidence"]) for row in rows] == [
        ("place_order", 0, "", 1.0),
        ("total_price", 1, "calls", 0.95),
        ("apply_discount", 2, "calls", 0.95),
    ]
    for options in (("--max-depth", "1"), ("--min-confidence", "0.99")):
        none = cli(*run, "graph", "path", "place_order", "apply_discount", *options)
        assert (none.returncode, none.stdout) == (1, "")
        assert "no way from place_order to apply_discount" in none.stderr
    assert cli(*run, "graph", "path", "apply_discount", "place_order").returncode == 1

    near = cli(*run, "graph", "related", "total_price", "--json")
    found = {(row["name"], row["via"]) for row in map(json.loads, near.stdout.splitlines())}
    assert {("place_order", "calls"), ("apply_discount", "calls"), ("pricing.py", "contains")} <= found
    cut = cli(*run, "graph", "related", "total_price", "--radius", "2", "--limit", "1")
    assert (cut.returncode, len(cut.stdout.splitlines()), "--limit" in cut.stderr) == (0, 1, True)

    (project / "shop" / "other.py").write_text("def apply_discount(x):\n    return x\n")
    cli(*run, "graph", "index", ".")
    for words in (("path", "apply_discount", "total_price"), ("path", "total_price", "apply_discount")):
        assert "shop/other.py:1" in cli(*run, "graph", *words).stderr
    assert cli(*run, "graph", "related", "apply_discount").returncode == 2
    for words in (
        ("path", "total_price", "place_ordr"),
        ("path", "place_ordr", "total_price"),
        ("related", "place_ordr"),
    ):
        unknown = cli(*run, "graph", *words)
        assert (unknown.returncode, "did you mean" in unknown.stderr) == (1, True)


def test_without_a_daemon_too_what_changed_since_it_was_indexed_is_marked(settings: Settings, project: Path) -> None:
    run = settings, project
    cli(*run, "graph", "index", ".")
    verbs = (("callers", "apply_discount"), ("path", "place_order", "apply_discount"), ("impact", "apply_discount"))
    for words in verbs:
        assert "changed on disk" not in cli(*run, "graph", *words).stdout
    file = project / "shop" / "pricing.py"
    file.write_text(f"# moved\n{file.read_text()}")
    for words in verbs:
        lines = cli(*run, "graph", *words).stdout.splitlines()
        assert [line.endswith("  changed on disk") for line in lines] == ["shop/pricing.py:" in line for line in lines]
        rows = map(json.loads, cli(*run, "graph", *words, "--json").stdout.splitlines())
        assert all(row["changed_on_disk"] is (row["path"] == "shop/pricing.py") for row in rows)


def test_a_directory_with_nothing_to_index_says_so_when_it_is_asked(settings: Settings, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    assert cli(settings, empty, "graph", "index", ".").returncode == 3
    for words in (("callers", "f"), ("related", "f"), ("path", "f", "g"), ("export",)):
        asked = cli(settings, empty, "graph", *words)
        assert (asked.returncode, asked.stdout) == (3, "")
        assert f"nothing is indexed in {empty}" in asked.stderr
        assert "no node" not in asked.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("price", "-k", "99999999999"),
        ("price", "--max-wait", "nan"),
        ("price", "--max-wait", "inf"),
        ("price", "--min-generation", "99999999999"),
        ("callers", "apply_discount", "--depth", "99999999999"),
        ("refresh", "--max-wait", "nan"),
        ("daemon", "logs", "-n", "-1"),
        ("daemon", "stop", "--grace", "nan"),
        ("mcp", "--http", "70000"),
        ("callers", "caf\udce9"),  # a byte that is not UTF-8, as Python spells it
    ],
)
def test_a_value_that_no_message_can_carry_is_a_usage_error(served: Served, arguments: tuple[str, ...]) -> None:
    done = cli(served.settings, served.root, *arguments)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert "Error: " in done.stderr


def test_a_directory_whose_name_is_not_text_is_refused_with_the_reason(settings: Settings, tmp_path: Path) -> None:
    place = tmp_path / "caf\udce9"
    place.mkdir()
    done = cli(settings, place, "add", ".")
    assert done.returncode == 3
    assert "is not UTF-8, so that no answer could name it; rename it" in done.stderr


def test_a_bug_of_ours_is_one_line_and_never_nothing_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(ctxsearch, "invoke", broken)
    assert main(["list"]) == 3
    assert capsys.readouterr().err == "ctxsearch: unexpected ZeroDivisionError: oops; see it with --debug\n"


@pytest.mark.parametrize("words", [("price",), ("status",), ("add", "."), ("graph", "callers", "price")])
def test_whoever_stands_in_a_directory_that_was_deleted_is_told(
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    words: tuple[str, ...],
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert main([*words]) == 3
    assert capfd.readouterr().err == "ctxsearch: the working directory is gone; change to one that is there\n"
    assert not settings.lock_path.exists()


def test_a_log_is_followed_into_the_next_file(tmp_path: Path) -> None:
    path = tmp_path / "daemon.log"
    path.write_text("one\n")
    lines = _appended(path, path.open())
    assert next(lines) == "one\n"
    path.rename(tmp_path / "daemon.log.1")
    path.write_text("two\n")
    assert next(lines) == "two\n"
    lines.close()


def test_a_daemon_that_hangs_is_named_by_doctor(settings: Settings) -> None:
    settings.data_dir.mkdir(mode=0o700, parents=True)
    with FileLock(settings.lock_path):
        found = {finding.subject: finding for finding in examine(settings, repair=False)}
    assert not found["daemon"].ok
    assert f"`kill -9 {os.getpid()}` ends it" in found["daemon"].step


def test_a_reader_that_leaves_early_is_no_error(served: Served) -> None:
    environment = os.environ | {
        "CTXSEARCH_DATA_DIR": str(served.settings.data_dir),
        "CTXSEARCH_RUNTIME_DIR": str(served.settings.runtime_dir),
    }
    read_end, write_end = os.pipe()
    os.close(read_end)
    done = subprocess.run(
        [sys.executable, "-P", "-m", "ctxsearch.daemon.cli", "outline", "."],
        cwd=served.root,
        env=environment,
        stdout=write_end,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    os.close(write_end)
    assert (done.returncode, done.stderr) == (0, b"")


def test_demo_does_it_all(settings: Settings, project: Path) -> None:
    done = cli(settings, project, "demo", ".", "--query", "apply_discount")
    assert done.returncode == 0, done.stderr
    assert "daemon" in done.stdout
    assert "shop/pricing.py:4" in done.stdout
    assert "Next:" in done.stdout
    assert "embedding" in done.stderr
