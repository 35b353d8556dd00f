"""C++ shares C's extractor: the grammars' node names agree."""

from ctxsearch.indexer.languages.c import CppExtractor

EXTRACTOR = CppExtractor
