"""Tables of a view as text for a page, as many rows as a page can bear."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from clueval_xlsx.views.tables import TableRow, TableView, ValueKind, WordDifference, value_text
from clueval_xlsx.words import Words

# Rows of a table that are listed; a page with more is no better reading, and the other outputs have them all.
LISTED_ROWS = 500


@dataclass(frozen=True)
class ListedTable:
    """A table; `total` is more than the rows where the rest is left out. `numbers`: all columns but the first.

    `groups` are the rows that belong together, their cells by the keys of the columns.
    """

    view: TableView
    rows: tuple[tuple[str | WordDifference, ...], ...]
    numbers: bool
    groups: tuple[tuple[Mapping[str, str | WordDifference], ...], ...]

    @property
    def total(self) -> int:
        """How many rows there are."""
        return len(self.view.rows)


def listed_table(view: TableView, words: Words) -> ListedTable:
    """The first rows of a table as text."""
    kinds = [column.kind for column in view.columns]
    keys = [column.key for column in view.columns]

    def texts(row: TableRow) -> tuple[str | WordDifference, ...]:
        cells = zip(row, kinds, strict=True)
        return tuple(
            value if isinstance(value, WordDifference) else value_text(value, kind, words) for value, kind in cells
        )

    listed = replace(view, rows=view.rows[:LISTED_ROWS])
    groups = tuple(tuple(dict(zip(keys, texts(row), strict=True)) for row in group) for group in listed.groups())
    numbers = all(kind is not ValueKind.TEXT for kind in kinds[1:])
    return ListedTable(view, tuple(texts(row) for row in listed.rows), numbers, groups)
