"""The CLUEval classes: how each span of one sequence is matched by the spans of another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from clueval_xlsx.corpus.spans import (
    check_disjoint,
    check_frame,
    label_codes,
    label_vocabulary,
    layers_of,
    positions,
    touching,
    vote,
)
from clueval_xlsx.options.values import names_of
from clueval_xlsx.scoring.names import MatchClass
from clueval_xlsx.text.strings import BoolArray, IntArray, unfold

Extents = tuple[IntArray, IntArray]  # first and last positions of spans, both inclusive


def match_spans(a: pd.DataFrame, b: pd.DataFrame, layers: Sequence[str] | None = None) -> pd.DataFrame:
    """Classify every span of `a` against the spans of `b`.

    `a`, `b`  frames with `start`, `end` (both inclusive) and a column a layer, sorted, each free of overlap
    `layers`  the layers whose labels are wanted; None for those of `b`

    Gives a frame with one row for each row of `a`. Raises `InputError` if a frame is not like that.

    `class`  1 exact, 2 superset, 3 tiling, 4 overlap, 5 none
    `first`,`stop`  the rows of `b` that touch the span: `first` up to, not including, `stop`
    `partner_start`,`partner_end`  the extent of those rows; -1 where nothing touches
    `partner_LAYER`  the label of the partner; missing for class 5

    >>> import pandas as pd
    >>> gold = pd.DataFrame({"start": [3], "end": [9], "risk": ["HIGH"]})
    >>> pred = pd.DataFrame({"start": [2, 6], "end": [5, 11], "risk": ["LOW", "HIGH"]})
    >>> match_spans(gold, pred)
       class  first  stop  partner_start  partner_end partner_risk
    0      4      0     2              2           11         HIGH
    """
    layers = None if layers is None else names_of("layers", layers)
    for spans, name in ((a, "first sequence"), (b, "second sequence")):
        check_frame(spans, name, layers or ())
    check_disjoint(a, "first sequence")
    check_disjoint(b, "second sequence")
    (a_start, a_end), (b_start, b_end) = positions(a), positions(b)
    first, stop = touching(a_start, a_end, b_start, b_end)
    count = stop - first
    touched = count > 0

    joined_start = np.full(len(a), -1, dtype=np.int64)
    joined_end = joined_start.copy()
    joined_start[touched] = b_start[first[touched]]
    joined_end[touched] = b_end[stop[touched] - 1]

    gaps = np.concatenate([[0], np.cumsum(b_start[1:] != b_end[:-1] + 1)])  # gaps before each row of b
    adjacent = touched.copy()
    adjacent[touched] = gaps[stop[touched] - 1] == gaps[first[touched]]
    same = adjacent & (joined_start == a_start) & (joined_end == a_end)
    covers = adjacent & (joined_start <= a_start) & (joined_end >= a_end)

    classes = np.full(len(a), MatchClass.NONE, dtype=np.int8)
    classes[covers] = np.where(count[covers] == 1, MatchClass.SUPERSET, MatchClass.OVERLAP)
    classes[same] = np.where(count[same] == 1, MatchClass.EXACT, MatchClass.TILING)

    match = pd.DataFrame(
        {"class": classes, "first": first, "stop": stop, "partner_start": joined_start, "partner_end": joined_end},
        index=a.index,
    )
    return with_partner_labels(match, a, b, layers)


def with_partner_labels(
    match: pd.DataFrame, a: pd.DataFrame, b: pd.DataFrame, layers: Sequence[str] | None = None
) -> pd.DataFrame:
    """A match of `a` against `b` with the labels of the partners: what touches what is not looked for again.

    Exact and superset take the label of the one span. For tiling and overlap the label with most tokens inside
    the span of `a` wins, the leftmost of several.
    """
    classes: npt.NDArray[np.int8] = match["class"].to_numpy()
    first, stop = match["first"].to_numpy(), match["stop"].to_numpy()
    one = classes <= MatchClass.SUPERSET
    several = np.flatnonzero(~one & (classes < MatchClass.NONE))
    left, right = unfold(first, stop, several)
    inside = shared_tokens(positions(a), positions(b), left, right)
    found = {}
    for layer in layers_of(b) if layers is None else layers:
        categories = label_vocabulary([b], layer)
        codes = label_codes(b, layer, categories)
        partner = np.full(len(a), -1, dtype=np.int64)
        partner[one] = codes[first[one]]
        partner[several] = vote(left, codes[right], inside)[1]
        found[f"partner_{layer}"] = pd.Categorical.from_codes(partner, categories=pd.Index(categories, dtype=object))
    return match.assign(**found)


def labels_agree(spans: pd.DataFrame, match: pd.DataFrame, layer: str) -> BoolArray:
    """Where a span and its partner have the same label on a layer; no label equals only no label."""
    partner = f"partner_{layer}"
    vocabulary = sorted({*label_vocabulary([spans], layer), *label_vocabulary([match], partner)})
    agree: BoolArray = label_codes(spans, layer, vocabulary) == label_codes(match, partner, vocabulary)
    return agree


def shared_tokens(a: Extents, b: Extents, left: IntArray, right: IntArray) -> IntArray:
    """How many tokens each pair (row of a, row of b) of spans that touch shares."""
    return np.minimum(a[1][left], b[1][right]) - np.maximum(a[0][left], b[0][right]) + 1


@dataclass(frozen=True, eq=False)
class MatchedSpans:
    """The spans of one side, those of the other side, and the match of the first against the others.

    Made once for each direction of a run; whoever needs to know what touches a span asks here, by the span's row.
    """

    spans: pd.DataFrame
    others: pd.DataFrame
    match: pd.DataFrame

    @classmethod
    def of(cls, spans: pd.DataFrame, others: pd.DataFrame) -> MatchedSpans:
        """Match spans against others, labels aside."""
        return cls(spans, others, match_spans(spans, others, layers=[]))

    @classmethod
    def alone(cls, spans: pd.DataFrame) -> MatchedSpans:
        """Spans with nothing on the other side."""
        return cls.of(spans, spans.iloc[:0])

    @cached_property
    def classes(self) -> npt.NDArray[np.int8]:
        """The class of each span."""
        classes: npt.NDArray[np.int8] = self.match["class"].to_numpy()
        return classes

    @cached_property
    def touched(self) -> tuple[IntArray, IntArray]:
        """For each span the rows of the others that touch it: from the first up to, not including, the second."""
        return self.match["first"].to_numpy(), self.match["stop"].to_numpy()

    @cached_property
    def pairs(self) -> tuple[IntArray, IntArray]:
        """All pairs (row of the spans, row of the others) that share a token, in order."""
        return unfold(*self.touched)

    @cached_property
    def largest_partner(self) -> IntArray:
        """The row of the other span that shares most tokens with each span, the first of several; -1: none does."""
        left, right = self.pairs
        shared = shared_tokens(positions(self.spans), positions(self.others), left, right)
        order = np.lexsort((right, -shared, left))
        best = order[np.concatenate([[True], np.diff(left[order]) > 0])] if order.size else order
        partner = np.full(len(self.spans), -1, dtype=np.int64)
        partner[left[best]] = right[best]
        return partner


# ---- Which gold label became which predicted label

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
