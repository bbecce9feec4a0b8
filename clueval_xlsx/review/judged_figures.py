"""What judging came to in figures: the headline after it, misses by severity, ledger, counts, agreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from clueval_xlsx.cases.kinds import AG, FN, FP, UM, Sheet
from clueval_xlsx.cases.twins import TwinGroups
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.review.correction import extent
from clueval_xlsx.review.deciding import Decided, claimed_twins
from clueval_xlsx.review.judgements import SEVERITIES, Effect, Finding, Judgement, ScoreState, Severity
from clueval_xlsx.scoring.counts import Breakdown, Side, Tally, count
from clueval_xlsx.scoring.schemes import clueval
from clueval_xlsx.scoring.scores import COUNTS, RATES, score_table

RAW, COHEN, FLEISS, ALPHA = "raw", "cohen", "fleiss", "krippendorff"
Codes = npt.NDArray[np.int64]  # cases by judges; -1: not judged

AGREEMENT_COLUMNS = ("sheet", "layer", "label", "measure", "judges", "cases", "value")
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


def judged_scores(run: Decided) -> pd.DataFrame:
    """One row a state: `raw`, `corrected`, `accepted` (what was judged good enough counts), `forgiven`
    (and misses that were judged harmless do not count against the model)."""
    tally = headline_tally(run.corrected)
    accepted = accepted_tally(tally, run)
    harmless = {start for start, severity in _severity_of_spans(run).items() if severity == Severity.HARMLESS}
    forgiven = replace(accepted, gold=_credited(accepted.gold, harmless))
    rows = [_row(headline_tally(run.raw), run.raw)]
    rows += [_row(each, run.corrected) for each in (tally, accepted, forgiven)]
    table = pd.concat(rows, ignore_index=True)
    table.insert(0, "state", [state.value for state in ScoreState])
    return table[["state", *COUNTS, *(f"{name}{end}" for name in RATES for end in ("", "_low", "_high"))]]


def misses_by_severity(run: Decided) -> pd.DataFrame:
    """How many misses are left after correction, acceptable ones not counted, by the severity people gave."""
    gold = accepted_tally(headline_tally(run.corrected), run).gold
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


def accepted_tally(tally: Tally, run: Decided) -> Tally:
    """What was judged good enough counts as right, on the side where it was judged."""
    starts: dict[str, set[int]] = {sheet: set() for sheet in Sheet}
    for case_id, decision in run.decisions.items():
        if decision.effect == Effect.ACCEPT:
            case = run.book.cases[case_id]
            starts[case.sheet].add(case.own[0])
    return replace(tally, gold=_credited(tally.gold, starts[FN]), pred=_credited(tally.pred, starts[FP]))


def _row(tally: Tally, evaluation: Evaluation) -> pd.DataFrame:
    options = evaluation.options
    counts = count([tally], Breakdown.whole(evaluation.pair, evaluation.alignment.discarded))
    return score_table(counts, options.beta, intervals=bool(options.replicates))


def _credited(side: Side, starts: set[int]) -> Side:
    """The side with full credit for the units that begin at these positions; spans of a side never share one."""
    return replace(side, credit=np.where(np.isin(side.position, list(starts)), 1.0, side.credit)) if starts else side


def _severity_of_spans(run: Decided) -> dict[int, Severity]:
    """The severity of gold spans by where they begin now: a corrected span keeps the severity of its case."""
    cases = {case_id: run.book.cases[case_id] for case_id in run.severities}
    severities = {case.own[0]: run.severities[case_id] for case_id, case in cases.items() if case.sheet == FN}
    for change in run.correction.changes:
        if change.new and change.case_id in run.severities:
            severities[extent(change.new)[0]] = run.severities[change.case_id]
    return severities


def _finding(run: Decided, case_id: str, sheet: Sheet) -> Finding:
    """What a case turned out to be; a correction that changes nothing is no error of the reference."""
    decision = run.decisions.get(case_id)
    if decision is None:
        return Finding.SETTLED if case_id in run.settled else Finding.UNJUDGED
    corrects = decision.effect in {Effect.BOUNDARY, Effect.LABEL}
    found = _FINDINGS[decision.effect] if decision.modifies or not corrects else Finding.MODEL_ERROR
    return _FINDINGS_OF_SHEETS.get((sheet, found), found)


def ledger_table(run: Decided) -> pd.DataFrame:
    """One row for each thing that cases turned out to be, with the number of FN and of FP cases.

    Columns AG and UM are added where agreed spans or unmarked passages were to be judged, too, and a column `carried`
    where cases were decided on a twin: how many of all these were.
    """
    counts: Counter[tuple[str, Finding]] = Counter()
    cases = run.book.table
    disputed = set(run.cases_in_conflict)
    for case_id, sheet in zip(cases["case_id"], cases["sheet"], strict=True):
        entry = Finding.OPEN if case_id in disputed else _finding(run, case_id, Sheet(sheet))
        counts[sheet, entry] += 1
        counts[CARRIED, entry] += case_id in run.carried
    sheets = [sheet for sheet in Sheet if sheet in {FN, FP, *cases["sheet"]}]
    columns = [*sheets, CARRIED] if run.carried else sheets
    table = {column: [counts[column, entry] for entry in Finding] for column in columns}
    return pd.DataFrame({"entry": [entry.value for entry in Finding], **table})


# How far judges agree: raw agreement, Cohen's kappa for each pair, Fleiss' kappa, Krippendorff's alpha


def agreement_of(run: Decided) -> pd.DataFrame:
    """Measures of agreement; empty if nobody judged the same case, or the same twins."""
    first = [record for record in run.records if record.code and not record.final]
    units = [(record.case_id, record) for record in first]
    cases, layers = run.book.table, run.raw.pair.layers
    columns = [cases[f"label_{layer}"].tolist() for layer in layers]
    labels = {
        case_id: {layer: label for layer, label in zip(layers, own, strict=True) if label}
        for case_id, *own in zip(cases["case_id"].tolist(), *columns, strict=True)
    }
    for name, record in group_units(first, run.book.twins):
        units.append((name, record))
        labels[name] = labels[record.case_id]
    rows = {(record.judge, unit): (unit, record.sheet, record.judge, record.code) for unit, record in units}
    judged = pd.DataFrame(list(rows.values()), columns=["case_id", "sheet", "judge", "code"])
    return agreement_table(judged, labels)


def group_units(records: Sequence[Judgement], twins: TwinGroups) -> list[tuple[str, Judgement]]:
    """One unit of agreement for each group that judges decided through different twins: its name, who said what.

    Two people who judged the same case are a direct pair already, and who decided a group in two ways is left out.
    """
    claims: dict[tuple[str, ...], dict[str, list[Judgement]]] = {}
    judged: dict[str, set[str]] = {}
    for record in records:
        judged.setdefault(record.judge, set()).add(record.case_id)
        if claimed_twins(record, twins):
            claims.setdefault(twins.group(record.case_id), {}).setdefault(record.judge, []).append(record)
    found: list[tuple[str, Judgement]] = []
    for members, by_judge in claims.items():
        chosen: list[Judgement] = []
        for judge, said in by_judge.items():
            reached = {said[0].case_id, *claimed_twins(said[0], twins)}
            fits = len({record.code for record in said}) == 1
            for other in chosen:
                direct = judged[judge] & judged[other.judge] & set(members)
                fits = fits and not direct and bool(reached & {other.case_id, *claimed_twins(other, twins)})
            if fits:
                chosen.append(said[0])
        if len(chosen) > 1:
            found += [(f"twins of {members[0]}", record) for record in chosen]
    return found


def agreement_table(judged: pd.DataFrame, labels: Mapping[str, Mapping[str, str]]) -> pd.DataFrame:
    """All measures: over everything, by sheet, and by label.

    `judged` has the columns `case_id`, `sheet`, `judge`, `code`, each case once for each judge. `labels`
    gives the labels of each case: `{case_id: {"category": "PERSON"}}`. Only cases that two people judged count.
    A measure that is not defined (one judge, or one judgement only) is missing.
    """
    rows: list[tuple[object, ...]] = [(None, None, None, *measured) for measured in _measures(judged)]
    for sheet, part in judged.groupby("sheet", sort=True):
        rows += [(sheet, None, None, *measured) for measured in _measures(part)]
    for layer in dict.fromkeys(layer for own in labels.values() for layer in own):
        names = pd.Series([labels.get(case, {}).get(layer, "") for case in judged["case_id"]], index=judged.index)
        for label, part in judged[names != ""].groupby(names[names != ""], sort=True):
            rows += [(None, layer, label, *measured) for measured in _measures(part)]
    return pd.DataFrame(rows, columns=list(AGREEMENT_COLUMNS))


def _measures(judged: pd.DataFrame) -> list[tuple[str, str, int, float]]:
    """Each measure, its judges, the number of cases, and its value."""
    table = judged.pivot(index="case_id", columns="judge", values="code")
    table = table[table.notna().sum(axis=1) >= 2]
    if not len(table):
        return []
    names = table.columns.tolist()
    codes: Codes = pd.factorize(table.to_numpy(object).ravel(), sort=True)[0].reshape(table.shape)
    whole = codes[(codes >= 0).all(axis=1)]
    everyone = ", ".join(names)
    rows = [
        (RAW, everyone, len(codes), raw_agreement(codes)),
        (ALPHA, everyone, len(codes), krippendorff_alpha(codes)),
    ]
    if len(whole):
        rows.append((FLEISS, everyone, len(whole), fleiss_kappa(whole)))
    for first, second in combinations(range(len(names)), 2):
        both = codes[(codes[:, first] >= 0) & (codes[:, second] >= 0)][:, [first, second]]
        if len(both):
            pair = f"{names[first]}, {names[second]}"
            if len(names) > 2:
                rows.append((RAW, pair, len(both), raw_agreement(both)))
            rows.append((COHEN, pair, len(both), cohen_kappa(both[:, 0], both[:, 1])))
    return rows


def raw_agreement(codes: Codes) -> float:
    """The share of agreeing pairs of judges, averaged over cases that two or more judged.

    >>> raw_agreement(np.array([[0, 0, 1], [1, 1, -1]]))
    0.6666666666666666
    """
    counts = _counts(codes)
    judges = counts.sum(axis=1)
    several = judges >= 2
    if not several.any():
        return float("nan")
    pairs = (counts * (counts - 1)).sum(axis=1)[several] / (judges * (judges - 1))[several]
    return float(pairs.mean())


def cohen_kappa(first: Codes, second: Codes) -> float:
    """Agreement of two judges beyond chance; not defined if both used one judgement only.

    >>> round(cohen_kappa(np.array([0] * 25 + [1] * 25), np.array([0] * 20 + [1] * 5 + [0] * 10 + [1] * 15)), 3)
    0.4
    """
    both = np.stack([first, second], axis=1)
    shares = [_counts(both[:, [judge]], int(both.max(initial=0))).mean(axis=0) for judge in (0, 1)]
    return _beyond_chance(raw_agreement(both), float((shares[0] * shares[1]).sum()))


def fleiss_kappa(codes: Codes) -> float:
    """Agreement of several judges who judged every case; not defined for fewer than two of them."""
    if not len(codes) or codes.shape[1] < 2:
        return float("nan")
    shares = _counts(codes).sum(axis=0) / codes.size
    return _beyond_chance(raw_agreement(codes), float((shares**2).sum()))


def _counts(codes: Codes, largest: int | None = None) -> Codes:
    """How often each code was given to each case."""
    values = np.arange((codes.max(initial=0) if largest is None else largest) + 1)
    counts: Codes = (codes[:, :, None] == values).sum(axis=1)
    return counts


def _beyond_chance(observed: float, expected: float) -> float:
    return (observed - expected) / (1 - expected) if expected < 1 else float("nan")


def krippendorff_alpha(codes: Codes) -> float:
    """Krippendorff's alpha for nominal data; gaps are allowed."""
    import krippendorff

    known = np.unique(codes[codes >= 0])
    if len(known) < 2:
        return float("nan")
    data = np.where(codes < 0, np.nan, codes).T
    return float(krippendorff.alpha(reliability_data=data, level_of_measurement="nominal"))
