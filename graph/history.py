"""Line history of a work tree, kept up to date from git: one `git log` stream, then only what is new.

`refresh` reads the commits that the store does not have, works out the lines of the files they touch, and
lays the work tree's own changes on top. What it returns is the same whether the store was empty or not.
Facts about commits are shared by all branches and work trees; only the derived lines are per work tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from statistics import median

import numpy as np

from ctxsearch.graph.attribution import (
    NO_LINES,
    NO_TOUCHES,
    NOTHING_KNOWN,
    FileLines,
    Ints,
    Replay,
)
from ctxsearch.graph.git import Git, GitError
from ctxsearch.graph.history_store import DamagedHistoryError, HistoryStore, StoredPatch, View, damage_noticed
from ctxsearch.graph.node_history import (
    WORK_TREE,
    CommitColumns,
    CommitFlag,
    History,
    Longs,
    NodeHistories,
    NodeHistory,
    NodeRanges,
    Source,
    positions_by_number,
)
from ctxsearch.graph.patches import (
    EVERYTHING,
    Change,
    Commit,
    Patch,
    Selection,
    read_chain,
    read_patches,
    read_work_tree,
)

__all__ = [
    "BulkRule",
    "History",
    "HistoryStore",
    "Horizon",
    "NodeHistories",
    "NodeHistory",
    "NodeRanges",
    "Refreshed",
    "Selection",
    "Source",
    "describe",
    "refresh",
    "without_git",
]

DAY = 86_400
IGNORE_REVS = ".git-blame-ignore-revs"
COMMITS_PER_TRANSACTION = 2_000  # an interrupted first pass goes on from here
WHOLE_UNCOMMITTED = FileLines(NO_LINES, NO_TOUCHES, WORK_TREE)


@dataclass(frozen=True, slots=True)
class Horizon:
    """How far back history is read: both must be exceeded. `days` None is all of it."""

    days: int | None = 730
    commits: int = 500

    def reach(self, times: Longs) -> int:
        """How many of a chain's commits (clamped times, newest first) lie within."""
        if self.days is None or not len(times):
            return len(times)
        recent = int(np.searchsorted(-times, self.days * DAY - int(times[0]), side="right"))
        return min(max(recent, self.commits), len(times))

    def __str__(self) -> str:
        return f"{self.days} days, {self.commits} commits"


@dataclass(frozen=True, slots=True)
class BulkRule:
    """Which commits only reshape lines, so that these keep the owner they had before."""

    files: int = 100  # touched at least
    share: float = 0.01  # of the selected files, at least
    median_lines: int = 10  # removed and added per file, at most: more is work, not reshaping
    listed: bool = True  # also those in the repository's own `.git-blame-ignore-revs`

    @staticmethod
    def never() -> BulkRule:
        """Every commit owns what it writes, as in plain `git blame`."""
        return BulkRule(files=1 << 62, listed=False)

    def matches(self, patches: Sequence[Patch], selected_files: Callable[[], int]) -> bool:
        """Whether a commit is bulk by its size; the second argument is only asked when it matters."""
        reshaped = [patch for patch in patches if patch.change in (Change.MODIFIED, Change.RENAMED)]
        if len(reshaped) < self.files:
            return False
        if median(patch.changed_lines() for patch in reshaped) > self.median_lines:
            return False
        return len(reshaped) >= self.share * selected_files()


@dataclass(frozen=True, slots=True)
class Scope:
    """What is read: part of what makes two histories comparable."""

    selection: Selection
    horizon: Horizon
    bulk: BulkRule


@dataclass(frozen=True, slots=True)
class Refreshed:
    """A history, and what of it is new."""

    history: History
    changed: frozenset[str] | None  # paths whose nodes must be read again; None is all of them
    commits_read: int
    rebuilt: str | None  # why the stored history was thrown away; None when it was not


def without_git() -> History:
    """The history of a plain directory: nothing is known."""
    none = np.empty(0, np.int32)
    columns = CommitColumns(np.zeros(1, np.int64), np.zeros(1, np.int32), np.zeros(1, np.uint8))
    return History(Source.NONE, None, none, np.empty(0, np.int64), columns, {}, _positions=positions_by_number(none, 0))


