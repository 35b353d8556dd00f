"""Which part of the code a search looks at: paths, languages, kinds, packages. Pure.

One meaning, used three times: pushed down into each index in that index's own terms, and checked once more
here after the lists are merged.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from ctxsearch.graph.model import CodeNode, NodeKind
from ctxsearch.search.errors import InvalidArgument

_GLOB_CHARS = frozenset("*?[{")
_REGEX_META = frozenset("\\.+*?()|[]{}^$#&-~/ ")
# Where one name ends and the next begins in a qualified name, in any of the languages.
SEPARATORS = r".#/\:$"
_SEPARATOR = re.compile(f"[{re.escape(SEPARATORS)}]+")


@dataclass(frozen=True, slots=True)
class Scope:
    """Everything that is included (or everything, where nothing is named) and not excluded.

    A path without glob characters is a file or a folder with all below it. A glob without `/` meets file
    names at any depth; `*` stays inside one folder, `**` does not.
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
        """Whether a node is in scope (its repository aside)."""
        return (
            self.accepts_kind(node.kind)
            and self.accepts_language(node.language)
            and self.accepts_path(node.path)
            and self.accepts_package(node.qualified_name)
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
    for value in values:
        if field.endswith("kinds"):
            if not isinstance(value, NodeKind):
                raise InvalidArgument(field, value, ", ".join(kind.name for kind in NodeKind))
        elif not isinstance(value, str) or not value.strip():
            raise InvalidArgument(field, value, "names that are not empty")


def _matches_any(path: str, patterns: tuple[str, ...]) -> bool:
    return any(_compiled(pattern).fullmatch(path) is not None for pattern in patterns)


@functools.lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(path_regex(pattern), re.DOTALL)


def package_ancestors(qualified_name: str) -> tuple[str, ...]:
    """`a.b::c` -> `a`, `a.b`, `a.b.c`: every package a name is inside of, and itself, with dots."""
    parts = [part for part in _SEPARATOR.split(qualified_name) if part]
    return tuple(".".join(parts[: end + 1]) for end in range(len(parts)))


def dotted(package: str) -> str:
    """A package as typed, with dots for separators."""
    return ".".join(part for part in _SEPARATOR.split(package) if part)


def _inside_any(qualified_name: str, packages: tuple[str, ...]) -> bool:
    if not packages:
        return False
    name = dotted(qualified_name)
    return any(name == one or name.startswith(one + ".") for one in map(dotted, packages))


def path_regex(pattern: str, field: str = "scope.paths") -> str:
    """A regular expression that means the same to Python and to the full-text engine; whole path, unanchored.

    Raises InvalidArgument on a malformed glob.
    """
    cleaned = pattern.removeprefix("./")
    rooted = cleaned.startswith("/")
    cleaned = cleaned.strip("/")
    if not cleaned:
        raise InvalidArgument(field, pattern, "a path or glob that is not empty")
    if not _GLOB_CHARS & set(cleaned):
        return _escaped(cleaned) + "(/.*)?"
    regex = _glob_regex(cleaned, pattern, field)
    if "/" not in cleaned and not rooted:
        return "(.*/)?" + regex
    return regex if cleaned.endswith("**") or not pattern.endswith("/") else regex + "/.*"


def _escaped(text: str) -> str:
    return "".join("\\" + char if char in _REGEX_META and char not in " /#&-~" else char for char in text)


def _glob_regex(glob: str, pattern: str, field: str) -> str:
    out: list[str] = []
    index = depth = 0
    while index < len(glob):
        char = glob[index]
        if glob.startswith("**/", index) and (index == 0 or glob[index - 1] == "/"):
            out.append("(.*/)?")
            index += 3
            continue
        if glob.startswith("**", index):
            out.append(".*")
            index += 2
            continue
        if char == "[":
            text, index = _glob_class(glob, index, pattern, field)
            out.append(text)
            continue
        if char == "{":
            depth += 1
            out.append("(")
        elif char == "}" and depth:
            depth -= 1
            out.append(")")
        elif char == "," and depth:
            out.append("|")
        else:
            out.append({"*": "[^/]*", "?": "[^/]"}.get(char) or _escaped(char))
        index += 1
    if depth:
        raise InvalidArgument(field, pattern, "a glob whose every { has its }")
    return "".join(out)


def _glob_class(glob: str, start: int, pattern: str, field: str) -> tuple[str, int]:
    """`[abc]`, `[a-z]`, `[!x]` from `start`; returns the regex and the index after it."""
    end = glob.find("]", start + (3 if glob[start + 1 : start + 2] in ("!", "^") else 2))
    if end < 0:
        raise InvalidArgument(field, pattern, "a glob whose every [ has its ]")
    inside = glob[start + 1 : end]
    negated = inside[0] in "!^"
    members = inside[1:] if negated else inside
    ranges = re.fullmatch(r"(?:.-.|[^-]|^-|-$)*", members, re.DOTALL)
    if ranges is None or any(a > b for a, b in re.findall(r"(.)-(.)", members)):
        raise InvalidArgument(field, pattern, "a glob whose character ranges run upwards, as [a-z]")
    body = "".join("\\" + char if char in "\\[]^&~" else char for char in members)
    return f"[^/{body}]" if negated else f"[{body}]", end + 1


EVERYTHING = Scope()
