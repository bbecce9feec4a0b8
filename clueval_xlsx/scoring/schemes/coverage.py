"""Scheme `coverage`: a gold span is found if predictions of a compatible label together cover enough of it.

Going through the gold spans in order: if the predictions that overlap one, have a compatible label and are not
used up yet together cover at least t of its characters, it is found and they are used up. The predictions left
over are false positives. Precision is tp / (tp + fp) with tp the gold spans found, so a gold span that three
predictions share counts once. Spans of ignored labels are never misses or false alarms, but count when found.
A match that needed an equivalence is counted as `relaxed`. Annotations count as they are listed, also those that
overlap others of their side and gave way for the other schemes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.spans import label_codes, label_vocabulary, positions
from clueval_xlsx.scoring.matched_pair import Labels, MatchedPair, Overlaps, SpanSide
from clueval_xlsx.scoring.schemes.tally import Side, Tally
from clueval_xlsx.text.ranges import unfold
from clueval_xlsx.text.strings import BoolArray, IntArray


def tallies(matched: MatchedPair) -> list[Tally]:
    """One tally for each threshold."""
    return [_tally(matched, threshold) for threshold in matched.options.coverage]


def _tally(matched: MatchedPair, threshold: float) -> Tally:
    whole = all(_frame(matched, side) is side.spans for side in matched.sides)
    take = _Annotations.of_spans if whole else partial(_Annotations.of_list, matched)
    gold, pred = (take(side) for side in matched.sides)
    overlaps = matched.overlaps if whole else _overlaps(matched, gold, pred)
    found, used, relaxed = _find(_compatible(gold, pred, overlaps), overlaps.lengths[0], len(pred.start), threshold)

    gold_side = Side.of(
        gold.start, gold.labels, found, found | ~gold.ignored, relaxed=relaxed if matched.relaxed else None
    )
    # What precision is computed over: the gold spans found, and the predictions left over.
    left_over = ~used & ~pred.ignored
    pred_side = Side.of(
        np.concatenate([gold.start[found], pred.start[left_over]]),
        {layer: np.concatenate([codes[found], pred.labels[layer][left_over]]) for layer, codes in gold.labels.items()},
        np.concatenate([np.ones(int(found.sum())), np.zeros(int(left_over.sum()))]),
    )
    return Tally(
        "coverage",
        gold_side,
        pred_side,
        variant=matched.variant(f"{threshold:g}"),
        labelled=matched.type_layer,
        by_layers=(matched.type_layer,),
    )


def _frame(matched: MatchedPair, side: SpanSide) -> pd.DataFrame:
    """The annotations as they are listed; the spans where that is the same, or where the list lacks the types."""
    return side.listed if matched.type_layer in side.listed.columns else side.spans


class _Annotations(NamedTuple):
    """The annotations of one side."""

    start: IntArray
    end: IntArray
    labels: Labels
    kind: IntArray
    strict_kind: IntArray
    ignored: BoolArray

    @classmethod
    def of_spans(cls, side: SpanSide) -> _Annotations:
        return cls(side.start, side.end, side.labels, side.kind, side.strict_kind, side.ignored)

    @classmethod
    def of_list(cls, matched: MatchedPair, side: SpanSide) -> _Annotations:
        frame, layer = _frame(matched, side), matched.type_layer
        labels = {
            name: label_codes(frame, name, names) if name in frame.columns else np.full(len(frame), -1, dtype=np.int64)
            for name, names in matched.vocabulary.items()
        }
        every = label_vocabulary([_frame(matched, each) for each in matched.sides], layer)
        strict = label_codes(frame, layer, every)
        ignored = side.ignored if frame is side.spans else side.listed_ignored
        return cls(*positions(frame), labels, _same_kind(matched, every)[strict], strict, ignored)


def _same_kind(matched: MatchedPair, labels: Sequence[str]) -> IntArray:
    """For each label, and behind them for none, a number that equivalent ones share in the relaxed run."""
    names = [matched.representatives.get(label, label) for label in labels]
    number = {name: place for place, name in enumerate(names)}
    return np.array([*(number[name] for name in names), -1], dtype=np.int64)


def _overlaps(matched: MatchedPair, gold: _Annotations, pred: _Annotations) -> Overlaps:
    """Which listed annotations share a token, in the order of gold's list; those of a side may overlap each other."""
    order = np.lexsort((pred.end, pred.start))
    reach = np.maximum.accumulate(pred.end[order]) if len(order) else order
    first = np.searchsorted(reach, gold.start, side="left")
    stop = np.searchsorted(pred.start[order], gold.end, side="right")
    rows, places = unfold(first, np.maximum(stop, first))
    others = order[places]
    touching = pred.end[others] >= gold.start[rows]
    pairs = rows[touching], others[touching]
    return Overlaps(matched.corpus, (gold.start, gold.end), (pred.start, pred.end), pairs)


class _Candidates(NamedTuple):
    """Pairs that overlap and have compatible labels, in the order of the gold spans."""

    gold: IntArray
    pred: IntArray
    shared: IntArray  # characters
    own: BoolArray  # whether the labels are the same, no equivalence needed


def _compatible(gold: _Annotations, pred: _Annotations, overlaps: Overlaps) -> _Candidates:
    left, right = overlaps.pairs
    kept = gold.kind[left] == pred.kind[right]
    same = gold.strict_kind[left] == pred.strict_kind[right]
    return _Candidates(left[kept], right[kept], overlaps.shared[kept], same[kept])


def _find(
    pairs: _Candidates, length: IntArray, predictions: int, threshold: float
) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Gold spans found, predictions used up, gold spans whose own label would not have been enough.

    Only a prediction that overlaps several gold spans can be used up too early; gold spans without such a
    prediction are decided at once, the others one after the other.
    """
    gold, pred, shared, own = pairs
    size = len(length)
    used = np.zeros(predictions, dtype=bool)
    covered = np.bincount(gold, weights=shared, minlength=size)
    by_own = np.bincount(gold, weights=shared * own, minlength=size)
    contested = np.zeros(size, dtype=bool)
    contested[gold[np.bincount(pred, minlength=predictions)[pred] > 1]] = True

    found: BoolArray = (covered / length >= threshold) & ~contested  # whole numbers divided once: no rounding piles up
    used[pred[found[gold]]] = True
    members: dict[int, list[int]] = {}
    for index in np.flatnonzero(contested[gold]).tolist():
        members.setdefault(int(gold[index]), []).append(index)
    for row, indices in members.items():  # in the order of the gold spans, as the pairs are
        free = [index for index in indices if not used[pred[index]]]
        by_own[row] = shared[[index for index in free if own[index]]].sum()
        if free and shared[free].sum() / length[row] >= threshold:
            found[row] = True
            used[pred[free]] = True
    return found, used, found & (by_own / length < threshold)
