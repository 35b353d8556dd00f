"""ContextSearchService: the one composition of the signals into a ranked, explained answer.

Reads only what the caller published: one pinned corpus per repository. It never writes to an index, never reads the
clock for anything but durations, and answers the same request over the same corpora with the same bytes.
"""

from __future__ import annotations

import functools
import operator
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import msgspec
import numpy as np

from ctxsearch.graph.freshness import Freshness
from ctxsearch.graph.model import CodeNode, NodeId
from ctxsearch.search.coherence import cohere
from ctxsearch.search.errors import FailedPrecondition, InvalidArgument, NotFound, SearchError, Unavailable
from ctxsearch.search.expansion import SEEDS, expand, expansion_order
from ctxsearch.search.identifiers import without_name
from ctxsearch.search.long_texts import long_text
from ctxsearch.search.ports import (
    SELECT_ALL,
    Corpus,
    Embedder,
    Floats,
    FreshnessFact,
    Hit,
    NodeContent,
    OnDisk,
    Passage,
    Selection,
)
from ctxsearch.search.query import Content, Mode, SearchQuery, Signal
from ctxsearch.search.ranking import Fusion, Placed, Ranked, RankedList, Vote, exact_on_top, fuse, joined, order
from ctxsearch.search.results import (
    Explanation,
    Guidance,
    Indexed,
    Label,
    Reach,
    ResultContent,
    SearchResponse,
    SearchResult,
    SignalReport,
)
from ctxsearch.search.snippets import Snippets, within_budget
from ctxsearch.search.steps import EXACT_SCORE, RankingPolicy, demoted_flags, reordered

_NEAR_NAMES: Final = 5
_WORKERS: Final = 4
# How many nodes of full text the ranking steps see, however few are asked for: they lift some far up. Vectors gain
# little from more than the pool, and every hundred nodes cost a millisecond (docs/relevance.md).
_DEPTH: Final = 150
_DEEPER: Final = 4  # how many times as many are looked at where tests fill the list


class _Candidate(msgspec.Struct, eq=False, gc=False):
    """A node that a signal found. One object per node and request: looked up by what it is, not by its fields."""

    corpus: int
    id: NodeId
    node: CodeNode | None  # None: an index knows it and its graph does not
    file: Hashable  # None: it stands in no file

    @property
    def known(self) -> CodeNode:
        """The node, of a candidate that was accepted."""
        assert self.node is not None
        return self.node


# One entry of a signal's list: number of the corpus, id, raw score. A tuple: a request makes hundreds.
_Found = tuple[int, NodeId, float]


@dataclass(slots=True)
class _Run:
    """What one request has gathered so far. Lives for one call; only its own thread writes it."""

    query: SearchQuery
    corpora: tuple[Corpus, ...]
    selections: tuple[Selection, ...]
    lookups: tuple[Callable[[NodeId], CodeNode | None], ...]  # of each corpus
    candidates: tuple[dict[NodeId, _Candidate], ...]  # of each corpus
    weights: Mapping[Signal, float]  # of the signals that this request runs
    lists: dict[Signal, RankedList[_Candidate]] = field(default_factory=dict)
    by_text: Fusion[_Candidate] | None = None  # all lists but the graph's, which starts from the best of them
    reports: dict[Signal, SignalReport] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    reached: dict[tuple[int, NodeId], Reach] = field(default_factory=dict)
    seeds: tuple[NodeId, ...] = ()
    dropped_by_scope: int = 0
    dropped_by_floor: int = 0
    unknown: list[_Candidate] = field(default_factory=list)
    milliseconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Note how long a stage took."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.milliseconds[stage] = (time.perf_counter() - started) * 1e3

    def ranked(self, signal: Signal, found: Iterable[_Found]) -> RankedList[_Candidate]:
        """A signal's list; a node that several signals found is one candidate."""
        known = self.candidates
        hits = [(known[corpus].get(node_id) or self._candidate(corpus, node_id), raw) for corpus, node_id, raw in found]
        return RankedList(signal, hits)

    def _candidate(self, corpus: int, node_id: NodeId) -> _Candidate:
        node = self.lookups[corpus](node_id)
        path = node.path if node is not None else ""
        # A path is hashed once and for all, a pair every time; with one repository the path says enough.
        file = (path if len(self.corpora) == 1 else (corpus, path)) if path else None
        made = self.candidates[corpus][node_id] = _Candidate(corpus, node_id, node, file)
        return made

    def fact(self, candidate: _Candidate) -> FreshnessFact:
        """The candidate's freshness."""
        return self.corpora[candidate.corpus].freshness.fact(candidate.id)


