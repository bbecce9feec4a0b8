"""One-to-one pairs of gold and predicted spans, for the schemes that count such pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clueval_xlsx.scoring.counts import FloatArray, Side, Sides
from clueval_xlsx.scoring.matched_pair import MatchedPair
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


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of a gold span and a prediction: their rows, what became of each pair, and what it earns.

    `near` are the pairs so close that a partner with an ignored label takes the other out of the count; None: all.
    """

    gold: IntArray
    pred: IntArray
    outcome: IntArray
    credit: FloatArray
    near: BoolArray | None = None


def paired_sides(matched: MatchedPair, pairs: Pairs, unpaired: tuple[int, int]) -> Sides:
    """The sides of a tally of pairs; `unpaired` are the outcomes of gold spans and of predictions without a pair.

    Spans with an ignored label are not counted, nor are those paired with one, if they are near.
    """
    near = np.ones(len(pairs.gold), dtype=bool) if pairs.near is None else pairs.near
    built = []
    for side, other, rows, partners, lonely in (
        (matched.gold, matched.pred, pairs.gold, pairs.pred, unpaired[0]),
        (matched.pred, matched.gold, pairs.pred, pairs.gold, unpaired[1]),
    ):
        outcomes, earned = np.full(len(side.spans), lonely, dtype=np.int64), np.zeros(len(side.spans))
        outcomes[rows], earned[rows] = pairs.outcome, pairs.credit
        weight = ~side.ignored
        weight[rows[near & other.ignored[partners]]] = False
        built.append(Side.of(side.start, side.labels, earned, weight, outcome=outcomes))
    return built[0], built[1]
