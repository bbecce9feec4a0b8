"""Native charts of bars and dots, whose figures stand on a hidden sheet: not every program draws hidden columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, isnan, nan
from typing import Any

from clueval_xlsx.outputs.xlsx.book import Cell, Worksheet
from clueval_xlsx.outputs.xlsx.hidden import HiddenFigures
from clueval_xlsx.outputs.xlsx.styles import ACCENT, INK, LINE, SERIES, TONES
from clueval_xlsx.pages.page import Axis, Bar, Bars, Dots, Form, Tone
from clueval_xlsx.text.cells import JOINER, fitting

_HATCHED = "wide_upward_diagonal"  # so that bars differ without colour, too
_FONT = {"size": 9, "color": INK}
_ROW = 20  # pixels of a row below a chart
_BAR, _FRAME, _HEAD, _DOTS = 26, 30, 40, 200  # pixels: of a bar, of what is around bars, of a title, of dots
_MOST_NAMES = 25  # more make a chart unreadable; the table has them all
_MOST_LABELLED = 16  # dots with their values beside them
_LABELS = {Form.COUNT: "#,##0", Form.RATE: "0.0%", Form.POINTS: "+0.0;−0.0;0.0"}


@dataclass(frozen=True)
class DrawnSeries:
    """One series: its name, its values, and the ends of their intervals, if they have any."""

    name: str
    values: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


@dataclass(frozen=True)
class DrawnChart:
    """What a chart shows: bars of one series, each with its tone, or dots of one or two series on an axis."""

    title: str
    names: tuple[str, ...]
    series: tuple[DrawnSeries, ...]
    form: Form
    width: int  # pixels
    height: int
    tones: tuple[Tone, ...] = ()
    longest: float = nan  # of the bars beside it, which share one scale
    axis: Axis | None = None
    titled: bool = False

    @property
    def rows(self) -> int:
        """How many rows it covers."""
        return ceil(self.height / _ROW) + 1


def bar_charts(section: Bars, width: int) -> list[DrawnChart]:
    """One chart a panel, from the first bar downwards, all on one scale."""
    panels = [(name, bars[:_MOST_NAMES]) for name, bars in section.panels if bars]
    longest = max((bar.number.value for _, bars in panels for bar in bars), default=0.0)
    if not longest:
        return []
    most = max(len(bars) for _, bars in panels)
    head = _HEAD if any(name for name, _ in panels) else 0
    size = (int(width / max(len(panels), 1.5)), _FRAME + head + _BAR * most)
    charts = [_bar_chart(name or section.title, bars, longest, *size) for name, bars in panels]
    return [replace(chart, titled=bool(name)) for chart, (name, _) in zip(charts, panels, strict=True)]


def _bar_chart(title: str, bars: Sequence[Bar], longest: float, width: int, height: int) -> DrawnChart:
    # Charts begin at the bottom: turning the axis round would put it on top.
    bars = bars[::-1]
    series = DrawnSeries(title, tuple(bar.number.value for bar in bars))
    names, tones = tuple(bar.name for bar in bars), tuple(bar.tone for bar in bars)
    return DrawnChart(title, names, (series,), Form.COUNT, width, height, tones, longest)


def dot_chart(section: Dots, width: int) -> list[DrawnChart]:
    """Dots with their intervals above the names; none where there is nothing to draw."""
    rows = section.rows[:_MOST_NAMES]
    if not rows:
        return []
    scale = 100 if section.axis.form is Form.POINTS else 1
    series = []
    for place, name in enumerate(section.series):
        dots = [dots[place] for _, dots in rows]
        values = tuple(scale * dot.number.value for dot in dots)
        low, high = tuple(scale * dot.low for dot in dots), tuple(scale * dot.high for dot in dots)
        series.append(DrawnSeries(name, values, low, high))
    wide = width if len(rows) * len(series) > _MOST_LABELLED else int(width / 1.5)
    names = tuple(name for name, _ in rows)
    return [DrawnChart(section.title, names, tuple(series), section.axis.form, wide, _DOTS, axis=section.axis)]


def draw(sheet: Worksheet, cell: Cell, chart: DrawnChart, figures: HiddenFigures, left: int) -> None:
    """Write the figures of a chart, and draw it at a cell, so many pixels further right."""
    header = [chart.title]
    columns: list[tuple[float, ...]] = []
    for series in chart.series:
        header += [series.name, f"{series.name} −", f"{series.name} +"] if series.low else [series.name]
        columns += [series.values, *_arms(series)]
    row, column = figures.table(header, [*zip(chart.names, *columns, strict=True)])
    ranges = [
        figures.sheet.range((row, column + place), (row + len(chart.names) - 1, column + place))
        for place in range(len(columns) + 1)
    ]
    made = sheet.book.add_chart({"type": "line" if chart.axis else "bar"})
    step = 3 if chart.series[0].low else 1
    for place, series in enumerate(chart.series):
        own = ranges[1 + step * place : 1 + step * (place + 1)]
        options = {
            "name": series.name,
            "categories": f"={ranges[0]}",
            "values": f"={own[0]}",
            # What the cells hold goes along: XlsxWriter has forgotten it where the workbook is streamed.
            "categories_data": [_as_text(fitting(name)) for name in chart.names],
            "values_data": [None if isnan(value) else value for value in series.values],
        }
        made.add_series(options | (_dots(chart, place, own) if chart.axis else _bars(chart)))
    _frame(made, chart)
    placed = {"object_position": 2, "x_offset": left, "y_offset": 4, "description": chart.title}
    sheet.insert_chart(cell, made, placed)


def _arms(series: DrawnSeries) -> list[tuple[float, ...]]:
    """How far intervals reach below and above their dots."""
    below, above = [], []
    for value, low, high in zip(series.values, series.low, series.high, strict=bool(series.low)):
        known = not any(map(isnan, (value, low, high)))
        below.append(max(value - low, 0.0) if known else 0.0)
        above.append(max(high - value, 0.0) if known else 0.0)
    return [tuple(below), tuple(above)] if series.low else []


def _bars(chart: DrawnChart) -> dict[str, Any]:
    points = []
    for tone in chart.tones:
        colour = TONES.get(tone, ACCENT)
        pattern = {"pattern": _HATCHED, "fg_color": colour, "bg_color": "#FFFFFF"}
        look = {"pattern": pattern} if tone is Tone.PRED else {"fill": {"color": colour}}
        points.append({"border": {"color": colour}, **look})
    labels = {"value": True, "position": "outside_end", "num_format": _LABELS[chart.form], "font": _FONT}
    return {"points": points, "gap": 50, "data_labels": labels}


def _dots(chart: DrawnChart, place: int, ranges: Sequence[str]) -> dict[str, Any]:
    """Dots without a line between them, whose intervals are error bars that stand in ranges of cells."""
    colour, series = {"color": SERIES[place]}, chart.series[place]
    below, above = _arms(series)
    options: dict[str, Any] = {
        "line": {"none": True},
        "marker": {"type": ("circle", "diamond")[place], "size": 8, "border": colour, "fill": colour},
    }
    if any(below) or any(above):
        options["y_error_bars"] = {
            "type": "custom",
            "minus_values": f"={ranges[1]}",
            "minus_data": list(below),
            "plus_values": f"={ranges[2]}",
            "plus_data": list(above),
            "line": {**colour, "width": 1.5},
        }
    if len(chart.names) * len(chart.series) <= _MOST_LABELLED:
        labels = {"value": True, "position": "right", "num_format": _LABELS[chart.form], "font": {**_FONT, "size": 8}}
        options["data_labels"] = labels
    return options


def _as_text(name: str) -> str:
    """A name that XlsxWriter does not take for a number: `nan` would make a file that Excel calls damaged."""
    try:
        float(name)
    except ValueError:
        return name
    return name + JOINER


def _frame(made: Any, chart: DrawnChart) -> None:
    """Title, legend, border, size and axes."""
    made.show_hidden_data()  # the figures stand on a hidden sheet
    made.set_size({"width": chart.width, "height": chart.height})
    made.set_chartarea({"border": {"color": LINE}})
    many = len(chart.series) > 1
    made.set_legend({"position": "top", "font": _FONT} if many else {"none": True})
    title = {"name": chart.title, "name_font": {"size": 11, "color": ACCENT}, "overlay": False}
    made.set_title(title if chart.titled else {"none": True})
    if chart.axis is None:
        made.set_y_axis({"num_font": _FONT, "line": {"color": LINE}, "major_tick_mark": "none"})
        hidden = {"visible": False, "major_gridlines": {"visible": False}}
        made.set_x_axis({**hidden, "min": 0, "max": 1.15 * chart.longest})
        return
    scale = 100 if chart.form is Form.POINTS else 1
    ticks = [scale * value for value, _ in chart.axis.ticks]
    value_axis = {
        "num_format": "+0.#;−0.#;0" if chart.form is Form.POINTS else "0%" if ticks[1] - ticks[0] >= 0.01 else "0.0%",
        "num_font": _FONT,
        "major_gridlines": {"visible": True, "line": {"color": LINE}},
        "line": {"none": True},
    }
    made.set_y_axis({**value_axis, "min": ticks[0], "max": ticks[-1], "major_unit": ticks[1] - ticks[0]})
    made.set_x_axis({"num_font": _FONT, "line": {"color": LINE}, "label_position": "low"})
