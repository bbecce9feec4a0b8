"""The adjudicated report: before and after, what changed, what clashes, who agrees, which rows were of no use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from clueval_xlsx.outputs.xlsx.book import Book, Worksheet
from clueval_xlsx.outputs.xlsx.charts import CHART_ROWS, dot_charts, draw_chart, ledger_chart
from clueval_xlsx.outputs.xlsx.hidden import HiddenFigures
from clueval_xlsx.outputs.xlsx.measure import INDENT, height, lines
from clueval_xlsx.outputs.xlsx.styles import ACCENT, GOLD_COLOUR, PRED_COLOUR
from clueval_xlsx.outputs.xlsx.tables import SCORE_WIDTH, write_score_table, write_table, write_tiles, write_value
from clueval_xlsx.review.vocabulary import REPORT_SHEET
from clueval_xlsx.views.adjudication import AdjudicationView, adjudication_view
from clueval_xlsx.views.tables import TableView, ValueKind, WordDifference
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from clueval_xlsx.review.adjudication import Adjudication

_LAST = SCORE_WIDTH
_NAME_WIDTH, _NUMBER_WIDTH = 40, 11
_TILE_PLACES = ((1, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, _LAST))
_HEADER_ROW = 2
_TABS = {"conflicts": GOLD_COLOUR, "unusable": PRED_COLOUR}
_HEADERS = {"estimates": 44.0, "remaining": 58.0}  # heights of headers with long words, in points
# Widths of the columns of each list, in characters.
_WIDTHS = {
    "changes": (16, 18, 70, 26, 24, 16, 28, 22, 16),
    "conflicts": (14, 16, 18, 26, 30, 30, 16, 24, 24, 28, 26),
    "counts": (24, 36, 32, 10),
    "unusable": (28, 18, 9, 34, 44, 50),
}
_ROWS_A_PAGE = 34  # that fit on a landscape page when the sheet is fitted to its width
_TEXT_WIDTH, _MEASURE_WIDTH = 30, 19  # where the columns depend on who judged


def write_adjudicated(run: Adjudication, target: Path | BinaryIO, *, lang: str = "en") -> None:
    """Write the report workbook of one run."""
    words = Words(lang)
    view = adjudication_view(run, words)
    with Book(target, title=words["adjudicated.title"]) as book:
        summary = book.sheet(words["adjudicated.summary"])
        summary.tab(ACCENT)
        for table in view.lists:
            sheet = book.sheet(table.title)
            _write_list(sheet, table, words)
            sheet.tab(_TABS.get(table.key, ACCENT))
        _Summary(summary, view, words).write(HiddenFigures(book, REPORT_SHEET))
        summary.activate()


class _Summary:
    """Writes the first sheet downwards."""

    def __init__(self, sheet: Worksheet, view: AdjudicationView, words: Words) -> None:
        self.sheet, self.view, self.words = sheet, view, words
        self.row = 3

    def write(self, figures: HiddenFigures) -> None:
        """The headline, what is next, figures before and after, what the cases turned out to be, signatures."""
        sheet, view, words = self.sheet, self.view, self.words
        sheet.column(0, 2)
        sheet.column(1, _NAME_WIDTH)
        for column in range(2, _LAST + 1):
            sheet.column(column, _NUMBER_WIDTH)
        sheet.row(0, 30)
        sheet.text((0, 1), words["adjudicated.title"], "title")
        subtitle = words("adjudicated.subtitle", gold=view.reference, pred=view.model, judged=view.judged)
        sheet.text((1, 1), subtitle, "subtitle")
        self._line(view.headline, "headline", 1.35)
        self.row = write_tiles(sheet, self.row + 1, view.tiles, _TILE_PLACES, words) + 1
        self._section(words["lead.next_title"], "")
        for step in view.next_steps:
            self._line(step.text, "text", 1.03)
        self.row += 1
        self._section(view.states.title, view.states.note)
        charts = dot_charts(view.states, view.axis, words)
        for chart, column in zip(charts, (1, 6), strict=True):
            draw_chart(sheet, (self.row, column), figures, chart)
        self.row += CHART_ROWS
        for line in (words["plot.dots"], view.axis.note(words)):
            self._explain(line)
        breaks = [self.row]  # in print, no heading stays behind while its table goes on to the next page
        self.row = write_score_table(sheet, (self.row, 1), view.states, words)
        self._explain(view.unseen)
        self.row += 1
        for table in view.tables:
            drawn = CHART_ROWS + 1 if table.key == "ledger" else 0
            if self.row - breaks[-1] + len(table.rows) + drawn + 4 > _ROWS_A_PAGE:
                breaks.append(self.row)
            self._table(table, _HEADERS.get(table.key, 30))
            if table.key == "ledger" and table.rows:
                draw_chart(sheet, (self.row, 1), figures, ledger_chart(table, words))
                self.row += CHART_ROWS + 1
        self._section(words["metrics.signature"], "")
        for signature in view.signatures:
            sheet.across((self.row, 1), _LAST, signature, "muted_wrap")
            sheet.row(self.row, 26)
            self.row += 1
        sheet.print_setup(landscape=True, footer=words["adjudicated.title"])
        sheet.print_area((self.row, _LAST))
        sheet.page_breaks(breaks)

    def _line(self, text: str, style: str, scale: float) -> None:
        """Text over the whole width, as high as it needs."""
        width = _NAME_WIDTH + (_LAST - 1) * _NUMBER_WIDTH
        self.sheet.across((self.row, 1), _LAST, text, style)
        self.sheet.row(self.row, height(lines(text, width, scale) * max(scale, 1.0)))
        self.row += 1

    def _explain(self, text: str) -> None:
        if text:
            self.sheet.row(self.row, 17)
            self.sheet.text((self.row, 1), text, "explanation")
            self.row += 1

    def _section(self, title: str, explanation: str) -> None:
        self.sheet.row(self.row, 22)
        self.sheet.across((self.row, 1), _LAST, title, "section")
        self.row += 1
        self._explain(explanation)

    def _table(self, table: TableView, header: float) -> None:
        self._section(table.title, table.note)
        if not table.rows:
            self._line(table.empty, "text", 1.03)
            self.row += 1
            return
        self.row = write_table(self.sheet, (self.row, 1), table, self.words, height=header) + 1


def _write_list(sheet: Worksheet, table: TableView, words: Words) -> None:
    """A sheet with a title, a header and rows of text and numbers; or a friendly word if there is nothing."""
    wordy = [column.kind in {ValueKind.TEXT, ValueKind.DIFFERENCE} for column in table.columns]
    widths = _WIDTHS.get(table.key) or [_TEXT_WIDTH if each else _MEASURE_WIDTH for each in wordy]
    sheet.row(0, 28)
    sheet.text((0, 0), table.title, "title")
    sheet.text((1, 0), table.note, "explanation")
    sheet.row(_HEADER_ROW, 44)  # two lines, and room for the buttons of the filter below them
    for place, (column, width) in enumerate(zip(table.columns, widths, strict=False)):
        sheet.column(place, width)
        style = "header_filter_name" if wordy[place] else "header_filter_right"
        sheet.text((_HEADER_ROW, place), column.title, style)
    for line, values in enumerate(table.rows, _HEADER_ROW + 1):
        most = 1
        for place, (value, column) in enumerate(zip(values, table.columns, strict=True)):
            faint = line - _HEADER_ROW - 1 in table.faint
            if isinstance(value, WordDifference):
                most = max(most, lines(value.plain, widths[place] - INDENT))
            if column.kind is ValueKind.TEXT and not faint:
                sheet.text((line, place), str(value), "row_name")
                most = max(most, lines(str(value), widths[place] - INDENT))
            else:
                write_value(sheet, (line, place), value, column.kind, words=words, faint=faint)
        sheet.row(line, height(most))
    if table.rows:
        sheet.filter((_HEADER_ROW, 0), (_HEADER_ROW + len(table.rows), len(table.columns) - 1))
    else:
        sheet.text((_HEADER_ROW + 1, 0), table.empty, "progress")
    sheet.freeze(_HEADER_ROW + 1)
    sheet.print_setup(landscape=True, header_row=_HEADER_ROW, footer=table.title)
