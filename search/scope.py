"""Which part of the code a search looks at: paths, languages, kinds, packages. Pure.

One meaning, used three times: pushed down into each index in that index's own terms, and checked once more
here after the lists are merged.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from ctxsearch.graph.model import CodeNode, NodeKind
from ctxsearch.search.errors import InvalidArgument

MAX_VALUES = 100  # of one list: each is asked of every path, name or language
MAX_LENGTH = 1000  # of one value
MAX_ALTERNATIVES = 64  # that the braces of one glob may mean
MAX_SUFFIXES = 4  # of a file's name that can be asked for without a regular expression
_GLOB_CHARS = frozenset("*?[{")
_NO_SEGMENT = ("", ".")  # of a path: between two slashes, or the folder itself
_ACROSS = {"**/": "(.*/)?", "**": ".*"}  # wildcards that leave the folder
_WILDCARDS = _ACROSS | {"*": "[^/]*"}
_REGEX_META = frozenset("\\.+*?()|[]{}^$#&-~/ ")
# Where one name ends and the next begins in a qualified name, in any of the languages.
SEPARATORS = r".#/\:$"
# `folder/**`, `**/name/**`, both also with `/*.suffix`; `**/*.suffix` and `*.suffix`.
_SIMPLE_GLOB = re.compile(
    r"(?:(?P<folder>[^*?\[{]+|\*\*/[^*?\[{/]+)/\*\*(?![^/])/?|(?:\*\*/)?)(?:(?<![^/])\*(?P<suffix>\.[^*?\[{/]+))?",
    re.DOTALL,
)
_ONE_BRACE = re.compile(r"([^{}]*)\{([^{}]*)\}([^{}]*)", re.DOTALL)
_SEPARATOR = re.compile(f"[{re.escape(SEPARATORS)}]+")


@dataclass(frozen=True, slots=True)
class Scope:
    """Everything that is included (or everything, where nothing is named) and not excluded.

    A path without glob characters is a file or a folder with all below it. A glob without `/` meets file
    names at any depth; `*` stays inside one folder, `**` does not; `[*]`, `[?]`, `[[]` and `[{]` are these characters
    themselves. Empty and `.` segments of either mean nothing; `.` alone is everything below the root.
    """

    repositories: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    kinds: tuple[NodeKind, ...] = ()
    packages: tuple[str, ...] = ()  # dotted (or `::`) qualified name of a package, module or class
    exclude_repositories: tuple[str, ...] = ()
    exclude_paths: tuple[str, ...] = ()
    exclude_languages: tuple[str, ...] = ()
    exclude_kinds: tuple[NodeKind, ...] = ()
    exclude_packages: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse malformed globs and unknown kinds here, once."""
        for prefix in ("", "exclude_"):
            for name in ("repositories", "paths", "languages", "kinds", "packages"):
                _check_values(f"scope.{prefix}{name}", getattr(self, prefix + name))
            for pattern in getattr(self, f"{prefix}paths"):
                path_regex(pattern, f"scope.{prefix}paths")
                if _count_alternatives(pattern) > MAX_ALTERNATIVES:
                    raise InvalidArgument(f"scope.{prefix}paths", pattern, f"at most {MAX_ALTERNATIVES} alternatives")

    @property
    def is_everything(self) -> bool:
        """No condition on nodes; repositories are chosen before any index is asked."""
        return not (
            self.paths
            or self.languages
            or self.kinds
            or self.packages
            or self.exclude_paths
            or self.exclude_languages
            or self.exclude_kinds
            or self.exclude_packages
        )

    def accepts(self, node: CodeNode) -> bool:
        """Whether a node is in scope (its repository aside). Only conditions that there are take time."""
        return (
            (not (self.kinds or self.exclude_kinds) or self.accepts_kind(node.kind))
            and (not (self.languages or self.exclude_languages) or self.accepts_language(node.language))
            and (not (self.paths or self.exclude_paths) or self.accepts_path(node.path))
            and (not (self.packages or self.exclude_packages) or self.accepts_package(node.qualified_name))
        )

    def accepts_repository(self, name: str) -> bool:
        """Whether the nodes of a repository can be in scope at all."""
        return _chosen(name in self.repositories, self.repositories, name in self.exclude_repositories)

    def accepts_kind(self, kind: NodeKind) -> bool:
        """The condition on kinds alone."""
        return _chosen(kind in self.kinds, self.kinds, kind in self.exclude_kinds)

    def accepts_language(self, language: str) -> bool:
        """The condition on languages alone; the case of letters does not matter."""
        return _chosen(_named(language, self.languages), self.languages, _named(language, self.exclude_languages))

    def accepts_path(self, path: str) -> bool:
        """The condition on paths alone."""
        return _chosen(_matches_any(path, self.paths), self.paths, _matches_any(path, self.exclude_paths))

    def accepts_package(self, qualified_name: str) -> bool:
        """The condition on packages alone."""
        return _chosen(
            _inside_any(qualified_name, self.packages),
            self.packages,
            _inside_any(qualified_name, self.exclude_packages),
        )


