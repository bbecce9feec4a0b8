"""What a parser does not show: error values, formulas without a value, merged cells, notes attached to cells.

Only markup is read: no formula is ever evaluated. Most workbooks have nothing of the kind, which a search for a few
bytes tells; only then are cells looked at one by one.
"""

from __future__ import annotations

import io
import posixpath
import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import unescape
from itertools import chain
from xml.etree import ElementTree

from clueval_xlsx.files.cell_notes import notes_of
from clueval_xlsx.files.hostile import Package
from clueval_xlsx.files.sheets import MergedRange, Place

_LONGEST_CELL = 1 << 17  # bytes of markup from the beginning of a cell to the end of its formula, and more
_USUAL_CELL = 1 << 12
_SHOWN = 200

_ERRORS = (b't="e"', b"t='e'")
_ERROR_CELL = re.compile(rb"""<(?:[\w.-]{1,40}:)?c\s(?:[^<>]*\s)?t=(?:"e"|'e')[^<>]*>""")
_NO_VALUE = rb"\s*+(?:<(?:[\w.-]{1,40}:)?v(?:\s*+/>|>\s*+</(?:[\w.-]{1,40}:)?v>))?+\s*+</(?:[\w.-]{1,40}:)?c>"
_FORMULA_LAST = re.compile(rb"f>" + _NO_VALUE)
_SHARED_FORMULA_LAST = re.compile(rb"/>" + _NO_VALUE)  # such a formula is an empty element that names another one
_CELL_BEGIN = re.compile(rb"<(?:[\w.-]{1,40}:)?c\s")
_CELL_END = re.compile(rb"</(?:[\w.-]{1,40}:)?c>")
_REFERENCE = re.compile(rb"""\sr\s*=\s*["']\s*\$?([A-Za-z]{1,3})\$?([0-9]{1,7})\s*["']""")
_TEXT_TYPE = re.compile(rb"""\st\s*=\s*["']str["']""")
_VALUE = re.compile(rb"<(?:[\w.-]{1,40}:)?v[^>]*>([^<]*)<")
_FORMULA = re.compile(rb"<(?:[\w.-]{1,40}:)?f(?=[\s>/])(?:[^>]*/>|[^>]*>([^<]*)<)")

_ODS_FORMULA = re.compile(
    rb"""<[\w.:-]{1,80}\s(?:[^<>"']|"[^"<]*"|'[^'<]*')*?:formula\s*=(?:[^<>"']|"[^"<]*"|'[^'<]*')*>"""
)
_HAS_VALUE = re.compile(rb"""\s(?:[\w.-]{1,40}:)?value-type\s*=""")

_OFFICE, _TABLE, _TEXT, _CALC = (
    "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}",
    "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}",
    "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}",
    "{urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0}",
)


@dataclass
class Unseen:
    """What the parser does not show of one sheet."""

    valueless: dict[Place, str] = field(default_factory=dict)  # `#REF!`, or the formula that has no value
    merged: list[MergedRange] = field(default_factory=list)
    notes: dict[Place, str] = field(default_factory=dict)  # attached to a cell


def unseen_cells(package: Package, name: str) -> Mapping[str, Unseen]:
    """What is not among the values of each sheet, by the name of the sheet; of merged cells only those of `.ods`.

    `name` is for messages.
    """
    parts = {part.casefold(): content for part, content in package.parts.items()}
    if package.kind == "ods":
        return _in_ods(parts["content.xml"])
    found = {}
    for sheet, part in _sheet_parts(parts).items():
        unseen = Unseen(dict(_valueless(parts[part])), notes=notes_of(package.parts, part, name))
        if unseen.valueless or unseen.notes:
            found[sheet] = unseen
    return found


def _sheet_parts(parts: Mapping[str, bytes]) -> dict[str, str]:
    """The part of every worksheet, by the sheet's name."""
    if "xl/_rels/workbook.xml.rels" not in parts:
        return {}
    related = ElementTree.fromstring(parts["xl/_rels/workbook.xml.rels"])
    targets = {each.get("Id"): each.get("Target", "") for each in related}
    found = {}
    for sheet in ElementTree.fromstring(parts["xl/workbook.xml"]).iter():
        if sheet.tag.rpartition("}")[2] != "sheet":
            continue
        key = next((value for name, value in sheet.items() if name.endswith("}id")), None)
        part = posixpath.normpath(posixpath.join("/xl", targets.get(key, ""))).lstrip("/").casefold()
        if part in parts:
            found[sheet.get("name", "")] = part
    return found


