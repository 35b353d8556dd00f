"""Faults, over and over: kill -9 at random moments, damaged files, malformed requests, a full disk, clock jumps.

    bench/soak.py [--rounds 50] [--requests 1000] [--nodes 4000] [--seed 1] [--kinds kill,damage,disk,clock,malformed]

After every round the index must be whole again and answer rightly: by words the last edit and an old name, by
meaning, after damage, what it answered before anything happened. Prints the counts; exits 1 if anything was lost, wrong
or hanging. The disk is filled by a limit on the size of files (RLIMIT_FSIZE) in the daemon that is started.
"""

from __future__ import annotations

import argparse
import collections
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

import grpc
import psutil
from daemon_corpus import function_name, git, write_corpus

from ctxsearch.daemon.cli_repositories import follow
from ctxsearch.daemon.client import DaemonError, stop
from ctxsearch.daemon.lock import FileLock
from ctxsearch.daemon.session import Session
from ctxsearch.daemon.settings import load_settings
from ctxsearch.v1 import repository_pb2, search_pb2

METHODS = (
    "/ctxsearch.v1.ContextSearchService/ContextSearch",
    "/ctxsearch.v1.GraphService/Callers",
    "/ctxsearch.v1.GraphService/Outline",
    "/ctxsearch.v1.RepositoryService/AddRepository",
    "/ctxsearch.v1.RepositoryService/GetStatus",
    "/ctxsearch.v1.AdminService/GetServerInfo",
)
REFUSALS = {"INVALID_ARGUMENT", "NOT_FOUND", "FAILED_PRECONDITION", "RESOURCE_EXHAUSTED", "OUT_OF_RANGE"}
SETTLE_SECONDS = 600.0
EDITED = "pkg000/mod00000.py"
MEANINGS = ("wait longer after each failure", "turn a user into bytes", "join two graphs", "keep the session")