def _chosen(included: bool, include: tuple[object, ...], excluded: bool) -> bool:
    return (included or not include) and not excluded


def _named(language: str, wanted: tuple[str, ...]) -> bool:
    return any(language.lower() == one.lower() for one in wanted)


def _check_values(field: str, values: object) -> None:
    if not isinstance(values, tuple):
        raise InvalidArgument(field, values, "a tuple of values")
    if len(values) > MAX_VALUES:
        raise InvalidArgument(field, f"{len(values)} values", f"at most {MAX_VALUES}")
    for value in values:
        if field.endswith("kinds"):
            if not isinstance(value, NodeKind):
                raise InvalidArgument(field, value, ", ".join(kind.name for kind in NodeKind))
        elif not isinstance(value, str) or not value.strip():
            raise InvalidArgument(field, value, "names that are not empty")
        elif len(value) > MAX_LENGTH:
            raise InvalidArgument(field, f"{len(value)} characters", f"at most {MAX_LENGTH}")


def _matches_any(path: str, patterns: tuple[str, ...]) -> bool:
    return any(_compiled(pattern).fullmatch(path) is not None for pattern in patterns)


@functools.lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    """Meets what `path_regex` meets, and tells in no time what it does not, whatever the glob."""
    tokens = _tokens_of(pattern)
    if tokens is None:
        return re.compile(path_regex(pattern), re.DOTALL)
    return re.compile("|".join(map(_hasty_regex, _alternatives(tokens))), re.DOTALL)


def _hasty_regex(tokens: Sequence[str]) -> str:
    """One glob without braces, for Python's engine, which would try every way to share a path among the wildcards.

    That is needless: what follows a wildcard is best met as early as possible, for the next wildcard can then take what
    the first one left. So all but the last `*` and the last `**` keep to what they took first (atomic groups).
    """
    out: list[str] = []
    opened: dict[bool, int] = {}  # whether it leaves the folder -> where the group of that wildcard begins

    def close(*levels: bool) -> None:
        out.extend(")" for level in levels if opened.pop(level, None) is not None)

    for token in tokens:
        if token in _WILDCARDS:
            across = token in _ACROSS
            close(*((False, True) if across else (False,)))
            opened[across] = len(out)
            out += ["(?>", {"**/": "(?:.*?/)??", "**": ".*?", "*": "[^/]*?"}[token]]
        else:
            out.append(token)
    for start in opened.values():
        out[start] = "(?:"
    close(False, True)
    return "".join(out)


def _alternatives(tokens: Sequence[str]) -> list[list[str]]:
    """What a glob with braces stands for."""
    done: list[list[str]] = []
    heads: list[list[str]] = [[]]
    index = 0
    while index < len(tokens):
        if tokens[index] == "{":
            end = _brace_end(tokens, index)
            inner = _alternatives(tokens[index + 1 : end])
            heads = [head + tail for head in heads for tail in inner]
            index = end
        elif tokens[index] == "|":
            done, heads = done + heads, [[]]
        else:
            for head in heads:
                head.append(tokens[index])
        index += 1
    return done + heads


