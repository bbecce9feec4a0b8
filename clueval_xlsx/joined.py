"""Tokens of a corpus joined to the running text that people would read, with each token's place in it."""

from __future__ import annotations

import numpy as np

from clueval_xlsx.corpus import Corpus
from clueval_xlsx.readers.text import Document
from clueval_xlsx.strings import IntArray


def joined_tokens(corpus: Corpus) -> tuple[tuple[Document, ...], IntArray, IntArray]:
    """The text of each document made of its tokens, sentences on lines of their own, and each token's offsets."""
    documents = []
    char_start, char_end = np.empty(len(corpus), np.int64), np.empty(len(corpus), np.int64)
    breaks = set(corpus.breaks.tolist()) if corpus.hard_breaks else set()
    bounds = zip(corpus.documents.start.tolist(), corpus.documents.stop.tolist(), strict=True)
    for index, (first, stop) in enumerate(bounds):
        words, spaces = corpus.words(first, stop) if stop > first else ([], [])
        spaces = [
            "\n" if space == " " and position in breaks else space for position, space in enumerate(spaces, first)
        ]
        before = np.array([len(space) for space in spaces], dtype=np.int64)
        length = np.array([len(word) for word in words], dtype=np.int64)
        char_end[first:stop] = np.cumsum(before + length)
        char_start[first:stop] = char_end[first:stop] - length
        attributes = dict(corpus.documents.attributes(index))
        text = "".join(space + word for space, word in zip(spaces, words, strict=True))
        documents.append(Document(attributes.pop("id", None), text, attributes))
    return tuple(documents), char_start, char_end
