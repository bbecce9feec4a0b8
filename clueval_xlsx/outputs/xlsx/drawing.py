"""Native charts: what they show, and how all of them look."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from clueval_xlsx.outputs.xlsx.styles import ACCENT, INK, LINE

_HATCHED = "wide_upward_diagonal"  # so that two series differ without colour, too
_FONT = {"size": 9, "color": INK}


class ChartKind(StrEnum):
    """The kinds of charts there are."""

    COLUMNS = "columns"  # rates side by side
    STACKED_BARS = "stacked_bars"  # counts in one bar a name


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
    width: float = 1.05  # against a chart as Excel makes it


def chart_type(chart: NativeChart) -> dict[str, str]:
    """What a chart is made from."""
    return {"type": "column"} if chart.kind is ChartKind.COLUMNS else {"type": "bar", "subtype": "stacked"}


def series_options(series: ChartSeries, names: str, values: str) -> dict[str, Any]:
    """How a series looks; its names and values stand in ranges of cells."""
    pattern = {"pattern": {"pattern": _HATCHED, "fg_color": series.colour, "bg_color": "#FFFFFF"}}
    return {
        "name": series.name,
        "categories": f"={names}",
        "values": f"={values}",
        "border": {"color": series.colour},
        "gap": 60,
        **(pattern if series.hatched else {"fill": {"color": series.colour}}),
    }


def frame(made: Any, chart: NativeChart) -> None:
    """Title, legend, border and axes of a chart of XlsxWriter's."""
    made.show_hidden_data()  # the figures may stand in hidden columns
    made.set_title({"name": chart.title, "name_font": {"size": 11, "color": ACCENT}, "overlay": False})
    made.set_legend({"position": "bottom", "font": _FONT})
    made.set_chartarea({"border": {"color": LINE}})
    if chart.kind is ChartKind.COLUMNS:
        made.set_y_axis({**_value_axis("0%"), "max": 1})
        font = {**_FONT, "rotation": -45} if chart.slanted else _FONT
        made.set_x_axis({"num_font": font, "line": {"color": LINE}})
    else:
        made.set_x_axis(_value_axis("0"))
        made.set_y_axis({"reverse": True, "num_font": _FONT, "line": {"color": LINE}})


def _value_axis(number_format: str) -> dict[str, Any]:
    return {
        "num_format": number_format,
        "num_font": _FONT,
        "major_gridlines": {"visible": True, "line": {"color": LINE}},
        "line": {"none": True},
        "min": 0,
    }
