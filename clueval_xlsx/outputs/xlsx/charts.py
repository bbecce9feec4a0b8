"""Native charts of a view; their figures stand on the same sheet, right of what is printed."""

from __future__ import annotations

from clueval_xlsx.cases.contexts import GOLD, PRED
from clueval_xlsx.cases.kinds import FN, FP
from clueval_xlsx.outputs.xlsx.book import Cell, Worksheet
from clueval_xlsx.outputs.xlsx.drawing import ChartKind, ChartSeries, NativeChart
from clueval_xlsx.outputs.xlsx.styles import ACCENT, GOLD_COLOUR, PRED_COLOUR
from clueval_xlsx.views.case_words import spans_name
from clueval_xlsx.views.overview import BarPlot
from clueval_xlsx.views.scores import ScoreTable
from clueval_xlsx.views.tables import TableView
from clueval_xlsx.words import Words

CHART_ROWS = 17  # how many rows a chart covers
_SECOND = "#F2A33A"
_MOST_BARS = 25  # more names than these make a chart unreadable; the table has them all


def rate_chart(table: ScoreTable, title: str, words: Words, *, slanted: bool = False) -> NativeChart:
    """Recall and precision of the rows of a table, side by side."""
    rows = table.plotted[:_MOST_BARS]
    series = (
        ChartSeries(words["metrics.recall"], ACCENT, hatched=False),
        ChartSeries(words["metrics.precision"], _SECOND, hatched=True),
    )
    names = tuple(row.name for row in rows)
    values = tuple((row.recall.value, row.precision.value) for row in rows)
    width = 1.28 if slanted else 1.2
    return NativeChart(ChartKind.COLUMNS, title, series, names, values, slanted, width)


def case_chart(plot: BarPlot, words: Words) -> NativeChart:
    """Missed and unsupported cases, one bar a class."""
    values = tuple(tuple(float(bar.count) if bar.mark == mark else 0.0 for mark in (GOLD, PRED)) for bar in plot.bars)
    names = tuple(bar.name for bar in plot.bars)
    return NativeChart(ChartKind.STACKED_BARS, plot.title, _case_series(words), names, values)


def ledger_chart(ledger: TableView, words: Words) -> NativeChart:
    """What missed and unsupported cases turned out to be."""
    keys = [column.key for column in ledger.columns]
    sides = [keys.index(FN), keys.index(FP)]
    rows = [row for row in ledger.rows if any(row[side] for side in sides)]
    values = tuple(tuple(float(str(row[side])) for side in sides) for row in rows)
    names = tuple(str(row[0]) for row in rows)
    return NativeChart(ChartKind.STACKED_BARS, ledger.title, _case_series(words), names, values)


def _case_series(words: Words) -> tuple[ChartSeries, ChartSeries]:
    return (
        ChartSeries(spans_name(FN, words), GOLD_COLOUR, hatched=False),
        ChartSeries(spans_name(FP, words), PRED_COLOUR, hatched=True),
    )


def place_chart(sheet: Worksheet, place: Cell, data: int, chart: NativeChart) -> None:
    """Write the figures of a chart from the column `data` on, and draw it; nothing where it would be empty."""
    row, _ = place
    if not chart.names:
        return
    style = "rate" if chart.kind is ChartKind.COLUMNS else "count"
    for line, (name, values) in enumerate(zip(chart.names, chart.values, strict=True), row):
        sheet.text((line, data), name, "muted")
        for column, value in enumerate(values, data + 1):
            sheet.number((line, column), value, style)
    sheet.draw(place, chart, (row, data))
