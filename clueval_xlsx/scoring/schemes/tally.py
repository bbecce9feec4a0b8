"""What every scheme returns: the units it counts on each side, and how much credit each one gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from clueval_xlsx.text.strings import BoolArray, IntArray

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Side:
    """The units that one side contributes: spans, tokens, documents, or stretches of characters.

    `position` (a token) tells document and metadata, `labels[layer]` the unit's label as a code (-1: none) in
    the pair's shared vocabulary of that layer (of all that is listed, if the tally counts it `as_listed`), `credit`
    how much of it counts as right, `weight` how many units the row stands for (0: it is not counted). `outcome`
    indexes the tally's names of what can happen to a unit; `relaxed` marks the units that are right only because
    labels were declared equivalent.
    """

    position: IntArray
    labels: Mapping[str, IntArray]
    credit: FloatArray
    weight: FloatArray
    outcome: IntArray | None = None
    relaxed: BoolArray | None = None

    @classmethod
    def of(
        cls,
        position: IntArray,
        labels: Mapping[str, IntArray],
        credit: npt.ArrayLike,
        weight: npt.ArrayLike | None = None,
        *,
        outcome: IntArray | None = None,
        relaxed: BoolArray | None = None,
    ) -> Side:
        """Build a side; without weights every unit counts once."""
        credit_array = np.asarray(credit, dtype=np.float64)
        weights = np.ones(len(credit_array)) if weight is None else np.asarray(weight, dtype=np.float64)
        return cls(position, labels, credit_array, weights, outcome=outcome, relaxed=relaxed)

    @classmethod
    def empty(cls) -> Side:
        """A side that contributes nothing."""
        return cls.of(np.empty(0, dtype=np.int64), {}, np.empty(0))


Sides = tuple[Side, Side]  # gold, pred


@dataclass(frozen=True, eq=False)
class Tally:
    """One way of counting: recall comes from `gold`, precision from `pred`.

    `label_sides` and `group_sides` replace the sides where rows of labels, or of a group key, count other
    units than the overall row does. `one_sided` says that there is nothing to count on the pred side, so that
    precision is not defined; its interval is then an exact binomial one. A tally that is not `available` still
    gets its row, with nothing defined.
    """

    scheme: str
    gold: Side
    pred: Side
    variant: str | None = None
    level: str | None = None
    labelled: str | None = None
    by_layers: tuple[str, ...] = ()  # layers whose labels this tally is broken down by
    outcomes: tuple[str, ...] = ()
    outcomes_of_pred: tuple[str, ...] = ()  # those counted on the pred side; all others on the gold side
    label_sides: Sides | None = None
    group_sides: Mapping[str, Sides] = field(default_factory=dict)
    one_sided: bool = False
    available: bool = True
    optional: bool = False  # has a row only if it counts anything
    as_listed: bool = False  # counts the annotations as they are listed, which may have more labels than the spans

    @property
    def shown(self) -> bool:
        """Whether it has rows in the score table."""
        return not self.optional or len(self.gold.position) > 0

    @property
    def sides(self) -> Sides:
        """Gold and pred."""
        return self.gold, self.pred
