"""What an expression is does not depend on what was asked before it: cycles are cut in the same way."""

from __future__ import annotations

import random

import pytest

from ctxsearch.graph.resolve.resolver import Resolver
from ctxsearch.graph.resolve.values import Values
from ctxsearch.indexer.parse import parse

MUTUAL = """
class Node:
    def __init__(self, parent):
        self.parent = parent or self.root()
        self.child = self.parent.child

    def root(self):
        return self.parent.root() or self.child or Node(None)

    def leaf(self):
        node = self.child
        while node:
            node = node.child.leaf() or node.parent
        return node.root()
"""

CALLS = """
def first(n):
    return second(n) or Store()

def second(n):
    return third(n)

def third(n):
    return first(n) if n else second

class Store:
    pass

first(1).save()
second(2).save()
third(3).save()
"""


def answers(source: str, seed: int) -> dict[int, Values]:
    """The value of every expression, asked in a random order."""
    resolver = Resolver()
    facts = parse("a.py", source.encode())
    resolver.world.replace({"a.py": facts}, ())
    evaluator = resolver.evaluator("a.py")
    evaluator.begin("a.py")
    order = list(range(len(facts.exprs)))
    random.Random(seed).shuffle(order)
    return {index: evaluator.ask("a.py", index) for index in order}


@pytest.mark.parametrize("source", [MUTUAL, CALLS])
@pytest.mark.parametrize("seed", range(1, 15))
def test_the_order_of_questions_does_not_matter(source: str, seed: int) -> None:
    assert answers(source, seed) == answers(source, 0)
