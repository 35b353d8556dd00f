"""Full text in tantivy: the only module that imports it. Writes and reads one index directory.

Text is split into words in Python (identifiers.py) and handed to the engine joined with blanks; queries
are built
term by term, never parsed. The generation is a document of its own, replaced in the same commit as what it
names.
"""

from __future__ import annotations

import functools
import math
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import tantivy

from ctxsearch.graph.columns import Numbers
from ctxsearch.graph.model import CodeNode, NodeDocument, NodeId, NodeKind, module_node_id
from ctxsearch.search.documents import node_texts
from ctxsearch.search.errors import IndexCorrupt, InvalidArgument
from ctxsearch.search.fuzzy import allowed_edits
from ctxsearch.search.identifiers import (
    MAX_WORD,
    content_words,
    identifiers,
    split_identifier,
    stem,
    whole_form,
    words,
)
from ctxsearch.search.long_texts import Emphasis, long_text, mentioned_files, weighed_words
from ctxsearch.search.ports import NO_HITS, Hit, Hits, Scores, Selection, node_ids
from ctxsearch.search.scope import SEPARATORS, Scope, dotted, package_ancestors, path_regex
from ctxsearch.search.segments import check_segments
from ctxsearch.search.steps import EXACT_BONUS, demoted_flags

FORMAT: Final = "text-6"  # names schema and contents; another one lives in another directory and is built anew
_META: Final = "generation"
_WRITER_HEAP: Final = 192_000_000  # 100,000 nodes in one segment: every further one costs each word's look-ups again
_KIND_SHIFT: Final = 32
_VARIABLE: Final = np.uint64(NodeKind.VARIABLE)
_EXTERNAL: Final = np.uint64(NodeKind.EXTERNAL)
_FUZZY_FIELDS: Final = {"symbol": 1.0, "name": 0.25}  # a near name beats a name with a near part
_WORDS_KEPT: Final = 20_000  # of earlier queries
_SEPARATORS: Final = frozenset(SEPARATORS)
_QUALIFIED_TAIL: Final = 4  # `c.d`, `b.c.d`: how many trailing parts of a qualified name can be typed exactly


@dataclass(frozen=True, slots=True)
class LexicalPolicy:
    """Every tuned number and switch of the keyword ranking, each with its reason (bench/relevance.py
    measures)."""

    fields: Mapping[str, float] = field(
        default_factory=lambda: {
            "name": 5.0,  # a definition beats its mentions
            "qualified": 2.0,
            "signature": 1.5,
            "doc": 2.0,
            "path": 2.0,
            "body": 1.0,
        }
    )
    # A file's own evidence, shared by its nodes: a query about a subject names the file's words, not one function's.
    file_coverage: float = 1.4  # share of the query's words, by rarity, that the file contains
    variable: float = 0.6  # factor on a variable's own match: all name, it matches better than the code that answers
    node_match: float = 1.5  # how well the node itself matches
    second_match: float = 0.4  # of the file's next best node's match: two that match say more than one
    files: int = 150  # how many files take part
    emphasis: Emphasis = field(default_factory=Emphasis)  # on words of a long text
    mentioned_file: float = 1.0  # what a file gains whose name the text spells, shared by the files of that name
    mentions: int = 10  # a name that more nodes have says nothing
    whole_identifier: float = 2.0  # a whole identifier beats its parts
    exact_symbol: bool = True  # a query that is a symbol puts that symbol first
    demotion: float = 0.6  # factor on tests, generated and vendored code; 1 switches it off
    external: float = 0.3  # factor on library symbols, which have a name and nothing else
    max_terms: int = 48  # the words of a long query that tell most
    long_text_matches: int = 2  # how many times the list's length is fetched for one: its many words match widely
    # A word is not asked of a field where it tells little and takes long: where it is in more nodes than both of these.
    common_share: float = 0.05  # of all nodes
    common_nodes: int = 3_000


