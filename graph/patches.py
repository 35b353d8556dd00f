"""Commits and patches as git prints them: one `git log -p -U0` stream into line numbers.

The only place that knows these formats. Text of hunks is skipped, never kept: a patch is which lines of a
file a commit replaced by how many. Nothing here remembers or interprets; see `attribution` and `history`.
"""

from __future__ import annotations

import enum
import io
import re
from array import array
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field

from ctxsearch.graph.git import Git

CHUNK_BYTES = 4 << 20
MAX_PATHS = 300  # named one by one; git is quicker about everything than about many
CHAIN_BYTES = 1 << 14  # some hundred commits: often one is enough
# Text always: git takes UTF-16 for binary, and a hostile attribute could call any file so.
DIFF_OPTIONS = ("-p", "-U0", "-M", "--text", "--no-color", "--src-prefix=a/", "--dst-prefix=b/")

_MARK = b"\x01"  # no line of a diff starts with it: they start with a letter, a sign, '@' or a backslash
_COMMIT_FORMAT = "--format=%x01%H%x00%P%x00%ct%x00%ae%x00%an%x00%s"
_FILE = b"\ndiff --git "
_WORDS_BEFORE_PATH = {b"?": 1, b"1": 8, b"u": 10}  # of `git status --porcelain=v2`, without renames
_HUNK = b"\n@@ -"


class Change(enum.IntEnum):
    """What a commit did to a path. The numbers are stored: append, never renumber."""

    MODIFIED = 1
    ADDED = 2
    DELETED = 3
    RENAMED = 4  # and perhaps modified; `source` is the old path


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of a first-parent chain, as written by its author."""

    id: str
    parent: str | None  # the first; None for a root
    time: int  # committer's, seconds since 1970, not clamped
    email: str
    name: str
    subject: str


@dataclass(frozen=True, slots=True)
class Patch:
    """What one commit did to one file, against its first parent."""

    path: bytes  # after the commit; before it for DELETED
    source: bytes | None  # the old path of RENAMED
    change: Change
    hunks: array[int]  # flat: old start, old count, new start, new count; 1-based, as `@@` gives them

    def changed_lines(self) -> int:
        """Lines removed and added."""
        return sum(self.hunks[1::4]) + sum(self.hunks[3::4])


@dataclass(frozen=True, slots=True)
class Selection:
    """Which files' history is read, as suffixes with their dot, and names; empty is every file.

    Whole-repository patterns: git takes longer for a long list of paths than for all of them.
    """

    suffixes: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def pathspecs(self) -> tuple[str, ...]:
        """For git's command line."""
        specs = [f"*{_literal(suffix)}" for suffix in self.suffixes]  # git matches these by the end alone
        return tuple(sorted(specs + [f":(glob)**/{_literal(name)}" for name in self.names]))

    def holds(self, path: str) -> bool:
        """Whether a path is selected."""
        name = path.rpartition("/")[2]
        return not (self.suffixes or self.names) or name.endswith(self.suffixes) or name in self.names


EVERYTHING = Selection()


def read_chain(git: Git, head: str) -> Iterator[Commit]:
    """The first-parent chain from `head`, newest first; read only as far as the caller iterates."""
    with git.stream("log", "--first-parent", "--no-patch", _COMMIT_FORMAT, head, "--", ahead=CHAIN_BYTES) as reader:
        for line in reader:
            yield _commit(line.rstrip(b"\n").removeprefix(_MARK))


def read_patches(
    git: Git, newest: str, older: str | None, pathspecs: tuple[str, ...]
) -> Iterator[tuple[str, list[Patch]]]:
    """Per commit of `newest` down to but without `older`, newest first: its id and its patches.

    Commits that change none of the paths are left out. When an object is missing (partial clone) the
    GitError comes after the last commit that could be read whole.
    """
    exclude = (f"^{older}",) if older else ()
    args = ("log", "--first-parent", "-m", *DIFF_OPTIONS, "--format=%x01%H", newest, *exclude, "--", *pathspecs)
    held = None  # until the next one proves it complete
    with git.stream(*args) as reader:
        for item in _parse_log(reader):
            if held:
                yield held
            held = item
    if held:
        yield held


def read_work_tree(
    git: Git, selection: Selection, suspects: Collection[bytes] | None = None
) -> tuple[list[Patch], set[bytes]]:
    """What the work tree changes against HEAD, staged or not, and the untracked files that none ignores.

    `suspects`, if given, are all paths that may differ from HEAD without being staged: the others are not looked at.
    """
    if suspects is not None:
        suspects = {*suspects, *_staged(git)}
    # Asked about everything and selected here: with a pattern per language git takes half as long again.
    entries = _status(
        git, {path for path in suspects if selection.holds(_text(path))} if suspects is not None else None
    )
    chosen = [(kind, path) for kind, path in map(_status_entry, entries) if path and selection.holds(_text(path))]
    untracked = {path for kind, path in chosen if kind == b"?"}
    changed = {path for _, path in chosen} - untracked
    if not changed:
        return [], untracked
    with git.stream("diff", *DIFF_OPTIONS, "HEAD", "--", *(_exactly(changed) or selection.pathspecs())) as reader:
        found = list(_parse_log(io.BytesIO(_MARK + b"\n\n"), reader))
    return [patch for _, patches in found for patch in patches], untracked


