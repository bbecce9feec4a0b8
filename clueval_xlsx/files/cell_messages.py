"""Sheets as bytes that one process sends to another: plain values, nothing that could be executed on arrival."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import msgspec

from clueval_xlsx.files.parsing import Cell, ParsedSheet
from clueval_xlsx.files.valueless_cells import MergedRange

_PLAIN = frozenset({str, float, bool, int})


class _Sheet(msgspec.Struct, array_like=True):
    """A sheet on its way; dates and times stand beside their rows, as text."""

    name: str
    rows: list[list[str | float | bool]]
    times: list[tuple[int, int, str, str]]
    merged: list[tuple[int, int, int, int]]
    valueless: list[tuple[int, int, str]]
    notes: list[tuple[int, int, str]]


class _Answer(msgspec.Struct, array_like=True):
    """What the parsing process says: sheets, or why there are none."""

    sheets: list[_Sheet]
    refusal: str = ""
    limit: bool = False


class LimitReached(Exception):  # noqa: N818 - said by the other process, answered by this one
    """The file asked for more memory than it may have."""


class Refused(Exception):  # noqa: N818
    """The file was refused; the message says why."""


def packed_sheets(sheets: Sequence[ParsedSheet]) -> bytes:
    """Sheets as bytes."""
    return msgspec.msgpack.encode(_Answer([_packed(sheet) for sheet in sheets]))


def packed_refusal(message: str, *, limit: bool = False) -> bytes:
    """A refusal as bytes."""
    return msgspec.msgpack.encode(_Answer([], message.encode("utf-8", "replace").decode("utf-8"), limit))


def unpacked_sheets(answer: bytes) -> list[ParsedSheet]:
    """The sheets, or an exception that says why there are none."""
    found = msgspec.msgpack.decode(answer, type=_Answer)
    if found.limit:
        raise LimitReached
    if found.refusal:
        raise Refused(found.refusal)
    return [_unpacked(sheet) for sheet in found.sheets]


def _packed(sheet: ParsedSheet) -> _Sheet:
    rows: list[list[Any]] = []
    times: list[tuple[int, int, str, str]] = []
    for number, row in enumerate(sheet.rows):
        cells: list[Any] = row if isinstance(row, list) else list(row)
        if not _PLAIN.issuperset(map(type, cells)):
            cells = cells.copy()
            for column, cell in enumerate(cells):
                if type(cell) not in _PLAIN:
                    times.append((number, column, *_time_as_text(cell)))
                    cells[column] = ""
        rows.append(cells)
    merged = [(each.first_row, each.first_column, each.last_row, each.last_column) for each in sheet.merged]
    valueless, notes = ([(*place, text) for place, text in each.items()] for each in (sheet.valueless, sheet.notes))
    return _Sheet(sheet.name, rows, times, merged, valueless, notes)


def _unpacked(sheet: _Sheet) -> ParsedSheet:
    rows: list[list[Cell]] = sheet.rows  # type: ignore[assignment]
    for row, column, kind, text in sheet.times:
        rows[row][column] = _time_from_text(kind, text)
    merged = tuple(MergedRange(*each) for each in sheet.merged)
    valueless, notes = ({(row, column): text for row, column, text in each} for each in (sheet.valueless, sheet.notes))
    return ParsedSheet(sheet.name, rows, merged, valueless, notes)


def _time_as_text(cell: object) -> tuple[str, str]:
    if isinstance(cell, datetime.datetime):
        return "datetime", cell.isoformat()
    if isinstance(cell, datetime.date):
        return "date", cell.isoformat()
    if isinstance(cell, datetime.time):
        return "time", cell.isoformat()
    if isinstance(cell, datetime.timedelta):
        return "duration", f"{cell // datetime.timedelta(microseconds=1)}"
    return "text", str(cell)


def _time_from_text(kind: str, text: str) -> Cell:
    if kind == "datetime":
        return datetime.datetime.fromisoformat(text)
    if kind == "date":
        return datetime.date.fromisoformat(text)
    if kind == "time":
        return datetime.time.fromisoformat(text)
    return datetime.timedelta(microseconds=int(text)) if kind == "duration" else text