class TantivyIndex:
    """The full-text index of one repository. One writer process; readers are values."""

    def __init__(self, directory: Path, policy: LexicalPolicy | None = None) -> None:
        """Open the index under `directory`, or make an empty one. Raises IndexCorrupt when it cannot be
        read."""
        self._directory = directory / FORMAT
        self._policy = policy if policy is not None else LexicalPolicy()
        self._schema = _schema()
        self._lock = threading.Lock()  # guards _writer, the one mutable cell: writes are one at a time
        self._writer: Any = None
        self._directory.mkdir(parents=True, exist_ok=True)
        check_segments(self._directory)
        try:
            self._index = tantivy.Index(self._schema, path=str(self._directory))
            self._index.config_reader(reload_policy="manual")
            self._index.reload()
        except (ValueError, OSError) as error:
            raise IndexCorrupt(f"full-text index {self._directory}: {error}") from error

    @property
    def generation(self) -> int:
        """The newest committed generation; 0 when empty."""
        self._index.reload()
        return _generation(self._index.searcher(), self._schema)

    def reader(self) -> TantivyReader:
        """The newest committed generation, pinned."""
        self._index.reload()
        return TantivyReader(self._index.searcher(), self._schema, self._policy)

    def apply(self, generation: int, replaced: Mapping[str, Sequence[NodeDocument]], removed: Sequence[str]) -> None:
        """Replace and remove by path, in one commit."""
        with self._lock:
            writer = self._open_writer()
            try:
                for path in [*replaced, *removed]:
                    writer.delete_documents_by_term("owner", _storable(path))
                for path in sorted(replaced):
                    _add(writer, path, replaced[path])
                self._commit(writer, generation)
            except BaseException:
                writer.rollback()
                raise

    def rebuild(self, generation: int, documents: Iterable[tuple[str, Sequence[NodeDocument]]]) -> None:
        """Start over, in one commit."""
        with self._lock:
            writer = self._open_writer()
            try:
                writer.delete_all_documents()
                for path, nodes in documents:
                    _add(writer, path, nodes)
                self._commit(writer, generation)
            except BaseException:
                writer.rollback()
                raise

    def discard(self, ids: Sequence[NodeId]) -> None:
        """Forget nodes; the generation stays."""
        with self._lock:
            writer = self._open_writer()
            for node_id in ids:
                query = tantivy.Query.term_query(self._schema, "id", int(node_id, 16), "basic")
                writer.delete_documents_by_query(query)
            writer.commit()

    def close(self) -> None:
        """Release the writer's lock, after its merges."""
        with self._lock:
            if self._writer is not None:
                self._writer.wait_merging_threads()
                self._writer = None

    def _open_writer(self) -> Any:
        if self._writer is None:
            try:
                self._writer = self._index.writer(_WRITER_HEAP, 1)
            except ValueError as error:
                raise IndexCorrupt(f"full-text index {self._directory}: {error}") from error
        return self._writer

    def _commit(self, writer: Any, generation: int) -> None:
        writer.delete_documents_by_term("meta", _META)
        document = tantivy.Document()
        document.add_text("meta", _META)
        document.add_unsigned("generation", generation)
        writer.add_document(document)
        writer.commit()


