"""What every scheme is given: both sides as arrays, their matches, and which labels count as the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from clueval_xlsx.corpus.characters import character_offsets, covered
from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.label_rules import LabelRules, canonical, has_label
from clueval_xlsx.corpus.pair import Pair
from clueval_xlsx.corpus.spans import label_codes, label_vocabulary, layers_of, positions, touching
from clueval_xlsx.corpus.tags import TagColumn, properly_tagged
from clueval_xlsx.scoring.grouping import Grouping
from clueval_xlsx.scoring.matching import labels_agree, match_spans
from clueval_xlsx.scoring.schemes.settings import SchemeOptions, relaxed_variant
from clueval_xlsx.text.ranges import unfold
from clueval_xlsx.text.strings import BoolArray, IntArray


@dataclass(frozen=True, eq=False)
class SpanSide:
    """The spans of one side.

    `labels[layer]` are codes in the vocabulary that rows are named by. `kind` are codes of the type that
    schemes compare: equal where the labels count as the same. `compared` is the frame whose labels do.
    """

    spans: pd.DataFrame
    compared: pd.DataFrame
    match: pd.DataFrame  # of `compared` against the other side's
    labels: Mapping[str, IntArray]
    kind: IntArray
    strict_kind: IntArray
    ignored: BoolArray
    partner_ignored: BoolArray  # what matches this span has an ignored label
    tags: TagColumn | None  # of the type layer, where the spans were decoded from them
    listed: pd.DataFrame  # the annotations as the source lists them
    listed_ignored: BoolArray

    @cached_property
    def start(self) -> IntArray:
        """First positions."""
        return positions(self.spans)[0]

    @cached_property
    def end(self) -> IntArray:
        """Last positions."""
        return positions(self.spans)[1]

    @property
    def weight(self) -> BoolArray:
        """The spans that are counted."""
        return ~self.ignored

    @cached_property
    def classes(self) -> npt.NDArray[np.int8]:
        """The class of each span."""
        classes: npt.NDArray[np.int8] = self.match["class"].to_numpy()
        return classes

    @cached_property
    def agreement(self) -> Mapping[str, BoolArray]:
        """For each layer, where a span and its partner have the same label; no label equals only no label."""
        return {layer: labels_agree(self.compared, self.match, layer) for layer in self.labels}

    @cached_property
    def properly_tagged(self) -> BoolArray | None:
        """The spans that strict readers of tags see, too; None without tags."""
        return None if self.tags is None else properly_tagged(self.tags, self.start, self.end)


@dataclass(frozen=True, eq=False)
class Geometry:
    """Where the spans of both sides lie and overlap; the same whatever their labels."""

    corpus: Corpus
    gold: tuple[IntArray, IntArray]  # first and last positions
    pred: tuple[IntArray, IntArray]

    @cached_property
    def overlaps(self) -> tuple[IntArray, IntArray]:
        """All pairs (row of gold, row of pred) that share a token, in order."""
        return unfold(*touching(*self.gold, *self.pred))

    @cached_property
    def extents(self) -> tuple[tuple[IntArray, IntArray], tuple[IntArray, IntArray]]:
        """Half-open character offsets of the gold and of the predicted spans."""
        marked = covered(len(self.corpus), self.gold, self.pred)
        offsets = character_offsets(self.corpus, marked)  # spans that overlap lie in one stretch of marked tokens
        return offsets.of(*self.gold), offsets.of(*self.pred)

    @cached_property
    def lengths(self) -> tuple[IntArray, IntArray]:
        """How many characters the gold and the predicted spans have."""
        (gold_start, gold_end), (pred_start, pred_end) = self.extents
        return gold_end - gold_start, pred_end - pred_start

    @cached_property
    def shared(self) -> IntArray:
        """How many characters each overlapping pair shares."""
        gold, pred = self.overlaps
        (gold_start, gold_end), (pred_start, pred_end) = self.extents
        return np.minimum(gold_end[gold], pred_end[pred]) - np.maximum(gold_start[gold], pred_start[pred])


@dataclass(frozen=True, eq=False)
class Material:
    """Everything a scheme may look at. In the `relaxed` run equivalent labels are the same."""

    corpus: Corpus
    gold: SpanSide
    pred: SpanSide
    geometry: Geometry
    layers: tuple[str, ...]
    type_layer: str
    vocabulary: Mapping[str, Sequence[str]]
    options: SchemeOptions
    level: str
    groupings: Sequence[Grouping] = ()
    discarded: tuple[int, ...] = ()
    relaxed: bool = False

    @property
    def sides(self) -> tuple[SpanSide, SpanSide]:
        """Gold and pred."""
        return self.gold, self.pred

    def variant(self, name: str | None = None) -> str | None:
        """The name of a row's variant; rows of the relaxed run say so."""
        return relaxed_variant(name) if self.relaxed else name


def make_material(
    pair: Pair,
    rules: LabelRules,
    options: SchemeOptions,
    *,
    level: str,
    groupings: Sequence[Grouping] = (),
    discarded: tuple[int, ...] = (),
) -> Material:
    """Prepare a pair, its labels aligned, for the schemes."""
    layers = pair.layers
    type_layer = options.type_layer or layers[0]
    frames = (pair.gold.spans, pair.pred.spans)
    vocabulary = {layer: label_vocabulary(frames, layer) for layer in layers}
    sides = []
    for annotation, other in ((pair.gold, pair.pred), (pair.pred, pair.gold)):
        spans = annotation.spans
        match = match_spans(spans, other.spans)
        labels = {layer: label_codes(spans, layer, vocabulary[layer]) for layer in layers}
        listed = annotation.listed if annotation.listed is not None else spans
        sides.append(
            SpanSide(
                spans=spans,
                compared=spans,
                match=match,
                labels=labels,
                kind=labels[type_layer],
                strict_kind=labels[type_layer],
                ignored=has_label(spans, layers, rules.ignored),
                partner_ignored=has_label(match, [f"partner_{layer}" for layer in layers], rules.ignored),
                tags=annotation.tags.get(layers[0]) if len(layers) == 1 else None,  # merged spans have no tags
                listed=listed,
                listed_ignored=has_label(listed, layers_of(listed), rules.ignored),
            )
        )
    geometry = Geometry(pair.corpus, positions(frames[0]), positions(frames[1]))
    return Material(
        pair.corpus, sides[0], sides[1], geometry, layers, type_layer, vocabulary, options, level, groupings, discarded
    )


def relaxed_material(strict: Material, rules: LabelRules) -> Material:
    """The same material with equivalent labels being the same."""
    compared = [canonical(side.spans, rules) for side in strict.sides]
    kinds = label_vocabulary(compared, strict.type_layer)
    gold, pred = (
        replace(
            side,
            compared=compared[index],
            match=match_spans(compared[index], compared[1 - index]),
            kind=label_codes(compared[index], strict.type_layer, kinds),
        )
        for index, side in enumerate(strict.sides)
    )
    return replace(strict, gold=gold, pred=pred, relaxed=True)
