"""What a selection lets through, asked of many nodes at once, is what it says of each."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterable
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st
from search_samples import document

from ctxsearch.graph.columns import NodeColumns, numbers_of
from ctxsearch.graph.model import CodeNode, NodeId, NodeKind
from ctxsearch.search.acceptance import Acceptance
from ctxsearch.search.ports import Denied, Selection
from ctxsearch.search.scope import Scope

KINDS = (NodeKind.FUNCTION, NodeKind.CLASS, NodeKind.EXTERNAL)
LANGUAGES = ("python", "go", "")
PATHS = ("pkg/app.py", "pkg/deep/app.py", "qq/main.go", "")
NODES = [
    document(
        f"n{number}", path=path, kind=kind, language=language, qualified=f"{path.partition('/')[0]}.n{number}"
    ).node
    for number, (path, kind, language) in enumerate((p, k, one) for p in PATHS for k in KINDS for one in LANGUAGES)
]


@dataclass
class Nodes:
    """A look-up of some nodes."""

    columns: NodeColumns
    by_id: dict[NodeId, CodeNode]

    @staticmethod
    def of(nodes: Iterable[CodeNode]) -> Nodes:
        listed = list(nodes)
        return Nodes(NodeColumns.of(listed), {node.id: node for node in listed})

    def node(self, node_id: NodeId, /) -> CodeNode | None:
        return self.by_id.get(node_id)


KNOWN = Nodes.of(NODES[:-2])


def some(*values: str) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(values), max_size=2).map(tuple)


kinds = st.lists(st.sampled_from(KINDS), max_size=2).map(tuple)
paths = some("pkg/", "*.go", "**/deep/**", "nowhere/")
languages = some("Python", "go")
packages = some("pkg", "qq", "qq.n19")
scopes = st.builds(
    Scope,
    paths=paths,
    languages=languages,
    kinds=kinds,
    packages=packages,
    exclude_paths=paths,
    exclude_languages=languages,
    exclude_kinds=kinds,
    exclude_packages=packages,
)


@settings(max_examples=200, deadline=None)
@given(
    scope=scopes,
    denied=st.sets(st.sampled_from(NODES), max_size=20).map(lambda nodes: Denied.of(node.id for node in nodes)),
    first=st.lists(st.sampled_from(NODES), max_size=20),
    then=st.permutations(NODES),
)
def test_many_at_once_as_one_by_one_whatever_was_asked_before(
    scope: Scope, denied: Denied, first: list[CodeNode], then: list[CodeNode]
) -> None:
    acceptance = Acceptance(KNOWN, Selection(scope, denied))
    for asked in (first, then):
        inside = [node.id in KNOWN.by_id and scope.accepts(node) for node in asked]
        expected = [one and node.id not in denied for one, node in zip(inside, asked, strict=True)]
        assert acceptance(numbers_of(node.id for node in asked)).tolist() == expected
    refused = [node.id for node, one in zip(then, expected, strict=True) if not one]
    outside = [node.id for node, one in zip(then, inside, strict=True) if not one]
    assert acceptance.told_apart(refused) == (outside, [one for one in refused if one not in outside])


def test_what_is_remembered_of_a_generation_goes_with_it() -> None:
    nodes = Nodes.of(NODES)
    gone = weakref.ref(nodes.columns)
    for number in range(40):
        acceptance = Acceptance(nodes, Selection(Scope(paths=(f"{number}/",))))
        assert not acceptance(nodes.columns.numbers).any()
    del nodes, acceptance
    gc.collect()
    assert gone() is None
