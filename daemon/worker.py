"""An indexing process: orders on standard input, reports on standard output. Writes the stores; answers nobody.

`index` brings files into the catalog and full text; `follow` brings history and vectors after the catalog. Every store
says which generation it has, so whatever ended the last process, the next one goes on from what is durable. The process
ends with its input and never outlives the daemon.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import queue
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeVar

from ctxsearch.daemon.layout import Layout
from ctxsearch.daemon.memory import loading_what_stays, release_memory
from ctxsearch.daemon.messages import (
    Committed,
    Done,
    Failed,
    Job,
    Order,
    Phase,
    Prepare,
    Progress,
    Refresh,
    Report,
    read_order,
    write_message,
)
from ctxsearch.daemon.registry import identity
from ctxsearch.graph.catalog import Catalog, CatalogCorruptError, CatalogVersionError, Snapshot
from ctxsearch.graph.errors import CtxsearchError
from ctxsearch.graph.git import Git, GitError
from ctxsearch.graph.model import NodeDocument
from ctxsearch.graph.records import RESOLVED_META
from ctxsearch.search.errors import IndexCorrupt

if TYPE_CHECKING:
    from ctxsearch.daemon.freshness_facts import Told
    from ctxsearch.daemon.freshness_memory import FileMemory
    from ctxsearch.graph.history import History, HistoryStore, Watched
    from ctxsearch.graph.patches import Selection
    from ctxsearch.indexer.index import RepositoryIndexer
    from ctxsearch.search.ports import DerivedIndex, FullTextIndex, VectorIndex

Index = TypeVar("Index", bound="DerivedIndex")

LEAVE_SECONDS = 5.0  # a busy worker whose daemon closed the pipe is cut off after this
TELL_SECONDS = 0.1
COMMIT = "commit"  # what was checked out; noted with the first whole look and with every later one
TEXT_WRITTEN = "text written"  # the generation for which full text was last written anew for its weights alone
REBUILD_SHARE = 0.5  # of the files; when more changed, writing everything anew is quicker than replacing
WORN_SHARE = 0.1  # of full text; when more of what it weighs words by is gone, it is written anew in a quiet moment
_PR_SET_PDEATHSIG = 1
_PHASES = {
    "list": Phase.LISTING,
    "compare": Phase.LISTING,
    "parse": Phase.PARSING,
    "load": Phase.RESOLVING,
    "resolve": Phase.RESOLVING,
    "store": Phase.WRITING,
    "commit": Phase.WRITING,
}

Tell = Callable[[Report], None]


def die_with_parent() -> None:
    """Linux kills us with the thread that started us; elsewhere the end of standard input has to do."""
    if sys.platform != "linux":
        return
    parent = os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it died in between
        os._exit(0)


def orders(stream: BinaryIO) -> Iterator[Order]:
    """Orders as they come. When the daemon closes the pipe the iterator ends; a worker that is busy is cut off."""
    waiting: queue.SimpleQueue[Order | None] = queue.SimpleQueue()

    def listen() -> None:
        while True:
            order = read_order(stream)
            waiting.put(order)
            if order is None:
                threading.Event().wait(LEAVE_SECONDS)
                os._exit(1)

    threading.Thread(target=listen, name="orders", daemon=True).start()
    while (order := waiting.get()) is not None:
        yield order


def private_output() -> BinaryIO:
    """Standard output for reports alone: what libraries print goes to standard error."""
    reports = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return reports


class Teller:
    """Sends reports; of progress within one phase only as much as anybody can see."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._phase: Phase | None = None
        self._told = 0.0

    def tell(self, report: Report) -> None:
        """Sends a report, unless it is one of many."""
        now = time.monotonic()
        if isinstance(report, Progress):
            if report.phase is self._phase and now - self._told < TELL_SECONDS and report.done != report.total:
                return
            self._phase, self._told = report.phase, now
        else:
            self._phase = None
        write_message(self._stream, report)


