"""What can go wrong in the daemon, in the user's words. Each message names the thing, the reason and the next step.

`wire.py` holds the one table that maps these, and the engines' own errors, to a status.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxsearch.graph.errors import CtxsearchError


class InvalidRequestError(CtxsearchError):
    """A request is wrong whatever the state."""


class UnknownRepositoryError(CtxsearchError):
    """No repository of that name was added."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        self.name = name
        listed = f"added: {', '.join(known)}" if known else "none was added"
        super().__init__(f"no repository {name!r} ({listed}); run `ctxsearch add PATH`")


class UnknownNodeError(CtxsearchError):
    """No node has that id, name or place."""

    def __init__(self, symbol: str, near: Sequence[str], left_out: str = "") -> None:
        self.near = () if left_out else tuple(near)
        if left_out:
            super().__init__(f"no node {symbol!r}: that file is left out of the index ({left_out})")
            return
        hint = f"did you mean {', '.join(map(repr, near))}?" if near else "search for it with `ctxsearch search`"
        super().__init__(f"no node {symbol!r}; {hint}")


class AmbiguousSymbolError(CtxsearchError):
    """Several nodes have that name."""

    def __init__(self, symbol: str, candidates: Sequence[str], total: int) -> None:
        self.candidates = tuple(candidates)
        more = f" and {total - len(candidates)} more" if total > len(candidates) else ""
        super().__init__(f"{symbol!r} names {total} nodes; say which: {'; '.join(candidates)}{more}")


class NoIndexError(CtxsearchError):
    """There is nothing to answer from yet."""


class NothingToIndexError(CtxsearchError):
    """A directory holds no file that can be indexed."""


class GenerationNotReachedError(CtxsearchError):
    """The generation asked for was not there in time."""

    def __init__(self, wanted: int, current: int) -> None:
        super().__init__(f"generation {wanted} is not indexed yet, {current} is; wait longer with max_wait")


class StoppingError(CtxsearchError):
    """The daemon is starting or stopping."""


class TooBusyError(CtxsearchError):
    """A limit of the daemon is reached."""


class AbandonedError(CtxsearchError):
    """The client went away or its deadline passed; nobody reads the answer."""


class IndexingFailedError(CtxsearchError):
    """An indexing process reported an error or died."""


class UnauthenticatedError(CtxsearchError):
    """A TCP peer sent no token, or a wrong one."""

    def __init__(self) -> None:
        super().__init__("a valid bearer token is required; set CTXSEARCH_TOKEN or CTXSEARCH_TOKEN_FILE")