class ContextSearchService:
    """Searches the published corpora. Thread-safe: the mapping of corpora is replaced, never changed."""

    def __init__(self, embedder: Embedder | None = None, policy: RankingPolicy | None = None) -> None:
        """Compose with an embedder for query texts; without one, only ready vectors can be searched by."""
        self._embedder = embedder
        self._policy = policy if policy is not None else RankingPolicy()
        self._changed = threading.Condition()
        self._corpora: Mapping[str, Corpus] = {}  # written by publish and withdraw, under _changed
        self._workers = ThreadPoolExecutor(_WORKERS, thread_name_prefix="ctxsearch-signal")

    def publish(self, corpus: Corpus) -> None:
        """Answer from this corpus from now on; searches under way keep theirs."""
        with self._changed:
            self._corpora = {**self._corpora, corpus.repository: corpus}
            self._changed.notify_all()

    def withdraw(self, repository: str) -> None:
        """Stop answering from a repository."""
        with self._changed:
            self._corpora = {name: one for name, one in self._corpora.items() if name != repository}

    def repositories(self) -> tuple[str, ...]:
        """What can be searched, by name."""
        return tuple(sorted(self._corpora))

    def close(self) -> None:
        """Wait for signals and repairs under way."""
        self._workers.shutdown(wait=True)

    def search(self, query: SearchQuery) -> SearchResponse:
        """The whole of a search: choose, ask the signals, expand, fuse, order, fill in."""
        started = time.perf_counter()
        run = self._start(query)
        with run.timed("signals"):
            self._ask_text_signals(run)
        with run.timed("expansion"):
            self._expand(run)
        self._check_answerable(run)
        with run.timed("fusion"):
            fusion = self._fused(run)
            accepted = self._accepted(run, fusion.scores)
            penalty = self._penalty(run)
            if penalty is not None and self._policy.exact_on_top:
                fusion = exact_on_top(fusion, accepted, penalty, EXACT_SCORE)
            ranked = order(fusion, accepted, penalty, _place, query.min_score, query.k)
        with run.timed("content"):
            results = self._results(run, ranked)
        guidance = None if results else self._guidance(run, len(accepted))
        explanation = self._explanation(run, len(fusion.scores)) if query.explain else None
        self._repair(run)
        return SearchResponse(
            results=results,
            signals=tuple(run.reports[signal] for signal in Signal if signal in run.reports),
            indexed=tuple(_indexed(corpus) for corpus in run.corpora),
            degraded=any(not report.ran for report in run.reports.values()) or bool(run.warnings),
            warnings=tuple(run.warnings),
            dropped_by_scope=run.dropped_by_scope,
            dropped_by_floor=run.dropped_by_floor,
            unknown_ids=len(run.unknown),
            trimmed_results=sum(result.content.trimmed for result in results),
            milliseconds=(time.perf_counter() - started) * 1e3,
            guidance=guidance,
            explanation=explanation,
        )

    # Choosing

    def _start(self, query: SearchQuery) -> _Run:
        corpora = self._chosen(query)
        for dimension in self._dimensions(corpora):
            query.check_dimension(dimension)
        floor = query.freshness_floor
        filters = floor is not None and floor > min(Freshness)
        selections = tuple(
            Selection(query.scope, corpus.freshness.below(floor) if filters and floor is not None else frozenset())
            for corpus in corpora
        )
        lookups = tuple(corpus.nodes.node for corpus in corpora)
        return _Run(query, corpora, selections, lookups, tuple({} for _ in corpora), query.signal_weights())

    def _dimensions(self, corpora: Iterable[Corpus]) -> set[int]:
        found = {corpus.vectors.dimension for corpus in corpora if corpus.vectors is not None}
        return found or ({self._embedder.dimension} if self._embedder is not None else set())

    def _chosen(self, query: SearchQuery) -> tuple[Corpus, ...]:
        corpora = self._awaited(query)
        for name in (*query.scope.repositories, *query.scope.exclude_repositories):
            if name not in corpora:
                raise NotFound("repository", name, tuple(sorted(corpora)))
        chosen = tuple(corpora[name] for name in sorted(corpora) if query.scope.accepts_repository(name))
        if not corpora:
            raise FailedPrecondition("nothing is indexed yet; run `ctxsearch index PATH` first")
        return chosen

    def _awaited(self, query: SearchQuery) -> Mapping[str, Corpus]:
        wanted = query.min_generation
        if wanted is None:
            return self._corpora

        def is_there() -> bool:
            chosen = [one for name, one in self._corpora.items() if query.scope.accepts_repository(name)]
            return bool(chosen) and all(one.generation >= wanted for one in chosen)

        with self._changed:
            if self._changed.wait_for(is_there, timeout=query.max_wait):
                return self._corpora
            newest = {name: one.generation for name, one in sorted(self._corpora.items())}
        raise Unavailable(f"generation {wanted} did not come within {query.max_wait:g} s; newest: {newest}")

    # Text signals

    def _ask_text_signals(self, run: _Run) -> None:
        weights = run.weights
        asked = [signal for signal, weight in weights.items() if weight > 0 and signal is not Signal.GRAPH]
        signals: dict[Signal, Callable[[_Run], list[_Found]]] = {
            Signal.BM25: self._bm25,
            Signal.SEMANTIC: self._semantic,
            Signal.FUZZY: self._fuzzy,
        }
        others: list[tuple[Signal, Future[_Outcome]]] = [
            (signal, self._workers.submit(_attempt, signals[signal], run)) for signal in asked[1:]
        ]
        # The first one runs here: a keyword search then needs no other thread at all.
        outcomes: list[tuple[Signal, _Outcome]] = [(signal, _attempt(signals[signal], run)) for signal in asked[:1]]
        outcomes += [(signal, future.result()) for signal, future in others]
        for signal, outcome in outcomes:
            self._note(run, signal, weights[signal], outcome)

    def _note(self, run: _Run, signal: Signal, weight: float, outcome: _Outcome) -> None:
        error = outcome.error
        if error is not None or outcome.found is None:
            if isinstance(error, InvalidArgument):  # of the question, not of an index
                raise error
            if isinstance(error, FailedPrecondition) and run.query.mode is Mode.SEMANTIC:
                raise error
            reason = f"{type(error).__name__}: {error}" if not isinstance(error, SearchError) else str(error)
            run.warnings.append(f"{signal} did not answer: {reason}")
            run.reports[signal] = SignalReport(signal, weight, False, 0, outcome.milliseconds, reason)
            return
        run.lists[signal] = run.ranked(signal, outcome.found)
        count = len(outcome.found)
        run.reports[signal] = SignalReport(signal, weight, True, count, outcome.milliseconds)

    def _bm25(self, run: _Run) -> list[_Found]:
        def search(corpus: Corpus, selection: Selection) -> list[Hit]:
            if corpus.full_text is None:
                raise FailedPrecondition(f"{corpus.repository} has no full-text index")
            return corpus.full_text.search(run.query.text, selection, max(_DEPTH, run.query.pool))

        return self._gathered(run, Signal.BM25, search)

    def _fuzzy(self, run: _Run) -> list[_Found]:
        def search(corpus: Corpus, selection: Selection) -> list[Hit]:
            if corpus.full_text is None:
                raise FailedPrecondition(f"{corpus.repository} has no full-text index")
            return corpus.full_text.fuzzy(run.query.text, selection, run.query.pool)

        return self._gathered(run, Signal.FUZZY, search)

    def _semantic(self, run: _Run) -> list[_Found]:
        vector = functools.cache(self._query_vector)  # of each corpus's text: mostly the same one
        lookups = {corpus.repository: lookup for corpus, lookup in zip(run.corpora, run.lookups, strict=True)}

        def search(corpus: Corpus, selection: Selection) -> list[Hit]:
            vectors = corpus.vectors
            if vectors is None:
                raise FailedPrecondition(f"{corpus.repository} has no vector index")
            if self._embedder is not None and vectors.model_id != self._embedder.model_id:
                raise FailedPrecondition(
                    f"the vectors of {corpus.repository} were made by {vectors.model_id}, "
                    f"the query by {self._embedder.model_id}; index again"
                )
            text = without_name(run.query.text, corpus.repository) if self._policy.own_name else run.query.text
            nearest = functools.partial(vectors.search, vector(text, run.query.embedding), selection)
            hits = nearest(run.query.pool)
            node = lookups[corpus.repository]
            return nearest(_DEEPER * run.query.pool) if self._is_flooded(run.query, hits, node) else hits

        return self._gathered(run, Signal.SEMANTIC, search)

    def _is_flooded(self, query: SearchQuery, hits: Sequence[Hit], node: Callable[[NodeId], CodeNode | None]) -> bool:
        """Whether most of a list is what will be ranked below other code, which the list then leaves no place for."""
        demoted = demoted_flags(query.text, query.scope.paths) if self._policy.past_demoted else 0
        if not demoted:
            return False
        found = [node(hit.id) for hit in hits]
        return 2 * len([1 for one in found if one is not None and int(one.flags) & demoted]) > len(hits)

    def _query_vector(self, text: str, embedding: tuple[float, ...] | None) -> Floats:
        if embedding is not None:
            return _unit_vector(embedding)
        if self._embedder is None:
            raise FailedPrecondition("no embedding model is configured")
        parts = long_text(text) if self._policy.title_vector else None
        if parts is None:
            return self._embedder.embed_query(text)
        title, prose = map(self._embedder.embed_query, (parts.title, f"{parts.title}\n{parts.prose}"))
        return _unit_vector(title + prose)

    def _gathered(self, run: _Run, signal: Signal, search: Callable[[Corpus, Selection], list[Hit]]) -> list[_Found]:
        """One list over all corpora: by raw score, which is comparable inside one signal."""
        steps = [step for step in self._policy.steps if step.signal is signal]
        found: list[_Found] = []
        for number, (corpus, selection) in enumerate(zip(run.corpora, run.selections, strict=True)):
            hits = search(corpus, selection)
            if steps:
                hits = reordered(steps, hits, run.query, run.lookups[number])
            found += [(number, hit.id, hit.score) for hit in hits]
        if len(run.corpora) > 1:
            found.sort(key=lambda one: (-one[2], one))
        return found[: run.query.pool]

    # Expansion

    def _expand(self, run: _Run) -> None:
        weight = run.weights.get(Signal.GRAPH)
        if run.query.expansion is None or not weight:
            return
        outcome = _attempt(self._graph, run)
        self._note(run, Signal.GRAPH, weight, outcome)

    def _graph(self, run: _Run) -> list[_Found]:
        assert run.query.expansion is not None
        seeds = self._seeds(run)
        run.seeds = tuple(seed.id for seed in seeds)
        expanded = []
        for number, corpus in enumerate(run.corpora):
            own = [(rank, seed.id) for rank, seed in enumerate(seeds) if seed.corpus == number]
            if not own:
                continue
            if corpus.graph is None:
                raise FailedPrecondition(f"the calls of {corpus.repository} are not resolved yet")
            ids = [node_id for _, node_id in own]
            accepts = None if run.selections[number].is_everything else self._acceptance(run, number)
            walk = expand(corpus.graph, ids, run.query.expansion, run.query.pool, accepts)
            expanded += [(expansion_order(one, own[one.seed_rank][0]), number, one) for one in walk.kept]
        expanded.sort(key=lambda item: (item[0], item[1]))
        expanded = expanded[: run.query.pool]
        run.reached = {(number, one.node.id): one.reach for _, number, one in expanded}
        return [(number, one.node.id, one.raw) for _, number, one in expanded]

    def _seeds(self, run: _Run) -> list[_Candidate]:
        """The top of the fused text signals that the graph knows, before any penalty."""
        fusion = run.by_text = self._by_text(run, room_for=Signal.GRAPH)
        known = [one for one in fusion.scores if one.node is not None]
        return [one.key for one in order(fusion, known, None, _place, 0.0, SEEDS)]

    def _acceptance(self, run: _Run, number: int) -> Callable[[CodeNode], bool]:
        selection = run.selections[number]

        def accepts(node: CodeNode) -> bool:
            if not selection.scope.is_everything and not selection.scope.accepts(node):
                run.dropped_by_scope += 1
                return False
            if node.id in selection.denied:
                run.dropped_by_floor += 1
                return False
            return True

        return accepts

    # Ordering

    def _fused(self, run: _Run) -> Fusion[_Candidate]:
        """The signals' votes, added per node and, where the policy says so, per file."""
        reached = run.lists.get(Signal.GRAPH)
        if reached is not None and run.by_text is not None:
            return joined(run.by_text, reached, run.weights)
        return self._by_text(run)

    def _by_text(self, run: _Run, room_for: Signal | None = None) -> Fusion[_Candidate]:
        """The votes of all signals that ran so far."""
        fusion = fuse(run.lists.values(), run.weights, room_for)
        return cohere(fusion, _file, _id) if self._policy.file_coherence else fusion

    def _check_answerable(self, run: _Run) -> None:
        if run.lists or not run.reports:
            return
        reasons = "; ".join(run.warnings)
        raise Unavailable(f"no signal could answer: {reasons}")

    def _accepted(self, run: _Run, candidates: Iterable[_Candidate]) -> list[_Candidate]:
        """Known to the graph, in scope, not below the floor: checked once more, whatever the indexes did."""
        known: list[_Candidate] = []
        for one in candidates:
            (known if one.node is not None else run.unknown).append(one)
        if all(selection.is_everything for selection in run.selections):
            return known
        accepts = [self._acceptance(run, number) for number in range(len(run.corpora))]
        return [one for one in known if accepts[one.corpus](one.known)]

    def _penalty(self, run: _Run) -> Callable[[_Candidate], float] | None:
        if not self._policy.freshness:
            return None
        facts = [corpus.freshness.fact for corpus in run.corpora]
        if len(facts) == 1:
            fact = facts[0]
            return lambda one: fact(one.id).penalty
        return lambda one: facts[one.corpus](one.id).penalty

    # Filling in

    def _results(self, run: _Run, ranked: Sequence[Ranked[_Candidate]]) -> tuple[SearchResult, ...]:
        texts = self._texts(run, ranked)
        contents = self._contents(run, ranked, texts)
        return tuple(
            self._result(run, one, content, text.on_disk)
            for one, content, text in zip(ranked, contents, texts, strict=True)
        )

    def _result(self, run: _Run, one: Ranked[_Candidate], content: ResultContent, on_disk: OnDisk) -> SearchResult:
        found = one.key
        return SearchResult(
            repository=run.corpora[found.corpus].repository,
            node=found.known,
            score=one.score,
            votes=one.votes,
            freshness=run.fact(found),
            label=_label(one.votes),
            reach=run.reached.get((found.corpus, found.id)),
            content=content,
            on_disk=on_disk,
        )

    def _texts(self, run: _Run, ranked: Sequence[Ranked[_Candidate]]) -> list[NodeContent]:
        """One look-up per corpus; an error there costs the text, not the answer."""
        texts = [NodeContent("", OnDisk.UNCHECKED)] * len(ranked)
        for number, corpus in enumerate(run.corpora):
            places = [index for index, one in enumerate(ranked) if one.key.corpus == number]
            nodes = [ranked[index].key.known for index in places]
            if not nodes:
                continue
            try:
                found = corpus.texts.contents(nodes, bodies=run.query.content is not Content.NONE)
            except Exception as error:
                run.warnings.append(f"no text from {corpus.repository}: {type(error).__name__}: {error}")
                continue
            for index, content in zip(places, found, strict=True):
                texts[index] = content
        return texts

    def _contents(
        self, run: _Run, ranked: Sequence[Ranked[_Candidate]], texts: Sequence[NodeContent]
    ) -> list[ResultContent]:
        query = run.query
        if query.content is Content.NONE:
            return [ResultContent()] * len(ranked)
        snippets = Snippets(query.text, self._similarity(run))
        cut = snippets.full if query.content is Content.FULL else snippets.snippet
        contents = [cut(text.body, one.key.known.start_line) for one, text in zip(ranked, texts, strict=True)]
        return contents if query.max_tokens is None else within_budget(contents, query.max_tokens)

    def _similarity(self, run: _Run) -> Callable[[list[str]], list[float]] | None:
        """How near pieces of text are to the query, where the semantic signal ran."""
        embedder = self._embedder
        if embedder is None or Signal.SEMANTIC not in run.lists:
            return None

        vector = functools.cache(self._query_vector)  # of one text, for all snippets that need it

        def similarity(pieces: list[str]) -> list[float]:
            rows = embedder.embed_documents([Passage("", piece) for piece in pieces])
            return [float(score) for score in rows @ vector(run.query.text, run.query.embedding)]

        return similarity

    def _guidance(self, run: _Run, accepted: int) -> Guidance:
        outside, below = self._left_out(run)
        near: dict[str, None] = {}
        searched = []
        for corpus in run.corpora:
            reader = corpus.full_text
            size = f"{reader.count()} nodes" if reader is not None else "no full-text index"
            searched.append(f"{corpus.repository} ({size}, generation {corpus.generation})")
            if reader is not None and run.query.has_text:
                near.update(dict.fromkeys(reader.near_names(run.query.text, _NEAR_NAMES)))
        return Guidance(
            searched=", ".join(searched) if searched else "no repository is in scope",
            near_names=tuple(near)[:_NEAR_NAMES],
            outside_scope=outside,
            below_floor=below,
            below_min_score=accepted,
        )

    def _left_out(self, run: _Run) -> tuple[int, int]:
        """How many of the unfiltered keyword matches the scope and the floor left out."""
        outside = below = 0
        for corpus, selection in zip(run.corpora, run.selections, strict=True):
            if selection.is_everything or corpus.full_text is None or not run.query.has_text:
                continue
            for hit in corpus.full_text.search(run.query.text, SELECT_ALL, run.query.pool):
                node = corpus.nodes.node(hit.id)
                if node is None:
                    continue
                if not selection.scope.accepts(node):
                    outside += 1
                elif hit.id in selection.denied:
                    below += 1
        return outside, below

    def _explanation(self, run: _Run, fused: int) -> Explanation:
        outside, below = self._left_out(run)
        return Explanation(
            weights=run.weights,
            pool=run.query.pool,
            steps=self._policy.names,
            seeds=run.seeds,
            fused=fused,
            outside_scope=outside,
            below_floor=below,
            milliseconds=dict(run.milliseconds),
        )

    def _repair(self, run: _Run) -> None:
        """Have indexes forget what their graph does not know; the answer does not wait for it."""
        for number, corpus in enumerate(run.corpora):
            ids = [one.id for one in run.unknown if one.corpus == number]
            if ids and corpus.repair is not None:
                self._workers.submit(corpus.repair, ids)


