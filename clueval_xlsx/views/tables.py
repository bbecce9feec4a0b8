"""Tables of words and numbers: which columns and rows there are; how a cell looks is left to the medium."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from clueval_xlsx.cases.contexts import Segment
from clueval_xlsx.review.adjudication_words import INSERTED, KEPT, STRUCK, Difference
from clueval_xlsx.views import numbers
from clueval_xlsx.words import Words


class ValueKind(StrEnum):
    """What a value is, which says how every medium writes it."""

    TEXT = "text"  # lines are parted by line ends
    COUNT = "count"
    SHARE = "share"  # (part, whole)
    RATE = "rate"
    INTERVAL = "interval"  # (low, high), of a rate
    POINTS = "points"  # a difference of two rates
    POINTS_INTERVAL = "points_interval"  # (low, high), of such a difference
    MEASURE = "measure"  # a coefficient such as kappa
    CHANCE = "chance"  # a p-value
    DIFFERENCE = "difference"  # words that were dropped, came in, or stayed


# How a difference is written where there is no other sign: before and behind the words.
_SIGNS = {KEPT: ("[", "]"), STRUCK: ("[-", "-]"), INSERTED: ("{+", "+}")}


@dataclass(frozen=True)
class WordDifference:
    """Words of which some are marked: `struck`, `inserted`, or `kept`."""

    pieces: Difference

    @property
    def signed(self) -> Difference:
        """The pieces with signs before and behind the marked words, for media without colours."""
        signs = ((piece, _SIGNS.get(piece.mark, ("", ""))) for piece in self.pieces)
        return tuple(Segment(f"{before}{piece.text}{behind}", piece.mark) for piece, (before, behind) in signs)

    @property
    def plain(self) -> str:
        """The words alone."""
        return "".join(piece.text for piece in self.pieces)


TableValue = str | float | tuple[float, float] | WordDifference
TableRow = tuple[TableValue, ...]


@dataclass(frozen=True)
class TableColumn:
    """A column: a key that layouts know it by, its heading, and what its values are."""

    key: str
    title: str
    kind: ValueKind = ValueKind.TEXT


@dataclass(frozen=True)
class TableView:
    """A table with its heading; `empty` is said where there is no row."""

    key: str
    title: str
    columns: tuple[TableColumn, ...]
    rows: tuple[TableRow, ...]
    note: str = ""
    empty: str = ""
    faint: frozenset[int] = frozenset()  # rows that rest on too little
    shared: int = 0  # the first columns, which rows that belong together share

    def groups(self) -> tuple[tuple[TableRow, ...], ...]:
        """Rows that belong together; each by itself where none share anything."""
        if not self.shared:
            return tuple((row,) for row in self.rows)
        return tuple(tuple(rows) for _, rows in groupby(self.rows, key=lambda row: row[: self.shared]))


def value_text(value: TableValue, kind: ValueKind, words: Words) -> str:
    """A value as text.

    >>> value_text((0.61, 0.81), ValueKind.INTERVAL, Words("de")), value_text(0.5, ValueKind.MEASURE, Words("en"))
    ('61,0–81,0', '0.50')
    """
    if isinstance(value, str):
        return value
    if isinstance(value, WordDifference):
        return "".join(piece.text for piece in value.signed)
    if isinstance(value, tuple):
        return _PAIRS[kind](*value, words)
    return _NUMBERS[kind](value, words)


def _measure(value: float | None, words: Words) -> str:
    return numbers.decimal(value, 2, words)


_PAIRS: dict[ValueKind, Callable[[float, float, Words], str]] = {
    ValueKind.SHARE: numbers.share,
    ValueKind.INTERVAL: numbers.interval,
    ValueKind.POINTS_INTERVAL: numbers.points_interval,
}
_NUMBERS: dict[ValueKind, Callable[[float, Words], str]] = {
    ValueKind.COUNT: numbers.count,
    ValueKind.RATE: numbers.rate,
    ValueKind.POINTS: numbers.points,
    ValueKind.MEASURE: _measure,
    ValueKind.CHANCE: numbers.chance,
}
