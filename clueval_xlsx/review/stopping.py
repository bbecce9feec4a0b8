"""Whoever stops early: how many errors of gold are to be expected among the cases that nobody judged.

The cases of a sheet are judged from its top, the most suspicious first, with a random sample among the first. Those
random ones that suspicion ranks below the cut stand for all cases below it.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

import numpy as np
import pandas as pd

from clueval_xlsx.cases.kinds import FN, FP, Sheet
from clueval_xlsx.cases.order import OrderKind
from clueval_xlsx.cases.samples import make_units, span_components
from clueval_xlsx.review.judged_run import JudgedRun
from clueval_xlsx.review.vocabulary import Effect
from clueval_xlsx.scoring.counts import FloatArray
from clueval_xlsx.text.strings import BoolArray, IntArray

FROM_THE_TOP = 0.95  # of the judged cases must be the first ones of the order
_TAIL = 0.025  # on either side of a 95 % interval
HUNDRED = 100
WORTH = 5  # errors of gold that a further hundred judgements should find
_CHANGING = frozenset({Effect.DELETE, Effect.ADD, Effect.BOUNDARY, Effect.LABEL})


class NoEstimate(StrEnum):
    """Why nothing can be said about the unjudged cases."""

    NOTHING_JUDGED = "nothing_judged"
    NOT_FROM_THE_TOP = "not_from_the_top"
    NO_RANDOM_CASE = "no_random_case"


@dataclass(frozen=True)
class Remaining:
    """What is to be expected among the unjudged cases of one sheet; linked cases count once, on the sheet of misses.

    `sample` random cases below the cut are judged, `hits` of them were errors of gold. `next_hundred` errors are
    expected in a further hundred judgements; after `worthwhile` more of them a hundred find too few.
    """

    sheet: Sheet
    judged: int
    found: int
    unjudged: int
    sample: int = 0
    hits: int = 0
    expected: float | None = None
    low: int | None = None
    high: int | None = None
    next_hundred: float | None = None
    worthwhile: int | None = None
    why_not: NoEstimate | None = None


@dataclass(frozen=True, eq=False)
class RankedUnits:
    """The units of one sheet as suspicion ranks them, one entry each.

    `judged` were decided directly, `shared` through or for their twins: what these are is known, and they stand for
    nobody else.
    """

    random: BoolArray
    judged: BoolArray
    shared: BoolArray
    wrong: BoolArray  # gold was, where that is known


def remaining_errors(run: JudgedRun, worth: int) -> tuple[Remaining, ...]:
    """What is to be expected on each sheet; nothing where cases were not ordered by suspicion, or only some drawn."""
    order = run.raw.order
    if order is None or order.kind is not OrderKind.SUSPICION or run.sample.size is not None:
        return ()
    return tuple(estimate_remaining(sheet, units, worth) for sheet, units in _ranked_units(run).items())


def estimate_remaining(sheet: Sheet, units: RankedUnits, worth: int) -> Remaining:
    """What is to be expected of one sheet's units."""
    known = units.judged | units.shared
    found = int((units.wrong & known).sum())
    remaining = Remaining(sheet, int(known.sum()), found, int((~known).sum()))
    if not remaining.unjudged:
        return replace(remaining, expected=0.0, low=0, high=0, next_hundred=0.0, worthwhile=0)
    if not remaining.judged:
        return replace(remaining, why_not=NoEstimate.NOTHING_JUDGED)
    ordinary = np.flatnonzero(~units.random & ~units.shared)
    count = int(units.judged[ordinary].sum())
    if count and units.judged[ordinary[:count]].mean() < FROM_THE_TOP:
        return replace(remaining, why_not=NoEstimate.NOT_FROM_THE_TOP)
    cut = int(ordinary[count]) if count < len(ordinary) else len(units.random)
    below = np.arange(len(units.random)) >= cut
    sample = below & units.random & units.judged & ~units.shared
    hits, size = int(units.wrong[sample].sum()), int(sample.sum())
    behind = int((below & ~known).sum())
    skipped = int((~below & ~known).sum())  # between the judged ones: nobody stands for these
    if behind and not size:
        return replace(remaining, why_not=NoEstimate.NO_RANDOM_CASE)
    low, high = hypergeometric_interval(hits, size, behind)
    above = ~below & units.judged
    rate = float(units.wrong[above].mean()) if above.any() else 1.0
    expected = (hits / size * behind if size else 0.0) + rate * skipped
    chances = _chances(units)
    return replace(
        remaining,
        sample=size,
        hits=hits,
        expected=expected,
        low=low,
        high=high + skipped,
        next_hundred=float(chances[:HUNDRED].sum()),
        worthwhile=_worthwhile(chances, worth),
    )


