"""The CLUEval classes: how each span of one sequence is matched by the spans of another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from clueval_xlsx.corpus.spans import (
    check_disjoint,
    label_codes,
    label_vocabulary,
    layers_of,
    positions,
    touching,
    vote,
)
from clueval_xlsx.text.ranges import unfold
from clueval_xlsx.text.strings import BoolArray, IntArray

EXACT, SUPERSET, TILING, OVERLAP, NONE = 1, 2, 3, 4, 5
LEVELS = {"exact": EXACT, "superset": SUPERSET, "tiling": TILING, "overlap": OVERLAP}
CLASS_NAMES = {**{number: name for name, number in LEVELS.items()}, NONE: "none"}


def match_spans(a: pd.DataFrame, b: pd.DataFrame, layers: Sequence[str] | None = None) -> pd.DataFrame:
    """Classify every span of `a` against the spans of `b`.

    Both are frames with `start` and `end` (inclusive), sorted, each free of overlap; every other column is a
    layer of labels. The result has one row for each row of `a`:

    `class`        1 exact, 2 superset, 3 tiling, 4 overlap, 5 none
    `first`,`stop` the rows of `b` that touch the span: `first` up to, not including, `stop`
    `partner_start`,`partner_end`  the extent of those rows; -1 where nothing touches
    `partner_LAYER`  the label of the partner; missing for class 5

    >>> import pandas as pd
    >>> gold = pd.DataFrame({"start": [3], "end": [9], "risk": ["HIGH"]})
    >>> pred = pd.DataFrame({"start": [2, 6], "end": [5, 11], "risk": ["LOW", "HIGH"]})
    >>> match_spans(gold, pred)
       class  first  stop  partner_start  partner_end partner_risk
    0      4      0     2              2           11         HIGH
    """
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

    classes = np.full(len(a), NONE, dtype=np.int8)
    classes[covers] = np.where(count[covers] == 1, SUPERSET, OVERLAP)
    classes[same] = np.where(count[same] == 1, EXACT, TILING)

    result = pd.DataFrame(
        {"class": classes, "first": first, "stop": stop, "partner_start": joined_start, "partner_end": joined_end},
        index=a.index,
    )
    for layer in layers_of(b) if layers is None else layers:
        categories = label_vocabulary([b], layer)
        codes = label_codes(b, layer, categories)
        partner = np.full(len(a), -1, dtype=np.int64)
        one = (classes == EXACT) | (classes == SUPERSET)
        partner[one] = codes[first[one]]
        several = np.flatnonzero((classes == TILING) | (classes == OVERLAP))
        partner[several] = _vote(a, b_start, b_end, codes, first, stop, several)
        result[f"partner_{layer}"] = pd.Categorical.from_codes(partner, categories=pd.Index(categories, dtype=object))
    return result


def labels_agree(spans: pd.DataFrame, match: pd.DataFrame, layer: str) -> BoolArray:
    """Where a span and its partner have the same label on a layer; no label equals only no label."""
    partner = f"partner_{layer}"
    vocabulary = sorted({*label_vocabulary([spans], layer), *label_vocabulary([match], partner)})
    agree: BoolArray = label_codes(spans, layer, vocabulary) == label_codes(match, partner, vocabulary)
    return agree


def _vote(
    a: pd.DataFrame,
    b_start: IntArray,
    b_end: IntArray,
    codes: IntArray,
    first: IntArray,
    stop: IntArray,
    rows: IntArray,
) -> npt.NDArray[np.int64]:
    """Partner labels of spans that several b spans cover: most tokens inside the a span win."""
    if not rows.size:
        return np.empty(0, dtype=np.int64)
    a_start, a_end = positions(a)
    left, right = unfold(first, stop, rows)
    inside = np.minimum(a_end[left], b_end[right]) - np.maximum(a_start[left], b_start[right]) + 1
    return vote(left, codes[right], inside)[1]
