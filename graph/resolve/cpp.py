"""C++ shares C's evaluator: both see one another's functions through includes."""

from ctxsearch.graph.resolve.c import CEvaluator

EVALUATOR = CEvaluator
