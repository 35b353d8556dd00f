"""Names that look like what was typed: by edits of whole names and of their parts."""

from __future__ import annotations

from typing import Any, Final

import tantivy

from ctxsearch.search.fuzzy import allowed_edits
from ctxsearch.search.identifiers import identifiers, whole_form

_FUZZY_FIELDS: Final = {"symbol": 1.0, "name": 0.25}  # a near name beats a name with a near part


def typed_forms(text: str) -> list[str]:
    """The identifiers of a query that may be misspelt, in one spelling each; joined words count as one too."""
    forms = [whole_form(identifier) for identifier in identifiers(text)]
    if 1 < len(forms) <= 4:
        forms.append("".join(forms))
    return [form for form in dict.fromkeys(forms) if form][:8]


def near_query(schema: Any, form: str) -> Any:
    """Names within the allowed edits: one clause per distance, so that a nearer name matches more of them."""
    clauses = []
    for edits in range(allowed_edits(form) + 1):
        for name, weight in _FUZZY_FIELDS.items():
            query = tantivy.Query.fuzzy_term_query(schema, name, form, edits, True)
            clauses.append((tantivy.Occur.Should, tantivy.Query.const_score_query(query, weight)))
    return tantivy.Query.boolean_query(clauses)


def perfect_score(form: str) -> float:
    """The score of a name that is what was typed."""
    return (allowed_edits(form) + 1) * sum(_FUZZY_FIELDS.values())
