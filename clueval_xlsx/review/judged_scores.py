"""The headline figures as judgements change them, each state with its intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from clueval_xlsx.cases.kinds import FN, FP
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.review.correction import Decision, extent
from clueval_xlsx.review.decisions import CaseBook
from clueval_xlsx.review.judged_run import JudgedRun
from clueval_xlsx.review.vocabulary import SEVERITIES, Effect, ScoreState, Severity
from clueval_xlsx.scoring.counts import Breakdown, Side, Tally, count
from clueval_xlsx.scoring.schemes import clueval
from clueval_xlsx.scoring.scores import COUNTS, RATES, score_table
from clueval_xlsx.text.strings import BoolArray, IntArray

UNRATED = ""  # the severity nobody gave


def judged_scores(run: JudgedRun) -> pd.DataFrame:
    """One row a state: `raw`, `corrected`, `accepted` (what was judged good enough counts), `forgiven`
    (and misses that were judged harmless do not count against the model)."""
    tally = headline_tally(run.corrected)
    accepted = accepted_tally(tally, run.decisions, run.book)
    known = _severity_of_spans(run)
    harmless = {start for start, severity in known.items() if severity == Severity.HARMLESS}
    forgiven = replace(accepted, gold=_credited(accepted.gold, harmless))
    rows = [
        _row(headline_tally(run.raw), run.raw),
        *(_row(each, run.corrected) for each in (tally, accepted, forgiven)),
    ]
    table = pd.concat(rows, ignore_index=True)
    table.insert(0, "state", [state.value for state in ScoreState])
    columns = ["state", *COUNTS, *(f"{name}{end}" for name in RATES for end in ("", "_low", "_high"))]
    return table[columns]


def misses_by_severity(run: JudgedRun) -> pd.DataFrame:
    """How many misses are left after correction, acceptable ones not counted, by the severity people gave."""
    gold = accepted_tally(headline_tally(run.corrected), run.decisions, run.book).gold
    missed = gold.position[(gold.credit == 0) & (gold.weight > 0)]
    known = _severity_of_spans(run)
    found = [known.get(start, UNRATED) for start in missed.tolist()]
    return pd.DataFrame(
        {"severity": [*map(str, SEVERITIES), UNRATED], "misses": [found.count(name) for name in (*SEVERITIES, UNRATED)]}
    )


def headline_tally(evaluation: Evaluation) -> Tally:
    """The units that the headline counts, without breakdowns."""
    options = evaluation.options
    found = clueval.tallies(evaluation.governing)
    tally = next(each for each in found if (each.level, each.labelled) == (options.level, options.labelled))
    return replace(tally, by_layers=())


def _row(tally: Tally, evaluation: Evaluation) -> pd.DataFrame:
    options = evaluation.options
    counts = count([tally], Breakdown.whole(evaluation.pair, evaluation.alignment.discarded))
    return score_table(counts, options.beta, intervals=bool(options.replicates))


def accepted_tally(tally: Tally, decisions: Mapping[str, Decision], book: CaseBook) -> Tally:
    """What was judged good enough counts as right, on the side where it was judged."""
    accepted = [book.cases[case_id] for case_id, decision in decisions.items() if decision.effect == Effect.ACCEPT]
    starts = {sheet: {case.own[0] for case in accepted if case.sheet == sheet} for sheet in (FN, FP)}
    return replace(tally, gold=_credited(tally.gold, starts[FN]), pred=_credited(tally.pred, starts[FP]))


def _credited(side: Side, starts: set[int]) -> Side:
    """The side with full credit for the units that begin at these positions; spans of a side never share one."""
    if not starts:
        return side
    wanted: IntArray = np.array(sorted(starts), dtype=np.int64)
    chosen: BoolArray = np.isin(side.position, wanted)
    return replace(side, credit=np.where(chosen, 1.0, side.credit))


def _severity_of_spans(run: JudgedRun) -> dict[int, Severity]:
    """The severity of gold spans by where they begin now: a corrected span keeps the severity of its case."""
    found: dict[int, Severity] = {}
    for case_id, severity in run.severities.items():
        case = run.book.cases[case_id]
        if case.sheet == FN:
            found[case.own[0]] = severity
    for change in run.correction.changes:
        if change.new and change.case_id in run.severities:
            found[extent(change.new)[0]] = run.severities[change.case_id]
    return found
