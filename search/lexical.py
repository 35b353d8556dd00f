"""Full text in tantivy: the only module that imports it. Writes and reads one index directory.

Text is split into words in Python (identifiers.py) and handed to the engine joined with blanks; queries
are built
term by term, never parsed. The generation is a document of its own, replaced in the same commit as what it
names.
"""

from __future__ import annotations

import functools
import math
import shutil
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import tantivy
from numpy.typing import NDArray

from ctxsearch.graph.columns import NO_FILE, NodeColumns, Numbers, Rows
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
from ctxsearch.search.long_texts import long_text, mentioned_files, weighed_words
from ctxsearch.search.matches import Answers, LexicalPolicy, Matches, best_matches
from ctxsearch.search.ports import NO_HITS, Denied, Hit, Hits, Selection, node_ids
from ctxsearch.search.scope import (
    SEPARATORS,
    Beneath,
    Scope,
    dotted,
    folders_of,
    package_ancestors,
    path_regex,
    plain_path,
    simple_glob,
    suffixes_of,
)
from ctxsearch.search.segments import check_segments
from ctxsearch.search.steps import demoted_flags

FORMAT: Final = "text-9"  # names schema and contents; another one lives in another directory and is built anew
_META: Final = "generation"
_WRITER_HEAP: Final = 192_000_000  # 100,000 nodes in one segment: every further one costs each word's look-ups again
_FUZZY_FIELDS: Final = {"symbol": 1.0, "name": 0.25}  # a near name beats a name with a near part
_HOPED: Final = 1.5  # times what the last file that takes part weighs at least: so much it mostly does weigh
_ROUNDED_UP: Final = 1.0 + 1e-5  # the engine adds in half of the digits
_FEW_FILES: Final = 2_000  # whose lists are gathered in about a millisecond
_WORDS_KEPT: Final = 20_000  # of earlier queries
_SEPARATORS: Final = frozenset(SEPARATORS)
_QUALIFIED_TAIL: Final = 4  # `c.d`, `b.c.d`: how many trailing parts of a qualified name can be typed exactly


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

    @property
    def worn(self) -> float:
        """How much of what words are weighed by is gone: the engine counts what was replaced until it is merged away,
        which the one large segment of a first index hardly ever is."""
        self._index.reload()
        searcher = self._index.searcher()
        counted = sum(int(searcher.doc_freq("kind", int(kind))) for kind in NodeKind)
        return 1.0 - _node_count(searcher) / counted if counted else 0.0

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
            self._drop_other_formats()

    def discard(self, ids: Sequence[NodeId]) -> None:
        """Forget nodes; the generation stays."""
        with self._lock:
            writer = self._open_writer()
            for node_id in ids:
                writer.delete_documents_by_query(_with_id(self._schema, int(node_id, 16)))
            writer.commit()

    def close(self) -> None:
        """Release the writer's lock, after its merges."""
        with self._lock:
            if self._writer is not None:
                self._writer.wait_merging_threads()
                self._writer = None

    def _drop_other_formats(self) -> None:
        """Free what an older or newer version left: it would never be read again."""
        for other in self._directory.parent.glob("text-[0-9]*"):
            if other != self._directory:
                shutil.rmtree(other, ignore_errors=True)

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
        self._filters: OrderedDict[Scope, _Clauses] = OrderedDict()
        self._last_floor: tuple[Denied, NodeColumns, _Clauses] | None = None
        self.generation = _generation(searcher, schema)
        self._is_file = tantivy.Query.const_score_query(self._term("kind", int(NodeKind.MODULE)), 0.0)
        self._file_count = int(searcher.search(self._is_file, 1, count=True).count or 0)
        self._rarity_of_many = self._rarity_of(policy.files)

    def count(self) -> int:
        """Nodes that can be found."""
        return _node_count(self._searcher)

    def search(self, text: str, selection: Selection, limit: int, nodes: NodeColumns) -> Hits:
        """Best matches first."""
        terms = self._terms(text)
        if not terms:
            return NO_HITS
        above_floor = self._above_floor(selection.denied, nodes)
        inside = [*self._scope_clauses(selection.scope), *above_floor]
        files = self._files(text, [*self._scope_clauses(_of_files(selection.scope)), *above_floor])
        exact = self._exact(text, terms, inside, limit)
        first = limit if long_text(text) is None else limit * self._policy.long_text_matches
        demoted = demoted_flags(text, selection.scope.paths)
        found = _NOTHING
        for wanted in self._queries(terms):
            query, fetch = _within(wanted, inside), first
            while len((found := self._fetch(query, fetch)).addresses) == fetch:
                best = self._best((exact, found, files), selection, nodes, demoted)
                if len(best) >= limit:
                    return best[:limit]
                fetch *= 8  # most of what was fetched is below the freshness floor: look deeper, all the way if need be
        return self._best((exact, found, files), selection, nodes, demoted)[:limit]

    def _above_floor(self, denied: Denied, nodes: NodeColumns) -> _Clauses:
        """Where most nodes are denied, what the engine is asked for instead of looking deeper and deeper."""
        if 2 * len(denied) <= len(nodes.numbers) or not len(nodes.numbers):
            return []
        kept = self._last_floor
        if kept is None or kept[0] is not denied or kept[1] is not nodes:
            kept = self._last_floor = denied, nodes, self._clauses_of_floor(denied, nodes)
        return kept[2]

    def _clauses_of_floor(self, denied: Denied, nodes: NodeColumns) -> _Clauses:
        """The files that have nodes which are not denied; none where they are many, or some such node has no file."""
        left = np.unique(nodes.files[~denied.among(nodes.numbers)]).tolist()
        if NO_FILE in left or len(left) > _FEW_FILES:
            return []
        paths = [_storable(nodes.paths[file]) for file in left]
        query = tantivy.Query.term_set_query(self._schema, "file", paths) if paths else tantivy.Query.empty_query()
        return [(tantivy.Occur.Must, tantivy.Query.const_score_query(query, 0.0))]

    def _best(
        self, found: tuple[_Fetched, _Fetched, _Fetched], selection: Selection, nodes: NodeColumns, demoted: int
    ) -> Hits:
        """What was found, best first, without what is below the freshness floor."""
        numbers = self._numbers([address for one in found for address in one.addresses])
        rows = nodes.rows(numbers)
        if -1 in rows:  # of what the graph does not know nothing but its own match counts
            best = self._best(found, selection, nodes.with_unknown(numbers[rows < 0]), demoted)
            return Hits(best.numbers, best.scores)
        exact, words, files = _parted(found, rows)
        answers = Answers(exact, words, files, self._shown(files, selection.scope, nodes))
        rows, scores = best_matches(nodes, answers, demoted, self._policy)
        numbers = nodes.numbers[rows]
        if not selection.denied:
            return Hits(numbers, scores, rows)
        allowed = ~selection.denied.among(numbers)
        return Hits(numbers[allowed], scores[allowed], rows[allowed])

    def _files(self, text: str, inside: _Clauses) -> _Fetched:
        """The files that the query is about, each once, with the evidence for it."""
        weighed = weighed_words(text, self._policy.emphasis)
        rarity = _heaviest(
            {word: factor * self._rarity(word) for word, factor in weighed.items()}, self._policy.max_terms
        )
        total = sum(rarity.values())
        if not total:
            return _NOTHING
        found = self._with_words({word: weight for word, weight in rarity.items() if weight}, inside)
        return self._with_mentioned(found._replace(factor=self._policy.file_coverage / total), text, inside)

    def _with_words(self, weights: Mapping[str, float], inside: _Clauses) -> _Fetched:
        """The files whose words weigh most together.

        Most files have none of the words but light ones, which most files have. Where the last file that is found
        without looking at those weighs more than all light words together, none of them would have been before it.
        """
        clauses = {word: self._file_clause(word, weight) for word, weight in weights.items()}
        sure = max(
            (weight for word, weight in weights.items() if self._rarity(word) <= self._rarity_of_many), default=0.0
        )
        tried: list[str] = []
        for hoped in (_HOPED * sure,) if inside else (_HOPED * sure, sure):  # inside of one nothing is sure
            light = _lightest(weights, hoped)
            if not light or light == tried:
                continue
            found = self._fetch(_within(_beside(clauses, light), inside), self._policy.files)
            enough = len(found.scores) == self._policy.files
            if enough and found.scores[-1] > sum(weights[word] for word in light) * _ROUNDED_UP:
                return found
            tried = light
        query = tantivy.Query.boolean_query(list(clauses.values()))  # only files have these words
        return self._fetch(_within(query, inside), self._policy.files)

    def _file_clause(self, word: str, weight: float) -> tuple[Any, Any]:
        """A word that a file may have, counting as much as it tells."""
        clause = self._file_clauses.get((word, weight))
        if clause is None:
            query = tantivy.Query.const_score_query(self._term("file_words", word), weight)
            if len(self._file_clauses) >= _WORDS_KEPT:
                self._file_clauses.clear()
            clause = self._file_clauses[word, weight] = tantivy.Occur.Should, query
        return clause

    def _with_mentioned(self, files: _Fetched, text: str, inside: _Clauses) -> _Fetched:
        """A file that the text spells gains; of several of that name, those in most of the spelled directories."""
        weight, most = self._policy.mentioned_file, self._policy.mentions
        mentioned = mentioned_files(text) if weight else {}
        if not mentioned:
            return files
        gains = {
            _place(one): (one, score * files.factor) for one, score in zip(files.addresses, files.scores, strict=True)
        }
        for name, path in mentioned.items():
            if not 0 < int(self._searcher.doc_freq("title", name)) <= most:
                continue
            addresses, scores, _ = self._fetch(_within(self._spelled(name, path), inside), most)
            best = addresses[: scores.count(scores[0])] if scores else []
            for one in best:
                _, before = gains.get(_place(one), (one, 0.0))
                gains[_place(one)] = one, before + weight / len(best)
        return _Fetched([one for one, _ in gains.values()], [gain for _, gain in gains.values()])

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
            rarity = self._rarity_of(count) if count else 0.0
            if len(self._rarities) >= _WORDS_KEPT:
                self._rarities.clear()
            self._rarities[word] = rarity
        return rarity

    def _rarity_of(self, count: int) -> float:
        """How much a word tells that so many files have."""
        return math.log(1.0 + (max(self._file_count, count) - count + 0.5) / (count + 0.5))

    def _shown(self, files: Matches, scope: Scope, nodes: NodeColumns) -> NDArray[np.bool_] | None:
        """Which files may be results themselves: others may have nodes that are; None: all."""
        if not scope.accepts_kind(NodeKind.MODULE):
            return np.zeros(len(files.rows), np.bool_)
        if not len(files.rows) or not (scope.packages or scope.exclude_packages):
            return None
        packages = Scope(packages=scope.packages, exclude_packages=scope.exclude_packages)
        inside = self._fetch(_within(self._is_file, self._scope_clauses(packages)), self._file_count)
        return np.isin(files.rows, nodes.rows(self._numbers(inside.addresses)))

    def _numbers(self, addresses: Sequence[Any]) -> Numbers:
        """The numbers of the ids of what was found."""
        return np.array(self._searcher.fast_field_values("id", addresses), np.uint64)

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
            addresses, scores, _ = self._fetch(self._near(form), 20 * limit)
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

    def _scope_clauses(self, scope: Scope) -> _Clauses:
        if scope.is_everything:
            return []
        clauses = self._filters.get(scope)
        if clauses is None:
            clauses = _scope_clauses(self._schema, scope)
            self._filters[scope] = clauses
            if len(self._filters) > 64:
                self._filters.popitem(last=False)
        return clauses

    def _fetch(self, query: Any, limit: int) -> _Fetched:
        hits = self._searcher.search(query, limit, count=False).hits
        if not hits:
            return _NOTHING
        scores, addresses = zip(*hits, strict=True)
        return _Fetched(addresses, scores)

    def _exact(self, text: str, terms: Mapping[str, float], inside: _Clauses, limit: int) -> _Fetched:
        """Nodes whose (qualified) name is what was typed; nothing where no name is typed."""
        symbol = _symbol_form(text) if self._policy.exact_symbol else ""
        count = int(self._searcher.doc_freq("symbol", symbol)) if symbol else 0
        if not count:
            return _NOTHING
        if count == 1:  # nothing to compare it with
            named = tantivy.Query.const_score_query(self._term("symbol", symbol), 1.0)
            return self._fetch(_within(named, inside), 1)
        *_, wanted = self._queries(terms)  # few nodes have that name: no list is read to its end
        named = tantivy.Query.const_score_query(self._term("symbol", symbol), 0.0)
        query = tantivy.Query.boolean_query([(tantivy.Occur.Must, named), (tantivy.Occur.Should, wanted)])
        return self._fetch(_within(query, inside), limit)

    def _fuzzy_form(self, form: str, selection: Selection, limit: int) -> list[Hit]:
        query = _within(self._near(form), self._scope_clauses(selection.scope))
        fetch = limit
        while True:
            addresses, scores, _ = self._fetch(query, fetch)
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


