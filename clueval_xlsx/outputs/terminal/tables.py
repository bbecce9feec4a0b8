"""Scores as tables for a terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from clueval_xlsx.evaluation import Evaluation

UNDEFINED = "n/a"
_WIDTH_OF_ALL = 76
_COLUMNS = ("recall", "95 %", "found", "precision", "95 % ", "right", "F1", "F{beta}")
_ONLY_IF_WIDE = {"95 %", "found", "95 % ", "right", "F1"}


def rate(value: float) -> str:
    """A rate in per cent, or n/a.

    >>> rate(0.8712), rate(float("nan"))
    ('87.1', 'n/a')
    """
    return UNDEFINED if math.isnan(value) else f"{100 * value:.1f}"


def interval(low: float, high: float) -> str:
    """An interval in per cent, or nothing."""
    return "" if math.isnan(low) or math.isnan(high) else f"{100 * low:.0f}–{100 * high:.0f}"


def share(part: float, whole: float) -> str:
    """A count out of a support; fractions only where half credits make them."""
    return "" if math.isnan(whole) else f"{count(part)}/{count(whole)}"


def count(value: float) -> str:
    """A count, without decimals where it is whole."""
    return f"{value:.0f}" if float(value).is_integer() else f"{value:.1f}"


def score_tables(evaluation: Evaluation, width: int = 80) -> list[Table]:
    """The tables that `score` prints: levels, then labels and groups at the chosen level.

    A terminal of fewer than so many columns gets the rates alone.
    """
    from clueval_xlsx.scoring.scores import defined_labels

    narrow = width < _WIDTH_OF_ALL
    options = evaluation.options
    overall = evaluation.select(scheme="clueval", layer=None, group_key=None)
    tables = []
    for labelled in (None, *evaluation.pair.layers):
        rows = overall[overall["labelled"].isna() if labelled is None else overall["labelled"] == labelled]
        title = "Recall and precision in per cent" if labelled is None else f"The same, with equal labels on {labelled}"
        tables.append(_table("match level", rows, rows["level"].tolist(), options.beta, title, narrow))
    chosen = f"level {options.level}" + (f", equal labels on {options.labelled}" if options.labelled else "")
    for layer in evaluation.pair.layers:
        rows = evaluation.select(
            scheme="clueval", level=options.level, labelled=options.labelled, layer=layer, group_key=None
        )
        if len(rows):
            defined, there = defined_labels(rows)
            macro = "macro average" if defined == there else f"macro average ({defined} of {there} labels in F)"
            labels = [macro if row.average == "macro" else row.label for row in rows.itertuples()]
            tables.append(_table(layer, rows, labels, options.beta, f"By {layer} ({chosen})", narrow))
    for key in options.by:
        rows = evaluation.select(
            scheme="clueval", level=options.level, labelled=options.labelled, group_key=key, layer=None
        )
        tables.append(_table(key, rows, rows["group"].tolist(), options.beta, f"By {key} ({chosen})", narrow))
    return tables


def score_table(first: str, rows: pd.DataFrame, names: list[str], beta: float, title: str, width: int) -> Table:
    """Any score rows as a table."""
    return _table(first, rows, names, beta, title, width < _WIDTH_OF_ALL + max(map(len, names), default=0) - 10)


def _table(first: str, rows: pd.DataFrame, names: list[str], beta: float, title: str, narrow: bool) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0)
    )
    table.add_column(first, overflow="fold")
    columns = [name for name in _COLUMNS if not (narrow and name in _ONLY_IF_WIDE)]
    for name in columns:
        table.add_column(name.format(beta=f"{beta:g}").strip(), justify="right", no_wrap=True)
    for name, (_, row) in zip(names, rows.iterrows(), strict=True):
        cells = {
            "recall": rate(row["recall"]),
            "95 %": interval(row["recall_low"], row["recall_high"]),
            "found": share(row["tp_gold"], row["gold"]),
            "precision": rate(row["precision"]),
            "95 % ": interval(row["precision_low"], row["precision_high"]),
            "right": share(row["tp_pred"], row["pred"]),
            "F1": rate(row["f1"]),
            "F{beta}": rate(row["f_beta"]),
        }
        table.add_row(Text(str(name)), *(cells[column] for column in columns))
    return table
