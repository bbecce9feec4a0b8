"""What is shown of a result: a page of chapters, each with sections of six kinds. No medium, no result, no language.

Words are in the chosen language already, and so are the texts of numbers: a medium that has numbers of its own (a
workbook) takes `value` and `form`, every other takes `text`, and one with little room `short`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from math import isnan, nan


class Form(StrEnum):
    """What a number is, which says how a workbook formats it."""

    COUNT = "count"
    RATE = "rate"
    POINTS = "points"  # a difference of rates, as a rate; it is shown in percentage points
    MEASURE = "measure"  # a coefficient such as kappa
    CHANCE = "chance"  # a p-value
    SHARE = "share"  # a count of `whole`
    RANGE = "range"  # two numbers; text in every medium


class Tone(StrEnum):
    """What a colour, a pattern or a line under or through words means."""

    PLAIN = ""
    BOTH = "both"
    GOLD = "gold"
    PRED = "pred"
    NOBODY = "nobody"
    NEITHER = "neither"
    KEPT = "kept"
    STRUCK = "struck"
    INSERTED = "inserted"
    ALARM = "alarm"


class TextStyle(StrEnum):
    """What a text is for."""

    PLAIN = "plain"
    HEADLINE = "headline"
    NOTE = "note"
    STEPS = "steps"
    CODE = "code"


class Look(StrEnum):
    """What sets a row apart."""

    PLAIN = ""
    CHOSEN = "chosen"
    SUMMARY = "summary"
    OPENS = "opens"  # the first of a group
    FAINT = "faint"  # rests on too little


@dataclass(frozen=True)
class Number:
    """A number and how it is written; one that is not defined has a text, too."""

    text: str
    value: float = nan
    form: Form = Form.RANGE
    short: str = ""
    whole: float = nan

    @property
    def known(self) -> bool:
        """Whether there is a value."""
        return not isnan(self.value)


@dataclass(frozen=True)
class Marked:
    """Words with one meaning."""

    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True)
class CaseLink:
    """Words that lead to a case."""

    text: str
    target: str


Cell = str | Number | CaseLink | tuple[Marked, ...]


@dataclass(frozen=True)
class Heading:
    """A heading; `short` where there is little room. Of columns that do not fit, those of the highest `rank` go first.

    `whole` and `rest` belong to shares: what the whole is called, and what is missing from it, where a medium parts
    them into numbers of their own.
    """

    title: str
    short: str = ""
    long: bool = False  # holds sentences
    rank: int = 0
    whole: str = ""
    rest: str = ""
    gauge: bool = False  # rates from nothing to all, which may have a bar behind them


@dataclass(frozen=True)
class TableRow:
    """The cells of a row."""

    cells: tuple[Cell, ...]
    look: Look = Look.PLAIN


@dataclass(frozen=True)
class Text:
    """Paragraphs, or steps of a list."""

    lines: tuple[Cell, ...]
    style: TextStyle = TextStyle.PLAIN
    title: str = ""


@dataclass(frozen=True)
class Tile:
    """A large figure; `low` and `high` are the ends of a rate's interval."""

    name: str
    number: Number
    notes: tuple[str, ...] = ()
    low: float = nan
    high: float = nan


@dataclass(frozen=True)
class Tiles:
    """Large figures side by side."""

    tiles: tuple[Tile, ...]
    title: str = ""


@dataclass(frozen=True)
class Table:
    """Columns and rows; `empty` is said where there is no row. Rows from `fold` on are folded away under `folded`."""

    title: str
    columns: tuple[Heading, ...]
    rows: tuple[TableRow, ...]
    notes: tuple[Cell, ...] = ()
    empty: str = ""
    fold: int | None = None
    folded: str = ""

    def numeric(self, place: int) -> bool:
        """Whether a column holds numbers."""
        return any(isinstance(row.cells[place], Number) for row in self.rows)

    @property
    def listed(self) -> bool:
        """Whether rows have sentences and are read one by one."""
        return any(column.long for column in self.columns)


@dataclass(frozen=True)
class Bar:
    """A name and a count."""

    name: str
    number: Number
    tone: Tone


@dataclass(frozen=True)
class Bars:
    """Bars of counts, one panel beside another on one scale; `tabled`: their figures stand in the table below them."""

    title: str
    panels: tuple[tuple[str, tuple[Bar, ...]], ...]
    notes: tuple[Cell, ...] = ()
    empty: str = ""
    tabled: bool = False


