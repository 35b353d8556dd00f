"""The Java platform's generic types, as far as they carry a repository's own types (see `library`)."""

from __future__ import annotations

from ctxsearch.graph.resolve.library import Library, read_functions, read_lambdas, read_results, read_static

_GROUPS = {
    "Collections": (
        "Iterable Collection List ArrayList LinkedList Set HashSet LinkedHashSet TreeSet SortedSet NavigableSet Queue"
        " Deque ArrayDeque PriorityQueue Vector Stack CopyOnWriteArrayList CopyOnWriteArraySet BlockingQueue"
        " LinkedBlockingQueue ArrayBlockingQueue ConcurrentLinkedQueue ConcurrentLinkedDeque EnumSet BlockingDeque"
        " LinkedBlockingDeque"
    ),
    "Maps": (
        "Map HashMap LinkedHashMap TreeMap SortedMap NavigableMap ConcurrentMap ConcurrentHashMap WeakHashMap"
        " Hashtable EnumMap IdentityHashMap ConcurrentSkipListMap"
    ),
}

_RESULTS = """
Collections: get 0; set 0; first last 0; poll peek pop push element take 0; getFirst getLast removeFirst removeLast 0
Collections: pollFirst pollLast peekFirst peekLast ceiling floor higher lower firstElement lastElement elementAt 0
Collections: iterator listIterator descendingIterator Iterator<0>; stream parallelStream Stream<0>; toArray [0]
Collections: subList List<0>; subSet headSet tailSet descendingSet Set<0>; clone self; elements Enumeration<0>
List ArrayList LinkedList Queue Deque ArrayDeque PriorityQueue: remove 0
Maps: get getOrDefault put putIfAbsent remove computeIfAbsent computeIfPresent compute merge replace 1
Maps: keySet navigableKeySet Set<0>; values Collection<1>; entrySet Set<Entry<0,1>>; firstKey lastKey 0
Maps: firstEntry lastEntry floorEntry ceilingEntry higherEntry lowerEntry pollFirstEntry pollLastEntry Entry<0,1>
Maps: headMap tailMap subMap descendingMap clone self; ceilingKey floorKey higherKey lowerKey 0
Entry: getKey 0; getValue setValue 1
Iterator ListIterator Enumeration Spliterator: next nextElement previous 0
Optional: get orElse orElseGet orElseThrow 0; filter or self; map Optional<F>; flatMap F; stream Stream<0>
Stream: filter distinct sorted limit skip peek sequential parallel unordered onClose takeWhile dropWhile self
Stream: map mapToObj Stream<F>; flatMap Stream<F0>; findFirst findAny min max Optional<0>; iterator Iterator<0>
Stream: toList List<0>; toArray [0]; reduce Optional<0>
IntStream LongStream DoubleStream: mapToObj Stream<F>; boxed Stream<Integer>
Supplier: get 0
Function: apply 1; andThen compose self
BiFunction: apply 2
UnaryOperator BinaryOperator: apply 0
Callable Future CompletableFuture ForkJoinTask FutureTask: call get join getNow 0
CompletableFuture: thenApply thenApplyAsync handle CompletableFuture<F>; thenCompose CompletableFuture<F0>
CompletableFuture: whenComplete exceptionally self
ThreadLocal AtomicReference Reference WeakReference SoftReference InheritableThreadLocal: get getAndSet getPlain 0
AtomicReference: updateAndGet getAndUpdate accumulateAndGet 0
AtomicReferenceArray: get getAndSet 0
Class: cast newInstance 0; getConstructor getDeclaredConstructor Constructor<0>; getEnumConstants [0]
Class: asSubclass self
Constructor: newInstance 0
ServiceLoader: iterator Iterator<0>
Enum: valueOf 0; values [0]; getDeclaringClass Class<0>
[]: clone self
String: substring trim strip toLowerCase toUpperCase replace replaceAll replaceFirst concat repeat intern String
String: length indexOf lastIndexOf codePointAt int; charAt char; isEmpty contains startsWith endsWith matches boolean
String: split [String]; toCharArray [char]; getBytes [byte]
*: toString String; hashCode int; equals boolean
"""

_LAMBDAS = """
Collections: forEach removeIf replaceAll (0); sort (0, 0)
Maps: forEach replaceAll computeIfPresent compute (0, 1); computeIfAbsent (0); merge (1, 1)
Optional Stream: * (0); reduce sorted min max (0, 0)
Iterator: forEachRemaining (0)
Function UnaryOperator: andThen (1); compose (0)
CompletableFuture: * (0)
AtomicReference: updateAndGet getAndUpdate (0); accumulateAndGet getAndAccumulate (0, 0)
"""

_FUNCTIONS = """
Function 1, 0
BiFunction 2, 0, 1
Supplier 0
Callable 0
Consumer void, 0
BiConsumer void, 0, 1
Predicate boolean, 0
BiPredicate boolean, 0, 1
UnaryOperator 0, 0
BinaryOperator 0, 0, 0
Comparator int, 0, 0
ToIntFunction int, 0
ToLongFunction long, 0
ToDoubleFunction double, 0
ToIntBiFunction int, 0, 1
ToLongBiFunction long, 0, 1
ToDoubleBiFunction double, 0, 1
IntFunction 0, int
LongFunction 0, long
DoubleFunction 0, double
IntUnaryOperator int, int
IntBinaryOperator int, int, int
IntPredicate boolean, int
IntConsumer void, int
IntSupplier int
LongSupplier long
DoubleSupplier double
BooleanSupplier boolean
ObjIntConsumer void, 0, int
Runnable void
PrivilegedAction 0
PrivilegedExceptionAction 0
"""

_STATIC = """
List.of Arrays.asList Collections.singletonList List<E>
Set.of Collections.singleton Set<E>
Stream.of Arrays.stream Stream<E>
List.copyOf Set.copyOf Map.copyOf A
Optional.of Optional.ofNullable Optional<A>
Objects.requireNonNull Objects.requireNonNullElse A
Collections.unmodifiableList Collections.unmodifiableSet Collections.unmodifiableCollection A
Collections.unmodifiableMap Collections.synchronizedList Collections.synchronizedMap A
Arrays.copyOf Arrays.copyOfRange A
CompletableFuture.supplyAsync CompletableFuture<F>
String.valueOf String.format String.join Integer.toString Long.toString Objects.toString Arrays.toString String
Integer.parseInt int
Long.parseLong long
Double.parseDouble double
"""

_COMMON = (
    "add addAll append apply accept test run call close flush read write size length isEmpty contains containsKey"
    " equals hashCode toString compareTo compare substring trim split replace startsWith endsWith indexOf charAt"
    " format name ordinal getName getClass getMessage getCause invoke start stop join put clear remove forEach collect"
    " sort reverse println print parse valueOf intValue longValue doubleValue booleanValue getBytes toLowerCase matches"
    " lock unlock await signal notify wait submit execute shutdown cancel isDone get set build create open copy exists"
    " getPath getParent toPath resolve plus minus between isBefore isAfter getTime setTime init reset next hasNext"
)

JDK = Library(
    read_results(_RESULTS, _GROUPS),
    read_lambdas(_LAMBDAS, _GROUPS),
    read_functions(_FUNCTIONS),
    read_static(_STATIC),
    frozenset(_COMMON.split()),
)
