"""Scores as tables for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clueval_xlsx.outputs.terminal.layout import Room, framed, least_width, short_text, with_left_out
from clueval_xlsx.views.scores import (
    RATES_ALONE,
    WITH_SHARES,
    ScoreTable,
    score_columns,
)
from clueval_xlsx.views.tables import ValueKind
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

# What is left out where there is no room: F1 first, then the counts, then the intervals.
_COLUMNS = (
    WITH_SHARES,
    tuple(key for key in WITH_SHARES if key != "f1"),
    ("recall", "recall_interval", "precision", "precision_interval", "f_beta"),
    RATES_ALONE,
)


def score_table(table: ScoreTable, words: Words, room: Room) -> RenderableType:
    """Score rows as a table; of the columns a terminal gets as many as it has room for, and hears of the others."""
    from rich.text import Text

    for keys in _COLUMNS:
        titles, rows = _cells(table, keys, words)
        least = least_width(titles, rows, [row.name for row in table.rows])
        if room.holds(least):
            break
    shown = framed(f"{table.title} ({words['metrics.per_cent']})")
    shown.width = room.beyond(least)
    shown.add_column(table.first, overflow="fold")
    for title in titles:
        shown.add_column(title, justify="right", no_wrap=True)
    for row, cells in zip(table.rows, rows, strict=True):
        shown.add_row(Text(row.name), *cells)
    left_out = score_columns(table, [key for key in WITH_SHARES if key not in keys], words)
    return with_left_out(shown, [column.title for column in left_out], room)


def _cells(table: ScoreTable, keys: Sequence[str], words: Words) -> tuple[list[str], list[list[str]]]:
    """The headings of some columns, and what stands in them."""
    columns = score_columns(table, keys, words)
    short = words["metrics.interval_short"]
    titles = [short if column.kind is ValueKind.INTERVAL else column.title for column in columns]
    rows = [[short_text(row.values[column.key], column.kind, words) for column in columns] for row in table.rows]
    return titles, rows
