"""Did a commit that touched a signature's lines change what others rely on? By what was said before and after.

Lines alone cannot tell: a comment, a reformatting, or the body of a one-line function touches them too; and a new
optional parameter harms nobody. The parser comes in as an argument, since this room knows none; what it says of a
commit never changes and is remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ctxsearch.graph.attribution import UNATTRIBUTED, Ints
from ctxsearch.graph.facts import ParamKind
from ctxsearch.graph.git import Git
from ctxsearch.graph.history_store import HistoryStore, StoredPatch
from ctxsearch.graph.model import NodeFlag, NodeKind
from ctxsearch.graph.node_history import WORK_TREE, History
from ctxsearch.graph.patches import Change

BLOBS_PER_CALL = 200


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter, as a caller sees it."""

    name: str  # "" where callers cannot name it
    kind: ParamKind
    is_optional: bool


@dataclass(frozen=True, slots=True)
class Signature:
    """What those who refer to a definition rely on.

    No types: where they are checked, a reference that no longer fits does not compile, so that one which was left
    alone fits; where they are not, changing one is mostly work on the annotations.
    """

    kind: NodeKind
    flags: NodeFlag
    parameters: tuple[Parameter, ...] = ()
    bases: frozenset[str] = frozenset()
    text: str = ""  # where only the text is known

    def serves_as(self, earlier: Signature) -> bool:
        """Whether whatever fitted the earlier one fits this one too."""
        same = (self.kind, self.flags, self.text) == (earlier.kind, earlier.flags, earlier.text)
        return same and earlier.bases <= self.bases and _accepts(self.parameters, earlier.parameters)


def _accepts(now: Sequence[Parameter], before: Sequence[Parameter]) -> bool:
    """Whether arguments for the parameters of before can be given to those of now."""
    open_ended = {each.kind for each in now} & {ParamKind.VARIADIC, ParamKind.KEYWORDS}
    if not open_ended >= {each.kind for each in before} & {ParamKind.VARIADIC, ParamKind.KEYWORDS}:
        return False
    placed, were_placed = (_of_kind(each, ParamKind.NORMAL) for each in (now, before))
    if len(were_placed) > len(placed) and ParamKind.VARIADIC not in open_ended:
        return False
    if any(new.name != old.name for new, old in zip(placed, were_placed, strict=False)):
        return False
    if any(old.is_optional and not new.is_optional for new, old in zip(placed, were_placed, strict=False)):
        return False
    named, were_named = (_of_kind(each, ParamKind.KEYWORD_ONLY) for each in (now, before))
    added = {each.name: each for each in (*placed[len(were_placed) :], *named)}
    for old in were_named:
        new = added.pop(old.name, None)
        if new is None and ParamKind.KEYWORDS not in open_ended:
            return False
        if new is not None and old.is_optional and not new.is_optional:
            return False
    return all(each.is_optional for each in added.values())


def _of_kind(parameters: Sequence[Parameter], kind: ParamKind) -> list[Parameter]:
    return [each for each in parameters if each.kind is kind]


SignatureReader = Callable[[str, bytes], Mapping[str, Signature]]  # path, source -> by name within the file


@dataclass(frozen=True, slots=True)
class SignedNode:
    """A node, named as the reader names it, with the lines of its signature (1-based inclusive)."""

    path: str
    name: str
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class _Step:
    """One commit's version of a file, and the version before it; paths from the work tree's root."""

    commit: int
    path: str
    path_before: str | None  # None: the commit created the file


def last_changes(
    git: Git, store: HistoryStore, history: History, nodes: Sequence[SignedNode], read: SignatureReader
) -> tuple[Ints, set[int]]:
    """Per node the number of the newest commit within the horizon that changed its signature to others' harm.

    UNATTRIBUTED when none did. A commit that brought the name into the file changed nothing that anybody could have
    relied on under it, and ends the search. What the work tree changes is compared with HEAD and not remembered.
    The second value is the nodes of which a version cannot be read: what lines say of them stands.
    """
    found = np.full(len(nodes), UNATTRIBUTED, np.int32)
    unsure: set[int] = set()
    patches = _patches_by_path(store, history, {node.path for node in nodes})
    open_questions = {row: _steps(patches, history, node) for row, node in enumerate(nodes)}
    while open_questions:
        asked = {row: step for row, steps in open_questions.items() if (step := next(steps, None)) is not None}
        open_questions = {row: open_questions[row] for row in asked}
        verdicts = _verdicts(git, store, history, nodes, asked, read)
        unsure |= asked.keys() - verdicts.keys()
        for row, step in asked.items():
            verdict = verdicts.get(row, True)
            if verdict is None or verdict:
                del open_questions[row]
            if verdict:
                found[row] = step.commit
    return found, unsure


