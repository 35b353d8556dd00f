"""Predictions of call edges for a ground-truth set.

    bench/callgraph.py GT.json [--source DIR] --out PRED.json

GT.json is a list of cases (../shared/bench/callgraph/score.py says more). A case carries its sources, or names the
files of a checkout given by --source; DIR may also hold one checkout per repository.
Written: {case_id: [[caller, callee, confidence], ...]}.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

from ctxsearch.graph.facts import Definition, FileFacts, Op
from ctxsearch.graph.model import CALLABLE_KINDS, CONFIDENCE, NodeFlag, NodeKind
from ctxsearch.graph.resolve.resolver import Resolver
from ctxsearch.graph.resolve.values import Class, Func
from ctxsearch.indexer.languages.manifests import MANIFESTS
from ctxsearch.indexer.parse import parse

Namer = Callable[[FileFacts, int], str]  # facts, definition index (-1: the module) -> the set's name for it


def predict(case: dict[str, Any], source: Path | None) -> list[list[Any]]:
    """The resolved calls of one case, in the set's names."""
    resolver = Resolver()
    facts = {path: parse(path, text) for path, text in sources(case, source)}
    resolver.update(facts)
    if "refs" in case:
        return name_edges(case, resolver, facts)
    name = namer(case)
    found: dict[tuple[str, str], float] = {}
    for path in sorted(facts):
        for scope, (target_path, target), rule, _ in resolver.call_sites(path):
            if case["language"] == "go" and facts[target_path].definitions[target].flags & NodeFlag.ABSTRACT:
                continue  # the set names static callees only: an interface's method is none
            if is_fixture(case) and named(facts[path], scope) < 0:
                continue  # that set has no name for code outside functions
            caller = name(facts[path], scope)
            for index in (target, *constructed(case, facts[path], scope, facts[target_path], target)):
                edge = caller, name(facts[target_path], index)
                found[edge] = max(found.get(edge, 0.0), CONFIDENCE[rule])
    if case["language"] in ("c", "cpp"):
        found = through_macros(found, {name(item, index) for item in facts.values() for index in macros(item)})
    if "def_lines" in case:  # what the compiler saw; code that it left out by #if is not part of its truth
        found = {edge: confidence for edge, confidence in found.items() if set(edge) <= case["def_lines"].keys()}
    return [[caller, callee, confidence] for (caller, callee), confidence in sorted(found.items())]


def is_fixture(case: dict[str, Any]) -> bool:
    return str(case["case_id"]).startswith("codegraph_fx/")


def constructed(case: dict[str, Any], facts: FileFacts, scope: int, target: FileFacts, index: int) -> list[int]:
    """The fixtures name a construction by the class and by its constructor, a call of super only by the latter."""
    definition = target.definitions[index]
    is_constructor = definition.kind is NodeKind.CONSTRUCTOR or definition.name in ("__init__", "__construct")
    if not is_fixture(case) or not is_constructor or definition.parent < 0:
        return []
    owner = facts.definitions[scope].parent if scope >= 0 else -1
    parents = [base.name.rsplit(".", 1)[-1] for base in facts.definitions[owner].bases] if owner >= 0 else []
    return [] if target.definitions[definition.parent].name in parents else [definition.parent]


def macros(facts: FileFacts) -> list[int]:
    return [index for index, definition in enumerate(facts.definitions) if definition.kind is NodeKind.MACRO]


def through_macros(edges: dict[tuple[str, str], float], names: set[str]) -> dict[tuple[str, str], float]:
    """Calls as the compiler sees them: a call of a macro is a call of what the macro's body calls."""
    inside: dict[str, list[str]] = {}
    for caller, callee in edges:
        inside.setdefault(caller, []).append(callee)
    found: dict[tuple[str, str], float] = {}
    for (caller, callee), confidence in edges.items():
        pending, seen = [callee], set[str]()
        while pending and caller not in names:
            target = pending.pop()
            if target not in names:
                found[caller, target] = max(found.get((caller, target), 0.0), confidence)
            elif target not in seen:
                seen.add(target)
                pending += inside.get(target, ())
    return found


def name_edges(case: dict[str, Any], resolver: Resolver, facts: dict[str, FileFacts]) -> list[list[Any]]:
    """For sets of references (file:line:column -> file:line of the definition): what each reference names."""
    found: list[list[Any]] = []
    for ref in case["refs"]:
        path, line, column = ref["file"], ref["line"], ref["col"]
        text = case["files"][path].encode().split(b"\n")
        offset = sum(len(part) + 1 for part in text[: line - 1]) + column
        evaluator = resolver.evaluator(path)
        evaluator.begin(path)
        targets = {
            f"{value.path}:{facts[value.path].definitions[value.index].name_line}"
            for index, expr in enumerate(facts[path].exprs)
            if expr.op in (Op.NAME, Op.MEMBER) and expr.line == line and expr.at <= offset < expr.at + len(expr.name)
            for value in evaluator.reference(path, index)
            if isinstance(value, Class | Func)
        }
        found += [[f"{path}:{line}:{column}", target, 1.0] for target in sorted(targets)]
    return found


