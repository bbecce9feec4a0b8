"""Stretches of tokens the way people write them: many at once, as slices of one UTF-8 buffer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from clueval_xlsx.text.characters import characters_before
from clueval_xlsx.text.strings import BoolArray, IntArray, Strings, places

NO_SPACE_BEFORE = frozenset(".,;:!?)]}%“”’»…") | {"...", "'s", "n't", "’s"}
NO_SPACE_AFTER = frozenset("([{„‚«")
_SPACE, _NEWLINE = ord(" "), ord("\n")
_FOUR_BYTES = 0xF0  # the first byte of the longest characters of UTF-8
_TOKENS_AT_ONCE = 1 << 18  # bounds the memory that writing takes


@dataclass(frozen=True, eq=False)
class RenderedTokens:
    """Texts in one buffer; `begin` and `end` are the places of every token in it, stretch after stretch."""

    data: bytes
    begin: IntArray
    end: IntArray
    first: IntArray  # the number of each stretch's first token in `begin` and `end`

    def text(self, first: int, last: int) -> str:
        """The words from one token to another (both inclusive), which must be of the same stretch."""
        return self.data[self.begin[first] : self.end[last]].decode("utf-8", "surrogatepass")

    def gap(self, token: int) -> str:
        """What stands between a token and the one before it, which must be of the same stretch."""
        return self.data[self.end[token - 1] : self.begin[token]].decode("utf-8", "surrogatepass")

    def texts(self) -> list[str]:
        """The whole stretches; one without tokens is empty."""
        borders = np.append(self.first, len(self.begin)).tolist()
        return [self.text(first, stop - 1) if first < stop else "" for first, stop in pairwise(borders)]

    def places(self, *, utf16: bool = False) -> tuple[IntArray, IntArray]:
        """Where each token begins and ends, counted from the beginning of the first in code points or UTF-16 units."""
        if not len(self.begin):
            return self.begin, self.end
        origin = int(self.begin[0])
        letters = np.frombuffer(self.data, dtype=np.uint8)[origin : int(self.end[-1])]
        before = characters_before(letters)
        if utf16:
            before[1:] += np.cumsum(letters >= _FOUR_BYTES)
        return before[self.begin - origin], before[self.end - origin]


def render_tokens(
    tokens: Strings,
    first: IntArray,
    stop: IntArray,
    *,
    running: bool = False,
    glue: BoolArray | None = None,
    line_starts: BoolArray | None = None,
) -> RenderedTokens:
    """Write the stretches from `first` to the token before `stop`.

    Running text already lies in the tokens' buffer and gives every space. Elsewhere `glue` says which tokens
    stand without a space before them; None means that nobody knows and punctuation decides. A token at which a
    line starts has a line break before it.
    """
    counts = stop - first
    offset = np.cumsum(counts) - counts
    index = places(first, stop)
    begin = tokens.start[index].astype(np.int64)
    if running:
        return RenderedTokens(tokens.data, begin, begin + tokens.length[index], offset)
    packed = tokens.at(index).packed()
    length = packed.length.astype(np.int64)
    spaced = ~(guessed_glue(packed) if glue is None else glue[index])
    if line_starts is not None:
        spaced |= line_starts[index]
    spaced[offset[counts > 0]] = False
    end = np.cumsum(length + spaced)
    begin = end - length
    written = np.full(int(end[-1]) if len(end) else 0, _SPACE, dtype=np.uint8)
    letter = np.ones(len(written), dtype=bool)
    letter[begin[spaced] - 1] = False
    written[letter] = np.frombuffer(packed.data, dtype=np.uint8)[: int(length.sum())]
    if line_starts is not None:
        written[begin[spaced & line_starts[index]] - 1] = _NEWLINE
    return RenderedTokens(written.tobytes(), begin, end, offset)


def guessed_glue(tokens: Strings) -> BoolArray:
    """True where a token (entities decoded) is written without a space before it, as punctuation usually is."""
    glued = tokens.isin(NO_SPACE_BEFORE)
    glued[1:] |= tokens.isin(NO_SPACE_AFTER)[:-1]
    return glued


def portions(counts: IntArray) -> Iterator[slice]:
    """Cut stretches with so many tokens each into portions that are written at once."""
    ends = np.cumsum(counts)
    begin = 0
    while begin < len(counts):
        before = int(ends[begin - 1]) if begin else 0
        stop = max(int(np.searchsorted(ends, before + _TOKENS_AT_ONCE, side="right")), begin + 1)
        yield slice(begin, stop)
        begin = stop
