"""ContextSearchService: the one composition of the signals into a ranked, explained answer.

Reads only what the caller published: one pinned corpus per repository. It never writes to an index, never reads the
clock for anything but durations, and answers the same request over the same corpora with the same bytes.
"""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np

from ctxsearch.graph.columns import NodeColumns, Rows, numbers_of
from ctxsearch.graph.freshness import Freshness
from ctxsearch.graph.graph import Hit as Walked
from ctxsearch.graph.model import CodeNode, NodeId, NodeKind
from ctxsearch.search.acceptance import Acceptance
from ctxsearch.search.coherence import NEXT_NODE, NEXT_NODE_OF_REPORT, cohere
from ctxsearch.search.errors import FailedPrecondition, InvalidArgument, NotFound, SearchError, Unavailable
from ctxsearch.search.expansion import SEEDS, expand, expansion_order, raw_score, reach_of
from ctxsearch.search.identifiers import split_identifier, without_name
from ctxsearch.search.long_texts import long_text
from ctxsearch.search.ports import (
    NOTHING_DENIED,
    SELECT_ALL,
    Corpus,
    Embedder,
    Floats,
    FullTextReader,
    NodeContent,
    OnDisk,
    Passage,
    Selection,
    node_ids,
)
from ctxsearch.search.query import Content, Mode, SearchQuery, Signal
from ctxsearch.search.ranking import (
    Fusion,
    Ranked,
    RankedList,
    Vote,
    exact_on_top,
    fuse,
    joined,
    no_penalties,
    order,
    penalised,
)
from ctxsearch.search.results import (
    NO_CONTENT,
    Explanation,
    Guidance,
    Indexed,
    Label,
    ResultContent,
    SearchResponse,
    SearchResult,
    SignalReport,
)
from ctxsearch.search.run import Found, IndexHits, Key, Member, Outcome, Run, attempt
from ctxsearch.search.snippets import Snippets, within_budget
from ctxsearch.search.spelled import spelled_place, spelled_symbol
from ctxsearch.search.steps import EXACT_BONUS, EXACT_SCORE, RankingPolicy, Steps, demoted_flags, reordered

_NEAR_NAMES: Final = 5
_NEAR_WORDS: Final = 8  # of a query with more, none is looked for by itself
_WORKERS: Final = 4
# Up to so many nodes signals are asked one after the other: what they do in engines, where threads do run beside each
# other, takes less time than the threads' taking turns.
_SMALL: Final = 20_000
_UNREAD: Final = NodeContent("", OnDisk.UNCHECKED)
_DEEPER: Final = 4  # how many times the pool is looked at where tests fill the list