@dataclass(frozen=True)
class Axis:
    """From where to where a plot reaches, and its ticks as (value, text)."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]
    form: Form = Form.RATE

    def place(self, value: float) -> float:
        """Where a value stands: 0 at the lower end, 1 at the upper."""
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)


@dataclass(frozen=True)
class Dot:
    """A value with the ends of its interval."""

    number: Number
    low: float = nan
    high: float = nan


@dataclass(frozen=True)
class Dots:
    """One row a name, one dot a series; `tabled`: as for bars."""

    title: str
    series: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Dot, ...]], ...]
    axis: Axis
    notes: tuple[Cell, ...] = ()
    tabled: bool = True


@dataclass(frozen=True)
class Matrix:
    """Counts by two names, with their totals; `heat` is 0 to 5 for each cell, and `hints` say what each counts."""

    title: str
    corner: str
    names: tuple[str, ...]
    counts: tuple[tuple[Number, ...], ...]
    heat: tuple[tuple[int, ...], ...]
    hints: tuple[tuple[str, ...], ...]
    total: str  # the heading of the totals
    row_totals: tuple[Number, ...]
    column_totals: tuple[Number, ...]
    sum: Number
    notes: tuple[Cell, ...] = ()


Section = Text | Tiles | Table | Bars | Dots | Matrix


@dataclass(frozen=True)
class Chapter:
    """Sections that are read together: a sheet, a tab, a heading."""

    title: str
    sections: tuple[Section, ...]
    count: str = ""
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True)
class Page:
    """Everything that is shown of a result; `more` is said where a medium shows the first rows of a table only."""

    title: str
    subtitle: tuple[str, ...]
    chapters: tuple[Chapter, ...]
    language: str = "en"
    more: str = ""

    @property
    def headline(self) -> str:
        """What is said first."""
        sections = [section for chapter in self.chapters for section in chapter.sections]
        texts = [section for section in sections if isinstance(section, Text)]
        return " ".join(plain(line) for text in texts[:1] for line in text.lines)


def marked(pieces: Iterable[tuple[str, str]]) -> tuple[Marked, ...]:
    """Texts and the names of their tones as a cell."""
    return tuple(Marked(text, Tone(tone)) for text, tone in pieces)


def plain(cell: Cell, *, short: bool = False) -> str:
    """A cell as text, without looks."""
    match cell:
        case Number():
            return (short and cell.short) or cell.text
        case CaseLink():
            return cell.text
        case tuple():
            return "".join(run.text for run in cell)
    return cell


# How marked words are written where there is no other sign: before and behind them.
_SIGNS = {Tone.STRUCK: ("[-", "-]"), Tone.INSERTED: ("{+", "+}"), Tone.KEPT: ("[", "]")}


def signed(cell: Cell) -> tuple[Marked, ...]:
    """A cell as runs, with signs around what was struck, inserted or kept, for whoever sees no colours.

    >>> [run.text for run in signed((Marked("Ann "), Marked("Lee", Tone.STRUCK)))]
    ['Ann ', '[-Lee-]']
    """
    if not isinstance(cell, tuple):
        return (Marked(plain(cell)),)
    return tuple(Marked(run.text.join(_SIGNS.get(run.tone, ("", ""))), run.tone) for run in cell)


def as_table(section: Tiles | Bars | Dots | Matrix) -> Table:
    """A section as a table, for media that draw nothing.

    >>> two = Number("2", 2, Form.COUNT)
    >>> as_table(Bars("Cases", (("missed", (Bar("partial", two, Tone.GOLD),)),))).rows[0].cells[0]
    'partial'
    """
    match section:
        case Tiles():
            rows = tuple(TableRow((tile.name, tile.number, ", ".join(tile.notes))) for tile in section.tiles)
            return Table(section.title, (Heading(""), Heading(""), Heading("")), rows)
        case Bars():
            panels = [{bar.name: bar.number for bar in bars} for _, bars in section.panels]
            names = dict.fromkeys(name for panel in panels for name in panel)
            rows = tuple(TableRow((name, *(panel.get(name, "") for panel in panels))) for name in names)
            return Table(section.title, _headed("", [name for name, _ in section.panels]), rows, section.notes,
                         section.empty)  # fmt: skip
        case Dots():
            rows = tuple(TableRow((name, *(dot.number for dot in dots))) for name, dots in section.rows)
            return Table(section.title, _headed("", section.series), rows, section.notes)
        case Matrix():
            lines = zip(section.names, section.counts, section.row_totals, strict=True)
            rows = tuple(TableRow((name, *counts, total)) for name, counts, total in lines)
            last = TableRow((section.total, *section.column_totals, section.sum), Look.SUMMARY)
            columns = _headed(section.corner, (*section.names, section.total))
            return Table(section.title, columns, (*rows, last), section.notes)


def written(chapter: Chapter) -> Iterator[Text | Table]:
    """A chapter as texts and tables alone; of a plot whose figures stand in a table, only the title stays."""
    title = ""
    for section in chapter.sections:
        if isinstance(section, Bars | Dots) and section.tabled:
            title = section.title
        elif isinstance(section, Text):
            yield section
        else:
            table = section if isinstance(section, Table) else as_table(section)
            yield replace(table, title=table.title or title)
            title = ""


def _headed(first: str, titles: Sequence[str]) -> tuple[Heading, ...]:
    return (Heading(first), *(Heading(title) for title in titles))
