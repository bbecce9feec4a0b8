"""The Metrics sheet: headline, live figures, levels, labels, groups, other schemes, charts, signature."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.outputs.xlsx.book import Sheet
from clueval_xlsx.outputs.xlsx.cases import CaseSheets
from clueval_xlsx.outputs.xlsx.charts import CHART_ROWS, chart_by_class, chart_by_label
from clueval_xlsx.outputs.xlsx.hidden import Lists
from clueval_xlsx.outputs.xlsx.live import write_live
from clueval_xlsx.outputs.xlsx.relaxed import write_strict_relaxed
from clueval_xlsx.outputs.xlsx.tables import SCORE_COLUMNS, interval_text, write_score_table
from clueval_xlsx.review.vocabulary import Answer, Judgement
from clueval_xlsx.scoring.scores import defined_labels
from clueval_xlsx.scoring.strict_relaxed import strict_against_relaxed
from clueval_xlsx.views.scheme_words import row_name, scheme_name, scheme_sentence
from clueval_xlsx.words import Words

_NAME_WIDTH, _NUMBER_WIDTH = 30, 11
_LAST_COLUMN = 1 + len(SCORE_COLUMNS)
_ROWS_A_PAGE = 34  # that fit on a landscape page when the sheet is fitted to its width


class _Page:
    """Writes downwards and starts a new page where a table would not fit on the one begun."""

    def __init__(self, sheet: Sheet, evaluation: Evaluation, words: Words) -> None:
        self.sheet, self.evaluation, self.words = sheet, evaluation, words
        self.row = 0
        self.breaks: list[int] = []

    def keep_together(self, rows: int) -> None:
        """Begin a new page if so many rows do not fit any more."""
        begun = self.breaks[-1] if self.breaks else 0
        if self.row > begun and self.row - begun + rows > _ROWS_A_PAGE:
            self.breaks.append(self.row)

    def section(self, title: str, explanation: str, rows: int) -> None:
        """A heading for something so many rows high."""
        self.row += 1
        self.keep_together(rows + 3)
        self.sheet.row(self.row, 22)
        self.sheet.across((self.row, 1), _LAST_COLUMN, title, "section")
        self.row += 1
        if explanation:
            self.sheet.row(self.row, 17)
            self.sheet.text((self.row, 1), explanation, "explanation")
            self.row += 1

    def table(self, first: str, names: Sequence[str], rows: pd.DataFrame) -> None:
        """A table of score rows."""
        beta = self.evaluation.options.beta
        self.row = write_score_table(self.sheet, self.row, 1, first, names, rows, self.words, beta)


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
    page = _Page(sheet, evaluation, words)
    page.row = _tiles(sheet, 3, evaluation, words)
    page.row = write_live(sheet, page.row + 1, evaluation, words, case_sheets, lists, judgements, answers)
    names, rows = _levels(evaluation, words)
    page.section(words["metrics.levels_title"], words["metrics.levels"], len(rows))
    page.table(words["metrics.level"], names, rows)
    _charts(page)
    _labels(page)
    _groups(page)
    _schemes(page)
    _strict_relaxed(page)
    _signature(page)
    sheet.print_setup(landscape=True, footer=words["metrics.title"])
    sheet.print_area((page.row, _LAST_COLUMN))
    sheet.page_breaks(page.breaks)


def _chosen(evaluation: Evaluation, words: Words) -> str:
    options = evaluation.options
    level = words[f"level.{options.level}"]
    labelled = words("metrics.labelled", layer=options.labelled) if options.labelled else words["metrics.unlabelled"]
    return words("metrics.chosen", level=level, labelled=labelled)


def _tiles(sheet: Sheet, row: int, evaluation: Evaluation, words: Words) -> int:
    """The headline in large figures."""
    headline = evaluation.headline
    tiles: list[tuple[str, float, str, str]] = []
    for key in ("recall", "precision", "f_beta"):
        name = words(f"metrics.{key}", beta=f"{evaluation.options.beta:g}")
        between = interval_text(headline[f"{key}_low"], headline[f"{key}_high"])
        note = words("metrics.between", interval=between) if between else ""
        tiles.append((name, headline[key], "tile_rate", note))
    documents = chosen_rows(evaluation, group_key="document", layer=None)
    for key, value, total in (
        ("fn", headline["fn"], headline["gold"]),
        ("fp", headline["fp"], headline["pred"]),
        ("leak_free", float((documents["fn"] == 0).sum()), len(documents)),
    ):
        tiles.append((words[f"metrics.tile_{key}"], value, "tile_count", words("of_all", total=int(total))))
    for line, height in ((row, 18), (row + 1, 32), (row + 2, 16)):
        sheet.row(line, height)
    places = [(1, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, _LAST_COLUMN)]
    for (first, last), (name, value, style, note) in zip(places, tiles, strict=True):
        sheet.across((row, first), last, name, "tile_name")
        sheet.across((row + 1, first), last, words["undefined"] if math.isnan(value) else float(value), style)
        sheet.across((row + 2, first), last, note, "tile_note")
    return row + 3


def chosen_rows(evaluation: Evaluation, **identity: str | None) -> pd.DataFrame:
    """Score rows at the level and with the labels that were chosen."""
    options = evaluation.options
    return evaluation.select(scheme="clueval", level=options.level, labelled=options.labelled, **identity)


def _levels(evaluation: Evaluation, words: Words) -> tuple[list[str], pd.DataFrame]:
    """The four levels, unlabelled first, then with the labels of each layer."""
    rows = evaluation.select(scheme="clueval", layer=None, group_key=None)
    parts = {"": rows[rows["labelled"].isna()]}
    parts.update({layer: rows[rows["labelled"] == layer] for layer in evaluation.pair.layers})
    names = [
        words[f"level.{level}"] + (f" · {words('metrics.with_labels', layer=layer)}" if layer else "")
        for layer, part in parts.items()
        for level in part["level"]
    ]
    return names, pd.concat(parts.values())


def _charts(page: _Page) -> None:
    page.row += 1
    page.keep_together(CHART_ROWS)
    evaluation = page.evaluation
    layer = evaluation.options.labelled or evaluation.pair.layers[0]
    rows = chosen_rows(evaluation, layer=layer, group_key=None, average="micro")
    data = _LAST_COLUMN + 3
    for column in range(data, data + 7):  # the charts' figures: all of them stand in the tables, too
        page.sheet.column(column, _NUMBER_WIDTH, None, {"hidden": True})
    chart_by_label(page.sheet, page.row, 1, data, rows, page.words, layer)
    chart_by_class(page.sheet, page.row, 7, data + 4, evaluation, page.words)
    page.row += CHART_ROWS


def _labels(page: _Page) -> None:
    words = page.words
    for layer in page.evaluation.pair.layers:
        rows = chosen_rows(page.evaluation, layer=layer, group_key=None)
        if len(rows):
            page.section(words("metrics.labels_title", layer=layer), words["metrics.labels"], len(rows))
            defined, there = defined_labels(rows)
            macro = words["metrics.macro" if defined == there else "metrics.macro_of"].format(part=defined, whole=there)
            names = [macro if each.average == "macro" else each.label for each in rows.itertuples()]
            page.table(words["column.label"], names, rows)


def _groups(page: _Page) -> None:
    for key in page.evaluation.options.by:
        rows = chosen_rows(page.evaluation, layer=None, group_key=key)
        page.section(page.words("metrics.group_title", key=key), "", len(rows))
        page.table(key, [str(name) for name in rows["group"]], rows)


def _schemes(page: _Page) -> None:
    """Other ways to count, if they were asked for: their overall rows, each with a sentence that explains it."""
    scores, words = page.evaluation.scores, page.words
    others = scores[(scores["scheme"] != "clueval") & scores["group_key"].isna() & scores["label"].isna()]
    others = others[others["average"] == "micro"]
    for scheme in dict.fromkeys(others["scheme"]):
        rows = others[others["scheme"] == scheme]
        title = scheme_name(scheme, words)
        page.section(title, scheme_sentence(scheme, words), len(rows))
        page.table(title, [row_name(row, words) for row in rows.to_dict("records")], rows)


def _strict_relaxed(page: _Page) -> None:
    """What equivalent labels change, if there are any."""
    table = strict_against_relaxed(page.evaluation.scores)
    table = table[table["layer"].isna()]
    if len(table):
        words = page.words
        page.section(words["scheme.row.strict_relaxed"], words["scheme.row.strict_relaxed_counts"], len(table))
        page.row = write_strict_relaxed(page.sheet, page.row, 1, table, words, page.evaluation.options.beta)


def _signature(page: _Page) -> None:
    page.row += 1
    page.sheet.text((page.row, 1), page.words["metrics.signature"], "bold")
    for line in (page.evaluation.signature, *page.evaluation.notes):
        page.row += 1
        page.sheet.text((page.row, 1), line, "muted")
