"""A workbook as plain values: its sheets with all their cells, and what a reader needs to know beside the values.

Every caller that reads workbooks gets these: the re-import, `status`, the guard of judged work, tables of spans.
"""

from __future__ import annotations

import datetime
from functools import cache, cached_property
from typing import Any, NamedTuple

import msgspec

Cell = str | float | bool
Place = tuple[int, int]  # row and column, both counted from 0


class MergedRange(NamedTuple):
    """Cells that were merged into one; rows and columns counted from 0, all inclusive."""

    first_row: int
    first_column: int
    last_row: int
    last_column: int


class SheetTable(msgspec.Struct, frozen=True, dict=True):
    """One sheet: its name and all its cells from A1 on; an empty cell is the empty string, a date its text.

    Of merged cells only the first has a value. `valueless` are cells that are empty among the values although an
    error or a formula stands there: what that is, by its place. `notes` are attached to cells.
    """

    name: str
    rows: list[list[Cell]]
    merged: tuple[MergedRange, ...] = ()
    valueless: dict[Place, str] = {}
    notes: dict[Place, str] = {}
    hidden: bool = False

    @cached_property
    def texts(self) -> list[list[str]]:
        """The text of every cell without blanks around it."""
        return [[cell.strip() if type(cell) is str else cell_text(cell).strip() for cell in row] for row in self.rows]


class Workbook(msgspec.Struct, frozen=True):
    """The sheets of a workbook, hidden ones too, and when it says that it was saved (as ISO 8601, else empty)."""

    sheets: tuple[SheetTable, ...]
    saved: str = ""


def cell_text(value: Any) -> str:  # noqa: PLR0911 - one line a type
    """A cell as text: whole numbers without a point, truth values and dates the way a spreadsheet shows them.

    >>> cell_text(7.0), cell_text(True), cell_text(None), cell_text(" a ")
    ('7', 'TRUE', '', ' a ')
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return str(value)


def cell_name(row: int, column: int) -> str:
    """The name of a cell, both counted from 0.

    >>> cell_name(0, 0), cell_name(9, 27)
    ('A1', 'AB10')
    """
    return f"{column_name(column)}{row + 1}"


@cache
def column_name(column: int) -> str:
    """The letters of a column, counted from 0."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters
