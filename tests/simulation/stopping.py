"""How often the interval for gold's errors among the unjudged cases covers the truth, at stops chosen beforehand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clueval_xlsx.cases.kinds import FN, FP
from clueval_xlsx.cases.order import order_by_suspicion
from clueval_xlsx.review.estimates import RankedUnits, estimate_remaining


class World(NamedTuple):
    """Cases whose chance to be gold's error falls with their rank, from `first` to `last`."""

    units: int
    first: float
    last: float
    half: float  # the share of the ranks after which half of the fall is over


WORLDS = (
    World(1_458, 0.40, 0.02, 0.05),
    World(1_458, 0.15, 0.15, 1.00),  # suspicion tells nothing
    World(395, 0.60, 0.05, 0.10),
    World(4_000, 0.30, 0.002, 0.05),
)


class Line(NamedTuple):
    """One line of the table."""

    covered: float
    width: float
    errors: float  # among the unjudged, on average
    estimated: float


def simulate(world: World, stop: float, runs: int, seed: int) -> Line:
    """Runs in which somebody judges the first part of the order, and stops where it was planned."""
    dice = np.random.default_rng(seed)
    rank = np.arange(world.units)
    chance = world.last + (world.first - world.last) * 0.5 ** (rank / (world.half * world.units))
    nothing = np.empty(0, dtype=np.int64)
    covered, widths, truths, estimates = [], [], [], []
    for run in range(runs):
        wrong = dice.random(world.units) < chance
        scores = {FN: -rank.astype(float), FP: nothing.astype(float)}
        order = order_by_suspicion(scores, {FN: rank, FP: nothing}, seed=1_000_003 * seed + run).sheets[FN]
        judged = np.zeros(world.units, dtype=bool)
        judged[order.shown[: round(stop * world.units)]] = True
        units = RankedUnits(order.random, judged, np.zeros(world.units, dtype=bool), wrong & judged)
        found = estimate_remaining(FN, units)
        truth = int((wrong & ~judged).sum())
        low, high = found.low or 0, found.high or 0
        covered.append(found.why_not is None and low <= truth <= high)
        widths.append(high - low)
        truths.append(truth)
        estimates.append(found.expected or 0.0)
    return Line(*(float(np.mean(column)) for column in (covered, widths, truths, estimates)))
