"""Files of span tables: corrected row by row, every other one byte for byte (or cell for cell); new workbooks."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from clueval_xlsx.corpus.reading import NewSpan, Reading, SourceChange
from clueval_xlsx.exceptions import InputError, OptionError, OutputError, did_you_mean
from clueval_xlsx.files.sheets import cell_name
from clueval_xlsx.formats.registry import ONE_SIDE
from clueval_xlsx.options import DEFAULT_LAYER, ReadOptions

if TYPE_CHECKING:
    from openpyxl.cell import Cell
    from openpyxl.worksheet.worksheet import Worksheet

XLSX = "xlsx"
POSITIONS, IDS, CHARACTERS = ("start", "end"), ("start_id", "end_id"), ("char_start", "char_end")
DOCUMENT_COLUMNS, TEXT_COLUMNS = ("doc_id", "document"), ("text", "surface")
SCORE_COLUMN = "score"
_RESERVED = {*POSITIONS, *IDS, *CHARACTERS, *DOCUMENT_COLUMNS, *TEXT_COLUMNS, SCORE_COLUMN}
_USUAL_LABELS = (DEFAULT_LAYER, "label", "entity_type", "category")
Row = dict[str, str]  # column -> cell; a column that is not named keeps its cell
_EXTENTS = (*POSITIONS, *IDS, *CHARACTERS)
_LONGEST = 32_767  # UTF-16 units that a cell holds
_NUMBERS = frozenset({*POSITIONS, *CHARACTERS})
_NOT_TO_HOLD = re.compile("[\ud800-\udfff\ufffe\uffff]")
# A workbook writes control characters as `_x0007_`, and an underscore before what looks like that as `_x005F_`.
_ANY = re.compile(".", re.DOTALL)
_ESCAPED = re.compile("[\x00-\x08\x0b-\x1f]|_(?=x[0-9a-fA-F]{4}_)")


@dataclass(frozen=True, eq=False)
class SpanTable:
    """A table as it was read: every cell as text, and where each row stands in the file."""

    name: str
    kind: str  # the delimiter, "xlsx" or "parquet"
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    places: tuple[tuple[int, int], ...]  # first line of each row and the line behind it, from 0
    raw: bytes
    options: ReadOptions = field(default_factory=ReadOptions)

    def has(self, columns: Iterable[str]) -> bool:
        """Whether the table has all of these columns."""
        return set(columns) <= set(self.header)

    def where(self, row: int) -> str:
        """The row's place for a message."""
        return f"{self.name}:{self.places[row][0] + 1}"

    def cell(self, row: int, column: str) -> str:
        """One cell; empty where the table has no such column or the row is too short."""
        cells = self.rows[row]
        index = self.header.index(column) if column in self.header else len(cells)
        return cells[index] if index < len(cells) else ""

    def first_of(self, row: int, columns: Sequence[str]) -> str:
        """The cell in the first of these columns that the table has."""
        return self.cell(row, next((column for column in columns if column in self.header), ""))

    def layers_in(self, row: int) -> list[str]:
        """The layers that a row has a span of: the first where no label stands in it at all.

        Where layers were chosen among several columns, a row that is empty in theirs is a span of the others.
        """
        columns = self.layers()
        filled = [layer for layer, column in columns.items() if self.cell(row, column)]
        others = [column for column in self.header if column not in _RESERVED and column not in columns.values()]
        if filled or (self.options.layers and any(self.cell(row, column) for column in others)):
            return filled
        return list(columns)[:1]

    def layers(self) -> dict[str, str]:
        """The column of each layer: its own name, or the one given; without layers the usual label column."""
        others = [column for column in self.header if column not in _RESERVED]
        if not self.options.layers:
            usual = [column for column in _USUAL_LABELS if column in others]
            if usual or len(others) == 1:
                return {DEFAULT_LAYER: (usual or others)[0]}
            raise OptionError(
                f"{self.name}: which column holds the labels? Columns: {', '.join(others) or 'none but positions'}. "
                "Give --layer NAME, or --layer NAME=COLUMN with the column's header."
            )
        chosen = {}
        for layer, wanted in self.options.layers.items():
            column = wanted if isinstance(wanted, str) else layer
            if column not in others:
                raise OptionError(
                    f"{self.name}: there is no column {column!r} for layer {layer}.{did_you_mean(column, others)} "
                    f"Columns: {', '.join(others)}. "
                    f"Give --layer NAME=COLUMN with the column's header{ONE_SIDE}."
                )
            chosen[layer] = column
        return chosen


