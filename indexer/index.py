"""One repository, kept current: list, compare, parse what changed, resolve, commit one generation.

The first index takes two: nodes as soon as every file is parsed, so that they can be searched, then the edges. The
catalog says which of the two it holds (`RESOLVED_META`), and whatever ends the process in between, the next refresh
resolves what is there.

The catalog is the truth. What is kept in memory equals the last committed generation: when a refresh fails on the
way (a full disk, a cancelled call) it is dropped and read again from the catalog, so that the next refresh starts
from what is there. Nothing is written into the repository.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec

from ctxsearch.graph.catalog import Catalog, CatalogError, Snapshot, Writer
from ctxsearch.graph.errors import CtxsearchError
from ctxsearch.graph.facts import decode_facts
from ctxsearch.graph.git import Git
from ctxsearch.graph.records import RESOLVED_META, Counts, FileRecord
from ctxsearch.graph.resolve.resolver import Resolver
from ctxsearch.indexer.files import (
    FileEntry,
    FileStat,
    Limits,
    Listing,
    NothingToIndexError,
    Skipped,
    SkipReason,
    changes_rules,
    count_reasons,
    list_files,
    list_some,
)
from ctxsearch.indexer.languages import EXTRACTOR_VERSION
from ctxsearch.indexer.pipeline import ParsePool
from ctxsearch.indexer.resolution import OwnResolution, PooledResolution, Resolution
from ctxsearch.indexer.spool import Spool
from ctxsearch.indexer.worker import Parsed

# Phase, done, in all (0: not known). An exception from it cancels the refresh; the last generation stays.
Progress = Callable[[str, int, int], None]
# The first index: nodes are committed and can be searched, edges follow. Called between the two generations.
NodesKnown = Callable[[], None]

# A file written in the same tick of the clock as it was read could change again without showing: it is looked
# at once more by the next refresh. Two seconds is the coarsest clock of a file system in use (FAT).
_RACY_NS = 2_000_000_000
_UNTRUSTED_MTIME = -1  # stored instead of a modification time that proves nothing
_MANY_PATHS = 200  # more changed paths than this are cheaper to find by a full listing
_TRIM_FILES = 500  # parser processes that read as many have grown: new ones after that
_GRAPH_VERSION = "18"  # raise it when the same facts give another graph: everything is then resolved again
_PARALLEL_FILES = 400  # fewer are resolved before other processes have started
_KEPT_CONTENTS = 20  # of one file: one that is edited all day does not fill the catalog
_KEPT_GENERATIONS = 20  # facts of contents that no file has any more are kept as long, for branches that return


class RefreshReport(msgspec.Struct, frozen=True):
    """What a refresh did."""

    generation: int
    changed: int  # files that are new or have other content
    removed: int
    unchanged: int
    resolved: int  # files whose calls were resolved, changed ones included
    skipped: dict[SkipReason, int]  # of everything looked at
    seconds: dict[str, float]  # by phase: list, compare, parse, load, resolve (with storing), store, commit
    counts: Counts | None = None  # of the whole index; full refreshes only


class _Plan(msgspec.Struct, frozen=True):
    """What the file system says against what the catalog says."""

    candidates: tuple[FileEntry, ...]  # new, or not surely unchanged
    unchanged: int
    removed: tuple[str, ...]  # indexed before, not any more
    skipped: tuple[Skipped, ...]
    forgotten: tuple[str, ...]  # skipped before, not any more


@dataclass(slots=True)
class _Memory:
    """The catalog's files as of the last generation; ahead of it only while a refresh is under way."""

    records: dict[str, FileRecord]
    reasons: dict[str, str]  # of skipped paths
    languages: dict[str, dict[str, str]]  # by path, then content hash: facts that are stored
    outdated: bool  # the stored graph was made by another version of the resolver


