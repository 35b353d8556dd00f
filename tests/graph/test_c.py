"""C and C++: includes, prototypes, static, macros, classes with methods outside, and what must not resolve."""

from __future__ import annotations

import time

from hypothesis import example, given, settings
from hypothesis import strategies as st
from resolved_calls import calls, resolved

from ctxsearch.graph.model import Rule
from ctxsearch.graph.records import FileGraph
from ctxsearch.graph.resolve.resolver import Resolver
from ctxsearch.indexer.languages.c import CppExtractor
from ctxsearch.indexer.languages.preprocessor import whole_lists
from ctxsearch.indexer.parse import parse


def test_a_prototype_stands_for_the_definition() -> None:
    files = {
        "a.c": '#include "b.h"\nvoid f(void) { g(); }\n',
        "b.h": "void g(void);\n",
        "b.c": '#include "b.h"\nvoid g(void) {}\n',
    }
    assert calls(files, "a.c") == {("f", "b.c:g")}


def test_static_stays_in_its_file() -> None:
    files = {"a.c": "void f(void) { g(); }\n", "b.c": "static void g(void) {}\n"}
    assert calls(files, "a.c") == set()


def test_each_file_calls_its_own_static_function() -> None:
    files = {
        "a.c": "static void g(void) {}\nvoid f(void) { g(); }\n",
        "b.c": "static void g(void) {}\nvoid h(void) { g(); }\n",
    }
    assert calls(files, "a.c") == {("f", "a.c:g")}


def test_a_function_pointer_parameter_is_followed_to_what_callers_pass() -> None:
    text = "void g(void) {}\nvoid f(void (*cb)(void)) { cb(); }\nvoid h(void) { f(g); }\n"
    assert ("h", "a.c:f") in calls({"a.c": text}, "a.c")


def test_a_macro_is_called_and_calls() -> None:
    text = "#define TWICE(x) (step(x), step(x))\nvoid step(int x) {}\nvoid f(void) { TWICE(1); }\n"
    assert calls({"a.c": text}, "a.c") == {("f", "a.c:TWICE"), ("TWICE", "a.c:step")}


def test_a_macro_with_two_definitions_is_not_resolved() -> None:
    text = "#if A\n#define M(x) f(x)\n#else\n#define M(x) g(x)\n#endif\nvoid h(void) { M(1); }\n"
    assert ("h", "a.c:M") not in calls({"a.c": text}, "a.c")


def test_an_api_macro_before_the_result_type_does_not_hide_the_name() -> None:
    text = "API const char *name (int x) { return 0; }\nAPI int (other) (int x) { name(x); return 0; }\n"
    assert calls({"a.c": text}, "a.c") == {("other", "a.c:name")}


def test_a_method_declared_in_the_class_is_its_definition_outside() -> None:
    files = {
        "s.h": "namespace n { class S { public: S(int x); void save(); private: void log(); }; }\n",
        "s.cpp": '#include "s.h"\nn::S::S(int x) { log(); }\nvoid n::S::save() { log(); }\nvoid n::S::log() {}\n',
        "m.cpp": '#include "s.h"\nvoid run() { n::S s(1); s.save(); auto p = new n::S(2); p->save(); }\n',
    }
    assert calls(files, "m.cpp") == {("run", "s.cpp:n.S.S"), ("run", "s.cpp:n.S.save")}
    assert calls(files, "s.cpp") == {("n.S.S", "s.cpp:n.S.log"), ("n.S.save", "s.cpp:n.S.log")}


def test_inherited_methods_and_smart_pointers() -> None:
    text = (
        "struct B { void m() {} };\nstruct D : public B {};\n"
        "void f(std::unique_ptr<D> p, std::vector<D> v) { p->m(); for (auto& d : v) d.m(); }\n"
    )
    assert calls({"a.cpp": text}, "a.cpp") == {("f", "a.cpp:B.m")}


def test_a_library_function_is_not_a_function_of_the_same_name_elsewhere() -> None:
    files = {
        "a.cpp": "void f(std::string s) { s.size(); std::sort(s.begin(), s.end()); }\n",
        "b.cpp": "struct Q { int size() { return 0; } };\nvoid sort(int a, int b) {}\n",
    }
    assert calls(files, "a.cpp") == set()


def test_overloads_are_told_apart_by_their_number_of_arguments() -> None:
    text = "struct A { void m(int a) {} void m(int a, int b) {} };\nvoid f(A a) { a.m(1, 2); }\n"
    resolver = resolved({"a.cpp": text})
    targets = {target for _, (_, target), _, _ in resolver.call_sites("a.cpp")}
    params = [len(resolver.world.table("a.cpp").facts.definitions[target].params) for target in targets]
    assert params == [2]


