"""Generated code of `ctxsearch.v1`: `make proto` writes it beside its .proto, `--check` proves it current.

`--check` also runs buf's lint and its breaking-change check against `baseline.binpb`, the contract as last
released; `--release` makes today's contract the baseline. Nothing here touches the network.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from google.protobuf import __file__ as _protobuf_file
from grpc_tools import __file__ as _tools_file

HERE = Path(__file__).resolve().parent
PACKAGE = Path("ctxsearch/v1")
BASELINE = HERE / "baseline.binpb"
GENERATED = ("*_pb2.py", "*_pb2.pyi", "*_pb2_grpc.py", "*_pb2_grpc.pyi")


def sources() -> list[str]:
    """The .proto files, relative to the module root, in a fixed order."""
    return sorted(str(path.relative_to(HERE)) for path in (HERE / PACKAGE).glob("*.proto"))


def generate(out: Path) -> None:
    """Writes messages, services and their type stubs under `out`."""
    bin_dir = Path(sys.executable).parent
    includes = [Path(_tools_file).parent / "_proto", Path(_protobuf_file).parents[2]]
    command = [
        sys.executable,
        "-m",
        "grpc_tools.protoc",
        f"--proto_path={HERE}",
        *(f"--proto_path={include}" for include in includes),
        f"--plugin=protoc-gen-mypy={bin_dir / 'protoc-gen-mypy'}",
        f"--plugin=protoc-gen-mypy_grpc={bin_dir / 'protoc-gen-mypy_grpc'}",
        f"--python_out={out}",
        f"--grpc_python_out={out}",
        f"--mypy_out=quiet:{out}",
        f"--mypy_grpc_out=quiet:{out}",
        *sources(),
    ]
    subprocess.run(command, check=True, cwd=HERE, timeout=120)
    drop_empty_services(out)


def drop_empty_services(out: Path) -> None:
    """A .proto without a service yields an empty grpc module; nobody imports it."""
    for path in sorted((out / PACKAGE).glob("*_pb2_grpc.py")):
        if "Stub" not in path.read_text(encoding="utf-8"):
            path.unlink()
            path.with_suffix(".pyi").unlink(missing_ok=True)


def generated_files(root: Path) -> dict[str, bytes]:
    """Name and content of every generated file under `root`."""
    folder = root / PACKAGE
    return {path.name: path.read_bytes() for pattern in GENERATED for path in sorted(folder.glob(pattern))}


def stale_files() -> list[str]:
    """Generated files that differ from what the .proto files say today."""
    with tempfile.TemporaryDirectory() as folder:
        generate(Path(folder))
        fresh = generated_files(Path(folder))
    committed = generated_files(HERE)
    return sorted(name for name in fresh.keys() | committed.keys() if fresh.get(name) != committed.get(name))


def buf(*arguments: str) -> None:
    """Runs buf in the module root; it needs no network for local inputs."""
    subprocess.run([str(Path(sys.executable).parent / "buf"), *arguments], check=True, cwd=HERE, timeout=120)


def check() -> int:
    """0 if lint, compatibility and generated code are all in order."""
    try:
        buf("lint")
        buf("breaking", "--against", str(BASELINE))
    except subprocess.CalledProcessError:
        return 1
    stale = stale_files()
    if stale:
        print(f"generated code is not current: {', '.join(stale)}; run `make proto`", file=sys.stderr)
    return 1 if stale else 0


def main() -> int:
    """Command line: no option generates."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="prove that nothing needs to be generated")
    parser.add_argument("--release", action="store_true", help="make today's contract the baseline")
    options = parser.parse_args()
    if options.check:
        return check()
    if options.release:
        buf("build", "--exclude-source-info", "-o", str(BASELINE))
    generate(HERE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
