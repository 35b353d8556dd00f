"""What is installed is what is here: the wheel holds every file of the rooms, and every module imports from it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path, PurePosixPath

import pytest

ROOT = Path(__file__).parents[1]
ROOMS = {"graph": "graph", "indexer": "indexer", "search": "search", "daemon": "daemon", "v1": "proto/ctxsearch/v1"}
BUILD = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
# Without `site` no .pth file is read, so that the editable install cannot stand in for what the wheel lacks.
IMPORT = """
import importlib, json, sys
wheel, names, *libraries = sys.argv[1:]
sys.path[:0] = [wheel, *libraries]
places = {}
for name in json.loads(names):
    try:
        places[name] = importlib.import_module(name).__file__
    except Exception as error:
        places[name] = f"{type(error).__name__}: {error}"
print(json.dumps(places))
"""


def room_files() -> set[str]:
    """Every file of every room as the name it should have in the wheel; caches and editors' leftovers aside."""
    return {
        f"ctxsearch/{room}/{file.relative_to(ROOT / folder).as_posix()}"
        for room, folder in ROOMS.items()
        for file in (ROOT / folder).rglob("*")
        if file.is_file() and file.suffix != ".pyc" and not file.name.startswith(".") and not file.name.endswith("~")
    }


def module_name(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's contents, built from a copy: building leaves files beside the sources."""
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for folder in ROOMS.values():
        shutil.copytree(ROOT / folder, source / folder, ignore=shutil.ignore_patterns("__pycache__"))
    built = tmp_path_factory.mktemp("built")
    command = [sys.executable, "-c", BUILD, str(built)]
    outcome = subprocess.run(command, cwd=source, capture_output=True, text=True, timeout=240, check=False)
    assert outcome.returncode == 0, outcome.stderr
    (archive,) = built.glob("*.whl")
    contents = tmp_path_factory.mktemp("contents")
    zipfile.ZipFile(archive).extractall(contents)
    return contents


def test_the_wheel_holds_every_file_of_the_rooms_and_nothing_else(wheel: Path) -> None:
    inside = {file.relative_to(wheel).as_posix() for file in wheel.rglob("*") if file.is_file()}
    installed = {file for file in inside if not PurePosixPath(file).parts[0].endswith(".dist-info")}

    assert sorted(room_files() - installed) == []
    assert sorted(installed - room_files()) == []


def test_every_module_imports_from_the_wheel(wheel: Path) -> None:
    files = {module_name(file): file for file in room_files() if file.endswith(".py")}
    libraries = sorted({sysconfig.get_path("purelib"), sysconfig.get_path("platlib")})
    command = [sys.executable, "-I", "-S", "-c", IMPORT, str(wheel), json.dumps(sorted(files)), *libraries]

    outcome = subprocess.run(command, cwd=wheel, capture_output=True, text=True, timeout=240, check=False)

    assert outcome.returncode == 0, outcome.stderr
    assert json.loads(outcome.stdout) == {name: str(wheel / file) for name, file in files.items()}
