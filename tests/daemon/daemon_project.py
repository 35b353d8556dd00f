"""A small project in git, and a daemon that serves it: what the end-to-end tests look at."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ctxsearch.daemon.cli_repositories import wait_for_index
from ctxsearch.daemon.client import is_running
from ctxsearch.daemon.lock import FileLock
from ctxsearch.daemon.session import Session
from ctxsearch.daemon.settings import Settings
from ctxsearch.v1 import repository_pb2, search_pb2


@dataclass(frozen=True)
class Served:
    """A daemon that serves one indexed project."""

    settings: Settings
    session: Session
    root: Path
    name: str


FILES = {
    "shop/__init__.py": "",
    "shop/pricing.py": '''"""Prices and discounts."""


def apply_discount(price: float, percent: float) -> float:
    """Reduce a price by a percentage, never below zero."""
    return max(0.0, price * (1 - percent / 100))


def total_price(items: list[float], percent: float = 0.0) -> float:
    """Sum of all items after the discount."""
    return apply_discount(sum(items), percent)
''',
    "shop/checkout.py": '''"""Turning a basket into an order."""

from shop.pricing import total_price


class Checkout:
    """One customer's way to the till."""

    def __init__(self, items: list[float]) -> None:
        self.items = items

    def place_order(self) -> float:
        """Charge the customer."""
        return total_price(self.items, 10)
''',
    "shop/retry.py": '''"""Trying again."""

import time


def retry_with_backoff(action, attempts: int = 5):
    """Call an action until it works, waiting longer after every failure."""
    for attempt in range(attempts):
        try:
            return action()
        except ConnectionError:
            time.sleep(2**attempt)
    raise TimeoutError
''',
    "tests/test_pricing.py": """from shop.pricing import apply_discount


def test_apply_discount():
    assert apply_discount(100, 10) == 90
""",
    "web/format.js": """export function formatCurrency(amount) {
  return '$' + amount.toFixed(2);
}

export function renderPrice(amount) {
  return formatCurrency(amount);
}
""",
    "README.md": "# Shop\n\nA shop to test with. Prices are reduced by `apply_discount`.\n",
    ".gitignore": "ignored/\n",
    "ignored/plan.py": "def plannedzebra():\n    pass\n",
    ".env": "PASSWORD=hunterzebra\n",
}
GIT_ENVIRONMENT = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_SYSTEM": "/dev/null",
    "GIT_AUTHOR_NAME": "ada",
    "GIT_AUTHOR_EMAIL": "ada@example.org",
    "GIT_COMMITTER_NAME": "ada",
    "GIT_COMMITTER_EMAIL": "ada@example.org",
}


def git(root: Path, *arguments: str) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=root, env=os.environ | GIT_ENVIRONMENT, capture_output=True, check=True, timeout=60
    )
    return done.stdout.decode().strip()


def make_project(root: Path, files: dict[str, str] | None = None) -> Path:
    for path, text in (files or FILES).items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "first")
    return root


def add_and_wait(session: Session, root: Path, name: str = "", *, complete: bool = True) -> str:
    """Adds a repository and waits until its graph can be walked, or until vectors and history are there too."""
    request = repository_pb2.AddRepositoryRequest(path=str(root), name=name)
    added: str = session.repository("AddRepository", request).repository.name
    progress = wait_for_index(session, added, complete=complete)
    if not progress.graph_ready:
        refresh(session, added)
    return added


def refresh(session: Session, name: str) -> int:
    """Brings an index up to date; the generation that answers."""
    request = repository_pb2.RefreshRequest(repository=name)
    request.max_wait.FromSeconds(120)
    response = session.repository("Refresh", request, timeout=150)
    assert response.completed
    generation: int = response.generation
    return generation


def search(session: Session, text: str, name: str = "", **fields: object) -> search_pb2.ContextSearchResponse:
    request = search_pb2.ContextSearchRequest(text=text, **fields)  # type: ignore[arg-type]
    if name:
        request.scope.include.repositories.append(name)
    response: search_pb2.ContextSearchResponse = session.search(request)
    return response


def names(response: search_pb2.ContextSearchResponse) -> list[str]:
    return [result.node.name for result in response.results]


def cli(settings: Settings, cwd: Path, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    """Runs the command as a user would, in a process of its own."""
    return run_cli(settings, cwd, arguments, stdin)


def run_cli(
    settings: Settings, cwd: Path, arguments: Sequence[str], stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {
        "CTXSEARCH_DATA_DIR": str(settings.data_dir),
        "CTXSEARCH_RUNTIME_DIR": str(settings.runtime_dir),
        "CTXSEARCH_CONFIG": str(settings.data_dir / "config.toml"),
        "HOME": str(cwd),
    }
    return subprocess.run(
        [sys.executable, "-P", "-m", "ctxsearch.daemon.cli", *arguments],
        cwd=cwd,
        env=environment,
        input=stdin if stdin is not None else "",
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def wait_until_free(settings: Settings) -> None:
    """Waits for the daemon's end, which is when the kernel drops its lock."""
    if settings.lock_path.exists() and is_running(settings):
        lock = FileLock(settings.lock_path)
        lock.acquire(timeout_seconds=60)
        lock.release()
