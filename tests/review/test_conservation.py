"""No judgement is lost in silence: whatever people do to a sheet, each case is read or reported; the books close."""

from __future__ import annotations

import io
import re
import tomllib
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from clueval_xlsx.review.answers import Wrong
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.review.log import standing_decisions
from clueval_xlsx.review.progress import CaseState, Known, make_account
from clueval_xlsx.review.reimport import Reimport, reimport
from clueval_xlsx.review.vocabulary import Effect, Outcome
from tests.support.editing import Edit, case_sheets, edited, header, rename
from tests.support.folders import ROOT
from tests.support.judging import case, judged, spans, workbook
from tests.support.tables import cut

TABLE = """
    token       gold   pred
    <s>
    Herr        B-PER  O
    Dietmar     I-PER  B-PER
    Kolbe       I-PER  I-PER
    </s>
    <s>
    Marlene     B-PER  O
    und         O      O
    Kammer      B-ORG  O
    </s>
    <s>
    Bert        O      B-PER
    und         O      O
    Kiel        O      B-LOC
    </s>
"""
ALIKE = """
    token  gold   pred
    <s>
    Kolbe  B-PER  O
    </s>
    <s>
    Kolbe  B-PER  O
    </s>
"""
CORRECTED = [("Dietmar Kolbe", "PER"), ("Marlene", "PER"), ("Bert", "PER")]


@pytest.fixture(scope="module")
def evaluation():
    return judged(TABLE)


@pytest.fixture(scope="module")
def answers(evaluation):
    return {
        case(evaluation, "FN", "Herr Dietmar Kolbe"): Judgement("boundary", correct_span="Dietmar Kolbe"),
        case(evaluation, "FN", "Marlene"): Judgement("model_error", severity="direct", comment="sure"),
        case(evaluation, "FN", "Kammer"): Judgement("gold_wrong"),
        case(evaluation, "FP", "Bert"): Judgement("gold_missing"),
    }


def gold() -> io.BytesIO:
    stream = io.BytesIO(cut(TABLE).gold)
    stream.name = "gold.vrt"
    return stream


def came_back(evaluation, answers, *edits: Edit) -> Reimport:
    return reimport([edited(workbook(evaluation, answers), *edits)], gold())


def rows_above_the_header(book) -> None:
    for sheet in case_sheets(book):
        row = header(sheet).row
        values = [[cell.value for cell in line] for line in sheet.iter_rows(min_row=row, max_row=sheet.max_row)]
        for place, line in enumerate([*values[1:], values[0]]):
            for column, value in enumerate(line, 1):
                sheet.cell(row + place, column).value = value


def far_down(book) -> None:
    for sheet in case_sheets(book):
        sheet.insert_rows(header(sheet).row, 250)


def without_header(book) -> None:
    for sheet in case_sheets(book):
        sheet.delete_rows(header(sheet).row)


def rows_on_a_new_sheet(book) -> None:
    first = case_sheets(book)[0]
    row = header(first).row
    new = book.create_sheet("meine Fälle")
    for line in list(first.iter_rows(min_row=row + 1, max_row=row + 2, values_only=True)):
        new.append(line)
    first.delete_rows(row + 1, 2)


EDITS: dict[str, Edit] = {
    "a misspelt header": rename("Judgement", "Judgment"),
    "a header with a name": rename("Judgement", "Judgement (Anna)"),
    "rows above the header": rows_above_the_header,
    "a header below row 200": far_down,
    "no header at all": without_header,
    "rows on a new sheet": rows_on_a_new_sheet,
    "a renamed column of spans": rename("Correct span", "Correct Span (typed)"),
    "a misspelt severity": rename("Severity", "Severty"),
}


@pytest.mark.parametrize("name", EDITS)
def test_judgements_are_read_in_spite_of(evaluation, answers, name: str) -> None:
    result = came_back(evaluation, answers, EDITS[name])
    assert spans(result.runs[0]) == CORRECTED
    account = result.runs[0].account
    assert account.counts[CaseState.JUDGED] == len(answers)
    assert sum(account.counts.values()) == account.cases == 5


def second_column(values: Callable[[object], object], title: str = "Judgement") -> Edit:
    """A column once more, at the left, with something in its cells."""

    def edit(book) -> None:
        for sheet in case_sheets(book):
            cell = header(sheet)
            sheet.insert_cols(1)
            sheet.cell(cell.row, 1).value = title
            column = max(each.column for each in sheet[cell.row] if each.value == title)
            for row in range(cell.row + 1, sheet.max_row + 1):
                sheet.cell(row, 1).value = values(sheet.cell(row, column).value)

    return edit


def test_where_two_columns_differ_every_such_row_is_reported(evaluation, answers) -> None:
    result = came_back(evaluation, answers, second_column(lambda value: "Cannot decide" if value else None))
    assert {problem.reason for problem in result.problems} == {"two_columns"}
    assert {problem.case for problem in result.problems} == set(answers)


