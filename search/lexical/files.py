"""The files that a query is about: by how much of its words they have, and by the paths that it spells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import tantivy

from ctxsearch.graph.model import NodeKind
from ctxsearch.search.documents import encodable
from ctxsearch.search.identifiers import content_words
from ctxsearch.search.lexical.queries import NOTHING, Clauses, Fetched, Match, fetch, score_of, term, within
from ctxsearch.search.lexical.words import WORDS_KEPT, heaviest
from ctxsearch.search.long_texts import mentioned_files, weighed_words
from ctxsearch.search.matches import LexicalPolicy
from ctxsearch.search.spelled import spelled_place

_HOPED: Final = 1.5  # times what the last file that takes part weighs at least: so much it mostly does weigh
_ROUNDED_UP: Final = 1.0 + 1e-5  # the engine adds in half of the digits


class FileEvidence:
    """What the files of one pinned generation say. Holds no mutable state but small caches by word."""

    def __init__(self, searcher: Any, schema: Any, policy: LexicalPolicy) -> None:
        """Of a reader's searcher."""
        self._searcher = searcher
        self._schema = schema
        self._policy = policy
        self._rarities: dict[str, float] = {}
        self._clauses: dict[tuple[str, float], tuple[Any, Any]] = {}
        self.is_file = tantivy.Query.const_score_query(term(schema, "kind", int(NodeKind.MODULE)), 0.0)
        self.count = int(searcher.search(self.is_file, 1, count=True).count or 0)
        self._rarity_of_many = self._rarity_of(policy.files)

    def files_of(self, text: str, inside: Clauses) -> Fetched:
        """The files that the query is about, each once, with the evidence for it."""
        weighed = weighed_words(text, self._policy.emphasis)
        rarity = heaviest(
            {word: factor * self._rarity(word) for word, factor in weighed.items()}, self._policy.max_terms
        )
        total = sum(rarity.values())
        if not total:
            return NOTHING
        found = self._with_words({word: weight for word, weight in rarity.items() if weight}, inside)
        return self._with_mentioned(Fetched(found.matches, self._policy.file_coverage / total), text, inside)

    def _with_words(self, weights: Mapping[str, float], inside: Clauses) -> Fetched:
        """The files whose words weigh most together.

        Most files have none of the words but light ones, which most files have. Where the last file that is found
        without looking at those weighs more than all light words together, none of them would have been before it.
        """
        clauses = {word: self._clause(word, weight) for word, weight in weights.items()}
        sure = max(
            (weight for word, weight in weights.items() if self._rarity(word) <= self._rarity_of_many), default=0.0
        )
        tried: list[str] = []
        for hoped in (_HOPED * sure,) if inside else (_HOPED * sure, sure):  # inside of one nothing is sure
            light = _lightest(weights, hoped)
            if not light or light == tried:
                continue
            found = fetch(self._searcher, within(_beside(clauses, light), inside), self._policy.files)
            enough = len(found.matches) == self._policy.files
            if enough and score_of(found.matches[-1]) > sum(map(weights.__getitem__, light)) * _ROUNDED_UP:
                return found
            tried = light
        query = tantivy.Query.boolean_query(list(clauses.values()))  # only files have these words
        return fetch(self._searcher, within(query, inside), self._policy.files)

    def _clause(self, word: str, weight: float) -> tuple[Any, Any]:
        """A word that a file may have, counting as much as it tells."""
        clause = self._clauses.get((word, weight))
        if clause is None:
            query = tantivy.Query.const_score_query(term(self._schema, "file_words", word), weight)
            if len(self._clauses) >= WORDS_KEPT:
                self._clauses.clear()
            clause = self._clauses[word, weight] = tantivy.Occur.Should, query
        return clause

    def _with_mentioned(self, files: Fetched, text: str, inside: Clauses) -> Fetched:
        """A file that the text spells gains; of several of that name, those in most of the spelled directories."""
        weight = self._policy.mentioned_file
        mentioned = mentioned_files(text) if weight and "." in text else {}  # a file's name has a suffix
        if not mentioned:
            return files
        gains = {_place(one): (score * files.factor, one) for score, one in files.matches}
        for name, path in mentioned.items():
            best = self._named(name, path, inside)
            for _, one in best:
                before, _ = gains.get(_place(one), (0.0, one))
                gains[_place(one)] = before + weight / len(best), one
        return Fetched(list(gains.values()))

    def spelled(self, text: str, inside: Clauses) -> list[Match]:
        """The file that the whole query spells; of a part of a path, the files that have most of it."""
        place = spelled_place(text)
        if place is None:
            return []
        whole = tantivy.Query.const_score_query(term(self._schema, "file", encodable(place.path)), 1.0)
        is_whole = tantivy.Query.boolean_query([(tantivy.Occur.Must, one) for one in (self.is_file, whole)])
        found = list(fetch(self._searcher, within(is_whole, inside), 1).matches)
        return found or [(1.0, one) for _, one in self._named(place.path.rpartition("/")[2], place.path, inside)]

    def _named(self, name: str, path: str, inside: Clauses) -> list[Match]:
        """The files of a name, those that have most words of a path; none where too many have the name."""
        if not 0 < int(self._searcher.doc_freq("title", name)) <= self._policy.mentions:
            return []
        found = fetch(self._searcher, within(self._by_path(name, path), inside), self._policy.mentions).matches
        return [match for match in found if score_of(match) == score_of(found[0])]

    def _by_path(self, name: str, path: str) -> Any:
        """Files of a name, by how many words of a path theirs has."""
        named = tantivy.Query.const_score_query(term(self._schema, "title", name), 0.0)
        around = [tantivy.Query.const_score_query(term(self._schema, "path", one), 1.0) for one in content_words(path)]
        return tantivy.Query.boolean_query(
            [
                *((tantivy.Occur.Must, one) for one in (self.is_file, named)),
                *((tantivy.Occur.Should, one) for one in around),
            ]
        )

    def _rarity(self, word: str) -> float:
        """How much a word tells files apart; 0 when no file has it."""
        rarity = self._rarities.get(word)
        if rarity is None:
            count = int(self._searcher.doc_freq("file_words", word))
            rarity = self._rarity_of(count) if count else 0.0
            if len(self._rarities) >= WORDS_KEPT:
                self._rarities.clear()
            self._rarities[word] = rarity
        return rarity

    def _rarity_of(self, count: int) -> float:
        """How much a word tells that so many files have."""
        return math.log(1.0 + (max(self.count, count) - count + 0.5) / (count + 0.5))


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


def _place(address: Any) -> tuple[int, int]:
    """A document's address, comparable."""
    return address.segment_ord, address.doc
