"""The finds of a detector, which sees running text, back on the tokens of a corpus.

Words are written with the spaces that people put between them; a sentence that the source marks begins on a new
line. A find that begins or ends inside a token is widened to the whole of it, one that holds nothing but white
space is dropped, one that runs over a marked sentence end is split there, as every reader of tags would.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.running_text import RunningText
from clueval_xlsx.detectors.base import Detection
from clueval_xlsx.text.strings import IntArray


@dataclass(frozen=True, eq=False)
class Placed:
    """Finds on tokens, both ends inclusive, in the order of their places; `counts` says what had to be changed."""

    start: IntArray
    end: IntArray
    labels: list[str]
    scores: list[float | None]
    widened: int = 0
    dropped: int = 0
    split: int = 0

    def notes(self, name: str) -> list[str]:
        """What a person should know."""
        notes = []
        for count, what in (
            (self.widened, "cut a token and {was} widened to it"),
            (self.dropped, "{was} nothing but white space and {was} dropped"),
            (self.split, "went over a sentence end and {was} split there"),
        ):
            if count:
                was = "was" if count == 1 else "were"
                notes.append(f"{name}: {count} prediction{'s' if count != 1 else ''} {what.format(was=was)}")
        return notes


def place(found: Sequence[Sequence[Detection] | None], text: RunningText) -> Placed:
    """Finds by character as stretches of tokens."""
    corpus = text.corpus
    rows = [(number, one) for number, finds in enumerate(found) for one in finds or ()]
    document = np.array([number for number, _ in rows], dtype=np.int64)
    start = np.array([one.start for _, one in rows], dtype=np.int64)
    end = np.array([one.end for _, one in rows], dtype=np.int64)
    # One number for document and offset makes every search one binary search over all documents.
    stride = max((len(item.text) for item in text.documents), default=0) + 1
    owner = corpus.document_numbers * stride
    token_start, token_end = owner + text.char_start, owner + text.char_end
    start, end = document * stride + start, document * stride + end
    first = np.searchsorted(token_end, start, side="right")
    last = np.searchsorted(token_start, end, side="left") - 1
    filled = first <= last
    dropped = int((~filled).sum())
    first, last, start, end = first[filled], last[filled], start[filled], end[filled]
    kept = np.flatnonzero(filled)
    widened = int(((token_start[first] < start) | (token_end[last] > end)).sum())
    first, last, origin = _split(first, last, corpus)
    labels = np.array([rows[index][1].label for index in kept[origin].tolist()], dtype=object).astype(str)
    order = np.lexsort((labels, last, first))
    rows = [rows[kept[index]] for index in origin[order].tolist()]
    return Placed(
        first[order],
        last[order],
        [one.label for _, one in rows],
        [one.score for _, one in rows],
        widened,
        dropped,
        len(np.unique(origin[np.flatnonzero(np.bincount(origin, minlength=1)[origin] > 1)])) if len(origin) else 0,
    )


def _split(first: IntArray, last: IntArray, corpus: Corpus) -> tuple[IntArray, IntArray, IntArray]:
    """Cut stretches at the sentence ends of the source; returns which one each part comes from."""
    origin = np.arange(len(first))
    if not corpus.hard_breaks or not len(first):
        return first, last, origin
    breaks = corpus.breaks
    low = np.searchsorted(breaks, first, side="right")  # the first break behind the start
    parts = np.searchsorted(breaks, last, side="right") - low + 1
    origin = np.repeat(origin, parts)
    step = np.arange(len(origin)) - np.repeat(np.cumsum(parts) - parts, parts)
    behind = np.append(breaks, len(corpus))
    begin = np.where(step == 0, first[origin], behind[np.maximum(low[origin] + step - 1, 0)])
    final = step == parts[origin] - 1
    stop = np.where(final, last[origin], behind[np.minimum(low[origin] + step, len(breaks))] - 1)
    return begin, stop, origin
