"""The review workbook as openpyxl sees it: sheets, headers, contexts, dropdowns, links."""

from __future__ import annotations

import zipfile
from io import BytesIO

import openpyxl
import pytest
from openpyxl.utils import get_column_letter
from python_calamine import CalamineWorkbook

from clueval_xlsx.outputs.xlsx import Handout
from clueval_xlsx.words import Words
from tests.support.tables import Sides
from tests.support.workbooks import (
    FIRST,
    HEADER_ROW,
    ONE_LAYER,
    TABS,
    answers_for,
    column,
    evaluated,
    example,
    find,
    headers,
    opened,
    texts,
    written,
)


@pytest.fixture(scope="module")
def book():
    return opened(written(example()))


ENGLISH = ["No.", "State", "Context", "Judgement", "Case ID (again)", "Applies to", "Correct span", "Correct label"]
ENGLISH += ["Severity", "Comment", "More context", "See also", "Document", "Span", "Label", "Other span", "Other label"]


def test_english_headers_are_those_of_the_design():
    sheet = opened(written(evaluated(ONE_LAYER)))[TABS["FN"]]
    assert headers(sheet)[: len(ENGLISH)] == ENGLISH


@pytest.mark.parametrize("name", ["FN", "FP"])
def test_cells_of_a_case_are_those_of_the_error_table(book, name):
    table = dict(zip(("FN", "FP"), example().case_tables, strict=True))[name]
    sheet, words = book[TABS[name]], Words("en")
    assert texts(sheet, "Case ID") == texts(sheet, "Case ID (again)") == list(table["case_id"])
    assert [cell.value for cell in column(sheet, "No.")] == list(range(1, len(table) + 1))
    assert texts(sheet, "Class") == [words[f"class.{each}"] for each in table["class"]]
    assert texts(sheet, "Document") == list(table["document"])
    assert texts(sheet, "Span") == list(table["surface"])
    assert texts(sheet, "Other span") == list(table["other_surface"])
    for layer in ("category", "risk"):
        assert texts(sheet, f"Label: {layer}") == list(table[f"label_{layer}"])
        assert texts(sheet, f"Other label: {layer}") == list(table[f"other_label_{layer}"])
    assert [cell.value for cell in column(sheet, "Start")] == list(table["start"])
    assert texts(sheet, "Last token ID") == list(table["end_id"])
    assert texts(sheet, "Sentence") == list(table["sentence"])
    for header in ("Judgement", "Correct span", "Correct label: risk", "Severity", "Comment"):
        assert set(texts(sheet, header)) == {""}


def test_technical_columns_are_folded_away_and_the_others_are_not(book):
    sheet = book[TABS["FN"]]
    hidden, folded = set(), set()
    for dimension in sheet.column_dimensions.values():
        places = range(dimension.min, dimension.max + 1)
        hidden.update(places if dimension.hidden else ())
        folded.update(places if dimension.outlineLevel == 1 else ())
    names = headers(sheet)
    first = names.index("Other label: risk") + 2
    assert folded == {names.index("More context") + 1, *range(first, len(names) + 1)}
    assert hidden == {*folded, names.index("Case ID (again)") + 1}
    assert {"Start", "End", "First token ID", "Sentence", "Case ID"} <= set(names[first - 1 :])


def test_labels_with_commas_and_quotes_and_hundreds_of_labels_are_all_offered():
    labels = ["a,b", 'say "x"', "it's", "=1+1", "ä&<b>", *(f"LABEL_NUMBER_{number:03}" for number in range(400))]
    lines = "".join(f"word\tB-{label}\n" for label in labels)
    empty = "word\tO\n" * len(labels)
    content = written(evaluated(Sides(lines.encode(), empty.encode())))
    with zipfile.ZipFile(BytesIO(content)) as archive:  # openpyxl takes long for a table of so many labels
        sheet = archive.read("xl/worksheets/sheet2.xml").decode()
    lists = CalamineWorkbook.from_filelike(BytesIO(content)).get_sheet_by_name("clueval_lists").to_python()
    place = lists[0].index("correct_label:span offered")
    offered = [row[place] for row in lists[1 : len(labels) + 1]]
    assert sorted(offered) == sorted(labels)
    assert not any(row[place] for row in lists[len(labels) + 1 :])  # other lists are longer
    letter = get_column_letter(place + 1)
    assert f"<formula1>clueval_lists!${letter}$2:${letter}${len(labels) + 1}</formula1>" in sheet.replace(
        "'", ""
    )  # versions differ in quoting


