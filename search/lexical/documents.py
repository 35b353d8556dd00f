"""How a node becomes a document: the words of each field, and the values that it can be looked up by.

What is changed here changes what is stored: it needs another `FORMAT` (schema.py).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any, Final

import tantivy

from ctxsearch.graph.model import CodeNode, NodeDocument, NodeKind, module_node_id
from ctxsearch.search.documents import encodable, node_texts
from ctxsearch.search.identifiers import identifiers, split_identifier, stem, whole_form
from ctxsearch.search.scope import SEPARATORS, dotted, folders_of, package_ancestors, suffixes_of

_SEPARATORS: Final = frozenset(SEPARATORS)
SYMBOL_PARTS: Final = 4  # `c.d`, `b.c.d`: how many trailing parts of a qualified name have a list of their own


def add_nodes(writer: Any, owner: str, documents: Sequence[NodeDocument]) -> None:
    """Hand the nodes of one path to the writer; they are replaced together, by their owner."""
    texts = node_texts(documents)
    bodies = [identifiers(text.body) for text in texts]
    for text, body in zip(texts, bodies, strict=True):
        document = _document(owner, text.document, _expanded(body))
        if _is_file_node(text.document.node):
            _add_file_words(document, bodies)
        writer.add_document(document)


def _is_file_node(node: CodeNode) -> bool:
    return node.kind is NodeKind.MODULE and node.id == module_node_id(node.path)


def _add_file_words(document: Any, bodies: Sequence[Sequence[str]]) -> None:
    """What a file says as a whole: every word of its nodes, whose texts together are the file's, once."""
    # In any order, and a word again for every identifier that has it: neither is indexed.
    document.add_text("file_words", _expanded(set().union(*bodies)))


def _document(owner: str, of: NodeDocument, body: str) -> Any:
    node = of.node
    path, folders, suffixes, path_words = _path_values(node.path)
    packages = _packages(node.qualified_name, node.name)
    document = tantivy.Document(
        name=_indexed(node.name),
        qualified=_indexed(node.qualified_name),
        signature=_indexed(node.signature),
        doc=_indexed(of.doc),
        path=path_words,
        body=body,
        title=encodable(node.name),
        owner=encodable(owner),
        file=path,
        folder=folders,
        suffix=suffixes,
        language=node.language.lower(),
        symbol=_symbols(node.name, packages[-1] if packages else ""),
        package=packages,
    )
    document.add_unsigned("id", int(node.id, 16))
    document.add_unsigned("kind", int(node.kind))
    return document


class _Expansions(dict[str, str]):
    """Identifier to the words it is indexed under: its parts, and the whole when there is more than one part."""

    def __missing__(self, identifier: str) -> str:
        parts = split_identifier(identifier)
        text = " ".join(map(stem, parts))
        if len(parts) > 1:
            text = f"{text} {whole_form(identifier)}"
        if len(self) >= 400_000:
            self.clear()
        self[identifier] = text
        return text


_expansions = _Expansions()


def _expanded(found: Iterable[str]) -> str:
    return " ".join(map(_expansions.__getitem__, found))


def _indexed(text: str) -> str:
    return _expanded(identifiers(text))


@functools.lru_cache(maxsize=1024)
def _path_values(path: str) -> tuple[str, list[str], list[str], str]:
    """What all nodes of a file have in common: its path, the folders above it, its suffixes, and the path's words."""
    as_stored = encodable(path)
    return as_stored, list(folders_of(as_stored)), list(suffixes_of(as_stored)), _indexed(path)


def _packages(qualified_name: str, name: str) -> list[str]:
    """Every package a node is inside of, and itself; siblings have all but the last in common."""
    around = qualified_name.removesuffix(name)
    if around == qualified_name or not name or _SEPARATORS.isdisjoint(around[-1:]) or not _SEPARATORS.isdisjoint(name):
        return list(map(encodable, package_ancestors(qualified_name)))
    packages = _packages_around(around)
    return [*packages, encodable(f"{packages[-1]}.{name}" if packages else name)]


@functools.lru_cache(maxsize=4096)
def _packages_around(prefix: str) -> tuple[str, ...]:
    return tuple(map(encodable, package_ancestors(prefix)))


def _symbols(name: str, qualified_name: str) -> list[str]:
    """What can be typed to mean exactly this node: its name, and its (dotted) name with some of its qualifiers."""
    own = ""
    while qualified_name and not own:  # what has no letter and no digit (`_`) is no part of a name
        qualified_name, _, last = qualified_name.rpartition(".")
        own = whole_form(last)
    tails = [f"{qualifiers}.{own}" for qualifiers in _qualifiers(qualified_name)]
    return sorted({whole_form(name), *tails} - {""})


@functools.lru_cache(maxsize=4096)
def _qualifiers(qualified_name: str) -> tuple[str, ...]:
    """What may stand before the name of what is inside of this: its last part, the last two and so on."""
    parts = [form for form in map(whole_form, qualified_name.split(".")) if form]
    return tuple(".".join(parts[-size:]) for size in range(1, min(SYMBOL_PARTS, len(parts) + 1)))


def symbol_parts(symbol: str) -> tuple[str, ...]:
    """The names, outermost first, that a symbol as typed consists of."""
    return tuple(part for part in dotted(symbol).split(".") if whole_form(part))


def symbol_form(parts: Sequence[str]) -> str:
    """The names of a symbol as `_symbols` stores them, which has no more than the innermost."""
    return ".".join(map(whole_form, parts[-SYMBOL_PARTS:]))


def symbol_words(parts: Sequence[str]) -> tuple[str, ...]:
    """The words of some names of a symbol."""
    return tuple(stem(word) for part in parts for word in split_identifier(part))
