"""How sure a number is: documents are clusters; exact binomial intervals; changes of sides at random."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from clueval_xlsx.scoring.special_functions import beta_and_t
from clueval_xlsx.text.strings import IntArray

FloatArray = npt.NDArray[np.float64]

CONFIDENCE = 0.95
_UPPER = (1 + CONFIDENCE) / 2
_ROUNDING = 1e-12
_CELLS_AT_ONCE = 2_000_000  # of a matrix replicates × documents


def swaps(documents: int, replicates: int, seed: int) -> Iterator[FloatArray]:
    """Approximate randomisation: 1 where a document's results change sides, a batch of replicates at a time."""
    generator = np.random.default_rng(seed)
    at_once = max(1, _CELLS_AT_ONCE // max(documents, 1))
    for begin in range(0, replicates, at_once):
        size = min(at_once, replicates - begin)
        yield generator.integers(0, 2, size=(size, documents), dtype=np.int8).astype(np.float64)


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
    """Precision, recall, F1 and F-beta of every column, with what documents, which are clusters, tell about them.

    The last axis of every array goes through the four rates. `influence` (documents × columns × rates) says how much
    each document moves a rate; `size` how many units stand below it, `clusters` how many documents have one.
    """

    value: FloatArray
    influence: FloatArray
    size: FloatArray
    clusters: FloatArray

    @classmethod
    def of(cls, counts: Sequence[FloatArray], beta: float) -> Self:
        """From gold, tp_gold, pred and tp_pred, each documents × columns."""
        gold, tp_gold, pred, tp_pred = counts
        sides = [(tp_pred, pred), (tp_gold, gold)]
        (precision, moved_precision), (recall, moved_recall) = (_linearised(*side) for side in sides)
        values, moved, sizes = [precision, recall], [moved_precision, moved_recall], [pred.sum(0), gold.sum(0)]
        for weight in (1.0, beta * beta):
            below = weight * precision + recall
            by_precision, by_recall = (
                (1 + weight) * np.divide(part, below**2, out=np.zeros_like(below), where=below > 0)
                for part in (recall**2, weight * precision**2)
            )
            values.append(by_precision * precision + by_recall * recall)  # F is homogeneous in the two rates
            moved.append(by_precision * moved_precision + by_recall * moved_recall)
            sizes.append((weight * gold.sum(0) + pred.sum(0)) / (1 + weight))
        there = [pred > 0, gold > 0, (gold > 0) | (pred > 0)]
        clusters = [each.sum(0, dtype=np.float64) for each in (*there, there[-1])]
        return cls(np.stack(values, -1), np.stack(moved, -1), np.stack(sizes, -1), np.stack(clusters, -1))

    @property
    def variance(self) -> FloatArray:
        """The variance of every rate between samples of so many documents."""
        few = self.clusters / np.maximum(self.clusters - 1, 1)
        return np.asarray(few * (self.influence**2).sum(axis=0))

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


def difference_interval(first: ClusteredRates, second: ClusteredRates) -> tuple[FloatArray, FloatArray]:
    """95 % bounds of second less first over the same documents, from the bounds of both and their correlation.

    Each bound lies as far out as the bounds of the two rates do together (Zou and Donner's method of recovered
    variances). Where one of them has no spread, the two are taken to be independent.
    """
    together = (first.influence * second.influence).sum(axis=0)
    spread = np.sqrt((first.influence**2).sum(axis=0) * (second.influence**2).sum(axis=0))
    correlation = np.divide(together, spread, out=np.zeros_like(spread), where=spread > 0)
    (first_low, first_high), (second_low, second_high) = first.interval(), second.interval()

    def reach(one: FloatArray, other: FloatArray) -> FloatArray:
        return np.sqrt(np.maximum(one**2 + other**2 - 2 * correlation * one * other, 0.0))

    difference = second.value - first.value
    low = difference - reach(second.value - second_low, first_high - first.value)
    high = difference + reach(second_high - second.value, first.value - first_low)
    return low, high


def _linearised(above: FloatArray, below: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A rate over all documents, 0 over nothing, and how much each document moves it."""
    whole = below.sum(axis=0)
    rate = np.divide(above.sum(axis=0), whole, out=np.zeros_like(whole), where=whole > 0)
    return rate, (above - rate * below) / np.where(whole > 0, whole, 1.0)


@dataclass(frozen=True, eq=False)
class DocumentTable:
    """Sums of units, documents by columns; sparse, because few labels occur in each document.

    `column` is sorted; each document and column that has something is there once.
    """

    document: IntArray
    column: IntArray
    weight: FloatArray
    documents: int

    @classmethod
    def of(cls, document: IntArray, column: IntArray, weight: FloatArray, documents: int) -> DocumentTable:
        """Of the units that have a document and a column (-1: none)."""
        known = np.flatnonzero((column >= 0) & (document >= 0) & (weight != 0))
        cell = column[known].astype(np.int64) * documents + document[known]
        order = np.argsort(cell, kind="stable")
        cell = cell[order]
        first = np.flatnonzero(np.diff(cell, prepend=-1))
        summed = np.add.reduceat(weight[known][order], first) if len(first) else weight[:0]
        columns, rows = np.divmod(cell[first], documents)
        return cls(rows, columns, summed, documents)

    @classmethod
    def beside(cls, tables: Sequence[DocumentTable], sizes: Sequence[int]) -> DocumentTable:
        """Tables of so many columns each, one beside the other."""
        first = np.cumsum([0, *sizes])[:-1]
        columns = [table.column + begin for table, begin in zip(tables, first.tolist(), strict=True)]
        return cls(
            np.concatenate([table.document for table in tables]),
            np.concatenate(columns),
            np.concatenate([table.weight for table in tables]),
            tables[0].documents,
        )

    def dense(self, begin: int, stop: int) -> FloatArray:
        """Documents × the columns from `begin` up to `stop`."""
        low, high = np.searchsorted(self.column, [begin, stop])
        width = stop - begin
        cell = self.document[low:high] * width + (self.column[low:high] - begin)
        summed = np.bincount(cell, weights=self.weight[low:high], minlength=self.documents * width)
        return summed.astype(np.float64, copy=False).reshape(self.documents, width)
