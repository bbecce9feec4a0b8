"""Documents of tokens as running text for a detector, and its finds back on the tokens.

Words are written with the spaces that people put between them; a sentence that the source marks begins on a new
line. A find that begins or ends inside a token is widened to the whole of it, one that holds nothing but white
space is dropped, one that runs over a marked sentence end is split there, as every reader of tags would.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.running_text import joined_tokens
from clueval_xlsx.detectors.base import Detection, Document
from clueval_xlsx.text.strings import IntArray


@dataclass(frozen=True, eq=False)
class Rendered:
    """Texts of a corpus of tokens; `char_start` and `char_end` are each token's place in its document's text."""

    documents: list[Document]
    char_start: IntArray
    char_end: IntArray


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


def render(corpus: Corpus) -> Rendered:
    """The text of every document, and where its tokens lie in it.

    >>> from clueval_xlsx import read
    >>> import io
    >>> rendered = render(read(io.BytesIO("Frau\\tO\\nOtt\\tB\\n,\\tO\\n".encode()), name="a.vrt").corpus)
    >>> rendered.documents[0].text, rendered.char_start.tolist()
    ('Frau Ott,', [0, 5, 8])
    """
    texts, char_start, char_end = joined_tokens(corpus)
    documents = [Document(doc_id, one.text) for doc_id, one in zip(corpus.doc_ids, texts, strict=True)]
    return Rendered(documents, char_start, char_end)


def place(found: Sequence[Sequence[Detection] | None], rendered: Rendered, corpus: Corpus) -> Placed:
    """Finds by character as stretches of tokens."""
    rows = [(number, one) for number, finds in enumerate(found) for one in finds or ()]
    document = np.array([number for number, _ in rows], dtype=np.int64)
    start = np.array([one.start for _, one in rows], dtype=np.int64)
    end = np.array([one.end for _, one in rows], dtype=np.int64)
    # One number for document and offset makes every search one binary search over all documents.
    stride = max((len(item.text) for item in rendered.documents), default=0) + 1
    owner = np.repeat(np.arange(len(corpus.documents)), corpus.documents.stop - corpus.documents.start) * stride
    token_start, token_end = owner + rendered.char_start, owner + rendered.char_end
    start, end = document * stride + start, document * stride + end
    first = np.searchsorted(token_end, start, side="right")
    last = np.searchsorted(token_start, end, side="left") - 1
    filled = first <= last
    dropped = int((~filled).sum())
    first, last, start, end = first[filled], last[filled], start[filled], end[filled]
    kept = np.flatnonzero(filled)
    widened = int(((token_start[first] < start) | (token_end[last] > end)).sum())
    first, last, origin = _split(first, last, corpus)
    order = np.lexsort((last, first))
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
