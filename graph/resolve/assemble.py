"""From one file's facts and resolved calls to its nodes, edges and unresolved calls.

Anonymous functions are no nodes: what they do belongs to the named definition around them. Every edge starts at a
node of the file. DECORATES leads from the decorated symbol to its decorator.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from operator import attrgetter

import msgspec

from ctxsearch.graph.facts import Definition, Type
from ctxsearch.graph.model import (
    CONFIDENCE,
    CodeNode,
    Edge,
    EdgeKind,
    NodeFlag,
    NodeId,
    NodeKind,
    Rule,
    Unresolved,
    module_node_id,
    node_id,
)
from ctxsearch.graph.records import FileGraph, NodeRecord
from ctxsearch.graph.resolve.calls import MAX_CANDIDATES, Calls
from ctxsearch.graph.resolve.evaluate import Evaluator
from ctxsearch.graph.resolve.hierarchy import Place, dispatched
from ctxsearch.graph.resolve.tables import CLASS_LIKE
from ctxsearch.graph.resolve.values import Class, Ext, Func, Inst, Module, Value, Values

MAX_LINES = 50  # sites kept per edge
_ENDS = attrgetter("source", "target", "kind")
_INHERITED = NodeFlag.TEST | NodeFlag.GENERATED | NodeFlag.VENDORED

_Key = tuple[NodeId, NodeId, EdgeKind]


class Begun(msgspec.Struct, frozen=True, array_like=True):
    """A file's graph as far as its first phase gives it, and what is left for the second."""

    nodes: tuple[NodeRecord, ...]
    edges: tuple[Edge, ...]
    unresolved: tuple[Unresolved, ...]
    externals: tuple[str, ...]  # library symbols that it calls, sorted
    pending: tuple[int, ...]  # expressions that call what a parameter holds
    virtual: tuple[tuple[int, str, int, str], ...]  # call expression, its target (with its stable name)


