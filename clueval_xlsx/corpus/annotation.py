"""The spans of one side of a comparison: each layer by itself, and all of them as one sequence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.listed_spans import ListedSpans
from clueval_xlsx.corpus.listing import Listing
from clueval_xlsx.corpus.merging import merge_layers
from clueval_xlsx.corpus.spans import positions
from clueval_xlsx.corpus.tags import OpeningCounts, TagColumn

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Source:
    """Where a reading came from, for messages, hashes and for writing it back."""

    name: str
    format: str
    sha256: str
    columns: Mapping[str, int | str] = field(default_factory=dict)  # layer -> column, or field in other formats
    ends_with_newline: bool = True
    reading: Mapping[str, Any] = field(default_factory=dict)  # the options it was read with, so that it can be again
    folder: bool = False  # several files
    detector: str = ""  # name, version, language and configuration of the detector that made the spans


@dataclass(frozen=True, eq=False)
class Annotation:
    """The spans of one side.

    `tags` are the columns that layers were decoded from, where there were any. `listed` are the annotations as
    the source lists them, in its order and overlapping as they may, where that differs from the layers.
    """

    source: Source
    layers: Mapping[str, pd.DataFrame]
    spans: pd.DataFrame
    openings: Mapping[str, OpeningCounts] = field(default_factory=dict)  # layer -> how its tags open spans
    tags: Mapping[str, TagColumn] = field(default_factory=dict)
    listed: ListedSpans | None = None
    attributes: pd.DataFrame | None = None  # what else is known of the annotations, besides the layers
    scores: pd.DataFrame | None = None  # start, end, score: how sure whoever made them was
    listing: Listing | None = None  # the annotations as listed, where somebody gave them scores

    @property
    def dropped(self) -> int:
        """How many of the annotations that the source lists gave way to others that they overlap."""
        return 0 if self.listed is None else self.listed.dropped(self.layers)

    def only(self, layer: str) -> Annotation:
        """One of its layers."""
        return replace(
            self,
            layers={layer: self.layers[layer]},
            spans=self.layers[layer],
            listed=None if self.listed is None else self.listed.only(layer),
            listing=None if self.listing is None else self.listing.only_layers([layer]),
        )

    @property
    def orphans(self) -> dict[str, int]:
        """Layer -> tags that continue nothing."""
        return {layer: counts.orphans for layer, counts in self.openings.items()}

    def __repr__(self) -> str:
        """Its size, and no word of the corpus."""
        return f"<Annotation: {len(self.spans)} spans; layers {', '.join(self.layers)}>"


def span_scores(annotation: Annotation) -> FloatArray | None:
    """The score of each span, NaN where nobody gave one; None where there is none at all.

    A span that was merged from several is as sure as the surest of them.
    """
    if annotation.scores is None or annotation.scores.empty:
        return None
    start, end = positions(annotation.spans)
    first, last = positions(annotation.scores)
    row = np.searchsorted(end, first)
    inside = (row < len(start)) & (np.append(start, 0)[row] <= first) & (np.append(end, -1)[row] >= last)
    found = np.full(len(start), -np.inf)
    np.maximum.at(found, row[inside], annotation.scores["score"].to_numpy(np.float64)[inside])
    return np.where(np.isneginf(found), np.nan, found)


def join_layers(layers: Mapping[str, pd.DataFrame], corpus: Corpus) -> pd.DataFrame:
    """One sequence of all layers: a single layer as it is, several merged."""
    if len(layers) == 1:
        return next(iter(layers.values()))
    return merge_layers(layers, corpus.documents.start)


def orphan_notes(name: str, orphans: Mapping[str, int]) -> list[str]:
    """What to tell people about tags of a source that continue nothing."""
    return [
        f"{name}: layer {layer}: {count} I- tag{'s' if count != 1 else ''} continued nothing and opened a span"
        for layer, count in orphans.items()
        if count
    ]