def refresh(
    git: Git,
    store: HistoryStore,
    selection: Selection | None = None,
    horizon: Horizon | None = None,
    previous: History | None = None,
    *,
    bulk: BulkRule | None = None,
    at: str | None = None,
) -> Refreshed:
    """Bring the store up to HEAD and the work tree; raises GitError when git cannot be read at all.

    `previous`, if it is what the last call returned, only spares reading unchanged lines from the store.
    `at` is a commit to take for HEAD, without the work tree: to look at how things were.
    """
    scope = Scope(selection or EVERYTHING, horizon or Horizon(), bulk or BulkRule())
    try:
        with damage_noticed():
            return _refresh(git, store, scope, previous, at)
    except DamagedHistoryError as error:
        store.start_over(f"damaged: {error}")
        return _refresh(git, store, scope, None, at)


def describe(history: History, store: HistoryStore, nodes: NodeHistories, index: int, path: str) -> NodeHistory:
    """The facts of one node, with its commits named."""
    numbers = np.array([nodes.last[index], nodes.signature[index]], np.int32)
    positions = history.positions_of(numbers)
    times = history.times_of(positions)
    last, signature = (_named(history, store, int(n), int(p)) for n, p in zip(numbers, positions, strict=True))
    source = Source(int(history.sources_of([path], positions[:1])[0]))
    return NodeHistory(
        source=source,
        commit=last.id if last else None,
        time=int(times[0]) if last else None,
        author=last.name if last else None,
        subject=last.subject if last else None,
        position=int(positions[0]) if last else None,
        commits=int(nodes.commits[index]),
        authors=int(nodes.authors[index]),
        fixes=int(nodes.fixes[index]),
        uncommitted=source is Source.WORKTREE,
        older_than_horizon=source is Source.GIT and last is None,
        signature_commit=signature.id if signature else None,
        signature_time=int(times[1]) if signature else None,
    )


def _named(history: History, store: HistoryStore, number: int, position: int) -> Commit | None:
    in_chain = 0 <= position < len(history.chain)
    return store.commit(number)[0] if in_chain and number > 0 else None


def _refresh(git: Git, store: HistoryStore, scope: Scope, previous: History | None, at: str | None) -> Refreshed:
    store.look_again()
    store.keep_selection("\n".join((*scope.selection.pathspecs(), str(scope.bulk))))
    head = at or git.head()
    if head is None:
        return Refreshed(_unborn(git), None, 0, store.rebuilt)
    before = store.view(git.git_dir)
    ignored = _ignored_commits(git, head) if scope.bulk.listed else ()
    wanted = (head, str(scope.horizon), ignored, False)  # history that was cut off may have become whole
    if before is None or (before.head, before.horizon, before.ignored, before.is_cut) != wanted:
        view, changed, commits_read = _follow(git, store, scope, before, head, ignored)
    else:
        view, changed, commits_read = before, set(), 0
    columns = store.columns()
    dirty = _lay_work_tree(git, store, scope.selection, view, columns) if at is None else _lay_nothing(store, view)
    known = previous if previous and before and previous.version == before.version else None
    paths = None if changed is None else changed | dirty
    history = _load(git, store, scope.selection, columns, known, paths)
    texts = None if paths is None else frozenset(map(_text, paths))
    return Refreshed(history, texts, commits_read, store.rebuilt)


def _unborn(git: Git) -> History:
    """A repository without commits: every line is uncommitted."""
    plain = without_git()
    return History(
        Source.GIT,
        None,
        plain.chain,
        plain.times,
        plain.commits,
        {},
        WHOLE_UNCOMMITTED,
        _foreign_folders(git),
        _positions=plain._positions,
    )


def _load(
    git: Git,
    store: HistoryStore,
    selection: Selection,
    columns: CommitColumns,
    known: History | None,
    changed: set[bytes] | None,
) -> History:
    view = store.view(git.git_dir)
    assert view is not None
    chain = view.chain[: view.visible]
    _mark_reverted(store, columns, chain)
    is_cut = view.is_cut and view.visible == len(view.chain)
    return History(
        Source.SHALLOW if is_cut else Source.GIT,
        view.head,
        chain,
        _clamped(columns, chain),
        columns,
        _load_lines(store, view, known, changed),
        NOTHING_KNOWN,
        _foreign_folders(git),
        selection,
        version=view.version,
        _positions=positions_by_number(chain, len(columns.times) - 1),
    )


