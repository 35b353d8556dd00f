"""Import linking for JavaScript and TypeScript: from a module specifier to a file of the repository.

Relative paths with extension and index probing, tsconfig `paths` and `baseUrl`, workspace packages by their
package.json, subpath imports. What leads to no file is external. Configuration files are files like any other: their
settings are read through recorded look-ups.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from ctxsearch.graph.facts import Export, Import
from ctxsearch.graph.resolve.evaluate import Evaluator
from ctxsearch.graph.resolve.surface import MODULE_STARS
from ctxsearch.graph.resolve.values import UNKNOWN, Ext, Module, Value, Values

SUFFIXES = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".d.ts", ".d.mts", ".d.cts")
_WRITTEN = {
    ".js": (".ts", ".tsx", ".js", ".jsx", ".d.ts"),
    ".jsx": (".tsx", ".jsx"),
    ".mjs": (".mts", ".mjs", ".d.mts"),
    ".cjs": (".cts", ".cjs", ".d.cts"),
}
_SETTINGS = ("name", "entry", "baseUrl", "paths", "extends")  # see indexer/languages/ecmaconfig.py
_CONFIGS = ("tsconfig.json", "jsconfig.json")
_BUILT = ("dist", "lib", "build", "out", "esm", "cjs", "es")  # where packages keep what was built from `src`
MAX_EXTENDS = 5  # configurations that extend one another


class ModuleLinks(Evaluator):
    """Finds files for module specifiers."""

    def import_modules(self, path: str, item: Import) -> Values:
        return self.module(path, item.module)

    def module(self, path: str, specifier: str) -> Values:
        """The module that `specifier` means in the file at `path`, or an external."""
        return self._guarded(path, ("module", path, specifier), lambda: self._find_module(path, specifier))

    def _find_module(self, path: str, specifier: str) -> Values:
        specifier = specifier.partition("?")[0]
        directory = posixpath.dirname(path)
        if specifier.startswith("."):
            found = self._probe(posixpath.normpath(posixpath.join(directory, specifier)))
        else:
            found = (
                self._by_config(directory, specifier)
                or self._by_package(directory, specifier)
                or self._by_custom(directory, specifier)
            )
        return (Module(found),) if found else (Ext(specifier),)

    def _probe(self, base: str) -> str:
        """The file that a path without a certain extension means; "" when there is none."""
        base = "" if base == "." else base
        if base.startswith(".."):
            return ""
        return next((path for path in _candidates(base) if self.world.exists(path)), "")

    # -- tsconfig.json

    def _by_config(self, directory: str, specifier: str) -> str:
        for place in _upwards(directory):
            for name in _CONFIGS:
                config = posixpath.join(place, name)
                if self.world.exists(config):
                    return self._by_paths(config, specifier, MAX_EXTENDS)
        return ""

    def _by_paths(self, config: str, specifier: str, depth: int) -> str:
        settings = self._settings(config)
        directory = posixpath.dirname(config)
        base = next((value for name, value in settings if name == "baseUrl"), None)
        root = posixpath.join(directory, base or ".")
        targets = [value.replace("*", rest) for value, rest in _matching(settings, "paths", specifier)]
        if base is not None:
            targets.append(specifier)
        for target in targets:
            found = self._probe(posixpath.normpath(posixpath.join(root, target)))
            if found:
                return found
        for name, value in settings:
            if name == "extends" and value.startswith(".") and depth > 0:
                parent = posixpath.normpath(posixpath.join(directory, value))
                parent = parent if parent.endswith(".json") else parent + ".json"
                found = self._by_paths(parent, specifier, depth - 1) if self.world.exists(parent) else ""
                if found:
                    return found
        return ""

    def _by_custom(self, directory: str, specifier: str) -> str:
        """`@/x` and `~/x`, which can be no package: by custom the sources, as bundlers are told."""
        if not specifier.startswith(("@/", "~/")):
            return ""
        rest = specifier[2:]
        for place in _upwards(directory):
            found = self._probe(posixpath.join(place, "src", rest)) or self._probe(posixpath.join(place, rest))
            if found:
                return found
        return ""

    # -- package.json

    def _by_package(self, directory: str, specifier: str) -> str:
        if specifier.startswith("#"):
            return self._by_subpath(directory, specifier)
        parts = specifier.split("/")
        size = 2 if specifier.startswith("@") else 1
        name, inside = "/".join(parts[:size]), "/".join(parts[size:])
        for manifest in self.world.package_files("json", name):
            found = self._entry(manifest, f"./{inside}" if inside else ".")
            if found:
                return found
        return ""

    def _by_subpath(self, directory: str, specifier: str) -> str:
        for place in _upwards(directory):
            manifest = posixpath.join(place, "package.json")
            if self.world.exists(manifest):
                return self._entry(manifest, specifier)
        return ""

    def _entry(self, manifest: str, wanted: str) -> str:
        """The file of the repository behind an entry point of a package."""
        directory = posixpath.dirname(manifest)
        for target, rest in _matching(self._settings(manifest), "entry", wanted):
            found = self._source(directory, target.replace("*", rest))
            if found:
                return found
        if wanted.startswith("#"):
            return ""
        if wanted == ".":
            return self._probe(posixpath.join(directory, "src/index")) or self._probe(
                posixpath.join(directory, "index")
            )
        return self._source(directory, wanted) or self._probe(
            posixpath.normpath(posixpath.join(directory, "src", wanted))
        )

    def _source(self, directory: str, target: str) -> str:
        """A package's file, or the source that it was built from."""
        plain = posixpath.normpath(target)
        found = self._probe(posixpath.normpath(posixpath.join(directory, plain)))
        if found:
            return found
        parts = plain.split("/")
        if parts[0] not in _BUILT:
            return ""
        rest = parts[1:]
        while rest and rest[0] in _BUILT:
            rest = rest[1:]
        if not rest:
            return ""
        tail = "/".join(rest)
        for suffix in (".d.ts", ".d.mts", ".d.cts", ".js", ".mjs", ".cjs"):
            if tail.endswith(suffix):
                tail = tail.removesuffix(suffix)
                break
        return self._probe(posixpath.normpath(posixpath.join(directory, "src", tail))) or self._named_like(
            directory, tail
        )

    def _named_like(self, directory: str, tail: str) -> str:
        """The source file of a package with the name of a built one that stands alone nearest to the top."""
        stem = posixpath.basename(tail)
        if stem == "index":
            return ""
        inside = f"{directory}/src/" if directory else "src/"
        paths = {path for suffix in SUFFIXES for path in self.world.with_basename(stem + suffix)}
        found = sorted((path.count("/"), path) for path in paths if path.startswith(inside))
        nearest = [path for depth, path in found if depth == found[0][0]]
        return nearest[0] if len(nearest) == 1 else ""

    def _settings(self, path: str) -> list[tuple[str, str]]:
        """(name, value) pairs of a configuration file, in order."""
        for name in _SETTINGS:
            self.world.record("name", path, name)
        return [(export.name, export.local) for export in self.table(path).facts.exports]

    # -- what a module offers

    def exported(self, path: str, name: str) -> Values:
        table = self.table(path)
        for seen in (MODULE_STARS, "=", "default"):
            self.world.record("name", path, seen)
        exports = table.exports
        if name in exports:
            found = tuple(
                value for index in exports[name] for value in self._export_value(path, table.facts.exports[index])
            )
            if found or name != "default":
                return found
        if "=" in exports:
            whole = tuple(
                value for index in exports["="] for value in self._export_value(path, table.facts.exports[index])
            )
            return whole if name in {"default", "="} else self.members(whole, name)
        if name == "=":
            return (Module(path),)
        if name != "default":
            for index in exports.get("*", ()):
                found = self.members(self.module(path, table.facts.exports[index].module), name)
                if found:
                    return found
        return UNKNOWN

    def _export_value(self, path: str, export: Export) -> Values:
        if export.module:
            module = self.module(path, export.module)
            return module if export.local == "*" else self.members(module, export.local or export.name)
        if export.value >= 0:
            return self.value(path, export.value)
        self.world.record("name", path, export.local)
        return self.in_module(path, export.local, -1) or UNKNOWN

    def required(self, path: str, specifier: str) -> Values:
        """What `require(specifier)` gives: the exported value itself where a module is one, else the module."""
        found: list[Value] = []
        for value in self.module(path, specifier):
            if isinstance(value, Module):
                self.world.record("name", value.path, "=")
                exports = self.table(value.path).exports
                found += self.module_member(value.path, "=") if "=" in exports else ()
                if "=" not in exports or len(exports) > 1:
                    found.append(value)  # members may have been added to the exported value
            else:
                found.append(value)
        return tuple(found)


