"""The version of ctxsearch and of the API that it serves; kept apart so that a client knows it without a search."""

VERSION = "0.1.0"
API_VERSION = "ctxsearch.v1"


def version_key(version: str) -> tuple[int, ...]:
    """Orders versions by their numeric parts; anything else in a part counts as 0."""
    return tuple(int(part) if part.isdecimal() else 0 for part in version.split("."))