@dataclass(slots=True)
class _Outcome:
    """What a refresh found out, while it is under way."""

    started_ns: int
    stats: dict[str, FileStat] = field(default_factory=dict)  # as listed, of the files to look at
    facts: Spool = field(default_factory=Spool)  # of changed files
    skipped: list[Skipped] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)  # indexed before, now skipped
    lost: list[str] = field(default_factory=list)  # files whose stored facts are not there: to be parsed again
    resolved: int = 0


class _LostFactsError(CtxsearchError):
    """A file's stored facts cannot be read: it has to be parsed again."""

    def __init__(self, path: str) -> None:
        super().__init__(f"{path}: stored facts are damaged")
        self.path = path


class RepositoryIndexer:
    """Writes one repository's catalog. One refresh at a time: calls from several threads queue up."""

    def __init__(
        self,
        root: Path,
        catalog: Catalog,
        *,
        workers: int,
        limits: Limits | None = None,
        git: Git | None = None,
        pool: ParsePool | None = None,
        clock: Callable[[], int] = time.time_ns,
        lenders: Sequence[Path] = (),
    ) -> None:
        """`lenders` are catalogs of other work trees of the repository: what they have parsed is not parsed again."""
        self.root = root.resolve()
        self._catalog = catalog
        self._limits = limits or Limits()
        self._git = git
        self._pool = pool or ParsePool(workers)
        self._workers = workers
        self._clock = clock
        self._one_at_a_time = threading.Lock()
        self._memory: _Memory | None = None  # None: to be read from the catalog
        self._resolver: Resolver | None = None  # None likewise
        self._lenders = tuple(lenders)
        self._refused: dict[str, tuple[FileStat, Skipped]] = {}  # files that were read in vain, until they change
        self._distrusts_facts = False  # some stored facts turned out to be damaged: all are looked at
        self._committed: Snapshot | None = None  # the last generation, while a refresh resolves

    def close(self) -> None:
        """End the parser processes. The catalog stays open: it belongs to whoever opened it."""
        self._pool.close()

    def __enter__(self) -> RepositoryIndexer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def prepare(self) -> None:
        """Load what an incremental refresh needs, ahead of the first change."""
        with self._one_at_a_time:
            self._pool.warm()
            self._prepared(self._remember()).prepare()

    def refresh(self, progress: Progress | None = None, nodes_known: NodesKnown | None = None) -> RefreshReport:
        """Bring the catalog up to date with the whole tree. Raises NothingToIndexError when no file is indexed."""
        with self._one_at_a_time:
            return self._refresh(progress or _silent, nodes_known)

    def refresh_paths(self, paths: Iterable[str], progress: Progress | None = None) -> RefreshReport:
        """The same for some files or directories (relative paths) that may have changed, without a full listing."""
        wanted = sorted(set(paths))
        with self._one_at_a_time:
            if len(wanted) > _MANY_PATHS or any(changes_rules(path) for path in wanted):
                return self._refresh(progress or _silent)
            return self._refresh_some(wanted, progress or _silent)

    # -- the two ways to a plan

    def _refresh(self, progress: Progress, nodes_known: NodesKnown | None = None) -> RefreshReport:
        watch = _Stopwatch(progress)
        watch.phase("list")
        listing = list_files(self.root, self._limits, self._git)
        watch.phase("compare")
        memory = self._remember()
        plan = self._compare(listing, memory, set(memory.records), set(memory.reasons))
        if memory.records and not listing.files:  # an unmounted disk, a tree being moved: what was indexed stays
            raise NothingToIndexError(self.root, plan.skipped)
        outcome = self._carry_out(plan, watch, nodes_known)
        if not memory.records:
            raise NothingToIndexError(self.root, (*plan.skipped, *outcome.skipped))
        with self._catalog.read() as snapshot:
            return self._report(plan, outcome, watch, snapshot.counts())

    def _refresh_some(self, paths: list[str], progress: Progress) -> RefreshReport:
        watch = _Stopwatch(progress)
        watch.phase("list")
        memory = self._remember()
        affected = _concerned(memory.records, paths)
        listing = list_some(self.root, paths, self._limits, self._git, known=affected)
        if listing is None:
            return self._refresh(progress)
        watch.phase("compare")
        plan = self._compare(listing, memory, affected, _concerned(memory.reasons, paths))
        return self._report(plan, self._carry_out(plan, watch), watch)

    def _compare(self, listing: Listing, memory: _Memory, affected: set[str], skipped: set[str]) -> _Plan:
        """`affected` and `skipped` are the catalog's paths that the listing speaks about."""
        candidates, refused = [], []
        for entry in listing.files:
            refusal = self._refused.get(entry.path)
            if refusal is not None and refusal[0] == entry.stat:
                refused.append(refusal[1])
            elif not _surely_unchanged(memory.records.get(entry.path), entry.stat):
                candidates.append(entry)
        left_out = {each.path for each in (*listing.skipped, *refused)}
        indexed = {entry.path for entry in listing.files} - left_out
        return _Plan(
            candidates=tuple(candidates),
            unchanged=len(indexed) - len(candidates),
            removed=tuple(sorted(affected - indexed)),
            skipped=tuple(sorted((*listing.skipped, *refused), key=lambda each: each.path)),
            forgotten=tuple(sorted(skipped - left_out - indexed)),
        )

    # -- carrying it out

    def _carry_out(self, plan: _Plan, watch: _Stopwatch, nodes_known: NodesKnown | None = None) -> _Outcome:
        """Parse, resolve, commit. Whatever fails on the way, memory is dropped rather than ahead of the disk."""
        outcome = _Outcome(self._clock())
        memory = self._remember()
        if not _needs_writing(plan, memory):
            return outcome
        try:
            if nodes_known is not None and not memory.records:
                self._write_twice(plan, memory, outcome, watch, nodes_known)
            else:
                self._write_once(plan, memory, outcome, watch)
        except BaseException as error:
            self._memory = self._resolver = None
            self._refused.clear()
            if isinstance(error, _LostFactsError) and not self._distrusts_facts:
                self._distrusts_facts = True
                return self._carry_out(plan, watch, nodes_known)
            raise
        finally:
            outcome.facts.close()
        self._distrusts_facts = False
        if len(outcome.facts) > _TRIM_FILES:
            self._pool.close()
            self._pool.warm()
        return outcome

    def _write_once(self, plan: _Plan, memory: _Memory, outcome: _Outcome, watch: _Stopwatch) -> None:
        with self._catalog.write() as writer:
            self._write_files(writer, plan, memory, outcome, watch)
            resolution = self._take_over(writer, plan, memory, outcome, watch)
            if resolution is not None:
                with contextlib.closing(resolution):
                    self._write_graph(writer, resolution, memory, outcome, watch)
            watch.phase("commit")

    def _write_twice(
        self, plan: _Plan, memory: _Memory, outcome: _Outcome, watch: _Stopwatch, nodes_known: NodesKnown
    ) -> None:
        """A generation of nodes, then one with the edges. Until the second is there the graph counts as outdated."""
        with contextlib.ExitStack() as stack:
            with self._catalog.write() as writer:
                self._write_files(writer, plan, memory, outcome, watch)
                resolution = self._take_over(writer, plan, memory, outcome, watch, outlines=True)
                if resolution is not None:
                    stack.callback(resolution.close)
                    watch.phase("store")
                    resolution.write_outlines(writer)
                watch.phase("commit")
            if resolution is None:
                return
            nodes_known()
            with self._catalog.write() as writer:
                self._write_graph(writer, resolution, memory, outcome, watch)
                watch.phase("commit")

    def _write_files(self, writer: Writer, plan: _Plan, memory: _Memory, outcome: _Outcome, watch: _Stopwatch) -> None:
        for path in (*plan.removed, *plan.forgotten):
            writer.remove(path)
            memory.records.pop(path, None)
            memory.reasons.pop(path, None)
            self._refused.pop(path, None)
        for each in plan.skipped:
            writer.put_skipped(each.path, each.reason)
            memory.reasons[each.path] = each.reason
        paths = [entry.path for entry in plan.candidates]
        outcome.stats = {entry.path: entry.stat for entry in plan.candidates}
        if not memory.records:
            self._borrow(writer, set(paths), memory)
        known = {path: frozenset(memory.languages.get(path, ())) for path in paths}
        self._parse(writer, paths, known, memory, outcome, watch)

    def _take_over(
        self,
        writer: Writer,
        plan: _Plan,
        memory: _Memory,
        outcome: _Outcome,
        watch: _Stopwatch,
        *,
        outlines: bool = False,
    ) -> Resolution | None:
        """Hand what changed to whoever resolves it; None when the graph stays as it is."""
        if not (outcome.facts or outcome.lost or outcome.removed or plan.removed or memory.outdated):
            return None
        watch.phase("load")
        resolver = self._prepared(memory, outcome)
        present = memory.records.keys() | outcome.stats.keys()
        again = sorted((set(outcome.lost) & present) - outcome.facts.keys() - memory.reasons.keys())
        self._parse(writer, again, {}, memory, outcome, watch)
        watch.phase("resolve")
        if self._workers > 1 and len(outcome.facts) >= _PARALLEL_FILES and not resolver.knows_files():
            self._resolver = None  # what the processes find out is read from the catalog when it is needed
            self._pool.close()  # memory for the others
            return PooledResolution(self.root.name, outcome.facts, self._workers, outlines=outlines)
        with self._catalog.read() as self._committed:
            own = OwnResolution(resolver, outcome.facts, (*plan.removed, *outcome.removed))
        self._committed = None
        return own

    def _write_graph(
        self, writer: Writer, resolution: Resolution, memory: _Memory, outcome: _Outcome, watch: _Stopwatch
    ) -> None:
        watch.phase("resolve")
        with self._catalog.read() as self._committed:
            outcome.resolved = resolution.write_graphs(writer, watch.progress)
        self._committed = None
        watch.phase("store")
        writer.set_meta(RESOLVED_META, _GRAPH_VERSION)
        memory.outdated = False
        if len(outcome.facts) > _MANY_PATHS:
            writer.collect_facts(writer.generation - _KEPT_GENERATIONS)

    def _parse(
        self,
        writer: Writer,
        paths: Sequence[str],
        known: Mapping[str, frozenset[str]],
        memory: _Memory,
        outcome: _Outcome,
        watch: _Stopwatch,
    ) -> None:
        watch.phase("parse")
        for answer in self._pool.run(self.root, paths, limits=self._limits, known=known, progress=watch.progress):
            if isinstance(answer, Skipped):
                self._refuse(writer, answer, memory, outcome)
            else:
                self._take(writer, answer, memory, outcome)

    def _take(self, writer: Writer, parsed: Parsed, memory: _Memory, outcome: _Outcome) -> None:
        old = memory.records.get(parsed.path)
        if parsed.facts is not None:
            record = _new_record(parsed, outcome.started_ns)
            outcome.facts.put(parsed.path, parsed.facts)
            writer.put_facts(*facts_key(record), parsed.facts)
            known = memory.languages.setdefault(parsed.path, {})
            known[parsed.content_hash] = parsed.language
            _let_go_of_old(writer, parsed, known)
        elif old is not None and old.content_hash == parsed.content_hash:
            record = _with_stat(old, parsed.stat, outcome.started_ns)
        else:
            restored = self._stored(writer, parsed, memory, outcome)
            if restored is None:
                return
            record = restored
        if record != old:
            writer.put_file(record, parsed.text.decode("utf-8", "replace"))
            memory.records[record.path] = record
        memory.reasons.pop(record.path, None)

    def _stored(self, writer: Writer, parsed: Parsed, memory: _Memory, outcome: _Outcome) -> FileRecord | None:
        """The record of a content that was seen before; None if its facts have gone since."""
        language = memory.languages[parsed.path].get(parsed.content_hash, "")
        data = writer.facts(parsed.content_hash, language, facts_version(parsed.path))
        if data is None:
            outcome.lost.append(parsed.path)
            return None
        facts = decode_facts(data)
        outcome.facts.put(parsed.path, data)
        return _new_record(
            msgspec.structs.replace(
                parsed,
                flags=facts.flags,
                language=facts.language,
                line_count=facts.line_count,
                parse_errors=facts.parse_errors,
            ),
            outcome.started_ns,
        )

    def _borrow(self, writer: Writer, paths: set[str], memory: _Memory) -> None:
        """Take over the facts that other work trees have of files of the same path; content decides what is used.

        A lender that cannot be read lends nothing: parsing is the way without it.
        """
        for lender in self._lenders:
            with (
                contextlib.suppress(CatalogError),
                Catalog.open(lender, read_only=True) as catalog,
                catalog.read() as snapshot,
            ):
                for key in sorted(snapshot.known_facts()):
                    content_hash, language, version = key
                    extractor, _, path = version.partition(" ")
                    if extractor != str(EXTRACTOR_VERSION) or path not in paths:
                        continue
                    known = memory.languages.setdefault(path, {})
                    data = snapshot.facts(*key) if content_hash not in known else None
                    if data is not None:
                        writer.put_facts(*key, data)
                        known[content_hash] = language

    def _refuse(self, writer: Writer, skipped: Skipped, memory: _Memory, outcome: _Outcome) -> None:
        stat = outcome.stats.get(skipped.path)  # as listed, before it was read
        if stat is not None and not _is_racy(stat, outcome.started_ns):
            self._refused[skipped.path] = (stat, skipped)
        outcome.skipped.append(skipped)
        if memory.records.pop(skipped.path, None) is not None:
            outcome.removed.append(skipped.path)
            writer.remove(skipped.path)
        writer.put_skipped(skipped.path, skipped.reason)
        memory.reasons[skipped.path] = skipped.reason

    def _report(self, plan: _Plan, outcome: _Outcome, watch: _Stopwatch, counts: Counts | None = None) -> RefreshReport:
        return RefreshReport(
            generation=self._catalog.generation,
            changed=len(outcome.facts),
            removed=len(plan.removed) + len(outcome.removed),
            unchanged=plan.unchanged + len(plan.candidates) - len(outcome.facts) - len(outcome.skipped),
            resolved=outcome.resolved,
            skipped=count_reasons((*plan.skipped, *outcome.skipped)),
            seconds=watch.stop(),
            counts=counts,
        )

    # -- memory of the last generation

    def _remember(self) -> _Memory:
        if self._memory is None:
            with self._catalog.read() as snapshot:
                records = {record.path: record for record in snapshot.files()}
                languages: dict[str, dict[str, str]] = {}
                for content_hash, language, version in snapshot.known_facts():
                    extractor, _, path = version.partition(" ")
                    if extractor == str(EXTRACTOR_VERSION):
                        languages.setdefault(path, {})[content_hash] = language
                outdated = bool(records) and snapshot.meta(RESOLVED_META) != _GRAPH_VERSION
                self._memory = _Memory(records, dict(snapshot.skipped()), languages, outdated)
            for record in list(records.values()):
                if record.content_hash not in languages.get(record.path, {}):  # facts of another version
                    records[record.path] = msgspec.structs.replace(record, mtime_ns=_UNTRUSTED_MTIME)
        return self._memory

    def _prepared(self, memory: _Memory, outcome: _Outcome | None = None) -> Resolver:
        """The resolver as of the last generation, restored without resolving again where that is possible.

        What has to be done again is noted in `outcome`; without one, an incomplete resolver is not kept.
        """
        if self._resolver is not None:
            return self._resolver
        resolver = Resolver(self.root.name, self._fetch)
        todo = outcome or _Outcome(0)
        with self._catalog.read() as snapshot:
            stored = snapshot.known_facts()
            reads = {} if memory.outdated else dict(snapshot.reads())
            for record in snapshot.files():
                if facts_key(record) not in stored or (
                    self._distrusts_facts and not snapshot.facts(*facts_key(record))
                ):
                    todo.lost.append(record.path)
                elif record.path in reads:
                    resolver.restore(record.path, reads[record.path])
                elif record.path in memory.records:
                    self._take_stored(snapshot, record, todo)
        if outcome is not None or not (todo.lost or todo.facts):
            self._resolver = resolver
        return resolver

    def _take_stored(self, snapshot: Snapshot, record: FileRecord, outcome: _Outcome) -> None:
        facts = snapshot.facts(*facts_key(record))
        if facts is None:
            outcome.lost.append(record.path)
        else:
            if record.path not in outcome.facts:
                outcome.facts.put(record.path, facts)

    def _fetch(self, path: str) -> bytes:
        """Facts of a file of the last generation, for the resolver: only of files that it looks into."""
        assert self._committed is not None
        record = self._committed.file(path)
        facts = self._committed.facts(*facts_key(record)) if record is not None else None
        if facts is None:
            raise _LostFactsError(path)
        return facts