@lru_cache(maxsize=4096)
def hypergeometric_interval(hits: int, sample: int, rest: int) -> tuple[int, int]:
    """How many there are among the rest, if so many of a random sample of all were: the exact 95 % interval.

    >>> hypergeometric_interval(0, 50, 0), hypergeometric_interval(0, 50, 1000)
    ((0, 0), (0, 72))
    """
    if not rest:
        return 0, 0
    from scipy import stats  # takes as long to load as pandas, and only orders of suspicion need it

    everything, there = sample + rest, range(hits, hits + rest + 1)

    def enough(count: int) -> bool:
        return bool(stats.hypergeom.sf(hits - 1, everything, count, sample) > _TAIL)

    def too_many(count: int) -> bool:
        return bool(stats.hypergeom.cdf(hits, everything, count, sample) <= _TAIL)

    # The more there are, the more are drawn: both change once, and are searched for by halves.
    low, high = bisect_left(there, True, key=enough), bisect_left(there, True, key=too_many) - 1
    return min(low, rest), max(high, 0)


def _chances(units: RankedUnits) -> FloatArray:
    """For each unjudged unit in the order of judging how likely gold's error is: it only falls with the rank."""
    known = np.flatnonzero(units.judged & ~units.shared)
    left = np.flatnonzero(~units.judged & ~units.shared)
    if not len(known):
        return np.zeros(len(left))
    from scipy import optimize

    falling = optimize.isotonic_regression(units.wrong[known].astype(float), increasing=False).x
    nearest = np.maximum(np.searchsorted(known, left) - 1, 0)
    chances: FloatArray = falling[nearest]
    return chances


def _worthwhile(chances: FloatArray, worth: int) -> int:
    """After how many further judgements a hundred more are expected to find fewer than `worth`."""
    reached = np.concatenate([[0.0], np.cumsum(chances)])
    stop = np.minimum(np.arange(len(chances) + 1) + HUNDRED, len(chances))
    return int(np.argmax(reached[stop] - reached < worth))


def _ranked_units(run: JudgedRun) -> dict[Sheet, RankedUnits]:
    """The units of each sheet by rank; one with cases on both sheets stands on that of misses."""
    raw, order = run.raw, run.raw.order
    assert order is not None
    pair = raw.pair
    components = span_components(pair.gold.spans, pair.pred.spans, pair.corpus.documents.start)
    tables = dict(zip((FN, FP), raw.bare_cases, strict=True))
    units = make_units(tables, dict(zip((FN, FP), components, strict=True)), pair.layers[0])
    cases = units.cases.assign(
        known=_decided(units.cases["case_id"], run),
        shared=units.cases["case_id"].isin(_shared(run)).to_numpy(),
        wrong=units.cases["case_id"].isin(_wrong(run)).to_numpy(),
        rank=-1,
        random=False,
    )
    ranks = {sheet: _by_case(tables[sheet], order.sheets[sheet].shown) for sheet in (FN, FP)}
    found = {}
    missed = set(cases["unit"][cases["sheet"] == FN])
    for sheet in (FN, FP):
        own = cases[(cases["sheet"] == sheet) & (cases["unit"].isin(missed) == (sheet == FN))]
        place = ranks[sheet].loc[own["case_id"]].to_numpy(np.int64)
        in_order = np.argsort(order.sheets[sheet].ranked, kind="stable")
        own = own.assign(rank=in_order[place], random=order.sheets[sheet].random[place])
        wrong = cases[cases["wrong"]]["unit"]
        grouped = own.groupby("unit").agg(
            rank=("rank", "min"), random=("random", "any"), known=("known", "all"), shared=("shared", "any")
        )
        grouped = grouped.assign(wrong=grouped.index.isin(wrong)).sort_values("rank")
        shared = (grouped["shared"] & grouped["known"]).to_numpy(bool)
        found[sheet] = RankedUnits(
            grouped["random"].to_numpy(bool),
            grouped["known"].to_numpy(bool) & ~shared,
            shared,
            grouped["wrong"].to_numpy(bool),
        )
    return found


def _by_case(table: pd.DataFrame, shown: IntArray) -> pd.Series:
    """The place in the text of each case of a sheet that is shown in another order."""
    return pd.Series(shown, index=table["case_id"])


def _decided(case_ids: pd.Series, run: JudgedRun) -> BoolArray:
    decided = {case_id for case_id, decision in run.decisions.items() if decision.effect != Effect.OPEN}
    known: BoolArray = case_ids.isin(decided | set(run.settled)).to_numpy(bool)
    return known


def _wrong(run: JudgedRun) -> list[str]:
    return [case_id for case_id, decision in run.decisions.items() if decision.effect in _CHANGING]


def _shared(run: JudgedRun) -> list[str]:
    """Cases that were decided on a twin, and those whose decision was carried to one."""
    return list({*run.carried, *run.carried.values()})
