"""Project manifests that say how imports are meant: read like any other file, so that a change of one is a change.

A manifest's facts are its settings as exports (name = key, local = value) and the name of what it describes as
`package`, under which `World.package_files("manifest", name)` finds it.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

from ctxsearch.graph.facts import Export, FileFacts
from ctxsearch.graph.model import NodeFlag
from ctxsearch.indexer.languages.builder import count_lines
from ctxsearch.indexer.languages.ecmaconfig import package_json, tsconfig

Settings = Iterator[tuple[str, str]]  # key, value; the key "name" names the package

_GO_MODULE = re.compile(r"^\s*module\s+\"?([^\s\"]+)", re.MULTILINE)


def go_mod(text: str) -> Settings:
    """The module path that a directory stands for."""
    found = _GO_MODULE.search(text)
    if found:
        yield "name", found.group(1)


def cargo_toml(text: str) -> Settings:
    """The crate that a directory holds, as code spells it, where its library's root is, and what it renames."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    package, library = content.get("package"), content.get("lib")
    if isinstance(package, dict) and isinstance(package.get("name"), str):
        name = package["name"]
        if isinstance(library, dict) and isinstance(library.get("name"), str):
            name = library["name"]
        yield "name", name.replace("-", "_")
    if isinstance(library, dict) and isinstance(library.get("path"), str):
        yield "lib", library["path"]
    yield from _dependencies(content, "dependency")
    targets = content.get("target")
    for target in targets.values() if isinstance(targets, dict) else ():
        if isinstance(target, dict):
            yield from _dependencies(target, "dependency")
    workspace = content.get("workspace")
    if isinstance(workspace, dict):
        yield "workspace", "root"
        yield from _dependencies(workspace, "workspace-dependency")


def _dependencies(table: dict[str, Any], key: str) -> Settings:
    """Dependencies that may not go by their crate's own name: as "path:directory", "crate:name" or "workspace"."""
    for section in ("dependencies", "dev-dependencies", "build-dependencies"):
        items = table.get(section)
        for name, item in sorted(items.items()) if isinstance(items, dict) else ():
            if not isinstance(item, dict):
                continue
            package, path, spelled = item.get("package"), item.get("path"), name.replace("-", "_")
            if item.get("workspace") is True:
                yield f"{key}:{spelled}", "workspace"
            elif isinstance(package, str) and package != name:
                where = f"path:{path}" if isinstance(path, str) else f"crate:{package.replace('-', '_')}"
                yield f"{key}:{spelled}", where


def pyproject_toml(text: str) -> Settings:
    """Packages that setuptools installs under another name than their directory's."""
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    tool = content.get("tool")
    setuptools = tool.get("setuptools") if isinstance(tool, dict) else None
    mapping = setuptools.get("package-dir") if isinstance(setuptools, dict) else None
    for name, directory in sorted(mapping.items()) if isinstance(mapping, dict) else ():
        if name and isinstance(directory, str):
            yield f"package-dir:{name}", directory.strip("/")


MANIFESTS: dict[str, tuple[str, Callable[[str], Settings]]] = {
    "go.mod": ("gomod", go_mod),
    "Cargo.toml": ("toml", cargo_toml),
    "pyproject.toml": ("toml", pyproject_toml),
    "package.json": ("json", package_json),
    "tsconfig.json": ("json", tsconfig),
    "jsconfig.json": ("json", tsconfig),
}
_TSCONFIG = re.compile(r"tsconfig\..+\.json")  # tsconfig.base.json and the like, which others extend


def parse_manifest(path: str, source: bytes, flags: NodeFlag) -> FileFacts | None:
    """The facts of a manifest; None when the file is none."""
    filename = path.rsplit("/", 1)[-1]
    known = MANIFESTS["tsconfig.json"] if _TSCONFIG.fullmatch(filename) else MANIFESTS.get(filename)
    if known is None:
        return None
    language, read = known
    settings = tuple(read(source.decode("utf-8", "replace")))
    return FileFacts(
        path=path,
        language=language,
        line_count=count_lines(source),
        exports=tuple(Export(name, value) for name, value in settings),
        package=next((value for name, value in settings if name == "name"), ""),
        flags=flags,
    )