def _candidates(base: str) -> Iterator[str]:
    """Paths that an import of `base` may mean, likeliest first."""
    stem, dot, suffix = base.rpartition(".")
    written = f".{suffix}" if dot and "/" not in suffix else ""
    if written in _WRITTEN:
        for other in _WRITTEN[written]:
            yield stem + other
    elif written in {".ts", ".tsx", ".mts", ".cts"}:
        yield base
    for other in SUFFIXES:
        yield base + other
    for other in SUFFIXES:
        yield posixpath.join(base, f"index{other}")


def _upwards(directory: str) -> Iterator[str]:
    """A directory and those above it, up to the root of the repository."""
    while directory:
        yield directory
        directory = posixpath.dirname(directory)
    yield ""


def _matched(pattern: str, specifier: str) -> str | None:
    """What the star of a `paths` or `exports` pattern stands for; None when it does not match."""
    head, star, tail = pattern.partition("*")
    if not star:
        return "" if pattern == specifier else None
    if specifier.startswith(head) and specifier.endswith(tail) and len(specifier) >= len(head) + len(tail):
        return specifier[len(head) : len(specifier) - len(tail)]
    return None


def _matching(settings: list[tuple[str, str]], name: str, specifier: str) -> Iterator[tuple[str, str]]:
    """(target, what its star stands for) of the settings of a name whose pattern matches."""
    for key, value in settings:
        if key == name:
            pattern, _, target = value.partition(" > ")
            rest = _matched(pattern, specifier)
            if rest is not None:
                yield target, rest
