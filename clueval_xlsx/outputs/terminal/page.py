"""A page in a terminal: rich folds words, columns go by rank, and rows with sentences become entries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from clueval_xlsx.outputs.terminal.layout import Room
from clueval_xlsx.pages.page import (
    Cell,
    Form,
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
    from rich.table import Table as Grid
    from rich.text import Text as Line

_COLOURS = {
    Tone.PLAIN: "",
    Tone.BOTH: "green",
    Tone.SOME: "yellow",
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


def page_parts(page: Page, room: Room) -> Iterator[RenderableType]:
    """The whole page; of a chapter that is one table only the first rows."""
    for place, chapter in enumerate(page.chapters):
        yield _line(f"{chapter.title} {chapter.count}".strip() if place else page.title, "bold")
        if not place:
            yield from map(_line, page.subtitle)
        for section in written(chapter):
            if section.title not in {"", page.title, chapter.title}:
                yield _line(section.title, "bold")
            yield from _laid_out(section, room, alone=len(chapter.sections) == 1)
            yield ""


def _laid_out(section: Text | Table, room: Room, *, alone: bool) -> Iterator[RenderableType]:
    """A section as what rich prints."""
    if isinstance(section, Text):
        lead = "– " if section.style is TextStyle.STEPS else ""
        for line in section.lines:
            text = _line(f"{lead}{plain(line)}", _STYLES.get(section.style, ""))
            if section.style is TextStyle.CODE:  # goes on in one line
                text.no_wrap, text.overflow = True, "ignore"
            yield text
        return
    if not section.rows:
        yield _line(section.empty)
        return
    rows = section.rows[: room.most] if alone else section.rows
    yield from _entries(section, rows) if section.listed else _table(section, rows, room)
    if len(rows) < len(section.rows):
        where = f"; {room.elsewhere} has them all" if room.elsewhere else ""
        yield _line(f"{len(section.rows) - len(rows)} more{where}.", "dim")
    for note in section.notes:
        yield _line(note, "dim")


def _line(cell: Cell, style: str = "") -> Line:
    """A cell with its colours, and signs for those who see none."""
    from rich.text import Text as Line

    return Line.assemble(*((run.text, _COLOURS[run.tone]) for run in signed(cell)), style=style)


def _table(table: Table, rows: Sequence[TableRow], room: Room) -> Iterator[RenderableType]:
    """Numbers are never broken; columns of the highest rank go until the rest fits, or rows become entries."""
    kept = list(range(len(table.columns)))
    least = [_least_width(table, place) for place in kept]
    for rank in sorted({column.rank for column in table.columns if column.rank}, reverse=True):
        if _fits(room, [least[place] for place in kept]):
            break
        kept = [place for place in kept if table.columns[place].rank != rank]
    if not _fits(room, [least[place] for place in kept]):
        yield from _as_lines(table, rows)
        return
    yield _grid(table, rows, kept, least, room)
    gone = dict.fromkeys(column.title for place, column in enumerate(table.columns) if place not in kept)
    if gone:
        remedy = f"a wider window or {room.elsewhere}" if room.elsewhere else "a wider window"
        yield _line(f"Left out for want of width: {', '.join(gone)}. To see it: {remedy}.", "dim")


def _fits(room: Room, widths: Iterable[int]) -> bool:
    return room.holds(sum(width + _GAP for width in widths))


def _least_width(table: Table, place: int) -> int:
    """What a column takes at least: numbers are never broken, words only between them."""
    from rich.cells import cell_len

    texts = [plain(row.cells[place], short=True) for row in table.rows]
    whole = texts if table.numeric(place) else [word for text in texts for word in text.split()]
    widest = max(map(cell_len, [*whole, *_heading(table, place).split()]), default=0)
    longest = max(map(cell_len, texts), default=0)
    return widest if place else max(widest, min(longest, _LEAST_NAME))


def _grid(table: Table, rows: Sequence[TableRow], kept: Sequence[int], least: Sequence[int], room: Room) -> Grid:
    from rich import box
    from rich.table import Table as Grid

    titles = [_heading(table, place) for place in kept]
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0), show_header=any(titles))
    for place, title in zip(kept, titles, strict=True):
        if table.numeric(place):
            grid.add_column(title, justify="right", width=least[place])
        else:
            grid.add_column(title, min_width=least[place], overflow="fold")
    for row in rows:
        if row.look in {Look.OPENS, Look.SUMMARY}:
            grid.add_section()
        cells = (_line(_shortened(row.cells[place])) for place in kept)
        grid.add_row(*cells, style=_LOOKS.get(row.look))
    grid.width = room.beyond(sum(least[place] + _GAP for place in kept))
    return grid


def _shortened(cell: Cell) -> Cell:
    return plain(cell, short=True) if isinstance(cell, Number) else cell


def _heading(table: Table, place: int) -> str:
    """A short heading; the sign of per cent stands here, not in the cells."""
    column = table.columns[place]
    cells = (row.cells[place] for row in table.rows)
    rates = any(isinstance(cell, Number) and cell.form is Form.RATE for cell in cells)
    return f"{column.short or column.title}{' %' if rates else ''}".strip()


def _as_lines(table: Table, rows: Sequence[TableRow]) -> Iterator[RenderableType]:
    """Each row as its name, and below it what each column says."""
    from rich.padding import Padding

    for row in rows:
        yield _line(row.cells[0], "bold")
        for column, cell in zip(table.columns[1:], row.cells[1:], strict=True):
            if text := plain(cell):
                yield Padding(_line(f"{column.title}: {text}"), (0, 0, 0, 2))


def _entries(table: Table, rows: Sequence[TableRow]) -> Iterator[RenderableType]:
    """What a row says in short as one line, its sentences below; columns that go first are left out."""
    from rich.padding import Padding

    for row in rows:
        pairs = list(zip(table.columns, row.cells, strict=True))
        heads = [plain(cell).replace("\n", ", ") for column, cell in pairs if not column.long and not column.rank]
        yield _line(" · ".join(text for text in heads if text), "bold")
        for column, cell in pairs:
            if column.long and plain(cell):
                yield Padding(_line(cell), (0, 0, 0, 2))
