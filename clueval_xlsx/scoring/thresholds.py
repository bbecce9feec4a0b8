"""Rates at every threshold of the predictions' scores: the headline is counted once for each, with those that stay.

A prediction stays if its score is at least the threshold, and if it has none. The counts of all thresholds are one
sum, so that rates and intervals come from it as they do everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.annotation import Annotation, Listed, join_layers
from clueval_xlsx.corpus.label_rules import align_labels, discards_by_prediction
from clueval_xlsx.corpus.pair import Pair
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.options import LabelRules, SchemeOptions
from clueval_xlsx.scoring.counts import Breakdown, Counts, FloatArray, Side, Tally, count
from clueval_xlsx.scoring.matched_pair import match_pair, relaxed_pair
from clueval_xlsx.scoring.schemes.clueval import counted, right
from clueval_xlsx.scoring.scores import score_table

MOST_THRESHOLDS = 100
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Thresholds:
    """A row of counts, rates and their bounds for every `threshold`, from the lowest to the highest.

    Of the annotations as they are listed, `scored` have a score, and `unscored` always stay.
    """

    table: pd.DataFrame
    scored: int
    unscored: int

    @property
    def constant(self) -> bool:
        """Whether there is nothing to choose: all scores are the same."""
        return len(self.table) == 1

    @property
    def recall_low(self) -> FloatArray:
        """The lower bounds of recall."""
        return self.table["recall_low"].to_numpy(np.float64)

    def highest_with_recall(self, least: float | None) -> int | None:
        """The highest threshold at which the lower bound of recall holds, before it falls below; None: there is none.

        Recall mostly falls with the threshold; it rises where a prediction goes that another one gave way to.
        """
        if least is None:
            return None
        holds = self.recall_low >= least - _ROUNDING
        if not holds.any():
            return None
        first = int(np.argmax(holds))
        below = np.flatnonzero(~holds[first:])
        return first + int(below[0]) - 1 if len(below) else len(holds) - 1

    @property
    def surest_recall(self) -> int:
        """The threshold with the highest lower bound of recall, the lowest of several."""
        low = self.recall_low
        return 0 if np.isnan(low).all() else int(np.nanargmax(low))


def threshold_rates(pair: Pair, rules: LabelRules, *, level: str, labelled: str | None, beta: float) -> Thresholds:
    """What the headline would be at the thresholds of the predictions' scores.

    `pair` has its labels as they were read. Every distinct score is a threshold; of more than a hundred, as many are
    taken evenly.
    """
    listing = pair.pred.listing
    if listing is None or np.isnan(listing.scores).all():
        raise InputError(
            f"{pair.pred.source.name}: no prediction carries a score, so there is no threshold to choose. "
            "Give predictions in a format with scores: a span table with a column score, Presidio JSON, Label Studio."
        )
    if discards_by_prediction(pair, rules):
        raise OptionError(
            "labels.unmapped=discard: documents are left out because of labels that not every prediction has, so each "
            "threshold would be about other documents. Account for the labels (--map, --equivalent, --ignore), or "
            "keep the documents (--set labels.unmapped=keep)."
        )
    unscored = int(np.isnan(listing.scores).sum())
    thresholds = np.unique(listing.scores[~np.isnan(listing.scores)])
    if len(thresholds) > MOST_THRESHOLDS:
        thresholds = thresholds[np.linspace(0, len(thresholds) - 1, MOST_THRESHOLDS).round().astype(np.int64)]
    total = Counts()
    for threshold in thresholds.tolist():
        total.add(_headline(_at_least(pair, listing, threshold), rules, level, labelled, repr(threshold)))
    table = score_table(replace(total, documents=len(pair.corpus.documents)), beta)
    return Thresholds(table.assign(threshold=thresholds), len(listing) - unscored, unscored)


def _at_least(pair: Pair, listing: Listed, threshold: float) -> Pair:
    """The pair with the predictions that stay; overlaps among them are resolved as if there were no others."""
    kept = listing.take(np.flatnonzero(~(listing.scores < threshold)))
    layers = kept.resolved(pair.corpus.document_of(kept.start))
    return replace(pair, pred=Annotation(pair.pred.source, layers, join_layers(layers, pair.corpus)))


def _headline(pair: Pair, rules: LabelRules, level: str, labelled: str | None, name: str) -> Counts:
    """What the headline counts, as a variant of this name."""
    aligned, alignment = align_labels(pair, rules)
    matched = match_pair(aligned, rules, SchemeOptions(), level=level)
    if rules.applied and labelled is not None:
        matched = relaxed_pair(matched, rules)
    gold, pred = (Side.of(side.start, {}, right(side, level, labelled), counted(side, level)) for side in matched.sides)
    tally = Tally("clueval", gold, pred, variant=name, level=level, labelled=labelled)
    return count([tally], Breakdown.whole(aligned, alignment.discarded))
