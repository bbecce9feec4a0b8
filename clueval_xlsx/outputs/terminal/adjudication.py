"""What came of a re-import, for a terminal: the page of the lead, in the order of workbook and HTML."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from clueval_xlsx.outputs.terminal.layout import Room
from clueval_xlsx.outputs.terminal.scores import score_table
from clueval_xlsx.outputs.terminal.tables import text_table
from clueval_xlsx.review.adjudication_words import INSERTED, KEPT, STRUCK
from clueval_xlsx.views import numbers
from clueval_xlsx.views.adjudication import AdjudicationView
from clueval_xlsx.views.overview import Tile
from clueval_xlsx.views.tables import (
    TableColumn,
    TableRow,
    TableValue,
    TableView,
    WordDifference,
    value_text,
)
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.text import Text

MOST_SHOWN = 20  # entries of a list
_STYLES = {KEPT: "bold", STRUCK: "red strike", INSERTED: "green bold underline"}
_APART = " · "
_ENTRIES = ("changes", "conflicts", "unusable")  # lists that are no tables


def adjudication_page(
    view: AdjudicationView, words: Words, room: Room, *, most: int = MOST_SHOWN
) -> Iterator[RenderableType]:
    """The headline, large figures, what is next, before and after, tables, and of each list so many entries at most."""
    from rich.text import Text

    yield Text(words["adjudicated.title"], style="bold")
    yield Text(view.headline)
    yield Text()
    yield text_table(_tile_table(view.tiles, words), words, room)
    yield Text(words["lead.next_title"], style="bold")
    for step in view.next_steps:
        yield from _indented(f"– {step.text}")
        if step.command:
            yield from _indented(step.command, 4)
    yield Text()
    yield score_table(view.states, words, room)
    yield Text(view.unseen, style="dim")
    for table in view.tables:
        yield Text()
        yield from _shown(table, words, room)
    for table in view.lists:
        yield Text()
        yield from _list(table, words, room, most)


def _tile_table(tiles: tuple[Tile, ...], words: Words) -> TableView:
    """The large figures as a table without headings."""
    rows = []
    for tile in tiles:
        between = numbers.interval(tile.value.low, tile.value.high, words)
        note = f"{words('metrics.between', interval=between)}, {tile.note}" if between else tile.note
        rows.append((tile.name, value_text(tile.value.value, tile.kind, words), note))
    return TableView("tiles", "", tuple(TableColumn(key, "") for key in ("name", "value", "note")), tuple(rows))


def _shown(table: TableView, words: Words, room: Room) -> Iterator[RenderableType]:
    from rich.text import Text

    yield text_table(table, words, room)
    if table.note:
        yield Text(table.note, style="dim")


def _list(table: TableView, words: Words, room: Room, most: int) -> Iterator[RenderableType]:
    """A list under its title; of a long one the first entries, and where the others are."""
    from rich.text import Text

    if not table.rows:
        yield Text(table.title, style="bold")
        yield Text(table.empty)
        return
    groups = table.groups()
    if table.key in _ENTRIES:
        yield Text(table.title, style="bold")
        if table.note:
            yield Text(table.note, style="dim")
        for group in groups[:most]:
            yield from _entry(table, group, words, room)
    else:
        first = TableView(table.key, table.title, table.columns, table.rows[:most], faint=table.faint)
        yield text_table(first, words, room)
        if table.note:
            yield Text(table.note, style="dim")
    if len(groups) > most:
        yield Text(f"{len(groups) - most} more; --report, --html and --json list them.")


def _entry(table: TableView, group: tuple[TableRow, ...], words: Words, room: Room) -> Iterator[RenderableType]:
    """One entry of a list that is no table."""
    cells = _cells(table, group[0])
    if table.key == "changes":
        yield from _change(cells)
    elif table.key == "conflicts":
        yield from _conflict(cells, words)
        yield from _said(table, group, words, room)
    else:
        yield from _unusable(cells, words)


def _change(cells: dict[str, TableValue]) -> Iterator[RenderableType]:
    """Which case and what was decided, then the sentence, then the labels."""
    from rich.padding import Padding

    heads = [str(cells[key]) for key in ("case", "document", "judgement", "who", "comment") if cells[key]]
    yield from _indented(_APART.join(heads))
    for key in ("difference", "labels"):
        value = cells[key]
        if isinstance(value, WordDifference):
            yield Padding(_difference(value), (0, 0, 0, 4))


def _difference(value: WordDifference) -> Text:
    from rich.text import Text

    return Text.assemble(*((piece.text, _STYLES.get(piece.mark, "")) for piece in value.signed))


def _conflict(cells: dict[str, TableValue], words: Words) -> Iterator[RenderableType]:
    """What is at stake, why it was not carried out, and what to do."""
    heads = [str(cells[key]) for key in ("cases", "document")]
    yield from _indented(_APART.join([*heads, words("quoted", text=cells["words"])]))
    yield from _indented(f"{cells['kind']} {cells['hint']}", 4)


def _said(table: TableView, group: tuple[TableRow, ...], words: Words, room: Room) -> Iterator[RenderableType]:
    """What everybody said, as a small table without empty columns."""
    from rich.padding import Padding

    last = len(table.columns) - 1  # the cells go below: they are long, and nobody reads them first
    used = [place for place in range(table.shared, last) if any(row[place] for row in group)]
    columns = tuple(table.columns[place] for place in used)
    said = TableView(table.key, "", columns, tuple(tuple(row[place] for place in used) for row in group))
    yield Padding(text_table(said, words, replace(room, columns=room.columns - 4)), (0, 0, 0, 4))
    places = dict.fromkeys(str(row[last]) for row in group)
    yield from _indented(f"{table.columns[last].title}: {', '.join(places)}", 4)


def _unusable(cells: dict[str, TableValue], words: Words) -> Iterator[RenderableType]:
    """The cell, what stands in it, why that cannot be used, and what to do."""
    yield from _indented("!".join(str(cells[key]) for key in ("file", "sheet", "cell") if cells[key]))
    found = [words("quoted", text=cells["found"])] if cells["found"] else []
    yield from _indented(" ".join([*found, str(cells["reason"]), str(cells["to_do"])]), 4)


def _cells(table: TableView, row: TableRow) -> dict[str, TableValue]:
    return dict(zip((column.key for column in table.columns), row, strict=True))


def _indented(text: str, columns: int = 2) -> Iterator[RenderableType]:
    from rich.padding import Padding
    from rich.text import Text

    yield Padding(Text(text), (0, 0, 0, columns))
