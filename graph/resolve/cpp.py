"""C++ shares C's evaluator."""

from ctxsearch.graph.resolve.c import EVALUATOR

__all__ = ["EVALUATOR"]
