"""Ordinary accidents with a judged workbook: every judgement is kept as it was or reported, never lost, never moved."""

from __future__ import annotations

from typing import Any

import pytest

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.review.progress import CaseState, workbook_progress
from clueval_xlsx.review.reimport import reimport
from tests.support.accidents import CASES, TABLE, case_lines, each_id, example_answers, gold, named, outcome
from tests.support.editing import Edit, case_sheets, edited, header, rename
from tests.support.judging import judged, workbook


@pytest.fixture(scope="module")
def evaluation():
    return judged(TABLE)


@pytest.fixture(scope="module")
def answers(evaluation):
    return example_answers(evaluation)


@pytest.fixture(scope="module")
def sent(evaluation, answers) -> bytes:
    """The judged workbook."""
    return workbook(evaluation, answers).getvalue()


def delete_columns(*names: str) -> Edit:
    def edit(book: Any) -> None:
        for sheet in case_sheets(book):
            for name in names:
                sheet.delete_cols(header(sheet, name).column)

    return edit


def judgements_into(name: str) -> Edit:
    """Judgements typed as digits into another column."""

    def edit(book: Any) -> None:
        for sheet in case_sheets(book):
            own, other = header(sheet), header(sheet, name)
            for row in range(own.row + 1, sheet.max_row + 1):
                if sheet.cell(row, own.column).value:
                    sheet.cell(row, own.column).value = None
                    sheet.cell(row, other.column).value = "1"

    return edit


def into_a_new_column(book: Any) -> None:
    for sheet in case_sheets(book):
        cell, column = header(sheet), sheet.max_column + 2
        for row in range(cell.row + 1, sheet.max_row + 1):
            sheet.cell(row, column).value = sheet.cell(row, cell.column).value
            sheet.cell(row, cell.column).value = None


def transposed(book: Any) -> None:
    for sheet in case_sheets(book):
        values = [list(row) for row in sheet.iter_rows(min_row=header(sheet).row, values_only=True)]
        new = book.create_sheet(f"turned {sheet.title[:10]}")
        for row in zip(*values, strict=True):
            new.append(row)
        book.remove(sheet)


def shifted(by: int) -> Edit:
    """Cells of the first case inserted or deleted, so that the others move to the right or the left."""

    def edit(book: Any) -> None:
        for sheet in case_sheets(book):
            cell = header(sheet)
            row = cell.row + 1
            values = [sheet.cell(row, column).value for column in range(cell.column, sheet.max_column + 1)]
            moved = [None, *values] if by > 0 else [*values[1:], None]
            for place, value in enumerate(moved):
                sheet.cell(row, cell.column + place).value = value

    return edit


def text_to_columns(book: Any) -> None:
    for sheet in case_sheets(book):
        cell = header(sheet)
        for row in range(cell.row + 1, sheet.max_row + 1):
            words = str(sheet.cell(row, cell.column).value or "").split()
            for place, word in enumerate(words):
                sheet.cell(row, cell.column + place).value = word


def beside(book: Any) -> None:
    """The cases of the second sheet stand right of those of the first, without their header."""
    first, second = case_sheets(book)
    column = first.max_column + 2
    for place, line in enumerate(case_lines(second)):
        for right, value in enumerate(line):
            first.cell(header(first).row + 1 + place, column + right).value = value
    book.remove(second)


def pasted_askew(book: Any) -> None:
    """The cases of the second sheet stand below those of the first, one column to the right."""
    first, second = case_sheets(book)
    for line in case_lines(second):
        first.append([None, *line])
    book.remove(second)


def on_documents(book: Any) -> None:
    second = case_sheets(book)[1]
    for line in case_lines(second):
        book["Documents"].append(line)
    book.remove(second)


def block_sorted(book: Any) -> None:
    """The rows were copied below, then the annotation block was turned round by itself."""
    sheet = case_sheets(book)[0]
    for line in case_lines(sheet):
        sheet.append(line)
    left, right, top = header(sheet).column, header(sheet, "Comment").column, header(sheet).row + 1
    block = [
        [sheet.cell(row, column).value for column in range(left, right + 1)] for row in range(top, sheet.max_row + 1)
    ]
    for place, line in enumerate(block[1:] + block[:1]):
        for column, value in enumerate(line, left):
            sheet.cell(top + place, column).value = value


def notes_for_spans(book: Any) -> None:
    """The column of correct spans was deleted, and one for notes put in its place."""
    for sheet in case_sheets(book):
        cell = header(sheet, "Correct span")
        cell.value = "My notes"
        for row in range(cell.row + 1, sheet.max_row + 1):
            sheet.cell(row, cell.column).value = "ask Ben"


