"""Workbooks written by hand, part by part, so that they can say what no library would write."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

CONTENT_TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Default Extension="xml" ContentType="application/xml"/></Types>'
)
RELS = (
    '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}" Target="{target}"/>'
    "</Relationships>"
)
BOOK = (
    '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">'
    '<sheets><sheet name="FN" sheetId="1" r:id="rId1"/></sheets></workbook>'
)
SHEET = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{rows}</sheetData></worksheet>'
ROW = '<row r="1">{cells}</row>'


def xlsx(sheet: str | bytes, strings: str | None = None, book: str = BOOK) -> bytes:
    """A workbook of one sheet, written by hand."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", CONTENT_TYPES)
        archive.writestr("_rels/.rels", RELS.format(kind="officeDocument", target="xl/workbook.xml"))
        archive.writestr("xl/workbook.xml", book)
        archive.writestr("xl/_rels/workbook.xml.rels", RELS.format(kind="worksheet", target="worksheets/sheet1.xml"))
        archive.writestr("xl/worksheets/sheet1.xml", sheet)
        if strings is not None:
            archive.writestr("xl/sharedStrings.xml", strings)
    return buffer.getvalue()


def ods(content: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr(
            "META-INF/manifest.xml", '<m:manifest xmlns:m="urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"/>'
        )
        archive.writestr(
            "content.xml",
            '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
            'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
            'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"><office:body><office:spreadsheet>'
            f"{content}</office:spreadsheet></office:body></office:document-content>",
        )
    return buffer.getvalue()


def cell(name: str, text: str = "x") -> str:
    return f'<c r="{name}" t="inlineStr"><is><t>{text}</t></is></c>'


def filled(columns: int, rows: int) -> str:
    return (
        f'<table:table table:name="FN"><table:table-row table:number-rows-repeated="{rows}"><table:table-cell '
        f'table:number-columns-repeated="{columns}" office:value-type="string"><text:p>x</text:p>'
        "</table:table-cell></table:table-row></table:table>"
    )


FAR = [
    cell("A1") + cell("XFD1048576"),
    cell("A1") + "<c r='XFD1048576' t='inlineStr'><is><t>x</t></is></c>",
    cell("A1") + '<c  s="1"\n r = "XFD1048576" t="inlineStr"><is><t>x</t></is></c>',
    cell("A1") + '<c t="inlineStr" r="$XFD$1048576"><is><t>x</t></is></c>',
    cell("A1") + '<x:c xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main" r="XFD1048576"/>',
    cell("A1") + '<c r="AAAA99999999" t="inlineStr"><is><t>x</t></is></c>',
]


def repacked(data: bytes, change: Callable[[str, bytes], bytes]) -> bytes:
    """An archive with its parts changed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as target:
        for name in source.namelist():
            target.writestr(name, change(name, source.read(name)))
    return buffer.getvalue()
