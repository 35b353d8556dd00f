"""Which of several functions of one name a call means; golden graphs name them alike, so lines are compared here."""

from __future__ import annotations

import pytest

from ctxsearch.graph.model import Rule
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
    "function types, with and without a result (C#)": (
        "a.cs",
        """
using System;
using System.Threading.Tasks;
class P {
    static void Run(Action a) { }
    static void Run<T>(Func<T> f) { }
    static void Run(Func<Task> f) { }
    static void Keep<T>(T value) { }
    static void Keep<T>(Func<T> make) { }
    static void Nothing() { }
    static int Some() { return 1; }
    void All(P p, int n) {
        Run(() => Nothing());
        Run(() => Some());
        Run(() => { n++; });
        Keep(p);
        Keep(() => p);
    }
}
""",
        {13: {5, 10}, 14: {6, 11}, 15: {5}, 16: {8}, 17: {9}},
    ),
    "declared parameters of a literal (C#)": (
        "a.cs",
        """
using System;
class A { }
class B { }
interface IShow { void Show(A a); }
class P {
    void When(Func<A, bool> f) { }
    void When(Func<B, bool> f) { }
    void With(IShow show) { }
    void With(Action<A> show) { }
    void All() {
        When((A a) => true);
        When((B b) => true);
        With(a => { });
    }
}
""",
        {12: {7}, 13: {8}, 14: {10}},
    ),
    "type parameters that nothing gives (C#)": (
        "a.cs",
        """
using System;
class P {
    void From<TResolver, TMember>(Func<P, TMember> f) { }
    void From<TMember>(Func<P, TMember> f) { }
    void All() {
        From(p => 1);
        From<P, int>(p => 1);
    }
}
""",
        {7: {5}, 8: {4}},
    ),
    "type arguments of a library's type (C#)": (
        "a.cs",
        """
using System.Collections.Generic;
static class Extensions {
    public static void Put(this List<P> list, P item) { }
    public static void Each(this IEnumerable<P> items) { }
}
class P {
    void Add(IEnumerable<int> n) { }
    void Add(IEnumerable<string> t) { }
    void All(List<P> ours, List<int> numbers, HashSet<P> set, IEnumerable<string> texts) {
        ours.Put(this);
        numbers.Put(this);
        set.Put(this);
        set.Each();
        Add(texts);
    }
}
""",
        {11: {4}, 12: set(), 13: set(), 14: {5}, 15: {9}},
    ),
    "the most specific one, and default values (C#)": (
        "a.cs",
        """
class A { }
class B : A { }
class C : B { }
class P {
    void F(A a) { }
    void F(B b) { }
    void F(object o) { }
    void G(int n, int m = 1) { }
    void G(int n) { }
    void H(A a) { }
    void All(C c) {
        F(c);
        G(1);
        H(c, c);
    }
}
""",
        {13: {7}, 14: {10}, 15: set()},
    ),
    "what is private to another class (C#)": (
        "a.cs",
        """
class Base {
    private bool Same(Base other) { return Same(other); }
    public bool Same(object other) { return true; }
}
class Sub : Base {
    bool All(Sub sub, Base other) { return sub.Same(other); }
}
""",
        {3: {3}, 7: {4}},
    ),
    "results of arithmetic (Java)": (
        "A.java",
        """
class A {
    static void put(int n) { }
    static void put(long n) { }
    static void put(double n) { }
    static void put(String t) { }
    static <T> boolean empty(T[] items) { return has(items); }
    static boolean has(int[] items) { return true; }
    static boolean has(Object[] items) { return true; }
    static void all(int a, long b, double c, String t) {
        put(a + 1);
        put(a * b);
        put(b - c);
        put(t + a);
    }
}
""",
        {7: {9}, 11: {3}, 12: {4}, 13: {5}, 14: {6}},
    ),
    "what a subclass gives for a type parameter hides it (Java)": (
        "A.java",
        """
class Base<T> {
    void take(T item) { }
}
class Sub extends Base<String> {
    void take(String item) { }
    void all(Sub sub) {
        sub.take(Unknown.make());
    }
}
""",
        {8: {6}},
    ),
    "results of arithmetic, and constructors (Kotlin)": (
        "a.kt",
        """
fun least(a: Long, b: Long): Long = a
fun least(a: Int, b: Int): Int = a
class Id(val table: Tables, id: Int) {
    constructor(id: Int, table: Tables) : this(table, id)
}
class Tables
class Text {
    fun add(value: Char) {}
}
fun Text.add(vararg all: Any) {}
fun all(n: Int, m: Long, tables: Tables, text: Text) {
    least(n + 1, n * 2)
    least(n * m, m - 1)
    Id(1, tables)
    Id(tables, 1)
    text.add('a')
    text.add("a", 1)
}
""",
        {5: {4}, 13: {3}, 14: {2}, 15: {5}, 16: {4}, 17: {9}, 18: {11}},
    ),
    "bounds of an extension's type arguments (Kotlin)": (
        "a.kt",
        """
open class Expr<T>
class Column<T> : Expr<T>()
class Id<T>
fun <T, E : Id<T>> Column<E>.between(from: T) {}
fun <T> Expr<T>.between(from: T) {}
fun all(short: Column<Short>, id: Column<Id<Short>>) {
    short.between(1)
    id.between(1)
}
""",
        {8: {6}, 9: {5}},
    ),
    "extensions that are members (Kotlin)": (
        "a.kt",
        """
class Out
abstract class A {
    abstract fun Out.show(value: A)
    fun all(out: Out) { out.show(this) }
}
class B : A() {
    override fun Out.show(value: A) {}
    fun more(out: Out) { out.show(this) }
}
class C {
    fun none(out: Out, a: A) { out.show(a) }
}
object One : D()
open class D { fun run() {} }
class E : D()
fun choose(e: E, yes: Boolean) {
    val one = if (yes) One else e
    one.run()
}
""",
        {5: {4}, 9: {8}, 12: set(), 19: {15}},
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


TIES = {
    "an unknown argument (C#)": (
        "a.cs",
        """
using System;
class P {
    void F(string text) { }
    void F(Func<int> make) { }
    void G(int a) { }
    void G(long a) { }
    void G(byte a) { }
    void G(P a) { }
    P(string text) { }
    P(int number) { }
    void All() {
        F(Library.Make());
        G(Library.Make());
        new P(Library.Make());
    }
}
""",
        {13: {4, 5}, 14: set(), 15: {10, 11}},
    ),
    "an unknown argument (Kotlin)": (
        "a.kt",
        """
fun put(text: String) {}
fun put(number: Int) {}
fun all() {
    put(library.make())
}
""",
        {5: {2, 3}},
    ),
    "an unknown argument (Java)": (
        "A.java",
        """
class A {
    static void put(String text) { }
    static void put(int number) { }
    static void all() {
        put(Library.make());
    }
}
""",
        {6: {3, 4}},
    ),
}


@pytest.mark.parametrize("case", TIES)
def test_where_arguments_do_not_decide_nothing_is_picked(case: str) -> None:
    path, text, expected = TIES[case]
    facts = parse(path, text.encode())
    resolver = Resolver()
    resolver.update({path: facts})
    found: dict[int, set[int]] = {line: set() for line in expected}
    for _, (_, target), rule, line in resolver.call_sites(path):
        assert rule is Rule.CANDIDATES
        found.setdefault(line, set()).add(facts.definitions[target].start_line)
    assert found == expected


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.swift", "class A {\n  func put(n: Int) {}\n  func put(t: String) {}\n  func all() { put(n: 1) }\n}\n"),
        ("a.scala", "class A {\n  def put(n: Int) = 1\n  def put(t: String) = 2\n  def all() = put(1)\n}\n"),
    ],
)
def test_overloads_of_basic_languages_are_candidates(path: str, text: str) -> None:
    resolver = Resolver()
    resolver.update({path: parse(path, text.encode())})
    assert [rule for _, _, rule, _ in resolver.call_sites(path)] == [Rule.CANDIDATES] * 2