class TantivyReader:
    """One generation, pinned. Holds no mutable state but small caches keyed by what they were made from."""

    def __init__(self, searcher: Any, schema: Any, policy: LexicalPolicy) -> None:
        """Pin a searcher."""
        self._searcher = searcher
        self._schema = schema
        self._policy = policy
        self._rarities: dict[str, float] = {}
        self._words: dict[tuple[str, float], _Word] = {}
        self._file_clauses: dict[tuple[str, float], tuple[Any, Any]] = {}
        self._filters: OrderedDict[Scope, list[tuple[Any, Any]]] = OrderedDict()
        self.generation = _generation(searcher, schema)
        self._is_file = tantivy.Query.const_score_query(self._term("kind", int(NodeKind.MODULE)), 0.0)
        self._file_count = int(searcher.search(self._is_file, 1, count=True).count or 0)

    def count(self) -> int:
        """Nodes that can be found."""
        documents = int(self._searcher.num_docs)
        return documents - 1 if documents else 0  # the generation is a document too

    def search(self, text: str, selection: Selection, limit: int) -> Hits:
        """Best matches first."""
        terms = self._terms(text)
        if not terms:
            return NO_HITS
        demoted = demoted_flags(text, selection.scope.paths)
        files = self._files(text, selection.scope)
        exact = self._exact(text, terms, selection, limit, files, demoted=demoted)
        fetch = limit if long_text(text) is None else limit * self._policy.long_text_matches
        for wanted in self._queries(terms):
            query = self._within(wanted, selection.scope)
            addresses, scores = self._fetch(query, fetch)
            if len(addresses) == fetch:
                break
        while True:
            found = [
                *exact,
                self._rescored(addresses, scores, files, demoted=demoted),
                self._file_nodes(files, selection, demoted=demoted),
            ]
            best = _best(found, selection, limit)
            if len(best) == limit or len(addresses) < fetch:
                return best
            # Most of what was fetched is below the freshness floor: look deeper, all the way if need be.
            fetch *= 8
            addresses, scores = self._fetch(query, fetch)

    def _files(self, text: str, scope: Scope) -> _Files:
        """The files that the query is about."""
        weighed = weighed_words(text, self._policy.emphasis)
        rarity = _heaviest(
            {word: factor * self._rarity(word) for word, factor in weighed.items()}, self._policy.max_terms
        )
        total = sum(rarity.values())
        if not total:
            return _NO_FILES
        files = _of_files(scope)
        clauses = [self._file_clause(word, weight) for word, weight in rarity.items() if weight]
        query = tantivy.Query.boolean_query(clauses)  # only files have these words
        addresses, scores = self._fetch(self._within(query, files), self._policy.files)
        found = _Files(
            self._numbers("id", addresses),
            np.array(scores) * (self._policy.file_coverage / total),
            self._numbers("traits", addresses),
        )
        return self._with_mentioned(found, text, files)

    def _file_clause(self, word: str, weight: float) -> tuple[Any, Any]:
        """A word that a file may have, counting as much as it tells."""
        clause = self._file_clauses.get((word, weight))
        if clause is None:
            query = tantivy.Query.const_score_query(self._term("file_words", word), weight)
            if len(self._file_clauses) >= _WORDS_KEPT:
                self._file_clauses.clear()
            clause = self._file_clauses[word, weight] = tantivy.Occur.Should, query
        return clause

    def _with_mentioned(self, files: _Files, text: str, scope: Scope) -> _Files:
        """A file that the text spells gains; of several of that name, those in most of the spelled directories."""
        weight, most = self._policy.mentioned_file, self._policy.mentions
        spelled = []
        for name, path in mentioned_files(text).items() if weight else ():
            if not 0 < int(self._searcher.doc_freq("title", name)) <= most:
                continue
            addresses, scores = self._fetch(self._within(self._spelled(name, path), scope), most)
            best = [address for address, score in zip(addresses, scores, strict=True) if score == scores[0]]
            gains = np.full(len(best), weight / len(best)) if best else np.empty(0)
            spelled.append(_Files(self._numbers("id", best), gains, self._numbers("traits", best)))
        return _added([files, *spelled]) if spelled else files

    def _spelled(self, name: str, path: str) -> Any:
        """Files of a name, by how many words of a path theirs has."""
        named = tantivy.Query.const_score_query(self._term("title", name), 0.0)
        around = [tantivy.Query.const_score_query(self._term("path", one), 1.0) for one in content_words(path)]
        return tantivy.Query.boolean_query(
            [
                *((tantivy.Occur.Must, one) for one in (self._is_file, named)),
                *((tantivy.Occur.Should, one) for one in around),
            ]
        )

    def _rarity(self, word: str) -> float:
        """How much a word tells files apart; 0 when no file has it."""
        rarity = self._rarities.get(word)
        if rarity is None:
            count = int(self._searcher.doc_freq("file_words", word))
            rarity = math.log(1.0 + (self._file_count - count + 0.5) / (count + 0.5)) if count else 0.0
            if len(self._rarities) >= _WORDS_KEPT:
                self._rarities.clear()
            self._rarities[word] = rarity
        return rarity

    def _file_nodes(self, files: _Files, selection: Selection, *, demoted: int) -> Hits:
        """The files themselves, for those none of whose nodes matches by itself."""
        if not len(files.numbers) or not selection.scope.accepts_kind(NodeKind.MODULE):
            return NO_HITS
        lower = (files.traits & np.uint64(demoted)) != 0
        found = Hits(files.numbers, np.where(lower, files.evidence * self._policy.demotion, files.evidence))
        return self._in_packages(found, selection.scope)

    def _in_packages(self, found: Hits, scope: Scope) -> Hits:
        """The files that are in the packages of a scope themselves: others may have nodes that are."""
        if not scope.packages and not scope.exclude_packages:
            return found
        packages = Scope(packages=scope.packages, exclude_packages=scope.exclude_packages)
        addresses, _ = self._fetch(self._within(self._is_file, packages), self._file_count)
        inside = np.isin(found.numbers, self._numbers("id", addresses))
        return Hits(found.numbers[inside], found.scores[inside])

    def _numbers(self, name: str, addresses: list[Any]) -> Numbers:
        """A column of what was found."""
        return np.array(self._searcher.fast_field_values(name, addresses), np.uint64)

    def fuzzy(self, text: str, selection: Selection, limit: int) -> list[Hit]:
        """Nearest names first; the score is 1 for the same name and falls with every edit."""
        found: dict[NodeId, float] = {}
        for form in _typed_forms(text):
            for hit in self._fuzzy_form(form, selection, limit):
                found[hit.id] = max(found.get(hit.id, 0.0), hit.score)
        ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
        return [Hit(node_id, score) for node_id, score in ranked[:limit]]

    def near_names(self, text: str, limit: int) -> list[str]:
        """Names that exist and look like the text, nearest first."""
        near: dict[str, float] = {}
        for form in _typed_forms(text):
            addresses, scores = self._fetch(self._near(form), 20 * limit)
            for address, score in zip(addresses, scores, strict=True):
                name = self._searcher.doc(address).get_first("title")
                near[name] = max(near.get(name, 0.0), score / _perfect(form))
        ranked = sorted((-score, name) for name, score in near.items())
        return [name for _score, name in ranked[:limit]]

    def _queries(self, terms: Mapping[str, float]) -> Iterator[Any]:
        """The words in every field where they tell something, weighted; then, for those that want more, in all of them.

        Most of a search's time goes to the longest lists of nodes, which tell the least.
        """
        words = [self._word(word, factor) for word, factor in terms.items()]
        telling = [clause for word in words for clause in word.telling]
        common = [clause for word in words for clause in word.common]
        if telling:
            yield tantivy.Query.boolean_query(telling)
        if common or not telling:
            yield tantivy.Query.boolean_query(telling + common)

    def _word(self, word: str, factor: float) -> _Word:
        """What to ask the fields in which there is a word."""
        found = self._words.get((word, factor))
        if found is None:
            least = max(self._policy.common_nodes, self._policy.common_share * int(self._searcher.num_docs))
            found = _Word([], [])
            for name, weight in self._policy.fields.items():
                count = int(self._searcher.doc_freq(name, word)) if weight > 0 else 0
                if count:
                    clause = tantivy.Occur.Should, _boosted(self._term(name, word), weight * factor)
                    (found.common if count > least else found.telling).append(clause)
            if len(self._words) >= _WORDS_KEPT:
                self._words.clear()
            self._words[word, factor] = found
        return found

    def _terms(self, text: str) -> dict[str, float]:
        """The words to look for and how much each counts: parts, whole identifiers, the words joined."""
        terms = dict(weighed_words(text, self._policy.emphasis))
        parts = long_text(text)
        text = text if parts is None else parts.telling
        whole = [whole_form(one) for one in identifiers(text) if len(split_identifier(one)) > 1]
        if 1 < len(terms) <= 4 and not whole:
            whole = [
                "".join(dict.fromkeys(words(text)))[:MAX_WORD]
            ]  # `get http response` is how getHTTPResponse is said
        for form in whole:
            terms[form] = self._policy.whole_identifier
        if len(terms) <= self._policy.max_terms:
            return terms
        telling = {word: factor * self._node_rarity(word) for word, factor in terms.items()}
        return {word: terms[word] for word in sorted(_heaviest(telling, self._policy.max_terms))}

    def _node_rarity(self, word: str) -> float:
        """How much a word tells nodes apart; 0 when no node has it: it would cost a place and find nothing."""
        count = int(self._searcher.doc_freq("body", word)) or int(self._searcher.doc_freq("doc", word))
        return math.log(1.0 + (int(self._searcher.num_docs) - count + 0.5) / (count + 0.5)) if count else 0.0

    def _term(self, field_name: str, value: object) -> Any:
        return tantivy.Query.term_query(self._schema, field_name, value, "freq")

    def _within(self, query: Any, scope: Scope) -> Any:
        if scope.is_everything:
            return query
        return tantivy.Query.boolean_query([(tantivy.Occur.Must, query), *self._scope_clauses(scope)])

    def _scope_clauses(self, scope: Scope) -> list[tuple[Any, Any]]:
        clauses = self._filters.get(scope)
        if clauses is None:
            clauses = _scope_clauses(self._schema, scope)
            self._filters[scope] = clauses
            if len(self._filters) > 64:
                self._filters.popitem(last=False)
        return clauses

    def _fetch(self, query: Any, limit: int) -> tuple[list[Any], list[float]]:
        hits = self._searcher.search(query, limit, count=False).hits
        return [address for _, address in hits], [score for score, _ in hits]

    def _exact(
        self,
        text: str,
        terms: Mapping[str, float],
        selection: Selection,
        limit: int,
        files: _Files,
        *,
        demoted: int,
    ) -> list[Hits]:
        """Nodes whose (qualified) name is what was typed, above everything else; no list where none is typed."""
        symbol = _symbol_form(text) if self._policy.exact_symbol else ""
        if not symbol:
            return []
        *_, wanted = self._queries(terms)  # few nodes have that name: no list is read to its end
        named = tantivy.Query.const_score_query(self._term("symbol", symbol), 0.0)
        query = tantivy.Query.boolean_query([(tantivy.Occur.Must, named), (tantivy.Occur.Should, wanted)])
        addresses, scores = self._fetch(self._within(query, selection.scope), limit)
        found = self._rescored(addresses, scores, files, demoted=demoted)
        return [Hits(found.numbers, found.scores * EXACT_BONUS)]

    def _rescored(self, addresses: list[Any], scores: list[float], files: _Files, *, demoted: int) -> Hits:
        """What was found: its own match relative to the best, its file's evidence, then demotion."""
        if not addresses:
            return NO_HITS
        policy = self._policy
        share = policy.node_match / scores[0] if scores[0] > 0 else 0.0
        matches = np.array(scores) * share
        owners, traits = self._numbers("file_id", addresses), self._numbers("traits", addresses)
        around = _second_matches(owners, matches) * policy.second_match + files.of(owners)
        kinds = traits >> np.uint64(_KIND_SHIFT)
        matches[kinds == _VARIABLE] *= policy.variable
        found = matches + around
        found[kinds == _EXTERNAL] *= policy.external
        if demoted:
            found[(traits & np.uint64(demoted)) != 0] *= policy.demotion
        return Hits(self._numbers("id", addresses), found)

    def _fuzzy_form(self, form: str, selection: Selection, limit: int) -> list[Hit]:
        query = self._within(self._near(form), selection.scope)
        fetch = limit
        while True:
            addresses, scores = self._fetch(query, fetch)
            ids = self._searcher.fast_field_values("id", addresses)
            hits = [Hit(one, score / _perfect(form)) for one, score in zip(node_ids(ids), scores, strict=True)]
            kept = [hit for hit in hits if hit.id not in selection.denied]
            if len(kept) >= limit or len(addresses) < fetch:
                return kept[:limit]
            fetch *= 8

    def _near(self, form: str) -> Any:
        """Names within the allowed edits: one clause per distance, so that a nearer name matches more of
        them."""
        clauses = []
        for edits in range(allowed_edits(form) + 1):
            for name, weight in _FUZZY_FIELDS.items():
                query = tantivy.Query.fuzzy_term_query(self._schema, name, form, edits, True)
                clauses.append((tantivy.Occur.Should, tantivy.Query.const_score_query(query, weight)))
        return tantivy.Query.boolean_query(clauses)


