"""Resolver: keeps every file's edges equal to what a fresh resolution would give, touching only what changed.

Two phases. The first finds everything that does not depend on what other files pass: edges of all kinds, and which
functions, classes and instances the file's calls pass to parameters. The second resolves the sites that call what a
parameter holds, and what virtual calls may run; most files have nothing left for it. A file is resolved again when it
changed or when an answer that it read did (`World`); the second phase again when what callers pass changed.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import msgspec
import numpy as np

from ctxsearch.graph.facts import FileFacts
from ctxsearch.graph.model import Edge, Rule
from ctxsearch.graph.records import FileGraph, NodeRecord
from ctxsearch.graph.resolve.assemble import Assembler, Begun, shared_graph
from ctxsearch.graph.resolve.calls import find_calls, find_flow_calls
from ctxsearch.graph.resolve.evaluate import Evaluator
from ctxsearch.graph.resolve.languages import evaluator_for
from ctxsearch.graph.resolve.reads import NO_READS, ReadIndex, joined, packed
from ctxsearch.graph.resolve.world import Entry, Fetch, Key, World


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

    reads: np.ndarray = field(default_factory=lambda: NO_READS)
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
        self._index = ReadIndex()
        self._externals: Counter[str] = Counter()  # library symbols, with how many files call them
        self._shared_stale = True  # the nodes without a file are not what the caller last got

    def restore(self, path: str, saved: bytes) -> None:
        """Take in a file that was resolved by an earlier process, with the `reads` blob of its FileGraph."""
        item = _decoder.decode(saved)
        state = _State(np.frombuffer(item.reads, dtype="<u8"), dict(item.flows), item.externals)
        self.world.load(path, item.entry)
        self._states[path] = state
        self._index.put(path, state.reads)
        self.world.note(path, state.flows)
        self._externals.update(state.externals)
        self._shared_stale = False

    def prepare(self) -> None:
        """Do ahead of the first update what it would have to do once."""
        self._index.prepare()
        for language in self.world.languages():
            self._evaluator_of(language)

    def knows_files(self) -> bool:
        """Whether anything was restored or taken."""
        return bool(self._states) or bool(self.world.paths())

    def flows_of(self, path: str) -> dict[Key, tuple[str, ...]]:
        """What the calls of a file pass on, after its first phase."""
        return self._states[path].flows

    def externals_of(self, path: str) -> tuple[str, ...]:
        """The library symbols that a file calls, after its second phase."""
        return self._states[path].externals

    def update(self, changed: Mapping[str, FileFacts], deleted: Iterable[str] = ()) -> ResolveDelta:
        """Bring every file's graph up to date with new and deleted files."""
        return self.resolve(self.take(changed, deleted))

    def take(self, changed: Mapping[str, FileFacts], deleted: Iterable[str] = ()) -> Taken:
        """Know new and deleted files from now on; `resolve` must follow."""
        gone = sorted(set(deleted) - changed.keys())
        self._shared_stale |= any(path not in self.world for path in changed) or any(
            path in self.world for path in gone
        )
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
        dirty = sorted(path for path in taken.changed | self._index.readers(taken.keys) if path in self.world)
        begun: dict[str, Begun] = {}
        for path in dirty:
            begun[path], flowed = self.first_phase(path)
            moved |= flowed
        again = set(dirty) | self._index.readers({self.world.key_id(key) for key in moved})
        graphs: dict[str, FileGraph] = {}
        for path in sorted(again):
            if path not in begun:
                begun[path], _ = self.first_phase(path)
            graph = self.second_phase(path, begun.pop(path))
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

    def first_phase(self, path: str) -> tuple[Begun, set[Key]]:
        """Resolve a file's own sites; the argument keys whose answer it changed."""
        self.world.reads = set()
        evaluator = self.evaluator(path)
        evaluator.begin(path)
        found = find_calls(evaluator, path)
        begun = Assembler(evaluator, path).begun(found)
        state = self._states.setdefault(path, _State())
        state.reads = packed(self.world.reads)
        old = state.flows
        state.flows = {key: tuple(sorted(set(values))) for key, values in found.flows.items()}
        moved = {key for key in old.keys() | state.flows.keys() if old.get(key) != state.flows.get(key)}
        if moved:
            self.world.unnote(path, moved)
            self.world.note(path, {key: state.flows[key] for key in moved if key in state.flows})
        return begun, moved

    def second_phase(self, path: str, begun: Begun) -> FileGraph:
        """The sites that call parameters and may run overrides, then the file's whole graph."""
        self.world.reads = set()
        evaluator = self.evaluator(path)
        virtual = [
            (site, (owner, index))
            for site, owner, index, stable in begun.virtual
            if evaluator.may_dispatch(owner, stable)
        ]
        graph = FileGraph(begun.nodes, begun.edges, begun.unresolved)
        if begun.pending or virtual:
            evaluator.begin(path)
            flow = find_flow_calls(evaluator, path, begun.pending)
            graph = Assembler(evaluator, path).finished(begun, flow, virtual)
        state = self._states[path]
        if self.world.reads:
            state.reads = joined(state.reads, packed(self.world.reads))
        self._index.put(path, state.reads)
        self._call_outside(state, begun.externals)
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
        return self._evaluator_of(self.world.language(path))

    def _evaluator_of(self, language: str) -> Evaluator:
        found = self._evaluators.get(language)
        if found is None:
            found = self._evaluators[language] = evaluator_for(language)(self.world)
        return found

    def _drop(self, path: str) -> set[Key]:
        state = self._states.pop(path, None)
        if state is None:
            return set()
        self.world.unnote(path, state.flows)
        self._index.put(path, NO_READS)
        self._call_outside(state, ())
        return set(state.flows)

    def _call_outside(self, state: _State, externals: tuple[str, ...]) -> None:
        """Note the library symbols that a file calls now."""
        before, after = set(state.externals), set(externals)
        for name in before - after:
            self._externals[name] -= 1
            if not self._externals[name]:
                del self._externals[name]
                self._shared_stale = True
        for name in after - before:
            self._shared_stale |= name not in self._externals
            self._externals[name] += 1
        state.externals = externals

    # -- everything

    def _shared(self) -> tuple[tuple[NodeRecord, ...], tuple[Edge, ...]] | None:
        """The nodes without a file, when they have changed."""
        if not self._shared_stale:
            return None
        self._shared_stale = False
        return shared_graph(self.repository, self.world.paths(), sorted(self._externals))
