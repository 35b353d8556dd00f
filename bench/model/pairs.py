"""Training pairs: what a doc comment says first, and the node it describes as search would embed it, without it.

    bench/model/pairs.py ARCHIVES --out PAIRS [--keep-out DIR ...] [--seconds N]

Reads the packages that fetch.py brought with the project's own extractors; permissively licensed files only.
PAIRS/parts keeps one file per package, so that a run stopped after --seconds goes on where it ended. When all are
there they become PAIRS/pairs.jsonl.gz: no code twice, no sentence more than MAX_REPEATS times, no code that occurs
beneath a --keep-out directory (the repositories that evaluation asks about). Every package is read in a process of
its own: one that crashes or hangs a parser costs itself only.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import multiprocessing
import re
import resource
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from archives import Member, Package, members, packages
from fetch import HERE, excluded, read_exclusions
from licences import is_permissive
from nodes import file_texts

from ctxsearch.graph.model import NodeDocument, NodeFlag, NodeKind
from ctxsearch.indexer.classify import file_flags, is_binary, is_minified_name, is_minified_text
from ctxsearch.indexer.languages import LANGUAGES, detect
from ctxsearch.indexer.parse import parse
from ctxsearch.search.documents import passages

MIN_WORDS, MAX_WORDS = 3, 50
MIN_LINES = 4  # of code beside its comment: shorter ones say little that the name does not
MIN_LETTERS = 40
MAX_REPEATS = 4
MAX_PER_FILE = 25
MAX_PER_PACKAGE = 600  # many packages teach more words than one large
MAX_FILES = 500
PACKAGE_SECONDS = 200  # of processor time
WORKERS = 2
MAX_DOC_CHARS = 1_500

_SKIPPED_FLAGS = NodeFlag.TEST | NodeFlag.GENERATED | NodeFlag.VENDORED
_KINDS = frozenset(
    {NodeKind.MODULE, NodeKind.CLASS, NodeKind.INTERFACE, NodeKind.FUNCTION, NodeKind.METHOD}
    | {NodeKind.CONSTRUCTOR, NodeKind.MACRO, NodeKind.TYPE_ALIAS}
)
_LETTERS = re.compile(r"[^\W\d_]+")
_MARKUP = re.compile(r"\{@\w+\s+([^}]*)\}|</?\w+[^>]*>|:\w+:`~?([^`]*)`")
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|\n\s*\n|\n\s*[@\\:]\w+|\n\s*[-*#=]{2,}")
_BOILERPLATE = re.compile(
    r"copyright|licen[cs]ed?\b|all rights|inheritdoc|auto-?generated|\btodo\b|\bfixme\b|deprecated|see also"
    r"|https?:|^[@:\\]|constructor\.?$|default implementation|@author|-\*-|eslint|pylint|noqa"
    r"|^\W*(see|note|usage|example)\b",
    re.IGNORECASE,
)


def letters(text: str) -> str:
    """What of a text two spellings of it share."""
    return "".join(_LETTERS.findall(text)).lower()


def code_digest(code: str) -> str:
    """The same for code that differs in blanks, digits and punctuation only."""
    return hashlib.blake2b(letters(code).encode(), digest_size=8).hexdigest()


def first_sentence(doc: str, name: str) -> str:
    """What a doc comment says first, without markup and without the name that some languages begin it with.

    Empty when it says nothing: too short, too long, a legal notice, not prose.
    """
    plain = _MARKUP.sub(lambda found: found[1] or found[2] or " ", doc.strip())
    end = _SENTENCE_END.search(plain)
    sentence = " ".join(plain[: end.start() if end else None].split())
    first, _, rest = sentence.partition(" ")
    if rest and letters(first) == letters(name):
        sentence = rest
    words = sentence.split()
    prose = sum(len(word) for word in _LETTERS.findall(sentence) if word.isascii())
    if not MIN_WORDS <= len(words) <= MAX_WORDS or prose < 0.6 * len(sentence) or _BOILERPLATE.search(sentence):
        return ""
    return sentence


def without_doc(body: str, doc: str) -> str:
    """The lines of a node that its comment does not consist of."""
    told = {letters(line) for line in doc.splitlines()} | {letters(doc)}
    return "\n".join(line for line in body.splitlines() if not (key := letters(line)) or key not in told)


def file_pairs(path: str, source: bytes) -> Iterator[dict[str, Any]]:
    """Every node of a file that says what it is; `sentence` is empty where it does not."""
    for text in file_texts(path, source):
        node, doc = text.document.node, text.document.doc
        if node.kind not in _KINDS or node.flags & NodeFlag.DECLARATION:
            continue
        code = without_doc(text.body, doc)
        if code.count("\n") + 1 < MIN_LINES or len(letters(code)) < MIN_LETTERS:
            continue
        sentence = first_sentence(doc, node.name)
        bare = NodeDocument(node, "", code)
        passage = next(passages(text._replace(document=bare, body=code)), None)
        if passage is None or (sentence and letters(sentence) in letters(passage.text)):
            continue
        yield {
            "language": node.language,
            "kind": node.kind.name.lower(),
            "path": path,
            "name": node.name,
            "sentence": sentence,
            "doc": doc[:MAX_DOC_CHARS],
            "text": passage.text,
            "digest": code_digest(code),
        }


def is_readable(path: str, licence: str) -> bool:
    """Source of a language with a grammar, not a test, free to use."""
    spec = detect(path, b"")
    return (
        spec is not None
        and bool(spec.grammar)
        and not file_flags(path, b"") & _SKIPPED_FLAGS
        and not is_minified_name(path)
        and is_permissive(licence)
    )


def is_handwritten(member: Member) -> bool:
    """Text that a person wrote."""
    content = member.content
    return not (is_binary(content) or is_minified_text(content) or file_flags(member.path, content) & _SKIPPED_FLAGS)


def _scattered(name: str) -> bytes:
    """A key that sorts without regard to alphabet or directory, the same on every run."""
    return hashlib.blake2b(name.encode("utf-8", "replace")).digest()


def package_pairs(package: Package) -> Iterator[dict[str, Any]]:
    """The pairs of one package, from files in an order that does not favour a directory."""
    found = sorted(members(package, is_readable), key=lambda one: _scattered(one.path))
    made = 0
    for member in filter(is_handwritten, found[:MAX_FILES]):
        told = [pair for pair in file_pairs(member.path, member.content) if pair["sentence"]]
        for pair in told[:MAX_PER_FILE]:
            yield {"package": f"{package.registry}/{package.name}", "licence": member.licence, **pair}
        made += len(told[:MAX_PER_FILE])
        if made >= MAX_PER_PACKAGE:
            return


def write_part(package: Package, part: Path) -> None:
    """One package's pairs, there wholly or not at all."""
    resource.setrlimit(resource.RLIMIT_CPU, (PACKAGE_SECONDS, PACKAGE_SECONDS))
    unfinished = part.with_suffix(".tmp")
    with gzip.open(unfinished, "wt", encoding="utf-8", compresslevel=3) as out:
        out.writelines(json.dumps(pair) + "\n" for pair in package_pairs(package))
    unfinished.rename(part)


