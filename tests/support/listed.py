"""Annotations that overlap as they may, with scores, as Presidio JSON lists them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from clueval_xlsx.corpus.pair import Pair
from tests.support.tables import Sides, pair_of

WORDS = ["Ann", "Lee", "of", "the", "(", ")", ",", "x", "Montoya", "St.", "Bonn", "and"]


class Listed(NamedTuple):
    """One annotation: characters `start` up to, not including, `end`."""

    start: int
    end: int
    label: str
    score: float | None = None


class ListedDocument(NamedTuple):
    """A text with the annotations of both sides."""

    text: str
    gold: Sequence[Listed]
    pred: Sequence[Listed]


def presidio_files(documents: Sequence[ListedDocument]) -> Sides:
    """Both sides, each one file of all documents."""
    return Sides(*(_file([(each.text, each[side]) for each in documents]) for side in (1, 2)))


def _file(documents: Sequence[tuple[str, Sequence[Listed]]]) -> bytes:
    content = [
        {
            "full_text": text,
            "spans": [
                {
                    "entity_type": one.label,
                    "entity_value": text[one.start : one.end],
                    "start_position": one.start,
                    "end_position": one.end,
                    **({} if one.score is None else {"score": one.score}),
                }
                for one in spans
            ],
        }
        for text, spans in documents
    ]
    return json.dumps(content).encode()


def listed_pair(*documents: ListedDocument) -> Pair:
    """Both sides read, of annotations that overlap the longest being spans."""
    return pair_of(presidio_files(documents), format="presidio", nested="longest")


@st.composite
def listed_documents(draw: st.DrawFn) -> ListedDocument:
    """A text, some of its words glued together, with annotations that overlap; each side has a type of its own."""
    words = draw(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(["", " ", " "])), min_size=1, max_size=14))
    stops = np.cumsum([len(word) + len(gap) for word, gap in words]).tolist()
    starts, ends = [0, *stops[:-1]], [stop - len(gap) for stop, (_, gap) in zip(stops, words, strict=True)]
    sides = []
    for own in ("GOLD", "PRED"):
        found = draw(
            st.lists(
                st.tuples(
                    st.integers(0, len(words) - 1),
                    st.integers(0, 4),
                    st.sampled_from(["PER", "PER", "LOC", own]),
                    st.sampled_from([None, 0.0, 0.3, 0.5, 0.5, 0.85, 1.0]),
                ),
                max_size=7,
            )
        )
        sides.append(
            [Listed(starts[at], ends[min(at + more, len(words) - 1)], label, score) for at, more, label, score in found]
        )
    return ListedDocument("".join(word + gap for word, gap in words), *sides)
