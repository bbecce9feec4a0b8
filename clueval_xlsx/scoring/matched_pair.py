"""A pair after matching, as every scheme gets it: both sides as arrays, which labels are the same, pairs of spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.annotation import Annotation, FloatArray, span_scores
from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.label_rules import canonical, has_label
from clueval_xlsx.corpus.pair import Pair
from clueval_xlsx.corpus.running_text import character_offsets
from clueval_xlsx.corpus.spans import label_codes, label_vocabulary, layers_of, positions
from clueval_xlsx.corpus.tags import TagColumn, properly_tagged
from clueval_xlsx.options import LabelRules, SchemeOptions
from clueval_xlsx.scoring.counts import Grouping, Side, Sides
from clueval_xlsx.scoring.matching import Extents, MatchedSpans, labels_agree, match_spans, with_partner_labels
from clueval_xlsx.scoring.names import relaxed_variant
from clueval_xlsx.text.strings import BoolArray, IntArray, covered

Labels = Mapping[str, IntArray]  # layer -> label codes
Vocabulary = Mapping[str, Sequence[str]]  # layer -> labels


@dataclass(frozen=True, eq=False)
class SpanSide(MatchedSpans):
    """The spans of one side, matched.

    `labels[layer]` are codes in the vocabulary that rows are named by. `kind` are codes of the type that schemes
    compare: equal where the labels count as the same. `agreement[layer]` says where a span and its partner have
    labels that count as the same; no label equals only no label.
    """

    labels: Labels
    kind: IntArray
    strict_kind: IntArray
    agreement: Mapping[str, BoolArray]
    ignored: BoolArray
    partner_ignored: BoolArray  # what matches this span has an ignored label
    tags: TagColumn | None  # of the type layer, where the spans were decoded from them
    listed: pd.DataFrame  # the annotations as the source lists them
    listed_ignored: BoolArray
    listed_scores: FloatArray | None  # NaN where nobody gave one
    from_tags: bool  # whether there is no list: the source has tags, whatever became of its tokens

    @cached_property
    def start(self) -> IntArray:
        """First positions."""
        return positions(self.spans)[0]

    @cached_property
    def end(self) -> IntArray:
        """Last positions."""
        return positions(self.spans)[1]

    @property
    def gave_way(self) -> bool:
        """Whether more annotations are listed than are spans, or others."""
        return self.listed is not self.spans

    @cached_property
    def properly_tagged(self) -> BoolArray | None:
        """The spans that strict readers of tags see, too; None without tags."""
        return None if self.tags is None else properly_tagged(self.tags, self.start, self.end)


@dataclass(frozen=True, eq=False)
class Overlaps:
    """Which gold spans and predictions share a token, and how many characters; the same whatever their labels."""

    corpus: Corpus
    gold: Extents
    pred: Extents
    pairs: tuple[IntArray, IntArray]  # rows of gold and of pred that share a token, in order

    @cached_property
    def _characters(self) -> tuple[Extents, Extents]:
        """Half-open character offsets of the gold and of the predicted spans."""
        marked = covered(*((first, last + 1) for first, last in (self.gold, self.pred)))
        offsets = character_offsets(self.corpus, marked)  # spans that overlap lie in one stretch of marked tokens
        return offsets.of(*self.gold), offsets.of(*self.pred)

    @cached_property
    def lengths(self) -> tuple[IntArray, IntArray]:
        """How many characters the gold and the predicted spans have."""
        (gold_start, gold_end), (pred_start, pred_end) = self._characters
        return gold_end - gold_start, pred_end - pred_start

    @cached_property
    def shared_stretches(self) -> Extents:
        """Where the characters that each overlapping pair shares begin and end, half-open."""
        gold, pred = self.pairs
        (gold_start, gold_end), (pred_start, pred_end) = self._characters
        return np.maximum(gold_start[gold], pred_start[pred]), np.minimum(gold_end[gold], pred_end[pred])

    @cached_property
    def shared(self) -> IntArray:
        """How many characters each overlapping pair shares."""
        begin, end = self.shared_stretches
        return end - begin


@dataclass(frozen=True, eq=False, kw_only=True)
class MatchedPair:
    """Everything a scheme may look at. In the `relaxed` run equivalent labels are the same."""

    corpus: Corpus
    gold: SpanSide
    pred: SpanSide
    overlaps: Overlaps
    layers: tuple[str, ...]
    type_layer: str
    vocabulary: Vocabulary
    options: SchemeOptions
    level: str
    groupings: Sequence[Grouping] = ()
    discarded: tuple[int, ...] = ()
    relaxed: bool = False
    representatives: Mapping[str, str] = field(default_factory=dict)  # of equivalent labels, in the relaxed run

    def __repr__(self) -> str:
        """Its size, and no word of the corpus."""
        return f"<MatchedPair: {len(self.gold.spans)} gold and {len(self.pred.spans)} predicted spans>"

    @cached_property
    def listed_vocabulary(self) -> Vocabulary:
        """The labels of all annotations as they are listed, also of those that gave way to others."""
        if not any(side.gave_way for side in self.sides):
            return self.vocabulary
        frames = [frame for side in self.sides for frame in (side.spans, side.listed)]
        return {layer: label_vocabulary(frames, layer) for layer in self.layers}

    @property
    def sides(self) -> tuple[SpanSide, SpanSide]:
        """Gold and pred."""
        return self.gold, self.pred

    def variant(self, name: str | None = None) -> str | None:
        """The name of a row's variant; rows of the relaxed run say so."""
        return relaxed_variant(name) if self.relaxed else name


