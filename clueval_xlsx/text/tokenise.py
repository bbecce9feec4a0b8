"""Running text to tokens: words and punctuation first, then a cut at every boundary of every annotation.

A word is a run of letters, digits, marks and connectors (`_`); any other visible character is a token of its
own; marks, joiners and skin tones stay with the character they follow. White space is no token, unless an
annotation begins or ends with it: then that white space is one, so that no annotation is moved or shortened.

A sentence ends at every line break, and behind `.` `!` `?` `…` (with closing quotes and brackets) where white
space follows, unless the next word begins with a small letter or a digit (`Abs. 2`), or the full stop follows a
single letter or a number of one or two digits (`H. Weber`, `14. Mai`). No sentence ends inside an annotation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from clueval_xlsx.text.characters import (
    CLOSING,
    DIGIT,
    EXTEND,
    FINAL,
    KIND,
    LETTER,
    LINE_BREAK,
    LOWER,
    OTHER,
    SOLID,
    SPACE,
    WORD,
    ByteArray,
    CodePoints,
    classify,
    code_points,
)
from clueval_xlsx.text.rendering import portions
from clueval_xlsx.text.strings import PADDING, BoolArray, IntArray, inside


@dataclass(frozen=True, eq=False)
class Ranges:
    """Half-open stretches of characters, each in a document (an index); an empty one is only a cut."""

    document: IntArray
    start: IntArray
    end: IntArray

    @classmethod
    def join(cls, parts: Sequence[Ranges]) -> Ranges:
        """All of them."""
        return cls(
            *(
                np.concatenate([np.empty(0, np.int64), *(getattr(part, name) for part in parts)]).astype(np.int64)
                for name in ("document", "start", "end")
            )
        )

    def ordered(self) -> Ranges:
        """Sorted by place, each once."""
        order = np.lexsort((self.end, self.start, self.document))
        document, start, end = self.document[order], self.start[order], self.end[order]
        new = np.ones(len(order), dtype=bool)
        new[1:] = (np.diff(document) != 0) | (np.diff(start) != 0) | (np.diff(end) != 0)
        return Ranges(document[new], start[new], end[new])


NO_RANGES = Ranges(*(np.empty(0, np.int64) for _ in range(3)))


@dataclass(frozen=True, eq=False)
class Tokenised:
    """Tokens as slices of one UTF-8 buffer and as character offsets in their documents."""

    data: bytes
    start: IntArray
    length: npt.NDArray[np.int32]
    char_start: IntArray
    char_end: IntArray
    document_start: IntArray  # first token of each document, and the number of tokens
    breaks: IntArray  # first token of each sentence


def tokenise(texts: Sequence[str], ranges: Ranges = NO_RANGES) -> Tokenised:
    """Cut documents into tokens so that no range begins or ends inside one.

    >>> found = tokenise(["Dr. Weber's"], Ranges(*(np.array([n]) for n in (0, 4, 7))))
    >>> [found.data[a : a + n].decode() for a, n in zip(found.start, found.length)]
    ['Dr', '.', 'Web', 'er', "'", 's']
    """
    ranges = ranges.ordered()
    lengths = np.array([len(text) for text in texts], dtype=np.int64)
    pieces: list[bytes] = []
    batches = []
    bytes_before = 0
    for part in list(portions(lengths)) or [slice(0, 0)]:  # so that working arrays stay small
        first, stop = part.start, part.stop
        joined = "".join(texts[part])
        base = np.concatenate([[0], np.cumsum(lengths[part], dtype=np.int64)])
        low, high = np.searchsorted(ranges.document, [first, stop])
        origin = base[ranges.document[low:high] - first]
        pieces.append(joined.encode("utf-8", "surrogatepass"))
        letters = np.frombuffer(pieces[-1], dtype=np.uint8)
        start, *others = _cut(joined, letters, base, ranges.start[low:high] + origin, ranges.end[low:high] + origin)
        batches.append((start + bytes_before, *others))
        bytes_before += len(pieces[-1])
    start, length, char_start, char_end, counts, opens = (np.concatenate(each) for each in zip(*batches, strict=True))
    return Tokenised(
        data=b"".join([*pieces, bytes(PADDING)]),
        start=start,
        length=length.astype(np.int32),
        char_start=char_start,
        char_end=char_end,
        document_start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        breaks=np.flatnonzero(opens),
    )


def _cut(
    joined: str, letters: ByteArray, base: IntArray, range_start: IntArray, range_end: IntArray
) -> tuple[npt.NDArray[Any], ...]:
    """The tokens of a batch of documents: first byte, bytes, characters, tokens of each document, sentence starts.

    `letters` is the batch in UTF-8. Characters count from the beginning of the document; those of the ranges from that
    of the batch.
    """
    points = code_points(joined)
    size = len(points)
    described = classify(points)
    kind: ByteArray = described & np.uint8(KIND)
    cut = np.zeros(size + 1, dtype=bool)
    cut[base] = True
    kind = _with_marks(kind, base[:-1][base[:-1] < size])
    _keep_edges(kind, range_start, range_end, cut)
    cut[range_start] = True
    cut[range_end] = True

    solid = kind != SPACE
    begins = cut[:size].copy()
    begins[1:] |= kind[1:] != kind[:-1]
    begins |= (kind == OTHER) & ((described & KIND) != EXTEND)
    begins &= solid
    ends = solid.copy()
    ends[:-1] &= begins[1:] | ~solid[1:]
    begin = np.flatnonzero(begins)
    end = np.flatnonzero(ends) + 1

    byte_of = np.append(np.flatnonzero((letters & 0xC0) != 0x80), len(letters))  # where each character begins
    byte_begin, byte_end = byte_of[begin], byte_of[end]
    counts = np.diff(np.searchsorted(begin, base))
    origin = np.repeat(base[:-1], counts)
    opens = _sentence_starts(points, described, begin, end)
    opens &= ~inside(begin, range_start, range_end)
    opens[(np.cumsum(counts) - counts)[counts > 0]] = True
    return byte_begin, byte_end - byte_begin, begin - origin, end - origin, counts, opens


def _with_marks(kind: ByteArray, documents: IntArray) -> ByteArray:
    """Give marks and joiners the kind of what they follow; at the start of anything they are words."""
    extend = kind == EXTEND
    if not extend.any():
        return kind
    kind = kind.copy()
    alone = extend.copy()
    alone[1:] &= kind[:-1] == SPACE
    alone[documents] = extend[documents]
    kind[alone] = WORD
    source = np.where(kind != EXTEND, np.arange(len(kind)), 0)
    return kind[np.maximum.accumulate(source)]


def _keep_edges(kind: ByteArray, start: IntArray, end: IntArray, cut: BoolArray) -> None:
    """Turn white space at the edges of a range into tokens, so that the range keeps its extent."""
    filled = np.flatnonzero(end > start)
    edged = filled[(kind[start[filled]] == SPACE) | (kind[end[filled] - 1] == SPACE)]
    if not edged.size:
        return
    begin, stop = start[edged], end[edged]
    visible = np.append(np.flatnonzero(kind != SPACE), len(kind))
    low, high = np.searchsorted(visible, begin), np.searchsorted(visible, stop)
    some = low < high
    first = np.where(some, visible[low], stop)
    last = np.where(some, visible[np.maximum(high - 1, 0)] + 1, stop)
    # White space at the edges: +1 where a stretch of it begins, -1 where it ends.
    steps = np.zeros(len(kind) + 1, dtype=np.int32)
    for places, step in ((begin, 1), (first, -1), (last, 1), (stop, -1)):
        np.add.at(steps, places, step)
    kind[np.cumsum(steps[:-1]) > 0] = SOLID
    cut[first] = True
    cut[last] = True


def _sentence_starts(points: CodePoints, described: ByteArray, begin: IntArray, end: IntArray) -> BoolArray:
    """Tokens at which a sentence begins by the rule in the module's first lines, whatever the documents."""
    opens = np.zeros(len(begin), dtype=bool)
    final = np.flatnonzero(described[begin] & FINAL)
    spaced = np.ones(len(begin) + 1, dtype=bool)
    spaced[1:-1] = begin[1:] > end[:-1]
    before = np.maximum(final - 1, 0)
    size, kind = end[before] - begin[before], described[begin[before]]
    short = ((kind & LETTER != 0) & (size == 1)) | ((kind & DIGIT != 0) & (size <= 2))
    abbreviation = (points[begin[final]] == ord(".")) & short & ~spaced[final] & (final > 0)
    after = final[~abbreviation] + 1
    for _ in range(2):  # a quote and a bracket may follow the full stop
        inner = np.minimum(after, len(begin) - 1)
        after = after + ((after < len(begin)) & ~spaced[after] & (described[begin[inner]] & CLOSING != 0))
    after = after[after < len(begin)]
    opens[after[spaced[after] & (described[begin[after]] & (LOWER | DIGIT) == 0)]] = True
    following = np.searchsorted(begin, np.flatnonzero(described == LINE_BREAK))
    opens[following[following < len(begin)]] = True
    return opens
