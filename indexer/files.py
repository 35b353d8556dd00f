"""Which files of a repository are indexed, and why others are not; and the text of one file.

Listing is what git would see: tracked files and untracked ones that no rule ignores, minus `.ctxsearchignore`.
Without git the same rules are applied by hand. Submodules belong to the tree that names them; an untracked
clone inside a repository is a repository of its own and is left out. Tracked files that are not on disk
(sparse checkout, deleted) do not exist. Nothing is dropped silently: every other file is `Skipped` with a reason.

Reading gives UTF-8 with "\\n" line ends whatever the file has, so that line numbers are what an editor shows.
Nothing outside the root is read (see `beneath`), secrets are not opened, and no file is written, ever.
"""

from __future__ import annotations

import enum
import errno
import hashlib
import os
import stat
from collections.abc import Container, Iterable
from pathlib import Path

import msgspec

from ctxsearch.graph.errors import CtxsearchError
from ctxsearch.graph.git import Git, GitError
from ctxsearch.graph.model import NodeFlag
from ctxsearch.indexer import classify
from ctxsearch.indexer.beneath import NotRegularError, UnsafePathError, open_beneath, path_parts, read_up_to
from ctxsearch.indexer.ignore import CTXSEARCH_IGNORE, GIT_IGNORE, IgnoreRules

_VERSION_CONTROL = frozenset({".git", ".hg", ".svn", ".jj"})
_READ_ATTEMPTS = 2


class SkipReason(enum.StrEnum):
    """Why a file is not indexed. The values are shown to users and stored."""

    BINARY = "binary"
    TOO_LARGE = "too large"
    MINIFIED = "minified"
    GENERATED = "generated"
    UNREADABLE = "unreadable"
    SECRET = "secret"  # noqa: S105 - a reason, not a password
    OUTSIDE = "symlink outside the root"
    LINK = "symlink inside the root"  # its target is indexed under its own path
    BROKEN_LINK = "broken symlink"
    NOT_REGULAR = "not a regular file"
    NAME = "name is not UTF-8"
    NESTED_REPOSITORY = "untracked nested repository"
    VANISHED = "vanished"
    CHANGING = "changing while read"
    TIMEOUT = "timeout"
    CRASHED = "parser crashed"


class Limits(msgspec.Struct, frozen=True):
    """What is too much for the index."""

    max_bytes: int = 1_000_000
    index_generated: bool = False  # files that say they are generated; flagged rather than skipped


class FileStat(msgspec.Struct, frozen=True, gc=False):
    """Enough of stat to tell whether a file may have changed."""

    size: int
    mtime_ns: int
    inode: int


class FileEntry(msgspec.Struct, frozen=True, gc=False):
    """A file to be indexed."""

    path: str  # relative to the root, '/' separated
    stat: FileStat


class Skipped(msgspec.Struct, frozen=True, gc=False, tag=True):
    """A file that is not indexed. A directory ends in '/'."""

    path: str
    reason: SkipReason
    detail: str = ""


class Listing(msgspec.Struct, frozen=True):
    """Both sorted by path."""

    files: tuple[FileEntry, ...]
    skipped: tuple[Skipped, ...]


class Source(msgspec.Struct, frozen=True, gc=False):
    """One file as text."""

    path: str
    text: bytes  # UTF-8, no BOM, "\n" line ends
    content_hash: str  # of the bytes on disk
    encoding: str  # as found: "utf-8", "utf-8-sig", "utf-16-le", ... "latin-1"
    flags: NodeFlag
    stat: FileStat  # taken before the bytes were read


