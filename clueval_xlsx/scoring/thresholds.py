"""Rates at every threshold of the predictions' scores, from sorted cumulative counts: spans are matched once.

A prediction stays if its score is at least the threshold. Predictions of one sequence do not overlap, so leaving one
out uncovers every gold span that it touches: a gold span is right at a threshold if it is right with all predictions
and each one that touches it stays. Whether a prediction is right depends on gold alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from clueval_xlsx.scoring.intervals import ClusteredRates, FloatArray
from clueval_xlsx.scoring.levels import LEVELS
from clueval_xlsx.scoring.matched_pair import MatchedPair
from clueval_xlsx.scoring.schemes.clueval import counted, right
from clueval_xlsx.scoring.scores import RATES, rates
from clueval_xlsx.text.strings import BoolArray, IntArray

COUNTS = ("gold", "tp_gold", "pred", "tp_pred")
_CELLS_AT_ONCE = 2_000_000  # of a table documents × thresholds
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Counts, rates and their bounds at every threshold, from the lowest to the highest.

    `bounds[rate]` are NaN where fewer than two documents have anything. `unscored` predictions always stay.
    """

    threshold: FloatArray
    counts: Mapping[str, IntArray]
    rates: Mapping[str, FloatArray]
    bounds: Mapping[str, tuple[FloatArray, FloatArray]]
    unscored: int

    @property
    def constant(self) -> bool:
        """Whether there is nothing to choose: all scores are the same."""
        return len(self.threshold) == 1

    def highest_with_recall(self, least: float) -> int | None:
        """The highest threshold up to which the lower bound of recall is never below this; None: there is none."""
        low = self.bounds["recall"][0]
        below = np.flatnonzero(~(low >= least - _ROUNDING))
        last = int(below[0]) - 1 if len(below) else len(low) - 1
        return last if last >= 0 else None


@dataclass(frozen=True, eq=False)
class _Units:
    """Units that count at every threshold up to their own; `column` is its number, -1 for none."""

    document: IntArray
    column: IntArray


def threshold_rates(
    matched: MatchedPair, scores: FloatArray, *, level: str, labelled: str | None, beta: float
) -> Thresholds:
    """What the headline would be at every threshold; `scores` belong to the predictions, NaN: none."""
    thresholds = np.unique(scores[~np.isnan(scores)])
    last = len(thresholds) - 1
    column = np.where(np.isnan(scores), last, np.searchsorted(thresholds, scores)).astype(np.int64)
    gold, pred = matched.gold, matched.pred
    touched = _lowest(column, gold.touched, last)
    reached: BoolArray = gold.classes <= LEVELS[level]
    own = counted(pred, level)
    of_gold, of_pred = (matched.corpus.document_of(side.start) for side in (gold, pred))

    def units(document: IntArray, columns: IntArray, chosen: BoolArray) -> _Units:
        return _Units(document[chosen], columns[chosen])

    always = np.full(len(gold.start), last, dtype=np.int64)
    spared = reached & gold.partner_ignored & ~gold.ignored  # no miss as long as what matches it stays
    parts = {
        "gold": [(1, units(of_gold, always, ~gold.ignored)), (-1, units(of_gold, touched, spared))],
        "tp_gold": [(1, units(of_gold, touched, right(gold, level, labelled) & counted(gold, level)))],
        "pred": [(1, units(of_pred, column, own))],
        "tp_pred": [(1, units(of_pred, column, own & right(pred, level, labelled)))],
    }
    documents = len(matched.corpus.documents)
    totals = {name: np.zeros(last + 1, dtype=np.int64) for name in COUNTS}
    low, high = (np.full((last + 1, len(RATES)), np.nan) for _ in range(2))
    at_once = max(1, _CELLS_AT_ONCE // max(documents, 1))
    for begin in range(0, last + 1, at_once):
        some = slice(begin, min(begin + at_once, last + 1))
        tables = [_table(parts[name], documents, some) for name in COUNTS]
        for name, table in zip(COUNTS, tables, strict=True):
            totals[name][some] = table.sum(axis=0).astype(np.int64)
        low[some], high[some] = ClusteredRates.of(tables, beta).interval()
    found = rates(totals, beta)
    bounds = {
        name: tuple(np.where(np.isnan(found[name]), np.nan, side[:, place]) for side in (low, high))
        for place, name in enumerate(RATES)
    }
    return Thresholds(thresholds, totals, found, bounds, int(np.isnan(scores).sum()))  # type: ignore[arg-type]


def _lowest(column: IntArray, touched: tuple[IntArray, IntArray], last: int) -> IntArray:
    """For each gold span the lowest threshold at which one of the predictions that touch it would go."""
    first, stop = touched
    found = np.full(len(first), -1, dtype=np.int64)
    some = np.flatnonzero(stop > first)
    if len(some):
        # Ranges of rows that touch may share their ends: every second slice of the pairs is one of them.
        edges = np.stack([first[some], stop[some]], axis=1).reshape(-1)
        found[some] = np.minimum.reduceat(np.append(column, last), edges)[::2]
    return found


def _table(parts: list[tuple[int, _Units]], documents: int, some: slice) -> FloatArray:
    """Documents × some of the thresholds: how many units count there."""
    table = np.zeros((documents, some.stop - some.start + 1))
    for sign, units in parts:
        kept = units.column >= some.start
        place = np.minimum(units.column[kept], some.stop) - some.start  # those beyond count in all columns
        np.add.at(table, (units.document[kept], place), sign)
    return np.cumsum(table[:, ::-1], axis=1)[:, ::-1][:, :-1]
