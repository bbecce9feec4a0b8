"""A table of spans as it was read: every cell as text, whether from TSV, CSV or a workbook."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field

from clueval_xlsx.exceptions import InputError, OptionError, did_you_mean
from clueval_xlsx.formats.collect import ScoreValues
from clueval_xlsx.formats.options import ONE_SIDE
from clueval_xlsx.formats.stored import decode_text
from clueval_xlsx.options import DEFAULT_LAYER, ReadOptions

XLSX = "xlsx"
WORKBOOK_START = b"PK\x03\x04"
POSITIONS, IDS, CHARACTERS = ("start", "end"), ("start_id", "end_id"), ("char_start", "char_end")
DOCUMENT_COLUMNS, TEXT_COLUMNS = ("doc_id", "document"), ("text", "surface")
SCORE_COLUMN = "score"
_RESERVED = {*POSITIONS, *IDS, *CHARACTERS, *DOCUMENT_COLUMNS, *TEXT_COLUMNS, SCORE_COLUMN}
_USUAL_LABELS = (DEFAULT_LAYER, "label", "entity_type", "category")


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

    def where(self, row: int) -> str:
        """The row's place for a message."""
        return f"{self.name}:{self.places[row][0] + 1}"

    def cell(self, row: int, column: str) -> str:
        """One cell; empty where the row is too short."""
        cells, index = self.rows[row], self.header.index(column)
        return cells[index] if index < len(cells) else ""

    def first_of(self, columns: Sequence[str]) -> str | None:
        """The first of these columns that the table has."""
        return next((column for column in columns if column in self.header), None)

    def holds(self, row: int) -> bool:
        """Whether a row has a span of the layers that are read.

        Where layers were chosen among several columns, a row that is empty in theirs is a span of the others.
        """
        chosen = self.layers().values()
        others = [column for column in self.header if column not in _RESERVED and column not in chosen]
        if not self.options.layers or any(self.cell(row, column) for column in chosen):
            return True
        return not any(self.cell(row, column) for column in others)

    def scores(self, values: ScoreValues) -> list[float | None]:
        """The score of each row."""
        if SCORE_COLUMN not in self.header:
            return []
        return [values.read(self.cell(row, SCORE_COLUMN), self.where(row)) for row in range(len(self.rows))]

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


Row = dict[str, str]  # column -> cell; a column that is not named keeps its cell


@dataclass(eq=False)
class RowChanges:
    """Rows that go, rows that change, and new ones."""

    removed: set[int] = field(default_factory=set)
    changed: dict[int, Row] = field(default_factory=dict)
    added: list[Row] = field(default_factory=list)


def read_cells(raw: bytes, name: str, options: ReadOptions) -> SpanTable:
    """Read the cells of a file."""
    if raw.startswith(WORKBOOK_START):
        return _read_xlsx(raw, name, options)
    text = decode_text(raw, name)
    delimiter = delimiter_of(text)
    records, places = [], []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    before = 0
    try:
        for record in reader:
            records.append(tuple(record))
            places.append((before, reader.line_num))
            before = reader.line_num
    except csv.Error as error:
        raise InputError(f"{name}:{reader.line_num}: {error}. Check the quotation marks.") from None
    return make_table(raw, name, kind=delimiter, records=records, places=places, options=options)


def delimiter_of(text: str) -> str:
    """Tab, comma or semicolon, whichever the header has most of."""
    header = text.partition("\n")[0]
    return max("\t,;", key=header.count)


def is_span_table(header: str) -> bool:
    """Whether a first line could be the header of a span table."""
    columns = {cell.strip().strip('"').strip("\ufeff") for cell in header.split(delimiter_of(header))}
    return any(set(pair) <= columns for pair in (POSITIONS, IDS, CHARACTERS))


def make_table(
    raw: bytes,
    name: str,
    *,
    kind: str,
    records: Sequence[tuple[str, ...]],
    places: Sequence[tuple[int, int]],
    options: ReadOptions,
) -> SpanTable:
    """A table of these records, the first of which is the header."""
    header = tuple(cell.strip() for cell in records[0]) if records else ()
    if not any(set(pair) <= set(header) for pair in (POSITIONS, IDS, CHARACTERS)):
        raise InputError(
            f"{name}:1: the columns are {', '.join(map(repr, header)) or 'none'}. Allowed: a header with start and "
            "end (positions counted from 0, end inclusive), start_id and end_id (token IDs), or char_start and "
            "char_end (end exclusive, with doc_id), and a column for each layer."
        )
    filled = [index for index in range(1, len(records)) if any(cell.strip() for cell in records[index])]
    return SpanTable(
        name, kind, header, tuple(records[i] for i in filled), tuple(places[i] for i in filled), raw, options
    )


def _read_xlsx(raw: bytes, name: str, options: ReadOptions) -> SpanTable:
    from clueval_xlsx.files.workbooks import read_workbook

    tables = read_workbook(raw, name).sheets
    if not tables:
        raise InputError(f"{name}: the workbook has no sheet. Give one whose first sheet is the table of spans.")
    records = [tuple(cell_text(cell) for cell in row) for row in tables[0].rows]
    places = [(index, index + 1) for index in range(len(records))]
    return make_table(raw, name, kind=XLSX, records=records, places=places, options=options)


def cell_text(cell: object) -> str:
    """A cell of a workbook as text."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return "" if cell is None else str(cell)
