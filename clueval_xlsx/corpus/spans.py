"""Span sequences as pandas frames: `start`, `end` (both inclusive) and one label column a layer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.tags import DecodedSpans
from clueval_xlsx.exceptions import InputError
from clueval_xlsx.options.declaration import shown
from clueval_xlsx.text.strings import IntArray

POSITION_COLUMNS = ("start", "end")


def make_spans(
    start: IntArray, end: IntArray, labels: Mapping[str, pd.Categorical | Sequence[str | None]]
) -> pd.DataFrame:
    """Build a span frame sorted by position, its label columns categorical.

    >>> make_spans([5, 0], [6, 2], {"risk": ["LOW", None]})
       start  end risk
    0      0    2  NaN
    1      5    6  LOW
    """
    frame = pd.DataFrame({"start": np.asarray(start, dtype=np.int64), "end": np.asarray(end, dtype=np.int64)})
    for layer, values in labels.items():
        frame[layer] = values if isinstance(values, pd.Categorical) else label_column(values)
    return frame.sort_values(["start", "end"], kind="stable", ignore_index=True)


def label_list(column: Iterable[Any]) -> list[str | None]:
    """Labels as plain strings, None for a span without a label."""
    if isinstance(column, pd.Series) and isinstance(column.dtype, pd.CategoricalDtype):
        names = [*(str(label) for label in column.cat.categories), None]  # the code -1 picks the last
        return [names[code] for code in column.cat.codes.tolist()]
    values = list(column)
    if set(map(type, values)) <= {str, type(None)}:
        return values
    return [None if pd.isna(label) else str(label) for label in values]


def label_column(values: Iterable[str | None]) -> pd.Categorical:
    """Labels as a categorical with sorted categories; None is a span without a label."""
    values = label_list(values)
    names = sorted({value for value in values if value is not None})
    number: dict[str | None, int] = {name: code for code, name in enumerate(names)}
    number[None] = -1
    codes = np.array([number[value] for value in values], dtype=np.int64)
    return pd.Categorical.from_codes(codes, categories=pd.Index(names, dtype=object))


def from_decoded(decoded: DecodedSpans, layer: str) -> pd.DataFrame:
    """One decoded layer as a span frame."""
    labels = pd.Categorical.from_codes(decoded.label, categories=pd.Index(decoded.labels, dtype=object))
    return make_spans(decoded.start, decoded.end, {layer: labels})


def layers_of(spans: pd.DataFrame) -> list[str]:
    """The label columns of a span frame."""
    return [column for column in spans.columns if column not in POSITION_COLUMNS]


def positions(spans: pd.DataFrame) -> tuple[IntArray, IntArray]:
    """Start and end as arrays."""
    return spans["start"].to_numpy(np.int64), spans["end"].to_numpy(np.int64)


def label_codes(spans: pd.DataFrame, layer: str, categories: Sequence[str] | None = None) -> IntArray:
    """The labels of a layer as codes (-1: none), numbered by `categories` or by the column's own."""
    column = spans[layer]
    if not isinstance(column.dtype, pd.CategoricalDtype):
        column = pd.Series(label_column(column))
    if categories is None:
        return column.cat.codes.to_numpy(np.int64)
    number = {label: code for code, label in enumerate(categories)}
    renumber = np.array([number.get(str(label), -1) for label in column.cat.categories] + [-1], dtype=np.int64)
    return renumber[column.cat.codes.to_numpy(np.int64)]


def label_vocabulary(frames: Iterable[pd.DataFrame], layer: str) -> list[str]:
    """All labels of a layer that occur in the frames, sorted."""
    found: set[str] = set()
    for frame in frames:
        if layer in frame.columns:
            found.update(_labels_of(frame[layer]))
    return sorted(found)


