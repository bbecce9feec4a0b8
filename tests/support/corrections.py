"""A source of one document with other spans in place of its own: given by their words."""

from __future__ import annotations

import numpy as np

from clueval_xlsx.corpus.correcting import correct
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.running_text import RunningText
from clueval_xlsx.corpus.spans import make_spans
from clueval_xlsx.text.tokenise import Ranges


def corrected_bytes(reading: Reading, *wanted: tuple[str, str | None], layer: str = "span") -> bytes:
    """The file with these words, where they stand first, as its only spans."""
    assert not reading.tokenised
    text = reading.documents[0].text
    starts = np.array([text.index(words) for words, _ in wanted], dtype=np.int64)
    ends = starts + np.array([len(words) for words, _ in wanted], dtype=np.int64)
    ranges = Ranges(np.zeros_like(starts), starts, ends)
    corpus = reading.cut_at(ranges)
    start, end = RunningText.of(corpus).positions(ranges)
    frame = make_spans(start, end, {layer: [label for _, label in wanted]})
    return next(iter(correct(reading, {layer: frame}, corpus).values()))


def corrected(reading: Reading, *wanted: tuple[str, str | None], layer: str = "span") -> str:
    """The same as text."""
    return corrected_bytes(reading, *wanted, layer=layer).decode()
