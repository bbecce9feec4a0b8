"""Tokens of a corpus joined to the running text that people would read, with each token's place in it."""

from __future__ import annotations

import numpy as np

from clueval_xlsx.corpus.corpus import Corpus
from clueval_xlsx.corpus.standoff import Document
from clueval_xlsx.text.rendering import Written
from clueval_xlsx.text.strings import IntArray


def joined_tokens(corpus: Corpus) -> tuple[tuple[Document, ...], IntArray, IntArray]:
    """The text of each document made of its tokens, sentences on lines of their own, and each token's offsets."""
    documents = []
    char_start, char_end = np.empty(len(corpus), np.int64), np.empty(len(corpus), np.int64)
    starts_line = np.zeros(len(corpus), dtype=bool)
    if corpus.hard_breaks:
        starts_line[corpus.breaks] = True
    for index in range(len(corpus.documents)):
        first, stop = corpus.documents.start[index : index + 1], corpus.documents.stop[index : index + 1]
        written = corpus.written(first, stop)
        here = slice(int(first[0]), int(stop[0]))
        char_start[here], char_end[here] = written.places()
        lines = written.begin[starts_line[here]] - 1
        attributes = dict(corpus.documents.attributes(index))
        documents.append(Document(attributes.pop("id", None), _with_lines(written, lines), attributes))
    return tuple(documents), char_start, char_end


def _with_lines(written: Written, places: IntArray) -> str:
    """The only stretch's text with a line break wherever one of the places in the buffer holds a space."""
    if not len(written.begin):
        return ""
    origin, stop = int(written.begin[0]), int(written.end[-1])
    letters = np.frombuffer(written.data[origin:stop], dtype=np.uint8).copy()
    breaks = places[places >= origin] - origin
    letters[breaks[letters[breaks] == ord(" ")]] = ord("\n")
    return letters.tobytes().decode("utf-8", "surrogatepass")
