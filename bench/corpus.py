"""A whole corpus through the real parse and Resolver: what it holds, how much of it resolves, and that nothing raises.

    bench/corpus.py [DIR] [--every N]

DIR is any directory, by default the standard library of this interpreter; --every takes one file in N. Printed per
language: files, files with syntax errors, definitions, call sites, and the share of sites that lead to a definition of
the corpus, out of it (a library, or what has no definition to lead to: a class without constructor), or nowhere known.
An exception that parsing would turn into a file without definitions, or that resolution lets out, is counted and
printed; the exit status is 1 if there is any.
"""

from __future__ import annotations

import argparse
import sys
import sysconfig
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path

from ctxsearch.graph.facts import EncodedFacts, FileFacts, Op, encode_facts
from ctxsearch.graph.model import NodeFlag
from ctxsearch.graph.resolve.calls import Calls, find_flow_calls, find_site
from ctxsearch.graph.resolve.resolver import Resolver
from ctxsearch.indexer import parse as parsing
from ctxsearch.indexer.files import Limits, Skipped, list_files, read_source
from ctxsearch.indexer.languages import LanguageSpec

NOT_ITS_OWN = frozenset({"site-packages", "__pycache__"})  # what is installed in the standard library's folder
COLUMNS = ("files", "errors", "definitions", "sites", "resolved", "external", "unresolved")


class Exceptions:
    """What was raised, by file. `parse` hides it on purpose, so its extraction is listened to."""

    def __init__(self) -> None:
        self.count = 0
        self._extract = parsing._extract

    def note(self, path: str) -> None:
        self.count += 1
        print(f"EXCEPTION {path}\n{traceback.format_exc()}", flush=True)

    def extract(self, path: str, source: bytes, flags: NodeFlag, spec: LanguageSpec | None) -> FileFacts | None:
        """As parse's own, and heard."""
        try:
            return self._extract(path, source, flags, spec)
        except Exception:
            self.note(path)
            raise

    def __enter__(self) -> Exceptions:
        parsing._extract = self.extract
        return self

    def __exit__(self, *_: object) -> None:
        parsing._extract = self._extract


def parse_all(root: Path, every: int, counts: dict[str, Counter[str]]) -> EncodedFacts:
    """The facts of every file that indexing would take."""
    facts = {}
    paths = [entry.path for entry in list_files(root, Limits(), None).files]
    for path in [path for path in paths if NOT_ITS_OWN.isdisjoint(path.split("/"))][::every]:
        source = read_source(root, path, Limits())
        if isinstance(source, Skipped):
            continue
        found = parsing.parse(source.path, source.text, source.flags)
        facts[found.path] = encode_facts(found)
        own = counts[found.language]
        own.update(files=1, definitions=len(found.definitions), errors=bool(found.parse_errors))
    return EncodedFacts(facts)


def resolve_all(facts: Mapping[str, FileFacts], exceptions: Exceptions) -> Resolver:
    resolver = Resolver()
    try:
        resolver.update(facts)
    except Exception:  # which file it was, and whether there are more, is found out site by site
        exceptions.note("whole corpus")
    return resolver


def count_sites(resolver: Resolver, path: str, own: Counter[str]) -> None:
    evaluator = resolver.evaluator(path)
    evaluator.begin(path)
    table = evaluator.table(path)
    for index, expr in enumerate(table.facts.exprs):
        if expr.op is not Op.CALL and expr.op is not Op.NEW:
            continue
        found = Calls()
        find_site(evaluator, table, index, expr, found)
        if found.pending and not found.edges:
            found = find_flow_calls(evaluator, path, found.pending)
        outcome = "resolved" if found.edges else "unresolved" if found.unresolved else "external"
        own.update({"sites": 1, outcome: 1})


def show(counts: Mapping[str, Counter[str]]) -> None:
    print(f"{'language':<12}" + "".join(f"{column:>13}" for column in COLUMNS))
    total: Counter[str] = Counter()
    for language, own in sorted(counts.items(), key=lambda item: (-item[1]["files"], item[0])):
        show_line(language, own)
        total += own
    show_line("all", total)


def show_line(language: str, own: Counter[str]) -> None:
    plain = "".join(f"{own[column]:>13}" for column in COLUMNS[:4])
    shares = "".join(f"{own[column] / own['sites']:>13.1%}" if own["sites"] else f"{'-':>13}" for column in COLUMNS[4:])
    print(f"{language:<12}{plain}{shares}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path, nargs="?", default=Path(sysconfig.get_path("stdlib")))
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    began = time.perf_counter()
    with Exceptions() as exceptions:
        facts = parse_all(options.root.resolve(), options.every, counts)
        parsed = time.perf_counter()
        resolver = resolve_all(facts, exceptions)
        resolved = time.perf_counter()
        for path in sorted(facts):
            try:
                count_sites(resolver, path, counts[resolver.world.language(path)])
            except Exception:
                exceptions.note(path)
    show(counts)
    print(f"parse {parsed - began:.1f} s, resolve {resolved - parsed:.1f} s; {exceptions.count} exceptions")
    return 1 if exceptions.count else 0


if __name__ == "__main__":
    sys.exit(main())
