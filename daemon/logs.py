"""Structured logs of the daemon: one JSON object per line in a rotating file, with the request's id.

Never logs a token, a query's text or source code; requests are logged by method, sizes and times.
"""

from __future__ import annotations

import logging
import logging.handlers
import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import structlog

if TYPE_CHECKING:
    from structlog.stdlib import BoundLogger

MAX_BYTES = 5 << 20
BACKUPS = 3


def configure_logging(path: Path, level: str, to_stderr: bool) -> None:
    """Sends the daemon's log to `path`, and to standard error as well when in the foreground."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handlers: list[logging.Handler] = [
        logging.handlers.RotatingFileHandler(path, maxBytes=MAX_BYTES, backupCount=BACKUPS, encoding="utf-8")
    ]
    if to_stderr:
        handlers.append(logging.StreamHandler(sys.stderr))
    logging.basicConfig(format="%(message)s", handlers=handlers, level=level.upper(), force=True)
    for noisy in ("watchfiles", "git", "asyncio"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(sort_keys=True),
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def get_logger(name: str) -> BoundLogger:
    """The logger of one module."""
    return cast("BoundLogger", structlog.get_logger(name))
