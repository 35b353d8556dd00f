"""A throw-away git repository for tests: fixed identity, fixed times, no configuration from outside."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

EPOCH = 1_700_000_000  # seconds; the time of the first commit
DAY = 86_400


@dataclass
class ScratchRepository:
    """Commits are one day apart unless a test says otherwise."""

    root: Path
    now: int = EPOCH
    author: str = "ada"
    extra_env: dict[str, str] = field(default_factory=dict)

    @classmethod
    def create(cls, root: Path) -> ScratchRepository:
        root.mkdir(parents=True, exist_ok=True)
        repository = cls(root)
        repository.git("init", "-q", "-b", "main")
        return repository

    def git(self, *args: str, cwd: Path | None = None) -> str:
        env = {
            "PATH": os.environ["PATH"],
            "HOME": "/nonexistent",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": self.author,
            "GIT_AUTHOR_EMAIL": f"{self.author}@example.org",
            "GIT_COMMITTER_NAME": "committer",
            "GIT_COMMITTER_EMAIL": "committer@example.org",
            "GIT_AUTHOR_DATE": f"{self.now} +0000",
            "GIT_COMMITTER_DATE": f"{self.now} +0000",
            "GIT_ALLOW_PROTOCOL": "file",
        } | self.extra_env
        done = subprocess.run(
            ["git", *args], cwd=cwd or self.root, env=env, capture_output=True, check=True, timeout=60
        )
        return done.stdout.decode()

    def write(self, path: str, lines: Sequence[str] | str | bytes) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(lines, bytes):
            target.write_bytes(lines)
        else:
            text = lines if isinstance(lines, str) else "".join(f"{line}\n" for line in lines)
            target.write_text(text)

    def commit(self, subject: str = "change", *, after: int = DAY) -> str:
        """Commit everything in the work tree; the id."""
        self.now += after
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", subject)
        return self.head()

    def head(self) -> str:
        return self.git("rev-parse", "HEAD").strip()
