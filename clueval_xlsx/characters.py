"""Characters of a corpus: where each token lies among them, and the text of the stretches that matter."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from clueval_xlsx.corpus import Corpus
from clueval_xlsx.spans import pairs
from clueval_xlsx.strings import PADDING, IntArray, Strings

_AMPERSAND = ord("&")
_SPACE = b" "


class CharacterOffsets(NamedTuple):
    """Half-open character offsets of every token, counted over the whole corpus."""

    start: IntArray
    end: IntArray


def character_offsets(corpus: Corpus) -> CharacterOffsets:
    """Where every token lies, in code points.

    In a corpus with running text these are its real characters; in the others tokens are joined by one space,
    and by nothing where the source says so.
    """
    if corpus.char_start is not None and corpus.char_end is not None:
        last = np.maximum(corpus.documents.stop - 1, 0)
        length = np.where(corpus.documents.stop > corpus.documents.start, corpus.char_end[last] + 1, 0)
        offset = np.repeat(np.cumsum(length) - length, corpus.documents.stop - corpus.documents.start)
        return CharacterOffsets(corpus.char_start + offset, corpus.char_end + offset)
    length, gap = code_point_counts(corpus.tokens), np.ones(len(corpus), np.int64)
    if corpus.glue is not None:
        gap[:-1] = ~corpus.glue[1:]
    end = np.cumsum(length + gap) - gap
    return CharacterOffsets(end - length, end)


def code_point_counts(strings: Strings) -> IntArray:
    """How many code points each string has, XML entities counted as what they stand for."""
    buffer = np.frombuffer(strings.data, dtype=np.uint8)
    continuation = np.flatnonzero((buffer & 0xC0) == 0x80)  # bytes that begin no character
    stop = strings.start + strings.length
    counts = strings.length.astype(np.int64)
    counts -= np.searchsorted(continuation, stop) - np.searchsorted(continuation, strings.start)
    for index in with_entities(strings).tolist():
        counts[index] = len(strings[index])
    return counts


def with_entities(strings: Strings) -> IntArray:
    """The strings that may hold an XML entity."""
    if not strings.entities or not len(strings):
        return np.empty(0, dtype=np.int64)
    places = np.flatnonzero(np.frombuffer(strings.data, dtype=np.uint8) == _AMPERSAND)
    order = np.argsort(strings.start, kind="stable")
    owner = np.searchsorted(strings.start, places, side="right", sorter=order) - 1
    places, owner = places[owner >= 0], order[owner[owner >= 0]]
    return np.unique(owner[places < (strings.start + strings.length)[owner]])


class Stretches(NamedTuple):
    """The text of chosen tokens: each with what follows it (a space, or what really stands there).

    `start[i]` to `end[i]` are the characters of the i-th chosen token in `text`; up to `start[i + 1]` follows
    the gap behind it.
    """

    text: str
    start: IntArray
    end: IntArray


def text_of(corpus: Corpus, positions: IntArray) -> Stretches:
    """The text of the tokens at these positions (sorted, each once)."""
    tokens = _decoded(corpus.tokens)
    begin, length = tokens.start[positions], tokens.length[positions].astype(np.int64)
    space = len(tokens.data) - PADDING
    gap_begin, gap = np.full(len(positions), space, np.int64), np.ones(len(positions), np.int64)
    following = np.minimum(positions + 1, len(corpus) - 1)
    if corpus.glue is not None:
        gap = (~corpus.glue[following]).astype(np.int64)
    if corpus.running_text:
        document = corpus.document_of(positions)
        goes_on = (positions + 1 < len(corpus)) & (corpus.document_of(following) == document)
        gap_begin = np.where(goes_on, begin + length, gap_begin)
        gap = np.where(goes_on, tokens.start[following] - begin - length, gap)
    starts = np.stack([begin, gap_begin], axis=1).reshape(-1)
    counts = np.stack([length, gap], axis=1).reshape(-1)
    _, places = pairs(starts, starts + counts)
    buffer = np.frombuffer(tokens.data, dtype=np.uint8)[places]
    begins_character = (buffer & 0xC0) != 0x80
    borders = np.concatenate([[0], np.cumsum(begins_character)])[np.concatenate([[0], np.cumsum(counts)])]
    text = buffer.tobytes().decode("utf-8", "surrogatepass")
    return Stretches(text, borders[0:-1:2], borders[1::2])


def _decoded(tokens: Strings) -> Strings:
    """The same strings without entities, and a space behind everything, so that it can be pointed at."""
    data, start, length = tokens.data[:-PADDING], tokens.start, tokens.length
    rows = with_entities(tokens)
    if rows.size:
        plain = [tokens[index].encode("utf-8", "surrogatepass") for index in rows.tolist()]
        start, length = start.copy(), length.copy()
        length[rows] = [len(item) for item in plain]
        start[rows] = len(data) + np.cumsum(length[rows], dtype=np.int64) - length[rows]
        data += b"".join(plain)
    return Strings(data + _SPACE + bytes(PADDING - 1), start, length)


def code_points(text: str) -> npt.NDArray[np.uint32]:
    """The code points of a text as numbers."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
