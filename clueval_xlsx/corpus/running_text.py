"""Documents as running text, each token's place in it, and the characters of the stretches that matter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.spans import positions
from clueval_xlsx.text.characters import characters_before
from clueval_xlsx.text.rendering import RenderedTokens
from clueval_xlsx.text.strings import IntArray, Strings, places
from clueval_xlsx.text.tokenise import Ranges


@dataclass(frozen=True)
class TextDocument:
    """One text; `id` is None where the source gives none."""

    id: str | None
    text: str
    attributes: Mapping[str, str] = field(default_factory=dict)


class RunningText(NamedTuple):
    """Documents, and where each token of their corpus lies in the text of its document."""

    documents: tuple[TextDocument, ...]
    corpus: Corpus
    char_start: IntArray
    char_end: IntArray

    @classmethod
    def of(cls, corpus: Corpus, documents: tuple[TextDocument, ...] = ()) -> RunningText:
        """The running text that a corpus was cut from."""
        assert corpus.char_start is not None
        assert corpus.char_end is not None
        return cls(documents, corpus, corpus.char_start, corpus.char_end)

    def ranges(self, spans: pd.DataFrame) -> Ranges:
        """Spans of the corpus as ranges of characters."""
        start, end = positions(spans)
        return Ranges(self.corpus.document_of(start), self.char_start[start], self.char_end[end])

    def positions(self, ranges: Ranges) -> tuple[IntArray, IntArray]:
        """First and last token of each range, which begins and ends where a token does."""
        # One number for document and offset makes both searches one binary search over all documents.
        stride = int(max(self.char_end.max(initial=0), ranges.end.max(initial=0))) + 1
        owner = self.corpus.document_numbers * stride
        start = np.searchsorted(owner + self.char_start, ranges.document * stride + ranges.start)
        end = np.searchsorted(owner + self.char_end, ranges.document * stride + ranges.end)
        return start.astype(np.int64), end.astype(np.int64)


def join_tokens(corpus: Corpus) -> RunningText:
    """The text of each document made of its tokens, sentences on lines of their own, and each token's offsets."""
    documents = []
    char_start, char_end = np.empty(len(corpus), np.int64), np.empty(len(corpus), np.int64)
    starts_line = np.zeros(len(corpus), dtype=bool)
    if corpus.hard_breaks:
        starts_line[corpus.breaks] = True
    for index in range(len(corpus.documents)):
        first, stop = corpus.documents.start[index : index + 1], corpus.documents.stop[index : index + 1]
        rendered = corpus.rendered(first, stop)
        here = slice(int(first[0]), int(stop[0]))
        char_start[here], char_end[here] = rendered.places()
        lines = rendered.begin[starts_line[here]] - 1
        attributes = dict(corpus.documents.attributes(index))
        documents.append(TextDocument(attributes.pop("id", None), _with_lines(rendered, lines), attributes))
    return RunningText(tuple(documents), corpus, char_start, char_end)


def _with_lines(rendered: RenderedTokens, places: IntArray) -> str:
    """The only stretch's text with a line break wherever one of the places in the buffer holds a space."""
    if not len(rendered.begin):
        return ""
    origin, stop = int(rendered.begin[0]), int(rendered.end[-1])
    letters = np.frombuffer(rendered.data[origin:stop], dtype=np.uint8).copy()
    breaks = places[places >= origin] - origin
    letters[breaks[letters[breaks] == ord(" ")]] = ord("\n")
    return letters.tobytes().decode("utf-8", "surrogatepass")


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
    length, gap = code_point_counts(corpus.tokens.at(positions)), _gaps(corpus, positions)
    end = np.cumsum(length + gap) - gap
    return CharacterOffsets(positions, end - length, end)


def _gaps(corpus: Corpus, positions: IntArray) -> IntArray:
    """How many spaces stand behind each token: one, or none where the next is glued to it."""
    gap = np.ones(len(positions), dtype=np.int64)
    if corpus.glue is not None and len(positions):
        gap[corpus.glue[np.minimum(positions + 1, len(corpus) - 1)]] = 0
    return gap


def code_point_counts(strings: Strings) -> IntArray:
    """How many code points strings have, XML entities counted as what they stand for."""
    packed = strings.packed()
    letters = np.frombuffer(packed.data, dtype=np.uint8)
    return np.diff(characters_before(letters)[np.append(packed.start, packed.length.sum(dtype=np.int64))])


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
        packed = corpus.tokens.at(positions).packed()
        buffer = np.frombuffer(packed.data + _SPACE, dtype=np.uint8)
        begin, length = packed.start, packed.length.astype(np.int64)
        gap_begin, gap = np.full(len(positions), len(buffer) - 1), _gaps(corpus, positions)
    starts = np.stack([begin, gap_begin], axis=1).reshape(-1)
    counts = np.stack([length, gap], axis=1).reshape(-1)
    laid = buffer[places(starts, starts + counts)]
    borders = characters_before(laid)[np.concatenate([[0], np.cumsum(counts)])]
    return Stretches(laid.tobytes().decode("utf-8", "surrogatepass"), borders)