class Soak:
    """One data directory under attack, and what came of it."""

    def __init__(self, folder: Path, nodes: int, seed: int) -> None:
        self.root = folder / "corpus"
        self.files = write_corpus(self.root, nodes, seed)
        self.pick = random.Random(seed)
        self.session = Session(load_settings(), folder)
        self.counts: collections.Counter[str] = collections.Counter()
        self.edits = 0
        request = repository_pb2.AddRepositoryRequest(path=str(self.root))
        self.name = str(self.session.repository("AddRepository", request).repository.name)
        self.meant: list[tuple[float, str]] = []  # what vectors answered at first

    def edit(self) -> str:
        """Writes a function of a new name; the name."""
        self.edits += 1
        word = f"zebra{self.edits}"
        path = self.root / EDITED
        lines = [line for line in path.read_text().split("\n") if "zebra" not in line]
        path.write_text("\n".join([*lines, f"def {word}(x): return x", ""]))
        return word

    def settle(self) -> None:
        """Waits until everything on disk is indexed; a daemon that is gone is started again."""
        request = repository_pb2.RefreshRequest(repository=self.name)
        request.max_wait.FromSeconds(int(SETTLE_SECONDS))
        response = self.session.repository("Refresh", request, timeout=SETTLE_SECONDS + 60)
        self.note("whole again" if response.completed else "NOT WHOLE")

    def check(self, word: str) -> None:
        """The last edit and an old name are found first, in one generation."""
        known = function_name(self.pick.randrange(self.files), self.pick.randrange(36))
        for text in (word, known):
            request = search_pb2.ContextSearchRequest(text=text, mode=search_pb2.SEARCH_MODE_KEYWORD, k=5)
            request.scope.include.repositories.append(self.name)
            found = [result.node.name for result in self.session.search(request).results]
            self.note("right answer" if found[:1] == [text] else "WRONG ANSWER")

    def by_meaning(self) -> list[tuple[float, str]]:
        """What vectors alone answer about the files that nobody edits: the nearest nodes with their cosines."""
        found: list[tuple[float, str]] = []
        for text in MEANINGS:
            request = search_pb2.ContextSearchRequest(text=text, mode=search_pb2.SEARCH_MODE_SEMANTIC, k=200)
            request.scope.include.repositories.append(self.name)
            request.scope.exclude.paths.append(EDITED)
            results = self.session.search(request).results
            found += sorted(((each.signals[0].raw_score, each.node.id) for each in results), reverse=True)[:20]
        return found

    def check_meaning(self) -> None:
        """Once vectors are there, the same nodes come with the same scores as at first."""
        self.wait_whole()
        self.note("same by meaning" if self.by_meaning() == self.meant else "WRONG BY MEANING")

    def kill(self) -> None:
        """kill -9, and the proof that nothing of it is left."""
        pid = self.session.connection.info.pid
        children = psutil.Process(pid).children(recursive=True)
        os.kill(pid, signal.SIGKILL)
        self.session.close()
        lock = FileLock(self.session.settings.lock_path)
        lock.acquire(timeout_seconds=60)
        lock.release()
        self.note("kill -9")
        self.counts["ORPHANS"] += len(psutil.wait_procs(children, timeout=30)[1])

    def kill_round(self) -> None:
        """Edits, then kills at a random moment of whatever follows, with queries under way."""
        word = self.edit()
        stopping = threading.Event()
        load = threading.Thread(target=self._query_until, args=(stopping,))
        load.start()
        full = self.pick.random() < 0.3
        request = repository_pb2.RefreshRequest(repository=self.name, full=full)
        self.session.repository("Refresh", request)
        time.sleep(self.pick.random() * (3.0 if full else 0.6))  # the random moment is the point
        self.kill()
        stopping.set()
        load.join()
        self.settle()
        self.check(word)

    def _query_until(self, stopping: threading.Event) -> None:
        session = Session(self.session.settings, self.root)
        while not stopping.is_set():
            request = search_pb2.ContextSearchRequest(text="parse the request")
            try:
                session.search(request)
                self.note("answered under load")
            except DaemonError:
                session.close()
                self.note("refused while dying")
                stopping.wait(0.05)
        session.close()

    def damage_round(self) -> None:
        """Truncates or flips a byte of one random file of the index while no daemon runs."""
        word = self.edit()
        self.settle()
        stop(self.session.settings)
        self.session.close()
        files = sorted(p for p in self.session.settings.repositories_dir.rglob("*") if p.is_file() and p.stat().st_size)
        victim = self.pick.choice(files)
        data = bytearray(victim.read_bytes())
        at = self.pick.randrange(len(data))
        if self.pick.random() < 0.5:
            victim.write_bytes(data[:at])
            self.note("truncated a file")
        else:
            data[at] ^= 1 << self.pick.randrange(8)
            victim.write_bytes(data)
            self.note("flipped a bit")
        self.settle()
        self.check(word)
        self.check_meaning()

    def disk_full_round(self) -> None:
        """A daemon whose files may not grow: the refresh fails, the old answers stay, the next one heals."""
        self.settle()
        word = self.edit()
        stop(self.session.settings)
        self.session.close()
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 16, before[1]))
        try:
            self.session.connection  # noqa: B018 - starts the daemon under the limit
        except DaemonError:
            self.note("did not start on a full disk")
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        if self.session.settings.lock_path.exists():
            self.kill()
        self.note("disk full")
        self.settle()
        self.check(word)

    def clock_round(self) -> None:
        """Files and commits from the far past and the future."""
        word = self.edit()
        path = self.root / EDITED
        for when in (0, 2**31, time.time() + 10**7):
            os.utime(path, (when, when))
            self.settle()
        git(self.root, "commit", "-q", "-a", "-m", "later", "--date=2037-01-01T00:00:00")
        self.note("clock jump")
        self.settle()
        self.check(word)

    def malformed(self, count: int) -> None:
        """Random and oversized messages to every method: refused each, and the daemon stays."""
        for _ in range(count):
            size = self.pick.choice((0, 3, 40, 4000, 2 << 20))
            call = self.session.channel.unary_unary(self.pick.choice(METHODS))
            try:
                call(self.pick.randbytes(size), timeout=30)
                self.note("malformed: answered")
            except (grpc.RpcError, ValueError) as error:
                code = error.code().name if isinstance(error, grpc.RpcError) else "RESOURCE_EXHAUSTED"
                self.note("malformed: refused" if code in REFUSALS else f"MALFORMED: {code}")

    def note(self, what: str) -> None:
        """Counts it."""
        self.counts[what] += 1

    def wait_whole(self) -> None:
        """Vectors and history too."""
        for progress in follow(self.session, self.name):
            if progress.phase == repository_pb2.INDEX_PHASE_IDLE and progress.vectors_ready:
                return


def run(soak: Soak, kinds: frozenset[str], options: argparse.Namespace) -> None:
    """What was asked for; every fifth round damages a file besides, or every round does when none kills."""
    if "malformed" in kinds:
        soak.malformed(options.requests)
    for number in range(options.rounds):
        if "kill" in kinds:
            soak.kill_round()
        if "damage" in kinds and (number % 5 == 4 or "kill" not in kinds):
            soak.damage_round()
    if "clock" in kinds:
        soak.clock_round()
    if "disk" in kinds:
        soak.disk_full_round()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--nodes", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--kinds", default="kill,damage,disk,clock,malformed", help="what to do, for a part of the soak"
    )
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="soak"))
    os.environ |= {"CTXSEARCH_DATA_DIR": str(folder / "data"), "CTXSEARCH_RUNTIME_DIR": str(folder)}
    soak = Soak(folder, options.nodes, options.seed)
    try:
        soak.settle()
        soak.wait_whole()
        soak.meant = soak.by_meaning()
        run(soak, frozenset(options.kinds.split(",")), options)
    finally:
        for what, count in sorted(soak.counts.items()):
            print(f"{what:<32} {count}")
        soak.session.close()
        stop(soak.session.settings)
        shutil.rmtree(folder, ignore_errors=True)
    bad = sum(count for what, count in soak.counts.items() if what.isupper() or what.startswith("MALFORMED"))
    print("bad", bad)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
