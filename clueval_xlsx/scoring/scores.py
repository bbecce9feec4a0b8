"""From the sums to the score table: rates, their means over labels, intervals, and strict against relaxed."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from math import fsum
from types import ModuleType
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from clueval_xlsx.scoring.counts import PRODUCTS, SUMS, Counts, FloatArray, RowKind, Rows, spread_columns
from clueval_xlsx.text.strings import IntArray

COUNTS = ("gold", "tp_gold", "fn", "pred", "tp_pred", "fp")
RATES = ("precision", "recall", "f1", "f_beta")
RIGHT_OR_WRONG = ("tp_gold", "fn", "tp_pred", "fp")  # of which half credits leave no whole numbers
IDENTITY = ("scheme", "variant", "level", "labelled", "layer", "label", "average", "group_key", "group")
MICRO, MACRO, WEIGHTED = "micro", "macro", "weighted"
_NUMBERS = (*COUNTS, *(f"{name}{end}" for name in RATES for end in ("", "_low", "_high")))
_Columns = dict[str, Any]


def rates(counts: Mapping[str, npt.ArrayLike], beta: float) -> dict[str, FloatArray]:
    """Precision, recall, F1 and F-beta from counts; NaN where a rate is not defined.

    F is 0 as soon as either side has something and nothing of it is right: what is never predicted has F 0.

    >>> {name: float(value) for name, value in rates(dict(gold=4, tp_gold=0, pred=0, tp_pred=0), 2).items()}
    {'precision': nan, 'recall': 0.0, 'f1': 0.0, 'f_beta': 0.0}
    """
    precision = _ratio(counts["tp_pred"], counts["pred"])
    recall = _ratio(counts["tp_gold"], counts["gold"])
    return {
        "precision": precision,
        "recall": recall,
        "f1": f_score(precision, recall, 1.0, counts),
        "f_beta": f_score(precision, recall, beta, counts),
    }


def f_score(precision: FloatArray, recall: FloatArray, beta: float, counts: Mapping[str, npt.ArrayLike]) -> FloatArray:
    """The weighted harmonic mean, a rate over nothing counting 0; NaN where no side has anything or is counted."""
    weight = beta * beta
    either = np.asarray(counts["gold"], dtype=np.float64) + np.asarray(counts["pred"], dtype=np.float64)
    found, right = np.nan_to_num(recall), np.nan_to_num(precision)
    below = weight * right + found
    score = np.where(below == 0, 0.0, _ratio((1 + weight) * right * found, below))
    return np.asarray(np.where(either > 0, score, np.nan), dtype=np.float64)


def _ratio(above: npt.ArrayLike, below: npt.ArrayLike) -> FloatArray:
    above, below = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    return np.divide(above, below, out=np.full(np.broadcast(above, below).shape, np.nan), where=below != 0)


def score_table(counts: Counts, beta: float = 2.0, *, intervals: bool = True) -> pd.DataFrame:
    """The table of all scores: one row for each way to count, label, document and group, with counts and rates."""
    bounded = intervals and counts.documents > 1
    parts = [part for kind, rows in counts.kinds.items() for part in _rows_of(kind, rows, beta, bounded=bounded)]
    columns: _Columns = {}
    for name in IDENTITY:
        columns[name] = _objects([value for part in parts for value in part[name]])
    for name in _NUMBERS:
        columns[name] = np.concatenate([part[name] for part in parts]) if parts else np.empty(0)
    columns["counts"] = _objects([named for part in parts for named in part["counts"]])
    return pd.DataFrame(columns)


def _objects(values: Sequence[Any]) -> pd.Series:
    return pd.Series(values, dtype=object)  # pandas would guess a string type and turn None into NaN


def _rows_of(kind: RowKind, rows: Rows, beta: float, *, bounded: bool) -> list[_Columns]:
    """The rows of a kind as columns, and behind those of labels their means."""
    if kind.optional:
        rows = rows.only(np.flatnonzero(rows.figures[:, 0]).tolist())
    if kind.layer is not None:
        rows = rows.only(sorted(range(len(rows.names)), key=rows.names.__getitem__))
    counts = dict(zip(SUMS, rows.figures[:, : len(SUMS)].T / 2, strict=True))
    # What is not counted at all is NaN, not 0.
    undefined = () if rows.available and not kind.one_sided else SUMS[2:] if rows.available else SUMS
    counts |= dict.fromkeys(undefined, np.full(len(rows.names), np.nan))
    found = rates(counts, beta)
    table = _columns(kind, len(rows.names))
    table |= counts | found | {"fn": counts["gold"] - counts["tp_gold"], "fp": counts["pred"] - counts["tp_pred"]}
    if kind.layer is not None:
        table["label"] = rows.names
    if kind.group_key is not None:
        table["group"] = rows.names
    if kind.outcomes and rows.available:
        table["counts"] = [dict(zip(kind.outcomes, row, strict=True)) for row in rows.outcomes.tolist()]
    if rows.available and kind.one_sided:
        table["recall_low"], table["recall_high"] = binomial_interval(counts["tp_gold"], counts["gold"])
    elif rows.available and kind.bounded and bounded:
        low, high = ClusteredRates.of(rows.figures, beta).interval()
        for place, name in enumerate(RATES):
            table[f"{name}_low"], table[f"{name}_high"] = low[:, place], high[:, place]
    if kind.layer is None:
        return [table]
    # Only seqeval's report knows the mean that is weighted by the support.
    averages = (MACRO, WEIGHTED) if kind.scheme == "seqeval" else (MACRO,)
    return [table, *(_mean(kind, counts, found, average) for average in averages)]


def _columns(kind: RowKind, size: int, average: str = MICRO) -> _Columns:
    """Rows that are named, and in which nothing is known yet."""
    own = {**kind._asdict(), "average": average}
    named: _Columns = {name: [own.get(name)] * size for name in (*IDENTITY, "counts")}
    return named | dict.fromkeys(_NUMBERS, np.full(size, np.nan))


def _mean(kind: RowKind, counts: Mapping[str, FloatArray], found: Mapping[str, FloatArray], average: str) -> _Columns:
    """The mean rates of the labels that occur on either side, a rate over nothing counting 0; NaN if none occurs."""
    row = _columns(kind, 1, average)
    support = counts["gold"] if kind.one_sided else counts["gold"] + counts["pred"]
    chosen = np.flatnonzero(support > 0)
    weights = counts["gold"][chosen] if average == WEIGHTED else np.ones(len(chosen))
    whole = weights.sum()  # 0 where gold has nothing: then nothing can be right
    for name in ("recall",) if kind.one_sided else RATES:
        if len(chosen):
            row[name] = np.array([fsum(np.nan_to_num(found[name][chosen]) * weights) / whole if whole else 0.0])
    return row


# ---- How sure a number is: documents are clusters; exact binomial intervals; changes of sides at random

CONFIDENCE = 0.95
_UPPER = (1 + CONFIDENCE) / 2
_ROUNDING = 1e-12
_CELLS_AT_ONCE = 2_000_000  # of a matrix replicates × documents
_PACKAGE = "scipy.special"
_BELOW = ("scipy.linalg",)  # from scipy 1.18 on, the extension asks it for another extension


def binomial_interval(
    successes: npt.ArrayLike, trials: npt.ArrayLike, confidence: float = CONFIDENCE
) -> tuple[FloatArray, FloatArray]:
    """The exact (Clopper-Pearson) interval of a share; not defined without trials.

    >>> low, high = binomial_interval([20, 0], [20, 0])
    >>> float(low[0].round(4)), float(high[0]), bool(np.isnan(low[1]))
    (0.8316, 1.0, True)
    """
    betaincinv, _ = beta_and_t()
    success, trial = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    failure = trial - success
    tail = (1 - confidence) / 2
    with np.errstate(invalid="ignore"):
        low = np.where(success > _ROUNDING, betaincinv(np.maximum(success, _ROUNDING), failure + 1, tail), 0.0)
        high = np.where(failure > _ROUNDING, betaincinv(success + 1, np.maximum(failure, _ROUNDING), 1 - tail), 1.0)
    return np.where(trial > 0, low, np.nan), np.where(trial > 0, high, np.nan)


@dataclass(frozen=True, eq=False)
class ClusteredRates:
    """Precision, recall, F1 and F-beta of every row, with what documents, which are clusters, tell about them.

    The last axis of every array goes through the four rates. `slopes` say how much a rate moves with precision and
    with recall, `between` how much documents move it, squared; `size` how many units stand below it, `clusters` how
    many documents have one.
    """

    value: FloatArray
    slopes: tuple[FloatArray, FloatArray]
    between: FloatArray
    size: FloatArray
    clusters: FloatArray

    @classmethod
    def of(cls, figures: IntArray, beta: float) -> Self:
        """From the sums, products and numbers of documents of every row."""
        gold, tp_gold, pred, tp_pred = figures[:, : len(SUMS)].T / 2
        precision, recall = _share(tp_pred, pred), _share(tp_gold, gold)
        values, sizes = [precision, recall], [pred, gold]
        one, none = np.ones_like(precision), np.zeros_like(precision)
        by_precision, by_recall = [one, none], [none, one]
        for weight in (1.0, beta * beta):
            below = _share(1.0, (weight * precision + recall) ** 2)
            by_precision.append((1 + weight) * recall**2 * below)
            by_recall.append((1 + weight) * weight * precision**2 * below)
            # F is homogeneous in the two rates.
            values.append(by_precision[-1] * precision + by_recall[-1] * recall)
            sizes.append((weight * gold + pred) / (1 + weight))
        slopes = np.stack(by_precision, axis=1), np.stack(by_recall, axis=1)
        moved = np.array([_moved(row) for row in figures.tolist()]).reshape(-1, 3, 1)
        between = slopes[0] ** 2 * moved[:, 0] + slopes[1] ** 2 * moved[:, 1]
        between = np.maximum(between + 2 * slopes[0] * slopes[1] * moved[:, 2], 0.0)
        in_gold, in_pred, in_either = figures[:, -3:].T.astype(np.float64)
        clusters = np.stack([in_pred, in_gold, in_either, in_either], axis=1)
        return cls(np.stack(values, axis=1), slopes, between, np.stack(sizes, axis=1), clusters)

    @property
    def variance(self) -> FloatArray:
        """The variance of every rate between samples of so many documents."""
        return self.clusters / np.maximum(self.clusters - 1, 1) * self.between

    def interval(self) -> tuple[FloatArray, FloatArray]:
        """95 % bounds after Korn and Graubard; NaN where fewer than two documents have anything.

        The spread between documents tells how many independent units the sample is worth; an exact binomial
        interval of so many is taken, corrected for the few degrees of freedom that few documents leave. Where all
        is right, or nothing is, there is no spread to see, and the correction alone widens the interval.
        """
        _, stdtrit = beta_and_t()
        freedom = np.maximum(self.clusters - 1, 1)
        many = np.maximum(self.size - 1, freedom)
        correction = (stdtrit(many, _UPPER) / stdtrit(freedom, _UPPER)) ** 2
        own, between = self.value * (1 - self.value), self.variance
        seen = (own > _ROUNDING) & (between > own / np.maximum(self.size, 1))  # never worth more than it has units
        worth = np.where(seen, np.divide(own, between, out=np.ones_like(own), where=between > 0), self.size)
        low, high = binomial_interval(worth * correction * self.value, worth * correction)
        known = self.clusters > 1
        return np.where(known, low, np.nan), np.where(known, high, np.nan)


def _share(above: npt.ArrayLike, below: FloatArray) -> FloatArray:
    """A rate over all documents, 0 over nothing."""
    return np.divide(above, below, out=np.zeros_like(below), where=below > 0)


def _moved(row: Sequence[int]) -> tuple[float, float, float]:
    """How much documents move precision and recall: squared for each, and the product of both.

    A document moves a rate by (right - rate × all) / whole. These are sums of whole numbers, divided once: that their
    order does not matter makes results the same for every batching.
    """
    gold, tp_gold, pred, tp_pred = row[: len(SUMS)]
    product = {pair: row[len(SUMS) + place] for place, pair in enumerate(PRODUCTS)}
    of_precision = pred * pred * product[3, 3] - 2 * pred * tp_pred * product[2, 3] + tp_pred * tp_pred * product[2, 2]
    of_recall = gold * gold * product[1, 1] - 2 * gold * tp_gold * product[0, 1] + tp_gold * tp_gold * product[0, 0]
    of_both = gold * (pred * product[1, 3] - tp_pred * product[1, 2])
    of_both -= tp_gold * (pred * product[0, 3] - tp_pred * product[0, 2])
    below = pred or 1, gold or 1
    return of_precision / below[0] ** 4, of_recall / below[1] ** 4, of_both / (below[0] * below[1]) ** 2


@dataclass(frozen=True, eq=False)
class RatesByDocument:
    """Rates of one system with what each document says: documents × rows of gold, tp_gold, pred and tp_pred."""

    rates: ClusteredRates
    influence: FloatArray  # documents × rows × rates: how much each document moves a rate

    @classmethod
    def of(cls, counts: Sequence[FloatArray], beta: float) -> Self:
        """From counts of which some are halves."""
        columns = spread_columns([np.rint(2 * table).astype(np.int64) for table in counts])
        rates = ClusteredRates.of(np.stack([column.sum(axis=0) for column in columns], axis=1), beta)
        gold, tp_gold, pred, tp_pred = counts
        moved = []
        for above, below, rate in ((tp_pred, pred, rates.value[:, 0]), (tp_gold, gold, rates.value[:, 1])):
            moved.append((above - rate * below) / np.maximum(below.sum(axis=0), 0.5))
        by_precision, by_recall = rates.slopes
        return cls(rates, by_precision * moved[0][..., None] + by_recall * moved[1][..., None])


def difference_interval(first: RatesByDocument, second: RatesByDocument) -> tuple[FloatArray, FloatArray]:
    """95 % bounds of second less first over the same documents, from the bounds of both and their correlation.

    Each bound lies as far out as the bounds of the two rates do together (Zou and Donner's method of recovered
    variances). Where one of them has no spread, the two are taken to be independent.
    """
    together = (first.influence * second.influence).sum(axis=0)
    spread = np.sqrt((first.influence**2).sum(axis=0) * (second.influence**2).sum(axis=0))
    correlation = np.divide(together, spread, out=np.zeros_like(spread), where=spread > 0)
    (first_low, first_high), (second_low, second_high) = first.rates.interval(), second.rates.interval()

    def reach(one: FloatArray, other: FloatArray) -> FloatArray:
        return np.sqrt(np.maximum(one**2 + other**2 - 2 * correlation * one * other, 0.0))

    one, other = first.rates.value, second.rates.value
    low = other - one - reach(other - second_low, first_high - one)
    high = other - one + reach(second_high - other, one - first_low)
    return low, high


def swaps(documents: int, replicates: int, seed: int) -> Iterator[FloatArray]:
    """Approximate randomisation: 1 where a document's results change sides, a batch of replicates at a time."""
    generator = np.random.default_rng(seed)
    at_once = max(1, _CELLS_AT_ONCE // max(documents, 1))
    for begin in range(0, replicates, at_once):
        size = min(at_once, replicates - begin)
        yield generator.integers(0, 2, size=(size, documents), dtype=np.int8).astype(np.float64)


@cache
def beta_and_t() -> tuple[Any, Any]:
    """`betaincinv` and `stdtrit` of scipy.special, without loading the whole package.

    It loads every array library that it could be used with, and with them parts of numpy that nobody needs here: a
    third of the time in which pandas is loaded, for a command that prints a table in less.
    """
    if _PACKAGE not in sys.modules:
        try:
            return _from_extension()
        except (ImportError, AttributeError):  # another version keeps them elsewhere
            pass
    from scipy.special import betaincinv, stdtrit

    return betaincinv, stdtrit


def _from_extension() -> tuple[Any, Any]:
    """Load the extension as if its packages were there; they themselves can still be loaded afterwards."""
    scipy = import_module("scipy")
    hollow = [name for name in (_PACKAGE, *_BELOW) if name not in sys.modules]
    for name in hollow:
        package = sys.modules[name] = ModuleType(name)
        package.__path__ = [f"{folder}/{name.rpartition('.')[2]}" for folder in scipy.__path__]
    try:
        extension = import_module(f"{_PACKAGE}._ufuncs")
    finally:
        for name in hollow:
            del sys.modules[name]
    return extension.betaincinv, extension.stdtrit
