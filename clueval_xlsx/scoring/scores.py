"""From the sums to the score table: rates, their means over labels, and intervals, all from integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from clueval_xlsx.scoring.counts import SUMS, Counts, FloatArray, RowKind, Rows
from clueval_xlsx.scoring.intervals import ClusteredRates, binomial_interval

COUNTS = ("gold", "tp_gold", "fn", "pred", "tp_pred", "fp")
RATES = ("precision", "recall", "f1", "f_beta")
RIGHT_OR_WRONG = ("tp_gold", "fn", "tp_pred", "fp")  # of which half credits leave no whole numbers
IDENTITY = ("scheme", "variant", "level", "labelled", "layer", "label", "average", "group_key", "group")
MICRO, MACRO, WEIGHTED = "micro", "macro", "weighted"
_NUMBERS = (*COUNTS, *(f"{name}{end}" for name in RATES for end in ("", "_low", "_high")))
_Columns = dict[str, Any]


def rates(counts: Mapping[str, npt.ArrayLike], beta: float) -> dict[str, FloatArray]:
    """Precision, recall, F1 and F-beta from counts; NaN where a rate is not defined.

    F is 0 as soon as either side has something and nothing of it is right: what is never predicted has F 0.

    >>> {name: float(value) for name, value in rates(dict(gold=4, tp_gold=0, pred=0, tp_pred=0), 2).items()}
    {'precision': nan, 'recall': 0.0, 'f1': 0.0, 'f_beta': 0.0}
    """
    precision = _ratio(counts["tp_pred"], counts["pred"])
    recall = _ratio(counts["tp_gold"], counts["gold"])
    return {
        "precision": precision,
        "recall": recall,
        "f1": f_score(precision, recall, 1.0, counts),
        "f_beta": f_score(precision, recall, beta, counts),
    }


def f_score(precision: FloatArray, recall: FloatArray, beta: float, counts: Mapping[str, npt.ArrayLike]) -> FloatArray:
    """The weighted harmonic mean, a rate over nothing counting 0; NaN where no side has anything or is counted."""
    weight = beta * beta
    either = np.asarray(counts["gold"], dtype=np.float64) + np.asarray(counts["pred"], dtype=np.float64)
    found, right = np.nan_to_num(recall), np.nan_to_num(precision)
    below = weight * right + found
    score = np.where(below == 0, 0.0, _ratio((1 + weight) * right * found, below))
    return np.asarray(np.where(either > 0, score, np.nan), dtype=np.float64)


def _ratio(above: npt.ArrayLike, below: npt.ArrayLike) -> FloatArray:
    above, below = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    return np.divide(above, below, out=np.full(np.broadcast(above, below).shape, np.nan), where=below != 0)


def score_table(counts: Counts, beta: float = 2.0, *, intervals: bool = True) -> pd.DataFrame:
    """The table of all scores: one row for each way to count, label, document and group, with counts and rates."""
    bounded = intervals and counts.documents > 1
    parts = [part for kind, rows in counts.kinds.items() for part in _rows_of(kind, rows, beta, bounded=bounded)]
    columns: _Columns = {}
    for name in IDENTITY:
        columns[name] = _objects([value for part in parts for value in part[name]])
    for name in _NUMBERS:
        columns[name] = np.concatenate([part[name] for part in parts]) if parts else np.empty(0)
    columns["counts"] = _objects([named for part in parts for named in part["counts"]])
    return pd.DataFrame(columns)


def _objects(values: Sequence[Any]) -> pd.Series:
    return pd.Series(values, dtype=object)  # pandas would guess a string type and turn None into NaN


def _rows_of(kind: RowKind, rows: Rows, beta: float, *, bounded: bool) -> list[_Columns]:
    """The rows of a kind as columns, and behind those of labels their means."""
    if kind.optional:
        rows = rows.only(np.flatnonzero(rows.figures[:, 0]).tolist())
    if kind.layer is not None:
        rows = rows.only(sorted(range(len(rows.names)), key=rows.names.__getitem__))
    counts = dict(zip(SUMS, rows.figures[:, : len(SUMS)].T / 2, strict=True))
    # What is not counted at all is NaN, not 0.
    undefined = () if rows.available and not kind.one_sided else SUMS[2:] if rows.available else SUMS
    counts |= dict.fromkeys(undefined, np.full(len(rows.names), np.nan))
    found = rates(counts, beta)
    table = _columns(kind, len(rows.names))
    table |= counts | found | {"fn": counts["gold"] - counts["tp_gold"], "fp": counts["pred"] - counts["tp_pred"]}
    if kind.layer is not None:
        table["label"] = rows.names
    if kind.group_key is not None:
        table["group"] = rows.names
    if kind.outcomes and rows.available:
        table["counts"] = [dict(zip(kind.outcomes, row, strict=True)) for row in rows.outcomes.tolist()]
    if rows.available and kind.one_sided:
        table["recall_low"], table["recall_high"] = binomial_interval(counts["tp_gold"], counts["gold"])
    elif rows.available and kind.bounded and bounded:
        low, high = ClusteredRates.of(rows.figures, beta).interval()
        for place, name in enumerate(RATES):
            table[f"{name}_low"], table[f"{name}_high"] = low[:, place], high[:, place]
    if kind.layer is None:
        return [table]
    # Only seqeval's report knows the mean that is weighted by the support.
    averages = (MACRO, WEIGHTED) if kind.scheme == "seqeval" else (MACRO,)
    return [table, *(_mean(kind, counts, found, average) for average in averages)]


def _columns(kind: RowKind, size: int, average: str = MICRO) -> _Columns:
    """Rows that are named, and in which nothing is known yet."""
    own = {**kind._asdict(), "average": average}
    named: _Columns = {name: [own.get(name)] * size for name in (*IDENTITY, "counts")}
    return named | dict.fromkeys(_NUMBERS, np.full(size, np.nan))


def _mean(kind: RowKind, counts: Mapping[str, FloatArray], found: Mapping[str, FloatArray], average: str) -> _Columns:
    """The mean rates of the labels that occur on either side, a rate over nothing counting 0; NaN if none occurs."""
    row = _columns(kind, 1, average)
    support = counts["gold"] if kind.one_sided else counts["gold"] + counts["pred"]
    chosen = np.flatnonzero(support > 0)
    weights = counts["gold"][chosen] if average == WEIGHTED else np.ones(len(chosen))
    whole = weights.sum()  # 0 where gold has nothing: then nothing can be right
    for name in ("recall",) if kind.one_sided else RATES:
        if len(chosen):
            row[name] = np.array([fsum(np.nan_to_num(found[name][chosen]) * weights) / whole if whole else 0.0])
    return row
