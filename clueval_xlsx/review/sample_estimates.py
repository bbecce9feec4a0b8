"""What precision and recall would be if every case had been judged, estimated from the cases that were drawn."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pandas as pd

from clueval_xlsx.cases.kinds import AG, UM
from clueval_xlsx.cases.samples import Draw, Units, draw, draw_agreed, span_components
from clueval_xlsx.corpus.spans import positions
from clueval_xlsx.review.assignment import agreed_rows, evaluation_units
from clueval_xlsx.review.correction import extent
from clueval_xlsx.review.estimates import estimate_rate
from clueval_xlsx.review.judged_run import JudgedRun
from clueval_xlsx.review.judged_scores import accepted_tally, headline_tally
from clueval_xlsx.review.vocabulary import Effect
from clueval_xlsx.scoring.counts import Side, Tally
from clueval_xlsx.text.strings import IntArray

_AGREED = "agreed"
COLUMNS = ("rate", "value", "low", "high", "judged", "drawn", "population", "more_to_halve")


def sample_estimates(run: JudgedRun) -> pd.DataFrame:
    """One row for recall and one for precision; empty if the cases were not drawn but all handed out.

    What judging changes is counted unit by unit (linked cases and the spans they touch are one unit), as matching
    anew finds it; `acceptable` counts as right. Each judged unit stands for those of its stratum that were not drawn.
    """
    sample = run.sample
    if not sample.is_drawn:
        return pd.DataFrame(columns=list(COLUMNS))
    units = evaluation_units(run.raw)
    drawn = draw(units, len(units) if sample.size is None else sample.size, sample.seed or 0)
    changed = _changes(run)
    judged = _judged_units(run, units, drawn)
    rows = pd.DataFrame(
        {"stratum": np.array(drawn.stratum, dtype=object)[judged], "component": units.component[judged]}
    )
    strata: dict[str, tuple[int, int]] = dict(drawn.strata)
    agreed = sample.agreed
    if agreed is not None:
        components = _agreed_components(run)
        rows = pd.concat(
            [rows, pd.DataFrame({"stratum": [_AGREED] * len(components), "component": components})], ignore_index=True
        )
        if components:  # unlike the cases, agreed spans nobody judged are taken to be right
            strata[_AGREED] = (agreed.drawn, agreed.there)
    before = {name: _totals(side) for name, side in zip(("gold", "pred"), _sides(headline_tally(run.raw)), strict=True)}
    weight, credit = before["gold"]
    before["gold"] = weight + len(_both_missed(run)), credit  # misses that no drawn case stands for
    found = []
    for rate, side in (("recall", "gold"), ("precision", "pred")):
        table = rows.assign(
            above=[changed[side, "credit"].get(component, 0.0) for component in rows["component"]],
            below=[changed[side, "weight"].get(component, 0.0) for component in rows["component"]],
        )
        weight, credit = before[side]
        found.append({"rate": rate, **asdict(estimate_rate(credit, weight, table, strata))})
    return pd.DataFrame(found, columns=list(COLUMNS))


def _judged_units(run: JudgedRun, units: Units, drawn: Draw) -> IntArray:
    """The drawn units of which every case is decided, by a judgement of its own or of the case linked to it."""
    decided = {case_id for case_id, decision in run.decisions.items() if decision.effect != Effect.OPEN}
    is_decided = units.cases["case_id"].isin(decided | set(run.settled)).to_numpy()
    whole = np.ones(len(units), dtype=bool)
    np.logical_and.at(whole, units.cases["unit"].to_numpy(), is_decided)
    return np.flatnonzero(drawn.chosen & whole)


def _agreed_components(run: JudgedRun) -> list[int]:
    """The components of the drawn agreed spans that were judged, also on a twin; none that was not drawn."""
    pair, sample = run.raw.pair, run.sample.agreed
    rows = agreed_rows(run.raw)
    drawn = set(rows[draw_agreed(np.arange(len(rows)), sample.size, sample.seed)].tolist()) if sample else set()
    gold, _ = span_components(pair.gold.spans, pair.pred.spans, pair.corpus.documents.start)
    judged = [run.book.cases[case] for case, decision in run.decisions.items() if decision.effect != Effect.OPEN]
    return [int(gold[case.row]) for case in judged if case.sheet == AG and case.row in drawn]


def _component_starts(run: JudgedRun) -> tuple[IntArray, IntArray]:
    """Where each overlap component of the run begins, in order, and its number."""
    pair = run.raw.pair
    components = np.concatenate(span_components(pair.gold.spans, pair.pred.spans, pair.corpus.documents.start))
    starts = np.concatenate([positions(pair.gold.spans)[0], positions(pair.pred.spans)[0]])
    first = np.full(int(components.max()) + 1 if len(components) else 0, np.iinfo(np.int64).max)
    np.minimum.at(first, components, starts)
    order = np.argsort(first)
    return first[order], order


def _changes(run: JudgedRun) -> dict[tuple[str, str], dict[int, float]]:
    """By how much judging changed the counts of each component: (side, weight or credit) -> component -> change."""
    starts, numbers = _component_starts(run)
    after = accepted_tally(headline_tally(run.corrected), run.decisions, run.book)
    both_missed = _both_missed(run)
    found: dict[tuple[str, str], dict[int, float]] = {}
    for name, old, new in zip(("gold", "pred"), _sides(headline_tally(run.raw)), _sides(after), strict=True):
        for what in ("weight", "credit"):
            totals = np.zeros(len(numbers) + 1)
            for side, sign in ((old, -1.0), (new, 1.0)):
                values = side.weight * (side.credit if what == "credit" else 1.0)
                known = ~np.isin(side.position, both_missed) if side is new and name == "gold" else slice(None)
                places = np.searchsorted(starts, side.position[known], side="right") - 1
                np.add.at(totals, places, sign * values[known])
            changed = np.flatnonzero(totals[: len(numbers)])
            found[name, what] = {int(numbers[place]): float(totals[place]) for place in changed.tolist()}
    return found


def _both_missed(run: JudgedRun) -> list[int]:
    """Where the spans begin that were added because both sides had missed them: they belong to no component."""
    return [extent(change.new)[0] for change in run.correction.changes if run.book.cases[change.case_id].sheet == UM]


def _sides(tally: Tally) -> tuple[Side, Side]:
    return tally.gold, tally.pred


def _totals(side: Side) -> tuple[float, float]:
    return float(side.weight.sum()), float((side.weight * side.credit).sum())
