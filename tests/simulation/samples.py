"""How often an estimate from a half-judged sample has the truth in its interval.

A population of cases in strata; the share of gold errors in each comes from a beta distribution of the given mean and
concentration. A sample is drawn in proportion, half of it is judged: at random, from the top of the list, or with one
stratum that nobody has opened. Recall after judging everything is known, so it can be looked up.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from clueval_xlsx.review.estimates import estimate_rate

SIZES = (400, 200, 120, 60, 40)
WAYS = ("half of each", "one stratum empty", "the largest without a hit")
FOUND = 3000  # gold spans that the model found
DRAWN = 0.25


def coverage(way: str, error: float, concentration: int, runs: int, seed: int = 1) -> tuple[float, float]:
    """The share of runs whose interval holds the truth, and the mean width."""
    generator = np.random.default_rng([seed, WAYS.index(way), int(100 * error), concentration])
    held, widths = 0, []
    for _ in range(runs):
        changes, strata, truth = _sample(generator, way, error, concentration)
        found = estimate_rate(FOUND, FOUND + sum(SIZES), changes, strata)
        held += found.low <= truth <= found.high
        widths.append(found.high - found.low)
    return held / runs, float(np.mean(widths))


def _sample(
    generator: np.random.Generator, way: str, error: float, concentration: int
) -> tuple[pd.DataFrame, dict[str, tuple[int, int]], float]:
    shares = generator.beta(error * concentration, (1 - error) * concentration, len(SIZES))
    if way == "the largest without a hit":
        shares[0] = min(shares[0], 0.02)
    hits = [generator.random(size) < share for size, share in zip(SIZES, shares, strict=True)]
    truth = FOUND / (FOUND + sum(SIZES) - sum(int(each.sum()) for each in hits))
    empty = int(generator.integers(len(SIZES))) if way == "one stratum empty" else -1
    strata, rows = {}, []
    for number, each in enumerate(hits):
        drawn = max(2, round(DRAWN * len(each)))
        strata[str(number)] = (drawn, len(each))
        judged = 0 if number == empty else max(1, drawn // 2)
        rows += [(str(number), 0.0, -float(hit)) for hit in generator.permutation(each)[:judged]]
    return pd.DataFrame(rows, columns=["stratum", "above", "below"]), strata, truth
