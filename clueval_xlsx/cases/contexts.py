"""The words around a case, cut into segments that say who marked them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.text.cells import ELLIPSIS, JOINER, PLAIN_SIGN, SQUARES
from clueval_xlsx.text.rendering import RenderedTokens, portions
from clueval_xlsx.text.strings import IntArray, places

PLAIN, BOTH, GOLD, PRED, NEITHER = "", "both", "gold", "pred", "neither"
_MARKS = BOTH, GOLD, PRED, NEITHER
EMOJI = dict(zip(_MARKS, SQUARES, strict=True))

# A context is shown whole up to about so many characters; a longer one is shortened visibly, at the borders of words.
LONGEST_CONTEXT = 600
# So many stay around spans that are long themselves.
LEAST_AROUND = 160
# The inside of a stretch between two borders of spans is shown whole up to this many tokens.
LONGEST_INSIDE = 60


class Segment(NamedTuple):
    """A stretch of context: its words, and who marked them."""

    text: str
    mark: str


class Extents(NamedTuple):
    """First and last positions of spans, both inclusive, sorted and free of overlap."""

    start: IntArray
    end: IntArray


class Touched(NamedTuple):
    """The spans of the other side, and which touch each case: from row `first` up to, not including, `stop`.

    `side` are all spans of the cases' own side: a word that one of them marks is marked, whichever case is shown.
    """

    others: Extents
    first: IntArray
    stop: IntArray
    side: Extents


class Marks(NamedTuple):
    """How the words of a case's own span are marked, and those of the other side's spans."""

    own: str
    other: str


class Bounds(NamedTuple):
    """Where contexts begin and stop, and between them the part that is shown; `right` and `stop` are exclusive."""

    first: IntArray
    left: IntArray
    right: IntArray
    stop: IntArray


def context_bounds(corpus: Corpus, low: IntArray, high: IntArray, window: int | None = None) -> Bounds:
    """The context of each stretch low..high: its sentence, or `window` tokens on each side within its document.

    Where that is long, only what stands near the stretch is shown.
    """
    if window is not None:
        document = corpus.document_of(low)
        first = np.maximum(corpus.documents.start[document], low - window)
        stop = np.minimum(corpus.documents.stop[document], high + 1 + window)
    else:
        first = corpus.breaks[corpus.sentence_of(low)]
        stop = np.append(corpus.breaks[1:], len(corpus))[corpus.sentence_of(high)]
    left, right = _near(corpus, low, high, first, stop)
    return Bounds(first, left, right, stop)


def _near(corpus: Corpus, low: IntArray, high: IntArray, first: IntArray, stop: IntArray) -> tuple[IntArray, IntArray]:
    """The part of first..stop that is shown around low..high: what one side does not need goes to the other."""
    # A token takes a character and a space at least, so more of them need not be looked at.
    left = np.maximum(first, low - LONGEST_CONTEXT // 2)
    right = np.minimum(stop, high + 1 + LONGEST_CONTEXT // 2)
    before, behind = _Lengths(corpus, left, low), _Lengths(corpus, high + 1, right)
    inside = _Lengths(corpus, low, np.minimum(high + 1, low + LONGEST_CONTEXT // 2))
    room = np.maximum(LONGEST_CONTEXT - inside.total, LEAST_AROUND)
    half = room // 2
    for_left = np.maximum(half, room - behind.total)
    for_right = np.maximum(half, room - before.total)
    return before.last_from(before.total - for_left), behind.first_from(for_right)


class _Lengths:
    """How many bytes the tokens of many ranges take, each with a space."""

    def __init__(self, corpus: Corpus, first: IntArray, stop: IntArray) -> None:
        self._first = first
        positions = places(first, stop)
        self._reached = np.concatenate([[0], np.cumsum(corpus.tokens.length[positions] + 1, dtype=np.int64)])
        sizes = np.maximum(stop - first, 0)
        self._behind = np.cumsum(sizes)
        self._begin = self._behind - sizes
        self.total = self._reached[self._behind] - self._reached[self._begin]

    def last_from(self, skipped: IntArray) -> IntArray:
        """The first position of each range behind so many bytes."""
        found = np.searchsorted(self._reached, self._reached[self._begin] + np.maximum(skipped, 0))
        return self._first + np.minimum(found, self._behind) - self._begin

    def first_from(self, kept: IntArray) -> IntArray:
        """The position behind the last of each range that so many bytes have room for."""
        found = np.searchsorted(self._reached, self._reached[self._begin] + kept, side="right") - 1
        return self._first + np.minimum(found, self._behind) - self._begin


def contexts(
    corpus: Corpus, own: Extents, touched: Touched, marks: Marks, *, window: int | None = None
) -> list[list[Segment]]:
    """The context of each of `own` with those of the other side that touch it, and no others."""
    low, high = _outermost(own, touched)
    bounds = context_bounds(corpus, low, high, window)
    shown = _near_own(bounds, own, low, high)
    # Cases of one sentence follow each other; its words are written once.
    fresh = np.ones(len(own.start), dtype=bool)
    fresh[1:] = (np.diff(bounds.left) != 0) | (np.diff(bounds.right) != 0)
    stretch = np.cumsum(fresh) - 1
    left, right = bounds.left[fresh], bounds.right[fresh]

    def cut(portion: slice) -> list[list[Segment]]:
        written = corpus.rendered(left[portion], right[portion])
        rows = slice(*np.searchsorted(stretch, [portion.start, portion.stop]).tolist())
        origin = written.first[stretch[rows] - portion.start] - bounds.left[rows]
        columns = (column[rows].tolist() for column in (*own, touched.first, touched.stop, *shown))
        cutter = _Cutter(written, touched, marks)
        return [cutter.cut(_Stretch._make(row)) for row in zip(*columns, origin.tolist(), strict=True)]

    return list(chain.from_iterable(map(cut, portions(right - left))))


def _near_own(bounds: Bounds, own: Extents, low: IntArray, high: IntArray) -> Bounds:
    """Of others that reach far beyond the span at issue only what stands near it is shown.

    Each of them may hold many spans of the own side, which all have their colour: a long one that thousands touch
    would be cut into thousands of pieces for each of these.
    """
    nearest, farthest = own.start - 2 * LONGEST_INSIDE, own.end + 1 + 2 * LONGEST_INSIDE
    left = np.where(low < nearest, np.maximum(bounds.left, nearest), bounds.left)
    right = np.where(high >= farthest, np.minimum(bounds.right, farthest), bounds.right)
    return bounds._replace(left=left, right=right)


def _outermost(own: Extents, touched: Touched) -> tuple[IntArray, IntArray]:
    """The first and the last position of each span together with the others that touch it."""
    low, high = own.start.copy(), own.end.copy()
    others, first, stop = touched.others, touched.first, touched.stop
    some = stop > first
    low[some] = np.minimum(low[some], others.start[first[some]])
    high[some] = np.maximum(high[some], others.end[stop[some] - 1])
    return low, high


class _Stretch(NamedTuple):
    """One context: its span, its range of others, its bounds; a position plus `origin` is a written token."""

    start: int
    end: int
    low: int
    high: int
    first: int
    left: int
    right: int
    stop: int
    origin: int


class _Cutter:
    """Cuts written text into the segments of one context after another."""

    def __init__(self, written: RenderedTokens, touched: Touched, marks: Marks) -> None:
        self._written = written
        self._others, self._side = touched.others, touched.side
        self._marks = marks

    def cut(self, stretch: _Stretch) -> list[Segment]:
        """The segments of one context."""
        start, end, low, high, first, left, right, stop, origin = stretch
        begins, ends = self._others.start[low:high].tolist(), self._others.end[low:high].tolist()
        own_begins, own_ends = [start], [end]
        if begins and (begins[0] < start or ends[-1] > end):  # the others reach beyond the span at issue
            own_begins, own_ends = _near_by(self._side, max(begins[0], left), min(ends[-1], right - 1))
        outermost = (min(start, *begins[:1]), max(end, *ends[-1:])) if begins else (start, end)
        outermost = max(outermost[0], left), min(outermost[1], right - 1)
        edges = [start, end + 1, *begins, *own_begins, *(last + 1 for last in (*ends, *own_ends))]
        borders = sorted({left, right, *(edge for edge in edges if outermost[0] <= edge <= outermost[1] + 1)})
        found: list[Segment] = [Segment(f"{ELLIPSIS} ", PLAIN)] if left > first else []
        for position, border in pairwise(borders):
            if position > left:
                found.append(Segment(self._written.gap(position + origin), PLAIN))
            in_other = _inside(position, begins, ends)
            in_own = start <= position <= end or (in_other and _inside(position, own_begins, own_ends))
            text = self._text(position + origin, border - 1 + origin)
            found.append(Segment(text, self._mark(in_own, in_other)))
        if right < stop:
            found.append(Segment(f" {ELLIPSIS}", PLAIN))
        return _join(found)

    def _mark(self, in_own: bool, in_other: bool) -> str:
        if in_own and in_other:
            return BOTH
        return self._marks.own if in_own else self._marks.other if in_other else PLAIN

    def _text(self, first: int, last: int) -> str:
        """The words of a stretch; a very long one loses its middle, visibly."""
        if last - first < LONGEST_INSIDE:
            return self._written.text(first, last)
        half = LONGEST_INSIDE // 2
        text = self._written.text
        return f"{text(first, first + half - 1)} {ELLIPSIS} {text(last - half + 1, last)}"


def _near_by(spans: Extents, first: int, last: int) -> tuple[list[int], list[int]]:
    """Where the spans begin and end that touch first..last."""
    rows = slice(*(np.searchsorted(spans.end, first), np.searchsorted(spans.start, last, side="right")))
    return spans.start[rows].tolist(), spans.end[rows].tolist()


def _inside(position: int, begins: Sequence[int], ends: Sequence[int]) -> bool:
    """Whether a position lies in one of the spans, which are sorted and free of overlap."""
    before = bisect_right(begins, position)
    return before > 0 and position <= ends[before - 1]


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
    """Segments with emoji before and behind the marked words."""
    pieces: list[Segment] = []
    for segment in segments:
        if segment.mark:
            emoji = EMOJI[segment.mark]
            pieces += [Segment(f"{emoji}{JOINER}", PLAIN), segment, Segment(f"{JOINER}{emoji}", PLAIN)]
        else:
            pieces.append(segment)
    return pieces


def signed_pieces(segments: Sequence[Segment], *, plain: bool = False) -> list[Segment]:
    """Segments as cells show them: marked words between emoji, or between squares that every font has.

    >>> signed_pieces([Segment("for ", ""), Segment("Ann", "gold")], plain=True)[1]
    Segment(text='■', mark='sign_gold')
    """
    pieces: list[Segment] = []
    for segment in segments:
        if segment.mark:
            mark = segment.mark
            sign = Segment(PLAIN_SIGN, f"sign_{mark}") if plain else Segment(EMOJI[mark], "emoji")
            pieces += [sign, segment, sign]
        else:
            pieces.append(segment)
    return pieces
