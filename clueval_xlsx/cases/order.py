"""The order in which cases are judged: as they stand, by label, or what is most likely wrong in gold first.

Gold is the more suspicious, the more further systems side with the model against it; among equals, the surer the model
is; among these, the more often gold treats the same words the other way elsewhere. Among the suspicious cases a random
sample is scattered, by which whoever stops early learns about the rest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd

from clueval_xlsx.cases.kinds import FN, FP, Sheet
from clueval_xlsx.cases.phrases import FoldedWords, Phrases
from clueval_xlsx.corpus.spans import layers_of, positions, touching
from clueval_xlsx.scoring.counts import FloatArray
from clueval_xlsx.scoring.matched_pair import MatchedPair, SpanSide
from clueval_xlsx.scoring.matching import labels_agree, match_spans
from clueval_xlsx.scoring.names import LEVELS
from clueval_xlsx.text.strings import BoolArray, IntArray, places, unfold

LEAST_SAMPLE, SAMPLE_SHARE = 100, 0.1  # of the units; the larger of the two is drawn
MOST_SAMPLE = 0.2  # of the units
SCATTERED_OVER = 0.2  # of a sheet, from its top
BLIND = (
    "without a further system (--also) and without scores of the model, the order by suspicion is little better than "
    "chance"
)
_UNSEEN = 0.5  # added to each count, so that words which occur nowhere else say nothing


class OrderKind(StrEnum):
    """By what cases are ordered."""

    PLACE = "place"
    SUSPICION = "suspicion"
    LABEL = "label"


@dataclass(frozen=True, eq=False)
class SheetOrder:
    """The order of one sheet; cases are counted from 0 in the order of the text.

    `shown` lists them as they are shown, `ranked` as suspicion alone ranks them; `random` are those that were drawn.
    """

    shown: IntArray
    ranked: IntArray
    random: BoolArray


@dataclass(frozen=True, eq=False)
class CaseOrder:
    """The order of the cases of a run."""

    kind: OrderKind
    sheets: Mapping[Sheet, SheetOrder]

    def apply(self, cases: pd.DataFrame, sheet: Sheet) -> pd.DataFrame:
        """Cases of a sheet, which stand in the order of the text, as they are shown, and numbered so."""
        shown = self.sheets[sheet].shown
        return cases.iloc[shown].reset_index(drop=True).assign(number=np.arange(1, len(cases) + 1))


def order_by_label(labels: Mapping[Sheet, IntArray]) -> CaseOrder:
    """Cases of one label together, in the order of the text; `labels` are numbered as they are to follow each other."""
    orders = {}
    for sheet, codes in labels.items():
        shown = np.argsort(codes, kind="stable")
        orders[sheet] = SheetOrder(shown, shown, np.zeros(len(codes), dtype=bool))
    return CaseOrder(OrderKind.LABEL, orders)


def order_by_suspicion(scores: Mapping[Sheet, FloatArray], units: Mapping[Sheet, IntArray], seed: int) -> CaseOrder:
    """The most suspicious cases first, and a random sample of units scattered over the first fifth of each sheet.

    `units` numbers what cases belong to: linked ones share a number, are as suspicious as the most suspicious of
    them, and are drawn together.
    """
    generator = np.random.default_rng(seed)
    owners, unit = np.unique(np.concatenate([units[FN], units[FP]]), return_inverse=True)
    highest = np.full(len(owners), -np.inf)
    np.maximum.at(highest, unit, np.concatenate([scores[FN], scores[FP]]))
    own = {FN: unit[: len(units[FN])], FP: unit[len(units[FN]) :]}
    missed = np.zeros(len(owners), dtype=bool)
    missed[own[FN]] = True
    drawn = _draw(missed, generator)
    orders = {}
    for sheet in (FN, FP):
        ranked = np.argsort(-highest[own[sheet]], kind="stable")
        random = drawn[own[sheet]]
        orders[sheet] = SheetOrder(_scattered(ranked, random, generator), ranked, random)
    return CaseOrder(OrderKind.SUSPICION, orders)


def sample_size(units: int) -> int:
    """How many units are drawn.

    >>> sample_size(60), sample_size(400), sample_size(800), sample_size(2000)
    (12, 80, 100, 200)
    """
    return min(max(LEAST_SAMPLE, math.ceil(SAMPLE_SHARE * units)), math.ceil(MOST_SAMPLE * units))


def _draw(missed: BoolArray, generator: np.random.Generator) -> BoolArray:
    """The units that are drawn, those with a missed span and the others in proportion."""
    size = sample_size(len(missed))
    drawn = np.zeros(len(missed), dtype=bool)
    of_missed = round(size * missed.mean()) if len(missed) else 0
    for members, count in ((np.flatnonzero(missed), of_missed), (np.flatnonzero(~missed), size - of_missed)):
        drawn[generator.choice(members, size=min(count, len(members)), replace=False)] = True
    return drawn


def _scattered(ranked: IntArray, random: BoolArray, generator: np.random.Generator) -> IntArray:
    """The ranked cases with the random ones at random places of the first fifth, or of twice their number."""
    size, count = len(ranked), int(random.sum())
    over = min(max(math.ceil(SCATTERED_OVER * size), 2 * count), size)
    shown = np.full(size, -1, dtype=np.int64)
    shown[generator.choice(over, size=count, replace=False)] = generator.permutation(np.flatnonzero(random))
    shown[shown < 0] = ranked[~random[ranked]]
    return shown


# ---- how suspicious gold is


def suspicion(
    matched: MatchedPair,
    rows: tuple[IntArray, IntArray],
    labelled: str | None,
    also: Sequence[pd.DataFrame],
    scores: FloatArray | None,
) -> tuple[FloatArray, FloatArray]:
    """The rank of each FN and each FP case, given by the rows of their spans: the higher, the more suspicious.

    `also` are the spans of further systems, `scores` says how sure the model is of each of its spans.
    """
    votes = [
        _votes(side.spans.iloc[own], labelled, matched.level, also, of_gold=of_gold)
        for own, side, of_gold in zip(rows, matched.sides, (True, False), strict=True)
    ]
    sure = [_sureness(side, own, matched.pred, scores) for own, side in zip(rows, matched.sides, strict=True)]
    keys = [np.concatenate(sheets) for sheets in (_habits(matched, rows), sure, votes)]  # the last decides first
    order = np.lexsort(keys)
    higher = np.zeros(len(order), dtype=bool)
    for key in keys:
        higher[1:] |= np.diff(key[order]) != 0
    rank = np.empty(len(order))
    rank[order] = np.cumsum(higher)
    return rank[: len(rows[0])], rank[len(rows[0]) :]


def _votes(
    cases: pd.DataFrame, labelled: str | None, level: str, also: Sequence[pd.DataFrame], *, of_gold: bool
) -> FloatArray:
    """How many further systems side with the model against gold, less those that side with gold."""
    spans = cases.reset_index(drop=True)
    total = np.zeros(len(spans))
    for others in also:
        layers = [layer for layer in layers_of(others) if layer == labelled]
        match = match_spans(spans, others, layers=layers)
        right = match["class"].to_numpy() <= LEVELS[level]
        if layers:
            right &= labels_agree(spans, match, layers[0])
        total += np.where(right != of_gold, 1.0, -1.0)
    return total


def _sureness(side: SpanSide, rows: IntArray, pred: SpanSide, scores: FloatArray | None) -> FloatArray:
    """How sure the model is of what it marks at each case, against its median; 0 where it marks nothing."""
    if scores is None or np.isnan(scores).all():
        return np.zeros(len(rows))
    start, end = positions(pred.spans)
    first, stop = touching(side.start[rows], side.end[rows], start, np.maximum.accumulate(end))
    case, other = unfold(first, stop)
    above = np.nan_to_num(scores - np.nanmedian(scores))
    return np.bincount(case, weights=above[other], minlength=len(rows)) / np.maximum(stop - first, 1)


def _habits(matched: MatchedPair, rows: tuple[IntArray, IntArray]) -> list[FloatArray]:
    """The log-odds that gold does with the words of each case elsewhere what the model does with them here."""
    gold = matched.gold
    ends = [side.end[own] for own, side in zip(rows, matched.sides, strict=True)]
    starts = [side.start[own] for own, side in zip(rows, matched.sides, strict=True)]
    phrases, phrase = Phrases.of(FoldedWords.of(matched.corpus), np.concatenate(starts), np.concatenate(ends))
    in_gold = np.zeros(len(matched.corpus) + 1, dtype=np.int64)
    in_gold[places(gold.start, gold.end + 1) + 1] = 1
    before = np.cumsum(in_gold)
    found = phrases.find()
    free = before[found.end + 1] == before[found.start]
    own = phrases.number(gold.start, gold.end)
    # Behind each a 0 for what is no phrase.
    marked = np.append(np.bincount(own[own >= 0], minlength=phrases.count), 0)
    unmarked = np.append(np.bincount(found.phrase[free], minlength=phrases.count), 0)
    missed, unsupported = phrase[: len(rows[0])], phrase[len(rows[0]) :]
    return [
        np.log((other[cases] + _UNSEEN) / (np.maximum(same[cases] - 1, 0) + _UNSEEN))
        for cases, other, same in ((missed, unmarked, marked), (unsupported, marked, unmarked))
    ]