def match_pair(
    pair: Pair,
    rules: LabelRules,
    options: SchemeOptions,
    *,
    level: str,
    groupings: Sequence[Grouping] = (),
    discarded: tuple[int, ...] = (),
) -> MatchedPair:
    """Match a pair, its labels aligned, once in each direction, and prepare it for the schemes."""
    type_layer = options.type_layer or pair.layers[0]
    vocabulary = {layer: label_vocabulary((pair.gold.spans, pair.pred.spans), layer) for layer in pair.layers}
    gold, pred = (
        _side(own, other, vocabulary=vocabulary, type_layer=type_layer, rules=rules)
        for own, other in ((pair.gold, pair.pred), (pair.pred, pair.gold))
    )
    return MatchedPair(
        corpus=pair.corpus,
        gold=gold,
        pred=pred,
        overlaps=Overlaps(pair.corpus, positions(gold.spans), positions(pred.spans), gold.pairs),
        layers=pair.layers,
        type_layer=type_layer,
        vocabulary=vocabulary,
        options=options,
        level=level,
        groupings=groupings,
        discarded=discarded,
    )


def _side(
    own: Annotation, other: Annotation, *, vocabulary: Vocabulary, type_layer: str, rules: LabelRules
) -> SpanSide:
    """One side matched against the other."""
    spans, layers = own.spans, list(vocabulary)
    match = match_spans(spans, other.spans)
    labels = {layer: label_codes(spans, layer, vocabulary[layer]) for layer in layers}
    listed, scores = spans, span_scores(own)
    if own.listed is not None and not (own.listed.apart and len(layers) > 1):  # those are merged
        listed, scores = own.listed.spans, own.listed.mentions.scores
    return SpanSide(
        spans=spans,
        others=other.spans,
        match=match,
        labels=labels,
        kind=labels[type_layer],
        strict_kind=labels[type_layer],
        agreement={layer: labels_agree(spans, match, layer) for layer in layers},
        ignored=has_label(spans, layers, rules.ignore),
        partner_ignored=has_label(match, [f"partner_{layer}" for layer in layers], rules.ignore),
        tags=own.tags.get(layers[0]) if len(layers) == 1 else None,  # merged spans have no tags
        listed=listed,
        listed_ignored=has_label(listed, layers_of(listed), rules.ignore),
        listed_scores=scores,
        from_tags=type_layer in own.openings,
    )


def relaxed_pair(strict: MatchedPair, rules: LabelRules) -> MatchedPair:
    """The same pair with equivalent labels being the same; what agrees strictly agrees here, too.

    Where several spans vote for a partner's label, equivalent labels vote together and may outvote the label that
    won alone: that must not make wrong what was right.
    """
    renamed = [canonical(side.spans, rules) for side in strict.sides]
    kinds = label_vocabulary(renamed, strict.type_layer)
    gold, pred = (
        replace(
            side,
            kind=label_codes(own, strict.type_layer, kinds),
            agreement=_relaxed_agreement(side, own, other),
        )
        for side, own, other in zip(strict.sides, renamed, reversed(renamed), strict=True)
    )
    return replace(strict, gold=gold, pred=pred, relaxed=True, representatives=rules.representatives)


def _relaxed_agreement(strict: SpanSide, own: pd.DataFrame, other: pd.DataFrame) -> dict[str, BoolArray]:
    """Where labels agree strictly, or agree as the renamed spans `own` and `other` have them."""
    match = with_partner_labels(strict.match, own, other)
    return {layer: agree | labels_agree(own, match, layer) for layer, agree in strict.agreement.items()}


# ---- One-to-one pairs of gold and predicted spans, for the schemes that count such pairs


def greedy_pairs(left: IntArray, right: IntArray) -> IntArray:
    """Take pairs in the given order, each row of either side once; returns the indices of those taken, in order.

    Pairs whose rows occur in no other pair are taken at once; only the others are gone through one by one.
    """
    if not len(left):
        return np.empty(0, dtype=np.int64)
    alone: BoolArray = (np.bincount(left)[left] == 1) & (np.bincount(right)[right] == 1)
    contested = np.flatnonzero(~alone)
    used_left: set[int] = set()
    used_right: set[int] = set()
    taken = []
    for index, a, b in zip(contested.tolist(), left[contested].tolist(), right[contested].tolist(), strict=True):
        if a not in used_left and b not in used_right:
            used_left.add(a)
            used_right.add(b)
            taken.append(index)
    return np.sort(np.concatenate([np.flatnonzero(alone), np.array(taken, dtype=np.int64)]))


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of a gold span and a prediction: their rows, what became of each pair, and what it earns.

    `near` are the pairs so close that a partner with an ignored label takes the other out of the count; None: all.
    """

    gold: IntArray
    pred: IntArray
    outcome: IntArray
    credit: FloatArray
    near: BoolArray | None = None


def paired_sides(matched: MatchedPair, pairs: Pairs, unpaired: tuple[int, int]) -> Sides:
    """The sides of a tally of pairs; `unpaired` are the outcomes of gold spans and of predictions without a pair.

    Spans with an ignored label are not counted, nor are those paired with one, if they are near.
    """
    near = np.ones(len(pairs.gold), dtype=bool) if pairs.near is None else pairs.near
    built = []
    for side, other, rows, partners, lonely in (
        (matched.gold, matched.pred, pairs.gold, pairs.pred, unpaired[0]),
        (matched.pred, matched.gold, pairs.pred, pairs.gold, unpaired[1]),
    ):
        outcomes, earned = np.full(len(side.spans), lonely, dtype=np.int64), np.zeros(len(side.spans))
        outcomes[rows], earned[rows] = pairs.outcome, pairs.credit
        weight = ~side.ignored
        weight[rows[near & other.ignored[partners]]] = False
        built.append(Side.of(side.start, side.labels, earned, weight, outcome=outcomes))
    return built[0], built[1]
