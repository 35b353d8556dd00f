"""The base of every error. Imports nothing: clients of the daemon must start quickly."""

from __future__ import annotations


class CtxsearchError(Exception):
    """Base of every error that ctxsearch raises on purpose."""
