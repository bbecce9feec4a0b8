"""Checks of an `.ods` before a parser sees it: what its repetitions unfold to must be in proportion to the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from clueval_xlsx.exceptions import InputError
from clueval_xlsx.files.markup import go_through, whole_number
from clueval_xlsx.files.refusals import ASK_AGAIN, too_large
from clueval_xlsx.files.xlsx_checks import MOST_CELLS, check_empty_cells, check_rectangle, check_sheet_name

_LARGE = 4 << 20  # bytes of a part that is not gone through
_MOST_REPEATED = 1 << 30
_MOST_SPACES = 100_000
_TEXT_ROOM = 32 * 1024 * 1024  # characters that any file may unfold to
_TEXT_RATIO = 8  # beyond that: times its unpacked size
_NAMESPACES = {
    "office": "urn:oasis:names:tc:opendocument:xmlns:office:1.0",
    "table": "urn:oasis:names:tc:opendocument:xmlns:table:1.0",
    "text": "urn:oasis:names:tc:opendocument:xmlns:text:1.0",
}
_PREFIXES = {address: prefix for prefix, address in _NAMESPACES.items()}
_CELLS = {"table:table-cell", "table:covered-table-cell"}


def check_ods(parts: Mapping[str, bytes], name: str) -> None:
    """Refuse tables whose repeated rows, columns and texts unfold beyond measure."""
    content = next((content for part, content in parts.items() if part.casefold() == "content.xml"), b"<x/>")
    if len(content) > _LARGE and b"<!" not in content:
        return  # it would take as long again as reading it: the limits of the process that does must be enough
    book = _Book(f"{name}, content.xml", _TEXT_ROOM + _TEXT_RATIO * len(content))
    go_through(content, book.where, book.start, book.end, book.text)


@dataclass
class _Table:
    """How far a table reaches so far."""

    row: int = 0
    widest: int = 0
    deepest: int = 0
    cells: int = 0


@dataclass
class _Book:
    """What the tables claim, gathered while the content is gone through."""

    where: str
    budget: int  # characters of text that may still unfold
    area: int = 0  # cells of all tables before this one
    _empty: int = 0  # empty cells that they span beyond measure
    _names: set[str] = field(default_factory=set)
    _table: _Table | None = None
    _column: int = 0
    _row_repeat: int = 1
    _row_filled: bool = False
    _cell_repeat: int = 1
    _cell_letters: int = 0
    _cell_filled: bool = False
    _in_cell: int = 0
    _row_letters: int = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins."""
        self._check_prefixes(attributes)
        if tag == "table:table":
            if self._table is not None:
                raise InputError(
                    f"{self.where}: found a table inside a table. Allowed: sheets beside each other. {ASK_AGAIN}"
                )
            check_sheet_name(attributes.get("table:name", ""), self._names, self.where)
            self._table = _Table()
        elif tag == "table:table-row":
            self._column, self._row_filled, self._row_letters = 0, False, 0
            self._row_repeat = self._repeat(attributes, "table:number-rows-repeated")
        elif tag in _CELLS:
            self._in_cell += 1
            self._cell_repeat = self._repeat(attributes, "table:number-columns-repeated")
            self._cell_letters = sum(map(len, attributes.values()))
            self._cell_filled = any(key.startswith("office:") or key == "table:formula" for key in attributes)
        elif tag == "text:s":
            spaces = whole_number(attributes.get("text:c", "1").strip(), _MOST_SPACES)
            if spaces is None:
                raise too_large(self.where, f"{attributes.get('text:c', '')[:40]!r} spaces", f"{_MOST_SPACES:,}")
            self._cell_letters += spaces
        elif self._in_cell:
            self._cell_filled = True

    def end(self, tag: str) -> None:
        """An element ends."""
        if tag in _CELLS:
            self._end_cell()
        elif tag == "table:table-row" and self._table is not None:
            self._table.row += self._row_repeat
            if self._row_filled:
                self._table.deepest = self._table.row
                check_rectangle(self._table.widest, self._table.deepest, self._table.cells, self.where)
            self.budget -= self._row_letters * self._row_repeat
            if self.budget < 0:
                raise too_large(
                    self.where, "text that is repeated until it fills the memory", "text in proportion to the file"
                )
        elif tag == "table:table" and self._table is not None:
            self.area += self._table.widest * self._table.deepest
            self._empty += check_rectangle(self._table.widest, self._table.deepest, self._table.cells, self.where)
            check_empty_cells(self._empty, self.where)
            if self.area > MOST_CELLS:
                raise too_large(self.where, f"{self.area:,} cells in all sheets", f"{MOST_CELLS:,}")
            self._table = None

    def text(self, data: str) -> None:
        """Text of any element."""
        if self._in_cell:
            self._cell_letters += len(data)
            self._cell_filled = self._cell_filled or not data.isspace()

    def _end_cell(self) -> None:
        self._in_cell -= 1
        self._column += self._cell_repeat
        if self._cell_filled and self._table is not None:
            self._row_filled = True
            self._table.widest = max(self._table.widest, self._column)
            self._table.cells += 1
            self._row_letters += self._cell_letters * self._cell_repeat

    def _repeat(self, attributes: Mapping[str, str], name: str) -> int:
        text = attributes.get(name, "1").strip()
        number = whole_number(text, _MOST_REPEATED)
        if number is None:
            raise InputError(
                f"{self.where}: found {text[:40]!r} as a number of repetitions. Allowed: whole numbers. {ASK_AGAIN}"
            )
        return max(number, 1)

    def _check_prefixes(self, attributes: Mapping[str, str]) -> None:
        """Every program writes the same prefixes; a reader goes by them, and would not see what others stand for."""
        for name, value in attributes.items():
            prefix = name.removeprefix("xmlns:") if name.startswith("xmlns") else ""
            if prefix and (_PREFIXES.get(value, prefix) != prefix or _NAMESPACES.get(prefix, value) != value):
                raise InputError(
                    f"{self.where}: found {name}={value[:80]!r}. Allowed: the prefixes office, table and text for what "
                    "every spreadsheet program uses them for. Open the file, save it, and send that."
                )
