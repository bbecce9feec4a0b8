"""A comparison of systems as tables for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clueval_xlsx.outputs.terminal.layout import Room, framed, least_width, short_text, with_left_out
from clueval_xlsx.views import numbers
from clueval_xlsx.views.comparison import ComparisonView, DifferenceTable, SystemValue
from clueval_xlsx.views.tables import TableView, ValueKind
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType
    from rich.table import Table

_LEAST_FOR_SYSTEM = 8  # columns of a system's name, which may go on in further lines


def comparison_tables(view: ComparisonView, words: Words, room: Room) -> list[RenderableType]:
    """Recall, precision and F-beta of all systems, what distinguishes them from the first; errors alone and shared."""
    from rich.text import Text

    found: list[RenderableType] = [*(Text(verdict, style="bold") for verdict in view.verdicts), Text()]
    found += [Text(view.chosen), Text()]
    found += [shown for table in view.differences for shown in _rates(table, words, room)]
    found += [Text(view.explained, style="dim"), Text(), _errors(view.shared, words)]
    found += [Text(view.shared.note, style="dim"), Text()]
    return found


def _rates(table: DifferenceTable, words: Words, room: Room) -> list[RenderableType]:
    """One rate of all systems: in one table if the terminal has room for it, else one for each pair of systems."""
    everything = range(len(table.systems) - 1)
    # Value, difference with interval, p: what does not fit is left out, the interval first.
    for wide in (True, False):
        if room.holds(_least_width(table, everything, words, wide)):
            return [_rate_table(table, everything, words, room, wide=wide)]
    return [
        _rate_table(table, [other], words, room, wide=room.holds(_least_width(table, [other], words, True)))
        for other in everything
    ]


def _least_width(table: DifferenceTable, others: Sequence[int], words: Words, wide: bool) -> int:
    titles = [title[:_LEAST_FOR_SYSTEM] for title in _titles(table, others, words)]
    rows = [cells for _, cells in _rows(table, others, words, wide)]
    return least_width(titles, rows, [row.name for row in table.rows])


def _titles(table: DifferenceTable, others: Sequence[int], words: Words) -> list[str]:
    titles = [table.systems[0]]
    for other in others:
        titles += [table.systems[1 + other], words["compare.points_short"], words["compare.p"]]
    return titles


def _rows(table: DifferenceTable, others: Sequence[int], words: Words, wide: bool) -> list[tuple[str, list[str]]]:
    return [
        (
            row.name,
            [
                short_text(row.first, ValueKind.RATE, words),
                *(cell for other in others for cell in _other(row.others[other], words, wide)),
            ],
        )
        for row in table.rows
    ]


def _rate_table(
    table: DifferenceTable, others: Sequence[int], words: Words, room: Room, *, wide: bool
) -> RenderableType:
    from rich.text import Text

    shown = framed(f"{table.title} ({words['metrics.per_cent']})")
    shown.width = room.beyond(_least_width(table, others, words, wide))
    shown.add_column(words["metrics.scheme"], overflow="fold")
    for title in _titles(table, others, words):
        of_system = title in table.systems  # these names may be long, and are broken
        shown.add_column(Text(title), justify="right", overflow="fold", no_wrap=not of_system, min_width=5)
    for name, cells in _rows(table, others, words, wide):
        shown.add_row(Text(name), *cells)
    return with_left_out(shown, () if wide else [words["compare.interval"]], room)


def _other(found: SystemValue, words: Words, wide: bool) -> list[str]:
    """The value of another system, its difference, and its p-value."""
    difference = numbers.points(found.difference, words)
    between = numbers.points_interval(found.low, found.high, words) if wide else ""
    shown = f"{difference} ({between})" if between else difference
    return [short_text(found.value, ValueKind.RATE, words), shown, numbers.chance(found.p, words)]


def _errors(table: TableView, words: Words) -> Table:
    from rich.text import Text

    shown = framed(table.title)
    first, *others = table.columns
    shown.add_column(first.title, overflow="fold")
    for column in others:
        shown.add_column(column.title, justify="right")
    for name, *counts in table.rows:
        cells = [short_text(value, column.kind, words) for value, column in zip(counts, others, strict=True)]
        shown.add_row(Text(str(name)), *cells)
    return shown