def test_a_lone_macro_does_not_take_the_class_after_it_apart() -> None:
    header = (
        "#include <x.h>\n/* the library */\nLIB_NAMESPACE_BEGIN\nnamespace detail\n{\n"
        "LIB_TEMPLATE_HEAD\nclass Box : public Base\n{\n  LIB_PRIVATE_UNLESS_TESTED:\n"
        "    LIB_NON_NULL(2)\n    int size() const { return count(); }\n    int count() const { return 1; }\n};\n}\n"
    )
    source = '#include "box.h"\nint count(int n) { return n; }\nvoid f(detail::Box b) { b.size(); }\n'
    files = {"box.h": header.replace("#include <x.h>\n", "#include <vector>\n"), "a.cpp": source}
    assert calls(files, "box.h") == {("detail.Box.size", "box.h:detail.Box.count")}
    assert calls(files, "a.cpp") == {("f", "box.h:detail.Box.size")}


def test_a_lone_name_that_is_a_value_stays() -> None:
    text = "enum Kind\n{\n  KIND_ONE\n};\nint f() { return g(\n  KIND_ONE\n); }\nint g(int kind) { return kind; }\n"
    assert calls({"a.cpp": text}, "a.cpp") == {("f", "a.cpp:g")}
    assert CppExtractor.readable(text.encode()) == text.encode()


def test_a_member_without_its_class_is_not_called_from_elsewhere() -> None:
    files = {
        "a.hpp": "int size() const { return 1; }\nint all() { return size(); }\n",
        "b.cpp": '#include "a.hpp"\nint f() { return size() + all(); }\n',
    }
    assert calls(files, "a.hpp") == {("all", "a.hpp:size")}
    assert calls(files, "b.cpp") == {("f", "a.hpp:all")}


def test_a_function_is_not_given_more_than_it_takes() -> None:
    text = (
        "int hash(int seed) { return other::hash(1, 2, seed); }\n"
        "int end() { return 1; }\nint f(int box) { return end(box); }\n"
        "template <class... T> int many(T... all) { return 1; }\nint g() { return many(1, 2, 3); }\n"
    )
    assert calls({"a.cpp": text}, "a.cpp") == {("g", "a.cpp:many")}


def test_templates_of_one_shape_are_candidates() -> None:
    text = (
        "template <class T, enable_if<A> = 0> int put(T n) { return 1; }\n"
        "template <class T, enable_if<B> = 0> int put(T n) { return 2; }\n"
        "int f() { return put(1); }\n"
    )
    resolver = resolved({"a.cpp": text})
    assert [rule for _, _, rule, _ in resolver.call_sites("a.cpp")] == [Rule.CANDIDATES] * 2


def test_an_alias_is_read_in_its_own_namespace() -> None:
    files = {
        "a.hpp": "namespace lib {\nclass Out { public: void put() {} };\nusing OutPtr = std::shared_ptr<Out>;\n}\n",
        "b.cpp": '#include "a.hpp"\nnamespace lib {\nvoid f(OutPtr out) { out->put(); }\n}\n',
    }
    assert calls(files, "b.cpp") == {("lib.f", "a.hpp:lib.Out.put")}


def test_a_comment_does_not_end_a_macro_of_several_lines() -> None:
    macro = "#define ENTER(n) \\\n  (n)++; /* from one (never zero) */ \\\n  step(n)\n"
    files = {"a.c": f"void step(int n) {{}}\n{macro}void f(int n) {{ ENTER(n); }}\n"}
    assert calls(files, "a.c") == {("ENTER", "a.c:step"), ("f", "a.c:ENTER")}


def test_a_name_with_several_meanings_is_none_of_them() -> None:
    names = "#ifdef A\n#define run run_a\n#else\n#define run run_b\n#endif\n"
    functions = "void run_a(void) {}\nvoid run_b(void) {}\n"
    assert calls({"a.c": f"{functions}{names}void f(void) {{ run(); }}\n"}, "a.c") == set()


def test_branches_that_are_whole_are_all_read() -> None:
    body = "#if A\n  if (1) { g(); }\n#else\n  h();\n#endif\n"
    files = {"a.c": f"void g(void) {{}}\nvoid h(void) {{}}\nvoid f(void) {{\n{body}}}\n"}
    assert calls(files, "a.c") == {("f", "a.c:g"), ("f", "a.c:h")}


