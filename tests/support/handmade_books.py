"""Workbooks written by hand, part by part, so that they can say what no library would write."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterable, Mapping
from xml.sax.saxutils import quoteattr

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
ENTRY = '<sheet name="FN" sheetId="1" r:id="rId1"/>'
BOOK = (
    '<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" '
    'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">'
    f"<sheets>{ENTRY}</sheets></workbook>"
)
LINKS = '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{links}</Relationships>'
LINK = (
    '<Relationship Id="rId{number}" '
    'Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet" Target="{target}"/>'
)
ODS_NAMES = ("office", "table", "text")
SHEET = '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>{rows}</sheetData></worksheet>'
ROW = '<row r="1">{cells}</row>'


def archive(parts: Mapping[str, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Parts as an archive."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method, compresslevel=9 if method == zipfile.ZIP_DEFLATED else None) as packed:
        for name, content in parts.items():
            packed.writestr(name, content)
    return buffer.getvalue()


def xlsx_parts(sheets: Iterable[tuple[str, str | bytes]], **more: str | bytes) -> dict[str, str | bytes]:
    """The parts of a workbook with these sheets, by their names; `more` are parts beside them, or in their place."""
    named = list(enumerate(sheets, 1))
    links = "".join(LINK.format(number=number, target=f"worksheets/sheet{number}.xml") for number, _ in named)
    entries = "".join(f'<sheet name={quoteattr(name)} sheetId="{n}" r:id="rId{n}"/>' for n, (name, _) in named)
    return {
        "[Content_Types].xml": CONTENT_TYPES,
        "_rels/.rels": RELS.format(kind="officeDocument", target="xl/workbook.xml"),
        "xl/workbook.xml": BOOK.replace(ENTRY, entries),
        "xl/_rels/workbook.xml.rels": LINKS.format(links=links),
        **{f"xl/worksheets/sheet{number}.xml": content for number, (_, content) in named},
        **more,
    }


def xlsx(sheet: str | bytes, strings: str | None = None, book: str = BOOK) -> bytes:
    """A workbook of one sheet."""
    more = {} if strings is None else {"xl/sharedStrings.xml": strings}
    return archive(xlsx_parts([("FN", sheet)], **{"xl/workbook.xml": book}, **more))


def ods_parts(content: str) -> dict[str, str | bytes]:
    """The parts of an OpenDocument spreadsheet with these tables."""
    names = " ".join(f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ODS_NAMES)
    manifest = "urn:oasis:names:tc:opendocument:xmlns:manifest:1.0"
    return {
        "mimetype": "application/vnd.oasis.opendocument.spreadsheet",
        "META-INF/manifest.xml": f'<m:manifest xmlns:m="{manifest}"/>',
        "content.xml": f"<office:document-content {names}><office:body><office:spreadsheet>{content}"
        "</office:spreadsheet></office:body></office:document-content>",
    }


def ods(content: str) -> bytes:
    return archive(ods_parts(content))


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
