"""The documents as running text: where each token stands in it, and who marked which stretch."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from clueval_xlsx.context import BOTH, GOLD, PLAIN, PRED
from clueval_xlsx.corpus import Corpus
from clueval_xlsx.spans import positions
from clueval_xlsx.strings import IntArray

_BASIC_PLANE = "\uffff"
_WORD = "▢"  # stands for each word of an edition without text


@dataclass(frozen=True, eq=False)
class ShownText:
    """The text of every document, and each token's place in it.

    `begin` and `end` count code points within the document, for Python. `unit_begin` and `unit_end` count
    UTF-16 units over all documents with one unit between two documents, for JavaScript.
    """

    texts: list[str]
    begin: IntArray
    end: IntArray
    unit_begin: IntArray
    unit_end: IntArray


@dataclass(frozen=True)
class Stretch:
    """A piece of a document: its text, who marked it, and the rows of the gold and the predicted span (-1: none)."""

    text: str
    mark: str = PLAIN
    gold: int = -1
    pred: int = -1
    position: int = -1  # the first token


def shown_text(corpus: Corpus) -> ShownText:
    """Write the documents out; sentences of tokenised sources stand on lines of their own."""
    size = len(corpus)
    begin, end, unit_begin, unit_end = (np.zeros(size, dtype=np.int64) for _ in range(4))
    texts = []
    base = 0
    for first, stop in zip(corpus.documents.start.tolist(), corpus.documents.stop.tolist(), strict=True):
        if first == stop:
            texts.append("")
            base += 1
            continue
        words, gaps = _written(corpus, first, stop)
        text = "".join(gap + word for gap, word in zip(gaps, words, strict=True))
        here = slice(first, stop)
        begin[here], end[here] = _places(_lengths(gaps), _lengths(words))
        if max(text) > _BASIC_PLANE:
            unit_begin[here], unit_end[here] = _places(_units(gaps), _units(words))
        else:
            unit_begin[here], unit_end[here] = begin[here], end[here]
        unit_begin[here] += base
        unit_end[here] += base
        base = int(unit_end[stop - 1]) + 1
        texts.append(text)
    return ShownText(texts, begin, end, unit_begin, unit_end)


def is_text_free(corpus: Corpus) -> bool:
    """Whether the words were taken out of a corpus, so that only their number and the spans are left."""
    return bool(len(corpus)) and not corpus.tokens.length.any()


def stretches(corpus: Corpus, shown: ShownText, gold: pd.DataFrame, pred: pd.DataFrame) -> Iterator[list[Stretch]]:
    """Each document cut wherever a span of either side begins or ends."""
    sides = [positions(gold), positions(pred)]
    edges = [edge for start, end in sides for edge in (start, end + 1)]
    cuts = np.unique(np.concatenate([corpus.documents.start, corpus.documents.stop, *edges]))
    holders = [_holder(cuts[:-1], start, end) for start, end in sides]
    marked = np.flatnonzero((holders[0] >= 0) | (holders[1] >= 0))
    begin, stop = cuts[marked], cuts[marked + 1]
    rows = np.column_stack(
        [shown.begin[begin], shown.end[stop - 1], holders[0][marked], holders[1][marked], begin]
    ).tolist()
    low = np.searchsorted(begin, corpus.documents.start, side="left").tolist()
    high = np.searchsorted(begin, corpus.documents.stop, side="left").tolist()
    for text, first_row, stop_row in zip(shown.texts, low, high, strict=True):
        pieces = []
        done = 0
        for left, right, of_gold, of_pred, position in rows[first_row:stop_row]:
            if left > done:
                pieces.append(Stretch(text[done:left]))
            mark = PRED if of_gold < 0 else GOLD if of_pred < 0 else BOTH
            pieces.append(Stretch(text[left:right], mark, of_gold, of_pred, position))
            done = right
        if done < len(text):
            pieces.append(Stretch(text[done:]))
        yield pieces


def _holder(position: IntArray, start: IntArray, end: IntArray) -> IntArray:
    """The row of the span that holds each position, or -1; the spans are sorted and free of overlap."""
    row = np.searchsorted(start, position, side="right") - 1
    inside = row >= 0
    inside[inside] = end[row[inside]] >= position[inside]
    return np.where(inside, row, -1)


def _written(corpus: Corpus, first: int, stop: int) -> tuple[list[str], list[str]]:
    if is_text_free(corpus):
        words, gaps = [_WORD] * (stop - first), ["", *[" "] * (stop - first - 1)]
    else:
        words, gaps = corpus.words(first, stop)
    if corpus.hard_breaks and not corpus.running_text:
        low, high = np.searchsorted(corpus.breaks, [first + 1, stop])
        for position in corpus.breaks[low:high].tolist():
            gaps[position - first] = "\n"
    return words, gaps


def _places(gaps: IntArray, words: IntArray) -> tuple[IntArray, IntArray]:
    end = np.cumsum(gaps + words)
    return end - words, end


def _lengths(pieces: list[str]) -> IntArray:
    return np.fromiter(map(len, pieces), dtype=np.int64, count=len(pieces))


def _units(pieces: list[str]) -> IntArray:
    """Lengths in UTF-16 units: characters beyond the basic plane take two."""
    longer = (len(piece) + sum(character > _BASIC_PLANE for character in piece) for piece in pieces)
    return np.fromiter(longer, dtype=np.int64, count=len(pieces))
