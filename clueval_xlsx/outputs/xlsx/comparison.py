"""The comparison workbook: systems side by side, and the errors each makes alone or shares with others."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import BinaryIO

from clueval_xlsx.cases.contexts import Segment, emoji_pieces
from clueval_xlsx.comparison import Comparison
from clueval_xlsx.outputs.xlsx.book import MOST_ROWS, Book, Worksheet
from clueval_xlsx.outputs.xlsx.charts import CHART_ROWS, difference_chart, draw_chart
from clueval_xlsx.outputs.xlsx.hidden import HiddenFigures
from clueval_xlsx.outputs.xlsx.measure import height, lines
from clueval_xlsx.outputs.xlsx.tables import SCORE_WIDTH, write_score_table, write_table
from clueval_xlsx.review.case_sheet import SIGN
from clueval_xlsx.review.case_words import sheet_name
from clueval_xlsx.views.comparison import (
    MARKS,
    ComparedCase,
    ComparedCases,
    ComparisonView,
    comparison_view,
    difference_table,
)
from clueval_xlsx.words import Words

_NAME_WIDTH, _NUMBER_WIDTH, _CONTEXT_WIDTH = 44, 13, 70
_FOLDED_ROW, _LEGEND_ROW, _HEADER_ROW = 2, 3, 4


def write_comparison(comparison: Comparison, target: Path | BinaryIO, language: str = "en") -> None:
    """Write the workbook: one sheet of figures, one of missed and one of unsupported spans."""
    words = Words(language)
    view = comparison_view(comparison, words)
    size = MOST_ROWS - _HEADER_ROW - 1
    with Book(target, title=words["compare.title"]) as book:
        figures = book.sheet(words["compare.sheet_metrics"])
        for found in view.cases:
            for begin in range(0, max(len(found.cases), 1), size):
                sheet = book.sheet(sheet_name(found.sheet, words))
                _CaseTable(sheet, view, words).write(found, begin, found.cases[begin : begin + size])
        _Figures(figures, view, words).write(HiddenFigures(book))


class _Figures:
    """Writes the sheet of figures downwards."""

    def __init__(self, sheet: Worksheet, view: ComparisonView, words: Words) -> None:
        self.sheet, self.view, self.words = sheet, view, words
        self.last = max(1 + 4 * (len(view.systems) - 1), SCORE_WIDTH - 1)
        self.row = 3

    def write(self, figures: HiddenFigures) -> None:
        """The verdict, every rate with what distinguishes the systems, errors alone and shared, schemes, signature."""
        sheet, view, words = self.sheet, self.view, self.words
        sheet.column(0, _NAME_WIDTH)
        for column in range(1, self.last + 1):
            sheet.column(column, _NUMBER_WIDTH)
        sheet.row(0, 30)
        sheet.text((0, 0), words["compare.title"], "title")
        systems = "   ·   ".join(view.systems)
        sheet.text((1, 0), words("compare.subtitle", gold=view.reference, systems=systems), "subtitle")
        for verdict in view.verdicts:
            self._line(verdict, "headline", 1.35)
        self.row += 1
        self._section(view.headline.title, view.chosen)
        self.row = write_score_table(sheet, (self.row, 0), view.headline, words) + 1
        self._section(view.plot.title, view.plot.note)
        draw_chart(sheet, (self.row, 0), figures, difference_chart(view.plot))
        self.row += CHART_ROWS + 1
        for rate in view.differences:
            table = difference_table(rate, words)
            self._section(table.title, view.explained)
            self.row = write_table(sheet, (self.row, 0), table, words, height=30) + 1
        self._section(view.shared.title, view.shared.note)
        self.row = write_table(sheet, (self.row, 0), view.shared, words, height=30) + 1
        for name, sentence in view.schemes:
            self._line(f"{name}: {sentence}")
        self.row += 1
        self._line(view.signature)
        sheet.freeze(0, 1)
        sheet.print_area((self.row, self.last))
        sheet.print_setup(landscape=True, footer=words["compare.title"])

    def _section(self, title: str, explanation: str) -> None:
        self.sheet.row(self.row, 22)
        self.sheet.across((self.row, 0), self.last, title, "section")
        self.row += 1
        self._line(explanation)

    def _line(self, text: str, style: str = "muted_wrap", scale: float = 1.0) -> None:
        width = _NAME_WIDTH + self.last * _NUMBER_WIDTH
        self.sheet.row(self.row, height(lines(text, width, scale) * scale))
        self.sheet.across((self.row, 0), self.last, text, style)
        self.row += 1


class _CaseTable:
    """Writes a sheet of errors: who makes each, and how."""

    def __init__(self, sheet: Worksheet, view: ComparisonView, words: Words) -> None:
        self.sheet, self.words = sheet, words
        one = len(view.layers) == 1
        label = words["column.label"]
        self.columns = [
            (words["column.case"], 18.0),
            (words["column.document"], 16.0),
            (words["column.span"], 24.0),
            *((label if one else f"{label}: {layer}", 14.0) for layer in view.layers),
            *((system, 14.0) for system in view.systems),
            (words["column.context"], float(_CONTEXT_WIDTH)),
        ]

    def write(self, found: ComparedCases, begin: int, cases: Sequence[ComparedCase]) -> None:
        """The cases that this sheet has room for, from number `begin` on; what several systems get wrong is folded."""
        sheet, words = self.sheet, self.words
        sheet.row(0, 28)
        sheet.text((0, 0), found.title, "title")
        sheet.text((1, 0), words["compare.cases"], "subtitle")
        sheet.text((_FOLDED_ROW, 0), words["compare.folded"], "explanation")
        legend: list[tuple[str, str]] = []
        for mark in MARKS:
            legend += [*emoji_pieces([Segment(words[f"compare.mark_{mark}"], mark)], SIGN), ("   ", "")]
        sheet.rich((_LEGEND_ROW, 0), legend, "plain")
        sheet.row(_HEADER_ROW, 34)
        for column, (header, width) in enumerate(self.columns):
            sheet.column(column, width)
            sheet.text((_HEADER_ROW, column), header, "header_filter")
        for place, case in enumerate(cases):
            self._case(_HEADER_ROW + 1 + place, case, folded=begin + place >= found.alone)
        sheet.filter((_HEADER_ROW, 0), (_HEADER_ROW + max(len(cases), 1), len(self.columns) - 1))
        sheet.freeze(_HEADER_ROW + 1, 1)
        sheet.print_setup(landscape=True, header_row=_HEADER_ROW, footer=words["compare.title"])

    def _case(self, row: int, case: ComparedCase, *, folded: bool) -> None:
        texts = (case.case_id, case.document, case.surface, *case.labels, *case.classes)
        most = lines(case.context, _CONTEXT_WIDTH)
        for column, text in enumerate(texts):
            most = max(most, lines(text, self.columns[column][1])) if text else most
            self.sheet.text((row, column), text, "cell")
        self.sheet.rich((row, len(texts)), emoji_pieces(case.segments, SIGN), "cell_context")
        self.sheet.row(row, height(most), folded=folded)
