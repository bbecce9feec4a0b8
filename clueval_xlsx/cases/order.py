"""The order in which cases are judged: as they stand, by label, or what is most likely wrong in gold first.

Among the suspicious ones a random sample is scattered, by which whoever stops early learns about the rest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import pandas as pd

from clueval_xlsx.cases.kinds import FN, FP, Sheet
from clueval_xlsx.scoring.counts import FloatArray
from clueval_xlsx.text.strings import BoolArray, IntArray

LEAST_SAMPLE, SAMPLE_SHARE = 100, 0.1  # of the units; the larger of the two is drawn
SCATTERED_OVER = 0.2  # of a sheet, from its top


class OrderKind(StrEnum):
    """By what cases are ordered."""

    PLACE = "place"
    SUSPICION = "suspicion"
    LABEL = "label"


@dataclass(frozen=True, eq=False)
class SheetOrder:
    """The order of one sheet; cases are counted from 0 in the order of the text.

    `shown` lists them as they are shown, `ranked` as suspicion alone ranks them; `random` are those that were drawn.
    """

    shown: IntArray
    ranked: IntArray
    random: BoolArray


@dataclass(frozen=True, eq=False)
class CaseOrder:
    """The order of the cases of a run."""

    kind: OrderKind
    sheets: Mapping[Sheet, SheetOrder]

    def apply(self, cases: pd.DataFrame, sheet: Sheet) -> pd.DataFrame:
        """Cases of a sheet, which stand in the order of the text, as they are shown, and numbered so."""
        shown = self.sheets[sheet].shown
        return cases.iloc[shown].reset_index(drop=True).assign(number=np.arange(1, len(cases) + 1))


def order_by_label(labels: Mapping[Sheet, IntArray]) -> CaseOrder:
    """Cases of one label together, in the order of the text; `labels` are numbered as they are to follow each other."""
    orders = {}
    for sheet, codes in labels.items():
        shown = np.argsort(codes, kind="stable")
        orders[sheet] = SheetOrder(shown, shown, np.zeros(len(codes), dtype=bool))
    return CaseOrder(OrderKind.LABEL, orders)


def order_by_suspicion(scores: Mapping[Sheet, FloatArray], units: Mapping[Sheet, IntArray], seed: int) -> CaseOrder:
    """The most suspicious cases first, and a random sample of units scattered over the first fifth of each sheet.

    `units` numbers what cases belong to: linked ones share a number, are as suspicious as the most suspicious of
    them, and are drawn together.
    """
    generator = np.random.default_rng(seed)
    owners, unit = np.unique(np.concatenate([units[FN], units[FP]]), return_inverse=True)
    highest = np.full(len(owners), -np.inf)
    np.maximum.at(highest, unit, np.concatenate([scores[FN], scores[FP]]))
    own = {FN: unit[: len(units[FN])], FP: unit[len(units[FN]) :]}
    missed = np.zeros(len(owners), dtype=bool)
    missed[own[FN]] = True
    drawn = _draw(missed, generator)
    orders = {}
    for sheet in (FN, FP):
        ranked = np.argsort(-highest[own[sheet]], kind="stable")
        random = drawn[own[sheet]]
        orders[sheet] = SheetOrder(_scattered(ranked, random, generator), ranked, random)
    return CaseOrder(OrderKind.SUSPICION, orders)


def sample_size(units: int) -> int:
    """How many units are drawn.

    >>> sample_size(60), sample_size(400), sample_size(2000)
    (60, 100, 200)
    """
    return min(max(LEAST_SAMPLE, math.ceil(SAMPLE_SHARE * units)), units)


def _draw(missed: BoolArray, generator: np.random.Generator) -> BoolArray:
    """The units that are drawn, those with a missed span and the others in proportion."""
    size = sample_size(len(missed))
    drawn = np.zeros(len(missed), dtype=bool)
    of_missed = round(size * missed.mean()) if len(missed) else 0
    for members, count in ((np.flatnonzero(missed), of_missed), (np.flatnonzero(~missed), size - of_missed)):
        drawn[generator.choice(members, size=min(count, len(members)), replace=False)] = True
    return drawn


def _scattered(ranked: IntArray, random: BoolArray, generator: np.random.Generator) -> IntArray:
    """The ranked cases with the random ones at random places of the first fifth, or of twice their number."""
    size, count = len(ranked), int(random.sum())
    over = min(max(math.ceil(SCATTERED_OVER * size), 2 * count), size)
    shown = np.full(size, -1, dtype=np.int64)
    shown[generator.choice(over, size=count, replace=False)] = generator.permutation(np.flatnonzero(random))
    shown[shown < 0] = ranked[~random[ranked]]
    return shown
