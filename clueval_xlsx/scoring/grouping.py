"""What rows of the score table can be grouped by: documents, and values of metadata."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clueval_xlsx.corpus.pair import Pair
from clueval_xlsx.text.strings import IntArray


@dataclass(frozen=True, eq=False)
class Grouping:
    """Values that rows are grouped by; `codes` maps a token position to an index into `values` (-1: none)."""

    key: str
    values: Sequence[str]
    codes: IntArray  # for each document, or for each token position
    per_document: bool

    def of(self, position: IntArray, document: IntArray) -> IntArray:
        """The group of each unit."""
        return self.codes[document] if self.per_document else self.codes[position]


def groupings(pair: Pair, keys: Sequence[str], discarded: Sequence[int] = ()) -> list[Grouping]:
    """What rows are grouped by: the documents always, then the chosen metadata."""
    corpus = pair.corpus
    kept = np.ones(len(corpus.doc_ids), dtype=bool)
    kept[list(discarded)] = False
    names = [doc_id for doc_id, keep in zip(corpus.doc_ids, kept.tolist(), strict=True) if keep]
    found = [Grouping("document", names, np.where(kept, np.cumsum(kept) - 1, -1), per_document=True)]
    everywhere = np.arange(len(corpus), dtype=np.int64)
    for key in keys:
        values = corpus.metadata(key, everywhere)
        names = [str(value) for value in values.categories]
        found.append(Grouping(key, names, values.codes.astype(np.int64), per_document=False))
    return found