def sources(case: dict[str, Any], source: Path | None) -> list[tuple[str, bytes]]:
    files = case["files"]
    if isinstance(files, dict):
        return sorted((path, text.encode(errors="surrogatepass")) for path, text in files.items())
    if source is None:
        sys.exit(f"{case['case_id']} names the files of a checkout: give --source DIR")
    places = roots(case, source)
    found = [(path, file) for path in sorted(files) for file in [located(places, path)] if file is not None]
    if len(found) < len(files):
        print(f"{case['case_id']}: {len(files) - len(found)} of {len(files)} files are not there", file=sys.stderr)
    return [(path, file.read_bytes()) for path, file in [*found, *manifests(places, files)]]


def manifests(places: list[Path], files: list[str]) -> list[tuple[str, Path]]:
    """package.json, tsconfig.json, go.mod ... above the files: a set names sources only, an index has these too."""
    folders = sorted({str(folder) for path in files for folder in PurePosixPath(path).parents})
    paths = [str(PurePosixPath(folder, name)) for folder in folders for name in sorted(MANIFESTS)]
    found = ((path, located(places, path)) for path in paths if path not in files)
    return [(path, file) for path, file in found if file is not None]


def roots(case: dict[str, Any], source: Path) -> list[Path]:
    """Where a case's files can lie: in the checkout, or, when DIR holds several, in the one of its repository."""
    repository = str(case.get("repository", "")).strip("/")
    own = str(case["case_id"]).rpartition("/")[2]
    names = [repository.replace("/", "+"), repository, repository.rpartition("/")[2], own]
    checkouts = [source, *(source / name for name in names if name)]
    inside = case.get("root") or "."
    return [checkout / root for checkout in checkouts for root in ([inside] if isinstance(inside, str) else inside)]


def located(places: list[Path], path: str) -> Path | None:
    return next((place / path for place in places if (place / path).is_file()), None)


def namer(case: dict[str, Any]) -> Namer:
    if is_fixture(case):
        return file_and_symbol
    if case["language"] in ("javascript", "typescript"):
        return javascript_names(case)
    if case["language"] == "python":
        return python_names(case)
    if case["language"] == "go":
        return go_names(case)
    return NAMERS.get(case["language"], file_and_symbol)


def file_and_symbol(facts: FileFacts, index: int) -> str:
    """file#Class.method; anonymous functions belong to what is around them."""
    index = named(facts, index)
    if index < 0:
        return f"{facts.path}#<module>"
    definition = facts.definitions[index]
    if facts.language == "cpp" and definition.receiver is not None:  # as written outside its class
        return f"{facts.path}#{definition.receiver.name.replace('.', '::')}::{definition.name}"
    return f"{facts.path}#{definition.qualified_name}"


def named(facts: FileFacts, index: int) -> int:
    """The nearest definition with a name."""
    while index >= 0 and facts.definitions[index].flags & NodeFlag.ANONYMOUS:
        index = facts.definitions[index].parent
    return index


def python_name(facts: FileFacts, index: int) -> str:
    """module.Class.method; lambdas are numbered in their scope, whether or not a name is bound to them."""
    parts: list[str] = []
    while index >= 0:
        definition = facts.definitions[index]
        parts.insert(0, f"<lambda{lambda_rank(facts, index)}>" if is_lambda(definition) else definition.name)
        index = definition.parent
    module = facts.path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return ".".join([module, *parts])


def python_names(case: dict[str, Any]) -> Namer:
    """Names by path, unless the set has none so called and another for what stands at that line."""
    nodes: dict[str, Any] = case.get("nodes") or {}
    places = {
        (node["file"], node["kind"], 0 if node["kind"] == "module" else node["line"]): name
        for name, node in nodes.items()
        if "file" in node and "line" in node and "kind" in node
    }

    def name_of(facts: FileFacts, index: int) -> str:
        own = python_name(facts, index)
        if not nodes or own in nodes:
            return own
        if index < 0:
            return places.get((facts.path, "module", 0), own)
        definition = facts.definitions[index]
        kind = "class" if definition.kind is NodeKind.CLASS else "lambda" if is_lambda(definition) else "function"
        return places.get((facts.path, kind, definition.name_line), own)

    return name_of


def is_lambda(definition: Definition) -> bool:
    return definition.signature.startswith("lambda") and definition.kind is not NodeKind.VARIABLE


def lambda_rank(facts: FileFacts, index: int) -> int:
    parent = facts.definitions[index].parent
    return sum(1 for item in facts.definitions[: index + 1] if item.parent == parent and is_lambda(item))