_file: Final[Callable[[_Candidate], Hashable]] = operator.attrgetter("file")
_id: Final[Callable[[_Candidate], str]] = operator.attrgetter("id")


class _Outcome(NamedTuple):
    """What came of asking one signal."""

    found: list[_Found] | None
    error: Exception | None
    milliseconds: float


def _attempt(ask: Callable[[_Run], list[_Found]], run: _Run) -> _Outcome:
    """Ask one signal; its failure is an answer too, and reported."""
    started = time.perf_counter()
    found, error = None, None
    try:
        found = ask(run)
    except Exception as caught:
        error = caught
    return _Outcome(found, error, (time.perf_counter() - started) * 1e3)


def _place(candidate: _Candidate) -> Placed:
    node = candidate.known
    return node.path, node.start_line, node.id


def _label(votes: Mapping[Signal, Vote]) -> Label:
    if Signal.BM25 in votes:
        return Label.HYBRID if Signal.SEMANTIC in votes else Label.EXACT
    if Signal.SEMANTIC in votes:
        return Label.SEMANTIC
    return Label.FUZZY if Signal.FUZZY in votes else Label.GRAPH


def _indexed(corpus: Corpus) -> Indexed:
    return Indexed(corpus.repository, corpus.generation, corpus.state.commit, corpus.state.pending_files)


def _unit_vector(values: tuple[float, ...] | Floats) -> Floats:
    """A ready vector may have any length; cosines want length one."""
    vector = np.asarray(values, dtype=np.float64)
    norm = float(np.linalg.norm(vector))
    return np.asarray(vector / norm if norm else vector, dtype=np.float32)