def _patches_by_path(store: HistoryStore, history: History, paths: set[str]) -> Mapping[bytes, Sequence[StoredPatch]]:
    """All patches that these files' lines come from, by the name the file had after each, newest first."""
    places = np.full(len(history.commits.times), -1, np.int32)
    places[history.chain] = np.arange(len(history.chain))
    full_paths = [_bytes(history.folder + path) for path in sorted(paths)]
    found: dict[bytes, list[StoredPatch]] = {}
    for stored in store.patches_of(full_paths, places):
        found.setdefault(stored.patch.path, []).append(stored)
    return found


def _steps(patches: Mapping[bytes, Sequence[StoredPatch]], history: History, node: SignedNode) -> Iterator[_Step]:
    """The commits that touched the signature's lines, newest first, with the file's name at each."""
    lines = history.files.get(node.path)
    if lines is None:
        return
    touches = lines.touches
    hit = touches[(touches[:, 1] <= node.last_line) & (touches[:, 2] >= node.first_line), 0]
    touching = set(hit[history.positions_of(hit) < len(history.chain)].tolist())
    full_path = history.folder + node.path
    if WORK_TREE in touching:
        yield _Step(WORK_TREE, full_path, full_path)
    for stored in life(patches, _bytes(full_path)):
        patch = stored.patch
        if stored.commit in touching:
            before = None if patch.change is Change.ADDED else _text(patch.source or patch.path)
            yield _Step(stored.commit, _text(patch.path), before)


def life(patches: Mapping[bytes, Sequence[StoredPatch]], path: bytes) -> Iterator[StoredPatch]:
    """One file's patches back to its creation, through its renames."""
    position, following = -1, True
    while following:
        following = False
        for stored in patches.get(path, ()):
            if stored.position > position:
                yield stored
                if stored.patch.change is Change.ADDED:
                    return
                if stored.patch.source is not None:
                    path, position, following = stored.patch.source, stored.position, True
                    break


def _verdicts(
    git: Git,
    store: HistoryStore,
    history: History,
    nodes: Sequence[SignedNode],
    asked: Mapping[int, _Step],
    read: SignatureReader,
) -> dict[int, bool | None]:
    """Per row: True changed, False did not, None the name was not there before; no entry where none can tell."""
    verdicts: dict[int, bool | None] = {}
    unknown: dict[int, _Step] = {}
    for row, step in asked.items():
        if step.path_before is None:
            verdicts[row] = None
        elif step.commit != WORK_TREE and (kept := store.signature_verdict(step.commit, step.path, nodes[row].name)):
            verdicts[row] = kept[0]
        else:
            unknown[row] = step
    signatures = _signatures(git, store, history, unknown.values(), read)
    with store.transaction():
        for row, step in unknown.items():
            before, after = signatures[step]
            if before is None or after is None:
                continue
            name = nodes[row].name
            verdict = None if name not in before else not _serves(after.get(name), before[name])
            verdicts[row] = verdict
            if step.commit != WORK_TREE:
                store.keep_signature_verdict(step.commit, step.path, name, verdict)
    return verdicts


def _serves(now: Signature | None, before: Signature) -> bool:
    return now is not None and now.serves_as(before)


def _signatures(
    git: Git, store: HistoryStore, history: History, steps: Iterable[_Step], read: SignatureReader
) -> dict[_Step, tuple[Mapping[str, Signature] | None, Mapping[str, Signature] | None]]:
    """The signatures of each step's file before and after, None where git has lost it; every version is read once."""
    wanted: dict[_Step, tuple[str, str]] = {}
    for step in sorted(set(steps), key=lambda step: (step.path, step.commit)):
        before = f"{step.path_before}"
        if step.commit == WORK_TREE:
            wanted[step] = (f"{history.head}:{before}", "")
        else:
            id_ = store.commit(step.commit)[0].id
            wanted[step] = (f"{id_}^1:{before}", f"{id_}:{step.path}")
    names = sorted({name for pair in wanted.values() for name in pair if name})
    versions = {name: read(name.partition(":")[2], blob) for name, blob in read_blobs(git, names)}
    for step in wanted:
        if step.commit == WORK_TREE:
            file = git.work_tree / step.path
            versions[step.path] = read(step.path, file.read_bytes()) if file.is_file() else {}
    return {step: (versions.get(before), versions.get(after or step.path)) for step, (before, after) in wanted.items()}


def read_blobs(git: Git, names: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """The contents of `commit:path` names; those that git has not, or cannot be asked for, are left out."""
    names = [name for name in names if "\n" not in name]
    for begin in range(0, len(names), BLOBS_PER_CALL):
        batch = names[begin : begin + BLOBS_PER_CALL]
        request = "".join(f"{name}\n" for name in batch).encode("utf-8", "surrogateescape")
        answer, at = git.run("cat-file", "--batch", input=request), 0
        for name in batch:
            header_end = answer.index(b"\n", at)
            header = answer[at:header_end].rsplit(b" ", 2)
            at = header_end + 1
            if header[-1] != b"missing":
                size = int(header[-1])
                yield name, answer[at : at + size]
                at += size + 1


def _bytes(path: str) -> bytes:
    return path.encode("utf-8", "surrogateescape")


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogateescape")
