"""Tables of a view as text for a page, as many rows as a page can bear."""

from __future__ import annotations

from dataclasses import dataclass

from clueval_xlsx.views.tables import TableView, ValueKind, value_text
from clueval_xlsx.words import Words

# Rows of a table that are listed; a page with more is no better reading, and the other outputs have them all.
LISTED_ROWS = 500


@dataclass(frozen=True)
class ListedTable:
    """A table; `total` is more than the rows where the rest is left out. `numbers`: all columns but the first."""

    view: TableView
    rows: tuple[tuple[str, ...], ...]
    numbers: bool

    @property
    def total(self) -> int:
        """How many rows there are."""
        return len(self.view.rows)


def listed_table(view: TableView, words: Words) -> ListedTable:
    """The first rows of a table as text."""
    kinds = [column.kind for column in view.columns]
    rows = tuple(
        tuple(value_text(value, kind, words) for value, kind in zip(row, kinds, strict=True))
        for row in view.rows[:LISTED_ROWS]
    )
    return ListedTable(view, rows, all(kind is not ValueKind.TEXT for kind in kinds[1:]))
