"""Further accidents with a judged workbook: each judgement is kept or reported, never lost, never moved."""

from __future__ import annotations

import datetime
import re
import tomllib
from collections.abc import Callable
from typing import Any

import pytest

from clueval_xlsx.review.answers import Wrong
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.review.reimport import reimport
from tests.support.accidents import TABLE, case_lines, each_id, example_answers, gold, named, outcome
from tests.support.editing import Edit, case_sheets, edited, header
from tests.support.folders import ROOT
from tests.support.judging import case, judged, workbook

WORDS = "Model is wrong"


@pytest.fixture(scope="module")
def evaluation():
    return judged(TABLE)


@pytest.fixture(scope="module")
def answers(evaluation):
    found = example_answers(evaluation)
    found[case(evaluation, "FP", "Kiel")] = Judgement("gold_missing", correct_span="Kiel")
    return found


@pytest.fixture(scope="module")
def sent(evaluation, answers) -> bytes:
    return workbook(evaluation, answers).getvalue()


def on_case_sheets(act: Callable[[Any, Any], None]) -> Edit:
    """Do something on each case sheet; it gets the sheet and the cell of the Judgement header."""

    def edit(book: Any) -> None:
        for sheet in case_sheets(book):
            act(sheet, header(sheet))

    return edit


def each_judgement(change: Callable[[str], Any]) -> Edit:
    """Change what stands in the cells of judgements."""

    def act(sheet: Any, top: Any) -> None:
        for row in range(top.row + 1, sheet.max_row + 1):
            cell = sheet.cell(row, top.column)
            cell.value = change(str(cell.value)) if cell.value else None

    return on_case_sheets(act)


def as_dates(book: Any) -> None:
    """The column was formatted as a date: a typed 1 is the first of January 1900."""
    each_judgement(lambda text: datetime.datetime(1900, 1, int(text[0])))(book)


def block_to_a_new_sheet(book: Any) -> None:
    """The columns for judging were cut out and pasted on a sheet of their own."""
    for sheet in case_sheets(book):
        left, right, top = header(sheet).column, header(sheet, "Comment").column, header(sheet).row
        new = book.create_sheet(f"answers {sheet.title[:6]}")
        for row in range(top, sheet.max_row + 1):
            new.append([sheet.cell(row, column).value for column in range(left, right + 1)])
            for column in range(left, right + 1):
                sheet.cell(row, column).value = None


def headless_block_without_ids(book: Any) -> None:
    """As above, and the hidden IDs were overwritten before."""
    each_id(lambda _: "x", ("Case ID (again)",))(book)
    block_to_a_new_sheet(book)


def block_on_documents(book: Any) -> None:
    """The answers and their hidden IDs were pasted below the table of documents."""
    for sheet in case_sheets(book):
        left, right, top = header(sheet).column, header(sheet, "Comment").column, header(sheet).row
        for row in range(top + 1, sheet.max_row + 1):
            book["Documents"].append([sheet.cell(row, column).value for column in range(left, right + 1)])
            for column in range(left, right + 1):
                sheet.cell(row, column).value = None


def rows_on_the_other_sheet_then_cleared(book: Any) -> None:
    """The rows of the first sheet were copied below those of the second, then the first was cleared."""
    first, second = case_sheets(book)
    for line in case_lines(first):
        second.append(line)
    for row in range(header(first).row + 1, first.max_row + 1):
        first.cell(row, header(first).column).value = None


def second_opinion(sheet: Any, top: Any) -> None:
    """Beside the last column, without a header, other judgements."""
    column = sheet.max_column + 1
    for row in range(top.row + 1, sheet.max_row + 1):
        if sheet.cell(row, top.column).value:
            sheet.cell(row, column).value = "Cannot decide"


def headers_shifted(by: int, name: str) -> Edit:
    """A header cell was inserted or deleted, and only the headers to its right moved."""

    def act(sheet: Any, top: Any) -> None:
        first = header(sheet, name).column
        texts = [sheet.cell(top.row, column).value for column in range(first, sheet.max_column + 1)]
        for column, text in enumerate([None, *texts] if by > 0 else [*texts[1:], None], first):
            sheet.cell(top.row, column).value = text

    return on_case_sheets(act)


def words_into(name: str) -> Edit:
    """A judgement in words that was typed over the cell of another column."""

    def act(sheet: Any, top: Any) -> None:
        other = header(sheet, name)
        for row in range(top.row + 1, sheet.max_row + 1):
            if sheet.cell(row, top.column).value:
                for column in range(top.column, header(sheet, "Comment").column + 1):
                    if column != header(sheet, "Case ID (again)").column:
                        sheet.cell(row, column).value = None
                sheet.cell(row, other.column).value = WORDS

    return on_case_sheets(act)


