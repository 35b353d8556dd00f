"""A made-up but plausible repository of any size, the same for the same arguments: modules that call one another."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

VERBS = ("parse", "load", "store", "merge", "render", "check", "send", "fetch", "retry", "build", "split", "encode")
NOUNS = (
    "request",
    "session",
    "config",
    "invoice",
    "packet",
    "token",
    "cache",
    "index",
    "user",
    "stream",
    "graph",
    "page",
)
FUNCTIONS_PER_FILE = 36  # with four methods, their class and the module about 42 nodes
NODES_PER_FILE = 42
METHODS = 4


def write_corpus(root: Path, nodes: int, seed: int, files: int = 0) -> int:
    """Writes that many nodes, into that many files or files of a usual size; commits them; says how many files."""
    files = files or max(1, nodes // NODES_PER_FILE)
    functions = max(1, round(nodes / files) - (NODES_PER_FILE - FUNCTIONS_PER_FILE))
    pick = random.Random(seed)
    for number in range(files):
        path = root / f"pkg{number // 100:03}" / f"mod{number:05}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(module_text(number, pick, functions))
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "corpus")
    return files


def module_text(number: int, pick: random.Random, functions: int = FUNCTIONS_PER_FILE) -> str:
    """One module: functions that call functions of this and an earlier module, and, if it has several, a class."""
    lines = [f'"""Module {number}: {pick.choice(VERBS)}s the {pick.choice(NOUNS)}."""', ""]
    other = pick.randrange(number) if number else -1
    if other >= 0:
        lines += [f"from pkg{other // 100:03}.mod{other:05} import {function_name(other, 0)} as imported", ""]
    for position in range(functions):
        name = function_name(number, position)
        lines += ["", f"def {name}(value, limit={position}):"]
        lines += [f'    """{pick.choice(VERBS).title()} the {pick.choice(NOUNS)} before the {pick.choice(NOUNS)}."""']
        if position:
            lines += [f"    value = {function_name(number, pick.randrange(position))}(value)"]
        elif other >= 0:
            lines += ["    value = imported(value)"]
        lines += [f"    if value > limit * {pick.randrange(100)}:", "        return limit", "    return value + 1", ""]
    if functions < METHODS:
        return "\n".join(lines) + "\n"
    lines += ["", f"class Service{number}:", '    """Keeps the state."""', ""]
    for position in range(METHODS):
        verb = VERBS[(number + position) % len(VERBS)]
        lines += [
            f"    def {verb}_all_{position}(self, items):",
            f"        return [{function_name(number, position)}(x) for x in items]",
            "",
        ]
    return "\n".join(lines) + "\n"


def function_name(number: int, position: int) -> str:
    """Distinct over the corpus, made of ordinary words."""
    verb, noun = VERBS[(number + position) % len(VERBS)], NOUNS[(number * 7 + position // 12) % len(NOUNS)]
    return f"{verb}_{noun}_{number}_{position}"


def queries(seed: int, count: int, files: int) -> list[str]:
    """Questions in words, and now and then a name."""
    pick = random.Random(seed)
    asked = []
    for _ in range(count):
        if pick.random() < 0.3:
            asked.append(function_name(pick.randrange(files), pick.randrange(FUNCTIONS_PER_FILE)))
        else:
            asked.append(
                f"{pick.choice(VERBS)} the {pick.choice(NOUNS)} before {pick.choice(NOUNS)} {pick.choice(VERBS)}"
            )
    return asked


def git(root: Path, *arguments: str) -> None:
    """Runs git with an identity of its own."""
    identity = {"GIT_AUTHOR_NAME": "bench", "GIT_AUTHOR_EMAIL": "bench@example.org"}
    identity |= {"GIT_COMMITTER_NAME": "bench", "GIT_COMMITTER_EMAIL": "bench@example.org"}
    subprocess.run(
        ["git", *arguments], cwd=root, check=True, capture_output=True, env=os.environ | identity, timeout=600
    )
