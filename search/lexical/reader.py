"""One pinned generation, asked: nodes for a text, best first, and names that look like one."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import tantivy
from numpy.typing import NDArray

from ctxsearch.graph.columns import NO_FILE, NodeColumns, Rows
from ctxsearch.graph.model import NodeId, NodeKind
from ctxsearch.search.documents import encodable
from ctxsearch.search.identifiers import split_identifier
from ctxsearch.search.lexical.addresses import Addresses, is_known
from ctxsearch.search.lexical.documents import SYMBOL_PARTS, symbol_form, symbol_parts, symbol_words
from ctxsearch.search.lexical.files import FileEvidence
from ctxsearch.search.lexical.near_names import near_query, perfect_score, typed_forms
from ctxsearch.search.lexical.queries import NOTHING, Clauses, Fetched, Match, fetch, score_of, term, within
from ctxsearch.search.lexical.schema import generation_of, node_count
from ctxsearch.search.lexical.scopes import of_files, scope_clauses
from ctxsearch.search.lexical.words import NodeWords
from ctxsearch.search.long_texts import long_text
from ctxsearch.search.matches import Answers, LexicalPolicy, best_matches
from ctxsearch.search.ports import NO_HITS, Denied, Hit, Hits, Selection, node_ids
from ctxsearch.search.scope import Scope
from ctxsearch.search.spelled import spelled_symbol
from ctxsearch.search.steps import demoted_flags

_FEW_FILES: Final = 2_000  # whose lists are gathered in about a millisecond
_FEW_NODES: Final = 50  # which an identifier that they say tells apart


class TantivyReader:
    """One generation, pinned. Holds no mutable state but small caches keyed by what they were made from."""

    def __init__(self, searcher: Any, schema: Any, policy: LexicalPolicy) -> None:
        """Pin a searcher."""
        self._searcher = searcher
        self._schema = schema
        self._policy = policy
        self._words = NodeWords(searcher, schema, policy)
        self._files = FileEvidence(searcher, schema, policy)
        self._addresses = Addresses(searcher)
        self._filters: OrderedDict[Scope, Clauses] = OrderedDict()
        no_members = NodeKind.METHOD, NodeKind.CONSTRUCTOR
        self._no_members = [(tantivy.Occur.MustNot, term(schema, "kind", int(kind))) for kind in no_members]
        self._no_external = tantivy.Occur.MustNot, term(schema, "kind", int(NodeKind.EXTERNAL))
        self._last_floor: tuple[Denied, NodeColumns, Clauses] | None = None
        self.generation = generation_of(searcher, schema)

    def count(self) -> int:
        """Nodes that can be found."""
        return node_count(self._searcher)

    def search(self, text: str, selection: Selection, limit: int, nodes: NodeColumns) -> Hits:
        """Best matches first."""
        terms = self._words.terms(text)
        if not terms:
            return NO_HITS
        above_floor = self._above_floor(selection.denied, nodes)
        inside = [*self._scope_clauses(selection.scope), *above_floor]
        files = self._files.files_of(text, [*self._scope_clauses(of_files(selection.scope)), *above_floor])
        exact = self._exact(text, terms, inside, limit)
        first = limit if long_text(text) is None else limit * self._policy.long_text_matches
        demoted = demoted_flags(text, selection.scope.paths)
        found = NOTHING
        for wanted in self._words.queries(terms):
            query, amount = within(wanted, inside), first
            while len((found := fetch(self._searcher, query, amount)).matches) == amount:
                best = self._best(exact, found, files, selection, nodes, demoted)
                if len(best) >= limit:
                    return best[:limit]
                amount *= 8  # most of what was fetched is below the freshness floor: look deeper, all the way if needed
        return self._best(exact, found, files, selection, nodes, demoted)[:limit]

    def fuzzy(self, text: str, selection: Selection, limit: int) -> list[Hit]:
        """Nearest names first; the score is 1 for the same name and falls with every edit."""
        found: dict[NodeId, float] = {}
        for form in typed_forms(text):
            for hit in self._fuzzy_form(form, selection, limit):
                found[hit.id] = max(found.get(hit.id, 0.0), hit.score)
        ranked = sorted(found.items(), key=lambda item: (-item[1], item[0]))
        return [Hit(node_id, score) for node_id, score in ranked[:limit]]

    def has_name(self, name: str) -> bool:
        """Whether any node is named so."""
        form = symbol_form(symbol_parts(name))
        return bool(form and fetch(self._searcher, term(self._schema, "symbol", form), 1).matches)

    def near_names(self, text: str, limit: int) -> list[str]:
        """Names that exist and look like the text, nearest first."""
        near: dict[str, float] = {}
        for form in typed_forms(text):
            for score, address in fetch(self._searcher, near_query(self._schema, form), 20 * limit).matches:
                name = self._searcher.doc(address).get_first("title")
                near[name] = max(near.get(name, 0.0), score / perfect_score(form))
        ranked = sorted((-score, name) for name, score in near.items())
        return [name for _score, name in ranked[:limit]]

    def _scope_clauses(self, scope: Scope) -> Clauses:
        if scope.is_everything:
            return []
        clauses = self._filters.get(scope)
        if clauses is None:
            clauses = scope_clauses(self._schema, scope)
            self._filters[scope] = clauses
            if len(self._filters) > 64:
                self._filters.popitem(last=False)
        return clauses

    def _above_floor(self, denied: Denied, nodes: NodeColumns) -> Clauses:
        """Where most nodes are denied, what the engine is asked for instead of looking deeper and deeper."""
        if 2 * len(denied) <= len(nodes.numbers) or not len(nodes.numbers):
            return []
        kept = self._last_floor
        if kept is None or kept[0] is not denied or kept[1] is not nodes:
            kept = self._last_floor = denied, nodes, self._clauses_of_floor(denied, nodes)
        return kept[2]

    def _clauses_of_floor(self, denied: Denied, nodes: NodeColumns) -> Clauses:
        """The files that have nodes which are not denied; none where they are many, or some such node has no file."""
        left = np.unique(nodes.files[~denied.among(nodes.numbers)]).tolist()
        if NO_FILE in left or len(left) > _FEW_FILES:
            return []
        paths = [encodable(nodes.paths[file]) for file in left]
        query = tantivy.Query.term_set_query(self._schema, "file", paths) if paths else tantivy.Query.empty_query()
        return [(tantivy.Occur.Must, tantivy.Query.const_score_query(query, 0.0))]

    def _exact(self, text: str, terms: Mapping[str, float], inside: Clauses, limit: int) -> Sequence[Match]:
        """Nodes whose (qualified) name is what was typed, or the file; nothing where neither is typed.

        Of a name with qualifiers that no node has, what is no member and stands somewhere inside of them all
        (`click.Context`, which a package hands on from `click/core.py`); else the most of the name that some node has
        (`crate::engine::Motor`, the path that a package is imported by), but never its last part alone.
        """
        if not self._policy.exact_symbol:
            return ()
        files = self._files.spelled(text, inside)
        if files:
            return files
        parts = symbol_parts(spelled_symbol(text))
        if not parts:
            return ()
        if len(parts) == 1:
            found = self._named(parts, (), terms, inside, limit)
            return found or self._saying(parts, terms, inside, limit)
        own = [*inside, self._no_external]  # what is only called by that name does not hide what has most of it
        found = self._named(parts, parts[:-SYMBOL_PARTS], terms, own, limit)
        found = found or self._named(parts[-1:], parts[:-1], terms, [*own, *self._no_members], limit)
        for start in range(1, len(parts) - 1):
            found = found or self._named(parts[start:], parts[start:-SYMBOL_PARTS], terms, own, limit)
        return found or self._named(parts, parts[:-SYMBOL_PARTS], terms, inside, limit)

    def _saying(self, parts: Sequence[str], terms: Mapping[str, float], inside: Clauses, limit: int) -> Sequence[Match]:
        """Nodes that say an identifier which none is named after, where they are few: who types it looks for them."""
        form = symbol_form(parts)
        if len(split_identifier(parts[0])) < 2 or self._words.most_nodes_with(form) > _FEW_NODES:
            return ()
        *_, said = self._words.queries({form: 1.0})
        *_, wanted = self._words.queries(terms)
        query = tantivy.Query.boolean_query([(tantivy.Occur.Must, said), (tantivy.Occur.Should, wanted)])
        return fetch(self._searcher, within(query, inside), limit).matches

    def _named(
        self, parts: Sequence[str], around: Sequence[str], terms: Mapping[str, float], inside: Clauses, limit: int
    ) -> Sequence[Match]:
        """Nodes that a symbol means and whose qualified names have the words of the parts around it."""
        symbol, words = symbol_form(parts), symbol_words(around)
        count = int(self._searcher.doc_freq("symbol", symbol)) if symbol else 0
        if not count:
            return ()
        named = tantivy.Query.const_score_query(term(self._schema, "symbol", symbol), 1.0 if count == 1 else 0.0)
        if words:
            has_all = [(tantivy.Occur.Must, term(self._schema, "qualified", word)) for word in words]
            inside = [
                *inside,
                (tantivy.Occur.Must, tantivy.Query.const_score_query(tantivy.Query.boolean_query(has_all), 0.0)),
            ]
        if count == 1:  # nothing to compare it with
            return fetch(self._searcher, within(named, inside), 1).matches
        *_, wanted = self._words.queries(terms)  # few nodes have that name: no list is read to its end
        query = tantivy.Query.boolean_query([(tantivy.Occur.Must, named), (tantivy.Occur.Should, wanted)])
        return fetch(self._searcher, within(query, inside), limit).matches

    def _best(
        self,
        exact: Sequence[Match],
        words: Fetched,
        files: Fetched,
        selection: Selection,
        nodes: NodeColumns,
        demoted: int,
    ) -> Hits:
        """What was found, best first, without what is below the freshness floor."""
        matches = [*exact, *words.matches, *files.matches]
        scores = np.fromiter(map(score_of, matches), np.float64, len(matches))
        sizes = len(exact), len(words.matches)
        scores[sum(sizes) :] *= files.factor
        rows = self._addresses.rows(matches, nodes)
        are_known = is_known(rows)
        if not are_known:  # of what the graph does not know nothing but its own match counts
            numbers = self._addresses.numbers(matches)
            nodes = nodes.with_unknown(numbers[rows < 0])
            rows = nodes.rows(numbers)
        shown = self._shown(rows[sum(sizes) :], selection.scope, nodes)
        rows, scores = best_matches(nodes, Answers(rows, scores, *sizes, shown), demoted, self._policy)
        numbers = nodes.numbers.take(rows)
        best = Hits(numbers, scores, rows if are_known else None)
        return best[~selection.denied.among(numbers)] if selection.denied else best

    def _shown(self, files: Rows, scope: Scope, nodes: NodeColumns) -> NDArray[np.bool_] | None:
        """Which files may be results themselves: others may have nodes that are; None: all."""
        if not scope.accepts_kind(NodeKind.MODULE):
            return np.zeros(len(files), np.bool_)
        if not len(files) or not (scope.packages or scope.exclude_packages):
            return None
        packages = Scope(packages=scope.packages, exclude_packages=scope.exclude_packages)
        query = within(self._files.is_file, self._scope_clauses(packages))
        inside = fetch(self._searcher, query, self._files.count)
        return np.isin(files, nodes.rows(self._addresses.numbers(inside.matches)))

    def _fuzzy_form(self, form: str, selection: Selection, limit: int) -> list[Hit]:
        query = within(near_query(self._schema, form), self._scope_clauses(selection.scope))
        amount = limit
        while True:
            matches = fetch(self._searcher, query, amount).matches
            ids = node_ids(self._addresses.numbers(matches).tolist())
            hits = [Hit(one, score / perfect_score(form)) for one, (score, _) in zip(ids, matches, strict=True)]
            kept = [hit for hit in hits if hit.id not in selection.denied]
            if len(kept) >= limit or len(matches) < amount:
                return kept[:limit]
            amount *= 8
