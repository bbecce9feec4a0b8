"""Answers in the wrong column, on the wrong sheet or without an ID: kept where they can be told, else reported."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from typing import Any

import openpyxl
import pytest

from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.review.reimport import reimport
from clueval_xlsx.review.vocabulary import Severity
from tests.support.accidents import named
from tests.support.editing import Edit, case_sheets, edited, header
from tests.support.judging import case, judged, workbook
from tests.support.tables import cut

LAYERS = {"category": 2, "risk": 3}
TABLE = """
    token       gold              pred
    <s>
    Herr        B-PER  B-HIGH     O      O
    Kolbe       I-PER  I-HIGH     O      O
    und         O      O          O      O
    Marlene     B-PER  B-LOW      O      O
    in          O      O          O      O
    Kiel        B-LOC  B-LOW      O      O
    </s>
    <s>
    Bert        O      O          B-PER  B-HIGH
    Brandt      O      O          I-PER  I-HIGH
    und         O      O          O      O
    Ruth        O      O          B-PER  B-LOW
    </s>
"""


def sides() -> Any:
    """Both sides with two layers each."""
    lines = [line.split() for line in TABLE.strip().split("\n")[1:]]
    found = []
    for columns in ((1, 2), (3, 4)):
        rows = [
            "\t".join([line[0], *(line[place] for place in columns)]) if len(line) > 1 else line[0] for line in lines
        ]
        found.append(("\n".join(rows) + "\n").encode())
    return type(cut("token gold pred\nx O O"))(*found)


@pytest.fixture(scope="module")
def evaluation():
    return judged(sides(), LAYERS)


@pytest.fixture(scope="module")
def answers(evaluation) -> dict[str, Judgement]:
    return {
        case(evaluation, "FN", "Herr Kolbe"): Judgement("boundary", correct_span="Kolbe"),
        case(evaluation, "FN", "Marlene"): Judgement("label", correct_labels={"risk": "HIGH"}),
        case(evaluation, "FN", "Kiel"): Judgement("model_error", severity=Severity.HARMLESS, comment="see file"),
        case(evaluation, "FP", "Bert Brandt"): Judgement("gold_missing", correct_span="Brandt"),
    }


@pytest.fixture(scope="module")
def sent(evaluation, answers) -> bytes:
    return workbook(evaluation, answers).getvalue()


@pytest.fixture(scope="module")
def meant(sent) -> dict[str, tuple[object, ...]]:
    """What comes back of the workbook as it was judged."""
    return said(sent)[0]


def said(sent: bytes, *edits: Edit) -> tuple[dict[str, tuple[object, ...]], Any]:
    """What came back of every case that somebody said something about, and the result."""
    result = reimport([edited(named(sent), *edits)], named(sides().gold, "gold.vrt"))
    (run,) = result.runs
    assert sum(run.account.counts.values()) == run.account.cases == 5
    came = {
        record.case_id: (
            record.code,
            str(record.correct_span),
            *record.correct_labels.items(),
            record.severity,
            record.comment,
        )
        for record in run.records
    }
    return came, result


def on_case_sheets(act: Callable[[Any, int], None]) -> Edit:
    """Do something on each case sheet; it gets the sheet and the row of the headers."""

    def edit(book: Any) -> None:
        for sheet in case_sheets(book):
            act(sheet, header(sheet).row)

    return edit


def headers_swapped(one: str, other: str) -> Edit:
    def act(sheet: Any, top: int) -> None:
        first, second = header(sheet, one), header(sheet, other)
        first.value, second.value = second.value, first.value

    return on_case_sheets(act)


def typed(text: object, name: str) -> Edit:
    """Something typed in a column of the row of "Ruth", which nobody judged."""

    def edit(book: Any) -> None:
        sheet = case_sheets(book)[1]
        row = header(sheet, "Ruth").row
        sheet.cell(row, header(sheet, name).column).value = text

    return edit


def moved(name: str, to: Callable[[Any], tuple[Any, int]]) -> Edit:
    """A column of the first sheet with its header, cut to another one; its place stays empty."""

    def edit(book: Any) -> None:
        source = case_sheets(book)[0]
        top, column = header(source).row, header(source, name).column
        target, place = to(book)
        for row in range(top, source.max_row + 1):
            target.cell(row, place).value = source.cell(row, column).value
            source.cell(row, column).value = None

    return edit


def other_sheet(book: Any) -> tuple[Any, int]:
    sheet = case_sheets(book)[1]
    return sheet, sheet.max_column + 1


def new_sheet(book: Any) -> tuple[Any, int]:
    return book.create_sheet("mine"), 1


HEADERS = (
    ("Correct span", "Correct label: category"),
    ("Correct span", "Correct label: risk"),
    ("Correct span", "Severity"),
    ("Correct span", "Comment"),
    ("Correct label: category", "Correct label: risk"),
    ("Correct label: category", "Comment"),
    ("Correct label: risk", "Severity"),
    ("Correct label: risk", "Comment"),
    ("Severity", "Comment"),
)


@pytest.mark.parametrize(("one", "other"), HEADERS)
def test_headers_that_were_swapped_move_no_answer_unreported(sent, meant, one: str, other: str) -> None:
    came, result = said(sent, headers_swapped(one, other))
    reported = {getattr(problem, "case", "") for problem in result.problems}
    assert {key for key in meant if came.get(key) != meant[key]} <= reported
    assert reported
    assert result.needs_a_person


@pytest.mark.parametrize("name", ["Judgement", "Correct span", "Severity", "Comment"])
@pytest.mark.parametrize("to", [other_sheet, new_sheet])
def test_a_column_cut_to_another_sheet_is_reported_where_it_was_and_where_it_is(sent, name: str, to) -> None:
    _, result = said(sent, moved(name, to))
    places = [problem.where for problem in result.problems]
    assert any(place.startswith("review.xlsx!Missed (FN)!") for place in places)
    elsewhere = "mine" if to is new_sheet else "Unsupported (FP)"
    assert any(place.startswith(f"review.xlsx!{elsewhere}!") for place in places)
    assert result.needs_a_person


TYPED = (
    *(("1", name) for name in ("Context", "Document", "Label: risk")),
    (1, "Span"),
    *(("1 Model is wrong", name) for name in ("No.", "Label: category", "Start")),
    ("modell liegt falsch", "See also"),
)


@pytest.mark.parametrize(("text", "name"), TYPED)
def test_a_judgement_in_a_column_that_is_not_for_judgements_is_reported(evaluation, sent, text, name: str) -> None:
    _, result = said(sent, typed(text, name))
    wanted = case(evaluation, "FP", "Ruth")
    assert wanted in {getattr(problem, "case", "") for problem in result.problems}


@pytest.mark.parametrize("text", ["2", "harmless, I think"])
def test_an_ordinary_comment_is_no_misplaced_answer(sent, text: str) -> None:
    def act(sheet: Any, top: int) -> None:
        for row in range(top + 1, sheet.max_row + 1):
            if sheet.cell(row, header(sheet).column).value:
                sheet.cell(row, header(sheet, "Comment").column).value = text

    assert not said(sent, on_case_sheets(act))[1].problems


@pytest.mark.parametrize("word", ["Correct label: risk 2", "Correct label: risk (Anna)", "Correct label: ris"])
def test_a_header_of_a_label_is_known_with_additions_and_misspelt(sent, meant, word: str) -> None:
    def act(sheet: Any, top: int) -> None:
        header(sheet, "Correct label: risk").value = word

    came, result = said(sent, on_case_sheets(act))
    assert came == meant
    assert not result.problems


def copied_away(columns: Iterable[str], *, with_header: bool) -> Edit:
    """Some columns of the first sheet on a sheet of their own; the judgements are taken away from where they were."""

    def edit(book: Any) -> None:
        sheet = case_sheets(book)[0]
        top, mine = header(sheet).row, book.create_sheet("mine")
        places = [header(sheet, name).column for name in columns]
        for row in range(top if with_header else top + 1, sheet.max_row + 1):
            mine.append([sheet.cell(row, place).value for place in places])
        for row in range(top + 1, sheet.max_row + 1):
            sheet.cell(row, header(sheet).column).value = "1 Model is wrong" if row == top + 1 else None
            sheet.cell(row, header(sheet, "Correct span").column).value = None
            sheet.cell(row, header(sheet, "Correct label: risk").column).value = None

    return edit


@pytest.mark.parametrize("with_header", [True, False])
def test_judgements_on_a_sheet_without_case_ids_are_reported_with_their_cells(sent, with_header: bool) -> None:
    def alike(book: Any) -> None:
        sheet = case_sheets(book)[0]
        for row in range(header(sheet).row + 1, sheet.max_row + 1):
            sheet.cell(row, header(sheet).column).value = "1 Model is wrong"

    _, result = said(sent, alike, copied_away(["No.", "Judgement"], with_header=with_header))
    places = [problem.where for problem in result.problems if problem.where.startswith("review.xlsx!mine!")]
    assert len(places) == 3
    assert result.needs_a_person


def test_a_summary_of_judgements_on_a_sheet_of_its_own_is_no_judgement(sent) -> None:
    def edit(book: Any) -> None:
        mine = book.create_sheet("summary")
        for row in (("Model is wrong", 1), ("Reference forgot this", 1), ("Cannot decide", 0)):
            mine.append(row)

    assert not said(sent, edit)[1].problems


def test_a_judgement_taken_back_does_not_return_from_a_copy_over_which_another_block_was_pasted(sent, answers) -> None:
    """The row has another case's block, filled down, in both; only its copy still holds a judgement."""
    taken = next(key for key, answer in answers.items() if answer.code == "model_error")

    def edit(book: Any) -> None:
        sheet = case_sheets(book)[0]
        block = header(sheet, "Case ID (again)").column
        row = next(cell.row for cell in sheet[header(sheet, "Case ID").column_letter] if cell.value == taken)
        sheet.cell(row, block).value = next(
            sheet.cell(other, block).value for other in range(header(sheet).row + 1, sheet.max_row + 1) if other != row
        )
        book.copy_worksheet(sheet).title = "Backup"
        for name in ("Judgement", "Severity", "Comment"):
            sheet.cell(row, header(sheet, name).column).value = None

    came, result = said(sent, edit)
    assert taken not in came
    assert any(getattr(problem, "case", "") == taken for problem in result.problems)


