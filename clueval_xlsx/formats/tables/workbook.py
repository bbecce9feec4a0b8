"""Span tables as workbooks: new ones, and corrected ones that keep their sheets, formats, types and formulas."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from clueval_xlsx.exceptions import InputError, OutputError
from clueval_xlsx.files.sheets import cell_name
from clueval_xlsx.formats.tables.cells import CHARACTERS, POSITIONS, RowChanges, SpanTable, cell_text

if TYPE_CHECKING:
    from openpyxl.cell import Cell
    from openpyxl.worksheet.worksheet import Worksheet

_LONGEST = 32_767  # UTF-16 units that a cell holds
_NUMBERS = frozenset({*POSITIONS, *CHARACTERS})
_NOT_TO_HOLD = re.compile("[\ud800-\udfff\ufffe\uffff]")
# A workbook writes control characters as `_x0007_`, and an underscore before what looks like that as `_x005F_`.
_ANY = re.compile(".", re.DOTALL)
_ESCAPED = re.compile("[\x00-\x08\x0b-\x1f]|_(?=x[0-9a-fA-F]{4}_)")


def new_workbook(rows: Sequence[Sequence[str]]) -> bytes:
    """A plain workbook of these rows: positions as numbers, everything else as text, never a formula."""
    import openpyxl
    from openpyxl.cell import WriteOnlyCell

    values = [  # all of them first: a sheet that was begun must be finished
        [
            int(text) if number and header in _NUMBERS and _is_number(text) else escaped(text, number, column) or None
            for column, (header, text) in enumerate(zip(rows[0], row, strict=True))
        ]
        for number, row in enumerate(rows)
    ]
    book = openpyxl.Workbook(write_only=True)
    sheet: Any = book.create_sheet("spans")
    sheet.freeze_panes = "A2"
    for row in values:
        sheet.append([_text(WriteOnlyCell(sheet), value) if isinstance(value, str) else value for value in row])
    return _saved(book)


def edited_workbook(table: SpanTable, changes: RowChanges) -> bytes:
    """The workbook of a table with corrected rows; nothing else in it changes.

    Where rows have nothing that depends on their place, removed ones are closed up; elsewhere they are emptied.
    """
    import openpyxl

    try:
        book = openpyxl.load_workbook(io.BytesIO(table.raw), rich_text=True)
    except Exception as error:  # openpyxl raises whatever a part that it does not know makes it raise
        raise InputError(
            f"{table.name}: the workbook can be read, but not edited ({str(error)[:200] or type(error).__name__}). "
            "Open it in Excel or LibreOffice, save it, and evaluate that; or convert it to .tsv first."
        ) from None
    sheet = book.worksheets[0]
    for row, values in changes.changed.items():
        line = table.places[row][0]
        old = [*table.rows[row], *[""] * (len(table.header) - len(table.rows[row]))]
        for column, header in enumerate(table.header):
            wanted = values.get(header, old[column])
            if wanted != old[column]:
                _set(sheet, (line, column), wanted, like=sheet.cell(line + 1, column + 1))
    last = max((line for line, _ in table.places), default=0)
    _add(sheet, table, changes.added, last)
    _remove(sheet, sorted((table.places[row][0] for row in changes.removed), reverse=True), book.worksheets)
    return _saved(book)


def _add(sheet: Worksheet, table: SpanTable, rows: Iterable[dict[str, str]], last: int) -> None:
    """New rows behind the last one, which they look like; formulas go on downwards."""
    from copy import copy

    from openpyxl.formula.translate import Translator

    for line, values in enumerate(rows, last + 1):
        for column, header in enumerate(table.header):
            above, cell = (sheet.cell(number + 1, column + 1) for number in (last, line))
            if last:
                cell._style = copy(above._style)  # as openpyxl itself copies the look of a cell
            if header in values:
                _set(sheet, (line, column), values[header], like=above if last else None)
            elif last and above.data_type == "f" and isinstance(above.value, str):
                cell.value = Translator(above.value, above.coordinate).translate_formula(cell.coordinate)
        if last:
            sheet.row_dimensions[line + 1].height = sheet.row_dimensions[last + 1].height


def _remove(sheet: Worksheet, lines: Sequence[int], sheets: Sequence[Worksheet]) -> None:
    """Take rows out, last first."""
    closed = _closes_up(sheet, sheets)
    for line in lines:
        if closed:
            sheet.delete_rows(line + 1)
        else:
            for cell in sheet[line + 1]:
                if type(cell).__name__ != "MergedCell":
                    cell.value = None
                    cell.hyperlink = None
                    cell.comment = None


def _closes_up(sheet: Worksheet, sheets: Sequence[Worksheet]) -> bool:
    """Whether rows can move up: nothing in the workbook names a place that would be another one then."""
    own = (
        sheet.merged_cells.ranges,
        sheet.tables,
        sheet.data_validations.dataValidation,
        list(sheet.conditional_formatting),
        sheet.parent.defined_names,
        sheet.auto_filter.ref,
        sheet._charts,
        sheet._images,
        [row for row in sheet.row_dimensions.values() if row.height or row.hidden or row.outlineLevel],
        [cell for row in sheet.iter_rows() for cell in row if cell.hyperlink or cell.comment],
    )
    formulas = (cell.data_type == "f" for each in sheets for row in each.iter_rows() for cell in row)
    return not any(own) and not any(formulas)


def _set(sheet: Worksheet, place: tuple[int, int], text: str, like: Cell | None) -> None:
    """Write a value with the type of another cell of its column."""
    row, column = place
    cell = sheet.cell(row + 1, column + 1)
    numeric = like is None or like.data_type == "n"  # an empty cell is one, too
    header = cell_text(sheet.cell(1, column + 1).value)
    whole = _is_number(text)
    if not text:
        cell.value = None
    elif whole and numeric and (header in _NUMBERS or (like is not None and like.value is not None)):
        cell.value = int(text)
    else:
        _text(cell, escaped(text, row, column))


def _is_number(text: str) -> bool:
    """Whether a number says the same as a text: a leading zero would be lost, and so would digits beyond the 15th."""
    return text.isascii() and text.isdigit() and len(text) <= 15 and (text == "0" or not text.startswith("0"))


def _text(cell: Cell, text: str) -> Cell:
    """Put text into a cell, also where it begins with `=`."""
    cell.value = text
    cell.data_type = "s"
    return cell


def escaped(text: str, row: int, column: int) -> str:
    """Text as a workbook writes it, so that it comes back exactly; or a refusal that says what it cannot hold.

    >>> escaped("_x0041_", 0, 0), escaped(" ", 0, 0)
    ('_x005F_x0041_', '_x0020_')
    """
    where = f"{cell_name(row, column)} of the table"
    if found := _NOT_TO_HOLD.search(text):
        raise OutputError(
            f"{where}: found U+{ord(found[0]):04X} in {text[:40]!r}, which no workbook can hold. Write .tsv instead."
        )
    pattern = _ESCAPED if text.strip() else _ANY  # not every program keeps a cell of nothing but blanks
    shown = pattern.sub(lambda sign: f"_x{ord(sign[0]):04X}_", text)
    if len(shown.encode("utf-16-le")) // 2 > _LONGEST:
        raise OutputError(
            f"{where}: found a text of {len(text):,} characters, {text[:40]!r}…. Allowed: {_LONGEST:,} in a cell of a "
            "workbook. Write .tsv instead."
        )
    return shown


def _saved(book: Any) -> bytes:
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()