class _Word(NamedTuple):
    """A word's clauses, one for each field where it is."""

    telling: list[tuple[Any, Any]]
    common: list[tuple[Any, Any]]  # where it is in too many nodes to tell them apart


class _Files(NamedTuple):
    """The files that a query is about, in columns and no order, each once."""

    numbers: Numbers  # of the ids of their nodes
    evidence: Scores
    traits: Numbers

    def of(self, owners: Numbers) -> Scores:
        """The evidence of each of these; 0 where there is none."""
        if not len(self.numbers):
            return np.zeros(len(owners))
        order = self.numbers.argsort()
        places = order.take(self.numbers.searchsorted(owners, sorter=order), mode="clip")
        return np.where(self.numbers[places] == owners, self.evidence[places], 0.0)


_NO_FILES: Final = _Files(np.empty(0, np.uint64), np.empty(0), np.empty(0, np.uint64))


def _added(parts: Sequence[_Files]) -> _Files:
    """Every file of the parts, with all evidence for it."""
    numbers, evidence, traits = map(np.concatenate, zip(*parts, strict=True))
    distinct, first, which = np.unique(numbers, return_index=True, return_inverse=True)
    return _Files(distinct, np.bincount(which, evidence).astype(np.float64), traits[first])


def open_full_text(directory: Path) -> TantivyIndex:
    """The default full-text index (entry point `tantivy`)."""
    return TantivyIndex(directory)


