"""Native charts of the Metrics sheet; their figures stand on the same sheet, right of what is printed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from clueval_xlsx.cases.kinds import CLASSES, FN, FP
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.outputs.xlsx.book import Sheet
from clueval_xlsx.outputs.xlsx.styles import ACCENT, GOLD_COLOUR, INK, LINE, PRED_COLOUR
from clueval_xlsx.words import Words

CHART_ROWS = 17  # how many rows a chart covers
_SECOND = "#F2A33A"
_HATCHED = "wide_upward_diagonal"  # so that two series differ without colour, too
_MOST_BARS = 25  # more labels than these make a chart unreadable; the table has them all
_FONT = {"size": 9, "color": INK}


def chart_by_label(
    sheet: Sheet, row: int, column: int, data: int, rows: pd.DataFrame, words: Words, layer: str
) -> None:
    """Recall and precision of the most frequent labels, side by side."""
    rows = rows.sort_values("gold", ascending=False, kind="stable").head(_MOST_BARS)
    if not len(rows):
        return
    for line, record in enumerate(rows.to_dict("records"), row):
        sheet.text((line, data), record["label"], "muted")
        for offset, key in enumerate(("recall", "precision"), 1):
            sheet.number((line, data + offset), record[key], "rate")
    title = words("metrics.chart_labels", layer=layer)
    chart = sheet.book.chart({"type": "column"})
    looks = ((words["metrics.recall"], ACCENT, False), (words["metrics.precision"], _SECOND, True))
    _add_series(chart, sheet, (row, data), len(rows), looks)
    _frame(chart, title)
    chart.set_y_axis({**_value_axis("0%"), "max": 1})
    chart.set_x_axis({"num_font": {**_FONT, "rotation": -45}, "line": {"color": LINE}})
    sheet.place_chart((row, column), chart, object_position=2, x_scale=1.28, y_scale=1.12, description=title)


def chart_by_class(sheet: Sheet, row: int, column: int, data: int, evaluation: Evaluation, words: Words) -> None:
    """How many cases of each class there are on either sheet."""
    found = [table["class"].value_counts() for table in evaluation.bare_cases]
    bars = [(words[f"class.{name}"], *(float(counts.get(name, 0)) for counts in found)) for name in CLASSES]
    _stacked(sheet, (row, column), data, bars, words["metrics.chart_classes"], words)


def chart_of_states(
    sheet: Sheet, row: int, column: int, data: int, states: pd.DataFrame, names: list[str], words: Words
) -> None:
    """Recall and precision of each state of a judged run."""
    for line, (name, record) in enumerate(zip(names, states.to_dict("records"), strict=True), row):
        sheet.text((line, data), name, "muted")
        for offset, key in enumerate(("recall", "precision"), 1):
            sheet.number((line, data + offset), record[key], "rate")
    title = words["adjudicated.chart"]
    chart = sheet.book.chart({"type": "column"})
    looks = ((words["metrics.recall"], ACCENT, False), (words["metrics.precision"], _SECOND, True))
    _add_series(chart, sheet, (row, data), len(states), looks)
    _frame(chart, title)
    chart.set_y_axis({**_value_axis("0%"), "max": 1})
    chart.set_x_axis({"num_font": _FONT, "line": {"color": LINE}})
    sheet.place_chart((row, column), chart, object_position=2, x_scale=1.2, y_scale=1.12, description=title)


def chart_of_ledger(sheet: Sheet, row: int, column: int, data: int, ledger: pd.DataFrame, words: Words) -> None:
    """What missed and unsupported cases turned out to be."""
    bars = [
        (words[f"adjudicated.entry_{record['entry']}"], float(record[FN]), float(record[FP]))
        for record in ledger.to_dict("records")
    ]
    _stacked(sheet, (row, column), data, bars, words["adjudicated.chart_ledger"], words)


def _stacked(
    sheet: Sheet, place: tuple[int, int], data: int, bars: Sequence[tuple[Any, ...]], title: str, words: Words
) -> None:
    """Missed and unsupported cases in one bar a name; names without any are left out."""
    row, _ = place
    shown = [bar for bar in bars if any(bar[1:])]
    if not shown:
        return
    for line, (name, *counts) in enumerate(shown, row):
        sheet.text((line, data), name, "muted")
        for offset, count in enumerate(counts, 1):
            sheet.number((line, data + offset), count, "count")
    chart = sheet.book.chart({"type": "bar", "subtype": "stacked"})
    looks = ((words["metrics.tile_fn"], GOLD_COLOUR, False), (words["metrics.tile_fp"], PRED_COLOUR, True))
    _add_series(chart, sheet, (row, data), len(shown), looks)
    _frame(chart, title)
    chart.set_x_axis(_value_axis("0"))
    chart.set_y_axis({"reverse": True, "num_font": _FONT, "line": {"color": LINE}})
    sheet.place_chart(place, chart, object_position=2, x_scale=1.05, y_scale=1.12, description=title)


def _add_series(
    chart: Any, sheet: Sheet, first: tuple[int, int], size: int, looks: tuple[tuple[str, str, bool], ...]
) -> None:
    """Series whose values stand right of their categories."""
    row, data = first
    last = row + size - 1
    for offset, (name, colour, hatched) in enumerate(looks, 1):
        pattern = {"pattern": {"pattern": _HATCHED, "fg_color": colour, "bg_color": "#FFFFFF"}}
        chart.add_series(
            {
                "name": name,
                "categories": "=" + sheet.range((row, data), (last, data)),
                "values": "=" + sheet.range((row, data + offset), (last, data + offset)),
                "border": {"color": colour},
                "gap": 60,
                **(pattern if hatched else {"fill": {"color": colour}}),
            }
        )


def _frame(chart: Any, title: str) -> None:
    chart.show_hidden_data()  # the figures may stand in hidden columns
    chart.set_title({"name": title, "name_font": {"size": 11, "color": ACCENT}, "overlay": False})
    chart.set_legend({"position": "bottom", "font": _FONT})
    chart.set_chartarea({"border": {"color": LINE}})


def _value_axis(number_format: str) -> dict[str, Any]:
    return {
        "num_format": number_format,
        "num_font": _FONT,
        "major_gridlines": {"visible": True, "line": {"color": LINE}},
        "line": {"none": True},
        "min": 0,
    }
