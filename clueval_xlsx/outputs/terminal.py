"""A page in a terminal: rich folds words, columns go by rank, and rows with sentences become entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from clueval_xlsx.pages.page import (
    Cell,
    Form,
    Heading,
    Look,
    Number,
    Page,
    Table,
    TableRow,
    Text,
    TextStyle,
    Tone,
    plain,
    signed,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.text import Text as Line

_COLOURS = {
    Tone.BOTH: "green",
    Tone.GOLD: "red",
    Tone.PRED: "dark_orange",
    Tone.NOBODY: "dim",
    Tone.KEPT: "bold",
    Tone.STRUCK: "red strike",
    Tone.INSERTED: "green bold underline",
    Tone.ALARM: "red bold",
}
_STYLES = {TextStyle.HEADLINE: "bold", TextStyle.NOTE: "dim", TextStyle.CODE: "dim"}
_LOOKS = {Look.CHOSEN: "bold", Look.FAINT: "dim"}
_GAP = 2  # columns of the terminal between two of a table
_LEAST_NAME = 16


@dataclass(frozen=True)
class Room:
    """How wide tables may be.

    Only a `screen` has too little room: a file or a program gets every column, in lines as long as they must be.
    `elsewhere` names the options that show what a screen has no room for; of lists the first `most` rows are shown.
    """

    columns: int = 80
    screen: bool = True
    elsewhere: str = ""
    most: int = 10


def page_parts(page: Page, room: Room) -> Iterator[RenderableType]:
    """The whole page; of a chapter that is one table only the first rows."""
    for place, chapter in enumerate(page.chapters):
        yield _line(f"{chapter.title} {chapter.count}".strip() if place else page.title, "bold")
        if not place:
            yield from map(_line, page.subtitle)
        for section in written(chapter):
            if section.title not in {"", page.title, chapter.title}:
                yield _line(section.title, "bold")
            if isinstance(section, Text):
                yield from _paragraphs(section)
            else:
                yield from _table(section, room, alone=len(chapter.sections) == 1)
            yield ""


def _line(cell: Cell, style: str = "", between: str = "\n") -> Line:
    """A cell with its colours, and signs for those who see none; `between` stands between its lines."""
    from rich.text import Text as Line

    runs = [(run.text.replace("\n", between), _COLOURS.get(run.tone, "")) for run in signed(cell)]
    return Line.assemble(*runs, style=style)


def _indented(cell: Cell) -> RenderableType:
    from rich.padding import Padding

    return Padding(_line(cell), (0, 0, 0, 2))


def _paragraphs(section: Text) -> Iterator[RenderableType]:
    lead = "– " if section.style is TextStyle.STEPS else ""
    for cell in section.lines:
        line = _line(f"{lead}{plain(cell)}", _STYLES.get(section.style, ""))
        if section.style is TextStyle.CODE:  # goes on in one line
            line.no_wrap, line.overflow = True, "ignore"
        yield line


def _table(table: Table, room: Room, *, alone: bool) -> Iterator[RenderableType]:
    """As a grid, as entries where rows hold sentences, or row by row where no grid fits."""
    if not table.rows:
        yield _line(table.empty)
        return
    rows = table.rows[: room.most] if alone else table.rows
    places = _fitting(table, room)
    if table.listed:
        for row in rows:
            yield from _entry(table, row)
    elif places:
        yield _grid(table, rows, places, room)
        gone = dict.fromkeys(column.title for place, column in enumerate(table.columns) if place not in places)
        if gone:
            remedy = f"a wider window or {room.elsewhere}" if room.elsewhere else "a wider window"
            yield _line(f"Left out for want of width: {', '.join(gone)}. To see it: {remedy}.", "dim")
    else:
        for row in rows:
            yield _line(row.cells[0], "bold")
            for column, cell in _named(table, row)[1:]:
                yield _indented(f"{column.title}: {plain(cell)}")
    if len(rows) < len(table.rows):
        where = f"; {room.elsewhere} has them all" if room.elsewhere else ""
        yield _line(f"{len(table.rows) - len(rows)} more{where}.", "dim")
    for note in table.notes:
        yield _line(note, "dim")


def _named(table: Table, row: TableRow) -> list[tuple[Heading, Cell]]:
    """The cells of a row that say something, under their headings."""
    return [(column, cell) for column, cell in zip(table.columns, row.cells, strict=True) if plain(cell)]


def _entry(table: Table, row: TableRow) -> Iterator[RenderableType]:
    """What a row says in short as one line, its sentences below; columns that go first are left out."""
    from rich.text import Text as Line

    cells = _named(table, row)
    heads = [_line(cell, "bold", ", ") for column, cell in cells if not column.long and not column.rank]
    yield Line(" · ").join(heads)
    for column, cell in cells:
        if column.long:
            yield _indented(cell)


def _fitting(table: Table, room: Room) -> list[int]:
    """The columns that there is room for: those of the highest rank go first; none where the rest does not fit."""
    places = list(range(len(table.columns)))
    ranks = sorted({column.rank for column in table.columns if column.rank}, reverse=True)
    while room.screen and _width(table, places) > room.columns:
        if not ranks:
            return []
        rank = ranks.pop(0)
        places = [place for place in places if table.columns[place].rank != rank]
    return places


def _width(table: Table, places: Sequence[int]) -> int:
    return sum(_least_width(table, place) + _GAP for place in places)


def _least_width(table: Table, place: int) -> int:
    """What a column takes at least: numbers are never broken, words only between them."""
    from rich.cells import cell_len

    texts = [plain(row.cells[place], short=True) for row in table.rows]
    whole = texts if table.numeric(place) else [word for text in texts for word in text.split()]
    widest = max(map(cell_len, [*whole, *_heading(table, place).split()]), default=0)
    longest = max(map(cell_len, texts), default=0)
    return widest if place else max(widest, min(longest, _LEAST_NAME))


def _grid(table: Table, rows: Sequence[TableRow], places: Sequence[int], room: Room) -> RenderableType:
    from rich import box
    from rich.table import Table as Grid

    titles = [_heading(table, place) for place in places]
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_header=any(titles))
    for place, title in zip(places, titles, strict=True):
        least = _least_width(table, place)
        if table.numeric(place):
            grid.add_column(title, justify="right", width=least)
        else:
            grid.add_column(title, min_width=least, overflow="fold")
    for row in rows:
        if row.look in {Look.OPENS, Look.SUMMARY}:
            grid.add_section()
        cells = [row.cells[place] for place in places]
        shown = [plain(cell, short=True) if isinstance(cell, Number) else cell for cell in cells]
        grid.add_row(*map(_line, shown), style=_LOOKS.get(row.look))
    width = _width(table, places)
    if not room.screen and width > room.columns:  # lines are as long as they must be
        grid.width = width
    return grid


def _heading(table: Table, place: int) -> str:
    """A short heading; the sign of per cent stands here, not in the cells."""
    column = table.columns[place]
    cells = (row.cells[place] for row in table.rows)
    rates = any(isinstance(cell, Number) and cell.form is Form.RATE for cell in cells)
    return f"{column.short or column.title}{' %' if rates else ''}".strip()