@functools.lru_cache(maxsize=64)
def _of_files(scope: Scope) -> Scope:
    """As much of a scope as files can be asked about."""
    return Scope(
        paths=scope.paths,
        languages=scope.languages,
        exclude_paths=scope.exclude_paths,
        exclude_languages=scope.exclude_languages,
    )


def _best(found: Sequence[Hits], selection: Selection, limit: int) -> Hits:
    """The first hits that are not below the freshness floor, best first, of equals the lower id.

    What is in several lists counts as it does in the first of them.
    """
    numbers = np.concatenate([hits.numbers for hits in found])
    scores = np.concatenate([hits.scores for hits in found])
    order = numbers.argsort(kind="stable")
    numbers, scores = numbers[order], scores[order]
    first = np.ones(len(numbers), np.bool_)
    np.not_equal(numbers[1:], numbers[:-1], out=first[1:])
    numbers, scores = numbers[first], scores[first]
    if selection.denied:
        allowed = np.isin(numbers, selection.denied_numbers, invert=True)
        numbers, scores = numbers[allowed], scores[allowed]
    order = np.argsort(-scores, kind="stable")[:limit]
    return Hits(numbers[order], scores[order])


def _heaviest(weights: Mapping[str, float], limit: int) -> Mapping[str, float]:
    """The words that weigh most, in the order in which they are given."""
    if len(weights) <= limit:
        return weights
    kept = frozenset(sorted(weights, key=lambda word: (-weights[word], word))[:limit])
    return {word: weight for word, weight in weights.items() if word in kept}