def subtotals(sheet: Any, top: Any) -> None:
    """A row with a count behind every case, as the menu for subtotals makes them."""
    for row in range(sheet.max_row, top.row, -1):
        text = sheet.cell(row, top.column).value
        sheet.insert_rows(row + 1)
        sheet.cell(row + 1, top.column).value = f"{text or ''} Count"
        sheet.cell(row + 1, top.column + 2).value = 1


def split_ids(sheet: Any, top: Any) -> None:
    """Text to columns at the dash, on the hidden IDs: their second half overwrites the correct spans."""
    column = header(sheet, "Case ID (again)").column
    for row in range(top.row + 1, sheet.max_row + 1):
        first, _, second = str(sheet.cell(row, column).value).partition("-")
        sheet.cell(row, column).value, sheet.cell(row, column + 1).value = first, second


def to_do_list(book: Any) -> None:
    """A sheet with the IDs of all cases and a word about each."""
    new = book.create_sheet("To do")
    new.append(["Case", "what"])
    for sheet in case_sheets(book):
        for line in case_lines(sheet):
            new.append([line[-1] if str(line[-1]).startswith("F") else line[0], "discuss"])


def id_as_comment(book: Any) -> None:
    for sheet in case_sheets(book):
        header(sheet, "Comment").offset(1).value = "FN-AAAAAAAAAAAA"


KEPT: dict[str, Edit] = {
    "columns for judging cut to a new sheet": block_to_a_new_sheet,
    "an ID as a comment": id_as_comment,
    "headers moved to the right": headers_shifted(1, "Judgement"),
    "headers of corrections moved to the left": headers_shifted(-1, "Correct span"),
    "headers of corrections moved to the right": headers_shifted(1, "Correct span"),
}
REPORTED: dict[str, Edit] = {
    "judgements formatted as dates": as_dates,
    "two digits in one cell": each_judgement(lambda text: f"{text[0]} or 6"),
    "answers without their IDs cut to a new sheet": headless_block_without_ids,
    "rows copied to the other sheet, then cleared": rows_on_the_other_sheet_then_cleared,
    "a second opinion without a header": on_case_sheets(second_opinion),
    "answers pasted below the documents": block_on_documents,
    "words typed over the span": words_into("Span"),
    "words typed over the document": words_into("Document"),
    "words typed over the number": words_into("No."),
    "FN replaced by FP everywhere": each_id(lambda text: text.replace("FN-", "FP-")),
    "IDs cut off": each_id(lambda text: text[:11]),
    "IDs split at their dash": on_case_sheets(split_ids),
}
EITHER: dict[str, Edit] = {
    "subtotals": on_case_sheets(subtotals),
    "a list of things to do": to_do_list,
    "headers moved to the left": headers_shifted(-1, "Judgement"),
    "judgements with a full stop": each_judgement(lambda text: f"{text}."),
}


@pytest.mark.parametrize("name", KEPT)
def test_every_judgement_is_kept_in_spite_of(sent, answers, name: str) -> None:
    assert outcome(sent, answers, KEPT[name]) == (set(answers), set())


@pytest.mark.parametrize("name", REPORTED)
def test_what_cannot_be_told_any_more_is_reported_and_nothing_moves_after(sent, answers, name: str) -> None:
    assert outcome(sent, answers, REPORTED[name])[1]


@pytest.mark.parametrize("name", EITHER)
def test_nothing_is_lost_and_nothing_moves_after(sent, answers, name: str) -> None:
    kept, reported = outcome(sent, answers, EITHER[name])
    assert kept | reported == set(answers)


def test_a_judgement_typed_over_the_header_is_reported(sent) -> None:
    def edit(book: Any) -> None:
        header(case_sheets(book)[0]).value = WORDS

    result = reimport([edited(named(sent), edit)], gold())
    assert any(WORDS in str(problem) for problem in result.problems)


def test_every_reason_why_a_row_is_not_used_has_its_words_and_its_remedy() -> None:
    source = "".join(path.read_text("utf-8") for path in (ROOT / "clueval_xlsx" / "review").glob("*.py"))
    reasons = {*re.findall(r'reason="(\w+)"', source), *re.findall(r'_report\([^"\[]*"(\w+)"', source)}
    assert len(reasons) > 10
    said = {f'"{wrong.name.lower()}"' for wrong in Wrong}
    for path in (ROOT / "templates" / "words").glob("*.toml"):
        words = tomllib.loads(path.read_text("utf-8"))
        assert reasons <= words["unusable"].keys()
        assert words["unusable"].keys() == words["remedy"].keys()
        assert all(f'"{key}"' in source or f'"{key}"' in said for key in words["unusable"])
