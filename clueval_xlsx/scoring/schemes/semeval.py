"""Scheme `semeval`: the four measures of SemEval-2013 task 9, counted as nervaluate counts them.

Going through the predictions from left to right, each is paired with a gold span that it overlaps by at least
1 % and that no earlier prediction took: the one with the same boundaries, else the first. (For `type`: one of
the same label whose boundaries are nearest, else the first.) The pair is then

`strict`   COR if boundaries and label agree, else INC
`exact`    COR if the boundaries agree, else INC
`partial`  COR if the boundaries agree, else PAR, which earns half
`type`     COR if the labels agree, else INC

A gold span without a pair is MIS, a prediction without one SPU. A label's rows look only at the spans of that
label on both sides, as nervaluate's do.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from clueval_xlsx.scoring.counts import Side, Sides, Tally
from clueval_xlsx.scoring.matched_pair import MatchedPair, Pairs, greedy_pairs, paired_sides
from clueval_xlsx.scoring.matching import shared_tokens
from clueval_xlsx.text.strings import BoolArray, IntArray

OUTCOMES = ("COR", "INC", "PAR", "MIS", "SPU")
_COR, _INC, _PAR, _MIS, _SPU = range(5)
_CREDIT = np.array([1.0, 0.0, 0.5, 0.0, 0.0])
_LEAST_OVERLAP = 1.0  # per cent of the gold span's tokens
VARIANTS = ("strict", "exact", "partial", "type")
_BY_LABEL = ("strict", "type")  # the variants that look at labels


def tallies(matched: MatchedPair) -> list[Tally]:
    """The four measures; in the relaxed run those that look at labels."""
    gold, pred = _candidates(matched)
    same_kind = matched.gold.kind[gold] == matched.pred.kind[pred]
    found = []
    for variant in _BY_LABEL if matched.relaxed else VARIANTS:
        overall = _sides(matched, gold, pred, variant)
        by_label = _sides(matched, gold[same_kind], pred[same_kind], variant)
        gold_label, pred_label = (_spared(own, other) for own, other in zip(by_label, overall, strict=True))
        found.append(
            Tally(
                "semeval",
                *overall,
                variant=matched.variant(variant),
                labelled=matched.type_layer if variant in _BY_LABEL else None,
                by_layers=(matched.type_layer,),
                outcomes=OUTCOMES,
                outcomes_of_pred=("SPU",),
                label_sides=(gold_label, pred_label),
            )
        )
    return found


def _spared(by_label: Side, overall: Side) -> Side:
    """What is paired with an ignored span is no error of its own label either."""
    return replace(by_label, weight=by_label.weight * ((overall.weight > 0) | (by_label.credit > 0)))


def _candidates(matched: MatchedPair) -> tuple[IntArray, IntArray]:
    """Pairs that overlap enough, prediction by prediction from left to right."""
    gold, pred = matched.overlaps.pairs
    g, p = matched.gold, matched.pred
    shared = shared_tokens((g.start, g.end), (p.start, p.end), gold, pred)
    enough = shared / (g.end - g.start + 1)[gold] * 100.0 >= _LEAST_OVERLAP
    gold, pred = gold[enough], pred[enough]
    order = np.lexsort((gold, pred))
    return gold[order], pred[order]


def _sides(matched: MatchedPair, gold: IntArray, pred: IntArray, variant: str) -> Sides:
    g, p = matched.gold, matched.pred
    exact: BoolArray = (g.start[gold] == p.start[pred]) & (g.end[gold] == p.end[pred])
    same: BoolArray = g.kind[gold] == p.kind[pred]
    if variant == "type":
        distance = np.abs(g.start[gold] - p.start[pred]) + np.abs(g.end[gold] - p.end[pred])
        # A prediction's candidates in the order of preference: same label and nearest, then from left to right.
        order = np.lexsort((gold, np.where(same, distance, 0), ~same, pred))
    else:
        order = np.arange(len(gold))  # equal boundaries leave no other candidate, so left to right is enough
    taken = order[greedy_pairs(gold[order], pred[order])]
    right = {"strict": exact & same, "exact": exact, "partial": exact, "type": same}[variant][taken]
    outcome = np.where(right, _COR, _PAR if variant == "partial" else _INC)
    return paired_sides(matched, Pairs(gold[taken], pred[taken], outcome, _CREDIT[outcome]), (_MIS, _SPU))