class Assembler:
    """Builds one file's FileGraph."""

    def __init__(self, evaluator: Evaluator, path: str) -> None:
        self.evaluator = evaluator
        self.path = path
        self.table = evaluator.table(path)
        self.module = module_node_id(path)
        self.edges: dict[_Key, tuple[Rule, float, set[int]]] = {}
        self.unresolved: dict[tuple[NodeId, str], set[int]] = defaultdict(set)

    def begun(self, found: Calls) -> Begun:
        """What the file contributes whatever other files pass to it, in stable order."""
        nodes = tuple(self._nodes())
        self._structure()
        self._calls(found)
        self._imports()
        self._hierarchy()
        self._overrides(found)
        self._uses()
        self._leave(found.unresolved)
        stable = {place: self.evaluator.table(place[0]).stable_name(place[1]) for _, place in found.virtual}
        return Begun(
            nodes,
            self._edges(),
            self._unresolved(),
            tuple(sorted({name for _, name, _ in found.external})),
            tuple(found.pending),
            tuple((site, *place, stable[place]) for site, place in found.virtual),
        )

    def finished(self, begun: Begun, flow: Calls, virtual: Iterable[tuple[int, Place]]) -> FileGraph:
        """The whole of it, with the calls through parameters and what virtual calls may run."""
        self._calls(flow)
        self._dispatches(virtual)
        self._leave(flow.unresolved)
        return FileGraph(begun.nodes, self._edges_with(begun.edges), self._unresolved_with(begun.unresolved))

    def outline(self) -> FileGraph:
        """Nodes and containment alone, before anything is resolved."""
        self._structure()
        edges = (Edge(*key, confidence, rule) for key, (rule, confidence, _) in sorted(self.edges.items()))
        return FileGraph(tuple(self._nodes()), tuple(edges))

    # -- nodes

    def _nodes(self) -> Iterator[NodeRecord]:
        facts = self.table.facts
        name = self.evaluator.module_name(self.path)
        yield NodeRecord(
            CodeNode(
                id=self.module,
                kind=NodeKind.MODULE,
                name=self.path.rsplit("/", 1)[-1],
                qualified_name=name,
                path=self.path,
                start_line=1,
                end_line=max(facts.line_count, 1),
                language=facts.language,
                signature="",
                content_hash=facts.digest,
                flags=facts.flags,
                parent=package_node_id(self.path),
            ),
            facts.doc,
        )
        for index, definition in enumerate(facts.definitions):
            if not definition.flags & NodeFlag.ANONYMOUS:
                yield NodeRecord(self._node(name, index, definition), definition.doc)

    def _node(self, module: str, index: int, definition: Definition) -> CodeNode:
        return CodeNode(
            id=self.id_of(index),
            kind=definition.kind,
            name=definition.name,
            qualified_name=self.evaluator.qualified(module, definition),
            path=self.path,
            start_line=definition.start_line,
            end_line=definition.end_line,
            language=self.table.facts.language,
            signature=definition.signature,
            content_hash=definition.digest,
            flags=definition.flags | (self.table.facts.flags & _INHERITED),
            parent=self.id_of(definition.parent),
        )

    def id_of(self, scope: int) -> NodeId:
        """The node of a scope: the nearest named definition around it, or the module."""
        return self.table.id_of(scope)

    # -- edges

    def _add(self, source: NodeId, target: NodeId, kind: EdgeKind, rule: Rule, line: int = 0) -> None:
        confidence = CONFIDENCE[rule]
        key = (source, target, kind)
        known = self.edges.get(key)
        lines = known[2] if known else set()
        if line:
            lines.add(line)
        if known is None or known[1] < confidence:
            self.edges[key] = (rule, confidence, lines)

    def _structure(self) -> None:
        for index, definition in enumerate(self.table.facts.definitions):
            if not definition.flags & NodeFlag.ANONYMOUS:
                self._add(self.id_of(definition.parent), self.id_of(index), EdgeKind.CONTAINS, Rule.STRUCTURE)

    def _calls(self, found: Calls) -> None:
        for scope, (path, index), rule, line in found.edges:
            source, target = self.id_of(scope), self._target(path, index)
            if target is None:
                continue
            self._add(source, target, EdgeKind.CALLS, rule, line)
            if self._tests(scope, path, index):
                self._add(source, target, EdgeKind.TESTS, Rule.NAMING, line)
        for scope, name, line in found.external:
            self._add(self.id_of(scope), external_id(name), EdgeKind.CALLS, Rule.IMPORT, line)

    def _target(self, path: str, index: int) -> NodeId | None:
        """The node of a call's target; an anonymous function is none."""
        table = self.evaluator.table(path)
        if table.facts.definitions[index].flags & NodeFlag.ANONYMOUS:
            return None
        return table.id_of(index)

    def _tests(self, scope: int, path: str, index: int) -> bool:
        return self.table.is_test(scope) and not self.evaluator.table(path).is_test(index)

    def _imports(self) -> None:
        for item in self.table.facts.imports:
            source = self.id_of(item.scope)
            values = self.evaluator.imported(self.path, item)
            if not values or item.name == "*":
                values = self.evaluator.import_modules(self.path, item)
            for target in self._named_nodes(values):
                self._add(source, target, EdgeKind.IMPORTS, Rule.IMPORT, item.line)

    def _hierarchy(self) -> None:
        for index, definition in enumerate(self.table.facts.definitions):
            if definition.kind in CLASS_LIKE:
                for kind, types in ((EdgeKind.EXTENDS, definition.bases), (EdgeKind.IMPLEMENTS, definition.implements)):
                    for base in types:
                        self._parents(index, base, kind)
            for decorator in definition.decorators:
                line = self.table.facts.exprs[decorator].line
                for target in self._named_nodes(self.evaluator.decorator(self.path, decorator)):
                    self._add(self.id_of(index), target, EdgeKind.DECORATES, Rule.LEXICAL, line)

    def _parents(self, index: int, base: Type, kind: EdgeKind) -> None:
        """Edges to the types that one parent's name means; a class implements an interface however that is written."""
        definition = self.table.facts.definitions[index]
        values = self.evaluator.base_classes(self.path, index, base) if base.name not in _SYNTACTIC_TYPES else ()
        for value in values if len(values) <= MAX_CANDIDATES else ():
            if isinstance(value, (Class, Inst)) and (value.path, value.index) != (self.path, index):
                is_interface = self.evaluator.definition(value.path, value.index).kind is NodeKind.INTERFACE
                own = EdgeKind.IMPLEMENTS if is_interface and definition.kind is NodeKind.CLASS else kind
                for target in self._node_of(value):
                    self._add(self.id_of(index), target, own, Rule.LEXICAL, definition.name_line)
        for arg in base.args:
            self._type_edges(index, definition.parent, arg, EdgeKind.USES, definition.name_line)

    def _edges(self) -> tuple[Edge, ...]:
        return tuple(
            Edge(*key, confidence, rule, tuple(sorted(lines)[:MAX_LINES]) if len(lines) > 1 else tuple(lines))
            for key in sorted(self.edges)
            for rule, confidence, lines in (self.edges[key],)
        )

    def _edges_with(self, begun: tuple[Edge, ...]) -> tuple[Edge, ...]:
        """Those added since and those there before; most of the latter stay as they are."""
        if not self.edges:
            return begun
        kept: list[Edge] = []
        for edge in begun:
            key = (edge.source, edge.target, edge.kind)
            added = self.edges.get(key)
            if added is None:
                kept.append(edge)
            else:
                known = added[:2] if edge.confidence < added[1] else (edge.rule, edge.confidence)
                self.edges[key] = (*known, added[2].union(edge.lines))
        return tuple(sorted((*kept, *self._edges()), key=_ENDS))

    def _overrides(self, found: Calls) -> None:
        definitions = self.table.facts.definitions
        for index, twins in found.overrides:
            path, twin = twins[0]
            target = self.evaluator.table(path).id_of(twin)
            self._add(self.id_of(index), target, EdgeKind.OVERRIDES, Rule.SELF, definitions[index].name_line)

    def _dispatches(self, virtual: Iterable[tuple[int, Place]]) -> None:
        for site, target_place in virtual:
            expr = self.table.facts.exprs[site]
            for place in dispatched(self.evaluator, self.table, expr, target_place):
                node = self._target(*place)
                if node is not None:
                    self._add(self.id_of(expr.scope), node, EdgeKind.MAY_DISPATCH, Rule.HIERARCHY, expr.line)

    def _uses(self) -> None:
        facts = self.table.facts
        for index, definition in enumerate(facts.definitions):
            declared = [param.type for param in definition.params if param.type is not None]
            if definition.result is not None:
                declared.append(definition.result)
            for item in declared:
                self._type_edges(index, index, item, EdgeKind.USES, definition.name_line)
        for assign in facts.assigns:
            if assign.type is not None:
                target = facts.exprs[assign.target]
                self._type_edges(target.scope, target.scope, assign.type, EdgeKind.USES, target.line)
        kind, rule = self.evaluator.reference_kind, self.evaluator.reference_rule
        for expr in facts.references:
            site = facts.exprs[expr]
            for node in self._named_nodes(self.evaluator.reference(self.path, expr)):
                for line in self.evaluator.reference_lines(site) if node != self.id_of(site.scope) else ():
                    self._add(self.id_of(site.scope), node, kind, rule, line)

    def _type_edges(self, owner: int, scope: int, declared: Type, kind: EdgeKind, line: int) -> None:
        """Edges to the repository's own types that a declared type names, its arguments included."""
        if declared.name and declared.name not in _SYNTACTIC_TYPES:
            values = self.evaluator.type_classes(self.path, scope, declared)
            for target in self._named_nodes(tuple(value for value in values if not isinstance(value, Ext))):
                if target != self.id_of(owner):
                    self._add(self.id_of(owner), target, kind, Rule.LEXICAL, line)
        for arg in declared.args:
            self._type_edges(owner, scope, arg, EdgeKind.USES, line)

    def _named_nodes(self, values: Values) -> list[NodeId]:
        if len(values) > MAX_CANDIDATES:
            return []
        return [node for value in values for node in self._node_of(value)]

    def _node_of(self, value: Value) -> Iterable[NodeId]:
        if isinstance(value, (Func, Class, Inst)):
            found = self._target(value.path, value.index)
            return () if found is None else (found,)
        if isinstance(value, Module):
            return (module_node_id(value.path),)
        return ()

    def _leave(self, sites: list[tuple[int, str, int]]) -> None:
        for scope, name, line in sites:
            self.unresolved[self.id_of(scope), name].add(line)

    def _unresolved(self) -> tuple[Unresolved, ...]:
        return tuple(
            Unresolved(source, name, tuple(sorted(found)[:MAX_LINES]))
            for (source, name), found in sorted(self.unresolved.items())
        )

    def _unresolved_with(self, begun: tuple[Unresolved, ...]) -> tuple[Unresolved, ...]:
        if not self.unresolved:
            return begun
        for call in begun:
            self.unresolved[call.source, call.name].update(call.lines)
        return self._unresolved()


