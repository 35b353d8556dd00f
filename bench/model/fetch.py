"""Downloads packages by name from the registries that this machine is set up for; never unpacks or runs one.

    bench/model/fetch.py --out ARCHIVES [--names DIR] [--registry deb|debian|npm|pypi ...]

DIR holds one file of names per registry. Wheels come from `pip download`, tarballs from `npm pack`, Debian's sources
(`debian`) from `apt-get source --download-only` and those of its binary packages that consist of source (`deb`: crates,
gems, Go) from `apt-get download`, both with lists of their own. A name that cannot be had is printed and left out;
what is already there is not asked for again, so an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
BATCH = 50
PARALLEL = 3
TIMEOUT_SECONDS = 600

Download = Callable[[Sequence[str], Path], bool]


def read_names(file: Path) -> list[str]:
    """One name a line; `#` begins a comment."""
    lines = (line.partition("#")[0].strip() for line in file.read_text("utf-8").splitlines())
    return sorted({line for line in lines if line})


def excluded(name: str, patterns: Sequence[re.Pattern[str]]) -> bool:
    """Whether a package stems from a repository that evaluation asks about."""
    source = re.sub(r"^lib(rust-.+)-dev$", r"\1", name.lower())
    return any(pattern.fullmatch(source) for pattern in patterns)


def read_exclusions(names: Path) -> list[re.Pattern[str]]:
    """The patterns of `excluded.txt`: `*` stands for anything."""
    found = read_names(names / "excluded.txt")
    return [re.compile(re.escape(line.lower()).replace(r"\*", ".*")) for line in found]


def _run(command: Sequence[str], directory: Path, tolerated: bytes = b"") -> bool:
    """Whether it ended well, or with the one complaint that does not matter."""
    try:
        done = subprocess.run(command, cwd=directory, capture_output=True, timeout=TIMEOUT_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0 or bool(tolerated and tolerated in done.stderr)


def pypi(names: Sequence[str], out: Path) -> bool:
    """Wheels only: building from source would run the package."""
    return _run(("python3", "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", "--", *names), out)


def npm(names: Sequence[str], out: Path) -> bool:
    """Tarballs of published packages have no scripts that `npm pack` would run."""
    return _run(("npm", "pack", "--silent", "--ignore-scripts", "--", *names), out)


def debian(names: Sequence[str], out: Path) -> bool:
    """Upstream's tarball, Debian's with the licences, and nothing unpacked.

    Where a mirror lacks a file the others of the batch are there all the same.
    """
    return _apt(out, "source", "--download-only", *names)


def deb(names: Sequence[str], out: Path) -> bool:
    """Binary packages of what is not compiled: all that is in them is source."""
    return _apt(out, "download", *names)


def _apt(out: Path, verb: str, *arguments: str) -> bool:
    command = ("apt-get", "-c", str(out / "apt" / "apt.conf"), verb, "-q", *arguments)
    return _run(command, out, tolerated=b"Failed to fetch some archives")


def prepare_apt(out: Path, system: Path = Path("/etc/apt")) -> None:
    """Package lists of its own, from the system's that name binaries, which name sources too."""
    state = (out / "apt").resolve()
    for directory in ("lists/partial", "cache/archives/partial", "parts"):
        (state / directory).mkdir(parents=True, exist_ok=True)
    for file in sorted((*system.glob("sources.list.d/debian.sources"), *system.glob("sources.list"))):
        text = file.read_text("utf-8")
        both = re.sub(r"^Types: deb$", "Types: deb deb-src", text, flags=re.MULTILINE)
        both = re.sub(r"^deb (.*)$", r"deb \1\ndeb-src \1", both, flags=re.MULTILINE)
        (state / "parts" / file.name).write_text(both, "utf-8")
    (state / "apt.conf").write_text(
        f'Dir::State "{state}";\nDir::State::Lists "{state}/lists";\nDir::State::status "/dev/null";\n'
        f'Dir::Cache "{state}/cache";\nDir::Etc::sourcelist "{state}/parts/sources.list";\n'
        f'Dir::Etc::sourceparts "{state}/parts";\nAPT::Sandbox::User "root";\n'
        'Acquire::Retries "0";\nAcquire::http::Timeout "15";\n',
        "utf-8",
    )
    _run(("apt-get", "-c", str(state / "apt.conf"), "update", "-q"), out)


def fetch(download: Download, names: Sequence[str], out: Path) -> list[str]:
    """Download a batch, halving it where it fails; the names that cannot be had."""
    if download(names, out):
        return []
    if len(names) == 1:
        return list(names)
    middle = len(names) // 2
    return [*fetch(download, names[:middle], out), *fetch(download, names[middle:], out)]


def _batches(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), BATCH):
        yield names[start : start + BATCH]


def fetch_registry(registry: str, names: Sequence[str], out: Path) -> None:
    """Every name of one registry, some batches at a time; `done.txt` remembers which were asked for."""
    out.mkdir(parents=True, exist_ok=True)
    if registry in ("deb", "debian"):
        prepare_apt(out)
    journal = out / "done.txt"
    known = set(read_names(journal)) if journal.exists() else set()
    wanted = list(_batches([name for name in names if name not in known]))
    with ThreadPoolExecutor(PARALLEL) as pool, journal.open("a") as log:
        failures = pool.map(lambda batch: fetch(REGISTRIES[registry], batch, out), wanted)
        for batch, failed in zip(wanted, failures, strict=True):
            log.write("".join(f"{name}\n" for name in batch))
            log.flush()
            print(f"{registry}: {len(batch) - len(failed)} of {len(batch)}", *failed, flush=True)


REGISTRIES: dict[str, Download] = {"deb": deb, "debian": debian, "npm": npm, "pypi": pypi}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--names", type=Path, default=HERE / "packages")
    parser.add_argument("--registry", action="append", choices=sorted(REGISTRIES))
    options = parser.parse_args()
    patterns = read_exclusions(options.names)
    for registry in options.registry or sorted(REGISTRIES):
        names = [name for name in read_names(options.names / f"{registry}.txt") if not excluded(name, patterns)]
        fetch_registry(registry, names, options.out / registry)


if __name__ == "__main__":
    main()
