"""How Python finds modules: packages, relative and star imports, re-exports. Paths are the repository's own."""

from __future__ import annotations

import sys

from ctxsearch.graph.facts import MODULE_SCOPE, Import
from ctxsearch.graph.resolve.evaluate import Evaluator
from ctxsearch.graph.resolve.python_library import BUILTINS
from ctxsearch.graph.resolve.values import EXTERNAL, UNKNOWN, Ext, Module, Package, Value, Values
from ctxsearch.graph.resolve.world import World

MAX_ROOTS = 8  # directories above a file where its absolute imports are looked for
MAX_TARGETS = 50_000  # places where a module was looked for that are remembered; a few hundred bytes each
_SHARED = ""  # memo entries that no file owns


class PythonModules(Evaluator):
    """Import linking; what names and expressions mean is `python.PythonEvaluator`'s."""

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._modules: dict[str, tuple[Values, set[int]]] = {}  # by path without suffix, with what was read

    def begin(self, path: str) -> None:
        super().begin(path)
        if len(self._modules) > MAX_TARGETS:
            self._modules.clear()

    def forget(self) -> None:
        super().forget()
        self._modules.clear()

    def import_modules(self, path: str, item: Import) -> Values:
        directory = path.rpartition("/")[0]
        key = ("module", directory, item.level, item.module, item.kind, item.name)
        return self._guarded(_SHARED, key, lambda: self._find_module(directory, item))

    def _find_module(self, directory: str, item: Import) -> Values:
        if item.level:
            return self._relative(directory, item)
        name = item.module.partition(".")[0] if item.kind == "dotted" else item.module
        for root in self._roots(directory, name):
            found = self._module_at(join_path(root, name.replace(".", "/")))
            if found:
                return found
            found = self._namespace(root, name, item)
            if found:
                return found
        return self._mapped(name) or (Ext(name),)

    def _mapped(self, name: str) -> Values:
        """A package that pyproject.toml installs under another name than its directory's (setuptools package-dir)."""
        for manifest in self.world.with_basename("pyproject.toml"):
            exports = self.table(manifest).exports
            parts = name.split(".")
            for size in range(len(parts), 0, -1):
                key = f"package-dir:{'.'.join(parts[:size])}"
                self.world.record("name", manifest, key)
                for index in exports.get(key, ()):
                    directory = self.table(manifest).facts.exports[index].local
                    base = join_path(manifest.rpartition("/")[0], directory)
                    found = self._module_at("/".join([base, *parts[size:]]))
                    if found:
                        return found
        return UNKNOWN

    def _relative(self, directory: str, item: Import) -> Values:
        parts = directory.split("/") if directory else []
        up = item.level - 1
        if up > len(parts):
            return EXTERNAL
        base = "/".join([*parts[: len(parts) - up], *(item.module.split(".") if item.module else ())])
        found = self._module_at(base)
        if not found and (not item.module or self._module_at(join_path(base, item.name))):
            return (Package(base),)
        return found or EXTERNAL

    def _module_at(self, target: str) -> Values:
        """The module or package whose path without suffix is `target`; every import asks for several."""
        known = self._modules.get(target)
        if known is None:
            known = self._modules[target] = self._look_for(target)
        found, read = known
        self.world.reads |= read
        return found

    def _look_for(self, target: str) -> tuple[Values, set[int]]:
        read: set[int] = set()
        for suffix in ("/__init__.py", ".py", "/__init__.pyi", ".pyi"):
            path = f"{target}{suffix}".lstrip("/")
            read.add(self.world.key_id(("file", path)))
            if path in self.world:
                return (Module(path),), read
        return UNKNOWN, read

    def _namespace(self, root: str, name: str, item: Import) -> Values:
        """A directory without `__init__.py` is a package when the rest of the import is found in it."""
        base = join_path(root, name.replace(".", "/"))
        rest = item.module[len(name) + 1 :] if item.kind == "dotted" else item.name
        if rest and rest != "*" and self._module_at(join_path(base, rest.replace(".", "/"))):
            return (Package(base),)
        return UNKNOWN

    def _roots(self, directory: str, name: str) -> list[str]:
        """Where an absolute import may start: outside the importer's own package, then wherever the package lies."""
        values = self._guarded(_SHARED, ("roots", directory), lambda: self._directories(directory))
        roots = [value.name for value in values if isinstance(value, Package)]
        top = name.partition(".")[0]
        if top in sys.stdlib_module_names:  # hidden only by a module beside a script, not by one inside the package
            return [root for root in roots[:1] if not self.world.exists(join_path(root, "__init__.py"))]
        elsewhere = self._guarded(_SHARED, ("home", top), lambda: self._homes(top))
        return roots + _nearest(directory, [value.name for value in elsewhere if isinstance(value, Package)])

    def _directories(self, directory: str) -> Values:
        parts = directory.split("/") if directory else []
        while parts and self.world.exists("/".join([*parts, "__init__.py"])):
            parts.pop()
        return tuple(Package("/".join(parts[:size])) for size in range(len(parts), -1, -1))[:MAX_ROOTS]

    def _homes(self, top: str) -> Values:
        """Directories, not packages themselves, that hold a package or a module called `top`."""
        own = f"/{top}/__init__.py"
        homes = [path.removesuffix(own) for path in self.world.in_directory_called(top, "__init__.py")]
        homes += [path.rpartition("/")[0] for path in self.world.with_basename(f"{top}.py")]
        outer = [home for home in homes if not self.world.exists(join_path(home, "__init__.py"))]
        return tuple(Package(home) for home in sorted(set(outer))[:MAX_ROOTS])

    def package_member(self, package: Package, name: str) -> Values:
        return self._module_at(join_path(package.name, name)) or EXTERNAL

    def exported(self, path: str, name: str) -> Values:
        found = super().exported(path, name)
        if found:
            return found
        if path.endswith(("/__init__.py", "/__init__.pyi")) or path in ("__init__.py", "__init__.pyi"):
            return self._module_at(join_path(path.rpartition("/")[0], name))
        return found

    def import_values(self, path: str, item: Import) -> Values:
        modules = self.import_modules(path, item)
        if not item.name:
            return modules
        found = modules
        for part in item.name.split("."):
            found = self.members(found, part)
        return found

    def from_stars(self, path: str, name: str) -> Values | None:
        table = self.table(path)
        stars = [index for scope in sorted(table.stars) for index in table.stars[scope]]
        outside = UNKNOWN
        for index in reversed(stars):
            found = self.star_member(path, table.facts.imports[index], name)
            if any(not isinstance(value, Ext) for value in found):
                return found
            outside = outside or found
        if outside and name not in BUILTINS:
            return outside
        return None

    def star_member(self, path: str, item: Import, name: str) -> Values:
        found: list[Value] = []
        for module in self.import_modules(path, item):
            if isinstance(module, Module):
                found += self._offered(module.path, name)
            elif isinstance(module, Ext):
                found.append(Ext(f"{module.name}.{name}"))
        return tuple(found)

    def _offered(self, path: str, name: str) -> Values:
        """What `from module import *` brings under a name."""
        self.world.record("name", path, "__all__")
        exports = self.table(path).exports
        if exports and name not in exports and "__all__" in self.table(path).binds[MODULE_SCOPE]:
            return UNKNOWN
        if name.startswith("_") and name not in exports:
            return UNKNOWN
        return self.module_member(path, name)

    def global_name(self, path: str, name: str) -> Values:  # noqa: ARG002
        return (Ext(name),) if name in BUILTINS else UNKNOWN

    def module_name(self, path: str) -> str:
        stem = path.rpartition(".")[0] or path
        return stem.removesuffix("/__init__").replace("/", ".")


def join_path(directory: str, name: str) -> str:
    return f"{directory}/{name}" if directory and name else directory or name


def _nearest(directory: str, homes: list[str]) -> list[str]:
    """The home that shares most with the importer's directory; none when two do."""
    if len(homes) < 2:
        return homes

    def shared(home: str) -> int:
        pairs = zip(home.split("/"), directory.split("/"), strict=False)
        return next(
            (place for place, (one, two) in enumerate(pairs) if one != two),
            min(home.count("/"), directory.count("/")) + 1,
        )

    ranked = sorted(homes, key=lambda home: (-shared(home), home))
    return ranked[:1] if shared(ranked[0]) > shared(ranked[1]) else []
