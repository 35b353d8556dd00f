"""The words of a query as nodes are asked for them: which words, in which fields, and how much each counts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

import tantivy

from ctxsearch.search.identifiers import MAX_WORD, identifiers, query_words, split_identifier, whole_form
from ctxsearch.search.lexical.queries import Clauses, term
from ctxsearch.search.long_texts import long_text, weighed_words
from ctxsearch.search.matches import LexicalPolicy

WORDS_KEPT: Final = 20_000  # of earlier queries


class _Word(NamedTuple):
    """A word's clauses, one for each field where it is."""

    telling: Clauses
    common: Clauses  # where it is in too many nodes to tell them apart


class NodeWords:
    """Queries for words over one pinned generation. Its one mutable cell keeps what earlier words became."""

    def __init__(self, searcher: Any, schema: Any, policy: LexicalPolicy) -> None:
        """Of a reader's searcher."""
        self._searcher = searcher
        self._schema = schema
        self._policy = policy
        self._words: dict[tuple[str, float], _Word] = {}

    def terms(self, text: str) -> dict[str, float]:
        """The words to look for and how much each counts: parts, whole identifiers, the words joined."""
        terms = dict(weighed_words(text, self._policy.emphasis))
        parts = long_text(text)
        text = text if parts is None else parts.telling
        whole = [whole_form(one) for one in identifiers(text) if len(split_identifier(one)) > 1]
        if 1 < len(terms) <= 4 and not whole:  # `get http response` is how getHTTPResponse is said
            whole = ["".join(dict.fromkeys(query_words(text)))[:MAX_WORD]]
        for form in whole:
            terms[form] = self._policy.whole_identifier
        if len(terms) <= self._policy.max_terms:
            return terms
        telling = {word: factor * self._rarity(word) for word, factor in terms.items()}
        return {word: terms[word] for word in sorted(heaviest(telling, self._policy.max_terms))}

    def queries(self, terms: Mapping[str, float]) -> Iterator[Any]:
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

    def most_nodes_with(self, word: str) -> int:
        """In how many nodes a word is, in the field where it is in most."""
        return max(int(self._searcher.doc_freq(name, word)) for name in self._policy.fields)

    def _word(self, word: str, factor: float) -> _Word:
        """What to ask the fields in which there is a word."""
        found = self._words.get((word, factor))
        if found is None:
            least = max(self._policy.common_nodes, self._policy.common_share * int(self._searcher.num_docs))
            found = _Word([], [])
            for name, weight in self._policy.fields.items():
                count = int(self._searcher.doc_freq(name, word)) if weight > 0 else 0
                if count:
                    clause = tantivy.Occur.Should, _boosted(term(self._schema, name, word), weight * factor)
                    (found.common if count > least else found.telling).append(clause)
            if len(self._words) >= WORDS_KEPT:
                self._words.clear()
            self._words[word, factor] = found
        return found

    def _rarity(self, word: str) -> float:
        """How much a word tells nodes apart; 0 when no node has it: it would cost a place and find nothing."""
        count = int(self._searcher.doc_freq("body", word)) or int(self._searcher.doc_freq("doc", word))
        return math.log(1.0 + (int(self._searcher.num_docs) - count + 0.5) / (count + 0.5)) if count else 0.0


def heaviest(weights: Mapping[str, float], limit: int) -> Mapping[str, float]:
    """The words that weigh most, in the order in which they are given."""
    if len(weights) <= limit:
        return weights
    kept = frozenset(sorted(weights, key=lambda word: (-weights[word], word))[:limit])
    return {word: weight for word, weight in weights.items() if word in kept}


def _boosted(query: Any, boost: float) -> Any:
    return query if boost == 1.0 else tantivy.Query.boost_query(query, boost)
