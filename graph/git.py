"""The only door to git: finds a repository and runs read-only git commands in it, safely.

GitPython is the command runner; its object database is never used, and no other module imports it.
No program that the repository's configuration or attributes name ever runs: hooks, filters, external
diffs, text converters, pagers, monitors, helpers and transports are all switched off for every command.
Nothing here writes to a repository, takes a lock in it, or reaches the network.
"""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from ctxsearch.graph.errors import CtxsearchError

PIPE_BYTES = 1 << 20  # fewer switches between git and its reader in the bulk passes
STDERR_BYTES = 1 << 16  # what is kept of git's complaints

READ_ONLY_COMMANDS = frozenset(
    {
        "blame",
        "cat-file",
        "check-attr",
        "check-ignore",
        "config",
        "describe",
        "diff",
        "diff-files",
        "diff-index",
    }
    | {"diff-tree", "for-each-ref", "log", "ls-files", "ls-tree", "merge-base", "name-rev", "rev-list"}
    | {"rev-parse", "shortlog", "show", "status", "symbolic-ref", "version"}
)
FORBIDDEN_ARGUMENTS = frozenset({"--ext-diff", "--textconv", "--filters", "--recurse-submodules"})

# What `git help git` and `git help config` know as "run this program", answered for every command.
_DIFF_GUARDS = ("--no-ext-diff", "--no-textconv", "--ignore-submodules=all")
_GUARDS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("diff", "diff-files", "diff-index", "diff-tree", "log", "show"), _DIFF_GUARDS),
    "blame": ("--no-textconv",),
    # A submodule is a repository of its own, with a configuration of its own that this one does not guard.
    "status": ("--ignore-submodules=all",),
}

# Commands that may read a work tree's file through its `clean` filter.
_WORK_TREE_COMMANDS = frozenset({"blame", "diff", "diff-files", "diff-index", "ls-files", "status"})

# Configuration that names a program, or that changes what the output means. The highest precedence wins.
_SETTINGS: tuple[tuple[str, str], ...] = (
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.untrackedCache", "keep"),
    ("core.pager", "cat"),
    ("core.editor", "false"),
    ("core.askPass", ""),
    ("core.sshCommand", "false"),
    ("core.gitProxy", ""),
    ("core.alternateRefsCommand", "false"),
    ("credential.helper", ""),
    ("gpg.program", "false"),
    ("log.showSignature", "false"),
    ("protocol.allow", "never"),
    ("uploadpack.packObjectsHook", ""),
    ("core.quotePath", "false"),
    ("core.abbrev", "40"),
    ("color.ui", "false"),
    ("diff.algorithm", "default"),
    ("diff.colorMoved", "no"),
    ("diff.context", "3"),
    ("diff.indentHeuristic", "true"),
    ("diff.interHunkContext", "0"),
    ("diff.mnemonicPrefix", "false"),
    ("diff.noprefix", "false"),
    ("diff.orderFile", "/dev/null"),
    ("diff.relative", "false"),
    ("diff.renameLimit", "1000"),
    ("diff.submodule", "short"),
    ("diff.suppressBlankEmpty", "false"),
    ("i18n.logOutputEncoding", "UTF-8"),
    ("log.decorate", "false"),
    ("log.follow", "false"),
    ("log.mailmap", "false"),
)

_ENVIRONMENT: Mapping[str, str] = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ASKPASS": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_PARAMETERS": "",
    "GIT_EDITOR": "false",
    "GIT_EXTERNAL_DIFF": "",
    "GIT_LITERAL_PATHSPECS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_SSH_COMMAND": "false",
    "GIT_TERMINAL_PROMPT": "0",
    "SSH_ASKPASS": "",
}

# Variables by which a surrounding git (a hook, an alias) would redirect us to another repository.
_REDIRECTIONS = (
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_INDEX_FILE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
)

_FILTER_PROGRAM = re.compile(r"^filter\..*\.(clean|smudge|process)$", re.DOTALL)
_FILTER_DUTY = re.compile(r"^filter\..*\.required$", re.DOTALL)


class GitError(CtxsearchError):
    """A git command failed; `status` is its exit code, -1 when it never started."""

    def __init__(self, message: str, status: int = -1) -> None:
        super().__init__(message)
        self.status = status


class GitMissingError(GitError):
    """There is no git program to run."""


class GitUnsafeError(GitError):
    """Git refuses a repository that belongs to another user."""


class GitTimeoutError(GitError):
    """A git command took longer than it was given, and was killed."""


@dataclass(frozen=True, slots=True)
class _Completed:
    status: int
    stdout: bytes
    stderr: str