class _Stopwatch:
    """Seconds per phase, and the way to tell about them."""

    def __init__(self, tell: Progress) -> None:
        self._tell = tell
        self._phase = ""
        self._since = time.perf_counter()
        self._seconds: dict[str, float] = {}

    def phase(self, name: str) -> None:
        self.stop()
        self._phase = name
        self._tell(name, 0, 0)

    def progress(self, done: int, total: int) -> None:
        self._tell(self._phase, done, total)

    def stop(self) -> dict[str, float]:
        now = time.perf_counter()
        if self._phase:
            self._seconds[self._phase] = self._seconds.get(self._phase, 0.0) + now - self._since
        self._phase = ""
        self._since = now
        return self._seconds


def facts_version(path: str) -> str:
    """Facts depend on path and content, so the path is part of the key under which they are kept."""
    return f"{EXTRACTOR_VERSION} {path}"


def _let_go_of_old(writer: Writer, parsed: Parsed, known: dict[str, str]) -> None:
    """Drop facts of contents that a file had before, when they are many; those of its content now stay."""
    for content_hash in [each for each in known if each != parsed.content_hash][:-_KEPT_CONTENTS]:
        writer.drop_facts(content_hash, known.pop(content_hash), facts_version(parsed.path))


def facts_key(record: FileRecord) -> tuple[str, str, str]:
    """Where the catalog keeps a file's facts."""
    return record.content_hash, record.language, facts_version(record.path)


