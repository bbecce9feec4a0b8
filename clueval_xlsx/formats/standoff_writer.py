"""What writers of annotations by character share: texts of documents, and spans as offsets in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.running_text import joined_tokens
from clueval_xlsx.corpus.spans import label_list, make_spans, positions
from clueval_xlsx.corpus.standoff import Document, character_ranges
from clueval_xlsx.exceptions import InputError, OptionError
from clueval_xlsx.text.tokenise import Ranges


@dataclass(frozen=True, eq=False)
class Written:
    """A document and its annotations: (start, end, label), sorted, code points, end exclusive."""

    document: Document
    spans: list[tuple[int, int, str | None]]


def written_documents(reading: Reading, layers: Mapping[str, pd.DataFrame], what: str) -> list[Written]:
    """The documents of a reading with the spans of its only layer."""
    if len(layers) != 1:
        raise OptionError(
            f"{what} holds one label for each span, but there are {len(layers)} layers: {', '.join(layers)}. "
            "Choose one with --layer, or merge them first and choose one."
        )
    layer, spans = next(iter(layers.items()))
    documents, ranges = running_text(reading, spans)
    found: list[list[tuple[int, int, str | None]]] = [[] for _ in documents]
    rows = zip(
        ranges.document.tolist(), ranges.start.tolist(), ranges.end.tolist(), label_list(spans[layer]), strict=True
    )
    for document, start, end, label in rows:
        found[document].append((start, end, label))
    return [Written(document, annotations) for document, annotations in zip(documents, found, strict=True)]


def running_text(reading: Reading, spans: pd.DataFrame) -> tuple[tuple[Document, ...], Ranges]:
    """Texts and character ranges: the source's own, or tokens joined the way people write them."""
    corpus = reading.corpus
    if reading.text is not None:
        return reading.text.documents, character_ranges(spans, corpus)
    documents, char_start, char_end = joined_tokens(corpus)
    start, end = positions(spans)
    return documents, Ranges(corpus.document_of(start), char_start[start], char_end[end])


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


def one_word(label: str | None, what: str) -> str:
    """A label that can stand in a format whose fields are separated by white space."""
    if label is None or not label or label.split() != [label]:
        raise InputError(
            f"a span has the label {label!r}, which {what} cannot hold. Allowed: one word. Rename the label first."
        )
    return label
