"""How likely a case is gold's error, told without a judge: by how gold treats the same words, and by other systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from clueval_xlsx.cases.phrases import FoldedWords, Phrases
from clueval_xlsx.corpus.spans import layers_of, positions, touching
from clueval_xlsx.scoring.counts import FloatArray
from clueval_xlsx.scoring.matched_pair import MatchedPair, SpanSide
from clueval_xlsx.scoring.matching import labels_agree, match_spans
from clueval_xlsx.scoring.names import LEVELS
from clueval_xlsx.text.strings import IntArray, unfold

# Votes go before scores, scores before habits: each tells only among equals of what goes before it.
_VOTE, _SCORE, _HABIT = 1_000.0, 1.0, 0.001
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

    Votes: how many further systems side with the model. Scores: how sure the model is here, against how sure it
    usually is. Habits: how gold treats the same words elsewhere.
    """
    found = []
    for own, side, of_gold in zip(rows, matched.sides, (True, False), strict=True):
        places = CasePlaces.of(own, side, of_gold=of_gold)
        score = _HABIT * _habits(matched, places)
        if evidence.also:
            score += _VOTE * _votes(matched, own, side, labelled, evidence.also, of_gold=of_gold)
        if evidence.scores is not None and len(evidence.scores):
            score += _SCORE * _sureness(places, evidence.scores)
        found.append(score)
    return found[0], found[1]


def _habits(matched: MatchedPair, places: CasePlaces) -> FloatArray:
    """The log-odds that gold marks elsewhere just what the model marks here, against what it does itself."""
    gold, pred = matched.sides
    of_gold, of_pred = places.gold >= 0, places.pred >= 0
    start = np.concatenate([gold.start[places.gold[of_gold]], pred.start[places.pred[of_pred]]])
    end = np.concatenate([gold.end[places.gold[of_gold]], pred.end[places.pred[of_pred]]])
    phrases, phrase = Phrases.of(FoldedWords.of(matched.corpus), start, end)
    in_gold, in_pred = (np.full(len(places.start), -1, dtype=np.int64) for _ in range(2))
    in_gold[of_gold], in_pred[of_pred] = phrase[: of_gold.sum()], phrase[of_gold.sum() :]
    marks = np.zeros(len(matched.corpus), dtype=np.int64)
    marks[unfold(gold.start, gold.end + 1)[1]] = 1
    before = np.concatenate([[0], np.cumsum(marks)])
    anywhere, known = phrases.find(), phrases.number(gold.start, gold.end)
    free = before[anywhere.end + 1] == before[anywhere.start]
    # How often gold marks each phrase, and leaves it unmarked; behind them a 0 for what is no phrase.
    marked, unmarked = (
        np.append(np.bincount(each, minlength=phrases.count), 0) for each in (known[known >= 0], anywhere.phrase[free])
    )
    for_model = np.where(of_pred, marked[in_pred], unmarked[in_gold])
    for_gold = np.where(of_gold, marked[in_gold], unmarked[in_pred]) - 1
    odds: FloatArray = np.log((for_model + _UNSEEN) / (np.maximum(for_gold, 0) + _UNSEEN))
    return odds


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