class IndexWorker:
    """Files to catalog and full text."""

    def __init__(self, job: Job, tell: Tell) -> None:
        self._job = job
        self._layout = Layout(Path(job.directory))
        self._tell = tell
        self._catalog: Catalog | None = None
        self._indexer: RepositoryIndexer | None = None
        self._git: Git | None = None
        self._text: FullTextIndex | None = None

    def refresh(self, order: Refresh) -> tuple[str, ...]:
        """Carries out an order; returns what went wrong without stopping it."""
        problems: list[str] = []
        try:
            if order.full:
                self._start_over()
            is_edit_of_stranger = self._indexer is None and order.paths is not None
            with loading_what_stays() if is_edit_of_stranger else contextlib.nullcontext():
                self._refresh(order, problems)
        except CatalogCorruptError as error:  # damage that opening did not meet
            problems.append(f"indexed again from scratch: {error}")
            self._start_over()
            self._refresh(Refresh(), problems)
        return tuple(problems)

    def prepare(self) -> tuple[str, ...]:
        """Reads what the next edit needs, so that it does not have to wait for that; returns what went wrong."""
        problems: list[str] = []
        with loading_what_stays():
            catalog, indexer = self._opened(problems)
            if was_indexed(catalog):
                indexer.prepare()
                self._text = self._caught_up(catalog, problems)
        renewed = self._renew_worn_text(catalog)
        if problems or renewed:  # of what was found damaged or worn and made again its readers must be told
            self._tell(Committed("text", catalog.generation))
        return tuple(problems)

    def _renew_worn_text(self, catalog: Catalog) -> bool:
        """Writes full text anew that still weighs words by much that is gone; whether it did.

        That is another generation: the same words are weighed differently, so the same question may be answered so.
        """
        if self._text is None or self._text.worn <= WORN_SHARE:
            return False
        with catalog.write() as writer:
            writer.set_meta(TEXT_WRITTEN, str(writer.generation))
        with catalog.read() as snapshot:
            self._text.rebuild(snapshot.generation, snapshot.documents())
        self._layout.note_generation(catalog.generation)
        return True

    def _refresh(self, order: Refresh, problems: list[str]) -> None:
        catalog, indexer = self._opened(problems)
        if order.paths is not None and was_indexed(catalog):
            indexer.refresh_paths(order.paths, self._progress)  # git did not move: the commit is the same
        else:
            indexer.refresh(self._progress, lambda: self._make_commit_searchable(catalog, problems))
            self._note_commit(catalog)
        self._make_searchable(catalog, problems)

    def _make_commit_searchable(self, catalog: Catalog, problems: list[str]) -> None:
        """The first index, before its edges are resolved."""
        self._note_commit(catalog)
        self._make_searchable(catalog, problems)

    def _make_searchable(self, catalog: Catalog, problems: list[str]) -> None:
        """Full text of the committed generation."""
        self._tell(Progress(Phase.WRITING))
        self._text = self._caught_up(catalog, problems)
        self._layout.note_generation(catalog.generation)
        self._tell(Committed("text", catalog.generation))

    def _start_over(self) -> None:
        self.close()
        Catalog.rebuild(self._layout.catalog, self._layout.last_generation)

    def close(self) -> None:
        """Ends parser processes and closes the stores."""
        if self._indexer is not None:
            self._indexer.close()
        if self._text is not None:
            self._text.close()
        if self._catalog is not None:
            self._catalog.close()
        self._indexer = self._text = self._catalog = None

    def _opened(self, problems: list[str]) -> tuple[Catalog, RepositoryIndexer]:
        if self._catalog is None or self._indexer is None:
            from ctxsearch.indexer.files import Limits
            from ctxsearch.indexer.index import RepositoryIndexer

            self._catalog = open_catalog(self._layout, problems)
            drop_other_identities(self._layout, self._catalog.identity)
            self._git = open_git(Path(self._job.root), problems)
            self._indexer = RepositoryIndexer(
                Path(self._job.root),
                self._catalog,
                workers=self._job.parse_workers,
                limits=Limits(max_bytes=self._job.max_file_bytes),
                git=self._git,
                lenders=[Path(lender) for lender in self._job.lenders],
            )
            self._make_up(self._catalog, problems)
        return self._catalog, self._indexer

    def _make_up(self, catalog: Catalog, problems: list[str]) -> None:
        """Full text that a crash left behind comes before any look at files: what was committed can be searched."""
        with catalog.read() as snapshot:
            if not snapshot.file_count():
                return
        if self._text_generation(catalog) != catalog.generation:
            self._make_searchable(catalog, problems)

    def _text_generation(self, catalog: Catalog) -> int:
        try:
            return self._job.providers.open_full_text(self._layout.text(catalog.identity)).generation
        except (IndexCorrupt, ValueError, OSError, RuntimeError):
            return 0

    def _progress(self, phase: str, done: int, total: int) -> None:
        self._tell(Progress(_PHASES.get(phase, Phase.RESOLVING), done, total))

    def _note_commit(self, catalog: Catalog) -> None:
        head = (self._git.head() if self._git is not None else None) or ""
        with catalog.write() as writer:
            writer.set_meta(COMMIT, head)

    def _caught_up(self, catalog: Catalog, problems: list[str]) -> FullTextIndex:
        directory = self._layout.text(catalog.identity)
        opened = functools.partial(self._job.providers.open_full_text, directory)
        return caught_up(self._text, opened, directory, catalog, problems, _uncounted)


