"""The cases of a run that are to be judged, and whose they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import pandas as pd

from clueval_xlsx.cases.kinds import AG, FN, FP, UM
from clueval_xlsx.cases.samples import (
    Units,
    deal,
    draw,
    draw_agreed,
    make_units,
    select_cases,
    span_components,
    twin_bundles,
    units_of_words,
)
from clueval_xlsx.cases.table import agreed_table
from clueval_xlsx.cases.twins import add_twins
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.scoring.names import MatchClass
from clueval_xlsx.text.strings import IntArray

Tables = Mapping[str, pd.DataFrame]  # sheet -> cases


class AgreedSample(msgspec.Struct, frozen=True):
    """How many of the agreed spans were asked for, drawn, and there."""

    seed: int
    size: int
    drawn: int
    there: int


class CaseSample(msgspec.Struct, frozen=True, omit_defaults=True):
    """The sample of cases and that of agreed spans, each if there is one."""

    seed: int | None = None
    size: int | None = None  # units that were asked for; None: all cases are handed out
    strata: Mapping[str, tuple[int, int]] = {}  # stratum -> (units drawn, units there are)
    agreed: AgreedSample | None = None

    @property
    def is_drawn(self) -> bool:
        """Whether anything was drawn at all."""
        return self.size is not None or self.agreed is not None


@dataclass(frozen=True, eq=False)
class Selection:
    """The cases that are to be judged, whose they are, and how they were drawn."""

    cases: Tables
    hands: Mapping[str, Tables]  # by judge; empty: one workbook for all
    sample: CaseSample

    @property
    def team(self) -> tuple[str, ...]:
        """Everybody who gets a workbook."""
        return tuple(self.hands)


def select(
    evaluation: Evaluation,
    *,
    judges: Sequence[str] = (),
    double: float = 0.0,
    sample: int | None = None,
    agreed: int = 0,
    seed: int = 0,
) -> Selection:
    """Choose the cases to judge and deal them out; linked cases of both sheets always go together.

    `double` is the share that two people judge. Contexts are made for the cases that were chosen, and no others.
    """
    tables: dict[str, pd.DataFrame] = dict(zip((FN, FP), evaluation.bare_cases, strict=True))
    units = evaluation_units(evaluation)
    drawn = draw(units, len(units) if sample is None else sample, seed)
    note = CaseSample()
    if sample is None:
        tables = dict(zip((FN, FP), evaluation.case_tables, strict=True))
    else:
        note = CaseSample(seed, sample, drawn.strata)
        chosen = set(np.flatnonzero(drawn.chosen).tolist())
        tables = {sheet: evaluation.with_contexts(select_cases(tables[sheet], units, chosen)) for sheet in tables}
    if evaluation.unmarked_cases is not None:
        tables[UM] = evaluation.with_contexts(evaluation.unmarked_cases)
    if agreed:
        there = agreed_cases(evaluation)
        drawn_rows = draw_agreed(np.arange(len(there)), agreed, seed)
        tables[AG] = evaluation.with_contexts(there.iloc[drawn_rows].reset_index(drop=True))
        note = CaseSample(note.seed, note.size, note.strata, AgreedSample(seed, agreed, len(drawn_rows), len(there)))
    if not judges:
        return Selection(tables, {}, note)
    bundles = twin_bundles(units, evaluation.bare_cases)
    dealt = deal(units, drawn.chosen, judges, double=double, seed=seed, bundles=bundles)
    hands: dict[str, dict[str, pd.DataFrame]] = {
        name: {sheet: select_cases(tables[sheet], units, dealt[name]) for sheet in (FN, FP)} for name in judges
    }
    if UM in tables:
        alike = units_of_words(tables[UM], evaluation.pair.layers[0])
        for name, own in deal(alike, np.ones(len(alike), dtype=bool), judges, double=double, seed=seed).items():
            hands[name][UM] = select_cases(tables[UM], alike, own)
    if agreed:
        for name, table in zip(judges, _dealt_by_group(tables[AG], len(judges)), strict=True):
            hands[name][AG] = table
    return Selection(tables, hands, note)


def _dealt_by_group(cases: pd.DataFrame, people: int) -> list[pd.DataFrame]:
    """Shares of cases that are as even as groups of twins allow, each group in one hand."""
    shares: list[list[int]] = [[] for _ in range(people)]
    groups = cases.groupby("twin_group", sort=False).indices.values()
    for rows in sorted((rows.tolist() for rows in groups), key=len, reverse=True):
        min(shares, key=len).extend(rows)
    return [cases.iloc[sorted(rows)].reset_index(drop=True) for rows in shares]


def evaluation_units(evaluation: Evaluation) -> Units:
    """The units of a run's cases."""
    pair = evaluation.pair
    components = span_components(pair.gold.spans, pair.pred.spans, pair.corpus.documents.start)
    return make_units(
        dict(zip((FN, FP), evaluation.bare_cases, strict=True)),
        dict(zip((FN, FP), components, strict=True)),
        pair.layers[0],
    )


def agreed_cases(evaluation: Evaluation) -> pd.DataFrame:
    """All agreed spans as cases with their twins, without contexts: what the agreed sample is drawn from."""
    rows, by = agreed_rows(evaluation), evaluation.options.by
    return add_twins(agreed_table(rows, evaluation.strict.gold, evaluation.pair.corpus, metadata=by))


def agreed_rows(evaluation: Evaluation) -> IntArray:
    """Rows of the gold spans that the model marks exactly alike and that are no cases (for their label, say)."""
    return np.flatnonzero((evaluation.strict.gold.classes == MatchClass.EXACT) & ~evaluation.errors[0])
