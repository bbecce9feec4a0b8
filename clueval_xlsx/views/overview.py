"""Rows of the score table, selected and named for the tables and plots of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from clueval_xlsx.cases.contexts import BOTH, GOLD, PRED
from clueval_xlsx.cases.kinds import CLASSES, FN, FP
from clueval_xlsx.cases.table import NO_LABEL
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.scoring.confusion import NOTHING
from clueval_xlsx.views.scheme_words import row_name, scheme_name, scheme_sentence
from clueval_xlsx.words import Words

# How documents are put together by the number of spans missed in them: (first, last).
_LEAK_STEPS = ((0, 0), (1, 1), (2, 2), (3, 5), (6, 10), (11, None))


@dataclass(frozen=True)
class ScoreRow:
    """A name and its scores; `scores` has the columns of the score table."""

    name: str
    scores: Mapping[str, Any]
    summary: bool = False  # an average, set apart from the rows above it
    chosen: bool = False  # the row of the headline
    opens: bool = False  # the first row of a new group


@dataclass(frozen=True)
class ScoreTable:
    """A table of scores with its heading."""

    key: str
    title: str
    first: str  # the heading of the names
    rows: Sequence[ScoreRow]
    explained: Sequence[tuple[str, str]] = ()  # terms of the rows, and what they mean


@dataclass(frozen=True)
class Bar:
    """One bar of a plot: a name, a count, and a mark that gives its colour and pattern."""

    name: str
    count: int
    mark: str


@dataclass(frozen=True)
class Matrix:
    """Gold labels against predicted labels on one layer; `heat` is 0 to 5 for each cell."""

    layer: str
    rows: Sequence[str]
    columns: Sequence[str]
    counts: Sequence[Sequence[int]]
    heat: Sequence[Sequence[int]]


def level_table(evaluation: Evaluation, words: Words) -> ScoreTable:
    """The four levels, unlabelled and labelled on each layer."""
    options = evaluation.options
    rows = []
    for labelled in (None, *evaluation.pair.layers):
        found = evaluation.select(scheme="clueval", labelled=labelled, layer=None, group_key=None, average="micro")
        for scores in found.to_dict("records"):
            name = words[f"level.{scores['level']}"]
            if labelled is not None:
                name = words("html.level.labelled", level=name, layer=labelled)
            chosen = (scores["level"], labelled) == (options.level, options.labelled)
            opens = labelled is not None and scores["level"] == "exact"
            rows.append(ScoreRow(name, scores, chosen=chosen, opens=opens))
    return ScoreTable("levels", words["html.levels"], words["html.level.title"], rows)


def label_tables(evaluation: Evaluation, words: Words) -> list[ScoreTable]:
    """One table for each layer that the headline is broken down by."""
    options = evaluation.options
    tables = []
    for layer in evaluation.pair.layers:
        found = evaluation.select(
            scheme="clueval", level=options.level, labelled=options.labelled, layer=layer, group_key=None
        )
        rows = [
            ScoreRow(words["html.macro"], scores, summary=True)
            if scores["average"] == "macro"
            else ScoreRow(scores["label"], scores)
            for scores in found.to_dict("records")
        ]
        if rows:
            name = layer if len(evaluation.pair.layers) > 1 else words["column.label"]
            title = words("html.by_layer", layer=layer) if len(evaluation.pair.layers) > 1 else words["html.by_label"]
            tables.append(ScoreTable(f"layer-{layer}", title, name, rows))
    return tables


def group_tables(evaluation: Evaluation, words: Words) -> list[ScoreTable]:
    """One table for each metadata key that was asked for."""
    options = evaluation.options
    tables = []
    for key in options.by:
        found = evaluation.select(
            scheme="clueval", level=options.level, labelled=options.labelled, layer=None, group_key=key
        )
        rows = [ScoreRow(scores["group"], scores) for scores in found.to_dict("records")]
        tables.append(ScoreTable(f"group-{key}", words("html.by_group", name=key), key, rows))
    return tables


def scheme_table(evaluation: Evaluation, words: Words) -> ScoreTable | None:
    """The overall rows of all other schemes that were asked for."""
    scores = evaluation.scores
    keep = scores["layer"].isna() & scores["group_key"].isna() & (scores["average"] == "micro")
    other = scores["scheme"] != "clueval"
    if evaluation.relaxed is not None:  # strict beside relaxed
        other |= scores["labelled"].notna() & (scores["level"] == evaluation.options.level)
    rows: list[ScoreRow] = []
    explained: dict[str, str] = {}
    for row in scores[keep & other].to_dict("records"):
        scheme = scheme_name(row["scheme"], words)
        detail = row_name(row, words)
        opens = bool(rows) and scheme not in explained
        explained[scheme] = scheme_sentence(row["scheme"], words)
        rows.append(ScoreRow(scheme if detail == scheme else f"{scheme}: {detail}", row, opens=opens))
    if not rows:
        return None
    return ScoreTable("schemes", words["html.schemes"], words["html.scheme"], rows, tuple(explained.items()))


def error_bars(evaluation: Evaluation, words: Words) -> list[Bar]:
    """How many cases each class has, missed ones first."""
    bars = []
    for cases, sheet, mark in zip(evaluation.bare_cases, (FN, FP), (GOLD, PRED), strict=True):
        counts = cases["class"].value_counts()
        bars += [
            Bar(error_name(sheet, name, words), int(counts[name]), mark) for name in reversed(CLASSES) if name in counts
        ]
    return bars


def leak_bars(evaluation: Evaluation, words: Words) -> list[Bar]:
    """Documents by the number of reference spans missed in them at the chosen level, labels left aside."""
    missed = document_rows(evaluation)["fn"]
    bars = []
    for first, last in _LEAK_STEPS:
        number = int(missed.between(first, last if last is not None else missed.max()).sum())
        if first == last:
            name = words["html.leaks.none"] if first == 0 else str(first)
        else:
            name = f"{first}–{last}" if last is not None else words("html.leaks.more", count=first)
        bars.append(Bar(name, number, BOTH if first == 0 else GOLD))
    while len(bars) > 1 and not bars[-1].count:
        bars.pop()
    return bars


def leak_free(evaluation: Evaluation) -> Mapping[str, Any] | None:
    """The overall row of scheme `documents`, if it was computed: the share of leak-free documents."""
    rows = evaluation.select(scheme="documents", layer=None, group_key=None)
    return rows.iloc[0].to_dict() if len(rows) else None


def document_rows(evaluation: Evaluation, labelled: str | None = None) -> pd.DataFrame:
    """The scores of each document at the chosen level; unlabelled, what was missed is a leak."""
    return evaluation.select(scheme="clueval", level=evaluation.options.level, labelled=labelled, group_key="document")


def error_name(sheet: str, kind: str, words: Words) -> str:
    """What happened in a case: its sheet and class in words."""
    return words[f"html.errors.{'gold' if sheet == FN else 'pred'}_{kind.lower()}"]


def matrices(evaluation: Evaluation, words: Words) -> list[Matrix]:
    """The confusion matrix of each layer; the diagonal has no heat, since it holds no confusion."""
    found = []
    for layer in evaluation.pair.layers:
        table = evaluation.confusion(layer)
        counts = table.to_numpy().tolist()
        shown = {NOTHING: words["html.nothing"], NO_LABEL: words["html.no_label"]}
        names = [shown.get(name, str(name)) for name in table.index]
        off = [value for i, row in enumerate(counts) for j, value in enumerate(row) if i != j]
        top = max(off, default=0)
        heat = [[0 if i == j else _heat(value, top) for j, value in enumerate(row)] for i, row in enumerate(counts)]
        found.append(Matrix(layer, names, names, counts, heat))
    return found


def _heat(value: int, top: int) -> int:
    """A step from 0 to 5 on a root scale, so that small counts are still seen beside large ones."""
    return 0 if not value else max(1, round(5 * (value / top) ** 0.5))
