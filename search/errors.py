"""What can go wrong in a search, one class per kind of answer the caller must give. The facts are fields."""

from __future__ import annotations

from ctxsearch.graph.errors import CtxsearchError


class SearchError(CtxsearchError):
    """Base of the errors of a search."""


class InvalidArgument(SearchError):  # noqa: N818 - named as the status it becomes
    """The request is wrong whatever the state of the index."""

    def __init__(self, field: str, value: object, allowed: str) -> None:
        """Name the field, what it held and what it may hold."""
        self.field, self.value, self.allowed = field, value, allowed
        super().__init__(f"{field}: {_shown(value)} is not allowed; allowed: {allowed}")


class NotFound(SearchError):  # noqa: N818
    """The request names a repository that is not indexed."""

    def __init__(self, what: str, name: str, known: tuple[str, ...]) -> None:
        """Name what is missing and what there is instead."""
        self.what, self.name, self.known = what, name, known
        listed = ", ".join(known) if known else "none"
        super().__init__(f"no {what} named {name!r}; known: {listed}")


class FailedPrecondition(SearchError):  # noqa: N818
    """The request needs something that this installation or index does not have."""


class Unavailable(SearchError):  # noqa: N818
    """No signal could answer, or the wanted generation did not come in time."""


class IndexCorrupt(SearchError):  # noqa: N818
    """A store on disk cannot be read; it is derived data and can be rebuilt."""


def _shown(value: object, limit: int = 80) -> str:
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."
