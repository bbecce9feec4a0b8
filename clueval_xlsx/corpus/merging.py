"""The combined model: overlapping spans of all layers become one span with several labels."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.spans import check_frame, label_codes, label_vocabulary, make_spans, positions, vote
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.options.declaration import shown
from clueval_xlsx.text.strings import IntArray


def merge_layers(layers: Mapping[str, pd.DataFrame], documents: IntArray | None = None) -> pd.DataFrame:
    """Merge one span frame a layer into a single sequence with a label column for each layer.

    `layers`  the spans of each layer by its name: `start`, `end` (both inclusive) and a column of that name
    `documents`  the first positions of the documents, over whose borders nothing is joined; None for one document

    Spans are the nodes of a graph, overlapping ones are joined, and each connected component becomes one span
    from its smallest start to its largest end. A layer's label is the one with most tokens in the component; a
    tie goes to the leftmost; a layer without a span there gives none. The order of the layers does not matter
    but for the order of the columns.

    Gives a frame with `start`, `end` and the layers. Raises `InputError` if a frame has not these columns.

    >>> import pandas as pd
    >>> category = pd.DataFrame({"start": [0, 8], "end": [2, 9], "category": ["PERSON", "DATE"]})
    >>> risk = pd.DataFrame({"start": [1], "end": [4], "risk": ["HIGH"]})
    >>> merge_layers({"category": category, "risk": risk})
       start  end category  risk
    0      0    4   PERSON  HIGH
    1      8    9     DATE   NaN
    """
    if not isinstance(layers, Mapping) or not layers:
        raise InputError(f"layers: found {shown(layers)}. Allowed: the spans of each layer, such as {{'risk': frame}}.")
    for layer, spans in layers.items():
        check_frame(spans, f"layers[{layer!r}]", [layer])
    start = np.concatenate([positions(spans)[0] for spans in layers.values()])
    end = np.concatenate([positions(spans)[1] for spans in layers.values()])
    component = overlap_components(start, end, documents)
    count = int(component.max()) + 1 if component.size else 0

    merged_start = np.full(count, np.iinfo(np.int64).max, dtype=np.int64)
    np.minimum.at(merged_start, component, start)
    merged_end = np.full(count, -1, dtype=np.int64)
    np.maximum.at(merged_end, component, end)

    labels: dict[str, pd.Categorical] = {}
    offset = 0
    for layer, spans in layers.items():
        categories = label_vocabulary([spans], layer)
        rows = slice(offset, offset + len(spans))
        offset += len(spans)
        chosen = np.full(count, -1, dtype=np.int64)
        groups, winners = vote(component[rows], label_codes(spans, layer, categories), end[rows] - start[rows] + 1)
        chosen[groups] = winners
        labels[layer] = pd.Categorical.from_codes(chosen, categories=pd.Index(categories, dtype=object))
    return make_spans(merged_start, merged_end, labels)


def overlap_components(start: IntArray, end: IntArray, documents: IntArray | None) -> IntArray:
    """The number of the overlap component of each span.

    Going from left to right, a span that begins behind all that those before it reach opens a new component: on a
    line these are the connected components of the graph in which all overlapping spans are joined.
    """
    if not start.size:
        return np.empty(0, dtype=np.int64)
    order = np.lexsort((end, start))
    left, reach = start[order], np.maximum.accumulate(end[order])
    opens = left[1:] > reach[:-1]
    if documents is not None:
        document = np.searchsorted(documents, left, side="right")
        opens |= document[1:] != document[:-1]
    component = np.empty(len(order), dtype=np.int64)
    component[order] = np.concatenate([[0], np.cumsum(opens)])
    return component
