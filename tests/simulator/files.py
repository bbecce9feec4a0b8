"""Workbooks of the model as files: read once with openpyxl, written as plain .xlsx and .ods in milliseconds."""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import openpyxl

from tests.simulator.book import Book, Cell, ErrorValue, Formula, Sheet, Value

_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OASIS = "urn:oasis:names:tc:opendocument:xmlns"
_JOINER = "\u2060"  # stands in contexts, which are rich text


def read_book(path: Path) -> Book:
    """A workbook as the product wrote it: values, and formulas with the value stored for them."""
    values = openpyxl.load_workbook(path, data_only=True)
    formulas = openpyxl.load_workbook(path)
    sheets = []
    for shown, written in zip(values.worksheets, formulas.worksheets, strict=True):
        rows = [
            [_read_cell(left.value, right.value) for left, right in zip(*lines, strict=True)]
            for lines in zip(_rows(shown), _rows(written), strict=True)
        ]
        # What is merged in the titles above the cases is no matter.
        sheets.append(Sheet(written.title, rows, written.sheet_state != "visible", original=True))
    return Book(path.name, sheets)


def _rows(sheet):
    return sheet.iter_rows(min_row=1, max_row=sheet.max_row, min_col=1, max_col=sheet.max_column)


def _read_cell(value, written) -> Cell:
    if isinstance(written, str) and written.startswith("=") and written != value:
        return Cell(Formula(written, value))
    return Cell(value if value is None or isinstance(value, str | bool | int | float) else str(value))


def write_book(book: Book, path: Path) -> Path:
    """Write a workbook; the ending says as what: .xlsx, .ods, or .csv, which holds the first sheet with cases only."""
    kinds = {".xlsx": xlsx_bytes, ".ods": ods_bytes, ".csv": csv_bytes}
    path.write_bytes(kinds[path.suffix](book))
    return path


# -- .xlsx


def xlsx_bytes(book: Book) -> bytes:
    """The workbook as .xlsx."""
    numbers = range(1, len(book.sheets) + 1)
    parts = {
        "[Content_Types].xml": _content_types(len(book.sheets)),
        "_rels/.rels": _relations([("officeDocument", "xl/workbook.xml")]),
        "xl/workbook.xml": _workbook_xml(book),
        "xl/_rels/workbook.xml.rels": _relations(
            [("worksheet", f"worksheets/sheet{number}.xml") for number in numbers]
        ),
    }
    for number, sheet in zip(numbers, book.sheets, strict=True):
        if "xlsx" not in sheet.written:
            sheet.written["xlsx"] = _sheet_xml(sheet)
        parts[f"xl/worksheets/sheet{number}.xml"] = sheet.written["xlsx"]
    return _zipped(parts)


def _zipped(parts: dict[str, str]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, text in parts.items():
            stored = zipfile.ZIP_STORED if name == "mimetype" else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name), text.encode("utf-8"), stored)
    return stream.getvalue()


def _content_types(count: int) -> str:
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    sheets = "".join(
        f'<Override PartName="/xl/worksheets/sheet{number}.xml" ContentType="{kind}.worksheet+xml"/>'
        for number in range(1, count + 1)
    )
    return (
        f'{_DECLARATION}<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>{sheets}</Types>'
    )


def _relations(targets: list[tuple[str, str]]) -> str:
    lines = "".join(
        f'<Relationship Id="rId{number}" Type="{_RELATIONS}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, 1)
    )
    return f'{_DECLARATION}<Relationships xmlns="{_PACKAGE}/relationships">{lines}</Relationships>'


def _workbook_xml(book: Book) -> str:
    state = {True: ' state="hidden"', False: ""}
    sheets = "".join(
        f'<sheet name={quoteattr(sheet.name)} sheetId="{number}"{state[sheet.hidden]} r:id="rId{number}"/>'
        for number, sheet in enumerate(book.sheets, 1)
    )
    return f'{_DECLARATION}<workbook xmlns="{_MAIN}" xmlns:r="{_RELATIONS}"><sheets>{sheets}</sheets></workbook>'


def _sheet_xml(sheet: Sheet) -> str:
    lines = []
    for number, row in enumerate(sheet.rows):
        cells = "".join(_xlsx_cell(number, column, cell.value) for column, cell in enumerate(row))
        hidden = ' hidden="1"' if number in sheet.hidden_rows else ""
        if cells:
            lines.append(f'<row r="{number + 1}"{hidden}>{cells}</row>')
    merged = "".join(f'<mergeCell ref="{_range_name(area)}"/>' for area in sheet.merges)
    merges = f'<mergeCells count="{len(sheet.merges)}">{merged}</mergeCells>' if merged else ""
    return f'{_DECLARATION}<worksheet xmlns="{_MAIN}"><sheetData>{"".join(lines)}</sheetData>{merges}</worksheet>'


def _xlsx_cell(row: int, column: int, value: Value) -> str:
    if value is None:
        return ""
    place = cell_name(row, column)
    if isinstance(value, Formula):
        text = escape(value.text.removeprefix("="))
        if value.cached is None:
            return f'<c r="{place}"><f>{text}</f></c>'
        kind, shown = _plain(value.cached)
        return f'<c r="{place}"{kind}><f>{text}</f><v>{shown}</v></c>'
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is>{_runs(value)}</is></c>'
    kind, shown = _plain(value)
    return f'<c r="{place}"{kind}><v>{shown}</v></c>'


