"""The layers and the one door per engine, as pyproject.toml states them, hold; and they would notice a breach."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

CONFIGURATION = Path(__file__).parents[1] / "pyproject.toml"
LINT = "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"


def lint(configuration: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", LINT, "--config", str(configuration), "--no-cache", "--no-logo"]
    return subprocess.run(command, cwd=CONFIGURATION.parent, capture_output=True, text=True, timeout=240, check=False)


def test_every_import_contract_is_kept() -> None:
    outcome = lint(CONFIGURATION)

    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def test_an_engine_imported_beside_its_door_is_noticed(tmp_path: Path) -> None:
    """Without their exceptions all contracts with doors are broken: the imports behind the doors are seen."""
    without_doors = tmp_path / "pyproject.toml"
    text = CONFIGURATION.read_text()
    without_doors.write_text(re.sub(r"^ignore_imports = \[[^]]*\]\n", "", text, flags=re.MULTILINE))
    contracts = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    doors = {contract["name"] for contract in contracts if "ignore_imports" in contract}

    outcome = lint(without_doors)

    broken = set(re.findall(r"^(.+) BROKEN$", outcome.stdout, flags=re.MULTILINE))
    assert outcome.returncode != 0
    assert doors
    assert broken == doors


def test_every_grammar_that_is_installed_has_its_door() -> None:
    project = tomllib.loads(CONFIGURATION.read_text())
    installed = {
        re.split("[<>=]", dependency)[0].replace("-", "_") for dependency in project["project"]["dependencies"]
    }
    grammars = {name for name in installed if name.startswith("tree_sitter")}
    guarded = {
        name
        for contract in project["tool"]["importlinter"]["contracts"]
        if contract["type"] == "forbidden"
        for name in contract["forbidden_modules"]
    }

    assert "tree_sitter_python" in grammars
    assert grammars <= guarded
