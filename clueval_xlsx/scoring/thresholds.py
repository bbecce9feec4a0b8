"""Rates at every threshold of the predictions' scores, in one pass: what a threshold leaves alone is matched once.

A prediction stays if its score is at least the threshold, and if it has none. At each threshold the rates are those of
a file with the predictions that stay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from clueval_xlsx.corpus.label_rules import align_labels, discards_by_prediction
from clueval_xlsx.corpus.pair import Pair
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.options import LabelRules, SchemeOptions
from clueval_xlsx.scoring.counts import FloatArray
from clueval_xlsx.scoring.intervals import RatesByDocument
from clueval_xlsx.scoring.matched_pair import match_pair, relaxed_pair
from clueval_xlsx.scoring.schemes.clueval import counted, right
from clueval_xlsx.scoring.scores import RATES, rates
from clueval_xlsx.scoring.threshold_states import States, ThresholdStates
from clueval_xlsx.text.strings import IntArray

COUNTS = ("gold", "tp_gold", "pred", "tp_pred")
_CELLS_AT_ONCE = 2_000_000  # of a table documents × thresholds
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Thresholds:
    """Counts, rates and their bounds at every threshold, from the lowest to the highest.

    `bounds[rate]` are NaN where fewer than two documents have anything. Of the annotations as they are listed,
    `scored` have a score, and `unscored` always stay.
    """

    threshold: FloatArray
    counts: Mapping[str, IntArray]
    rates: Mapping[str, FloatArray]
    bounds: Mapping[str, tuple[FloatArray, FloatArray]]
    scored: int
    unscored: int

    @property
    def constant(self) -> bool:
        """Whether there is nothing to choose: all scores are the same."""
        return len(self.threshold) == 1

    def highest_with_recall(self, least: float) -> int | None:
        """The highest threshold at which the lower bound of recall holds, before it falls below; None: there is none.

        Recall mostly falls with the threshold; it rises where a prediction goes that another one gave way to.
        """
        holds = self.bounds["recall"][0] >= least - _ROUNDING
        if not holds.any():
            return None
        first = int(np.argmax(holds))
        below = np.flatnonzero(~holds[first:])
        return first + int(below[0]) - 1 if len(below) else len(holds) - 1

    @property
    def surest_recall(self) -> int:
        """The threshold with the highest lower bound of recall, the lowest of several."""
        low = self.bounds["recall"][0]
        return 0 if np.isnan(low).all() else int(np.nanargmax(low))


def threshold_rates(pair: Pair, rules: LabelRules, *, level: str, labelled: str | None, beta: float) -> Thresholds:
    """What the headline would be at every threshold of the predictions' scores: of a file with those that stay."""
    listing = pair.pred.listing
    if listing is None or np.isnan(listing.scores).all():
        raise InputError(
            f"{pair.pred.source.name}: no prediction carries a score, so there is no threshold to choose. "
            "Give predictions in a format with scores: a span table with a column score, Presidio JSON, Label Studio."
        )
    _refuse_discarding(pair, rules)
    scores = listing.scores
    thresholds = np.unique(scores[~np.isnan(scores)])
    last = len(thresholds) - 1
    column = np.where(np.isnan(scores), last, np.searchsorted(thresholds, scores)).astype(np.int64)
    counted_states = _counts(ThresholdStates(pair, listing, column, last), rules, level, labelled)
    documents = len(pair.corpus.documents)
    totals = {name: np.zeros(last + 1, dtype=np.int64) for name in COUNTS}
    low, high = (np.full((last + 1, len(RATES)), np.nan) for _ in range(2))
    at_once = max(1, _CELLS_AT_ONCE // max(documents, 1))
    for begin in range(0, last + 1, at_once):
        some = slice(begin, min(begin + at_once, last + 1))
        tables = [counted_states.table(name, documents, some) for name in COUNTS]
        for name, table in zip(COUNTS, tables, strict=True):
            totals[name][some] = table.sum(axis=0).astype(np.int64)
        low[some], high[some] = RatesByDocument.of(tables, beta).rates.interval()
    found = rates(totals, beta)
    bounds = {
        name: tuple(np.where(np.isnan(found[name]), np.nan, side[:, place]) for side in (low, high))
        for place, name in enumerate(RATES)
    }
    unscored = int(np.isnan(scores).sum())
    return Thresholds(thresholds, totals, found, bounds, len(scores) - unscored, unscored)  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False)
class _CountedStates:
    """What states of passages count."""

    states: States
    counts: Mapping[str, IntArray]

    def table(self, name: str, documents: int, some: slice) -> FloatArray:
        """Documents × some of the thresholds: the sum over the states that last there."""
        table = np.zeros((documents, some.stop - some.start + 1))
        for sign, column in ((1, self.states.until), (-1, self.states.after)):
            kept = column >= some.start
            place = np.minimum(column[kept], some.stop) - some.start  # those beyond count in all columns
            np.add.at(table, (self.states.document[kept], place), sign * self.counts[name][kept])
        return np.cumsum(table[:, ::-1], axis=1)[:, ::-1][:, :-1]


def _counts(laid: ThresholdStates, rules: LabelRules, level: str, labelled: str | None) -> _CountedStates:
    """Match all states, and count as the headline does."""
    states = laid.states
    counts = {name: np.zeros(len(states), dtype=np.int64) for name in COUNTS}
    for some, pair in laid.laid_out():
        aligned, _ = align_labels(pair, replace(rules, unmapped="keep", left_out=()))
        matched = match_pair(aligned, rules, SchemeOptions(), level=level)
        if rules.applied and labelled is not None:
            matched = relaxed_pair(matched, rules)
        for side, all_, true in zip(matched.sides, ("gold", "pred"), ("tp_gold", "tp_pred"), strict=True):
            state, own = pair.corpus.document_of(side.start), counted(side, level)
            for name, chosen in ((all_, own), (true, own & right(side, level, labelled))):
                counts[name][some] = np.bincount(state[chosen], minlength=some.stop - some.start)
    return _CountedStates(states, counts)


def _refuse_discarding(pair: Pair, rules: LabelRules) -> None:
    """Which documents are left out for their labels may depend on the predictions, and so on the threshold."""
    if discards_by_prediction(pair, rules):
        raise OptionError(
            "labels.unmapped=discard: documents are left out because of labels that not every prediction has, so each "
            "threshold would be about other documents. Account for the labels (--map, --equivalent, --ignore), or "
            "keep the documents (--set labels.unmapped=keep)."
        )
