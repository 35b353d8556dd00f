"""Text as rows of the model's vocabulary: identifiers split into words, words into their longest known pieces.

Running and training the bundled model both go through here, so that they agree on what a text consists of. Keeps no
state but caches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ctxsearch.search.identifiers import identifiers, split_identifier
from ctxsearch.search.ports import Passage

CONTINUATION = "##"  # begins a piece that continues a word
# How often more the name counts than a word of the body; flat between 0.5 and 3 on CoSQA dev.
NAME_EXTRA = 1.0
_CACHE_LIMIT = 400_000


class Pieces:
    """The rows of texts in one vocabulary.

    Thread-safe: the caches are plain dicts whose entries never change once written.
    """

    def __init__(self, vocabulary: Sequence[str]) -> None:
        """A piece's row is its position."""
        self._rows = {piece: row for row, piece in enumerate(vocabulary)}
        self._longest = max(len(piece) for piece in vocabulary)
        self._identifier_rows: dict[str, tuple[int, ...]] = {}
        self._word_rows: dict[str, tuple[int, ...]] = {}

    def query(self, text: str) -> list[int]:
        """The rows of a text in order, with repeats."""
        rows: list[int] = []
        for identifier in identifiers(text):
            rows.extend(self.identifier(identifier))
        return rows

    def document(self, passage: Passage) -> dict[int, float]:
        """How often each row occurs in a passage; its name counts extra."""
        counts: dict[int, float] = {}
        for identifier, count in Counter(identifiers(passage.text)).items():
            for row in self.identifier(identifier):
                counts[row] = counts.get(row, 0.0) + count
        for row in self.identifier(passage.name):
            counts[row] = counts.get(row, 0.0) + NAME_EXTRA
        return counts

    def identifier(self, identifier: str) -> tuple[int, ...]:
        """The rows of one identifier."""
        rows = self._identifier_rows.get(identifier)
        if rows is None:
            rows = tuple(row for word in split_identifier(identifier) for row in self._word(word))
            if len(self._identifier_rows) >= _CACHE_LIMIT:
                self._identifier_rows.clear()
            self._identifier_rows[identifier] = rows
        return rows

    def _word(self, word: str) -> tuple[int, ...]:
        rows = self._word_rows.get(word)
        if rows is None:
            rows = tuple(self._greedy(word))
            if len(self._word_rows) >= _CACHE_LIMIT:
                self._word_rows.clear()
            self._word_rows[word] = rows
        return rows

    def _greedy(self, word: str) -> list[int]:
        """Longest known piece first; a character that no piece covers is skipped."""
        rows: list[int] = []
        start = 0
        while start < len(word):
            prefix = CONTINUATION if start else ""
            for end in range(min(len(word), start + self._longest), start, -1):
                row = self._rows.get(prefix + word[start:end])
                if row is not None:
                    rows.append(row)
                    start = end
                    break
            else:
                start += 1
        return rows
