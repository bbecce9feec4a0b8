"""The Metrics sheet: headline, live figures, levels, labels, groups, other schemes, charts, signature."""

from __future__ import annotations

from clueval_xlsx.outputs.xlsx.book import Worksheet
from clueval_xlsx.outputs.xlsx.cases import CaseSheets
from clueval_xlsx.outputs.xlsx.charts import CHART_ROWS, case_chart, draw_chart, rate_chart
from clueval_xlsx.outputs.xlsx.hidden import HiddenFigures
from clueval_xlsx.outputs.xlsx.live import write_live
from clueval_xlsx.outputs.xlsx.measure import width_for
from clueval_xlsx.outputs.xlsx.options import ReviewContent
from clueval_xlsx.outputs.xlsx.tables import SCORE_WIDTH, write_score_table, write_table, write_tiles
from clueval_xlsx.views.overview import error_bars, tiles
from clueval_xlsx.views.scores import (
    ScoreTable,
    group_tables,
    label_tables,
    level_sentence,
    level_table,
    scheme_tables,
    strict_relaxed_table,
)
from clueval_xlsx.views.sentences import plain_headline

_NAME_WIDTHS, _NUMBER_WIDTH = (30, 44), 11  # the least and the most; characters
_LAST_COLUMN = SCORE_WIDTH
_ROWS_A_PAGE = 34  # that fit on a landscape page when the sheet is fitted to its width
_TILE_PLACES = ((1, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, _LAST_COLUMN))


class _MetricsPage:
    """Writes downwards and starts a new page where a table would not fit on the one begun."""

    def __init__(self, sheet: Worksheet, content: ReviewContent) -> None:
        self.sheet, self.content, self.words = sheet, content, content.words
        self.row = 0
        self.breaks: list[int] = []

    def keep_together(self, rows: int) -> None:
        """Begin a new page if so many rows do not fit any more."""
        begun = self.breaks[-1] if self.breaks else 0
        if self.row > begun and self.row - begun + rows > _ROWS_A_PAGE:
            self.breaks.append(self.row)

    def section(self, title: str, explanation: str, rows: int) -> None:
        """A heading for something so many rows high."""
        self.row += 1
        self.keep_together(rows + 3)
        self.sheet.row(self.row, 22)
        self.sheet.across((self.row, 1), _LAST_COLUMN, title, "section")
        self.row += 1
        if explanation:
            self.sheet.row(self.row, 17)
            self.sheet.text((self.row, 1), explanation, "explanation")
            self.row += 1

    def table(self, table: ScoreTable) -> None:
        """A table of score rows under its heading."""
        self.section(table.title, table.note, len(table.rows))
        self.row = write_score_table(self.sheet, (self.row, 1), table, self.words)


def write_metrics(sheet: Worksheet, content: ReviewContent, case_sheets: CaseSheets, figures: HiddenFigures) -> None:
    """Everything that was measured, the live estimate beside it."""
    evaluation, words = content.evaluation, content.words
    sheet.column(0, 2)
    for column in range(2, _LAST_COLUMN + 1):
        sheet.column(column, _NUMBER_WIDTH)
    sheet.row(0, 30)
    sheet.text((0, 1), words["metrics.title"], "title")
    sheet.row(1, 20)
    sheet.text((1, 1), plain_headline(evaluation, words), "lead")
    sheet.text((2, 1), level_sentence(evaluation.options, words), "subtitle")
    page = _MetricsPage(sheet, content)
    page.row = write_tiles(sheet, 4, tiles(evaluation, words), _TILE_PLACES, words)
    page.row = write_live(sheet, page.row + 1, case_sheets, figures)
    levels, labels = level_table(evaluation, words), label_tables(evaluation, words)
    others = (*group_tables(evaluation, words), *scheme_tables(evaluation, words))
    names = [row.name for table in (levels, *labels, *others) for row in table.rows]
    sheet.column(1, width_for(names, *_NAME_WIDTHS) + 2)
    page.table(levels)
    _charts(page, labels, figures)
    for table in (*labels, *others):
        page.table(table)
    relaxed = strict_relaxed_table(evaluation, words)
    if relaxed is not None:
        page.section(relaxed.title, relaxed.note, len(relaxed.rows))
        page.row = write_table(sheet, (page.row, 1), relaxed, words, height=44)
    _signature(page)
    sheet.print_setup(landscape=True, footer=words["metrics.title"])
    sheet.print_area((page.row, _LAST_COLUMN))
    sheet.page_breaks(page.breaks)


def _charts(page: _MetricsPage, labels: tuple[ScoreTable, ...], figures: HiddenFigures) -> None:
    page.row += 1
    page.keep_together(CHART_ROWS)
    evaluation, words = page.content.evaluation, page.words
    chosen = f"layer-{evaluation.options.labelled or evaluation.pair.layers[0]}"
    for table in (table for table in labels if table.key == chosen):
        title = words("metrics.chart_labels", title=table.title)
        draw_chart(page.sheet, (page.row, 1), figures, rate_chart(table, title, words, slanted=True))
    draw_chart(page.sheet, (page.row, 7), figures, case_chart(error_bars(evaluation, words), words))
    page.row += CHART_ROWS


def _signature(page: _MetricsPage) -> None:
    page.row += 1
    page.sheet.text((page.row, 1), page.words["metrics.signature"], "bold")
    page.row += 1
    page.sheet.text((page.row, 1), page.content.evaluation.signature, "muted")