def _count_alternatives(pattern: str) -> int:
    """How many globs without braces a glob stands for; not made, since they may be beyond number."""
    counts = [(0, 1)]  # per open brace: of the alternatives before, of the one under way
    for each in _tokens_of(pattern) or ():
        before, now = counts[-1]
        if each == "{":
            counts.append((0, 1))
        elif each == "|":
            counts[-1] = (before + now, 1)
        elif each == "}":
            counts.pop()
            counts[-1] = (counts[-1][0], counts[-1][1] * (before + now))
    return sum(counts[0])


def _brace_end(tokens: Sequence[str], start: int) -> int:
    depth = 0
    for index in range(start, len(tokens)):
        depth += {"{": 1, "}": -1}.get(tokens[index], 0)
        if not depth:
            return index
    raise AssertionError("`_glob_tokens` refuses braces without an end")


def package_ancestors(qualified_name: str) -> tuple[str, ...]:
    """`a.b::c` -> `a`, `a.b`, `a.b.c`: every package a name is inside of, and itself, with dots."""
    parts = [part for part in _SEPARATOR.split(qualified_name) if part]
    return tuple(".".join(parts[: end + 1]) for end in range(len(parts)))


def dotted(package: str) -> str:
    """A package as typed, with dots for separators."""
    return ".".join(part for part in _SEPARATOR.split(package) if part)


def _inside_any(qualified_name: str, packages: tuple[str, ...]) -> bool:
    return bool(packages) and f"{dotted(qualified_name)}.".startswith(_prefixes(packages))


@functools.lru_cache(maxsize=64)
def _prefixes(packages: tuple[str, ...]) -> tuple[str, ...]:
    """How a name in one of the packages begins, if it ends with a dot."""
    return tuple(f"{dotted(one)}." for one in packages)


def path_regex(pattern: str, field: str = "scope.paths") -> str:
    """A regular expression that means the same to Python and to the full-text engine; whole path, unanchored.

    Raises InvalidArgument on a malformed glob.
    """
    tokens = _tokens_of(pattern, field)
    if tokens is None:
        return _escaped(_cleaned(pattern)) + "(/.*)?"
    return "".join({**_WILDCARDS, "{": "(", "}": ")"}.get(token, token) for token in tokens)


class Beneath(NamedTuple):
    """Files beneath a folder, at any depth, whose names end in some way."""

    folder: str  # as `folders_of` lists it; "" any
    suffix: str  # with its dots; "" any


def plain_path(pattern: str) -> str | None:
    """The file or folder that a pattern without wildcards means; None: it is a glob."""
    return _cleaned(pattern) if _tokens_of(pattern) is None else None


def simple_glob(pattern: str) -> tuple[Beneath, ...]:
    """What a glob means that asks for folders and suffixes alone, as most do: `src/**`, `*.py`, `**/tests/**`.

    Nothing: it asks for more, and only its regular expression says what it means.
    """
    cleaned = _cleaned(pattern)
    is_rooted_name = "/" not in cleaned and _is_rooted(pattern)
    if is_rooted_name or (_is_folder(pattern) and not cleaned.endswith("**")):
        return ()
    braces = _ONE_BRACE.fullmatch(cleaned)
    spelled = [f"{braces[1]}{one}{braces[3]}" for one in braces[2].split(",")] if braces else [cleaned]
    simple = [_SIMPLE_GLOB.fullmatch(one) for one in spelled]
    if not all(simple):
        return ()
    found = tuple(Beneath(one["folder"] or "", one["suffix"] or "") for one in simple if one is not None)
    return found if all(any(one) and one.suffix.count(".") <= MAX_SUFFIXES for one in found) else ()


def suffixes_of(path: str) -> tuple[str, ...]:
    """What the name of a file ends with, from each of its last dots on: `a/b.test.ts` -> `.test.ts`, `.ts`."""
    parts = path.rpartition("/")[2].split(".")[1:][-MAX_SUFFIXES:]
    return tuple("." + ".".join(parts[place:]) for place in range(len(parts)))


def literal_folder(folder: str) -> str:
    """The pattern that means everything below a folder of exactly this path, whatever characters are in it."""
    if not _GLOB_CHARS & set(folder):
        return folder
    return "".join(f"[{char}]" if char in _GLOB_CHARS else char for char in folder) + "/**"


