"""The first lines of a token file as cells: which lines are tokens, what separates their columns, the header."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clueval_xlsx.corpus.tags import OUTSIDE_MARKS, parse_tag
from clueval_xlsx.formats.columns.structure import LineRules, conll_mark

_BYTES = 1 << 20
TOKEN_NAMES = frozenset({"token", "tokens", "word", "words", "form", "wordform"})
_GLOBAL_COLUMNS = re.compile(r"#\s*global\.columns\s*=\s*(.+)")
_BLANKS = re.compile(r"[ \t]+")  # what separates columns; a no-break space belongs to its token


@dataclass(frozen=True)
class SampledLines:
    """The cells of token lines, and whether a sentence begins before each."""

    rows: tuple[tuple[str, ...], ...]
    starts: tuple[bool, ...]
    names: tuple[str, ...] = ()
    header: bytes = b""
    tabs: bool = True
    shared: int = 0  # the number of columns that every line has; 0 where they differ

    @property
    def width(self) -> int:
        """How many columns most lines have, the larger number of equals."""
        counts = Counter(len(row) for row in self.rows)
        return max(counts, key=lambda size: (counts[size], size), default=0)

    def column(self, number: int) -> list[str]:
        """The cells of a column, counted from 1."""
        return [row[number - 1] for row in self.rows if len(row) >= number]


def _lines(data: bytes, begin: int, most: int | None) -> Iterator[str]:
    text = data[begin : begin + _BYTES] if most is not None else data[begin:]
    pieces = text.split(b"\n")
    if most is not None and len(data) > begin + _BYTES:
        pieces = pieces[:-1]
    for piece in pieces:
        yield piece.rstrip(b"\r\0").decode("utf-8", "replace")


def take_sample(data: bytes, begin: int, most: int | None, *, conll: bool, tabs_only: bool = False) -> SampledLines:
    """The cells of the first lines that are tokens, or of all."""
    rules = LineRules(conll=conll, columns=2)
    kept: list[str] = []
    starts: list[bool] = []
    names: tuple[str, ...] = ()
    fresh = True
    for line in _lines(data, begin, most):
        if not line.strip():
            fresh = True
            continue
        declared = _GLOBAL_COLUMNS.match(line)
        if declared:
            names = tuple(declared[1].split())
            continue
        if _is_structure(line, rules):
            continue
        kept.append(line)
        starts.append(fresh)
        fresh = False
        if most is not None and len(kept) > most:
            break
    tabs = tabs_only or not conll or _by_tabs(kept)
    rows = [tuple(line.split("\t") if tabs else blank_cells(line)) for line in kept]
    width = _shared_width(rows) if conll else 0
    if width:  # a line with # that has another number of columns is a comment
        mine = [
            number for number, row in enumerate(rows) if len(row) == width or _is_tag(row[-1]) or not _is_remark(row)
        ]
        kept, rows, starts = ([each[number] for number in mine] for each in (kept, rows, starts))  # type: ignore[assignment]
    header = b""
    if rows and _is_header(rows[0]):
        names, header = tuple(cell.strip() for cell in rows[0]), kept[0].encode("utf-8")
        rows, starts = rows[1:], starts[1:]
    return SampledLines(tuple(rows), tuple(starts), names, header, tabs, width)


def blank_cells(line: str) -> list[str]:
    """The columns of a line that blanks separate.

    >>> blank_cells("10\\u00a0000  O ")
    ['10\\xa0000', 'O']
    """
    return _BLANKS.split(line.strip(" \t"))


def _shared_width(rows: Sequence[tuple[str, ...]]) -> int:
    """How many columns every line has that does not begin with #; 0 where they differ."""
    widths = {len(row) for row in rows if not _is_remark(row)}
    return widths.pop() if len(widths) == 1 else 0


def _is_remark(row: Sequence[str]) -> bool:
    return row[0].lstrip(" ").startswith("#")


def _is_structure(line: str, rules: LineRules) -> bool:
    if rules.conll:
        return conll_mark(line.encode("utf-8"), len(blank_cells(line)), rules) is not None
    return line.startswith("<") and "\t" not in line and line.rstrip().endswith(">")


def _by_tabs(lines: Sequence[str]) -> bool:
    """Whether only tabs separate columns: blanks would cut lines into different numbers of them."""
    blanks = {len(blank_cells(line)) for line in lines if not line.startswith("#")}
    tabs = {line.count("\t") for line in lines if not line.startswith("#")}
    return len(blanks) > 1 and len(tabs) == 1 and tabs != {0}


def _is_header(cells: Sequence[str]) -> bool:
    """Whether a first line names the columns: one is called token or the like, and none holds a tag."""
    names = [cell.strip().strip('"').casefold() for cell in cells]
    return bool(TOKEN_NAMES & set(names)) and not any(_is_tag(cell.strip()) for cell in cells)


def _is_tag(cell: str) -> bool:
    return cell in OUTSIDE_MARKS or (cell[1:2] == "-" and parse_tag(cell) is not None)