def test_a_row_whose_block_is_gone_from_a_sheet_that_was_sorted_is_named(sent, answers) -> None:
    """The hidden ID of a judged row was overwritten, then the block was sorted by itself."""
    lost = next(key for key, answer in answers.items() if answer.code == "model_error")

    def edit(book: Any) -> None:
        sheet = case_sheets(book)[0]
        left, right = header(sheet).column, header(sheet, "Comment").column
        lines = range(header(sheet).row + 1, sheet.max_row + 1)
        block = [[sheet.cell(row, column).value for column in range(left, right + 1)] for row in lines]
        own = [sheet.cell(row, header(sheet, "Case ID").column).value for row in lines]
        gone = own.index(lost)
        block[gone][1] = "overwritten"
        block[gone - 1] = [None, block[gone - 1][1], *[None] * (right - left - 1)]
        for row, values in zip(lines, block[-1:] + block[:-1], strict=True):
            for column, value in enumerate(values, left):
                sheet.cell(row, column).value = value

    _, result = said(sent, edit)
    assert any(getattr(problem, "case", "") == lost for problem in result.problems)


def test_a_judgement_taken_back_does_not_return_from_a_backup_when_its_row_was_cut_to_a_new_workbook(
    evaluation, sent, answers
) -> None:
    taken = next(key for key, answer in answers.items() if answer.code == "model_error")
    new = openpyxl.Workbook()

    def edit(book: Any) -> None:
        sheet = case_sheets(book)[0]
        book.copy_worksheet(sheet).title = "Backup"
        row = next(cell.row for cell in sheet[header(sheet, "Case ID").column_letter] if cell.value == taken)
        for name in ("Judgement", "Severity", "Comment"):
            sheet.cell(row, header(sheet, name).column).value = None
        for number in (header(sheet).row, row):
            new.active.append([cell.value for cell in sheet[number]])
        sheet.delete_rows(row)

    left = edited(named(sent), edit)
    cut_off = io.BytesIO()
    new.save(cut_off)
    result = reimport([left, named(cut_off.getvalue(), "new.xlsx")], named(sides().gold, "gold.vrt"))
    assert taken not in {record.case_id for record in result.runs[0].records}
    assert any(getattr(problem, "case", "") == taken for problem in result.problems)
    assert {record.case_id for record in result.runs[0].records} == set(answers) - {taken}