_SYNTACTIC_TYPES = frozenset({"", "|", "&", "[]", "->", "<-", "()", "{}"})


def package_node_id(path: str) -> NodeId:
    directory = path.rpartition("/")[0]
    if not directory:
        return node_id("", NodeKind.REPOSITORY, "")
    return node_id("", NodeKind.PACKAGE, directory)


def external_id(name: str) -> NodeId:
    return node_id("", NodeKind.EXTERNAL, name)


def shared_graph(
    repository: str, paths: Iterable[str], externals: Iterable[str]
) -> tuple[tuple[NodeRecord, ...], tuple[Edge, ...]]:
    """The nodes without a file: the repository, its directories as packages, and external symbols."""
    root = node_id("", NodeKind.REPOSITORY, "")
    nodes = [_shared_node(root, NodeKind.REPOSITORY, repository, "", None)]
    edges: list[Edge] = []
    seen: set[str] = set()
    for path in paths:
        owner = package_node_id(path)
        edges.append(Edge(owner, module_node_id(path), EdgeKind.CONTAINS, 1.0, Rule.STRUCTURE))
        directory = path.rpartition("/")[0]
        while directory and directory not in seen:
            seen.add(directory)
            parent = package_node_id(directory)
            child = node_id("", NodeKind.PACKAGE, directory)
            nodes.append(_shared_node(child, NodeKind.PACKAGE, directory.rsplit("/", 1)[-1], directory, parent))
            edges.append(Edge(parent, child, EdgeKind.CONTAINS, 1.0, Rule.STRUCTURE))
            directory = directory.rpartition("/")[0]
    nodes += [
        _shared_node(external_id(name), NodeKind.EXTERNAL, name.rsplit(".", 1)[-1], name, None) for name in externals
    ]
    ordered = sorted(nodes, key=lambda record: record.node.id)
    return tuple(ordered), tuple(sorted(edges, key=lambda edge: (edge.source, edge.target)))


def _shared_node(identity: NodeId, kind: NodeKind, name: str, qualified_name: str, parent: NodeId | None) -> NodeRecord:
    return NodeRecord(CodeNode(identity, kind, name, qualified_name, "", 0, 0, "", "", "", NodeFlag.NONE, parent))