class _Pipe(io.RawIOBase):
    """A process's output that remembers whether its end was read."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source = source
        self.ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = cast("io.RawIOBase", self._source).readinto(buffer)
        self.ended = not data
        return data or 0


@dataclass(frozen=True, slots=True)
class Git:
    """One repository with a work tree. Made by `open`; every command runs in the work tree's root."""

    work_tree: Path
    git_dir: Path  # of this work tree
    common_dir: Path  # shared by all work trees of one repository

    @staticmethod
    def open(path: Path) -> Git | None:
        """The repository that `path` lies in; None when it lies in none.

        Raises GitUnsafeError, GitMissingError, or GitError (it is broken, or has no work tree).
        """
        place = path.resolve()
        place = place if place.is_dir() else place.parent
        if not place.is_dir():
            raise GitError(f"{path}: no such directory")
        git_dir = _discover(place, "--absolute-git-dir")
        if git_dir is None:
            return None
        common_dir = _discover(place, "--git-common-dir")
        work_tree = _discover(place, "--show-toplevel")
        if common_dir is None or work_tree is None:
            raise GitError(f"{path}: the repository went away")
        _refuse_foreign_work_tree(place, work_tree, git_dir)
        return Git(work_tree, git_dir, common_dir)

    def run(self, *args: str, timeout: float = 60, input: bytes | None = None) -> bytes:  # noqa: A002
        """Standard output of `git args...`; raises GitError when it fails."""
        done = self._complete(args, timeout, input)
        if done.status != 0:
            raise _failure(args, done.status, done.stderr)
        return done.stdout

    @contextlib.contextmanager
    def stream(self, *args: str, ahead: int = PIPE_BYTES) -> Iterator[io.BufferedReader]:
        """Standard output of `git args...` while it runs. Leaving early kills it; a failed end raises.

        `ahead` is how many bytes git may be ahead of the reader: few for one who may stop early.
        """
        env = self._environment(args)
        process, owner = _start(self.work_tree, _guarded(args), env, wants_input=False, pipe_bytes=ahead)
        assert process.stdout is not None
        complaints = _Drain(process.stderr)
        pipe = _Pipe(cast("io.BufferedReader", process.stdout).raw)  # type: ignore[arg-type]
        try:
            yield io.BufferedReader(pipe, ahead)
            if pipe.ended and process.wait() != 0:
                raise _failure(args, process.returncode, complaints.text())
        finally:
            process.kill()
            process.wait()
            complaints.join()
            process.stdout.close()
            del owner  # GitPython's own guard against stray processes: must outlive the reading

    def head(self) -> str | None:
        """The commit that is checked out; None when there is none yet."""
        args = ("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        done = self._complete(args, 60, None)
        if done.status == 0:
            return done.stdout.decode().strip()
        if done.status == 1:
            return None
        raise _failure(args, done.status, done.stderr)

    def is_shallow(self) -> bool:
        """Whether history was cut off by a shallow clone."""
        graft = self.common_dir / "shallow"
        return graft.exists() and graft.stat().st_size > 0

    def _complete(self, args: tuple[str, ...], timeout: float, data: bytes | None) -> _Completed:
        return _complete(self.work_tree, _guarded(args), self._environment(args), timeout, data)

    def _environment(self, args: tuple[str, ...]) -> dict[str, str]:
        reads_files = args[0] in _WORK_TREE_COMMANDS and args[:2] != ("diff-index", "--cached")
        overrides = self._filter_overrides() if reads_files else ()
        return _environment_with(_SETTINGS + overrides) | self._pinned()

    def _pinned(self) -> dict[str, str]:
        return {
            "GIT_DIR": str(self.git_dir),
            "GIT_COMMON_DIR": str(self.common_dir),
            "GIT_WORK_TREE": str(self.work_tree),
            "GIT_INDEX_FILE": str(self.git_dir / "index"),
            "GIT_CONFIG_NOSYSTEM": "1",
        }

    def _filter_overrides(self) -> tuple[tuple[str, str], ...]:
        """Clean and smudge filters have no switch of their own: each one configured is overridden by name.

        Asked anew every time, since a configuration can change by what it includes and by the branch.
        """
        env = _environment_with(_SETTINGS) | self._pinned()
        done = _complete(self.work_tree, ("config", "--list", "--name-only", "-z"), env, 60, None)
        if done.status != 0:
            raise _failure(("config", "--list"), done.status, done.stderr)
        names = set(done.stdout.decode("utf-8", "surrogateescape").split("\0"))
        return tuple(_neutral(sorted(names)))


class _Drain:
    """Reads a process's complaints on the side, so that it never waits for us to read them."""

    def __init__(self, source: IO[bytes] | None) -> None:
        self._source = source
        self._kept = b""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        if self._source is None:
            return
        with self._source:
            while data := self._source.read(4096):
                self._kept = (self._kept + data)[-STDERR_BYTES:]

    def join(self) -> None:
        self._thread.join()

    def text(self) -> str:
        self.join()
        return self._kept.decode("utf-8", "replace").strip()


def _neutral(names: list[str]) -> Iterator[tuple[str, str]]:
    for name in names:
        if _FILTER_PROGRAM.match(name):
            yield name, ""
        elif _FILTER_DUTY.match(name):
            yield name, "false"


def _environment_with(settings: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Settings go by environment, not by `-c`: a name with '=' in it would be cut there."""
    env = dict(_ENVIRONMENT)
    env["GIT_CONFIG_COUNT"] = str(len(settings))
    for index, (name, value) in enumerate(settings):
        env[f"GIT_CONFIG_KEY_{index}"] = name
        env[f"GIT_CONFIG_VALUE_{index}"] = value
    return env


def _guarded(args: tuple[str, ...]) -> tuple[str, ...]:
    """The command with its guards, refused unless it is one that only reads."""
    command, rest = args[0], args[1:]
    options = rest[: rest.index("--")] if "--" in rest else rest
    if command not in READ_ONLY_COMMANDS:
        raise GitError(f"git {command}: not a command that ctxsearch runs")
    if forbidden := FORBIDDEN_ARGUMENTS.intersection(options):
        raise GitError(f"git {command} {min(forbidden)}: would run programs that the repository names")
    return (command, *_GUARDS.get(command, ()), *rest)


def _discover(place: Path, what: str) -> Path | None:
    """One path that git knows about the repository around `place`, by git's own rules of discovery.

    The system's configuration is read here alone: administrators list `safe.directory` in it.
    """
    args = ("rev-parse", "--path-format=absolute", what)
    unset = [word for name in _REDIRECTIONS for word in ("-u", name)]
    done = _complete(place, args, _environment_with(_SETTINGS), 60, None, prefix=("env", *unset))
    if done.status == 0:
        return Path(done.stdout.decode("utf-8", "surrogateescape").removesuffix("\n"))
    if "not a git repository (or any" in done.stderr:
        return None
    if "dubious ownership" in done.stderr or "unsafe repository" in done.stderr:
        raise GitUnsafeError(
            f"{place}: the repository belongs to another user; if you trust it, run "
            f"`git config --global --add safe.directory {place}`",
            done.status,
        )
    if "must be run in a work tree" in done.stderr:
        raise GitError(f"{place}: a bare repository without a work tree; check it out and add that", done.status)
    raise _failure(args, done.status, done.stderr)


def _refuse_foreign_work_tree(place: Path, work_tree: Path, git_dir: Path) -> None:
    """A hostile `core.worktree` must not make us read a directory that was never asked for."""
    if place.is_relative_to(work_tree.resolve()) or place.is_relative_to(git_dir.resolve()):
        return
    raise GitError(f"{place}: its core.worktree is {work_tree}, elsewhere; add that directory instead")


def _complete(
    place: Path,
    args: tuple[str, ...],
    env: Mapping[str, str],
    timeout: float,
    data: bytes | None,
    prefix: tuple[str, ...] = (),
) -> _Completed:
    process, owner = _start(place, args, env, wants_input=data is not None, prefix=prefix)
    try:
        stdout, stderr = process.communicate(data, timeout)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise GitTimeoutError(f"git {args[0]} took longer than {timeout:g} s in {place}") from None
    except BaseException:
        process.kill()
        process.wait()
        raise
    finally:
        del owner
    if process.returncode == 127 and prefix:
        raise _missing()
    return _Completed(process.returncode, stdout, stderr.decode("utf-8", "replace").strip())


def _start(
    place: Path,
    args: tuple[str, ...],
    env: Mapping[str, str],
    *,
    wants_input: bool,
    prefix: tuple[str, ...] = (),
    pipe_bytes: int = PIPE_BYTES,
) -> tuple[subprocess.Popen[bytes], object]:
    """The process, and GitPython's owner of it, which kills it when dropped."""
    try:
        import git  # late: it looks for the program when imported, and takes a quarter of a second
    except ImportError as error:
        raise _missing() from error
    runner = git.Git(str(place))
    command = [*prefix, "git", "--no-pager", *args]
    istream = subprocess.PIPE if wants_input else None
    try:
        owner = runner.execute(command, istream, as_process=True, env=env, shell=False, pipesize=pipe_bytes)
    except git.GitCommandNotFound as error:
        raise _missing() from error
    return owner.proc, owner


def _missing() -> GitMissingError:
    return GitMissingError("git was not found on PATH; install git to read a repository's files and history")


def _failure(args: tuple[str, ...], status: int, stderr: str) -> GitError:
    lines = stderr.splitlines() or [f"exit code {status}"]
    reason = next((line for line in lines if line.startswith("fatal:")), lines[-1]).removeprefix("fatal: ")
    return GitError(f"git {args[0]} failed: {reason}", status)