def test_a_scope_that_was_taken_back_but_lives_on_in_a_copy_of_its_column_is_reported() -> None:
    evaluation = judged(ALIKE)
    (first, second) = evaluation.bare_cases[0]["case_id"]
    book = edited(workbook(evaluation, {first: Judgement("gold_wrong")}), second_column(lambda _: "all", "Applies to"))
    stream = io.BytesIO(cut(ALIKE).gold)
    stream.name = "gold.vrt"
    (run,) = reimport([book], stream).runs
    assert {(problem.reason, problem.case) for problem in run.problems if problem.case} == {
        ("two_columns", first),
        ("two_columns", second),
    }
    assert spans(run) == [("Kolbe", "PER"), ("Kolbe", "PER")]  # neither was deleted


@pytest.mark.parametrize("value", ["#N/A", "=1+1"])
def test_error_values_and_formulas_without_a_value_are_reported_with_their_cell(evaluation, answers, value) -> None:
    def edit(book) -> None:
        cell = header(case_sheets(book)[0])
        cell.offset(1).value = value

    result = came_back(evaluation, answers, edit)
    (problem,) = result.problems
    assert problem.reason == "no_value"
    assert "!" in problem.where
    assert result.runs[0].account.counts[CaseState.UNUSABLE] == 1


def test_a_deleted_row_is_named_as_missing(evaluation, answers) -> None:
    result = came_back(
        evaluation, answers, lambda book: case_sheets(book)[0].delete_rows(header(case_sheets(book)[0]).row + 1)
    )
    assert result.needs_a_person
    (problem,) = result.problems
    assert problem.reason == "missing"
    assert problem.case in str(problem)
    assert result.runs[0].account.of(CaseState.MISSING) == [problem.case]


def test_a_judgement_taken_back_does_not_return_from_a_copy_of_the_sheet(evaluation, answers) -> None:
    def edit(book) -> None:
        sheet = case_sheets(book)[0]
        copy = book.copy_worksheet(sheet)
        copy.title = "backup"
        cell = header(sheet)
        for row in range(cell.row + 1, sheet.max_row + 1):
            for place in range(cell.column, header(sheet, "Comment").column + 1):
                if not str(sheet.cell(row, place).value or "").startswith("FN-"):
                    sheet.cell(row, place).value = None

    result = came_back(evaluation, answers, edit)
    assert {problem.reason for problem in result.problems} == {"only_in_copy"}
    assert ("Kammer", "ORG") in spans(result.runs[0])


def test_an_empty_copy_of_the_sheet_takes_nothing_away(evaluation, answers) -> None:
    def edit(book) -> None:
        sheet = case_sheets(book)[0]
        copy = book.copy_worksheet(sheet)
        cell = header(copy)
        for row in range(cell.row + 1, copy.max_row + 1):
            copy.cell(row, cell.column).value = None
            for name in ("Correct span", "Severity", "Comment"):
                copy.cell(row, header(copy, name).column).value = None

    result = came_back(evaluation, answers, edit)
    assert spans(result.runs[0]) == CORRECTED
    assert not result.problems


def test_a_workbook_split_in_two_lacks_nothing(evaluation, answers) -> None:
    data = workbook(evaluation, answers).getvalue()
    parts = []
    for kept in (0, 1):
        stream = io.BytesIO(data)
        stream.name = f"part{kept}.xlsx"
        parts.append(edited(stream, lambda book, gone=1 - kept: book.remove(case_sheets(book)[gone])))
    result = reimport(parts, gold())
    assert not result.problems
    assert spans(result.runs[0]) == CORRECTED


def test_a_decision_that_was_disputed_later_is_open() -> None:
    decided = Judgement(
        "gold_wrong", case_id="FN-AAAAAAAA", effect=Effect.DELETE, judge="Anna", outcome=Outcome.APPLIED
    )
    disputed = replace(decided, outcome=Outcome.OPEN)
    assert standing_decisions([decided]) == {"FN-AAAAAAAA": decided}
    assert standing_decisions([decided, disputed]) == {}
    assert standing_decisions([decided, disputed, decided]) == {"FN-AAAAAAAA": decided}


def test_every_case_has_exactly_one_state() -> None:
    known = Known(conflict={"a"}, judged={"a", "b"}, unusable={"b", "c"}, settled={"c", "d"}, present={"d", "e"})
    account = make_account(["a", "b", "c", "d", "e", "f"], known)
    assert list(account.states.values()) == [
        CaseState.CONFLICT,
        CaseState.JUDGED,
        CaseState.UNUSABLE,
        CaseState.SETTLED,
        CaseState.OPEN,
        CaseState.MISSING,
    ]


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
