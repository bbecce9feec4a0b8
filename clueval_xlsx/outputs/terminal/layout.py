"""How tables look in a terminal: one frame, and numbers as short as a narrow screen wants them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from clueval_xlsx.views import numbers
from clueval_xlsx.views.tables import TableValue, ValueKind, value_text
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import RenderableType
    from rich.table import Table


GAP = 2  # columns of the terminal between two of a table
_LEAST_FOR_NAMES = 16
_WIDEST_TITLE = 78


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

    def holds(self, width: int) -> bool:
        """Whether a table of this width can be shown with all its columns."""
        return not self.screen or width <= self.columns

    def beyond(self, width: int) -> int | None:
        """The width of a table that is wider than a line should be, None for one that fits."""
        return width if not self.screen and width > self.columns else None


def framed(title: str = "") -> Table:
    """An empty table, at least as wide as its title, so that this is not broken."""
    from rich import box
    from rich.table import Table

    return Table(
        title=title or None,
        min_width=min(len(title), _WIDEST_TITLE) or None,
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )


def least_width(titles: Sequence[str], rows: Sequence[Sequence[str]], names: Sequence[str]) -> int:
    """The columns that a table takes at least: numbers are never broken, names only between words."""
    numbers_width = sum(max(map(len, column)) + GAP for column in zip(titles, *rows, strict=True))
    longest = max((len(name) for name in names), default=0)
    word = max((len(word) for name in names for word in name.split()), default=0)
    return numbers_width + max(word, min(longest, _LEAST_FOR_NAMES)) + GAP


def with_left_out(table: Table, titles: Iterable[str], room: Room) -> RenderableType:
    """A table, and below it which columns there was no room for and how to see them."""
    left_out = ", ".join(dict.fromkeys(titles))
    if not left_out:
        return table
    from rich.console import Group
    from rich.text import Text

    remedy = f"a wider window or {room.elsewhere}" if room.elsewhere else "a wider window"
    return Group(table, Text(f"Left out for want of width: {left_out}. To see it: {remedy}.", style="dim"))


def short_text(value: TableValue, kind: ValueKind, words: Words) -> str:
    """A value as text; rates are in per cent, as the titles say, and intervals in whole ones.

    >>> short_text((54, 75), ValueKind.SHARE, Words("en")), short_text(0.72, ValueKind.RATE, Words("en"))
    ('54/75', '72.0')
    """
    if isinstance(value, tuple) and kind is ValueKind.INTERVAL:
        return numbers.interval(*value, words, places=0)
    if isinstance(value, tuple) and kind is ValueKind.SHARE:
        return numbers.share(*value, words, key="of_short")
    if isinstance(value, int | float) and kind is ValueKind.RATE:
        return numbers.per_cent(value, words)
    return value_text(value, kind, words)
