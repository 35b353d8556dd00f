"""Resolver: keeps every file's edges equal to what a fresh resolution would give, touching only what changed.

Two phases. The first resolves every call site of a file and notes which functions, classes and instances its calls
pass to parameters. The second resolves the sites that call what a parameter holds. A file is resolved again when it
changed or when an answer that it read did (`World`); the second phase again when what callers pass changed.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec
import numpy as np

from ctxsearch.graph.facts import FileFacts
from ctxsearch.graph.model import Edge, Rule
from ctxsearch.graph.records import FileGraph, NodeRecord
from ctxsearch.graph.resolve.assemble import Assembler, shared_graph
from ctxsearch.graph.resolve.calls import Calls, find_calls, find_flow_calls
from ctxsearch.graph.resolve.evaluate import Evaluator
from ctxsearch.graph.resolve.languages import evaluator_for
from ctxsearch.graph.resolve.world import Entry, Fetch, Key, World

_NO_READS = np.empty(0, dtype=np.uint64)


class _Saved(msgspec.Struct, frozen=True, array_like=True):
    """What is kept of a file's resolution to restore the resolver without resolving again."""

    reads: bytes  # sorted 64-bit key ids, little-endian
    flows: tuple[tuple[Key, tuple[str, ...]], ...]
    externals: tuple[str, ...]
    entry: Entry


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_Saved)


@dataclass(slots=True)
class _State:
    """The resolver's memory of one file."""

    reads: np.ndarray = field(default_factory=lambda: _NO_READS)
    flows: dict[Key, tuple[str, ...]] = field(default_factory=dict)
    externals: tuple[str, ...] = ()
    digest: bytes = b""


@dataclass(frozen=True, slots=True)
class ResolveDelta:
    """What an update changed: whole file graphs, and the nodes without a file when they differ."""

    graphs: Mapping[str, FileGraph]
    shared: tuple[tuple[NodeRecord, ...], tuple[Edge, ...]] | None
    resolved: int  # files that were resolved, changed result or not


@dataclass(frozen=True, slots=True)
class Taken:
    """Files that the world has taken over and that are not resolved yet."""

    changed: frozenset[str]
    keys: set[int]  # whose answers may differ now
    moved: set[Key]  # argument keys whose answers do


