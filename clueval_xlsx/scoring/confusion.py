"""Which gold label became which predicted label."""

from __future__ import annotations

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.spans import label_codes, label_vocabulary
from clueval_xlsx.scoring.matching import MatchedSpans
from clueval_xlsx.text.strings import IntArray

NOTHING = ""  # the column of gold spans that no prediction touches, the row of predictions that touch no gold
UNLABELLED = "–"  # spans without a label on the layer
OTHERS = "…"  # the rarer labels, where there are more than a matrix can show
MOST_LABELS = 100
_NOBODY = -2


def confusion(gold: MatchedSpans, pred: MatchedSpans, layer: str) -> pd.DataFrame:
    """Gold spans by their label and the label of the prediction that shares most tokens with them.

    The last column counts the gold spans that nothing touches, the last row the predictions that touch no gold.
    Spans without a label on the layer stand under `–`, if there are any. Of very many labels the most frequent
    have a row and a column of their own, and the others share one, `…`.
    """
    names, members = confusion_members(gold, pred, layer)
    table = np.zeros((len(names), len(names)), dtype=np.int64)
    np.add.at(table, (members["row"].to_numpy(), members["column"].to_numpy()), 1)
    return pd.DataFrame(table, index=pd.Index(names, name="gold"), columns=pd.Index(names, name="pred"))


def confusion_members(gold: MatchedSpans, pred: MatchedSpans, layer: str) -> tuple[list[str], pd.DataFrame]:
    """The names of rows and columns, and for each span its cell and its rows in `gold` and `pred` (-1: none)."""
    vocabulary = label_vocabulary([gold.spans, pred.spans], layer)
    gold_labels, pred_labels = (label_codes(side.spans, layer, vocabulary) for side in (gold, pred))
    partner = gold.largest_partner
    first, stop = pred.touched
    lonely = np.flatnonzero(stop == first)
    partner_labels = np.where(partner < 0, _NOBODY, np.append(pred_labels, _NOBODY)[partner])
    rows = np.concatenate([gold_labels, np.full(len(lonely), _NOBODY)])
    columns = np.concatenate([partner_labels, pred_labels[lonely]])

    kept, shown = _most_frequent(rows, columns, len(vocabulary))
    unlabelled = [UNLABELLED] if (rows == -1).any() or (columns == -1).any() else []
    others = [OTHERS] if len(kept) < len(vocabulary) else []
    names = [*(vocabulary[code] for code in kept.tolist()), *others, *unlabelled, NOTHING]

    def place(codes: IntArray) -> IntArray:
        without = np.where(codes == -1, len(kept) + len(others), len(names) - 1)
        return np.where(codes < 0, without, np.append(shown, 0)[np.maximum(codes, 0)])

    members = pd.DataFrame(
        {
            "row": place(rows),
            "column": place(columns),
            "gold": np.concatenate([np.arange(len(gold.spans)), np.full(len(lonely), -1)]),
            "pred": np.concatenate([partner, lonely]),
        }
    )
    return names, members


def _most_frequent(rows: IntArray, columns: IntArray, labels: int) -> tuple[IntArray, IntArray]:
    """The labels that have a place of their own, in order, and for each label the number of its place."""
    used = np.concatenate([rows, columns])
    counts = np.bincount(used[used >= 0], minlength=labels)
    kept = np.sort(np.argsort(-counts, kind="stable")[:MOST_LABELS])
    shown = np.full(labels, len(kept), dtype=np.int64)
    shown[kept] = np.arange(len(kept))
    return kept, shown
