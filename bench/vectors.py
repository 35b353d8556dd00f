"""Which vector search at which size: plain scan, scan in bytes, LanceDB flat, LanceDB IVF_FLAT; time and recall.

    python bench/vectors.py --source DIR [--source DIR ...] [--sizes 1000,10000,100000,300000] [--lance]

Vectors are real (the bundled model over the functions of the sources); beyond what the sources give, rows are repeated
with a little noise. Queries are first sentences of docstrings. `--lance` also measures LanceDB itself.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from ast_corpus import parse_files

from ctxsearch.graph.model import NodeKind
from ctxsearch.search.embed import bundled_embedder
from ctxsearch.search.ports import SELECT_ALL, Floats, Passage
from ctxsearch.search.vectors import VectorMatrix, make_block

Found = Callable[[Floats], list[int]]


def timed(search: Found, queries: Floats, exact: list[list[int]]) -> str:
    """p50, p95 and recall of the top 20 and 100."""
    times, found = [], []
    search(queries[0])
    for query in queries:
        started = time.perf_counter()
        found.append(search(query))
        times.append((time.perf_counter() - started) * 1e3)
    times.sort()
    recalls = [
        float(np.mean([len(set(a[:k]) & set(b[:k])) / min(k, len(b)) for a, b in zip(found, exact, strict=True)]))
        for k in (20, 100)
    ]
    p50, p95 = times[len(times) // 2], times[int(len(times) * 0.95)]
    return f"p50 {p50:7.2f} ms  p95 {p95:7.2f} ms  recall@20 {recalls[0]:.4f}  recall@100 {recalls[1]:.4f}"


def plain(vectors: Floats) -> Found:
    """One product over all rows, top 100."""

    def search(query: Floats) -> list[int]:
        scores = vectors @ query
        top = np.argpartition(scores, -min(100, len(scores)))[-100:]
        return [int(row) for row in top[np.argsort(-scores[top], kind="stable")]]

    return search


def in_memory(vectors: Floats) -> Found:
    """What ctxsearch does in memory."""
    count = len(vectors)
    numbers = np.arange(count, dtype=np.uint64)
    block = make_block(
        numbers, numbers, vectors, ["p"] * count, ["python"] * count, np.full(count, 6, np.uint8), [""] * count
    )
    matrix = VectorMatrix().replaced((), block)
    return lambda query: [int(hit.id, 16) for hit in matrix.search(query, SELECT_ALL, 100)]


def lance(vectors: Floats, directory: Path, *, indexed: bool) -> tuple[Found, float]:
    """LanceDB on disk, with or without its index; and what the index took to build."""
    import lancedb
    import pyarrow as pa

    column = pa.FixedSizeListArray.from_arrays(pa.array(vectors.astype(np.float16).ravel()), vectors.shape[1])
    table = lancedb.connect(str(directory)).create_table(
        "v", pa.table({"row": np.arange(len(vectors)), "vector": column}), mode="overwrite"
    )
    started = time.perf_counter()
    if indexed:
        table.create_index(metric="cosine", index_type="IVF_FLAT", num_partitions=round(len(vectors) ** 0.5))
    took = time.perf_counter() - started

    def search(query: Floats) -> list[int]:
        found = (
            table.search(query)
            .distance_type("cosine")
            .nprobes(round(0.5 * len(vectors) ** 0.5))
            .select(["row", "_distance"])
            .limit(100)
        )
        return [int(row) for row in found.to_arrow()["row"].to_pylist()]

    return search, took


def main() -> None:
    """Embed, then measure at each size."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--source", type=Path, action="append", required=True)
    parser.add_argument("--sizes", default="1000,10000,100000,300000")
    parser.add_argument("--lance", action="store_true")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    records = [
        (record, file.text.split("\n"))
        for file in parse_files(options.source, max(sizes))
        for record in file.records
        if record.node.kind is not NodeKind.MODULE
    ]
    random.Random(5).shuffle(records)
    passages = [
        Passage(
            r.node.name,
            f"{r.node.qualified_name}\n{r.doc}\n" + "\n".join(lines[r.node.start_line - 1 : r.node.end_line]),
        )
        for r, lines in records[: max(sizes)]
    ]
    started = time.perf_counter()
    real = bundled_embedder().embed_documents(passages).astype(np.float16).astype(np.float32)
    print(f"embedded {len(real)} nodes in {time.perf_counter() - started:.1f} s")
    docs = sorted({r.doc.split("\n")[0] for r, _ in records if len(r.doc.split()) > 4})
    queries = np.array([bundled_embedder().embed_query(text) for text in random.Random(6).sample(docs, 60)])
    for size in sizes:
        report(size, enlarged(real, size), queries, with_lance=options.lance)


def enlarged(real: Floats, size: int) -> Floats:
    """The first rows, or all of them repeated with noise until there are enough."""
    if size <= len(real):
        return real[:size]
    repeats = -(-size // len(real))
    noise = np.random.default_rng(9).standard_normal((size, real.shape[1]), dtype=np.float32) * 0.02
    rows = np.tile(real, (repeats, 1))[:size] + noise
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def report(size: int, vectors: Floats, queries: Floats, *, with_lance: bool) -> None:
    """All ways at one size."""
    print(f"{size} rows")
    exact = [plain(vectors)(query) for query in queries]
    print(f"  {'plain scan, float32':24} {timed(plain(vectors), queries, exact)}")
    print(f"  {'ctxsearch, in memory':24} {timed(in_memory(vectors), queries, exact)}")
    if with_lance:
        for indexed in (False, True):
            with tempfile.TemporaryDirectory() as directory:
                search, took = lance(vectors, Path(directory), indexed=indexed)
                name = "LanceDB IVF_FLAT" if indexed else "LanceDB flat"
                built = f"  built in {took:.1f} s" if indexed else ""
                print(f"  {name:24} {timed(search, queries, exact)}{built}")


if __name__ == "__main__":
    main()
