"""Whether a file that is about to be overwritten holds somebody's judgements; where nobody can tell, it may."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.kinds import WORKBOOKS, Kind, kind_of
from clueval_xlsx.files.workbooks import SheetTable, cell_text, read_workbook
from clueval_xlsx.review.normalising import normalise
from clueval_xlsx.review.vocabulary import ANNOTATION_COLUMNS, BLOCK_ID_COLUMN, LISTS_SHEET, MANIFEST_SHEET, RUN_ID_MARK
from clueval_xlsx.words import in_every_language

_CASE_ID = re.compile(r"[A-Z]{2}-[A-Z2-7]{8,32}")
_OWN_SHEETS = {LISTS_SHEET, MANIFEST_SHEET}  # hidden, nobody judges there
_LONGEST = 100  # characters of a header
_NOBODY_KNOWS = "so nobody can tell whether there are judgements in it"


def why_not_overwrite(data: bytes, name: str) -> str:
    """What would be lost with a file, as words for a message; empty if it may go like any other output.

    What is plainly no review workbook (no run ID, no rows of cases) is nobody's work. A workbook that cannot be
    opened, or a review sheet whose columns are not recognised, may well be.
    """
    kind = kind_of(data)
    if kind not in WORKBOOKS:
        return ""
    if kind in {Kind.ENCRYPTED, Kind.PROTECTED_ODS}:
        return f"it is protected by a password, {_NOBODY_KNOWS}"
    try:
        tables = read_workbook(data, name)
    except InputError as error:
        return f"it cannot be read, {_NOBODY_KNOWS} ({str(error).rstrip('.')})"
    return what_is_judged(tables)


def what_is_judged(tables: Sequence[SheetTable]) -> str:
    """What is judged in the sheets of a workbook, or which of them nobody understands."""
    sheets = [_sheet(table) for table in tables if normalise(table.name) not in _OWN_SHEETS]
    filled = sum(sheet.filled for sheet in sheets)
    if filled:
        return f"{filled} {'row has' if filled == 1 else 'rows have'} been judged in it"
    known = {case for sheet in sheets if sheet.understood for case in sheet.cases}
    marked = _is_marked(tables)
    for sheet in sheets:
        # Other sheets of a review name cases, too, but only such as stand on a review sheet.
        if not sheet.understood and (sheet.ids_twice or (marked and not sheet.cases <= known)):
            return f"the columns of its sheet {sheet.name!r} are not recognised, {_NOBODY_KNOWS}"
    return ""


@dataclass(frozen=True)
class _Sheet:
    """What a sheet looks like: its cases, whether all annotation columns are there, rows filled in there."""

    name: str
    cases: frozenset[str]
    ids_twice: bool  # in one row, as in review sheets and nowhere else
    understood: bool
    filled: int


def _is_marked(tables: Iterable[SheetTable]) -> bool:
    """Whether a workbook says that it is a review: a run ID in a cell, or a hidden sheet of ours."""
    return any(
        normalise(table.name) in _OWN_SHEETS
        or any(isinstance(cell, str) and RUN_ID_MARK in cell for row in table.rows for cell in row if cell)
        for table in tables
    )


def _sheet(table: SheetTable) -> _Sheet:
    columns = _annotation_columns(table)
    cases: set[str] = set()
    ids_twice = False
    for row in table.rows:
        ids = [cell for cell in row if cell and isinstance(cell, str) and _CASE_ID.fullmatch(cell)]
        cases.update(ids)
        ids_twice |= len(set(ids)) < len(ids)
    rows = [row for row in table.rows if row is not columns.header] if columns else []
    filled = sum(_filled(row, columns.places) for row in rows) if columns else 0
    return _Sheet(table.name, frozenset(cases), ids_twice, columns is not None, filled)


@dataclass(frozen=True)
class _Columns:
    header: Sequence[object]
    places: Sequence[int]


def _annotation_columns(table: SheetTable) -> _Columns | None:
    """The row of headers that has a case's ID and every annotation column, and where those columns are."""
    names = {key: {normalise(word) for word in in_every_language(f"column.{key}").values()} for key in _KEYS}
    for row in table.rows:
        headers = [normalise(cell) if cell and isinstance(cell, str) and len(cell) < _LONGEST else "" for cell in row]
        if not names["judgement"].intersection(headers):
            continue
        if not (names["case"] | names[BLOCK_ID_COLUMN]).intersection(headers):
            continue
        found = {
            key: [place for place, header in enumerate(headers) if header and _is_header(header, names[key])]
            for key in ANNOTATION_COLUMNS
        }
        if all(found.values()):
            return _Columns(row, sorted({place for places in found.values() for place in places}))
    return None


_KEYS = ("case", BLOCK_ID_COLUMN, *ANNOTATION_COLUMNS)


def _is_header(header: str, names: set[str]) -> bool:
    """Whether a header is one of these words; that of a correct label names its layer behind a colon."""
    return header in names or header.partition(":")[0] in names


def _filled(row: Sequence[object], places: Sequence[int]) -> bool:
    return any(place < len(row) and cell_text(row[place]).strip() for place in places)
