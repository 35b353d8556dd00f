"""Line history of a work tree, kept up to date from git: one `git log` stream, then only what is new.

`refresh` reads the commits that the store does not have, works out the lines of the files they touch, and
lays the work tree's own changes on top. What it returns is the same whether the store was empty or not.
Facts about commits are shared by all branches and work trees; only the derived lines are per work tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
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
from ctxsearch.graph.chain import Horizon, clamped, read_whole_chain
from ctxsearch.graph.git import Git, GitError
from ctxsearch.graph.history_store import DamagedHistoryError, HistoryStore, StoredPatch, View, damage_noticed
from ctxsearch.graph.node_history import (
    WORK_TREE,
    CommitColumns,
    CommitFlag,
    History,
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
    "Watched",
    "describe",
    "refresh",
    "without_git",
]

IGNORE_REVS = ".git-blame-ignore-revs"
COMMITS_PER_TRANSACTION = 2_000  # an interrupted first pass goes on from here
WHOLE_UNCOMMITTED = FileLines(NO_LINES, NO_TOUCHES, WORK_TREE)


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
class Watched:
    """What somebody who watches the work tree's files knows: it spares git a look at every one of them."""

    state: str  # what the watcher calls the files as they are now
    # The paths, from the work tree's root, that may not be what they were in an earlier state; None: not known.
    changed_since: Callable[[str], Iterable[str] | None]


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
    watched: Watched | None = None,
) -> Refreshed:
    """Bring the store up to HEAD and the work tree; raises GitError when git cannot be read at all.

    `previous`, if it is what the last call returned, only spares reading unchanged lines from the store; `watched`
    only spares looking at unchanged files. `at` is a commit to take for HEAD, without the work tree: to look at how
    things were.
    """
    scope = Scope(selection or EVERYTHING, horizon or Horizon(), bulk or BulkRule())
    try:
        with damage_noticed():
            return _refresh(git, store, scope, previous, at, watched)
    except DamagedHistoryError as error:
        store.start_over(f"damaged: {error}")
        return _refresh(git, store, scope, None, at, watched)


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


def _refresh(
    git: Git, store: HistoryStore, scope: Scope, previous: History | None, at: str | None, watched: Watched | None
) -> Refreshed:
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
    if at is None:
        suspects = _suspects(store, watched, before, view, changed)
        dirty = _lay_work_tree(git, store, scope.selection, view, columns, suspects, watched)
    else:
        dirty = _lay_nothing(store, view)
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
        clamped(columns, chain),
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


def _mark_reverted(store: HistoryStore, columns: CommitColumns, chain: Ints) -> None:
    """A revert names a subject: the newest older commit of the chain with that subject was taken back."""
    places = _places(columns, chain)
    victims: dict[int, int] = {}
    for revert, candidate in store.reverts():
        at, where = int(places[revert]), int(places[candidate])
        if 0 <= at < where:
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
    horizon = scope.horizon
    chain, is_cut = read_whole_chain(git, store, horizon, head, before)
    commits_read = _read_missing(git, store, scope, chain)
    unread = store.without_patches(chain)
    if unread:  # a partial clone: go as far as there are objects
        is_cut, chain = True, chain[: next(i for i, n in enumerate(chain.tolist()) if n in unread)]
    columns = store.columns()
    visible = horizon.reach(clamped(columns, chain))
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
    differing: list[int] = np.setxor1d(chain, other, assume_unique=True).tolist()
    return differing


def _read_missing(git: Git, store: HistoryStore, scope: Scope, chain: Ints) -> int:
    """Read the patches of the commits that have none yet; how many commits that were."""
    lacking = np.isin(chain, list(store.without_patches(chain)))
    edges = np.flatnonzero(np.diff(np.concatenate(([False], lacking, [False])))).tolist()
    total = 0
    for begin, end in zip(edges[0::2], edges[1::2], strict=True):
        boundary = store.commit(int(chain[end]))[0].id if end < len(chain) else None
        total += _read_run(git, store, scope, chain[begin:end].tolist(), boundary)
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


def _suspects(
    store: HistoryStore, watched: Watched | None, before: View | None, view: View, moved: set[bytes] | None
) -> set[bytes] | None:
    """All paths that may differ from HEAD without being staged; None when any may.

    Either they did when last looked at, or they were changed since, or HEAD's version of them was: `moved`, which is
    complete only if the chains of then and now meet.
    """
    if watched is None or before is None or moved is None or not before.looked_at:
        return None
    if not np.isin(view.chain, before.chain).any():
        return None
    changed = watched.changed_since(before.looked_at)
    if changed is None:
        return None
    return {path.encode("utf-8", "surrogateescape") for path in changed} | moved | store.work_tree_paths(view.n)


def _lay_work_tree(
    git: Git,
    store: HistoryStore,
    selection: Selection,
    view: View,
    columns: CommitColumns,
    suspects: set[bytes] | None,
    watched: Watched | None,
) -> set[bytes]:
    """Derive the lines of files that differ from HEAD; the paths that differ now or did before."""
    patches, untracked = read_work_tree(git, selection, suspects)
    dirty = {path for patch in patches for path in (patch.path, patch.source) if path is not None}
    before = store.work_tree_paths(view.n)
    lines = dict.fromkeys(sorted(dirty), NOTHING_KNOWN)  # a file that is gone differs, too, and must be known to
    lines.update(_derive(store, columns, view.chain, view.ignored, dirty, patches) if dirty else {})
    lines.update(dict.fromkeys(sorted(untracked), WHOLE_UNCOMMITTED))
    with store.transaction():
        if lines or before:
            store.keep_work_tree(view.n, lines)
        store.keep_looked_at(view.n, watched.state if watched else "")
    return dirty | untracked | before


def _lay_nothing(store: HistoryStore, view: View) -> set[bytes]:
    """Forget the work tree's lines; the paths that had some."""
    before = store.work_tree_paths(view.n)
    with store.transaction():
        if before:
            store.keep_work_tree(view.n, {})
        store.keep_looked_at(view.n, "")
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