_Clauses = list[tuple[Any, Any]]  # conditions, and how they are joined to a query


def _within(query: Any, inside: _Clauses) -> Any:
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, query), *inside]) if inside else query


class _Word(NamedTuple):
    """A word's clauses, one for each field where it is."""

    telling: list[tuple[Any, Any]]
    common: list[tuple[Any, Any]]  # where it is in too many nodes to tell them apart


class _Fetched(NamedTuple):
    """What the engine answered, best first."""

    addresses: Sequence[Any]
    scores: Sequence[float]
    factor: float = 1.0  # on the scores


_NOTHING: Final = _Fetched((), ())


def _parted(found: Sequence[_Fetched], rows: Rows) -> list[Matches]:
    """Rows of all that was found, as the lists that it was found in."""
    parts = []
    start = 0
    for addresses, scores, factor in found:
        end = start + len(addresses)
        parts.append(Matches(rows[start:end], np.array(scores) * factor))
        start = end
    return parts


def _place(address: Any) -> tuple[int, int]:
    """A document's address, comparable."""
    return address.segment_ord, address.doc


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


def _lightest(weights: Mapping[str, float], limit: float) -> list[str]:
    """The words that weigh least, as many as weigh less than the limit together, but not all."""
    light: list[str] = []
    left = limit / _ROUNDED_UP
    for word in sorted(weights, key=weights.__getitem__)[:-1]:
        left -= weights[word]
        if left <= 0:
            break
        light.append(word)
    return light


