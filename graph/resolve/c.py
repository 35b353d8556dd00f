"""C and C++ share an evaluator: both see one another's functions through includes."""

from ctxsearch.graph.resolve.c_references import ReferenceEvaluator

EVALUATOR = ReferenceEvaluator
