"""Native charts of a view; their figures stand on a hidden sheet: some programs draw none from hidden columns."""

from __future__ import annotations

from clueval_xlsx.cases.contexts import GOLD, PRED
from clueval_xlsx.cases.kinds import FN, FP
from clueval_xlsx.outputs.xlsx.book import Cell, Worksheet
from clueval_xlsx.outputs.xlsx.drawing import ChartKind, ChartSeries, NativeChart, arms
from clueval_xlsx.outputs.xlsx.hidden import HiddenFigures
from clueval_xlsx.outputs.xlsx.styles import ACCENT, GOLD_COLOUR, PRED_COLOUR
from clueval_xlsx.review.case_words import spans_name
from clueval_xlsx.views.overview import BarPlot
from clueval_xlsx.views.rate_axis import RateAxis
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
    return NativeChart(ChartKind.COLUMNS, title, series, names, values, slanted=slanted, width=width)


def dot_charts(table: ScoreTable, axis: RateAxis, words: Words) -> tuple[NativeChart, ...]:
    """Recall, and precision: a dot with its interval for each row, both on the same cut axis."""
    looks = {"recall": (ACCENT, False), "precision": (_SECOND, True)}
    charts = []
    for key, (colour, hatched) in looks.items():
        rates = [getattr(row, key) for row in table.rows]
        charts.append(
            NativeChart(
                ChartKind.DOTS,
                words[f"metrics.{key}"],
                (ChartSeries(words[f"metrics.{key}"], colour, hatched=hatched),),
                tuple(row.name for row in table.rows),
                tuple((rate.value,) for rate in rates),
                intervals=tuple(((rate.low, rate.high),) for rate in rates),
                axis=(axis.low, axis.high, axis.step),
            )
        )
    return tuple(charts)


def case_chart(plot: BarPlot, words: Words) -> NativeChart:
    """Missed and unsupported cases, one bar a class."""
    values = tuple(tuple(float(bar.count) if bar.mark == mark else 0.0 for mark in (GOLD, PRED)) for bar in plot.bars)
    names = tuple(bar.name for bar in plot.bars)
    return _bars(plot.title, words, names, values, overlaid=True)


def ledger_chart(ledger: TableView, words: Words) -> NativeChart:
    """What missed and unsupported cases turned out to be."""
    keys = [column.key for column in ledger.columns]
    sides = [keys.index(FN), keys.index(FP)]
    rows = [row for row in ledger.rows if any(row[side] for side in sides)]
    values = tuple(tuple(float(str(row[side])) for side in sides) for row in rows)
    names = tuple(str(row[0]) for row in rows)
    return _bars(ledger.title, words, names, values)


def _bars(
    title: str,
    words: Words,
    names: tuple[str, ...],
    values: tuple[tuple[float, ...], ...],
    *,
    overlaid: bool = False,
) -> NativeChart:
    """Bars from the first name downwards. Charts begin at the bottom: turning the axis round would put it on top."""
    return NativeChart(ChartKind.BARS, title, _case_series(words), names[::-1], values[::-1], overlaid=overlaid)


def _case_series(words: Words) -> tuple[ChartSeries, ChartSeries]:
    return (
        ChartSeries(spans_name(FN, words), GOLD_COLOUR, hatched=False),
        ChartSeries(spans_name(FP, words), PRED_COLOUR, hatched=True),
    )


def draw_chart(sheet: Worksheet, place: Cell, figures: HiddenFigures, chart: NativeChart) -> None:
    """Write the figures of a chart, and draw it on the sheet that shows it; nothing where it would be empty."""
    if not chart.names:
        return
    header = [chart.title, *(series.name for series in chart.series)]
    rows: list[tuple[str | float, ...]] = [
        (name, *values) for name, values in zip(chart.names, chart.values, strict=True)
    ]
    if chart.intervals:
        header += [f"{series.name} {sign}" for series in chart.series for sign in "−+"]
        rows = [(*row, *reach) for row, reach in zip(rows, arms(chart), strict=True)]
    first = figures.table(header, rows)
    sheet.draw(place, chart, figures.sheet, first)
