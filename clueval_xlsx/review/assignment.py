"""Which cases go to whom: units of linked cases, stratified samples, and fair shares for several annotators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from clueval_xlsx.cases.even_shares import fair_shares
from clueval_xlsx.cases.kinds import AG, FN, FP
from clueval_xlsx.cases.table import agreed_table
from clueval_xlsx.corpus.merging import overlap_components
from clueval_xlsx.corpus.spans import positions
from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.exceptions import OptionError
from clueval_xlsx.scoring.matching import EXACT
from clueval_xlsx.text.strings import BoolArray, IntArray

_RARE = "rare"
_LEAST_IN_STRATUM = 2  # a stratum with one drawn unit tells nothing about its spread


@dataclass(frozen=True, eq=False)
class Units:
    """What is drawn and handed out together: the overlap components of both sides' spans that hold cases.

    `cases` has one row a case with its `unit` (an index into the other arrays); `component` is the number of the
    unit's overlap component, by which spans of both sides are counted.
    """

    cases: pd.DataFrame  # case_id, sheet, unit
    component: IntArray
    stratum: tuple[str, ...]
    document: tuple[str, ...]
    label: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.component)


@dataclass(frozen=True)
class Draw:
    """A stratified sample of units: which, and how many of how many in each stratum."""

    chosen: BoolArray
    stratum: tuple[str, ...]  # of each unit, rare ones joined
    strata: Mapping[str, tuple[int, int]]  # stratum -> (units drawn, units there are)


def span_components(gold: pd.DataFrame, pred: pd.DataFrame, documents: IntArray) -> tuple[IntArray, IntArray]:
    """The overlap component of each gold and of each predicted span."""
    start = np.concatenate([positions(gold)[0], positions(pred)[0]])
    end = np.concatenate([positions(gold)[1], positions(pred)[1]])
    component = overlap_components(start, end, documents)
    return component[: len(gold)], component[len(gold) :]


def make_units(tables: Mapping[str, tuple[pd.DataFrame, IntArray]], layer: str) -> Units:
    """Group cases into units. `tables` gives the cases of each sheet with the component of each case.

    The stratum of a unit is label × class of its first case, missed ones first.
    """
    parts = []
    for order, (sheet, (cases, component)) in enumerate(tables.items()):
        parts.append(
            pd.DataFrame(
                {
                    "case_id": cases["case_id"].to_numpy(object),
                    "sheet": sheet,
                    "order": order,
                    "component": component,
                    "label": cases[f"label_{layer}"].to_numpy(object),
                    "class": cases["class"].to_numpy(object),
                    "document": cases["document"].to_numpy(object),
                }
            )
        )
    rows = pd.concat(parts, ignore_index=True).sort_values(["component", "order"], kind="stable", ignore_index=True)
    codes, components = pd.factorize(rows["component"])
    first = rows.drop_duplicates("component")
    return Units(
        rows.assign(unit=codes)[["case_id", "sheet", "unit"]],
        np.asarray(components, dtype=np.int64),
        tuple(
            f"{sheet} {label} {kind}"
            for sheet, label, kind in zip(first["sheet"], first["label"], first["class"], strict=True)
        ),
        tuple(first["document"]),
        tuple(first["label"]),
    )


def draw(units: Units, size: int, seed: int) -> Draw:
    """Draw a stratified sample: every stratum in proportion, none with fewer than two units if it has them.

    Where a sample is too small for that, the rarest strata are drawn from together.
    """
    generator = np.random.default_rng(seed)
    strata = _pooled(pd.Series(units.stratum, dtype=object), size)
    codes, names = pd.factorize(strata, sort=True)
    there = np.bincount(codes, minlength=len(names)).astype(np.int64)
    wanted = _allocate(there, min(size, len(units)))
    chosen = np.zeros(len(units), dtype=bool)
    for code, count in enumerate(wanted.tolist()):
        members = np.flatnonzero(codes == code)
        chosen[generator.choice(members, size=count, replace=False)] = True
    counted = {str(name): (int(n), int(total)) for name, n, total in zip(names, wanted, there, strict=True)}
    return Draw(chosen, tuple(strata), counted)


def _pooled(strata: pd.Series, size: int) -> pd.Series:
    """Strata of which two units can be drawn each with half of the sample; the rarest are joined until that is so."""
    counts = strata.value_counts().sort_index().sort_values(kind="stable")
    needed = counts.clip(upper=_LEAST_IN_STRATUM)
    rare = 0
    while rare < len(counts) and needed.iloc[rare:].sum() + (_LEAST_IN_STRATUM if rare else 0) > size / 2:
        rare += 1
    return strata.where(~strata.isin(counts.index[:rare]), _RARE) if rare > 1 else strata


def _allocate(there: IntArray, size: int) -> IntArray:
    """How many to draw from each stratum: at least two where there are two, the rest in proportion."""
    least = np.minimum(there, _LEAST_IN_STRATUM)
    if size >= there.sum():
        return there
    if least.sum() > size:
        least = np.minimum(there, 1) if len(there) <= size else np.zeros_like(there)
    share = (there - least) * ((size - least.sum()) / max((there - least).sum(), 1))
    wanted = least + np.floor(share).astype(np.int64)
    left = size - int(wanted.sum())
    order = np.argsort(-(share - np.floor(share)), kind="stable")
    order = order[(wanted < there)[order]]
    wanted[order[:left]] += 1
    return wanted


def deal(units: Units, chosen: BoolArray, annotators: Sequence[str], overlap: float, seed: int) -> dict[str, set[int]]:
    """Deal units to annotators: each label and each document evenly to within one, the given share to two people.

    >>> units = Units(pd.DataFrame(), np.arange(4), ("a",) * 4, ("d1", "d1", "d2", "d2"), ("PER",) * 4)
    >>> hands = deal(units, np.ones(4, bool), ["anna", "ben"], 0.5, seed=1)
    >>> sorted(len(hand) for hand in hands.values()), len(hands["anna"] & hands["ben"])
    ([3, 3], 2)
    """
    generator = np.random.default_rng(seed)
    indices = np.flatnonzero(chosen)
    shuffled = indices[generator.permutation(len(indices))]
    order = sorted(shuffled.tolist(), key=lambda unit: (units.label[unit], units.document[unit]))
    hands: dict[str, set[int]] = {name: set() for name in annotators}
    labels, documents = ([names[unit] for unit in order] for names in (units.label, units.document))
    people = generator.permutation(len(annotators))
    for unit, share in zip(order, fair_shares(labels, documents, len(annotators)), strict=True):
        hands[annotators[people[share]]].add(unit)
    twice = round(overlap * len(order)) if len(annotators) > 1 else 0
    # One unit of each stretch of the same order, so that labels and documents are spread here, too; within a
    # stretch one of whoever has most to do, so that it falls to somebody who has less.
    for stretch in np.array_split(np.array(order, dtype=np.int64), twice) if twice else []:
        unit = max(stretch.tolist(), key=lambda unit: max(len(hand) for hand in hands.values() if unit in hand))
        others = [name for name in annotators if unit not in hands[name]]
        hands[min(others, key=lambda name: len(hands[name]))].add(unit)
    return hands


def select_cases(cases: pd.DataFrame, units: Units, chosen: set[int]) -> pd.DataFrame:
    """The cases of one sheet that belong to the chosen units, in the order of the sheet."""
    wanted = set(units.cases.loc[units.cases["unit"].isin(chosen), "case_id"])
    return cases[cases["case_id"].isin(wanted)].reset_index(drop=True)


def agreed_spans(evaluation: Evaluation) -> IntArray:
    """Rows of the gold spans that the model marks exactly alike and that are no cases (for their label, say)."""
    return np.flatnonzero((evaluation.gold_match["class"] == EXACT).to_numpy() & ~evaluation.errors[0])


def draw_agreed(rows: IntArray, size: int, seed: int) -> IntArray:
    """So many of the agreed spans, drawn at random."""
    if size >= len(rows):
        return rows
    return np.sort(np.random.default_rng(seed).choice(rows, size=size, replace=False))


@dataclass(frozen=True, eq=False)
class Selection:
    """The cases that are to be judged, whose they are, and how they were drawn."""

    cases: Mapping[str, pd.DataFrame]  # sheet -> cases
    hands: Mapping[str, Mapping[str, pd.DataFrame]]  # annotator -> sheet -> cases; empty: one workbook for all
    sample: Mapping[str, Any]  # for the manifest: seed, strata, agreed

    @property
    def team(self) -> tuple[str, ...]:
        """Everybody who gets a workbook."""
        return tuple(self.hands)


def select(
    evaluation: Evaluation,
    *,
    annotators: Sequence[str] = (),
    overlap: float = 0.0,
    sample: int | None = None,
    agreed: int = 0,
    seed: int = 0,
) -> Selection:
    """Choose the cases to judge and deal them out; linked cases of both sheets always go together."""
    tables = dict(zip((FN, FP), evaluation.bare_cases, strict=True))
    pair = evaluation.pair
    units = evaluation_units(evaluation, tables)
    drawn = draw(units, len(units) if sample is None else sample, seed)
    note: dict[str, Any] = {}
    if sample is not None:
        note = {"seed": seed, "size": sample, "strata": {name: list(pair) for name, pair in drawn.strata.items()}}
        tables = {name: select_cases(table, units, set(np.flatnonzero(drawn.chosen))) for name, table in tables.items()}
        tables = {name: evaluation.with_contexts(table) for name, table in tables.items()}
    else:
        tables = dict(zip((FN, FP), evaluation.cases, strict=True))
    if agreed:
        there = agreed_spans(evaluation)
        rows = draw_agreed(there, agreed, seed)
        table = agreed_table(rows, pair.gold.spans, pair.pred.spans, pair.corpus, metadata=evaluation.options.by)
        tables[AG] = evaluation.with_contexts(table)
        note["agreed"] = {"seed": seed, "size": agreed, "drawn": len(rows), "there": len(there)}
    if not annotators:
        return Selection(tables, {}, note)
    dealt = deal(units, drawn.chosen, annotators, overlap, seed)
    hands: dict[str, dict[str, pd.DataFrame]] = {
        name: {sheet: select_cases(tables[sheet], units, dealt[name]) for sheet in (FN, FP)} for name in annotators
    }
    if agreed:
        for place, name in enumerate(annotators):
            hands[name][AG] = tables[AG].iloc[place :: len(annotators)].reset_index(drop=True)
    return Selection(tables, hands, note)


def evaluation_units(evaluation: Evaluation, tables: Mapping[str, pd.DataFrame]) -> Units:
    """The units of a run's cases."""
    pair = evaluation.pair
    sides = span_components(pair.gold.spans, pair.pred.spans, pair.corpus.documents.start)
    starts = (positions(pair.gold.spans)[0], positions(pair.pred.spans)[0])
    found = {}
    for sheet, component, start in zip((FN, FP), sides, starts, strict=True):
        cases = tables[sheet]
        found[sheet] = (cases, component[np.searchsorted(start, cases["start"].to_numpy(np.int64))])
    return make_units(found, pair.layers[0])


def parse_share(text: str) -> float:
    """A share such as `20%` or `0.2`.

    >>> parse_share("20%"), parse_share("0.5")
    (0.2, 0.5)
    """
    try:
        value = float(text.strip().removesuffix("%")) / (100 if text.strip().endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 1:
        raise OptionError(f"{text!r} is not a share. Allowed: 0 % to 100 %, such as 20% or 0.2.")
    return value
