"""Characters of a corpus: where each token lies among them, and the text of the stretches that matter."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.text.ranges import unfold
from clueval_xlsx.text.strings import IntArray, Strings

_AMPERSAND = ord("&")
_SPACE = b" "


class CharacterOffsets(NamedTuple):
    """Half-open character offsets of chosen tokens, comparable where the tokens between two of them are chosen."""

    positions: IntArray
    start: IntArray
    end: IntArray

    def of(self, first: IntArray, last: IntArray) -> tuple[IntArray, IntArray]:
        """Where stretches from one token to another lie."""
        if not len(self.positions):
            return first[:0], first[:0]
        return (
            self.start[np.searchsorted(self.positions, first)],
            self.end[np.searchsorted(self.positions, last)],
        )


def character_offsets(corpus: Corpus, positions: IntArray) -> CharacterOffsets:
    """Where the tokens at these positions (sorted, each once) lie, in code points.

    In a corpus with running text these are its real characters; in the others tokens are joined by one space,
    and by nothing where the source says so.
    """
    if corpus.char_start is not None and corpus.char_end is not None:
        last = np.maximum(corpus.documents.stop - 1, 0)
        length = np.where(corpus.documents.stop > corpus.documents.start, corpus.char_end[last] + 1, 0)
        offset = (np.cumsum(length) - length)[corpus.document_of(positions)]
        return CharacterOffsets(positions, corpus.char_start[positions] + offset, corpus.char_end[positions] + offset)
    length, gap = code_point_counts(corpus.tokens, positions), _gaps(corpus, positions)
    end = np.cumsum(length + gap) - gap
    return CharacterOffsets(positions, end - length, end)


def _gaps(corpus: Corpus, positions: IntArray) -> IntArray:
    """How many spaces stand behind each token: one, or none where the next is glued to it."""
    gap = np.ones(len(positions), dtype=np.int64)
    if corpus.glue is not None and len(positions):
        gap[corpus.glue[np.minimum(positions + 1, len(corpus) - 1)]] = 0
    return gap


def covered(size: int, *spans: tuple[IntArray, IntArray]) -> IntArray:
    """The positions below `size` that lie in one of the spans (first and last positions), sorted."""
    change = np.zeros(size + 1, dtype=np.int64)
    for first, last in spans:
        np.add.at(change, first, 1)
        np.add.at(change, last + 1, -1)
    return np.flatnonzero(np.cumsum(change[:-1]) > 0)


def code_point_counts(strings: Strings, rows: IntArray) -> IntArray:
    """How many code points these strings have, XML entities counted as what they stand for."""
    start, length = strings.start[rows], strings.length[rows].astype(np.int64)
    _, places = unfold(start, start + length)
    buffer = np.frombuffer(strings.data, dtype=np.uint8)[places]
    borders = np.concatenate([[0], np.cumsum(length)])
    counts = np.diff(np.concatenate([[0], np.cumsum((buffer & 0xC0) != 0x80)])[borders])
    for index in _holders(strings, buffer, borders).tolist():
        counts[index] = len(strings[int(rows[index])])
    return counts


def _holders(strings: Strings, buffer: npt.NDArray[np.uint8], borders: IntArray) -> IntArray:
    """Which of the strings laid end to end in a buffer may hold an XML entity."""
    if not strings.entities:
        return np.empty(0, dtype=np.int64)
    return np.unique(np.searchsorted(borders, np.flatnonzero(buffer == _AMPERSAND), side="right") - 1)


class Stretches(NamedTuple):
    """The text of chosen tokens, each followed by its gap (a space, or what really stands there).

    `borders` cut it into pieces: the characters of a token, of the gap behind it, of the next token, and so on.
    """

    text: str
    borders: IntArray


def text_of(corpus: Corpus, positions: IntArray) -> Stretches:
    """The text of the tokens at these positions (sorted, each once)."""
    if corpus.running_text:
        buffer = np.frombuffer(corpus.tokens.data, dtype=np.uint8)
        begin, length = corpus.tokens.start[positions], corpus.tokens.length[positions].astype(np.int64)
        following = np.minimum(positions + 1, len(corpus) - 1)
        goes_on = (positions + 1 < len(corpus)) & (corpus.document_of(following) == corpus.document_of(positions))
        gap_begin = begin + length
        gap = np.where(goes_on, corpus.tokens.start[following] - gap_begin, 0)
    else:
        buffer, begin, length = _decoded(corpus.tokens, positions)
        gap_begin, gap = np.full(len(positions), len(buffer) - 1), _gaps(corpus, positions)
    starts = np.stack([begin, gap_begin], axis=1).reshape(-1)
    counts = np.stack([length, gap], axis=1).reshape(-1)
    _, places = unfold(starts, starts + counts)
    laid = buffer[places]
    borders = np.concatenate([[0], np.cumsum((laid & 0xC0) != 0x80)])[np.concatenate([[0], np.cumsum(counts)])]
    return Stretches(laid.tobytes().decode("utf-8", "surrogatepass"), borders)


def _decoded(tokens: Strings, rows: IntArray) -> tuple[npt.NDArray[np.uint8], IntArray, IntArray]:
    """Some strings without entities in a buffer of their own, whose last byte is a space: buffer, start, length."""
    begin, length = tokens.start[rows], tokens.length[rows].astype(np.int64)
    _, places = unfold(begin, begin + length)
    buffer = np.frombuffer(tokens.data, dtype=np.uint8)[places]
    borders = np.concatenate([[0], np.cumsum(length)])
    start = borders[:-1].copy()
    holders = _holders(tokens, buffer, borders)
    plain = [tokens[index].encode("utf-8", "surrogatepass") for index in rows[holders].tolist()]
    length[holders] = [len(item) for item in plain]
    start[holders] = len(buffer) + np.cumsum(length[holders]) - length[holders]
    return np.concatenate([buffer, np.frombuffer(b"".join(plain) + _SPACE, dtype=np.uint8)]), start, length


def code_points(text: str) -> npt.NDArray[np.uint32]:
    """The code points of a text as numbers."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
