"""Annotations by character: what all sources of running text are read into before tokens are cut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from clueval_xlsx.corpus.spans import label_column
from clueval_xlsx.text.strings import IntArray
from clueval_xlsx.text.tokenise import Ranges

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Mentions:
    """Annotations by character: half-open `[start, end)` in code points of a document, and their labels.

    `scores` say how sure whoever made them was; None where nobody said.
    """

    ranges: Ranges
    labels: Mapping[str, pd.Categorical]
    attributes: Mapping[str, pd.Categorical] = field(default_factory=dict)  # known besides the layers
    scores: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.ranges.document)

    def take(self, rows: IntArray) -> Mentions:
        """Some of them."""
        ranges = self.ranges
        return Mentions(
            Ranges(ranges.document[rows], ranges.start[rows], ranges.end[rows]),
            {name: values[rows] for name, values in self.labels.items()},
            {name: values[rows] for name, values in self.attributes.items()},
            None if self.scores is None else self.scores[rows],
        )

    def only_layers(self, names: Sequence[str]) -> Mentions:
        """The same with some of the layers."""
        return Mentions(self.ranges, {name: self.labels[name] for name in names}, self.attributes, self.scores)

    def moved(self, ranges: Ranges) -> Mentions:
        """The same elsewhere."""
        return Mentions(ranges, self.labels, self.attributes, self.scores)


def make_mentions(
    ranges: Ranges,
    values: Mapping[str, Iterable[str | None]],
    layers: Mapping[str, str],
    attributes: Sequence[str] = (),
) -> Mentions:
    """Mentions of columns of labels: `layers` maps a layer to its column."""
    columns = {name: label_column(column) for name, column in values.items()}
    return Mentions(
        ranges,
        {layer: columns[column] for layer, column in layers.items()},
        {name: columns[name] for name in attributes if name in columns},
    )
