"""Small workbooks written by hand, so that every part can be damaged: tables to .xlsx and .ods, and zip tricks."""

from __future__ import annotations

import io
import re
import struct
import zipfile
from collections.abc import Callable, Sequence
from random import Random
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from clueval_xlsx.files.sheets import cell_name
from tests.fuzz.mutators import NUMBERS, mutate_bytes, word

Table = tuple[str, list[list[Any]]]
Parts = dict[str, bytes]
_MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_BOMB = (
    b'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">'
    + b"".join(b'<!ENTITY %c "%s">' % (98 + n, b"&%c;" % (97 + n) * 10) for n in range(9))
    + b"]>"
)


def _text(value: Any) -> str:
    return escape(_ILLEGAL.sub("", str(value)))


def xlsx_parts(tables: Sequence[Table]) -> Parts:
    """The parts of a workbook with these tables; text is inline, numbers and truth values have their types."""
    numbers = range(1, len(tables) + 1)
    sheets = "".join(
        f'<sheet name={quoteattr(_text(name)[:31] or "x")} sheetId="{number}" r:id="rId{number}"/>'
        for number, (name, _) in zip(numbers, tables, strict=True)
    )
    links = "".join(
        f'<Relationship Id="rId{number}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{number}.xml"/>'
        for number in numbers
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="xml" '
        'ContentType="application/xml"/><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{_MAIN}" xmlns:r="{_OFFICE}"><sheets>{sheets}</sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{links}</Relationships>',
    }
    for number, (_, rows) in zip(numbers, tables, strict=True):
        content = "".join(
            f'<row r="{index + 1}">{"".join(_xlsx_cell(cell_name(index, c), v) for c, v in enumerate(row))}</row>'
            for index, row in enumerate(rows)
        )
        parts[f"xl/worksheets/sheet{number}.xml"] = (
            f'<worksheet xmlns="{_MAIN}"><sheetData>{content}</sheetData></worksheet>'
        )
    return {name: content.encode("utf-8", "replace") for name, content in parts.items()}


def _xlsx_cell(name: str, value: Any) -> str:
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return f'<c r="{name}" t="b"><v>{int(value)}</v></c>'
    if isinstance(value, int | float):
        return f'<c r="{name}"><v>{value}</v></c>'
    return f'<c r="{name}" t="inlineStr"><is><t xml:space="preserve">{_text(value)}</t></is></c>'


def ods_parts(tables: Sequence[Table]) -> Parts:
    """The same as an OpenDocument spreadsheet."""
    space = "urn:oasis:names:tc:opendocument:xmlns"
    content = "".join(
        f"<table:table table:name={quoteattr(_text(name))}>"
        + "".join(f"<table:table-row>{''.join(map(_ods_cell, row))}</table:table-row>" for row in rows)
        + "</table:table>"
        for name, rows in tables
    )
    document = (
        f'<office:document-content xmlns:office="{space}:office:1.0" xmlns:table="{space}:table:1.0" '
        f'xmlns:text="{space}:text:1.0"><office:body><office:spreadsheet>{content}</office:spreadsheet></office:body>'
        "</office:document-content>"
    )
    return {
        "mimetype": b"application/vnd.oasis.opendocument.spreadsheet",
        "META-INF/manifest.xml": f'<m:manifest xmlns:m="{space}:manifest:1.0"/>'.encode(),
        "content.xml": document.encode("utf-8", "replace"),
    }


def _ods_cell(value: Any) -> str:
    if value is None or value == "":
        return "<table:table-cell/>"
    if isinstance(value, bool):
        kind = f'office:value-type="boolean" office:boolean-value="{str(value).lower()}"'
    elif isinstance(value, int | float):
        kind = f'office:value-type="float" office:value="{value}"'
    else:
        kind = 'office:value-type="string"'
    return f"<table:table-cell {kind}><text:p>{_text(value)}</text:p></table:table-cell>"


def packed(parts: Parts, rng: Random | None = None) -> bytes:
    """The parts as an archive; with a `Random` some are stored instead of packed."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in parts.items():
            method = zipfile.ZIP_STORED if rng and rng.random() < 0.1 else zipfile.ZIP_DEFLATED
            archive.writestr(name, content, method)
    return buffer.getvalue()


def unpacked(data: bytes) -> Parts:
    """The parts of an archive."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


# ---- damage to tables ----------------------------------------------------------------------------------------------


def mutate_tables(rng: Random, tables: Sequence[Table], words: Sequence[str]) -> list[Table]:
    """What people and programs do to sheets: cells overwritten, rows and columns moved, repeated, sorted, deleted.

    `words` are those that mean something in such a sheet.
    """
    changed = [(name, [list(row) for row in rows]) for name, rows in tables]
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        index = rng.randrange(len(changed))
        name, rows = changed[index]
        choice = rng.randrange(14)
        if choice == 0:
            changed[index] = (rng.choice((*(other for other, _ in changed), word(rng))), rows)
        elif choice == 1:
            changed.insert(rng.randint(0, len(changed)), (name + rng.choice(("", "2")), [list(row) for row in rows]))
        elif choice == 2 and len(changed) > 1 and rng.random() < 0.4:
            del changed[index]
        elif rows:
            _change_rows(rng, rows, words, choice)
    return changed