def _second_matches(owners: Numbers, scores: Scores) -> Scores:
    """For every node, what the second best node of its file scores, 0 where there is none; the scores are falling."""
    order = owners.argsort(kind="stable")
    owners, scores = owners[order], scores[order]
    begins = np.ones(len(owners) + 1, np.bool_)  # of a file; and the end
    np.not_equal(owners[1:], owners[:-1], out=begins[1:-1])
    starts = begins[:-1].nonzero()[0]
    seconds = np.where(begins[starts + 1], 0.0, scores.take(starts + 1, mode="clip"))
    found = np.empty(len(owners))
    found[order] = seconds[begins[:-1].cumsum() - 1]
    return found


def _schema() -> Any:
    builder = tantivy.SchemaBuilder()
    for name in ("name", "qualified", "signature", "doc", "path", "body"):
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
    for name in ("symbol", "owner", "file", "language", "package", "meta"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("file_words", tokenizer_name="whitespace", index_option="basic")
    builder.add_text_field("title", tokenizer_name="raw", index_option="basic", stored=True)
    builder.add_unsigned_field("id", fast=True, indexed=True)
    builder.add_unsigned_field("file_id", fast=True)  # the node of the file it stands in
    builder.add_unsigned_field("traits", fast=True)
    builder.add_unsigned_field("kind", indexed=True)
    builder.add_unsigned_field("generation", stored=True)
    return builder.build()


def _generation(searcher: Any, schema: Any) -> int:
    query = tantivy.Query.term_query(schema, "meta", _META, "basic")
    hits = searcher.search(query, 1, count=False).hits
    return int(searcher.doc(hits[0][1]).get_first("generation")) if hits else 0


class _Expansions(dict[str, str]):
    """Identifier to the words it is indexed under: its parts, and the whole when there is more than one
    part."""

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


def _indexed(text: str) -> str:
    return " ".join(map(_expansions.__getitem__, identifiers(text)))


def _add(writer: Any, owner: str, documents: Sequence[NodeDocument]) -> None:
    texts = node_texts(documents)
    bodies = [_indexed(text.body) for text in texts]
    for text, body in zip(texts, bodies, strict=True):
        document = _document(owner, text.document, body)
        if _is_file_node(text.document.node):
            _add_file_words(document, bodies)
        writer.add_document(document)


def _is_file_node(node: CodeNode) -> bool:
    return node.kind is NodeKind.MODULE and node.id == module_node_id(node.path)


def _add_file_words(document: Any, bodies: Iterable[str]) -> None:
    """What a file says as a whole: every word of its nodes, whose texts together are the file's, once."""
    words_once: set[str] = set()
    for body in bodies:
        words_once.update(body.split())
    document.add_text("file_words", " ".join(sorted(words_once)))


def _document(owner: str, of: NodeDocument, body: str) -> Any:
    node = of.node
    path, path_words, file_id = _path_values(node.path)
    packages = _packages(node.qualified_name, node.name)
    document = tantivy.Document(
        name=_indexed(node.name),
        qualified=_indexed(node.qualified_name),
        signature=_indexed(node.signature),
        doc=_indexed(of.doc),
        path=path_words,
        body=body,
        title=_storable(node.name),
        owner=_storable(owner),
        file=path,
        language=node.language.lower(),
        symbol=_symbols(node.name, packages[-1] if packages else ""),
        package=packages,
    )
    document.add_unsigned("id", int(node.id, 16))
    document.add_unsigned("file_id", file_id)
    document.add_unsigned("traits", int(node.flags) | int(node.kind) << _KIND_SHIFT)
    document.add_unsigned("kind", int(node.kind))
    return document


def _packages(qualified_name: str, name: str) -> list[str]:
    """Every package a node is inside of, and itself; siblings have all but the last in common."""
    around = qualified_name.removesuffix(name)
    if around == qualified_name or not name or _SEPARATORS.isdisjoint(around[-1:]) or not _SEPARATORS.isdisjoint(name):
        return list(map(_storable, package_ancestors(qualified_name)))
    packages = _packages_around(around)
    return [*packages, _storable(f"{packages[-1]}.{name}" if packages else name)]


@functools.lru_cache(maxsize=4096)
def _packages_around(prefix: str) -> tuple[str, ...]:
    return tuple(map(_storable, package_ancestors(prefix)))


@functools.lru_cache(maxsize=1024)
def _path_values(path: str) -> tuple[str, str, int]:
    """What all nodes of a file have in common: its path, the path's words, the number of the file's own node."""
    return _storable(path), _indexed(path), int(module_node_id(path), 16) if path else 0


def _storable(text: str) -> str:
    """File names that are no UTF-8 arrive as lone surrogates, which the engine cannot hold."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def _symbols(name: str, qualified_name: str) -> list[str]:
    """What can be typed to mean exactly this node: its name, and its (dotted) name with some of its qualifiers."""
    parts = [form for form in map(whole_form, qualified_name.split(".")) if form]
    tails = {".".join(parts[-size:]) for size in range(2, min(_QUALIFIED_TAIL, len(parts)) + 1)}
    return sorted({whole_form(name), *tails} - {""})


def _symbol_form(text: str) -> str:
    """The symbol that the whole query spells, in the form `_symbols` stores; "" when it is no symbol."""
    typed = text.strip().removesuffix("()")
    if not typed or len(typed.split()) > 1:
        return ""
    return ".".join(form for form in map(whole_form, dotted(typed).split(".")) if form)


def _typed_forms(text: str) -> list[str]:
    """The identifiers of a query that may be misspelt, in one spelling each; joined words count as one
    too."""
    forms = [whole_form(identifier) for identifier in identifiers(text)]
    if 1 < len(forms) <= 4:
        forms.append("".join(forms))
    return [form for form in dict.fromkeys(forms) if form][:8]


def _perfect(form: str) -> float:
    """The score of a name that is what was typed."""
    return (allowed_edits(form) + 1) * sum(_FUZZY_FIELDS.values())


def _boosted(query: Any, boost: float) -> Any:
    return query if boost == 1.0 else tantivy.Query.boost_query(query, boost)


def _path_query(schema: Any, pattern: str) -> Any:
    """Files that a path or glob means; the engine bounds how large the automaton of one may be."""
    try:
        return tantivy.Query.regex_query(schema, "file", path_regex(pattern))
    except ValueError as error:
        raise InvalidArgument("scope.paths", pattern, "a glob with fewer wildcards") from error


def _scope_clauses(schema: Any, scope: Scope) -> list[tuple[Any, Any]]:
    """The scope in the engine's own terms; none of it adds to the score."""
    must: list[list[Any]] = []
    must_not: list[Any] = []
    for paths, kinds, languages, packages, out in (
        (scope.paths, scope.kinds, scope.languages, scope.packages, None),
        (
            scope.exclude_paths,
            scope.exclude_kinds,
            scope.exclude_languages,
            scope.exclude_packages,
            must_not,
        ),
    ):
        groups = [
            [_path_query(schema, one) for one in paths],
            [tantivy.Query.term_query(schema, "kind", int(one)) for one in kinds],
            [tantivy.Query.term_query(schema, "language", one.lower(), "basic") for one in languages],
            [tantivy.Query.term_query(schema, "package", dotted(one), "basic") for one in packages],
        ]
        if out is None:
            must.extend(group for group in groups if group)
        else:
            out.extend(query for group in groups for query in group)
    included = [tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in group]) for group in must]
    return [
        *((tantivy.Occur.Must, tantivy.Query.const_score_query(query, 0.0)) for query in included),
        *((tantivy.Occur.MustNot, query) for query in must_not),
    ]
