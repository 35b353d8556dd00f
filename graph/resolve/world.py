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

Of most files only the entry is held. Facts are decoded when somebody looks into the file, and the oldest decoded
ones are let go of when they get too many; a file of an earlier generation is fetched from wherever that keeps it.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from ctxsearch.graph.facts import Definition, EncodedFacts, FileFacts, decode_facts, encode_facts
from ctxsearch.graph.model import CALLABLE_KINDS, TYPE_KINDS, NodeFlag, NodeKind
from ctxsearch.graph.resolve.surface import surface, visible_names
from ctxsearch.graph.resolve.tables import FileTable

Key = tuple[str, ...]
Fetch = Callable[[str], bytes]  # encoded facts of a file
Place = tuple[str, int]  # path, definition index
Offer = tuple[str, int, int, str]  # name, definition index, NodeKind, owner: the name before it in its qualified name

# Encoded facts whose tables stay decoded; decoded they take some twelve times as much (bench/index_speed.py).
MAX_DECODED_BYTES = 12 << 20
MAX_STABLE_NAMES = 50_000  # definitions whose stable names are remembered; some 200 bytes each
MAX_KEY_IDS = 200_000  # keys whose numbers are remembered; computing one again takes a microsecond

FAMILIES = {"typescript": "javascript", "tsx": "javascript", "cpp": "c"} | dict.fromkeys(
    ("gomod", "json", "toml"), "manifest"
)
_SHARED_SCOPE = frozenset(
    {"go", "c", "cpp", "ruby"}
)  # files of a package see one another's variables without an import
_ATTACHED = frozenset({"rust"})  # constants of a type stand outside of it, in impl blocks of any file
_OPEN_ENUMS = frozenset({"c", "cpp"})  # an enum's constants are in scope where the enum is; these are STATIC there
_NAMED_KINDS = CALLABLE_KINDS | TYPE_KINDS
_OFFERED_KINDS = _NAMED_KINDS | {NodeKind.VARIABLE}
_ANONYMOUS = int(NodeFlag.ANONYMOUS)
_STATIC = int(NodeFlag.STATIC)


def family(language: str) -> str:
    """Languages that may call one another without a bridge."""
    return FAMILIES.get(language, language)


def key_id(key: Key) -> int:
    """A key as a number."""
    text = "\0".join(key).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")


