"""Honest estimates from a sample: what precision and recall would be if every case were judged."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from clueval_xlsx.scoring.counts import FloatArray
from clueval_xlsx.scoring.intervals import beta_and_t

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
    the judged units stand for all: each is weighted by the inverse of its chance to be drawn and judged. A stratum
    in which nothing is judged yet is taken to be like the rest, and makes the interval wider by how much strata differ
    from each other. The interval comes from the stratified variance of the linearised ratio, with the finite
    population correction.
    """
    changes = changes[changes["stratum"].isin(list(strata))]
    counts = changes[["above", "below"]].to_numpy(float)
    names = changes["stratum"].to_numpy(object)
    groups = {name: own for name in strata if len(own := counts[names == name])}
    drawn, population = (sum(pair[place] for pair in strata.values()) for place in (0, 1))
    totals = np.zeros(2)
    for name, (_, there) in strata.items() if len(counts) else ():
        totals += there * groups.get(name, counts).mean(axis=0)
    whole = below + float(totals[1])
    if whole <= 0 or (population and not len(counts)):  # nothing to count, or nobody has judged anything
        return Estimate(math.nan, math.nan, math.nan, len(counts), drawn, population, 0)
    value = (above + float(totals[0])) / whole
    residuals = {name: own[:, 0] - value * own[:, 1] for name, own in groups.items()}
    spreads = _spreads(residuals, strata)
    width = spreads.half_width() / whole
    return Estimate(
        value,
        min(max(value - width, 0.0), value),
        max(min(value + width, 1.0), value),
        len(counts),
        drawn,
        population,
        _more_to_halve(spreads),
    )


@dataclass(frozen=True, eq=False)
class _Spreads:
    """What the variance is made of: judged units, all units and the variance of the residual in each stratum.

    A variance of 0 says that all judged units of a stratum turned out alike; it is then what others may still have.
    `unseen` are the sizes of strata of which nobody has judged any; `overall` is the variance among all judged units,
    `between` that of the means of strata.
    """

    judged: FloatArray
    there: FloatArray
    spread: FloatArray
    unseen: FloatArray
    overall: float
    between: float

    def half_width(self, factor: float = 1.0) -> float:
        """Half the interval of the total, if `factor` times as many were judged in each stratum with judged ones.

        The degrees of freedom are Satterthwaite's: few, if few strata make most of the variance.
        """
        judged = np.minimum(self.judged * factor, self.there)
        variances = self._variances(judged)
        each = np.maximum(np.concatenate([judged, [judged.sum(), len(judged)]]) - 1, 1)
        whole = float((variances**2 / each).sum())
        freedom = max(float(variances.sum()) ** 2 / whole, 1.0) if whole else 1.0
        _, quantile = beta_and_t()
        return float(quantile(freedom, _CONFIDENCE)) * math.sqrt(float(variances.sum()))

    def _variances(self, judged: FloatArray) -> FloatArray:
        """What each stratum adds, and behind them what unseen units add, and that their strata may be unlike."""
        spread = np.where(self.spread > 0, self.spread, _least(judged))
        known = self.there**2 * (1 / judged - 1 / self.there) * spread
        unseen, apart = float(self.unseen.sum()), 0.0
        units = unseen**2 * self.overall * (1 / judged.sum() + 1 / unseen) if unseen else 0.0
        if unseen and len(judged):
            shares = judged / judged.sum()  # the mean of the judged units stands for every unseen stratum
            apart = self.between * float((self.unseen**2).sum() + unseen**2 * (shares**2).sum())
        return np.maximum(np.concatenate([known, [units, apart]]), 0.0)


def _spreads(residuals: Mapping[str, FloatArray], strata: Mapping[str, tuple[int, int]]) -> _Spreads:
    """The variances of the strata. One with a single judged unit borrows the variance of all others together.

    Where all judged units of a stratum turned out alike, others may still differ: the variance is then that of a share
    of (0 + 2) / (n + 4), by which Agresti and Coull mend the interval that would have no width. How far strata lie
    apart is seen from two of them on; with one it is taken to be as much as units do.
    """
    known = [name for name in strata if name in residuals]
    together = np.concatenate([residuals[name] for name in known]) if known else np.zeros(0)
    least = float(_least(np.array(len(together))))
    centred = [residual - residual.mean() for residual in residuals.values() if len(residual) > 1]
    freedom = sum(len(residual) - 1 for residual in centred)
    common = float(sum((residual**2).sum() for residual in centred) / freedom) if freedom else least
    own = [float(residuals[name].var(ddof=1)) if len(residuals[name]) > 1 else common for name in known]
    overall = max(float(together.var(ddof=1)), least) if len(together) > 1 else least
    means = np.array([residuals[name].mean() for name in known])
    return _Spreads(
        np.array([len(residuals[name]) for name in known], dtype=float),
        np.array([strata[name][1] for name in known], dtype=float),
        np.array(own, dtype=float),
        np.array([there for name, (_, there) in strata.items() if name not in residuals], dtype=float),
        overall,
        float(means.var(ddof=1)) if len(means) > 1 else overall,
    )


def _least(judged: FloatArray) -> FloatArray:
    """The variance that units may still have of which so many turned out alike."""
    share = 2 / (judged + 4)
    return share * (1 - share)


def _more_to_halve(spreads: _Spreads) -> int:
    """How many more judgements, in the proportions of these, would make the interval half as wide."""
    now = spreads.half_width()
    if now <= 0:
        return 0
    everything = float((spreads.there - spreads.judged).sum() + spreads.unseen.sum())
    largest = float((spreads.there / spreads.judged).max())
    if largest <= 1 or spreads.half_width(largest) > now / 2:
        return math.ceil(everything)
    from scipy import optimize  # takes as long to load as pandas, and only samples need it

    factor = optimize.brentq(lambda factor: spreads.half_width(factor) - now / 2, 1.0, largest)
    return math.ceil(float((np.minimum(spreads.judged * factor, spreads.there) - spreads.judged).sum()))