class FollowWorker:
    """History and vectors, after the catalog."""

    def __init__(self, job: Job, tell: Tell) -> None:
        self._job = job
        self._layout = Layout(Path(job.directory))
        self._tell = tell
        self._vectors: VectorIndex | None = None
        self._identity = ""
        self._memory: FileMemory | None = None  # what freshness read of the catalog's files
        self._histories: dict[Path, History] = {}  # as last read, by git directory
        self._stores: dict[Path, HistoryStore] = {}  # open ones, by their file

    def refresh(self, _order: Refresh) -> tuple[str, ...]:
        """Brings both up to the catalog's newest generation; returns what went wrong without stopping it."""
        problems: list[str] = []
        with Catalog.open(self._layout.catalog, read_only=True) as catalog:
            self._forget_other(catalog.identity)
            if is_resolved(catalog):  # before that a living reference could not be told from none
                self._tell(Progress(Phase.HISTORY))
                self.read_history(catalog, problems)
                self._tell(Committed("history", catalog.generation))
            self._tell(Progress(Phase.EMBEDDING))
            self._embed(catalog, problems)
            self._tell(Committed("vectors", catalog.generation))
        return tuple(problems)

    def prepare(self) -> tuple[str, ...]:
        """Nobody waits for what follows."""
        return ()

    def close(self) -> None:
        """Closes the stores."""
        if self._vectors is not None:
            self._vectors.close()
            self._vectors = None
        while self._stores:
            self._stores.popitem()[1].close()

    def _forget_other(self, identity_now: str) -> None:
        if identity_now != self._identity:
            self.close()
            self._identity = identity_now
            self._memory = None

    def read_history(self, catalog: Catalog, problems: list[str]) -> None:
        """Works out the freshness facts of the newest generation."""
        from ctxsearch.daemon.freshness_facts import Told, store_freshness
        from ctxsearch.daemon.freshness_memory import FileMemory
        from ctxsearch.graph.freshness import Thresholds
        from ctxsearch.graph.history import without_git

        self._memory = self._memory or FileMemory()
        file = self._layout.freshness(catalog.identity)
        thresholds = Thresholds(**self._job.thresholds)  # type: ignore[arg-type]
        git = open_git(Path(self._job.root), problems)
        with catalog.read() as snapshot:
            told = [Told("", without_git())]
            if git is not None:
                told = self._told(git, self._folder_in(git), "", snapshot, problems) or told
            problems += store_freshness(file, snapshot, told, thresholds, self._memory)

    def _told(
        self,
        git: Git,
        inside: str,
        folder: str,
        snapshot: Snapshot,
        problems: list[str],
    ) -> list[Told]:
        """What a repository tells about its folder `inside`, and what its submodules do; [] when it cannot be read.

        `folder` is where that lies beneath the indexed root.
        """
        from ctxsearch.daemon.freshness_facts import Told
        from ctxsearch.graph import history

        store = self._store(git)
        previous = self._histories.pop(git.git_dir, None)
        watched = None if inside else self._watched(snapshot, folder)  # beyond a folder the catalog sees nothing
        try:
            whole = history.refresh(git, store, history_files(), previous=previous, watched=watched).history
        except GitError as error:
            problems.append(f"history of {folder or 'the repository'} cannot be read: {error}")
            return []
        self._histories[git.git_dir] = whole
        known = whole.beneath(inside)
        told = [Told(folder, known, store, git)]
        for name in known.foreign:
            place = Path(self._job.root).resolve() / folder / name
            submodule = open_git(place, problems) if place.is_dir() else None
            # One that is not checked out lies in the repository around it; a link may lead to any other.
            if submodule is not None and submodule.work_tree == place:
                told += self._told(submodule, "", folder + name, snapshot, problems)
        return told

    def _watched(self, snapshot: Snapshot, folder: str) -> Watched:
        """The catalog as a watcher of a work tree: its generations tell which files git must look at again.

        Files that are not indexed have no nodes, so that nobody asks about them.
        """
        from ctxsearch.graph.history import Watched

        scope = f"{self._identity} {folder}"

        def changed_since(state: str) -> list[str] | None:
            generation, _, other = state.partition(" ")
            if other != scope or int(generation) > snapshot.generation:
                return None
            changes = snapshot.changes_since(int(generation))
            paths = (*changes.changed, *changes.removed)
            return [path.removeprefix(folder) for path in paths if path.startswith(folder)]

        return Watched(f"{snapshot.generation} {scope}", changed_since)

    def _folder_in(self, git: Git) -> str:
        """Where the indexed root lies in the work tree; '' when it is the whole of it."""
        folder = Path(self._job.root).resolve().relative_to(git.work_tree.resolve()).as_posix()
        return "" if folder == "." else folder

    def _store(self, git: Git) -> HistoryStore:
        """One file per git repository: its work trees share what is known of commits."""
        from ctxsearch.graph.history import HistoryStore

        file = Path(self._job.history_dir) / f"{identity(git.common_dir.resolve())}.sqlite"
        if file not in self._stores or not file.exists():
            self._stores[file] = HistoryStore.open(file)
        return self._stores[file]

    def _embed(self, catalog: Catalog, problems: list[str]) -> None:
        directory = self._layout.vectors(catalog.identity)
        opened = functools.partial(self._open_vectors, directory)
        self._vectors = caught_up(self._vectors, opened, directory, catalog, problems, self._counted)
        self._vectors.maintain()

    def _open_vectors(self, directory: Path) -> VectorIndex:
        from ctxsearch.search.kept_vectors import KeptVectors

        providers = self._job.providers
        embedder = providers.open_embedder()
        if not embedder.is_quick:
            embedder = KeptVectors(embedder, self._layout.kept_vectors)
        return providers.open_vectors(directory, embedder)

    def _counted(
        self, documents: Iterator[tuple[str, Sequence[NodeDocument]]], total: int
    ) -> Iterator[tuple[str, Sequence[NodeDocument]]]:
        """Passes files on and tells how many went by."""
        for done, item in enumerate(documents):
            if done % 64 == 0:
                self._tell(Progress(Phase.EMBEDDING, done, total))
            yield item