class Entry(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What the indexes over all files need of one file: enough to take it in without decoding its facts."""

    language: str
    package: str
    offered: tuple[Offer, ...]  # what any file may look for by its name
    flags: int  # NodeFlag, of the whole file


class _Offer(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The beginning of a `Definition`."""

    kind: NodeKind
    name: str
    qualified_name: str
    parent: int
    start_line: msgspec.Raw
    end_line: msgspec.Raw
    start: msgspec.Raw
    end: msgspec.Raw
    name_line: msgspec.Raw
    flags: int


class _Offers(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """`FileFacts`, of which most is passed over."""

    path: msgspec.Raw
    language: str
    line_count: msgspec.Raw
    definitions: tuple[_Offer, ...]
    exprs: msgspec.Raw
    assigns: msgspec.Raw
    imports: msgspec.Raw
    exports: msgspec.Raw
    references: msgspec.Raw
    package: str
    doc: msgspec.Raw
    flags: int


class _Named(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """The very beginning of a `Definition`."""

    kind: int
    name: msgspec.Raw
    qualified_name: str


class _Names(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """`FileFacts` up to the definitions' names; decoding passes over the rest."""

    path: msgspec.Raw
    language: msgspec.Raw
    line_count: msgspec.Raw
    definitions: tuple[_Named, ...]


_offers = msgspec.msgpack.Decoder(_Offers)
_names = msgspec.msgpack.Decoder(_Names)


def read_entry(encoded: bytes) -> Entry:
    """`entry_of` for encoded facts, in a fraction of the time that decoding them takes."""
    return entry_of(_offers.decode(encoded))


def read_stable_names(encoded: bytes) -> dict[str, int]:
    """The definitions of encoded facts by `FileTable.stable_name`, likewise."""
    found: dict[str, int] = {}
    ordinals: dict[str, int] = {}
    for index, definition in enumerate(_names.decode(encoded).definitions):
        name = f"{definition.kind}:{definition.qualified_name}"
        ordinal = ordinals[name] = ordinals.get(name, -1) + 1
        found[f"{name}#{ordinal}"] = index
    return found


def entry_of(facts: FileFacts | _Offers) -> Entry:
    """The entry of a file."""
    return Entry(facts.language, facts.package, tuple(_offered(facts)), int(facts.flags))


class World:
    """Every file's facts. Written only by `Resolver`, through `replace` and `load`."""

    def __init__(self, fetch: Fetch | None = None) -> None:
        self._fetch = fetch  # for files that were taken in by their entry
        self._encoded: dict[str, bytes] = {}
        self._entries: dict[str, Entry] = {}
        self.tables: dict[str, FileTable] = {}  # those decoded now; read by evaluators, filled by `table`
        self._weights: dict[str, int] = {}  # encoded bytes of the decoded
        self._weight = 0
        self._decoded: dict[str, int] = {}  # how often, per file; of all files ever decoded
        self._named: dict[tuple[str, str, int], list[tuple[str, int, str]]] = defaultdict(
            list
        )  # by family, name and NodeKind: path, definition index, owner
        self._groups: set[str] = set()  # families that some file belonged to
        self._packages: dict[tuple[str, str], set[str]] = defaultdict(set)
        self._basenames: dict[str, set[str]] = defaultdict(set)
        self._directories: dict[str, set[str]] = defaultdict(set)
        self._sorted: dict[Key, Sequence[str]] = {}  # answers in order, until a file changes
        self._places: dict[tuple[str, str, frozenset[NodeKind]], Sequence[Place]] = {}
        self._owned: dict[tuple[str, str], Mapping[str, Sequence[Place]]] = {}  # the same by owner
        self._housed: dict[str, dict[str, list[str]]] = {}  # by file name, then the name of the directory
        self._stable_names: dict[str, dict[str, int]] = {}  # of files that are not decoded
        self._stable_count = 0
        self._key_ids: dict[Key, int] = {}
        self.flows: dict[Key, dict[str, tuple[str, ...]]] = defaultdict(dict)  # args key -> file -> stable values
        self._flowed: dict[Key, Sequence[str]] = {}  # of all files, until one says something else: some are long
        self.reads: set[int] = set()  # of the resolution under way; replaced by whoever starts one

    # -- recorded look-ups

    def record(self, *key: str) -> None:
        known = self._key_ids.get(key)
        self.reads.add(self.key_id(key) if known is None else known)

    def key_id(self, key: Key) -> int:
        known = self._key_ids.get(key)
        if known is None:
            if len(self._key_ids) >= MAX_KEY_IDS:
                self._key_ids.clear()
            known = self._key_ids[key] = key_id(key)
        return known

    def exists(self, path: str) -> bool:
        self.record("file", path)
        return path in self._entries

    def with_basename(self, filename: str) -> list[str]:
        """Paths of the files of that name, sorted."""
        self.record("base", filename)
        return self._in_order(("base", filename), self._basenames.get(filename, ()))

    def in_directory_called(self, name: str, filename: str) -> Sequence[str]:
        """Of the files of that name, those below the top whose own directory has that name, sorted."""
        self.record("base", filename)
        known = self._housed.get(filename)
        if known is None:
            known = self._housed[filename] = defaultdict(list)
            for path in sorted(self._basenames.get(filename, ())):
                around, _, directory = path.rpartition("/")[0].rpartition("/")
                if around:
                    known[directory].append(path)
        return known.get(name, ())

    def in_directory(self, directory: str) -> list[str]:
        """Paths of the files directly in a directory, sorted."""
        self.record("dir", directory)
        return self._in_order(("dir", directory), self._directories.get(directory, ()))

    def package_files(self, language: str, package: str) -> list[str]:
        """Paths of the files that declare `package`, sorted."""
        group = family(language)
        self.record("package", group, package)
        return self._in_order(("package", group, package), self._packages.get((group, package), ()))

    def named(self, language: str, name: str, kinds: frozenset[NodeKind] = _OFFERED_KINDS) -> list[Place]:
        """Every callable or type of that name in the language's family, as (path, definition index), sorted.

        Ask for the kinds that can be meant: telling them apart by their definitions decodes every file that has one,
        and a common name (a test's `setup`) is in all of them.
        """
        group = family(language)
        self.record("named", group, name)
        key = (group, name, kinds)
        known = self._places.get(key)
        if known is None:
            known = self._places[key] = [place[:2] for place in self._of_kinds([group], name, kinds)]
        return list(known)

    def named_in(self, language: str, owner: str, name: str) -> Sequence[Place]:
        """The same of any kind, as far as their qualified names have `owner` before the name ("": nothing)."""
        group = family(language)
        self.record("named", group, name)
        known = self._owned.get((group, name))
        if known is None:
            by_owner: dict[str, list[Place]] = defaultdict(list)
            for path, index, around in self._of_kinds([group], name, _OFFERED_KINDS):
                by_owner[around].append((path, index))
            known = self._owned[group, name] = dict(by_owner)
        return known.get(owner, ())

    def _of_kinds(self, groups: Iterable[str], name: str, kinds: Iterable[NodeKind]) -> list[tuple[str, int, str]]:
        return sorted(place for group in groups for kind in kinds for place in self._named.get((group, name, kind), ()))

    def named_anywhere(self, name: str) -> list[Place]:
        """Every callable or type of that name in any language, as (path, definition index), sorted."""
        self.record("anywhere", name)
        return [place[:2] for place in self._of_kinds(self._groups, name, _OFFERED_KINDS)]

    def _in_order(self, key: Key, answer: Iterable[str]) -> list[str]:
        known = self._sorted.get(key)
        if known is None:
            known = self._sorted[key] = sorted(answer)
        return list(known)

    def passed(self, path: str, stable_name: str, position: int) -> Sequence[str]:
        """What callers pass for a parameter: encoded values, sorted by the calling file."""
        return self.flowed("args", path, stable_name, str(position))

    def flowed(self, *key: str) -> Sequence[str]:
        """What files noted under a flow key ("args", "via", "held": calls.py), sorted by file."""
        self.record(*key)
        known = self._flowed.get(key)
        if known is None:
            by_file = self.flows.get(key, {})
            known = self._flowed[key] = [value for caller in sorted(by_file) for value in by_file[caller]]
        return known

    def note(self, file: str, flows: Mapping[Key, tuple[str, ...]]) -> None:
        """What a file says under its flow keys."""
        for key, values in flows.items():
            self.flows[key][file] = values
        self._flowed.clear()

    def unnote(self, file: str, keys: Iterable[Key]) -> None:
        """A file says nothing under these keys any more."""
        for key in keys:
            self.flows[key].pop(file, None)
        self._flowed.clear()

    # -- unrecorded access: for the file being resolved, and after a recorded look-up

    def __contains__(self, path: str) -> bool:
        return path in self._entries

    def paths(self) -> list[str]:
        return sorted(self._entries)

    def language(self, path: str) -> str:
        return self._entries[path].language

    def languages(self) -> list[str]:
        """Of all files, sorted."""
        return sorted({entry.language for entry in self._entries.values()})

    def flags(self, path: str) -> int:
        return self._entries[path].flags

    def entry(self, path: str) -> Entry:
        return self._entries[path]

    def table(self, path: str) -> FileTable:
        """The file's tables; callers record what they read of them (`Evaluator.touch`)."""
        table = self.tables.get(path)
        if table is None:
            encoded = self._facts_of(path)
            table = FileTable(decode_facts(encoded))
            self._keep(table, len(encoded))
        return table

    def with_stable_name(self, path: str, stable_name: str) -> int:
        """`FileTable.with_stable_name`. What callers pass is named by the files of all callers: decoding those for
        this alone would take longer than everything else that the second phase decodes."""
        table = self.tables.get(path)
        if table is not None:
            return table.with_stable_name(stable_name)
        names = self._stable_names.get(path)
        if names is None:
            names = read_stable_names(self._facts_of(path))
            if self._stable_count > MAX_STABLE_NAMES:
                self._stable_names.clear()
                self._stable_count = 0
            self._stable_names[path] = names
            self._stable_count += len(names)
        return names.get(stable_name, -1)

    def _facts_of(self, path: str) -> bytes:
        encoded = self._encoded.get(path)
        if encoded is None and self._fetch is not None:
            encoded = self._fetch(path)
        if encoded is None:
            raise KeyError(path)
        return encoded

    def _keep(self, table: FileTable, weight: int) -> None:
        """Hold a decoded file; half of them go when there are too many: those that were needed again least often,
        for what every file imports is needed again and again."""
        if self._weight + weight > MAX_DECODED_BYTES:
            for path in sorted(self.tables, key=self._decoded.__getitem__):
                self._let_go(path)
                if self._weight <= MAX_DECODED_BYTES // 2:
                    break
        self._decoded[table.path] = self._decoded.get(table.path, 0) + 1
        self.tables[table.path] = table
        self._weights[table.path] = weight
        self._weight += weight

    def _let_go(self, path: str) -> None:
        self.tables.pop(path, None)
        self._weight -= self._weights.pop(path, 0)

    # -- change

    def replace(self, changed: Mapping[str, FileFacts], deleted: Iterable[str]) -> set[int]:
        """Take over new versions of files; the ids of the keys whose answers may differ now."""
        first = not self._entries  # then nobody has read anything
        keys: set[Key] = set()
        for path in deleted:
            if path in self._entries:
                keys |= changed_keys(self.table(path).facts, None)
                self._forget(path)
        encoded = changed.encoded if isinstance(changed, EncodedFacts) else {}
        for path, facts in changed.items():
            old = self.table(path).facts if path in self._entries else None
            if not first:
                keys |= changed_keys(old, facts)
            if old is not None:
                self._forget(path)
            self._encoded[path] = encoded.get(path) or encode_facts(facts)
            self.load(path, entry_of(facts))
        return {self.key_id(key) for key in keys}

    def load(self, path: str, item: Entry) -> None:
        """Take in a file as part of a state that was resolved before: no keys change. Its facts are fetched."""
        group = family(item.language)
        self._entries[path] = item
        self._groups.add(group)
        for name, index, kind, owner in item.offered:
            self._named[group, name, kind].append((path, index, owner))
        if item.package:
            self._packages[group, item.package].add(path)
        self._basenames[path.rsplit("/", 1)[-1]].add(path)
        self._directories[path.rpartition("/")[0]].add(path)
        self._sorted.clear()
        self._housed.clear()
        self._places.clear()
        self._owned.clear()

    def _forget(self, path: str) -> None:
        item = self._entries.pop(path)
        group = family(item.language)
        for name, kind in {(name, kind) for name, _, kind, _ in item.offered}:
            kept = [place for place in self._named[group, name, kind] if place[0] != path]
            self._named[group, name, kind] = kept
        if item.package:
            self._packages[group, item.package].discard(path)
        self._basenames[path.rsplit("/", 1)[-1]].discard(path)
        self._directories[path.rpartition("/")[0]].discard(path)
        self._encoded.pop(path, None)
        self._stable_names.pop(path, None)
        self._let_go(path)
        self._sorted.clear()
        self._housed.clear()
        self._places.clear()
        self._owned.clear()


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
    before, after = map(_counted_offers, (old, new))
    changed = {offer for offer in before.keys() | after.keys() if before[offer] != after[offer]}
    return {("named", group, name) for group, name, _ in changed} | {("anywhere", name) for _, name, _ in changed}


def _counted_offers(facts: FileFacts | None) -> Counter[tuple[str, str, str]]:
    """What a file offers, without positions; how often, since what is there twice may mean neither."""
    offers: Counter[tuple[str, str, str]] = Counter()
    if facts is not None:
        group = family(facts.language)
        for name, index, _, _ in _offered(facts):
            definition = facts.definitions[index]
            offers[group, name, f"{int(definition.kind)}:{definition.qualified_name}:{int(definition.flags)}"] += 1
    return offers


def _offered(facts: FileFacts | _Offers) -> list[Offer]:
    definitions: Sequence[Definition | _Offer] = facts.definitions
    language = facts.language
    return [
        (definition.name, index, int(definition.kind), _owner(definition.qualified_name))
        for index, definition in enumerate(definitions)
        if (
            definition.kind in _NAMED_KINDS
            or (definition.kind is NodeKind.VARIABLE and _is_offered_variable(language, definition))
        )
        and not definition.flags & _ANONYMOUS
    ]


def _is_offered_variable(language: str, definition: Definition | _Offer) -> bool:
    """Whether other files see a variable without an import of it."""
    if definition.parent < 0:
        return language in _SHARED_SCOPE or (language in _ATTACHED and definition.qualified_name != definition.name)
    return language in _OPEN_ENUMS and bool(definition.flags & _STATIC)


def _owner(qualified_name: str) -> str:
    around = qualified_name.rpartition(".")[0]
    return around.rpartition(".")[2] if around else ""
