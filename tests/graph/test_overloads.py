"""Which of several functions of one name a call means; golden graphs name them alike, so lines are compared here."""

from __future__ import annotations

import pytest

from ctxsearch.graph.resolve.resolver import Resolver
from ctxsearch.indexer.parse import parse

CASES = {
    "written type arguments (C#)": (
        "a.cs",
        """
class P {
    static int Get(int n) { return 1; }
    static int Get<T>(int n) { return 2; }
    static int Get<T>(System.TimeSpan span) { return 3; }
    void All() {
        Get(1);
        Get<P>(1);
        Get<P>(System.TimeSpan.Zero);
    }
}
""",
        {7: {3}, 8: {4}, 9: {5}},
    ),
    "whole numbers and library instances (Kotlin)": (
        "a.kt",
        """
class S {
    fun skip(count: Long): S = this
    fun write(data: S) {}
    fun write(data: ByteArray) {}
}
fun String.skip(count: Int): String = this
fun all(s: S) {
    s.skip(3)
    s.write(ByteArray(8))
}
""",
        {9: {3}, 10: {5}},
    ),
    "arguments of known type (C++)": (
        "a.cpp",
        """
struct A {};
struct B : A {};
void f(int n) {}
void f(const char* t) {}
void f(const A& a) {}
void all(B b) {
    f(1);
    f("t");
    f(b);
}
""",
        {8: {4}, 9: {5}, 10: {6}},
    ),
    "methods of test groups (Ruby)": (
        "a_spec.rb",
        """
describe 'a' do
  def app
    1
  end
  it { app }
end
describe 'b' do
  def app
    2
  end
  it { app }
end
describe 'c' do
  it { app }
end
""",
        {6: {3}, 12: {9}, 15: set()},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_call_means_the_function_that_fits(case: str) -> None:
    path, text, expected = CASES[case]
    facts = parse(path, text.encode())
    resolver = Resolver()
    resolver.update({path: facts})
    found: dict[int, set[int]] = {line: set() for line in expected}
    for _, (_, target), _, line in resolver.call_sites(path):
        found.setdefault(line, set()).add(facts.definitions[target].start_line)
    assert found == expected