def _plain(value: str | float | bool | ErrorValue) -> tuple[str, str]:
    if isinstance(value, bool):
        return ' t="b"', str(int(value))
    if isinstance(value, str):
        return ' t="str"', escape(value)
    if isinstance(value, ErrorValue):
        return ' t="e"', escape(value.text)
    return "", f"{value:g}" if isinstance(value, float) else str(value)


def _runs(text: str) -> str:
    """A text; where it has a passage between joiners it is rich text of several runs, as contexts are."""
    pieces = text.split(_JOINER) if _JOINER in text else [text]
    if len(pieces) == 1:
        return f'<t xml:space="preserve">{escape(text)}</t>'
    joined = [piece + _JOINER for piece in pieces[:-1]] + [pieces[-1]]
    return "".join(f'<r><t xml:space="preserve">{escape(piece)}</t></r>' for piece in joined if piece)


# -- .ods


def ods_bytes(book: Book) -> bytes:
    """The workbook as .ods."""
    for sheet in book.sheets:
        if "ods" not in sheet.written:
            sheet.written["ods"] = _ods_table(sheet)
    tables = "".join(
        f'<table:table table:name={quoteattr(sheet.name)} table:style-name="{"hidden" if sheet.hidden else "shown"}">'
        f"{sheet.written['ods']}</table:table>"
        for sheet in book.sheets
    )
    names = " ".join(f'xmlns:{name}="{_OASIS}:{name}:1.0"' for name in ("office", "table", "text", "style"))
    styles = "".join(
        f'<style:style style:name="{name}" style:family="table"><style:table-properties table:display="{shown}"/>'
        "</style:style>"
        for name, shown in (("shown", "true"), ("hidden", "false"))
    )
    content = (
        f'{_DECLARATION}<office:document-content {names} office:version="1.3"><office:automatic-styles>{styles}'
        f"</office:automatic-styles><office:body><office:spreadsheet>{tables}</office:spreadsheet></office:body>"
        "</office:document-content>"
    )
    kind = "application/vnd.oasis.opendocument.spreadsheet"
    entries = "".join(
        f'<manifest:file-entry manifest:full-path="{path}" manifest:media-type="{media}"/>'
        for path, media in (("/", kind), ("content.xml", "text/xml"))
    )
    manifest = f'{_DECLARATION}<manifest:manifest xmlns:manifest="{_OASIS}:manifest:1.0">{entries}</manifest:manifest>'
    return _zipped({"mimetype": kind, "content.xml": content, "META-INF/manifest.xml": manifest})


def _ods_table(sheet: Sheet) -> str:
    tops = {area[:2]: area for area in sheet.merges}
    covered = {
        (row, column)
        for area in sheet.merges
        for row in range(area[0], area[2] + 1)
        for column in range(area[1], area[3] + 1)
        if (row, column) != area[:2]
    }
    lines = []
    for number, row in enumerate(sheet.rows):
        hidden = ' table:visibility="filter"' if number in sheet.hidden_rows else ""
        cells = "".join(
            _ods_cell(cell.value, tops.get((number, column)), covered=(number, column) in covered)
            for column, cell in enumerate(row)
        )
        lines.append(f"<table:table-row{hidden}>{cells or '<table:table-cell/>'}</table:table-row>")
    return "<table:table-column/>" + "".join(lines)


def _ods_cell(value: Value, merge: tuple[int, int, int, int] | None, *, covered: bool) -> str:
    name = "table:covered-table-cell" if covered else "table:table-cell"
    spans = ""
    if merge is not None:
        spans = (
            f' table:number-columns-spanned="{merge[3] - merge[1] + 1}"'
            f' table:number-rows-spanned="{merge[2] - merge[0] + 1}"'
        )
    formula = ""
    if isinstance(value, Formula):
        formula = f" table:formula={quoteattr('of:' + value.text)}"
        value = value.cached
    if value is None:
        return f"<{name}{spans}{formula}/>"
    if isinstance(value, ErrorValue):
        formula, value = ' table:formula="of:=NA()"', value.text
    kind, shown = _ods_value(value)
    return f"<{name}{spans}{formula}{kind}>{_paragraphs(shown)}</{name}>"


def _ods_value(value: str | float | bool) -> tuple[str, str]:
    if isinstance(value, bool):
        return f' office:value-type="boolean" office:boolean-value="{str(value).lower()}"', str(value).upper()
    if isinstance(value, str):
        return ' office:value-type="string"', value
    return f' office:value-type="float" office:value="{value}"', f"{value:g}"


def _paragraphs(text: str) -> str:
    """Paragraphs in which every space counts."""
    lines = [escape(line).replace(" ", "<text:s/>") for line in text.split("\n")]
    return "".join(f"<text:p>{line}</text:p>" for line in lines)


# -- .csv and names


def csv_bytes(book: Book) -> bytes:
    """The first sheet that holds cases, as a program saves it: separated by semicolons."""
    from tests.simulator.roles import layout

    sheet = next((sheet for sheet in book.sheets if layout(sheet) is not None), book.sheets[0])
    stream = io.StringIO()
    csv.writer(stream, delimiter=";").writerows([cell.shown for cell in row] for row in sheet.rows)
    return stream.getvalue().encode("utf-8-sig")


def cell_name(row: int, column: int) -> str:
    """The name of a cell, both counted from 0.

    >>> cell_name(0, 0), cell_name(9, 27)
    ('A1', 'AB10')
    """
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return f"{letters}{row + 1}"


def _range_name(area: tuple[int, int, int, int]) -> str:
    return f"{cell_name(*area[:2])}:{cell_name(*area[2:])}"
