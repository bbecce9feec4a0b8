"""Honest estimates from a sample: what precision and recall would be if every case were judged."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import optimize, stats

from clueval_xlsx.schemes.tally import FloatArray

_CONFIDENCE = 0.975


@dataclass(frozen=True)
class Estimate:
    """A rate estimated from judged units, with its 95 % interval and what it would take to halve its width."""

    value: float
    low: float
    high: float
    judged: int
    drawn: int
    population: int
    more_to_halve: int


def estimate_rate(
    above: float,
    below: float,
    changes: pd.DataFrame,
    strata: Mapping[str, tuple[int, int]],
) -> Estimate:
    """The rate (above + what judging changes above) / (below + what judging changes below).

    `changes` has one row for each judged unit: `stratum`, `above`, `below` (how the unit's judgement changes the
    two counts). `strata` says for each stratum how many units were drawn and how many there are. Within a stratum
    the judged units stand for all: each is weighted by the inverse of its chance to be drawn and judged. The
    interval comes from the stratified variance of the linearised ratio, with the finite population correction.
    """
    groups = dict(iter(changes.groupby("stratum")))
    totals = {"above": 0.0, "below": 0.0}
    population = judged = drawn = 0
    for name, (taken, there) in strata.items():
        part = groups.get(name, changes)  # a stratum in which nothing was judged yet is taken to be like the rest
        population += there
        drawn += taken
        judged += len(part) if name in groups else 0
        if not len(part):
            continue
        for key in totals:
            totals[key] += there * float(part[key].mean())
    whole = below + totals["below"]
    if whole <= 0:
        return Estimate(math.nan, math.nan, math.nan, judged, drawn, population, 0)
    value = (above + totals["above"]) / whole
    sizes, there_are, spread = _spreads(groups, strata, value)
    variance = _variance(sizes, there_are, spread) / whole**2
    freedom = max(int(sizes.sum()) - len(sizes), 1)
    width = float(stats.t.ppf(_CONFIDENCE, freedom)) * math.sqrt(max(variance, 0.0))
    return Estimate(
        value,
        max(value - width, 0.0),
        min(value + width, 1.0),
        judged,
        drawn,
        population,
        _more_to_halve(sizes, there_are, spread),
    )


def _spreads(
    groups: Mapping[str, pd.DataFrame], strata: Mapping[str, tuple[int, int]], value: float
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Judged units, all units, and the variance of the ratio's residual in each stratum.

    A stratum with fewer than two judged units borrows the variance of all others together.
    """
    residuals = {name: (part["above"] - value * part["below"]).to_numpy(float) for name, part in groups.items()}
    known = [name for name in strata if len(residuals.get(name, ())) > 0]
    pooled = [residual - residual.mean() for residual in residuals.values() if len(residual) > 1]
    freedom = sum(len(residual) - 1 for residual in pooled)
    common = float(sum((residual**2).sum() for residual in pooled) / freedom) if freedom else 0.0
    spread = [
        float(residuals[name].var(ddof=1)) if len(residuals[name]) > 1 else common if strata[name][1] > 1 else 0.0
        for name in known
    ]
    return (
        np.array([len(residuals[name]) for name in known], dtype=float),
        np.array([strata[name][1] for name in known], dtype=float),
        np.array(spread, dtype=float),
    )


def _variance(sizes: FloatArray, there: FloatArray, spread: FloatArray) -> float:
    return float((there**2 * (1 / sizes - 1 / there) * spread).sum()) if len(sizes) else 0.0


def _more_to_halve(sizes: FloatArray, there: FloatArray, spread: FloatArray) -> int:
    """How many more judgements, in the proportions of these, would make the interval half as wide."""
    now = _variance(sizes, there, spread)
    if now <= 0:
        return 0

    def left_over(factor: float) -> float:
        return _variance(np.minimum(sizes * factor, there), there, spread) - now / 4

    largest = float((there / sizes).max())
    factor = optimize.brentq(left_over, 1.0, largest) if largest > 1 else 1.0
    return math.ceil(float((np.minimum(sizes * factor, there) - sizes).sum()))
