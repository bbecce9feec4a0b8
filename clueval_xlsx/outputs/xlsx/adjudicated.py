"""The adjudicated report: before and after, what changed, what clashes, who agrees, which rows were of no use."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from clueval_xlsx.outputs.xlsx.book import Book, Worksheet
from clueval_xlsx.outputs.xlsx.charts import CHART_ROWS, ledger_chart, place_chart, rate_chart
from clueval_xlsx.outputs.xlsx.measure import height, lines
from clueval_xlsx.outputs.xlsx.styles import ACCENT, GOLD_COLOUR, PRED_COLOUR
from clueval_xlsx.outputs.xlsx.tables import SCORE_WIDTH, write_score_table, write_table, write_value
from clueval_xlsx.views.adjudication import AdjudicationView, adjudication_view
from clueval_xlsx.views.tables import TableView, ValueKind
from clueval_xlsx.words import Words

if TYPE_CHECKING:
    from clueval_xlsx.review.adjudication import Adjudication

_LAST = SCORE_WIDTH
_DATA = _LAST + 3  # the figures of the charts, right of what is printed
_HEADER_ROW = 2
_TABS = {"conflicts": GOLD_COLOUR, "unusable": PRED_COLOUR}
# Widths of the columns of each list, in characters.
_WIDTHS = {
    "changes": (18, 20, 30, 24, 30, 24, 24, 18, 30, 24, 22),
    "conflicts": (20, 20, 34, 34, 50, 30, 38),
    "agreement": (30, 26, 40, 10, 12),
    "counts": (24, 36, 32, 10),
    "unusable": (30, 14, 9, 40, 60),
}


def write_adjudicated(run: Adjudication, target: Path | BinaryIO, *, lang: str = "en") -> None:
    """Write the report workbook of one run."""
    words = Words(lang)
    view = adjudication_view(run, words)
    with Book(target, title=words["adjudicated.title"]) as book:
        summary = book.sheet(words["adjudicated.summary"])
        _Summary(summary, view, words).write()
        summary.tab(ACCENT)
        for table in view.lists:
            sheet = book.sheet(table.title)
            _write_list(sheet, table, words)
            sheet.tab(_TABS.get(table.key, ACCENT))
        summary.activate()


class _Summary:
    """Writes the first sheet downwards."""

    def __init__(self, sheet: Worksheet, view: AdjudicationView, words: Words) -> None:
        self.sheet, self.view, self.words = sheet, view, words
        self.row = 3

    def write(self) -> None:
        """Figures before and after, what the cases turned out to be, workbooks, signatures."""
        sheet, view, words = self.sheet, self.view, self.words
        sheet.column(0, 2)
        sheet.column(1, 40)
        for column in range(2, _LAST + 1):
            sheet.column(column, 11)
        sheet.row(0, 30)
        sheet.text((0, 1), words["adjudicated.title"], "title")
        subtitle = words("adjudicated.subtitle", gold=view.reference, pred=view.model, judged=view.judged)
        sheet.text((1, 1), subtitle, "subtitle")
        self._section(view.states.title, view.states.note)
        self.row = write_score_table(sheet, (self.row, 1), view.states, words)
        sheet.row(self.row, 20)
        sheet.text((self.row, 1), view.unseen, "explanation")
        self.row += 2
        if view.estimates is not None:
            self._table(view.estimates, 44)
        chart = rate_chart(view.states, words["adjudicated.chart"], words)
        place_chart(sheet, (self.row, 1), _DATA, chart)
        place_chart(sheet, (self.row, 6), _DATA + 4, ledger_chart(view.ledger, words))
        self.row += CHART_ROWS + 1
        for table in (view.ledger, view.severities, view.account, view.workbooks):
            self._table(table)
        self._section(words["metrics.signature"], "")
        for signature in view.signatures:
            sheet.across((self.row, 1), _LAST, signature, "muted_wrap")
            sheet.row(self.row, 26)
            self.row += 1
        sheet.print_setup(landscape=True, footer=words["adjudicated.title"])
        sheet.print_area((self.row, _LAST))

    def _section(self, title: str, explanation: str) -> None:
        self.sheet.row(self.row, 22)
        self.sheet.across((self.row, 1), _LAST, title, "section")
        self.row += 1
        if explanation:
            self.sheet.row(self.row, 17)
            self.sheet.text((self.row, 1), explanation, "explanation")
            self.row += 1

    def _table(self, table: TableView, header: float = 30) -> None:
        self._section(table.title, table.note)
        self.row = write_table(self.sheet, (self.row, 1), table, self.words, height=header) + 1


def _write_list(sheet: Worksheet, table: TableView, words: Words) -> None:
    """A sheet with a title, a header and rows of text and numbers; or a friendly word if there is nothing."""
    widths = _WIDTHS[table.key]
    sheet.row(0, 28)
    sheet.text((0, 0), table.title, "title")
    sheet.text((1, 0), table.note, "explanation")
    sheet.row(_HEADER_ROW, 30)
    for place, (column, width) in enumerate(zip(table.columns, widths, strict=True)):
        sheet.column(place, width)
        sheet.text((_HEADER_ROW, place), column.title, "header")
    for line, values in enumerate(table.rows, _HEADER_ROW + 1):
        most = 1
        for place, (value, column) in enumerate(zip(values, table.columns, strict=True)):
            if column.kind is ValueKind.TEXT:
                sheet.text((line, place), str(value), "cell_context")
                most = max(most, lines(str(value), widths[place]))
            else:
                write_value(sheet, (line, place), value, column.kind, words=words)
        sheet.row(line, height(most))
    if table.rows:
        sheet.filter((_HEADER_ROW, 0), (_HEADER_ROW + len(table.rows), len(widths) - 1))
    else:
        sheet.text((_HEADER_ROW + 1, 0), table.empty, "progress")
    sheet.freeze(_HEADER_ROW + 1)
    sheet.print_setup(landscape=True, header_row=_HEADER_ROW, footer=table.title)
