"""Annotations as their source lists them, on the tokens of a corpus, where some of them gave way to others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from clueval_xlsx.corpus.mentions import FloatArray, Mentions
from clueval_xlsx.corpus.spans import positions
from clueval_xlsx.text.strings import IntArray

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ListedSpans:
    """Annotations in the order of their source, overlapping as they may: start, end and a label for each layer.

    `scores` say how sure whoever made each of them was, NaN where nobody said. Where layers are annotated apart, `of`
    says which of them are annotations of each layer.
    """

    spans: pd.DataFrame
    scores: FloatArray | None = None
    of: Mapping[str, BoolArray] | None = None

    @classmethod
    def at(cls, mentions: Mentions, start: IntArray, end: IntArray) -> ListedSpans:
        """The mentions of their layers at these positions."""
        own = np.zeros(len(mentions), dtype=bool)
        of = {}
        for layer in mentions.labels:
            of[layer] = np.zeros(len(mentions), dtype=bool)
            of[layer][mentions.rows_of(layer)] = True
            own |= of[layer]
        frame = pd.DataFrame({"start": start, "end": end, **mentions.labels})
        return cls(frame, mentions.scores, None if mentions.sequence is None else of).take(own)

    def __len__(self) -> int:
        return len(self.spans)

    @property
    def apart(self) -> bool:
        """Whether there are layers that are annotated apart: merged, an annotation is a part of a span."""
        return self.of is not None and len(self.of) > 1

    def take(self, rows: BoolArray) -> ListedSpans:
        """Some of them."""
        return ListedSpans(
            self.spans[rows].reset_index(drop=True),
            None if self.scores is None else self.scores[rows],
            None if self.of is None else {layer: own[rows] for layer, own in self.of.items()},
        )

    def only(self, layer: str) -> ListedSpans:
        """The annotations of one layer."""
        return self.only_layers([layer])

    def only_layers(self, names: Sequence[str]) -> ListedSpans:
        """The annotations of some layers."""
        of = self.of
        own = self if of is None else self.take(np.logical_or.reduce([of[name] for name in names]))
        own = own if own.of is None else replace(own, of={name: own.of[name] for name in names})
        return replace(own, spans=own.spans[["start", "end", *names]])

    def moved(self, move: Callable[[pd.DataFrame], pd.DataFrame]) -> ListedSpans:
        """The same elsewhere."""
        return replace(self, spans=move(self.spans))

    def dropped(self, layers: Mapping[str, pd.DataFrame]) -> int:
        """How many of them gave way to others that they overlap: they are in no layer."""
        everything = np.ones(len(self), dtype=bool)
        kept: dict[bytes, set[tuple[int, int]]] = {}  # of layers that are annotated together
        for layer, spans in layers.items():
            own = everything if self.of is None else self.of[layer]
            kept.setdefault(own.tobytes(), set()).update(zip(*map(np.ndarray.tolist, positions(spans)), strict=True))
        return sum(np.frombuffer(own, dtype=bool).sum() - len(extents) for own, extents in kept.items())
