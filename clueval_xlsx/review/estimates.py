"""What is to be expected of cases that nobody judged: rates if all were judged, and gold's errors among the rest.

One rule for both: the judged units of a stratum stand for all of it. Of a sample the strata are labels and classes; of
an order by suspicion they are what lies above the cut, and below it, of which the random cases were judged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from enum import StrEnum

import numpy as np
import pandas as pd

from clueval_xlsx.cases.kinds import AG, FN, FP, UM, Sheet
from clueval_xlsx.cases.order import OrderKind
from clueval_xlsx.cases.samples import draw, draw_agreed, span_components
from clueval_xlsx.corpus.spans import positions
from clueval_xlsx.review.assignment import CaseSample, agreed_rows, evaluation_units
from clueval_xlsx.review.correction import extent
from clueval_xlsx.review.deciding import Decided
from clueval_xlsx.review.judged_figures import accepted_tally, headline_tally
from clueval_xlsx.review.judgements import Effect
from clueval_xlsx.scoring.counts import FloatArray
from clueval_xlsx.scoring.scores import beta_and_t
from clueval_xlsx.text.strings import BoolArray

COLUMNS = ("rate", "value", "low", "high", "judged", "drawn", "population")
FROM_THE_TOP = 0.95  # of the judged cases must be the first ones of the order
_TAIL = 0.025  # on either side of a 95 % interval
_AGREED = "agreed"
_CHANGING = frozenset({Effect.DELETE, Effect.ADD, Effect.BOUNDARY, Effect.LABEL})


class Strata:
    """The judged units of each stratum with what was counted of them, which stand for all units of the stratum.

    Strata with fewer than two judged units, or none, are pooled; if there are no two in all of these, all cases are.
    """

    def __init__(self, names: np.ndarray, counts: FloatArray, sizes: Mapping[str, int]) -> None:
        """`names` and `counts` are those of the judged units, `sizes` says how many units each stratum has."""
        few = {name for name in sizes if (names == name).sum() < min(2, sizes[name])}
        pooled = np.isin(names, list(few))
        if few and pooled.sum() < 2:
            few = set(sizes) - {_AGREED}  # which are unlike the cases
            pooled = np.isin(names, list(few))
        self._parts: list[tuple[FloatArray, int]] = []
        for name, size in sizes.items():
            if name not in few and size:
                self._parts.append((counts[names == name], size))
        if few and pooled.any():
            self._parts.append((counts[pooled], sum(sizes[name] for name in few)))

    def total(self) -> FloatArray:
        """The sum over all units, judged or not."""
        total: FloatArray = np.sum([size * own.mean(axis=0) for own, size in self._parts], axis=0)
        return total

    def half_width(self, weights: FloatArray) -> float:
        """Half the interval of the total of the weighted counts.

        Where all judged units of a stratum turned out alike, others may still differ (Agresti and Coull). The degrees
        of freedom are Satterthwaite's: few, if few strata make most of the variance.
        """
        variances, freedom = [], []
        for own, size in self._parts:
            judged, values = len(own), own @ weights
            share = 2 / (judged + 4)
            spread = float(values.var(ddof=1)) if judged > 1 else 0.0
            variances.append(size**2 * (1 / judged - 1 / size) * (spread or share * (1 - share)))
            freedom.append(max(judged - 1, 1))
        whole = sum(variances)
        if whole <= 0:
            return 0.0
        _, quantile = beta_and_t()
        least = sum(variance**2 / own for variance, own in zip(variances, freedom, strict=True))
        return float(quantile(max(whole**2 / least, 1.0), 1 - _TAIL)) * math.sqrt(whole)


@dataclass(frozen=True)
class Estimate:
    """A rate estimated from judged units, with its 95 % interval."""

    value: float
    low: float
    high: float
    judged: int
    drawn: int
    population: int


def estimate_rate(above: float, below: float, changes: pd.DataFrame, strata: Mapping[str, tuple[int, int]]) -> Estimate:
    """The rate (above + what judging changes above) / (below + what judging changes below).

    `changes` has one row for each judged unit: `stratum`, `above`, `below` (how the unit's judgement changes the two
    counts). `strata` says for each stratum how many units were drawn and how many there are. The interval comes from
    the stratified variance of the linearised ratio, with the finite population correction.
    """
    drawn, population = (sum(sizes[place] for sizes in strata.values()) for place in (0, 1))
    if population and not len(changes):
        return Estimate(math.nan, math.nan, math.nan, 0, drawn, population)
    sizes = {name: there for name, (_, there) in strata.items()}
    own = Strata(changes["stratum"].to_numpy(object), changes[["above", "below"]].to_numpy(float), sizes)
    more, whole = own.total() if len(changes) else (0.0, 0.0)
    whole += below
    if whole <= 0:
        return Estimate(math.nan, math.nan, math.nan, len(changes), drawn, population)
    value = float((above + more) / whole)
    width = own.half_width(np.array([1.0, -value])) / float(whole)
    low, high = min(max(value - width, 0.0), value), max(min(value + width, 1.0), value)
    return Estimate(value, low, high, len(changes), drawn, population)


# ---- a sample ----


def sample_estimates(run: Decided, sample: CaseSample) -> pd.DataFrame:
    """One row for recall and one for precision; empty if the cases were not drawn but all handed out.

    What judging changes is counted unit by unit (linked cases and the spans they touch are one unit), as matching
    anew finds it; `acceptable` counts as right.
    """
    if not sample.is_drawn:
        return pd.DataFrame(columns=list(COLUMNS))
    units = evaluation_units(run.raw)
    drawn = draw(units, len(units) if sample.size is None else sample.size, sample.seed or 0)
    whole = np.ones(len(units), dtype=bool)
    np.logical_and.at(whole, units.cases["unit"].to_numpy(), _is_known(units.cases, run))
    judged = np.flatnonzero(drawn.chosen & whole)
    stratum = [drawn.stratum[unit] for unit in judged.tolist()]
    components = units.component[judged].tolist()
    strata: dict[str, tuple[int, int]] = dict(drawn.strata)
    agreed = _agreed_components(run, sample)
    if sample.agreed is not None and len(agreed) > 1:  # unlike cases, agreed spans nobody judged are taken to be right
        strata[_AGREED] = (sample.agreed.drawn, sample.agreed.there)
        stratum += [_AGREED] * len(agreed)
        components += agreed
    rows = []
    for (rate, changed), side in zip(component_changes(run).items(), headline_tally(run.raw).sides, strict=True):
        table = pd.DataFrame(changed[components], columns=["above", "below"]).assign(stratum=stratum)
        weight = float(side.weight.sum())
        if rate == "recall":
            weight += len(_both_missed(run))  # misses that no drawn case stands for
        rows.append(
            {"rate": rate, **asdict(estimate_rate(float((side.weight * side.credit).sum()), weight, table, strata))}
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def component_changes(run: Decided) -> dict[str, FloatArray]:
    """By how much judging changed what stands above and below the line of a rate, for each overlap component."""
    spans = run.raw.pair.gold.spans, run.raw.pair.pred.spans
    components = np.concatenate(span_components(*spans, run.raw.pair.corpus.documents.start))
    starts = np.concatenate([positions(side)[0] for side in spans])
    order = np.argsort(starts, kind="stable")
    after = accepted_tally(headline_tally(run.corrected), run)
    changes = {}
    sides = zip(headline_tally(run.raw).sides, after.sides, strict=True)
    for rate, (old, new) in zip(("recall", "precision"), sides, strict=True):
        table = np.zeros((int(components.max(initial=-1)) + 1, 2))
        for side, sign in ((old, -1.0), (new, 1.0)):
            weight = side.weight
            if side is after.gold:  # what both sides had missed belongs to no component
                weight = np.where(np.isin(side.position, _both_missed(run)), 0.0, weight)
            # Components follow each other in the text: a unit belongs to the last one that begins before it.
            place = np.maximum(np.searchsorted(starts[order], side.position, side="right") - 1, 0)
            np.add.at(table, components[order][place], sign * np.stack([weight * side.credit, weight], axis=1))
        changes[rate] = table
    return changes


def _is_known(cases: pd.DataFrame, run: Decided) -> BoolArray:
    """Which cases are decided, by a judgement of their own or of the case linked to them."""
    decided = [case for case, decision in run.decisions.items() if decision.effect != Effect.OPEN]
    known: BoolArray = cases["case_id"].isin([*decided, *run.settled]).to_numpy(bool)
    return known


def _agreed_components(run: Decided, whole: CaseSample) -> list[int]:
    """The components of the drawn agreed spans that were judged, also on a twin; none that was not drawn."""
    pair, sample = run.raw.pair, whole.agreed
    if sample is None:
        return []
    rows = agreed_rows(run.raw)
    drawn = set(rows[draw_agreed(np.arange(len(rows)), sample.size, sample.seed)].tolist())
    gold, _ = span_components(pair.gold.spans, pair.pred.spans, pair.corpus.documents.start)
    judged = [run.book.cases[case] for case, decision in run.decisions.items() if decision.effect != Effect.OPEN]
    return [int(gold[case.row]) for case in judged if case.sheet == AG and case.row in drawn]


def _both_missed(run: Decided) -> list[int]:
    """Where the spans begin that were added because both sides had missed them: they belong to no component."""
    return [extent(change.new)[0] for change in run.correction.changes if run.book.cases[change.case_id].sheet == UM]


# ---- an order by suspicion ----


class NoEstimate(StrEnum):
    """Why nothing can be said about the unjudged cases."""

    NOTHING_JUDGED = "nothing_judged"
    NOT_FROM_THE_TOP = "not_from_the_top"
    NO_RANDOM_CASE = "no_random_case"


@dataclass(frozen=True)
class Remaining:
    """What is to be expected among the unjudged cases of one sheet; linked cases count once, on the sheet of misses.

    `sample` random cases below the cut are judged, `hits` of them were errors of gold.
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


