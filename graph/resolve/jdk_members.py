"""The members of Java platform types that programs commonly extend or implement, inherited ones included.

A class whose library ancestors are all listed here inherits these names and no others, so that a plain call in it
is known to be the platform's or not. Generated with `javap -protected`; what every Object has is left out.
"""

from __future__ import annotations

_MEMBERS = """
AbstractCollection: add addAll clear contains containsAll forEach isEmpty iterator parallelStream remove removeAll
    removeIf retainAll size spliterator stream toArray
AbstractList: add addAll clear contains containsAll copyOf forEach get indexOf isEmpty iterator lastIndexOf
    listIterator of parallelStream remove removeAll removeIf removeRange replaceAll retainAll set size sort
    spliterator stream subList toArray
AbstractMap: clear compute computeIfAbsent computeIfPresent containsKey containsValue copyOf entry entrySet forEach
    get getOrDefault isEmpty keySet merge of ofEntries put putAll putIfAbsent remove replace replaceAll size values
AbstractQueue: add addAll clear contains containsAll element forEach isEmpty iterator offer parallelStream peek poll
    remove removeAll removeIf retainAll size spliterator stream toArray
AbstractSequentialList: add addAll clear contains containsAll copyOf forEach get indexOf isEmpty iterator
    lastIndexOf listIterator of parallelStream remove removeAll removeIf removeRange replaceAll retainAll set size
    sort spliterator stream subList toArray
AbstractSet: add addAll clear contains containsAll copyOf forEach isEmpty iterator of parallelStream remove
    removeAll removeIf retainAll size spliterator stream toArray
Annotation: annotationType
Appendable: append
ArrayList: add addAll clear contains containsAll copyOf ensureCapacity forEach get indexOf isEmpty iterator
    lastIndexOf listIterator of parallelStream remove removeAll removeIf removeRange replaceAll retainAll set size
    sort spliterator stream subList toArray trimToSize
AutoCloseable: close
BiConsumer: accept andThen
BiFunction: andThen apply
BiPredicate: and negate or test
BinaryOperator: andThen apply maxBy minBy
BufferedReader: close lines mark markSupported nullReader read readLine ready reset skip transferTo
ByteArrayOutputStream: close flush nullOutputStream reset size toByteArray write writeBytes writeTo
Callable: call
CharSequence: charAt chars codePoints compare isEmpty length subSequence
ClassLoader: clearAssertionStatus defineClass definePackage findClass findLibrary findLoadedClass findResource
    findResources findSystemClass getClassLoadingLock getDefinedPackage getDefinedPackages getName getPackage
    getPackages getParent getPlatformClassLoader getResource getResourceAsStream getResources getSystemClassLoader
    getSystemResource getSystemResourceAsStream getSystemResources getUnnamedModule isRegisteredAsParallelCapable
    loadClass registerAsParallelCapable resolveClass resources setClassAssertionStatus setDefaultAssertionStatus
    setPackageAssertionStatus setSigners
Closeable: close
Collection: add addAll clear contains containsAll forEach isEmpty iterator parallelStream remove removeAll removeIf
    retainAll size spliterator stream toArray
Comparable: compareTo
Comparator: compare comparing comparingDouble comparingInt comparingLong naturalOrder nullsFirst nullsLast
    reverseOrder reversed thenComparing thenComparingDouble thenComparingInt thenComparingLong
ConcurrentHashMap: clear compute computeIfAbsent computeIfPresent contains containsKey containsValue copyOf elements
    entry entrySet forEach forEachEntry forEachKey forEachValue get getOrDefault isEmpty keySet keys mappingCount
    merge newKeySet of ofEntries put putAll putIfAbsent reduce reduceEntries reduceEntriesToDouble
    reduceEntriesToInt reduceEntriesToLong reduceKeys reduceKeysToDouble reduceKeysToInt reduceKeysToLong
    reduceToDouble reduceToInt reduceToLong reduceValues reduceValuesToDouble reduceValuesToInt reduceValuesToLong
    remove replace replaceAll search searchEntries searchKeys searchValues size values
ConcurrentMap: clear compute computeIfAbsent computeIfPresent containsKey containsValue copyOf entry entrySet
    forEach get getOrDefault isEmpty keySet merge of ofEntries put putAll putIfAbsent remove replace replaceAll size
    values
Consumer: accept andThen
Deque: add addAll addFirst addLast clear contains containsAll descendingIterator element forEach getFirst getLast
    isEmpty iterator offer offerFirst offerLast parallelStream peek peekFirst peekLast poll pollFirst pollLast pop
    push remove removeAll removeFirst removeFirstOccurrence removeIf removeLast removeLastOccurrence retainAll size
    spliterator stream toArray
Entry: comparingByKey comparingByValue copyOf getKey getValue setValue
Enumeration: asIterator hasMoreElements nextElement
EventListener:
EventObject: getSource
Executor: execute
ExecutorService: awaitTermination execute invokeAll invokeAny isShutdown isTerminated shutdown shutdownNow submit
Externalizable: readExternal writeExternal
FilterInputStream: available close mark markSupported nullInputStream read readAllBytes readNBytes reset skip
    skipNBytes transferTo
FilterOutputStream: close flush nullOutputStream write
FilterReader: close mark markSupported nullReader read ready reset skip transferTo
FilterWriter: append close flush nullWriter write
Flushable: flush
Format: format formatToCharacterIterator parseObject
Function: andThen apply compose identity
Future: cancel get isCancelled isDone
HashMap: clear compute computeIfAbsent computeIfPresent containsKey containsValue copyOf entry entrySet forEach get
    getOrDefault isEmpty keySet merge of ofEntries put putAll putIfAbsent remove replace replaceAll size values
HashSet: add addAll clear contains containsAll copyOf forEach isEmpty iterator of parallelStream remove removeAll
    removeIf retainAll size spliterator stream toArray
InputStream: available close mark markSupported nullInputStream read readAllBytes readNBytes reset skip skipNBytes
    transferTo
InvocationHandler: invoke invokeDefault
Iterable: forEach iterator spliterator
Iterator: forEachRemaining hasNext next remove
LinkedHashMap: clear compute computeIfAbsent computeIfPresent containsKey containsValue copyOf entry entrySet
    forEach get getOrDefault isEmpty keySet merge of ofEntries put putAll putIfAbsent remove removeEldestEntry
    replace replaceAll size values
LinkedHashSet: add addAll clear contains containsAll copyOf forEach isEmpty iterator of parallelStream remove
    removeAll removeIf retainAll size spliterator stream toArray
LinkedList: add addAll addFirst addLast clear contains containsAll copyOf descendingIterator element forEach get
    getFirst getLast indexOf isEmpty iterator lastIndexOf listIterator of offer offerFirst offerLast parallelStream
    peek peekFirst peekLast poll pollFirst pollLast pop push remove removeAll removeFirst removeFirstOccurrence
    removeIf removeLast removeLastOccurrence removeRange replaceAll retainAll set size sort spliterator stream
    subList toArray
List: add addAll clear contains containsAll copyOf forEach get indexOf isEmpty iterator lastIndexOf listIterator of
    parallelStream remove removeAll removeIf replaceAll retainAll set size sort spliterator stream subList toArray
ListIterator: add forEachRemaining hasNext hasPrevious next nextIndex previous previousIndex remove set
Lock: lock lockInterruptibly newCondition tryLock unlock
Map: clear compute computeIfAbsent computeIfPresent containsKey containsValue copyOf entry entrySet forEach get
    getOrDefault isEmpty keySet merge of ofEntries put putAll putIfAbsent remove replace replaceAll size values
NavigableMap: ceilingEntry ceilingKey clear comparator compute computeIfAbsent computeIfPresent containsKey
    containsValue copyOf descendingKeySet descendingMap entry entrySet firstEntry firstKey floorEntry floorKey
    forEach get getOrDefault headMap higherEntry higherKey isEmpty keySet lastEntry lastKey lowerEntry lowerKey
    merge navigableKeySet of ofEntries pollFirstEntry pollLastEntry put putAll putIfAbsent remove replace replaceAll
    size subMap tailMap values
NavigableSet: add addAll ceiling clear comparator contains containsAll copyOf descendingIterator descendingSet first
    floor forEach headSet higher isEmpty iterator last lower of parallelStream pollFirst pollLast remove removeAll
    removeIf retainAll size spliterator stream subSet tailSet toArray
Number: byteValue doubleValue floatValue intValue longValue shortValue
OutputStream: close flush nullOutputStream write
ParameterizedType: getActualTypeArguments getOwnerType getRawType getTypeName
Predicate: and isEqual negate not or test
PrintStream: append checkError clearError close flush format nullOutputStream print printf println setError write
    writeBytes
PrintWriter: append checkError clearError close flush format nullWriter print printf println setError write
Properties: clear compute computeIfAbsent computeIfPresent contains containsKey containsValue copyOf elements entry
    entrySet forEach get getOrDefault getProperty isEmpty keySet keys list load loadFromXML merge of ofEntries
    propertyNames put putAll putIfAbsent rehash remove replace replaceAll save setProperty size store storeToXML
    stringPropertyNames values
Queue: add addAll clear contains containsAll element forEach isEmpty iterator offer parallelStream peek poll remove
    removeAll removeIf retainAll size spliterator stream toArray
RandomAccess:
Readable: read
Reader: close mark markSupported nullReader read ready reset skip transferTo
ReentrantLock: getHoldCount getOwner getQueueLength getQueuedThreads getWaitQueueLength getWaitingThreads
    hasQueuedThread hasQueuedThreads hasWaiters isFair isHeldByCurrentThread isLocked lock lockInterruptibly
    newCondition tryLock unlock
Runnable: run
Set: add addAll clear contains containsAll copyOf forEach isEmpty iterator of parallelStream remove removeAll
    removeIf retainAll size spliterator stream toArray
SoftReference: clear enqueue get isEnqueued reachabilityFence refersTo
SortedMap: clear comparator compute computeIfAbsent computeIfPresent containsKey containsValue copyOf entry entrySet
    firstKey forEach get getOrDefault headMap isEmpty keySet lastKey merge of ofEntries put putAll putIfAbsent
    remove replace replaceAll size subMap tailMap values
SortedSet: add addAll clear comparator contains containsAll copyOf first forEach headSet isEmpty iterator last of
    parallelStream remove removeAll removeIf retainAll size spliterator stream subSet tailSet toArray
Spliterator: characteristics estimateSize forEachRemaining getComparator getExactSizeIfKnown hasCharacteristics
    tryAdvance trySplit
Supplier: get
Thread: activeCount checkAccess countStackFrames currentThread dumpStack enumerate getAllStackTraces
    getContextClassLoader getDefaultUncaughtExceptionHandler getId getName getPriority getStackTrace getState
    getThreadGroup getUncaughtExceptionHandler holdsLock interrupt interrupted isAlive isDaemon isInterrupted join
    onSpinWait resume run setContextClassLoader setDaemon setDefaultUncaughtExceptionHandler setName setPriority
    setUncaughtExceptionHandler sleep start stop suspend yield
ThreadFactory: newThread
ThreadLocal: get initialValue remove set withInitial
Throwable: addSuppressed fillInStackTrace getCause getLocalizedMessage getMessage getStackTrace getSuppressed
    initCause printStackTrace setStackTrace
TimerTask: cancel run scheduledExecutionTime
TreeMap: ceilingEntry ceilingKey clear comparator compute computeIfAbsent computeIfPresent containsKey containsValue
    copyOf descendingKeySet descendingMap entry entrySet firstEntry firstKey floorEntry floorKey forEach get
    getOrDefault headMap higherEntry higherKey isEmpty keySet lastEntry lastKey lowerEntry lowerKey merge
    navigableKeySet of ofEntries pollFirstEntry pollLastEntry put putAll putIfAbsent remove replace replaceAll size
    subMap tailMap values
TreeSet: add addAll ceiling clear comparator contains containsAll copyOf descendingIterator descendingSet first
    floor forEach headSet higher isEmpty iterator last lower of parallelStream pollFirst pollLast remove removeAll
    removeIf retainAll size spliterator stream subSet tailSet toArray
Type: getTypeName
UnaryOperator: andThen apply compose identity
WeakReference: clear enqueue get isEnqueued reachabilityFence refersTo
Writer: append close flush nullWriter write
"""

_THROWABLES = (
    "Exception RuntimeException Error IOException UncheckedIOException IllegalArgumentException IllegalStateException"
    " UnsupportedOperationException NullPointerException IndexOutOfBoundsException NoSuchElementException"
    " ConcurrentModificationException ClassCastException ArithmeticException NumberFormatException InterruptedException"
    " TimeoutException ExecutionException ParseException GeneralSecurityException SecurityException AssertionError"
)


def read_members(text: str) -> dict[str, frozenset[str]]:
    """Lines `Type: member member`, continued on indented lines."""
    found: dict[str, frozenset[str]] = {}
    for entry in text.strip().replace("\n    ", " ").splitlines():
        name, _, members = entry.partition(":")
        found[name] = frozenset(members.split())
    return found


JDK_MEMBERS = read_members(_MEMBERS)
JDK_MEMBERS.update(dict.fromkeys(_THROWABLES.split(), JDK_MEMBERS["Throwable"]))
