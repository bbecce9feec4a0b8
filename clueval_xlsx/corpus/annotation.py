"""The spans of one side of a comparison: each layer by itself, all of them as one sequence, and as they are listed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.mentions import ERROR, Mentions, Wording, resolve_apart
from clueval_xlsx.corpus.spans import make_spans, merge_layers, positions
from clueval_xlsx.corpus.tags import OpeningCounts, TagColumn
from clueval_xlsx.exceptions import counted
from clueval_xlsx.text.strings import IntArray
from clueval_xlsx.text.tokenise import Ranges

FloatArray = npt.NDArray[np.float64]
Frames = Mapping[str, pd.DataFrame]  # the spans of each layer
Placing = Callable[[Ranges], tuple[IntArray, IntArray]]  # a source's own units -> first and last position of a corpus


@dataclass(frozen=True)
class Source:
    """Where a reading came from, for messages, hashes and for writing it back."""

    name: str
    format: str
    sha256: str
    columns: Mapping[str, int | str] = field(default_factory=dict)  # layer -> column, or field in other formats
    reading: Mapping[str, Any] = field(default_factory=dict)  # the options it was read with, so that it can be again
    folder: bool = False  # several files
    detector: str = ""  # name, version, language and configuration of the detector that made the spans


@dataclass(frozen=True, eq=False)
class Listed:
    """Annotations as their source lists them, overlapping as they may, each with its first and last position.

    `mentions` lie on the source's own text, where overlaps are seen and lengths are measured; `nested` and
    `forgive_repeats` say how overlaps were resolved.
    """

    mentions: Mentions
    start: IntArray
    end: IntArray
    nested: str = ERROR
    forgive_repeats: bool = False

    def __len__(self) -> int:
        return len(self.start)

    @property
    def spans(self) -> pd.DataFrame:
        """Positions, and a label for each layer."""
        return pd.DataFrame({"start": self.start, "end": self.end, **self.mentions.labels})

    @property
    def scores(self) -> FloatArray:
        """How sure whoever made them was, NaN where nobody said."""
        scores = self.mentions.scores
        return np.full(len(self), np.nan) if scores is None else scores

    @property
    def apart(self) -> bool:
        """Whether there are layers that are annotated apart: merged, an annotation is a part of a span."""
        return self.mentions.sequence is not None and len(self.mentions.labels) > 1

    def take(self, rows: IntArray) -> Listed:
        """Some of them."""
        return replace(self, mentions=self.mentions.take(rows), start=self.start[rows], end=self.end[rows])

    def placed(self, start: IntArray, end: IntArray) -> Listed:
        """The same at other positions."""
        return replace(self, start=start, end=end)

    def only_layers(self, names: Sequence[str]) -> Listed:
        """The annotations of some layers."""
        rows = np.unique(np.concatenate([self.mentions.rows_of(name) for name in names]))
        return replace(self, mentions=self.mentions.only_layers(names)).take(rows)

    def dropped(self, layers: Frames) -> int:
        """How many of them gave way to others that they overlap: they are in no layer."""
        count = 0
        for rows, names in self.mentions.apart():
            kept: set[tuple[int, int]] = set()
            for layer in names:
                kept.update(zip(*map(np.ndarray.tolist, positions(layers[layer])), strict=True))
            count += len(rows) - len(kept)
        return count

    def resolved(self, document: IntArray) -> dict[str, pd.DataFrame]:
        """The spans of each layer when overlaps within these documents are resolved."""
        listed = self.mentions.moved(replace(self.mentions.ranges, document=document))
        wording = Wording(str, str)  # what was free of errors as a whole is so in part
        resolution = resolve_apart(listed, self.nested, wording, forgive_repeats=self.forgive_repeats)
        start, end = stretched(resolution.group, len(resolution.mentions), self.start, self.end)
        return span_frames(resolution.mentions, start, end)


@dataclass(frozen=True, eq=False)
class Annotation:
    """The spans of one side.

    `tags` are the columns that layers were decoded from, where there were any. `listed` are the annotations as
    the source lists them, where some gave way to others, and `listing` the same where somebody gave them scores.
    """

    source: Source
    layers: Frames
    spans: pd.DataFrame
    openings: Mapping[str, OpeningCounts] = field(default_factory=dict)  # layer -> how its tags open spans
    tags: Mapping[str, TagColumn] = field(default_factory=dict)
    listed: Listed | None = None
    attributes: pd.DataFrame | None = None  # what else is known of the annotations, besides the layers
    scores: pd.DataFrame | None = None  # start, end, score: how sure whoever made them was
    listing: Listed | None = None

    @property
    def dropped(self) -> int:
        """How many of the annotations that the source lists gave way to others that they overlap."""
        return 0 if self.listed is None else self.listed.dropped(self.layers)

    def only(self, layer: str) -> Annotation:
        """One of its layers."""
        return replace(self.only_layers([layer]), spans=self.layers[layer])

    def only_layers(self, names: Sequence[str]) -> Annotation:
        """Some of its layers, whose spans were not merged."""
        return replace(
            self,
            layers={name: self.layers[name] for name in names},
            listed=None if self.listed is None else self.listed.only_layers(names),
            listing=None if self.listing is None else self.listing.only_layers(names),
        )

    def moved(self, place: Placing, corpus: Corpus) -> Annotation:
        """The same, given where the tokens that it lies on lie on another corpus."""

        def move(start: IntArray, end: IntArray) -> tuple[IntArray, IntArray]:
            return place(Ranges(start, start, end + 1))

        def moved(spans: pd.DataFrame) -> pd.DataFrame:
            first, last = move(*positions(spans))
            return spans.assign(start=first, end=last)

        def listed_there(listed: Listed | None) -> Listed | None:
            return None if listed is None else listed.placed(*move(listed.start, listed.end))

        layers = {name: moved(spans) for name, spans in self.layers.items()}
        return replace(
            self,
            layers=layers,
            spans=join_layers(layers, corpus),
            listed=listed_there(self.listed),
            attributes=None if self.attributes is None else moved(self.attributes),
            scores=None if self.scores is None else moved(self.scores),
            listing=listed_there(self.listing),
        )

    @property
    def orphans(self) -> dict[str, int]:
        """Layer -> tags that continue nothing."""
        return {layer: counts.orphans for layer, counts in self.openings.items()}

    def __repr__(self) -> str:
        """Its size, and no word of the corpus."""
        return f"<Annotation: {len(self.spans)} spans; layers {', '.join(self.layers)}>"


def stretched(group: IntArray, count: int, start: IntArray, end: IntArray) -> tuple[IntArray, IntArray]:
    """From the smallest start to the largest end of each group; -1 is in none."""
    rows = np.flatnonzero(group >= 0)
    first = np.full(count, np.iinfo(np.int64).max, dtype=np.int64)
    last = np.full(count, -1, dtype=np.int64)
    np.minimum.at(first, group[rows], start[rows])
    np.maximum.at(last, group[rows], end[rows])
    return first, last


def span_frames(mentions: Mentions, start: IntArray, end: IntArray) -> dict[str, pd.DataFrame]:
    """Mentions at these positions as one span frame a layer."""
    frames = {}
    for layer, labels in mentions.labels.items():
        rows = mentions.rows_of(layer)
        frames[layer] = make_spans(start[rows], end[rows], {layer: labels[rows]})
    return frames


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


def join_layers(layers: Frames, corpus: Corpus) -> pd.DataFrame:
    """One sequence of all layers: a single layer as it is, several merged."""
    if len(layers) == 1:
        return next(iter(layers.values()))
    return merge_layers(layers, corpus.documents.start)


def orphan_notes(name: str, orphans: Mapping[str, int]) -> list[str]:
    """What to tell people about tags of a source that continue nothing."""
    return [
        f"{name}: layer {layer}: {counted(count, 'I- tag')} continued nothing and opened a span"
        for layer, count in orphans.items()
        if count
    ]
