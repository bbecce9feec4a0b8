"""Scheme `iou`: a span is found if one span of the other side has an intersection over union of at least t.

Intersection and union are counted in characters. Counted on both sides, so that several predictions may find
one gold span if t is small. `labelled`: the two must be of the same type. This is the plain rule: one span against
one span, nothing joined. Scheme `presidio` is what Presidio's span evaluation itself counts.
"""

from __future__ import annotations

import numpy as np

from clueval_xlsx.scoring.counts import Side, Tally
from clueval_xlsx.scoring.matched_pair import MatchedPair
from clueval_xlsx.text.strings import BoolArray


def tallies(matched: MatchedPair) -> list[Tally]:
    """For each threshold: any type, and the same type; in the relaxed run only the latter."""
    layer = matched.type_layer
    return [
        tally(matched, threshold, labelled)
        for threshold in matched.options.iou_threshold
        for labelled in ((layer,) if matched.relaxed else (None, layer))
    ]


def tally(matched: MatchedPair, threshold: float, labelled: str | None) -> Tally:
    """One threshold, for any type or for the same type."""
    gold, pred = matched.overlaps.pairs
    near = overlap_share(matched) >= threshold
    same = matched.gold.kind[gold] == matched.pred.kind[pred] if labelled else np.ones(len(gold), dtype=bool)
    built = []
    for side, rows, other, partners in (
        (matched.gold, gold, matched.pred, pred),
        (matched.pred, pred, matched.gold, gold),
    ):
        found = _marked(len(side.spans), rows[near & same])
        beside_ignored = _marked(len(side.spans), rows[near & other.ignored[partners]])
        built.append(Side.of(side.start, side.labels, found, ~side.ignored & ~beside_ignored))
    return Tally(
        "iou",
        built[0],
        built[1],
        variant=matched.variant(f"{threshold:g}"),
        labelled=labelled,
        by_layers=(matched.type_layer,),
    )


def overlap_share(matched: MatchedPair) -> np.ndarray:
    """Intersection over union, in characters, of every pair that overlaps."""
    gold, pred = matched.overlaps.pairs
    gold_length, pred_length = matched.overlaps.lengths
    shared = matched.overlaps.shared
    union = gold_length[gold] + pred_length[pred] - shared
    share: np.ndarray = shared / union
    return share


def _marked(size: int, rows: np.ndarray) -> BoolArray:
    mark = np.zeros(size, dtype=bool)
    mark[rows] = True
    return mark