def _load_lines(
    store: HistoryStore, view: View, known: History | None, changed: set[bytes] | None
) -> Mapping[str, FileLines]:
    if known is None or changed is None:
        return store.lines(view.n)
    if not changed:
        return known.files
    gone = set(map(_text, changed))
    kept = {path: lines for path, lines in known.files.items() if path not in gone}
    return kept | store.lines_of(view.n, sorted(changed))


def _clamped(columns: CommitColumns, chain: Ints) -> Longs:
    """Committer times that never run backwards: a commit is no younger than the ones built on it."""
    times: Longs = np.minimum.accumulate(columns.times[chain])
    return times


def _mark_reverted(store: HistoryStore, columns: CommitColumns, chain: Ints) -> None:
    """A revert names a subject: the newest older commit of the chain with that subject was taken back."""
    place = {number: position for position, number in enumerate(chain.tolist())}
    victims: dict[int, int] = {}
    for revert, candidate in store.reverts():
        at, where = place.get(revert), place.get(candidate)
        if at is not None and where is not None and where > at:
            victims[revert] = min(victims.get(revert, where), where)
    columns.flags[chain[sorted(victims.values())]] |= int(CommitFlag.REVERTED)


# following HEAD


def _follow(
    git: Git,
    store: HistoryStore,
    scope: Scope,
    before: View | None,
    head: str,
    ignored: tuple[str, ...],
) -> tuple[View, set[bytes] | None, int]:
    """Read what is missing of HEAD's chain and derive the lines of the files it touches.

    The second value is the paths that changed, None for all: those touched by a commit that entered or left
    the chain or its visible part.
    """
    known, horizon = before.chain if before is not None else NO_LINES, scope.horizon
    chain, is_cut = _read_whole_chain(git, store, horizon, head, known)
    commits_read = _read_missing(git, store, scope, chain)
    unread = store.without_patches(chain.tolist())
    if unread:  # a partial clone: go as far as there are objects
        is_cut, chain = True, chain[: next(i for i, n in enumerate(chain.tolist()) if n in unread)]
    columns = store.columns()
    visible = horizon.reach(_clamped(columns, chain))
    view = View(before.n if before else 0, head, chain, str(horizon), visible, is_cut, ignored)
    flipped = set(ignored).symmetric_difference(before.ignored) if before else set()
    with store.transaction():
        if before is None or store.numbers(flipped) & set(chain.tolist()):
            lines, affected = _derive_all(store, columns, chain, ignored), None
        else:
            affected = store.paths_touched_by(_differing(chain, before.chain))
            lines = _derive(store, columns, chain, ignored, affected)
        store.keep_view(git.git_dir, view, lines, affected)
    kept = store.view(git.git_dir)
    assert kept is not None
    if affected is None or before is None or before.horizon != str(horizon):
        return kept, None, commits_read
    faded = _differing(chain[:visible], before.chain[: before.visible])
    return kept, affected | store.paths_touched_by(faded), commits_read


def _differing(chain: Ints, other: Ints) -> list[int]:
    return sorted(set(chain.tolist()).symmetric_difference(other.tolist()))


def _read_whole_chain(git: Git, store: HistoryStore, horizon: Horizon, head: str, known: Ints) -> tuple[Ints, bool]:
    """HEAD's first-parent chain at least to the horizon, and whether history was cut off before that.

    Joins the known chain where it meets it, and then goes on from that one's end if need be: a HEAD that is
    older than the last one looks further back.
    """
    place = {number: position for position, number in enumerate(known.tolist())}
    grafts = _grafts(git)
    chain: list[int] = []
    times: list[int] = []
    cut = False
    with store.transaction():
        for commit in _within(read_chain(git, head), horizon, times):
            if commit.id in grafts:
                cut = True
                break
            (number,) = store.add_commits([commit])
            if number in place:
                chain.extend(known[place[number] :].tolist())
                return _extend(git, store, horizon, chain, grafts)
            chain.append(number)
    return np.array(chain, np.int32), cut