def _cleaned(pattern: str) -> str:
    """A pattern without what does not change its meaning; "" if nothing is left, and `**` for the root alone."""
    segments = pattern.split("/")
    named = [segment for segment in segments if segment not in _NO_SEGMENT]
    return "/".join(named) if named or "." not in segments else "**"


def _is_rooted(pattern: str) -> bool:
    """Whether a name is meant at the root alone: `/*.py`, not `*.py` or `./*.py`."""
    return next((segment for segment in pattern.split("/") if segment != "."), None) == ""


def _is_folder(pattern: str) -> bool:
    """Whether what a pattern meets are folders: `s*/`."""
    return pattern.rpartition("/")[2] in _NO_SEGMENT


def folders_of(path: str) -> tuple[str, ...]:
    """The folders that a file is beneath, then by name alone: `a/b/c.py` -> `a`, `a/b`, `**/a`, `**/b`."""
    *names, _ = path.split("/")
    return (*accumulate(names, "{}/{}".format), *(f"**/{name}" for name in dict.fromkeys(names)))


def _tokens_of(pattern: str, field: str = "scope.paths") -> list[str] | None:
    """A glob in tokens: wildcards, `{`, `|` and `}`, and regular expressions of one character. None: it is no glob."""
    cleaned = _cleaned(pattern)
    if not cleaned:
        raise InvalidArgument(field, pattern, "a path or glob that is not empty")
    if not _GLOB_CHARS & set(cleaned):
        return None
    tokens = _glob_tokens(cleaned, pattern, field)
    anywhere = [] if "/" in cleaned or _is_rooted(pattern) else ["**/"]
    below = ["/", "**"] if _is_folder(pattern) and not cleaned.endswith("**") else []
    return [*anywhere, *tokens, *below]


def _escaped(text: str) -> str:
    return "".join("\\" + char if char in _REGEX_META and char not in " /#&-~" else char for char in text)


def _glob_tokens(glob: str, pattern: str, field: str) -> list[str]:
    out: list[str] = []
    index = depth = 0
    while index < len(glob):
        char = glob[index]
        if glob.startswith("**/", index) and (index == 0 or glob[index - 1] == "/"):
            out.append("**/")
            index += 3
            continue
        if glob.startswith("**", index):
            out.append("**")
            index += 2
            continue
        if char == "[":
            text, index = _glob_class(glob, index, pattern, field)
            out.append(text)
            continue
        if char == "{" or (char in ",}" and depth):
            depth += {"{": 1, "}": -1}.get(char, 0)
            out.append("|" if char == "," else char)
        else:
            out.append({"*": "*", "?": "[^/]"}.get(char) or _escaped(char))
        index += 1
    if depth:
        raise InvalidArgument(field, pattern, "a glob whose every { has its }")
    return out


def _glob_class(glob: str, start: int, pattern: str, field: str) -> tuple[str, int]:
    """`[abc]`, `[a-z]`, `[!x]` from `start`; returns the regex and the index after it."""
    end = glob.find("]", start + (3 if glob[start + 1 : start + 2] in ("!", "^") else 2))
    if end < 0:
        raise InvalidArgument(field, pattern, "a glob whose every [ has its ]")
    inside = glob[start + 1 : end]
    negated = inside[0] in "!^"
    members = inside[1:] if negated else inside
    pieces = re.findall(r".-.|.", members, re.DOTALL)  # ranges, and characters that stand for themselves
    if any(piece[0] > piece[-1] for piece in pieces):
        raise InvalidArgument(field, pattern, "a glob whose character ranges run upwards, as [a-z]")
    if any(piece[0] <= "/" <= piece[-1] for piece in pieces):
        raise InvalidArgument(field, pattern, "a glob whose [ ] leave out /, which only ** crosses")
    body = "".join("-".join(map(_escaped_member, dict.fromkeys((piece[0], piece[-1])))) for piece in pieces)
    return f"[^/{body}]" if negated else f"[{body}]", end + 1


def _escaped_member(char: str) -> str:
    return "\\" + char if char in "\\[]^&~-" else char


EVERYTHING = Scope()