class ContextSearchService:
    """Searches the published corpora. Thread-safe: the mapping of corpora is replaced, never changed."""

    def __init__(self, embedder: Embedder | None = None, policy: RankingPolicy | None = None) -> None:
        """Compose with an embedder for query texts; without one, only ready vectors can be searched by."""
        self._embedder = embedder
        self._policy = policy if policy is not None else RankingPolicy()
        self._steps = {signal: Steps.of(self._policy.steps, signal) for signal in Signal}
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
        self._ask_text_signals(run)
        run.done("signals")
        self._expand(run)
        run.done("expansion")
        self._check_answerable(run)
        ranked, fused = self._ordered(run)
        run.done("fusion")
        results = self._results(run, ranked)
        run.done("content")
        there_is_more = (query.explain or not results) and self._count_left_out(run)
        guidance = None if results else self._guidance(run, at_least=there_is_more)
        explanation = self._explanation(run, fused) if query.explain else None
        self._repair(run)
        return SearchResponse(
            results=results,
            signals=tuple(run.reports[signal] for signal in Signal if signal in run.reports),
            indexed=tuple(_indexed(member.corpus) for member in run.members),
            degraded=any(not report.ran for report in run.reports.values()) or bool(run.warnings),
            warnings=tuple(run.warnings),
            dropped_by_scope=len(run.out_of_scope),
            dropped_by_floor=len(run.below_floor),
            dropped_by_score=run.dropped_by_score,
            unknown_ids=len(run.unknown),
            trimmed_results=sum(result.content.trimmed for result in results),
            milliseconds=(time.perf_counter() - started) * 1e3,
            guidance=guidance,
            near_names=() if results and run.found_words and not run.misses_symbol else self._near_names(run),
            explanation=explanation,
        )

    # Choosing

    def _start(self, query: SearchQuery) -> Run:
        corpora = self._chosen(query)
        if query.embedding is not None:
            for dimension in self._dimensions(corpora):
                query.check_dimension(dimension)
        floor = query.freshness_floor
        filters = floor is not None and floor > min(Freshness)
        members: list[Member] = []
        keys = files = 0
        for corpus in corpora:
            numbers = corpus.nodes.columns.numbers
            denied = corpus.freshness.below(floor, numbers) if filters and floor is not None else NOTHING_DENIED
            members.append(Member(corpus, Selection(query.scope, denied), keys, files))
            keys += len(numbers)
            files += len(corpus.nodes.columns.paths)
        return Run(query, tuple(members), query.signal_weights())

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
            raise FailedPrecondition("nothing is indexed yet; run `ctxsearch add PATH` first")
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

    def _ask_text_signals(self, run: Run) -> None:
        weights = run.weights
        asked = [signal for signal, weight in weights.items() if weight > 0 and signal is not Signal.GRAPH]
        signals = {Signal.BM25: self._bm25, Signal.SEMANTIC: self._semantic, Signal.FUZZY: self._fuzzy}
        # The first one runs here: a keyword search then needs no other thread at all.
        here, others = (asked[:1], asked[1:]) if run.size > _SMALL else (asked, [])
        beside = [self._workers.submit(attempt, self._of_each, signals[signal], run) for signal in others]
        outcomes = [attempt(self._of_each, signals[signal], run) for signal in here]
        outcomes += [future.result() for future in beside]
        # The steps run here as well: engines let other threads run, Python code takes turns with them, which costs.
        for signal, outcome in zip(asked, outcomes, strict=True):
            self._note(run, signal, weights[signal], outcome.then(self._ranked, run, signal))

    def _note(self, run: Run, signal: Signal, weight: float, outcome: Outcome[Found]) -> None:
        error = outcome.error
        if error is not None or outcome.value is None:
            if isinstance(error, InvalidArgument):  # of the question, not of an index
                raise error
            if isinstance(error, FailedPrecondition) and run.query.mode is Mode.SEMANTIC:
                raise error
            reason = _reason(error)
            run.warnings.append(f"{signal} did not answer: {reason}")
            run.reports[signal] = SignalReport(signal, weight, False, 0, outcome.milliseconds, reason)
            return
        keys, scores, files, unknown, truncated = outcome.value
        run.lists[signal] = RankedList(signal, keys, scores)
        run.files[signal] = files
        run.unknown.update(dict.fromkeys(unknown))
        run.reports[signal] = SignalReport(signal, weight, True, len(keys), outcome.milliseconds, "", truncated)

    def _of_each(self, ask: Callable[[Run, Member], IndexHits], run: Run) -> list[IndexHits | Exception]:
        """What the index of every corpus answered, or why it did not; raises where none did."""
        found: list[IndexHits | Exception] = []
        for member in run.members:
            try:
                found.append(ask(run, member))
            except InvalidArgument:  # of the question, not of an index
                raise
            except Exception as error:
                found.append(error)
        if found and all(isinstance(one, Exception) for one in found):
            raise next(one for one in found if isinstance(one, Exception))
        return found

    def _bm25(self, run: Run, member: Member) -> IndexHits:
        reader, columns = _full_text(member.corpus), member.corpus.nodes.columns
        hits = member.hits(reader.search(run.query.text, member.selection, run.depth, columns))
        place = spelled_place(run.query.text)
        return hits if place is None or not place.line else _with_node_at(place.line, hits, member)

    def _fuzzy(self, run: Run, member: Member) -> IndexHits:
        return member.hits(_full_text(member.corpus).fuzzy(run.query.text, member.selection, run.query.pool))

    def _semantic(self, run: Run, member: Member) -> IndexHits:
        query, corpus, depth = run.query, member.corpus, run.depth
        vectors = corpus.vectors
        if vectors is None:
            raise FailedPrecondition(f"the vectors of {corpus.repository} are not there yet")
        if self._embedder is not None and vectors.model_id != self._embedder.model_id:
            raise FailedPrecondition(
                f"the vectors of {corpus.repository} were made by {vectors.model_id}, "
                f"the query by {self._embedder.model_id}; index again"
            )
        text = without_name(query.text, corpus.repository) if self._policy.own_name else query.text
        vector = run.vectors.get(text)  # of each corpus's text: mostly the same one
        if vector is None:
            vector = run.vectors[text] = self._query_vector(text, query.embedding)
        nearest = functools.partial(vectors.search, vector, member.selection)
        hits = member.hits(nearest(depth))
        is_flooded = self._is_flooded(query, hits.rows, corpus.nodes.columns)
        return member.hits(nearest(max(depth, _DEEPER * query.pool))) if is_flooded else hits

    def _is_flooded(self, query: SearchQuery, rows: Rows, columns: NodeColumns) -> bool:
        """Whether most of a list is what will be ranked below other code, which the list then leaves no place for."""
        demoted = demoted_flags(query.text, query.scope.paths) if self._policy.past_demoted else 0
        return bool(demoted) and 2 * int(np.count_nonzero(columns.flags[rows[rows >= 0]] & demoted)) > len(rows)

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

    def _ranked(self, found: list[IndexHits | Exception], run: Run, signal: Signal) -> Found:
        """One list over all corpora that answered, after the steps: by raw score, which is comparable inside one
        signal."""
        steps = self._steps[signal]
        pool = run.query.pool
        unknown: list[tuple[int, NodeId]] = []
        parts = []
        for number, (member, hits) in enumerate(zip(run.members, found, strict=True)):
            if isinstance(hits, Exception):
                run.warnings.append(f"{signal} left out {member.corpus.repository}: {_reason(hits)}")
                continue
            nodes = member.corpus.nodes
            rows, scores = hits.rows, hits.scores
            if np.minimum.reduce(rows, initial=0) < 0:
                unknown += [(number, node_id) for node_id in node_ids(hits.numbers[rows < 0].tolist())]
                rows, scores = rows[rows >= 0], scores[rows >= 0]
            if any(steps) and len(rows):
                rows, scores = reordered(steps, rows, scores, run.query, nodes)
            parts.append((*member.placed(rows[:pool]), scores[:pool]))
        if not parts:
            return Found([], [], [])
        keys, files, scores = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
        if len(parts) > 1:
            order = np.lexsort((keys, -scores))[:pool]
            keys, files, scores = keys[order], files[order], scores[order]
        return Found(keys.tolist(), scores.tolist(), files.tolist(), unknown)

    # Expansion

    def _expand(self, run: Run) -> None:
        weight = run.weights.get(Signal.GRAPH)
        if run.query.expansion is None or not weight:
            return
        outcome = attempt(self._graph, run)
        self._note(run, Signal.GRAPH, weight, outcome)

    def _graph(self, run: Run) -> Found:
        assert run.query.expansion is not None
        seeds = self._seeds(run)
        run.seeds = tuple(map(run.node_id, seeds))
        expanded: list[tuple[int, int, Walked]] = []  # number of the corpus, rank of the seed, what was reached
        truncated = False
        unresolved: list[str] = []
        for number, member in enumerate(run.members):
            own = [(rank, run.seeds[rank]) for rank, seed in enumerate(seeds) if run.member(seed) is member]
            if not own:
                continue
            graph = member.corpus.graph
            if graph is None:
                unresolved.append(member.corpus.repository)
                continue
            accepts = None if member.selection.is_everything else Acceptance(member.corpus.nodes, member.selection)
            walk = expand(graph, [node_id for _, node_id in own], run.query.expansion, run.query.pool, accepts)
            expanded += [(number, own[one.seed_rank][0], one) for one in walk.kept]
            truncated |= walk.truncated
            if accepts is not None:
                outside, below = accepts.told_apart(walk.refused)
                run.out_of_scope.update((member.first_key, one) for one in outside)
                run.below_floor.update((member.first_key, one) for one in below)
        if unresolved and len(unresolved) == len({run.member(seed).first_key for seed in seeds}):
            raise FailedPrecondition(f"the calls of {', '.join(unresolved)} are not resolved yet")
        run.warnings += [f"{Signal.GRAPH} left out {name}: its calls are not resolved yet" for name in unresolved]
        if len(run.members) > 1:  # one walk is in order
            expanded.sort(key=lambda item: (expansion_order(item[2], item[1]), item[0]))
        found = self._reached(run, [(number, one) for number, _, one in expanded[: run.query.pool]])
        return found._replace(truncated=truncated)

    def _reached(self, run: Run, expanded: Sequence[tuple[int, Walked]]) -> Found:
        """The list of what a walk reached, and how."""
        keys, files = np.empty(len(expanded), np.int64), np.empty(len(expanded), np.int64)
        for number, member in enumerate(run.members):
            places = [place for place, (owner, _) in enumerate(expanded) if owner == number]
            numbers = numbers_of(expanded[place][1].node.id for place in places)
            keys[places], files[places] = member.placed(member.corpus.nodes.columns.rows(numbers))
        found = Found(keys.tolist(), [raw_score(one) for _, one in expanded], files.tolist())
        run.reached = dict(zip(found.keys, [one for _, one in expanded], strict=True))
        return found

    def _seeds(self, run: Run) -> list[Key]:
        """The top of the fused text signals, before any penalty."""
        fusion = run.by_text = self._by_text(run, room_for=Signal.GRAPH)
        return [one.key for one in order(fusion, fusion.scores, None, run.place, 0.0, SEEDS)]

    def _acceptance(self, run: Run, member: Member) -> Callable[[CodeNode], bool]:
        selection, owner = member.selection, member.first_key

        def accepts(node: CodeNode) -> bool:
            if not selection.scope.is_everything and not selection.scope.accepts(node):
                run.out_of_scope.add((owner, node.id))
                return False
            if node.id in selection.denied:
                run.below_floor.add((owner, node.id))
                return False
            return True

        return accepts

    # Ordering

    def _ordered(self, run: Run) -> tuple[list[Ranked[Key]], int]:
        """The page, and how many candidates there were."""
        fusion = self._fused(run)
        accepted = self._accepted(run, fusion.scores)
        penalties = run.penalties if self._policy.freshness else None
        if self._policy.exact_on_top and (penalties is not None or run.by_text is not None):
            topped = exact_on_top(fusion, accepted, penalties or no_penalties, EXACT_SCORE, run.by_text)
            fusion = run.changed("exact_on_top", fusion, topped)
        floor = run.query.min_score
        if floor:
            scores = penalised(fusion, accepted, penalties)
            run.dropped_by_score = sum(score < floor for score in scores)
        return order(fusion, accepted, penalties, run.place, floor, run.query.k), len(fusion.scores)

    def _fused(self, run: Run) -> Fusion[Key]:
        """The signals' votes, added per node and, where the policy says so, per file."""
        reached = run.lists.get(Signal.GRAPH)
        if reached is not None and run.by_text is not None:
            return joined(run.by_text, reached, run.weights)
        return self._by_text(run)

    def _by_text(self, run: Run, room_for: Signal | None = None) -> Fusion[Key]:
        """The votes of all signals that ran so far."""
        fusion = fuse(run.lists.values(), run.weights, room_for)
        if not self._policy.file_coherence or len(run.lists) < 2:  # one list has nothing to agree with
            return fusion
        next_node = NEXT_NODE if long_text(run.query.text) is None else NEXT_NODE_OF_REPORT
        return run.changed("file_coherence", fusion, cohere(fusion, run.files_by_key().__getitem__, next_node))

    def _check_answerable(self, run: Run) -> None:
        if run.lists or not run.reports:
            return
        reasons = "; ".join(run.warnings)
        raise Unavailable(f"no signal could answer: {reasons}")

    def _accepted(self, run: Run, candidates: Collection[Key]) -> Collection[Key]:
        """In scope, not below the floor: checked once more, whatever the indexes did."""
        if all(member.selection.is_everything for member in run.members):
            return candidates
        accepts = {member.first_key: self._acceptance(run, member) for member in run.members}
        keys = list(candidates)
        nodes = run.nodes_of(keys)
        return [key for key, node in zip(keys, nodes, strict=True) if accepts[run.member(key).first_key](node)]

    # Filling in

    def _results(self, run: Run, ranked: Sequence[Ranked[Key]]) -> tuple[SearchResult, ...]:
        members = [run.member(one.key) for one in ranked]
        nodes = run.nodes_of([one.key for one in ranked])
        texts = self._texts(run, members, nodes)
        contents = self._contents(run, nodes, texts)
        return tuple(
            SearchResult(
                repository=member.corpus.repository,
                node=node,
                score=one.score,
                votes=one.votes,
                freshness=member.corpus.freshness.fact(node.id),
                label=_label(one.votes),
                reach=reach_of(run.reached.get(one.key)),
                content=content,
                on_disk=text.on_disk,
                steps=run.added_by_steps(one.key),
            )
            for one, member, node, content, text in zip(ranked, members, nodes, contents, texts, strict=True)
        )

    def _texts(self, run: Run, members: Sequence[Member], nodes: Sequence[CodeNode]) -> list[NodeContent]:
        """One look-up per corpus."""
        if len(run.members) == 1:
            return self._texts_of(run, run.members[0], nodes)
        texts = [_UNREAD] * len(nodes)
        for member in run.members:
            places = [place for place, one in enumerate(members) if one is member]
            found = self._texts_of(run, member, [nodes[place] for place in places])
            for place, text in zip(places, found, strict=True):
                texts[place] = text
        return texts

    def _texts_of(self, run: Run, member: Member, nodes: Sequence[CodeNode]) -> list[NodeContent]:
        """Texts of one corpus; an error there costs the text, not the answer."""
        try:
            return member.corpus.texts.contents(nodes, bodies=run.query.content is not Content.NONE)
        except Exception as error:
            run.warnings.append(f"no text from {member.corpus.repository}: {type(error).__name__}: {error}")
            return [_UNREAD] * len(nodes)

    def _contents(self, run: Run, nodes: Sequence[CodeNode], texts: Sequence[NodeContent]) -> list[ResultContent]:
        query = run.query
        if query.content is Content.NONE:
            return [NO_CONTENT] * len(nodes)
        snippets = Snippets(query.text, self._similarity(run))
        cut = snippets.full if query.content is Content.FULL else snippets.snippet
        contents = [cut(text.body, node.start_line) for node, text in zip(nodes, texts, strict=True)]
        return contents if query.max_tokens is None else within_budget(contents, query.max_tokens)

    def _similarity(self, run: Run) -> Callable[[list[str]], list[float]] | None:
        """How near pieces of text are to the query, where the semantic signal ran and embedding them is quick."""
        embedder = self._embedder
        if embedder is None or Signal.SEMANTIC not in run.lists or not embedder.is_quick:
            return None

        vector = functools.cache(self._query_vector)  # of one text, for all snippets that need it

        def similarity(pieces: list[str]) -> list[float]:
            rows = embedder.embed_documents([Passage("", piece) for piece in pieces])
            return [float(score) for score in rows @ vector(run.query.text, run.query.embedding)]

        return similarity

    def _guidance(self, run: Run, *, at_least: bool) -> Guidance:
        searched = []
        for corpus in (member.corpus for member in run.members):
            size = f"{corpus.full_text.count()} nodes" if corpus.full_text is not None else "no full-text index"
            searched.append(f"{corpus.repository} ({size}, generation {corpus.generation})")
        return Guidance(
            searched=", ".join(searched) if searched else "no repository is in scope",
            outside_scope=len(run.out_of_scope),
            below_floor=len(run.below_floor),
            at_least=at_least,
            below_min_score=run.dropped_by_score,
        )

    def _near_names(self, run: Run) -> tuple[str, ...]:
        """Names that may have been meant."""
        near: dict[str, None] = {}
        typed = spelled_symbol(run.query.text) or run.query.text
        for member in run.members:
            reader = member.corpus.full_text
            text = _missing_words(typed, member, reader) if reader is not None and run.query.has_text else ""
            if reader is not None and text:
                near.update(dict.fromkeys(reader.near_names(text, _NEAR_NAMES)))
        return tuple(near)[:_NEAR_NAMES]

    def _count_left_out(self, run: Run) -> bool:
        """Count what full text would have brought without scope and floor; True if a list was too short for all."""
        there_is_more = False
        for member in run.members:
            full_text, nodes = member.corpus.full_text, member.corpus.nodes
            if member.selection.is_everything or full_text is None or not run.query.has_text:
                continue
            accepts = self._acceptance(run, member)
            hits = full_text.search(run.query.text, SELECT_ALL, run.query.pool, nodes.columns)
            there_is_more |= len(hits) >= run.query.pool
            for hit in hits:
                node = nodes.node(hit.id)
                if node is not None:
                    accepts(node)
        return there_is_more

    def _explanation(self, run: Run, fused: int) -> Explanation:
        return Explanation(
            weights=run.weights,
            pool=run.query.pool,
            steps=self._policy.names,
            seeds=run.seeds,
            fused=fused,
            milliseconds=dict(run.milliseconds),
        )

    def _repair(self, run: Run) -> None:
        """Have indexes forget what their graph does not know; the answer does not wait for it."""
        for number, member in enumerate(run.members):
            ids = [node_id for owner, node_id in run.unknown if owner == number]
            if ids and member.corpus.repair is not None:
                self._workers.submit(member.corpus.repair, ids)