Counted = Callable[[Iterator[tuple[str, Sequence[NodeDocument]]], int], Iterator[tuple[str, Sequence[NodeDocument]]]]


def _uncounted(
    documents: Iterator[tuple[str, Sequence[NodeDocument]]], _total: int
) -> Iterator[tuple[str, Sequence[NodeDocument]]]:
    return documents


def caught_up(
    index: Index | None,
    opened: Callable[[], Index],
    directory: Path,
    catalog: Catalog,
    problems: list[str],
    counted: Counted,
) -> Index:
    """A derived index at the catalog's generation; one that cannot be read is thrown away and made again."""
    try:
        index = opened() if index is None else index
        index.generation  # noqa: B018 - reading it is the test
    except (IndexCorrupt, ValueError, OSError, RuntimeError) as error:
        problems.append(f"made again: {error}")
        shutil.rmtree(directory, ignore_errors=True)
        index = opened()
    try:
        catch_up(index, catalog, counted)
    except IndexCorrupt as error:
        problems.append(f"made again: {error}")
        shutil.rmtree(directory, ignore_errors=True)
        index = opened()
        catch_up(index, catalog, counted)
    return index


def catch_up(index: DerivedIndex, catalog: Catalog, counted: Counted) -> None:
    """Applies what the catalog has and the index has not; all of it when that is most."""
    with catalog.read() as snapshot:
        if index.generation == snapshot.generation:
            return
        files = snapshot.file_count()
        known = 0 < index.generation < snapshot.generation
        changes = snapshot.changes_since(index.generation if known else 0)
        if not known or len(changes.documents) > files * REBUILD_SHARE:
            index.rebuild(snapshot.generation, counted(snapshot.documents(), files))
            return
        replaced = dict(counted(snapshot.documents(changes.documents), len(changes.documents)))
        # A path that has no documents any more must lose those that it had.
        gone = sorted({*changes.removed, *changes.documents} - replaced.keys())
        index.apply(snapshot.generation, replaced, gone)


