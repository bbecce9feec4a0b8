"""An `.xlsx` or `.ods` becomes plain cells: checked, then parsed. Runs in a process of its own."""

from __future__ import annotations

import datetime
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.cell_notes import Place
from clueval_xlsx.files.hostile import Package, unpack
from clueval_xlsx.files.valueless_cells import MergedRange, Unseen, unseen_cells

Cell = str | float | bool | datetime.date | datetime.time | datetime.timedelta
Row = Sequence[Cell]


@dataclass(frozen=True)
class ParsedSheet:
    """One sheet as the parser found it; see `SheetTable`."""

    name: str
    rows: Sequence[Row]
    merged: tuple[MergedRange, ...] = ()
    valueless: Mapping[Place, str] = field(default_factory=dict)
    notes: Mapping[Place, str] = field(default_factory=dict)


def parse(data: bytes, name: str) -> list[ParsedSheet]:
    """All sheets of a workbook; `name` is for messages."""
    package = unpack(data, name)
    try:
        return _sheets(package, name)
    except BaseException as error:  # a panic of the parser is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit | MemoryError | InputError):
            raise
        raise unreadable(name, error) from None


def unreadable(name: str, error: BaseException) -> InputError:
    """The refusal of a file that a parser could not read."""
    return InputError(
        f"{name}: the workbook cannot be read ({str(error)[:200] or type(error).__name__}). "
        "Open it in Excel or LibreOffice, save it, and try again."
    )


def _sheets(package: Package, name: str) -> list[ParsedSheet]:
    from python_calamine import CalamineWorkbook

    book = CalamineWorkbook.from_filelike(io.BytesIO(package.content))
    unseen = unseen_cells(package, name)
    return [
        _sheet(book, sheet.name, unseen.get(sheet.name, Unseen()))
        for sheet in book.sheets_metadata
        if getattr(sheet.typ, "name", str(sheet.typ)).casefold().endswith("worksheet")
    ]


def _sheet(book: Any, name: str, unseen: Unseen) -> ParsedSheet:
    sheet = book.get_sheet_by_name(name)
    merged = [MergedRange(*first, *last) for first, last in sheet.merged_cell_ranges or ()]
    rows = sheet.to_python(skip_empty_area=False)
    return ParsedSheet(name, rows, (*merged, *unseen.merged), unseen.valueless, unseen.notes)
