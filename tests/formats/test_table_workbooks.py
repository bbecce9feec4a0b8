"""Span tables in workbooks: a corrected one keeps what it was, a new one is exact or says what it cannot hold."""

from __future__ import annotations

import io
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl.cell import Cell
from openpyxl.comments import Comment
from openpyxl.formatting.rule import CellIsRule
from openpyxl.styles import Font, PatternFill

from clueval_xlsx.corpus.correcting import correct
from clueval_xlsx.corpus.spans import make_spans
from clueval_xlsx.exceptions import OutputError
from clueval_xlsx.files.workbooks import read_workbook
from clueval_xlsx.formats.loading import read
from clueval_xlsx.formats.table_files import new_workbook
from clueval_xlsx.options import ReadOptions
from tests.support.commands import run
from tests.support.strategies import at_most

WORDS = ["Ann", "Lee", "of", "Bonn", "met", "Jay", "Bo", "in", "007", "."]
TEXT = "".join(f"{word}\tO\n" for word in WORDS).encode()
BASE = read(io.BytesIO(TEXT), ReadOptions(layers={"category": 2}), name="text.vrt")
ROWS = [(0, 1, "PER", "Ann Lee"), (3, 3, "LOC", "Bonn"), (5, 6, "PER", "Jay Bo")]


def foreign(*, formulas: bool = True) -> openpyxl.Workbook:
    """A workbook as somebody made it: bold header, coloured cells, a formula column, a second sheet, a note."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "My spans"
    sheet.append(["start", "end", "category", "text", *(["length"] if formulas else [])])
    for row, values in enumerate(ROWS, 2):
        sheet.append([*values, *([f"=B{row}-A{row}+1"] if formulas else [])])
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    sheet["C3"].fill = PatternFill("solid", fgColor="FFEE00")
    sheet["A4"].number_format = "0000"
    sheet.column_dimensions["D"].width = 33
    if formulas:
        sheet.conditional_formatting.add("C2:C9", CellIsRule("equal", ['"PER"'], fill=PatternFill(bgColor="FF0000")))
        sheet["D2"].comment = Comment("seen", "me")
        other = book.create_sheet("Sums")
        other["A1"] = "=SUM('My spans'!E2:E4)"
        other["A2"] = "007"
    return book


def saved(book: openpyxl.Workbook) -> bytes:
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue()


def corrected(content: bytes, spans: list[tuple[int, int, str]], **options: object) -> openpyxl.Workbook:
    """The workbook with these spans in place of its own."""
    reading = read(io.BytesIO(content), ReadOptions(**options), name="spans.xlsx", base=BASE)
    layer = next(iter(reading.annotation.layers))
    start, end, labels = zip(*spans, strict=True)
    (made,) = correct(reading, {layer: make_spans(start, end, {layer: list(labels)})}, BASE.corpus).values()
    return openpyxl.load_workbook(io.BytesIO(made))


def shown(cell: Cell) -> tuple[object, ...]:
    return (cell.value, cell.data_type, cell.font.b, cell.fill.fgColor.rgb, cell.number_format)


def test_a_corrected_workbook_keeps_its_sheets_formats_types_and_formulas():
    before = openpyxl.load_workbook(io.BytesIO(saved(foreign())))
    after = corrected(saved(foreign()), [(0, 1, "PER"), (3, 3, "ORG"), (8, 8, "NUM")])
    assert after.sheetnames == ["My spans", "Sums"]
    assert [shown(cell) for row in after["Sums"].iter_rows() for cell in row] == [
        shown(cell) for row in before["Sums"].iter_rows() for cell in row
    ]
    old, new = before["My spans"], after["My spans"]
    assert new["C3"].value == "ORG"
    changed = {"C3", *(f"{letter}4" for letter in "ABCDE"), *(f"{letter}5" for letter in "ABCDE")}
    for row in old.iter_rows():
        for cell in row:
            if cell.coordinate not in changed:
                assert shown(new[cell.coordinate]) == shown(cell), cell.coordinate
            else:
                assert shown(new[cell.coordinate])[2:] == shown(cell)[2:], cell.coordinate
    assert new.column_dimensions["D"].width == 33
    assert new["D2"].comment.text == "seen"
    assert [str(rule.sqref) for rule in new.conditional_formatting] == ["C2:C9"]
    # A row with formulas below it does not move: the one that went is empty.
    assert [cell.value for cell in new[4]] == [None] * 5
    assert [cell.value for cell in new[5]] == [8, 8, "NUM", "007", "=B5-A5+1"]
    assert [new["A5"].data_type, new["D5"].data_type] == ["n", "s"]


def test_rows_close_up_where_nothing_depends_on_their_place():
    sheet = corrected(saved(foreign(formulas=False)), [(0, 1, "PER"), (5, 6, "ORG")])["My spans"]
    assert [[cell.value for cell in row] for row in sheet.iter_rows()] == [
        ["start", "end", "category", "text"],
        [0, 1, "PER", "Ann Lee"],
        [5, 6, "ORG", "Jay Bo"],
    ]


def test_the_corrected_workbook_reads_as_the_spans_that_were_wanted():
    spans = [(0, 0, "PER"), (3, 4, "ORG"), (8, 8, "NUM"), (9, 9, "=1+1")]
    again = read(io.BytesIO(saved(corrected(saved(foreign()), spans))), ReadOptions(), name="c.xlsx", base=BASE)
    (found,) = again.annotation.layers.values()
    assert list(found.itertuples(index=False, name=None)) == spans


# ---- new workbooks ----------------------------------------------------------------------------------------------


def cells(content: bytes) -> list[list[object]]:
    return [list(row) for row in read_workbook(content, "new.xlsx").sheets[0].rows]


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\ufffe\uffff"), min_size=1, max_size=20))
@at_most(200)
def test_any_text_comes_back_from_a_new_workbook(text):
    assert cells(new_workbook([["text"], [text]])) == [["text"], [text]]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a\ufffe", "U+FFFE"),
        ("\uffff", "U+FFFF"),
        ("\ud800", "U+D800"),
        ("x" * 32_768, "32,768 characters"),
        ("😀" * 16_384, "16,384 characters"),
        ("\x07" * 6_000, "6,000 characters"),
    ],
    ids=range(6),
)
def test_what_a_workbook_cannot_hold_is_said(text, problem):
    with pytest.raises(OutputError) as raised:
        new_workbook([["label", "text"], ["PER", text]])
    assert "B2 of the table" in str(raised.value)
    assert problem in str(raised.value)
    assert ".tsv" in str(raised.value)


# ---- one layer of a table with two ------------------------------------------------------------------------------

TWO = "start\tend\tcategory\trisk\n0\t1\tPER\t\n0\t1\t\tHIGH\n3\t3\t\tLOW\n5\t6\tPER\tLOW\n"


def test_reading_one_layer_of_two_counts_no_empty_label(tmp_path: Path):
    text, table = tmp_path / "text.vrt", tmp_path / "spans.tsv"
    text.write_bytes(TEXT)
    table.write_text(TWO, encoding="utf-8")
    twin = tmp_path / "more.tsv"
    twin.write_text(TWO, encoding="utf-8")
    done = run("validate", table, "--text", text, "--layer", "category")
    assert done.code == 0, done.err
    assert "category: 2 spans, 1 label" in done.out
    done = run("score", table, twin, "--set", f"gold.text={text}", "--set", f"pred.text={text}", "--layer", "category")
    assert "2/2" in done.out
    assert "nan" not in done.out.casefold()
