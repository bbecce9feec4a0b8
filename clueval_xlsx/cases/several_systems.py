"""Which words of a corpus several systems mark, some or all of them: contexts of a comparison are true for each."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from clueval_xlsx.cases.contexts import Extents, Touched
from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.spans import positions, touching

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class MarkedWords:
    """One flag a token: whether some system marks it, and whether every one does."""

    some: Flags
    every: Flags

    def in_gold(self, own: Extents, gold: Extents) -> Touched:
        """What the systems mark of gold spans, span by span; words beyond them are not shown."""
        inside = self.some & _flags(gold, len(self.some))
        begins = np.zeros(len(inside), dtype=bool)
        begins[gold.start] = True
        found = _stretches(inside, begins)
        return Touched(found, *touching(own.start, own.end, found.start, found.end), gold, _stretches(self.every))

    def in_prediction(self, own: Extents, gold: Extents) -> Touched:
        """The gold spans that touch a prediction, and what any system marks of them."""
        return Touched(
            gold,
            *touching(own.start, own.end, gold.start, gold.end),
            _stretches(self.some),
            _stretches(self.every),
        )


def marked_words(corpus: Corpus, systems: Iterable[tuple[Corpus, pd.DataFrame]]) -> MarkedWords:
    """What systems mark, on the tokens of one corpus; each system has predicted spans on tokens of its own."""
    count, number = np.zeros(len(corpus), dtype=np.int64), 0
    for own, spans in systems:
        marked = _flags(Extents(*positions(spans)), len(own))
        count += marked if own is corpus else _moved(own, marked, corpus)
        number += 1
    return MarkedWords(count > 0, count == number)


def _moved(own: Corpus, marked: Flags, corpus: Corpus) -> Flags:
    """Flags of one tokenisation on another: a word is marked if all of it is."""
    found = np.zeros(len(corpus), dtype=bool)
    places = {name: place for place, name in enumerate(own.doc_ids)}
    for place, name in enumerate(corpus.doc_ids):
        if name not in places:
            continue
        here = slice(int(corpus.documents.start[place]), int(corpus.documents.stop[place]))
        there = slice(int(own.documents.start[places[name]]), int(own.documents.stop[places[name]]))
        if corpus.char_start is None or corpus.char_end is None or own.char_start is None or own.char_end is None:
            if here.stop - here.start == there.stop - there.start:
                found[here] = marked[there]
            continue
        first = np.searchsorted(own.char_end[there], corpus.char_start[here], side="right")
        stop = np.searchsorted(own.char_start[there], corpus.char_end[here], side="left")
        reached = np.concatenate([[0], np.cumsum(marked[there])])
        found[here] = (stop > first) & (reached[np.maximum(stop, first)] - reached[first] == stop - first)
    return found


def _flags(spans: Extents, size: int) -> Flags:
    """Whether each position lies in a span."""
    changes = np.zeros(size + 1, dtype=np.int64)
    np.add.at(changes, spans.start, 1)
    np.add.at(changes, spans.end + 1, -1)
    return np.cumsum(changes[:-1]) > 0


def _stretches(flags: Flags, begins: Flags | None = None) -> Extents:
    """Where flags are set without a gap; a new stretch starts at each of `begins`, too."""
    new = flags.copy()
    new[1:] &= ~flags[:-1] if begins is None else ~flags[:-1] | begins[1:]
    start = np.flatnonzero(new)
    last = flags.copy()
    last[:-1] &= ~flags[1:] | new[1:]
    return Extents(start, np.flatnonzero(last))
