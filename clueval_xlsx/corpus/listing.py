"""Annotations as their source lists them, with their scores: overlaps can be resolved anew among some of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.mentions import FloatArray, Mentions
from clueval_xlsx.corpus.nested import Wording, resolve_apart
from clueval_xlsx.corpus.spans import make_spans
from clueval_xlsx.text.strings import IntArray

_WORDING = Wording(str, str)  # what was free of errors as a whole is so in part


@dataclass(frozen=True, eq=False)
class Listing:
    """Annotations that somebody gave scores, each with its first and last position in the corpus.

    `mentions` lie on the source's own text, where overlaps are seen and lengths are measured; `nested` and
    `forgive_repeats` say how overlaps were resolved. `on_tokens`: the source has tokens, and these cut other tokens,
    not the annotations.
    """

    mentions: Mentions
    start: IntArray
    end: IntArray
    nested: str
    forgive_repeats: bool = False
    on_tokens: bool = False

    @property
    def scores(self) -> FloatArray:
        """How sure whoever made them was, NaN where nobody said."""
        scores = self.mentions.scores
        return np.full(len(self.mentions), np.nan) if scores is None else scores

    def placed(self, start: IntArray, end: IntArray) -> Listing:
        """The same at other positions."""
        return replace(self, start=start, end=end)

    def only_layers(self, names: Sequence[str]) -> Listing:
        """The annotations of some layers."""
        rows = np.unique(np.concatenate([self.mentions.rows_of(name) for name in names]))
        return replace(self, mentions=self.mentions.only_layers(names)).take(rows)

    def take(self, rows: IntArray) -> Listing:
        """Some of them."""
        return replace(self, mentions=self.mentions.take(rows), start=self.start[rows], end=self.end[rows])

    def resolved(self, document: IntArray) -> dict[str, pd.DataFrame]:
        """The spans of each layer when overlaps within these documents are resolved."""
        own = self.mentions
        listed = own.moved(replace(own.ranges, document=document))
        found = resolve_apart(listed, self.nested, _WORDING, forgive_repeats=self.forgive_repeats)
        kept = np.flatnonzero(found.group >= 0)
        start = np.full(len(found.mentions), np.iinfo(np.int64).max, dtype=np.int64)
        end = np.full(len(found.mentions), -1, dtype=np.int64)
        np.minimum.at(start, found.group[kept], self.start[kept])
        np.maximum.at(end, found.group[kept], self.end[kept])
        return span_frames(found.mentions, start, end)


def span_frames(mentions: Mentions, start: IntArray, end: IntArray) -> dict[str, pd.DataFrame]:
    """Mentions at these positions as one span frame a layer."""
    frames: dict[str, pd.DataFrame] = {}
    labels: Mapping[str, pd.Categorical] = mentions.labels
    for layer in labels:
        rows = mentions.rows_of(layer)
        frames[layer] = make_spans(start[rows], end[rows], {layer: labels[layer][rows]})
    return frames
