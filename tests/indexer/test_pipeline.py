"""Many files through processes that can be killed: order, isolation, bounds, no process left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from ctxsearch.graph.facts import decode_facts
from ctxsearch.indexer import pipeline
from ctxsearch.indexer.files import Limits, Skipped, SkipReason, content_hash
from ctxsearch.indexer.pipeline import ParsePool, WorkerError, parse_files
from ctxsearch.indexer.worker import Batch, Job, Parsed, frame

FAULTY = (sys.executable, "-P", str(Path(__file__).with_name("faulty_worker.py")))


@pytest.fixture(autouse=True)
def no_process_left() -> Iterator[None]:
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    yield
    left = [child for child in psutil.Process().children(recursive=True) if child.pid not in before]
    assert left == []


def write(root: Path, count: int, *extra: str) -> list[str]:
    paths = [f"m{number:04}.py" for number in range(count)]
    for path in [*paths, *extra]:
        (root / path).write_text(f"def {path[:-3]}():\n    return 1\n")
    return sorted([*paths, *extra])


def reasons(answers: list[Parsed | Skipped]) -> dict[str, SkipReason]:
    return {answer.path: answer.reason for answer in answers if isinstance(answer, Skipped)}


def test_answers_come_in_the_order_of_the_paths_with_facts(tmp_path: Path) -> None:
    paths = write(tmp_path, 100)
    seen: list[tuple[int, int]] = []
    answers = list(parse_files(tmp_path, paths, workers=2, limits=Limits(), progress=lambda *step: seen.append(step)))
    assert [answer.path for answer in answers] == paths
    assert seen == [(number, 100) for number in range(1, 101)]
    first = answers[0]
    assert isinstance(first, Parsed)
    assert first.facts is not None
    facts = decode_facts(first.facts)
    assert (facts.path, [definition.name for definition in facts.definitions]) == ("m0000.py", ["m0000"])
    assert (facts.language, first.text) == ("python", b"def m0000():\n    return 1\n")
    assert first.content_hash == content_hash(first.text)


def test_nothing_to_do_starts_nothing(tmp_path: Path) -> None:
    with ParsePool(2, command=("/nonexistent",)) as pool:
        assert list(pool.run(tmp_path, [], limits=Limits())) == []


def test_files_that_cannot_be_read_are_answers_too(tmp_path: Path) -> None:
    (tmp_path / "blob.py").write_bytes(b"\0\1\2")
    (tmp_path / ".env").write_text("A=1")
    answers = list(parse_files(tmp_path, ["blob.py", ".env", "gone.py"], workers=1, limits=Limits()))
    assert reasons(answers) == {
        "blob.py": SkipReason.BINARY,
        ".env": SkipReason.SECRET,
        "gone.py": SkipReason.VANISHED,
    }


def test_hanging_file_is_cut_off_and_the_others_go_on(tmp_path: Path) -> None:
    paths = write(tmp_path, 60, "hang.py")
    with ParsePool(2, timeout=1.0, command=FAULTY) as pool:
        answers = list(pool.run(tmp_path, paths, limits=Limits()))
    assert [answer.path for answer in answers] == paths
    assert reasons(answers) == {"hang.py": SkipReason.TIMEOUT}


@pytest.mark.parametrize(("name", "detail"), [("crash.py", "SIGSEGV"), ("exit.py", "exit status 3")])
def test_crashing_file_is_isolated(tmp_path: Path, name: str, detail: str) -> None:
    paths = write(tmp_path, 40, name)
    with ParsePool(2, command=FAULTY) as pool:
        answers = list(pool.run(tmp_path, paths, limits=Limits()))
    assert [answer.path for answer in answers] == paths
    assert [(a.path, a.reason, a.detail) for a in answers if isinstance(a, Skipped)] == [
        (name, SkipReason.CRASHED, detail)
    ]


def test_several_bad_files_in_one_batch_are_each_named(tmp_path: Path) -> None:
    for directory in ("a", "b"):
        (tmp_path / directory).mkdir()
    paths = write(tmp_path, 3, "a/crash.py", "a/hang.py", "b/crash.py", "b/x.py")
    with ParsePool(1, timeout=1.0, command=FAULTY) as pool:
        answers = list(pool.run(tmp_path, paths, limits=Limits()))
    assert reasons(answers) == {
        "a/crash.py": SkipReason.CRASHED,
        "a/hang.py": SkipReason.TIMEOUT,
        "b/crash.py": SkipReason.CRASHED,
    }


def test_worker_killed_from_outside_costs_no_file(tmp_path: Path) -> None:
    paths = write(tmp_path, 5, "killed_once.py")
    (tmp_path / "killed_once.py").write_text(f"# {tmp_path / 'mark'}\n")
    with ParsePool(1, command=FAULTY) as pool:
        answers = list(pool.run(tmp_path, paths, limits=Limits()))
    assert (tmp_path / "mark").exists()
    assert reasons(answers) == {}


def test_warm_worker_is_used_again_and_replaced_when_it_died(tmp_path: Path) -> None:
    paths = write(tmp_path, 2)
    with ParsePool(1) as pool:
        first = list(pool.run(tmp_path, paths, limits=Limits()))
        [child] = psutil.Process().children()
        assert list(pool.run(tmp_path, paths, limits=Limits())) == first
        assert [child.pid for child in psutil.Process().children()] == [child.pid]
        os.kill(child.pid, signal.SIGKILL)
        assert list(pool.run(tmp_path, paths, limits=Limits())) == first


def test_small_runs_use_one_process(tmp_path: Path) -> None:
    with ParsePool(4) as pool:
        list(pool.run(tmp_path, write(tmp_path, 8), limits=Limits()))
        assert len(psutil.Process().children()) == 1


def test_leaving_early_ends_what_is_under_way(tmp_path: Path) -> None:
    paths = write(tmp_path, 50)
    with ParsePool(2) as pool:
        run = pool.run(tmp_path, paths, limits=Limits())
        assert next(run).path == "m0000.py"
        run.close()
        again = list(pool.run(tmp_path, paths, limits=Limits()))
    assert [answer.path for answer in again] == paths


def test_known_content_is_not_parsed_again(tmp_path: Path) -> None:
    paths = write(tmp_path, 2)
    known = {path: frozenset({content_hash((tmp_path / "m0000.py").read_bytes())}) for path in paths}
    with ParsePool(1) as pool:
        answers = list(pool.run(tmp_path, paths, limits=Limits(), known=known))
    assert [isinstance(a, Parsed) and a.facts is None for a in answers] == [True, False]


def test_results_that_wait_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipeline, "_BUFFER_BYTES", 1000)
    monkeypatch.setattr(pipeline, "_WINDOW_FILES", 40)
    paths = write(tmp_path, 200, "hang.py")
    with ParsePool(2, timeout=1.0, command=FAULTY) as pool:
        answers = list(pool.run(tmp_path, sorted(paths), limits=Limits()))
    assert [answer.path for answer in answers] == paths
    assert reasons(answers) == {"hang.py": SkipReason.TIMEOUT}


def test_command_that_does_not_start_is_an_error_not_a_thousand_crashes(tmp_path: Path) -> None:
    paths = write(tmp_path, 3)
    with ParsePool(1, command=(sys.executable, "-c", "raise SystemExit(7)")) as pool, pytest.raises(WorkerError):
        list(pool.run(tmp_path, paths, limits=Limits()))
    with ParsePool(1, command=("/nonexistent",)) as pool, pytest.raises(WorkerError):
        list(pool.run(tmp_path, paths, limits=Limits()))


PARENT = """
import sys
from pathlib import Path
from ctxsearch.indexer.files import Limits
from ctxsearch.indexer.pipeline import ParsePool
root = Path(sys.argv[1])
pool = ParsePool(1, command=sys.argv[2:])
list(pool.run(root, ["a.py"], limits=Limits()))
print(pool._workers[0].process.pid, flush=True)
sys.stdin.read()
"""


def test_worker_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path), sys.executable, "-P", "-m", "ctxsearch.indexer.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert parent.stdout is not None
    worker = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.communicate()
    worker.wait(timeout=60)


def test_worker_cuts_itself_off_when_nobody_is_left_to_do_it(tmp_path: Path) -> None:
    (tmp_path / "hang.py").write_text("x = 1\n")
    worker = subprocess.Popen(FAULTY, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert worker.stdin is not None
    encode = pipeline._encoder.encode
    worker.stdin.write(frame(encode(Job(str(tmp_path), Limits(), 0.2, {}))))
    worker.stdin.write(frame(encode(Batch(("hang.py",)))))
    worker.communicate(timeout=60)
    assert worker.returncode == -signal.SIGALRM


def test_deep_nesting_and_broken_source_are_parsed(tmp_path: Path) -> None:
    (tmp_path / "deep.py").write_text("x = " + ("(" * 400 + "\n") * 250 + (")" * 400 + "\n") * 250)
    (tmp_path / "deep_lists.py").write_text(("[" * 500 + "\n") * 10)
    (tmp_path / "cut.py").write_text("def f(:\n    return (1\n\nclass A:\n    def g(self):\n        f(\n")
    (tmp_path / "deep_blocks.py").write_text("".join(" " * n + "if x:\n" for n in range(900)) + " " * 900 + "f()\n")
    paths = ["cut.py", "deep.py", "deep_blocks.py", "deep_lists.py"]
    answers = list(parse_files(tmp_path, paths, workers=1, limits=Limits()))
    assert reasons(answers) == {}
