"""What judging came to in figures: the headline as judgements change it, misses by severity, the ledger, counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from clueval_xlsx.cases.kinds import AG, FN, FP, UM, Sheet
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.review.correction import Decision, extent
from clueval_xlsx.review.decisions import CaseBook
from clueval_xlsx.review.judged_run import JudgedRun
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.review.vocabulary import SEVERITIES, Effect, Finding, ScoreState, Severity
from clueval_xlsx.scoring.counts import Breakdown, Side, Tally, count
from clueval_xlsx.scoring.schemes import clueval
from clueval_xlsx.scoring.scores import COUNTS, RATES, score_table

UNRATED = ""  # the severity nobody gave
CARRIED = "carried"
# What a case turned out to be, by the effect of its decision; on some sheets it is called otherwise.
_FINDINGS = {
    Effect.NONE: Finding.MODEL_ERROR,
    Effect.DELETE: Finding.GOLD_ERROR,
    Effect.BOUNDARY: Finding.GOLD_ERROR,
    Effect.LABEL: Finding.GOLD_ERROR,
    Effect.ADD: Finding.TRUE_FIND,
    Effect.ACCEPT: Finding.ACCEPTABLE,
    Effect.OPEN: Finding.UNDECIDED,
}
_FINDINGS_OF_SHEETS = {
    (AG, Finding.MODEL_ERROR): Finding.CONFIRMED,
    (UM, Finding.MODEL_ERROR): Finding.RIGHTLY_UNMARKED,
    (UM, Finding.TRUE_FIND): Finding.MISSED_BY_BOTH,
}


def judged_scores(run: JudgedRun) -> pd.DataFrame:
    """One row a state: `raw`, `corrected`, `accepted` (what was judged good enough counts), `forgiven`
    (and misses that were judged harmless do not count against the model)."""
    tally = headline_tally(run.corrected)
    accepted = accepted_tally(tally, run.decisions, run.book)
    harmless = {start for start, severity in _severity_of_spans(run).items() if severity == Severity.HARMLESS}
    forgiven = replace(accepted, gold=_credited(accepted.gold, harmless))
    rows = [_row(headline_tally(run.raw), run.raw)]
    rows += [_row(each, run.corrected) for each in (tally, accepted, forgiven)]
    table = pd.concat(rows, ignore_index=True)
    table.insert(0, "state", [state.value for state in ScoreState])
    return table[["state", *COUNTS, *(f"{name}{end}" for name in RATES for end in ("", "_low", "_high"))]]


def misses_by_severity(run: JudgedRun) -> pd.DataFrame:
    """How many misses are left after correction, acceptable ones not counted, by the severity people gave."""
    gold = accepted_tally(headline_tally(run.corrected), run.decisions, run.book).gold
    missed = gold.position[(gold.credit == 0) & (gold.weight > 0)]
    known = _severity_of_spans(run)
    misses = Counter(str(known.get(start, UNRATED)) for start in missed.tolist())
    names = [*map(str, SEVERITIES), UNRATED]
    return pd.DataFrame({"severity": names, "misses": [misses[name] for name in names]})


def headline_tally(evaluation: Evaluation) -> Tally:
    """The units that the headline counts, without breakdowns."""
    options = evaluation.options
    tallies = clueval.tallies(evaluation.governing)
    tally = next(each for each in tallies if (each.level, each.labelled) == (options.level, options.labelled))
    return replace(tally, by_layers=())


def accepted_tally(tally: Tally, decisions: Mapping[str, Decision], book: CaseBook) -> Tally:
    """What was judged good enough counts as right, on the side where it was judged."""
    accepted = [book.cases[case_id] for case_id, decision in decisions.items() if decision.effect == Effect.ACCEPT]
    starts = {sheet: {case.own[0] for case in accepted if case.sheet == sheet} for sheet in (FN, FP)}
    return replace(tally, gold=_credited(tally.gold, starts[FN]), pred=_credited(tally.pred, starts[FP]))


def _row(tally: Tally, evaluation: Evaluation) -> pd.DataFrame:
    options = evaluation.options
    counts = count([tally], Breakdown.whole(evaluation.pair, evaluation.alignment.discarded))
    return score_table(counts, options.beta, intervals=bool(options.replicates))


def _credited(side: Side, starts: set[int]) -> Side:
    """The side with full credit for the units that begin at these positions; spans of a side never share one."""
    return replace(side, credit=np.where(np.isin(side.position, list(starts)), 1.0, side.credit)) if starts else side


def _severity_of_spans(run: JudgedRun) -> dict[int, Severity]:
    """The severity of gold spans by where they begin now: a corrected span keeps the severity of its case."""
    cases = {case_id: run.book.cases[case_id] for case_id in run.severities}
    severities = {case.own[0]: run.severities[case_id] for case_id, case in cases.items() if case.sheet == FN}
    for change in run.correction.changes:
        if change.new and change.case_id in run.severities:
            severities[extent(change.new)[0]] = run.severities[change.case_id]
    return severities


def ledger_table(
    cases: pd.DataFrame,
    decisions: Mapping[str, Decision],
    in_conflict: set[str],
    settled: Mapping[str, str],
    carried: Mapping[str, str],
) -> pd.DataFrame:
    """One row for each thing that cases turned out to be, with the number of FN and of FP cases.

    Columns AG and UM are added where agreed spans or unmarked passages were to be judged, too, and a column `carried`
    where cases were decided on a twin: how many of all these were.
    """
    counts: Counter[tuple[str, Finding]] = Counter()
    for case_id, sheet in zip(cases["case_id"], cases["sheet"], strict=True):
        if case_id in in_conflict:
            finding = Finding.OPEN
        elif case_id in decisions:
            finding = _FINDINGS[decisions[case_id].effect]
            finding = _FINDINGS_OF_SHEETS.get((sheet, finding), finding)
        else:
            finding = Finding.SETTLED if case_id in settled else Finding.UNJUDGED
        counts[sheet, finding] += 1
        counts[CARRIED, finding] += case_id in carried
    sheets = [sheet for sheet in Sheet if sheet in {FN, FP, *cases["sheet"]}]
    columns = [*sheets, CARRIED] if carried else sheets
    table = {column: [counts[column, finding] for finding in Finding] for column in columns}
    return pd.DataFrame({"entry": [finding.value for finding in Finding], **table})


def judgement_counts(
    cases: pd.DataFrame,
    layers: Sequence[str],
    decided: Mapping[str, str],
    *,
    severities: Mapping[str, Severity],
    records: Sequence[Judgement],
) -> pd.DataFrame:
    """How often each judgement was made: `dimension`, `key` (a layer for labels), `value`, `judgement`, `cases`.

    By judge every judgement counts; by everything else the one that was decided upon: `decided`, a code for a case.
    """
    table = cases[cases["case_id"].isin(list(decided))]
    table = table.assign(
        judgement=table["case_id"].map(decided).astype(object),
        severity=[severities.get(case_id, "") for case_id in table["case_id"]],
    )
    parts = [_count(table, name, None, name) for name in ("sheet", "class", "document", "severity")]
    parts += [_count(table, "label", layer, f"label_{layer}") for layer in layers]
    judged = {(record.judge, record.case_id): record.code for record in records if record.code}
    who = pd.DataFrame(
        [(judge, code) for (judge, _), code in judged.items()], columns=["judge", "judgement"], dtype=object
    )
    return pd.concat([*parts, _count(who, "judge", None, "judge")], ignore_index=True)


def _count(table: pd.DataFrame, dimension: str, key: str | None, column: str) -> pd.DataFrame:
    values = table[column].astype(str).rename("value")
    counted = table.groupby([values, "judgement"], sort=True).size().rename("cases").reset_index()
    if not len(table):
        counted = pd.DataFrame(columns=["value", "judgement", "cases"])
    counted.insert(0, "dimension", dimension)
    counted.insert(1, "key", key)
    return counted.astype({"key": object, "cases": "int64"})
