"""Full text in tantivy: the only sub-package that imports it. `index.py` writes, `reader.py` answers.

Text is split into words in Python (identifiers.py) and handed to the engine joined with blanks; queries are built term
by term, never parsed. The generation is a document of its own, replaced in the same commit as what it names.
"""