def content_hash(data: bytes) -> str:
    """Identity of a file's bytes."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


# --- listing ----------------------------------------------------------------------------------------------


def list_files(root: Path, limits: Limits, git: Git | None) -> Listing:
    """Every file beneath `root` that should be indexed, and every one that should not with the reason."""
    lister = _Lister(root.resolve(), limits)
    lister.list_tree("", git)
    return lister.listing()


def list_some(
    root: Path, paths: Iterable[str], limits: Limits, git: Git | None, known: Container[str]
) -> Listing | None:
    """What `list_files` says about these files and directories; None when only a full listing can tell.

    `known` are paths that a full listing gave before: no rule needs to be asked about them again.
    """
    lister = _Lister(root.resolve(), limits)
    return lister.listing() if lister.list_paths(list(paths), git, known) else None


def changes_rules(path: str) -> bool:
    """Whether a change of this file can change which other files are listed."""
    directory, _, name = path.rpartition("/")
    return name in (GIT_IGNORE, CTXSEARCH_IGNORE, ".gitmodules") or ".git" in (*directory.split("/"), name)


class _Lister:
    """Collects one listing. Paths are relative to the root; a prefix is "" or ends in '/'."""

    def __init__(self, root: Path, limits: Limits) -> None:
        self._root = root
        self._limits = limits
        self._ignore = IgnoreRules(root, (CTXSEARCH_IGNORE,))
        self._ignore_by_hand = IgnoreRules(root, (GIT_IGNORE, CTXSEARCH_IGNORE))
        self._directory_problems: dict[str, SkipReason | None] = {"": None}
        self._files: dict[str, FileStat] = {}
        self._skipped: dict[str, Skipped] = {}

    def listing(self) -> Listing:
        return Listing(
            tuple(FileEntry(path, self._files[path]) for path in sorted(self._files)),
            tuple(self._skipped[path] for path in sorted(self._skipped)),
        )

    def list_tree(self, prefix: str, git: Git | None) -> None:
        names = _git_names(self._root / prefix, git) if git is not None else None
        if names is None:
            self._walk(prefix)
            return
        for name in names:
            self._consider_git_name(prefix, name)

    def list_paths(self, paths: list[str], git: Git | None, known: Container[str]) -> bool:
        """Some paths only; False when that is not possible."""
        unknown = []
        for path in paths:
            place = self._root / path
            if path in known and not place.is_dir():
                self._consider(path)
            elif os.path.lexists(place):
                unknown.append(path)
        if any(self._in_nested_repository(path) for path in unknown):
            return False
        if git is None or not unknown:
            self._walk_to(unknown)
            return True
        names = _git_names(self._root, git, unknown)
        for name in names or ():
            self._consider_git_name("", name)
        return names is not None

    def _in_nested_repository(self, path: str) -> bool:
        place = self._root / path
        inside = [each for each in (place, *place.parents) if self._root in each.parents]
        return any(os.path.lexists(each / ".git") for each in inside)

    def _walk_to(self, paths: list[str]) -> None:
        for path in paths:
            if (self._root / path).is_dir() and not (self._root / path).is_symlink():
                for prefix in self._enter(path):
                    self._walk(prefix)
            elif not self._ignore_by_hand.ignores_file(path):
                self._consider(path)

    def _consider_git_name(self, prefix: str, name: bytes) -> None:
        path = self._decode(os.fsencode(prefix) + name)
        if path is None:
            return
        if path.endswith("/"):  # git lists a clone that it does not track as one directory
            self._skip(path, SkipReason.NESTED_REPOSITORY)
        elif not self._ignore.ignores_file(path):
            self._consider(path)

    def _consider(self, path: str) -> None:
        try:
            path_parts(path)
        except UnsafePathError:
            self._skip(path, SkipReason.OUTSIDE)
            return
        problem = self._directory_problem(path.rpartition("/")[0])
        if problem is not None:
            self._skip(path, problem)
            return
        try:
            found = os.lstat(f"{self._root}/{path}")
        except FileNotFoundError:
            return  # tracked, but not checked out or deleted
        except OSError as error:
            self._skip(path, SkipReason.UNREADABLE, error.strerror)
            return
        if stat.S_ISDIR(found.st_mode):
            self._list_submodule(path)
        else:
            self._sort_out(path, found)

    def _sort_out(self, path: str, found: os.stat_result) -> None:
        if stat.S_ISLNK(found.st_mode):
            self._skip(path, _link_reason(self._root, self._root / path))
        elif not stat.S_ISREG(found.st_mode):
            self._skip(path, SkipReason.NOT_REGULAR)
        elif (reason := _reason_by_name(path)) is not None:
            self._skip(path, reason)
        elif found.st_size > self._limits.max_bytes:
            self._skip(path, SkipReason.TOO_LARGE, f"{found.st_size} bytes")
        else:
            self._files[path] = _file_stat(found)

    def _list_submodule(self, path: str) -> None:
        """A gitlink: nothing when it is not initialised, else its files as part of this tree."""
        if os.path.lexists(self._root / path / ".git"):
            self.list_tree(path + "/", _open_own(self._root / path))

    def _walk(self, prefix: str) -> None:
        """Git's rules by hand. Iterative: a tree may be deeper than the interpreter's stack."""
        pending = [prefix]
        while pending:
            current = pending.pop()
            entries = self._scan(current)
            for entry in entries:
                path = self._decode(os.fsencode(current) + os.fsencode(entry.name))
                if path is None or entry.name in _VERSION_CONTROL:
                    continue
                if entry.is_dir(follow_symlinks=False):
                    pending += self._enter(path)
                elif not self._ignore_by_hand.ignores_file(path):
                    self._consider(path)

    def _enter(self, path: str) -> list[str]:
        """The directory to walk next, unless it is ignored or a repository that git lists better."""
        if self._ignore_by_hand.ignores_directory(path):
            return []
        git = _open_own(self._root / path)
        if git is None:
            return [path + "/"]
        self.list_tree(path + "/", git)
        return []

    def _scan(self, prefix: str) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(self._root / prefix) as entries:
                return list(entries)
        except OSError as error:
            self._skip(prefix or "./", SkipReason.UNREADABLE, error.strerror)
            return []

    def _directory_problem(self, directory: str) -> SkipReason | None:
        """A tracked file can lie behind a directory that was replaced by a link since."""
        if directory not in self._directory_problems:
            parent = directory.rpartition("/")[0]
            problem = self._directory_problem(parent)
            if problem is None and (self._root / directory).is_symlink():
                problem = _link_reason(self._root, self._root / directory)
            self._directory_problems[directory] = problem
        return self._directory_problems[directory]

    def _decode(self, name: bytes) -> str | None:
        try:
            return name.decode("utf-8")
        except UnicodeDecodeError:
            self._skip(name.decode("utf-8", "backslashreplace"), SkipReason.NAME)
            return None

    def _skip(self, path: str, reason: SkipReason, detail: str | None = "") -> None:
        self._skipped[path] = Skipped(path, reason, detail or "")


def _git_names(directory: Path, git: Git, paths: Iterable[str] = ()) -> list[bytes] | None:
    """What git sees beneath the directory (or at some paths in it), relative to it; None when git cannot say."""
    if not directory.is_relative_to(work_tree := git.work_tree.resolve()):
        return None
    prefix = "" if directory == work_tree else f"{directory.relative_to(work_tree)}/"
    wanted = [f":(literal){prefix}{path}" for path in paths] or ([f":(literal){prefix}"] if prefix else [])
    try:
        listed = git.run("ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", *wanted)
    except GitError:
        return None  # no work tree (a bare repository), or not a repository any more
    start = os.fsencode(prefix)
    names = {name.removeprefix(start) for name in listed.split(b"\0") if name.startswith(start)} - {b""}
    # A directory that the repository around it ignores is a plain directory to whoever asks for it.
    return sorted(names) if names or not prefix else None


def _open_own(directory: Path) -> Git | None:
    """The repository whose work tree is exactly this directory, if git can read it.

    A nested repository whose configuration claims another work tree is listed by hand instead.
    """
    if not os.path.lexists(directory / ".git"):
        return None
    try:
        git = Git.open(directory)
    except GitError:
        return None
    return git if git is not None and git.work_tree.resolve() == directory else None


def _link_reason(root: Path, link: Path) -> SkipReason:
    try:
        target = link.resolve(strict=True)
    except (OSError, RuntimeError):  # dangling, or a loop
        return SkipReason.BROKEN_LINK
    return SkipReason.LINK if target.is_relative_to(root) else SkipReason.OUTSIDE


def _reason_by_name(path: str) -> SkipReason | None:
    if classify.is_secret_path(path):
        return SkipReason.SECRET
    if classify.is_minified_name(path):
        return SkipReason.MINIFIED
    if classify.is_lock_file(path):
        return SkipReason.GENERATED
    return None


def _file_stat(found: os.stat_result) -> FileStat:
    return FileStat(found.st_size, found.st_mtime_ns, found.st_ino)


# --- reading ----------------------------------------------------------------------------------------------


def read_source(root: Path, path: str, limits: Limits) -> Source | Skipped:
    """The text of one file, or why there is none. Never raises for anything that a file can do."""
    reason = _reason_by_name(path)
    if reason is not None:
        return Skipped(path, reason)
    for _ in range(_READ_ATTEMPTS):
        outcome = _read_once(root, path, limits)
        if isinstance(outcome, Source) or outcome.reason is not SkipReason.CHANGING:
            break
    return outcome


def _read_once(root: Path, path: str, limits: Limits) -> Source | Skipped:
    try:
        descriptor = open_beneath(root, path)
    except UnsafePathError:
        return Skipped(path, SkipReason.OUTSIDE)
    except NotRegularError as error:
        return Skipped(path, _irregular_reason(root, path, error.mode))
    except OSError as error:
        return _open_failure(root, path, error)
    try:
        return _read_open(descriptor, path, limits)
    except OSError as error:
        return Skipped(path, SkipReason.UNREADABLE, error.strerror or "")
    finally:
        os.close(descriptor)


def _irregular_reason(root: Path, path: str, mode: int) -> SkipReason:
    return _link_reason(root.resolve(), root / path) if stat.S_ISLNK(mode) else SkipReason.NOT_REGULAR


def _open_failure(root: Path, path: str, error: OSError) -> Skipped:
    if error.errno == errno.ENOENT:
        return Skipped(path, SkipReason.VANISHED)
    if error.errno in (errno.ELOOP, errno.ENOTDIR):  # a link where a file or a directory was
        for parent in [root / path, *(root / path).parents]:
            if parent.is_symlink():
                return Skipped(path, _link_reason(root.resolve(), parent))
        return Skipped(path, SkipReason.VANISHED)
    return Skipped(path, SkipReason.UNREADABLE, error.strerror or "")


def _read_open(descriptor: int, path: str, limits: Limits) -> Source | Skipped:
    before = os.fstat(descriptor)
    if before.st_size > limits.max_bytes:
        return Skipped(path, SkipReason.TOO_LARGE, f"{before.st_size} bytes")
    head = read_up_to(descriptor, classify.SAMPLE_BYTES)
    encoding = _encoding(head)
    reason = _reason_by_head(head, encoding, limits)
    if reason is not None:
        return Skipped(path, reason)
    data = head
    if len(head) == classify.SAMPLE_BYTES:
        data += read_up_to(descriptor, limits.max_bytes + 1 - len(head))
    after = os.fstat(descriptor)
    if _file_stat(after) != _file_stat(before) or len(data) != before.st_size:
        return Skipped(path, SkipReason.CHANGING)
    return _as_source(path, data, encoding, before)


def _reason_by_head(head: bytes, encoding: str, limits: Limits) -> SkipReason | None:
    text = _decoded_head(head, encoding)
    if classify.is_binary(text):
        return SkipReason.BINARY
    if len(head) == classify.SAMPLE_BYTES and b"\n" not in head and b"\r" not in head:
        return SkipReason.MINIFIED
    if not limits.index_generated and classify.has_generated_marker(text):
        return SkipReason.GENERATED
    return None


def _decoded_head(head: bytes, encoding: str) -> bytes:
    if encoding == "utf-8":
        return head
    return head.decode(encoding, "ignore").encode("utf-8", "ignore")


def _as_source(path: str, data: bytes, encoding: str, found: os.stat_result) -> Source | Skipped:
    text, encoding = _to_utf8(data, encoding)
    if classify.is_secret_content(path, text):
        return Skipped(path, SkipReason.SECRET)
    if classify.is_minified_text(text):
        return Skipped(path, SkipReason.MINIFIED)
    flags = classify.file_flags(path, text[: classify.SAMPLE_BYTES])
    return Source(path, text, content_hash(data), encoding, flags, _file_stat(found))


# The four-byte marks come first: one of them begins with the two-byte mark of UTF-16.
_BYTE_ORDER_MARKS = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_UTF16_MIN_ZEROS = 0.3  # share of zero high bytes in UTF-16 text without a mark
_UTF16_MIN_BYTES = 16


def _encoding(head: bytes) -> str:
    """By byte order mark, else UTF-16 by its zero bytes, else UTF-8."""
    for mark, name in _BYTE_ORDER_MARKS:
        if head.startswith(mark):
            return name
    if len(head) >= _UTF16_MIN_BYTES and b"\0" in head:
        even, odd = head[::2].count(0), head[1::2].count(0)
        half = len(head) / 2
        if even == 0 and odd > _UTF16_MIN_ZEROS * half:
            return "utf-16-le"
        if odd == 0 and even > _UTF16_MIN_ZEROS * half:
            return "utf-16-be"
    return "utf-8"


def _to_utf8(data: bytes, encoding: str) -> tuple[bytes, str]:
    if encoding == "utf-8":
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            return _unix_lines(data.decode("latin-1").encode("utf-8")), "latin-1"
        return _unix_lines(data), encoding
    # A broken sequence costs one character, not the file.
    return _unix_lines(data.decode(encoding, "replace").encode("utf-8")), encoding


def _unix_lines(text: bytes) -> bytes:
    """CRLF ends one line. A lone CR ends a line only where nothing else does (old Mac files): git and most
    editors see a stray one as a character."""
    if b"\r" not in text:
        return text
    text = text.replace(b"\r\n", b"\n")
    return text if b"\n" in text else text.replace(b"\r", b"\n")


class NothingToIndexError(CtxsearchError):
    """No file of the repository is indexed."""

    def __init__(self, root: Path, skipped: tuple[Skipped, ...]) -> None:
        super().__init__(_explain_nothing(root, skipped))
        self.root = root
        self.skipped = skipped


def count_reasons(skipped: Iterable[Skipped]) -> dict[SkipReason, int]:
    """How many files were skipped for each reason, in the order of SkipReason."""
    counts = dict.fromkeys(SkipReason, 0)
    for each in skipped:
        counts[each.reason] += 1
    return {reason: count for reason, count in counts.items() if count}


def _explain_nothing(root: Path, skipped: tuple[Skipped, ...]) -> str:
    if not root.is_dir():
        return f"{root} is gone; put it back, or let go of its index with `ctxsearch remove`"
    if not skipped:
        return (
            f"no file to index in {root}: it is empty or every file is ignored; check .gitignore and {CTXSEARCH_IGNORE}"
        )
    reasons = ", ".join(f"{count} {reason}" for reason, count in count_reasons(skipped).items())
    return f"no file to index in {root}: skipped {reasons}; `ctxsearch add --dry-run` lists them"
