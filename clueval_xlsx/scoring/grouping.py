"""What rows of the score table can be grouped by: documents, and values of metadata."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clueval_xlsx.text.strings import IntArray


@dataclass(frozen=True, eq=False)
class Grouping:
    """Values that rows are grouped by; `codes` maps a token position to an index into `values` (-1: none)."""

    key: str
    values: Sequence[str]
    codes: IntArray  # for each document, or for each token position
    per_document: bool

    def of(self, position: IntArray, document: IntArray) -> IntArray:
        """The group of each unit."""
        return self.codes[document] if self.per_document else self.codes[position]
