"""Scheme `coverage`: a gold span is found if predictions of a compatible label together cover enough of it.

Going through the gold spans in order: if the predictions that overlap one, have a compatible label and are not
used up yet together cover at least t of its characters, it is found and they are used up. The predictions left
over are false positives. Precision is tp / (tp + fp) with tp the gold spans found, so a gold span that three
predictions share counts once. Spans of ignored labels are never misses or false alarms, but count when found.
A match that needed an equivalence is counted as `relaxed`.
"""

from __future__ import annotations

import numpy as np

from clueval_xlsx.scoring.schemes.material import Material
from clueval_xlsx.scoring.schemes.tally import Side, Tally
from clueval_xlsx.text.strings import BoolArray, IntArray


def tallies(material: Material) -> list[Tally]:
    """One tally for each threshold."""
    return [_tally(material, threshold) for threshold in material.options.coverage]


def _tally(material: Material, threshold: float) -> Tally:
    gold_rows, pred_rows = material.geometry.overlaps
    gold, pred = material.gold, material.pred
    compatible = gold.kind[gold_rows] == pred.kind[pred_rows]
    gold_rows, pred_rows = gold_rows[compatible], pred_rows[compatible]
    shared = material.geometry.shared[compatible]
    own = gold.strict_kind[gold_rows] == pred.strict_kind[pred_rows]
    found, used, relaxed = _find(
        gold_rows, pred_rows, shared, own, threshold, material.geometry.lengths[0], len(pred.spans)
    )

    gold_side = Side.of(
        gold.start, gold.labels, found, found | ~gold.ignored, relaxed=relaxed if material.relaxed else None
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
        variant=material.variant(f"{threshold:g}"),
        labelled=material.type_layer,
        by_layers=(material.type_layer,),
    )


def _find(
    gold: IntArray,
    pred: IntArray,
    shared: IntArray,
    own: BoolArray,
    threshold: float,
    length: IntArray,
    predictions: int,
) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Gold spans found, predictions used up, gold spans whose own label would not have been enough.

    Only a prediction that overlaps several gold spans can be used up too early; gold spans without such a
    prediction are decided at once, the others one after the other.
    """
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