def _change_rows(rng: Random, rows: list[list[Any]], words: Sequence[str], choice: int) -> None:
    row = rng.choice(rows)
    if choice == 3:
        rows.remove(row)
    elif choice == 4:
        rows.insert(rng.randint(0, len(rows)), list(row))
    elif choice == 5:
        rng.shuffle(rows)
    elif choice == 6:
        rows.sort(key=str)
    elif choice == 7:
        column = rng.randint(0, len(row))
        for each in rows:
            each.insert(min(column, len(each)), rng.choice(each) if each and rng.random() < 0.5 else "")
    elif choice == 8 and row:
        column = rng.randrange(len(row))
        for each in rows:
            del each[column : column + 1]
    elif row:
        row[rng.randrange(len(row))] = _cell(rng, rows, words)


def _cell(rng: Random, rows: Sequence[Sequence[Any]], words: Sequence[str]) -> Any:
    kind = rng.randrange(8)
    if kind < 4 and words:
        return rng.choice(words)
    if kind == 4:
        return rng.choice(NUMBERS)
    if kind == 5:
        return rng.choice((True, False, ""))
    other = rng.choice(rows)
    return rng.choice(other) if kind == 6 and other else word(rng)


# ---- damage to archives --------------------------------------------------------------------------------------------


def _far_cell(rng: Random, content: bytes) -> bytes:
    name = rng.choice(
        (b"XFD1048576", b"A1048576", b"XFD1", b"AAAA1", b"A99999999999", b"A0", b"1", b"", b"$B$9", b"ZZ3000")
    )
    return re.sub(
        rb'r\s*=\s*"[A-Z]+[0-9]+"', rng.choice((b'r="%s"', b"r='%s'", b'  r = "%s"')) % name, content, count=1
    )


def _repeat(rng: Random, content: bytes) -> bytes:
    number = rng.choice((b"2", b"1000", b"1048576", b"99999999999", b"-1", b"x", b""))
    what = rng.choice((b"columns", b"rows"))
    element = b"table:table-cell" if what == b"columns" else b"table:table-row"
    return content.replace(b"<" + element, b'<%s table:number-%s-repeated="%s"' % (element, what, number), 1)


def _bomb(rng: Random, content: bytes) -> bytes:
    return _BOMB + re.sub(rb">[^<]+<", b">&%c;<" % rng.choice(b"adj"), content, count=3)


def _tags(rng: Random, content: bytes) -> bytes:
    """Drop, repeat or rename one tag."""
    found = list(re.finditer(rb"<[^<>]*>", content))
    if not found:
        return content
    match = rng.choice(found)
    new = rng.choice(
        (b"", match[0] * 2, match[0].lower(), b"<" + word(rng).encode("utf-8", "replace") + b">", b"<!--x-->")
    )
    return content[: match.start()] + new + content[match.end() :]


def _attribute(rng: Random, content: bytes) -> bytes:
    found = list(re.finditer(rb"(?<==)\"[^\"<>]*\"", content))
    if not found:
        return content
    match = rng.choice(found)
    new = rng.choice((quoteattr(_text(word(rng))), f'"{rng.choice(NUMBERS)}"', "''")).encode("utf-8", "replace")
    return content[: match.start()] + new + content[match.end() :]


def _xml(rng: Random, content: bytes) -> bytes:
    change: Callable[[Random, bytes], bytes] = rng.choice(
        (_tags, _tags, _attribute, _attribute, _far_cell, _repeat, _bomb, mutate_bytes)
    )
    return change(rng, content)


def mutate_parts(rng: Random, parts: Parts) -> Parts:
    """Damage the XML of some parts, take parts away, exchange them, or pack far too much."""
    parts = dict(parts)
    for _ in range(rng.choice((1, 1, 2, 3))):
        name = rng.choice(list(parts))
        choice = rng.randrange(20)
        if choice == 0 and len(parts) > 1:
            del parts[name]
        elif choice == 1:
            parts[name] = parts[rng.choice(list(parts))]
        elif choice == 2:
            parts[rng.choice((name.upper(), f"{name}/", f"../{name}", f"x{word(rng)}", "xl/sharedStrings.xml"))] = (
                parts[name]
            )
        elif choice == 3:
            parts[name] = rng.choice((b"", b"<", b" " * 2_000_000, b"<x>" * 30_000))
        else:
            parts[name] = _xml(rng, parts[name])
    return parts


def mutate_archive(rng: Random, data: bytes) -> bytes:
    """Damage the archive itself: its headers, what it says about sizes, names and methods, or any byte."""
    choice = rng.randrange(5)
    if choice == 0:
        return mutate_bytes(rng, data)
    changed = bytearray(data)
    places = [match.start() for match in re.finditer(rb"PK\x01\x02|PK\x03\x04|PK\x05\x06", data)]
    place = rng.choice(places or [0])
    offset = rng.choice((6, 8, 10, 14, 16, 18, 20, 22, 24, 26, 28, 30, 34, 38, 42))
    if place + offset + 4 <= len(changed):
        format_ = rng.choice(("<H", "<I"))
        number = (
            rng.choice((0, 1, 8, 9, 12, 14, 99, 0xFFFF, 1000))
            if format_ == "<H"
            else rng.choice((0, 1, 0xFFFFFFFF, 2**31, 5000))
        )
        struct.pack_into(format_, changed, place + offset, number)
    return bytes(changed) if choice > 1 else bytes(changed)[: rng.randint(0, len(changed))]
