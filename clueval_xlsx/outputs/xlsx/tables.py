"""Values and tables of a view on a sheet."""

from __future__ import annotations

import math
from collections.abc import Sequence

from clueval_xlsx.outputs.xlsx.book import Cell, Worksheet
from clueval_xlsx.views import numbers
from clueval_xlsx.views.overview import Tile
from clueval_xlsx.views.scores import WITH_COUNTS, ScoreTable, score_columns
from clueval_xlsx.views.tables import TableValue, TableView, ValueKind, WordDifference, value_text
from clueval_xlsx.words import Words

SCORE_WIDTH = 1 + len(WITH_COUNTS)  # columns of a score table
_STYLES = {
    ValueKind.RATE: "rate",
    ValueKind.POINTS: "points",
    ValueKind.MEASURE: "measure",
    ValueKind.CHANCE: "chance",
}
_PLAIN = {ValueKind.TEXT: "row_name", ValueKind.SHARE: "count"}


def write_value(
    sheet: Worksheet, cell: Cell, value: TableValue, kind: ValueKind, *, words: Words, faint: bool = False
) -> None:
    """A value in the look of its kind; numbers stay numbers, what is not defined is said in words."""
    if kind is ValueKind.CHANCE and isinstance(value, float) and value < numbers.SMALLEST_CHANCE:
        sheet.text(cell, value_text(value, kind, words), "undefined")
    elif isinstance(value, WordDifference):
        sheet.rich(cell, value.pieces, "row_name")
    elif faint and not isinstance(value, tuple):
        _write_faint(sheet, cell, value, kind, words)
    elif isinstance(value, str | tuple):
        sheet.text(cell, value_text(value, kind, words), _PLAIN.get(kind, "interval"))
    elif kind is ValueKind.COUNT:
        sheet.number(cell, value, "count" if math.isnan(value) or float(value).is_integer() else "count_half")
    elif math.isnan(value) and kind is not ValueKind.CHANCE:
        sheet.text(cell, words["undefined"], "undefined")
    else:
        sheet.number(cell, 100 * value if kind is ValueKind.POINTS else value, _STYLES[kind])


def _write_faint(sheet: Worksheet, cell: Cell, value: str | float, kind: ValueKind, words: Words) -> None:
    """A value of a row that rests on too little, in grey."""
    if isinstance(value, str):
        sheet.text(cell, value, "row_name_faint")
    elif math.isnan(value):
        sheet.text(cell, words["undefined"], "undefined")
    else:
        sheet.number(cell, value, "count_faint" if kind is ValueKind.COUNT else "measure_faint")


def write_tiles(
    sheet: Worksheet, row: int, tiles: Sequence[Tile], places: Sequence[tuple[int, int]], words: Words
) -> int:
    """Large figures side by side, each from one column to another; returns the row behind them."""
    for line, height in enumerate((18, 32, 14, 16), row):
        sheet.row(line, height)
    for (first, last), tile in zip(places, tiles, strict=True):
        style = "tile_rate" if tile.kind is ValueKind.RATE else "tile_count"
        value = tile.value.value
        between = numbers.interval(tile.value.low, tile.value.high, words)
        sheet.across((row, first), last, tile.name, "tile_name")
        sheet.across((row + 1, first), last, words["undefined"] if math.isnan(value) else value, style)
        sheet.across((row + 2, first), last, words("metrics.between", interval=between) if between else "", "tile_note")
        sheet.across((row + 3, first), last, tile.note, "tile_note")
    return row + 4


def write_score_table(sheet: Worksheet, place: Cell, table: ScoreTable, words: Words) -> int:
    """A header and one line for each row, with the lines that belong to it; returns the row behind the table."""
    row, column = place
    columns = score_columns(table, WITH_COUNTS, words)
    write_header(sheet, place, [table.first, *(each.title for each in columns)], 30)
    for line, scores in enumerate(table.rows, row + 1):
        sheet.text((line, column), scores.name, "row_name_bold" if scores.summary else "row_name")
        values = scores.values
        for offset, each in enumerate(columns, column + 1):
            write_value(sheet, (line, offset), values[each.key], each.kind, words=words)
    row += 1 + len(table.rows)
    for detail in table.details:
        sheet.text((row, column), detail, "explanation")
        row += 1
    return row


def write_table(sheet: Worksheet, place: Cell, table: TableView, words: Words, *, height: float = 18) -> int:
    """A small table; returns the row behind it."""
    row, column = place
    write_header(sheet, place, [each.title for each in table.columns], height)
    for line, values in enumerate(table.rows, row + 1):
        sheet.row(line, 16)
        faint = line - row - 1 in table.faint
        for offset, (value, each) in enumerate(zip(values, table.columns, strict=True), column):
            write_value(sheet, (line, offset), value, each.kind, words=words, faint=faint)
    return row + 1 + len(table.rows)


def write_header(sheet: Worksheet, place: Cell, titles: list[str], height: float) -> None:
    """The headings of a table: the first stands left, the others right, above their numbers."""
    row, column = place
    sheet.row(row, height)
    for offset, title in enumerate(titles, column):
        sheet.text((row, offset), title, "header" if offset == column else "header_right")
