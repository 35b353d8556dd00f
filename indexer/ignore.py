"""Nested ignore files in gitignore syntax: `.ctxsearchignore` always, `.gitignore` where there is no git.

The rules are git's: a deeper file overrides a shallower one, a later line an earlier one, `!` takes back, and
nothing beneath an ignored directory can be taken back. Reads ignore files only; never decides on content.

The patterns are translated here because they must mean what git means by them: each decides on one path, not
on what lies beneath it. `pathspec` matches beneath as well, so that `!a` would take back an ignored `a/b/`.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

from ctxsearch.graph.errors import CtxsearchError
from ctxsearch.indexer.beneath import open_beneath, read_up_to

CTXSEARCH_IGNORE = ".ctxsearchignore"
GIT_IGNORE = ".gitignore"
_DIRECTORY = "\0"  # marks a directory's path: not "/", or `b/*` would match `b/` with an empty name
_MAX_IGNORE_BYTES = 1 << 20  # an ignore file larger than this is not one


class Pattern(NamedTuple):
    """One line of an ignore file. Matches a path; a directory's ends in `_DIRECTORY`."""

    takes_back: bool
    regex: re.Pattern[str]


class _Rules(NamedTuple):
    """One ignore file: where it applies and what it says."""

    prefix: str  # of its directory: "" or "a/b/"
    patterns: tuple[Pattern, ...]  # last line first: the first that matches decides
    anything: re.Pattern[str]  # matches whatever any pattern matches; most files match none

    def verdict(self, path: str) -> bool | None:
        """True ignored, False taken back, None not mentioned."""
        relative = path[len(self.prefix) :]
        if self.anything.match(relative) is None:
            return None
        decisive = next(pattern for pattern in self.patterns if pattern.regex.match(relative))
        return not decisive.takes_back


class _Directory(NamedTuple):
    ignored: bool
    rules: tuple[_Rules, ...]  # deepest first


class IgnoreRules:
    """The ignore files called `names` beneath `root`, read as they are needed and kept.

    Make one per listing: it does not notice that an ignore file changes.
    """

    def __init__(self, root: Path, names: tuple[str, ...]) -> None:
        self._root = root
        self._names = names
        self._directories: dict[str, _Directory] = {}

    def ignores_file(self, path: str) -> bool:
        """Whether the file is ignored, by itself or with a directory above it."""
        return self._ignores(path, path.rpartition("/")[0])

    def ignores_directory(self, path: str) -> bool:
        """Whether the directory and so everything beneath it is ignored."""
        return self._directory(path).ignored

    def _ignores(self, subject: str, parent: str) -> bool:
        directory = self._directory(parent)
        if directory.ignored:
            return True
        for rules in directory.rules:
            verdict = rules.verdict(subject)
            if verdict is not None:
                return verdict
        return False

    def _directory(self, path: str) -> _Directory:
        known = self._directories.get(path)
        if known is None:
            known = self._directories[path] = self._read_directory(path)
        return known

    def _read_directory(self, path: str) -> _Directory:
        if path == "":
            return _Directory(False, self._read_rules(""))
        parent = path.rpartition("/")[0]
        if self._ignores(path + _DIRECTORY, parent):
            return _Directory(True, ())
        return _Directory(False, self._read_rules(path + "/") + self._directory(parent).rules)

    def _read_rules(self, prefix: str) -> tuple[_Rules, ...]:
        # A later name overrides an earlier one, hence it comes first.
        found = (_read_ignore_file(self._root, prefix, name) for name in reversed(self._names))
        return tuple(rules for rules in found if rules is not None)


def _read_ignore_file(root: Path, prefix: str, name: str) -> _Rules | None:
    try:
        descriptor = open_beneath(root, prefix + name)
    except (OSError, CtxsearchError):
        return None  # absent or not readable: git goes on without it too
    try:
        data = read_up_to(descriptor, _MAX_IGNORE_BYTES)
    except OSError:
        return None
    finally:
        os.close(descriptor)
    lines = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace").split("\n")
    patterns = tuple(pattern for line in reversed(lines) if (pattern := compile_line(line)) is not None)
    if not patterns:
        return None
    return _Rules(prefix, patterns, re.compile("|".join(f"(?:{p.regex.pattern})" for p in patterns), re.DOTALL))


def compile_line(line: str) -> Pattern | None:
    """A line of an ignore file; None when it says nothing: blank, a comment, or never matching by its syntax."""
    text = re.sub(r"(?<!\\) +$", "", line.removesuffix("\r"))
    if not text or text.startswith("#"):
        return None
    takes_back = text.startswith("!")
    text = text.removeprefix("!")
    directory_only = text.endswith("/")
    text = text.removesuffix("/")
    anchored = "/" in text
    try:
        body = _translate(text.removeprefix("/"))
    except ValueError:
        return None
    start = "" if anchored else "(?:.*/)?"
    end = r"\0\Z" if directory_only else r"\0?\Z"
    return Pattern(takes_back, re.compile(start + body + end, re.DOTALL)) if body else None


_TOKEN = re.compile(
    r"(?P<any_directories>(?<![^/])\*\*/)|(?P<everything>(?<![^/])\*\*\Z)|(?P<star>\*+)|(?P<one>\?)"
    r"|(?P<set>\[[!^]?\]?(?:\[:\w+:\]|\\.|[^\]\\])*\])|\\(?P<escaped>.)|(?P<broken>[\[\\])|(?P<literal>.)",
    re.DOTALL,
)


def _translate(text: str) -> str:
    """A shell pattern as a regular expression in which only `**` crosses '/'; ValueError if it cannot match."""
    return "".join(_translate_token(token) for token in _TOKEN.finditer(text))


def _translate_token(token: re.Match[str]) -> str:
    match token.lastgroup:
        case "any_directories":
            return "(?:.*/)?"
        case "everything":
            return ".+"
        case "star":
            return r"[^/\0]*"
        case "one":
            return r"[^/\0]"
        case "set":
            return _translate_set(token["set"])
        case "broken":
            raise ValueError(token.string)
        case _:
            return re.escape(token["escaped"] or token["literal"])


_CLASSES = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "digit": "0-9",
    "lower": "a-z",
    "punct": re.escape("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
    "space": "\\s",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


def _translate_set(text: str) -> str:
    inner = text[1:-1]
    negated = inner[:1] in ("!", "^")
    inner = inner[1:] if negated else inner
    parts = []
    for item in re.finditer(r"\[:(\w+):\]|\\(.)|(-)|(.)", inner, re.DOTALL):
        if item[1]:
            parts.append(_CLASSES.get(item[1], ""))
        else:
            parts.append(item[3] or re.escape(item[2] or item[4]))
    body = "".join(parts)
    regex = rf"(?![/\0])[{'^' if negated else ''}{body}]"
    try:
        re.compile(regex)
    except re.error as error:  # a range that runs backwards
        raise ValueError(text) from error
    return regex