def was_indexed(catalog: Catalog) -> bool:
    """True once a look at everything has been committed: before that, some paths alone are no index."""
    with catalog.read() as snapshot:
        return snapshot.meta(COMMIT) is not None


def is_resolved(catalog: Catalog) -> bool:
    """True once edges are there; before that there are nodes alone."""
    with catalog.read() as snapshot:
        return snapshot.meta(RESOLVED_META) is not None


def open_catalog(layout: Layout, problems: list[str]) -> Catalog:
    """The catalog; one that is damaged or of another version is set aside and everything is indexed again."""
    try:
        return Catalog.open(layout.catalog, after=layout.last_generation)
    except (CatalogCorruptError, CatalogVersionError) as error:
        problems.append(f"indexed again from scratch: {error}")
        Catalog.rebuild(layout.catalog, layout.last_generation)
        return Catalog.open(layout.catalog)


def history_files() -> Selection:
    """The files whose history is read: those of a known language. Data files have most changes and no nodes."""
    from ctxsearch.graph.patches import Selection
    from ctxsearch.indexer.languages import LANGUAGES

    suffixes = {suffix for spec in LANGUAGES for suffix in spec.suffixes}
    names = {name for spec in LANGUAGES for name in spec.filenames}
    return Selection(tuple(sorted(suffixes)), tuple(sorted(names)))


def open_git(root: Path, problems: list[str]) -> Git | None:
    """The repository's git, None without; a git that refuses is no reason not to index."""
    try:
        return Git.open(root)
    except GitError as error:
        problems.append(f"git cannot be used: {error}")
        return None


def drop_other_identities(layout: Layout, current: str) -> None:
    """Deletes what was derived from a catalog that is no more."""
    for folder in sorted(layout.directory.iterdir()):
        if folder.is_dir() and folder.name != current and len(folder.name) == len(current):
            shutil.rmtree(folder, ignore_errors=True)


def work(stream: BinaryIO, tell: Tell) -> None:
    """Carries out orders until there are no more. The one broad catch: an order may fail, the worker stays."""
    coming = orders(stream)
    job = next(coming, None)
    if not isinstance(job, Job):
        return
    with contextlib.suppress(OSError):
        os.nice(job.niceness)
    worker = IndexWorker(job, tell) if job.role == "index" else FollowWorker(job, tell)
    try:
        for order in coming:
            if not isinstance(order, Job):
                tell(_outcome(worker, order))
                if not isinstance(order, Refresh) or order.paths is None:  # what an edit needs is little
                    release_memory()
    finally:
        worker.close()


def _outcome(worker: IndexWorker | FollowWorker, order: Refresh | Prepare) -> Done | Failed:
    try:
        return Done(worker.prepare() if isinstance(order, Prepare) else worker.refresh(order))
    except CtxsearchError as error:
        worker.close()
        return Failed(str(error))
    except Exception as error:
        import traceback

        traceback.print_exc()
        worker.close()
        return Failed(f"{type(error).__name__}: {error}")


def main() -> int:
    """Entry of the process."""
    die_with_parent()
    reports = private_output()
    tell = Teller(reports).tell

    with contextlib.suppress(BrokenPipeError):
        work(sys.stdin.buffer, tell)
    return 0


if __name__ == "__main__":
    sys.exit(main())
