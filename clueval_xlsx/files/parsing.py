"""An `.xlsx` or `.ods` becomes plain cells: checked, then parsed. Runs in a process of its own."""

from __future__ import annotations

import io
import re
from typing import Any

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.hostile import Package, unpack
from clueval_xlsx.files.sheets import MergedRange, SheetTable, Workbook, cell_text
from clueval_xlsx.files.valueless_cells import Unseen, unseen_cells

_PLAIN = frozenset({str, float, bool, int})
_PROPERTIES = {"docprops/core.xml", "meta.xml"}
_SAVED = re.compile(rb"<(?:dcterms:modified|dc:date)(?:\s[^<>]{0,200})?>\s{0,9}([0-9][0-9T:.+Z-]{9,40})\s{0,9}<")


def parse(data: bytes, name: str) -> Workbook:
    """A workbook; `name` is for messages."""
    package = unpack(data, name)
    try:
        return Workbook(tuple(_sheets(package, name)), _saved(package))
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


def _sheets(package: Package, name: str) -> list[SheetTable]:
    from python_calamine import CalamineWorkbook

    book = CalamineWorkbook.from_filelike(io.BytesIO(package.content))
    unseen = unseen_cells(package, name)
    return [
        _sheet(book, sheet.name, unseen.get(sheet.name, Unseen()), hidden=_ends_with(sheet.visible, "hidden"))
        for sheet in book.sheets_metadata
        if _ends_with(sheet.typ, "worksheet")
    ]


def _ends_with(member: Any, words: str) -> bool:
    """Whether a member of one of the parser's enums is of a kind; `VeryHidden` is hidden, too."""
    return getattr(member, "name", str(member)).casefold().endswith(words)


def _sheet(book: Any, name: str, unseen: Unseen, *, hidden: bool) -> SheetTable:
    sheet = book.get_sheet_by_name(name)
    merged = [MergedRange(*first, *last) for first, last in sheet.merged_cell_ranges or ()]
    rows = sheet.to_python(skip_empty_area=False)
    for number, row in enumerate(rows):
        if not _PLAIN.issuperset(map(type, row)):
            rows[number] = [cell if type(cell) in _PLAIN else cell_text(cell) for cell in row]
    return SheetTable(name, rows, (*merged, *unseen.merged), unseen.valueless, unseen.notes, hidden)


def _saved(package: Package) -> str:
    """When the workbook was saved, as its own properties have it."""
    for part, content in package.parts.items():
        if part.casefold() in _PROPERTIES and (match := _SAVED.search(content)):
            return match[1].decode("ascii")
    return ""