def javascript_name(facts: FileFacts, index: int) -> str:
    module = facts.path.rpartition(".")[0].removesuffix("/index").replace("/", ".")
    return f"{module}.{facts.definitions[index].qualified_name}" if index >= 0 else module


def javascript_names(case: dict[str, Any]) -> Namer:
    """The set's own names of functions, found by their lines: it numbers arrow functions, bound to a name or not."""
    places: dict[tuple[str, int, int], list[tuple[int, int, str]]] = {}
    for name, node in case.get("nodes", {}).items():
        if node["kind"] == "function" and "body" in node:
            places.setdefault((node["file"], node["line"], node["end"]), []).append((*node["body"], name))
    known: dict[str, dict[int, str]] = {}
    used = {name for edge in case["edges"] for name in edge} | case.get("aliases", {}).keys()

    def name_of(facts: FileFacts, index: int) -> str:
        if facts.path not in known:
            known[facts.path] = positions(facts)
        own = javascript_name(facts, index)
        return own if own in used and "<" not in own else known[facts.path].get(index, own)

    def positions(facts: FileFacts) -> dict[int, str]:
        ours: dict[tuple[str, int, int], list[int]] = {}
        for index, definition in enumerate(facts.definitions):
            if definition.kind in CALLABLE_KINDS and not definition.flags & NodeFlag.DECLARATION:
                ours.setdefault((facts.path, definition.name_line, definition.end_line), []).append(index)
        return {
            index: name
            for place, indices in ours.items()
            for index, (_, _, name) in zip(indices, sorted(places.get(place, ())), strict=False)
        }

    return name_of


def java_name(facts: FileFacts, index: int) -> str:
    """pkg.Outer$Inner.method, lambdas and initialisers folded into what javac makes of them."""
    index = named(facts, index)
    owners: list[str] = []
    member = ""
    while index >= 0:
        definition = facts.definitions[index]
        if definition.kind in (NodeKind.CLASS, NodeKind.INTERFACE):
            owners.insert(0, java_class_name(facts, index))
        elif not owners:
            member = java_member_name(definition)
        index = definition.parent
    owner = "$".join(owners)
    qualified = f"{facts.package}.{owner}" if facts.package else owner
    return f"{qualified}.{member or '<init>'}"


def java_member_name(definition: Definition) -> str:
    """A field stands for the initialiser that computes it."""
    if definition.kind is NodeKind.CONSTRUCTOR:
        return "<init>"
    if definition.kind is NodeKind.VARIABLE:
        return "<clinit>" if definition.flags & NodeFlag.STATIC else "<init>"
    return definition.name


def java_class_name(facts: FileFacts, index: int) -> str:
    """javac numbers anonymous classes, and local ones of the same name, within the class around them."""
    definition = facts.definitions[index]
    anonymous = definition.name.startswith("<")
    around = java_class_around(facts, index)
    if not anonymous and definition.parent == around:
        return definition.name
    twins = [
        other
        for other, item in enumerate(facts.definitions)
        if item.kind in (NodeKind.CLASS, NodeKind.INTERFACE)
        and java_class_around(facts, other) == around
        and (item.name.startswith("<") if anonymous else item.name == definition.name and item.parent != around)
    ]
    return f"{twins.index(index) + 1}{'' if anonymous else definition.name}"


def java_class_around(facts: FileFacts, index: int) -> int:
    index = facts.definitions[index].parent
    while index >= 0 and facts.definitions[index].kind not in (NodeKind.CLASS, NodeKind.INTERFACE):
        index = facts.definitions[index].parent
    return index


def go_name(facts: FileFacts, index: int) -> str:
    """[pkg.]Type.Method; closures belong to what is around them, package-level code to init."""
    index = named(facts, index)
    if index < 0:
        return "init"
    definition = facts.definitions[index]
    owner = f"{definition.receiver.name}." if definition.receiver is not None else ""
    return f"{owner}{definition.name}"


def go_names(case: dict[str, Any]) -> Namer:
    """Names of packages below the root have a prefix; which one, the set's own names tell."""
    names = {name for edge in (*case["edges"], *case.get("optional", ())) for name in edge}

    def name_of(facts: FileFacts, index: int) -> str:
        own = go_name(facts, index)
        folder = facts.path.rpartition("/")[0]
        prefixes = (folder, folder.rpartition("/")[2], f"github.com/{case.get('repository', '')}/{folder}")
        found = (name for name in (f"{prefix}.{own}" for prefix in prefixes) if name in names)
        return next(found, own) if folder else own

    return name_of


NAMERS: dict[str, Namer] = {"java": java_name}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("truth", type=Path)
    parser.add_argument("--source", type=Path, help="checkout of the repository that the set names")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    cases = json.loads(options.truth.read_text())
    options.out.write_text(json.dumps({case["case_id"]: predict(case, options.source) for case in cases}, indent=0))


if __name__ == "__main__":
    main()
