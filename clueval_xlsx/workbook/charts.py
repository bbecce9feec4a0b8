"""Native charts of the Metrics sheet; their figures stand on the same sheet, right of what is printed."""

from __future__ import annotations

from typing import Any

import pandas as pd

from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.layout import CLASSES, FN, FP
from clueval_xlsx.words import Words
from clueval_xlsx.workbook.book import Sheet
from clueval_xlsx.workbook.styles import ACCENT, GOLD_COLOUR, INK, LINE, PRED_COLOUR

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
    found = {name: table["class"].value_counts() for name, table in zip((FN, FP), evaluation.cases, strict=True)}
    shown = [name for name in CLASSES if any(name in counts.index for counts in found.values())]
    if not shown:
        return
    for line, name in enumerate(shown, row):
        sheet.text((line, data), words[f"class.{name}"], "muted")
        for offset, kind in enumerate((FN, FP), 1):
            sheet.number((line, data + offset), float(found[kind].get(name, 0)), "count")
    title = words["metrics.chart_classes"]
    chart = sheet.book.chart({"type": "bar", "subtype": "stacked"})
    looks = ((words["metrics.tile_fn"], GOLD_COLOUR, False), (words["metrics.tile_fp"], PRED_COLOUR, True))
    _add_series(chart, sheet, (row, data), len(shown), looks)
    _frame(chart, title)
    chart.set_x_axis(_value_axis("0"))
    chart.set_y_axis({"reverse": True, "num_font": _FONT, "line": {"color": LINE}})
    sheet.place_chart((row, column), chart, object_position=2, x_scale=1.05, y_scale=1.12, description=title)


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
    shown = ledger[(ledger[FN] > 0) | (ledger[FP] > 0)]
    if not len(shown):
        return
    for line, record in enumerate(shown.to_dict("records"), row):
        sheet.text((line, data), words[f"adjudicated.entry_{record['entry']}"], "muted")
        for offset, kind in enumerate((FN, FP), 1):
            sheet.number((line, data + offset), float(record[kind]), "count")
    title = words["adjudicated.chart_ledger"]
    chart = sheet.book.chart({"type": "bar", "subtype": "stacked"})
    looks = ((words["metrics.tile_fn"], GOLD_COLOUR, False), (words["metrics.tile_fp"], PRED_COLOUR, True))
    _add_series(chart, sheet, (row, data), len(shown), looks)
    _frame(chart, title)
    chart.set_x_axis(_value_axis("0"))
    chart.set_y_axis({"reverse": True, "num_font": _FONT, "line": {"color": LINE}})
    sheet.place_chart((row, column), chart, object_position=2, x_scale=1.05, y_scale=1.12, description=title)


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
