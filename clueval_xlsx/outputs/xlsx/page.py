"""A page as sheets of a workbook: a chapter of one table is a list, any other has its sections below each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from clueval_xlsx.cases.contexts import EMOJI, Segment, signed_pieces
from clueval_xlsx.outputs.xlsx.book import Book, Formula, Worksheet
from clueval_xlsx.outputs.xlsx.hidden import HiddenFigures
from clueval_xlsx.outputs.xlsx.measure import INDENT, LINE, TALLEST, height, lines, width_for
from clueval_xlsx.outputs.xlsx.page_charts import chart_rows, draw
from clueval_xlsx.outputs.xlsx.styles import ACCENT, BAR, LOOKS, TONES
from clueval_xlsx.pages.page import (
    Bars,
    CaseLink,
    Cell,
    Chapter,
    Dots,
    Form,
    Heading,
    Look,
    Matrix,
    Number,
    Page,
    Section,
    Table,
    TableRow,
    Text,
    TextStyle,
    Tiles,
    plain,
)
from clueval_xlsx.review.judgements import FIGURES_SHEET

Links = Callable[[str], Formula | None]  # where a case stands in this workbook, by its ID
# Writes what belongs to the workbook alone below the tiles of a page: from a row on, up to the row behind it.
BelowTiles = Callable[[Worksheet, int], int]

_FORMS = {Form.COUNT: "count", Form.RATE: "rate", Form.POINTS: "points", Form.MEASURE: "measure", Form.CHANCE: "chance"}
_TEXTS = {  # the style of a text, and how wide its letters are against 10 points
    TextStyle.PLAIN: ("text", 1.03),
    TextStyle.HEADLINE: ("headline", 1.4),
    TextStyle.NOTE: ("note", 0.92),
    TextStyle.STEPS: ("text", 1.03),
    TextStyle.CODE: ("muted_wrap", 0.92),
}
_NAMES, _UNIT, _LEAST_UNIT, _UNITS = (24, 44), 11.0, 7.0, 12  # of a stack: widths in characters, steps of its grid
_FEWEST_UNITS, _MATRIX_UNIT, _SHRUNK = 7, 15.0, 0.8  # of a matrix, whose headings may shrink
_LONG, _WORDS, _FIGURES = (30.0, 96.0), (11.0, 30.0), (9.0, 14.0)  # widths of the columns of a list
_MARGIN = 2.0
_PAGE_WIDTH, _PAGE_HEIGHT = 770.0, 501.0  # of A4 across within its margins, in points
_POINTS = 5.6  # that a unit of column width takes
_LIST_HEAD, _LIVE_ROW = 28.0, 15.5  # points


def write_page(page: Page, target: Path | BinaryIO, *, figures: str = FIGURES_SHEET) -> None:
    """A workbook of this page alone; `figures` is the name of the hidden sheet that its charts draw from."""
    with Book(target, title=page.title) as book:
        sheets = [book.sheet(chapter.title) for chapter in page.chapters]
        writer = PageSheets(page, HiddenFigures(book, figures))
        for place, sheet in enumerate(sheets):
            writer.write(place, sheet)
        sheets[0].activate()


class PageSheets:
    """Lays out the chapters of a page, each on a sheet; a review workbook has sheets of its own between them.

    `links` finds cases in this workbook; `figures` is the hidden sheet that charts draw from.
    """

    def __init__(self, page: Page, figures: HiddenFigures, links: Links = lambda _: None) -> None:
        self.page, self.figures, self.links = page, figures, links

    def write(self, place: int, sheet: Worksheet, below_tiles: BelowTiles | None = None) -> None:
        """Lay a chapter out on a sheet."""
        chapter = self.page.chapters[place]
        sheet.tab(TONES.get(chapter.tone, ACCENT))
        if [type(section) for section in chapter.sections] == [Table]:
            table = _parted(chapter.sections[0])  # type: ignore[arg-type]  # it is a table
            _List(sheet, self, table, table.title or chapter.title).write()
        else:
            title = self.page.title if place == 0 else chapter.title
            _Stack(sheet, self, chapter).write(title, self.page.subtitle if place == 0 else (), below_tiles)


def _parted(table: Table) -> Table:
    """A table whose shares are three columns of numbers: the whole, the part, and what is missing."""
    shares = [column.whole for column in table.columns]
    if not any(shares):
        return table
    columns: list[Heading] = []
    for column in table.columns:
        if not column.whole:
            columns.append(column)
        else:
            columns += [Heading(title, rank=column.rank) for title in (column.whole, column.title, column.rest)]
    rows = []
    for row in table.rows:
        cells: list[Cell] = []
        for cell, share in zip(row.cells, shares, strict=True):
            if share and isinstance(cell, Number):
                counts = (cell.whole, cell.value, cell.whole - cell.value)
                cells += [replace(cell, text="", value=count, form=Form.COUNT) for count in counts]
            else:
                cells.append(cell)
        rows.append(TableRow(tuple(cells), row.look))
    return replace(table, columns=tuple(columns), rows=tuple(rows))


def _pieces(cell: Cell) -> Sequence[tuple[str, str]]:
    """A cell as (text, mark), emoji beside the words that gold or predictions mark."""
    if not isinstance(cell, tuple):
        return [(plain(cell), "")]
    pieces: list[tuple[str, str]] = []
    for run in cell:
        pieces += signed_pieces([Segment(run.text, run.tone)]) if run.tone in EMOJI else [(run.text, run.tone)]
    return pieces


class _Sheet:
    """What both kinds of sheet share: cells, paragraphs, tables, and how high their rows are."""

    def __init__(self, sheet: Worksheet, owner: PageSheets, first: int) -> None:
        self.sheet, self.owner = sheet, owner
        self.row, self.first, self.last = 0, first, first
        self.width = 0.0

    def cell(self, place: tuple[int, int], value: Cell, look: Look = Look.PLAIN) -> None:
        """One cell, whatever it holds."""
        suffix = f"+{look}" if look else ""
        match value:
            case Number() if value.known and value.form in _FORMS:
                half = value.form is Form.COUNT and not float(value.value).is_integer()
                shown = 100 * value.value if value.form is Form.POINTS else value.value
                self.sheet.number(place, shown, f"{'count_half' if half else _FORMS[value.form]}{suffix}")
            case Number():
                self.sheet.text(place, value.text, f"{'interval' if value.form is Form.RANGE else 'undefined'}{suffix}")
            case CaseLink() if (link := self.owner.links(value.target)) is not None:
                self.sheet.formula(place, link.text, link.value, f"row_link{suffix}")
            case (run,) if run.tone in LOOKS:
                self.sheet.text(place, run.text, f"row_name+{run.tone}")
            case _:
                self.sheet.rich(place, _pieces(value), f"row_name{suffix}")

    def done(self, points: float, *, folded: bool = False) -> None:
        """Set the height of this row, and go to the next."""
        self.sheet.row(self.row, points, folded=folded)
        self.row += 1

    def paragraph(self, cell: Cell, style: TextStyle, lead: str = "") -> None:
        """Text over the whole width, as high as it needs."""
        look, scale = _TEXTS[style]
        self.sheet.across((self.row, self.first), self.last, "", look)
        self.sheet.rich((self.row, self.first), [(lead, ""), *_pieces(cell)], look)
        self.done(height(lines(f"{lead}{plain(cell)}", self.width, scale) * max(scale, 1.0)))

    def table(
        self, table: Table, spans: Sequence[tuple[int, int]], widths: Sequence[float], *, filtered: bool = False
    ) -> None:
        """A header, and a line for each row; under a filter there is room for its buttons."""
        heights = []
        for place, ((first, last), column, width) in enumerate(zip(spans, table.columns, widths, strict=True)):
            style = f"header{'_filter' if filtered else ''}_{'right' if table.numeric(place) else 'name'}"
            self.sheet.across((self.row, first), last, column.title, style)
            heights.append(lines(column.title, width - INDENT))
        self.done(4 + LINE * max(heights) + (14 if filtered else 0))
        for number, row in enumerate(table.rows):
            most = 1
            for (first, last), value, width in zip(spans, row.cells, widths, strict=True):
                if last > first:
                    self.sheet.across((self.row, first), last, "", f"row_name+{row.look}" if row.look else "row_name")
                self.cell((self.row, first), value, row.look)
                if not isinstance(value, Number):  # numbers are never broken
                    most = max(most, lines("".join(text for text, _ in _pieces(value)), width - INDENT))
            folded = table.fold is not None and number >= table.fold
            self.done(min(4 + LINE * most, TALLEST), folded=folded)


class _List(_Sheet):
    """A table that is a sheet of its own: a filter, a frozen header, widths that fit what is there."""

    def __init__(self, sheet: Worksheet, owner: PageSheets, table: Table, title: str) -> None:
        super().__init__(sheet, owner, 0)
        self.shown, self.title = table, title
        self.widths = [self._width(place) for place in range(len(table.columns))]
        self.last, self.width = len(table.columns) - 1, sum(self.widths)

    def write(self) -> None:
        """Everything, from the title down."""
        table, sheet = self.shown, self.sheet
        sheet.text((0, 0), self.title, "title")
        self.done(_LIST_HEAD)
        for note in table.notes:
            self.paragraph(note, TextStyle.NOTE)
        for place, width in enumerate(self.widths):
            sheet.column(place, width)
        header = self.row
        self.table(table, [(place, place) for place in range(self.last + 1)], self.widths, filtered=True)
        if not table.rows:
            sheet.text((self.row, 0), table.empty, "progress")
        last_row = max(self.row - 1, header + 1)
        for place, column in enumerate(table.columns):
            if column.gauge and table.rows:
                sheet.bars((header + 1, place), (last_row, place), BAR)
        sheet.filter((header, 0), (last_row, self.last))
        sheet.freeze(header + 1, 1)
        # Words of little weight at the right are not printed: they would make everything else small.
        printed = [place for place, column in enumerate(table.columns) if column.rank < 2 or table.numeric(place)]
        sheet.print_area((last_row, max(printed, default=0)))
        sheet.print_setup(landscape=True, header_row=header, footer=self.title)

    def _width(self, place: int) -> float:
        """As wide as the cells want, within what this kind of column may take."""
        table, column = self.shown, self.shown.columns[place]
        least, most = _FIGURES if table.numeric(place) else _WORDS
        if column.long:  # several of them share the room of a page
            least, most = _LONG[0], _LONG[1] / sum(other.long for other in table.columns)
        texts = [part for row in table.rows[:1000] for part in plain(row.cells[place]).split("\n")]
        return max(width_for(texts, least, most), width_for(column.title.split(), least, most + 6) + INDENT)


class _Stack(_Sheet):
    """Sections below each other, on a column for names and a grid of equal steps."""

    def __init__(self, sheet: Worksheet, owner: PageSheets, chapter: Chapter) -> None:
        super().__init__(sheet, owner, 1)
        self.chapter = chapter
        self.tables = {id(section): _parted(section) for section in chapter.sections if isinstance(section, Table)}
        matrices = [section for section in chapter.sections if isinstance(section, Matrix)]
        names = [plain(row.cells[0]) for table in self.tables.values() for row in table.rows]
        heads = [name for matrix in matrices for name in (*matrix.names, matrix.total)]
        self.name = width_for([*names, *heads], 12 if heads and not names else _NAMES[0], _NAMES[1]) + 2
        self.unit, self.units = _UNIT, _UNITS
        if matrices and not self.tables:
            self.unit = max(_LEAST_UNIT, _SHRUNK * width_for(heads, 0, _MATRIX_UNIT))
            self.units = max(_FEWEST_UNITS, *(len(matrix.names) + 1 for matrix in matrices))
        self.spans = {key: self._spans(table) for key, table in self.tables.items()}
        self.units = max([self.units, *(spans[-1][1] - 1 for spans in self.spans.values())])
        self.last = 1 + self.units
        self.width = self.name + self.units * self.unit
        self.room = _PAGE_HEIGHT * max(1.0, (self.width + _MARGIN) * _POINTS / _PAGE_WIDTH)
        self.begun = 0.0  # points since the page began
        self.breaks: list[int] = []

    def write(self, title: str, subtitle: Sequence[str], below_tiles: BelowTiles | None) -> None:
        """Everything, from the title down."""
        sheet = self.sheet
        sheet.column(0, _MARGIN)
        sheet.column(1, self.name)
        for column in range(2, self.last + 1):
            sheet.column(column, self.unit)
        sheet.text((0, 1), title, "title")
        self.done(30)
        for line in subtitle:
            sheet.text((self.row, 1), line, "subtitle")
            self.done(18)
        for section in self.chapter.sections:
            self.section(section)
            if isinstance(section, Tiles) and below_tiles is not None:
                begin, self.row = self.row, below_tiles(sheet, self.row + 1)
                self.begun += _LIVE_ROW * (self.row - begin)
        sheet.print_setup(landscape=True, footer=title)
        sheet.print_area((self.row, self.last))
        sheet.page_breaks(self.breaks)

    def done(self, points: float, *, folded: bool = False) -> None:
        """Count what of the page is used."""
        super().done(points, folded=folded)
        self.begun += points

    def section(self, section: Section) -> None:
        """A section under its heading, on a new page where it would not fit on this one but on the next."""
        notes = () if isinstance(section, Text | Tiles) else section.notes
        if isinstance(section, Dots):
            notes = (" ".join(map(plain, notes)),) if notes else ()
        needed = self._height(section) + 18 * len(notes) + 31
        signature = isinstance(section, Text) and section.style is TextStyle.CODE  # never on a page of its own
        fits = self.begun + needed <= self.room or signature
        if not fits and self.begun > self.room / 3 and needed < self.room:
            self.breaks.append(self.row)
            self.begun = 0.0
        self.done(9)
        if section.title:
            self.sheet.across((self.row, 1), self.last, section.title, "section")
            self.done(22)
        match section:
            case Text():
                self.text(section)
            case Tiles():
                self.tiles(section)
            case Table() if not section.rows:
                self.paragraph(section.empty, TextStyle.PLAIN)
            case Table():
                spans = self.spans[id(section)]
                widths = [self.name, *(self.unit * (last - first + 1) for first, last in spans[1:])]
                self.table(self.tables[id(section)], spans, widths)
            case Matrix():
                self.matrix(section)
            case Bars() | Dots():
                self.charts(section)
        for note in notes:
            self.paragraph(note, TextStyle.NOTE)

    def _height(self, section: Section) -> float:
        match section:
            case Table():
                return 16.0 * (len(section.rows) + 2)
            case Matrix():
                return 18.0 * (len(section.names) + 3)
            case Bars() | Dots():
                return 15.0 * chart_rows(section)
        return 40.0

    def text(self, section: Text) -> None:
        """Paragraphs; steps begin with a dash."""
        for line in section.lines:
            self.paragraph(line, section.style, "– " if section.style is TextStyle.STEPS else "")

    def tiles(self, section: Tiles) -> None:
        """Names, figures and notes; the first tile has the column of names, the others share the grid."""
        others = len(section.tiles) - 1
        edges = [1, 2, *(2 + round(self.units * place / others) for place in range(1, others + 1))]
        most = max(len(tile.notes) for tile in section.tiles)
        for line, points in enumerate((18, 32, *[14] * most)):
            for tile, first, behind in zip(section.tiles, edges, edges[1:], strict=False):
                at, last = (self.row, first), behind - 1
                if line == 0:
                    self.sheet.across(at, last, tile.name, "tile_name")
                elif line == 1:
                    style = "tile_rate" if tile.number.form is Form.RATE else "tile_count"
                    self.sheet.across(at, last, tile.number.value if tile.number.known else tile.number.text, style)
                else:
                    note = tile.notes[line - 2] if line - 2 < len(tile.notes) else ""
                    self.sheet.across(at, last, note, "tile_note")
            self.done(points)

    def _spans(self, table: Table) -> list[tuple[int, int]]:
        """First and last column of each column of a table: a number takes one step, words as many as they need."""
        spans, column = [(1, 1)], 2
        for place in range(1, len(table.columns)):
            steps = 1
            if not table.numeric(place):
                texts = [plain(row.cells[place]) for row in table.rows]
                wanted = width_for([*texts, table.columns[place].title], self.unit, 4 * self.unit)
                steps = -(-int(wanted + INDENT) // int(self.unit))
            spans.append((column, column + steps - 1))
            column += steps
        return spans

    def matrix(self, section: Matrix) -> None:
        """Counts shaded by errors, with their totals."""
        titles = (section.corner, *section.names, section.total)
        for column, title in enumerate(titles, 1):
            self.sheet.text((self.row, column), title, "header_centre" if column > 1 else "header_name")
        self.done(22)
        totals = (*section.row_totals, section.sum)
        for line, (name, total) in enumerate(zip((*section.names, section.total), totals, strict=True)):
            self.sheet.text((self.row, 1), name, "row_name_bold")
            last = line == len(section.names)
            for place, count in enumerate(section.column_totals if last else section.counts[line]):
                step = 0 if last else section.heat[line][place]
                style = (
                    "count" if last else "matrix_diagonal" if line == place else f"matrix_{step}" if step else "matrix"
                )
                self.sheet.number((self.row, place + 2), count.value, style)
            self.sheet.number((self.row, len(titles)), total.value, "count")
            self.done(18)

    def charts(self, section: Bars | Dots) -> None:
        """Native charts side by side; what they draw stands on a hidden sheet."""
        rows = chart_rows(section)
        if rows:
            draw(self.sheet, (self.row, 1), section, round(self.width * 7.4), self.owner.figures)
        elif isinstance(section, Bars):
            self.paragraph(section.empty, TextStyle.PLAIN)
        for _ in range(rows):
            self.done(15)
