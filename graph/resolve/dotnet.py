""".NET's generic types, as far as they carry a repository's own types (see `library`)."""

from __future__ import annotations

from ctxsearch.graph.resolve.library import (
    Library,
    read_functions,
    read_lambdas,
    read_results,
    read_static,
    read_subtypes,
)

_GROUPS = {
    "Collections": (
        "IEnumerable ICollection IList List HashSet ISet Queue Stack LinkedList IReadOnlyList IReadOnlyCollection"
        " ImmutableArray ImmutableList IQueryable IOrderedEnumerable ConcurrentBag ConcurrentQueue Collection"
        " ObservableCollection ReadOnlyCollection SortedSet Span ReadOnlySpan Memory IAsyncEnumerable DbSet []"
    ),
    "Maps": (
        "Dictionary IDictionary IReadOnlyDictionary ConcurrentDictionary SortedDictionary ImmutableDictionary"
        " SortedList"
    ),
    "Tasks": "Task ValueTask",
}

_RESULTS = """
Collections: First FirstOrDefault Last LastOrDefault Single SingleOrDefault ElementAt ElementAtOrDefault Max Min 0
Collections: MaxBy MinBy Find FindLast Dequeue Peek Pop Aggregate item 0; Where OrderBy OrderByDescending ThenBy self
Collections: Skip Take Distinct Reverse Concat Union Except Intersect AsEnumerable DefaultIfEmpty AsQueryable self
Collections: TakeWhile SkipWhile ThenByDescending DistinctBy Append Prepend AsNoTracking Include FindAll GetRange self
Collections: ToList List<0>; ToArray [0]; ToHashSet HashSet<0>; Select IEnumerable<F>; SelectMany IEnumerable<F0>
Collections: GroupBy IEnumerable<IGrouping<F,0>>; ToDictionary Dictionary<F,0>; GetEnumerator IEnumerator<0>
Collections: FirstAsync FirstOrDefaultAsync SingleAsync SingleOrDefaultAsync FindAsync Task<0>
Collections: ToListAsync Task<List<0>>; ToArrayAsync Task<[0]>
Maps: item GetValueOrDefault GetOrAdd AddOrUpdate 1; Keys ICollection<0>; Values ICollection<1>
KeyValuePair: Key 0; Value 1
IGrouping: Key 0
IEnumerator: Current 0
Tasks: Result 0; ConfigureAwait self; GetAwaiter self; GetResult 0; AsTask self
Lazy Nullable IOptions IOptionsSnapshot AsyncLocal ThreadLocal: Value 0
WeakReference: Target 0
"""

_LAMBDAS = """
Collections: * (0)
Maps: * (KeyValuePair<0,1>); GetOrAdd (0)
"""

_FUNCTIONS = """
Predicate bool, 0
Comparison int, 0, 0
EventHandler void, object, 0
"""

_STATIC = """
Task.FromResult ValueTask.FromResult Task<A>
Task.Run Task<F>
Activator.CreateInstance object
"""

_COMMON = (
    "Add AddRange Remove Clear Contains ContainsKey TryGetValue Any All Count Sum ForEach Invoke ToString Equals"
    " GetHashCode GetType CompareTo Substring Trim Split Replace StartsWith EndsWith IndexOf Format Join Append Dispose"
    " Close Flush Read Write ReadAsync WriteAsync Start Stop Cancel Wait Set Get Reset Parse TryParse Insert Build"
    " Create Open Copy Delete Exists Run Execute ExecuteAsync GetService GetRequiredService Configure Bind Log Setup"
    " Returns Verify Should Be Received When Do Is That"
)

_SUBTYPES = """
IEnumerable: ICollection IList List HashSet ISet Queue Stack LinkedList IReadOnlyList IReadOnlyCollection IQueryable
IEnumerable: ImmutableArray ImmutableList IOrderedEnumerable ConcurrentBag ConcurrentQueue Collection SortedSet DbSet
IEnumerable: ObservableCollection ReadOnlyCollection IOrderedQueryable
ICollection: IList List HashSet ISet LinkedList Collection ObservableCollection SortedSet
IList: List Collection ObservableCollection
IReadOnlyCollection: IReadOnlyList List HashSet Queue Stack Collection ReadOnlyCollection ImmutableArray ImmutableList
IReadOnlyList: List Collection ReadOnlyCollection ImmutableArray ImmutableList
ISet: HashSet SortedSet
IQueryable: DbSet IOrderedQueryable IIncludableQueryable
IDictionary: Dictionary ConcurrentDictionary SortedDictionary SortedList
IReadOnlyDictionary: Dictionary ConcurrentDictionary SortedDictionary ImmutableDictionary
"""
DOTNET_SUBTYPES = read_subtypes(_SUBTYPES)

DOTNET = Library(
    read_results(_RESULTS, _GROUPS),
    read_lambdas(_LAMBDAS, _GROUPS),
    read_functions(_FUNCTIONS),
    read_static(_STATIC),
    frozenset(_COMMON.split()),
)