def _staged(git: Git) -> list[bytes]:
    """The paths where the index differs from HEAD: no file is looked at for this."""
    names = git.run("diff-index", "--cached", "--no-renames", "--name-only", "-z", "HEAD", "--").split(b"\0")
    return [path for path in names if path]


def _status(git: Git, paths: Collection[bytes] | None) -> list[bytes]:
    if paths is not None and not paths:
        return []
    options = ("--porcelain=v2", "-z", "--untracked-files=all", "--no-renames")
    return git.run("status", *options, "--", *(_exactly(paths) if paths is not None else ())).split(b"\0")


def _exactly(paths: Collection[bytes]) -> tuple[str, ...]:
    """Pathspecs of these paths alone; none, which is everything, when they are too many for a command line."""
    return tuple(f":(literal){_text(path)}" for path in sorted(paths)) if len(paths) <= MAX_PATHS else ()


def _status_entry(entry: bytes) -> tuple[bytes, bytes]:
    """What git says of a path in the work tree: b"?" untracked, b"1" changed, b"u" unmerged; and the path."""
    kind = entry[:1]
    words = entry.split(b" ", _WORDS_BEFORE_PATH.get(kind, 0))
    return (kind, words[-1]) if kind in _WORDS_BEFORE_PATH else (b"", b"")


def _commit(line: bytes) -> Commit:
    fields = line.decode("utf-8", "replace").split("\0", 5)
    id_, parents, time, email, name, subject = fields
    return Commit(id_, parents.split(" ")[0] or None, int(time), email, name, subject)


@dataclass
class _Pending:
    """The commit being read; a commit is complete when the next one, or the end, is seen."""

    id: str | None = None
    patches: list[Patch] = field(default_factory=list)


def _parse_log(*readers: io.BufferedIOBase) -> Iterator[tuple[str, list[Patch]]]:
    pending = _Pending()
    for block in _whole_files(readers):
        first, *others = block.split(b"\n" + _MARK)
        pending.patches.extend(_patches(first))
        for piece in others:
            if pending.id is not None:
                yield pending.id, pending.patches
            id_, _, rest = piece.partition(b"\n")
            pending = _Pending(id_.decode(), list(_patches(b"\n" + rest)))
    if pending.id is not None:
        yield pending.id, pending.patches


def _whole_files(readers: Iterable[io.BufferedIOBase]) -> Iterator[bytes]:
    """The stream cut where a file's diff or a commit begins, so that one commit may be of any size."""
    rest = b"\n"
    for reader in readers:
        while chunk := reader.read(CHUNK_BYTES):
            buffer = rest + chunk
            cut = max(buffer.rfind(_FILE), buffer.rfind(b"\n" + _MARK))
            if cut > 0:
                yield buffer[:cut]
                rest = buffer[cut:]
            else:
                rest = buffer
    yield rest


def _patches(text: bytes) -> Iterator[Patch]:
    pieces = text.split(_FILE)
    for piece in pieces[1:]:
        header, *hunks = piece.split(_HUNK)
        yield _patch(header, hunks)


def _patch(header: bytes, hunks: list[bytes]) -> Patch:
    names, *extended = header.split(b"\n")
    change, source, path = Change.MODIFIED, None, None
    for line in extended:
        if line.startswith(b"rename from "):
            change, source = Change.RENAMED, _unquoted(line[12:])
        elif line.startswith(b"rename to "):
            path = _unquoted(line[10:])
        elif line.startswith(b"new file"):
            change = Change.ADDED
        elif line.startswith(b"deleted file"):
            change = Change.DELETED
        elif line.startswith((b"--- ", b"+++ ")):
            break
    return Patch(path or _same_path(names), source, change, _numbers(hunks))


def _same_path(names: bytes) -> bytes:
    """The path of `a/PATH b/PATH`; both are equal where no rename is said."""
    if names.startswith(b'"'):
        return _unquoted(names[: (len(names) - 1) // 2])[2:]
    return names[2 : (len(names) - 1) // 2]


_ESCAPE = re.compile(rb"\\([0-7]{3}|.)")
_LETTERS = {b"a": b"\a", b"b": b"\b", b"t": b"\t", b"n": b"\n", b"v": b"\v", b"f": b"\f", b"r": b"\r"}


def _unquoted(path: bytes) -> bytes:
    """Git's C-style quoting of unusual paths, undone."""
    if not path.startswith(b'"'):
        return path
    return _ESCAPE.sub(_unescaped, path[1:-1])


def _unescaped(match: re.Match[bytes]) -> bytes:
    code: bytes = match[1]
    return bytes([int(code, 8)]) if code[:1].isdigit() else _LETTERS.get(code, code)


def _numbers(hunks: list[bytes]) -> array[int]:
    """`12,3 +14 @@ ...` as 12, 3, 14, 1 for each hunk."""
    numbers = array("i")
    for hunk in hunks:
        old, new = hunk[: hunk.index(b" @@")].split(b" +")
        old_start, comma, old_count = old.partition(b",")
        new_start, new_comma, new_count = new.partition(b",")
        numbers.extend(
            (
                int(old_start),
                int(old_count) if comma else 1,
                int(new_start),
                int(new_count) if new_comma else 1,
            )
        )
    return numbers


def _literal(text: str) -> str:
    """A name in a pathspec, with its wildcards taken as they are."""
    return "".join(f"\\{char}" if char in "*?[]\\" else char for char in text)


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