def _valueless(content: bytes) -> Iterator[tuple[Place, str]]:
    """The cells of an `.xlsx` sheet that hold an error, or a formula and no value."""
    if any(sign in content for sign in _ERRORS):
        for match in _ERROR_CELL.finditer(content):
            last = match.end() if match[0].endswith(b"/>") else match.end() + _LONGEST_CELL
            closed = _CELL_END.search(content, match.end(), last)
            place = _place(match[0])
            if place is not None:
                value = _VALUE.search(content, match.end(), closed.start()) if closed else None
                yield place, _shown(value[1]) if value else "an error"
    patterns = [_FORMULA_LAST, *([_SHARED_FORMULA_LAST] if b"shared" in content else [])]
    ends = [match.end() for match in chain.from_iterable(pattern.finditer(content) for pattern in patterns)]
    begins: list[int] = []  # of all cells, made when one is longer than usual
    for end in ends:
        if _is_text(content, end):
            continue
        near = [match.start() for match in _CELL_BEGIN.finditer(content, max(end - _USUAL_CELL, 0), end)]
        if not near:
            begins = begins or [0, *(match.start() for match in _CELL_BEGIN.finditer(content))]
            near = [begins[bisect_left(begins, end) - 1]]
        cell = content[near[-1] : end] if end - near[-1] <= _LONGEST_CELL else b""
        tag = cell.partition(b">")[0]
        place, formula = _place(tag), _FORMULA.search(cell)
        if place is not None and formula is not None and not _TEXT_TYPE.search(tag):
            yield place, "=" + _shown(formula[1] or b"")


def _is_text(content: bytes, end: int) -> bool:
    """Whether the cell that ends here says plainly that it is a text: most without a value are empty ones."""
    begin = content.rfind(b"<c ", max(end - _USUAL_CELL, 0), end)
    tag = content[begin : content.find(b">", begin) if begin >= 0 else begin]
    return b' t="str"' in tag and not any(sign in content[begin + 2 : end] for sign in (b"<c", b":c"))


def _place(tag: bytes) -> Place | None:
    """Where the cell stands that begins so."""
    match = _REFERENCE.search(tag)
    if match is None:
        return None
    column = 0
    for letter in match[1].upper():
        column = column * 26 + letter - 64
    return int(match[2]) - 1, column - 1


def _shown(markup: bytes) -> str:
    return unescape(markup.decode("utf-8", "replace"))[:_SHOWN]


def _in_ods(content: bytes) -> dict[str, Unseen]:
    """The errors, merged cells and notes of an `.ods`, where markup says that there are any."""
    telling = any(sign in content for sign in (b"-spanned=", b'value-type="error"', b"annotation"))
    if not telling and all(_HAS_VALUE.search(match[0]) for match in _ODS_FORMULA.finditer(content)):
        return {}
    found: dict[str, Unseen] = {}
    sheet, row, column, depth = Unseen(), 0, 0, 0
    for event, element in ElementTree.iterparse(io.BytesIO(content), ("start", "end")):
        if event == "start":
            if element.tag == f"{_TABLE}table":
                depth += 1
                if depth == 1:
                    sheet, row = Unseen(), 0
                    found[element.get(f"{_TABLE}name", "")] = sheet
            elif element.tag == f"{_TABLE}table-row":
                column = 0
        elif element.tag == f"{_TABLE}table":
            depth -= 1
        elif depth == 1 and element.tag == f"{_TABLE}table-row":
            row += _number(element, "number-rows-repeated")
            element.clear()
        elif depth == 1 and element.tag in {f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"}:
            _look_at(element, (row, column), sheet)
            column += _number(element, "number-columns-repeated")
    return {name: sheet for name, sheet in found.items() if sheet.valueless or sheet.merged or sheet.notes}


def _look_at(element: ElementTree.Element, place: Place, sheet: Unseen) -> None:
    """Write down what is unusual about one cell of an `.ods`."""
    rows, columns = _number(element, "number-rows-spanned"), _number(element, "number-columns-spanned")
    if rows > 1 or columns > 1:
        sheet.merged.append(MergedRange(*place, place[0] + rows - 1, place[1] + columns - 1))
    for note in element.findall(f"{_OFFICE}annotation"):
        text = " ".join(" ".join(part.itertext()) for part in note.findall(f"{_TEXT}p"))
        if text.strip():
            sheet.notes[place] = " ".join(text.split())
    if element.get(f"{_CALC}value-type") == "error":
        shown = "".join("".join(part.itertext()) for part in element.findall(f"{_TEXT}p"))
        sheet.valueless[place] = shown[:_SHOWN] or "an error"
    elif element.get(f"{_TABLE}formula") and not element.get(f"{_OFFICE}value-type"):
        sheet.valueless[place] = element.get(f"{_TABLE}formula", "")[:_SHOWN]


def _number(element: ElementTree.Element, name: str) -> int:
    text = element.get(f"{_TABLE}{name}", "1")
    return int(text) if text.isdecimal() and len(text) < 10 else 1
