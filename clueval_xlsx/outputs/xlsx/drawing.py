"""Native charts: what they show, and how all of them look."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from clueval_xlsx.outputs.xlsx.styles import ACCENT, INK, LINE
from clueval_xlsx.text.cells import JOINER, fitting

_HATCHED = "wide_upward_diagonal"  # so that two series differ without colour, too
_FONT = {"size": 9, "color": INK}


class ChartKind(StrEnum):
    """The kinds of charts there are."""

    COLUMNS = "columns"  # rates side by side
    BARS = "bars"  # counts, a bar for each name and series
    DOTS = "dots"  # rates with their intervals on an axis that may be cut
    DIFFERENCES = "differences"  # differences in points with their intervals, on both sides of nothing


# Of the values beside their marks; nothing stands beside a bar that is not there.
_FORMATS = {
    ChartKind.COLUMNS: "0%",
    ChartKind.BARS: "#,##0;;",
    ChartKind.DOTS: "0.0%",
    ChartKind.DIFFERENCES: "+0.0;−0.0;0.0",
}
_MANY_COLUMNS = 6  # names; from here on values stand upright above their columns


@dataclass(frozen=True)
class ChartSeries:
    """One series: its name, its colour, and whether it is hatched."""

    name: str
    colour: str
    hatched: bool


@dataclass(frozen=True)
class NativeChart:
    """A chart: a value for each name and series."""

    kind: ChartKind
    title: str
    series: tuple[ChartSeries, ...]
    names: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]  # a row for each name
    slanted: bool = False  # names that need room stand at an angle
    overlaid: bool = False  # each name has a value in one series alone, whose bar takes the whole place
    width: float = 1.05  # against a chart as Excel makes it
    intervals: tuple[tuple[tuple[float, float], ...], ...] = ()  # of dots: low and high for each name and series
    axis: tuple[float, float, float] | None = None  # low, high, step


def chart_type(chart: NativeChart) -> dict[str, str]:
    """What a chart is made from."""
    types = {
        ChartKind.COLUMNS: {"type": "column"},
        ChartKind.BARS: {"type": "bar"},
    }
    return types.get(chart.kind, {"type": "line"})


def series_options(chart: NativeChart, place: int, names: str, values: str) -> dict[str, Any]:
    """How a series looks; its names and values stand in ranges of cells."""
    series = chart.series[place]
    if chart.intervals:
        return {"name": series.name, "categories": f"={names}", "values": f"={values}"}
    pattern = {"pattern": {"pattern": _HATCHED, "fg_color": series.colour, "bg_color": "#FFFFFF"}}
    upright = chart.kind is ChartKind.COLUMNS and len(chart.names) > _MANY_COLUMNS
    font = {"size": 8, "color": INK, **({"rotation": -90} if upright else {})}
    return {
        "name": series.name,
        "categories": f"={names}",
        "values": f"={values}",
        "border": {"color": series.colour},
        "gap": 60,
        **({"overlap": 100} if chart.overlaid else {}),
        "data_labels": {"value": True, "position": "outside_end", "num_format": _FORMATS[chart.kind], "font": font},
        **(pattern if series.hatched else {"fill": {"color": series.colour}}),
    }


def arms(chart: NativeChart) -> tuple[tuple[float, ...], ...]:
    """For each name how far the intervals of each series reach below and above its dot."""
    found = []
    for values, intervals in zip(chart.values, chart.intervals, strict=True):
        row: list[float] = []
        for value, (low, high) in zip(values, intervals, strict=True):
            known = not any(math.isnan(number) for number in (value, low, high))
            row += [max(value - low, 0.0), max(high - value, 0.0)] if known else [0.0, 0.0]
        found.append(tuple(row))
    return tuple(found)


def with_dots(chart: NativeChart, place: int, below: str, above: str) -> dict[str, Any]:
    """Dots without a line between them, whose intervals are error bars that stand in ranges of cells."""
    series, reach = chart.series[place], arms(chart)
    colour = {"color": series.colour}
    return {
        "line": {"none": True},
        "marker": {"type": "diamond" if series.hatched else "circle", "size": 8, "border": colour, "fill": colour},
        "y_error_bars": {
            "type": "custom",
            "minus_values": f"={below}",
            "minus_data": [row[2 * place] for row in reach],
            "plus_values": f"={above}",
            "plus_data": [row[2 * place + 1] for row in reach],
            "line": {**colour, "width": 1.5},
        },
        "data_labels": {"value": True, "position": "right", "num_format": _FORMATS[chart.kind], "font": _FONT},
    }


def cached(chart: NativeChart, series: int) -> dict[str, Any]:
    """The names and values of a series as a program shows them before it has looked at the cells."""
    return {
        "categories_data": [_as_text(fitting(name)) for name in chart.names],
        "values_data": [None if math.isnan(values[series]) else values[series] for values in chart.values],
    }


def _as_text(name: str) -> str:
    """A name that XlsxWriter does not take for a number: `nan` would make a file that Excel calls damaged."""
    try:
        float(name)
    except ValueError:
        return name
    return name + JOINER


def frame(made: Any, chart: NativeChart) -> None:
    """Title, legend, border and axes of a chart of XlsxWriter's."""
    made.show_hidden_data()  # the figures stand on a hidden sheet
    made.set_title({"name": chart.title, "name_font": {"size": 11, "color": ACCENT}, "overlay": False})
    made.set_legend({"position": "bottom", "font": _FONT})
    made.set_chartarea({"border": {"color": LINE}})
    if chart.axis is not None:
        low, high, step = chart.axis
        number_format = "0%" if chart.kind is ChartKind.DOTS else "+0.#;−0.#;0"
        made.set_y_axis({**_value_axis(number_format), "min": low, "max": high, "major_unit": step})
        made.set_x_axis({"num_font": _FONT, "line": {"color": LINE}, "label_position": "low"})
        if len(chart.series) == 1:
            made.set_legend({"none": True})
    elif chart.kind is ChartKind.COLUMNS:
        made.set_y_axis({**_value_axis("0%"), "max": 1.19, "major_unit": 0.2})  # room for the values above the columns
        font = {**_FONT, "rotation": -45} if chart.slanted else _FONT
        made.set_x_axis({"num_font": font, "line": {"color": LINE}})
    else:
        made.set_x_axis(_value_axis("0"))
        made.set_y_axis({"num_font": _FONT, "line": {"color": LINE}})


def _value_axis(number_format: str) -> dict[str, Any]:
    return {
        "num_format": number_format,
        "num_font": _FONT,
        "major_gridlines": {"visible": True, "line": {"color": LINE}},
        "line": {"none": True},
        "min": 0,
    }
