"""How likely a case is gold's error, told without a judge: by how gold treats the same words, and by other systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from clueval_xlsx.cases.phrases import FoldedWords, KeyCounts, Phrases
from clueval_xlsx.corpus.spans import label_codes, label_vocabulary, layers_of, positions, touching
from clueval_xlsx.scoring.counts import FloatArray
from clueval_xlsx.scoring.matched_pair import MatchedPair, SpanSide
from clueval_xlsx.scoring.matching import labels_agree, match_spans
from clueval_xlsx.scoring.names import LEVELS
from clueval_xlsx.text.strings import IntArray, unfold

# What each kind of evidence weighs. All are log-odds of the model being right against gold being right.
_WORD, _NEIGHBOUR, _PHRASE, _VOTE, _SCORE = 1.0, 0.5, 1.0, 2.0, 1.0
_UNSEEN = 0.5  # added to each count, so that words which occur nowhere else say nothing
_SUREST = 0.999  # a score is taken to be at most so near to 0 and 1


@dataclass(frozen=True, eq=False)
class Evidence:
    """What is known besides the pair: spans of further systems, and scores of predictions (start, end, score)."""

    also: Sequence[pd.DataFrame] = ()
    scores: pd.DataFrame | None = None


@dataclass(frozen=True, eq=False)
class CasePlaces:
    """Where cases stand, from the first to the last token that either side marks there, and whose spans they are.

    `gold` and `pred` are the rows of the one span that each side has there, -1 where it has none or several.
    """

    start: IntArray
    end: IntArray
    gold: IntArray
    pred: IntArray

    @classmethod
    def of(cls, rows: IntArray, side: SpanSide, *, of_gold: bool) -> CasePlaces:
        """The places of the cases of one side, by the rows of their spans."""
        start, end = side.start[rows].copy(), side.end[rows].copy()
        first, stop = (column[rows] for column in side.touched)
        other_start, other_end = positions(side.others)
        some = stop > first
        start[some] = np.minimum(start[some], other_start[first[some]])
        end[some] = np.maximum(end[some], other_end[stop[some] - 1])
        other = np.where(stop - first == 1, first, -1)
        return cls(start, end, rows, other) if of_gold else cls(start, end, other, rows)


def suspicion(
    matched: MatchedPair, rows: tuple[IntArray, IntArray], labelled: str | None, evidence: Evidence
) -> tuple[FloatArray, FloatArray]:
    """How suspicious gold is in each FN and in each FP case, given by the rows of their spans: the more, the more.

    Consistency: where gold and model differ, how gold treats the same words, their neighbours and the whole passages
    elsewhere. Votes: how many further systems side with the model. Scores: how sure the model is here, against how
    sure it usually is.
    """
    habits = _GoldHabits(matched, labelled)
    found = []
    for own, side, of_gold in zip(rows, matched.sides, (True, False), strict=True):
        places = CasePlaces.of(own, side, of_gold=of_gold)
        score = habits.by_words(places) + _PHRASE * habits.by_phrases(places)
        if evidence.also:
            score += _VOTE * _votes(matched, own, side, labelled, evidence.also, of_gold=of_gold)
        if evidence.scores is not None and len(evidence.scores):
            score += _SCORE * _sureness(places, evidence.scores)
        found.append(score)
    return found[0], found[1]


class _GoldHabits:
    """How gold treats words elsewhere: their labels (0: none), those of their neighbours, the passages it marks."""

    def __init__(self, matched: MatchedPair, labelled: str | None) -> None:
        gold, pred = matched.gold, matched.pred
        self._words = FoldedWords.of(matched.corpus)
        self._gold, self._pred = (gold.start, gold.end), (pred.start, pred.end)
        names = label_vocabulary([gold.spans, pred.spans], labelled) if labelled else []
        self._kinds = len(names) + 2  # none, no label, and the labels
        self._tags = [
            _tags(len(matched.corpus), side, label_codes(side.spans, labelled, names) + 2 if labelled else None)
            for side in (gold, pred)
        ]
        numbers = self._words.numbers
        self._features = ((numbers, _WORD), (np.roll(numbers, 1), _NEIGHBOUR), (np.roll(numbers, -1), _NEIGHBOUR))

    def by_words(self, places: CasePlaces) -> FloatArray:
        """The mean log-odds of the model's tags against gold's, over the tokens on which the two differ."""
        case, token = unfold(places.start, places.end + 1)
        gold, pred = (tags[token] for tags in self._tags)
        differ = gold != pred
        case, token, gold, pred = case[differ], token[differ], gold[differ], pred[differ]
        evidence = np.zeros(len(token))
        for feature, weight in self._features:
            counts = self._counts(feature, feature[token])
            own = counts.at(feature[token] * self._kinds + gold) - 1  # this token itself is the question
            other = counts.at(feature[token] * self._kinds + pred)
            evidence += weight * np.log((other + _UNSEEN) / (own + _UNSEEN))
        size = np.bincount(case, minlength=len(places.start))
        return np.bincount(case, weights=evidence, minlength=len(places.start)) / np.maximum(size, 1)

    def _counts(self, feature: IntArray, wanted: IntArray) -> KeyCounts:
        """How often each wanted word, or word beside one, has which tag in gold."""
        known = np.zeros(self._words.size, dtype=bool)
        known[wanted] = True
        of_interest = known[feature]
        return KeyCounts.of(feature[of_interest] * self._kinds + self._tags[0][of_interest])

    def by_phrases(self, places: CasePlaces) -> FloatArray:
        """The log-odds that gold marks elsewhere just what the model marks here, against what it does itself."""
        rows = [np.unique(column[column >= 0]) for column in (places.gold, places.pred)]
        extents = [(start[own], end[own]) for own, (start, end) in zip(rows, (self._gold, self._pred), strict=True)]
        start, end = (np.concatenate([own[side] for own in extents]) for side in (0, 1))
        phrases, phrase = Phrases.of(self._words, start, end)
        numbers = []
        for own, given, count in zip(rows, (places.gold, places.pred), (0, len(rows[0])), strict=True):
            at = np.minimum(np.searchsorted(own, given), max(len(own) - 1, 0)) + count
            numbers.append(np.where(given >= 0, np.append(phrase, -1)[at], -1))
        of_gold, of_pred = numbers
        marked, unmarked = self._marked(phrases)
        for_model = np.where(of_pred >= 0, marked[of_pred], unmarked[of_gold])
        for_gold = np.where(of_gold >= 0, marked[of_gold], unmarked[of_pred]) - 1
        return np.log((np.maximum(for_model, 0) + _UNSEEN) / (np.maximum(for_gold, 0) + _UNSEEN))

    def _marked(self, phrases: Phrases) -> tuple[IntArray, IntArray]:
        """How often gold marks each phrase, and leaves it unmarked; behind them a 0 for what is no phrase."""
        found = phrases.find()
        own = phrases.number(*self._gold)
        inside = np.concatenate([[0], np.cumsum(self._tags[0] > 0)])
        free = inside[found.end + 1] == inside[found.start]
        counted = (own[own >= 0], found.phrase[free])
        marked, unmarked = (np.append(np.bincount(each, minlength=phrases.count), 0) for each in counted)
        return marked, unmarked


def _tags(size: int, side: SpanSide, codes: IntArray | None) -> IntArray:
    """The tag of every token: 0 where nothing is marked, else the code of the span, or 1."""
    tags = np.zeros(size, dtype=np.int64)
    row, token = unfold(side.start, side.end + 1)
    tags[token] = 1 if codes is None else codes[row]
    return tags


def _votes(
    matched: MatchedPair,
    rows: IntArray,
    side: SpanSide,
    labelled: str | None,
    also: Sequence[pd.DataFrame],
    *,
    of_gold: bool,
) -> FloatArray:
    """The mean vote of further systems: 1 sides with the model against gold, -1 with gold."""
    spans = side.spans.iloc[rows].reset_index(drop=True)
    total = np.zeros(len(rows))
    for others in also:
        layers = [layer for layer in layers_of(others) if layer == labelled]
        match = match_spans(spans, others, layers=layers)
        right = match["class"].to_numpy() <= LEVELS[matched.level]
        if layers:
            right &= labels_agree(spans, match, layers[0])
        total += np.where(right != of_gold, 1.0, -1.0)
    return total / len(also)


def _sureness(places: CasePlaces, scores: pd.DataFrame) -> FloatArray:
    """How sure the model is of what it marks at each place, against its median; 0 where it marks nothing."""
    scored = scores.dropna(subset=["score"]).sort_values("start", kind="stable")
    start, end = positions(scored)
    odds = _log_odds(scored["score"].to_numpy(float))
    first, stop = touching(places.start, places.end, start, np.maximum.accumulate(end))
    row, other = unfold(first, stop)
    sums = np.bincount(row, weights=odds[other] - np.median(odds) if len(odds) else odds[other], minlength=len(first))
    return sums / np.maximum(stop - first, 1)


def _log_odds(scores: FloatArray) -> FloatArray:
    """Scores between 0 and 1 as log-odds; those of other scales are brought into it by their largest."""
    most = max(float(np.abs(scores).max(initial=1.0)), 1.0)
    share = np.clip(scores / most, 1 - _SUREST, _SUREST)
    odds: FloatArray = np.log(share / (1 - share))
    return odds
