"""The cases of a run that are to be judged, and whose they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from clueval_xlsx.cases.kinds import AG, FN, FP
from clueval_xlsx.cases.samples import (
    Units,
    deal,
    draw,
    draw_agreed,
    make_units,
    select_cases,
    span_components,
)
from clueval_xlsx.cases.table import agreed_table
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.review.sample import AgreedSample, Sample
from clueval_xlsx.scoring.levels import MatchClass
from clueval_xlsx.text.strings import IntArray

Tables = Mapping[str, pd.DataFrame]  # sheet -> cases


@dataclass(frozen=True, eq=False)
class Selection:
    """The cases that are to be judged, whose they are, and how they were drawn."""

    cases: Tables
    hands: Mapping[str, Tables]  # by judge; empty: one workbook for all
    sample: Sample

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
    note = Sample()
    if sample is None:
        tables = dict(zip((FN, FP), evaluation.cases, strict=True))
    else:
        note = Sample(seed, sample, drawn.strata)
        chosen = set(np.flatnonzero(drawn.chosen).tolist())
        tables = {sheet: evaluation.with_contexts(select_cases(tables[sheet], units, chosen)) for sheet in tables}
    if agreed:
        there = agreed_rows(evaluation)
        rows = draw_agreed(there, agreed, seed)
        table = agreed_table(rows, evaluation.strict.gold, evaluation.pair.corpus, metadata=evaluation.options.by)
        tables[AG] = evaluation.with_contexts(table)
        note = Sample(note.seed, note.size, note.strata, AgreedSample(seed, agreed, len(rows), len(there)))
    if not judges:
        return Selection(tables, {}, note)
    dealt = deal(units, drawn.chosen, judges, double=double, seed=seed)
    hands: dict[str, dict[str, pd.DataFrame]] = {
        name: {sheet: select_cases(tables[sheet], units, dealt[name]) for sheet in (FN, FP)} for name in judges
    }
    if agreed:
        for place, name in enumerate(judges):
            hands[name][AG] = tables[AG].iloc[place :: len(judges)].reset_index(drop=True)
    return Selection(tables, hands, note)


def evaluation_units(evaluation: Evaluation) -> Units:
    """The units of a run's cases."""
    pair = evaluation.pair
    components = span_components(pair.gold.spans, pair.pred.spans, pair.corpus.documents.start)
    return make_units(
        dict(zip((FN, FP), evaluation.bare_cases, strict=True)),
        dict(zip((FN, FP), components, strict=True)),
        pair.layers[0],
    )


def agreed_rows(evaluation: Evaluation) -> IntArray:
    """Rows of the gold spans that the model marks exactly alike and that are no cases (for their label, say)."""
    return np.flatnonzero((evaluation.strict.gold.classes == MatchClass.EXACT) & ~evaluation.errors[0])
