"""Some of a repository's files resolved from nothing, in step with others who resolve the rest.

Resolution needs to know two things of all files: what they offer (their entries) before the first phase, and what
their calls pass (their flows) before the second. Between these points portions need nothing of one another, so each
may have a process of its own. Together they give what `Resolver.update` gives for the same files.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

import msgspec

from ctxsearch.graph.records import FileGraph
from ctxsearch.graph.resolve.assemble import Begun
from ctxsearch.graph.resolve.resolver import Resolver
from ctxsearch.graph.resolve.world import Entry, Fetch, Key, read_entry

Flows = dict[Key, tuple[str, ...]]
_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Begun)


class Held(Protocol):
    """Bytes by path, each put once and read once."""

    def put(self, path: str, content: bytes) -> None: ...

    def __getitem__(self, path: str) -> bytes: ...


class ResolvedFile(msgspec.Struct, frozen=True):
    """A file's part of the graph, and the library symbols that it calls."""

    path: str
    graph: FileGraph
    externals: tuple[str, ...]


class Portion:
    """Resolves the files of `share`. The steps are called once each, in the order in which they stand here."""

    def __init__(self, share: Sequence[str], fetch: Fetch, held: Held) -> None:
        """`held` keeps what lies between the two phases: more than all that is in memory."""
        self._share = share
        self._fetch = fetch
        self._resolver = Resolver(fetch=fetch)
        self._held = held
        self._strings: dict[str, str] = {}

    def entries(self) -> list[tuple[str, Entry]]:
        """What the files of this portion offer."""
        return [(path, read_entry(self._fetch(path))) for path in self._share]

    def know(self, entries: Iterable[tuple[str, Entry]]) -> None:
        """What the files of all portions offer."""
        for path, entry in entries:
            self._resolver.world.load(path, entry)

    def language(self, path: str) -> str:
        """Of a file that is known."""
        return self._resolver.world.language(path)

    def outlines(self) -> Iterator[tuple[str, FileGraph]]:
        """Nodes and containment of every file, for those who cannot wait for the rest; may be left out."""
        for path in self._share:
            yield path, self._resolver.outline(path)

    def first_phase(self) -> Iterator[tuple[str, Flows]]:
        """Resolve every file's own sites; what each passes on."""
        for path in self._share:
            begun, _ = self._resolver.first_phase(path)
            self._held.put(path, _encoder.encode(begun))
            yield path, self._resolver.flows_of(path)

    def learn(self, flows: Iterable[tuple[str, Flows]]) -> None:
        """What the files of the other portions pass on."""
        for path, own in flows:
            self._resolver.world.note(path, {self._one(key): self._one(values) for key, values in own.items()})

    def _one(self, strings: tuple[str, ...]) -> tuple[str, ...]:
        """The same strings, kept once: many files pass the same things to the same functions."""
        return tuple(self._strings.setdefault(string, string) for string in strings)

    def second_phase(self) -> Iterator[ResolvedFile]:
        """Every file's whole graph."""
        for path in self._share:
            graph = self._resolver.second_phase(path, _decoder.decode(self._held[path]))
            yield ResolvedFile(path, graph, self._resolver.externals_of(path))
