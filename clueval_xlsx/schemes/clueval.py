"""Scheme `clueval`: a span counts if its class is at or below the level, and, labelled, if the labels agree.

Recall classifies gold against prediction, precision prediction against gold, so the supports and the true
positives of the two sides differ. Level 1 labelled is what seqeval counts by default.
"""

from __future__ import annotations

import pandas as pd

from clueval_xlsx.matching import LEVELS
from clueval_xlsx.schemes.tally import Side, Tally
from clueval_xlsx.spans import label_codes, label_vocabulary
from clueval_xlsx.strings import BoolArray, IntArray


def tallies(
    gold: pd.DataFrame, pred: pd.DataFrame, gold_match: pd.DataFrame, pred_match: pd.DataFrame, layers: tuple[str, ...]
) -> list[Tally]:
    """All four levels, unlabelled and labelled on each layer."""
    vocabulary = {layer: label_vocabulary([gold, pred], layer) for layer in layers}
    sides = [(gold, gold_match), (pred, pred_match)]
    codes = [{layer: label_codes(spans, layer, vocabulary[layer]) for layer in layers} for spans, _ in sides]
    agree = [{layer: labels_agree(spans, match, layer) for layer in layers} for spans, match in sides]

    found = []
    for level, number in LEVELS.items():
        reached = [(match["class"] <= number).to_numpy() for _, match in sides]
        for labelled in (None, *layers):
            hits = [hit if labelled is None else hit & same[labelled] for hit, same in zip(reached, agree, strict=True)]
            gold_side, pred_side = (
                Side.of(spans["start"].to_numpy(), labels, credit)
                for (spans, _), labels, credit in zip(sides, codes, hits, strict=True)
            )
            found.append(
                Tally(
                    "clueval",
                    gold_side,
                    pred_side,
                    level=level,
                    labelled=labelled,
                    by_layers=layers if labelled is None else (labelled,),
                )
            )
    return found


def labels_agree(spans: pd.DataFrame, match: pd.DataFrame, layer: str) -> BoolArray:
    """Where a span and its partner have the same label on a layer; no label equals only no label."""
    vocabulary = sorted({*label_vocabulary([spans], layer), *label_vocabulary([match], f"partner_{layer}")})
    own: IntArray = label_codes(spans, layer, vocabulary)
    partner = label_codes(match, f"partner_{layer}", vocabulary)
    agree: BoolArray = own == partner
    return agree