def _beside(clauses: Mapping[str, tuple[Any, Any]], light: Sequence[str]) -> Any:
    """What has any of the words that are not light; light ones only add to its score.

    One inside the other: of several beside each other the engine would read whole lists instead of looking up.
    """
    query = tantivy.Query.boolean_query([clause for word, clause in clauses.items() if word not in light])
    for word in reversed(light):
        query = tantivy.Query.boolean_query([(tantivy.Occur.Must, query), clauses[word]])
    return query


def _heaviest(weights: Mapping[str, float], limit: int) -> Mapping[str, float]:
    """The words that weigh most, in the order in which they are given."""
    if len(weights) <= limit:
        return weights
    kept = frozenset(sorted(weights, key=lambda word: (-weights[word], word))[:limit])
    return {word: weight for word, weight in weights.items() if word in kept}


def _schema() -> Any:
    builder = tantivy.SchemaBuilder()
    for name in ("name", "qualified", "signature", "doc", "path", "body"):
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="freq")
    for name in ("symbol", "owner", "file", "folder", "suffix", "language", "package", "meta"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("file_words", tokenizer_name="whitespace", index_option="basic")
    builder.add_text_field("title", tokenizer_name="raw", index_option="basic", stored=True)
    builder.add_unsigned_field("id", fast=True)  # a list for each would take a tenth of the build, for repairs alone
    builder.add_unsigned_field("kind", indexed=True)
    builder.add_unsigned_field("generation", stored=True)
    return builder.build()


def _generation(searcher: Any, schema: Any) -> int:
    query = tantivy.Query.term_query(schema, "meta", _META, "basic")
    hits = searcher.search(query, 1, count=False).hits
    return int(searcher.doc(hits[0][1]).get_first("generation")) if hits else 0


def _node_count(searcher: Any) -> int:
    documents = int(searcher.num_docs)
    return documents - 1 if documents else 0  # the generation is a document too


def _with_id(schema: Any, number: int) -> Any:
    return tantivy.Query.range_query(schema, "id", tantivy.FieldType.Unsigned, number, number)


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


def _expanded(found: Iterable[str]) -> str:
    return " ".join(map(_expansions.__getitem__, found))


def _indexed(text: str) -> str:
    return _expanded(identifiers(text))


def _add(writer: Any, owner: str, documents: Sequence[NodeDocument]) -> None:
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
        title=_storable(node.name),
        owner=_storable(owner),
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
def _path_values(path: str) -> tuple[str, list[str], list[str], str]:
    """What all nodes of a file have in common: its path, the folders above it, its suffixes, and the path's words."""
    storable = _storable(path)
    return storable, list(folders_of(storable)), list(suffixes_of(storable)), _indexed(path)


def _storable(text: str) -> str:
    """File names that are no UTF-8 arrive as lone surrogates, which the engine cannot hold."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


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
    return tuple(".".join(parts[-size:]) for size in range(1, min(_QUALIFIED_TAIL, len(parts) + 1)))


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
    """Files that a path or glob means.

    Folders and suffixes have lists of their own: an expression gathers the lists of all files that it meets, in every
    search anew. The engine bounds how large the automaton of one may be.
    """
    plain, simple = plain_path(pattern), simple_glob(pattern)
    if plain is not None:
        return _any_of([_named(schema, "file", plain), _named(schema, "folder", plain)])
    if simple:
        return _any_of([_all_of([_named(schema, *one) for one in _conditions(beneath)]) for beneath in simple])
    try:
        return tantivy.Query.regex_query(schema, "file", path_regex(pattern))
    except ValueError as error:
        raise InvalidArgument("scope.paths", pattern, "a glob with fewer wildcards") from error


def _conditions(beneath: Beneath) -> list[tuple[str, str]]:
    return [(name, value) for name, value in beneath._asdict().items() if value]


def _named(schema: Any, field_name: str, value: str) -> Any:
    return tantivy.Query.term_query(schema, field_name, _storable(value), "basic")


def _any_of(queries: Sequence[Any]) -> Any:
    return tantivy.Query.boolean_query([(tantivy.Occur.Should, query) for query in queries])


def _all_of(queries: Sequence[Any]) -> Any:
    return tantivy.Query.boolean_query([(tantivy.Occur.Must, query) for query in queries])


def _scope_clauses(schema: Any, scope: Scope) -> _Clauses:
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
            [_named(schema, "language", one.lower()) for one in languages],
            [_named(schema, "package", dotted(one)) for one in packages],
        ]
        if out is None:
            must.extend(group for group in groups if group)
        else:
            out.extend(query for group in groups for query in group)
    included = list(map(_any_of, must))
    return [
        *((tantivy.Occur.Must, tantivy.Query.const_score_query(query, 0.0)) for query in included),
        *((tantivy.Occur.MustNot, query) for query in must_not),
    ]
