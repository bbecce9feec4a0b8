"""The Metrics sheet: headline, live figures, levels, labels, groups, other schemes, charts, signature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.layout import FN, FP, Answer, Judgement
from clueval_xlsx.words import Words
from clueval_xlsx.workbook.book import Sheet
from clueval_xlsx.workbook.cases import CaseSheets
from clueval_xlsx.workbook.hidden import Lists
from clueval_xlsx.workbook.live import write_live
from clueval_xlsx.workbook.styles import ACCENT, GOLD_COLOUR, INK, LINE, PRED_COLOUR
from clueval_xlsx.workbook.tables import SCORE_COLUMNS, interval_text, write_score_table

_NAME_WIDTH, _NUMBER_WIDTH = 30, 11
_LAST_COLUMN = 1 + len(SCORE_COLUMNS)
_CHART_ROWS = 17
_MOST_BARS = 25  # more labels than these make a chart unreadable; the table has them all


def write_metrics(
    sheet: Sheet,
    evaluation: Evaluation,
    words: Words,
    case_sheets: CaseSheets,
    lists: Lists,
    judgements: Sequence[Judgement],
    answers: Mapping[str, Answer],
) -> None:
    """Everything that was measured, the live estimate beside it."""
    sheet.column(0, 2)
    sheet.column(1, _NAME_WIDTH)
    for column in range(2, _LAST_COLUMN + 1):
        sheet.column(column, _NUMBER_WIDTH)
    sheet.row(0, 30)
    sheet.text((0, 1), words["metrics.title"], "title")
    sheet.text((1, 1), _chosen(evaluation, words), "subtitle")
    row = _tiles(sheet, 3, evaluation, words)
    row = write_live(sheet, row + 1, evaluation, words, case_sheets, lists, judgements, answers)

    row = _section(sheet, row + 1, words["metrics.levels_title"], words["metrics.levels"])
    names, rows = _levels(evaluation, words)
    row = write_score_table(sheet, row, 1, words["metrics.level"], names, rows, words, evaluation.options.beta)
    row = _charts(sheet, row + 1, evaluation, words)
    row = _labels(sheet, row, evaluation, words)
    row = _groups(sheet, row, evaluation, words)
    row = _schemes(sheet, row, evaluation, words)
    sheet.text((row + 1, 1), words["metrics.signature"], "bold")
    sheet.text((row + 2, 1), evaluation.signature, "muted")
    for number, note in enumerate(evaluation.notes, row + 3):
        sheet.text((number, 1), note, "muted")
    sheet.print_setup(landscape=True, footer=words["metrics.title"])
    sheet.print_area((row + 3 + len(evaluation.notes), _LAST_COLUMN))


def _chosen(evaluation: Evaluation, words: Words) -> str:
    options = evaluation.options
    level = words[f"level.{options.level}"]
    labelled = words("metrics.labelled", layer=options.labelled) if options.labelled else words["metrics.unlabelled"]
    return words("metrics.chosen", level=level, labelled=labelled)


def _section(sheet: Sheet, row: int, title: str, explanation: str) -> int:
    sheet.row(row, 22)
    sheet.across((row, 1), _LAST_COLUMN, title, "section")
    if explanation:
        sheet.text((row + 1, 1), explanation, "muted")
    return row + 2 if explanation else row + 1


def _tiles(sheet: Sheet, row: int, evaluation: Evaluation, words: Words) -> int:
    """The headline in large figures."""
    headline = evaluation.headline
    tiles: list[tuple[str, float, str, str]] = []
    for key in ("recall", "precision", "f_beta"):
        name = words(f"metrics.{key}", beta=f"{evaluation.options.beta:g}")
        between = interval_text(headline[f"{key}_low"], headline[f"{key}_high"])
        note = words("metrics.between", interval=between) if between else ""
        tiles.append((name, headline[key], "tile_rate", note))
    documents = evaluation.select(
        scheme="clueval",
        level=evaluation.options.level,
        labelled=evaluation.options.labelled,
        group_key="document",
        layer=None,
    )
    clean = float((documents["fn"] == 0).sum())
    for key, value, note in (
        ("fn", headline["fn"], words("of_all", total=int(headline["gold"]))),
        ("fp", headline["fp"], words("of_all", total=int(headline["pred"]))),
        ("leak_free", clean, words("of_all", total=len(documents))),
    ):
        tiles.append((words[f"metrics.tile_{key}"], value, "tile_count", note))
    for line, height in ((row, 16), (row + 1, 32), (row + 2, 16)):
        sheet.row(line, height)
    places = [(1, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11)]
    for (first, last), (name, value, style, note) in zip(places, tiles, strict=True):
        sheet.across((row, first), last, name, "tile_name")
        shown: float | str = words["undefined"] if value != value else float(value)  # noqa: PLR0124 (NaN)
        sheet.across((row + 1, first), last, shown, style)
        sheet.across((row + 2, first), last, note, "tile_note")
    return row + 3


def _levels(evaluation: Evaluation, words: Words) -> tuple[list[str], pd.DataFrame]:
    """The four levels, unlabelled first, then with the labels of each layer."""
    rows = evaluation.select(scheme="clueval", layer=None, group_key=None)
    parts = [rows[rows["labelled"].isna()], *(rows[rows["labelled"] == layer] for layer in evaluation.pair.layers)]
    ordered = pd.concat(parts)
    names = [
        words[f"level.{row.level}"]
        + (
            ""
            if row.labelled is None or pd.isna(row.labelled)
            else f" · {words('metrics.with_labels', layer=row.labelled)}"
        )
        for row in ordered.itertuples()
    ]
    return names, ordered


def _chosen_rows(evaluation: Evaluation, **identity: str | None) -> pd.DataFrame:
    options = evaluation.options
    return evaluation.select(scheme="clueval", level=options.level, labelled=options.labelled, **identity)


def _labels(sheet: Sheet, row: int, evaluation: Evaluation, words: Words) -> int:
    for layer in evaluation.pair.layers:
        rows = _chosen_rows(evaluation, layer=layer, group_key=None)
        if not len(rows):
            continue
        row = _section(sheet, row + 1, words("metrics.labels_title", layer=layer), words["metrics.labels"])
        names = [words["metrics.macro"] if each.average == "macro" else each.label for each in rows.itertuples()]
        row = write_score_table(sheet, row, 1, words["column.label"], names, rows, words, evaluation.options.beta)
    return row


def _groups(sheet: Sheet, row: int, evaluation: Evaluation, words: Words) -> int:
    for key in evaluation.options.by:
        rows = _chosen_rows(evaluation, layer=None, group_key=key)
        row = _section(sheet, row + 1, words("metrics.group_title", key=key), "")
        names = [str(name) for name in rows["group"]]
        row = write_score_table(sheet, row, 1, key, names, rows, words, evaluation.options.beta)
    return row


def _schemes(sheet: Sheet, row: int, evaluation: Evaluation, words: Words) -> int:
    """Other ways to count, if they were asked for: their overall rows, each with a sentence that explains it."""
    scores = evaluation.scores
    others = scores[(scores["scheme"] != "clueval") & scores["group_key"].isna() & scores["label"].isna()]
    others = others[others["average"] == "micro"]
    for scheme in dict.fromkeys(others["scheme"]):
        rows = others[others["scheme"] == scheme]
        key = f"scheme.{scheme}"
        title = words.get(f"{key}.name", str(scheme))
        explanation = words.get(f"{key}.counts")
        row = _section(sheet, row + 1, title, explanation)
        names = [str(each.variant or scheme) for each in rows.itertuples()]
        row = write_score_table(sheet, row, 1, title, names, rows, words, evaluation.options.beta)
    return row


def _charts(sheet: Sheet, row: int, evaluation: Evaluation, words: Words) -> int:
    """Native charts: recall and precision by label, and errors by class. Their data stand on the sheet, far right."""
    layer = evaluation.options.labelled or evaluation.pair.layers[0]
    rows = _chosen_rows(evaluation, layer=layer, group_key=None, average="micro")
    rows = rows.sort_values("gold", ascending=False).head(_MOST_BARS)
    data = _LAST_COLUMN + 3
    for line, record in enumerate(rows.to_dict("records"), row):
        sheet.text((line, data), record["label"], "muted")
        for offset, key in enumerate(("recall", "precision"), 1):
            sheet.number((line, data + offset), record[key], "rate")
    if len(rows):
        chart = sheet.book.chart({"type": "column"})
        last = row + len(rows) - 1
        for offset, key, colour, pattern in (
            (1, "recall", ACCENT, None),
            (2, "precision", "#F2A33A", "wide_upward_diagonal"),
        ):
            fill = (
                {"pattern": {"pattern": pattern, "fg_color": colour, "bg_color": "#FFFFFF"}}
                if pattern
                else {"fill": {"color": colour}}
            )
            chart.add_series(
                {
                    "name": words[f"metrics.{key}"],
                    "categories": "=" + sheet.range((row, data), (last, data)),
                    "values": "=" + sheet.range((row, data + offset), (last, data + offset)),
                    "border": {"color": colour},
                    "gap": 60,
                    **fill,
                }
            )
        _style(chart, words("metrics.chart_labels", layer=layer), "0%", 1)
        sheet.place_chart(
            (row, 1),
            chart,
            object_position=2,
            x_scale=1.28,
            y_scale=1.12,
            description=words("metrics.chart_labels", layer=layer),
        )
    _class_chart(sheet, row, data + 4, evaluation, words)
    return row + _CHART_ROWS


def _class_chart(sheet: Sheet, row: int, data: int, evaluation: Evaluation, words: Words) -> None:
    classes = ("label", "superset", "tiling", "overlap", "partial", FN, FP)
    found = {name: table["class"].value_counts() for name, table in zip((FN, FP), evaluation.cases, strict=True)}
    shown = [name for name in classes if any(name in counts.index for counts in found.values())]
    if not shown:
        return
    for line, name in enumerate(shown, row):
        sheet.text((line, data), words[f"class.{name}"], "muted")
        for offset, kind in enumerate((FN, FP), 1):
            sheet.number((line, data + offset), float(found[kind].get(name, 0)), "count")
    chart = sheet.book.chart({"type": "bar", "subtype": "stacked"})
    last = row + len(shown) - 1
    for offset, kind, colour, pattern in ((1, FN, GOLD_COLOUR, None), (2, FP, PRED_COLOUR, "wide_upward_diagonal")):
        fill = (
            {"pattern": {"pattern": pattern, "fg_color": colour, "bg_color": "#FFFFFF"}}
            if pattern
            else {"fill": {"color": colour}}
        )
        chart.add_series(
            {
                "name": words[f"metrics.tile_{kind.lower()}"],
                "categories": "=" + sheet.range((row, data), (last, data)),
                "values": "=" + sheet.range((row, data + offset), (last, data + offset)),
                "border": {"color": colour},
                "gap": 60,
                **fill,
            }
        )
    _style(chart, words["metrics.chart_classes"], "0", None)
    chart.set_y_axis({"reverse": True, "num_font": {"size": 9, "color": INK}, "line": {"color": LINE}})
    sheet.place_chart(
        (row, 7), chart, object_position=2, x_scale=1.05, y_scale=1.12, description=words["metrics.chart_classes"]
    )


def _style(chart: object, title: str, number_format: str, top: float | None) -> None:
    font = {"size": 9, "color": INK}
    value_axis = {
        "num_format": number_format,
        "num_font": font,
        "major_gridlines": {"visible": True, "line": {"color": LINE}},
        "line": {"none": True},
        "min": 0,
        **({"max": top} if top else {}),
    }
    chart.set_title({"name": title, "name_font": {"size": 11, "color": ACCENT}, "overlay": False})  # type: ignore[attr-defined]
    chart.set_legend({"position": "bottom", "font": font})  # type: ignore[attr-defined]
    chart.set_chartarea({"border": {"color": LINE}})  # type: ignore[attr-defined]
    if top:
        chart.set_y_axis(value_axis)  # type: ignore[attr-defined]
        chart.set_x_axis({"num_font": {**font, "rotation": -45}, "line": {"color": LINE}})  # type: ignore[attr-defined]
    else:
        chart.set_x_axis(value_axis)  # type: ignore[attr-defined]