def remaining_errors(run: Decided) -> tuple[Remaining, ...]:
    """What is to be expected on each sheet; nothing where cases were not ordered by suspicion."""
    order = run.raw.order
    if order is None or order.kind is not OrderKind.SUSPICION:
        return ()
    ranks = []
    for sheet, table in zip((FN, FP), run.raw.bare_cases, strict=True):
        own = order.sheets[sheet]
        rank = np.argsort(own.ranked, kind="stable")[own.shown]
        ranks.append(pd.DataFrame({"case_id": table["case_id"], "rank": rank, "random": own.random[own.shown]}))
    cases = evaluation_units(run.raw).cases.merge(pd.concat(ranks), on="case_id")
    wrong = [case for case, decision in run.decisions.items() if decision.effect in _CHANGING]
    cases["known"] = _is_known(cases, run)
    cases["shared"] = cases["case_id"].isin([*run.carried, *run.carried.values()])
    cases["wrong"] = cases["case_id"].isin(wrong)
    cases["wrong"] = cases.groupby("unit")["wrong"].transform("any")
    missed = cases["unit"].isin(cases["unit"][cases["sheet"] == FN])
    how = {"rank": "min", "random": "any", "known": "all", "shared": "any", "wrong": "any"}
    found = []
    for sheet, here in ((FN, missed), (FP, ~missed)):
        units = cases[(cases["sheet"] == sheet) & here].groupby("unit").agg(how).sort_values("rank")
        random, known, shared, own_wrong = (
            units[name].to_numpy(bool) for name in ("random", "known", "shared", "wrong")
        )
        found.append(estimate_remaining(sheet, RankedUnits(random, known & ~shared, shared & known, own_wrong)))
    return tuple(found)


