"""package.json, tsconfig.json and jsconfig.json as settings: what import linking needs of them, and nothing else.

"baseUrl" and "extends" are themselves; each of "paths" is `pattern > target`, each of "entry" is `entry point > target`
in the order in which they are to be tried ("." the package, "./sub" a part of it, "#x" a subpath import). Comments and
trailing commas are allowed. Never raises: what is not readable says nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

MAX_TARGETS = 200  # entry points or path patterns of one file
MAX_NESTING = 8  # conditions inside conditions
_NOISE = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TRAILING = re.compile(r'("(?:\\.|[^"\\])*")|,(?=\s*[}\]])')
_ENTRY_FIELDS = ("source", "module", "main", "types", "typings")
_CONDITIONS = ("source", "development", "import", "module", "node", "require", "browser", "default", "types")


def package_json(text: str) -> Iterator[tuple[str, str]]:
    """A package's name and entry points."""
    content = _read(text)
    name = content.get("name")
    if isinstance(name, str):
        yield "name", name
    for entry, target in _entries(content):
        yield "entry", f"{entry} > {target}"


def tsconfig(text: str) -> Iterator[tuple[str, str]]:
    """The options that direct imports."""
    content = _read(text)
    extends = content.get("extends")
    for parent in extends if isinstance(extends, list) else [extends]:
        if isinstance(parent, str):
            yield "extends", parent
    options = content.get("compilerOptions")
    if not isinstance(options, dict):
        return
    base, paths = options.get("baseUrl"), options.get("paths")
    if isinstance(base, str):
        yield "baseUrl", base
    for pattern, targets in list(paths.items())[:MAX_TARGETS] if isinstance(paths, dict) else ():
        for target in targets if isinstance(targets, list) else ():
            if isinstance(target, str):
                yield "paths", f"{pattern} > {target}"


def _read(text: str) -> dict[str, object]:
    """JSON with comments and trailing commas; {} when it is something else."""
    plain = _TRAILING.sub(lambda found: found.group(1) or "", _NOISE.sub(lambda found: found.group(1) or " ", text))
    try:
        content = json.loads(plain)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def _entries(content: dict[str, object]) -> Iterator[tuple[str, str]]:
    """(entry point, target) in the order in which they are to be tried."""
    exports, imports = content.get("exports"), content.get("imports")
    if isinstance(exports, dict) and any(key.startswith(".") for key in exports):
        for entry in list(exports)[:MAX_TARGETS]:
            yield from ((entry, target) for target in _conditional(exports[entry], MAX_NESTING))
    else:
        yield from ((".", target) for target in _conditional(exports, MAX_NESTING))
    for field in _ENTRY_FIELDS:
        target = content.get(field)
        if isinstance(target, str):
            yield ".", target
    if isinstance(imports, dict):
        for entry in list(imports)[:MAX_TARGETS]:
            yield from ((entry, target) for target in _conditional(imports[entry], MAX_NESTING))


def _conditional(value: object, depth: int) -> Iterator[str]:
    """The targets of an entry, its conditions flattened."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth:
        for item in value:
            yield from _conditional(item, depth - 1)
    elif isinstance(value, dict) and depth:
        for condition in sorted(value, key=lambda key: _CONDITIONS.index(key) if key in _CONDITIONS else -1):
            yield from _conditional(value[condition], depth - 1)
