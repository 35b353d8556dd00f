"""Search in process, warm: latency per mode beside bare tantivy and a bare vector scan, build and update times.

    python bench/search_latency.py --source DIR [--source DIR ...] [--nodes 100000] [--queries FILE]

Set OPENBLAS_NUM_THREADS=1, as the daemon does for itself: with two threads a scan waits for the slower core, and costs
twice the processor time when the machine is busy. The sources are any Python checkouts. Queries are one per line;
without a file they are docstring sentences and names of the corpus itself, mixed.
"""

from __future__ import annotations

import argparse
import gc
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import tantivy
from ast_corpus import SourceFile, parse_files, write_catalog

from ctxsearch.daemon.freshness import NO_HISTORY
from ctxsearch.daemon.memory import look_for_garbage_rarely
from ctxsearch.daemon.texts import KeptTexts, Texts
from ctxsearch.graph.catalog import Catalog
from ctxsearch.graph.graph import CodeGraph
from ctxsearch.graph.model import NodeKind
from ctxsearch.search.embed import bundled_embedder
from ctxsearch.search.identifiers import words
from ctxsearch.search.lexical.index import TantivyIndex
from ctxsearch.search.lexical.queries import term
from ctxsearch.search.lexical.reader import TantivyReader
from ctxsearch.search.ports import Corpus
from ctxsearch.search.query import Content, Expansion, ExpansionKind, Mode, SearchQuery
from ctxsearch.search.scope import Scope
from ctxsearch.search.semantic import LanceIndex, MatrixReader
from ctxsearch.search.service import ContextSearchService

Item = TypeVar("Item")


