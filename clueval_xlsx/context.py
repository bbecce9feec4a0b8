"""The words around a case, cut into segments that say who marked them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from clueval_xlsx.corpus import Corpus
from clueval_xlsx.strings import IntArray

PLAIN, BOTH, GOLD, PRED = "", "both", "gold", "pred"
EMOJI = {BOTH: "🟩", GOLD: "🟥", PRED: "🟧"}
JOINER = "\u2060"  # keeps an emoji on the line of its word
ELLIPSIS = "[…]"

# A sentence is shown whole up to this many tokens on each side of the spans; a longer one is shortened visibly.
LONGEST_SIDE = 200
# The inside of the spans is shown whole up to this many tokens.
LONGEST_INSIDE = 600


class Segment(NamedTuple):
    """A stretch of context: its words, and who marked them."""

    text: str
    mark: str


class Extent(NamedTuple):
    """First and last position, both inclusive."""

    start: int
    end: int


class ContextMaker:
    """Makes the contexts of one corpus; `window` replaces the sentence by so many tokens on each side."""

    def __init__(self, corpus: Corpus, window: int | None = None) -> None:
        self._corpus = corpus
        self._window = window
        self._words = lru_cache(maxsize=64)(corpus.words)  # cases of one sentence follow each other

    def segments(self, own: Extent, others: Sequence[Extent], own_mark: str, other_mark: str) -> list[Segment]:
        """The context of one span with the spans of the other side that touch it, and no others."""
        low = min([own.start, *(other.start for other in others)])
        high = max([own.end, *(other.end for other in others)])
        first, left, right, stop = self.bounds(low, high)
        cuts = {left, right, own.start, own.end + 1}
        for other in others:
            cuts.update((other.start, other.end + 1))
        borders = sorted(cuts)
        found: list[Segment] = [Segment(f"{ELLIPSIS} ", PLAIN)] if left > first else []
        for begin, end in pairwise(borders):
            gap, text = self._text(begin, end, left, right)
            if gap:
                found.append(Segment(gap, PLAIN))
            found.append(Segment(text, _mark(begin, own, others, own_mark, other_mark)))
        if right < stop:
            found.append(Segment(f" {ELLIPSIS}", PLAIN))
        return _join(found)

    def bounds(self, low: int, high: int) -> tuple[int, int, int, int]:
        """Where the context of the positions low..high begins and stops, and between them the part that is shown.

        In order: the beginning, the first shown, the one behind the last shown, the one behind the end.
        """
        first, stop = self._whole(low, high)
        if self._window is not None:
            return first, first, stop, stop
        return first, max(first, low - LONGEST_SIDE), min(stop, high + 1 + LONGEST_SIDE), stop

    def _whole(self, low: int, high: int) -> tuple[int, int]:
        corpus = self._corpus
        sentences = corpus.sentence_of(_array(low, high))
        first, stop = int(corpus.breaks[sentences[0]]), corpus.sentence_stop(int(sentences[1]))
        if self._window is None:
            return first, stop
        document = int(corpus.document_of(_array(low, low))[0])
        return (
            max(int(corpus.documents.start[document]), low - self._window),
            min(int(corpus.documents.stop[document]), high + 1 + self._window),
        )

    def _text(self, begin: int, end: int, left: int, right: int) -> tuple[str, str]:
        """What stands before a stretch, and its words; a very long stretch loses its middle, visibly."""
        words, spaces = self._words(left, right)
        low, high = begin - left, end - left
        if end - begin > LONGEST_INSIDE:
            half = LONGEST_INSIDE // 2
            text = f"{_written(words, spaces, low, low + half)} {ELLIPSIS} {_written(words, spaces, high - half, high)}"
        else:
            text = _written(words, spaces, low, high)
        return spaces[low], text


def _written(words: list[str], spaces: list[str], low: int, high: int) -> str:
    pieces = [*spaces[low:high]]
    pieces[0] = ""
    return "".join(space + word for space, word in zip(pieces, words[low:high], strict=True))


def _array(*values: int) -> IntArray:
    return np.array(values, dtype=np.int64)


def _mark(position: int, own: Extent, others: Sequence[Extent], own_mark: str, other_mark: str) -> str:
    """Who marked a position; `others` are sorted and free of overlap."""
    in_own = own.start <= position <= own.end
    before = bisect_right(others, position, key=_start)
    in_other = before > 0 and position <= others[before - 1].end
    if in_own and in_other:
        return BOTH
    return own_mark if in_own else other_mark if in_other else PLAIN


def _start(extent: Extent) -> int:
    return extent.start


def _join(segments: list[Segment]) -> list[Segment]:
    """Join plain neighbours; marked neighbours stay apart, because they belong to different spans."""
    joined: list[Segment] = []
    for segment in segments:
        if joined and segment.mark == PLAIN == joined[-1].mark:
            joined[-1] = Segment(joined[-1].text + segment.text, PLAIN)
        elif segment.text:
            joined.append(segment)
    return joined


def emoji_text(segments: Sequence[Segment]) -> str:
    """Segments as plain text, the marks as emoji before and behind the words.

    >>> emoji_text([Segment("for ", ""), Segment("Ann Lee", "gold"), Segment(".", "")]).replace(JOINER, "")
    'for 🟥Ann Lee🟥.'
    """
    return "".join(text for text, _ in emoji_pieces(segments))


def emoji_pieces(segments: Sequence[Segment]) -> list[Segment]:
    """Segments with plain emoji before and behind the marked words."""
    pieces: list[Segment] = []
    for segment in segments:
        if segment.mark:
            emoji = EMOJI[segment.mark]
            pieces += [Segment(f"{emoji}{JOINER}", PLAIN), segment, Segment(f"{JOINER}{emoji}", PLAIN)]
        else:
            pieces.append(segment)
    return pieces