class Resolver:
    """The only writer of its World. Not thread-safe: one update at a time."""

    def __init__(self, repository: str = "repository", fetch: Fetch | None = None) -> None:
        """`fetch` gives the facts of restored files when they are needed."""
        self.repository = repository
        self.world = World(fetch)
        self._states: dict[str, _State] = {}
        self._evaluators: dict[str, Evaluator] = {}
        self._shared_digest = b""

    def restore(self, path: str, saved: bytes) -> None:
        """Take in a file that was resolved by an earlier process, with the `reads` blob of its FileGraph."""
        item = _decoder.decode(saved)
        state = _State(np.frombuffer(item.reads, dtype="<u8"), dict(item.flows), item.externals)
        self.world.load(path, item.entry)
        self._states[path] = state
        for key, values in state.flows.items():
            self.world.flows[key][path] = values

    def update(self, changed: Mapping[str, FileFacts], deleted: Iterable[str] = ()) -> ResolveDelta:
        """Bring every file's graph up to date with new and deleted files."""
        return self.resolve(self.take(changed, deleted))

    def take(self, changed: Mapping[str, FileFacts], deleted: Iterable[str] = ()) -> Taken:
        """Know new and deleted files from now on; `resolve` must follow."""
        gone = sorted(set(deleted) - changed.keys())
        keys = self.world.replace(changed, gone)
        for evaluator in self._evaluators.values():
            evaluator.forget()
        moved = {key for path in gone for key in self._drop(path)}
        return Taken(frozenset(changed), keys, moved)

    def outline(self, path: str) -> FileGraph:
        """A file's nodes, as `resolve` will give them too, and what contains what: no other edge."""
        self.world.reads = set()
        evaluator = self.evaluator(path)
        evaluator.begin(path)
        return Assembler(evaluator, path).outline()

    def outline_shared(self) -> tuple[tuple[NodeRecord, ...], tuple[Edge, ...]]:
        """The nodes without a file, as far as they are known before anything is resolved."""
        return shared_graph(self.repository, self.world.paths(), ())

    def resolve(self, taken: Taken) -> ResolveDelta:
        """Bring every file's graph up to date with what was taken."""
        moved = set(taken.moved)
        dirty = sorted((taken.changed | self._readers(taken.keys)) & set(self.world.paths()))
        calls: dict[str, Calls] = {}
        for path in dirty:
            calls[path], flowed = self._first_phase(path)
            moved |= flowed
        again = set(dirty) | self._readers({self.world.key_id(key) for key in moved})
        graphs: dict[str, FileGraph] = {}
        for path in sorted(again):
            if path not in calls:
                calls[path], _ = self._first_phase(path)
            graph = self._second_phase(path, calls.pop(path))
            if self._differs(path, graph):
                graphs[path] = graph
        return ResolveDelta(graphs, self._shared(), len(again))

    def call_sites(self, path: str) -> list[tuple[int, tuple[str, int], Rule, int]]:
        """A file's resolved calls before anonymous functions are folded: (scope, target, rule, line)."""
        evaluator = self.evaluator(path)
        evaluator.begin(path)
        found = find_calls(evaluator, path)
        return found.edges + find_flow_calls(evaluator, path, found.pending).edges

    # -- one file

    def _first_phase(self, path: str) -> tuple[Calls, set[Key]]:
        """Resolve a file's own sites; the argument keys whose answer it changed."""
        self.world.reads = set()
        evaluator = self.evaluator(path)
        evaluator.begin(path)
        found = find_calls(evaluator, path)
        state = self._states.setdefault(path, _State())
        state.reads = _packed(self.world.reads)
        old = state.flows
        state.flows = {key: tuple(sorted(set(values))) for key, values in found.flows.items()}
        moved = {key for key in old.keys() | state.flows.keys() if old.get(key) != state.flows.get(key)}
        for key in moved:
            by_file = self.world.flows[key]
            by_file.pop(path, None)
            if key in state.flows:
                by_file[path] = state.flows[key]
        return found, moved

    def _second_phase(self, path: str, found: Calls) -> FileGraph:
        """The sites that call parameters, then the file's whole graph."""
        self.world.reads = set()
        evaluator = self.evaluator(path)
        evaluator.begin(path)
        flow = find_flow_calls(evaluator, path, found.pending)
        graph = Assembler(evaluator, path).assemble(found, flow)
        state = self._states[path]
        state.reads = np.union1d(state.reads, _packed(self.world.reads))
        state.externals = tuple(sorted({name for _, name, _ in (*found.external, *flow.external)}))
        saved = _Saved(
            state.reads.astype("<u8").tobytes(),
            tuple(sorted(state.flows.items())),
            state.externals,
            self.world.entry(path),
        )
        return FileGraph(graph.nodes, graph.edges, graph.unresolved, _encoder.encode(saved))

    def _differs(self, path: str, graph: FileGraph) -> bool:
        digest = hashlib.blake2b(_encoder.encode(graph), digest_size=16).digest()
        state = self._states[path]
        same = state.digest == digest
        state.digest = digest
        return not same

    def evaluator(self, path: str) -> Evaluator:
        """The evaluator of the file's language."""
        language = self.world.language(path)
        found = self._evaluators.get(language)
        if found is None:
            found = self._evaluators[language] = evaluator_for(language)(self.world)
        return found

    def _drop(self, path: str) -> set[Key]:
        state = self._states.pop(path, None)
        if state is None:
            return set()
        for key in state.flows:
            self.world.flows[key].pop(path, None)
        return set(state.flows)

    # -- everything

    def _readers(self, keys: set[int]) -> set[str]:
        """Files whose last resolution read one of the keys."""
        if not keys:
            return set()
        wanted = _packed(keys)
        paths = [path for path, state in self._states.items() if len(state.reads)]
        if not paths:
            return set()
        lengths = [len(self._states[path].reads) for path in paths]
        everything = np.concatenate([self._states[path].reads for path in paths])
        hits = np.flatnonzero(np.isin(everything, wanted))
        owners = np.searchsorted(np.cumsum(lengths), hits, side="right")
        return {paths[owner] for owner in np.unique(owners)}

    def _shared(self) -> tuple[tuple[NodeRecord, ...], tuple[Edge, ...]] | None:
        names = sorted({name for state in self._states.values() for name in state.externals})
        nodes, edges = shared_graph(self.repository, self.world.paths(), names)
        digest = hashlib.blake2b(_encoder.encode((nodes, edges)), digest_size=16).digest()
        if digest == self._shared_digest:
            return None
        self._shared_digest = digest
        return nodes, edges


def _packed(keys: set[int]) -> np.ndarray:
    return np.frombuffer(array("Q", sorted(keys)), dtype=np.uint64) if keys else _NO_READS