def read_package(package: Package, part: Path) -> str:
    """Run `write_part` where it may crash or hang; what went wrong, or nothing."""
    process = multiprocessing.get_context("fork").Process(target=write_part, args=(package, part))
    process.start()
    process.join()
    if part.exists():
        return ""
    with gzip.open(part, "wt") as out:
        out.write("")
    return f"{package.registry}/{package.name}: no pairs, exit {process.exitcode}"


def read_packages(found: list[Package], parts: Path, seconds: float) -> bool:
    """Whether every package has its part now."""
    parts.mkdir(parents=True, exist_ok=True)
    for language in LANGUAGES:  # loaded once here, not again in every process
        for suffix in language.suffixes[:1]:
            parse(f"a{suffix}", b"\n")
    deadline = time.monotonic() + seconds

    def read(package: Package) -> bool:
        part = parts / f"{package.registry}-{package.name}.jsonl.gz"
        if part.exists():
            return True
        if time.monotonic() > deadline:
            return False
        problem = read_package(package, part)
        if problem:
            print(problem, flush=True)
        return True

    with ThreadPoolExecutor(WORKERS) as pool:
        done = list(pool.map(read, found))
    print(f"{sum(done)} of {len(done)} packages read", flush=True)
    return all(done)


def kept_out_digests(directories: Iterable[Path], known: Path) -> set[str]:
    """The digests of all code beneath directories, with a comment or without; `known` remembers them."""
    if known.exists():
        return set(known.read_text().split())
    found: set[str] = set()
    for directory in directories:
        for file in sorted(directory.rglob("*")):
            path = file.relative_to(directory).as_posix()
            spec = detect(path, b"")
            if spec is not None and spec.grammar and file.is_file() and file.stat().st_size <= 1_000_000:
                found.update(pair["digest"] for pair in file_pairs(path, file.read_bytes()))
    known.write_text("\n".join(sorted(found)))
    return found


def merge(parts: Path, out: Path, kept_out: set[str]) -> Counter[str]:
    """All parts as one file, without repeats and without what evaluation asks about; pairs per language."""
    sentences = Counter(_key(pair) for pair in _all_pairs(parts))
    seen = set(kept_out)
    counts: Counter[str] = Counter()
    with gzip.GzipFile(out, "wb", compresslevel=4, mtime=0) as stream:
        for pair in _all_pairs(parts):
            if sentences[_key(pair)] > MAX_REPEATS or pair["digest"] in seen:
                continue
            seen.add(pair["digest"])
            counts[pair["language"]] += 1
            stream.write((json.dumps(pair) + "\n").encode())
    return counts


def _key(pair: dict[str, Any]) -> int:
    return hash(letters(pair["sentence"]))


def _all_pairs(parts: Path) -> Iterator[dict[str, Any]]:
    for part in sorted(parts.glob("*.jsonl.gz")):
        with gzip.open(part, "rt", encoding="utf-8") as lines:
            yield from map(json.loads, lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archives", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--names", type=Path, default=HERE / "packages")
    parser.add_argument("--keep-out", type=Path, action="append", default=[])
    parser.add_argument("--seconds", type=float, default=1e9)
    options = parser.parse_args()
    patterns = read_exclusions(options.names)
    found = [package for package in packages(options.archives) if not excluded(package.name, patterns)]
    found.sort(key=lambda one: _scattered(f"{one.registry}/{one.name}"))  # a part of them is a fair sample too
    if read_packages(found, options.out / "parts", options.seconds):
        kept_out = kept_out_digests(options.keep_out, options.out / "kept-out.txt")
        counts = merge(options.out / "parts", options.out / "pairs.jsonl.gz", kept_out)
        print(sum(counts.values()), "pairs:", ", ".join(f"{name} {count}" for name, count in counts.most_common()))


if __name__ == "__main__":
    main()
