"""The members of `facts.Op` as names of a module: `ops.CALL` for `Op.CALL`.

Resolution and extraction compare operators millions of times. Python 3.11 looks an enumeration's member up through the
metaclass, which takes five times as long as the whole comparison; a module's name costs next to nothing.
"""

from __future__ import annotations

from typing import Final

from ctxsearch.graph.facts import Op

UNKNOWN: Final = Op.UNKNOWN
NAME: Final = Op.NAME
MEMBER: Final = Op.MEMBER
CALL: Final = Op.CALL
NEW: Final = Op.NEW
INDEX: Final = Op.INDEX
LITERAL: Final = Op.LITERAL
SEQUENCE: Final = Op.SEQUENCE
MAPPING: Final = Op.MAPPING
FUNCTION: Final = Op.FUNCTION
CLASS: Final = Op.CLASS
CHOICE: Final = Op.CHOICE
AWAIT: Final = Op.AWAIT
ELEMENT: Final = Op.ELEMENT
CAST: Final = Op.CAST
THIS: Final = Op.THIS
SUPER: Final = Op.SUPER
KEYWORD: Final = Op.KEYWORD
SPREAD: Final = Op.SPREAD
ENTER: Final = Op.ENTER
YIELDED: Final = Op.YIELDED
RECEIVER_CLASS: Final = Op.RECEIVER_CLASS
CALLABLE: Final = Op.CALLABLE
TEMPLATE: Final = Op.TEMPLATE
