"""Checks of an `.xlsx` before a parser sees it: what its sheets and strings claim must be in proportion to the file.

A parser reserves room for the rectangle that a sheet's cells span, and for as many strings as a part says it has. A few
bytes can claim a cell at XFD1048576 and so ask for half a terabyte. Parts of usual size are gone through by an XML
parser. Large ones as every program writes them are looked at as bytes, for stray cells; whatever is odd about them is
parsed, too. What gets past this meets the limits of the process in which workbooks are parsed.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.markup import enough, go_through, local, whole_number
from clueval_xlsx.files.refusals import ASK_AGAIN, too_large

MOST_CELLS = 60_000_000
_ROOM = 2_000_000  # cells that a sheet may span however few it has
_EMPTY_PER_CELL = 40  # empty cells that may lie around each cell beyond that
_NARROWEST = 8  # cells that a row takes as much room as, however few it has
_SHEETS_ROOM = 2  # times that the room of one sheet may be used by all of them
_LARGE = 1 << 20  # bytes of a part that is not parsed if it looks as usual
_TEXT_ROOM = 32 * 1024 * 1024  # bytes of text that any file may unfold to
_TEXT_RATIO = 8  # beyond that: times its unpacked size
_MOST_MERGED = 200_000
_MOST_SHEETS = 1_000
_LONGEST_NAME = 1_000  # characters of a sheet's name
_LAST_COLUMN, _LAST_ROW = 16_384, 1_048_576

_REFERENCE = re.compile(r"\$?([A-Za-z]{1,3})\$?([0-9]{1,7})")
_ROW = re.compile(rb'<row r="([0-9]{1,7})"')
_CELL = re.compile(rb'<c r="([A-Z]{1,3})([0-9]{1,7})"')
_ODD = (  # rows and cells under another name, and such as do not begin with where they stand
    re.compile(rb":(?:c|row)[\s/>]"),
    re.compile(rb'<c(?=[\s/>])(?! r="[A-Z]{1,3}[0-9]{1,7}")'),
    re.compile(rb'<row(?=[\s/>])(?! r="[0-9]{1,7}")'),
)
_USUAL_WIDTH = 52  # AZ
_TEXT_TYPES = {"s"}


def check_xlsx(parts: Mapping[str, bytes], name: str) -> None:
    """Refuse what is out of proportion, with a message that says where and what."""
    by_name = {part.casefold(): content for part, content in parts.items()}
    _check_sheet_list(by_name, name)
    lengths = _string_lengths(by_name.get("xl/sharedstrings.xml", b""), f"{name}, xl/sharedStrings.xml")
    budget = _TEXT_ROOM + _TEXT_RATIO * sum(map(len, parts.values()))
    if "xl/styles.xml" in by_name:
        _check_styles(by_name["xl/styles.xml"], f"{name}, xl/styles.xml")
    empty = 0
    for part, content in parts.items():
        if not part.casefold().startswith("xl/worksheets/") or part.casefold().endswith(".rels"):
            continue
        where = f"{name}, {part}"
        if _looks_usual(content):
            empty += check_rectangle(*_usual_rectangle(content), where)
            check_empty_cells(empty, name)
            continue
        sheet = _Sheet(lengths, where)
        go_through(content, where, sheet.start, sheet.end, sheet.text)
        empty += check_rectangle(sheet.columns, sheet.rows, sheet.cells, where)
        check_empty_cells(empty, name)
        budget -= sheet.letters
        if budget < 0:
            raise too_large(where, "text that is repeated until it fills the memory", "text in proportion to the file")


def check_rectangle(columns: int, rows: int, cells: int, where: str) -> int:
    """Refuse a sheet that spans far more cells than it has; returns the empty ones that only the room allows."""
    area = max(columns, _NARROWEST) * rows
    if area > MOST_CELLS or area > _ROOM + _EMPTY_PER_CELL * cells:
        raise InputError(
            f"{where}: the sheet claims to reach column {columns:,} and row {rows:,}, but has {cells:,} cells. "
            f"Allowed: {min(MOST_CELLS, _ROOM + _EMPTY_PER_CELL * cells):,} cells in the rectangle that holds them "
            f"(a row counts as {_NARROWEST} at least). "
            "Delete the stray cells far right or far below, and save again."
        )
    return max(area - _EMPTY_PER_CELL * cells, 0)


def check_empty_cells(empty: int, where: str) -> None:
    """Refuse sheets that together span far more cells than they have."""
    if empty > _SHEETS_ROOM * _ROOM:
        raise InputError(
            f"{where}: the sheets span {empty:,} empty cells. Allowed: {_SHEETS_ROOM * _ROOM:,} in all sheets "
            "together. Delete the stray cells far right or far below, and save again."
        )


def _check_sheet_list(parts: Mapping[str, bytes], name: str) -> None:
    """Every sheet has a part of its own: one part that is read a thousand times fills the memory, too."""
    targets: dict[str, str] = {}

    def relation(tag: str, attributes: Mapping[str, str]) -> None:
        if local(tag) == "Relationship":
            targets[attributes.get("Id", "")] = attributes.get("Target", "")

    where = f"{name}, xl/_rels/workbook.xml.rels"
    if "xl/_rels/workbook.xml.rels" in parts:
        go_through(parts["xl/_rels/workbook.xml.rels"], where, relation)
    seen: set[str] = set()
    names: set[str] = set()
    count = 0

    def sheet(tag: str, attributes: Mapping[str, str]) -> None:
        nonlocal count
        if local(tag) != "sheet":
            return
        count += 1
        if count > _MOST_SHEETS:
            raise too_large(f"{name}, xl/workbook.xml", f"more than {_MOST_SHEETS:,} sheets", f"{_MOST_SHEETS:,}")
        check_sheet_name(attributes.get("name", ""), names, f"{name}, xl/workbook.xml")
        key = next((value for attribute, value in attributes.items() if local(attribute) == "id"), "")
        target = posixpath.normpath(posixpath.join("/xl", targets.get(key, ""))).casefold()
        if target in seen and target != "/xl":
            raise InputError(
                f"{name}, xl/workbook.xml: found two sheets with the same part {target!r}. Allowed: a part for each "
                "sheet. The file is refused; open it in Excel or LibreOffice and save it."
            )
        seen.add(target)

    go_through(parts["xl/workbook.xml"], f"{name}, xl/workbook.xml", sheet)


def check_sheet_name(sheet: str, names: set[str], where: str) -> None:
    """Refuse a name that would fill every message that speaks of it, or that another sheet has; `names` are those.

    A parser finds sheets by their names: it would read the first one twice, and nobody would miss the other.
    """
    if len(sheet) > _LONGEST_NAME:
        raise InputError(
            f"{where}: found a sheet whose name has {len(sheet):,} characters, {sheet[:40]!r} and so on. Allowed: "
            f"{_LONGEST_NAME:,}; Excel takes 31. Rename the sheet."
        )
    if sheet in names:
        raise InputError(f"{where}: found two sheets named {sheet[:40]!r}. Allowed: a name for each. Rename one.")
    names.add(sheet)


def _check_styles(content: bytes, where: str) -> None:
    """Number formats are few; a parser keeps them all."""
    if len(content) <= _LARGE:
        go_through(content, where, lambda _tag, _attributes: None)


def _string_lengths(content: bytes, where: str) -> list[int]:
    """The lengths of the shared strings in bytes, comments and markup included in none of them."""
    lengths: list[int] = []
    if not content:
        return lengths

    def start(tag: str, attributes: Mapping[str, str]) -> None:
        name = local(tag)
        if name == "sst":
            for key in ("count", "uniqueCount"):
                _check_count(attributes.get(key), len(content), where, key)
        elif name == "si":
            lengths.append(0)

    def first(tag: str, attributes: Mapping[str, str]) -> None:
        start(tag, attributes)
        enough()

    def text(data: str) -> None:
        if lengths:
            lengths[-1] += len(data)

    if len(content) > _LARGE and b"<!" not in content:
        go_through(content, where, first)  # its claims stand at its head; whether its strings recur, the limits tell
        return lengths
    go_through(content, where, start, None, text)
    return lengths


def _check_count(value: str | None, size: int, where: str, key: str) -> None:
    """A number of strings that cannot be right: each takes some bytes, and unique ones stand in the part."""
    if value is None:
        return
    most = size if key == "uniqueCount" else 1 << 40
    if whole_number(value, most) is None:
        raise too_large(where, f"{key}={value[:40]!r} in a part of {size:,} bytes", "the number of strings there are")


def _looks_usual(content: bytes) -> bool:
    """Whether a large sheet is written as every program writes them, so that its bytes tell what is in it.

    Each row and each cell begins with its name as the first attribute: nothing that stands behind it, in whatever
    quotation marks, can be taken for the name. Anything else is parsed.
    """
    if len(content) <= _LARGE or b"<!" in content or any(odd.search(content) for odd in _ODD):
        return False
    return content.count(b"mergeCell ") <= _MOST_MERGED


def _usual_rectangle(content: bytes) -> tuple[int, int, int]:
    """How far such a sheet reaches, and how many cells it has."""
    cells = content.count(b"<c ")
    rows = max((int(number) for number in _ROW.findall(content)), default=0)
    # A cell may name a row that it does not stand in. Those of as many digits are the most that it can be.
    area = _USUAL_WIDTH * (10 ** len(str(rows)) - 1)
    astray = re.compile(rb'<c r="(?:[A-Z]{3}|[B-Z][A-Z]|[A-Z]{1,2}[0-9]{%d})' % (len(str(rows)) + 1))
    if area <= min(_ROOM + _EMPTY_PER_CELL * cells, MOST_CELLS) and astray.search(content) is None:
        return _USUAL_WIDTH, rows, cells
    names = _CELL.findall(content)
    columns = max(map(_column, {letters for letters, _ in names}), default=0)
    return columns, max((int(number) for _, number in names), default=rows), cells


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number


@dataclass
class _Sheet:
    """What the cells of a sheet claim, gathered while it is gone through."""

    lengths: list[int]
    where: str
    columns: int = 0
    rows: int = 0
    cells: int = 0
    letters: int = 0
    _row: int = 0
    _column: int = 0
    _merged: int = 0
    _shared: bool = False
    _inside: list[str] = field(default_factory=list)
    _value: str = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        name = local(tag)
        if name == "row":
            self._begin_row(attributes.get("r"))
        elif name == "c":
            self._begin_cell(attributes)
        elif name == "v":
            self._value = ""
            self._inside.append(name)
        elif name == "mergeCell":
            self._merged += 1
            if self._merged > _MOST_MERGED:
                raise too_large(self.where, f"more than {_MOST_MERGED:,} merged cells", f"{_MOST_MERGED:,}")

    def end(self, tag: str) -> None:
        """An element ends."""
        if local(tag) == "v" and self._inside:
            self._inside.pop()
            self.letters += self._text_length()

    def text(self, data: str) -> None:
        """Text of any element."""
        if self._inside:
            self._value += data[:40] if len(self._value) < 40 else ""
        self.letters += len(data)

    def _text_length(self) -> int:
        """How much text a value stands for."""
        if not self._shared or not self.lengths:
            return 0
        try:
            number = int(self._value)
        except ValueError:
            return 0
        return self.lengths[number] if 0 <= number < len(self.lengths) else 0

    def _begin_row(self, number: str | None) -> None:
        self._column = 0
        if number is None:
            self._row += 1
            return
        found = whole_number(number.strip(), _LAST_ROW)
        if not found:
            raise InputError(
                f"{self.where}: found {number[:40]!r} as a row's number. Allowed: 1 to {_LAST_ROW:,}. {ASK_AGAIN}"
            )
        self._row = found

    def _begin_cell(self, attributes: Mapping[str, str]) -> None:
        self.cells += 1
        self._shared = attributes.get("t", "").strip() in _TEXT_TYPES
        reference = attributes.get("r")
        if reference is None:
            self._column += 1
            self._row = self._row or 1
        else:
            match = _REFERENCE.fullmatch(reference.strip())
            column = _column(match[1].encode()) if match else 0
            row = int(match[2]) if match else 0
            if not 0 < column <= _LAST_COLUMN or not 0 < row <= _LAST_ROW:
                raise InputError(
                    f"{self.where}: found {reference[:40]!r} as the name of a cell. Allowed: A1 to XFD1048576. "
                    f"{ASK_AGAIN}"
                )
            self._column, self._row = column, row
        self.columns, self.rows = max(self.columns, self._column), max(self.rows, self._row)