def date_column(book: Any) -> None:
    for sheet in case_sheets(book):
        column = sheet.max_column + 1
        sheet.cell(header(sheet).row, column).value = "Judgement date"
        for row in range(header(sheet).row + 1, sheet.max_row + 1):
            sheet.cell(row, column).value = "12 March"


def digits(book: Any) -> None:
    for sheet in case_sheets(book):
        cell = header(sheet)
        for row in range(cell.row + 1, sheet.max_row + 1):
            if sheet.cell(row, cell.column).value:
                sheet.cell(row, cell.column).value = float(str(sheet.cell(row, cell.column).value)[0])


def cleared_beside_a_backup(book: Any) -> None:
    """Judgements taken back, comments and corrections left; a copy of the sheet still has all."""
    for sheet in case_sheets(book):
        book.copy_worksheet(sheet).title = f"backup {sheet.title[:10]}"
        cell = header(sheet)
        for row in range(cell.row + 1, sheet.max_row + 1):
            sheet.cell(row, cell.column).value = None


def nonsense_beside_a_backup(book: Any) -> None:
    for sheet in case_sheets(book):
        book.copy_worksheet(sheet).title = f"backup {sheet.title[:10]}"
        header(sheet).offset(1).value = "xx"


def renamed_manifest(book: Any) -> None:
    sheet = book["clueval_manifest"]
    sheet.title, sheet.sheet_state = "Tabelle9", "visible"


def mixed_header(book: Any) -> None:
    """The block was sorted with its header: its first line stands beside the header's other half."""
    for sheet in case_sheets(book):
        left, right, top = header(sheet).column, header(sheet, "Comment").column, header(sheet).row
        for column in range(left, right + 1):
            upper, lower = sheet.cell(top, column), sheet.cell(top + 1, column)
            upper.value, lower.value = lower.value, upper.value


KEPT: dict[str, Edit] = {
    "IDs in small letters": each_id(str.lower, ("Case ID",)),
    "IDs with another dash": each_id(lambda text: text.replace("-", "\u2013")),
    "IDs among spaces": each_id(lambda text: f"\u00a0{text} "),
    "IDs of the rows overwritten": each_id(lambda _: "see below", ("Case ID",)),
    "the hidden IDs deleted": delete_columns("Case ID (again)"),
    "the IDs of the rows deleted": delete_columns("Case ID"),
    "a column for dates of judgements": date_column,
    "headers in German": rename("Judgement", "Bewertung"),
    "digits as numbers": digits,
    "a hidden sheet renamed and shown": renamed_manifest,
    "cases pasted askew": pasted_askew,
    "cases pasted on another sheet": on_documents,
}
REPORTED: dict[str, Edit] = {
    "a header replaced by another word": rename("Correct span", "Right span"),
    "cells moved to the right": shifted(1),
    "judgements typed into State": judgements_into("State"),
    "judgements typed into Comment": judgements_into("Comment"),
    "judgements in a column of their own": into_a_new_column,
    "sheets turned on their side": transposed,
    "cells moved to the left": shifted(-1),
    "text to columns": text_to_columns,
    "cases pasted beside others": beside,
    "a block sorted among copies": block_sorted,
    "notes where spans belong": notes_for_spans,
    "judgements taken back beside a backup": cleared_beside_a_backup,
    "nonsense beside a backup": nonsense_beside_a_backup,
    "a header mixed with a case": mixed_header,
}

REFUSED: dict[str, Edit] = {
    "IDs gone from every cell": each_id(lambda _: None),
    "IDs hit by find and replace": each_id(lambda text: text.replace("FN-", "Missed-").replace("FP-", "Extra-")),
    "both columns of IDs deleted": delete_columns("Case ID", "Case ID (again)"),
}


@pytest.mark.parametrize("name", KEPT)
def test_every_judgement_is_kept_in_spite_of(sent, answers, name: str) -> None:
    assert outcome(sent, answers, KEPT[name]) == (set(answers), set())


@pytest.mark.parametrize("name", REPORTED)
def test_what_cannot_be_told_any_more_is_reported_and_nothing_moves_after(sent, answers, name: str) -> None:
    assert outcome(sent, answers, REPORTED[name])[1]


@pytest.mark.parametrize("name", REFUSED)
def test_a_workbook_without_any_case_id_is_refused_and_every_case_is_missing_after(sent, answers, name: str) -> None:
    stream = edited(named(sent), REFUSED[name])
    progress = workbook_progress(stream.getvalue(), "review.xlsx")
    assert progress.account.counts[CaseState.MISSING] == progress.account.cases == CASES
    judged_rows = [problem for problem in progress.problems if problem.reason == "no_id"]
    assert len(judged_rows) == len(answers)
    with pytest.raises(InputError, match="found no sheet with cases"):
        reimport([stream], gold())
