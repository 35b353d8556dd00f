"""All files' facts, and every look-up across files, recorded by key.

A resolution of one file is a function of its own facts and of the answers to the keys that it read. `World` hands
out answers and remembers the keys; `changed_keys` says which answers differ between two versions of a file. That is
the whole of incremental resolution: re-resolve the changed files and the readers of changed keys.

Key families: ("file", path) existence; ("name", path, top-level name) everything evaluation can see of that symbol;
("named", family, name) who defines it in that family, ("anywhere", name) in any; ("package", family, package) its
files; ("base", file name) files of that name; ("dir", directory) files directly in it; ("args", path, stable name,
position) what callers pass, with ("via", ...) and ("held", ...) for what reaches a function that is itself passed
around; ("over", path, stable name) which methods override that one. Keys are stored as 64-bit hashes: a collision
causes a needless re-resolution, never a missed one.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping

from ctxsearch.graph.facts import EncodedFacts, FileFacts, decode_facts, encode_facts
from ctxsearch.graph.model import CALLABLE_KINDS, TYPE_KINDS, NodeFlag, NodeKind
from ctxsearch.graph.resolve.surface import surface, visible_names
from ctxsearch.graph.resolve.tables import FileTable

Key = tuple[str, ...]
MAX_DECODED = 4000  # files whose tables stay decoded; the rest is held as compact bytes

FAMILIES = {"typescript": "javascript", "tsx": "javascript", "cpp": "c"} | dict.fromkeys(
    ("gomod", "json", "toml"), "manifest"
)
_SHARED_SCOPE = frozenset(
    {"go", "c", "cpp", "ruby"}
)  # files of a package see one another's variables without an import
_NAMED_KINDS = CALLABLE_KINDS | TYPE_KINDS


def family(language: str) -> str:
    """Languages that may call one another without a bridge."""
    return FAMILIES.get(language, language)


class World:
    """Every file's facts. Written only by `Resolver.update`, through `replace`."""

    def __init__(self) -> None:
        self._encoded: dict[str, bytes] = {}
        self._tables: dict[str, FileTable] = {}
        self._languages: dict[str, str] = {}
        self._named: dict[tuple[str, str], dict[str, list[int]]] = defaultdict(dict)
        self._groups: set[str] = set()  # families that some file belonged to
        self._packages: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._basenames: dict[str, set[str]] = defaultdict(set)
        self._directories: dict[str, set[str]] = defaultdict(set)
        self._key_ids: dict[Key, int] = {}
        self.flows: dict[Key, dict[str, tuple[str, ...]]] = defaultdict(dict)  # args key -> file -> stable values
        self.reads: set[int] = set()  # of the resolution under way; replaced by whoever starts one

    # -- recorded look-ups

    def record(self, *key: str) -> None:
        self.reads.add(self.key_id(key))

    def key_id(self, key: Key) -> int:
        known = self._key_ids.get(key)
        if known is None:
            text = "\0".join(key).encode("utf-8", "surrogatepass")
            known = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")
            self._key_ids[key] = known
        return known

    def exists(self, path: str) -> bool:
        self.record("file", path)
        return path in self._encoded

    def with_basename(self, filename: str) -> list[str]:
        """Paths of the files of that name, sorted."""
        self.record("base", filename)
        return sorted(self._basenames.get(filename, ()))

    def in_directory(self, directory: str) -> list[str]:
        """Paths of the files directly in a directory, sorted."""
        self.record("dir", directory)
        return sorted(self._directories.get(directory, ()))

    def package_files(self, language: str, package: str) -> list[str]:
        """Paths of the files that declare `package`, sorted."""
        group = family(language)
        self.record("package", group, package)
        return sorted(self._packages.get((group, package), ()))

    def named(self, language: str, name: str) -> list[tuple[str, int]]:
        """Every callable or type of that name in the language's family, as (path, definition index), sorted."""
        group = family(language)
        self.record("named", group, name)
        found = self._named.get((group, name), {})
        return [(path, index) for path in sorted(found) for index in found[path]]

    def named_anywhere(self, name: str) -> list[tuple[str, int]]:
        """Every callable or type of that name in any language, as (path, definition index), sorted."""
        self.record("anywhere", name)
        found = [item for group in self._groups for item in self._named.get((group, name), {}).items()]
        return [(path, index) for path, indices in sorted(found) for index in indices]

    def passed(self, path: str, stable_name: str, position: int) -> list[str]:
        """What callers pass for a parameter: encoded values, sorted by the calling file."""
        return self.flowed("args", path, stable_name, str(position))

    def flowed(self, *key: str) -> list[str]:
        """What files noted under a flow key ("args", "via", "held": calls.py), sorted by file."""
        self.record(*key)
        by_file = self.flows.get(key, {})
        return [value for caller in sorted(by_file) for value in by_file[caller]]

    # -- unrecorded access: for the file being resolved, and after a recorded look-up

    def __contains__(self, path: str) -> bool:
        return path in self._encoded

    def paths(self) -> list[str]:
        return sorted(self._encoded)

    def language(self, path: str) -> str:
        return self._languages[path]

    def table(self, path: str) -> FileTable:
        """The file's tables; callers record what they read of them (`Evaluator.touch`)."""
        table = self._tables.get(path)
        return table if table is not None else self._keep(FileTable(decode_facts(self._encoded[path])))

    def _keep(self, table: FileTable) -> FileTable:
        """Hold a decoded file; the longest-held half goes when there are too many."""
        if len(self._tables) >= MAX_DECODED:
            for path in list(self._tables)[: MAX_DECODED // 2]:
                del self._tables[path]
        self._tables[table.path] = table
        return table

    # -- change

    def replace(self, changed: Mapping[str, FileFacts], deleted: Iterable[str]) -> set[int]:
        """Take over new versions of files; the ids of the keys whose answers may differ now."""
        keys: set[Key] = set()
        for path in deleted:
            if path in self._encoded:
                keys |= changed_keys(self.table(path).facts, None)
                self._forget(path)
        encoded = changed.encoded if isinstance(changed, EncodedFacts) else {}
        for path, facts in changed.items():
            old = self.table(path).facts if path in self._encoded else None
            keys |= changed_keys(old, facts)
            if old is not None:
                self._forget(path)
            self._adopt(facts, encoded.get(path))
        return {self.key_id(key) for key in keys}

    def load(self, facts: FileFacts, encoded: bytes | None = None) -> None:
        """Take in a file as part of a state that was resolved before: no keys change."""
        self._adopt(facts, encoded)

    def _adopt(self, facts: FileFacts, encoded: bytes | None) -> None:
        """`encoded` are the same facts, when the caller has them that way already: one copy is enough."""
        path, group = facts.path, family(facts.language)
        self._encoded[path] = encoded or encode_facts(facts)
        self._languages[path] = facts.language
        self._groups.add(group)
        for name, index in _offered(facts):
            self._named[group, name].setdefault(path, []).append(index)
        if facts.package:
            self._packages[group, facts.package].add(path)
        self._basenames[path.rsplit("/", 1)[-1]].add(path)
        self._directories[path.rpartition("/")[0]].add(path)
        self._keep(FileTable(facts))

    def _forget(self, path: str) -> None:
        facts = self.table(path).facts
        group = family(facts.language)
        for name, _ in _offered(facts):
            self._named[group, name].pop(path, None)
        if facts.package:
            self._packages[group, facts.package].discard(path)
        self._basenames[path.rsplit("/", 1)[-1]].discard(path)
        self._directories[path.rpartition("/")[0]].discard(path)
        del self._encoded[path], self._languages[path]
        self._tables.pop(path, None)


def changed_keys(old: FileFacts | None, new: FileFacts | None) -> set[Key]:
    """Keys whose answer differs between two versions of one file (None: the file is not there)."""
    some = new or old
    assert some is not None
    path, keys = some.path, set[Key]()
    if old is None or new is None:
        keys |= {("file", path), ("base", path.rsplit("/", 1)[-1]), ("dir", path.rpartition("/")[0])}
    if (old and family(old.language)) != (new and family(new.language)) or (old and old.package) != (
        new and new.package
    ):
        keys |= {("package", family(facts.language), facts.package) for facts in (old, new) if facts and facts.package}
    if old is None or new is None:
        keys |= {("name", path, name) for name in visible_names(FileTable(some))}
    else:
        before, after = surface(old), surface(new)
        keys |= {("name", path, name) for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    keys |= _changed_offers(old, new)
    return keys


def _changed_offers(old: FileFacts | None, new: FileFacts | None) -> set[Key]:
    sides: list[set[tuple[str, str, str]]] = []
    for facts in (old, new):
        side: set[tuple[str, str, str]] = set()
        if facts is not None:
            group = family(facts.language)
            for name, index in _offered(facts):
                definition = facts.definitions[index]
                side.add((group, name, f"{int(definition.kind)}:{definition.qualified_name}:{int(definition.flags)}"))
        sides.append(side)
    changed = sides[0] ^ sides[1]
    return {("named", group, name) for group, name, _ in changed} | {("anywhere", name) for _, name, _ in changed}


def _offered(facts: FileFacts) -> list[tuple[str, int]]:
    return [
        (definition.name, index)
        for index, definition in enumerate(facts.definitions)
        if not definition.flags & NodeFlag.ANONYMOUS
        and (
            definition.kind in _NAMED_KINDS
            or (facts.language in _SHARED_SCOPE and definition.parent < 0 and definition.kind is NodeKind.VARIABLE)
        )
    ]