def judging_widths(sheet):
    """Pixels of the columns up to the comment in LibreOffice, which shows them a sixteenth wider than Excel."""
    names, pixels = headers(sheet), {}
    for dimension in sheet.column_dimensions.values():
        for place in range(dimension.min, dimension.max + 1):
            if not dimension.hidden and place <= names.index("Comment") + 1:
                pixels[names[place - 1]] = dimension.width * 7 * 1.0625
    return pixels


@pytest.mark.parametrize("one_layer", [True, False])
def test_what_a_judge_fills_in_fits_on_a_small_screen(one_layer):
    sheet = opened(written(evaluated(ONE_LAYER) if one_layer else example()))[TABS["FN"]]
    pixels = judging_widths(sheet)
    assert sum(pixels.values()) <= 1217  # LibreOffice makes 1,300 of them
    assert 400 <= pixels["Context"] <= 525
    assert pixels["Judgement"] == pytest.approx(140, abs=3)
    assert pixels["State"] == pytest.approx(85, abs=3)


def test_the_cursor_stands_in_the_first_open_judgement_and_on_the_guide_in_the_name():
    answers = answers_for(example())[0]
    book = opened(written(example(), Handout(answers=answers)))
    values = opened(written(example(), Handout(answers=answers)), values=True)
    for name in ("FN", "FP"):
        states = texts(values[TABS[name]], "State")
        row = FIRST + states.index("")
        assert row > FIRST + 3
        selected = book[TABS[name]].sheet_view.selection[-1]
        assert selected.activeCell == f"D{row}"
        assert book[TABS[name]].sheet_view.pane.topLeftCell == f"D{row - 3}"
    row, _ = find(book["Guide"], "Your name (please fill in)")
    assert book["Guide"].sheet_view.selection[-1].activeCell == f"C{row}"


def test_header_is_frozen_filtered_and_repeated_in_print(book):
    for name in ("FN", "FP", "Documents"):
        sheet = book[TABS.get(name, name)]
        header = HEADER_ROW if name in TABS else 3
        assert sheet.freeze_panes == f"{'D' if name in TABS else 'B'}{header + 1}"
        assert sheet.auto_filter.ref.startswith(f"A{header}:")
        assert sheet.auto_filter.ref.endswith(str(sheet.max_row))
        assert sheet.print_title_rows == f"${header}:${header}"
    for name in ("FN", "FP"):  # what a judge fills in is printed, too
        sheet = book[TABS[name]]
        comment = get_column_letter(headers(sheet).index("Comment") + 1)
        assert sheet.print_area.endswith(f"$A$1:${comment}${sheet.max_row}")
    for sheet in book.worksheets[:6]:
        assert not sheet.sheet_view.showGridLines
        assert sheet.page_setup.paperSize == 9
        assert sheet.page_setup.orientation == ("portrait" if sheet.title == "Guide" else "landscape")
        assert sheet.sheet_properties.pageSetUpPr.fitToPage
        assert (sheet.page_setup.fitToWidth or 1) == 1
        assert sheet.page_setup.fitToHeight == (None if sheet.title == "Guide" else 0)  # none said: one page


def test_no_errors_give_friendly_empty_sheets():
    same = b"Ann\tB-PER\n.\tO\n"
    content = written(evaluated(Sides(same, same)))
    book = opened(content)
    missed, unsupported = (book[TABS[name]].cell(FIRST, 3).value for name in ("FN", "FP"))
    assert missed == "Nothing to judge here: the model found every span of the reference."
    assert unsupported == "Nothing to judge here: the reference supports every span of the model."
    for name in ("FN", "FP"):
        assert book[TABS[name]]["D1"].value == "0 of 0 done"
        assert not book[TABS.get(name, name)].data_validations.dataValidation
        assert not list(book[TABS.get(name, name)].conditional_formatting)
    assert "0 passages that the model missed" in "".join(
        str(cell) for row in book["Guide"].iter_rows(values_only=True) for cell in row
    )


def test_with_very_many_sheets_twins_are_not_looked_up_and_no_formula_grows_with_their_number():
    rows = "\n".join("Kay B-PER O\n. O O" for _ in range(60))
    book = openpyxl.load_workbook(BytesIO(written(evaluated(f"token gold pred\n{rows}\n"), Handout(max_rows=2))))
    formulas = [cell.value for sheet in book for row in sheet.iter_rows() for cell in row if cell.data_type == "f"]
    assert len(book.sheetnames) > 30
    assert max(map(len, formulas)) < 4_000
    assert any("do not follow" in str(cell.value) for row in book.worksheets[0].iter_rows() for cell in row)