def _with_node_at(line: int, hits: IndexHits, member: Member) -> IndexHits:
    """The same with the innermost node at a line of the file that the query spells before it."""
    nodes, selection = member.corpus.nodes, member.selection
    columns = nodes.columns
    spelled = hits.rows[(hits.scores >= EXACT_SCORE) & (hits.rows >= 0)]
    files = [row for row in spelled.tolist() if columns.kinds[row] == int(NodeKind.MODULE)]
    rows = np.isin(columns.files, columns.files.take(files)).nonzero()[0].tolist()
    found = [(row, node) for row in rows if (node := nodes.node(columns.node_id(row))) is not None]
    around = [
        (node.start_line, -node.end_line, node.id, row)
        for row, node in found
        if node.start_line <= line <= node.end_line
        and selection.scope.accepts(node)
        and node.id not in selection.denied
    ]
    if not around:
        return hits
    row = max(around)[-1]
    others = hits.rows != row
    return IndexHits(
        np.concatenate((columns.numbers[[row]], hits.numbers[others])),
        np.concatenate(([row], hits.rows[others])),
        np.concatenate(([hits.scores[0] * EXACT_BONUS], hits.scores[others])),
    )


def _full_text(corpus: Corpus) -> FullTextReader:
    if corpus.full_text is None:
        raise FailedPrecondition(f"{corpus.repository} has no full-text index")
    return corpus.full_text


def _missing_words(text: str, member: Member, reader: FullTextReader) -> str:
    """The words of a query for which names are looked for: not those that are there, only out of scope."""
    words = text.split()
    if member.selection.is_everything or len(words) > _NEAR_WORDS:
        return text

    def is_there(word: str) -> bool:
        if reader.has_name(word):
            return True
        is_whole = len(split_identifier(word)) == 1  # else a part of it is found, wherever
        return is_whole and len(reader.search(word, SELECT_ALL, 1, member.corpus.nodes.columns)) > 0

    return " ".join(word for word in words if not is_there(word))


def _reason(error: Exception | None) -> str:
    return str(error) if isinstance(error, SearchError) else f"{type(error).__name__}: {error}"


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
