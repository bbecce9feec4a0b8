"""Judged in a real LibreOffice: whatever is done there to the workbook, the same judgements come home."""

from __future__ import annotations

from pathlib import Path

import pytest

from clueval_xlsx.evaluation import Evaluation, evaluate
from clueval_xlsx.formats.loading import read_pair
from clueval_xlsx.options import ReadOptions
from clueval_xlsx.outputs.xlsx import Handout, write_workbook
from clueval_xlsx.review.reimport import reimport
from tests.support.judging import case
from tests.support.office import Document, Office, case_rows, columns, letter
from tests.support.workbooks import FIRST, TABS

pytestmark = pytest.mark.office

# sheet, words of the case -> what a person picks: judgement, correct span
PICKS = {
    ("FN", "4. Kammer"): ("Should not be marked", ""),
    ("FN", "Herr Dietmar Kolbe"): ("Reference too long or short", "Dietmar Kolbe"),
    ("FN", "Leonie"): ("Model is wrong", ""),
    ("FP", "Bertram Kiesling"): ("Reference forgot this", ""),
    ("FP", "Marlene Osterhagen"): ("Reference too long or short", "as the model"),
}
INPUTS = (
    "Judgement",
    "Case ID (again)",
    "Correct span",
    "Correct label: category",
    "Correct label: risk",
    "Severity",
    "Comment",
)


@pytest.fixture(scope="module")
def evaluation(examples: Path) -> Evaluation:
    how = ReadOptions(layers={"category": 2, "risk": 3}, token_id=4)
    return evaluate(read_pair(examples / "gold.vrt", examples / "pred.vrt", how))


@pytest.fixture
def judged(office: Office, evaluation: Evaluation, tmp_path: Path):
    """The review workbook, open in LibreOffice, with judgements picked from its dropdowns."""
    path = tmp_path / "review.xlsx"
    write_workbook(evaluation, path, Handout(judge="Anna"))
    book = office.open(path)
    places = {kind: (columns(book, TABS[kind]), case_rows(book, TABS[kind])) for kind in ("FN", "FP")}
    for (kind, words), (judgement, span) in PICKS.items():
        sheet, (place, rows) = TABS[kind], places[kind]
        row = rows[case(evaluation, kind, words)]
        cell = f"{place['Judgement']}{row}"
        assert any(judgement in choice for choice in book.validation(sheet, cell)["choices"])
        book.set_text(sheet, cell, judgement)
        if span:
            book.set_text(sheet, f"{place['Correct span']}{row}", span)
    yield book
    book.close()


def untouched(book: Document) -> None:
    pass


def sort_the_whole_sheet(book: Document) -> None:
    for sheet in map(TABS.get, ("FN", "FP")):
        rows, last = book.used(sheet)
        book.sort(sheet, f"A{FIRST}:{letter(last - 1)}{rows}", 3, ascending=False)


def insert_columns_and_rows(book: Document) -> None:
    for sheet in map(TABS.get, ("FN", "FP")):
        book.insert_columns(sheet, 2, 2)
        book.insert_columns(sheet, 14)
        book.insert_rows(sheet, 1, 3)


def delete_unjudged_rows(book: Document) -> None:
    for sheet in map(TABS.get, ("FN", "FP")):
        place = columns(book, sheet)["Judgement"]
        rows, _ = book.used(sheet)
        for row, (judgement,) in reversed([*enumerate(book.values(sheet, f"{place}{FIRST}:{place}{rows}"), FIRST)]):
            if not judgement:
                book.delete_rows(sheet, row - 1)


def move_and_rename_sheets(book: Document) -> None:
    book.move_sheet(TABS["FP"], 0)
    book.rename_sheet(TABS["FN"], "Anna, links")
    book.delete_sheet("Confusion")


ENDINGS = ".xlsx", ".ods"


@pytest.mark.parametrize(
    "change", [untouched, sort_the_whole_sheet, insert_columns_and_rows, delete_unjudged_rows, move_and_rename_sheets]
)
def test_the_same_judgements_come_home(
    judged: Document, evaluation: Evaluation, examples: Path, tmp_path: Path, change
):
    change(judged)
    for ending in ENDINGS:
        path = judged.save(tmp_path / f"judged{ending}")
        result = reimport([path], examples / "gold.vrt")
        (run,) = result.runs
        gone = {"missing"} if change is delete_unjudged_rows else set()  # a deleted row is named, whoever deleted it
        assert {problem.reason for problem in result.problems} == gone, ending
        assert not run.conflicts, ending
        assert {record.case_id: record.judge for record in run.records} == dict.fromkeys(
            [case(evaluation, *key) for key in PICKS], "Anna"
        ), ending
        new = sorted(run.changes["new_text"])
        assert new == ["", "Bertram Kiesling", "Dietmar Kolbe", "Marlene Osterhagen"], ending


def test_an_untouched_workbook_saved_by_libreoffice_changes_nothing(office, evaluation, examples, tmp_path):
    path = tmp_path / "review.xlsx"
    write_workbook(evaluation, path)
    book = office.open(path)
    for ending in ENDINGS:
        saved = book.save(tmp_path / f"saved{ending}")
        result = reimport([saved], examples / "gold.vrt")
        assert result.content == (examples / "gold.vrt").read_bytes()
        assert not result.runs[0].records
    book.close()


def test_a_block_sorted_alone_is_held_back_and_the_blocks_own_id_settles_it(judged, examples, tmp_path):
    for sheet in map(TABS.get, ("FN", "FP")):
        place = columns(judged, sheet)
        rows, _ = judged.used(sheet)
        first, last = place[INPUTS[0]], place[INPUTS[-1]]
        judged.sort(sheet, f"{first}{FIRST}:{last}{rows}", 0)
    for ending in ENDINGS:
        path = judged.save(tmp_path / f"sorted{ending}")
        held = reimport([path], examples / "gold.vrt")
        assert held.problems
        assert {problem.reason for problem in held.problems} == {"ids_differ"}
        assert held.needs_a_person
        settled = reimport([path], examples / "gold.vrt", trust_id="block")
        assert not settled.problems
        new = sorted(settled.runs[0].changes["new_text"])
        assert new == ["", "Bertram Kiesling", "Dietmar Kolbe", "Marlene Osterhagen"], ending


def test_the_adjudicated_report_opens_without_errors(judged, office, examples, tmp_path):
    from clueval_xlsx.outputs.xlsx.page import write_page
    from clueval_xlsx.pages.adjudication import adjudication_page
    from clueval_xlsx.review.judgements import REPORT_SHEET
    from clueval_xlsx.words import Words

    result = reimport([judged.save(tmp_path / "judged.xlsx")], examples / "gold.vrt")
    report = tmp_path / "report.xlsx"
    write_page(adjudication_page(result.runs[0], Words("de")), report, figures=REPORT_SHEET)
    book = office.open(report)
    assert list(book.sheets()) == [
        "Übersicht",
        "Änderungen",
        "Konflikte",
        "Übereinstimmung",
        "Nicht verwendbare Zeilen",
        "clueval_report",
    ]
    assert ["wie ausgewertet"] in book.texts("Übersicht", "B1:B40")
    assert all(line[0][:3] in {"FN ", "FP "} for line in book.texts("Änderungen", "A4:A7"))
    book.save(tmp_path / "report.pdf")
    book.close()
