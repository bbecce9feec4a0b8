"""Documents as running text: the tokens of a corpus joined as people would read them, each token's place in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pandas as pd

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.spans import positions
from clueval_xlsx.text.rendering import RenderedTokens
from clueval_xlsx.text.strings import IntArray
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
