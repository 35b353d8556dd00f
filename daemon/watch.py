"""File events, git events and a periodic look at everything, debounced into one callback per burst.

Says what may have changed, never what to do about it. Watches the working tree and, of its git directory, only what
moves with commits and branch switches, and what says which files are ignored. Paths under the data directory are left
out, so our own writes never come back.
"""

from __future__ import annotations

import contextlib
import stat
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from watchfiles import Change, DefaultFilter, watch

from ctxsearch.daemon.logs import get_logger

_log = get_logger("ctxsearch.watch")
MAX_PATHS = 2000  # a burst of more is a look at everything: naming them would cost more than listing
_STEP_MS = 20
_GONE_SECONDS = 2.0  # between looks for a root that is gone
_GIT_SECONDS = 1.0  # a lock that is older is left over, or waits for somebody's editor
_GIT_STATE = frozenset({"HEAD", "index", "packed-refs", "ORIG_HEAD", "MERGE_HEAD", "shallow", "info/exclude"})


@dataclass(frozen=True, slots=True)
class Touched:
    """What one burst of events was about."""

    paths: tuple[str, ...] | None  # relative to the root, sorted; None = anything may have changed
    git: bool  # HEAD, the index or a ref moved


class _Filter(DefaultFilter):
    """Lets through what can matter to an index of `root`."""

    ignore_dirs = (".hg", ".svn", ".jj", "node_modules", "__pycache__", ".venv", ".mypy_cache", ".pytest_cache")

    def __init__(self, root: Path, git_dirs: tuple[Path, ...], data_dir: Path) -> None:
        super().__init__(ignore_paths=[data_dir])
        self._root = root
        self._git_dirs = git_dirs

    def __call__(self, change: Change, path: str) -> bool:
        """watchfiles' hook."""
        git_dir = next((folder for folder in self._git_dirs if Path(path).is_relative_to(folder)), None)
        if git_dir is not None:
            return is_git_state(Path(path).relative_to(git_dir).as_posix())
        return super().__call__(change, path)


def is_git_state(name: str) -> bool:
    """True for files that move with HEAD, the index or a branch, and for git's own list of what is ignored.

    Lock files and objects do not count.
    """
    if name.endswith(".lock"):
        return False
    return name in _GIT_STATE or name.startswith("refs/heads/")


class Watcher:
    """Watches one repository in a thread of its own until closed."""

    def __init__(
        self,
        root: Path,
        data_dir: Path,
        on_touched: Callable[[Touched], None],
        *,
        debounce_ms: int,
        reconcile_seconds: float,
    ) -> None:
        self._root = root
        self._data_dir = data_dir
        self._on_touched = on_touched
        self._debounce_ms = debounce_ms
        self._reconcile_seconds = reconcile_seconds
        self._stop = threading.Event()
        self.watching = threading.Event()  # set while events are being received
        self._thread = threading.Thread(target=self._run, name=f"watch {root.name}", daemon=True)

    def start(self) -> None:
        """Begins to watch."""
        self._thread.start()

    def close(self) -> None:
        """Stops and waits for the thread."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._watch()
            except Exception as error:
                # No events: too many directories for inotify, or the root is gone. Look at everything from time to
                # time instead, and try again.
                _log.warning("watching failed", root=str(self._root), error=str(error))
                self.watching.clear()
                self._wait_to_try_again()
            if not self._stop.is_set():
                self._on_touched(Touched(None, git=True))

    def _wait_to_try_again(self) -> None:
        """Until the next look at everything is due, or a root that was gone is there again."""
        was_gone = _place(self._root) is None
        end = time.monotonic() + self._reconcile_seconds
        while time.monotonic() < end and not self._stop.wait(min(_GONE_SECONDS, self._reconcile_seconds)):
            if was_gone and _place(self._root) is not None:
                return

    def _watch(self) -> None:
        """Until closed, or until the root is another directory than the one whose events come."""
        place = _place(self._root)
        git_dirs = git_directories(self._root)
        outside = [folder for folder in git_dirs if folder.is_dir() and not folder.is_relative_to(self._root)]
        events = watch(
            self._root,
            *outside,
            watch_filter=_Filter(self._root, git_dirs, self._data_dir),
            debounce=max(self._debounce_ms, _STEP_MS),
            step=_STEP_MS,
            stop_event=self._stop,
            rust_timeout=min(5000, int(self._reconcile_seconds * 1000)),
            yield_on_timeout=True,
            ignore_permission_denied=True,
            raise_interrupt=False,
        )
        reconciled = time.monotonic()
        for changes in events:
            if _place(self._root) != place:
                return
            self.watching.set()
            if changes:
                self._on_touched(touched_by((path for _, path in changes), self._root, git_dirs))
            if time.monotonic() - reconciled > self._reconcile_seconds:
                reconciled = time.monotonic()
                self._on_touched(Touched(None, git=True))


def _place(root: Path) -> tuple[int, int] | None:
    """Which directory it is now; None when there is none."""
    try:
        found = root.stat()
    except OSError:
        return None
    return (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None


def touched_by(paths: Iterable[str], root: Path, git_dirs: tuple[Path, ...]) -> Touched:
    """Sorts the paths of one burst into those of the tree and those of git."""
    tree: set[str] = set()
    git = False
    for path in map(Path, paths):
        if any(path.is_relative_to(folder) for folder in git_dirs):
            git = True
        elif path.is_relative_to(root) and path != root:
            tree.add(path.relative_to(root).as_posix())
    # A rule that changed can change the fate of any file.
    rules = any(path.rpartition("/")[2] in (".gitignore", ".ctxsearchignore") for path in tree)
    everything = git or rules or len(tree) > MAX_PATHS
    return Touched(None if everything else tuple(sorted(tree)), git)


def git_is_writing(root: Path, now: float) -> bool:
    """True while git has just locked its index: it is changing files, and more events will come."""
    for folder in git_directories(root)[:1]:
        with contextlib.suppress(OSError):
            return abs(now - (folder / "index.lock").stat().st_mtime) < _GIT_SECONDS
    return False


def git_directories(root: Path) -> tuple[Path, ...]:
    """The git directory of a working tree and, for a linked worktree, the common one; read, not run."""
    dot = root / ".git"
    if dot.is_dir():
        return (dot,)
    try:
        text = dot.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ()
    if not text.startswith("gitdir:"):
        return ()
    git_dir = (root / text.removeprefix("gitdir:").strip()).resolve()
    try:
        common = (git_dir / (git_dir / "commondir").read_text(encoding="utf-8").strip()).resolve()
    except OSError:
        return (git_dir,)
    return (git_dir, common)
