"""Native charts of bars and dots, whose figures stand on a hidden sheet: not every program draws hidden columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, isnan
from typing import Any

from clueval_xlsx.outputs.xlsx.book import Cell, Worksheet
from clueval_xlsx.outputs.xlsx.hidden import HiddenFigures
from clueval_xlsx.outputs.xlsx.styles import ACCENT, INK, LINE, SERIES, TONES
from clueval_xlsx.pages.page import Bar, Bars, Dot, Dots, Form, Tone
from clueval_xlsx.text.cells import JOINER, fitting

_HATCHED = "wide_upward_diagonal"  # so that bars differ without colour, too
_FONT = {"size": 9, "color": INK}
_ROW = 20  # pixels of a row below a chart
_BAR, _FRAME, _HEAD, _DOTS = 26, 30, 40, 180  # pixels: of a bar, of what is around bars, of a title, of dots
_MOST_NAMES = 25  # more make a chart unreadable; the table has them all
_MOST_LABELLED = 16  # dots with their values beside them
_LABELS = {Form.COUNT: "#,##0", Form.RATE: "0.0%", Form.POINTS: "+0.0;−0.0;0.0"}


def chart_rows(section: Bars | Dots) -> int:
    """How many rows of a sheet the charts of a section cover: none where there is nothing to draw."""
    high = _height(section)
    return ceil(high / _ROW) + 1 if high else 0


def _height(section: Bars | Dots) -> int:
    if isinstance(section, Dots):
        return _DOTS if section.rows else 0
    if not _longest(section):
        return 0
    head = _HEAD if any(name for name, _ in section.panels) else 0
    return _FRAME + head + _BAR * min(max(len(bars) for _, bars in section.panels), _MOST_NAMES)


def _longest(section: Bars) -> float:
    """The longest bar of all panels, which share one scale."""
    return max((bar.number.value for _, bars in section.panels for bar in bars), default=0.0)


def draw(sheet: Worksheet, cell: Cell, section: Bars | Dots, width: int, figures: HiddenFigures) -> None:
    """Draw a section at a cell, within so many pixels."""
    if isinstance(section, Dots):
        rows = section.rows[:_MOST_NAMES]
        labelled = len(rows) * len(section.series) <= _MOST_LABELLED
        charts = [(section.title, _dots(sheet, section, rows, figures, labelled=labelled))]
        wide = int(width / 1.5) if labelled else width
    else:
        panels = [(name, bars[:_MOST_NAMES]) for name, bars in section.panels if bars]
        wide = int(width / max(len(panels), 1.5))
        charts = [(name or section.title, _bars(sheet, section, name, bars, figures)) for name, bars in panels]
    for place, (title, chart) in enumerate(charts):
        chart.set_size({"width": wide, "height": _height(section)})
        left = place * (wide + 10)
        options = {"object_position": 2, "x_offset": left, "y_offset": 4, "description": title}
        sheet.insert_chart(cell, chart, options)


def _bars(sheet: Worksheet, section: Bars, name: str, bars: Sequence[Bar], figures: HiddenFigures) -> Any:
    """A panel from the first bar downwards."""
    bars = bars[::-1]  # charts begin at the bottom: turning the axis round would put it on top
    title = name or section.title
    chart = _chart(sheet, "bar", name)
    chart.set_legend({"none": True})
    data = _series(figures, title, [bar.name for bar in bars], {title: [bar.number.value for bar in bars]})
    points = []
    for bar in bars:
        colour = TONES.get(bar.tone, ACCENT)
        pattern = {"pattern": _HATCHED, "fg_color": colour, "bg_color": "#FFFFFF"}
        look = {"pattern": pattern} if bar.tone is Tone.PRED else {"fill": {"color": colour}}
        points.append({"border": {"color": colour}, **look})
    labels = {"value": True, "position": "outside_end", "num_format": _LABELS[Form.COUNT], "font": _FONT}
    chart.add_series({**data[0], "points": points, "gap": 50, "data_labels": labels})
    chart.set_y_axis({"num_font": _FONT, "line": {"color": LINE}, "major_tick_mark": "none"})
    hidden = {"visible": False, "major_gridlines": {"visible": False}}
    chart.set_x_axis({**hidden, "min": 0, "max": 1.15 * _longest(section)})
    return chart


def _dots(
    sheet: Worksheet,
    section: Dots,
    rows: Sequence[tuple[str, Sequence[Dot]]],
    figures: HiddenFigures,
    *,
    labelled: bool,
) -> Any:
    """Dots without a line between them, whose intervals are error bars that stand in ranges of cells."""
    form = section.axis.form
    scale = 100 if form is Form.POINTS else 1
    columns: dict[str, list[float]] = {}
    for place, name in enumerate(section.series):
        dots = [of_row[place] for _, of_row in rows]
        columns[name] = [scale * dot.number.value for dot in dots]
        columns[f"{name} −"] = [scale * _reach(dot.number.value - dot.low) for dot in dots]
        columns[f"{name} +"] = [scale * _reach(dot.high - dot.number.value) for dot in dots]
    chart = _chart(sheet, "line", "")
    chart.set_legend({"position": "top", "font": _FONT} if len(section.series) > 1 else {"none": True})
    data = _series(figures, section.title, [name for name, _ in rows], columns)
    for place in range(len(section.series)):
        values, below, above = data[3 * place : 3 * place + 3]
        colour = {"color": SERIES[place]}
        marker = {"type": ("circle", "diamond")[place], "size": 8, "border": colour, "fill": colour}
        options = {**values, "line": {"none": True}, "marker": marker}
        if any(below["values_data"]) or any(above["values_data"]):
            options["y_error_bars"] = {
                "type": "custom",
                "minus_values": below["values"],
                "minus_data": below["values_data"],
                "plus_values": above["values"],
                "plus_data": above["values_data"],
                "line": {**colour, "width": 1.5},
            }
        if labelled:
            font = {**_FONT, "size": 8}
            options["data_labels"] = {"value": True, "position": "right", "num_format": _LABELS[form], "font": font}
        chart.add_series(options)
    ticks = [scale * value for value, _ in section.axis.ticks]
    step = ticks[1] - ticks[0]
    value_axis = {
        "num_format": "+0.#;−0.#;0" if form is Form.POINTS else "0%" if step >= 0.01 else "0.0%",
        "num_font": _FONT,
        "major_gridlines": {"visible": True, "line": {"color": LINE}},
        "line": {"none": True},
    }
    chart.set_y_axis({**value_axis, "min": ticks[0], "max": ticks[-1], "major_unit": step})
    chart.set_x_axis({"num_font": _FONT, "line": {"color": LINE}, "label_position": "low"})
    return chart


def _reach(distance: float) -> float:
    """How far an interval reaches from its dot; nowhere if it is not known."""
    return 0.0 if isnan(distance) else max(distance, 0.0)


def _series(
    figures: HiddenFigures, title: str, names: Sequence[str], columns: Mapping[str, Sequence[float]]
) -> list[dict[str, Any]]:
    """Write the figures of a chart below those that are there; what each column is as a series."""
    row, column = figures.table([title, *columns], [*zip(names, *columns.values(), strict=True)])
    last = row + len(names) - 1
    # The names go along: XlsxWriter would take some for numbers.
    shared = {
        "categories": f"={figures.sheet.range((row, column), (last, column))}",
        "categories_data": [_as_text(fitting(name)) for name in names],
    }
    series = []
    for place, (name, values) in enumerate(columns.items(), column + 1):
        cells = figures.sheet.range((row, place), (last, place))
        data = [None if isnan(value) else value for value in values]
        series.append({**shared, "name": name, "values": f"={cells}", "values_data": data})
    return series


def _as_text(name: str) -> str:
    """A name that XlsxWriter does not take for a number: `nan` would make a file that Excel calls damaged."""
    try:
        float(name)
    except ValueError:
        return name
    return name + JOINER


def _chart(sheet: Worksheet, kind: str, title: str) -> Any:
    """A chart as all of them look."""
    chart = sheet.book.add_chart({"type": kind})
    chart.show_hidden_data()  # the figures stand on a hidden sheet
    chart.set_chartarea({"border": {"color": LINE}})
    font = {"size": 11, "color": ACCENT}
    chart.set_title({"name": title, "name_font": font, "overlay": False} if title else {"none": True})
    return chart
