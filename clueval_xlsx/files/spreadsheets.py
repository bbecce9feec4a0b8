"""A spreadsheet file as plain tables: checked before the parser sees it, read without formulas, never a panic."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.hostile import unpack

Row = Sequence[Any]


@dataclass(frozen=True)
class SheetTable:
    """One sheet: its name and all its cells from A1 on; an empty cell is the empty string."""

    name: str
    rows: Sequence[Row]


def read_tables(data: bytes, name: str) -> list[SheetTable]:
    """All sheets of an `.xlsx` or `.ods` archive, hidden ones too; `name` is for messages."""
    package = unpack(data, name)
    from python_calamine import CalamineWorkbook

    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(package.content))
        return [_table(book, sheet.name) for sheet in book.sheets_metadata if _is_worksheet(sheet)]
    except BaseException as error:  # a panic of the parser is no Exception, and no reason to stop the program
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError):
            raise
        raise unreadable(name, error) from None


def _is_worksheet(sheet: Any) -> bool:
    return getattr(sheet.typ, "name", str(sheet.typ)).casefold().endswith("worksheet")


def _table(book: Any, name: str) -> SheetTable:
    return SheetTable(name, book.get_sheet_by_name(name).to_python(skip_empty_area=False))


def unreadable(name: str, error: BaseException) -> InputError:
    """The refusal of a file that a parser could not read."""
    return InputError(
        f"{name}: the workbook cannot be read ({str(error)[:200] or type(error).__name__}). "
        "Open it in Excel or LibreOffice, save it, and try again."
    )
