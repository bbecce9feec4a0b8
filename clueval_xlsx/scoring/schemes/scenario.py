"""Scheme `scenario`: one-to-one pairs, sorted into scenarios by type and by how much the two spans share.

The overlap ratio of a pair is the shared characters by the characters of the longer span. With the threshold t:

`strict`     the same type and the same span
`exact`      the same type and a ratio in [t, 1)
`partial`    another type and a ratio in [t, 1]
`incorrect`  a ratio in (0, t), whatever the type
`missed`, `spurious`  gold spans and predictions without a pair

Pairs are taken in this order of scenarios, within a scenario by ratio, then by position; each span once.
Recall is over all gold spans (*possible*), precision over all predictions (*actual*): variant `strict` counts
strict, `flexible` strict and exact, `partial` strict, exact and half of partial.
"""

from __future__ import annotations

import numpy as np

from clueval_xlsx.scoring.counts import Tally
from clueval_xlsx.scoring.matched_pair import MatchedPair, Pairs, greedy_pairs, paired_sides

OUTCOMES = ("strict", "exact", "partial", "incorrect", "missed", "spurious")
_STRICT, _EXACT, _PARTIAL, _INCORRECT, _MISSED, _SPURIOUS = range(6)
CREDITS = {
    "strict": np.array([1.0, 0, 0, 0, 0, 0]),
    "flexible": np.array([1.0, 1, 0, 0, 0, 0]),
    "partial": np.array([1.0, 1, 0.5, 0, 0, 0]),
}


def tallies(matched: MatchedPair) -> list[Tally]:
    """Strict, flexible and partial precision and recall over the same pairs."""
    gold, pred = matched.overlaps.pairs
    gold_length, pred_length = matched.overlaps.lengths
    longer = np.maximum(gold_length[gold], pred_length[pred])
    shared = matched.overlaps.shared
    same_kind = matched.gold.kind[gold] == matched.pred.kind[pred]
    ratio = shared / longer
    scenario = np.where(
        ratio < matched.options.scenario_threshold,
        _INCORRECT,
        np.where(same_kind, np.where(shared == longer, _STRICT, _EXACT), _PARTIAL),
    )
    order = np.lexsort((pred, gold, -ratio, scenario))
    taken = order[greedy_pairs(gold[order], pred[order])]
    outcome = scenario[taken]
    found = []
    for variant, earned in CREDITS.items():
        pairs = Pairs(gold[taken], pred[taken], outcome, earned[outcome], near=outcome != _INCORRECT)
        found.append(
            Tally(
                "scenario",
                *paired_sides(matched, pairs, (_MISSED, _SPURIOUS)),
                variant=matched.variant(variant),
                labelled=matched.type_layer,
                by_layers=(matched.type_layer,),
                outcomes=OUTCOMES,
                outcomes_of_pred=("spurious",),
            )
        )
    return found