def measure(name: str, run: Callable[[Item], object], items: Sequence[Item], repeat: int) -> float:
    """Print p50, p95 and processor time per call, in milliseconds, after one warm-up round; return p50."""
    for item in items:
        run(item)
    times = []
    processor = time.process_time()
    for _ in range(repeat):
        for item in items:
            started = time.perf_counter()
            run(item)
            times.append((time.perf_counter() - started) * 1e3)
    processor = (time.process_time() - processor) / len(times) * 1e3
    times.sort()
    p50, p95 = times[len(times) // 2], times[int(len(times) * 0.95)]
    print(f"  {name:44} p50 {p50:7.2f} ms   p95 {p95:7.2f} ms   processor {processor:7.2f} ms")
    return p50


def own_queries(files: Sequence[SourceFile], count: int) -> list[str]:
    """First sentences of docstrings, names and pairs of name parts, mixed."""
    chosen = random.Random(7)
    docs = sorted({r.doc.split("\n")[0][:120] for f in files for r in f.records if len(r.doc.split()) > 3})
    names = sorted({r.node.name for f in files for r in f.records if r.node.kind is not NodeKind.MODULE})
    sentences = chosen.sample(docs, min(count // 2, len(docs)))
    symbols = chosen.sample(names, min(count // 4, len(names)))
    spoken = [" ".join(words(name)) for name in chosen.sample(names, min(count // 4, len(names)))]
    return sentences + symbols + spoken


def bare_tantivy(reader: TantivyReader) -> Callable[[str], object]:
    """The same words in all fields with their weights, top 100, nothing else."""
    searcher: Any = reader._searcher

    def run(text: str) -> object:
        *_, query = reader._words.queries(reader._words.terms(text))
        return searcher.search(query, 100, count=False).hits

    return run


def bare_body(reader: TantivyReader) -> Callable[[str], object]:
    """The words in the body field alone: what a minimal tantivy index would do."""
    searcher: Any = reader._searcher

    def run(text: str) -> object:
        clauses = [(tantivy.Occur.Should, term(reader._schema, "body", word)) for word in dict.fromkeys(words(text))]
        return searcher.search(tantivy.Query.boolean_query(clauses), 100, count=False).hits

    return run


def bare_scan(reader: MatrixReader) -> Callable[[str], object]:
    """Encode, one product over all rows in single precision, top 100."""
    matrix = np.concatenate([block.vectors.astype(np.float32) for block in reader._matrix.blocks])
    embed = bundled_embedder().embed_query

    def run(text: str) -> object:
        scores = matrix @ embed(text)
        return np.argpartition(scores, -min(100, len(scores)))[-100:]

    return run


def main() -> None:
    """Build, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--source", type=Path, action="append", required=True)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--queries", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    files = parse_files(options.source, options.nodes)
    count = sum(len(file.records) for file in files)
    lines = options.queries.read_text("utf-8").splitlines() if options.queries else []
    queries = [line for line in lines if line.strip()] or own_queries(files, 200)
    print(f"{count} nodes in {len(files)} files, {len(queries)} queries, top 20")
    with tempfile.TemporaryDirectory() as directory:
        base = Path(directory)
        catalog = Catalog.open(base / "catalog.db")
        write_catalog(catalog, files)
        indexes = (TantivyIndex(base / "text"), LanceIndex(base / "vectors", bundled_embedder()))
        pinned = catalog.pin()
        with pinned.use() as snapshot:
            documents = list(snapshot.documents())
            graph = CodeGraph.build(snapshot.load_nodes(), snapshot.load_edges(), snapshot.generation)
        print("build")
        for index in indexes:
            started = time.perf_counter()
            index.rebuild(graph.generation, documents)
            print(f"  {type(index).__name__:44} {time.perf_counter() - started:7.1f} s")
        print(f"  {graph.edge_count} call edges")
        started = time.perf_counter()
        corpus = Corpus(
            repository="corpus",
            generation=graph.generation,
            nodes=graph,
            freshness=NO_HISTORY,
            texts=Texts(options.source[0].parent, pinned, KeptTexts()),
            full_text=indexes[0].reader(),
            vectors=indexes[1].reader(),
            graph=graph,
        )
        print(f"  {'load vectors':44} {time.perf_counter() - started:7.1f} s")
        service = ContextSearchService(bundled_embedder())
        service.publish(corpus)
        look_for_garbage_rarely()  # as the daemon does
        gc.collect()
        gc.freeze()  # as the daemon does with what stays: a full collection would take 90 ms of some query
        report(service, queries, options.repeat, corpus.full_text, corpus.vectors)
        report_scopes(service, queries, largest_folder(documents))
        update_times(indexes, dict(documents), graph.generation)
        service.close()
        for index in indexes:
            index.close()
        catalog.close()


def report(service: ContextSearchService, queries: list[str], repeat: int, text: Any, vectors: Any) -> None:
    """Latencies, and the ratio that the issue bounds."""
    print("warm latency")

    def ask(**fields: Any) -> Callable[[str], object]:
        return lambda query: service.search(SearchQuery(text=query, **fields))

    keyword_floor = measure("bare tantivy, all fields", bare_tantivy(text), queries, repeat)
    measure("bare tantivy, body only", bare_body(text), queries, repeat)
    scan_floor = measure("bare vector scan, float32", bare_scan(vectors), queries, repeat)
    measure("keyword, no content", ask(mode=Mode.KEYWORD, content=Content.NONE), queries, repeat)
    measure("keyword, snippets", ask(mode=Mode.KEYWORD), queries, repeat)
    measure("semantic, snippets", ask(mode=Mode.SEMANTIC), queries, repeat)
    measure("fuzzy, snippets", ask(mode=Mode.FUZZY), queries, 1)
    measure("hybrid, snippets", ask(), queries, repeat)
    hybrid = 0.0
    for kind in ExpansionKind:
        expansion = Expansion(kind, 2)
        p50 = measure(f"hybrid + {kind} 2, snippets", ask(expansion=expansion), queries, repeat)
        hybrid = max(hybrid, p50)
    print(f"  hybrid with expansion / (bare tantivy + bare scan) = {hybrid / (keyword_floor + scan_floor):.2f}")


def largest_folder(documents: Sequence[tuple[str, Any]]) -> str:
    """The folder of two levels that most files are in."""
    folders = Counter("/".join(path.split("/")[:2]) for path, _ in documents if path.count("/") > 1)
    return folders.most_common(1)[0][0]


def report_scopes(service: ContextSearchService, queries: list[str], folder: str) -> None:
    """What a part of the repository costs to search: keyword search, no content, each in turn with everything."""
    print("keyword search, no content, of a part")
    scopes = {
        "everything": Scope(),
        f"inside of {folder}": Scope(paths=(folder,)),
        f"outside of {folder}": Scope(exclude_paths=(folder,)),
        "*.py": Scope(paths=("*.py",)),
        "without **/tests/**": Scope(exclude_paths=("**/tests/**",)),
        "without test_*.py, an expression": Scope(exclude_paths=("test_*.py",)),
        "classes": Scope(kinds=(NodeKind.CLASS,)),
    }
    for name, scope in scopes.items():
        fields: dict[str, Any] = {"mode": Mode.KEYWORD, "content": Content.NONE, "scope": scope}
        measure(name, lambda query, fields=fields: service.search(SearchQuery(text=query, **fields)), queries, 1)


def update_times(indexes: tuple[TantivyIndex, LanceIndex], documents: dict[str, Any], generation: int) -> None:
    """One changed file, until readers of every index see it."""
    print("one changed file, until every index's reader has it")
    paths = [path for path, nodes in documents.items() if 10 <= len(nodes) <= 40][:20]
    times = []
    for number, path in enumerate(paths, start=1):
        started = time.perf_counter()
        for index in indexes:
            index.apply(generation + number, {path: documents[path]}, [])
            index.reader()
        times.append((time.perf_counter() - started) * 1e3)
    times.sort()
    print(f"  {len(paths)} files: p50 {times[len(times) // 2]:.0f} ms, worst {times[-1]:.0f} ms")


if __name__ == "__main__":
    main()
