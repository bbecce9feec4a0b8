"""What every scheme returns: the units it counts on each side, and how much credit each one gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from clueval_xlsx.strings import IntArray

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Side:
    """The units that one side contributes: spans, or stretches of tokens or characters.

    `position` (a token) tells document and metadata, `labels[layer]` the unit's label as a code (-1: none) in
    the pair's shared vocabulary of that layer, `credit` how much of it counts as right, `weight` how many
    units the row stands for. `outcome` names what happened to it, where a scheme has names for that.
    """

    position: IntArray
    labels: Mapping[str, IntArray]
    credit: FloatArray
    weight: FloatArray
    outcome: npt.NDArray[np.object_] | None = None

    @classmethod
    def of(
        cls,
        position: IntArray,
        labels: Mapping[str, IntArray],
        credit: npt.ArrayLike,
        weight: npt.ArrayLike | None = None,
        outcome: npt.NDArray[np.object_] | None = None,
    ) -> Side:
        """Build a side; without weights every unit counts once."""
        credit_array = np.asarray(credit, dtype=np.float64)
        weights = np.ones(len(credit_array)) if weight is None else np.asarray(weight, dtype=np.float64)
        return cls(position, labels, credit_array, weights, outcome)


@dataclass(frozen=True, eq=False)
class Tally:
    """One way of counting: recall comes from `gold`, precision from `pred`."""

    scheme: str
    gold: Side
    pred: Side
    variant: str | None = None
    level: str | None = None
    labelled: str | None = None
    by_layers: tuple[str, ...] = ()  # layers whose labels this tally is broken down by
    extra_counts: Mapping[str, int] = field(default_factory=dict)
