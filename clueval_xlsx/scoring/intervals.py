"""How sure a number is: bootstrap over documents, exact binomial intervals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from clueval_xlsx.text.strings import IntArray

FloatArray = npt.NDArray[np.float64]

CONFIDENCE = 0.95
_TAILS = (0.025, 0.975)
_CELLS_AT_ONCE = 2_000_000  # of a matrix replicates × documents


def draws(documents: int, replicates: int, seed: int) -> Iterator[FloatArray]:
    """Bootstrap weights, a batch of replicates at a time: how often each document is drawn in each of them.

    Fewer than two documents cannot be resampled: then there are none.
    """
    if documents < 2 or not replicates:
        return
    generator = np.random.default_rng(seed)
    at_once = max(1, _CELLS_AT_ONCE // documents)
    for begin in range(0, replicates, at_once):
        size = min(at_once, replicates - begin)
        chosen = generator.integers(0, documents, size=(size, documents))
        chosen += np.arange(size)[:, None] * documents
        weights = np.bincount(chosen.ravel(), minlength=size * documents).reshape(size, documents)
        yield weights.astype(np.float64)


def swaps(documents: int, replicates: int, seed: int) -> Iterator[FloatArray]:
    """Approximate randomisation: 1 where a document's results change sides, a batch of replicates at a time."""
    generator = np.random.default_rng(seed)
    at_once = max(1, _CELLS_AT_ONCE // max(documents, 1))
    for begin in range(0, replicates, at_once):
        size = min(at_once, replicates - begin)
        yield generator.integers(0, 2, size=(size, documents), dtype=np.int8).astype(np.float64)


def percentiles(sample: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The middle 95 % of each row, interpolated between neighbours; replicates without a defined rate do not count."""
    ordered = np.sort(sample, axis=1)  # NaN goes to the end
    last = np.maximum((~np.isnan(ordered)).sum(axis=1) - 1, 0)
    row = np.arange(len(ordered))
    bounds = []
    for share in _TAILS:
        place = share * last
        below = np.floor(place).astype(np.int64)
        low, high = ordered[row, below], ordered[row, np.minimum(below + 1, last)]
        bounds.append(low + (high - low) * (place - below))
    return bounds[0], bounds[1]


def binomial_interval(
    successes: npt.ArrayLike, trials: npt.ArrayLike, confidence: float = CONFIDENCE
) -> tuple[FloatArray, FloatArray]:
    """The exact (Clopper-Pearson) interval of a share; not defined without trials.

    >>> low, high = binomial_interval([20, 0], [20, 0])
    >>> float(low[0].round(4)), float(high[0]), bool(np.isnan(low[1]))
    (0.8316, 1.0, True)
    """
    from scipy.special import betaincinv

    success, trial = np.asarray(successes, dtype=np.float64), np.asarray(trials, dtype=np.float64)
    failure = trial - success
    tail = (1 - confidence) / 2
    with np.errstate(invalid="ignore"):
        low = np.where(success > 0, betaincinv(np.maximum(success, 1), failure + 1, tail), 0.0)
        high = np.where(failure > 0, betaincinv(success + 1, np.maximum(failure, 1), 1 - tail), 1.0)
    return np.where(trial > 0, low, np.nan), np.where(trial > 0, high, np.nan)


def by_document(document: IntArray, column: IntArray, weight: FloatArray, shape: tuple[int, int]) -> Any:
    """Summed weights, documents by columns; sparse, because few labels occur in each document."""
    from scipy.sparse import csc_array

    known = (column >= 0) & (document >= 0)
    return csc_array((weight[known], (document[known], column[known])), shape=shape)
