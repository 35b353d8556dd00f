"""What indexing spends its time on: one process over the same files as `bench/index_speed.py`, sampled.

    bench/index_profile.py ROOT [--every N] [--functions N]

Every file is parsed plainly, then parsed with its facts extracted and encoded, then the graph is resolved and
encoded as the catalog keeps it. A timer looks every four milliseconds of processor time at which function runs.
Printed: each phase as a multiple of plain parsing, and within it the share of every module and of the functions that
take most. What runs in compiled code (tree-sitter, msgspec, zlib) counts for the function that calls it.
"""

from __future__ import annotations

import argparse
import gc
import signal
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from ctxsearch.graph.blobs import encode_graph
from ctxsearch.graph.facts import EncodedFacts, encode_facts
from ctxsearch.graph.git import Git
from ctxsearch.graph.resolve.resolver import Resolver
from ctxsearch.indexer.files import Limits, Skipped, Source, list_files, read_source
from ctxsearch.indexer.languages import detect
from ctxsearch.indexer.languages.builder import parse_tree
from ctxsearch.indexer.parse import parse

TICK_SECONDS = 0.004  # what the kernel's clock grants


class Profile:
    """Samples of one phase: which function of which module was running."""

    def __init__(self) -> None:
        self.functions: Counter[tuple[str, str]] = Counter()
        self.seconds = 0.0

    @contextmanager
    def sampling(self) -> Iterator[None]:
        before = signal.signal(signal.SIGPROF, self._sample)
        began = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, TICK_SECONDS, TICK_SECONDS)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            self.seconds = time.process_time() - began
            signal.signal(signal.SIGPROF, before)

    def _sample(self, _number: int, frame: FrameType | None) -> None:
        if frame is not None:
            self.functions[Path(frame.f_code.co_filename).stem, frame.f_code.co_qualname] += 1

    def show(self, name: str, plain: float, most: int) -> None:
        total = sum(self.functions.values())
        print(f"\n{name}: {self.seconds:.1f} s, {self.seconds / plain:.1f} times plain parsing, {total} samples")
        modules: Counter[str] = Counter()
        for (module, _), count in self.functions.items():
            modules[module] += count
        for label, counts in (("modules", modules), ("functions", self.functions)):
            shown = [
                f"{count / total:.1%} {key if isinstance(key, str) else '.'.join(key)}"
                for key, count in sorted(counts.items(), key=lambda item: (-item[1], str(item[0])))[:most]
            ]
            print(f"  {label}: {', '.join(shown)}")


def sources_of(root: Path, every: int) -> list[Source]:
    listed = list_files(root, Limits(), Git.open(root)).files[::every]
    read = [read_source(root, entry.path, Limits()) for entry in listed]
    return [source for source in read if not isinstance(source, Skipped)]


def plain_seconds(sources: list[Source]) -> float:
    began = time.process_time()
    for source in sources:
        spec = detect(source.path, source.text[:200])
        if spec is not None and spec.grammar:
            parse_tree(spec.language(), source.text)
    return time.process_time() - began


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", type=Path)
    parser.add_argument("--every", type=int, default=1, help="take one file in N")
    parser.add_argument("--functions", type=int, default=12, help="lines of each table")
    options = parser.parse_args()
    gc.disable()  # as the processes that do this work
    sources = sources_of(options.root.resolve(), options.every)
    plain_seconds(sources[:100])
    plain = plain_seconds(sources)
    print(f"{len(sources)} files, plain parsing {plain:.1f} s of processor")
    extraction, resolution, storing = Profile(), Profile(), Profile()
    with extraction.sampling():
        facts = EncodedFacts({each.path: encode_facts(parse(each.path, each.text, each.flags)) for each in sources})
    resolver = Resolver()
    with resolution.sampling():
        delta = resolver.update(facts)
    with storing.sampling():
        for path, graph in delta.graphs.items():
            encode_graph(path, resolver.world.language(path), graph)
    extraction.show("parsing with extraction", plain, options.functions)
    resolution.show("resolving", plain, options.functions)
    storing.show("encoding", plain, options.functions)
    return 0


if __name__ == "__main__":
    sys.exit(main())
