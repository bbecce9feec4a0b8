"""Annotations by character: what all sources of running text are read into before tokens are cut."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from clueval_xlsx.corpus.spans import label_column, label_list
from clueval_xlsx.text.strings import IntArray
from clueval_xlsx.text.tokenise import Ranges

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Mentions:
    """Annotations by character: half-open `[start, end)` in code points of a document, and their labels.

    `scores` say how sure whoever made them was; None where nobody said. `sequence` is the number of the sequence of
    each one where layers are annotated apart from each other, and `sequences` the number of each layer: annotations
    of different sequences may overlap, and a layer has those of its own sequence only.
    """

    ranges: Ranges
    labels: Mapping[str, pd.Categorical]
    attributes: Mapping[str, pd.Categorical] = field(default_factory=dict)  # known besides the layers
    scores: FloatArray | None = None
    sequence: IntArray | None = None
    sequences: Mapping[str, int] = field(default_factory=dict)

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
            None if self.sequence is None else self.sequence[rows],
            self.sequences,
        )

    def only_layers(self, names: Sequence[str]) -> Mentions:
        """The same with some of the layers."""
        return replace(self, labels={name: self.labels[name] for name in names})

    def moved(self, ranges: Ranges) -> Mentions:
        """The same elsewhere."""
        return replace(self, ranges=ranges)

    def rows_of(self, layer: str) -> IntArray:
        """The rows that are annotations of a layer."""
        if self.sequence is None:
            return np.arange(len(self))
        return np.flatnonzero(self.sequence == self.sequences[layer])

    def apart(self) -> list[tuple[IntArray, tuple[str, ...]]]:
        """Rows and layers of each sequence."""
        if self.sequence is None:
            return [(np.arange(len(self)), tuple(self.labels))]
        numbers = {layer: self.sequences[layer] for layer in self.labels}
        return [
            (np.flatnonzero(self.sequence == number), tuple(layer for layer in numbers if numbers[layer] == number))
            for number in sorted(set(numbers.values()))
        ]

    @classmethod
    def join(cls, parts: Sequence[Mentions]) -> Mentions:
        """All of them, one part behind the other."""
        first = parts[0]
        scored = any(part.scores is not None for part in parts)
        return cls(
            Ranges.join([part.ranges for part in parts]),
            {name: _joined([part.labels[name] for part in parts]) for name in first.labels},
            {name: _joined([part.attributes[name] for part in parts]) for name in first.attributes},
            np.concatenate([_scores(part) for part in parts]) if scored else None,
            None if first.sequence is None else np.concatenate([np.asarray(part.sequence) for part in parts]),
            first.sequences,
        )


def _joined(columns: Sequence[pd.Categorical]) -> pd.Categorical:
    return label_column(label for column in columns for label in label_list(column))


def _scores(mentions: Mentions) -> FloatArray:
    return np.full(len(mentions), np.nan) if mentions.scores is None else mentions.scores


def make_mentions(
    ranges: Ranges,
    values: Mapping[str, Iterable[str | None]],
    layers: Mapping[str, str],
    attributes: Sequence[str] = (),
    scores: Sequence[float | None] = (),
) -> Mentions:
    """Mentions of columns of labels: `layers` maps a layer to its column; scores, where one of them has any."""
    known = any(score is not None for score in scores)
    columns = {name: label_column(column) for name, column in values.items()}
    return Mentions(
        ranges,
        {layer: columns[column] for layer, column in layers.items()},
        {name: columns[name] for name in attributes if name in columns},
        np.array([np.nan if score is None else score for score in scores]) if known else None,
    )
