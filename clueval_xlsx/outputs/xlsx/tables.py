"""Score rows as tables on a sheet."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pandas as pd

from clueval_xlsx.outputs.xlsx.book import Sheet
from clueval_xlsx.words import Words

# key of the header (`metrics.KEY`), column of the score table, kind
SCORE_COLUMNS = (
    ("recall", "recall", "rate"),
    ("interval", "recall", "interval"),
    ("gold", "gold", "count"),
    ("tp_gold", "tp_gold", "count"),
    ("fn", "fn", "count"),
    ("precision", "precision", "rate"),
    ("interval", "precision", "interval"),
    ("pred", "pred", "count"),
    ("tp_pred", "tp_pred", "count"),
    ("fp", "fp", "count"),
    ("f1", "f1", "rate"),
    ("f_beta", "f_beta", "rate"),
)


# Schemes count other things than spans: words, characters, documents.
_UNITS = {"gold": "gold_units", "pred": "pred_units"}


def write_score_table(
    sheet: Sheet, row: int, column: int, first: str, names: Sequence[str], rows: pd.DataFrame, words: Words, beta: float
) -> int:
    """A header and one line for each score row; returns the row behind the table."""
    sheet.row(row, 30)
    sheet.text((row, column), first, "header")
    other_units = "scheme" in rows.columns and len(rows) > 0 and (rows["scheme"] != "clueval").all()
    for offset, (key, _, _) in enumerate(SCORE_COLUMNS, 1):
        name = _UNITS.get(key, key) if other_units else key
        sheet.text((row, column + offset), words(f"metrics.{name}", beta=f"{beta:g}"), "header_right")
    for line, (name, record) in enumerate(zip(names, rows.to_dict("records"), strict=True), row + 1):
        sheet.text((line, column), name, "row_name_bold" if record["average"] == "macro" else "row_name")
        for offset, (_, key, kind) in enumerate(SCORE_COLUMNS, 1):
            cell = (line, column + offset)
            if kind == "rate":
                write_rate(sheet, cell, record[key], words)
            elif kind == "count":
                write_count(sheet, cell, record[key])
            else:
                sheet.text(cell, interval_text(record[f"{key}_low"], record[f"{key}_high"]), "interval")
    return row + 1 + len(rows)


def write_rate(sheet: Sheet, cell: tuple[int, int], value: float, words: Words, style: str = "rate") -> None:
    """A rate in per cent, or the words for "not defined"."""
    if math.isnan(value):
        sheet.text(cell, words["undefined"], "undefined")
    else:
        sheet.number(cell, value, style)


def write_count(sheet: Sheet, cell: tuple[int, int], value: float) -> None:
    """A count; with a decimal where half credits make one."""
    sheet.number(cell, value, "count" if math.isnan(value) or float(value).is_integer() else "count_half")


def interval_text(low: float, high: float) -> str:
    """An interval in per cent, or nothing.

    >>> interval_text(0.6111, 0.806), interval_text(float("nan"), 1.0)
    ('61.1–80.6', '')
    """
    return "" if math.isnan(low) or math.isnan(high) else f"{100 * low:.1f}–{100 * high:.1f}"
