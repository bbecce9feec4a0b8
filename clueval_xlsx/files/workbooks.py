"""A workbook as plain cells: told by its content, then decrypted, checked and parsed by a process of its own.

Everything that parses a spreadsheet goes through `read_workbook`.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.cell_notes import Place
from clueval_xlsx.files.hostile import MOST_FILE_BYTES
from clueval_xlsx.files.kinds import Kind, kind_of
from clueval_xlsx.files.parse_process import parse_elsewhere
from clueval_xlsx.files.parsing import Cell, Row
from clueval_xlsx.files.valueless_cells import MergedRange

__all__ = [
    "Cell",
    "MergedRange",
    "Place",
    "Row",
    "SheetTable",
    "cell_name",
    "cell_text",
    "column_name",
    "read_workbook",
]

_SAVE_AS = "Open it in Excel or LibreOffice and save it as .xlsx"
_REMEDIES = {
    Kind.EMPTY: "Ask for the file again.",
    Kind.WORD: "Send the workbook itself.",
    Kind.ARCHIVE: "Send the workbook itself.",
    Kind.XLSB: f'{_SAVE_AS} (File, Save as, "Excel Workbook").',
    Kind.XLS: f"{_SAVE_AS}.",
    Kind.PROTECTED_ODS: "Open it in LibreOffice and save it as .xlsx, with the password; or save it without one.",
}


@dataclass(frozen=True)
class SheetTable:
    """One sheet: its name and all its cells from A1 on; an empty cell is the empty string.

    Of merged cells only the first has a value. `valueless` are cells that are empty among the values although an
    error or a formula stands there: what that is, by row and column counted from 0. `notes` are attached to cells.
    """

    name: str
    rows: Sequence[Row]
    merged: tuple[MergedRange, ...] = ()
    valueless: Mapping[Place, str] = field(default_factory=dict)
    notes: Mapping[Place, str] = field(default_factory=dict)

    @cached_property
    def texts(self) -> list[list[str]]:
        """The text of every cell without blanks around it."""
        return [[cell.strip() if type(cell) is str else cell_text(cell).strip() for cell in row] for row in self.rows]


def read_workbook(data: bytes, name: str, password: str | None = None) -> tuple[SheetTable, ...]:
    """All sheets of an `.xlsx` or `.ods`, hidden ones too; `name` is for messages."""
    if len(data) > MOST_FILE_BYTES:
        raise InputError(
            f"{name}: found a file of {len(data) / 1e6:,.0f} MB. Allowed: {MOST_FILE_BYTES / 1e6:,.0f} MB."
        )
    kind = kind_of(data)
    if kind is Kind.ENCRYPTED and not password:
        raise InputError(
            f"{name}: the workbook is protected by a password. Give it with --password-file FILE or in the "
            "environment variable CLUEVAL_PASSWORD."
        )
    if kind not in {Kind.XLSX, Kind.ODS, Kind.ENCRYPTED, Kind.DAMAGED}:
        remedy = _REMEDIES.get(kind, f"{_SAVE_AS}; the name alone does not make it one.")
        raise InputError(f"{name}: found {kind.value}. Allowed: a workbook, .xlsx or .ods. {remedy}")
    sheets = parse_elsewhere(data, name, password if kind is Kind.ENCRYPTED else None)
    return tuple(SheetTable(sheet.name, sheet.rows, sheet.merged, sheet.valueless, sheet.notes) for sheet in sheets)


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
