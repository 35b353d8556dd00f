"""The catalog after kill -9, a full disk and damaged bytes: the last committed generation, or an error; never a mix."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import msgspec
import pytest
from marked_catalog import FILES, marked_node, markers, write_generation

from ctxsearch.graph.catalog import Catalog, CatalogBusyError, CatalogCorruptError, CatalogError
from ctxsearch.graph.model import NodeKind
from ctxsearch.graph.records import NodeRecord


def run_child(code: str, *arguments: str) -> subprocess.Popen[str]:
    """Python code in a process of its own."""
    source = f"import sys\nsys.path.insert(0, {str(Path(__file__).parent)!r})\n{IMPORTS}{code}"
    return subprocess.Popen([sys.executable, "-c", source, *arguments], stdout=subprocess.PIPE, text=True)


IMPORTS = """
from pathlib import Path
from ctxsearch.graph.catalog import Catalog, CatalogFullError
from marked_catalog import markers, write_generation
"""


DIE_WITHIN = """
catalog = Catalog.open(Path(sys.argv[1]))
catalog._connection.execute("PRAGMA cache_size = 10")  # so that unfinished pages reach the disk
write_generation(catalog, 1)
write_generation(catalog, 2, die_after=int(sys.argv[2]), padding=50_000)
"""


@pytest.mark.parametrize("die_after", [1, FILES // 2, FILES])
def test_killed_within_a_transaction_the_generation_before_it_is_there(tmp_path: Path, die_after: int) -> None:
    path = tmp_path / "catalog.sqlite"
    child = run_child(DIE_WITHIN, str(path), str(die_after))
    assert child.wait(60) == -signal.SIGKILL
    with Catalog.open(path) as catalog:
        assert catalog.generation == 1
        assert markers(catalog) == {"1"}
        assert catalog.verify() == ()
        write_generation(catalog, 3)
        assert (catalog.generation, markers(catalog)) == (2, {"3"})


WRITE_AND_LEAVE = """
with Catalog.open(Path(sys.argv[1])) as catalog:
    write_generation(catalog, int(sys.argv[2]))
"""


def test_a_reader_sees_what_writers_that_came_and_left_wrote(tmp_path: Path) -> None:
    """A reader's locks tell a leaving writer that the log is in use; opening the catalog again must not drop them."""
    path = tmp_path / "catalog.sqlite"
    assert run_child(WRITE_AND_LEAVE, str(path), "1").wait(60) == 0
    with Catalog.open(path, read_only=True) as reader:
        pinned = reader.pin()  # an answer in the making: its connection stays
        for generation in (2, 3, 4):
            Catalog.open(path, read_only=True).close()
            assert run_child(WRITE_AND_LEAVE, str(path), str(generation)).wait(60) == 0
            assert path.with_name(path.name + "-wal").exists(), "the log is in use"
            assert markers(reader) == {str(generation)}
        with pinned.use() as snapshot:
            assert snapshot.generation == 1


WRITE_FOREVER = """
catalog = Catalog.open(Path(sys.argv[1]))
for marker in range(1, 10_000):
    write_generation(catalog, marker, padding=20_000)
    print(marker, flush=True)
"""


@pytest.mark.parametrize("lines", [1, 6])
def test_killed_at_any_moment_what_was_committed_is_there_and_nothing_is_mixed(tmp_path: Path, lines: int) -> None:
    path = tmp_path / "catalog.sqlite"
    child = run_child(WRITE_FOREVER, str(path))
    assert child.stdout is not None
    said = [int(child.stdout.readline()) for _ in range(lines)]
    with Catalog.open(path, read_only=True) as reader:
        assert len(markers(reader)) == 1, "a reader in another process sees one generation"
    with pytest.raises(CatalogBusyError):
        Catalog.open(path)
    child.kill()
    child.wait(60)
    child.stdout.close()
    with Catalog.open(path) as catalog:
        assert catalog.generation >= said[-1]
        assert markers(catalog) == {f"{catalog.generation}"}
        assert catalog.verify() == ()


def test_readers_never_see_a_mix_while_generations_are_written(tmp_path: Path) -> None:
    with Catalog.open(tmp_path / "catalog.sqlite") as catalog:
        write_generation(catalog, 1)
        done = threading.Event()
        seen: list[set[str]] = []

        def read() -> None:
            while not done.is_set():
                seen.append(markers(catalog))

        reader = threading.Thread(target=read)
        reader.start()
        for marker in range(2, 20):
            write_generation(catalog, marker)
        done.set()
        reader.join()
        assert seen
        assert all(len(found) == 1 for found in seen)


