"""Scheme `coverage`: a gold span is found if predictions of a compatible label together cover enough of it.

Going through the gold spans from left to right: if the predictions that overlap one, have a compatible label and
are not used up yet together cover at least t of its characters, it is found and they are used up; a character that
several of them cover counts once. The predictions left over are false positives. Precision is tp / (tp + fp) with
tp the gold spans found, so a gold span that three predictions share counts once. Spans of ignored labels are never
misses or false alarms, but count when found.
A match that needed an equivalence is counted as `relaxed`. Annotations count as they are listed, also those that
overlap others of their side and gave way for the other schemes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from clueval_xlsx.corpus.spans import label_codes, positions
from clueval_xlsx.scoring.counts import Side, Tally
from clueval_xlsx.scoring.matched_pair import Labels, MatchedPair, Overlaps, SpanSide
from clueval_xlsx.text.strings import BoolArray, IntArray, unfold


def tallies(matched: MatchedPair) -> list[Tally]:
    """One tally for each threshold."""
    return [_tally(matched, threshold) for threshold in matched.options.coverage_threshold]


def _tally(matched: MatchedPair, threshold: float) -> Tally:
    gave_way = any(side.gave_way for side in matched.sides)
    take = partial(_Annotations.of_list, matched) if gave_way else _Annotations.of_spans
    gold, pred = (take(side) for side in matched.sides)
    overlaps = _overlaps(matched, gold, pred) if gave_way else matched.overlaps
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
        as_listed=True,
    )


class _Annotations(NamedTuple):
    """The annotations of one side from left to right."""

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
        start, end = positions(side.listed)
        order = np.lexsort((end, start))
        vocabulary = matched.listed_vocabulary
        labels = {name: label_codes(side.listed, name, names)[order] for name, names in vocabulary.items()}
        strict = labels[matched.type_layer]
        kind = _same_kind(matched, vocabulary[matched.type_layer])[strict]
        return cls(start[order], end[order], labels, kind, strict, side.listed_ignored[order])


def _same_kind(matched: MatchedPair, labels: Sequence[str]) -> IntArray:
    """For each label, and behind them for none, a number that equivalent ones share in the relaxed run."""
    names = [matched.representatives.get(label, label) for label in labels]
    number = {name: place for place, name in enumerate(names)}
    return np.array([*(number[name] for name in names), -1], dtype=np.int64)


def _overlaps(matched: MatchedPair, gold: _Annotations, pred: _Annotations) -> Overlaps:
    """Which listed annotations share a token, in the order of gold's; those of a side may overlap each other."""
    first = np.searchsorted(np.maximum.accumulate(pred.end), gold.start, side="left")
    stop = np.searchsorted(pred.start, gold.end, side="right")
    rows, others = unfold(first, np.maximum(stop, first))
    touching = pred.end[others] >= gold.start[rows]
    pairs = rows[touching], others[touching]
    return Overlaps(matched.corpus, (gold.start, gold.end), (pred.start, pred.end), pairs)


class _Candidates(NamedTuple):
    """Pairs that overlap and have compatible labels, in the order of the gold spans and of what they share."""

    gold: IntArray
    pred: IntArray
    begin: IntArray  # of the characters that both have
    end: IntArray
    own: BoolArray  # whether the labels are the same, no equivalence needed

    def only(self, chosen: IntArray | BoolArray) -> _Candidates:
        """Some of them."""
        gold, pred, begin, end, own = self
        return _Candidates(gold[chosen], pred[chosen], begin[chosen], end[chosen], own[chosen])

    def covered(self, golds: int) -> IntArray:
        """How many characters of each of the gold spans they cover together."""
        # Every gold span gets numbers of its own, so that what came before a stretch is of the same gold span.
        apart = self.gold * (self.end.max(initial=0) + 1)
        new = _new_characters(self.begin + apart, self.end + apart)
        return np.bincount(self.gold, weights=new, minlength=golds).astype(np.int64)


def _new_characters(begin: IntArray, end: IntArray) -> IntArray:
    """How many characters each stretch has that none before it has; they stand in the order of their beginnings."""
    reach = np.concatenate([begin[:1], np.maximum.accumulate(end)[:-1]])
    return np.maximum(end - np.maximum(begin, reach), 0)


def _compatible(gold: _Annotations, pred: _Annotations, overlaps: Overlaps) -> _Candidates:
    left, right = overlaps.pairs
    same = gold.strict_kind[left] == pred.strict_kind[right]
    pairs = _Candidates(left, right, *overlaps.shared_stretches, same)
    return pairs.only(gold.kind[left] == pred.kind[right])


def _find(
    pairs: _Candidates, length: IntArray, predictions: int, threshold: float
) -> tuple[BoolArray, BoolArray, BoolArray]:
    """Gold spans found, predictions used up, gold spans whose own label would not have been enough.

    Only a prediction that overlaps several gold spans can be used up too early; gold spans without such a
    prediction are decided at once, the others one after the other.
    """
    gold, pred, size = pairs.gold, pairs.pred, len(length)
    used = np.zeros(predictions, dtype=bool)
    covered, by_own = pairs.covered(size), pairs.only(pairs.own).covered(size)
    contested = np.zeros(size, dtype=bool)
    contested[gold[np.bincount(pred, minlength=predictions)[pred] > 1]] = True

    found: BoolArray = (covered / length >= threshold) & ~contested  # whole numbers divided once: no rounding piles up
    used[pred[found[gold]]] = True
    members: dict[int, list[int]] = {}
    for index in np.flatnonzero(contested[gold]).tolist():
        members.setdefault(int(gold[index]), []).append(index)
    for row, indices in members.items():  # in the order of the gold spans, as the pairs are
        free = pairs.only(np.array(indices)[~used[pred[indices]]])
        by_own[row] = _new_characters(free.begin[free.own], free.end[free.own]).sum()
        if len(free.gold) and _new_characters(free.begin, free.end).sum() / length[row] >= threshold:
            found[row] = True
            used[free.pred] = True
    return found, used, found & (by_own / length < threshold)
