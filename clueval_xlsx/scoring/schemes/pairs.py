"""One-to-one pairs of gold and predicted spans, for the schemes that count such pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clueval_xlsx.scoring.schemes.material import Material
from clueval_xlsx.scoring.schemes.tally import FloatArray, Side, Sides
from clueval_xlsx.text.strings import BoolArray, IntArray


def greedy_pairs(left: IntArray, right: IntArray) -> IntArray:
    """Take pairs in the given order, each row of either side once; returns the indices of those taken, in order.

    Pairs whose rows occur in no other pair are taken at once; only the others are gone through one by one.
    """
    if not len(left):
        return np.empty(0, dtype=np.int64)
    alone: BoolArray = (np.bincount(left)[left] == 1) & (np.bincount(right)[right] == 1)
    contested = np.flatnonzero(~alone)
    used_left: set[int] = set()
    used_right: set[int] = set()
    taken = []
    for index, a, b in zip(contested.tolist(), left[contested].tolist(), right[contested].tolist(), strict=True):
        if a not in used_left and b not in used_right:
            used_left.add(a)
            used_right.add(b)
            taken.append(index)
    return np.sort(np.concatenate([np.flatnonzero(alone), np.array(taken, dtype=np.int64)]))


def paired_sides(
    material: Material,
    gold: IntArray,
    pred: IntArray,
    outcome: IntArray,
    credit: FloatArray,
    unpaired: Sequence[int],
    matched: BoolArray | None = None,
) -> Sides:
    """The sides of a tally of pairs: `outcome` and `credit` of each pair, `unpaired` for the rest of gold and pred.

    Spans with an ignored label are not counted, nor are those paired with one, if the pair is `matched`.
    """
    matched = np.ones(len(gold), dtype=bool) if matched is None else matched
    built = []
    for side, rows, other, partners, lonely in (
        (material.gold, gold, material.pred, pred, unpaired[0]),
        (material.pred, pred, material.gold, gold, unpaired[1]),
    ):
        outcomes, earned = np.full(len(side.spans), lonely, dtype=np.int64), np.zeros(len(side.spans))
        outcomes[rows], earned[rows] = outcome, credit
        weight = side.weight.copy()
        weight[rows[matched & other.ignored[partners]]] = False
        built.append(Side.of(side.start, side.labels, earned, weight, outcomes))
    return built[0], built[1]