# A disk that takes no more

FULL_DISK = """
import resource
catalog = Catalog.open(Path(sys.argv[1]))
write_generation(catalog, 1)
size = Path(sys.argv[1] + "-wal").stat().st_size
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20_000, hard))
try:
    write_generation(catalog, 2, padding=200_000)
except CatalogFullError as error:
    print("full:", catalog.generation, markers(catalog))
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
write_generation(catalog, 3)
print("healed:", catalog.generation, markers(catalog), catalog.verify())
catalog.close()
"""


def test_a_write_that_the_system_refuses_keeps_the_old_generation(tmp_path: Path) -> None:
    child = run_child(FULL_DISK, str(tmp_path / "catalog.sqlite"))
    output, _ = child.communicate(timeout=60)
    assert output.splitlines() == ["full: 1 {'1'}", "healed: 2 {'3'} ()"]


# Damage

FLIPS = 100


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("whole") / "catalog.sqlite"
    with Catalog.open(path) as catalog:
        write_generation(catalog, 1, padding=500)
        function = marked_node("", 1)
        external = msgspec.structs.replace(function, kind=NodeKind.EXTERNAL)
        with catalog.write() as w:
            w.put_skipped("logo.png", "binary")
            w.put_facts("1", "python", "v1", b"facts" * 100)
            w.put_shared([NodeRecord(external)], [])
    return path.read_bytes()


def everything(path: Path) -> object:
    with Catalog.open(path) as catalog, catalog.read() as r:
        edges = r.load_edges()
        return (
            r.generation,
            r.files(),
            r.load_nodes(),
            [column.tolist() for column in (edges.source, edges.target, edges.kind, edges.confidence, edges.rule)],
            [r.graph_of(record.path) for record in r.files()],
            list(r.documents()),
            list(r.reads()),
            r.skipped(),
            r.counts(),
            r.meta("marker"),
            r.facts("1", "python", "v1") or b"facts" * 100,  # damaged facts are absent facts
        )


def test_a_flipped_bit_is_an_error_or_makes_no_difference(whole: bytes, tmp_path: Path) -> None:
    rnd = random.Random(7)
    path = tmp_path / "catalog.sqlite"
    path.write_bytes(whole)
    expected = everything(path)
    used = [position for position in range(100, len(whole)) if whole[position]]  # most of the file is empty space
    silent, noticed = [], 0
    for position in rnd.sample(used, FLIPS):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << rnd.randrange(8)
        path.write_bytes(damaged)
        try:
            if everything(path) != expected:
                silent.append(position)
        except CatalogError:
            noticed += 1
    assert silent == []
    assert noticed > FLIPS // 2


@pytest.mark.parametrize("share", [0.0, 0.00001, 0.001, 0.05, 0.5, 0.9, 0.999])
def test_a_truncated_file_is_an_error_and_can_be_rebuilt(whole: bytes, share: float, tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    path.write_bytes(whole[: int(len(whole) * share)])
    if share:
        with pytest.raises(CatalogCorruptError):
            Catalog.open(path)
        assert Catalog.rebuild(path) == path.with_name("catalog.sqlite.broken")
    with Catalog.open(path) as catalog:
        with catalog.read() as snapshot:
            assert snapshot.is_empty
        write_generation(catalog, 1)
        assert markers(catalog) == {"1"}


def test_an_unclean_end_is_followed_by_a_check_of_the_structure(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    path.write_bytes(whole)
    catalog = Catalog.open(path)
    catalog._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    unclean = path.read_bytes()
    catalog.close()
    page = 8192
    damaged = bytearray(unclean)
    damaged[2 * page + 3 : 2 * page + 5] = b"\xff\xff"  # a page that says it has 65535 cells
    other = tmp_path / "other.sqlite"
    other.write_bytes(damaged)
    with pytest.raises(CatalogCorruptError):
        Catalog.open(other)


def test_verify_names_what_is_damaged(whole: bytes, tmp_path: Path) -> None:
    path = tmp_path / "catalog.sqlite"
    path.write_bytes(whole)
    with Catalog.open(path) as catalog:
        assert catalog.verify() == ()
        catalog._connection.execute(
            "UPDATE text SET data = zeroblob(40) WHERE file = (SELECT key FROM file WHERE path = ?)", (b"f3.py",)
        )
        assert catalog.verify() == ("text of f3.py is damaged",)
