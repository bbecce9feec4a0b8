"""A model of workbooks: cells that know what they were meant for, and the few edits that all operations are made of.

Every edit is carried out on the model; where a real program mirrors the book, it is carried out there, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

FORBIDDEN_IN_SHEET_NAMES = re.compile(r"[\\/*?:\[\]]")


class NotPossible(Exception):  # noqa: N818 - an operation that does not apply is no error
    """An operation finds nothing to work on; another one is drawn."""


@dataclass(frozen=True, slots=True)
class Formula:
    """A formula and the value that the program stored with it; None if there is none."""

    text: str
    cached: str | float | bool | None = None


@dataclass(frozen=True, slots=True)
class ErrorValue:
    """An error such as #N/A that stands in a cell by itself."""

    text: str


Value = str | float | bool | Formula | ErrorValue | None


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: what stands in it, and for which column of a review sheet it was meant."""

    value: Value = None
    role: str = ""

    @property
    def shown(self) -> str:
        """The text that a person sees."""
        value = self.value.cached if isinstance(self.value, Formula) else self.value
        if isinstance(value, ErrorValue):
            return value.text
        if isinstance(value, bool):
            return str(value).upper()
        if isinstance(value, float) and value.is_integer():
            return str(int(value))
        return "" if value is None else str(value)


EMPTY = Cell()
Merge = tuple[int, int, int, int]  # first row, first column, last row, last column, all counted from 0


@dataclass
class Sheet:
    """One sheet as rows of cells. `written` keeps its bytes as long as nobody changes it."""

    name: str
    rows: list[list[Cell]] = field(default_factory=list)
    hidden: bool = False
    merges: list[Merge] = field(default_factory=list)
    hidden_rows: set[int] = field(default_factory=set)
    written: dict[str, str] = field(default_factory=dict)
    original: bool = False  # the workbook came with it

    def copy(self, name: str | None = None) -> Sheet:
        """An independent copy."""
        rows = [list(row) for row in self.rows]
        kept = (list(self.merges), set(self.hidden_rows), dict(self.written), self.original)
        return Sheet(name or self.name, rows, self.hidden, *kept)

    @property
    def width(self) -> int:
        """How many columns are in use."""
        return max((len(row) for row in self.rows), default=0)

    def cell(self, row: int, column: int) -> Cell:
        """The cell at a place, also beyond what is in use."""
        if row < len(self.rows) and column < len(self.rows[row]):
            return self.rows[row][column]
        return EMPTY

    def set(self, row: int, column: int, cell: Cell) -> None:
        """Put a cell at a place."""
        self.written = {}
        while len(self.rows) <= row:
            self.rows.append([])
        line = self.rows[row]
        line.extend([EMPTY] * (column + 1 - len(line)))
        line[column] = cell

    def cells(self) -> Iterator[tuple[int, int, Cell]]:
        """All cells that hold something."""
        for number, row in enumerate(self.rows):
            for column, cell in enumerate(row):
                if cell.value is not None:
                    yield number, column, cell


class Mirror(Protocol):
    """A real program that repeats the edits of a book."""

    def do(self, edit: str, *arguments: Any) -> Any:
        """Carry out one edit."""

    def mark(self) -> int:
        """A state to go back to."""

    def back_to(self, mark: int) -> None:
        """Undo everything since a mark."""


class Book:
    """A workbook: its sheets in order, and the edits."""

    def __init__(self, name: str, sheets: Sequence[Sheet], mirror: Mirror | None = None) -> None:
        self.name, self.sheets, self.mirror = name, list(sheets), mirror

    def copy(self, name: str | None = None) -> Book:
        """An independent copy, which nothing mirrors."""
        return Book(name or self.name, [sheet.copy() for sheet in self.sheets])

    def sheet(self, name: str) -> Sheet:
        """The sheet of this name."""
        return next(sheet for sheet in self.sheets if sheet.name == name)

    def free_name(self, wanted: str) -> str:
        """A name that no sheet has yet, short enough for every program."""
        wanted = wanted[:25]
        taken = {sheet.name.casefold() for sheet in self.sheets}
        names = (wanted, *(f"{wanted} ({number})" for number in range(2, 99)))
        return next(name for name in names if name.casefold() not in taken)

    def _mirrored(self, edit: str, *arguments: Any) -> Any:
        return self.mirror.do(edit, *arguments) if self.mirror is not None else None

    # -- cells

    def put(self, sheet: Sheet, row: int, column: int, value: Value, role: str | None = None) -> None:
        """Put a value into a cell; its role stays unless one is given."""
        old = sheet.cell(row, column)
        sheet.set(row, column, Cell(value, old.role if role is None else role))
        self._mirrored("put", sheet.name, row, column, value)

    def copy_range(self, source: Sheet, area: Merge, target: Sheet, row: int, column: int) -> None:
        """Copy a range within the workbook."""
        cells = _taken(source, area)
        _laid(target, row, column, cells)
        self._mirrored("copy_range", source.name, area, target.name, row, column)

    def move_range(self, source: Sheet, area: Merge, target: Sheet, row: int, column: int) -> None:
        """Cut a range and paste it elsewhere in the workbook."""
        cells = _taken(source, area)
        _laid(source, area[0], area[1], [[EMPTY] * len(line) for line in cells])
        _laid(target, row, column, cells)
        self._mirrored("move_range", source.name, area, target.name, row, column)

    def sort(self, sheet: Sheet, area: Merge, column: int, *, ascending: bool) -> None:
        """Sort the rows of a range by a column of the sheet; what is empty comes last."""
        lines = _taken(sheet, area)
        order = self._mirrored("sort", sheet.name, area, column, ascending)
        if order is None:
            key = column - area[1]
            filled = [index for index, line in enumerate(lines) if line[key].shown]
            filled.sort(key=lambda index: _sort_key(lines[index][key]), reverse=not ascending)
            order = [*filled, *(index for index, line in enumerate(lines) if not line[key].shown)]
        _laid(sheet, area[0], area[1], [lines[index] for index in order])

    def merge(self, sheet: Sheet, area: Merge) -> None:
        """Merge cells; only what stands in the first one is left."""
        for row in range(area[0], area[2] + 1):
            for column in range(area[1], area[3] + 1):
                if (row, column) != area[:2]:
                    self.put(sheet, row, column, None)
        sheet.merges.append(area)
        sheet.written = {}
        self._mirrored("merge", sheet.name, area, True)

    def split(self, sheet: Sheet, area: Merge) -> None:
        """Split merged cells; the content stays in the first one."""
        sheet.merges.remove(area)
        sheet.written = {}
        self._mirrored("merge", sheet.name, area, False)

    # -- rows and columns

    def insert_rows(self, sheet: Sheet, index: int, count: int = 1) -> None:
        """Insert empty rows before a row."""
        sheet.rows[index:index] = [[] for _ in range(count)]
        self._shift(sheet, index, count, rows=True)
        self._mirrored("insert_rows", sheet.name, index, count)

    def delete_rows(self, sheet: Sheet, index: int, count: int = 1) -> None:
        """Delete rows from an index on."""
        del sheet.rows[index : index + count]
        self._shift(sheet, index, -count, rows=True)
        self._mirrored("delete_rows", sheet.name, index, count)

    def insert_columns(self, sheet: Sheet, index: int, count: int = 1) -> None:
        """Insert empty columns before a column."""
        for line in sheet.rows:
            if len(line) > index:
                line[index:index] = [EMPTY] * count
        self._shift(sheet, index, count, rows=False)
        self._mirrored("insert_columns", sheet.name, index, count)

    def delete_columns(self, sheet: Sheet, index: int, count: int = 1) -> None:
        """Delete columns from an index on."""
        for line in sheet.rows:
            del line[index : index + count]
        self._shift(sheet, index, -count, rows=False)
        self._mirrored("delete_columns", sheet.name, index, count)

    def hide_rows(self, sheet: Sheet, rows: Sequence[int]) -> None:
        """Hide rows, as a filter does."""
        sheet.hidden_rows.update(rows)
        sheet.written = {}
        self._mirrored("hide_rows", sheet.name, list(rows))

    @staticmethod
    def _shift(sheet: Sheet, index: int, count: int, *, rows: bool) -> None:
        first, last = (0, 2) if rows else (1, 3)
        moved = []
        for area in sheet.merges:
            place = list(area)
            for side in (first, last):
                place[side] += count if place[side] >= index else 0
            if place[first] <= place[last]:
                moved.append(tuple(place))
        sheet.merges = moved  # type: ignore[assignment]
        if rows:
            sheet.hidden_rows = {row + count if row >= index else row for row in sheet.hidden_rows}
        sheet.written = {}

    # -- sheets

    def add_sheet(self, name: str) -> Sheet:
        """Add an empty sheet at the end."""
        sheet = Sheet(self.free_name(name))
        self.sheets.append(sheet)
        self._mirrored("add_sheet", sheet.name)
        return sheet

    def copy_sheet(self, sheet: Sheet, name: str) -> Sheet:
        """Duplicate a sheet; the copy stands at the end."""
        copy = sheet.copy(self.free_name(name))
        copy.original = False
        self.sheets.append(copy)
        self._mirrored("copy_sheet", sheet.name, copy.name)
        return copy

    def import_sheet(self, book: Book, sheet: Sheet) -> Sheet:
        """Copy a sheet of another workbook to the end of this one."""
        copy = sheet.copy(self.free_name(sheet.name))
        self.sheets.append(copy)
        self._mirrored("import_sheet", book.mirror, sheet.name)
        return copy

    def rename_sheet(self, sheet: Sheet, name: str) -> None:
        """Give a sheet another name."""
        new = self.free_name(FORBIDDEN_IN_SHEET_NAMES.sub("", name))
        self._mirrored("rename_sheet", sheet.name, new)
        sheet.name = new

    def delete_sheet(self, sheet: Sheet) -> None:
        """Delete a sheet."""
        self.sheets.remove(sheet)
        self._mirrored("delete_sheet", sheet.name)

    def move_sheet(self, sheet: Sheet, position: int) -> None:
        """Move a sheet to a position."""
        self.sheets.remove(sheet)
        self.sheets.insert(position, sheet)
        self._mirrored("move_sheet", sheet.name, position)


def _taken(sheet: Sheet, area: Merge) -> list[list[Cell]]:
    return [[sheet.cell(row, column) for column in range(area[1], area[3] + 1)] for row in range(area[0], area[2] + 1)]


def _laid(sheet: Sheet, row: int, column: int, cells: Sequence[Sequence[Cell]]) -> None:
    for down, line in enumerate(cells):
        for right, cell in enumerate(line):
            sheet.set(row + down, column + right, cell)


def _sort_key(cell: Cell) -> tuple[int, float, str]:
    value = cell.value.cached if isinstance(cell.value, Formula) else cell.value
    if isinstance(value, float | int):
        return (0, float(value), "")
    return (1, 0.0, cell.shown.casefold())


def with_value(cell: Cell, value: Value) -> Cell:
    """The cell with another value."""
    return replace(cell, value=value)
