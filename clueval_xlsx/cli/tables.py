"""Scores as tables for a terminal."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from clueval_xlsx.evaluation import Evaluation

UNDEFINED = "n/a"


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


def score_tables(evaluation: Evaluation) -> list[Table]:
    """The tables that `score` prints: levels, then labels and groups at the chosen level."""
    options = evaluation.options
    overall = evaluation.scores
    overall = overall[overall["layer"].isna() & overall["group_key"].isna()]
    levels = overall[overall["scheme"] == "clueval"].assign(
        labelled=lambda rows: rows["labelled"].fillna(""), order=lambda rows: range(len(rows))
    )
    levels = levels.sort_values(["labelled", "order"])
    names = [
        f"{level}{f', labels of {labelled}' if labelled else ''}"
        for level, labelled in zip(levels["level"], levels["labelled"], strict=True)
    ]
    chosen = f"level {options.level}" + (f", labels of {options.labelled} agree" if options.labelled else "")
    tables = [_table("Match level", levels, names, options.beta, title="Recall and precision in per cent")]
    for layer in evaluation.pair.layers:
        rows = evaluation.select(
            scheme="clueval", level=options.level, labelled=options.labelled, layer=layer, group_key=None
        )
        if len(rows):
            labels = ["macro average" if row.average == "macro" else row.label for row in rows.itertuples()]
            tables.append(_table(layer, rows, labels, options.beta, title=f"By {layer} ({chosen})"))
    for key in options.by:
        rows = evaluation.select(
            scheme="clueval", level=options.level, labelled=options.labelled, group_key=key, layer=None
        )
        tables.append(_table(key, rows, rows["group"].tolist(), options.beta, title=f"By {key} ({chosen})"))
    return tables


def _table(first: str, rows: pd.DataFrame, names: list[str], beta: float, title: str) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column(first, overflow="fold")
    for name in ("recall", "95 %", "found", "precision", "95 %", "right", "F1", f"F{beta:g}"):
        table.add_column(name, justify="right", no_wrap=True)
    for name, (_, row) in zip(names, rows.iterrows(), strict=True):
        table.add_row(
            Text(str(name)),
            rate(row["recall"]),
            interval(row["recall_low"], row["recall_high"]),
            share(row["tp_gold"], row["gold"]),
            rate(row["precision"]),
            interval(row["precision_low"], row["precision_high"]),
            share(row["tp_pred"], row["pred"]),
            rate(row["f1"]),
            rate(row["f_beta"]),
        )
    return table
