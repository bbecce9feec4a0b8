"""Tokens of running text: no boundary of any annotation falls inside one, and nothing is lost or moved."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clueval_xlsx.corpus.annotation import Source
from clueval_xlsx.corpus.mentions import Mentions
from clueval_xlsx.corpus.reading import Reading
from clueval_xlsx.corpus.running_text import TextDocument
from clueval_xlsx.corpus.spans import label_column
from clueval_xlsx.text.characters import UNITS, from_code_points, unit_starts
from clueval_xlsx.text.tokenise import Ranges, tokenise

_LETTERS = ["Ann", "e\u0301", "Ü", "ß", "中文", "\U0001d400", "_", "7", "42"]
_SPACES = [" ", "  ", "\t", "\r\n", "\n", "\u00a0"]
_OTHERS = [".", "!", "…", ",", "-", "😀", "👩\u200d👧", "👍🏽", "\u0301", "\u200d", "\ufeff", "<", "&", '"', "\ud800"]
PIECES = [*_LETTERS, *_SPACES, *_OTHERS]
texts = st.lists(st.sampled_from(PIECES), max_size=25).map("".join)


@st.composite
def annotated(draw: st.DrawFn) -> tuple[list[str], Ranges]:
    documents = draw(st.lists(texts, min_size=1, max_size=4))
    rows = []
    for number, text in enumerate(documents):
        for _ in range(draw(st.integers(0, 3)) if text else 0):
            start = draw(st.integers(0, len(text) - 1))
            rows.append((number, start, draw(st.integers(start + 1, len(text)))))
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3)
    return documents, Ranges(columns[:, 0], columns[:, 1], columns[:, 2])


def one(start: int, end: int) -> Ranges:
    return Ranges(np.array([0]), np.array([start]), np.array([end]))


@given(annotated())
def test_every_visible_character_is_in_exactly_one_token(case: tuple[list[str], Ranges]) -> None:
    documents, ranges = case
    found = tokenise(documents, ranges)
    for number, text in enumerate(documents):
        rows = slice(int(found.document_start[number]), int(found.document_start[number + 1]))
        covered = np.zeros(len(text), dtype=int)
        for start, end in zip(found.char_start[rows].tolist(), found.char_end[rows].tolist(), strict=True):
            assert end > start
            covered[start:end] += 1
        visible = np.array([not character.isspace() for character in text], dtype=bool)
        assert (covered <= 1).all()
        assert (covered[visible] == 1).all()


@given(annotated())
def test_no_annotation_moves_by_a_character(case: tuple[list[str], Ranges]) -> None:
    documents, ranges = case
    mentions = Mentions(ranges, {"span": label_column(["X"] * len(ranges.start))})
    side = Reading(
        Source("x", "brat", ""),
        texts=tuple(TextDocument(str(number), text) for number, text in enumerate(documents)),
        listed=mentions,
        mentions=mentions,
        group=np.arange(len(mentions)),
    )
    corpus = side.corpus
    spans = side.annotation.layers["span"]
    order = np.lexsort((ranges.end, ranges.start, ranges.document))
    expected = sorted(
        (number, start, end)
        for number, start, end in zip(
            ranges.document[order].tolist(), ranges.start[order].tolist(), ranges.end[order].tolist(), strict=True
        )
    )
    assert corpus.char_start is not None
    assert corpus.char_end is not None
    found = [
        (int(corpus.document_of(np.array([start]))[0]), int(corpus.char_start[start]), int(corpus.char_end[end]))
        for start, end in zip(spans["start"], spans["end"], strict=True)
    ]
    assert sorted(found) == expected
    for (number, start, end), first, last in zip(found, spans["start"], spans["end"], strict=True):
        assert corpus.text(first, last) == documents[number][start:end]


@given(annotated())
def test_no_sentence_begins_inside_an_annotation_and_every_document_begins_one(case: tuple[list[str], Ranges]) -> None:
    documents, ranges = case
    found = tokenise(documents, ranges)
    owners = np.searchsorted(found.document_start, found.breaks, side="right") - 1
    for owner, place in zip(owners.tolist(), found.char_start[found.breaks].tolist(), strict=True):
        inside = (ranges.document == owner) & (ranges.start < place) & (place < ranges.end)
        assert not inside.any()
    filled = found.document_start[:-1][np.diff(found.document_start) > 0]
    assert set(filled.tolist()) <= set(found.breaks.tolist())


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Er kam. Sie ging.", ["Er kam.", "Sie ging."]),
        ("Er kam.\nsie ging", ["Er kam.", "sie ging"]),
        ("eine Zeile\r\nnoch eine", ["eine Zeile", "noch eine"]),
        ("Am 14. Mai kam H. Weber.", ["Am 14. Mai kam H. Weber."]),
        ("Nach Abs. 2 gilt das. Punkt", ["Nach Abs. 2 gilt das.", "Punkt"]),
        ("Am 12.05.2024 war es. So?", ["Am 12.05.2024 war es.", "So?"]),
        ("„Wirklich?“ Ja (gut.) Nein", ["„Wirklich?“", "Ja (gut.)", "Nein"]),
        ("gem. der Klage", ["gem. der Klage"]),
        ("Aus… Ende", ["Aus…", "Ende"]),
    ],
)
def test_the_sentence_rule(text: str, sentences: list[str]) -> None:
    found = tokenise([text])
    borders = [*found.char_start[found.breaks].tolist(), len(text)]
    assert [text[low:high].strip() for low, high in pairwise(borders)] == sentences


@given(texts, st.sampled_from(UNITS))
def test_offsets_in_every_unit_come_back(text: str, unit: str) -> None:
    starts = unit_starts(text, unit)
    if starts is None:
        starts = np.arange(len(text) + 1)
    places = np.flatnonzero(starts >= 0)
    assert from_code_points(text, unit, starts[places]).tolist() == places.tolist()
