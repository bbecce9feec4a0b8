"""Scheme `coverage`: a gold span is found if predictions of a compatible label together cover enough of it.

Going through the gold spans in order: if the predictions that overlap one, have a compatible label and are not
used up yet together cover at least t of its characters, it is found and they are used up. The predictions left
over are false positives. Precision is tp / (tp + fp) with tp the gold spans found, so a gold span that three
predictions share counts once. Spans of ignored labels are never misses or false alarms, but count when found.
A match that needed an equivalence is counted as `relaxed`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clueval_xlsx.scoring.matched_pair import MatchedPair
from clueval_xlsx.scoring.schemes.tally import Side, Tally
from clueval_xlsx.text.strings import BoolArray, IntArray


def tallies(matched: MatchedPair) -> list[Tally]:
    """One tally for each threshold."""
    return [_tally(matched, threshold) for threshold in matched.options.coverage]


def _tally(matched: MatchedPair, threshold: float) -> Tally:
    gold, pred = matched.gold, matched.pred
    found, used, relaxed = _find(_compatible(matched), matched.overlaps.lengths[0], len(pred.spans), threshold)

    gold_side = Side.of(
        gold.start, gold.labels, found, found | ~gold.ignored, relaxed=relaxed if matched.relaxed else None
    )
    # What precision is computed over: the gold spans found, and the predictions left over.
    left_over = ~used & ~pred.ignored
    pred_side = Side.of(
        np.concatenate([gold.start[found], pred.start[left_over]]),
        {layer: np.concatenate([codes[found], pred.labels[layer][left_over]]) for layer, codes in gold.labels.items()},
        np.concatenate([np.ones(int(found.sum())), np.zeros(int(left_over.sum()))]),
    )
    return Tally(
        "coverage",
        gold_side,
        pred_side,
        variant=matched.variant(f"{threshold:g}"),
        labelled=matched.type_layer,
        by_layers=(matched.type_layer,),
    )


class _Candidates(NamedTuple):
    """Pairs that overlap and have compatible labels, in the order of the gold spans."""

    gold: IntArray
    pred: IntArray
    shared: IntArray  # characters
    own: BoolArray  # whether the labels are the same, no equivalence needed


def _compatible(matched: MatchedPair) -> _Candidates:
    gold, pred = matched.overlaps.pairs
    same = matched.gold.strict_kind[gold] == matched.pred.strict_kind[pred]
    kept = matched.gold.kind[gold] == matched.pred.kind[pred]
    return _Candidates(gold[kept], pred[kept], matched.overlaps.shared[kept], same[kept])


def _find(
    pairs: _Candidates, length: IntArray, predictions: int, threshold: float
) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Gold spans found, predictions used up, gold spans whose own label would not have been enough.

    Only a prediction that overlaps several gold spans can be used up too early; gold spans without such a
    prediction are decided at once, the others one after the other.
    """
    gold, pred, shared, own = pairs
    size = len(length)
    used = np.zeros(predictions, dtype=bool)
    covered = np.bincount(gold, weights=shared, minlength=size)
    by_own = np.bincount(gold, weights=shared * own, minlength=size)
    contested = np.zeros(size, dtype=bool)
    contested[gold[np.bincount(pred, minlength=predictions)[pred] > 1]] = True

    found: BoolArray = (covered / length >= threshold) & ~contested  # whole numbers divided once: no rounding piles up
    used[pred[found[gold]]] = True
    members: dict[int, list[int]] = {}
    for index in np.flatnonzero(contested[gold]).tolist():
        members.setdefault(int(gold[index]), []).append(index)
    for row, indices in members.items():  # in the order of the gold spans, as the pairs are
        free = [index for index in indices if not used[pred[index]]]
        by_own[row] = shared[[index for index in free if own[index]]].sum()
        if free and shared[free].sum() / length[row] >= threshold:
            found[row] = True
            used[pred[free]] = True
    return found, used, found & (by_own / length < threshold)
