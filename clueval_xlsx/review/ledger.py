"""Counting judgements: what the cases turned out to be, and who judged what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import pandas as pd

from clueval_xlsx.cases.kinds import AG, FN, FP, UM, Sheet
from clueval_xlsx.review.correction import Decision
from clueval_xlsx.review.judgements import Judgement
from clueval_xlsx.review.vocabulary import Effect, Finding, Severity

CARRIED = "carried"
# What a case turned out to be, by the effect of its decision; the rest has none.
_BY_EFFECT = {
    Effect.NONE: Finding.MODEL_ERROR,
    Effect.DELETE: Finding.GOLD_ERROR,
    Effect.BOUNDARY: Finding.GOLD_ERROR,
    Effect.LABEL: Finding.GOLD_ERROR,
    Effect.ADD: Finding.TRUE_FIND,
    Effect.ACCEPT: Finding.ACCEPTABLE,
    Effect.OPEN: Finding.UNDECIDED,
}


# What it is called on other sheets than those of errors.
_BY_SHEET = {
    (AG, Finding.MODEL_ERROR): Finding.CONFIRMED,
    (UM, Finding.MODEL_ERROR): Finding.RIGHTLY_UNMARKED,
    (UM, Finding.TRUE_FIND): Finding.MISSED_BY_BOTH,
}


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
    through: Counter[str] = Counter()
    there = set(cases["sheet"])
    counts: dict[str, Counter[str]] = {sheet: Counter() for sheet in Sheet if sheet in {FN, FP, *there}}
    for case_id, sheet in zip(cases["case_id"], cases["sheet"], strict=True):
        if case_id in in_conflict:
            entry = Finding.OPEN
        elif case_id in decisions:
            entry = _BY_EFFECT[decisions[case_id].effect]
            entry = _BY_SHEET.get((sheet, entry), entry)
        else:
            entry = Finding.SETTLED if case_id in settled else Finding.UNJUDGED
        counts[sheet][entry] += 1
        through[entry] += case_id in carried
    columns = {sheet: [found[entry] for entry in Finding] for sheet, found in counts.items()}
    if carried:
        columns[CARRIED] = [through[entry] for entry in Finding]
    return pd.DataFrame({"entry": [entry.value for entry in Finding], **columns})


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
    table = cases[cases["case_id"].isin(list(decided))].copy()
    table["judgement"] = [decided[case_id] for case_id in table["case_id"]]
    table["severity"] = [severities.get(case_id, "") for case_id in table["case_id"]]
    parts = []
    for dimension in ("sheet", "class", "document", "severity"):
        parts.append(_count(table, dimension, None, table[dimension]))
    for layer in layers:
        parts.append(_count(table, "label", layer, table[f"label_{layer}"]))
    judged = {(record.judge, record.case_id): record for record in records if record.code}
    who = pd.DataFrame(
        {
            "judge": pd.Series([record.judge for record in judged.values()], dtype=object),
            "judgement": pd.Series([record.code for record in judged.values()], dtype=object),
        }
    )
    parts.append(_count(who, "judge", None, who["judge"]))
    return pd.concat(parts, ignore_index=True)


def _count(table: pd.DataFrame, dimension: str, key: str | None, values: pd.Series) -> pd.DataFrame:
    counted = table.groupby([values.astype(str).rename("value"), "judgement"], sort=True).size()
    frame = (
        counted.rename("cases").reset_index() if len(table) else pd.DataFrame(columns=["value", "judgement", "cases"])
    )
    frame.insert(0, "dimension", dimension)
    frame.insert(1, "key", key)
    return frame.astype({"key": object, "cases": "int64"})
