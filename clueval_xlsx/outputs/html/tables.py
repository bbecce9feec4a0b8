"""Tables of words and numbers for a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

# Rows of a table that are listed; a page with more is no better reading, and the other outputs have them all.
LISTED_ROWS = 500


@dataclass(frozen=True)
class TextTable:
    """A table; `total` is more than the rows where the rest is left out."""

    key: str
    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    total: int
    empty: str


def text_table(key: str, title: str, header: Sequence[str], rows: Sequence[Sequence[Any]], empty: str) -> TextTable:
    """A table that lists as many rows as a page can bear; `empty` is said where there is none."""
    shown = [[str(value) for value in row] for row in rows[:LISTED_ROWS]]
    return TextTable(key, title, header, shown, len(rows), empty)
