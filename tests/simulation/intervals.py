"""How often 95 % intervals cover the truth, over documents of unequal size and difficulty."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import betaincinv

from clueval_xlsx.scoring.counts import FloatArray
from clueval_xlsx.scoring.scores import RATES, RatesByDocument, difference_interval

CONCENTRATION = {0.80: 10.0, 0.95: 20.0, 0.99: 50.0}  # of the documents' own rates, beta distributed
LOWER = {0.80: 0.75, 0.95: 0.90, 0.99: 0.97}  # the rate of the other system, where two are compared
MEAN_SIZE, DISPERSION = 12, 2


class Cell(NamedTuple):
    """One line of the table: what was simulated, how often the interval covered, and how wide it was."""

    quantity: str
    documents: int
    rate: float
    concentration: float
    coverage: float
    width: float


class Sample(NamedTuple):
    """Counts of many runs, documents × runs."""

    gold: FloatArray
    found: FloatArray
    pred: FloatArray

    def rates(self) -> RatesByDocument:
        return RatesByDocument.of([self.gold, self.found, self.pred, self.found], 2.0)


def sizes(dice: np.random.Generator, shape: tuple[int, int]) -> FloatArray:
    """Gold spans of documents: one, and a negative binomial number of mean 12."""
    return 1.0 + dice.negative_binomial(DISPERSION, DISPERSION / (DISPERSION + MEAN_SIZE), size=shape)


def sample(
    dice: np.random.Generator, gold: FloatArray, rate: float, concentration: float, difficulty: FloatArray
) -> Sample:
    """What a system of this recall and precision finds; documents have rates of their own."""
    own = betaincinv(rate * concentration, (1 - rate) * concentration, difficulty)
    found = dice.binomial(gold.astype(np.int64), own).astype(np.float64)
    noise = dice.gamma(2.0, 0.5, size=gold.shape)  # of mean 1: some documents invite false alarms
    false_alarms = dice.poisson(gold * (1 - rate) * noise)  # gold × rate found, so that precision is the rate, too
    return Sample(gold, found, found + false_alarms)


def cells(documents: int, rate: float, concentration: float, runs: int, seed: int = 1) -> Iterator[Cell]:
    """Coverage of recall, precision, F1, F2, and of the difference of two systems' recall and F1."""
    dice = np.random.default_rng(seed)
    shape = (documents, runs)
    gold = sizes(dice, shape)
    difficulty = dice.random(shape)
    first = sample(dice, gold, rate, concentration, difficulty)
    shared = dice.random(shape) < 0.5  # half of the documents are as hard for the other system
    other = sample(dice, gold, LOWER[rate], concentration, np.where(shared, difficulty, dice.random(shape)))
    one, two = first.rates(), other.rates()
    low, high = one.rates.interval()
    for index, name in enumerate(RATES):  # recall and precision are the same, and so is every F of them
        yield _cell(name, documents, rate, concentration, (low[:, index], high[:, index]), rate)
    bounds = difference_interval(one, two)
    for name in ("recall", "f1"):
        index = RATES.index(name)
        between = (bounds[0][:, index], bounds[1][:, index])
        yield _cell(f"difference of {name}", documents, rate, concentration, between, LOWER[rate] - rate)


def _cell(
    name: str,
    documents: int,
    rate: float,
    concentration: float,
    bounds: tuple[FloatArray, FloatArray],
    truth: float,
) -> Cell:
    low, high = bounds
    covered = float(((low <= truth) & (truth <= high)).mean())
    return Cell(name, documents, rate, concentration, covered, float((high - low).mean()))