def cell_text(cell: object) -> str:
    """A cell of a workbook as text."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is None else str(cell)


# ---- correction ----------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class RowChanges:
    """Rows that go, rows that change, and new ones."""

    removed: set[int] = field(default_factory=set)
    changed: dict[int, Row] = field(default_factory=dict)
    added: list[Row] = field(default_factory=list)


@dataclass(frozen=True)
class TableFile:
    """A table as it came."""

    table: SpanTable

    def splice(self, reading: Reading, changes: Sequence[SourceChange]) -> dict[str, bytes]:
        """The table with these changes; where only one of a row's layers moves, it gets a row of its own."""
        table, columns = self.table, self.table.layers()
        rows = RowChanges()
        wanted: dict[int, dict[str, tuple[int, NewSpan | None]]] = {}  # by row and layer
        fresh: list[tuple[int, NewSpan]] = []
        for change in changes:
            if change.old is not None:
                wanted.setdefault(change.old[0], {})[change.old[1]] = (change.document, change.new)
            elif change.new is not None:
                fresh.append((change.document, change.new))
        for row, news in wanted.items():
            stays = [layer for layer in table.layers_in(row) if layer not in news]
            place = self._place({column: table.cell(row, column) for column in table.header}) if stays else None
            cells = {columns[layer]: "" for layer in news}
            kept = bool(stays)
            for document, new in news.values():
                if new is None:
                    continue
                own = self._row(reading, document, new)
                if place in {None, self._place(own)}:
                    place, kept = self._place(own), True
                    cells |= own
                else:
                    fresh.append((document, new))
            if kept:
                rows.changed[row] = cells
            else:
                rows.removed.add(row)
        self._add(reading, rows, fresh)
        return {PurePath(reading.source.name).name: _edited(table, rows)}

    def _add(self, reading: Reading, rows: RowChanges, fresh: list[tuple[int, NewSpan]]) -> None:
        """New spans, in the rows of other layers that have their place, or in new ones."""
        table = self.table
        known: dict[tuple[str, ...], Row] = {}
        if fresh and len(table.layers()) > 1:
            for row in range(len(table.rows)):
                if row not in rows.removed and row not in rows.changed:
                    place = self._place({column: table.cell(row, column) for column in table.header})
                    known[place] = rows.changed.setdefault(row, {})
        for document, new in sorted(fresh, key=lambda one: (one[0], one[1].start, one[1].end)):
            own = self._row(reading, document, new)
            place = self._place(own)
            if place not in known:
                known[place] = {}
                rows.added.append(known[place])
            known[place].update(own)
        for row in [row for row, cells in rows.changed.items() if not cells]:
            del rows.changed[row]

    def _place(self, cells: Mapping[str, str]) -> tuple[str, ...]:
        """What says where a row stands."""
        named = (*_EXTENTS, *DOCUMENT_COLUMNS)
        return tuple(cells.get(column, "").strip() for column in self.table.header if column in named)

    def _row(self, reading: Reading, document: int, span: NewSpan) -> Row:
        """A span as the cells of a row."""
        corpus, start, end = reading.tokens, span.start, span.end
        row = dict.fromkeys(_EXTENTS, "")  # positions of tokens say nothing about a corrected text
        if corpus is None:
            doc_id, words = reading.doc_ids[document], span.surface
            row |= dict(zip(CHARACTERS, (str(start), str(end)), strict=True))
        else:
            doc_id = corpus.doc_ids[int(corpus.documents.start.searchsorted(start, "right")) - 1]
            words = corpus.text(start, end - 1)
            row |= dict(zip(POSITIONS, (str(start), str(end - 1)), strict=True))
            if corpus.token_ids is not None:
                row |= dict(zip(IDS, (corpus.token_ids[start], corpus.token_ids[end - 1]), strict=True))
        columns = self.table.layers()
        row |= {columns[layer]: label or "" for layer, label in span.labels.items()}
        return {**row, **dict.fromkeys(DOCUMENT_COLUMNS, doc_id), **dict.fromkeys(TEXT_COLUMNS, words)}


def _edited(table: SpanTable, changes: RowChanges) -> bytes:
    if not changes.removed and not changes.changed and not changes.added:
        return table.raw
    if table.kind == XLSX:
        return edited_workbook(table, changes)
    lines = table.raw.splitlines(keepends=True)
    ending = "\r\n" if lines and lines[0].endswith(b"\r\n") else "\n"
    for row, values in enumerate(table.rows):
        begin, stop = table.places[row]
        if row in changes.removed:
            lines[begin:stop] = [b""] * (stop - begin)
        elif row in changes.changed:
            full = [*values, *[""] * (len(table.header) - len(values))]
            new = [changes.changed[row].get(column, cell) for column, cell in zip(table.header, full, strict=False)]
            lines[begin:stop] = [_line(new, table.kind, ending), *[b""] * (stop - begin - 1)]
    written = b"".join(lines)
    if changes.added and written and not written.endswith((b"\n", b"\r")):
        written += ending.encode()
    for added in changes.added:
        written += _line([added.get(column, "") for column in table.header], table.kind, ending)
    return written


def _line(cells: Sequence[str], delimiter: str, ending: str) -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter, lineterminator=ending).writerow(cells)
    return buffer.getvalue().encode("utf-8", "replace")


# ---- workbooks -----------------------------------------------------------------------------------------------------


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
