"""A repository's text and vectors without its edges and its history: all that a search without expansion and freshness
reads, for a fraction of the time.

Nodes are the daemon's own, as it publishes them before calls are resolved; symbols of libraries, which resolution
finds, are not there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from corpora import MAX_FILE_BYTES

from ctxsearch.daemon.freshness import NO_HISTORY
from ctxsearch.graph.columns import NodeColumns
from ctxsearch.graph.facts import EncodedFacts
from ctxsearch.graph.git import Git
from ctxsearch.graph.model import CodeNode, NodeDocument, NodeFlag, NodeId
from ctxsearch.graph.records import FileGraph, owner_of
from ctxsearch.graph.resolve.resolver import Resolver
from ctxsearch.indexer.files import Limits, list_files
from ctxsearch.indexer.pipeline import ParsePool
from ctxsearch.indexer.worker import Parsed
from ctxsearch.search.ports import Corpus, Embedder, NodeContent, OnDisk
from ctxsearch.search.providers import DEFAULT_PROVIDERS

Documents = dict[str, tuple[NodeDocument, ...]]  # by path


class Words:
    """Follows one work tree from look to look; what did not change is neither parsed nor indexed again."""

    def __init__(self, name: str, root: Path, state: Path, embedder: Embedder) -> None:
        self._name = name
        self._root = root
        self._limits = Limits(max_bytes=MAX_FILE_BYTES)
        self._pool = ParsePool(2)
        self._text = DEFAULT_PROVIDERS.open_full_text(state / "text")
        self._vectors = DEFAULT_PROVIDERS.open_vectors(state / "vectors", embedder)
        self._resolver = Resolver(root.resolve().name)
        self._hashes: dict[str, str] = {}  # by path, of what is indexed
        self._owned: dict[str, tuple[CodeNode, ...]] = {}  # by owner, of what is indexed
        self._nodes: dict[NodeId, CodeNode] = {}
        self._generation = 0

    def close(self) -> None:
        """Ends parser processes and closes the stores."""
        self._pool.close()
        self._text.close()
        self._vectors.close()

    def corpus(self) -> Corpus:
        """The work tree as it is now."""
        replaced, removed = self._look()
        self._generation += 1
        for index in (self._text, self._vectors):
            if self._generation == 1:
                index.rebuild(1, sorted(replaced.items()))
            else:
                index.apply(self._generation, replaced, removed)
        self._remember(replaced, removed)
        return Corpus(
            repository=self._name,
            generation=self._generation,
            nodes=_Nodes(self._nodes),
            freshness=NO_HISTORY,
            texts=_Unread(),
            full_text=self._text.reader(),
            vectors=self._vectors.reader(),
            graph=None,
        )

    def _look(self) -> tuple[Documents, list[str]]:
        """The documents of what is new or changed, and whose documents are gone."""
        paths = [entry.path for entry in list_files(self._root, self._limits, Git.open(self._root)).files]
        known = {path: frozenset([digest]) for path, digest in self._hashes.items()}
        facts: dict[str, bytes] = {}
        texts: dict[str, bytes] = {}
        present = set()
        for answer in self._pool.run(self._root, paths, limits=self._limits, known=known):
            if isinstance(answer, Parsed):
                present.add(answer.path)
                if answer.facts is not None:
                    facts[answer.path], texts[answer.path] = answer.facts, answer.text
                    self._hashes[answer.path] = answer.content_hash
        gone = self._hashes.keys() - present
        for path in gone:
            del self._hashes[path]
        self._resolver.take(EncodedFacts(facts), gone)
        replaced = {path: _documents(self._resolver.outline(path), texts[path]) for path in sorted(facts)}
        shared = self._shared()
        removed = [owner for owner in self._owned if owner not in self._hashes and owner not in shared]
        return {**replaced, **shared}, sorted(removed)

    def _shared(self) -> Documents:
        """Packages and the repository, which stand in no file."""
        found: dict[str, list[NodeDocument]] = {}
        for record in self._resolver.outline_shared()[0]:
            found.setdefault(owner_of(record.node), []).append(NodeDocument(record.node, record.doc, ""))
        return {owner: tuple(documents) for owner, documents in found.items()}

    def _remember(self, replaced: Documents, removed: Sequence[str]) -> None:
        for owner in removed:
            self._owned.pop(owner, None)
        for owner, documents in replaced.items():
            self._owned[owner] = tuple(document.node for document in documents)
        self._nodes = {node.id: node for nodes in self._owned.values() for node in nodes}


def _documents(graph: FileGraph, text: bytes) -> tuple[NodeDocument, ...]:
    lines = text.decode("utf-8", "replace").split("\n")
    return tuple(
        NodeDocument(node, record.doc, "\n".join(lines[node.start_line - 1 : node.end_line]))
        for record in graph.nodes
        if not (node := record.node).flags & NodeFlag.ANONYMOUS
    )


class _Nodes:
    """The nodes of one look."""

    def __init__(self, nodes: dict[NodeId, CodeNode]) -> None:
        self._nodes = nodes
        self.columns = NodeColumns.of(nodes.values())

    def node(self, node_id: NodeId, /) -> CodeNode | None:
        """A node, if it is there."""
        return self._nodes.get(node_id)


class _Unread:
    """No text is shown."""

    def contents(self, nodes: Sequence[CodeNode], /, *, bodies: bool = True) -> list[NodeContent]:  # noqa: ARG002
        """Nothing of each."""
        return [NodeContent("", OnDisk.UNCHECKED)] * len(nodes)


@contextmanager
def open_words(name: str, root: Path, state: Path, embedder: Embedder) -> Iterator[Words]:
    """Follow a work tree, from nothing."""
    words = Words(name, root, state, embedder)
    try:
        yield words
    finally:
        words.close()