def _extend(
    git: Git, store: HistoryStore, horizon: Horizon, chain: list[int], grafts: frozenset[str]
) -> tuple[Ints, bool]:
    times = _clamped(store.columns(), np.array(chain, np.int32)).tolist()
    oldest = store.commit(chain[-1])[0].id
    older = read_chain(git, oldest)
    next(older, None)  # itself
    for commit in _within(older, horizon, times):
        if commit.id in grafts:
            return np.array(chain, np.int32), True
        chain.extend(store.add_commits([commit]))
    return np.array(chain, np.int32), False


def _within(commits: Iterator[Commit], horizon: Horizon, times: list[int]) -> Iterator[Commit]:
    """Commits until the horizon is passed; `times` are the clamped times so far, and is added to."""
    for commit in commits:
        time = min(commit.time, times[-1]) if times else commit.time
        far = horizon.days is not None and times and times[0] - time > horizon.days * DAY
        if far and len(times) >= horizon.commits:
            return
        times.append(time)
        yield commit


def _grafts(git: Git) -> frozenset[str]:
    """Where a shallow clone was cut off: these commits look as if they had made everything."""
    if not git.is_shallow():
        return frozenset()
    return frozenset((git.common_dir / "shallow").read_text().split())


def _read_missing(git: Git, store: HistoryStore, scope: Scope, chain: Ints) -> int:
    """Read the patches of the commits that have none yet; how many commits that were."""
    lacking = store.without_patches(chain.tolist())
    total = 0
    for is_lacking, run in groupby(enumerate(chain.tolist()), key=lambda item: item[1] in lacking):
        if is_lacking:
            numbers = list(run)
            older = numbers[-1][0] + 1
            boundary = store.commit(int(chain[older]))[0].id if older < len(chain) else None
            total += _read_run(git, store, scope, [number for _, number in numbers], boundary)
    return total


def _read_run(git: Git, store: HistoryStore, scope: Scope, numbers: list[int], boundary: str | None) -> int:
    """Read the patches of neighbouring commits, newest first, a batch per transaction."""
    newest, oldest = store.commit(numbers[0])[0].id, store.commit(numbers[-1])[0].id
    older = boundary or _first_parent(git, oldest)
    place = {number: index for index, number in enumerate(numbers)}
    done = 0
    batch: list[tuple[int, list[Patch], CommitFlag]] = []
    try:
        for id_, patches in read_patches(git, newest, older, scope.selection.pathspecs()):
            number = store.number(id_)
            assert number is not None
            batch.append((number, patches, _bulk_flag(git, scope, id_, patches)))
            if len(batch) >= COMMITS_PER_TRANSACTION:
                done = _keep_batch(store, batch, numbers, done, place[number] + 1)
                batch = []
    except GitError:
        if not _lacks_objects(git):
            raise
        reached = place[batch[-1][0]] + 1 if batch else done
        done = _keep_batch(store, batch, numbers, done, reached)
        return _read_singly(git, store, scope, numbers, done)
    return _keep_batch(store, batch, numbers, done, len(numbers))


def _read_singly(git: Git, store: HistoryStore, scope: Scope, numbers: list[int], done: int) -> int:
    """After a stream that broke off: commit by commit, to the first that cannot be read."""
    for number in numbers[done:]:
        id_ = store.commit(number)[0].id
        try:
            found = list(read_patches(git, id_, _first_parent(git, id_), scope.selection.pathspecs()))
        except GitError:
            break
        batch = [(number, patches, _bulk_flag(git, scope, id_, patches)) for _, patches in found]
        done = _keep_batch(store, batch, numbers, done, done + 1)
    return done


def _keep_batch(
    store: HistoryStore,
    batch: list[tuple[int, list[Patch], CommitFlag]],
    numbers: list[int],
    done: int,
    reached: int,
) -> int:
    with store.transaction():
        for number, patches, flags in batch:
            store.add_patches(number, patches, flags)
        store.mark_read(numbers[done:reached])
    return reached


def _first_parent(git: Git, commit: str) -> str | None:
    words = git.run("rev-list", "--parents", "--max-count=1", commit, "--").decode().split()
    return words[1] if len(words) > 1 else None