def _labels_of(column: pd.Series) -> Iterator[str]:
    """Every label of a column, be it in no order."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return (str(label) for label in column.dropna().unique())
    names = column.cat.categories
    occurring = np.bincount(column.cat.codes.to_numpy(np.int64) + 1, minlength=len(names) + 1)[1:]  # -1: no label
    return (str(names[code]) for code in np.flatnonzero(occurring).tolist())


def touching(a_start: IntArray, a_end: IntArray, b_start: IntArray, b_end: IntArray) -> tuple[IntArray, IntArray]:
    """The contiguous range of b spans that share a token with each a span: rows `first` up to `stop`."""
    first = np.searchsorted(b_end, a_start, side="left")
    stop = np.searchsorted(b_start, a_end, side="right")
    return first.astype(np.int64), np.maximum(stop, first).astype(np.int64)


def vote(groups: IntArray, labels: IntArray, weights: IntArray) -> tuple[IntArray, IntArray]:
    """The label with the largest summed weight in each group; a tie goes to the one listed first.

    Returns the groups (sorted) and the label of each. Rows must be listed from left to right.
    """
    if not len(groups):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    order = np.lexsort((labels, groups))
    group, label = groups[order], labels[order]
    first = np.flatnonzero(np.concatenate([[True], (np.diff(group) != 0) | (np.diff(label) != 0)]))
    total, place = np.add.reduceat(weights[order], first), np.minimum.reduceat(order, first)
    group, label = group[first], label[first]
    best = np.lexsort((place, -total, group))
    best = best[np.concatenate([[True], np.diff(group[best]) != 0])]
    return group[best].astype(np.int64), label[best].astype(np.int64)


def same_extents(layers: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Layers side by side: one row for each extent, no label where a layer has no span of that extent.

    >>> import pandas as pd
    >>> a = pd.DataFrame({"start": [0, 5], "end": [2, 6], "a": ["X", "Y"]})
    >>> b = pd.DataFrame({"start": [0], "end": [2], "b": ["Z"]})
    >>> same_extents({"a": a, "b": b}).fillna("-").values.tolist()
    [[0, 2, 'X', 'Z'], [5, 6, 'Y', '-']]
    """
    rows: dict[tuple[int, int], dict[str, str | None]] = {}
    for layer, spans in layers.items():
        start, end = positions(spans)
        for begin, last, label in zip(start.tolist(), end.tolist(), label_list(spans[layer]), strict=True):
            rows.setdefault((begin, last), {})[layer] = label
    extents = sorted(rows)
    return make_spans(
        np.array([start for start, _ in extents], dtype=np.int64),
        np.array([end for _, end in extents], dtype=np.int64),
        {layer: [rows[extent].get(layer) for extent in extents] for layer in layers},
    ).astype(dict.fromkeys(layers, object))


def check_frame(given: object, name: str, layers: Iterable[str] = ()) -> None:
    """Refuse what is no frame of spans: without its columns, or with positions that are no whole numbers."""
    if not isinstance(given, pd.DataFrame):
        raise InputError(f"{name}: found {type(given).__name__}. Allowed: a data frame with start, end and the layers.")
    missing = [column for column in (*POSITION_COLUMNS, *layers) if column not in given.columns]
    if missing:
        columns = ", ".join(map(str, given.columns)) or "none"
        raise InputError(f"{name}: there is no column {missing[0]!r}. Columns: {columns}.")
    for column in POSITION_COLUMNS:
        if len(given) and not pd.api.types.is_integer_dtype(given[column]):
            raise InputError(f"{name}: the column {column!r} is of {given[column].dtype}. Allowed: whole numbers.")


def check_disjoint(spans: pd.DataFrame, name: str) -> None:
    """Raise if two spans of one sequence overlap, or if a span ends before it starts."""
    start, end = positions(spans)
    backward = np.flatnonzero(end < start)
    if backward.size:
        row = backward[0]
        raise InputError(f"{name}: a span ends before it starts: {start[row]}..{end[row]}.")
    if (np.diff(start) < 0).any():
        raise InputError(f"{name}: the spans are not sorted by position. Sort them by start.")
    clash = np.flatnonzero(start[1:] <= end[:-1])
    if clash.size:
        shown = ", ".join(f"{start[i]}..{end[i]} and {start[i + 1]}..{end[i + 1]}" for i in clash[:5].tolist())
        more = f" and {clash.size - 5} more pairs" if clash.size > 5 else ""
        raise InputError(
            f"{name}: spans of one sequence must not overlap, but these do: {shown}{more}. "
            "Merge layers into one sequence, or choose which spans stay (--nested longest|merge)."
        )


# ---- The combined model: overlapping spans of all layers become one span with several labels


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
