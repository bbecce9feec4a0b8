"""Edits of review workbooks as people make them, carried out with openpyxl."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import openpyxl
from openpyxl.worksheet.worksheet import Worksheet

Edit = Callable[[Any], object]


def edited(stream: io.BytesIO, *edits: Edit) -> io.BytesIO:
    """A workbook after some edits, under the same name."""
    book = openpyxl.load_workbook(stream)
    for edit in edits:
        edit(book)
    out = io.BytesIO()
    book.save(out)
    out.seek(0)
    out.name = stream.name
    return out


def case_sheets(book: Any) -> list[Worksheet]:
    """The sheets that people judge."""
    return [
        sheet
        for sheet in book
        if any({"Judgement", "Comment"} <= set(row) for row in sheet.iter_rows(values_only=True))
    ]


def header(sheet: Worksheet, name: str = "Judgement") -> Any:
    """The cell of a header."""
    return next(cell for row in sheet.iter_rows() for cell in row if cell.value == name)


def rename(old: str, new: str | None) -> Edit:
    """Give a column of every case sheet another header."""

    def edit(book: Any) -> None:
        for sheet in case_sheets(book):
            header(sheet, old).value = new

    return edit