def _new_record(parsed: Parsed, started_ns: int) -> FileRecord:
    record = FileRecord(
        path=parsed.path,
        language=parsed.language,
        size=0,
        mtime_ns=0,
        inode=0,
        content_hash=parsed.content_hash,
        flags=parsed.flags,
        line_count=parsed.line_count,
        parse_errors=parsed.parse_errors,
    )
    return _with_stat(record, parsed.stat, started_ns)


def _with_stat(record: FileRecord, stat: FileStat, started_ns: int) -> FileRecord:
    mtime_ns = _UNTRUSTED_MTIME if _is_racy(stat, started_ns) else stat.mtime_ns
    return msgspec.structs.replace(record, size=stat.size, mtime_ns=mtime_ns, inode=stat.inode)


def _is_racy(stat: FileStat, started_ns: int) -> bool:
    return stat.mtime_ns > started_ns - _RACY_NS


def _needs_writing(plan: _Plan, memory: _Memory) -> bool:
    if plan.candidates or plan.removed or plan.forgotten or memory.outdated:
        return True
    return any(memory.reasons.get(each.path) != each.reason for each in plan.skipped)


def _surely_unchanged(record: FileRecord | None, stat: FileStat) -> bool:
    return record is not None and FileStat(record.size, record.mtime_ns, record.inode) == stat


def _concerned(known: Mapping[str, object], asked: Iterable[str]) -> set[str]:
    """The known paths that are asked about, themselves or with a directory above them."""
    exact = {path for path in asked if path in known}
    above = tuple(f"{path}/" for path in asked if path not in known)
    return exact | {path for path in known if path.startswith(above)} if above else exact


def _silent(phase: str, done: int, total: int) -> None:
    """Nobody wants to know."""
