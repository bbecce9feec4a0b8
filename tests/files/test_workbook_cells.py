"""One function reads every workbook: plain cells, and beside them what a parser shows as empty."""

from __future__ import annotations

import datetime
import io
import zipfile

import openpyxl
import pytest
import xlsxwriter

from clueval_xlsx.files.sheets import MergedRange, SheetTable
from clueval_xlsx.files.workbooks import read_workbook
from tests.support.handmade_books import repacked

NAMESPACES = " ".join(
    f'xmlns:{prefix}="urn:oasis:names:tc:opendocument:xmlns:{prefix}:1.0"' for prefix in ("office", "table", "text")
)
CALC = 'xmlns:calcext="urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"'


def edited(data: bytes, part: str, old: str, new: str) -> bytes:
    """The archive with a piece of one part replaced."""

    def change(name: str, content: bytes) -> bytes:
        assert name != part or old.encode() in content
        return content.replace(old.encode(), new.encode()) if name == part else content

    return repacked(data, change)


def xlsx() -> bytes:
    """Two sheets; the second has a merged cell, an error, and formulas with and without a value."""
    buffer = io.BytesIO()
    book = xlsxwriter.Workbook(buffer)
    book.add_worksheet("Plain & first").write("A1", "nothing unusual")
    sheet = book.add_worksheet("Odd")
    sheet.write("B2", "a")
    sheet.merge_range("C3:C6", "merged")
    sheet.write_formula("D3", "=1/0", None, "#DIV/0!")
    sheet.write_formula("D4", '=B2&"<"', None, "x<")
    sheet.write_formula("D5", "=B2", None, "a")
    book.close()
    return buffer.getvalue()


def ods(rows: str) -> bytes:
    content = (
        f"<office:document-content {NAMESPACES} {CALC}><office:body><office:spreadsheet>"
        f'<table:table table:name="Odd">{rows}</table:table></office:spreadsheet></office:body>'
        "</office:document-content>"
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("META-INF/manifest.xml", "<manifest/>")
        archive.writestr("content.xml", content)
    return buffer.getvalue()


def odd(data: bytes) -> SheetTable:
    return next(table for table in read_workbook(data, "book").sheets if table.name == "Odd")


def test_cells_are_plain_values_from_the_first_cell_on() -> None:
    first, second = read_workbook(xlsx(), "book.xlsx").sheets
    assert (first.name, first.rows) == ("Plain & first", [["nothing unusual"]])
    assert first.merged == ()
    assert not first.valueless
    assert second.rows[1] == ["", "a", "", ""]


def test_a_hidden_sheet_is_told_and_the_time_of_saving_is_the_files_own() -> None:
    buffer = io.BytesIO()
    book = xlsxwriter.Workbook(buffer)
    book.add_worksheet("Shown")
    book.add_worksheet("Hidden").hide()
    book.add_worksheet("Very hidden").very_hidden()
    book.set_properties({"created": datetime.datetime(2024, 2, 29, 12, 30)})
    book.close()
    found = read_workbook(buffer.getvalue(), "book.xlsx")
    assert [sheet.hidden for sheet in found.sheets] == [False, True, True]
    assert found.saved == "2024-02-29T12:30:00Z"


def test_an_ods_tells_when_it_was_saved_and_one_without_properties_says_nothing() -> None:
    plain = ods("")
    assert read_workbook(plain, "book.ods").saved == ""
    buffer = io.BytesIO(plain)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.writestr("meta.xml", "<office:meta><dc:date>2024-02-29T12:30:00.123456789</dc:date></office:meta>")
    assert read_workbook(buffer.getvalue(), "book.ods").saved == "2024-02-29T12:30:00.123456789"


@pytest.mark.parametrize("value", ["", "<v></v>", "<v/>"])
def test_a_formula_without_a_value_is_told_by_its_cell(value: str) -> None:
    old = '<c r="D5" t="str"><f>B2</f><v>a</v></c>'
    data = edited(xlsx(), "xl/worksheets/sheet2.xml", old, f'<c r="D5"><f>B2</f>{value}</c>')
    assert odd(data).valueless == {(2, 3): "#DIV/0!", (4, 3): "=B2"}


def test_numbers_arrive_as_what_they_are_and_dates_and_times_as_texts() -> None:
    book = openpyxl.Workbook()
    moments = [datetime.datetime(2024, 2, 29, 12, 30), datetime.date(2024, 1, 1), datetime.time(8, 15)]
    assert book.active is not None
    book.active.append([*moments, 7, 2.5, True, "ä", datetime.timedelta(hours=30)])
    saved = io.BytesIO()
    book.save(saved)
    (table,) = read_workbook(saved.getvalue(), "dates.xlsx").sheets
    assert table.rows == [["2024-02-29T12:30:00", "2024-01-01", "08:15:00", 7.0, 2.5, True, "ä", "1 day, 6:00:00"]]
    assert [type(each) for each in table.rows[0][3:7]] == [float, float, bool, str]


_CELL = '<table:table-cell office:value-type="string">{}</table:table-cell>'
PLAIN = (
    "<table:table-row>"
    + _CELL.format("<text:p>Ann  Lee</text:p>")
    + '<table:table-cell office:value-type="float" office:value="7"><text:p>7</text:p></table:table-cell>'
    + "<table:table-cell/>"
    + _CELL.format("<text:p>a</text:p><text:p>b</text:p>")
    + _CELL.format("<text:p>x <text:span>y</text:span> <text:span>z</text:span></text:p>")
    + "</table:table-row>"
)


@pytest.mark.parametrize("indent", ["\n", "\n    ", "\r\n\t"])
def test_white_space_between_cells_as_gnumeric_and_sheetjs_write_it_is_no_text(indent: str) -> None:
    indented = PLAIN
    for mark in ("<table:", "</table:", "<text:p>"):
        indented = indented.replace(mark, indent + mark)
    assert odd(ods(indented)) == odd(ods(PLAIN))
    assert odd(ods(indented)).rows[0][4] == "x y z"


def test_an_ods_tells_its_errors_and_merged_cells_where_rows_and_columns_repeat() -> None:
    text = 'office:value-type="string"'
    table = odd(
        ods(
            f'<table:table-row table:number-rows-repeated="2"><table:table-cell {text}><text:p>a</text:p>'
            "</table:table-cell></table:table-row>"
            '<table:table-row><table:table-cell table:number-columns-repeated="2"/>'
            f'<table:table-cell {text} table:number-rows-spanned="3" table:number-columns-spanned="1">'
            "<text:p>merged</text:p></table:table-cell>"
            f'<table:table-cell table:formula="of:=1/0" {text} office:string-value="" calcext:value-type="error">'
            "<text:p>#DIV/0!</text:p></table:table-cell></table:table-row>"
            "<table:table-row><table:table-cell table:number-columns-repeated='2'/><table:covered-table-cell/>"
            f"<table:table-cell {text}><text:p>b</text:p></table:table-cell></table:table-row>"
        )
    )
    assert table.rows == [["a", "", "", ""], ["a", "", "", ""], ["", "", "merged", ""], ["", "", "", "b"]]
    assert table.merged == (MergedRange(2, 2, 4, 2),)
    assert table.valueless == {(2, 3): "#DIV/0!"}


def test_tabs_and_breaks_in_a_cell_of_an_ods_keep_words_apart() -> None:
    cells = [
        _CELL.format(f"<text:p>model{mark}is</text:p>") for mark in ("<text:tab/>", "<text:line-break/>", "<text:s/>")
    ]
    assert odd(ods(f"<table:table-row>{''.join(cells)}</table:table-row>")).rows == [["model is"] * 3]