def _lacks_objects(git: Git) -> bool:
    """Whether this is a partial clone, where some objects are missing by intent."""
    try:
        git.run("config", "--get-regexp", r"^(extensions\.partialclone|remote\..*\.promisor)$")
    except GitError:
        return False
    return True


def _bulk_flag(git: Git, scope: Scope, commit: str, patches: list[Patch]) -> CommitFlag:
    def selected_files() -> int:
        tree = git.run("ls-tree", "-r", "-z", "--name-only", commit).split(b"\0")
        return sum(scope.selection.holds(_text(path)) for path in tree if path)

    return CommitFlag.BULK if scope.bulk.matches(patches, selected_files) else CommitFlag.NONE


def _ignored_commits(git: Git, head: str) -> tuple[str, ...]:
    """The full ids in HEAD's list of commits to ignore."""
    try:
        text = git.run("cat-file", "blob", f"{head}:{IGNORE_REVS}").decode("utf-8", "replace")
    except GitError:
        return ()  # there is no such file
    words = (line.partition("#")[0].strip() for line in text.splitlines())
    return tuple(sorted({word.lower() for word in words if len(word) in (40, 64)}))


# deriving lines


def _derive_all(
    store: HistoryStore, columns: CommitColumns, chain: Ints, ignored: tuple[str, ...]
) -> dict[bytes, FileLines]:
    return _replay(store, columns, store.all_patches(_places(columns, chain)), ignored).finish()


def _derive(
    store: HistoryStore,
    columns: CommitColumns,
    chain: Ints,
    ignored: tuple[str, ...],
    paths: set[bytes],
    newest: Iterable[Patch] = (),
) -> dict[bytes, FileLines]:
    """The lines of some paths, from their own patches alone; `newest` are the work tree's."""
    newest = list(newest)
    wanted = paths | {patch.source for patch in newest if patch.source is not None}
    patches = store.patches_of(wanted, _places(columns, chain))
    found = _replay(store, columns, patches, ignored, newest).finish()
    return {path: found[path] for path in sorted(paths) if path in found}


def _replay(
    store: HistoryStore,
    columns: CommitColumns,
    patches: list[StoredPatch],
    ignored: tuple[str, ...],
    newest: Iterable[Patch] = (),
) -> Replay:
    replay = Replay()
    replay.apply(WORK_TREE, newest)
    bulk = columns.flags & int(CommitFlag.BULK) > 0
    bulk[sorted(store.numbers(ignored))] = True
    for number, group in groupby(patches, key=attrgetter("commit")):
        replay.apply(number, (stored.patch for stored in group), passes_through=bool(bulk[number]))
    return replay


def _places(columns: CommitColumns, chain: Ints) -> Ints:
    """Position in the chain by commit number; -1 when not in it."""
    places = np.full(len(columns.times), -1, np.int32)
    places[chain] = np.arange(len(chain), dtype=np.int32)
    return places


# the work tree


def _lay_work_tree(
    git: Git, store: HistoryStore, selection: Selection, view: View, columns: CommitColumns
) -> set[bytes]:
    """Derive the lines of files that differ from HEAD; the paths that differ now or did before."""
    patches, untracked = read_work_tree(git, selection)
    dirty = {patch.path for patch in patches}
    before = store.work_tree_paths(view.n)
    if not (dirty or untracked or before):
        return set()
    lines = _derive(store, columns, view.chain, view.ignored, dirty, patches)
    lines.update(dict.fromkeys(sorted(untracked), WHOLE_UNCOMMITTED))
    with store.transaction():
        store.keep_work_tree(view.n, lines)
    return dirty | untracked | before


def _lay_nothing(store: HistoryStore, view: View) -> set[bytes]:
    """Forget the work tree's lines; the paths that had some."""
    before = store.work_tree_paths(view.n)
    if before:
        with store.transaction():
            store.keep_work_tree(view.n, {})
    return before


def _foreign_folders(git: Git) -> tuple[str, ...]:
    """Submodules: repositories of their own, whose files this one knows nothing about."""
    if not (git.work_tree / ".gitmodules").exists():
        return ()
    entries = git.run("ls-files", "--stage", "-z").split(b"\0")
    folders = [entry.partition(b"\t")[2] for entry in entries if entry.startswith(b"160000 ")]
    return tuple(_text(folder) + "/" for folder in folders)


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