def test_a_deleted_row_is_missing_though_its_block_was_sorted_to_another_row(evaluation, sent) -> None:
    """Nobody had judged it, and nobody can any more: a case is where its own ID is."""

    def edit(book: Any) -> None:
        sheet = case_sheets(book)[1]
        first = header(sheet).row + 1
        for column in range(header(sheet).column, header(sheet, "Comment").column + 1):
            one, other = sheet.cell(first, column), sheet.cell(first + 1, column)
            one.value, other.value = other.value, one.value
        sheet.delete_rows(header(sheet, "Ruth").row)

    _, result = said(sent, edit)
    gone = {problem.case for problem in result.problems if getattr(problem, "reason", "") == "missing"}
    assert case(evaluation, "FP", "Ruth") in gone


def test_twins_are_not_decided_by_a_scope_that_only_a_copy_of_the_sheet_has_left(sent, answers) -> None:
    claimed = next(key for key, answer in answers.items() if answer.code == "model_error")

    def edit(book: Any) -> None:
        sheet = case_sheets(book)[0]
        row = next(cell.row for cell in sheet[header(sheet, "Case ID").column_letter] if cell.value == claimed)
        scope = sheet.cell(row, header(sheet, "Applies to").column)
        scope.value = "1 all alike"
        book.copy_worksheet(sheet).title = "Backup"
        scope.value = None

    came, result = said(sent, edit)
    assert set(came) == set(answers)
    assert not any(record.applies_to for record in result.runs[0].records)
    assert any(getattr(problem, "case", "") == claimed for problem in result.problems)


def test_a_judgement_whose_correction_was_taken_back_does_not_return_from_a_copy(evaluation, sent) -> None:
    shortened = case(evaluation, "FN", "Herr Kolbe")

    def edit(book: Any) -> None:
        sheet = case_sheets(book)[0]
        book.copy_worksheet(sheet).title = "Backup"
        sheet.cell(header(sheet, "Herr Kolbe").row, header(sheet, "Correct span").column).value = None

    _, result = said(sent, edit)
    assert not any(change.case_id == shortened for change in result.runs[0].correction.changes)
    assert sum(getattr(problem, "case", "") == shortened for problem in result.problems) == 2  # the row and its copy
