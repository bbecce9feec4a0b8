"""Tables of a view in a terminal: numbers on the right, of the columns as many as there is room for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clueval_xlsx.outputs.terminal.layout import framed, least_width, short_text
from clueval_xlsx.views.tables import TableView, ValueKind
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType
    from rich.table import Table


def view_table(view: TableView, words: Words, width: int = 80, *, droppable: Sequence[str] = ()) -> Table:
    """A table; where it is too wide, columns go in the order of `droppable`."""
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
        if least_width(titles[1:], [row[1:] for row in rows], [row[0] for row in rows]) <= width:
            break
    rates = any(column.kind is ValueKind.RATE for column in columns)
    shown = framed(f"{view.title} ({words['metrics.per_cent']})" if rates else view.title)
    shown.add_column(titles[0], overflow="fold")
    for title in titles[1:]:
        shown.add_column(title, justify="right", no_wrap=True)
    for row in rows:
        shown.add_row(Text(row[0]), *row[1:])
    return shown


def text_table(view: TableView, words: Words, width: int = 80) -> RenderableType:
    """A table with words in several columns, which break between words; as lines where it is too wide for that."""
    from rich.console import Group
    from rich.text import Text

    kinds = [column.kind for column in view.columns]
    rows = [[short_text(value, kind, words) for value, kind in zip(row, kinds, strict=True)] for row in view.rows]
    titles = [column.title for column in view.columns]
    least = [
        max((len(word) for text in texts for word in (text.split() if kind is ValueKind.TEXT else [text])), default=0)
        for kind, *texts in zip(kinds, *rows, strict=True)
    ]
    least = [max(size, *(len(word) for word in title.split()), 0) for size, title in zip(least, titles, strict=True)]
    if sum(least) + 2 * len(least) > width:
        return _as_lines(view, titles, rows)
    shown = framed()
    shown.show_header = any(titles)
    for title, kind, size in zip(titles, kinds, least, strict=True):
        text = kind is ValueKind.TEXT
        shown.add_column(title, justify="left" if text else "right", min_width=size, max_width=None if text else size)
    for place, row in enumerate(rows):
        shown.add_row(*(Text(cell) for cell in row), style="dim" if place in view.faint else None)
    return Group(Text(view.title, style="bold"), shown) if view.title else shown


def _as_lines(view: TableView, titles: Sequence[str], rows: Sequence[Sequence[str]]) -> RenderableType:
    """Each row as its name, and below it what each column says."""
    from rich.console import Group
    from rich.padding import Padding
    from rich.text import Text

    found: list[RenderableType] = [Text(view.title, style="bold")] if view.title else []
    for name, *cells in rows:
        found.append(Padding(Text(f"{titles[0]}: {name}"), (0, 0, 0, 2)))
        found += [
            Padding(Text(f"{title}: {cell}"), (0, 0, 0, 4))
            for title, cell in zip(titles[1:], cells, strict=True)
            if cell
        ]
    return Group(*found)
