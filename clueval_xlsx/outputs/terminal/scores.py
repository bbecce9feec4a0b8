"""Scores as tables for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clueval_xlsx.outputs.terminal.layout import Room, framed, least_width, short_text, with_left_out
from clueval_xlsx.views.scores import (
    RATES_ALONE,
    WITH_SHARES,
    ScoreTable,
    group_tables,
    label_tables,
    level_sentence,
    level_table,
    scheme_tables,
    score_columns,
    strict_relaxed_table,
)
from clueval_xlsx.views.tables import TableValue, TableView, ValueKind
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from clueval_xlsx.figures import Figures

# What is left out where there is no room: F1 first, then the counts, then the intervals.
_COLUMNS = (
    WITH_SHARES,
    tuple(key for key in WITH_SHARES if key != "f1"),
    ("recall", "recall_interval", "precision", "precision_interval", "f_beta"),
    RATES_ALONE,
)
# What strict against relaxed shows, each as a change: the columns that it puts together.
_CHANGES = ("recall", "precision", "f_beta")
_WIDTH_OF_CHANGE, _WIDTH_OF_OTHERS, _WIDTH_OF_MATCHES = 21, 34, 16


def score_tables(evaluation: Figures, words: Words, room: Room) -> list[RenderableType]:
    """Everything that `score` prints: what was chosen, levels, labels, groups, other schemes, strict and relaxed."""
    from rich.text import Text

    found: list[RenderableType] = [Text(level_sentence(evaluation.options, words)), Text()]
    tables = (level_table(evaluation, words), *label_tables(evaluation, words), *group_tables(evaluation, words))
    for table in (*tables, *scheme_tables(evaluation, words)):
        found.append(score_table(table, words, room))
        found += [Text(line, style="dim") for line in (table.note, *table.details) if line]
        found.append(Text())
    relaxed = strict_relaxed_table(evaluation, words)
    if relaxed is not None:
        found += [_strict_relaxed(relaxed, words, room), Text(relaxed.note, style="dim"), Text()]
    return found


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


def _strict_relaxed(table: TableView, words: Words, room: Room) -> RenderableType:
    """Each rate as a change from strict to relaxed; what does not fit is left out from the right."""
    from rich.text import Text

    titles = {column.key: column.title for column in table.columns}
    rows = [dict(zip(titles, row, strict=True)) for row in table.rows]
    fitting = max(1, (room.columns - _WIDTH_OF_OTHERS) // _WIDTH_OF_CHANGE) if room.screen else len(_CHANGES)
    keys = _CHANGES[:fitting]
    shown = framed(f"{table.title} ({words['metrics.per_cent']})")
    shown.add_column(titles["name"], overflow="fold")
    for key in keys:
        shown.add_column(titles[f"{key}_strict"], justify="right", no_wrap=True)
    shown.add_column(titles["relaxed_matches"], justify="right")
    cells = [
        [*(_change(row, key, words) for key in keys), short_text(row["relaxed_matches"], ValueKind.COUNT, words)]
        for row in rows
    ]
    names = [str(row["name"]) for row in rows]
    shown.width = room.beyond(least_width([""] * len(cells[0]), cells, names) + _WIDTH_OF_MATCHES)
    for name, row_cells in zip(names, cells, strict=True):
        shown.add_row(Text(name), *row_cells)
    return with_left_out(shown, [titles[f"{key}_strict"] for key in _CHANGES[fitting:]], room)


def _change(row: dict[str, TableValue], key: str, words: Words) -> str:
    strict, relaxed = (short_text(row[f"{key}_{state}"], ValueKind.RATE, words) for state in ("strict", "relaxed"))
    return f"{strict} → {relaxed} ({short_text(row[f'{key}_difference'], ValueKind.POINTS, words)})"