def estimate_remaining(sheet: Sheet, units: RankedUnits) -> Remaining:
    """What is to be expected of one sheet's units."""
    known = units.judged | units.shared
    remaining = Remaining(sheet, int(known.sum()), int((units.wrong & known).sum()), int((~known).sum()))
    if not remaining.unjudged:
        return replace(remaining, expected=0.0, low=0, high=0)
    if not remaining.judged:
        return replace(remaining, why_not=NoEstimate.NOTHING_JUDGED)
    ordinary = np.flatnonzero(~units.random & ~units.shared)
    count = int(units.judged[ordinary].sum())
    if count and units.judged[ordinary[:count]].mean() < FROM_THE_TOP:
        return replace(remaining, why_not=NoEstimate.NOT_FROM_THE_TOP)
    cut = int(ordinary[count]) if count < len(ordinary) else len(known)
    below = np.arange(len(known)) >= cut
    sample, above = (units.wrong[units.judged & part].astype(float) for part in (below & units.random, ~below))
    behind, skipped = int((below & ~known).sum()), int((~below & ~known).sum())
    if behind and not len(sample):
        return replace(remaining, why_not=NoEstimate.NO_RANDOM_CASE)
    hits = int(sample.sum())
    expected = sum(
        own.mean() * rest for own, rest in ((sample, behind), (above if len(above) else sample, skipped)) if rest
    )
    low, high = hypergeometric_interval(hits, len(sample), behind)
    # Nobody stands for those that were passed over: each of them may be an error.
    return replace(remaining, sample=len(sample), hits=hits, expected=float(expected), low=low, high=high + skipped)


def hypergeometric_interval(hits: int, sample: int, rest: int) -> tuple[int, int]:
    """How many there are among the rest, if so many of a random sample of all were: the exact 95 % interval.

    >>> hypergeometric_interval(0, 50, 0), hypergeometric_interval(0, 50, 1000)
    ((0, 0), (0, 72))
    """
    if not rest:
        return 0, 0
    from scipy import stats  # takes as long to load as pandas, and only orders of suspicion need it

    there = np.arange(rest + 1)
    drawn = stats.hypergeom(sample + rest, hits + there, sample)
    inside = (drawn.sf(hits - 1) > _TAIL) & (drawn.cdf(hits) > _TAIL)
    return int(there[inside].min()), int(there[inside].max())
