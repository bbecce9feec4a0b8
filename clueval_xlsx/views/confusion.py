"""Confusion matrices: reference labels against model labels, shaded by errors."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from clueval_xlsx.evaluation import Evaluation
from clueval_xlsx.scoring.confusion import NOTHING, UNLABELLED
from clueval_xlsx.words import Words

HEATS = 5  # steps of shading, none apart


@dataclass(frozen=True)
class Matrix:
    """Reference labels down, model labels across; the last row and column are for nothing marked.

    `heat` is 0 to 5 for each cell; the diagonal has none, since it holds no confusion.
    """

    layer: str
    title: str
    corner: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]
    heat: tuple[tuple[int, ...], ...]

    @property
    def row_totals(self) -> tuple[int, ...]:
        """The spans of each row."""
        return tuple(sum(row) for row in self.counts)

    @property
    def column_totals(self) -> tuple[int, ...]:
        """The spans of each column."""
        return tuple(sum(column) for column in zip(*self.counts, strict=True))


def matrices(evaluation: Evaluation, words: Words) -> tuple[Matrix, ...]:
    """The confusion matrix of each layer."""
    return tuple(_matrix(evaluation, layer, words) for layer in evaluation.pair.layers)


def _matrix(evaluation: Evaluation, layer: str, words: Words) -> Matrix:
    table = evaluation.confusion(layer)
    names = [words["confusion.no_label"] if name == UNLABELLED else str(name) for name in table.index]
    counts = tuple(tuple(row) for row in table.to_numpy().tolist())
    top = max(chain.from_iterable(_errors(row, place) for place, row in enumerate(counts)), default=0)
    return Matrix(
        layer,
        words("confusion.layer", layer=layer),
        words["confusion.corner"],
        tuple(words["confusion.nothing"] if name == NOTHING else name for name in names),
        tuple(words["confusion.nothing"] if name == NOTHING else name for name in names),
        counts,
        tuple(
            tuple(0 if line == place else _heat(value, top) for place, value in enumerate(row))
            for line, row in enumerate(counts)
        ),
    )


def _errors(row: tuple[int, ...], place: int) -> tuple[int, ...]:
    return (*row[:place], *row[place + 1 :])


def _heat(value: int, top: int) -> int:
    """A step on a root scale, so that small counts are still seen beside large ones."""
    return 0 if not value else max(1, round(HEATS * (value / top) ** 0.5))
