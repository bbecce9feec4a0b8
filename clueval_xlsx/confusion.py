"""Which gold label became which predicted label."""

from __future__ import annotations

import numpy as np
import pandas as pd

from clueval_xlsx.matching import pairs, touching
from clueval_xlsx.spans import label_codes, label_vocabulary, positions

NOTHING = ""  # the column of gold spans that no prediction touches, the row of predictions that touch no gold


def confusion(gold: pd.DataFrame, pred: pd.DataFrame, layer: str) -> pd.DataFrame:
    """Gold spans by their label and the label of the prediction that shares most tokens with them.

    The last column counts the gold spans that nothing touches, the last row the predictions that touch no gold.
    Spans without a label on the layer stand under `–`, if there are any.
    """
    gold_labels, partner = _partners(gold, pred, layer)
    pred_labels, supporter = _partners(pred, gold, layer)
    lonely = supporter < -1
    vocabulary = label_vocabulary([gold, pred], layer)
    unlabelled = (
        ["–"] if (gold_labels == -1).any() or (partner == -1).any() or (pred_labels[lonely] == -1).any() else []
    )
    names = [*vocabulary, *unlabelled, NOTHING]
    size = len(names)

    def place(codes: np.ndarray) -> np.ndarray:
        return np.where(codes == -1, len(vocabulary), np.where(codes < -1, size - 1, codes))

    table = np.zeros((size, size), dtype=np.int64)
    np.add.at(table, (place(gold_labels), place(partner)), 1)
    np.add.at(table, (np.full(int(lonely.sum()), size - 1), place(pred_labels[lonely])), 1)
    return pd.DataFrame(table, index=pd.Index(names, name="gold"), columns=pd.Index(names, name="pred"))


def _partners(a: pd.DataFrame, b: pd.DataFrame, layer: str) -> tuple[np.ndarray, np.ndarray]:
    """Label codes of a, and of the b span that shares most tokens with each (-1: no label, -2: no span)."""
    vocabulary = label_vocabulary([a, b], layer)
    own, other = label_codes(a, layer, vocabulary), label_codes(b, layer, vocabulary)
    (a_start, a_end), (b_start, b_end) = positions(a), positions(b)
    left, right = pairs(*touching(a_start, a_end, b_start, b_end))
    shared = np.minimum(a_end[left], b_end[right]) - np.maximum(a_start[left], b_start[right]) + 1
    order = np.lexsort((right, -shared, left))
    best = order[np.concatenate([[True], np.diff(left[order]) > 0])] if order.size else order
    partner = np.full(len(a), -2, dtype=np.int64)
    partner[left[best]] = other[right[best]]
    return own, partner
