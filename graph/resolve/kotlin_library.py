"""Kotlin's standard library, as far as it carries a repository's own types (see `library`)."""

from __future__ import annotations

from ctxsearch.graph.resolve.library import (
    Library,
    read_functions,
    read_lambdas,
    read_results,
    read_static,
    read_subtypes,
)

SCOPE_FUNCTIONS = frozenset({"let", "also", "apply", "run", "takeIf", "takeUnless", "use"})
WITH_RECEIVER = frozenset({"apply", "run", "with"})
BUILDERS = {  # what `this` is in their function literals
    "buildString": "StringBuilder",
    "buildList": "MutableList",
    "buildSet": "MutableSet",
    "buildMap": "MutableMap",
}

_STANDARD = (
    "println print require requireNotNull check checkNotNull error TODO listOf mutableListOf setOf mutableSetOf mapOf"
    " mutableMapOf arrayOf emptyList emptyMap emptySet arrayListOf hashMapOf linkedMapOf hashSetOf sequenceOf sequence"
    " listOfNotNull buildList buildString buildSet buildMap lazy lazyOf repeat runCatching maxOf minOf to intArrayOf"
    " longArrayOf byteArrayOf charArrayOf doubleArrayOf booleanArrayOf arrayOfNulls synchronized assert readLine"
    " readln runBlocking launch async coroutineScope withContext delay flow flowOf suspendCoroutine compareBy"
    " compareByDescending assertEquals assertTrue assertFalse assertNull assertNotNull assertFailsWith assertThat fail"
)
STANDARD_FUNCTIONS = frozenset(_STANDARD.split())  # visible without an import

_GROUPS = {
    "Collections": (
        "Iterable Collection List MutableList ArrayList Set MutableSet HashSet LinkedHashSet Sequence Array ArrayDeque"
        " MutableCollection Flow StateFlow SharedFlow []"
    ),
    "Maps": "Map MutableMap HashMap LinkedHashMap ConcurrentHashMap TreeMap",
}

_RESULTS = """
Collections: get first firstOrNull last lastOrNull single singleOrNull find findLast elementAt getOrNull random 0
Collections: maxByOrNull minByOrNull maxBy minBy removeAt removeFirst removeLast getOrElse reduce component 0
Collections: filter filterNot filterNotNull sortedBy sortedByDescending sorted reversed distinct distinctBy take List<0>
Collections: drop takeWhile dropWhile toList shuffled plus minus takeLast dropLast onEach List<0>
Collections: toMutableList MutableList<0>; toMutableSet MutableSet<0>
Collections: toSet Set<0>; map mapNotNull mapIndexed List<F>; flatMap List<F0>; asSequence Sequence<0>
Collections: groupBy Map<F,List<0>>; associateBy Map<F,0>; associateWith Map<0,F>; withIndex Iterable<IndexedValue<0>>
Collections: iterator Iterator<0>; partition Pair<List<0>,List<0>>; chunked windowed List<List<0>>; asFlow Flow<0>
Maps: get getValue getOrDefault getOrPut getOrElse put remove 1; keys Set<0>; values Collection<1>
Maps: entries Set<Entry<0,1>>
Maps: filter filterKeys filterValues toMutableMap toMap self; map mapNotNull List<F>; mapValues Map<0,F>; toList List<0>
Entry: key getKey 0; value getValue component 1
Pair: first 0; second 1; component 0
Triple: first 0; second 1; third 2; component 0
IndexedValue: index Int; value component 0
Iterator: next 0
Lazy StateFlow MutableStateFlow: value 0
Result: getOrNull getOrThrow getOrElse getOrDefault 0; map Result<F>
Deferred: await 0
"""

_LAMBDAS = """
Collections: * (0); reduce sortedWith (0, 0); forEachIndexed mapIndexed filterIndexed (Int, 0); fold (F, 0)
Maps: * (Entry<0,1>); getOrPut getOrElse (); forEach (Entry<0,1>); computeIfAbsent (0)
Result: * (0)
"""

_FUNCTIONS = """
Comparator Int, 0, 0
Function1 1, 0
Runnable Unit
"""

_STATIC = """
kotlin.let kotlin.run kotlin.with kotlin.use kotlin.lazy kotlin.synchronized kotlin.runBlocking kotlin.withContext F
kotlin.listOf kotlin.listOfNotNull List<A>
kotlin.mutableListOf kotlin.arrayListOf MutableList<A>
kotlin.setOf Set<A>
kotlin.mutableSetOf kotlin.hashSetOf MutableSet<A>
kotlin.arrayOf [A]
kotlin.sequenceOf Sequence<A>
kotlin.requireNotNull kotlin.checkNotNull A
kotlin.runCatching Result<F>
kotlin.also kotlin.apply kotlin.takeIf kotlin.takeUnless 0
"""

_COMMON = (
    "toLong toInt toByte toShort toFloat toDouble toChar toUInt toULong shr shl ushr and or xor inv downTo until step"
    " rangeTo coerceIn coerceAtLeast coerceAtMost plus minus times div rem inc dec compareTo contains indexOf"
    " lastIndexOf substring trim split replace startsWith endsWith isEmpty isNotEmpty isBlank isNotBlank toString"
    " length size add addAll remove clear forEach forEachIndexed joinToString any all none count sum sumOf fold fill"
    " copyOf copyInto copyOfRange toByteArray toCharArray encodeToByteArray decodeToString lowercase uppercase invoke"
    " set equals hashCode put close flush read write start stop join cancel await collect emit launch append appendLine"
)

_SUBTYPES = """
List: MutableList ArrayList LinkedList
MutableList: ArrayList LinkedList
Set: MutableSet HashSet LinkedHashSet
MutableSet: HashSet LinkedHashSet
MutableCollection: MutableList ArrayList MutableSet HashSet LinkedHashSet ArrayDeque
Collection: List MutableList ArrayList LinkedList Set MutableSet HashSet LinkedHashSet ArrayDeque MutableCollection
Iterable: Collection List MutableList ArrayList LinkedList Set MutableSet HashSet LinkedHashSet ArrayDeque
Map: MutableMap HashMap LinkedHashMap ConcurrentHashMap TreeMap
MutableMap: HashMap LinkedHashMap ConcurrentHashMap TreeMap
Flow: StateFlow SharedFlow MutableStateFlow MutableSharedFlow
CharSequence: String StringBuilder
Number: Int Long Short Byte Double Float
"""
KOTLIN_SUBTYPES = read_subtypes(_SUBTYPES)

KOTLIN = Library(
    read_results(_RESULTS, _GROUPS),
    read_lambdas(_LAMBDAS, _GROUPS),
    read_functions(_FUNCTIONS),
    read_static(_STATIC),
    frozenset(_COMMON.split()),
)
