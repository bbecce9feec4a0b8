"""Tables of a view in a terminal: numbers on the right, of the columns as many as there is room for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clueval_xlsx.outputs.terminal.layout import GAP, Room, framed, least_width, short_text, with_left_out
from clueval_xlsx.views.tables import TableView, ValueKind
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

_LEAST_FOR_FOLDED_NAMES = 8


def view_table(view: TableView, words: Words, room: Room, *, droppable: Sequence[str] = ()) -> RenderableType:
    """A table; where it is too wide, columns go in the order of `droppable`, and if that is not enough, as lines."""
    from rich.text import Text

    keys = [column.key for column in view.columns]
    for dropped in range(len(droppable) + 1):
        kept = [place for place, key in enumerate(keys) if key not in droppable[:dropped]]
        columns = [view.columns[place] for place in kept]
        short = words["metrics.interval_short"]
        titles = [short if column.kind is ValueKind.INTERVAL else column.title for column in columns]
        rows = [
            [short_text(row[place], column.kind, words) for place, column in zip(kept, columns, strict=True)]
            for row in view.rows
        ]
        figures = [row[1:] for row in rows]
        least = least_width(titles[1:], figures, [row[0] for row in rows])
        if room.holds(least):
            break
    rates = any(column.kind is ValueKind.RATE for column in columns)
    title = f"{view.title} ({words['metrics.per_cent']})" if rates else view.title
    if not room.holds(least_width(titles[1:], figures, [" " * _LEAST_FOR_FOLDED_NAMES])):
        return _as_lines(title, [column.title for column in columns], rows)
    shown = framed(title)
    shown.width = room.beyond(least)
    shown.add_column(titles[0], overflow="fold")
    for title in titles[1:]:
        shown.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        shown.add_row(Text(row[0]), *row[1:])
    left_out = [column.title for column in view.columns if column.key in droppable[:dropped]]
    return with_left_out(shown, left_out, room)


def text_table(view: TableView, words: Words, room: Room) -> RenderableType:
    """A table with words in several columns, which break between words; as lines where it is too wide for that."""
    from rich.cells import cell_len
    from rich.console import Group
    from rich.text import Text

    kinds = [column.kind for column in view.columns]
    rows = [[short_text(value, kind, words) for value, kind in zip(row, kinds, strict=True)] for row in view.rows]
    titles = [column.title for column in view.columns]
    least, most = [], []
    for title, kind, *texts in zip(titles, kinds, *rows, strict=True):
        whole = [] if kind is ValueKind.TEXT else texts  # numbers are never broken
        broken = [word for text in (title, *(texts if kind is ValueKind.TEXT else ())) for word in text.split()]
        least.append(max(map(cell_len, [*whole, *broken]), default=0))
        lines = [line for text in texts for line in text.splitlines()] if kind is ValueKind.TEXT else []
        most.append(max(least[-1], *map(cell_len, [*lines, *([title] if lines else [])]), 0))
    spare = room.columns - sum(least) - GAP * len(least)
    if spare < 0:
        return _as_lines(view.title, titles, rows)
    shown = framed()
    shown.show_header = any(titles)
    for title, kind, size in zip(titles, kinds, _shared_out(spare, least, most), strict=True):
        shown.add_column(title, justify="left" if kind is ValueKind.TEXT else "right", width=size)
    for place, row in enumerate(rows):
        shown.add_row(*(Text(cell) for cell in row), style="dim" if place in view.faint else None)
    return Group(Text(view.title, style="bold"), shown) if view.title else shown


def _shared_out(spare: int, least: Sequence[int], most: Sequence[int]) -> list[int]:
    """The widths of columns that have at least and want at most so much; what is to spare goes where most is wanted.

    >>> _shared_out(5, [4, 9, 5], [10, 10, 5])
    [9, 9, 5]
    """
    widths = list(least)
    for _ in range(min(spare, sum(most) - sum(least))):
        neediest = max(range(len(widths)), key=lambda place: most[place] - widths[place])
        widths[neediest] += 1
    return widths


def _as_lines(title: str, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> RenderableType:
    """Each row as its name, and below it what each column says."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    found: list[RenderableType] = [Text(title, style="bold")] if title else []
    for name, *cells in rows:
        found.append(Padding(Text(f"{titles[0]}: {name}"), (0, 0, 0, 2)))
        found += [
            Padding(Text(f"{heading}: {cell}"), (0, 0, 0, 4))
            for heading, cell in zip(titles[1:], cells, strict=True)
            if cell
        ]
    return Group(*found)