FILES = ("a.hpp", "b.hpp", "a.cpp", "b.cpp")
DECLARATIONS = (
    "#define LIMIT 1",
    "#define LIMIT 2",
    "extern int total;",
    "int total;",
    "static const int limit = LIMIT;",
    "enum Kind { kOne, kTwo = LIMIT };",
    "namespace n { enum Kind { kOne }; constexpr int limit = 2; }",
    "using namespace n;",
    "struct Item { void run(); int total; };",
    "struct Other { void run() {} enum { kTwo }; };",
    "void Item::run() { total += LIMIT + kTwo; }",
    "template <class T> struct Box { T get() { return held; } T held; T* begin(); };",
    "template <class T> T* Box<T>::begin() { return &held; }",
    "struct Crate : Box<Item> { int kOne; };",
    "template <class T> T make(T made) { return made; }",
    "void use(Box<Item> box, Crate crate) { box.get().run(); crate.held.run(); make(box.held).run(); }",
    "void each(Box<Other> all) { for (auto& one : all) one.run(); total = limit + kOne + n::kOne; }",
    "int (*taken[])(void) = { call };",
    "int call(void) { return total + n::limit + Other::kTwo; }",
)
sources = st.builds(
    lambda included, lines: "\n".join([*(f'#include "{name}"' for name in included), *lines, ""]),
    st.lists(st.sampled_from(FILES[:2]), max_size=2),
    st.lists(st.sampled_from(DECLARATIONS), max_size=6),
)
edits = st.lists(st.tuples(st.sampled_from(FILES), st.one_of(st.none(), sources)), min_size=2, max_size=6)


@settings(max_examples=60)
@given(edits=edits)
@example(
    edits=[  # a macro that is there twice may mean neither, then is there once
        ("a.hpp", '#include "b.hpp"\nstatic const int limit = LIMIT;\n'),
        ("b.hpp", "#define LIMIT 1\n#define LIMIT 1\n"),
        ("b.hpp", "#define LIMIT 1\n"),
    ]
)
def test_incremental_equals_from_scratch(edits: list[tuple[str, str | None]]) -> None:
    resolver, graphs, texts = Resolver(), dict[str, FileGraph](), dict[str, bytes]()
    for path, text in edits:
        if text is None:
            texts.pop(path, None)
            graphs.pop(path, None)
            graphs.update(resolver.update({}, [path]).graphs)
        else:
            texts[path] = text.encode()
            graphs.update(resolver.update({path: parse(path, texts[path])}).graphs)
        fresh = Resolver().update({name: parse(name, source) for name, source in texts.items()})
        for name, graph in fresh.graphs.items():
            known = graphs[name]
            assert (known.nodes, known.edges, known.unresolved) == (graph.nodes, graph.edges, graph.unresolved)


def test_a_condition_between_the_values_of_a_list_leaves_the_function_whole() -> None:
    text = (
        "int f(void) {\n#ifdef A\n  static int mib[][2] = {\n# ifdef B\n    { 1, 2 },\n# endif\n    { 3, 4 }\n  };\n"
        "#endif\n  return g();\n}\nint g(void) { return 1; }\n"
    )
    assert calls({"a.c": text}, "a.c") == {("f", "a.c:g")}
    assert parse("a.c", text.encode()).parse_errors == 0


def test_a_condition_in_a_table_is_no_error() -> None:
    table = "fn table[] = {\n  a,\n#ifdef B\n  b, /* } */\n#else\n  a,\n#endif\n};\n"
    text = f"void a(void) {{}}\nvoid b(void) {{}}\n{table}"
    found = parse("a.c", text.encode())
    assert found.parse_errors == 0
    assert [each.name for each in found.definitions] == ["a", "b", "table"]


def test_a_condition_between_statements_or_enum_constants_is_no_list() -> None:
    names = "enum e {\n  A,\n#ifdef X\n  B,\n#endif\n  C\n};\n"
    text = f"{names}void f(void) {{\n#ifdef X\n  g();\n#endif\n}}\nvoid g(void) {{}}\n"
    assert whole_lists(text.encode()) == text.encode()


def test_lists_and_comments_without_an_end_are_read_in_time() -> None:
    for text in (b"/*" * 200_000, b"int a[] = {\n#if A\n" * 20_000, b"int a[] = {\n#if A\n1,\n" + b"/* " * 100_000):
        started = time.process_time()
        assert len(whole_lists(b"{\n#if A\n" + text)) == len(text) + 8
        assert time.process_time() - started < 10
