"""What the daemon knows of its own life, and the one event that ends it."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime

from ctxsearch.daemon.settings import Settings
from ctxsearch.daemon.version import VERSION

DEFAULT_GRACE_SECONDS = 5.0
MAX_GRACE_SECONDS = 60.0


@dataclass(slots=True)
class Life:
    """Written by whoever asks the daemon to stop, and once by the server when it has bound its addresses."""

    settings: Settings
    version: str = VERSION
    idle_timeout_seconds: float = 0.0  # 0 = never
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    addresses: tuple[str, ...] = ()
    stop: threading.Event = field(default_factory=threading.Event)
    grace_seconds: float = DEFAULT_GRACE_SECONDS
