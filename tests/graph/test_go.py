"""Go: packages as directories, go.mod, embedding, multiple results, interfaces, and what must not resolve."""

from __future__ import annotations

import pytest
from resolved_calls import calls

from ctxsearch.graph.facts import encode_facts
from ctxsearch.indexer.parse import parse


def test_files_of_one_directory_share_their_names() -> None:
    files = {"a.go": "package p\nfunc f() { g() }\n", "b.go": "package p\nfunc g() {}\n"}
    assert calls(files, "a.go") == {("f", "b.go:g")}


def test_an_import_is_linked_through_go_mod() -> None:
    files = {
        "go.mod": "module example.com/app\n",
        "main.go": 'package main\nimport "example.com/app/store"\nfunc main() { s := store.New(); s.Save() }\n',
        "store/store.go": "package store\ntype S struct{}\nfunc New() *S { return &S{} }\nfunc (s *S) Save() {}\n",
    }
    assert calls(files, "main.go") == {("main", "store/store.go:New"), ("main", "store/store.go:S.Save")}


def test_a_standard_package_is_not_a_directory_of_the_same_name() -> None:
    files = {
        "a.go": 'package p\nimport "errors"\nfunc f() { errors.New("x") }\n',
        "errors/e.go": "package errors\nfunc New(s string) {}\n",
    }
    assert calls(files, "a.go") == set()


def test_embedded_types_lend_their_methods() -> None:
    text = "package p\ntype B struct{}\nfunc (b B) M() {}\ntype T struct{ *B }\nfunc f(t T) { t.M() }\n"
    assert calls({"a.go": text}, "a.go") == {("f", "a.go:B.M")}


def test_each_of_several_results_keeps_its_type() -> None:
    text = (
        "package p\ntype A struct{}\nfunc (A) M() {}\ntype B struct{}\nfunc (B) M() {}\n"
        "func two() (A, B) { return A{}, B{} }\nfunc f() { a, b := two(); a.M(); _ = b }\n"
    )
    assert calls({"a.go": text}, "a.go") == {("f", "a.go:two"), ("f", "a.go:A.M")}


def test_elements_of_slices_maps_and_named_containers_are_typed() -> None:
    text = (
        "package p\ntype A struct{}\nfunc (A) M() {}\ntype As []A\n"
        'func f(xs []A, m map[string]A, as As) { for _, x := range xs { x.M() }; m["k"].M(); as[0].M() }\n'
    )
    assert calls({"a.go": text}, "a.go") == {("f", "a.go:A.M")}


def test_shadowing_in_a_block_ends_with_the_block() -> None:
    text = (
        "package p\ntype A struct{}\nfunc (A) M() {}\ntype B struct{}\nfunc (B) M() {}\n"
        "func f(x A) { if true { x := B{}; x.M() }; x.M() }\n"
    )
    assert calls({"a.go": text}, "a.go") == {("f", "a.go:A.M"), ("f", "a.go:B.M")}


def test_a_type_switch_types_its_variable_per_case() -> None:
    text = (
        "package p\ntype A struct{}\nfunc (A) M() {}\ntype B struct{}\nfunc (B) N() {}\n"
        "func f(v any) { switch x := v.(type) { case A: x.M()\ncase *B: x.N() } }\n"
    )
    assert calls({"a.go": text}, "a.go") == {("f", "a.go:A.M"), ("f", "a.go:B.N")}


def test_a_conversion_calls_nothing() -> None:
    text = "package p\ntype N string\nfunc (n N) M() {}\nfunc f(s string) { N(s).M() }\n"
    assert calls({"a.go": text}, "a.go") == {("f", "a.go:N.M")}


def test_a_method_of_a_library_type_is_not_guessed() -> None:
    text = (
        'package p\nimport "net/http"\ntype T struct{}\nfunc (T) Close() {}\n'
        "func f(r *http.Response) { r.Body.Close() }\n"
    )
    assert calls({"a.go": text}, "a.go") == set()


def test_a_package_of_another_module_is_no_directory_that_its_path_ends_with() -> None:
    files = {
        "go.mod": "module example.com/m\n",
        "errors/errors.go": "package errors\nfunc New() {}\n",
        "main.go": 'package main\nimport "github.com/pkg/errors"\nfunc main() { errors.New() }\n',
        "own.go": 'package main\nimport "example.com/m/errors"\nfunc own() { errors.New() }\n',
    }
    assert calls(files, "main.go") == set()
    assert calls(files, "own.go") == {("own", "errors/errors.go:New")}


def test_a_vendored_package_is_the_one_that_is_imported() -> None:
    files = {
        "go.mod": "module example.com/m\n",
        "vendor/github.com/x/y/y.go": "package y\nfunc Do() {}\n",
        "cmd/main.go": 'package main\nimport "github.com/x/y"\nfunc main() { y.Do() }\n',
    }
    assert calls(files, "cmd/main.go") == {("main", "vendor/github.com/x/y/y.go:Do")}


def test_without_a_module_a_directory_may_end_with_the_import() -> None:
    files = {
        "src/example.com/a/util/u.go": "package util\nfunc Do() {}\n",
        "src/example.com/a/main.go": 'package main\nimport "example.com/a/util"\nfunc main() { util.Do() }\n',
    }
    assert calls(files, "src/example.com/a/main.go") == {("main", "src/example.com/a/util/u.go:Do")}


TYPE = "package a\ntype Base struct{}\nfunc (b *Base) Save() {}\nfunc helper() {}\n"


@pytest.mark.parametrize(
    ("body", "called"),
    [
        ("type Base struct{}; var b Base; b.Save()", ""),
        ("type Wrap struct{ *Base }; var w Wrap; w.Save()", "Base.Save"),
        ("for b := range ch { b.Save() }", "Base.Save"),
        ("for i := range list { i.Save() }", ""),
        ("if b := b; b != nil { b.Save() }", "Base.Save"),
        ("helper := helper; helper()", "helper"),
    ],
)
def test_what_a_function_declares(body: str, called: str) -> None:
    source = f"{TYPE}func f(b *Base, ch chan *Base, list []*Base) {{ {body} }}\n"
    assert calls({"a.go": source}, "a.go") == ({("f", f"a.go:{called}")} if called else set())


def test_the_same_file_gives_the_same_facts() -> None:
    reads = "".join(f"\tif limit{n} > other{n} {{ return }}\n" for n in range(100))
    source = f"package a\nfunc f() {{\n{reads}}}\n".encode()
    assert len({encode_facts(parse("a.go", source)) for _ in range(5)}) == 1
